/* SPDX-License-Identifier: BSD-3-Clause */
/* The source of a nonblocking put is freed before quiet. Mended: after it. */
/* SAYS: frees by free its own block of 320 bytes allocated at */
/* SAYS: of which 320 bytes from offset 0 on are under way */
/* SAYS: shmem_quiet before free */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

static long data[40];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    long *source = malloc(sizeof data);
    if (!source) shmem_global_exit(1);
    for (int i = 0; i < 40; i++) source[i] = i;
    shmem_long_put_nbi(data, source, 40, 1 - me); /* RACE: first */
#ifndef RACY
    shmem_quiet();
#endif
    free(source); /* RACE: second */
    shmem_barrier_all();
    printf("%d %d\n", me, data[39] == 39);
    shmem_finalize();
    return 0;
}
