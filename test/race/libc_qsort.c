/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 sorts an array to which PE 0 adds a number. Mended by a barrier. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

static int numbers[10] = {5, 2, 9, 1, 7, 3, 8, 6, 4, 0};

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) shmem_int_p(&numbers[9], 11, 1); /* RACE: first */
#ifndef RACY
    shmem_barrier_all();
#endif
    if (me == 1) qsort(numbers, 10, sizeof numbers[0], compare); /* RACE: second */
    printf("%d %d\n", me, numbers[0]);
    shmem_finalize();
    return 0;
}
