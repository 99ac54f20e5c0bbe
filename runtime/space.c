/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/space.h"
#include "base/error.h"
#include "base/process.h"
#include "base/settings.h"
#include "heap/attached.h"
#include "heap/segment.h"
#include "heap/statics.h"
#include "runtime/attach.h"
#include "runtime/header.h"
#include "runtime/job/job.h"
#include "runtime/place.h"
#include "runtime/world.h"

/* ---- from addresses of this PE to offsets ---- */

rma_gptr_t rmai_gptr_symmetric(const struct rmai_world *w, const void *addr, size_t len, int pe) {
    size_t offset = (size_t)((const char *)addr - w->symmetric.base), size = rmai_segment_size(&w->symmetric);
    if (offset < size && len <= size - offset) return rmai_gptr_make(pe, w->job.layout.symmetric + offset);
    offset = (size_t)((const char *)addr - w->statics->base);
    if (w->job.statics_mode != RMAI_STATICS_OFF && offset < w->statics->size && len <= w->statics->size - offset)
        return rmai_gptr_make(pe, w->job.layout.statics + offset);
    return RMA_GPTR_NULL;
}

rma_gptr_t rmai_gptr_own(struct rmai_world *w, const void *addr, size_t len) {
    rma_gptr_t g = rmai_gptr_symmetric(w, addr, len, w->job.my_pe);
    if (RMAI_LIKELY(g != RMA_GPTR_NULL)) return g;
    const size_t offsets[RMAI_POOLS] = {w->job.layout.local, w->job.layout.guest};
    for (int pool = 0; pool < RMAI_POOLS && !g; pool++) {
        struct rmai_header *h = rmai_header(&w->job, w->job.node_my_pe);
        size_t offset = (size_t)((const char *)addr - (const char *)h);
        size_t end = atomic_load_explicit(&h->facts.extent[pool], memory_order_acquire);
        if (offset >= offsets[pool] && offset < end && len <= end - offset) g = rmai_gptr_make(w->job.my_pe, offset);
    }
    return g ? g : rmai_attachment_gptr(w, addr, len);
}

/* ---- from offsets to places ---- */

struct rmai_part rmai_space_part(const struct rmai_world *w, size_t offset) {
    const struct rmai_layout *l = &w->job.layout;
    if (offset >= l->guest) return (struct rmai_part){.start = l->guest, .pool = RMAI_GUEST};
    if (offset >= l->local) return (struct rmai_part){.start = l->local, .pool = RMAI_OWN};
    if (offset >= l->symmetric)
        return (struct rmai_part){.start = l->symmetric, .end = l->symmetric + RMA_REACH_SIZE_, .pool = -1};
    if (w->job.statics_mode != RMAI_STATICS_OFF)
        return (struct rmai_part){.start = l->statics, .end = l->statics + w->statics->size, .pool = -1};
    return (struct rmai_part){.pool = -1};
}

/* This PE enters its own region as other PEs do: another thread may be detaching it at this moment. */
static int find_attached(struct rmai_world *w, size_t offset, size_t len, int q, struct rmai_place *p) {
    struct rmai_attached table;
    *p = (struct rmai_place){.slot = q, .pe = w->job.node_pes[q], .offset = offset + RMA_GPTR_ATTACHED_};
    rmai_attached_view(&table, rmai_job_space(&w->job, q) + w->job.layout.attached);
    p->address = rmai_attached_enter(&table, offset, len, &p->region);
    if (q == w->job.node_my_pe) p->there = (void *)(uintptr_t)p->address;
    return p->address != 0;
}

int rmai_space_find(struct rmai_world *w, rma_gptr_t g, size_t len, int q, struct rmai_place *p) {
    size_t offset = (size_t)(g & RMAI_OFFSET_MASK);
    struct rmai_header *h = rmai_header(&w->job, q);
    struct rmai_part part;
    if (offset >= RMA_GPTR_ATTACHED_) return find_attached(w, offset - RMA_GPTR_ATTACHED_, len, q, p);
    part = rmai_space_part(w, offset);
    if (part.pool >= 0) part.end = atomic_load_explicit(&h->facts.extent[part.pool], memory_order_acquire);
    if (!rmai_part_holds(&part, offset, len)) return 0;
    *p = (struct rmai_place){.there = (char *)h + offset, .slot = q, .pe = w->job.node_pes[q], .offset = offset};
    if (part.start == w->job.layout.statics && q == w->job.node_my_pe)
        p->there = w->statics->base + (offset - part.start);
    else if (part.start == w->job.layout.statics && w->job.statics_mode == RMAI_STATICS_WINDOW)
        *p = (struct rmai_place){
            .slot = q, .pe = w->job.node_pes[q], .offset = offset, .address = h->facts.statics + (offset - part.start)};
    return 1;
}

int rmai_space_absent(const struct rmai_world *w, const char *call, rma_gptr_t g, size_t len) {
    unsigned long long offset = g & RMAI_OFFSET_MASK;
    if (offset >= RMA_GPTR_ATTACHED_)
        return rmai_error(RMA_ERR_ADDRESS,
                          "%s: global pointer %#llx with %zu byte%s is in no region that PE %d has attached (any more) "
                          "(offset %#llx)",
                          call, (unsigned long long)g, len, rmai_s(len), rma_gptr_pe(g), offset);
    return rmai_error(
        RMA_ERR_ADDRESS,
        "%s: global pointer %#llx with %zu byte%s is outside the heaps of PE %d (offset %#llx; symmetric heap "
        "%#zx to %#zx, local heap from %#zx)",
        call, (unsigned long long)g, len, rmai_s(len), rma_gptr_pe(g), offset, w->job.layout.symmetric,
        w->job.layout.symmetric + rmai_segment_size(&w->symmetric), w->job.layout.local);
}

int rmai_space_check_aligned(const char *call, rma_gptr_t g, size_t align, struct rmai_place *p) {
    uint64_t address = p->there ? (uintptr_t)p->there : p->address;
    if ((address & (align - 1)) == 0) return RMA_SUCCESS;
    if (p->region) rmai_attached_leave(p->region);
    return rmai_error(RMA_ERR_ADDRESS,
                      "%s: global pointer %#llx (PE %d, address %#llx there) is not aligned to %zu bytes", call,
                      (unsigned long long)g, rma_gptr_pe(g), (unsigned long long)address, align);
}

/* ---- of this PE, for another one ---- */

int rmai_gptr_here(struct rmai_world *w, const char *call, uint64_t offset, size_t len, size_t align, int writes,
                   void **there, struct rmai_region **region) {
    const rma_gptr_t g = rmai_gptr_make(w->job.my_pe, offset);
    struct rmai_place p = {0};
    int code;
    if (!rmai_space_find(w, g, len, w->job.node_my_pe, &p)) return rmai_space_absent(w, call, g, len);
    code = rmai_space_check_aligned(call, g, align, &p);
    if (code == RMA_SUCCESS && p.region && writes >= 0 && !rmai_process_touchable(p.there, len, writes)) {
        rmai_attached_leave(p.region);
        code = rmai_not_mapped(call, p.address, len, w->job.my_pe);
    }
    *there = p.there;
    *region = p.region;
    return code;
}
