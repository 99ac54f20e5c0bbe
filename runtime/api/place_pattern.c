/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/api/place_pattern.h"
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

#define CHUNK  ((size_t)4096) /* bytes of operands that are scaled at once */
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
static void update_block(const struct rmai_packed *x, const struct rmai_place *p, size_t at, const char *source,
                         char *before, size_t len) {
    const struct rmai_stripes *stripes = &rmai_world.job.stripes;
    const size_t size = rmai_type_size(x->type);
    const uint64_t position = rmai_position(&rmai_world.job, p->slot, p->offset + at);
    char *const there = (char *)p->there + at;
    _Alignas(16) char operand[CHUNK];
    if (!x->scale) {
        rmai_update(stripes, position, x->op, x->type, there, source, before, len / size);
        return;
    }
    for (size_t done = 0, now; done < len; done += now) {
        now = rmai_min(len - done, CHUNK / size * size);
        rmai_scale(x->type, operand, x->scale, source + done, now / size);
        rmai_update(stripes, position + done, x->op, x->type, there + done, operand, before ? before + done : NULL,
                    now / size);
    }
}

static void update_here(const struct rmai_packed *x, const struct rmai_place *p) {
    struct rmai_walk walk = {.s = x->pattern};
    struct rmai_run run;
    while (rmai_pattern_next(&walk, &run)) {
        const char *source = x->local ? (const char *)x->local + run.at[RMAI_LOCAL] : NULL;
        char *before = x->before ? (char *)x->before + run.at[RMAI_BEFORE] : NULL;
        size_t at = (size_t)(run.at[RMAI_REMOTE] - x->pattern->least);
        for (size_t i = 0; i < run.n; i++) {
            update_block(x, p, at, source, before, run.len);
            at += (size_t)run.step[RMAI_REMOTE];
            if (source) source += run.step[RMAI_LOCAL];
            if (before) before += run.step[RMAI_BEFORE];
        }
    }
}

/* ---- updates by the owner's service thread ---- */

#define RUNS_MOST (RMAI_SERVICE_BYTES / sizeof(struct rmai_service_run))

/* A request that is being made, of as many blocks as have room in it. */
struct order {
    const struct rmai_packed *x;
    const struct rmai_place *p;
    unsigned n; /* runs, */
    size_t len; /* with so many bytes of data */
    struct rmai_run run[RUNS_MOST];
    _Alignas(16) char data[RMAI_SERVICE_BYTES];
};

/* Bytes of whole elements that have room in the request, beside one more run. */
static size_t order_room(const struct order *o) {
    const size_t size = rmai_type_size(o->x->type), taken = o->len + (o->n + 1) * sizeof(struct rmai_service_run);
    return taken < RMAI_SERVICE_BYTES ? (RMAI_SERVICE_BYTES - taken) / size * size : 0;
}

/* Adds n blocks of the run; they have room. */
static void order_blocks(struct order *o, const struct rmai_run *run, size_t n) {
    const struct rmai_packed *x = o->x;
    const char *source;
    char *data = o->data + o->len;
    o->run[o->n] = *run;
    o->run[o->n].n = n;
    *rmai_service_run_at(o->data, o->n++) = (struct rmai_service_run){
        .at = run->at[RMAI_REMOTE] - x->pattern->least, .step = run->step[RMAI_REMOTE], .len = run->len, .n = n};
    o->len += n * run->len;
    if (!x->local) {
        memset(data, 0, n * run->len); /* the request carries it, and the owner writes what it has read there */
        return;
    }
    source = (const char *)x->local + run->at[RMAI_LOCAL];
    if (!x->scale) rmai_move_strided(data, source, (ptrdiff_t)run->len, run->step[RMAI_LOCAL], run->len, n);
    for (size_t i = 0; x->scale && i < n; i++, data += run->len, source += run->step[RMAI_LOCAL])
        rmai_scale(x->type, data, x->scale, source, run->len / rmai_type_size(x->type));
}

/* Has the owner update what has been added, and begins anew. */
static int send_order(struct order *o) {
    struct rmai_world *w = &rmai_world;
    const struct rmai_packed *x = o->x;
    const struct rmai_place *p = o->p;
    struct rmai_request r = {.op = RMAI_SERVICE_UPDATE,
                             .atomic = (int)x->op,
                             .type = (int)x->type,
                             .runs = o->n,
                             .address = p->address,
                             .len = o->len,
                             .position = rmai_position(&w->job, p->slot, p->offset)};
    const char *data = o->data;
    int code = rmai_service_ask(w->service, x->call, p->slot, &r, o->data);
    if (code == RMA_SUCCESS && r.fault) code = rmai_not_mapped(x->call, r.address, r.len, p->pe);
    for (unsigned i = 0; x->before && code == RMA_SUCCESS && i < o->n; i++) {
        const struct rmai_run *run = &o->run[i];
        rmai_move_strided((char *)x->before + run->at[RMAI_BEFORE], data, run->step[RMAI_BEFORE], (ptrdiff_t)run->len,
                          run->len, run->n);
        data += run->n * run->len;
    }
    o->n = 0;
    o->len = 0;
    return code;
}

static void advance_run(const struct order *o, struct rmai_run *run, size_t blocks, ptrdiff_t bytes) {
    for (int side = 0; side < o->x->pattern->sides; side++)
        run->at[side] += (ptrdiff_t)blocks * run->step[side] + bytes;
}

/* A block that is longer than the data of a request. */
static int order_long_block(struct order *o, struct rmai_run run, size_t len) {
    int code = RMA_SUCCESS;
    while (len > 0 && code == RMA_SUCCESS) {
        run.len = rmai_min(order_room(o), len);
        order_blocks(o, &run, 1);
        advance_run(o, &run, 0, (ptrdiff_t)run.len);
        len -= run.len;
        code = send_order(o);
    }
    return code;
}

static int order_run(struct order *o, struct rmai_run run) {
    int code = RMA_SUCCESS;
    while (run.n > 0 && code == RMA_SUCCESS) {
        const size_t fit = rmai_min(order_room(o) / run.len, run.n), done = fit ? fit : o->n == 0;
        if (fit > 0)
            order_blocks(o, &run, fit);
        else
            code = o->n > 0 ? send_order(o) : order_long_block(o, run, run.len);
        run.n -= done;
        advance_run(o, &run, done, 0);
    }
    return code;
}

static int update_by_owner(const struct rmai_packed *x, const struct rmai_place *p) {
    struct rmai_walk walk = {.s = x->pattern};
    struct order o;
    struct rmai_run run;
    int code = RMA_SUCCESS;
    o.x = x;
    o.p = p;
    o.n = 0;
    o.len = 0;
    while (code == RMA_SUCCESS && rmai_pattern_next(&walk, &run)) code = order_run(&o, run);
    return code == RMA_SUCCESS && o.n > 0 ? send_order(&o) : code;
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
    if (!p->there) return x->what == RMAI_PACKED_UPDATE ? update_by_owner(x, p) : move_private(x, p);
    if (x->what == RMAI_PACKED_UPDATE)
        update_here(x, p);
    else
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
