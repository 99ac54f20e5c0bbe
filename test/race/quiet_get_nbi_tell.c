/* SPDX-License-Identifier: BSD-3-Clause */
/* After a nonblocking get, PE 0 stores to its data and tells PE 1 so by a fetching atomic, which PE 1 sees: the get
 * does not change what the atomic tells. PE 1 then gets the data one by one, and tells PE 0 that it may store again. */
#include <shmem.h>

#define N 100

static long data[N], word, flag, ack;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    long got = 0, wrong = 0;
    for (long round = 1; round <= 20; round++) {
        if (me == 0) {
            shmem_getmem_nbi(&got, &word, sizeof got, 1);
            for (int i = 0; i < N; i++) data[i] = round + i;
            shmem_long_atomic_fetch_inc(&flag, 1);
            shmem_long_wait_until(&ack, SHMEM_CMP_GE, round);
            shmem_quiet();
        } else if (me == 1) {
            shmem_long_wait_until(&flag, SHMEM_CMP_GE, round);
            for (int i = 0; i < N; i++) wrong += shmem_long_g(&data[i], 0) != round + i;
            shmem_long_atomic_inc(&ack, 0);
        }
    }
    shmem_barrier_all();
    shmem_finalize();
    return wrong != 0;
}
