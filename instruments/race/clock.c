/* SPDX-License-Identifier: BSD-3-Clause */
/* Vector clocks. A clock that others read is never changed: race_publish copies it into the ring of its PE. A reader so
 * late that the copy, or the operation's entry, has been overwritten learns the newer content. This is more than was
 * told, so that it may miss a race, but invents none. */
#include "config.h"

#include "instruments/race/clock.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "instruments/race/job.h"
#include "instruments/race/remote.h"
#include "instruments/race/runs.h"
#include "instruments/race/spin.h"

__thread race_epoch race_now;
__thread race_epoch race_same;
__thread struct race_thread *race_me;
__thread int race_inside;
__thread int race_locks_held;
int race_holds_in_library;

static struct race_thread *unused_threads; /* of threads that have ended: their actors keep their counts */
static uint32_t threads_lock;

/* The next number and, if that is not used, its return. Host h of H has every H-th number from the h-th one on. */
static uint32_t take_number(void) {
    uint32_t n;
    if (!race_job.host_of) return __atomic_fetch_add(&race_job.header->n_actors, 1, __ATOMIC_RELAXED);
    n = __atomic_fetch_add(&race_job.header->of_host, 1, __ATOMIC_RELAXED);
    return (uint32_t)RACE_STANDING(race_job.n_pes) + n * (uint32_t)race_job.hosts + (uint32_t)race_job.host;
}
static void return_number(void) {
    __atomic_fetch_sub(race_job.host_of ? &race_job.header->of_host : &race_job.header->n_actors, 1, __ATOMIC_RELAXED);
}

uint32_t race_actor_new(enum race_kind kind, uint32_t of, int in_context) {
    uint32_t n = take_number();
    if (n < race_job.clocks) {
        race_job.actors[n] =
            (struct race_actor){.pe = race_job.my_pe, .kind = kind, .of = of, .in_context = in_context};
        return n;
    }
    return_number();
    return UINT32_MAX;
}

uint32_t race_actor_standing(enum race_kind kind, int from, int to) {
    uint32_t n = (uint32_t)race_job.n_pes;
    return n + (((uint32_t)kind - RACE_PUTS) * n + (uint32_t)from) * n + (uint32_t)to;
}

enum race_kind race_actor_kind(uint32_t actor) {
    uint32_t n = (uint32_t)race_job.n_pes;
    if (actor < n) return RACE_THREAD;
    if (actor < RACE_STANDING(n)) return (enum race_kind)(RACE_PUTS + (actor - n) / (n * n));
    return race_job.actors[actor].kind;
}

int race_actor_pe(uint32_t actor) {
    uint32_t n = (uint32_t)race_job.n_pes;
    if (actor < n) return (int)actor;
    if (actor < RACE_STANDING(n)) return (int)((actor - n) % (n * n) / n);
    return race_job.actors[actor].pe;
}

uint32_t race_actor_thread(uint32_t actor) {
    if (race_actor_kind(actor) == RACE_THREAD) return actor;
    return actor < RACE_STANDING(race_job.n_pes) ? (uint32_t)race_actor_pe(actor) : race_job.actors[actor].of;
}

uint32_t race_actor_thread_number(uint32_t thread) {
    return thread < (uint32_t)race_job.n_pes ? 0 : race_job.actors[thread].of;
}

int race_actor_in_context(uint32_t actor) {
    return actor >= RACE_STANDING(race_job.n_pes) && race_job.actors[actor].in_context;
}

/* How many numbers of a clock are in use. */
static size_t in_use(void) {
    size_t n = __atomic_load_n(&race_job.header->n_actors, __ATOMIC_RELAXED);
    return n < race_job.clocks ? n : race_job.clocks;
}

struct race_thread *race_thread_new(const struct race_thread *parent) {
    static uint32_t number;
    struct race_thread *t;
    race_spin_lock(&threads_lock);
    t = unused_threads;
    if (t) unused_threads = t->next;
    race_spin_unlock(&threads_lock);
    if (parent) race_threads_begin();
    if (!t) {
        t = calloc(1, sizeof *t);
        if (!t) return NULL;
        t->clock = calloc(race_job.clocks, sizeof *t->clock);
        t->actor = parent ? race_actor_new(RACE_THREAD, 0, 0) : (uint32_t)race_job.my_pe;
        if (!t->clock || t->actor == UINT32_MAX) {
            free(t->clock);
            free(t);
            return NULL;
        }
    }
    if (parent) race_job.actors[t->actor].of = __atomic_add_fetch(&number, 1, __ATOMIC_RELAXED);
    memset(t->clock, 0, race_job.clocks * sizeof *t->clock); /* drop what the ended thread knew */
    t->next = NULL;
    if (parent && parent != RACE_NOBODY) race_join(t, parent->clock);
    t->count++;
    t->clock[t->actor] = t->count;
    t->changed = 1;
    return t;
}

void race_thread_adopt(struct race_thread *t) {
    race_me = t;
    race_now = t ? RACE_EPOCH(t->actor, t->count) : 0;
    race_same = t ? race_now | RACE_MASK : 0;
}

void race_thread_free(struct race_thread *t) {
    race_spin_lock(&threads_lock);
    t->next = unused_threads;
    unused_threads = t;
    race_spin_unlock(&threads_lock);
}

void race_join(struct race_thread *t, const uint32_t *clock) {
    RACE_HELD;
    size_t n = in_use();
    race_settle_accesses();
    for (size_t i = 0; i < n; i++) t->clock[i] = t->clock[i] < clock[i] ? clock[i] : t->clock[i];
    t->changed = t->heard = 1;
}

void race_tell_clock(const struct race_thread *t, uint32_t *clock) {
    size_t n = in_use();
    race_settle_accesses();
    for (size_t i = 0; i < n; i++)
        if (clock[i] < t->clock[i]) clock[i] = t->clock[i];
}

uint32_t *race_floor;

int race_has_threads(void) { return __atomic_load_n(&race_job.header->threads, __ATOMIC_RELAXED) != 0; }

void race_threads_begin(void) {
    __atomic_store_n(&race_job.header->threads, 1, __ATOMIC_RELAXED);
    race_floor = NULL; /* stays allocated: another thread may be reading it */
}

void race_raise_floor(const struct race_thread *t) {
    if (race_has_threads()) {
        race_floor = NULL;
        return;
    }
    if (!race_floor && !(race_floor = calloc(race_job.clocks, sizeof *race_floor))) return;
    memcpy(race_floor, t->clock, in_use() * sizeof *race_floor);
    race_floor[t->actor] = t->count - 1; /* the count increased when the thread told */
}

/* The calling thread's accesses get its count. */
static void renew_epoch(void) {
    race_now = RACE_EPOCH(race_me->actor, race_me->count);
    race_same = race_now | RACE_MASK;
}

void race_step(struct race_thread *t) {
    RACE_HELD;
    race_runs_settle();
    race_count(t);
    if (t == race_me) renew_epoch();
}

void race_tick(struct race_thread *t) {
    RACE_HELD;
    race_late_settle();
    race_step(t);
    /* The last version stays valid: a thread that learns from an operation takes the owner's count from the operation's
     * entry. */
}

static uint32_t *version_of(uint32_t pe, uint32_t version) {
    return race_job.versions + ((size_t)pe * race_job.history + version % race_job.history) * race_job.clocks;
}
static uint32_t *tag_of(uint32_t pe, uint32_t version) {
    return race_job.version_tags + (size_t)pe * (race_job.history + 1) + 1 + version % race_job.history;
}
static uint32_t *newest_of(uint32_t pe) { return race_job.version_tags + (size_t)pe * (race_job.history + 1); }

static uint32_t publish(const uint32_t *clock, struct race_fenced fenced) {
    uint32_t pe = (uint32_t)race_job.my_pe, version = __atomic_add_fetch(newest_of(pe), 1, __ATOMIC_RELAXED);
    __atomic_store_n(tag_of(pe, version), 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(
        __ATOMIC_RELEASE); /* with the acquire fence in learn_version: a reader of new numbers sees 0 */
    memcpy(version_of(pe, version), clock, in_use() * sizeof *clock);
    if (fenced.into) fenced.into(version_of(pe, version), fenced.context, fenced.pe);
    __atomic_store_n(tag_of(pe, version), version, __ATOMIC_RELEASE);
    return version;
}

uint32_t race_publish(struct race_thread *t, struct race_fenced fenced) {
    uint32_t version;
    race_settle_accesses();
    if (t == race_me) renew_epoch();
    if (t->version && !t->changed && t->fenced.into == fenced.into && t->fenced.context == fenced.context &&
        t->fenced.pe == fenced.pe)
        return t->version;
    /* Before the copy: a signal handler that publishes meanwhile makes its own copy, and one that learns sets `changed`
     * again. */
    t->version = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->changed = 0;
    t->fenced = fenced;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    version = publish(t->clock, fenced);
    if (!t->version || (int32_t)(version - t->version) > 0) t->version = version; /* a handler's may be newer */
    return version;
}

static struct race_operation *entry_of(uint32_t actor, uint32_t count) {
    return &race_job.operations[(size_t)actor * race_job.history + count % race_job.history];
}

/* Field by field: the caller has just written them one by one, and a copy by wider loads would wait for those stores.
 */
void race_log(uint32_t actor, uint32_t count, const struct race_operation *op) {
    struct race_operation *e = entry_of(actor, count);
    __atomic_store_n(&e->count, 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE); /* with the acquire fence in race_learn */
    __atomic_store_n(&e->thread, op->thread, __ATOMIC_RELAXED);
    __atomic_store_n(&e->at, op->at, __ATOMIC_RELAXED);
    __atomic_store_n(&e->version, op->version, __ATOMIC_RELAXED);
    __atomic_store_n(&e->pe, (uint32_t)race_job.my_pe, __ATOMIC_RELAXED);
    __atomic_store_n(&e->puts, op->puts, __ATOMIC_RELAXED);
    __atomic_store_n(&e->puts_to, op->puts_to, __ATOMIC_RELAXED);
    __atomic_store_n(&e->signalled, op->signalled, __ATOMIC_RELAXED);
    __atomic_store_n(&e->signalled_to, op->signalled_to, __ATOMIC_RELAXED);
    __atomic_store_n(&e->count, count, __ATOMIC_RELEASE);
}

/* How often a reader retries an entry or a version that is being written: LOOKS_WITHOUT_YIELD times at once, then with
 * a yield between, since the writer may have lost its processor if PEs outnumber processors. After LOOKS_MOST retries
 * the reader gives up and learns nothing. This may cause a false report, so the limit is so high that the writer must
 * have died. */
#define LOOKS_WITHOUT_YIELD 100
#define LOOKS_MOST          100000
static void wait_for_writer(int looks) {
    if (looks >= LOOKS_WITHOUT_YIELD) sched_yield();
}

/* Copies an entry while nobody writes it. 0: a later operation has overwritten it, or it told nothing. */
static int read_entry(const struct race_operation *e, uint32_t count, struct race_operation *op) {
    for (int looks = 0; looks < LOOKS_MOST; looks++) {
        uint32_t was = __atomic_load_n(&e->count, __ATOMIC_ACQUIRE);
        if (was && (int32_t)(was - count) < 0) return 0; /* an older entry: this operation has told nothing */
        *op = *e;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (was && __atomic_load_n(&e->count, __ATOMIC_RELAXED) == was) return 1;
        wait_for_writer(looks);
    }
    return 0;
}

/* Learns what a version says or, if it has been overwritten, what the newest version of its PE says, including that
 * PE's own count. Without that count the thread might know that another PE has seen a write of this PE, but not know
 * the write. */
static void learn_version(struct race_thread *t, uint32_t pe, uint32_t version) {
    size_t n = in_use();
    for (int looks = 0; version && looks < LOOKS_MOST; looks++) {
        const uint32_t *clock = version_of(pe, version);
        if (__atomic_load_n(tag_of(pe, version), __ATOMIC_ACQUIRE) == version) {
            uint32_t changed = 0;
            for (size_t i = 0; i < n; i++) {
                uint32_t c = __atomic_load_n(&clock[i], __ATOMIC_RELAXED);
                if (t->clock[i] < c) t->clock[i] = c, changed = 1;
            }
            if (changed) t->changed = t->heard = 1;
            __atomic_thread_fence(__ATOMIC_ACQUIRE);
            if (__atomic_load_n(tag_of(pe, version), __ATOMIC_RELAXED) == version) return;
        }
        version = __atomic_load_n(newest_of(pe), __ATOMIC_ACQUIRE);
        wait_for_writer(looks);
    }
}

void race_learn(struct race_thread *t, uint32_t actor, uint32_t count) {
    RACE_HELD;
    struct race_operation op;
    race_settle_accesses();
    if (race_actor_is_elsewhere(actor)) {
        race_remote_learn(t, actor, count);
        return;
    }
    if (!read_entry(entry_of(actor, count), count, &op)) return;
    if (op.pe >= (uint32_t)race_job.n_pes || op.thread >= race_job.clocks) return;
    if (op.puts < race_job.clocks) race_know(t, op.puts, op.puts_to);
    if (op.signalled < race_job.clocks) race_know(t, op.signalled, op.signalled_to);
    race_know(t, op.thread, op.at);
    learn_version(t, op.pe, op.version);
}
