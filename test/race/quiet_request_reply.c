/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests and replies by atomics alone: a PE adds a request to the other's word, and that swaps the word for zero
 * and answers by a swap. */
#include <shmem.h>
#include <unistd.h>

static long request, reply;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    int wrong = 0;
    for (long round = 1; round <= 5; round++) {
        if (me == 0) {
            shmem_long_atomic_add(&request, round, 1);
            long answer;
            while ((answer = shmem_long_atomic_swap(&reply, 0, 0)) == 0) usleep(20);
            wrong += answer != 2 * round;
        } else {
            long asked;
            while ((asked = shmem_long_atomic_swap(&request, 0, 1)) == 0) usleep(20);
            shmem_long_atomic_compare_swap(&reply, 0, 2 * asked, 0);
        }
    }
    shmem_finalize();
    return wrong;
}
