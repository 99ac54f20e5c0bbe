/* SPDX-License-Identifier: BSD-3-Clause */
/* For OpenSHMEM shmem_p is a plain write, so it races with an atomic on the word. Mended: shmem_atomic_set. */
#include <shmem.h>
#include <stdio.h>

static long word;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) {
#ifdef RACY
        shmem_long_p(&word, 3, 0); /* RACE: first */
#else
        shmem_long_atomic_set(&word, 3, 0);
#endif
    } else {
        printf("%ld\n", shmem_long_atomic_fetch_inc(&word, 0)); /* RACE: second */
    }
    shmem_finalize();
    return 0;
}
