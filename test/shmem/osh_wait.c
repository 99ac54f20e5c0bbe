/* SPDX-License-Identifier: BSD-3-Clause */
/* Each wait and each test of each type, deprecated ones included, ends when its comparison holds, and not before; those
 * for many words return the right ones.
 *
 * Broken by a row of the table with another type's width or sign, by a mix-up of comparisons, by a wait that polls
 * excluded words, by one that always returns the same one of two matching words, and by one that misses another PE's
 * change while it sleeps. */
#include "osh.h"

#define WORDS 4

/* The previous PE's words change while this one waits. In the type's own arithmetic: -1 is the least or the greatest
 * number. */
#define WAIT(A, NAME, TYPE, RNAME)                                                                                     \
    static TYPE NAME##_words[WORDS];                                                                                   \
    static void wait_##NAME(void) {                                                                                    \
        TYPE *w = NAME##_words, values[WORDS] = {9, 1, 9, 2};                                                          \
        const int left_out[WORDS] = {1, 0, 1, 0};                                                                      \
        size_t indices[WORDS], some;                                                                                   \
        const int is_signed = (TYPE)-1 < (TYPE)1;                                                                      \
        DOING(#NAME);                                                                                                  \
        CHECK(shmem_##NAME##_test(&w[0], SHMEM_CMP_EQ, 0) && !shmem_##NAME##_test(&w[0], SHMEM_CMP_NE, 0),             \
              #NAME "_test");                                                                                          \
        CHECK(shmem_##NAME##_test(&w[0], SHMEM_CMP_GT, (TYPE)-1) == is_signed, #NAME "_test: sign");                   \
        CHECK(shmem_##NAME##_test(&w[0], SHMEM_CMP_LT, (TYPE)-1) == !is_signed, #NAME "_test: sign");                  \
        CHECK(shmem_##NAME##_test(&w[0], SHMEM_CMP_GE, 0) && shmem_##NAME##_test(&w[0], SHMEM_CMP_LE, 0),              \
              #NAME "_test");                                                                                          \
        CHECK(!shmem_##NAME##_test_all(w, WORDS, NULL, SHMEM_CMP_NE, 0), #NAME "_test_all");                           \
        CHECK(shmem_##NAME##_test_any(w, WORDS, NULL, SHMEM_CMP_NE, 0) == SIZE_MAX, #NAME "_test_any");                \
        CHECK(shmem_##NAME##_test_some(w, WORDS, indices, NULL, SHMEM_CMP_NE, 0) == 0, #NAME "_test_some");            \
        shmem_barrier_all();                                                                                           \
        shmem_##NAME##_p(&w[1], 1, next());                                                                            \
        shmem_##NAME##_wait_until(&w[1], SHMEM_CMP_NE, 0);                                                             \
        CHECK(w[1] == 1, #NAME "_wait_until");                                                                         \
        CHECK(shmem_##NAME##_wait_until_any(w, WORDS, NULL, SHMEM_CMP_EQ, 1) == 1, #NAME "_wait_until_any");           \
        CHECK(shmem_##NAME##_wait_until_some(w, WORDS, indices, NULL, SHMEM_CMP_EQ, 1) == 1 && indices[0] == 1,        \
              #NAME "_wait_until_some");                                                                               \
        some = shmem_##NAME##_test_any_vector(w, WORDS, NULL, SHMEM_CMP_EQ, values);                                   \
        CHECK(some == 1 || some == 3, #NAME "_test_any_vector");                                                       \
        shmem_##NAME##_atomic_set(&w[3], 2, next());                                                                   \
        shmem_##NAME##_wait_until_all(w, WORDS, left_out, SHMEM_CMP_GT, 0);                                            \
        CHECK(w[1] == 1 && w[3] == 2, #NAME "_wait_until_all");                                                        \
        shmem_##NAME##_wait_until_all_vector(w, WORDS, left_out, SHMEM_CMP_EQ, values);                                \
        CHECK(shmem_##NAME##_test_all(w, WORDS, left_out, SHMEM_CMP_GT, 0), #NAME "_test_all");                        \
        CHECK(shmem_##NAME##_test_all_vector(w, WORDS, left_out, SHMEM_CMP_EQ, values), #NAME "_test_all_vector");     \
        CHECK(!shmem_##NAME##_test_all_vector(w, WORDS, NULL, SHMEM_CMP_EQ, values), #NAME "_test_all_vector");        \
        CHECK(shmem_##NAME##_test_any(w, WORDS, NULL, SHMEM_CMP_EQ, 2) == 3, #NAME "_test_any");                       \
        some = shmem_##NAME##_wait_until_some_vector(w, WORDS, indices, NULL, SHMEM_CMP_EQ, values);                   \
        CHECK(some == 2 && indices[0] == 1 && indices[1] == 3, #NAME "_wait_until_some_vector");                       \
        some = shmem_##NAME##_test_some(w, WORDS, indices, NULL, SHMEM_CMP_GE, 1);                                     \
        CHECK(some == 2 && indices[0] == 1 && indices[1] == 3, #NAME "_test_some");                                    \
        some = shmem_##NAME##_test_some_vector(w, WORDS, indices, NULL, SHMEM_CMP_EQ, values);                         \
        CHECK(some == 2 && indices[0] == 1 && indices[1] == 3, #NAME "_test_some_vector");                             \
        for (int round = 0, named[4][WORDS] = {{0}}, missing = 8; missing > 0; round++)                                \
            for (int k = 0; k < 4; k++) {                                                                              \
                some = k == 0   ? shmem_##NAME##_wait_until_any(w, WORDS, NULL, SHMEM_CMP_GE, 1)                       \
                       : k == 1 ? shmem_##NAME##_test_any(w, WORDS, NULL, SHMEM_CMP_GE, 1)                             \
                       : k == 2 ? shmem_##NAME##_wait_until_any_vector(w, WORDS, left_out, SHMEM_CMP_EQ, values)       \
                                : shmem_##NAME##_test_any_vector(w, WORDS, NULL, SHMEM_CMP_EQ, values);                \
                CHECK(some == 1 || some == 3, #NAME ": any, form %d", k);                                              \
                missing -= !named[k][some]++;                                                                          \
                CHECK(round < 1000, #NAME ": any, form %d names word %zu again and again", k, some);                   \
            }                                                                                                          \
        CHECK(shmem_##NAME##_wait_until_any(w, 0, NULL, SHMEM_CMP_EQ, 1) == SIZE_MAX,                                  \
              #NAME "_wait_until_any of none");                                                                        \
    }
SHMEM_ATOMIC_TYPES_(WAIT, )

/* Deprecated. All 16 bits count, and no more of the words beside them. */
#define WAIT_SHORT(A, NAME, TYPE, RNAME)                                                                               \
    static TYPE NAME##_words[3] = {7, 0, 7};                                                                           \
    static void wait_##NAME(void) {                                                                                    \
        TYPE *w = &NAME##_words[1];                                                                                    \
        const int is_signed = (TYPE)-1 < (TYPE)1;                                                                      \
        DOING(#NAME);                                                                                                  \
        CHECK(shmem_##NAME##_test(w, SHMEM_CMP_EQ, 0) && !shmem_##NAME##_test(w, SHMEM_CMP_NE, 0), #NAME "_test");     \
        CHECK(shmem_##NAME##_test(w, SHMEM_CMP_GT, (TYPE)-1) == is_signed, #NAME "_test: sign");                       \
        shmem_barrier_all();                                                                                           \
        shmem_##NAME##_p(w, (TYPE)0x8001, next());                                                                     \
        shmem_##NAME##_wait_until(w, SHMEM_CMP_NE, 0);                                                                 \
        CHECK(*w == (TYPE)0x8001, #NAME "_wait_until");                                                                \
        shmem_##NAME##_wait_until(w, is_signed ? SHMEM_CMP_LE : SHMEM_CMP_GE, (TYPE)0x8001);                           \
        CHECK(shmem_##NAME##_test(w, is_signed ? SHMEM_CMP_LT : SHMEM_CMP_GT, 0), #NAME "_test");                      \
    }
SHMEM_OLD_WAIT_TYPES_(WAIT_SHORT, )

#define WAIT_CHANGE(A, NAME, TYPE, RNAME)                                                                              \
    static TYPE NAME##_changing;                                                                                       \
    static void change_##NAME(void) {                                                                                  \
        DOING(#NAME "_wait");                                                                                          \
        shmem_##NAME##_p(&NAME##_changing, 3, next());                                                                 \
        shmem_##NAME##_wait(&NAME##_changing, 0);                                                                      \
        CHECK(NAME##_changing == 3, #NAME "_wait");                                                                    \
    }
SHMEM_TO_ALL_BIT_TYPES_(WAIT_CHANGE, )

static long plain;

int main(void) {
    start();
#define WAIT_OF(A, NAME, TYPE, RNAME)   wait_##NAME();
#define CHANGE_OF(A, NAME, TYPE, RNAME) change_##NAME();
    SHMEM_ATOMIC_TYPES_(WAIT_OF, )
    SHMEM_OLD_WAIT_TYPES_(WAIT_OF, )
    SHMEM_TO_ALL_BIT_TYPES_(CHANGE_OF, )
    DOING("shmem_wait");
    shmem_long_p(&plain, 1, next());
    shmem_wait(&plain, 0);
    (shmem_wait_until)(&plain, SHMEM_CMP_EQ, 1); /* the function, not the generic form */
    CHECK(plain == 1, "shmem_wait");
    return end();
}
