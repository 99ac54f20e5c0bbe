/* SPDX-License-Identifier: BSD-3-Clause */
/* How a thread waits if PEs outnumber processors: whether it may poll, and how often it yields before it sleeps.
 *
 * PEs that share processors must not poll while they wait: they would keep others from running. But where most of the
 * PEs sleep or have ended, those that want to run have a processor each, and a PE that exchanges words with another one
 * by sleeps takes a hundred times as long as by polls. The kernel counts the threads of the machine that want to run
 * (proc(5), loadavg). To read that number takes a microsecond. A process reads it after some microseconds of polls; and
 * before it sleeps, if it has not read it for a while. Polls do not help PEs that are bound to
 * the same processor, however many there are: a wait whose polls do not suffice makes the next ones poll less.
 *
 * Where PEs share a processor, one that yields lets the next one run, and after a few yields all may have come to where
 * they meet: then none sleeps. But some kernels (Linux 6.6 and later) let sched_yield return to the same thread. So a
 * wait that ends while it yields raises the number of yields, and one that has to sleep after its yields lowers it. */
#ifndef RMAI_CROWD_H
#define RMAI_CROWD_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

/* Threads that wait at the same time may overwrite each other's values of what is atomic. The worst is that one of them
 * sleeps although it could poll. */
struct rmai_crowd {
    int file;                /* /proc/loadavg, open; -1: it cannot be read, and nobody polls */
    dev_t device;            /* of the file, */
    ino_t inode;             /* by which it is known: the program may have closed it */
    int processors;          /* that the PEs of the node may use */
    unsigned polls;          /* most polls of one wait; 0: this crowd is not open */
    _Atomic unsigned budget; /* most polls of one wait at present */
    _Atomic int room;        /* 1: at the last reading, threads did not outnumber processors */
    _Atomic uint64_t due;    /* if there was no room: rmai_clock_ticks of the next reading, */
    _Atomic uint32_t gap;    /* and the ticks between the last one and that */
    _Atomic unsigned yields; /* of a wait before it sleeps */
};

/* rmai_crowd_open: the PEs of the node, which share `processors`, may each make up to `polls` polls in a wait while
 * there is room. rmai_crowd_close ends that, and does nothing to a zeroed crowd. */
void rmai_crowd_open(struct rmai_crowd *c, int processors, unsigned polls);
void rmai_crowd_close(struct rmai_crowd *c);

/* rmai_crowd_polls: a wait has made `polled` polls. Returns the number of polls at which it calls this again; `polled`
 * if it has to yield now. */
unsigned rmai_crowd_polls(struct rmai_crowd *c, unsigned polled);

/* rmai_crowd_yields: how often a wait yields before it sleeps. rmai_crowd_yielded: a wait has yielded; ended: 1 if that
 * was enough. */
unsigned rmai_crowd_yields(const struct rmai_crowd *c);
void rmai_crowd_yielded(struct rmai_crowd *c, int ended);

/* rmai_crowd_thins: a wait is about to sleep. Returns 1 if there was no room and now there is: the wait polls again. */
int rmai_crowd_thins(struct rmai_crowd *c);

#endif
