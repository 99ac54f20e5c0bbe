/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress by call: without the progress thread a PE serves others whenever it calls rma_progress; with the restarted
 * thread it serves them without a call.
 *
 * Broken by a thread that continues after it was ended, or does not start again; by an rma_progress that serves nobody,
 * or waits; and by a runtime that needs the thread. On an odd number of PEs RMA_PROGRESS=none keeps it from
 * starting. */
#include "job.h"

static long *count, *done; /* symmetric: operations on this PE, and PEs that are through with it */

/* All others work on PE `target`, which looks at its own memory and does nothing else but, by_call, call rma_progress.
 */
static void serve(int target, bool by_call) {
    long rounds = job_far_rounds(200, 50, 20);
    *count = *done = 0;
    OK(rma_barrier_all());
    if (job.me == target) {
        while (rma_atomic_fetch(done, job.me) < job.n - 1) {
            if (by_call) OK(rma_progress());
            job_pause();
        }
        CHECK(rma_atomic_fetch(count, job.me) == (job.n - 1) * rounds, "%ld operations, not %ld", *count,
              (job.n - 1) * rounds);
    } else {
        for (long i = 0; i < rounds; i++) CHECK(rma_atomic_fetch_add(count, 1L, target) >= i, "an operation was lost");
        rma_atomic_fetch_add(done, 1L, target);
    }
    OK(rma_barrier_all());
}

int main(void) {
    const char *size = getenv("PMI_SIZE");
    if (size && atoi(size) % 2) setenv("RMA_PROGRESS", "none", 1);
    job_start();
    count = rma_calloc(1, sizeof *count);
    done = rma_calloc(1, sizeof *done);
    CHECK(count && done, "%s", rma_last_error());
    OK(rma_progress());
    OK(rma_progress_thread(0));
    OK(rma_progress_thread(0));
    DOING("serving by call");
    for (int pe = 0; pe < job.n; pe++) serve(pe, true);
    OK(rma_progress_thread(1));
    OK(rma_progress_thread(7));
    OK(rma_barrier_all());
    DOING("serving by the thread");
    for (int pe = 0; pe < job.n; pe++) serve(pe, false);
    for (int i = 0; i < 20; i++) {
        DOING("ending and starting the thread");
        OK(rma_progress_thread(i & 1));
        serve(i % job.n, !(i & 1));
    }
    OK(rma_free(done));
    OK(rma_free(count));
    return job_end();
}
