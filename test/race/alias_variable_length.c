/* SPDX-License-Identifier: BSD-3-Clause */
/* How many elements a put writes is computed: on PE 0 it is one more than PE 1 leaves free. Mended: the count is
 * right. */
#include <shmem.h>
#include <stdio.h>

static short items[32];

static size_t __attribute__((noinline)) count(int pe) {
#ifdef RACY
    return (size_t)(9 - pe);
#else
    return (size_t)(8 - pe);
#endif
}

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    short values[16] = {0};
    if (me == 0) shmem_short_put(items, values, count(me), 1); /* RACE: first */
    if (me == 1) items[8] = 1;                                 /* RACE: second */
    shmem_barrier_all();
    printf("%d\n", items[8]);
    shmem_finalize();
    return 0;
}
