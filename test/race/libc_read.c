/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 reads a file into an array that PE 0 gets. Mended by a barrier. */
#include <shmem.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static char block[256];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    char copy[256] = "";
    if (me == 1) {
        const int file = open("/dev/zero", O_RDONLY);
        if (read(file, block, sizeof block) != 256) shmem_global_exit(1); /* RACE: first */
        close(file);
    }
#ifndef RACY
    shmem_barrier_all();
#endif
    if (me == 0) shmem_getmem(copy, block, sizeof copy, 1); /* RACE: second */
    printf("%d %d\n", me, copy[255]);
    shmem_finalize();
    return 0;
}
