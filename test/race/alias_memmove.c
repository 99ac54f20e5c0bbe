/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 shifts its queue by memmove, which reads the place to which PE 0 puts. Mended by a barrier between the two. */
#include <shmem.h>
#include <stdio.h>
#include <string.h>

static char queue[64];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) shmem_putmem(queue + 40, "new", 4, 1); /* RACE: first */
#ifndef RACY
    shmem_barrier_all();
#endif
    if (me == 1) {
        memmove(queue, queue + 8, sizeof queue - 8); /* RACE: second */
        printf("%s\n", queue + 32);
    }
    shmem_finalize();
    return 0;
}
