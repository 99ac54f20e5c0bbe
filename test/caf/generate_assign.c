/* SPDX-License-Identifier: BSD-3-Clause */
/* Assignments: to and from other images, between two of them, and of values that are computed from theirs; also in
 * procedures whose dummy arguments are coarrays. */
#include "generate.h"

#include <string.h>

/* An expression of a reference. Integers stay in -50..50: they fit into every kind. */
static char *changed(struct generator *g, const struct ref *r) {
    switch (kinds[r->kind].class) {
        case NUMERIC:
            if (r->kind < C4 && chance(&g->draws, 3)) return words("abs(%s)", r->text);
            return words(chance(&g->draws, 4) ? "(%s)" : "-%s", r->text);
        case LOGICAL: return words(".not. %s", r->text);
        default: return words("(%s)", r->text);
    }
}

/* Whether there are several subscripts: a comma outside of vectors and functions. */
static int several_subscripts(const char *text) {
    const char *last = strrchr(text, '%'); /* the component that has a vector */
    int depth = 0;
    for (const char *at = last ? last : text; *at; at++) {
        if (*at == '[' || (*at == '(' && (!last || depth > 0 || strchr(last, '(') != at)))
            depth++;
        else if ((*at == ']' || *at == ')') && depth > 0)
            depth--;
        else if (*at == ',' && depth == 0)
            return 1;
    }
    return 0;
}

/* Whether gfortran 12 would store elements from another image in wrong places: of a variable of the image's own with a
 * vector subscript beside others, or if it is a coarray. */
static int misplaced_vector(const struct generator *g, const struct ref *to) {
    if (to->remote || !has_vector(to->text)) return 0;
    return g->variables[to->variable].coarray || several_subscripts(to->text);
}

/* Whether gfortran 16.2 has an internal error for any assignment to it: it writes beyond the end of a list of
 * subscripts, if two are scalars beside a section; and does not know the length of text in components. */
static int refused(const struct generator *g, const struct ref *to) {
    if (g->compiler < ACCESSORS || !to->remote) return 0;
    return (to->shape.rank > 0 && to->scalars > 1) || (to->component && kinds[to->kind].class == CHARACTERS);
}

/* gfortran 16.2 has internal errors for text that a function returns, on its way to another image. */
static int only_literals(const struct generator *g, const struct ref *to) {
    return g->compiler >= ACCESSORS && to->remote && kinds[to->kind].class == CHARACTERS;
}
static char *literal(struct generator *g, enum kind kind) {
    return words("%s'%c%c'", kind == WIDE ? "4_" : "", between(&g->draws, 'a', 'z'), between(&g->draws, 'a', 'z'));
}

/* pick_ref, of something to be assigned to. */
static int pick_target(struct generator *g, struct ref *to, int flags) {
    for (int attempt = 0; attempt < 20; attempt++)
        if (pick_ref(g, to, NULL, -1, FOR_WRITING | flags) && !refused(g, to)) return 1;
    return 0;
}

/* Whether the assignment is wanted, and gfortran 12 can compile it. If the other side is on another
 * image it passes the address of x for x(:)%c. If both sides have vectors, it gives the value of a component the rank
 * of the whole component. It has internal errors for an array in the memory of a component, or any component of such a
 * type on another image, if the value comes from a coarray of another sort; and for vector subscripts if a type with
 * such components is at one end. */
static int may_follow(struct generator *g, const struct ref *to, const struct ref *from) {
    if (from->remote && misplaced_vector(g, to)) return 0;
    if (to->remote && !from->remote && g->variables[from->variable].type && has_vector(to->text) &&
        has_vector(from->text))
        return 0;
    if (to->remote && from->field && !from->remote) return 0;
    if (from->remote && to->field && !(to->remote && to->dynamic && from->dynamic)) return 0;
    if (from->remote && has_vector(from->text) && g->variables[to->variable].coarray && several_subscripts(from->text))
        return 0;
    const int array_behind = to->behind && to->shape.rank > 0;
    if (from->remote && !from->dynamic && to->dynamic && (to->remote || array_behind)) return 0;
    if (to->remote && from->remote && to->dynamic != from->dynamic &&
        (to->shape.rank == 0 || has_vector(to->text) || has_vector(from->text)))
        return 0;
    if (to->remote && from->remote && !with(g, WITH_sendget)) return 0;
    if (g->compiler >= ACCESSORS && to->remote && from->remote && refused(g, from)) return 0;
    if (with(g, WITH_conversions)) return 1;
    return to->kind == from->kind && to->len == from->len;
}

/* The two sides may be the same memory. gfortran 12 does not see that in the model. */
static void assign_pointed(struct generator *g, const struct ref *to, const struct ref *from, const char *value) {
    char *extents = words("%s", "");
    for (int d = 0; d < from->shape.rank; d++) extents = words("%s%s%d", extents, d ? "," : "", from->shape.extent[d]);
    only_real(g, "%s = %s", to->text, value);
    only_model(g, "block");
    only_model(g, "%s :: w%s%s%s", type_words(from->kind, from->len, NULL), from->shape.rank ? "(" : "", extents,
               from->shape.rank ? ")" : "");
    only_model(g, "w = %s", value);
    only_model(g, "%s = w", to->text);
    only_model(g, "end block");
}

static void assign(struct generator *g) {
    struct ref to, from;
    const int remote = chance(&g->draws, 2) ? MUST_BE_REMOTE : 0;
    if (!pick_target(g, &to, remote) && !pick_target(g, &to, 0)) return;
    const enum class class = kinds[to.kind].class;
    const size_t what = draw(&g->draws, 10);
    const struct shape scalar = {0};
    for (int attempt = 0; attempt < 8 && what < 7; attempt++) {
        /* gfortran 12 passes wrong offsets for vector subscripts within an expression. */
        const int prefer = (!to.remote && attempt < 6 ? MUST_BE_REMOTE : 0) | (what == 6 ? NO_VECTORS : 0);
        if (!pick_ref(g, &from, what == 5 ? &scalar : &to.shape, (int)class, prefer | BOTH_BOUNDS)) continue;
        if (!may_follow(g, &to, &from)) continue;
        /* gfortran 16.2 stores the value in a temporary coarray that is not allocated. */
        if (what == 6 && g->compiler >= ACCESSORS && to.remote && g->variables[from.variable].coarray) continue;
        char *value = what == 6 && with(g, WITH_expressions) ? changed(g, &from) : from.text;
        if (to.pointed && from.pointed)
            assign_pointed(g, &to, &from, value);
        else
            both(g, "%s = %s", to.text, value);
        return;
    }
    const struct shape *shape = what == 7 ? &scalar : &to.shape;
    char *value = with(g, WITH_conversions) ? fresh(g, class, shape) : fresh_kind(g, to.kind, shape);
    if (only_literals(g, &to)) value = literal(g, to.kind);
    both(g, "%s = %s", to.text, value);
}

/* A number that is computed from a reference. */
static void compute(struct generator *g) {
    struct ref r;
    char *value;
    if (!with(g, WITH_expressions)) return;
    /* gfortran 12 passes a wrong offset for a vector subscript of an allocatable coarray. */
    if (!pick_ref(g, &r, NULL, -1, MUST_BE_REMOTE | NO_VECTORS)) return;
    const char *sum = r.shape.rank ? "sum" : "";
    switch (kinds[r.kind].class) {
        case NUMERIC: value = words("%s(int(%s))", sum, r.text); break;
        case LOGICAL: value = words("%s(merge(1,0,%s))", sum, r.text); break;
        default: value = words("%s(len_trim(%s))", sum, r.text); break;
    }
    both(g, "{0|%d|o} = %s", between(&g->draws, 1, 12), value);
}

static int has_pointers(const struct type *t) {
    for (int i = 0; i < t->n; i++)
        if (t->parts[i].how == POINTER || (t->parts[i].type && has_pointers(t->parts[i].type))) return 1;
    return 0;
}

/* An argument that is on another image must have no pointer components. */
static void query(struct generator *g) {
    for (int attempt = 0; attempt < 30; attempt++) {
        const int i = (int)draw(&g->draws, (size_t)g->n);
        const struct variable *v = &g->variables[i];
        struct shape scalar = {0};
        if (!v->type || (v->allocatable && !v->allocated) || v->access == NOBODY) continue;
        const int part = (int)draw(&g->draws, (size_t)v->type->n);
        if (v->type->parts[part].how != ALLOCATABLE) continue;
        if (v->type->parts[part].type && has_pointers(v->type->parts[part].type)) continue;
        const int shift = v->access == SHIFTED ? v->shift : v->access == OWN ? 0 : between(&g->draws, -SHIFTS, SHIFTS);
        both(g, "{0|%d|o} = merge(1,0,allocated({%d|%s|%d}%%%s))", between(&g->draws, 1, 12), i,
             subscripts(g, &v->box, &scalar, 1, 0), shift, v->type->parts[part].name);
        return;
    }
}

/* gfortran 16.2 does not pass the descriptor that the accessor of such a dummy argument needs. */
static int assumes_shapes(const struct generator *g) { return with(g, WITH_assumed_shape) && g->compiler < ACCESSORS; }

/* The bounds of a dummy argument for a coarray with that box, and of the one for its model. */
static void dummy_bounds(struct generator *g, const struct variable *v, struct variable *d, char **real, char **model) {
    if (with(g, WITH_explicit_shape) && (!assumes_shapes(g) || chance(&g->draws, 2))) {
        const struct shape shape = box_shape(&v->box);
        if (chance(&g->draws, 3)) { /* as an array of rank 1 */
            d->box = (struct box){1, {between(&g->draws, -5, 5)}, {0}};
            d->box.upper[0] = d->box.lower[0] + shape_size(&shape) - 1;
        } else {
            for (int i = 0; i < v->box.rank; i++) {
                d->box.lower[i] = between(&g->draws, -5, 5);
                d->box.upper[i] = d->box.lower[i] + shape.extent[i] - 1;
            }
        }
        *real = bounds_words(&d->box, 0);
        *model = bounds_words(&d->box, 1);
        return;
    }
    *real = *model = words("%s", "");
    for (int i = 0; i < v->box.rank; i++) {
        const int extent = v->box.upper[i] - v->box.lower[i] + 1;
        d->box.lower[i] = chance(&g->draws, 2) ? 1 : between(&g->draws, -5, 5);
        d->box.upper[i] = d->box.lower[i] + extent - 1;
        *real = d->box.lower[i] == 1 ? words("%s%s:", *real, i ? "," : "")
                                     : words("%s%s%d:", *real, i ? "," : "", d->box.lower[i]);
    }
    *model = words("%s,:", *real);
}

static void use_dummy(struct generator *g, int dummy) {
    const struct variable *d = &g->variables[dummy];
    const enum class class = kinds[d->kind].class;
    char *code = d->access == SHIFTED ? words("%d", d->shift) : words("%s", chance(&g->draws, 4) ? "o" : "0");
    struct shape shape = {0};
    struct ref r;
    if (d->access != READ && chance(&g->draws, 2)) {
        char *subs = subscripts(g, &d->box, &shape, 0, FOR_WRITING);
        const struct ref to = {
            .kind = d->kind, .remote = code[0] != 'o', .shape = shape, .scalars = d->box.rank - shape.rank};
        if (refused(g, &to)) return;
        const int own = chance(&g->draws, 2) && pick_ref(g, &r, &shape, (int)class, OWN_ONLY | NO_FIELDS);
        if (own && !with(g, WITH_conversions) && (r.kind != d->kind || r.len != d->len)) return;
        char *value = own ? r.text : only_literals(g, &to) ? literal(g, d->kind) : fresh_kind(g, d->kind, &shape);
        both(g, "{%d|%s|%s} = %s", dummy, subs, code, value);
        return;
    }
    for (int attempt = 0; attempt < 8; attempt++) {
        if (!pick_ref(g, &r, NULL, (int)class, OWN_ONLY | FOR_WRITING)) continue;
        if (!with(g, WITH_conversions) && (r.kind != d->kind || r.len != d->len)) continue;
        if (r.behind && r.shape.rank > 0) continue;
        if (r.field || misplaced_vector(g, &r)) continue;
        char *subs = subscripts(g, &d->box, &r.shape, 1, 0);
        if (!subs) continue;
        both(g, "%s = {%d|%s|%s}", r.text, dummy, subs, code);
        return;
    }
}

/* A procedure with statements of its own, which accesses one coarray by a dummy argument. */
static void call_with_coarray(struct generator *g) {
    struct variable *v, d;
    FILE *outer = g->statements;
    char *text, *real, *model, *procedure = words("work%d", ++g->names);
    size_t size;
    int actual = -1;
    for (int attempt = 0; attempt < 40 && actual < 0; attempt++) {
        const int i = (int)draw(&g->draws, (size_t)g->n);
        v = &g->variables[i];
        if (v->coarray && !v->type && !v->reserved && !v->pointed && v->box.rank > 0 && v->box.rank < 4 &&
            v->access != NOBODY && (!v->allocatable || v->allocated) && v->name[0] != 'd')
            actual = i;
    }
    if (actual < 0 || g->n == MOST_VARIABLES) return;
    v = &g->variables[actual];
    d = *v;
    snprintf(d.name, sizeof d.name, "d%d", ++g->names);
    d.allocatable = d.allocatable && with(g, WITH_allocatable_dummy) && chance(&g->draws, 3);
    if (d.allocatable) {
        real = whole(d.box.rank), model = whole(d.box.rank + 1);
    } else {
        if (!with(g, WITH_explicit_shape) && !assumes_shapes(g)) return;
        dummy_bounds(g, v, &d, &real, &model);
        d.corank = 1;
        d.colower[0] = between(&g->draws, 0, 2);
    }
    const enum access access = v->access;
    run_model(g);
    g->statements = open_memstream(&text, &size);
    const char *attribute = d.allocatable ? ", allocatable" : "";
    char *co = d.allocatable ? words("%s", d.corank == 2 ? "[:,:]" : "[:]") : words("[%d:*]", d.colower[0]);
    fprintf(g->statements, "subroutine %s(%s,m_%s)\n", procedure, d.name, d.name);
    linef(g->statements, "%s%s, intent(inout) :: %s(%s)%s", type_words(d.kind, d.len, NULL), attribute, d.name, real,
          co);
    linef(g->statements, "%s%s, intent(inout) :: m_%s(%s)", type_words(d.kind, d.len, NULL), attribute, d.name, model);
    fprintf(g->statements, "integer :: p, j\n");
    const int n = g->n;
    const int dummy = add_variable(g, &d);
    g->variables[dummy].access = access;
    g->variables[dummy].shift = d.shift;
    g->variables[actual].access = NOBODY;
    for (int i = between(&g->draws, 2, 4); i > 0; i--) use_dummy(g, dummy);
    run_model(g);
    fprintf(g->statements, "end subroutine\n");
    fclose(g->statements);
    fputs(text, g->procedures);
    g->statements = outer;
    g->n = n;
    g->variables[actual].access = access;
    linef(g->statements, "call %s(%s,m_%s)", procedure, v->name, v->name);
}

void assignments(struct generator *g, int n) {
    for (int i = 0; i < n; i++) {
        const size_t what = draw(&g->draws, 12);
        if (what == 0)
            compute(g);
        else if (what == 1 && with(g, WITH_queries))
            query(g);
        else if (what == 2 && chance(&g->draws, 2))
            call_with_coarray(g);
        else
            assign(g);
    }
}
