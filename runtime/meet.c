/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/meet.h"
#include "runtime/world.h"

int rmai_meet_only(struct rmai_world *w, const char *call) {
    struct rmai_token token;
    int code = RMA_SUCCESS;
    rmai_barrier_node(&w->barrier, call);
    if (w->job.n_nodes == 1) return code;
    if (w->job.node_my_pe == 0) {
        code = rmai_transport_mpi_barrier(&w->mpi, call, &token);
        if (code == RMA_SUCCESS) code = rmai_net_finish(&w->net, call, "MPI_Ibarrier", &token, NULL);
    }
    rmai_barrier_node(&w->barrier, call);
    return code;
}

int rmai_meet(struct rmai_world *w, const char *call) {
    int code = rmai_quiet_default(w, call), met = rmai_meet_only(w, call);
    return code != RMA_SUCCESS ? code : met;
}
