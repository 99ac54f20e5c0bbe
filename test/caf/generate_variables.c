/* SPDX-License-Identifier: BSD-3-Clause */
/* The variables of the program: coarrays, local arrays, and the model of all images' variables. */
#include "generate.h"

#include <string.h>

static void declare(struct generator *g, const struct variable *v) {
    FILE *to = g->declarations;
    char *type = type_words(v->kind, v->len, v->type), *shape = words("%s", ""), *co = words("%s", "");
    if (v->box.rank) shape = words("(%s)", v->allocatable ? whole(v->box.rank) : bounds_words(&v->box, 0));
    if (v->coarray && v->allocatable)
        co = words("%s", v->corank == 2 ? "[:,:]" : "[:]");
    else if (v->coarray && v->corank == 2)
        co = words("[%d:%d,%d:*]", v->colower[0], v->colower[0] + v->coextent - 1, v->colower[1]);
    else if (v->coarray)
        co = words("[%d:*]", v->colower[0]);
    linef(to, v->initial ? "%s%s%s :: %s%s%s = 7" : "%s%s%s :: %s%s%s", type, v->target ? ", target" : "",
          v->allocatable ? ", allocatable" : ", save", v->name, shape, co);
    linef(to, "%s, allocatable%s :: m_%s(%s)", type, v->target ? ", target" : "", v->name, whole(v->box.rank + 1));
}

int add_variable(struct generator *g, const struct variable *like) {
    struct variable *v = &g->variables[g->n];
    if (g->n == MOST_VARIABLES) return 0;
    *v = *like;
    v->access = OWN;
    if (v->type) v->state = new_state(v->type);
    return g->n++;
}

static int declared(struct generator *g, struct variable *v, const char *prefix) {
    snprintf(v->name, sizeof v->name, "%s%d", prefix, ++g->names);
    declare(g, v);
    return add_variable(g, v);
}

static void random_cobounds(struct generator *g, struct variable *v) {
    v->coarray = v->corank = v->colower[0] = 1;
    if (!with(g, WITH_corank) || chance(&g->draws, 2)) return;
    v->colower[0] = between(&g->draws, -2, 3);
    if (chance(&g->draws, 2)) return;
    v->corank = 2;
    v->coextent = between(&g->draws, 1, 3);
    v->colower[1] = between(&g->draws, -1, 2);
}

static int random_rank(struct generator *g) {
    const int most = with(g, WITH_rank3) ? 3 : 2;
    if (with(g, WITH_rank7) && chance(&g->draws, 10)) return between(&g->draws, 4, MOST_RANK);
    return between(&g->draws, 0, most);
}

/* gfortran 12 takes a temporary for a complex scalar that is a coarray. */
static void random_coarray(struct generator *g, enum kind kind, int rank, int pointed) {
    if (rank == 0 && (kind == C4 || kind == C8)) rank = 1;
    struct variable v = {.kind = kind, .len = random_len(g, kind), .pointed = pointed, .target = pointed};
    v.box = random_box(g, rank, rank > 3 ? 200 : 60);
    random_cobounds(g, &v);
    v.allocatable = with(g, WITH_allocatable) && (!with(g, WITH_static) || chance(&g->draws, 2));
    v.initial = with(g, WITH_first_put) && !v.allocatable && !pointed && kinds[kind].class == NUMERIC;
    declared(g, &v, v.allocatable ? "a" : "s");
}

/* make_variables: in the order of their declarations; none is allocated. */
void make_variables(struct generator *g) {
    const int n_coarrays = between(&g->draws, 6, 9), n_locals = between(&g->draws, 4, 6);
    struct variable reserved = {.kind = I4, .coarray = 1, .corank = 1, .colower = {1}, .reserved = 1};
    declared(g, &(struct variable){.kind = I4, .box = {1, {1}, {30}}, .reserved = 1}, "sink");
    reserved.box = (struct box){1, {1}, {8}};
    declared(g, &reserved, "word");
    declared(g, &reserved, "both");
    reserved.box = (struct box){2, {1, 0}, {4, 3}};
    declared(g, &reserved, "sum");
    random_coarray(g, I4, 1, 0); /* some statement always has one */
    for (int i = 0; i < n_coarrays; i++) random_coarray(g, random_kind(g), random_rank(g), 0);
    for (int i = 0; i < n_locals; i++) {
        struct variable v = {.kind = i == 0 ? I4 : random_kind(g)};
        v.len = random_len(g, v.kind);
        v.box = random_box(g, i == 0 ? 2 : between(&g->draws, 0, 3), 60);
        declared(g, &v, "l");
    }
    if (with(g, WITH_types) && with(g, WITH_pointers)) {
        struct variable v = {.kind = I4, .pointed = 1, .target = 1};
        random_coarray(g, R8, between(&g->draws, 1, 2), 1);
        random_coarray(g, I4, 1, 1);
        v.box = random_box(g, 2, 40);
        declared(g, &v, "l");
        v.kind = R8;
        v.box = random_box(g, 1, 20);
        declared(g, &v, "l");
    }
    for (int i = 0; i < g->n_types; i++) {
        struct variable v = {.type = &g->types[i]};
        v.box = random_box(g, (int)draw(&g->draws, 3), 6);
        random_cobounds(g, &v);
        v.allocatable = with(g, WITH_allocatable) && (!with(g, WITH_static) || chance(&g->draws, 2));
        declared(g, &v, "x");
    }
}

/* Every image gives its own part values. */
static void set_values(struct generator *g, int i) {
    const struct variable *v = &g->variables[i];
    const struct shape shape = box_shape(&v->box);
    if (v->initial)
        only_model(g, "{%d|%s|o} = 7", i, whole(v->box.rank));
    else if (v->type)
        fill_components(g, i);
    else
        both(g, "{%d|%s|o} = %s", i, whole(v->box.rank), fresh_kind(g, v->kind, &shape));
}

/* allocate_coarray: also the model of any other variable. All images of the current team do it; the caller sees to it
 * that no image accesses another one's values before they are set. */
void allocate_coarray(struct generator *g, int i) {
    struct variable *v = &g->variables[i];
    char *bounds = v->box.rank ? words("(%s)", bounds_words(&v->box, 0)) : words("%s", "");
    run_model(g);
    fprintf(g->statements, "if (.not. allocated(m_%s)) allocate (m_%s(%s))\n", v->name, v->name,
            bounds_words(&v->box, 1));
    if (v->allocatable && v->corank == 2)
        linef(g->statements, "allocate (%s%s[%d:%d,%d:*])", v->name, bounds, v->colower[0],
              v->colower[0] + v->coextent - 1, v->colower[1]);
    else if (v->allocatable && v->colower[0] == 1)
        linef(g->statements, "allocate (%s%s[*])", v->name, bounds);
    else if (v->allocatable)
        linef(g->statements, "allocate (%s%s[%d:*])", v->name, bounds, v->colower[0]);
    v->allocated = v->allocatable;
    if (v->type) v->state = new_state(v->type);
    set_values(g, i);
}

void deallocate_coarray(struct generator *g, int i) {
    struct variable *v = &g->variables[i];
    run_model(g);
    fprintf(g->statements, "deallocate (%s)\ndeallocate (m_%s)\n", v->name, v->name);
    v->allocated = 0;
}

void all_own(struct generator *g) {
    for (int i = 0; i < g->n; i++) g->variables[i].access = OWN;
}
