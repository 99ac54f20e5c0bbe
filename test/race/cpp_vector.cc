/* SPDX-License-Identifier: BSD-3-Clause */
/* A std::vector is the destination of a get, and the program reads it before quiet. Mended by quiet. */
#include <shmem.h>
#include <stdio.h>
#include <vector>

static long table[16];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    std::vector<long> copy(16);
    shmem_get_nbi(copy.data(), table, 16, 1 - me); /* RACE: first */
#ifndef RACY
    shmem_quiet();
#endif
    const long *begin = copy.data();
    const long seen = begin[15]; /* RACE: second */
    shmem_quiet();
    printf("%ld\n", seen);
    shmem_finalize();
    return 0;
}
