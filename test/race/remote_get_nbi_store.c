/* SPDX-License-Identifier: BSD-3-Clause */
/* A nonblocking get reads PE 1's array until quiet; the barrier that lets PE 1 write stands before the quiet.
 * Mended: shmem_barrier_all takes the place of shmem_sync_all, and completes the get. */
#include <shmem.h>
#include <stdio.h>

static int pixels[32];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    int copy[32] = {0};
    if (me == 0) shmem_int_get_nbi(copy, pixels, 32, 1); /* RACE: first */
#ifdef RACY
    shmem_sync_all();
#else
    shmem_barrier_all();
#endif
    if (me == 1)
        for (int i = 0; i < 32; i++) pixels[i] = i; /* RACE: second */
    shmem_quiet();
    printf("%d\n", copy[31]);
    shmem_finalize();
    return 0;
}
