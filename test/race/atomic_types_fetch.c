/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 swaps a word as an int, and PE 1 fetches it as a float. Mended: PE 1 fetches an int. */
#include <shmem.h>
#include <stdio.h>

static union {
    int number;
    float real;
} word;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    double seen = 0;
    if (me == 0) seen = shmem_int_atomic_swap(&word.number, 3, 0); /* RACE: first */
#ifdef RACY
    if (me == 1) seen = (double)shmem_float_atomic_fetch(&word.real, 0); /* RACE: second */
#else
    if (me == 1) seen = shmem_int_atomic_fetch(&word.number, 0);
#endif
    printf("%d %g\n", me, seen);
    shmem_finalize();
    return 0;
}
