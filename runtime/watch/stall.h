/* SPDX-License-Identifier: BSD-3-Clause */
/* Long waits: this module finds out which PEs a PE waits for, and whether they are alive. Every wait of the library
 * that lasts calls it when it rests between polls (struct rmai_stall in base/wait.h).
 *
 * After RMA_STALL seconds the waiting PE asks the PEs that it waits for for a sign of life: PEs of other nodes by a
 * message (runtime/watch/liveness), PEs of this node by checking their process. It reports the silent PEs, and for
 * those that answer the call in which they wait themselves. It ends the job if a PE stays silent for RMA_TIMEOUT
 * seconds, and at once if a PE of this node has died. As long as all answer, the wait continues: another PE may compute
 * for long, or nobody has to write the word. If all PEs wait for each other, the job ends (runtime/watch/deadlock).
 *
 * Only time in which this PE itself ran counts: if a job is stopped and resumed as a whole, the pause is no wait.
 */
#ifndef RMAI_STALL_H
#define RMAI_STALL_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/wait.h"
#include "runtime/watch/liveness.h"

struct rmai_group;
struct rmai_job;

#define RMAI_THREADS_OF_MPI 16 /* in one process; where MPI makes more, no deadlock is found */

/* What this module needs to find the PEs that a wait is for. The layer above fills it in. */
struct rmai_watch {
    const struct rmai_job *job;
    size_t sign_at;                           /* where struct rmai_shown_sign (sign.h) is in each PE's space */
    struct rmai_pings pings;                  /* pings.net: the net */
    const struct rmai_group *leaders;         /* the leaders of all nodes */
    const _Atomic int *exiting;               /* 1: the program of this PE has ended */
    int threads, thread[RMAI_THREADS_OF_MPI]; /* rmai_note_threads_of_mpi */
    uint64_t handlers;
    uint64_t waits;             /* of this PE that have lasted */
    struct rmai_census *census; /* PE 0's (deadlock.h), or NULL */
    /* team_pe returns a team's PE number i, or -1 if it has no more. team_number returns the number of a team among
     * this PE's teams; the world's is 0. */
    int (*team_pe)(const struct rmai_team *t, int i);
    int (*team_number)(const struct rmai_team *t);
};

/* rmai_stall_publish tells other PEs that this PE waits in the public call `name`, or in none if it is "". */
void rmai_stall_publish(struct rmai_watch *w, const char *name);

/* rmai_stall_check is called when the wait s rests, rmai_stall_end when it is over. The caller holds the net's lock, if
 * there is a net. A waiter that does not hold it calls the functions of its struct rmai_patience, which take it. */
void rmai_stall_check(struct rmai_watch *w, struct rmai_stall *s);
void rmai_stall_end(struct rmai_watch *w, struct rmai_stall *s);

/* A program that calls rma_test or rma_test_lock in a loop waits, but the library sees one test at a time. So each test
 * that fails calls rmai_stall_test_due, and if that returns 1 calls rmai_stall_test, which reads the clock and checks
 * the other PEs. If one of this node has died, it ends the job.
 *
 * If one is stopped, it reports that after RMA_STALL seconds of an unbroken loop, and ends the job after RMA_TIMEOUT
 * seconds. The loop is broken if the 1024 tests between two calls of rmai_stall_test take longer than 0.2 s, since the
 * program then does something else in between, or if `word` is the word of the last call and its contents have changed.
 * It takes the net's lock, if there is a net. */
#define RMAI_TESTS 1024 /* some 10 microseconds, where the thread does nothing else */
extern _Thread_local unsigned rmai_failed_tests __attribute__((tls_model("initial-exec")));
static inline int rmai_stall_test_due(void) { return ++rmai_failed_tests % RMAI_TESTS == 0; }
void rmai_stall_test(struct rmai_watch *w, const char *call, const void *word, uint64_t contents);

/* A wait for a lock in shared memory (base/lock) that another PE of this node holds. Initialize it as {.w = watch,
 * .stall.call = call}. */
struct rmai_lock_wait {
    struct rmai_watch *w;
    struct rmai_stall stall;
};

/* rmai_stall_holder tells rmai_lock whether PE `pe`, which holds the lock, has died; context is a struct
 * rmai_lock_wait. It also checks the wait. It needs and takes no lock. */
int rmai_stall_holder(void *context, uint32_t pe);

#endif
