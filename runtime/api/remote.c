/* SPDX-License-Identifier: BSD-3-Clause */
/* The public calls on blocks of any PE's local heap. It uses runtime/pool on this node, a request on other nodes, and
 * runtime/api/local for this PE's own blocks. */
#include "config.h"

#include "base/error.h"
#include "heap/segment.h"
#include "runtime/context.h"
#include "runtime/job/job.h"
#include "runtime/api/local.h"
#include "runtime/net/op.h"
#include "runtime/pool.h"
#include "runtime/reach.h"
#include "runtime/space.h"
#include "runtime/world.h"

int rma_alloc_mem_on(int pe, size_t size, rma_gptr_t *g) {
    static const char call[] = "rma_alloc_mem_on";
    struct rmai_world *w = &rmai_world;
    rma_gptr_t block = RMA_GPTR_NULL;
    int q, code = rmai_running(call);
    if (code == RMA_SUCCESS) code = rmai_check_pe(&w->job, call, "PE", pe);
    if (code == RMA_SUCCESS && !g) code = rmai_error(RMA_ERR_ARG, "%s: g is a null pointer", call);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    q = rmai_node_slot(&w->job, pe);
    if (size)
        code = q >= 0 ? rmai_guest_alloc(w, call, q, size, &block)
                      : rmai_net_alloc(call, w->contexts->standing.pending, pe, size, &block);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    *g = block;
    return RMA_SUCCESS;
}

int rma_gptr_free(rma_gptr_t g) {
    struct rmai_world *w = &rmai_world;
    size_t offset = (size_t)(g & RMAI_OFFSET_MASK);
    int q, code = rmai_running("rma_gptr_free");
    if (code != RMA_SUCCESS || g == RMA_GPTR_NULL) return rmai_raise(code);
    code = rmai_check_pe(&w->job, "rma_gptr_free", "global pointer to PE", rma_gptr_pe(g));
    if (code != RMA_SUCCESS) return rmai_raise(code);
    q = rmai_node_slot(&w->job, rma_gptr_pe(g));
    if (q < 0) return rmai_raise(rmai_net_free("rma_gptr_free", w->contexts->standing.pending, rma_gptr_pe(g), offset));
    if (q == w->job.node_my_pe && rmai_segment_holds(&w->local, rmai_job_space(&w->job, q) + offset)) {
        code = rmai_local_free(w, "rma_gptr_free", rmai_job_space(&w->job, q) + offset);
        return rmai_raise(code);
    }
    return rmai_raise(rmai_give_back(w, "rma_gptr_free", q, offset, NULL));
}
