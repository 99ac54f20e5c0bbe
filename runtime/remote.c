/* SPDX-License-Identifier: BSD-3-Clause */
/* The local heap of another PE of the node: allocating there under the guests' lock, and giving back without one. Both
 * work on the owner's tables in shared memory; the owner takes no part. */
#include "config.h"

#include "base/error.h"
#include "base/process.h"
#include "runtime/local.h"
#include "runtime/transfer.h"

#define ALIGNMENT 64

void rmai_own_view(const struct rmai_world *w, int q, struct rmai_segment *s) {
    char *space = rmai_job_space(&w->job, q);
    rmai_segment_view(s, &w->reservation, space + w->job.layout.local_table, space + w->job.layout.local,
                      w->job.layout.local_max, "local heap", "RMA_LOCAL_MAX");
    s->guard = w->local.guard;
}

void rmai_guest_view(const struct rmai_world *w, int q, struct rmai_segment *s) {
    char *space = rmai_job_space(&w->job, q);
    rmai_segment_view(s, &w->reservation, space + w->job.layout.guest_table, space + w->job.layout.guest,
                      w->job.layout.guest_max, "guests' part of the local heap", "half of RMA_LOCAL_MAX");
    s->guard = w->local.guard;
}

static int orphan(const struct rmai_world *w, int q, int pe) {
    return rmai_error(RMA_ERR_SYSTEM, "PE %d died while it was allocating on PE %d: nobody can allocate there any more",
                      pe, w->job.node_pes[q]);
}

int rmai_guest_lock(struct rmai_world *w, const char *call, int q) {
    struct rmai_header *h = rmai_header(&w->job, q);
    struct rmai_lock_wait wait = {.w = w, .stall.call = call};
    int64_t dead = rmai_lock(&h->guest_lock, (uint32_t)w->job.my_pe, rmai_stall_holder, &wait);
    int broken;
    if (wait.stall.last > 0) rmai_stall_end(w, &wait.stall);
    if (dead >= 0) atomic_store_explicit(&h->guest_orphan, (int)dead + 1, memory_order_relaxed);
    broken = atomic_load_explicit(&h->guest_orphan, memory_order_relaxed);
    if (!broken) return RMA_SUCCESS;
    rmai_guest_unlock(w, q);
    return orphan(w, q, broken - 1);
}

void rmai_guest_unlock(struct rmai_world *w, int q) { rmai_unlock(&rmai_header(&w->job, q)->guest_lock); }

static int allocate(struct rmai_world *w, const char *call, int q, size_t size, rma_gptr_t *g) {
    struct rmai_returned *returned = &rmai_header(&w->job, q)->returned[RMAI_GUEST];
    struct rmai_segment s;
    int full, code = rmai_guest_lock(w, call, q);
    char *block;
    if (code != RMA_SUCCESS) return code;
    rmai_guest_view(w, q, &s);
    if (rmai_returned_any(returned)) rmai_segment_drain(&s, returned, NULL);
    block = rmai_segment_alloc(&s, call, ALIGNMENT, size, &full);
    if (!block && full && rmai_local_grow(w, &s, q, RMAI_GUEST, ALIGNMENT, size) == RMA_SUCCESS)
        block = rmai_segment_alloc(&s, call, ALIGNMENT, size, &full);
    rmai_guest_unlock(w, q);
    if (!block) return RMA_ERR_NO_MEM;
    *g = (rma_gptr_t)(uint32_t)w->job.node_pes[q] << RMA_GPTR_BITS_ | (w->job.layout.guest + (size_t)(block - s.base));
    return RMA_SUCCESS;
}

int rmai_guest_alloc(struct rmai_world *w, const char *call, int q, size_t size, rma_gptr_t *g) {
    int code = allocate(w, call, q, size, g);
    if (code != RMA_SUCCESS) rmai_error_prefix("%s: on PE %d: ", call, w->job.node_pes[q]);
    return code;
}

int rma_alloc_mem_on(int pe, size_t size, rma_gptr_t *g) {
    static const char call[] = "rma_alloc_mem_on";
    struct rmai_world *w = &rmai_world;
    rma_gptr_t block = RMA_GPTR_NULL;
    int q, code = rmai_running(call);
    if (code == RMA_SUCCESS) code = rmai_check_pe(&w->job, call, "PE", pe);
    if (code == RMA_SUCCESS && !g) code = rmai_error(RMA_ERR_ARG, "%s: g is a null pointer", call);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    q = rmai_node_slot(&w->job, pe);
    if (size) code = q >= 0 ? rmai_guest_alloc(w, call, q, size, &block) : rmai_net_alloc(w, call, pe, size, &block);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    *g = block;
    return RMA_SUCCESS;
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
        if (addr) return rmai_error(RMA_ERR_BASE, "%s: %p is in no local heap", call, addr);
        return rmai_error(RMA_ERR_BASE, "%s: offset %#zx of PE %d is in no local heap", call, offset,
                          w->job.node_pes[q]);
    }
    if (RMAI_UNLIKELY(s.guard) && rmai_segment_live(&s, block, NULL)) code = rmai_segment_intact(&s, call, block, 0);
    /* Poisoned meanwhile, by whoever was faster to give it back: then it is not live any more. */
    if (code != RMA_SUCCESS && rmai_segment_live(&s, block, NULL)) return code;
    if (rmai_segment_give_back(&s, &h->returned[pool], block) == 0) return RMA_SUCCESS;
    /* Which block it is not can be told only where nobody else changes the tables. */
    return rmai_error(RMA_ERR_BASE,
                      "%s: %s%#llx of PE %d is not the base of a live block: foreign, interior, or freed already", call,
                      addr ? "address " : "offset ",
                      addr ? (unsigned long long)(uintptr_t)addr : (unsigned long long)offset, w->job.node_pes[q]);
}

int rma_gptr_free(rma_gptr_t g) {
    struct rmai_world *w = &rmai_world;
    size_t offset = (size_t)(g & RMAI_OFFSET_MASK);
    int q, code = rmai_running("rma_gptr_free");
    if (code != RMA_SUCCESS || g == RMA_GPTR_NULL) return rmai_raise(code);
    code = rmai_check_pe(&w->job, "rma_gptr_free", "global pointer to PE", rma_gptr_pe(g));
    if (code != RMA_SUCCESS) return rmai_raise(code);
    q = rmai_node_slot(&w->job, rma_gptr_pe(g));
    if (q < 0) return rmai_raise(rmai_net_free(w, "rma_gptr_free", rma_gptr_pe(g), offset));
    if (q == w->job.node_my_pe && rmai_segment_holds(&w->local, rmai_job_space(&w->job, q) + offset)) {
        code = rmai_local_free(w, "rma_gptr_free", rmai_job_space(&w->job, q) + offset);
        return rmai_raise(code);
    }
    return rmai_raise(rmai_give_back(w, "rma_gptr_free", q, offset, NULL));
}
