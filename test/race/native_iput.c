/* SPDX-License-Identifier: BSD-3-Clause */
/* A strided put of structures writes the even places, and PE 1 reads place 2. Mended: place 3. */
/* NATIVE */
#include <rma.h>
#include <stdio.h>

struct point {
    float x, y, z;
};
static struct point points[8];

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    const struct point row[4] = {{1, 1, 1}, {2, 2, 2}, {3, 3, 3}, {4, 4, 4}};
    if (me == 0) rma_iput(points, row, 2, 1, sizeof row[0], 4, 1); /* RACE: first */
    if (me == 1) {
#ifdef RACY
        printf("%g\n", (double)points[2].z); /* RACE: second */
#else
        printf("%g\n", (double)points[3].z);
#endif
    }
    rma_finalize();
    return 0;
}
