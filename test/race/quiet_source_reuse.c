/* SPDX-License-Identifier: BSD-3-Clause */
/* A blocking put has taken its source when it returns: the program overwrites it at once, and a get's destination is
 * there when the get returns. Only the targets wait for the barrier. */
#include <shmem.h>
#include <string.h>

static int slots[10];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    int wrong = 0, buffer[2], back = 0;
    for (int i = 0; i < 10; i += 2) {
        buffer[0] = i;
        buffer[1] = i + 1;
        shmem_int_put(&slots[i], buffer, 2, 1 - me);
        memset(buffer, 0, sizeof buffer);
    }
    shmem_barrier_all();
    for (int i = 0; i < 10; i++) {
        shmem_int_get(&back, &slots[i], 1, 1 - me);
        wrong += back != i || slots[i] != i;
        back = 0;
    }
    shmem_finalize();
    return wrong;
}
