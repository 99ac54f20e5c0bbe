/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/place_pattern.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/kernels.h"
#include "base/pattern.h"
#include "base/process.h"
#include "base/update.h"
#include "runtime/job/job.h"
#include "runtime/job/traffic.h"
#include "runtime/net/op.h"
#include "runtime/net/packed.h"
#include "runtime/node/service.h"
#include "runtime/place.h"
#include "runtime/world.h"

#include <string.h>

#define CHUNK  ((size_t)4096) /* bytes of operands that are scaled, or handed to the owner, at once */
#define PIECES 64             /* blocks of private memory in one system call */

/* ---- private memory of PEs of this node ---- */

/* Copies blocks of private memory of another process: many with one system call, if the system allows it. */
static int copy_private(struct rmai_packed *x, struct rmai_place *p, int write, const struct rmai_process_piece *piece,
                        int n) {
    struct rmai_world *w = &rmai_world;
    enum rmai_process_result result = RMAI_PROCESS_REFUSED;
    int code = RMA_SUCCESS;
    if (rmai_same_pids(&w->job, p->slot))
        result = rmai_process_copy(rmai_facts(&w->job, p->slot)->pid, write, piece, n);
    if (result == RMAI_PROCESS_FAULT) return rmai_not_mapped(x->call, piece[0].there, piece[0].len, p->pe);
    for (int i = 0; result == RMAI_PROCESS_REFUSED && i < n && code == RMA_SUCCESS; i++) {
        struct rmai_place one = *p;
        one.address = piece[i].there;
        code = write ? rmai_place_put(w, x->call, &one, piece[i].here, piece[i].len, RMAI_NOW)
                     : rmai_place_get(w, x->call, &one, piece[i].here, piece[i].len, RMAI_NOW);
    }
    return code;
}

static int move_private(struct rmai_packed *x, struct rmai_place *p) {
    struct rmai_walk walk = {.s = x->pattern};
    struct rmai_process_piece piece[PIECES];
    struct rmai_run run;
    int n = 0, code = RMA_SUCCESS;
    const int write = x->what == RMAI_PACKED_PUT;
    while (code == RMA_SUCCESS && rmai_pattern_next(&walk, &run))
        for (size_t i = 0; i < run.n && code == RMA_SUCCESS; i++) {
            piece[n++] = (struct rmai_process_piece){
                (char *)x->local + run.at[RMAI_LOCAL] + (ptrdiff_t)i * run.step[RMAI_LOCAL],
                p->address + (uint64_t)(run.at[RMAI_REMOTE] - x->pattern->least + (ptrdiff_t)i * run.step[RMAI_REMOTE]),
                run.len};
            if (n < PIECES) continue;
            code = copy_private(x, p, write, piece, n);
            n = 0;
        }
    return code == RMA_SUCCESS && n > 0 ? copy_private(x, p, write, piece, n) : code;
}

/* ---- on this node ---- */

static void move_here(const struct rmai_packed *x, char *there) {
    const struct rmai_pattern *pattern = x->pattern;
    const int put = x->what == RMAI_PACKED_PUT;
    struct rmai_walk walk = {.s = pattern};
    char *local = x->local;
    struct rmai_run run;
    if (pattern->kind == RMAI_INDEXED) {
        char *array = there - pattern->least;
        if (put)
            rmai_scatter(array, local, pattern->index, pattern->elem, pattern->n);
        else
            rmai_gather(local, array, pattern->index, pattern->elem, pattern->n);
        return;
    }
    while (rmai_pattern_next(&walk, &run)) {
        char *here = local + run.at[RMAI_LOCAL], *far = there + (run.at[RMAI_REMOTE] - pattern->least);
        if (put)
            rmai_move_strided(far, here, run.step[RMAI_REMOTE], run.step[RMAI_LOCAL], run.len, run.n);
        else
            rmai_move_strided(here, far, run.step[RMAI_LOCAL], run.step[RMAI_REMOTE], run.len, run.n);
    }
}

/* Updates one block of the remote side, `at` bytes from the place. */
static int update_block(const struct rmai_packed *x, const struct rmai_place *p, size_t at, const char *source,
                        char *before, size_t len) {
    struct rmai_world *w = &rmai_world;
    const size_t size = rmai_type_size(x->type);
    const uint64_t position = rmai_position(&w->job, p->slot, p->offset + at);
    _Alignas(16) char operand[CHUNK];
    if (p->there && !x->scale) {
        rmai_update(&w->job.stripes, position, x->op, x->type, (char *)p->there + at, source, before, len / size);
        return RMA_SUCCESS;
    }
    for (size_t done = 0, now; done < len; done += now) {
        struct rmai_request r = {.op = RMAI_SERVICE_UPDATE,
                                 .atomic = (int)x->op,
                                 .type = (int)x->type,
                                 .address = p->address + at + done,
                                 .position = position + done};
        int code;
        r.len = now = rmai_min(len - done, CHUNK / size * size);
        if (x->scale)
            rmai_scale(x->type, operand, x->scale, source + done, now / size);
        else if (x->op != RMA_OP_FETCH)
            memcpy(operand, source + done, now);
        if (p->there) {
            rmai_update(&w->job.stripes, position + done, x->op, x->type, (char *)p->there + at + done, operand,
                        before ? before + done : NULL, now / size);
            continue;
        }
        code = rmai_service_ask(w->service, x->call, p->slot, &r, operand);
        if (code == RMA_SUCCESS && r.fault) code = rmai_not_mapped(x->call, r.address, now, p->pe);
        if (code != RMA_SUCCESS) return code;
        if (before) memcpy(before + done, operand, now);
    }
    return RMA_SUCCESS;
}

static int update_here(const struct rmai_packed *x, const struct rmai_place *p) {
    struct rmai_walk walk = {.s = x->pattern};
    struct rmai_run run;
    int code = RMA_SUCCESS;
    while (code == RMA_SUCCESS && rmai_pattern_next(&walk, &run)) {
        const char *source = x->local ? (const char *)x->local + run.at[RMAI_LOCAL] : NULL;
        char *before = x->before ? (char *)x->before + run.at[RMAI_BEFORE] : NULL;
        size_t at = (size_t)(run.at[RMAI_REMOTE] - x->pattern->least);
        for (size_t i = 0; i < run.n && code == RMA_SUCCESS; i++) {
            code = update_block(x, p, at, source, before, run.len);
            at += (size_t)run.step[RMAI_REMOTE];
            if (source) source += run.step[RMAI_LOCAL];
            if (before) before += run.step[RMAI_BEFORE];
        }
    }
    return code;
}

static void count_access(const struct rmai_packed *x, const struct rmai_place *p) {
    struct rmai_world *w = &rmai_world;
    if (x->what == RMAI_PACKED_UPDATE)
        rmai_count(w->traffic, p->there ? RMA_PATH_MEMORY : RMA_PATH_OWNER, RMAI_ATOMICS, 0);
    else
        rmai_count(w->traffic, p->there ? RMA_PATH_MEMORY : RMA_PATH_KERNEL,
                   x->what == RMAI_PACKED_PUT ? RMAI_PUTS : RMAI_GETS, x->pattern->bytes);
}

static int do_here(struct rmai_packed *x, struct rmai_place *p) {
    count_access(x, p);
    if (x->what == RMAI_PACKED_UPDATE) return update_here(x, p);
    if (!p->there) return move_private(x, p);
    move_here(x, p->there);
    return RMA_SUCCESS;
}

/* ---- to another node ---- */

static int do_there(struct rmai_packed *x, struct rmai_place *p) {
    const size_t span = (size_t)(x->pattern->end - x->pattern->least);
    const int writes = x->what == RMAI_PACKED_PUT || (x->what == RMAI_PACKED_UPDATE && x->op != RMA_OP_FETCH);
    const size_t align = x->what == RMAI_PACKED_UPDATE ? rmai_type_align(x->type) : 1;
    int code = RMA_SUCCESS;
    x->set = p->set;
    x->pe = p->pe;
    x->offset = p->offset;
    /* Only the owner knows whether attached memory is there: it is asked before the first element moves. */
    if (p->offset >= RMA_GPTR_ATTACHED_) code = rmai_net_look(x->call, p->set, p->pe, p->offset, span, align, writes);
    return code == RMA_SUCCESS ? rmai_net_packed(x) : code;
}

int rmai_place_pattern(struct rmai_packed *x, struct rmai_place *p) { return p->far ? do_there(x, p) : do_here(x, p); }

int rmai_place_strided_away_(const char *call, struct rmai_place *p, int put, const void *local, size_t remote_step,
                             size_t local_step, size_t elem, size_t n) {
    const struct rmai_pattern pattern = {
        .kind = RMAI_SECTION,
        .sides = 2,
        .bytes = n * elem,
        .elem = elem,
        .end = (ptrdiff_t)((n - 1) * remote_step + elem),
        .dims = 1,
        .count = {n},
        .stride = {[RMAI_REMOTE] = {(ptrdiff_t)remote_step}, [RMAI_LOCAL] = {(ptrdiff_t)local_step}}};
    struct rmai_packed x = {.call = call,
                            .pattern = &pattern,
                            .what = put ? RMAI_PACKED_PUT : RMAI_PACKED_GET,
                            .when = RMAI_NOW,
                            .local = (void *)(uintptr_t)local};
    return rmai_place_pattern(&x, p);
}
