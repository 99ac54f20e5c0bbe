/* SPDX-License-Identifier: BSD-3-Clause */
/* A get stores what it brings into PE 1's memory, which shmem_ptr has made reachable, while a nonblocking get of the
 * same word is under way. Mended by quiet between the two. */
/* PES: 2 */
#include <shmem.h>
#include <stdio.h>

static long word = 5, other = 7;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    long *there = shmem_ptr(&word, 1), value = 0;
    if (me == 0 && there) {
        shmem_long_get_nbi(&value, &word, 1, 1); /* RACE: first */
#ifndef RACY
        shmem_quiet();
#endif
        shmem_long_get(there, &other, 1, 1); /* RACE: second */
        shmem_quiet();
        printf("%ld %ld\n", value, *there);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
