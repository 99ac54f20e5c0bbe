/* SPDX-License-Identifier: BSD-3-Clause */
/* Work is dealt out by an atomic counter: whoever draws a piece writes its place of the result on PE 0. No two PEs
 * draw the same piece. */
/* PES: 3 */
#include <shmem.h>

#define PIECES 30
static int next_piece, results[PIECES];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    int wrong = 0;
    for (;;) {
        const int piece = shmem_int_atomic_fetch_inc(&next_piece, 0);
        if (piece >= PIECES) break;
        shmem_int_p(&results[piece], piece * piece, 0);
    }
    shmem_barrier_all();
    if (me == 0)
        for (int i = 0; i < PIECES; i++) wrong += results[i] != i * i;
    shmem_finalize();
    return wrong;
}
