/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads with a context each, and threads that share one, put, get, count and signal to all PEs at once; each thread's
 * quiet completes its own operations, whatever the other threads do, and nothing is lost, doubled or early.
 *
 * Broken by a quiet that removes entries from a list while another thread adds some, by a word about pending puts that
 * two threads write, by a message that two threads send, by a table that is searched while it changes, and by a window
 * that is used while it is recreated: meanwhile one thread creates and destroys contexts, and the main thread lets the
 * symmetric heap grow, and creates and destroys teams. On 5 PEs puts and gets go through the window
 * (RMA_WINDOW=always).
 *
 * A thread knows what it has put where. It checks this by a get in a context that no other thread uses, its witness. */
#include "job.h"

#include <pthread.h>
#include <stdatomic.h>

#define WORKERS      4
#define CREATOR      WORKERS /* number of the thread that makes and ends contexts */
#define SLOTS        4
#define ROOM         36000 /* bytes of a slot: puts of this length go straight into place */
#define OLDS         64
#define MOST_AT_ONCE 12

enum kind { PRIVATE, SERIALIZED, SHARED };

/* A piece of one PE's memory that one thread of one PE puts into. */
struct slot {
    enum { EMPTY, PUT, GOTTEN, KNOWN } state; /* PUT, GOTTEN: under way */
    size_t len;
    uint64_t key;
    unsigned char *source, *dest;
};

struct worker {
    pthread_t thread;
    int number;
    enum kind kind;
    rma_ctx *ctx, *witness;
    uint64_t random;
    struct slot slot[JOB_PES_MAX][SLOTS];
    uint64_t added[JOB_PES_MAX], signalled[JOB_PES_MAX]; /* to each PE's word */
    uint64_t old[OLDS];
    unsigned n_old;
};

static unsigned char *room;          /* symmetric: SLOTS for each worker, and the creator, of each PE */
static uint64_t *counters, *signals; /* symmetric: one for each of these on each PE; all PEs add to it */
static uint64_t *owns;               /* symmetric: one for each of them and PE: nobody else adds to it */
static struct worker workers[WORKERS + 1];
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER; /* whose it is to use the serialized context */
static _Atomic(rma_ctx *) lent;                          /* the serialized one, or NULL */
static _Atomic int working;
static rma_team *back; /* all PEs, backwards */
static long rounds;

static unsigned char *place(const struct worker *w, int k) {
    return room + ((size_t)(job.me * (WORKERS + 1) + w->number) * SLOTS + (size_t)k) * ROOM;
}
static uint64_t *own(const struct worker *w) { return &owns[job.me * (WORKERS + 1) + w->number]; }

/* The number that the worker's contexts have for a PE of the world: theirs is backwards, or not. */
static int named(const struct worker *w, int pe) { return w->kind == PRIVATE ? pe : job.n - 1 - pe; }

/* ---- what is known ---- */

static void is_here(const struct worker *w, const struct slot *s, int pe, const char *what) {
    size_t wrong = job_differs(s->dest, 0, s->len, s->key);
    CHECK(wrong == s->len, "thread %d, %s PE %d: byte %zu of %zu", w->number, what, pe, wrong, s->len);
}

static void settle(struct worker *w, int pe) {
    for (int k = 0; k < SLOTS; k++) {
        struct slot *s = &w->slot[pe][k];
        if (s->state == GOTTEN) is_here(w, s, pe, "after its quiet a get is not complete from");
        if (s->state == PUT) memset(s->source, 0xee, s->len); /* it is the caller's again */
        if (s->state != EMPTY) s->state = KNOWN;
    }
}

static void settle_all(struct worker *w) {
    for (int pe = 0; pe < job.n; pe++) settle(w, pe);
    for (unsigned k = 0; k < w->n_old; k++)
        CHECK(w->old[k] != UINT64_MAX, "thread %d: after its quiet %u of %u old values has not come", w->number, k,
              w->n_old);
    w->n_old = 0;
}

static void quiet(struct worker *w) {
    OK(job_below(&w->random, 3) ? rma_ctx_quiet(w->ctx) : rma_ctx_fence(w->ctx));
    settle_all(w);
}

static void quiet_some(struct worker *w) {
    int pes[2], n = 1 + (int)job_below(&w->random, 2);
    for (int k = 0; k < n; k++) pes[k] = (int)job_below(&w->random, (size_t)job.n);
    int names[2] = {named(w, pes[0]), n > 1 ? named(w, pes[1]) : 0};
    OK(job_below(&w->random, 2) ? rma_ctx_pe_quiet(w->ctx, names, (size_t)n)
                                : rma_ctx_pe_fence(w->ctx, names, (size_t)n));
    for (int k = 0; k < n; k++) settle(w, pes[k]);
}

static void look(struct worker *w, int pe, int k) {
    struct slot *s = &w->slot[pe][k];
    if (s->state != KNOWN) return;
    OK(rma_ctx_get(w->witness, s->dest, place(w, k), s->len, named(w, pe)));
    is_here(w, s, pe, "a put that is complete is not there, on");
}

/* ---- what a worker does ---- */

static struct slot *any_slot(struct worker *w, int pe, int *k) {
    *k = (int)job_below(&w->random, SLOTS);
    return &w->slot[pe][*k];
}

static void put(struct worker *w, int pe, bool nbi) {
    int k;
    struct slot *s = any_slot(w, pe, &k);
    if (s->state == PUT || s->state == GOTTEN) quiet(w);
    s->len = 1 + job_length(&w->random, ROOM - 1);
    s->key = job_random(&w->random);
    job_fill(s->source, 0, s->len, s->key);
    OK(nbi ? rma_ctx_put_nbi(w->ctx, place(w, k), s->source, s->len, named(w, pe))
           : rma_ctx_put(w->ctx, place(w, k), s->source, s->len, named(w, pe)));
    s->state = PUT;
}

static void get(struct worker *w, int pe, bool nbi) {
    int k;
    struct slot *s = any_slot(w, pe, &k);
    if (s->state != KNOWN) return;
    memset(s->dest, 0x33, s->len);
    OK(nbi ? rma_ctx_get_nbi(w->ctx, s->dest, place(w, k), s->len, named(w, pe))
           : rma_ctx_get(w->ctx, s->dest, place(w, k), s->len, named(w, pe)));
    if (nbi)
        s->state = GOTTEN;
    else
        is_here(w, s, pe, "by a get from");
}

static void count(struct worker *w, int pe) {
    uint64_t *word = &counters[w->number], n = job_random(&w->random) >> 40;
    int i = named(w, pe);
    w->added[pe] += n;
    switch (job_below(&w->random, 4)) {
        case 0: OK(rma_ctx_atomic_add(w->ctx, word, n, i)); break;
        case 1: (void)rma_ctx_atomic_fetch_add(w->ctx, word, n, i); break;
        default:
            if (w->n_old == OLDS) quiet(w);
            w->old[w->n_old] = UINT64_MAX;
            OK(rma_ctx_atomic_fetch_add_nbi(w->ctx, &w->old[w->n_old++], word, n, i));
    }
}

static void signal_to(struct worker *w, int pe) {
    int k, i = named(w, pe), nbi = (int)job_below(&w->random, 2);
    struct slot *s = any_slot(w, pe, &k);
    uint64_t *word = &signals[w->number];
    if (s->state == PUT || s->state == GOTTEN) quiet(w);
    s->len = 1 + job_length(&w->random, ROOM - 1);
    s->key = job_random(&w->random);
    job_fill(s->source, 0, s->len, s->key);
    if (nbi)
        OK(rma_ctx_put_signal_nbi(w->ctx, place(w, k), s->source, s->len, word, s->len, RMA_SIGNAL_ADD, i));
    else
        OK(rma_ctx_put_signal(w->ctx, place(w, k), s->source, s->len, word, s->len, RMA_SIGNAL_ADD, i));
    w->signalled[pe] += s->len;
    s->state = PUT;
}

/* What this thread has put to one PE is seen by whoever has seen what it then adds to a word of another one; here the
 * witness. */
static void release(struct worker *w, int pe) {
    int other = (int)job_below(&w->random, (size_t)job.n), turns = 1 + (int)job_below(&w->random, 3);
    uint64_t before;
    quiet(w);
    before = rma_ctx_atomic_fetch(w->witness, own(w), named(w, other));
    while (turns-- > 0) put(w, pe, job_below(&w->random, 4));
    OK(rma_ctx_atomic_inc(w->ctx, own(w), named(w, other)));
    while (rma_ctx_atomic_fetch(w->witness, own(w), named(w, other)) == before) job_pause();
    for (int k = 0; k < SLOTS; k++) {
        struct slot *s = &w->slot[pe][k];
        if (s->state != PUT) continue;
        OK(rma_ctx_get(w->witness, s->dest, place(w, k), s->len, named(w, pe)));
        is_here(w, s, pe, "what it added to another PE's word is seen, but not what it had put before, to");
    }
}

/* Nobody else adds to this word. */
static void own_word(struct worker *w, int pe) {
    uint64_t before, after;
    int i = named(w, pe);
    quiet(w);
    before = rma_ctx_atomic_fetch_add(w->ctx, own(w), (uint64_t)3, i);
    after = rma_ctx_atomic_fetch(w->witness, own(w), i);
    CHECK(after == before + 3, "thread %d: its word on PE %d was %llu, and is %llu", w->number, pe,
          (unsigned long long)before, (unsigned long long)after);
}

static void one_round(struct worker *w) {
    int pe = (int)job_below(&w->random, (size_t)job.n);
    switch (job_below(&w->random, 26)) {
        case 0:
        case 1:
        case 2:
        case 3:
        case 4: put(w, pe, true); break;
        case 5: put(w, pe, false); break;
        case 6:
        case 7:
        case 8: get(w, pe, true); break;
        case 9: get(w, pe, false); break;
        case 10:
        case 11:
        case 12:
        case 13: count(w, pe); break;
        case 14:
        case 15: signal_to(w, pe); break;
        case 16:
        case 17: quiet(w); break;
        case 18: quiet_some(w); break;
        case 19:
        case 20: look(w, pe, (int)job_below(&w->random, SLOTS)); break;
        case 21: release(w, pe); break;
        case 22: own_word(w, pe); break;
        case 23: OK(rma_ctx_session_start(w->ctx, RMA_CTX_SESSION_BATCH)); break;
        case 24: OK(rma_ctx_session_stop(w->ctx)); break;
        default: {
            int none = 1000 + w->number;
            EXPECT("rma_ctx_put", rma_ctx_put(w->ctx, room, room, 1, none), RMA_ERR_PE, job_text("PE %d is", none));
        }
    }
}

static void end(struct worker *w) {
    quiet(w);
    for (int pe = 0; pe < job.n; pe++)
        for (int k = 0; k < SLOTS; k++) look(w, pe, k);
}

static rma_ctx *make(enum kind kind) {
    rma_ctx *ctx;
    OK(rma_team_create_ctx(kind == PRIVATE ? RMA_TEAM_WORLD : back,
                           kind == PRIVATE      ? RMA_CTX_PRIVATE
                           : kind == SERIALIZED ? RMA_CTX_SERIALIZED
                                                : 0,
                           &ctx));
    return ctx;
}

static void *work(void *argument) {
    struct worker *w = argument;
    w->witness = make(w->kind == PRIVATE ? PRIVATE : SERIALIZED);
    if (w->kind == PRIVATE) w->ctx = make(PRIVATE);
    for (long i = 0; i < rounds; i++) {
        if (w->kind == SERIALIZED) pthread_mutex_lock(&turn);
        one_round(w);
        if (w->kind == SERIALIZED) pthread_mutex_unlock(&turn);
    }
    if (w->kind == SERIALIZED) atomic_store(&lent, NULL);
    if (w->kind == SERIALIZED) pthread_mutex_lock(&turn);
    end(w);
    if (w->kind == SERIALIZED) pthread_mutex_unlock(&turn);
    if (w->kind == PRIVATE) OK(rma_ctx_destroy(w->ctx));
    OK(rma_ctx_destroy(w->witness));
    atomic_fetch_sub(&working, 1);
    return NULL;
}

/* ---- meanwhile: contexts come and go ---- */

/* One that is used a little, and ends with something pending; then its handle is nobody's. */
static void come_and_go(struct worker *w) {
    rma_ctx *ctx[MOST_AT_ONCE], *none, *shared;
    int n = 1 + (int)job_below(&w->random, MOST_AT_ONCE);
    w->kind = job_below(&w->random, 2) ? PRIVATE : SHARED;
    for (int k = 0; k < n; k++) ctx[k] = make(w->kind);
    w->witness = make(w->kind);
    for (int k = 0; k < n; k++) {
        w->ctx = ctx[k];
        for (int steps = (int)job_below(&w->random, 4); steps > 0; steps--) {
            int pe = (int)job_below(&w->random, (size_t)job.n);
            put(w, pe, true);
            count(w, pe);
            if (job_below(&w->random, 2)) get(w, pe, true);
        }
        OK(rma_ctx_destroy(ctx[k]));
        w->ctx = w->witness;
        settle_all(w);
        none = ctx[k];
        EXPECT("rma_ctx_put", rma_ctx_put(none, room, room, 1, 0), RMA_ERR_ARG, job_text("%p", (void *)none));
        EXPECT("rma_ctx_quiet", rma_ctx_quiet(none), RMA_ERR_ARG, job_text("%p", (void *)none));
    }
    look(w, (int)job_below(&w->random, (size_t)job.n), (int)job_below(&w->random, SLOTS));
    OK(rma_ctx_destroy(w->witness));
    /* Now and then it is this thread's turn. */
    pthread_mutex_lock(&turn);
    shared = atomic_load(&lent);
    if (shared) {
        uint64_t n_added = job_random(&w->random) >> 40;
        int pe = (int)job_below(&w->random, (size_t)job.n);
        w->added[pe] += n_added;
        OK(rma_ctx_atomic_add(shared, &counters[CREATOR], n_added, job.n - 1 - pe));
        OK(rma_ctx_quiet(shared));
    }
    pthread_mutex_unlock(&turn);
}

static void *create(void *argument) {
    struct worker *w = argument;
    while (atomic_load(&working) > 0) {
        come_and_go(w);
        if (job.crowded) job_sleep(1000);
    }
    return NULL;
}

/* ---- meanwhile: collective calls ---- */

/* How many threads still work on any PE decides, on all PEs alike, when to stop. */
static bool anybody_works(int *left) {
    int all = 0;
    for (int pe = 0; pe < job.n; pe++) {
        if (pe == job.me) left[pe] = atomic_load(&working);
        OK(rma_broadcast(RMA_TEAM_WORLD, &left[pe], &left[pe], sizeof left[pe], pe));
        all += left[pe];
    }
    return all > 0;
}

static void collective_calls(void) {
    static size_t size = 100000;
    size_t most = job_room() / 4 < (size_t)48 << 20 ? job_room() / 4 : (size_t)48 << 20;
    int *left = rma_calloc((size_t)job.n, sizeof *left);
    unsigned char *block, end[64];
    CHECK(left != NULL, "%s", rma_last_error());
    for (long i = 0; anybody_works(left); i++) {
        rma_team *team;
        rma_ctx *ctx;
        block = rma_malloc(size);
        CHECK(block != NULL, "%s", rma_last_error());
        OK(rma_team_split_strided(RMA_TEAM_WORLD, job.n - 1, -1, job.n, &team));
        OK(rma_team_create_ctx(team, 0, &ctx));
        job_fill(end, 0, sizeof end, (uint64_t)i * 64 + (uint64_t)job.me);
        OK(rma_ctx_put_nbi(ctx, block + size - sizeof end, end, sizeof end, job.n - 1 - job_any(1)));
        OK(rma_team_destroy(team));
        OK(rma_barrier_all());
        CHECK(job_differs(block + size - sizeof end, 0, sizeof end, (uint64_t)i * 64 + (uint64_t)job_any(-1)) ==
                  sizeof end,
              "what was put in a team that has ended, %ld", i);
        OK(rma_free(block));
        if (size < most) size = size * 4 / 3; /* the heap grows, and MPI's window is made anew */
        if (job.crowded) job_sleep(500);
    }
    OK(rma_free(left));
}

/* ---- all together ---- */

static void totals(const char *what, const uint64_t *words, size_t at) {
    uint64_t *sums = rma_calloc(WORKERS + 1, sizeof *sums);
    CHECK(sums != NULL, "%s", rma_last_error());
    for (int t = 0; t <= WORKERS; t++)
        for (int pe = 0; pe < job.n; pe++)
            OK(rma_atomic_add(&sums[t], ((uint64_t *)(void *)((char *)&workers[t] + at))[pe], pe));
    OK(rma_barrier_all());
    for (int t = 0; t <= WORKERS; t++) {
        uint64_t n = rma_atomic_fetch(&words[t], job.me), want = rma_atomic_fetch(&sums[t], job.me);
        CHECK(n == want, "%s of thread %d: %llu, not %llu", what, t, (unsigned long long)n, (unsigned long long)want);
    }
    OK(rma_free(sums));
}

static void phase(const enum kind *kinds, int n) {
    struct worker *creator = &workers[CREATOR];
    rma_ctx *serialized = make(SERIALIZED), *shared = make(SHARED);
    atomic_store(&working, n);
    atomic_store(&lent, NULL);
    for (int t = 0; t < n; t++) {
        workers[t].kind = kinds[t];
        workers[t].ctx = kinds[t] == SERIALIZED ? serialized : shared;
        if (kinds[t] == SERIALIZED) atomic_store(&lent, serialized);
    }
    for (int t = 0; t < n; t++) CHECK(pthread_create(&workers[t].thread, NULL, work, &workers[t]) == 0, "no thread");
    CHECK(pthread_create(&creator->thread, NULL, create, creator) == 0, "no thread");
    collective_calls();
    for (int t = 0; t < n; t++) pthread_join(workers[t].thread, NULL);
    pthread_join(creator->thread, NULL);
    OK(rma_ctx_destroy(serialized));
    OK(rma_ctx_destroy(shared));
    OK(rma_barrier_all());
    totals("the count", counters, offsetof(struct worker, added));
    totals("the sum of signals", signals, offsetof(struct worker, signalled));
}

static const char *setting(const char *name) { return getenv(name) ? getenv(name) : ""; }

int main(void) {
    static const enum kind two[] = {SHARED, SHARED}, apart[] = {PRIVATE, SERIALIZED},
                           four[] = {PRIVATE, SERIALIZED, SHARED, SHARED};
    bool polls;
    int provided = -1;
    if (atoi(setting("PMI_SIZE")) == 5) setenv("RMA_WINDOW", "always", 0);
    job_begin();
    OK(rma_init_thread(RMA_THREAD_MULTIPLE, &provided));
    job_look();
    job.crowded |= sysconf(_SC_NPROCESSORS_ONLN) < job.n * (WORKERS + 2);
    if (provided < RMA_THREAD_MULTIPLE) job_skip("needs an MPI with MPI_THREAD_MULTIPLE");
    room = rma_calloc((size_t)(job.n * (WORKERS + 1)) * SLOTS, ROOM);
    counters = rma_calloc(WORKERS + 1, sizeof *counters);
    signals = rma_calloc(WORKERS + 1, sizeof *signals);
    owns = rma_calloc((size_t)(job.n * (WORKERS + 1)), sizeof *owns);
    CHECK(room && counters && signals && owns, "%s", rma_last_error());
    OK(rma_team_split_strided(RMA_TEAM_WORLD, job.n - 1, -1, job.n, &back));
    for (int t = 0; t <= WORKERS; t++) {
        workers[t].number = t;
        workers[t].random = job_stream((uint64_t)(job.me * (WORKERS + 1) + t));
        for (int pe = 0; pe < job.n; pe++)
            for (int k = 0; k < SLOTS; k++) {
                struct slot *s = &workers[t].slot[pe][k];
                s->source = malloc(ROOM);
                s->dest = malloc(ROOM);
                CHECK(s->source && s->dest, "no memory");
            }
    }
    /* To wait for what goes through the window is to poll, by each thread, for a processor's time slices. */
    polls = strcmp(setting("RMA_WINDOW"), "always") == 0 && !job.one_node;
    rounds = polls && job.n > 2 ? 40 : job_far_rounds(20000, 12000, 2000);
    DOING("two threads with a context each");
    phase(apart, 2);
    DOING("two threads with one context");
    phase(two, 2);
    DOING("four threads");
    phase(four, 4);

    DOING("giving back");
    for (int t = 0; t <= WORKERS; t++)
        for (int pe = 0; pe < job.n; pe++)
            for (int k = 0; k < SLOTS; k++) {
                free(workers[t].slot[pe][k].source);
                free(workers[t].slot[pe][k].dest);
            }
    OK(rma_free(owns));
    OK(rma_free(signals));
    OK(rma_free(counters));
    OK(rma_free(room));
    return job_end();
}
