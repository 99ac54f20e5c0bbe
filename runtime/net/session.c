/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/session.h"
#include "base/clock.h"
#include "runtime/net/batch.h"
#include "runtime/net/pending.h"
#include "runtime/net/progress.h"
#include "runtime/net/state.h"

void rmai_session_start(struct rmai_net *net, struct rmai_pending *s) {
    if (!net->active) return;
    rmai_net_lock(net);
    rmai_pending_lock(s);
    if (!s->session) {
        s->session = 1;
        rmai_pending_choose_way(s);
        if (net->sessions++ == 0) net->batches_due = rmai_wtime() + RMAI_BATCH_WAIT;
    }
    rmai_pending_unlock(s);
    rmai_net_unlock(net);
}

void rmai_session_stop(struct rmai_net *net, struct rmai_pending *s) {
    if (!net->active) return;
    rmai_net_lock(net);
    rmai_pending_lock(s);
    if (s->session) {
        s->session = 0;
        net->sessions--;
        rmai_pending_choose_way(s);
        /* A batch to a peer without a credit is sent when that peer's next reply comes. */
        for (struct rmai_peer *p = s->busy; p; p = p->next)
            if (rmai_peer_has_open(p) && p->under_way < RMAI_CREDITS) rmai_batch_send(net, p);
    }
    rmai_pending_unlock(s);
    rmai_net_unlock(net);
}
