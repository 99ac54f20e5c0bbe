/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 puts the value that PE 0 brings into a reduction, and no barrier stands between. Mended by a barrier. */
#include <shmem.h>
#include <stdio.h>

static int part[2], total[2];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    part[0] = part[1] = me;
    shmem_sync_all();
    const int value = 8;
    if (me == 1) shmem_int_put(&part[1], &value, 1, 0); /* RACE: first */
#ifndef RACY
    shmem_barrier_all();
#endif
    shmem_int_max_reduce(SHMEM_TEAM_WORLD, total, part, 2); /* RACE: second */
    printf("%d\n", total[1]);
    shmem_finalize();
    return 0;
}
