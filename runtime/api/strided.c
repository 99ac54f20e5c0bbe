/* SPDX-License-Identifier: BSD-3-Clause */
/* Strided transfers, and puts with a signal: each by symmetric address and by global pointer. The whole remote range
 * and the signal are checked before the first byte moves. */
#include "config.h"

#include "runtime/api/strided.h"
#include "base/attributes.h"
#include "base/error.h"
#include "heap/attached.h"
#include "runtime/api/gptr.h"
#include "runtime/interfaces.h"
#include "runtime/net/op.h"
#include "runtime/place.h"
#include "runtime/api/place_pattern.h"
#include "runtime/api/resolve.h"
#include "runtime/space.h"
#include "runtime/world.h"

/* What each public function is compiled with: its kind of address is a constant. */
#define CONSTANTS static inline __attribute__((always_inline))

/* The remote side of an argument: a symmetric address of PE pe of the context's team, or a global pointer. */
struct side {
    int by_gptr;
    rma_gptr_t g;
    const void *addr;
    int pe;
};

static inline struct side at_gptr(rma_gptr_t g) { return (struct side){.by_gptr = 1, .g = g}; }

static inline struct side at_address(const void *addr, int pe) { return (struct side){.addr = addr, .pe = pe}; }

/* Finds len bytes, aligned to align if that is above 1. The caller must leave *region. */
CONSTANTS int resolve(const char *call, const char *argument, const rma_ctx *ctx, struct side s, size_t len,
                      size_t align, struct rmai_place *p, struct rmai_region **region) {
    int code;
    if (!s.by_gptr && len == 0) return rmai_resolve_nothing(call, ctx, s.pe);
    if (!s.by_gptr)
        return align > 1 ? rmai_resolve_word(call, argument, ctx, s.addr, len, s.pe, p)
                         : rmai_resolve(call, argument, ctx, s.addr, len, s.pe, p);
    code = rmai_resolve_gptr(call, argument, ctx, s.g, 0, len, align, p);
    if (code != RMA_SUCCESS) return code;
    *region = p->region;
    p->region = NULL;
    return code;
}

static inline void leave_region(struct rmai_region *region) {
    if (region) rmai_attached_leave(region);
}

/* ---- signals ---- */

static inline int is_attached(struct side s) { return s.by_gptr && (s.g & RMAI_OFFSET_MASK) >= RMA_GPTR_ATTACHED_; }

static int check_signal_op(const char *call, int op) {
    if (op == RMA_SIGNAL_SET || op == RMA_SIGNAL_ADD) return RMA_SUCCESS;
    return rmai_error(RMA_ERR_ARG,
                      rmai_error_of_shmem(call) ? "%s: op %d is neither SHMEM_SIGNAL_SET nor SHMEM_SIGNAL_ADD"
                                                : "%s: op %d is neither RMA_SIGNAL_SET nor RMA_SIGNAL_ADD",
                      call, op);
}

/* Finds the word of a signal, and checks `op`. Only the owner of attached memory knows whether it is mapped and how it
 * is aligned, so the owner adds 0 before any data move. */
CONSTANTS int resolve_signal(const char *call, const rma_ctx *ctx, struct side signal, int op, struct rmai_place *word,
                             struct rmai_region **region) {
    int code = check_signal_op(call, op);
    if (code == RMA_SUCCESS) code = resolve(call, "signal", ctx, signal, sizeof(uint64_t), 8, word, region);
    if (code == RMA_SUCCESS && !word->there && is_attached(signal))
        code = rmai_place_atomic(&rmai_world, call, word, RMA_FETCH_ADD_, 8, 0, 0, &(uint64_t){0});
    return code;
}

static int atomic_of(int op) { return op == RMA_SIGNAL_SET ? RMA_SET_ : RMA_FETCH_ADD_; }

/* The signal is a release of the context's puts, so data on another PE than the signal's are complete before it. */
static int give_signal(const char *call, struct rmai_place *word, uint64_t value, int op) {
    return rmai_place_atomic(&rmai_world, call, word, atomic_of(op), sizeof value, value, 0, NULL);
}

/* To one PE of another node. */
static int put_and_signal(const char *call, const struct rmai_place *to, const void *source, size_t len,
                          const struct rmai_place *word, uint64_t value, int op, enum rmai_when when) {
    const struct rmai_op put = rmai_place_move(call, to, RMAI_RECORD_PUT, (void *)(uintptr_t)source, len, when),
                         signal =
                             rmai_place_operation(call, word, atomic_of(op), sizeof value, value, 0, NULL, RMAI_NOW);
    return rmai_net_put_signal(&put, &signal);
}

CONSTANTS int put_signal(const char *call, const rma_ctx *ctx, struct side dest, const void *source, size_t len,
                         struct side signal, uint64_t value, int op, int nbi) {
    struct rmai_region *region = NULL, *of_word = NULL;
    struct rmai_place to = {0}, word = {0};
    int code = len ? rmai_check_local(call, "source", source) : RMA_SUCCESS;
    if (code == RMA_SUCCESS) code = resolve_signal(call, ctx, signal, op, &word, &of_word);
    if (code == RMA_SUCCESS && len) code = resolve(call, "dest", ctx, dest, len, 1, &to, &region);
    if (code == RMA_SUCCESS && to.far && word.far && to.pe == word.pe && len <= RMAI_WITH_SIGNAL &&
        !is_attached(dest) && !is_attached(signal))
        return rmai_raise(put_and_signal(call, &to, source, len, &word, value, op, nbi ? RMAI_LATER : RMAI_NOW));
    if (code == RMA_SUCCESS && len) code = rmai_place_put(&rmai_world, call, &to, source, len, RMAI_NOW);
    if (code == RMA_SUCCESS) code = give_signal(call, &word, value, op);
    leave_region(region);
    leave_region(of_word);
    return rmai_raise(code);
}

int rmai_put_signal(const char *call, const rma_ctx *ctx, void *dest, const void *source, size_t len, uint64_t *signal,
                    uint64_t value, int op, int pe, int nbi) {
    return put_signal(call, ctx, at_address(dest, pe), source, len, at_address(signal, pe), value, op, nbi);
}

int rma_gptr_put_signal_slow_(const char *call, const rma_ctx *ctx, rma_gptr_t dest, const void *source, size_t len,
                              rma_gptr_t signal, uint64_t value, int op, int nbi) {
    return put_signal(call, ctx, at_gptr(dest), source, len, at_gptr(signal), value, op, nbi);
}

/* ---- strides ---- */

size_t rmai_span(size_t n, size_t stride, size_t elem) {
    size_t bytes;
    if (__builtin_mul_overflow((n - 1), stride, &bytes) || __builtin_mul_overflow(bytes, elem, &bytes) ||
        __builtin_add_overflow(bytes, elem, &bytes))
        return 0;
    return bytes;
}

int rmai_check_strides(const char *call, ptrdiff_t dest_stride, ptrdiff_t source_stride, size_t elem) {
    if (dest_stride < 1) return rmai_error(RMA_ERR_ARG, "%s: dest_stride %td is below 1", call, dest_stride);
    if (source_stride < 1) return rmai_error(RMA_ERR_ARG, "%s: source_stride %td is below 1", call, source_stride);
    if (elem == 0) return rmai_error(RMA_ERR_ARG, "%s: elem is 0 bytes", call);
    return RMA_SUCCESS;
}

/* Moves n elements between `remote` and `local`, whose strides have been checked. */
CONSTANTS int move(const char *call, const rma_ctx *ctx, int put, struct side remote, const void *local,
                   ptrdiff_t remote_stride, ptrdiff_t local_stride, size_t elem, size_t n) {
    const size_t bytes = n ? rmai_span(n, (size_t)remote_stride, elem) : 0;
    struct rmai_region *region = NULL;
    struct rmai_place p = {0};
    int code = n ? rmai_check_local(call, put ? "source" : "dest", local) : RMA_SUCCESS;
    if (code == RMA_SUCCESS && n && !bytes)
        return rmai_error(RMA_ERR_ADDRESS, "%s: %zu elements of %zu byte%s, %td apart, overflow an address", call, n,
                          elem, rmai_s(elem), remote_stride);
    if (code == RMA_SUCCESS) code = resolve(call, put ? "dest" : "source", ctx, remote, bytes, 1, &p, &region);
    if (code == RMA_SUCCESS && n)
        code = rmai_place_strided(call, &p, put, local, (size_t)remote_stride * elem, (size_t)local_stride * elem, elem,
                                  n);
    leave_region(region);
    return code;
}

CONSTANTS int put(const char *call, const rma_ctx *ctx, struct side dest, const void *source, ptrdiff_t dest_stride,
                  ptrdiff_t source_stride, size_t elem, size_t n) {
    int code = rmai_check_strides(call, dest_stride, source_stride, elem);
    if (code == RMA_SUCCESS) code = move(call, ctx, 1, dest, source, dest_stride, source_stride, elem, n);
    return rmai_raise(code);
}

CONSTANTS int get(const char *call, const rma_ctx *ctx, void *dest, struct side source, ptrdiff_t dest_stride,
                  ptrdiff_t source_stride, size_t elem, size_t n) {
    int code = rmai_check_strides(call, dest_stride, source_stride, elem);
    if (code == RMA_SUCCESS) code = move(call, ctx, 0, source, dest, source_stride, dest_stride, elem, n);
    return rmai_raise(code);
}

CONSTANTS int put_with_signal(const char *call, const rma_ctx *ctx, struct side dest, const void *source,
                              ptrdiff_t dest_stride, ptrdiff_t source_stride, size_t elem, size_t n, struct side signal,
                              uint64_t value, int op) {
    struct rmai_region *of_word = NULL;
    struct rmai_place word = {0};
    int code = rmai_check_strides(call, dest_stride, source_stride, elem);
    if (code == RMA_SUCCESS) code = resolve_signal(call, ctx, signal, op, &word, &of_word);
    if (code == RMA_SUCCESS) code = move(call, ctx, 1, dest, source, dest_stride, source_stride, elem, n);
    if (code == RMA_SUCCESS) code = give_signal(call, &word, value, op);
    leave_region(of_word);
    return rmai_raise(code);
}

/* The four forms of a call. BUFFERS are its parameters with a remote address, by symmetric address and by global
 * pointer, MORE those after the elements. DO is the expression, in which SIDE makes a remote side of such a parameter.
 */
#define LIST(...)        __VA_ARGS__
#define STRIDES          ptrdiff_t dest_stride, ptrdiff_t source_stride, size_t elem, size_t n
#define PASSED           dest_stride, source_stride, elem, n
#define BY_ADDRESS(addr) at_address(addr, pe)
#define FORMS(NAME, BUFFERS, BUFFERS_BY_GPTR, MORE, MORE_BY_GPTR, DO)                                                  \
    int rma_##NAME(LIST BUFFERS, STRIDES LIST MORE, int pe) { return DO("rma_" #NAME, RMA_CTX_DEFAULT, BY_ADDRESS); }  \
    int rma_ctx_##NAME(rma_ctx *ctx, LIST BUFFERS, STRIDES LIST MORE, int pe) {                                        \
        return DO("rma_ctx_" #NAME, ctx, BY_ADDRESS);                                                                  \
    }                                                                                                                  \
    int rma_gptr_##NAME(LIST BUFFERS_BY_GPTR, STRIDES LIST MORE_BY_GPTR) {                                             \
        return DO("rma_gptr_" #NAME, RMA_CTX_DEFAULT, at_gptr);                                                        \
    }                                                                                                                  \
    int rma_ctx_gptr_##NAME(rma_ctx *ctx, LIST BUFFERS_BY_GPTR, STRIDES LIST MORE_BY_GPTR) {                           \
        return DO("rma_ctx_gptr_" #NAME, ctx, at_gptr);                                                                \
    }
#define PUT(CALL, CTX, SIDE)             put(CALL, CTX, SIDE(dest), source, PASSED)
#define GET(CALL, CTX, SIDE)             get(CALL, CTX, dest, SIDE(source), PASSED)
#define PUT_WITH_SIGNAL(CALL, CTX, SIDE) put_with_signal(CALL, CTX, SIDE(dest), source, PASSED, SIDE(signal), value, op)

FORMS(iput, (void *dest, const void *source), (rma_gptr_t dest, const void *source), (), (), PUT)
FORMS(iget, (void *dest, const void *source), (void *dest, rma_gptr_t source), (), (), GET)
FORMS(iput_signal, (void *dest, const void *source), (rma_gptr_t dest, const void *source),
      (, uint64_t *signal, uint64_t value, int op), (, rma_gptr_t signal, uint64_t value, int op), PUT_WITH_SIGNAL)
