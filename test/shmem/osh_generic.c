/* SPDX-License-Identifier: BSD-3-Clause */
/* The generic forms of C11 take each type of their lists, with and without a context, and call the typed function; also
 * when forms are nested.
 *
 * Broken by a type that is missing from a list or is in it twice (the compiler says so), by a number of arguments that
 * selects the wrong form. */
#ifdef __cplusplus /* test/check-cpp.sh compiles this file as C++ too, where the generic forms are overloads */
#include <complex>
#endif

#include "osh.h"

static shmem_ctx_t ctx;
static uint64_t signal_word;
static long wait_sync[SHMEM_SYNC_SIZE];

/* Written out, not by the header's table: what is missing there is missed here. */
#define MOVE(NAME, TYPE)                                                                                               \
    static void move_##NAME(void) {                                                                                    \
        static TYPE source[8], dest[64], many[64];                                                                     \
        TYPE got[8] = {0};                                                                                             \
        DOING(#TYPE);                                                                                                  \
        for (int i = 0; i < 8; i++) source[i] = (TYPE)(i + 1);                                                         \
        shmem_barrier_all();                                                                                           \
        shmem_put(dest, source, 2, next());                                                                            \
        shmem_put(ctx, dest + 2, source, 2, next());                                                                   \
        shmem_put_nbi(dest + 4, source, 2, next());                                                                    \
        shmem_put_nbi(ctx, dest + 6, source, 2, next());                                                               \
        shmem_iput(dest + 8, source, 1, 2, 2, next());                                                                 \
        shmem_iput(ctx, dest + 10, source, 1, 2, 2, next());                                                           \
        shmem_ibput(dest + 12, source, 2, 4, 2, 2, next());                                                            \
        shmem_ibput(ctx, dest + 16, source, 2, 4, 2, 2, next());                                                       \
        shmem_p(dest + 20, source[4], next());                                                                         \
        shmem_p(ctx, dest + 21, shmem_g(source + 5, next()), next());                                                  \
        shmem_put_signal(dest + 22, source, 2, &signal_word, 1, SHMEM_SIGNAL_ADD, next());                             \
        shmem_put_signal(ctx, dest + 24, source, 2, &signal_word, 1, SHMEM_SIGNAL_ADD, next());                        \
        shmem_put_signal_nbi(dest + 26, source, 2, &signal_word, 1, SHMEM_SIGNAL_ADD, next());                         \
        shmem_put_signal_nbi(ctx, dest + 28, source, 2, &signal_word, 1, SHMEM_SIGNAL_ADD, next());                    \
        shmem_get(got, source, 1, next());                                                                             \
        shmem_get(ctx, got + 1, source + 1, 1, next());                                                                \
        shmem_get_nbi(got + 2, source + 2, 1, next());                                                                 \
        shmem_get_nbi(ctx, got + 3, source + 3, 1, next());                                                            \
        shmem_iget(got + 4, source + 4, 1, 1, 1, next());                                                              \
        shmem_iget(ctx, got + 5, source + 5, 1, 1, 1, next());                                                         \
        shmem_ibget(got + 6, source + 6, 1, 1, 1, 1, next());                                                          \
        shmem_ibget(ctx, got + 7, source + 7, 1, 1, 1, 1, next());                                                     \
        shmem_quiet();                                                                                                 \
        shmem_ctx_quiet(ctx);                                                                                          \
        for (int i = 0; i < 8; i++) CHECK(got[i] == (TYPE)(i + 1), #TYPE ": get %d", i);                               \
        CHECK(shmem_g(ctx, source, next()) == (TYPE)1, #TYPE ": g");                                                   \
        shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 4);                                                        \
        shmem_barrier_all();                                                                                           \
        for (int i = 0; i < 30; i++) {                                                                                 \
            static const char want[] = "121212121313125612565612121212";                                               \
            CHECK(dest[i] == (TYPE)(want[i] - '0'), #TYPE ": put %d", i);                                              \
        }                                                                                                              \
        signal_word = 0;                                                                                               \
        CHECK(shmem_broadcast(SHMEM_TEAM_WORLD, dest, source, 2, 0) == 0, "broadcast");                                \
        CHECK(shmem_fcollect(SHMEM_TEAM_WORLD, many, source, 2) == 0 && many[2 * n - 1] == (TYPE)2, "fcollect");       \
        CHECK(shmem_collect(SHMEM_TEAM_WORLD, many, source, 1) == 0 && many[n - 1] == (TYPE)1, "collect");             \
        CHECK(shmem_alltoall(SHMEM_TEAM_WORLD, many, source, 1) == 0 && many[n - 1] == (TYPE)(me + 1), "alltoall");    \
        CHECK(shmem_alltoalls(SHMEM_TEAM_WORLD, many, source, 1, 1, 1) == 0 && many[0] == (TYPE)(me + 1),              \
              "alltoalls");                                                                                            \
        CHECK(shmem_max_reduce(SHMEM_TEAM_WORLD, many, source, 3) == 0 && many[2] == (TYPE)3, "max");                  \
        CHECK(shmem_min_reduce(SHMEM_TEAM_WORLD, many, source, 3) == 0 && many[2] == (TYPE)3, "min");                  \
        SUMS(TYPE)                                                                                                     \
    }
#define SUMS(TYPE)                                                                                                     \
    CHECK(shmem_sum_reduce(SHMEM_TEAM_WORLD, many, source, 3) == 0 && many[2] == (TYPE)(3 * n), "sum");                \
    CHECK(shmem_prod_reduce(SHMEM_TEAM_WORLD, many, source, 1) == 0 && many[0] == (TYPE)1, "prod");                    \
    CHECK(shmem_sum_inscan(SHMEM_TEAM_WORLD, many, source, 1) == 0 && many[0] == (TYPE)(me + 1), "inscan");            \
    CHECK(shmem_sum_exscan(SHMEM_TEAM_WORLD, many, source, 1) == 0 && many[0] == (TYPE)me, "exscan");                  \
    shmem_barrier_all();
MOVE(float, float)
MOVE(double, double)
MOVE(longdouble, long double)
MOVE(char, char)
MOVE(schar, signed char)
MOVE(short, short)
MOVE(int, int)
MOVE(long, long)
MOVE(longlong, long long)
MOVE(uchar, unsigned char)
MOVE(ushort, unsigned short)
MOVE(uint, unsigned int)
MOVE(ulong, unsigned long)
MOVE(ulonglong, unsigned long long)

#define COMPLEX(NAME, TYPE)                                                                                            \
    static void sums_##NAME(void) {                                                                                    \
        static TYPE source[3] = {1, 2, 3}, many[3];                                                                    \
        SUMS(TYPE)                                                                                                     \
    }
COMPLEX(complexf, float _Complex)
COMPLEX(complexd, double _Complex)
#ifdef __cplusplus
COMPLEX(cppf, std::complex<float>)
COMPLEX(cppd, std::complex<double>)
#endif

/* The word of the next PE is this one's. */
#define FORMS(TYPE)                                                                                                    \
    TYPE old = 0;                                                                                                      \
    shmem_atomic_set(word, (TYPE)3, next());                                                                           \
    shmem_atomic_set(ctx, word, (TYPE)4, next());                                                                      \
    CHECK(shmem_atomic_swap(word, (TYPE)5, next()) == 4, "swap");                                                      \
    CHECK(shmem_atomic_swap(ctx, word, (TYPE)6, next()) == 5, "swap");                                                 \
    CHECK(shmem_atomic_fetch(word, next()) == 6 && shmem_atomic_fetch(ctx, word, next()) == 6, "fetch");               \
    NBI(6, shmem_atomic_fetch_nbi, word)                                                                               \
    NBI(6, shmem_atomic_swap_nbi, word, (TYPE)7)
#define NBI(want, CALL, ...)                                                                                           \
    CALL(&old, __VA_ARGS__, next());                                                                                   \
    shmem_quiet();                                                                                                     \
    CHECK(old == want, #CALL);                                                                                         \
    CALL(ctx, &old, __VA_ARGS__, next());                                                                              \
    shmem_ctx_quiet(ctx);
#define REAL(NAME, TYPE)                                                                                               \
    static void atomics_##NAME(void) {                                                                                 \
        static TYPE where, *word = &where;                                                                             \
        FORMS(TYPE)                                                                                                    \
        shmem_set(word, (TYPE)1, next());                                                                              \
        CHECK(shmem_swap(word, (TYPE)2, next()) == 1 && shmem_fetch(word, next()) == 2, "deprecated");                 \
        shmem_barrier_all();                                                                                           \
    }
REAL(float, float)
REAL(double, double)

#define INTEGER(NAME, TYPE, MORE)                                                                                      \
    static void atomics_##NAME(void) {                                                                                 \
        static TYPE where, *word = &where, ivars[2], values[2] = {1, 1};                                               \
        size_t indices[2];                                                                                             \
        DOING("atomics: " #TYPE);                                                                                      \
        FORMS(TYPE)                                                                                                    \
        CHECK(shmem_atomic_compare_swap(word, 7, 8, next()) == 7 &&                                                    \
                  shmem_atomic_compare_swap(ctx, word, 8, 9, next()) == 8,                                             \
              "compare_swap");                                                                                         \
        NBI(9, shmem_atomic_compare_swap_nbi, word, 9, 10)                                                             \
        shmem_atomic_set(word, 10, next());                                                                            \
        shmem_atomic_inc(word, next());                                                                                \
        shmem_atomic_inc(ctx, word, next());                                                                           \
        CHECK(shmem_atomic_fetch_inc(word, next()) == 12 && shmem_atomic_fetch_inc(ctx, word, next()) == 13,           \
              "fetch_inc");                                                                                            \
        NBI(14, shmem_atomic_fetch_inc_nbi, word)                                                                      \
        shmem_atomic_add(word, 4, next());                                                                             \
        shmem_atomic_add(ctx, word, 4, next());                                                                        \
        CHECK(shmem_atomic_fetch_add(word, 1, next()) == 24 && shmem_atomic_fetch_add(ctx, word, 1, next()) == 25,     \
              "fetch_add");                                                                                            \
        NBI(26, shmem_atomic_fetch_add_nbi, word, 1)                                                                   \
        MORE shmem_p(ivars, (TYPE)1, next());                                                                          \
        shmem_p(ivars + 1, (TYPE)1, next());                                                                           \
        shmem_wait_until(ivars, SHMEM_CMP_EQ, 1);                                                                      \
        shmem_wait_until_all(ivars, 2, NULL, SHMEM_CMP_EQ, 1);                                                         \
        CHECK(shmem_wait_until_any(ivars, 2, NULL, SHMEM_CMP_EQ, 1) < 2, "wait_until_any");                            \
        CHECK(shmem_wait_until_some(ivars, 2, indices, NULL, SHMEM_CMP_EQ, 1) == 2, "wait_until_some");                \
        shmem_wait_until_all_vector(ivars, 2, NULL, SHMEM_CMP_EQ, values);                                             \
        CHECK(shmem_wait_until_any_vector(ivars, 2, NULL, SHMEM_CMP_EQ, values) < 2, "wait_until_any_vector");         \
        CHECK(shmem_wait_until_some_vector(ivars, 2, indices, NULL, SHMEM_CMP_EQ, values) == 2,                        \
              "wait_until_some_vector");                                                                               \
        CHECK(shmem_test(ivars, SHMEM_CMP_EQ, 1) && shmem_test_all(ivars, 2, NULL, SHMEM_CMP_EQ, 1),                   \
              "test, test_all");                                                                                       \
        CHECK(shmem_test_any(ivars, 2, NULL, SHMEM_CMP_EQ, 1) < 2, "test_any");                                        \
        CHECK(shmem_test_some(ivars, 2, indices, NULL, SHMEM_CMP_EQ, 1) == 2, "test_some");                            \
        CHECK(shmem_test_all_vector(ivars, 2, NULL, SHMEM_CMP_EQ, values), "test_all_vector");                         \
        CHECK(shmem_test_any_vector(ivars, 2, NULL, SHMEM_CMP_EQ, values) < 2, "test_any_vector");                     \
        CHECK(shmem_test_some_vector(ivars, 2, indices, NULL, SHMEM_CMP_EQ, values) == 2, "test_some_vector");         \
        shmem_barrier_all();                                                                                           \
    }
#define BITS                                                                                                           \
    shmem_atomic_set(word, 0xff, next());                                                                              \
    shmem_atomic_and(word, 0x3f, next());                                                                              \
    shmem_atomic_and(ctx, word, 0x3e, next());                                                                         \
    CHECK(shmem_atomic_fetch_and(word, 0x3c, next()) == 0x3e &&                                                        \
              shmem_atomic_fetch_and(ctx, word, 0x30, next()) == 0x3c,                                                 \
          "and");                                                                                                      \
    NBI(0x30, shmem_atomic_fetch_and_nbi, word, 0x10)                                                                  \
    shmem_atomic_or(word, 1, next());                                                                                  \
    shmem_atomic_or(ctx, word, 2, next());                                                                             \
    CHECK(shmem_atomic_fetch_or(word, 4, next()) == 0x13 && shmem_atomic_fetch_or(ctx, word, 8, next()) == 0x17,       \
          "or");                                                                                                       \
    NBI(0x1f, shmem_atomic_fetch_or_nbi, word, 0x20)                                                                   \
    shmem_atomic_xor(word, 1, next());                                                                                 \
    shmem_atomic_xor(ctx, word, 2, next());                                                                            \
    CHECK(shmem_atomic_fetch_xor(word, 4, next()) == 0x3c && shmem_atomic_fetch_xor(ctx, word, 8, next()) == 0x38,     \
          "xor");                                                                                                      \
    NBI(0x30, shmem_atomic_fetch_xor_nbi, word, 0x10)
#define OLD                                                                                                            \
    shmem_set(word, 1, next());                                                                                        \
    CHECK(shmem_swap(word, 2, next()) == 1 && shmem_fetch(word, next()) == 2, "deprecated");                           \
    CHECK(shmem_cswap(word, 2, 3, next()) == 2 && shmem_finc(word, next()) == 3, "deprecated");                        \
    shmem_inc(word, next());                                                                                           \
    shmem_add(word, 2, next());                                                                                        \
    CHECK(shmem_fadd(word, 2, next()) == 7, "deprecated");
INTEGER(int, int, BITS OLD)
INTEGER(long, long, BITS OLD)
INTEGER(longlong, long long, OLD)
INTEGER(uint, unsigned int, BITS OLD)
INTEGER(ulong, unsigned long, BITS OLD)
INTEGER(ulonglong, unsigned long long, BITS OLD)

/* Words of 16 bits can be waited for; there are no atomics on them. */
#define SHORTS(NAME, TYPE)                                                                                             \
    static void sets_##NAME(void) {                                                                                    \
        static TYPE ivars[2];                                                                                          \
        const TYPE values[2] = {(TYPE)-3, 5};                                                                          \
        size_t indices[2];                                                                                             \
        DOING("sets of " #TYPE);                                                                                       \
        shmem_p(ivars, (TYPE)-3, next());                                                                              \
        shmem_p(ivars + 1, (TYPE)5, next());                                                                           \
        shmem_wait_until_all(ivars, 2, NULL, SHMEM_CMP_NE, 0);                                                         \
        CHECK(shmem_wait_until_any(ivars, 2, NULL, SHMEM_CMP_EQ, 5) == 1, "wait_until_any");                           \
        CHECK(shmem_wait_until_some(ivars, 2, indices, NULL, SHMEM_CMP_EQ, (TYPE)-3) == 1 && indices[0] == 0, "some"); \
        shmem_wait_until_all_vector(ivars, 2, NULL, SHMEM_CMP_EQ, values);                                             \
        CHECK(shmem_wait_until_any_vector(ivars, 2, NULL, SHMEM_CMP_EQ, values) < 2, "wait_until_any_vector");         \
        CHECK(shmem_wait_until_some_vector(ivars, 2, indices, NULL, SHMEM_CMP_EQ, values) == 2, "some_vector");        \
        CHECK(shmem_test_all(ivars, 2, NULL, SHMEM_CMP_LT, 6) == ((TYPE)-1 < (TYPE)1), "test_all: the sign");          \
        CHECK(shmem_test_any(ivars, 2, NULL, SHMEM_CMP_EQ, 4) == SIZE_MAX, "test_any");                                \
        CHECK(shmem_test_some(ivars, 2, indices, NULL, SHMEM_CMP_EQ, 5) == 1 && indices[0] == 1, "test_some");         \
        CHECK(shmem_test_all_vector(ivars, 2, NULL, SHMEM_CMP_EQ, values), "test_all_vector");                         \
        CHECK(shmem_test_any_vector(ivars, 2, NULL, SHMEM_CMP_NE, values) == SIZE_MAX, "test_any_vector");             \
        CHECK(shmem_test_some_vector(ivars, 2, indices, NULL, SHMEM_CMP_EQ, values) == 2, "test_some_vector");         \
        shmem_barrier_all();                                                                                           \
    }
SHORTS(short, short)
SHORTS(ushort, unsigned short)

#define BITWISE(NAME, TYPE)                                                                                            \
    static void reduce_##NAME(void) {                                                                                  \
        static TYPE source[1] = {6}, dest[1];                                                                          \
        CHECK(shmem_and_reduce(SHMEM_TEAM_WORLD, dest, source, 1) == 0 && dest[0] == 6, "and");                        \
        CHECK(shmem_or_reduce(SHMEM_TEAM_WORLD, dest, source, 1) == 0 && dest[0] == 6, "or");                          \
        CHECK(shmem_xor_reduce(SHMEM_TEAM_WORLD, dest, source, 1) == 0 && dest[0] == (n & 1 ? 6 : 0), "xor");          \
        shmem_barrier_all();                                                                                           \
    }
BITWISE(uchar, unsigned char)
BITWISE(ushort, unsigned short)
BITWISE(uint, unsigned int)
BITWISE(ulong, unsigned long)
BITWISE(ulonglong, unsigned long long)
BITWISE(int8, int8_t)
BITWISE(int16, int16_t)
BITWISE(int32, int32_t)
BITWISE(int64, int64_t)

int main(void) {
    static short word;
    static unsigned short unsigned_word;
    start();
    CHECK(n <= 16, "%d PEs are more than there is room for", n);
    CHECK(shmem_ctx_create(0, &ctx) == 0, "no context");
    move_float(), move_double(), move_longdouble();
    move_char(), move_schar(), move_short(), move_int(), move_long(), move_longlong();
    move_uchar(), move_ushort(), move_uint(), move_ulong(), move_ulonglong();
    sums_complexf(), sums_complexd();
#ifdef __cplusplus
    sums_cppf(), sums_cppd();
#endif
    atomics_float(), atomics_double();
    atomics_int(), atomics_long(), atomics_longlong(), atomics_uint(), atomics_ulong(), atomics_ulonglong();
    sets_short(), sets_ushort();
    reduce_uchar(), reduce_ushort(), reduce_uint(), reduce_ulong(), reduce_ulonglong();
    reduce_int8(), reduce_int16(), reduce_int32(), reduce_int64();
    shmem_signal_set(&signal_word, 3, next());
    shmem_wait_until(&signal_word, SHMEM_CMP_EQ, 3);
    shmem_barrier_all();
    shmem_signal_add(ctx, &signal_word, 1, next());
    shmem_ctx_quiet(ctx);
    shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 4);
    CHECK(shmem_test(&word, SHMEM_CMP_EQ, 0) && shmem_test(&unsigned_word, SHMEM_CMP_EQ, 0), "of 16 bits");
    shmem_wait_until(&word, SHMEM_CMP_EQ, 0);
    shmem_sync(SHMEM_TEAM_WORLD);
    shmem_sync(0, 0, n, wait_sync);
    shmem_ctx_destroy(ctx);
    return end();
}
