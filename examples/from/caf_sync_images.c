/* SPDX-License-Identifier: BSD-3-Clause */
/* caf_sync_images: sync images, and events: images that wait for some others, not for all. */
#include <rma.h>
#include <stdio.h>

static uint64_t met[64], ready; /* met[pe]: how often that PE has come */
static long box;

/* Waits for one other PE, as often as both call it. */
static void sync_with(int pe) {
    static uint64_t times[64];
    rma_quiet();
    rma_signal_add(&met[rma_my_pe()], 1, pe);
    rma_signal_wait_until(&met[pe], RMA_CMP_GE, ++times[pe]);
}

int main(void) {
    if (rma_init() != RMA_SUCCESS) return 1;
    const int me = rma_my_pe(), n = rma_n_pes(), right = (me + 1) % n, left = (me + n - 1) % n;
    const long x = 100 + me;
    int wrong = 0;
    if (n > 64) rma_abort(1);

    for (int i = 1; i < n; i++) {
        /* Fortran: sync images (1) */
        if (me == 0) sync_with(i);
        if (me == i) sync_with(0);
    }
    /* Fortran: box[right] = x; event post (ready[right]) */
    rma_put_signal(&box, &x, sizeof x, &ready, 1, RMA_SIGNAL_ADD, right);
    /* Fortran: event wait (ready) */
    rma_signal_wait_until(&ready, RMA_CMP_GE, 1);
    rma_atomic_add(&ready, UINT64_MAX, me); /* one event is used up: minus 1 */
    wrong |= box != 100 + left;
    /* Fortran: call event_query(ready, count) */
    wrong |= rma_signal_fetch(&ready) != 0;

    if (wrong) printf("caf_sync_images: PE %d was given %ld\n", me, box);
    rma_finalize();
    return wrong;
}
