/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem_test finds its comparison false, and the program reads all the same. Mended: it tests until it is true. */
#include <shmem.h>
#include <stdio.h>

static int data, flag, go;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) {
        shmem_int_p(&data, 4, 1); /* RACE: first */
        shmem_int_wait_until(&go, SHMEM_CMP_EQ, 1);
        shmem_fence();
        shmem_int_p(&flag, 1, 1);
    } else {
        int there = shmem_int_test(&flag, SHMEM_CMP_EQ, 1);
#ifdef RACY
        const int seen = data; /* RACE: second */
        shmem_int_atomic_set(&go, 1, 0);
#else
        shmem_int_atomic_set(&go, 1, 0);
        while (!there) there = shmem_int_test(&flag, SHMEM_CMP_EQ, 1);
        const int seen = data;
#endif
        printf("%d %d\n", there, seen);
    }
    shmem_finalize();
    return 0;
}
