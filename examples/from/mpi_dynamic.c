/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_dynamic: dynamic windows: each PE links nodes from its own memory into a list that begins on PE 0. */
#include <rma.h>
#include <stdio.h>

struct node {
    rma_gptr_t next;
    long value;
};
static rma_gptr_t head; /* PE 0's */

int main(void) {
    if (rma_init() != RMA_SUCCESS) return 1;
    const int me = rma_my_pe(), n = rma_n_pes();
    struct node *node, seen = {RMA_GPTR_NULL, 0};
    rma_gptr_t mine, first;
    long sum = 0;

    /* MPI: MPI_Alloc_mem(sizeof *node, MPI_INFO_NULL, &node), MPI_Win_attach(win, node, sizeof *node) */
    if (rma_alloc_mem(sizeof *node, &node) != RMA_SUCCESS) rma_abort(1);
    /* MPI: MPI_Get_address(node, &mine) */
    mine = rma_gptr(node, me);
    node->value = me + 1;
    node->next = rma_g(&head, 0);
    /* MPI: MPI_Compare_and_swap(&mine, &node->next, &first, MPI_AINT, 0, head, win), MPI_Win_flush(0, win) */
    while ((first = rma_atomic_compare_swap(&head, node->next, mine, 0)) != node->next) node->next = first;
    rma_barrier_all();

    for (rma_gptr_t g = rma_g(&head, 0); g != RMA_GPTR_NULL; g = seen.next) {
        /* MPI: MPI_Get(&seen, 16, MPI_BYTE, pe, g, 16, MPI_BYTE, win), MPI_Win_flush(pe, win) */
        rma_gptr_get(&seen, g, sizeof seen);
        sum += seen.value;
    }
    const int wrong = sum != (long)n * (n + 1) / 2;
    if (wrong) printf("mpi_dynamic: PE %d finds values that sum to %ld\n", me, sum);
    rma_barrier_all();
    /* MPI: MPI_Win_detach(win, node), MPI_Free_mem(node) */
    rma_free_mem(node);
    rma_finalize();
    return wrong;
}
