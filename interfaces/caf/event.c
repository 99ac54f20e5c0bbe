/* SPDX-License-Identifier: BSD-3-Clause */
/* Events: a count that all images raise and its own image lowers. */
#include "config.h"

#include "interfaces/caf/lock.h"

void rmai_caf_event_post(struct rmai_caf_result r, const struct rmai_caf_place *at) {
    if (at->near)
        rmai_caf_must(rma_quiet());
    else
        rmai_caf_signals(at->pe);
    rmai_caf_word_op(at, 8, RMAI_CAF_OP_ADD, 1, 0);
    rmai_caf_signalled();
    rmai_caf_done(r);
}

void rmai_caf_event_wait(struct rmai_caf_result r, uint64_t *event, int64_t count) {
    uint64_t n = count < 1 ? 1 : (uint64_t)count;
    rmai_caf_wait("EVENT WAIT", event, n);
    struct rmai_caf_place at = {.near = (char *)event, .pe = rmai_caf.me};
    rmai_caf_word_op(&at, 8, RMAI_CAF_OP_ADD, -n, 0);
    rmai_caf_done(r);
}
