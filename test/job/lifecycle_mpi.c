/* SPDX-License-Identifier: BSD-3-Clause */
/* In a program that starts and ends MPI itself the runtime can come and go as often as one likes, also after an init
 * that has failed, and the two may be ended in either order.
 *
 * Broken by an init that fails on one PE and goes on without it on the others, by a finalize that ends the program's
 * MPI too, by one that leaves a mapping or a file behind each time, or something undone that was begun, by an init that
 * finds the state of the last one, by one after which MPI is of another thread level, by a handle that leads from one
 * life to the next, and by a window that is still there when MPI ends. On an odd number of PEs MPI is finalized first
 * and the runtime, twice initialized, after it; else the other way. */
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

/* ---- contexts: none of one life is one of the next; what is pending when they end is complete ---- */

#define LIVES 64
#define PIECE 10000

static rma_ctx *of_before[3 * LIVES];
static int n_before;
static unsigned char last[JOB_PES_MAX][3 * PIECE],
    sources[JOB_PES_MAX * 3 * PIECE]; /* symmetric, and outlive the runtime */

static uint64_t key_of(int turn, int from, int to) {
    return (uint64_t)turn << 20 | (uint64_t)from << 10 | (uint64_t)to;
}

/* Puts to all PEs, and gets of what the next one has in block, in three contexts. */
static void leave_pending(int turn, unsigned char *block, unsigned char *got) {
    rma_team *const teams[] = {RMA_TEAM_WORLD, RMA_TEAM_SHARED, RMA_TEAM_WORLD};
    rma_ctx *ctx[3];
    for (int k = 0; k < n_before; k++) {
        EXPECT("rma_ctx_quiet", rma_ctx_quiet(of_before[k]), RMA_ERR_ARG, job_text("ctx %p", (void *)of_before[k]));
        EXPECT("rma_ctx_put", rma_ctx_put(of_before[k], block, block, 1, 0), RMA_ERR_ARG,
               job_text("ctx %p", (void *)of_before[k]));
        EXPECT("rma_ctx_destroy", rma_ctx_destroy(of_before[k]), RMA_ERR_ARG, job_text("ctx %p", (void *)of_before[k]));
    }
    for (int k = 0; k < 3; k++) {
        OK(rma_team_create_ctx(teams[k], 0, &ctx[k]));
        for (int i = 0; i < n_before; i++) CHECK(ctx[k] != of_before[i], "a handle is given twice: %p", (void *)ctx[k]);
        CHECK(n_before < 3 * LIVES, "more contexts than there is room for");
        of_before[n_before++] = ctx[k];
    }
    for (int k = 0; k < 3; k++)
        for (int pe = 0; pe < job.n; pe++) {
            int c = k == 1 && !rma_on_node(pe) ? 2 : k, i = rma_team_translate_pe(RMA_TEAM_WORLD, pe, teams[c]);
            unsigned char *source = sources + (size_t)(pe * 3 + k) * PIECE, *dest = last[job.me] + k * PIECE;
            job_fill(source, (size_t)k * PIECE, PIECE, key_of(turn, job.me, pe));
            OK(rma_ctx_put_nbi(ctx[c], dest, source, 8, i));
            OK(rma_ctx_put_nbi(ctx[c], dest + 8, source + 8, 3000, i));
            OK(rma_ctx_put_nbi(ctx[c], dest + 3008, source + 3008, PIECE - 3008, i));
        }
    OK(rma_ctx_get_nbi(ctx[0], got, block, PIECE, job_any(1)));
    OK(rma_ctx_get_nbi(ctx[0], got + PIECE, block + PIECE, 100, job_any(1)));
}

static void has_come(int turn, const unsigned char *got, uint64_t key) {
    CHECK(job_differs(got, 0, PIECE + 100, key) == PIECE + 100, "turn %d: the end has not completed a get", turn);
    for (int pe = 0; pe < job.n; pe++) {
        size_t wrong = job_differs(last[pe], 0, 3 * PIECE, key_of(turn, pe, job.me));
        CHECK(wrong == 3 * PIECE, "turn %d: the end has not completed PE %d's puts: byte %zu", turn, pe, wrong);
    }
}

/* One life: allocate, put, look, and leave some blocks for finalize to take away. */
static void live(int turn) {
    const size_t size = (size_t)1 << 20;
    int provided = -1, sum, up = 1, level, level_now;
    unsigned char *block, *alone, *there, *copy = malloc(size), *got = malloc(2 * PIECE);
    long *word;
    rma_gptr_t g;
    MPI_Query_thread(&level);
    OK(turn & 1 ? rma_init() : rma_init_thread(RMA_THREAD_SINGLE, &provided));
    MPI_Query_thread(&level_now);
    CHECK(level_now == level, "turn %d: MPI's thread level was %d, and is %d", turn, level, level_now);
    CHECK(rma_initialized() == 1, "turn %d", turn);
    job_look();
    block = rma_malloc(size);
    word = rma_calloc(1, sizeof *word);
    CHECK(block && word && copy && got, "%s", rma_last_error());
    CHECK(*word == 0, "turn %d: rma_calloc gives %ld", turn, *word);
    OK(rma_alloc_mem(size, &alone));
    memset(alone, turn, size);
    job_fill(block, 0, size, (uint64_t)turn << 8 | (uint64_t)job.me);
    OK(rma_barrier_all());
    g = rma_gptr(block, job_any(1));
    there = rma_gptr_ptr(g);
    if (!there) OK(rma_gptr_get(copy, g, size));
    CHECK(job_differs(there ? there : copy, 0, size, (uint64_t)turn << 8 | (uint64_t)job_any(1)) == size, "turn %d",
          turn);
    OK(rma_atomic_add(word, 1L, job_any(1)));
    OK(rma_barrier_all());
    CHECK(*word == 1, "turn %d: %ld", turn, *word);
    if (turn % 3 == 0) OK(rma_free_mem(alone));
    leave_pending(turn, block, got);
    OK(rma_finalize());
    has_come(turn, got, (uint64_t)turn << 8 | (uint64_t)job_any(1));
    free(copy);
    free(got);

    CHECK(rma_initialized() == 0, "turn %d", turn);
    EXPECT("rma_put", rma_put(word, word, 8, 0), RMA_ERR_STATE, "after rma_finalize");
    EXPECT("rma_finalize", rma_finalize(), RMA_ERR_STATE, "more often");
    MPI_Allreduce(&up, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == job.n, "MPI is not what it was: %d of %d", sum, job.n);
}

/* An init that fails leaves MPI as it was, and one that succeeds may follow. `where` tells who has the wrong setting.
 */
static void fail(int where) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (where < 0 || where == rank) setenv("RMA_SPIN", "soon", 1);
    if (where < 0 || where == rank)
        EXPECT("rma_init_thread", rma_init_thread(RMA_THREAD_SINGLE, NULL), RMA_ERR_SETTING,
               where < 0 && rank > 0 ? "failed on PE 0" : "RMA_SPIN=soon: ");
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
    unsigned char *block = rma_malloc(2 * PIECE), *got = malloc(2 * PIECE);
    CHECK(word && block && got, "%s", rma_last_error());
    job_fill(block, 0, 2 * PIECE, (uint64_t)job.me);
    OK(rma_barrier_all());
    leave_pending(LIVES, block, got);
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
    has_come(LIVES, got, (uint64_t)job_any(1));
    free(got);
    EXPECT("rma_ctx_quiet", rma_ctx_quiet(of_before[0]), RMA_ERR_STATE, "rma_ctx_quiet: called after");
    EXPECT("rma_finalize", rma_finalize(), RMA_ERR_STATE, "more often");
    EXPECT("rma_init", rma_init(), RMA_ERR_STATE, "MPI_Finalize");
    return 0;
}
