/* SPDX-License-Identifier: BSD-3-Clause */
/* A signal orders its own data: those of an earlier put may still be under way when it is seen. Mended by a fence
 * between. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

static int head[2], body[8];
static uint64_t arrived;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    if (me == 0) {
        shmem_int_put(head, values, 2, 1); /* RACE: first */
#ifndef RACY
        shmem_fence();
#endif
        shmem_int_put_signal(body, values, 8, &arrived, 1, SHMEM_SIGNAL_SET, 1);
    } else {
        shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, 1);
        printf("%d %d\n", body[7], head[1]); /* RACE: second */
    }
    shmem_finalize();
    return 0;
}
