/* SPDX-License-Identifier: BSD-3-Clause */
/* Each PE writes its own byte of PE 0's line; by a slip of one both write byte 1. Mended: bytes 0 and 1. */
#include <shmem.h>
#include <stdio.h>

static char line[4];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
#ifdef RACY
    shmem_char_p(&line[1], (char)('a' + me), 0); /* RACE: first */ /* RACE: second */
#else
    shmem_char_p(&line[me], (char)('a' + me), 0);
#endif
    shmem_barrier_all();
    if (me == 0) printf("%d %d\n", line[0], line[1]);
    shmem_finalize();
    return 0;
}
