/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_typed.h: the calls of rma.h by type (rma_p_long, rma_atomic_add_int, rma_sum_reduce_double), and their generic
 * forms: macros in C11, overloads in C++. Only rma.h includes this file. <shmem.h> leaves it out: it needs none of
 * these calls, and would take twice as long to compile. */
#ifndef RMA_TYPED_H
#define RMA_TYPED_H

#ifdef __cplusplus
#include <rma_complex.h>
extern "C" {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast" /* this is C too */
#pragma GCC diagnostic ignored "-Wzero-as-null-pointer-constant"
#endif
#ifdef RMA_PROFILE
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattributes" /* as in rma_inline.h */
#endif
#pragma GCC visibility push(default)

/* Values. */
#define RMA_VALUE_(F, P, G, TYPE)                                                                                      \
    RMA_INLINE_ int P(RMA_##F##_CTX_ TYPE *dest, TYPE value, int pe) {                                                 \
        return rma_p_as_(#P, RMA_##F##_OF_, dest, &value, sizeof value, pe);                                           \
    }                                                                                                                  \
    RMA_INLINE_ TYPE G(RMA_##F##_CTX_ const TYPE *source, int pe) {                                                    \
        TYPE near = 0, far = 0;                                                                                        \
        return rma_g_as_(#G, RMA_##F##_OF_, &near, &far, source, sizeof near, pe) ? near : far;                        \
    }
#define RMA_GPTR_VALUE_(F, P, G, TYPE)                                                                                 \
    RMA_INLINE_ int P(RMA_##F##_CTX_ rma_gptr_t dest, TYPE value) {                                                    \
        return rma_gptr_p_as_(#P, RMA_##F##_OF_, dest, &value, sizeof value);                                          \
    }                                                                                                                  \
    RMA_INLINE_ TYPE G(RMA_##F##_CTX_ rma_gptr_t source) {                                                             \
        TYPE near = 0, far = 0;                                                                                        \
        return rma_gptr_g_as_(#G, RMA_##F##_OF_, &near, &far, source, sizeof near) ? near : far;                       \
    }
#define RMA_VALUES_(NAME, TYPE)                                                                                        \
    RMA_VALUE_(SYM, rma_p_##NAME, rma_g_##NAME, TYPE)                                                                  \
    RMA_VALUE_(CTX, rma_ctx_p_##NAME, rma_ctx_g_##NAME, TYPE)                                                          \
    RMA_GPTR_VALUE_(SYM, rma_gptr_p_##NAME, rma_gptr_g_##NAME, TYPE)                                                   \
    RMA_GPTR_VALUE_(CTX, rma_ctx_gptr_p_##NAME, rma_ctx_gptr_g_##NAME, TYPE)
RMA_TYPES(RMA_VALUES_)
RMA_TYPE_ALIASES(RMA_VALUES_)
/* bool is in no table: <stdbool.h> makes a macro of the word, which would be expanded on its way through them. */
RMA_VALUE_(SYM, rma_p_bool, rma_g_bool, rma_bool_)
RMA_VALUE_(CTX, rma_ctx_p_bool, rma_ctx_g_bool, rma_bool_)
RMA_GPTR_VALUE_(SYM, rma_gptr_p_bool, rma_gptr_g_bool, rma_bool_)
RMA_GPTR_VALUE_(CTX, rma_ctx_gptr_p_bool, rma_ctx_gptr_g_bool, rma_bool_)

/* Atomics: three families. SYM names the word by a symmetric address and a PE, CTX by these and a context, GPTR by a
 * global pointer; each defines the names and first parameters of its calls, and the function that executes them. The
 * name of an operation is always pasted to an underscore before it is passed on: by itself it may be a macro
 * (<iso646.h> defines `and` as &&). */
#define RMA_SYM_NAME_(OP, SUFFIX) rma_atomic##OP##SUFFIX
#define RMA_SYM_TARGET_(TYPE)     TYPE *target
#define RMA_SYM_SOURCE_(TYPE)     const TYPE *target
#define RMA_SYM_PE_               , int pe
#define RMA_SYM_FETCH_(NAME, OP, LEN, VALUE, COND)                                                                     \
    rma_fetch_as_("rma_atomic_" NAME, RMA_SYM_OF_, OP, target, LEN, VALUE, COND, pe)
#define RMA_SYM_UPDATE_(NAME, OP, LEN, VALUE)                                                                          \
    rma_update_as_("rma_atomic_" NAME, RMA_SYM_OF_, OP, target, LEN, VALUE, pe)
#define RMA_SYM_NBI_(NAME, OP, LEN, VALUE, COND)                                                                       \
    rma_fetch_nbi_as_("rma_atomic_" NAME, RMA_SYM_OF_, fetch, OP, target, LEN, VALUE, COND, pe)

#define RMA_CTX_NAME_(OP, SUFFIX) rma_ctx_atomic##OP##SUFFIX
#define RMA_CTX_TARGET_(TYPE)     TYPE *target
#define RMA_CTX_SOURCE_(TYPE)     const TYPE *target
#define RMA_CTX_PE_               , int pe
#define RMA_CTX_FETCH_(NAME, OP, LEN, VALUE, COND)                                                                     \
    rma_fetch_as_("rma_ctx_atomic_" NAME, RMA_CTX_OF_, OP, target, LEN, VALUE, COND, pe)
#define RMA_CTX_UPDATE_(NAME, OP, LEN, VALUE)                                                                          \
    rma_update_as_("rma_ctx_atomic_" NAME, RMA_CTX_OF_, OP, target, LEN, VALUE, pe)
#define RMA_CTX_NBI_(NAME, OP, LEN, VALUE, COND)                                                                       \
    rma_fetch_nbi_as_("rma_ctx_atomic_" NAME, RMA_CTX_OF_, fetch, OP, target, LEN, VALUE, COND, pe)

#define RMA_GPTR_CTX_
#define RMA_GPTR_NAME_(OP, SUFFIX) rma_gptr_atomic##OP##SUFFIX
#define RMA_GPTR_TARGET_(TYPE)     rma_gptr_t target
#define RMA_GPTR_SOURCE_(TYPE)     rma_gptr_t target
#define RMA_GPTR_PE_
#define RMA_GPTR_FETCH_(NAME, OP, LEN, VALUE, COND)                                                                    \
    rma_gptr_fetch_as_("rma_gptr_atomic_" NAME, OP, target, LEN, VALUE, COND)
#define RMA_GPTR_UPDATE_(NAME, OP, LEN, VALUE) rma_gptr_update_as_("rma_gptr_atomic_" NAME, OP, target, LEN, VALUE)
#define RMA_GPTR_NBI_(NAME, OP, LEN, VALUE, COND)                                                                      \
    rma_gptr_fetch_nbi_as_("rma_gptr_atomic_" NAME, fetch, OP, target, LEN, VALUE, COND)

#define RMA_SET_INTEGER_  RMA_SET_
#define RMA_SET_FLOAT_    RMA_FSET_
#define RMA_SWAP_INTEGER_ RMA_SWAP_
#define RMA_SWAP_FLOAT_   RMA_FSWAP_

/* fetch, set and swap, which every kind of word has. */
#define RMA_ATOMIC_FORMS_(F, SUFFIX, NAME, TYPE, KIND)                                                                 \
    RMA_INLINE_ TYPE RMA_##F##_NAME_(_fetch, SUFFIX)(RMA_##F##_CTX_ RMA_##F##_SOURCE_(TYPE) RMA_##F##_PE_) {           \
        return RMA_VALUE_##KIND##_(NAME, TYPE, RMA_##F##_FETCH_("fetch" #SUFFIX, RMA_FETCH_, sizeof(TYPE), 0, 0));     \
    }                                                                                                                  \
    RMA_INLINE_ int RMA_##F##_NAME_(_set, SUFFIX)(RMA_##F##_CTX_ RMA_##F##_TARGET_(TYPE), TYPE value RMA_##F##_PE_) {  \
        return RMA_##F##_UPDATE_("set" #SUFFIX, RMA_SET_##KIND##_, sizeof value, RMA_BITS_##KIND##_(NAME, value));     \
    }                                                                                                                  \
    RMA_INLINE_ int RMA_##F##_NAME_(_fetch_nbi, SUFFIX)(RMA_##F##_CTX_ TYPE * fetch,                                   \
                                                        RMA_##F##_SOURCE_(TYPE) RMA_##F##_PE_) {                       \
        return RMA_##F##_NBI_("fetch_nbi" #SUFFIX, RMA_FETCH_, sizeof(TYPE), 0, 0);                                    \
    }                                                                                                                  \
    RMA_ATOMIC_FETCHING_(F, SUFFIX, NAME, TYPE, KIND, swap, RMA_SWAP_##KIND##_)

/* An operation OP that computes a new value from the old one and `value`, in three forms: fetching, nonblocking and
 * plain. */
#define RMA_ATOMIC_FETCHING_(F, SUFFIX, NAME, TYPE, KIND, OP, CODE)                                                    \
    RMA_INLINE_ TYPE RMA_##F##_NAME_(_##OP, SUFFIX)(RMA_##F##_CTX_ RMA_##F##_TARGET_(TYPE),                            \
                                                    TYPE value RMA_##F##_PE_) {                                        \
        return RMA_VALUE_##KIND##_(                                                                                    \
            NAME, TYPE, RMA_##F##_FETCH_(#OP #SUFFIX, CODE, sizeof value, RMA_BITS_##KIND##_(NAME, value), 0));        \
    }                                                                                                                  \
    RMA_INLINE_ int RMA_##F##_NAME_(_##OP##_nbi, SUFFIX)(RMA_##F##_CTX_ TYPE * fetch, RMA_##F##_TARGET_(TYPE),         \
                                                         TYPE value RMA_##F##_PE_) {                                   \
        return RMA_##F##_NBI_(#OP "_nbi" #SUFFIX, CODE, sizeof value, RMA_BITS_##KIND##_(NAME, value), 0);             \
    }
#define RMA_ATOMIC_UPDATE_(F, SUFFIX, NAME, TYPE, KIND, OP, CODE)                                                      \
    RMA_INLINE_ int RMA_##F##_NAME_(_##OP, SUFFIX)(RMA_##F##_CTX_ RMA_##F##_TARGET_(TYPE), TYPE value RMA_##F##_PE_) { \
        return RMA_##F##_UPDATE_(#OP #SUFFIX, CODE, sizeof value, RMA_BITS_##KIND##_(NAME, value));                    \
    }                                                                                                                  \
    RMA_ATOMIC_FETCHING_(F, SUFFIX, NAME, TYPE, KIND, fetch_##OP, CODE)

/* The operations that only integers have. */
#define RMA_ATOMIC_COUNTS_(F, SUFFIX, NAME, TYPE)                                                                      \
    RMA_INLINE_ TYPE RMA_##F##_NAME_(_compare_swap, SUFFIX)(RMA_##F##_CTX_ RMA_##F##_TARGET_(TYPE), TYPE cond,         \
                                                            TYPE value RMA_##F##_PE_) {                                \
        return (TYPE)RMA_##F##_FETCH_("compare_swap" #SUFFIX, RMA_COMPARE_SWAP_, sizeof value, (uint64_t)value,        \
                                      (uint64_t)cond);                                                                 \
    }                                                                                                                  \
    RMA_INLINE_ int RMA_##F##_NAME_(_compare_swap_nbi, SUFFIX)(RMA_##F##_CTX_ TYPE * fetch, RMA_##F##_TARGET_(TYPE),   \
                                                               TYPE cond, TYPE value RMA_##F##_PE_) {                  \
        return RMA_##F##_NBI_("compare_swap_nbi" #SUFFIX, RMA_COMPARE_SWAP_, sizeof value, (uint64_t)value,            \
                              (uint64_t)cond);                                                                         \
    }                                                                                                                  \
    RMA_INLINE_ TYPE RMA_##F##_NAME_(_fetch_inc, SUFFIX)(RMA_##F##_CTX_ RMA_##F##_TARGET_(TYPE) RMA_##F##_PE_) {       \
        return (TYPE)RMA_##F##_FETCH_("fetch_inc" #SUFFIX, RMA_FETCH_ADD_, sizeof(TYPE), 1, 0);                        \
    }                                                                                                                  \
    RMA_INLINE_ int RMA_##F##_NAME_(_inc, SUFFIX)(RMA_##F##_CTX_ RMA_##F##_TARGET_(TYPE) RMA_##F##_PE_) {              \
        return RMA_##F##_UPDATE_("inc" #SUFFIX, RMA_FETCH_ADD_, sizeof(TYPE), 1);                                      \
    }                                                                                                                  \
    RMA_INLINE_ int RMA_##F##_NAME_(_fetch_inc_nbi, SUFFIX)(RMA_##F##_CTX_ TYPE * fetch,                               \
                                                            RMA_##F##_TARGET_(TYPE) RMA_##F##_PE_) {                   \
        return RMA_##F##_NBI_("fetch_inc_nbi" #SUFFIX, RMA_FETCH_ADD_, sizeof(TYPE), 1, 0);                            \
    }

#define RMA_ATOMIC_INTEGER_(F, SUFFIX, NAME, TYPE)                                                                     \
    RMA_ATOMIC_FORMS_(F, SUFFIX, NAME, TYPE, INTEGER)                                                                  \
    RMA_ATOMIC_COUNTS_(F, SUFFIX, NAME, TYPE)                                                                          \
    RMA_ATOMIC_UPDATE_(F, SUFFIX, NAME, TYPE, INTEGER, add, RMA_FETCH_ADD_)                                            \
    RMA_ATOMIC_UPDATE_(F, SUFFIX, NAME, TYPE, INTEGER, and, RMA_FETCH_AND_)                                            \
    RMA_ATOMIC_UPDATE_(F, SUFFIX, NAME, TYPE, INTEGER, or, RMA_FETCH_OR_)                                              \
    RMA_ATOMIC_UPDATE_(F, SUFFIX, NAME, TYPE, INTEGER, xor, RMA_FETCH_XOR_)                                            \
    RMA_ATOMIC_UPDATE_(F, SUFFIX, NAME, TYPE, INTEGER, min, (RMA_IS_SIGNED_(TYPE) ? RMA_FETCH_SMIN_ : RMA_FETCH_MIN_)) \
    RMA_ATOMIC_UPDATE_(F, SUFFIX, NAME, TYPE, INTEGER, max, (RMA_IS_SIGNED_(TYPE) ? RMA_FETCH_SMAX_ : RMA_FETCH_MAX_))
#define RMA_ATOMIC_FLOAT_(F, SUFFIX, NAME, TYPE)                                                                       \
    RMA_ATOMIC_FORMS_(F, SUFFIX, NAME, TYPE, FLOAT)                                                                    \
    RMA_ATOMIC_UPDATE_(F, SUFFIX, NAME, TYPE, FLOAT, add, RMA_FETCH_FADD_)                                             \
    RMA_ATOMIC_UPDATE_(F, SUFFIX, NAME, TYPE, FLOAT, min, RMA_FETCH_FMIN_)                                             \
    RMA_ATOMIC_UPDATE_(F, SUFFIX, NAME, TYPE, FLOAT, max, RMA_FETCH_FMAX_)

#define RMA_ATOMIC_SYM_INTEGER_(NAME, TYPE)                                                                            \
    RMA_ATOMIC_INTEGER_(SYM, _##NAME, NAME, TYPE)                                                                      \
    RMA_ATOMIC_INTEGER_(CTX, _##NAME, NAME, TYPE)
#define RMA_ATOMIC_SYM_FLOAT_(NAME, TYPE)                                                                              \
    RMA_ATOMIC_FLOAT_(SYM, _##NAME, NAME, TYPE)                                                                        \
    RMA_ATOMIC_FLOAT_(CTX, _##NAME, NAME, TYPE)
#define RMA_ATOMIC_GPTR_INTEGER_(NAME, TYPE) RMA_ATOMIC_INTEGER_(GPTR, _##NAME, NAME, TYPE)
#define RMA_ATOMIC_GPTR_FLOAT_(NAME, TYPE)   RMA_ATOMIC_FLOAT_(GPTR, _##NAME, NAME, TYPE)
RMA_ATOMIC_TYPES(RMA_ATOMIC_SYM_INTEGER_)
RMA_ATOMIC_TYPE_ALIASES(RMA_ATOMIC_SYM_INTEGER_)
RMA_ATOMIC_FLOAT_TYPES(RMA_ATOMIC_SYM_FLOAT_)
RMA_GPTR_ATOMIC_TYPES(RMA_ATOMIC_GPTR_INTEGER_)
RMA_ATOMIC_FLOAT_TYPES(RMA_ATOMIC_GPTR_FLOAT_)
RMA_ATOMIC_INTEGER_(GPTR, , uint64, uint64_t)

/* Waiting. FORM is nothing or _vector, VALUE the parameter and VALUES the address of the value or values. */
#define RMA_WAIT_SET_(NAME, TYPE, FORM, VALUE, VALUES, MANY)                                                           \
    RMA_INLINE_ int rma_wait_until_all##FORM##_##NAME(TYPE *ivars, size_t n, const int *status, int cmp, VALUE) {      \
        int code;                                                                                                      \
        rma_words_("rma_wait_until_all" #FORM "_" #NAME, RMA_ALL_, 1, RMA_WORD_(TYPE), ivars, n, NULL, status, cmp,    \
                   VALUES, MANY, &code);                                                                               \
        return code;                                                                                                   \
    }                                                                                                                  \
    RMA_INLINE_ size_t rma_wait_until_any##FORM##_##NAME(TYPE *ivars, size_t n, const int *status, int cmp, VALUE) {   \
        int code;                                                                                                      \
        return rma_words_("rma_wait_until_any" #FORM "_" #NAME, RMA_ANY_, 1, RMA_WORD_(TYPE), ivars, n, NULL, status,  \
                          cmp, VALUES, MANY, &code);                                                                   \
    }                                                                                                                  \
    RMA_INLINE_ size_t rma_wait_until_some##FORM##_##NAME(TYPE *ivars, size_t n, size_t *indices, const int *status,   \
                                                          int cmp, VALUE) {                                            \
        int code;                                                                                                      \
        return rma_words_("rma_wait_until_some" #FORM "_" #NAME, RMA_SOME_, 1, RMA_WORD_(TYPE), ivars, n, indices,     \
                          status, cmp, VALUES, MANY, &code);                                                           \
    }                                                                                                                  \
    RMA_INLINE_ int rma_test_all##FORM##_##NAME(TYPE *ivars, size_t n, const int *status, int cmp, VALUE) {            \
        int code;                                                                                                      \
        return (int)rma_words_("rma_test_all" #FORM "_" #NAME, RMA_ALL_, 0, RMA_WORD_(TYPE), ivars, n, NULL, status,   \
                               cmp, VALUES, MANY, &code);                                                              \
    }                                                                                                                  \
    RMA_INLINE_ size_t rma_test_any##FORM##_##NAME(TYPE *ivars, size_t n, const int *status, int cmp, VALUE) {         \
        int code;                                                                                                      \
        return rma_words_("rma_test_any" #FORM "_" #NAME, RMA_ANY_, 0, RMA_WORD_(TYPE), ivars, n, NULL, status, cmp,   \
                          VALUES, MANY, &code);                                                                        \
    }                                                                                                                  \
    RMA_INLINE_ size_t rma_test_some##FORM##_##NAME(TYPE *ivars, size_t n, size_t *indices, const int *status,         \
                                                    int cmp, VALUE) {                                                  \
        int code;                                                                                                      \
        return rma_words_("rma_test_some" #FORM "_" #NAME, RMA_SOME_, 0, RMA_WORD_(TYPE), ivars, n, indices, status,   \
                          cmp, VALUES, MANY, &code);                                                                   \
    }
#define RMA_WAIT_(NAME, TYPE)                                                                                          \
    RMA_INLINE_ int rma_wait_until_##NAME(TYPE *ivar, int cmp, TYPE value) {                                           \
        if (rma_holds_##NAME(ivar, cmp, value) == 1) return RMA_SUCCESS;                                               \
        return rma_wait_slow_("rma_wait_until_" #NAME, RMA_WORD_(TYPE), ivar, cmp, &value, NULL);                      \
    }                                                                                                                  \
    RMA_INLINE_ int rma_test_##NAME(TYPE *ivar, int cmp, TYPE value) {                                                 \
        if (rma_holds_##NAME(ivar, cmp, value) == 1) return 1;                                                         \
        return rma_test_slow_("rma_test_" #NAME, RMA_WORD_(TYPE), ivar, cmp, &value);                                  \
    }                                                                                                                  \
    RMA_WAIT_SET_(NAME, TYPE, , TYPE value, &value, 0)                                                                 \
    RMA_WAIT_SET_(NAME, TYPE, _vector, const TYPE *values, values, 1)
RMA_ATOMIC_TYPES(RMA_WAIT_)
RMA_ATOMIC_TYPE_ALIASES(RMA_WAIT_)

/* Reductions and scans by type: the library's own. */
#define RMA_COLLECTIVE_(CALL, NAME, TYPE) int CALL##_##NAME(rma_team *team, TYPE *dest, const TYPE *source, size_t n);
#define RMA_REDUCE_(CALL, NAME, TYPE)                                                                                  \
    RMA_COLLECTIVE_(CALL, NAME, TYPE)                                                                                  \
    int CALL##_root_##NAME(rma_team *team, TYPE *dest, const TYPE *source, size_t n, int root);
#define RMA_COLLECTIVE_BITS_(NAME, TYPE)                                                                               \
    RMA_REDUCE_(rma_and_reduce, NAME, TYPE)                                                                            \
    RMA_REDUCE_(rma_or_reduce, NAME, TYPE)                                                                             \
    RMA_REDUCE_(rma_xor_reduce, NAME, TYPE)
#define RMA_COLLECTIVE_LIMIT_(NAME, TYPE)                                                                              \
    RMA_REDUCE_(rma_min_reduce, NAME, TYPE)                                                                            \
    RMA_REDUCE_(rma_max_reduce, NAME, TYPE)                                                                            \
    RMA_COLLECTIVE_(rma_min_inscan, NAME, TYPE)                                                                        \
    RMA_COLLECTIVE_(rma_min_exscan, NAME, TYPE)                                                                        \
    RMA_COLLECTIVE_(rma_max_inscan, NAME, TYPE)                                                                        \
    RMA_COLLECTIVE_(rma_max_exscan, NAME, TYPE)
#define RMA_COLLECTIVE_SUM_(NAME, TYPE)                                                                                \
    RMA_REDUCE_(rma_sum_reduce, NAME, TYPE)                                                                            \
    RMA_REDUCE_(rma_prod_reduce, NAME, TYPE)                                                                           \
    RMA_COLLECTIVE_(rma_sum_inscan, NAME, TYPE)                                                                        \
    RMA_COLLECTIVE_(rma_sum_exscan, NAME, TYPE)
RMA_INTEGER_TYPES(RMA_COLLECTIVE_BITS_)
RMA_TYPE_ALIASES(RMA_COLLECTIVE_BITS_)
RMA_TYPES(RMA_COLLECTIVE_LIMIT_)
RMA_TYPE_ALIASES(RMA_COLLECTIVE_LIMIT_)
RMA_TYPES(RMA_COLLECTIVE_SUM_)
RMA_TYPE_ALIASES(RMA_COLLECTIVE_SUM_)
RMA_COMPLEX_TYPES(RMA_COLLECTIVE_SUM_)
#ifdef RMA_PROFILE
#pragma GCC diagnostic pop
#endif
#ifdef __cplusplus
#pragma GCC diagnostic pop
}
#endif

/* The generic front: macros in C11, overloads in C++. A type outside the tables is a compile-time error that names the
 * macro or the function. */
#if !defined(__cplusplus) && __STDC_VERSION__ >= 201112L
#define RMA_CASE_(CALL, NAME, TYPE)     , TYPE : CALL##_##NAME
#define RMA_FRONT_(TYPES, CALL, target) _Generic(*(target)TYPES(RMA_CASE_, CALL))

/* Values are also of bool, which is in no table (see above). */
#define RMA_VALUE_TYPES_WITH_(X, A) , rma_bool_ : A##_bool RMA_TYPES_WITH_(X, A)
#define rma_p(dest, value, pe)      RMA_FRONT_(RMA_VALUE_TYPES_WITH_, rma_p, dest)(dest, value, pe)
#define rma_g(source, pe)           RMA_FRONT_(RMA_VALUE_TYPES_WITH_, rma_g, source)(source, pe)

/* Atomics of integers, float and double. */
#define rma_atomic_fetch(source, pe) RMA_FRONT_(RMA_ATOMIC_NUMBERS_WITH_, rma_atomic_fetch, source)(source, pe)
#define rma_atomic_fetch_nbi(fetch, source, pe)                                                                        \
    RMA_FRONT_(RMA_ATOMIC_NUMBERS_WITH_, rma_atomic_fetch_nbi, source)(fetch, source, pe)
#define rma_atomic_set(target, value, pe)                                                                              \
    RMA_FRONT_(RMA_ATOMIC_NUMBERS_WITH_, rma_atomic_set, target)(target, value, pe)
#define rma_atomic_swap(target, value, pe)                                                                             \
    RMA_FRONT_(RMA_ATOMIC_NUMBERS_WITH_, rma_atomic_swap, target)(target, value, pe)
#define rma_atomic_swap_nbi(fetch, target, value, pe)                                                                  \
    RMA_FRONT_(RMA_ATOMIC_NUMBERS_WITH_, rma_atomic_swap_nbi, target)(fetch, target, value, pe)
#define rma_atomic_add(target, value, pe)                                                                              \
    RMA_FRONT_(RMA_ATOMIC_NUMBERS_WITH_, rma_atomic_add, target)(target, value, pe)
#define rma_atomic_fetch_add(target, value, pe)                                                                        \
    RMA_FRONT_(RMA_ATOMIC_NUMBERS_WITH_, rma_atomic_fetch_add, target)(target, value, pe)
#define rma_atomic_fetch_add_nbi(fetch, target, value, pe)                                                             \
    RMA_FRONT_(RMA_ATOMIC_NUMBERS_WITH_, rma_atomic_fetch_add_nbi, target)(fetch, target, value, pe)
#define rma_atomic_min(target, value, pe)                                                                              \
    RMA_FRONT_(RMA_ATOMIC_NUMBERS_WITH_, rma_atomic_min, target)(target, value, pe)
#define rma_atomic_fetch_min(target, value, pe)                                                                        \
    RMA_FRONT_(RMA_ATOMIC_NUMBERS_WITH_, rma_atomic_fetch_min, target)(target, value, pe)
#define rma_atomic_fetch_min_nbi(fetch, target, value, pe)                                                             \
    RMA_FRONT_(RMA_ATOMIC_NUMBERS_WITH_, rma_atomic_fetch_min_nbi, target)(fetch, target, value, pe)
#define rma_atomic_max(target, value, pe)                                                                              \
    RMA_FRONT_(RMA_ATOMIC_NUMBERS_WITH_, rma_atomic_max, target)(target, value, pe)
#define rma_atomic_fetch_max(target, value, pe)                                                                        \
    RMA_FRONT_(RMA_ATOMIC_NUMBERS_WITH_, rma_atomic_fetch_max, target)(target, value, pe)
#define rma_atomic_fetch_max_nbi(fetch, target, value, pe)                                                             \
    RMA_FRONT_(RMA_ATOMIC_NUMBERS_WITH_, rma_atomic_fetch_max_nbi, target)(fetch, target, value, pe)

/* Calls for integers only. */
#define rma_wait_until(ivar, cmp, value) RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_wait_until, ivar)(ivar, cmp, value)
#define rma_test(ivar, cmp, value)       RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_test, ivar)(ivar, cmp, value)
#define rma_wait_until_all(ivars, n, status, cmp, value)                                                               \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_wait_until_all, ivars)(ivars, n, status, cmp, value)
#define rma_wait_until_any(ivars, n, status, cmp, value)                                                               \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_wait_until_any, ivars)(ivars, n, status, cmp, value)
#define rma_wait_until_some(ivars, n, indices, status, cmp, value)                                                     \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_wait_until_some, ivars)(ivars, n, indices, status, cmp, value)
#define rma_test_all(ivars, n, status, cmp, value)                                                                     \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_test_all, ivars)(ivars, n, status, cmp, value)
#define rma_test_any(ivars, n, status, cmp, value)                                                                     \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_test_any, ivars)(ivars, n, status, cmp, value)
#define rma_test_some(ivars, n, indices, status, cmp, value)                                                           \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_test_some, ivars)(ivars, n, indices, status, cmp, value)
#define rma_wait_until_all_vector(ivars, n, status, cmp, values)                                                       \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_wait_until_all_vector, ivars)(ivars, n, status, cmp, values)
#define rma_wait_until_any_vector(ivars, n, status, cmp, values)                                                       \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_wait_until_any_vector, ivars)(ivars, n, status, cmp, values)
#define rma_wait_until_some_vector(ivars, n, indices, status, cmp, values)                                             \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_wait_until_some_vector, ivars)(ivars, n, indices, status, cmp, values)
#define rma_test_all_vector(ivars, n, status, cmp, values)                                                             \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_test_all_vector, ivars)(ivars, n, status, cmp, values)
#define rma_test_any_vector(ivars, n, status, cmp, values)                                                             \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_test_any_vector, ivars)(ivars, n, status, cmp, values)
#define rma_test_some_vector(ivars, n, indices, status, cmp, values)                                                   \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_test_some_vector, ivars)(ivars, n, indices, status, cmp, values)
#define rma_atomic_compare_swap(target, cond, value, pe)                                                               \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_atomic_compare_swap, target)(target, cond, value, pe)
#define rma_atomic_compare_swap_nbi(fetch, target, cond, value, pe)                                                    \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_atomic_compare_swap_nbi, target)(fetch, target, cond, value, pe)
#define rma_atomic_inc(target, pe)       RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_atomic_inc, target)(target, pe)
#define rma_atomic_fetch_inc(target, pe) RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_atomic_fetch_inc, target)(target, pe)
#define rma_atomic_fetch_inc_nbi(fetch, target, pe)                                                                    \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_atomic_fetch_inc_nbi, target)(fetch, target, pe)
#define rma_atomic_and(target, value, pe) RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_atomic_and, target)(target, value, pe)
#define rma_atomic_fetch_and(target, value, pe)                                                                        \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_atomic_fetch_and, target)(target, value, pe)
#define rma_atomic_fetch_and_nbi(fetch, target, value, pe)                                                             \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_atomic_fetch_and_nbi, target)(fetch, target, value, pe)
#define rma_atomic_or(target, value, pe) RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_atomic_or, target)(target, value, pe)
#define rma_atomic_fetch_or(target, value, pe)                                                                         \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_atomic_fetch_or, target)(target, value, pe)
#define rma_atomic_fetch_or_nbi(fetch, target, value, pe)                                                              \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_atomic_fetch_or_nbi, target)(fetch, target, value, pe)
#define rma_atomic_xor(target, value, pe) RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_atomic_xor, target)(target, value, pe)
#define rma_atomic_fetch_xor(target, value, pe)                                                                        \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_atomic_fetch_xor, target)(target, value, pe)
#define rma_atomic_fetch_xor_nbi(fetch, target, value, pe)                                                             \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_atomic_fetch_xor_nbi, target)(fetch, target, value, pe)

/* Reductions: first those of all integers, then those of floating-point numbers also, then those of complex numbers
 * also. */
#define rma_and_reduce(team, dest, source, n)                                                                          \
    RMA_FRONT_(RMA_INTEGER_TYPES_WITH_, rma_and_reduce, dest)(team, dest, source, n)
#define rma_or_reduce(team, dest, source, n)                                                                           \
    RMA_FRONT_(RMA_INTEGER_TYPES_WITH_, rma_or_reduce, dest)(team, dest, source, n)
#define rma_xor_reduce(team, dest, source, n)                                                                          \
    RMA_FRONT_(RMA_INTEGER_TYPES_WITH_, rma_xor_reduce, dest)(team, dest, source, n)
#define rma_min_reduce(team, dest, source, n) RMA_FRONT_(RMA_TYPES_WITH_, rma_min_reduce, dest)(team, dest, source, n)
#define rma_max_reduce(team, dest, source, n) RMA_FRONT_(RMA_TYPES_WITH_, rma_max_reduce, dest)(team, dest, source, n)
#define rma_sum_reduce(team, dest, source, n)                                                                          \
    RMA_FRONT_(RMA_SUM_TYPES_WITH_, rma_sum_reduce, dest)(team, dest, source, n)
#define rma_prod_reduce(team, dest, source, n)                                                                         \
    RMA_FRONT_(RMA_SUM_TYPES_WITH_, rma_prod_reduce, dest)(team, dest, source, n)
#define rma_sum_inscan(team, dest, source, n)                                                                          \
    RMA_FRONT_(RMA_SUM_TYPES_WITH_, rma_sum_inscan, dest)(team, dest, source, n)
#define rma_sum_exscan(team, dest, source, n)                                                                          \
    RMA_FRONT_(RMA_SUM_TYPES_WITH_, rma_sum_exscan, dest)(team, dest, source, n)

#define rma_min_inscan(team, dest, source, n) RMA_FRONT_(RMA_TYPES_WITH_, rma_min_inscan, dest)(team, dest, source, n)
#define rma_min_exscan(team, dest, source, n) RMA_FRONT_(RMA_TYPES_WITH_, rma_min_exscan, dest)(team, dest, source, n)
#define rma_max_inscan(team, dest, source, n) RMA_FRONT_(RMA_TYPES_WITH_, rma_max_inscan, dest)(team, dest, source, n)
#define rma_max_exscan(team, dest, source, n) RMA_FRONT_(RMA_TYPES_WITH_, rma_max_exscan, dest)(team, dest, source, n)
/* By source: dest may be a null pointer of no type. */
#define rma_and_reduce_root(team, dest, source, n, root)                                                               \
    RMA_FRONT_(RMA_INTEGER_TYPES_WITH_, rma_and_reduce_root, source)(team, dest, source, n, root)
#define rma_or_reduce_root(team, dest, source, n, root)                                                                \
    RMA_FRONT_(RMA_INTEGER_TYPES_WITH_, rma_or_reduce_root, source)(team, dest, source, n, root)
#define rma_xor_reduce_root(team, dest, source, n, root)                                                               \
    RMA_FRONT_(RMA_INTEGER_TYPES_WITH_, rma_xor_reduce_root, source)(team, dest, source, n, root)
#define rma_min_reduce_root(team, dest, source, n, root)                                                               \
    RMA_FRONT_(RMA_TYPES_WITH_, rma_min_reduce_root, source)(team, dest, source, n, root)
#define rma_max_reduce_root(team, dest, source, n, root)                                                               \
    RMA_FRONT_(RMA_TYPES_WITH_, rma_max_reduce_root, source)(team, dest, source, n, root)
#define rma_sum_reduce_root(team, dest, source, n, root)                                                               \
    RMA_FRONT_(RMA_SUM_TYPES_WITH_, rma_sum_reduce_root, source)(team, dest, source, n, root)
#define rma_prod_reduce_root(team, dest, source, n, root)                                                              \
    RMA_FRONT_(RMA_SUM_TYPES_WITH_, rma_prod_reduce_root, source)(team, dest, source, n, root)

/* The same in a context. */
#define rma_ctx_p(ctx, dest, value, pe) RMA_FRONT_(RMA_VALUE_TYPES_WITH_, rma_ctx_p, dest)(ctx, dest, value, pe)
#define rma_ctx_g(ctx, source, pe)      RMA_FRONT_(RMA_VALUE_TYPES_WITH_, rma_ctx_g, source)(ctx, source, pe)
#define rma_ctx_atomic_fetch(ctx, source, pe)                                                                          \
    RMA_FRONT_(RMA_ATOMIC_NUMBERS_WITH_, rma_ctx_atomic_fetch, source)(ctx, source, pe)
#define rma_ctx_atomic_fetch_nbi(ctx, fetch, source, pe)                                                               \
    RMA_FRONT_(RMA_ATOMIC_NUMBERS_WITH_, rma_ctx_atomic_fetch_nbi, source)(ctx, fetch, source, pe)
#define rma_ctx_atomic_set(ctx, target, value, pe)                                                                     \
    RMA_FRONT_(RMA_ATOMIC_NUMBERS_WITH_, rma_ctx_atomic_set, target)(ctx, target, value, pe)
#define rma_ctx_atomic_swap(ctx, target, value, pe)                                                                    \
    RMA_FRONT_(RMA_ATOMIC_NUMBERS_WITH_, rma_ctx_atomic_swap, target)(ctx, target, value, pe)
#define rma_ctx_atomic_swap_nbi(ctx, fetch, target, value, pe)                                                         \
    RMA_FRONT_(RMA_ATOMIC_NUMBERS_WITH_, rma_ctx_atomic_swap_nbi, target)(ctx, fetch, target, value, pe)
#define rma_ctx_atomic_add(ctx, target, value, pe)                                                                     \
    RMA_FRONT_(RMA_ATOMIC_NUMBERS_WITH_, rma_ctx_atomic_add, target)(ctx, target, value, pe)
#define rma_ctx_atomic_fetch_add(ctx, target, value, pe)                                                               \
    RMA_FRONT_(RMA_ATOMIC_NUMBERS_WITH_, rma_ctx_atomic_fetch_add, target)(ctx, target, value, pe)
#define rma_ctx_atomic_fetch_add_nbi(ctx, fetch, target, value, pe)                                                    \
    RMA_FRONT_(RMA_ATOMIC_NUMBERS_WITH_, rma_ctx_atomic_fetch_add_nbi, target)(ctx, fetch, target, value, pe)
#define rma_ctx_atomic_min(ctx, target, value, pe)                                                                     \
    RMA_FRONT_(RMA_ATOMIC_NUMBERS_WITH_, rma_ctx_atomic_min, target)(ctx, target, value, pe)
#define rma_ctx_atomic_fetch_min(ctx, target, value, pe)                                                               \
    RMA_FRONT_(RMA_ATOMIC_NUMBERS_WITH_, rma_ctx_atomic_fetch_min, target)(ctx, target, value, pe)
#define rma_ctx_atomic_fetch_min_nbi(ctx, fetch, target, value, pe)                                                    \
    RMA_FRONT_(RMA_ATOMIC_NUMBERS_WITH_, rma_ctx_atomic_fetch_min_nbi, target)(ctx, fetch, target, value, pe)
#define rma_ctx_atomic_max(ctx, target, value, pe)                                                                     \
    RMA_FRONT_(RMA_ATOMIC_NUMBERS_WITH_, rma_ctx_atomic_max, target)(ctx, target, value, pe)
#define rma_ctx_atomic_fetch_max(ctx, target, value, pe)                                                               \
    RMA_FRONT_(RMA_ATOMIC_NUMBERS_WITH_, rma_ctx_atomic_fetch_max, target)(ctx, target, value, pe)
#define rma_ctx_atomic_fetch_max_nbi(ctx, fetch, target, value, pe)                                                    \
    RMA_FRONT_(RMA_ATOMIC_NUMBERS_WITH_, rma_ctx_atomic_fetch_max_nbi, target)(ctx, fetch, target, value, pe)
#define rma_ctx_atomic_compare_swap(ctx, target, cond, value, pe)                                                      \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_ctx_atomic_compare_swap, target)(ctx, target, cond, value, pe)
#define rma_ctx_atomic_compare_swap_nbi(ctx, fetch, target, cond, value, pe)                                           \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_ctx_atomic_compare_swap_nbi, target)(ctx, fetch, target, cond, value, pe)
#define rma_ctx_atomic_inc(ctx, target, pe)                                                                            \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_ctx_atomic_inc, target)(ctx, target, pe)
#define rma_ctx_atomic_fetch_inc(ctx, target, pe)                                                                      \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_ctx_atomic_fetch_inc, target)(ctx, target, pe)
#define rma_ctx_atomic_fetch_inc_nbi(ctx, fetch, target, pe)                                                           \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_ctx_atomic_fetch_inc_nbi, target)(ctx, fetch, target, pe)
#define rma_ctx_atomic_and(ctx, target, value, pe)                                                                     \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_ctx_atomic_and, target)(ctx, target, value, pe)
#define rma_ctx_atomic_fetch_and(ctx, target, value, pe)                                                               \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_ctx_atomic_fetch_and, target)(ctx, target, value, pe)
#define rma_ctx_atomic_fetch_and_nbi(ctx, fetch, target, value, pe)                                                    \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_ctx_atomic_fetch_and_nbi, target)(ctx, fetch, target, value, pe)
#define rma_ctx_atomic_or(ctx, target, value, pe)                                                                      \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_ctx_atomic_or, target)(ctx, target, value, pe)
#define rma_ctx_atomic_fetch_or(ctx, target, value, pe)                                                                \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_ctx_atomic_fetch_or, target)(ctx, target, value, pe)
#define rma_ctx_atomic_fetch_or_nbi(ctx, fetch, target, value, pe)                                                     \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_ctx_atomic_fetch_or_nbi, target)(ctx, fetch, target, value, pe)
#define rma_ctx_atomic_xor(ctx, target, value, pe)                                                                     \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_ctx_atomic_xor, target)(ctx, target, value, pe)
#define rma_ctx_atomic_fetch_xor(ctx, target, value, pe)                                                               \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_ctx_atomic_fetch_xor, target)(ctx, target, value, pe)
#define rma_ctx_atomic_fetch_xor_nbi(ctx, fetch, target, value, pe)                                                    \
    RMA_FRONT_(RMA_ATOMIC_TYPES_WITH_, rma_ctx_atomic_fetch_xor_nbi, target)(ctx, fetch, target, value, pe)

#elif defined __cplusplus

/* Inlined at any level of optimisation: a profiling tool or a debugger that asks for the caller finds the program, not
 * these functions. */
#define RMA_FORWARD_ inline __attribute__((always_inline))
extern "C++" { /* many programs include C's headers inside extern "C" */
/* A shape has the form of a call without a context and, where there is one, the form with it. */
#define RMA_CXX_P_(CALL, NAME, TYPE)                                                                                   \
    RMA_FORWARD_ int rma##CALL(TYPE *target, TYPE value, int pe) { return rma##CALL##_##NAME(target, value, pe); }     \
    RMA_FORWARD_ int rma_ctx##CALL(rma_ctx *ctx, TYPE *target, TYPE value, int pe) {                                   \
        return rma_ctx##CALL##_##NAME(ctx, target, value, pe);                                                         \
    }
#define RMA_CXX_G_(CALL, NAME, TYPE)                                                                                   \
    RMA_FORWARD_ TYPE rma##CALL(const TYPE *source, int pe) { return rma##CALL##_##NAME(source, pe); }                 \
    RMA_FORWARD_ TYPE rma_ctx##CALL(rma_ctx *ctx, const TYPE *source, int pe) {                                        \
        return rma_ctx##CALL##_##NAME(ctx, source, pe);                                                                \
    }
#define RMA_CXX_SWAP_(CALL, NAME, TYPE)                                                                                \
    RMA_FORWARD_ TYPE rma##CALL(TYPE *target, TYPE value, int pe) { return rma##CALL##_##NAME(target, value, pe); }    \
    RMA_FORWARD_ TYPE rma_ctx##CALL(rma_ctx *ctx, TYPE *target, TYPE value, int pe) {                                  \
        return rma_ctx##CALL##_##NAME(ctx, target, value, pe);                                                         \
    }
#define RMA_CXX_FETCH_NBI_(CALL, NAME, TYPE)                                                                           \
    RMA_FORWARD_ int rma##CALL(TYPE *fetch, const TYPE *source, int pe) {                                              \
        return rma##CALL##_##NAME(fetch, source, pe);                                                                  \
    }                                                                                                                  \
    RMA_FORWARD_ int rma_ctx##CALL(rma_ctx *ctx, TYPE *fetch, const TYPE *source, int pe) {                            \
        return rma_ctx##CALL##_##NAME(ctx, fetch, source, pe);                                                         \
    }
#define RMA_CXX_SWAP_NBI_(CALL, NAME, TYPE)                                                                            \
    RMA_FORWARD_ int rma##CALL(TYPE *fetch, TYPE *target, TYPE value, int pe) {                                        \
        return rma##CALL##_##NAME(fetch, target, value, pe);                                                           \
    }                                                                                                                  \
    RMA_FORWARD_ int rma_ctx##CALL(rma_ctx *ctx, TYPE *fetch, TYPE *target, TYPE value, int pe) {                      \
        return rma_ctx##CALL##_##NAME(ctx, fetch, target, value, pe);                                                  \
    }
#define RMA_CXX_CSWAP_(CALL, NAME, TYPE)                                                                               \
    RMA_FORWARD_ TYPE rma##CALL(TYPE *target, TYPE cond, TYPE value, int pe) {                                         \
        return rma##CALL##_##NAME(target, cond, value, pe);                                                            \
    }                                                                                                                  \
    RMA_FORWARD_ TYPE rma_ctx##CALL(rma_ctx *ctx, TYPE *target, TYPE cond, TYPE value, int pe) {                       \
        return rma_ctx##CALL##_##NAME(ctx, target, cond, value, pe);                                                   \
    }
#define RMA_CXX_CSWAP_NBI_(CALL, NAME, TYPE)                                                                           \
    RMA_FORWARD_ int rma##CALL(TYPE *fetch, TYPE *target, TYPE cond, TYPE value, int pe) {                             \
        return rma##CALL##_##NAME(fetch, target, cond, value, pe);                                                     \
    }                                                                                                                  \
    RMA_FORWARD_ int rma_ctx##CALL(rma_ctx *ctx, TYPE *fetch, TYPE *target, TYPE cond, TYPE value, int pe) {           \
        return rma_ctx##CALL##_##NAME(ctx, fetch, target, cond, value, pe);                                            \
    }
#define RMA_CXX_INC_(CALL, NAME, TYPE)                                                                                 \
    RMA_FORWARD_ int rma##CALL(TYPE *target, int pe) { return rma##CALL##_##NAME(target, pe); }                        \
    RMA_FORWARD_ int rma_ctx##CALL(rma_ctx *ctx, TYPE *target, int pe) {                                               \
        return rma_ctx##CALL##_##NAME(ctx, target, pe);                                                                \
    }
#define RMA_CXX_FINC_(CALL, NAME, TYPE)                                                                                \
    RMA_FORWARD_ TYPE rma##CALL(TYPE *target, int pe) { return rma##CALL##_##NAME(target, pe); }                       \
    RMA_FORWARD_ TYPE rma_ctx##CALL(rma_ctx *ctx, TYPE *target, int pe) {                                              \
        return rma_ctx##CALL##_##NAME(ctx, target, pe);                                                                \
    }
#define RMA_CXX_FINC_NBI_(CALL, NAME, TYPE)                                                                            \
    RMA_FORWARD_ int rma##CALL(TYPE *fetch, TYPE *target, int pe) { return rma##CALL##_##NAME(fetch, target, pe); }    \
    RMA_FORWARD_ int rma_ctx##CALL(rma_ctx *ctx, TYPE *fetch, TYPE *target, int pe) {                                  \
        return rma_ctx##CALL##_##NAME(ctx, fetch, target, pe);                                                         \
    }
#define RMA_CXX_WAIT_(CALL, NAME, TYPE)                                                                                \
    RMA_FORWARD_ int rma##CALL(TYPE *ivar, int cmp, TYPE value) { return rma##CALL##_##NAME(ivar, cmp, value); }
#define RMA_CXX_ALL_(CALL, NAME, TYPE)                                                                                 \
    RMA_FORWARD_ int rma##CALL(TYPE *ivars, size_t n, const int *status, int cmp, TYPE value) {                        \
        return rma##CALL##_##NAME(ivars, n, status, cmp, value);                                                       \
    }
#define RMA_CXX_ANY_(CALL, NAME, TYPE)                                                                                 \
    RMA_FORWARD_ size_t rma##CALL(TYPE *ivars, size_t n, const int *status, int cmp, TYPE value) {                     \
        return rma##CALL##_##NAME(ivars, n, status, cmp, value);                                                       \
    }
#define RMA_CXX_SOME_(CALL, NAME, TYPE)                                                                                \
    RMA_FORWARD_ size_t rma##CALL(TYPE *ivars, size_t n, size_t *indices, const int *status, int cmp, TYPE value) {    \
        return rma##CALL##_##NAME(ivars, n, indices, status, cmp, value);                                              \
    }
#define RMA_CXX_ALL_VECTOR_(CALL, NAME, TYPE)                                                                          \
    RMA_FORWARD_ int rma##CALL(TYPE *ivars, size_t n, const int *status, int cmp, const TYPE *value) {                 \
        return rma##CALL##_##NAME(ivars, n, status, cmp, value);                                                       \
    }
#define RMA_CXX_ANY_VECTOR_(CALL, NAME, TYPE)                                                                          \
    RMA_FORWARD_ size_t rma##CALL(TYPE *ivars, size_t n, const int *status, int cmp, const TYPE *value) {              \
        return rma##CALL##_##NAME(ivars, n, status, cmp, value);                                                       \
    }
#define RMA_CXX_SOME_VECTOR_(CALL, NAME, TYPE)                                                                         \
    RMA_FORWARD_ size_t rma##CALL(TYPE *ivars, size_t n, size_t *indices, const int *status, int cmp,                  \
                                  const TYPE *value) {                                                                 \
        return rma##CALL##_##NAME(ivars, n, indices, status, cmp, value);                                              \
    }
#define RMA_CXX_REDUCE_(CALL, NAME, TYPE)                                                                              \
    RMA_FORWARD_ int rma##CALL(rma_team *team, TYPE *dest, const TYPE *source, size_t n) {                             \
        return rma##CALL##_##NAME(team, dest, source, n);                                                              \
    }

#define RMA_CXX_REDUCE_ROOT_(CALL, NAME, TYPE)                                                                         \
    RMA_FORWARD_ int rma##CALL(rma_team *team, TYPE *dest, const TYPE *source, size_t n, int root) {                   \
        return rma##CALL##_##NAME(team, dest, source, n, root);                                                        \
    }

RMA_TYPES_WITH_(RMA_CXX_P_, _p)
RMA_TYPES_WITH_(RMA_CXX_G_, _g)
RMA_CXX_P_(_p, bool, rma_bool_)
RMA_CXX_G_(_g, bool, rma_bool_)
RMA_ATOMIC_NUMBERS_WITH_(RMA_CXX_G_, _atomic_fetch)
RMA_ATOMIC_NUMBERS_WITH_(RMA_CXX_FETCH_NBI_, _atomic_fetch_nbi)
RMA_ATOMIC_NUMBERS_WITH_(RMA_CXX_P_, _atomic_set)
RMA_ATOMIC_NUMBERS_WITH_(RMA_CXX_SWAP_, _atomic_swap)
RMA_ATOMIC_NUMBERS_WITH_(RMA_CXX_SWAP_NBI_, _atomic_swap_nbi)
RMA_ATOMIC_NUMBERS_WITH_(RMA_CXX_P_, _atomic_add)
RMA_ATOMIC_NUMBERS_WITH_(RMA_CXX_SWAP_, _atomic_fetch_add)
RMA_ATOMIC_NUMBERS_WITH_(RMA_CXX_SWAP_NBI_, _atomic_fetch_add_nbi)
RMA_ATOMIC_NUMBERS_WITH_(RMA_CXX_P_, _atomic_min)
RMA_ATOMIC_NUMBERS_WITH_(RMA_CXX_SWAP_, _atomic_fetch_min)
RMA_ATOMIC_NUMBERS_WITH_(RMA_CXX_SWAP_NBI_, _atomic_fetch_min_nbi)
RMA_ATOMIC_NUMBERS_WITH_(RMA_CXX_P_, _atomic_max)
RMA_ATOMIC_NUMBERS_WITH_(RMA_CXX_SWAP_, _atomic_fetch_max)
RMA_ATOMIC_NUMBERS_WITH_(RMA_CXX_SWAP_NBI_, _atomic_fetch_max_nbi)
RMA_ATOMIC_TYPES_WITH_(RMA_CXX_CSWAP_, _atomic_compare_swap)
RMA_ATOMIC_TYPES_WITH_(RMA_CXX_CSWAP_NBI_, _atomic_compare_swap_nbi)
RMA_ATOMIC_TYPES_WITH_(RMA_CXX_INC_, _atomic_inc)
RMA_ATOMIC_TYPES_WITH_(RMA_CXX_FINC_, _atomic_fetch_inc)
RMA_ATOMIC_TYPES_WITH_(RMA_CXX_FINC_NBI_, _atomic_fetch_inc_nbi)
RMA_ATOMIC_TYPES_WITH_(RMA_CXX_P_, _atomic_and)
RMA_ATOMIC_TYPES_WITH_(RMA_CXX_SWAP_, _atomic_fetch_and)
RMA_ATOMIC_TYPES_WITH_(RMA_CXX_SWAP_NBI_, _atomic_fetch_and_nbi)
RMA_ATOMIC_TYPES_WITH_(RMA_CXX_P_, _atomic_or)
RMA_ATOMIC_TYPES_WITH_(RMA_CXX_SWAP_, _atomic_fetch_or)
RMA_ATOMIC_TYPES_WITH_(RMA_CXX_SWAP_NBI_, _atomic_fetch_or_nbi)
RMA_ATOMIC_TYPES_WITH_(RMA_CXX_P_, _atomic_xor)
RMA_ATOMIC_TYPES_WITH_(RMA_CXX_SWAP_, _atomic_fetch_xor)
RMA_ATOMIC_TYPES_WITH_(RMA_CXX_SWAP_NBI_, _atomic_fetch_xor_nbi)
RMA_ATOMIC_TYPES_WITH_(RMA_CXX_WAIT_, _wait_until)
RMA_ATOMIC_TYPES_WITH_(RMA_CXX_WAIT_, _test)
RMA_ATOMIC_TYPES_WITH_(RMA_CXX_ALL_, _wait_until_all)
RMA_ATOMIC_TYPES_WITH_(RMA_CXX_ALL_, _test_all)
RMA_ATOMIC_TYPES_WITH_(RMA_CXX_ANY_, _wait_until_any)
RMA_ATOMIC_TYPES_WITH_(RMA_CXX_ANY_, _test_any)
RMA_ATOMIC_TYPES_WITH_(RMA_CXX_SOME_, _wait_until_some)
RMA_ATOMIC_TYPES_WITH_(RMA_CXX_SOME_, _test_some)
RMA_ATOMIC_TYPES_WITH_(RMA_CXX_ALL_VECTOR_, _wait_until_all_vector)
RMA_ATOMIC_TYPES_WITH_(RMA_CXX_ALL_VECTOR_, _test_all_vector)
RMA_ATOMIC_TYPES_WITH_(RMA_CXX_ANY_VECTOR_, _wait_until_any_vector)
RMA_ATOMIC_TYPES_WITH_(RMA_CXX_ANY_VECTOR_, _test_any_vector)
RMA_ATOMIC_TYPES_WITH_(RMA_CXX_SOME_VECTOR_, _wait_until_some_vector)
RMA_ATOMIC_TYPES_WITH_(RMA_CXX_SOME_VECTOR_, _test_some_vector)
RMA_INTEGER_TYPES_WITH_(RMA_CXX_REDUCE_, _and_reduce)
RMA_INTEGER_TYPES_WITH_(RMA_CXX_REDUCE_, _or_reduce)
RMA_INTEGER_TYPES_WITH_(RMA_CXX_REDUCE_, _xor_reduce)
RMA_TYPES_WITH_(RMA_CXX_REDUCE_, _min_reduce)
RMA_TYPES_WITH_(RMA_CXX_REDUCE_, _max_reduce)
RMA_SUM_TYPES_WITH_(RMA_CXX_REDUCE_, _sum_reduce)
RMA_SUM_TYPES_WITH_(RMA_CXX_REDUCE_, _prod_reduce)
RMA_INTEGER_TYPES_WITH_(RMA_CXX_REDUCE_ROOT_, _and_reduce_root)
RMA_INTEGER_TYPES_WITH_(RMA_CXX_REDUCE_ROOT_, _or_reduce_root)
RMA_INTEGER_TYPES_WITH_(RMA_CXX_REDUCE_ROOT_, _xor_reduce_root)
RMA_TYPES_WITH_(RMA_CXX_REDUCE_ROOT_, _min_reduce_root)
RMA_TYPES_WITH_(RMA_CXX_REDUCE_ROOT_, _max_reduce_root)
RMA_SUM_TYPES_WITH_(RMA_CXX_REDUCE_ROOT_, _sum_reduce_root)
RMA_SUM_TYPES_WITH_(RMA_CXX_REDUCE_ROOT_, _prod_reduce_root)
RMA_TYPES_WITH_(RMA_CXX_REDUCE_, _min_inscan)
RMA_TYPES_WITH_(RMA_CXX_REDUCE_, _min_exscan)
RMA_TYPES_WITH_(RMA_CXX_REDUCE_, _max_inscan)
RMA_TYPES_WITH_(RMA_CXX_REDUCE_, _max_exscan)
RMA_SUM_TYPES_WITH_(RMA_CXX_REDUCE_, _sum_inscan)
RMA_SUM_TYPES_WITH_(RMA_CXX_REDUCE_, _sum_exscan)

#if __cplusplus >= 201103L
/* std::complex */
#define RMA_CXX_COMPLEX_(CALL)                                                                                         \
    template <typename C, typename Z = typename rma_complex_of_<C>::type>                                              \
    RMA_FORWARD_ int CALL(rma_team *team, C *dest, const C *source, size_t n) {                                        \
        return CALL(team, reinterpret_cast<Z *>(dest), reinterpret_cast<const Z *>(source), n);                        \
    }
RMA_CXX_COMPLEX_(rma_sum_reduce)
RMA_CXX_COMPLEX_(rma_prod_reduce)
RMA_CXX_COMPLEX_(rma_sum_inscan)
RMA_CXX_COMPLEX_(rma_sum_exscan)
#define RMA_CXX_COMPLEX_ROOT_(CALL)                                                                                    \
    template <typename C, typename Z = typename rma_complex_of_<C>::type>                                              \
    RMA_FORWARD_ int CALL(rma_team *team, C *dest, const C *source, size_t n, int root) {                              \
        return CALL(team, reinterpret_cast<Z *>(dest), reinterpret_cast<const Z *>(source), n, root);                  \
    }
RMA_CXX_COMPLEX_ROOT_(rma_sum_reduce_root)
RMA_CXX_COMPLEX_ROOT_(rma_prod_reduce_root)
#endif
}
#endif

#pragma GCC visibility pop

#endif
