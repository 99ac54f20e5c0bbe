/* SPDX-License-Identifier: BSD-3-Clause */
/* The external definitions of the inlined calls (C11 6.7.4): what -O0, other languages and debuggers link to. */
#include "config.h"

#include "rma.h"

/* clang-format off */
extern inline uint32_t rma_slot_(int pe);
extern inline void *rma_reach_ptr_(const void *addr, size_t len, int pe);
extern inline void rma_move_(void *dest, const void *source, size_t len);
extern inline void *rma_atomic_ptr_(const void *target, size_t len, int pe);
extern inline void *rma_gptr_ptr_(rma_gptr_t g, size_t len);
extern inline uint64_t *rma_gptr_word_(rma_gptr_t g);

extern inline int rma_put(void *dest, const void *source, size_t len, int pe);
extern inline int rma_get(void *dest, const void *source, size_t len, int pe);
extern inline int rma_put_nbi(void *dest, const void *source, size_t len, int pe);
extern inline int rma_get_nbi(void *dest, const void *source, size_t len, int pe);
extern inline int rma_put_signal(void *dest, const void *source, size_t len, uint64_t *signal, uint64_t value, int op, int pe);
extern inline int rma_fence(void);
extern inline int rma_quiet(void);

extern inline int rma_gptr_pe(rma_gptr_t g);
extern inline ptrdiff_t rma_gptr_diff(rma_gptr_t a, rma_gptr_t b);
extern inline int rma_gptr_put(rma_gptr_t dest, const void *source, size_t len);
extern inline int rma_gptr_get(void *dest, rma_gptr_t source, size_t len);
extern inline uint64_t rma_gptr_atomic_fetch(rma_gptr_t source);
extern inline int rma_gptr_atomic_set(rma_gptr_t dest, uint64_t value);
extern inline uint64_t rma_gptr_atomic_swap(rma_gptr_t dest, uint64_t value);
extern inline uint64_t rma_gptr_atomic_compare_swap(rma_gptr_t dest, uint64_t cond, uint64_t value);
extern inline uint64_t rma_gptr_atomic_fetch_add(rma_gptr_t dest, uint64_t value);
extern inline uint64_t rma_gptr_atomic_fetch_and(rma_gptr_t dest, uint64_t value);
extern inline uint64_t rma_gptr_atomic_fetch_or(rma_gptr_t dest, uint64_t value);
extern inline uint64_t rma_gptr_atomic_fetch_xor(rma_gptr_t dest, uint64_t value);

#define VALUE(NAME, TYPE)                                            \
    extern inline int rma_p_##NAME(TYPE *dest, TYPE value, int pe);  \
    extern inline TYPE rma_g_##NAME(const TYPE *source, int pe);
RMA_TYPES(VALUE)
RMA_TYPE_ALIASES(VALUE)

#define ATOMIC(NAME, TYPE)                                                                      \
    extern inline TYPE rma_atomic_fetch_##NAME(const TYPE *source, int pe);                     \
    extern inline int rma_atomic_set_##NAME(TYPE *dest, TYPE value, int pe);                    \
    extern inline TYPE rma_atomic_swap_##NAME(TYPE *dest, TYPE value, int pe);                  \
    extern inline TYPE rma_atomic_compare_swap_##NAME(TYPE *dest, TYPE cond, TYPE value, int pe); \
    extern inline TYPE rma_atomic_fetch_add_##NAME(TYPE *dest, TYPE value, int pe);             \
    extern inline int rma_atomic_add_##NAME(TYPE *dest, TYPE value, int pe);
RMA_ATOMIC_TYPES(ATOMIC)
RMA_ATOMIC_TYPE_ALIASES(ATOMIC)

#define ATOMIC_NBI(NAME, TYPE)                                                                                        \
    extern inline int rma_atomic_fetch_nbi_##NAME(TYPE *fetch, const TYPE *source, int pe);                           \
    extern inline int rma_atomic_swap_nbi_##NAME(TYPE *fetch, TYPE *dest, TYPE value, int pe);                        \
    extern inline int rma_atomic_compare_swap_nbi_##NAME(TYPE *fetch, TYPE *dest, TYPE cond, TYPE value, int pe);     \
    extern inline int rma_atomic_fetch_add_nbi_##NAME(TYPE *fetch, TYPE *dest, TYPE value, int pe);

RMA_ATOMIC_TYPES(ATOMIC_NBI)
RMA_ATOMIC_TYPE_ALIASES(ATOMIC_NBI)
