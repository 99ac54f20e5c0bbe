/* SPDX-License-Identifier: BSD-3-Clause */
/* The local heap, by its owner. The owner alone allocates in its own pool, and tells the other PEs by the extent in its
 * header how much of it they may access. Blocks that other PEs have given back are freed when no block of the requested
 * size is parked. */
#include "config.h"

#include "runtime/api/local.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/topology.h"
#include "heap/quick.h"
#include "heap/returned.h"
#include "heap/segment.h"
#include "heap/tlsf.h"
#include "runtime/job/job.h"
#include "runtime/own_lock.h"
#include "runtime/pool.h"
#include "runtime/reach.h"
#include "runtime/world.h"

#include <string.h>
#include <unistd.h>

#define ALIGNMENT     64
#define ALIGNMENT_MAX ((size_t)1 << 30)

/* Tries the pool, then the pool with all parked blocks freed, then the pool with more memory. */
static void *alloc_from_pool(struct rmai_world *w, const char *call, size_t alignment, size_t size) {
    int full;
    void *block = rmai_segment_alloc(&w->local, call, alignment, size, &full);
    if (!block && full && rmai_quick_flush(&w->quick, &w->local.pool))
        block = rmai_segment_alloc(&w->local, call, alignment, size, &full);
    if (!block && full && rmai_pool_grow(w, &w->local, w->job.node_my_pe, RMAI_OWN, alignment, size) == RMA_SUCCESS)
        block = rmai_segment_alloc(&w->local, call, alignment, size, &full);
    return block;
}

static void *alloc_own_block(struct rmai_world *w, const char *call, size_t alignment, size_t size) {
    size_t offset = RMAI_TLSF_FULL;
    int quick = alignment == ALIGNMENT && !w->local.guard;
    if (quick) offset = rmai_quick_take(&w->quick, &w->local.pool, size);
    if (offset != RMAI_TLSF_FULL) return w->local.base + offset;
    /* Not earlier: other PEs write to the list's head all the time, and an allocation that reads it waits for its cache
     * line. */
    if (rmai_returned_any(w->returned)) rmai_segment_drain(&w->local, w->returned, &w->quick);
    if (quick) {
        offset = rmai_quick_take(&w->quick, &w->local.pool, size);
        if (offset == RMAI_TLSF_FULL && rmai_quick_refill(&w->quick, &w->local.pool, size))
            offset = rmai_quick_take(&w->quick, &w->local.pool, size);
        if (offset != RMAI_TLSF_FULL) return w->local.base + offset;
    }
    return alloc_from_pool(w, call, alignment, size);
}

static int alloc_locked(const char *call, size_t alignment, size_t size, void **block) {
    struct rmai_world *w = &rmai_world;
    *block = NULL;
    if (size == 0) return RMA_SUCCESS;
    rmai_own_lock(w);
    *block = alloc_own_block(w, call, alignment, size);
    rmai_own_unlock(w);
    if (RMAI_LIKELY(*block != NULL)) return RMA_SUCCESS;
    rmai_error_prefix("%s: ", call);
    return RMA_ERR_NO_MEM;
}

/* quick_open stands for three checks: the runtime is running, one thread calls at a time, there are no red zones. */
int rma_alloc_mem(size_t size, void *base) {
    struct rmai_world *w = &rmai_world;
    void *block;
    int code;
    if (RMAI_LIKELY(w->quick_open && base && size)) {
        size_t offset = rmai_quick_take(&w->quick, &w->local.pool, size);
        if (RMAI_LIKELY(offset != RMAI_TLSF_FULL)) {
            block = w->local.base + offset;
            memcpy(base, &block, sizeof block);
            return RMA_SUCCESS;
        }
    }
    code = rmai_running("rma_alloc_mem");
    if (code == RMA_SUCCESS && !base) code = rmai_error(RMA_ERR_ARG, "rma_alloc_mem: base is a null pointer");
    if (code == RMA_SUCCESS) code = alloc_locked("rma_alloc_mem", ALIGNMENT, size, &block);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    memcpy(base, &block, sizeof block); /* base is the address of a pointer of any type */
    return RMA_SUCCESS;
}

static int check_hints(const struct rma_hints *h) {
    if (!h) return rmai_error(RMA_ERR_ARG, "rma_alloc_mem_hints: hints is a null pointer");
    if ((h->alignment & (h->alignment - 1)) || h->alignment > ALIGNMENT_MAX)
        return rmai_error(RMA_ERR_ARG, "rma_alloc_mem_hints: alignment %zu is not a power of two up to %zu",
                          h->alignment, ALIGNMENT_MAX);
    if (h->numa_node < -1 || (h->numa_node >= 0 && !rmai_numa_exists(h->numa_node)))
        return rmai_error(RMA_ERR_ARG, "rma_alloc_mem_hints: this machine has no NUMA node %d", h->numa_node);
    return RMA_SUCCESS;
}

int rma_alloc_mem_hints(size_t size, struct rma_hints *hints, void *base) {
    size_t alignment, page = (size_t)sysconf(_SC_PAGESIZE), room = size;
    void *block;
    int code = rmai_running("rma_alloc_mem_hints"), granted = 0, own_pages = 0;
    if (code == RMA_SUCCESS && !base) code = rmai_error(RMA_ERR_ARG, "rma_alloc_mem_hints: base is a null pointer");
    if (code == RMA_SUCCESS) code = check_hints(hints);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    alignment = rmai_max(hints->alignment, ALIGNMENT);
    if (hints->huge_pages) page = rmai_huge_page();
    if (size && (hints->numa_node >= 0 || hints->huge_pages) && size <= SIZE_MAX - page) {
        alignment = rmai_max(alignment, page);
        room = rmai_round_up(size, page);
    }
    code = alloc_locked("rma_alloc_mem_hints", alignment, room, &block);
    /* Pages that the block shares with no other are only a hint: without room for them the block shares pages. */
    if (code == RMA_ERR_NO_MEM && room != size) {
        room = size;
        code = alloc_locked("rma_alloc_mem_hints", rmai_max(hints->alignment, ALIGNMENT), size, &block);
    } else {
        own_pages = hints->numa_node >= 0 || hints->huge_pages;
    }
    if (code != RMA_SUCCESS) return rmai_raise(code);
    if (own_pages && block && hints->huge_pages && rmai_huge_advise(block, room)) granted |= RMA_GRANTED_HUGE;
    if (own_pages && block && hints->numa_node >= 0 && rmai_numa_bind(block, room, hints->numa_node))
        granted |= RMA_GRANTED_NUMA;
    if (block && hints->zero) memset(block, 0, room);
    hints->granted = granted;
    memcpy(base, &block, sizeof block);
    return RMA_SUCCESS;
}

static int no_own_block(struct rmai_world *w, const char *call, const void *base) {
    if (rmai_segment_holds(&w->symmetric, base) && rmai_segment_live(&w->symmetric, base, NULL))
        return rmai_error(RMA_ERR_BASE, "%s: %p is a block of the symmetric heap: rma_free frees it", call, base);
    return rmai_segment_bad_base(&w->local, call, base);
}

int rmai_local_free(struct rmai_world *w, const char *call, void *base) {
    int code = RMA_SUCCESS;
    rmai_own_lock(w);
    if (!w->local.guard && rmai_quick_park(&w->quick, &w->local.pool, (size_t)((char *)base - w->local.base))) {
        rmai_own_unlock(w);
        return RMA_SUCCESS;
    }
    if (RMAI_UNLIKELY(w->local.guard) && rmai_segment_live(&w->local, base, NULL))
        code = rmai_segment_intact(&w->local, call, base, 1);
    if (code == RMA_SUCCESS && RMAI_UNLIKELY(rmai_segment_free(&w->local, call, base) != 0))
        code = no_own_block(w, call, base);
    rmai_own_unlock(w);
    return code;
}

int rma_free_mem(void *base) {
    struct rmai_world *w = &rmai_world;
    size_t offset;
    int code;
    if (RMAI_LIKELY(w->quick_open &&
                    rmai_quick_park(&w->quick, &w->local.pool, (size_t)((char *)base - w->local.base))))
        return RMA_SUCCESS;
    code = rmai_running("rma_free_mem");
    offset = (size_t)((char *)base - w->job.spaces);
    if (code != RMA_SUCCESS || !base) return rmai_raise(code);
    /* An address elsewhere in the node's reservation is a block of another PE, or of this PE's guests. */
    if (RMAI_LIKELY(rmai_segment_holds(&w->local, base)) || offset >= w->job.stride * (size_t)w->job.node_n_pes ||
        (size_t)((char *)base - w->symmetric.base) < w->symmetric.max)
        return rmai_raise(rmai_local_free(w, "rma_free_mem", base));
    return rmai_raise(rmai_give_back(w, "rma_free_mem", (int)(offset / w->job.stride), offset % w->job.stride, base));
}
