/* SPDX-License-Identifier: BSD-3-Clause */
/* Two halves of a buffer take turns, and a slip of the index lets PE 1 read the half that PE 0 fills. Mended: it
 * reads the other half. */
#include <shmem.h>
#include <stdio.h>

static long halves[2];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    long sum = 0;
    for (int round = 0; round < 4; round++) {
        if (me == 0) shmem_long_p(&halves[round % 2], round, 1); /* RACE: first */
#ifdef RACY
        if (me == 1) sum += halves[round % 2]; /* RACE: second */
#else
        if (me == 1) sum += halves[(round + 1) % 2];
#endif
        shmem_barrier_all();
    }
    printf("%ld\n", sum);
    shmem_finalize();
    return 0;
}
