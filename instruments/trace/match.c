/* SPDX-License-Identifier: BSD-3-Clause */
/* A wait knows only its word. The operation that ended it is the last one on that word of that PE that began before the
 * wait's end, by the aligned clocks. PEs of two hosts may be wrong by the clocks' error, which the report tells. */
#include "config.h"

#include "instruments/trace/match.h"

#include <stdlib.h>
#include <string.h>

#include "instruments/trace/memory.h"

#define CLOSE 100 /* nanoseconds between the clocks of two processors of a node */

struct entry { /* of a collective, or an operation on a word, or a wait */
    uint64_t key, more;
    double start, end;
    const struct trace_event *event;
    int pe, thread;
    uint32_t place;
};
struct entries {
    struct entry *entry;
    size_t n, room;
};

static void add(struct entries *list, struct entry e) {
    if (list->n == list->room) {
        list->room = list->room ? 2 * list->room : 1024;
        list->entry = trace_need(realloc(list->entry, list->room * sizeof *list->entry));
    }
    list->entry[list->n++] = e;
}

static void add_wait(struct trace_record *r, struct trace_wait w) {
    if ((r->n_waits & (r->n_waits - 1)) == 0)
        r->waits = trace_need(realloc(r->waits, (r->n_waits ? 2 * r->n_waits : 1) * sizeof *r->waits));
    r->waits[r->n_waits++] = w;
}

/* Calls f for each event that is a call or an arrival. */
static void each_event(struct trace_record *r, void (*f)(struct trace_record *r, const struct entry *e, void *arg),
                       void *arg) {
    for (int pe = 0; pe < r->n_pes; pe++) {
        struct trace_pe *p = &r->pes[pe];
        for (size_t i = 0; i < p->n_events; i++)
            for (size_t k = 0; k < p->events[i].n; k++) {
                const struct trace_event *e = &p->events[i].event[k];
                struct entry one = {.event = e, .pe = pe, .thread = p->events[i].thread};
                if (e->site < p->n_sites)
                    one.place = p->place[e->site];
                else if (e->kind != TRACE_ARRIVED)
                    continue;
                one.start = trace_ns_at(p, e->start);
                one.end = trace_ns_at(p, e->start + e->span);
                f(r, &one, arg);
            }
    }
}

static int by_key(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    if (x->more != y->more) return x->more < y->more ? -1 : 1;
    return x->start < y->start ? -1 : x->start > y->start;
}

static void sort(struct entries *list) {
    if (list->n) qsort(list->entry, list->n, sizeof *list->entry, by_key);
}

/* ---- collectives ---- */

static void gather_meetings(struct trace_record *r, const struct entry *e, void *list) {
    struct entry one = *e;
    (void)r;
    if (trace_class(e->event->kind) != TRACE_MEETING || !e->event->addr) return;
    one.key = e->event->addr;
    one.more = e->event->more;
    add(list, one);
}

static void wait_in_meeting(struct trace_record *r, const struct entry *e, const struct entry *on) {
    struct trace_place *p = &r->places[e->place];
    double until = on->start < e->end ? on->start : e->end;
    if (until <= e->start || on->pe == e->pe) return;
    if (!p->waited_by) p->waited_by = trace_need(calloc((size_t)r->n_pes, sizeof *p->waited_by));
    p->waited_by[e->pe] += until - e->start;
    if (p->waited_by[e->pe] > p->meeting_waited) p->meeting_waited = p->waited_by[e->pe];
    p->waited += until - e->start;
    r->pes[e->pe].waited += until - e->start;
    add_wait(r, (struct trace_wait){.place = e->place,
                                    .pe = e->pe,
                                    .on = on->pe,
                                    .ns = until - e->start,
                                    .computing = -1,
                                    .start = e->start,
                                    .end = until});
}

/* The n entries of one collective, the first PE first. */
static void one_meeting(struct trace_record *r, const struct entry *e, size_t n) {
    const struct entry *last = &e[n - 1], *root = NULL;
    unsigned kind = r->places[last->place].kind;
    struct trace_place *p = &r->places[last->place];
    for (size_t i = 0; i < n; i++)
        if (e[i].pe == e[i].event->pe) root = &e[i];
    if (n < 2) return;
    if (!p->last) p->last = trace_need(calloc((size_t)r->n_pes, sizeof *p->last));
    p->last[last->pe]++;
    p->meetings++;
    p->spread += last->start - e[0].start;
    for (size_t i = 0; i < n; i++) {
        if (kind == TRACE_COLLECTIVE || (kind == TRACE_TO_ROOT && &e[i] == root)) wait_in_meeting(r, &e[i], last);
        if (kind == TRACE_FROM_ROOT && root) wait_in_meeting(r, &e[i], root);
    }
}

static void match_meetings(struct trace_record *r) {
    struct entries list = {0};
    each_event(r, gather_meetings, &list);
    sort(&list);
    for (size_t i = 0, k; i < list.n; i = k) {
        for (k = i + 1;
             k < list.n && list.entry[k].key == list.entry[i].key && list.entry[k].more == list.entry[i].more;)
            k++;
        one_meeting(r, &list.entry[i], k - i);
    }
    free(list.entry);
}

/* ---- waits ---- */

static uint64_t word_key(int pe, uint64_t addr) {
    return ((addr >> 3) + 1) * 0x9e3779b97f4a7c15u ^ (uint64_t)pe * 0xd6e8feb86659fd93u;
}

static void gather_waits(struct trace_record *r, const struct entry *e, void *list) {
    unsigned kind = e->event->kind;
    struct entry one = *e;
    (void)r;
    if (kind != TRACE_WAIT && kind != TRACE_LOCK) return;
    /* A poll may read another PE's word. */
    one.key = word_key(e->event->pe >= 0 ? e->event->pe : e->pe, e->event->addr);
    add(list, one);
}

struct words { /* that PEs waited for: a table of keys */
    uint64_t *key;
    size_t room;
    struct entries found;
};

static uint64_t *slot_of(const struct words *w, uint64_t key) {
    size_t i = (key >> 20) % w->room;
    while (w->key[i] && w->key[i] != key) i = (i + 1) % w->room;
    return &w->key[i];
}

static void gather_signals(struct trace_record *r, const struct entry *e, void *arg) {
    unsigned kind = e->event->kind;
    const int to_all = kind == TRACE_ARRIVED && e->event->pe < 0;
    struct words *w = arg;
    if ((kind > TRACE_SIGNAL && kind != TRACE_ARRIVED) || kind == TRACE_GET || kind == TRACE_GET_NBI) return;
    if (kind == TRACE_FETCH || (e->event->pe < 0 && !to_all) || e->event->pe >= r->n_pes) return;
    if (!to_all && e->event->pe != e->pe) {
        struct entry one = *e;
        one.key = word_key(e->event->pe, TRACE_ANYWHERE);
        if (*slot_of(w, one.key) == one.key) add(&w->found, one);
    }
    if (e->event->addr == TRACE_NOWHERE) return;
    for (int pe = to_all ? 0 : e->event->pe; pe < (to_all ? r->n_pes : e->event->pe + 1); pe++) {
        struct entry one = *e;
        one.key = word_key(pe, e->event->addr);
        if ((pe != e->pe || !to_all) && *slot_of(w, one.key) == one.key) add(&w->found, one);
    }
}

/* The last signal of the wait's word that began before the wait's end. If that is older than the wait, the clocks of
 * two nodes may be wrong: then the next signal, if it began within the clocks' error. */
static const struct entry *signal_of(const struct entries *list, const struct entry *w, double clock_error) {
    const struct entry *last, *next;
    size_t low = 0, high = list->n;
    while (low < high) {
        size_t i = (low + high) / 2;
        const struct entry *e = &list->entry[i];
        if (e->key < w->key || (e->key == w->key && e->start <= w->end + CLOSE))
            low = i + 1;
        else
            high = i;
    }
    last = low && list->entry[low - 1].key == w->key ? &list->entry[low - 1] : NULL;
    next = low < list->n && list->entry[low].key == w->key ? &list->entry[low] : NULL;
    return next && next->start <= w->end + 2 * clock_error && (!last || last->end < w->start) ? next : last;
}

static void match_waits(struct trace_record *r) {
    struct entries waits = {0};
    struct words words = {0};
    each_event(r, gather_waits, &waits);
    words.room = 2 * waits.n + 1;
    words.key = trace_need(calloc(words.room, sizeof *words.key));
    for (size_t i = 0; i < waits.n; i++) *slot_of(&words, waits.entry[i].key) = waits.entry[i].key;
    if (waits.n) each_event(r, gather_signals, &words);
    sort(&words.found);
    for (size_t i = 0; i < waits.n; i++) {
        const struct entry *w = &waits.entry[i];
        const struct entry *s = signal_of(&words.found, w, (double)r->clock_error);
        r->places[w->place].waited += w->end - w->start;
        r->pes[w->pe].waited += w->end - w->start;
        if (!s || w->event->addr == TRACE_NOWHERE) continue;
        add_wait(r, (struct trace_wait){.place = w->place,
                                        .pe = w->pe,
                                        .on = s->pe,
                                        .ns = w->end - w->start,
                                        .computing = -1,
                                        .start = w->start,
                                        .end = w->end});
        if ((r->n_flows & (r->n_flows - 1)) == 0)
            r->flows = trace_need(realloc(r->flows, (r->n_flows ? 2 * r->n_flows : 1) * sizeof *r->flows));
        r->flows[r->n_flows++] = (struct trace_flow){.from = s->event,
                                                     .to = w->event,
                                                     .from_pe = s->pe,
                                                     .to_pe = w->pe,
                                                     .from_thread = s->thread,
                                                     .to_thread = w->thread};
    }
    free(waits.entry);
    free(words.found.entry);
    free(words.key);
}

/* ---- what the other one did meanwhile ---- */

struct span {
    double start, busy; /* busy: in calls until `start` */
};

static int by_on(const void *a, const void *b) {
    const struct trace_wait *x = a, *y = b;
    if (x->on != y->on) return x->on - y->on;
    return x->start < y->start ? -1 : x->start > y->start;
}

static int by_site(const void *a, const void *b) {
    const struct trace_wait *x = a, *y = b;
    if (x->place != y->place) return x->place < y->place ? -1 : 1;
    if (x->pe != y->pe) return x->pe - y->pe;
    return x->on - y->on;
}

static int by_start(const void *a, const void *b) {
    const struct span *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* The calls of a PE's first thread: when they began, and for how long they lasted until then. */
static struct span *spans_of(const struct trace_pe *p, size_t *n) {
    struct span *s = trace_need(malloc((p->events_seen + 1) * sizeof *s));
    double sum = 0;
    *n = 0;
    for (size_t i = 0; i < p->n_events; i++)
        for (size_t k = 0; k < p->events[i].n && p->events[i].thread == 0; k++) {
            const struct trace_event *e = &p->events[i].event[k];
            if (e->site < p->n_sites)
                s[(*n)++] = (struct span){trace_ns_at(p, e->start), (double)e->span * p->per_tick};
        }
    if (*n) qsort(s, *n, sizeof *s, by_start);
    for (size_t i = 0; i < *n; i++) {
        double span = s[i].busy;
        s[i].busy = sum;
        sum += span;
    }
    s[*n] = (struct span){*n ? s[*n - 1].start + sum - s[*n - 1].busy : 0, sum};
    return s;
}

/* Time in calls until t. */
static double busy_until(const struct span *s, size_t n, double t) {
    size_t low = 0, high = n;
    double busy;
    while (low < high) {
        size_t i = (low + high) / 2;
        if (s[i].start <= t)
            low = i + 1;
        else
            high = i;
    }
    if (!low) return 0;
    busy = s[low].busy - s[low - 1].busy;
    return s[low - 1].busy + (t - s[low - 1].start < busy ? t - s[low - 1].start : busy);
}

static void see_what_others_did(struct trace_record *r) {
    if (!r->n_waits) return;
    qsort(r->waits, r->n_waits, sizeof *r->waits, by_on);
    for (size_t i = 0, k; i < r->n_waits; i = k) {
        size_t n;
        struct span *s = spans_of(&r->pes[r->waits[i].on], &n);
        for (k = i; k < r->n_waits && r->waits[k].on == r->waits[i].on; k++) {
            struct trace_wait *w = &r->waits[k];
            w->computing = w->ns - (busy_until(s, n, w->end) - busy_until(s, n, w->start));
            if (w->computing < 0) w->computing = 0;
        }
        free(s);
    }
    /* One entry for each place, PE and other PE. */
    qsort(r->waits, r->n_waits, sizeof *r->waits, by_site);
    for (size_t i = 0, k, n = 0; i < r->n_waits; i = k) {
        struct trace_wait sum = r->waits[i];
        sum.times = 1;
        for (k = i + 1; k < r->n_waits && !by_site(&r->waits[k], &sum); k++) {
            sum.ns += r->waits[k].ns;
            sum.computing += r->waits[k].computing;
            sum.times++;
        }
        r->waits[n++] = sum;
        if (k >= r->n_waits) {
            r->n_waits = n;
            break;
        }
    }
    for (size_t i = 0; i < r->n_waits; i++) {
        const struct trace_wait *w = &r->waits[i];
        struct trace_place *p = &r->places[w->place];
        if (w->ns <= p->wait_ns) continue;
        p->wait_ns = w->ns;
        p->wait_computing = w->computing;
        p->wait_pe = w->pe;
        p->wait_on = w->on;
        p->wait_times = w->times;
    }
}

void trace_match(struct trace_record *r) {
    match_meetings(r);
    match_waits(r);
    see_what_others_did(r);
}
