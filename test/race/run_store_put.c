/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 fills an array by a loop, whose stores are recorded together, and tells nobody. PE 0 puts a word into the
 * middle. Mended by a barrier. */
#include <shmem.h>
#include <stdio.h>

#define N 4000

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    long *a = shmem_malloc(N * sizeof *a);
    if (!a) shmem_global_exit(1);
    if (me == 1)
        for (long i = 0; i < N; i++) a[i] = i * i; /* RACE: first */
#ifndef RACY
    shmem_barrier_all();
#endif
    if (me == 0) shmem_long_p(&a[N / 2], 1, 1); /* RACE: second */
    shmem_barrier_all();
    printf("%ld\n", a[N / 2]);
    shmem_free(a);
    shmem_finalize();
    return 0;
}
