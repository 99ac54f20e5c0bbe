/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 tells PE 1 that the data are on PE 2, and PE 1 tells PE 2 without having waited for that. Mended: PE 1 waits. */
/* PES: 3 */
#include <shmem.h>
#include <stdio.h>

static int data, told, passed;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) {
        shmem_int_p(&data, 2, 2); /* RACE: first */
        shmem_quiet();
        shmem_int_p(&told, 1, 1);
    } else if (me == 1) {
#ifndef RACY
        shmem_int_wait_until(&told, SHMEM_CMP_EQ, 1);
#endif
        shmem_int_atomic_set(&passed, 1, 2);
    } else {
        shmem_int_wait_until(&passed, SHMEM_CMP_EQ, 1);
        printf("%d\n", data); /* RACE: second */
    }
    shmem_finalize();
    return 0;
}
