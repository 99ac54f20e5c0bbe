/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of shmemx.h that belong to no family: the performance counters, and calls that exist but need to do nothing. */
#include "config.h"

#include "interfaces/shmem/define.h"

/* ---- counters of a context: its operations on PEs of other nodes ---- */

/* Nothing is written for an invalid context or a null pointer. */
static int read_ctx_counts(const char *call, shmem_ctx_t ctx, const char *argument, const void *out,
                           shmemx_pcntr_t *all) {
    struct rma_counts_ begun, complete;
    int code;
    if (!out) return rma_fail_(RMA_ERR_ARG, "%s: %s is a null pointer", call, argument);
    code = rma_counts_(call, ctx, &begun, &complete);
    if (code != RMA_SUCCESS) return code;
    *all = (shmemx_pcntr_t){.pending_put = begun.writes,
                            .pending_get = begun.reads,
                            .completed_put = complete.writes,
                            .completed_get = complete.reads};
    return RMA_SUCCESS;
}

#define COUNTER(CALL, MEMBER)                                                                                          \
    void p##CALL(shmem_ctx_t ctx, uint64_t *cntr_value) {                                                              \
        shmemx_pcntr_t all = {0};                                                                                      \
        if (read_ctx_counts(#CALL, ctx, "cntr_value", cntr_value, &all) == RMA_SUCCESS) *cntr_value = all.MEMBER;      \
    }
COUNTER(shmemx_pcntr_get_issued_write, pending_put)
COUNTER(shmemx_pcntr_get_issued_read, pending_get)
COUNTER(shmemx_pcntr_get_completed_write, completed_put)
COUNTER(shmemx_pcntr_get_completed_read, completed_get)

/* The requests that this PE has executed for PEs of other nodes, in any context. */
static int read_target(const char *call, uint64_t *target) {
    struct rma_stats stats;
    int code;
    rma_call_as_(call);
    code = rmai_shmem_end(rma_stats(&stats));
    if (code == RMA_SUCCESS) *target = stats.served;
    return code;
}

void pshmemx_pcntr_get_completed_target(uint64_t *cntr_value) {
    static const char call[] = "shmemx_pcntr_get_completed_target";
    if (cntr_value)
        read_target(call, cntr_value);
    else
        rma_fail_(RMA_ERR_ARG, "%s: cntr_value is a null pointer", call);
}

void pshmemx_pcntr_get_all(shmem_ctx_t ctx, shmemx_pcntr_t *pcntr) {
    static const char call[] = "shmemx_pcntr_get_all";
    shmemx_pcntr_t all = {0};
    if (read_ctx_counts(call, ctx, "pcntr", pcntr, &all) == RMA_SUCCESS &&
        read_target(call, &all.target) == RMA_SUCCESS)
        *pcntr = all;
}

/* ---- threads ---- */

/* Other libraries find a thread's private context by the thread's number, and programs with another kind of threads
 * tell them how to number these. Here a handle alone identifies a context, in any thread, so thread numbers are never
 * needed. */
void pshmemx_register_gettid(uint64_t (*gettid_fn)(void)) { (void)gettid_fn; }

SHMEMX_OWN_CALLS_(ALIAS)
