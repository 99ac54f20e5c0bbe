/* SPDX-License-Identifier: BSD-3-Clause */
/* Between rma_set_lock and rma_clear_lock a PE is alone, and sees everything that earlier holders did; and PEs get the
 * lock in the order of their requests.
 *
 * Broken by a lock that two PEs hold, by one that is passed on before the holder's puts and adds are complete, by a
 * rma_test_lock that waits, by a waiter that is forgotten, overtaken or not woken, by a mix-up of locks, and by a
 * mistake that is not reported. The data that a lock protects are on other PEs than the lock; gets and puts change
 * them, and only the lock completes these. On an odd number of PEs the program's variables stay in place
 * (RMA_STATICS=window). */
#include "job.h"

#define LOCKS 4
#define WORDS 700 /* of the longest record: more than goes in one message */

struct record {
    uint64_t word[WORDS];
};

static rma_lock_t in_data = RMA_LOCK_INIT, in_bss[2];
static rma_lock_t *locks[LOCKS]; /* symmetric, of the heap and static */
static struct record *records;   /* symmetric: the one of each lock, on PE owner_of(lock) */
static uint64_t *count;          /* symmetric */

/* Whether a PE waits for the one before it, rather than to be told by it. */
static bool by_phases(rma_lock_t *lock) { return rma_n_nodes() == 1 && rma_ptr(lock, (job.me + 1) % job.n); }

static int owner_of(int k) { return (k + 1) % job.n; }
static size_t words_of(int k) { return k % 2 ? WORDS : 5; }

/* Now and then by asking until it is free. */
static void take(int k, uint64_t draw) {
    if (draw % 8 == 0) {
        while (!rma_test_lock(locks[k])) job_pause();
    } else {
        OK(rma_set_lock(locks[k]));
    }
}

/* All words of a record are equal, and one more each time: whoever is not alone there tears or loses one. No quiet: the
 * puts are on their way when the lock is released. */
static uint64_t change(int k, int nbi, uint64_t by) {
    static struct record r;
    size_t n = words_of(k), bytes = n * sizeof r.word[0];
    uint64_t before;
    /* The caller's last puts were from here, too. */
    OK(rma_get(&r, &records[k], bytes, owner_of(k)));
    before = r.word[0];
    for (size_t i = 0; i < n; i++) {
        CHECK(r.word[i] == before, "lock %d: word %zu of %zu is %llu, word 0 %llu", k, i, n,
              (unsigned long long)r.word[i], (unsigned long long)before);
        r.word[i] = before + by;
    }
    /* In two parts, the second one first. */
    if (nbi) {
        OK(rma_put_nbi(&records[k].word[n / 2], &r.word[n / 2], (n - n / 2) * 8, owner_of(k)));
        OK(rma_put_nbi(&records[k].word[0], &r.word[0], n / 2 * 8, owner_of(k)));
    } else {
        OK(rma_put(&records[k].word[n / 2], &r.word[n / 2], (n - n / 2) * 8, owner_of(k)));
        OK(rma_put(&records[k].word[0], &r.word[0], n / 2 * 8, owner_of(k)));
    }
    return before;
}

/* The sum over all records, after all are done. */
static void total_is(uint64_t want) {
    static struct record r;
    uint64_t sum = 0;
    OK(rma_barrier_all());
    for (int k = 0; k < LOCKS; k++) {
        OK(rma_get(&r, &records[k], words_of(k) * 8, owner_of(k)));
        for (size_t i = 0; i < words_of(k); i++) CHECK(r.word[i] == r.word[0], "lock %d: word %zu in the end", k, i);
        sum += r.word[0];
    }
    CHECK(sum == want, "%llu in all, not %llu", (unsigned long long)sum, (unsigned long long)want);
    OK(rma_barrier_all());
    memset(records, 0, LOCKS * sizeof *records);
    OK(rma_barrier_all());
}

static void exclusion(long n) {
    uint64_t random = job_stream((uint64_t)job.me);
    for (long i = 0; i < n; i++) {
        uint64_t draw = job_random(&random);
        int k = (int)job_below(&random, LOCKS);
        take(k, draw);
        change(k, (int)(draw >> 8 & 1), 1);
        OK(rma_clear_lock(locks[k]));
    }
    total_is((uint64_t)(n * job.n));
}

/* All want the same one. */
static void crowd(long n) {
    for (int k = 0; k < LOCKS; k++)
        for (long i = 0; i < n; i++) {
            OK(rma_set_lock(locks[k]));
            change(k, 0, 1);
            OK(rma_clear_lock(locks[k]));
        }
    total_is((uint64_t)(n * job.n * LOCKS));
}

/* Several at once, always taken in ascending order: something goes from one record to another. Given back in either
 * order. */
static void several(long n) {
    uint64_t random = job_stream(1000 + (uint64_t)job.me);
    for (long i = 0; i < n; i++) {
        uint64_t draw = job_random(&random), amount = draw >> 40;
        int from = (int)(draw % LOCKS), to = (int)((draw >> 8) % LOCKS), third = (int)((draw >> 16) % LOCKS);
        bool want[LOCKS] = {false};
        want[from] = want[to] = want[third] = true;
        for (int k = 0; k < LOCKS; k++)
            if (want[k]) take(k, draw >> 24);
        change(from, 0, (uint64_t)0 - amount);
        if (to == from) OK(rma_quiet()); /* its own puts, before it gets them again */
        change(to, (int)(i & 1), amount);
        for (int j = 0; j < LOCKS; j++) {
            int k = i & 2 ? j : LOCKS - 1 - j;
            if (want[k]) OK(rma_clear_lock(locks[k]));
        }
    }
    total_is(0);
}

static int neighbour(rma_lock_t *lock, int pe) { return (int)(rma_atomic_fetch(&lock->node_, pe) & RMA_LOCK_PE_) - 1; }

/* Who waits behind pe, or -1. The queue is in symmetric memory, see runtime/api/locks.c: either who waits has written
 * down before whom, or the one before has it. */
static int behind(rma_lock_t *lock, int pe) {
    if (!by_phases(lock)) return neighbour(lock, pe);
    for (int other = 0; other < job.n; other++)
        if (other != job.me && neighbour(lock, other) == pe) return other;
    return -1;
}

/* Each PE holds the lock until all others are in the queue behind it: so it is known who asks, and in which order they
 * must get it. Until one has had all its turns, no PE is ever more than one turn ahead of another. */
static void fairness(int k, long n) {
    int32_t *turns = rma_calloc((size_t)(n * job.n), sizeof *turns),
            had[JOB_PES_MAX] = {0}; /* 1 + the PE whose turn it was, or is to be */
    int64_t *next = rma_calloc(1, sizeof *next), turn;
    CHECK(turns && next, "%s", rma_last_error());
    for (long i = 0; i < n; i++) {
        OK(rma_set_lock(locks[k]));
        turn = rma_g(next, 0);
        CHECK(rma_g(&turns[turn], 0) == 0 || rma_g(&turns[turn], 0) == job.me + 1, "turn %lld is PE %d's",
              (long long)turn, rma_g(&turns[turn], 0) - 1);
        for (int last = job.me, found = 0, one;
             i < n - 1 && found < job.n - 1;) { /* in its last turn others may have had all theirs */
            if ((one = behind(locks[k], last)) < 0) {
                job_pause();
                continue;
            }
            OK(rma_p(&turns[turn + 1 + found], one + 1, 0));
            last = one;
            found++;
        }
        OK(rma_p(&turns[turn], job.me + 1, 0));
        OK(rma_p(next, turn + 1, 0));
        OK(rma_clear_lock(locks[k]));
    }
    OK(rma_barrier_all());
    for (turn = 0; turn < n * job.n; turn++) {
        int pe = rma_g(&turns[turn], 0) - 1, most = 0, least = INT_MAX;
        CHECK(pe >= 0 && pe < job.n, "turn %lld: PE %d", (long long)turn, pe);
        had[pe]++;
        for (int q = 0; q < job.n; q++) {
            if (had[q] > most) most = had[q];
            if (had[q] < least) least = had[q];
        }
        if (most < n)
            CHECK(most - least <= 1, "after turn %lld one PE has had %d and another one %d", (long long)turn, most,
                  least);
    }
    CHECK(rma_g(next, 0) == n * job.n, "%lld turns", (long long)rma_g(next, 0));
    OK(rma_barrier_all());
    OK(rma_free(turns));
    OK(rma_free(next));
}

/* A lock that another PE holds is not to be had, however often one asks; when it is free, one of all gets it. */
static void testing(int k, long n) {
    for (long i = 0; i < n; i++) {
        int holder = (int)(i % job.n);
        *count = 0;
        OK(rma_barrier_all());
        if (job.me == holder) CHECK(rma_test_lock(locks[k]) == 1, "a free lock: %s", rma_last_error());
        OK(rma_barrier_all());
        if (job.me == holder)
            EXPECT_ZERO("rma_test_lock", rma_test_lock(locks[k]), RMA_ERR_STATE, "holds the lock",
                        job_text("PE %d", job.me));
        else
            for (int times = 0; times < 20; times++) QUIETLY(rma_test_lock(locks[k]), 0);
        OK(rma_barrier_all());
        if (job.me == holder) OK(rma_clear_lock(locks[k]));
        OK(rma_barrier_all());
        bool got = rma_test_lock(locks[k]);
        if (got) rma_atomic_fetch_add(count, (uint64_t)1, 0);
        OK(rma_barrier_all());
        CHECK(rma_atomic_fetch(count, 0) == 1, "%llu PEs got it", (unsigned long long)rma_atomic_fetch(count, 0));
        if (got) OK(rma_clear_lock(locks[k]));
        OK(rma_barrier_all());
    }
}

/* What a holder has begun on a third PE, which computes meanwhile, is complete before the next holder goes on: adds, of
 * which some are still in no message when the lock is given up. */
#define ADDS 3000
static void completes(int k, long n) {
    const int third = job.n - 1;
    int64_t *mine = rma_calloc(2, sizeof *mine); /* PE 0 holds the lock, in this round; the sum */
    CHECK(mine, "%s", rma_last_error());
    for (int64_t i = 1; i <= n && third > 1; i++) {
        OK(rma_barrier_all());
        if (job.me == 0) {
            OK(rma_set_lock(locks[k]));
            rma_atomic_set(&mine[0], i, 1);
            OK(rma_quiet());
            while (!by_phases(locks[k]) && behind(locks[k], 0) != 1) job_pause();
            for (int a = 0; a < ADDS; a++) rma_atomic_add(&mine[1], (int64_t)1, third);
            OK(rma_clear_lock(locks[k]));
        } else if (job.me == 1) {
            OK(rma_wait_until(&mine[0], RMA_CMP_EQ, i));
            OK(rma_set_lock(locks[k]));
            CHECK(rma_atomic_fetch(&mine[1], third) == i * ADDS, "the holder before had added %lld, and %lld are there",
                  (long long)(i * ADDS), (long long)rma_atomic_fetch(&mine[1], third));
            OK(rma_clear_lock(locks[k]));
        } else if (job.me == third) {
            for (double until = rma_wtime() + 5e-3; rma_wtime() < until;) continue;
        }
    }
    OK(rma_barrier_all());
    OK(rma_free(mine));
}

/* Who asks for a lock comes back, also if the holder gives it up and takes it again meanwhile, and then keeps it until
 * the other one has come back twice. */
static void comes_back(int k, long n) {
    int64_t *asked = rma_calloc(2, sizeof *asked), before; /* on PE 0: so many times; on PE 1: 1: it is over */
    CHECK(asked, "%s", rma_last_error());
    if (job.me == 0 && job.n > 1) {
        for (long i = 0; i < n; i++) {
            for (long turns = i % 6; turns >= 0; turns--) {
                OK(rma_set_lock(locks[k]));
                OK(rma_clear_lock(locks[k]));
            }
            OK(rma_set_lock(locks[k]));
            for (before = rma_atomic_fetch(&asked[0], 0); rma_atomic_fetch(&asked[0], 0) < before + 2;) rma_progress();
            OK(rma_clear_lock(locks[k]));
        }
        rma_atomic_set(&asked[1], (int64_t)1, 1);
    }
    while (job.me == 1 && rma_atomic_fetch(&asked[1], 1) == 0) {
        if (rma_test_lock(locks[k])) OK(rma_clear_lock(locks[k]));
        rma_atomic_inc(&asked[0], 0);
        OK(rma_quiet());
    }
    OK(rma_barrier_all());
    OK(rma_free(asked));
}

/* ---- mistakes ---- */

static void refused(rma_lock_t *lock, int code, const char *words, const char *also) {
    EXPECT("rma_set_lock", rma_set_lock(lock), code, words, also);
    EXPECT_ZERO("rma_test_lock", rma_test_lock(lock), code, words, also);
    EXPECT("rma_clear_lock", rma_clear_lock(lock), code, words, also);
}

static void mistakes(void) {
    rma_lock_t stack = RMA_LOCK_INIT, *alone;
    OK(rma_alloc_mem(sizeof *alone, &alone));
    memset(alone, 0, sizeof *alone);
    refused(NULL, RMA_ERR_ADDRESS, "lock is a null pointer", "");
    refused(&stack, RMA_ERR_ADDRESS, job_text("lock %p", (void *)&stack), "symmetric heap");
    refused(alone, RMA_ERR_ADDRESS, job_text("lock %p", (void *)alone), "local heap");
    if (job.n_near > 1) {
        rma_lock_t *theirs = rma_ptr(locks[0], job_next(1));
        refused(theirs, RMA_ERR_ADDRESS, job_text("lock %p", (void *)theirs), "symmetric heap");
    }
    for (int k = 0; k < LOCKS; k++) {
        for (size_t by = 1; by < 8; by++) {
            rma_lock_t *off = (rma_lock_t *)(void *)((char *)locks[k] + by);
            refused(off, RMA_ERR_ADDRESS, job_text("lock %p is not aligned", (void *)off), "8 bytes");
        }
        const char *at = job_text("%p", (void *)locks[k]), *me = job_text("PE %d", job.me);
        EXPECT("rma_clear_lock", rma_clear_lock(locks[k]), RMA_ERR_STATE, "does not hold", at, me);
        CHECK(!strstr(rma_strerror(RMA_ERR_STATE), "initialized"), "of a lock: %s", rma_strerror(RMA_ERR_STATE));
        OK(rma_set_lock(locks[k]));
        EXPECT("rma_set_lock", rma_set_lock(locks[k]), RMA_ERR_STATE, "holds the lock", at, me);
        EXPECT_ZERO("rma_test_lock", rma_test_lock(locks[k]), RMA_ERR_STATE, "holds the lock", at, me);
        OK(rma_clear_lock(locks[k]));
        EXPECT("rma_clear_lock", rma_clear_lock(locks[k]), RMA_ERR_STATE, "does not hold", at, me);
        OK(rma_barrier_all());
        /* One that another PE holds. */
        if (job.me == job.n - 1) OK(rma_set_lock(locks[k]));
        OK(rma_barrier_all());
        if (job.me != job.n - 1)
            EXPECT("rma_clear_lock", rma_clear_lock(locks[k]), RMA_ERR_STATE, "does not hold", at, me);
        OK(rma_barrier_all());
        if (job.me == job.n - 1) OK(rma_clear_lock(locks[k]));
        OK(rma_barrier_all());
    }
    CHECK(stack.node_ == 0 && stack.tail_ == 0 && alone->node_ == 0 && alone->tail_ == 0, "a refused call wrote");
    OK(rma_barrier_all());
    OK(rma_free_mem(alone));
}

static void outside(void) {
    refused(&in_data, RMA_ERR_STATE, "", "");
    refused(NULL, RMA_ERR_STATE, "", "");
}

int main(void) {
    const char *size = getenv("PMI_SIZE");
    if (size && atoi(size) % 2) setenv("RMA_STATICS", "window", 1);
    job_begin();
    DOING("before rma_init");
    outside();
    OK(rma_init());
    job_look();
    /* Two neighbours of the heap, and two of the program's. */
    locks[0] = rma_calloc(2, sizeof *locks[0]);
    locks[1] = locks[0] + 1;
    locks[2] = &in_data;
    locks[3] = &in_bss[1];
    records = rma_calloc(LOCKS, sizeof *records);
    count = rma_calloc(1, sizeof *count);
    CHECK(locks[0] && records && count, "%s", rma_last_error());
    DOING("mistakes");
    mistakes();
    DOING("each for itself");
    exclusion(job_far_rounds(20000, 1000, 100));
    DOING("all on one");
    crowd(job_far_rounds(5000, 200, 20));
    DOING("several at once");
    several(job_far_rounds(5000, 300, 30));
    for (int k = 0; k < LOCKS; k++) {
        DOING("fairness");
        fairness(k, job_far_rounds(1000, 100, 15));
        DOING("testing");
        testing(k, job_far_rounds(200, 20, 5));
    }
    for (int k = 0; k < 2; k++) {
        DOING("completing");
        completes(k, job_far_rounds(20, 6, 2));
        DOING("coming back");
        if (!by_phases(locks[k])) comes_back(k, job_far_rounds(200, 100, 40));
    }
    DOING("mistakes, after all that");
    mistakes();
    CHECK(in_bss[0].tail_ == 0 && in_bss[0].node_ == 0, "a neighbour changed");
    OK(rma_free(count));
    OK(rma_free(records));
    OK(rma_free(locks[0]));
    DOING("ending");
    OK(rma_finalize());
    outside();
    return 0;
}
