/* SPDX-License-Identifier: BSD-3-Clause */
/* Data in one context, the flag in another. Mended by the quiet of the first one between the two. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

static int data[2], flag;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    const int values[2] = {1, 2};
    rma_ctx *a, *b;
    if (rma_ctx_create(0, &a) || rma_ctx_create(0, &b)) rma_abort(1);
    if (me == 0) {
        rma_ctx_put(a, data, values, sizeof values, 1); /* RACE: first */
#ifdef RACY
        rma_ctx_quiet(b);
#else
        rma_ctx_quiet(a);
#endif
        rma_ctx_atomic_set(b, &flag, 1, 1);
    } else {
        rma_wait_until(&flag, RMA_CMP_EQ, 1);
        printf("%d\n", data[1]); /* RACE: second */
    }
    rma_ctx_destroy(a);
    rma_ctx_destroy(b);
    rma_finalize();
    return 0;
}
