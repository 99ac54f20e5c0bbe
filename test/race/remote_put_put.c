/* SPDX-License-Identifier: BSD-3-Clause */
/* Both PEs put to the same element of PE 0. Mended: each has an element of its own. */
#include <shmem.h>
#include <stdio.h>

static long slots[2];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const long value = 10 + me;
#ifdef RACY
    shmem_long_put(&slots[0], &value, 1, 0); /* RACE: first */ /* RACE: second */
#else
    shmem_long_put(&slots[me], &value, 1, 0);
#endif
    shmem_barrier_all();
    if (me == 0) printf("%ld %ld\n", slots[0], slots[1]);
    shmem_finalize();
    return 0;
}
