/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 sets a word as a double, PE 1 adds to it as a long: atomics are atomic towards those of the same type only.
 * Mended: both use the type of the word. */
#include <shmem.h>
#include <stdio.h>

static union {
    long number;
    double real;
} word;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 1) shmem_long_atomic_add(&word.number, 1, 0); /* RACE: first */
#ifdef RACY
    if (me == 0) shmem_double_atomic_set(&word.real, 2.0, 0); /* RACE: second */
#else
    if (me == 0) shmem_long_atomic_set(&word.number, 2, 0);
#endif
    shmem_barrier_all();
    if (me == 0) printf("%ld\n", word.number);
    shmem_finalize();
    return 0;
}
