/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for a word to change: poll, then yield, then sleep in the kernel (futex(2)).
 *
 * Polling sees a change after one transfer of a cache line, but occupies a processor. Sleeping leaves the processor to
 * the awaited PE. struct rmai_patience says how long a wait polls: long if each PE has its own processor; if PEs share
 * processors, only while those that want to run have one each (base/crowd.h). The words may be in memory that processes
 * share. */
#ifndef RMAI_WAIT_H
#define RMAI_WAIT_H

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#include "base/attributes.h"

struct rmai_crowd;
struct rmai_question;
struct rmai_team;

/* Which PEs can end a wait. */
enum rmai_awaited {
    RMAI_AWAITED_PE,      /* the PE with this number in the job */
    RMAI_AWAITED_TEAM,    /* the other PEs of a team */
    RMAI_AWAITED_NODE,    /* the other PEs of this node */
    RMAI_AWAITED_LEADERS, /* the first PE of each other node */
    RMAI_AWAITED_ANY,     /* any PE may end it, and none has to */
    RMAI_AWAITED_ALIVE,   /* the same, but a dead neighbour is noticed in another way */
    RMAI_AWAITED_TESTED   /* any PE may end it, and none has to; PEs that answer are not reported: a loop of tests */
};

/* Bytes of the name of a call in which a PE waits, and of what it waits for, each with the final 0: longer texts are
 * cut. */
#define RMAI_WAITING_TEXT   64
#define RMAI_WAITING_DETAIL 96
#define RMAI_WAITING_PLACE  96

/* What a PE tells other PEs of a wait that lasts. */
struct rmai_sign {
    char in[RMAI_WAITING_TEXT];      /* the public call, or "": this PE does not wait */
    char place[RMAI_WAITING_PLACE];  /* of the call in the program: "at halo.c:71, in exchange", or "" */
    char until[RMAI_WAITING_DETAIL]; /* what has to happen, or "" */
    uint64_t wait;                   /* how many waits of this PE have lasted */
    uint64_t rests;                  /* how often this wait has checked, in vain, whether it is over */
    uint64_t stuck;                  /* 1: nothing but a call of another PE can end it */
};

/* A wait that may last, as runtime/watch/stall knows it. The PE that waits fills in the fields up to
 * `described` and leaves the others 0. */
struct rmai_stall {
    const char *call; /* the public call */
    enum rmai_awaited awaited;
    int pe;                          /* of RMAI_AWAITED_PE */
    const struct rmai_team *team;    /* of RMAI_AWAITED_TEAM */
    const struct rmai_team *meeting; /* the team whose PEs meet in this wait, or NULL: PEs that meet in different teams
                                        wait for each other */
    int in_line;                     /* 1: PEs in the same call are also named, since they may be waiting for this PE */
    int by_call; /* 1: a call of another PE has to end it, and no thread of the library that works by itself */
    void (*describe)(const void *described, char text[RMAI_WAITING_DETAIL]); /* writes what it waits for; or NULL */
    const void *described;
    double last;                 /* rmai_wtime at the last check; 0 before the first one */
    double waited;               /* seconds, not counting those in which this PE itself did not run */
    double next;                 /* when the next check is due; this and the times that follow are values of `waited` */
    double say;                  /* when the PEs that answer are reported again */
    double probe;                /* when the neighbours are probed again */
    int suspect;                 /* 1 + the PE that seems to be dead, or 0 */
    double suspected;            /* since when that PE has seemed dead */
    struct rmai_question *asked; /* the n questions under way, or NULL */
    int n;
    uint64_t rests;
    int rounds;  /* finished rounds of questions; in odd rounds all PEs are asked (runtime/watch/stall.c) */
    char *place; /* as in its sign; NULL: not asked yet */
    int alone;   /* 1: this process has no other thread of the program; -1: it may have; 0: not asked yet */
};

/* rmai_stall_counted: how many of the seconds between two checks of a wait count as waited. Checks follow each other
 * closely: a longer interval means that this PE did not run. */
static inline double rmai_stall_counted(double seconds) { return seconds < 0.2 ? seconds : 0.2; }

struct rmai_patience {
    unsigned polls; /* most polls of the word before the first yield */
    unsigned
        yields; /* calls of sched_yield before sleeping, with one poll after each; in a crowd it decides how many */
    /* or NULL: serves other PEs during the wait; returns 0 if there was nothing to do */
    int (*progress)(void *context);
    void *context;
    long nap;                /* with progress: longest sleep between two calls of progress, in nanoseconds */
    struct rmai_event *doze; /* with progress, or NULL: threads sleep on it between two calls of progress;
                                rmai_rouse_dozers ends these sleeps */
    void *_Atomic *slept_on; /* with progress, or NULL: the word on which a thread sleeps between calls of progress */
    /* Or NULL. PEs outnumber processors: a wait whose polls have run out polls on as long as the crowd lets it. */
    struct rmai_crowd *crowd;
    /* Or NULL: how many polls a wait makes at present. The number falls while polling keeps the awaited PE from running
     * (base/wait.c). */
    _Atomic unsigned *polls_now;
    /* Both are set, or both are NULL. `late` is called at each rest of a wait, which `stall` describes; `late_no_more`
     * is called at the end of a wait that `late` has checked. */
    void (*late)(void *context, struct rmai_stall *stall);
    void (*late_no_more)(void *context, struct rmai_stall *stall);
};

/* A word on which threads wait, and the number of threads that may sleep on it. Only this module touches `sleepers`. */
struct rmai_event {
    _Atomic uint32_t value;
    _Atomic uint32_t sleepers;
};

/* rmai_reached: whether `value`, a counter that wraps, has reached `turn`. The two must be within 2^31 of each
 * other. */
static inline int rmai_reached(uint32_t value, uint32_t turn) { return (int32_t)(value - turn) >= 0; }

/* rmai_poll_event polls until the value of e has reached `turn`, at most 1 + more times, and returns the last value
 * (acquire load). It neither yields nor sleeps between the polls. It is for a PE that expects the event soon: only if
 * the event does not come in this time, the PE tells the other PE that it may sleep. */
#define RMAI_EVENT_POLLS 1000 /* some microseconds */
static inline uint32_t rmai_poll_event(struct rmai_event *e, uint32_t turn, int more) {
    uint32_t value = atomic_load_explicit(&e->value, memory_order_acquire);
    while (!rmai_reached(value, turn) && more-- > 0) value = atomic_load_explicit(&e->value, memory_order_acquire);
    return value;
}

/* rmai_wait waits until the value of e is not `old`, and returns the new value (acquire load). It never returns early:
 * after a spurious wake-up of the kernel it reads the value again. */
uint32_t rmai_wait(struct rmai_event *e, uint32_t old, const struct rmai_patience *patience);

/* rmai_wait_watched: the same, but at each rest patience->late checks the wait, which `stall` describes. Call it as
 * often as needed, then rmai_wait_over. */
uint32_t rmai_wait_watched(struct rmai_event *e, uint32_t old, const struct rmai_patience *patience,
                           struct rmai_stall *stall);
static inline void rmai_wait_over(const struct rmai_patience *patience, struct rmai_stall *stall) {
    if (stall->last > 0) patience->late_no_more(patience->context, stall);
}

/* rmai_wait_a_while: as rmai_wait, but it sleeps for at most a millisecond and then returns the value that it finds:
 * for a PE that must check now and then whether the awaited PE is alive. */
uint32_t rmai_wait_a_while(struct rmai_event *e, uint32_t old, const struct rmai_patience *patience);

/* rmai_wake wakes all threads that sleep on e. Call it after storing a new value; if nobody sleeps it costs one load.
 * It may miss a thread that goes to sleep at the moment of the store; that thread wakes by itself within a millisecond.
 * A sequentially consistent fence between the store and this call makes sure that no thread is missed. */
void rmai_wake(struct rmai_event *e);

/* Waiting without an event, for example for a word of the program to which other PEs store. The caller alternately
 * reads the word and calls rmai_backoff_turn. Start from {0}. */
struct rmai_backoff {
    unsigned polls, most; /* polls made, and up to how many may be made now */
    unsigned yields;      /* that are left */
    int again;            /* how often it has polled anew instead of a nap */
    int out_of_polls;
    uint64_t gave_up;         /* when the polls ran out, if their number adapts; else 0 */
    long nap;                 /* nanoseconds */
    unsigned turns;           /* calls of progress that had something to do */
    struct rmai_stall *stall; /* or NULL: what patience->late checks at each rest; rmai_wait_over ends it */
};

/* rmai_polls: how many polls a wait makes at present before it yields or sleeps. */
static inline unsigned rmai_polls(const struct rmai_patience *patience) {
    return patience->polls_now ? atomic_load_explicit(patience->polls_now, memory_order_relaxed) : patience->polls;
}

/* rmai_backoff_turn polls, yields or sleeps, depending on how long the wait has lasted, and drives progress as the
 * patience says. */
void rmai_backoff_turn(struct rmai_backoff *b, const struct rmai_patience *patience);

/* rmai_backoff_over ends a wait whose value has come, and adapts the number of polls. */
void rmai_backoff_over(const struct rmai_backoff *b, const struct rmai_patience *patience);

/* rmai_sleep_on sleeps until word is not `old`, another thread calls rmai_rouse for it, or `most` nanoseconds have
 * passed. While it sleeps, *told holds the address of word, if told is not NULL. */
void rmai_sleep_on(_Atomic uint32_t *word, uint32_t old, long most, void *_Atomic *told);
void rmai_rouse(_Atomic uint32_t *word);

/* rmai_doze sleeps for at most `nap` nanoseconds. rmai_rouse_dozers ends the sleeps of all threads that doze on the
 * same event; if there are none it costs one load. */
void rmai_doze(struct rmai_event *doze, long nap);
void rmai_rouse_dozers_(struct rmai_event *doze);
static inline void rmai_rouse_dozers(struct rmai_event *doze) {
    /* No fence: a thread that is missed while it goes to sleep wakes after its nap, which is harmless. */
    if (RMAI_UNLIKELY(atomic_load_explicit(&doze->sleepers, memory_order_relaxed))) rmai_rouse_dozers_(doze);
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
