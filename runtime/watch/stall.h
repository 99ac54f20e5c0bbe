/* SPDX-License-Identifier: BSD-3-Clause */
/* Whom does a PE wait for, and does that PE still live? Every wait of the library that lasts comes here at its rests
 * (struct rmai_stall in base/wait.h).
 *
 * After RMA_STALL seconds those who are waited for are asked for a sign of life: PEs of other nodes by a message
 * (runtime/watch/liveness), PEs of this node by looking at their process. The silent ones are named, and of those who
 * answer, in which call they wait themselves. A PE that stays silent for RMA_TIMEOUT seconds ends the job, and so does,
 * at once, a PE of this node that has died. As long as all answer no wait ends: it may be a long computation, or a word
 * that nobody has to write.
 *
 * Time counts only as far as this PE itself ran: a job that is stopped and resumed as a whole has not waited meanwhile.
 */
#ifndef RMAI_STALL_H
#define RMAI_STALL_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/wait.h"
#include "runtime/watch/liveness.h"

struct rmai_group;
struct rmai_job;

/* In each PE's header: the name of the public call in which it waits, or "", for whoever asks. A writer makes `version`
 * odd while it writes. */
#define RMAI_WAITING_WORDS (RMAI_WAITING_TEXT / 8)
struct rmai_waiting {
    _Atomic uint32_t version;
    _Atomic uint64_t text[RMAI_WAITING_WORDS];
};

/* rmai_waiting_read copies the text of w, which ends with a 0. */
void rmai_waiting_read(struct rmai_waiting *w, char text[RMAI_WAITING_TEXT]);

/* What this PE needs to know to find out whom it waits for. The layer above fills it in. */
struct rmai_watch {
    const struct rmai_job *job;
    size_t waiting_at;                /* where struct rmai_waiting is in each PE's space */
    struct rmai_pings pings;          /* pings.net: the net */
    const struct rmai_group *leaders; /* of all nodes */
    const _Atomic int *exiting;       /* 1: the program of this PE has ended */
    /* A team's PE number i, or -1: it has no more. The number of a team among this PE's teams; the world's is 0. */
    int (*team_pe)(const struct rmai_team *t, int i);
    int (*team_number)(const struct rmai_team *t);
};

/* rmai_stall_publish: this PE waits in the public call `name`, or with "" in none, for whoever asks. */
void rmai_stall_publish(struct rmai_watch *w, const char *name);

/* rmai_stall_check: at a rest of the wait s. rmai_stall_end: the wait is over. The caller holds the net's lock, if the
 * net is active. A waiter that does not hold it calls the functions of its struct rmai_patience, which take it. */
void rmai_stall_check(struct rmai_watch *w, struct rmai_stall *s);
void rmai_stall_end(struct rmai_watch *w, struct rmai_stall *s);

/* A program that calls rma_test or rma_test_lock in a loop waits, but the library sees one test at a time. So each test
 * that fails asks rmai_stall_test_due, and where that returns 1 calls rmai_stall_test, which looks at the clock and the
 * PEs of this node. One that has died ends the job.
 *
 * One that is stopped is reported after RMA_STALL and ends the job after RMA_TIMEOUT seconds of an unbroken loop. The
 * loop is broken when the 1024 tests from one call of rmai_stall_test to the next take longer than 0.2 s, for then the
 * program does something else meanwhile, and when `word`, if it was the last call's word too, has other contents.
 * No lock is wanted or taken. */
#define RMAI_TESTS 1024 /* some 10 microseconds, where the thread does nothing else */
extern _Thread_local unsigned rmai_failed_tests __attribute__((tls_model("initial-exec")));
static inline int rmai_stall_test_due(void) { return ++rmai_failed_tests % RMAI_TESTS == 0; }
void rmai_stall_test(struct rmai_watch *w, const char *call, const void *word, uint64_t contents);

/* A wait for a lock in shared memory (base/lock) that another PE of this node holds. Start from {.w = watch,
 * .stall.call = call}. */
struct rmai_lock_wait {
    struct rmai_watch *w;
    struct rmai_stall stall;
};

/* rmai_stall_holder is what rmai_lock asks whether PE `pe`, which holds the lock, has died; context is a struct
 * rmai_lock_wait. It checks the wait, too. No lock is wanted or taken. */
int rmai_stall_holder(void *context, uint32_t pe);

#endif
