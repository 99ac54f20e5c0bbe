/* SPDX-License-Identifier: BSD-3-Clause */
/* What a PE does for its peers in memory that they cannot reach themselves: atomics in private memory, and copies where
 * the system forbids process_vm_readv(2). A thread of the owner does it, which sleeps unless asked, so that the owner
 * may compute or sleep meanwhile. It does the same C11 atomics as everybody else: one authority per word.
 *
 * One request at a time for each owner; those who ask take turns by a lock. */
#ifndef RMAI_SERVICE_H
#define RMAI_SERVICE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/lock.h"
#include "base/wait.h"

struct rmai_world;

#define RMAI_SERVICE_BYTES 4096 /* copied by one request at most */

enum rmai_service_op { RMAI_SERVICE_ATOMIC, RMAI_SERVICE_PUT, RMAI_SERVICE_GET };

struct rmai_request {
    int op;           /* enum rmai_service_op */
    int atomic;       /* ATOMIC: enum rma_atomic_op_ */
    uint64_t address; /* in the owner's process */
    uint64_t len;     /* bytes: of the word (4 or 8), or to copy */
    uint64_t value, cond;
    uint64_t old; /* answer */
    int fault;    /* answer: 1 if the memory is not there */
};

/* In each PE's header. */
struct rmai_service_shared {
    _Alignas(RMAI_APART) struct rmai_lock turn;
    struct rmai_event asked, answered; /* numbers of requests */
    _Atomic int ending;
    struct rmai_request request;
    unsigned char data[RMAI_SERVICE_BYTES];
};

struct rmai_service {
    int running;
    pthread_t thread;
};

/* rmai_service_start starts this PE's thread, if it does not run yet. Returns RMA_SUCCESS or RMA_ERR_SYSTEM. */
int rmai_service_start(struct rmai_world *w);

/* rmai_service_end ends it. No peer asks any more. */
void rmai_service_end(struct rmai_world *w);

/* rmai_service_ask lets the owner, number q of the node, do the request, and waits for its answer. data is what to put,
 * or where to get to. Returns RMA_SUCCESS, or RMA_ERR_SYSTEM after recording that the owner has died. */
int rmai_service_ask(struct rmai_world *w, const char *call, int q, struct rmai_request *request, void *data);

#endif
