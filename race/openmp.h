/* SPDX-License-Identifier: BSD-3-Clause */
/* What orders the threads of an OpenMP program: regions, tasks, barriers. gomp.c and ompt.c take what happens from the
 * two runtimes, gcc's and LLVM's, and tell it here.
 *
 * A thread has one clock for all tasks that it runs. So two tasks that nothing orders are ordered here if the same
 * thread has run them: such a race is found in runs in which two threads take them. Wherever the functions know more
 * than a construct orders, a race may be missed, and none is made up.
 *
 * Functions take NULL for a region or a task that is not looked at. The calling thread is the one that does what is
 * told. */
#ifndef RACE_OPENMP_H
#define RACE_OPENMP_H

#include <stddef.h>

/* A parallel region. race_region_begin: by the thread that meets it; NULL if races are not looked for.
 * race_region_end: by the same thread, when all threads of the region have told that they are at its end. */
struct race_region;
struct race_region *race_region_begin(void);
void race_region_end(struct race_region *r);

/* race_implicit_begin: the thread begins its part of the region. A thread of the runtime's that is new becomes one of
 * the program's. race_implicit_end: it has ended; the region may be gone. race_region_leave: the thread is at the end
 * of the region, and does not tell so by a barrier. */
struct race_task;
struct race_task *race_implicit_begin(struct race_region *r);
void race_implicit_end(struct race_task *t);
void race_region_leave(struct race_task *t);

/* Barriers of all threads of a region. */
void race_barrier_enter(struct race_task *t);
void race_barrier_leave(struct race_task *t);
/* Reductions: a thread adds what another one has, in a barrier or one thread after the other. */
void race_reduction_begin(struct race_task *t);
void race_reduction_end(struct race_task *t);

/* The parts of a loop that come one after the other (ordered, with and without depend). */
void race_ordered_begin(struct race_task *t);
void race_ordered_end(struct race_task *t);

/* race_task_new: the task `parent` makes a task, which begins later. race_task_made: what the calling thread has done
 * until now comes before it, too. race_task_depends: before it begins, what it depends on. race_task_start: a thread
 * begins it. race_task_done: the thread has ended it, before others may go on because of that. race_task_release:
 * nobody names it any more. A loop whose parts are one task here starts and ends it several times. */
enum race_depend {
    RACE_DEPEND_IN,
    RACE_DEPEND_OUT, /* inout and mutexinoutset as well */
    RACE_DEPEND_SET, /* inoutset: not ordered among themselves */
    RACE_DEPEND_ALL  /* inout of all memory: the address does not count */
};
struct race_task *race_task_new(struct race_task *parent);
void race_task_made(struct race_task *t);
void race_task_depends(struct race_task *t, const void *address, enum race_depend kind);
void race_task_start(struct race_task *t);
void race_task_done(struct race_task *t);
void race_task_release(struct race_task *t);

/* race_task_keep: it is released at the region's end. */
void race_task_keep(struct race_task *t);

/* race_taskwait: t has waited for the tasks that it made; race_depend_wait: for those that t, which never runs, depends
 * on. Groups: of the tasks that t makes from then on, and of those that these make. race_group_wait: t has waited for
 * them. */
void race_taskwait(struct race_task *t);
void race_depend_wait(struct race_task *t);
void race_group_begin(struct race_task *t);
void race_group_wait(struct race_task *t);
void race_group_end(struct race_task *t);

/* race_event_fulfilled: before a task with the clause detach may complete by it. */
void race_event_fulfilled(void);

#endif
