/* SPDX-License-Identifier: BSD-3-Clause */
/* Gather and scatter: one PE, the root, receives or sends the blocks of all.
 *
 * On a node all PEs copy long blocks at the same time, directly to or from the root's buffer, if they reach it. Other
 * blocks pass through bounce buffers: in a gather each PE publishes its block and continues, and the root collects the
 * blocks; in a scatter the root publishes all blocks, one after the other. If the team is on several nodes, every PE
 * takes part between nodes. */
#include "config.h"

#include "base/attributes.h"
#include "base/choice.h"
#include "base/error.h"
#include "collectives/between.h"
#include "collectives/call.h"
#include "runtime/node/mailbox.h"
#include "runtime/team.h"

#include <string.h>

/* One call on a node, where the PEs' on-node numbers are their numbers in the team. */
struct rooted {
    struct rmai_mailboxes *near;
    int root;
    char *dest;
    const char *source;
    size_t len;      /* of one block */
    uint64_t offset; /* of the root's buffer of all blocks in its space, or 0 */
};

/* ---- gather on a node ---- */

static void place_own(const struct rooted *r) {
    char *place = r->dest + (size_t)r->root * r->len;
    if (place != r->source) memmove(place, r->source, r->len);
}

/* Each PE copies its block to the root's dest, and posts that it has done so. Returns 0, without having copied, if the
 * PEs cannot reach it. */
static int gather_direct(const struct rooted *r) {
    struct rmai_mailboxes *near = r->near;
    uint64_t offset = r->offset;
    rmai_mailbox_begin(near, 1, 0);
    if (near->me == r->root) {
        rmai_mailbox_slot(near, r->root)->word = offset;
        if (r->dest == r->source) place_own(r); /* before another block is written there */
        rmai_mailbox_post(near);
        if (r->dest != r->source) place_own(r);
        for (int i = 0; offset && i < near->n; i++) rmai_mailbox_hear(near, i);
        rmai_mailbox_through(near);
        return offset != 0;
    }
    rmai_mailbox_hear(near, r->root);
    offset = rmai_mailbox_slot(near, r->root)->word;
    if (offset) {
        rma_move_(rmai_mailbox_address(near, r->root, offset) + (size_t)near->me * r->len, r->source, r->len);
        rmai_mailbox_post(near);
    }
    rmai_mailbox_through(near);
    return offset != 0;
}

static void gather_by_bounce(const struct rooted *r) {
    struct rmai_mailboxes *near = r->near;
    for (size_t done = 0; done < r->len; done += RMAI_BOUNCE_BYTES) {
        const size_t now = rmai_min(r->len - done, RMAI_BOUNCE_BYTES);
        rmai_mailbox_begin(near, near->me != r->root, now);
        if (near->me != r->root) {
            memcpy(rmai_place_of(near, near->me, now), r->source + done, now);
            rmai_mailbox_post(near);
            rmai_mailbox_prefetch_bounce(near, now);
        } else {
            for (int i = 0; i < near->n; i++) {
                if (i == r->root) continue;
                rmai_mailbox_hear(near, i);
                memcpy(r->dest + (size_t)i * r->len + done, rmai_place_of(near, i, now), now);
            }
        }
        rmai_mailbox_through(near);
    }
}

static void gather_on_node(const struct rmai_call *c, const struct rooted *r) {
    if (rmai_call_takes(c, RMAI_FCOLLECT_DIRECT, r->len) && gather_direct(r)) return;
    if (r->near->me == r->root) place_own(r);
    gather_by_bounce(r);
}

/* ---- scatter on a node ---- */

/* Each PE copies its block from the root's source. Returns 0, without having copied, if the PEs cannot reach it. */
static int scatter_direct(const struct rooted *r) {
    struct rmai_mailboxes *near = r->near;
    uint64_t offset = r->offset;
    rmai_mailbox_begin(near, near->me == r->root, 0);
    if (near->me == r->root) {
        rmai_mailbox_slot(near, r->root)->word = offset;
        rmai_mailbox_post(near);
        rmai_mailbox_through(near);
        if (offset) rmai_mailbox_await(near);
        return offset != 0;
    }
    rmai_mailbox_hear(near, r->root);
    offset = rmai_mailbox_slot(near, r->root)->word;
    if (offset) rma_move_(r->dest, rmai_mailbox_address(near, r->root, offset) + (size_t)near->me * r->len, r->len);
    rmai_mailbox_through(near);
    return offset != 0;
}

/* The root publishes all blocks, piece by piece; each PE copies its own block. */
static void scatter_by_bounce(const struct rooted *r) {
    struct rmai_mailboxes *near = r->near;
    const size_t all = (size_t)near->n * r->len, mine = (size_t)near->me * r->len;
    for (size_t done = 0; done < all; done += RMAI_BOUNCE_BYTES) {
        const size_t now = rmai_min(all - done, RMAI_BOUNCE_BYTES);
        rmai_mailbox_begin(near, near->me == r->root, now);
        if (near->me == r->root) {
            memcpy(rmai_place_of(near, r->root, now), r->source + done, now);
            rmai_mailbox_post(near);
            rmai_mailbox_prefetch_bounce(near, now);
        } else if (done < mine + r->len && mine < done + now) {
            const size_t from = mine > done ? mine : done, to = rmai_min(mine + r->len, done + now);
            rmai_mailbox_hear(near, r->root);
            memcpy(r->dest + (from - mine), (const char *)rmai_place_of(near, r->root, now) + (from - done), to - from);
        }
        rmai_mailbox_through(near);
    }
}

/* The root's own block last: its dest may be its source. */
static void scatter_on_node(const struct rmai_call *c, const struct rooted *r) {
    if (!(rmai_call_takes(c, RMAI_BROADCAST_DIRECT, r->len) && scatter_direct(r))) scatter_by_bounce(r);
    if (r->near->me == r->root && r->dest != r->source + (size_t)r->root * r->len)
        memmove(r->dest, r->source + (size_t)r->root * r->len, r->len);
}

/* ---- the calls ---- */

/* Checks the buffers of a call in which the root's buffer `all` has the blocks of all PEs, and `one` has one block. On
 * the root `one` may also be the place of its block in `all`. */
static int check_buffers(const struct rmai_call *c, int root, struct rmai_buffer *all, struct rmai_buffer *one) {
    struct rmai_buffer none = {.argument = one->argument, .align = 1};
    const size_t len = one->len;
    const int code = rmai_check_root(c, root);
    if (code != RMA_SUCCESS) return code;
    if (c->t->me != root) {
        *all = (struct rmai_buffer){.argument = all->argument, .align = 1};
        return rmai_call_buffers(c, all, one);
    }
    if (__builtin_mul_overflow(len, (size_t)c->t->n, &all->len))
        return rmai_error(RMA_ERR_ARG, "%s: %zu bytes of each of %d PEs are more than there can be", c->name, len,
                          c->t->n);
    if (len > 0 && one->addr && one->addr == (const char *)all->addr + (size_t)root * len)
        return rmai_call_buffers(c, all, &none);
    return rmai_call_buffers(c, all, one);
}

static int agree_on_call(const struct rmai_call *c, int code, enum rmai_collective which, size_t len, int root) {
    return rmai_call_agree(c, code, &(struct rmai_statement){.call = (uint8_t)which, .number = {root}, .length = len});
}

int rma_gather(rma_team *team, void *dest, const void *source, size_t len, int root) {
    struct rmai_call c;
    struct rmai_buffer to = {.argument = "dest", .addr = dest, .align = 1};
    struct rmai_buffer from = {.argument = "source", .addr = source, .len = len, .align = 1};
    int code = rmai_call_begin(&c, "rma_gather", team);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    code = agree_on_call(&c, check_buffers(&c, root, &to, &from), RMAI_CALL_GATHER, len, root);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    if (len == 0) return rmai_call_nothing(&c, RMAI_TO_ROOT, root);
    if (!c.far) {
        gather_on_node(&c, &(struct rooted){c.near, root, dest, source, len, to.offset});
        return RMA_SUCCESS;
    }
    code = rmai_call_reaches(&c);
    if (code == RMA_SUCCESS)
        code = rmai_between_gather(&c.t->nodes.all, c.name, dest, source, len, root, c.t->nodes.room);
    return rmai_raise(code);
}

int rma_scatter(rma_team *team, void *dest, const void *source, size_t len, int root) {
    struct rmai_call c;
    struct rmai_buffer to = {.argument = "dest", .addr = dest, .len = len, .align = 1};
    struct rmai_buffer from = {.argument = "source", .addr = source, .align = 1};
    int code = rmai_call_begin(&c, "rma_scatter", team);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    code = agree_on_call(&c, check_buffers(&c, root, &from, &to), RMAI_CALL_SCATTER, len, root);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    if (len == 0) return rmai_call_nothing(&c, RMAI_FROM_ROOT, root);
    if (!c.far) {
        scatter_on_node(&c, &(struct rooted){c.near, root, dest, source, len, from.offset});
        return RMA_SUCCESS;
    }
    code = rmai_call_reaches(&c);
    if (code == RMA_SUCCESS)
        code = rmai_between_scatter(&c.t->nodes.all, c.name, dest, source, len, root, c.t->nodes.room);
    return rmai_raise(code);
}
