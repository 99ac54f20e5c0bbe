/* SPDX-License-Identifier: BSD-3-Clause */
/* The external definitions of the inlined calls (C11 6.7.4), what -O0, other languages and debuggers link to; and what
 * programs compiled with earlier headers link to. */
#define RMA_INLINE_ extern inline

#include "config.h"

#include "rma.h"

/* Functions that the inlined code of earlier headers calls where the compiler has not inlined these, too. Programs that
 * were compiled with those headers look for them here. */
#pragma GCC visibility push(default)

#define KEPT(RESULT, CALL, PARAMETERS)                                                                                 \
    RESULT CALL PARAMETERS;                                                                                            \
    RESULT CALL PARAMETERS

KEPT(int, rma_signal_,
     (const char *call, const rma_ctx *ctx, void *there, uint64_t *word, void *dest, const void *source, size_t len,
      uint64_t *signal, uint64_t value, int op, int pe, int nbi)) {
    if (!there || !word || (op != RMA_SIGNAL_SET && op != RMA_SIGNAL_ADD))
        return rma_put_signal_slow_(call, ctx, dest, source, len, signal, value, op, pe, nbi);
    rma_move_(there, source, len);
    if (op == RMA_SIGNAL_SET)
        __atomic_store_n(word, value, __ATOMIC_RELEASE);
    else
        __atomic_fetch_add(word, value, __ATOMIC_ACQ_REL);
    return RMA_SUCCESS;
}

#define KEPT_APPLY(NAME, TYPE, KIND, WHAT, OP)                                                                         \
    KEPT(TYPE, rma_do_##WHAT##_##NAME, (TYPE * word, TYPE value)) {                                                    \
        return RMA_VALUE_##KIND##_(NAME, TYPE,                                                                         \
                                   rma_apply_(OP, word, sizeof value, RMA_BITS_##KIND##_(NAME, value), 0));            \
    }
#define KEPT_INTEGER(NAME, TYPE)                                                                                       \
    KEPT_APPLY(NAME, TYPE, INTEGER, min, RMA_IS_SIGNED_(TYPE) ? RMA_FETCH_SMIN_ : RMA_FETCH_MIN_)                      \
    KEPT_APPLY(NAME, TYPE, INTEGER, max, RMA_IS_SIGNED_(TYPE) ? RMA_FETCH_SMAX_ : RMA_FETCH_MAX_)
#define KEPT_FLOAT(NAME, TYPE)                                                                                         \
    KEPT_APPLY(NAME, TYPE, FLOAT, add, RMA_FETCH_FADD_)                                                                \
    KEPT_APPLY(NAME, TYPE, FLOAT, min, RMA_FETCH_FMIN_)                                                                \
    KEPT_APPLY(NAME, TYPE, FLOAT, max, RMA_FETCH_FMAX_)
RMA_ATOMIC_TYPES(KEPT_INTEGER)
RMA_ATOMIC_TYPE_ALIASES(KEPT_INTEGER)
RMA_ATOMIC_FLOAT_TYPES(KEPT_FLOAT)

#pragma GCC visibility pop
