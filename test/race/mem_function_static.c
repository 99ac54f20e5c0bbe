/* SPDX-License-Identifier: BSD-3-Clause */
/* A static variable of a function is symmetric, too: PE 1's call reads what PE 0 puts. Mended by a barrier. */
#include <shmem.h>
#include <stdio.h>

static long *__attribute__((noinline)) cell(void) {
    static long hidden;
    return &hidden;
}

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) shmem_long_p(cell(), 6, 1); /* RACE: first */
#ifndef RACY
    shmem_barrier_all();
#endif
    if (me == 1) printf("%ld\n", *cell()); /* RACE: second */
    shmem_finalize();
    return 0;
}
