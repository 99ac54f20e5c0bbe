/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 counts on PE 1 by atomics, and PE 1 reads the counter by a plain load. Mended: PE 1 reads by an atomic. */
#include <shmem.h>
#include <stdio.h>

static long counter;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) shmem_long_atomic_add(&counter, 5, 1); /* RACE: first */
    if (me == 1) {
#ifdef RACY
        const long seen = counter; /* RACE: second */
#else
        const long seen = shmem_long_atomic_fetch(&counter, 1);
#endif
        printf("%ld\n", seen);
    }
    shmem_finalize();
    return 0;
}
