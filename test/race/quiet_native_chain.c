/* SPDX-License-Identifier: BSD-3-Clause */
/* Native calls: PE 0 puts to PE 2 and tells PE 1 by an atomic, which releases all puts; PE 1 tells PE 2, which
 * reads. What PE 1 has seen it passes on. */
/* NATIVE */
/* PES: 3 */
#include <rma.h>
#include <unistd.h>

static long data[4];
static int told;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    const long values[4] = {1, 2, 3, 4};
    int wrong = 0;
    if (me == 0) {
        rma_put(data, values, sizeof values, 2);
        rma_atomic_set(&told, 1, 1);
    } else if (me == 1) {
        rma_wait_until(&told, RMA_CMP_EQ, 1);
        rma_atomic_inc(&told, 2);
    } else {
        while (rma_atomic_fetch(&told, 2) == 0) usleep(20);
        for (int i = 0; i < 4; i++) wrong += data[i] != i + 1;
    }
    rma_finalize();
    return wrong;
}
