/* SPDX-License-Identifier: BSD-3-Clause */
/* A function puts from its own variable without waiting, and returns. Its caller's next call of the library, a quiet,
 * is too late for the variable. Mended: the function calls quiet itself. */
/* SAYS: has left the frame of a variable on its own stack, of which 16 bytes are under way */
#include <shmem.h>
#include <stdio.h>

static long data[2];

static void __attribute__((noinline)) send(int pe) {
    long pair[2] = {pe, 5};
    shmem_long_put_nbi(data, pair, 2, pe); /* RACE: first */
#ifndef RACY
    shmem_quiet();
#endif
}

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    send(1 - me);
    shmem_quiet(); /* RACE: second */
    shmem_barrier_all();
    printf("%d %ld\n", me, data[1]);
    shmem_finalize();
    return 0;
}
