/* SPDX-License-Identifier: BSD-3-Clause */
/* Each PE holds a lock, but not the same one. Mended: the same. */
#include <shmem.h>
#include <stdio.h>

static long locks[2], balance;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
#ifdef RACY
    long *lock = &locks[me];
#else
    long *lock = &locks[0];
#endif
    long value = 0;
    shmem_set_lock(lock);
    if (me == 0) shmem_long_get(&value, &balance, 1, 0); /* RACE: first */
    value += 5;
    if (me == 1) shmem_long_put(&balance, &value, 1, 0); /* RACE: second */
    shmem_clear_lock(lock);
    shmem_barrier_all();
    printf("%ld\n", value);
    shmem_finalize();
    return 0;
}
