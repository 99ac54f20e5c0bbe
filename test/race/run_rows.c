/* SPDX-License-Identifier: BSD-3-Clause */
/* Each PE computes rows of a plate from the rows above and below. Its stores to its last row, by a loop, are recorded
 * together; the other PE gets this row. Mended: it does so behind a barrier. */
#include <shmem.h>
#include <stdio.h>

#define W 300
#define H 6

static float plate[H][W], next[H][W];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    float row[W];
    for (int r = 0; r < H; r++)
        for (int c = 0; c < W; c++) plate[r][c] = (float)(r * c + me);
    for (int r = 1; r < H; r++)
        for (int c = 1; c < W - 1; c++)
            next[r][c] = plate[r][c - 1] + plate[r][c + 1] + plate[r - 1][c]; /* RACE: first */
#ifndef RACY
    shmem_barrier_all();
#endif
    if (me == 0) shmem_float_get(row, next[H - 1], W, 1); /* RACE: second */
    shmem_barrier_all();
    if (me == 0) printf("%f\n", (double)row[W / 2]);
    shmem_finalize();
    return 0;
}
