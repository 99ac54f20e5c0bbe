/* SPDX-License-Identifier: BSD-3-Clause */
/* The program presets the word into which a compare-and-swap under way delivers. Mended: it presets before the call. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long owner;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    unsigned long *found = malloc(sizeof *found);
    if (!found) shmem_global_exit(1);
#ifndef RACY
    *found = 99;
#endif
    shmem_ulong_atomic_compare_swap_nbi(found, &owner, 0, (unsigned long)me + 1, 0); /* RACE: first */
#ifdef RACY
    *found = 99; /* RACE: second */
#endif
    shmem_quiet();
    printf("%lu\n", *found);
    free(found);
    shmem_finalize();
    return 0;
}
