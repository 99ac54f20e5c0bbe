/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/context.h"
#include "base/error.h"
#include "runtime/interfaces.h"
#include "runtime/net/op.h"
#include "runtime/team.h"
#include "runtime/world.h"

#include <stdlib.h>
#include <string.h>

#define OPTIONS (RMA_CTX_SERIALIZED | RMA_CTX_PRIVATE | RMA_CTX_NOSTORE)

_Static_assert(RMAI_CONTEXTS % 64 == 0 && RMAI_CONTEXTS < 1 << RMAI_CONTEXT_INDEX_BITS,
               "a handle has room for the place");

/* It counts over all runs of the runtime: no handle is given twice, not even after another rma_init. */
static uintptr_t handles_given;

/* ---- finding ---- */

RMAI_COLD struct rmai_context *rmai_no_context_(const char *call, const rma_ctx *handle) {
    if (rmai_running(call) != RMA_SUCCESS) return NULL;
    if (handle == RMA_CTX_INVALID)
        rmai_error(RMA_ERR_ARG, "%s: ctx is %s", call,
                   rmai_error_of_shmem(call) ? "SHMEM_CTX_INVALID" : "RMA_CTX_INVALID");
    else
        rmai_error(RMA_ERR_ARG, "%s: ctx %p is no context, or has been destroyed", call, (const void *)handle);
    return NULL;
}

int rmai_context_pe(const struct rmai_context *c, const char *call, int pe) {
    if (pe >= 0 && pe < c->team->n) return rmai_team_pe(c->team, pe);
    rmai_error(RMA_ERR_PE, "%s: PE %d is outside 0..%d%s", call, pe, c->team->n - 1,
               c->line->index == 0 ? "" : " of the context's team");
    return -1;
}

/* ---- making and ending ---- */

/* Writes what the inlined calls read of the context. They compute the PEs of a team that is a progression; for another
 * team they know no PE (n is 0), and call the library. */
static void set_line(struct rma_context_ *line, const struct rmai_team *t, struct rmai_context *c, size_t index) {
    line->n = t->list ? 0 : (uint32_t)t->n;
    line->start = t->start;
    line->stride = t->stride;
    line->index = (uint32_t)index;
    line->context = c;
}

/* Claims a free place in the table. Returns its index; 0 if there is none. The caller has the table's lock. */
static size_t claim_index(struct rmai_contexts *all) {
    for (size_t i = 0; i < RMAI_CONTEXTS / 64; i++)
        if (~all->used[i]) {
            unsigned bit = (unsigned)__builtin_ctzll(~all->used[i]);
            all->used[i] |= (uint64_t)1 << bit;
            return i * 64 + bit;
        }
    return 0;
}

/* The next context of team t (NULL: of any team) in place i or after it, or NULL. With a team, i is at least 1, which
 * excludes the default context. The caller has the table's lock. */
static struct rmai_context *next_context(const struct rmai_world *w, size_t i, const struct rmai_team *t) {
    for (; i < RMAI_CONTEXTS; i++) {
        struct rmai_context *c = w->contexts->used[i / 64] >> i % 64 & 1 ? rmai_context_lines[i].context : NULL;
        if (c && (!t || c->team == t)) return c;
    }
    return NULL;
}

/* Enters *c as a new context into the table. Returns RMA_SUCCESS with its handle, or RMA_ERR_NO_MEM. The caller has the
 * table's lock. */
static int enter_context(struct rmai_world *w, const char *call, struct rmai_context *c, struct rmai_team *t,
                         int options, uintptr_t *entered) {
    struct rma_context_ *line;
    uintptr_t handle;
    size_t index = claim_index(w->contexts);
    if (!index)
        return rmai_error(RMA_ERR_NO_MEM, "%s: this PE has %d contexts, the most that it can have: destroy one first",
                          call, RMAI_CONTEXTS - 1);
    line = &rmai_context_lines[index];
    *c = (struct rmai_context){.line = line, .team = t, .options = options};
    if (rmai_pending_open(w->net, &line->complete, &line->complete, &c->traffic, &c->pending) != RMA_SUCCESS) {
        w->contexts->used[index / 64] &= ~((uint64_t)1 << index % 64);
        return rmai_error(RMA_ERR_NO_MEM, "%s: no memory for a context", call);
    }
    line->streams = rmai_pending_streams(c->pending);
    set_line(line, t, c, index);
    handle = ++handles_given << RMAI_CONTEXT_INDEX_BITS | (index + 1);
    /* Release: a thread that finds the handle sees the rest. Pairs with the acquire load in rmai_context_at. */
    __atomic_store_n(&line->handle, handle, __ATOMIC_RELEASE);
    *entered = handle;
    return RMA_SUCCESS;
}

/* Completes the operations of a context that is about to end: no more will begin in it. */
static int quiet_for_good(const char *call, struct rmai_context *c) {
    rmai_session_stop(c->pending);
    return rmai_net_quiet(call, c->pending);
}

/* Ends a context whose pending set is quiet. With handle 0, which is RMA_CTX_INVALID, the inlined calls read the last
 * line, and a line without a context has handle 0: so n and complete must be 0 there, which makes such a call
 * enter the library. The caller has the table's lock. */
static void end_context(struct rmai_world *w, struct rmai_context *c) {
    struct rma_context_ *line = c->line;
    __atomic_store_n(&line->handle, 0, __ATOMIC_RELEASE);
    line->n = line->complete = 0;
    line->context = NULL;
    line->streams = NULL;
    w->contexts->used[line->index / 64] &= ~((uint64_t)1 << line->index % 64);
    if (w->job.networked) rmai_traffic_add(&w->contexts->ended, &c->traffic);
    rmai_pending_close(c->pending);
    free(c);
}

static int create_context(const char *call, rma_team *team, int options, rma_ctx **ctx) {
    struct rmai_world *w = &rmai_world;
    struct rmai_team *t = rmai_team(w, call, team);
    struct rmai_context *c;
    uintptr_t made = 0;
    int code;
    if (!t) return rma_last_code();
    if (!ctx) return rmai_error(RMA_ERR_ARG, "%s: ctx is a null pointer", call);
    if (options & ~OPTIONS)
        return rmai_error(RMA_ERR_ARG, "%s: options %#x has bits that are no option", call, (unsigned)options);
    c = malloc(sizeof *c);
    if (!c) return rmai_error(RMA_ERR_NO_MEM, "%s: no memory for a context", call);
    pthread_mutex_lock(&w->contexts->lock);
    code = enter_context(w, call, c, t, options, &made);
    pthread_mutex_unlock(&w->contexts->lock);
    if (code != RMA_SUCCESS) {
        free(c);
        return code;
    }
    *ctx = (rma_ctx *)made;
    return RMA_SUCCESS;
}

int rma_ctx_create(int options, rma_ctx **ctx) {
    return rmai_raise(create_context("rma_ctx_create", RMA_TEAM_WORLD, options, ctx));
}

int rma_team_create_ctx(rma_team *team, int options, rma_ctx **ctx) {
    return rmai_raise(create_context("rma_team_create_ctx", team, options, ctx));
}

int rma_ctx_destroy(rma_ctx *ctx) {
    static const char call[] = "rma_ctx_destroy";
    struct rmai_world *w = &rmai_world;
    struct rmai_context *c;
    int code;
    if (ctx == RMA_CTX_INVALID) return RMA_SUCCESS;
    c = rmai_context(call, ctx);
    if (!c) return rmai_raise(rma_last_code());
    if (ctx == RMA_CTX_DEFAULT)
        return rmai_raise(rmai_error(RMA_ERR_ARG, "%s: ctx is %s, which cannot be destroyed", call,
                                     rmai_error_of_shmem(call) ? "SHMEM_CTX_DEFAULT" : "RMA_CTX_DEFAULT"));
    code = quiet_for_good(call, c);
    pthread_mutex_lock(&w->contexts->lock);
    end_context(w, c);
    pthread_mutex_unlock(&w->contexts->lock);
    return rmai_raise(code);
}

int rma_ctx_team(const rma_ctx *ctx, rma_team **team) {
    static const char call[] = "rma_ctx_team";
    struct rmai_context *c = rmai_context(call, ctx);
    if (!c) return rmai_raise(rma_last_code());
    if (!team) return rmai_raise(rmai_error(RMA_ERR_ARG, "%s: team is a null pointer", call));
    *team = rmai_team_handle(&rmai_world, c->team);
    return RMA_SUCCESS;
}

/* ---- sessions ---- */

int rma_ctx_session_start(rma_ctx *ctx, int options) {
    static const char call[] = "rma_ctx_session_start";
    struct rmai_context *c = rmai_context(call, ctx);
    if (!c) return rmai_raise(rma_last_code());
    if (options & ~RMA_CTX_SESSION_BATCH)
        return rmai_raise(
            rmai_error(RMA_ERR_ARG, "%s: options %#x has bits that are no option", call, (unsigned)options));
    if (options) rmai_session_start(c->pending);
    return RMA_SUCCESS;
}

int rma_ctx_session_stop(rma_ctx *ctx) {
    struct rmai_context *c = rmai_context("rma_ctx_session_stop", ctx);
    if (!c) return rmai_raise(rma_last_code());
    rmai_session_stop(c->pending);
    return RMA_SUCCESS;
}

/* ---- order ---- */

int rma_quiet_slow_(const char *call, const rma_ctx *ctx) {
    struct rmai_context *c = rmai_context(call, ctx);
    return rmai_raise(c ? rmai_net_quiet(call, c->pending) : rma_last_code());
}

static int test_quiet(const char *call, const rma_ctx *ctx) {
    struct rmai_context *c = rmai_context(call, ctx);
    int quiet = 0, code = c ? RMA_SUCCESS : rma_last_code();
    atomic_thread_fence(memory_order_release);
    if (c) code = rmai_net_test_quiet(call, c->pending, &quiet);
    return rmai_raise(code) == RMA_SUCCESS && quiet;
}

int rma_test_quiet(void) { return test_quiet("rma_test_quiet", RMA_CTX_DEFAULT); }
int rma_ctx_test_quiet(rma_ctx *ctx) { return test_quiet("rma_ctx_test_quiet", ctx); }

/* All PE numbers are checked before the first wait. */
static int quiet_pes(const char *call, const rma_ctx *ctx, const int *pes, size_t n) {
    struct rmai_context *c = rmai_context(call, ctx);
    int code = RMA_SUCCESS;
    atomic_thread_fence(memory_order_release);
    if (!c) return rmai_raise(rma_last_code());
    if (!pes && n) return rmai_raise(rmai_error(RMA_ERR_ARG, "%s: pes is a null pointer, and n is %zu", call, n));
    for (size_t i = 0; i < n; i++)
        if (rmai_context_pe(c, call, pes[i]) < 0) return rmai_raise(RMA_ERR_PE);
    for (size_t i = 0; i < n; i++) code = rmai_net_quiet_pe(call, c->pending, rmai_team_pe(c->team, pes[i]), code);
    return rmai_raise(code);
}

int rma_quiet_of_(int pe) {
    static const char call[] = "rma_pe_quiet";
    struct rmai_context *c = rmai_context(call, RMA_CTX_DEFAULT);
    atomic_thread_fence(memory_order_release);
    return c ? rmai_net_quiet_pe(call, c->pending, pe, RMA_SUCCESS) : rma_last_code();
}

int rma_pe_quiet(const int *pes, size_t n) { return quiet_pes("rma_pe_quiet", RMA_CTX_DEFAULT, pes, n); }
int rma_pe_fence(const int *pes, size_t n) { return quiet_pes("rma_pe_fence", RMA_CTX_DEFAULT, pes, n); }
int rma_ctx_pe_quiet(rma_ctx *ctx, const int *pes, size_t n) { return quiet_pes("rma_ctx_pe_quiet", ctx, pes, n); }
int rma_ctx_pe_fence(rma_ctx *ctx, const int *pes, size_t n) { return quiet_pes("rma_ctx_pe_fence", ctx, pes, n); }

/* ---- all of them ---- */

int rmai_contexts_end(struct rmai_world *w, const char *call, const struct rmai_team *t) {
    struct rmai_context *c;
    size_t from = 1;
    int code = RMA_SUCCESS, one;
    pthread_mutex_lock(&w->contexts->lock);
    while ((c = next_context(w, from, t)) != NULL) {
        pthread_mutex_unlock(&w->contexts->lock);
        one = quiet_for_good(call, c);
        if (code == RMA_SUCCESS) code = one;
        pthread_mutex_lock(&w->contexts->lock);
        from = c->line->index + 1;
        end_context(w, c);
    }
    pthread_mutex_unlock(&w->contexts->lock);
    return code;
}

void rmai_contexts_traffic(struct rmai_world *w, void (*visit)(struct rmai_traffic *traffic, void *argument),
                           void *argument) {
    struct rmai_context *c;
    pthread_mutex_lock(&w->contexts->lock);
    visit(&w->contexts->ended, argument);
    for (size_t i = 1; (c = next_context(w, i, NULL)) != NULL; i = c->line->index + 1) visit(&c->traffic, argument);
    pthread_mutex_unlock(&w->contexts->lock);
}

int rmai_contexts_open(struct rmai_world *w) {
    struct rmai_contexts *all = w->contexts;
    int code;
    memset(all, 0, sizeof *all);
    pthread_mutex_init(&all->lock, NULL);
    all->used[0] = 1;
    all->standing = (struct rmai_context){.line = rmai_context_lines, .team = &w->teams->team[RMAI_TEAM_WORLD]};
    code = rmai_pending_open(w->net, &rma_reach_.complete, &rmai_context_lines->complete, w->traffic,
                             &all->standing.pending);
    if (code != RMA_SUCCESS) {
        rmai_error_prefix("rma_init: ");
        return code;
    }
    rmai_context_lines->streams = rmai_pending_streams(all->standing.pending);
    set_line(rmai_context_lines, all->standing.team, &all->standing, 0);
    rmai_context_lines->handle = (uintptr_t)RMA_CTX_DEFAULT;
    return RMA_SUCCESS;
}

void rmai_contexts_close(struct rmai_world *w) {
    if (!w->contexts->standing.line) return;
    rmai_session_stop(w->contexts->standing.pending);
    rmai_pending_close(w->contexts->standing.pending);
    pthread_mutex_destroy(&w->contexts->lock);
    w->contexts->standing.line = NULL;
    memset(rmai_context_lines, 0, sizeof *rmai_context_lines);
    rma_reach_.complete = 0;
}

struct rmai_traffic *rmai_context_traffic(struct rmai_world *w, struct rmai_context *c) {
    return c == &w->contexts->standing ? w->traffic : &c->traffic;
}

int rmai_quiet_default(struct rmai_world *w, const char *call) {
    if (__atomic_load_n(&rma_reach_.complete, __ATOMIC_ACQUIRE) == RMA_ALL_COMPLETE_) return RMA_SUCCESS;
    return rmai_net_quiet(call, w->contexts->standing.pending);
}
