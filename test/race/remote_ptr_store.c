/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 stores through shmem_ptr into PE 1's memory, which PE 1 reads. Mended by a sync. */
#include <shmem.h>
#include <stdio.h>

static int word;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) {
        int *there = shmem_ptr(&word, 1);
        if (there) *there = 4; /* RACE: first */
    }
#ifndef RACY
    shmem_sync_all();
#endif
    if (me == 1) printf("%d\n", word); /* RACE: second */
    shmem_finalize();
    return 0;
}
