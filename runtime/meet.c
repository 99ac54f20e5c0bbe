/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/meet.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/process.h"
#include "runtime/context.h"
#include "runtime/header.h"
#include "runtime/net/group.h"
#include "runtime/node/barrier.h"
#include "runtime/world.h"

#include <stdio.h>
#include <string.h>

/* For other PEs' errors. */
static inline void note_meeting(struct rmai_world *w, const char *call) {
    atomic_store_explicit(&w->barrier->mine->call, call, memory_order_relaxed);
}

#define PAGE 4096 /* of the system, at least */

/* The name is a constant in the other process: on the last page of its library it may be shorter than what is read. It
 * is that of rma.h; those of OpenSHMEM differ in the first word only. */
void rmai_meeting_name(const struct rmai_world *w, const char *call, int q, char name[RMAI_MEETING_NAME]) {
    const uint64_t at = (uintptr_t)atomic_load_explicit(&rmai_header(&w->job, q)->barrier.call, memory_order_relaxed);
    const size_t len = rmai_min(RMAI_MEETING_NAME - 8, PAGE - at % PAGE);
    char read[RMAI_MEETING_NAME] = "";
    if (!at || rmai_process_read(rmai_facts(&w->job, q)->pid, read, at, len) != RMAI_PROCESS_DONE || !read[0])
        snprintf(name, RMAI_MEETING_NAME, "another call of all PEs, such as a barrier");
    else if (strncmp(rmai_error_name(call), "shmem", 5) == 0 && strncmp(read, "rma_", 4) == 0)
        snprintf(name, RMAI_MEETING_NAME, "shmem_%.50s", read + 4);
    else
        snprintf(name, RMAI_MEETING_NAME, "%s", read);
}

static __attribute__((noinline)) int meet_nodes(struct rmai_world *w, const char *call) {
    int code = RMA_SUCCESS;
    rmai_barrier_gather(w->barrier, call);
    if (w->job.node_my_pe == 0) code = rmai_group_meet(w->leaders, call);
    return rmai_barrier_release(w->barrier, call, code);
}

/* Apart, so that a job of one node saves no registers for the second call. */
static __attribute__((noinline)) void meet_in_halves(struct rmai_world *w, const char *call) {
    rmai_barrier_gather(w->barrier, call);
    rmai_barrier_release(w->barrier, call, RMA_SUCCESS);
}

void rmai_meet_node(struct rmai_world *w, const char *call) {
    note_meeting(w, call);
    if (RMAI_UNLIKELY(w->job.n_nodes > 1)) {
        meet_in_halves(w, call);
    } else {
        rmai_barrier_node(w->barrier, call);
    }
}

int rmai_meet_only(struct rmai_world *w, const char *call) {
    note_meeting(w, call);
    if (RMAI_UNLIKELY(w->job.n_nodes > 1)) return meet_nodes(w, call);
    rmai_barrier_node(w->barrier, call);
    return RMA_SUCCESS;
}

/* Checks whether the meeting of this node was the last one for every PE of it, or another meeting for some PE. PEs
 * publish the number of the barrier, since a PE may already be on its way from this barrier to its last one. */
static void check_meeting(struct rmai_world *w, const char *call) {
    char name[RMAI_MEETING_NAME];
    for (int q = 0; q < w->job.node_n_pes; q++) {
        if (atomic_load_explicit(&rmai_header(&w->job, q)->ending, memory_order_relaxed) ==
            rmai_barrier_number(w->barrier))
            continue;
        rmai_meeting_name(w, call, q, name);
        rmai_error(RMA_ERR_STATE, "%s: PE %d is in %s; each PE calls %s", call, w->job.node_pes[q], name, call);
        rma_errors_abort(RMA_ERR_STATE, rma_last_error());
    }
}

static void merge_nothing(void *mine, const void *other) { (void)mine, (void)other; }

/* Between nodes a byte marks the last meeting: the messages of all other meetings are empty. All have looked before
 * anybody comes to another such meeting: there is one for each interface that ends. */
int rmai_meet_last(struct rmai_world *w, const char *call) {
    int code = rmai_quiet_default(w, call), met = RMA_SUCCESS;
    char last = 1;
    /* The barrier orders this store before the loads of the PEs that have met this one. */
    atomic_store_explicit(&rmai_header(&w->job, w->job.node_my_pe)->ending, rmai_barrier_number(w->barrier) + 1,
                          memory_order_relaxed);
    if (w->job.n_nodes == 1) {
        rmai_barrier_node(w->barrier, call);
        check_meeting(w, rmai_error_name(call));
        rmai_barrier_node(w->barrier, call);
        return code;
    }
    rmai_barrier_gather(w->barrier, call);
    if (w->job.node_my_pe == 0) {
        check_meeting(w, rmai_error_name(call));
        met = rmai_group_merge(w->leaders, call, &last, 1, merge_nothing);
        if (met == RMA_ERR_MISMATCH) rma_errors_abort(met, rma_last_error());
    }
    met = rmai_barrier_release(w->barrier, call, met);
    return code != RMA_SUCCESS ? code : met;
}

int rmai_meet(struct rmai_world *w, const char *call) {
    int code = rmai_quiet_default(w, call), met = rmai_meet_only(w, call);
    return code != RMA_SUCCESS ? code : met;
}
