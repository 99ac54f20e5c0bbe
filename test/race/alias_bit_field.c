/* SPDX-License-Identifier: BSD-3-Clause */
/* Two bit fields share a byte: PE 0 puts that byte, PE 1 changes its own field of it. Mended: the fields are in two
 * bytes. */
#include <shmem.h>
#include <stdio.h>

static struct {
    unsigned char mine : 4;
#ifndef RACY
    unsigned char : 0;
#endif
    unsigned char yours : 4;
} flags;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const unsigned char five = 5;
    if (me == 0) shmem_putmem(&flags, &five, 1, 1); /* RACE: first */
    if (me == 1) flags.yours = 3;                   /* RACE: second */
    shmem_barrier_all();
    printf("%d\n", flags.yours);
    shmem_finalize();
    return 0;
}
