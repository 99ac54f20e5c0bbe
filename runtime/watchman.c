/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/watchman.h"
#include "base/error.h"
#include "base/process.h"
#include "runtime/world.h"

#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#define POLLS_BUSY 100    /* looks for the next message after one has come: an origin that goes on is back within microseconds */
#define STEP_BUSY 2000    /* nanoseconds between looks while messages come; the kernel adds some 20 us */
#define STEP_IDLE 250000  /* and when there have been none for a while */
#define PATIENCE 100      /* looks in vain before the steps grow */

/* Returns the number of messages heard. */
static int serve(struct rmai_world *w) {
    int heard = rmai_far_progress(w, 1);
    for (int polls = heard ? POLLS_BUSY : 0; polls > 0; polls--) {
        int more = rmai_far_progress(w, 1);
        if (more) polls = POLLS_BUSY;
        heard += more;
    }
    return heard;
}

/* The kernel adds 50 us to every sleep of a thread unless it is told that the thread minds. */
static void be_punctual(void) { prctl(PR_SET_TIMERSLACK, 1000UL); }

static void *run(void *context) {
    struct rmai_world *w = context;
    uint32_t turns = 0, now;
    unsigned in_vain = 0;
    long step = STEP_IDLE;
    be_punctual();
    while (!atomic_load_explicit(&w->watchman.ending, memory_order_relaxed)) {
        nanosleep(&(struct timespec){.tv_nsec = step}, NULL);
        now = atomic_load_explicit(&w->far.turns, memory_order_relaxed);
        if (now != turns) {
            /* The program drives; look again soon, it may be going to compute. */
            turns = now;
            continue;
        }
        if (serve(w) > 0) {
            step = STEP_BUSY;
            in_vain = 0;
        } else if (++in_vain > PATIENCE && step < STEP_IDLE) {
            step = step * 3 / 2 < STEP_IDLE ? step * 3 / 2 : STEP_IDLE;
        }
        turns = atomic_load_explicit(&w->far.turns, memory_order_relaxed);
    }
    return NULL;
}

int rmai_watchman_start(struct rmai_world *w, const char *call) {
    int failed;
    if (w->watchman.running) return RMA_SUCCESS;
    if (!w->mpi_multiple)
        return rmai_error(RMA_ERR_STATE, "%s: no thread can serve other nodes: MPI was not initialized with MPI_THREAD_MULTIPLE", call);
    atomic_store_explicit(&w->watchman.ending, 0, memory_order_relaxed);
    failed = rmai_thread(&w->watchman.thread, run, w);
    if (failed) return rmai_error(RMA_ERR_SYSTEM, "%s: no thread to serve other nodes: %s", call, strerror(failed));
    w->watchman.running = 1;
    return RMA_SUCCESS;
}

void rmai_watchman_end(struct rmai_world *w) {
    if (!w->watchman.running) return;
    atomic_store_explicit(&w->watchman.ending, 1, memory_order_relaxed);
    pthread_join(w->watchman.thread, NULL);
    w->watchman.running = 0;
}
