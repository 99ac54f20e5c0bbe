/* SPDX-License-Identifier: BSD-3-Clause */
/* References to variables and their components, with random sections; and values that every image can compute. */
#include "generate.h"

#include <stdlib.h>
#include <string.h>

const struct kind_words kinds[N_KINDS] = {
    {"i1", "integer(1)", NUMERIC},     {"i2", "integer(2)", NUMERIC},
    {"i4", "integer(4)", NUMERIC},     {"i8", "integer(8)", NUMERIC},
    {"i16", "integer(16)", NUMERIC},   {"r4", "real(4)", NUMERIC},
    {"r8", "real(8)", NUMERIC},        {"r10", "real(10)", NUMERIC},
    {"r16", "real(16)", NUMERIC},      {"c4", "complex(4)", NUMERIC},
    {"c8", "complex(8)", NUMERIC},     {"l1", "logical(1)", LOGICAL},
    {"l4", "logical(4)", LOGICAL},     {"l8", "logical(8)", LOGICAL},
    {"text", "character", CHARACTERS}, {"wide", "character(kind=4)", CHARACTERS},
};

enum kind random_kind(struct generator *g) {
    for (;;) {
        const enum kind k = (enum kind)draw(&g->draws, N_KINDS);
        if ((k == C4 || k == C8) && !with(g, WITH_complex)) continue;
        if ((k == I16 || k == R10 || k == R16) && !with(g, WITH_quad)) continue;
        if (k >= L1 && k <= L8 && !with(g, WITH_logical)) continue;
        if (k == TEXT && !with(g, WITH_characters)) continue;
        if (k == WIDE && !with(g, WITH_wide)) continue;
        return k;
    }
}

int random_len(struct generator *g, enum kind kind) {
    return kind == TEXT || kind == WIDE ? between(&g->draws, 1, 9) : 0;
}

static int extent(const struct box *box, int d) { return box->upper[d] - box->lower[d] + 1; }

int shape_size(const struct shape *s) {
    int n = 1;
    for (int d = 0; d < s->rank; d++) n *= s->extent[d];
    return n;
}

struct shape box_shape(const struct box *box) {
    struct shape s = {.rank = box->rank};
    for (int d = 0; d < box->rank; d++) s.extent[d] = extent(box, d);
    return s;
}

struct box random_box(struct generator *g, int rank, int most_elements) {
    struct box box = {.rank = rank};
    for (int d = 0, left = most_elements; d < rank; d++) {
        int most = rank == 1 ? left : rank == 2 ? 8 : rank == 3 ? 5 : 3;
        if (most > left) most = left;
        const int n = between(&g->draws, rank > 3 ? 1 : 2, most < 2 ? 2 : most);
        box.lower[d] = chance(&g->draws, 2) ? 1 : between(&g->draws, -7, 9);
        box.upper[d] = box.lower[d] + n - 1;
        left = left / n < 1 ? 1 : left / n;
    }
    return box;
}

/* "1:3,0:4"; for the model with a further dimension, the image. */
char *bounds_words(const struct box *box, int model) {
    char *text = words("%s", "");
    for (int d = 0; d < box->rank; d++) text = words("%s%s%d:%d", text, d ? "," : "", box->lower[d], box->upper[d]);
    return model ? words("%s%sn", text, box->rank ? "," : "") : text;
}

char *whole(int rank) {
    char *text = words("%s", "");
    for (int d = 0; d < rank; d++) text = words("%s%s:", text, d ? "," : "");
    return text;
}

/* A number, sometimes one that the compiler does not know: z is 0. */
static char *number(struct generator *g, int n) { return chance(&g->draws, 4) ? words("z%+d", n) : words("%d", n); }

/* gfortran 16.2 has internal errors for array constructors as subscripts of a coarray on another image, and for
 * expressions of small integers. */
#define VECTOR_NAME "vector"
static char *named_vector(struct generator *g, int count, const char *suffix, const char *elements) {
    char *name = words(VECTOR_NAME "%d", ++g->names);
    linef(g->declarations, "integer%s%s%s :: %s(%d)%s%s%s", suffix[0] ? "(" : "", suffix[0] ? suffix + 1 : "",
          suffix[0] ? ")" : "", name, count, count ? " = [" : "", elements, count ? "]" : "");
    return name;
}

/* A vector subscript. Elements to be written must differ. */
static char *vector(struct generator *g, int lower, int n, int count, int flags) {
    static const char *const suffixes[] = {"", "", "", "_8", "_2", "_1"};
    const char *suffix = suffixes[draw(&g->draws, 6)];
    int from[64];
    char *text = words("%s", "");
    if (count == 0) return g->compiler < ACCESSORS ? words("%s", "[integer ::]") : named_vector(g, 0, "", "");
    for (int i = 0; i < n; i++) from[i] = lower + i;
    for (int i = 0; i < count; i++) {
        int at;
        if (flags & FOR_WRITING) {
            const int j = i + (int)draw(&g->draws, (size_t)(n - i));
            at = from[j], from[j] = from[i], from[i] = at;
        } else {
            at = from[draw(&g->draws, (size_t)n)];
        }
        text = words("%s%s%d%s", text, i ? "," : "", at, suffix);
    }
    const char *plus = chance(&g->draws, 3) ? "+z" : "";
    return g->compiler < ACCESSORS
               ? words("[%s]%s", text, plus)
               : words("%s%s", named_vector(g, count, suffix, text), suffix[0] && suffix[1] < '8' ? "" : plus);
}

int has_vector(const char *reference) { return strchr(reference, '[') || strstr(reference, VECTOR_NAME); }

/* A dimension of n elements, of which count are selected. gfortran 12 has an internal error for a vector subscript of
 * a coarray that is assigned to, if another dimension leaves out a bound. */
static char *axis(struct generator *g, int lower, int n, int count, int flags) {
    const int vectors = !(flags & NO_VECTORS) && with(g, WITH_vectors) && n <= 64;
    const int short_forms = !vectors || !(flags & (FOR_WRITING | BOTH_BOUNDS));
    if (count > n || (vectors && chance(&g->draws, 6))) return vector(g, lower, n, count, flags);
    if (count == 0) {
        const int at = lower + (int)draw(&g->draws, (size_t)n), apart = between(&g->draws, 1, 4);
        if (with(g, WITH_strides) && chance(&g->draws, 3))
            return words("%s:%s:-%d", number(g, at), number(g, at + apart), between(&g->draws, 1, 3));
        return words("%s:%s", number(g, at), number(g, at - apart));
    }
    int step = 1;
    if (with(g, WITH_strides) && chance(&g->draws, 2))
        step = count == 1 ? between(&g->draws, 1, 3) : between(&g->draws, 1, (n - 1) / (count - 1));
    const int span = (count - 1) * step + 1;
    int first = lower + (int)draw(&g->draws, (size_t)(n - span + 1)), last = first + span - 1;
    if (short_forms && count == n && chance(&g->draws, 2)) return words("%s", ":");
    if (with(g, WITH_strides) && chance(&g->draws, 4)) {
        const int slack = (int)draw(&g->draws, (size_t)step);
        return words("%s:%s:-%d", number(g, last), number(g, first - slack), step);
    }
    if (short_forms && step == 1 && first == lower && chance(&g->draws, 3)) return words(":%s", number(g, last));
    if (short_forms && step == 1 && last == lower + n - 1 && chance(&g->draws, 3))
        return words("%s:", number(g, first));
    if (step == 1) return words("%s:%s", number(g, first), number(g, last));
    /* The last bound need not be an element. */
    return words("%s:%s:%d", number(g, first), number(g, last + (int)draw(&g->draws, (size_t)step)), step);
}

/* subscripts: a section of the box: of the given shape, or of any, which is stored in *shape. Null if it has none. */
char *subscripts(struct generator *g, const struct box *box, struct shape *shape, int given, int flags) {
    if ((flags & FOR_WRITING) && chance(&g->draws, 2)) flags |= NO_VECTORS;
    int taken[MOST_RANK] = {0}, count[MOST_RANK] = {0};
    const int grows = !(flags & (NO_VECTORS | FOR_WRITING)) && with(g, WITH_vectors);
    char *text = words("%s", "");
    if (given) {
        int d = 0;
        if (shape->rank > box->rank) return NULL;
        for (int s = 0; s < shape->rank; s++, d++) {
            const int spare = box->rank - shape->rank - (d - s);
            for (int skip = spare > 0 ? (int)draw(&g->draws, (size_t)spare + 1) : 0; skip > 0; skip--) d++;
            while (d < box->rank && shape->extent[s] > (grows ? 12 : extent(box, d))) d++;
            if (d >= box->rank) return NULL;
            taken[d] = 1, count[d] = shape->extent[s];
        }
    } else {
        shape->rank = 0;
        for (int d = 0; d < box->rank; d++) {
            if (shape->rank == 4 || chance(&g->draws, 3)) continue;
            taken[d] = 1;
            count[d] = chance(&g->draws, 4) ? extent(box, d) : between(&g->draws, 1, extent(box, d));
            if (with(g, WITH_empty) && chance(&g->draws, 25)) count[d] = 0;
            if (count[d] > 12 && !chance(&g->draws, 4)) count[d] = 12;
            shape->extent[shape->rank++] = count[d];
        }
    }
    for (int d = 0; d < box->rank; d++) {
        const int n = extent(box, d), at = box->lower[d] + (int)draw(&g->draws, (size_t)n);
        char *one;
        if (taken[d])
            one = axis(g, box->lower[d], n, count[d], flags);
        else if (!(flags & SAME_ON_ALL) && chance(&g->draws, 5))
            one = words("%d+mod(@,%d)", box->lower[d], n);
        else
            one = number(g, at);
        text = words("%s%s%s", text, d ? "," : "", one);
    }
    return text;
}

/* How a variable can be accessed now: "o", a shift, or null. */
static char *access_code(struct generator *g, const struct variable *v, int flags) {
    if (v->access == NOBODY || (v->access == READ && (flags & FOR_WRITING))) return NULL;
    if (v->allocatable && !v->allocated) return NULL;
    if (!v->coarray || (flags & OWN_ONLY)) return v->access == SHIFTED ? NULL : words("%s", "o");
    if (v->access == SHIFTED) return words("%d", v->shift);
    if (!(flags & MUST_BE_REMOTE) && chance(&g->draws, v->access == OWN ? 2 : 5)) return words("%s", "o");
    return words("%d", v->access == OWN ? 0 : between(&g->draws, -SHIFTS, SHIFTS));
}

/* The component of a type that ends the reference, or goes on to a component of it. Arrays of components have no
 * components with memory of their own behind them. */
static int pick_part(struct generator *g, struct ref *r, const struct type *t, const struct state *state,
                     const struct shape *given, int class, int flags, int in_array) {
    for (int attempt = 0; attempt < 6; attempt++) {
        const int i = (int)draw(&g->draws, (size_t)t->n);
        const struct part *part = &t->parts[i];
        const struct box *box = part->how == FIXED ? &part->box : &state->box[i];
        struct shape shape = {0}, inner = {0};
        if (part->how != FIXED && (in_array || !state->there[i])) continue;
        if (in_array && part->box.rank > 0) continue;
        if (part->type) {
            r->behind |= part->how != FIXED;
            char *element = words("%s", "");
            if (box->rank > 0 && !(element = subscripts(g, box, &inner, 1, flags))) continue;
            r->text = words("%s%%%s%s%s%s", r->text, part->name, box->rank ? "(" : "", element, box->rank ? ")" : "");
            return pick_part(g, r, part->type, state->below[i], given, class, flags, in_array);
        }
        if (class >= 0 && kinds[part->kind].class != (enum class) class) continue;
        r->field = in_array;
        if (in_array) {
            r->text = words("%s%%%s", r->text, part->name);
        } else {
            if (given) shape = *given;
            /* gfortran 12 has an internal error for a vector subscript of an array within the coarray itself. */
            char *subs = subscripts(g, box, &shape, given != NULL, part->how == FIXED ? flags | NO_VECTORS : flags);
            if (!subs) continue;
            r->text = words("%s%%%s%s%s%s", r->text, part->name, box->rank ? "(" : "", subs, box->rank ? ")" : "");
            r->shape = shape;
            r->scalars = box->rank - shape.rank;
        }
        r->component = 1;
        r->behind |= part->how != FIXED;
        r->pointed |= part->how == POINTER;
        r->kind = part->kind;
        r->len = part->len;
        return 1;
    }
    return 0;
}

/* pick_ref: a reference that may be made now; of the given shape, if any, and of that class, if class >= 0. */
int pick_ref(struct generator *g, struct ref *r, const struct shape *given, int class, int flags) {
    for (int attempt = 0; attempt < 60; attempt++) {
        const int i = (int)draw(&g->draws, (size_t)g->n);
        const struct variable *v = &g->variables[i];
        struct shape shape = {0};
        char *code, *subs = NULL;
        if (v->reserved || (!v->coarray && (flags & MUST_BE_REMOTE))) continue;
        if (!v->type && class >= 0 && kinds[v->kind].class != (enum class) class) continue;
        if (!(code = access_code(g, v, flags))) continue;
        *r = (struct ref){.variable = i, .remote = code[0] != 'o', .kind = v->kind, .len = v->len};
        r->pointed = v->pointed;
        r->dynamic = v->type && has_memory(v->type);
        if (!v->type) {
            if (given) shape = *given;
            if (!(subs = subscripts(g, &v->box, &shape, given != NULL, flags))) continue;
            r->shape = shape;
            r->scalars = v->box.rank - shape.rank;
            r->text = words("{%d|%s|%s}", i, subs, code);
            return 1;
        }
        /* gfortran 12 passes the address of x for x(:)[i]%c, unless the type has components with memory. */
        const int plain = code[0] != 'o' && !r->dynamic;
        const int in_array =
            v->box.rank > 0 && with(g, WITH_fields) && !plain && !(flags & NO_FIELDS) && chance(&g->draws, 4);
        if (in_array && given) shape = *given;
        if (!(subs = subscripts(g, &v->box, &shape, !in_array || given, flags | NO_VECTORS))) continue;
        if (in_array && shape.rank == 0) continue;
        r->shape = shape;
        r->scalars = v->box.rank - shape.rank;
        r->text = words("{%d|%s|%s}", i, subs, code);
        if (pick_part(g, r, v->type, v->state, given, class, flags, in_array)) return 1;
    }
    return 0;
}

/* A value of that kind of elements, which depends on the image: a scalar, or an array of that shape. */
static char *fresh_by(struct generator *g, const char *function, const struct shape *shape) {
    const int a = between(&g->draws, 1, 97);
    if (!shape || shape->rank == 0) return words("%s(@,%d)", function, a);
    char *list = words("%s(@,[(j,j=%d,%d)])", function, a, a + shape_size(shape) - 1);
    if (shape->rank == 1) return list;
    char *extents = words("%d", shape->extent[0]);
    for (int d = 1; d < shape->rank; d++) extents = words("%s,%d", extents, shape->extent[d]);
    return words("reshape(%s,[%s])", list, extents);
}

char *fresh_kind(struct generator *g, enum kind kind, const struct shape *shape) {
    static const char *const functions[N_KINDS] = {
        [I1] = "vi",  [I2] = "vi", [I4] = "vi", [I8] = "vi", [I16] = "vi", [R4] = "vr", [R8] = "vr",   [R10] = "vr",
        [R16] = "vr", [C4] = "vc", [C8] = "vc", [L1] = "vl", [L4] = "vl",  [L8] = "vl", [TEXT] = "vs", [WIDE] = "vw"};
    return fresh_by(g, functions[kind], shape);
}

char *fresh(struct generator *g, enum class class, const struct shape *shape) {
    static const enum kind numbers[] = {I4, R4, C4}, texts[] = {TEXT, WIDE};
    if (class == LOGICAL) return fresh_kind(g, L4, shape);
    if (class == CHARACTERS) return fresh_kind(g, texts[draw(&g->draws, with(g, WITH_wide) ? 2 : 1)], shape);
    return fresh_kind(g, numbers[draw(&g->draws, with(g, WITH_complex) ? 3 : 2)], shape);
}
