/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 writes to a file what a nonblocking get has not delivered. Mended: after quiet. */
#include <shmem.h>
#include <stdio.h>

static long table[16];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    long copy[16] = {0};
    size_t written = 0;
    FILE *file = fopen("/dev/null", "w");
    if (!file) shmem_global_exit(1);
    shmem_long_get_nbi(copy, table, 16, 1 - me); /* RACE: first */
#ifndef RACY
    shmem_quiet();
#endif
    written = fwrite(copy, sizeof copy[0], 16, file); /* RACE: second */
    shmem_quiet();
    printf("%d %zu\n", me, written);
    fclose(file);
    shmem_finalize();
    return 0;
}
