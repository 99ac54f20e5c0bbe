/* SPDX-License-Identifier: BSD-3-Clause */
#include "random_types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BLOCKS 12

/* ---- lists in words ---- */

static const char *int_words(struct maker *m, const int *list, int n) {
    char text[1024];
    int len = 0;
    for (int i = 0; i < n && len < 1000; i++)
        len += snprintf(text + len, sizeof text - (size_t)len, i ? ",%d" : "%d", list[i]);
    return store_words(m->store, "{%.*s}", n ? len : 0, text);
}

static const char *aint_words(struct maker *m, const MPI_Aint *list, int n) {
    char text[1024];
    int len = 0;
    for (int i = 0; i < n && len < 1000; i++)
        len += snprintf(text + len, sizeof text - (size_t)len, i ? ",%lld" : "%lld", (long long)list[i]);
    return store_words(m->store, "{%.*s}", n ? len : 0, text);
}

/* ---- one level of a type ---- */

static struct type *new_type(struct maker *m, size_t n) {
    struct type *t = store_take(m->store, sizeof *t);
    t->map = store_take(m->store, (n + 1) * sizeof *t->map);
    return t;
}

/* `count` elements of child, the first one at `at`. */
static void add_block(struct type *t, const struct type *child, ptrdiff_t at, size_t count) {
    for (size_t i = 0; i < count; i++, at += child->extent)
        for (size_t k = 0; k < child->n; k++)
            t->map[t->n++] = (struct element){at + child->map[k].at, child->map[k].basic};
}

static void set_hull(struct type *t) {
    for (size_t i = 0; i < t->n; i++) {
        const ptrdiff_t lo = t->map[i].at, hi = lo + basic_end(&basics[t->map[i].basic]);
        if (i == 0 || lo < t->lo) t->lo = lo;
        if (i == 0 || hi > t->hi) t->hi = hi;
    }
}

/* The extent is MPI's, because the standard leaves the filling at the end of a struct to it. */
static struct type *finish_type(struct type *t, MPI_Datatype handle, char *words) {
    MPI_Aint lb;
    t->handle = handle;
    t->derived = 1;
    t->words = words;
    MPI_Type_get_extent(handle, &lb, &t->extent);
    set_hull(t);
    return t;
}

void free_type(struct type *t) {
    if (t->derived) MPI_Type_free(&t->handle);
    t->derived = 0;
}

void free_types(struct maker *m) {
    for (; m->made; m->made = m->made->next) free_type(m->made);
}

static struct type *basic_type(struct maker *m, int basic) {
    struct type *t = new_type(m, 1);
    t->handle = basics[basic].type;
    t->n = 1;
    t->map[0] = (struct element){0, basic};
    t->extent = basics[basic].extent;
    t->words = (char *)(uintptr_t)basics[basic].name;
    set_hull(t);
    return t;
}

/* A gap of a few bytes, or of a few elements of `step` bytes. */
static ptrdiff_t draw_gap(struct maker *m, ptrdiff_t step) {
    if (chance(m->draws, 2)) return 0;
    if (m->aligned || chance(m->draws, 2)) return (ptrdiff_t)draw(m->draws, 3) * step;
    return (ptrdiff_t)draw(m->draws, 12);
}

/* Divides n into a factor of at most `most`, and the rest. */
static size_t draw_factor(struct maker *m, size_t n, size_t most) {
    size_t k = draw(m->draws, n < most ? n : most) + 1;
    while (n % k) k--;
    return k;
}

static struct type *make_uniform(struct maker *m, int basic, size_t n, int depth);

/* ---- types of blocks ---- */

/* Lays out n blocks of `lengths` elements of child without overlap, in some order, from some place on. In units of
 * `unit` bytes. */
static void place_blocks(struct maker *m, const struct type *child, int n, const int *lengths, ptrdiff_t unit,
                         ptrdiff_t *places) {
    const ptrdiff_t span = child->hi - child->lo;
    int order[MOST_BLOCKS];
    ptrdiff_t at = 0, shift;
    for (int i = 0; i < n; i++) order[i] = i;
    for (int i = n - 1, shuffled = chance(m->draws, 2); i > 0 && shuffled; i--) {
        const int k = (int)draw(m->draws, (size_t)i + 1), o = order[i];
        order[i] = order[k];
        order[k] = o;
    }
    for (int i = 0; i < n; i++) {
        const int k = order[i];
        const ptrdiff_t need = lengths[k] ? (lengths[k] - 1) * child->extent + span : 0;
        places[k] = at;
        at += (need + draw_gap(m, unit > 1 ? unit : child->extent) + unit - 1) / unit;
    }
    shift = chance(m->draws, 3) ? (ptrdiff_t)draw(m->draws, (size_t)at + 1) : 0;
    if (m->aligned && unit == 1) shift -= shift % 32;
    for (int i = 0; i < n; i++) places[i] -= shift;
}

/* Splits n into blocks, some of them empty. */
static int split_blocks(struct maker *m, size_t n, int *lengths) {
    const int blocks = (int)draw(m->draws, MOST_BLOCKS / 2) + 1;
    for (int i = 0; i < blocks; i++) {
        const size_t len = i == blocks - 1 ? n : chance(m->draws, 5) ? 0 : draw(m->draws, n + 1);
        lengths[i] = (int)len;
        n -= len;
    }
    return blocks;
}

static struct type *make_indexed(struct maker *m, int basic, size_t n, int depth) {
    const size_t rest = draw_factor(m, n, n);
    struct type *child = make_uniform(m, basic, rest, depth), *t = new_type(m, n);
    int lengths[MOST_BLOCKS], indexes[MOST_BLOCKS], blocks, way = (int)draw(m->draws, 4);
    ptrdiff_t places[MOST_BLOCKS], unit = way % 2 ? 1 : child->extent;
    MPI_Aint bytes[MOST_BLOCKS];
    MPI_Datatype handle;
    char *words;
    if (unit <= 0) unit = 1, way |= 1;
    if (way < 2) {
        blocks = split_blocks(m, n / rest, lengths);
    } else {
        blocks = (int)draw_factor(m, n / rest, MOST_BLOCKS);
        for (int i = 0; i < blocks; i++) lengths[i] = (int)(n / rest) / blocks;
    }
    place_blocks(m, child, blocks, lengths, unit, places);
    for (int i = 0; i < blocks; i++) {
        indexes[i] = (int)places[i];
        bytes[i] = places[i];
        add_block(t, child, places[i] * unit, (size_t)lengths[i]);
    }
    switch (way) {
        case 0:
            MPI_Type_indexed(blocks, lengths, indexes, child->handle, &handle);
            words = store_words(m->store, "indexed(%s, %s, %s)", int_words(m, lengths, blocks),
                                int_words(m, indexes, blocks), child->words);
            break;
        case 1:
            MPI_Type_create_hindexed(blocks, lengths, bytes, child->handle, &handle);
            words = store_words(m->store, "hindexed(%s, %s, %s)", int_words(m, lengths, blocks),
                                aint_words(m, bytes, blocks), child->words);
            break;
        case 2:
            MPI_Type_create_indexed_block(blocks, lengths[0], indexes, child->handle, &handle);
            words = store_words(m->store, "indexed_block(%d, %s, %s)", lengths[0], int_words(m, indexes, blocks),
                                child->words);
            break;
        default:
            MPI_Type_create_hindexed_block(blocks, lengths[0], bytes, child->handle, &handle);
            words = store_words(m->store, "hindexed_block(%d, %s, %s)", lengths[0], aint_words(m, bytes, blocks),
                                child->words);
    }
    free_type(child);
    return finish_type(t, handle, words);
}

static struct type *make_vector(struct maker *m, int basic, size_t n, int depth) {
    const size_t count = draw_factor(m, n, 8), length = draw_factor(m, n / count, 8), rest = n / count / length;
    struct type *child = make_uniform(m, basic, rest, depth), *t = new_type(m, n);
    const int backwards = chance(m->draws, 3);
    ptrdiff_t need = (ptrdiff_t)(length - 1) * child->extent + child->hi - child->lo, step;
    MPI_Datatype handle;
    char *words;
    if (child->extent > 0 && chance(m->draws, 2)) {
        int stride = (int)((need + draw_gap(m, child->extent) + child->extent - 1) / child->extent);
        if (backwards) stride = -stride;
        step = stride * child->extent;
        MPI_Type_vector((int)count, (int)length, stride, child->handle, &handle);
        words = store_words(m->store, "vector(%zu, %zu, %d, %s)", count, length, stride, child->words);
    } else {
        step = need + draw_gap(m, basics[basic].extent);
        if (m->aligned) step += basics[basic].extent - 1, step -= step % basics[basic].extent;
        if (backwards) step = -step;
        MPI_Type_create_hvector((int)count, (int)length, step, child->handle, &handle);
        words = store_words(m->store, "hvector(%zu, %zu, %td, %s)", count, length, step, child->words);
    }
    for (size_t i = 0; i < count; i++) add_block(t, child, (ptrdiff_t)i * step, length);
    free_type(child);
    return finish_type(t, handle, words);
}

/* ---- structs ---- */

/* A struct of blocks[i] elements of types[i]. */
static struct type *join_types(struct maker *m, int n, const int *blocks, struct type **types) {
    int order[MOST_BLOCKS];
    MPI_Aint places[MOST_BLOCKS];
    MPI_Datatype handles[MOST_BLOCKS], handle;
    ptrdiff_t at = chance(m->draws, 3) ? -(ptrdiff_t)draw(m->draws, 40) : 0;
    size_t elements = 0;
    const char *names = "";
    struct type *t;
    if (m->aligned) at -= at % 32;
    for (int i = 0; i < n; i++) order[i] = i, elements += (size_t)blocks[i] * types[i]->n;
    for (int i = n - 1, shuffled = chance(m->draws, 2); i > 0 && shuffled; i--) {
        const int k = (int)draw(m->draws, (size_t)i + 1), o = order[i];
        order[i] = order[k];
        order[k] = o;
    }
    for (int i = 0; i < n; i++) {
        const struct type *child = types[order[i]];
        const int count = blocks[order[i]];
        if (count) at += child->lo < 0 ? -child->lo : 0;
        if (m->aligned) at = (at + 1023) / 32 * 32 - 992;
        places[order[i]] = at;
        if (count) at += (count - 1) * child->extent + child->hi + draw_gap(m, 4);
    }
    t = new_type(m, elements);
    for (int i = 0; i < n; i++) {
        handles[i] = types[i]->handle;
        names = store_words(m->store, "%s%s%s", names, i ? "," : "", types[i]->words);
        add_block(t, types[i], places[i], (size_t)blocks[i]);
    }
    MPI_Type_create_struct(n, blocks, places, handles, &handle);
    for (int i = 0; i < n; i++) free_type(types[i]);
    return finish_type(
        t, handle,
        store_words(m->store, "struct(%s, %s, {%s})", int_words(m, blocks, n), aint_words(m, places, n), names));
}

static struct type *make_struct(struct maker *m, int basic, size_t n, int depth) {
    const int parts = (int)draw(m->draws, 4) + 1;
    struct type *types[MOST_BLOCKS];
    int blocks[MOST_BLOCKS];
    for (int i = 0; i < parts; i++) {
        const size_t all = i == parts - 1 ? n : draw(m->draws, n + 1);
        n -= all;
        blocks[i] = all ? (int)draw_factor(m, all, 4) : 0;
        types[i] = make_uniform(m, basic, all ? all / (size_t)blocks[i] : m->no_nothing || chance(m->draws, 2), depth);
        if (!all && chance(m->draws, 2) && types[i]->n == 0) blocks[i] = 1;
    }
    return join_types(m, parts, blocks, types);
}

/* ---- arrays ---- */

static struct type *make_subarray(struct maker *m, int basic, size_t n, int depth) {
    const int dims = (int)draw(m->draws, 3) + 1, fortran = chance(m->draws, 2);
    int sizes[3], subsizes[3], starts[3], index[3] = {0};
    size_t elements = 1;
    struct type *child, *t;
    MPI_Datatype handle;
    for (int i = 0; i < dims; i++) {
        subsizes[i] = (int)draw_factor(m, n / elements, 6);
        starts[i] = (int)draw(m->draws, 3);
        sizes[i] = subsizes[i] + starts[i] + (int)draw(m->draws, 2);
        elements *= (size_t)subsizes[i];
    }
    child = make_uniform(m, basic, n / elements, depth);
    t = new_type(m, n);
    for (size_t k = 0; k < elements; k++) {
        ptrdiff_t at = 0;
        for (int i = 0; i < dims; i++) {
            const int d = fortran ? dims - 1 - i : i; /* the slowest dimension first */
            at = at * sizes[d] + starts[d] + index[d];
        }
        add_block(t, child, at * child->extent, 1);
        for (int i = 0; i < dims; i++) {
            const int d = fortran ? i : dims - 1 - i;
            if (++index[d] < subsizes[d]) break;
            index[d] = 0;
        }
    }
    MPI_Type_create_subarray(dims, sizes, subsizes, starts, fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C, child->handle,
                             &handle);
    free_type(child);
    return finish_type(t, handle,
                       store_words(m->store, "subarray(%s, %s, %s, %s, %s)", int_words(m, sizes, dims),
                                   int_words(m, subsizes, dims), int_words(m, starts, dims), fortran ? "F" : "C",
                                   child->words));
}

/* The part of one process of an array that is dealt out in blocks of `block` elements, in one or two dimensions. Falls
 * back to a subarray if the numbers do not fit. */
static struct type *make_darray(struct maker *m, int basic, size_t n, int depth) {
    const int dims = (int)draw(m->draws, 2) + 1, fortran = chance(m->draws, 2);
    int sizes[2], kinds[2], args[2], grid[2], mine[2], all = 1, process = 0;
    size_t owned[2] = {0, 0}, elements = 1;
    int list[2][64];
    struct type *child, *t;
    MPI_Datatype handle;
    for (int i = 0; i < dims; i++) {
        const int block = (int)draw(m->draws, 3) + 1;
        sizes[i] = (int)draw(m->draws, 12) + 1;
        grid[i] = (int)draw(m->draws, 3) + 1;
        mine[i] = (int)draw(m->draws, (size_t)grid[i]);
        kinds[i] = MPI_DISTRIBUTE_CYCLIC;
        args[i] = block;
        for (int k = 0; k < sizes[i]; k++)
            if (k / block % grid[i] == mine[i]) list[i][owned[i]++] = k;
        all *= grid[i];
        process = process * grid[i] + mine[i]; /* the grid is in the order of C in both cases */
        elements *= owned[i];
    }
    if (!elements || n % elements) return make_subarray(m, basic, n, depth);
    child = make_uniform(m, basic, n / elements, depth);
    t = new_type(m, n);
    for (size_t k = 0; k < elements; k++) {
        ptrdiff_t at;
        if (dims == 1)
            at = list[0][k];
        else if (fortran)
            at = list[0][k % owned[0]] + (ptrdiff_t)list[1][k / owned[0]] * sizes[0];
        else
            at = (ptrdiff_t)list[0][k / owned[1]] * sizes[1] + list[1][k % owned[1]];
        add_block(t, child, at * child->extent, 1);
    }
    MPI_Type_create_darray(all, process, dims, sizes, kinds, args, grid, fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C,
                           child->handle, &handle);
    free_type(child);
    return finish_type(t, handle,
                       store_words(m->store, "darray(%d, %d, %s, cyclic %s, grid %s, %s, %s)", all, process,
                                   int_words(m, sizes, dims), int_words(m, args, dims), int_words(m, grid, dims),
                                   fortran ? "F" : "C", child->words));
}

/* ---- the others ---- */

static struct type *repeat_type(struct maker *m, struct type *child, size_t count) {
    struct type *t = new_type(m, count * child->n);
    MPI_Datatype handle;
    add_block(t, child, 0, count);
    MPI_Type_contiguous((int)count, child->handle, &handle);
    free_type(child);
    return finish_type(t, handle, store_words(m->store, "contiguous(%zu, %s)", count, child->words));
}

static struct type *dup_type(struct maker *m, struct type *child, int keep) {
    struct type *t = new_type(m, child->n);
    MPI_Datatype handle;
    add_block(t, child, 0, 1);
    MPI_Type_dup(child->handle, &handle);
    if (!keep) free_type(child);
    return finish_type(t, handle, store_words(m->store, "dup(%s)", child->words));
}

static struct type *resize_type(struct maker *m, struct type *child, int keep, MPI_Aint lb, MPI_Aint extent) {
    struct type *t = new_type(m, child->n);
    MPI_Datatype handle;
    add_block(t, child, 0, 1);
    MPI_Type_create_resized(child->handle, lb, extent, &handle);
    if (!keep) free_type(child);
    return finish_type(
        t, handle, store_words(m->store, "resized(%s, %lld, %lld)", child->words, (long long)lb, (long long)extent));
}

static struct type *widen_type(struct maker *m, struct type *child) {
    MPI_Aint lb = child->lo, extent = child->hi - child->lo;
    const int unit = child->n ? basics[child->map[0].basic].extent : 1;
    if (chance(m->draws, 2)) lb -= draw_gap(m, 4);
    extent += draw_gap(m, 4);
    if (m->aligned || chance(m->draws, 2)) extent = (extent + 31) / 32 * 32;
    if (chance(m->draws, 4) && extent % unit) extent += unit - extent % unit;
    return resize_type(m, child, 0, lb, extent);
}

/* Types without elements. */
static struct type *make_nothing(struct maker *m, int basic) {
    struct type *child = basic_type(m, basic), *t = new_type(m, 0);
    int zeros[3] = {0, 0, 0}, indexes[3] = {3, 0, 7};
    MPI_Aint places[3] = {8, 0, -5};
    MPI_Datatype handle, handles[2] = {child->handle, MPI_INT};
    switch (draw(m->draws, 6)) {
        case 0:
            MPI_Type_contiguous(0, child->handle, &handle);
            return finish_type(t, handle, store_words(m->store, "contiguous(0, %s)", child->words));
        case 1:
            MPI_Type_vector(3, 0, 2, child->handle, &handle);
            return finish_type(t, handle, store_words(m->store, "vector(3, 0, 2, %s)", child->words));
        case 2:
            MPI_Type_indexed(3, zeros, indexes, child->handle, &handle);
            return finish_type(t, handle, store_words(m->store, "indexed({0,0,0}, {3,0,7}, %s)", child->words));
        case 3:
            MPI_Type_create_struct(2, zeros, places, handles, &handle);
            return finish_type(t, handle, store_words(m->store, "struct({0,0}, {8,0}, {%s,MPI_INT})", child->words));
        case 4:
            MPI_Type_create_hindexed(0, zeros, places, child->handle, &handle);
            return finish_type(t, handle, store_words(m->store, "hindexed({}, {}, %s)", child->words));
        default:
            MPI_Type_contiguous(0, child->handle, &handle);
            return resize_type(m, finish_type(t, handle, store_words(m->store, "contiguous(0, %s)", child->words)), 0,
                               4, 8);
    }
}

/* A type of exactly n elements of one predefined type. */
static struct type *make_uniform(struct maker *m, int basic, size_t n, int depth) {
    if (n == 0) return make_nothing(m, basic);
    if (n == 1 && (depth <= 0 || chance(m->draws, 3))) return basic_type(m, basic);
    if (depth <= 0) return repeat_type(m, basic_type(m, basic), n);
    depth--;
    switch (draw(m->draws, 11)) {
        case 0:
        case 1: {
            const size_t count = draw_factor(m, n, n);
            return repeat_type(m, make_uniform(m, basic, n / count, depth), count);
        }
        case 2:
        case 3: return make_vector(m, basic, n, depth);
        case 4:
        case 5: return make_indexed(m, basic, n, depth);
        case 6: return make_struct(m, basic, n, depth);
        case 7: return make_subarray(m, basic, n, depth);
        case 8: return m->no_darray ? make_subarray(m, basic, n, depth) : make_darray(m, basic, n, depth);
        case 9: return widen_type(m, make_uniform(m, basic, n, depth));
        default: return dup_type(m, make_uniform(m, basic, n, depth), 0);
    }
}

/* ---- sides ---- */

static struct side count_side(struct maker *m, size_t count, struct type *t) {
    struct side s = {.count = (MPI_Count)count, .type = t, .n = count * t->n, .lo = t->lo, .hi = t->hi};
    if (s.n == 0) {
        s.lo = s.hi = 0;
    } else if (t->extent >= 0) {
        s.hi += (ptrdiff_t)(count - 1) * t->extent;
    } else {
        s.lo += (ptrdiff_t)(count - 1) * t->extent;
    }
    if (t->derived) {
        MPI_Type_commit(&t->handle);
        t->next = m->made;
        m->made = t;
    }
    return s;
}

struct side make_plain_side(struct maker *m, int basic, size_t count) {
    return count_side(m, count, basic_type(m, basic));
}

struct side make_side(struct maker *m, const struct run *runs, int n_runs, size_t times) {
    struct type *types[MOST_BLOCKS], *t;
    int blocks[MOST_BLOCKS];
    size_t count, inner;
    int depth = (int)draw(m->draws, 4);
    if (n_runs == 1) {
        const size_t n = runs[0].n * times;
        if (n == 0) {
            const int nothing = !m->simple && !m->no_nothing && chance(m->draws, 2);
            return nothing ? count_side(m, draw(m->draws, 4), make_nothing(m, runs[0].basic))
                           : make_plain_side(m, runs[0].basic, 0);
        }
        if (m->simple || chance(m->draws, 4) || n > 4000) return make_plain_side(m, runs[0].basic, n);
        count = chance(m->draws, 2) ? 1 : draw_factor(m, n, n);
        return count_side(m, count, make_uniform(m, runs[0].basic, n / count, depth));
    }
    for (int i = 0; i < n_runs; i++) {
        blocks[i] = runs[i].n ? (int)draw_factor(m, runs[i].n, runs[i].n) : 0;
        types[i] = make_uniform(m, runs[i].basic, blocks[i] ? runs[i].n / (size_t)blocks[i] : 1, depth / 2);
    }
    t = join_types(m, n_runs, blocks, types);
    if (chance(m->draws, 3)) t = widen_type(m, t);
    count = draw_factor(m, times, times);
    inner = times / count;
    if (inner > 1 || chance(m->draws, 5)) t = repeat_type(m, t, inner);
    return count_side(m, count, t);
}

struct side disguise_side(struct maker *m, const struct side *side) {
    const int count = (int)side->count, zero = 0, one = 1;
    const MPI_Aint at = 0;
    struct type *t = new_type(m, side->n), *of = side->type;
    MPI_Datatype handle;
    const size_t way = draw(m->draws, 8);
    if (way == 0) return count_side(m, (size_t)count, dup_type(m, of, 1));
    if (way == 1) return count_side(m, (size_t)count, resize_type(m, of, 1, 0, of->extent));
    if (count < 1) return count_side(m, 0, dup_type(m, of, 1));
    add_block(t, of, 0, (size_t)count);
    switch (way) {
        case 2:
            MPI_Type_contiguous(count, of->handle, &handle);
            return count_side(m, 1,
                              finish_type(t, handle, store_words(m->store, "contiguous(%d, %s)", count, of->words)));
        case 3:
            MPI_Type_create_struct(1, &count, &at, &of->handle, &handle);
            return count_side(
                m, 1, finish_type(t, handle, store_words(m->store, "struct({%d}, {0}, {%s})", count, of->words)));
        case 4:
            MPI_Type_create_hindexed(1, &count, &at, of->handle, &handle);
            return count_side(
                m, 1, finish_type(t, handle, store_words(m->store, "hindexed({%d}, {0}, %s)", count, of->words)));
        case 5:
            MPI_Type_vector(count, 1, 1, of->handle, &handle);
            return count_side(m, 1,
                              finish_type(t, handle, store_words(m->store, "vector(%d, 1, 1, %s)", count, of->words)));
        case 6:
            MPI_Type_create_indexed_block(one, count, &zero, of->handle, &handle);
            return count_side(
                m, 1, finish_type(t, handle, store_words(m->store, "indexed_block(%d, {0}, %s)", count, of->words)));
        default:
            MPI_Type_create_subarray(1, &count, &count, &zero, MPI_ORDER_C, of->handle, &handle);
            return count_side(
                m, 1,
                finish_type(t, handle,
                            store_words(m->store, "subarray({%d}, {%d}, {0}, C, %s)", count, count, of->words)));
    }
}

struct side make_scattered(struct maker *m, int basic, int n, const int *lengths, const ptrdiff_t *at,
                           const MPI_Aint *places) {
    struct type *child = basic_type(m, basic), *t;
    MPI_Datatype handle;
    size_t elements = 0;
    for (int i = 0; i < n; i++) elements += (size_t)lengths[i];
    t = new_type(m, elements);
    for (int i = 0; i < n; i++) add_block(t, child, at[i], (size_t)lengths[i]);
    MPI_Type_create_hindexed(n, lengths, places, child->handle, &handle);
    return count_side(m, 1,
                      finish_type(t, handle,
                                  store_words(m->store, "hindexed(%s, %s, %s)", int_words(m, lengths, n),
                                              aint_words(m, places, n), child->words)));
}

struct side move_side(struct maker *m, const struct side *side, ptrdiff_t by, MPI_Aint place) {
    const int count = (int)side->count;
    struct type *t = new_type(m, side->n);
    MPI_Datatype handle;
    add_block(t, side->type, by, (size_t)count);
    MPI_Type_create_hindexed(1, &count, &place, side->type->handle, &handle);
    return count_side(
        m, 1,
        finish_type(t, handle,
                    store_words(m->store, "hindexed({%d}, {%lld}, %s)", count, (long long)place, side->type->words)));
}
