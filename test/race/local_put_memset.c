/* SPDX-License-Identifier: BSD-3-Clause */
/* The program clears the buffer right after it has begun to put it. Mended: shmem_quiet comes first. */
#include <shmem.h>
#include <stdio.h>
#include <string.h>

static char page[128];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    static char work[128];
    memset(work, 'a', sizeof work);
    shmem_putmem_nbi(page, work, sizeof work, 1 - me); /* RACE: first */
#ifndef RACY
    shmem_quiet();
#endif
    memset(work, 'b', sizeof work); /* RACE: second */
    shmem_barrier_all();
    printf("%c\n", page[127]);
    shmem_finalize();
    return 0;
}
