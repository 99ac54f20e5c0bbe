/* SPDX-License-Identifier: BSD-3-Clause */
/* A tool's versions of those functions of rma_inline.h that the inlined calls of both APIs use. Calls that are then
 * expanded from the headers' tables call these functions instead of librma's. They are not inlined: some 3000 calls
 * share them, and inlined they made each of these files three to four times as long to compile. So each gets the place
 * in the program, and its frame, from the call (CALLS_HERE, CALLS_FRAME: instruments/call_lists/call_site.h). */

#define CALLS_SHARED __attribute__((noinline, unused)) static
#define CALLS_FROM   __attribute__((unused)) uintptr_t calls_here, __attribute__((unused)) void *calls_frame
#undef CALLS_HERE
#undef CALLS_FRAME
#define CALLS_HERE  calls_here
#define CALLS_FRAME calls_frame
#define ON_CTX      named ? ctx : RMA_CTX_DEFAULT

#define MOVE_AS(NAME, ON, ...)                                                                                         \
    CALLS_SHARED int calls_##NAME##_as(CALLS_FROM, const char *call, const rma_ctx *ctx, int named, void *dest,        \
                                       const void *source, size_t len, int pe) {                                       \
        int result;                                                                                                    \
        ON(call, ON_CTX, __VA_ARGS__, result = rma_##NAME##_as_(call, ctx, named, dest, source, len, pe));             \
        return result;                                                                                                 \
    }
#define FAR(ADDR) AT(ON_CTX, ADDR, pe)
MOVE_AS(put, ON_PUT, FAR(dest), source, len, 0)
MOVE_AS(get, ON_GET, dest, FAR(source), len, 0)
MOVE_AS(put_nbi, ON_PUT, FAR(dest), source, len, 1)
MOVE_AS(get_nbi, ON_GET, dest, FAR(source), len, 1)
MOVE_AS(p, ON_P, FAR(dest), len)

CALLS_SHARED int calls_g_as(CALLS_FROM, const char *call, const rma_ctx *ctx, int named, void *near, void *far,
                            const void *source, size_t len, int pe) {
    int result;
    ON_G(call, ON_CTX, FAR(source), len, result = rma_g_as_(call, ctx, named, near, far, source, len, pe));
    return result;
}

CALLS_SHARED int calls_put_signal_as(CALLS_FROM, const char *call, const rma_ctx *ctx, int named, void *dest,
                                     const void *source, size_t len, uint64_t *signal, uint64_t value, int op, int pe,
                                     int nbi) {
    int result;
    ON_PUT_SIGNAL(call, ON_CTX, FAR(dest), source, len, signal, op, pe, nbi,
                  result = rma_put_signal_as_(call, ctx, named, dest, source, len, signal, value, op, pe, nbi));
    return result;
}

CALLS_SHARED int calls_signal_as(CALLS_FROM, const char *call, const rma_ctx *ctx, int named, uint64_t *signal,
                                 uint64_t value, int op, int pe) {
    int result;
    ON_SIGNAL(call, ON_CTX, signal, op, pe, result = rma_signal_as_(call, ctx, named, signal, value, op, pe));
    return result;
}

CALLS_SHARED uint64_t calls_fetch_as(CALLS_FROM, const char *call, const rma_ctx *ctx, int named, int op,
                                     const void *target, size_t len, uint64_t value, uint64_t cond, int pe) {
    uint64_t result;
    ON_FETCH(call, ON_CTX, FAR(target), len, op,
             result = rma_fetch_as_(call, ctx, named, op, target, len, value, cond, pe));
    return result;
}

CALLS_SHARED int calls_update_as(CALLS_FROM, const char *call, const rma_ctx *ctx, int named, int op,
                                 const void *target, size_t len, uint64_t value, int pe) {
    int result;
    ON_UPDATE(call, ON_CTX, FAR(target), len, result = rma_update_as_(call, ctx, named, op, target, len, value, pe));
    return result;
}

CALLS_SHARED int calls_fetch_nbi_as(CALLS_FROM, const char *call, const rma_ctx *ctx, int named, void *fetch, int op,
                                    const void *target, size_t len, uint64_t value, uint64_t cond, int pe) {
    int result;
    ON_FETCH_NBI(call, ON_CTX, FAR(target), len, op, fetch,
                 result = rma_fetch_nbi_as_(call, ctx, named, fetch, op, target, len, value, cond, pe));
    return result;
}

CALLS_SHARED int calls_wait_slow(CALLS_FROM, const char *call, int word, const void *ivar, int cmp, const void *value,
                                 uint64_t *seen) {
    int result;
    ON_WAIT(call, ivar, (size_t)(word & RMA_WORD_LEN_), result = rma_wait_slow_(call, word, ivar, cmp, value, seen));
    return result;
}

CALLS_SHARED int calls_test_slow(CALLS_FROM, const char *call, int word, const void *ivar, int cmp, const void *value) {
    int result;
    ON_TEST(call, ivar, (size_t)(word & RMA_WORD_LEN_), result = rma_test_slow_(call, word, ivar, cmp, value));
    return result;
}

CALLS_SHARED size_t calls_words(CALLS_FROM, const char *call, int what, int waits, int word, const void *ivars,
                                size_t n, size_t *indices, const int *status, int cmp, const void *values, int many,
                                int *code) {
    size_t result;
    ON_WORDS(call, what, waits, ivars, (size_t)(word & RMA_WORD_LEN_), n, indices, status,
             result = rma_words_(call, what, waits, word, ivars, n, indices, status, cmp, values, many, code));
    return result;
}

CALLS_SHARED uint64_t calls_signal_fetch(CALLS_FROM, const uint64_t *signal) {
    const char *call = CALLS_NATIVE ? "rma_signal_fetch" : "shmem_signal_fetch";
    uint64_t result;
    ON_SIGNAL_FETCH(call, signal, result = __atomic_load_n(signal, __ATOMIC_ACQUIRE));
    return result;
}

/* A fence or a quiet, whichever `call` names. */
CALLS_SHARED int calls_ctx_order(CALLS_FROM, const char *call, const rma_ctx *ctx) {
    int result;
    if (strstr(call, "quiet"))
        ON_QUIET(call, ctx, result = rma_ctx_order_(call, ctx));
    else
        ON_FENCE(call, ctx, result = rma_ctx_order_(call, ctx));
    return result;
}

/* ---- by global pointer ---- */

CALLS_SHARED uint64_t calls_gptr_fetch_as(CALLS_FROM, const char *call, int op, rma_gptr_t g, size_t len,
                                          uint64_t value, uint64_t cond) {
    uint64_t result;
    ON_FETCH(call, RMA_CTX_DEFAULT, AT_GPTR(g), len, op, result = rma_gptr_fetch_as_(call, op, g, len, value, cond));
    return result;
}

CALLS_SHARED int calls_gptr_update_as(CALLS_FROM, const char *call, int op, rma_gptr_t g, size_t len, uint64_t value) {
    int result;
    ON_UPDATE(call, RMA_CTX_DEFAULT, AT_GPTR(g), len, result = rma_gptr_update_as_(call, op, g, len, value));
    return result;
}

CALLS_SHARED int calls_gptr_fetch_nbi_as(CALLS_FROM, const char *call, void *fetch, int op, rma_gptr_t g, size_t len,
                                         uint64_t value, uint64_t cond) {
    int result;
    ON_FETCH_NBI(call, RMA_CTX_DEFAULT, AT_GPTR(g), len, op, fetch,
                 result = rma_gptr_fetch_nbi_as_(call, fetch, op, g, len, value, cond));
    return result;
}

CALLS_SHARED int calls_gptr_put_nbi_as(CALLS_FROM, const char *call, const rma_ctx *ctx, int named, rma_gptr_t dest,
                                       const void *source, size_t len) {
    int result;
    ON_PUT(call, ON_CTX, AT_GPTR(dest), source, len, 1,
           result = rma_gptr_put_nbi_as_(call, ctx, named, dest, source, len));
    return result;
}

CALLS_SHARED int calls_gptr_get_nbi_as(CALLS_FROM, const char *call, const rma_ctx *ctx, int named, void *dest,
                                       rma_gptr_t source, size_t len) {
    int result;
    ON_GET(call, ON_CTX, dest, AT_GPTR(source), len, 1,
           result = rma_gptr_get_nbi_as_(call, ctx, named, dest, source, len));
    return result;
}

CALLS_SHARED int calls_gptr_p_as(CALLS_FROM, const char *call, const rma_ctx *ctx, int named, rma_gptr_t dest,
                                 const void *value, size_t len) {
    int result;
    ON_P(call, ON_CTX, AT_GPTR(dest), len, result = rma_gptr_p_as_(call, ctx, named, dest, value, len));
    return result;
}

CALLS_SHARED int calls_gptr_g_as(CALLS_FROM, const char *call, const rma_ctx *ctx, int named, void *near, void *far,
                                 rma_gptr_t source, size_t len) {
    int result;
    ON_G(call, ON_CTX, AT_GPTR(source), len, result = rma_gptr_g_as_(call, ctx, named, near, far, source, len));
    return result;
}

CALLS_SHARED int calls_gptr_put_signal_as(CALLS_FROM, const char *call, const rma_ctx *ctx, int named, rma_gptr_t dest,
                                          const void *source, size_t len, rma_gptr_t signal, uint64_t value, int op,
                                          int nbi) {
    int result;
    ON_GPTR_PUT_SIGNAL(call, ON_CTX, AT_GPTR(dest), source, len, signal, nbi,
                       result = rma_gptr_put_signal_as_(call, ctx, named, dest, source, len, signal, value, op, nbi));
    return result;
}
#undef FAR

#undef CALLS_HERE
#undef CALLS_FRAME
#include "instruments/call_lists/call_site.h"

/* From here on the names in the tables mean the functions above. The inlined tests of a waiting call always fail, so
 * that it calls calls_wait_slow. */
#define rma_put_as_(...)             calls_put_as(CALLS_HERE, CALLS_FRAME, __VA_ARGS__)
#define rma_get_as_(...)             calls_get_as(CALLS_HERE, CALLS_FRAME, __VA_ARGS__)
#define rma_put_nbi_as_(...)         calls_put_nbi_as(CALLS_HERE, CALLS_FRAME, __VA_ARGS__)
#define rma_get_nbi_as_(...)         calls_get_nbi_as(CALLS_HERE, CALLS_FRAME, __VA_ARGS__)
#define rma_p_as_(...)               calls_p_as(CALLS_HERE, CALLS_FRAME, __VA_ARGS__)
#define rma_g_as_(...)               calls_g_as(CALLS_HERE, CALLS_FRAME, __VA_ARGS__)
#define rma_put_signal_as_(...)      calls_put_signal_as(CALLS_HERE, CALLS_FRAME, __VA_ARGS__)
#define rma_signal_as_(...)          calls_signal_as(CALLS_HERE, CALLS_FRAME, __VA_ARGS__)
#define rma_fetch_as_(...)           calls_fetch_as(CALLS_HERE, CALLS_FRAME, __VA_ARGS__)
#define rma_update_as_(...)          calls_update_as(CALLS_HERE, CALLS_FRAME, __VA_ARGS__)
#define rma_fetch_nbi_as_(...)       calls_fetch_nbi_as(CALLS_HERE, CALLS_FRAME, __VA_ARGS__)
#define rma_wait_slow_(...)          calls_wait_slow(CALLS_HERE, CALLS_FRAME, __VA_ARGS__)
#define rma_test_slow_(...)          calls_test_slow(CALLS_HERE, CALLS_FRAME, __VA_ARGS__)
#define rma_words_(...)              calls_words(CALLS_HERE, CALLS_FRAME, __VA_ARGS__)
#define rma_gptr_fetch_as_(...)      calls_gptr_fetch_as(CALLS_HERE, CALLS_FRAME, __VA_ARGS__)
#define rma_gptr_update_as_(...)     calls_gptr_update_as(CALLS_HERE, CALLS_FRAME, __VA_ARGS__)
#define rma_gptr_fetch_nbi_as_(...)  calls_gptr_fetch_nbi_as(CALLS_HERE, CALLS_FRAME, __VA_ARGS__)
#define rma_gptr_put_nbi_as_(...)    calls_gptr_put_nbi_as(CALLS_HERE, CALLS_FRAME, __VA_ARGS__)
#define rma_gptr_get_nbi_as_(...)    calls_gptr_get_nbi_as(CALLS_HERE, CALLS_FRAME, __VA_ARGS__)
#define rma_gptr_p_as_(...)          calls_gptr_p_as(CALLS_HERE, CALLS_FRAME, __VA_ARGS__)
#define rma_gptr_g_as_(...)          calls_gptr_g_as(CALLS_HERE, CALLS_FRAME, __VA_ARGS__)
#define rma_gptr_put_signal_as_(...) calls_gptr_put_signal_as(CALLS_HERE, CALLS_FRAME, __VA_ARGS__)
#define rma_signal_fetch(...)        calls_signal_fetch(CALLS_HERE, CALLS_FRAME, __VA_ARGS__)
#define rma_order_(NAME)             rma_ctx_order_(NAME, RMA_CTX_DEFAULT)
#define rma_ctx_order_(...)          calls_ctx_order(CALLS_HERE, CALLS_FRAME, __VA_ARGS__)
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
