/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is it that a PE waits for in vain? Every wait of the library that lasts comes here at its rests (struct
 * rmai_stall in base/wait.h).
 *
 * After RMA_STALL seconds those who are waited for are asked for a sign of life: PEs of other nodes by a message, which
 * their progress answers, PEs of this node by looking at their process. The silent ones are named, and of those who
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

struct rmai_world;

/* In each PE's header: the name of the public call in which it waits, or "", for whoever asks. A writer makes `version`
 * odd while it writes. */
#define RMAI_WAITING_WORDS (RMAI_WAITING_TEXT / 8)
struct rmai_waiting {
    _Atomic uint32_t version;
    _Atomic uint64_t text[RMAI_WAITING_WORDS];
};

/* rmai_waiting_read copies the text of w, which ends with a 0. */
void rmai_waiting_read(struct rmai_waiting *w, char text[RMAI_WAITING_TEXT]);

/* rmai_stall_publish: this PE waits in the public call `name`, or with "" in none, for whoever asks. */
void rmai_stall_publish(struct rmai_world *w, const char *name);

/* rmai_stall_look: at a rest of the wait s. The lock of far is held, if far is active. rmai_stall_end: the wait is
 * over; with that lock, too. */
void rmai_stall_look(struct rmai_world *w, struct rmai_stall *s);
void rmai_stall_end(struct rmai_world *w, struct rmai_stall *s);

/* rmai_stall_late, rmai_stall_over: the same without the lock, for struct rmai_patience. context is the world. */
void rmai_stall_late(void *context, struct rmai_stall *s);
void rmai_stall_over(void *context, struct rmai_stall *s);

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
void rmai_stall_test(struct rmai_world *w, const char *call, const void *word, uint64_t contents);

/* A wait for a lock in shared memory (base/lock) that another PE of this node holds. Start from {.w = w, .stall.call =
 * call}. */
struct rmai_lock_wait {
    struct rmai_world *w;
    struct rmai_stall stall;
};

/* rmai_stall_holder is what rmai_lock asks whether PE `pe`, which holds the lock, has died; context is a struct
 * rmai_lock_wait. It looks after the wait, too. No lock is wanted or taken. */
int rmai_stall_holder(void *context, uint32_t pe);

#endif
