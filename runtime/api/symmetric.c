/* SPDX-License-Identifier: BSD-3-Clause */
/* The public calls on the symmetric heap. Every PE runs the same allocator over its own memory with the same calls, so
 * all get equal offsets without exchanging them. They exchange only whether the calls are the same and whether all
 * could do their part:
 *
 *     allocate, or commit more memory -> agree -> (extend the heap by what all could commit, and once more)
 *
 * Each PE does its part before it knows that the others have called with the same arguments: so one meeting tells
 * everything. If a PE could not do it, or the arguments differ, all undo their step, which leaves every allocator as it
 * was. */
#include "config.h"

#include "base/attributes.h"
#include "base/error.h"
#include "heap/reserve.h"
#include "heap/segment.h"
#include "runtime/agree.h"
#include "runtime/context.h"
#include "runtime/window_memory.h"
#include "runtime/denied.h"
#include "runtime/interfaces.h"
#include "runtime/meet.h"
#include "runtime/reach.h"
#include "runtime/world.h"

#include <string.h>

#define ALIGNMENT     64
#define ALIGNMENT_MAX RMAI_ADDRESS_ALIGNMENT

/* Records that PE `pe` had no memory, on a PE that had enough. */
static int no_memory_elsewhere(const struct rmai_world *w, const char *call, int pe) {
    char headroom[RMAI_HEADROOM_TEXT];
    rmai_error(RMA_ERR_NO_MEM, "%s: PE %d has no memory for it; seen from PE %d, %s", call, pe, w->job.my_pe,
               rmai_commit_headroom(&w->reservation, headroom));
    if (w->symmetric.spares)
        rmai_error_add("; a part of that is left to the system and to MPI, since %s sets no limit",
                       w->symmetric.setting);
    return RMA_ERR_NO_MEM;
}

/* ---- allocation ---- */

/* What a PE states about its part of an allocation: NO_MEMORY (recorded); or the bytes by which it can extend its heap;
 * or HAS_BLOCK and the block's offset, if it needs no more. PEs with the same history all allocate, or all commit,
 * except those that have no memory. */
#define NO_MEMORY ((uint64_t)0)
#define HAS_BLOCK ((uint64_t)1 << 63)

struct request {
    const char *call;
    size_t alignment, size;
    int zero; /* clear the block before another PE can know it, and put to it */
};

/* Returns code. */
static int note_denied(const struct request *q, int code) {
    if (code == RMA_ERR_NO_MEM) rmai_denied(q->call, q->size);
    return code;
}

/* Blocks lie at multiples of their alignment from the heap's base. If the base is aligned as well, so are their
 * addresses. */
static int check_alignment(const struct rmai_world *w, const struct request *q) {
    if (RMAI_LIKELY(q->alignment <= w->job.heap_alignment)) return RMA_SUCCESS;
    return rmai_error(RMA_ERR_NO_MEM,
                      "no address that is a multiple of %zu: the system has refused PE %d the address space for it",
                      q->alignment, w->job.heap_alignment_pe);
}

static uint64_t try_request(struct rmai_world *w, const struct request *q, void **block) {
    struct rmai_segment *s = &w->symmetric;
    size_t want, got = 0;
    int full = 0;
    *block = NULL;
    if (q->size == 0) return HAS_BLOCK;
    if (check_alignment(w, q) == RMA_SUCCESS) *block = rmai_segment_alloc(s, q->call, q->alignment, q->size, &full);
    if (*block) {
        if (q->zero) memset(*block, 0, q->size);
        return HAS_BLOCK | (uint64_t)((const char *)*block - s->base);
    }
    if (full) {
        want = rmai_segment_want(s, q->alignment, q->size);
        if (want) rmai_segment_commit_aligned(s, q->alignment, q->size, want, &got);
    }
    if (!got) rmai_error_prefix("%s: ", q->call);
    return got;
}

static void undo_request(struct rmai_world *w, const struct request *q, uint64_t mine, void *block) {
    if (block) rmai_segment_free(&w->symmetric, q->call, block);
    if (mine != NO_MEMORY && mine < HAS_BLOCK) rmai_segment_uncommit(&w->symmetric);
}

/* Allocates on every PE, or on none: *block is NULL then, and for a size of 0. *mine is this PE's statement of its
 * arguments, with the code of an error that it has found by itself: the other PEs wait for this one, and must learn of
 * it. */
static int alloc_on_all(struct rmai_world *w, const struct request *q, struct rmai_statement *mine, void **block) {
    struct rmai_range all;
    int code, grown = 0;
    for (;; grown = 1) {
        const uint64_t part = mine->code == RMA_SUCCESS ? try_request(w, q, block) : NO_MEMORY;
        code = rmai_agree_on(w, q->call, mine, part, &all);
        if (grown) rmai_window_memory_grown(w);
        if (code == RMA_SUCCESS && all.min == NO_MEMORY)
            code = part == NO_MEMORY ? RMA_ERR_NO_MEM : no_memory_elsewhere(w, q->call, all.min_pe);
        if (code == RMA_SUCCESS && all.max >= HAS_BLOCK && all.min != all.max)
            code = rmai_error(RMA_ERR_MISMATCH, "%s: the heap of PE %d is not as that of PE %d", q->call, all.min_pe,
                              all.max_pe);
        if (code != RMA_SUCCESS) {
            undo_request(w, q, part, *block);
            *block = NULL;
        }
        if (code != RMA_SUCCESS || part >= HAS_BLOCK) return code;
        rmai_segment_extend(&w->symmetric, (size_t)all.min);
        rmai_reach_grown(w->symmetric.size);
        mine->code = (uint8_t)rmai_window_memory_symmetric(w, q->call);
    }
}

static void *alloc_agreed(const char *call, enum rmai_collective which, int bad, size_t alignment, size_t size) {
    struct rmai_world *w = &rmai_world;
    const struct request q = {call, rmai_max(alignment, ALIGNMENT), size, which == RMAI_CALL_CALLOC};
    struct rmai_statement mine = rmai_statement(which, bad, w->job.my_pe);
    void *block = NULL;
    int code = rmai_running(call);
    mine.number[0] = (int32_t)q.alignment;
    mine.length = size;
    if (code == RMA_SUCCESS) code = note_denied(&q, alloc_on_all(w, &q, &mine, &block));
    rmai_raise(code);
    return block;
}

void *rma_malloc(size_t size) { return alloc_agreed("rma_malloc", RMAI_CALL_MALLOC, RMA_SUCCESS, 0, size); }

/* A product that overflows is a size for which there is no memory, as C's calloc has it. */
void *rma_calloc(size_t count, size_t size) {
    static const char call[] = "rma_calloc";
    size_t bytes;
    void *block;
    if (!__builtin_mul_overflow(count, size, &bytes))
        return alloc_agreed(call, RMAI_CALL_CALLOC, RMA_SUCCESS, 0, bytes);
    block = alloc_agreed(call, RMAI_CALL_CALLOC, RMA_SUCCESS, 0, SIZE_MAX);
    if (rma_last_code() == RMA_ERR_NO_MEM)
        rmai_error(RMA_ERR_NO_MEM, "%s: count %zu times size %zu overflows", rmai_error_name(call), count, size);
    return block;
}

void *rma_aligned_alloc(size_t alignment, size_t size) {
    int bad = RMA_SUCCESS;
    if (alignment == 0 || (alignment & (alignment - 1)) || alignment > ALIGNMENT_MAX)
        bad = rmai_error(RMA_ERR_ARG,
                         "rma_aligned_alloc: alignment %zu is not a power of two up to %zu, so the call returns NULL",
                         alignment, ALIGNMENT_MAX);
    return alloc_agreed("rma_aligned_alloc", RMAI_CALL_ALIGNED_ALLOC, bad, alignment, size);
}

/* ---- blocks that are there ---- */

static int check_symmetric_base(struct rmai_world *w, const char *name, const void *block, size_t *size) {
    if (!block) return RMA_SUCCESS;
    if (rmai_segment_live(&w->symmetric, block, size)) return rmai_segment_intact(&w->symmetric, name, block, 1);
    if (rmai_segment_live(&w->local, block, NULL))
        return rmai_error(RMA_ERR_BASE, "%s: %p is a block of the local heap: rma_free_mem frees it", name, block);
    return rmai_segment_bad_base(&w->symmetric, name, block);
}

int rma_free(void *block) {
    static const char call[] = "rma_free";
    struct rmai_world *w = &rmai_world;
    struct rmai_statement mine;
    size_t size;
    int code = rmai_running(call);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    mine = rmai_statement(RMAI_CALL_FREE, check_symmetric_base(w, call, block, &size), w->job.my_pe);
    code = rmai_agree_on_block(w, call, &mine, "the block", block);
    if (code == RMA_SUCCESS && block) {
        rmai_segment_overrun(&w->symmetric, call, block, size);
        rmai_segment_free(&w->symmetric, call, block);
    }
    return rmai_raise(code);
}

int rma_free_met_(void *block) {
    struct rmai_world *w = &rmai_world;
    size_t size;
    const int code = check_symmetric_base(w, "rma_free", block, &size);
    if (code == RMA_SUCCESS) rmai_segment_free(&w->symmetric, "rma_free", block);
    return code;
}

/* Resizes in place if there is room after the block; else allocates, copies, frees. The allocators of all PEs decide
 * alike, except if a PE cannot commit a page of its table. So PEs agree on a growth in place, and undo it if one has
 * failed. */
static int resize_on_all(struct rmai_world *w, const struct request *q, struct rmai_statement *mine, void *block,
                         void **result) {
    size_t old = 0;
    struct rmai_range all;
    int code, did;
    rmai_segment_live(&w->symmetric, block, &old);
    did = rmai_segment_resize(&w->symmetric, block, q->size);
    if (did != -1) {
        /* A larger block gets its red zone before the agreement, since afterwards other PEs may put to the new part; a
         * smaller block gets it after the agreement, when it is certain to stay smaller. */
        if (did == 0 && q->size > old) rmai_segment_remark(&w->symmetric, q->call, block, old);
        if (did != 0) rmai_error_prefix("%s: ", q->call);
        code = rmai_agree_on(w, q->call, mine, did == 0, &all);
        if (code == RMA_SUCCESS && !all.min)
            code = did == 0 ? no_memory_elsewhere(w, q->call, all.min_pe) : RMA_ERR_NO_MEM;
        if (code != RMA_SUCCESS) {
            if (did == 0) rmai_segment_resize(&w->symmetric, block, old);
            if (did == 0 && q->size > old) rmai_segment_remark(&w->symmetric, q->call, block, q->size);
            return code;
        }
        if (q->size <= old) rmai_segment_remark(&w->symmetric, q->call, block, old);
        *result = block;
        return RMA_SUCCESS;
    }
    code = alloc_on_all(w, q, mine, result);
    if (code != RMA_SUCCESS) return code;
    memcpy(*result, block, rmai_min(old, q->size));
    /* Without the meeting a PE that is ahead could put to the new block before this PE's copy overwrites it. */
    const int quiet = rmai_quiet_default(w, q->call);
    code = rmai_meet_only(w, q->call);
    if (code != RMA_SUCCESS) return code; /* and keep both blocks: other PEs have not freed theirs either */
    rmai_segment_free(&w->symmetric, q->call, block);
    return quiet;
}

void *rma_realloc(void *block, size_t size) {
    static const char call[] = "rma_realloc";
    struct rmai_world *w = &rmai_world;
    const struct request q = {call, ALIGNMENT, size, 0};
    struct rmai_statement mine;
    void *result = NULL;
    size_t old;
    int code = rmai_running(call);
    if (code != RMA_SUCCESS) return rmai_raise(code), NULL;
    mine = rmai_statement(RMAI_CALL_REALLOC, check_symmetric_base(w, call, block, &old), w->job.my_pe);
    mine.length = size;
    code = rmai_agree_on_block(w, call, &mine, "the block", block);
    if (code == RMA_SUCCESS && block) rmai_segment_overrun(&w->symmetric, call, block, old);
    if (code == RMA_SUCCESS && block && size == 0)
        rmai_segment_free(&w->symmetric, call, block);
    else if (code == RMA_SUCCESS && size > 0)
        code = block ? resize_on_all(w, &q, &mine, block, &result) : alloc_on_all(w, &q, &mine, &result);
    rmai_raise(note_denied(&q, code));
    return code == RMA_SUCCESS ? result : NULL;
}
