/* SPDX-License-Identifier: BSD-3-Clause */
/* PEs 0 and 1 write with the lock, and PE 2 reads without it. Mended: PE 2 holds it, too. */
/* PES: 3 */
#include <shmem.h>
#include <stdio.h>

static long lock;
static int pair[2];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    int copy[2] = {me, me};
    if (me == 2) {
#ifdef RACY
        shmem_int_get(copy, pair, 2, 0); /* RACE: second */
#else
        shmem_set_lock(&lock);
        shmem_int_get(copy, pair, 2, 0);
        shmem_clear_lock(&lock);
#endif
        printf("%d\n", copy[0] == copy[1]);
    } else {
        shmem_set_lock(&lock);
        shmem_int_put(pair, copy, 2, 0); /* RACE: first */
        shmem_clear_lock(&lock);
    }
    shmem_finalize();
    return 0;
}
