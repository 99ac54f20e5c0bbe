/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/lease.h"
#include "base/attributes.h"
#include "base/error.h"
#include "heap/attached.h"
#include "runtime/net/pending.h"
#include "runtime/net/progress.h"
#include "runtime/net/state.h"
#include "runtime/net/submit.h"
#include "runtime/net/wire.h"

#include <stdlib.h>
#include <time.h>

#define LEASES  1024  /* places; a power of two */
#define AT_ONCE 64    /* PEs that are asked before the first answer */
#define NAP     20000 /* nanoseconds between two rounds of questions */

struct rmai_lease {
    int pe;
    int known;      /* the owner has answered; until then `lent` has nothing but the granule's offset, and one byte */
    int ended;      /* the owner has revoked it */
    unsigned users; /* accesses that are in it, and who asks for it */
    uint64_t granule;
    struct rmai_lent lent;
};

struct rmai_leases {
    pthread_mutex_t lock;         /* of the table; nothing is taken, and nothing waited for, with it */
    struct rmai_lease of[LEASES]; /* pe is -1: none */
};

static struct rmai_leases *leases_of(struct rmai_net *net) {
    struct rmai_leases *l;
    rmai_net_lock(net);
    if (!(l = net->leases) && (l = calloc(1, sizeof *l)) != NULL) {
        pthread_mutex_init(&l->lock, NULL);
        for (int i = 0; i < LEASES; i++) l->of[i].pe = -1;
        __atomic_store_n(&net->leases, l, __ATOMIC_RELEASE);
    }
    rmai_net_unlock(net);
    return l;
}

static struct rmai_lease *place_of(struct rmai_leases *l, int pe, uint64_t granule) {
    return &l->of[((uint64_t)pe * 0x9e3779b97f4a7c15u + granule * 0xbf58476d1ce4e5b9u) >> 40 & (LEASES - 1)];
}

/* The table's lock is held. */
static enum rmai_leased enter_known(struct rmai_lease *e, uint64_t offset, size_t len, uint64_t *address) {
    const uint64_t at = offset - e->lent.start;
    if (e->ended || e->lent.address == 0 || at > e->lent.size || len > e->lent.size - at) return RMAI_NOT_LEASED;
    e->users++;
    *address = e->lent.address + at;
    return RMAI_LEASED;
}

/* Asks the owner. The place is this thread's meanwhile: a revocation that comes before the answer finds it. */
static enum rmai_leased ask_owner(struct rmai_net *net, const char *call, struct rmai_pending *s, struct rmai_leases *l,
                                  struct rmai_lease *e, uint64_t offset, size_t len, uint64_t *address) {
    struct rmai_ask a = {
        .call = call, .set = s, .pe = e->pe, .r = {.kind = RMAI_RECORD_LEASE}, .e = {.offset = offset}};
    struct rmai_lent lent = {0};
    enum rmai_leased leased = RMAI_NOT_LEASED;
    int code = rmai_submit_and_wait(net, &a, &lent, sizeof lent);
    pthread_mutex_lock(&l->lock);
    e->users--;
    if (code == RMA_SUCCESS && !e->ended && lent.size > 0) {
        e->known = 1;
        e->lent = lent;
        leased = enter_known(e, offset, len, address);
    } else {
        e->pe = -1;
    }
    pthread_mutex_unlock(&l->lock);
    return leased;
}

enum rmai_leased rmai_lease_enter(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe,
                                  uint64_t offset, size_t len, struct rmai_lease **lease, uint64_t *address) {
    struct rmai_leases *l = __atomic_load_n(&net->leases, __ATOMIC_ACQUIRE);
    const uint64_t granule = offset / RMAI_GRANULE;
    enum rmai_leased leased;
    struct rmai_lease *e;
    if (!l && !(l = leases_of(net))) return RMAI_NOT_LEASED;
    e = *lease = place_of(l, pe, granule);
    pthread_mutex_lock(&l->lock);
    if (e->pe == pe && e->granule == granule && e->known) {
        leased = enter_known(e, offset, len, address);
        pthread_mutex_unlock(&l->lock);
        return leased;
    }
    if (e->users > 0) {
        pthread_mutex_unlock(&l->lock);
        return RMAI_LEASE_BUSY;
    }
    *e = (struct rmai_lease){
        .pe = pe, .granule = granule, .users = 1, .lent = {.start = granule * RMAI_GRANULE, .size = 1}};
    pthread_mutex_unlock(&l->lock);
    return ask_owner(net, call, s, l, e, offset, len, address);
}

void rmai_lease_leave(struct rmai_net *net, struct rmai_lease *lease) {
    struct rmai_leases *l = net->leases;
    pthread_mutex_lock(&l->lock);
    lease->users--;
    pthread_mutex_unlock(&l->lock);
}

/* A region has as many places as granules of it were asked for. */
uint64_t rmai_lease_drop(struct rmai_net *net, int owner, uint64_t start, uint64_t size) {
    struct rmai_leases *l = __atomic_load_n(&net->leases, __ATOMIC_ACQUIRE);
    uint64_t busy = 0;
    if (!l) return 0;
    pthread_mutex_lock(&l->lock);
    for (int i = 0; i < LEASES; i++) {
        struct rmai_lease *e = &l->of[i];
        if (e->pe != owner || e->lent.start - start >= size) continue;
        e->ended = 1;
        busy += e->users;
        if (e->users == 0) e->pe = -1;
    }
    pthread_mutex_unlock(&l->lock);
    return busy;
}

/* ---- the owner ---- */

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

int rmai_lease_revoke(struct rmai_net *net, const char *call, struct rmai_pending *s, uint64_t start, uint64_t size,
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

void rmai_leases_close(struct rmai_net *net) {
    if (!net->leases) return;
    pthread_mutex_destroy(&net->leases->lock);
    free(net->leases);
    net->leases = NULL;
}
