/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem_g reads what atomics of the other PE change. Mended: shmem_atomic_fetch. */
#include <shmem.h>
#include <stdio.h>

static unsigned votes;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) shmem_uint_atomic_or(&votes, 4, 0); /* RACE: first */
    if (me == 1) {
#ifdef RACY
        const unsigned seen = shmem_uint_g(&votes, 0); /* RACE: second */
#else
        const unsigned seen = shmem_uint_atomic_fetch(&votes, 0);
#endif
        printf("%u\n", seen);
    }
    shmem_finalize();
    return 0;
}
