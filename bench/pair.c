/* SPDX-License-Identifier: BSD-3-Clause */
/* pair.c: buffers for benchmarks between two PEs. */
#include "pair.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Different from neighbour to neighbour, and different at every place for different seeds modulo 256. */
static char pattern(size_t i, unsigned seed) {
    return (char)(unsigned char)((i ^ i >> 8 ^ i >> 16) * 31 + seed);
}

void bench_pair_fill(char *p, unsigned seed) {
    for (size_t i = 0; i < bench.size; i++) p[i] = pattern(i, seed);
}

size_t bench_pair_wrong(const char *p, unsigned seed) {
    size_t wrong = 0;
    for (size_t i = 0; i < bench.size; i++) wrong += p[i] != pattern(i, seed);
    return wrong;
}

size_t bench_pair_check(const struct bench_method *m, char *from, int from_pe, char *to, int to_pe,
                        MPI_Win win) {
    static unsigned seed;
    seed++;
    if (bench.pe == from_pe) bench_pair_fill(from, seed);
    if (bench.pe == to_pe) bench_pair_fill(to, seed + 1);
    if (win != MPI_WIN_NULL) BENCH_MPI(MPI_Win_sync(win));
    bench_sync();
    if (bench_calls_run(m)) m->run(1);
    bench_sync();
    if (win != MPI_WIN_NULL) BENCH_MPI(MPI_Win_sync(win));
    return bench.pe == to_pe ? bench_pair_wrong(to, seed) : 0;
}

/* Does rma_put reach PE 1? Asked once, with an error handler that returns, so that a job whose PEs lie on
 * different nodes ends with the reason instead of an abort. */
static void probe(char *heap, const char *own) {
    rma_errhandler *handler = rma_set_errhandler(rma_errors_return);
    int code = bench.pe == 0 ? rma_put(heap, own, 1, 1) : RMA_SUCCESS;
    if (bench_agree(code) != RMA_SUCCESS) bench_refuse(1, "PE 0 cannot reach PE 1: %s", rma_last_error());
    rma_set_errhandler(handler);
}

void bench_pair_open(struct bench_pair *pair, size_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size = (size + page - 1) / page * page;
    pair->own = aligned_alloc(page, size);
    if (bench_agree(!pair->own)) bench_refuse(1, "cannot allocate %zu bytes on every PE", size);
    pair->heap = rma_aligned_alloc(page, size);
    if (!pair->heap) bench_refuse(1, "%s", rma_last_error());
    pair->peer = bench.pe < 2 ? rma_ptr(pair->heap, 1 - bench.pe) : NULL;
    pair->on_node = !bench_agree(bench.pe < 2 && !pair->peer);
    memset(pair->own, 1, size);
    memset(pair->heap, 0, size);
    probe(pair->heap, pair->own);

    BENCH_MPI(MPI_Win_allocate((MPI_Aint)size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &pair->base, &pair->win));
    memset(pair->base, 0, size);
    BENCH_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, pair->win));
    bench_sync();
}

void bench_pair_close(struct bench_pair *pair) {
    BENCH_MPI(MPI_Win_unlock_all(pair->win));
    BENCH_MPI(MPI_Win_free(&pair->win));
    BENCH_RMA(rma_free(pair->heap));
    free(pair->own);
}

int bench_pair_latency(int argc, char **argv, const struct bench_spec *spec, struct bench_pair *pair,
                       struct bench_method methods[PAIR_METHODS]) {
    static const struct bench_ratio near[] = {
        {"rma/raw", PAIR_RMA, {PAIR_RAW, -1}},
        {"MPI/rma", PAIR_MPI, {PAIR_RMA, -1}},
    };
    static const struct bench_ratio far[] = {
        {"rma/MPI", PAIR_RMA, {PAIR_MPI, -1}},
        {"MPI/rma", PAIR_MPI, {PAIR_RMA, -1}},
    };
    bench_init(argc, argv, spec);
    bench_pair_open(pair, bench.sizes.max);
    if (!pair->on_node) methods[PAIR_RAW].run = NULL;
    bench_sweep(methods, PAIR_METHODS, pair->on_node ? near : far, 2);
    bench_pair_close(pair);
    return bench_finish();
}
