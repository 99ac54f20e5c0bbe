/* SPDX-License-Identifier: BSD-3-Clause */
/* Each PE reads the sum before it has the lock, and writes it with the lock. Mended: it reads with the lock, too. */
#include <shmem.h>
#include <stdio.h>

static long lock, sum;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
#ifdef RACY
    const long old = shmem_long_g(&sum, 0); /* RACE: first */
    shmem_set_lock(&lock);
#else
    shmem_set_lock(&lock);
    const long old = shmem_long_g(&sum, 0);
#endif
    shmem_long_p(&sum, old + me + 1, 0); /* RACE: second */
    shmem_clear_lock(&lock);
    shmem_barrier_all();
    if (me == 0) printf("%ld\n", sum);
    shmem_finalize();
    return 0;
}
