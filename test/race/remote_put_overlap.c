/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranges that two PEs put to PE 0 overlap by one element. Mended: the second range begins where the first one
 * ends. */
#include <shmem.h>
#include <stdio.h>

static int shared[10];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int five[5] = {1, 2, 3, 4, 5};
    if (me == 0) shmem_int_put(shared, five, 5, 0); /* RACE: first */
#ifdef RACY
    if (me == 1) shmem_int_put(shared + 4, five, 5, 0); /* RACE: second */
#else
    if (me == 1) shmem_int_put(shared + 5, five, 5, 0);
#endif
    shmem_barrier_all();
    printf("%d\n", shared[4]);
    shmem_finalize();
    return 0;
}
