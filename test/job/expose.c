/* SPDX-License-Identifier: BSD-3-Clause */
/* Every PE reaches each PE's exposed memory, in the owner's units, until it is unexposed, and not afterwards.
 *
 * Broken by the caller's size or unit instead of the owner's, by a displacement that is accepted one too far, by a
 * query that needs the owner, by memory that is attached twice or detached while it is still offered, and by one PE's
 * error that the others do not get, or after which something stays attached. */
#include "job.h"

#include <mpi.h>
#include <sys/mman.h>

enum kind { NONE, SYMMETRIC, LOCAL, GUEST, STATIC, ATTACHED, FRESH, KINDS };

#define ROOM 6000

static unsigned char variable[ROOM];

/* This PE's memory of each kind. */
static unsigned char *memory[KINDS];
static uint64_t *finished; /* symmetric: peers that are done */

static enum kind kind_of(int pe, int round) { return (enum kind)((pe * 3 + round) % KINDS); }
static size_t size_of(int pe, int round) {
    return kind_of(pe, round) == NONE ? 0 : 24 * JOB_PES_MAX + 1 + (size_t)(pe * 977 + round * 131) % 4000;
}
static size_t unit_of(int pe, int round) { return (size_t)(int[]){1, 8, 24}[(pe + round) % 3]; }
static uint64_t key_of(int pe, int round) { return (uint64_t)(round * JOB_PES_MAX + pe); }

static unsigned char *own(int round) { return memory[kind_of(job.me, round)] + round % 7; }

static void look(const rma_exposure *e, int round, int pe) {
    static unsigned char buffer[ROOM];
    size_t size = size_of(pe, round), unit = unit_of(pe, round), got = 0, n = (size + unit - 1) / unit, at;
    QUIETLY(rma_exposed_size(e, pe, &got), size);
    CHECK(got == unit, "the unit is %zu, not %zu", got, unit);
    QUIETLY(rma_exposed_size(e, pe, NULL), size);
    EXPECT_ZERO("rma_exposed_at", rma_exposed_at(e, pe, n) != 0, RMA_ERR_ADDRESS, job_text("displacement %zu", n),
                job_text("PE %d", pe));
    EXPECT_ZERO("rma_exposed_at", rma_exposed_at(e, pe, n + 1000) != 0, RMA_ERR_ADDRESS, "outside");
    EXPECT_ZERO("rma_exposed_at", rma_exposed_at(e, pe, SIZE_MAX) != 0, RMA_ERR_ADDRESS, "outside");
    if (unit == 8)
        EXPECT_ZERO("rma_exposed_at", rma_exposed_at(e, pe, (SIZE_MAX >> 3) + 2) != 0, RMA_ERR_ADDRESS, "outside");
    if (n == 0) return;
    for (size_t i = 0; i < n; i += i % 5 == 4 || !rma_on_node(pe) ? n / 9 : 1) {
        size_t len = size - i * unit < 40 ? size - i * unit : 40;
        rma_gptr_t g = rma_exposed_at(e, pe, i);
        CHECK(g != RMA_GPTR_NULL && rma_gptr_pe(g) == pe, "%#llx: %s", (unsigned long long)g, rma_last_error());
        CHECK(g == rma_exposed_at(e, pe, 0) + i * unit, "displacement %zu", i);
        OK(rma_gptr_get(buffer, g, len));
        /* The first units are being written by all; see below. */
        at = i * unit < 24 * JOB_PES_MAX ? 24 * JOB_PES_MAX - i * unit : 0;
        if (at < len)
            CHECK(job_differs(buffer + at, i * unit + at, len - at, key_of(pe, round)) == len - at,
                  "%zu bytes at %zu units of PE %d", len, i, pe);
    }
    OK(rma_gptr_get(buffer, rma_exposed_at(e, pe, n - 1), size - (n - 1) * unit));
    CHECK(job_differs(buffer, (n - 1) * unit, size - (n - 1) * unit, key_of(pe, round)) == size - (n - 1) * unit,
          "the last unit");
    job_fill(buffer, 0, unit, (uint64_t)(5000 + job.me));
    OK(rma_gptr_put(rma_exposed_at(e, pe, (size_t)job.me), buffer, unit));
}

static void one_round(int round) {
    rma_exposure *e = NULL;
    rma_gptr_t before[JOB_PES_MAX] = {0};
    unsigned char byte = 0;
    size_t size = size_of(job.me, round), unit = unit_of(job.me, round);
    enum kind kind = kind_of(job.me, round);
    if (size) job_fill(own(round), 0, size, key_of(job.me, round));
    OK(rma_expose(size ? own(round) : round & 1 ? (void *)1 : NULL, size, unit, &e));
    CHECK(e != NULL, "no exposure");

    /* One asks and moves, and the others are not in the library. */
    for (int q = 0; q < job.n; q++) {
        *finished = 0;
        OK(rma_barrier_all());
        if (q == job.me) {
            for (int pe = 0; pe < job.n; pe++) look(e, round, pe);
            OK(rma_quiet());
            for (int pe = 0; pe < job.n; pe++) OK(rma_atomic_add(finished, (uint64_t)1, pe));
        }
        while (!__atomic_load_n(finished, __ATOMIC_ACQUIRE)) job_sleep(200);
    }
    OK(rma_barrier_all());
    for (int pe = 0; size && pe < job.n; pe++)
        CHECK(job_differs(own(round) + (size_t)pe * unit, 0, unit, (uint64_t)(5000 + pe)) == unit, "what PE %d has put",
              pe);
    for (int pe = 0; pe < job.n; pe++)
        if (size_of(pe, round)) before[pe] = rma_exposed_at(e, pe, 0);
    if (kind >= SYMMETRIC) {
        CHECK(rma_gptr_ptr(before[job.me]) == own(round), "not the own address");
        if (kind != FRESH)
            CHECK(before[job.me] == rma_gptr(own(round), job.me), "memory that was accessible is offered otherwise");
    }
    EXPECT_ZERO("rma_exposed_at", rma_exposed_at(e, -1, 0) != 0, RMA_ERR_PE, "-1 is outside");
    EXPECT_ZERO("rma_exposed_at", rma_exposed_at(e, job.n, 0) != 0, RMA_ERR_PE, job_text("%d is outside", job.n));
    EXPECT_ZERO("rma_exposed_at", rma_exposed_at(NULL, job.me, 0) != 0, RMA_ERR_ARG, "e is a null pointer");
    EXPECT_ZERO("rma_exposed_size", rma_exposed_size(e, job.n, NULL) != 0, RMA_ERR_PE, "outside");
    EXPECT_ZERO("rma_exposed_size", rma_exposed_size(NULL, job.me, NULL) != 0, RMA_ERR_ARG, "e is a null pointer");

    OK(rma_unexpose(e));
    OK(rma_barrier_all());
    for (int pe = 0; pe < job.n; pe++) {
        if (kind_of(pe, round) == FRESH)
            EXPECT("rma_gptr_get", rma_gptr_get(&byte, before[pe], 1), RMA_ERR_ADDRESS, "any more");
        else if (size_of(pe, round))
            OK(rma_gptr_get(&byte, before[pe], 1));
    }
    if (kind == FRESH) {
        EXPECT("rma_detach", rma_detach(own(round)), RMA_ERR_BASE, "no region");
        EXPECT_ZERO("rma_gptr", rma_gptr(own(round), job.me) != 0, RMA_ERR_ADDRESS, "attached region");
    }
    OK(rma_barrier_all());
}

/* What is exposed stays accessible until the last exposure of it ends, whatever the program detaches meanwhile. */
static void twice(void) {
    unsigned char *fresh = malloc(1000), *attached = malloc(1000), byte;
    rma_exposure *e[4];
    rma_gptr_t g, of[4];
    int other = job_any(1);
    CHECK(fresh && attached, "no memory");
    memset(fresh, 3, 1000);
    memset(attached, 4, 1000);
    OK(rma_attach(attached, 1000, &g));
    OK(rma_expose(fresh, 1000, 1, &e[0]));
    OK(rma_expose(fresh, 1000, 8, &e[1]));
    OK(rma_expose(attached, 1000, 1, &e[2]));
    OK(rma_expose(attached + 10, 500, 1, &e[3]));
    for (int i = 0; i < 4; i++) of[i] = rma_exposed_at(e[i], other, 0);
    CHECK(of[0] == of[1] && of[3] == of[2] + 10, "the same memory has two names");
    OK(rma_unexpose(e[0]));
    EXPECT("rma_detach", rma_detach(fresh), RMA_ERR_BASE, job_text("%p", (void *)fresh));
    OK(rma_detach(attached));
    EXPECT("rma_detach", rma_detach(attached), RMA_ERR_BASE, job_text("%p", (void *)attached));
    OK(rma_barrier_all());
    for (int i = 1; i < 4; i++) {
        OK(rma_gptr_get(&byte, of[i], 1));
        CHECK(byte == (i == 1 ? 3 : 4), "exposure %d: %d", i, byte);
    }
    OK(rma_unexpose(e[2]));
    OK(rma_barrier_all());
    OK(rma_gptr_get(&byte, of[3], 1));
    OK(rma_unexpose(e[1]));
    OK(rma_unexpose(e[3]));
    OK(rma_barrier_all());
    for (int i = 0; i < 4; i++) EXPECT("rma_gptr_get", rma_gptr_get(&byte, of[i], 1), RMA_ERR_ADDRESS, "any more");
    OK(rma_attach(fresh, 1000, &g)); /* nothing is left of it */
    OK(rma_detach(fresh));
    OK(rma_barrier_all());
    free(fresh);
    free(attached);
}

/* PE `who` makes a mistake, the others none. */
static void mistake(int who, void *base, size_t size, size_t unit, rma_exposure **to, int want, const char *words) {
    rma_exposure *e = (void *)1;
    unsigned char *fine = malloc(100);
    rma_gptr_t g;
    CHECK(fine != NULL, "no memory");
    if (job.me == who)
        EXPECT("rma_expose", rma_expose(base, size, unit, to ? &e : NULL), want, words);
    else
        EXPECT("rma_expose", rma_expose(fine, 100, 8, &e), want, job_text("PE %d", who));
    CHECK(e == (void *)1, "a refused call wrote");
    OK(rma_attach(fine, 100, &g)); /* it is not attached any more */
    OK(rma_detach(fine));
    free(fine);
}

static void mistakes(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), large = (size_t)300 << 30;
    rma_exposure *e = NULL;
    rma_gptr_t g;
    char *p = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *q = mmap(NULL, large, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0); /* as in attach.c */
    int enough = q != MAP_FAILED, all;
    char *block = rma_malloc(100);
    CHECK(p != MAP_FAILED && block, "no memory");
    MPI_Allreduce(&enough, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    munmap(p + 2 * page, page);
    OK(rma_attach(p + 100, 100, &g));
    for (int who = 0; who<job.n; who += job.n> 1 ? job.n - 1 : 1) {
        mistake(who, p, 100, 0, &e, RMA_ERR_ARG, "unit is 0");
        mistake(who, NULL, 100, 1, &e, RMA_ERR_ARG, "base is a null pointer");
        mistake(who, p, 100, 1, NULL, RMA_ERR_ARG, "e is a null pointer");
        mistake(who, p, 150, 1, &e, RMA_ERR_ARG, "overlap");
        mistake(who, p + 150, 100, 1, &e, RMA_ERR_ARG, "overlap");
        mistake(who, p, 1000, 1, &e, RMA_ERR_ARG, "overlap");
        mistake(who, p, SIZE_MAX, 1, &e, RMA_ERR_ARG, "wrap");
        mistake(who, p + page, 3 * page, 8, &e, RMA_ERR_ADDRESS, "mapped");
        mistake(who, block - 1000000, 2000000, 8, &e, RMA_ERR_ARG, "overlap a heap");
        if (all) mistake(who, q, large, 8, &e, RMA_ERR_NO_MEM, "GiB of offsets in all");
    }
    OK(rma_unexpose(NULL));
    EXPECT("rma_unexpose", rma_unexpose((rma_exposure *)(void *)(block + 64)), RMA_ERR_BASE, "rma_unexpose");
    OK(rma_expose(p, 10, 1, &e)); /* all still meet */
    /* One PE alone is wrong: nobody waits for it, and nothing has ended. */
    if (job.n > 1) {
        rma_exposure *given = job.me == 0 ? NULL : e;
        EXPECT("rma_unexpose", rma_unexpose(given), RMA_ERR_MISMATCH, "offset");
        given = job.me == job.n - 1 ? (rma_exposure *)(void *)(block + 64) : e;
        if (job.me == job.n - 1)
            EXPECT("rma_unexpose", rma_unexpose(given), RMA_ERR_BASE, "nothing that rma_expose gave");
        else
            EXPECT("rma_unexpose", rma_unexpose(given), RMA_ERR_BASE, job_text("PE %d", job.n - 1));
    }
    OK(rma_unexpose(e));
    OK(rma_detach(p + 100));
    munmap(p, 4 * page);
    if (enough) munmap(q, large);
    OK(rma_free(block));
}

int main(void) {
    rma_gptr_t g;
    job_start();
    CHECK(24 * JOB_PES_MAX + 4100 < ROOM, "ROOM is small");
    finished = rma_calloc(1, sizeof *finished);
    memory[SYMMETRIC] = rma_malloc(ROOM);
    CHECK(finished && memory[SYMMETRIC], "%s", rma_last_error());
    OK(rma_alloc_mem(ROOM, &memory[LOCAL]));
    OK(rma_alloc_mem_on(job.me, ROOM, &g));
    memory[GUEST] = rma_gptr_ptr(g);
    memory[STATIC] = variable;
    memory[ATTACHED] = malloc(ROOM);
    memory[FRESH] = malloc(ROOM);
    CHECK(memory[GUEST] && memory[ATTACHED] && memory[FRESH], "no memory");
    OK(rma_attach(memory[ATTACHED], ROOM, &g));
    DOING("exposing");
    for (int round = 0; round < (job.one_node ? 3 * KINDS : KINDS + 4); round++) one_round(round);
    DOING("exposing twice");
    twice();
    DOING("mistakes");
    mistakes();
    OK(rma_barrier_all());
    OK(rma_detach(memory[ATTACHED]));
    OK(rma_free_mem(memory[GUEST]));
    OK(rma_free_mem(memory[LOCAL]));
    OK(rma_free(memory[SYMMETRIC]));
    OK(rma_free(finished));
    return job_end();
}
