/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 adds up the bytes that PE 0 has put with a signal, by a loop whose loads are recorded together. PE 1 tells
 * before the loop that PE 0 may put the next bytes. Mended: it does so after the loop. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

#define N 5000

static signed char box[N];
static uint64_t full;
static int done;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    signed char bytes[N];
    long sum = 0;
    for (int i = 0; i < N; i++) bytes[i] = (signed char)i;
    for (int round = 1; round <= 2; round++) {
        if (me == 0) {
            shmem_int_wait_until(&done, SHMEM_CMP_GE, round - 1);
            shmem_putmem_signal(box, bytes, N, &full, (uint64_t)round, SHMEM_SIGNAL_SET, 1); /* RACE: first */
        } else if (me == 1) {
            shmem_signal_wait_until(&full, SHMEM_CMP_GE, (uint64_t)round);
#ifdef RACY
            shmem_int_atomic_set(&done, round, 0);
#endif
            for (int i = 0; i < N; i++) sum += box[i]; /* RACE: second */
#ifndef RACY
            shmem_int_atomic_set(&done, round, 0);
#endif
        }
    }
    shmem_barrier_all();
    printf("%ld\n", sum);
    shmem_finalize();
    return 0;
}
