/* SPDX-License-Identifier: BSD-3-Clause */
/* What PE 0 puts before rma_put_signal is seen with the signal, what it puts behind may not be. Mended: it puts
 * before. */
/* NATIVE */
#include <rma.h>
#include <stdint.h>
#include <stdio.h>

static int head, body[4];
static uint64_t arrived;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    const int values[4] = {1, 2, 3, 4};
    if (me == 0) {
#ifndef RACY
        rma_put(&head, values, sizeof head, 1);
#endif
        rma_put_signal(body, values, sizeof values, &arrived, 1, RMA_SIGNAL_SET, 1);
#ifdef RACY
        rma_put(&head, values, sizeof head, 1); /* RACE: first */
#endif
    } else {
        rma_signal_wait_until(&arrived, RMA_CMP_EQ, 1);
        printf("%d %d\n", body[3], head); /* RACE: second */
    }
    rma_finalize();
    return 0;
}
