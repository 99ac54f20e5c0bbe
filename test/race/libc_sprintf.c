/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 0 composes a text in a buffer that a nonblocking put still reads. Mended: after quiet. */
#include <shmem.h>
#include <stdio.h>

static char text[32];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    static char line[32] = "first";
    shmem_putmem_nbi(text, line, sizeof line, 1 - me); /* RACE: first */
#ifndef RACY
    shmem_quiet();
#endif
    sprintf(line, "PE %d%c", me, 'a'); /* RACE: second */
    shmem_barrier_all();
    puts(text);
    shmem_finalize();
    return 0;
}
