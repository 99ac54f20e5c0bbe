/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/job/job.h"
#include "base/error.h"
#include "base/process.h"

int rmai_placed(const struct rmai_job *job, enum rmai_placement rule) {
    const int first = job->node_pes[0], step = rule == RMAI_PLACED_IN_TURN ? job->n_nodes : 1;
    int end = job->n_pes; /* the PEs of this node are first, first + step, ... below it */
    if (rule == RMAI_PLACED_IN_BLOCKS && job->n_pes - first > job->node_most) end = first + job->node_most;
    if (rule == RMAI_PLACED_IN_BLOCKS ? first % job->node_most : first >= job->n_nodes) return 0;
    if (job->node_n_pes != (end - first + step - 1) / step) return 0;
    for (int q = 0; q < job->node_n_pes; q++)
        if (job->node_pes[q] != first + q * step) return 0;
    return 1;
}

int rmai_check_pe(const struct rmai_job *job, const char *call, const char *argument, int pe) {
    if (pe >= 0 && pe < job->n_pes) return RMA_SUCCESS;
    return rmai_error(RMA_ERR_PE, "%s: %s %d is outside 0..%d", call, argument, pe, job->n_pes - 1);
}

int rmai_same_pids(const struct rmai_job *job, int q) {
    return rmai_facts(job, q)->pid_namespace == rmai_facts(job, job->node_my_pe)->pid_namespace;
}

int rmai_pe_gone(const struct rmai_job *job, int pe) {
    int q = rmai_node_slot(job, pe);
    return q >= 0 && pe != job->my_pe && rmai_same_pids(job, q) && rmai_process_gone(rmai_facts(job, q)->pid);
}
