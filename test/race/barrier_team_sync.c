/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem_team_sync of a team completes no puts. Mended: a quiet before it makes a barrier of both. */
#include <shmem.h>
#include <stdio.h>

static long data[4];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const long values[4] = {1, 2, 3, 4};
    if (me == 0) {
        shmem_long_put(data, values, 4, 1); /* RACE: first */
#ifndef RACY
        shmem_quiet();
#endif
    }
    shmem_team_sync(SHMEM_TEAM_WORLD);
    if (me == 1) printf("%ld\n", data[3]); /* RACE: second */
    shmem_finalize();
    return 0;
}
