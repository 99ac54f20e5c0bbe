/* SPDX-License-Identifier: BSD-3-Clause */
/* One value of each arithmetic type goes out and comes back bit for bit, and nothing else changes.
 *
 * Broken by a row of the type tables that names the wrong type or function, by a value that passes through another type
 * (NaN payloads, the sign of zero, the extremes), and by a store of the wrong width: the neighbours show it. The second
 * part is broken by a value of up to 8 bytes that is stored or read in halves. */
#include "job.h"

#include <float.h>

/* What the header must have, written down again: a row that disappears from its tables is missed here, and the generic
 * macros cannot be used inside the header's own tables. */
/* clang-format off */
#define DISTINCT(X)                                                                                                    \
    X(char, char) X(schar, signed char) X(uchar, unsigned char) X(short, short) X(ushort, unsigned short) X(int, int)  \
    X(uint, unsigned int) X(long, long) X(ulong, unsigned long) X(llong, long long) X(ullong, unsigned long long)      \
    X(float, float) X(double, double) X(ldouble, long double)
#define ALIASES(X)                                                                                                     \
    X(int8, int8_t) X(uint8, uint8_t) X(int16, int16_t) X(uint16, uint16_t) X(int32, int32_t) X(uint32, uint32_t)      \
    X(int64, int64_t) X(uint64, uint64_t) X(size, size_t) X(ptrdiff, ptrdiff_t)
/* clang-format on */

/* A long double has 10 bytes of value in 16 of room. */
#define WIDTH(TYPE) (LDBL_MANT_DIG == 64 && sizeof(TYPE) == sizeof(long double) ? 10 : sizeof(TYPE))

static char *room; /* symmetric: three elements of any type for each PE */
#define ROOM (3 * sizeof(long double))

/* Element 1 of three is written on each PE, in the three that belong to this PE; the others must stay. */
#define VALUE_TEST(TYPE, P, G)                                                                                         \
    {                                                                                                                  \
        TYPE *block = (TYPE *)(void *)(room + ROOM * (size_t)job.me), kept[3], back;                                   \
        for (int pe = 0; pe < job.n; pe++) {                                                                           \
            memset(kept, 0x5a + pe, sizeof kept);                                                                      \
            OK(rma_put(block, kept, sizeof kept, pe));                                                                 \
            job_order(pe);                                                                                             \
            OK(P(&block[1], value, pe));                                                                               \
            job_settle(pe);                                                                                            \
            OK(rma_get(kept, block, sizeof kept, pe));                                                                 \
            for (size_t k = 0; k < sizeof(TYPE); k++) {                                                                \
                CHECK(((unsigned char *)&kept[0])[k] == 0x5a + pe, #P " of " #TYPE " wrote before its target");        \
                CHECK(((unsigned char *)&kept[2])[k] == 0x5a + pe, #P " of " #TYPE " wrote behind its target");        \
            }                                                                                                          \
            CHECK(memcmp(&kept[1], &value, WIDTH(TYPE)) == 0, #P " of " #TYPE " wrote other bits");                    \
            back = G(&block[1], pe);                                                                                   \
            CHECK(memcmp(&back, &value, WIDTH(TYPE)) == 0, #G " of " #TYPE " read other bits");                        \
        }                                                                                                              \
    }

/* Each type by its own name, and the distinct ones by the generic front too. */
#define NAMED(NAME, TYPE)   static void named_##NAME(TYPE value) VALUE_TEST(TYPE, rma_p_##NAME, rma_g_##NAME)
#define GENERIC(NAME, TYPE) static void generic_##NAME(TYPE value) VALUE_TEST(TYPE, rma_p, rma_g)
DISTINCT(NAMED)
ALIASES(NAMED)
DISTINCT(GENERIC)

/* The same by global pointer, with a context and without in turn. */
#define BY_GPTR(NAME, TYPE)                                                                                            \
    static int gptr_p_##NAME(TYPE *dest, TYPE value, int pe) {                                                         \
        return pe & 1 ? rma_ctx_gptr_p_##NAME(RMA_CTX_DEFAULT, rma_gptr(dest, pe), value)                              \
                      : rma_gptr_p_##NAME(rma_gptr(dest, pe), value);                                                  \
    }                                                                                                                  \
    static TYPE gptr_g_##NAME(const TYPE *source, int pe) {                                                            \
        return pe & 1 ? rma_gptr_g_##NAME(rma_gptr(source, pe))                                                        \
                      : rma_ctx_gptr_g_##NAME(RMA_CTX_DEFAULT, rma_gptr(source, pe));                                  \
    }                                                                                                                  \
    static void gptr_##NAME(TYPE value) VALUE_TEST(TYPE, gptr_p_##NAME, gptr_g_##NAME)
DISTINCT(BY_GPTR)
ALIASES(BY_GPTR)

/* bool has two values. */
NAMED(bool, _Bool)
GENERIC(bool, _Bool)
BY_GPTR(bool, _Bool)

/* All bits zero, all one (a NaN for floats), alternating, only the lowest, only the highest, and random ones. */
#define BITS(NAME, TYPE)                                                                                               \
    static void bits_##NAME(void (*test)(TYPE)) {                                                                      \
        uint64_t random = job_stream((uint64_t)job.me);                                                                \
        for (int turn = 0; turn < (job.one_node ? 12 : 6); turn++) {                                                   \
            static const unsigned char all[] = {0, 0xff, 0x55, 0, 0};                                                  \
            unsigned char bytes[sizeof(TYPE)];                                                                         \
            TYPE value;                                                                                                \
            for (size_t k = 0; k < sizeof bytes; k++)                                                                  \
                bytes[k] = turn < 5 ? all[turn] : (unsigned char)job_random(&random);                                  \
            if (turn == 3) bytes[0] = 1;                                                                               \
            if (turn == 4) bytes[sizeof bytes - 1] = 0x80;                                                             \
            memcpy(&value, bytes, sizeof value);                                                                       \
            test(value);                                                                                               \
        }                                                                                                              \
    }
DISTINCT(BITS)
ALIASES(BITS)
#define RUN_NAMED(NAME, TYPE)   bits_##NAME(named_##NAME);
#define RUN_GENERIC(NAME, TYPE) bits_##NAME(generic_##NAME);
#define RUN_GPTR(NAME, TYPE)    bits_##NAME(gptr_##NAME);

static void known_values(void) {
    static const double doubles[] = {0.0, -0.0, 1.0 / 3, DBL_MAX, -DBL_MAX, DBL_MIN, DBL_MIN / 4};
    static const float floats[] = {0.0f, -0.0f, 1.0f / 3, FLT_MAX, -FLT_MAX, FLT_MIN, FLT_MIN / 4};
    static const long double ldoubles[] = {0.0L, -0.0L, 1.0L / 3, LDBL_MAX, -LDBL_MAX, LDBL_MIN, LDBL_MIN / 4};
    static const uint32_t nan_bits = 0x7fc12345; /* quiet, with a payload */
    float nan;
    memcpy(&nan, &nan_bits, sizeof nan);
    generic_float(nan);
    named_float(nan);
    for (size_t i = 0; i < sizeof doubles / sizeof doubles[0]; i++) {
        generic_double(doubles[i]);
        generic_float(floats[i]);
        generic_ldouble(ldoubles[i]);
    }
    generic_char(CHAR_MIN);
    generic_schar(SCHAR_MIN);
    generic_short(SHRT_MIN);
    generic_int(INT_MIN);
    generic_long(LONG_MIN);
    generic_llong(LLONG_MIN);
    generic_uchar(UCHAR_MAX);
    generic_ushort(USHRT_MAX);
    generic_uint(UINT_MAX);
    generic_ulong(ULONG_MAX);
    generic_ullong(ULLONG_MAX);
    named_ptrdiff(PTRDIFF_MIN);
    named_size(SIZE_MAX);
}

/* Each PE writes two patterns in turn to its neighbour; the neighbour reads nothing but these, in the order of writing
 * (a word has one order of values). */
static void values_arrive_whole(void) {
    struct words {
        uint64_t w64;
        uint32_t w32;
        uint16_t w16;
        double d;
        uint64_t counter;
    } *words = rma_calloc(1, sizeof *words);
    uint64_t seen = 0;
    long rounds = job_far_rounds(100000, 20000, 2000);
    CHECK(words != NULL, "%s", rma_last_error());
    for (long i = 1; i <= rounds; i++) {
        int to = job_any(1);
        job_order(to);
        OK(rma_p(&words->w64, i & 1 ? 0x1111111122222222u : 0x3333333344444444u, to));
        OK(rma_p(&words->w32, i & 1 ? 0x11112222u : 0x33334444u, to));
        OK(rma_p(&words->w16, (unsigned short)(i & 1 ? 0x1122 : 0x3344), to));
        OK(rma_p(&words->d, i & 1 ? 1e300 : -1e-300, to));
        OK(rma_p(&words->counter, (uint64_t)i, to));

        uint64_t w64 = rma_g(&words->w64, job.me), counter = rma_g(&words->counter, job.me);
        uint32_t w32 = rma_g(&words->w32, job.me);
        uint16_t w16 = rma_g(&words->w16, job.me);
        double d = rma_g(&words->d, job.me);
        CHECK(w64 == 0 || w64 == 0x1111111122222222u || w64 == 0x3333333344444444u, "%#llx", (unsigned long long)w64);
        CHECK(w32 == 0 || w32 == 0x11112222u || w32 == 0x33334444u, "%#x", w32);
        CHECK(w16 == 0 || w16 == 0x1122 || w16 == 0x3344, "%#x", w16);
        CHECK(!(d < 0 || d > 0) || !(d < 1e300 || d > 1e300) || !(d < -1e-300 || d > -1e-300), "%g", d);
        CHECK(counter >= seen, "%llu after %llu", (unsigned long long)counter, (unsigned long long)seen);
        seen = counter;
    }
    OK(rma_barrier_all());
    CHECK(words->counter == (uint64_t)rounds, "%llu, not the last value", (unsigned long long)words->counter);
    OK(rma_free(words));
}

int main(void) {
    job_start();
    room = rma_malloc(ROOM * (size_t)job.n);
    CHECK(room != NULL, "%s", rma_last_error());
    DISTINCT(RUN_NAMED)
    ALIASES(RUN_NAMED)
    DISTINCT(RUN_GENERIC)
    DISTINCT(RUN_GPTR)
    ALIASES(RUN_GPTR)
    for (int value = 0; value < 2; value++) {
        named_bool(value);
        generic_bool(value);
        gptr_bool(value);
    }
    known_values();
    OK(rma_free(room));
    values_arrive_whole();
    return job_end();
}
