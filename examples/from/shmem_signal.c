/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem_signal: data with a signal: the receiver waits for the signal, and has the data. */
#include <rma.h>
#include <stdio.h>

static long box[4];
static uint64_t arrived;

int main(void) {
    if (rma_init() != RMA_SUCCESS) return 1;
    const int me = rma_my_pe(), n = rma_n_pes(), right = (me + 1) % n, left = (me + n - 1) % n;
    const long x[4] = {me, 10 + me, 20 + me, 30 + me};
    int wrong = 0;

    /* SHMEM: shmem_long_put_signal(box, x, 4, &arrived, 1, SHMEM_SIGNAL_ADD, right) */
    rma_put_signal(box, x, sizeof x, &arrived, 1, RMA_SIGNAL_ADD, right);
    /* SHMEM: shmem_signal_wait_until(&arrived, SHMEM_CMP_GE, 1) */
    rma_signal_wait_until(&arrived, RMA_CMP_GE, 1);
    for (int i = 0; i < 4; i++) wrong |= box[i] != 10 * i + left;
    /* SHMEM: shmem_signal_fetch(&arrived) */
    wrong |= rma_signal_fetch(&arrived) != 1;
    if (wrong) printf("shmem_signal: PE %d was given %ld\n", me, box[0]);
    rma_finalize();
    return wrong;
}
