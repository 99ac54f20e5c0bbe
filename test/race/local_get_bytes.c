/* SPDX-License-Identifier: BSD-3-Clause */
/* A get of three bytes writes buffer[5], [6] and [7]; the program reads byte 7 before quiet. Mended: it reads the
 * neighbour, byte 8, which the get leaves alone. */
#include <shmem.h>
#include <stdio.h>

static unsigned char remote[16];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    unsigned char buffer[16] = {0};
    shmem_getmem_nbi(buffer + 5, remote + 1, 3, 1 - me); /* RACE: first */
#ifdef RACY
    const int seen = buffer[7]; /* RACE: second */
#else
    const int seen = buffer[8];
#endif
    shmem_quiet();
    printf("%d\n", seen + buffer[6]);
    shmem_finalize();
    return 0;
}
