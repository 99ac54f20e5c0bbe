/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 puts to words that PE 1 sets to zero meanwhile. Mended: PE 1 sets them before a barrier, PE 0 puts behind it. */
/* SAYS: a flag that PE 1 waits for */
/* SAYS: a flag that PE 0 waits for */
/* SAYS: is to be first: */
#include <shmem.h>
#include <stdio.h>

static int grid[8];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int row[8] = {8, 7, 6, 5, 4, 3, 2, 1};
    if (me == 1)
        for (int i = 0; i < 8; i++) grid[i] = 0; /* RACE: first */
#ifndef RACY
    shmem_barrier_all();
#endif
    if (me == 0) shmem_int_put(grid, row, 8, 1); /* RACE: second */
    shmem_barrier_all();
    printf("%d\n", grid[0]);
    shmem_finalize();
    return 0;
}
