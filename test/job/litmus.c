/* SPDX-License-Identifier: BSD-3-Clause */
/* Litmus tests: how up to four PEs can see each other's writes to two words. docs/memory-model.md, "Shapes", lists the
 * forbidden outcomes; they must not occur in a million rounds. With RMA_TEST_VERBOSE=1 of run-job allowed outcomes are
 * counted and printed: nobody may rely on their absence.
 *
 * Each round has its own cell, and the PEs run through the cells of a batch without waiting for each other, so that
 * they overlap in most of them. x and y of a cell are on separate cache lines, on the PEs that the test chooses. */
#include "job.h"

#define CELLS 512 /* of a batch */

struct cell {
    _Alignas(128) uint64_t x;
    _Alignas(128) uint64_t y;
};

static struct cell *cells;
static uint64_t (*seen)[CELLS][2]; /* what role r has read in cell c, on PE 0 */

/* What role `role` does in cell c, with x on PE px and y on PE py; what it reads goes to r. */
struct test {
    const char *name;
    int roles;
    void (*act)(int role, struct cell *c, int px, int py, uint64_t r[2]);
    int (*outcome)(uint64_t r[][2]); /* 1 if it is the one that the test is about; r: by role */
    int allowed;
};

/* ---- message passing ---- */

static void passing_put(int role, struct cell *c, int px, int py, uint64_t r[2]) {
    if (role == 0) {
        OK(rma_p(&c->x, (uint64_t)1, px));
        OK(rma_fence());
        OK(rma_p(&c->y, (uint64_t)1, py));
    } else {
        r[0] = rma_atomic_fetch(&c->y, py);
        r[1] = rma_g(&c->x, px);
    }
}

static void passing_atomic(int role, struct cell *c, int px, int py, uint64_t r[2]) {
    if (role == 0) {
        OK(rma_p(&c->x, (uint64_t)1, px));
        OK(rma_atomic_set(&c->y, (uint64_t)1, py));
    } else {
        r[0] = rma_atomic_fetch(&c->y, py);
        r[1] = rma_g(&c->x, px);
    }
}

static void passing_signal(int role, struct cell *c, int px, int py, uint64_t r[2]) {
    static const uint64_t one = 1;
    (void)py;
    if (role == 0) {
        OK(rma_put_signal(&c->x, &one, sizeof one, &c->y, 1, RMA_SIGNAL_ADD, px));
    } else {
        r[0] = rma_atomic_fetch(&c->y, px);
        r[1] = rma_g(&c->x, px);
    }
}

static int new_then_old(uint64_t r[][2]) { return r[1][0] == 1 && r[1][1] == 0; }

/* ---- one word ---- */

static void one_word(int role, struct cell *c, int px, int py, uint64_t r[2]) {
    (void)py;
    if (role == 0) {
        OK(rma_p(&c->x, (uint64_t)1, px));
    } else {
        r[0] = rma_g(&c->x, px);
        r[1] = rma_g(&c->x, px);
    }
}

/* ---- store buffering, load buffering ---- */

static void storing_set(int role, struct cell *c, int px, int py, uint64_t r[2]) {
    OK(rma_atomic_set(role ? &c->y : &c->x, (uint64_t)1, role ? py : px));
    r[0] = rma_atomic_fetch(role ? &c->x : &c->y, role ? px : py);
}

static void storing_swap(int role, struct cell *c, int px, int py, uint64_t r[2]) {
    rma_atomic_swap(role ? &c->y : &c->x, (uint64_t)1, role ? py : px);
    r[0] = rma_atomic_fetch_add(role ? &c->x : &c->y, (uint64_t)0, role ? px : py);
}

static int both_old(uint64_t r[][2]) { return r[0][0] == 0 && r[1][0] == 0; }

static void loading(int role, struct cell *c, int px, int py, uint64_t r[2]) {
    r[0] = rma_atomic_fetch(role ? &c->y : &c->x, role ? py : px);
    OK(rma_atomic_set(role ? &c->x : &c->y, (uint64_t)1, role ? px : py));
}

static int both_new(uint64_t r[][2]) { return r[0][0] == 1 && r[1][0] == 1; }

/* ---- three and four PEs ---- */

/* PE 1 tells of what it has seen of PE 0's: what comes to PE 2 that way has x with it. */
static void causing(int role, struct cell *c, int px, int py, uint64_t r[2]) {
    if (role == 0) {
        OK(rma_atomic_set(&c->x, (uint64_t)1, px));
    } else if (role == 1) {
        r[0] = rma_atomic_fetch(&c->x, px);
        if (r[0]) OK(rma_atomic_set(&c->y, (uint64_t)1, py));
    } else {
        r[0] = rma_atomic_fetch(&c->y, py);
        r[1] = rma_atomic_fetch(&c->x, px);
    }
}

static int effect_without_cause(uint64_t r[][2]) { return r[2][0] == 1 && r[2][1] == 0; }

static void independent(int role, struct cell *c, int px, int py, uint64_t r[2]) {
    switch (role) {
        case 0: OK(rma_atomic_set(&c->x, (uint64_t)1, px)); break;
        case 1: OK(rma_atomic_set(&c->y, (uint64_t)1, py)); break;
        case 2:
            r[0] = rma_atomic_fetch(&c->x, px);
            r[1] = rma_atomic_fetch(&c->y, py);
            break;
        default: r[0] = rma_atomic_fetch(&c->y, py); r[1] = rma_atomic_fetch(&c->x, px);
    }
}

static void independent_rmw(int role, struct cell *c, int px, int py, uint64_t r[2]) {
    switch (role) {
        case 0: rma_atomic_swap(&c->x, (uint64_t)1, px); break;
        case 1: rma_atomic_swap(&c->y, (uint64_t)1, py); break;
        case 2:
            r[0] = rma_atomic_fetch_add(&c->x, (uint64_t)0, px);
            r[1] = rma_atomic_fetch_add(&c->y, (uint64_t)0, py);
            break;
        default:
            r[0] = rma_atomic_fetch_add(&c->y, (uint64_t)0, py);
            r[1] = rma_atomic_fetch_add(&c->x, (uint64_t)0, px);
    }
}

static int two_orders(uint64_t r[][2]) { return r[2][0] == 1 && r[2][1] == 0 && r[3][0] == 1 && r[3][1] == 0; }

static const struct test tests[] = {
    {"message passing, fence", 2, passing_put, new_then_old, 0},
    {"message passing, atomic", 2, passing_atomic, new_then_old, 0},
    {"message passing, signal", 2, passing_signal, new_then_old, 0},
    {"one word, read twice", 2, one_word, new_then_old, 0},
    {"store buffering, set and fetch", 2, storing_set, both_old, 1},
    {"store buffering, read-modify-writes", 2, storing_swap, both_old, 0},
    {"load buffering", 2, loading, both_new, 0},
    {"causality of writes and reads", 3, causing, effect_without_cause, 0},
    {"independent reads, set and fetch", 4, independent, two_orders, 1},
    {"independent reads, read-modify-writes", 4, independent_rmw, two_orders, 0},
};

/* ---- running ---- */

/* One batch with the roles dealt out from PE `first` on. Returns how often PE 0 has found the outcome. */
static long batch(const struct test *t, int first, int px, int py) {
    static uint64_t mine[CELLS][2];
    const int role = ((job.me - first) % job.n + job.n) % job.n;
    long found = 0;
    memset(mine, 0, sizeof mine);
    memset(cells, 0, CELLS * sizeof *cells);
    OK(rma_barrier_all());
    if (role < t->roles)
        for (size_t i = 0; i < CELLS; i++) t->act(role, &cells[i], px, py, mine[i]);
    OK(rma_barrier_all());
    if (role < t->roles) OK(rma_put(seen[role], mine, sizeof mine, 0));
    OK(rma_barrier_all());
    for (size_t i = 0; job.me == 0 && i < CELLS; i++) {
        uint64_t r[4][2];
        for (int k = 0; k < t->roles; k++) memcpy(r[k], seen[k][i], sizeof r[k]);
        found += t->outcome(r);
    }
    return found;
}

static void run(const struct test *t, long rounds) {
    long found = 0, done = 0;
    DOING(t->name);
    for (int turn = 0; done < rounds; turn++, done += CELLS) {
        const int px = turn % job.n, py = turn / job.n % job.n;
        found += batch(t, turn % job.n, px, py);
    }
    CHECK(t->allowed || found == 0, "%s: seen %ld times in %ld rounds", t->name, found, done);
    if (job.me == 0) printf("%s: %ld of %ld%s\n", t->name, found, done, t->allowed ? ", allowed" : "");
}

int main(void) {
    job_start();
    cells = rma_aligned_alloc(128, CELLS * sizeof *cells);
    seen = rma_malloc(4 * sizeof *seen);
    CHECK(cells && seen, "%s", rma_last_error());
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
        if (tests[i].roles <= job.n) run(&tests[i], job_far_rounds(1000000, 60000, 3000));
    OK(rma_free(seen));
    OK(rma_free(cells));
    OK(rma_finalize());
    return 0;
}
