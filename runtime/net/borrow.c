/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/borrow.h"
#include "base/error.h"
#include "runtime/net/lease.h"
#include "runtime/net/pending.h"
#include "runtime/net/progress.h"
#include "runtime/net/state.h"
#include "runtime/net/submit.h"
#include "runtime/net/wire.h"

#include <time.h>

#define AT_ONCE 64    /* PEs that are asked before the first answer */
#define NAP     20000 /* nanoseconds between two rounds of questions */

enum rmai_leased rmai_borrow(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe, uint64_t offset,
                             size_t len, struct rmai_lease **lease, uint64_t *address) {
    struct rmai_ask a = {.call = call, .set = s, .pe = pe, .r = {.kind = RMAI_RECORD_LEASE}, .e = {.offset = offset}};
    struct rmai_lent lent = {0};
    const enum rmai_leased leased = rmai_lease_find(net, pe, offset, len, lease, address);
    if (leased != RMAI_LEASE_ASK) return leased;
    if (rmai_submit_and_wait(net, &a, &lent, sizeof lent) != RMA_SUCCESS) lent.size = 0;
    return rmai_lease_told(net, *lease, &lent, offset, len, address);
}

/* Asks n PEs at once. busy[i] becomes the answer of pe[i]. */
static int ask_to_drop(struct rmai_net *net, const char *call, struct rmai_pending *s, uint64_t start, uint64_t size,
                       const int *pe, uint64_t *busy, int n) {
    struct rmai_ask a = {
        .call = call, .set = s, .r = {.kind = RMAI_RECORD_REVOKE}, .e = {.offset = start, .value = size}};
    struct rmai_waiter waiter;
    int code = RMA_SUCCESS, waited;
    if (n == 0) return RMA_SUCCESS;
    rmai_waiter_begins(&waiter, 0);
    rmai_net_lock(net);
    for (int i = 0; i < n && code == RMA_SUCCESS; i++) {
        waiter.left++;
        a.pe = pe[i];
        a.expect = (struct rmai_expect){.dest = &busy[i], .len = sizeof busy[i], .waiter = &waiter};
        a.reply = sizeof busy[i];
        a.now = 1;
        code = rmai_submit(net, &a, 1);
        if (code != RMA_SUCCESS) waiter.left--;
    }
    waited = rmai_net_wait_for(net, call, pe[0], &waiter);
    rmai_net_unlock(net);
    return code == RMA_SUCCESS ? waited : code;
}

/* Until none of these is in the region any more. */
static int revoke_some(struct rmai_net *net, const char *call, struct rmai_pending *s, uint64_t start, uint64_t size,
                       int *pe, int n) {
    uint64_t busy[AT_ONCE];
    int code;
    while ((code = ask_to_drop(net, call, s, start, size, pe, busy, n)) == RMA_SUCCESS && n > 0) {
        int left = 0;
        for (int i = 0; i < n; i++)
            if (busy[i]) pe[left++] = pe[i];
        n = left;
        if (n > 0) nanosleep(&(struct timespec){.tv_nsec = NAP}, NULL);
    }
    return code;
}

int rmai_revoke(struct rmai_net *net, const char *call, struct rmai_pending *s, uint64_t start, uint64_t size,
                const uint64_t *lent_to) {
    const int n_pes = net->job->n_pes;
    int pe[AT_ONCE], n = 0, code = RMA_SUCCESS;
    for (int q = 0; q < n_pes && code == RMA_SUCCESS; q++) {
        if (lent_to[q / 64] >> q % 64 & 1) pe[n++] = q;
        if (n < AT_ONCE && q + 1 < n_pes) continue;
        code = revoke_some(net, call, s, start, size, pe, n);
        n = 0;
    }
    return code;
}
