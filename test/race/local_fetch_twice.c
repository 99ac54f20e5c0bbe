/* SPDX-License-Identifier: BSD-3-Clause */
/* Two nonblocking atomics deliver their old values to one word. Mended: each has a word of its own. */
#include <shmem.h>
#include <stdio.h>

static int a = 3, b = 4;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    int old[2] = {0, 0};
    shmem_int_atomic_swap_nbi(&old[0], &a, 5, 1 - me); /* RACE: first */
#ifdef RACY
    shmem_int_atomic_fetch_nbi(&old[0], &b, 1 - me); /* RACE: second */
#else
    shmem_int_atomic_fetch_nbi(&old[1], &b, 1 - me);
#endif
    shmem_quiet();
    printf("%d %d\n", old[0], old[1]);
    shmem_finalize();
    return 0;
}
