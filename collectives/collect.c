/* SPDX-License-Identifier: BSD-3-Clause */
/* Collect and fcollect: the blocks of all PEs, one after the other, on each PE.
 *
 * On a node a PE publishes in one epoch the length of its block, and either the block itself, if it is short, or its
 * address. A PE that has met the others knows where each block goes, and copies it there. Long blocks that peers cannot
 * reach follow piece by piece. If the team is on several nodes, and each node's blocks are contiguous in the result,
 * the leaders exchange their nodes' blocks and pass the other nodes' blocks to their PEs. In other placements each PE
 * takes part in the exchange between nodes. */
#include "config.h"

#include "base/attributes.h"
#include "base/choice.h"
#include "base/error.h"
#include "collectives/between.h"
#include "collectives/call.h"
#include "runtime/interfaces.h"
#include "runtime/node/mailbox.h"
#include "runtime/team.h"

#include <string.h>

/* ---- on a node ---- */

struct collection {
    const struct rmai_call *c;
    char *dest; /* where the block of the node's first PE goes */
    const char *source;
    size_t len;
    uint64_t offset; /* source's offset in this PE's space; 0: peers do not reach source */
    size_t limit;    /* blocks of at most this many bytes are published whole; the same on all PEs */
    size_t at, all;  /* set by place_own_block: where this PE's block is in dest, and the bytes of all blocks */
};

/* Publishes this PE's block in its slot: the slot's word is the length; for a long block the note is its offset, or
 * 0. */
static void publish_block(const struct collection *g) {
    struct rmai_slot *slot = rmai_mailbox_slot(g->c->near, g->c->near->me);
    slot->word = g->len;
    if (g->len > g->limit) memcpy(slot->note, &g->offset, sizeof g->offset);
}

/* The length that on-node PE i has published. This PE does not read its own slot: the other PEs have the slot's cache
 * line, and reading would fetch it back. */
static size_t near_block_len(const struct collection *g, int i) {
    return i == g->c->near->me ? g->len : rmai_mailbox_slot(g->c->near, i)->word;
}

static uint64_t near_block_offset(const struct collection *g, int i) {
    uint64_t offset;
    if (i == g->c->near->me) return g->offset;
    memcpy(&offset, rmai_mailbox_note(g->c->near, i), sizeof offset);
    return offset;
}

/* Moves this PE's block to its place before the others' blocks are copied: if source is dest, another block may go to
 * source. */
static void place_own_block(struct collection *g) {
    const struct rmai_mailboxes *near = g->c->near;
    g->at = g->all = 0;
    for (int i = 0; i < near->n; i++) {
        if (i == near->me) g->at = g->all;
        g->all += near_block_len(g, i);
    }
    if (g->len && g->dest + g->at != g->source) memmove(g->dest + g->at, g->source, g->len);
}

/* Copies the short blocks, and the long ones that this PE reaches. *reached: whether there are such long blocks;
 * *hidden: the length of the longest block that this PE does not reach. */
static void copy_near_blocks(const struct collection *g, int *reached, size_t *hidden) {
    const struct rmai_mailboxes *near = g->c->near;
    size_t at = 0;
    for (int i = 0; i < near->n; i++) {
        const size_t len = near_block_len(g, i);
        uint64_t offset = len > g->limit ? near_block_offset(g, i) : 0;
        *reached |= offset != 0;
        if (len > g->limit && !offset && len > *hidden) *hidden = len;
        if (i != near->me && len > 0 && len <= g->limit) memcpy(g->dest + at, rmai_place_of(near, i, len), len);
        if (i != near->me && offset) rma_move_(g->dest + at, rmai_mailbox_address(near, i, offset), len);
        at += len;
    }
}

/* Copies a piece of each long block that is not reached. In each epoch a PE publishes the length and offset of its
 * block again. */
static void collect_bounced_pieces(const struct collection *g, size_t done) {
    struct rmai_mailboxes *near = g->c->near;
    size_t at = 0;
    rmai_mailbox_begin(near, 1, RMAI_BOUNCE_BYTES);
    publish_block(g);
    if (g->len > g->limit && g->len > done && !g->offset)
        memcpy(rmai_mailbox_bounce(near, near->me), g->dest + g->at + done, rmai_min(g->len - done, RMAI_BOUNCE_BYTES));
    rmai_mailbox_meet(near);
    for (int i = 0; i < near->n; i++) {
        size_t len = near_block_len(g, i);
        if (i != near->me && len > g->limit && len > done && !near_block_offset(g, i))
            memcpy(g->dest + at + done, rmai_mailbox_bounce(near, i), rmai_min(len - done, RMAI_BOUNCE_BYTES));
        at += len;
    }
    rmai_mailbox_through(near);
}

static void collect_near_blocks(struct collection *g) {
    struct rmai_mailboxes *near = g->c->near;
    int reached = 0;
    size_t hidden = 0;
    if (near->n == 1) {
        place_own_block(g);
        return;
    }
    rmai_mailbox_begin(near, 1, RMAI_BOUNCE_BYTES);
    publish_block(g);
    if (g->len > 0 && g->len <= g->limit) memcpy(rmai_place_of(near, near->me, g->len), g->source, g->len);
    rmai_mailbox_meet(near);
    place_own_block(g);
    copy_near_blocks(g, &reached, &hidden);
    if (reached)
        rmai_mailbox_leave(near);
    else
        rmai_mailbox_through(near);
    for (size_t done = 0; done < hidden; done += RMAI_BOUNCE_BYTES) collect_bounced_pieces(g, done);
}

/* The length up to which blocks are published whole: the largest for which the table does not choose the other
 * algorithm. */
static size_t short_limit(const struct rmai_call *c, enum rmai_way way) {
    size_t from = c->w->job.settings.collectives.from[way][c->near->shape];
    return from > RMAI_BOUNCE_BYTES ? RMAI_BOUNCE_BYTES : from == 0 ? 0 : from - 1;
}

static struct collection prepare_collection(const struct rmai_call *c, enum rmai_way way,
                                            const struct rmai_buffer *dest, const struct rmai_buffer *source) {
    const int stays = dest->addr != source->addr && rmai_call_takes(c, way, source->len);
    return (struct collection){.c = c,
                               .dest = (char *)(uintptr_t)dest->addr,
                               .source = source->addr,
                               .len = source->len,
                               .offset = stays ? source->offset : 0,
                               .limit = short_limit(c, way)};
}

/* ---- between nodes ---- */

/* Replaces the n lengths at `sizes` by the offsets of the blocks; sizes[n] becomes the end of the last block.
 */
static void place_blocks(size_t *sizes, int n) {
    size_t at = 0;
    for (int i = 0; i < n; i++) {
        const size_t len = sizes[i];
        sizes[i] = at;
        at += len;
    }
    sizes[n] = at;
}

/* The leaders have the blocks of their nodes in dest and exchange them. nodes->sizes has the offsets of the nodes'
 * blocks. Each leader passes the blocks of other nodes to its node's PEs. */
static int collect_among_leaders(const struct rmai_call *c, const struct rmai_buffer *dest, size_t before,
                                 size_t near_all, size_t all) {
    struct rmai_team_nodes *nodes = &c->t->nodes;
    char *to = (char *)(uintptr_t)dest->addr;
    uint64_t offset = dest->offset;
    size_t after = before + near_all;
    int code = RMA_SUCCESS;
    if (c->near->me == 0)
        code = rmai_leader_code(c, rmai_between_allgather(&nodes->leaders, c->name, to, nodes->sizes));
    if (before) rmai_spread(c, 0, to, to, offset, before);
    if (all > after) rmai_spread(c, 0, to + after, to + after, offset ? offset + after : 0, all - after);
    return rmai_call_code(c, code);
}

static int fcollect_in_order(const struct rmai_call *c, const struct rmai_buffer *dest,
                             const struct rmai_buffer *source) {
    struct collection g = prepare_collection(c, RMAI_FCOLLECT_DIRECT, dest, source);
    const struct rmai_team_nodes *nodes = &c->t->nodes;
    const size_t len = source->len, before = (size_t)c->near->index[0] * len;
    if (c->near->me == 0) {
        for (int i = 0; i < c->t->n; i += nodes->block ? nodes->block : 1)
            if (i == 0 || rmai_team_node(nodes, i) != rmai_team_node(nodes, i - 1))
                nodes->sizes[rmai_team_node(nodes, i)] = (size_t)i * len;
        nodes->sizes[nodes->leaders.n] = (size_t)c->t->n * len;
    }
    g.dest += before;
    collect_near_blocks(&g);
    return collect_among_leaders(c, dest, before, g.all, (size_t)c->t->n * len);
}

/* Where this PE's block is in dest, and the bytes of all blocks. */
struct extent {
    size_t at, all;
};

/* First the PEs exchange lengths: those of the node's blocks, then those of all nodes. The leader tells its node's PEs
 * where the node's blocks begin, and the sum of all lengths. */
static int collect_in_order(const struct rmai_call *c, const struct rmai_buffer *dest, const struct rmai_buffer *source,
                            struct extent *extent) {
    struct collection g = prepare_collection(c, RMAI_COLLECT_DIRECT, dest, source);
    struct rmai_team_nodes *nodes = &c->t->nodes;
    struct rmai_mailboxes *near = c->near;
    size_t near_all = 0, whole[3] = {0, 0, RMA_SUCCESS};
    rmai_mailbox_begin(near, 1, 0);
    rmai_mailbox_slot(near, near->me)->word = source->len;
    rmai_mailbox_meet(near);
    for (int i = 0; i < near->n; i++) near_all += rmai_mailbox_slot(near, i)->word;
    rmai_mailbox_through(near);
    if (near->me == 0) {
        nodes->sizes[nodes->leaders.me] = near_all;
        whole[2] = (size_t)rmai_between_allgather_alike(&nodes->leaders, c->name, nodes->sizes, sizeof *nodes->sizes);
        if (whole[2] == RMA_SUCCESS) {
            place_blocks(nodes->sizes, nodes->leaders.n);
            whole[0] = nodes->sizes[nodes->leaders.me];
            whole[1] = nodes->sizes[nodes->leaders.n];
        }
    }
    rmai_spread(c, 0, whole, whole, 0, sizeof whole);
    if (whole[2] != RMA_SUCCESS)
        return near->me == 0 ? (int)whole[2]
                             : rmai_error((int)whole[2], "%s: the lengths of other nodes could not be learnt", c->name);
    g.dest += whole[0];
    collect_near_blocks(&g);
    *extent = (struct extent){whole[0] + g.at, whole[1]};
    return collect_among_leaders(c, dest, whole[0], near_all, whole[1]);
}

/* Each PE takes part in the exchange between nodes by itself. */
static int collect_by_all(const struct rmai_call *c, const struct rmai_buffer *dest, const struct rmai_buffer *source,
                          int alike, struct extent *extent) {
    struct rmai_team_nodes *nodes = &c->t->nodes;
    char *to = (char *)(uintptr_t)dest->addr;
    int code = RMA_SUCCESS;
    for (int i = 0; i < c->t->n; i++) nodes->sizes[i] = source->len;
    if (!alike) code = rmai_between_allgather_alike(&nodes->all, c->name, nodes->sizes, sizeof *nodes->sizes);
    if (code != RMA_SUCCESS) return code;
    place_blocks(nodes->sizes, c->t->n);
    *extent = (struct extent){nodes->sizes[c->t->me], nodes->sizes[c->t->n]};
    if (source->len) memmove(to + nodes->sizes[c->t->me], source->addr, source->len);
    return rmai_between_allgather(&nodes->all, c->name, to, nodes->sizes);
}

/* ---- the calls ---- */

/* source may be dest, or the place in dest to which this PE's block goes: nobody writes to that place. */
static RMAI_COLD int check_placed_buffers(const struct rmai_call *c, struct rmai_buffer *to, struct rmai_buffer *from) {
    struct rmai_buffer none = {.argument = "source", .align = 1};
    const int code = rmai_call_buffers(c, to, &none);
    from->offset = to->offset ? to->offset + (size_t)c->t->me * from->len : 0;
    return code;
}

static inline int check_fcollect_buffers(const struct rmai_call *c, struct rmai_buffer *to, struct rmai_buffer *from) {
    if (from->addr == (const char *)to->addr + (size_t)c->t->me * from->len && from->addr != to->addr)
        return check_placed_buffers(c, to, from);
    return rmai_call_buffers(c, to, from);
}

static RMAI_COLD int overlap_error(const struct rmai_call *c, const struct rmai_buffer *to,
                                   const struct rmai_buffer *from, size_t all) {
    return rmai_error(RMA_ERR_ARG,
                      "%s: dest %p with the %zu bytes of all PEs and source %p with %zu byte%s overlap, and source is "
                      "neither dest nor this PE's place in it",
                      c->name, to->addr, all, from->addr, from->len, rmai_s(from->len));
}

/* The same rule for rma_collect, which knows the place only after all PEs have told their lengths. */
static inline int check_collected(const struct rmai_call *c, const struct rmai_buffer *to,
                                  const struct rmai_buffer *from, size_t at, size_t all) {
    const uintptr_t d = (uintptr_t)to->addr, s = (uintptr_t)from->addr;
    if (RMAI_LIKELY(s >= d + all || d >= s + from->len) || s == d || s == d + at || from->len == 0) return RMA_SUCCESS;
    return overlap_error(c, to, from, all);
}

/* Raises the result of check_collected, when the data are there. A program of OpenSHMEM whose dest has no room for the
 * blocks of all PEs, so that they run into source, gets a note: other libraries do not notice it. */
static int raise_collected(const struct rmai_call *c, int code) {
    if (RMAI_LIKELY(code == RMA_SUCCESS) || !rmai_error_of_shmem(c->name)) return rmai_raise(code);
    rma_tolerate_(code, RMA_UNDEFINED_OVERLAP_);
    rmai_raise(code);
    rma_tolerate_(RMA_SUCCESS, RMA_UNDEFINED_OVERLAP_);
    return rma_checks_() ? code : RMA_SUCCESS;
}

int rma_fcollect(rma_team *team, void *dest, const void *source, size_t len) {
    struct rmai_call c;
    struct extent extent;
    struct rmai_buffer to = {.argument = "dest", .addr = dest, .align = 1};
    struct rmai_buffer from = {.argument = "source", .addr = source, .len = len, .align = 1};
    int code = rmai_call_begin(&c, "rma_fcollect", team);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    if (__builtin_mul_overflow(len, (size_t)c.t->n, &to.len))
        code = rmai_error(RMA_ERR_ARG, "rma_fcollect: %zu bytes of each of %d PEs are more than there can be", len,
                          c.t->n);
    if (code == RMA_SUCCESS) code = check_fcollect_buffers(&c, &to, &from);
    code = rmai_call_agree(&c, code, &(struct rmai_statement){.call = RMAI_CALL_FCOLLECT, .length = len});
    if (code != RMA_SUCCESS) return rmai_raise(code);
    if (len == 0) return rmai_call_nothing(&c, RMAI_AMONG_ALL, 0);
    if (!c.far) {
        struct collection g = prepare_collection(&c, RMAI_FCOLLECT_DIRECT, &to, &from);
        if (dest == source && rmai_call_takes(&c, RMAI_FCOLLECT_DIRECT, len)) {
            /* The place of this PE's block is already known, and peers can reach the block there. */
            g.source = memmove((char *)dest + (size_t)c.near->me * len, source, len);
            g.offset = to.offset ? to.offset + (size_t)c.near->me * len : 0;
        }
        collect_near_blocks(&g);
        return RMA_SUCCESS;
    }
    code = rmai_call_reaches(&c);
    if (code == RMA_SUCCESS)
        code = c.t->nodes.in_order ? fcollect_in_order(&c, &to, &from) : collect_by_all(&c, &to, &from, 1, &extent);
    return rmai_raise(code);
}

int rma_collect(rma_team *team, void *dest, const void *source, size_t len) {
    struct rmai_call c;
    struct extent extent = {0, 0};
    struct rmai_buffer to = {.argument = "dest", .addr = dest, .len = len, .align = 1}; /* at least this many bytes */
    struct rmai_buffer from = {.argument = "source", .addr = source, .len = len, .align = 1};
    int code = rmai_call_begin(&c, "rma_collect", team);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    code = rmai_call_buffers(&c, &to, &from);
    code = rmai_call_agree(&c, code, &(struct rmai_statement){.call = RMAI_CALL_COLLECT});
    if (code != RMA_SUCCESS) return rmai_raise(code);
    if (!c.far) {
        struct collection g = prepare_collection(&c, RMAI_COLLECT_DIRECT, &to, &from);
        collect_near_blocks(&g);
        return raise_collected(&c, check_collected(&c, &to, &from, g.at, g.all));
    }
    code = rmai_call_reaches(&c);
    if (code == RMA_SUCCESS)
        code = c.t->nodes.in_order ? collect_in_order(&c, &to, &from, &extent)
                                   : collect_by_all(&c, &to, &from, 0, &extent);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    return raise_collected(&c, check_collected(&c, &to, &from, extent.at, extent.all));
}
