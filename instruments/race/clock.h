/* SPDX-License-Identifier: BSD-3-Clause */
/* Who accesses memory, and what each knows about the others: vector clocks (C. Fidge, F. Mattern, 1988) with epochs (C.
 * Flanagan and S. Freund, FastTrack, PLDI 2009).
 *
 * The accesses of one *actor* are ordered. There are four kinds of actors:
 *
 *     thread      each thread of each PE
 *     puts        of a thread in a context to a PE: the writes of puts. Quiet completes them, fence orders them.
 *     signalled   of a thread in a context to a PE: the data of puts with signal. The same; also a PE that sees the
 *                 signal sees them.
 *     pending     of a thread in a context to a PE: the caller's buffers of nonblocking calls, and the reads of
 *                 nonblocking gets. Quiet completes them.
 *
 * Each actor has a number. A thread has a count, which it increases when it tells others something, and after each of
 * its operations; the other actors, which are *flows* (flow.h), count with their thread. An access is recorded with its
 * *epoch*: the actor and its count. A thread's clock has for each actor the count up to which that actor's accesses
 * happen before the thread's next access. */
#ifndef RACE_CLOCK_H
#define RACE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "instruments/race/runs.h"
#include "instruments/race/spin.h"

/* An epoch in a word: count << 32 | actor << 15 | family << 10 | kind << 8 | mask. The mask has a bit for each byte of
 * a cell. */
typedef uint64_t race_epoch;
#define RACE_ACTORS_MOST (1u << 16)
#define RACE_LONG        ((race_epoch)1 << 31) /* not an epoch: the upper half is the number of a list (shadow.h) */
#define RACE_MASK        ((race_epoch)0xff)
#define RACE_PLAIN       ((race_epoch)0 << 8)
#define RACE_ATOMIC      ((race_epoch)1 << 8) /* atomic towards atomics of the same bytes */
#define RACE_WHOLE       ((race_epoch)2 << 8) /* rma_p and rma_g: the same, and also towards each other */
#define RACE_SECOND      ((race_epoch)3 << 8) /* in a cell's read: another atomic write; in its write: another read */
#define RACE_KIND        ((race_epoch)3 << 8)
#define RACE_COUNT(e)    ((uint32_t)((e) >> 32))
#define RACE_ACTOR(e)    ((uint32_t)(e) >> 15 & (RACE_ACTORS_MOST - 1))
#define RACE_EPOCH(a, n) ((race_epoch)(n) << 32 | (race_epoch)(a) << 15)

/* The family of an atomic of OpenSHMEM: the specification promises atomicity only within a type, within a domain (that
 * of the world's contexts, or that of the contexts of SHMEM_TEAM_SHARED), and for signals within one of the two
 * operations. RACE_ANY_TYPE: atomic towards all; all others, and all if the user wants so (RMA_RACE). */
enum race_type {
    RACE_ANY_TYPE,
    RACE_SIGNED, /* int or long, by the size */
    RACE_UNSIGNED,
    RACE_LONG_LONG,
    RACE_UNSIGNED_LONG_LONG,
    RACE_FLOATING,
    RACE_SIGNAL_SET,
    RACE_SIGNAL_ADD
};
#define RACE_OF_TYPE(t)  ((race_epoch)(t) << 10)
#define RACE_TYPE(e)     ((enum race_type)((e) >> 10 & 7))
#define RACE_SHARED_TEAM ((race_epoch)1 << 13) /* in a context of SHMEM_TEAM_SHARED, or of a team split from it */

/* The family of an accumulate of MPI: it is atomic towards those of the same predefined datatype and, by default, of
 * the same operation or MPI_NO_OP (MPI-3.1, 11.2.1 and 11.7.1). The type is a class, since the bytes give the size; the
 * operations that are rarest have one number. */
enum race_element { RACE_INTEGER, RACE_NATURAL, RACE_REAL, RACE_COMPOUND };
enum race_op { RACE_ANY_OP, RACE_NO_OP, RACE_REPLACE, RACE_SUM, RACE_PROD, RACE_MIN, RACE_MAX, RACE_OTHER_OP };
#define RACE_OF_ACCUMULATE(e, o) ((race_epoch)(e) << 10 | (race_epoch)(o) << 12)
#define RACE_ELEMENT(e)          ((enum race_element)((e) >> 10 & 3))
#define RACE_OP(e)               ((enum race_op)((e) >> 12 & 7))

#define RACE_FAMILY ((race_epoch)31 << 10)

/* What fences have ordered, as far as the calling thread knows: in a context towards a PE, or (context NULL) in all
 * contexts towards all PEs. `into` adds it to a clock (race_publish); NULL: adds nothing. */
struct race_fenced {
    void (*into)(uint32_t *clock, const void *context, int pe);
    const void *context;
    int pe;
};

/* What a thread knows. One for each of the program's threads. */
struct race_thread {
    uint32_t actor;
    uint32_t count;
    uint32_t *clock;           /* race_job.clocks numbers */
    uint32_t version;          /* number of the last copy that others may read */
    int changed;               /* 1: changed since that copy */
    int heard;                 /* 1: since it last told something to a group, it has learnt other things than what the
                                  members told in the same call (group.c) */
    struct race_fenced fenced; /* what was added to that copy */
    struct race_thread *next;
};

/* The calling thread's state. race_now is its epoch without a mask; 0 if the thread is not one of the program's, or
 * detection is off. Its count may be lower than the thread's (race_count). race_inside > 0: in a call of the library,
 * whose accesses are not checked. */
extern __thread race_epoch race_now;
/* race_now with all bytes; 0 if race_now is 0. Programs read it (inline.h). */
#define race_same rma_race_same
extern __attribute__((visibility("default"))) __thread race_epoch race_same;
extern __thread struct race_thread *race_me;
extern __thread int race_inside;

/* What an operation tells to a thread that learns of it. It is entry count % history of its actor. */
struct race_operation {
    uint32_t count;   /* the actor's count: tells whether the entry is still this operation's */
    uint32_t thread;  /* the calling thread */
    uint32_t at;      /* that thread's count */
    uint32_t version; /* what that thread knew: a version of PE `pe` */
    uint32_t pe;
    uint32_t puts;      /* the actor of the thread's puts in the context to the word's PE, or this actor itself */
    uint32_t puts_to;   /* the last of these puts that a fence has ordered before this operation */
    uint32_t signalled; /* as the last two */
    uint32_t signalled_to;
};

/* race_thread_new creates a thread's clock. The thread knows what `parent` knows, or nothing (RACE_NOBODY); NULL: it is
 * the process's first thread. race_thread_adopt makes the clock the calling thread's. race_thread_free frees the actor
 * for the next thread. */
#define RACE_NOBODY ((const struct race_thread *)(uintptr_t)1)
struct race_thread *race_thread_new(const struct race_thread *parent);
void race_thread_adopt(struct race_thread *t);
void race_thread_free(struct race_thread *t);

/* race_actor_new: the number of a new actor, or UINT32_MAX if there are too many; of: for a thread its number in its
 * process, for a flow its thread's actor. race_actor_kind, _pe, _thread: an actor's kind, its PE, and the actor of its
 * thread. race_actor_thread_number: a thread's number in its process; the first one has the number 0. */
enum race_kind { RACE_THREAD, RACE_PUTS, RACE_SIGNALLED, RACE_PENDING };
uint32_t race_actor_new(enum race_kind kind, uint32_t of, int in_context);
enum race_kind race_actor_kind(uint32_t actor);
int race_actor_pe(uint32_t actor);
uint32_t race_actor_thread(uint32_t actor);
uint32_t race_actor_thread_number(uint32_t thread);

/* race_actor_in_context: whether a flow belongs to another context than a default one. */
int race_actor_in_context(uint32_t actor);

/* race_actor_standing: the actor of the first thread of PE `from`, in the default context, towards PE `to`. The first
 * threads of the n processes have the numbers below n. */
uint32_t race_actor_standing(enum race_kind kind, int from, int to);
#define RACE_STANDING(n) ((size_t)(n) + 3 * (size_t)(n) * (size_t)(n))

/* race_clocks: how many numbers a clock has in a job of n PEs: those of the PEs, and room for threads and contexts. */
#define RACE_ROOM_OF_WINDOWS 4096 /* more in programs of MPI windows, which have flows for each window and request */
static inline size_t race_clocks(int n) { return RACE_STANDING(n) + 512 + 16 * (size_t)n; }

/* race_join: from now on the calling thread also knows what `clock` says. race_know: the same for one number. These and
 * all that change a thread's count or clock hold off the events of its signal handlers, which also change them. */
void race_join(struct race_thread *t, const uint32_t *clock);
static inline void race_know(struct race_thread *t, uint32_t actor, uint32_t count) {
    if (t->clock[actor] < count) {
        race_settle_accesses();
        race_hold();
        if (t->clock[actor] < count) t->clock[actor] = count;
        t->changed = t->heard = 1;
        race_let_go();
    }
}

/* race_tell_clock adds what the thread knows to a clock that others join. */
void race_tell_clock(const struct race_thread *t, uint32_t *clock);

/* race_floor: for each actor the count that everybody knows, since all PEs told it in a barrier. NULL before the first
 * one, and once the job has threads, since a thread may have missed the barrier. race_raise_floor: thread t has learnt
 * what all told in the last barrier, and knows nothing else. */
extern uint32_t *race_floor;
static inline int race_known_to_all(race_epoch e) {
    return race_floor != NULL && race_floor[RACE_ACTOR(e)] >= RACE_COUNT(e);
}
void race_raise_floor(const struct race_thread *t);

/* race_has_threads: whether any process of the job has created a thread. race_threads_begin: from now on one has;
 * called before the thread that creates another one continues, which the new thread need not know. */
int race_has_threads(void);
void race_threads_begin(void);

/* race_tick: the thread's later accesses are not part of what it has told, and its later operations are others.
 * race_step: they are others, but it has told nothing, so that late reads stay (runs.h). race_count: its later
 * operations are others, but its accesses keep their epoch until it tells something, so that an access that it repeats
 * is in its cell already. */
void race_step(struct race_thread *t);
void race_tick(struct race_thread *t);
static inline void race_count(struct race_thread *t) {
    race_hold();
    t->clock[t->actor] = ++t->count;
    race_let_go();
}

/* race_publish makes a copy of the clock that others may read, with what `fenced` adds, if that is not the content of
 * the last copy, and returns its number. */
uint32_t race_publish(struct race_thread *t, struct race_fenced fenced);

/* race_log records what an operation tells; race_learn makes the calling thread know it. */
void race_log(uint32_t actor, uint32_t count, const struct race_operation *op);
void race_learn(struct race_thread *t, uint32_t actor, uint32_t count);

#endif
