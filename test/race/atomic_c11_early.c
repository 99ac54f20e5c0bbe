/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 releases its C11 flag before it stores the data. Mended: it stores first. */
#include <shmem.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static _Atomic long flag;
static long data[2];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    long *there = shmem_ptr(data, 1);
    void *flag_there = shmem_ptr(&flag, 1);
    if (there && flag_there && shmem_ptr(data, 0)) {
        if (me == 0) {
#ifdef RACY
            atomic_store((_Atomic long *)flag_there, 1);
            there[1] = 3; /* RACE: first */
#else
            there[1] = 3;
            atomic_store((_Atomic long *)flag_there, 1);
#endif
        } else {
            while (!atomic_load(&flag)) usleep(50);
            printf("%ld\n", data[1]); /* RACE: second */
        }
    }
    shmem_finalize();
    return 0;
}
