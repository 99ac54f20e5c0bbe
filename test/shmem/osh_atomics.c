/* SPDX-License-Identifier: BSD-3-Clause */
/* Each atomic of each type, with and without a context, under its current and its deprecated name, updates the word of
 * the right PE correctly, returns the old value, and loses nothing when all PEs update one word.
 *
 * Broken by a row of the table with another operation or another type's function, by an old value of the wrong width,
 * by a nonblocking form that is not complete after quiet. */
#include "osh.h"

static shmem_ctx_t ctx; /* its team's PE i is PE n - 1 - i of the job */

static int turned(int pe) { return n - 1 - pe; }

#define IS(what, value, want)                                                                                          \
    CHECK((value) == (want), "%s: %lld, not %lld", what, (long long)(value), (long long)(want))

/* The word of the next PE belongs to this one until the barrier. -3 is all ones in its upper bits, if TYPE has a sign.
 */
#define FORMS(NAME, TYPE, word, PRE, SHMEM, CTX, pe)                                                                   \
    do {                                                                                                               \
        TYPE old = 99;                                                                                                 \
        SHMEM##_atomic_set(CTX word, (TYPE)-3, pe);                                                                    \
        IS(PRE #NAME "_atomic_fetch", SHMEM##_atomic_fetch(CTX word, pe), (TYPE)-3);                                   \
        IS(PRE #NAME "_atomic_swap", SHMEM##_atomic_swap(CTX word, (TYPE)11, pe), (TYPE)-3);                           \
        SHMEM##_atomic_fetch_nbi(CTX &old, word, pe);                                                                  \
        quiet_all();                                                                                                   \
        IS(PRE #NAME "_atomic_fetch_nbi", old, (TYPE)11);                                                              \
        SHMEM##_atomic_swap_nbi(CTX &old, word, (TYPE)12, pe);                                                         \
        quiet_all();                                                                                                   \
        IS(PRE #NAME "_atomic_swap_nbi", old, (TYPE)11);                                                               \
        IS(PRE #NAME "_atomic_swap_nbi's value", SHMEM##_atomic_fetch(CTX word, pe), (TYPE)12);                        \
    } while (0)
#define COUNTS(NAME, TYPE, word, PRE, SHMEM, CTX, pe)                                                                  \
    do {                                                                                                               \
        TYPE old = 99;                                                                                                 \
        SHMEM##_atomic_set(CTX word, (TYPE)12, pe);                                                                    \
        IS(PRE #NAME "_atomic_compare_swap", SHMEM##_atomic_compare_swap(CTX word, (TYPE)13, (TYPE)1, pe), (TYPE)12);  \
        IS(PRE #NAME "_atomic_compare_swap", SHMEM##_atomic_compare_swap(CTX word, (TYPE)12, (TYPE)14, pe), (TYPE)12); \
        SHMEM##_atomic_compare_swap_nbi(CTX &old, word, (TYPE)14, (TYPE)15, pe);                                       \
        quiet_all();                                                                                                   \
        IS(PRE #NAME "_atomic_compare_swap_nbi", old, (TYPE)14);                                                       \
        SHMEM##_atomic_inc(CTX word, pe);                                                                              \
        IS(PRE #NAME "_atomic_fetch_inc", SHMEM##_atomic_fetch_inc(CTX word, pe), (TYPE)16);                           \
        SHMEM##_atomic_fetch_inc_nbi(CTX &old, word, pe);                                                              \
        quiet_all();                                                                                                   \
        IS(PRE #NAME "_atomic_fetch_inc_nbi", old, (TYPE)17);                                                          \
        SHMEM##_atomic_add(CTX word, (TYPE)-20, pe);                                                                   \
        IS(PRE #NAME "_atomic_fetch_add", SHMEM##_atomic_fetch_add(CTX word, (TYPE)5, pe), (TYPE)-2);                  \
        SHMEM##_atomic_fetch_add_nbi(CTX &old, word, (TYPE)7, pe);                                                     \
        quiet_all();                                                                                                   \
        IS(PRE #NAME "_atomic_fetch_add_nbi", old, (TYPE)3);                                                           \
        IS(PRE #NAME "_atomic_fetch_add_nbi's sum", SHMEM##_atomic_fetch(CTX word, pe), (TYPE)10);                     \
    } while (0)
#define BITS(NAME, TYPE, word, PRE, SHMEM, CTX, pe)                                                                    \
    do {                                                                                                               \
        TYPE old = 99;                                                                                                 \
        SHMEM##_atomic_set(CTX word, (TYPE)0xff, pe);                                                                  \
        SHMEM##_atomic_and(CTX word, (TYPE)0x3c, pe);                                                                  \
        IS(PRE #NAME "_atomic_fetch_and", SHMEM##_atomic_fetch_and(CTX word, (TYPE)0x1f, pe), (TYPE)0x3c);             \
        SHMEM##_atomic_fetch_and_nbi(CTX &old, word, (TYPE)0x0c, pe);                                                  \
        quiet_all();                                                                                                   \
        IS(PRE #NAME "_atomic_fetch_and_nbi", old, (TYPE)0x1c);                                                        \
        SHMEM##_atomic_or(CTX word, (TYPE)0x41, pe);                                                                   \
        IS(PRE #NAME "_atomic_fetch_or", SHMEM##_atomic_fetch_or(CTX word, (TYPE)0x80, pe), (TYPE)0x4d);               \
        SHMEM##_atomic_fetch_or_nbi(CTX &old, word, (TYPE)0x02, pe);                                                   \
        quiet_all();                                                                                                   \
        IS(PRE #NAME "_atomic_fetch_or_nbi", old, (TYPE)0xcd);                                                         \
        SHMEM##_atomic_xor(CTX word, (TYPE)0x0f, pe);                                                                  \
        IS(PRE #NAME "_atomic_fetch_xor", SHMEM##_atomic_fetch_xor(CTX word, (TYPE)0xf0, pe), (TYPE)0xc0);             \
        SHMEM##_atomic_fetch_xor_nbi(CTX &old, word, (TYPE)0x33, pe);                                                  \
        quiet_all();                                                                                                   \
        IS(PRE #NAME "_atomic_fetch_xor_nbi", old, (TYPE)0x30);                                                        \
        IS(PRE #NAME "_atomic_fetch_xor_nbi's value", SHMEM##_atomic_fetch(CTX word, pe), (TYPE)0x03);                 \
    } while (0)

static void quiet_all(void) {
    shmem_quiet();
    shmem_ctx_quiet(ctx);
}

#define WITH_CTX ctx,
#define BOTH(GROUP, NAME, TYPE, word)                                                                                  \
    GROUP(NAME, TYPE, word, "shmem_", shmem_##NAME, , next());                                                         \
    GROUP(NAME, TYPE, word, "shmem_ctx_", shmem_ctx_##NAME, WITH_CTX, turned(next()))

#define NUMBERS(A, NAME, TYPE, RNAME)                                                                                  \
    static TYPE NAME##_word;                                                                                           \
    static void forms_##NAME(TYPE *word) {                                                                             \
        DOING(#NAME);                                                                                                  \
        BOTH(FORMS, NAME, TYPE, word);                                                                                 \
    }
SHMEM_ATOMIC_TYPES_(NUMBERS, )
SHMEM_ATOMIC_REALS_(NUMBERS, )

#define INTEGERS(A, NAME, TYPE, RNAME)                                                                                 \
    static void counts_##NAME(TYPE *word) { BOTH(COUNTS, NAME, TYPE, word); }                                          \
    static void totals_##NAME(TYPE *word) {                                                                            \
        if (me == 0) *word = 0;                                                                                        \
        shmem_barrier_all();                                                                                           \
        for (int i = 0; i < 100; i++) {                                                                                \
            shmem_##NAME##_atomic_inc(word, 0);                                                                        \
            shmem_##NAME##_atomic_fetch_add(word, 2, 0);                                                               \
            shmem_ctx_##NAME##_atomic_add(ctx, word, 4, turned(0));                                                    \
        }                                                                                                              \
        shmem_ctx_quiet(ctx);                                                                                          \
        shmem_barrier_all();                                                                                           \
        if (me == 0) IS(#NAME ": the total", *word, (TYPE)(700 * n));                                                  \
        shmem_barrier_all();                                                                                           \
    }
SHMEM_ATOMIC_TYPES_(INTEGERS, )

#define BITWISE(A, NAME, TYPE, RNAME)                                                                                  \
    static void bits_##NAME(TYPE *word) { BOTH(BITS, NAME, TYPE, word); }
SHMEM_ATOMIC_BIT_TYPES_(BITWISE, )

/* Deprecated names. */
#define OLD_FORMS(NAME, TYPE)                                                                                          \
    DOING("deprecated: " #NAME);                                                                                       \
    shmem_##NAME##_set(&NAME##_word, 5, next());                                                                       \
    IS(#NAME "_fetch", shmem_##NAME##_fetch(&NAME##_word, next()), (TYPE)5);                                           \
    IS(#NAME "_swap", shmem_##NAME##_swap(&NAME##_word, 6, next()), (TYPE)5);
#define OLD_REALS(A, NAME, TYPE, RNAME)                                                                                \
    static void old_##NAME(void) { OLD_FORMS(NAME, TYPE) }
#define OLD_INTEGERS(A, NAME, TYPE, RNAME)                                                                             \
    static void old_##NAME(void) {                                                                                     \
        OLD_FORMS(NAME, TYPE)                                                                                          \
        IS(#NAME "_cswap", shmem_##NAME##_cswap(&NAME##_word, 6, 7, next()), (TYPE)6);                                 \
        shmem_##NAME##_inc(&NAME##_word, next());                                                                      \
        IS(#NAME "_finc", shmem_##NAME##_finc(&NAME##_word, next()), (TYPE)8);                                         \
        shmem_##NAME##_add(&NAME##_word, 10, next());                                                                  \
        IS(#NAME "_fadd", shmem_##NAME##_fadd(&NAME##_word, 20, next()), (TYPE)19);                                    \
        IS(#NAME "_fadd's sum", shmem_##NAME##_fetch(&NAME##_word, next()), (TYPE)39);                                 \
    }
SHMEM_ATOMIC_REALS_(OLD_REALS, )
SHMEM_ATOMIC_TYPES_(OLD_INTEGERS, )

int main(void) {
    shmem_team_t reversed = SHMEM_TEAM_INVALID;
    void *heap;
    start();
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, -1, n, NULL, 0, &reversed) == 0, "no team");
    CHECK(shmem_team_create_ctx(reversed, 0, &ctx) == 0, "no context");
    heap = shmem_malloc(64);
    CHECK(heap != NULL, "no memory");
#define FORMS_OF(A, NAME, TYPE, RNAME)  forms_##NAME(&NAME##_word), forms_##NAME(heap);
#define COUNTS_OF(A, NAME, TYPE, RNAME) counts_##NAME(&NAME##_word), counts_##NAME(heap);
#define BITS_OF(A, NAME, TYPE, RNAME)   bits_##NAME(&NAME##_word), bits_##NAME(heap);
#define OLD_OF(A, NAME, TYPE, RNAME)    old_##NAME();
#define TOTALS_OF(A, NAME, TYPE, RNAME) totals_##NAME(&NAME##_word), totals_##NAME(heap);
    SHMEM_ATOMIC_TYPES_(FORMS_OF, )
    SHMEM_ATOMIC_REALS_(FORMS_OF, )
    SHMEM_ATOMIC_TYPES_(COUNTS_OF, )
    SHMEM_ATOMIC_BIT_TYPES_(BITS_OF, )
    SHMEM_ATOMIC_TYPES_(OLD_OF, )
    SHMEM_ATOMIC_REALS_(OLD_OF, )
    shmem_barrier_all();
    SHMEM_ATOMIC_TYPES_(TOTALS_OF, )
    shmem_ctx_destroy(ctx);
    shmem_free(heap);
    return end();
}
