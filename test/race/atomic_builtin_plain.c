/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 sets a word with the compiler's atomic store, and PE 1 polls it with volatile loads. Mended: with atomic
 * loads. */
#include <shmem.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static int word;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    int *there = shmem_ptr(&word, 1);
    if (there && shmem_ptr(&word, 0)) {
        if (me == 0) {
            __atomic_store_n(there, 1, __ATOMIC_RELEASE); /* RACE: first */
        } else {
#ifdef RACY
            while (*(volatile int *)&word == 0) usleep(50); /* RACE: second */
#else
            while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) == 0) usleep(50);
#endif
            printf("seen\n");
        }
    }
    shmem_finalize();
    return 0;
}
