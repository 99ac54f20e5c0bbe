/* SPDX-License-Identifier: BSD-3-Clause */
/* A number of four bytes is set by shmem_atomic_set on one PE and read by a plain load on the other. Mended by
 * atomics on both sides. */
#include <shmem.h>
#include <stdio.h>

static float level;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) shmem_float_atomic_set(&level, 0.5f, 1); /* RACE: first */
    if (me == 1) {
#ifdef RACY
        const float seen = level; /* RACE: second */
#else
        const float seen = shmem_float_atomic_fetch(&level, 1);
#endif
        printf("%g\n", (double)seen);
    }
    shmem_finalize();
    return 0;
}
