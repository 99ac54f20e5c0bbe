/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/life/net_handlers.h"
#include "base/error.h"
#include "base/process.h"
#include "rma.h"
#include "base/wait.h"
#include "heap/attached.h"
#include "runtime/attach.h"
#include "runtime/window_memory.h"
#include "runtime/header.h"
#include "runtime/job/by_node.h"
#include "runtime/job/job.h"
#include "runtime/net/net.h"
#include "runtime/place.h"
#include "runtime/pool.h"
#include "runtime/space.h"
#include "runtime/watch/stall.h"
#include "runtime/world.h"

/* As if the access had arrived at the neighbour. The neighbour's header tells how far its heaps reach, as for any
 * access of this PE's own. */
static int locate_at_neighbour(struct rmai_world *w, const char *call, uint64_t offset, size_t len, size_t alignment,
                               int q, void **there) {
    const rma_gptr_t g = rmai_gptr_make(w->job.node_pes[q], offset);
    struct rmai_place p = {0};
    if (offset >= RMA_GPTR_ATTACHED_ || !rmai_space_find(w, g, len, q, &p) || !p.there)
        return rmai_space_absent(w, call, g, len);
    *there = p.there;
    return rmai_space_check_aligned(call, g, alignment, &p);
}

/* Memory that the program has not shared. */
static int locate_at_address(const struct rmai_world *w, const char *call, uint64_t address, size_t len, int writes,
                             void **there) {
    *there = (void *)(uintptr_t)address;
    if (writes < 0 || rmai_process_touchable(*there, len, writes)) return RMA_SUCCESS;
    return rmai_not_mapped(call, address, len, w->job.my_pe);
}

static int locate_here(void *context, const char *call, uint64_t marked, size_t len, size_t alignment, int writes,
                       void **there, void **hold) {
    const uint32_t owner = rmai_by_node_owner(marked);
    struct rmai_region *region = NULL;
    int code;
    *hold = NULL;
    if (marked & RMAI_AT_ADDRESS)
        return locate_at_address(context, call, marked & ~RMAI_AT_ADDRESS, len, writes, there);
    if (owner)
        return locate_at_neighbour(context, call, rmai_by_node_offset(marked), len, alignment, (int)owner - 1, there);
    code = rmai_gptr_here(context, call, marked, len, alignment, writes, there, &region);
    if (code == RMA_SUCCESS) *hold = region;
    return code;
}

/* The symmetric heap, as far as it reaches now: it only grows, and on all PEs alike. */
static void symmetric_heap(void *context, uint64_t *offset, size_t *len, unsigned char **there) {
    const struct rmai_world *w = context;
    *offset = w->job.layout.symmetric;
    *len = RMA_REACH_SIZE_;
    *there = (unsigned char *)w->symmetric.base;
}

static void release_region(void *context, void *hold) {
    (void)context;
    rmai_attached_leave(hold);
}

static int allocate_here(void *context, const char *call, size_t size, uint64_t *block) {
    struct rmai_world *w = context;
    int code = rmai_guest_alloc(w, call, w->job.node_my_pe, size, block);
    if (code == RMA_SUCCESS)
        rmai_window_memory_guests(w); /* other PEs may read the directory by gets instead of asking for the extents */
    return code;
}

static int give_back_here(void *context, const char *call, uint64_t offset) {
    struct rmai_world *w = context;
    return rmai_give_back(w, call, w->job.node_my_pe, (size_t)offset, NULL);
}

static void read_extents(void *context, size_t extent[RMAI_POOLS]) {
    struct rmai_world *w = context;
    const struct rmai_facts *mine = rmai_facts(&w->job, w->job.node_my_pe);
    rmai_window_memory_guests(w);
    for (int i = 0; i < RMAI_POOLS; i++) extent[i] = atomic_load_explicit(&mine->extent[i], memory_order_acquire);
}

static void read_sign(void *context, struct rmai_sign *sign) {
    const struct rmai_world *w = context;
    rmai_sign_read(&rmai_header(&w->job, w->job.node_my_pe)->sign, sign);
}

static int take_sign_of_life(void *context, int from, const struct rmai_envelope *e, size_t len) {
    struct rmai_world *w = context;
    return rmai_ping_take_answer(&w->watch->pings, from, e, len);
}

static void check_wait(void *context, struct rmai_stall *stall) {
    struct rmai_world *w = context;
    rmai_stall_check(w->watch, stall);
}

static void end_stall_checks(void *context, struct rmai_stall *stall) {
    struct rmai_world *w = context;
    rmai_stall_end(w->watch, stall);
}

static void end_job(void *context) {
    struct rmai_error_kept why; /* the end of the job may record another error */
    (void)context;
    rmai_error_keep(&why);
    rma_errors_abort(why.code, why.text);
}

void rmai_net_handlers(struct rmai_world *w, struct rmai_net_handlers *handlers) {
    *handlers = (struct rmai_net_handlers){.context = w,
                                           .locate = locate_here,
                                           .release_hold = release_region,
                                           .direct = symmetric_heap,
                                           .allocate = allocate_here,
                                           .give_back = give_back_here,
                                           .extents = read_extents,
                                           .sign = read_sign,
                                           .take_sign_of_life = take_sign_of_life,
                                           .wait_lasts = check_wait,
                                           .wait_is_over = end_stall_checks,
                                           .fatal = end_job,
                                           .doze = &w->doze};
}
