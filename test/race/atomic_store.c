/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 resets its counter by a plain store while PE 0 counts on it. Mended: PE 1 resets it by an atomic swap. */
#include <shmem.h>
#include <stdio.h>

static int counter;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    int old = 0;
    if (me == 0) shmem_int_atomic_inc(&counter, 1); /* RACE: first */
    if (me == 1) {
#ifdef RACY
        counter = 0; /* RACE: second */
#else
        old = shmem_int_atomic_swap(&counter, 0, 1);
#endif
    }
    printf("%d\n", old);
    shmem_finalize();
    return 0;
}
