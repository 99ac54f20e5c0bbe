/* SPDX-License-Identifier: BSD-3-Clause */
/* The public calls that make and destroy teams. All PEs of the parent meet twice for each new team: they compare their
 * arguments and settle on a number that is free on all PEs of the new team; then they tell whether all had memory. */
#include "config.h"

#include "base/error.h"
#include "runtime/context.h"
#include "runtime/node/mailbox.h"
#include "runtime/team.h"
#include "runtime/team_split.h"
#include "runtime/team_table.h"
#include "runtime/world.h"

#include <stdlib.h>
#include <string.h>

/* ---- agreeing ---- */

#define ARGUMENTS 4

/* What the PEs of the parent tell each other: their arguments, which must be alike; which PE has failed; and which
 * numbers are free on all PEs that will be in the new team. */
struct proposal {
    uint64_t free;
    int32_t low[ARGUMENTS], high[ARGUMENTS];
    int32_t code, pe; /* the first PE that has failed, and how; RMA_SUCCESS and INT32_MAX */
};

_Static_assert(sizeof(struct proposal) <= RMAI_TEAM_DATA, "a proposal travels with a round");

static void merge_proposals(void *mine, const void *other) {
    struct proposal *a = mine, b;
    memcpy(&b, other, sizeof b);
    a->free &= b.free;
    for (int i = 0; i < ARGUMENTS; i++) {
        if (b.low[i] < a->low[i]) a->low[i] = b.low[i];
        if (b.high[i] > a->high[i]) a->high[i] = b.high[i];
    }
    if (b.pe < a->pe) {
        a->pe = b.pe;
        a->code = b.code;
    }
}

/* All PEs of the parent exchange `code` and their arguments. To a PE that will not be in the new team (`joins` is 0)
 * any number will do. Returns the own failure, that of another PE, or RMA_SUCCESS. */
static int exchange_proposals(struct rmai_world *w, const char *call, struct rmai_team *parent, int code, int joins,
                              struct proposal *p) {
    int met;
    p->free = joins ? w->teams->free : ~(uint64_t)0;
    p->code = code;
    p->pe = code == RMA_SUCCESS ? INT32_MAX : w->job.my_pe;
    met = rmai_team_meet(w, call, parent, p, sizeof *p, merge_proposals);
    if (met != RMA_SUCCESS) return met;
    if (p->code == RMA_SUCCESS || code != RMA_SUCCESS) return code;
    return rmai_error(p->code, "%s: failed on PE %d", call, p->pe);
}

/* The least and the greatest that PEs have stated of one argument, and the first PE that stated each. */
struct difference {
    int32_t low, low_pe, high, high_pe;
};

static void merge_differences(void *mine, const void *other) {
    struct difference *a = mine, b;
    memcpy(&b, other, sizeof b);
    if (b.low < a->low || (b.low == a->low && b.low_pe < a->low_pe)) {
        a->low = b.low;
        a->low_pe = b.low_pe;
    }
    if (b.high > a->high || (b.high == a->high && b.high_pe < a->high_pe)) {
        a->high = b.high;
        a->high_pe = b.high_pe;
    }
}

/* The name of a call by the number that it states as its first argument: 1 to 3 (see `low` and `high` where they state
 * it). */
static const char *split_name(const char *call, int number) {
    static const char *const splits[][2] = {{"rma_team_split_strided", "shmem_team_split_strided"},
                                            {"rma_team_split_2d", "shmem_team_split_2d"},
                                            {"rma_team_split_color", "rma_team_split_color"}};
    return splits[number - 1][rmai_error_of_shmem(call)];
}

/* Compares what the PEs of the parent have stated; `own` is this PE's statement. All PEs have the same proposal in
 * their hands, so where arguments differ all of them come to another meeting, which tells on which PEs. */
static int compare_arguments(struct rmai_world *w, const char *call, struct rmai_team *parent,
                             const int32_t own[ARGUMENTS], const struct proposal *p,
                             const char *const names[ARGUMENTS]) {
    struct difference d;
    int code, i = 0;
    while (i < ARGUMENTS && p->low[i] == p->high[i]) i++;
    if (i == ARGUMENTS) return RMA_SUCCESS;
    d = (struct difference){own[i], w->job.my_pe, own[i], w->job.my_pe};
    code = rmai_team_meet(w, call, parent, &d, sizeof d, merge_differences);
    if (code != RMA_SUCCESS) return code;
    if (i == 0)
        return rmai_error(RMA_ERR_MISMATCH,
                          "%s: PE %d is in %s, PE %d in %s: every PE of a team must make the same collective calls",
                          call, d.low_pe, split_name(call, d.low), d.high_pe, split_name(call, d.high));
    return rmai_error(RMA_ERR_MISMATCH, "%s: %s is %d on PE %d, but %d on PE %d", call, names[i], d.low, d.low_pe,
                      d.high, d.high_pe);
}

/* All PEs of the parent state their arguments, find them alike, and get the same number for the new team. */
static int settle_number(struct rmai_world *w, const char *call, struct rmai_team *parent, int code, int joins,
                         struct proposal *p, const char *const names[ARGUMENTS], int *number) {
    int32_t own[ARGUMENTS];
    memcpy(own, p->low, sizeof own);
    code = exchange_proposals(w, call, parent, code, joins, p);
    if (code == RMA_SUCCESS) code = compare_arguments(w, call, parent, own, p, names);
    if (code != RMA_SUCCESS) return code;
    if (!p->free)
        return rmai_error(RMA_ERR_NO_MEM, "%s: none of the %d numbers of teams is free on all PEs of the new one", call,
                          RMAI_TEAMS);
    *number = __builtin_ctzll(p->free);
    return RMA_SUCCESS;
}

/* Makes `made` team number `number` on this PE. made->n is 0 on PEs that are not in the new team, which may have
 * another team of this number, and -1 where this PE had no memory for its list. All PEs of the parent meet. */
static int found_team(struct rmai_world *w, const char *call, struct rmai_team *parent, int number,
                      struct rmai_team *made, rma_team **team) {
    struct proposal p = {0};
    int code = made->n < 0 ? rmai_error(RMA_ERR_NO_MEM, "%s: no memory for the PEs of a team", call) : RMA_SUCCESS;
    if (made->n > 0) code = rmai_team_prepare(w, call, number, made);
    code = exchange_proposals(w, call, parent, code, 0, &p);
    if (code != RMA_SUCCESS) {
        free(made->list);
        rmai_mailbox_close(&made->near);
    }
    if (code != RMA_SUCCESS || !made->n) return code;
    *team = rmai_team_handle(w, rmai_team_add(w, number, made));
    return RMA_SUCCESS;
}

/* ---- splitting ---- */

/* This PE's number among the parent's PEs start, start + stride, ..., of which there are n, or -1. */
static int index_in_split(const struct rmai_team *parent, int start, int stride, int n) {
    int i = parent->me - start;
    return i % stride == 0 && i / stride >= 0 && i / stride < n ? i / stride : -1;
}

/* The team of these PEs, as this PE sees it: n is 0 if it is not among them, -1 without memory. */
static struct rmai_team derive_team(const struct rmai_team *parent, int start, int stride, int n) {
    struct rmai_team t = {.n = n, .me = index_in_split(parent, start, stride, n)};
    int i;
    if (t.me < 0) return (struct rmai_team){0};
    t.start = parent->start + start * parent->stride;
    t.stride = parent->stride * stride;
    if (!parent->list) return t;
    if (!(t.list = malloc((size_t)n * sizeof *t.list))) return (struct rmai_team){.n = -1};
    for (i = 0; i < n; i++) t.list[i] = parent->list[start + i * stride];
    return t;
}

static int check_strided(const char *call, const struct rmai_team *parent, int start, int stride, int size) {
    long long last = start + ((long long)size - 1) * stride;
    if (size < 1) return rmai_error(RMA_ERR_ARG, "%s: size %d is below 1", call, size);
    if (start < 0 || start >= parent->n)
        return rmai_error(RMA_ERR_PE, "%s: start %d is outside 0..%d of the parent", call, start, parent->n - 1);
    if (stride == 0 && size > 1) return rmai_error(RMA_ERR_ARG, "%s: stride is 0 with a size of %d", call, size);
    if (last < 0 || last >= parent->n)
        return rmai_error(RMA_ERR_PE, "%s: start %d, stride %d, size %d: PE %lld is outside 0..%d of the parent", call,
                          start, stride, size, last, parent->n - 1);
    return RMA_SUCCESS;
}

int rma_team_split_strided(rma_team *parent_team, int start, int stride, int size, rma_team **team) {
    static const char call[] = "rma_team_split_strided";
    static const char *const names[ARGUMENTS] = {"the call", "start", "stride", "size"};
    struct rmai_world *w = &rmai_world;
    struct rmai_team *parent = rmai_team(w, call, parent_team), made;
    struct proposal p = {.low = {1, start, stride, size}, .high = {1, start, stride, size}};
    rma_team *result = RMA_TEAM_INVALID;
    int code, number = 0, joins;
    if (!parent) return rmai_raise(rma_last_code());
    code = team ? check_strided(call, parent, start, stride, size)
                : rmai_error(RMA_ERR_ARG, "%s: team is a null pointer", call);
    if (size == 1) stride = 1; /* of one PE, whatever the caller has given */
    joins = code == RMA_SUCCESS && index_in_split(parent, start, stride, size) >= 0;
    code = settle_number(w, call, parent, code, joins, &p, names, &number);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    made = derive_team(parent, start, stride, size);
    code = found_team(w, call, parent, number, &made, &result);
    if (code == RMA_SUCCESS) *team = result;
    return rmai_raise(code);
}

int rma_team_split_2d(rma_team *parent_team, int xrange, rma_team **xteam, rma_team **yteam) {
    static const char call[] = "rma_team_split_2d";
    static const char *const names[ARGUMENTS] = {"the call", "xrange", "xrange", "xrange"};
    struct rmai_world *w = &rmai_world;
    struct rmai_team *parent = rmai_team(w, call, parent_team), made;
    struct proposal p = {.low = {2, xrange}, .high = {2, xrange}};
    rma_team *x = RMA_TEAM_INVALID, *y = RMA_TEAM_INVALID;
    int code = RMA_SUCCESS, number = 0, n, row, column;
    if (!parent) return rmai_raise(rma_last_code());
    if (!xteam || !yteam) code = rmai_error(RMA_ERR_ARG, "%s: %s is a null pointer", call, xteam ? "yteam" : "xteam");
    if (code == RMA_SUCCESS && xrange < 1) code = rmai_error(RMA_ERR_ARG, "%s: xrange %d is below 1", call, xrange);
    code = settle_number(w, call, parent, code, 1, &p, names, &number);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    n = parent->n;
    if (xrange > n) xrange = n;
    row = parent->me / xrange;
    column = parent->me % xrange;
    made = derive_team(parent, row * xrange, 1, xrange < n - row * xrange ? xrange : n - row * xrange);
    code = found_team(w, call, parent, number, &made, &x);
    p = (struct proposal){0};
    if (code == RMA_SUCCESS) code = settle_number(w, call, parent, code, 1, &p, names, &number);
    if (code == RMA_SUCCESS) {
        made = derive_team(parent, column, xrange, (n - column + xrange - 1) / xrange);
        code = found_team(w, call, parent, number, &made, &y);
    }
    if (code != RMA_SUCCESS) {
        if (x != RMA_TEAM_INVALID) rmai_team_remove(w, rmai_team(w, call, x));
        return rmai_raise(code);
    }
    *xteam = x;
    *yteam = y;
    return RMA_SUCCESS;
}

/* ---- for splits whose PEs the caller finds ---- */

int rmai_split_agree(struct rmai_world *w, const char *call, struct rmai_team *parent, int code, int joins,
                     int *number) {
    static const char *const names[ARGUMENTS] = {"the call", "", "", ""};
    struct proposal p = {.low = {3}, .high = {3}};
    return settle_number(w, call, parent, code, joins, &p, names, number);
}

int rmai_split_found(struct rmai_world *w, const char *call, struct rmai_team *parent, int code, int number,
                     struct rmai_team *made, rma_team **team) {
    struct proposal p = {0};
    if (code == RMA_SUCCESS) return found_team(w, call, parent, number, made, team);
    free(made->list);
    return exchange_proposals(w, call, parent, code, 0, &p);
}

/* ---- destroying ---- */

int rma_team_destroy(rma_team *team) {
    static const char call[] = "rma_team_destroy";
    struct rmai_world *w = &rmai_world;
    struct rmai_team *t;
    int code, met;
    if (team == RMA_TEAM_INVALID) return RMA_SUCCESS;
    t = rmai_team(w, call, team);
    if (!t) return rmai_raise(rma_last_code());
    if (rmai_team_number(w, t) <= RMAI_TEAM_SHARED)
        return rmai_raise(rmai_error(RMA_ERR_ARG, "%s: %s_TEAM_%s is always there", call,
                                     rmai_error_of_shmem(call) ? "SHMEM" : "RMA",
                                     rmai_team_number(w, t) == RMAI_TEAM_WORLD ? "WORLD" : "SHARED"));
    code = rmai_contexts_end(w, call, t);
    met = rmai_team_meet(w, call, t, NULL, 0, NULL);
    rmai_team_remove(w, t);
    return rmai_raise(code != RMA_SUCCESS ? code : met);
}
