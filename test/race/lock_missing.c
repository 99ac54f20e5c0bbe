/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 updates without the lock that PE 0 holds for its update. Mended: both hold it. */
#include <shmem.h>
#include <stdio.h>

static long lock, total;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) {
        shmem_set_lock(&lock);
        total += 1; /* RACE: first */
        shmem_clear_lock(&lock);
    } else {
        const long two = 2;
#ifdef RACY
        shmem_long_put(&total, &two, 1, 0); /* RACE: second */
#else
        shmem_set_lock(&lock);
        shmem_long_put(&total, &two, 1, 0);
        shmem_clear_lock(&lock);
#endif
    }
    shmem_barrier_all();
    if (me == 0) printf("%ld\n", total);
    shmem_finalize();
    return 0;
}
