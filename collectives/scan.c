/* SPDX-License-Identifier: BSD-3-Clause */
/* Scans: on each PE the sum, minimum or maximum over the PEs before it, with or without its own elements. With its own
 * elements a scan is inclusive, without them exclusive: then the first PE gets the operation's neutral element, 0 for a
 * sum.
 *
 * On a node scans work like reductions: short data pass through bounce buffers, and each PE sums the parts of the PEs
 * before it; for long data each PE scans its share of the elements, for all PEs. If the team is on several nodes, each
 * PE takes part in the scan between nodes. */
#include "config.h"

#include "base/attributes.h"
#include "base/choice.h"
#include "base/error.h"
#include "collectives/between.h"
#include "collectives/call.h"
#include "base/kernels.h"
#include "collectives/reduce.h"
#include "runtime/node/mailbox.h"
#include "runtime/team.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* The least and the greatest value of each type that has an order. */
#define EXTREMES(X)                                                                                                    \
    X(RMA_INT8, int8_t, INT8_MIN, INT8_MAX)                                                                            \
    X(RMA_INT16, int16_t, INT16_MIN, INT16_MAX)                                                                        \
    X(RMA_INT32, int32_t, INT32_MIN, INT32_MAX)                                                                        \
    X(RMA_INT64, int64_t, INT64_MIN, INT64_MAX)                                                                        \
    X(RMA_UINT8, uint8_t, 0, UINT8_MAX)                                                                                \
    X(RMA_UINT16, uint16_t, 0, UINT16_MAX)                                                                             \
    X(RMA_UINT32, uint32_t, 0, UINT32_MAX)                                                                             \
    X(RMA_UINT64, uint64_t, 0, UINT64_MAX)                                                                             \
    X(RMA_FLOAT, float, -HUGE_VALF, HUGE_VALF)                                                                         \
    X(RMA_DOUBLE, double, -HUGE_VAL, HUGE_VAL)                                                                         \
    X(RMA_LDOUBLE, long double, -HUGE_VALL, HUGE_VALL)
#define FILL(ID, TYPE, LEAST, GREATEST)                                                                                \
    case ID:                                                                                                           \
        for (size_t i = 0; i < n; i++) ((TYPE *)(void *)dest)[i] = r->op == RMA_OP_MIN ? GREATEST : LEAST;             \
        return;

/* Writes what the first PE of an exclusive scan receives: n neutral elements of the operation. */
static void fill_neutral(const struct rmai_reduction *r, char *dest, size_t n) {
    if (r->op == RMA_OP_SUM) {
        memset(dest, 0, n * r->size);
        return;
    }
    switch (r->type) {
        EXTREMES(FILL)
        default: assert(0 && "complex numbers have no order");
    }
}

static void scan_by_bounce(const struct rmai_reduction *r, enum rmai_scan kind) {
    struct rmai_mailboxes *near = r->c->near;
    const size_t most = RMAI_BOUNCE_BYTES / r->size;
    const int parts = near->me + (kind == RMAI_INCLUSIVE);
    for (size_t done = 0; done < r->n; done += most) {
        size_t now = rmai_min(r->n - done, most), len = now * r->size;
        char *dest = r->dest + done * r->size;
        rmai_mailbox_begin(near, 1, len);
        memcpy(rmai_place_of(near, near->me, len), r->source + done * r->size, len);
        rmai_mailbox_meet(near);
        if (parts == 0) fill_neutral(r, dest, now);
        if (parts == 1) memcpy(dest, rmai_place_of(near, 0, len), len);
        if (parts > 1) r->kernel->combine(dest, rmai_place_of(near, 0, len), rmai_place_of(near, 1, len), now);
        for (int i = 2; i < parts; i++) r->kernel->accumulate(dest, rmai_place_of(near, i, len), now);
        rmai_mailbox_through(near);
    }
}

/* Scans one chunk of all PEs, from the first PE to the last. A PE's source is read before its dest is written, since
 * the two may be the same. */
static void scan_chunk(const struct rmai_reduction *r, enum rmai_scan kind, size_t at, size_t n) {
    const struct rmai_mailboxes *near = r->c->near;
    const size_t len = n * r->size;
    _Alignas(64) char one[RMAI_CHUNK], two[RMAI_CHUNK];
    char *sum = one, *next = two, *swap;
    memcpy(sum, rmai_their_source(r, 0) + at, len);
    if (kind == RMAI_INCLUSIVE) {
        if (rmai_their_dest(r, 0) != rmai_their_source(r, 0)) memcpy(rmai_their_dest(r, 0) + at, sum, len);
    } else {
        fill_neutral(r, rmai_their_dest(r, 0) + at, n);
    }
    for (int i = 1; i < near->n; i++) {
        r->kernel->combine(next, sum, rmai_their_source(r, i) + at, n);
        memcpy(rmai_their_dest(r, i) + at, kind == RMAI_INCLUSIVE ? next : sum, len);
        swap = sum;
        sum = next;
        next = swap;
    }
}

/* Returns 0, without having scanned, if some PE's buffers cannot be reached. */
static int scan_by_shares(const struct rmai_reduction *r, enum rmai_scan kind) {
    struct rmai_mailboxes *near = r->c->near;
    const size_t most = RMAI_CHUNK / r->size;
    size_t from, to;
    if (!rmai_tell_buffers(r, RMAI_EVERY)) return 0;
    rmai_own_share(r, &from, &to);
    for (size_t done = from; done < to; done += most) scan_chunk(r, kind, done * r->size, rmai_min(to - done, most));
    rmai_mailbox_leave(near);
    return 1;
}

static void scan_on_node(const struct rmai_reduction *r, enum rmai_scan kind) {
    if (r->c->near->n == 1) {
        if (kind == RMAI_EXCLUSIVE)
            fill_neutral(r, r->dest, r->n);
        else if (r->dest != r->source)
            memcpy(r->dest, r->source, r->n * r->size);
        return;
    }
    if (rmai_call_takes(r->c, RMAI_SCAN_SHARE, r->n * r->size) && scan_by_shares(r, kind)) return;
    scan_by_bounce(r, kind);
}

static int scan_across_nodes(const struct rmai_reduction *r, enum rmai_scan kind) {
    const struct rmai_call *c = r->c;
    struct rmai_team_nodes *nodes = &c->t->nodes;
    int code;
    if (r->dest != r->source) memcpy(r->dest, r->source, r->n * r->size);
    code = rmai_between_scan(&nodes->all, c->name, r->kernel, kind, r->dest, r->n, r->size, nodes->room);
    if (kind == RMAI_EXCLUSIVE && c->t->me == 0) fill_neutral(r, r->dest, r->n);
    return code;
}

static int run_scan(const char *call, const rma_team *team, enum rmai_scan kind, enum rma_op op, enum rma_type type,
                    void *dest, const void *source, size_t n) {
    const enum rmai_collective which = kind == RMAI_INCLUSIVE ? RMAI_CALL_INSCAN : RMAI_CALL_EXSCAN;
    struct rmai_call c;
    struct rmai_reduction r;
    int code = rmai_reduction_begin(&r, &c, call, team, which, op, type, dest, source, n);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    if (n == 0) return rmai_call_nothing(&c, RMAI_AMONG_ALL, 0);
    if (!c.far) {
        scan_on_node(&r, kind);
        return RMA_SUCCESS;
    }
    code = rmai_call_reaches(&c);
    return rmai_raise(code == RMA_SUCCESS ? scan_across_nodes(&r, kind) : code);
}

#define SCAN(CALL, KIND, OP, NAME, TYPE, ID)                                                                           \
    int CALL##_##NAME(rma_team *team, TYPE *dest, const TYPE *source, size_t n) {                                      \
        return run_scan(#CALL "_" #NAME, team, KIND, OP, ID, dest, source, n);                                         \
    }
#define SUM_SCANS(NAME, TYPE, ID)                                                                                      \
    SCAN(rma_sum_inscan, RMAI_INCLUSIVE, RMA_OP_SUM, NAME, TYPE, ID)                                                   \
    SCAN(rma_sum_exscan, RMAI_EXCLUSIVE, RMA_OP_SUM, NAME, TYPE, ID)
#define SCANS(NAME, TYPE)                                                                                              \
    SUM_SCANS(NAME, TYPE, rmai_type_of(TYPE))                                                                          \
    SCAN(rma_min_inscan, RMAI_INCLUSIVE, RMA_OP_MIN, NAME, TYPE, rmai_type_of(TYPE))                                   \
    SCAN(rma_min_exscan, RMAI_EXCLUSIVE, RMA_OP_MIN, NAME, TYPE, rmai_type_of(TYPE))                                   \
    SCAN(rma_max_inscan, RMAI_INCLUSIVE, RMA_OP_MAX, NAME, TYPE, rmai_type_of(TYPE))                                   \
    SCAN(rma_max_exscan, RMAI_EXCLUSIVE, RMA_OP_MAX, NAME, TYPE, rmai_type_of(TYPE))

RMA_TYPES(SCANS)
RMA_TYPE_ALIASES(SCANS)
SUM_SCANS(complexf, rma_complexf_, RMA_COMPLEXF)
SUM_SCANS(complexd, rma_complexd_, RMA_COMPLEXD)
