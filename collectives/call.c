/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "collectives/call.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/settings.h"
#include "base/kernels.h"
#include "collectives/nodes.h"
#include "heap/statics.h"
#include "runtime/denied.h"
#include "runtime/job/job.h"
#include "runtime/node/barrier.h"
#include "runtime/team.h"

#include <string.h>

int rmai_call_begin(struct rmai_call *c, const char *name, const rma_team *team) {
    c->w = &rmai_world;
    c->name = name;
    c->t = rmai_team(c->w, name, team);
    if (!c->t) return rma_last_code();
    c->near = &c->t->near;
    c->near->call = name;
    c->far = c->near->n < c->t->n;
    return RMA_SUCCESS;
}

int rmai_call_reaches(const struct rmai_call *c) {
    return c->far && !c->t->nodes.room ? rmai_nodes_ready(c->w, c->name, c->t) : RMA_SUCCESS;
}

RMAI_COLD int rmai_call_leader_failed_(const struct rmai_call *c, int code) {
    return rmai_neighbour_failed(c->name, code, rmai_team_pe(c->t, c->near->index[0]));
}

/* ---- buffers ---- */

/* Sets *offset to the place of [addr, addr + len) in this PE's space, where near PEs find it, or to 0 if they cannot
 * reach that memory. Returns RMA_SUCCESS, or RMA_ERR_ADDRESS after recording that the range begins in a heap and passes
 * the end of what that heap has in use. */
static int find_offset(struct rmai_world *w, const char *call, const char *argument, const void *addr, size_t len,
                       uint64_t *offset) {
    const char *space = rmai_job_space(&w->job, w->job.node_my_pe);
    /* The size of the symmetric heap, which another thread may extend at this moment. */
    const size_t size = __atomic_load_n(&rma_reach_.size, __ATOMIC_RELAXED);
    size_t at = (size_t)((const char *)addr - w->symmetric.base), all;
    *offset = w->job.layout.symmetric + at;
    if (RMAI_LIKELY(at <= size && len <= size - at)) return RMA_SUCCESS;
    *offset = 0;
    if (w->job.statics_mode == RMAI_STATICS_REMAP && w->statics->moved) {
        at = (size_t)((const char *)addr - w->statics->base);
        if (at < w->statics->size && len <= w->statics->size - at) {
            *offset = w->job.layout.statics + at;
            return RMA_SUCCESS;
        }
    }
    at = (size_t)((const char *)addr - space);
    if (at >= w->job.layout.stride) return RMA_SUCCESS;
    if (at >= w->job.layout.symmetric && at < w->job.layout.symmetric + w->job.layout.symmetric_max) {
        all = w->job.layout.symmetric + size;
    } else if (at >= w->job.layout.local) {
        all = atomic_load_explicit(
            &rmai_facts(&w->job, w->job.node_my_pe)->extent[at >= w->job.layout.guest ? RMAI_GUEST : RMAI_OWN],
            memory_order_acquire);
    } else {
        all = 0;
    }
    if (at > all || len > all - at)
        return rmai_error(RMA_ERR_ADDRESS,
                          "%s: %s %p with %zu byte%s passes the end of the heap's %zu bytes in use at %p", call,
                          argument, addr, len, rmai_s(len), all, (const void *)(space + all));
    *offset = at;
    return RMA_SUCCESS;
}

static int check_buffer(const struct rmai_call *c, struct rmai_buffer *b) {
    b->offset = 0;
    if (b->len == 0) return RMA_SUCCESS;
    if (!b->addr) return rmai_null_pointer(RMA_ERR_ARG, c->name, b->argument);
    if ((uintptr_t)b->addr & (b->align - 1))
        return rmai_error(RMA_ERR_ADDRESS, "%s: %s %p is not aligned to the %zu bytes of its type", c->name,
                          b->argument, b->addr, b->align);
    if ((uintptr_t)b->addr + b->len < (uintptr_t)b->addr)
        return rmai_error(RMA_ERR_ADDRESS, "%s: %s %p with %zu byte%s passes the end of memory", c->name, b->argument,
                          b->addr, b->len, rmai_s(b->len));
    return find_offset(c->w, c->name, b->argument, b->addr, b->len, &b->offset);
}

int rmai_call_buffers(const struct rmai_call *c, struct rmai_buffer *dest, struct rmai_buffer *source) {
    uintptr_t d = (uintptr_t)dest->addr, s = (uintptr_t)source->addr;
    int code = check_buffer(c, dest);
    if (code == RMA_SUCCESS) code = check_buffer(c, source);
    if (code != RMA_SUCCESS) return code;
    if (d != s && d < s + source->len && s < d + dest->len)
        return rmai_error(
            RMA_ERR_ARG, "%s: dest %p with %zu byte%s and source %p with %zu byte%s overlap, and are not the same",
            c->name, dest->addr, dest->len, rmai_s(dest->len), source->addr, source->len, rmai_s(source->len));
    return RMA_SUCCESS;
}

/* ---- agreement ---- */

int rmai_call_compare(const struct rmai_call *c, int code) {
    static const struct rmai_words words = {rmai_op_words, rmai_type_words};
    struct rmai_statement mine = rmai_statement_said(c->near->said, c->w->job.my_pe);
    mine.code = (uint8_t)code;
    return rmai_compare_in_team(c->w, c->name, c->t, &mine, &words, NULL);
}

/* ---- 0 bytes ---- */

/* A root that hears the others also posts: in a call with long data they hear the root. */
int rmai_call_nothing(const struct rmai_call *c, enum rmai_direction direction, int root) {
    struct rmai_mailboxes *near = c->near;
    const int is_root = c->t->me == root;
    if (c->far || near->n == 1) return RMA_SUCCESS;
    if (direction == RMAI_AMONG_ALL) {
        rmai_mailbox_sync(near);
        return RMA_SUCCESS;
    }
    rmai_mailbox_begin(near, is_root || direction == RMAI_TO_ROOT, 0);
    if (is_root || direction == RMAI_TO_ROOT) rmai_mailbox_post(near);
    if (!is_root && direction == RMAI_FROM_ROOT) rmai_mailbox_hear(near, root);
    for (int i = 0; is_root && direction == RMAI_TO_ROOT && i < near->n; i++) rmai_mailbox_hear(near, i);
    rmai_mailbox_through(near);
    return RMA_SUCCESS;
}

/* ---- the near part of a broadcast ---- */

/* Broadcasts piece by piece through the root's bounce buffers; the root may be some pieces ahead. */
static void spread_by_bounce(struct rmai_mailboxes *near, int root, char *dest, const char *source, size_t len) {
    for (size_t done = 0; done < len; done += RMAI_BOUNCE_BYTES) {
        size_t now = rmai_min(len - done, RMAI_BOUNCE_BYTES);
        rmai_mailbox_begin(near, near->me == root, now);
        if (near->me == root) {
            memcpy(rmai_place_of(near, root, now), source + done, now);
            rmai_mailbox_post(near);
            rmai_mailbox_prefetch_bounce(near, now);
            if (dest != source) memcpy(dest + done, source + done, now);
        } else {
            rmai_mailbox_hear(near, root);
            rmai_mailbox_prefetch_post(near, root);
            memcpy(dest + done, rmai_place_of(near, root, now), now);
        }
        rmai_mailbox_through(near);
    }
}

/* Broadcasts directly: each PE copies from the root's buffer. Returns 0, without having copied, if the PEs cannot reach
 * it. */
static int spread_direct(struct rmai_mailboxes *near, int root, char *dest, const char *source, uint64_t offset,
                         size_t len) {
    rmai_mailbox_begin(near, near->me == root, 0);
    if (near->me == root) {
        rmai_mailbox_slot(near, root)->word = offset;
        rmai_mailbox_post(near);
        if (offset && dest != source) rma_move_(dest, source, len);
        rmai_mailbox_through(near);
        if (offset) rmai_mailbox_await(near);
        return offset != 0;
    }
    rmai_mailbox_hear(near, root);
    offset = rmai_mailbox_slot(near, root)->word;
    if (offset) rma_move_(dest, rmai_mailbox_address(near, root, offset), len);
    rmai_mailbox_through(near);
    return offset != 0;
}

void rmai_spread(const struct rmai_call *c, int root, void *dest, const void *source, uint64_t offset, size_t len) {
    if (c->near->n == 1) {
        if (dest != source) rma_move_(dest, source, len);
        return;
    }
    if (rmai_call_takes(c, RMAI_BROADCAST_DIRECT, len) && spread_direct(c->near, root, dest, source, offset, len))
        return;
    spread_by_bounce(c->near, root, dest, source, len);
}
