/* SPDX-License-Identifier: BSD-3-Clause */
/* What the wrappers of all interfaces have in common. */
#ifndef TRACE_CALLS_H
#define TRACE_CALLS_H

#include "rma.h"

#include "instruments/call_lists/next.h"
#include "instruments/trace/group.h"
#include "instruments/trace/job.h"
#include "instruments/trace/record.h"
#include "instruments/trace/say.h"

/* TRACE_NEXT(the function) declares `next`, the next library's function of the name. */
#define TRACE_NEXT(CALL) CALLS_NEXT(CALL, trace_say)

#define TRACE_INLINED static inline __attribute__((always_inline, unused))

/* A remote address, as the record has it (struct trace_event). */
TRACE_INLINED uint64_t trace_place(const void *addr) {
    uintptr_t offset = (uintptr_t)addr - rma_reach_.base;
    return offset < RMA_REACH_SIZE_ ? offset : TRACE_ABSOLUTE | ((uintptr_t)addr - trace_job.bias);
}

TRACE_INLINED uint64_t trace_gptr_place(rma_gptr_t g) {
    uint64_t offset = g & (((rma_gptr_t)1 << RMA_GPTR_BITS_) - 1);
    return offset >= rma_reach_.symmetric && offset < rma_reach_.local ? offset - rma_reach_.symmetric
                                                                       : TRACE_ABSOLUTE | offset;
}
#define TRACE_GPTR_PE(g) ((int)((g) >> RMA_GPTR_BITS_))

struct trace_target {
    uint64_t place;
    int pe; /* a number in the job */
};

/* A PE of the context's team, as a number in the job; and the context's own number. */
TRACE_INLINED int trace_pe(const rma_ctx *ctx, int pe) {
    const struct rma_context_ *c;
    if (ctx == RMA_CTX_DEFAULT) return pe;
    c = rma_context_of_(ctx);
    if (!RMA_IS_CONTEXT_(c, ctx) || !c->n) return trace_context_pe(ctx, pe);
    return (uint32_t)pe < c->n ? c->start + pe * c->stride : -1;
}

TRACE_INLINED uint32_t trace_context(const rma_ctx *ctx) {
    return ctx == RMA_CTX_DEFAULT ? 0 : 1 + (((uint32_t)(uintptr_t)ctx - 1) & rma_reach_.contexts_mask);
}

/* The bytes of sections and lists; 0 for arguments that the library refuses. */
TRACE_INLINED uint64_t trace_bytes_of_section(const size_t *count, int dims, size_t elem) {
    uint64_t n = elem;
    if (!count) return 0;
    for (int i = 0; i < dims; i++) n *= count[i];
    return n;
}

TRACE_INLINED uint64_t trace_bytes_of_blocks(const struct rma_block *list, size_t n, const struct rma_block *other,
                                             size_t n_other) {
    uint64_t bytes = 0;
    for (size_t i = 0; list && i < n; i++) bytes += list[i].len;
    for (size_t i = 0; !list && other && i < n_other; i++) bytes += other[i].len;
    return bytes;
}

/* A collective of a group (NULL: unknown). root: the PE's number in the team, -1: none. */
#define TRACE_MEET(KIND, NAME, GROUP, ROOT, BYTES, CALL)                                                               \
    do {                                                                                                               \
        struct trace_group_of *group_ = NULL;                                                                          \
        struct trace_thread *thread_ = trace_enter();                                                                  \
        uint64_t start_ = 0;                                                                                           \
        if (thread_) {                                                                                                 \
            group_ = (GROUP);                                                                                          \
            start_ = trace_ticks();                                                                                    \
        }                                                                                                              \
        CALL;                                                                                                          \
        if (thread_)                                                                                                   \
            trace_leave(thread_, start_,                                                                               \
                        &(struct trace_done){.kind = (KIND),                                                           \
                                             .pe = trace_group_pe(group_, ROOT),                                       \
                                             .name = (NAME),                                                           \
                                             .pc = CALLS_HERE,                                                         \
                                             .bytes = (uint64_t)(BYTES),                                               \
                                             .addr = group_ ? group_->hash : 0,                                        \
                                             .more = group_ ? ++group_->n_meetings : 0});                              \
    } while (0)

#endif
