/* SPDX-License-Identifier: BSD-3-Clause */
/* Many nonblocking gets into the parts of one buffer, while both PEs read what is got and PE 1 reads its own copy:
 * reads do not race. One quiet completes all. */
#include <shmem.h>

static long table[64];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    long copy[64] = {0}, wrong = 0, sum = 0;
    for (int i = 0; i < 64; i++) table[i] = i;
    shmem_sync_all();
    for (int i = 0; i < 64; i += 4) {
        shmem_long_get_nbi(&copy[i], &table[i], 4, 1 - me);
        sum += table[i];
    }
    shmem_quiet();
    for (int i = 0; i < 64; i++) wrong += copy[i] != i;
    shmem_finalize();
    return wrong != 0 || sum != 480;
}
