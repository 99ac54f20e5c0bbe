/* SPDX-License-Identifier: BSD-3-Clause */
/* However many puts and non-fetching atomics are under way, to one PE or from all to all, each is done once, and all
 * are done when rma_quiet returns.
 *
 * Broken by a message that is lost, doubled or mixed up when a queue is full, by two PEs that each wait for the other
 * to receive, by a source that is read after a blocking put has returned, by atomics of one PE on one word that
 * overtake each other, and by a quiet that forgets operations under way. */
#include "job.h"

#define SLOT 24 /* bytes at most of one put; each has a place of its own */

static struct words {
    uint64_t sum;                /* of what all have added */
    uint64_t added[JOB_PES_MAX]; /* what each has added */
    uint64_t last[JOB_PES_MAX];  /* what each has set, in ascending order */
} * words;                       /* symmetric */

static unsigned char (*room)[SLOT];   /* symmetric: `each` slots of each PE */
static unsigned char (*source)[SLOT]; /* for those that must stay until quiet */
static long each;                     /* messages of a PE */

/* In the flood of all to all the PEs take turns; else there is one. */
static int target_of(int from, long i, int all) { return all ? (int)((from + i) % job.n) : 0; }

static size_t slot_of(int from, long i) { return (size_t)(from * each + i); }
static size_t length_of(long i) { return i % 3 == 2 ? 8 : 1 + (size_t)i % SLOT; }
static uint64_t key_of(int from, long i, int all) { return (uint64_t)from << 40 | (uint64_t)all << 32 | (uint64_t)i; }

static void send(long i, int to, int all) {
    unsigned char bytes[SLOT], *there = room[slot_of(job.me, i)];
    size_t len = length_of(i);
    uint64_t value;
    job_fill(bytes, 0, len, key_of(job.me, i, all));
    switch (i % 3) {
        case 0:
            OK(rma_put(there, bytes, len, to));
            memset(bytes, 0xee, len);
            break;
        case 1: OK(rma_put_nbi(there, memcpy(source[i], bytes, len), len, to)); break;
        default: memcpy(&value, bytes, 8); OK(rma_p((uint64_t *)(void *)there, value, to));
    }
    OK(rma_atomic_add(&words->sum, (uint64_t)i + 1, to));
    OK(rma_atomic_add(&words->added[job.me], (uint64_t)i + 1, to));
    OK(rma_atomic_set(&words->last[job.me], (uint64_t)i + 1, to));
}

/* What `from` has sent to pe: the number of the last message, and their sum in all. */
static uint64_t sent(int from, int pe, int all, uint64_t *last) {
    uint64_t sum = 0;
    *last = 0;
    for (long i = 0; i < each; i++)
        if (target_of(from, i, all) == pe) sum += *last = (uint64_t)i + 1;
    return sum;
}

static void flood(int all) {
    uint64_t last, sum = 0;
    memset(words, 0, sizeof *words);
    memset(room, 0, (size_t)(job.n * each) * SLOT);
    OK(rma_barrier_all());
    for (long i = 0; i < each; i++) send(i, target_of(job.me, i, all), all);
    OK(rma_quiet());

    /* After quiet, and before any meeting. */
    for (int pe = 0; pe < job.n; pe++) {
        uint64_t mine = sent(job.me, pe, all, &last), there = rma_atomic_fetch(&words->added[job.me], pe);
        CHECK(there == mine, "%llu is added on PE %d, not %llu", (unsigned long long)there, pe,
              (unsigned long long)mine);
        there = rma_atomic_fetch(&words->last[job.me], pe);
        CHECK(there == last, "%llu is the last on PE %d, not %llu", (unsigned long long)there, pe,
              (unsigned long long)last);
    }
    OK(rma_barrier_all());
    for (int from = 0; from < job.n; from++) {
        uint64_t theirs = sent(from, job.me, all, &last);
        sum += theirs;
        CHECK(words->added[from] == theirs && words->last[from] == last, "PE %d has added %llu, and %llu last", from,
              (unsigned long long)words->added[from], (unsigned long long)words->last[from]);
        for (long i = 0; i < each; i++) {
            const unsigned char *slot = room[slot_of(from, i)];
            size_t len = target_of(from, i, all) == job.me ? length_of(i) : 0;
            CHECK(job_differs(slot, 0, len, key_of(from, i, all)) == len, "message %ld of PE %d, of %zu bytes", i, from,
                  len);
            for (; len < SLOT; len++) CHECK(slot[len] == 0, "byte %zu behind message %ld of PE %d", len, i, from);
        }
    }
    CHECK(words->sum == sum, "the sum is %llu, not %llu", (unsigned long long)words->sum, (unsigned long long)sum);
    OK(rma_barrier_all());
}

int main(void) {
    job_start();
    each = job_far_rounds(20000, 20000, 12000) / job.n;
    words = rma_calloc(1, sizeof *words);
    room = rma_calloc((size_t)(job.n * each), SLOT);
    source = malloc((size_t)each * SLOT);
    CHECK(words && room && source, "%s", rma_last_error());
    DOING("all to one");
    flood(0);
    DOING("all to all");
    flood(1);
    DOING("all to one again");
    flood(0);
    free(source);
    OK(rma_free(room));
    OK(rma_free(words));
    return job_end();
}
