/* SPDX-License-Identifier: BSD-3-Clause */
/* Where symmetric addresses lead: into the symmetric heap, or to global variables; every other address is an error. */
#include "config.h"

#include "runtime/api/resolve.h"
#include "base/error.h"
#include "base/settings.h"
#include "heap/segment.h"
#include "heap/statics.h"
#include "runtime/context.h"
#include "runtime/denied.h"
#include "runtime/job/job.h"
#include "runtime/world.h"

#include <stdio.h>
#include <string.h>

static int not_symmetric(const struct rmai_world *w, const char *call, const char *argument, const void *addr,
                         size_t len) {
    const char *malloc_name = rmai_error_of_shmem(call) ? "shmem_malloc" : "rma_malloc";
    char where[256];
    if (!addr) return rmai_null_pointer(RMA_ERR_ADDRESS, call, argument);
    if (rmai_segment_holds(&w->symmetric, addr))
        rmai_segment_describe(&w->symmetric, addr, where, sizeof where);
    else if (rmai_segment_holds(&w->local, addr))
        strcpy(where, "it is in the local heap, which is not symmetric: use a global pointer (rma_gptr)");
    else if (rmai_statics_constant(addr))
        strcpy(where, "it is a constant of the program, or code, and only variables are symmetric");
    else if (w->job.statics_mode == RMAI_STATICS_OFF)
        snprintf(where, sizeof where,
                 "it is in no memory that %s gives (global variables are not symmetric in this job: see RMA_STATICS)",
                 malloc_name);
    else if ((size_t)((const char *)addr - w->statics->base) < w->statics->size)
        snprintf(where, sizeof where, "it passes the end of the program's global variables at %p",
                 (void *)(w->statics->base + w->statics->size));
    else
        snprintf(where, sizeof where, "it is in no memory that %s gives, and in no global variable of the program",
                 malloc_name);
    return rmai_error(RMA_ERR_ADDRESS, "%s: %s %p with %zu byte%s is not inside the symmetric heap: %s", call, argument,
                      addr, len, rmai_s(len), where);
}

/* PE pe is number `slot` of the node or, with -1, on another node. */
static int find_symmetric(const struct rmai_world *w, const void *addr, size_t len, int pe, int slot,
                          struct rmai_place *p) {
    size_t offset = (size_t)((const char *)addr - w->symmetric.base), size = rmai_segment_size(&w->symmetric);
    *p = (struct rmai_place){.far = slot < 0, .pe = pe, .slot = slot, .offset = w->job.layout.symmetric + offset};
    if (offset <= size && len <= size - offset) {
        if (!p->far) p->there = rmai_job_space(&w->job, slot) + w->job.layout.symmetric + offset;
        return 1;
    }
    offset = (size_t)((const char *)addr - w->statics->base);
    if (w->job.statics_mode == RMAI_STATICS_OFF || offset >= w->statics->size || len > w->statics->size - offset)
        return 0;
    p->offset = w->job.layout.statics + offset;
    if (p->far) return 1;
    if (slot == w->job.node_my_pe)
        p->there = (void *)(uintptr_t)addr;
    else if (w->job.statics_mode == RMAI_STATICS_REMAP)
        p->there = rmai_job_space(&w->job, slot) + w->job.layout.statics + offset;
    else
        p->address = rmai_facts(&w->job, slot)->statics + offset;
    return 1;
}

int rmai_place_symmetric(const struct rmai_world *w, const void *addr, size_t len, int pe, struct rmai_place *p) {
    return find_symmetric(w, addr, len, pe, rmai_node_slot(&w->job, pe), p);
}

int rmai_resolve(const char *call, const char *argument, const rma_ctx *ctx, const void *addr, size_t len, int pe,
                 struct rmai_place *p) {
    struct rmai_world *w = &rmai_world;
    struct rmai_context *c = rmai_context(call, ctx);
    if (!c) return rma_last_code();
    pe = rmai_context_pe(c, call, pe);
    if (pe < 0) return RMA_ERR_PE;
    if (!find_symmetric(w, addr, len, pe, rmai_node_slot(&w->job, pe), p))
        return not_symmetric(w, call, argument, addr, len);
    p->set = c->pending;
    return RMA_SUCCESS;
}

uint64_t rmai_symmetric_offset(const struct rmai_world *w, const void *addr) {
    size_t offset = (size_t)((const char *)addr - w->statics->base);
    if (offset < w->statics->size) return UINT64_MAX / 2 + offset;
    return (uint64_t)((const char *)addr - w->symmetric.base);
}

int rmai_resolve_nothing(const char *call, const rma_ctx *ctx, int pe) {
    const struct rmai_context *c = rmai_context(call, ctx);
    return c && rmai_context_pe(c, call, pe) >= 0 ? RMA_SUCCESS : rma_last_code();
}

int rmai_resolve_word(const char *call, const char *argument, const rma_ctx *ctx, const void *word, size_t len, int pe,
                      struct rmai_place *p) {
    int code = rmai_resolve(call, argument, ctx, word, len, pe, p);
    if (code == RMA_SUCCESS && ((uintptr_t)word & (len - 1)))
        code = rmai_error(RMA_ERR_ADDRESS, "%s: %s %p is not aligned to its %zu bytes", call, argument, word, len);
    return code;
}
