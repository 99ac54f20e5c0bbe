/* SPDX-License-Identifier: BSD-3-Clause */
/* Each PE of a group has a ring of clocks in the shared memory: in a broadcast the root may be some calls ahead of the
 * readers. A reader that finds its clock overwritten learns the newer one: it may miss a race, but invents none. */
#include "config.h"

#include "instruments/race/group.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "instruments/race/clock.h"
#include "instruments/race/contexts.h"
#include "instruments/race/job.h"
#include "instruments/race/remote.h"
#include "instruments/race/runs.h"
#include "instruments/race/spin.h"

#define RING 4

/* In the shared memory. number: the call to which the clock belongs, 0 while it is being written. */
struct slot {
    uint32_t number, taken; /* taken: 1 while a lock's slot is read or written */
    uint64_t gives;
    uint32_t clock[];
};

struct race_group {
    uint32_t index; /* index of its slots in the shared memory */
    int n, me;
    int *pes;
    uint64_t id, key;
    uint32_t calls;
    uint32_t count; /* the caller's, when it had told what it knows */
    struct race_group *next;
};

static struct race_group *groups;
static uint32_t groups_lock;

struct shared_group {
    uint64_t key;
};

size_t race_lock_bytes(void) { return sizeof(struct slot) + race_job.clocks * sizeof(uint32_t); }

size_t race_group_bytes(void) { return race_lock_bytes() * RING * (size_t)race_job.n_pes; }

static struct slot *slot_of(const struct race_group *g, int member, uint32_t number) {
    char *base = race_job.groups + RACE_GROUPS_MOST * sizeof(struct shared_group) + g->index * race_group_bytes();
    return (struct slot *)(void *)(base + race_lock_bytes() * ((size_t)member * RING + number % RING));
}

/* The number of a key, the same on all PEs; or RACE_GROUPS_MOST. */
static uint32_t number_of(uint64_t key) {
    struct shared_group *table = (struct shared_group *)(void *)race_job.groups;
    for (uint32_t i = 0; i < RACE_GROUPS_MOST; i++) {
        uint32_t k = (uint32_t)(key + i) % RACE_GROUPS_MOST;
        uint64_t seen = 0;
        if (__atomic_compare_exchange_n(&table[k].key, &seen, key, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
            seen == key)
            return k;
    }
    return RACE_GROUPS_MOST;
}

struct race_group *race_group_of(const int *pes, int n) {
    return race_group_named(pes, n, 0);
}

struct race_group *race_group_named(const int *pes, int n, uint64_t id) {
    uint64_t key = 0xcbf29ce484222325u ^ id * 0x9e3779b97f4a7c15u;
    struct race_group *g;
    race_spin_lock(&groups_lock);
    for (g = groups; g; g = g->next)
        if (g->n == n && g->id == id && !memcmp(g->pes, pes, (size_t)n * sizeof *pes)) break;
    if (!g && (g = calloc(1, sizeof *g)) && (g->pes = malloc((size_t)n * sizeof *pes))) {
        for (int i = 0; i < n; i++) {
            key = (key ^ (uint64_t)(pes[i] + 1)) * 0x100000001b3u;
            if (pes[i] == race_job.my_pe) g->me = i;
        }
        memcpy(g->pes, pes, (size_t)n * sizeof *pes);
        g->n = n;
        g->id = id;
        g->key = key | 1;
        g->index = number_of(g->key);
        g->next = groups;
        groups = g;
    }
    race_spin_unlock(&groups_lock);
    return g && g->index < RACE_GROUPS_MOST ? g : NULL;
}

static void tell(struct race_group *g, int native, size_t gives, uint32_t call) {
    RACE_HELD;
    struct slot *s = slot_of(g, g->me, call);
    race_settle_accesses();
    __atomic_store_n(&s->number, 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE); /* with the acquire fence in learn */
    memcpy(s->clock, race_me->clock, race_job.clocks * sizeof(uint32_t));
    if (native) race_all_fences.into(s->clock, NULL, 0);
    s->gives = gives;
    __atomic_store_n(&s->number, call + 1, __ATOMIC_RELEASE);
    race_tick(race_me);
    g->count = race_me->count;
    race_me->heard = 0;
}

static size_t learn(const struct race_group *g, int member, uint32_t call) {
    const struct slot *s = slot_of(g, member, call);
    size_t gives = 0;
    for (int tries = 0; tries < 100000; tries++) {
        const int heard = race_me->heard;
        uint32_t number = __atomic_load_n(&s->number, __ATOMIC_ACQUIRE);
        if (tries > 100) sched_yield();
        if (number && (int32_t)(number - (call + 1)) < 0) return 0; /* that PE told nothing in this call */
        if (!number) continue;
        race_join(race_me, s->clock);
        gives = s->gives;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (__atomic_load_n(&s->number, __ATOMIC_RELAXED) == number) {
            if (number == call + 1) race_me->heard = heard; /* else a later call has taken the slot */
            break;
        }
    }
    return gives;
}

size_t race_group_told(uint64_t key, const uint64_t members[2], uint32_t call) {
    const struct race_group g = {.index = number_of(key)};
    size_t sum = 0;
    for (int i = 0; i < RACE_PES_MOST && g.index < RACE_GROUPS_MOST; i++)
        if (members[i / 64] >> i % 64 & 1) sum += learn(&g, i, call);
    return sum;
}

/* What members first to last - 1 who are on other hosts told: one question to each host. */
static size_t learn_elsewhere(const struct race_group *g, int first, int last, uint32_t call) {
    size_t sum = 0;
    for (int host = 0; host < race_job.hosts; host++) {
        uint64_t members[2] = {0, 0};
        if (host == race_job.host) continue;
        for (int i = first; i < last; i++)
            if (race_job.host_of[g->pes[i]] == host) members[i / 64] |= (uint64_t)1 << i % 64;
        if (members[0] | members[1]) sum += race_remote_group(host, g->key, members, call);
    }
    return sum;
}

static size_t learn_from(struct race_group *g, int from, uint32_t call) {
    const int one = from >= 0 && from < g->n, first = one ? from : 0;
    const int last = one ? from + 1 : from == RACE_BEFORE ? g->me : g->n;
    size_t sum = 0;
    for (int i = first; i < last; i++)
        if (!race_is_elsewhere(g->pes[i])) sum += learn(g, i, call);
    return race_job.host_of ? sum + learn_elsewhere(g, first, last, call) : sum;
}

void race_group_enter(struct race_group *g, int native, size_t gives) {
    if (g && race_me) tell(g, native, gives, g->calls);
}

size_t race_group_leave(struct race_group *g, int from) {
    RACE_HELD;
    size_t sum;
    if (!g || !race_me) return 0;
    sum = learn_from(g, from, g->calls);
    g->calls++;
    /* What a signal handler has told or learnt meanwhile, or a member in a later call, is not what everybody knows. */
    if (from == RACE_ALL && g->n == race_job.n_pes && race_me->count == g->count && !race_me->heard)
        race_raise_floor(race_me);
    return sum;
}

void race_group_skip(struct race_group *g) {
    if (race_me) g->calls++;
}

/* Copies what a member told in a call. 0: it told nothing, or has told something since. */
static int copy_told(const struct slot *s, uint32_t call, uint32_t *clock) {
    if (__atomic_load_n(&s->number, __ATOMIC_ACQUIRE) != call + 1) return 0;
    memcpy(clock, s->clock, race_job.clocks * sizeof *clock);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&s->number, __ATOMIC_RELAXED) == call + 1;
}

/* Of two clocks what both know. */
static void keep_common(uint32_t *clock, const uint32_t *other) {
    for (size_t i = 0; i < race_job.clocks; i++)
        if (other[i] < clock[i]) clock[i] = other[i];
}

/* Room for clock 0 or 1. NULL: there is no memory. */
static uint32_t *room(int which) {
    static __thread uint32_t *clocks;
    if (!clocks) clocks = malloc(2 * race_job.clocks * sizeof *clocks);
    return clocks ? clocks + (size_t)which * race_job.clocks : NULL;
}

static int arrived(const struct race_group *g, const uint64_t members[2], uint32_t call, uint32_t *clock) {
    uint32_t *one = room(0);
    int known = 0;
    for (int i = 0; i < RACE_PES_MOST && one; i++) {
        if (!(members[i / 64] >> i % 64 & 1) || !copy_told(slot_of(g, i, call), call, known ? one : clock)) continue;
        if (known++) keep_common(clock, one);
    }
    return known > 0;
}

int race_group_arrived(uint64_t key, const uint64_t members[2], uint32_t call, uint32_t *clock) {
    const struct race_group g = {.index = number_of(key)};
    return g.index < RACE_GROUPS_MOST && arrived(&g, members, call, clock);
}

int race_group_arrivals(const struct race_group *g, const uint64_t members[2], uint32_t *clock) {
    const uint32_t call = g->calls - 1;
    int known = 0;
    if (!race_job.host_of) return arrived(g, members, call, clock);
    for (int host = 0; host < race_job.hosts; host++) {
        uint64_t there[2] = {0, 0};
        uint32_t *one = known ? room(1) : clock;
        for (int i = 0; i < g->n; i++)
            if (race_job.host_of[g->pes[i]] == host) there[i / 64] |= members[i / 64] & (uint64_t)1 << i % 64;
        if (!(there[0] | there[1]) || !one) continue;
        if (!(host == race_job.host ? arrived(g, there, call, one)
                                    : race_remote_arrived(host, g->key, there, call, one)))
            continue;
        if (known++) keep_common(clock, one);
    }
    return known > 0;
}

uint32_t race_group_start(struct race_group *g) {
    uint32_t call;
    if (!g || !race_me) return 0;
    call = g->calls++;
    tell(g, 0, 0, call);
    return call;
}

void race_group_finish(struct race_group *g, int from, uint32_t call) {
    RACE_HELD;
    if (!g || !race_me) return;
    learn_from(g, from, call);
    race_me->heard = 1; /* of another call than the last one */
}

/* How often the value of a PE that is late is looked for, with a yield between: many seconds. */
#define VALUE_LOOKS 20000000
int race_group_exchange(struct race_group *g, uint64_t gives, uint64_t *values) {
    int all = 1;
    if (!g || !race_me) return 0;
    race_group_enter(g, 0, gives);
    for (int i = 0; i < g->n; i++) {
        const struct slot *s = slot_of(g, i, g->calls);
        uint32_t number = 0;
        for (int looks = 0; looks < VALUE_LOOKS; looks++) {
            number = __atomic_load_n(&s->number, __ATOMIC_ACQUIRE);
            if (number && (int32_t)(number - (g->calls + 1)) >= 0) break;
            if (looks > 100) sched_yield();
        }
        if (number != g->calls + 1)
            all = 0;
        else
            values[i] = learn(g, i, g->calls);
    }
    g->calls++;
    return all;
}

/* Locks: the hash of a lock's offset selects its clock. Two locks with the same hash order more than they should, which
 * may hide a race, but invents none. */
void race_group_lock(uint64_t offset, int tell) {
    size_t number = (offset >> 2) * 0x9e3779b97f4a7c15u >> 48;
    struct slot *s = (struct slot *)(void *)(race_job.lock_clocks + number % RACE_LOCKS_MOST * race_lock_bytes());
    race_settle_accesses(); /* with the clock as it was, and without a lock: recording may report */
    if (race_job.host_of && (int)(number % (size_t)race_job.hosts) != race_job.host) {
        race_remote_lock((int)(number % (size_t)race_job.hosts), offset, tell);
        return;
    }
    race_spin_lock(&s->taken);
    if (tell) {
        race_tell_clock(race_me, s->clock);
        s->number = 1;
    } else if (s->number)
        race_join(race_me, s->clock);
    race_spin_unlock(&s->taken);
}

/* ---- events ---- */

/* In the shared memory. Post number i has the clock i % POSTS; if more are under way, two share one: the wait for the
 * older one then learns of both. */
#define POSTS 8
struct event {
    uint64_t key; /* 0: none */
    uint32_t taken, posts, consumed, unused;
    uint32_t clocks[];
};

size_t race_event_bytes(void) {
    const size_t bytes = sizeof(struct event) + POSTS * race_job.clocks * sizeof(uint32_t);
    return (bytes + 7) & ~(size_t)7;
}

/* The entry of an event, which is made if there is none and `make` is 1. NULL: there is none, or no room. */
static struct event *event_of(uint64_t key, int make) {
    for (uint32_t i = 0; i < RACE_EVENTS_MOST; i++) {
        const size_t k = ((key * 0x9e3779b97f4a7c15u >> 40) + i) % RACE_EVENTS_MOST;
        struct event *e = (struct event *)(void *)(race_job.events + k * race_event_bytes());
        uint64_t seen = __atomic_load_n(&e->key, __ATOMIC_ACQUIRE);
        if (seen == key) return e;
        if (seen) continue;
        if (!make) return NULL;
        if (__atomic_compare_exchange_n(&e->key, &seen, key, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) || seen == key)
            return e;
    }
    return NULL;
}

static uint32_t *clock_of(struct event *e, uint32_t post) { return e->clocks + post % POSTS * race_job.clocks; }

/* Without an entry, an event orders as a lock does. */
void race_group_post(uint64_t event) {
    struct event *e = event_of(event, 1);
    if (!e) {
        race_group_lock(event, 1);
        return;
    }
    race_settle_accesses();
    race_spin_lock(&e->taken);
    if (e->posts - e->consumed < POSTS) memset(clock_of(e, e->posts), 0, race_job.clocks * sizeof(uint32_t));
    race_tell_clock(race_me, clock_of(e, e->posts++));
    race_spin_unlock(&e->taken);
}

void race_group_await(uint64_t event, uint32_t count) {
    struct event *e = event_of(event, 1);
    if (!e) {
        race_group_lock(event, 0);
        return;
    }
    race_settle_accesses();
    race_spin_lock(&e->taken);
    for (; count > 0 && e->consumed != e->posts; count--) race_join(race_me, clock_of(e, e->consumed++));
    race_spin_unlock(&e->taken);
}

void race_group_no_posts(uint64_t event) {
    struct event *e = event_of(event, 0);
    if (!e) return;
    race_spin_lock(&e->taken);
    e->posts = e->consumed = 0;
    race_spin_unlock(&e->taken);
}

int race_group_me(const struct race_group *g) { return g ? g->me : 0; }
int race_group_n(const struct race_group *g) { return g ? g->n : 0; }
const int *race_group_pes(const struct race_group *g) { return g->pes; }
