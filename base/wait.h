/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for a word to change: poll, then yield, then sleep in the kernel (futex(2)).
 *
 * Polling answers in one cache-line hand-over but holds a core; sleeping gives the core to whoever we wait
 * for. How long to poll is the patience of the job: long where each PE has a core of its own, nothing where
 * they share cores. Words may stand in memory shared by processes. */
#ifndef RMAI_WAIT_H
#define RMAI_WAIT_H

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

struct rmai_team;
struct rmai_question;

/* Whom a wait is for. */
enum rmai_awaited {
    RMAI_AWAITED_PE,      /* the PE with this number in the job */
    RMAI_AWAITED_TEAM,    /* the other PEs of a team */
    RMAI_AWAITED_NODE,    /* the other PEs of this node */
    RMAI_AWAITED_LEADERS, /* the first PE of each other node */
    RMAI_AWAITED_ANY,     /* whichever PE ends it: none has to */
    RMAI_AWAITED_ALIVE    /* the same, where a dead neighbour is seen to otherwise */
};

/* Bytes of the name of a call in which a PE waits, with the 0 at its end: longer ones are cut. */
#define RMAI_WAITING_TEXT 64

/* A wait that may last, as runtime/stall knows it. Who waits fills in the first six fields and leaves the others 0. */
struct rmai_stall {
    const char *call; /* the public call */
    enum rmai_awaited awaited;
    int pe;                          /* of RMAI_AWAITED_PE */
    const struct rmai_team *team;    /* of RMAI_AWAITED_TEAM */
    const struct rmai_team *meeting; /* the team whose PEs meet in this wait, or NULL: PEs that meet in different teams
                                        wait for each other */
    int in_line;                     /* those who are in the same call are named, too: they may wait for this PE */
    double last;                     /* rmai_wtime at the last look; 0 before the first one */
    double waited;                   /* seconds, of those in which this PE itself ran */
    double next;                     /* when there is something to do again; this and what follows count by `waited` */
    double say;                      /* when those who answer are named again */
    double probe;                    /* when neighbours are looked at again */
    int suspect;                     /* 1 + the PE that seems to be dead, or 0, */
    double suspected;                /* and since when */
    struct rmai_question *asked;     /* n of them, or NULL */
    int n;
};

/* rmai_stall_counted: how many of the seconds between two looks count. Looks follow each other closely: in what is
 * longer this PE did not run. */
static inline double rmai_stall_counted(double seconds) { return seconds < 0.2 ? seconds : 0.2; }

struct rmai_patience {
    unsigned polls;  /* looks at the word before the first yield, at most */
    unsigned yields; /* calls of sched_yield, one look after each, before sleeping */
    int (*progress)(
        void *context); /* or NULL: what a waiting PE does for others; returns 0 if there was nothing to do */
    void *context;
    long nap; /* with progress: nanoseconds of sleep between its turns, at most */
    _Atomic uint32_t
        *doze; /* with progress, or NULL: not 0 while a thread sleeps between its turns; rmai_rouse_dozer ends that */
    void *_Atomic *slept_on; /* with progress, or NULL: the word on which a thread sleeps between its turns */
    /* Or NULL: how many polls are made at present. They become few where polling keeps the PE that is waited for from
     * running (base/wait.c). */
    _Atomic unsigned *polls_now;
    /* Both or none: looks after a wait at each of its rests, and is told that a wait it has looked after is over. */
    void (*late)(void *context, struct rmai_stall *stall);
    void (*late_no_more)(void *context, struct rmai_stall *stall);
};

/* A word that is waited for, with those who sleep on it. Only wait and wake functions touch `sleepers`. */
struct rmai_event {
    _Atomic uint32_t value;
    _Atomic uint32_t sleepers;
};

/* rmai_reached: whether a number that counts up, and wraps, has come to `turn`. They are within 2^31 of each other. */
static inline int rmai_reached(uint32_t value, uint32_t turn) { return (int32_t)(value - turn) >= 0; }

/* rmai_look returns the value of e, by an acquire load, once it has reached `turn`, or what it is after so many looks
 * more. It does not rest between them: for who is about to be told, and tells others that it may sleep only if it is
 * not. */
#define RMAI_LOOKS 1000 /* some microseconds */
static inline uint32_t rmai_look(struct rmai_event *e, uint32_t turn, int more) {
    uint32_t value = atomic_load_explicit(&e->value, memory_order_acquire);
    while (!rmai_reached(value, turn) && more-- > 0) value = atomic_load_explicit(&e->value, memory_order_acquire);
    return value;
}

/* rmai_wait returns the value of e, by an acquire load, once it is not `old`. May return early never: a
 * spurious wake-up of the kernel is looked at again here. */
uint32_t rmai_wait(struct rmai_event *e, uint32_t old, const struct rmai_patience *patience);

/* rmai_wait_watched: the same, and patience->late looks after the wait, which `stall` describes, at each rest. Call it
 * as often as the wait needs, then rmai_wait_over. */
uint32_t rmai_wait_watched(struct rmai_event *e, uint32_t old, const struct rmai_patience *patience,
                           struct rmai_stall *stall);
static inline void rmai_wait_over(const struct rmai_patience *patience, struct rmai_stall *stall) {
    if (stall->last > 0) patience->late_no_more(patience->context, stall);
}

/* rmai_wait_a_while: as rmai_wait, but sleeps for a millisecond at most, and then returns what there is: for who has to
 * look whether the one that it waits for is still alive. */
uint32_t rmai_wait_a_while(struct rmai_event *e, uint32_t old, const struct rmai_patience *patience);

/* rmai_wake wakes all who sleep on e. Called after storing a new value; with nobody asleep it costs a load. Who goes to
 * sleep in the very moment of the store may be missed, and wakes by itself within a millisecond, unless the caller puts
 * a sequentially consistent fence before the call. */
void rmai_wake(struct rmai_event *e);

/* Waiting for what no event tells, such as a word of the program that others store to: a turn of it, between two looks.
 * Start from {0}. */
struct rmai_backoff {
    unsigned looks, yields; /* polls made, and yields to come */
    int out_of_polls;
    uint64_t gave_up;         /* when they ran out, where polls adapt; else 0 */
    long nap;                 /* nanoseconds */
    unsigned turns;           /* of progress in which there was something to do */
    struct rmai_stall *stall; /* or NULL: patience->late looks after this wait at each rest; rmai_wait_over ends it */
};

/* rmai_polls: how many looks a wait makes at present before it yields or sleeps. */
static inline unsigned rmai_polls(const struct rmai_patience *patience) {
    return patience->polls_now ? atomic_load_explicit(patience->polls_now, memory_order_relaxed) : patience->polls;
}

/* rmai_backoff_turn polls, yields or sleeps, by how long it has lasted; drives progress as the patience says. */
void rmai_backoff_turn(struct rmai_backoff *l, const struct rmai_patience *patience);

/* rmai_backoff_over: what was waited for has come. */
void rmai_backoff_over(const struct rmai_backoff *l, const struct rmai_patience *patience);

/* rmai_sleep_on sleeps until word is not `old`, somebody calls rmai_rouse, or `most` nanoseconds have passed. Meanwhile
 * *told, if told is not NULL, is the word. */
void rmai_sleep_on(_Atomic uint32_t *word, uint32_t old, long most, void *_Atomic *told);
void rmai_rouse(_Atomic uint32_t *word);

/* rmai_doze sleeps for `nap` nanoseconds at most, or until rmai_rouse_dozer, which costs a load where nobody dozes. */
void rmai_doze(_Atomic uint32_t *doze, long nap);
void rmai_rouse_dozer(_Atomic uint32_t *doze);

/* rmai_ticks: a clock that is read in a few nanoseconds; a million ticks are between half a millisecond and some ten.
 */
static inline uint64_t rmai_ticks(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
#endif
}

/* rmai_pause: tell the core that this is a polling loop. */
static inline void rmai_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
