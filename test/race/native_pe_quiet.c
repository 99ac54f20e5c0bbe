/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_pe_quiet names PE 1, and the put is to PE 2, from which PE 1 gets. Mended: it names PE 2. */
/* NATIVE */
/* PES: 3 */
#include <rma.h>
#include <stdio.h>

static int data, flag;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    const int value = 4;
    if (me == 0) {
        rma_put(&data, &value, sizeof value, 2); /* RACE: first */
#ifdef RACY
        rma_pe_quiet((int[]){1}, 1);
#else
        rma_pe_quiet((int[]){2}, 1);
#endif
        rma_p(&flag, 1, 1);
    } else if (me == 1) {
        int copy = 0;
        rma_wait_until(&flag, RMA_CMP_EQ, 1);
        rma_get(&copy, &data, sizeof copy, 2); /* RACE: second */
        printf("%d\n", copy);
    }
    rma_finalize();
    return 0;
}
