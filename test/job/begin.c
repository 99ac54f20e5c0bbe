/* SPDX-License-Identifier: BSD-3-Clause */
/* Not a test by itself, and not in the plan: a job that begins, makes one call of each kind whose algorithm all PEs
 * must choose alike, and ends. A PE whose rma_init fails prints the text, and ends like a program that checks codes:
 * with exit code 3. */
#define _GNU_SOURCE /* RTLD_DEFAULT */

#include <rma.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGS   16384  /* 128 KiB of each PE: collectives take their long ways */
#define GROWTH  300000 /* bytes: more than the heap has at first, so that it grows */
#define ALIGNED 65536  /* bytes: more than a page, so the PEs must have chosen where their heaps are mapped */

static long at_home[2]; /* a symmetric global variable, unless RMA_STATICS=off */
static int me, n;

#define CHECK(condition) ((condition) ? (void)0 : failed(#condition, __LINE__))

static void failed(const char *what, int line) {
    fprintf(stderr, "PE %d: begin.c:%d: not so: %s: %s\n", me, line, what, rma_last_error());
    rma_abort(1);
}

static void move_data(long *a, long *b, size_t len) {
    const int to = (me + 1) % n, from = (me + n - 1) % n;
    for (size_t i = 0; i < len; i++) b[i] = me * 1000 + (long)i;
    memset(a, 0, len * sizeof *a);
    CHECK(rma_barrier_all() == RMA_SUCCESS);
    CHECK(rma_put(a, b, len * sizeof *a, to) == RMA_SUCCESS);
    CHECK(rma_barrier_all() == RMA_SUCCESS);
    for (size_t i = 0; i < len; i++) CHECK(a[i] == from * 1000 + (long)i);
    CHECK(rma_barrier_all() == RMA_SUCCESS);
    CHECK(rma_sum_reduce(RMA_TEAM_WORLD, a, b, len) == RMA_SUCCESS);
    for (size_t i = 0; i < len; i++) CHECK(a[i] == n * (n - 1) / 2 * 1000 + n * (long)i);
    CHECK(rma_sum_inscan(RMA_TEAM_WORLD, a, b, len) == RMA_SUCCESS);
    CHECK(a[0] == me * (me + 1) / 2 * 1000);
    CHECK(rma_broadcast(RMA_TEAM_WORLD, a, b, len * sizeof *a, n - 1) == RMA_SUCCESS);
    CHECK(a[len - 1] == (n - 1) * 1000 + (long)len - 1);
    len /= (size_t)n;
    CHECK(rma_fcollect(RMA_TEAM_WORLD, a, b, len * sizeof *a) == RMA_SUCCESS);
    for (int q = 0; q < n; q++) CHECK(a[(size_t)q * len] == q * 1000);
    CHECK(rma_alltoall(RMA_TEAM_WORLD, a, b, len * sizeof *a) == RMA_SUCCESS);
    for (int q = 0; q < n; q++) CHECK(a[(size_t)q * len] == q * 1000 + me * (long)len);
    CHECK(rma_barrier_all() == RMA_SUCCESS);
}

/* Whether global variables are symmetric, too. */
static void try_statics(void) {
    rma_errhandler *before = rma_set_errhandler(rma_errors_return);
    long code, codes;
    at_home[1] = me + 1;
    code = rma_put(&at_home[0], &at_home[1], sizeof at_home[0], (me + 1) % n);
    rma_set_errhandler(before);
    CHECK(rma_barrier_all() == RMA_SUCCESS);
    CHECK(code != RMA_SUCCESS || at_home[0] == (me + n - 1) % n + 1);
    CHECK(rma_sum_reduce(RMA_TEAM_WORLD, &codes, &code, 1) == RMA_SUCCESS);
    CHECK(codes == n * code);
}

/* Faults are injected into rma_init alone (test/fault/fault.c), unless RMA_TEST_FAULT_LATER is set. */
static void end_faults(void) {
    void (*no_more)(void);
    if (getenv("RMA_TEST_FAULT_LATER")) return;
    *(void **)(void *)&no_more = dlsym(RTLD_DEFAULT, "fault_no_more");
    if (no_more) no_more();
}

int main(void) {
    int code = rma_init();
    long *a, *b, *word;
    rma_lock_t *lock;
    if (code != RMA_SUCCESS) {
        fprintf(stderr, "rma_init returned %d: %s\n", code, rma_last_error());
        return 3;
    }
    end_faults();
    me = rma_my_pe();
    n = rma_n_pes();
    word = rma_calloc(2 * (size_t)n, sizeof *word);
    lock = rma_calloc(1, sizeof *lock);
    CHECK(word && lock);
    move_data(word, word + n, (size_t)n);
    CHECK(rma_malloc(GROWTH) != NULL);
    a = rma_malloc(LONGS * sizeof *a);
    b = rma_aligned_alloc(ALIGNED, LONGS * sizeof *b);
    CHECK(a && b);
    CHECK((uintptr_t)b % ALIGNED == 0);
    move_data(a, b, LONGS);
    *word = 0;
    CHECK(rma_barrier_all() == RMA_SUCCESS);
    CHECK(rma_set_lock(lock) == RMA_SUCCESS);
    CHECK(rma_clear_lock(lock) == RMA_SUCCESS);
    rma_atomic_fetch_add(word, 1L, 0);
    CHECK(rma_barrier_all() == RMA_SUCCESS);
    CHECK(me != 0 || rma_atomic_fetch(word, 0) == n);
    try_statics();
    rma_free(a);
    rma_free(b);
    CHECK(rma_finalize() == RMA_SUCCESS);
    printf("PE %d passed\n", me);
    return 0;
}
