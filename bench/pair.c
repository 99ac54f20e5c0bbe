/* SPDX-License-Identifier: BSD-3-Clause */
/* pair.c: buffers for benchmarks between the PEs of pairs. */
#include "pair.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Different from neighbour to neighbour, and different at every place for different seeds modulo 256. */
static char pattern(size_t i, unsigned seed) { return (char)(unsigned char)((i ^ i >> 8 ^ i >> 16) * 31 + seed); }

void bench_pair_fill(char *p, unsigned seed) {
    for (size_t i = 0; i < bench.size; i++) p[i] = pattern(i, seed);
}

size_t bench_pair_wrong(const char *p, unsigned seed) {
    size_t wrong = 0;
    for (size_t i = 0; i < bench.size; i++) wrong += p[i] != pattern(i, seed);
    return wrong;
}

size_t bench_pair_check(const struct bench_method *m, char *from, enum bench_role from_role, char *to, MPI_Win win) {
    static unsigned turn;
    bool has_from = bench.role != BENCH_BYSTANDER && bench.role == from_role;
    bool has_to = bench.role != BENCH_BYSTANDER && bench.role != from_role;
    unsigned seed =
        ++turn + 3 * (unsigned)(bench.pe < bench.peer ? bench.pe : bench.peer); /* another one in each pair */
    if (has_from) bench_pair_fill(from, seed);
    if (has_to) bench_pair_fill(to, seed + 1);
    if (win != MPI_WIN_NULL) BENCH_MPI(MPI_Win_sync(win));
    bench_sync();
    if (bench_calls_run(m)) m->run(1);
    bench_sync();
    if (win != MPI_WIN_NULL) BENCH_MPI(MPI_Win_sync(win));
    return has_to ? bench_pair_wrong(to, seed) : 0;
}

void bench_pair_open(struct bench_pair *pair, size_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size = (size + page - 1) / page * page;
    pair->own = aligned_alloc(page, size);
    if (bench_agree(!pair->own)) bench_refuse(1, "cannot allocate %zu bytes on every PE", size);
    pair->heap = bench_symmetric(page, size);
    pair->peer = bench.role != BENCH_BYSTANDER ? rma_ptr(pair->heap, bench.peer) : NULL;
    pair->on_node = !bench_agree(bench.role != BENCH_BYSTANDER && !pair->peer);
    memset(pair->own, 1, size);
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
    bench_init(argc, argv, spec);
    bench_pair_open(pair, bench.sizes.max);
    if (!pair->on_node) methods[PAIR_RAW].run = NULL;
    bench_sweep(methods, PAIR_METHODS, bench_ratios, BENCH_RATIOS);
    bench_pair_close(pair);
    return bench_finish();
}
