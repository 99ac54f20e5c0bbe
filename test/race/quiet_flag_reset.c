/* SPDX-License-Identifier: BSD-3-Clause */
/* The owner sets its flag back by a plain store after the wait, completes that store and answers. Only then does the
 * other PE write the flag again. */
#include <shmem.h>

static long data[8], flag, answer;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    long wrong = 0;
    for (long round = 1; round <= 5; round++) {
        if (me == 0) {
            const long values[8] = {round, round, round, round, round, round, round, round};
            shmem_long_put_nbi(data, values, 8, 1);
            shmem_fence();
            shmem_long_p(&flag, 1, 1);
            shmem_quiet();
            shmem_long_wait_until(&answer, SHMEM_CMP_EQ, round);
        } else {
            shmem_long_wait_until(&flag, SHMEM_CMP_NE, 0);
            wrong += data[7] != round;
            flag = 0;
            shmem_quiet();
            shmem_long_p(&answer, round, 0);
        }
    }
    shmem_finalize();
    return wrong != 0;
}
