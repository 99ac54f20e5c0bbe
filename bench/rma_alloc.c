/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_alloc.c: the time of an allocation and a release in the local heap, beside the C library's malloc and MPI's
 * own.
 *
 * A row is a pattern of use. PE 0 runs it with each allocator in turn, on a live set of that allocator, which stays
 * from batch to batch. The benchmark writes a tag to the first word of each block, so that overlapping blocks are
 * noticed when the live set is freed, after the row. Choosing a slot and a size costs all columns the same nanosecond
 * or two. */
#define _GNU_SOURCE /* the processors of a thread */
#include "bench.h"
#include "machine.h"

#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SMALL        64   /* bytes of a block if sizes do not vary */
#define STACK        1000 /* blocks of lifo */
#define FILL         SIZE_MAX
#define FILLED_MIN   5000 /* least blocks of filled */
#define RING         1024 /* most blocks under way in across */
#define GROUP        16   /* blocks announced at once, so that the counters' cache lines move less often */
#define CHURN_BLOCKS 2048 /* of 8190 bytes in the mean: 16 MiB */
#define CHURN_STEPS  1000000
#define PAGE         4096
#define APART        128 /* no cache or prefetcher moves more at once */

enum { RMA, LIBC, MPI, N_METHODS };

/* across comes after all rows with malloc: once there is a second thread, the C library's malloc locks. filled comes
 * before large, which makes the local heap grow. */
enum row { FIXED, LIFO, FIFO, RANDOM, FILLED, LARGE, ACROSS, REMOTE };

static const struct pattern {
    size_t min, max; /* bytes of a block, uniformly distributed; fixed, lifo, fifo, across and remote have SMALL */
    size_t live;     /* blocks between batches; FILL: as many as fill 90 % of the local heap's present size */
} patterns[] = {
    [FIXED] = {SMALL, SMALL, 0},  [LIFO] = {SMALL, SMALL, 0},  [FIFO] = {SMALL, SMALL, 1000},
    [RANDOM] = {16, 4096, 10000}, [FILLED] = {16, 4096, FILL}, [LARGE] = {4096, 1 << 20, 100},
    [ACROSS] = {SMALL, SMALL, 0}, [REMOTE] = {16, 4096, 0},
};

typedef void *get_function(size_t size);
typedef void put_function(void *block);

struct heap {
    get_function *get;
    put_function *put;
    uint64_t **live; /* the tag of slot k is k + 1 */
    size_t n_live;
    size_t oldest; /* fifo's next slot */
    uint64_t random;
};

static const struct pattern *pattern; /* of the row being measured; null before the first */
static size_t wrong;                  /* tags that this PE did not find */
static bool partner;                  /* PE 1 is there, and on-node */
static cpu_set_t partner_cpus;

/* The allocators, in a form whose calls the compiler sees. */

BENCH_INLINE void *get_rma(size_t size) {
    void *p;
    BENCH_RMA(rma_alloc_mem(size, &p));
    return p;
}

BENCH_INLINE void put_rma(void *p) { BENCH_RMA(rma_free_mem(p)); }

BENCH_INLINE void *get_libc(size_t size) {
    void *p = malloc(size);
    if (!p) bench_fail("malloc", MPI_ERR_NO_MEM);
    return p;
}

BENCH_INLINE void put_libc(void *p) { free(p); }

BENCH_INLINE void *get_mpi(size_t size) {
    void *p;
    BENCH_MPI(MPI_Alloc_mem((MPI_Aint)size, MPI_INFO_NULL, &p));
    return p;
}

BENCH_INLINE void put_mpi(void *p) { BENCH_MPI(MPI_Free_mem(p)); }

/* Blocks of PE 1. A global pointer and an address of it, from which all others follow. */
static rma_gptr_t remote_at;
static char *remote_base;

BENCH_INLINE void *get_remote(size_t size) {
    rma_gptr_t g;
    BENCH_RMA(rma_alloc_mem_on(1, size, &g));
    return remote_base + (g - remote_at);
}

BENCH_INLINE void put_remote(void *p) { BENCH_RMA(rma_gptr_free(remote_at + (uint64_t)((char *)p - remote_base))); }

static struct heap heaps[N_METHODS] = {
    [RMA] = {.get = get_rma, .put = put_rma},
    [LIBC] = {.get = get_libc, .put = put_libc},
    [MPI] = {.get = get_mpi, .put = put_mpi},
};

/* Pseudorandom numbers with good upper bits: D. E. Knuth, TAOCP 2, 3.3.4, table 1. */
BENCH_INLINE uint64_t next(uint64_t *random) { return *random = *random * 6364136223846793005u + 1442695040888963407u; }

/* 0..n-1 */
BENCH_INLINE size_t pick(uint64_t *random, size_t n) { return (size_t)((next(random) >> 32) * n >> 32); }

BENCH_INLINE size_t pick_size(uint64_t *random, const struct pattern *p) {
    return p->min + pick(random, p->max - p->min + 1);
}

/* The patterns: n allocations and as many releases. */

BENCH_INLINE double run_fixed(long n, struct heap *h, get_function *get, put_function *put) {
    (void)h;
    double start = rma_wtime();
    for (long i = 0; i < n; i++) {
        uint64_t *p = get(SMALL);
        *p = (uint64_t)i;
        bench_keep(p);
        put(p);
    }
    return rma_wtime() - start;
}

BENCH_INLINE double run_lifo(long n, struct heap *h, get_function *get, put_function *put) {
    static uint64_t *stack[STACK];
    (void)h;
    double start = rma_wtime();
    for (long left = n; left > 0;) {
        long depth = left < STACK ? left : STACK;
        for (long k = 0; k < depth; k++) {
            stack[k] = get(SMALL);
            *stack[k] = (uint64_t)k;
        }
        for (long k = depth; k-- > 0;) put(stack[k]);
        left -= depth;
    }
    return rma_wtime() - start;
}

BENCH_INLINE double run_fifo(long n, struct heap *h, get_function *get, put_function *put) {
    size_t k = h->oldest;
    double start = rma_wtime();
    for (long i = 0; i < n; i++) {
        put(h->live[k]);
        h->live[k] = get(SMALL);
        *h->live[k] = k + 1;
        if (++k == h->n_live) k = 0;
    }
    double seconds = rma_wtime() - start;
    h->oldest = k;
    return seconds;
}

BENCH_INLINE double run_random(long n, struct heap *h, get_function *get, put_function *put) {
    uint64_t random = h->random, **live = h->live;
    size_t n_live = h->n_live;
    struct pattern p = *pattern;
    double start = rma_wtime();
    for (long i = 0; i < n; i++) {
        size_t k = pick(&random, n_live), size = pick_size(&random, &p);
        put(live[k]);
        live[k] = get(size);
        *live[k] = k + 1;
    }
    double seconds = rma_wtime() - start;
    h->random = random;
    return seconds;
}

/* Blocks that one side allocates and the other frees: PE 0 and PE 1, or two threads of PE 0. The counters never go
 * back. */
struct ring {
    _Alignas(APART) uint64_t sent;  /* blocks, by the producer */
    uint64_t turn;                  /* batches begun, the producer's own */
    _Alignas(APART) uint64_t freed; /* blocks, by the consumer; RING more, so that sent may be compared with it */
    _Alignas(APART) uint64_t ready; /* batches that the consumer has come to */
    _Alignas(APART) uint64_t cell[RING];
};

static struct ring *ring, *partner_ring; /* this PE's and PE 1's */

BENCH_INLINE double produce(long n, struct ring *r, get_function *get, uint64_t (*word)(void *block)) {
    uint64_t sent = r->sent, end = sent + (uint64_t)n;
    bench_wait_flag(&r->ready, ++r->turn);
    double start = rma_wtime();
    while (sent < end) {
        uint64_t stop = end - sent < GROUP ? end : sent + GROUP;
        bench_wait_flag(&r->freed, stop);
        for (; sent < stop; sent++) {
            uint64_t *p = get(SMALL);
            *p = sent;
            r->cell[sent % RING] = word(p);
        }
        /* Pairs with the consumer's acquire in bench_wait_flag: it sees cells and tags. */
        __atomic_store_n(&r->sent, sent, __ATOMIC_RELEASE);
    }
    bench_wait_flag(&r->freed, end + RING);
    return rma_wtime() - start;
}

BENCH_INLINE void consume(long n, struct ring *r, void *(*block)(uint64_t word), void (*put)(uint64_t word)) {
    uint64_t freed = r->freed - RING, end = freed + (uint64_t)n;
    /* Pairs with the producer's acquire: it may use the ring. */
    __atomic_store_n(&r->ready, r->ready + 1, __ATOMIC_RELEASE);
    while (freed < end) {
        uint64_t stop = end - freed < GROUP ? end : freed + GROUP;
        bench_wait_flag(&r->sent, stop);
        for (; freed < stop; freed++) {
            uint64_t word = r->cell[freed % RING];
            wrong += *(uint64_t *)block(word) != freed;
            put(word);
        }
        /* Pairs with the producer's acquire: the cells have been read before it writes them anew. */
        __atomic_store_n(&r->freed, freed + RING, __ATOMIC_RELEASE);
    }
}

static uint64_t word_gptr(void *p) { return rma_gptr(p, 0); }

static void free_gptr(uint64_t g) { BENCH_RMA(rma_gptr_free(g)); }

static uint64_t word_pointer(void *p) { return (uint64_t)(uintptr_t)p; }

static void *block_pointer(uint64_t word) { return (void *)(uintptr_t)word; }

static void free_libc(uint64_t word) { put_libc(block_pointer(word)); }

static double across_rma(long n) {
    if (bench.pe == 0) return produce(n, partner_ring, get_rma, word_gptr);
    consume(n, ring, rma_gptr_ptr, free_gptr);
    return 0;
}

static void *consume_libc(void *n) {
    consume(*(long *)n, ring, block_pointer, free_libc);
    return NULL;
}

/* Starts a thread on PE 1's processor; PE 1 sleeps meanwhile. */
static pthread_t start_consumer(void *(*start)(void *), long *n) {
    pthread_t thread;
    pthread_attr_t attr;
    int code = pthread_attr_init(&attr);
    if (code == 0) code = pthread_attr_setaffinity_np(&attr, sizeof partner_cpus, &partner_cpus);
    if (code == 0) code = pthread_create(&thread, &attr, start, n);
    if (code != 0) bench_fail("pthread_create", MPI_ERR_OTHER);
    pthread_attr_destroy(&attr);
    return thread;
}

static double across_libc(long n) {
    pthread_t thread = start_consumer(consume_libc, &n);
    double seconds = produce(n, ring, get_libc, word_pointer);
    pthread_join(thread, NULL);
    return seconds;
}

static double remote_rma(long n) { return run_fixed(n, &heaps[RMA], get_remote, put_remote); }

/* Each pattern with each allocator, compiled for it alone. */
#define RUNS(order)                                                                                                    \
    static double order##_rma(long n) { return run_##order(n, &heaps[RMA], get_rma, put_rma); }                        \
    static double order##_libc(long n) { return run_##order(n, &heaps[LIBC], get_libc, put_libc); }                    \
    static double order##_mpi(long n) { return run_##order(n, &heaps[MPI], get_mpi, put_mpi); }
RUNS(fixed)
RUNS(lifo)
RUNS(fifo)
RUNS(random)

static const struct bench_row rows[] = {
    [FIXED] = {"fixed", {fixed_rma, fixed_libc, fixed_mpi}, 0},
    [LIFO] = {"lifo", {lifo_rma, lifo_libc, lifo_mpi}, 0},
    [FIFO] = {"fifo", {fifo_rma, fifo_libc, fifo_mpi}, 0},
    [RANDOM] = {"random", {random_rma, random_libc, random_mpi}, 0},
    [FILLED] = {"filled", {random_rma, random_libc, random_mpi}, 0},
    [LARGE] = {"large", {random_rma, random_libc, random_mpi}, 0},
    [ACROSS] = {"across", {across_rma, across_libc, NULL}, 0},
    [REMOTE] = {"remote", {remote_rma, NULL, NULL}, 0},
    {0},
};

/* Live sets. */

/* Whether enough blocks are live. If the heap, which grows by a quarter, has just grown, filling continues. */
static bool is_filled(const struct heap *h) {
    struct rma_heap_stats stats;
    if (h != &heaps[RMA]) return h->n_live == heaps[RMA].n_live;
    if (h->n_live < FILLED_MIN || h->n_live % 16 != 0) return false;
    BENCH_RMA(rma_heap_stats(RMA_HEAP_LOCAL, &stats));
    return stats.used >= stats.size / 100 * 90 && stats.used < stats.size / 100 * 92;
}

static void open_live(struct heap *h) {
    const bool fills = pattern->live == FILL;
    size_t room = fills ? 1024 : pattern->live;
    *h = (struct heap){.get = h->get, .put = h->put, .random = 1};
    if (room == 0) return;
    h->live = malloc(room * sizeof *h->live);
    while (h->live && !(fills ? is_filled(h) : h->n_live == room)) {
        if (h->n_live == room) h->live = realloc(h->live, (room *= 2) * sizeof *h->live);
        if (!h->live) break;
        h->live[h->n_live] = h->get(pick_size(&h->random, pattern));
        *h->live[h->n_live] = h->n_live + 1;
        h->n_live++;
    }
    if (!h->live) bench_fail("malloc", MPI_ERR_NO_MEM);
}

/* Tags of the live set that are not there any more. */
static size_t n_wrong(struct heap *h) {
    size_t n = 0;
    for (size_t k = 0; k < h->n_live; k++) n += *h->live[k] != k + 1;
    return n;
}

static void close_live(struct heap *h) {
    wrong += n_wrong(h);
    for (size_t k = 0; k < h->n_live; k++) h->put(h->live[k]);
    free(h->live);
    h->live = NULL;
    h->n_live = 0;
}

/* A batch beside the live set and as many more blocks, whose tags must stay. */
static size_t check_local(const struct bench_method *m) {
    enum { CHECKED = 1000 };
    static uint64_t *block[CHECKED];
    struct heap *h = &heaps[bench_column(m)];
    size_t bad = 0;
    if (bench.pe != 0) return 0;
    for (uint64_t k = 0; k < CHECKED; k++) {
        block[k] = h->get(pick_size(&h->random, pattern));
        *block[k] = k;
    }
    m->run(CHECKED);
    for (uint64_t k = 0; k < CHECKED; k++) {
        bad += *block[k] != k;
        h->put(block[k]);
    }
    return bad + n_wrong(h);
}

/* The consumer checks each tag anyway. */
static size_t check_across(const struct bench_method *m) {
    size_t before = wrong;
    if (bench_calls_run(m)) m->run(10 * RING);
    return wrong - before;
}

/* Memory. */

/* Bytes that a heap has from the system, as it reports; NAN if it does not. */
static double held(int heap) {
    struct rma_heap_stats stats;
    switch (heap) {
        case RMA: BENCH_RMA(rma_heap_stats(RMA_HEAP_LOCAL, &stats)); return (double)stats.size;
#if defined __GLIBC__ && __GLIBC_PREREQ(2, 33)
        case LIBC: return (double)mallinfo2().arena + (double)mallinfo2().hblkhd;
#endif
        default: return NAN;
    }
}

/* A heap that did not grow was not the one in use: malloc may have been replaced. */
static double growth(double before, double after) { return after > before ? after - before : NAN; }

struct block {
    unsigned char *p;
    size_t size;
    uint64_t tag;
};

/* Touches a block's first word, its last word, and one word in each page. */
static void touch(struct block *b) {
    for (size_t i = PAGE; i < b->size; i += PAGE) b->p[i] = 1;
    memcpy(b->p + b->size - sizeof b->tag, &b->tag, sizeof b->tag);
    memcpy(b->p, &b->tag, sizeof b->tag);
}

/* 16 bytes to 64 KiB; all powers of two are equally frequent. */
static size_t churn_size(uint64_t *random) {
    size_t power = (size_t)16 << pick(random, 12);
    return power + pick(random, power);
}

/* Replace blocks at random, then compute the memory that the heap has taken for each live byte. */
static void churn(int heap, double *heap_per_byte, double *resident_per_byte) {
    static struct block block[CHURN_BLOCKS];
    struct heap *h = &heaps[heap];
    uint64_t random = 1;
    double live = 0;
    memset(block, 1, sizeof block); /* touches the array's pages before memory is measured */
    double held_before = held(heap), resident_before = bench_resident();
    for (size_t i = 0; i < CHURN_BLOCKS + CHURN_STEPS; i++) {
        struct block *b = &block[i < CHURN_BLOCKS ? i : pick(&random, CHURN_BLOCKS)];
        if (i >= CHURN_BLOCKS) {
            wrong += memcmp(b->p, &b->tag, sizeof b->tag) != 0;
            wrong += memcmp(b->p + b->size - sizeof b->tag, &b->tag, sizeof b->tag) != 0;
            h->put(b->p);
        }
        size_t size = churn_size(&random);
        *b = (struct block){h->get(size), size, i};
        touch(b);
    }
    for (size_t k = 0; k < CHURN_BLOCKS; k++) live += (double)block[k].size;
    *heap_per_byte = growth(held_before, held(heap)) / live;
    *resident_per_byte = growth(resident_before, bench_resident()) / live;
    for (size_t k = 0; k < CHURN_BLOCKS; k++) h->put(block[k].p);
}

/* Rows. */

static double heap_per_byte[N_METHODS], resident_per_byte[N_METHODS];
static bool good; /* no tag was overwritten in churn */

static void close_all_live(void) {
    for (int i = 0; i < N_METHODS; i++) close_live(&heaps[i]);
}

static void before(struct bench_method *methods) {
    const bool two = bench.row == ACROSS || bench.row == REMOTE;
    close_all_live();
    pattern = &patterns[bench.row];
    heaps[RMA].get = bench.row == REMOTE ? get_remote : get_rma;
    heaps[RMA].put = bench.row == REMOTE ? put_remote : put_rma;
    for (int i = 0; i < N_METHODS; i++) {
        if (two && !partner) methods[i].run = NULL;
        methods[i].callers = bench.row == ACROSS && i == RMA ? BENCH_BOTH : BENCH_ORIGINS;
        methods[i].check = bench.row == ACROSS ? check_across : check_local;
        if (bench.pe == 0 && methods[i].run) open_live(&heaps[i]);
    }
}

static void begin(void) {
    partner = bench_agree(bench.pe == 0 && bench.n_pes > 1 && rma_on_node(1)) != 0;
    /* Now, before other patterns make the heaps grow. */
    for (int i = 0; i < N_METHODS; i++) {
        heap_per_byte[i] = resident_per_byte[i] = NAN;
        if (bench.pe == 0 && i != MPI && bench.only < 0) churn(i, &heap_per_byte[i], &resident_per_byte[i]);
    }
    good = wrong == 0;
    if (!partner) return;
    ring = bench_symmetric(APART, sizeof *ring);
    ring->freed = RING;
    partner_ring = rma_ptr(ring, 1);
    if (bench.pe == 0) {
        BENCH_RMA(rma_alloc_mem_on(1, SMALL, &remote_at));
        remote_base = rma_gptr_ptr(remote_at);
        BENCH_RMA(rma_gptr_free(remote_at));
    }
    if (bench.pe == 1 && sched_getaffinity(0, sizeof partner_cpus, &partner_cpus) != 0)
        bench_fail("sched_getaffinity", MPI_ERR_OTHER);
    BENCH_MPI(MPI_Bcast(&partner_cpus, sizeof partner_cpus, MPI_BYTE, 1, MPI_COMM_WORLD));
    BENCH_RMA(rma_barrier_all());
}

static void end(void) {
    close_all_live();
    if (bench.only < 0) {
        bench_row_of("heap", heap_per_byte, good);
        bench_row_of("resident", resident_per_byte, good);
    }
    if (wrong > 0) fprintf(stderr, "rma_alloc: PE %d: %zu tags were overwritten in live blocks\n", bench.pe, wrong);
    if (bench_agree(wrong > 0)) bench.failed = true;
    if (partner) BENCH_RMA(rma_free(ring));
}

int main(int argc, char **argv) {
    static const struct bench_method methods[] = {
        [RMA] = {.name = "rma"}, [LIBC] = {.name = "glibc"}, [MPI] = {.name = "MPI"}, {0}};
    static const struct bench_ratio ratios[] = {
        {"rma/glibc", RMA, {LIBC, -1}},
        {"MPI/rma", MPI, {RMA, -1}},
        {0},
    };
    static const struct bench_spec spec = {
        .title = "allocation",
        .note = "PE 0's local heap: ns for an allocation and a release; heap, resident: bytes for a live byte",
        .help = "Time of an allocation and a release by PE 0:\n"
                "  rma       rma_alloc_mem, rma_free_mem\n"
                "  glibc     malloc, free: the C library's, or what has been put in its place\n"
                "  MPI       MPI_Alloc_mem, MPI_Free_mem; '-' where two threads or PEs take part, and for the last two "
                "rows\n"
                "The rows:\n"
                "  fixed     64 bytes, released at once\n"
                "  lifo      1000 blocks of 64 bytes, released in reverse\n"
                "  fifo      1000 live blocks of 64 bytes, the oldest one released\n"
                "  random    10,000 live blocks of 16 to 4096 bytes, any one released\n"
                "  filled    the same with as many as fill 90 % of the local heap\n"
                "  large     100 live blocks of 4 KiB to 1 MiB, any one released\n"
                "  across    64 bytes, released by PE 1, or for malloc by another thread of PE 0\n"
                "  remote    64 bytes, by rma_alloc_mem_on in PE 1's heap and rma_gptr_free\n"
                "  heap      no time: the heap's size by the live bytes that were asked for, after a million\n"
                "            random replacements of blocks of 16 bytes to 64 KiB, 16 MiB in all\n"
                "  resident  the same with the growth of the process's resident memory\n"
                "across and remote need PE 1 on PE 0's node.",
        .methods = methods,
        .ratios = ratios,
        .rows = rows,
        .first = "Pattern",
        .value = BENCH_NS,
        .budget = 10e-3,
        .begin = begin,
        .before = before,
        .end = end,
    };
    return bench_main(argc, argv, &spec);
}
