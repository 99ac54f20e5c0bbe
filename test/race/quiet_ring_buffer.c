/* SPDX-License-Identifier: BSD-3-Clause */
/* A producer and a consumer with a ring of four places: the producer sends while it has credits, and the consumer
 * gives credits back by adding to a word. */
#include <shmem.h>

#define PLACES 4
#define ITEMS  20
static int ring[PLACES];
static long sent, credits = PLACES;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    int wrong = 0;
    long used = 0;
    for (int i = 0; i < ITEMS; i++) {
        if (me == 0) {
            shmem_long_wait_until(&credits, SHMEM_CMP_GT, used);
            used++;
            shmem_int_p(&ring[i % PLACES], i, 1);
            shmem_fence();
            shmem_long_atomic_inc(&sent, 1);
        } else {
            shmem_long_wait_until(&sent, SHMEM_CMP_GT, i);
            wrong += ring[i % PLACES] != i;
            shmem_long_atomic_inc(&credits, 0);
        }
    }
    shmem_finalize();
    return wrong;
}
