/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 writes the source of a put that is under way. Mended by quiet before the write. */
#include <shmem.h>
#include <stdio.h>

static long inbox;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    long message = 41;
    if (me == 0) {
        shmem_long_put_nbi(&inbox, &message, 1, 1); /* RACE: first */
#ifndef RACY
        shmem_quiet();
#endif
        message = 42; /* RACE: second */
    }
    shmem_barrier_all();
    if (me == 1) printf("%ld\n", inbox + message);
    shmem_finalize();
    return 0;
}
