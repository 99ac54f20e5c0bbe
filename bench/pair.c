/* SPDX-License-Identifier: BSD-3-Clause */
/* pair.c: buffers for benchmarks between the PEs of pairs. */
#include "pair.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct bench_pair pair;

/* Neighbours differ, and two seeds that differ modulo 256 differ at every place. */
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
    unsigned seed = ++turn + 3 * (unsigned)(bench.pe < bench.peer ? bench.pe : bench.peer); /* different in each pair */
    if (has_from) bench_pair_fill(from, seed);
    if (has_to) bench_pair_fill(to, seed + 1);
    bench_check_run(m, 1, win);
    return has_to ? bench_pair_wrong(to, seed) : 0;
}

static size_t check(const struct bench_method *m, char *base, MPI_Win win) {
    return pair.gets ? bench_pair_check(m, base, BENCH_TARGET, pair.own, win)
                     : bench_pair_check(m, pair.own, BENCH_ORIGIN, base, win);
}

size_t bench_pair_check_heap(const struct bench_method *m) { return check(m, pair.heap, MPI_WIN_NULL); }

size_t bench_pair_check_window(const struct bench_method *m) { return check(m, pair.base, pair.win); }

/* Sends the peer this PE's *word, and leaves the peer's there; a bystander is its own peer. */
static void swap_with_peer(void *word, MPI_Datatype type) {
    BENCH_MPI(MPI_Sendrecv_replace(word, 1, type, bench.peer, 0, bench.peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static size_t page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

/* Touched pages of the program's own. */
static char *private_block(size_t size, int byte) {
    char *block = aligned_alloc(page_size(), size);
    if (bench_agree(!block)) bench_refuse(1, "cannot allocate %zu bytes on every PE", size);
    memset(block, byte, size);
    return block;
}

/* Local memory with --way; else symmetric memory. */
static void open_heap(void) {
    if (bench.way >= 0) {
        int code = rma_alloc_mem(pair.size, &pair.heap);
        if (bench_agree(code != RMA_SUCCESS))
            bench_refuse(1, "cannot allocate %zu bytes on every PE: %s", pair.size, rma_last_error());
        memset(pair.heap, 0, pair.size);
        pair.target = rma_gptr(pair.heap, bench.pe);
        swap_with_peer(&pair.target, MPI_UINT64_T);
    } else {
        pair.heap = bench_symmetric(page_size(), pair.size);
        pair.target = rma_gptr(pair.heap, bench.peer);
    }
    pair.peer = bench.role != BENCH_BYSTANDER ? rma_gptr_ptr(pair.target) : NULL;
    bench.on_node = !bench_agree(bench.role != BENCH_BYSTANDER && !pair.peer);
}

/* Open MPI 4.1.4 cannot create a dynamic window over TCP, nor for one process. */
bool bench_dynamic_window(MPI_Win *win) {
    MPI_Errhandler handler;
    *win = MPI_WIN_NULL;
    BENCH_MPI(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler));
    BENCH_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    bool made = MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win) == MPI_SUCCESS;
    BENCH_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
    BENCH_MPI(MPI_Errhandler_free(&handler));
    if (bench_agree(!made)) {
        if (made) BENCH_MPI(MPI_Win_free(win));
        *win = MPI_WIN_NULL;
        return false;
    }
    BENCH_MPI(MPI_Win_set_errhandler(*win, MPI_ERRORS_RETURN));
    BENCH_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, *win));
    return true;
}

void bench_dynamic_window_free(MPI_Win *win) {
    if (*win == MPI_WIN_NULL) return;
    BENCH_MPI(MPI_Win_unlock_all(*win));
    BENCH_MPI(MPI_Win_free(win));
}

static void open_window(void) {
    if (bench.way >= 0) {
        pair.base = private_block(pair.size, 0);
        BENCH_MPI(MPI_Get_address(pair.base, &pair.disp));
        swap_with_peer(&pair.disp, MPI_AINT);
        if (bench_dynamic_window(&pair.win)) BENCH_MPI(MPI_Win_attach(pair.win, pair.base, (MPI_Aint)pair.size));
    } else {
        BENCH_MPI(MPI_Win_allocate((MPI_Aint)pair.size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &pair.base, &pair.win));
        memset(pair.base, 0, pair.size);
        BENCH_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, pair.win));
    }
}

void bench_pair_open(size_t size) {
    pair.size = (size + page_size() - 1) / page_size() * page_size();
    pair.own = private_block(pair.size, 1);
    open_heap();
    open_window();
    bench_sync();
}

void bench_pair_close(void) {
    bench_sync(); /* the peer's accesses here are over */
    if (bench.way < 0) {
        BENCH_MPI(MPI_Win_unlock_all(pair.win));
        BENCH_MPI(MPI_Win_free(&pair.win));
        BENCH_RMA(rma_free(pair.heap));
    } else {
        if (pair.win != MPI_WIN_NULL) BENCH_MPI(MPI_Win_detach(pair.win, pair.base));
        bench_dynamic_window_free(&pair.win);
        free(pair.base);
        BENCH_RMA(rma_free_mem(pair.heap));
    }
    free(pair.own);
}
