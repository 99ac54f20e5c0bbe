/* SPDX-License-Identifier: BSD-3-Clause */
/* A put of three bytes at an odd address, and a load of the last of them. Mended: the load is of the byte behind. */
#include <shmem.h>
#include <stdio.h>

static unsigned char text[32];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) shmem_putmem(text + 13, "abc", 3, 1); /* RACE: first */
    if (me == 1) {
#ifdef RACY
        printf("%d\n", text[15]); /* RACE: second */
#else
        printf("%d\n", text[16]);
#endif
    }
    shmem_finalize();
    return 0;
}
