/* SPDX-License-Identifier: BSD-3-Clause */
/* With RMA_THREAD_MULTIPLE the threads of a PE make any calls at the same time.
 *
 * Broken by a local heap that two threads change at once (blocks overlap), by an error text that all threads share, by
 * a symmetric heap whose growth disturbs another thread's put, and by counts without atomics. One thread of each PE
 * makes collective calls meanwhile; those of one PE come one after the other. */
#include "job.h"

#include <pthread.h>
#include <stdatomic.h>

#define THREADS 4
#define ROOM    2048
#define HELD    8

static unsigned char *room; /* symmetric: ROOM for each thread of each PE */
static uint64_t *counters;  /* symmetric: one that all threads of all PEs add to, on PE 0; and one per thread */
static _Atomic int working;
static long rounds;

struct worker {
    pthread_t thread;
    int number;
    uint64_t random;
    unsigned char model[ROOM];
    unsigned char *held[HELD];
    size_t sizes[HELD];
};

/* This thread's part of one PE's memory. */
static void transfer(struct worker *w, int pe) {
    unsigned char buffer[ROOM], *part = room + ROOM * (size_t)(job.me * THREADS + w->number);
    size_t len = job_length(&w->random, ROOM), at = job_below(&w->random, ROOM - len + 1);
    if (job_below(&w->random, 2)) {
        job_fill(w->model + at, 0, len, w->random);
        OK(rma_put(part + at, w->model + at, len, pe));
    } else {
        OK(rma_get(buffer, part + at, len, pe));
        CHECK(memcmp(buffer, w->model + at, len) == 0, "thread %d: %zu bytes at %zu", w->number, len, at);
    }
}

/* Blocks of the local heap come, are written, looked at later, and go; one in a while is read by way of its global
 * pointer. */
static void local(struct worker *w) {
    size_t k = job_below(&w->random, HELD), size = 1 + job_length(&w->random, w->random % 64 ? 3000 : 100000);
    uint64_t key = (uint64_t)w->number << 8 | k;
    if (w->held[k]) {
        unsigned char last = 0;
        rma_gptr_t g = rma_gptr(w->held[k], job.me);
        CHECK(job_differs(w->held[k], 0, w->sizes[k], key) == w->sizes[k], "thread %d: a block of %zu bytes", w->number,
              w->sizes[k]);
        OK(rma_gptr_get(&last, g + w->sizes[k] - 1, 1));
        CHECK(last == job_byte(key, w->sizes[k] - 1), "thread %d: the last byte by global pointer", w->number);
        OK(rma_free_mem(w->held[k]));
        w->held[k] = NULL;
    } else {
        OK(rma_alloc_mem(size, &w->held[k]));
        w->sizes[k] = size;
        job_fill(w->held[k], 0, size, key);
    }
}

/* Each thread's error is its own. */
static void mistake(struct worker *w) {
    int pe = 1000 + w->number;
    EXPECT("rma_put", rma_put(room, room, 1, pe), RMA_ERR_PE, job_text("PE %d is", pe));
    EXPECT("rma_free_mem", rma_free_mem(&w->random), RMA_ERR_BASE, job_text("%p", (void *)&w->random));
}

static void *work(void *argument) {
    struct worker *w = argument;
    int pe = job_any(w->number);
    for (long i = 0; i < rounds; i++) {
        transfer(w, pe);
        local(w);
        OK(rma_atomic_add(&counters[0], (uint64_t)1, 0));
        CHECK(rma_atomic_fetch_add(&counters[1 + w->number], (uint64_t)1, job.me) == (uint64_t)i,
              "thread %d's own counter", w->number);
        if (i % 16 == 0) mistake(w);
        OK(rma_quiet());
    }
    for (int k = 0; k < HELD; k++) OK(rma_free_mem(w->held[k]));
    atomic_fetch_sub(&working, 1);
    return NULL;
}

/* How many threads still work on any PE decides, on all PEs alike, when to stop. */
static void collective_calls(void) {
    static unsigned char end[64 << 10];
    size_t size = 1000;
    int *left = rma_calloc((size_t)job.n + 1, sizeof *left), all;
    CHECK(left != NULL, "%s", rma_last_error());
    do {
        unsigned char *block = rma_malloc(size);
        CHECK(block != NULL, "%s", rma_last_error());
        job_fill(block, 0, size, (uint64_t)job.me);
        OK(rma_barrier_all());
        CHECK(job_differs(rma_ptr(block, job_next(1)), 0, size, (uint64_t)job_next(1)) == size, "the peer's block");
        if (!job.one_node) { /* the last of it */
            size_t len = size < sizeof end ? size : sizeof end;
            OK(rma_get(end, block + size - len, len, job_any(1)));
            CHECK(job_differs(end, size - len, len, (uint64_t)job_any(1)) == len, "the block of the next PE");
        }
        all = 0;
        for (int pe = 0; pe < job.n; pe++) {
            if (pe == job.me) left[pe] = atomic_load(&working);
            OK(rma_broadcast(RMA_TEAM_WORLD, &left[pe], &left[pe], sizeof left[pe], pe));
            all += left[pe];
        }
        OK(rma_free(block));
        if (size < (size_t)8 << 20) size = size * 3 / 2; /* the heap grows */
        if (job.crowded) job_sleep(200);
    } while (all > 0);
    OK(rma_free(left));
}

int main(void) {
    static struct worker workers[THREADS];
    int provided = -1;
    job_begin();
    OK(rma_init_thread(RMA_THREAD_MULTIPLE, &provided));
    job_look();
    job.crowded |= sysconf(_SC_NPROCESSORS_ONLN) < job.n * (THREADS + 1);
    if (provided < RMA_THREAD_MULTIPLE) job_skip("needs an MPI with MPI_THREAD_MULTIPLE");
    room = rma_calloc((size_t)(job.n * THREADS), ROOM);
    counters = rma_calloc(1 + THREADS, sizeof *counters);
    CHECK(room && counters, "%s", rma_last_error());
    rounds = job_far_rounds(4000, 6000 / (job.n + 2), 250);

    DOING("threads and collective calls");
    atomic_store(&working, THREADS);
    for (int t = 0; t < THREADS; t++) {
        workers[t].number = t;
        workers[t].random = job_stream((uint64_t)(job.me * THREADS + t));
        CHECK(pthread_create(&workers[t].thread, NULL, work, &workers[t]) == 0, "no thread");
    }
    collective_calls();
    for (int t = 0; t < THREADS; t++) pthread_join(workers[t].thread, NULL);
    OK(rma_barrier_all());
    if (job.me == 0)
        CHECK(counters[0] == (uint64_t)(rounds * THREADS * job.n), "counted %llu", (unsigned long long)counters[0]);
    for (int t = 0; t < THREADS; t++) {
        unsigned char buffer[ROOM];
        OK(rma_get(buffer, room + ROOM * (size_t)(job.me * THREADS + t), ROOM, job_any(t)));
        CHECK(memcmp(buffer, workers[t].model, ROOM) == 0, "thread %d's part of PE %d", t, job_any(t));
    }
    OK(rma_free(counters));
    OK(rma_free(room));
    return job_end();
}
