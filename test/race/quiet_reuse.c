/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks are freed and allocated again in the same place, round after round. Each PE puts into the old block and
 * stores into the new one: the barriers of these calls stand between. */
#include <shmem.h>

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    int wrong = 0;
    for (int round = 0; round < 6; round++) {
        const size_t n = 16 + 8 * (size_t)(round % 3);
        int *block = shmem_malloc(n * sizeof *block);
        if (!block) shmem_global_exit(1);
        for (size_t i = 0; i < n; i++) block[i] = round;
        shmem_barrier_all();
        wrong += block[n - 1] != round;
        shmem_int_p(&block[0], round + 1, 1 - me);
        shmem_int_p(&block[n / 2], round + 1, 1 - me);
        shmem_free(block);
    }
    shmem_finalize();
    return wrong;
}
