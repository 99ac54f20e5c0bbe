/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations are those of MPI-4.0, section 6.9.2, and those of 6.9.4 for pairs. MPICH has some more, which programs
 * use: all operations of integers for MPI_CHAR and MPI_CHARACTER. */
#include "config.h"

#include "interfaces/mpi/elements.h"
#include "rma.h"
#include "runtime/interfaces.h"

#include <complex.h>
#include <string.h>
#include <wchar.h>

/* ---- sets of operations ---- */

#define BIT(OP)    (UINT32_C(1) << RMAI_WIN_##OP)
#define EVERY      (BIT(REPLACE) | BIT(NO_OP))
#define LOGICAL    (EVERY | BIT(LAND) | BIT(LOR) | BIT(LXOR))
#define BYTES      (EVERY | BIT(BAND) | BIT(BOR) | BIT(BXOR))
#define COMPLEX    (EVERY | BIT(SUM) | BIT(PROD))
#define REAL       (COMPLEX | BIT(MAX) | BIT(MIN))
#define INTEGER    (REAL | LOGICAL | BYTES | BIT(SWAP))
#define LOCATES    (EVERY | BIT(MINLOC) | BIT(MAXLOC))
#define TRUTH      (LOGICAL | BIT(SWAP))
#define BYTES_SWAP (BYTES | BIT(SWAP))

/* ---- operations that librma does not have ---- */

/* The loop over packed elements: `a` of the target, `b` of the origin; NEW is the result. */
#define EACH(TYPE, NEW)                                                                                                \
    for (size_t i = 0; i < n; i++) {                                                                                   \
        TYPE a, b;                                                                                                     \
        memcpy(&a, (char *)there + i * sizeof a, sizeof a);                                                            \
        memcpy(&b, (const char *)mine + i * sizeof b, sizeof b);                                                       \
        a = (NEW);                                                                                                     \
        memcpy((char *)there + i * sizeof a, &a, sizeof a);                                                            \
    }

#define COMPLEX_VALUES(NAME, TYPE)                                                                                     \
    static void combine_##NAME(enum rmai_win_op op, void *there, const void *mine, size_t n) {                         \
        if (op == RMAI_WIN_SUM) EACH(TYPE, a + b)                                                                      \
        if (op == RMAI_WIN_PROD) EACH(TYPE, a *b)                                                                      \
    }
COMPLEX_VALUES(ldouble_complex, long double complex)

/* REAL*16 and COMPLEX*32 of gfortran have 113 bits of precision. Where long double has as many, it is the same type. */
#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 quad;
__extension__ typedef _Complex float __attribute__((mode(TC))) quad_complex;
#else
typedef long double quad;
typedef long double complex quad_complex;
#endif
COMPLEX_VALUES(quad_complex, quad_complex)

static void combine_quad(enum rmai_win_op op, void *there, const void *mine, size_t n) {
    if (op == RMAI_WIN_SUM) EACH(quad, a + b)
    if (op == RMAI_WIN_PROD) EACH(quad, a * b)
    if (op == RMAI_WIN_MAX) EACH(quad, b > a ? b : a)
    if (op == RMAI_WIN_MIN) EACH(quad, b < a ? b : a)
}

/* librma knows a short and an int with the gap between them that they have in memory. Packed they have none. */
struct short_int {
    short value;
    int index;
};

void rmai_short_ints_spread(void *spread, const char *packed, size_t n) {
    for (struct short_int *to = spread; n > 0; n--, to++, packed += RMAI_SHORT_INT_PACKED) {
        *to = (struct short_int){0};
        memcpy(&to->value, packed, sizeof to->value);
        memcpy(&to->index, packed + sizeof to->value, sizeof to->index);
    }
}

void rmai_short_ints_pack(char *packed, const void *spread, size_t n) {
    for (const struct short_int *from = spread; n > 0; n--, from++, packed += RMAI_SHORT_INT_PACKED) {
        memcpy(packed, &from->value, sizeof from->value);
        memcpy(packed + sizeof from->value, &from->index, sizeof from->index);
    }
}

static void combine_short_int(enum rmai_win_op op, void *there, const void *mine, size_t n) {
    char *at = there;
    for (const char *from = mine; n > 0; n--, at += RMAI_SHORT_INT_PACKED, from += RMAI_SHORT_INT_PACKED) {
        struct short_int a, b;
        rmai_short_ints_spread(&a, at, 1);
        rmai_short_ints_spread(&b, from, 1);
        rma_kernel_(rmai_short_int_op(op), RMA_PAIR_SHORT_, &a, &b, 1);
        rmai_short_ints_pack(at, &a, 1);
    }
}

int rmai_short_int_op(enum rmai_win_op op) {
    switch (op) {
        case RMAI_WIN_MINLOC: return RMA_OP_MINLOC_;
        case RMAI_WIN_MAXLOC: return RMA_OP_MAXLOC_;
        case RMAI_WIN_REPLACE: return RMA_OP_SET_;
        default: return RMA_OP_FETCH;
    }
}

/* ---- the table ---- */

/* What is known of a predefined type beforehand. */
struct known {
    MPI_Datatype handle;
    uint32_t ops;
    int native;
    rmai_element_combine *combine;
    size_t value, index; /* of a pair: bytes of its value, and where its index begins in memory */
};

struct int_int {
    int value, index;
};
struct long_int {
    long value;
    int index;
};
struct float_int {
    float value;
    int index;
};
struct double_int {
    double value;
    int index;
};
struct ldouble_int {
    long double value;
    int index;
};
#define PAIR_OF(PAIR) sizeof((PAIR){0}.value), offsetof(PAIR, index)

/* The integer of librma with so many bytes. */
static int integer_of(size_t size) {
    return size == 1 ? RMA_INT8 : size == 2 ? RMA_INT16 : size == 4 ? RMA_INT32 : size == 8 ? RMA_INT64 : -1;
}

static int real_of(size_t size) { return size == 4 ? RMA_FLOAT : size == 8 ? RMA_DOUBLE : -1; }

static int complex_of(size_t size) { return size == 8 ? RMA_COMPLEXF : size == 16 ? RMA_COMPLEXD : -1; }

static struct known known_real(size_t size) {
    return (struct known){.ops = REAL, .native = real_of(size), .combine = size == 16 ? combine_quad : NULL};
}

static struct known known_complex(size_t size) {
    return (struct known){
        .ops = COMPLEX, .native = complex_of(size), .combine = size == 32 ? combine_quad_complex : NULL};
}

static int find_known(MPI_Datatype handle, size_t size, struct known *found) {
    const int integer = integer_of(size);
    const struct known all[] = {
        {MPI_CHAR, INTEGER, RMA_INT8, NULL, 0, 0},
        {MPI_SIGNED_CHAR, INTEGER, RMA_INT8, NULL, 0, 0},
        {MPI_UNSIGNED_CHAR, INTEGER, RMA_UINT8, NULL, 0, 0},
        {MPI_BYTE, BYTES_SWAP, RMA_UINT8, NULL, 0, 0},
        {MPI_PACKED, EVERY, RMA_UINT8, NULL, 0, 0},
        {MPI_WCHAR, EVERY, integer, NULL, 0, 0},
        {MPI_SHORT, INTEGER, RMA_SHORT, NULL, 0, 0},
        {MPI_UNSIGNED_SHORT, INTEGER, RMA_USHORT, NULL, 0, 0},
        {MPI_INT, INTEGER, RMA_INT, NULL, 0, 0},
        {MPI_UNSIGNED, INTEGER, RMA_UINT, NULL, 0, 0},
        {MPI_LONG, INTEGER, RMA_LONG, NULL, 0, 0},
        {MPI_UNSIGNED_LONG, INTEGER, RMA_ULONG, NULL, 0, 0},
        {MPI_LONG_LONG, INTEGER, RMA_LLONG, NULL, 0, 0},
        {MPI_UNSIGNED_LONG_LONG, INTEGER, RMA_ULLONG, NULL, 0, 0},
        {MPI_FLOAT, REAL, RMA_FLOAT, NULL, 0, 0},
        {MPI_DOUBLE, REAL, RMA_DOUBLE, NULL, 0, 0},
        {MPI_LONG_DOUBLE, REAL, RMA_LDOUBLE, NULL, 0, 0},
        {MPI_INT8_T, INTEGER, RMA_INT8, NULL, 0, 0},
        {MPI_INT16_T, INTEGER, RMA_INT16, NULL, 0, 0},
        {MPI_INT32_T, INTEGER, RMA_INT32, NULL, 0, 0},
        {MPI_INT64_T, INTEGER, RMA_INT64, NULL, 0, 0},
        {MPI_UINT8_T, INTEGER, RMA_UINT8, NULL, 0, 0},
        {MPI_UINT16_T, INTEGER, RMA_UINT16, NULL, 0, 0},
        {MPI_UINT32_T, INTEGER, RMA_UINT32, NULL, 0, 0},
        {MPI_UINT64_T, INTEGER, RMA_UINT64, NULL, 0, 0},
        {MPI_AINT, INTEGER, integer, NULL, 0, 0},
        {MPI_OFFSET, INTEGER, integer, NULL, 0, 0},
        {MPI_COUNT, INTEGER, integer, NULL, 0, 0},
        {MPI_C_BOOL, TRUTH, RMA_UINT8, NULL, 0, 0},
        {MPI_C_FLOAT_COMPLEX, COMPLEX, RMA_COMPLEXF, NULL, 0, 0},
        {MPI_C_DOUBLE_COMPLEX, COMPLEX, RMA_COMPLEXD, NULL, 0, 0},
        {MPI_C_LONG_DOUBLE_COMPLEX, COMPLEX, -1, combine_ldouble_complex, 0, 0},
        {MPI_CXX_BOOL, TRUTH, RMA_UINT8, NULL, 0, 0},
        {MPI_CXX_FLOAT_COMPLEX, COMPLEX, RMA_COMPLEXF, NULL, 0, 0},
        {MPI_CXX_DOUBLE_COMPLEX, COMPLEX, RMA_COMPLEXD, NULL, 0, 0},
        {MPI_CXX_LONG_DOUBLE_COMPLEX, COMPLEX, -1, combine_ldouble_complex, 0, 0},
        {MPI_CHARACTER, INTEGER, RMA_INT8, NULL, 0, 0},
        {MPI_LOGICAL, TRUTH, integer, NULL, 0, 0},
        {MPI_INTEGER, INTEGER, integer, NULL, 0, 0},
        {MPI_INTEGER1, INTEGER, RMA_INT8, NULL, 0, 0},
        {MPI_INTEGER2, INTEGER, RMA_INT16, NULL, 0, 0},
        {MPI_INTEGER4, INTEGER, RMA_INT32, NULL, 0, 0},
        {MPI_INTEGER8, INTEGER, RMA_INT64, NULL, 0, 0},
        {MPI_2INT, LOCATES, RMA_PAIR_INT_, NULL, PAIR_OF(struct int_int)},
        {MPI_SHORT_INT, LOCATES, -1, combine_short_int, PAIR_OF(struct short_int)},
        {MPI_LONG_INT, LOCATES, RMA_PAIR_LONG_, NULL, PAIR_OF(struct long_int)},
        {MPI_FLOAT_INT, LOCATES, RMA_PAIR_FLOAT_, NULL, PAIR_OF(struct float_int)},
        {MPI_DOUBLE_INT, LOCATES, RMA_PAIR_DOUBLE_, NULL, PAIR_OF(struct double_int)},
        {MPI_LONG_DOUBLE_INT, LOCATES, RMA_PAIR_LDOUBLE_, NULL, PAIR_OF(struct ldouble_int)},
        {MPI_2INTEGER, LOCATES, size == 8 ? RMA_PAIR_INT_ : RMA_PAIR_INT64S_, NULL, size / 2, size / 2},
        {MPI_2REAL, LOCATES, size == 8 ? RMA_PAIR_FLOATS_ : RMA_PAIR_DOUBLES_, NULL, size / 2, size / 2},
        {MPI_2DOUBLE_PRECISION, LOCATES, RMA_PAIR_DOUBLES_, NULL, size / 2, size / 2},
    };
    const MPI_Datatype reals[] = {MPI_REAL, MPI_REAL4, MPI_REAL8, MPI_REAL16, MPI_DOUBLE_PRECISION};
    const MPI_Datatype complexes[] = {MPI_COMPLEX, MPI_COMPLEX8, MPI_COMPLEX16, MPI_COMPLEX32, MPI_DOUBLE_COMPLEX};
    int hit = 0;
    if (handle == MPI_DATATYPE_NULL || size == 0) return 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0] && !hit; i++)
        if ((hit = all[i].handle == handle)) *found = all[i];
    for (size_t i = 0; i < sizeof reals / sizeof reals[0] && !hit; i++)
        if ((hit = reals[i] == handle)) *found = known_real(size);
    for (size_t i = 0; i < sizeof complexes / sizeof complexes[0] && !hit; i++)
        if ((hit = complexes[i] == handle)) *found = known_complex(size);
    if (!hit) *found = (struct known){.ops = EVERY, .native = integer_of(size)}; /* an extension of this MPI */
    return 1;
}

static int find_f90(int combiner, size_t size, struct known *found) {
    switch (combiner) {
        case MPI_COMBINER_F90_INTEGER: *found = (struct known){.ops = INTEGER, .native = integer_of(size)}; break;
        case MPI_COMBINER_F90_REAL: *found = known_real(size); break;
        case MPI_COMBINER_F90_COMPLEX: *found = known_complex(size); break;
        default: return 0;
    }
    return 1;
}

/* enum rma_op of each operation, and enum rma_atomic_op_ of those that librma has for one word. */
static const signed char array_ops[RMAI_WIN_OPS] = {
    RMA_OP_MAX,  RMA_OP_MIN, RMA_OP_SUM,     RMA_OP_PROD,    RMA_OP_LAND,    RMA_OP_AND,   RMA_OP_LOR, RMA_OP_OR,
    RMA_OP_LXOR, RMA_OP_XOR, RMA_OP_MINLOC_, RMA_OP_MAXLOC_, RMA_OP_REPLACE, RMA_OP_FETCH, -1};
static const signed char integer_words[RMAI_WIN_OPS] = {RMA_STRIPED_ + RMA_FETCH_SMAX_,
                                                        RMA_STRIPED_ + RMA_FETCH_SMIN_,
                                                        RMA_STRIPED_ + RMA_FETCH_ADD_,
                                                        -1,
                                                        -1,
                                                        RMA_STRIPED_ + RMA_FETCH_AND_,
                                                        -1,
                                                        RMA_STRIPED_ + RMA_FETCH_OR_,
                                                        -1,
                                                        RMA_STRIPED_ + RMA_FETCH_XOR_,
                                                        -1,
                                                        -1,
                                                        RMA_STRIPED_ + RMA_SWAP_,
                                                        RMA_FETCH_,
                                                        RMA_STRIPED_ + RMA_COMPARE_SWAP_};
static const signed char real_words[RMAI_WIN_OPS] = {
    RMA_FETCH_FMAX_, RMA_FETCH_FMIN_, RMA_FETCH_FADD_, -1, -1, -1, -1, -1, -1, -1, -1, -1, RMA_FSWAP_, RMA_FETCH_, -1};

static void fill_in_operations(struct rmai_element *e) {
    const int is_unsigned = e->native == RMA_UINT32 || e->native == RMA_UINT64;
    const int integer = is_unsigned || e->native == RMA_INT32 || e->native == RMA_INT64;
    const int real = e->native == RMA_FLOAT || e->native == RMA_DOUBLE;
    for (int op = 0; op < RMAI_WIN_OPS; op++) {
        const int has = rmai_element_has(e, (enum rmai_win_op)op);
        const int kernel = has && e->native >= 0 && array_ops[op] >= 0 && rma_has_kernel_(array_ops[op], e->native);
        e->array[op] = kernel ? array_ops[op] : -1;
        e->word[op] = has && integer ? integer_words[op] : has && real ? real_words[op] : -1;
    }
    if (is_unsigned && e->word[RMAI_WIN_MAX] >= 0) e->word[RMAI_WIN_MAX] = RMA_STRIPED_ + RMA_FETCH_MAX_;
    if (is_unsigned && e->word[RMAI_WIN_MIN] >= 0) e->word[RMAI_WIN_MIN] = RMA_STRIPED_ + RMA_FETCH_MIN_;
}

/* Accumulates of a window are atomic against each other only. So words and arrays of them take the locks of stripes. */
static int striped_type(int native) {
    switch (native) {
        case RMA_INT32: return RMA_STRIPED_INT32_;
        case RMA_INT64: return RMA_STRIPED_INT64_;
        case RMA_UINT32: return RMA_STRIPED_UINT32_;
        case RMA_UINT64: return RMA_STRIPED_UINT64_;
        default: return native;
    }
}

/* The entries that were asked for. They stay: types point to them. The named types of MPI are fewer than these places.
 * The types of MPI_Type_create_f90_real and its relatives have a handle for each precision and range that a program
 * names, so those of one kind and size share an entry. */
#define ENTRIES 192
static struct rmai_element entries[ENTRIES];
static int n_entries;

const struct rmai_element *rmai_element_of(MPI_Datatype handle, int combiner, size_t size) {
    struct known k = {.native = -1};
    const int f90 = find_f90(combiner, size, &k);
    struct rmai_element *e = entries;
    while (e < entries + n_entries && !(f90 ? e->f90 == combiner && e->size == size : e->handle == handle)) e++;
    if (e < entries + n_entries) return e;
    if (n_entries == ENTRIES || (!f90 && !find_known(handle, size, &k))) return NULL;
    *e = (struct rmai_element){.handle = f90 ? MPI_DATATYPE_NULL : handle,
                               .f90 = f90 ? combiner : MPI_COMBINER_NAMED,
                               .size = size,
                               .ops = k.ops,
                               .native = k.native,
                               .align = k.native >= 0 ? rma_type_align_(k.native) : 1,
                               .gap_at = k.index > k.value ? k.value : 0,
                               .index = k.index,
                               .combine = k.combine};
    fill_in_operations(e);
    e->native = striped_type(e->native);
    n_entries++;
    return e;
}

void rmai_element_combine_packed(const struct rmai_element *e, enum rmai_win_op op, void *there, const void *mine,
                                 size_t n) {
    if (op == RMAI_WIN_REPLACE)
        memcpy(there, mine, n * e->size);
    else if (op != RMAI_WIN_NO_OP && e->array[op] >= 0)
        rma_kernel_(e->array[op], e->native, there, mine, n);
    else if (op != RMAI_WIN_NO_OP)
        e->combine(op, there, mine, n);
}
