/* SPDX-License-Identifier: BSD-3-Clause */
/* linked_list_attached: a linked list whose nodes come from malloc and are attached one by one.
 *
 *     mpiexec -n 4 ./linked_list_attached [nodes per PE]
 *
 * It does what the linked list among the examples of MPI-3.1, section 11.8, does on a dynamic window (section 11.2.4).
 * There the program has to do by hand what the library does here:
 *   links     MPI: each link is two words, a rank and an address that the owner takes by MPI_Get_address; the first
 *             one must be sent to all by a broadcast, and no compare-and-swap changes both words at once.
 *             Here: a global pointer, which rma_attach returns, is one word; the head is a global variable, at the
 *             same symmetric address on all PEs.
 *   epochs    MPI: lock_all, a flush after each operation, and in the end unlock_all. Here: none.
 *   node      MPI: PEs of one node also use the window. Here: they read each other's memory.
 *   old links MPI: an access to memory that has been detached is undefined; it may read or overwrite whatever has come
 *             there since. Here: rma_detach waits for the accesses under way, and later ones are errors, also where
 *             another region has been attached at the same address.
 *
 * Phases, with a barrier between them:
 *   insert    each PE allocates, attaches, fills its nodes, and links each at the head
 *   traverse  each PE reads all nodes, and checks that each node is there once
 *   detach    each PE detaches its own nodes, which is safe since nobody walks along the list any more
 *   stale     each PE tries all pointers that it has found: each one must be an error
 *
 * If PEs may walk along the list while nodes are removed, a program must know when the last PE has passed: see
 * linked_list. */
#include <inttypes.h>
#include <rma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    rma_gptr_t next; /* null: it is the last one */
    int64_t owner, number;
};

static rma_gptr_t head; /* symmetric, as all global variables are; PE 0's is the head of the list */

static _Noreturn void die(const char *what, long number) {
    fprintf(stderr, "linked_list_attached: PE %d: %s %ld. %s\n", rma_my_pe(), what, number, rma_last_error());
    rma_abort(1);
}

/* insert: a new node of this PE, linked at the head. */
static struct node *insert(long number) {
    struct node *node = malloc(sizeof *node);
    rma_gptr_t g, found;
    if (!node) die("no memory for node", number);
    if (rma_attach(node, sizeof *node, &g) != RMA_SUCCESS) die("cannot attach node", number);
    node->owner = rma_my_pe();
    node->number = number;
    found = rma_atomic_fetch(&head, 0);
    do {
        node->next = found;
        /* A release: a PE that follows the pointer sees the node's content. Pairs with the fetch in traverse(). */
        found = rma_atomic_compare_swap(&head, found, g, 0);
    } while (found != node->next);
    return node;
}

/* traverse: pointers to all nodes, in the order of the list. Each of the n nodes of each PE must be there once. */
static void traverse(long n, rma_gptr_t *all) {
    long total = n * rma_n_pes(), length = 0;
    bool *seen = calloc((size_t)total, sizeof *seen);
    struct node node;
    if (!seen) die("no memory to check so many nodes:", total);
    for (rma_gptr_t at = rma_atomic_fetch(&head, 0); at != RMA_GPTR_NULL; at = node.next) {
        if (length == total) die("the list has more nodes than", total);
        rma_gptr_get(&node, at, sizeof node);
        if (node.owner != rma_gptr_pe(at) || node.number < 0 || node.number >= n)
            die("no node that was inserted is the one at place", length);
        if (seen[node.owner * n + node.number]) die("this node was there before: the one at place", length);
        seen[node.owner * n + node.number] = true;
        all[length++] = at;
    }
    if (length != total) die("nodes are missing: the list has", length);
    free(seen);
}

/* count_stale: how many of these pointers the library refuses, both for reading and for writing. Meanwhile errors are
 * returned; by default they would end the job. */
static long count_stale(const rma_gptr_t *all, long total) {
    rma_errhandler *before = rma_set_errhandler(rma_errors_return);
    struct node node = {.owner = -1};
    long refused = 0;
    for (long i = 0; i < total; i++)
        refused += rma_gptr_get(&node, all[i], sizeof node) == RMA_ERR_ADDRESS &&
                   rma_gptr_put(all[i], &node, sizeof node) == RMA_ERR_ADDRESS;
    rma_set_errhandler(before);
    return refused;
}

static double barrier_time(void) {
    rma_barrier_all();
    return rma_wtime();
}

static void run(long n) {
    long total = n * rma_n_pes();
    struct node **own = calloc((size_t)n, sizeof *own);
    rma_gptr_t *all = calloc((size_t)total, sizeof *all);
    if (!own || !all) die("no memory for pointers to so many nodes:", total);

    double start = barrier_time();
    for (long i = 0; i < n; i++) own[i] = insert(i);
    double inserted = barrier_time();
    traverse(n, all);
    double traversed = barrier_time(); /* from here on nobody walks along the list */
    for (long i = 0; i < n; i++) {
        if (rma_detach(own[i]) != RMA_SUCCESS) die("cannot detach node", i);
        free(own[i]);
    }
    double detached = barrier_time();
    long refused = count_stale(all, total);
    if (refused != total) die("pointers to detached nodes were used:", total - refused);

    if (rma_my_pe() == 0) {
        printf("insert    %ld nodes by %d PEs, attached one by one: %.0f/s\n", total, rma_n_pes(),
               (double)total / (inserted - start));
        printf("traverse  by each PE, each node found once: %.2f us for a node\n",
               (traversed - inserted) * 1e6 / (double)total);
        printf("detach    %.0f/s\n", (double)total / (detached - traversed));
        printf("stale     %ld pointers refused, the last one with: %s\n", refused, rma_last_error());
    }
    free(all);
    free(own);
}

int main(int argc, char **argv) {
    if (rma_init() != RMA_SUCCESS) return 1;
    long n = rma_n_nodes() > 1 ? 100 : 1000; /* an operation takes longer between nodes */
    char more;
    bool help = argc > 1 && strcmp(argv[1], "--help") == 0;
    /* A PE can have millions of regions. */
    bool wrong =
        !help && (argc > 2 || (argc == 2 && (sscanf(argv[1], "%ld%c", &n, &more) != 1 || n < 1 || n > 1000000)));
    int code = wrong ? 2 : 0;
    if (help || wrong) {
        if (rma_my_pe() == 0)
            fprintf(wrong ? stderr : stdout,
                    "usage: linked_list_attached [nodes per PE, 1 to 1000000; 1000, on several nodes 100]\n");
    } else {
        run(n);
    }
    rma_finalize();
    return code;
}
