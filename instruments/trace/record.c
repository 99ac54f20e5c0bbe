/* SPDX-License-Identifier: BSD-3-Clause */
/* Recording a call takes no lock: a thread adds to counts of its own and to a ring of its own.
 *
 * A program may make millions of short calls in a second, for which a timeline has no room. So calls join: once a
 * thread has called a site SINGLE times in a row, a further call of the site that begins within CLOSE of the last one's
 * end becomes part of the event under way. The calls of a poll join, too. Counts are exact always. */
#define _GNU_SOURCE
#include "config.h"

#include "instruments/trace/record.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "instruments/trace/job.h"
#include "instruments/trace/part.h"

#define SINGLE 16
#define CLOSE  (1 << 13) /* ticks: a few microseconds */

int trace_on;
int trace_counter;
__thread struct trace_thread *trace_me;
struct trace_thread *trace_threads;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t thread_ends;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ---- threads ---- */

static void end_thread(void *thread) {
    struct trace_thread *t = thread;
    trace_record_flush(t);
    __atomic_store_n(&t->idle, 1, __ATOMIC_RELEASE); /* pairs with the exchange below */
}

/* A child made by fork is not a PE. */
static void end_in_child(void) { trace_on = 0; }

static void begin(void) {
    pthread_key_create(&thread_ends, end_thread);
    pthread_atfork(NULL, NULL, end_in_child);
}

struct trace_thread *trace_thread_new(void) {
    struct trace_thread *t;
    pthread_once(&once, begin);
    pthread_mutex_lock(&lock);
    for (t = trace_threads; t; t = t->next)
        if (__atomic_exchange_n(&t->idle, 0, __ATOMIC_ACQUIRE)) break;
    if (!t && (t = calloc(1, sizeof *t))) {
        t->ring = malloc(TRACE_RING * sizeof *t->ring);
        t->number = trace_threads ? trace_threads->number + 1 : 0;
        t->next = trace_threads;
        t->run_site = TRACE_NO_SITE;
        if (!t->ring || t->number > UINT16_MAX) {
            free(t->ring);
            free(t);
            t = NULL;
        } else
            __atomic_store_n(&trace_threads, t, __ATOMIC_RELEASE); /* the writer reads the list without the lock */
    }
    pthread_mutex_unlock(&lock);
    if (t) pthread_setspecific(thread_ends, t);
    return trace_me = t;
}

/* ---- sites ---- */

static struct trace_site *sites[TRACE_SITES_MOST];
static uint32_t n_sites;

const struct trace_site *trace_site_of(uint32_t i) {
    return i < TRACE_SITES_MOST ? __atomic_load_n(&sites[i], __ATOMIC_ACQUIRE) : NULL;
}

/* Whether one of our own libraries calls, for example librma_caf for a coarray: the program has not called it. */
static int is_own(uintptr_t pc) {
    static const char *const own[] = {"librma", "librma_shmem", "librma_caf", "librma_mpi"};
    Dl_info info;
    const char *name, *end;
    if (!dladdr((const void *)pc, &info) || !info.dli_fname) return 0;
    name = strrchr(info.dli_fname, '/');
    name = name ? name + 1 : info.dli_fname;
    if (!(end = strstr(name, ".so"))) return 0;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strlen(own[i]) == (size_t)(end - name) && !strncmp(name, own[i], (size_t)(end - name))) return 1;
    return 0;
}

/* The last number is for all sites that are too many. */
static uint32_t add_site(uintptr_t pc, const char *name, enum trace_kind kind) {
    static uint32_t table[2 * TRACE_SITES_MOST]; /* 1 + the site, by its hash */
    uint64_t hash = ((uint64_t)pc ^ (uint64_t)(uintptr_t)name << 20) * 0x9e3779b97f4a7c15u;
    uint32_t i, number = TRACE_SITES_MOST - 1;
    struct trace_site *s;
    pthread_mutex_lock(&lock);
    for (i = (uint32_t)(hash >> 50);; i++) {
        i %= 2 * TRACE_SITES_MOST;
        if (!table[i]) break;
        s = sites[table[i] - 1];
        if (s->pc == pc && s->kind == kind && !strncmp(s->name, name, TRACE_NAME - 1)) {
            number = table[i] - 1;
            pthread_mutex_unlock(&lock);
            return number;
        }
    }
    if (n_sites == TRACE_SITES_MOST - 1) pc = 0, name = "(further call sites)";
    if (n_sites < TRACE_SITES_MOST && (s = calloc(1, sizeof *s))) {
        number = n_sites++;
        s->pc = pc;
        s->site = number;
        s->kind = kind;
        strncpy(s->name, name, TRACE_NAME - 1);
        if (pc) table[i] = number + 1;
        __atomic_store_n(&sites[number], s, __ATOMIC_RELEASE); /* pairs with the load above */
    }
    pthread_mutex_unlock(&lock);
    return number;
}

static inline uint32_t site_of(struct trace_thread *t, const struct trace_done *d) {
    size_t i = (d->pc ^ d->pc >> 8) & 255;
    if (__builtin_expect(t->last[i].pc == d->pc && t->last[i].name == d->name, 1)) return t->last[i].site;
    t->last[i].site = is_own(d->pc) ? TRACE_NO_SITE : add_site(d->pc, d->name, d->kind);
    t->last[i].pc = d->pc;
    t->last[i].name = d->name;
    return t->last[i].site;
}

/* ---- counts ---- */

static struct trace_sums *add_sums(struct trace_thread *t, uint32_t site) {
    size_t groups = ((size_t)trace_job.n_pes + TRACE_GROUP - 1) / TRACE_GROUP;
    struct trace_sums *s = calloc(1, sizeof *s + groups * sizeof *s->groups);
    if (!s) return NULL;
    s->use.site = site;
    __atomic_store_n(&t->sums[site], s, __ATOMIC_RELEASE); /* the writer looks for it */
    return s;
}

static struct trace_group *add_group(struct trace_sums *s, uint32_t i) {
    struct trace_group *g = calloc(1, sizeof *g);
    if (!g) return NULL;
    g->cells.site = s->use.site;
    g->cells.first = i * TRACE_GROUP;
    __atomic_store_n(&s->groups[i], g, __ATOMIC_RELEASE);
    return g;
}

static inline unsigned bits_of(uint64_t n, unsigned most) {
    unsigned bits = n ? 64 - (unsigned)__builtin_clzll(n) : 0;
    return bits < most ? bits : most - 1;
}

/* polled: ticks since the last call of the poll; 0: the call is not part of one. */
static inline void count(struct trace_thread *t, uint32_t site, const struct trace_done *d, uint64_t ticks,
                         uint64_t polled) {
    struct trace_sums *s = t->sums[site];
    struct trace_group *g;
    if (!s && !(s = add_sums(t, site))) return;
    if (polled) {
        s->use.poll_ticks += polled;
        s->use.poll_busy += ticks;
    }
    s->use.count++;
    s->use.bytes += d->bytes;
    s->use.ticks += ticks;
    if (ticks > s->use.ticks_most) s->use.ticks_most = ticks;
    s->use.lengths[bits_of(d->bytes, TRACE_LENGTHS)]++;
    s->use.times[bits_of(ticks, TRACE_TIMES)]++;
    if (t->run > TRACE_RUN) {
        s->use.run_calls++;
        s->use.run_ticks += ticks;
    }
    if (t->run > s->use.run_most) s->use.run_most = t->run;
    if ((uint32_t)d->pe >= (uint32_t)trace_job.n_pes) return;
    g = s->groups[(uint32_t)d->pe / TRACE_GROUP];
    if (!g && !(g = add_group(s, (uint32_t)d->pe / TRACE_GROUP))) return;
    g->cells.cell[(uint32_t)d->pe % TRACE_GROUP].count++;
    g->cells.cell[(uint32_t)d->pe % TRACE_GROUP].bytes += d->bytes;
    g->cells.cell[(uint32_t)d->pe % TRACE_GROUP].ticks += ticks;
}

/* ---- events ---- */

void trace_record_flush(struct trace_thread *t) {
    uint64_t under_way = t->head - __atomic_load_n(&t->tail, __ATOMIC_ACQUIRE);
    if (!t->now.count) return;
    if (under_way >= (trace_is_compared(t->now.kind) ? TRACE_RING : TRACE_RING / 4 * 3)) {
        t->dropped++;
    } else {
        t->ring[t->head % TRACE_RING] = t->now;
        __atomic_store_n(&t->head, t->head + 1, __ATOMIC_RELEASE); /* pairs with the writer's load */
        if (under_way == TRACE_RING / 2) trace_part_wake();
    }
    t->now.count = 0;
}

/* ---- polls ---- */

/* Whether the call continues the loop of calls that read: of the same sites, and of the same word. */
static inline int continues(struct trace_poll *p, const struct trace_done *d, uint32_t site) {
    if (!p->n || (d->kind != TRACE_QUIET && p->has_word && (d->pe != p->pe || d->addr != p->addr))) return 0;
    if (site != p->sites[0] && p->sites[1] == TRACE_NO_SITE) p->sites[1] = site;
    return site == p->sites[0] || site == p->sites[1];
}

/* Notes a call. Returns the ticks since the last one's end if both are part of a poll, else 0. */
static inline uint64_t poll(struct trace_thread *t, const struct trace_done *d, uint32_t site, uint64_t start,
                            uint64_t end) {
    struct trace_poll *p = &t->poll;
    const uint64_t last = p->end;
    if (__builtin_expect(!trace_reads(d->kind, d->bytes), 1)) {
        p->n = 0;
        return 0;
    }
    if (!continues(p, d, site)) *p = (struct trace_poll){.sites = {site, TRACE_NO_SITE}};
    p->n++;
    p->end = end;
    if (d->kind != TRACE_QUIET) {
        p->has_word = 1;
        p->site = site;
        p->pe = d->pe;
        p->addr = d->addr;
    }
    return p->n > TRACE_POLLS && start - last < CLOSE ? end - last : 0;
}

/* A poll is one event, of the site that reads the word. */
static void add_to_poll(struct trace_thread *t, uint32_t site, uint64_t start, uint64_t end, uint64_t polled) {
    const struct trace_poll *p = &t->poll;
    struct trace_event *e = &t->now;
    if (!e->count || e->kind != TRACE_WAIT || e->start + e->span != end - polled) {
        trace_record_flush(t);
        *e = (struct trace_event){.start = end - polled,
                                  .addr = p->has_word ? p->addr : TRACE_ANYWHERE,
                                  .site = p->has_word ? p->site : site,
                                  .pe = p->has_word ? p->pe : -1,
                                  .kind = TRACE_WAIT};
    }
    e->span = end - e->start;
    e->busy += end - start;
    if (e->count < UINT32_MAX) e->count++;
}

/* What is compared with other PEs' events stays apart. */
static inline int joins(const struct trace_thread *t, const struct trace_done *d, uint32_t site, uint64_t start,
                        uint64_t end) {
    const struct trace_event *e = &t->now;
    return e->count && !trace_is_compared(d->kind) && e->site == site && e->kind == d->kind && t->same > SINGLE &&
           start - (e->start + e->span) < CLOSE && end - start < CLOSE && e->count < UINT32_MAX;
}

void trace_leave(struct trace_thread *t, uint64_t start, const struct trace_done *d) {
    uint64_t end = trace_ticks();
    uint32_t site = site_of(t, d);
    struct trace_event *e = &t->now;
    uint64_t polled;
    int again = site == t->run_site;
    if (__builtin_expect(site == TRACE_NO_SITE, 0)) {
        t->inside = 0;
        return;
    }
    t->run = again && d->pe == t->run_pe ? t->run + 1 : 1;
    t->same = again ? t->same + 1 : 1;
    t->run_site = site;
    t->run_pe = d->pe;
    polled = poll(t, d, site, start, end);
    count(t, site, d, end - start, polled);
    if (polled) {
        add_to_poll(t, site, start, end, polled);
    } else if (joins(t, d, site, start, end)) {
        e->span = end - e->start;
        e->busy += end - start;
        e->bytes += d->bytes;
        e->count++;
        if (e->pe != d->pe) e->pe = -2;
        if (e->addr != d->addr) e->addr = TRACE_NOWHERE;
    } else {
        trace_record_flush(t);
        *e = (struct trace_event){.start = start,
                                  .span = end - start,
                                  .busy = end - start,
                                  .bytes = d->bytes,
                                  .addr = d->addr,
                                  .site = site,
                                  .pe = d->pe,
                                  .count = 1,
                                  .more = d->more,
                                  .kind = d->kind};
    }
    t->inside = 0;
}

static void no_call(struct trace_event event) {
    struct trace_thread *t = trace_me;
    if (!trace_on || (!t && !(t = trace_thread_new())) || t->inside) return;
    trace_record_flush(t);
    event.site = TRACE_NO_SITE;
    event.count = 1;
    t->now = event;
    trace_record_flush(t);
}

void trace_heap(uint64_t bytes) {
    no_call((struct trace_event){.start = trace_ticks(), .bytes = bytes, .pe = -1, .kind = TRACE_HEAP});
}
void trace_arrived(int pe, uint64_t start) {
    no_call((struct trace_event){.start = start, .addr = TRACE_ARRIVALS, .pe = pe, .kind = TRACE_ARRIVED});
}
