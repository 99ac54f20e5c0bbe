/* SPDX-License-Identifier: BSD-3-Clause */
/* The public calls on global pointers, beyond the inlined path: making a global pointer, its address here, and the
 * accesses by one. runtime/space knows which memory an offset names, runtime/place does what is wanted there. */
#include "config.h"

#include "base/attributes.h"
#include "base/error.h"
#include "heap/attached.h"
#include "heap/segment.h"
#include "runtime/attach.h"
#include "runtime/context.h"
#include "runtime/job/job.h"
#include "runtime/net/op.h"
#include "runtime/place.h"
#include "runtime/reach.h"
#include "runtime/space.h"
#include "runtime/world.h"

rma_gptr_t rma_gptr(const void *addr, int pe) {
    struct rmai_world *w = &rmai_world;
    size_t offset = (size_t)((const char *)addr - w->local.base), local = rmai_segment_size(&w->local);
    rma_gptr_t g;
    int code;
    /* Most calls ask for the local heap. Before rma_init its size is 0; after rma_finalize only `running` tells. */
    if (RMAI_LIKELY(offset < local && pe == w->job.my_pe && rma_reach_.running))
        return rmai_gptr_make(pe, w->job.layout.local + offset);
    code = rmai_running("rma_gptr");
    if (code == RMA_SUCCESS) code = rmai_check_pe(&w->job, "rma_gptr", "PE", pe);
    if (rmai_raise(code) != RMA_SUCCESS || !addr) return RMA_GPTR_NULL;
    g = pe == w->job.my_pe ? rmai_gptr_own(w, addr, 1) : rmai_gptr_symmetric(w, addr, 1, pe);
    if (g != RMA_GPTR_NULL) return g;
    if (pe != w->job.my_pe && rmai_gptr_own(w, addr, 1) != RMA_GPTR_NULL)
        rmai_raise(rmai_error(RMA_ERR_ADDRESS,
                              "rma_gptr: addr %p is in the local heap or attached memory of PE %d, not of PE %d", addr,
                              w->job.my_pe, pe));
    else
        rmai_raise(rmai_error(RMA_ERR_ADDRESS,
                              "rma_gptr: addr %p is in no heap, global variable or attached region of this PE", addr));
    return RMA_GPTR_NULL;
}

void *rma_gptr_ptr(rma_gptr_t g) {
    struct rmai_world *w = &rmai_world;
    void *there = rma_gptr_ptr_(g, 1);
    struct rmai_place p = {0};
    int q;
    if (RMAI_LIKELY(there != NULL) || !rma_reach_.running || g == RMA_GPTR_NULL) return there;
    q = rmai_node_slot(&w->job, rma_gptr_pe(g));
    if (q < 0 || !rmai_space_find(w, g, 1, q, &p)) return NULL;
    if (p.region) rmai_attached_leave(p.region);
    return p.there;
}

/* As rmai_space_find, for a PE of another node. The owner looks attached memory up when the access comes to it. The
 * owner is asked for the extent of its local heap only where the extent that it told last does not do. */
static int find_on_other_node(struct rmai_world *w, const char *call, rma_gptr_t g, size_t len, struct rmai_place *p,
                              int *code) {
    size_t offset = (size_t)(g & RMAI_OFFSET_MASK);
    struct rmai_part part;
    int pe = rma_gptr_pe(g);
    *p = (struct rmai_place){.far = 1, .pe = pe, .offset = offset};
    if (offset >= RMA_GPTR_ATTACHED_) return 1;
    part = rmai_space_part(w, offset);
    for (int fresh = 0; part.pool >= 0 && fresh < 2; fresh++) {
        *code = rmai_net_extent(call, w->contexts->standing.pending, pe, (enum rmai_pool)part.pool, fresh, &part.end);
        if (*code != RMA_SUCCESS || rmai_part_holds(&part, offset, len)) break;
    }
    return rmai_part_holds(&part, offset, len);
}

static int resolve_gptr(const char *call, rma_gptr_t g, size_t len, size_t align, struct rmai_place *p) {
    struct rmai_world *w = &rmai_world;
    unsigned long long offset = g & RMAI_OFFSET_MASK;
    int pe = rma_gptr_pe(g), q, code = rmai_running(call);
    if (code != RMA_SUCCESS) return code;
    if (g == RMA_GPTR_NULL) return rmai_error(RMA_ERR_ADDRESS, "%s: the global pointer is null", call);
    if (pe >= w->job.n_pes)
        return rmai_error(RMA_ERR_PE, "%s: global pointer %#llx names PE %d, outside 0..%d", call,
                          (unsigned long long)g, pe, w->job.n_pes - 1);
    if (offset & (align - 1) && offset < RMA_GPTR_ATTACHED_)
        return rmai_error(RMA_ERR_ADDRESS, "%s: global pointer %#llx (PE %d, offset %#llx) is not aligned to %zu bytes",
                          call, (unsigned long long)g, pe, offset, align);
    q = RMAI_LIKELY(rma_slot_(pe) < rma_reach_.n_node) ? (int)rma_slot_(pe) : rmai_node_slot(&w->job, pe);
    if (q < 0) {
        int there = find_on_other_node(w, call, g, len, p, &code);
        p->set = w->contexts->standing.pending;
        return code == RMA_SUCCESS && !there ? rmai_space_absent(w, call, g, len) : code;
    }
    if (!rmai_space_find(w, g, len, q, p)) return rmai_space_absent(w, call, g, len);
    p->set = w->contexts->standing.pending;
    return rmai_space_check_aligned(call, g, align, p);
}

/* The address of this PE's own attached memory; NULL if g is something else, or wrong, or if another thread could
 * detach the region during the access: then the access has to enter the region. */
static inline void *own_attached_address(rma_gptr_t g, size_t len) {
    const struct rmai_world *w = &rmai_world;
    rma_gptr_t offset = g - ((rma_gptr_t)(uint32_t)w->job.my_pe << RMA_GPTR_BITS_ | RMA_GPTR_ATTACHED_);
    if (offset >> (RMA_GPTR_BITS_ - 2) || w->job.level == RMA_THREAD_MULTIPLE || !rma_reach_.running) return NULL;
    return (void *)(uintptr_t)rmai_attached_find(&w->attachments->table, offset, len);
}

/* Functions of their own: inlined they would make the two public calls below save registers on the stack even for this
 * PE's own memory, which is what these calls are for most. */
static RMAI_COLD int put_by_gptr(const char *call, rma_gptr_t dest, const void *source, size_t len) {
    struct rmai_place p;
    int code = len ? rmai_check_local(call, "source", source) : RMA_SUCCESS;
    if (code == RMA_SUCCESS) code = resolve_gptr(call, dest, len, 1, &p);
    if (code == RMA_SUCCESS) code = rmai_place_put(&rmai_world, call, &p, source, len, RMAI_NOW);
    return rmai_raise(code);
}

static RMAI_COLD int get_by_gptr(const char *call, void *dest, rma_gptr_t source, size_t len) {
    struct rmai_place p;
    int code = len ? rmai_check_local(call, "dest", dest) : RMA_SUCCESS;
    if (code == RMA_SUCCESS) code = resolve_gptr(call, source, len, 1, &p);
    if (code == RMA_SUCCESS) code = rmai_place_get(&rmai_world, call, &p, dest, len, RMAI_NOW);
    return rmai_raise(code);
}

int rma_gptr_put_slow_(const char *call, rma_gptr_t dest, const void *source, size_t len) {
    void *own = own_attached_address(dest, len);
    if (RMAI_UNLIKELY(!own)) return put_by_gptr(call, dest, source, len);
    rma_move_(own, source, len);
    return RMA_SUCCESS;
}

int rma_gptr_get_slow_(const char *call, void *dest, rma_gptr_t source, size_t len) {
    const void *own = own_attached_address(source, len);
    if (RMAI_UNLIKELY(!own)) return get_by_gptr(call, dest, source, len);
    rma_move_(dest, own, len);
    return RMA_SUCCESS;
}

int rma_gptr_atomic_slow_(const char *call, int op, rma_gptr_t g, size_t len, uint64_t value, uint64_t cond,
                          uint64_t *old) {
    struct rmai_place p;
    int code = resolve_gptr(call, g, len, len, &p);
    if (code == RMA_SUCCESS) code = rmai_place_atomic(&rmai_world, call, &p, op, len, value, cond, old);
    return rmai_raise(code);
}

int rma_gptr_atomic_nbi_slow_(const char *call, int op, rma_gptr_t g, size_t len, uint64_t value, uint64_t cond,
                              void *fetch) {
    struct rmai_place p;
    int code = rmai_running(call);
    if (code == RMA_SUCCESS && !fetch) code = rmai_error(RMA_ERR_ARG, "%s: fetch is a null pointer", call);
    if (code == RMA_SUCCESS) code = resolve_gptr(call, g, len, len, &p);
    if (code == RMA_SUCCESS) code = rmai_place_atomic_later(&rmai_world, call, &p, op, len, value, cond, fetch);
    return rmai_raise(code);
}
