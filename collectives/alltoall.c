/* SPDX-License-Identifier: BSD-3-Clause */
/* All to all: block i of each PE goes to PE i.
 *
 * On a node each PE copies its blocks from its peers' own buffers. If blocks are short, or a peer's buffer cannot be
 * reached or is about to be overwritten, the peers put their blocks into their bounce buffers, a piece of
 * every block at a time, and each PE copies from there. Between nodes the PEs exchange their blocks in pairs, in
 * pieces. The elements of dest and of source may have gaps between them. */
#include "config.h"

#include "base/attributes.h"
#include "base/choice.h"
#include "base/error.h"
#include "base/pattern.h"
#include "collectives/between.h"
#include "collectives/call.h"
#include "runtime/net/group.h"
#include "runtime/node/mailbox.h"
#include "runtime/api/strided.h"
#include "runtime/team.h"

#include <assert.h>
#include <string.h>

/* The blocks of a call: n elements of elem bytes each, `to` or `from` elements from the start of one to the start of
 * the next. Without gaps an element is a byte. */
struct blocks {
    char *dest;
    const char *source;
    size_t to, from, elem, n;
    uint64_t offset; /* source's offset in this PE's space; 0: peers must not read source */
};

/* The offset in bytes of element k of block i. */
static size_t element_offset(const struct blocks *b, int i, size_t k, size_t stride) {
    return ((size_t)i * b->n + k) * stride * b->elem;
}

/* Copies n pieces of len bytes, to_step and from_step bytes apart. */
static void copy_pieces(char *to, size_t to_step, const char *from, size_t from_step, size_t len, size_t n) {
    if (to_step == len && from_step == len)
        rma_move_(to, from, len * n);
    else
        rmai_move_strided(to, from, (ptrdiff_t)to_step, (ptrdiff_t)from_step, len, n);
}

/* Copies a whole block. */
static void copy_block(const struct blocks *b, char *dest, const char *source) {
    copy_pieces(dest, b->to * b->elem, source, b->from * b->elem, b->elem, b->n);
}

static void copy_own_block(const struct rmai_mailboxes *near, const struct blocks *b) {
    int i = near->index[near->me];
    if (b->dest != b->source)
        copy_block(b, b->dest + element_offset(b, i, 0, b->to), b->source + element_offset(b, i, 0, b->from));
}

/* The index of the piece for PE i among the pieces of PE `of`, which has no piece for itself. */
static size_t piece_index(int i, int of) { return (size_t)(i < of ? i : i - 1); }

/* One epoch, which exchanges a piece of each block: bytes [o, o + len) of each of the n elements from number k on. If
 * source is dest, this PE's pieces are in its bounce buffer before the others' pieces overwrite them. */
static void exchange_bounced_piece(struct rmai_mailboxes *near, const struct blocks *b, size_t k, size_t n, size_t o,
                                   size_t len) {
    const size_t piece = n * len, all = piece * ((size_t)near->n - 1);
    char *mine;
    rmai_mailbox_begin(near, 1, all);
    mine = rmai_place_of(near, near->me, all);
    for (int i = 0; i < near->n; i++)
        if (i != near->me)
            copy_pieces(mine + piece_index(i, near->me) * piece, len,
                        b->source + element_offset(b, near->index[i], k, b->from) + o, b->from * b->elem, len, n);
    rmai_mailbox_meet(near);
    for (int i = 0; i < near->n; i++) {
        const char *theirs = rmai_place_of(near, i, all);
        if (i != near->me)
            copy_pieces(b->dest + element_offset(b, near->index[i], k, b->to) + o, b->to * b->elem,
                        theirs + piece_index(near->me, i) * piece, len, len, n);
    }
    rmai_mailbox_through(near);
}

/* Exchanges all blocks through the bounce buffers: in each epoch as many whole elements as a bounce buffer can hold, or
 * a part of one element. */
static void exchange_by_bounce(struct rmai_mailboxes *near, const struct blocks *b) {
    const size_t room = RMAI_BOUNCE_BYTES / ((size_t)near->n - 1), len = rmai_min(b->elem, room);
    assert(room > 0 && "a node has fewer PEs than a bounce buffer has bytes");
    for (size_t k = 0; k < b->n; k += room / len)
        for (size_t o = 0; o < b->elem; o += len)
            exchange_bounced_piece(near, b, k, rmai_min(b->n - k, room / len), o, rmai_min(b->elem - o, len));
}

/* Exchanges all blocks by copies from the peers' buffers. Returns 0, without having copied, if some PE's source must
 * not be read. Each PE begins with the PE after it, so that they do not all read from the same PE at once. */
static int exchange_direct(struct rmai_mailboxes *near, const struct blocks *b) {
    const int me = near->index[near->me];
    int all = 1;
    rmai_mailbox_begin(near, 1, 0);
    rmai_mailbox_slot(near, near->me)->word = b->offset;
    rmai_mailbox_meet(near);
    for (int i = 0; i < near->n; i++) all &= (i == near->me ? b->offset : rmai_mailbox_slot(near, i)->word) != 0;
    if (!all) {
        rmai_mailbox_through(near);
        return 0;
    }
    for (int step = 1; step < near->n; step++) {
        int i = (near->me + step) % near->n;
        const char *theirs = rmai_mailbox_address(near, i, rmai_mailbox_slot(near, i)->word);
        copy_block(b, b->dest + element_offset(b, near->index[i], 0, b->to),
                   theirs + element_offset(b, me, 0, b->from));
    }
    copy_own_block(near, b);
    rmai_mailbox_leave(near);
    return 1;
}

static void alltoall_on_node(const struct rmai_call *c, const struct blocks *b) {
    struct rmai_mailboxes *near = c->near;
    if (near->n > 1 && rmai_call_takes(c, RMAI_ALLTOALL_DIRECT, b->n * b->elem * (size_t)near->n) &&
        exchange_direct(near, b))
        return;
    if (near->n > 1) exchange_by_bounce(near, b);
    copy_own_block(near, b);
}

/* ---- between nodes, in pieces ----
 *
 * If source is dest, a copy of source would need memory that one PE might not get while the others wait. So in round r
 * PE i and PE (r - i) mod n exchange their blocks; each round pairs all PEs anew. They exchange piece by piece, with
 * several pieces under way. A piece is received at its place in dest. If the old content of that place must leave
 * first, or if there are gaps, the piece is received in the team's room. All PEs go through rounds and pieces in the
 * same order, so the PE that has got least far waits for nobody, or only for a PE that has got equally far. */

#define SWAPS_MOST     64 /* pieces under way */
#define PARTS_AT_LEAST 4  /* parts of the room, for long pieces */

/* Bytes [o, o + len) of each of the n elements from number k on, in the block of PE `with`. */
struct piece {
    int with;
    size_t k, n, o, len;
    char *in, *out; /* its places in the room; `in` is in dest if the piece can be received there directly */
    int in_room;    /* 1: received in the room first */
    struct rmai_group_messages messages;
};

/* The state of the walk over all pieces, in the order that all PEs keep. */
struct course {
    const struct blocks *b;
    int n, me;
    const struct rmai_team_nodes *nodes; /* blocks for PEs of the own node do not go between nodes */
    int node;
    size_t most; /* most bytes of a piece */
    int round;
    size_t k, o;
};

static int next_piece(struct course *s, struct piece *p) {
    const struct blocks *b = s->b;
    for (; s->round < s->n; s->round++) {
        p->with = (s->round - s->me + s->n) % s->n;
        if (s->k < b->n && rmai_team_node(s->nodes, p->with) != s->node) break;
        s->k = s->o = 0;
    }
    if (s->round == s->n) return 0;
    p->k = s->k;
    p->o = s->o;
    p->len = rmai_min(b->elem - s->o, s->most);
    p->n = p->len == b->elem ? rmai_min(b->n - s->k, s->most / p->len) : 1;
    s->o += p->len;
    if (s->o == b->elem) {
        s->o = 0;
        s->k += p->n;
    }
    return 1;
}

static int begin_piece(const struct rmai_call *c, const struct blocks *b, struct piece *p) {
    const char *from = b->source + element_offset(b, p->with, p->k, b->from) + p->o;
    int code;
    p->in_room = b->dest == b->source || (p->n > 1 && b->to != 1);
    if (!p->in_room) p->in = b->dest + element_offset(b, p->with, p->k, b->to) + p->o;
    if (p->n > 1 && b->from != 1) {
        copy_pieces(p->out, p->len, from, b->from * b->elem, p->len, p->n);
        from = p->out;
    }
    rmai_group_begin(&p->messages);
    code = rmai_group_receive(&c->t->nodes.all, c->name, &p->messages, p->with, p->in, p->len * p->n);
    return code == RMA_SUCCESS ? rmai_group_send(&c->t->nodes.all, c->name, &p->messages, p->with, from, p->len * p->n)
                               : code;
}

static int end_piece(const struct rmai_call *c, const struct blocks *b, struct piece *p) {
    int code = rmai_group_finish(&c->t->nodes.all, c->name, &p->messages);
    if (code != RMA_SUCCESS || !p->in_room) return code;
    copy_pieces(b->dest + element_offset(b, p->with, p->k, b->to) + p->o, b->to * b->elem, p->in, p->len, p->len, p->n);
    return RMA_SUCCESS;
}

static int alltoall_between_nodes(const struct rmai_call *c, const struct blocks *b) {
    const struct rmai_team_nodes *nodes = &c->t->nodes;
    /* How many places a piece needs in the room: elements with gaps are packed before they are sent. Pieces have the
     * same bounds on all PEs, although source may be dest on some PEs and not on others. */
    const size_t halves = b->from == 1 ? 1 : 2;
    const size_t most = rmai_min(b->n * b->elem, RMAI_BETWEEN_ROOM / (PARTS_AT_LEAST * halves));
    const int all_direct = b->from == 1 && b->to == 1 && b->dest != b->source;
    const unsigned room =
        (unsigned)(all_direct ? SWAPS_MOST : rmai_min(SWAPS_MOST, RMAI_BETWEEN_ROOM / (halves * most)));
    struct course course = {
        .b = b, .n = c->t->n, .me = c->t->me, .nodes = nodes, .node = rmai_team_node(nodes, c->t->me), .most = most};
    struct piece pieces[SWAPS_MOST];
    unsigned begun = 0, ended = 0;
    int code = RMA_SUCCESS, more = 1;
    while (code == RMA_SUCCESS && (more || ended < begun)) {
        struct piece *p = &pieces[begun % room];
        if (more && begun - ended < room) {
            if (!(more = next_piece(&course, p))) continue;
            p->in = all_direct ? NULL : c->t->nodes.room + begun % room * halves * most;
            p->out = all_direct ? NULL : p->in + most;
            begun++;
            code = begin_piece(c, b, p);
        } else {
            code = end_piece(c, b, &pieces[ended % room]);
            ended += code == RMA_SUCCESS;
        }
    }
    for (; ended < begun; ended++) rmai_group_drop(&c->t->nodes.all, &pieces[ended % room].messages);
    return code;
}

static int run_alltoall(const struct rmai_call *c, const struct blocks *b) {
    int code = rmai_call_reaches(c);
    if (code != RMA_SUCCESS) return code;
    alltoall_on_node(c, b);
    return c->far ? alltoall_between_nodes(c, b) : RMA_SUCCESS;
}

/* ---- the calls ---- */

int rma_alltoall(rma_team *team, void *dest, const void *source, size_t len) {
    struct rmai_call c;
    struct rmai_buffer to = {.argument = "dest", .addr = dest, .align = 1},
                       from = {.argument = "source", .addr = source, .align = 1};
    struct blocks b = {.dest = dest, .source = source, .to = 1, .from = 1, .elem = 1, .n = len};
    int code = rmai_call_begin(&c, "rma_alltoall", team);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    if (__builtin_mul_overflow(len, (size_t)c.t->n, &to.len))
        code = rmai_error(RMA_ERR_ARG, "rma_alltoall: %zu bytes for each of %d PEs are more than there can be", len,
                          c.t->n);
    from.len = to.len;
    if (code == RMA_SUCCESS) code = rmai_call_buffers(&c, &to, &from);
    code = rmai_call_agree(&c, code, &(struct rmai_statement){.call = RMAI_CALL_ALLTOALL, .length = len});
    if (code != RMA_SUCCESS) return rmai_raise(code);
    if (len == 0) return rmai_call_nothing(&c, RMAI_AMONG_ALL, 0);
    b.offset = dest == source ? 0 : from.offset;
    return rmai_raise(run_alltoall(&c, &b));
}

static int check_strides(const struct rmai_call *c, const struct blocks *b, ptrdiff_t dest_stride,
                         ptrdiff_t source_stride, struct rmai_buffer *to, struct rmai_buffer *from) {
    size_t all;
    int code = rmai_check_strides(c->name, dest_stride, source_stride, b->elem),
        too_many = __builtin_mul_overflow((size_t)c->t->n, b->n, &all);
    if (code != RMA_SUCCESS) return code;
    to->len = all ? rmai_span(all, b->to, b->elem) : 0;
    from->len = all ? rmai_span(all, b->from, b->elem) : 0;
    if (too_many || (all && (!to->len || !from->len)))
        return rmai_error(
            RMA_ERR_ARG,
            "%s: %zu elements of %zu bytes for each of %d PEs, %td and %td elements apart, are more than there can be",
            c->name, b->n, b->elem, c->t->n, dest_stride, source_stride);
    if (b->n > 0 && b->dest == b->source && dest_stride != source_stride)
        return rmai_error(RMA_ERR_ARG, "%s: source is dest %p, but dest_stride %td is not source_stride %td", c->name,
                          (void *)b->dest, dest_stride, source_stride);
    return rmai_call_buffers(c, to, from);
}

/* A PE states more than a statement can hold, so there are three of them. A PE whose arguments are refused in one makes
 * no further statement. */
static int agree_on_strides(const struct rmai_call *c, const struct blocks *b, int code) {
    const struct rmai_statement first = {
        .call = RMAI_CALL_ALLTOALLS, .number = {(int32_t)rmai_min(b->elem, INT32_MAX)}, .length = b->n};
    struct rmai_statement s = {.call = RMAI_CALL_ALLTOALLS_TO, .length = b->to};
    code = rmai_call_agree(c, code, &first);
    if (code == RMA_SUCCESS) code = rmai_call_agree(c, code, &s);
    s = (struct rmai_statement){.call = RMAI_CALL_ALLTOALLS_FROM, .length = b->from};
    if (code == RMA_SUCCESS) code = rmai_call_agree(c, code, &s);
    rmai_statement_say(c->near->said, &first);
    rmai_statement_mix(c->near->said, b->to * 5 + b->from * 11);
    return code;
}

int rma_alltoalls(rma_team *team, void *dest, const void *source, ptrdiff_t dest_stride, ptrdiff_t source_stride,
                  size_t elem, size_t n) {
    struct rmai_call c;
    struct rmai_buffer to = {.argument = "dest", .addr = dest, .align = 1},
                       from = {.argument = "source", .addr = source, .align = 1};
    struct blocks b = {
        .dest = dest, .source = source, .to = (size_t)dest_stride, .from = (size_t)source_stride, .elem = elem, .n = n};
    int code = rmai_call_begin(&c, "rma_alltoalls", team);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    code = check_strides(&c, &b, dest_stride, source_stride, &to, &from);
    code = agree_on_strides(&c, &b, code);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    if (n == 0) return rmai_call_nothing(&c, RMAI_AMONG_ALL, 0);
    if (b.to == 1 && b.from == 1) {
        b.elem = 1;
        b.n = n * elem;
    }
    b.offset = dest == source ? 0 : from.offset;
    return rmai_raise(run_alltoall(&c, &b));
}
