/* SPDX-License-Identifier: BSD-3-Clause */
/* Ping-pong: each PE waits for its flag, sets the flag back by a plain store, and answers. The quiet completes the
 * store and the put before the answer. */
#include <shmem.h>

static int ball[2], flag;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    int wrong = 0;
    for (int round = 1; round <= 6; round++) {
        if (round % 2 == me) {
            if (round > 1) {
                shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
                wrong += ball[0] != round - 1;
                flag = 0;
            }
            const int next[2] = {round, round};
            shmem_int_put(ball, next, 2, 1 - me);
            shmem_quiet();
            shmem_int_p(&flag, 1, 1 - me);
        }
    }
    if (me == 1) {
        shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
        wrong += ball[1] != 6;
    }
    shmem_finalize();
    return wrong;
}
