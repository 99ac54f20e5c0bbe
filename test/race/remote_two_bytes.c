/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements of two bytes: each PE writes its own half of a table of shorts, and the halves overlap in one element.
 * Mended: they do not. */
#include <shmem.h>
#include <stdio.h>

static short table[9];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const short ones[5] = {1, 1, 1, 1, 1};
    if (me == 0) shmem_put16(table, ones, 5, 1); /* RACE: first */
    if (me == 1) {
#ifdef RACY
        for (int i = 4; i < 9; i++) table[i] = 2; /* RACE: second */
#else
        for (int i = 5; i < 9; i++) table[i] = 2;
#endif
    }
    shmem_barrier_all();
    printf("%d\n", table[4]);
    shmem_finalize();
    return 0;
}
