/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 puts the word that PE 1 changes by an atomic: a put is no atomic. Mended: PE 0 sets it by one. */
#include <shmem.h>
#include <stdio.h>

static unsigned long word;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const unsigned long start = 100;
    if (me == 0) {
#ifdef RACY
        shmem_ulong_put(&word, &start, 1, 1); /* RACE: first */
#else
        shmem_ulong_atomic_set(&word, start, 1);
#endif
    } else {
        printf("%lu\n", shmem_ulong_atomic_fetch_add(&word, 1, 1)); /* RACE: second */
    }
    shmem_finalize();
    return 0;
}
