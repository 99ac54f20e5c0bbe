/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem_pe_quiet names PE 2, and the put under way is to PE 1. Mended: it names both. */
/* PES: 3 */
#include <shmem.h>
#include <stdio.h>

static int data[4];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int values[4] = {1, 2, 3, 4};
    if (me == 0) {
        shmem_int_put(data, values, 4, 1); /* RACE: first */
#ifdef RACY
        shmem_pe_quiet((int[]){2}, 1);
#else
        shmem_pe_quiet((int[]){2, 1}, 2);
#endif
    }
    shmem_sync_all();
    if (me == 1) printf("%d\n", data[2]); /* RACE: second */
    shmem_finalize();
    return 0;
}
