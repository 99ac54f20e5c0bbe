/* SPDX-License-Identifier: BSD-3-Clause */
/* What orders the threads of an OpenMP program: regions, tasks, barriers. gomp.c and ompt.c observe the two runtimes,
 * gcc's and LLVM's, and call these functions.
 *
 * A thread has one clock for all tasks that it runs. So two unordered tasks, sections or iterations count as ordered if
 * the same thread has run them: such a race is found only in runs in which two threads run them (race_meet). Wherever
 * these functions assume more order than a construct gives, they may miss a race, but invent none.
 *
 * Functions accept NULL for a region or a task that is not tracked. Each call is about an action of the calling
 * thread. */
#ifndef RACE_OPENMP_H
#define RACE_OPENMP_H

#include <stddef.h>

/* A parallel region. race_region_begin: called by the thread that meets it; returns NULL if detection is off.
 * race_region_end: called by the same thread, when all threads of the region have told that they are at its end. */
struct race_region;
struct race_region *race_region_begin(void);
void race_region_end(struct race_region *r);

/* race_implicit_begin: the thread begins its part of the region. A new thread of the runtime becomes one of the
 * program's. race_implicit_end: that part has ended; the region may be gone. race_region_leave: the thread is at the
 * end of the region, without a barrier there. */
struct race_task;
struct race_task *race_implicit_begin(struct race_region *r);
void race_implicit_end(struct race_task *t);
void race_region_leave(struct race_task *t);

/* Barriers of all threads of a region. */
void race_barrier_enter(struct race_task *t);
void race_barrier_leave(struct race_task *t);
/* Reductions: a thread adds another's value, in a barrier or one thread after the other. */
void race_reduction_begin(struct race_task *t);
void race_reduction_end(struct race_task *t);

/* The ordered parts of a loop, which run one after the other (with and without depend). */
void race_ordered_begin(struct race_task *t);
void race_ordered_end(struct race_task *t);

/* race_task_new: the task `parent` creates a task, which begins later. race_task_made: everything that the calling
 * thread has done so far also comes before it. race_task_depends: a dependence, told before the task begins.
 * race_task_start: a thread begins the task. race_task_done: the thread has ended it; told before other threads may
 * continue because of that. race_task_release: nobody uses it any more. A loop whose parts are one task here starts and
 * ends it several times. */
enum race_depend {
    RACE_DEPEND_IN,
    RACE_DEPEND_OUT, /* also inout and mutexinoutset */
    RACE_DEPEND_SET, /* inoutset: not ordered among themselves */
    RACE_DEPEND_ALL  /* inout of all memory: the address is ignored */
};
struct race_task *race_task_new(struct race_task *parent);
void race_task_made(struct race_task *t);
void race_task_depends(struct race_task *t, const void *address, enum race_depend kind);
void race_task_start(struct race_task *t);
void race_task_done(struct race_task *t);
void race_task_release(struct race_task *t);

/* race_task_keep: the task is to be released at the region's end. */
void race_task_keep(struct race_task *t);

/* race_taskwait: t has waited for the tasks that it created. race_depend_wait: the thread has waited for the tasks on
 * which t, which never runs, depends. A group has the tasks that t creates from then on, and the tasks that these
 * create. race_group_wait: t has waited for them. */
void race_taskwait(struct race_task *t);
void race_depend_wait(struct race_task *t);
void race_group_begin(struct race_task *t);
void race_group_wait(struct race_task *t);
void race_group_end(struct race_task *t);

/* race_meet: before the thread takes its next part of a loop or of sections, or begins a task: gives another thread of
 * the region the time to come, so that short parts are not all run by one thread. Of each two threads that come, one
 * waits for the other, at most 0.1 s, and at most 1 s in a process. It orders nothing. */
void race_meet(const struct race_task *t);

/* race_event_fulfilled: told before an event completes a task with the clause detach. */
void race_event_fulfilled(void);

#endif
