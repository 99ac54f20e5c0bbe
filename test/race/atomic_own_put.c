/* SPDX-License-Identifier: BSD-3-Clause */
/* A PE puts a word and then fetches it by an atomic, without quiet. Mended: quiet between. */
#include <shmem.h>
#include <stdio.h>

static long word;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    long seen = 0;
    if (me == 0) {
        shmem_long_p(&word, 7, 1); /* RACE: first */
#ifndef RACY
        shmem_quiet();
#endif
        seen = shmem_long_atomic_fetch(&word, 1); /* RACE: second */
    }
    shmem_barrier_all();
    printf("%ld\n", seen);
    shmem_finalize();
    return 0;
}
