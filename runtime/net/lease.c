/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/lease.h"
#include "heap/attached.h"
#include "runtime/net/state.h"
#include "runtime/net/wire.h"

#include <stdlib.h>

#define LEASES 1024 /* places; a power of two */

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
    pthread_mutex_lock(&net->dynamic.lock);
    if (!(l = net->leases) && (l = calloc(1, sizeof *l)) != NULL) {
        pthread_mutex_init(&l->lock, NULL);
        for (int i = 0; i < LEASES; i++) l->of[i].pe = -1;
        __atomic_store_n(&net->leases, l, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&net->dynamic.lock);
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

enum rmai_leased rmai_lease_find(struct rmai_net *net, int pe, uint64_t offset, size_t len, struct rmai_lease **lease,
                                 uint64_t *address) {
    struct rmai_leases *l = __atomic_load_n(&net->leases, __ATOMIC_ACQUIRE);
    const uint64_t granule = offset / RMAI_GRANULE;
    enum rmai_leased leased = RMAI_LEASE_BUSY;
    struct rmai_lease *e;
    if (!l && !(l = leases_of(net))) return RMAI_NOT_LEASED;
    e = *lease = place_of(l, pe, granule);
    pthread_mutex_lock(&l->lock);
    if (e->pe == pe && e->granule == granule && e->known) {
        leased = enter_known(e, offset, len, address);
    } else if (e->users == 0) {
        *e = (struct rmai_lease){
            .pe = pe, .granule = granule, .users = 1, .lent = {.start = granule * RMAI_GRANULE, .size = 1}};
        leased = RMAI_LEASE_ASK;
    }
    pthread_mutex_unlock(&l->lock);
    return leased;
}

enum rmai_leased rmai_lease_told(struct rmai_net *net, struct rmai_lease *e, const struct rmai_lent *lent,
                                 uint64_t offset, size_t len, uint64_t *address) {
    struct rmai_leases *l = net->leases;
    enum rmai_leased leased = RMAI_NOT_LEASED;
    pthread_mutex_lock(&l->lock);
    e->users--;
    if (lent->size > 0 && !e->ended) {
        e->known = 1;
        e->lent = *lent;
        leased = enter_known(e, offset, len, address);
    } else {
        e->pe = -1;
    }
    pthread_mutex_unlock(&l->lock);
    return leased;
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

void rmai_leases_close(struct rmai_net *net) {
    if (!net->leases) return;
    pthread_mutex_destroy(&net->leases->lock);
    free(net->leases);
    net->leases = NULL;
}
