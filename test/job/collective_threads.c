/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of one PE, each with its own team, are in collectives at the same time, in any order on each PE, and each
 * gets its own team's data; meanwhile other threads put, update and wait.
 *
 * Broken by a buffer, a call's number or a state of the engine that two threads share, by a lock that is held during a
 * wait for another PE (two PEs then wait for each other, each in another team), and by a reply that goes to the wrong
 * thread. */
#include "job.h"

#include <pthread.h>
#include <stdatomic.h>

#define WORKERS 4
#define TEAMS   2 /* of each worker */
#define MOST    ((size_t)64 << 10)

struct worker {
    pthread_t thread;
    int number;
    struct job_group group[TEAMS];
    unsigned char *dest, *source, *private;
};

static struct worker workers[WORKERS];
static uint64_t *counter; /* symmetric */
static _Atomic int working;
static long rounds;

static uint64_t key_of(const struct worker *w, long i, int pe) {
    return job_mix((uint64_t)i << 16 | (uint64_t)w->number << 8 | (uint64_t)pe);
}

#define IS(got, want)                                                                                                  \
    CHECK((got) == (want), "thread %d, round %ld: call %d of %zu bytes on a team of %d, root %d: %llx, not %llx",      \
          w->number, i, kind, len, g->n, root, (unsigned long long)(got), (unsigned long long)(want))

/* One call, drawn alike by this thread of all PEs. */
static void one_round(struct worker *w, long i, uint64_t *random, uint64_t *own) {
    int kind = (int)job_below(random, 9), root;
    const struct job_group *g = &w->group[job_below(random, TEAMS)];
    size_t len = job_length(random, MOST) & ~(size_t)7, n = (size_t)g->n, count;
    root = (int)job_below(random, n);
    if (job_below(random, 3)) len &= 127;
    if (kind == 7) len = 8;
    if (g->me < 0) return;
    if (job_below(own, 200) == 0) job_sleep((long)job_below(own, 1000));
    if (kind >= 2 && kind <= 4) len = len / n & ~(size_t)7;
    count = len / 8;
    unsigned char *from = job_below(own, 2) ? w->source : w->private, *to = w->dest;
    uint64_t mine = key_of(w, i, job.me), sum = 0, before = 0, *in = (uint64_t *)(void *)from,
             *out = (uint64_t *)(void *)to;
    for (size_t k = 0; k < n; k++) {
        sum += key_of(w, i, g->pes[k]);
        if ((int)k < g->me) before += key_of(w, i, g->pes[k]);
    }
    if (kind >= 5 && kind <= 7)
        for (size_t k = 0; k < count; k++) in[k] = mine * (k + 1);
    else
        job_fill(from, 0, kind == 4 ? n * len : len, mine);
    switch (kind) {
        case 0:
        case 1:
            OK(rma_broadcast(g->team, to, from, len, root));
            memset(from, 0x22, len);
            IS(job_differs(to, 0, len, key_of(w, i, g->pes[root])), len);
            break;
        case 2:
        case 3:
            OK(kind == 2 ? rma_fcollect(g->team, to, from, len) : rma_collect(g->team, to, from, len));
            memset(from, 0x22, len);
            for (size_t k = 0; k < n; k++) IS(job_differs(to + k * len, 0, len, key_of(w, i, g->pes[k])), len);
            break;
        case 4:
            OK(rma_alltoall(g->team, to, from, len));
            memset(from, 0x22, n * len);
            for (size_t k = 0; k < n; k++)
                IS(job_differs(to + k * len, (size_t)g->me * len, len, key_of(w, i, g->pes[k])), len);
            break;
        case 5:
        case 6:
            OK(rma_sum_reduce(g->team, out, in, count));
            memset(from, 0x22, len);
            for (size_t k = 0; k < count; k++) IS(out[k], sum * (k + 1));
            break;
        case 7:
            OK(i % 2 ? rma_sum_inscan(g->team, out, in, 1) : rma_sum_exscan(g->team, out, in, 1));
            memset(from, 0x22, len);
            IS(out[0], before + (i % 2 ? mine : 0));
            break;
        default: OK(i % 4 ? rma_team_sync(g->team) : rma_team_barrier(g->team));
    }
}

static void *work(void *arg) {
    struct worker *w = arg;
    uint64_t random = job_stream((uint64_t)w->number),
             own = job_stream(1000 + (uint64_t)(job.me * WORKERS + w->number));
    for (long i = 1; i <= rounds; i++) one_round(w, i, &random, &own);
    atomic_fetch_sub(&working, 1);
    return NULL;
}

/* What is not collective goes on meanwhile: this PE counts on all others. Returns how much. */
static uint64_t count_up(void) {
    uint64_t n = 0;
    while (atomic_load(&working) > 0) {
        for (int pe = 0; pe < job.n; pe++) OK(rma_atomic_inc(counter, pe));
        OK(rma_quiet());
        n++;
        job_sleep(200);
    }
    return n;
}

/* The workers from `first` on, 0 or 1, are at work; this thread is worker 0, or counts. */
static void phase(int first) {
    uint64_t n = 0, sum;
    atomic_store(&working, WORKERS - first);
    for (int t = 1; t < WORKERS; t++)
        CHECK(pthread_create(&workers[t].thread, NULL, work, &workers[t]) == 0, "no thread");
    if (first)
        n = count_up();
    else
        work(&workers[0]);
    for (int t = 1; t < WORKERS; t++) pthread_join(workers[t].thread, NULL);
    OK(rma_barrier_all());
    OK(rma_sum_reduce(RMA_TEAM_WORLD, &sum, &n, 1));
    CHECK(rma_atomic_fetch(counter, job.me) == sum, "%llu counted, not %llu",
          (unsigned long long)rma_atomic_fetch(counter, job.me), (unsigned long long)sum);
    OK(rma_barrier_all());
    rma_atomic_set(counter, 0, job.me);
    OK(rma_quiet());
    OK(rma_barrier_all());
}

int main(void) {
    struct job_group world;
    int provided = -1, n;
    job_begin();
    OK(rma_init_thread(RMA_THREAD_MULTIPLE, &provided));
    job_look();
    n = job.n;
    job.crowded |= sysconf(_SC_NPROCESSORS_ONLN) < n * WORKERS;
    if (provided < RMA_THREAD_MULTIPLE) job_skip("needs an MPI with MPI_THREAD_MULTIPLE");
    counter = rma_calloc(1, sizeof *counter);
    CHECK(counter != NULL, "%s", rma_last_error());
    world = job_world();
    for (int t = 0; t < WORKERS; t++) {
        struct worker *w = &workers[t];
        w->number = t;
        /* Those of different threads overlap in one PE, some, or all. Thread 0 has the world. */
        w->group[0] = job_strided(&world, NULL, t % 2 ? n - 1 : 0, t % 2 ? -1 : 1, n);
        w->group[1] = t < 2 ? job_strided(&world, NULL, t && n > 1, 2, t && n > 1 ? n / 2 : (n + 1) / 2)
                            : job_strided(&world, NULL, t == 3 && n > 1, 1, n > 1 ? n - 1 : 1);
        if (t == 0) {
            OK(rma_team_destroy(w->group[0].team));
            w->group[0].team = RMA_TEAM_WORLD;
        }
        w->dest = rma_malloc(MOST);
        w->source = rma_malloc(MOST);
        w->private = malloc(MOST);
        CHECK(w->dest && w->source && w->private, "%s", rma_last_error());
    }
    rounds = job_far_rounds(6000, 1500, 100);
    DOING("four threads, of which one is the main one");
    phase(0);
    DOING("three threads beside one that counts");
    phase(1);
    DOING("giving back");
    for (int t = 0; t < WORKERS; t++) {
        for (int k = t == 0; k < TEAMS; k++) OK(rma_team_destroy(workers[t].group[k].team));
        OK(rma_free(workers[t].source));
        OK(rma_free(workers[t].dest));
        free(workers[t].private);
    }
    OK(rma_free(counter));
    return job_end();
}
