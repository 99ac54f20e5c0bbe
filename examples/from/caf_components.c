/* SPDX-License-Identifier: BSD-3-Clause */
/* caf_components: allocatable components: each PE has a block of its own size, which the others read. */
#include <rma.h>
#include <stdio.h>

struct part { /* Fortran: type part; real(8), allocatable :: x(:); end type */
    rma_gptr_t x;
    size_t n;
};
static struct part part; /* Fortran: type(part), save :: part[*] */

int main(void) {
    if (rma_init() != RMA_SUCCESS) return 1;
    const int me = rma_my_pe(), n = rma_n_pes(), right = (me + 1) % n;
    struct part of_right;
    double *x, y = 0;

    /* Fortran: allocate (part%x(10 * this_image())) */
    part.n = 10 * (size_t)(me + 1);
    if (rma_alloc_mem(part.n * sizeof *x, &x) != RMA_SUCCESS) rma_abort(1);
    part.x = rma_gptr(x, me);
    for (size_t i = 0; i < part.n; i++) x[i] = (double)(100 * (size_t)me + i);
    rma_barrier_all();
    /* Fortran: size(part[right]%x) */
    rma_get(&of_right, &part, sizeof part, right);
    /* Fortran: y = part[right]%x(n) */
    rma_gptr_get(&y, of_right.x + (of_right.n - 1) * sizeof y, sizeof y);
    rma_barrier_all();

    const int wrong = (int)y != 100 * right + 10 * (right + 1) - 1;
    if (wrong) printf("caf_components: PE %d reads %g\n", me, y);
    /* Fortran: deallocate (part%x) */
    rma_free_mem(x);
    rma_finalize();
    return wrong;
}
