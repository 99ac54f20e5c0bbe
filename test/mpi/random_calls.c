/* SPDX-License-Identifier: BSD-3-Clause */
#include "random_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const call_names[N_KINDS] = {
    "MPI_Put", "MPI_Get", "MPI_Accumulate", "MPI_Get_accumulate", "MPI_Fetch_and_op", "MPI_Compare_and_swap"};
static const char *const request_names[N_KINDS] = {"MPI_Rput", "MPI_Rget", "MPI_Raccumulate", "MPI_Rget_accumulate"};

struct item *add_item(struct world *w, int p, enum action action, int window, int target) {
    struct item *item;
    static _Thread_local struct item not_mine;
    if (p != w->me) return &not_mine;
    item = store_take(&w->store, sizeof *item);
    *item = (struct item){.action = action, .window = window, .target = target};
    *w->items_end = item;
    w->items_end = &item->next;
    return item;
}

/* ---- in words ---- */

static const char *side_words(struct world *w, const struct side *s) {
    return store_words(&w->store, "%lld %s", (long long)s->count, s->type ? s->type->words : "(none)");
}

const char *call_words(struct world *w, const struct call *c) {
    const struct window *win = &w->windows[c->window];
    const char *name = c->request_form ? request_names[c->kind] : call_names[c->kind], *text;
    text = store_words(&w->store, "process %d: %s%s(", c->origin, name, c->count_form ? "_c" : "");
    if (c->kind == FETCH_AND_OP || c->kind == COMPARE_AND_SWAP)
        text = store_words(&w->store, "%s%s", text, basics[c->basic].name);
    else if (c->kind == GET_ACCUMULATE)
        text = store_words(&w->store, "%sorigin %s, result %s", text, side_words(w, &c->passed),
                           side_words(w, &c->result));
    else
        text = store_words(&w->store, "%s%s", text, side_words(w, &c->passed));
    if (c->origin_buffer.null) text = store_words(&w->store, "%s at a null pointer", text);
    text = store_words(&w->store, "%s, to process %d, disp %lld", text, c->target, (long long)c->disp);
    if (c->kind < FETCH_AND_OP) text = store_words(&w->store, "%s, target %s", text, side_words(w, &c->to));
    if (c->kind >= ACCUMULATE && c->kind < COMPARE_AND_SWAP)
        text = store_words(&w->store, "%s, %s", text, op_names[c->op]);
    return store_words(&w->store, "%s) in %s", text, window_words(w, win));
}

static int touches(const struct world *w, const struct call *c, int segment, size_t at) {
    for (size_t i = 0; i < c->n; i++) {
        int basic, its_segment;
        const ptrdiff_t here = c->at + side_element(&c->to, i, &basic);
        size_t offset, run;
        for (int k = 0; k < 2; k++) {
            const size_t len = basic_run(&basics[basic], k, &run);
            if (len &&
                window_find(w, &w->windows[c->window], c->target, here + (ptrdiff_t)run, len, &its_segment, &offset) &&
                its_segment == segment && offset <= at && at < offset + len)
                return 1;
        }
    }
    return 0;
}

const char *calls_on(struct world *w, int segment, int process, size_t at) {
    const char *text = "\n  calls of this step on it:";
    int n = 0;
    for (const struct call *c = w->calls; c; c = c->next)
        if (c->target == process && touches(w, c, segment, at) && n++ < 8)
            text = store_words(&w->store, "%s\n    %s", text, call_words(w, c));
    return n ? text : "\n  no call of this step accesses it";
}

/* ---- buffers ---- */

static char *real_memory(struct world *w, size_t len) {
    const size_t odd = draw(&w->draws, 16), kind = draw(&w->draws, 2);
    if (kind && w->scratch_used + len + 64 < SCRATCH) {
        char *at = w->scratch + w->scratch_used + odd;
        w->scratch_used += (len + odd + 31) & ~(size_t)15;
        return at;
    }
    return (char *)store_take(&w->store, len + odd) + odd;
}

static void make_buffer(struct world *w, const struct call *c, struct buffer *b, ptrdiff_t lo, ptrdiff_t hi) {
    const int mine = c->origin == w->me;
    b->len = (size_t)(hi - lo) + 2 * GUARD;
    b->zero = GUARD - lo;
    b->image = store_take(&w->store, b->len);
    draw_bytes(&w->draws, b->image, b->len);
    b->real = real_memory(w, b->len);
    if (!mine) b->real = NULL;
}

static void fill_buffer(struct buffer *b) {
    if (b->real) memcpy(b->real, b->image, b->len);
}

/* 1 if no two elements of a buffer that is written have a byte in common. */
static int is_apart(struct world *w, const struct side *s) {
    uint8_t *seen = store_take(&w->store, (size_t)(s->hi - s->lo) + 1);
    if (s->type && !s->type->derived) return 1;
    for (size_t i = 0; i < s->n; i++) {
        int basic;
        const ptrdiff_t at = side_element(s, i, &basic) - s->lo;
        for (int k = 0; k < 2; k++) {
            size_t run, len = basic_run(&basics[basic], k, &run);
            for (; len; len--, run++)
                if (seen[at + (ptrdiff_t)run]++) return 0;
        }
    }
    return 1;
}

/* ---- what is allowed ---- */

static int has_result(enum kind kind) { return kind >= GET_ACCUMULATE; }
static int is_update(enum kind kind) { return kind >= ACCUMULATE; }
static uint16_t update_code(int basic, enum op op) { return (uint16_t)(basic * 32 + (int)op + 1); }
#define SWAP_OP 20 /* in the place of an operation: compare and swap */

/* Whether the call may access a byte after what has happened in this step. */
static int may_access(const struct world *w, const struct call *c, const struct trace *t, int32_t start, int prepares) {
    const enum access access = c->kind == PUT ? WRITE : c->kind == GET ? READ : UPDATE;
    const enum op op = c->kind == COMPARE_AND_SWAP ? (enum op)SWAP_OP : c->op;
    const int fresh = t->step != w->steps,
              same = t->access == UPDATE && t->start == start && t->update / 32 == c->basic &&
                     (t->update % 32 == op + 1 || op == NO_OP || t->update % 32 == NO_OP + 1);
    if (t->call == c->number) return access == READ; /* overlapping elements of one call */
    if (fresh) return 1;
    if (access == UPDATE && prepares && !(same && (t->update % 32 == op + 1 || op == NO_OP))) return 0;
    if (t->round != w->rounds) return 1;
    if (access == READ && t->access == READ && !(t->origin != c->origin && t->alone)) return 1;
    if (t->window != c->window || (t->origin != c->origin && t->alone)) return 0;
    if (t->origin == c->origin && c->age > t->age) return 1;
    if (access != UPDATE || !same) return 0;
    if (t->origin == c->origin) return 1;
    return t->update % 32 == op + 1 && !has_result(c->kind) && op_commutes(&basics[c->basic], op);
}

static struct trace *trace_at(struct world *w, const struct call *c, ptrdiff_t at, size_t len, int *segment,
                              size_t *offset) {
    if (!window_find(w, &w->windows[c->window], c->target, at, len, segment, offset)) return NULL;
    return w->segments[*segment].trace[c->target] + *offset;
}

static int is_allowed(struct world *w, const struct call *c) {
    for (size_t i = 0; i < c->to.n; i++) {
        int basic, segment = 0;
        const ptrdiff_t at = c->at + side_element(&c->to, i, &basic);
        const struct basic *b = &basics[basic];
        const int prepares = is_update(c->kind) && op_prepares(b, c->op);
        const int computes = is_update(c->kind) && (c->op < REPLACE || c->kind == COMPARE_AND_SWAP);
        for (int k = 0; k < 2; k++) {
            size_t run, offset = 0, len = basic_run(b, k, &run);
            struct trace *t = len ? trace_at(w, c, at + (ptrdiff_t)run, len, &segment, &offset) : NULL;
            if (len && !t) return 0;
            for (; len; len--, t++, run++, offset++) {
                const int noise = w->segments[segment].noise[c->target][offset] && !basic_is_noise(b, run);
                if (!may_access(w, c, t, (int32_t)at, prepares)) return 0;
                if (noise && computes) return 0; /* nobody knows what comes out */
                if (c->kind != GET) t->call = c->number;
            }
        }
    }
    return 1;
}

static int not_in(const struct trace *t, const struct world *w) { return t->step != w->steps; }

/* ---- the model ---- */

/* Puts a value that suits the operation to the target, before the step. */
static void prepare(struct world *w, const struct call *c, const struct basic *b, ptrdiff_t at, int segment,
                    size_t offset) {
    struct segment *s = &w->segments[segment];
    struct draws draws = {c->preparation + (uint64_t)at * 77777};
    size_t run, len;
    basic_draw(&draws, b, c->kind == COMPARE_AND_SWAP ? REPLACE : c->op, s->model[c->target] + offset);
    for (int k = 0; k < 2; k++)
        if ((len = basic_run(b, k, &run)) != 0) world_store(w, segment, c->target, offset + run, len);
}

static void copy_runs(const struct basic *b, uint8_t *to, const uint8_t *from) {
    for (int k = 0; k < 2; k++) {
        size_t run;
        const size_t len = basic_run(b, k, &run);
        memcpy(to + run, from + run, len);
    }
}

/* The result gets the element's bytes, those without a meaning included. */
static void model_result(struct buffer *r, const struct basic *b, ptrdiff_t at, const uint8_t *model,
                         const uint8_t *noise, int updates) {
    copy_runs(b, r->image + r->zero + at, model);
    for (int k = 0; k < 2; k++) {
        size_t run, len = basic_run(b, k, &run);
        for (; len; len--, run++)
            r->noise[r->zero + at + (ptrdiff_t)run] = noise[run] || (updates && basic_is_noise(b, run));
    }
}

static void model_call(struct world *w, struct call *c) {
    for (size_t i = 0; i < c->n; i++) {
        int basic, other, segment = 0;
        const ptrdiff_t at = c->at + side_element(&c->to, i, &basic);
        const struct basic *b = &basics[basic];
        const int prepares = is_update(c->kind) && op_prepares(b, c->op);
        const enum op op = c->kind == COMPARE_AND_SWAP ? (enum op)SWAP_OP : c->op;
        uint8_t *model, *noise;
        const uint8_t *from = NULL;
        struct segment *s;
        size_t offset = 0, first;
        struct trace *t = trace_at(w, c, at, 1, &segment, &first);
        if (!t) abort();
        s = &w->segments[segment];
        s->touched = 1;
        if (prepares && not_in(t, w)) prepare(w, c, b, at, segment, first);
        model = s->model[c->target] + first;
        noise = s->noise[c->target] + first;
        for (int k = 0; k < 2; k++) {
            size_t run, len = basic_run(b, k, &run);
            struct trace *u = len ? trace_at(w, c, at + (ptrdiff_t)run, len, &segment, &offset) : NULL;
            for (; len; len--, u++) {
                const int again = u->step == w->steps && u->round == w->rounds;
                const int shared = again && u->origin != c->origin;
                const enum access access = c->kind == PUT ? WRITE : c->kind == GET ? READ : UPDATE;
                uint16_t update = access == UPDATE ? update_code(c->basic, op) : 0;
                if (access == UPDATE && again && op == NO_OP && u->access == UPDATE) update = u->update;
                *u = (struct trace){.step = w->steps,
                                    .round = w->rounds,
                                    .call = c->number,
                                    .start = access == UPDATE ? (int32_t)at : 0,
                                    .origin = (int16_t)(shared ? -2 : c->origin),
                                    .update = update,
                                    .age = c->age,
                                    .access = (uint8_t)access,
                                    .window = (uint8_t)c->window,
                                    .alone = has_result(c->kind) ||
                                             (again && (u->alone || u->access != access || u->update != update))};
            }
        }
        if (c->kind != GET && c->from.type) {
            const ptrdiff_t here = side_element(&c->from, i, &other);
            from = c->origin_buffer.image + c->origin_buffer.zero + here;
        }
        if (c->kind == GET || has_result(c->kind)) {
            const ptrdiff_t here = side_element(&c->result, i, &other);
            if (c->result_buffer.image) model_result(&c->result_buffer, b, here, model, noise, is_update(c->kind));
        }
        if (c->kind == PUT) {
            copy_runs(b, model, from);
            for (int k = 0; k < 2; k++) {
                size_t run;
                const size_t len = basic_run(b, k, &run);
                memset(noise + run, 0, len);
            }
        } else if (c->kind == COMPARE_AND_SWAP) {
            const uint8_t *compare = c->compare_buffer.image + c->compare_buffer.zero;
            if (memcmp(model, compare, (size_t)b->part) == 0) copy_runs(b, model, from);
        } else if (is_update(c->kind)) {
            basic_apply(b, c->op, model, from);
            for (int k = 0; k < 2 && c->op != NO_OP; k++) {
                size_t run, len = basic_run(b, k, &run);
                for (; len; len--, run++) {
                    noise[run] = (uint8_t)basic_is_noise(b, run);
                    if (noise[run]) s->noisy[c->target] = 1;
                }
            }
        }
    }
}

/* ---- drawing ---- */

static int basic_allowed(const struct world *w, const struct basic *b) {
    switch (b->family) {
        case F_PAIR:
            if (b->part == (int)sizeof(long double) && !with(w, WITH_long_double)) return 0;
            if (b->real == 2 && !with(w, WITH_strict_pairs)) return 0;
            return with(w, WITH_pairs);
        case F_LONG_DOUBLE:
            return with(w, WITH_long_double) && (b->class != COMPLEX || with(w, WITH_long_double_complex));
        case F_COMPLEX: return with(w, WITH_complex);
        case F_BYTE: return with(w, WITH_byte);
        case F_CHAR: return with(w, WITH_char);
        case F_LOGICAL: return with(w, WITH_logical);
        case F_FORTRAN: return with(w, WITH_fortran);
        case F_OPAQUE: return with(w, WITH_opaque);
        default: return 1;
    }
}

/* MPI_Compare_and_swap: integers, truth values, and bytes. */
static int swappable(const struct world *w, const struct basic *b) {
    if (b->part < 4 && !with(w, WITH_small_swap)) return 0;
    return b->class == SIGNED || b->class == UNSIGNED || b->class == LOGICAL || (b->class == BYTES && !b->strict);
}

static int op_allowed(const struct world *w, const struct basic *b, enum op op) {
    if (!op_defined(b, op)) return 0;
    if (op == NO_OP && !with(w, WITH_no_op)) return 0;
    if (b->class == UNSIGNED && (op == MIN || op == MAX) && !with(w, WITH_unsigned_order)) return 0;
    if (b->family == F_CHAR && op < REPLACE && !with(w, WITH_char_sum)) return 0;
    return 1;
}

static int draw_kind(struct world *w, enum kind *kind) {
    enum kind kinds[N_KINDS];
    size_t n = 0;
    for (int k = 0; k < N_KINDS; k++)
        if (with(w, WITH_put + k)) kinds[n++] = (enum kind)k;
    if (!n) return 0;
    *kind = kinds[draw(&w->draws, n)];
    return 1;
}

/* A type, and an operation that goes with it. Often one of the common types; often the type and operation of an earlier
 * call of this step, so that calls meet. */
static int draw_basic(struct world *w, struct call *c, const struct call *last) {
    for (int tries = 0; tries < 50; tries++) {
        c->basic = (int)draw(&w->draws, (size_t)n_basics);
        if (chance(&w->draws, 5)) c->basic = (int)draw(&w->draws, 23);
        c->op = is_update(c->kind) ? (enum op)draw(&w->draws, N_OPS) : REPLACE;
        if (last && is_update(c->kind) && is_update(last->kind) && chance(&w->draws, 2)) {
            c->basic = last->basic;
            c->op = c->kind >= GET_ACCUMULATE && chance(&w->draws, 4) ? NO_OP : last->op;
        }
        if (c->kind == COMPARE_AND_SWAP) c->op = REPLACE;
        if (c->kind == ACCUMULATE && c->op == NO_OP) c->op = REPLACE;
        if (!basic_allowed(w, &basics[c->basic]) || !op_allowed(w, &basics[c->basic], c->op)) continue;
        if (c->kind == COMPARE_AND_SWAP && !swappable(w, &basics[c->basic])) continue;
        return 1;
    }
    return 0;
}

/* How many bytes a process's window has, or the regions of a dynamic one. */
static size_t room_of(const struct window *win, int p) {
    size_t room = 0;
    if (win->flavor != DYNAMIC) return win->size[p];
    for (int i = 0; i < win->n_regions[p]; i++) room += win->regions[p][i].len;
    return room;
}

/* A place for the target's side in the window. Returns 0 if it does not fit. */
static int draw_place(struct world *w, struct call *c) {
    const struct window *win = &w->windows[c->window];
    const int t = c->target, unit = win->unit[t];
    ptrdiff_t first, last, disp;
    if (win->flavor == DYNAMIC) {
        const struct region *r;
        ptrdiff_t from;
        if (!win->n_regions[t]) return 0;
        r = &win->regions[t][draw(&w->draws, (size_t)win->n_regions[t])];
        from = (ptrdiff_t)r->from - c->to.lo;
        last = (ptrdiff_t)(r->from + r->len) - c->to.hi;
        if (last > from && !chance(&w->draws, 4)) from += (ptrdiff_t)draw(&w->draws, (size_t)(last - from + 1));
        if (chance(&w->draws, 4)) from += (ptrdiff_t)draw(&w->draws, 100) - 30;
        c->at = window_virtual(r->segment, 0) + from;
        c->disp = MPI_Aint_add(w->segments[r->segment].address[t], from);
        return 1;
    }
    first = c->to.lo < 0 ? (-c->to.lo + unit - 1) / unit : 0;
    last = ((ptrdiff_t)win->size[t] - c->to.hi);
    if (last < 0) return 0;
    last /= unit;
    if (c->to.n && c->to.lo > 0 && chance(&w->draws, 3)) first = 0;
    if (first > last) return 0;
    disp = chance(&w->draws, 4)   ? first
           : chance(&w->draws, 3) ? last
                                  : first + (ptrdiff_t)draw(&w->draws, (size_t)(last - first + 1));
    if (!with(w, WITH_unaligned) && c->to.n) {
        const int extent = basics[c->to.type->map[0].basic].extent;
        while (disp > 0 && disp * unit % extent) disp--;
        if (disp < first) return 0;
    }
    c->disp = disp;
    c->at = disp * unit;
    return 1;
}

/* Blocks in several regions, or pieces of one, by absolute addresses. The elements of the target then are these. */
static int draw_scattered(struct world *w, struct call *c, size_t *n) {
    const struct window *win = &w->windows[c->window];
    const int t = c->target, blocks = (int)draw(&w->draws, 4) + 1;
    const size_t extent = (size_t)basics[c->basic].extent;
    int lengths[4];
    ptrdiff_t at[4];
    MPI_Aint places[4], origin = 0;
    const int absolute = with(w, WITH_absolute) && chance(&w->draws, 2);
    *n = 0;
    if (!win->n_regions[t]) return 0;
    for (int i = 0; i < blocks; i++) {
        const struct region *r = &win->regions[t][draw(&w->draws, (size_t)win->n_regions[t])];
        const size_t fits = r->len / extent;
        size_t from;
        if (!fits) return 0;
        lengths[i] = (int)draw(&w->draws, fits > 5 ? 5 : fits) + 1;
        from = r->from + draw(&w->draws, r->len - (size_t)lengths[i] * extent + 1);
        if (i == 0 && !absolute) {
            origin = w->segments[r->segment].address[t] + (MPI_Aint)r->from;
            c->at = window_virtual(r->segment, r->from);
        }
        at[i] = window_virtual(r->segment, from) - (absolute ? 0 : c->at);
        places[i] = w->segments[r->segment].address[t] + (MPI_Aint)from - origin;
        *n += (size_t)lengths[i];
    }
    if (absolute) c->at = 0;
    c->disp = origin;
    c->to = make_scattered(&w->maker, c->basic, blocks, lengths, at, places);
    return 1;
}

/* The sides of a call on n elements, and where they are. */
/* 1 if all from the first to the last byte is in one region of a dynamic window. */
static int in_one_region(const struct window *win, const struct call *c) {
    for (int i = 0; i < win->n_regions[c->target]; i++) {
        const struct region *r = &win->regions[c->target][i];
        const ptrdiff_t from = window_virtual(r->segment, r->from);
        if (from <= c->at + c->to.lo && c->at + c->to.hi <= from + (ptrdiff_t)r->len) return 1;
    }
    return 0;
}

static int is_aligned(const struct world *w, const struct call *c) {
    const struct window *win = &w->windows[c->window];
    const size_t extent = (size_t)basics[c->basic].extent;
    int segment;
    size_t offset;
    return window_find(w, win, c->target, c->at, extent, &segment, &offset) &&
           (w->segments[segment].odd[c->target] + offset) % extent == 0;
}

/* The side that receives has room for more elements than *n, those of the origin: a put sends less of them, a get asks
 * for more. An accumulate ends with an element of the target's type. */
static void shorten(struct world *w, const struct call *c, size_t *n) {
    if (c->kind == GET)
        *n += draw(&w->draws, 6);
    else if (*n && (c->kind == PUT || (c->kind == ACCUMULATE && !c->to.type->derived)))
        *n = draw(&w->draws, *n);
}

static int draw_sides(struct world *w, struct call *c) {
    struct run runs[4] = {{c->basic, 1}};
    int n_runs = 1;
    size_t times = 1, extent = (size_t)basics[c->basic].extent, room = room_of(&w->windows[c->window], c->target), most,
           n;
    const struct window *win = &w->windows[c->window];
    const int nothing = with(w, WITH_zero) && chance(&w->draws, 20);
    const int one = c->kind >= FETCH_AND_OP;
    int same = 0;
    most = room / extent;
    n = most > 1 && chance(&w->draws, 8) ? most : draw(&w->draws, most > 24 ? 24 : most) + 1;
    if (room > 20000 && chance(&w->draws, 2)) n = draw(&w->draws, most) + 1;
    /* As many as a word has: a type of 4 or 8 bytes is not always one number. */
    if (extent < 8 && most >= 8 / extent && chance(&w->draws, 8))
        n = (chance(&w->draws, 2) ? 8 : extent < 4 ? 4 : 8) / extent;
    if (one) n = 1;
    if ((nothing || most == 0) && !one) n = 0;
    if (most == 0 && one) return 0;
    if (!is_update(c->kind) && n > 1 && with(w, WITH_mixed) && !w->maker.simple && chance(&w->draws, 3)) {
        n_runs = (int)draw(&w->draws, 3) + 2;
        times = draw(&w->draws, 3) + 1;
        for (int i = 0; i < n_runs; i++) {
            do {
                runs[i].basic = (int)draw(&w->draws, (size_t)n_basics);
            } while (!basic_allowed(w, &basics[runs[i].basic]));
            runs[i].n = draw(&w->draws, 5);
        }
    }
    for (int tries = 0; tries<5; tries++, n = n> 1 ? n / 2 : n) {
        if (win->flavor == DYNAMIC && n && n_runs == 1 && !one && !w->maker.simple && with(w, WITH_scattered) &&
            chance(&w->draws, 3)) {
            if (!draw_scattered(w, c, &n)) continue;
        } else {
            if (n_runs == 1) runs[0].n = n;
            if (one)
                c->to = make_plain_side(&w->maker, c->basic, 1);
            else
                c->to = make_side(&w->maker, runs, n_runs, times);
            if (!draw_place(w, c)) continue;
            if (win->flavor == DYNAMIC && c->to.n && !one && !w->maker.simple && with(w, WITH_absolute) &&
                chance(&w->draws, 4)) {
                c->to = move_side(&w->maker, &c->to, c->at, c->disp);
                c->at = 0;
                c->disp = 0;
            }
        }
        if (c->kind == COMPARE_AND_SWAP && !with(w, WITH_unaligned_swap) && !is_aligned(w, c)) continue;
        if (win->flavor == DYNAMIC && !with(w, WITH_across) && !in_one_region(win, c)) continue;
        if (!is_allowed(w, c)) {
            c->number = ++w->calls_made;
            continue;
        }
        /* The same type on both sides, unless it consists of absolute addresses. */
        same = c->to.hi - c->to.lo < SCRATCH && c->to.lo > -SCRATCH && c->to.hi < SCRATCH && chance(&w->draws, 3);
        if (n_runs == 1) runs[0].n = c->to.n;
        if (c->to.n == 0) n_runs = 1, times = 1, runs[0].n = 0, same = 0;
        if (c->to.n == 0 && with(w, WITH_zero_types) && chance(&w->draws, 2)) runs[0].basic = (int)draw(&w->draws, 7);
        if (n_runs == 1 && !one && with(w, WITH_shorter) && chance(&w->draws, 5)) {
            shorten(w, c, &runs[0].n);
            same = 0;
        }
        for (int k = 0; k < 3; k++) {
            c->from = one    ? make_plain_side(&w->maker, c->basic, 1)
                      : same ? c->to
                             : make_side(&w->maker, runs, n_runs, times);
            if (c->kind != GET || is_apart(w, &c->from)) break;
            if (k == 2) return 0;
        }
        c->n = c->from.n < c->to.n ? c->from.n : c->to.n;
        c->result = c->from;
        if (c->kind == GET_ACCUMULATE)
            for (int k = 0; k < 3; k++) {
                c->result = chance(&w->draws, 3) ? c->from : make_side(&w->maker, runs, n_runs, times);
                if (is_apart(w, &c->result)) break;
                if (k == 2) return 0;
            }
        return 1;
    }
    return 0;
}

/* The buffers of the origin, with what they contain. */
static void draw_buffers(struct world *w, struct call *c) {
    const int nothing = c->to.n == 0 && c->from.n == 0 && chance(&w->draws, 2);
    c->passed = c->from;
    if (c->kind != GET) {
        struct buffer *b = &c->origin_buffer;
        make_buffer(w, c, b, c->from.lo, c->from.hi);
        for (size_t i = 0; i < c->from.n && is_update(c->kind); i++) {
            int basic;
            const ptrdiff_t at = side_element(&c->from, i, &basic);
            basic_draw(&w->draws, &basics[basic], c->op, b->image + b->zero + at);
        }
        /* The argument is ignored then. */
        if (c->kind == GET_ACCUMULATE && c->op == NO_OP && chance(&w->draws, 2)) {
            c->passed = make_plain_side(&w->maker, c->basic, 0);
            b->null = 1;
        }
        if (c->kind == FETCH_AND_OP && c->op == NO_OP && chance(&w->draws, 2)) b->null = 1;
        if (nothing && !c->from.type->derived) b->null = 1;
    }
    if (c->kind == GET || has_result(c->kind)) {
        struct buffer *b = &c->result_buffer;
        make_buffer(w, c, b, c->result.lo, c->result.hi);
        b->noise = store_take(&w->store, b->len);
    }
    if (c->kind == COMPARE_AND_SWAP) {
        const struct basic *b = &basics[c->basic];
        struct buffer *compare = &c->compare_buffer;
        int segment;
        size_t offset;
        make_buffer(w, c, compare, 0, b->part);
        basic_draw(&w->draws, b, REPLACE, compare->image + compare->zero);
        if (c->target >= 0 && !chance(&w->draws, 3) &&
            window_find(w, &w->windows[c->window], c->target, c->at, (size_t)b->part, &segment, &offset))
            memcpy(compare->image + compare->zero, w->segments[segment].model[c->target] + offset, (size_t)b->part);
    }
    /* By absolute addresses, from MPI_BOTTOM. */
    if (c->kind < FETCH_AND_OP && c->from.n && with(w, WITH_bottom) && !(is_update(c->kind) && w->maker.simple) &&
        chance(&w->draws, 6)) {
        struct buffer *b = c->kind == GET ? &c->result_buffer : &c->origin_buffer;
        MPI_Aint place = 0;
        if (b->null || c->passed.count == 0) return;
        if (c->origin == w->me) MPI_Get_address(b->real + b->zero, &place);
        c->passed = move_side(&w->maker, &c->from, 0, place);
        b->null = 1;
    }
}

static void draw_forms(struct world *w, const struct epoch *e, struct call *c) {
    const int passive = e->kind >= LOCK;
    c->request_form = passive && c->kind < FETCH_AND_OP && with(w, WITH_requests) && chance(&w->draws, 3);
    c->count_form = MPI_VERSION >= 4 && c->kind < FETCH_AND_OP && with(w, WITH_counts) && chance(&w->draws, 5);
    c->free_early = chance(&w->draws, 2);
}

void unlock_for(struct world *w, struct epoch *e, int p, int t) {
    if (!e->locked[p][t]) return;
    add_item(w, p, WAIT_ALL, e->window, -1);
    add_item(w, p, UNLOCK_TARGET, e->window, w->groups[w->windows[e->window].group].rank[t]);
    e->locked[p][t] = 0;
    e->age[p][t]++;
}

/* A lock on the target for the origin, by the step's policy. */
static void lock_for(struct world *w, struct epoch *e, int p, int t) {
    const struct group *g = &w->groups[w->windows[e->window].group];
    struct item *item;
    if (e->locked[p][t]) return;
    for (int other = 0; other < w->n && e->policy == ONE_LOCK; other++) unlock_for(w, e, p, other);
    item = add_item(w, p, LOCK_TARGET, e->window, g->rank[t]);
    item->type = e->policy == OWN_TARGETS || (e->policy == ONE_LOCK && chance(&w->draws, 2)) ? MPI_LOCK_EXCLUSIVE
                                                                                             : MPI_LOCK_SHARED;
    if (e->policy != ONE_LOCK && with(w, WITH_no_check) && chance(&w->draws, 3)) item->assert = MPI_MODE_NOCHECK;
    e->locked[p][t] = 1;
}

static struct call *new_call(struct world *w, const struct call *c) {
    struct call *new = store_take(&w->store, sizeof *new);
    *new = *c;
    *w->calls_end = new;
    w->calls_end = &new->next;
    return new;
}

/* The call is part of the script now. */
static void enter_call(struct world *w, struct epoch *e, const struct call *plan) {
    struct call *c;
    struct item *item;
    const int wait = plan->request_form && chance(&w->draws, 3);
    if (e->kind == LOCK) lock_for(w, e, plan->origin, plan->target);
    c = new_call(w, plan);
    c->age = e->age[c->origin][c->target];
    model_call(w, c);
    if (c->kind != GET) e->is_written[c->target] |= UINT32_C(1) << e->round;
    if (c->origin != w->me) return;
    /* From here on the image of what is written is what is expected. */
    fill_buffer(&c->origin_buffer);
    fill_buffer(&c->compare_buffer);
    item = add_item(w, c->origin, ISSUE, c->window, 0);
    item->call = c;
    if (!wait) return;
    item = add_item(w, c->origin, WAIT, c->window, 0);
    item->call = c;
}

/* The result's real memory gets what it contains before the call: the image, before the model changes it. */
static void start_result(struct call *c) { fill_buffer(&c->result_buffer); }

static void draw_null_call(struct world *w, struct epoch *e, int p) {
    struct call plan, *c;
    struct item *item;
    memset(&plan, 0, sizeof plan);
    plan.window = e->window;
    plan.origin = p;
    plan.target = -1;
    plan.number = ++w->calls_made;
    if (!draw_kind(w, &plan.kind) || !draw_basic(w, &plan, NULL)) return;
    plan.to = plan.from = plan.result =
        make_plain_side(&w->maker, plan.basic, plan.kind >= FETCH_AND_OP ? 1 : draw(&w->draws, 3));
    plan.disp = (MPI_Aint)draw(&w->draws, 10);
    draw_buffers(w, &plan);
    draw_forms(w, e, &plan);
    start_result(&plan);
    if (e->kind == LOCK) {
        item = add_item(w, p, LOCK_TARGET, e->window, MPI_PROC_NULL);
        item->type = chance(&w->draws, 2) ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE;
    }
    c = new_call(w, &plan);
    if (p == w->me) {
        fill_buffer(&c->origin_buffer);
        fill_buffer(&c->compare_buffer);
        item = add_item(w, p, ISSUE, e->window, MPI_PROC_NULL);
        item->call = c;
        if (c->request_form) {
            item = add_item(w, p, WAIT, e->window, MPI_PROC_NULL);
            item->call = c;
        }
    }
    if (e->kind == LOCK) add_item(w, p, UNLOCK_TARGET, e->window, MPI_PROC_NULL);
}

/* The same access in the twin window, in another form: other types for the same elements, or in two parts. */
static void draw_twin_call(struct world *w, struct epoch *e, const struct call *c) {
    struct call twin = *c;
    const int extent = basics[c->basic].extent, unit = w->windows[c->window].unit[c->target];
    twin.next = NULL;
    twin.window = e->window;
    twin.number = ++w->calls_made;
    twin.age = e->age[c->origin][c->target];
    memset(&twin.origin_buffer, 0, sizeof twin.origin_buffer);
    memset(&twin.result_buffer, 0, sizeof twin.result_buffer);
    memset(&twin.compare_buffer, 0, sizeof twin.compare_buffer);
    if (!is_allowed(w, &twin)) return;
    if (c->kind < FETCH_AND_OP && !c->from.type->derived && !c->to.type->derived && c->from.count > 1 &&
        c->from.n == c->to.n && c->kind != GET_ACCUMULATE && chance(&w->draws, 3)) {
        const size_t n = c->from.n, k = draw(&w->draws, n - 1) + 1;
        if ((k * (size_t)extent) % (size_t)unit == 0) {
            for (int part = 0; part < 2; part++) {
                struct call half = twin;
                half.number = ++w->calls_made;
                half.from = half.to = half.result = make_plain_side(&w->maker, c->basic, part ? n - k : k);
                half.n = half.from.n;
                half.at += part ? (ptrdiff_t)k * extent : 0;
                half.disp += part ? (MPI_Aint)k * extent / unit : 0;
                draw_buffers(w, &half);
                if (c->kind != GET)
                    memcpy(half.origin_buffer.image + half.origin_buffer.zero,
                           c->origin_buffer.image + c->origin_buffer.zero + (part ? (ptrdiff_t)k * extent : 0),
                           half.from.n * (size_t)extent);
                start_result(&half);
                draw_forms(w, e, &half);
                enter_call(w, e, &half);
            }
            return;
        }
    }
    if (c->kind < FETCH_AND_OP && (!is_update(c->kind) || with(w, WITH_derived_updates))) {
        twin.from = disguise_side(&w->maker, &c->from);
        /* A target with room for more elements of an accumulate stays a list of elements. */
        if (c->n == c->to.n || c->kind != ACCUMULATE) twin.to = disguise_side(&w->maker, &c->to);
        twin.result = c->kind == GET ? twin.from : disguise_side(&w->maker, &c->result);
    }
    draw_buffers(w, &twin);
    if (c->kind != GET) memcpy(twin.origin_buffer.image, c->origin_buffer.image, twin.origin_buffer.len);
    if (c->kind == COMPARE_AND_SWAP)
        memcpy(twin.compare_buffer.image, c->compare_buffer.image, twin.compare_buffer.len);
    start_result(&twin);
    draw_forms(w, e, &twin);
    enter_call(w, e, &twin);
}

void draw_call(struct world *w, struct epoch *e, struct epoch *twin) {
    const struct group *g = &w->groups[w->windows[e->window].group];
    int targets[MOST_PROCESSES];
    size_t n = 0;
    struct call plan;
    const struct call *last = NULL;
    const int p = g->process[draw(&w->draws, (size_t)g->n)];
    memset(&plan, 0, sizeof plan);
    if (with(w, WITH_proc_null) && chance(&w->draws, 40) &&
        (e->kind != PSCW && (e->kind != LOCK_ALL || e->locked[p][p]))) {
        draw_null_call(w, e, p);
        return;
    }
    for (int i = 0; i < g->n; i++)
        if (e->allowed[p][g->process[i]]) targets[n++] = g->process[i];
    if (!n) return;
    plan.window = e->window;
    plan.origin = p;
    plan.target = targets[draw(&w->draws, n)];
    plan.age = e->age[p][plan.target];
    plan.number = ++w->calls_made;
    plan.preparation = draw_word(&w->draws);
    w->maker.simple = !with(w, WITH_derived) || (twin && chance(&w->draws, 2));
    w->maker.no_darray = !with(w, WITH_darray);
    w->maker.no_nothing = !with(w, WITH_zero_types);
    w->maker.aligned = !with(w, WITH_unaligned) || chance(&w->draws, 3);
    if (w->calls && chance(&w->draws, 2)) last = (const struct call *)w->calls_end; /* `next` is the first member */
    if (!draw_kind(w, &plan.kind) || !draw_basic(w, &plan, last)) return;
    if (is_update(plan.kind) && !with(w, WITH_derived_updates)) w->maker.simple = w->maker.no_nothing = 1;
    if (!draw_sides(w, &plan)) return;
    draw_buffers(w, &plan);
    start_result(&plan);
    draw_forms(w, e, &plan);
    enter_call(w, e, &plan);
    if (twin) draw_twin_call(w, twin, &plan);
}

/* ---- issuing ---- */

#if MPI_VERSION >= 4
#define EITHER(CALL, ...) (c->count_form ? CALL##_c(__VA_ARGS__) : CALL(__VA_ARGS__))
#else
#define EITHER(CALL, ...) CALL(__VA_ARGS__)
#endif

static void *start_of(const struct buffer *b) { return b->null || !b->image ? NULL : b->real + b->zero; }

void issue_call(struct world *w, struct call *c) {
    const struct window *win = &w->windows[c->window];
    const int rank = c->target < 0 ? MPI_PROC_NULL : w->groups[win->group].rank[c->target];
    void *from = start_of(&c->origin_buffer), *result = start_of(&c->result_buffer);
    const MPI_Datatype type = c->passed.type->handle, to = c->to.type->handle, back = c->result.type->handle;
    const int n = (int)c->passed.count, n_to = (int)c->to.count, n_back = (int)c->result.count;
    MPI_Op op = op_handle(c->op);
    int code = MPI_SUCCESS;
    if (w->options->verbose > 1) {
        fprintf(stderr, "random: seed %ld, step %d: %s\n", w->seed, w->step, call_words(w, c));
        fflush(stderr);
    }
    switch (c->kind) {
        case PUT:
            code = c->request_form ? EITHER(MPI_Rput, from, n, type, rank, c->disp, n_to, to, win->win, &c->request)
                                   : EITHER(MPI_Put, from, n, type, rank, c->disp, n_to, to, win->win);
            break;
        case GET:
            code = c->request_form ? EITHER(MPI_Rget, result, n, type, rank, c->disp, n_to, to, win->win, &c->request)
                                   : EITHER(MPI_Get, result, n, type, rank, c->disp, n_to, to, win->win);
            break;
        case ACCUMULATE:
            code = c->request_form
                       ? EITHER(MPI_Raccumulate, from, n, type, rank, c->disp, n_to, to, op, win->win, &c->request)
                       : EITHER(MPI_Accumulate, from, n, type, rank, c->disp, n_to, to, op, win->win);
            break;
        case GET_ACCUMULATE:
            code = c->request_form ? EITHER(MPI_Rget_accumulate, from, n, type, result, n_back, back, rank, c->disp,
                                            n_to, to, op, win->win, &c->request)
                                   : EITHER(MPI_Get_accumulate, from, n, type, result, n_back, back, rank, c->disp,
                                            n_to, to, op, win->win);
            break;
        case FETCH_AND_OP: code = MPI_Fetch_and_op(from, result, to, rank, c->disp, op, win->win); break;
        default: code = MPI_Compare_and_swap(from, start_of(&c->compare_buffer), result, to, rank, c->disp, win->win);
    }
    if (code != MPI_SUCCESS) {
        world_check(w, code, call_words(w, c));
    } else {
        c->issued = 1;
        c->pending = c->request_form;
    }
    if (c->free_early) {
        free_type(c->passed.type);
        free_type(c->to.type);
        free_type(c->result.type);
    }
}

static void check_buffer(struct world *w, const struct call *c, const struct buffer *b, const char *name) {
    size_t first = 0, wrong = 0;
    if (!b->image || memcmp(b->real, b->image, b->len) == 0) return;
    for (size_t i = 0; i < b->len; i++)
        if ((uint8_t)b->real[i] != b->image[i] && !(b->noise && b->noise[i])) {
            if (!wrong) first = i;
            wrong++;
        }
    if (wrong)
        world_differs(w, "%s: %zu bytes are wrong, the first one at displacement %td: %02x, expected %02x\n  %s", name,
                      wrong, (ptrdiff_t)first - b->zero, (uint8_t)b->real[first], b->image[first], call_words(w, c));
}

void check_call(struct world *w, struct call *c) {
    if (!c->issued) return;
    check_buffer(w, c, &c->origin_buffer, "the origin buffer");
    check_buffer(w, c, &c->compare_buffer, "the compare buffer");
    check_buffer(w, c, &c->result_buffer, "the result buffer");
}

/* The origin may change its buffers after a call is complete there, so it does: a late reader takes wrong data. */
static void spoil(struct buffer *b) {
    if (!b->image) return;
    memset(b->image, 0xa5, b->len);
    memset(b->real, 0xa5, b->len);
    if (b->noise) memset(b->noise, 0, b->len);
}

static void complete_call(struct world *w, struct call *c) {
    check_call(w, c);
    spoil(&c->origin_buffer);
    spoil(&c->result_buffer);
    spoil(&c->compare_buffer);
}

void wait_call(struct world *w, struct call *c) {
    if (!c->pending) return;
    world_check(w, MPI_Wait(&c->request, MPI_STATUS_IGNORE), "MPI_Wait");
    c->pending = 0;
    complete_call(w, c);
}

void complete_calls(struct world *w, int window, int target) {
    for (const struct item *i = w->items; i; i = i->next) {
        struct call *c = i->call;
        if (i->action != ISSUE || c->window != window || c->target < 0 || c->pending || !c->issued) continue;
        if (target < 0 || c->target == target) complete_call(w, c);
    }
}
