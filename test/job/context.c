/* SPDX-License-Identifier: BSD-3-Clause */
/* Each call in a context reaches the PE by the number that the context's team gives it; operations of a context are
 * complete when the context, its team or the runtime has ended, or after the context's quiet; and an invalid handle is
 * refused.
 *
 * Broken by a team whose start, stride or list is followed wrongly, by a call that uses another context's pending set,
 * by a completion that forgets the message that is still being filled, by the completion of another PE than requested,
 * by a table entry with data of its previous context, and by a check that is missing or names another call. The owner
 * observes completion, and learns of it through another context: a barrier would hide errors. */
#include "job.h"

#define LONG       ((size_t)1 << 20) /* bytes; longest is less where /dev/shm is small */
#define GROUPS_MAX 20
#define MOST       4095 /* contexts of one PE */

static struct job_group groups[GROUPS_MAX];
static const struct job_group *backwards; /* all PEs */
static int n_groups;
static rma_ctx *const untouched = (rma_ctx *)(uintptr_t)0x5a5a5a5a;

static size_t longest = LONG;
static unsigned char *areas;        /* symmetric: `longest` bytes for each origin */
static uint64_t *signals;           /* symmetric: one for each origin, */
static uint64_t given[JOB_PES_MAX]; /* and what this PE's is on each */
static unsigned char source[LONG], copy[LONG];
static uint64_t keys;

static unsigned char *area(int origin) { return areas + (size_t)origin * longest; }
static uint64_t new_key(void) { return job_stream(++keys << 8 | (uint64_t)job.me); }

/* ---- groups ---- */

/* Keeps the group for the tests of all; where this PE is not in it, too, so that all PEs number them alike. */
static const struct job_group *keep(struct job_group g) {
    CHECK(n_groups < GROUPS_MAX, "more groups than GROUPS_MAX");
    groups[n_groups] = g;
    return &groups[n_groups++];
}

static void keep_grid(const struct job_group *parent, int width) {
    int row = parent->me / width, column = parent->me % width, first = row * width, rows = 0;
    struct job_group x, y;
    while (column + rows * width < parent->n) rows++;
    x = job_part(parent, "a row", first, 1, parent->n - first < width ? parent->n - first : width);
    y = job_part(parent, "a column", column, width, rows);
    OK(rma_team_split_2d(parent->team, width, &x.team, &y.team));
    keep(x);
    keep(y);
}

static void make_groups(void) {
    const struct job_group world = job_world(), node = job_node();
    const struct job_group *even, *near;
    keep(world);
    keep(node);
    even = keep(job_strided(&world, "every other PE", 0, 2, (job.n + 1) / 2));
    if (job.n > 1) keep(job_strided(&world, "the others", 1, 2, job.n / 2));
    backwards = keep(job_strided(&world, "all, backwards", job.n - 1, -1, job.n));
    keep(job_strided(&world, "every other one, backwards", job.n - 1, -2, (job.n + 1) / 2));
    if (job.n > 2) keep(job_strided(&world, "all but the first", 1, 1, job.n - 1));
    keep_grid(&world, 2);
    keep_grid(backwards, job.n > 2 ? 3 : 1);
    keep(job_strided(even, "half of them, backwards", even->n - 1, -1, even->n));
    if (job.n > 2) keep(job_strided(backwards, "some of the backward ones", 1, 2, (job.n - 1) / 2));
    near = keep(job_strided(&node, "the node, backwards", job.n_near - 1, -1, job.n_near));
    keep(job_strided(near, "half of that", 0, 2, (job.n_near + 1) / 2));
}

static rma_ctx *context_of(const struct job_group *g, int options) {
    rma_ctx *ctx = untouched;
    rma_team *team = RMA_TEAM_INVALID;
    OK(rma_team_create_ctx(g->team, options, &ctx));
    OK(rma_ctx_team(ctx, &team));
    CHECK(team == g->team, "the context of %s has team %p, not %p", g->name, (void *)team, (void *)g->team);
    return ctx;
}

/* ---- each call ---- */

/* What the context has put is looked at in no context, by the PE's number in the world. */
static void arrived(const char *call, const struct job_group *g, int i, const void *dest, size_t len, uint64_t key) {
    size_t wrong;
    OK(rma_get(copy, dest, len, g->pes[i]));
    wrong = job_differs(copy, 0, len, key);
    CHECK(wrong == len, "%s of %zu bytes to PE %d of %s: byte %zu is not on PE %d", call, len, i, g->name, wrong,
          g->pes[i]);
}

static void came(const char *call, const struct job_group *g, int i, size_t len, uint64_t key) {
    size_t wrong = job_differs(copy, 0, len, key);
    CHECK(wrong == len, "%s of %zu bytes from PE %d of %s, which is %d: byte %zu", call, len, i, g->name, g->pes[i],
          wrong);
}

static void whole(const struct job_group *g, rma_ctx *ctx, int i, size_t len) {
    unsigned char *there = area(job.me);
    uint64_t key = new_key();
    job_fill(source, 0, len, key);
    OK(rma_ctx_put(ctx, there, source, len, i));
    memset(source, 0xee, len); /* it is the caller's again */
    OK(rma_ctx_quiet(ctx));
    arrived("rma_ctx_put", g, i, there, len, key);
    memset(copy, 0xa5, len);
    OK(rma_ctx_get(ctx, copy, there, len, i));
    came("rma_ctx_get", g, i, len, key);

    key = new_key();
    job_fill(source, 0, len, key);
    OK(rma_ctx_put_nbi(ctx, there, source, len, i));
    OK(rma_ctx_quiet(ctx));
    memset(source, 0xee, len);
    arrived("rma_ctx_put_nbi", g, i, there, len, key);
    memset(copy, 0xa5, len);
    OK(rma_ctx_get_nbi(ctx, copy, there, len, i));
    OK(rma_ctx_quiet(ctx));
    came("rma_ctx_get_nbi", g, i, len, key);
}

/* Every second element of the area; back into every third one. */
static void strides(const struct job_group *g, rma_ctx *ctx, int i, size_t len) {
    unsigned char *there = area(job.me);
    size_t elem = len < 64 ? 1 : len / 16, n = len / elem;
    uint64_t key = new_key();
    job_fill(source, 0, len, key);
    OK(rma_ctx_iput(ctx, there, source, 2, 1, elem, n, i));
    memset(source, 0xee, len);
    OK(rma_ctx_quiet(ctx));
    OK(rma_get(copy, there, (2 * n - 1) * elem, g->pes[i]));
    for (size_t k = 0; k < n; k++)
        CHECK(job_differs(copy + 2 * k * elem, k * elem, elem, key) == elem,
              "rma_ctx_iput to PE %d of %s: element %zu of %zu bytes", i, g->name, k, elem);
    memset(copy, 0xa5, 3 * len);
    OK(rma_ctx_iget(ctx, copy, there, 3, 2, elem, n, i));
    for (size_t k = 0; k < n; k++)
        CHECK(job_differs(copy + 3 * k * elem, k * elem, elem, key) == elem,
              "rma_ctx_iget from PE %d of %s: element %zu of %zu bytes", i, g->name, k, elem);
}

static void with_signal(const struct job_group *g, rma_ctx *ctx, int i, size_t len, int op, bool nbi) {
    const char *call = nbi ? "rma_ctx_put_signal_nbi" : "rma_ctx_put_signal";
    unsigned char *there = area(job.me);
    uint64_t *signal = &signals[job.me], *now = &given[g->pes[i]], key = new_key(), value = key | 1, seen;
    job_fill(source, 0, len, key);
    *now = op == RMA_SIGNAL_SET ? value : *now + value;
    if (nbi)
        OK(rma_ctx_put_signal_nbi(ctx, there, source, len, signal, value, op, i));
    else
        OK(rma_ctx_put_signal(ctx, there, source, len, signal, value, op, i));
    if (!nbi) memset(source, 0xee, len);
    OK(rma_ctx_quiet(ctx));
    seen = rma_atomic_fetch_uint64(signal, g->pes[i]);
    CHECK(seen == *now, "%s to PE %d of %s, op %d: the signal on PE %d is %#llx, not %#llx", call, i, g->name, op,
          g->pes[i], (unsigned long long)seen, (unsigned long long)*now);
    arrived(call, g, i, there, len, key);
}

/* The generic macros expand the header's tables, so they do not work in what those are expanded to. One that is missing
 * is missed by its number. */
/* clang-format off */
#define INTEGERS(X)                                                                                                    \
    X(int, int) X(uint, unsigned int) X(long, long) X(ulong, unsigned long) X(llong, long long)                        \
    X(ullong, unsigned long long)
#define FLOATS(X) X(float, float) X(double, double)
#define DISTINCT(X)                                                                                                    \
    INTEGERS(X) FLOATS(X) X(char, char) X(schar, signed char) X(uchar, unsigned char) X(short, short)                  \
    X(ushort, unsigned short) X(ldouble, long double)
/* clang-format on */
#define ONE_MORE(NAME, TYPE) +1
_Static_assert((INTEGERS(ONE_MORE)) == (RMA_ATOMIC_TYPES(ONE_MORE)), "the types of RMA_ATOMIC_TYPES");
_Static_assert((FLOATS(ONE_MORE)) == (RMA_ATOMIC_FLOAT_TYPES(ONE_MORE)), "the types of RMA_ATOMIC_FLOAT_TYPES");
_Static_assert((DISTINCT(ONE_MORE)) == (RMA_TYPES(ONE_MORE)), "the types of RMA_TYPES");

enum { VALUES = (DISTINCT(ONE_MORE)) + (RMA_TYPES(ONE_MORE)) + (RMA_TYPE_ALIASES(ONE_MORE)) };

/* One value of each type in 16 bytes of its own. */
static void values(const struct job_group *g, rma_ctx *ctx, int i) {
    unsigned char *there = area(job.me), *at;
    int first = (int)(keys++ % 60), k;
    memset(source, 0x5a, 16 * VALUES);
    OK(rma_put(there, source, 16 * VALUES, g->pes[i]));
    OK(rma_quiet());
#define P_TYPED(NAME, TYPE) OK(rma_ctx_p_##NAME(ctx, (TYPE *)(void *)(there + 16 * k), (TYPE)(first + k), i)), k++;
#define P_FRONT(NAME, TYPE) OK(rma_ctx_p(ctx, (TYPE *)(void *)(there + 16 * k), (TYPE)(first + k), i)), k++;
    k = 0;
    RMA_TYPES(P_TYPED)
    RMA_TYPE_ALIASES(P_TYPED)
    DISTINCT(P_FRONT)
    OK(rma_ctx_quiet(ctx));
    OK(rma_get(copy, there, 16 * VALUES, g->pes[i]));
#define G_VALUE(NAME, TYPE, VALUE, WHAT)                                                                               \
    {                                                                                                                  \
        TYPE want = (TYPE)(first + k), found, value;                                                                   \
        memcpy(&found, at = copy + 16 * k, sizeof found);                                                              \
        CHECK(found == want, "rma_ctx_p" WHAT ", " #NAME ": not on PE %d, which is %d of %s", g->pes[i], i, g->name);  \
        for (size_t b = sizeof want; b < 16; b++) CHECK(at[b] == 0x5a, "rma_ctx_p" WHAT ", " #NAME ": byte %zu", b);   \
        value = VALUE;                                                                                                 \
        CHECK(value == want, "rma_ctx_g" WHAT ", " #NAME ": from PE %d, which is %d of %s", g->pes[i], i, g->name);    \
        k++;                                                                                                           \
    }
#define G_TYPED(NAME, TYPE)                                                                                            \
    G_VALUE(NAME, TYPE, rma_ctx_g_##NAME(ctx, (const TYPE *)(void *)(there + 16 * k), i), "_" #NAME)
#define G_FRONT(NAME, TYPE) G_VALUE(NAME, TYPE, rma_ctx_g(ctx, (const TYPE *)(void *)(there + 16 * k), i), "")
    k = 0;
    RMA_TYPES(G_TYPED)
    RMA_TYPE_ALIASES(G_TYPED)
    DISTINCT(G_FRONT)
}

/* ---- atomics: each operation once, on a word of its own ---- */

#define OPS_MAX 40

#define TYPED_DO(OP, NAME, ...) rma_ctx_atomic_##OP##_##NAME(ctx, __VA_ARGS__, i)
#define FRONT_DO(OP, NAME, ...) rma_ctx_atomic_##OP(ctx, __VA_ARGS__, i)
#define TYPED_TEXT(OP, NAME)    "rma_ctx_atomic_" #OP "_" #NAME
#define FRONT_TEXT(OP, NAME)    "rma_ctx_atomic_" #OP ", " #NAME

#define DO(TYPE, TEXT, WANT, FETCHES, CALL)                                                                            \
    text[k] = TEXT;                                                                                                    \
    want[k] = (TYPE)(WANT);                                                                                            \
    fetches[k] = FETCHES;                                                                                              \
    CALL;                                                                                                              \
    k++;
#define PLAIN(F, NAME, TYPE, OP, WANT, ...) DO(TYPE, F##_TEXT(OP, NAME), WANT, false, OK(F##_DO(OP, NAME, __VA_ARGS__)))
#define FETCHING(F, NAME, TYPE, OP, WANT, ...)                                                                         \
    DO(TYPE, F##_TEXT(OP, NAME), WANT, true, got[k] = F##_DO(OP, NAME, __VA_ARGS__))
#define LATER(F, NAME, TYPE, OP, WANT, ...)                                                                            \
    DO(TYPE, F##_TEXT(OP, NAME), WANT, true, OK(F##_DO(OP, NAME, &got[k], __VA_ARGS__)))
#define UPDATE(F, NAME, TYPE, OP, WANT)                                                                                \
    PLAIN(F, NAME, TYPE, OP, WANT, &word[k], b)                                                                        \
    FETCHING(F, NAME, TYPE, fetch_##OP, WANT, &word[k], b)                                                             \
    LATER(F, NAME, TYPE, fetch_##OP##_nbi, WANT, &word[k], b)
#define NUMBER_OPS(F, NAME, TYPE)                                                                                      \
    FETCHING(F, NAME, TYPE, fetch, a, (const TYPE *)&word[k])                                                          \
    LATER(F, NAME, TYPE, fetch_nbi, a, (const TYPE *)&word[k])                                                         \
    PLAIN(F, NAME, TYPE, set, b, &word[k], b)                                                                          \
    FETCHING(F, NAME, TYPE, swap, b, &word[k], b)                                                                      \
    LATER(F, NAME, TYPE, swap_nbi, b, &word[k], b)                                                                     \
    UPDATE(F, NAME, TYPE, add, a + b)                                                                                  \
    UPDATE(F, NAME, TYPE, min, a < b ? a : b)                                                                          \
    UPDATE(F, NAME, TYPE, max, a > b ? a : b)
#define INTEGER_OPS(F, NAME, TYPE)                                                                                     \
    NUMBER_OPS(F, NAME, TYPE)                                                                                          \
    FETCHING(F, NAME, TYPE, compare_swap, b, &word[k], a, b)                                                           \
    FETCHING(F, NAME, TYPE, compare_swap, a, &word[k], b, b)                                                           \
    LATER(F, NAME, TYPE, compare_swap_nbi, b, &word[k], a, b)                                                          \
    LATER(F, NAME, TYPE, compare_swap_nbi, a, &word[k], b, b)                                                          \
    PLAIN(F, NAME, TYPE, inc, a + 1, &word[k])                                                                         \
    FETCHING(F, NAME, TYPE, fetch_inc, a + 1, &word[k])                                                                \
    LATER(F, NAME, TYPE, fetch_inc_nbi, a + 1, &word[k])                                                               \
    UPDATE(F, NAME, TYPE, and, a &b)                                                                                   \
    UPDATE(F, NAME, TYPE, or, a | b)                                                                                   \
    UPDATE(F, NAME, TYPE, xor, a ^ b)

#define ATOMICS(F, NAME, TYPE, OPS)                                                                                    \
    static void atomics_##F##_##NAME(const struct job_group *g, rma_ctx *ctx, int i) {                                 \
        const TYPE a = (TYPE)-5, b = (TYPE)3, guard = (TYPE)77;                                                        \
        TYPE *word = (TYPE *)(void *)area(job.me), before[OPS_MAX], want[OPS_MAX], got[OPS_MAX], found[OPS_MAX];       \
        const char *text[OPS_MAX];                                                                                     \
        bool fetches[OPS_MAX];                                                                                         \
        size_t k;                                                                                                      \
        for (k = 0; k < OPS_MAX; k++) before[k] = a, got[k] = guard;                                                   \
        OK(rma_put(word, before, sizeof before, g->pes[i]));                                                           \
        OK(rma_quiet());                                                                                               \
        k = 0;                                                                                                         \
        OPS(F, NAME, TYPE)                                                                                             \
        OK(rma_ctx_quiet(ctx));                                                                                        \
        OK(rma_get(found, word, sizeof found, g->pes[i]));                                                             \
        for (size_t j = 0; j < k; j++) {                                                                               \
            CHECK(found[j] == want[j], "%s: PE %d, which is %d of %s, has %Lg and not %Lg", text[j], g->pes[i], i,     \
                  g->name, (long double)found[j], (long double)want[j]);                                               \
            CHECK(got[j] == (fetches[j] ? a : guard), "%s on PE %d, which is %d of %s: the old value is %Lg", text[j], \
                  g->pes[i], i, g->name, (long double)got[j]);                                                         \
        }                                                                                                              \
    }
#define TYPED_INTEGER(NAME, TYPE) ATOMICS(TYPED, NAME, TYPE, INTEGER_OPS)
#define TYPED_FLOAT(NAME, TYPE)   ATOMICS(TYPED, NAME, TYPE, NUMBER_OPS)
#define FRONT_INTEGER(NAME, TYPE) ATOMICS(FRONT, NAME, TYPE, INTEGER_OPS)
#define FRONT_FLOAT(NAME, TYPE)   ATOMICS(FRONT, NAME, TYPE, NUMBER_OPS)
RMA_ATOMIC_TYPES(TYPED_INTEGER)
RMA_ATOMIC_TYPE_ALIASES(TYPED_INTEGER)
RMA_ATOMIC_FLOAT_TYPES(TYPED_FLOAT)
INTEGERS(FRONT_INTEGER)
FLOATS(FRONT_FLOAT)

/* One in `one_in` of them, another one each time. */
static void atomics(const struct job_group *g, rma_ctx *ctx, int i, unsigned one_in) {
    static unsigned rotation;
    unsigned turn = rotation++;
#define RUN_TYPED(NAME, TYPE)                                                                                          \
    if (turn++ % one_in == 0) atomics_TYPED_##NAME(g, ctx, i);
#define RUN_FRONT(NAME, TYPE)                                                                                          \
    if (turn++ % one_in == 0) atomics_FRONT_##NAME(g, ctx, i);
    RMA_ATOMIC_TYPES(RUN_TYPED)
    RMA_ATOMIC_TYPE_ALIASES(RUN_TYPED)
    RMA_ATOMIC_FLOAT_TYPES(RUN_TYPED)
    INTEGERS(RUN_FRONT)
    FLOATS(RUN_FRONT)
}

static void calls(const struct job_group *g, rma_ctx *ctx, bool all) {
    static const size_t lengths[] = {8, 1024, (size_t)64 << 10};
    static unsigned how;
    for (int step = 0; step < g->n; step++) {
        int i = (g->me + step) % g->n;
        for (size_t k = 0; k < 3; k++) {
            whole(g, ctx, i, lengths[k]);
            strides(g, ctx, i, lengths[k]);
            for (int n = all ? 4 : 1; n > 0; n--, how++)
                with_signal(g, ctx, i, lengths[k], how & 1 ? RMA_SIGNAL_ADD : RMA_SIGNAL_SET, how & 2);
        }
        if (all || step == 1 || g->n == 1) values(g, ctx, i);
        atomics(g, ctx, i, all && (job.one_node || step == 1) ? 1 : 22);
    }
    whole(g, ctx, (g->me + 1) % g->n, longest);
    with_signal(g, ctx, (g->me + 1) % g->n, longest, RMA_SIGNAL_ADD, true);
}

static void each_call(void) {
    calls(&groups[0], RMA_CTX_DEFAULT, true);
    for (int k = 0; k < n_groups; k++) {
        rma_ctx *ctx;
        if (groups[k].me < 0) continue;
        ctx = context_of(&groups[k], k % 8);
        calls(&groups[k], ctx, k == 0 || (k == 1 && !job.one_node));
        OK(rma_ctx_destroy(ctx));
    }
}

/* Each option, and all together; and rma_ctx_create is the world's. */
static void options(void) {
    rma_team *team = RMA_TEAM_INVALID;
    for (int mask = 0; mask < 8; mask++) {
        rma_ctx *ctx = untouched;
        OK(rma_ctx_create(mask, &ctx));
        OK(rma_ctx_team(ctx, &team));
        CHECK(team == RMA_TEAM_WORLD, "team %p", (void *)team);
        for (int step = 0; step < job.n; step++) {
            whole(&groups[0], ctx, job_any(step), 1000);
            with_signal(&groups[0], ctx, job_any(step), 100, RMA_SIGNAL_ADD, mask & 1);
        }
        OK(rma_ctx_fence(ctx));
        OK(rma_ctx_destroy(ctx));
    }
    OK(rma_ctx_team(RMA_CTX_DEFAULT, &team));
    CHECK(team == RMA_TEAM_WORLD, "team %p", (void *)team);
}

/* ---- what is complete ----
 *
 * Letter r of an origin is a burst of puts; one of them leaves at once, the others gather behind it. The origin
 * completes it in some way and tells the receiver by an atomic in a context of its own, which knows nothing of them. */

static const size_t burst[] = {8, 24, 1000, 3000, 5000, 40000, 16};
enum { PIECES = sizeof burst / sizeof burst[0], BURST = 8 + 24 + 1000 + 3000 + 5000 + 40000 + 16 };

static uint64_t *told;  /* symmetric: letters that have come from each PE, */
static uint64_t *taken; /* and of this one's to each those that have been read */
static uint64_t sent[JOB_PES_MAX], read_[JOB_PES_MAX];
static unsigned char *letters; /* BURST bytes for each receiver */
static rma_ctx *teller;

static uint64_t letter_key(int from, int to, uint64_t r) {
    return job_stream(r << 20 | (uint64_t)from << 10 | (uint64_t)to);
}

static void begin(const struct job_group *g, rma_ctx *ctx, int i, bool plain) {
    int q = g->pes[i];
    unsigned char *from = letters + (size_t)q * BURST, *to = area(job.me);
    OK(rma_wait_until(&taken[q], RMA_CMP_EQ, sent[q]));
    job_fill(from, 0, BURST, letter_key(job.me, q, ++sent[q]));
    for (size_t k = 0, at = 0; k < PIECES; at += burst[k++])
        OK(plain ? rma_put_nbi(to + at, from + at, burst[k], i)
                 : rma_ctx_put_nbi(ctx, to + at, from + at, burst[k], i));
}

static void tell(const struct job_group *g, int i) {
    int q = g->pes[i];
    memset(letters + (size_t)q * BURST, 0xee, BURST); /* the source is the caller's again */
    OK(rma_ctx_atomic_set(teller, &told[job.me], sent[q], q));
}

/* The next letter from each of the group. */
static void read_all(const struct job_group *g, const char *how) {
    for (int step = 0; step < g->n; step++) {
        int q = g->pes[(g->me + g->n - step) % g->n];
        size_t wrong;
        OK(rma_wait_until(&told[q], RMA_CMP_EQ, ++read_[q]));
        wrong = job_differs(area(q), 0, BURST, letter_key(q, job.me, read_[q]));
        CHECK(wrong == BURST, "after %s PE %d, of %s, has told of its puts: byte %zu of %d is not here", how, q,
              g->name, wrong, BURST);
        OK(rma_ctx_atomic_set(teller, &taken[job.me], read_[q], q));
    }
}

enum way { QUIET, FENCE, PE_QUIET, PE_FENCE, DESTROY, WAYS };
static const char *const way_names[WAYS] = {"a quiet", "a fence", "a pe_quiet", "a pe_fence", "a destroy"};

static int complete(rma_ctx *ctx, enum way way, bool plain, const int *pes, size_t n) {
    if (way == PE_QUIET) return plain ? rma_pe_quiet(pes, n) : rma_ctx_pe_quiet(ctx, pes, n);
    if (way == PE_FENCE) return plain ? rma_pe_fence(pes, n) : rma_ctx_pe_fence(ctx, pes, n);
    if (way == FENCE) return plain ? rma_fence() : rma_ctx_fence(ctx);
    return plain ? rma_quiet() : rma_ctx_quiet(ctx);
}

/* Letters to all; first some of the PEs, in any order and some twice, and then the others. The members of a group draw
 * for themselves. */
static void in_parts(const struct job_group *g, rma_ctx *ctx, enum way way, bool plain, uint64_t *draw) {
    int first[2 * JOB_PES_MAX], rest[JOB_PES_MAX];
    bool chosen[JOB_PES_MAX] = {false};
    size_t n = 0, m = 0;
    for (size_t k = job_below(draw, 2 * (size_t)g->n + 1); k > 0; k--) {
        first[n] = (int)job_below(draw, (size_t)g->n);
        chosen[first[n++]] = true;
    }
    for (int i = 0; i < g->n; i++)
        if (!chosen[i]) rest[m++] = i;
    for (int step = 0; step < g->n; step++) begin(g, ctx, (g->me + step) % g->n, plain);
    OK(complete(ctx, way, plain, first, n));
    for (int i = 0; i < g->n; i++)
        if (chosen[i]) tell(g, i);
    OK(complete(ctx, m & 1 ? way : QUIET, plain, rest, m));
    for (size_t k = 0; k < m; k++) tell(g, rest[k]);
}

static void exchange(const struct job_group *g, rma_ctx **ctx, enum way way, bool plain, uint64_t *draw) {
    if (way == PE_QUIET || way == PE_FENCE) {
        in_parts(g, *ctx, way, plain, draw);
    } else {
        for (int step = 0; step < g->n; step++) begin(g, *ctx, (g->me + step) % g->n, plain);
        if (way == DESTROY) {
            OK(rma_ctx_destroy(*ctx));
            OK(rma_team_create_ctx(g->team, 0, ctx));
        } else {
            OK(complete(*ctx, way, plain, NULL, 0));
        }
        for (int i = 0; i < g->n; i++) tell(g, i);
    }
    read_all(g, way_names[way]);
}

static void completions(void) {
    uint64_t draw = job_stream(100 + (uint64_t)job.me);
    long rounds = job_far_rounds(12, 6, 3);
    for (int k = 0; k < n_groups; k++) {
        const struct job_group *g = &groups[k];
        rma_ctx *ctx, *standing = RMA_CTX_DEFAULT;
        if (g->me < 0) continue;
        ctx = context_of(g, 0);
        OK(rma_ctx_pe_quiet(ctx, NULL, 0));
        OK(rma_ctx_pe_fence(ctx, NULL, 0));
        for (long r = 0; r < rounds; r++)
            for (enum way way = QUIET; way <= DESTROY; way++) exchange(g, &ctx, way, false, &draw);
        OK(rma_ctx_destroy(ctx));
        if (k > 0) continue;
        OK(rma_pe_quiet(NULL, 0));
        OK(rma_pe_fence(NULL, 0));
        for (long r = 0; r < 2 * rounds; r++)
            for (enum way way = QUIET; way <= PE_FENCE; way++) exchange(g, &standing, way, r & 1, &draw);
    }
}

static void no_context(rma_ctx *ctx, const char *words);

/* A team takes its contexts with it, and no others. */
static void ends_with_team(void) {
    uint64_t draw = job_stream(200 + (uint64_t)job.me);
    for (int turn = 0; turn < 3; turn++) {
        struct job_group g = job_strided(&groups[0], "a team that ends", job.n - 1, -1, job.n), next;
        struct job_group other = job_strided(&groups[0], "a team that stays", 0, 1, job.n);
        rma_ctx *ctx[3], *stays = context_of(&other, 0), *more = untouched;
        for (int k = 0; k < 3; k++) ctx[k] = context_of(&g, 0);
        for (int i = 0; i < g.n; i++) begin(&g, ctx[(i + turn) % 3], i, false);
        OK(rma_team_destroy(g.team));
        for (int i = 0; i < g.n; i++) tell(&g, i);
        read_all(&g, "the end of the team");
        for (int k = 0; k < 3; k++)
            no_context(ctx[k], job_text("ctx %p is no context, or has been destroyed", (void *)ctx[k]));
        EXPECT("rma_team_create_ctx", rma_team_create_ctx(g.team, 0, &more), RMA_ERR_ARG,
               job_text("team %p", (void *)g.team));
        CHECK(more == untouched, "a failed call has written");
        exchange(&other, &stays, PE_QUIET, false, &draw);
        next = job_strided(&groups[0], "the next team", 0, 1, job.n); /* has the number of the one before */
        for (int k = 0; k < 3; k++) no_context(ctx[k], "destroyed");
        OK(rma_team_destroy(next.team));
        exchange(&other, &stays, QUIET, false, &draw);
        OK(rma_ctx_destroy(stays));
        OK(rma_team_destroy(other.team));
    }
}

/* ---- what comes before what ---- */

#define MAIL_MAX longest

/* In a ring: message i of this PE to the next one of the group, with another part on a third PE. */
static uint64_t *flag, *acknowledged; /* symmetric: one for each origin */
static unsigned char *parcels; /* symmetric: MAIL_MAX for each origin; on the third PE, by the sender's number too */

enum mail { PUT_FENCE_P, NBI_FENCE_SET, PUT_SET, NBI_ADD, PUT_FETCH, SIGNAL_SET, SIGNAL_ADD, NBI_SIGNAL, MAILS };

struct message {
    enum mail mail;
    size_t len, aside;
    uint64_t key;
    int third;
};

static struct message message(const struct job_group *g, int from, int to, uint64_t i) {
    static const size_t lengths[] = {1, 8, 100, 1024, 3967, 3968, 3969, 4096, 4097, (size_t)64 << 10};
    uint64_t draw = job_stream(i << 20 | (uint64_t)g->pes[from] << 10 | (uint64_t)g->pes[to]);
    struct message m = {.key = draw, .mail = (enum mail)(i % MAILS)};
    m.len = lengths[job_below(&draw, 10)];
    if (job_below(&draw, 64) == 0) m.len = MAIL_MAX;
    m.aside = 1 + job_below(&draw, 2000);
    m.third = (int)job_below(&draw, (size_t)g->n);
    return m;
}

static void send(const struct job_group *g, rma_ctx *ctx, int to, uint64_t i) {
    static unsigned char aside[2000];
    struct message m = message(g, g->me, to, i);
    unsigned char *there = area(job.me), *third = parcels + 2000 * (size_t)job.me;
    uint64_t *word = &flag[job.me], seen;
    job_fill(source, 0, m.len, m.key);
    job_fill(aside, 0, m.aside, m.key + 1);
    /* The first piece leaves at once, the others gather behind it. */
    for (size_t k = 0, at; k < 3; k++) {
        at = k * m.aside / 3;
        OK(rma_ctx_put(ctx, third + at, aside + at, (k + 1) * m.aside / 3 - at, m.third));
    }
    switch (m.mail) {
        case PUT_FENCE_P:
            OK(rma_ctx_put(ctx, there, source, m.len, to));
            OK(rma_ctx_fence(ctx));
            OK(rma_ctx_p(ctx, word, i, to));
            break;
        case NBI_FENCE_SET:
            OK(rma_ctx_put_nbi(ctx, there, source, m.len, to));
            OK(rma_ctx_fence(ctx));
            OK(rma_ctx_atomic_set(ctx, word, i, to));
            break;
        case PUT_SET:
            OK(rma_ctx_put(ctx, there, source, m.len, to));
            OK(rma_ctx_atomic_set(ctx, word, i, to));
            break;
        case NBI_ADD:
            OK(rma_ctx_put_nbi(ctx, there, source, m.len, to));
            OK(rma_ctx_atomic_add(ctx, word, (uint64_t)1, to));
            break;
        case PUT_FETCH:
            OK(rma_ctx_put(ctx, there, source, m.len, to));
            OK(rma_ctx_atomic_fetch_inc_nbi(ctx, &seen, word, to));
            OK(rma_ctx_quiet(ctx));
            CHECK(seen == i - 1, "the flag was %llu", (unsigned long long)seen);
            break;
        case SIGNAL_SET: OK(rma_ctx_put_signal(ctx, there, source, m.len, word, i, RMA_SIGNAL_SET, to)); break;
        case SIGNAL_ADD: OK(rma_ctx_put_signal(ctx, there, source, m.len, word, 1, RMA_SIGNAL_ADD, to)); break;
        default: OK(rma_ctx_put_signal_nbi(ctx, there, source, m.len, word, i, RMA_SIGNAL_SET, to));
    }
    if (m.mail == NBI_ADD || m.mail == NBI_SIGNAL) OK(rma_ctx_quiet(ctx)); /* the source */
}

static void receive(const struct job_group *g, rma_ctx *ctx, int from, uint64_t i) {
    struct message m = message(g, from, g->me, i);
    int q = g->pes[from];
    size_t wrong;
    OK(rma_wait_until(&flag[q], RMA_CMP_GE, i));
    CHECK(flag[q] == i, "flag %llu from PE %d, not %llu", (unsigned long long)flag[q], q, (unsigned long long)i);
    wrong = job_differs(area(q), 0, m.len, m.key);
    CHECK(wrong == m.len, "message %llu (%d) from PE %d of %s: byte %zu of %zu", (unsigned long long)i, m.mail, q,
          g->name, wrong, m.len);
    OK(rma_ctx_get(ctx, copy, parcels + 2000 * (size_t)q, m.aside, m.third));
    wrong = job_differs(copy, 0, m.aside, m.key + 1);
    CHECK(wrong == m.aside, "message %llu (%d) from PE %d of %s, on PE %d: byte %zu of %zu", (unsigned long long)i,
          m.mail, q, g->name, g->pes[m.third], wrong, m.aside);
}

static void messages(const struct job_group *g, rma_ctx *ctx, uint64_t n) {
    int to, from;
    if (g->me < 0) return;
    to = (g->me + 1) % g->n;
    from = (g->me + g->n - 1) % g->n;
    OK(rma_team_sync(g->team));
    flag[g->pes[from]] = acknowledged[g->pes[to]] = 0;
    OK(rma_team_sync(g->team));
    for (uint64_t i = 1; i <= n; i++) {
        send(g, ctx, to, i);
        receive(g, ctx, from, i);
        OK(rma_ctx_atomic_set(teller, &acknowledged[job.me], i, g->pes[from]));
        OK(rma_wait_until(&acknowledged[g->pes[to]], RMA_CMP_EQ, i));
    }
}

static void order(void) {
    uint64_t rounds = (uint64_t)job_far_rounds(400, 80, 24);
    for (int k = 0; k < n_groups; k++) {
        rma_ctx *ctx;
        if (groups[k].me < 0) continue;
        ctx = context_of(&groups[k], k % 4);
        messages(&groups[k], ctx, k == 0 ? 4 * rounds : rounds);
        OK(rma_ctx_destroy(ctx));
    }
    messages(&groups[0], RMA_CTX_DEFAULT, rounds);
}

/* ---- as many as there may be ---- */

/* The places of the table are all used, twice: what is left in one of those that were there before is nobody's. No
 * context is alive. */
static void all_places(void) {
    static rma_ctx *ctx[MOST], *before[MOST];
    static uint64_t small[MOST], want[MOST], found[MOST];
    uint64_t *counter = rma_calloc(1, sizeof *counter), *slots = rma_calloc(MOST, sizeof *slots), n = 0, seen;
    int to = job_any(1), step = job.one_node ? 1 : 29;
    rma_ctx *more = untouched;
    CHECK(counter && slots, "%s", rma_last_error());
    for (int turn = 0; turn < 2; turn++) {
        for (int k = 0; k < MOST; k++) {
            const struct job_group *g = &groups[groups[k % n_groups].me < 0 ? 0 : k % n_groups];
            CHECK(rma_team_create_ctx(g->team, k % 8, &ctx[k]) == RMA_SUCCESS, "only %d contexts: %s", k,
                  rma_last_error());
        }
        for (int k = 0; k < 5; k++) {
            int one = (int)(job_mix((uint64_t)(k + 5 * turn)) % MOST);
            rma_ctx *old = ctx[one];
            EXPECT("rma_ctx_create", rma_ctx_create(0, &more), RMA_ERR_NO_MEM, "4095");
            EXPECT("rma_team_create_ctx", rma_team_create_ctx(RMA_TEAM_SHARED, 0, &more), RMA_ERR_NO_MEM, "4095");
            CHECK(more == untouched, "a failed call has written");
            OK(rma_ctx_destroy(old));
            OK(rma_ctx_create(0, &ctx[one]));
            CHECK(ctx[one] != old, "a handle is given twice: %p", (void *)old);
            EXPECT("rma_ctx_quiet", rma_ctx_quiet(old), RMA_ERR_ARG, job_text("%p", (void *)old));
        }
        for (int k = 0; turn && k < MOST; k++) {
            CHECK(ctx[k] != before[k], "a handle is given twice: %p", (void *)before[k]);
            EXPECT("rma_ctx_quiet", rma_ctx_quiet(before[k]), RMA_ERR_ARG, job_text("%p", (void *)before[k]));
        }
        /* Something is pending in each, or in some. */
        for (int k = turn; k < MOST; k += step) {
            rma_team *team;
            int i;
            OK(rma_ctx_team(ctx[k], &team));
            if ((i = rma_team_translate_pe(RMA_TEAM_WORLD, to, team)) < 0) continue;
            small[k] = want[k] = (uint64_t)(turn * MOST + k + 1);
            OK(rma_ctx_put_nbi(ctx[k], &slots[k], &small[k], sizeof small[k], i));
            OK(rma_ctx_atomic_inc(ctx[k], counter, i));
            n++;
        }
        for (int k = 0; k < MOST; k++) OK(rma_ctx_destroy(before[k * 11 % MOST] = ctx[k * 11 % MOST]));
        /* Nobody else puts something on the next PE. */
        OK(rma_get(found, slots, sizeof found, to));
        for (int k = 0; k < MOST; k++) CHECK(found[k] == want[k], "context %d: %llu", k, (unsigned long long)found[k]);
        seen = rma_atomic_fetch(counter, to);
        CHECK(seen == n, "counted %llu and not %llu", (unsigned long long)seen, (unsigned long long)n);
        no_context(RMA_CTX_INVALID, "RMA_CTX_INVALID");
    }
    OK(rma_free(slots));
    OK(rma_free(counter));
}

/* ---- mistakes ---- */

/* Each call on the word at p is refused, in its own name. */
#define R_CODE(NAME, CALL, ...)  EXPECT(#CALL, CALL(ctx, __VA_ARGS__), code, words);
#define R_VALUE(NAME, CALL, ...) EXPECT_ZERO(#CALL, CALL(ctx, __VA_ARGS__) != 0, code, words);
#define R_LATER(NAME, TYPE, CALL, ...)                                                                                 \
    {                                                                                                                  \
        TYPE kept = 77;                                                                                                \
        EXPECT(#CALL, CALL(ctx, &kept, __VA_ARGS__), code, words);                                                     \
        CHECK(kept == 77, #CALL " wrote an old value all the same");                                                   \
    }
#define R_UPDATE(NAME, TYPE, OP)                                                                                       \
    R_CODE(NAME, rma_ctx_atomic_##OP##_##NAME, (TYPE *)p, 1, pe)                                                       \
    R_VALUE(NAME, rma_ctx_atomic_fetch_##OP##_##NAME, (TYPE *)p, 1, pe)                                                \
    R_LATER(NAME, TYPE, rma_ctx_atomic_fetch_##OP##_nbi_##NAME, (TYPE *)p, 1, pe)
#define R_NUMBER(NAME, TYPE)                                                                                           \
    if (!size || size == sizeof(TYPE)) {                                                                               \
        R_VALUE(NAME, rma_ctx_atomic_fetch_##NAME, (const TYPE *)p, pe)                                                \
        R_LATER(NAME, TYPE, rma_ctx_atomic_fetch_nbi_##NAME, (const TYPE *)p, pe)                                      \
        R_CODE(NAME, rma_ctx_atomic_set_##NAME, (TYPE *)p, 1, pe)                                                      \
        R_VALUE(NAME, rma_ctx_atomic_swap_##NAME, (TYPE *)p, 1, pe)                                                    \
        R_LATER(NAME, TYPE, rma_ctx_atomic_swap_nbi_##NAME, (TYPE *)p, 1, pe)                                          \
        R_UPDATE(NAME, TYPE, add)                                                                                      \
        R_UPDATE(NAME, TYPE, min)                                                                                      \
        R_UPDATE(NAME, TYPE, max)                                                                                      \
    }
#define R_INTEGER(NAME, TYPE)                                                                                          \
    R_NUMBER(NAME, TYPE)                                                                                               \
    if (!size || size == sizeof(TYPE)) {                                                                               \
        R_VALUE(NAME, rma_ctx_atomic_compare_swap_##NAME, (TYPE *)p, 0, 1, pe)                                         \
        R_LATER(NAME, TYPE, rma_ctx_atomic_compare_swap_nbi_##NAME, (TYPE *)p, 0, 1, pe)                               \
        R_CODE(NAME, rma_ctx_atomic_inc_##NAME, (TYPE *)p, pe)                                                         \
        R_VALUE(NAME, rma_ctx_atomic_fetch_inc_##NAME, (TYPE *)p, pe)                                                  \
        R_LATER(NAME, TYPE, rma_ctx_atomic_fetch_inc_nbi_##NAME, (TYPE *)p, pe)                                        \
        R_UPDATE(NAME, TYPE, and)                                                                                      \
        R_UPDATE(NAME, TYPE, or)                                                                                       \
        R_UPDATE(NAME, TYPE, xor)                                                                                      \
    }

/* Those on words of `size` bytes, or with 0 on all. */
static void atomics_refused(rma_ctx *ctx, void *p, int pe, size_t size, int code, const char *words) {
    RMA_ATOMIC_TYPES(R_INTEGER)
    RMA_ATOMIC_TYPE_ALIASES(R_INTEGER)
    RMA_ATOMIC_FLOAT_TYPES(R_NUMBER)
    if (size == 4) return;
    for (int op = RMA_SIGNAL_SET; op <= RMA_SIGNAL_ADD; op++) {
        R_CODE(, rma_ctx_put_signal, area(0), source, 0, p, 1, op, pe)
        R_CODE(, rma_ctx_put_signal, area(0), source, 8, p, 1, op, pe)
        R_CODE(, rma_ctx_put_signal_nbi, area(0), source, 8, p, 1, op, pe)
        R_CODE(, rma_ctx_iput_signal, area(0), source, 1, 1, 8, 2, p, 1, op, pe)
    }
}

static void all_refused(rma_ctx *ctx, void *p, int pe, int code, const char *words) {
    const size_t size = 0, lengths[] = {1, 8, 5000};
    static unsigned char here[5000];
    memset(here, 0x77, sizeof here);
#define R_TYPED(NAME, TYPE)                                                                                            \
    R_CODE(NAME, rma_ctx_p_##NAME, (TYPE *)p, (TYPE)1, pe)                                                             \
    R_VALUE(NAME, rma_ctx_g_##NAME, (const TYPE *)p, pe)
    RMA_TYPES(R_TYPED)
    RMA_TYPE_ALIASES(R_TYPED)
    for (size_t k = 0; k < 3; k++) {
        R_CODE(, rma_ctx_put, p, here, lengths[k], pe)
        R_CODE(, rma_ctx_get, here, p, lengths[k], pe)
        R_CODE(, rma_ctx_put_nbi, p, here, lengths[k], pe)
        R_CODE(, rma_ctx_get_nbi, here, p, lengths[k], pe)
        R_CODE(, rma_ctx_iput, p, here, 2, 1, 1, lengths[k], pe)
        R_CODE(, rma_ctx_iget, here, p, 1, 2, 1, lengths[k], pe)
    }
    for (size_t k = 0; k < sizeof here; k++) CHECK(here[k] == 0x77, "a refused get wrote byte %zu", k);
    atomics_refused(ctx, p, pe, size, code, words);
}

static void handle_refused(rma_ctx *ctx, int code, const char *words) {
    rma_team *team = (rma_team *)untouched;
    int pes[2] = {0, job.me};
    R_CODE(, rma_ctx_pe_quiet, pes, 2)
    R_CODE(, rma_ctx_pe_quiet, NULL, 0)
    R_CODE(, rma_ctx_pe_fence, pes, 2)
    R_CODE(, rma_ctx_pe_fence, NULL, 0)
    R_CODE(, rma_ctx_team, &team)
    CHECK(team == (rma_team *)untouched, "a failed call has written");
    EXPECT("rma_ctx_quiet", rma_ctx_quiet(ctx), code, words);
    EXPECT("rma_ctx_fence", rma_ctx_fence(ctx), code, words);
    if (ctx != RMA_CTX_INVALID) EXPECT("rma_ctx_destroy", rma_ctx_destroy(ctx), code, words);
}

/* Each call says so, whatever else it is asked for; but a length of 0 moves nothing. */
static void no_context(rma_ctx *ctx, const char *words) {
    const int code = RMA_ERR_ARG;
    handle_refused(ctx, code, words);
    all_refused(ctx, area(0), job.me, code, words);
    all_refused(ctx, area(0), job_any(1), code, words);
    all_refused(ctx, NULL, -1, code, words);
    R_CODE(, rma_ctx_put, area(0), source, 0, 0)
    R_CODE(, rma_ctx_get, source, area(0), 0, 0)
    R_CODE(, rma_ctx_iput, area(0), source, 1, 1, 8, 0, 0)
    if (ctx == RMA_CTX_INVALID) QUIETLY(rma_ctx_destroy(ctx), RMA_SUCCESS);
}

static void wrong_handles(void) {
    rma_ctx *live = context_of(&groups[0], 0), *dead = context_of(&groups[0], 0), *again;
    const uintptr_t word = (uintptr_t)live;
    uint64_t random = job_stream(300);
    OK(rma_ctx_destroy(dead));
    no_context(dead, job_text("ctx %p is no context, or has been destroyed", (void *)dead));
    again = context_of(&groups[0], 0);
    CHECK(again != dead, "a handle is given twice: %p", (void *)dead);
    no_context(dead, job_text("ctx %p is no context, or has been destroyed", (void *)dead));
    no_context(RMA_CTX_INVALID, "ctx is RMA_CTX_INVALID");
    const uintptr_t none[] = {2,
                              3,
                              64,
                              4095,
                              4096,
                              4097,
                              0xffff,
                              0x10000,
                              0x10001,
                              0x1000001,
                              UINTPTR_MAX,
                              UINTPTR_MAX - 1,
                              UINTPTR_MAX / 2,
                              (uintptr_t)&random,
                              (uintptr_t)areas,
                              (uintptr_t)source,
                              (uintptr_t)&rma_ctx_quiet,
                              word + 1,
                              word - 1,
                              word + 4096,
                              word - 4096,
                              word + 0x10000,
                              word - 0x10000,
                              word | (uintptr_t)1 << 63,
                              word & 0xffff,
                              word << 32,
                              word >> 16};
    for (size_t k = 0; k < sizeof none / sizeof none[0]; k++)
        if (none[k] != (uintptr_t)again && none[k] != 0)
            no_context((rma_ctx *)none[k], job_text("ctx %p", (void *)none[k]));
    for (int k = 0; k < 30; k++) {
        rma_ctx *ctx = (rma_ctx *)(uintptr_t)(job_random(&random) >> k);
        no_context(ctx, job_text("ctx %p", (void *)ctx));
    }
    EXPECT("rma_ctx_destroy", rma_ctx_destroy(RMA_CTX_DEFAULT), RMA_ERR_ARG, "RMA_CTX_DEFAULT");
    whole(&groups[0], RMA_CTX_DEFAULT, job_any(1), 100);
    whole(&groups[0], live, job_any(1), 100);
    OK(rma_ctx_destroy(again));
    OK(rma_ctx_destroy(live));
    EXPECT("rma_ctx_destroy", rma_ctx_destroy(live), RMA_ERR_ARG, job_text("%p", (void *)live));
}

static void wrong_arguments(void) {
    const int bad[] = {8, 15, 16, -1, INT_MIN, 1 << 30};
    rma_team *const none[] = {RMA_TEAM_INVALID, (rma_team *)3, (rma_team *)0x10001, (rma_team *)UINTPTR_MAX,
                              (rma_team *)(void *)areas};
    rma_ctx *ctx = untouched;
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        EXPECT("rma_ctx_create", rma_ctx_create(bad[k], &ctx), RMA_ERR_ARG, job_text("options %#x", (unsigned)bad[k]));
        EXPECT("rma_team_create_ctx", rma_team_create_ctx(RMA_TEAM_SHARED, bad[k], &ctx), RMA_ERR_ARG,
               job_text("options %#x", (unsigned)bad[k]));
    }
    EXPECT("rma_ctx_create", rma_ctx_create(0, NULL), RMA_ERR_ARG, "ctx is a null pointer");
    EXPECT("rma_team_create_ctx", rma_team_create_ctx(RMA_TEAM_WORLD, 0, NULL), RMA_ERR_ARG, "ctx is a null pointer");
    for (size_t k = 0; k < sizeof none / sizeof none[0]; k++)
        EXPECT("rma_team_create_ctx", rma_team_create_ctx(none[k], 0, &ctx), RMA_ERR_ARG,
               none[k] ? job_text("team %p", (void *)none[k]) : "RMA_TEAM_INVALID");
    CHECK(ctx == untouched, "a failed call has written");
    EXPECT("rma_ctx_team", rma_ctx_team(RMA_CTX_DEFAULT, NULL), RMA_ERR_ARG, "team is a null pointer");
}

/* PEs that the group does not have, whether the world has them or not. */
static void wrong_pes(const struct job_group *g, rma_ctx *ctx, const char *whose) {
    const int bad[] = {-1, g->n, INT_MAX, INT_MIN, g->n + (1 << 24)};
    int pes[] = {g->me, 0, g->n - 1};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        const char *words = job_text("PE %d is outside 0..%d%s", bad[k], g->n - 1, whose);
        all_refused(ctx, area(job.me), bad[k], RMA_ERR_PE, words);
        EXPECT("rma_ctx_put", rma_ctx_put(ctx, area(job.me), source, 0, bad[k]), RMA_ERR_PE, words);
        for (int at = 0; at < 3; at++) {
            int kept = pes[at];
            pes[at] = bad[k];
            EXPECT("rma_ctx_pe_quiet", rma_ctx_pe_quiet(ctx, pes, 3), RMA_ERR_PE, words);
            EXPECT("rma_ctx_pe_fence", rma_ctx_pe_fence(ctx, pes, 3), RMA_ERR_PE, words);
            pes[at] = kept;
        }
    }
    EXPECT("rma_ctx_pe_quiet", rma_ctx_pe_quiet(ctx, NULL, 3), RMA_ERR_ARG, "pes is a null pointer, and n is 3");
    EXPECT("rma_ctx_pe_fence", rma_ctx_pe_fence(ctx, NULL, SIZE_MAX), RMA_ERR_ARG, "pes is a null pointer");
}

static void wrong_addresses(const struct job_group *g, rma_ctx *ctx) {
    uint64_t stack[8] = {0}, *alone, kept = 77;
    char *heap = malloc(64);
    OK(rma_alloc_mem(64, &alone));
    memset(alone, 0, 64);
    for (int i = 0; i < g->n; i++) {
        void *const nowhere[] = {stack, heap, alone, NULL};
        for (size_t k = 0; k < 4; k++)
            all_refused(ctx, nowhere[k], i, RMA_ERR_ADDRESS, k == 3 ? "is a null pointer" : job_text("%p", nowhere[k]));
        for (size_t k = 1; k < 8; k++) {
            unsigned char *off = area(job.me) + k;
            if (k % 4)
                atomics_refused(ctx, off, i, 4, RMA_ERR_ADDRESS,
                                job_text("%p is not aligned to its 4 bytes", (void *)off));
            atomics_refused(ctx, off, i, 8, RMA_ERR_ADDRESS, job_text("%p is not aligned to its 8 bytes", (void *)off));
        }
        EXPECT("rma_ctx_put_signal", rma_ctx_put_signal(ctx, area(0), source, 8, signals, 1, 2, i), RMA_ERR_ARG,
               "op 2");
        EXPECT("rma_ctx_put_signal_nbi", rma_ctx_put_signal_nbi(ctx, area(0), source, 8, signals, 1, -1, i),
               RMA_ERR_ARG, "op -1");
        EXPECT("rma_ctx_iput", rma_ctx_iput(ctx, area(0), source, 0, 1, 8, 1, i), RMA_ERR_ARG, "dest_stride 0");
        EXPECT("rma_ctx_iget", rma_ctx_iget(ctx, source, area(0), 1, -1, 8, 1, i), RMA_ERR_ARG, "source_stride -1");
        if (rma_on_node(g->pes[i])) continue; /* inlined: a null pointer like any other */
        EXPECT("rma_ctx_atomic_fetch_nbi_uint64", rma_ctx_atomic_fetch_nbi_uint64(ctx, NULL, signals, i), RMA_ERR_ARG,
               "fetch is a null pointer");
        EXPECT("rma_ctx_atomic_swap_nbi_uint64", rma_ctx_atomic_swap_nbi_uint64(ctx, NULL, signals, 1, i), RMA_ERR_ARG,
               "fetch is a null pointer");
    }
    for (int k = 0; k < 8; k++) CHECK(stack[k] == 0 && alone[k] == 0 && kept == 77, "a refused call has written");
    OK(rma_free_mem(alone));
    free(heap);
}

/* What all of them may have done is seen by the owners at the end. */
static void mistakes(void) {
    uint64_t kept[JOB_PES_MAX];
    OK(rma_barrier_all());
    for (int pe = 0; pe < job.n; pe++) {
        job_fill(area(pe), 0, longest, (uint64_t)pe);
        kept[pe] = signals[pe];
    }
    OK(rma_barrier_all());
    wrong_arguments();
    wrong_pes(&groups[0], RMA_CTX_DEFAULT, "");
    wrong_addresses(&groups[0], RMA_CTX_DEFAULT);
    for (int k = 0; k < n_groups; k++) {
        rma_ctx *ctx;
        if (groups[k].me < 0) continue;
        ctx = context_of(&groups[k], k % 8);
        wrong_pes(&groups[k], ctx, " of the context's team");
        if (k < 2) wrong_addresses(&groups[k], ctx);
        OK(rma_ctx_destroy(ctx));
    }
    OK(rma_barrier_all());
    for (int pe = 0; pe < job.n; pe++)
        CHECK(job_differs(area(pe), 0, longest, (uint64_t)pe) == longest && signals[pe] == kept[pe],
              "a refused call has written");
    OK(rma_barrier_all());
    wrong_handles();
}

static void nothing_works(const char *when) {
    rma_ctx *const any[] = {RMA_CTX_DEFAULT, RMA_CTX_INVALID, (rma_ctx *)0x10002, untouched}, *ctx = untouched;
    uint64_t word = 0;
    for (size_t k = 0; k < sizeof any / sizeof any[0]; k++) {
        handle_refused(any[k], RMA_ERR_STATE, when);
        all_refused(any[k], &word, 0, RMA_ERR_STATE, when);
    }
    EXPECT("rma_ctx_create", rma_ctx_create(0, &ctx), RMA_ERR_STATE, when);
    EXPECT("rma_team_create_ctx", rma_team_create_ctx(RMA_TEAM_WORLD, 0, &ctx), RMA_ERR_STATE, when);
    EXPECT("rma_pe_quiet", rma_pe_quiet(NULL, 0), RMA_ERR_STATE, when);
    EXPECT("rma_pe_fence", rma_pe_fence(NULL, 0), RMA_ERR_STATE, when);
    CHECK(ctx == untouched && word == 0, "a failed call has written");
}

/* ---- the end ---- */

static unsigned char last[JOB_PES_MAX][BURST]; /* symmetric, and outlives the runtime */

/* What is pending when the runtime ends is complete after it: put by all, and got by this PE. */
struct ending {
    rma_ctx *ctx[3];
    uint64_t old;
    unsigned char got[BURST];
};

static void begin_last(struct ending *e) {
    const struct job_group *g = backwards;
    OK(rma_barrier_all());
    job_fill(area(0), 0, BURST, 400 + (uint64_t)job.me);
    flag[0] = (uint64_t)job.me;
    OK(rma_barrier_all());
    for (int k = 0; k < 3; k++) e->ctx[k] = context_of(g, 0);
    for (int i = 0; i < g->n; i++) {
        unsigned char *from = letters + (size_t)i * BURST;
        job_fill(from, 0, BURST, letter_key(job.me, g->pes[i], 0));
        for (size_t k = 0, at = 0; k < PIECES; at += burst[k++])
            OK(rma_ctx_put_nbi(e->ctx[i % 3], last[job.me] + at, from + at, burst[k], i));
    }
    e->old = 77;
    OK(rma_ctx_atomic_fetch_nbi(e->ctx[1], &e->old, &flag[0], 0));
    for (size_t k = 0, at = 0; k < PIECES; at += burst[k++])
        OK(rma_ctx_get_nbi(e->ctx[2], e->got + at, area(0) + at, burst[k], 0));
}

static void look_at_last(const struct ending *e) {
    const int first = job.n - 1; /* of the group */
    CHECK(e->old == (uint64_t)first, "rma_finalize has not completed an atomic: %llu", (unsigned long long)e->old);
    CHECK(job_differs(e->got, 0, BURST, 400 + (uint64_t)first) == BURST, "rma_finalize has not completed a get");
    for (int pe = 0; pe < job.n; pe++) {
        size_t wrong = job_differs(last[pe], 0, BURST, letter_key(pe, job.me, 0));
        CHECK(wrong == BURST, "rma_finalize has not completed PE %d's puts: byte %zu of %d", pe, wrong, BURST);
    }
}

int main(void) {
    struct ending *ending = malloc(sizeof *ending);
    job_begin();
    nothing_works("before rma_init");
    OK(rma_init());
    job_look();
    if (job_room() < 2 * LONG * (size_t)job.n) longest = LONG / 4;
    areas = rma_calloc((size_t)job.n, longest);
    signals = rma_calloc((size_t)job.n, sizeof *signals);
    told = rma_calloc((size_t)job.n, sizeof *told);
    taken = rma_calloc((size_t)job.n, sizeof *taken);
    flag = rma_calloc((size_t)job.n, sizeof *flag);
    acknowledged = rma_calloc((size_t)job.n, sizeof *acknowledged);
    parcels = rma_calloc((size_t)job.n, 2000);
    letters = malloc((size_t)job.n * BURST);
    CHECK(areas && signals && told && taken && flag && acknowledged && parcels, "%s", rma_last_error());
    CHECK(letters && ending, "no memory");
    make_groups();
    DOING("as many as there may be");
    all_places();
    OK(rma_ctx_create(0, &teller));
    DOING("each call");
    each_call();
    options();
    OK(rma_barrier_all());
    DOING("what is complete");
    completions();
    ends_with_team();
    OK(rma_barrier_all());
    DOING("what comes before what");
    order();
    DOING("mistakes");
    mistakes();

    begin_last(ending);
    job_end();
    DOING("after the end");
    look_at_last(ending);
    nothing_works("after rma_finalize");
    handle_refused(ending->ctx[0], RMA_ERR_STATE, "after rma_finalize");
    free(letters);
    free(ending);
    return 0;
}
