/* SPDX-License-Identifier: BSD-3-Clause */
/* Which function touches the array is decided by a pointer: PE 1 calls the one that writes while PE 0 puts. Mended
 * by a barrier between the two. */
#include <shmem.h>
#include <stdio.h>

static int array[8];

static void __attribute__((noinline)) scale(int *values, int n) {
    for (int i = 0; i < n; i++) values[i] *= 2; /* RACE: second */
}
static void __attribute__((noinline)) nothing(int *values, int n) { (void)values, (void)n; }
static void (*volatile step)(int *, int) = nothing;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int row[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    if (me == 1) step = scale;
    if (me == 0) shmem_int_put(array, row, 8, 1); /* RACE: first */
#ifndef RACY
    shmem_barrier_all();
#endif
    step(array, 8);
    shmem_barrier_all();
    printf("%d\n", array[7]);
    shmem_finalize();
    return 0;
}
