/* SPDX-License-Identifier: BSD-3-Clause */
/* The service thread: it accesses its PE's private memory for PEs of the node that cannot reach that memory themselves.
 * It does atomics in private memory, and copies where the system forbids process_vm_readv(2). It sleeps until a PE
 * asks, so the owner itself may compute or sleep meanwhile. It uses the same C11 atomics as every PE does, so all
 * atomics on a word are of one kind.
 *
 * An owner serves one request at a time; a lock orders the PEs that ask. */
#ifndef RMAI_SERVICE_H
#define RMAI_SERVICE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/lock.h"
#include "base/wait.h"
#include "runtime/job/job.h"

#define RMAI_SERVICE_BYTES 4096 /* of the data of one request at most */

enum rmai_service_op { RMAI_SERVICE_ATOMIC, RMAI_SERVICE_PUT, RMAI_SERVICE_GET, RMAI_SERVICE_UPDATE };

struct rmai_request {
    int op;           /* enum rmai_service_op */
    int atomic;       /* ATOMIC: enum rma_atomic_op_. UPDATE: enum rma_op, */
    int type;         /* and enum rma_type, */
    unsigned runs;    /* and the number of runs, whose places count from `address` and `position` */
    uint64_t address; /* in the owner's process; of an UPDATE that failed, of the block that is not there */
    uint64_t len;     /* bytes: of the word (4 or 8), to copy, or of all blocks; then of the block that is not there */
    uint64_t value, cond;
    uint64_t position; /* of what is at `address` (base/update.h) */
    uint64_t old;      /* answer */
    int fault;         /* answer: 1 if the memory is not there */
};

/* n blocks of len bytes, the first at `at`, of an update. The operands of all blocks stand at the beginning of a
 * request's data, and the runs at its end, the first one last. */
struct rmai_service_run {
    int64_t at, step;
    uint64_t len, n;
};
static inline struct rmai_service_run *rmai_service_run_at(void *data, unsigned i) {
    return (struct rmai_service_run *)(void *)((unsigned char *)data + RMAI_SERVICE_BYTES) - 1 - i;
}

/* In each PE's header. */
struct rmai_service_shared {
    _Alignas(RMAI_APART) struct rmai_lock turn;
    struct rmai_event asked, answered; /* number of requests made, and of requests answered */
    _Atomic int ending;
    struct rmai_request request;
    _Alignas(16) unsigned char data[RMAI_SERVICE_BYTES];
};

struct rmai_service {
    const struct rmai_job *job;
    const struct rmai_patience *patience; /* checks waits that last */
    size_t at;                            /* where each PE's struct rmai_service_shared is in its space */
    int crowded;                          /* PEs share processors */
    int running;                          /* this PE's thread exists */
    pthread_t thread;
};

/* rmai_service_start starts this PE's service thread, unless it runs already. Returns RMA_SUCCESS or RMA_ERR_SYSTEM. */
int rmai_service_start(struct rmai_service *service);

/* rmai_service_end ends the service thread. No PE asks it any more. */
void rmai_service_end(struct rmai_service *service);

/* rmai_service_ask has PE number q of the node, the owner of the memory, do the request, and waits for the answer. data
 * holds the bytes to put, or receives those that were got. For an update it has RMAI_SERVICE_BYTES, with the operands,
 * which the values before replace, and the runs.
 * Returns RMA_SUCCESS, or RMA_ERR_SYSTEM after recording that the owner has died. */
int rmai_service_ask(const struct rmai_service *service, const char *call, int q, struct rmai_request *request,
                     void *data);

#endif
