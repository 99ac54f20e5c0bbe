/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of gfortran's library that read or define arrays of the program: copies of arguments, intrinsic functions,
 * and transfers of input and output. The library is not instrumented. An array result may be a variable of the program,
 * or (base NULL) memory that the function allocates.
 *
 * Not here, since gfortran compiles them into the program: reductions of whole arrays, TRANSPOSE, and products of small
 * matrices. */
#include "config.h"

#include <stdbool.h>

#include "instruments/race/caf.h"
#include "instruments/race/calls.h"
#include "instruments/race/places.h"

/* The library calls some of these functions itself, also by jumps: while race_inside is set they record nothing. */
#define BEGIN(CALL, NAME)                                                                                              \
    RACE_NEXT(CALL);                                                                                                   \
    const struct race_call c = {.name = (NAME), .pc = CALLS_HERE};                                                     \
    const int watched = race_watches() && race_is_program(c.pc)
#define READS(D)                                                                                                       \
    if (watched) race_caf_near(&c, D, 0)
#define WRITES(D)                                                                                                      \
    if (watched) race_caf_near(&c, D, 1)

typedef struct descriptor D;

#pragma GCC visibility push(default)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* ---- contiguous copies of arguments ---- */

void *_gfortran_internal_pack(D *a) {
    BEGIN(_gfortran_internal_pack, "a copy of the argument");
    void *packed;
    RACE_FORWARD(packed = next(a));
    if (packed != a->base) READS(a);
    return packed;
}
void _gfortran_internal_unpack(D *a, const void *packed) {
    BEGIN(_gfortran_internal_unpack, "a copy of the argument");
    if (packed && packed != a->base) WRITES(a);
    RACE_FORWARD(next(a, packed));
}

/* ---- intrinsic functions ---- */

#define MATMUL(T)                                                                                                      \
    void _gfortran_matmul_##T(D *result, D *a, D *b, int try_blas, int limit, void *gemm) {                            \
        BEGIN(_gfortran_matmul_##T, "MATMUL");                                                                         \
        READS(a);                                                                                                      \
        READS(b);                                                                                                      \
        WRITES(result);                                                                                                \
        RACE_FORWARD(next(result, a, b, try_blas, limit, gemm));                                                       \
    }
MATMUL(i1)
MATMUL(i2)
MATMUL(i4)
MATMUL(i8)
MATMUL(r4)
MATMUL(r8)
MATMUL(r10)
MATMUL(r16)
MATMUL(c4)
MATMUL(c8)
MATMUL(c10)
MATMUL(c16)
MATMUL(l4)
MATMUL(l8)

#define RESHAPE(T)                                                                                                     \
    void _gfortran_reshape##T(D *result, D *source, D *shape, D *pad, D *order) {                                      \
        BEGIN(_gfortran_reshape##T, "RESHAPE");                                                                        \
        READS(source);                                                                                                 \
        READS(shape);                                                                                                  \
        WRITES(result);                                                                                                \
        RACE_FORWARD(next(result, source, shape, pad, order));                                                         \
    }
RESHAPE()
RESHAPE(_4)
RESHAPE(_8)
RESHAPE(_16)
RESHAPE(_r4)
RESHAPE(_r8)
RESHAPE(_r10)
RESHAPE(_r16)
RESHAPE(_c4)
RESHAPE(_c8)
RESHAPE(_c10)
RESHAPE(_c16)

/* Functions whose first two arguments are the result and an array. */
#define TWO_ARRAYS(CALL, NAME, PARAMETERS, ...)                                                                        \
    void CALL PARAMETERS {                                                                                             \
        BEGIN(CALL, NAME);                                                                                             \
        READS(array);                                                                                                  \
        WRITES(result);                                                                                                \
        RACE_FORWARD(next(result, array, __VA_ARGS__));                                                                \
    }
TWO_ARRAYS(_gfortran_spread, "SPREAD", (D * result, D *array, const ptrdiff_t *along, const ptrdiff_t *copies), along,
           copies)
TWO_ARRAYS(_gfortran_pack, "PACK", (D * result, D *array, const D *mask, const D *vector), mask, vector)
TWO_ARRAYS(_gfortran_pack_s, "PACK", (D * result, D *array, const void *mask, const D *vector), mask, vector)
TWO_ARRAYS(_gfortran_unpack0, "UNPACK", (D * result, D *array, const D *mask, const void *field), mask, field)
TWO_ARRAYS(_gfortran_unpack1, "UNPACK", (D * result, D *array, const D *mask, const D *field), mask, field)

#define SHIFTS(KIND)                                                                                                   \
    TWO_ARRAYS(_gfortran_cshift0_##KIND, "CSHIFT", (D * result, D * array, const void *shift, const void *dim), shift, \
               dim)                                                                                                    \
    TWO_ARRAYS(_gfortran_eoshift0_##KIND, "EOSHIFT",                                                                   \
               (D * result, D * array, const void *shift, const void *bound, const void *dim), shift, bound, dim)
SHIFTS(1)
SHIFTS(2)
SHIFTS(4)
SHIFTS(8)
TWO_ARRAYS(_gfortran_cshift1_4, "CSHIFT", (D * result, D *array, const D *shift, const void *dim), shift, dim)
TWO_ARRAYS(_gfortran_cshift1_8, "CSHIFT", (D * result, D *array, const D *shift, const void *dim), shift, dim)

#define ALONG(CALL, NAME) TWO_ARRAYS(CALL, NAME, (D * result, D * array, const ptrdiff_t *dim), dim)
#define MASKED(CALL, NAME)                                                                                             \
    TWO_ARRAYS(CALL, NAME, (D * result, D * array, const ptrdiff_t *dim, const D *mask), dim, mask)
#define LOCATION(CALL, NAME) TWO_ARRAYS(CALL, NAME, (D * result, D * array, int back), back)
#define LOCATION_ALONG(CALL, NAME)                                                                                     \
    TWO_ARRAYS(CALL, NAME, (D * result, D * array, const ptrdiff_t *dim, int back), dim, back)
#define SUMS(T)                                                                                                        \
    ALONG(_gfortran_sum_##T, "SUM")                                                                                    \
    ALONG(_gfortran_product_##T, "PRODUCT")                                                                            \
    MASKED(_gfortran_msum_##T, "SUM")                                                                                  \
    MASKED(_gfortran_mproduct_##T, "PRODUCT")
#define LIMITS(T)                                                                                                      \
    SUMS(T)                                                                                                            \
    ALONG(_gfortran_maxval_##T, "MAXVAL")                                                                              \
    ALONG(_gfortran_minval_##T, "MINVAL")                                                                              \
    MASKED(_gfortran_mmaxval_##T, "MAXVAL")                                                                            \
    MASKED(_gfortran_mminval_##T, "MINVAL")                                                                            \
    LOCATION(_gfortran_maxloc0_4_##T, "MAXLOC")                                                                        \
    LOCATION(_gfortran_minloc0_4_##T, "MINLOC")                                                                        \
    LOCATION_ALONG(_gfortran_maxloc1_4_##T, "MAXLOC")                                                                  \
    LOCATION_ALONG(_gfortran_minloc1_4_##T, "MINLOC")
LIMITS(i4)
LIMITS(i8)
LIMITS(r4)
LIMITS(r8)
SUMS(c4)
SUMS(c8)
#define LOGICALS(T)                                                                                                    \
    ALONG(_gfortran_any_##T, "ANY")                                                                                    \
    ALONG(_gfortran_all_##T, "ALL")
LOGICALS(l1)
LOGICALS(l4)
ALONG(_gfortran_count_4_l, "COUNT")

/* ---- text ---- */

#define BYTES(P, N, WRITE)                                                                                             \
    if (watched) race_caf_bytes(&c, P, N, WRITE)
int _gfortran_compare_string(size_t a_len, const char *a, size_t b_len, const char *b) {
    BEGIN(_gfortran_compare_string, "a comparison");
    BYTES(a, a_len, 0);
    BYTES(b, b_len, 0);
    int order;
    RACE_FORWARD(order = next(a_len, a, b_len, b));
    return order;
}
void _gfortran_concat_string(size_t len, char *to, size_t a_len, const char *a, size_t b_len, const char *b) {
    BEGIN(_gfortran_concat_string, "a concatenation");
    BYTES(a, a_len, 0);
    BYTES(b, b_len, 0);
    BYTES(to, len, 1);
    RACE_FORWARD(next(len, to, a_len, a, b_len, b));
}
size_t _gfortran_string_len_trim(size_t len, const char *text) {
    BEGIN(_gfortran_string_len_trim, "LEN_TRIM");
    BYTES(text, len, 0);
    size_t trimmed;
    RACE_FORWARD(trimmed = next(len, text));
    return trimmed;
}
void _gfortran_string_trim(size_t *len, char **to, size_t text_len, const char *text) {
    BEGIN(_gfortran_string_trim, "TRIM");
    BYTES(text, text_len, 0);
    RACE_FORWARD(next(len, to, text_len, text));
}
#define SEARCH(CALL, NAME)                                                                                             \
    size_t CALL(size_t len, const char *text, size_t part_len, const char *part, int back) {                           \
        BEGIN(CALL, NAME);                                                                                             \
        BYTES(text, len, 0);                                                                                           \
        BYTES(part, part_len, 0);                                                                                      \
        size_t at;                                                                                                     \
        RACE_FORWARD(at = next(len, text, part_len, part, back));                                                      \
        return at;                                                                                                     \
    }
SEARCH(_gfortran_string_index, "INDEX")
SEARCH(_gfortran_string_scan, "SCAN")
SEARCH(_gfortran_string_verify, "VERIFY")

/* ---- input and output ---- */

static size_t real_bytes(int kind) { return kind == 10 ? 16 : (size_t)kind; }

/* The two directions of a transfer: READ defines the variable, WRITE and PRINT reference it. */
#define TRANSFER(CALL, PARAMETERS, RECORD, ...)                                                                        \
    void CALL PARAMETERS {                                                                                             \
        const int write = 1;                                                                                           \
        BEGIN(CALL, "READ");                                                                                           \
        RECORD;                                                                                                        \
        RACE_FORWARD(next(io, __VA_ARGS__));                                                                           \
    }                                                                                                                  \
    void CALL##_write PARAMETERS {                                                                                     \
        const int write = 0;                                                                                           \
        BEGIN(CALL##_write, "WRITE");                                                                                  \
        RECORD;                                                                                                        \
        RACE_FORWARD(next(io, __VA_ARGS__));                                                                           \
    }
TRANSFER(_gfortran_transfer_integer, (void *io, void *p, int kind), BYTES(p, (size_t)kind, write), p, kind)
TRANSFER(_gfortran_transfer_logical, (void *io, void *p, int kind), BYTES(p, (size_t)kind, write), p, kind)
TRANSFER(_gfortran_transfer_real, (void *io, void *p, int kind), BYTES(p, real_bytes(kind), write), p, kind)
TRANSFER(_gfortran_transfer_complex, (void *io, void *p, int kind), BYTES(p, 2 * real_bytes(kind), write), p, kind)
TRANSFER(_gfortran_transfer_character, (void *io, void *p, size_t len), BYTES(p, len, write), p, len)
TRANSFER(_gfortran_transfer_array, (void *io, D *a, int kind, size_t len), if (watched) race_caf_near(&c, a, write), a,
         kind, len)

#pragma GCC diagnostic pop
#pragma GCC visibility pop
