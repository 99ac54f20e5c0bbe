/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 loads four bytes that begin in the last byte of what PE 0 puts. Mended: they begin one byte later. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

struct __attribute__((packed)) view {
    uint32_t value;
};
static unsigned char bytes[32];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const unsigned char five[5] = {1, 2, 3, 4, 5};
    if (me == 0) shmem_putmem(bytes + 2, five, 5, 1); /* RACE: first */
    if (me == 1) {
#ifdef RACY
        const struct view *at = (const struct view *)(bytes + 6);
#else
        const struct view *at = (const struct view *)(bytes + 7);
#endif
        printf("%u\n", at->value); /* RACE: second */
    }
    shmem_finalize();
    return 0;
}
