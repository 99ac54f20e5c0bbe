/* SPDX-License-Identifier: BSD-3-Clause */
/* A stencil over a ring of PEs with two barriers in each round: one before the halos are read, one before they are
 * written again. The two rows change places. */
/* PES: 3 */
#include <shmem.h>

#define N 8
static double rows[2][N + 2];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int n = shmem_n_pes(), left = (me + n - 1) % n, right = (me + 1) % n;
    double *now = rows[0], *next = rows[1];
    for (int i = 1; i <= N; i++) now[i] = 1.0;
    for (int round = 0; round < 4; round++) {
        shmem_double_put_nbi(&now[N + 1], &now[1], 1, left);
        shmem_double_p(&now[0], now[N], right);
        shmem_barrier_all();
        for (int i = 1; i <= N; i++) next[i] = (now[i - 1] + now[i] + now[i + 1]) / 3;
        shmem_barrier_all();
        double *const old = now;
        now = next;
        next = old;
    }
    const int wrong = now[1] < 0.999 || now[N] > 1.001;
    shmem_finalize();
    return wrong;
}
