/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 copies the first half of a block by memcpy, one byte too many; PE 0 puts into the second half. Mended: the
 * byte less. */
#include <shmem.h>
#include <stdio.h>
#include <string.h>

static char block[200];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    static char copy[200];
#ifdef RACY
    volatile size_t half = 101;
#else
    volatile size_t half = 100;
#endif
    if (me == 0) shmem_putmem(block + 100, copy, 100, 1); /* RACE: first */
    if (me == 1) {
        memcpy(copy, block, half); /* RACE: second */
        printf("%d\n", copy[0]);
    }
    shmem_finalize();
    return 0;
}
