/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations on a computing PE complete while it computes: a PE need not enter the library for others to put, get,
 * update, or allocate in its heap.
 *
 * Broken by an operation that waits for its target to make a call. The computing PE changes one of its words when it
 * has finished; a PE that has completed all its operations must find the old value there. A machine may be too slow for
 * that: then the PE computes twice as long, and again, so that no time is asserted. */
#include "job.h"

#define SIZE     5000                /* a multiple of 8 */
#define LARGE    ((size_t)300 << 10) /* so that its heap must grow */
#define ATTEMPTS 5

static struct board {
    uint64_t started, finished; /* of the PE that computes: the newest attempt */
    uint64_t late;              /* and how many others were not complete before it had finished */
    uint64_t sum, words[JOB_PES_MAX];
    rma_gptr_t own[JOB_PES_MAX]; /* blocks of its own, for the others to give back */
    rma_gptr_t attached;
    unsigned char data[JOB_PES_MAX][2][SIZE];
} * board; /* symmetric */

static unsigned char variable[JOB_PES_MAX][SIZE];
static uint64_t sink;

/* No call, no memory; and the compiler may not do it at another time than it is written. */
static void compute(uint64_t steps) {
    uint64_t x = 88172645463325252u;
    for (; steps > 0; steps--) {
        __asm__ volatile("" : "+r"(x) : : "memory");
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    __atomic_store_n(&sink, x, __ATOMIC_RELAXED);
}

/* About half a second. */
static uint64_t steps_of_half_a_second(void) {
    const uint64_t some = 1 << 22;
    double start = rma_wtime(), seconds;
    compute(some);
    seconds = rma_wtime() - start;
    return (uint64_t)(0.5 * (double)some / (seconds > 1e-6 ? seconds : 1e-6));
}

static uint64_t key_of(int pe, uint64_t attempt, int kind) {
    return (uint64_t)pe << 32 | attempt << 8 | (uint64_t)kind;
}

static void check(const void *bytes, size_t len, int kind, uint64_t attempt) {
    CHECK(job_differs(bytes, 0, len, key_of(job.me, attempt, kind)) == len, "%zu bytes, kind %d", len, kind);
}

/* ---- what the others do ---- */

static void transfers(int pe, uint64_t attempt) {
    unsigned char bytes[SIZE], back[SIZE];
    DOING("putting and getting");
    job_fill(bytes, 0, SIZE, key_of(job.me, attempt, 0));
    OK(rma_put(board->data[job.me][0], bytes, SIZE, pe));
    OK(rma_quiet());
    OK(rma_get(back, board->data[job.me][0], SIZE, pe));
    check(back, SIZE, 0, attempt);
    job_fill(bytes, 0, SIZE, key_of(job.me, attempt, 1));
    OK(rma_put_nbi(board->data[job.me][1], bytes, SIZE, pe));
    OK(rma_quiet());
    OK(rma_get_nbi(back, board->data[job.me][1], SIZE, pe));
    OK(rma_quiet());
    check(back, SIZE, 1, attempt);
    DOING("a global variable");
    job_fill(bytes, 0, SIZE, key_of(job.me, attempt, 2));
    OK(rma_put(variable[job.me], bytes, SIZE, pe));
    OK(rma_quiet());
    OK(rma_get(back, variable[job.me], SIZE, pe));
    check(back, SIZE, 2, attempt);
    DOING("single values");
    OK(rma_p(&board->words[job.me], attempt, pe));
    OK(rma_quiet());
    CHECK(rma_g(&board->words[job.me], pe) == attempt, "rma_g");
}

/* Adds 6 in all. */
static void atomics(int pe) {
    uint64_t old;
    DOING("atomics");
    rma_atomic_fetch_add(&board->sum, (uint64_t)1, pe);
    OK(rma_atomic_add(&board->sum, (uint64_t)2, pe));
    OK(rma_quiet());
    do old = rma_atomic_fetch(&board->sum, pe);
    while (rma_atomic_compare_swap(&board->sum, old, old + 3, pe) != old);
}

static void attached_memory(int pe, uint64_t attempt) {
    rma_gptr_t g = rma_g(&board->attached, pe) + (size_t)job.me * SIZE;
    unsigned char bytes[SIZE], back[SIZE];
    DOING("attached memory");
    job_fill(bytes, 0, SIZE, key_of(job.me, attempt, 3));
    OK(rma_gptr_put(g, bytes, SIZE));
    OK(rma_quiet());
    OK(rma_gptr_get(back, g, SIZE));
    check(back, SIZE, 3, attempt);
    OK(rma_gptr_atomic_set(g, 5));
    OK(rma_quiet());
    CHECK(rma_gptr_atomic_fetch_add(g, 2) == 5 && rma_gptr_atomic_swap(g, attempt) == 7, "atomics on attached memory");
}

static void heap(int pe, uint64_t attempt) {
    static const size_t sizes[] = {100, SIZE, LARGE};
    unsigned char bytes[SIZE], back[SIZE];
    rma_gptr_t g[3];
    DOING("allocating there");
    for (int i = 0; i < 3; i++) OK(rma_alloc_mem_on(pe, sizes[i], &g[i]));
    for (int i = 0; i < 3; i++) {
        size_t len = sizes[i] < SIZE ? sizes[i] : SIZE;
        job_fill(bytes, 0, len, key_of(job.me, attempt, 4 + i));
        OK(rma_gptr_put(g[i] + sizes[i] - len, bytes, len));
    }
    OK(rma_quiet());
    for (int i = 0; i < 3; i++) {
        size_t len = sizes[i] < SIZE ? sizes[i] : SIZE;
        OK(rma_gptr_get(back, g[i] + sizes[i] - len, len));
        check(back, len, 4 + i, attempt);
    }
    DOING("giving back");
    for (int i = 0; i < 3; i++) OK(rma_gptr_free(g[i]));
    OK(rma_gptr_free(rma_g(&board->own[job.me], pe)));
}

static void work_on(int pe, uint64_t attempt) {
    DOING("waiting for a PE to compute");
    while (rma_atomic_fetch(&board->started, pe) < attempt) job_pause();
    transfers(pe, attempt);
    atomics(pe);
    attached_memory(pe, attempt);
    heap(pe, attempt);
    DOING("looking whether a PE computes");
    if (rma_atomic_fetch(&board->finished, pe) == attempt) OK(rma_atomic_add(&board->late, (uint64_t)1, pe));
}

/* ---- the PE that computes ---- */

static void prepare(const void *attached) {
    board->late = board->sum = 0;
    board->attached = rma_gptr(attached, job.me);
    for (int pe = 0; pe < job.n; pe++) {
        void *base;
        OK(rma_alloc_mem(100, &base));
        board->own[pe] = rma_gptr(base, job.me);
    }
}

/* It finds all that was done, in time or not. */
static void look(const unsigned char *attached, uint64_t attempt) {
    struct rma_heap_stats s;
    for (int pe = 0; pe < job.n; pe++) {
        const unsigned char *part = attached + (size_t)pe * SIZE;
        if (pe == job.me && job.n > 1) continue;
        for (int k = 0; k < 2; k++)
            CHECK(job_differs(board->data[pe][k], 0, SIZE, key_of(pe, attempt, k)) == SIZE, "what PE %d has put", pe);
        CHECK(job_differs(variable[pe], 0, SIZE, key_of(pe, attempt, 2)) == SIZE, "what PE %d has put to a variable",
              pe);
        CHECK(memcmp(part, &attempt, 8) == 0, "what PE %d has swapped into attached memory", pe);
        CHECK(job_differs(part + 8, 8, SIZE - 8, key_of(pe, attempt, 3)) == SIZE - 8,
              "what PE %d has put to attached memory", pe);
        CHECK(board->words[pe] == attempt, "PE %d's word is %llu", pe, (unsigned long long)board->words[pe]);
    }
    CHECK(board->sum == 6 * (uint64_t)(job.n > 1 ? job.n - 1 : 1), "the sum is %llu", (unsigned long long)board->sum);
    if (job.n > 1) OK(rma_gptr_free(board->own[job.me]));
    for (int h = RMA_HEAP_LOCAL; h <= RMA_HEAP_GUEST; h++) {
        OK(rma_heap_stats((enum rma_heap)h, &s));
        CHECK(s.n_used == s.n_returned, "heap %d: %zu blocks are used, %zu returned", h, s.n_used, s.n_returned);
    }
}

static void one_computes(int pe, unsigned char *attached) {
    static uint64_t attempts; /* of all PEs: the same on each */
    uint64_t late = 1, steps = job.me == pe ? steps_of_half_a_second() : 0;
    for (int i = 0; late > 0; i++, steps *= 2) {
        CHECK(i < ATTEMPTS, "%llu PEs wait for one that computes to call the library", (unsigned long long)late);
        attempts++;
        if (job.me == pe) prepare(attached);
        OK(rma_barrier_all());
        if (job.me == pe) {
            DOING("computing");
            __atomic_store_n(&board->started, attempts, __ATOMIC_RELEASE);
            compute(steps);
            if (job.n == 1) work_on(pe, attempts);
            __atomic_store_n(&board->finished, attempts, __ATOMIC_RELEASE);
        } else {
            work_on(pe, attempts);
        }
        DOING("having computed");
        OK(rma_barrier_all());
        late = rma_g(&board->late, pe);
        OK(rma_barrier_all());
        if (job.me == pe) look(attached, attempts);
    }
}

int main(void) {
    unsigned char *attached;
    rma_gptr_t g;
    job_start();
    board = rma_calloc(1, sizeof *board);
    attached = aligned_alloc(8, (size_t)job.n * SIZE);
    CHECK(board && attached, "%s", rma_last_error());
    OK(rma_attach(attached, (size_t)job.n * SIZE, &g));
    one_computes(0, attached);
    if (job.n > 1) one_computes(job.n - 1, attached);
    OK(rma_barrier_all());
    OK(rma_detach(attached));
    free(attached);
    OK(rma_free(board));
    return job_end();
}
