/* SPDX-License-Identifier: BSD-3-Clause */
/* Two PEs write the same words at the same moments: a PE may find the other's access before its place is there. Each
 * report has both lines all the same. Mended by a barrier. */
/* PES: 2 */
/* SAYS NOT: remote_meet.RACY+0x */
#include <shmem.h>
#include <stdio.h>

#define WORDS 60000
#define STEP  3 /* no run */

static long words[WORDS * STEP], turn;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    for (long i = 0; i < WORDS; i += 100) {
        shmem_long_atomic_inc(&turn, 0);
        while (shmem_long_atomic_fetch(&turn, 0) < 2 * (i / 100 + 1)) continue;
#ifndef RACY
        if (me) shmem_barrier_all();
#endif
        for (long k = i; k < i + 100 && me == 0; k++) words[k * STEP] = k;                  /* RACE: first */
        for (long k = i; k < i + 100 && me == 1; k++) shmem_long_p(&words[k * STEP], k, 0); /* RACE: second */
#ifndef RACY
        if (!me) shmem_barrier_all();
#endif
    }
    shmem_barrier_all();
    if (me == 0) printf("%ld\n", words[STEP]);
    shmem_finalize();
    return 0;
}
