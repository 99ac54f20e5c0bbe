/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem_table.h: the OpenSHMEM 1.6 API as one table: which types exist, and which functions each type has. shmem.h and
 * pshmem.h generate prototypes and inlined calls from the table; the library generates the functions and their second
 * names.
 *
 *     SHMEM_..._TYPES_(F, A)   F(A, NAME, TYPE, RNAME) for each type: its names in shmem_NAME_put and in rma_p_RNAME
 *     SHMEM_..._CALLS_(X)      X(RESULT, FUNCTION, (PARAMETERS), body) for each function
 *
 * Functions of the families with bodies are compiled into the program (rma_inline.h). For the other functions X gets no
 * body. A body passes its own function's name to librma's slow calls, so that an error names the function that the
 * program has called. Names are pasted to a leading underscore; otherwise a macro of the program (or of <iso646.h>)
 * with the same name would replace them. */
#ifndef SHMEM_TABLE_H
#define SHMEM_TABLE_H

/* This is marked as a system header: otherwise, if a program uses a name of the table for something else, gcc prints
 * each of the ten macros that generate the function. Define SHMEM_WARNINGS_ to see gcc's warnings for this file. */
#ifndef SHMEM_WARNINGS_
#pragma GCC system_header
#endif

#define SHMEM_DECLARE_(RESULT, CALL, PARAMETERS, ...) RESULT CALL PARAMETERS;
#define SHMEM_DEFINE_(RESULT, CALL, PARAMETERS, ...)  inline RESULT CALL PARAMETERS __VA_ARGS__

/* clang-format off */

/* ---- types: distinct ones, which a generic selection can tell apart, and other names of them ---- */

#define SHMEM_DISTINCT_INTEGERS_(F, A)                                                                  \
    F(A, char, char, char) F(A, schar, signed char, schar) F(A, short, short, short) F(A, int, int, int) \
    F(A, long, long, long) F(A, longlong, long long, llong) F(A, uchar, unsigned char, uchar)           \
    F(A, ushort, unsigned short, ushort) F(A, uint, unsigned int, uint) F(A, ulong, unsigned long, ulong) \
    F(A, ulonglong, unsigned long long, ullong)
#define SHMEM_REALS_(F, A)                                                                              \
    F(A, float, float, float) F(A, double, double, double) F(A, longdouble, long double, ldouble)
#define SHMEM_COMPLEX_(F, A)                                                                            \
    F(A, complexf, shmem_complexf_, complexf) F(A, complexd, shmem_complexd_, complexd)

/* Remote memory access, collective moves, min and max. */
#define SHMEM_DISTINCT_TYPES_(F, A) SHMEM_DISTINCT_INTEGERS_(F, A) SHMEM_REALS_(F, A)
#define SHMEM_TYPES_(F, A) SHMEM_DISTINCT_TYPES_(F, A)                                                  \
    F(A, int8, int8_t, int8) F(A, int16, int16_t, int16) F(A, int32, int32_t, int32) F(A, int64, int64_t, int64) \
    F(A, uint8, uint8_t, uint8) F(A, uint16, uint16_t, uint16) F(A, uint32, uint32_t, uint32)           \
    F(A, uint64, uint64_t, uint64) F(A, size, size_t, size) F(A, ptrdiff, ptrdiff_t, ptrdiff)

/* Sums, products, scans. */
#define SHMEM_DISTINCT_SUM_TYPES_(F, A) SHMEM_DISTINCT_TYPES_(F, A) SHMEM_COMPLEX_(F, A)
#define SHMEM_SUM_TYPES_(F, A) SHMEM_TYPES_(F, A) SHMEM_COMPLEX_(F, A)

/* Bitwise reductions. */
#define SHMEM_DISTINCT_BIT_TYPES_(F, A)                                                                 \
    F(A, uchar, unsigned char, uchar) F(A, ushort, unsigned short, ushort) F(A, uint, unsigned int, uint) \
    F(A, ulong, unsigned long, ulong) F(A, ulonglong, unsigned long long, ullong)                       \
    F(A, int8, int8_t, int8) F(A, int16, int16_t, int16) F(A, int32, int32_t, int32) F(A, int64, int64_t, int64)
#define SHMEM_BIT_TYPES_(F, A) SHMEM_DISTINCT_BIT_TYPES_(F, A)                                          \
    F(A, uint8, uint8_t, uint8) F(A, uint16, uint16_t, uint16) F(A, uint32, uint32_t, uint32)           \
    F(A, uint64, uint64_t, uint64) F(A, size, size_t, size)

/* Atomics and waiting: standard, extended, bitwise. */
#define SHMEM_DISTINCT_ATOMIC_TYPES_(F, A) F(A, long, long, long) SHMEM_DISTINCT_ATOMIC_TYPES_BUT_LONG_(F, A)
#define SHMEM_DISTINCT_ATOMIC_TYPES_BUT_LONG_(F, A)                                                     \
    F(A, int, int, int) F(A, longlong, long long, llong) F(A, uint, unsigned int, uint)                 \
    F(A, ulong, unsigned long, ulong) F(A, ulonglong, unsigned long long, ullong)
#define SHMEM_ATOMIC_TYPES_(F, A) SHMEM_DISTINCT_ATOMIC_TYPES_(F, A)                                    \
    F(A, int32, int32_t, int32) F(A, int64, int64_t, int64) F(A, uint32, uint32_t, uint32)              \
    F(A, uint64, uint64_t, uint64) F(A, size, size_t, size) F(A, ptrdiff, ptrdiff_t, ptrdiff)
#define SHMEM_ATOMIC_REALS_(F, A) F(A, float, float, float) F(A, double, double, double)
#define SHMEM_DISTINCT_ATOMIC_NUMBERS_(F, A) SHMEM_DISTINCT_ATOMIC_TYPES_(F, A) SHMEM_ATOMIC_REALS_(F, A)
#define SHMEM_DISTINCT_ATOMIC_BIT_TYPES_(F, A)                                                          \
    F(A, uint, unsigned int, uint) F(A, ulong, unsigned long, ulong) F(A, ulonglong, unsigned long long, ullong) \
    F(A, int32, int32_t, int32) F(A, int64, int64_t, int64)
#define SHMEM_ATOMIC_BIT_TYPES_(F, A) SHMEM_DISTINCT_ATOMIC_BIT_TYPES_(F, A)                            \
    F(A, uint32, uint32_t, uint32) F(A, uint64, uint64_t, uint64)

/* Deprecated calls, which have lists of their own. */
#define SHMEM_OLD_WAIT_TYPES_(F, A) F(A, short, short, short) F(A, ushort, unsigned short, ushort)
#define SHMEM_DISTINCT_WAIT_TYPES_(F, A) SHMEM_DISTINCT_ATOMIC_TYPES_(F, A) SHMEM_OLD_WAIT_TYPES_(F, A)
#define SHMEM_DISTINCT_WAIT_TYPES_BUT_LONG_(F, A)                                                       \
    SHMEM_DISTINCT_ATOMIC_TYPES_BUT_LONG_(F, A) SHMEM_OLD_WAIT_TYPES_(F, A)
#define SHMEM_OLD_INTEGERS_(F, A) F(A, int, int, int) F(A, long, long, long) F(A, longlong, long long, llong)
#define SHMEM_TO_ALL_BIT_TYPES_(F, A) F(A, short, short, short) SHMEM_OLD_INTEGERS_(F, A)
#define SHMEM_TO_ALL_TYPES_(F, A) SHMEM_TO_ALL_BIT_TYPES_(F, A) SHMEM_REALS_(F, A)
#define SHMEM_TO_ALL_SUM_TYPES_(F, A) SHMEM_TO_ALL_TYPES_(F, A) SHMEM_COMPLEX_(F, A)

/* ---- what the bodies have in common ---- */

/* Each family is in the table twice: for the calls that name no context (SYM), and for those that name one (CTX). */
#define SHMEM_SYM_CTX_
#define SHMEM_CTX_CTX_ shmem_ctx_t ctx,
#define SHMEM_BOTH_(FAMILY, X, NAME, TYPE, RNAME)                                                       \
    FAMILY(X, SYM, shmem_##NAME, TYPE, RNAME)                                                           \
    FAMILY(X, CTX, shmem_ctx_##NAME, TYPE, RNAME)

/* ---- put and get ---- */

#define SHMEM_PUT_(X, F, CALL, TYPE, SIZE, AS)                                                          \
    X(void, CALL, (SHMEM_##F##_CTX_ TYPE *dest, const TYPE *source, size_t nelems, int pe), {           \
        AS(#CALL, RMA_##F##_OF_, dest, source, rma_bytes_(nelems, SIZE), pe);                           \
    })
#define SHMEM_PUT_SIGNAL_(X, F, CALL, TYPE, SIZE, NBI)                                                  \
    X(void, CALL, (SHMEM_##F##_CTX_ TYPE *dest, const TYPE *source, size_t nelems, uint64_t *sig_addr,  \
        uint64_t signal, int sig_op, int pe), {                                                         \
        rma_put_signal_as_(#CALL, RMA_##F##_OF_, dest, source, rma_bytes_(nelems, SIZE), sig_addr, signal, sig_op, pe, \
            NBI);                                                                                       \
    })
#define SHMEM_MOVES_(X, F, STEM, TYPE, RNAME)                                                           \
    SHMEM_PUT_(X, F, STEM##_put, TYPE, sizeof(TYPE), rma_put_as_)                                     \
    SHMEM_PUT_(X, F, STEM##_get, TYPE, sizeof(TYPE), rma_get_as_)                                     \
    SHMEM_PUT_(X, F, STEM##_put_nbi, TYPE, sizeof(TYPE), rma_put_nbi_as_)                             \
    SHMEM_PUT_(X, F, STEM##_get_nbi, TYPE, sizeof(TYPE), rma_get_nbi_as_)                             \
    SHMEM_PUT_SIGNAL_(X, F, STEM##_put_signal, TYPE, sizeof(TYPE), 0)                                   \
    SHMEM_PUT_SIGNAL_(X, F, STEM##_put_signal_nbi, TYPE, sizeof(TYPE), 1)
#define SHMEM_SIZED_MOVES_(X, F, STEM, BITS, SIZE)                                                      \
    SHMEM_PUT_(X, F, STEM##put##BITS, void, SIZE, rma_put_as_)                                        \
    SHMEM_PUT_(X, F, STEM##get##BITS, void, SIZE, rma_get_as_)                                        \
    SHMEM_PUT_(X, F, STEM##put##BITS##_nbi, void, SIZE, rma_put_nbi_as_)                              \
    SHMEM_PUT_(X, F, STEM##get##BITS##_nbi, void, SIZE, rma_get_nbi_as_)                              \
    SHMEM_PUT_SIGNAL_(X, F, STEM##put##BITS##_signal, void, SIZE, 0)                                    \
    SHMEM_PUT_SIGNAL_(X, F, STEM##put##BITS##_signal_nbi, void, SIZE, 1)
#define SHMEM_EACH_SIZE_(FAMILY, X, F, STEM)                                                            \
    FAMILY(X, F, STEM, 8, 1) FAMILY(X, F, STEM, 16, 2) FAMILY(X, F, STEM, 32, 4)                        \
    FAMILY(X, F, STEM, 64, 8) FAMILY(X, F, STEM, 128, 16)

#define SHMEM_P_(X, F, CALL, TYPE)                                                                      \
    X(void, CALL, (SHMEM_##F##_CTX_ TYPE *dest, TYPE value, int pe), {                                  \
        rma_p_as_(#CALL, RMA_##F##_OF_, dest, &value, sizeof value, pe);                                \
    })
#define SHMEM_G_(X, F, CALL, TYPE)                                                                      \
    X(TYPE, CALL, (SHMEM_##F##_CTX_ const TYPE *source, int pe), {                                      \
        TYPE near = 0, far = 0;                                                                         \
        return rma_g_as_(#CALL, RMA_##F##_OF_, &near, &far, source, sizeof near, pe) ? near : far;      \
    })
#define SHMEM_VALUES_(X, F, STEM, TYPE, RNAME) SHMEM_P_(X, F, STEM##_p, TYPE) SHMEM_G_(X, F, STEM##_g, TYPE)

/* Only the signal. OP is set or add. */
#define SHMEM_SIGNAL_(X, F, CALL, OP)                                                                   \
    X(void, CALL, (SHMEM_##F##_CTX_ uint64_t *sig_addr, uint64_t signal, int pe), {                     \
        rma_signal_as_(#CALL, RMA_##F##_OF_, sig_addr, signal, RMA_SIGNAL_##OP, pe);                    \
    })

#define SHMEM_TYPED_MOVES_(X, NAME, TYPE, RNAME)                                                        \
    SHMEM_BOTH_(SHMEM_MOVES_, X, NAME, TYPE, RNAME) SHMEM_BOTH_(SHMEM_VALUES_, X, NAME, TYPE, RNAME)
#define SHMEM_MOVE_CALLS_(X)                                                                            \
    SHMEM_TYPES_(SHMEM_TYPED_MOVES_, X)                                                                 \
    SHMEM_EACH_SIZE_(SHMEM_SIZED_MOVES_, X, SYM, shmem_) SHMEM_SIZED_MOVES_(X, SYM, shmem_, mem, 1)     \
    SHMEM_EACH_SIZE_(SHMEM_SIZED_MOVES_, X, CTX, shmem_ctx_) SHMEM_SIZED_MOVES_(X, CTX, shmem_ctx_, mem, 1) \
    SHMEM_SIGNAL_(X, SYM, shmem_signal_set, SET) SHMEM_SIGNAL_(X, CTX, shmem_ctx_signal_set, SET)       \
    SHMEM_SIGNAL_(X, SYM, shmem_signal_add, ADD) SHMEM_SIGNAL_(X, CTX, shmem_ctx_signal_add, ADD)

/* ---- strided and blocked: not inlined ---- */

#define SHMEM_STRIDED_(X, F, CALL, TYPE)                                                                \
    X(void, CALL, (SHMEM_##F##_CTX_ TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, \
        int pe), )
#define SHMEM_BLOCKED_(X, F, CALL, TYPE)                                                                \
    X(void, CALL, (SHMEM_##F##_CTX_ TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, \
        size_t nblocks, int pe), )
#define SHMEM_STRIDES_(X, F, STEM, TYPE, RNAME)                                                         \
    SHMEM_STRIDED_(X, F, STEM##_iput, TYPE) SHMEM_STRIDED_(X, F, STEM##_iget, TYPE)                     \
    SHMEM_BLOCKED_(X, F, STEM##_ibput, TYPE) SHMEM_BLOCKED_(X, F, STEM##_ibget, TYPE)
#define SHMEM_SIZED_STRIDES_(X, F, STEM, BITS, SIZE)                                                    \
    SHMEM_STRIDED_(X, F, STEM##iput##BITS, void) SHMEM_STRIDED_(X, F, STEM##iget##BITS, void)           \
    SHMEM_BLOCKED_(X, F, STEM##ibput##BITS, void) SHMEM_BLOCKED_(X, F, STEM##ibget##BITS, void)
#define SHMEM_TYPED_STRIDES_(X, NAME, TYPE, RNAME) SHMEM_BOTH_(SHMEM_STRIDES_, X, NAME, TYPE, RNAME)
#define SHMEM_STRIDE_CALLS_(X)                                                                          \
    SHMEM_TYPES_(SHMEM_TYPED_STRIDES_, X)                                                               \
    SHMEM_EACH_SIZE_(SHMEM_SIZED_STRIDES_, X, SYM, shmem_) SHMEM_EACH_SIZE_(SHMEM_SIZED_STRIDES_, X, CTX, shmem_ctx_)

/* ---- atomics: OP is the operation's number in rma_inline.h ---- */

#define SHMEM_FETCH_(X, F, CALL, TYPE, RNAME, KIND)                                                     \
    X(TYPE, CALL, (SHMEM_##F##_CTX_ const TYPE *source, int pe), {                                      \
        return RMA_VALUE_##KIND##_(RNAME, TYPE, rma_fetch_as_(#CALL, RMA_##F##_OF_, RMA_FETCH_, source, sizeof(TYPE), \
            0, 0, pe));                                                                                 \
    })
#define SHMEM_SET_(X, F, CALL, TYPE, RNAME, KIND)                                                       \
    X(void, CALL, (SHMEM_##F##_CTX_ TYPE *dest, TYPE value, int pe), {                                  \
        rma_update_as_(#CALL, RMA_##F##_OF_, RMA_SET_, dest, sizeof value, RMA_BITS_##KIND##_(RNAME, value), pe); \
    })
#define SHMEM_SWAP_(X, F, CALL, TYPE, RNAME, KIND)                                                      \
    X(TYPE, CALL, (SHMEM_##F##_CTX_ TYPE *dest, TYPE value, int pe), {                                  \
        return RMA_VALUE_##KIND##_(RNAME, TYPE, rma_fetch_as_(#CALL, RMA_##F##_OF_, RMA_SWAP_, dest, sizeof value, \
            RMA_BITS_##KIND##_(RNAME, value), 0, pe));                                                  \
    })
#define SHMEM_FETCH_NBI_(X, F, CALL, TYPE)                                                              \
    X(void, CALL, (SHMEM_##F##_CTX_ TYPE *fetch, const TYPE *source, int pe), {                         \
        rma_fetch_nbi_as_(#CALL, RMA_##F##_OF_, fetch, RMA_FETCH_, source, sizeof(TYPE), 0, 0, pe);     \
    })
#define SHMEM_SWAP_NBI_(X, F, CALL, TYPE, RNAME, KIND)                                                  \
    X(void, CALL, (SHMEM_##F##_CTX_ TYPE *fetch, TYPE *dest, TYPE value, int pe), {                     \
        rma_fetch_nbi_as_(#CALL, RMA_##F##_OF_, fetch, RMA_SWAP_, dest, sizeof value,                   \
            RMA_BITS_##KIND##_(RNAME, value), 0, pe);                                                   \
    })
#define SHMEM_COMPARE_SWAP_(X, F, CALL, TYPE)                                                           \
    X(TYPE, CALL, (SHMEM_##F##_CTX_ TYPE *dest, TYPE cond, TYPE value, int pe), {                       \
        return (TYPE)rma_fetch_as_(#CALL, RMA_##F##_OF_, RMA_COMPARE_SWAP_, dest, sizeof value, (uint64_t)value, \
            (uint64_t)cond, pe);                                                                        \
    })
#define SHMEM_COMPARE_SWAP_NBI_(X, F, CALL, TYPE)                                                       \
    X(void, CALL, (SHMEM_##F##_CTX_ TYPE *fetch, TYPE *dest, TYPE cond, TYPE value, int pe), {          \
        rma_fetch_nbi_as_(#CALL, RMA_##F##_OF_, fetch, RMA_COMPARE_SWAP_, dest, sizeof value, (uint64_t)value, \
            (uint64_t)cond, pe);                                                                        \
    })

/* PARAMETER and VALUE: none and 1 for increments. */
#define SHMEM_UPDATE_(X, F, CALL, TYPE, PARAMETER, VALUE, OP)                                           \
    X(void, CALL, (SHMEM_##F##_CTX_ TYPE *dest PARAMETER, int pe), {                                    \
        rma_update_as_(#CALL, RMA_##F##_OF_, OP, dest, sizeof(TYPE), (uint64_t)VALUE, pe);              \
    })
#define SHMEM_FETCH_UPDATE_(X, F, CALL, TYPE, PARAMETER, VALUE, OP)                                     \
    X(TYPE, CALL, (SHMEM_##F##_CTX_ TYPE *dest PARAMETER, int pe), {                                    \
        return (TYPE)rma_fetch_as_(#CALL, RMA_##F##_OF_, OP, dest, sizeof(TYPE), (uint64_t)VALUE, 0, pe); \
    })
#define SHMEM_FETCH_UPDATE_NBI_(X, F, CALL, TYPE, PARAMETER, VALUE, OP)                                 \
    X(void, CALL, (SHMEM_##F##_CTX_ TYPE *fetch, TYPE *dest PARAMETER, int pe), {                       \
        rma_fetch_nbi_as_(#CALL, RMA_##F##_OF_, fetch, OP, dest, sizeof(TYPE), (uint64_t)VALUE, 0, pe); \
    })
#define SHMEM_OPERAND_(TYPE) , TYPE value
#define SHMEM_UPDATES_(X, F, STEM, OPERATION, TYPE, OP)                                                 \
    SHMEM_UPDATE_(X, F, STEM##_atomic##OPERATION, TYPE, SHMEM_OPERAND_(TYPE), value, OP)                \
    SHMEM_FETCH_UPDATE_(X, F, STEM##_atomic_fetch##OPERATION, TYPE, SHMEM_OPERAND_(TYPE), value, OP)    \
    SHMEM_FETCH_UPDATE_NBI_(X, F, STEM##_atomic_fetch##OPERATION##_nbi, TYPE, SHMEM_OPERAND_(TYPE), value, OP)

#define SHMEM_ATOMIC_FORMS_(X, F, STEM, TYPE, RNAME, KIND)                                              \
    SHMEM_FETCH_(X, F, STEM##_atomic_fetch, TYPE, RNAME, KIND)                                          \
    SHMEM_SET_(X, F, STEM##_atomic_set, TYPE, RNAME, KIND)                                              \
    SHMEM_SWAP_(X, F, STEM##_atomic_swap, TYPE, RNAME, KIND)                                            \
    SHMEM_FETCH_NBI_(X, F, STEM##_atomic_fetch_nbi, TYPE)                                               \
    SHMEM_SWAP_NBI_(X, F, STEM##_atomic_swap_nbi, TYPE, RNAME, KIND)
#define SHMEM_ATOMIC_REAL_FAMILY_(X, F, STEM, TYPE, RNAME) SHMEM_ATOMIC_FORMS_(X, F, STEM, TYPE, RNAME, FLOAT)
#define SHMEM_ATOMIC_INTEGER_FAMILY_(X, F, STEM, TYPE, RNAME)                                           \
    SHMEM_ATOMIC_FORMS_(X, F, STEM, TYPE, RNAME, INTEGER)                                               \
    SHMEM_COMPARE_SWAP_(X, F, STEM##_atomic_compare_swap, TYPE)                                         \
    SHMEM_COMPARE_SWAP_NBI_(X, F, STEM##_atomic_compare_swap_nbi, TYPE)                                 \
    SHMEM_UPDATE_(X, F, STEM##_atomic_inc, TYPE, , 1, RMA_FETCH_ADD_)                                   \
    SHMEM_FETCH_UPDATE_(X, F, STEM##_atomic_fetch_inc, TYPE, , 1, RMA_FETCH_ADD_)                       \
    SHMEM_FETCH_UPDATE_NBI_(X, F, STEM##_atomic_fetch_inc_nbi, TYPE, , 1, RMA_FETCH_ADD_)               \
    SHMEM_UPDATES_(X, F, STEM, _add, TYPE, RMA_FETCH_ADD_)
#define SHMEM_ATOMIC_BIT_FAMILY_(X, F, STEM, TYPE, RNAME)                                               \
    SHMEM_UPDATES_(X, F, STEM, _and, TYPE, RMA_FETCH_AND_)                                              \
    SHMEM_UPDATES_(X, F, STEM, _or, TYPE, RMA_FETCH_OR_)                                                \
    SHMEM_UPDATES_(X, F, STEM, _xor, TYPE, RMA_FETCH_XOR_)

/* Deprecated since 1.4: names without atomic_. The specification has them for signed integers and reals only; other
 * libraries, and programs, have them for all types of atomics. */
#define SHMEM_OLD_FORMS_(X, NAME, TYPE, RNAME, KIND)                                                    \
    SHMEM_FETCH_(X, SYM, shmem_##NAME##_fetch, TYPE, RNAME, KIND)                                       \
    SHMEM_SET_(X, SYM, shmem_##NAME##_set, TYPE, RNAME, KIND)                                           \
    SHMEM_SWAP_(X, SYM, shmem_##NAME##_swap, TYPE, RNAME, KIND)
#define SHMEM_OLD_REAL_ATOMICS_(X, NAME, TYPE, RNAME) SHMEM_OLD_FORMS_(X, NAME, TYPE, RNAME, FLOAT)
#define SHMEM_OLD_INTEGER_ATOMICS_(X, NAME, TYPE, RNAME)                                                \
    SHMEM_OLD_FORMS_(X, NAME, TYPE, RNAME, INTEGER)                                                     \
    SHMEM_COMPARE_SWAP_(X, SYM, shmem_##NAME##_cswap, TYPE)                                             \
    SHMEM_UPDATE_(X, SYM, shmem_##NAME##_inc, TYPE, , 1, RMA_FETCH_ADD_)                                \
    SHMEM_FETCH_UPDATE_(X, SYM, shmem_##NAME##_finc, TYPE, , 1, RMA_FETCH_ADD_)                         \
    SHMEM_UPDATE_(X, SYM, shmem_##NAME##_add, TYPE, SHMEM_OPERAND_(TYPE), value, RMA_FETCH_ADD_)        \
    SHMEM_FETCH_UPDATE_(X, SYM, shmem_##NAME##_fadd, TYPE, SHMEM_OPERAND_(TYPE), value, RMA_FETCH_ADD_)

#define SHMEM_INTEGER_ATOMICS_(X, NAME, TYPE, RNAME) SHMEM_BOTH_(SHMEM_ATOMIC_INTEGER_FAMILY_, X, NAME, TYPE, RNAME)
#define SHMEM_REAL_ATOMICS_(X, NAME, TYPE, RNAME) SHMEM_BOTH_(SHMEM_ATOMIC_REAL_FAMILY_, X, NAME, TYPE, RNAME)
#define SHMEM_BIT_ATOMICS_(X, NAME, TYPE, RNAME) SHMEM_BOTH_(SHMEM_ATOMIC_BIT_FAMILY_, X, NAME, TYPE, RNAME)
#define SHMEM_ATOMIC_CALLS_(X)                                                                          \
    SHMEM_ATOMIC_TYPES_(SHMEM_INTEGER_ATOMICS_, X)                                                      \
    SHMEM_ATOMIC_REALS_(SHMEM_REAL_ATOMICS_, X)                                                         \
    SHMEM_ATOMIC_BIT_TYPES_(SHMEM_BIT_ATOMICS_, X)                                                      \
    SHMEM_ATOMIC_TYPES_(SHMEM_OLD_INTEGER_ATOMICS_, X)                                                  \
    SHMEM_ATOMIC_REALS_(SHMEM_OLD_REAL_ATOMICS_, X)

/* ---- waiting ---- */

#define SHMEM_WAIT_(X, NAME, TYPE, RNAME)                                                               \
    X(void, shmem_##NAME##_wait_until, (TYPE *ivar, int cmp, TYPE cmp_value), {                         \
        if (rma_holds_##RNAME(ivar, cmp, cmp_value) != 1)                                               \
            rma_wait_slow_("shmem_" #NAME "_wait_until", RMA_WORD_(TYPE), ivar, cmp, &cmp_value, NULL); \
    })                                                                                                  \
    X(int, shmem_##NAME##_test, (TYPE *ivar, int cmp, TYPE cmp_value), {                                \
        if (rma_holds_##RNAME(ivar, cmp, cmp_value) == 1) return 1;                                     \
        return rma_test_slow_("shmem_" #NAME "_test", RMA_WORD_(TYPE), ivar, cmp, &cmp_value);          \
    })                                                                                                  \
    SHMEM_WAIT_SET_(X, NAME, TYPE, , TYPE cmp_value, &cmp_value, 0)                                     \
    SHMEM_WAIT_SET_(X, NAME, TYPE, _vector, const TYPE *cmp_values, cmp_values, 1)

/* FORM is nothing or _vector, VALUE the parameter, VALUES the address of the value or values. */
#define SHMEM_WAIT_SET_(X, NAME, TYPE, FORM, VALUE, VALUES, MANY)                                       \
    SHMEM_WORDS_(X, void, (void), shmem_##NAME##_wait_until_all##FORM, TYPE, , NULL, VALUE, VALUES, MANY, RMA_ALL_, 1) \
    SHMEM_WORDS_(X, size_t, return, shmem_##NAME##_wait_until_any##FORM, TYPE, , NULL, VALUE, VALUES, MANY, \
        RMA_ANY_, 1) \
    SHMEM_WORDS_(X, size_t, return, shmem_##NAME##_wait_until_some##FORM, TYPE, SHMEM_INDICES_, indices, VALUE, \
        VALUES, MANY, RMA_SOME_, 1) \
    SHMEM_WORDS_(X, int, return (int), shmem_##NAME##_test_all##FORM, TYPE, , NULL, VALUE, VALUES, MANY, RMA_ALL_, 0) \
    SHMEM_WORDS_(X, size_t, return, shmem_##NAME##_test_any##FORM, TYPE, , NULL, VALUE, VALUES, MANY, RMA_ANY_, 0) \
    SHMEM_WORDS_(X, size_t, return, shmem_##NAME##_test_some##FORM, TYPE, SHMEM_INDICES_, indices, VALUE, VALUES, \
        MANY, RMA_SOME_, 0)
#define SHMEM_INDICES_ size_t *indices,
#define SHMEM_WORDS_(X, RESULT, GIVE, CALL, TYPE, PARAMETER, INDICES, VALUE, VALUES, MANY, WHAT, WAITS) \
    X(RESULT, CALL, (TYPE *ivars, size_t nelems, PARAMETER const int *status, int cmp, VALUE), {        \
        int code;                                                                                       \
        GIVE rma_words_(#CALL, WHAT, WAITS, RMA_WORD_(TYPE), ivars, nelems, INDICES, status, cmp, VALUES, MANY, \
            &code); \
    })

/* Deprecated: words of 16 bits, and waiting until a word is not what it was. Sets of words of 16 bits are beyond the
 * specification. */
#define SHMEM_OLD_WAIT_SHORT_(X, NAME, TYPE, RNAME)                                                     \
    X(void, shmem_##NAME##_wait_until, (TYPE *ivar, int cmp, TYPE cmp_value), {                         \
        rma_wait_slow_("shmem_" #NAME "_wait_until", RMA_WORD_(TYPE), ivar, cmp, &cmp_value, NULL);     \
    })                                                                                                  \
    X(int, shmem_##NAME##_test, (TYPE *ivar, int cmp, TYPE cmp_value), {                                \
        return rma_test_slow_("shmem_" #NAME "_test", RMA_WORD_(TYPE), ivar, cmp, &cmp_value);          \
    })                                                                                                  \
    SHMEM_WAIT_SET_(X, NAME, TYPE, , TYPE cmp_value, &cmp_value, 0)                                     \
    SHMEM_WAIT_SET_(X, NAME, TYPE, _vector, const TYPE *cmp_values, cmp_values, 1)
#define SHMEM_OLD_WAIT_CHANGE_(X, CALL, TYPE)                                                           \
    X(void, CALL, (TYPE *ivar, TYPE cmp_value), {                                                       \
        rma_wait_slow_(#CALL, RMA_WORD_(TYPE), ivar, RMA_CMP_NE, &cmp_value, NULL);                     \
    })
#define SHMEM_OLD_WAIT_(X, NAME, TYPE, RNAME) SHMEM_OLD_WAIT_CHANGE_(X, shmem_##NAME##_wait, TYPE)

#define SHMEM_WAIT_CALLS_(X)                                                                            \
    SHMEM_ATOMIC_TYPES_(SHMEM_WAIT_, X)                                                                 \
    SHMEM_OLD_WAIT_TYPES_(SHMEM_OLD_WAIT_SHORT_, X)                                                     \
    SHMEM_TO_ALL_BIT_TYPES_(SHMEM_OLD_WAIT_, X)                                                         \
    SHMEM_OLD_WAIT_CHANGE_(X, shmem_wait, long)                                                         \
    X(void, shmem_wait_until, (long *ivar, int cmp, long cmp_value), {                                  \
        rma_wait_slow_("shmem_wait_until", RMA_WORD_(long), ivar, cmp, &cmp_value, NULL);               \
    })                                                                                                  \
    X(uint64_t, shmem_signal_fetch, (const uint64_t *sig_addr), { return rma_signal_fetch(sig_addr); }) \
    X(uint64_t, shmem_signal_wait_until, (uint64_t *sig_addr, int cmp, uint64_t cmp_value), {           \
        uint64_t seen = 0;                                                                              \
        rma_wait_slow_("shmem_signal_wait_until", RMA_WORD_(uint64_t), sig_addr, cmp, &cmp_value, &seen); \
        return seen;                                                                                    \
    })

/* ---- order, and who and where ---- */

#define SHMEM_ORDER_CALLS_(X)                                                                           \
    X(void, shmem_fence, (void), { rma_order_("shmem_fence"); })                                        \
    X(void, shmem_quiet, (void), { rma_order_("shmem_quiet"); })                                        \
    X(void, shmem_ctx_fence, (shmem_ctx_t ctx), { if (ctx != RMA_CTX_INVALID) rma_ctx_order_("shmem_ctx_fence", \
        ctx); }) \
    X(void, shmem_ctx_quiet, (shmem_ctx_t ctx), { if (ctx != RMA_CTX_INVALID) rma_ctx_order_("shmem_ctx_quiet", \
        ctx); }) \
    X(int, shmem_my_pe, (void), {                                                                       \
        return RMA_LIKELY_(rma_reach_.running) ? (int)rma_reach_.my_pe : (rma_quiet_slow_("shmem_my_pe", \
            RMA_CTX_DEFAULT), -1); \
    })                                                                                                  \
    X(int, shmem_n_pes, (void), {                                                                       \
        return RMA_LIKELY_(rma_reach_.running) ? (int)rma_reach_.n_pes : (rma_quiet_slow_("shmem_n_pes", \
            RMA_CTX_DEFAULT), -1); \
    })

/* ---- from here on not inlined ---- */

#define SHMEM_SETUP_CALLS_(X)                                                                           \
    X(void, shmem_init, (void), )                                                                       \
    X(int, shmem_init_thread, (int requested, int *provided), )                                         \
    X(void, shmem_query_thread, (int *provided), )                                                      \
    X(void, shmem_query_initialized, (int *initialized), )                                              \
    X(void, shmem_finalize, (void), )                                                                   \
    X(void, shmem_global_exit, (int status), )                                                          \
    X(int, shmem_pe_accessible, (int pe), )                                                             \
    X(int, shmem_addr_accessible, (const void *addr, int pe), )                                         \
    X(void *, shmem_ptr, (const void *dest, int pe), )                                                  \
    X(void, shmem_info_get_version, (int *major, int *minor), )                                         \
    X(void, shmem_info_get_name, (char *name), )                                                        \
    X(void, shmem_pcontrol, (int level, ...), )                                                         \
    X(void, start_pes, (int npes), )                                                                    \
    X(int, _my_pe, (void), )                                                                            \
    X(int, _num_pes, (void), )

#define SHMEM_MEMORY_CALLS_(X)                                                                          \
    X(void *, shmem_malloc, (size_t size), )                                                            \
    X(void *, shmem_calloc, (size_t count, size_t size), )                                              \
    X(void *, shmem_align, (size_t alignment, size_t size), )                                           \
    X(void *, shmem_malloc_with_hints, (size_t size, long hints), )                                     \
    X(void *, shmem_realloc, (void *ptr, size_t size), )                                                \
    X(void, shmem_free, (void *ptr), )                                                                  \
    X(void *, shmalloc, (size_t size), )                                                                \
    X(void *, shmemalign, (size_t alignment, size_t size), )                                            \
    X(void *, shrealloc, (void *ptr, size_t size), )                                                    \
    X(void, shfree, (void *ptr), )

#define SHMEM_TEAM_CALLS_(X)                                                                            \
    X(int, shmem_team_my_pe, (shmem_team_t team), )                                                     \
    X(int, shmem_team_n_pes, (shmem_team_t team), )                                                     \
    X(int, shmem_team_get_config, (shmem_team_t team, long config_mask, shmem_team_config_t *config), ) \
    X(int, shmem_team_translate_pe, (shmem_team_t src_team, int src_pe, shmem_team_t dest_team), )      \
    X(int, shmem_team_split_strided, (shmem_team_t parent_team, int start, int stride, int size,        \
                                      const shmem_team_config_t *config, long config_mask, shmem_team_t *new_team), ) \
    X(int, shmem_team_split_2d, (shmem_team_t parent_team, int xrange, const shmem_team_config_t *xaxis_config, \
        long xaxis_mask, \
                                 shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config, long yaxis_mask, \
                                 shmem_team_t *yaxis_team), )                                           \
    X(void, shmem_team_destroy, (shmem_team_t team), )                                                  \
    X(void *, shmem_team_ptr, (shmem_team_t team, const void *dest, int pe), )                          \
    X(int, shmem_team_sync, (shmem_team_t team), )                                                      \
    X(void, shmem_sync_all, (void), )                                                                   \
    X(void, shmem_barrier_all, (void), )                                                                \
    X(int, shmem_ctx_create, (long options, shmem_ctx_t *ctx), )                                        \
    X(int, shmem_team_create_ctx, (shmem_team_t team, long options, shmem_ctx_t *ctx), )                \
    X(void, shmem_ctx_destroy, (shmem_ctx_t ctx), )                                                     \
    X(int, shmem_ctx_get_team, (shmem_ctx_t ctx, shmem_team_t *team), )                                 \
    X(void, shmem_ctx_session_start, (shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t *config, \
        long config_mask), ) \
    X(void, shmem_ctx_session_stop, (shmem_ctx_t ctx), )                                                \
    X(void, shmem_pe_quiet, (const int *target_pes, size_t npes), )                                     \
    X(void, shmem_ctx_pe_quiet, (shmem_ctx_t ctx, const int *target_pes, size_t npes), )                \
    X(void, shmem_set_lock, (long *lock), )                                                             \
    X(int, shmem_test_lock, (long *lock), )                                                             \
    X(void, shmem_clear_lock, (long *lock), )

/* Collectives of teams. */
#define SHMEM_TYPED_COLLECTIVES_(X, NAME, TYPE, RNAME)                                                  \
    X(int, shmem_##NAME##_broadcast, (shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems, \
        int PE_root), ) \
    X(int, shmem_##NAME##_collect, (shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems), ) \
    X(int, shmem_##NAME##_fcollect, (shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems), ) \
    X(int, shmem_##NAME##_alltoall, (shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems), ) \
    X(int, shmem_##NAME##_alltoalls, (shmem_team_t team, TYPE *dest, const TYPE *source, ptrdiff_t dst, \
        ptrdiff_t sst, size_t nelems), )
#define SHMEM_REDUCTION_(X, CALL, TYPE, N) X(int, CALL, (shmem_team_t team, TYPE *dest, const TYPE *source, size_t N), )
#define SHMEM_BIT_REDUCTIONS_(X, NAME, TYPE, RNAME)                                                     \
    SHMEM_REDUCTION_(X, shmem_##NAME##_and_reduce, TYPE, nreduce)                                       \
    SHMEM_REDUCTION_(X, shmem_##NAME##_or_reduce, TYPE, nreduce)                                        \
    SHMEM_REDUCTION_(X, shmem_##NAME##_xor_reduce, TYPE, nreduce)
#define SHMEM_LIMIT_REDUCTIONS_(X, NAME, TYPE, RNAME)                                                   \
    SHMEM_REDUCTION_(X, shmem_##NAME##_max_reduce, TYPE, nreduce)                                       \
    SHMEM_REDUCTION_(X, shmem_##NAME##_min_reduce, TYPE, nreduce)
#define SHMEM_SUM_REDUCTIONS_(X, NAME, TYPE, RNAME)                                                     \
    SHMEM_REDUCTION_(X, shmem_##NAME##_sum_reduce, TYPE, nreduce)                                       \
    SHMEM_REDUCTION_(X, shmem_##NAME##_prod_reduce, TYPE, nreduce)                                      \
    SHMEM_REDUCTION_(X, shmem_##NAME##_sum_inscan, TYPE, nelems)                                        \
    SHMEM_REDUCTION_(X, shmem_##NAME##_sum_exscan, TYPE, nelems)
#define SHMEM_COLLECTIVE_CALLS_(X)                                                                      \
    SHMEM_TYPES_(SHMEM_TYPED_COLLECTIVES_, X)                                                           \
    X(int, shmem_broadcastmem, (shmem_team_t team, void *dest, const void *source, size_t nelems, int PE_root), ) \
    X(int, shmem_collectmem, (shmem_team_t team, void *dest, const void *source, size_t nelems), )      \
    X(int, shmem_fcollectmem, (shmem_team_t team, void *dest, const void *source, size_t nelems), )     \
    X(int, shmem_alltoallmem, (shmem_team_t team, void *dest, const void *source, size_t nelems), )     \
    X(int, shmem_alltoallsmem, (shmem_team_t team, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, \
        size_t nelems), ) \
    SHMEM_BIT_TYPES_(SHMEM_BIT_REDUCTIONS_, X)                                                          \
    SHMEM_TYPES_(SHMEM_LIMIT_REDUCTIONS_, X)                                                            \
    SHMEM_SUM_TYPES_(SHMEM_SUM_REDUCTIONS_, X)

/* Collectives of active sets: deprecated since 1.5. */
#define SHMEM_SET_PARAMETERS_ int PE_start, int logPE_stride, int PE_size
#define SHMEM_SIZED_SET_MOVES_(X, BITS)                                                                 \
    X(void, shmem_broadcast##BITS, (void *dest, const void *source, size_t nelems, int PE_root, \
        SHMEM_SET_PARAMETERS_, long *pSync), ) \
    X(void, shmem_collect##BITS, (void *dest, const void *source, size_t nelems, SHMEM_SET_PARAMETERS_, \
        long *pSync), ) \
    X(void, shmem_fcollect##BITS, (void *dest, const void *source, size_t nelems, SHMEM_SET_PARAMETERS_, \
        long *pSync), ) \
    X(void, shmem_alltoall##BITS, (void *dest, const void *source, size_t nelems, SHMEM_SET_PARAMETERS_, \
        long *pSync), ) \
    X(void, shmem_alltoalls##BITS, (void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, \
        SHMEM_SET_PARAMETERS_, \
                                    long *pSync), )
#define SHMEM_TO_ALL_(X, CALL, TYPE)                                                                    \
    X(void, CALL, (TYPE *dest, const TYPE *source, int nreduce, SHMEM_SET_PARAMETERS_, TYPE *pWrk, long *pSync), )
#define SHMEM_BIT_TO_ALL_(X, NAME, TYPE, RNAME)                                                         \
    SHMEM_TO_ALL_(X, shmem_##NAME##_and_to_all, TYPE)                                                   \
    SHMEM_TO_ALL_(X, shmem_##NAME##_or_to_all, TYPE)                                                    \
    SHMEM_TO_ALL_(X, shmem_##NAME##_xor_to_all, TYPE)
#define SHMEM_LIMIT_TO_ALL_(X, NAME, TYPE, RNAME)                                                       \
    SHMEM_TO_ALL_(X, shmem_##NAME##_max_to_all, TYPE)                                                   \
    SHMEM_TO_ALL_(X, shmem_##NAME##_min_to_all, TYPE)
#define SHMEM_SUM_TO_ALL_(X, NAME, TYPE, RNAME)                                                         \
    SHMEM_TO_ALL_(X, shmem_##NAME##_sum_to_all, TYPE)                                                   \
    SHMEM_TO_ALL_(X, shmem_##NAME##_prod_to_all, TYPE)
#define SHMEM_ACTIVE_SET_CALLS_(X)                                                                      \
    X(void, shmem_barrier, (SHMEM_SET_PARAMETERS_, long *pSync), )                                      \
    X(void, shmem_sync, (SHMEM_SET_PARAMETERS_, long *pSync), )                                         \
    SHMEM_SIZED_SET_MOVES_(X, 32)                                                                       \
    SHMEM_SIZED_SET_MOVES_(X, 64)                                                                       \
    SHMEM_TO_ALL_BIT_TYPES_(SHMEM_BIT_TO_ALL_, X)                                                       \
    SHMEM_TO_ALL_TYPES_(SHMEM_LIMIT_TO_ALL_, X)                                                         \
    SHMEM_TO_ALL_SUM_TYPES_(SHMEM_SUM_TO_ALL_, X)

#define SHMEM_INLINED_CALLS_(X) SHMEM_MOVE_CALLS_(X) SHMEM_ATOMIC_CALLS_(X) SHMEM_WAIT_CALLS_(X) SHMEM_ORDER_CALLS_(X)
#define SHMEM_OTHER_CALLS_(X)                                                                           \
    SHMEM_SETUP_CALLS_(X) SHMEM_MEMORY_CALLS_(X) SHMEM_TEAM_CALLS_(X) SHMEM_STRIDE_CALLS_(X)            \
    SHMEM_COLLECTIVE_CALLS_(X) SHMEM_ACTIVE_SET_CALLS_(X)

/* clang-format on */

#endif
