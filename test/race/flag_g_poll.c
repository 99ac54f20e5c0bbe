/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 polls a word of PE 0 by shmem_g while PE 0 stores to it. Mended: PE 0 sets it by an atomic, PE 1 fetches by
 * one. */
#include <shmem.h>
#include <stdio.h>
#include <unistd.h>

static int state;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) {
#ifdef RACY
        *(volatile int *)&state = 1; /* RACE: first */
#else
        shmem_int_atomic_set(&state, 1, 0);
#endif
    } else {
#ifdef RACY
        while (shmem_int_g(&state, 0) == 0) usleep(50); /* RACE: second */
#else
        while (shmem_int_atomic_fetch(&state, 0) == 0) usleep(50);
#endif
        printf("seen\n");
    }
    shmem_finalize();
    return 0;
}
