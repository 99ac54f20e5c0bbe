/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 puts a table to PE 0, and after a barrier one element near its end once more. PE 0 adds up the table by a loop,
 * whose loads are recorded together: each cell of it must be compared with the puts, however many there are. Mended:
 * PE 1 completes the second put before it sets the flag for which PE 0 waits. */
#include <shmem.h>
#include <stdio.h>

#define N 3000

static long table[N];
static int flag;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    long values[N], sum = 0;
    for (int i = 0; i < N; i++) values[i] = i;
    if (me == 1) shmem_long_put(table, values, N, 0);
    shmem_barrier_all();
    if (me == 1) {
        shmem_long_put(&table[N - 100], values, 1, 0); /* RACE: first */
#ifndef RACY
        shmem_quiet();
#endif
        shmem_int_atomic_set(&flag, 1, 0);
    } else if (me == 0) {
        shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 1);
        for (int i = 0; i < N; i++) sum += table[i]; /* RACE: second */
    }
    shmem_barrier_all();
    printf("%ld\n", sum);
    shmem_finalize();
    return 0;
}
