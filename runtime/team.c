/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/team.h"
#include "base/attributes.h"
#include "base/error.h"
#include "heap/segment.h"
#include "runtime/header.h"
#include "runtime/job/job.h"
#include "runtime/net/group.h"
#include "runtime/node/barrier.h"
#include "runtime/reach.h"
#include "runtime/world.h"

#include <string.h>

#define ROUNDS_MOST 24 /* a job has 2^24 PEs at most */
#define WORDS_AT    rmai_round_up(sizeof(struct rmai_header), 128)

_Static_assert(sizeof(struct rmai_header) + 128 + RMAI_TEAMS * ROUNDS_MOST * sizeof(struct rmai_team_round) <=
                   RMAI_MAILBOXES_AT,
               "the words of all teams fit behind the header");
_Static_assert(RMAI_TEAM_DATA % 8 == 0 && sizeof(struct rmai_team_round) == 128, "a round's words fill their lines");

/* ---- the words ---- */

unsigned rmai_team_rounds(int n) {
    unsigned rounds = 0;
    while (((size_t)1 << rounds) < (size_t)n) rounds++;
    return rounds;
}

size_t rmai_team_words_at(const struct rmai_world *w, int number) {
    const unsigned rounds = w->teams->rounds;
    return WORDS_AT + (size_t)number * (rounds ? rounds : 1) * sizeof(struct rmai_team_round);
}

int rmai_team_number(const struct rmai_world *w, const struct rmai_team *t) { return (int)(t - w->teams->team); }

/* The words of round k of PE q of this node. */
static struct rmai_team_round *round_of(const struct rmai_world *w, int q, const struct rmai_team *t, unsigned k) {
    const size_t at = rmai_team_words_at(w, rmai_team_number(w, t)) + k * sizeof(struct rmai_team_round);
    return (struct rmai_team_round *)(void *)(rmai_job_space(&w->job, q) + at);
}

void rmai_team_clear_words(const struct rmai_world *w, const struct rmai_team *t) {
    for (unsigned k = 0; k < w->teams->rounds; k++)
        atomic_store_explicit(&round_of(w, w->job.node_my_pe, t, k)->event.value, 0, memory_order_relaxed);
}

/* ---- which PEs ---- */

int rmai_team_index(const struct rmai_team *t, int pe) {
    int i;
    if (t->list) {
        for (i = 0; i < t->n; i++)
            if (t->list[i] == pe) return i;
        return -1;
    }
    if ((pe - t->start) % t->stride != 0) return -1;
    i = (pe - t->start) / t->stride;
    return i >= 0 && i < t->n ? i : -1;
}

/* A handle is not an address but a number: the generation, and 1 + the team's number. So the handle of a destroyed team
 * differs from that of the team that has its number now. */
rma_team *rmai_team_handle(const struct rmai_world *w, const struct rmai_team *t) {
    return (rma_team *)((uintptr_t)t->generation << 16 | (uintptr_t)(rmai_team_number(w, t) + 1));
}

struct rmai_team *rmai_team(struct rmai_world *w, const char *call, const rma_team *handle) {
    uintptr_t word = (uintptr_t)handle, number = (word & 0xffff) - 1;
    struct rmai_team *t = &w->teams->team[number < RMAI_TEAMS ? number : 0];
    if (rmai_running(call) != RMA_SUCCESS) return NULL;
    if (number < RMAI_TEAMS && t->live && t->generation == word >> 16) return t;
    if (handle == RMA_TEAM_INVALID)
        rmai_error(RMA_ERR_ARG, "%s: team is %s", call,
                   rmai_error_of_shmem(call) ? "SHMEM_TEAM_INVALID" : "RMA_TEAM_INVALID");
    else
        rmai_error(RMA_ERR_ARG, "%s: team %p is none, or has been destroyed", call, (const void *)handle);
    return NULL;
}

/* ---- meeting ---- */

struct rmai_group rmai_team_group(const struct rmai_world *w, struct rmai_team *t, int tag) {
    return (struct rmai_group){.net = w->net,
                               .tag = tag + rmai_team_number(w, t),
                               .n = t->n,
                               .me = t->me,
                               .list = t->list,
                               .start = t->start,
                               .stride = t->stride,
                               .team = t};
}

/* Signals PE q of this node, the partner in round k, and passes on this PE's data, and its error. */
static void tell_near_partner(struct rmai_world *w, const struct rmai_team *t, int q, unsigned k, const void *data,
                              size_t len, int code) {
    struct rmai_team_round *there = round_of(w, q, t, k);
    if (len) memcpy(there->data[t->epoch & 1], data, len);
    there->code[t->epoch & 1] = code;
    /* Release: the partner that reads the epoch also sees the data. Pairs with the load in await_near_partner. */
    atomic_store_explicit(&there->event.value, t->epoch, memory_order_release);
    /* More PEs than processors go to sleep at once. Without the fence this PE could read that the partner is awake
     * before the partner can read the epoch, and nobody would wake it. */
    if (w->barrier->crowded) atomic_thread_fence(memory_order_seq_cst);
    rmai_wake(&there->event);
}

/* Waits for the partner of round k, PE `from` of the job, which is on this node, and returns where its data are. */
static const struct rmai_team_round *await_near_partner(struct rmai_world *w, const char *call,
                                                        const struct rmai_team *t, int from, unsigned k) {
    struct rmai_team_round *mine = round_of(w, w->job.node_my_pe, t, k);
    struct rmai_stall stall = {.call = call, .pe = from, .meeting = t, .by_call = 1};
    uint32_t seen = atomic_load_explicit(&mine->event.value, memory_order_acquire);
    while (!rmai_reached(seen, t->epoch)) seen = rmai_wait_watched(&mine->event, seen, &w->barrier->patience, &stall);
    rmai_wait_over(&w->barrier->patience, &stall);
    return mine;
}

/* Does one round: *other points to the data of PE t->me - step, which are in `theirs` if that PE is on another node.
 * After an error (`code`) this PE waits for nobody, but its partners on this node still hear of the error. Returns the
 * code. */
static int meet_partners(struct rmai_world *w, const char *call, const struct rmai_team *t, struct rmai_group *g,
                         unsigned k, int code, const void *data, size_t len, void *theirs, const void **other) {
    const int step = (int)(((size_t)1 << k) % (size_t)t->n);
    const int to = step < t->n - t->me ? t->me + step : t->me + step - t->n,
              from = t->me < step ? t->me - step + t->n : t->me - step;
    const int near_to = rmai_node_slot(&w->job, rmai_team_pe(t, to)),
              near_from = rmai_node_slot(&w->job, rmai_team_pe(t, from));
    *other = theirs;
    if (near_to >= 0) tell_near_partner(w, t, near_to, k, data, len, code);
    if (RMAI_LIKELY(code == RMA_SUCCESS) && (near_to < 0 || near_from < 0))
        code = rmai_group_exchange(g, call, near_to < 0 ? to : -1, data, len, near_from < 0 ? from : -1, theirs, len);
    if (near_from >= 0 && RMAI_LIKELY(code == RMA_SUCCESS)) {
        const struct rmai_team_round *heard = await_near_partner(w, call, t, rmai_team_pe(t, from), k);
        const int failed = heard->code[t->epoch & 1];
        *other = heard->data[t->epoch & 1];
        if (RMAI_UNLIKELY(failed != RMA_SUCCESS)) code = rmai_neighbour_failed(call, failed, rmai_team_pe(t, from));
    }
    return code;
}

int rmai_team_meet(struct rmai_world *w, const char *call, struct rmai_team *t, void *data, size_t len,
                   rmai_team_merge *merge) {
    _Alignas(16) unsigned char theirs[RMAI_TEAM_DATA];
    struct rmai_group g = rmai_team_group(w, t, RMAI_TEAMS_MEETINGS_TAG);
    int code = RMA_SUCCESS;
    g.broken = t->meetings_broken;
    t->epoch++;
    for (unsigned k = 0; ((size_t)1 << k) < (size_t)t->n; k++) {
        const void *other;
        code = meet_partners(w, call, t, &g, k, code, data, len, theirs, &other);
        if (code == RMA_SUCCESS && len) merge(data, other);
    }
    t->meetings_broken = g.broken;
    return code;
}
