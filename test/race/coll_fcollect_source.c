/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 puts into the part that PE 1 brings into an fcollect. Mended: a barrier stands between the two. */
#include <shmem.h>
#include <stdio.h>

static long part[2], all[4];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const long value = 6;
    if (me == 0) shmem_long_p(&part[1], value, 1); /* RACE: first */
#ifndef RACY
    shmem_barrier_all();
#endif
    shmem_long_fcollect(SHMEM_TEAM_WORLD, all, part, 2); /* RACE: second */
    printf("%ld\n", all[3]);
    shmem_finalize();
    return 0;
}
