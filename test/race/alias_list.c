/* SPDX-License-Identifier: BSD-3-Clause */
/* A linked list in a symmetric block: PE 1 walks it while PE 0 writes one node's value. Mended by a barrier. */
#include <shmem.h>
#include <stdio.h>

struct node {
    int next, value;
};

static int __attribute__((noinline)) walk(const struct node *nodes) {
    int sum = 0;
    for (int at = 0; at >= 0; at = nodes[at].next) sum += nodes[at].value; /* RACE: second */
    return sum;
}

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    struct node *nodes = shmem_malloc(4 * sizeof *nodes);
    if (!nodes) shmem_global_exit(1);
    for (int i = 0; i < 4; i++) nodes[i] = (struct node){i < 3 ? i + 1 : -1, i};
    shmem_barrier_all();
    if (me == 0) shmem_int_p(&nodes[2].value, 50, 1); /* RACE: first */
#ifndef RACY
    shmem_barrier_all();
#endif
    if (me == 1) printf("%d\n", walk(nodes));
    shmem_free(nodes);
    shmem_finalize();
    return 0;
}
