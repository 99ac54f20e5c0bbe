/* SPDX-License-Identifier: BSD-3-Clause */
/* An element of 16 bytes: PE 0 puts it with shmem_put128, PE 1 stores to its last byte. Mended: PE 1 stores to the
 * byte behind. */
#include <shmem.h>
#include <stdio.h>

static struct {
    _Alignas(16) unsigned char element[16];
    unsigned char behind[16];
} block;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const long double value = 1.0L;
    if (me == 0) shmem_put128(block.element, &value, 1, 1); /* RACE: first */
    if (me == 1) {
#ifdef RACY
        block.element[15] = 1; /* RACE: second */
#else
        block.behind[0] = 1;
#endif
    }
    shmem_barrier_all();
    printf("%d\n", block.behind[0]);
    shmem_finalize();
    return 0;
}
