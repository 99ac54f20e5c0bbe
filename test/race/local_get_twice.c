/* SPDX-License-Identifier: BSD-3-Clause */
/* Two gets that are both under way write the same buffer. Mended: the second one has a buffer of its own. */
#include <shmem.h>
#include <stdio.h>

static long left[4] = {1, 1, 1, 1}, right[4] = {2, 2, 2, 2};

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    long buffer[8] = {0};
    const int peer = 1 - me;
    shmem_long_get_nbi(buffer, left, 4, peer); /* RACE: first */
#ifdef RACY
    shmem_long_get_nbi(buffer, right, 4, peer); /* RACE: second */
#else
    shmem_long_get_nbi(buffer + 4, right, 4, peer);
#endif
    shmem_quiet();
    printf("%ld\n", buffer[0]);
    shmem_finalize();
    return 0;
}
