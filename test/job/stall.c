/* SPDX-License-Identifier: BSD-3-Clause */
/* Not a test by itself, and not in the plan: a job that communicates until somebody ends it, or cuts the network under it.
 * PE 0 says "running" when it has begun. If nobody comes it ends by itself after ten minutes. */
#include "job.h"

#define FORGOTTEN 600 /* seconds */

int main(void) {
    long *count;
    job_start();
    alarm(FORGOTTEN);
    count = rma_calloc(1, sizeof *count);
    CHECK(count != NULL, "%s", rma_last_error());
    OK(rma_barrier_all());
    if (job.me == 0) {
        printf("running\n");
        fflush(stdout);
    }
    DOING("communicating until it is ended");
    for (long turn = 0;; turn++) {
        for (int step = 1; step <= job.n; step++)
            CHECK(rma_atomic_fetch_add(count, 1L, job_any(step)) >= turn, "turn %ld", turn);
        OK(rma_barrier_all());
    }
}
