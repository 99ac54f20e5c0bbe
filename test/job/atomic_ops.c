/* SPDX-License-Identifier: BSD-3-Clause */
/* Each operation of the header's tables, in each form, gives the documented value, wherever the word is.
 *
 * Broken by a mix-up of operations or types (signed for unsigned, float for its bits, 4 bytes for 8) on any way to a
 * word: inlined, by the library on this PE, by a thread of the owner, in a message, by MPI; by an old value that is not
 * the replaced one; by a form that ignores an argument; by an access wider than its word, on either side; by bad input
 * that is not refused, or not in the name of the call; and by a missing function that programs compiled with earlier
 * headers call. */
#include "job.h"

#include <float.h>
#include <math.h>

#define AREA      2048 /* bytes of each PE in each piece of memory */
#define PAIRS_MAX 100

/* Where the words are: by symmetric address and PE, or by global pointer. */
struct where {
    char *addr;
    rma_gptr_t g;
    int pe;
    bool slow;  /* each operation that fetches waits for another process */
    bool asked; /* and so does each of the others */
};

static _Alignas(64) char variable[JOB_PES_MAX][AREA];
static unsigned rotation; /* where only some of the pairs are tried, others each time */

static void put(const struct where *w, const void *image, size_t len) {
    OK(w->addr ? rma_put(w->addr, image, len, w->pe) : rma_gptr_put(w->g, image, len));
    OK(rma_quiet());
}

static void get(const struct where *w, void *image, size_t len) {
    OK(rma_quiet());
    OK(w->addr ? rma_get(image, w->addr, len, w->pe) : rma_gptr_get(image, w->g, len));
}

static size_t pairs_tried(const struct where *w, bool fetching, size_t all) {
    size_t few = w->asked ? 5 : fetching && w->slow ? 4 : all;
    rotation += 7;
    return few < all ? few : all;
}

/* ---- what is expected, written without the header's help ---- */

#define LOWEST(TYPE)  ((TYPE)-1 < (TYPE)1 ? (TYPE)((uint64_t)1 << (sizeof(TYPE) * 8 - 1)) : (TYPE)0)
#define HIGHEST(TYPE) ((TYPE)(~LOWEST(TYPE)))
#define INTEGER_SAMPLES(TYPE)                                                                                          \
    {                                                                                                                  \
        0, 1, (TYPE)-1, LOWEST(TYPE), HIGHEST(TYPE), (TYPE)0x5a5a0ff03c3c6996u,                                        \
            (TYPE)((uint64_t)1 << (sizeof(TYPE) * 4))                                                                  \
    }
#define FLOAT_SAMPLES(TYPE)                                                                                            \
    {                                                                                                                  \
        (TYPE)0, -(TYPE)0.0, (TYPE)1.5, (TYPE)-2.25, (TYPE)INFINITY, (TYPE)-INFINITY, (TYPE)NAN,                       \
            (TYPE)(sizeof(TYPE) == 4 ? (long double)FLT_MAX : (long double)DBL_MAX)                                    \
    }

/* What compare_swap compares with: the word, or something else in one bit, low or high. */
#define OTHER_INTEGER(TYPE, a, k)                                                                                      \
    (TYPE)((uint64_t)(a) ^ ((k)&1 ? 0 : (k)&2 ? 1 : (uint64_t)1 << (sizeof(TYPE) * 8 - 1)))
#define OTHER_FLOAT(TYPE, a, k)       (TYPE)0
#define WANT_keep(KIND, a, b)         (a)
#define WANT_put(KIND, a, b)          (b)
#define WANT_compare_swap(KIND, a, b) (other[k] == (a) ? (b) : (a))
#define WANT_add(KIND, a, b)          WANT_add_##KIND(a, b)
#define WANT_add_INTEGER(a, b)        ((uint64_t)(a) + (uint64_t)(b))
#define WANT_add_FLOAT(a, b)          ((a) + (b))
#define WANT_inc(KIND, a, b)          ((uint64_t)(a) + 1)
#define WANT_and(KIND, a, b)          ((a) & (b))
#define WANT_or(KIND, a, b)           ((a) | (b))
#define WANT_xor(KIND, a, b)          ((a) ^ (b))
#define WANT_min(KIND, a, b)          ((a) != (a) ? (b) : (b) < (a) ? (b) : (a)) /* nothing is less than a NaN */
#define WANT_max(KIND, a, b)          ((a) != (a) ? (b) : (b) > (a) ? (b) : (a))

/* The bits are the same, or both are a NaN. */
#define SAME(a, b) (memcmp(&(a), &(b), sizeof(a)) == 0 || ((a) != (a) && (b) != (b)))

/* ---- one type: its words and their guards ---- */

/* Words stand at odd places, guards at even ones: of the image in remote memory, and of the olds that come back. */
#define TYPE_HELP(NAME, TYPE, KIND)                                                                                    \
    struct trial_##NAME {                                                                                              \
        size_t n;                                                                                                      \
        TYPE old[PAIRS_MAX], value[PAIRS_MAX], other[PAIRS_MAX], want[PAIRS_MAX];                                      \
        TYPE image[2 * PAIRS_MAX + 1], got[2 * PAIRS_MAX + 1];                                                         \
    };                                                                                                                 \
    static void lay_##NAME(const struct where *w, struct trial_##NAME *t, bool fetching) {                             \
        static const TYPE samples[] = KIND##_SAMPLES(TYPE);                                                            \
        const size_t m = sizeof samples / sizeof *samples;                                                             \
        t->n = pairs_tried(w, fetching, m * m);                                                                        \
        memset(t->image, 0xa5, sizeof t->image);                                                                       \
        memset(t->got, 0x5a, sizeof t->got);                                                                           \
        for (size_t k = 0; k < t->n; k++) {                                                                            \
            size_t pair = (k + (t->n < m * m ? rotation : 0)) % (m * m);                                               \
            t->old[k] = t->image[2 * k + 1] = samples[pair / m];                                                       \
            t->value[k] = samples[pair % m];                                                                           \
        }                                                                                                              \
        put(w, t->image, (2 * t->n + 1) * sizeof *t->image);                                                           \
    }                                                                                                                  \
    static void verify_##NAME(const struct where *w, struct trial_##NAME *t, bool fetching, const char *what) {        \
        TYPE found[2 * PAIRS_MAX + 1], guard;                                                                          \
        memset(&guard, 0x5a, sizeof guard);                                                                            \
        get(w, found, (2 * t->n + 1) * sizeof *found);                                                                 \
        for (size_t k = 0; k < t->n; k++) {                                                                            \
            CHECK(SAME(found[2 * k + 1], t->want[k]), "%s on PE %d: %Lg with %Lg makes %Lg, not %Lg", what, w->pe,     \
                  (long double)t->old[k], (long double)t->value[k], (long double)found[2 * k + 1],                     \
                  (long double)t->want[k]);                                                                            \
            CHECK(!fetching || memcmp(&t->got[2 * k + 1], &t->old[k], sizeof guard) == 0,                              \
                  "%s on PE %d: the old value is %Lg, not %Lg", what, w->pe, (long double)t->got[2 * k + 1],           \
                  (long double)t->old[k]);                                                                             \
            found[2 * k + 1] = t->image[2 * k + 1];                                                                    \
        }                                                                                                              \
        CHECK(memcmp(found, t->image, (2 * t->n + 1) * sizeof *found) == 0, "%s on PE %d: a neighbour changed", what,  \
              w->pe);                                                                                                  \
        for (size_t k = 0; k <= t->n; k++)                                                                             \
            CHECK(memcmp(&t->got[2 * k], &guard, sizeof guard) == 0, "%s on PE %d: a neighbour of fetch changed",      \
                  what, w->pe);                                                                                        \
    }

#define INTEGER_HELP(NAME, TYPE) TYPE_HELP(NAME, TYPE, INTEGER)
#define FLOAT_HELP(NAME, TYPE)   TYPE_HELP(NAME, TYPE, FLOAT)
RMA_ATOMIC_TYPES(INTEGER_HELP)
RMA_ATOMIC_TYPE_ALIASES(INTEGER_HELP)
RMA_ATOMIC_FLOAT_TYPES(FLOAT_HELP)

/* ---- four families of calls ---- */

#define SYM_DO(OP, NAME, ...)     rma_atomic_##OP##_##NAME(__VA_ARGS__, w->pe)
#define GENERIC_DO(OP, NAME, ...) rma_atomic_##OP(__VA_ARGS__, w->pe)
#define GPTR_DO(OP, NAME, ...)    rma_gptr_atomic_##OP##_##NAME(__VA_ARGS__)
#define PLAIN_DO(OP, NAME, ...)   rma_gptr_atomic_##OP(__VA_ARGS__)
#define SYM_TEXT(OP, NAME)        "rma_atomic_" #OP "_" #NAME
#define GENERIC_TEXT(OP, NAME)    "rma_atomic_" #OP ", " #NAME
#define GPTR_TEXT(OP, NAME)       "rma_gptr_atomic_" #OP "_" #NAME
#define PLAIN_TEXT(OP, NAME)      "rma_gptr_atomic_" #OP
#define SYM_AT(TYPE, i)           ((TYPE *)(void *)w->addr + (i))
#define GENERIC_AT(TYPE, i)       SYM_AT(TYPE, i)
#define GPTR_AT(TYPE, i)          (w->g + (i) * sizeof(TYPE))
#define PLAIN_AT(TYPE, i)         GPTR_AT(TYPE, i)
#define SYM_SOURCE(TYPE, i)       ((const TYPE *)(void *)w->addr + (i))
#define GENERIC_SOURCE(TYPE, i)   SYM_SOURCE(TYPE, i)
#define GPTR_SOURCE(TYPE, i)      GPTR_AT(TYPE, i)
#define PLAIN_SOURCE(TYPE, i)     GPTR_AT(TYPE, i)

/* The generic macros expand the header's tables, and so do not work in what those tables are expanded to: here the
 * types once more. One that is missing is missed by its number. */
#define GENERIC_INTEGERS(X)                                                                                            \
    X(int, int)                                                                                                        \
    X(uint, unsigned int) X(long, long) X(ulong, unsigned long) X(llong, long long) X(ullong, unsigned long long)
#define GENERIC_FLOATS(X)    X(float, float) X(double, double)
#define ONE_MORE(NAME, TYPE) +1
_Static_assert((GENERIC_INTEGERS(ONE_MORE)) == (RMA_ATOMIC_TYPES(ONE_MORE)), "the types of RMA_ATOMIC_TYPES");
_Static_assert((GENERIC_FLOATS(ONE_MORE)) == (RMA_ATOMIC_FLOAT_TYPES(ONE_MORE)), "the types of RMA_ATOMIC_FLOAT_TYPES");

/* ---- values ---- */

#define TRIAL(NAME, TYPE, KIND, WANT, WHAT, FETCHING, CALL)                                                            \
    lay_##NAME(w, t, (FETCHING) == NOW);                                                                               \
    for (size_t k = 0; k < t->n; k++) {                                                                                \
        TYPE *const other = t->other;                                                                                  \
        other[k] = OTHER_##KIND(TYPE, t->old[k], k);                                                                   \
        t->want[k] = (TYPE)(WANT(KIND, t->old[k], t->value[k]));                                                       \
    }                                                                                                                  \
    for (size_t k = 0; k < t->n; k++) CALL;                                                                            \
    verify_##NAME(w, t, (FETCHING) != NOTHING, WHAT);
#define OLD           t->got[2 * k + 1]
#define WORD(F, TYPE) F##_AT(TYPE, 2 * k + 1)
#define FROM(F, TYPE) F##_SOURCE(TYPE, 2 * k + 1)

/* What a call gives back: nothing, the old value when it returns, or later. Only the second waits for another node each
 * time. */
#define NOTHING 0
#define NOW     1
#define LATER   2

#define UPDATE(F, NAME, TYPE, KIND, OP)                                                                                \
    TRIAL(NAME, TYPE, KIND, WANT_##OP, F##_TEXT(OP, NAME), NOTHING, OK(F##_DO(OP, NAME, WORD(F, TYPE), t->value[k])))  \
    TRIAL(NAME, TYPE, KIND, WANT_##OP, F##_TEXT(fetch_##OP, NAME), NOW,                                                \
          OLD = F##_DO(fetch_##OP, NAME, WORD(F, TYPE), t->value[k]))                                                  \
    TRIAL(NAME, TYPE, KIND, WANT_##OP, F##_TEXT(fetch_##OP##_nbi, NAME), LATER,                                        \
          OK(F##_DO(fetch_##OP##_nbi, NAME, &OLD, WORD(F, TYPE), t->value[k])))

#define NUMBER_OPS(F, NAME, TYPE, KIND)                                                                                \
    TRIAL(NAME, TYPE, KIND, WANT_keep, F##_TEXT(fetch, NAME), NOW, OLD = F##_DO(fetch, NAME, FROM(F, TYPE)))           \
    TRIAL(NAME, TYPE, KIND, WANT_keep, F##_TEXT(fetch_nbi, NAME), LATER,                                               \
          OK(F##_DO(fetch_nbi, NAME, &OLD, FROM(F, TYPE))))                                                            \
    TRIAL(NAME, TYPE, KIND, WANT_put, F##_TEXT(set, NAME), NOTHING, OK(F##_DO(set, NAME, WORD(F, TYPE), t->value[k]))) \
    TRIAL(NAME, TYPE, KIND, WANT_put, F##_TEXT(swap, NAME), NOW, OLD = F##_DO(swap, NAME, WORD(F, TYPE), t->value[k])) \
    TRIAL(NAME, TYPE, KIND, WANT_put, F##_TEXT(swap_nbi, NAME), LATER,                                                 \
          OK(F##_DO(swap_nbi, NAME, &OLD, WORD(F, TYPE), t->value[k])))                                                \
    UPDATE(F, NAME, TYPE, KIND, add)                                                                                   \
    UPDATE(F, NAME, TYPE, KIND, min)                                                                                   \
    UPDATE(F, NAME, TYPE, KIND, max)

#define INTEGER_OPS(F, NAME, TYPE, KIND)                                                                               \
    NUMBER_OPS(F, NAME, TYPE, KIND)                                                                                    \
    TRIAL(NAME, TYPE, KIND, WANT_compare_swap, F##_TEXT(compare_swap, NAME), NOW,                                      \
          OLD = F##_DO(compare_swap, NAME, WORD(F, TYPE), t->other[k], t->value[k]))                                   \
    TRIAL(NAME, TYPE, KIND, WANT_compare_swap, F##_TEXT(compare_swap_nbi, NAME), LATER,                                \
          OK(F##_DO(compare_swap_nbi, NAME, &OLD, WORD(F, TYPE), t->other[k], t->value[k])))                           \
    TRIAL(NAME, TYPE, KIND, WANT_inc, F##_TEXT(inc, NAME), NOTHING, OK(F##_DO(inc, NAME, WORD(F, TYPE))))              \
    TRIAL(NAME, TYPE, KIND, WANT_inc, F##_TEXT(fetch_inc, NAME), NOW, OLD = F##_DO(fetch_inc, NAME, WORD(F, TYPE)))    \
    TRIAL(NAME, TYPE, KIND, WANT_inc, F##_TEXT(fetch_inc_nbi, NAME), LATER,                                            \
          OK(F##_DO(fetch_inc_nbi, NAME, &OLD, WORD(F, TYPE))))                                                        \
    UPDATE(F, NAME, TYPE, KIND, and)                                                                                   \
    UPDATE(F, NAME, TYPE, KIND, or)                                                                                    \
    UPDATE(F, NAME, TYPE, KIND, xor)

#define VALUES(F, NAME, TYPE, OPS, KIND)                                                                               \
    static void values_##F##_##NAME(const struct where *w) {                                                           \
        static struct trial_##NAME trial, *t = &trial;                                                                 \
        OPS(F, NAME, TYPE, KIND)                                                                                       \
    }
#define SYM_INTEGER(NAME, TYPE)     VALUES(SYM, NAME, TYPE, INTEGER_OPS, INTEGER)
#define SYM_FLOAT(NAME, TYPE)       VALUES(SYM, NAME, TYPE, NUMBER_OPS, FLOAT)
#define GENERIC_INTEGER(NAME, TYPE) VALUES(GENERIC, NAME, TYPE, INTEGER_OPS, INTEGER)
#define GENERIC_FLOAT(NAME, TYPE)   VALUES(GENERIC, NAME, TYPE, NUMBER_OPS, FLOAT)
#define GPTR_INTEGER(NAME, TYPE)    VALUES(GPTR, NAME, TYPE, INTEGER_OPS, INTEGER)
#define GPTR_FLOAT(NAME, TYPE)      VALUES(GPTR, NAME, TYPE, NUMBER_OPS, FLOAT)
RMA_ATOMIC_TYPES(SYM_INTEGER)
RMA_ATOMIC_TYPE_ALIASES(SYM_INTEGER)
RMA_ATOMIC_FLOAT_TYPES(SYM_FLOAT)
GENERIC_INTEGERS(GENERIC_INTEGER)
GENERIC_FLOATS(GENERIC_FLOAT)
RMA_GPTR_ATOMIC_TYPES(GPTR_INTEGER)
RMA_ATOMIC_FLOAT_TYPES(GPTR_FLOAT)
VALUES(PLAIN, uint64, uint64_t, INTEGER_OPS, INTEGER)

/* The generic front gives back what the type of the word says, also of a const one. */
#define RESULT(NAME, TYPE)                                                                                             \
    _Static_assert(_Generic(rma_atomic_fetch((const TYPE *)0, 0), TYPE : 1, default : 0), "fetch of " #TYPE);          \
    _Static_assert(_Generic(rma_atomic_swap((TYPE *)0, 0, 0), TYPE : 1, default : 0), "swap of " #TYPE);               \
    _Static_assert(_Generic(rma_atomic_fetch_add((TYPE *)0, 0, 0), TYPE : 1, default : 0), "fetch_add of " #TYPE);     \
    _Static_assert(_Generic(rma_atomic_fetch_max((TYPE *)0, 0, 0), TYPE : 1, default : 0), "fetch_max of " #TYPE);
GENERIC_INTEGERS(RESULT)
GENERIC_FLOATS(RESULT)

static void values(const struct where *w) {
#define RUN_SYM(NAME, TYPE)     values_SYM_##NAME(w);
#define RUN_GENERIC(NAME, TYPE) values_GENERIC_##NAME(w);
#define RUN_GPTR(NAME, TYPE)    values_GPTR_##NAME(w);
    if (w->addr) {
        RMA_ATOMIC_TYPES(RUN_SYM)
        RMA_ATOMIC_TYPE_ALIASES(RUN_SYM)
        RMA_ATOMIC_FLOAT_TYPES(RUN_SYM)
        GENERIC_INTEGERS(RUN_GENERIC)
        GENERIC_FLOATS(RUN_GENERIC)
    } else {
        RMA_GPTR_ATOMIC_TYPES(RUN_GPTR)
        RMA_ATOMIC_FLOAT_TYPES(RUN_GPTR)
        values_PLAIN_uint64(w);
    }
}

/* ---- mistakes ---- */

/* Each call on the word at w is refused: with its own code if it is only fetch that is null, else all of them. */
#define R_VALUE(F, NAME, OP, ...) EXPECT_ZERO(F##_TEXT(OP, NAME), F##_DO(OP, NAME, __VA_ARGS__) != 0, code, words);
#define R_CODE(F, NAME, OP, ...)  EXPECT(F##_TEXT(OP, NAME), F##_DO(OP, NAME, __VA_ARGS__), code, words);
#define R_LATER(F, NAME, TYPE, OP, ...)                                                                                \
    memset(&kept, 0x77, sizeof kept);                                                                                  \
    if (no_fetch)                                                                                                      \
        EXPECT(F##_TEXT(OP, NAME), F##_DO(OP, NAME, NULL, __VA_ARGS__), RMA_ERR_ARG, "fetch is a null pointer");       \
    else                                                                                                               \
        R_CODE(F, NAME, OP, &kept, __VA_ARGS__)                                                                        \
    CHECK(memcmp(&kept, &before, sizeof kept) == 0, F##_TEXT(OP, NAME) " wrote an old value all the same");
#define R_UPDATE(F, NAME, TYPE, OP)                                                                                    \
    if (!no_fetch) {                                                                                                   \
        R_CODE(F, NAME, OP, F##_AT(TYPE, 0), 1)                                                                        \
        R_VALUE(F, NAME, fetch_##OP, F##_AT(TYPE, 0), 1)                                                               \
    }                                                                                                                  \
    R_LATER(F, NAME, TYPE, fetch_##OP##_nbi, F##_AT(TYPE, 0), 1)
#define R_NUMBER(F, NAME, TYPE)                                                                                        \
    if (!no_fetch) {                                                                                                   \
        R_VALUE(F, NAME, fetch, F##_AT(TYPE, 0))                                                                       \
        R_CODE(F, NAME, set, F##_AT(TYPE, 0), 1)                                                                       \
        R_VALUE(F, NAME, swap, F##_AT(TYPE, 0), 1)                                                                     \
    }                                                                                                                  \
    R_LATER(F, NAME, TYPE, fetch_nbi, F##_AT(TYPE, 0))                                                                 \
    R_LATER(F, NAME, TYPE, swap_nbi, F##_AT(TYPE, 0), 1)                                                               \
    R_UPDATE(F, NAME, TYPE, add)                                                                                       \
    R_UPDATE(F, NAME, TYPE, min)                                                                                       \
    R_UPDATE(F, NAME, TYPE, max)
#define R_INTEGER(F, NAME, TYPE)                                                                                       \
    R_NUMBER(F, NAME, TYPE)                                                                                            \
    if (!no_fetch) {                                                                                                   \
        R_VALUE(F, NAME, compare_swap, F##_AT(TYPE, 0), 0, 1)                                                          \
        R_CODE(F, NAME, inc, F##_AT(TYPE, 0))                                                                          \
        R_VALUE(F, NAME, fetch_inc, F##_AT(TYPE, 0))                                                                   \
    }                                                                                                                  \
    R_LATER(F, NAME, TYPE, compare_swap_nbi, F##_AT(TYPE, 0), 0, 1)                                                    \
    R_LATER(F, NAME, TYPE, fetch_inc_nbi, F##_AT(TYPE, 0))                                                             \
    R_UPDATE(F, NAME, TYPE, and)                                                                                       \
    R_UPDATE(F, NAME, TYPE, or)                                                                                        \
    R_UPDATE(F, NAME, TYPE, xor)

#define REFUSED(F, NAME, TYPE, CALLS)                                                                                  \
    static void refused_##F##_##NAME(const struct where *w, int code, const char *words, bool no_fetch) {              \
        TYPE kept, before;                                                                                             \
        memset(&before, 0x77, sizeof before);                                                                          \
        CALLS(F, NAME, TYPE)                                                                                           \
    }
#define SYM_INTEGER_REFUSED(NAME, TYPE)  REFUSED(SYM, NAME, TYPE, R_INTEGER)
#define SYM_FLOAT_REFUSED(NAME, TYPE)    REFUSED(SYM, NAME, TYPE, R_NUMBER)
#define GPTR_INTEGER_REFUSED(NAME, TYPE) REFUSED(GPTR, NAME, TYPE, R_INTEGER)
#define GPTR_FLOAT_REFUSED(NAME, TYPE)   REFUSED(GPTR, NAME, TYPE, R_NUMBER)
RMA_ATOMIC_TYPES(SYM_INTEGER_REFUSED)
RMA_ATOMIC_TYPE_ALIASES(SYM_INTEGER_REFUSED)
RMA_ATOMIC_FLOAT_TYPES(SYM_FLOAT_REFUSED)
RMA_GPTR_ATOMIC_TYPES(GPTR_INTEGER_REFUSED)
RMA_ATOMIC_FLOAT_TYPES(GPTR_FLOAT_REFUSED)
REFUSED(PLAIN, uint64, uint64_t, R_INTEGER)

/* All of them, or only those of words of `size` bytes. */
static void refused(const struct where *w, size_t size, int code, const char *words, bool no_fetch) {
#define REFUSE(F, NAME, TYPE)                                                                                          \
    if (!size || size == sizeof(TYPE)) refused_##F##_##NAME(w, code, words, no_fetch);
#define REFUSE_SYM(NAME, TYPE)  REFUSE(SYM, NAME, TYPE)
#define REFUSE_GPTR(NAME, TYPE) REFUSE(GPTR, NAME, TYPE)
    if (w->addr) {
        RMA_ATOMIC_TYPES(REFUSE_SYM)
        RMA_ATOMIC_TYPE_ALIASES(REFUSE_SYM)
        RMA_ATOMIC_FLOAT_TYPES(REFUSE_SYM)
    } else {
        RMA_GPTR_ATOMIC_TYPES(REFUSE_GPTR)
        RMA_ATOMIC_FLOAT_TYPES(REFUSE_GPTR)
        REFUSE(PLAIN, uint64, uint64_t)
    }
}

static void unaligned(struct where w) {
    const struct where at = w;
    for (size_t k = 1; k < 8; k += k == 2 ? 2 : 1) {
        if (w.addr)
            w.addr = at.addr + k;
        else
            w.g = at.g + k;
        if (k < 4)
            refused(&w, 4, RMA_ERR_ADDRESS, w.addr ? "is not aligned to its 4 bytes" : "is not aligned to 4 bytes",
                    false);
        refused(&w, 8, RMA_ERR_ADDRESS, w.addr ? "is not aligned to its 8 bytes" : "is not aligned to 8 bytes", false);
    }
}

/* Nothing of it may have any effect. */
static void untouched(const struct where *w) {
    static unsigned char found[AREA], zero[AREA];
    get(w, found, AREA);
    CHECK(memcmp(found, zero, AREA) == 0, "PE %d's memory: a refused call wrote", w->pe);
}

static void mistakes_on(const struct where *w, bool inlined) {
    static const unsigned char zero[AREA];
    put(w, zero, AREA);
    unaligned(*w);
    if (!inlined) refused(w, 0, RMA_SUCCESS, "", true);
    untouched(w);
}

static void mistakes(char *block, rma_gptr_t local, rma_gptr_t const *stale) {
    const rma_gptr_t offset = ((rma_gptr_t)1 << 40) - 1, own = rma_gptr(block, job.me);
    char *outside = malloc(64);
    struct where w = {.pe = job.me, .addr = outside};
    const int wrong[] = {-1, job.n, INT_MAX, INT_MIN, 1 << 24};
    CHECK(outside != NULL, "no memory");
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        w = (struct where){.addr = block, .pe = wrong[k]};
        refused(&w, 0, RMA_ERR_PE, job_text("PE %d is outside 0..%d", wrong[k], job.n - 1), false);
    }
    w = (struct where){.g = (own & offset) | (rma_gptr_t)job.n << 40};
    refused(&w, 0, RMA_ERR_PE, job_text("PE %d, outside 0..%d", job.n, job.n - 1), false);
    w.g = RMA_GPTR_NULL;
    refused(&w, 0, RMA_ERR_ADDRESS, "the global pointer target is null", false);
    for (int pe = 0; pe < job.n; pe++) {
        w = (struct where){.addr = outside, .pe = pe};
        refused(&w, 0, RMA_ERR_ADDRESS, job_text("target %p", (void *)outside), false);
        w = (struct where){.g = (local & offset & ~(rma_gptr_t)7) + ((rma_gptr_t)1 << 36), .pe = pe};
        w.g |= (rma_gptr_t)pe << 40;
        refused(&w, 0, RMA_ERR_ADDRESS, job_text("outside the heaps of PE %d", pe), false);
        w.g = stale[pe];
        refused(&w, 0, RMA_ERR_ADDRESS, job_text("in no region that PE %d has attached", pe), false);
    }
    free(outside);
}

/* ---- all places on all PEs ---- */

enum piece { LOCAL, GUEST, ATTACHED, STALE, PIECES };

int main(void) {
    char *block, *local, *theirs;
    rma_gptr_t mine[PIECES], *peers, stale[JOB_PES_MAX];
    size_t size;

    job_start();
    size = (size_t)job.n * AREA;
    block = rma_calloc((size_t)job.n, AREA);
    peers = rma_calloc((size_t)job.n, sizeof mine);
    theirs = aligned_alloc(64, 2 * size);
    CHECK(block && peers && theirs, "%s", rma_last_error());
    OK(rma_alloc_mem(size, &local));
    mine[LOCAL] = rma_gptr(local, job.me);
    OK(rma_alloc_mem_on(job.me, size, &mine[GUEST]));
    OK(rma_attach(theirs, size, &mine[ATTACHED]));
    OK(rma_attach(theirs + size, size, &mine[STALE]));
    OK(rma_detach(theirs + size));
    for (int pe = 0; pe < job.n; pe++) OK(rma_put(peers + job.me * PIECES, mine, sizeof mine, pe));
    OK(rma_barrier_all());

    for (int step = 0; step < job.n; step++) {
        int pe = job_any(step);
        const rma_gptr_t *p = peers + pe * PIECES, area = (rma_gptr_t)(AREA * job.me);
        bool far = !rma_on_node(pe);
        const struct where heap = {.addr = block + area, .pe = pe, .slow = far},
                           variables = {.addr = variable[job.me], .pe = pe, .slow = far},
                           heap_named = {.g = rma_gptr(heap.addr, pe), .pe = pe, .slow = far},
                           variables_named = {.g = rma_gptr(variable[job.me], pe), .pe = pe, .slow = far},
                           in_local = {.g = p[LOCAL] + area, .pe = pe, .slow = far},
                           in_guest = {.g = p[GUEST] + area, .pe = pe, .slow = far},
                           attached = {
                               .g = p[ATTACHED] + area, .pe = pe, .slow = far || pe != job.me, .asked = pe != job.me};
        DOING("values, in the symmetric heap");
        values(&heap);
        values(&heap_named);
        DOING("values, in variables");
        values(&variables);
        values(&variables_named);
        DOING("values, in a local heap");
        values(&in_local);
        values(&in_guest);
        DOING("values, in attached memory");
        values(&attached);
        DOING("mistakes, in the symmetric heap");
        mistakes_on(&heap, !far);
        mistakes_on(&heap_named, !far);
        DOING("mistakes, in variables");
        mistakes_on(&variables, false);
        mistakes_on(&variables_named, false);
        DOING("mistakes, in a local heap");
        mistakes_on(&in_local, !far);
        mistakes_on(&in_guest, !far);
        DOING("mistakes, in attached memory");
        mistakes_on(&attached, false);
        stale[pe] = p[STALE];
    }
    DOING("mistakes");
    mistakes(block, mine[LOCAL], stale);

    DOING("giving back");
    OK(rma_barrier_all());
    OK(rma_detach(theirs));
    free(theirs);
    OK(rma_free_mem(local));
    OK(rma_gptr_free(mine[GUEST]));
    OK(rma_free(peers));
    OK(rma_free(block));
    return job_end();
}
