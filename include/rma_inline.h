/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_inline.h: the on-node path, compiled into the caller. Included by rma.h only.
 *
 * All PEs of a node map one shared reservation, cut into equal strides; PE number q of the node has stride q. A remote
 * address is therefore the caller's own address plus a multiple of the stride: no table is read. If the inlined code
 * cannot prove from rma_reach_ that an address is right, it calls the *_slow_ function in the library, which finds
 * another way or words the error. That includes every call before rma_init, when n_node and size are 0.
 *
 * On-node test. The PEs of a node nearly always form an arithmetic progression (first, first + step, ...)
 * in MPI_COMM_WORLD: block placement has step 1, cyclic placement step = number of nodes. With
 * step = odd << shift, (pe - first) * inverse(odd) rotated right by shift is the quotient if step divides pe - first,
 * and otherwise at least 2^32 / step (exact division by multiplication: Hacker's Delight, 10-17). Hence one compare
 * with n_node decides, in constant memory. If the node's PEs are no progression, n_node covers the longest one that
 * starts at first, and the slow path finds the others.
 *
 * These functions are C99 inline: the library exports each as a real symbol too, for -O0, for other
 * languages and for debuggers. */
#ifndef RMA_INLINE_H
#define RMA_INLINE_H

#include <string.h>

/* What the operations of a context leave to wait for. An atomic comes after all puts that are not complete; a quiet
 * waits for all operations. */
#define RMA_PUTS_COMPLETE_ 1
#define RMA_ALL_COMPLETE_  2
#define RMA_STREAMING_     UINT32_MAX /* puts are complete, and the library decides how own words are accessed */

/* A context, as the inlined calls know it. The lower bits of a handle hold 1 + the context's number
 * (runtime/context.h). */
struct rma_context_ {
    uintptr_t handle; /* of the context that uses this entry now */
    uint32_t n;       /* PE i of its team is PE start + i * stride, i < n. 0: only the library knows the PEs */
    int32_t start, stride;
    uint32_t complete; /* what need not be waited for: one of the three above, or nothing (0) */
    uint32_t index;
    struct rmai_context *context;
    struct rmai_streams *streams; /* of the context; or NULL, and of a line without a context */
} __attribute__((aligned(64)));

/* What this PE reaches by load and store. Every call reads it. rma_init and rma_finalize write it; the growth of the
 * symmetric heap writes size alone, in a collective call, while other threads may be in other calls (RMA_REACH_SIZE_
 * reads it atomically). Part of the binary interface: fields are only appended. While n_node > 0: size >=
 * RMA_SIZE_MIN_, and there[q] = node_base + q * stride is the symmetric part of the node's PE q, base = there[slot]. */
struct rma_reach_ {
    uintptr_t base;      /* own symmetric part, first byte */
    size_t size;         /* bytes of it that every PE has committed: base <= target < base + size */
    uintptr_t node_base; /* symmetric part of the node's PE 0, as mapped here */
    size_t stride;       /* bytes from one PE's reservation to that of the next PE of the node */
    uint32_t first;      /* the node's first PE */
    uint32_t inverse;    /* inverse of step's odd part modulo 2^32 */
    uint32_t shift;      /* trailing zero bits of step */
    uint32_t n_node;     /* PEs first + q * step with q < n_node are on-node */
    uint32_t slot;       /* this PE's q */
    uint32_t running;    /* 1 between rma_init and rma_finalize */
    uint32_t complete;   /* the same of RMA_CTX_DEFAULT; 0 unless running */
    size_t symmetric;    /* from a reservation's first byte to its symmetric part */
    size_t local;        /* and to its local heap: where offsets of global pointers change kind */
    size_t guest;        /* from a reservation's first byte to the part of the local heap where others allocate */
    uint32_t n_pes;
    uint32_t my_pe;
    struct rma_context_ *contexts;
    uint32_t contexts_mask; /* their number - 1 */
    uint32_t one_node;      /* 1 if all PEs are on-node and their atomics are processor instructions */
    uint32_t *stripes;      /* RMA_STRIPES_ locks that the PEs of the node share, RMA_STRIPE_APART_ words apart */
    uint32_t *alone; /* not NULL: only the calling thread and the thread that serves other nodes access this node's
                        words. Two words of a lock between these two (base/biased.h): inside, guest */
};

#define RMA_SIZE_MIN_ 4096

/* Aligned to lines of the cache, so that the common path reads one line. */
extern struct rma_reach_ rma_reach_ __attribute__((aligned(64)));

/* For a tool that takes a program's calls before this library does (instruments/race). Before rma_init it calls
 * rma_tool_ with a number of its own; 0, as without the call: there is no tool. rma_tools_differ_: 0 if all PEs had the
 * same number in rma_init; otherwise 1, with a PE that had the least number and one that had the greatest, or 2 if the
 * least is 0. The same on all PEs. */
void rma_tool_(long number);
int rma_tools_differ_(int pes[2]);

void rma_move_short_(void *dest, const void *source, size_t len);
void rma_move_long_(void *dest, const void *source, size_t len);
int rma_put_slow_(const char *call, const rma_ctx *ctx, void *dest, const void *source, size_t len, int pe);
int rma_get_slow_(const char *call, const rma_ctx *ctx, void *dest, const void *source, size_t len, int pe);
int rma_p_slow_(const char *call, const rma_ctx *ctx, void *dest, const void *source, size_t len, int pe);
int rma_put_nbi_slow_(const char *call, const rma_ctx *ctx, void *dest, const void *source, size_t len, int pe);
int rma_get_nbi_slow_(const char *call, const rma_ctx *ctx, void *dest, const void *source, size_t len, int pe);
int rma_atomic_slow_(const char *call, const rma_ctx *ctx, int op, const void *target, size_t len, uint64_t value,
                     uint64_t cond, int pe, uint64_t *old);
int rma_update_slow_(const char *call, const rma_ctx *ctx, uint32_t update, const void *target, uint64_t value, int pe);
int rma_atomic_nbi_slow_(const char *call, const rma_ctx *ctx, int op, const void *target, size_t len, uint64_t value,
                         uint64_t cond, int pe, void *fetch);
int rma_put_signal_slow_(const char *call, const rma_ctx *ctx, void *dest, const void *source, size_t len,
                         uint64_t *signal, uint64_t value, int op, int pe, int nbi);
int rma_gptr_put_slow_(const char *call, rma_gptr_t dest, const void *source, size_t len);
int rma_gptr_get_slow_(const char *call, void *dest, rma_gptr_t source, size_t len);
int rma_ctx_gptr_put_slow_(const char *call, const rma_ctx *ctx, rma_gptr_t dest, const void *source, size_t len);
int rma_ctx_gptr_get_slow_(const char *call, const rma_ctx *ctx, void *dest, rma_gptr_t source, size_t len);
int rma_gptr_p_slow_(const char *call, const rma_ctx *ctx, rma_gptr_t dest, const void *value, size_t len);
int rma_gptr_put_nbi_slow_(const char *call, const rma_ctx *ctx, rma_gptr_t dest, const void *source, size_t len);
int rma_gptr_get_nbi_slow_(const char *call, const rma_ctx *ctx, void *dest, rma_gptr_t source, size_t len);
int rma_gptr_put_signal_slow_(const char *call, const rma_ctx *ctx, rma_gptr_t dest, const void *source, size_t len,
                              rma_gptr_t signal, uint64_t value, int op, int nbi);
int rma_gptr_atomic_slow_(const char *call, int op, rma_gptr_t g, size_t len, uint64_t value, uint64_t cond,
                          uint64_t *old);
int rma_gptr_atomic_nbi_slow_(const char *call, int op, rma_gptr_t g, size_t len, uint64_t value, uint64_t cond,
                              void *fetch);
void rma_stripe_wait_(uint32_t *stripe);
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

/* The library itself, which exports each of them, uses `extern inline` (C11 6.7.4). With RMA_PROFILE these bodies are
 * never used: each call goes to the symbol, which a tool may have replaced. */
#ifdef RMA_PROFILE
#ifdef __cplusplus /* each file has its own copy of an inline function, unless the function is gnu_inline */
#define RMA_INLINE_ extern inline __attribute__((gnu_inline, noinline))
#else
#define RMA_INLINE_ inline __attribute__((noinline))
#endif
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattributes" /* some functions are inline and noinline on purpose */
#elif !defined RMA_INLINE_
#define RMA_INLINE_ inline
#endif

#define RMA_LIKELY_(x) __builtin_expect(!!(x), 1)

/* The symmetric heap's size. Another thread may let the heap grow meanwhile, so the read is atomic: otherwise the
 * compiler may read the size twice, and compare a range's length with one size and its end with another. If the size is
 * compared only once, a plain read is as good and can be part of the comparison; ThreadSanitizer, however, needs the
 * atomic. */
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

/* pe's number on the node, or a number >= n_node if pe is on another node: the on-node test explained above. */
RMA_INLINE_ uint32_t rma_slot_(int pe) {
    uint32_t q = ((uint32_t)pe - rma_reach_.first) * rma_reach_.inverse;
    return (q >> rma_reach_.shift) | (q << (-rma_reach_.shift & 31));
}

/* The address of pe's copy of the symmetric range [addr, addr + len), or NULL if the inlined code cannot tell. A length
 * that the compiler knows needs one compare less: size - len cannot be negative then. */
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

/* The entry of the table where a context with this handle would be. Another context may use it. */
RMA_INLINE_ struct rma_context_ *rma_context_of_(const rma_ctx *ctx) {
    return &rma_reach_.contexts[((uint32_t)(uintptr_t)ctx - 1) & rma_reach_.contexts_mask];
}

/* Whether entry c belongs to the context with this handle. Relaxed: if another context has the entry (a thread may be
 * creating it now), nothing more is read of it. */
#define RMA_IS_CONTEXT_(c, ctx) RMA_LIKELY_(__atomic_load_n(&(c)->handle, __ATOMIC_RELAXED) == (uintptr_t)(ctx))

/* rma_reach_ptr_ for a PE of the context's team. */
RMA_INLINE_ void *rma_ctx_ptr_(const rma_ctx *ctx, const void *addr, size_t len, int pe) {
    const struct rma_context_ *c = rma_context_of_(ctx);
    if (!RMA_IS_CONTEXT_(c, ctx) || !RMA_LIKELY_((uint32_t)pe < c->n)) return NULL;
    return rma_reach_ptr_(addr, len, c->start + pe * c->stride);
}

/* Each call passes its own name (for an error) and its context to one of the functions below. That function finds the
 * address and accesses the memory there, or passes everything to the slow call. These functions are always inlined: so
 * a context, a length and an operation that are constants in the call are constants inside, and only the branch that
 * applies remains. Hence a call by type costs the compiler of each program one line. */
#if defined __OPTIMIZE__ && !defined RMA_PROFILE
#define RMA_ALWAYS_ RMA_INLINE_ __attribute__((always_inline))
#else
#define RMA_ALWAYS_ RMA_INLINE_
#endif

/* Words of 4 and 8 bytes, and values of 1 and 2, of whatever type. */
typedef uint8_t __attribute__((may_alias)) rma_word1_;
typedef uint16_t __attribute__((may_alias)) rma_word2_;
typedef uint32_t __attribute__((may_alias)) rma_word4_;
typedef uint64_t __attribute__((may_alias)) rma_word8_;

/* Copies. memcpy may store a byte twice, and a compiler may store a word in halves. A PE that waits for a word and
 * resets it would find it again, or half of it. So a copy of at most RMA_SHORT_MAX_ bytes stores each aligned word once
 * and whole, by a relaxed atomic: a lone word of 1 or 2 bytes; and words of 4 and 8 bytes, if dest and len are
 * multiples of 4. rma_move_short_, in the library, does this for a length that the compiler does not know (without
 * optimisation, for every length), and calls memcpy for longer copies. rma_move_long_ copies more than RMA_LONG_MIN_
 * bytes by what is fastest on this processor. */
#define RMA_SHORT_MAX_ 64
#define RMA_LONG_MIN_  ((size_t)512 << 10)

#define RMA_MOVE_WORD_(BYTES, I)                                                                                       \
    if (len > (I) * (size_t)(BYTES)) {                                                                                 \
        rma_word##BYTES##_ word;                                                                                       \
        memcpy(&word, (const char *)source + (I) * (BYTES), sizeof word);                                              \
        __atomic_store_n((rma_word##BYTES##_ *)dest + (I), word, __ATOMIC_RELAXED);                                    \
    }

/* The words of 1, 2, 4 or a multiple of 8 bytes at a place that is aligned to that or to 8. */
RMA_ALWAYS_ void rma_move_words_(void *dest, const void *source, size_t len) {
    switch (len) {
        case 1: RMA_MOVE_WORD_(1, 0) break;
        case 2: RMA_MOVE_WORD_(2, 0) break;
        case 4: RMA_MOVE_WORD_(4, 0) break;
        default:
            RMA_MOVE_WORD_(8, 0)
            RMA_MOVE_WORD_(8, 1)
            RMA_MOVE_WORD_(8, 2)
            RMA_MOVE_WORD_(8, 3)
            RMA_MOVE_WORD_(8, 4)
            RMA_MOVE_WORD_(8, 5)
            RMA_MOVE_WORD_(8, 6)
            RMA_MOVE_WORD_(8, 7)
    }
}

/* For a constant length, for which one branch remains. This is a separate function, not always inlined: the compiler
 * decides by the size of rma_put whether to inline rma_put, and for a variable length this must not count. */
RMA_INLINE_ void rma_move_known_(void *dest, const void *source, size_t len) {
    if (len > RMA_LONG_MIN_) {
        rma_move_long_(dest, source, len);
    } else if (len > RMA_SHORT_MAX_ || (len > 2 && len % 4 != 0)) {
        memcpy(dest, source, len);
    } else if (len != 0 && (len % 8 == 0 || len <= 4) && ((uintptr_t)dest & (len < 8 ? len - 1 : 7)) == 0) {
        rma_move_words_(dest, source, len);
    } else if (len == 8 && ((uintptr_t)dest & 3) == 0) {
        RMA_MOVE_WORD_(4, 0)
        RMA_MOVE_WORD_(4, 1)
    } else if (len <= 8) {
        memcpy(dest, source, len);
    } else {
        rma_move_short_(dest, source, len);
    }
}

RMA_ALWAYS_ void rma_move_(void *dest, const void *source, size_t len) {
    if (__builtin_constant_p(len)) {
        rma_move_known_(dest, source, len);
    } else if (len <= RMA_SHORT_MAX_) {
        rma_move_short_(dest, source, len);
    } else if (len > RMA_LONG_MIN_) {
        rma_move_long_(dest, source, len);
    } else {
        /* Hides from the compiler that len is above 64: it would warn that so many bytes do not fit a shorter array. */
        __asm__("" : "+r"(len));
        memcpy(dest, source, len);
    }
}

/* Each call exists twice: for the default context (SYM), and for the context that the call names (CTX). */
#define RMA_SYM_CTX_
#define RMA_SYM_OF_  RMA_CTX_DEFAULT, 0
#define RMA_CTX_CTX_ rma_ctx *ctx,
#define RMA_CTX_OF_  ctx, 1

/* named: 1 if the call names the context, 0 for the default context, which needs no access to the table. */
RMA_ALWAYS_ void *rma_there_(const rma_ctx *ctx, int named, const void *addr, size_t len, int pe) {
    return named ? rma_ctx_ptr_(ctx, addr, len, pe) : rma_reach_ptr_(addr, len, pe);
}

/* n elements of size bytes. If that overflows, SIZE_MAX, which fits no segment: the slow call reports the error. */
RMA_ALWAYS_ size_t rma_bytes_(size_t n, size_t size) {
    return size == 1 || n <= (size_t)PTRDIFF_MAX / size ? n * size : (size_t)-1;
}

RMA_ALWAYS_ int rma_put_as_(const char *call, const rma_ctx *ctx, int named, void *dest, const void *source, size_t len,
                            int pe) {
    void *there = rma_there_(ctx, named, dest, len, pe);
    if (!RMA_LIKELY_(there != NULL)) return rma_put_slow_(call, ctx, dest, source, len, pe);
    rma_move_(there, source, len);
    return RMA_SUCCESS;
}

RMA_ALWAYS_ int rma_get_as_(const char *call, const rma_ctx *ctx, int named, void *dest, const void *source, size_t len,
                            int pe) {
    const void *there = rma_there_(ctx, named, source, len, pe);
    if (!RMA_LIKELY_(there != NULL)) return rma_get_slow_(call, ctx, dest, source, len, pe);
    rma_move_(dest, there, len);
    return RMA_SUCCESS;
}

/* Streams of the default context (runtime/net/stream.h): a call for an operation like the last ones to that PE needs
 * few arguments, and few registers. They return 1 if a stream took the operation, 0 if nothing is done. */
#ifdef __has_attribute
#if __has_attribute(noplt)
#define RMA_DIRECT_ __attribute__((noplt)) /* without a jump through the table of procedures */
#endif
#endif
#ifndef RMA_DIRECT_
#define RMA_DIRECT_
#endif
#define RMA_WORD_UPDATE_(op, len) ((uint32_t)(op) << 8 | (uint32_t)(len) << 24)
int rma_stream_update_(uint32_t update, const void *target, uint64_t value, int pe) RMA_DIRECT_;
int rma_stream_get_(void *dest, const void *source, int pe) RMA_DIRECT_;

RMA_INLINE_ int rma_streaming_(const uint32_t *complete) {
    return __atomic_load_n(complete, __ATOMIC_RELAXED) == RMA_STREAMING_;
}

RMA_ALWAYS_ int rma_put_nbi_as_(const char *call, const rma_ctx *ctx, int named, void *dest, const void *source,
                                size_t len, int pe) {
    void *there = rma_there_(ctx, named, dest, len, pe);
    if (!RMA_LIKELY_(there != NULL)) return rma_put_nbi_slow_(call, ctx, dest, source, len, pe);
    rma_move_(there, source, len);
    return RMA_SUCCESS;
}

RMA_ALWAYS_ int rma_get_nbi_as_(const char *call, const rma_ctx *ctx, int named, void *dest, const void *source,
                                size_t len, int pe) {
    const uint32_t *complete = named ? &rma_context_of_(ctx)->complete : &rma_reach_.complete;
    const void *there = RMA_LIKELY_(!rma_streaming_(complete)) ? rma_there_(ctx, named, source, len, pe) : NULL;
    if (!RMA_LIKELY_(there != NULL))
        return !named && __builtin_constant_p(len) && len == 8 && rma_stream_get_(dest, source, pe)
                   ? RMA_SUCCESS
                   : rma_get_nbi_slow_(call, ctx, dest, source, len, pe);
    rma_move_(dest, there, len);
    return RMA_SUCCESS;
}

#define RMA_MOVE_CALL_(F, CALL, AS)                                                                                    \
    RMA_INLINE_ int CALL(RMA_##F##_CTX_ void *dest, const void *source, size_t len, int pe) {                          \
        return AS(#CALL, RMA_##F##_OF_, dest, source, len, pe);                                                        \
    }
RMA_MOVE_CALL_(SYM, rma_put, rma_put_as_)
RMA_MOVE_CALL_(SYM, rma_get, rma_get_as_)
RMA_MOVE_CALL_(SYM, rma_put_nbi, rma_put_nbi_as_)
RMA_MOVE_CALL_(SYM, rma_get_nbi, rma_get_nbi_as_)
RMA_MOVE_CALL_(CTX, rma_ctx_put, rma_put_as_)
RMA_MOVE_CALL_(CTX, rma_ctx_get, rma_get_as_)
RMA_MOVE_CALL_(CTX, rma_ctx_put_nbi, rma_put_nbi_as_)
RMA_MOVE_CALL_(CTX, rma_ctx_get_nbi, rma_get_nbi_as_)

/* One value: a store or a load if the machine moves it whole. The access is a relaxed atomic, so that C11 also
 * guarantees that no reader sees half a value. */
RMA_ALWAYS_ void rma_store_value_(void *there, const void *value, size_t len) {
    switch (len) {
        case 1: __atomic_store_n((rma_word1_ *)there, *(const rma_word1_ *)value, __ATOMIC_RELAXED); break;
        case 2: __atomic_store_n((rma_word2_ *)there, *(const rma_word2_ *)value, __ATOMIC_RELAXED); break;
        case 4: __atomic_store_n((rma_word4_ *)there, *(const rma_word4_ *)value, __ATOMIC_RELAXED); break;
        case 8: __atomic_store_n((rma_word8_ *)there, *(const rma_word8_ *)value, __ATOMIC_RELAXED); break;
        default: rma_move_(there, value, len);
    }
}

RMA_ALWAYS_ void rma_load_value_(void *value, const void *there, size_t len) {
    switch (len) {
        case 1: *(rma_word1_ *)value = __atomic_load_n((const rma_word1_ *)there, __ATOMIC_RELAXED); break;
        case 2: *(rma_word2_ *)value = __atomic_load_n((const rma_word2_ *)there, __ATOMIC_RELAXED); break;
        case 4: *(rma_word4_ *)value = __atomic_load_n((const rma_word4_ *)there, __ATOMIC_RELAXED); break;
        case 8: *(rma_word8_ *)value = __atomic_load_n((const rma_word8_ *)there, __ATOMIC_RELAXED); break;
        default: rma_move_(value, there, len);
    }
}

RMA_ALWAYS_ int rma_p_as_(const char *call, const rma_ctx *ctx, int named, void *dest, const void *value, size_t len,
                          int pe) {
    void *there = rma_there_(ctx, named, dest, len, pe);
    if (!RMA_LIKELY_(there != NULL)) return rma_p_slow_(call, ctx, dest, value, len, pe);
    rma_store_value_(there, value, len);
    return RMA_SUCCESS;
}

/* Returns whether it has loaded *near; if not, *far has the value. They are two variables so that *near can be a
 * register. */
RMA_ALWAYS_ int rma_g_as_(const char *call, const rma_ctx *ctx, int named, void *near, void *far, const void *source,
                          size_t len, int pe) {
    const void *there = rma_there_(ctx, named, source, len, pe);
    if (!RMA_LIKELY_(there != NULL)) {
        rma_get_slow_(call, ctx, far, source, len, pe);
        return 0;
    }
    rma_load_value_(near, there, len);
    return 1;
}

/* Ordering calls. Release: if a PE puts, calls fence and puts again, a peer that sees the second put sees the first. In
 * a job of several nodes the library is called even if nothing is pending: a program that polls its own memory by loads
 * may call nothing else, and the call drives progress now and then. */
RMA_INLINE_ int rma_order_(const char *call) {
    __atomic_thread_fence(__ATOMIC_RELEASE);
    return RMA_LIKELY_(__atomic_load_n(&rma_reach_.complete, __ATOMIC_ACQUIRE) == RMA_ALL_COMPLETE_ &&
                       rma_reach_.one_node)
               ? RMA_SUCCESS
               : rma_quiet_slow_(call, RMA_CTX_DEFAULT);
}

RMA_INLINE_ int rma_ctx_order_(const char *call, const rma_ctx *ctx) {
    const struct rma_context_ *c = rma_context_of_(ctx);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    return RMA_IS_CONTEXT_(c, ctx) &&
                   RMA_LIKELY_(__atomic_load_n(&c->complete, __ATOMIC_ACQUIRE) == RMA_ALL_COMPLETE_ &&
                               rma_reach_.one_node)
               ? RMA_SUCCESS
               : rma_quiet_slow_(call, ctx);
}

RMA_INLINE_ int rma_fence(void) { return rma_order_("rma_fence"); }
RMA_INLINE_ int rma_quiet(void) { return rma_order_("rma_quiet"); }
RMA_INLINE_ int rma_ctx_fence(rma_ctx *ctx) { return rma_ctx_order_("rma_ctx_fence", ctx); }
RMA_INLINE_ int rma_ctx_quiet(rma_ctx *ctx) { return rma_ctx_order_("rma_ctx_quiet", ctx); }

/* The operations of the slow calls: part of the binary interface. */
enum rma_atomic_op_ {
    RMA_FETCH_,
    RMA_SET_,
    RMA_SWAP_,
    RMA_COMPARE_SWAP_,
    RMA_FETCH_ADD_,
    RMA_FETCH_AND_,
    RMA_FETCH_OR_,
    RMA_FETCH_XOR_,
    RMA_FETCH_MIN_, /* of unsigned words */
    RMA_FETCH_MAX_,
    RMA_FETCH_SMIN_, /* of signed words */
    RMA_FETCH_SMAX_,
    RMA_FETCH_FADD_, /* from here on: of float or double, by the length, with the word's stripe locked */
    RMA_FETCH_FMIN_,
    RMA_FETCH_FMAX_,
    RMA_FSET_,
    RMA_FSWAP_,
    RMA_STRIPED_ = 32 /* added to one on integers: with the word's stripe locked, against arrays in loops */
};

/* Atomic, because another thread may store the word meanwhile. Returns 0 for RMA_STREAMING_ as well: then the inlined
 * call leaves the atomic to the library. */
RMA_INLINE_ int rma_puts_complete_(const uint32_t *complete) {
    return (int32_t)__atomic_load_n(complete, __ATOMIC_RELAXED) >= RMA_PUTS_COMPLETE_;
}

/* Atomics. ACQ_REL is what rma.h promises. While puts to other nodes are under way the library is called, since a
 * release must come after them. That comes before the question where the PE is: in a session, while operations are
 * under way, no call needs its answer, which the processor could not predict. */
RMA_INLINE_ void *rma_atomic_ptr_(const void *target, size_t len, int pe) {
    void *there = RMA_LIKELY_(rma_puts_complete_(&rma_reach_.complete)) ? rma_reach_ptr_(target, len, pe) : NULL;
    return RMA_LIKELY_(there != NULL && ((uintptr_t)target & (len - 1)) == 0) ? there : NULL;
}

RMA_INLINE_ void *rma_ctx_atomic_ptr_(const rma_ctx *ctx, const void *target, size_t len, int pe) {
    void *there =
        RMA_LIKELY_(rma_puts_complete_(&rma_context_of_(ctx)->complete)) ? rma_ctx_ptr_(ctx, target, len, pe) : NULL;
    return RMA_LIKELY_(there != NULL && ((uintptr_t)target & (len - 1)) == 0) ? there : NULL;
}

/* Apply the operation op to the word at t, which has op's type, and return the old value. A word travels in 64 bits. If
 * a minimum or a maximum would not change the word, nothing is stored; then the operation is an acquire only.
 * Floating-point words are compared by their bits. A number wins over a NaN. */
RMA_INLINE_ float rma_value_float(uint64_t wide) {
    uint32_t bits = (uint32_t)wide;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

RMA_INLINE_ double rma_value_double(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

RMA_INLINE_ uint64_t rma_bits_float(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

RMA_INLINE_ uint64_t rma_bits_double(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

#define RMA_LESS_INTEGER_(a, b) ((a) < (b))
#define RMA_LESS_REAL_(a, b)    ((a) < (b) || ((b) != (b) && (a) == (a)))
#define RMA_MORE_INTEGER_(a, b) ((a) > (b))
#define RMA_MORE_REAL_(a, b)    ((a) > (b) || ((b) != (b) && (a) == (a)))
#define RMA_APPLY_LIMIT_(WORD, VALUE, WINS)                                                                            \
    before = __atomic_load_n(w, __ATOMIC_ACQUIRE);                                                                     \
    while (WINS(VALUE(v), VALUE(before)) &&                                                                            \
           !__atomic_compare_exchange_n(w, &before, v, 1, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))                         \
        continue;                                                                                                      \
    return before
#define RMA_APPLY_(NAME, WORD, SIGNED, REAL, BITS)                                                                     \
    RMA_ALWAYS_ uint64_t rma_apply##NAME##_(int op, void *word, uint64_t value, uint64_t cond) {                       \
        WORD *w = (WORD *)word, v = (WORD)value, before = (WORD)cond;                                                  \
        switch (op) {                                                                                                  \
            case RMA_FETCH_: return __atomic_load_n(w, __ATOMIC_ACQUIRE);                                              \
            case RMA_SET_: __atomic_store_n(w, v, __ATOMIC_RELEASE); return 0;                                         \
            case RMA_SWAP_: return __atomic_exchange_n(w, v, __ATOMIC_ACQ_REL);                                        \
            case RMA_COMPARE_SWAP_:                                                                                    \
                __atomic_compare_exchange_n(w, &before, v, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);                     \
                return before;                                                                                         \
            case RMA_FETCH_ADD_: return __atomic_fetch_add(w, v, __ATOMIC_ACQ_REL);                                    \
            case RMA_FETCH_AND_: return __atomic_fetch_and(w, v, __ATOMIC_ACQ_REL);                                    \
            case RMA_FETCH_OR_: return __atomic_fetch_or(w, v, __ATOMIC_ACQ_REL);                                      \
            case RMA_FETCH_XOR_: return __atomic_fetch_xor(w, v, __ATOMIC_ACQ_REL);                                    \
            case RMA_FETCH_MIN_: RMA_APPLY_LIMIT_(WORD, , RMA_LESS_INTEGER_);                                          \
            case RMA_FETCH_MAX_: RMA_APPLY_LIMIT_(WORD, , RMA_MORE_INTEGER_);                                          \
            case RMA_FETCH_SMIN_: RMA_APPLY_LIMIT_(WORD, (SIGNED), RMA_LESS_INTEGER_);                                 \
            default: /* RMA_FETCH_SMAX_ */ RMA_APPLY_LIMIT_(WORD, (SIGNED), RMA_MORE_INTEGER_);                        \
        }                                                                                                              \
    }                                                                                                                  \
    RMA_ALWAYS_ uint64_t rma_apply_real##NAME##_(int op, void *word, uint64_t value) {                                 \
        WORD *w = (WORD *)word, before = __atomic_load_n(w, __ATOMIC_ACQUIRE), v = (WORD)value;                        \
        if (op == RMA_FETCH_FADD_) v = (WORD)BITS(REAL(before) + REAL(value));                                         \
        if ((op == RMA_FETCH_FMIN_ && !RMA_LESS_REAL_(REAL(v), REAL(before))) ||                                       \
            (op == RMA_FETCH_FMAX_ && !RMA_MORE_REAL_(REAL(v), REAL(before))))                                         \
            return before;                                                                                             \
        __atomic_store_n(w, v, __ATOMIC_RELEASE);                                                                      \
        return before;                                                                                                 \
    }                                                                                                                  \
    RMA_ALWAYS_ uint64_t rma_apply_striped##NAME##_(int op, void *word, uint64_t value, uint64_t cond) {               \
        WORD *w = (WORD *)word, before, v = (WORD)value;                                                               \
        int stays = 0;                                                                                                 \
        if (op < RMA_STRIPED_) return rma_apply_real##NAME##_(op, word, value);                                        \
        before = __atomic_load_n(w, __ATOMIC_ACQUIRE);                                                                 \
        switch (op - RMA_STRIPED_) {                                                                                   \
            case RMA_FETCH_: stays = 1; break;                                                                         \
            case RMA_COMPARE_SWAP_: stays = before != (WORD)cond; break;                                               \
            case RMA_FETCH_ADD_: v += before; break;                                                                   \
            case RMA_FETCH_AND_: v &= before; break;                                                                   \
            case RMA_FETCH_OR_: v |= before; break;                                                                    \
            case RMA_FETCH_XOR_: v ^= before; break;                                                                   \
            case RMA_FETCH_MIN_: stays = before <= v; break;                                                           \
            case RMA_FETCH_MAX_: stays = before >= v; break;                                                           \
            case RMA_FETCH_SMIN_: stays = (SIGNED)before <= (SIGNED)v; break;                                          \
            case RMA_FETCH_SMAX_: stays = (SIGNED)before >= (SIGNED)v; break;                                          \
            default: break; /* sets and swaps */                                                                       \
        }                                                                                                              \
        if (!stays) __atomic_store_n(w, v, __ATOMIC_RELEASE);                                                          \
        return before;                                                                                                 \
    }
RMA_APPLY_(4, rma_word4_, int32_t, rma_value_float, rma_bits_float)
RMA_APPLY_(8, rma_word8_, int64_t, rma_value_double, rma_bits_double)

/* Stripes: locks for elements that no instruction updates. An accumulate locks the stripe of 4 KiB in which its next
 * elements lie, and then updates them in a loop that the compiler vectorises. An atomic on a float or a double locks
 * the stripe of its word. Stripes share RMA_STRIPES_ locks, by a hash of their position in the node's memory: their
 * distance from node_base. A lock is 0, or 1 + the PE that holds it. */
#define RMA_STRIPES_      1024
#define RMA_STRIPE_BITS_  12
#define RMA_STRIPE_APART_ 16

RMA_INLINE_ uint32_t *rma_stripe_(uint32_t *stripes, uint64_t position) {
    return stripes + ((position >> RMA_STRIPE_BITS_) * 0x9e3779b97f4a7c15u >> 54) * RMA_STRIPE_APART_;
}

/* 1 if PE `me` has taken the lock, 0 if another thread or PE holds it. */
RMA_INLINE_ int rma_stripe_try_(uint32_t *stripe, uint32_t me) {
    uint32_t nobody = 0;
    return __atomic_compare_exchange_n(stripe, &nobody, me + 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

RMA_INLINE_ void rma_stripe_unlock_(uint32_t *stripe) { __atomic_store_n(stripe, 0, __ATOMIC_RELEASE); }

/* For a word of the heaps of this node's PEs, as mapped here. */
RMA_ALWAYS_ uint64_t rma_apply_(int op, void *word, size_t len, uint64_t value, uint64_t cond) {
    uint32_t *stripe;
    uint64_t old;
    if (op < RMA_FETCH_FADD_) return len == 4 ? rma_apply4_(op, word, value, cond) : rma_apply8_(op, word, value, cond);
    stripe = rma_stripe_(rma_reach_.stripes, (uintptr_t)word - rma_reach_.node_base);
    if (!RMA_LIKELY_(rma_stripe_try_(stripe, rma_reach_.my_pe))) rma_stripe_wait_(stripe);
    old = len == 4 ? rma_apply_striped4_(op, word, value, cond) : rma_apply_striped8_(op, word, value, cond);
    rma_stripe_unlock_(stripe);
    return old;
}

/* Store the result of a nonblocking atomic. */
RMA_ALWAYS_ void rma_fetched_(void *fetch, size_t len, uint64_t bits) {
    if (len == 4)
        __atomic_store_n((rma_word4_ *)fetch, (rma_word4_)bits, __ATOMIC_RELAXED);
    else
        __atomic_store_n((rma_word8_ *)fetch, bits, __ATOMIC_RELAXED);
}

/* A locked instruction waits for all earlier stores and cache misses of its thread. Where nobody but the thread that
 * serves other nodes can access the word at the same time, an update is made inside the lock between the two, by a load
 * and a store. Returns 0, with nothing done, where that is not possible. rmai_biased_try_enter says how the lock works.
 */
#define RMA_UPDATE_ALONE_(NAME, WORD)                                                                                  \
    RMA_ALWAYS_ int rma_update_alone##NAME##_(int op, WORD *word, WORD value) {                                        \
        uint32_t *lock = rma_reach_.alone;                                                                             \
        WORD old;                                                                                                      \
        if (RMA_LIKELY_(lock == NULL) || __atomic_load_n(lock, __ATOMIC_RELAXED)) return 0;                            \
        __atomic_store_n(lock, 1, __ATOMIC_RELAXED);                                                                   \
        __atomic_signal_fence(__ATOMIC_SEQ_CST);                                                                       \
        if (!RMA_LIKELY_(!__atomic_load_n(lock + 1, __ATOMIC_ACQUIRE))) {                                              \
            __atomic_store_n(lock, 0, __ATOMIC_RELEASE);                                                               \
            return 0;                                                                                                  \
        }                                                                                                              \
        old = __atomic_load_n(word, __ATOMIC_RELAXED);                                                                 \
        __atomic_store_n(word, op == RMA_FETCH_ADD_ ? old + value : old ^ value, __ATOMIC_RELAXED);                    \
        __atomic_store_n(lock, 0, __ATOMIC_RELEASE);                                                                   \
        return 1;                                                                                                      \
    }
RMA_UPDATE_ALONE_(4, rma_word4_)
RMA_UPDATE_ALONE_(8, rma_word8_)

RMA_ALWAYS_ int rma_update_alone_(int op, void *word, size_t len, uint64_t value) {
    if (op != RMA_FETCH_ADD_ && op != RMA_FETCH_XOR_) return 0;
    return len == 4 ? rma_update_alone4_(op, (rma_word4_ *)word, (rma_word4_)value)
                    : rma_update_alone8_(op, (rma_word8_ *)word, value);
}

RMA_ALWAYS_ void *rma_word_there_(const rma_ctx *ctx, int named, const void *target, size_t len, int pe) {
    return named ? rma_ctx_atomic_ptr_(ctx, target, len, pe) : rma_atomic_ptr_(target, len, pe);
}

/* Three kinds of atomics: those that return the old value, those that return an error code, and those that store the
 * old value when they are complete. */
RMA_ALWAYS_ uint64_t rma_fetch_as_(const char *call, const rma_ctx *ctx, int named, int op, const void *target,
                                   size_t len, uint64_t value, uint64_t cond, int pe) {
    void *word = rma_word_there_(ctx, named, target, len, pe);
    uint64_t bits = 0;
    if (RMA_LIKELY_(word != NULL)) return rma_apply_(op, word, len, value, cond);
    rma_atomic_slow_(call, ctx, op, target, len, value, cond, pe, &bits);
    return len == 4 ? (uint32_t)bits : bits; /* as rma_apply_ does, so the compiler extends neither */
}

RMA_ALWAYS_ int rma_update_as_(const char *call, const rma_ctx *ctx, int named, int op, const void *target, size_t len,
                               uint64_t value, int pe) {
    void *word = rma_word_there_(ctx, named, target, len, pe);
    if (!RMA_LIKELY_(word != NULL))
        return !named && rma_stream_update_(RMA_WORD_UPDATE_(op, len), target, value, pe)
                   ? RMA_SUCCESS
                   : rma_update_slow_(call, ctx, RMA_WORD_UPDATE_(op, len), target, value, pe);
    if (!rma_update_alone_(op, word, len, value)) (void)rma_apply_(op, word, len, value, 0);
    return RMA_SUCCESS;
}

RMA_ALWAYS_ int rma_fetch_nbi_as_(const char *call, const rma_ctx *ctx, int named, void *fetch, int op,
                                  const void *target, size_t len, uint64_t value, uint64_t cond, int pe) {
    void *word = rma_word_there_(ctx, named, target, len, pe);
    if (!RMA_LIKELY_(word != NULL)) return rma_atomic_nbi_slow_(call, ctx, op, target, len, value, cond, pe, fetch);
    rma_fetched_(fetch, len, rma_apply_(op, word, len, value, cond));
    return RMA_SUCCESS;
}

/* A word travels to the slow calls in 64 bits. */
#define RMA_BITS_INTEGER_(NAME, value)       (uint64_t)(value)
#define RMA_BITS_FLOAT_(NAME, value)         rma_bits_##NAME(value)
#define RMA_VALUE_INTEGER_(NAME, TYPE, bits) (TYPE)(bits)
#define RMA_VALUE_FLOAT_(NAME, TYPE, bits)   rma_value_##NAME(bits)

/* Waiting: the library does it, which spins, sleeps and drives progress. A word's type is its length and whether it is
 * signed. */
#define RMA_IS_SIGNED_(TYPE) ((TYPE)-1 < (TYPE)1)
#define RMA_WORD_LEN_        15
#define RMA_WORD_SIGNED_     16
#define RMA_WORD_(TYPE)      ((int)sizeof(TYPE) | (RMA_IS_SIGNED_(TYPE) ? RMA_WORD_SIGNED_ : 0))
enum rma_words_what_ { RMA_ALL_, RMA_ANY_, RMA_SOME_ };

/* holds: 1 or 0 for a word of the symmetric heap, -1 if the inlined code cannot tell. (The heap's size is a multiple of
 * 8.) In a job of one node a PE whose test fails need not drive progress. */
#define RMA_HOLDS_(NAME, TYPE)                                                                                         \
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
    }
RMA_ATOMIC_TYPES(RMA_HOLDS_)
RMA_ATOMIC_TYPE_ALIASES(RMA_HOLDS_)

RMA_INLINE_ uint64_t rma_signal_fetch(const uint64_t *signal) { return __atomic_load_n(signal, __ATOMIC_ACQUIRE); }

RMA_INLINE_ uint64_t rma_signal_wait_until(uint64_t *signal, int cmp, uint64_t value) {
    uint64_t seen = 0;
    rma_wait_slow_("rma_signal_wait_until", RMA_WORD_(uint64_t), signal, cmp, &value, &seen);
    return seen;
}

/* nbi: source may stay in use until quiet. */
RMA_ALWAYS_ int rma_put_signal_as_(const char *call, const rma_ctx *ctx, int named, void *dest, const void *source,
                                   size_t len, uint64_t *signal, uint64_t value, int op, int pe, int nbi) {
    uint64_t *word = (uint64_t *)rma_word_there_(ctx, named, signal, sizeof *signal, pe);
    void *there = rma_there_(ctx, named, dest, len, pe);
    if (!RMA_LIKELY_(there != NULL && word != NULL && (op == RMA_SIGNAL_SET || op == RMA_SIGNAL_ADD)))
        return rma_put_signal_slow_(call, ctx, dest, source, len, signal, value, op, pe, nbi);
    rma_move_(there, source, len);
    if (op == RMA_SIGNAL_SET)
        __atomic_store_n(word, value, __ATOMIC_RELEASE);
    else
        __atomic_fetch_add(word, value, __ATOMIC_ACQ_REL);
    return RMA_SUCCESS;
}

/* The signal alone. */
RMA_ALWAYS_ int rma_signal_as_(const char *call, const rma_ctx *ctx, int named, uint64_t *signal, uint64_t value,
                               int op, int pe) {
    uint64_t *word = (uint64_t *)rma_word_there_(ctx, named, signal, sizeof *signal, pe);
    if (!RMA_LIKELY_(word != NULL)) return rma_put_signal_slow_(call, ctx, NULL, NULL, 0, signal, value, op, pe, 0);
    if (op == RMA_SIGNAL_SET)
        __atomic_store_n(word, value, __ATOMIC_RELEASE);
    else
        __atomic_fetch_add(word, value, __ATOMIC_ACQ_REL);
    return RMA_SUCCESS;
}

#define RMA_PUT_SIGNAL_(F, CALL, NBI)                                                                                  \
    RMA_INLINE_ int CALL(RMA_##F##_CTX_ void *dest, const void *source, size_t len, uint64_t *signal, uint64_t value,  \
                         int op, int pe) {                                                                             \
        return rma_put_signal_as_(#CALL, RMA_##F##_OF_, dest, source, len, signal, value, op, pe, NBI);                \
    }
#define RMA_SIGNAL_ALONE_(F, CALL, OP)                                                                                 \
    RMA_INLINE_ int CALL(RMA_##F##_CTX_ uint64_t *signal, uint64_t value, int pe) {                                    \
        return rma_signal_as_(#CALL, RMA_##F##_OF_, signal, value, OP, pe);                                            \
    }
RMA_SIGNAL_ALONE_(SYM, rma_signal_set, RMA_SIGNAL_SET)
RMA_SIGNAL_ALONE_(SYM, rma_signal_add, RMA_SIGNAL_ADD)
RMA_SIGNAL_ALONE_(CTX, rma_ctx_signal_set, RMA_SIGNAL_SET)
RMA_SIGNAL_ALONE_(CTX, rma_ctx_signal_add, RMA_SIGNAL_ADD)
RMA_PUT_SIGNAL_(SYM, rma_put_signal, 0)
RMA_PUT_SIGNAL_(SYM, rma_put_signal_nbi, 1)
RMA_PUT_SIGNAL_(CTX, rma_ctx_put_signal, 0)
RMA_PUT_SIGNAL_(CTX, rma_ctx_put_signal_nbi, 1)

/* Locks: runtime/api/locks.c says how they work. */
#define RMA_LOCK_PE_      0x01ffffffu /* 1 + a PE: in tail_ the last of the queue, in node_ a neighbour in the queue */
#define RMA_LOCK_PHASE_   0x02000000u /* tells a PE's last two times in the queue apart */
#define RMA_LOCK_HELD_    0x80000000u /* this PE holds the lock, or waits for it */
#define RMA_LOCK_GRANTED_ 0x40000000u /* between nodes: the predecessor has passed the lock on */
#define RMA_LOCK_ASLEEP_  0x20000000u /* a PE sleeps in the kernel until this word changes */

/* The PE whose copy of the lock has the queue's tail. All PEs compute the same PE; different locks have different
 * PEs. */
RMA_INLINE_ int rma_lock_home_(size_t offset) {
    return (int)(((uint64_t)((uint32_t)(offset >> 3) * 0x9e3779b1u) * rma_reach_.n_pes) >> 32);
}

/* The tail of a lock, if the lock is in the symmetric heap and the job has one node; else NULL. */
RMA_INLINE_ uint32_t *rma_lock_tail_(rma_lock_t *lock) {
    return RMA_LIKELY_(rma_reach_.one_node)
               ? (uint32_t *)rma_atomic_ptr_(lock, sizeof *lock, rma_lock_home_((uintptr_t)lock - rma_reach_.base))
               : NULL;
}

/* Whether the PE that was the tail has released the lock. An acquire of what that PE has released. rma_lock_past_slow_:
 * the same, but it notices a caller that polls for ever for the lock of a dead PE. */
RMA_INLINE_ int rma_lock_past_(rma_lock_t *lock, uint32_t tail) {
    const uint32_t *node;
    uint32_t seen;
    if (tail == 0 || (tail & RMA_LOCK_PE_) == rma_reach_.my_pe + 1) return 1;
    node = (const uint32_t *)rma_reach_ptr_(&lock->node_, sizeof *node, (int)(tail & RMA_LOCK_PE_) - 1);
    if (!RMA_LIKELY_(node != NULL)) return rma_lock_past_slow_(lock, tail);
    seen = __atomic_load_n(node, __ATOMIC_ACQUIRE);
    return !(seen & RMA_LOCK_HELD_) || ((seen ^ tail) & RMA_LOCK_PHASE_);
}

/* Write this PE's word, which was `node`, on its way into the queue, and return what the PE writes to the tail.
 * Release: a PE that waits for this PE's previous time in the queue may read this store, and then sees what that time
 * has released. */
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
    if (!rma_lock_past_(lock, before) && !rma_lock_past_slow_(lock, before)) return 0;
    if (!__atomic_compare_exchange_n(tail, &before, rma_lock_come_(lock, node), 0, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED)) {
        __atomic_store_n(&lock->node_, node, __ATOMIC_RELEASE);
        return 0;
    }
    /* The predecessor may have entered the queue twice more meanwhile; then this PE waits for it. */
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
 * its local heap and the guests' part of it are committed, so that a wrong offset is noticed before the memory is
 * touched. Offsets from RMA_GPTR_ATTACHED_ up are attached memory, which the slow calls know. */
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

/* The address of [g, g + len), or NULL if the inlined code cannot tell. g alone names the PE; the context only has to
 * exist. RMA_CTX_INVALID is tested for, because its line of the table looks like that of a context. */
RMA_ALWAYS_ void *rma_gptr_there_(const rma_ctx *ctx, int named, rma_gptr_t g, size_t len) {
    return named && !(ctx && RMA_IS_CONTEXT_(rma_context_of_(ctx), ctx)) ? NULL : rma_gptr_ptr_(g, len);
}

RMA_INLINE_ int rma_ctx_gptr_put(rma_ctx *ctx, rma_gptr_t dest, const void *source, size_t len) {
    void *there = rma_gptr_there_(ctx, 1, dest, len);
    if (!RMA_LIKELY_(there != NULL)) return rma_ctx_gptr_put_slow_("rma_ctx_gptr_put", ctx, dest, source, len);
    rma_move_(there, source, len);
    return RMA_SUCCESS;
}

RMA_INLINE_ int rma_ctx_gptr_get(rma_ctx *ctx, void *dest, rma_gptr_t source, size_t len) {
    const void *there = rma_gptr_there_(ctx, 1, source, len);
    if (!RMA_LIKELY_(there != NULL)) return rma_ctx_gptr_get_slow_("rma_ctx_gptr_get", ctx, dest, source, len);
    rma_move_(dest, there, len);
    return RMA_SUCCESS;
}

RMA_ALWAYS_ int rma_gptr_put_nbi_as_(const char *call, const rma_ctx *ctx, int named, rma_gptr_t dest,
                                     const void *source, size_t len) {
    void *there = rma_gptr_there_(ctx, named, dest, len);
    if (!RMA_LIKELY_(there != NULL)) return rma_gptr_put_nbi_slow_(call, ctx, dest, source, len);
    rma_move_(there, source, len);
    return RMA_SUCCESS;
}

RMA_ALWAYS_ int rma_gptr_get_nbi_as_(const char *call, const rma_ctx *ctx, int named, void *dest, rma_gptr_t source,
                                     size_t len) {
    const void *there = rma_gptr_there_(ctx, named, source, len);
    if (!RMA_LIKELY_(there != NULL)) return rma_gptr_get_nbi_slow_(call, ctx, dest, source, len);
    rma_move_(dest, there, len);
    return RMA_SUCCESS;
}

RMA_INLINE_ int rma_gptr_put_nbi(rma_gptr_t dest, const void *source, size_t len) {
    return rma_gptr_put_nbi_as_("rma_gptr_put_nbi", RMA_SYM_OF_, dest, source, len);
}

RMA_INLINE_ int rma_gptr_get_nbi(void *dest, rma_gptr_t source, size_t len) {
    return rma_gptr_get_nbi_as_("rma_gptr_get_nbi", RMA_SYM_OF_, dest, source, len);
}

RMA_INLINE_ int rma_ctx_gptr_put_nbi(rma_ctx *ctx, rma_gptr_t dest, const void *source, size_t len) {
    return rma_gptr_put_nbi_as_("rma_ctx_gptr_put_nbi", RMA_CTX_OF_, dest, source, len);
}

RMA_INLINE_ int rma_ctx_gptr_get_nbi(rma_ctx *ctx, void *dest, rma_gptr_t source, size_t len) {
    return rma_gptr_get_nbi_as_("rma_ctx_gptr_get_nbi", RMA_CTX_OF_, dest, source, len);
}

/* One value, as rma_p_as_ and rma_g_as_. */
RMA_ALWAYS_ int rma_gptr_p_as_(const char *call, const rma_ctx *ctx, int named, rma_gptr_t dest, const void *value,
                               size_t len) {
    void *there = rma_gptr_there_(ctx, named, dest, len);
    if (!RMA_LIKELY_(there != NULL)) return rma_gptr_p_slow_(call, ctx, dest, value, len);
    rma_store_value_(there, value, len);
    return RMA_SUCCESS;
}

RMA_ALWAYS_ int rma_gptr_g_as_(const char *call, const rma_ctx *ctx, int named, void *near, void *far,
                               rma_gptr_t source, size_t len) {
    const void *there = rma_gptr_there_(ctx, named, source, len);
    if (!RMA_LIKELY_(there != NULL)) {
        rma_ctx_gptr_get_slow_(call, ctx, far, source, len);
        return 0;
    }
    rma_load_value_(near, there, len);
    return 1;
}

/* The address of g's word, or NULL if the inlined code cannot tell. */
RMA_INLINE_ void *rma_gptr_word_(rma_gptr_t g, size_t len) {
    void *there = rma_gptr_ptr_(g, len);
    return RMA_LIKELY_(there != NULL && (g & (len - 1)) == 0 && rma_puts_complete_(&rma_reach_.complete)) ? there
                                                                                                          : NULL;
}

RMA_ALWAYS_ int rma_gptr_put_signal_as_(const char *call, const rma_ctx *ctx, int named, rma_gptr_t dest,
                                        const void *source, size_t len, rma_gptr_t signal, uint64_t value, int op,
                                        int nbi) {
    uint64_t *word = (uint64_t *)rma_gptr_there_(ctx, named, signal, sizeof *word);
    const uint32_t *complete = named ? &rma_context_of_(ctx)->complete : &rma_reach_.complete;
    void *there = rma_gptr_there_(ctx, named, dest, len);
    if (!RMA_LIKELY_(there != NULL && word != NULL && (signal & (sizeof *word - 1)) == 0 &&
                     rma_puts_complete_(complete) && (op == RMA_SIGNAL_SET || op == RMA_SIGNAL_ADD)))
        return rma_gptr_put_signal_slow_(call, ctx, dest, source, len, signal, value, op, nbi);
    rma_move_(there, source, len);
    if (op == RMA_SIGNAL_SET)
        __atomic_store_n(word, value, __ATOMIC_RELEASE);
    else
        __atomic_fetch_add(word, value, __ATOMIC_ACQ_REL);
    return RMA_SUCCESS;
}

#define RMA_GPTR_PUT_SIGNAL_(F, CALL, NBI)                                                                             \
    RMA_INLINE_ int CALL(RMA_##F##_CTX_ rma_gptr_t dest, const void *source, size_t len, rma_gptr_t signal,            \
                         uint64_t value, int op) {                                                                     \
        return rma_gptr_put_signal_as_(#CALL, RMA_##F##_OF_, dest, source, len, signal, value, op, NBI);               \
    }
RMA_GPTR_PUT_SIGNAL_(SYM, rma_gptr_put_signal, 0)
RMA_GPTR_PUT_SIGNAL_(SYM, rma_gptr_put_signal_nbi, 1)
RMA_GPTR_PUT_SIGNAL_(CTX, rma_ctx_gptr_put_signal, 0)
RMA_GPTR_PUT_SIGNAL_(CTX, rma_ctx_gptr_put_signal_nbi, 1)

/* Atomics by global pointer, as those by address above. */
RMA_ALWAYS_ uint64_t rma_gptr_fetch_as_(const char *call, int op, rma_gptr_t g, size_t len, uint64_t value,
                                        uint64_t cond) {
    void *word = rma_gptr_word_(g, len);
    uint64_t bits = 0;
    if (RMA_LIKELY_(word != NULL)) return rma_apply_(op, word, len, value, cond);
    rma_gptr_atomic_slow_(call, op, g, len, value, cond, &bits);
    return len == 4 ? (uint32_t)bits : bits;
}

RMA_ALWAYS_ int rma_gptr_update_as_(const char *call, int op, rma_gptr_t g, size_t len, uint64_t value) {
    void *word = rma_gptr_word_(g, len);
    if (!RMA_LIKELY_(word != NULL)) return rma_gptr_atomic_slow_(call, op, g, len, value, 0, NULL);
    (void)rma_apply_(op, word, len, value, 0);
    return RMA_SUCCESS;
}

RMA_ALWAYS_ int rma_gptr_fetch_nbi_as_(const char *call, void *fetch, int op, rma_gptr_t g, size_t len, uint64_t value,
                                       uint64_t cond) {
    void *word = rma_gptr_word_(g, len);
    if (!RMA_LIKELY_(word != NULL)) return rma_gptr_atomic_nbi_slow_(call, op, g, len, value, cond, fetch);
    rma_fetched_(fetch, len, rma_apply_(op, word, len, value, cond));
    return RMA_SUCCESS;
}

#ifdef RMA_PROFILE
#pragma GCC diagnostic pop
#endif

#endif
