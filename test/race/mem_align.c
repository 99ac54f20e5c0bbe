/* SPDX-License-Identifier: BSD-3-Clause */
/* Two blocks from shmem_align: PE 0 puts to the first one, and PE 1's pointer says the first one, too. Mended: the
 * second. */
#include <shmem.h>

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    double *first = shmem_align(4096, 4096), *second = shmem_align(256, 4096);
    if (!first || !second) shmem_global_exit(1);
    const double value = 1.25;
#ifdef RACY
    double *mine = first;
#else
    double *mine = second;
#endif
    if (me == 0) shmem_double_put(first + 511, &value, 1, 1); /* RACE: first */
    if (me == 1) mine[511] = 2;                               /* RACE: second */
    shmem_free(second);
    shmem_free(first);
    shmem_finalize();
    return 0;
}
