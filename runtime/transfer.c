/* SPDX-License-Identifier: BSD-3-Clause */
/* Accesses by symmetric address beyond the inlined path: PEs of the node that are outside its arithmetic progression,
 * PEs of other nodes, strided forms, and every error. The whole range is checked before the first byte moves. */
#include "config.h"

#include "runtime/transfer.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/settings.h"
#include "base/pattern.h"
#include "heap/segment.h"
#include "heap/statics.h"
#include "runtime/context.h"
#include "runtime/job/job.h"
#include "runtime/job/traffic.h"
#include "runtime/net/op.h"
#include "runtime/net/progress.h"
#include "runtime/net/stream.h"
#include "runtime/place.h"
#include "runtime/place_pattern.h"
#include "runtime/reach.h"
#include "runtime/team.h"
#include "runtime/world.h"

#include <stdio.h>
#include <string.h>

static int not_symmetric(const struct rmai_world *w, const char *call, const char *argument, const void *addr,
                         size_t len) {
    const char *malloc_name = rmai_error_of_shmem(call) ? "shmem_malloc" : "rma_malloc";
    char where[256];
    if (!addr) return rmai_error(RMA_ERR_ADDRESS, "%s: %s is a null pointer", call, argument);
    if (rmai_segment_holds(&w->symmetric, addr))
        rmai_segment_describe(&w->symmetric, addr, where, sizeof where);
    else if (rmai_segment_holds(&w->local, addr))
        strcpy(where, "it is in the local heap, which is not symmetric: use a global pointer (rma_gptr)");
    else if (rmai_statics_constant(addr))
        strcpy(where, "it is a constant of the program, or code, and only variables are symmetric");
    else if (w->job.statics_mode == RMAI_STATICS_OFF)
        snprintf(where, sizeof where,
                 "it is in no memory that %s gives (global variables are not symmetric in this job: see RMA_STATICS)",
                 malloc_name);
    else if ((size_t)((const char *)addr - w->statics->base) < w->statics->size)
        snprintf(where, sizeof where, "it passes the end of the program's global variables at %p",
                 (void *)(w->statics->base + w->statics->size));
    else
        snprintf(where, sizeof where, "it is in no memory that %s gives, and in no global variable of the program",
                 malloc_name);
    return rmai_error(RMA_ERR_ADDRESS, "%s: %s %p with %zu byte%s is not inside the symmetric heap: %s", call, argument,
                      addr, len, rmai_s(len), where);
}

/* PE pe is number `slot` of the node or, with -1, on another node. */
static int find_symmetric(const struct rmai_world *w, const void *addr, size_t len, int pe, int slot,
                          struct rmai_place *p) {
    size_t offset = (size_t)((const char *)addr - w->symmetric.base), size = rmai_segment_size(&w->symmetric);
    *p = (struct rmai_place){.far = slot < 0, .pe = pe, .slot = slot, .offset = w->job.layout.symmetric + offset};
    if (offset <= size && len <= size - offset) {
        if (!p->far) p->there = rmai_job_space(&w->job, slot) + w->job.layout.symmetric + offset;
        return 1;
    }
    offset = (size_t)((const char *)addr - w->statics->base);
    if (w->job.statics_mode == RMAI_STATICS_OFF || offset >= w->statics->size || len > w->statics->size - offset)
        return 0;
    p->offset = w->job.layout.statics + offset;
    if (p->far) return 1;
    if (slot == w->job.node_my_pe)
        p->there = (void *)(uintptr_t)addr;
    else if (w->job.statics_mode == RMAI_STATICS_REMAP)
        p->there = rmai_job_space(&w->job, slot) + w->job.layout.statics + offset;
    else
        p->address = rmai_facts(&w->job, slot)->statics + offset;
    return 1;
}

int rmai_place_symmetric(const struct rmai_world *w, const void *addr, size_t len, int pe, struct rmai_place *p) {
    return find_symmetric(w, addr, len, pe, rmai_node_slot(&w->job, pe), p);
}

int rmai_resolve(const char *call, const char *argument, const rma_ctx *ctx, const void *addr, size_t len, int pe,
                 struct rmai_place *p) {
    struct rmai_world *w = &rmai_world;
    struct rmai_context *c = rmai_context(call, ctx);
    if (!c) return rma_last_code();
    pe = rmai_context_pe(c, call, pe);
    if (pe < 0) return RMA_ERR_PE;
    if (!find_symmetric(w, addr, len, pe, rmai_node_slot(&w->job, pe), p))
        return not_symmetric(w, call, argument, addr, len);
    p->set = c->pending;
    return RMA_SUCCESS;
}

uint64_t rmai_symmetric_offset(const struct rmai_world *w, const void *addr) {
    size_t offset = (size_t)((const char *)addr - w->statics->base);
    if (offset < w->statics->size) return UINT64_MAX / 2 + offset;
    return (uint64_t)((const char *)addr - w->symmetric.base);
}

/* The checks of a call that moves 0 bytes: its addresses may be anything. */
static int check_ctx_and_pe(const char *call, const rma_ctx *ctx, int pe) {
    struct rmai_context *c = rmai_context(call, ctx);
    return c && rmai_context_pe(c, call, pe) >= 0 ? RMA_SUCCESS : rma_last_code();
}

/* ---- to other nodes ---- */

/* ---- streams: the shortest path ----
 *
 * These return 0, with nothing done, if no stream takes the operation; then the call goes on to find out why not. A
 * stream of this PE and kind of operation is open only if the PE is on another node, or this one in a session. */

/* Returns the context's streams, or NULL. *pe becomes the world's number of the PE. */
static inline __attribute__((always_inline)) struct rmai_streams *streams_of(const rma_ctx *ctx, int *pe) {
    const struct rmai_context *c;
    if (RMAI_LIKELY(ctx == RMA_CTX_DEFAULT)) {
        return rmai_context_lines->streams;
    }
    c = rmai_context_at(ctx);
    if (!c || *pe < 0 || *pe >= c->team->n) return NULL;
    *pe = rmai_team_pe(c->team, *pe);
    return c->line->streams;
}

static inline __attribute__((always_inline)) int stream_put_of(const rma_ctx *ctx, void *dest, const void *source,
                                                               size_t len, int pe) {
    struct rmai_streams *all = streams_of(ctx, &pe);
    const uint64_t key = rmai_stream_best_key(rmai_stream_key(pe, RMAI_RECORD_PUT, 0, 0, len), len);
    struct rmai_stream *s;
    if (!all || !source) return 0;
    s = rmai_stream_at(all, pe);
    return rmai_stream_put(all, s, key, (uintptr_t)dest - s->origin, source, len);
}

static inline __attribute__((always_inline)) int stream_get_of(const rma_ctx *ctx, void *dest, const void *source,
                                                               size_t len, int pe) {
    struct rmai_streams *all = streams_of(ctx, &pe);
    const uint64_t key = rmai_stream_best_key(rmai_stream_key(pe, RMAI_RECORD_GET, 0, 0, len), len);
    struct rmai_stream *s;
    if (!all || !dest || len > RMAI_STREAM_LEN_MAX) return 0;
    s = rmai_stream_at(all, pe);
    return rmai_stream_get(all, s, key, (uintptr_t)source - s->origin, dest, len);
}

static inline __attribute__((always_inline)) int stream_atomic_of(const rma_ctx *ctx, uint32_t update,
                                                                  const void *target, size_t len, uint64_t value,
                                                                  int pe, void *fetch) {
    struct rmai_streams *all = streams_of(ctx, &pe);
    const uint64_t key =
        rmai_stream_key(pe, RMAI_RECORD_ATOMIC, 0, fetch ? RMAI_RECORD_WANTED : 0, 0) | update | RMAI_STREAM_COMPACT;
    struct rmai_stream *s;
    if (!all) return 0;
    s = rmai_stream_at(all, pe);
    return rmai_stream_atomic(all, s, key, (uintptr_t)target - s->origin, value, len, fetch);
}

static inline __attribute__((always_inline)) int stream_compare_swap_of(const rma_ctx *ctx, const void *target,
                                                                        size_t len, uint64_t value, uint64_t cond,
                                                                        int pe, void *fetch) {
    struct rmai_streams *all = streams_of(ctx, &pe);
    const uint64_t key = rmai_stream_key(pe, RMAI_RECORD_ATOMIC, RMA_COMPARE_SWAP_, RMAI_RECORD_WANTED, len);
    struct rmai_stream *s;
    if (!all || !fetch) return 0;
    s = rmai_stream_at(all, pe);
    return rmai_stream_compare_swap(all, s, key | RMAI_STREAM_COMPACT, (uintptr_t)target - s->origin, value, cond, len,
                                    fetch);
}

/* ---- one operation ---- */

/* What an operation is for rmai_net_loops_back: MOVES never travel to this PE itself; UPDATES are atomics and
 * nonblocking gets of a word for whose end no call waits; FETCHES are those for which the call waits. */
enum { MOVES, UPDATES, FETCHES };
static __attribute__((noinline)) int loops_back(struct rmai_pending *s, int pe, int what) {
    return what != MOVES && pe == rmai_world.job.my_pe && rmai_net_loops_back(s, what == FETCHES);
}

/* The short path of most calls that come here: `addr`, of PE `pe` of another node, is in the symmetric heap; or of this
 * PE, if the operation loops back. Fills in *op except the kind of operation. Returns 0 if the address is anything
 * else, or wrong: then the call takes the long path, which words the error. */
static inline __attribute__((always_inline)) int find_far(struct rmai_op *op, const char *call, const rma_ctx *ctx,
                                                          const void *addr, size_t len, int pe, int what) {
    const struct rmai_world *w = &rmai_world;
    struct rmai_context *c = rmai_context_at(ctx);
    const size_t in_heap = (size_t)((const char *)addr - w->symmetric.base), size = rmai_segment_size(&w->symmetric);
    if (RMAI_UNLIKELY(!c || !c->pending || in_heap > size || len > size - in_heap)) return 0;
    if (ctx != RMA_CTX_DEFAULT) {
        if (pe < 0 || pe >= c->team->n) return 0;
        pe = rmai_team_pe(c->team, pe);
    }
    if (RMAI_UNLIKELY((unsigned)pe >= (unsigned)w->job.n_pes)) return 0;
    if (RMAI_UNLIKELY(rma_slot_(pe) < rma_reach_.n_node)) {
        if (!loops_back(c->pending, pe, what)) return 0;
    } else if (RMAI_UNLIKELY(rma_reach_.n_node != (unsigned)w->job.node_n_pes) && rmai_node_slot(&w->job, pe) >= 0) {
        return 0;
    }
    op->call = call;
    op->set = c->pending;
    op->pe = pe;
    op->offset = w->job.layout.symmetric + in_heap;
    op->len = len;
    return 1;
}

/* 1 if the inlined calls leave atomics and nonblocking gets to the library, also on this node (RMA_STREAMING_). */
static inline int in_session(const rma_ctx *ctx) {
    const struct rmai_context *c;
    if (RMAI_LIKELY(ctx == RMA_CTX_DEFAULT)) return rma_streaming_(&rmai_context_lines->complete);
    c = rmai_context_at(ctx);
    return c && rma_streaming_(&c->line->complete);
}

/* Returns the address that the inlined call would have accessed, or NULL if the memory is on another node or the
 * operation travels as those to other nodes do. */
static __attribute__((noinline)) void *reach_in_session(const rma_ctx *ctx, const void *addr, size_t len, int pe,
                                                        int what) {
    struct rmai_context *c = rmai_context_at(ctx);
    if (!c || pe < 0 || pe >= c->team->n) return NULL;
    pe = rmai_team_pe(c->team, pe);
    return loops_back(c->pending, pe, what) ? NULL : rma_reach_ptr_(addr, len, pe);
}

static void *reach_word_in_session(const rma_ctx *ctx, const void *word, size_t len, int pe, int what) {
    return (uintptr_t)word & (len - 1) ? NULL : reach_in_session(ctx, word, len, pe, what);
}

static inline int raise_failure(int code) { return RMAI_LIKELY(code == RMA_SUCCESS) ? code : rmai_raise(code); }

/* ---- puts, gets, atomics ---- */

static int put_symmetric(const char *call, const rma_ctx *ctx, void *dest, const void *source, size_t len, int pe,
                         enum rmai_when when) {
    struct rmai_place p;
    int code = len ? rmai_resolve(call, "dest", ctx, dest, len, pe, &p) : check_ctx_and_pe(call, ctx, pe);
    if (code == RMA_SUCCESS && len) code = rmai_check_local(call, "source", source);
    if (code == RMA_SUCCESS && len) code = rmai_place_put(&rmai_world, call, &p, source, len, when);
    return rmai_raise(code);
}

static int get_symmetric(const char *call, const rma_ctx *ctx, void *dest, const void *source, size_t len, int pe,
                         enum rmai_when when) {
    struct rmai_place p;
    int code = len ? rmai_resolve(call, "source", ctx, source, len, pe, &p) : check_ctx_and_pe(call, ctx, pe);
    if (code == RMA_SUCCESS && len) code = rmai_check_local(call, "dest", dest);
    if (code == RMA_SUCCESS && len) code = rmai_place_get(&rmai_world, call, &p, dest, len, when);
    return rmai_raise(code);
}

/* The functions below are apart from those that try a stream: so these save no registers. */
static __attribute__((noinline)) int put_beyond(const char *call, const rma_ctx *ctx, void *dest, const void *source,
                                                size_t len, int pe, enum rmai_when when) {
    struct rmai_op op;
    if (RMAI_UNLIKELY(!source || !len || !find_far(&op, call, ctx, dest, len, pe, MOVES)))
        return put_symmetric(call, ctx, dest, source, len, pe, when);
    op.kind = RMAI_RECORD_PUT;
    op.when = (uint8_t)when;
    op.buffer = (void *)(uintptr_t)source;
    return raise_failure(rmai_net_put(&op));
}

static __attribute__((noinline)) int get_beyond(const char *call, const rma_ctx *ctx, void *dest, const void *source,
                                                size_t len, int pe, enum rmai_when when) {
    struct rmai_op op;
    if (RMAI_UNLIKELY(!dest || !len ||
                      !find_far(&op, call, ctx, source, len, pe, when == RMAI_LATER && len == 8 ? UPDATES : MOVES)))
        return get_symmetric(call, ctx, dest, source, len, pe, when);
    op.kind = RMAI_RECORD_GET;
    op.when = (uint8_t)when;
    op.buffer = dest;
    return raise_failure(rmai_net_get(&op));
}

/* Words of 8 bytes have their own code, without a call of memcpy. Other lengths are left to these functions, which are
 * called last and not inlined, so that the code for words saves no registers. */
static __attribute__((noinline)) int put_other(const char *call, const rma_ctx *ctx, void *dest, const void *source,
                                               size_t len, int pe, enum rmai_when when) {
    return len > 0 && len <= RMAI_STREAM_LEN_MAX && stream_put_of(ctx, dest, source, len, pe)
               ? RMA_SUCCESS
               : put_beyond(call, ctx, dest, source, len, pe, when);
}

static inline __attribute__((always_inline)) int put_as(const char *call, const rma_ctx *ctx, void *dest,
                                                        const void *source, size_t len, int pe, enum rmai_when when) {
    if (RMAI_UNLIKELY(len != sizeof(uint64_t))) return put_other(call, ctx, dest, source, len, pe, when);
    return stream_put_of(ctx, dest, source, sizeof(uint64_t), pe)
               ? RMA_SUCCESS
               : put_beyond(call, ctx, dest, source, sizeof(uint64_t), pe, when);
}

static __attribute__((noinline)) int get_other_nbi(const char *call, const rma_ctx *ctx, void *dest, const void *source,
                                                   size_t len, int pe) {
    return stream_get_of(ctx, dest, source, len, pe) ? RMA_SUCCESS
                                                     : get_beyond(call, ctx, dest, source, len, pe, RMAI_LATER);
}

int rma_put_slow_(const char *call, const rma_ctx *ctx, void *dest, const void *source, size_t len, int pe) {
    return put_as(call, ctx, dest, source, len, pe, RMAI_NOW);
}

int rma_p_slow_(const char *call, const rma_ctx *ctx, void *dest, const void *source, size_t len, int pe) {
    return put_as(call, ctx, dest, source, len, pe, RMAI_COPIED);
}

int rma_get_slow_(const char *call, const rma_ctx *ctx, void *dest, const void *source, size_t len, int pe) {
    return get_beyond(call, ctx, dest, source, len, pe, RMAI_NOW);
}

int rma_put_nbi_slow_(const char *call, const rma_ctx *ctx, void *dest, const void *source, size_t len, int pe) {
    return put_as(call, ctx, dest, source, len, pe, RMAI_LATER);
}

int rma_get_nbi_slow_(const char *call, const rma_ctx *ctx, void *dest, const void *source, size_t len, int pe) {
    if (RMAI_UNLIKELY(len != sizeof(uint64_t))) return get_other_nbi(call, ctx, dest, source, len, pe);
    return stream_get_of(ctx, dest, source, sizeof(uint64_t), pe)
               ? RMA_SUCCESS
               : get_beyond(call, ctx, dest, source, sizeof(uint64_t), pe, RMAI_LATER);
}

void *rma_ptr(const void *addr, int pe) {
    struct rmai_world *w = &rmai_world;
    void *there = rma_reach_ptr_(addr, 1, pe);
    struct rmai_place p;
    int code;
    if (RMAI_LIKELY(there != NULL)) return there;
    code = rmai_running("rma_ptr");
    if (code == RMA_SUCCESS) code = rmai_check_pe(&w->job, "rma_ptr", "PE", pe);
    if (rmai_raise(code) != RMA_SUCCESS) return NULL;
    there = rmai_place_symmetric(w, addr, 1, pe, &p) ? p.there : NULL;
    if (!there) rmai_net_poll_sometimes(w->net); /* a loop that polls by loads may call it */
    return there;
}

int rmai_resolve_word(const char *call, const char *argument, const rma_ctx *ctx, const void *word, size_t len, int pe,
                      struct rmai_place *p) {
    int code = rmai_resolve(call, argument, ctx, word, len, pe, p);
    if (code == RMA_SUCCESS && ((uintptr_t)word & (len - 1)))
        code = rmai_error(RMA_ERR_ADDRESS, "%s: %s %p is not aligned to its %zu bytes", call, argument, word, len);
    return code;
}

/* As find_far, for an atomic on an aligned word. */
static inline __attribute__((always_inline)) int find_far_word(struct rmai_op *far, const char *call,
                                                               const rma_ctx *ctx, int op, const void *target,
                                                               size_t len, uint64_t value, uint64_t cond, int pe,
                                                               int what) {
    if (RMAI_UNLIKELY((uintptr_t)target & (len - 1)) || !find_far(far, call, ctx, target, len, pe, what)) return 0;
    far->kind = RMAI_RECORD_ATOMIC;
    far->atomic = (uint8_t)op;
    far->value = value;
    far->cond = cond;
    return 1;
}

static __attribute__((noinline)) int atomic_beyond(const char *call, const rma_ctx *ctx, int op, const void *target,
                                                   size_t len, uint64_t value, uint64_t cond, int pe, void *fetch) {
    struct rmai_op far;
    struct rmai_place p;
    void *near;
    int code;
    if (RMAI_UNLIKELY(in_session(ctx)) && fetch &&
        (near = reach_word_in_session(ctx, target, len, pe, UPDATES)) != NULL) {
        rma_fetched_(fetch, len, rma_apply_(op, near, len, value, cond));
        return RMA_SUCCESS;
    }
    if (RMAI_LIKELY(fetch && find_far_word(&far, call, ctx, op, target, len, value, cond, pe, UPDATES))) {
        far.when = RMAI_LATER;
        far.buffer = fetch;
        return raise_failure(rmai_net_atomic(&far));
    }
    code = rmai_resolve_word(call, "target", ctx, target, len, pe, &p);
    if (code == RMA_SUCCESS && !fetch) code = rmai_error(RMA_ERR_ARG, "%s: fetch is a null pointer", call);
    if (code == RMA_SUCCESS) code = rmai_place_atomic_later(&rmai_world, call, &p, op, len, value, cond, fetch);
    return rmai_raise(code);
}

static __attribute__((noinline)) int compare_swap_nbi(const char *call, const rma_ctx *ctx, const void *target,
                                                      size_t len, uint64_t value, uint64_t cond, int pe, void *fetch) {
    return (RMAI_LIKELY(len == sizeof(uint64_t))
                ? stream_compare_swap_of(ctx, target, sizeof(uint64_t), value, cond, pe, fetch)
                : stream_compare_swap_of(ctx, target, sizeof(uint32_t), value, cond, pe, fetch))
               ? RMA_SUCCESS
               : atomic_beyond(call, ctx, RMA_COMPARE_SWAP_, target, len, value, cond, pe, fetch);
}

int rma_atomic_nbi_slow_(const char *call, const rma_ctx *ctx, int op, const void *target, size_t len, uint64_t value,
                         uint64_t cond, int pe, void *fetch) {
    const uint32_t update = RMA_WORD_UPDATE_(op, len);
    if (op == RMA_COMPARE_SWAP_) return compare_swap_nbi(call, ctx, target, len, value, cond, pe, fetch);
    if (fetch && (RMAI_LIKELY(len == sizeof(uint64_t))
                      ? stream_atomic_of(ctx, update, target, sizeof(uint64_t), value, pe, fetch)
                      : stream_atomic_of(ctx, update, target, sizeof(uint32_t), value, pe, fetch)))
        return RMA_SUCCESS;
    return atomic_beyond(call, ctx, op, target, len, value, cond, pe, fetch);
}

int rma_atomic_slow_(const char *call, const rma_ctx *ctx, int op, const void *target, size_t len, uint64_t value,
                     uint64_t cond, int pe, uint64_t *old) {
    struct rmai_op far;
    struct rmai_place p;
    void *near;
    int code;
    if (RMAI_UNLIKELY(in_session(ctx)) &&
        (near = reach_word_in_session(ctx, target, len, pe, old ? FETCHES : UPDATES)) != NULL) {
        value = rma_apply_(op, near, len, value, cond);
        if (old) *old = value;
        return RMA_SUCCESS;
    }
    if (RMAI_LIKELY((len == sizeof *old || !old) &&
                    find_far_word(&far, call, ctx, op, target, len, value, cond, pe, old ? FETCHES : UPDATES))) {
        far.when = RMAI_NOW;
        far.buffer = old;
        return raise_failure(rmai_net_atomic(&far));
    }
    code = rmai_resolve_word(call, "target", ctx, target, len, pe, &p);
    if (code == RMA_SUCCESS) code = rmai_place_atomic(&rmai_world, call, &p, op, len, value, cond, old);
    return rmai_raise(code);
}

static __attribute__((noinline)) int stream_half_of(const rma_ctx *ctx, uint32_t update, const void *target,
                                                    uint64_t value, int pe) {
    return stream_atomic_of(ctx, update, target, sizeof(uint32_t), value, pe, NULL);
}

/* An update of a word whose length is known to `update` only. */
static inline __attribute__((always_inline)) int stream_update_of(const rma_ctx *ctx, uint32_t update,
                                                                  const void *target, uint64_t value, int pe) {
    return RMAI_UNLIKELY(update >> 24 != sizeof value)
               ? stream_half_of(ctx, update, target, value, pe)
               : stream_atomic_of(ctx, update, target, sizeof value, value, pe, NULL);
}

int rma_stream_update_(uint32_t update, const void *target, uint64_t value, int pe) {
    return stream_update_of(RMA_CTX_DEFAULT, update, target, value, pe);
}

int rma_stream_get_(void *dest, const void *source, int pe) {
    return stream_get_of(RMA_CTX_DEFAULT, dest, source, sizeof(uint64_t), pe);
}

/* Where the inlined call has not tried the streams. */
static __attribute__((noinline)) int update_in_context(const char *call, const rma_ctx *ctx, uint32_t update,
                                                       const void *target, uint64_t value, int pe) {
    return stream_update_of(ctx, update, target, value, pe)
               ? RMA_SUCCESS
               : rma_atomic_slow_(call, ctx, update >> 8 & 0xff, target, update >> 24, value, 0, pe, NULL);
}

int rma_update_slow_(const char *call, const rma_ctx *ctx, uint32_t update, const void *target, uint64_t value,
                     int pe) {
    return ctx == RMA_CTX_DEFAULT
               ? rma_atomic_slow_(call, ctx, update >> 8 & 0xff, target, update >> 24, value, 0, pe, NULL)
               : update_in_context(call, ctx, update, target, value, pe);
}

int rmai_check_signal_op(const char *call, int op) {
    if (op == RMA_SIGNAL_SET || op == RMA_SIGNAL_ADD) return RMA_SUCCESS;
    return rmai_error(RMA_ERR_ARG,
                      rmai_error_of_shmem(call) ? "%s: op %d is neither SHMEM_SIGNAL_SET nor SHMEM_SIGNAL_ADD"
                                                : "%s: op %d is neither RMA_SIGNAL_SET nor RMA_SIGNAL_ADD",
                      call, op);
}

int rmai_place_put_signal(const char *call, const struct rmai_place *to, const void *source, size_t len,
                          const struct rmai_place *word, uint64_t value, int op, enum rmai_when when) {
    const int atomic = op == RMA_SIGNAL_SET ? RMA_SET_ : RMA_FETCH_ADD_;
    const struct rmai_op put = rmai_place_move(call, to, RMAI_RECORD_PUT, (void *)(uintptr_t)source, len, when),
                         signal = rmai_place_operation(call, word, atomic, sizeof value, value, 0, NULL, RMAI_NOW);
    return rmai_net_put_signal(&put, &signal);
}

/* The short path of a put with a signal, or of a signal alone, to symmetric heaps of other nodes. Returns 0, with
 * nothing done, if the call has to take the long path. */
static inline int signal_far(const char *call, const rma_ctx *ctx, void *dest, const void *source, size_t len,
                             uint64_t *signal, uint64_t value, int op, int pe, int nbi, int *code) {
    struct rmai_op put, set;
    const int atomic = op == RMA_SIGNAL_SET ? RMA_SET_ : RMA_FETCH_ADD_;
    if (RMAI_UNLIKELY(op != RMA_SIGNAL_SET && op != RMA_SIGNAL_ADD)) return 0;
    if (!find_far_word(&set, call, ctx, atomic, signal, sizeof *signal, value, 0, pe, FETCHES)) return 0;
    set.when = RMAI_NOW;
    set.buffer = NULL;
    if (!len) return *code = rmai_net_atomic(&set), 1;
    if (!source || len > RMAI_WITH_SIGNAL || !find_far(&put, call, ctx, dest, len, pe, MOVES)) return 0;
    put.kind = RMAI_RECORD_PUT;
    put.when = nbi ? RMAI_LATER : RMAI_NOW;
    put.buffer = (void *)(uintptr_t)source;
    return *code = rmai_net_put_signal(&put, &set), 1;
}

/* Data and signal are both checked before anything moves. */
int rma_put_signal_slow_(const char *call, const rma_ctx *ctx, void *dest, const void *source, size_t len,
                         uint64_t *signal, uint64_t value, int op, int pe, int nbi) {
    struct rmai_world *w = &rmai_world;
    struct rmai_place to = {0}, word;
    int atomic = op == RMA_SIGNAL_SET ? RMA_SET_ : RMA_FETCH_ADD_, code;
    if (RMAI_LIKELY(signal_far(call, ctx, dest, source, len, signal, value, op, pe, nbi, &code)))
        return raise_failure(code);
    code = rmai_resolve_word(call, "signal", ctx, signal, sizeof *signal, pe, &word);
    if (code == RMA_SUCCESS && len) code = rmai_resolve(call, "dest", ctx, dest, len, pe, &to);
    if (code == RMA_SUCCESS && len) code = rmai_check_local(call, "source", source);
    if (code == RMA_SUCCESS) code = rmai_check_signal_op(call, op);
    if (code == RMA_SUCCESS && len && to.far && len <= RMAI_WITH_SIGNAL)
        return rmai_raise(rmai_place_put_signal(call, &to, source, len, &word, value, op, nbi ? RMAI_LATER : RMAI_NOW));
    if (code == RMA_SUCCESS && len) code = rmai_place_put(w, call, &to, source, len, RMAI_NOW);
    if (code == RMA_SUCCESS) code = rmai_place_atomic(w, call, &word, atomic, sizeof *signal, value, 0, NULL);
    return rmai_raise(code);
}

/* ---- strided ---- */

size_t rmai_span(size_t n, size_t stride, size_t elem) {
    size_t bytes;
    if (__builtin_mul_overflow((n - 1), stride, &bytes) || __builtin_mul_overflow(bytes, elem, &bytes) ||
        __builtin_add_overflow(bytes, elem, &bytes))
        return 0;
    return bytes;
}

int rmai_check_strides(const char *call, ptrdiff_t dest_stride, ptrdiff_t source_stride, size_t elem) {
    if (dest_stride < 1) return rmai_error(RMA_ERR_ARG, "%s: dest_stride %td is below 1", call, dest_stride);
    if (source_stride < 1) return rmai_error(RMA_ERR_ARG, "%s: source_stride %td is below 1", call, source_stride);
    if (elem == 0) return rmai_error(RMA_ERR_ARG, "%s: elem is 0 bytes", call);
    return RMA_SUCCESS;
}

/* For put and get: `remote` is the symmetric side, remote_stride its stride, `argument` its name in texts. */
static int resolve_strided(const char *call, const char *argument, const rma_ctx *ctx, const void *remote,
                           ptrdiff_t remote_stride, size_t elem, size_t n, int pe, struct rmai_place *p) {
    size_t bytes;
    if (n == 0) return check_ctx_and_pe(call, ctx, pe);
    bytes = rmai_span(n, (size_t)remote_stride, elem);
    if (!bytes)
        return rmai_error(RMA_ERR_ADDRESS, "%s: %zu elements of %zu byte%s, %td apart, overflow an address", call, n,
                          elem, rmai_s(elem), remote_stride);
    return rmai_resolve(call, argument, ctx, remote, bytes, pe, p);
}

static inline int check_put_strided(const char *call, const rma_ctx *ctx, const void *dest, const void *source,
                                    ptrdiff_t dest_stride, ptrdiff_t source_stride, size_t elem, size_t n, int pe,
                                    struct rmai_place *p) {
    int code = rmai_check_strides(call, dest_stride, source_stride, elem);
    if (code == RMA_SUCCESS) code = resolve_strided(call, "dest", ctx, dest, dest_stride, elem, n, pe, p);
    if (code == RMA_SUCCESS && n) code = rmai_check_local(call, "source", source);
    return code;
}

static int put_strided(const char *call, const rma_ctx *ctx, void *dest, const void *source, ptrdiff_t dest_stride,
                       ptrdiff_t source_stride, size_t elem, size_t n, int pe) {
    struct rmai_place p = {0};
    int code = check_put_strided(call, ctx, dest, source, dest_stride, source_stride, elem, n, pe, &p);
    if (code == RMA_SUCCESS)
        code =
            rmai_place_strided(call, &p, 1, source, (size_t)dest_stride * elem, (size_t)source_stride * elem, elem, n);
    return rmai_raise(code);
}

/* The signal is an atomic, and so comes after the elements. */
static int put_strided_signal(const char *call, const rma_ctx *ctx, void *dest, const void *source,
                              ptrdiff_t dest_stride, ptrdiff_t source_stride, size_t elem, size_t n, uint64_t *signal,
                              uint64_t value, int op, int pe) {
    struct rmai_world *w = &rmai_world;
    struct rmai_place p = {0}, word;
    int code = rmai_resolve_word(call, "signal", ctx, signal, sizeof *signal, pe, &word);
    if (code == RMA_SUCCESS)
        code = check_put_strided(call, ctx, dest, source, dest_stride, source_stride, elem, n, pe, &p);
    if (code == RMA_SUCCESS) code = rmai_check_signal_op(call, op);
    if (code == RMA_SUCCESS)
        code =
            rmai_place_strided(call, &p, 1, source, (size_t)dest_stride * elem, (size_t)source_stride * elem, elem, n);
    if (code == RMA_SUCCESS)
        code = rmai_place_atomic(w, call, &word, op == RMA_SIGNAL_SET ? RMA_SET_ : RMA_FETCH_ADD_, sizeof *signal,
                                 value, 0, NULL);
    return rmai_raise(code);
}

static int get_strided(const char *call, const rma_ctx *ctx, void *dest, const void *source, ptrdiff_t dest_stride,
                       ptrdiff_t source_stride, size_t elem, size_t n, int pe) {
    struct rmai_place p = {0};
    int code = rmai_check_strides(call, dest_stride, source_stride, elem);
    if (code == RMA_SUCCESS) code = resolve_strided(call, "source", ctx, source, source_stride, elem, n, pe, &p);
    if (code == RMA_SUCCESS && n) code = rmai_check_local(call, "dest", dest);
    if (code == RMA_SUCCESS)
        code = rmai_place_strided(call, &p, 0, dest, (size_t)source_stride * elem, (size_t)dest_stride * elem, elem, n);
    return rmai_raise(code);
}

int rma_iput(void *dest, const void *source, ptrdiff_t dest_stride, ptrdiff_t source_stride, size_t elem, size_t n,
             int pe) {
    return put_strided("rma_iput", RMA_CTX_DEFAULT, dest, source, dest_stride, source_stride, elem, n, pe);
}

int rma_iget(void *dest, const void *source, ptrdiff_t dest_stride, ptrdiff_t source_stride, size_t elem, size_t n,
             int pe) {
    return get_strided("rma_iget", RMA_CTX_DEFAULT, dest, source, dest_stride, source_stride, elem, n, pe);
}

int rma_iput_signal(void *dest, const void *source, ptrdiff_t dest_stride, ptrdiff_t source_stride, size_t elem,
                    size_t n, uint64_t *signal, uint64_t value, int op, int pe) {
    return put_strided_signal("rma_iput_signal", RMA_CTX_DEFAULT, dest, source, dest_stride, source_stride, elem, n,
                              signal, value, op, pe);
}

int rma_ctx_iput_signal(rma_ctx *ctx, void *dest, const void *source, ptrdiff_t dest_stride, ptrdiff_t source_stride,
                        size_t elem, size_t n, uint64_t *signal, uint64_t value, int op, int pe) {
    return put_strided_signal("rma_ctx_iput_signal", ctx, dest, source, dest_stride, source_stride, elem, n, signal,
                              value, op, pe);
}

int rma_ctx_iput(rma_ctx *ctx, void *dest, const void *source, ptrdiff_t dest_stride, ptrdiff_t source_stride,
                 size_t elem, size_t n, int pe) {
    return put_strided("rma_ctx_iput", ctx, dest, source, dest_stride, source_stride, elem, n, pe);
}

int rma_ctx_iget(rma_ctx *ctx, void *dest, const void *source, ptrdiff_t dest_stride, ptrdiff_t source_stride,
                 size_t elem, size_t n, int pe) {
    return get_strided("rma_ctx_iget", ctx, dest, source, dest_stride, source_stride, elem, n, pe);
}
