/* SPDX-License-Identifier: BSD-3-Clause */
/* A stack of blocks on PE 0: each PE allocates blocks there, fills them and pushes them by a compare-and-swap, whose
 * success releases the block to whoever pops. */
/* NATIVE */
/* PES: 3 */
#include <rma.h>

struct node {
    rma_gptr_t next;
    long value;
};
static rma_gptr_t top;

int main(void) {
    rma_init();
    const int me = rma_my_pe();
    long sum = 0;
    for (int i = 0; i < 4; i++) {
        struct node node = {rma_atomic_fetch(&top, 0), 10 * me + i};
        rma_gptr_t block;
        if (rma_alloc_mem_on(0, sizeof node, &block)) rma_abort(1);
        for (;;) {
            rma_gptr_put(block, &node, sizeof node);
            const rma_gptr_t seen = rma_atomic_compare_swap(&top, node.next, block, 0);
            if (seen == node.next) break;
            node.next = seen;
        }
    }
    rma_barrier_all();
    if (me == 0)
        for (rma_gptr_t at = rma_atomic_fetch(&top, 0); at != RMA_GPTR_NULL;) {
            struct node node;
            rma_gptr_get(&node, at, sizeof node);
            sum += node.value;
            rma_gptr_free(at);
            at = node.next;
        }
    rma_finalize();
    return me == 0 && sum != 3 * 6 + 4 * 30;
}
