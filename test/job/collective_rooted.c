/* SPDX-License-Identifier: BSD-3-Clause */
/* Gather, scatter and reductions to a root give what a loop over all sources gives: on any team, with any root, for any
 * length, in place or not, wherever each PE has its buffers; PEs other than the root need no long buffer; and each
 * buffer is the caller's as soon as its call has returned.
 *
 * Broken by a root that is taken for a number of the job or of the node, by blocks that stand in the order of the tree,
 * by a block of the root that is moved before others have read it, or after others have written there, by a PE that
 * goes on while the root still reads its buffer, and by a PE without a dest. No two calls have a barrier between them.
 */
#include "job.h"

#define MOST   ((size_t)300 << 10) /* bytes of one PE: more than what between nodes goes by the tree */
#define GUARD  64
#define GROUPS 6
#define PLACES 3

static struct job_group groups[GROUPS];
static size_t n_groups;
static unsigned char *longs[PLACES],
    *shorts[PLACES]; /* in the symmetric heap, in the local heap, in the process's own */

static void keep(struct job_group g) { groups[n_groups++] = g; }

static void make_groups(void) {
    const struct job_group world = job_world(), node = job_node();
    const int n = job.n;
    keep(world);
    keep(node);
    keep(job_strided(&world, "all backwards", n - 1, -1, n));
    keep(job_strided(&world, "the even ones", 0, 2, (n + 1) / 2));
    if (n > 2) keep(job_strided(&world, "all but the first", 1, 1, n - 1));
    keep(job_strided(&world, "one alone", n / 2, 1, 1));
}

/* What all PEs of a group draw alike, and what each draws for itself. */
struct turn {
    const struct job_group *g;
    size_t len;
    int root, place, source_place,
        in_place; /* in_place: 1 at the beginning of the long buffer, 2 at the block's place */
    uint64_t key;
};

static void guard(unsigned char *buffer, size_t len) {
    memset(buffer - GUARD, 0xa5, GUARD);
    memset(buffer + len, 0xa5, GUARD);
}

static void check_guard(const struct turn *t, const unsigned char *buffer, size_t len, const char *what) {
    for (size_t i = 0; i < GUARD; i++)
        CHECK(buffer[len + i] == 0xa5 && buffer[-1 - (ptrdiff_t)i] == 0xa5, "%s: byte %zu beside %zu was written (%s)",
              what, i, len, t->g->name);
}

static void gather(const struct turn *t) {
    const int is_root = t->g->me == t->root;
    const size_t all = (size_t)t->g->n * t->len;
    unsigned char *dest = longs[t->place] + GUARD, *source = shorts[t->source_place] + GUARD;
    if (is_root) memset(dest, 0, all);
    if (is_root && t->in_place) source = dest + (t->in_place == 2 ? (size_t)t->root * t->len : 0);
    job_fill(source, 0, t->len, t->key + (uint64_t)t->g->me);
    guard(dest, is_root ? all : 0);
    OK(rma_gather(t->g->team, is_root ? dest : NULL, source, t->len, t->root));
    if (!is_root) memset(source, 0xee, t->len);
    check_guard(t, dest, is_root ? all : 0, "gather");
    for (int i = 0; is_root && i < t->g->n; i++)
        CHECK(job_differs(dest + (size_t)i * t->len, 0, t->len, t->key + (uint64_t)i) == t->len,
              "gather: block %d of %zu bytes, root %d of %d, in place %d (%s)", i, t->len, t->root, t->g->n,
              t->in_place, t->g->name);
}

static void scatter(const struct turn *t) {
    const int is_root = t->g->me == t->root;
    unsigned char *source = longs[t->place] + GUARD, *dest = shorts[t->source_place] + GUARD;
    for (int i = 0; is_root && i < t->g->n; i++) job_fill(source + (size_t)i * t->len, 0, t->len, t->key + (uint64_t)i);
    if (is_root && t->in_place) dest = source + (t->in_place == 2 ? (size_t)t->root * t->len : 0);
    if (dest != source && !(is_root && t->in_place)) guard(dest, t->len);
    OK(rma_scatter(t->g->team, dest, is_root ? source : NULL, t->len, t->root));
    if (!(is_root && t->in_place)) check_guard(t, dest, t->len, "scatter");
    CHECK(job_differs(dest, 0, t->len, t->key + (uint64_t)t->g->me) == t->len,
          "scatter: %zu bytes, root %d of %d, in place %d (%s)", t->len, t->root, t->g->n, t->in_place, t->g->name);
    if (is_root) memset(source, 0xee, (size_t)t->g->n * t->len);
}

/* Of each operation and of some types: the loops over types are those of the other reductions. Products are of small
 * numbers, so that those of double are exact. */
#define REDUCE(NAME, TYPE, OP, VALUE, COMBINE)                                                                         \
    static void OP##_##NAME(const struct turn *t) {                                                                    \
        const int is_root = t->g->me == t->root;                                                                       \
        const size_t n = t->len / sizeof(TYPE);                                                                        \
        TYPE *source = (TYPE *)(void *)(shorts[t->source_place] + GUARD), *dest;                                       \
        dest = t->in_place ? source : (TYPE *)(void *)(longs[t->place] + GUARD);                                       \
        for (size_t i = 0; i < n; i++) source[i] = VALUE(TYPE, t->g->me, i);                                           \
        guard((unsigned char *)dest, n * sizeof(TYPE));                                                                \
        if (t->key & 1)                                                                                                \
            OK(rma_##OP##_reduce_root(t->g->team, is_root ? dest : NULL, source, n, t->root));                         \
        else                                                                                                           \
            OK(rma_##OP##_reduce_root_##NAME(t->g->team, is_root ? dest : NULL, source, n, t->root));                  \
        check_guard(t, (unsigned char *)dest, n * sizeof(TYPE), "reduce");                                             \
        for (size_t i = 0; i < n; i++) {                                                                               \
            TYPE want = VALUE(TYPE, 0, i);                                                                             \
            for (int k = 1; k < t->g->n; k++) want = (TYPE)COMBINE(want, VALUE(TYPE, k, i));                           \
            if (is_root) CHECK(dest[i] == want, #OP " of " #NAME ": element %zu of %zu (%s)", i, n, t->g->name);       \
            if (!is_root) CHECK(source[i] == VALUE(TYPE, t->g->me, i), #OP ": a source was written");                  \
        }                                                                                                              \
        memset(source, 0xee, n * sizeof(TYPE));                                                                        \
    }
#define BITS(TYPE, pe, i)  ((TYPE)job_mix(t->key * 64 + (uint64_t)(pe) + (i)*4096))
#define SMALL(TYPE, pe, i) ((TYPE)(1 + (int)((t->key + (uint64_t)(pe)*7 + (i)) % 5)))
#define AND(a, b)          ((a) & (b))
#define OR(a, b)           ((a) | (b))
#define XOR(a, b)          ((a) ^ (b))
#define MIN(a, b)          ((b) < (a) ? (b) : (a))
#define MAX(a, b)          ((b) > (a) ? (b) : (a))
#define SUM(a, b)          ((a) + (b))
#define PROD(a, b)         ((a) * (b))
REDUCE(long, long, xor, BITS, XOR)
REDUCE(uint16, uint16_t, and, BITS, AND)
REDUCE(uint, unsigned int, or, BITS, OR)
REDUCE(schar, signed char, min, BITS, MIN)
REDUCE(double, double, max, SMALL, MAX)
REDUCE(double, double, sum, SMALL, SUM)
REDUCE(ldouble, long double, prod, SMALL, PROD)
REDUCE(complexf, float _Complex, sum, SMALL, SUM)
REDUCE(ullong, unsigned long long, sum, BITS, SUM)

static void (*const calls[])(const struct turn *) = {gather,       scatter,      gather,    scatter,    xor_long,
                                                     and_uint16,   or_uint,      min_schar, max_double, sum_double,
                                                     prod_ldouble, sum_complexf, sum_ullong};

static void run(uint64_t *alike, uint64_t *mine, size_t most) {
    struct turn t = {.g = &groups[job_below(alike, n_groups)], .key = job_random(alike)};
    const size_t which = job_below(alike, sizeof calls / sizeof calls[0]);
    t.len = job_length(alike, most);
    t.root = (int)job_below(alike, (size_t)t.g->n);
    if (t.g->team == RMA_TEAM_SHARED) t.root = 0; /* nodes may have different numbers of PEs */
    t.place = (int)job_below(mine, PLACES);
    t.source_place = (int)job_below(mine, PLACES);
    t.in_place = (int)job_below(mine, 3);
    if (t.g->me >= 0) calls[which](&t);
}

/* Blocks that all copy at once, where the root's own has to move. */
static void long_in_place(void) {
    for (int i = 0; i < 12; i++)
        for (int root = 0; root < job.n; root++) {
            struct turn t = {.g = &groups[0], .len = i % 2 ? MOST : 40000, .root = root, .in_place = 1};
            t.key = job_mix((uint64_t)(i * 64 + root));
            gather(&t);
            scatter(&t);
        }
}

/* ---- mistakes ---- */

static void mistakes(void) {
    char *here = (char *)shorts[2], *all = (char *)longs[2];
    long word = 5, out = 6;
    const int n = job.n, roots[] = {-1, n, INT_MAX, INT_MIN};
    for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) {
        const char *words = job_text("root %d is outside 0..%d of the team", roots[i], n - 1);
        EXPECT("rma_gather", rma_gather(RMA_TEAM_WORLD, all, here, 8, roots[i]), RMA_ERR_PE, words);
        EXPECT("rma_scatter", rma_scatter(RMA_TEAM_WORLD, here, all, 8, roots[i]), RMA_ERR_PE, words);
        EXPECT("rma_sum_reduce_root_long", rma_sum_reduce_root(RMA_TEAM_WORLD, &out, &word, 1, roots[i]), RMA_ERR_PE,
               words);
    }
    /* Alone, since a PE that is wrong returns at once. */
    EXPECT("rma_gather", rma_gather(RMA_TEAM_INVALID, all, here, 8, 0), RMA_ERR_ARG, "RMA_TEAM_INVALID");
    EXPECT("rma_gather", rma_gather(RMA_TEAM_WORLD, all, NULL, 8, 0), RMA_ERR_ARG, "source is a null pointer");
    EXPECT("rma_scatter", rma_scatter(RMA_TEAM_WORLD, NULL, all, 8, 0), RMA_ERR_ARG, "dest is a null pointer");
    EXPECT("rma_gather", rma_gather(RMA_TEAM_WORLD, NULL, here, 8, job.me), RMA_ERR_ARG, "dest is a null pointer");
    EXPECT("rma_scatter", rma_scatter(RMA_TEAM_WORLD, here, NULL, 8, job.me), RMA_ERR_ARG, "source is a null pointer");
    EXPECT("rma_gather", rma_gather(RMA_TEAM_WORLD, all, all + 4 + 8 * job.me, 8, job.me), RMA_ERR_ARG, "overlap",
           job_text("%p", (void *)all), job_text("%p", (void *)(all + 4 + 8 * job.me)));
    EXPECT("rma_scatter", rma_scatter(RMA_TEAM_WORLD, all + 4, all, 8, job.me), RMA_ERR_ARG, "overlap",
           job_text("%p", (void *)all), job_text("%p", (void *)(all + 4)));
    EXPECT("rma_sum_reduce_root_long",
           rma_sum_reduce_root_long(RMA_TEAM_WORLD, (long *)(void *)(all + 8), (long *)(void *)all, 2, job.me),
           RMA_ERR_ARG, "overlap", job_text("%p", (void *)all));
    EXPECT("rma_sum_reduce_root_long", rma_sum_reduce_root_long(RMA_TEAM_WORLD, NULL, &word, 1, job.me), RMA_ERR_ARG,
           "dest is a null pointer");
    EXPECT("rma_sum_reduce_root_long",
           rma_sum_reduce_root_long(RMA_TEAM_WORLD, &out, (long *)(void *)(all + 1), 1, job.me), RMA_ERR_ADDRESS,
           "not aligned");
    if (n > 1)
        EXPECT("rma_gather", rma_gather(RMA_TEAM_WORLD, all, here, SIZE_MAX / 2 + 1, job.me), RMA_ERR_ARG,
               "more than there can be");
    CHECK(out == 6, "a refused reduction wrote");
    OK(rma_gather(RMA_TEAM_WORLD, NULL, NULL, 0, n - 1));
    OK(rma_scatter(RMA_TEAM_WORLD, NULL, NULL, 0, n - 1));
    OK(rma_sum_reduce_root_long(RMA_TEAM_WORLD, NULL, NULL, 0, n - 1));
}

int main(void) {
    const size_t room = MOST + 2 * GUARD;
    uint64_t alike = 1, mine;
    size_t all;
    job_start();
    all = MOST * (size_t)job.n + 2 * GUARD;
    alike = job_stream(1000);
    mine = job_stream(2000 + (uint64_t)job.me);
    longs[0] = rma_malloc(all);
    shorts[0] = rma_malloc(room);
    OK(rma_alloc_mem(all, &longs[1]));
    OK(rma_alloc_mem(room, &shorts[1]));
    longs[2] = aligned_alloc(64, all);
    shorts[2] = aligned_alloc(64, room);
    for (int i = 0; i < PLACES; i++) CHECK(longs[i] && shorts[i], "no memory");
    make_groups();
    DOING("random calls");
    for (long turn = job_far_rounds(2400, 600, 300); turn > 0; turn--) run(&alike, &mine, (size_t)6000);
    DOING("long ones");
    for (long turn = job_far_rounds(80, 40, 24); turn > 0; turn--) run(&alike, &mine, MOST);
    long_in_place();
    DOING("mistakes");
    OK(rma_barrier_all());
    mistakes();
    OK(rma_barrier_all());
    while (n_groups > 2) OK(rma_team_destroy(groups[--n_groups].team));
    free(longs[2]);
    free(shorts[2]);
    OK(rma_free_mem(longs[1]));
    OK(rma_free_mem(shorts[1]));
    OK(rma_free(longs[0]));
    OK(rma_free(shorts[0]));
    return job_end();
}
