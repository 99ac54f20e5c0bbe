/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/job/job.h"
#include "base/error.h"
#include "base/process.h"

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
