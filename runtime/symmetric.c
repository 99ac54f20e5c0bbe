/* SPDX-License-Identifier: BSD-3-Clause */
/* The symmetric heap. Every PE runs the same allocator over its own memory with the same calls, so all get equal
 * offsets without exchanging them. What PEs exchange is whether the calls are the same and whether all could do their
 * part:
 *
 *     allocate -> agree on the arguments, and that all have got the same block
 *
 * is all where memory is at hand. Where a PE has none, all undo their step, which leaves every allocator as it was.
 * Then comes the longer way, in which all undo their step, too, where one PE cannot commit:
 *
 *     (grow: commit, agree on how far, extend) -> allocate -> agree on success */
#include "config.h"

#include "base/attributes.h"
#include "base/error.h"
#include "heap/reserve.h"
#include "heap/segment.h"
#include "runtime/agree.h"
#include "runtime/cover.h"
#include "runtime/meet.h"
#include "runtime/reach.h"
#include "runtime/world.h"

#include <string.h>

#define ALIGNMENT     64
#define PAGE_MIN      ((size_t)4096) /* the smallest page of any machine */
#define ALIGNMENT_MAX RMAI_ADDRESS_ALIGNMENT

static uint64_t symmetric_offset_of(const struct rmai_world *w, const void *block) {
    return (uint64_t)((const char *)block - w->symmetric.base);
}

/* For a PE that had memory itself. Names the PE that had none: the first one with the smallest field 0. */
static int no_memory_elsewhere(const struct rmai_world *w, const struct rmai_verdict *v) {
    char room[RMAI_ROOM_TEXT];
    rmai_error(RMA_ERR_NO_MEM, "PE %d has no memory for it; seen from PE %d, %s", v->field[0].min_pe, w->job.my_pe,
               rmai_commit_room(&w->reservation, room));
    if (w->symmetric.spares)
        rmai_error_add("; a part of that is left to the system and to MPI, since %s sets no limit",
                       w->symmetric.setting);
    return RMA_ERR_NO_MEM;
}

/* Grows the heap of every PE by the same amount, at least by what this allocation needs. */
static int grow_on_all(struct rmai_world *w, const char *name, size_t alignment, size_t size) {
    size_t got = 0, want = rmai_segment_want(&w->symmetric, alignment, size);
    int code = want ? rmai_segment_commit_aligned(&w->symmetric, alignment, size, want, &got) : RMA_ERR_NO_MEM;
    struct rmai_verdict v;
    const uint64_t mine[RMAI_AGREE_FIELDS] = {code == RMA_SUCCESS ? got : 0};
    int met = rmai_agree_on(w, name, RMAI_STATUS, mine, &v);
    if (met != RMA_SUCCESS) return met;
    if (v.field[0].min == 0) {
        rmai_segment_uncommit(&w->symmetric);
        if (code == RMA_SUCCESS) no_memory_elsewhere(w, &v);
        return RMA_ERR_NO_MEM;
    }
    rmai_segment_extend(&w->symmetric, (size_t)v.field[0].min);
    rmai_reach_grown(w->symmetric.size);
    return rmai_cover_symmetric(w, name);
}

/* Allocates on every PE, or on none. The caller has agreed on the arguments. With `zero` the block is cleared before
 * another PE can know of it, and put to it. */
static int alloc_on_all(struct rmai_world *w, const char *name, size_t alignment, size_t size, int zero, void **block) {
    static const char *const what[RMAI_AGREE_FIELDS] = {"success", "the offset of the new block"};
    struct rmai_verdict v;
    int full, grown = 0, code = RMA_SUCCESS;
    void *p = rmai_segment_alloc(&w->symmetric, name, alignment, size, &full);
    if (!p && full) {
        code = grow_on_all(w, name, alignment, size);
        if (code != RMA_SUCCESS) return code;
        grown = 1;
        p = rmai_segment_alloc(&w->symmetric, name, alignment, size, &full);
    }
    if (p && zero) memset(p, 0, size);
    const uint64_t mine[RMAI_AGREE_FIELDS] = {p != NULL, p ? symmetric_offset_of(w, p) : 0};
    code = rmai_agree_on(w, name, RMAI_STATUS, mine, &v);
    if (grown) rmai_cover_grown(w);
    if (code == RMA_SUCCESS && !v.field[0].min) {
        if (p) no_memory_elsewhere(w, &v);
        code = RMA_ERR_NO_MEM;
    } else if (code == RMA_SUCCESS) {
        code = rmai_agreed(&v, name, what);
    }
    if (code != RMA_SUCCESS) {
        if (p) rmai_segment_free(&w->symmetric, p);
        return code;
    }
    *block = p;
    return RMA_SUCCESS;
}

/* Blocks lie at multiples of their alignment from the heap's base. Their addresses do, too, if the base does. Every
 * mapping begins at a page, so small alignments need no agreement. */
static int agree_on_address(struct rmai_world *w, const char *name, size_t alignment) {
    struct rmai_verdict v;
    int code;
    if (RMAI_LIKELY(alignment <= PAGE_MIN)) return RMA_SUCCESS;
    const uint64_t mine[RMAI_AGREE_FIELDS] = {((uintptr_t)w->symmetric.base & (alignment - 1)) == 0};
    code = rmai_agree_on(w, name, RMAI_STATUS, mine, &v);
    if (code != RMA_SUCCESS || v.field[0].min) return code;
    return rmai_error(RMA_ERR_NO_MEM,
                      "no address that is a multiple of %zu: the system has refused PE %d the address space for it",
                      alignment, v.field[0].min_pe);
}

#define NO_BLOCK UINT64_MAX /* no offset */

/* A block that needs no growth, and no agreement on its address, or NULL. The other PEs do not know of it yet. */
static void *alloc_at_hand(struct rmai_world *w, const char *name, enum rmai_agree_call call, size_t alignment,
                           size_t size) {
    int full;
    void *block;
    if (size == 0 || alignment > PAGE_MIN) return NULL;
    block = rmai_segment_alloc(&w->symmetric, name, alignment, size, &full);
    if (block && call == RMAI_CALLOC) memset(block, 0, size);
    return block;
}

/* The allocating calls have this in common. `bad` is the code of what this PE has found wrong by itself: the other PEs
 * wait for this one in the agreement, which tells them. */
static void *alloc_agreed(const char *name, enum rmai_agree_call call, int bad, size_t alignment, size_t size) {
    static const char *const what[RMAI_AGREE_FIELDS] = {"the size in bytes", "the alignment"};
    struct rmai_world *w = &rmai_world;
    struct rmai_verdict stated;
    void *block = NULL;
    int code = rmai_running(name);
    if (code != RMA_SUCCESS) return rmai_raise(code), NULL;
    if (bad == RMA_SUCCESS) block = alloc_at_hand(w, name, call, alignment, size);
    const uint64_t field[RMAI_AGREE_FIELDS - 1] = {size, alignment, block ? symmetric_offset_of(w, block) : NO_BLOCK};
    code = rmai_agree_arguments(w, name, call, bad, field, what, &stated);
    if (code == RMA_SUCCESS && block && stated.field[2].min == stated.field[2].max) return block;
    if (block) rmai_segment_free(&w->symmetric, block);
    block = NULL;
    if (code == RMA_SUCCESS && size > 0) {
        code = agree_on_address(w, name, alignment);
        if (code == RMA_SUCCESS) code = alloc_on_all(w, name, alignment, size, call == RMAI_CALLOC, &block);
        if (code == RMA_ERR_NO_MEM) rmai_error_prefix("%s: ", name);
    }
    rmai_raise(code);
    return block;
}

void *rma_malloc(size_t size) { return alloc_agreed("rma_malloc", RMAI_MALLOC, RMA_SUCCESS, ALIGNMENT, size); }

void *rma_calloc(size_t count, size_t size) {
    size_t bytes;
    int bad = RMA_SUCCESS;
    if (__builtin_mul_overflow(count, size, &bytes))
        bad = rmai_error(RMA_ERR_ARG, "rma_calloc: count %zu times size %zu overflows", count, size);
    return alloc_agreed("rma_calloc", RMAI_CALLOC, bad, ALIGNMENT, bytes);
}

void *rma_aligned_alloc(size_t alignment, size_t size) {
    int bad = RMA_SUCCESS;
    if (alignment == 0 || (alignment & (alignment - 1)) || alignment > ALIGNMENT_MAX)
        bad = rmai_error(RMA_ERR_ARG,
                         "rma_aligned_alloc: alignment %zu is not a power of two up to %zu, so the call returns NULL",
                         alignment, ALIGNMENT_MAX);
    return alloc_agreed("rma_aligned_alloc", RMAI_ALIGNED_ALLOC, bad, rmai_max(alignment, ALIGNMENT), size);
}

static int check_symmetric_base(struct rmai_world *w, const char *name, const void *block) {
    if (!block) return RMA_SUCCESS;
    if (rmai_segment_live(&w->symmetric, block, NULL)) return rmai_segment_intact(&w->symmetric, name, block, 1);
    if (rmai_segment_live(&w->local, block, NULL))
        return rmai_error(RMA_ERR_BASE, "%s: %p is a block of the local heap: rma_free_mem frees it", name, block);
    return rmai_segment_bad_base(&w->symmetric, name, block);
}

static int agree_on_block(struct rmai_world *w, const char *name, enum rmai_agree_call call, const void *block,
                          size_t size) {
    static const char *const what[RMAI_AGREE_FIELDS] = {"the block's offset in the symmetric heap",
                                                        "the new size in bytes"};
    const uint64_t field[RMAI_AGREE_FIELDS - 1] = {block ? symmetric_offset_of(w, block) : UINT64_MAX, size};
    return rmai_agree_arguments(w, name, call, check_symmetric_base(w, name, block), field, what, NULL);
}

int rma_free(void *block) {
    struct rmai_world *w = &rmai_world;
    int code = rmai_running("rma_free");
    if (code == RMA_SUCCESS) code = agree_on_block(w, "rma_free", RMAI_FREE, block, 0);
    if (code == RMA_SUCCESS && block) rmai_segment_free(&w->symmetric, block);
    return rmai_raise(code);
}

/* Resizes in place where there is room behind the block; else allocates, copies, frees. The allocators of all PEs
 * decide alike, but for one case: a PE cannot commit a page of its table. So PEs agree on a growth in place, and undo
 * it where one has failed. */
static int resize_on_all(struct rmai_world *w, void *block, size_t size, void **result) {
    size_t old = 0;
    struct rmai_verdict v;
    int code, did, met;
    rmai_segment_live(&w->symmetric, block, &old);
    did = rmai_segment_resize(&w->symmetric, block, size);
    if (did != -1) {
        /* A larger block gets its red zone before the agreement, since after it other PEs may put to the new part; a
         * smaller one after it, when it is sure to stay smaller. */
        if (did == 0 && size > old) rmai_segment_remark(&w->symmetric, "rma_realloc", block, old);
        const uint64_t mine[RMAI_AGREE_FIELDS] = {did == 0};
        met = rmai_agree_on(w, "rma_realloc", RMAI_STATUS, mine, &v);
        if (met != RMA_SUCCESS) return met;
        if (!v.field[0].min) {
            if (did == 0) {
                rmai_segment_resize(&w->symmetric, block, old);
                if (size > old) rmai_segment_remark(&w->symmetric, "rma_realloc", block, size);
                no_memory_elsewhere(w, &v);
            }
            return RMA_ERR_NO_MEM;
        }
        if (size <= old) rmai_segment_remark(&w->symmetric, "rma_realloc", block, old);
        *result = block;
        return RMA_SUCCESS;
    }
    code = alloc_on_all(w, "rma_realloc", ALIGNMENT, size, 0, result);
    if (code != RMA_SUCCESS) return code;
    memcpy(*result, block, rmai_min(old, size));
    rmai_segment_free(&w->symmetric, block);
    /* Without the meeting a PE that is ahead could put to the new block before this PE's copy overwrites it. */
    return rmai_meet(w, "rma_realloc");
}

void *rma_realloc(void *block, size_t size) {
    struct rmai_world *w = &rmai_world;
    void *result = NULL;
    int code = rmai_running("rma_realloc");
    if (code == RMA_SUCCESS) code = agree_on_block(w, "rma_realloc", RMAI_REALLOC, block, size);
    if (code == RMA_SUCCESS && block && size == 0) {
        rmai_segment_free(&w->symmetric, block);
    } else if (code == RMA_SUCCESS && size > 0) {
        code = block ? resize_on_all(w, block, size, &result)
                     : alloc_on_all(w, "rma_realloc", ALIGNMENT, size, 0, &result);
        if (code == RMA_ERR_NO_MEM) rmai_error_prefix("rma_realloc: ");
    }
    rmai_raise(code);
    return code == RMA_SUCCESS ? result : NULL;
}
