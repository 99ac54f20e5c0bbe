/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "interfaces/mpi/pieces.h"
#include "interfaces/mpi/locks.h"

#include <stdlib.h>

/* ---- packed data ---- */

/* Copies the data of a local side to packed ones, or back. Returns 0 if memory is exhausted. */
static int copy_packed(const struct rmai_win_side *side, char *packed, int pack) {
    const char *const end = packed + side->size;
    struct rma_block *blocks, whole = {0, side->size};
    size_t n = 1;
    if (side->type->plain)
        blocks = &whole;
    else if (!rmai_datatype_blocks(side->type, side->count, &blocks, &n))
        return 0;
    for (size_t i = 0; i < n && packed < end; packed += blocks[i++].len) {
        void *const there = rmai_win_at(side->buffer, blocks[i].offset);
        const size_t left = (size_t)(end - packed), len = blocks[i].len < left ? blocks[i].len : left;
        memcpy(pack ? packed : there, pack ? there : packed, len);
    }
    if (blocks != &whole) free(blocks);
    return 1;
}

static int pack_side(const struct rmai_win_side *side, char *packed) { return copy_packed(side, packed, 1); }

static int unpack_side(const struct rmai_win_side *side, const char *packed) {
    return copy_packed(side, (char *)(uintptr_t)packed, 0);
}

/* Makes a->pieces of the target's blocks. */
static int list_pieces(struct rmai_win_access *a) {
    struct rma_block *blocks = NULL;
    size_t n = 0;
    if (!rmai_datatype_blocks(a->target.type, a->target.count, &blocks, &n)) return 0;
    a->pieces = malloc((n + 1) * sizeof *a->pieces);
    a->n_pieces = n;
    for (size_t i = 0; a->pieces && i < n; i++)
        a->pieces[i] = (struct rmai_win_piece){a->at + (rma_gptr_t)blocks[i].offset,
                                               a->address + (uint64_t)blocks[i].offset, blocks[i].len};
    free(blocks);
    return a->pieces != NULL;
}

int rmai_win_shorten(struct rmai_win_access *a, struct rmai_win_side *receives, size_t size) {
    const size_t element = receives->type->size, whole = size / element;
    if (size % element != 0 && !a->pieces && !list_pieces(a)) return 0;
    receives->count = whole + (size % element != 0);
    receives->size = size;
    for (size_t i = 0, at = 0; receives == &a->target && a->pieces && i < a->n_pieces; at += a->pieces[i++].len) {
        if (at + a->pieces[i].len < size) continue;
        a->pieces[i].len = size - at;
        a->n_pieces = i + 1;
    }
    return 1;
}

/* Waits until this process has what it has asked of another node. */
static int finish_at(const struct rmai_win_access *a) {
    return a->peer.record ? RMA_SUCCESS : rma_quiet_of_(a->peer.pe);
}

int rmai_win_pieces_move(const struct rmai_win_access *a, int put) {
    char *const packed = malloc(a->origin.size), *next = packed;
    int code = packed && (!put || pack_side(&a->origin, packed)) ? RMA_SUCCESS : RMA_ERR_NO_MEM, one;
    for (size_t i = 0; code == RMA_SUCCESS && i < a->n_pieces; next += a->pieces[i++].len)
        code = put ? rma_gptr_put(a->pieces[i].at, next, a->pieces[i].len)
                   : rma_gptr_get_nbi(next, a->pieces[i].at, a->pieces[i].len);
    if (packed && !put) { /* also after an error: gets may be under way */
        one = finish_at(a);
        if (code == RMA_SUCCESS) code = one;
    }
    if (code == RMA_SUCCESS && !put && !unpack_side(&a->origin, packed)) code = RMA_ERR_NO_MEM;
    free(packed);
    return code;
}

/* ---- parts: whole elements, or fragments of elements, of one way ---- */

struct part {
    rma_gptr_t at;
    size_t len, place; /* place: in the packed data */
    int locked;        /* 1: the window's lock protects it */
};

struct parts {
    struct part *part;
    size_t n, n_locked;
};

static void add_part(struct parts *p, rma_gptr_t at, size_t len, size_t place, int locked) {
    if (len == 0) return;
    p->part[p->n++] = (struct part){at, len, place, locked};
    p->n_locked += locked != 0;
}

/* Divides a piece. An element that began in an earlier piece, or ends in a later one, lies across two regions. */
static void divide_piece(struct parts *p, const struct rmai_win_piece *piece, size_t place, size_t elem, size_t align,
                         int native) {
    const size_t into = place % elem, head = into ? elem - into : 0, before = head < piece->len ? head : piece->len;
    const size_t whole = (piece->len - before) / elem * elem;
    const int aligned = (piece->address + before) % align == 0;
    add_part(p, piece->at, before, place, 1);
    add_part(p, piece->at + before, whole, place + before, !native || !aligned);
    add_part(p, piece->at + before + whole, piece->len - before - whole, place + before + whole, 1);
}

/* Divides all data of the target. Returns 0 if memory is exhausted. */
static int divide(const struct rmai_win_access *a, int native, struct parts *p) {
    const struct rmai_element *e = a->target.type->element;
    struct rma_block *blocks = NULL, whole = {0, a->target.size};
    size_t n = a->pieces ? a->n_pieces : 1, place = 0;
    *p = (struct parts){0};
    if (!a->pieces && a->target.type->plain)
        blocks = &whole;
    else if (!a->pieces && !rmai_datatype_blocks(a->target.type, a->target.count, &blocks, &n))
        return 0;
    p->part = malloc(3 * n * sizeof *p->part);
    for (size_t i = 0; p->part && i < n; i++) {
        struct rmai_win_piece piece;
        if (a->pieces)
            piece = a->pieces[i];
        else
            piece = (struct rmai_win_piece){a->at + (rma_gptr_t)blocks[i].offset,
                                            a->address + (uint64_t)blocks[i].offset, blocks[i].len};
        divide_piece(p, &piece, place, e->size, e->align, native);
        place += piece.len;
    }
    if (blocks != &whole) free(blocks);
    return p->part != NULL;
}

/* ---- updates ---- */

/* The packed data of an update. */
struct packed {
    char *mine, *before, *after;
};

/* Parts that librma updates. */
static int update_native_parts(const struct rmai_win_access *a, enum rmai_win_op op, const struct parts *p,
                               const struct packed *d) {
    const struct rmai_element *e = a->target.type->element;
    const int native_op = e->array[op];
    int code = RMA_SUCCESS;
    for (size_t i = 0; code == RMA_SUCCESS && i < p->n; i++) {
        const struct part *q = &p->part[i];
        const void *const mine = op == RMAI_WIN_NO_OP ? NULL : d->mine + q->place;
        if (q->locked) continue;
        code = a->result.type ? rma_gptr_get_accumulate(q->at, mine, d->before + q->place, q->len / e->size, e->native,
                                                        native_op, NULL)
                              : rma_gptr_accumulate(q->at, mine, q->len / e->size, e->native, native_op, NULL);
    }
    return code;
}

/* Computes the new values of [from, from + len) of the packed data: whole elements. Returns 0 if they stay as they
 * are. */
static int combine_packed(const struct rmai_element *e, enum rmai_win_op op, const void *cond, const struct packed *d,
                          size_t from, size_t len) {
    memcpy(d->after + from, d->before + from, len);
    if (op == RMAI_WIN_NO_OP || (op == RMAI_WIN_SWAP && memcmp(d->before + from, cond, len) != 0)) return 0;
    rmai_element_combine_packed(e, op == RMAI_WIN_SWAP ? RMAI_WIN_REPLACE : op, d->after + from, d->mine + from,
                                len / e->size);
    return 1;
}

static int read_locked(const struct rmai_win_access *a, const struct parts *p, const struct packed *d) {
    int code = RMA_SUCCESS, one;
    for (size_t i = 0; code == RMA_SUCCESS && i < p->n; i++)
        if (p->part[i].locked) code = rma_gptr_get_nbi(d->before + p->part[i].place, p->part[i].at, p->part[i].len);
    one = finish_at(a);
    return code == RMA_SUCCESS ? one : code;
}

/* Locked parts that follow each other in the packed data are whole elements together. */
static int write_locked(const struct rmai_win_access *a, enum rmai_win_op op, const void *cond, const struct parts *p,
                        const struct packed *d) {
    int code = RMA_SUCCESS, one;
    for (size_t i = 0, end = 0; code == RMA_SUCCESS && i < p->n; i = end) {
        size_t len = 0;
        for (end = i; end < p->n && p->part[end].locked; end++) len += p->part[end].len;
        if (end == i) end++;
        if (len == 0 || !combine_packed(a->target.type->element, op, cond, d, p->part[i].place, len)) continue;
        for (size_t k = i; code == RMA_SUCCESS && k < end; k++)
            code = rma_gptr_put(p->part[k].at, d->after + p->part[k].place, p->part[k].len);
    }
    one = finish_at(a);
    return code == RMA_SUCCESS ? one : code;
}

static int update_locked(const struct rmai_win_access *a, enum rmai_win_op op, const void *cond, const struct parts *p,
                         const struct packed *d) {
    const size_t lock = offsetof(struct rmai_win_record, locked_updates);
    int code = rmai_win_take(a->w, a->call, &a->peer, lock, RMAI_WIN_WRITER), released;
    if (code != RMA_SUCCESS) return code;
    code = read_locked(a, p, d);
    if (code == RMA_SUCCESS) code = write_locked(a, op, cond, p, d);
    released = rmai_win_release(a->call, &a->peer, lock, RMAI_WIN_WRITER);
    return code == RMA_SUCCESS ? released : code;
}

/* ---- MPI_SHORT_INT ---- */

/* Lists the pairs of the target with their gaps. Returns NULL if memory is exhausted. */
static struct rma_block *list_short_ints(const struct rmai_win_side *target, size_t *n) {
    struct rma_block *parts, *pairs;
    size_t n_parts, place = 0;
    if (!rmai_datatype_blocks(target->type, target->count, &parts, &n_parts)) return NULL;
    pairs = malloc(target->size / RMAI_SHORT_INT_PACKED * sizeof *pairs);
    *n = 0;
    for (size_t i = 0; pairs && i < n_parts; place += parts[i++].len) {
        const size_t into = place % RMAI_SHORT_INT_PACKED;
        for (size_t k = into ? RMAI_SHORT_INT_PACKED - into : 0; k < parts[i].len; k += RMAI_SHORT_INT_PACKED) {
            const ptrdiff_t offset = parts[i].offset + (ptrdiff_t)k;
            if (*n && pairs[*n - 1].offset + (ptrdiff_t)pairs[*n - 1].len == offset)
                pairs[*n - 1].len += RMAI_SHORT_INT_SPREAD;
            else
                pairs[(*n)++] = (struct rma_block){offset, RMAI_SHORT_INT_SPREAD};
        }
    }
    free(parts);
    return pairs;
}

/* librma updates them, in one call. d->before becomes what was there, if the access has a result. Without one the call
 * may continue after its return, but its source is free then: on this node it is done, and elements for another node
 * have been packed into messages (runtime/net/packed.h). */
static int update_short_ints(const struct rmai_win_access *a, enum rmai_win_op op, const struct packed *d) {
    const size_t n = a->target.size / RMAI_SHORT_INT_PACKED, bytes = n * RMAI_SHORT_INT_SPREAD;
    const int native_op = rmai_short_int_op(op);
    size_t n_pairs;
    struct rma_block *const pairs = list_short_ints(&a->target, &n_pairs);
    char *const mine = malloc(2 * bytes), *const before = mine + bytes;
    int code = RMA_ERR_NO_MEM;
    if (pairs && mine) {
        const rma_gptr_t at = a->at + (rma_gptr_t)rmai_blocks_rebase(pairs, n_pairs);
        if (op != RMAI_WIN_NO_OP) rmai_short_ints_spread(mine, d->mine, n);
        code =
            a->result.type
                ? rma_gptr_get_accumulate_blocks(at, op == RMAI_WIN_NO_OP ? NULL : mine, before, pairs, n_pairs, NULL,
                                                 0, NULL, 0, RMA_PAIR_SHORT_, native_op, NULL)
                : rma_gptr_accumulate_blocks_nbi(at, mine, pairs, n_pairs, NULL, 0, RMA_PAIR_SHORT_, native_op, NULL);
        if (code == RMA_SUCCESS && a->result.type) rmai_short_ints_pack(d->before, before, n);
    }
    free(pairs);
    free(mine);
    return code;
}

/* In a dynamic window the gap of a pair may be memory that is not attached. */
static int is_short_int_native(const struct rmai_win_access *a) {
    return a->target.type->element->gap_at && a->w->flavor != MPI_WIN_FLAVOR_DYNAMIC;
}

static int update_by_parts(const struct rmai_win_access *a, enum rmai_win_op op, const void *cond,
                           const struct packed *d) {
    const int native = a->target.type->element->array[op] >= 0;
    struct parts p = {0};
    int code = RMA_ERR_NO_MEM;
    if (divide(a, native, &p)) {
        code = p.n > p.n_locked ? update_native_parts(a, op, &p, d) : RMA_SUCCESS;
        if (code == RMA_SUCCESS && p.n_locked > 0) code = update_locked(a, op, cond, &p, d);
    }
    free(p.part);
    return code;
}

int rmai_win_pieces_update(const struct rmai_win_access *a, enum rmai_win_op op, const void *cond) {
    const size_t size = a->target.size;
    struct packed d = {malloc(size), malloc(size), malloc(size)};
    int code = RMA_ERR_NO_MEM;
    if (d.mine && d.before && d.after && (op == RMAI_WIN_NO_OP || pack_side(&a->origin, d.mine))) {
        code = is_short_int_native(a) ? update_short_ints(a, op, &d) : update_by_parts(a, op, cond, &d);
        if (code == RMA_SUCCESS && a->result.type && !unpack_side(&a->result, d.before)) code = RMA_ERR_NO_MEM;
    }
    free(d.mine);
    free(d.before);
    free(d.after);
    return code;
}
