/* SPDX-License-Identifier: BSD-3-Clause */
/* ga_counter: tasks from a shared counter (nxtval), and the global operations of Global Arrays. */
#include <rma.h>
#include <stdio.h>

static long next; /* GA: NGA_Create(C_LONG, 1, &one, "next", NULL), GA_Zero(g) */

int main(void) {
    if (rma_init() != RMA_SUCCESS) return 1;
    const int me = rma_my_pe();
    double sum[2] = {0, 0}, number = me == 0 ? 3.5 : 0;
    long task;

    /* GA: NGA_Read_inc(g, &zero, 1) */
    while ((task = rma_atomic_fetch_add(&next, 1, 0)) < 200) {
        sum[0] += 1;
        sum[1] += (double)task;
    }
    /* GA: GA_Dgop(sum, 2, "+") */
    rma_sum_reduce(RMA_TEAM_WORLD, sum, sum, 2);
    /* GA: GA_Brdcast(&number, sizeof number, 0) */
    rma_broadcast(RMA_TEAM_WORLD, &number, &number, sizeof number, 0);

    const int wrong = (long)sum[0] != 200 || (long)sum[1] != 200 * 199 / 2 || (long)(2 * number) != 7;
    if (wrong) printf("ga_counter: PE %d: %g tasks, sum %g\n", me, sum[0], sum[1]);
    rma_finalize();
    return wrong;
}
