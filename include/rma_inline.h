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

/* What this PE reaches by load and store. Written by rma_init, by the growth of the symmetric heap (a
 * collective call) and by rma_finalize; read by every call. Part of the binary interface: fields are
 * only appended. While n_node > 0: size >= RMA_SIZE_MIN_, and there[q] = node_base + q * stride is the
 * symmetric part of the node's PE q, base = there[slot]. */
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
    uint32_t calm;       /* 1 while running with nothing pending that only rma_quiet_slow_ completes */
    size_t symmetric;    /* from a reservation's first byte to its symmetric part */
    size_t local;        /* and to its local heap: where offsets of global pointers change kind */
    size_t stream_min;   /* copies of at least this many bytes go through rma_copy_ */
    size_t guest;        /* from a reservation's first byte to the part of the local heap where others allocate */
};

#define RMA_SIZE_MIN_ 4096

/* On lines of its own, of which the common path reads one. */
extern struct rma_reach_ rma_reach_ __attribute__((aligned(64)));

void rma_copy_(void *dest, const void *source, size_t len);
int rma_put_slow_(const char *call, void *dest, const void *source, size_t len, int pe);
int rma_get_slow_(const char *call, void *dest, const void *source, size_t len, int pe);
int rma_p_slow_(const char *call, void *dest, const void *source, size_t len, int pe);
int rma_put_nbi_slow_(const char *call, void *dest, const void *source, size_t len, int pe);
int rma_get_nbi_slow_(const char *call, void *dest, const void *source, size_t len, int pe);
int rma_atomic_slow_(const char *call, int op, const void *target, size_t len, uint64_t value, uint64_t cond, int pe,
                     uint64_t *old);
int rma_atomic_nbi_slow_(const char *call, int op, const void *target, size_t len, uint64_t value, uint64_t cond, int pe,
                         void *fetch);
int rma_put_signal_slow_(void *dest, const void *source, size_t len, uint64_t *signal, uint64_t value, int op, int pe);
int rma_gptr_put_slow_(const char *call, rma_gptr_t dest, const void *source, size_t len);
int rma_gptr_get_slow_(const char *call, void *dest, rma_gptr_t source, size_t len);
int rma_gptr_atomic_slow_(const char *call, int op, rma_gptr_t g, uint64_t value, uint64_t cond, uint64_t *old);
int rma_quiet_slow_(const char *call);

#define RMA_LIKELY_(x) __builtin_expect(!!(x), 1)

/* The node's q of pe, or a number >= n_node: see above. */
inline uint32_t rma_slot_(int pe) {
    uint32_t q = ((uint32_t)pe - rma_reach_.first) * rma_reach_.inverse;
    return (q >> rma_reach_.shift) | (q << (-rma_reach_.shift & 31));
}

/* The address of pe's copy of the symmetric range [addr, addr + len), or NULL if this look cannot tell. The
 * lengths that the compiler knows need one compare less: size - len cannot be negative then. */
inline void *rma_reach_ptr_(const void *addr, size_t len, int pe) {
    uint32_t slot = rma_slot_(pe);
    uintptr_t offset = (uintptr_t)addr - rma_reach_.base;
    int fits = (__builtin_constant_p(len) && len <= RMA_SIZE_MIN_) || len <= rma_reach_.size;
    if (RMA_LIKELY_(slot < rma_reach_.n_node && fits && offset <= rma_reach_.size - len)) {
        char *there = (char *)(rma_reach_.node_base + slot * rma_reach_.stride + offset);
        if (!there) __builtin_unreachable(); /* no heap begins at address 0: saves the caller's second test */
        return there;
    }
    return NULL;
}

/* Constant lengths become moves, the others a call of memcpy or, if long, of rma_copy_. */
inline void rma_move_(void *dest, const void *source, size_t len) {
    if ((__builtin_constant_p(len) && len <= RMA_SIZE_MIN_) || len < rma_reach_.stream_min)
        memcpy(dest, source, len);
    else
        rma_copy_(dest, source, len);
}

inline int rma_put(void *dest, const void *source, size_t len, int pe) {
    void *there = rma_reach_ptr_(dest, len, pe);
    if (RMA_LIKELY_(there != NULL)) {
        rma_move_(there, source, len);
        return RMA_SUCCESS;
    }
    return rma_put_slow_("rma_put", dest, source, len, pe);
}

inline int rma_get(void *dest, const void *source, size_t len, int pe) {
    const void *there = rma_reach_ptr_(source, len, pe);
    if (RMA_LIKELY_(there != NULL)) {
        rma_move_(dest, there, len);
        return RMA_SUCCESS;
    }
    return rma_get_slow_("rma_get", dest, source, len, pe);
}

inline int rma_put_nbi(void *dest, const void *source, size_t len, int pe) {
    void *there = rma_reach_ptr_(dest, len, pe);
    if (RMA_LIKELY_(there != NULL)) {
        rma_move_(there, source, len);
        return RMA_SUCCESS;
    }
    return rma_put_nbi_slow_("rma_put_nbi", dest, source, len, pe);
}

inline int rma_get_nbi(void *dest, const void *source, size_t len, int pe) {
    const void *there = rma_reach_ptr_(source, len, pe);
    if (RMA_LIKELY_(there != NULL)) {
        rma_move_(dest, there, len);
        return RMA_SUCCESS;
    }
    return rma_get_nbi_slow_("rma_get_nbi", dest, source, len, pe);
}

/* One store or load for each type that the machine moves whole; a relaxed atomic, so that by C11 too no reader
 * sees half a value. (The condition is a constant: one branch is compiled.) */
#define RMA_VALUE_(NAME, TYPE)                                                                          \
    inline int rma_p_##NAME(TYPE *dest, TYPE value, int pe) {                                           \
        TYPE *there = (TYPE *)rma_reach_ptr_(dest, sizeof value, pe);                                   \
        if (!RMA_LIKELY_(there != NULL))                                                                \
            return rma_p_slow_("rma_p_" #NAME, dest, &value, sizeof value, pe);                       \
        if (sizeof value <= 8)                                                                          \
            __atomic_store(there, &value, __ATOMIC_RELAXED);                                            \
        else                                                                                            \
            memcpy(there, &value, sizeof value);                                                        \
        return RMA_SUCCESS;                                                                             \
    }                                                                                                   \
    inline TYPE rma_g_##NAME(const TYPE *source, int pe) {                                              \
        TYPE value = 0;                                                                                 \
        TYPE *there = (TYPE *)rma_reach_ptr_(source, sizeof value, pe);                                 \
        if (!RMA_LIKELY_(there != NULL))                                                                \
            rma_get_slow_("rma_g_" #NAME, &value, source, sizeof value, pe);                            \
        else if (sizeof value <= 8)                                                                     \
            __atomic_load(there, &value, __ATOMIC_RELAXED);                                             \
        else                                                                                            \
            memcpy(&value, there, sizeof value);                                                        \
        return value;                                                                                   \
    }

/* The 16-byte long double takes the memcpy branch; what clang says about the other one is no news. */
#pragma GCC diagnostic push
#ifdef __clang__
#pragma GCC diagnostic ignored "-Watomic-alignment"
#endif
RMA_TYPES(RMA_VALUE_)
RMA_TYPE_ALIASES(RMA_VALUE_)
#pragma GCC diagnostic pop

/* Orders. Release: a put, then a fence, then a put that a peer sees: it sees the first too. */
inline int rma_fence(void) {
    __atomic_thread_fence(__ATOMIC_RELEASE);
    if (RMA_LIKELY_(rma_reach_.calm)) return RMA_SUCCESS;
    return rma_quiet_slow_("rma_fence");
}

inline int rma_quiet(void) {
    __atomic_thread_fence(__ATOMIC_RELEASE);
    if (RMA_LIKELY_(rma_reach_.calm)) return RMA_SUCCESS;
    return rma_quiet_slow_("rma_quiet");
}

/* The operations that the slow calls are asked for: part of the binary interface. */
enum rma_atomic_op_ {
    RMA_FETCH_,
    RMA_SET_,
    RMA_SWAP_,
    RMA_COMPARE_SWAP_,
    RMA_FETCH_ADD_,
    RMA_FETCH_AND_,
    RMA_FETCH_OR_,
    RMA_FETCH_XOR_
};

/* Atomics. ACQ_REL: what the doc promises. */
inline void *rma_atomic_ptr_(const void *target, size_t len, int pe) {
    void *there = rma_reach_ptr_(target, len, pe);
    /* Not calm: puts to other nodes are under way, which a release comes after. */
    return RMA_LIKELY_(there != NULL && ((uintptr_t)target & (len - 1)) == 0 && rma_reach_.calm) ? there : NULL;
}

#define RMA_ATOMIC_SLOW_(NAME, OP, TARGET, VALUE, COND, OLD)                                            \
    rma_atomic_slow_("rma_atomic_" NAME, OP, TARGET, sizeof *t, (uint64_t)(VALUE), (uint64_t)(COND), pe, OLD)

#define RMA_ATOMIC_(NAME, TYPE)                                                                         \
    inline TYPE rma_atomic_fetch_##NAME(const TYPE *source, int pe) {                                   \
        TYPE *t = (TYPE *)rma_atomic_ptr_(source, sizeof *t, pe);                                       \
        uint64_t old = 0;                                                                               \
        if (RMA_LIKELY_(t != NULL)) return __atomic_load_n(t, __ATOMIC_ACQUIRE);                        \
        RMA_ATOMIC_SLOW_("fetch_" #NAME, RMA_FETCH_, source, 0, 0, &old);                               \
        return (TYPE)old;                                                                               \
    }                                                                                                   \
    inline int rma_atomic_set_##NAME(TYPE *dest, TYPE value, int pe) {                                  \
        TYPE *t = (TYPE *)rma_atomic_ptr_(dest, sizeof *t, pe);                                         \
        if (!RMA_LIKELY_(t != NULL)) return RMA_ATOMIC_SLOW_("set_" #NAME, RMA_SET_, dest, value, 0, NULL);   \
        __atomic_store_n(t, value, __ATOMIC_RELEASE);                                                   \
        return RMA_SUCCESS;                                                                             \
    }                                                                                                   \
    inline TYPE rma_atomic_swap_##NAME(TYPE *dest, TYPE value, int pe) {                                \
        TYPE *t = (TYPE *)rma_atomic_ptr_(dest, sizeof *t, pe);                                         \
        uint64_t old = 0;                                                                               \
        if (RMA_LIKELY_(t != NULL)) return __atomic_exchange_n(t, value, __ATOMIC_ACQ_REL);             \
        RMA_ATOMIC_SLOW_("swap_" #NAME, RMA_SWAP_, dest, value, 0, &old);                                     \
        return (TYPE)old;                                                                               \
    }                                                                                                   \
    inline TYPE rma_atomic_compare_swap_##NAME(TYPE *dest, TYPE cond, TYPE value, int pe) {             \
        TYPE *t = (TYPE *)rma_atomic_ptr_(dest, sizeof *t, pe);                                         \
        uint64_t old = 0;                                                                               \
        if (RMA_LIKELY_(t != NULL)) {                                                                   \
            __atomic_compare_exchange_n(t, &cond, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);        \
            return cond;                                                                                \
        }                                                                                               \
        RMA_ATOMIC_SLOW_("compare_swap_" #NAME, RMA_COMPARE_SWAP_, dest, value, cond, &old);                  \
        return (TYPE)old;                                                                               \
    }                                                                                                   \
    inline TYPE rma_atomic_fetch_add_##NAME(TYPE *dest, TYPE value, int pe) {                           \
        TYPE *t = (TYPE *)rma_atomic_ptr_(dest, sizeof *t, pe);                                         \
        uint64_t old = 0;                                                                               \
        if (RMA_LIKELY_(t != NULL)) return __atomic_fetch_add(t, value, __ATOMIC_ACQ_REL);              \
        RMA_ATOMIC_SLOW_("fetch_add_" #NAME, RMA_FETCH_ADD_, dest, value, 0, &old);                           \
        return (TYPE)old;                                                                               \
    }                                                                                                   \
    inline int rma_atomic_add_##NAME(TYPE *dest, TYPE value, int pe) {                                  \
        TYPE *t = (TYPE *)rma_atomic_ptr_(dest, sizeof *t, pe);                                         \
        if (!RMA_LIKELY_(t != NULL)) return RMA_ATOMIC_SLOW_("add_" #NAME, RMA_FETCH_ADD_, dest, value, 0, NULL); \
        __atomic_fetch_add(t, value, __ATOMIC_ACQ_REL);                                                 \
        return RMA_SUCCESS;                                                                             \
    }

RMA_ATOMIC_TYPES(RMA_ATOMIC_)
RMA_ATOMIC_TYPE_ALIASES(RMA_ATOMIC_)

#define RMA_ATOMIC_NBI_SLOW_(NAME, OP, TARGET, VALUE, COND)                                             \
    rma_atomic_nbi_slow_("rma_atomic_" NAME, OP, TARGET, sizeof *t, (uint64_t)(VALUE), (uint64_t)(COND), pe, fetch)

#define RMA_ATOMIC_NBI_(NAME, TYPE)                                                                     \
    inline int rma_atomic_fetch_nbi_##NAME(TYPE *fetch, const TYPE *source, int pe) {                   \
        TYPE *t = (TYPE *)rma_atomic_ptr_(source, sizeof *t, pe);                                       \
        if (!RMA_LIKELY_(t != NULL)) return RMA_ATOMIC_NBI_SLOW_("fetch_nbi_" #NAME, RMA_FETCH_, source, 0, 0); \
        *fetch = __atomic_load_n(t, __ATOMIC_ACQUIRE);                                                  \
        return RMA_SUCCESS;                                                                             \
    }                                                                                                   \
    inline int rma_atomic_swap_nbi_##NAME(TYPE *fetch, TYPE *dest, TYPE value, int pe) {                \
        TYPE *t = (TYPE *)rma_atomic_ptr_(dest, sizeof *t, pe);                                         \
        if (!RMA_LIKELY_(t != NULL)) return RMA_ATOMIC_NBI_SLOW_("swap_nbi_" #NAME, RMA_SWAP_, dest, value, 0); \
        *fetch = __atomic_exchange_n(t, value, __ATOMIC_ACQ_REL);                                       \
        return RMA_SUCCESS;                                                                             \
    }                                                                                                   \
    inline int rma_atomic_compare_swap_nbi_##NAME(TYPE *fetch, TYPE *dest, TYPE cond, TYPE value, int pe) { \
        TYPE *t = (TYPE *)rma_atomic_ptr_(dest, sizeof *t, pe);                                         \
        if (!RMA_LIKELY_(t != NULL))                                                                    \
            return RMA_ATOMIC_NBI_SLOW_("compare_swap_nbi_" #NAME, RMA_COMPARE_SWAP_, dest, value, cond); \
        __atomic_compare_exchange_n(t, &cond, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);            \
        *fetch = cond;                                                                                  \
        return RMA_SUCCESS;                                                                             \
    }                                                                                                   \
    inline int rma_atomic_fetch_add_nbi_##NAME(TYPE *fetch, TYPE *dest, TYPE value, int pe) {           \
        TYPE *t = (TYPE *)rma_atomic_ptr_(dest, sizeof *t, pe);                                         \
        if (!RMA_LIKELY_(t != NULL)) return RMA_ATOMIC_NBI_SLOW_("fetch_add_nbi_" #NAME, RMA_FETCH_ADD_, dest, value, 0); \
        *fetch = __atomic_fetch_add(t, value, __ATOMIC_ACQ_REL);                                        \
        return RMA_SUCCESS;                                                                             \
    }

RMA_ATOMIC_TYPES(RMA_ATOMIC_NBI_)
RMA_ATOMIC_TYPE_ALIASES(RMA_ATOMIC_NBI_)

inline int rma_put_signal(void *dest, const void *source, size_t len, uint64_t *signal, uint64_t value, int op, int pe) {
    void *there = rma_reach_ptr_(dest, len, pe);
    uint64_t *word = (uint64_t *)rma_atomic_ptr_(signal, sizeof *signal, pe);
    if (!RMA_LIKELY_(there != NULL && word != NULL && (op == RMA_SIGNAL_SET || op == RMA_SIGNAL_ADD)))
        return rma_put_signal_slow_(dest, source, len, signal, value, op, pe);
    rma_move_(there, source, len);
    if (op == RMA_SIGNAL_SET)
        __atomic_store_n(word, value, __ATOMIC_RELEASE);
    else
        __atomic_fetch_add(word, value, __ATOMIC_ACQ_REL);
    return RMA_SUCCESS;
}

/* Global pointers: owner << 40 | offset in the owner's reservation. The first two words of each reservation say how far its
 * local heap and the guests' part of it are committed, so that a wrong offset is found out before it is touched. Offsets
 * from RMA_GPTR_ATTACHED_ up are of attached memory, which the slow calls know. */
#define RMA_GPTR_BITS_ 40
#define RMA_GPTR_ATTACHED_ ((rma_gptr_t)3 << 38)

inline int rma_gptr_pe(rma_gptr_t g) { return (int)(g >> RMA_GPTR_BITS_); }

inline ptrdiff_t rma_gptr_diff(rma_gptr_t a, rma_gptr_t b) { return (ptrdiff_t)(a - b); }

inline void *rma_gptr_ptr_(rma_gptr_t g, size_t len) {
    uint32_t slot = rma_slot_(rma_gptr_pe(g));
    size_t offset = (size_t)(g & (((rma_gptr_t)1 << RMA_GPTR_BITS_) - 1));
    char *space = (char *)(rma_reach_.node_base + slot * rma_reach_.stride - rma_reach_.symmetric);
    size_t extent;
    if (!RMA_LIKELY_(slot < rma_reach_.n_node)) return NULL;
    if (RMA_LIKELY_(offset >= rma_reach_.local)) {
        /* Pairs with the release store by which a commit is published. */
        extent = __atomic_load_n((size_t *)(void *)space + (offset >= rma_reach_.guest), __ATOMIC_ACQUIRE);
        if (RMA_LIKELY_(len <= extent && offset <= extent - len)) return space + offset;
    } else if (offset >= rma_reach_.symmetric && len <= rma_reach_.size &&
               offset - rma_reach_.symmetric <= rma_reach_.size - len) {
        return space + offset;
    }
    return NULL;
}

inline int rma_gptr_put(rma_gptr_t dest, const void *source, size_t len) {
    void *there = rma_gptr_ptr_(dest, len);
    if (!RMA_LIKELY_(there != NULL)) return rma_gptr_put_slow_("rma_gptr_put", dest, source, len);
    rma_move_(there, source, len);
    return RMA_SUCCESS;
}

inline int rma_gptr_get(void *dest, rma_gptr_t source, size_t len) {
    const void *there = rma_gptr_ptr_(source, len);
    if (!RMA_LIKELY_(there != NULL)) return rma_gptr_get_slow_("rma_gptr_get", dest, source, len);
    rma_move_(dest, there, len);
    return RMA_SUCCESS;
}

/* The word of g, or NULL if this look cannot tell. */
inline uint64_t *rma_gptr_word_(rma_gptr_t g) {
    void *there = rma_gptr_ptr_(g, 8);
    return RMA_LIKELY_(there != NULL && (g & 7) == 0 && rma_reach_.calm) ? (uint64_t *)there : NULL;
}

inline uint64_t rma_gptr_atomic_fetch(rma_gptr_t source) {
    uint64_t *t = rma_gptr_word_(source), old = 0;
    if (RMA_LIKELY_(t != NULL)) return __atomic_load_n(t, __ATOMIC_ACQUIRE);
    rma_gptr_atomic_slow_("rma_gptr_atomic_fetch", RMA_FETCH_, source, 0, 0, &old);
    return old;
}

inline int rma_gptr_atomic_set(rma_gptr_t dest, uint64_t value) {
    uint64_t *t = rma_gptr_word_(dest);
    if (!RMA_LIKELY_(t != NULL)) return rma_gptr_atomic_slow_("rma_gptr_atomic_set", RMA_SET_, dest, value, 0, NULL);
    __atomic_store_n(t, value, __ATOMIC_RELEASE);
    return RMA_SUCCESS;
}

inline uint64_t rma_gptr_atomic_swap(rma_gptr_t dest, uint64_t value) {
    uint64_t *t = rma_gptr_word_(dest), old = 0;
    if (RMA_LIKELY_(t != NULL)) return __atomic_exchange_n(t, value, __ATOMIC_ACQ_REL);
    rma_gptr_atomic_slow_("rma_gptr_atomic_swap", RMA_SWAP_, dest, value, 0, &old);
    return old;
}

inline uint64_t rma_gptr_atomic_compare_swap(rma_gptr_t dest, uint64_t cond, uint64_t value) {
    uint64_t *t = rma_gptr_word_(dest), old = 0;
    if (RMA_LIKELY_(t != NULL)) {
        __atomic_compare_exchange_n(t, &cond, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
        return cond;
    }
    rma_gptr_atomic_slow_("rma_gptr_atomic_compare_swap", RMA_COMPARE_SWAP_, dest, value, cond, &old);
    return old;
}

#define RMA_GPTR_FETCH_(OP, CODE)                                                              \
    inline uint64_t rma_gptr_atomic_fetch_##OP(rma_gptr_t dest, uint64_t value) {              \
        uint64_t *t = rma_gptr_word_(dest), old = 0;                                           \
        if (RMA_LIKELY_(t != NULL)) return __atomic_fetch_##OP(t, value, __ATOMIC_ACQ_REL);    \
        rma_gptr_atomic_slow_("rma_gptr_atomic_fetch_" #OP, CODE, dest, value, 0, &old);       \
        return old;                                                                            \
    }

RMA_GPTR_FETCH_(add, RMA_FETCH_ADD_)
RMA_GPTR_FETCH_(and, RMA_FETCH_AND_)
RMA_GPTR_FETCH_(or, RMA_FETCH_OR_)
RMA_GPTR_FETCH_(xor, RMA_FETCH_XOR_)

/* The generic front. A type outside the tables is a compile-time error that names the macro. */
#if !defined(__cplusplus) && __STDC_VERSION__ >= 201112L
#define RMA_CASE_P_(NAME, TYPE) , TYPE: rma_p_##NAME
#define RMA_CASE_G_(NAME, TYPE) , TYPE: rma_g_##NAME
#define RMA_CASE_FETCH_(NAME, TYPE) , TYPE: rma_atomic_fetch_##NAME
#define RMA_CASE_SET_(NAME, TYPE) , TYPE: rma_atomic_set_##NAME
#define RMA_CASE_SWAP_(NAME, TYPE) , TYPE: rma_atomic_swap_##NAME
#define RMA_CASE_CSWAP_(NAME, TYPE) , TYPE: rma_atomic_compare_swap_##NAME
#define RMA_CASE_FADD_(NAME, TYPE) , TYPE: rma_atomic_fetch_add_##NAME
#define RMA_CASE_ADD_(NAME, TYPE) , TYPE: rma_atomic_add_##NAME
#define RMA_CASE_FETCH_NBI_(NAME, TYPE) , TYPE: rma_atomic_fetch_nbi_##NAME
#define RMA_CASE_SWAP_NBI_(NAME, TYPE) , TYPE: rma_atomic_swap_nbi_##NAME
#define RMA_CASE_CSWAP_NBI_(NAME, TYPE) , TYPE: rma_atomic_compare_swap_nbi_##NAME
#define RMA_CASE_FADD_NBI_(NAME, TYPE) , TYPE: rma_atomic_fetch_add_nbi_##NAME

#define rma_p(dest, value, pe) _Generic(*(dest) RMA_TYPES(RMA_CASE_P_))(dest, value, pe)
#define rma_g(source, pe) _Generic(*(source) RMA_TYPES(RMA_CASE_G_))(source, pe)
#define rma_atomic_fetch(source, pe) _Generic(*(source) RMA_ATOMIC_TYPES(RMA_CASE_FETCH_))(source, pe)
#define rma_atomic_set(dest, value, pe) _Generic(*(dest) RMA_ATOMIC_TYPES(RMA_CASE_SET_))(dest, value, pe)
#define rma_atomic_swap(dest, value, pe) _Generic(*(dest) RMA_ATOMIC_TYPES(RMA_CASE_SWAP_))(dest, value, pe)
#define rma_atomic_compare_swap(dest, cond, value, pe)                                                  \
    _Generic(*(dest) RMA_ATOMIC_TYPES(RMA_CASE_CSWAP_))(dest, cond, value, pe)
#define rma_atomic_fetch_add(dest, value, pe)                                                           \
    _Generic(*(dest) RMA_ATOMIC_TYPES(RMA_CASE_FADD_))(dest, value, pe)
#define rma_atomic_add(dest, value, pe) _Generic(*(dest) RMA_ATOMIC_TYPES(RMA_CASE_ADD_))(dest, value, pe)
#define rma_atomic_fetch_nbi(fetch, source, pe) _Generic(*(source) RMA_ATOMIC_TYPES(RMA_CASE_FETCH_NBI_))(fetch, source, pe)
#define rma_atomic_swap_nbi(fetch, dest, value, pe)                                                     \
    _Generic(*(dest) RMA_ATOMIC_TYPES(RMA_CASE_SWAP_NBI_))(fetch, dest, value, pe)
#define rma_atomic_compare_swap_nbi(fetch, dest, cond, value, pe)                                       \
    _Generic(*(dest) RMA_ATOMIC_TYPES(RMA_CASE_CSWAP_NBI_))(fetch, dest, cond, value, pe)
#define rma_atomic_fetch_add_nbi(fetch, dest, value, pe)                                                \
    _Generic(*(dest) RMA_ATOMIC_TYPES(RMA_CASE_FADD_NBI_))(fetch, dest, value, pe)
#endif

#endif
