/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "instruments/race/calls.h"

#include <stdlib.h>
#include <string.h>

#include "instruments/race/job.h"
#include "instruments/race/native.h"
#include "instruments/race/places.h"
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

static struct race_group *group_of_team(const rma_team *team) {
    struct race_group *g = NULL;
    int n = prma_team_n_pes(team), *pes = n > 0 ? malloc((size_t)n * sizeof *pes) : NULL;
    if (!pes) return NULL;
    for (int i = 0; i < n; i++) pes[i] = prma_team_translate_pe(team, i, RMA_TEAM_WORLD);
    g = race_group_of(pes, n);
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
    if (race_watches() && team && team != RMA_TEAM_WORLD && team != RMA_TEAM_SHARED)
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

struct race_group *race_set(int start, int log_stride, int size) {
    struct race_group *g;
    int *pes;
    if (!race_watches() || size < 1 || size > race_job.n_pes || log_stride < 0 || log_stride > 30) return NULL;
    pes = malloc((size_t)size * sizeof *pes);
    if (!pes) return NULL;
    for (int i = 0; i < size; i++) pes[i] = start + (int)((long)i << log_stride);
    g = race_group_of(pes, size);
    free(pes);
    return g;
}

static void read_source(const struct race_call *c, const void *source, size_t len) {
    const struct race_who who = {.epoch = race_now, .clock = race_me->clock};
    if (source && len && race_is_committed((uintptr_t)source, len))
        race_local(source, len, RACE_PLAIN, 0, race_call_place(c->pc, c->name), &who);
}

/* OpenSHMEM's source may be read until this PE leaves the call, which a PE that has left it does not know. So it is
 * read at an epoch that the call does not tell. */
void race_collective(struct race_group *g, const struct race_call *c, const void *source, size_t len) {
    if (g && c->native) read_source(c, source, len);
    if (g) race_group_enter(g, c->native, len);
    if (g && !c->native) read_source(c, source, len);
    race_enter_library();
}

void race_collected(struct race_group *g, const struct race_call *c, int code, void *dest, size_t len, int from) {
    struct race_who who = {0};
    size_t sum;
    race_leave_library();
    if (!g || code) return;
    sum = race_group_leave(g, from);
    if (len == RACE_SUM) len = sum;
    who.epoch = race_now;
    who.clock = race_me->clock;
    if (dest && len && race_is_committed((uintptr_t)dest, len))
        race_local(dest, len, RACE_PLAIN, 1, race_call_place(c->pc, c->name), &who);
}

void race_elements(struct race_group *g, const struct race_call *c, const void *buffer, ptrdiff_t stride, size_t elem,
                   size_t n, int write) {
    struct race_who who = {.epoch = race_now};
    if (!g) return;
    who.clock = race_me->clock;
    for (size_t i = 0; i < n && race_is_committed((uintptr_t)buffer + i * (size_t)stride * elem, elem); i++)
        race_local((const char *)buffer + (ptrdiff_t)i * stride * (ptrdiff_t)elem, elem, RACE_PLAIN, write,
                   race_call_place(c->pc, c->name), &who);
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
