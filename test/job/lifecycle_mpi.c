/* SPDX-License-Identifier: BSD-3-Clause */
/* In a program that starts and ends MPI itself the runtime can come and go as often as one likes, also after an init that
 * has failed, and the two may be ended in either order.
 *
 * Broken by an init that fails on one PE and goes on without it on the others, by a finalize that ends the program's MPI
 * too, by one that leaves a mapping or a file behind each time, by an init that finds the state of the last one, and by a
 * window that is still there when MPI ends.
 * On an odd number of PEs MPI is finalized first and the runtime, twice initialized, after it; else the other way. */
#include "job.h"

#include <dirent.h>
#include <mpi.h>

static size_t lines_of(const char *path) {
    size_t n = 0;
    FILE *f = fopen(path, "r");
    CHECK(f != NULL, "no %s", path);
    for (int c; (c = getc(f)) != EOF;) n += c == '\n';
    fclose(f);
    return n;
}

static size_t files_open(void) {
    size_t n = 0;
    DIR *d = opendir("/proc/self/fd");
    CHECK(d != NULL, "no /proc/self/fd");
    while (readdir(d)) n++;
    closedir(d);
    return n;
}

/* One life: allocate, put, look, and leave some blocks for finalize to take away. */
static void live(int turn) {
    const size_t size = (size_t)1 << 20;
    int provided = -1, sum, up = 1;
    unsigned char *block, *alone, *there, *copy = malloc(size);
    long *word;
    rma_gptr_t g;
    OK(turn & 1 ? rma_init() : rma_init_thread(RMA_THREAD_SINGLE, &provided));
    CHECK(rma_initialized() == 1, "turn %d", turn);
    job_look();
    block = rma_malloc(size);
    word = rma_calloc(1, sizeof *word);
    CHECK(block && word && copy, "%s", rma_last_error());
    CHECK(*word == 0, "turn %d: rma_calloc gives %ld", turn, *word);
    OK(rma_alloc_mem(size, &alone));
    memset(alone, turn, size);
    job_fill(block, 0, size, (uint64_t)turn << 8 | (uint64_t)job.me);
    OK(rma_barrier_all());
    g = rma_gptr(block, job_any(1));
    there = rma_gptr_ptr(g);
    if (!there) OK(rma_gptr_get(copy, g, size));
    CHECK(job_differs(there ? there : copy, 0, size, (uint64_t)turn << 8 | (uint64_t)job_any(1)) == size, "turn %d", turn);
    OK(rma_atomic_add(word, 1L, job_any(1)));
    OK(rma_barrier_all());
    CHECK(*word == 1, "turn %d: %ld", turn, *word);
    if (turn % 3 == 0) OK(rma_free_mem(alone));
    if (turn % 3 == 1) OK(rma_free(block));
    OK(rma_finalize());
    free(copy);

    CHECK(rma_initialized() == 0, "turn %d", turn);
    EXPECT("rma_put", rma_put(word, word, 8, 0), RMA_ERR_STATE, "after rma_finalize");
    EXPECT("rma_finalize", rma_finalize(), RMA_ERR_STATE, "more often");
    MPI_Allreduce(&up, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == job.n, "MPI is not what it was: %d of %d", sum, job.n);
}

/* An init that fails leaves MPI as it was, and one that succeeds may follow. `where` tells who has the wrong setting. */
static void fail(int where) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (where < 0 || where == rank) setenv("RMA_SPIN", "soon", 1);
    if (where < 0 || where == rank)
        EXPECT("rma_init", rma_init(), RMA_ERR_SETTING, where < 0 && rank > 0 ? "failed on PE 0" : "RMA_SPIN=soon: ");
    else
        EXPECT("rma_init", rma_init(), RMA_ERR_SETTING, job_text("failed on PE %d", where));
    unsetenv("RMA_SPIN");
    CHECK(rma_initialized() == 0, "it is running");
    EXPECT("rma_finalize", rma_finalize(), RMA_ERR_STATE, "more often");
    EXPECT("rma_malloc", rma_malloc(8) ? 0 : rma_last_code(), RMA_ERR_STATE, "rma_malloc: called");
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(void) {
    const char *size = getenv("PMI_SIZE");
    int before, finalized = 0, provided;
    size_t maps = 0, files = 0, held, turns = 20;
    job_begin();
    if (size && atoi(size) & 1)
        MPI_Init(NULL, NULL);
    else
        MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    EXPECT("rma_put", rma_put(&before, &before, 4, 0), RMA_ERR_STATE, "before rma_init");

    DOING("failing first");
    fail(-1);
    fail(size ? atoi(size) - 1 : 0);

    DOING("coming and going");
    for (size_t turn = 0; turn < turns; turn++) {
        live((int)turn);
        if (job.crowded) turns = 6; /* MPI's own collective calls are slow then */
        if (turn != 2) continue;
        maps = lines_of("/proc/self/maps");
        files = files_open();
    }
    /* MPI keeps something for itself now and then, but not something each time. */
    held = lines_of("/proc/self/maps");
    CHECK(held < maps + turns - 3, "%zu mappings after 3 lives, %zu after %zu", maps, held, turns);
    held = files_open();
    CHECK(held < files + turns - 3, "%zu open files after 3 lives, %zu after %zu", files, held, turns);

    DOING("ending");
    OK(rma_init());
    OK(rma_init());
    job_look();
    long *word = rma_calloc(1, sizeof *word);
    CHECK(word != NULL, "%s", rma_last_error());
    if (job.n & 1) {
        CHECK(MPI_Finalize() == MPI_SUCCESS, "MPI_Finalize");
        CHECK(rma_initialized() == 0, "it is running without MPI");
        EXPECT("rma_barrier_all", rma_barrier_all(), RMA_ERR_STATE, "MPI_Finalize");
        EXPECT("rma_init", rma_init(), RMA_ERR_STATE, "MPI_Finalize");
        OK(rma_finalize());
        OK(rma_finalize());
    } else {
        OK(rma_finalize());
        OK(rma_p(word, 1L, job.me));
        OK(rma_finalize());
        MPI_Finalized(&finalized);
        CHECK(!finalized, "librma has ended the program's MPI");
        CHECK(MPI_Finalize() == MPI_SUCCESS, "MPI_Finalize");
    }
    EXPECT("rma_finalize", rma_finalize(), RMA_ERR_STATE, "more often");
    EXPECT("rma_init", rma_init(), RMA_ERR_STATE, "MPI_Finalize");
    return 0;
}
