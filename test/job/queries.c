/* SPDX-License-Identifier: BSD-3-Clause */
/* Who and where: the numbers are MPI's, all PEs agree on the nodes, and queries need no communication.
 *
 * Broken by another order of PEs than MPI_COMM_WORLD's, by nodes numbered differently on two PEs, by a rma_on_node or
 * rma_ptr that disagrees with who shares memory, and by clocks that differ within a node. */
#include "job.h"

#include <mpi.h>

struct picture {
    int node, n_nodes, node_me, node_n;
};

static void pictures_fit(void) {
    struct picture mine = {rma_my_node(), rma_n_nodes(), rma_node_my_pe(), rma_node_n_pes()}, all[JOB_PES_MAX];
    int on_node[JOB_PES_MAX] = {0}, nodes = 0, rank, size, most;
    const char *cut = getenv("RMA_NODE_PES");
    MPI_Comm here;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(job.me == rank && job.n == size, "PE %d of %d is rank %d of %d", job.me, job.n, rank, size);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_rank(here, &rank);
    MPI_Comm_size(here, &size);
    MPI_Comm_free(&here);
    if (cut) { /* into blocks, of which the last may be smaller */
        most = atoi(cut);
        size = size - rank / most * most < most ? size - rank / most * most : most;
        rank %= most;
    }
    CHECK(mine.node_me == rank && mine.node_n == size, "%d of %d on the node is rank %d of %d", mine.node_me,
          mine.node_n, rank, size);

    MPI_Allgather(&mine, (int)sizeof mine, MPI_BYTE, all, (int)sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
    for (int pe = 0; pe < job.n; pe++) {
        const struct picture *p = &all[pe];
        CHECK(p->n_nodes == mine.n_nodes, "PE %d sees %d nodes, not %d", pe, p->n_nodes, mine.n_nodes);
        CHECK(p->node >= 0 && p->node < p->n_nodes, "PE %d is on node %d of %d", pe, p->node, p->n_nodes);
        CHECK(rma_on_node(pe) == (p->node == mine.node), "PE %d is on node %d, this one on %d", pe, p->node, mine.node);
        CHECK(p->node_me == on_node[p->node], "PE %d is number %d of its node, after %d", pe, p->node_me,
              on_node[p->node]);
        if (on_node[p->node]++ == 0) nodes++;
    }
    CHECK(nodes == mine.n_nodes, "PEs are on %d of %d nodes", nodes, mine.n_nodes);
    for (int pe = 0; pe < job.n; pe++)
        CHECK(all[pe].node_n == on_node[all[pe].node], "PE %d counts %d on its node", pe, all[pe].node_n);
}

static void pointers_reach(void) {
    int *word = rma_malloc(sizeof *word), local = 0, *alone;
    CHECK(word != NULL, "%s", rma_last_error());
    *word = 1000 + job.me;
    OK(rma_barrier_all());
    for (int pe = 0; pe < job.n; pe++) {
        int *there;
        QUIETLY((there = rma_ptr(word, pe)) != NULL, rma_on_node(pe));
        if (there) CHECK(*there == 1000 + pe, "PE %d's word reads %d", pe, *there);
    }
    CHECK(rma_ptr(word, job.me) == word, "%p", rma_ptr(word, job.me));

    /* What is not symmetric has no copy elsewhere, and to ask for it is no error. */
    OK(rma_alloc_mem(sizeof *alone, &alone));
    for (int pe = 0; pe < job.n; pe++) {
        QUIETLY(rma_ptr(&local, pe), NULL);
        QUIETLY(rma_ptr(alone, pe), NULL);
        QUIETLY(rma_ptr(NULL, pe), NULL);
    }
    OK(rma_free_mem(alone));
    OK(rma_free(word));
}

/* On a node: what happened before by one PE's clock and a barrier is not later by another's. */
static void clocks_agree(void) {
    double *times = rma_calloc((size_t)job.n, sizeof *times), before = rma_wtime(), after;
    CHECK(times != NULL, "%s", rma_last_error());
    for (int i = 0; i < job.n_near; i++) OK(rma_p(&times[job.me], before, job.pes[i]));
    OK(rma_barrier_all());
    after = rma_wtime();
    for (int i = 0; i < job.n_near; i++)
        CHECK(times[job.pes[i]] <= after, "PE %d was %g s ahead", job.pes[i], times[job.pes[i]] - after);
    for (int i = 0; i < 1000; i++) {
        double now = rma_wtime();
        CHECK(now >= after, "time went back by %g s", after - now);
        after = now;
    }
    OK(rma_free(times));
}

static void texts_stand(void) {
    static const int strange[] = {-1, RMA_ERR_SYSTEM + 1, INT_MAX, INT_MIN};
    for (int code = RMA_SUCCESS; code <= RMA_ERR_SYSTEM; code++) {
        CHECK(rma_strerror(code)[0], "code %d has no text", code);
        for (int other = RMA_SUCCESS; other < code; other++)
            CHECK(strcmp(rma_strerror(code), rma_strerror(other)) != 0, "%d and %d are both '%s'", code, other,
                  rma_strerror(code));
    }
    for (size_t i = 0; i < sizeof strange / sizeof strange[0]; i++)
        CHECK(strstr(rma_strerror(strange[i]), "unknown"), "%d is '%s'", strange[i], rma_strerror(strange[i]));
    CHECK(strcmp(rma_version(), RMA_VERSION) == 0, "%s, compiled with %s", rma_version(), RMA_VERSION);
    CHECK(strcmp(rma_version(), job_text("%d.%d.%d", RMA_VERSION_MAJOR, RMA_VERSION_MINOR, RMA_VERSION_PATCH)) == 0,
          "%s", rma_version());
}

int main(void) {
    job_start();
    CHECK(rma_last_code() == RMA_SUCCESS && rma_last_error()[0] == 0, "an error without a mistake: %s",
          rma_last_error());
    CHECK(rma_initialized() == 1, "%d", rma_initialized());
    pictures_fit();
    pointers_reach();
    clocks_agree();
    texts_stand();
    EXPECT_ZERO("rma_on_node", rma_on_node(-1), RMA_ERR_PE, "-1", job_text("0..%d", job.n - 1));
    EXPECT_ZERO("rma_on_node", rma_on_node(job.n), RMA_ERR_PE, job_text("%d is outside 0..%d", job.n, job.n - 1));
    return job_end();
}
