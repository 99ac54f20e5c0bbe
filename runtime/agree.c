/* SPDX-License-Identifier: BSD-3-Clause */
/* Each PE writes its slot, the PEs of the node meet, and each PE reads all slots of the node; between nodes the node's
 * PE 0 does. A second meeting is not needed: the next agreement writes the other slot, and the one after it comes after
 * another barrier. Between nodes the leaders merge the verdicts of their nodes, and each leader puts the result where
 * its node's PEs read it. */
#include "config.h"

#include "runtime/agree.h"
#include "base/error.h"
#include "runtime/context.h"
#include "runtime/header.h"
#include "runtime/meet.h"
#include "runtime/net/group.h"
#include "runtime/node/barrier.h"
#include "runtime/world.h"

#include <stdio.h>

static void merge_verdicts(void *mine, const void *other) {
    struct rmai_verdict *v = mine;
    const struct rmai_verdict *more = other;
    struct rmai_range *r = &v->number;
    const struct rmai_range *s = &more->number;
    rmai_compare_merge(&v->stated, &more->stated);
    if (s->min < r->min || (s->min == r->min && s->min_pe < r->min_pe)) {
        r->min = s->min;
        r->min_pe = s->min_pe;
    }
    if (s->max > r->max || (s->max == r->max && s->max_pe < r->max_pe)) {
        r->max = s->max;
        r->max_pe = s->max_pe;
    }
}

static void compare_slots(struct rmai_world *w, uint32_t turn, uint32_t epoch, struct rmai_verdict *v) {
    for (int q = 0; q < w->job.node_n_pes; q++) {
        const struct rmai_agree_slot *s = &rmai_header(&w->job, q)->agree.slot[turn];
        const int pe = w->job.node_pes[q];
        const struct rmai_statement other = rmai_statement(RMAI_CALL_OTHER, RMA_SUCCESS, pe);
        struct rmai_verdict one = {rmai_compared(s->epoch == epoch ? &s->stated : &other),
                                   {.min = s->number, .max = s->number, .min_pe = pe, .max_pe = pe}};
        if (q == 0)
            *v = one;
        else
            merge_verdicts(v, &one);
    }
}

/* A PE that is in no call which states anything: which one it is, if it is on this node. */
static RMAI_COLD void name_other_call(const struct rmai_world *w, const char *call, const struct rmai_statement *low) {
    char name[RMAI_MEETING_NAME];
    for (int q = 0; q < w->job.node_n_pes && low->call == RMAI_CALL_OTHER; q++) {
        if (w->job.node_pes[q] != low->pe) continue;
        rmai_meeting_name(w, call, q, name);
        rmai_error_add("; PE %d is in %s", low->pe, name);
    }
}

_Static_assert(sizeof(struct rmai_verdict) <= RMAI_MERGE_MOST, "leaders can merge a verdict");

int rmai_agree_on(struct rmai_world *w, const char *call, const struct rmai_statement *mine, uint64_t number,
                  struct rmai_range *all) {
    const uint32_t epoch = rmai_barrier_number(w->barrier) + 1, turn = epoch & 1;
    struct rmai_agree_slot *slot = &rmai_header(&w->job, w->job.node_my_pe)->agree.slot[turn];
    struct rmai_verdict *told = &rmai_header(&w->job, 0)->agree.verdict[turn], v;
    const int begun = rmai_quiet_default(w, call);
    int met = RMA_SUCCESS;
    /* Plain stores are enough: the barrier publishes them. */
    slot->epoch = epoch;
    slot->stated = *mine;
    slot->number = number;
    /* An earlier operation of this PE that has failed is reported here, and so to all PEs: none continues without the
     * others. */
    if (begun != RMA_SUCCESS) slot->stated.code = (uint8_t)begun;
    if (w->job.n_nodes == 1) {
        rmai_barrier_node(w->barrier, call);
        compare_slots(w, turn, epoch, &v);
    } else {
        rmai_barrier_gather(w->barrier, call);
        if (w->job.node_my_pe == 0) {
            compare_slots(w, turn, epoch, told);
            met = rmai_group_merge(w->leaders, call, told, sizeof *told, merge_verdicts);
        }
        met = rmai_barrier_release(w->barrier, call, met);
        v = *told;
    }
    *all = v.number;
    if (met == RMA_SUCCESS)
        met = rmai_compare_verdict(&v.stated, call, begun != RMA_SUCCESS ? begun : mine->code, NULL);
    if (met == RMA_ERR_MISMATCH) name_other_call(w, call, &v.stated.low);
    return met;
}

static const char *block_text(uint64_t offset, char text[64]) {
    if (offset == UINT64_MAX) return "a null pointer";
    snprintf(text, 64, "at offset %llu of the symmetric heap", (unsigned long long)offset);
    return text;
}

int rmai_agree_on_block(struct rmai_world *w, const char *call, const struct rmai_statement *mine, const char *what,
                        const void *block) {
    const uint64_t offset = block ? (uint64_t)((const char *)block - w->symmetric.base) : UINT64_MAX;
    struct rmai_range all;
    char low[64], high[64];
    int code = rmai_agree_on(w, call, mine, offset, &all);
    if (code != RMA_SUCCESS || all.min == all.max) return code;
    return rmai_compare_error(call, what, block_text(all.min, low), all.min_pe, block_text(all.max, high), all.max_pe);
}
