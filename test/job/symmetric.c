/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks that the PEs allocate, resize and free together have the same offset on each PE, keep their contents, and can
 * be reached by every peer as soon as the call has returned.
 *
 * Broken by allocators that decide differently on two PEs, by blocks that overlap, by a realloc that loses bytes or
 * copies over what a fast peer has put already, by a calloc that finds old bytes, by an alignment that does not hold
 * for a PE's address, by memory that is committed before an aligned block far away, or that is not committed when a
 * block is allocated there, and by growth that a peer does not know of yet. */
#include "job.h"

#define BLOCKS 48

struct block {
    unsigned char *p;
    size_t size;
    uint64_t key; /* of its contents on PE 0; PE k has key + k */
};

static struct block blocks[BLOCKS];
static uint64_t next_key = 1;
static uint64_t history; /* of all offsets: the same on each PE */

static uint64_t key_on(const struct block *b, int pe) { return b->key + (uint64_t)pe; }

static void remember(const void *p) {
    uint64_t offset = p ? rma_gptr(p, job.me) & 0xffffffffffu : 1;
    CHECK(offset != 0, "%p: %s", p, rma_last_error());
    history = job_mix(history ^ offset);
}

static void write_all(struct block *b) {
    b->key = next_key;
    next_key += JOB_PES_MAX;
    job_fill(b->p, 0, b->size, key_on(b, job.me));
}

static void check_own(const struct block *b, size_t len, const char *when) {
    size_t wrong = job_differs(b->p, 0, len, key_on(b, job.me));
    CHECK(wrong == len, "byte %zu of %zu of the block at %p is wrong %s", wrong, b->size, (void *)b->p, when);
}

/* Mostly small, now and then large; zero is a size too. */
static size_t draw_size(uint64_t *random) {
    size_t kind = job_below(random, 40);
    if (kind == 0) return 0;
    if (kind == 1) return job_below(random, (size_t)1 << (job.slow ? 16 : 20));
    return job_length(random, kind < 8 ? 1 << 16 : 1 << 10);
}

static void allocate(struct block *b, uint64_t *random) {
    size_t size = draw_size(random), how = job_below(random, 4),
           alignment = (size_t)1 << job_below(random, job.slow ? 13 : 18);
    b->size = size;
    b->p = how == 0   ? rma_calloc(1, size)
           : how == 1 ? rma_aligned_alloc(alignment, size)
           : how == 2 ? rma_realloc(NULL, size)
                      : rma_malloc(size);
    remember(b->p);
    if (size == 0) {
        CHECK(b->p == NULL, "0 bytes at %p", (void *)b->p);
        return;
    }
    CHECK(b->p != NULL, "%zu bytes: %s", size, rma_last_error());
    CHECK((uintptr_t)b->p % 64 == 0, "%p is not aligned to 64", (void *)b->p);
    if (how == 1) CHECK((uintptr_t)b->p % alignment == 0, "%p, alignment %zu", (void *)b->p, alignment);
    for (size_t i = 0; how == 0 && i < size; i++) CHECK(b->p[i] == 0, "byte %zu of rma_calloc is %d", i, b->p[i]);
    write_all(b);
}

static void resize(struct block *b, uint64_t *random) {
    size_t size = job_below(random, 3) ? draw_size(random) : b->size + job_below(random, 3 * b->size + 1);
    unsigned char *p = rma_realloc(b->p, size);
    remember(p);
    if (size == 0) {
        CHECK(p == NULL, "0 bytes at %p", (void *)p);
        b->p = NULL;
        return;
    }
    CHECK(p != NULL, "%zu bytes: %s", size, rma_last_error());
    b->p = p;
    check_own(b, size < b->size ? size : b->size, "after rma_realloc");
    b->size = size;
    write_all(b);
}

/* Every PE's copy of some blocks, through the others' eyes, and that all have the same history. */
static void look_at_peers(uint64_t *random, uint64_t *common) {
    static unsigned char copy[1 << 20];
    int root = (int)job_below(random, (size_t)job.n);
    OK(rma_barrier_all());
    for (int i = 0; i < 6; i++) {
        const struct block *b = &blocks[job_below(random, BLOCKS)];
        int pe = job_any(1 + i);
        if (!b->p) continue;
        OK(rma_get(copy, b->p, b->size, pe));
        CHECK(job_differs(copy, 0, b->size, key_on(b, pe)) == b->size, "the block of %zu bytes on PE %d", b->size, pe);
    }
    *common = history;
    OK(rma_broadcast(RMA_TEAM_WORLD, common, common, 8, root));
    CHECK(*common == history, "other offsets than on PE %d", root);
    OK(rma_barrier_all());
}

static void random_calls(uint64_t stream) {
    uint64_t random = job_stream(stream), *common = rma_calloc(1, sizeof *common); /* the same numbers on each PE */
    long n = job_rounds(1500, job.one_node ? 500 : 250);
    CHECK(common != NULL, "%s", rma_last_error());
    for (long i = 1; i <= n; i++) {
        struct block *b = &blocks[job_below(&random, BLOCKS)];
        if (b->p == NULL) {
            allocate(b, &random);
        } else if (job_below(&random, 3) == 0) {
            resize(b, &random);
        } else {
            check_own(b, b->size, "before rma_free");
            OK(rma_free(b->p));
            b->p = NULL;
        }
        if (i % 50 == 0) look_at_peers(&random, common);
    }
    for (int k = 0; k < BLOCKS; k++) {
        if (!blocks[k].p) continue;
        check_own(&blocks[k], blocks[k].size, "at the end");
        OK(rma_free(blocks[k].p));
        blocks[k].p = NULL;
    }
    OK(rma_free(common));
}

/* As soon as a call has returned its block is a target on every PE: peers put into it with no further meeting, into the
 * first and the last bytes of blocks that are far beyond what there was before. */
static void growth(void) {
    int steps = job.slow ? 4 : 8;
    unsigned char *grown[8];
    size_t size = (size_t)100 << 10;
    int to = job_any(1), from = job_any(-1);
    while (size << steps > job_room()) steps--;
    for (int i = 0; i < steps; i++, size = size * 2 + 4096) {
        unsigned char mark[2] = {(unsigned char)(i + 1), (unsigned char)job.me};
        grown[i] = i & 1 ? rma_malloc(size) : rma_calloc(size, 1);
        CHECK(grown[i] != NULL, "%zu bytes: %s", size, rma_last_error());
        OK(rma_put(grown[i] + size - 2, mark, 2, to));
        OK(rma_put(grown[i], mark, 2, to));
        OK(rma_barrier_all());
        for (int end = 0; end < 2; end++) {
            const unsigned char *p = grown[i] + (end ? size - 2 : 0);
            CHECK(p[0] == i + 1 && p[1] == from, "the %s bytes of %zu are %d, %d", end ? "last" : "first", size, p[0],
                  p[1]);
        }
    }
    for (int i = 0; i < steps; i++) OK(rma_free(grown[i]));
}

static size_t committed_now(void) {
    struct rma_heap_stats stats;
    OK(rma_heap_stats(RMA_HEAP_SYMMETRIC, &stats));
    return stats.committed;
}

/* The address of a block is a multiple of its alignment on each PE. The memory before it is committed only when another
 * block is allocated there. */
static void aligned(void) {
    enum { FILLERS = 24, FILLER = 48 << 10 };
    unsigned char *far[20], *filler[FILLERS], *grown;
    int n = 0, to = job_any(1);
    if (job.slow) return; /* valgrind refuses what large alignments need */
    for (size_t alignment = (size_t)1 << 13; alignment <= (size_t)1 << 30; alignment *= 8, n++) {
        size_t before = committed_now(), after;
        far[n] = rma_aligned_alloc(alignment, 5000);
        CHECK(far[n] != NULL, "alignment %zu: %s", alignment, rma_last_error());
        CHECK((uintptr_t)far[n] % alignment == 0, "%p, alignment %zu", (void *)far[n], alignment);
        after = committed_now();
        CHECK(after < before + ((size_t)2 << 20), "alignment %zu: %zu bytes committed, %zu before", alignment, after,
              before);
        job_fill(far[n], 0, 5000, (uint64_t)(n * JOB_PES_MAX + job.me));
    }
    for (int i = 0; i < FILLERS; i++) {
        filler[i] = i % 3 == 1 ? rma_aligned_alloc((size_t)1 << (12 + i / 2), FILLER) : rma_malloc(FILLER);
        CHECK(filler[i] != NULL, "%s", rma_last_error());
        job_fill(filler[i], 0, FILLER, (uint64_t)((n + i) * JOB_PES_MAX + job.me));
    }
    CHECK((grown = rma_malloc(100000)) != NULL, "%s", rma_last_error());
    grown = rma_realloc(grown, (size_t)3 << 20);
    CHECK(grown != NULL, "%s", rma_last_error());
    memset(grown, 1, (size_t)3 << 20);
    OK(rma_barrier_all());
    for (int i = 0; i < n + FILLERS; i++) {
        unsigned char copy[FILLER], *block = i < n ? far[i] : filler[i - n];
        size_t size = i < n ? 5000 : FILLER;
        OK(rma_get(copy, block, size, to));
        CHECK(job_differs(copy, 0, size, (uint64_t)(i * JOB_PES_MAX + to)) == size, "block %d of PE %d", i, to);
    }
    OK(rma_barrier_all());
    OK(rma_free(grown));
    for (int i = 0; i < FILLERS; i++) OK(rma_free(filler[i]));
    while (n > 0) OK(rma_free(far[--n]));
}

/* A peer that is ahead puts into the new block while this PE may still be in rma_realloc. */
static void moved_under_puts(void) {
    for (int i = 0; i < (int)job_rounds(100, 30); i++) {
        size_t size = 4096 * (size_t)(1 + i % 7);
        unsigned char *p = rma_malloc(size), *wall = rma_malloc(64), mark = (unsigned char)(200 + i % 50);
        CHECK(p && wall, "%s", rma_last_error());
        memset(p, 1, size);
        p = rma_realloc(p, 3 * size); /* it cannot grow in place */
        CHECK(p != NULL, "%s", rma_last_error());
        OK(rma_put(p + size - 1 - (size_t)job.me, &mark, 1, job_any(1)));
        OK(rma_barrier_all());
        for (size_t k = 0; k < size; k++) {
            int want = k == size - 1 - (size_t)job_any(-1) ? mark : 1;
            CHECK(p[k] == want, "byte %zu of %zu is %d, not %d", k, size, p[k], want);
        }
        OK(rma_free(wall));
        OK(rma_free(p));
    }
}

int main(void) {
    job_start();
    DOING("random calls");
    random_calls(0);
    DOING("growing");
    growth();
    DOING("alignments");
    aligned();
    DOING("realloc under puts");
    moved_under_puts();
    DOING("random calls in the grown heap");
    random_calls(1);
    return job_end();
}
