/* SPDX-License-Identifier: BSD-3-Clause */
/* A PE clears an array by a loop and then gets into it, and reads it by a loop after the quiet: its own accesses come
 * one after another. Broken by a loop that is recorded after the get. */
#include <shmem.h>
#include <stdio.h>

#define N 64
static long table[N], dest[N];

int main(void) {
    long sum = 0;
    shmem_init();
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < N; i++) dest[i] = 0;
        shmem_long_get_nbi(dest, table, N, (shmem_my_pe() + 1) % shmem_n_pes());
        shmem_quiet();
        for (int i = 0; i < N; i++) sum += dest[i];
        shmem_long_get_nbi(dest, table, N, (shmem_my_pe() + 1) % shmem_n_pes());
        shmem_quiet();
    }
    printf("%ld\n", sum);
    shmem_finalize();
    return 0;
}
