/* SPDX-License-Identifier: BSD-3-Clause */
/* Random sequences of window calls, and an independent answer. All processes draw the same script from a seed: each
 * knows who does what to whom, and computes what the memory of all processes must contain, by its own description of
 * the types and its own arithmetic, in ordinary memory. After each step every byte of all windows, of the guards around
 * them, of the origin's buffers and of the results is compared.
 *
 * Broken by any call that moves wrong data, that writes a byte that it must not write, that refuses what MPI allows, or
 * that returns before its data are there. */
#include "random_calls.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_EPOCHS 2

/* ---- epochs ---- */

static int draw_epoch(struct world *w, struct epoch *e, int window, int others) {
    const struct group *g = &w->groups[w->windows[window].group];
    enum epoch_kind kinds[4];
    size_t n = 0;
    int owner[MOST_PROCESSES];
    memset(e, 0, sizeof *e);
    for (int k = 0; k < 4; k++)
        if (with(w, WITH_fence + k)) kinds[n++] = (enum epoch_kind)k;
    if (!n) return 0;
    e->window = window;
    e->kind = kinds[draw(&w->draws, n)];
    e->policy = draw(&w->draws, others ? 2 : 3);
    if (others && e->policy == ONE_LOCK) e->policy = OWN_TARGETS; /* two windows' locks could wait for each other */
    e->no_check = with(w, WITH_no_check) && chance(&w->draws, 4);
    e->use_test = chance(&w->draws, 3);
    for (int i = 0; i < g->n; i++) {
        owner[i] = g->process[draw(&w->draws, (size_t)g->n)];
        for (int k = 0; k < 3; k++) e->asserts[i][k] = with(w, WITH_asserts) ? (int)draw(&w->draws, 8) : 0;
    }
    for (int i = 0; i < g->n; i++) {
        const int p = g->process[i], takes_part = !chance(&w->draws, 4);
        for (int k = 0; k < g->n; k++) {
            const int t = g->process[k];
            int allowed = 1;
            if (e->kind == PSCW) allowed = chance(&w->draws, 2);
            if (e->kind == PSCW && !with(w, WITH_empty_groups)) allowed = 1;
            if (e->kind == LOCK_ALL) allowed = takes_part;
            if (e->kind == LOCK && e->policy == OWN_TARGETS) allowed = owner[k] == p;
            e->allowed[p][t] = (uint8_t)allowed;
        }
        if (e->kind == LOCK_ALL) e->locked[p][p] = (uint8_t)takes_part;
    }
    return 1;
}

static int is_passive(const struct epoch *e) { return e->kind >= LOCK; }

static MPI_Group group_of(struct world *w, const struct epoch *e, int origins) {
    const struct group *g = &w->groups[w->windows[e->window].group];
    int ranks[MOST_PROCESSES], n = 0;
    MPI_Group all, some;
    for (int i = 0; i < g->n; i++)
        if (origins ? e->allowed[g->process[i]][w->me] : e->allowed[w->me][g->process[i]]) ranks[n++] = i;
    MPI_Comm_group(g->comm, &all);
    MPI_Group_incl(all, n, ranks, &some);
    MPI_Group_free(&all);
    return some;
}

/* The legal part of the drawn asserts: the window was not stored to since the last synchronization, and nobody puts to
 * it in this round. */
static int asserts_of(struct world *w, const struct epoch *e, int drawn, int round, int stored) {
    const struct segment *s = &w->segments[w->windows[e->window].segment];
    int asserts = 0;
    if (drawn & 1 && !stored && s->users == 1 && w->windows[e->window].flavor != DYNAMIC) asserts |= MPI_MODE_NOSTORE;
    if (drawn & 2 && !(e->is_written[w->me] >> round & 1) && s->users == 1) asserts |= MPI_MODE_NOPUT;
    return asserts;
}

static void open_epochs(struct world *w, struct epoch *epochs, int n, int round, int last) {
    for (int i = 0; i < n; i++) {
        struct epoch *e = &epochs[i];
        const struct window *win = &w->windows[e->window];
        const int rank = w->groups[win->group].rank[w->me], *drawn = e->asserts[rank < 0 ? 0 : rank];
        const int first = round == 0;
        int stored = 0;
        MPI_Group group;
        for (const struct storing *s = w->storing; s; s = s->next) stored |= s->segment == win->segment;
        if (rank >= 0 && e->kind == FENCE) {
            int asserts = asserts_of(w, e, drawn[0], round, stored || !first);
            if (first && e->asserts[0][1] & 4) asserts |= MPI_MODE_NOPRECEDE;
            if (first) world_check(w, MPI_Win_fence(asserts, win->win), "MPI_Win_fence");
        } else if (e->kind == PSCW) {
            if (rank >= 0) {
                group = group_of(w, e, 1);
                world_check(w,
                            MPI_Win_post(group,
                                         asserts_of(w, e, drawn[round > 0], round, stored && first) |
                                             (e->no_check ? MPI_MODE_NOCHECK : 0),
                                         win->win),
                            "MPI_Win_post");
                MPI_Group_free(&group);
            }
            if (e->no_check) MPI_Barrier(w->comm);
            if (rank >= 0) {
                group = group_of(w, e, 0);
                world_check(w, MPI_Win_start(group, e->no_check ? MPI_MODE_NOCHECK : 0, win->win), "MPI_Win_start");
                MPI_Group_free(&group);
            }
        } else if (rank >= 0 && e->kind == LOCK_ALL && first && e->locked[w->me][w->me]) {
            world_check(w, MPI_Win_lock_all(e->no_check ? MPI_MODE_NOCHECK : 0, win->win), "MPI_Win_lock_all");
        }
    }
    (void)last;
}

static void close_epochs(struct world *w, struct epoch *epochs, int n, int round, int last) {
    int barrier = 0;
    for (int i = 0; i < n; i++) {
        struct epoch *e = &epochs[i];
        const struct window *win = &w->windows[e->window];
        const int rank = w->groups[win->group].rank[w->me], *drawn = e->asserts[rank < 0 ? 0 : rank];
        int done = 0, asserts = 0;
        if (is_passive(e)) barrier = 1;
        if (rank < 0) continue;
        switch (e->kind) {
            case FENCE:
                if (!last) asserts = asserts_of(w, e, drawn[1], round + 1, 0);
                if (last && drawn[2] & 1) asserts = MPI_MODE_NOSTORE;
                if (last && e->asserts[0][2] & 4) asserts |= MPI_MODE_NOSUCCEED;
                world_check(w, MPI_Win_fence(asserts, win->win), "MPI_Win_fence");
                break;
            case PSCW:
                world_check(w, MPI_Win_complete(win->win), "MPI_Win_complete");
                while (e->use_test && !done) {
                    world_check(w, MPI_Win_test(win->win, &done), "MPI_Win_test");
                    if (!done) sched_yield();
                }
                if (!e->use_test) world_check(w, MPI_Win_wait(win->win), "MPI_Win_wait");
                break;
            case LOCK_ALL:
                if (!e->locked[w->me][w->me]) break;
                if (last)
                    world_check(w, MPI_Win_unlock_all(win->win), "MPI_Win_unlock_all");
                else
                    world_check(w, MPI_Win_flush_all(win->win), "MPI_Win_flush_all");
                break;
            default: break; /* the locks are items of the step */
        }
        complete_calls(w, e->window, -1);
    }
    if (barrier) MPI_Barrier(w->comm);
}

/* ---- a step ---- */

static void draw_flush(struct world *w, struct epoch *e) {
    const struct group *g = &w->groups[w->windows[e->window].group];
    const int p = g->process[draw(&w->draws, (size_t)g->n)], t = g->process[draw(&w->draws, (size_t)g->n)];
    const enum action action = (enum action)(FLUSH + draw(&w->draws, 5));
    int open = 0;
    if (!is_passive(e) || !with(w, WITH_flush)) return;
    for (int k = 0; k < w->n; k++) open |= e->locked[p][k];
    if (!open) return;
    if ((action == FLUSH || action == FLUSH_LOCAL) && e->kind == LOCK && !e->locked[p][t]) return;
    add_item(w, p, action, e->window, g->rank[t]);
    for (int k = 0; k < w->n; k++)
        if ((action == FLUSH && k == t) || action == FLUSH_ALL) e->age[p][k]++;
}

static void do_items(struct world *w, struct epoch *epochs, int n_epochs, int rounds) {
    int round = 0;
    for (struct item *i = w->items; i; i = i->next) {
        MPI_Win win = w->windows[i->window].win;
        switch (i->action) {
            case ISSUE: issue_call(w, i->call); break;
            case WAIT: wait_call(w, i->call); break;
            case WAIT_ALL:
                for (struct item *k = w->items; k != i; k = k->next)
                    if (k->action == ISSUE && k->window == i->window) wait_call(w, k->call);
                break;
            case LOCK_TARGET: world_check(w, MPI_Win_lock(i->type, i->target, i->assert, win), "MPI_Win_lock"); break;
            case UNLOCK_TARGET: world_check(w, MPI_Win_unlock(i->target, win), "MPI_Win_unlock"); break;
            case FLUSH: world_check(w, MPI_Win_flush(i->target, win), "MPI_Win_flush"); break;
            case FLUSH_ALL: world_check(w, MPI_Win_flush_all(win), "MPI_Win_flush_all"); break;
            case FLUSH_LOCAL: world_check(w, MPI_Win_flush_local(i->target, win), "MPI_Win_flush_local"); break;
            case FLUSH_LOCAL_ALL: world_check(w, MPI_Win_flush_local_all(win), "MPI_Win_flush_local_all"); break;
            case SYNC: world_check(w, MPI_Win_sync(win), "MPI_Win_sync"); break;
            case NEXT_ROUND:
                close_epochs(w, epochs, n_epochs, round++, 0);
                open_epochs(w, epochs, n_epochs, round, round == rounds - 1);
                break;
        }
        if (i->action == FLUSH || i->action == FLUSH_LOCAL || i->action == UNLOCK_TARGET)
            complete_calls(w, i->window,
                           i->target < 0 ? MOST_PROCESSES : w->groups[w->windows[i->window].group].process[i->target]);
        if (i->action == FLUSH_ALL || i->action == FLUSH_LOCAL_ALL) complete_calls(w, i->window, -1);
    }
}

/* What the owners store before the step: bytes that have lost their meaning, the contents of the twin, others. */
static void draw_stores(struct world *w, const struct epoch *first, int twin) {
    const struct window *win = &w->windows[first->window];
    for (int i = 0; i < MOST_SEGMENTS; i++) {
        struct segment *s = &w->segments[i];
        if (!s->alive) continue;
        for (int p = 0; p < w->n; p++) {
            const size_t at = draw(&w->draws, s->size[p]), len = draw(&w->draws, s->size[p] - at + 1);
            if (s->noisy[p]) world_store(w, i, p, 0, s->size[p]);
            s->noisy[p] = 0;
            if ((i != win->segment && i != win->other) || !chance(&w->draws, 3)) continue;
            draw_bytes(&w->draws, s->model[p] + at, len);
            world_store(w, i, p, at, len);
        }
    }
    for (int p = 0; p < w->n && twin; p++) {
        const struct window *other = &w->windows[win->twin];
        memcpy(w->segments[other->segment].model[p] + other->base[p], w->segments[win->segment].model[p] + win->base[p],
               win->size[p]);
        world_store(w, other->segment, p, other->base[p], other->size[p]);
    }
}

static void begin_step(struct world *w) {
    free_types(&w->maker);
    store_reset(&w->store);
    w->storing = NULL;
    w->storing_end = &w->storing;
    w->calls = NULL;
    w->calls_end = &w->calls;
    w->items = NULL;
    w->items_end = &w->items;
    w->scratch_used = 0;
    w->steps++;
    w->rounds++;
}

static int any_window(struct world *w) {
    int alive[MOST_WINDOWS], n = 0;
    for (int i = 0; i < MOST_WINDOWS; i++)
        if (w->windows[i].alive) alive[n++] = i;
    return n ? alive[draw(&w->draws, (size_t)n)] : -1;
}

static void access_windows(struct world *w) {
    struct epoch epochs[MOST_EPOCHS];
    const int window = any_window(w);
    int n = 1, other = -1, twin = 0, rounds = 1 + (int)draw(&w->draws, 3), passive = 0;
    if (window < 0) return;
    if (with(w, WITH_twins) && w->windows[window].twin >= 0 && chance(&w->draws, 2)) {
        other = w->windows[window].twin;
        twin = 1;
    } else if (with(w, WITH_several) && chance(&w->draws, 4)) {
        other = any_window(w);
    }
    if (other == window) other = -1;
    if (!draw_epoch(w, &epochs[0], window, other >= 0)) return;
    if (other >= 0) {
        if (!draw_epoch(w, &epochs[1], other, 1)) return;
        if (twin) {
            epochs[1] = epochs[0];
            epochs[1].window = other;
        }
        n = 2;
    }
    for (int i = 0; i < n; i++) passive |= is_passive(&epochs[i]);
    draw_stores(w, &epochs[0], twin);
    for (int r = 0; r < rounds; r++) {
        const int calls = (int)draw(&w->draws, (size_t)w->n * 4) + 1;
        for (int k = 0; k < calls; k++) {
            const int i = twin ? 0 : (int)draw(&w->draws, (size_t)n);
            draw_call(w, &epochs[i], twin ? &epochs[1] : NULL);
            if (chance(&w->draws, 2)) draw_flush(w, &epochs[draw(&w->draws, (size_t)n)]);
            if (chance(&w->draws, 6) && epochs[i].kind == LOCK)
                unlock_for(w, &epochs[i], (int)draw(&w->draws, (size_t)w->n), (int)draw(&w->draws, (size_t)w->n));
        }
        for (int i = 0; i < n; i++) {
            const size_t from = draw(&w->draws, (size_t)w->n);
            for (int p = 0; p < w->n; p++) {
                add_item(w, p, WAIT_ALL, epochs[i].window, -1);
                for (int t = 0; t < w->n && epochs[i].kind == LOCK; t++)
                    unlock_for(w, &epochs[i], p, (int)((size_t)t + from) % w->n);
            }
            epochs[i].round++;
        }
        if (r < rounds - 1) {
            for (int p = 0; p < w->n; p++) add_item(w, p, NEXT_ROUND, window, 0);
            w->rounds++;
        }
    }
    w->was_passive |= passive;
    world_do_stores(w);
    w->was_passive = passive;
    if (passive) MPI_Barrier(w->comm);
    open_epochs(w, epochs, n, 0, rounds == 1);
    do_items(w, epochs, n, rounds);
    close_epochs(w, epochs, n, rounds - 1, 1);
    for (struct call *c = w->calls; c; c = c->next)
        if (c->origin == w->me) check_call(w, c);
    world_verify(w, chance(&w->draws, 8));
}

/* ---- a script ---- */

static void do_step(struct world *w) {
    const size_t what = draw(&w->draws, 20);
    int window;
    begin_step(w);
    if (what == 0) {
        window_make(w, 0);
    } else if (what == 1) {
        window = any_window(w);
        if (window >= 0) window_free(w, window);
    } else if (what <= 3 && with(w, WITH_attach)) {
        for (int i = 0; i < MOST_WINDOWS; i++)
            if (w->windows[i].alive && w->windows[i].flavor == DYNAMIC) window_attach(w, i);
    }
    if (any_window(w) < 0) window_make(w, 1);
    access_windows(w);
}

/* Begins a script, with a window of a communicator that all threads' scripts share. */
static void begin_script(struct world *w, long seed, MPI_Comm shared) {
    const MPI_Comm own = w->groups[0].comm;
    w->seed = seed;
    w->draws.state = (uint64_t)seed * UINT64_C(0x2545f4914f6cdd1d) + 1;
    draw_word(&w->draws);
    w->step = 0;
    w->windows_made = 0;
    w->fixed_used = 0;
    w->stack_used = STACK_; /* the stack is run_script's */
    w->was_passive = 1;
    begin_step(w);
    if (shared == MPI_COMM_NULL) return;
    w->groups[0].comm = shared;
    window_make(w, 1);
    w->groups[0].comm = own;
}

static void run_script(struct world *w) {
    static _Alignas(32) char no_stack;
    _Alignas(32) char stack[STACK_ + 64];
    const size_t more = 1 + draw(&w->draws, 3);
    uint64_t state;
    w->stack = stack;
    w->stack_used = 0;
    if (with(w, WITH_groups) && chance(&w->draws, 8)) world_new_group(w);
    for (size_t i = 0; i < more; i++) window_make(w, 0);
    for (w->step = 1; w->step <= w->options->steps; w->step++) do_step(w);
    begin_step(w);
    w->was_passive = 1;
    MPI_Barrier(w->comm);
    world_verify(w, 1);
    MPI_Barrier(w->comm);
    for (int i = 0; i < MOST_WINDOWS; i++)
        if (w->windows[i].alive) window_free(w, i);
    state = w->draws.state;
    world_free_groups(w);
    /* The processes must have drawn the same script. */
    MPI_Bcast(&state, 1, MPI_UINT64_T, 0, w->comm);
    if (state != w->draws.state) world_differs(w, "this process has drawn another script than process 0");
    w->stack = &no_stack;
}

static void *thread(void *world) {
    run_script(world);
    return NULL;
}

/* ---- options ---- */

static const struct {
    const char *name;
    int from, to;
} kinds_of_features[] = {{"calls", WITH_put, WITH_compare_and_swap},
                         {"epochs", WITH_fence, WITH_lock_all},
                         {"windows", WITH_create, WITH_dynamic},
                         {"others", WITH_requests, N_FEATURES - 1}};

static void usage(FILE *to) {
    fprintf(to, "usage: random [--seed N | --seeds FIRST:LAST] [--steps N] [--threads] [--plain] [--only LIST]\n"
                "              [--without LIST] [--keep-going] [--verbose]\n"
                "Random window calls, compared with a model. Exits with 1 at the first difference.\n\n"
                "  --seeds FIRST:LAST  the scripts (1:100)\n"
                "  --steps N           steps of each script (12); a prefix of a script is the same script\n"
                "  --threads           two threads in each process, each with a script and windows of its own\n"
                "  --plain             only what MPI alone does right\n"
                "  --only LIST         of each kind of features that LIST has members of, only these\n"
                "  --without LIST      all features but these\n"
                "  --keep-going        report differences, and go on\n"
                "  --verbose           print each seed; twice: each call\n\n"
                "The features, separated by commas in a LIST:\n");
    for (size_t k = 0; k < 4; k++) {
        fprintf(to, "  %-8s", kinds_of_features[k].name);
        for (int f = kinds_of_features[k].from, column = 10; f <= kinds_of_features[k].to; f++) {
            column += (int)strlen(feature_names[f]) + 1;
            if (column > 100) fprintf(to, "\n          "), column = 10 + (int)strlen(feature_names[f]) + 1;
            fprintf(to, " %s", feature_names[f]);
        }
        fprintf(to, "\n");
    }
}

static int parse_features(const char *list, uint64_t *features) {
    *features = 0;
    while (*list) {
        const size_t len = strcspn(list, ",");
        int found = -1;
        for (int f = 0; f < N_FEATURES; f++)
            if (strlen(feature_names[f]) == len && strncmp(feature_names[f], list, len) == 0) found = f;
        if (found < 0) {
            fprintf(stderr, "random: there is no feature '%.*s'\n", (int)len, list);
            return 0;
        }
        *features |= UINT64_C(1) << found;
        list += len + (list[len] == ',');
    }
    return 1;
}

static uint64_t only(uint64_t features, uint64_t these) {
    for (size_t k = 0; k < 4; k++) {
        uint64_t mask = 0;
        for (int f = kinds_of_features[k].from; f <= kinds_of_features[k].to; f++) mask |= UINT64_C(1) << f;
        if (these & mask) features &= ~mask | these;
    }
    return features;
}

/* What MPI alone does wrong. Seen with MPICH 4.0.2 (ch4:ucx, UCX 1.13). */
static const enum feature not_plain[] = {
    WITH_odd_base,        /* it rounds the address of a window down to a multiple of 16 */
    WITH_overlap,         /* data are misplaced in a window that lies in the memory of another one */
    WITH_no_check,        /* MPI_MODE_NOCHECK: a later MPI_Win_lock of the process itself waits for ever */
    WITH_empty_groups,    /* MPI_Win_start with a part of the processes: it loses a post that comes early, and hangs */
    WITH_requests,        /* MPI_Wait of an MPI_Rget of elements with gaps returns before the data are there */
    WITH_long_double,     /* a long double in a type with gaps is moved without its filling */
    WITH_unsigned_order,  /* MPI_MIN and MPI_MAX of unsigned numbers compare them as signed ones */
    WITH_empty_query,     /* MPI_Win_shared_query gives the unit of another process for memory of 0 bytes */
    WITH_derived_updates, /* accumulates of derived types fail an assertion */
    WITH_shorter,         /* it moves as much as the longer side has, or fails an assertion */
};

static uint64_t without_plain(void) {
    uint64_t features = 0;
    for (size_t i = 0; i < sizeof not_plain / sizeof not_plain[0]; i++) features |= UINT64_C(1) << not_plain[i];
    return features;
}

static struct world worlds[2];

int main(int argc, char **argv) {
    struct options options = {.features = (UINT64_C(1) << N_FEATURES) - 1, .steps = 12};
    long first = 1, last = 100;
    int threads = 0, got, failures = 0;
    MPI_Comm shared = MPI_COMM_NULL;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        uint64_t list;
        char *end = NULL;
        if (strcmp(argv[i], "--help") == 0) {
            usage(stdout);
            return 0;
        } else if (strcmp(argv[i], "--threads") == 0) {
            threads = 1;
        } else if (strcmp(argv[i], "--verbose") == 0) {
            options.verbose++;
        } else if (strcmp(argv[i], "--keep-going") == 0) {
            options.keep_going = 1;
        } else if (strcmp(argv[i], "--plain") == 0) {
            options.features &= ~without_plain();
        } else if (strcmp(argv[i], "--only") == 0 && parse_features(value, &list)) {
            options.features = only(options.features, list), i++;
        } else if (strcmp(argv[i], "--without") == 0 && parse_features(value, &list)) {
            options.features &= ~list, i++;
        } else if (strcmp(argv[i], "--steps") == 0 && (options.steps = (int)strtol(value, &end, 10)) >= 0 && !*end) {
            i++;
        } else if (strcmp(argv[i], "--seed") == 0 && (first = last = strtol(value, &end, 10)) >= 0 && !*end) {
            i++;
        } else if (strcmp(argv[i], "--seeds") == 0 && sscanf(value, "%ld:%ld", &first, &last) == 2) {
            i++;
        } else {
            fprintf(stderr, "random: '%s' is not understood\n", argv[i]);
            usage(stderr);
            return 2;
        }
    }
    MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &got);
    basics_begin();
    for (int t = 0; t <= threads; t++) world_begin(&worlds[t], &options, MPI_COMM_WORLD, t);
    for (int t = 0; t <= threads; t++)
        worlds[t].maker.draws = &worlds[t].draws, worlds[t].maker.store = &worlds[t].store;
    if (worlds[0].n > MOST_PROCESSES || (threads && got < MPI_THREAD_MULTIPLE)) {
        fprintf(stderr, "random: at most %d processes; --threads needs MPI_THREAD_MULTIPLE\n", MOST_PROCESSES);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (threads) MPI_Comm_dup(MPI_COMM_WORLD, &shared);
    for (long seed = first; seed <= last; seed++) {
        pthread_t id;
        if (options.verbose && worlds[0].me == 0) fprintf(stderr, "random: seed %ld\n", seed);
        for (int t = 0; t <= threads; t++) begin_script(&worlds[t], seed + t * 1000000, shared);
        if (threads && pthread_create(&id, NULL, thread, &worlds[1]) != 0) abort();
        run_script(&worlds[0]);
        if (threads) pthread_join(id, NULL);
        if (!options.keep_going) continue;
        for (int t = 0; t <= threads; t++) failures += worlds[t].failures > 0, worlds[t].failures = 0;
    }
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (worlds[0].me == 0 && !failures) printf("passed: seeds %ld to %ld\n", first, last);
    if (worlds[0].me == 0 && failures) printf("%d scripts failed\n", failures);
    if (shared != MPI_COMM_NULL) MPI_Comm_free(&shared);
    for (int t = 0; t <= threads; t++) world_end(&worlds[t]);
    MPI_Finalize();
    return failures ? 1 : 0;
}
