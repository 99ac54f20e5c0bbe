/* SPDX-License-Identifier: BSD-3-Clause */
/* How a thread waits if PEs outnumber processors: whether it may poll, and how often it yields before it sleeps.
 *
 * PEs that share processors must not poll while they wait: they would keep others from running. But where most of the
 * PEs sleep or have ended, those that want to run have a processor each, and a PE that exchanges words with another one
 * by sleeps takes a hundred times as long as by polls. The kernel knows how many threads want to run (proc(5),
 * loadavg). Asking takes a microsecond: a process asks after some microseconds of polls, and before it sleeps, if it
 * has not asked for a while.
 *
 * Where PEs share a processor, one that yields lets the next one run, and after a few yields all may have come to where
 * they meet: then none sleeps. But some kernels (Linux 6.6 and later) let sched_yield return to the same thread. So
 * waits that end while they yield raise the number of yields, and others lower it. */
#ifndef RMAI_CROWD_H
#define RMAI_CROWD_H

#include <stdatomic.h>
#include <stdint.h>

struct rmai_crowd {
    int file;       /* where the kernel tells; -1: it does not, and nobody polls */
    int processors; /* that the PEs of the node may use */
    unsigned polls; /* most polls of one wait */
    /* Threads that wait at the same time may overwrite each other's answers: then one more asks, or sleeps. */
    _Atomic int room;     /* the last answer: 1 if threads do not outnumber processors */
    _Atomic uint64_t due; /* rmai_clock_ticks: after 0, when to ask again, */
    _Atomic uint32_t gap; /* and how long after the last time */
    _Atomic unsigned yields;
};

/* rmai_crowd_open: the PEs of the node, which share `processors`, may each make up to `polls` polls in a wait while
 * there is room. rmai_crowd_close ends that; it may be called for a zeroed crowd, too. */
void rmai_crowd_open(struct rmai_crowd *c, int processors, unsigned polls);
void rmai_crowd_close(struct rmai_crowd *c);

/* rmai_crowd_polls: a wait has made `polled` polls. Returns how many it may have made before it calls this again;
 * `polled` if it has to yield. */
unsigned rmai_crowd_polls(struct rmai_crowd *c, unsigned polled);

/* rmai_crowd_yields: how often a wait yields before it sleeps. rmai_crowd_yielded: a wait has yielded; ended: 1 if that
 * was enough. */
unsigned rmai_crowd_yields(const struct rmai_crowd *c);
void rmai_crowd_yielded(struct rmai_crowd *c, int ended);

/* rmai_crowd_thins: a wait is about to sleep. Returns 1 if there was no room and now there is: the wait polls again. */
int rmai_crowd_thins(struct rmai_crowd *c);

#endif
