/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 polls by rma_g, a relaxed load, and a fence behind it acquires nothing. Mended: it polls by rma_atomic_fetch. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>
#include <unistd.h>

static int data, flag;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    const int value = 3;
    if (me == 0) {
        rma_put(&data, &value, sizeof value, 1); /* RACE: first */
        rma_fence();
        rma_p(&flag, 1, 1);
    } else {
#ifdef RACY
        while (rma_g(&flag, 1) == 0) usleep(50);
        rma_fence();
#else
        while (rma_atomic_fetch(&flag, 1) == 0) usleep(50);
#endif
        printf("%d\n", data); /* RACE: second */
    }
    rma_finalize();
    return 0;
}
