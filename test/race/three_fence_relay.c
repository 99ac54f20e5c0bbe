/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 puts to PE 2, fences, and tells PE 1, which tells PE 2: a fence orders what goes to one PE. Mended by quiet. */
/* PES: 3 */
#include <shmem.h>
#include <stdio.h>

static double data[2];
static int relay;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const double values[2] = {1, 2};
    if (me == 0) {
        shmem_double_put(data, values, 2, 2); /* RACE: first */
#ifdef RACY
        shmem_fence();
#else
        shmem_quiet();
#endif
        shmem_int_atomic_set(&relay, 1, 1);
    } else if (me == 1) {
        shmem_int_wait_until(&relay, SHMEM_CMP_EQ, 1);
        shmem_int_atomic_set(&relay, 1, 2);
    } else {
        shmem_int_wait_until(&relay, SHMEM_CMP_EQ, 1);
        printf("%g\n", data[1]); /* RACE: second */
    }
    shmem_finalize();
    return 0;
}
