/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective calls of PEs of a node whose arguments differ end the job, also without RMA_CHECK, and the text has both
 * values. Two PEs broadcast, more PEs reduce; calls that are alike come before.
 *
 * Broken by a stamp that is not posted, not compared, or has nothing of the length; the job then ends well. */
#include "job.h"

int main(void) {
    uint64_t to[4] = {0}, from[4] = {1, 2, 3, 4};
    size_t n;
    job_start();
    if (job.n == 1) job_skip("needs several PEs: one PE agrees with itself");
    for (int round = 0; round < 200; round++) {
        OK(rma_broadcast(RMA_TEAM_WORLD, to, from, sizeof to, round % job.n));
        OK(rma_sum_reduce(RMA_TEAM_WORLD, to, from, 4));
        OK(rma_fcollect(RMA_TEAM_WORLD, rma_malloc(8 * (size_t)job.n), from, 8));
        if (round % 16 == 0) OK(rma_team_sync(RMA_TEAM_WORLD));
    }
    n = job.me == job.n - 1 ? 3 : 4;
    if (job.n == 2)
        OK(rma_broadcast(RMA_TEAM_WORLD, to, from, n * sizeof *to, 0));
    else
        OK(rma_sum_reduce(RMA_TEAM_WORLD, to, from, n));
    return job_end();
}
