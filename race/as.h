/* SPDX-License-Identifier: BSD-3-Clause */
/* The detector's versions of those functions of rma_inline.h that the inlined calls of both APIs use. A file defines
 * RACE_BY_NATIVE (1: by the rules of the native calls, 0: by those of OpenSHMEM), and includes rma.h and then this
 * file. Calls that it then expands from the headers' tables call these functions instead of librma's. */
#include "race/calls.h"

#define RACE_CALL_                                                                                                     \
    struct race_call c = {                                                                                             \
        .name = call, .pc = race_from, .ctx = !named || ctx == RMA_CTX_DEFAULT ? NULL : ctx, .native = RACE_BY_NATIVE}
#define RACE_WAIT_ struct race_call c = {.name = call, .pc = race_from, .native = RACE_BY_NATIVE}
#define RACE_AT_(addr_, pe_)                                                                                           \
    (struct race_target) { .addr = (uint64_t)(uintptr_t)(addr_), .pe = (pe_) }

/* A put or a get of OpenSHMEM is recorded before the library executes it, since a waiting PE may learn from a put. No
 * PE learns from a native put, so native calls are recorded afterwards, and only if they succeeded. */

static inline int race_put_as(const char *call, const rma_ctx *ctx, int named, void *dest, const void *source,
                              size_t len, int pe) {
    int code;
    RACE_CALL_;
    if (!RACE_BY_NATIVE) race_put(&c, RACE_AT_(dest, pe), source, len, 0);
    RACE_FORWARD(code = rma_put_as_(call, ctx, named, dest, source, len, pe));
    if (RACE_BY_NATIVE && code == RMA_SUCCESS) race_put(&c, RACE_AT_(dest, pe), source, len, 0);
    return code;
}

static inline int race_get_as(const char *call, const rma_ctx *ctx, int named, void *dest, const void *source,
                              size_t len, int pe) {
    int code;
    RACE_CALL_;
    if (!RACE_BY_NATIVE) race_get(&c, dest, RACE_AT_(source, pe), len, 0);
    RACE_FORWARD(code = rma_get_as_(call, ctx, named, dest, source, len, pe));
    if (RACE_BY_NATIVE && code == RMA_SUCCESS) race_get(&c, dest, RACE_AT_(source, pe), len, 0);
    return code;
}

static inline int race_put_nbi_as(const char *call, const rma_ctx *ctx, int named, void *dest, const void *source,
                                  size_t len, int pe) {
    int code;
    RACE_CALL_;
    if (!RACE_BY_NATIVE) race_put(&c, RACE_AT_(dest, pe), source, len, 1);
    RACE_FORWARD(code = rma_put_nbi_as_(call, ctx, named, dest, source, len, pe));
    if (RACE_BY_NATIVE && code == RMA_SUCCESS) race_put(&c, RACE_AT_(dest, pe), source, len, 1);
    return code;
}

static inline int race_get_nbi_as(const char *call, const rma_ctx *ctx, int named, void *dest, const void *source,
                                  size_t len, int pe) {
    int code;
    RACE_CALL_;
    if (!RACE_BY_NATIVE) race_get(&c, dest, RACE_AT_(source, pe), len, 1);
    RACE_FORWARD(code = rma_get_nbi_as_(call, ctx, named, dest, source, len, pe));
    if (RACE_BY_NATIVE && code == RMA_SUCCESS) race_get(&c, dest, RACE_AT_(source, pe), len, 1);
    return code;
}

static inline int race_p_as(const char *call, const rma_ctx *ctx, int named, void *dest, const void *value, size_t len,
                            int pe) {
    int code;
    RACE_CALL_;
    race_p(&c, RACE_AT_(dest, pe), len);
    RACE_FORWARD(code = rma_p_as_(call, ctx, named, dest, value, len, pe));
    return code;
}

static inline int race_g_as(const char *call, const rma_ctx *ctx, int named, void *near, void *far, const void *source,
                            size_t len, int pe) {
    int is_near;
    RACE_CALL_;
    race_g(&c, RACE_AT_(source, pe), len);
    RACE_FORWARD(is_near = rma_g_as_(call, ctx, named, near, far, source, len, pe));
    return is_near;
}

static inline int race_put_signal_as(const char *call, const rma_ctx *ctx, int named, void *dest, const void *source,
                                     size_t len, uint64_t *signal, uint64_t value, int op, int pe, int nbi) {
    int code;
    RACE_CALL_;
    race_put_signal(&c, RACE_AT_(dest, pe), source, len, signal, op == RMA_SIGNAL_ADD, nbi);
    RACE_FORWARD(code = rma_put_signal_as_(call, ctx, named, dest, source, len, signal, value, op, pe, nbi));
    return code;
}

static inline int race_signal_as(const char *call, const rma_ctx *ctx, int named, uint64_t *signal, uint64_t value,
                                 int op, int pe) {
    int code;
    RACE_CALL_;
    race_put_signal(&c, RACE_AT_(NULL, pe), NULL, 0, signal, op == RMA_SIGNAL_ADD, 0);
    RACE_FORWARD(code = rma_signal_as_(call, ctx, named, signal, value, op, pe));
    return code;
}

static inline uint64_t race_fetch_as(const char *call, const rma_ctx *ctx, int named, int op, const void *target,
                                     size_t len, uint64_t value, uint64_t cond, int pe) {
    uint64_t old;
    RACE_CALL_;
    race_atomic(&c, RACE_AT_(target, pe), len, op != RMA_FETCH_, 1, NULL);
    RACE_FORWARD(old = rma_fetch_as_(call, ctx, named, op, target, len, value, cond, pe));
    race_atomic_done(&c, RACE_AT_(target, pe), len);
    return old;
}

static inline int race_update_as(const char *call, const rma_ctx *ctx, int named, int op, const void *target,
                                 size_t len, uint64_t value, int pe) {
    int code;
    RACE_CALL_;
    race_atomic(&c, RACE_AT_(target, pe), len, 1, 0, NULL);
    RACE_FORWARD(code = rma_update_as_(call, ctx, named, op, target, len, value, pe));
    return code;
}

static inline int race_fetch_nbi_as(const char *call, const rma_ctx *ctx, int named, void *fetch, int op,
                                    const void *target, size_t len, uint64_t value, uint64_t cond, int pe) {
    int code;
    RACE_CALL_;
    race_atomic(&c, RACE_AT_(target, pe), len, op != RMA_FETCH_, 1, fetch);
    RACE_FORWARD(code = rma_fetch_nbi_as_(call, ctx, named, fetch, op, target, len, value, cond, pe));
    return code;
}

static inline int race_wait_slow(const char *call, int word, const void *ivar, int cmp, const void *value,
                                 uint64_t *seen) {
    int code;
    RACE_WAIT_;
    RACE_FORWARD(code = rma_wait_slow_(call, word, ivar, cmp, value, seen));
    race_waited(&c, ivar, (size_t)(word & RMA_WORD_LEN_));
    return code;
}

static inline int race_test_slow(const char *call, int word, const void *ivar, int cmp, const void *value) {
    int yes;
    RACE_WAIT_;
    RACE_FORWARD(yes = rma_test_slow_(call, word, ivar, cmp, value));
    if (yes == 1) race_waited(&c, ivar, (size_t)(word & RMA_WORD_LEN_));
    return yes;
}

static inline size_t race_words(const char *call, int what, int waits, int word, const void *ivars, size_t n,
                                size_t *indices, const int *status, int cmp, const void *values, int many, int *code) {
    size_t len = (size_t)(word & RMA_WORD_LEN_), result;
    const char *first = ivars;
    RACE_WAIT_;
    RACE_FORWARD(result = rma_words_(call, what, waits, word, ivars, n, indices, status, cmp, values, many, code));
    if (what == RMA_ANY_) {
        if (result < n) race_waited(&c, first + result * len, len);
    } else if (what == RMA_SOME_) {
        for (size_t i = 0; i < result && result <= n; i++) race_waited(&c, first + indices[i] * len, len);
    } else if (waits || result == 1) {
        for (size_t i = 0; i < n; i++)
            if (!status || !status[i]) race_waited(&c, first + i * len, len);
    }
    return result;
}

static inline uint64_t race_signal_fetch(const uint64_t *signal) {
    const char *call = RACE_BY_NATIVE ? "rma_signal_fetch" : "shmem_signal_fetch";
    uint64_t value = __atomic_load_n(signal, __ATOMIC_ACQUIRE);
    RACE_WAIT_;
    race_waited(&c, signal, sizeof *signal);
    return value;
}

/* A fence or a quiet, whichever `call` names. */
static inline int race_ctx_order(const char *call, const rma_ctx *ctx) {
    int code, named = 1;
    RACE_CALL_;
    RACE_FORWARD(code = rma_ctx_order_(call, ctx));
    if (strstr(call, "quiet"))
        race_quiet(&c);
    else
        race_fence(&c);
    return code;
}

static inline int race_order(const char *call) { return race_ctx_order(call, RMA_CTX_DEFAULT); }

/* Global pointers: a PE and an offset. */
#define RACE_GPTR_(g)                                                                                                  \
    (struct race_target) {                                                                                             \
        .addr = (g) & (((rma_gptr_t)1 << RMA_GPTR_BITS_) - 1), .pe = (int)((g) >> RMA_GPTR_BITS_), .gptr = 1           \
    }

static inline uint64_t race_gptr_fetch_as(const char *call, int op, rma_gptr_t g, size_t len, uint64_t value,
                                          uint64_t cond) {
    struct race_call c = {.name = call, .pc = race_from, .native = RACE_BY_NATIVE};
    uint64_t old;
    race_atomic(&c, RACE_GPTR_(g), len, op != RMA_FETCH_, 1, NULL);
    RACE_FORWARD(old = rma_gptr_fetch_as_(call, op, g, len, value, cond));
    race_atomic_done(&c, RACE_GPTR_(g), len);
    return old;
}

static inline int race_gptr_update_as(const char *call, int op, rma_gptr_t g, size_t len, uint64_t value) {
    struct race_call c = {.name = call, .pc = race_from, .native = RACE_BY_NATIVE};
    int code;
    race_atomic(&c, RACE_GPTR_(g), len, 1, 0, NULL);
    RACE_FORWARD(code = rma_gptr_update_as_(call, op, g, len, value));
    return code;
}

static inline int race_gptr_fetch_nbi_as(const char *call, void *fetch, int op, rma_gptr_t g, size_t len,
                                         uint64_t value, uint64_t cond) {
    struct race_call c = {.name = call, .pc = race_from, .native = RACE_BY_NATIVE};
    int code;
    race_atomic(&c, RACE_GPTR_(g), len, op != RMA_FETCH_, 1, fetch);
    RACE_FORWARD(code = rma_gptr_fetch_nbi_as_(call, fetch, op, g, len, value, cond));
    return code;
}

static inline int race_gptr_put_nbi_as(const char *call, const rma_ctx *ctx, int named, rma_gptr_t dest,
                                       const void *source, size_t len) {
    int code;
    RACE_CALL_;
    RACE_FORWARD(code = rma_gptr_put_nbi_as_(call, ctx, named, dest, source, len));
    if (code == RMA_SUCCESS) race_put(&c, RACE_GPTR_(dest), source, len, 1);
    return code;
}

static inline int race_gptr_get_nbi_as(const char *call, const rma_ctx *ctx, int named, void *dest, rma_gptr_t source,
                                       size_t len) {
    int code;
    RACE_CALL_;
    RACE_FORWARD(code = rma_gptr_get_nbi_as_(call, ctx, named, dest, source, len));
    if (code == RMA_SUCCESS) race_get(&c, dest, RACE_GPTR_(source), len, 1);
    return code;
}

static inline int race_gptr_p_as(const char *call, const rma_ctx *ctx, int named, rma_gptr_t dest, const void *value,
                                 size_t len) {
    int code;
    RACE_CALL_;
    race_p(&c, RACE_GPTR_(dest), len);
    RACE_FORWARD(code = rma_gptr_p_as_(call, ctx, named, dest, value, len));
    return code;
}

static inline int race_gptr_g_as(const char *call, const rma_ctx *ctx, int named, void *near, void *far,
                                 rma_gptr_t source, size_t len) {
    int is_near;
    RACE_CALL_;
    race_g(&c, RACE_GPTR_(source), len);
    RACE_FORWARD(is_near = rma_gptr_g_as_(call, ctx, named, near, far, source, len));
    return is_near;
}

/* The signal is an atomic, which may be of another PE: a release of the put before it. */
static inline int race_gptr_put_signal_as(const char *call, const rma_ctx *ctx, int named, rma_gptr_t dest,
                                          const void *source, size_t len, rma_gptr_t signal, uint64_t value, int op,
                                          int nbi) {
    int code;
    RACE_CALL_;
    race_put(&c, RACE_GPTR_(dest), source, len, nbi);
    race_atomic(&c, RACE_GPTR_(signal), sizeof value, 1, 0, NULL);
    RACE_FORWARD(code = rma_gptr_put_signal_as_(call, ctx, named, dest, source, len, signal, value, op, nbi));
    return code;
}

/* A call's place is where the program called the function that the table generates. */
#define RACE_FROM_ (race_from = RACE_CALLED)

/* From here on the names in the tables mean the functions above. The inlined tests of a waiting call always fail, so
 * that it calls race_wait_slow. */
#define rma_put_as_(...)             (RACE_FROM_, race_put_as(__VA_ARGS__))
#define rma_get_as_(...)             (RACE_FROM_, race_get_as(__VA_ARGS__))
#define rma_put_nbi_as_(...)         (RACE_FROM_, race_put_nbi_as(__VA_ARGS__))
#define rma_get_nbi_as_(...)         (RACE_FROM_, race_get_nbi_as(__VA_ARGS__))
#define rma_p_as_(...)               (RACE_FROM_, race_p_as(__VA_ARGS__))
#define rma_g_as_(...)               (RACE_FROM_, race_g_as(__VA_ARGS__))
#define rma_put_signal_as_(...)      (RACE_FROM_, race_put_signal_as(__VA_ARGS__))
#define rma_signal_as_(...)          (RACE_FROM_, race_signal_as(__VA_ARGS__))
#define rma_fetch_as_(...)           (RACE_FROM_, race_fetch_as(__VA_ARGS__))
#define rma_update_as_(...)          (RACE_FROM_, race_update_as(__VA_ARGS__))
#define rma_fetch_nbi_as_(...)       (RACE_FROM_, race_fetch_nbi_as(__VA_ARGS__))
#define rma_wait_slow_(...)          (RACE_FROM_, race_wait_slow(__VA_ARGS__))
#define rma_test_slow_(...)          (RACE_FROM_, race_test_slow(__VA_ARGS__))
#define rma_words_(...)              (RACE_FROM_, race_words(__VA_ARGS__))
#define rma_gptr_fetch_as_(...)      (RACE_FROM_, race_gptr_fetch_as(__VA_ARGS__))
#define rma_gptr_update_as_(...)     (RACE_FROM_, race_gptr_update_as(__VA_ARGS__))
#define rma_gptr_fetch_nbi_as_(...)  (RACE_FROM_, race_gptr_fetch_nbi_as(__VA_ARGS__))
#define rma_gptr_put_nbi_as_(...)    (RACE_FROM_, race_gptr_put_nbi_as(__VA_ARGS__))
#define rma_gptr_get_nbi_as_(...)    (RACE_FROM_, race_gptr_get_nbi_as(__VA_ARGS__))
#define rma_gptr_p_as_(...)          (RACE_FROM_, race_gptr_p_as(__VA_ARGS__))
#define rma_gptr_g_as_(...)          (RACE_FROM_, race_gptr_g_as(__VA_ARGS__))
#define rma_gptr_put_signal_as_(...) (RACE_FROM_, race_gptr_put_signal_as(__VA_ARGS__))
#define rma_signal_fetch(...)        (RACE_FROM_, race_signal_fetch(__VA_ARGS__))
#define rma_order_(...)              (RACE_FROM_, race_order(__VA_ARGS__))
#define rma_ctx_order_(...)          (RACE_FROM_, race_ctx_order(__VA_ARGS__))
#define rma_holds_int(...)           (-1)
#define rma_holds_long(...)          (-1)
#define rma_holds_llong(...)         (-1)
#define rma_holds_uint(...)          (-1)
#define rma_holds_ulong(...)         (-1)
#define rma_holds_ullong(...)        (-1)
#define rma_holds_int32(...)         (-1)
#define rma_holds_int64(...)         (-1)
#define rma_holds_uint32(...)        (-1)
#define rma_holds_uint64(...)        (-1)
#define rma_holds_size(...)          (-1)
#define rma_holds_ptrdiff(...)       (-1)
