/* SPDX-License-Identifier: BSD-3-Clause */
/* What the wrappers of all interfaces have in common. */
#ifndef TRACE_CALLS_H
#define TRACE_CALLS_H

#include "rma.h"

#include "trace/group.h"
#include "trace/job.h"
#include "trace/record.h"

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

/* A PE of the context's team, as a number in the job; and the context's own number. */
TRACE_INLINED int trace_pe(const rma_ctx *ctx, int named, int pe) {
    const struct rma_context_ *c;
    if (!named || ctx == RMA_CTX_DEFAULT) return pe;
    c = rma_context_of_(ctx);
    if (!RMA_IS_CONTEXT_(c, ctx) || !c->n) return trace_context_pe(ctx, pe);
    return (uint32_t)pe < c->n ? c->start + pe * c->stride : -1;
}

TRACE_INLINED uint32_t trace_context(const rma_ctx *ctx, int named) {
    return !named || ctx == RMA_CTX_DEFAULT ? 0 : 1 + (((uint32_t)(uintptr_t)ctx - 1) & rma_reach_.contexts_mask);
}

/* For calls that exist in both forms (shmem_table.h, rma_inline.h). */
#define TRACE_CTX_OF_SYM RMA_CTX_DEFAULT, 0
#define TRACE_CTX_OF_CTX ctx, 1
#define TRACE_ARG_SYM
#define TRACE_ARG_CTX ctx,
#define TRACE_PE_SYM  pe
#define TRACE_PE_CTX  trace_pe(ctx, 1, pe)

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
                                             .pc = TRACE_HERE,                                                         \
                                             .bytes = (uint64_t)(BYTES),                                               \
                                             .addr = group_ ? group_->hash : 0,                                        \
                                             .more = group_ ? ++group_->n_meetings : 0});                              \
    } while (0)

/* Wrappers of calls with second names. */
#define TRACE_MEETING_OF(RESULT, KIND, CALL, PARAMETERS, GROUP, ROOT, BYTES, ...)                                      \
    extern __typeof__(CALL) p##CALL;                                                                                   \
    RESULT CALL PARAMETERS {                                                                                           \
        RESULT result;                                                                                                 \
        TRACE_MEET(KIND, #CALL, GROUP, ROOT, BYTES, result = p##CALL(__VA_ARGS__));                                    \
        return result;                                                                                                 \
    }
#define TRACE_MEETING_VOID(KIND, CALL, PARAMETERS, GROUP, ROOT, BYTES, ...)                                            \
    extern __typeof__(CALL) p##CALL;                                                                                   \
    void CALL PARAMETERS { TRACE_MEET(KIND, #CALL, GROUP, ROOT, BYTES, p##CALL(__VA_ARGS__)); }

/* Allocation of the symmetric heap, which is a barrier too. */
#define TRACE_ALLOCATES(CALL, PARAMETERS, SIZE, ...)                                                                   \
    extern __typeof__(CALL) p##CALL;                                                                                   \
    void *CALL PARAMETERS {                                                                                            \
        void *result;                                                                                                  \
        TRACE_MEET(TRACE_COLLECTIVE, #CALL, trace_world(), -1, SIZE, result = p##CALL(__VA_ARGS__));                   \
        trace_heap_changed();                                                                                          \
        return result;                                                                                                 \
    }

#endif
