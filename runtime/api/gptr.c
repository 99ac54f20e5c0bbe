/* SPDX-License-Identifier: BSD-3-Clause */
/* The public calls on global pointers, beyond the inlined path: making a global pointer, finding its address in this
 * process, and accessing memory by it. runtime/space finds the memory of an offset, runtime/place accesses it. */
#include "config.h"

#include "runtime/api/gptr.h"
#include "base/attributes.h"
#include "base/error.h"
#include "heap/attached.h"
#include "heap/segment.h"
#include "runtime/attach.h"
#include "runtime/context.h"
#include "runtime/job/job.h"
#include "runtime/interfaces.h"
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
    /* Most calls ask for the local heap. Before rma_init its size is 0; after rma_finalize it is not, so check
     * `running`. */
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

/* As rmai_space_find, for a PE of another node. Questions to the owner belong to p->set. The owner looks up attached
 * memory when the access arrives. This PE asks for the extent of the owner's local heap only if the last known extent
 * is too small. */
static int find_on_other_node(struct rmai_world *w, const char *call, rma_gptr_t g, size_t len,
                              struct rmai_pending *set, struct rmai_place *p, int *code) {
    size_t offset = (size_t)(g & RMAI_OFFSET_MASK);
    struct rmai_part part;
    int pe = rma_gptr_pe(g);
    *p = (struct rmai_place){.far = 1, .pe = pe, .offset = offset, .set = set};
    if (offset >= RMA_GPTR_ATTACHED_) return 1;
    part = rmai_space_part(w, offset);
    for (int fresh = 0; part.pool >= 0 && fresh < 2; fresh++) {
        *code = rmai_net_extent(call, set, pe, (enum rmai_pool)part.pool, fresh, &part.end);
        if (*code != RMA_SUCCESS || rmai_part_holds(&part, offset, len)) break;
    }
    return rmai_part_holds(&part, offset, len);
}

/* Finds [g, g + len), for an access in ctx. `argument` names the parameter in texts. An attached region is entered. */
static int resolve_gptr(const char *call, const char *argument, const rma_ctx *ctx, rma_gptr_t g, size_t len,
                        size_t align, struct rmai_place *p) {
    struct rmai_world *w = &rmai_world;
    struct rmai_context *c = rmai_context(call, ctx);
    unsigned long long offset = g & RMAI_OFFSET_MASK;
    int pe = rma_gptr_pe(g), q, code = RMA_SUCCESS;
    if (!c) return rma_last_code();
    if (g == RMA_GPTR_NULL) return rmai_error(RMA_ERR_ADDRESS, "%s: the global pointer %s is null", call, argument);
    if (pe >= w->job.n_pes)
        return rmai_error(RMA_ERR_PE, "%s: global pointer %#llx names PE %d, outside 0..%d", call,
                          (unsigned long long)g, pe, w->job.n_pes - 1);
    if (offset & (align - 1) && offset < RMA_GPTR_ATTACHED_)
        return rmai_error(RMA_ERR_ADDRESS, "%s: global pointer %#llx (PE %d, offset %#llx) is not aligned to %zu bytes",
                          call, (unsigned long long)g, pe, offset, align);
    q = RMAI_LIKELY(rma_slot_(pe) < rma_reach_.n_node) ? (int)rma_slot_(pe) : rmai_node_slot(&w->job, pe);
    if (q < 0) {
        int there = find_on_other_node(w, call, g, len, c->pending, p, &code);
        return code == RMA_SUCCESS && !there ? rmai_space_absent(w, call, g, len) : code;
    }
    if (!rmai_space_find(w, g, len, q, p)) return rmai_space_absent(w, call, g, len);
    p->set = c->pending;
    return rmai_space_check_aligned(call, g, align, p);
}

int rmai_resolve_gptr(const char *call, const char *argument, const rma_ctx *ctx, rma_gptr_t g, ptrdiff_t from,
                      size_t len, size_t align, struct rmai_place *p) {
    const uint64_t offset = (g & RMAI_OFFSET_MASK) + (uint64_t)from;
    /* What lies before the space of the PE, or after it, must not become that of another PE. */
    if (g != RMA_GPTR_NULL && offset > RMAI_OFFSET_MASK)
        return rmai_error(RMA_ERR_ADDRESS,
                          "%s: global pointer %#llx with elements from %td bytes on is in no memory of PE %d", call,
                          (unsigned long long)g, from, rma_gptr_pe(g));
    return resolve_gptr(call, argument, ctx, g == RMA_GPTR_NULL ? g : g + (uint64_t)from, len, align, p);
}

/* The address of this PE's own attached memory; NULL if g is something else, or wrong, or if another thread could
 * detach the region during the access: then the access has to enter the region. */
static inline void *own_attached_address(rma_gptr_t g, size_t len) {
    const struct rmai_world *w = &rmai_world;
    rma_gptr_t offset = g - ((rma_gptr_t)(uint32_t)w->job.my_pe << RMA_GPTR_BITS_ | RMA_GPTR_ATTACHED_);
    if (offset >> (RMA_GPTR_BITS_ - 2) || w->job.level == RMA_THREAD_MULTIPLE || !rma_reach_.running) return NULL;
    return (void *)(uintptr_t)rmai_attached_find(&w->attachments->table, offset, len);
}

/* These are separate functions: inlined they would make the two public calls below save registers on the stack even for
 * this PE's own memory, for which these calls are mostly used. */
static RMAI_COLD int put_by_gptr(const char *call, const rma_ctx *ctx, rma_gptr_t dest, const void *source, size_t len,
                                 enum rmai_when when) {
    struct rmai_place p;
    int code = len ? rmai_check_local(call, "source", source) : RMA_SUCCESS;
    if (code == RMA_SUCCESS) code = resolve_gptr(call, "dest", ctx, dest, len, 1, &p);
    if (code == RMA_SUCCESS) code = rmai_place_put(&rmai_world, call, &p, source, len, when);
    return rmai_raise(code);
}

static RMAI_COLD int get_by_gptr(const char *call, const rma_ctx *ctx, void *dest, rma_gptr_t source, size_t len,
                                 enum rmai_when when) {
    struct rmai_place p;
    int code = len ? rmai_check_local(call, "dest", dest) : RMA_SUCCESS;
    if (code == RMA_SUCCESS) code = resolve_gptr(call, "source", ctx, source, len, 1, &p);
    if (code == RMA_SUCCESS) code = rmai_place_get(&rmai_world, call, &p, dest, len, when);
    return rmai_raise(code);
}

int rma_gptr_put_slow_(const char *call, rma_gptr_t dest, const void *source, size_t len) {
    void *own = own_attached_address(dest, len);
    if (RMAI_UNLIKELY(!own)) return put_by_gptr(call, RMA_CTX_DEFAULT, dest, source, len, RMAI_NOW);
    rma_move_(own, source, len);
    return RMA_SUCCESS;
}

_Static_assert(RMA_GATHERED_MOST_ == RMAI_GATHERED_MOST, "the layers above rely on what the net gathers");
int rma_put_gathered_(rma_gptr_t dest, const void *source, size_t len) {
    static const char call[] = "rma_gptr_put";
    struct rmai_place p;
    struct rmai_op op;
    int code = rmai_check_local(call, "source", source);
    if (code == RMA_SUCCESS) code = resolve_gptr(call, "dest", RMA_CTX_DEFAULT, dest, len, 1, &p);
    if (code != RMA_SUCCESS || !p.far) return code == RMA_SUCCESS ? rma_gptr_put(dest, source, len) : rmai_raise(code);
    op = rmai_place_move(call, &p, RMAI_RECORD_PUT, (void *)(uintptr_t)source, len, RMAI_NOW);
    return rmai_raise(rmai_net_put_gathered(&op));
}

/* Fills in an operation on memory that exists, of a PE of another node. Returns 0 if the owner has to look it up, or
 * the library is not running. */
static inline int fill_within(struct rmai_op *op, const char *call, rma_gptr_t g, void *buffer, size_t len) {
    const struct rmai_context *c = rmai_context(call, RMA_CTX_DEFAULT);
    const uint64_t offset = g & RMAI_OFFSET_MASK;
    if (RMAI_UNLIKELY(!c || offset >= RMA_GPTR_ATTACHED_)) return 0;
    op->call = call;
    op->set = c->pending;
    op->pe = rma_gptr_pe(g);
    op->offset = offset;
    op->buffer = buffer;
    op->len = len;
    return 1;
}

static RMAI_COLD int put_recorded(rma_gptr_t dest, const void *source, size_t len) {
    int code;
    rma_errors_recorded_ = 1;
    code = rma_gptr_put(dest, source, len);
    rma_errors_recorded_ = 0;
    return code;
}

static RMAI_COLD int get_recorded(void *dest, rma_gptr_t source, size_t len) {
    int code;
    rma_errors_recorded_ = 1;
    code = rma_gptr_get_nbi(dest, source, len);
    rma_errors_recorded_ = 0;
    return code;
}

int rma_put_within_(rma_gptr_t dest, const void *source, size_t len, int gathered) {
    struct rmai_op op;
    if (RMAI_UNLIKELY(!fill_within(&op, "rma_gptr_put", dest, (void *)(uintptr_t)source, len)))
        return put_recorded(dest, source, len);
    op.kind = RMAI_RECORD_PUT;
    op.when = RMAI_NOW;
    if (rmai_net_stream_takes(&op)) return RMA_SUCCESS;
    return gathered ? rmai_net_put_gathered(&op) : rmai_net_put(&op);
}

int rma_get_within_(void *dest, rma_gptr_t source, size_t len) {
    struct rmai_op op;
    if (RMAI_UNLIKELY(!fill_within(&op, "rma_gptr_get_nbi", source, dest, len))) return get_recorded(dest, source, len);
    op.kind = RMAI_RECORD_GET;
    op.when = RMAI_LATER;
    return rmai_net_stream_takes(&op) ? RMA_SUCCESS : rmai_net_get(&op);
}

int rma_gptr_get_slow_(const char *call, void *dest, rma_gptr_t source, size_t len) {
    const void *own = own_attached_address(source, len);
    if (RMAI_UNLIKELY(!own)) return get_by_gptr(call, RMA_CTX_DEFAULT, dest, source, len, RMAI_NOW);
    rma_move_(dest, own, len);
    return RMA_SUCCESS;
}

int rma_ctx_gptr_put_slow_(const char *call, const rma_ctx *ctx, rma_gptr_t dest, const void *source, size_t len) {
    return put_by_gptr(call, ctx, dest, source, len, RMAI_NOW);
}

int rma_ctx_gptr_get_slow_(const char *call, const rma_ctx *ctx, void *dest, rma_gptr_t source, size_t len) {
    return get_by_gptr(call, ctx, dest, source, len, RMAI_NOW);
}

int rma_gptr_p_slow_(const char *call, const rma_ctx *ctx, rma_gptr_t dest, const void *value, size_t len) {
    return put_by_gptr(call, ctx, dest, value, len, RMAI_COPIED);
}

int rma_gptr_put_nbi_slow_(const char *call, const rma_ctx *ctx, rma_gptr_t dest, const void *source, size_t len) {
    return put_by_gptr(call, ctx, dest, source, len, RMAI_LATER);
}

int rma_gptr_get_nbi_slow_(const char *call, const rma_ctx *ctx, void *dest, rma_gptr_t source, size_t len) {
    return get_by_gptr(call, ctx, dest, source, len, RMAI_LATER);
}

int rma_gptr_atomic_slow_(const char *call, int op, rma_gptr_t g, size_t len, uint64_t value, uint64_t cond,
                          uint64_t *old) {
    struct rmai_place p;
    int code = resolve_gptr(call, "target", RMA_CTX_DEFAULT, g, len, len, &p);
    if (code == RMA_SUCCESS) code = rmai_place_atomic(&rmai_world, call, &p, op, len, value, cond, old);
    return rmai_raise(code);
}

int rma_gptr_atomic_nbi_slow_(const char *call, int op, rma_gptr_t g, size_t len, uint64_t value, uint64_t cond,
                              void *fetch) {
    struct rmai_place p;
    int code = rmai_running(call);
    if (code == RMA_SUCCESS && !fetch) code = rmai_error(RMA_ERR_ARG, "%s: fetch is a null pointer", call);
    if (code == RMA_SUCCESS) code = resolve_gptr(call, "target", RMA_CTX_DEFAULT, g, len, len, &p);
    if (code == RMA_SUCCESS) code = rmai_place_atomic_later(&rmai_world, call, &p, op, len, value, cond, fetch);
    return rmai_raise(code);
}
