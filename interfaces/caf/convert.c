/* SPDX-License-Identifier: BSD-3-Clause */
/* Conversion of elements between types and kinds, as in an assignment. Types are those of numbers, with their kinds;
 * characters have kinds and lengths. One loop for each pair of numeric types, from one table. */
#include "config.h"

#include "interfaces/caf/move.h"

#include <stdint.h>
#include <string.h>

typedef __int128 int128;
typedef long double real10;
#ifdef __SIZEOF_FLOAT128__
typedef __float128 real16;
#else
typedef long double real16;
#endif

/* clang-format off */
#define NUMBERS(X, A) X(A, I1, int8_t) X(A, I2, int16_t) X(A, I4, int32_t) X(A, I8, int64_t) X(A, I16, int128) \
    X(A, R4, float) X(A, R8, double) X(A, R10, real10) X(A, R16, real16)
#define NUMBERS_AGAIN(X, A, B) X(A, B, I1, int8_t) X(A, B, I2, int16_t) X(A, B, I4, int32_t) X(A, B, I8, int64_t) \
    X(A, B, I16, int128) X(A, B, R4, float) X(A, B, R8, double) X(A, B, R10, real10) X(A, B, R16, real16)
/* clang-format on */

enum number {
#define NAME(A, N, T) N,
    NUMBERS(NAME, ) N_NUMBERS
};

/* One row of n elements, which need not be aligned. */
typedef void row_loop(char *to, ptrdiff_t to_stride, const char *from, ptrdiff_t from_stride, size_t n);

#define LOOP(FROM, FROM_TYPE, TO, TO_TYPE)                                                                             \
    static void FROM##_to_##TO(char *to, ptrdiff_t to_stride, const char *from, ptrdiff_t from_stride, size_t n) {     \
        for (; n > 0; n--, to += to_stride, from += from_stride) {                                                     \
            FROM_TYPE x;                                                                                               \
            memcpy(&x, from, sizeof x);                                                                                \
            TO_TYPE y = (TO_TYPE)x;                                                                                    \
            memcpy(to, &y, sizeof y);                                                                                  \
        }                                                                                                              \
    }
#define LOOPS(A, N, T) NUMBERS_AGAIN(LOOP, N, T)
NUMBERS(LOOPS, )

#define ENTRY(FROM, FROM_TYPE, TO, TO_TYPE) [FROM][TO] = FROM##_to_##TO,
#define ENTRIES(A, N, T)                    NUMBERS_AGAIN(ENTRY, N, T)
static row_loop *const loops[N_NUMBERS][N_NUMBERS] = {NUMBERS(ENTRIES, )};

static int number_type(struct rmai_caf_type t) {
    int real = t.type == RMAI_CAF_REAL || t.type == RMAI_CAF_COMPLEX;
    switch (t.kind) {
        case 1: return real ? -1 : I1;
        case 2: return real ? -1 : I2;
        case 4: return real ? R4 : I4;
        case 8: return real ? R8 : I8;
        case 10: return real ? R10 : -1;
        case 16: return real ? R16 : I16;
        default: return -1;
    }
}

static size_t part_size(struct rmai_caf_type t) { return t.type == RMAI_CAF_COMPLEX ? t.elem / 2 : t.elem; }

static int is_number(int type) { return type == RMAI_CAF_INTEGER || type == RMAI_CAF_REAL || type == RMAI_CAF_COMPLEX; }

static uint32_t character_at(const char *at, int kind, size_t i) {
    uint32_t c;
    if (kind == 1) return (unsigned char)at[i];
    memcpy(&c, at + 4 * i, sizeof c);
    return c;
}

static void convert_character(char *to, struct rmai_caf_type to_type, const char *from, struct rmai_caf_type type) {
    size_t n = to_type.elem / (size_t)to_type.kind, have = type.elem / (size_t)type.kind;
    for (size_t i = 0; i < n; i++) {
        uint32_t c = i < have ? character_at(from, type.kind, i) : ' ';
        if (to_type.kind == 1)
            to[i] = c > 255 ? '?' : (char)c;
        else
            memcpy(to + 4 * i, &c, sizeof c);
    }
}

int rmai_caf_convert(char *to, const ptrdiff_t *to_stride, struct rmai_caf_type to_type, const char *from,
                     const ptrdiff_t *from_stride, struct rmai_caf_type from_type, const struct rmai_caf_box *box) {
    int characters = to_type.type == RMAI_CAF_CHARACTER && from_type.type == RMAI_CAF_CHARACTER;
    int logicals = to_type.type == RMAI_CAF_LOGICAL && from_type.type == RMAI_CAF_LOGICAL;
    row_loop *loop = NULL;
    if (!characters) {
        int a = number_type(from_type), b = number_type(to_type);
        if (a < 0 || b < 0 || !(logicals || (is_number(to_type.type) && is_number(from_type.type)))) return 0;
        loop = loops[a][b];
    }
    if (box->n == 0) return 1;
    const size_t inner = box->dims ? box->count[0] : 1, to_part = part_size(to_type), from_part = part_size(from_type);
    const ptrdiff_t ts = box->dims ? to_stride[0] : 0, fs = box->dims ? from_stride[0] : 0;
    struct rmai_caf_rows w = {.to = to, .from = from};
    do {
        if (characters)
            for (size_t i = 0; i < inner; i++)
                convert_character(w.to + (ptrdiff_t)i * ts, to_type, w.from + (ptrdiff_t)i * fs, from_type);
        else
            loop(w.to, ts, w.from, fs, inner);
        if (to_type.type == RMAI_CAF_COMPLEX) {
            if (from_type.type == RMAI_CAF_COMPLEX)
                loop(w.to + to_part, ts, w.from + from_part, fs, inner);
            else
                for (size_t i = 0; i < inner; i++) memset(w.to + to_part + (ptrdiff_t)i * ts, 0, to_part);
        }
    } while (rmai_caf_next_row(&w, box, to_stride, from_stride));
    return 1;
}
