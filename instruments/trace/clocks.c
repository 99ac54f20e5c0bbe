/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "instruments/trace/clocks.h"

#include "instruments/trace/job.h"
#include "instruments/trace/native.h"
#include "instruments/trace/part.h"
#include "instruments/trace/ticks.h"

#define ROUNDS 16

/* PE 0's side. The results are those of this PE minus those of PE pe, whose exchange gets them. */
static void ask(struct trace_exchange *x, int pe) {
    int64_t result[2] = {0, INT64_MAX};
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        int64_t before = trace_ns(), after;
        prma_signal_set(&x->ask, i, pe);
        prma_signal_wait_until(&x->answer, RMA_CMP_EQ, i);
        after = trace_ns();
        if ((after - before) / 2 >= result[1]) continue;
        result[0] = before + (after - before) / 2 - x->ns;
        result[1] = (after - before) / 2;
    }
    x->answer = 0;
    prma_put_signal(&x->ahead, result, sizeof result, &x->done, 1, RMA_SIGNAL_SET, pe);
}

static void answer(struct trace_exchange *x) {
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        int64_t now;
        prma_signal_wait_until(&x->ask, RMA_CMP_EQ, i);
        now = trace_ns();
        prma_put_signal(&x->ns, &now, sizeof now, &x->answer, i, RMA_SIGNAL_SET, 0);
    }
    prma_signal_wait_until(&x->done, RMA_CMP_EQ, 1);
}

size_t trace_clocks_room(void) { return sizeof(struct trace_exchange) + (size_t)trace_job.n_pes * sizeof(int64_t[3]); }

static const int64_t *tell(struct trace_exchange *x, int of) {
    x->own[0] = trace_job.node;
    x->own[1] = x->ahead;
    x->own[2] = x->error;
    prma_fcollect(RMA_TEAM_WORLD, x->all, x->own, sizeof x->own);
    return x->all[of];
}

void trace_clocks_compare(struct trace_exchange *x) {
    const int64_t *mine;
    struct trace_clock clock;
    tell(x, 0);
    if (trace_job.my_pe == 0) {
        for (int pe = 1; pe < trace_job.n_pes; pe++)
            if (x->all[pe][0] == pe) ask(x, pe);
    } else if (trace_job.node == trace_job.my_pe)
        answer(x);
    mine = tell(x, trace_job.node);
    clock = (struct trace_clock){.ticks = trace_ticks(), .ns = trace_ns(), .ahead = mine[1], .error = mine[2]};
    trace_part_clock(&clock);
    prma_barrier_all();
}
