/* SPDX-License-Identifier: BSD-3-Clause */
/* The public calls that make and destroy teams. All PEs of the parent meet twice for each new team: they compare their
 * arguments and settle on a number that is free on all PEs of the new team; then they agree on whether all had memory.
 */
#include "config.h"

#include "base/error.h"
#include "runtime/compare.h"
#include "runtime/context.h"
#include "runtime/node/mailbox.h"
#include "runtime/team.h"
#include "runtime/api/team_split.h"
#include "runtime/team_table.h"
#include "runtime/world.h"

#include <stdlib.h>

/* ---- agreeing ---- */

int rmai_split_settle(struct rmai_world *w, const char *call, struct rmai_team *parent,
                      const struct rmai_statement *mine, int joins, int *number) {
    uint64_t free = joins ? w->teams->free : ~(uint64_t)0;
    const int code = rmai_compare_in_team(w, call, parent, mine, NULL, &free);
    if (code != RMA_SUCCESS) return code;
    if (!free)
        return rmai_error(RMA_ERR_NO_MEM, "%s: none of the %d numbers of teams is free on all PEs of the new one", call,
                          RMAI_TEAMS);
    *number = __builtin_ctzll(free);
    return RMA_SUCCESS;
}

int rmai_split_found(struct rmai_world *w, const char *call, struct rmai_team *parent, int number,
                     const struct rmai_statement *stated, struct rmai_team *made, rma_team **team) {
    struct rmai_statement mine = *stated;
    int code = stated->code;
    if (made->n < 0) code = rmai_error(RMA_ERR_NO_MEM, "%s: no memory for the PEs of a team", call);
    if (made->n > 0) code = rmai_team_prepare(w, call, number, made);
    mine.code = (uint8_t)code;
    code = rmai_compare_in_team(w, call, parent, &mine, NULL, NULL);
    if (code != RMA_SUCCESS) {
        free(made->list);
        rmai_mailbox_close(&made->near);
    }
    if (code != RMA_SUCCESS || !made->n) return code;
    *team = rmai_team_handle(w, rmai_team_add(w, number, made));
    return RMA_SUCCESS;
}

/* ---- splitting ---- */

/* This PE's number among the parent's n PEs start, start + stride, ..., or -1. */
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
    struct rmai_world *w = &rmai_world;
    struct rmai_team *parent = rmai_team(w, call, parent_team), made;
    struct rmai_statement mine;
    rma_team *result = RMA_TEAM_INVALID;
    int code, number = 0, joins;
    if (!parent) return rmai_raise(rma_last_code());
    code = team ? check_strided(call, parent, start, stride, size)
                : rmai_error(RMA_ERR_ARG, "%s: team is a null pointer", call);
    mine = (struct rmai_statement){.call = RMAI_CALL_SPLIT_STRIDED,
                                   .code = (uint8_t)code,
                                   .pe = w->job.my_pe,
                                   .number = {start, stride},
                                   .length = (uint64_t)size};
    if (size == 1) stride = 1; /* for one PE, whatever the caller has given */
    joins = code == RMA_SUCCESS && index_in_split(parent, start, stride, size) >= 0;
    code = rmai_split_settle(w, call, parent, &mine, joins, &number);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    made = derive_team(parent, start, stride, size);
    code = rmai_split_found(w, call, parent, number, &mine, &made, &result);
    if (code == RMA_SUCCESS) *team = result;
    return rmai_raise(code);
}

int rma_team_split_2d(rma_team *parent_team, int xrange, rma_team **xteam, rma_team **yteam) {
    static const char call[] = "rma_team_split_2d";
    struct rmai_world *w = &rmai_world;
    struct rmai_team *parent = rmai_team(w, call, parent_team), made;
    struct rmai_statement mine;
    rma_team *x = RMA_TEAM_INVALID, *y = RMA_TEAM_INVALID;
    int code = RMA_SUCCESS, number = 0, n, row, column;
    if (!parent) return rmai_raise(rma_last_code());
    if (!xteam || !yteam) code = rmai_error(RMA_ERR_ARG, "%s: %s is a null pointer", call, xteam ? "yteam" : "xteam");
    if (code == RMA_SUCCESS && xrange < 1) code = rmai_error(RMA_ERR_ARG, "%s: xrange %d is below 1", call, xrange);
    mine = rmai_statement(RMAI_CALL_SPLIT_2D, code, w->job.my_pe);
    mine.number[0] = xrange;
    code = rmai_split_settle(w, call, parent, &mine, 1, &number);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    n = parent->n;
    if (xrange > n) xrange = n;
    row = parent->me / xrange;
    column = parent->me % xrange;
    made = derive_team(parent, row * xrange, 1, xrange < n - row * xrange ? xrange : n - row * xrange);
    code = rmai_split_found(w, call, parent, number, &mine, &made, &x);
    if (code == RMA_SUCCESS) code = rmai_split_settle(w, call, parent, &mine, 1, &number);
    if (code == RMA_SUCCESS) {
        made = derive_team(parent, column, xrange, (n - column + xrange - 1) / xrange);
        code = rmai_split_found(w, call, parent, number, &mine, &made, &y);
    }
    if (code != RMA_SUCCESS) {
        if (x != RMA_TEAM_INVALID) rmai_team_remove(w, rmai_team(w, call, x));
        return rmai_raise(code);
    }
    *xteam = x;
    *yteam = y;
    return RMA_SUCCESS;
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
