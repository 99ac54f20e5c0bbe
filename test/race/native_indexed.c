/* SPDX-License-Identifier: BSD-3-Clause */
/* Two PEs put elements by index to the same array of PE 1, and both have the index 2. Mended: the second one has 1. */
/* NATIVE */
#include <rma.h>

static int words[16];

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    const int values[3] = {1, 2, 3};
    const ptrdiff_t first[3] = {-3, 0, 2};
#ifdef RACY
    const ptrdiff_t second[3] = {7, 2, -4};
#else
    const ptrdiff_t second[3] = {7, 1, -4};
#endif
    if (me == 0) rma_put_indexed(&words[5], values, first, sizeof values[0], 3, 1);  /* RACE: first */
    if (me == 1) rma_put_indexed(&words[5], values, second, sizeof values[0], 3, 1); /* RACE: second */
    rma_finalize();
    return 0;
}
