/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_init.c: the cost of librma's start beyond MPI's, in time and in memory.
 *
 * rma_init would initialize MPI; here the program does so first, to separate the two. A job starts only once, so each
 * value is measured once, and a row is over the PEs: tools/publish runs the program for many numbers of PEs. */
#include "bench.h"
#include "machine.h"

#include <stdlib.h>
#include <time.h>

enum { MPI_TIME, RMA_TIME, RMA_MEMORY, ALL_MEMORY, N_FIGURES };

static double figures[N_FIGURES]; /* of this PE */
static double before;             /* resident memory without librma */

/* Not rma_wtime: before rma_init. */
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One operation on each other PE. Each PE begins with the next PE, so that they do not all access the same one at once.
 * Returns the number of PEs whose words were wrong. */
static int ask_all(const uint64_t *word) {
    int wrong = 0;
    for (int i = 1; i < bench.n_pes; i++) {
        int pe = (bench.pe + i) % bench.n_pes;
        wrong += rma_atomic_fetch(word, pe) != (uint64_t)pe + 1;
    }
    return wrong;
}

static void start(void) {
    int provided;
    double begun = now();
    BENCH_MPI(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    figures[MPI_TIME] = (now() - begun) * 1e3;
    BENCH_MPI(MPI_Barrier(MPI_COMM_WORLD)); /* connections of MPI's first call do not count for rma_init */
    before = bench_resident();
    BENCH_MPI(MPI_Barrier(MPI_COMM_WORLD));
    begun = now();
    BENCH_RMA(rma_init());
    figures[RMA_TIME] = (now() - begun) * 1e3;
    figures[RMA_MEMORY] = (bench_resident() - before) / 1024;
}

int main(int argc, char **argv) {
    static const struct bench_method columns[] = {
        [MPI_TIME] = {.name = "MPI_Init (ms)"},
        [RMA_TIME] = {.name = "rma_init (ms)"},
        [RMA_MEMORY] = {.name = "rma_init (KiB)"},
        [ALL_MEMORY] = {.name = "all PEs (KiB)"},
        {0},
    };
    static const struct bench_spec spec = {
        .title = "start",
        .note = "on top of MPI's, over the PEs of the job",
        .help = "Time and memory that the start of librma takes, the largest and the median over the PEs:\n"
                "  MPI_Init (ms)   MPI_Init_thread\n"
                "  rma_init (ms)   rma_init after it and MPI_Barrier\n"
                "  rma_init (KiB)  by how much rma_init makes the resident memory grow\n"
                "  all PEs (KiB)   the same after one atomic on a word of each other PE besides",
        .methods = columns,
        .first = "Of the PEs",
        .value = BENCH_OWN,
        .once = true,
        .start = start,
    };
    double largest[N_FIGURES], medians[N_FIGURES], *all;

    bench_init(argc, argv, &spec);
    uint64_t *word = bench_symmetric(sizeof *word, sizeof *word);
    *word = (uint64_t)bench.pe + 1;
    BENCH_RMA(rma_barrier_all());
    int wrong = ask_all(word);
    bench_sync();
    figures[ALL_MEMORY] = (bench_resident() - before) / 1024;

    all = malloc((size_t)bench.n_pes * N_FIGURES * sizeof *all);
    if (!all) bench_fail("malloc", MPI_ERR_NO_MEM);
    for (int i = 0; i < N_FIGURES; i++) {
        double *of = all + i * bench.n_pes;
        BENCH_MPI(MPI_Allgather(&figures[i], 1, MPI_DOUBLE, of, 1, MPI_DOUBLE, MPI_COMM_WORLD));
        medians[i] = bench_median(of, bench.n_pes);
        largest[i] = of[bench.n_pes - 1];
    }
    free(all);
    bool good = !bench_agree(wrong > 0);
    if (bench.validate && !good) bench.failed = true;
    bench_row_of("max", largest, good);
    bench_row_of("median", medians, good);
    BENCH_RMA(rma_free(word));
    return bench_finish();
}
