/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/pool.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/lock.h"
#include "heap/returned.h"
#include "heap/segment.h"
#include "runtime/window_memory.h"
#include "runtime/header.h"
#include "runtime/watch/stall.h"
#include "runtime/world.h"

#define BLOCK_ALIGNMENT 64

int rmai_pool_grow(struct rmai_world *w, struct rmai_segment *s, int q, enum rmai_pool pool, size_t alignment,
                   size_t size) {
    size_t got, extent, want = rmai_segment_want(s, alignment, size);
    int code = want ? rmai_segment_commit(s, want, &got) : RMA_ERR_NO_MEM;
    if (code != RMA_SUCCESS) return code;
    rmai_segment_extend(s, got);
    if (s == &w->local) rmai_window_memory_local(w);
    extent = (pool == RMAI_OWN ? w->job.layout.local : w->job.layout.guest) + s->size;
    /* Release: the pages are committed before another PE reads that they are. Pairs with rma_gptr_ptr_'s acquire load.
     */
    atomic_store_explicit(&rmai_facts(&w->job, q)->extent[pool], extent, memory_order_release);
    if (w->job.networked) __atomic_store_n(&rmai_directory(&w->job, q)->extent[pool], extent, __ATOMIC_RELEASE);
    return RMA_SUCCESS;
}

void rmai_own_view(const struct rmai_world *w, int q, struct rmai_segment *s) {
    char *space = rmai_job_space(&w->job, q);
    rmai_segment_view(s, &w->reservation, space + w->job.layout.local_table, space + w->job.layout.local,
                      w->job.layout.local_max, "local heap", "RMA_LOCAL_MAX");
    s->guard = w->local.guard;
    s->spares = w->local.spares;
}

void rmai_guest_view(const struct rmai_world *w, int q, struct rmai_segment *s) {
    char *space = rmai_job_space(&w->job, q);
    rmai_segment_view(s, &w->reservation, space + w->job.layout.guest_table, space + w->job.layout.guest,
                      w->job.layout.guest_max, "guests' part of the local heap", "half of RMA_LOCAL_MAX");
    s->guard = w->local.guard;
    s->spares = w->local.spares;
    s->in_steps = w->local.in_steps;
}

static int lock_orphaned(const struct rmai_world *w, int q, int pe) {
    return rmai_error(RMA_ERR_SYSTEM, "PE %d died while it was allocating on PE %d: no PE can allocate there any more",
                      pe, w->job.node_pes[q]);
}

int rmai_guest_lock(struct rmai_world *w, const char *call, int q) {
    struct rmai_header *h = rmai_header(&w->job, q);
    struct rmai_lock_wait wait = {.w = w->watch, .stall.call = call};
    int64_t dead = rmai_lock(&h->guest_lock, (uint32_t)w->job.my_pe, rmai_stall_holder, &wait);
    int broken;
    if (wait.stall.last > 0) rmai_stall_end(w->watch, &wait.stall);
    if (dead >= 0) atomic_store_explicit(&h->guest_orphan, (int)dead + 1, memory_order_relaxed);
    broken = atomic_load_explicit(&h->guest_orphan, memory_order_relaxed);
    if (!broken) return RMA_SUCCESS;
    rmai_guest_unlock(w, q);
    return lock_orphaned(w, q, broken - 1);
}

void rmai_guest_unlock(struct rmai_world *w, int q) { rmai_unlock(&rmai_header(&w->job, q)->guest_lock); }

static int allocate_as_guest(struct rmai_world *w, const char *call, int q, size_t size, rma_gptr_t *g) {
    struct rmai_returned *returned = &rmai_header(&w->job, q)->returned[RMAI_GUEST];
    struct rmai_segment s;
    int full, code = rmai_guest_lock(w, call, q);
    char *block;
    if (code != RMA_SUCCESS) return code;
    rmai_guest_view(w, q, &s);
    if (rmai_returned_any(returned)) rmai_segment_drain(&s, returned, NULL);
    block = rmai_segment_alloc(&s, call, BLOCK_ALIGNMENT, size, &full);
    if (!block && full && rmai_pool_grow(w, &s, q, RMAI_GUEST, BLOCK_ALIGNMENT, size) == RMA_SUCCESS)
        block = rmai_segment_alloc(&s, call, BLOCK_ALIGNMENT, size, &full);
    rmai_guest_unlock(w, q);
    if (!block) return RMA_ERR_NO_MEM;
    *g = (rma_gptr_t)(uint32_t)w->job.node_pes[q] << RMA_GPTR_BITS_ | (w->job.layout.guest + (size_t)(block - s.base));
    return RMA_SUCCESS;
}

int rmai_guest_alloc(struct rmai_world *w, const char *call, int q, size_t size, rma_gptr_t *g) {
    int code = allocate_as_guest(w, call, q, size, g);
    if (code != RMA_SUCCESS) rmai_error_prefix("%s: on PE %d: ", call, w->job.node_pes[q]);
    return code;
}

int rmai_give_back(struct rmai_world *w, const char *call, int q, size_t offset, const void *addr) {
    struct rmai_header *h = rmai_header(&w->job, q);
    enum rmai_pool pool = offset >= w->job.layout.guest ? RMAI_GUEST : RMAI_OWN;
    struct rmai_segment s;
    char *block = (char *)h + offset;
    int code = RMA_SUCCESS;
    if (pool == RMAI_GUEST)
        rmai_guest_view(w, q, &s);
    else
        rmai_own_view(w, q, &s);
    if (!rmai_segment_holds(&s, block)) {
        if (addr) return rmai_error(RMA_ERR_BASE, "%s: base %p is in no local heap", call, addr);
        return rmai_error(RMA_ERR_BASE, "%s: the global pointer to offset %#zx of PE %d is in no local heap", call,
                          offset, w->job.node_pes[q]);
    }
    if (RMAI_UNLIKELY(s.guard) && rmai_segment_live(&s, block, NULL)) code = rmai_segment_intact(&s, call, block, 0);
    /* A damaged red zone may also be poison: another thread or PE has just given the block back. Then the block is no
     * longer live, and the code below reports that. */
    if (code != RMA_SUCCESS && rmai_segment_live(&s, block, NULL)) return code;
    if (rmai_segment_give_back(&s, &h->returned[pool], block) == 0) return RMA_SUCCESS;
    /* rmai_segment_bad_base would tell more, but it reads tables that the PE that holds the pool may be changing. */
    return rmai_error(RMA_ERR_BASE,
                      "%s: %s%#llx of PE %d is not the base of a live block: foreign, interior, or freed already", call,
                      addr ? "address " : "offset ",
                      addr ? (unsigned long long)(uintptr_t)addr : (unsigned long long)offset, w->job.node_pes[q]);
}
