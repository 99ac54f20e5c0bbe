/* SPDX-License-Identifier: BSD-3-Clause */
/* Derived types: their definitions, the ways in which their components get memory, and the comparison of an image's
 * components with the model's. */
#include "generate.h"

#include <stdlib.h>
#include <string.h>

static struct box part_box(struct generator *g, int rank) {
    struct box box = random_box(g, rank, 20);
    return box;
}

static void make_type(struct generator *g, struct type *t, struct type *inner) {
    const int n = between(&g->draws, 2, 5);
    snprintf(t->name, sizeof t->name, "t%d", (int)(t - g->types) + 1);
    for (t->n = 0; t->n < n; t->n++) {
        struct part *p = &t->parts[t->n];
        snprintf(p->name, sizeof p->name, "c%d", t->n + 1);
        p->kind = random_kind(g);
        p->len = random_len(g, p->kind);
        p->how = FIXED;
        if (with(g, WITH_components) && chance(&g->draws, 2))
            p->how = ALLOCATABLE;
        else if (with(g, WITH_pointers) && chance(&g->draws, 3))
            p->how = POINTER;
        p->box = part_box(g, p->how == POINTER ? between(&g->draws, 1, 2) : (int)draw(&g->draws, 3));
        /* gfortran 12 follows a null pointer where a coarray has such a component. */
        if (p->how == ALLOCATABLE && p->box.rank == 0 && kinds[p->kind].class == CHARACTERS) p->how = FIXED;
        /* A pointer can point to memory of other variables if there are any of its kind: few kinds, then. */
        if (p->how == POINTER) p->kind = chance(&g->draws, 2) ? I4 : R8, p->len = 0, p->box.rank = 1;
    }
    if (!inner) return;
    int memory = 0, outer = 0;
    for (int i = 0; i < inner->n; i++) memory |= (int)inner->parts[i].how;
    for (int i = 0; i < t->n; i++) outer |= (int)t->parts[i].how;
    if (memory == (ALLOCATABLE | POINTER)) return;
    /* gfortran 12 has internal errors for a component whose own components are allocatable if there are pointers, too,
     * and for two of a type with allocatable components. */
    int one = !with(g, WITH_components) ? 0 : memory & ALLOCATABLE ? (int)draw(&g->draws, 2) : -1;
    if (memory && (memory | outer) == (ALLOCATABLE | POINTER)) one = 1;
    for (int allocatable = 0; allocatable < 2; allocatable++) {
        if (one >= 0 && allocatable != one) continue;
        struct part *p = &t->parts[t->n++];
        snprintf(p->name, sizeof p->name, allocatable ? "many" : "in");
        p->type = inner;
        p->how = allocatable ? ALLOCATABLE : FIXED;
        p->box = random_box(g, allocatable, 3);
    }
}

static void print_type(struct generator *g, const struct type *t) {
    static const char *const attributes[] = {"", ", allocatable", ", pointer"};
    FILE *to = g->types_text;
    fprintf(to, "type %s\n", t->name);
    for (int i = 0; i < t->n; i++) {
        const struct part *p = &t->parts[i];
        char *shape = words("%s", "");
        if (p->box.rank) shape = words("(%s)", p->how == FIXED ? bounds_words(&p->box, 0) : whole(p->box.rank));
        linef(to, "%s%s :: %s%s%s", type_words(p->kind, p->len, p->type), attributes[p->how], p->name, shape,
              p->how == POINTER ? " => null()" : "");
    }
    fprintf(to, "end type\n");
}

void make_types(struct generator *g) {
    if (!with(g, WITH_types)) return;
    g->n_types = with(g, WITH_nested) ? 3 : 2;
    for (int i = 0; i < g->n_types; i++) {
        make_type(g, &g->types[i], i == 2 ? &g->types[draw(&g->draws, 2)] : NULL);
        print_type(g, &g->types[i]);
    }
}

int has_memory(const struct type *t) {
    for (int i = 0; i < t->n; i++)
        if (t->parts[i].how != FIXED || (t->parts[i].type && has_memory(t->parts[i].type))) return 1;
    return 0;
}

struct state *new_state(const struct type *t) {
    struct state *s = make(sizeof *s);
    for (int i = 0; i < t->n; i++) {
        s->box[i] = t->parts[i].box;
        if (t->parts[i].type) s->below[i] = new_state(t->parts[i].type);
    }
    return s;
}

/* Points the pointer to a variable, or to every second element of it. */
static int point(struct generator *g, const char *place, const struct part *part, struct box *box) {
    for (int attempt = 0; attempt < 20; attempt++) {
        const int i = (int)draw(&g->draws, (size_t)g->n);
        const struct variable *v = &g->variables[i];
        if (!v->pointed || v->kind != part->kind || v->type || v->box.rank == 0) continue;
        if ((v->allocatable && !v->allocated) || (!v->coarray && !with(g, WITH_local_targets))) continue;
        struct shape shape = {0};
        char *subs = subscripts(g, &v->box, &shape, 0, NO_VECTORS | SAME_ON_ALL);
        if (shape.rank != part->box.rank || shape_size(&shape) == 0) continue;
        *box = (struct box){.rank = 1, .lower = {1}, .upper = {shape.extent[0]}};
        if (chance(&g->draws, 3)) {
            box->lower[0] = between(&g->draws, -4, 4);
            box->upper[0] = box->lower[0] + shape.extent[0] - 1;
            both(g, "%s(%d:) => {%d|%s|o}", place, box->lower[0], i, subs);
        } else {
            both(g, "%s => {%d|%s|o}", place, i, subs);
        }
        return 1;
    }
    return 0;
}

/* Gives one allocatable component memory, with new bounds, in one of the ways of Fortran. */
static void give_memory(struct generator *g, const char *place, const struct part *part, struct box *box, int there) {
    const int rank = part->box.rank;
    *box = part_box(g, rank);
    const struct shape shape = box_shape(box);
    char *bounds = words("%s%s%s", rank ? "(" : "", bounds_words(box, 0), rank ? ")" : "");
    char *value = fresh_kind(g, part->kind, &shape);
    static const enum feature ways[] = {WITH_components, WITH_source, WITH_assigned, WITH_moved};
    size_t way = draw(&g->draws, 4);
    if (!with(g, ways[way])) way = 0;
    if (way == 1 && (part->kind == TEXT || part->kind == WIDE)) way = 0;
    if (way == 2 && there) way = 0;
    if (way == 3 && g->compiler >= ACCESSORS) way = 0; /* to a component of a coarray: "must have the same corank" */
    if (way != 2 && there) both(g, "deallocate (%s)", place);
    if (way == 0) {
        both(g, "allocate (%s%s)", place, bounds);
        both(g, "%s = %s", place, value);
    } else if (way == 1) {
        static const char *const convert[N_KINDS] = {
            [I1] = "int(%s,1)",     [I2] = "int(%s,2)",        [I4] = "int(%s,4)",        [I8] = "int(%s,8)",
            [I16] = "int(%s,16)",   [R4] = "real(%s,4)",       [R8] = "real(%s,8)",       [R10] = "real(%s,10)",
            [R16] = "real(%s,16)",  [C4] = "cmplx(%s,kind=4)", [C8] = "cmplx(%s,kind=8)", [L1] = "logical(%s,1)",
            [L4] = "logical(%s,4)", [L8] = "logical(%s,8)"};
        const char *format = convert[part->kind], *hole = strchr(format, '%');
        both(g, "allocate (%s%s, source=%.*s%s%s)", place, bounds, (int)(hole - format), format, value, hole + 2);
    } else if (way == 2) {
        both(g, "%s = %s", place, value);
        for (int d = 0; d < rank; d++) box->upper[d] -= box->lower[d] - 1, box->lower[d] = 1;
    } else {
        both(g, "block");
        both(g, "%s, allocatable :: w%s%s%s", type_words(part->kind, part->len, NULL), rank ? "(" : "", whole(rank),
             rank ? ")" : "");
        both(g, "allocate (w%s)", bounds);
        both(g, "w = %s", value);
        both(g, "call move_alloc(w, %s)", place);
        both(g, "end block");
    }
}

static void fill(struct generator *g, const char *place, const struct type *t, struct state *s, int depth) {
    for (int i = 0; i < t->n; i++) {
        const struct part *p = &t->parts[i];
        char *below = words("%s%%%s", place, p->name);
        const struct shape shape = box_shape(p->how == FIXED ? &p->box : &s->box[i]);
        if (p->type && p->how == FIXED) {
            fill(g, below, p->type, s->below[i], depth);
        } else if (p->type) {
            if (s->there[i]) both(g, "deallocate (%s)", below);
            s->box[i] = random_box(g, 1, 3);
            s->there[i] = 1;
            s->below[i] = new_state(p->type);
            both(g, "allocate (%s(%s))", below, bounds_words(&s->box[i], 0));
            both(g, "do k%d = %d, %d", depth, s->box[i].lower[0], s->box[i].upper[0]);
            fill(g, words("%s(k%d)", below, depth), p->type, s->below[i], depth + 1);
            both(g, "end do");
        } else if (p->how == FIXED) {
            both(g, "%s = %s", below, fresh_kind(g, p->kind, &shape));
        } else if (p->how == ALLOCATABLE) {
            /* gfortran 12 forgets to deallocate a scalar in an element of an array. */
            const int stays = s->there[i] && p->box.rank == 0 && !strstr(place, "||");
            if (s->there[i] && (stays || chance(&g->draws, 3))) {
                both(g, "%s = %s", below, fresh_kind(g, p->kind, &shape));
            } else if (s->there[i] && chance(&g->draws, 6)) {
                both(g, "deallocate (%s)", below);
                s->there[i] = 0;
            } else {
                give_memory(g, below, p, &s->box[i], s->there[i]);
                s->there[i] = 1;
            }
        } else if (with(g, WITH_pointer_targets) && !chance(&g->draws, 3)) {
            s->there[i] = point(g, below, p, &s->box[i]);
            if (!s->there[i]) both(g, "nullify (%s)", below);
        } else {
            s->box[i] = part_box(g, 1);
            s->there[i] = 1;
            both(g, "allocate (%s(%s))", below, bounds_words(&s->box[i], 0));
            both(g, "%s = %s", below,
                 fresh_kind(g, p->kind,
                            &(struct shape){.rank = 1, .extent = {s->box[i].upper[0] - s->box[i].lower[0] + 1}}));
        }
    }
}

/* The type's own procedures give all of an object's components memory, of the bounds that the type has here. */
static int fill_by_procedure(struct generator *g, const char *place, const struct type *t, struct state *s) {
    static const enum feature ways[] = {WITH_results, WITH_intent_out, WITH_class_dummies};
    const size_t way = draw(&g->draws, 3);
    if (!with(g, ways[way])) return 0;
    switch (way) {
        case 0: both(g, "%s = make_%s(@,%d)", place, t->name, between(&g->draws, 1, 9)); break;
        case 1: both(g, "call fresh_%s(%s,@,%d)", t->name, place, between(&g->draws, 1, 9)); break;
        default: both(g, "call class_%s(%s,@,%d)", t->name, place, between(&g->draws, 1, 9)); break;
    }
    for (int i = 0; i < t->n; i++) {
        s->there[i] = t->parts[i].how == ALLOCATABLE;
        s->box[i] = t->parts[i].box;
    }
    return 1;
}

/* fill_components: of each element, by its own image. */
void fill_components(struct generator *g, int variable) {
    struct variable *v = &g->variables[variable];
    char *subs = words("%s", "");
    for (int d = 0; d < v->box.rank; d++) {
        both(g, "do i%d = %d, %d", d + 1, v->box.lower[d], v->box.upper[d]);
        subs = words("%s%si%d", subs, d ? "," : "", d + 1);
    }
    char *place = words("{%d|%s|o}", variable, subs);
    const int simple = v->type == &g->types[0] || v->type == &g->types[1];
    if (!simple || !chance(&g->draws, 3) || !fill_by_procedure(g, place, v->type, v->state))
        fill(g, place, v->type, v->state, 1);
    for (int d = 0; d < v->box.rank; d++) both(g, "end do");
}

static void print_fill(struct generator *g, const struct type *t) {
    FILE *to = g->procedures;
    for (int i = 0; i < t->n; i++) {
        const struct part *p = &t->parts[i];
        const struct shape shape = box_shape(&p->box);
        if (p->how == POINTER) fprintf(to, "nullify (x%%%s)\n", p->name);
        if (p->how == POINTER) continue;
        if (p->how == ALLOCATABLE && p->box.rank) linef(to, "allocate (x%%%s(%s))", p->name, bounds_words(&p->box, 0));
        if (p->how == ALLOCATABLE && !p->box.rank) linef(to, "allocate (x%%%s)", p->name);
        linef(to, "x%%%s = %s", p->name, expand(g, fresh_kind(g, p->kind, &shape), "(p+a)"));
    }
}

static void print_makers(struct generator *g, const struct type *t) {
    FILE *to = g->procedures;
    fprintf(to, "function make_%s(p,a) result(x)\ninteger, intent(in) :: p, a\ntype(%s) :: x\ninteger :: j\n", t->name,
            t->name);
    print_fill(g, t);
    fprintf(to, "end function\n");
    fprintf(to, "subroutine fresh_%s(x,p,a)\ntype(%s), intent(out) :: x\ninteger, intent(in) :: p, a\ninteger :: j\n",
            t->name, t->name);
    print_fill(g, t);
    fprintf(to, "end subroutine\n");
    fprintf(to,
            "subroutine class_%s(x,p,a)\nclass(%s), intent(inout) :: x\ninteger, intent(in) :: p, a\n"
            "integer :: j\n",
            t->name, t->name);
    for (int i = 0; i < t->n; i++)
        if (t->parts[i].how == ALLOCATABLE)
            fprintf(to, "if (allocated(x%%%s)) deallocate (x%%%s)\n", t->parts[i].name, t->parts[i].name);
    print_fill(g, t);
    fprintf(to, "end subroutine\n");
    /* gfortran 12 has an internal error for two such calls in one procedure. */
    fprintf(to,
            "subroutine broadcast_%s(x,from)\ntype(%s), intent(inout) :: x\ninteger, intent(in) :: from\n"
            "call co_broadcast(x,from)\nend subroutine\n",
            t->name, t->name);
}

/* A subroutine that compares an object with the model's. */
static void print_check(struct generator *g, const struct type *t) {
    FILE *to = g->procedures;
    fprintf(to,
            "recursive subroutine check_%s(name,x,y)\ncharacter(*), intent(in) :: name\n"
            "type(%s), intent(in) :: x, y\ninteger :: i\n",
            t->name, t->name);
    for (int i = 0; i < t->n; i++) {
        const struct part *p = &t->parts[i];
        const char *c = p->name;
        if (p->how != FIXED) {
            const char *query = p->how == POINTER ? "associated" : "allocated";
            linef(to,
                  "if (%s(x%%%s) .neqv. %s(y%%%s)) call differs(name//'%%%s','is %s',truth(%s(x%%%s)),"
                  "truth(%s(y%%%s)))",
                  query, c, query, c, c, query, query, c, query, c);
            fprintf(to, "if (%s(x%%%s)) then\n", query, c);
            if (p->box.rank)
                linef(to,
                      "call check_bounds(name//'%%%s',[lbound(x%%%s),ubound(x%%%s)],"
                      "[lbound(y%%%s),ubound(y%%%s)])",
                      c, c, c, c, c);
        }
        if (p->type && p->box.rank) {
            fprintf(to, "do i = lbound(x%%%s,1), ubound(x%%%s,1)\n", c, c);
            linef(to, "call check_%s(name//'%%%s'//at([i]),x%%%s(i),y%%%s(i))", p->type->name, c, c, c);
            fprintf(to, "end do\n");
        } else if (p->type) {
            linef(to, "call check_%s(name//'%%%s',x%%%s,y%%%s)", p->type->name, c, c, c);
        } else if (p->box.rank) {
            linef(to, "call check_%s(name//'%%%s',x%%%s,y%%%s,lbound(x%%%s),shape(x%%%s))", kinds[p->kind].name, c, c,
                  c, c, c);
        } else {
            linef(to, "call check_%s(name//'%%%s',[x%%%s],[y%%%s],none,none)", kinds[p->kind].name, c, c, c);
        }
        if (p->how != FIXED) fprintf(to, "end if\n");
    }
    fprintf(to, "end subroutine\n");
}

static void print_kind_check(FILE *to, enum kind k) {
    const int text = k == TEXT || k == WIDE;
    const char *type = k == TEXT ? "character(*)" : k == WIDE ? "character(*,kind=4)" : kinds[k].words;
    const char *differs = kinds[k].class == LOGICAL ? ".neqv." : "/=";
    fprintf(to,
            "subroutine check_%s(name,x,y,lower,extents)\ncharacter(*), intent(in) :: name\n"
            "%s, intent(in) :: x(*), y(*)\ninteger, intent(in) :: lower(:), extents(:)\n"
            "character(80) :: is, should\ninteger :: i\ndo i = 1, product(extents)\n"
            "if (x(i) %s y(i)) then\n",
            kinds[k].name, type, differs);
    if (text)
        fprintf(to, "is = x(i)\nshould = y(i)\n");
    else
        fprintf(to, "write (is,*) x(i)\nwrite (should,*) y(i)\n");
    fprintf(to, "call differs(name//place(i,lower,extents),'is',is,should)\nend if\nend do\nend subroutine\n");
}

void print_checks(struct generator *g) {
    for (int k = 0; k < N_KINDS; k++) print_kind_check(g->procedures, (enum kind)k);
    for (int i = 0; i < g->n_types; i++) {
        print_check(g, &g->types[i]);
        if (i < 2) print_makers(g, &g->types[i]);
    }
}
