/* SPDX-License-Identifier: BSD-3-Clause */
/* Global pointers beyond the inlined path: making them, and what to say of wrong ones. */
#include "config.h"

#include "base/error.h"
#include "base/process.h"
#include "runtime/attach.h"
#include "runtime/transfer.h"

static rma_gptr_t make(int pe, size_t offset) { return (rma_gptr_t)(uint32_t)pe << RMA_GPTR_BITS_ | offset; }

/* Of [addr, addr + len) where it is symmetric; null elsewhere. */
static rma_gptr_t of_symmetric(const struct rmai_world *w, const void *addr, size_t len, int pe) {
    size_t offset = (size_t)((const char *)addr - w->symmetric.base), size = rmai_segment_size(&w->symmetric);
    if (offset < size && len <= size - offset) return make(pe, w->job.layout.symmetric + offset);
    offset = (size_t)((const char *)addr - w->statics.base);
    if (w->job.statics_mode != RMAI_STATICS_OFF && offset < w->statics.size && len <= w->statics.size - offset)
        return make(pe, w->job.layout.statics + offset);
    return RMA_GPTR_NULL;
}

rma_gptr_t rmai_gptr_own(struct rmai_world *w, const void *addr, size_t len) {
    const size_t offsets[RMAI_POOLS] = {w->job.layout.local, w->job.layout.guest};
    rma_gptr_t g = of_symmetric(w, addr, len, w->job.my_pe);
    for (int pool = 0; pool < RMAI_POOLS && !g; pool++) {
        struct rmai_header *h = rmai_header(&w->job, w->job.node_my_pe);
        size_t offset = (size_t)((const char *)addr - (const char *)h);
        size_t end = atomic_load_explicit(&h->facts.extent[pool], memory_order_acquire);
        if (offset >= offsets[pool] && offset < end && len <= end - offset) g = make(w->job.my_pe, offset);
    }
    return g ? g : rmai_attachment_gptr(w, addr, len);
}

rma_gptr_t rma_gptr(const void *addr, int pe) {
    struct rmai_world *w = &rmai_world;
    size_t offset = (size_t)((const char *)addr - w->local.base), local = rmai_segment_size(&w->local);
    rma_gptr_t g;
    int code;
    /* What is asked for most, and is all zero unless the runtime is running. */
    if (RMAI_LIKELY(offset < local && pe == w->job.my_pe && rma_reach_.running))
        return make(pe, w->job.layout.local + offset);
    code = rmai_running("rma_gptr");
    if (code == RMA_SUCCESS) code = rmai_check_pe(&w->job, "rma_gptr", "PE", pe);
    if (rmai_raise(code) != RMA_SUCCESS || !addr) return RMA_GPTR_NULL;
    g = pe == w->job.my_pe ? rmai_gptr_own(w, addr, 1) : of_symmetric(w, addr, 1, pe);
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

/* The part of a space in which an offset below the attached ones lies: [*start, *end), and which pool's extent *end is,
 * if *pool is not -1. Bytes of an object's end that the origin knows already are known to every PE. */
static void bounds(const struct rmai_world *w, size_t offset, size_t *start, size_t *end, int *pool) {
    *start = *end = 0;
    *pool = -1;
    if (offset >= w->job.layout.local) {
        *pool = offset >= w->job.layout.guest ? RMAI_GUEST : RMAI_OWN;
        *start = offset >= w->job.layout.guest ? w->job.layout.guest : w->job.layout.local;
    } else if (offset >= w->job.layout.symmetric) {
        *start = w->job.layout.symmetric;
        *end = *start + RMA_REACH_SIZE_;
    } else if (w->job.statics_mode != RMAI_STATICS_OFF) {
        *start = w->job.layout.statics;
        *end = *start + w->statics.size;
    }
}

static int within(size_t offset, size_t len, size_t start, size_t end) {
    return offset >= start && offset <= end && len <= end - offset;
}

/* What the inlined look would give, for the PEs that it does not cover, and what it does not know: global variables and
 * attached memory. Returns 0 if [g, g + len) is in no memory of its PE, number q of this node. */
static int find(struct rmai_world *w, rma_gptr_t g, size_t len, int q, struct rmai_place *p) {
    size_t offset = (size_t)(g & RMAI_OFFSET_MASK), start, end;
    struct rmai_header *h = rmai_header(&w->job, q);
    int pool;
    if (offset >= RMA_GPTR_ATTACHED_) {
        struct rmai_attached table;
        offset -= RMA_GPTR_ATTACHED_;
        *p = (struct rmai_place){.slot = q};
        if (q == w->job.node_my_pe) {
            p->there = (void *)(uintptr_t)rmai_attached_find(&w->attachments.table, offset, len);
            return p->there != NULL;
        }
        rmai_attached_view(&table, (char *)h + w->job.layout.attached);
        p->address = rmai_attached_enter(&table, offset, len, &p->region);
        return p->address != 0;
    }
    bounds(w, offset, &start, &end, &pool);
    if (pool >= 0) end = atomic_load_explicit(&h->facts.extent[pool], memory_order_acquire);
    if (!within(offset, len, start, end)) return 0;
    *p = (struct rmai_place){.there = (char *)h + offset, .pe = w->job.node_pes[q], .offset = offset};
    if (start == w->job.layout.statics && q == w->job.node_my_pe)
        p->there = w->statics.base + (offset - start);
    else if (start == w->job.layout.statics && w->job.statics_mode == RMAI_STATICS_WINDOW)
        *p = (struct rmai_place){.slot = q, .address = h->facts.statics + (offset - start)};
    return 1;
}

/* The same for a PE of another node. Attached memory is looked up by its owner when it comes to it, the extent of a
 * local heap is asked for only where what was last heard of it does not do. */
static int find_far(struct rmai_world *w, const char *call, rma_gptr_t g, size_t len, struct rmai_place *p, int *code) {
    size_t offset = (size_t)(g & RMAI_OFFSET_MASK), start, end;
    int pe = rma_gptr_pe(g), pool;
    *p = (struct rmai_place){.far = 1, .pe = pe, .offset = offset};
    if (offset >= RMA_GPTR_ATTACHED_) return 1;
    bounds(w, offset, &start, &end, &pool);
    for (int fresh = 0; pool >= 0 && fresh < 2; fresh++) {
        *code = rmai_net_extent(w, call, pe, pool, fresh, &end);
        if (*code != RMA_SUCCESS || within(offset, len, start, end)) break;
    }
    return within(offset, len, start, end);
}

void *rma_gptr_ptr(rma_gptr_t g) {
    struct rmai_world *w = &rmai_world;
    void *there = rma_gptr_ptr_(g, 1);
    struct rmai_place p = {0};
    int q;
    if (RMAI_LIKELY(there != NULL) || !rma_reach_.running || g == RMA_GPTR_NULL) return there;
    q = rmai_node_slot(&w->job, rma_gptr_pe(g));
    if (q < 0 || !find(w, g, 1, q, &p)) return NULL;
    if (p.region) rmai_attached_leave(p.region);
    return p.there;
}

static int not_there(const struct rmai_world *w, const char *call, rma_gptr_t g, size_t len) {
    unsigned long long offset = g & RMAI_OFFSET_MASK;
    if (offset >= RMA_GPTR_ATTACHED_)
        return rmai_error(
            RMA_ERR_ADDRESS,
            "%s: global pointer %#llx with %zu bytes is in no region that PE %d has attached (any more) (offset %#llx)",
            call, (unsigned long long)g, len, rma_gptr_pe(g), offset);
    return rmai_error(
        RMA_ERR_ADDRESS,
        "%s: global pointer %#llx with %zu bytes is outside the heaps of PE %d (offset %#llx; symmetric heap "
        "%#zx to %#zx, local heap from %#zx)",
        call, (unsigned long long)g, len, rma_gptr_pe(g), offset, w->job.layout.symmetric,
        w->job.layout.symmetric + rmai_segment_size(&w->symmetric), w->job.layout.local);
}

/* Attached memory is aligned as its address is, which only its owner's node knows. */
static int aligned(const char *call, rma_gptr_t g, size_t align, struct rmai_place *p) {
    if ((p->there ? (uintptr_t)p->there : p->address) & (align - 1)) {
        if (p->region) rmai_attached_leave(p->region);
        return rmai_error(RMA_ERR_ADDRESS,
                          "%s: global pointer %#llx (PE %d, address %#llx there) is not aligned to %zu bytes", call,
                          (unsigned long long)g, rma_gptr_pe(g),
                          (unsigned long long)(p->there ? (uintptr_t)p->there : p->address), align);
    }
    return RMA_SUCCESS;
}

static int resolve(const char *call, rma_gptr_t g, size_t len, size_t align, struct rmai_place *p) {
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
        int there = find_far(w, call, g, len, p, &code);
        p->set = &w->contexts.standing.pending;
        return code == RMA_SUCCESS && !there ? not_there(w, call, g, len) : code;
    }
    if (!find(w, g, len, q, p)) return not_there(w, call, g, len);
    p->set = &w->contexts.standing.pending;
    return aligned(call, g, align, p);
}

int rmai_gptr_here(struct rmai_world *w, const char *call, uint64_t offset, size_t len, size_t align, int writes,
                   void **there, struct rmai_region **region) {
    rma_gptr_t g = make(w->job.my_pe, offset);
    struct rmai_attached table;
    struct rmai_place p = {0};
    int code;
    *region = NULL;
    if (rmai_teams_hold((size_t)offset, len)) { /* no global pointer: another PE's library */
        *there = rmai_job_space(&w->job, w->job.node_my_pe) + offset;
        return RMA_SUCCESS;
    }
    if (offset < RMA_GPTR_ATTACHED_) {
        if (!find(w, g, len, w->job.node_my_pe, &p)) return not_there(w, call, g, len);
        *there = p.there;
        return aligned(call, g, align, &p);
    }
    /* As a peer does it: the program may be detaching it. */
    rmai_attached_view(&table, rmai_job_space(&w->job, w->job.node_my_pe) + w->job.layout.attached);
    p.there = (void *)(uintptr_t)rmai_attached_enter(&table, offset - RMA_GPTR_ATTACHED_, len, &p.region);
    if (!p.there) return not_there(w, call, g, len);
    *there = p.there;
    *region = p.region;
    code = aligned(call, g, align, &p);
    if (code == RMA_SUCCESS && !rmai_process_touchable(p.there, len, writes)) {
        rmai_attached_leave(p.region);
        code = rmai_not_mapped(call, (uint64_t)(uintptr_t)p.there, len, w->job.my_pe);
    }
    return code;
}

/* The address of this PE's own attached memory; NULL if g is something else, or wrong. */
static inline void *own_attached(rma_gptr_t g, size_t len) {
    const struct rmai_world *w = &rmai_world;
    rma_gptr_t offset = g - ((rma_gptr_t)(uint32_t)w->job.my_pe << RMA_GPTR_BITS_ | RMA_GPTR_ATTACHED_);
    if (offset >> (RMA_GPTR_BITS_ - 2) || !rma_reach_.running) return NULL;
    return (void *)(uintptr_t)rmai_attached_find(&w->attachments.table, offset, len);
}

/* Functions of their own, so that the two below keep nothing on the stack for what they do most. */
static RMAI_COLD int put_elsewhere(const char *call, rma_gptr_t dest, const void *source, size_t len) {
    struct rmai_place p;
    int code = len ? rmai_check_local(call, "source", source) : RMA_SUCCESS;
    if (code == RMA_SUCCESS) code = resolve(call, dest, len, 1, &p);
    if (code == RMA_SUCCESS) code = rmai_place_put(&rmai_world, call, &p, source, len, RMAI_NOW);
    return rmai_raise(code);
}

static RMAI_COLD int get_elsewhere(const char *call, void *dest, rma_gptr_t source, size_t len) {
    struct rmai_place p;
    int code = len ? rmai_check_local(call, "dest", dest) : RMA_SUCCESS;
    if (code == RMA_SUCCESS) code = resolve(call, source, len, 1, &p);
    if (code == RMA_SUCCESS) code = rmai_place_get(&rmai_world, call, &p, dest, len, RMAI_NOW);
    return rmai_raise(code);
}

int rma_gptr_put_slow_(const char *call, rma_gptr_t dest, const void *source, size_t len) {
    void *own = own_attached(dest, len);
    if (RMAI_UNLIKELY(!own)) return put_elsewhere(call, dest, source, len);
    rma_move_(own, source, len);
    return RMA_SUCCESS;
}

int rma_gptr_get_slow_(const char *call, void *dest, rma_gptr_t source, size_t len) {
    const void *own = own_attached(source, len);
    if (RMAI_UNLIKELY(!own)) return get_elsewhere(call, dest, source, len);
    rma_move_(dest, own, len);
    return RMA_SUCCESS;
}

int rma_gptr_atomic_slow_(const char *call, int op, rma_gptr_t g, size_t len, uint64_t value, uint64_t cond,
                          uint64_t *old) {
    struct rmai_place p;
    int code = resolve(call, g, len, len, &p);
    if (code == RMA_SUCCESS) code = rmai_place_atomic(&rmai_world, call, &p, op, len, value, cond, old);
    return rmai_raise(code);
}

int rma_gptr_atomic_nbi_slow_(const char *call, int op, rma_gptr_t g, size_t len, uint64_t value, uint64_t cond,
                              void *fetch) {
    struct rmai_place p;
    int code = rmai_running(call);
    if (code == RMA_SUCCESS && !fetch) code = rmai_error(RMA_ERR_ARG, "%s: fetch is a null pointer", call);
    if (code == RMA_SUCCESS) code = resolve(call, g, len, len, &p);
    if (code == RMA_SUCCESS) code = rmai_place_atomic_later(&rmai_world, call, &p, op, len, value, cond, fetch);
    return rmai_raise(code);
}
