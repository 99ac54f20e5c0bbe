/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/life/globals.h"
#include "base/error.h"
#include "base/mpi.h"
#include "base/settings.h"
#include "heap/statics.h"
#include "runtime/life/consensus.h"
#include "runtime/node/service.h"
#include "runtime/world.h"

#define MUCH ((size_t)16 << 20) /* bytes of variables that are committed whether they are used or not */

static char *room_of(const struct rmai_world *w) {
    return rmai_job_space(&w->job, w->job.node_my_pe) + w->job.layout.statics;
}

static int commit_range(void *context, size_t offset, size_t len) {
    struct rmai_world *w = context;
    return rmai_commit(&w->reservation, room_of(w) + offset, len);
}

/* Gets memory for the global variables. On a node with one PE they are not moved there, since no other PE reaches them
 * by load and store. Of large arrays only the pages that have been written get it; the others get theirs when they are
 * written, as without librma. Where all together have no room, the error of a commit says so here. */
int rmai_globals_room(struct rmai_world *w) {
    const size_t size = w->statics->size;
    if (w->job.statics_mode != RMAI_STATICS_REMAP || w->job.node_n_pes == 1) return RMA_SUCCESS;
    return size > MUCH && rmai_commit_possible(&w->reservation, size)
               ? rmai_statics_written(w->statics, commit_range, w)
               : commit_range(w, 0, size);
}

/* Some systems (a tool such as valgrind, a sandbox) refuse to map shared memory over the global variables. There other
 * PEs read and write the variables where they are. All PEs of the job do the same, since rma_ptr shows the program the
 * difference. */
int rmai_globals_open(struct rmai_world *w) {
    int moved = 1, code = RMA_SUCCESS;
    if (w->job.statics_mode == RMAI_STATICS_REMAP && w->job.node_n_pes > 1)
        moved = rmai_statics_move(w->statics, room_of(w)) == 0;
    code = rmai_consensus_moved(w, RMA_SUCCESS, &moved);
    if (code != RMA_SUCCESS) return code;
    if (!moved) {
        w->job.statics_mode = w->job.statics_later = RMAI_STATICS_WINDOW;
        if (rmai_statics_return(w->statics) != 0)
            code = rmai_error(RMA_ERR_SYSTEM, "rma_init: cannot move global variables back");
    }
    if (code == RMA_SUCCESS && w->job.statics_mode == RMAI_STATICS_WINDOW && w->job.node_n_pes > 1 &&
        (code = rmai_service_start(w->service)) != RMA_SUCCESS)
        rmai_error_prefix("rma_init: ");
    return code;
}

/* The agreement is also a meeting: no PE writes to variables that another PE is still moving back. */
int rmai_globals_agree(struct rmai_world *w, int code) {
    return w->job.statics_mode == RMAI_STATICS_WINDOW ? rmai_consensus(w, code) : code;
}

/* Shared memory over which a PE still has its variables cannot be unmapped there, and so nowhere on the node. */
int rmai_globals_close(struct rmai_world *w) {
    int stuck = rmai_statics_return(w->statics) != 0;
    w->statics_stuck = stuck;
    if (w->job.statics_mode != RMAI_STATICS_OFF && w->job.node_n_pes > 1)
        rmai_mpi_merge(w->node, &w->statics_stuck, 1, MPI_INT, MPI_MAX, "rma_finalize");
    if (stuck) return rmai_error(RMA_ERR_SYSTEM, "rma_finalize: cannot move global variables back");
    if (w->statics_stuck)
        return rmai_error(RMA_ERR_SYSTEM, "rma_finalize: a PE of this node cannot move its global variables back");
    return RMA_SUCCESS;
}
