/* SPDX-License-Identifier: BSD-3-Clause */
/* The buffer of a nonblocking get grows before quiet, and may move. Mended: after it. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

static int table[10] = {7, 7, 7, 7, 7, 7, 7, 7, 7, 7};

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    int *copy = malloc(10 * sizeof *copy), *more;
    if (!copy) shmem_global_exit(1);
    shmem_int_get_nbi(copy, table, 10, 1 - me); /* RACE: first */
#ifndef RACY
    shmem_quiet();
#endif
    more = realloc(copy, 1000 * sizeof *copy); /* RACE: second */
    if (!more) shmem_global_exit(1);
    shmem_quiet();
    printf("%d %d\n", me, more[9]);
    free(more);
    shmem_finalize();
    return 0;
}
