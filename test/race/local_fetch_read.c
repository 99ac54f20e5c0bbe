/* SPDX-License-Identifier: BSD-3-Clause */
/* The old value of a nonblocking atomic is there after quiet; PE 0 and PE 1 read it before. Mended by quiet. */
#include <shmem.h>
#include <stdio.h>

static long counter;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    long ticket = -1;
    shmem_long_atomic_fetch_add_nbi(&ticket, &counter, 1, 0); /* RACE: first */
#ifndef RACY
    shmem_quiet();
#endif
    const long mine = ticket; /* RACE: second */
    shmem_quiet();
    printf("%d has %ld\n", me, mine);
    shmem_finalize();
    return 0;
}
