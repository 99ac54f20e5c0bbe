/* SPDX-License-Identifier: BSD-3-Clause */
/* Who does accesses, and what each knows of the others: vector clocks (C. Fidge, F. Mattern, 1988) with epochs
 * (C. Flanagan and S. Freund, FastTrack, PLDI 2009).
 *
 * An *actor* does accesses in an order of its own. There are four kinds:
 *
 *     thread      each thread of each PE
 *     puts        of a context to a PE: what they write there. Complete by quiet, ordered by fence.
 *     signalled   of a context to a PE: the data of its puts with signal. The same; also who sees the signal sees them.
 *     pending     of a context to a PE: the caller's buffers of nonblocking calls, and what nonblocking gets read.
 *                 Complete by quiet.
 *
 * Each actor has a number and counts: a thread, when it tells others something; the others, each operation. An access
 * is recorded with its *epoch*: the actor and its count. A thread's clock has for each actor the count up to which
 * that actor's accesses happen before what the thread does next. */
#ifndef RACE_CLOCK_H
#define RACE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

/* An epoch in a word: count << 32 | actor << 12 | kind << 8 | mask. The mask has a bit for each byte of a cell. */
typedef uint64_t race_epoch;
#define RACE_ACTORS_MOST (1u << 18)
#define RACE_LONG        ((race_epoch)1 << 31) /* no epoch: the upper half is the number of a list (shadow.h) */
#define RACE_MASK        ((race_epoch)0xff)
#define RACE_PLAIN       ((race_epoch)0 << 8)
#define RACE_ATOMIC      ((race_epoch)1 << 8) /* atomic towards atomics of the same bytes */
#define RACE_WHOLE       ((race_epoch)2 << 8) /* rma_p and rma_g: the same, and towards each other */
#define RACE_SECOND      ((race_epoch)3 << 8) /* in the place of a cell's read: another atomic write */
#define RACE_KIND        ((race_epoch)3 << 8)
#define RACE_COUNT(e)    ((uint32_t)((e) >> 32))
#define RACE_ACTOR(e)    ((uint32_t)(e) >> 12 & (RACE_ACTORS_MOST - 1))
#define RACE_EPOCH(a, n) ((race_epoch)(n) << 32 | (race_epoch)(a) << 12)

/* What adds to a clock what fences have ordered (race_publish). */
typedef void race_fences(uint32_t *clock);

/* What a thread knows. One for each thread that the program has. */
struct race_thread {
    uint32_t actor;
    uint32_t count;
    uint32_t *clock;     /* race_job.clocks numbers */
    uint32_t version;    /* of the last copy that others may read */
    int changed;         /* since that copy */
    race_fences *fences; /* what has added to that copy what fences have ordered, or NULL */
    struct race_thread *next;
};

/* The calling thread's. race_now is its epoch without a mask, 0 if the thread is none of the program's or
 * race detection is off. race_inside > 0: in a call of the library; what the library does is not looked at. */
extern __thread race_epoch race_now;
extern __thread race_epoch race_same; /* race_now with all bytes, for the hooks; 0 if race_now is */
extern __thread struct race_thread *race_me;
extern __thread int race_inside;

/* What an operation told whoever learns of it. Entry count % history of its actor. */
struct race_operation {
    uint32_t count;   /* of the actor: tells whether the entry is still this operation's */
    uint32_t thread;  /* who called, */
    uint32_t at;      /* its count, */
    uint32_t version; /* what it knew: a version of PE `pe` */
    uint32_t pe;
    uint32_t puts;      /* the actor of the context's puts to the word's PE, or this actor itself */
    uint32_t puts_to;   /* and up to which of them a fence has ordered before this operation */
    uint32_t signalled; /* as the last two */
    uint32_t signalled_to;
};

/* race_thread_new makes a thread's clock. It knows what `parent` knows; or nothing (RACE_NOBODY); NULL: it is that of
 * the process's first thread. race_thread_adopt makes it the calling thread's. race_thread_free gives its actor back
 * for the next thread. */
#define RACE_NOBODY ((const struct race_thread *)(uintptr_t)1)
struct race_thread *race_thread_new(const struct race_thread *parent);
void race_thread_adopt(struct race_thread *t);
void race_thread_free(struct race_thread *t);

/* race_actor_new: the number of a new actor, or `otherwise` when there are too many. race_actor_kind, _pe: what it is,
 * and of which PE. */
enum race_kind { RACE_THREAD, RACE_PUTS, RACE_SIGNALLED, RACE_PENDING };
uint32_t race_actor_new(enum race_kind kind, uint32_t otherwise);
enum race_kind race_actor_kind(uint32_t actor);
int race_actor_pe(uint32_t actor);

/* race_actor_standing: of the standing context of PE `from`, towards PE `to`. The n threads that the processes begin
 * with have the numbers below n. */
uint32_t race_actor_standing(enum race_kind kind, int from, int to);
#define RACE_STANDING(n) ((size_t)(n) + 3 * (size_t)(n) * (size_t)(n))

/* race_clocks: how many numbers a clock has in a job of n PEs: theirs, and room for threads and contexts. */
static inline size_t race_clocks(int n) { return RACE_STANDING(n) + 512 + 16 * (size_t)n; }

/* race_join: the calling thread knows from now on what `clock` says, too. race_know: one number of it. */
void race_join(struct race_thread *t, const uint32_t *clock);
static inline void race_know(struct race_thread *t, uint32_t actor, uint32_t count) {
    if (t->clock[actor] < count) {
        t->clock[actor] = count;
        t->changed = 1;
    }
}

/* race_tell_clock: what the thread knows, added to a clock that others join. */
void race_tell_clock(const struct race_thread *t, uint32_t *clock);

/* race_floor: up to which count of each actor everybody knows: what all PEs told each other in their last barrier. NULL
 * before one, and once the job has threads: a thread may not have been there. */
extern uint32_t *race_floor;
static inline int race_known_to_all(race_epoch e) {
    return race_floor != NULL && race_floor[RACE_ACTOR(e)] >= RACE_COUNT(e);
}
void race_raise_floor(const struct race_thread *t);

/* race_tick: what the thread does from now on is not part of what it has told. */
void race_tick(struct race_thread *t);

/* race_publish makes a copy of the clock that others may read, if it has changed, and returns its number. fences: NULL,
 * or what adds to the copy what the fences of all contexts have ordered (docs/memory-model.md: a native fence is about
 * all PEs). race_publish_all makes a copy of what this thread and the other ones that use `told` have told: it joins
 * the thread's clock into `told` first. */
uint32_t race_publish(struct race_thread *t, race_fences *fences);
uint32_t race_publish_all(struct race_thread *t, uint32_t *told, race_fences *fences);

/* race_log remembers what an operation tells; race_learn makes the calling thread know it. */
void race_log(uint32_t actor, uint32_t count, struct race_operation op);
void race_learn(struct race_thread *t, uint32_t actor, uint32_t count);

#endif
