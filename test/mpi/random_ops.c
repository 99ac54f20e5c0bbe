/* SPDX-License-Identifier: BSD-3-Clause */
#include "random_ops.h"

#include <float.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define MOST_BASICS 96
struct basic basics[MOST_BASICS];
int n_basics;

const char *const op_names[N_OPS] = {"MPI_SUM",    "MPI_PROD",   "MPI_MIN",     "MPI_MAX",  "MPI_BAND",
                                     "MPI_BOR",    "MPI_BXOR",   "MPI_LAND",    "MPI_LOR",  "MPI_LXOR",
                                     "MPI_MINLOC", "MPI_MAXLOC", "MPI_REPLACE", "MPI_NO_OP"};

MPI_Op op_handle(enum op op) {
    const MPI_Op ops[N_OPS] = {MPI_SUM,  MPI_PROD, MPI_MIN,  MPI_MAX,    MPI_BAND,   MPI_BOR,     MPI_BXOR,
                               MPI_LAND, MPI_LOR,  MPI_LXOR, MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP};
    return ops[op];
}

/* A type that this MPI does not have is MPI_DATATYPE_NULL. */
static void add_basic(const char *name, MPI_Datatype type, enum class class, enum family family, size_t part,
                      int strict) {
    if (type == MPI_DATATYPE_NULL || n_basics == MOST_BASICS) return;
    basics[n_basics++] = (struct basic){.name = name,
                                        .type = type,
                                        .class = class,
                                        .family = family,
                                        .part = (int)part,
                                        .extent = (int)part * (class == COMPLEX ? 2 : 1),
                                        .strict = strict};
}

static void add_pair(const char *name, MPI_Datatype type, size_t value, size_t index_at, size_t index, size_t extent,
                     int real) {
    if (type == MPI_DATATYPE_NULL || n_basics == MOST_BASICS) return;
    basics[n_basics++] = (struct basic){.name = name,
                                        .type = type,
                                        .class = PAIR,
                                        .family = F_PAIR,
                                        .part = (int)value,
                                        .index_at = (int)index_at,
                                        .index = (int)index,
                                        .real = real,
                                        .extent = (int)extent};
}

#define ADD(TYPE, CLASS, FAMILY, C, STRICT) add_basic(#TYPE, TYPE, CLASS, FAMILY, sizeof(C), STRICT)
#define ADD_PAIR(TYPE, C, REAL_VALUE)                                                                                  \
    do {                                                                                                               \
        struct pair {                                                                                                  \
            C value;                                                                                                   \
            int index;                                                                                                 \
        };                                                                                                             \
        add_pair(#TYPE, TYPE, sizeof(C), offsetof(struct pair, index), sizeof(int), sizeof(struct pair), REAL_VALUE);  \
    } while (0)

void basics_begin(void) {
    ADD(MPI_SIGNED_CHAR, SIGNED, F_C, signed char, 0);
    ADD(MPI_UNSIGNED_CHAR, UNSIGNED, F_C, unsigned char, 0);
    ADD(MPI_SHORT, SIGNED, F_C, short, 0);
    ADD(MPI_UNSIGNED_SHORT, UNSIGNED, F_C, unsigned short, 0);
    ADD(MPI_INT, SIGNED, F_C, int, 0);
    ADD(MPI_UNSIGNED, UNSIGNED, F_C, unsigned, 0);
    ADD(MPI_LONG, SIGNED, F_C, long, 0);
    ADD(MPI_UNSIGNED_LONG, UNSIGNED, F_C, unsigned long, 0);
    ADD(MPI_LONG_LONG, SIGNED, F_C, long long, 0);
    ADD(MPI_UNSIGNED_LONG_LONG, UNSIGNED, F_C, unsigned long long, 0);
    ADD(MPI_INT8_T, SIGNED, F_C, int8_t, 0);
    ADD(MPI_INT16_T, SIGNED, F_C, int16_t, 0);
    ADD(MPI_INT32_T, SIGNED, F_C, int32_t, 0);
    ADD(MPI_INT64_T, SIGNED, F_C, int64_t, 0);
    ADD(MPI_UINT8_T, UNSIGNED, F_C, uint8_t, 0);
    ADD(MPI_UINT16_T, UNSIGNED, F_C, uint16_t, 0);
    ADD(MPI_UINT32_T, UNSIGNED, F_C, uint32_t, 0);
    ADD(MPI_UINT64_T, UNSIGNED, F_C, uint64_t, 0);
    ADD(MPI_AINT, SIGNED, F_C, MPI_Aint, 1);
    ADD(MPI_OFFSET, SIGNED, F_C, MPI_Offset, 1);
    ADD(MPI_COUNT, SIGNED, F_C, MPI_Count, 1);
    ADD(MPI_FLOAT, REAL, F_C, float, 0);
    ADD(MPI_DOUBLE, REAL, F_C, double, 0);
    ADD(MPI_LONG_DOUBLE, REAL, F_LONG_DOUBLE, long double, 0);
    ADD(MPI_C_FLOAT_COMPLEX, COMPLEX, F_COMPLEX, float, 0);
    ADD(MPI_C_DOUBLE_COMPLEX, COMPLEX, F_COMPLEX, double, 0);
    ADD(MPI_C_LONG_DOUBLE_COMPLEX, COMPLEX, F_LONG_DOUBLE, long double, 0);
    ADD(MPI_CXX_BOOL, LOGICAL, F_LOGICAL, bool, 0);
    ADD(MPI_CXX_FLOAT_COMPLEX, COMPLEX, F_COMPLEX, float, 0);
    ADD(MPI_CXX_DOUBLE_COMPLEX, COMPLEX, F_COMPLEX, double, 0);
    ADD(MPI_CXX_LONG_DOUBLE_COMPLEX, COMPLEX, F_LONG_DOUBLE, long double, 0);
    ADD(MPI_C_BOOL, LOGICAL, F_LOGICAL, bool, 0);
    ADD(MPI_BYTE, BYTES, F_BYTE, char, 0);
    ADD(MPI_CHAR, SIGNED, F_CHAR, char, 0);
    ADD(MPI_WCHAR, BYTES, F_OPAQUE, wchar_t, 1);
    ADD(MPI_CHARACTER, BYTES, F_OPAQUE, char, 1);
    ADD(MPI_INTEGER, SIGNED, F_FORTRAN, int, 1);
    ADD(MPI_INTEGER1, SIGNED, F_FORTRAN, int8_t, 1);
    ADD(MPI_INTEGER2, SIGNED, F_FORTRAN, int16_t, 1);
    ADD(MPI_INTEGER4, SIGNED, F_FORTRAN, int32_t, 1);
    ADD(MPI_INTEGER8, SIGNED, F_FORTRAN, int64_t, 1);
    ADD(MPI_REAL, REAL, F_FORTRAN, float, 1);
    ADD(MPI_REAL4, REAL, F_FORTRAN, float, 1);
    ADD(MPI_REAL8, REAL, F_FORTRAN, double, 1);
    ADD(MPI_DOUBLE_PRECISION, REAL, F_FORTRAN, double, 1);
    ADD(MPI_COMPLEX, COMPLEX, F_FORTRAN, float, 1);
    ADD(MPI_COMPLEX8, COMPLEX, F_FORTRAN, float, 1);
    ADD(MPI_COMPLEX16, COMPLEX, F_FORTRAN, double, 1);
    ADD(MPI_DOUBLE_COMPLEX, COMPLEX, F_FORTRAN, double, 1);
    ADD(MPI_LOGICAL, LOGICAL, F_LOGICAL, int, 1);
    ADD_PAIR(MPI_2INT, int, 0);
    ADD_PAIR(MPI_SHORT_INT, short, 0);
    ADD_PAIR(MPI_LONG_INT, long, 0);
    ADD_PAIR(MPI_FLOAT_INT, float, 1);
    ADD_PAIR(MPI_DOUBLE_INT, double, 1);
    ADD_PAIR(MPI_LONG_DOUBLE_INT, long double, 1);
    add_pair("MPI_2INTEGER", MPI_2INTEGER, 4, 4, 4, 8, 0);
    add_pair("MPI_2REAL", MPI_2REAL, 4, 4, 4, 8, 2);
    add_pair("MPI_2DOUBLE_PRECISION", MPI_2DOUBLE_PRECISION, 8, 8, 8, 16, 2);
}

int op_defined(const struct basic *b, enum op op) {
    if (op == REPLACE || op == NO_OP) return 1;
    switch (b->class) {
        case SIGNED:
        case UNSIGNED: return op <= BXOR || (op <= LXOR && !b->strict);
        case REAL: return op <= MAX;
        case COMPLEX: return op <= PROD;
        case LOGICAL: return op >= LAND && op <= LXOR;
        case BYTES: return op >= BAND && op <= BXOR && !b->strict;
        default: return op == MINLOC || op == MAXLOC;
    }
}

int op_commutes(const struct basic *b, enum op op) {
    return op != REPLACE && op != NO_OP && !(b->class == COMPLEX && op == PROD);
}

int op_prepares(const struct basic *b, enum op op) {
    if (basic_has_noise(b) || b->class == LOGICAL) return 1;
    return op < REPLACE && (b->class == REAL || b->class == COMPLEX || b->class == PAIR);
}

/* ---- values ---- */

/* Bytes of a long double that have a meaning. */
#define LONG_DOUBLE_BYTES (LDBL_MANT_DIG == 64 ? (size_t)10 : sizeof(long double))

static int is_long_double(const struct basic *b) {
    return b->part == (int)sizeof(long double) && (b->class == REAL || b->class == COMPLEX || b->real);
}
int basic_has_noise(const struct basic *b) { return is_long_double(b) && LONG_DOUBLE_BYTES < sizeof(long double); }
int basic_is_noise(const struct basic *b, size_t at) {
    return is_long_double(b) && at < (size_t)b->part * (b->class == COMPLEX ? 2 : 1) &&
           at % sizeof(long double) >= LONG_DOUBLE_BYTES;
}

static long double load_real(const void *from, int size) {
    float f;
    double d;
    long double l;
    if (size == sizeof f) return memcpy(&f, from, sizeof f), (long double)f;
    if (size == sizeof d) return memcpy(&d, from, sizeof d), (long double)d;
    return memcpy(&l, from, sizeof l), l;
}

static void store_real(void *to, int size, long double value) {
    const float f = (float)value;
    const double d = (double)value;
    if (size == sizeof f)
        memcpy(to, &f, sizeof f);
    else if (size == sizeof d)
        memcpy(to, &d, sizeof d);
    else
        memcpy(to, &value, LONG_DOUBLE_BYTES);
}

static uint64_t load_integer(const void *from, int size, int is_signed) {
    uint64_t value = 0;
    memcpy(&value, from, (size_t)size); /* the lowest byte is first */
    if (is_signed && size < 8 && value >> (8 * size - 1) & 1) value |= ~UINT64_C(0) << (8 * size);
    return value;
}

static long double real_for(struct draws *d, enum op op) {
    const long double factors[5] = {1, -1, 2, -2, 0.5L};
    if (op == PROD) return factors[draw(d, 5)];
    return (long double)draw(d, op == SUM ? 17 : 201) - (op == SUM ? 8 : 100);
}

static void integer_for(struct draws *d, void *to, int size) {
    uint64_t value = draw_word(d);
    switch (draw(d, 8)) {
        case 0: value = draw(d, 3); break;
        case 1: value = ~UINT64_C(0) - draw(d, 3); break;
        case 2: value = (UINT64_C(1) << (8 * size - 1)) - draw(d, 3); break;
        case 3: value = draw(d, 100); break;
        default: break;
    }
    memcpy(to, &value, (size_t)size);
}

void basic_draw(struct draws *d, const struct basic *b, enum op op, void *to) {
    char *at = to;
    size_t offset, len;
    uint64_t truth = draw(d, 2);
    if (!op_prepares(b, op)) {
        for (int k = 0; k < 2; k++) {
            len = basic_run(b, k, &offset);
            if (b->class == SIGNED || b->class == UNSIGNED)
                integer_for(d, at, k ? 0 : b->part);
            else
                draw_bytes(d, at + offset, len);
            if (!b->index) break;
        }
        return;
    }
    switch (b->class) {
        case REAL: store_real(at, b->part, real_for(d, op)); break;
        case COMPLEX:
            for (int k = 0; k < 2; k++)
                store_real(at + k * b->part, b->part, op == PROD ? (long double)draw(d, 3) - 1 : real_for(d, op));
            break;
        case LOGICAL: memcpy(at, &truth, (size_t)b->part); break;
        default:
            if (b->real)
                store_real(at, b->part, (long double)draw(d, 9) - 4);
            else if (chance(d, 2))
                integer_for(d, at, b->part);
            else
                truth -= draw(d, 4), memcpy(at, &truth, (size_t)b->part);
            if (b->real == 2)
                store_real(at + b->index_at, b->index, (long double)draw(d, 7));
            else
                truth = draw(d, 7), memcpy(at + b->index_at, &truth, (size_t)b->index);
    }
}

/* ---- arithmetic ---- */

static void apply_integer(const struct basic *b, enum op op, void *target, const void *origin) {
    const int is_signed = b->class == SIGNED || b->class == PAIR;
    uint64_t x = load_integer(target, b->part, is_signed), y = load_integer(origin, b->part, is_signed);
    const int less = is_signed ? (int64_t)y < (int64_t)x : y < x;
    switch (op) {
        case SUM: x += y; break;
        case PROD: x *= y; break;
        case MIN: x = less ? y : x; break;
        case MAX: x = less ? x : y; break;
        case BAND: x &= y; break;
        case BOR: x |= y; break;
        case BXOR: x ^= y; break;
        case LAND: x = x && y; break;
        case LOR: x = x || y; break;
        default: x = !x != !y; break;
    }
    memcpy(target, &x, (size_t)b->part);
}

static void apply_real(const struct basic *b, enum op op, void *target, const void *origin) {
    const long double x = load_real(target, b->part), y = load_real(origin, b->part);
    store_real(target, b->part, op == SUM ? x + y : op == PROD ? x * y : op == MIN ? (y < x ? y : x) : (y > x ? y : x));
}

static void apply_complex(const struct basic *b, enum op op, char *target, const char *origin) {
    const long double a = load_real(target, b->part), c = load_real(target + b->part, b->part),
                      x = load_real(origin, b->part), y = load_real(origin + b->part, b->part);
    store_real(target, b->part, op == SUM ? a + x : a * x - c * y);
    store_real(target + b->part, b->part, op == SUM ? c + y : a * y + c * x);
}

/* The pair with the lesser value (MPI_MINLOC) or the greater one wins; of equal ones, that with the lesser index. */
static void apply_pair(const struct basic *b, enum op op, char *target, const char *origin) {
    int order, wins;
    if (b->real) {
        const long double x = load_real(target, b->part), y = load_real(origin, b->part);
        order = (y > x) - (y < x);
    } else {
        const int64_t x = (int64_t)load_integer(target, b->part, 1), y = (int64_t)load_integer(origin, b->part, 1);
        order = (y > x) - (y < x);
    }
    if (op == MINLOC) order = -order;
    if (b->real == 2)
        wins = load_real(origin + b->index_at, b->index) < load_real(target + b->index_at, b->index);
    else
        wins = (int64_t)load_integer(origin + b->index_at, b->index, 1) <
               (int64_t)load_integer(target + b->index_at, b->index, 1);
    if (order < 0 || (order == 0 && !wins)) return;
    memcpy(target, origin, is_long_double(b) ? LONG_DOUBLE_BYTES : (size_t)b->part);
    memcpy(target + b->index_at, origin + b->index_at, (size_t)b->index);
}

void basic_apply(const struct basic *b, enum op op, void *target, const void *origin) {
    size_t at, len;
    if (op == NO_OP) return;
    if (op == REPLACE) {
        for (int k = 0; k < 2; k++)
            if ((len = basic_run(b, k, &at)) != 0) memcpy((char *)target + at, (const char *)origin + at, len);
        return;
    }
    switch (b->class) {
        case REAL: apply_real(b, op, target, origin); break;
        case COMPLEX: apply_complex(b, op, target, origin); break;
        case PAIR: apply_pair(b, op, target, origin); break;
        default: apply_integer(b, op, target, origin); break;
    }
}
