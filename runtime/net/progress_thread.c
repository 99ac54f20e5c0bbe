/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/progress_thread.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/process.h"
#include "runtime/net/progress.h"
#include "runtime/net/state.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define POLLS_FEW   25     /* polls for the next message after one has arrived, */
#define POLLS_MANY  100    /* and if the last visit received several: then they follow each other within microseconds */
#define STEP_LEAST  10000  /* nanoseconds between polls right after a message; the kernel adds some 15 us, */
#define STEP_MOST   250000 /* some milliseconds later, */
#define STEP_QUIET  2500000   /* and QUIET_AFTER it: a wake-up costs the computation up to 17 us */
#define QUIET_AFTER 100000000 /* nanoseconds */
#define STEP_PART   16        /* the step is 1/STEP_PART of the time since the last message */

static long nanoseconds_since(double then) {
    const double since = (rmai_wtime() - then) * 1e9;
    return since < QUIET_AFTER ? (long)since : QUIET_AFTER;
}

/* Nanoseconds until the next poll, `since` nanoseconds after the last message. The step is a small part of that time:
 * so a PE that sends a message after a pause waits only for a small part of the pause, and the longer no message
 * arrives, the more rarely the thread wakes up. */
static long step_after(long since) {
    const long step = since / STEP_PART;
    if (since >= QUIET_AFTER) return STEP_QUIET;
    return step < STEP_LEAST ? STEP_LEAST : step > STEP_MOST ? STEP_MOST : step;
}

/* Returns the number of messages received. *polls: how long it polls for a further one; the caller keeps the number.
 *
 * A program that polls its memory by loads shares its processor with this thread, and answers only while the thread
 * sleeps. A thread that polls for long then uses more than its share of the processor, and the kernel no longer lets it
 * run when it wakes up, but some milliseconds later (EEVDF): so it polls for long only if that has been of use. */
static int serve_others(struct rmai_net *net, int *polls) {
    int heard = 0, more, hits = 0;
    if (!rmai_net_visit(net)) return 0;
    for (int left = 1; left > 0; left--) {
        more = rmai_net_drive(net);
        if (more) left = *polls;
        heard += more;
        hits += more > 0;
        if (atomic_load_explicit(net->biased ? &net->bias.wanted : &net->wanted, memory_order_relaxed)) break;
    }
    rmai_net_end_visit(net);
    if (heard) *polls = hits > 1 ? POLLS_MANY : POLLS_FEW;
    return heard;
}

static void *run_progress_thread(void *context) {
    struct rmai_progress_thread *p = context;
    uint32_t turns = 0, now;
    double heard = -QUIET_AFTER; /* when the last message arrived */
    int polls = POLLS_FEW;
    rmai_thread_wakes_soon();
    while (!atomic_load_explicit(&p->ending, memory_order_relaxed)) {
        nanosleep(&(struct timespec){.tv_nsec = step_after(nanoseconds_since(heard))}, NULL);
        now = atomic_load_explicit(&p->net->turns, memory_order_relaxed);
        if (now != turns) {
            /* A thread of the program drives progress, so this one need not. */
            turns = now;
            continue;
        }
        if (serve_others(p->net, &polls) > 0) heard = rmai_wtime();
        turns = atomic_load_explicit(&p->net->turns, memory_order_relaxed);
    }
    return NULL;
}

int rmai_progress_thread_start(struct rmai_progress_thread *p, struct rmai_net *net, const char *call) {
    int failed;
    if (p->running) return RMA_SUCCESS;
    if (!net->job->mpi_multiple)
        return rmai_error(RMA_ERR_STATE,
                          "%s: there can be no progress thread: MPI was not initialized with MPI_THREAD_MULTIPLE",
                          call);
    p->net = net;
    atomic_store_explicit(&p->ending, 0, memory_order_relaxed);
    failed = rmai_thread(&p->thread, run_progress_thread, p);
    if (failed) return rmai_error(RMA_ERR_SYSTEM, "%s: cannot start the progress thread: %s", call, strerror(failed));
    p->running = 1;
    net->helped = 1;
    return RMA_SUCCESS;
}

void rmai_progress_thread_end(struct rmai_progress_thread *p) {
    if (!p->running) return;
    atomic_store_explicit(&p->ending, 1, memory_order_relaxed);
    pthread_join(p->thread, NULL);
    p->running = 0;
    p->net->helped = 0;
}
