/* SPDX-License-Identifier: BSD-3-Clause */
/* A nonblocking get of every second structure, by global pointer: the program reads its buffer before the quiet.
 * Mended: it reads what lies between the structures that are got. */
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
    const ptrdiff_t stride = 2 * sizeof(struct point);
    const size_t count = 4;
    const rma_gptr_t all = rma_gptr(points, 1);
    struct point near[8] = {{0, 0, 0}};
    if (me == 0) {
        rma_gptr_get_section_nbi(near, all, &stride, &stride, sizeof near[0], 1, &count); /* RACE: first */
#ifdef RACY
        printf("%g\n", (double)near[4].z); /* RACE: second */
#else
        printf("%g\n", (double)near[3].z);
#endif
        rma_quiet();
    }
    rma_finalize();
    return 0;
}
