/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 writes the upper half of a word of 8 bytes, which PE 1 reads as a whole. Mended: PE 1 reads the lower half. */
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
    if (me == 0) shmem_uint32_p(&word.half[1], 9, 1); /* RACE: first */
    if (me == 1) {
#ifdef RACY
        const uint64_t seen = word.whole; /* RACE: second */
#else
        const uint64_t seen = word.half[0];
#endif
        printf("%d\n", (int)(seen >> 32));
    }
    shmem_finalize();
    return 0;
}
