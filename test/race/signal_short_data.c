/* SPDX-License-Identifier: BSD-3-Clause */
/* The data of the signal are seven elements, and PE 1 reads the eighth, which another put brings. Mended: the signal
 * covers all eight. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

static long row[8];
static uint64_t arrived;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const long values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    if (me == 0) {
#ifdef RACY
        shmem_long_put(row + 7, values + 7, 1, 1); /* RACE: first */
        shmem_long_put_signal(row, values, 7, &arrived, 1, SHMEM_SIGNAL_SET, 1);
#else
        shmem_long_put_signal(row, values, 8, &arrived, 1, SHMEM_SIGNAL_SET, 1);
#endif
    } else {
        shmem_signal_wait_until(&arrived, SHMEM_CMP_NE, 0);
        long sum = 0;
        for (int i = 0; i < 8; i++) sum += row[i]; /* RACE: second */
        printf("%ld\n", sum);
    }
    shmem_finalize();
    return 0;
}
