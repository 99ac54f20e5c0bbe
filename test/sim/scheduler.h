/* SPDX-License-Identifier: BSD-3-Clause */
/* Coroutines on virtual time. One thread of the process runs them all, one at a time, each until it waits. A queue of
 * events and a seed decide what happens and when, so a run can be repeated exactly.
 *
 * A time is a number of nanoseconds since the run began. A task may be ahead of the others: the time of its computation
 * since its turn began is added to its own time, and its next turn does not begin before that. */
#ifndef SIM_SCHEDULER_H
#define SIM_SCHEDULER_H

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "base/error.h"

#define SIM_NEVER UINT64_MAX

struct sim_pe;

struct sim_event {
    uint64_t time, order; /* events of one time happen in this order */
    void (*happen)(void *context);
    void *context;
};

struct sim_scheduler {
    uint64_t now;
    uint64_t random; /* state of sim_random */
    uint64_t steps;  /* turns of tasks, and other events */
    uint64_t active; /* when something last happened that is not a task's look at what others may have done */
    uint64_t poll_first, poll_last; /* the shortest and the longest time between two idle polls; 0: the usual one */
    struct sim_event *heap;
    size_t n, room;
    uint64_t order;
    int over;         /* the run ends with the present turn */
    jmp_buf place;    /* of the scheduler, while a task runs */
    void *fake_stack; /* of the address sanitizer, and what it knows of the thread's own stack */
    const void *stack;
    size_t stack_size;
};

/* A coroutine: the program of a PE, or one of the library's threads in it. */
struct sim_task {
    struct sim_scheduler *scheduler;
    struct sim_pe *pe;
    void (*run)(void *context);
    void *run_context;
    ucontext_t context; /* in which it begins, */
    jmp_buf place;      /* and where it continues */
    int entered;        /* it has begun */
    char *stack;
    void *fake_stack;
    uint64_t local;         /* its own time, which may be later than the scheduler's */
    uint64_t due;           /* when its next turn comes; SIM_NEVER: not before it is woken */
    int through;            /* it has returned */
    int held;               /* its turn has come while its PE stood still */
    unsigned idle_polls;    /* one after the other (sim_idle_poll) */
    int polling;            /* it waits between two polls */
    const void *word;       /* or mutex, on which it sleeps, or NULL */
    int overwritten;        /* the network has stored there since */
    struct sim_task *next;  /* of the same PE */
    struct sim_task *other; /* that sleeps on a word or a mutex */
    struct rmai_error_kept error;
};

/* sim_random: the next number of a generator; *state is its seed (splitmix64, Steele, Lea, Flood 2014). */
uint64_t sim_random(uint64_t *state);

/* sim_memory: realloc, which ends the process with a line where there is no memory. */
void *sim_memory(void *old, size_t bytes);

/* sim_at lets something happen at a time from now on. Events of one time happen in the order of these calls. */
void sim_at(struct sim_scheduler *s, uint64_t time, void (*happen)(void *context), void *context);

/* sim_task_begin makes a task, whose first turn comes at the present time, at random among those of that time.
 * sim_task_end frees the stack of one that is through. sim_task_free frees all, when no event is left. */
struct sim_task *sim_task_begin(struct sim_scheduler *s, struct sim_pe *pe, void (*run)(void *), void *context);
void sim_task_end(struct sim_task *t);
void sim_task_free(struct sim_task *t);

/* sim_self: the task whose turn it is, or NULL outside of all tasks. sim_time: its own time. */
struct sim_task *sim_self(void);
uint64_t sim_time(void);

/* For the task whose turn it is; outside of all tasks spending and polling do nothing. sim_spend: it has computed for
 * so long. sim_wait ends the turn; the next one comes after `most`, or when the task is woken. sim_idle_poll: it has
 * looked for something that others do, and will look again: the first idle polls cost nothing, later ones end the turn
 * for longer and longer. sim_poll_over: it has found something, or does something else. sim_stop_here ends the run. */
void sim_spend(uint64_t time);
void sim_wait(uint64_t most);
void sim_idle_poll(void);
void sim_poll_over(void);
_Noreturn void sim_stop_here(void);

/* sim_wake: the task's turn comes at the present time, if it waits. sim_wake_polling: if it waits between two polls. */
void sim_wake(struct sim_task *t);
void sim_wake_polling(struct sim_task *t);

/* sim_schedule lets events happen until there are none, the run is over, or nothing but idle polls has happened for
 * `quiet` nanoseconds, or the time is past `limit`. */
void sim_schedule(struct sim_scheduler *s, uint64_t quiet, uint64_t limit);

/* Asked before each turn, by the network: may this task's PE run? And told whose turn it will be. */
int sim_pe_stands(const struct sim_pe *pe);
void sim_pe_turn(struct sim_pe *pe);

#endif
