/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "test/sim/windows.h"
#include "base/error.h"
#include "rma.h"

#include <stdlib.h>
#include <string.h>

#define MERGE_TAG   30001
#define PIECES_MOST 4
#define WORD        ((size_t)8) /* which an adapter stores at once, if it is aligned */

/* A piece of a put or get. It belongs to its origin. */
struct access {
    struct access *next, **link; /* in the list of its origin */
    struct access *next_waiting; /* in the list of its target */
    struct sim_pe *origin, *target;
    enum rmai_window_kind window;
    int is_get;
    int read;        /* data has what is moved */
    char *here;      /* source or destination */
    char *there;     /* in the target's memory */
    uint64_t number; /* of the put or get, among those of the origin */
    size_t len;
    unsigned char data[];
};

struct region {
    char *base;
    size_t len;
};

/* A fixed window that is made anew has other memory from the moment on in which all PEs are in make_window. Each PE
 * notes its new part as it enters, and uses the others' new parts as it leaves: part[made % 2]. */
struct sim_windows {
    int there[RMAI_WINDOWS];
    unsigned made;         /* fixed windows */
    struct region part[2]; /* of them, by `made` */
    struct region *region; /* that are attached to the dynamic one */
    unsigned n_regions;
    struct access *under_way;               /* accesses of this PE */
    struct access *waiting, **last_waiting; /* accesses to this PE that need it, oldest first */
    uint64_t accesses;                      /* of this PE so far */
};

static const char *const names[RMAI_WINDOWS] = {"fixed", "dynamic"};

static const struct sim_windows_options *options_here(const struct sim_pe *pe) { return &sim_options_of(pe)->windows; }

struct sim_windows *sim_windows_open(void) {
    struct sim_windows *w = sim_memory(NULL, sizeof *w);
    *w = (struct sim_windows){.region = NULL};
    w->last_waiting = &w->waiting;
    return w;
}

static void free_access(struct access *a) {
    *a->link = a->next;
    if (a->next) a->next->link = a->link;
    free(a);
}

int sim_windows_close(struct sim_windows *w) {
    int left = 0;
    for (; w->under_way; left++) free_access(w->under_way);
    free(w->region);
    free(w);
    return left;
}

/* ---- an access on its way ---- */

static void wake_pe(struct sim_pe *pe) {
    sim_scheduler_of(pe)->active = sim_scheduler_of(pe)->now;
    for (struct sim_task *t = pe->tasks; t; t = t->next) sim_wake_polling(t);
}

static void come_back(void *context) {
    struct access *a = context;
    struct sim_pe *origin = a->origin;
    sim_scheduler_of(origin)->steps++;
    if (origin->dead || sim_link_is_cut(a->target, origin->me)) return;
    if (a->is_get) memcpy(a->here, a->data, a->len);
    free_access(a);
    wake_pe(origin);
}

static void read_source(struct access *a) {
    if (!a->read) memcpy(a->data, a->here, a->len);
    a->read = 1;
}

/* The target's memory is read, or written. */
static void do_access(struct access *a) {
    if (a->is_get) {
        memcpy(a->data, a->there, a->len);
    } else {
        read_source(a);
        memcpy(a->there, a->data, a->len);
        sim_overwritten(a->there, a->len);
    }
    sim_at(sim_scheduler_of(a->origin), sim_now(a->origin) + sim_options_of(a->origin)->times.latency, come_back, a);
}

/* What is for a PE that has died, or comes over a link that is cut, is never done. */
static void arrive(void *context) {
    struct access *a = context;
    struct sim_pe *to = a->target;
    sim_scheduler_of(to)->steps++;
    sim_scheduler_of(to)->active = sim_scheduler_of(to)->now;
    if (to->dead || a->origin->dead || sim_link_is_cut(a->origin, to->me)) return;
    if (!options_here(to)->needs_target[a->window][a->is_get]) {
        do_access(a);
        return;
    }
    a->next_waiting = NULL;
    *to->windows->last_waiting = a;
    to->windows->last_waiting = &a->next_waiting;
    wake_pe(to);
}

void sim_windows_serve(struct sim_pe *pe) {
    struct sim_windows *w = pe->windows;
    while (w->waiting) {
        struct access *a = w->waiting;
        w->waiting = a->next_waiting;
        if (!w->waiting) w->last_waiting = &w->waiting;
        sim_spend(sim_options_of(pe)->times.receive);
        do_access(a);
    }
}

/* ---- puts and gets ---- */

static const struct region *find_region(const struct sim_windows *w, const char *base, size_t len) {
    for (unsigned i = 0; i < w->n_regions; i++) {
        const struct region *r = &w->region[i];
        if (base >= r->base && base < r->base + r->len && len <= r->len - (size_t)(base - r->base)) return r;
    }
    return NULL;
}

static char *locate(struct sim_pe *me, const char *call, enum rmai_window_kind window, int pe, size_t disp,
                    size_t len) {
    const struct sim_windows *w = sim_of(me, pe)->windows;
    const struct region *part = &w->part[me->windows->made % 2];
    if (!me->windows->there[window])
        sim_fail(me, "%s accesses PE %d through the %s window, which is not there", call, pe, names[window]);
    if (window == RMAI_FIXED) {
        if (disp > part->len || len > part->len - disp)
            sim_fail(me, "%s: %zu bytes at %zu are outside of the %zu bytes that PE %d has in the fixed window", call,
                     len, disp, part->len, pe);
        return part->base + disp;
    }
    if (!find_region(w, (const char *)disp, len))
        sim_fail(me, "%s: PE %d has not attached %zu bytes at %#zx as a part of one region", call, pe, len, disp);
    return (char *)disp;
}

static void begin_piece(struct sim_pe *me, const struct access *of, size_t from, size_t to) {
    const struct sim_options *options = sim_options_of(me);
    struct sim_scheduler *s = sim_scheduler_of(me);
    struct access *a = sim_memory(NULL, sizeof *a + (to - from));
    uint64_t time = options->times.latency + (to - from) * options->times.kib / 1024;
    *a = *of;
    a->here += from;
    a->there += from;
    a->len = to - from;
    a->next = me->windows->under_way;
    a->link = &me->windows->under_way;
    if (a->next) a->next->link = &a->next;
    me->windows->under_way = a;
    time += sim_random(&s->random) % (options->times.jitter + options->windows.spread + 1);
    sim_at(s, sim_now(me) + time, arrive, a);
}

/* Where a processor copies, and no adapter, a word may be cut, and bytes may be stored twice. */
static void begin_access(struct sim_pe *me, const struct access *of) {
    uint64_t *random = &sim_scheduler_of(me)->random;
    const struct sim_windows_options *w = options_here(me);
    const int torn = w->cuts_words && (w->near || w->needs_target[of->window][of->is_get]);
    int pieces = 1 + (int)(sim_random(random) % PIECES_MOST);
    for (size_t from = 0, to; from < of->len; from = to) {
        size_t begin = from;
        to = --pieces > 0 ? from + 1 + sim_random(random) % (of->len - from) : of->len;
        if (!torn && to < of->len) to += (WORD - (uintptr_t)(of->there + to) % WORD) % WORD;
        if (to > of->len) to = of->len;
        if (torn && begin && sim_random(random) % 2) begin -= 1 + sim_random(random) % (begin < WORD ? begin : WORD);
        begin_piece(me, of, begin, to);
    }
}

static int move(struct rmai_transport *t, const char *call, struct access a, int pe, size_t disp) {
    struct sim_pe *me = sim_pe_of(t);
    sim_poll_over();
    sim_spend(sim_options_of(me)->times.send);
    sim_log(me, "%s %zu bytes through the %s window, PE %d", a.is_get ? "gets" : "puts", a.len, names[a.window], pe);
    a.origin = me;
    a.target = sim_of(me, pe);
    a.there = locate(me, call, a.window, pe, disp, a.len);
    a.number = ++me->windows->accesses;
    if (options_here(me)->shifts && a.window == RMAI_FIXED && pe == 0 && !a.is_get) a.there++;
    begin_access(me, &a);
    return RMA_SUCCESS;
}

static int put(struct rmai_transport *t, const char *call, enum rmai_window_kind window, int pe, size_t disp,
               const void *source, size_t len) {
    return move(t, call, (struct access){.window = window, .here = (char *)(uintptr_t)source, .len = len}, pe, disp);
}

static int get(struct rmai_transport *t, const char *call, enum rmai_window_kind window, int pe, size_t disp,
               void *dest, size_t len) {
    return move(t, call, (struct access){.window = window, .is_get = 1, .here = dest, .len = len}, pe, disp);
}

static int has_under_way(const struct sim_windows *w, enum rmai_window_kind window, int pe, uint64_t most) {
    for (const struct access *a = w->under_way; a; a = a->next)
        if (a->window == window && (pe == RMAI_ANY_PE || a->target->me == pe) && a->number <= most) return 1;
    return 0;
}

int sim_windows_wait_for_lost(const struct sim_pe *pe) {
    for (const struct access *a = pe->windows->under_way; a; a = a->next)
        if (!sim_pe_stands(a->target) || sim_link_is_cut(pe, a->target->me)) return 1;
    return 0;
}

static int flush(struct rmai_transport *t, const char *call, enum rmai_window_kind window, int pe,
                 enum rmai_flush_kind kind) {
    struct sim_pe *me = sim_pe_of(t);
    struct sim_windows *w = me->windows;
    const struct sim_layer *layer = sim_options_of(me)->layer;
    const uint64_t most = w->accesses; /* what other threads begin meanwhile nobody has asked for */
    if (!w->there[window])
        sim_fail(me, "%s flushes PE %d in the %s window, which is not there", call, pe, names[window]);
    if (layer && layer->is_unwatched && layer->is_unwatched(call, pe))
        sim_fail(me, "%s flushes PE %d in the %s window, and nobody would see that this lasts", call, pe,
                 names[window]);
    sim_log(me, "flushes PE %d in the %s window%s", pe, names[window], kind == RMAI_FLUSH_LOCAL ? ", locally" : "");
    sim_poll_over();
    sim_spend(sim_options_of(me)->times.send);
    if (kind == RMAI_FLUSH_LOCAL) {
        for (struct access *a = w->under_way; a; a = a->next)
            if (a->window == window && a->target->me == pe && !a->is_get) read_source(a);
        return RMA_SUCCESS;
    }
    me->flushing++;
    for (;;) {
        sim_windows_serve(me);
        if (!has_under_way(w, window, pe, most)) break;
        sim_idle_poll();
    }
    me->flushing--;
    sim_poll_over();
    return RMA_SUCCESS;
}

/* ---- attaching ---- */

static int attach(struct rmai_transport *t, void *base, size_t len) {
    struct sim_pe *me = sim_pe_of(t);
    struct sim_windows *w = me->windows;
    char *from = base;
    if (!w->there[RMAI_DYNAMIC]) sim_fail(me, "memory is attached to the dynamic window, which is not there");
    for (unsigned i = 0; i < w->n_regions; i++)
        if (from < w->region[i].base + w->region[i].len && w->region[i].base < from + len)
            sim_fail(me, "%zu bytes at %p are attached, of which some are attached already", len, base);
    if (w->n_regions >= options_here(me)->attach_most)
        return rmai_error(RMA_ERR_MPI, "the simulated network attaches %u regions at most", w->n_regions);
    sim_log(me, "attaches %zu bytes", len);
    w->region = sim_memory(w->region, (w->n_regions + 1) * sizeof *w->region);
    w->region[w->n_regions++] = (struct region){from, len};
    return RMA_SUCCESS;
}

/* ---- among all PEs ---- */

static void take_largest(void *mine, const void *other, size_t bytes) {
    int *m = mine;
    const int *o = other;
    for (size_t i = 0; i < bytes / sizeof *m; i++)
        if (o[i] > m[i]) m[i] = o[i];
}

static int merge_values(struct rmai_transport *t, int *values, int n) {
    struct sim_pe *me = sim_pe_of(t);
    int code;
    me->merging++;
    code = sim_merge(t, MERGE_TAG, values, (size_t)n * sizeof *values, take_largest);
    me->merging--;
    return code;
}

static void merge(struct rmai_transport *t, const char *call, int *values, int n) {
    const int code = merge_values(t, values, n);
    if (code == RMA_SUCCESS) return;
    rmai_error_prefix("%s: ", call);
    rma_errors_abort(code, rma_last_error());
}

/* All PEs are in it before one leaves it. */
static int meet(struct rmai_transport *t) {
    int nothing = 0;
    return merge_values(t, &nothing, 1);
}

static void leave_window(struct sim_pe *me, enum rmai_window_kind window) {
    struct sim_windows *w = me->windows;
    if (has_under_way(w, window, RMAI_ANY_PE, UINT64_MAX))
        sim_fail(me, "ends the %s window while accesses of its own are under way", names[window]);
    w->there[window] = 0;
}

static int make_window(struct rmai_transport *t, enum rmai_window_kind window, void *base, size_t size) {
    struct sim_pe *me = sim_pe_of(t);
    struct sim_windows *w = me->windows;
    int code;
    leave_window(me, window);
    sim_log(me, "makes the %s window", names[window]);
    if (window == RMAI_FIXED) w->part[(w->made + 1) % 2] = (struct region){base, size};
    code = meet(t);
    if (code != RMA_SUCCESS) return code;
    if (window == RMAI_DYNAMIC && options_here(me)->refuses_dynamic)
        return rmai_error(RMA_ERR_MPI, "the simulated network has no dynamic window");
    if (window == RMAI_FIXED) w->made++;
    w->there[window] = 1;
    return RMA_SUCCESS;
}

static int end_window(struct rmai_transport *t, enum rmai_window_kind window) {
    struct sim_pe *me = sim_pe_of(t);
    int code;
    if (!me->windows->there[window]) return RMA_SUCCESS;
    leave_window(me, window);
    code = meet(t);
    if (window == RMAI_DYNAMIC) me->windows->n_regions = 0;
    return code;
}

static int has_window(const struct rmai_transport *t, enum rmai_window_kind window) {
    return sim_pe_of(t)->windows->there[window];
}

static void forget_window(struct rmai_transport *t, enum rmai_window_kind window) {
    sim_pe_of(t)->windows->there[window] = 0;
}

void sim_windows_operations(struct rmai_transport_operations *operations) {
    operations->put = put;
    operations->get = get;
    operations->flush = flush;
    operations->attach = attach;
    operations->merge = merge;
    operations->make_window = make_window;
    operations->end_window = end_window;
    operations->has_window = has_window;
    operations->forget_window = forget_window;
}
