/* SPDX-License-Identifier: BSD-3-Clause */
/* PEs 1 and 2 put results to PE 0 and count themselves there; nothing orders a result before the count. Mended by a
 * fence. */
/* PES: 3 */
#include <shmem.h>
#include <stdio.h>

static double results[3];
static int arrived;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me > 0) {
        shmem_double_p(&results[me], 0.5 * me, 0); /* RACE: first */
#ifndef RACY
        shmem_fence();
#endif
        shmem_int_atomic_add(&arrived, 1, 0);
    } else {
        double sum = 0;
        shmem_int_wait_until(&arrived, SHMEM_CMP_EQ, 2);
        for (int i = 1; i < 3; i++) sum += results[i]; /* RACE: second */
        printf("%g\n", sum);
    }
    shmem_finalize();
    return 0;
}
