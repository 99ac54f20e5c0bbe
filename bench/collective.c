/* SPDX-License-Identifier: BSD-3-Clause */
/* collective.c: the time of a collective over all PEs, one call after the other, by librma and by MPI, and the time of
 * its copies alone.
 *
 * The calls follow each other without a barrier, so a PE that need not wait, such as a broadcast's root, may begin the
 * next call while others are in the previous one. Each library gets its usual buffers: symmetric memory for librma,
 * ordinary memory for MPI. */
#include "collective.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RMA, COPIES, MPI };
enum blocks { ONE, EACH /* one for each PE */ };

struct operation {
    const char *title;        /* of the table */
    enum blocks source, dest; /* how many blocks of bench.size bytes the buffers have */
    bool adds;                /* it adds longs */
    bool at_root;             /* only the root gets something */
    void (*rma)(void);
    void (*mpi)(void);
};

struct buffers {
    char *source, *dest;
};

static enum collective which;
static const struct operation *operation; /* which it is */
static struct buffers symmetric, ordinary;
static char **peer; /* each PE's symmetric source, by load and store; this PE's own in place of one that is off-node */
static int root;    /* of those that have one */
static bool fresh;  /* --fresh */
static unsigned turn; /* checks so far, the same on all PEs: data differ from one to the next */
static bool checking; /* a check is under way: the PEs' parts of a collect differ */
static int *counts;   /* for MPI_Allgatherv: lengths of the PEs' parts */
static int *offsets;  /* for MPI_Allgatherv: where the parts go */

static size_t bytes(enum blocks blocks) { return blocks == ONE ? bench.size : (size_t)bench.n_pes * bench.size; }

/* The PEs whose data come to a dest, from PE n on: all, or the root. */
static int first_pe(void) { return operation->dest == EACH ? 0 : root; }

static int n_blocks(void) { return operation->dest == EACH ? bench.n_pes : 1; }

/* Where this PE's block begins in their sources. */
static size_t mine(void) { return operation->source == EACH ? (size_t)bench.pe * bench.size : 0; }

static bool has_source(void) {
    return (which != COLLECTIVE_BROADCAST && which != COLLECTIVE_SCATTER) || bench.pe == root;
}

/* The bytes that a PE contributes. In checks of collect some contribute little or nothing. */
static size_t part(int pe) {
    const bool differ = checking && which == COLLECTIVE_COLLECT;
    return differ ? bench.size - bench.size / 4 * (((unsigned)pe + turn) % 5) : bench.size;
}

static void plan_parts(void) {
    int at = 0;
    for (int pe = 0; pe < bench.n_pes; pe++) {
        counts[pe] = (int)part(pe);
        offsets[pe] = at;
        at += counts[pe];
    }
}

/* The calls. */

#define CALLS(NAME, RMA_CALL, MPI_CALL)                                                                                \
    static void rma_##NAME##_call(void) { BENCH_RMA(RMA_CALL); }                                                       \
    static void mpi_##NAME##_call(void) { BENCH_MPI(MPI_CALL); }
#define OURS   RMA_TEAM_WORLD, symmetric.dest, symmetric.source
#define BLOCKS ordinary.source, (int)bench.size, MPI_BYTE, ordinary.dest, (int)bench.size, MPI_BYTE
/* MPI's broadcast has one buffer, which is the source of the root. */
CALLS(broadcast, rma_broadcast(OURS, bench.size, root),
      MPI_Bcast(bench.pe == root ? ordinary.source : ordinary.dest, (int)bench.size, MPI_BYTE, root, MPI_COMM_WORLD))
CALLS(fcollect, rma_fcollect(OURS, bench.size), MPI_Allgather(BLOCKS, MPI_COMM_WORLD))
CALLS(collect, rma_collect(OURS, part(bench.pe)),
      MPI_Allgatherv(ordinary.source, counts[bench.pe], MPI_BYTE, ordinary.dest, counts, offsets, MPI_BYTE,
                     MPI_COMM_WORLD))
CALLS(alltoall, rma_alltoall(OURS, bench.size), MPI_Alltoall(BLOCKS, MPI_COMM_WORLD))
CALLS(gather, rma_gather(OURS, bench.size, root), MPI_Gather(BLOCKS, root, MPI_COMM_WORLD))
CALLS(scatter, rma_scatter(OURS, bench.size, root), MPI_Scatter(BLOCKS, root, MPI_COMM_WORLD))

/* The typed ones: both libraries are given the same longs. */
#define OUR_LONGS                                                                                                      \
    RMA_TEAM_WORLD, (long *)(void *)symmetric.dest, (long *)(void *)symmetric.source, bench.size / sizeof(long)
#define LONGS ordinary.source, ordinary.dest, (int)(bench.size / sizeof(long)), MPI_LONG
CALLS(root_sum, rma_sum_reduce_root_long(OUR_LONGS, root), MPI_Reduce(LONGS, MPI_SUM, root, MPI_COMM_WORLD))
CALLS(sum, rma_sum_reduce_long(OUR_LONGS), MPI_Allreduce(LONGS, MPI_SUM, MPI_COMM_WORLD))
CALLS(max, rma_max_reduce_long(OUR_LONGS), MPI_Allreduce(LONGS, MPI_MAX, MPI_COMM_WORLD))
CALLS(xor, rma_xor_reduce_long(OUR_LONGS), MPI_Allreduce(LONGS, MPI_BXOR, MPI_COMM_WORLD))
CALLS(inscan, rma_sum_inscan_long(OUR_LONGS), MPI_Scan(LONGS, MPI_SUM, MPI_COMM_WORLD))
CALLS(exscan, rma_sum_exscan_long(OUR_LONGS), MPI_Exscan(LONGS, MPI_SUM, MPI_COMM_WORLD))

/* The copies alone: all data from source to destination, and no PE waits for another. */

static void copy(void) {
    char *const *from = peer + first_pe(), *to = symmetric.dest;
    const size_t first = mine();
    for (int n = n_blocks(); n > 0; n--, to += bench.size) memcpy(to, *from++ + first, bench.size);
}

/* to[i] = a[i] + b[i]. Vectors, because compilers do not vectorise such a loop at -O2; unsigned, because sums wrap. */
#define ADD(NAME, WIDTH)                                                                                               \
    static void add_##NAME(char *to, const char *a, const char *b, size_t len) {                                       \
        typedef uint64_t vector __attribute__((vector_size(WIDTH), aligned(8), may_alias));                            \
        typedef uint64_t word __attribute__((may_alias));                                                              \
        size_t i = 0;                                                                                                  \
        for (; i + WIDTH <= len; i += WIDTH)                                                                           \
            *(vector *)(void *)(to + i) =                                                                              \
                *(const vector *)(const void *)(a + i) + *(const vector *)(const void *)(b + i);                       \
        for (; i < len; i += sizeof(word))                                                                             \
            *(word *)(void *)(to + i) = *(const word *)(const void *)(a + i) + *(const word *)(const void *)(b + i);   \
    }
ADD(narrow, 16)
#if defined __x86_64__
__attribute__((target("avx2"))) ADD(wide, 32)
#define HAVE_WIDE() __builtin_cpu_supports("avx2")
#else
#define add_wide    add_narrow
#define HAVE_WIDE() false
#endif

    static void add(void) {
    const char *next = peer[(bench.pe + 1) % bench.n_pes];
    if (HAVE_WIDE())
        add_wide(symmetric.dest, symmetric.source, next, bench.size);
    else
        add_narrow(symmetric.dest, symmetric.source, next, bench.size);
}

/* Timing. */

BENCH_INLINE void rewrite(const struct buffers *b, long i) {
    if (has_source()) memset(b->source, (int)(i & 0xff), bytes(operation->source));
}

BENCH_INLINE double timed(long n, void (*call)(void), const struct buffers *b) {
    double start = rma_wtime();
    for (long i = 0; i < n; i++) {
        if (fresh) rewrite(b, i);
        call();
        bench_keep(b->dest);
    }
    return rma_wtime() - start;
}

/* Each run begins with an untimed barrier, so that all PEs start together. */

static double run_rma(long n) {
    BENCH_RMA(rma_barrier_all());
    return timed(n, operation->rma, &symmetric);
}

static double run_copies(long n) {
    BENCH_RMA(rma_barrier_all());
    return operation->at_root && bench.pe != root ? 0 : timed(n, operation->adds ? add : copy, &symmetric);
}

static double run_mpi(long n) {
    plan_parts();
    BENCH_MPI(MPI_Barrier(MPI_COMM_WORLD));
    return timed(n, operation->mpi, &ordinary);
}

/* Checks. The data are a hash of their origin, so that data of another place, PE or turn are noticed. */

static uint64_t hash(int pe, size_t i) {
    uint64_t x = (uint64_t)pe * 0x9e3779b97f4a7c15u + (uint64_t)turn * 0xd1b54a32d192ed03u + i + 1;
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
    return x ^ x >> 32;
}

static char byte(int pe, size_t i) { return (char)(unsigned char)hash(pe, i); }

/* Positive or negative; the sum over all PEs does not overflow. */
static long number(int pe, size_t i) { return (long)(hash(pe, i) >> 24) - (1L << 39); }

static void fill(char *source) {
    size_t n = has_source() ? bytes(operation->source) : 0;
    if (operation->adds)
        for (size_t i = 0; i < n / sizeof(long); i++) ((long *)(void *)source)[i] = number(bench.pe, i);
    else
        for (size_t i = 0; i < n; i++) source[i] = byte(bench.pe, i);
}

/* Wrong bytes of the blocks that have come. */
static size_t wrong_blocks(const char *dest) {
    size_t wrong = 0;
    for (int k = 0; k < n_blocks(); k++)
        for (size_t i = 0; i < part(first_pe() + k); i++)
            wrong += dest[(size_t)offsets[k] + i] != byte(first_pe() + k, mine() + i);
    return wrong;
}

/* The reduction of what PEs 0..n-1 have. */
static size_t wrong_longs(const char *dest) {
    const int n = which == COLLECTIVE_INSCAN ? bench.pe + 1 : which == COLLECTIVE_EXSCAN ? bench.pe : bench.n_pes;
    size_t wrong = 0;
    for (size_t i = 0; i < bench.size / sizeof(long); i++) {
        long all = n > 0 ? number(0, i) : 0;
        for (int pe = 1; pe < n; pe++) {
            const long one = number(pe, i), larger = one > all ? one : all;
            all = which == COLLECTIVE_MAX ? larger : which == COLLECTIVE_XOR ? all ^ one : all + one;
        }
        if (((const long *)(const void *)dest)[i] != all) wrong += sizeof(long);
    }
    return wrong;
}

/* Calls follow each other as in the timed runs, each with other data, roots and lengths, and with no synchronization
 * besides the calls': data that a call leaves or takes too early are wrong in another call. */
static size_t check_calls(void (*call)(void), const struct buffers *b, bool mpi) {
    size_t wrong = 0;
    checking = true;
    for (int k = 0; k < 5; k++) {
        turn++;
        root = (int)(turn % (unsigned)bench.n_pes);
        plan_parts();
        fill(b->source);
        memset(b->dest, 0x5a, bytes(operation->dest));
        /* MPI does not write the root's buffer. */
        if (mpi && which == COLLECTIVE_BROADCAST && bench.pe == root) memcpy(b->dest, b->source, bench.size);
        if (mpi && which == COLLECTIVE_EXSCAN && bench.pe == 0) memset(b->dest, 0, bench.size);
        call();
        if (operation->at_root && bench.pe != root) continue;
        wrong += operation->adds ? wrong_longs(b->dest) : wrong_blocks(b->dest);
    }
    checking = false;
    root = 0;
    return wrong;
}

static size_t check_rma(const struct bench_method *m) {
    (void)m;
    return check_calls(operation->rma, &symmetric, false);
}

static size_t check_mpi(const struct bench_method *m) {
    (void)m;
    return check_calls(operation->mpi, &ordinary, true);
}

#define CALLS_OF(NAME) rma_##NAME##_call, mpi_##NAME##_call
static const struct operation operations[] = {
    [COLLECTIVE_BROADCAST] = {"broadcast latency", ONE, ONE, false, false, CALLS_OF(broadcast)},
    [COLLECTIVE_FCOLLECT] = {"fcollect latency", ONE, EACH, false, false, CALLS_OF(fcollect)},
    [COLLECTIVE_COLLECT] = {"collect latency", ONE, EACH, false, false, CALLS_OF(collect)},
    [COLLECTIVE_ALLTOALL] = {"alltoall latency", EACH, EACH, false, false, CALLS_OF(alltoall)},
    [COLLECTIVE_SUM] = {"sum latency", ONE, ONE, true, false, CALLS_OF(sum)},
    [COLLECTIVE_MAX] = {"max latency", ONE, ONE, true, false, CALLS_OF(max)},
    [COLLECTIVE_XOR] = {"xor latency", ONE, ONE, true, false, CALLS_OF(xor)},
    [COLLECTIVE_INSCAN] = {"inscan latency", ONE, ONE, true, false, CALLS_OF(inscan)},
    [COLLECTIVE_EXSCAN] = {"exscan latency", ONE, ONE, true, false, CALLS_OF(exscan)},
    [COLLECTIVE_GATHER] = {"gather latency", ONE, EACH, false, true, CALLS_OF(gather)},
    [COLLECTIVE_SCATTER] = {"scatter latency", EACH, ONE, false, false, CALLS_OF(scatter)},
    [COLLECTIVE_ROOT_SUM] = {"rooted sum latency", ONE, ONE, true, true, CALLS_OF(root_sum)},
};

/* Before and after. */

/* Restricts the option's sizes to those that the operation can have. */
static void settle_sizes(void) {
    struct bench_sizes *m = &bench.sizes;
    while (operation->adds && m->min < sizeof(long)) m->min *= 2; /* as -m 1k begins with 1 */
    if (operation->adds && (m->min % sizeof(long) != 0 || m->min > m->max))
        bench_refuse(2, "option -m: longs are added: MIN must be a multiple of %zu, and MAX no less", sizeof(long));
    if ((operation->dest == EACH || operation->source == EACH) && m->max > BENCH_SIZE_MAX / (size_t)bench.n_pes)
        bench_refuse(2, "option -m: MAX is %zu, and %d PEs need that many times as much: at most %zu in all", m->max,
                     bench.n_pes, BENCH_SIZE_MAX);
}

/* Whole pages, at least one, all touched. */
static void open_buffers(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t source = bytes(operation->source) / page * page + page, dest = bytes(operation->dest) / page * page + page;
    symmetric = (struct buffers){bench_symmetric(page, source), bench_symmetric(page, dest)};
    ordinary = (struct buffers){aligned_alloc(page, source), aligned_alloc(page, dest)};
    if (bench_agree(!ordinary.source || !ordinary.dest))
        bench_refuse(1, "cannot allocate %zu bytes on every PE", source + dest);
    memset(ordinary.source, 0, source);
    memset(ordinary.dest, 0, dest);
}

static struct bench_spec spec;
static int chosen; /* -o */

static void begin(void) {
    size_t n = (size_t)bench.n_pes;
    which += (enum collective)chosen;
    operation = &operations[which];
    spec.title = operation->title;
    settle_sizes();
    bench.size = bench.sizes.max;
    open_buffers();
    peer = malloc(n * sizeof *peer);
    counts = malloc(n * sizeof *counts);
    offsets = malloc(n * sizeof *offsets);
    if (!peer || !counts || !offsets) bench_fail("malloc", MPI_ERR_NO_MEM);
    for (int pe = 0; pe < bench.n_pes; pe++) {
        peer[pe] = rma_ptr(symmetric.source, pe);
        if (!peer[pe]) peer[pe] = symmetric.source;
    }
    BENCH_RMA(rma_barrier_all());
}

static void end(void) {
    free(offsets);
    free(counts);
    free(peer);
    free(ordinary.dest);
    free(ordinary.source);
    BENCH_RMA(rma_free(symmetric.dest));
    BENCH_RMA(rma_free(symmetric.source));
}

int bench_collective(int argc, char **argv, const struct bench_spec *given, enum collective first, const char *words) {
    static struct bench_option options[] = {
        {"fresh", 0, BENCH_FLAG, &fresh, 0, 0, NULL,
         "each PE writes its source before each call, in the time of all columns"},
        {NULL, 'o', BENCH_WORD, &chosen, 0, 0, NULL, "the operation [the first of them]"},
        {0},
    };
    static const struct bench_method methods[] = {
        [RMA] = {.name = "Latency (us)", .run = run_rma, .check = check_rma},
        [COPIES] = {.name = "copies (us)", .run = run_copies},
        [MPI] = {.name = "MPI (us)", .run = run_mpi, .check = check_mpi, .mpi = true},
        {0},
    };
    static const struct bench_ratio ratios[] = {
        {"rma/copies", RMA, {COPIES, -1}},
        {"MPI/rma", MPI, {RMA, -1}},
        {0},
    };
    which = first;
    spec = *given;
    spec.note = "all PEs, the slowest one's time";
    spec.options = options;
    spec.methods = methods;
    spec.ratios = ratios;
    spec.min_size = 8;
    spec.max_size = 4 << 20;
    spec.budget = 10e-3;
    spec.begin = begin;
    spec.end = end;
    if (words) {
        options[1].name = "operation";
        options[1].arg = words;
    }
    return bench_main(argc, argv, &spec);
}
