/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_inline.h: the on-node path, all of it, compiled into the caller. Included by rma.h only.
 *
 * All PEs of a node map one shared reservation, cut into equal strides; PE number q of the node has stride q.
 * A remote address is therefore the caller's own address plus a multiple of the stride: no table is read.
 * What one look at rma_reach_ cannot prove to be right goes to the *_slow_ call in the library, which
 * either knows another way or words the error. That includes every call before rma_init, since then
 * n_node and size are 0.
 *
 * On-node test. The PEs of a node nearly always form an arithmetic progression (first, first + step, ...)
 * in MPI_COMM_WORLD: block placement has step 1, cyclic placement step = number of nodes. With
 * step = odd << shift, (pe - first) * inverse(odd) rotated right by shift is the quotient if step divides
 * pe - first, and otherwise at least 2^32 / step (exact division by multiplication: Hacker's Delight, 10-17).
 * Hence one compare with n_node decides, in constant memory. Where the node's PEs are no
 * progression, n_node covers the longest one from first and the slow path finds the others.
 *
 * These functions are C99 inline: the library exports each as a real symbol too, for -O0, for other
 * languages and for debuggers. */
#ifndef RMA_INLINE_H
#define RMA_INLINE_H

#include <string.h>

/* What the inlined calls know of a context, by 1 + its number in the lower bits of its handle (runtime/context.h). */
struct rma_context_ {
    uintptr_t handle; /* of the context that has this place now */
    uint32_t n;       /* PE i of its team is PE start + i * stride, i < n. 0: only the library knows the PEs */
    int32_t start, stride;
    uint32_t nothing_pending; /* 1 while nothing is pending that only rma_quiet_slow_ completes */
    uint32_t index;
    struct rmai_context *context;
} __attribute__((aligned(64)));

/* What this PE reaches by load and store. Written by rma_init, by the growth of the symmetric heap (size alone, by a
 * collective call, while other threads are in others: RMA_REACH_SIZE_ reads it) and by rma_finalize; read by every
 * call. Part of the binary interface: fields are only appended. While n_node > 0: size >= RMA_SIZE_MIN_, and there[q] =
 * node_base + q * stride is the symmetric part of the node's PE q, base = there[slot]. */
struct rma_reach_ {
    uintptr_t base;           /* own symmetric part, first byte */
    size_t size;              /* bytes of it that every PE has committed: base <= target < base + size */
    uintptr_t node_base;      /* symmetric part of the node's PE 0, as mapped here */
    size_t stride;            /* bytes from one PE's reservation to that of the next PE of the node */
    uint32_t first;           /* the node's first PE */
    uint32_t inverse;         /* inverse of step's odd part modulo 2^32 */
    uint32_t shift;           /* trailing zero bits of step */
    uint32_t n_node;          /* PEs first + q * step with q < n_node are on-node */
    uint32_t slot;            /* this PE's q */
    uint32_t running;         /* 1 between rma_init and rma_finalize */
    uint32_t nothing_pending; /* 1 while running with nothing pending of RMA_CTX_DEFAULT that only rma_quiet_slow_
                                 completes */
    size_t symmetric;         /* from a reservation's first byte to its symmetric part */
    size_t local;             /* and to its local heap: where offsets of global pointers change kind */
    size_t stream_min;        /* copies of at least this many bytes go through rma_copy_ */
    size_t guest;             /* from a reservation's first byte to the part of the local heap where others allocate */
    uint32_t n_pes;
    uint32_t my_pe;
    struct rma_context_ *contexts;
    uint32_t contexts_mask; /* their number - 1 */
    uint32_t one_node;      /* all PEs are near, and their atomics are the processor's */
};

#define RMA_SIZE_MIN_ 4096

/* Aligned to lines of the cache, so that the common path reads one line. */
extern struct rma_reach_ rma_reach_ __attribute__((aligned(64)));

void rma_copy_(void *dest, const void *source, size_t len);
int rma_put_slow_(const char *call, const rma_ctx *ctx, void *dest, const void *source, size_t len, int pe);
int rma_get_slow_(const char *call, const rma_ctx *ctx, void *dest, const void *source, size_t len, int pe);
int rma_p_slow_(const char *call, const rma_ctx *ctx, void *dest, const void *source, size_t len, int pe);
int rma_put_nbi_slow_(const char *call, const rma_ctx *ctx, void *dest, const void *source, size_t len, int pe);
int rma_get_nbi_slow_(const char *call, const rma_ctx *ctx, void *dest, const void *source, size_t len, int pe);
int rma_atomic_slow_(const char *call, const rma_ctx *ctx, int op, const void *target, size_t len, uint64_t value,
                     uint64_t cond, int pe, uint64_t *old);
int rma_atomic_nbi_slow_(const char *call, const rma_ctx *ctx, int op, const void *target, size_t len, uint64_t value,
                         uint64_t cond, int pe, void *fetch);
int rma_put_signal_slow_(const char *call, const rma_ctx *ctx, void *dest, const void *source, size_t len,
                         uint64_t *signal, uint64_t value, int op, int pe, int nbi);
int rma_gptr_put_slow_(const char *call, rma_gptr_t dest, const void *source, size_t len);
int rma_gptr_get_slow_(const char *call, void *dest, rma_gptr_t source, size_t len);
int rma_gptr_atomic_slow_(const char *call, int op, rma_gptr_t g, size_t len, uint64_t value, uint64_t cond,
                          uint64_t *old);
int rma_gptr_atomic_nbi_slow_(const char *call, int op, rma_gptr_t g, size_t len, uint64_t value, uint64_t cond,
                              void *fetch);
int rma_quiet_slow_(const char *call, const rma_ctx *ctx);
int rma_wait_slow_(const char *call, int word, const void *ivar, int cmp, const void *value, uint64_t *seen);
int rma_test_slow_(const char *call, int word, const void *ivar, int cmp, const void *value);
int rma_lock_wait_(rma_lock_t *lock, uint32_t before);
int rma_lock_past_slow_(rma_lock_t *lock, uint32_t tail);
int rma_set_lock_slow_(rma_lock_t *lock);
int rma_test_lock_slow_(rma_lock_t *lock);
int rma_clear_lock_slow_(rma_lock_t *lock);
size_t rma_words_(const char *call, int what, int waits, int word, const void *ivars, size_t n, size_t *indices,
                  const int *status, int cmp, const void *values, int many, int *code);

/* The library itself, which exports each of them, says `extern inline` (C11 6.7.4). With RMA_PROFILE the bodies here
 * are never used: each call goes to the symbol, which a tool may have taken. */
#ifdef RMA_PROFILE
#define RMA_INLINE_ inline __attribute__((noinline))
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattributes" /* functions that are inline and must not be inlined are meant */
#elif !defined RMA_INLINE_
#define RMA_INLINE_ inline
#endif

#define RMA_LIKELY_(x) __builtin_expect(!!(x), 1)

/* The symmetric heap's size, which another thread may change meanwhile by letting the heap grow. The read is atomic:
 * else a compiler may read the size twice, and compare a range's length with one size and the range's end with another.
 * Where it is compared once, a plain read does the same, and can be part of the comparison; but not for
 * ThreadSanitizer. */
#define RMA_REACH_SIZE_ __atomic_load_n(&rma_reach_.size, __ATOMIC_RELAXED)
#if defined __SANITIZE_THREAD__
#define RMA_REACH_SIZE_ONCE_ RMA_REACH_SIZE_
#elif defined __has_feature
#if __has_feature(thread_sanitizer)
#define RMA_REACH_SIZE_ONCE_ RMA_REACH_SIZE_
#endif
#endif
#ifndef RMA_REACH_SIZE_ONCE_
#define RMA_REACH_SIZE_ONCE_ rma_reach_.size
#endif

/* The number of pe on the node, or a number >= n_node if pe is on another node: the on-node test explained above. */
RMA_INLINE_ uint32_t rma_slot_(int pe) {
    uint32_t q = ((uint32_t)pe - rma_reach_.first) * rma_reach_.inverse;
    return (q >> rma_reach_.shift) | (q << (-rma_reach_.shift & 31));
}

/* The address of pe's copy of the symmetric range [addr, addr + len), or NULL if this look cannot tell. The
 * lengths that the compiler knows need one compare less: size - len cannot be negative then. */
RMA_INLINE_ void *rma_reach_ptr_(const void *addr, size_t len, int pe) {
    /* The size is read first: a value that is read before an atomic load occupies a register during the load. */
    int small = __builtin_constant_p(len) && len <= RMA_SIZE_MIN_;
    size_t size = small ? RMA_REACH_SIZE_ONCE_ : RMA_REACH_SIZE_;
    uintptr_t offset = (uintptr_t)addr - rma_reach_.base;
    uint32_t slot = rma_slot_(pe);
    if (RMA_LIKELY_(slot < rma_reach_.n_node && (small || len <= size) && offset <= size - len)) {
        char *there = (char *)(rma_reach_.node_base + slot * rma_reach_.stride + offset);
        if (!there) __builtin_unreachable(); /* no heap begins at address 0: saves the caller's second test */
        return there;
    }
    return NULL;
}

/* Constant lengths become moves, the others a call of memcpy or, if long, of rma_copy_. */
RMA_INLINE_ void rma_move_(void *dest, const void *source, size_t len) {
    if ((__builtin_constant_p(len) && len <= RMA_SIZE_MIN_) || len < rma_reach_.stream_min)
        memcpy(dest, source, len);
    else
        rma_copy_(dest, source, len);
}

/* The place in the table where a context with this handle would be. Another context may be there. */
RMA_INLINE_ struct rma_context_ *rma_context_of_(const rma_ctx *ctx) {
    return &rma_reach_.contexts[((uint32_t)(uintptr_t)ctx - 1) & rma_reach_.contexts_mask];
}

/* Whether the context of this handle is at that place. Relaxed: if another context is there, which a thread may be
 * making just now, nothing more is read of it. */
#define RMA_IS_CONTEXT_(c, ctx) RMA_LIKELY_(__atomic_load_n(&(c)->handle, __ATOMIC_RELAXED) == (uintptr_t)(ctx))

/* rma_reach_ptr_ for a PE of the context's team. */
RMA_INLINE_ void *rma_ctx_ptr_(const rma_ctx *ctx, const void *addr, size_t len, int pe) {
    const struct rma_context_ *c = rma_context_of_(ctx);
    if (!RMA_IS_CONTEXT_(c, ctx) || !RMA_LIKELY_((uint32_t)pe < c->n)) return NULL;
    return rma_reach_ptr_(addr, len, c->start + pe * c->stride);
}

/* Each call of this part stands twice: for the context of all calls that name none (SYM), and for the one that is named
 * (CTX). A family says how its calls begin, with which parameters, what finds the place, and which context the slow
 * call hears of. */
#define RMA_SYM_CTX_
#define RMA_SYM_THERE_(addr, len, pe) rma_reach_ptr_(addr, len, pe)
#define RMA_SYM_OF_                   RMA_CTX_DEFAULT
#define RMA_CTX_CTX_                  rma_ctx *ctx,
#define RMA_CTX_THERE_(addr, len, pe) rma_ctx_ptr_(ctx, addr, len, pe)
#define RMA_CTX_OF_                   ctx

#define RMA_PUT_(F, CALL, SLOW)                                                                                        \
    RMA_INLINE_ int CALL(RMA_##F##_CTX_ void *dest, const void *source, size_t len, int pe) {                          \
        void *there = RMA_##F##_THERE_(dest, len, pe);                                                                 \
        if (!RMA_LIKELY_(there != NULL)) return SLOW(#CALL, RMA_##F##_OF_, dest, source, len, pe);                     \
        rma_move_(there, source, len);                                                                                 \
        return RMA_SUCCESS;                                                                                            \
    }
#define RMA_GET_(F, CALL, SLOW)                                                                                        \
    RMA_INLINE_ int CALL(RMA_##F##_CTX_ void *dest, const void *source, size_t len, int pe) {                          \
        const void *there = RMA_##F##_THERE_(source, len, pe);                                                         \
        if (!RMA_LIKELY_(there != NULL)) return SLOW(#CALL, RMA_##F##_OF_, dest, source, len, pe);                     \
        rma_move_(dest, there, len);                                                                                   \
        return RMA_SUCCESS;                                                                                            \
    }
RMA_PUT_(SYM, rma_put, rma_put_slow_)
RMA_GET_(SYM, rma_get, rma_get_slow_)
RMA_PUT_(SYM, rma_put_nbi, rma_put_nbi_slow_)
RMA_GET_(SYM, rma_get_nbi, rma_get_nbi_slow_)
RMA_PUT_(CTX, rma_ctx_put, rma_put_slow_)
RMA_GET_(CTX, rma_ctx_get, rma_get_slow_)
RMA_PUT_(CTX, rma_ctx_put_nbi, rma_put_nbi_slow_)
RMA_GET_(CTX, rma_ctx_get_nbi, rma_get_nbi_slow_)

/* One store or load for each type that the machine moves whole; a relaxed atomic, so that by C11 too no reader
 * sees half a value. (The condition is a constant: one branch is compiled.) */
#define RMA_VALUE_(F, P, G, TYPE)                                                                                      \
    RMA_INLINE_ int P(RMA_##F##_CTX_ TYPE *dest, TYPE value, int pe) {                                                 \
        TYPE *there = (TYPE *)RMA_##F##_THERE_(dest, sizeof value, pe);                                                \
        if (!RMA_LIKELY_(there != NULL)) return rma_p_slow_(#P, RMA_##F##_OF_, dest, &value, sizeof value, pe);        \
        if (sizeof value <= 8)                                                                                         \
            __atomic_store(there, &value, __ATOMIC_RELAXED);                                                           \
        else                                                                                                           \
            memcpy(there, &value, sizeof value);                                                                       \
        return RMA_SUCCESS;                                                                                            \
    }                                                                                                                  \
    RMA_INLINE_ TYPE G(RMA_##F##_CTX_ const TYPE *source, int pe) {                                                    \
        TYPE value = 0;                                                                                                \
        TYPE *there = (TYPE *)RMA_##F##_THERE_(source, sizeof value, pe);                                              \
        if (!RMA_LIKELY_(there != NULL))                                                                               \
            rma_get_slow_(#G, RMA_##F##_OF_, &value, source, sizeof value, pe);                                        \
        else if (sizeof value <= 8)                                                                                    \
            __atomic_load(there, &value, __ATOMIC_RELAXED);                                                            \
        else                                                                                                           \
            memcpy(&value, there, sizeof value);                                                                       \
        return value;                                                                                                  \
    }
#define RMA_VALUES_(NAME, TYPE)                                                                                        \
    RMA_VALUE_(SYM, rma_p_##NAME, rma_g_##NAME, TYPE)                                                                  \
    RMA_VALUE_(CTX, rma_ctx_p_##NAME, rma_ctx_g_##NAME, TYPE)

/* The 16-byte long double takes the memcpy branch; clang warns about the other branch, which is not used for it. */
#pragma GCC diagnostic push
#ifdef __clang__
#pragma GCC diagnostic ignored "-Watomic-alignment"
#endif
RMA_TYPES(RMA_VALUES_)
RMA_TYPE_ALIASES(RMA_VALUES_)
#pragma GCC diagnostic pop

/* Ordering calls. Release: if a PE puts, calls fence and puts again, a peer that sees the second put sees the first. */
RMA_INLINE_ int rma_order_(const char *call) {
    __atomic_thread_fence(__ATOMIC_RELEASE);
    return RMA_LIKELY_(__atomic_load_n(&rma_reach_.nothing_pending, __ATOMIC_ACQUIRE))
               ? RMA_SUCCESS
               : rma_quiet_slow_(call, RMA_CTX_DEFAULT);
}

RMA_INLINE_ int rma_ctx_order_(const char *call, const rma_ctx *ctx) {
    const struct rma_context_ *c = rma_context_of_(ctx);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    return RMA_IS_CONTEXT_(c, ctx) && RMA_LIKELY_(__atomic_load_n(&c->nothing_pending, __ATOMIC_ACQUIRE))
               ? RMA_SUCCESS
               : rma_quiet_slow_(call, ctx);
}

RMA_INLINE_ int rma_fence(void) { return rma_order_("rma_fence"); }
RMA_INLINE_ int rma_quiet(void) { return rma_order_("rma_quiet"); }
RMA_INLINE_ int rma_ctx_fence(rma_ctx *ctx) { return rma_ctx_order_("rma_ctx_fence", ctx); }
RMA_INLINE_ int rma_ctx_quiet(rma_ctx *ctx) { return rma_ctx_order_("rma_ctx_quiet", ctx); }

/* The operations that the slow calls are asked for: part of the binary interface. */
enum rma_atomic_op_ {
    RMA_FETCH_,
    RMA_SET_,
    RMA_SWAP_,
    RMA_COMPARE_SWAP_,
    RMA_FETCH_ADD_,
    RMA_FETCH_AND_,
    RMA_FETCH_OR_,
    RMA_FETCH_XOR_,
    RMA_FETCH_MIN_, /* of unsigned words, */
    RMA_FETCH_MAX_,
    RMA_FETCH_SMIN_, /* of signed ones, */
    RMA_FETCH_SMAX_,
    RMA_FETCH_FADD_, /* and of float or double, by the length */
    RMA_FETCH_FMIN_,
    RMA_FETCH_FMAX_
};

/* Another thread may store the word that is read here. */
RMA_INLINE_ int rma_nothing_pending_(const uint32_t *nothing) {
    return __atomic_load_n(nothing, __ATOMIC_RELAXED) != 0;
}

/* Atomics. ACQ_REL is what rma.h promises. If something is pending, the library's call is taken: puts to other nodes
 * are under way, and a release must come after them. */
RMA_INLINE_ void *rma_atomic_ptr_(const void *target, size_t len, int pe) {
    void *there = rma_reach_ptr_(target, len, pe);
    return RMA_LIKELY_(there != NULL && ((uintptr_t)target & (len - 1)) == 0 &&
                       rma_nothing_pending_(&rma_reach_.nothing_pending))
               ? there
               : NULL;
}

RMA_INLINE_ void *rma_ctx_atomic_ptr_(const rma_ctx *ctx, const void *target, size_t len, int pe) {
    void *there = rma_ctx_ptr_(ctx, target, len, pe);
    return RMA_LIKELY_(there != NULL && ((uintptr_t)target & (len - 1)) == 0 &&
                       rma_nothing_pending_(&rma_context_of_(ctx)->nothing_pending))
               ? there
               : NULL;
}

/* What is done with the word of TYPE at t, in the end. Floating-point words are compared by their bits. A number wins
 * over a NaN. */
#define RMA_DO_ADD_(NAME, t, value)  __atomic_fetch_add(t, value, __ATOMIC_ACQ_REL)
#define RMA_DO_AND_(NAME, t, value)  __atomic_fetch_and(t, value, __ATOMIC_ACQ_REL)
#define RMA_DO_OR_(NAME, t, value)   __atomic_fetch_or(t, value, __ATOMIC_ACQ_REL)
#define RMA_DO_XOR_(NAME, t, value)  __atomic_fetch_xor(t, value, __ATOMIC_ACQ_REL)
#define RMA_DO_FADD_(NAME, t, value) rma_do_add_##NAME(t, value)
#define RMA_DO_MIN_(NAME, t, value)  rma_do_min_##NAME(t, value)
#define RMA_DO_MAX_(NAME, t, value)  rma_do_max_##NAME(t, value)

/* If the word would not change, nothing is stored; then the operation is an acquire only. */
#define RMA_DO_LIMIT_(NAME, TYPE, LIMIT, BEYOND)                                                                       \
    RMA_INLINE_ TYPE rma_do_##LIMIT##_##NAME(TYPE *t, TYPE value) {                                                    \
        TYPE old;                                                                                                      \
        __atomic_load(t, &old, __ATOMIC_ACQUIRE);                                                                      \
        while (BEYOND && !__atomic_compare_exchange(t, &old, &value, 1, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) continue; \
        return old;                                                                                                    \
    }
#define RMA_DO_INTEGER_(NAME, TYPE)                                                                                    \
    RMA_DO_LIMIT_(NAME, TYPE, min, value < old)                                                                        \
    RMA_DO_LIMIT_(NAME, TYPE, max, value > old)
#define RMA_DO_FLOAT_(NAME, TYPE, BITS)                                                                                \
    RMA_DO_LIMIT_(NAME, TYPE, min, (value < old || (old != old && value == value)))                                    \
    RMA_DO_LIMIT_(NAME, TYPE, max, (value > old || (old != old && value == value)))                                    \
    RMA_INLINE_ TYPE rma_do_add_##NAME(TYPE *t, TYPE value) {                                                          \
        TYPE old, sum;                                                                                                 \
        __atomic_load(t, &old, __ATOMIC_RELAXED);                                                                      \
        do sum = old + value;                                                                                          \
        while (!__atomic_compare_exchange(t, &old, &sum, 1, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));                      \
        return old;                                                                                                    \
    }                                                                                                                  \
    RMA_INLINE_ uint64_t rma_bits_##NAME(TYPE value) {                                                                 \
        BITS bits;                                                                                                     \
        memcpy(&bits, &value, sizeof bits);                                                                            \
        return bits;                                                                                                   \
    }                                                                                                                  \
    RMA_INLINE_ TYPE rma_value_##NAME(uint64_t wide) {                                                                 \
        BITS bits = (BITS)wide;                                                                                        \
        TYPE value;                                                                                                    \
        memcpy(&value, &bits, sizeof value);                                                                           \
        return value;                                                                                                  \
    }
RMA_ATOMIC_TYPES(RMA_DO_INTEGER_)
RMA_ATOMIC_TYPE_ALIASES(RMA_DO_INTEGER_)
RMA_DO_FLOAT_(float, float, uint32_t)
RMA_DO_FLOAT_(double, double, uint64_t)

/* A word travels to the slow calls in 64 bits. */
#define RMA_BITS_INTEGER_(NAME, value)       (uint64_t)(value)
#define RMA_BITS_FLOAT_(NAME, value)         rma_bits_##NAME(value)
#define RMA_VALUE_INTEGER_(NAME, TYPE, bits) (TYPE)(bits)
#define RMA_VALUE_FLOAT_(NAME, TYPE, bits)   rma_value_##NAME(bits)

/* Three families of calls: SYM names the word by a symmetric address and a PE, CTX by these and a context, GPTR by a
 * global pointer. The name of an operation is passed on only pasted to an underscore: by itself it may be a
 * macro (<iso646.h> makes && of `and`). */
#define RMA_SYM_NAME_(OP, SUFFIX) rma_atomic##OP##SUFFIX
#define RMA_SYM_TARGET_(TYPE)     TYPE *target
#define RMA_SYM_SOURCE_(TYPE)     const TYPE *target
#define RMA_SYM_PE_               , int pe
#define RMA_SYM_WORD_(TYPE)       (TYPE *)rma_atomic_ptr_(target, sizeof(TYPE), pe)
#define RMA_SYM_SLOW_(TYPE, CALL, OP, VALUE, COND, OLD)                                                                \
    rma_atomic_slow_("rma_atomic_" CALL, RMA_CTX_DEFAULT, OP, target, sizeof(TYPE), VALUE, COND, pe, OLD)
#define RMA_SYM_NBI_(TYPE, CALL, OP, VALUE, COND)                                                                      \
    rma_atomic_nbi_slow_("rma_atomic_" CALL, RMA_CTX_DEFAULT, OP, target, sizeof(TYPE), VALUE, COND, pe, fetch)

#define RMA_CTX_NAME_(OP, SUFFIX) rma_ctx_atomic##OP##SUFFIX
#define RMA_CTX_TARGET_(TYPE)     TYPE *target
#define RMA_CTX_SOURCE_(TYPE)     const TYPE *target
#define RMA_CTX_PE_               , int pe
#define RMA_CTX_WORD_(TYPE)       (TYPE *)rma_ctx_atomic_ptr_(ctx, target, sizeof(TYPE), pe)
#define RMA_CTX_SLOW_(TYPE, CALL, OP, VALUE, COND, OLD)                                                                \
    rma_atomic_slow_("rma_ctx_atomic_" CALL, ctx, OP, target, sizeof(TYPE), VALUE, COND, pe, OLD)
#define RMA_CTX_NBI_(TYPE, CALL, OP, VALUE, COND)                                                                      \
    rma_atomic_nbi_slow_("rma_ctx_atomic_" CALL, ctx, OP, target, sizeof(TYPE), VALUE, COND, pe, fetch)

#define RMA_GPTR_CTX_
#define RMA_GPTR_NAME_(OP, SUFFIX) rma_gptr_atomic##OP##SUFFIX
#define RMA_GPTR_TARGET_(TYPE)     rma_gptr_t target
#define RMA_GPTR_SOURCE_(TYPE)     rma_gptr_t target
#define RMA_GPTR_PE_
#define RMA_GPTR_WORD_(TYPE) (TYPE *)rma_gptr_word_(target, sizeof(TYPE))
#define RMA_GPTR_SLOW_(TYPE, CALL, OP, VALUE, COND, OLD)                                                               \
    rma_gptr_atomic_slow_("rma_gptr_atomic_" CALL, OP, target, sizeof(TYPE), VALUE, COND, OLD)
#define RMA_GPTR_NBI_(TYPE, CALL, OP, VALUE, COND)                                                                     \
    rma_gptr_atomic_nbi_slow_("rma_gptr_atomic_" CALL, OP, target, sizeof(TYPE), VALUE, COND, fetch)

/* fetch, set and swap, which every kind of word has. */
#define RMA_ATOMIC_FORMS_(F, SUFFIX, NAME, TYPE, KIND)                                                                 \
    RMA_INLINE_ TYPE RMA_##F##_NAME_(_fetch, SUFFIX)(RMA_##F##_CTX_ RMA_##F##_SOURCE_(TYPE) RMA_##F##_PE_) {           \
        TYPE *t = RMA_##F##_WORD_(TYPE), value;                                                                        \
        uint64_t bits = 0;                                                                                             \
        if (!RMA_LIKELY_(t != NULL)) {                                                                                 \
            RMA_##F##_SLOW_(TYPE, "fetch" #SUFFIX, RMA_FETCH_, 0, 0, &bits);                                           \
            return RMA_VALUE_##KIND##_(NAME, TYPE, bits);                                                              \
        }                                                                                                              \
        __atomic_load(t, &value, __ATOMIC_ACQUIRE);                                                                    \
        return value;                                                                                                  \
    }                                                                                                                  \
    RMA_INLINE_ int RMA_##F##_NAME_(_set, SUFFIX)(RMA_##F##_CTX_ RMA_##F##_TARGET_(TYPE), TYPE value RMA_##F##_PE_) {  \
        TYPE *t = RMA_##F##_WORD_(TYPE);                                                                               \
        if (!RMA_LIKELY_(t != NULL))                                                                                   \
            return RMA_##F##_SLOW_(TYPE, "set" #SUFFIX, RMA_SET_, RMA_BITS_##KIND##_(NAME, value), 0, NULL);           \
        __atomic_store(t, &value, __ATOMIC_RELEASE);                                                                   \
        return RMA_SUCCESS;                                                                                            \
    }                                                                                                                  \
    RMA_INLINE_ TYPE RMA_##F##_NAME_(_swap, SUFFIX)(RMA_##F##_CTX_ RMA_##F##_TARGET_(TYPE),                            \
                                                    TYPE value RMA_##F##_PE_) {                                        \
        TYPE *t = RMA_##F##_WORD_(TYPE), old;                                                                          \
        uint64_t bits = 0;                                                                                             \
        if (!RMA_LIKELY_(t != NULL)) {                                                                                 \
            RMA_##F##_SLOW_(TYPE, "swap" #SUFFIX, RMA_SWAP_, RMA_BITS_##KIND##_(NAME, value), 0, &bits);               \
            return RMA_VALUE_##KIND##_(NAME, TYPE, bits);                                                              \
        }                                                                                                              \
        __atomic_exchange(t, &value, &old, __ATOMIC_ACQ_REL);                                                          \
        return old;                                                                                                    \
    }                                                                                                                  \
    RMA_INLINE_ int RMA_##F##_NAME_(_fetch_nbi, SUFFIX)(RMA_##F##_CTX_ TYPE * fetch,                                   \
                                                        RMA_##F##_SOURCE_(TYPE) RMA_##F##_PE_) {                       \
        TYPE *t = RMA_##F##_WORD_(TYPE);                                                                               \
        if (!RMA_LIKELY_(t != NULL)) return RMA_##F##_NBI_(TYPE, "fetch_nbi" #SUFFIX, RMA_FETCH_, 0, 0);               \
        __atomic_load(t, fetch, __ATOMIC_ACQUIRE);                                                                     \
        return RMA_SUCCESS;                                                                                            \
    }                                                                                                                  \
    RMA_INLINE_ int RMA_##F##_NAME_(_swap_nbi, SUFFIX)(RMA_##F##_CTX_ TYPE * fetch, RMA_##F##_TARGET_(TYPE),           \
                                                       TYPE value RMA_##F##_PE_) {                                     \
        TYPE *t = RMA_##F##_WORD_(TYPE);                                                                               \
        if (!RMA_LIKELY_(t != NULL))                                                                                   \
            return RMA_##F##_NBI_(TYPE, "swap_nbi" #SUFFIX, RMA_SWAP_, RMA_BITS_##KIND##_(NAME, value), 0);            \
        __atomic_exchange(t, &value, fetch, __ATOMIC_ACQ_REL);                                                         \
        return RMA_SUCCESS;                                                                                            \
    }

/* An operation OP that makes a new value of the old one and `value`: fetching, plain, nonblocking. */
#define RMA_ATOMIC_UPDATE_(F, SUFFIX, NAME, TYPE, KIND, OP, CODE, DO)                                                  \
    RMA_INLINE_ TYPE RMA_##F##_NAME_(_fetch_##OP, SUFFIX)(RMA_##F##_CTX_ RMA_##F##_TARGET_(TYPE),                      \
                                                          TYPE value RMA_##F##_PE_) {                                  \
        TYPE *t = RMA_##F##_WORD_(TYPE);                                                                               \
        uint64_t bits = 0;                                                                                             \
        if (RMA_LIKELY_(t != NULL)) return DO(NAME, t, value);                                                         \
        RMA_##F##_SLOW_(TYPE, "fetch_" #OP #SUFFIX, CODE, RMA_BITS_##KIND##_(NAME, value), 0, &bits);                  \
        return RMA_VALUE_##KIND##_(NAME, TYPE, bits);                                                                  \
    }                                                                                                                  \
    RMA_INLINE_ int RMA_##F##_NAME_(_##OP, SUFFIX)(RMA_##F##_CTX_ RMA_##F##_TARGET_(TYPE), TYPE value RMA_##F##_PE_) { \
        TYPE *t = RMA_##F##_WORD_(TYPE);                                                                               \
        if (!RMA_LIKELY_(t != NULL))                                                                                   \
            return RMA_##F##_SLOW_(TYPE, #OP #SUFFIX, CODE, RMA_BITS_##KIND##_(NAME, value), 0, NULL);                 \
        (void)DO(NAME, t, value);                                                                                      \
        return RMA_SUCCESS;                                                                                            \
    }                                                                                                                  \
    RMA_INLINE_ int RMA_##F##_NAME_(_fetch_##OP##_nbi, SUFFIX)(RMA_##F##_CTX_ TYPE * fetch, RMA_##F##_TARGET_(TYPE),   \
                                                               TYPE value RMA_##F##_PE_) {                             \
        TYPE *t = RMA_##F##_WORD_(TYPE);                                                                               \
        if (!RMA_LIKELY_(t != NULL))                                                                                   \
            return RMA_##F##_NBI_(TYPE, "fetch_" #OP "_nbi" #SUFFIX, CODE, RMA_BITS_##KIND##_(NAME, value), 0);        \
        *fetch = DO(NAME, t, value);                                                                                   \
        return RMA_SUCCESS;                                                                                            \
    }

/* The operations that only integers have. */
#define RMA_ATOMIC_COUNTS_(F, SUFFIX, NAME, TYPE)                                                                      \
    RMA_INLINE_ TYPE RMA_##F##_NAME_(_compare_swap, SUFFIX)(RMA_##F##_CTX_ RMA_##F##_TARGET_(TYPE), TYPE cond,         \
                                                            TYPE value RMA_##F##_PE_) {                                \
        TYPE *t = RMA_##F##_WORD_(TYPE);                                                                               \
        uint64_t bits = 0;                                                                                             \
        if (RMA_LIKELY_(t != NULL)) {                                                                                  \
            __atomic_compare_exchange_n(t, &cond, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);                       \
            return cond;                                                                                               \
        }                                                                                                              \
        RMA_##F##_SLOW_(TYPE, "compare_swap" #SUFFIX, RMA_COMPARE_SWAP_, (uint64_t)value, (uint64_t)cond, &bits);      \
        return (TYPE)bits;                                                                                             \
    }                                                                                                                  \
    RMA_INLINE_ int RMA_##F##_NAME_(_compare_swap_nbi, SUFFIX)(RMA_##F##_CTX_ TYPE * fetch, RMA_##F##_TARGET_(TYPE),   \
                                                               TYPE cond, TYPE value RMA_##F##_PE_) {                  \
        TYPE *t = RMA_##F##_WORD_(TYPE);                                                                               \
        if (!RMA_LIKELY_(t != NULL))                                                                                   \
            return RMA_##F##_NBI_(TYPE, "compare_swap_nbi" #SUFFIX, RMA_COMPARE_SWAP_, (uint64_t)value,                \
                                  (uint64_t)cond);                                                                     \
        __atomic_compare_exchange_n(t, &cond, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);                           \
        *fetch = cond;                                                                                                 \
        return RMA_SUCCESS;                                                                                            \
    }                                                                                                                  \
    RMA_INLINE_ TYPE RMA_##F##_NAME_(_fetch_inc, SUFFIX)(RMA_##F##_CTX_ RMA_##F##_TARGET_(TYPE) RMA_##F##_PE_) {       \
        TYPE *t = RMA_##F##_WORD_(TYPE);                                                                               \
        uint64_t bits = 0;                                                                                             \
        if (RMA_LIKELY_(t != NULL)) return __atomic_fetch_add(t, (TYPE)1, __ATOMIC_ACQ_REL);                           \
        RMA_##F##_SLOW_(TYPE, "fetch_inc" #SUFFIX, RMA_FETCH_ADD_, 1, 0, &bits);                                       \
        return (TYPE)bits;                                                                                             \
    }                                                                                                                  \
    RMA_INLINE_ int RMA_##F##_NAME_(_inc, SUFFIX)(RMA_##F##_CTX_ RMA_##F##_TARGET_(TYPE) RMA_##F##_PE_) {              \
        TYPE *t = RMA_##F##_WORD_(TYPE);                                                                               \
        if (!RMA_LIKELY_(t != NULL)) return RMA_##F##_SLOW_(TYPE, "inc" #SUFFIX, RMA_FETCH_ADD_, 1, 0, NULL);          \
        __atomic_fetch_add(t, (TYPE)1, __ATOMIC_ACQ_REL);                                                              \
        return RMA_SUCCESS;                                                                                            \
    }                                                                                                                  \
    RMA_INLINE_ int RMA_##F##_NAME_(_fetch_inc_nbi, SUFFIX)(RMA_##F##_CTX_ TYPE * fetch,                               \
                                                            RMA_##F##_TARGET_(TYPE) RMA_##F##_PE_) {                   \
        TYPE *t = RMA_##F##_WORD_(TYPE);                                                                               \
        if (!RMA_LIKELY_(t != NULL)) return RMA_##F##_NBI_(TYPE, "fetch_inc_nbi" #SUFFIX, RMA_FETCH_ADD_, 1, 0);       \
        *fetch = __atomic_fetch_add(t, (TYPE)1, __ATOMIC_ACQ_REL);                                                     \
        return RMA_SUCCESS;                                                                                            \
    }

#define RMA_IS_SIGNED_(TYPE) ((TYPE)-1 < (TYPE)1)

#define RMA_ATOMIC_INTEGER_(F, SUFFIX, NAME, TYPE)                                                                     \
    RMA_ATOMIC_FORMS_(F, SUFFIX, NAME, TYPE, INTEGER)                                                                  \
    RMA_ATOMIC_COUNTS_(F, SUFFIX, NAME, TYPE)                                                                          \
    RMA_ATOMIC_UPDATE_(F, SUFFIX, NAME, TYPE, INTEGER, add, RMA_FETCH_ADD_, RMA_DO_ADD_)                               \
    RMA_ATOMIC_UPDATE_(F, SUFFIX, NAME, TYPE, INTEGER, and, RMA_FETCH_AND_, RMA_DO_AND_)                               \
    RMA_ATOMIC_UPDATE_(F, SUFFIX, NAME, TYPE, INTEGER, or, RMA_FETCH_OR_, RMA_DO_OR_)                                  \
    RMA_ATOMIC_UPDATE_(F, SUFFIX, NAME, TYPE, INTEGER, xor, RMA_FETCH_XOR_, RMA_DO_XOR_)                               \
    RMA_ATOMIC_UPDATE_(F, SUFFIX, NAME, TYPE, INTEGER, min, (RMA_IS_SIGNED_(TYPE) ? RMA_FETCH_SMIN_ : RMA_FETCH_MIN_), \
                       RMA_DO_MIN_)                                                                                    \
    RMA_ATOMIC_UPDATE_(F, SUFFIX, NAME, TYPE, INTEGER, max, (RMA_IS_SIGNED_(TYPE) ? RMA_FETCH_SMAX_ : RMA_FETCH_MAX_), \
                       RMA_DO_MAX_)
#define RMA_ATOMIC_FLOAT_(F, SUFFIX, NAME, TYPE)                                                                       \
    RMA_ATOMIC_FORMS_(F, SUFFIX, NAME, TYPE, FLOAT)                                                                    \
    RMA_ATOMIC_UPDATE_(F, SUFFIX, NAME, TYPE, FLOAT, add, RMA_FETCH_FADD_, RMA_DO_FADD_)                               \
    RMA_ATOMIC_UPDATE_(F, SUFFIX, NAME, TYPE, FLOAT, min, RMA_FETCH_FMIN_, RMA_DO_MIN_)                                \
    RMA_ATOMIC_UPDATE_(F, SUFFIX, NAME, TYPE, FLOAT, max, RMA_FETCH_FMAX_, RMA_DO_MAX_)

#define RMA_ATOMIC_SYM_INTEGER_(NAME, TYPE)                                                                            \
    RMA_ATOMIC_INTEGER_(SYM, _##NAME, NAME, TYPE)                                                                      \
    RMA_ATOMIC_INTEGER_(CTX, _##NAME, NAME, TYPE)
#define RMA_ATOMIC_SYM_FLOAT_(NAME, TYPE)                                                                              \
    RMA_ATOMIC_FLOAT_(SYM, _##NAME, NAME, TYPE)                                                                        \
    RMA_ATOMIC_FLOAT_(CTX, _##NAME, NAME, TYPE)
RMA_ATOMIC_TYPES(RMA_ATOMIC_SYM_INTEGER_)
RMA_ATOMIC_TYPE_ALIASES(RMA_ATOMIC_SYM_INTEGER_)
RMA_ATOMIC_FLOAT_TYPES(RMA_ATOMIC_SYM_FLOAT_)

/* Waiting: by the library, which spins, sleeps and drives progress. A word is told by its length and whether it is
 * signed. */
#define RMA_WORD_LEN_    15
#define RMA_WORD_SIGNED_ 16
#define RMA_WORD_(TYPE)  ((int)sizeof(TYPE) | (RMA_IS_SIGNED_(TYPE) ? RMA_WORD_SIGNED_ : 0))
enum rma_words_what_ { RMA_ALL_, RMA_ANY_, RMA_SOME_ };

/* FORM is nothing or _vector, VALUE the parameter and VALUES the address of the value or values. */
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
/* holds: 1 or 0 of a word of the symmetric heap, -1 if this look cannot tell. (The heap's size is a multiple of 8.) In
 * a job of one node a PE that tests in vain has nobody to serve. */
#define RMA_WAIT_(NAME, TYPE)                                                                                          \
    RMA_INLINE_ int rma_holds_##NAME(const TYPE *ivar, int cmp, TYPE value) {                                          \
        TYPE seen;                                                                                                     \
        if (!RMA_LIKELY_((uintptr_t)ivar - rma_reach_.base < RMA_REACH_SIZE_ONCE_ &&                                   \
                         ((uintptr_t)ivar & (sizeof seen - 1)) == 0))                                                  \
            return -1;                                                                                                 \
        seen = __atomic_load_n(ivar, __ATOMIC_ACQUIRE);                                                                \
        switch (cmp) {                                                                                                 \
            case RMA_CMP_EQ: return seen == value;                                                                     \
            case RMA_CMP_NE: return seen != value;                                                                     \
            case RMA_CMP_GT: return seen > value;                                                                      \
            case RMA_CMP_GE: return seen >= value;                                                                     \
            case RMA_CMP_LT: return seen < value;                                                                      \
            case RMA_CMP_LE: return seen <= value;                                                                     \
            default: return -1;                                                                                        \
        }                                                                                                              \
    }                                                                                                                  \
    RMA_INLINE_ int rma_wait_until_##NAME(TYPE *ivar, int cmp, TYPE value) {                                           \
        if (rma_holds_##NAME(ivar, cmp, value) == 1) return RMA_SUCCESS;                                               \
        return rma_wait_slow_("rma_wait_until_" #NAME, RMA_WORD_(TYPE), ivar, cmp, &value, NULL);                      \
    }                                                                                                                  \
    RMA_INLINE_ int rma_test_##NAME(TYPE *ivar, int cmp, TYPE value) {                                                 \
        int yes = rma_holds_##NAME(ivar, cmp, value);                                                                  \
        if (RMA_LIKELY_(yes == 1 || (yes == 0 && rma_reach_.one_node))) return yes;                                    \
        return rma_test_slow_("rma_test_" #NAME, RMA_WORD_(TYPE), ivar, cmp, &value);                                  \
    }                                                                                                                  \
    RMA_WAIT_SET_(NAME, TYPE, , TYPE value, &value, 0)                                                                 \
    RMA_WAIT_SET_(NAME, TYPE, _vector, const TYPE *values, values, 1)
RMA_ATOMIC_TYPES(RMA_WAIT_)
RMA_ATOMIC_TYPE_ALIASES(RMA_WAIT_)

RMA_INLINE_ uint64_t rma_signal_fetch(const uint64_t *signal) { return __atomic_load_n(signal, __ATOMIC_ACQUIRE); }

RMA_INLINE_ uint64_t rma_signal_wait_until(uint64_t *signal, int cmp, uint64_t value) {
    uint64_t seen = 0;
    rma_wait_slow_("rma_signal_wait_until", RMA_WORD_(uint64_t), signal, cmp, &value, &seen);
    return seen;
}

/* there, word: the places, or NULL. nbi: source may stay in use until quiet. */
RMA_INLINE_ int rma_signal_(const char *call, const rma_ctx *ctx, void *there, uint64_t *word, void *dest,
                            const void *source, size_t len, uint64_t *signal, uint64_t value, int op, int pe, int nbi) {
    if (!RMA_LIKELY_(there != NULL && word != NULL && (op == RMA_SIGNAL_SET || op == RMA_SIGNAL_ADD)))
        return rma_put_signal_slow_(call, ctx, dest, source, len, signal, value, op, pe, nbi);
    rma_move_(there, source, len);
    if (op == RMA_SIGNAL_SET)
        __atomic_store_n(word, value, __ATOMIC_RELEASE);
    else
        __atomic_fetch_add(word, value, __ATOMIC_ACQ_REL);
    return RMA_SUCCESS;
}

#define RMA_PUT_SIGNAL_(F, CALL, NBI)                                                                                  \
    RMA_INLINE_ int CALL(RMA_##F##_CTX_ void *dest, const void *source, size_t len, uint64_t *signal, uint64_t value,  \
                         int op, int pe) {                                                                             \
        uint64_t *target = signal;                                                                                     \
        return rma_signal_(#CALL, RMA_##F##_OF_, RMA_##F##_THERE_(dest, len, pe), RMA_##F##_WORD_(uint64_t), dest,     \
                           source, len, signal, value, op, pe, NBI);                                                   \
    }
#define RMA_SIGNAL_ALONE_(F, SET, ADD)                                                                                 \
    RMA_INLINE_ int SET(RMA_##F##_CTX_ uint64_t *signal, uint64_t value, int pe) {                                     \
        uint64_t *target = signal, *word = RMA_##F##_WORD_(uint64_t);                                                  \
        if (!RMA_LIKELY_(word != NULL))                                                                                \
            return rma_put_signal_slow_(#SET, RMA_##F##_OF_, NULL, NULL, 0, signal, value, RMA_SIGNAL_SET, pe, 0);     \
        __atomic_store_n(word, value, __ATOMIC_RELEASE);                                                               \
        return RMA_SUCCESS;                                                                                            \
    }                                                                                                                  \
    RMA_INLINE_ int ADD(RMA_##F##_CTX_ uint64_t *signal, uint64_t value, int pe) {                                     \
        uint64_t *target = signal, *word = RMA_##F##_WORD_(uint64_t);                                                  \
        if (!RMA_LIKELY_(word != NULL))                                                                                \
            return rma_put_signal_slow_(#ADD, RMA_##F##_OF_, NULL, NULL, 0, signal, value, RMA_SIGNAL_ADD, pe, 0);     \
        __atomic_fetch_add(word, value, __ATOMIC_ACQ_REL);                                                             \
        return RMA_SUCCESS;                                                                                            \
    }
RMA_SIGNAL_ALONE_(SYM, rma_signal_set, rma_signal_add)
RMA_SIGNAL_ALONE_(CTX, rma_ctx_signal_set, rma_ctx_signal_add)
RMA_PUT_SIGNAL_(SYM, rma_put_signal, 0)
RMA_PUT_SIGNAL_(SYM, rma_put_signal_nbi, 1)
RMA_PUT_SIGNAL_(CTX, rma_ctx_put_signal, 0)
RMA_PUT_SIGNAL_(CTX, rma_ctx_put_signal_nbi, 1)

/* Locks: runtime/locks.c says how they work. */
#define RMA_LOCK_PE_      0x01ffffffu /* 1 + a PE: in tail_ the last one of the queue, in node_ a neighbour in it */
#define RMA_LOCK_PHASE_   0x02000000u /* which of a PE's last two times in the queue is meant */
#define RMA_LOCK_HELD_    0x80000000u /* this PE holds the lock, or waits for it */
#define RMA_LOCK_GRANTED_ 0x40000000u /* between nodes: the PE before has passed the lock on */
#define RMA_LOCK_ASLEEP_  0x20000000u /* a PE sleeps in the kernel until this word changes */

/* The PE whose copy of the lock has the queue's tail. All PEs compute the same; different locks have different PEs. */
RMA_INLINE_ int rma_lock_home_(size_t offset) {
    return (int)(((uint64_t)((uint32_t)(offset >> 3) * 0x9e3779b1u) * rma_reach_.n_pes) >> 32);
}

/* The tail of a lock in the symmetric heap of a job of one node; else NULL. */
RMA_INLINE_ uint32_t *rma_lock_tail_(rma_lock_t *lock) {
    return RMA_LIKELY_(rma_reach_.one_node)
               ? (uint32_t *)rma_atomic_ptr_(lock, sizeof *lock, rma_lock_home_((uintptr_t)lock - rma_reach_.base))
               : NULL;
}

/* Whether the PE that was the tail has released the lock. An acquire of what that PE has released. */
RMA_INLINE_ int rma_lock_past_(rma_lock_t *lock, uint32_t tail) {
    const uint32_t *node;
    uint32_t seen;
    if (tail == 0 || (tail & RMA_LOCK_PE_) == rma_reach_.my_pe + 1) return 1;
    node = (const uint32_t *)rma_reach_ptr_(&lock->node_, sizeof *node, (int)(tail & RMA_LOCK_PE_) - 1);
    if (!RMA_LIKELY_(node != NULL)) return rma_lock_past_slow_(lock, tail);
    seen = __atomic_load_n(node, __ATOMIC_ACQUIRE);
    return !(seen & RMA_LOCK_HELD_) || ((seen ^ tail) & RMA_LOCK_PHASE_);
}

/* The word of this PE, which has been `node`, when it comes to the queue; and what it writes to the tail. Release: who
 * waits for this PE's time before may find this store, and sees what that time has released. */
RMA_INLINE_ uint32_t rma_lock_come_(rma_lock_t *lock, uint32_t node) {
    node = (node ^ RMA_LOCK_PHASE_) | RMA_LOCK_HELD_;
    __atomic_store_n(&lock->node_, node, __ATOMIC_RELEASE);
    return (node & RMA_LOCK_PHASE_) | (rma_reach_.my_pe + 1);
}

RMA_INLINE_ int rma_lock_set_(rma_lock_t *lock, uint32_t *tail, uint32_t node) {
    uint32_t before = __atomic_exchange_n(tail, rma_lock_come_(lock, node), __ATOMIC_ACQ_REL);
    return RMA_LIKELY_(rma_lock_past_(lock, before)) ? RMA_SUCCESS : rma_lock_wait_(lock, before);
}

RMA_INLINE_ int rma_lock_test_(rma_lock_t *lock, uint32_t *tail, uint32_t node) {
    uint32_t before = __atomic_load_n(tail, __ATOMIC_ACQUIRE);
    if (!rma_lock_past_(lock, before)) return 0;
    if (!__atomic_compare_exchange_n(tail, &before, rma_lock_come_(lock, node), 0, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED)) {
        __atomic_store_n(&lock->node_, node, __ATOMIC_RELEASE);
        return 0;
    }
    /* The one before may have been in the queue twice more meanwhile: then it is waited for. */
    return RMA_LIKELY_(rma_lock_past_(lock, before)) || rma_lock_wait_(lock, before) == RMA_SUCCESS;
}

RMA_INLINE_ int rma_set_lock(rma_lock_t *lock) {
    uint32_t *tail = rma_lock_tail_(lock), node;
    if (!RMA_LIKELY_(tail != NULL && !((node = __atomic_load_n(&lock->node_, __ATOMIC_RELAXED)) & ~RMA_LOCK_PHASE_)))
        return rma_set_lock_slow_(lock);
    return rma_lock_set_(lock, tail, node);
}

RMA_INLINE_ int rma_test_lock(rma_lock_t *lock) {
    uint32_t *tail = rma_lock_tail_(lock), node;
    if (!RMA_LIKELY_(tail != NULL && !((node = __atomic_load_n(&lock->node_, __ATOMIC_RELAXED)) & ~RMA_LOCK_PHASE_)))
        return rma_test_lock_slow_(lock);
    return rma_lock_test_(lock, tail, node);
}

RMA_INLINE_ int rma_clear_lock(rma_lock_t *lock) {
    uint32_t node;
    int heap = (uintptr_t)lock - rma_reach_.base < RMA_REACH_SIZE_ONCE_ && ((uintptr_t)lock & 7) == 0;
    if (!RMA_LIKELY_(rma_reach_.one_node && heap)) return rma_clear_lock_slow_(lock);
    node = __atomic_load_n(&lock->node_, __ATOMIC_RELAXED);
    if (!RMA_LIKELY_((node & (RMA_LOCK_HELD_ | RMA_LOCK_ASLEEP_)) == RMA_LOCK_HELD_)) return rma_clear_lock_slow_(lock);
    __atomic_store_n(&lock->node_, node & RMA_LOCK_PHASE_, __ATOMIC_RELEASE);
    return RMA_SUCCESS;
}

/* Global pointers: owner << 40 | offset in the owner's reservation. The first two words of each reservation say how far
 * its local heap and the guests' part of it are committed, so that a wrong offset is found out before it is touched.
 * Offsets from RMA_GPTR_ATTACHED_ up are of attached memory, which the slow calls know. */
#define RMA_GPTR_BITS_     40
#define RMA_GPTR_ATTACHED_ ((rma_gptr_t)3 << 38)

RMA_INLINE_ int rma_gptr_pe(rma_gptr_t g) { return (int)(g >> RMA_GPTR_BITS_); }

RMA_INLINE_ ptrdiff_t rma_gptr_diff(rma_gptr_t a, rma_gptr_t b) { return (ptrdiff_t)(a - b); }

RMA_INLINE_ void *rma_gptr_ptr_(rma_gptr_t g, size_t len) {
    uint32_t slot = rma_slot_(rma_gptr_pe(g));
    size_t offset = (size_t)(g & (((rma_gptr_t)1 << RMA_GPTR_BITS_) - 1));
    char *space = (char *)(rma_reach_.node_base + slot * rma_reach_.stride - rma_reach_.symmetric);
    size_t extent;
    if (!RMA_LIKELY_(slot < rma_reach_.n_node)) return NULL;
    if (RMA_LIKELY_(offset >= rma_reach_.local)) {
        /* Pairs with the release store by which a commit is published. */
        extent = __atomic_load_n((size_t *)(void *)space + (offset >= rma_reach_.guest), __ATOMIC_ACQUIRE);
        if (RMA_LIKELY_(len <= extent && offset <= extent - len)) return space + offset;
    } else if (offset >= rma_reach_.symmetric) {
        size_t size = RMA_REACH_SIZE_;
        if (len <= size && offset - rma_reach_.symmetric <= size - len) return space + offset;
    }
    return NULL;
}

RMA_INLINE_ int rma_gptr_put(rma_gptr_t dest, const void *source, size_t len) {
    void *there = rma_gptr_ptr_(dest, len);
    if (!RMA_LIKELY_(there != NULL)) return rma_gptr_put_slow_("rma_gptr_put", dest, source, len);
    rma_move_(there, source, len);
    return RMA_SUCCESS;
}

RMA_INLINE_ int rma_gptr_get(void *dest, rma_gptr_t source, size_t len) {
    const void *there = rma_gptr_ptr_(source, len);
    if (!RMA_LIKELY_(there != NULL)) return rma_gptr_get_slow_("rma_gptr_get", dest, source, len);
    rma_move_(dest, there, len);
    return RMA_SUCCESS;
}

/* The word of g, or NULL if this look cannot tell. */
RMA_INLINE_ void *rma_gptr_word_(rma_gptr_t g, size_t len) {
    void *there = rma_gptr_ptr_(g, len);
    return RMA_LIKELY_(there != NULL && (g & (len - 1)) == 0 && rma_nothing_pending_(&rma_reach_.nothing_pending))
               ? there
               : NULL;
}

#define RMA_ATOMIC_GPTR_INTEGER_(NAME, TYPE) RMA_ATOMIC_INTEGER_(GPTR, _##NAME, NAME, TYPE)
#define RMA_ATOMIC_GPTR_FLOAT_(NAME, TYPE)   RMA_ATOMIC_FLOAT_(GPTR, _##NAME, NAME, TYPE)
RMA_GPTR_ATOMIC_TYPES(RMA_ATOMIC_GPTR_INTEGER_)
RMA_ATOMIC_FLOAT_TYPES(RMA_ATOMIC_GPTR_FLOAT_)
RMA_ATOMIC_INTEGER_(GPTR, , uint64, uint64_t)

/* Reductions and scans by type: the library's own. */
#define RMA_COLLECTIVE_(CALL, NAME, TYPE) int CALL##_##NAME(rma_team *team, TYPE *dest, const TYPE *source, size_t n);
#define RMA_COLLECTIVE_BITS_(NAME, TYPE)                                                                               \
    RMA_COLLECTIVE_(rma_and_reduce, NAME, TYPE)                                                                        \
    RMA_COLLECTIVE_(rma_or_reduce, NAME, TYPE)                                                                         \
    RMA_COLLECTIVE_(rma_xor_reduce, NAME, TYPE)
#define RMA_COLLECTIVE_LIMIT_(NAME, TYPE)                                                                              \
    RMA_COLLECTIVE_(rma_min_reduce, NAME, TYPE)                                                                        \
    RMA_COLLECTIVE_(rma_max_reduce, NAME, TYPE)
#define RMA_COLLECTIVE_SUM_(NAME, TYPE)                                                                                \
    RMA_COLLECTIVE_(rma_sum_reduce, NAME, TYPE)                                                                        \
    RMA_COLLECTIVE_(rma_prod_reduce, NAME, TYPE)                                                                       \
    RMA_COLLECTIVE_(rma_sum_inscan, NAME, TYPE)                                                                        \
    RMA_COLLECTIVE_(rma_sum_exscan, NAME, TYPE)
RMA_INTEGER_TYPES(RMA_COLLECTIVE_BITS_)
RMA_TYPE_ALIASES(RMA_COLLECTIVE_BITS_)
RMA_TYPES(RMA_COLLECTIVE_LIMIT_)
RMA_TYPE_ALIASES(RMA_COLLECTIVE_LIMIT_)
RMA_TYPES(RMA_COLLECTIVE_SUM_)
RMA_TYPE_ALIASES(RMA_COLLECTIVE_SUM_)
RMA_COMPLEX_TYPES(RMA_COLLECTIVE_SUM_)

/* The generic front. A type outside the tables is a compile-time error that names the macro. */
#if !defined(__cplusplus) && __STDC_VERSION__ >= 201112L
#define RMA_CASE_(CALL, NAME, TYPE)     , TYPE : CALL##_##NAME
#define RMA_FRONT_(TYPES, CALL, target) _Generic(*(target)TYPES(RMA_CASE_, CALL))

#define rma_p(dest, value, pe) RMA_FRONT_(RMA_TYPES_WITH_, rma_p, dest)(dest, value, pe)
#define rma_g(source, pe)      RMA_FRONT_(RMA_TYPES_WITH_, rma_g, source)(source, pe)

/* Of integers, float and double; */
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

/* of integers only. */
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

/* Reductions: of all integers, these and floating-point numbers, these and complex ones. */
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

/* The same in a context. */
#define rma_ctx_p(ctx, dest, value, pe) RMA_FRONT_(RMA_TYPES_WITH_, rma_ctx_p, dest)(ctx, dest, value, pe)
#define rma_ctx_g(ctx, source, pe)      RMA_FRONT_(RMA_TYPES_WITH_, rma_ctx_g, source)(ctx, source, pe)
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
#endif

#ifdef RMA_PROFILE
#pragma GCC diagnostic pop
#endif

#endif
