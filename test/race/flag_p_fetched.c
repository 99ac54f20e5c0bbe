/* SPDX-License-Identifier: BSD-3-Clause */
/* The flag is set by shmem_p, a plain write, and polled by atomic fetches: not atomic towards each other. Mended: it
 * is set by shmem_atomic_set. */
#include <shmem.h>
#include <stdio.h>
#include <unistd.h>

static long flag;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) {
#ifdef RACY
        shmem_long_p(&flag, 1, 1); /* RACE: first */
#else
        shmem_long_atomic_set(&flag, 1, 1);
#endif
    } else {
        while (shmem_long_atomic_fetch(&flag, 1) == 0) usleep(50); /* RACE: second */
        printf("seen\n");
    }
    shmem_finalize();
    return 0;
}
