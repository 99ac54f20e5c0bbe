/* SPDX-License-Identifier: BSD-3-Clause */
/* A program from before OpenSHMEM 1.2: start_pes, any number of times, and nothing at the end. Its puts before the
 * return from main arrive.
 *
 * Broken by a second start_pes that restarts, by an end that does not wait for the others, and by a job that the
 * launcher reports as failed. */
#include <mpp/shmem.h>

#include <stdio.h>
#include <stdlib.h>

static int word;
static long psync[_SHMEM_BARRIER_SYNC_SIZE];

int main(void) {
    int me, n;
    start_pes(0);
    me = _my_pe();
    n = _num_pes();
    for (int i = 0; i < _SHMEM_BARRIER_SYNC_SIZE; i++) psync[i] = _SHMEM_SYNC_VALUE;
    start_pes(n + 5);
    if (_num_pes() != n) abort();
    shmem_barrier_all();
    shmem_int_p(&word, 1 + me, (me + 1) % n);
    shmem_int_wait_until(&word, _SHMEM_CMP_NE, 0);
    shmem_barrier(0, 0, n, psync);
    if (word != 1 + (me + n - 1) % n) {
        fprintf(stderr, "PE %d: not so: %d\n", me, word);
        abort();
    }
    return 0;
}
