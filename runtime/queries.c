/* SPDX-License-Identifier: BSD-3-Clause */
/* The public queries: who, where, how many; the clock; the version. They read what init has left and change nothing. */
#include "config.h"

#include "base/clock.h"
#include "base/error.h"
#include "runtime/face.h"
#include "runtime/world.h"

int rma_initialized(void) { return (int)rma_reach_.running; }

int rma_level_(void) { return rmai_world.job.level; }

#define QUERY(NAME, VALUE)                                                                                             \
    int NAME(void) {                                                                                                   \
        if (rmai_running(#NAME) == RMA_SUCCESS) return VALUE;                                                          \
        rmai_raise(RMA_ERR_STATE);                                                                                     \
        return -1;                                                                                                     \
    }

QUERY(rma_my_pe, rmai_world.job.my_pe)
QUERY(rma_n_pes, rmai_world.job.n_pes)
QUERY(rma_node_my_pe, rmai_world.job.node_my_pe)
QUERY(rma_node_n_pes, rmai_world.job.node_n_pes)
QUERY(rma_my_node, rmai_world.job.my_node)
QUERY(rma_n_nodes, rmai_world.job.n_nodes)

int rma_on_node(int pe) {
    int code = rmai_running("rma_on_node");
    if (code == RMA_SUCCESS) code = rmai_check_pe(&rmai_world.job, "rma_on_node", "PE", pe);
    if (rmai_raise(code) != RMA_SUCCESS) return 0;
    return rmai_node_slot(&rmai_world.job, pe) >= 0;
}

double rma_wtime(void) { return rmai_wtime(); }

const char *rma_version(void) { return RMA_VERSION; }
