/* SPDX-License-Identifier: BSD-3-Clause */
/* A PE gets a word of its own memory, which it has stored before, and stores it again while the get may still read it.
 * Mended: it completes the get first. */
#include <shmem.h>
#include <stdio.h>

static long word;

int main(void) {
    long got = 0;
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 1) {
        word = 1;
        shmem_long_get_nbi(&got, &word, 1, me); /* RACE: first */
#ifndef RACY
        shmem_quiet();
#endif
        word = 2; /* RACE: second */
        shmem_quiet();
        printf("%ld\n", got);
    }
    shmem_finalize();
    return 0;
}
