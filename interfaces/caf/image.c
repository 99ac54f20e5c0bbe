/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of an image: start, stop, failure, and how the others learn of the end.
 *
 * Other images may wait for words that only this image changes. So an image that stops or fails marks these words on
 * each image (RMAI_CAF_LEFT): an image that waits for such a word wakes up, and finds out who has left. At the normal
 * end of a program all images stop at about the same time, and nobody waits. So an image that stops first waits for a
 * moment in a barrier of its own, and marks words only if not all others arrive there. */
#include "config.h"

#include "interfaces/caf/component.h"
#include "interfaces/caf/core.h"
#include "interfaces/caf/lock.h"
#include "interfaces/caf/serve.h"
#include "interfaces/caf/sync.h"
#include "interfaces/caf/team.h"

#include <stdlib.h>
#include <time.h>

RMAI_CAF_STATE struct rmai_caf rmai_caf;

#define LAST_SECONDS 0.002 /* how long an image that stops waits for the others before it marks words */

static void *symmetric_or_stop(size_t n, size_t size) {
    void *block = rma_calloc(n, size);
    if (!block)
        rmai_caf_report(RMAI_CAF_NO_RESULT, RMAI_CAF_STAT_NO_MEM, "start of the coarrays: %s", rma_last_error());
    return block;
}

void rmai_caf_start(void) {
    if (rmai_caf.self) return;
    rma_call_as_(RMA_COARRAYS_);
    if (rma_init() != RMA_SUCCESS) exit(RMA_EXIT_BASE + rma_last_code());
    rma_call_as_(NULL);
    rmai_caf.me = rma_my_pe();
    rmai_caf.n = rma_n_pes();
    rmai_caf.crowded = rma_reach_.one_node && rma_crowded_();
    struct rmai_caf_image *self = symmetric_or_stop(1, sizeof *self);
    rmai_caf.pair = symmetric_or_stop((size_t)rmai_caf.n, sizeof *rmai_caf.pair);
    rmai_caf.expected = calloc((size_t)rmai_caf.n, sizeof *rmai_caf.expected);
    if (!rmai_caf.expected)
        rmai_caf_report(RMAI_CAF_NO_RESULT, RMAI_CAF_STAT_NO_MEM, "start of the coarrays: no memory for %d images",
                        rmai_caf.n);
    self->self = (uint64_t)(uintptr_t)self;
    self->space = rma_reach_.stride;
    self->random_seed = (uint64_t)time(NULL) << 32 ^ (uint64_t)(rma_wtime() * 1e9);
    rmai_caf.self = self;
    rmai_caf.first = rma_gptr(self, 0);
    rmai_caf.initial = rmai_caf.team = rmai_caf_team_initial();
    rmai_caf_component_begin();
    rmai_caf.early = 1;
    if (rmai_caf.n > 1) rmai_caf_must(rma_lend_memory_(RMA_COARRAYS_));
    rmai_caf_must(rma_barrier_all());
}

void rmai_caf_in_main(void) {
    rmai_caf.early = 0;
    rma_watch_exit_();
}

enum rmai_caf_stat rmai_caf_status(int pe) {
    return (enum rmai_caf_stat)rma_atomic_fetch_uint64(&rmai_caf.self->status, pe);
}

#define HOT_POLLS 300

uint64_t rmai_caf_wait(const char *statement, uint64_t *word, uint64_t value) {
    uint64_t x = 0;
    for (int polls = rma_reach_.one_node ? HOT_POLLS : 1; polls > 0; polls--)
        if ((x = __atomic_load_n(word, __ATOMIC_ACQUIRE)) >= value) return x;
    rma_call_as_(statement);
    rma_wait_until_uint64(word, RMA_CMP_GE, value);
    rma_call_as_(NULL);
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

void rmai_caf_leave(enum rmai_caf_stat status) {
    struct rmai_caf_image *self = rmai_caf.self;
    rmai_caf_must(rma_quiet());
    /* The status is written before the marks: an image that finds a mark reads the status next. */
    rma_atomic_set_uint64(&self->status, status, rmai_caf.me);
    for (int pe = 0; pe < rmai_caf.n; pe++) {
        if (pe == rmai_caf.me) continue;
        rma_atomic_add_uint64(&self->gone, 1, pe);
        rma_atomic_or_uint64(&rmai_caf.pair[rmai_caf.me], RMAI_CAF_LEFT, pe);
    }
    rmai_caf_team_mark_all();
    rmai_caf_must(rma_quiet());
}

/* 1 if all images have arrived at their end within a moment. */
static int all_at_the_end(void) {
    struct rmai_caf_team_words *last = &rmai_caf.self->last;
    int n = rmai_caf.n;
    double begin = rma_wtime();
    for (int round = 0, far = 1; far < n; round++, far *= 2) {
        rmai_caf_must(rma_signal_add(&last->arrived[round], 1, (rmai_caf.me + far) % n));
        while (!rma_test_uint64(&last->arrived[round], RMA_CMP_GE, 1))
            if (rma_wtime() - begin > LAST_SECONDS) return 0;
    }
    return 1;
}

void rmai_caf_finish(void) {
    if (!rmai_caf.self || !rma_initialized()) return;
    rmai_caf_must(rma_quiet());
    if (rmai_caf.n > 1) {
        const int missed = !all_at_the_end();
        if (missed) rmai_caf_leave(RMAI_CAF_STAT_STOPPED);
        rmai_caf_sync_leaving(missed);
    }
    rmai_caf_serve_end();
    rma_finalize();
    rmai_caf.self = NULL;
}

/* A program that exits with 0, or returns 0 from a main that is not Fortran's, stops its image. Image control is over:
 * a destructor, since functions that the program has registered by atexit(3) may still execute some. */
__attribute__((destructor(102))) static void stop_for_program(void) {
    if (rmai_caf.self && rma_exits_normally_()) rmai_caf_finish();
}

void rmai_caf_fail(void) {
    rmai_caf_lock_give_up();
    if (rmai_caf.n > 1) {
        rmai_caf_leave(RMAI_CAF_STAT_FAILED);
        rmai_caf_sync_leaving(1);
    }
    rmai_caf_serve_end();
    rma_finalize();
    rmai_caf.self = NULL;
    exit(EXIT_SUCCESS);
}
