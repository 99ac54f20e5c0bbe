/* SPDX-License-Identifier: BSD-3-Clause */
/* Each atomic is one indivisible access of the width of its type, and does what its name says.
 *
 * Broken by an update made of a load and a store (totals come out too small), by a swap that returns another value than
 * the one it replaced (a chain of swaps loses or doubles one), by a compare_swap that writes though the comparison
 * failed or returns something else than the word, by a row of the type table with the wrong type, and by an access
 * wider than its word: neighbours that are updated at the same time show it. */
#include "job.h"

/* Written down again, so that a row missing from the header's table is missed here. */
#define DISTINCT(X)                                                                                                    \
    X(int, int)                                                                                                        \
    X(uint, unsigned int) X(long, long) X(ulong, unsigned long) X(llong, long long) X(ullong, unsigned long long)
#define ALIASES(X)                                                                                                     \
    X(int32, int32_t) X(uint32, uint32_t) X(int64, int64_t) X(uint64, uint64_t) X(size, size_t) X(ptrdiff, ptrdiff_t)

#define LOWEST(TYPE)  ((TYPE)-1 < (TYPE)1 ? (TYPE)((uint64_t)1 << (sizeof(TYPE) * 8 - 1)) : 0)
#define HIGHEST(TYPE) ((TYPE)(~LOWEST(TYPE)))

static uint64_t *room; /* symmetric: four words for each PE */

/* What one PE sees that is alone with a word. The word stands between two others, which must stay. */
#define MEANING(WHAT, TYPE, FETCH, SET, SWAP, CSWAP, FADD, ADD)                                                        \
    static void WHAT(int pe) {                                                                                         \
        TYPE *word = (TYPE *)(void *)(room + 4 * job.me) + 1, low = LOWEST(TYPE), high = HIGHEST(TYPE);                \
        OK(SET(word - 1, 7, pe));                                                                                      \
        OK(SET(word + 1, 9, pe));                                                                                      \
        OK(SET(word, 5, pe));                                                                                          \
        job_settle(pe);                                                                                                \
        CHECK(FETCH(word, pe) == 5, "set " #TYPE);                                                                     \
        CHECK(SWAP(word, high, pe) == 5, "swap's value, " #TYPE);                                                      \
        CHECK(FETCH(word, pe) == high, "swap " #TYPE);                                                                 \
        CHECK(CSWAP(word, high - 1, 1, pe) == high, "value of a compare_swap that fails, " #TYPE);                     \
        CHECK(FETCH(word, pe) == high, "compare_swap wrote, " #TYPE);                                                  \
        CHECK(CSWAP(word, high, high - 3, pe) == high, "value of a compare_swap that succeeds, " #TYPE);               \
        CHECK(FETCH(word, pe) == high - 3, "compare_swap did not write, " #TYPE);                                      \
        CHECK(FADD(word, 3, pe) == high - 3, "fetch_add's value, " #TYPE);                                             \
        CHECK(FADD(word, 1, pe) == high, "fetch_add " #TYPE);                                                          \
        CHECK(FETCH(word, pe) == low, "fetch_add wraps, " #TYPE);                                                      \
        OK(ADD(word, (TYPE)-1, pe));                                                                                   \
        job_settle(pe);                                                                                                \
        CHECK(FETCH(word, pe) == high, "add wraps, " #TYPE);                                                           \
        OK(ADD(word, 0, pe));                                                                                          \
        OK(ADD(word, 1, pe));                                                                                          \
        CHECK(SWAP(word, 0, pe) == low, "add " #TYPE);                                                                 \
        CHECK(FETCH(word - 1, pe) == 7 && FETCH(word + 1, pe) == 9, "a neighbour changed, " #TYPE);                    \
    }

/* The same of the nonblocking forms. Those to one PE are done in their order. */
#define LATER(WHAT, TYPE, FETCH, SWAP, CSWAP, FADD)                                                                    \
    static void WHAT(int pe) {                                                                                         \
        TYPE *word = (TYPE *)(void *)(room + 4 * job.me) + 1, low = LOWEST(TYPE), high = HIGHEST(TYPE), old[8];        \
        memset(old, 0x55, sizeof old);                                                                                 \
        OK(rma_put(word, &low, sizeof low, pe));                                                                       \
        OK(SWAP(old + 1, word, high, pe));                                                                             \
        OK(CSWAP(old + 2, word, high - 1, 1, pe));                                                                     \
        OK(CSWAP(old + 3, word, high, high - 3, pe));                                                                  \
        OK(FADD(old + 4, word, 3, pe));                                                                                \
        OK(FADD(old + 5, word, 1, pe));                                                                                \
        OK(FETCH(old + 6, word, pe));                                                                                  \
        OK(rma_quiet());                                                                                               \
        CHECK(old[1] == low && old[2] == high && old[3] == high && old[4] == high - 3 && old[5] == high &&             \
                  old[6] == low,                                                                                       \
              "nonblocking, " #TYPE);                                                                                  \
        memset(&low, 0x55, sizeof low);                                                                                \
        CHECK(old[0] == low && old[7] == low, "a neighbour of fetch changed, " #TYPE);                                 \
    }

#define NAMED(NAME, TYPE)                                                                                              \
    MEANING(named_##NAME, TYPE, rma_atomic_fetch_##NAME, rma_atomic_set_##NAME, rma_atomic_swap_##NAME,                \
            rma_atomic_compare_swap_##NAME, rma_atomic_fetch_add_##NAME, rma_atomic_add_##NAME)
#define GENERIC(NAME, TYPE)                                                                                            \
    MEANING(generic_##NAME, TYPE, rma_atomic_fetch, rma_atomic_set, rma_atomic_swap, rma_atomic_compare_swap,          \
            rma_atomic_fetch_add, rma_atomic_add)
#define NAMED_LATER(NAME, TYPE)                                                                                        \
    LATER(later_##NAME, TYPE, rma_atomic_fetch_nbi_##NAME, rma_atomic_swap_nbi_##NAME,                                 \
          rma_atomic_compare_swap_nbi_##NAME, rma_atomic_fetch_add_nbi_##NAME)
#define GENERIC_LATER(NAME, TYPE)                                                                                      \
    LATER(generic_later_##NAME, TYPE, rma_atomic_fetch_nbi, rma_atomic_swap_nbi, rma_atomic_compare_swap_nbi,          \
          rma_atomic_fetch_add_nbi)
DISTINCT(NAMED)
ALIASES(NAMED)
DISTINCT(GENERIC)
DISTINCT(NAMED_LATER)
ALIASES(NAMED_LATER)
DISTINCT(GENERIC_LATER)
#define RUN_NAMED(NAME, TYPE)   named_##NAME(pe), later_##NAME(pe);
#define RUN_GENERIC(NAME, TYPE) generic_##NAME(pe), generic_later_##NAME(pe);

static void meaning(int pe) {
    DISTINCT(RUN_NAMED)
    ALIASES(RUN_NAMED)
    DISTINCT(RUN_GENERIC)
}

struct target {
    uint64_t added, fetched, swapped, compared, named; /* PE 0's; neighbours on one line */
    uint32_t halves[2];                                /* the two halves of one 8-byte word */
    uint64_t sums[JOB_PES_MAX];                        /* what each PE has got from its fetch_adds */
    uint64_t turns[JOB_PES_MAX];                       /* and from its swaps */
};

static uint64_t sum_below(uint64_t n) { return n * (n - 1) / 2; }

/* How often PE `pe` does each. Those on PE 0's node are quick, and do more of it in the same time. */
static uint64_t rounds_of(int pe, const int *near) {
    return (uint64_t)(near[pe] ? job_rounds(20000, 10000) : job_far_rounds(20000, 10000, 200));
}

/* All PEs update the same words at once, by every operation, from PE 0's node and from elsewhere; then the totals must
 * be exact. */
static void hammer(struct target *t) {
    int near[JOB_PES_MAX], *told = rma_calloc((size_t)job.n, sizeof *told);
    uint64_t n, got = 0, chain = 0;
    rma_gptr_t named = rma_gptr(&t->named, 0);

    CHECK(told != NULL, "%s", rma_last_error());
    OK(rma_p(&told[job.me], rma_on_node(0), 0));
    OK(rma_barrier_all());
    OK(rma_get(near, told, (size_t)job.n * sizeof *near, 0));
    n = rounds_of(job.me, near);
    OK(rma_barrier_all());
    for (uint64_t i = 0; i < n; i++) {
        uint64_t old, mine = (uint64_t)job.me << 32 | (i + 1), seen;
        OK(rma_atomic_add(&t->added, (uint64_t)3, 0));
        got += rma_atomic_fetch_add(&t->fetched, (uint64_t)1, 0);
        chain += rma_atomic_swap(&t->swapped, mine, 0);
        for (old = rma_atomic_fetch(&t->compared, 0);; old = seen) {
            seen = rma_atomic_compare_swap(&t->compared, old, old + 1, 0);
            if (seen == old) break;
        }
        if (i & 1)
            OK(rma_atomic_add(&t->named, (uint64_t)1, 0));
        else
            rma_gptr_atomic_fetch_add(named, 1);
        OK(rma_atomic_add(&t->halves[job.me & 1], 0x80000001u, 0));
        if (!job.one_node && near[job.me] && i % 8 == 0) job_sleep(100); /* so that the others are at it, too */
    }
    OK(rma_p(&t->sums[job.me], got, 0));
    OK(rma_p(&t->turns[job.me], chain, 0));
    OK(rma_barrier_all());

    if (job.me == 0) {
        uint64_t all = 0, fetched = 0, swapped = 0, put_in = 0;
        uint32_t each[2] = {0, 0};
        for (int pe = 0; pe < job.n; pe++) {
            uint64_t times = rounds_of(pe, near);
            all += times;
            put_in += ((uint64_t)pe << 32) * times + sum_below(times + 1);
            fetched += t->sums[pe];
            swapped += t->turns[pe];
            each[pe & 1] += (uint32_t)times * 0x80000001u;
        }
        CHECK(t->added == 3 * all, "added %llu, not %llu", (unsigned long long)t->added, (unsigned long long)(3 * all));
        CHECK(t->fetched == all, "fetch_added %llu, not %llu", (unsigned long long)t->fetched, (unsigned long long)all);
        CHECK(t->compared == all, "compare_swapped %llu, not %llu", (unsigned long long)t->compared,
              (unsigned long long)all);
        CHECK(t->named == all, "by global pointer and by address %llu, not %llu", (unsigned long long)t->named,
              (unsigned long long)all);
        /* Each number once: 0 to all-1 fetched; 0 and what was put in, but for the one that is in the word, swapped. */
        CHECK(fetched == sum_below(all), "the fetched sum is %llu, not %llu", (unsigned long long)fetched,
              (unsigned long long)sum_below(all));
        CHECK(swapped + t->swapped == put_in, "the swapped sum is %llu, not %llu",
              (unsigned long long)(swapped + t->swapped), (unsigned long long)put_in);
        for (int k = 0; k < 2; k++) CHECK(t->halves[k] == each[k], "half %d is %#x, not %#x", k, t->halves[k], each[k]);
    } else {
        CHECK(t->added == 0 && t->fetched == 0 && t->swapped == 0 && t->compared == 0, "the wrong PE's words changed");
    }
    OK(rma_free(told));
}

int main(void) {
    struct target *t;
    job_start();
    room = rma_calloc((size_t)job.n, 4 * sizeof *room);
    t = rma_calloc(1, sizeof *t);
    CHECK(room && t, "%s", rma_last_error());

    DOING("one PE on its word");
    for (int pe = 0; pe < job.n; pe++) meaning(pe);
    OK(rma_barrier_all());

    DOING("all PEs on the same words");
    hammer(t);
    OK(rma_free(t));
    OK(rma_free(room));
    return job_end();
}
