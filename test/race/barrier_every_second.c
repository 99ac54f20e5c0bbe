/* SPDX-License-Identifier: BSD-3-Clause */
/* A ring exchange whose barrier is left out in every second round. Mended: it is there in each. */
#include <shmem.h>
#include <stdio.h>

static int inbox[4];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int n = shmem_n_pes(), next = (me + 1) % n;
    int sum = 0;
    for (int round = 0; round < 4; round++) {
        shmem_int_p(&inbox[round], me + round, next); /* RACE: first */
#ifdef RACY
        if (round % 2 == 0) shmem_barrier_all();
#else
        shmem_barrier_all();
#endif
        sum += inbox[round]; /* RACE: second */
    }
    shmem_barrier_all();
    printf("%d\n", sum);
    shmem_finalize();
    return 0;
}
