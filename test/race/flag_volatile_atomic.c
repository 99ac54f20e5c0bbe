/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 polls by plain volatile loads a word that PE 0 sets by an atomic. Mended: PE 1 polls by atomics, too. */
#include <shmem.h>
#include <stdio.h>
#include <unistd.h>

static long flag;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) {
        shmem_long_atomic_set(&flag, 7, 1); /* RACE: first */
    } else {
#ifdef RACY
        while (*(volatile long *)&flag != 7) usleep(50); /* RACE: second */
#else
        while (shmem_long_atomic_fetch(&flag, me) != 7) usleep(50);
#endif
        printf("seen\n");
    }
    shmem_finalize();
    return 0;
}
