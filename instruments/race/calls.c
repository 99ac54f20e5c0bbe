/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "instruments/race/calls.h"

#include <stdlib.h>
#include <string.h>

#include "instruments/race/job.h"
#include "instruments/race/native.h"
#include "instruments/race/places.h"
#include "instruments/race/report.h"
#include "instruments/race/shadow.h"
#include "instruments/race/spin.h"

/* Teams whose groups are known. Teams are few. */
static struct known {
    const void *team;
    struct race_group *group;
    race_epoch domain;
    struct known *next;
} * known;
static uint32_t known_lock;

/* Whether a team has the group. */
static int is_taken(const struct race_group *g) {
    const struct known *k;
    race_spin_lock(&known_lock);
    for (k = known; k && k->group != g;) k = k->next;
    race_spin_unlock(&known_lock);
    return k != NULL;
}

/* If there are too many groups, one of the same PEs has to do. */
static struct race_group *named(const int *pes, int n, uint64_t id) {
    struct race_group *g = race_group_named(pes, n, id);
    return g ? g : race_group_of(pes, n);
}

/* Teams of the same PEs that exist at the same time have groups of their own, since different threads may use them. A
 * team's PEs are in all of these, and so find the same number. RMA_TEAM_WORLD and RMA_TEAM_SHARED count as one. */
static struct race_group *group_of_team(const rma_team *team) {
    struct race_group *g = NULL;
    int n = prma_team_n_pes(team), *pes = n > 0 ? malloc((size_t)n * sizeof *pes) : NULL;
    if (!pes) return NULL;
    for (int i = 0; i < n; i++) pes[i] = prma_team_translate_pe(team, i, RMA_TEAM_WORLD);
    g = race_group_of(pes, n);
    if (team != RMA_TEAM_WORLD && team != RMA_TEAM_SHARED)
        for (uint64_t id = 1; g && is_taken(g) && id < RACE_GROUPS_MOST; id++) g = race_group_named(pes, n, id);
    if (!g) g = race_group_of(pes, n);
    free(pes);
    return g;
}

static struct race_group *add(const void *team, race_epoch domain) {
    struct known *k = malloc(sizeof *k);
    if (!k) return NULL;
    k->team = team;
    k->domain = domain;
    RACE_FORWARD(k->group = group_of_team(team));
    race_spin_lock(&known_lock);
    k->next = known;
    known = k;
    race_spin_unlock(&known_lock);
    return k->group;
}

static const struct known *find(const void *team) {
    struct known *k;
    race_spin_lock(&known_lock);
    for (k = known; k && k->team != team;) k = k->next;
    race_spin_unlock(&known_lock);
    return k;
}

struct race_group *race_team(const void *team) {
    const struct known *k;
    if (!race_watches() || !team) return NULL;
    if ((k = find(team))) return k->group;
    return team == RMA_TEAM_WORLD || team == RMA_TEAM_SHARED ? add(team, race_team_domain(team)) : NULL;
}

race_epoch race_team_domain(const void *team) {
    const struct known *k = find(team);
    return k ? k->domain : team == RMA_TEAM_SHARED ? RACE_SHARED_TEAM : 0;
}

void race_team_made(const void *team, const void *parent) {
    if (!race_watches() || !team || team == RMA_TEAM_WORLD || team == RMA_TEAM_SHARED) return;
    race_team(RMA_TEAM_WORLD); /* their groups are taken, on all PEs */
    race_team(RMA_TEAM_SHARED);
    add(team, race_team_domain(parent));
}

void race_team_gone(const void *team) {
    race_spin_lock(&known_lock);
    for (struct known **p = &known; *p; p = &(*p)->next)
        if ((*p)->team == team) {
            struct known *k = *p;
            *p = k->next;
            free(k);
            break;
        }
    race_spin_unlock(&known_lock);
}

struct race_group *race_world(const struct race_call *quiet) {
    if (!race_watches()) return NULL;
    if (quiet) race_quiet(quiet);
    return race_team(RMA_TEAM_WORLD);
}

static int is_symmetric(const void *object) {
    return (uintptr_t)object - race_job.statics < race_job.statics_len ||
           (uintptr_t)object - race_job.space < race_job.stride;
}

struct race_group *race_set(const long *sync, int start, int log_stride, int size) {
    struct race_group *g;
    int *pes;
    if (!race_watches() || size < 1 || size > race_job.n_pes || log_stride < 0 || log_stride > 30) return NULL;
    pes = malloc((size_t)size * sizeof *pes);
    if (!pes) return NULL;
    for (int i = 0; i < size; i++) pes[i] = start + (int)((long)i << log_stride);
    g = named(pes, size, is_symmetric(sync) ? race_number_of(sync) + 1 : 0);
    free(pes);
    return g;
}

/* ---- collectives ---- */

static const char *element(const struct race_buffer *b, size_t i) {
    return (const char *)b->at + (ptrdiff_t)i * b->stride * (ptrdiff_t)b->elem;
}

/* Whether the library takes the element: a call that it refuses accesses nothing. */
static int is_element(const struct race_buffer *b, size_t i) {
    return b->at && b->elem && i < b->n && race_is_committed((uintptr_t)element(b, i), b->elem);
}

static void access_buffer(const struct race_call *c, const struct race_buffer *b, int write) {
    const struct race_who who = {.epoch = race_now, .clock = race_me->clock};
    for (size_t i = 0; is_element(b, i); i++)
        race_local(element(b, i), b->elem, RACE_PLAIN, write, race_call_place(c->pc, c->name), &who);
}

/* OpenSHMEM's source may be read until this PE leaves the call, which a PE that has left it does not know. So it is
 * read at an epoch that the call does not tell. */
void race_collective(struct race_group *g, const struct race_call *c, struct race_buffer source) {
    if (g && c->native) access_buffer(c, &source, 0);
    if (g) race_group_enter(g, c->native, source.elem * source.n);
    if (g && !c->native) access_buffer(c, &source, 0);
    race_enter_library();
}

/* OpenSHMEM's dest must be ready on all PEs before any PE calls. So a PE that gives something must know, when it comes,
 * of all earlier accesses to the dest of each PE that gets it. What collectives themselves access is not compared: a PE
 * may make the next call as soon as the last one has returned, without another synchronization. */
struct arrivals {
    const struct race_group *group;
    const struct race_call *call;
    int from;
    uint32_t *one; /* room for what one of them knew */
};

static int gives_to_me(const struct arrivals *a, int member) {
    const int me = race_group_me(a->group);
    if (member == me) return 0;
    return a->from == RACE_BEFORE ? member < me : a->from == RACE_ALL || member == a->from;
}

static int has_come(const struct arrivals *a, int member) {
    uint64_t members[2] = {0, 0};
    members[member / 64] = (uint64_t)1 << member % 64;
    return race_group_arrivals(a->group, members, a->one);
}

static int is_of_collective(const char *call) {
    static const char *const parts[] = {"broadcast", "collect", "alltoall", "reduce", "_to_all", "scan"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strstr(call, parts[i])) return 1;
    return 0;
}

static void report_not_ready(void *arg, const struct race_record *r, race_epoch mask, struct race_where where) {
    const struct arrivals *a = arg;
    if (is_of_collective(race_place_call(r->place))) return;
    if (!race_before(r, race_me->clock)) return; /* it races with this PE's own write of dest */
    for (int i = 0; i < race_group_n(a->group); i++)
        if (gives_to_me(a, i) && has_come(a, i) && !race_before(r, a->one)) {
            const int pe = race_group_pes(a->group)[i];
            const struct race_who who = {.epoch = RACE_EPOCH(pe, 0), .clock = a->one}; /* its first thread */
            race_report(r, mask, RACE_PLAIN, RACE_GIVES, race_call_place(a->call->pc, a->call->name), &who, where);
            return;
        }
}

static void check_ready(const struct race_group *g, const struct race_call *c, const struct race_buffer *dest,
                        int from) {
    static __thread uint32_t *room; /* of two clocks */
    struct arrivals a = {.group = g, .call = c, .from = from};
    uint64_t givers[2] = {0, 0};
    if (!room && !(room = malloc(2 * race_job.clocks * sizeof *room))) return;
    a.one = room + race_job.clocks;
    for (int i = 0; i < race_group_n(g); i++)
        if (gives_to_me(&a, i)) givers[i / 64] |= (uint64_t)1 << i % 64;
    if (!(givers[0] | givers[1]) || !race_group_arrivals(g, givers, room)) return;
    for (size_t i = 0; is_element(dest, i); i++) race_after(element(dest, i), dest->elem, room, report_not_ready, &a);
}

void race_collected(struct race_group *g, const struct race_call *c, int code, struct race_buffer source,
                    struct race_buffer dest, int from) {
    size_t sum;
    race_leave_library();
    if (!g) return;
    if (code) { /* which other members may not have: all count the same calls */
        race_group_skip(g);
        return;
    }
    sum = race_group_leave(g, from);
    if (dest.elem == RACE_SUM) dest.elem = sum;
    /* What is also the source needs no synchronization before the call. */
    if (!c->native && dest.at && dest.elem && !(source.elem && source.at == dest.at)) check_ready(g, c, &dest, from);
    access_buffer(c, &dest, 1);
    /* The program's next access to a buffer is another one. */
    if (!c->native && (source.elem || dest.elem)) race_tick(race_me);
}

void race_waited_words(const struct race_call *c, int what, int waits, const void *ivars, size_t len, size_t n,
                       const size_t *indices, const int *status, size_t result) {
    const char *first = ivars;
    if (what == RMA_ANY_) {
        if (result < n) race_waited(c, first + result * len, len);
    } else if (what == RMA_SOME_) {
        for (size_t i = 0; i < result && result <= n; i++) race_waited(c, first + indices[i] * len, len);
    } else if (waits || result == 1) {
        for (size_t i = 0; i < n; i++)
            if (!status || !status[i]) race_waited(c, first + i * len, len);
    }
}
