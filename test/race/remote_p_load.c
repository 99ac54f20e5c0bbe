/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem_p is a plain write for OpenSHMEM: PE 1's load races with it. Mended by a barrier. */
#include <shmem.h>
#include <stdio.h>

static int number;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) shmem_int_p(&number, 12, 1); /* RACE: first */
#ifndef RACY
    shmem_barrier_all();
#endif
    if (me == 1) printf("%d\n", number); /* RACE: second */
    shmem_finalize();
    return 0;
}
