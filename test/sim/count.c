/* SPDX-License-Identifier: BSD-3-Clause */
/* count.c: counts the instructions of operations between nodes, as test/perf/count.c does on one node.
 *
 * Between nodes a caller waits for another PE, and how often it polls is chance. Here both PEs are coroutines of one
 * process on the simulated network (test/sim), messages take no time, and a PE that finds nothing lets the other one
 * run at once. So no poll is wasted, and the counts are the same in every run. Only the turns of one PE are counted:
 * `count origin` counts PE 0, which makes the operations, and `count target` counts PE 1, which serves them.
 *
 * test/perf/check-perf.sh runs it and reads the counts. Without callgrind the requests do nothing. */
#include "config.h"

#include "rma.h"
#include "test/sim/network.h"
#include "test/sim/whole.h"

#include <stdio.h>
#include <string.h>

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_TOGGLE_COLLECT      (void)0
#define CALLGRIND_DUMP_STATS_AT(text) (void)(text)
#endif

#define N      256 /* operations of the first count; the second has twice as many */
#define WORDS  (2 * N * 2)
#define STREAM 64 /* operations before a quiet */

struct place;

static struct {
    int pe;                                       /* whose turns are counted, */
    int now;                                      /* and this is one of them */
    int counts;                                   /* an operation is being counted */
    int over;                                     /* PE 1 need not serve any more */
    void (*joint)(const struct place *p, long i); /* a collective operation that PE 1 has to join, */
    long times;                                   /* so often; or NULL */
} counted;

/* ---- the network ---- */

static void collect(int now) {
    if (now != counted.now) CALLGRIND_TOGGLE_COLLECT;
    counted.now = now;
}

void __real_sim_pe_turn(struct sim_pe *pe);
void __wrap_sim_pe_turn(struct sim_pe *pe);
void __wrap_sim_pe_turn(struct sim_pe *pe) {
    __real_sim_pe_turn(pe);
    collect(counted.counts && pe->me == counted.pe);
}

/* A poll that finds nothing ends the turn, and comes again when there is something. */
void __wrap_sim_idle_poll(void);
void __wrap_sim_idle_poll(void) {
    struct sim_task *t = sim_self();
    if (!t) return;
    t->polling = 1;
    sim_wait(1000000);
    t->polling = 0;
}

/* ---- the operations ---- */

struct place {
    long *words, *here; /* WORDS symmetric words, and as many of this PE's own */
    uint64_t *signal;   /* symmetric */
    size_t b8;          /* 8, which the compiler does not know */
    rma_ctx *ctx;
};

/* The i-th operation of n. */
#define OPERATION(NAME, ...)                                                                                           \
    static __attribute__((noinline)) void NAME(const struct place *p, long i) {                                        \
        (void)p, (void)i;                                                                                              \
        __VA_ARGS__;                                                                                                   \
    }
#define QUIET_NOW_AND_THEN                                                                                             \
    if (i % STREAM == STREAM - 1) rma_quiet()

OPERATION(nothing, )
OPERATION(put_8, rma_put(p->words, p->here, 8, 1); rma_quiet())
OPERATION(put_b8, rma_put(p->words, p->here, p->b8, 1); rma_quiet())
OPERATION(put_512, rma_put(p->words, p->here, 512, 1); rma_quiet())
OPERATION(get_8, rma_get(p->here, p->words, 8, 1))
OPERATION(get_512, rma_get(p->here, p->words, 512, 1))
OPERATION(fetch_add, rma_atomic_fetch_add(p->words, 1, 1))
OPERATION(compare_swap, rma_atomic_compare_swap(p->words, 0, 1, 1))
OPERATION(add_quiet, rma_atomic_add(p->words, 1, 1); rma_quiet())
OPERATION(put_signal, rma_put_signal(p->words, p->here, 8, p->signal, 1, RMA_SIGNAL_SET, 1); rma_quiet())
OPERATION(ctx_put, rma_ctx_put(p->ctx, p->words, p->here, 8, 1); rma_ctx_quiet(p->ctx))
OPERATION(stream_put, rma_put_nbi(p->words + i, p->here, 8, 1); QUIET_NOW_AND_THEN)
OPERATION(stream_get, rma_get_nbi(p->here + i, p->words + i, 8, 1); QUIET_NOW_AND_THEN)
OPERATION(stream_add, rma_atomic_add(p->words + i, 1, 1); QUIET_NOW_AND_THEN)
OPERATION(barrier, rma_barrier_all())
OPERATION(broadcast, rma_broadcast(RMA_TEAM_WORLD, p->words, p->here, 8, 0))
OPERATION(stream_fetch_add, rma_atomic_fetch_add_nbi(p->here + i, p->words + i, 1, 1); QUIET_NOW_AND_THEN)

static const struct {
    void (*run)(const struct place *p, long i);
    const char *name;
    int joint; /* PE 1 joins it */
} operations[] = {
    {nothing, "loop", 0},
    {put_8, "put 8 B, quiet", 0},
    {put_b8, "put 8 B, quiet, length not known", 0},
    {put_512, "put 512 B, quiet", 0},
    {get_8, "get 8 B", 0},
    {get_512, "get 512 B", 0},
    {fetch_add, "atomic_fetch_add", 0},
    {compare_swap, "atomic_compare_swap", 0},
    {add_quiet, "atomic_add, quiet", 0},
    {put_signal, "put_signal 8 B, quiet", 0},
    {ctx_put, "ctx_put 8 B, ctx_quiet", 0},
    {stream_put, "put_nbi 8 B, 64 and a quiet", 0},
    {stream_get, "get_nbi 8 B, 64 and a quiet", 0},
    {stream_add, "atomic_add, 64 and a quiet", 0},
    {stream_fetch_add, "atomic_fetch_add_nbi, 64 and a quiet", 0},
    {barrier, "barrier_all", 1},
    {broadcast, "broadcast 8 B", 1},
};
#define N_OPERATIONS (sizeof operations / sizeof *operations)

static __attribute__((noinline)) void repeat(void (*run)(const struct place *p, long i), const struct place *p,
                                             long n) {
    for (long i = 0; i < n; i++) {
        run(p, i);
        __asm__ volatile("" : : : "memory");
    }
}

/* Turn 0 warms up, turn 1 has N operations, and turn 2 twice as many. Before each count both PEs are idle. */
static void measure(size_t number, const struct place *p) {
    char text[128];
    for (int turn = 0; turn < 3; turn++) {
        const long n = turn < 2 ? N : 2 * N;
        rma_quiet();
        counted.counts = 1;
        counted.times = n;
        counted.joint = operations[number].joint ? operations[number].run : NULL;
        collect(counted.pe == 0);
        repeat(operations[number].run, p, n);
        counted.counts = 0;
        collect(0);
        snprintf(text, sizeof text, "%zu %d %d %s, to another node%s", number, N, turn, operations[number].name,
                 counted.pe == 0 ? "" : ": the target's part");
        CALLGRIND_DUMP_STATS_AT(text);
    }
}

/* PE 1's part. */
static void serve(const struct place *p) {
    while (!counted.over) {
        void (*joint)(const struct place *p, long i) = counted.joint;
        counted.joint = NULL;
        if (joint)
            repeat(joint, p, counted.times);
        else
            rma_progress();
    }
}

static void run_pe(struct sim_pe *pe, void *context) {
    static long here[WORDS];
    struct place p = {.b8 = 8, .here = here};
    (void)context;
    __asm__ volatile("" : "+r"(p.b8));
    sim_expect(pe, "rma_init", rma_init());
    p.words = rma_calloc(WORDS + 1, sizeof *p.words);
    if (!p.words) sim_fail(pe, "rma_calloc: %s", rma_last_error());
    p.signal = (uint64_t *)(p.words + WORDS);
    sim_expect(pe, "rma_ctx_create", rma_ctx_create(0, &p.ctx));
    sim_expect(pe, "rma_barrier_all", rma_barrier_all());
    if (pe->me == 0)
        for (size_t i = 0; i < N_OPERATIONS; i++)
            if (counted.pe == 0 || !operations[i].joint) measure(i, &p); /* a joint one has no target */
    if (pe->me == 0)
        counted.over = 1;
    else
        serve(&p);
    sim_expect(pe, "rma_finalize", rma_finalize());
}

int main(int argc, char **argv) {
    static const char *const settings[] = {
        "RMA_WINDOW=none", "RMA_PROGRESS=none", "RMA_STALL=0",         "RMA_TIMEOUT=0",
        "RMA_SPIN=0",      "RMA_HEAP_MAX=1MiB", "RMA_LOCAL_MAX=64KiB", NULL};
    const struct sim_options options = {.n_pes = 2,
                                        .seed = 1,
                                        .quiet = 1000000000000,
                                        .limit = 1000000000000,
                                        .times = {.eager = 8192},
                                        .layer = &sim_whole,
                                        .node_pes = 1,
                                        .settings = settings};
    struct sim_report report;
    if (argc != 2 || (strcmp(argv[1], "origin") != 0 && strcmp(argv[1], "target") != 0)) {
        fprintf(stderr, "usage: count origin|target\n");
        return 2;
    }
    counted.pe = argv[1][0] == 't';
    rma_set_errhandler(rma_errors_return);
    report = sim_run(&options, run_pe, NULL);
    if (!report.stuck && !report.ended && !report.failed) return 0;
    fprintf(stderr, "count: %s\n", report.why[0] ? report.why : "the PEs wait for each other");
    return 1;
}
