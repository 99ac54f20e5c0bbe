/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_shmem.c: the time of calls of OpenSHMEM beside that of the corresponding native calls.
 *
 * Both are compiled into this program and use one engine, so rma_init starts both. shmem/rma must be at most 1.1. */
#include "pair.h"

#include <shmem.h>

enum { SHMEM, NATIVE };

static struct bench_pair pair;
static uint64_t next; /* the target's word */
static size_t wrong;  /* wrong values that this PE has found */

/* One call each. Each leaves next + 1 in the target's word, so the word counts the calls. `mine` is a copy of the
 * word. */

#define CALL(NAME, STATEMENT)                                                                                          \
    BENCH_INLINE void NAME(long *word, long *mine, size_t len, int pe) {                                               \
        (void)word, (void)mine, (void)len;                                                                             \
        STATEMENT;                                                                                                     \
        bench_keep(mine);                                                                                              \
    }
CALL(shmem_p_once, shmem_long_p(word, (long)++next, pe))
CALL(native_p_once, rma_p_long(word, (long)++next, pe))
CALL(shmem_g_once, wrong += shmem_long_g(word, pe) != (long)next)
CALL(native_g_once, wrong += rma_g_long(word, pe) != (long)next)
CALL(shmem_fetch_add_once, wrong += shmem_long_atomic_fetch_add(word, 1, pe) != (long)next++)
CALL(native_fetch_add_once, wrong += rma_atomic_fetch_add_long(word, 1, pe) != (long)next++)
CALL(shmem_put8_once, (*mine = (long)++next, shmem_putmem(word, mine, 8, pe)))
CALL(native_put8_once, (*mine = (long)++next, rma_put(word, mine, 8, pe)))
CALL(shmem_put_once, (*mine = (long)++next, shmem_putmem(word, mine, len, pe)))
CALL(native_put_once, (*mine = (long)++next, rma_put(word, mine, len, pe)))
CALL(shmem_get_once, (shmem_getmem(mine, word, len, pe), wrong += *mine != (long)next))
CALL(native_get_once, (rma_get(mine, word, len, pe), wrong += *mine != (long)next))

BENCH_INLINE double loop(long n, void (*once)(long *word, long *mine, size_t len, int pe)) {
    long *word = (long *)(void *)pair.heap, *mine = (long *)(void *)pair.own;
    size_t len = bench_opaque(bench.size);
    int pe = bench.peer;
    next = (uint64_t)rma_g_long(word, pe);
    double start = rma_wtime();
    for (long i = 0; i < n; i++) once(word, mine, len, pe);
    BENCH_RMA(rma_quiet());
    return rma_wtime() - start;
}

#define RUNS(NAME)                                                                                                     \
    static double run_shmem_##NAME(long n) { return loop(n, shmem_##NAME##_once); }                                    \
    static double run_native_##NAME(long n) { return loop(n, native_##NAME##_once); }
RUNS(p)
RUNS(g)
RUNS(fetch_add)
RUNS(put8)
RUNS(put)
RUNS(get)

/* n: bytes. Only the gets leave the target's word as it is. */
static const struct bench_row rows[] = {
    {"long_p", {run_shmem_p, run_native_p}, 8},
    {"long_g", {run_shmem_g, run_native_g}, 8},
    {"fetch_add", {run_shmem_fetch_add, run_native_fetch_add}, 8},
    {"putmem 8", {run_shmem_put8, run_native_put8}, 8},
    {"putmem 64", {run_shmem_put, run_native_put}, 64},
    {"putmem 4k", {run_shmem_put, run_native_put}, 4096},
    {"getmem 64", {run_shmem_get, run_native_get}, 64},
    {"getmem 4k", {run_shmem_get, run_native_get}, 4096},
    {0},
};

static bool changes(void) {
    double (*run)(long n) = rows[bench.row].run[SHMEM];
    return run != run_shmem_g && run != run_shmem_get;
}

static size_t check(const struct bench_method *m) {
    static uint64_t base = 1000;
    uint64_t *word = (uint64_t *)(void *)pair.heap, n = 100;
    size_t before = wrong;
    base += 1000;
    if (bench.role == BENCH_TARGET) __atomic_store_n(word, base, __ATOMIC_RELEASE);
    bench_check_run(m, (long)n, MPI_WIN_NULL);
    if (bench.role == BENCH_TARGET) wrong += __atomic_load_n(word, __ATOMIC_ACQUIRE) != base + (changes() ? n : 0);
    return wrong - before;
}

static void begin(void) { bench_pair_open(&pair, 4096); }

static void before(struct bench_method *methods) {
    (void)methods;
    bench.size = (size_t)rows[bench.row].n;
}

static void end(void) {
    if (bench_agree(wrong > 0)) bench.failed = true;
    bench_pair_close(&pair);
}

int main(int argc, char **argv) {
    static const struct bench_method methods[] = {
        [SHMEM] = {.name = "shmem (ns)", .check = check},
        [NATIVE] = {.name = "rma (ns)", .check = check},
        {0},
    };
    static const struct bench_ratio ratios[] = {{"shmem/rma", SHMEM, {NATIVE, -1}}, {0}};
    static const struct bench_spec spec = {
        .title = "OpenSHMEM calls",
        .help = "Time of calls of OpenSHMEM, by the first PE of a pair on memory of the second:\n"
                "  shmem (ns)  shmem_long_p, shmem_long_g, shmem_long_atomic_fetch_add, shmem_putmem, shmem_getmem\n"
                "  rma (ns)    rma_p, rma_g, rma_atomic_fetch_add, rma_put, rma_get\n"
                "Lengths are hidden from the compiler, but for putmem 8. 1.1 at most is asked of shmem/rma.",
        .methods = methods,
        .ratios = ratios,
        .rows = rows,
        .first = "Call",
        .pairs = BENCH_PAIRS_MAX,
        .value = BENCH_NS,
        .budget = 5e-3,
        .begin = begin,
        .before = before,
        .end = end,
    };
    return bench_main(argc, argv, &spec);
}
