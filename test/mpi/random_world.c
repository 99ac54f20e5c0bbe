/* SPDX-License-Identifier: BSD-3-Clause */
#include "random_world.h"
#include "random_calls.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const feature_names[N_FEATURES] = {
#define X(NAME) #NAME,
    FEATURES(X)
#undef X
};

/* ---- reports ---- */

void world_differs(struct world *w, const char *format, ...) {
    va_list args;
    char text[4096];
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    w->failures++;
    if (w->failures > 5) return;
    fprintf(stderr, "random: seed %ld, step %d, process %d of %d: %s\n", w->seed, w->step, w->me, w->n, text);
    fflush(stderr);
    if (!w->options->keep_going) MPI_Abort(MPI_COMM_WORLD, 1);
}

void world_check(struct world *w, int code, const char *call) {
    char text[MPI_MAX_ERROR_STRING];
    int len;
    if (code == MPI_SUCCESS) return;
    MPI_Error_string(code, text, &len);
    world_differs(w, "%s returned an error: %s", call, text);
}

/* ---- communicators ---- */

static void set_group(struct world *w, struct group *g, MPI_Comm comm, int n, const int *process, int owned,
                      const int *node) {
    *g = (struct group){.comm = comm, .n = n, .alive = 1, .owned = owned, .one_node = 1};
    for (int i = 0; i < w->n; i++) g->rank[i] = -1;
    for (int i = 0; i < n; i++) {
        g->process[i] = process[i];
        g->rank[process[i]] = i;
        if (node[process[i]] != node[process[0]]) g->one_node = 0;
    }
}

static int nodes_known[MOST_PROCESSES];

/* Makes the communicators of the processes whose color is not negative, in the order of their keys. Each process makes
 * its own; all know all. */
static void split(struct world *w, const int *color, const int *key) {
    MPI_Comm comm;
    MPI_Comm_split(w->comm, color[w->me] < 0 ? MPI_UNDEFINED : color[w->me], key[w->me], &comm);
    for (int c = 0; c < w->n; c++) {
        int list[MOST_PROCESSES], n = 0, slot = 0;
        for (int i = 0; i < w->n; i++)
            if (color[i] == c) list[n++] = i;
        for (int i = 1; i < n; i++)
            for (int k = i; k > 0 && key[list[k]] < key[list[k - 1]]; k--) {
                const int other = list[k];
                list[k] = list[k - 1];
                list[k - 1] = other;
            }
        while (slot < MOST_GROUPS && w->groups[slot].alive) slot++;
        if (n == 0) continue;
        if (slot == MOST_GROUPS) abort();
        set_group(w, &w->groups[slot], color[w->me] == c ? comm : MPI_COMM_NULL, n, list, 1, nodes_known);
    }
}

static void find_nodes(void) {
    const char *simulated = getenv("RMA_NODE_PES");
    int me, first;
    MPI_Comm node;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Allreduce(&me, &first, 1, MPI_INT, MPI_MIN, node);
    MPI_Comm_free(&node);
    if (simulated && atoi(simulated) > 0) first = me / atoi(simulated);
    MPI_Allgather(&first, 1, MPI_INT, nodes_known, 1, MPI_INT, MPI_COMM_WORLD);
}

void world_begin(struct world *w, const struct options *options, MPI_Comm comm, int thread) {
    static char fixed[2][FIXED];
    int key[MOST_PROCESSES], color[MOST_PROCESSES], list[MOST_PROCESSES] = {0};
    memset(w, 0, sizeof *w);
    w->options = options;
    MPI_Comm_dup(comm, &w->comm);
    MPI_Comm_set_errhandler(w->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &w->me);
    MPI_Comm_size(comm, &w->n);
    w->fixed = fixed[thread];
    MPI_Alloc_mem(SCRATCH, MPI_INFO_NULL, &w->scratch);
    if (thread == 0) find_nodes();
    for (int i = 0; i < w->n; i++) list[i] = i;
    set_group(w, &w->groups[0], w->comm, w->n, list, 0, nodes_known);
    w->lasting_groups = 1;
    if (!with(w, WITH_groups)) return;
    for (int i = 0; i < w->n; i++) key[i] = -i, color[i] = 0;
    split(w, color, key);
    if (w->n > 2) {
        for (int i = 0; i < w->n; i++) color[i] = i == 0 ? -1 : 0;
        split(w, color, key);
        for (int i = 0; i < w->n; i++) color[i] = i % 2;
        split(w, color, key);
    }
    for (int i = 0; i < w->n; i++) color[i] = nodes_known[i];
    split(w, color, key);
    while (w->groups[w->lasting_groups].alive) w->lasting_groups++;
}

int world_new_group(struct world *w) {
    int key[MOST_PROCESSES], color[MOST_PROCESSES];
    for (int i = 0; i < w->n; i++) {
        key[i] = (int)draw(&w->draws, 100);
        color[i] = chance(&w->draws, 4) ? -1 : 0;
    }
    for (int i = 0; i < MOST_GROUPS; i++)
        if (!w->groups[i].alive) {
            split(w, color, key);
            return 1;
        }
    return 0;
}

static void free_group(struct group *g) {
    if (g->owned && g->comm != MPI_COMM_NULL) MPI_Comm_free(&g->comm);
    g->alive = 0;
}

/* Those that the script has made; world_begin's stay. */
void world_free_groups(struct world *w) {
    for (int i = w->lasting_groups; i < MOST_GROUPS; i++)
        if (w->groups[i].alive) free_group(&w->groups[i]);
}

void world_end(struct world *w) {
    for (int i = 0; i < MOST_GROUPS; i++)
        if (w->groups[i].alive) free_group(&w->groups[i]);
    MPI_Free_mem(w->scratch);
    MPI_Comm_free(&w->comm);
}

/* ---- memory ---- */

/* 16 sizes in 20 are below 300 bytes. */
static size_t draw_size(struct world *w) {
    const size_t kind = draw(&w->draws, 20);
    if (with(w, WITH_large) && chance(&w->draws, 400)) return 50000 + draw(&w->draws, 200000);
    if (kind < 2 && with(w, WITH_zero)) return 0;
    if (kind < 5) return 1 + draw(&w->draws, 24);
    if (kind < 17) return 32 + draw(&w->draws, 270);
    return 300 + draw(&w->draws, 3000);
}

static int new_segment(struct world *w, enum memory memory, const size_t *size) {
    int i = 0;
    struct segment *s;
    while (i < MOST_SEGMENTS && w->segments[i].alive) i++;
    if (i == MOST_SEGMENTS) abort();
    s = &w->segments[i];
    memset(s, 0, sizeof *s);
    s->alive = 1;
    s->memory = memory;
    s->touched = 1;
    for (int p = 0; p < w->n; p++) {
        s->size[p] = size[p];
        s->model[p] = malloc(size[p] + 1);
        s->noise[p] = calloc(size[p] + 1, 1);
        s->trace[p] = calloc(size[p] + 1, sizeof *s->trace[p]);
        draw_bytes(&w->draws, s->model[p], size[p]);
    }
    return i;
}

/* The program's own memory, at a multiple of 16 or anywhere. */
static int make_memory(struct world *w, const size_t *size) {
    enum memory memory = (enum memory)draw(&w->draws, 4);
    size_t odd = with(w, WITH_odd_base) ? draw(&w->draws, 32) : 0, room;
    struct segment *s;
    int i;
    for (int p = 0; p < w->n; p++)
        if ((memory == STATIC && size[p] + 64 > FIXED - w->fixed_used) ||
            (memory == STACK && size[p] + 64 > STACK_ - w->stack_used))
            memory = HEAP;
    i = new_segment(w, memory, size);
    s = &w->segments[i];
    room = s->size[w->me] + odd + 1;
    for (int p = 0; p < w->n; p++) s->odd[p] = odd % 16;
    if (memory == HEAP) {
        if (posix_memalign(&s->held, 32, room) != 0) abort();
        s->mine = (char *)s->held + odd;
    } else if (memory == ALLOC_MEM) {
        MPI_Alloc_mem((MPI_Aint)room, MPI_INFO_NULL, &s->held);
        s->mine = (char *)s->held + odd;
    } else {
        size_t *used = memory == STATIC ? &w->fixed_used : &w->stack_used, most = 0;
        s->mine = (memory == STATIC ? w->fixed : w->stack) + *used + odd;
        for (int p = 0; p < w->n; p++)
            if (size[p] > most) most = size[p];
        *used += (most + 63) & ~(size_t)31;
        if (*used > (memory == STATIC ? FIXED : STACK_)) *used = memory == STATIC ? FIXED : STACK_;
    }
    memcpy(s->mine, s->model[w->me], s->size[w->me]);
    MPI_Get_address(s->mine, &s->address[w->me]);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_AINT, s->address, 1, MPI_AINT, w->comm);
    return i;
}

static void drop_segment(struct world *w, int i) {
    struct segment *s = &w->segments[i];
    if (--s->users > 0) return;
    if (s->memory == HEAP) free(s->held);
    if (s->memory == ALLOC_MEM) MPI_Free_mem(s->held);
    for (int p = 0; p < w->n; p++) free(s->model[p]), free(s->noise[p]), free(s->trace[p]);
    s->alive = 0;
}

/* ---- windows ---- */

static const char *const flavor_names[] = {"MPI_Win_create", "MPI_Win_allocate", "MPI_Win_allocate_shared",
                                           "MPI_Win_create_dynamic"};
static const char *const memory_names[] = {"malloc", "static", "stack", "MPI_Alloc_mem", "window"};

const char *window_words(struct world *w, const struct window *win) {
    const char *text = store_words(&w->store, "window %d (%s%s%s, processes", win->id, flavor_names[win->flavor],
                                   win->flavor == CREATE ? " over memory of " : "",
                                   win->flavor == CREATE ? memory_names[w->segments[win->segment].memory] : "");
    const struct group *g = &w->groups[win->group];
    for (int i = 0; i < g->n; i++) {
        const int p = g->process[i];
        if (win->flavor == DYNAMIC)
            text = store_words(&w->store, "%s %d", text, p);
        else
            text = store_words(&w->store, "%s %d: %zu bytes in units of %d", text, p, win->size[p], win->unit[p]);
    }
    return store_words(&w->store, "%s)", text);
}

int window_find(const struct world *w, const struct window *win, int process, ptrdiff_t at, size_t len, int *segment,
                size_t *offset) {
    size_t end;
    if (win->flavor != DYNAMIC) {
        if (at < 0 || (size_t)at > win->size[process] || len > win->size[process] - (size_t)at) return 0;
        *segment = win->segment;
        *offset = win->base[process] + (size_t)at;
        return 1;
    }
    (void)w;
    *segment = (int)(at >> 40) - 1;
    *offset = (size_t)at & ((UINT64_C(1) << 40) - 1);
    if (*segment < 0) return 0;
    end = *offset + len;
    for (size_t here = *offset; here < end;) {
        int found = 0;
        for (int i = 0; i < win->n_regions[process] && !found; i++) {
            const struct region *r = &win->regions[process][i];
            if (r->segment == *segment && r->from <= here && here < r->from + r->len)
                here = r->from + r->len, found = 1;
        }
        if (!found) return 0;
    }
    return 1;
}

static int draw_unit(struct world *w) {
    const int units[10] = {1, 1, 1, 2, 3, 4, 5, 7, 8, 16};
    return units[draw(&w->draws, 10)];
}

static MPI_Info draw_info(struct world *w, enum flavor flavor) {
    MPI_Info info;
    if (!chance(&w->draws, 3)) return MPI_INFO_NULL;
    MPI_Info_create(&info);
    if (chance(&w->draws, 2) && flavor == SHARED) MPI_Info_set(info, "alloc_shared_noncontig", "true");
    if (chance(&w->draws, 3)) MPI_Info_set(info, "accumulate_ops", "same_op_no_op");
    if (chance(&w->draws, 3)) MPI_Info_set(info, "accumulate_ordering", "rar,raw,war,waw");
    if (chance(&w->draws, 3)) MPI_Info_set(info, "mpi_minimum_memory_alignment", "64");
    return info;
}

static int free_window_slot(const struct world *w) {
    int i = 0;
    while (i < MOST_WINDOWS && w->windows[i].alive) i++;
    return i == MOST_WINDOWS ? -1 : i;
}

static void window_memory(struct world *w, struct window *win) {
    struct segment *s = &w->segments[win->segment];
    if (w->groups[win->group].rank[w->me] >= 0) {
        MPI_Win_set_errhandler(win->win, MPI_ERRORS_RETURN);
        if (win->flavor == SHARED)
            for (int i = 0; i < w->groups[win->group].n; i++) {
                MPI_Aint size;
                int unit;
                const int p = w->groups[win->group].process[i];
                world_check(w, MPI_Win_shared_query(win->win, i, &size, &unit, &win->parts[p]), "MPI_Win_shared_query");
                if ((size_t)size != win->size[p] || (unit != win->unit[p] && (size > 0 || with(w, WITH_empty_query))))
                    world_differs(w, "MPI_Win_shared_query of rank %d: size %lld, unit %d; not %zu, %d", i,
                                  (long long)size, unit, win->size[p], win->unit[p]);
            }
    }
    if ((win->flavor == ALLOCATE || win->flavor == SHARED) && s->size[w->me])
        memcpy(s->mine, s->model[w->me], s->size[w->me]);
    MPI_Barrier(w->comm);
}

/* Makes one window of this flavor; the sizes and units are set. */
static int make_one(struct world *w, enum flavor flavor, struct window plan) {
    const int i = free_window_slot(w);
    struct window *win = &w->windows[i];
    const struct group *g = &w->groups[plan.group];
    const MPI_Info info = draw_info(w, flavor);
    const int mine = g->rank[w->me] >= 0, me = w->me;
    void *base = NULL;
    int code = MPI_SUCCESS;
    size_t whole[MOST_PROCESSES];
    *win = plan;
    win->id = w->windows_made++;
    win->alive = 1;
    win->flavor = flavor;
    win->twin = win->other = -1;
    if (flavor == ALLOCATE || flavor == SHARED) {
        win->segment = new_segment(w, OF_WINDOW, win->size);
        memset(win->base, 0, sizeof win->base);
        for (int k = 1; k < g->n && flavor == SHARED; k++) /* one after the other */
            w->segments[win->segment].odd[g->process[k]] =
                (w->segments[win->segment].odd[g->process[k - 1]] + win->size[g->process[k - 1]]) % 16;
    } else if (flavor == DYNAMIC) {
        for (int p = 0; p < w->n; p++) whole[p] = 40 + draw_size(w);
        win->segment = make_memory(w, whole);
        for (int p = 0; p < w->n; p++) whole[p] = 40 + draw(&w->draws, 200);
        win->other = make_memory(w, whole);
        w->segments[win->other].users++;
        for (int p = 0; p < w->n; p++) win->unit[p] = 1;
    } else if (win->segment < 0) {
        for (int p = 0; p < w->n; p++) {
            whole[p] = win->size[p] + 2 * GUARD;
            win->base[p] = GUARD;
        }
        win->segment = make_memory(w, whole);
    }
    w->segments[win->segment].users++;
    switch (flavor) {
        case CREATE:
            if (mine)
                code = MPI_Win_create(w->segments[win->segment].mine + win->base[me], (MPI_Aint)win->size[me],
                                      win->unit[me], info, g->comm, &win->win);
            break;
        case ALLOCATE:
            if (mine) code = MPI_Win_allocate((MPI_Aint)win->size[me], win->unit[me], info, g->comm, &base, &win->win);
            break;
        case SHARED:
            if (mine)
                code = MPI_Win_allocate_shared((MPI_Aint)win->size[me], win->unit[me], info, g->comm, &base, &win->win);
            break;
        default:
            if (mine) code = MPI_Win_create_dynamic(info, g->comm, &win->win);
    }
    world_check(w, code, flavor_names[flavor]);
    if (info != MPI_INFO_NULL) {
        MPI_Info rest = info;
        MPI_Info_free(&rest);
    }
    if (flavor == ALLOCATE || flavor == SHARED) w->segments[win->segment].mine = base;
    window_memory(w, win);
    return i;
}

/* `common`: the window belongs to all processes. */
int window_make(struct world *w, int common) {
    enum flavor flavors[4], flavor;
    int n_flavors = 0, n_groups = 0, groups[MOST_GROUPS], i, fits;
    struct window plan;
    if (free_window_slot(w) < 0 || w->windows_made > 60) return -1;
    memset(&plan, 0, sizeof plan);
    for (int k = 0; k < MOST_GROUPS; k++)
        if (w->groups[k].alive) groups[n_groups++] = k;
    plan.group = common || chance(&w->draws, 2) ? 0 : groups[draw(&w->draws, (size_t)n_groups)];
    for (int k = 0; k < 4; k++)
        if (with(w, WITH_create + k) && (k != SHARED || w->groups[plan.group].one_node))
            flavors[n_flavors++] = (enum flavor)k;
    if (!n_flavors) return -1;
    flavor = flavors[draw(&w->draws, (size_t)n_flavors)];
    plan.segment = -1;
    for (int p = 0; p < w->n; p++) {
        const int differ = with(w, WITH_units) && p > 0;
        plan.size[p] = w->groups[plan.group].rank[p] < 0 ? 0 : draw_size(w);
        if (!with(w, WITH_odd_base)) plan.size[p] = (plan.size[p] + 15) / 16 * 16;
        plan.unit[p] = p == 0 || differ ? draw_unit(w) : plan.unit[0];
    }
    /* Over memory that another window has already. */
    if (flavor == CREATE && with(w, WITH_overlap) && chance(&w->draws, 4))
        for (int k = 0; k < MOST_WINDOWS && plan.segment < 0; k++) {
            const struct window *other = &w->windows[k];
            if (!other->alive || w->segments[other->segment].memory == OF_WINDOW) continue;
            plan.segment = other->segment;
            for (int p = 0; p < w->n; p++) {
                const size_t room = w->segments[plan.segment].size[p] - 2 * GUARD;
                plan.base[p] = GUARD + draw(&w->draws, room);
                if (!with(w, WITH_odd_base)) plan.base[p] -= plan.base[p] % 16;
                if (w->groups[plan.group].rank[p] < 0) continue;
                plan.size[p] = draw(&w->draws, room - (plan.base[p] - GUARD) + 1);
            }
        }
    i = make_one(w, flavor, plan);
    fits = free_window_slot(w) >= 0 && flavor != DYNAMIC && plan.segment < 0;
    if (with(w, WITH_twins) && fits && chance(&w->draws, 3)) {
        n_flavors = 0;
        for (int k = 0; k < 3; k++)
            if (with(w, WITH_create + k) && (k != SHARED || w->groups[plan.group].one_node))
                flavors[n_flavors++] = (enum flavor)k;
        plan.segment = -1;
        w->windows[i].twin = make_one(w, flavors[draw(&w->draws, (size_t)n_flavors)], plan);
        w->windows[w->windows[i].twin].twin = i;
    }
    if (flavor == DYNAMIC)
        for (int k = 0; k < 3; k++) window_attach(w, i);
    return i;
}

void window_free(struct world *w, int i) {
    struct window *win = &w->windows[i];
    const int mine = w->groups[win->group].rank[w->me] >= 0, detaches = chance(&w->draws, 2);
    if (win->flavor == DYNAMIC && mine && detaches)
        for (int k = 0; k < win->n_regions[w->me]; k++) {
            const struct region *r = &win->regions[w->me][k];
            world_check(w, MPI_Win_detach(win->win, w->segments[r->segment].mine + r->from), "MPI_Win_detach");
        }
    if (mine) world_check(w, MPI_Win_free(&win->win), "MPI_Win_free");
    if (win->twin >= 0) w->windows[win->twin].twin = -1;
    drop_segment(w, win->segment);
    if (win->other >= 0) drop_segment(w, win->other);
    win->alive = 0;
    MPI_Barrier(w->comm);
}

static int is_attached(const struct window *win, int p, int segment, size_t from, size_t len) {
    for (int i = 0; i < win->n_regions[p]; i++) {
        const struct region *r = &win->regions[p][i];
        if (r->segment == segment && from < r->from + r->len && r->from < from + len) return 1;
    }
    return 0;
}

/* Each process attaches or detaches a region, or does nothing. */
void window_attach(struct world *w, int i) {
    struct window *win = &w->windows[i];
    const struct group *g = &w->groups[win->group];
    for (int p = 0; p < w->n; p++) {
        const int n = win->n_regions[p], segment = chance(&w->draws, 3) ? win->other : win->segment;
        const int me = p == w->me;
        char *memory = w->segments[segment].mine;
        size_t room = w->segments[segment].size[p], from = draw(&w->draws, room), len, most;
        if (g->rank[p] < 0) continue;
        if (with(w, WITH_attach_nothing) && chance(&w->draws, 10)) {
            if (!me) continue;
            world_check(w, MPI_Win_attach(win->win, memory + from, 0), "MPI_Win_attach of 0 bytes");
            world_check(w, MPI_Win_detach(win->win, memory + from), "MPI_Win_detach of 0 bytes");
            continue;
        }
        if (n > 1 && (n == MOST_REGIONS || chance(&w->draws, 4))) {
            const int k = (int)draw(&w->draws, (size_t)n);
            const struct region r = win->regions[p][k];
            win->regions[p][k] = win->regions[p][n - 1];
            win->n_regions[p]--;
            if (me) world_check(w, MPI_Win_detach(win->win, w->segments[r.segment].mine + r.from), "MPI_Win_detach");
            continue;
        }
        /* Often right after another region. */
        if (n && with(w, WITH_touching) && chance(&w->draws, 2)) {
            const struct region *r = &win->regions[p][draw(&w->draws, (size_t)n)];
            if (r->segment == segment) from = r->from + r->len;
        }
        if (from >= room) continue;
        most = room - from;
        len = 1 + draw(&w->draws, most > 80 && chance(&w->draws, 2) ? 80 : most);
        while (len && is_attached(win, p, segment, from, len + !with(w, WITH_touching))) len /= 2;
        if (!len || is_attached(win, p, segment, from - (from > 0 && !with(w, WITH_touching)), 1)) continue;
        win->regions[p][win->n_regions[p]++] = (struct region){segment, from, len};
        if (me) world_check(w, MPI_Win_attach(win->win, memory + from, (MPI_Aint)len), "MPI_Win_attach");
    }
    MPI_Barrier(w->comm);
}

/* ---- what the owner stores and loads ---- */

void world_store(struct world *w, int segment, int process, size_t at, size_t len) {
    struct segment *s = &w->segments[segment];
    struct storing *storing;
    s->touched = 1;
    memset(s->noise[process] + at, 0, len);
    if (process != w->me || !len) return;
    storing = store_take(&w->store, sizeof *storing);
    *storing = (struct storing){segment, at, len, store_take(&w->store, len), NULL};
    memcpy(storing->bytes, s->model[process] + at, len);
    *w->storing_end = storing;
    w->storing_end = &storing->next;
}

/* A window of which the memory is part, and whose lock this process may take on itself. */
static MPI_Win window_of(const struct world *w, int segment, int *rank) {
    for (int i = 0; i < MOST_WINDOWS; i++) {
        const struct window *win = &w->windows[i];
        if (!win->alive || (win->segment != segment && win->other != segment)) continue;
        *rank = w->groups[win->group].rank[w->me];
        if (*rank >= 0) return win->win;
    }
    return MPI_WIN_NULL;
}

void world_do_stores(struct world *w) {
    int locked = -1, rank = 0;
    MPI_Win win = MPI_WIN_NULL;
    for (const struct storing *s = w->storing; s; s = s->next) {
        if (w->was_passive && s->segment != locked) {
            if (win != MPI_WIN_NULL) world_check(w, MPI_Win_unlock(rank, win), "MPI_Win_unlock");
            locked = s->segment;
            win = window_of(w, locked, &rank);
            if (win != MPI_WIN_NULL) world_check(w, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win), "MPI_Win_lock");
        }
        memcpy(w->segments[s->segment].mine + s->at, s->bytes, s->len);
    }
    if (win != MPI_WIN_NULL) world_check(w, MPI_Win_unlock(rank, win), "MPI_Win_unlock");
}

static void verify_part(struct world *w, int segment, int process, const char *real) {
    struct segment *s = &w->segments[segment];
    const uint8_t *model = s->model[process], *noise = s->noise[process];
    size_t wrong = 0, first = 0;
    if (memcmp(real, model, s->size[process]) == 0) return;
    for (size_t i = 0; i < s->size[process]; i++)
        if ((uint8_t)real[i] != model[i] && !noise[i]) {
            if (!wrong) first = i;
            wrong++;
        }
    if (!wrong) return;
    world_differs(w,
                  "the memory of process %d at %p (%s, %zu bytes): %zu bytes are wrong, the first one at offset %zu: "
                  "%02x, expected %02x%s",
                  process, (const void *)real, memory_names[s->memory], s->size[process], wrong, first,
                  (uint8_t)real[first], model[first], calls_on(w, segment, process, first));
    if (w->options->keep_going && process == w->me) memcpy(s->mine, model, s->size[process]);
}

void world_verify(struct world *w, int all) {
    for (int i = 0; i < MOST_SEGMENTS; i++) {
        struct segment *s = &w->segments[i];
        MPI_Win win = MPI_WIN_NULL;
        int rank = 0;
        if (!s->alive || (!s->touched && !all)) continue;
        s->touched = 0;
        if (w->was_passive) win = window_of(w, i, &rank);
        if (win != MPI_WIN_NULL) world_check(w, MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win), "MPI_Win_lock");
        if (s->size[w->me]) verify_part(w, i, w->me, s->mine);
        if (win != MPI_WIN_NULL) world_check(w, MPI_Win_unlock(rank, win), "MPI_Win_unlock");
    }
}
