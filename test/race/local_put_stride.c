/* SPDX-License-Identifier: BSD-3-Clause */
/* While the first half of a buffer is under way a loop with a stride writes the whole buffer. Mended: the loop
 * writes the other half only. */
#include <shmem.h>
#include <stdio.h>

static int target[32];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    int source[64] = {0};
    shmem_int_put_nbi(target, source, 32, 1 - me); /* RACE: first */
#ifdef RACY
    for (int i = 30; i < 64; i += 3) source[i] = i; /* RACE: second */
#else
    for (int i = 32; i < 64; i += 3) source[i] = i;
#endif
    shmem_barrier_all();
    printf("%d %d\n", target[30], source[62]);
    shmem_finalize();
    return 0;
}
