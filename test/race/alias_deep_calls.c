/* SPDX-License-Identifier: BSD-3-Clause */
/* The put is four calls deep on one PE, the load four calls deep on the other. Mended by a barrier. */
#include <shmem.h>
#include <stdio.h>

struct mesh {
    double *cells;
    int n;
};

static void __attribute__((noinline)) send_cells(const struct mesh *m, const double *from, int pe) {
    shmem_double_put(m->cells, from, (size_t)m->n, pe); /* RACE: first */
}
static void __attribute__((noinline)) send_all(const struct mesh *m, int pe) {
    const double values[4] = {1, 2, 3, 4};
    send_cells(m, values, pe);
}
static double __attribute__((noinline)) value_at(const struct mesh *m, int i) {
    const double value = m->cells[i]; /* RACE: second */
    return value;
}
static double __attribute__((noinline)) norm(const struct mesh *m) { return value_at(m, 0) + value_at(m, m->n - 1); }
static double __attribute__((noinline)) residual(const struct mesh *m) { return 1.0 / (1.0 + norm(m)); }

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    struct mesh m = {shmem_calloc(4, sizeof(double)), 4};
    if (!m.cells) shmem_global_exit(1);
    if (me == 0) send_all(&m, 1);
#ifndef RACY
    shmem_barrier_all();
#endif
    if (me == 1) printf("%g\n", residual(&m));
    shmem_free(m.cells);
    shmem_finalize();
    return 0;
}
