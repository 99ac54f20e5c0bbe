/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress by call: without the progress thread a PE serves others whenever it calls rma_progress; with the restarted
 * thread it serves them without a call.
 *
 * Broken by a thread that continues after it was ended, or does not start again; by an rma_progress that serves nobody,
 * or waits; by an rma_test_quiet that waits for the target, or returns 1 too early; and by a runtime that needs the
 * thread. On an odd number of PEs RMA_PROGRESS=none keeps it from starting. */
#include "job.h"

#include <mpi.h>

static long *count, *done; /* symmetric: operations on this PE, and PEs that are through with it */

/* All others work on PE `target`, which looks at its own memory and does nothing else but, by_call, call rma_progress.
 */
static void serve(int target, bool by_call) {
    long rounds = job_far_rounds(200, 50, 20);
    *count = *done = 0;
    OK(rma_barrier_all());
    if (job.me == target) {
        while (rma_atomic_fetch(done, job.me) < job.n - 1) {
            if (by_call) OK(rma_progress());
            job_pause();
        }
        CHECK(rma_atomic_fetch(count, job.me) == (job.n - 1) * rounds, "%ld operations, not %ld", *count,
              (job.n - 1) * rounds);
    } else {
        for (long i = 0; i < rounds; i++) CHECK(rma_atomic_fetch_add(count, 1L, target) >= i, "an operation was lost");
        rma_atomic_fetch_add(done, 1L, target);
    }
    OK(rma_barrier_all());
}

/* While the last PE does nothing for others, rma_test_quiet of the others returns; then it finds all complete. The
 * default context does not know what another one has under way. */
static void test_quiets(void) {
    long *words = rma_calloc((size_t)job.n * 2, sizeof *words), here[2] = {job.me + 1, job.me + 2}, back = 0;
    const int last = job.n - 1;
    rma_ctx *ctx;
    CHECK(words != NULL, "%s", rma_last_error());
    OK(rma_ctx_create(0, &ctx));
    OK(rma_put(&words[2 * job.me], &back, sizeof back, last)); /* the first contact may have to ask */
    OK(rma_ctx_put(ctx, &words[2 * job.me + 1], &back, sizeof back, last));
    OK(rma_quiet());
    OK(rma_ctx_quiet(ctx));
    OK(rma_barrier_all());
    OK(rma_progress_thread(0));
    QUIETLY(rma_test_quiet(), 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (job.me != last) {
        OK(rma_put_nbi(&words[2 * job.me], &here[0], sizeof here[0], last));
        OK(rma_ctx_put_nbi(ctx, &words[2 * job.me + 1], &here[1], sizeof here[1], last));
        for (int i = 0; i < 100; i++) (void)rma_test_quiet(), (void)rma_ctx_test_quiet(ctx);
        if (rma_on_node(last)) QUIETLY(rma_test_quiet(), 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(rma_progress_thread(1));
    while (!rma_test_quiet()) job_pause();
    while (!rma_ctx_test_quiet(ctx)) job_pause();
    OK(rma_sync_all()); /* completes nothing by itself */
    for (int pe = 0; job.me == last && pe < last; pe++)
        CHECK(words[2 * pe] == pe + 1 && words[2 * pe + 1] == pe + 2, "PE %d's words are %ld and %ld", pe,
              words[2 * pe], words[2 * pe + 1]);
    OK(rma_get_nbi(&back, &words[0], sizeof back, last));
    while (!rma_test_quiet()) job_pause();
    CHECK(back == (last > 0 ? 1 : 0), "%ld was got", back);
    OK(rma_ctx_destroy(ctx));
    EXPECT_ZERO("rma_ctx_test_quiet", rma_ctx_test_quiet(ctx), RMA_ERR_ARG, "is no context, or has been destroyed");
    EXPECT_ZERO("rma_ctx_test_quiet", rma_ctx_test_quiet(RMA_CTX_INVALID), RMA_ERR_ARG, "RMA_CTX_INVALID");
    OK(rma_free(words));
}

int main(void) {
    const char *size = getenv("PMI_SIZE");
    if (size && atoi(size) % 2) setenv("RMA_PROGRESS", "none", 1);
    job_start();
    count = rma_calloc(1, sizeof *count);
    done = rma_calloc(1, sizeof *done);
    CHECK(count && done, "%s", rma_last_error());
    OK(rma_progress());
    OK(rma_progress_thread(0));
    OK(rma_progress_thread(0));
    DOING("serving by call");
    for (int pe = 0; pe < job.n; pe++) serve(pe, true);
    OK(rma_progress_thread(1));
    OK(rma_progress_thread(7));
    OK(rma_barrier_all());
    DOING("serving by the thread");
    for (int pe = 0; pe < job.n; pe++) serve(pe, false);
    for (int i = 0; i < 20; i++) {
        DOING("ending and starting the thread");
        OK(rma_progress_thread(i & 1));
        serve(i % job.n, !(i & 1));
    }
    DOING("testing for quiet");
    test_quiets();
    OK(rma_free(done));
    OK(rma_free(count));
    return job_end();
}
