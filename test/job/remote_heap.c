/* SPDX-License-Identifier: BSD-3-Clause */
/* Any PE allocates in any local heap and frees any block, all at once, on any nodes, while the owner does other work.
 *
 * Broken by two PEs that change one pool at the same time (blocks overlap), by a block that two PEs free successfully
 * (it is then allocated twice), by a freed block that never becomes free, by an operation that needs the owner, and by
 * a limit or a mistake that changes something.
 *
 * Odd numbers of PEs use RMA_THREAD_MULTIPLE, with two threads each. */
#include "job.h"

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>

#define MIB       ((size_t)1 << 20)
#define OWN_MAX   (2 * MIB)
#define GUEST_MAX MIB
#define PE_SHIFT  40
#define THREADS   2
#define HELD      6
#define BOXES     4
#define LENGTH    5000
#define EACH      12  /* blocks of each PE on each PE, all held at once */
#define TWICE     192 /* blocks that all give back at once */

static int n_threads = 1;
static struct rma_hints none = RMA_HINTS_NONE;

/* ---- blocks of any PE: on this node by their address or by global pointer, on others by that ---- */

/* Writes the pattern, by a put if `put`. */
static void fill(rma_gptr_t g, size_t size, uint64_t key, int put) {
    void *there = put ? NULL : rma_gptr_ptr(g), *buffer = there ? there : malloc(size);
    CHECK(buffer != NULL, "no memory");
    job_fill(buffer, 0, size, key);
    if (there) return;
    OK(rma_gptr_put(g, buffer, size));
    job_settle(rma_gptr_pe(g));
    free(buffer);
}

static int is_filled(rma_gptr_t g, size_t size, uint64_t key) {
    void *there = rma_gptr_ptr(g), *buffer = there ? there : malloc(size);
    int is;
    CHECK(buffer != NULL, "no memory");
    CHECK((there != NULL) == rma_on_node(rma_gptr_pe(g)), "%#llx at %p", (unsigned long long)g, there);
    if (!there) OK(rma_gptr_get(buffer, g, size));
    is = job_differs(buffer, 0, size, key) == size;
    if (!there) free(buffer);
    return is;
}

/* In one way or the other, if both are there. */
static int give_back(rma_gptr_t g, uint64_t how) {
    return how & 1 || !rma_on_node(rma_gptr_pe(g)) ? rma_gptr_free(g) : rma_free_mem(rma_gptr_ptr(g));
}

static void stats_of(enum rma_heap heap, struct rma_heap_stats *s) { OK(rma_heap_stats(heap, s)); }

/* An allocation that cannot succeed takes what has been returned, and nothing more. */
static void drain(void) {
    void *base = NULL;
    rma_gptr_t g = RMA_GPTR_NULL;
    CHECK(rma_alloc_mem(2 * OWN_MAX, &base) == RMA_ERR_NO_MEM, "twice RMA_LOCAL_MAX: %s", rma_last_error());
    CHECK(rma_alloc_mem_on(job.me, 2 * OWN_MAX, &g) == RMA_ERR_NO_MEM, "twice RMA_LOCAL_MAX: %s", rma_last_error());
}

static void nothing_left(void) {
    struct rma_heap_stats s;
    drain();
    for (int heap = RMA_HEAP_LOCAL; heap <= RMA_HEAP_GUEST; heap++) {
        stats_of((enum rma_heap)heap, &s);
        CHECK(s.used == 0 && s.n_used == 0 && s.n_returned == 0,
              "heap %d: %zu bytes in %zu blocks are used, %zu returned", heap, s.used, s.n_used, s.n_returned);
        CHECK(s.n_free == (s.size > 0) && s.free == s.size, "heap %d: %zu of %zu bytes are free, in %zu blocks", heap,
              s.free, s.size, s.n_free);
    }
}

/* ---- all on all ---- */

/* A block says what it is: any PE can look whether it still holds what its maker wrote. */
struct head {
    uint64_t key, size;
};

static uint64_t *boxes; /* symmetric: BOXES global pointers of each PE, that whoever comes exchanges for its own */
static long rounds;

static rma_gptr_t make(uint64_t *random, uint64_t key) {
    struct head h = {key, sizeof h + job_length(random, LENGTH)};
    int pe = (int)job_below(random, (size_t)job.n);
    char buffer[sizeof h + LENGTH], *there;
    rma_gptr_t g = RMA_GPTR_NULL;
    if (job_below(random, 3) == 0) {
        void *base;
        pe = job.me;
        OK(rma_alloc_mem(h.size, &base));
        g = rma_gptr(base, job.me);
        CHECK(rma_gptr_ptr(g) == base, "an own block is not where it is");
    } else {
        OK(rma_alloc_mem_on(pe, h.size, &g));
    }
    there = rma_gptr_ptr(g);
    CHECK(g != RMA_GPTR_NULL && rma_gptr_pe(g) == pe, "%#llx is of PE %d, asked for on %d", (unsigned long long)g,
          rma_gptr_pe(g), pe);
    CHECK((there != NULL) == rma_on_node(pe) && (g & 63) == 0 && (uintptr_t)there % 64 == 0, "%#llx at %p",
          (unsigned long long)g, (void *)there);
    memcpy(buffer, &h, sizeof h);
    job_fill(buffer + sizeof h, 0, h.size - sizeof h, key);
    if (key & 1 || !there)
        OK(rma_gptr_put(g, buffer, h.size));
    else
        memcpy(there, buffer, h.size);
    OK(rma_quiet());
    return g;
}

static void look(rma_gptr_t g) {
    struct head h;
    char buffer[LENGTH];
    const char *there = rma_gptr_ptr(g);
    OK(rma_gptr_get(&h, g, sizeof h));
    CHECK(h.size >= sizeof h && h.size <= sizeof h + LENGTH, "block %#llx has %llu bytes", (unsigned long long)g,
          (unsigned long long)h.size);
    OK(rma_gptr_get(buffer, g + sizeof h, h.size - sizeof h));
    CHECK(job_differs(buffer, 0, h.size - sizeof h, h.key) == h.size - sizeof h,
          "block %#llx of %llu bytes is not as it was written", (unsigned long long)g, (unsigned long long)h.size);
    CHECK((there != NULL) == rma_on_node(rma_gptr_pe(g)), "block %#llx at %p", (unsigned long long)g,
          (const void *)there);
    if (there)
        CHECK(memcmp(buffer, there + sizeof h, h.size - sizeof h) == 0, "a get of block %#llx", (unsigned long long)g);
}

static void unmake(rma_gptr_t g, uint64_t how) {
    look(g);
    OK(give_back(g, how));
}

struct worker {
    pthread_t thread;
    uint64_t number;
};

static void *all_on_all(void *argument) {
    const struct worker *w = argument;
    uint64_t random = job_stream(w->number), key = w->number << 32;
    rma_gptr_t held[HELD] = {0};
    for (long i = 0; i < rounds; i++) {
        rma_gptr_t *slot = &held[job_below(&random, HELD)];
        if (!*slot) {
            *slot = make(&random, key++);
        } else if (job_below(&random, 2)) {
            look(*slot);
            *slot = rma_atomic_swap(&boxes[job_below(&random, BOXES)], *slot, (int)job_below(&random, (size_t)job.n));
        } else {
            unmake(*slot, job_random(&random));
            *slot = RMA_GPTR_NULL;
        }
    }
    for (size_t k = 0; k < HELD; k++)
        if (held[k]) unmake(held[k], k);
    return NULL;
}

static void on_threads(void *(*work)(void *)) {
    struct worker w[THREADS];
    for (int t = 0; t < n_threads; t++) w[t].number = 1 + (uint64_t)(job.me * THREADS + t);
    for (int t = 1; t < n_threads; t++) CHECK(pthread_create(&w[t].thread, NULL, work, &w[t]) == 0, "no thread");
    work(&w[0]);
    for (int t = 1; t < n_threads; t++) pthread_join(w[t].thread, NULL);
}

static void exchanges(void) {
    rounds = job_far_rounds(4000, 1500, 400);
    on_threads(all_on_all);
    OK(rma_barrier_all());
    for (int k = 0; k < BOXES; k++)
        if (boxes[k]) unmake(boxes[k], (uint64_t)k);
    memset(boxes, 0, BOXES * sizeof *boxes);
    OK(rma_barrier_all());
    nothing_left();
    OK(rma_barrier_all());
}

/* ---- no two blocks overlap ---- */

struct range {
    rma_gptr_t g;
    uint64_t size;
};

static int by_place(const void *a, const void *b) {
    rma_gptr_t one = ((const struct range *)a)->g, other = ((const struct range *)b)->g;
    return one < other ? -1 : one > other;
}

static void apart(void) {
    uint64_t random = job_stream(1000 + (uint64_t)job.me);
    size_t mine = (size_t)job.n * EACH;
    struct range *r = calloc(mine, sizeof *r), *all = calloc(mine * (size_t)job.n, sizeof *all);
    CHECK(r && all, "no memory");
    for (int i = 0; i < job.n; i++)
        for (int k = 0; k < EACH; k++) {
            struct range *one = &r[i * EACH + k];
            one->size = 1 + job_length(&random, LENGTH);
            OK(rma_alloc_mem_on(job_any(i), one->size, &one->g));
        }
    MPI_Allgather(r, (int)(mine * 2), MPI_UINT64_T, all, (int)(mine * 2), MPI_UINT64_T, MPI_COMM_WORLD);
    qsort(all, mine * (size_t)job.n, sizeof *all, by_place);
    for (size_t i = 1; i < mine * (size_t)job.n; i++)
        CHECK(all[i - 1].g && all[i - 1].g + all[i - 1].size <= all[i].g, "%llu bytes at %#llx and %llu at %#llx",
              (unsigned long long)all[i - 1].size, (unsigned long long)all[i - 1].g, (unsigned long long)all[i].size,
              (unsigned long long)all[i].g);
    /* Each is given back by another PE than made it. */
    for (size_t i = 0; i < mine * (size_t)job.n; i++)
        if ((int)(i % (size_t)job.n) == job.me) OK(rma_gptr_free(all[i].g));
    OK(rma_barrier_all());
    nothing_left();
    OK(rma_barrier_all());
    free(r);
    free(all);
}

/* ---- the owner sleeps ---- */

struct turn {
    uint64_t blocks[8]; /* of the owner's own */
    long full, done;    /* PEs that have filled its pool, that are done */
    long wake;
};

static struct turn *turn; /* symmetric */

static void sleep_until_woken(void) {
    while (!__atomic_load_n(&turn->wake, __ATOMIC_ACQUIRE)) job_sleep(500);
}

/* Until there is no more, whoever gets it; one of the others then finds that all of it is one block again. */
static void while_asleep(int owner) {
    static rma_gptr_t blocks[GUEST_MAX / 4096 + 1];
    size_t n;
    rma_gptr_t g = RMA_GPTR_NULL, whole = 12345;
    for (n = 0; rma_alloc_mem_on(owner, 4096, &blocks[n]) == RMA_SUCCESS; n++) {
        CHECK(n < GUEST_MAX / 4096, "more than its limit");
        fill(blocks[n], 4096, blocks[n] + (uint64_t)job.me, n & 1);
    }
    CHECK(rma_last_code() == RMA_ERR_NO_MEM && strstr(rma_last_error(), "half of RMA_LOCAL_MAX"), "%s",
          rma_last_error());
    EXPECT("rma_alloc_mem_on", rma_alloc_mem_on(owner, 4096, &whole), RMA_ERR_NO_MEM, job_text("on PE %d", owner),
           "4 KiB");
    CHECK(whole == 12345, "a failure wrote %#llx", (unsigned long long)whole);
    rma_atomic_add(&turn->full, 1L, owner);
    while (rma_atomic_fetch(&turn->full, owner) < job.n - 1) job_pause();
    for (size_t i = 0; i < n; i++) {
        CHECK(is_filled(blocks[i], 4096, blocks[i] + (uint64_t)job.me), "block %zu of %zu", i, n);
        OK(give_back(blocks[i], i));
    }
    for (int i = 0; i < 8; i++) { /* all try, one succeeds */
        OK(rma_gptr_get(&g, rma_gptr(&turn->blocks[i], owner), sizeof g));
        int code = rma_gptr_free(g);
        CHECK(code == RMA_SUCCESS || code == RMA_ERR_BASE, "%s", rma_last_error());
    }
    if (rma_atomic_fetch_add(&turn->done, 1L, owner) < job.n - 2) return;
    OK(rma_alloc_mem_on(owner, GUEST_MAX, &whole));
    fill(whole, GUEST_MAX, (uint64_t)job.me, 0);
    OK(rma_gptr_free(whole));
    rma_atomic_set(&turn->wake, 1L, owner);
}

static void asleep(void) {
    struct rma_heap_stats s;
    char *base;
    memset(turn, 0, sizeof *turn);
    for (int i = 0; i < 8; i++) {
        OK(rma_alloc_mem(1000, &base));
        turn->blocks[i] = rma_gptr(base, job.me);
    }
    OK(rma_barrier_all());
    for (int owner = 0; job.n > 1 && owner < job.n; owner += job.n - 1) {
        DOING(job.me == owner ? "sleeping" : "working on a sleeper");
        if (job.me == owner)
            sleep_until_woken();
        else
            while_asleep(owner);
    }
    DOING("after sleep");
    OK(rma_barrier_all());
    if (job.n > 1 && (job.me == 0 || job.me == job.n - 1)) {
        stats_of(RMA_HEAP_LOCAL, &s);
        CHECK(s.n_used == 8 && s.n_returned == 8, "%zu blocks used, %zu returned", s.n_used, s.n_returned);
        OK(rma_alloc_mem(OWN_MAX, &base)); /* all of it */
        memset(base, 1, OWN_MAX);
        stats_of(RMA_HEAP_LOCAL, &s);
        CHECK(s.used == OWN_MAX && s.n_used == 1 && s.n_returned == 0, "%zu bytes used, in %zu blocks", s.used,
              s.n_used);
        OK(rma_free_mem(base));
        stats_of(RMA_HEAP_GUEST, &s);
        CHECK(s.n_used == 1 && s.n_returned == 1 && s.peak == GUEST_MAX, "%zu blocks of guests, peak %zu", s.n_used,
              s.peak);
    } else {
        for (int i = 0; i < 8; i++) OK(rma_gptr_free(turn->blocks[i]));
    }
    nothing_left();
    OK(rma_barrier_all());
}

/* ---- given back twice ---- */

static struct {
    rma_gptr_t blocks[TWICE];
    long freed;
    long draining; /* the owner takes what has been returned meanwhile */
} * twice;         /* symmetric */

static _Atomic int gate;
static int gate_owner;

/* In one order or the other, so that two meet on one block at the same moment. */
static void *free_all(void *argument) {
    const struct worker *w = argument;
    rma_gptr_t mine[TWICE];
    long freed = 0;
    OK(rma_gptr_get(mine, rma_gptr(twice->blocks, gate_owner), sizeof mine));
    atomic_fetch_add(&gate, 1);
    for (int i = 0; i < 1000 && atomic_load(&gate) < n_threads; i++) job_pause();
    for (int i = 0; i < TWICE; i++) {
        int at = w->number % 3 ? i : TWICE - 1 - i, code = give_back(mine[at], (uint64_t)i);
        freed += code == RMA_SUCCESS;
        CHECK(code == RMA_SUCCESS || code == RMA_ERR_BASE, "block %d: %s", at, rma_last_error());
        if (i % 4 == 0 && twice->draining) drain();
    }
    rma_atomic_add(&twice->freed, freed, gate_owner);
    return NULL;
}

static void double_frees(void) {
    rma_errhandler *handler = rma_set_errhandler(rma_errors_return); /* the fastest */
    for (long i = job_far_rounds(400, 100, 4 * job.n); i > 0; i--) {
        int mine = (int)(i % job.n) == job.me;
        gate_owner = (int)(i % job.n);
        atomic_store(&gate, 0);
        if (mine) {
            twice->freed = 0;
            twice->draining = i / job.n / 2 & 1;
            for (int k = 0; k < TWICE; k++) {
                void *base;
                OK(rma_alloc_mem(64, &base));
                twice->blocks[k] = rma_gptr(base, job.me);
                if (i / job.n & 1) OK(rma_alloc_mem_on(job.me, 64, &twice->blocks[k]));
                if (i / job.n & 1) OK(rma_free_mem(base));
            }
        }
        OK(rma_barrier_all());
        on_threads(free_all);
        OK(rma_barrier_all());
        if (mine) {
            CHECK(twice->freed == TWICE, "%d blocks of the %s were given back %ld times%s", TWICE,
                  i / job.n & 1 ? "guests" : "owner", twice->freed,
                  twice->draining ? ", while the owner allocated" : "");
            nothing_left();
            twice->draining = 0;
        }
    }
    rma_set_errhandler(handler);
    OK(rma_barrier_all());
}

/* ---- limits and mistakes ---- */

static rma_gptr_t with_pe(rma_gptr_t g, int pe) {
    return (g & (((rma_gptr_t)1 << PE_SHIFT) - 1)) | (rma_gptr_t)pe << PE_SHIFT;
}

static void limits(int pe) {
    struct rma_heap_stats before, after;
    rma_gptr_t g = 12345, small;
    const char *where = job_text("on PE %d", pe);
    void *base = &g;
    OK(rma_alloc_mem_on(pe, 1000, &small));
    fill(small, 1000, small, 0);
    stats_of(RMA_HEAP_LOCAL, &before);
    OK(rma_alloc_mem_on(pe, 0, &g));
    CHECK(g == RMA_GPTR_NULL, "size 0 gave %#llx", (unsigned long long)g);
    g = 12345;
    EXPECT("rma_alloc_mem_on", rma_alloc_mem_on(pe, GUEST_MAX + 1, &g), RMA_ERR_NO_MEM, where, "at most 1 MiB",
           "RMA_LOCAL_MAX");
    EXPECT("rma_alloc_mem_on", rma_alloc_mem_on(pe, OWN_MAX, &g), RMA_ERR_NO_MEM, where, "2 MiB requested",
           "RMA_LOCAL_MAX");
    EXPECT("rma_alloc_mem_on", rma_alloc_mem_on(pe, SIZE_MAX, &g), RMA_ERR_NO_MEM, where, "RMA_LOCAL_MAX");
    EXPECT("rma_alloc_mem_on", rma_alloc_mem_on(pe, SIZE_MAX - 62, &g), RMA_ERR_NO_MEM, where, "RMA_LOCAL_MAX");
    EXPECT("rma_alloc_mem_on", rma_alloc_mem_on(pe, SIZE_MAX / 2 + 1, &g), RMA_ERR_NO_MEM, where, "RMA_LOCAL_MAX");
    EXPECT("rma_alloc_mem", rma_alloc_mem(OWN_MAX + 1, &base), RMA_ERR_NO_MEM, "at most 2 MiB", "RMA_LOCAL_MAX");
    EXPECT("rma_alloc_mem_hints", rma_alloc_mem_hints(SIZE_MAX, &none, &base), RMA_ERR_NO_MEM, "RMA_LOCAL_MAX");
    CHECK(g == 12345 && base == &g, "a failure wrote %#llx, %p", (unsigned long long)g, base);
    stats_of(RMA_HEAP_LOCAL, &after);
    CHECK(after.used == before.used && after.size == before.size, "%zu of %zu bytes are used, %zu of %zu were",
          after.used, after.size, before.used, before.size);
    CHECK(is_filled(small, 1000, small), "a block has changed");
    OK(rma_gptr_free(small));
}

static void mistakes(int pe) {
    rma_gptr_t g = 12345, block, attached;
    char *own, *symmetric = rma_malloc(100), *mine = malloc(4096), *there;
    const char *range = job_text("is outside 0..%d", job.n - 1), *bad = "not the base of a";
    CHECK(symmetric && mine, "%s", rma_last_error());
    OK(rma_alloc_mem(200, &own));
    OK(rma_alloc_mem_on(pe, 200, &block));
    OK(rma_attach(mine, 4096, &attached));
    there = rma_gptr_ptr(block);
    job_fill(own, 0, 200, 1);
    fill(block, 200, 2, 0);

    EXPECT("rma_alloc_mem_on", rma_alloc_mem_on(-1, 10, &g), RMA_ERR_PE, "-1", range);
    EXPECT("rma_alloc_mem_on", rma_alloc_mem_on(job.n, 10, &g), RMA_ERR_PE, job_text("%d", job.n), range);
    EXPECT("rma_alloc_mem_on", rma_alloc_mem_on(INT_MAX, 0, &g), RMA_ERR_PE, "2147483647", range);
    EXPECT("rma_alloc_mem_on", rma_alloc_mem_on(INT_MIN, 10, &g), RMA_ERR_PE, "-2147483648", range);
    EXPECT("rma_alloc_mem_on", rma_alloc_mem_on(pe, 10, NULL), RMA_ERR_ARG, "g is a null pointer");
    EXPECT("rma_alloc_mem_on", rma_alloc_mem_on(pe, 0, NULL), RMA_ERR_ARG, "g is a null pointer");
    EXPECT("rma_alloc_mem", rma_alloc_mem(10, NULL), RMA_ERR_ARG, "base is a null pointer");
    EXPECT("rma_gptr_free", rma_gptr_free(with_pe(block, job.n)), RMA_ERR_PE, job_text("%d", job.n), range);
    EXPECT("rma_gptr_free", rma_gptr_free(with_pe(block, 0xffffff)), RMA_ERR_PE, "16777215", range);
    CHECK(g == 12345, "a mistake wrote %#llx", (unsigned long long)g);

    for (size_t k = 1; k <= 128; k += k < 64 ? 21 : 1) {
        EXPECT("rma_gptr_free", rma_gptr_free(block + k), RMA_ERR_BASE, bad);
        if (there) EXPECT("rma_free_mem", rma_free_mem(there + k), RMA_ERR_BASE, bad);
        EXPECT("rma_gptr_free", rma_gptr_free(rma_gptr(own + k, job.me)), RMA_ERR_BASE, bad,
               job_text("%zu byte%s into", k, k == 1 ? "" : "s"));
        EXPECT("rma_free_mem", rma_free_mem(own + k), RMA_ERR_BASE, bad,
               job_text("%zu byte%s into the block of 200", k, k == 1 ? "" : "s"));
    }
    EXPECT("rma_gptr_free", rma_gptr_free(rma_gptr(symmetric, pe)), RMA_ERR_BASE, "in no local heap");
    EXPECT("rma_gptr_free", rma_gptr_free(rma_gptr(&turn, job.me)), RMA_ERR_BASE, "in no local heap");
    EXPECT("rma_gptr_free", rma_gptr_free(attached), RMA_ERR_BASE, "in no local heap");
    EXPECT("rma_gptr_free", rma_gptr_free(with_pe(64, pe)), RMA_ERR_BASE, "in no local heap");
    EXPECT("rma_gptr_free", rma_gptr_free(block + 2 * MIB), RMA_ERR_BASE, "in no local heap");
    EXPECT("rma_gptr_free", rma_gptr_free(block + GUEST_MAX / 2), RMA_ERR_BASE, bad);
    EXPECT("rma_free_mem", rma_free_mem(symmetric), RMA_ERR_BASE, "symmetric heap", "rma_free frees it");
    EXPECT("rma_free_mem", rma_free_mem(mine), RMA_ERR_BASE, job_text("%p", (void *)mine));
    EXPECT("rma_free_mem", rma_free_mem(&turn), RMA_ERR_BASE, job_text("%p", (void *)&turn));
    if (pe != job.me && there)
        EXPECT("rma_free_mem", rma_free_mem(rma_ptr(symmetric, pe)), RMA_ERR_BASE, "in no local heap");
    OK(rma_gptr_free(RMA_GPTR_NULL));
    OK(rma_free_mem(NULL));

    CHECK(job_differs(own, 0, 200, 1) == 200 && is_filled(block, 200, 2), "a block has changed");
    OK(rma_barrier_all()); /* nobody allocates from here on: what is given back stays so */
    OK(rma_gptr_free(rma_gptr(own, job.me)));
    EXPECT("rma_gptr_free", rma_gptr_free(rma_gptr(own, job.me)), RMA_ERR_BASE, "freed already");
    EXPECT("rma_free_mem", rma_free_mem(own), RMA_ERR_BASE, "freed already");
    OK(give_back(block, 0));
    if (there) EXPECT("rma_free_mem", rma_free_mem(there), RMA_ERR_BASE, "freed already");
    EXPECT("rma_gptr_free", rma_gptr_free(block), RMA_ERR_BASE, "freed already");
    OK(rma_detach(mine));
    free(mine);
    OK(rma_barrier_all());
    nothing_left();
    OK(rma_free(symmetric));
}

int main(void) {
    const char *size = getenv("PMI_SIZE");
    int provided;
    char text[8];
    snprintf(text, sizeof text, "%dM", (int)(OWN_MAX / MIB));
    setenv("RMA_LOCAL_MAX", text, 1);
    unsetenv("RMA_HEAP_CHECK");
    job_begin();
    rma_gptr_t g = 12345;
    EXPECT("rma_alloc_mem_on", rma_alloc_mem_on(0, 10, &g), RMA_ERR_STATE, "before rma_init");
    EXPECT("rma_gptr_free", rma_gptr_free(g), RMA_ERR_STATE, "before rma_init");
    OK(rma_init_thread(size && atoi(size) % 2 ? RMA_THREAD_MULTIPLE : RMA_THREAD_SINGLE, &provided));
    job_look();
    if (provided == RMA_THREAD_MULTIPLE) n_threads = THREADS;
    boxes = rma_calloc(BOXES, sizeof *boxes);
    turn = rma_calloc(1, sizeof *turn);
    twice = rma_calloc(1, sizeof *twice);
    CHECK(boxes && turn && twice, "%s", rma_last_error());

    DOING("limits");
    for (int pe = 0; pe < job.n; pe++) limits(pe);
    DOING("mistakes");
    OK(rma_barrier_all());
    mistakes(job.me);
    mistakes(job_next(1));
    if (!job.one_node) mistakes(job_any(1));
    DOING("no two overlap");
    apart();
    DOING("all on all");
    exchanges();
    asleep();
    DOING("giving back twice");
    double_frees();
    OK(rma_free(twice));
    OK(rma_free(turn));
    OK(rma_free(boxes));
    return job_end();
}
