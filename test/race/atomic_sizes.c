/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 does an atomic on all eight bytes of a word, PE 1 one on its upper four: they are atomic only towards atomics
 * of the same size. Mended: both are of eight. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

static union {
    uint64_t whole;
    uint32_t half[2];
} word;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) shmem_uint64_atomic_add(&word.whole, 1, 0); /* RACE: first */
#ifdef RACY
    if (me == 1) shmem_uint32_atomic_add(&word.half[1], 1, 0); /* RACE: second */
#else
    if (me == 1) shmem_uint64_atomic_add(&word.whole, UINT64_C(1) << 32, 0);
#endif
    shmem_barrier_all();
    if (me == 0) printf("%x\n", (unsigned)word.half[1]);
    shmem_finalize();
    return 0;
}
