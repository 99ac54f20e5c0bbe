/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 puts longs, PE 1 reads the same memory as bytes through another pointer. Mended: PE 1 reads the bytes behind. */
#include <shmem.h>
#include <stdio.h>

static long words[4];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const long values[2] = {1, 2};
    const unsigned char *bytes = (const unsigned char *)words;
    if (me == 0) shmem_long_put(words, values, 2, 1); /* RACE: first */
    if (me == 1) {
#ifdef RACY
        const int seen = bytes[2 * sizeof(long) - 1]; /* RACE: second */
#else
        const int seen = bytes[2 * sizeof(long)];
#endif
        printf("%d\n", seen);
    }
    shmem_finalize();
    return 0;
}
