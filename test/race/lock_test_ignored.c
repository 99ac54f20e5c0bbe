/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 does not heed that shmem_test_lock failed. PE 0 holds the lock until PE 1 has tried it. Mended: PE 1 then
 * waits for the lock. */
#include <shmem.h>
#include <stdio.h>

static long lock;
static int held, tried, value;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) {
        shmem_set_lock(&lock);
        shmem_int_atomic_set(&held, 1, 1);
        value = 1; /* RACE: first */
        shmem_int_wait_until(&tried, SHMEM_CMP_EQ, 1);
        shmem_clear_lock(&lock);
    } else {
        shmem_int_wait_until(&held, SHMEM_CMP_EQ, 1);
        const int failed = shmem_test_lock(&lock);
#ifndef RACY
        shmem_int_atomic_set(&tried, 1, 0);
        if (failed) shmem_set_lock(&lock);
#endif
        const int seen = shmem_int_g(&value, 0); /* RACE: second */
#ifdef RACY
        shmem_int_atomic_set(&tried, 1, 0);
        if (!failed) shmem_clear_lock(&lock);
#else
        shmem_clear_lock(&lock);
#endif
        printf("%d %d\n", failed, seen);
    }
    shmem_finalize();
    return 0;
}
