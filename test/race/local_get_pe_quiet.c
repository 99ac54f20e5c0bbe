/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem_pe_quiet completes what is under way to the PEs it names: PE 0 names PE 2, and gets from PE 1. Mended: it
 * names PE 1. */
/* PES: 3 */
#include <shmem.h>
#include <stdio.h>

static long value = 8;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) {
        long copy = 0;
        shmem_long_get_nbi(&copy, &value, 1, 1); /* RACE: first */
#ifdef RACY
        shmem_pe_quiet((int[]){2}, 1);
#else
        shmem_pe_quiet((int[]){1}, 1);
#endif
        printf("%ld\n", copy); /* RACE: second */
    }
    shmem_finalize();
    return 0;
}
