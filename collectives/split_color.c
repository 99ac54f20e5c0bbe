/* SPDX-License-Identifier: BSD-3-Clause */
/* The split of a team by color and key: each PE states in which of the new teams it will be, and where. The PEs of the
 * parent collect the colors and keys of all; then each PE knows its team. After MPI_Comm_split, MPI-3.1 section 6.4.2.
 */
#include "config.h"

#include "base/error.h"
#include "runtime/compare.h"
#include "runtime/team.h"
#include "runtime/api/team_split.h"
#include "runtime/world.h"

#include <stdlib.h>

/* The choice of one PE; `index` is its number in the parent. */
struct wish {
    int color, key, index;
};

static int compare_wishes(const void *one, const void *other) {
    const struct wish *a = one, *b = other;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Moves the wishes of this colour to the front, in the order of the new team. Returns their number. */
static int choose_members(struct wish *all, int n, int color) {
    int members = 0;
    for (int i = 0; i < n; i++)
        if (all[i].color == color) all[members++] = all[i];
    qsort(all, (size_t)members, sizeof *all, compare_wishes);
    return members;
}

/* Makes the team of these PEs, which include this one; n is -1 without memory. Most teams are an arithmetic progression
 * and need no list. */
static struct rmai_team team_of(const struct rmai_team *parent, const struct wish *member, int n) {
    struct rmai_team t = {.n = n, .start = rmai_team_pe(parent, member[0].index), .stride = 1};
    int regular = 1;
    if (n > 1) t.stride = rmai_team_pe(parent, member[1].index) - t.start;
    for (int i = 0; i < n; i++) {
        if (member[i].index == parent->me) t.me = i;
        regular &= rmai_team_pe(parent, member[i].index) == t.start + i * t.stride;
    }
    if (regular) return t;
    t.list = malloc((size_t)n * sizeof *t.list);
    if (!t.list) return (struct rmai_team){.n = -1};
    for (int i = 0; i < n; i++) t.list[i] = rmai_team_pe(parent, member[i].index);
    return t;
}

static int check_wish(const char *call, int color, rma_team *const *team) {
    if (!team) return rmai_error(RMA_ERR_ARG, "%s: team is a null pointer", call);
    if (color >= 0 || color == RMA_COLOR_NONE) return RMA_SUCCESS;
    return rmai_error(RMA_ERR_ARG, "%s: color %d is below 0, and not RMA_COLOR_NONE", call, color);
}

/* Errors of the collect name this call. *told: the collect has already called the error handler. */
static int collect_wishes(rma_team *parent, struct wish *all, int *told) {
    int code;
    rmai_error_as("rma_team_split_color");
    code = rma_fcollect(parent, all, &all[rma_team_my_pe(parent)], sizeof *all);
    rmai_error_as(NULL);
    *told = code != RMA_SUCCESS;
    return code;
}

int rma_team_split_color(rma_team *parent_team, int color, int key, rma_team **team) {
    static const char call[] = "rma_team_split_color";
    struct rmai_world *w = &rmai_world;
    struct rmai_team *parent = rmai_team(w, call, parent_team), made = {0};
    struct rmai_statement mine;
    rma_team *result = RMA_TEAM_INVALID;
    struct wish *all;
    int code, number = 0, told = 0;
    if (!parent) return rmai_raise(rma_last_code());
    code = check_wish(call, color, team);
    all = malloc((size_t)parent->n * sizeof *all);
    if (code == RMA_SUCCESS && !all)
        code = rmai_error(RMA_ERR_NO_MEM, "%s: no memory for the colors of %d PEs", call, parent->n);
    mine = rmai_statement(RMAI_CALL_SPLIT_COLOR, code, w->job.my_pe);
    code = rmai_split_settle(w, call, parent, &mine, color != RMA_COLOR_NONE, &number);
    if (code == RMA_SUCCESS) {
        all[parent->me] = (struct wish){color, key, parent->me};
        code = collect_wishes(parent_team, all, &told);
        if (code == RMA_SUCCESS && color != RMA_COLOR_NONE)
            made = team_of(parent, all, choose_members(all, parent->n, color));
        mine.code = (uint8_t)code;
        code = rmai_split_found(w, call, parent, number, &mine, &made, &result);
    }
    free(all);
    if (code == RMA_SUCCESS) *team = result;
    return told ? code : rmai_raise(code);
}
