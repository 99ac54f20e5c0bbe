/* SPDX-License-Identifier: BSD-3-Clause */
/* There is a barrier before the exchange and none behind it. Mended: there is one on both sides. */
#include <shmem.h>
#include <stdio.h>

static long parts[2];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    parts[me] = me + 1;
    shmem_barrier_all();
    shmem_long_p(&parts[me], me + 1, 1 - me); /* RACE: first */
#ifndef RACY
    shmem_barrier_all();
#endif
    const long sum = parts[0] + parts[1]; /* RACE: second */
    printf("%ld\n", sum);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
