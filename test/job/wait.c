/* SPDX-License-Identifier: BSD-3-Clause */
/* A PE that waits for words continues when the comparison holds, and not before; tests return the truth. The PE sees
 * what came before the change, and meanwhile serves others.
 *
 * Broken by a comparison with another type's sign, width or limits; by an excluded word that counts, or an included
 * word that does not; by an index of the wrong word; by a word that is never named although the comparison holds for
 * it, because of other calls that come in between; by a change that is not noticed because of the memory in which the
 * word lies, or of the way in which it was changed; by a wait that keeps a PE from serving, and by a mistake that is
 * not told. On an odd number of PEs the program's variables stay in place (RMA_STATICS=window). */
#include "job.h"

/* Written down again, so that a row missing from the header's table is missed here. */
#define DISTINCT(X)                                                                                                    \
    X(int, int)                                                                                                        \
    X(uint, unsigned int) X(long, long) X(ulong, unsigned long) X(llong, long long) X(ullong, unsigned long long)
#define ALIASES(X)                                                                                                     \
    X(int32, int32_t) X(uint32, uint32_t) X(int64, int64_t) X(uint64, uint64_t) X(size, size_t) X(ptrdiff, ptrdiff_t)

#define LOWEST(TYPE)  ((TYPE)-1 < (TYPE)1 ? (TYPE)((uint64_t)1 << (sizeof(TYPE) * 8 - 1)) : 0)
#define HIGHEST(TYPE) ((TYPE)(~LOWEST(TYPE)))

#define COMPARED(x, cmp, y)                                                                                            \
    ((cmp) == RMA_CMP_EQ   ? (x) == (y)                                                                                \
     : (cmp) == RMA_CMP_NE ? (x) != (y)                                                                                \
     : (cmp) == RMA_CMP_GT ? (x) > (y)                                                                                 \
     : (cmp) == RMA_CMP_GE ? (x) >= (y)                                                                                \
     : (cmp) == RMA_CMP_LT ? (x) < (y)                                                                                 \
                           : (x) <= (y))

/* A word of this PE that nobody else touches now. */
#define STORE(word, value) __atomic_store_n(word, value, __ATOMIC_RELAXED)

#define WORDS 24 /* of one set */

/* Symmetric; a set of words of any type, and what tells of turns. */
struct room {
    _Alignas(64) uint64_t set[WORDS];
    _Alignas(64) uint64_t ready; /* turns for which the next PE is ready */
    _Alignas(64) uint64_t arrived;
    _Alignas(64) uint64_t payload[WORDS];
    uint64_t count;
    unsigned char served[JOB_PES_MAX][6000];
};

static struct room *room;

/* ---- every type, every comparison: words that nobody changes ---- */

/* n words are all x, but for the masked ones; those behind them, of any type, hold what would give the contrary. */
#define TRUTH(WHAT, TYPE, TEXT, WAIT, TEST, WAIT_ALL, TEST_ALL, WAIT_ANY, TEST_ANY, WAIT_SOME, TEST_SOME, WAIT_ALL_V,  \
              TEST_ALL_V, WAIT_ANY_V, TEST_ANY_V, WAIT_SOME_V, TEST_SOME_V)                                            \
    static void WHAT(void) {                                                                                           \
        const TYPE low = LOWEST(TYPE), high = HIGHEST(TYPE), middle = (TYPE)(high / 2);                                \
        const TYPE set[] = {low, (TYPE)(low + 1), (TYPE)(low + 2),    (TYPE)-2,         (TYPE)-1,         0,   1,      \
                            2,   middle,          (TYPE)(middle + 1), (TYPE)(high - 2), (TYPE)(high - 1), high};       \
        enum { N_SET = sizeof set / sizeof set[0] };                                                                   \
        TYPE *word = (TYPE *)(void *)room->set + 2, values[4];                                                         \
        const int masks[] = {1, 0, -1, 0}, all_masked[] = {1, 2, 3, -4}, none[] = {0, 0, 0, 0};                        \
        size_t indices[5], index;                                                                                      \
        for (int i = 0; i < N_SET; i++)                                                                                \
            for (int k = 0; k < N_SET; k++)                                                                            \
                for (int cmp = RMA_CMP_EQ; cmp <= RMA_CMP_LE; cmp++) {                                                 \
                    const TYPE x = set[i], v = set[k];                                                                 \
                    const int yes = COMPARED(x, cmp, v);                                                               \
                    memset(room->set, yes ? 0x5a : 0, sizeof room->set);                                               \
                    STORE(word, x);                                                                                    \
                    CHECK(TEST(word, cmp, v) == yes, TEXT ": number %d and %d, comparison %d", i, k, cmp);             \
                    if (yes) OK(WAIT(word, cmp, v));                                                                   \
                    /* A set of it, with others left out: words 1 and 3 count, 0 and 2 are the contrary. */            \
                    STORE(word + 1, x);                                                                                \
                    STORE(word + 3, x);                                                                                \
                    for (int j = 0; j < 4; j++) values[j] = v;                                                         \
                    for (int j = 0; j < 4; j += 2)                                                                     \
                        for (int contrary = 0; contrary < N_SET; contrary++) {                                         \
                            if (COMPARED(set[contrary], cmp, v) == yes) continue;                                      \
                            STORE(word + j, set[contrary]);                                                            \
                            break;                                                                                     \
                        }                                                                                              \
                    CHECK(TEST_ALL(word, 4, masks, cmp, v) == yes, TEXT ", all: %d, %d, %d", i, k, cmp);               \
                    index = TEST_ANY(word, 4, masks, cmp, v);                                                          \
                    CHECK(yes ? index == 1 || index == 3 : index == SIZE_MAX, TEXT ", any: %d, %d, %d", i, k, cmp);    \
                    memset(indices, 0x77, sizeof indices);                                                             \
                    CHECK(TEST_SOME(word, 4, indices, masks, cmp, v) == (yes ? 2 : 0), TEXT ", some: %d, %d, %d", i,   \
                          k, cmp);                                                                                     \
                    CHECK(!yes || (indices[0] == 1 && indices[1] == 3), TEXT ", indices: %d, %d, %d", i, k, cmp);      \
                    CHECK(indices[4] == indices[2] && indices[2] != 2, TEXT ": an index too many");                    \
                    if (!yes) continue;                                                                                \
                    OK(WAIT_ALL(word, 4, masks, cmp, v));                                                              \
                    index = WAIT_ANY(word, 4, masks, cmp, v);                                                          \
                    CHECK(index == 1 || index == 3, TEXT ", waiting for any: %d, %d, %d", i, k, cmp);                  \
                    CHECK(WAIT_SOME(word, 4, indices, masks, cmp, v) == 2, TEXT ", waiting for some");                 \
                }                                                                                                      \
        /* Values of their own: word j is 10 + j, and is compared to 10 + j. */                                        \
        for (int j = 0; j < 4; j++) {                                                                                  \
            values[j] = (TYPE)(10 + j);                                                                                \
            rma_atomic_set(word + j, values[j], job.me);                                                               \
        }                                                                                                              \
        CHECK(TEST_ALL_V(word, 4, NULL, RMA_CMP_EQ, values) == 1, TEXT ", all, each with its value");                  \
        CHECK(TEST_ALL_V(word, 4, NULL, RMA_CMP_NE, values) == 0, TEXT ", all, each with its value");                  \
        OK(WAIT_ALL_V(word, 4, none, RMA_CMP_EQ, values));                                                             \
        values[1] = 0;                                                                                                 \
        values[2]++;                                                                                                   \
        CHECK(TEST_ALL_V(word, 4, NULL, RMA_CMP_GE, values) == 0, TEXT ", all but one");                               \
        CHECK(TEST_ALL_V(word, 2, NULL, RMA_CMP_GE, values) == 1, TEXT ", n of them");                                 \
        index = TEST_ANY_V(word, 4, NULL, RMA_CMP_NE, values);                                                         \
        CHECK(index == 1 || index == 2, TEXT ", any, each with its value");                                            \
        CHECK(TEST_ANY_V(word, 4, NULL, RMA_CMP_LT, values) == 2, TEXT ", any, each with its value");                  \
        CHECK(WAIT_ANY_V(word, 4, masks, RMA_CMP_EQ, values) == 3, TEXT ", any, each with its value");                 \
        CHECK(TEST_SOME_V(word, 4, indices, NULL, RMA_CMP_NE, values) == 2 && indices[0] == 1 && indices[1] == 2,      \
              TEXT ", some, each with its value");                                                                     \
        CHECK(WAIT_SOME_V(word, 4, indices, masks, RMA_CMP_NE, values) == 1 && indices[0] == 1, TEXT ", some of two"); \
        /* Nothing to wait for. */                                                                                     \
        for (int nothing = 0; nothing < 3; nothing++) {                                                                \
            size_t n = nothing == 0 ? 4 : 0;                                                                           \
            const int *status = nothing == 0 ? all_masked : NULL;                                                      \
            TYPE *at = nothing == 2 ? NULL : word;                                                                     \
            const TYPE *their = nothing == 2 ? NULL : values;                                                          \
            QUIETLY(WAIT_ALL(at, n, status, RMA_CMP_EQ, 99), RMA_SUCCESS);                                             \
            QUIETLY(TEST_ALL(at, n, status, RMA_CMP_EQ, 99), 1);                                                       \
            QUIETLY(WAIT_ANY(at, n, status, RMA_CMP_EQ, 99), SIZE_MAX);                                                \
            QUIETLY(TEST_ANY(at, n, status, RMA_CMP_EQ, 99), SIZE_MAX);                                                \
            QUIETLY(WAIT_SOME(at, n, indices, status, RMA_CMP_EQ, 99), 0);                                             \
            QUIETLY(TEST_SOME(at, n, indices, status, RMA_CMP_EQ, 99), 0);                                             \
            QUIETLY(WAIT_ALL_V(at, n, status, RMA_CMP_GT, their), RMA_SUCCESS);                                        \
            QUIETLY(TEST_ALL_V(at, n, status, RMA_CMP_GT, their), 1);                                                  \
            QUIETLY(WAIT_ANY_V(at, n, status, RMA_CMP_GT, their), SIZE_MAX);                                           \
            QUIETLY(TEST_ANY_V(at, n, status, RMA_CMP_GT, their), SIZE_MAX);                                           \
            QUIETLY(WAIT_SOME_V(at, n, indices, status, RMA_CMP_GT, their), 0);                                        \
            QUIETLY(TEST_SOME_V(at, n, indices, status, RMA_CMP_GT, their), 0);                                        \
        }                                                                                                              \
    }

#define NAMED_TRUTH(NAME, TYPE)                                                                                        \
    TRUTH(truth_##NAME, TYPE, #NAME, rma_wait_until_##NAME, rma_test_##NAME, rma_wait_until_all_##NAME,                \
          rma_test_all_##NAME, rma_wait_until_any_##NAME, rma_test_any_##NAME, rma_wait_until_some_##NAME,             \
          rma_test_some_##NAME, rma_wait_until_all_vector_##NAME, rma_test_all_vector_##NAME,                          \
          rma_wait_until_any_vector_##NAME, rma_test_any_vector_##NAME, rma_wait_until_some_vector_##NAME,             \
          rma_test_some_vector_##NAME)
#define GENERIC_TRUTH(NAME, TYPE)                                                                                      \
    TRUTH(generic_truth_##NAME, TYPE, "generic, " #TYPE, rma_wait_until, rma_test, rma_wait_until_all, rma_test_all,   \
          rma_wait_until_any, rma_test_any, rma_wait_until_some, rma_test_some, rma_wait_until_all_vector,             \
          rma_test_all_vector, rma_wait_until_any_vector, rma_test_any_vector, rma_wait_until_some_vector,             \
          rma_test_some_vector)
DISTINCT(NAMED_TRUTH)
ALIASES(NAMED_TRUTH)
DISTINCT(GENERIC_TRUTH)
#define RUN_TRUTH(NAME, TYPE)         truth_##NAME();
#define RUN_GENERIC_TRUTH(NAME, TYPE) generic_truth_##NAME();

static void truth(void) {
    DISTINCT(RUN_TRUTH)
    ALIASES(RUN_TRUTH)
    DISTINCT(RUN_GENERIC_TRUTH)
}

/* ---- every type, every comparison: a word that the PE before changes ---- */

enum way { SET, P, ADD, SWAP, COMPARE_SWAP, GPTR, WAYS };

static uint64_t turn; /* of this PE, the same on all */

/* Says that this PE's words are ready, and waits until the next PE's are. Some turns later than others, so that who
 * waits for the change sleeps already. */
static void meet_next(void) {
    turn++;
    OK(rma_atomic_set(&room->ready, turn, job_any(-1)));
    OK(rma_wait_until(&room->ready, RMA_CMP_GE, turn));
    if (job_mix(turn * JOB_PES_MAX + (uint64_t)job.me) % 16 == 0) job_sleep(2000);
}

/* The border of each comparison, at the end of the type where there is one. */
#define WOKEN(WHAT, TYPE, TEXT, WAIT, TEST)                                                                            \
    static void WHAT(void) {                                                                                           \
        const TYPE low = LOWEST(TYPE), high = HIGHEST(TYPE);                                                           \
        const struct {                                                                                                 \
            TYPE value, before, still, then; /* `still` leaves it unfulfilled, `then` fulfils it */                    \
        } borders[] = {[RMA_CMP_EQ] = {5, 4, 6, 5},                                                                    \
                       [RMA_CMP_NE] = {high, high, high, 7},                                                           \
                       [RMA_CMP_GT] = {(TYPE)(high - 1), low, (TYPE)(high - 1), high},                                 \
                       [RMA_CMP_GE] = {high, low, (TYPE)(high - 1), high},                                             \
                       [RMA_CMP_LT] = {(TYPE)(low + 1), high, (TYPE)(low + 1), low},                                   \
                       [RMA_CMP_LE] = {low, high, (TYPE)(low + 1), low}};                                              \
        TYPE *word = (TYPE *)(void *)room->set + 1;                                                                    \
        int to = job_any(1);                                                                                           \
        for (int cmp = RMA_CMP_EQ; cmp <= RMA_CMP_LE; cmp++) {                                                         \
            const TYPE v = borders[cmp].value, still = borders[cmp].still, then = borders[cmp].then;                   \
            STORE(word, borders[cmp].before);                                                                          \
            meet_next();                                                                                               \
            OK(rma_atomic_set(word, still, to));                                                                       \
            OK(rma_p(&room->payload[0], turn, to));                                                                    \
            switch ((enum way)((turn + (uint64_t)cmp) % WAYS)) {                                                       \
                case P:                                                                                                \
                    OK(rma_fence());                                                                                   \
                    OK(rma_p(word, then, to));                                                                         \
                    break;                                                                                             \
                case ADD: OK(rma_atomic_add(word, (TYPE)(then - still), to)); break;                                   \
                case SWAP: CHECK(rma_atomic_swap(word, then, to) == still, TEXT ": swap"); break;                      \
                case COMPARE_SWAP:                                                                                     \
                    CHECK(rma_atomic_compare_swap(word, still, then, to) == still, TEXT ": compare_swap");             \
                    break;                                                                                             \
                case GPTR:                                                                                             \
                    if (sizeof(TYPE) == 8)                                                                             \
                        OK(rma_gptr_atomic_set(rma_gptr(word, to), (uint64_t)then));                                   \
                    else                                                                                               \
                        OK(rma_gptr_atomic_set_uint32(rma_gptr(word, to), (uint32_t)then));                            \
                    break;                                                                                             \
                default: OK(rma_atomic_set(word, then, to));                                                           \
            }                                                                                                          \
            OK(rma_quiet());                                                                                           \
            if (turn % 3)                                                                                              \
                OK(WAIT(word, cmp, v));                                                                                \
            else                                                                                                       \
                while (!TEST(word, cmp, v)) job_pause();                                                               \
            CHECK(rma_atomic_fetch(word, job.me) == then, TEXT ": comparison %d held too early", cmp);                 \
            CHECK(rma_g(&room->payload[0], job.me) == turn, TEXT ": what was put before is not there");                \
        }                                                                                                              \
    }
#define NAMED_WOKEN(NAME, TYPE)   WOKEN(woken_##NAME, TYPE, #NAME, rma_wait_until_##NAME, rma_test_##NAME)
#define GENERIC_WOKEN(NAME, TYPE) WOKEN(generic_woken_##NAME, TYPE, "generic, " #TYPE, rma_wait_until, rma_test)
DISTINCT(NAMED_WOKEN)
ALIASES(NAMED_WOKEN)
DISTINCT(GENERIC_WOKEN)
#define RUN_WOKEN(NAME, TYPE)         woken_##NAME();
#define RUN_GENERIC_WOKEN(NAME, TYPE) generic_woken_##NAME();

static void woken(void) {
    DISTINCT(RUN_WOKEN)
    ALIASES(RUN_WOKEN)
    DISTINCT(RUN_GENERIC_WOKEN)
    OK(rma_barrier_all());
}

/* ---- sets of words that all PEs change ---- */

enum form { ALL, ANY, SOME, TEST_ALL, TEST_ANY, TEST_SOME, FORMS };

static size_t any_form(enum form form, int vector, uint64_t *words, const int *status, const uint64_t *values) {
    size_t i;
    if (form == ANY)
        return vector ? rma_wait_until_any_vector(words, WORDS, status, RMA_CMP_GE, values)
                      : rma_wait_until_any(words, WORDS, status, RMA_CMP_NE, 0);
    while ((i = vector ? rma_test_any_vector(words, WORDS, status, RMA_CMP_GE, values)
                       : rma_test_any(words, WORDS, status, RMA_CMP_NE, 0)) == SIZE_MAX)
        job_pause();
    return i;
}

static size_t some_form(enum form form, int vector, uint64_t *words, size_t *indices, const int *status,
                        const uint64_t *values) {
    size_t n;
    if (form == SOME)
        return vector ? rma_wait_until_some_vector(words, WORDS, indices, status, RMA_CMP_GE, values)
                      : rma_wait_until_some(words, WORDS, indices, status, RMA_CMP_NE, 0);
    while ((n = vector ? rma_test_some_vector(words, WORDS, indices, status, RMA_CMP_GE, values)
                       : rma_test_some(words, WORDS, indices, status, RMA_CMP_NE, 0)) == 0)
        job_pause();
    return n;
}

static void all_form(enum form form, int vector, uint64_t *words, const int *status, const uint64_t *values) {
    if (form == ALL && vector) {
        OK(rma_wait_until_all_vector(words, WORDS, status, RMA_CMP_GE, values));
    } else if (form == ALL) {
        OK(rma_wait_until_all(words, WORDS, status, RMA_CMP_NE, 0));
    } else {
        while (!(vector ? rma_test_all_vector(words, WORDS, status, RMA_CMP_GE, values)
                        : rma_test_all(words, WORDS, status, RMA_CMP_NE, 0)))
            job_pause();
    }
}

/* Word i comes from PE i % n, in another order each time, after its payload; a third of the words are left out: of
 * `all` those that nobody writes, of the others such as fulfil the condition from the start. */
static void arrivals(enum form form, int vector, uint64_t round) {
    uint64_t *words = room->set, values[WORDS], draw = job_stream(round);
    int status[WORDS], left = 0, full = form == ALL || form == TEST_ALL;
    bool come[WORDS] = {false};
    size_t indices[WORDS];
    for (size_t i = 0; i < WORDS; i++) {
        values[i] = round * 100 + i; /* one less is put there first */
        status[i] = job_below(&draw, 3) == 0 ? 1 + (int)i : 0;
        left += !status[i];
        words[i] = status[i] && !full ? UINT64_MAX : 0;
    }
    OK(rma_barrier_all());
    for (int step = 0; step < job.n; step++) {
        int to = job_any(step);
        uint64_t order = job_stream(round << 8 | (uint64_t)to), first = job_below(&order, WORDS);
        for (size_t k = 0; k < WORDS; k++) {
            size_t i = (k + first) % WORDS;
            if (status[i] || (int)(i % (size_t)job.n) != job.me) continue;
            if (vector) OK(rma_atomic_set(&words[i], values[i] - 1, to));
            OK(rma_put(&room->payload[i], &values[i], 8, to));
            OK(rma_atomic_set(&words[i], values[i], to));
        }
        if (job_mix(round * JOB_PES_MAX + (uint64_t)job.me) % 8 == 0) job_sleep(500);
    }
    OK(rma_quiet());
    while (left > 0) {
        size_t n = 1;
        if (full) {
            all_form(form, vector, words, status, values);
            for (size_t i = n = 0; i < WORDS; i++)
                if (!status[i]) indices[n++] = i;
            CHECK((int)n == left, "all: %zu, not %d", n, left);
        } else if (form == ANY || form == TEST_ANY) {
            indices[0] = any_form(form, vector, words, status, values);
        } else {
            n = some_form(form, vector, words, indices, status, values);
        }
        CHECK(n >= 1 && (int)n <= left, "%zu of %d", n, left);
        for (size_t j = 0; j < n; j++) {
            size_t i = indices[j];
            CHECK(i < WORDS && !status[i] && !come[i], "index %zu of %zu: left out or twice", i, n);
            CHECK(j == 0 || full || indices[j - 1] < i, "the indices do not ascend");
            if (vector) CHECK(rma_atomic_fetch(&words[i], job.me) == values[i], "word %zu", i);
            CHECK(room->payload[i] == values[i], "the payload of word %zu", i);
            come[i] = true;
            status[i] = -1;
            left--;
        }
    }
    OK(rma_barrier_all());
}

static void sets(long n) {
    static const char *const names[FORMS] = {"all", "any", "some", "testing all", "testing any", "testing some"};
    for (long i = 0; i < n; i++)
        for (int form = 0; form < FORMS; form++) {
            DOING(names[form]);
            arrivals((enum form)form, (int)(i & 1), (uint64_t)(i * FORMS + form + 1));
        }
}

/* ---- of several words that hold, each is named some time ---- */

/* One of the calls that a loop makes in each round. */
struct asking {
    size_t first, n; /* words [first, first + n) */
    const int *status;
    uint64_t value;
};

static size_t name_any(enum form form, int vector, const struct asking *a) {
    uint64_t values[WORDS], *words = room->set + a->first;
    for (int i = 0; i < WORDS; i++) values[i] = a->value;
    if (form == ANY)
        return vector ? rma_wait_until_any_vector(words, a->n, a->status, RMA_CMP_EQ, values)
                      : rma_wait_until_any(words, a->n, a->status, RMA_CMP_EQ, a->value);
    return vector ? rma_test_any_vector(words, a->n, a->status, RMA_CMP_EQ, values)
                  : rma_test_any(words, a->n, a->status, RMA_CMP_EQ, a->value);
}

static int is_asked_for(const struct asking *a, size_t i) {
    return room->set[a->first + i] == a->value && !(a->status && a->status[i]);
}

#define ASKINGS_MOST WORDS
#define ROUNDS_MOST  3000 /* drawn by chance, one word of 24 is missed for so long once in 10^55 runs */

/* A loop that makes these n calls in turn comes to know each word for which its comparison holds. */
static void name_each(const char *what, const struct asking *askings, int n, enum form form, int vector) {
    int named[ASKINGS_MOST][WORDS] = {{0}}, missing = 0;
    for (int k = 0; k < n; k++)
        for (size_t i = 0; i < askings[k].n; i++) missing += is_asked_for(&askings[k], i);
    for (int round = 0; missing > 0; round++)
        for (int k = 0; k < n; k++) {
            size_t i = name_any(form, vector, &askings[k]);
            CHECK(i < askings[k].n && is_asked_for(&askings[k], i), "%s: index %zu does not hold", what, i);
            missing -= !named[k][i]++;
            CHECK(round < ROUNDS_MOST, "%s: after %d rounds %d words have not been named; call %d names word %zu", what,
                  round, missing, k, i);
        }
}

/* The words hold 1, 1, 2, 2 and so on, or are all 1. Calls that share something, such as the array, its length or what
 * the library keeps for both, must not keep each other from some words. */
static void fairness(void) {
    static const int low[4] = {0, 0, 1, 1}, high[4] = {1, 1, 0, 0}, gap[6] = {0, 0, 0, 1, 0, 0};
    const struct asking alone[] = {{.n = 6, .status = gap, .value = 1}},
                        status[] = {{.n = 4, .status = low, .value = 1}, {.n = 4, .status = high, .value = 1}},
                        values[] = {{.n = 4, .value = 1}, {.n = 4, .value = 2}},
                        lengths[] = {{.n = 4, .value = 1}, {.n = 2, .value = 1}, {.n = 24, .value = 1}},
                        thrice[] = {{.n = 3, .value = 1}, {.n = 3, .value = 1}, {.n = 3, .value = 1}};
    struct asking two[2], all[WORDS / 2];
    uint64_t *words = room->set;
    for (int f = 0; f < 4; f++) {
        const enum form form = f / 2 ? TEST_ANY : ANY;
        const int vector = f & 1;
        for (size_t i = 0; i < WORDS; i++) words[i] = 1 + i / 2 % 2;
        name_each("two values", values, 2, form, vector);
        for (size_t i = 0; i < WORDS; i++) words[i] = 1;
        name_each("one call", alone, 1, form, vector);
        name_each("two status arrays", status, 2, form, vector);
        name_each("three lengths", lengths, 3, form, vector);
        name_each("three calls for three words", thrice, 3, form, vector);
        for (size_t distance = 2; distance <= WORDS - 2; distance++) {
            for (size_t k = 0; k < 2; k++) two[k] = (struct asking){.first = k * distance, .n = 2, .value = 1};
            name_each("two arrays", two, 2, form, vector);
        }
        for (size_t k = 0; k < WORDS / 2; k++) all[k] = (struct asking){.first = 2 * k, .n = 2, .value = 1};
        name_each("twelve arrays", all, WORDS / 2, form, vector);
    }
    OK(rma_barrier_all());
}

/* ---- words in every kind of memory ---- */

static int64_t global;

static void places(void) {
    enum { HEAP, GLOBAL, LOCAL, GUEST, ATTACHED, PLACES };
    static const char *const names[PLACES] = {"the symmetric heap", "a global variable", "the local heap",
                                              "a guest's block", "attached memory"};
    rma_gptr_t(*named)[PLACES] = rma_calloc((size_t)job.n, sizeof *named), g[PLACES];
    int64_t *word[PLACES], *own = malloc(64), *alone;
    int to = job_any(1);
    CHECK(named && own, "%s", rma_last_error());
    OK(rma_alloc_mem(64, &alone));
    OK(rma_attach(own, 64, &g[ATTACHED]));
    OK(rma_alloc_mem_on(job.me, 64, &g[GUEST]));
    word[HEAP] = (int64_t *)(void *)room->set;
    word[GLOBAL] = &global;
    word[LOCAL] = alone + 3;
    word[GUEST] = rma_gptr_ptr(g[GUEST]);
    word[ATTACHED] = own + 1;
    g[ATTACHED] += 8;
    for (int place = HEAP; place <= LOCAL; place++) g[place] = rma_gptr(word[place], job.me);
    for (int pe = 0; pe < job.n; pe++) OK(rma_put(named[job.me], g, sizeof g, pe));
    OK(rma_barrier_all());
    for (int64_t i = 1; i <= job_far_rounds(200, 40, 20); i++)
        for (int place = 0; place < PLACES; place++) {
            DOING(names[place]);
            rma_gptr_t there = named[to][place];
            STORE(word[place], -i);
            meet_next();
            OK(rma_p(&room->payload[1], (uint64_t)i, to));
            switch (i % 4) {
                case 0: OK(rma_gptr_atomic_set_int64(there, i)); break;
                case 1:
                    CHECK(rma_gptr_atomic_fetch_add_int64(there, 2 * i) == -i, "the old value in %s", names[place]);
                    break;
                case 2: OK(rma_gptr_atomic_max_int64(there, i)); break;
                default:
                    if (place == HEAP || place == GLOBAL)
                        OK(rma_atomic_add(place == HEAP ? word[HEAP] : &global, 2 * i, to));
                    else
                        OK(rma_gptr_atomic_add_int64(there, 2 * i));
            }
            OK(rma_quiet());
            if (i & 1)
                OK(rma_wait_until(word[place], RMA_CMP_GT, i - 1));
            else
                CHECK(rma_wait_until_any(word[place], 1, NULL, RMA_CMP_EQ, i) == 0, "any of one");
            CHECK(rma_test(word[place], RMA_CMP_EQ, i) == 1, "the word in %s", names[place]);
            CHECK(rma_g(&room->payload[1], job.me) == (uint64_t)i, "put before the word in %s", names[place]);
        }
    OK(rma_barrier_all());
    OK(rma_detach(own));
    OK(rma_free_mem(alone));
    OK(rma_gptr_free(g[GUEST]));
    OK(rma_free(named));
    free(own);
}

/* ---- who waits serves ---- */

enum waiting { WAIT, WAIT_ALL, WAIT_ANY_VECTOR, WAIT_SOME, WAIT_SIGNAL, LOOP, LOOP_ALL, LOOP_SOME, WAITINGS };

static void wait_for(enum waiting how, uint64_t *word, uint64_t value) {
    size_t index;
    switch (how) {
        case WAIT: OK(rma_wait_until(word, RMA_CMP_EQ, value)); break;
        case WAIT_ALL: OK(rma_wait_until_all(word, 1, NULL, RMA_CMP_EQ, value)); break;
        case WAIT_ANY_VECTOR: CHECK(rma_wait_until_any_vector(word, 1, NULL, RMA_CMP_EQ, &value) == 0, "any"); break;
        case WAIT_SOME: CHECK(rma_wait_until_some(word, 1, &index, NULL, RMA_CMP_EQ, value) == 1, "some"); break;
        case WAIT_SIGNAL: CHECK(rma_signal_wait_until(word, RMA_CMP_GE, value) == value, "signal"); break;
        case LOOP:
            while (!rma_test(word, RMA_CMP_EQ, value)) job_pause();
            break;
        case LOOP_ALL:
            while (!rma_test_all(word, 1, NULL, RMA_CMP_EQ, value)) job_pause();
            break;
        default:
            while (!rma_test_some(word, 1, &index, NULL, RMA_CMP_EQ, value)) job_pause();
    }
}

/* PE `target` does nothing but wait. The others want things of it that it can do only if it serves them, and then let
 * it go. The thread that serves otherwise is off. */
static void serving(int target, enum waiting how) {
    unsigned char sent[6000], got[6000];
    long n = job_far_rounds(40, 10, 3);
    room->count = room->arrived = 0;
    OK(rma_barrier_all());
    if (job.me == target) {
        wait_for(how, &room->arrived, (uint64_t)job.n - 1);
        CHECK(rma_atomic_fetch(&room->count, job.me) == (uint64_t)(n * (job.n - 1)), "%llu atomics",
              (unsigned long long)room->count);
    } else {
        for (long i = 0; i < n; i++) {
            size_t len = (size_t)i % 2 ? 6000 : 500;
            job_fill(sent, 0, len, (uint64_t)(i + job.me));
            OK(rma_put(room->served[job.me], sent, len, target));
            rma_atomic_fetch_add(&room->count, (uint64_t)1, target);
            OK(rma_quiet());
            OK(rma_get(got, room->served[job.me], len, target));
            CHECK(memcmp(sent, got, len) == 0, "what was put has not come back");
        }
        OK(rma_atomic_add(&room->arrived, (uint64_t)1, target));
    }
    OK(rma_barrier_all());
}

/* ---- mistakes ---- */

#define REFUSED_SET(NAME, FORM, CODE, AT, N, CMP, VALUE, INDICES)                                                      \
    EXPECT("rma_wait_until_all" #FORM "_" #NAME, rma_wait_until_all##FORM##_##NAME(AT, N, NULL, CMP, VALUE), CODE,     \
           words, also);                                                                                               \
    EXPECT_ZERO("rma_test_all" #FORM "_" #NAME, rma_test_all##FORM##_##NAME(AT, N, NULL, CMP, VALUE), CODE, words,     \
                also);                                                                                                 \
    EXPECT_ZERO("rma_wait_until_any" #FORM "_" #NAME,                                                                  \
                rma_wait_until_any##FORM##_##NAME(AT, N, NULL, CMP, VALUE) != SIZE_MAX, CODE, words, also);            \
    EXPECT_ZERO("rma_test_any" #FORM "_" #NAME, rma_test_any##FORM##_##NAME(AT, N, NULL, CMP, VALUE) != SIZE_MAX,      \
                CODE, words, also);                                                                                    \
    EXPECT_ZERO("rma_wait_until_some" #FORM "_" #NAME,                                                                 \
                rma_wait_until_some##FORM##_##NAME(AT, N, INDICES, NULL, CMP, VALUE), CODE, words, also);              \
    EXPECT_ZERO("rma_test_some" #FORM "_" #NAME, rma_test_some##FORM##_##NAME(AT, N, INDICES, NULL, CMP, VALUE), CODE, \
                words, also);

/* The value is one that the word has not, else a single wait may be over before anybody looks where the word is. */
#define REFUSED(NAME, TYPE)                                                                                            \
    static void refused_##NAME(void *p, int cmp, size_t n, int code, const char *words, const char *also) {            \
        TYPE values[4] = {1, 1, 1, 1};                                                                                 \
        size_t indices[4] = {7, 7, 7, 7};                                                                              \
        if (n == 1) {                                                                                                  \
            EXPECT("rma_wait_until_" #NAME, rma_wait_until_##NAME(p, cmp, 1), code, words, also);                      \
            EXPECT_ZERO("rma_test_" #NAME, rma_test_##NAME(p, cmp, 1), code, words, also);                             \
        }                                                                                                              \
        REFUSED_SET(NAME, , code, p, n, cmp, 1, indices)                                                               \
        REFUSED_SET(NAME, _vector, code, p, n, cmp, values, indices)                                                   \
        CHECK(indices[0] == 7, "a refused call wrote an index");                                                       \
    }                                                                                                                  \
    static void nulls_##NAME(TYPE *p) {                                                                                \
        TYPE values[4] = {1, 1, 1, 1};                                                                                 \
        const TYPE *none = NULL;                                                                                       \
        size_t indices[4], *nowhere = NULL;                                                                            \
        const char *words = "values is a null pointer", *also = "";                                                    \
        REFUSED_SET(NAME, _vector, RMA_ERR_ARG, p, 3, RMA_CMP_EQ, none, indices)                                       \
        words = "indices is a null pointer";                                                                           \
        EXPECT_ZERO("rma_wait_until_some_" #NAME, rma_wait_until_some_##NAME(p, 3, nowhere, NULL, RMA_CMP_EQ, 0),      \
                    RMA_ERR_ARG, words);                                                                               \
        EXPECT_ZERO("rma_test_some_" #NAME, rma_test_some_##NAME(p, 3, nowhere, NULL, RMA_CMP_EQ, 0), RMA_ERR_ARG,     \
                    words);                                                                                            \
        EXPECT_ZERO("rma_wait_until_some_vector_" #NAME,                                                               \
                    rma_wait_until_some_vector_##NAME(p, 3, nowhere, NULL, RMA_CMP_EQ, values), RMA_ERR_ARG, words);   \
        EXPECT_ZERO("rma_test_some_vector_" #NAME,                                                                     \
                    rma_test_some_vector_##NAME(p, 3, nowhere, NULL, RMA_CMP_EQ, values), RMA_ERR_ARG, words);         \
    }
DISTINCT(REFUSED)
ALIASES(REFUSED)

#define RUN_REFUSED(NAME, TYPE)                                                                                        \
    for (size_t k = 0; k < sizeof cmps / sizeof cmps[0]; k++)                                                          \
        for (size_t n = 0; n < 3; n++)                                                                                 \
            refused_##NAME(room->set, cmps[k], n, RMA_ERR_ARG,                                                         \
                           job_text("cmp %d is no value of enum rma_cmp", cmps[k]), "");                               \
    refused_##NAME(NULL, RMA_CMP_EQ, 1, RMA_ERR_ARG, "is a null pointer", "ivar");                                     \
    for (size_t k = 1; k < sizeof(TYPE); k++)                                                                          \
        refused_##NAME((char *)room->set + k, RMA_CMP_EQ, 1, RMA_ERR_ADDRESS,                                          \
                       job_text("%p is not aligned to its %zu bytes", (void *)((char *)room->set + k), sizeof(TYPE)),  \
                       "ivar");                                                                                        \
    for (size_t k = 0; k < sizeof private / sizeof private[0]; k++)                                                    \
        refused_##NAME(private[k], RMA_CMP_EQ, 1, RMA_ERR_ADDRESS,                                                     \
                       job_text("%p with 1 word of %zu bytes", private[k], sizeof(TYPE)),                              \
                       "no memory of this PE that others reach");                                                      \
    for (size_t k = 0; k < sizeof many / sizeof many[0]; k++)                                                          \
        refused_##NAME(room->set, RMA_CMP_EQ, many[k], RMA_ERR_ADDRESS, job_text("with %zu words", many[k]), "ivars"); \
    nulls_##NAME((TYPE *)(void *)room->set);

static void mistakes(void) {
    const int cmps[] = {-1, 6, 99, INT_MAX, INT_MIN};
    /* Passing the end, by far and by so much that the product wraps around to something small. */
    const size_t many[] = {(size_t)1 << 40, SIZE_MAX, SIZE_MAX / 8 + 2, SIZE_MAX / 4 + 2, (size_t)1 << 63};
    _Alignas(8) uint64_t stack[2] = {0};
    uint64_t *heap = calloc(2, sizeof *heap), *gone = calloc(2, sizeof *gone);
    rma_gptr_t g;
    CHECK(heap && gone, "no memory");
    OK(rma_attach(gone, 16, &g));
    OK(rma_detach(gone));
    memset(room->set, 0, sizeof room->set);
    OK(rma_barrier_all());
    /* A peer's memory, at the address by which this PE reaches it, is not this PE's. */
    void *theirs = job.n_near > 1 ? rma_ptr(room->set, job_next(1)) : stack;
    void *const private[] = {stack, heap, gone, theirs};
    DISTINCT(RUN_REFUSED)
    ALIASES(RUN_REFUSED)
    EXPECT_ZERO("rma_signal_wait_until", rma_signal_wait_until(room->set, 6, 1), RMA_ERR_ARG, "cmp 6");
    EXPECT_ZERO("rma_signal_wait_until", rma_signal_wait_until(NULL, RMA_CMP_EQ, 1), RMA_ERR_ARG,
                "signal is a null pointer");
    EXPECT_ZERO("rma_signal_wait_until", rma_signal_wait_until(stack, RMA_CMP_EQ, 1), RMA_ERR_ADDRESS,
                job_text("signal %p", (void *)stack));
    EXPECT_ZERO("rma_signal_wait_until",
                rma_signal_wait_until((uint64_t *)(void *)((char *)room->set + 4), RMA_CMP_EQ, 1), RMA_ERR_ADDRESS,
                "signal", "not aligned");
    for (size_t i = 0; i < WORDS; i++) CHECK(room->set[i] == 0, "a refused call changed a word");
    OK(rma_barrier_all());
    free(heap);
    free(gone);
}

static void outside(void) {
    static int word;
    static uint64_t signal;
    size_t index;
    EXPECT("rma_wait_until_int", rma_wait_until(&word, RMA_CMP_EQ, 0), RMA_ERR_STATE, "");
    EXPECT_ZERO("rma_test_int", rma_test(&word, RMA_CMP_EQ, 0), RMA_ERR_STATE, "");
    EXPECT("rma_wait_until_all_int", rma_wait_until_all(&word, 1, NULL, RMA_CMP_EQ, 0), RMA_ERR_STATE, "");
    EXPECT_ZERO("rma_test_some_int", rma_test_some(&word, 1, &index, NULL, RMA_CMP_EQ, 0), RMA_ERR_STATE, "");
    EXPECT_ZERO("rma_wait_until_any_int", rma_wait_until_any(&word, 0, NULL, RMA_CMP_EQ, 0) != SIZE_MAX, RMA_ERR_STATE,
                "");
    EXPECT_ZERO("rma_signal_wait_until", rma_signal_wait_until(&signal, RMA_CMP_EQ, 0), RMA_ERR_STATE, "");
}

int main(void) {
    const char *size = getenv("PMI_SIZE");
    if (size && atoi(size) % 2) setenv("RMA_STATICS", "window", 1);
    job_begin();
    DOING("before rma_init");
    outside();
    OK(rma_init());
    job_look();
    room = rma_calloc(1, sizeof *room);
    CHECK(room != NULL, "%s", rma_last_error());
    DOING("every comparison");
    truth();
    OK(rma_barrier_all());
    DOING("fairness");
    fairness();
    DOING("every comparison, waiting");
    for (long i = 0; i < job_far_rounds(20, 4, 2); i++) woken();
    sets(job_far_rounds(200, 20, 6));
    places();
    DOING("serving while waiting");
    for (int thread = 0; thread < 2; thread++) {
        OK(rma_progress_thread(thread));
        for (int how = 0; how < WAITINGS; how++)
            for (int pe = 0; pe < job.n; pe++) serving(pe, (enum waiting)how);
    }
    DOING("mistakes");
    mistakes();
    OK(rma_free(room));
    DOING("ending");
    OK(rma_finalize());
    outside();
    return 0;
}
