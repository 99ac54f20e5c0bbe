/* SPDX-License-Identifier: BSD-3-Clause */
/* All to all: block i of each PE goes to PE i.
 *
 * On a node each PE fetches its blocks from its peers' own buffers, or, where these are short, not reached, or about to be overwritten, from
 * what the peers put into their stages, a piece of every block at a time. What goes to other nodes is MPI's: each PE's own part in one
 * collective of all, in which PEs of a node have nothing for each other. Elements may have gaps between them on either side. */
#include "config.h"

#include "base/error.h"
#include "collectives/call.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A block: n elements of elem bytes, `to` or `from` elements from one to the next. Without gaps an element is a byte. */
struct blocks {
    char *dest;
    const char *source;
    size_t to, from, elem, n;
    uint64_t offset;   /* of source, or 0: peers may not look into it */
    size_t bytes;      /* of a block, without gaps */
};

/* Where block i begins. */
static size_t begins(const struct blocks *b, int i, size_t stride) { return (size_t)i * b->n * stride * b->elem; }

/* Bytes [at, at + len) of a block, counted without gaps, between it and an array. */
static void pack(char *array, const char *block, size_t stride, size_t elem, size_t at, size_t len) {
    if (stride == 1) {
        memcpy(array, block + at, len);
        return;
    }
    for (size_t k = at / elem, o = at % elem; len > 0; k++, o = 0) {
        size_t now = rmai_min(elem - o, len);
        memcpy(array, block + k * stride * elem + o, now);
        array += now;
        len -= now;
    }
}

static void unpack(char *block, const char *array, size_t stride, size_t elem, size_t at, size_t len) {
    if (stride == 1) {
        memcpy(block + at, array, len);
        return;
    }
    for (size_t k = at / elem, o = at % elem; len > 0; k++, o = 0) {
        size_t now = rmai_min(elem - o, len);
        memcpy(block + k * stride * elem + o, array, now);
        array += now;
        len -= now;
    }
}

/* A whole block. */
static void copy(const struct blocks *b, char *dest, const char *source) {
    if (dest == source) return;
    if (b->to == 1 && b->from == 1)
        memcpy(dest, source, b->bytes);
    else
        for (size_t k = 0; k < b->n; k++) memcpy(dest + k * b->to * b->elem, source + k * b->from * b->elem, b->elem);
}

static void own(const struct rmai_near *near, const struct blocks *b) {
    int i = near->index[near->me];
    copy(b, b->dest + begins(b, i, b->to), b->source + begins(b, i, b->from));
}

/* A piece of each block at a time. Where source is dest, a piece is in the stage before it is overwritten. */
static size_t place(int i, int of) { return (size_t)(i < of ? i : i - 1); } /* PE i's piece among those of PE `of`, which has none for itself */

static void staged(struct rmai_near *near, const struct blocks *b) {
    const size_t others = (size_t)near->n - 1, piece = rmai_min(RMAI_STAGE / others, b->bytes);
    assert(piece > 0 && "a node has less PEs than a stage has bytes");
    for (size_t done = 0; done < b->bytes; done += piece) {
        size_t now = rmai_min(b->bytes - done, piece), all = now * others;
        char *mine;
        rmai_near_begin(near, 1, all);
        mine = rmai_place_of(near, near->me, all);
        for (int i = 0; i < near->n; i++)
            if (i != near->me) pack(mine + place(i, near->me) * now, b->source + begins(b, near->index[i], b->from), b->from, b->elem, done, now);
        rmai_near_meet(near);
        for (int i = 0; i < near->n; i++) {
            const char *theirs = rmai_place_of(near, i, all);
            if (i != near->me)
                unpack(b->dest + begins(b, near->index[i], b->to), theirs + place(near->me, i) * now, b->to, b->elem, done, now);
        }
        rmai_near_through(near);
    }
}

/* 0 if some PE's source is not to be looked into. Each begins with the next one's, so that not all look at one. */
static int direct(struct rmai_near *near, const struct blocks *b) {
    const int me = near->index[near->me];
    int all = 1;
    rmai_near_begin(near, 1, 0);
    rmai_near_slot(near, near->me)->word = b->offset;
    rmai_near_meet(near);
    for (int i = 0; i < near->n; i++) all &= (i == near->me ? b->offset : rmai_near_slot(near, i)->word) != 0;
    if (!all) {
        rmai_near_through(near);
        return 0;
    }
    for (int step = 1; step < near->n; step++) {
        int i = (near->me + step) % near->n;
        const char *theirs = rmai_near_address(near, i, rmai_near_slot(near, i)->word);
        copy(b, b->dest + begins(b, near->index[i], b->to), theirs + begins(b, me, b->from));
    }
    own(near, b);
    rmai_near_leave(near);
    return 1;
}

static void on_node(const struct rmai_call *c, const struct blocks *b) {
    struct rmai_near *near = c->near;
    if (near->n > 1 && rmai_call_takes(c, RMAI_ALLTOALL_DIRECT, b->bytes * (size_t)near->n) && direct(near, b)) return;
    if (near->n > 1) staged(near, b);
    own(near, b);
}

/* In place MPI is given a copy: Open MPI 4.1 loses data with MPI_IN_PLACE and counts of 0. It is made before the PEs meet. */
static int between_nodes(const struct rmai_call *c, const struct blocks *b, const char *source) {
    const struct rmai_near *near = c->near;
    unsigned char *skip = c->t->group.marks;
    memset(skip, 0, (size_t)c->t->n);
    for (int i = 0; i < near->n; i++) skip[near->index[i]] = 1;
    return rmai_group_exchange(c->w, c->name, &c->t->group, b->dest, source, b->to, b->from, b->elem, b->n, skip, c->t->n);
}

static int exchange(const struct rmai_call *c, const struct blocks *b) {
    const size_t bytes = (((size_t)c->t->n * b->n - 1) * b->from + 1) * b->elem;
    char *copy = NULL;
    int code = rmai_call_reaches(c);
    if (code != RMA_SUCCESS) return code;
    if (c->far && b->dest == b->source) {
        copy = malloc(bytes);
        if (!copy) return rmai_error(RMA_ERR_NO_MEM, "%s: no memory for a copy of the %zu bytes of source, which is dest", c->name, bytes);
        memcpy(copy, b->source, bytes);
    }
    on_node(c, b);
    if (c->far) code = between_nodes(c, b, copy ? copy : b->source);
    free(copy);
    return code;
}

/* ---- the calls ---- */

int rma_alltoall(rma_team *team, void *dest, const void *source, size_t len) {
    struct rmai_call c;
    struct rmai_buffer to = {.argument = "dest", .addr = dest, .align = 1}, from = {.argument = "source", .addr = source, .align = 1};
    struct blocks b = {.dest = dest, .source = source, .to = 1, .from = 1, .elem = 1, .n = len, .bytes = len};
    int code = rmai_call_begin(&c, "rma_alltoall", team);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    if (__builtin_mul_overflow(len, (size_t)c.t->n, &to.len))
        code = rmai_error(RMA_ERR_ARG, "rma_alltoall: %zu bytes for each of %d PEs are more than there can be", len, c.t->n);
    from.len = to.len;
    if (code == RMA_SUCCESS) code = rmai_call_buffers(&c, &to, &from);
    code = rmai_call_agree(&c, code, &(struct rmai_stated){.which = RMAI_CALL_ALLTOALL, .len = len, .len_text = "the length in bytes"});
    if (code != RMA_SUCCESS || len == 0) return rmai_raise(code);
    b.offset = dest == source ? 0 : from.offset;
    return rmai_raise(exchange(&c, &b));
}

/* Bytes from the first element to the end of the last one; -1 if there cannot be so many. */
static int span(size_t n_pes, size_t n, size_t stride, size_t elem, size_t *bytes) {
    size_t elements;
    if (__builtin_mul_overflow(n_pes, n, &elements)) return -1;
    if (elements == 0) return (int)(*bytes = 0);
    return __builtin_mul_overflow(elements - 1, stride, &elements) || __builtin_add_overflow(elements, 1, &elements) ||
                   __builtin_mul_overflow(elements, elem, bytes)
               ? -1
               : 0;
}

static int check_strides(const struct rmai_call *c, const struct blocks *b, ptrdiff_t dest_stride, ptrdiff_t source_stride, struct rmai_buffer *to,
                         struct rmai_buffer *from) {
    size_t n_pes = (size_t)c->t->n;
    if (dest_stride < 1) return rmai_error(RMA_ERR_ARG, "%s: dest_stride %td is below 1", c->name, dest_stride);
    if (source_stride < 1) return rmai_error(RMA_ERR_ARG, "%s: source_stride %td is below 1", c->name, source_stride);
    if (b->elem == 0) return rmai_error(RMA_ERR_ARG, "%s: elem is 0 bytes", c->name);
    if (span(n_pes, b->n, b->to, b->elem, &to->len) != 0 || span(n_pes, b->n, b->from, b->elem, &from->len) != 0)
        return rmai_error(RMA_ERR_ARG, "%s: %zu elements of %zu bytes for each of %d PEs, %td and %td elements apart, are more than there can be",
                          c->name, b->n, b->elem, c->t->n, dest_stride, source_stride);
    if (b->n > 0 && b->dest == b->source && dest_stride != source_stride)
        return rmai_error(RMA_ERR_ARG, "%s: source is dest %p, but dest_stride %td is not source_stride %td", c->name, (void *)b->dest, dest_stride,
                          source_stride);
    return rmai_call_buffers(c, to, from);
}

/* More than one statement holds: so there are three, and who has failed in one makes no other. */
static int agree_on_layout(const struct rmai_call *c, const struct blocks *b, int code) {
    struct rmai_stated s = {.which = RMAI_CALL_ALLTOALLS, .root = (int32_t)rmai_min(b->elem, INT32_MAX), .root_text = "the bytes of an element",
                            .len = b->n, .len_text = "the number of elements"};
    code = rmai_call_agree(c, code, &s);
    s.len = b->to;
    s.len_text = "dest_stride";
    if (code == RMA_SUCCESS) code = rmai_call_agree(c, code, &s);
    s.len = b->from;
    s.len_text = "source_stride";
    return code == RMA_SUCCESS ? rmai_call_agree(c, code, &s) : code;
}

int rma_alltoalls(rma_team *team, void *dest, const void *source, ptrdiff_t dest_stride, ptrdiff_t source_stride, size_t elem, size_t n) {
    struct rmai_call c;
    struct rmai_buffer to = {.argument = "dest", .addr = dest, .align = 1}, from = {.argument = "source", .addr = source, .align = 1};
    struct blocks b = {.dest = dest, .source = source, .to = (size_t)dest_stride, .from = (size_t)source_stride, .elem = elem, .n = n};
    int code = rmai_call_begin(&c, "rma_alltoalls", team);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    code = check_strides(&c, &b, dest_stride, source_stride, &to, &from);
    code = agree_on_layout(&c, &b, code);
    if (code != RMA_SUCCESS || n == 0) return rmai_raise(code);
    b.bytes = n * elem;
    if (b.to == 1 && b.from == 1) {
        b.elem = 1;
        b.n = b.bytes;
    }
    b.offset = dest == source ? 0 : from.offset;
    return rmai_raise(exchange(&c, &b));
}
