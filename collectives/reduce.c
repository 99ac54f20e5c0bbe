/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions.
 *
 * On a node short data pass through bounce buffers: each PE publishes its elements there, and each PE sums
 * all elements, in the order of the PEs. Long data do not: each PE sums its share of the elements, from all sources to
 * all dests, if it reaches all of them. No PE touches another's share, so source may be dest. (The usual algorithm has
 * a second step, in which each PE gathers the shares of the others. It would cost one more meeting, and would read and
 * write again data that are in the cache of the PE that summed them.) Each element is summed by one PE, or by all PEs
 * in the same order, so the result has the same bits everywhere. If the team is on several nodes, the sum of each node
 * goes to its leader, the leaders sum theirs, and each leader passes the result to its node.
 *
 * A reduction to a root is the same with one dest. Short data: the other PEs of the node publish their elements and
 * continue, and the root sums. Long data: each PE sums its share into the root's dest. Between nodes the elements
 * travel in pieces, through the rooms of the leaders, because only the root has a dest. */
#include "config.h"

#include "collectives/reduce.h"
#include "base/attributes.h"
#include "base/choice.h"
#include "base/error.h"
#include "collectives/between.h"
#include "runtime/interfaces.h"
#include "runtime/team.h"

#include <string.h>

#define LINE 64

/* The elements that on-node PE i has published; for this PE itself, `mine`. This PE does not read its own slot: the
 * other PEs have the slot's cache line, and reading would fetch it back. */
static const void *bounced_part(const struct rmai_mailboxes *near, int i, size_t len, const void *mine) {
    return i == near->me ? mine : rmai_place_of(near, i, len);
}

/* dest = the sum of the parts in all PEs' bounce buffers, n elements each. */
static void sum_bounced_parts(const struct rmai_reduction *r, const struct rmai_mailboxes *near, char *dest,
                              const void *mine, size_t n) {
    const size_t len = n * r->size;
    r->kernel->combine(dest, bounced_part(near, 0, len, mine), bounced_part(near, 1, len, mine), n);
    for (int i = 2; i < near->n; i++) r->kernel->accumulate(dest, bounced_part(near, i, len, mine), n);
}

/* root: the on-node PE that gets the result, or RMAI_EVERY. If there is a root, the other PEs wait for nobody. */
static void reduce_by_bounce(const struct rmai_reduction *r, int root) {
    struct rmai_mailboxes *near = r->c->near;
    const int gets = root == RMAI_EVERY || near->me == root;
    const size_t most = RMAI_BOUNCE_BYTES / r->size;
    _Alignas(LINE) char copy[RMAI_BOUNCE_BYTES];
    for (size_t done = 0; done < r->n; done += most) {
        size_t now = rmai_min(r->n - done, most), at = done * r->size, len = now * r->size;
        const void *mine = r->source + at;
        rmai_mailbox_begin(near, near->me != root, len);
        if (near->me != root) memcpy(rmai_place_of(near, near->me, len), mine, len);
        if (root == RMAI_EVERY) {
            rmai_mailbox_meet(near);
        } else if (near->me != root) {
            rmai_mailbox_post(near);
            rmai_mailbox_prefetch_bounce(near, len);
        } else {
            for (int i = 0; i < near->n; i++)
                if (i != root) rmai_mailbox_hear(near, i);
        }
        if (gets && r->dest == r->source) mine = memcpy(copy, mine, len);
        if (gets) sum_bounced_parts(r, near, r->dest + at, mine, now);
        rmai_mailbox_through(near);
    }
}

/* A share is a whole number of dest's cache lines, if dest is aligned to a line. */
void rmai_own_share(const struct rmai_reduction *r, size_t *from, size_t *to) {
    const size_t n = (size_t)r->c->near->n, line = r->size < LINE ? LINE / r->size : 1,
                 share = rmai_round_up((r->n + n - 1) / n, line);
    *from = rmai_min((size_t)r->c->near->me * share, r->n);
    *to = rmai_min(*from + share, r->n);
}

int rmai_tell_buffers(const struct rmai_reduction *r, int root) {
    struct rmai_mailboxes *near = r->c->near;
    struct rmai_slot *slot;
    int all = 1;
    rmai_mailbox_begin(near, 1, 0);
    slot = rmai_mailbox_slot(near, near->me);
    slot->word = r->dest_offset;
    memcpy(slot->note, &r->source_offset, sizeof r->source_offset);
    rmai_mailbox_meet(near);
    for (int i = 0; i < near->n; i++) {
        all &= rmai_their_source(r, i) != NULL;
        if (root == RMAI_EVERY || i == root) all &= rmai_their_dest(r, i) != NULL;
    }
    if (!all) rmai_mailbox_through(near);
    return all;
}

/* Sums a chunk of all sources into `sum`, which is not one of the sources. */
static void sum_sources(const struct rmai_reduction *r, const struct rmai_mailboxes *near, char *sum, size_t at,
                        size_t n) {
    r->kernel->combine(sum, rmai_their_source(r, 0) + at, rmai_their_source(r, 1) + at, n);
    for (int i = 2; i < near->n; i++) r->kernel->accumulate(sum, rmai_their_source(r, i) + at, n);
}

/* Returns 0, without having reduced, if some PE's buffers cannot be reached. */
static int reduce_by_shares(const struct rmai_reduction *r, int root) {
    struct rmai_mailboxes *near = r->c->near;
    const size_t most = RMAI_CHUNK / r->size;
    const int dests = root == RMAI_EVERY ? near->n : 1;
    _Alignas(LINE) char chunk[RMAI_CHUNK];
    size_t from, to;
    if (!rmai_tell_buffers(r, root)) return 0;
    rmai_own_share(r, &from, &to);
    for (size_t done = from; done < to; done += most) {
        size_t now = rmai_min(to - done, most), at = done * r->size;
        int in_place = r->dest == r->source || (root != RMAI_EVERY && near->me != root);
        char *sum = in_place ? chunk : r->dest + at;
        sum_sources(r, near, sum, at, now);
        for (int step = 0; step < dests; step++) {
            int i = root == RMAI_EVERY ? (near->me + step) % near->n : root;
            char *there = rmai_their_dest(r, i) + at;
            if (i != near->me || in_place) memcpy(there, sum, now * r->size);
        }
    }
    rmai_mailbox_leave(near);
    return 1;
}

static void reduce_on_node(const struct rmai_reduction *r, int root) {
    if (r->c->near->n == 1) {
        if (r->dest != r->source) memcpy(r->dest, r->source, r->n * r->size);
        return;
    }
    if (rmai_call_takes(r->c, RMAI_REDUCE_SHARE, r->n * r->size) && reduce_by_shares(r, root)) return;
    reduce_by_bounce(r, root);
}

static int reduce_across_nodes(const struct rmai_reduction *r) {
    const struct rmai_call *c = r->c;
    struct rmai_team_nodes *nodes = &c->t->nodes;
    int code = RMA_SUCCESS;
    reduce_on_node(r, 0);
    if (c->near->me == 0)
        code = rmai_leader_code(
            c, rmai_between_reduce(&nodes->leaders, c->name, r->kernel, r->dest, r->n, r->size, nodes->room));
    rmai_spread(c, 0, r->dest, r->dest, r->dest_offset, r->n * r->size);
    return rmai_call_code(c, code);
}

/* On-node PE `from` passes len bytes to on-node PE `to`, through its bounce buffers. */
static void pass_by_bounce(struct rmai_mailboxes *near, int from, int to, char *dest, const char *source, size_t len) {
    for (size_t done = 0; done < len; done += RMAI_BOUNCE_BYTES) {
        const size_t now = rmai_min(len - done, RMAI_BOUNCE_BYTES);
        rmai_mailbox_begin(near, near->me == from, now);
        if (near->me == from) {
            memcpy(rmai_place_of(near, from, now), source + done, now);
            rmai_mailbox_post(near);
        } else if (near->me == to) {
            rmai_mailbox_hear(near, from);
            memcpy(dest + done, rmai_place_of(near, from, now), now);
        }
        rmai_mailbox_through(near);
    }
}

/* After an error between nodes the leader still takes part in the steps on its node. */
static int reduce_to_root_across_nodes(const struct rmai_reduction *r, int root) {
    const struct rmai_call *c = r->c;
    struct rmai_mailboxes *near = c->near;
    struct rmai_team_nodes *nodes = &c->t->nodes;
    const int near_root = rmai_mailbox_number(near, root);
    const size_t half = RMAI_BETWEEN_ROOM / 2, most = half / r->size;
    int code = RMA_SUCCESS;
    for (size_t done = 0; done < r->n; done += most) {
        const size_t now = rmai_min(r->n - done, most), at = done * r->size, len = now * r->size;
        struct rmai_reduction piece = *r;
        piece.dest = near->me == 0 ? nodes->room : NULL;
        piece.source = r->source + at;
        piece.n = now;
        piece.dest_offset = 0;
        piece.source_offset = r->source_offset ? r->source_offset + at : 0;
        reduce_on_node(&piece, 0);
        if (near->me == 0 && code == RMA_SUCCESS)
            code =
                rmai_leader_code(c, rmai_between_reduce_root(&nodes->leaders, c->name, r->kernel, nodes->room, now,
                                                             r->size, rmai_team_node(nodes, root), nodes->room + half));
        if (near_root == 0 && near->me == 0) memcpy(r->dest + at, nodes->room, len);
        if (near_root > 0)
            pass_by_bounce(near, 0, near_root, near->me == near_root ? r->dest + at : NULL, nodes->room, len);
    }
    return near->me == near_root ? rmai_call_code(c, code) : code; /* only the root gets data from the leader */
}

/* rooted: only number `root` has a dest. It is a constant, so that it costs other reductions nothing. */
static inline __attribute__((always_inline)) int begin(struct rmai_reduction *r, struct rmai_call *c, const char *call,
                                                       const rma_team *team, enum rmai_collective which, enum rma_op op,
                                                       enum rma_type type, void *dest, const void *source, size_t n,
                                                       int rooted, int root) {
    struct rmai_buffer to = {.argument = "dest", .addr = dest, .align = rmai_type_align(type)}, from = to;
    int code = rmai_call_begin(c, call, team);
    if (code != RMA_SUCCESS) return code;
    *r = (struct rmai_reduction){
        .c = c, .op = op, .type = type, .dest = dest, .source = source, .n = n, .size = rmai_type_size(type)};
    r->kernel = rmai_kernel(op, type);
    from.argument = "source";
    from.addr = source;
    if (__builtin_mul_overflow(n, r->size, &to.len))
        code = rmai_error(RMA_ERR_ARG, "%s: %zu elements of %zu bytes are more than there can be", call, n, r->size);
    from.len = to.len;
    if (rooted) {
        if (code == RMA_SUCCESS) code = rmai_check_root(c, root);
        if (c->t->me != root) {
            to.addr = r->dest = NULL;
            to.len = 0;
        }
    }
    if (code == RMA_SUCCESS) code = rmai_call_buffers(c, &to, &from);
    r->dest_offset = to.offset;
    r->source_offset = from.offset;
    return rmai_call_agree(c, code,
                           &(struct rmai_statement){.call = (uint8_t)which,
                                                    .op = (uint8_t)op,
                                                    .type = (uint8_t)type,
                                                    .number = {rooted ? root : 0},
                                                    .length = n});
}

int rmai_reduction_begin(struct rmai_reduction *r, struct rmai_call *c, const char *call, const rma_team *team,
                         enum rmai_collective which, enum rma_op op, enum rma_type type, void *dest, const void *source,
                         size_t n) {
    return begin(r, c, call, team, which, op, type, dest, source, n, 0, 0);
}

static int run_reduction(const char *call, const rma_team *team, enum rma_op op, enum rma_type type, void *dest,
                         const void *source, size_t n) {
    struct rmai_call c;
    struct rmai_reduction r;
    int code = rmai_reduction_begin(&r, &c, call, team, RMAI_CALL_REDUCE, op, type, dest, source, n);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    if (n == 0) return rmai_call_nothing(&c, RMAI_AMONG_ALL, 0);
    if (!c.far) {
        reduce_on_node(&r, RMAI_EVERY);
        return RMA_SUCCESS;
    }
    code = rmai_call_reaches(&c);
    return rmai_raise(code == RMA_SUCCESS ? reduce_across_nodes(&r) : code);
}

static int run_rooted(const char *call, const rma_team *team, enum rma_op op, enum rma_type type, void *dest,
                      const void *source, size_t n, int root) {
    struct rmai_call c;
    struct rmai_reduction r;
    int code = begin(&r, &c, call, team, RMAI_CALL_REDUCE_ROOT, op, type, dest, source, n, 1, root);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    if (n == 0) return rmai_call_nothing(&c, RMAI_TO_ROOT, root);
    if (!c.far) {
        reduce_on_node(&r, rmai_mailbox_number(c.near, root));
        return RMA_SUCCESS;
    }
    code = rmai_call_reaches(&c);
    return rmai_raise(code == RMA_SUCCESS ? reduce_to_root_across_nodes(&r, root) : code);
}

int rma_reduce_(const char *call, rma_team *team, int op, int type, void *dest, const void *source, size_t n,
                int root) {
    return root < 0 ? run_reduction(call, team, (enum rma_op)op, (enum rma_type)type, dest, source, n)
                    : run_rooted(call, team, (enum rma_op)op, (enum rma_type)type, dest, source, n, root);
}

#define REDUCE(CALL, OP, NAME, TYPE, ID)                                                                               \
    int CALL##_##NAME(rma_team *team, TYPE *dest, const TYPE *source, size_t n) {                                      \
        return run_reduction(#CALL "_" #NAME, team, OP, ID, dest, source, n);                                          \
    }                                                                                                                  \
    int CALL##_root_##NAME(rma_team *team, TYPE *dest, const TYPE *source, size_t n, int root) {                       \
        return run_rooted(#CALL "_root_" #NAME, team, OP, ID, dest, source, n, root);                                  \
    }
#define BITS(NAME, TYPE)                                                                                               \
    REDUCE(rma_and_reduce, RMA_OP_AND, NAME, TYPE, rmai_type_of(TYPE))                                                 \
    REDUCE(rma_or_reduce, RMA_OP_OR, NAME, TYPE, rmai_type_of(TYPE))                                                   \
    REDUCE(rma_xor_reduce, RMA_OP_XOR, NAME, TYPE, rmai_type_of(TYPE))
#define LIMITS(NAME, TYPE)                                                                                             \
    REDUCE(rma_min_reduce, RMA_OP_MIN, NAME, TYPE, rmai_type_of(TYPE))                                                 \
    REDUCE(rma_max_reduce, RMA_OP_MAX, NAME, TYPE, rmai_type_of(TYPE))
#define SUMS_OF(NAME, TYPE, ID)                                                                                        \
    REDUCE(rma_sum_reduce, RMA_OP_SUM, NAME, TYPE, ID)                                                                 \
    REDUCE(rma_prod_reduce, RMA_OP_PROD, NAME, TYPE, ID)
#define SUMS(NAME, TYPE) SUMS_OF(NAME, TYPE, rmai_type_of(TYPE))

RMA_INTEGER_TYPES(BITS)
RMA_TYPE_ALIASES(BITS)
RMA_TYPES(LIMITS)
RMA_TYPE_ALIASES(LIMITS)
RMA_TYPES(SUMS)
RMA_TYPE_ALIASES(SUMS)
SUMS_OF(complexf, rma_complexf_, RMA_COMPLEXF)
SUMS_OF(complexd, rma_complexd_, RMA_COMPLEXD)
