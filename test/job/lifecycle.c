/* SPDX-License-Identifier: BSD-3-Clause */
/* The runtime runs from the first rma_init to the last rma_finalize, and before and after that every call returns an
 * error.
 *
 * Broken by a nested init that restarts or a nested finalize that ends the runtime too early, by a call that crashes,
 * hangs or succeeds while the runtime is not running, and by a second end that fails. Here librma starts MPI itself. On
 * an odd number of PEs the program finalizes MPI while the runtime is still running: that ends both. */
#include "job.h"

#include <mpi.h>

/* Each call of the interface that needs the runtime, with what were fine arguments. */
static void nothing_works(const char *when, void *block, rma_gptr_t g) {
    static long anywhere[4];
    static double value;
    long *target = block ? block : anywhere;
    void *p = &value;
    CHECK(rma_initialized() == 0, "%s", when);

    EXPECT("rma_my_pe", rma_my_pe() == -1 ? rma_last_code() : 0, RMA_ERR_STATE, when);
    EXPECT("rma_n_pes", rma_n_pes() == -1 ? rma_last_code() : 0, RMA_ERR_STATE, when);
    EXPECT("rma_node_my_pe", rma_node_my_pe() == -1 ? rma_last_code() : 0, RMA_ERR_STATE, when);
    EXPECT("rma_node_n_pes", rma_node_n_pes() == -1 ? rma_last_code() : 0, RMA_ERR_STATE, when);
    EXPECT("rma_my_node", rma_my_node() == -1 ? rma_last_code() : 0, RMA_ERR_STATE, when);
    EXPECT("rma_n_nodes", rma_n_nodes() == -1 ? rma_last_code() : 0, RMA_ERR_STATE, when);
    EXPECT_ZERO("rma_on_node", rma_on_node(0), RMA_ERR_STATE, when);

    EXPECT_ZERO("rma_malloc", rma_malloc(8) != NULL, RMA_ERR_STATE, when);
    EXPECT_ZERO("rma_calloc", rma_calloc(1, 8) != NULL, RMA_ERR_STATE, when);
    EXPECT_ZERO("rma_aligned_alloc", rma_aligned_alloc(64, 8) != NULL, RMA_ERR_STATE, when);
    EXPECT_ZERO("rma_realloc", rma_realloc(block, 8) != NULL, RMA_ERR_STATE, when);
    EXPECT("rma_free", rma_free(block), RMA_ERR_STATE, when);
    EXPECT("rma_alloc_mem", rma_alloc_mem(8, &p), RMA_ERR_STATE, when);
    CHECK(p == &value, "rma_alloc_mem wrote %p", p);
    EXPECT("rma_free_mem", rma_free_mem(block), RMA_ERR_STATE, when);

    EXPECT("rma_put", rma_put(target, anywhere, 8, 0), RMA_ERR_STATE, when);
    EXPECT("rma_get", rma_get(anywhere, target, 8, 0), RMA_ERR_STATE, when);
    EXPECT("rma_put_nbi", rma_put_nbi(target, anywhere, 8, 0), RMA_ERR_STATE, when);
    EXPECT("rma_get_nbi", rma_get_nbi(anywhere, target, 8, 0), RMA_ERR_STATE, when);
    EXPECT("rma_put", rma_put(target, anywhere, 0, 0), RMA_ERR_STATE, when);
    EXPECT("rma_iput", rma_iput(target, anywhere, 1, 1, 8, 1, 0), RMA_ERR_STATE, when);
    EXPECT("rma_iget", rma_iget(anywhere, target, 1, 1, 8, 1, 0), RMA_ERR_STATE, when);
    EXPECT("rma_iput_signal",
           rma_iput_signal(target, anywhere, 1, 1, 8, 1, (uint64_t *)(void *)target, 1, RMA_SIGNAL_SET, 0),
           RMA_ERR_STATE, when);
    EXPECT("rma_p_double", rma_p((double *)(void *)target, 1.0, 0), RMA_ERR_STATE, when);
    EXPECT_ZERO("rma_g_double", rma_g((double *)(void *)target, 0) != 0, RMA_ERR_STATE, when);
    EXPECT_ZERO("rma_ptr", rma_ptr(target, 0) != NULL, RMA_ERR_STATE, when);
    EXPECT("rma_fence", rma_fence(), RMA_ERR_STATE, when);
    EXPECT("rma_quiet", rma_quiet(), RMA_ERR_STATE, when);
    EXPECT("rma_barrier_all", rma_barrier_all(), RMA_ERR_STATE, when);
    EXPECT("rma_broadcast", rma_broadcast(RMA_TEAM_WORLD, target, target, 8, 0), RMA_ERR_STATE, when);
    EXPECT("rma_gather", rma_gather(RMA_TEAM_WORLD, target, target, 8, 0), RMA_ERR_STATE, when);
    EXPECT("rma_scatter", rma_scatter(RMA_TEAM_WORLD, target, target, 8, 0), RMA_ERR_STATE, when);
    EXPECT("rma_team_split_color", rma_team_split_color(RMA_TEAM_WORLD, 1, 1, &(rma_team *){NULL}), RMA_ERR_STATE,
           when);
    EXPECT_ZERO("rma_test_quiet", rma_test_quiet(), RMA_ERR_STATE, when);

    EXPECT_ZERO("rma_atomic_fetch_long", rma_atomic_fetch(target, 0), RMA_ERR_STATE, when);
    EXPECT("rma_atomic_set_long", rma_atomic_set(target, 1, 0), RMA_ERR_STATE, when);
    EXPECT_ZERO("rma_atomic_swap_long", rma_atomic_swap(target, 1, 0), RMA_ERR_STATE, when);
    EXPECT_ZERO("rma_atomic_compare_swap_long", rma_atomic_compare_swap(target, 0, 1, 0), RMA_ERR_STATE, when);
    EXPECT_ZERO("rma_atomic_fetch_add_long", rma_atomic_fetch_add(target, 1, 0), RMA_ERR_STATE, when);
    EXPECT("rma_atomic_add_long", rma_atomic_add(target, 1, 0), RMA_ERR_STATE, when);

    EXPECT_ZERO("rma_gptr", rma_gptr(target, 0) != 0, RMA_ERR_STATE, when);
    EXPECT("rma_gptr_put", rma_gptr_put(g, anywhere, 8), RMA_ERR_STATE, when);
    EXPECT("rma_gptr_get", rma_gptr_get(anywhere, g, 8), RMA_ERR_STATE, when);
    EXPECT_ZERO("rma_gptr_atomic_fetch", rma_gptr_atomic_fetch(g), RMA_ERR_STATE, when);
    EXPECT("rma_gptr_atomic_set", rma_gptr_atomic_set(g, 1), RMA_ERR_STATE, when);
    EXPECT_ZERO("rma_gptr_atomic_swap", rma_gptr_atomic_swap(g, 1), RMA_ERR_STATE, when);
    EXPECT_ZERO("rma_gptr_atomic_compare_swap", rma_gptr_atomic_compare_swap(g, 0, 1), RMA_ERR_STATE, when);
    EXPECT_ZERO("rma_gptr_atomic_fetch_add", rma_gptr_atomic_fetch_add(g, 1), RMA_ERR_STATE, when);
    EXPECT("rma_gptr_put_nbi", rma_gptr_put_nbi(g, anywhere, 8), RMA_ERR_STATE, when);
    EXPECT("rma_gptr_get_nbi", rma_gptr_get_nbi(anywhere, g, 8), RMA_ERR_STATE, when);
    EXPECT("rma_gptr_p_long", rma_gptr_p_long(g, 1), RMA_ERR_STATE, when);
    EXPECT_ZERO("rma_gptr_g_long", rma_gptr_g_long(g), RMA_ERR_STATE, when);
    EXPECT("rma_gptr_put_signal", rma_gptr_put_signal(g, anywhere, 8, g, 1, RMA_SIGNAL_SET), RMA_ERR_STATE, when);
    EXPECT("rma_gptr_iput", rma_gptr_iput(g, anywhere, 1, 1, 8, 1), RMA_ERR_STATE, when);
    EXPECT("rma_gptr_iget", rma_gptr_iget(anywhere, g, 1, 1, 8, 1), RMA_ERR_STATE, when);
    EXPECT("rma_ctx_gptr_put", rma_ctx_gptr_put(RMA_CTX_DEFAULT, g, anywhere, 8), RMA_ERR_STATE, when);
    EXPECT_ZERO("rma_ctx_gptr_g_long", rma_ctx_gptr_g_long(RMA_CTX_DEFAULT, g), RMA_ERR_STATE, when);
    QUIETLY(rma_gptr_ptr(g), NULL);
    QUIETLY(rma_gptr_pe((rma_gptr_t)7 << 40), 7);
    for (int i = 0; i < 4; i++) CHECK(anywhere[i] == 0, "word %d is %ld", i, anywhere[i]);

    EXPECT("rma_finalize", rma_finalize(), RMA_ERR_STATE, "more often than rma_init");
    CHECK(strcmp(rma_version(), RMA_VERSION) == 0 && rma_strerror(RMA_ERR_STATE)[0] && rma_wtime() > 0,
          "what always works");
}

static void it_works(long *word) {
    CHECK(rma_initialized() == 1, "it is running");
    OK(rma_p(word, 100L + job.me, job_any(1)));
    OK(rma_barrier_all());
    CHECK(*word == 100 + job_any(-1), "%ld", *word);
    OK(rma_barrier_all());
}

int main(void) {
    int provided = -1, finalized = 0;
    long *word;
    rma_gptr_t g;
    job_begin();
    nothing_works("before rma_init", NULL, (rma_gptr_t)1 << 20);
    EXPECT("rma_init_thread", rma_init_thread(-1, &provided), RMA_ERR_ARG, "-1");
    EXPECT("rma_init_thread", rma_init_thread(RMA_THREAD_MULTIPLE + 1, &provided), RMA_ERR_ARG, "4");
    CHECK(provided == -1 && rma_initialized() == 0, "a refused init wrote %d", provided);

    DOING("the first init");
    OK(rma_init_thread(RMA_THREAD_SERIALIZED, &provided));
    CHECK(provided >= RMA_THREAD_SINGLE && provided <= RMA_THREAD_MULTIPLE, "level %d", provided);
    job_look();
    word = rma_calloc(1, sizeof *word);
    CHECK(word != NULL, "%s", rma_last_error());
    g = rma_gptr(word, job.me);
    it_works(word);

    DOING("nested");
    for (int depth = 1; depth <= 3; depth++) {
        int again = -1;
        if (depth & 1)
            OK(rma_init());
        else
            OK(rma_init_thread(RMA_THREAD_SINGLE, &again));
        CHECK(again == (depth & 1 ? -1 : provided), "the level was %d and is %d", provided, again);
        it_works(word);
    }
    for (int depth = 3; depth >= 1; depth--) {
        OK(rma_finalize());
        it_works(word);
    }

    DOING("the last finalize");
    if (job.n & 1) {
        CHECK(MPI_Finalize() == MPI_SUCCESS, "MPI_Finalize");
        CHECK(rma_initialized() == 0, "it is running without MPI");
        EXPECT("rma_put", rma_put(word, word, 8, 0), RMA_ERR_STATE, "after rma_finalize or MPI_Finalize");
        EXPECT("rma_init", rma_init(), RMA_ERR_STATE, "after");
    }
    OK(rma_finalize());
    MPI_Finalized(&finalized);
    CHECK(finalized, "librma has started MPI and not ended it");
    DOING("afterwards");
    nothing_works("after rma_finalize", word, g);
    EXPECT("rma_init", rma_init(), RMA_ERR_STATE, "MPI_Finalize");
    EXPECT("rma_init_thread", rma_init_thread(RMA_THREAD_SINGLE, &provided), RMA_ERR_STATE, "MPI_Finalize");
    CHECK(rma_initialized() == 0, "it is running without MPI");
    EXPECT("rma_finalize", rma_finalize(), RMA_ERR_STATE, "more often than rma_init");
    return 0;
}
