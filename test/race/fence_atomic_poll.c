/* SPDX-License-Identifier: BSD-3-Clause */
/* The reader polls its flag by an atomic fetch, and the writer has no fence between data and flag. Mended by the
 * fence. */
#include <shmem.h>
#include <stdio.h>
#include <unistd.h>

static int data[2], flag;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) {
        shmem_int_p(&data[1], 3, 1); /* RACE: first */
#ifndef RACY
        shmem_fence();
#endif
        shmem_int_atomic_inc(&flag, 1);
    } else {
        while (shmem_int_atomic_fetch(&flag, 1) == 0) usleep(50);
        printf("%d\n", data[1]); /* RACE: second */
    }
    shmem_finalize();
    return 0;
}
