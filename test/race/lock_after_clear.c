/* SPDX-License-Identifier: BSD-3-Clause */
/* The update stands behind the end of the critical section. Mended: it stands inside. */
/* SAYS: , or each between shmem_set_lock and shmem_clear_lock, or shmem_barrier_all */
#include <shmem.h>
#include <stdio.h>

static long lock;
static int count;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    int *shared = shmem_ptr(&count, 0);
    if (!shared) shared = &count;
    shmem_set_lock(&lock);
#ifdef RACY
    shmem_clear_lock(&lock);
    ++*shared; /* RACE: first */ /* RACE: second */
#else
    ++*shared;
    shmem_clear_lock(&lock);
#endif
    shmem_barrier_all();
    if (me == 0) printf("%d\n", count);
    shmem_finalize();
    return 0;
}
