/* SPDX-License-Identifier: BSD-3-Clause */
/* The program clears the destination of a get that is under way: which of the two comes last is open. Mended: it
 * clears first, then gets. */
#include <shmem.h>
#include <stdio.h>
#include <string.h>

static int source[64];
static int dest[64];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 1) {
#ifdef RACY
        shmem_int_get_nbi(dest, source, 64, 0); /* RACE: first */
        memset(dest, 0, sizeof dest);           /* RACE: second */
#else
        memset(dest, 0, sizeof dest);
        shmem_int_get_nbi(dest, source, 64, 0);
#endif
        shmem_quiet();
        printf("%d\n", dest[63]);
    }
    shmem_finalize();
    return 0;
}
