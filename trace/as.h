/* SPDX-License-Identifier: BSD-3-Clause */
/* The tracing versions of those functions of rma_inline.h that the inlined calls of both APIs use. A file includes
 * rma.h and then this file. Calls that it then expands from the headers' tables call these functions instead of
 * librma's. They are always inlined, so that TRACE_HERE is the place in the program. */
#include "trace/calls.h"

#define ONE(KIND, FAR, LEN) KIND, call, trace_pe(ctx, named, pe), LEN, trace_place(FAR), trace_context(ctx, named)
#define RECORD(...)         TRACE_CALL(__VA_ARGS__)
#define GIVES(T, ...)                                                                                                  \
    T result;                                                                                                          \
    RECORD(__VA_ARGS__);                                                                                               \
    return result

#define MOVE_AS(NAME, KIND, FAR, FROM)                                                                                 \
    TRACE_INLINED int trace_##NAME##_as(const char *call, const rma_ctx *ctx, int named, void *dest,                   \
                                        const void *source, size_t len, int pe) {                                      \
        GIVES(int, ONE(KIND, FAR, len), result = rma_##NAME##_as_(call, ctx, named, dest, source, len, pe));           \
    }
MOVE_AS(put, TRACE_PUT, dest, source)
MOVE_AS(get, TRACE_GET, source, dest)
MOVE_AS(put_nbi, TRACE_PUT_NBI, dest, source)
MOVE_AS(get_nbi, TRACE_GET_NBI, source, dest)
MOVE_AS(p, TRACE_PUT, dest, source)

TRACE_INLINED int trace_g_as(const char *call, const rma_ctx *ctx, int named, void *near, void *far, const void *source,
                             size_t len, int pe) {
    GIVES(int, ONE(TRACE_GET, source, len), result = rma_g_as_(call, ctx, named, near, far, source, len, pe));
}

TRACE_INLINED int trace_put_signal_as(const char *call, const rma_ctx *ctx, int named, void *dest, const void *source,
                                      size_t len, uint64_t *signal, uint64_t value, int op, int pe, int nbi) {
    GIVES(int, ONE(nbi ? TRACE_PUT_SIGNAL_NBI : TRACE_PUT_SIGNAL, signal, len),
          result = rma_put_signal_as_(call, ctx, named, dest, source, len, signal, value, op, pe, nbi));
}

TRACE_INLINED int trace_signal_as(const char *call, const rma_ctx *ctx, int named, uint64_t *signal, uint64_t value,
                                  int op, int pe) {
    GIVES(int, ONE(TRACE_SIGNAL, signal, 0), result = rma_signal_as_(call, ctx, named, signal, value, op, pe));
}

TRACE_INLINED uint64_t trace_fetch_as(const char *call, const rma_ctx *ctx, int named, int op, const void *target,
                                      size_t len, uint64_t value, uint64_t cond, int pe) {
    GIVES(uint64_t, ONE(TRACE_ATOMIC, target, 0),
          result = rma_fetch_as_(call, ctx, named, op, target, len, value, cond, pe));
}

TRACE_INLINED int trace_update_as(const char *call, const rma_ctx *ctx, int named, int op, const void *target,
                                  size_t len, uint64_t value, int pe) {
    GIVES(int, ONE(TRACE_ATOMIC, target, 0), result = rma_update_as_(call, ctx, named, op, target, len, value, pe));
}

TRACE_INLINED int trace_fetch_nbi_as(const char *call, const rma_ctx *ctx, int named, void *fetch, int op,
                                     const void *target, size_t len, uint64_t value, uint64_t cond, int pe) {
    GIVES(int, ONE(TRACE_ATOMIC, target, 0),
          result = rma_fetch_nbi_as_(call, ctx, named, fetch, op, target, len, value, cond, pe));
}

/* Waiting. The PE that ends the wait is found when the records are compared. */
#define OWN(KIND, IVAR) KIND, call, -1, 0, trace_place(IVAR), 0

TRACE_INLINED int trace_wait_slow(const char *call, int word, const void *ivar, int cmp, const void *value,
                                  uint64_t *seen) {
    GIVES(int, OWN(TRACE_WAIT, ivar), result = rma_wait_slow_(call, word, ivar, cmp, value, seen));
}

TRACE_INLINED int trace_test_slow(const char *call, int word, const void *ivar, int cmp, const void *value) {
    GIVES(int, OWN(TRACE_TEST, ivar), result = rma_test_slow_(call, word, ivar, cmp, value));
}

TRACE_INLINED size_t trace_words(const char *call, int what, int waits, int word, const void *ivars, size_t n,
                                 size_t *indices, const int *status, int cmp, const void *values, int many, int *code) {
    size_t result, at;
    TRACE_CALL(waits ? TRACE_WAIT : TRACE_TEST, call, -1, 0,
               (at = what == RMA_ANY_ && result < n     ? result
                     : what == RMA_SOME_ && result && n ? indices[result - 1]
                                                        : 0,
                trace_place((const char *)ivars + at * (size_t)(word & RMA_WORD_LEN_))),
               0, result = rma_words_(call, what, waits, word, ivars, n, indices, status, cmp, values, many, code));
    return result;
}

/* A fence or a quiet, whichever `call` names. */
TRACE_INLINED int trace_ctx_order(const char *call, const rma_ctx *ctx) {
    GIVES(int, strstr(call, "quiet") ? TRACE_QUIET : TRACE_FENCE, call, -1, 0, 0, trace_context(ctx, 1),
          result = rma_ctx_order_(call, ctx));
}

TRACE_INLINED int trace_order(const char *call) {
    GIVES(int, strstr(call, "quiet") ? TRACE_QUIET : TRACE_FENCE, call, -1, 0, 0, 0, result = rma_order_(call));
}

/* Global pointers: a PE and an offset. */
#define GONE(KIND, G, LEN, CONTEXT) KIND, call, TRACE_GPTR_PE(G), LEN, trace_gptr_place(G), CONTEXT

TRACE_INLINED uint64_t trace_gptr_fetch_as(const char *call, int op, rma_gptr_t g, size_t len, uint64_t value,
                                           uint64_t cond) {
    GIVES(uint64_t, GONE(TRACE_ATOMIC, g, 0, 0), result = rma_gptr_fetch_as_(call, op, g, len, value, cond));
}

TRACE_INLINED int trace_gptr_update_as(const char *call, int op, rma_gptr_t g, size_t len, uint64_t value) {
    GIVES(int, GONE(TRACE_ATOMIC, g, 0, 0), result = rma_gptr_update_as_(call, op, g, len, value));
}

TRACE_INLINED int trace_gptr_fetch_nbi_as(const char *call, void *fetch, int op, rma_gptr_t g, size_t len,
                                          uint64_t value, uint64_t cond) {
    GIVES(int, GONE(TRACE_ATOMIC, g, 0, 0), result = rma_gptr_fetch_nbi_as_(call, fetch, op, g, len, value, cond));
}

TRACE_INLINED int trace_gptr_put_nbi_as(const char *call, const rma_ctx *ctx, int named, rma_gptr_t dest,
                                        const void *source, size_t len) {
    GIVES(int, GONE(TRACE_PUT_NBI, dest, len, trace_context(ctx, named)),
          result = rma_gptr_put_nbi_as_(call, ctx, named, dest, source, len));
}

TRACE_INLINED int trace_gptr_get_nbi_as(const char *call, const rma_ctx *ctx, int named, void *dest, rma_gptr_t source,
                                        size_t len) {
    GIVES(int, GONE(TRACE_GET_NBI, source, len, trace_context(ctx, named)),
          result = rma_gptr_get_nbi_as_(call, ctx, named, dest, source, len));
}

TRACE_INLINED int trace_gptr_p_as(const char *call, const rma_ctx *ctx, int named, rma_gptr_t dest, const void *value,
                                  size_t len) {
    GIVES(int, GONE(TRACE_PUT, dest, len, trace_context(ctx, named)),
          result = rma_gptr_p_as_(call, ctx, named, dest, value, len));
}

TRACE_INLINED int trace_gptr_g_as(const char *call, const rma_ctx *ctx, int named, void *near, void *far,
                                  rma_gptr_t source, size_t len) {
    GIVES(int, GONE(TRACE_GET, source, len, trace_context(ctx, named)),
          result = rma_gptr_g_as_(call, ctx, named, near, far, source, len));
}

TRACE_INLINED int trace_gptr_put_signal_as(const char *call, const rma_ctx *ctx, int named, rma_gptr_t dest,
                                           const void *source, size_t len, rma_gptr_t signal, uint64_t value, int op,
                                           int nbi) {
    GIVES(int, nbi ? TRACE_PUT_SIGNAL_NBI : TRACE_PUT_SIGNAL, call, TRACE_GPTR_PE(dest), len, trace_gptr_place(signal),
          trace_context(ctx, named),
          result = rma_gptr_put_signal_as_(call, ctx, named, dest, source, len, signal, value, op, nbi));
}

/* From here on the names in the tables mean the functions above. The inlined tests of a waiting call always fail, so
 * that it calls trace_wait_slow. */
#define rma_put_as_             trace_put_as
#define rma_get_as_             trace_get_as
#define rma_put_nbi_as_         trace_put_nbi_as
#define rma_get_nbi_as_         trace_get_nbi_as
#define rma_p_as_               trace_p_as
#define rma_g_as_               trace_g_as
#define rma_put_signal_as_      trace_put_signal_as
#define rma_signal_as_          trace_signal_as
#define rma_fetch_as_           trace_fetch_as
#define rma_update_as_          trace_update_as
#define rma_fetch_nbi_as_       trace_fetch_nbi_as
#define rma_wait_slow_          trace_wait_slow
#define rma_test_slow_          trace_test_slow
#define rma_words_              trace_words
#define rma_gptr_fetch_as_      trace_gptr_fetch_as
#define rma_gptr_update_as_     trace_gptr_update_as
#define rma_gptr_fetch_nbi_as_  trace_gptr_fetch_nbi_as
#define rma_gptr_put_nbi_as_    trace_gptr_put_nbi_as
#define rma_gptr_get_nbi_as_    trace_gptr_get_nbi_as
#define rma_gptr_p_as_          trace_gptr_p_as
#define rma_gptr_g_as_          trace_gptr_g_as
#define rma_gptr_put_signal_as_ trace_gptr_put_signal_as
#define rma_order_              trace_order
#define rma_ctx_order_          trace_ctx_order
#define rma_holds_int(...)      (-1)
#define rma_holds_long(...)     (-1)
#define rma_holds_llong(...)    (-1)
#define rma_holds_uint(...)     (-1)
#define rma_holds_ulong(...)    (-1)
#define rma_holds_ullong(...)   (-1)
#define rma_holds_int32(...)    (-1)
#define rma_holds_int64(...)    (-1)
#define rma_holds_uint32(...)   (-1)
#define rma_holds_uint64(...)   (-1)
#define rma_holds_size(...)     (-1)
#define rma_holds_ptrdiff(...)  (-1)
