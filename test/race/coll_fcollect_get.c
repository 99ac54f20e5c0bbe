/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 gets from PE 0 what the fcollect has written there. Mended: it reads its own copy, which has the same values. */
#include <shmem.h>
#include <stdio.h>
#include <string.h>

static int part, all[2];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    part = 10 + me;
    shmem_int_fcollect(SHMEM_TEAM_WORLD, all, &part, 1); /* RACE: first */
    if (me == 1) {
        int copy[2] = {0};
#ifdef RACY
        shmem_int_get(copy, all, 2, 0); /* RACE: second */
#else
        memcpy(copy, all, sizeof copy);
#endif
        printf("%d %d\n", copy[0], copy[1]);
    }
    shmem_finalize();
    return 0;
}
