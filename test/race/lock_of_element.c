/* SPDX-License-Identifier: BSD-3-Clause */
/* Each element of a table has a lock of its own; PE 1 locks element 1 and writes element 0. Mended: it locks what it
 * writes. */
#include <shmem.h>
#include <stdio.h>

static long locks[2];
static double table[2];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
#ifdef RACY
    long *lock = &locks[me];
#else
    long *lock = &locks[0];
#endif
    const double value = 1.0 + me;
    shmem_set_lock(lock);
    shmem_double_put(&table[0], &value, 1, 1); /* RACE: first */ /* RACE: second */
    shmem_clear_lock(lock);
    shmem_barrier_all();
    if (me == 1) printf("%g\n", table[0]);
    shmem_finalize();
    return 0;
}
