/* SPDX-License-Identifier: BSD-3-Clause */
/* A local heap grows far beyond its first size while every other PE is asleep, and they reach all of it when they wake.
 *
 * Broken by growth that needs a call of the PEs that will use the memory, by an extent that they do not see, and by
 * pages that a peer cannot touch. The sleepers are in nanosleep(2), not in a call of the library. */
#include "job.h"

#define KIB    ((size_t)1 << 10)
#define BLOCKS 96

struct block {
    rma_gptr_t g;
    uint64_t size;
};

static struct news {
    struct block block[BLOCKS];
    long n, awake;
} * news; /* symmetric */

/* Of 1 KiB up to 1 MiB and back, and again, until all is used. */
static void grow(size_t all) {
    struct rma_heap_stats before, after;
    size_t sum = 0;
    long n = 0;
    OK(rma_heap_stats(RMA_HEAP_LOCAL, &before));
    while (sum < all) {
        struct block *b = &news->block[n];
        char *base;
        CHECK(n < BLOCKS, "%ld blocks hold %zu bytes", n, sum);
        b->size = (KIB << (n % 22 < 11 ? n % 22 : 21 - n % 22)) + (size_t)n;
        if (b->size > all - sum) b->size = all - sum;
        OK(rma_alloc_mem(b->size, &base));
        b->g = rma_gptr(base, job.me);
        job_fill(base, 0, b->size, b->g);
        sum += b->size;
        n++;
    }
    OK(rma_heap_stats(RMA_HEAP_LOCAL, &after));
    CHECK(before.size == 0 && after.size >= all && after.n_growths > 4, "from %zu to %zu bytes in %zu steps",
          before.size, after.size, after.n_growths);
    news->n = n;
    for (int pe = 0; pe < job.n; pe++) /* to each its own copy; the flag last */
        if (pe != job.me) {
            OK(rma_put(news->block, news->block, sizeof news->block, pe));
            OK(rma_put(&news->n, &news->n, sizeof news->n, pe));
            OK(rma_atomic_set(&news->awake, 1L, pe));
        }
}

/* What PE `from` writes into block k, in the part that is its own. */
static uint64_t key_of(int from, long k) { return (uint64_t)from << 32 | (uint64_t)k; }
static size_t part(const struct block *b) { return b->size / (size_t)job.n; }

static void read_and_write(int owner) {
    char *buffer = malloc(1100 * KIB);
    CHECK(buffer != NULL, "no memory");
    for (long k = 0; k < news->n; k++) {
        const struct block *b = &news->block[k];
        char *there = rma_gptr_ptr(b->g);
        if (rma_on_node(owner))
            CHECK(there && rma_gptr_ptr(b->g + b->size - 1) == there + b->size - 1,
                  "block %ld of %llu bytes cannot be reached", k, (unsigned long long)b->size);
        else
            CHECK(!there, "block %ld of another node is at %p", k, (void *)there);
        CHECK(rma_gptr_pe(b->g) == owner, "PE %d", rma_gptr_pe(b->g));
        OK(rma_gptr_get(buffer, b->g, b->size));
        /* The part of whoever is ahead may have been written already. */
        for (int pe = 0; pe < job.n; pe++) {
            size_t from = part(b) * (size_t)pe, bad = job_differs(buffer + from, from, part(b), b->g);
            if (bad < part(b)) bad = pe == job.me ? bad : job_differs(buffer + from, 0, part(b), key_of(pe, k));
            CHECK(bad == part(b) || pe != job.me, "block %ld of %llu bytes: byte %zu", k, (unsigned long long)b->size,
                  from + bad);
        }
        job_fill(buffer, 0, part(b), key_of(job.me, k));
        OK(rma_gptr_put(b->g + part(b) * (size_t)job.me, buffer, part(b)));
        OK(rma_quiet());
    }
    free(buffer);
}

int main(void) {
    size_t all = (size_t)12 << 20;
    int grower;
    unsetenv("RMA_LOCAL_MAX");
    unsetenv("RMA_HEAP_CHECK");
    job_start();
    if (job.slow) all /= 4;
    news = rma_calloc(1, sizeof *news);
    CHECK(news != NULL, "%s", rma_last_error());
    OK(rma_barrier_all());

    grower = job.n - 1;
    if (job.me == grower) {
        DOING("growing");
        grow(all);
    } else {
        DOING("sleeping");
        while (!__atomic_load_n(&news->awake, __ATOMIC_ACQUIRE)) job_sleep(1000);
    }
    DOING("reading and writing");
    read_and_write(grower);
    OK(rma_barrier_all());
    if (job.me == grower) {
        DOING("what the others wrote");
        for (long k = 0; k < news->n; k++) {
            const struct block *b = &news->block[k];
            const char *base = rma_gptr_ptr(b->g);
            size_t written = part(b) * (size_t)job.n;
            for (int pe = 0; pe < job.n; pe++)
                CHECK(job_differs(base + part(b) * (size_t)pe, 0, part(b), key_of(pe, k)) == part(b),
                      "block %ld of %llu bytes: what PE %d wrote", k, (unsigned long long)b->size, pe);
            CHECK(job_differs(base + written, written, b->size - written, b->g) == b->size - written,
                  "block %ld: the end", k);
            OK(rma_gptr_free(b->g));
        }
    }
    OK(rma_barrier_all());
    OK(rma_free(news));
    return job_end();
}
