/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 takes the parts of the others as they come, by wait_until_any with a status array, and sets each flag back. */
/* PES: 4 */
#include <shmem.h>

static long parts[4], flags[4];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    long sum = 0;
    if (me > 0) {
        shmem_long_p(&parts[me], 10 * me, 0);
        shmem_fence();
        shmem_long_p(&flags[me], me, 0);
    } else {
        int done[4] = {1, 0, 0, 0};
        for (int i = 1; i < 4; i++) {
            const size_t pe = shmem_long_wait_until_any(flags, 4, done, SHMEM_CMP_NE, 0);
            sum += parts[pe];
            flags[pe] = 0;
            done[pe] = 1;
        }
    }
    shmem_finalize();
    return me == 0 && sum != 60;
}
