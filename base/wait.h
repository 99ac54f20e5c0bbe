/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for a word to change: poll, then yield, then sleep in the kernel (futex(2)).
 *
 * Polling sees a change after one transfer of a cache line, but occupies a processor. Sleeping leaves the processor to
 * the PE that is waited for. struct rmai_patience says how long a wait polls: long where each PE has a processor of its
 * own, not at all where PEs share processors. The words may stand in memory that processes share. */
#ifndef RMAI_WAIT_H
#define RMAI_WAIT_H

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

struct rmai_team;
struct rmai_question;

/* Which PEs can end a wait. */
enum rmai_awaited {
    RMAI_AWAITED_PE,      /* the PE with this number in the job */
    RMAI_AWAITED_TEAM,    /* the other PEs of a team */
    RMAI_AWAITED_NODE,    /* the other PEs of this node */
    RMAI_AWAITED_LEADERS, /* the first PE of each other node */
    RMAI_AWAITED_ANY,     /* any PE may end it, and none has to */
    RMAI_AWAITED_ALIVE,   /* the same, where a dead neighbour is noticed in another way */
    RMAI_AWAITED_TESTED   /* any PE of this node may end it, and PEs that answer are not reported: a loop of tests */
};

/* Bytes of the name of a call in which a PE waits, with the 0 at its end: longer ones are cut. */
#define RMAI_WAITING_TEXT 64

/* A wait that may last, as runtime/watch/stall knows it. The PE that waits fills in the first six fields and leaves the
 * others 0. */
struct rmai_stall {
    const char *call; /* the public call */
    enum rmai_awaited awaited;
    int pe;                          /* of RMAI_AWAITED_PE */
    const struct rmai_team *team;    /* of RMAI_AWAITED_TEAM */
    const struct rmai_team *meeting; /* the team whose PEs meet in this wait, or NULL: PEs that meet in different teams
                                        wait for each other */
    int in_line;   /* 1: PEs that are in the same call are named too, since they may be waiting for this PE */
    double last;   /* rmai_wtime at the last check; 0 before the first one */
    double waited; /* seconds, without those in which this PE itself did not run */
    double next;   /* when a check has something to do again; this and the times that follow are values of `waited` */
    double say;    /* when the PEs that answer are named again */
    double probe;  /* when the neighbours are probed again */
    int suspect;   /* 1 + the PE that seems to be dead, or 0, */
    double suspected;            /* and since when it seems so */
    struct rmai_question *asked; /* the n questions that are under way, or NULL */
    int n;
    int rounds; /* of questions that all PEs asked have answered; in odd ones all PEs are asked (runtime/watch/stall.c)
                 */
    double stuck; /* since when nobody can end this wait, at the end of the process; 0: somebody can */
};

/* rmai_stall_counted: how many of the seconds between two checks of a wait count as waited. Checks follow each other
 * closely: in a longer interval this PE did not run. */
static inline double rmai_stall_counted(double seconds) { return seconds < 0.2 ? seconds : 0.2; }

struct rmai_patience {
    unsigned polls;  /* polls of the word before the first yield, at most */
    unsigned yields; /* calls of sched_yield before sleeping, with one poll after each */
    /* or NULL: what a waiting PE does for others; returns 0 if there was nothing to do */
    int (*progress)(void *context);
    void *context;
    long nap;                /* with progress: nanoseconds of sleep between two calls of it, at most */
    struct rmai_event *doze; /* with progress, or NULL: threads sleep on it between two calls of it; rmai_rouse_dozers
                                ends these sleeps */
    void *_Atomic *slept_on; /* with progress, or NULL: the word on which a thread sleeps between two calls of it */
    /* Or NULL: how many polls a wait makes at present. The number falls where polling keeps the PE that is waited for
     * from running (base/wait.c). */
    _Atomic unsigned *polls_now;
    /* Both are set, or both are NULL. `late` checks a wait that `stall` describes at each of its rests; `late_no_more`
     * is told that a wait which `late` has checked is over. */
    void (*late)(void *context, struct rmai_stall *stall);
    void (*late_no_more)(void *context, struct rmai_stall *stall);
};

/* A word that is waited for, and the number of threads that may sleep on it. Only the functions of
 * this module touch `sleepers`. */
struct rmai_event {
    _Atomic uint32_t value;
    _Atomic uint32_t sleepers;
};

/* rmai_reached: whether `value`, a number that counts up and wraps, has come to `turn`. The two must be within 2^31 of
 * each other. */
static inline int rmai_reached(uint32_t value, uint32_t turn) { return (int32_t)(value - turn) >= 0; }

/* rmai_look polls until the value of e has reached `turn`, or `more` times after the first, and returns the last value
 * (acquire load). It neither yields nor sleeps between the polls. It is for a PE that expects the event soon, and that
 * announces to the other PE that it may sleep only if the event does not come in this time. */
#define RMAI_LOOKS 1000 /* some microseconds */
static inline uint32_t rmai_look(struct rmai_event *e, uint32_t turn, int more) {
    uint32_t value = atomic_load_explicit(&e->value, memory_order_acquire);
    while (!rmai_reached(value, turn) && more-- > 0) value = atomic_load_explicit(&e->value, memory_order_acquire);
    return value;
}

/* rmai_wait waits until the value of e is not `old`, and returns the new value (acquire load). It never returns early:
 * after a spurious wake-up of the kernel it reads the value again. */
uint32_t rmai_wait(struct rmai_event *e, uint32_t old, const struct rmai_patience *patience);

/* rmai_wait_watched: the same, and at each rest patience->late checks the wait, which `stall` describes. Call it as
 * often as the wait needs, then rmai_wait_over. */
uint32_t rmai_wait_watched(struct rmai_event *e, uint32_t old, const struct rmai_patience *patience,
                           struct rmai_stall *stall);
static inline void rmai_wait_over(const struct rmai_patience *patience, struct rmai_stall *stall) {
    if (stall->last > 0) patience->late_no_more(patience->context, stall);
}

/* rmai_wait_a_while: as rmai_wait, but it sleeps for a millisecond at most and then returns the value that it finds:
 * for a PE that must check in between whether the PE that it waits for is still alive. */
uint32_t rmai_wait_a_while(struct rmai_event *e, uint32_t old, const struct rmai_patience *patience);

/* rmai_wake wakes all threads that sleep on e. Call it after storing a new value; where nobody sleeps it costs a load.
 * A thread that goes to sleep in the very moment of the store may be missed, and then wakes by itself within a
 * millisecond. A sequentially consistent fence between the store and this call makes sure that no thread is missed. */
void rmai_wake(struct rmai_event *e);

/* Waiting for what no event announces, such as a word of the program that other PEs store to. The caller reads the word
 * and calls rmai_backoff_turn in turns. Start from {0}. */
struct rmai_backoff {
    unsigned looks, yields; /* polls made, and yields left */
    int out_of_polls;
    uint64_t gave_up;         /* when the polls ran out, where their number adapts; else 0 */
    long nap;                 /* nanoseconds */
    unsigned turns;           /* calls of progress in which there was something to do */
    struct rmai_stall *stall; /* or NULL: what patience->late checks at each rest; rmai_wait_over ends it */
};

/* rmai_polls: how many polls a wait makes at present before it yields or sleeps. */
static inline unsigned rmai_polls(const struct rmai_patience *patience) {
    return patience->polls_now ? atomic_load_explicit(patience->polls_now, memory_order_relaxed) : patience->polls;
}

/* rmai_backoff_turn polls, yields or sleeps, by how long the wait has lasted, and drives progress as the patience says.
 */
void rmai_backoff_turn(struct rmai_backoff *l, const struct rmai_patience *patience);

/* rmai_backoff_over: what the caller waited for has come. It adapts the number of polls. */
void rmai_backoff_over(const struct rmai_backoff *l, const struct rmai_patience *patience);

/* rmai_sleep_on sleeps until word is not `old`, another thread calls rmai_rouse for it, or `most` nanoseconds have
 * passed. While it sleeps, *told holds the address of word, if told is not NULL. */
void rmai_sleep_on(_Atomic uint32_t *word, uint32_t old, long most, void *_Atomic *told);
void rmai_rouse(_Atomic uint32_t *word);

/* rmai_doze sleeps for `nap` nanoseconds at most. rmai_rouse_dozers ends the sleeps of all threads that doze on the
 * same event, and costs a load where none does. */
void rmai_doze(struct rmai_event *doze, long nap);
void rmai_rouse_dozers(struct rmai_event *doze);

/* rmai_ticks reads a clock, in a few nanoseconds. A million ticks take between a quarter of a millisecond and one.
 * The counter of an Arm may run with as little as 20 MHz: it is scaled by a power of 2 to between 1 and 2 GHz. */
static inline uint64_t rmai_ticks(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks, hertz;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    __asm__("mrs %0, cntfrq_el0" : "=r"(hertz)); /* always the same */
    const int leading = __builtin_clz((uint32_t)hertz | 1);
    return ticks << (leading > 1 ? leading - 1 : 0);
#else
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
#endif
}

/* rmai_pause tells the processor that this is a polling loop. */
static inline void rmai_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
