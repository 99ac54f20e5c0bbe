/* SPDX-License-Identifier: BSD-3-Clause */
/* Phases: who may access which variable, image control statements before and after, and the comparison with the model.
 *
 * Each phase begins and ends with every image's variables accessible to that image alone. */
#include "generate.h"

#include <string.h>

void check_now(struct generator *g) {
    run_model(g);
    fprintf(g->statements, "call check(%d)\n", g->phase);
}

/* Each image signals the image that is `shift` images before or behind it, and waits for the one that signals it. */
static void signal_images(struct generator *g, int shift) {
    const size_t way = draw(&g->draws, 4);
    if (way == 0 && with(g, WITH_events)) {
        const int event = ++g->syncs, posts = between(&g->draws, 1, 3);
        if (posts == 1) {
            fprintf(g->statements, "event post (ev(%d)[q(%d)])\nevent wait (ev(%d))\n", event, shift, event);
        } else {
            fprintf(g->statements, "do j = 1, %d\nevent post (ev(%d)[q(%d)])\nend do\n", posts, event, shift);
            fprintf(g->statements, "event wait (ev(%d), until_count=%d)\n", event, posts);
        }
        fprintf(g->statements, "call event_query(ev(%d), j)\n", event);
        linef(g->statements, "if (j /= 0) call differs('ev(%d)','has posts',number(j),'0')", event);
    } else if (way == 1 && with(g, WITH_sync_images)) {
        fprintf(g->statements, "call sync_pair(%d)\n", shift);
    } else {
        fprintf(g->statements, "sync all\n");
    }
}

static void meet(struct generator *g) {
    const size_t way = draw(&g->draws, 4);
    if (way == 0 && with(g, WITH_sync_images))
        fprintf(g->statements, "sync images (*)\n");
    else if (way == 1 && with(g, WITH_sync_team) && g->level)
        fprintf(g->statements, "sync team (team%d)\n", g->level);
    else if (way == 2)
        fprintf(g->statements, "sync all (stat=j)\nif (j /= 0) call differs('stat','is',number(j),'0')\n");
    else
        fprintf(g->statements, "sync all\n");
}

/* Variables of derived types, and those to which their pointers may point, are accessed in one way. */
static void set_access(struct generator *g, int i, enum access access, int shift) {
    struct variable *v = &g->variables[i];
    v->access = v->coarray || access == OWN || access == READ ? access : v->pointed ? NOBODY : OWN;
    if (!v->coarray && !v->pointed) v->access = OWN;
    v->shift = shift;
}

static int random_shift(struct generator *g) {
    const int shift = between(&g->draws, 1, SHIFTS);
    return chance(&g->draws, 2) ? shift : -shift;
}

static void uniform_phase(struct generator *g, int statements) {
    const int shift = random_shift(g);
    for (int i = 0; i < g->n; i++) set_access(g, i, SHIFTED, shift);
    signal_images(g, -shift);
    assignments(g, statements);
    run_model(g);
    signal_images(g, shift);
    all_own(g);
}

static void mixed_phase(struct generator *g, int statements) {
    static const enum access ways[] = {OWN, SHIFTED, SHIFTED, READ};
    const enum access pointed = ways[draw(&g->draws, 4)];
    const int shift = random_shift(g);
    for (int i = 0; i < g->n; i++) {
        const int together = g->variables[i].pointed || g->variables[i].type;
        const enum access own_way = ways[draw(&g->draws, 4)];
        set_access(g, i, together ? pointed : own_way, together ? shift : random_shift(g));
    }
    meet(g);
    assignments(g, statements);
    run_model(g);
    meet(g);
    all_own(g);
}

static void own_phase(struct generator *g, int statements) {
    assignments(g, statements);
    for (int i = 0; i < g->n && (g->level == 0 || with(g, WITH_team_components)); i++) {
        const struct variable *v = &g->variables[i];
        if (v->type && (!v->allocatable || v->allocated)) fill_components(g, i);
    }
    assignments(g, statements / 2);
}

/* Deallocates coarrays and allocates them again, or moves them to other ones. Pointers must not point to them. */
static void allocation_phase(struct generator *g) {
    for (int i = 0, n = g->n, done = 0; i < n && done < 2; i++) {
        struct variable *v = &g->variables[i];
        if (!v->allocatable || !v->allocated || v->pointed || v->name[0] == 'b' || g->n == MOST_VARIABLES ||
            chance(&g->draws, 2))
            continue;
        done++;
        if (with(g, WITH_move_alloc) && chance(&g->draws, 2)) {
            struct variable to = *v;
            snprintf(to.name, sizeof to.name, "%c%d", v->name[0], ++g->names);
            linef(g->declarations, "%s, allocatable%s :: %s%s%s%s%s", type_words(v->kind, v->len, v->type),
                  v->target ? ", target" : "", to.name, v->box.rank ? "(" : "", whole(v->box.rank),
                  v->box.rank ? ")" : "", v->corank == 2 ? "[:,:]" : "[:]");
            linef(g->declarations, "%s, allocatable%s :: m_%s(%s)", type_words(v->kind, v->len, v->type),
                  v->target ? ", target" : "", to.name, whole(v->box.rank + 1));
            const int j = add_variable(g, &to);
            g->variables[j].state = v->state;
            run_model(g);
            linef(g->statements, "call move_alloc(%s,%s)", v->name, to.name);
            linef(g->statements, "call move_alloc(m_%s,m_%s)", v->name, to.name);
            v->allocated = 0;
        } else if (with(g, WITH_reallocate)) {
            deallocate_coarray(g, i);
        }
        if (v->allocated || !with(g, WITH_reallocate)) continue;
        v->box = random_box(g, v->box.rank, v->type ? 6 : v->box.rank > 3 ? 200 : 60);
        if (chance(&g->draws, 4)) continue; /* it stays deallocated */
        allocate_coarray(g, i);
    }
    run_model(g);
    meet(g);
}

static void plain_phase(struct generator *g) {
    switch (draw(&g->draws, 10)) {
        case 0:
        case 1:
        case 2: uniform_phase(g, between(&g->draws, 4, 9)); break;
        case 3:
        case 4:
        case 5: mixed_phase(g, between(&g->draws, 4, 9)); break;
        case 6: own_phase(g, 3); break;
        case 7: collectives(g); break;
        case 8: atomics(g); break;
        default: exclusion(g); break;
    }
    check_now(g);
}

/* A team, in which other phases take place. */
static void team_phase(struct generator *g) {
    const int teams = between(&g->draws, 1, 3), apart = between(&g->draws, 1, 2), level = ++g->level, first = g->n;
    run_model(g);
    fprintf(g->statements, "form team (color(me,%d,%d), team%d)\n", teams, apart, level);
    fprintf(g->statements, "change team (team%d)\ncall enter(%d,%d)\n", level, teams, apart);
    if (with(g, WITH_team_allocate)) {
        for (int i = between(&g->draws, 1, 2); i > 0 && g->n < MOST_VARIABLES; i--) {
            struct variable v = {.kind = random_kind(g),
                                 .coarray = 1,
                                 .corank = 1,
                                 .colower = {between(&g->draws, 0, 2)},
                                 .allocatable = 1};
            v.len = random_len(g, v.kind);
            v.box = random_box(g, between(&g->draws, v.kind == C4 || v.kind == C8, 3), 40);
            snprintf(v.name, sizeof v.name, "b%d", ++g->names);
            linef(g->declarations, "%s, allocatable :: %s%s%s%s[:]", type_words(v.kind, v.len, NULL), v.name,
                  v.box.rank ? "(" : "", whole(v.box.rank), v.box.rank ? ")" : "");
            linef(g->declarations, "%s, allocatable :: m_%s(%s)", type_words(v.kind, v.len, NULL), v.name,
                  whole(v.box.rank + 1));
            allocate_coarray(g, add_variable(g, &v));
        }
        run_model(g);
        meet(g);
    }
    for (int i = between(&g->draws, 1, 2); i > 0; i--) plain_phase(g);
    if (level == 1 && with(g, WITH_nested_teams) && chance(&g->draws, 2)) team_phase(g);
    for (int i = first; i < g->n; i++) {
        struct variable *v = &g->variables[i];
        if (v->name[0] != 'b' || !v->allocated) continue;
        if (v->box.rank == 0 || chance(&g->draws, 2)) {
            deallocate_coarray(g, i);
        } else { /* END TEAM does it; for a scalar, gfortran 12 has passed a temporary descriptor */
            run_model(g);
            fprintf(g->statements, "deallocate (m_%s)\n", v->name);
            v->allocated = 0;
        }
    }
    fprintf(g->statements, "end team\ncall leave()\n");
    g->level--;
}

/* Before the first image control statement other images may access variables that have initial values. */
static void first_phase(struct generator *g) {
    for (int i = 0; i < g->n; i++)
        if (!g->variables[i].allocatable && !g->variables[i].type) allocate_coarray(g, i);
    for (int i = 0; i < g->n; i++) {
        struct variable *v = &g->variables[i];
        if (v->initial)
            v->access = SHIFTED, v->shift = 1;
        else if (v->coarray || v->pointed)
            v->access = NOBODY;
    }
    assignments(g, 3);
    run_model(g);
    fprintf(g->statements, "sync all\n");
    all_own(g);
}

void print_phases(struct generator *g) {
    first_phase(g);
    for (int i = 0; i < g->n; i++)
        if (g->variables[i].allocatable && !g->variables[i].type) allocate_coarray(g, i);
    for (int i = 0; i < g->n; i++)
        if (g->variables[i].type) allocate_coarray(g, i);
    run_model(g);
    for (g->phase = 1; g->phase <= g->phases; g->phase++) {
        const size_t what = draw(&g->draws, 7);
        if (what == 0 && with(g, WITH_teams))
            team_phase(g);
        else if (what == 1)
            allocation_phase(g);
        else
            plain_phase(g);
        if (g->wrong && g->phase == g->phases) {
            run_model(g);
            fprintf(g->statements, "m_%s(1,0,1) = m_%s(1,0,1) + 1\n", g->variables[3].name, g->variables[3].name);
        }
        check_now(g);
    }
}
