/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "interfaces/mpi/peers.h"

#include <stdlib.h>

static void learn_memory(struct rmai_win_peer *p, const struct rmai_win_record *record) {
    p->size = record->size;
    p->unit = record->unit;
    p->start = record->start;
    p->address = record->address;
    p->base = record->start != RMA_GPTR_NULL ? rma_gptr_ptr(record->start) : NULL;
    /* Only in the heaps the address says which lock protects a word that no instruction updates. */
    p->words = record->start != RMA_GPTR_NULL ? rma_gptr_ptr_(record->start, 1) : NULL;
}

int rmai_win_peers_find(struct rmai_win *w) {
    for (int i = 0; i < w->comm->n_near; i++) {
        struct rmai_win_peer *p = &w->near[i];
        const rma_gptr_t *directory;
        p->rank = w->comm->near[i].rank;
        p->pe = w->comm->near[i].pe;
        directory = rma_ptr(rmai_win_directory, p->pe);
        if (!directory) return 0;
        p->record_at = __atomic_load_n(&directory[w->number], __ATOMIC_ACQUIRE);
        p->record = rma_gptr_ptr(p->record_at);
        if (!p->record) return 0;
        learn_memory(p, p->record);
    }
    /* This process's own memory, attached or not. */
    w->near[w->comm->my_slot].base = w->base;
    return 1;
}

static int fetch_peer(struct rmai_win *w, int rank, struct rmai_win_peer *p) {
    struct rmai_win_record record;
    int code;
    *p = (struct rmai_win_peer){.rank = rank, .pe = rmai_win_comm_pe(w->comm, rank)};
    code = rma_get(&p->record_at, &rmai_win_directory[w->number], sizeof p->record_at, p->pe);
    if (code == RMA_SUCCESS) code = rma_gptr_get(&record, p->record_at, offsetof(struct rmai_win_record, lock));
    if (code == RMA_SUCCESS) learn_memory(p, &record);
    return code;
}

static struct rmai_win_peer *find_far(struct rmai_win *w, int rank) {
    struct rmai_win_peer *p = w->far[(unsigned)rank % RMAI_WIN_FAR];
    while (p && p->rank != rank) p = p->next;
    return p;
}

/* Forgets all peers on other nodes that no epoch names, and for which this process has never posted. */
#define FAR_MOST 256
static void forget_far(struct rmai_win *w, int all) {
    for (int i = 0; i < RMAI_WIN_FAR; i++)
        for (struct rmai_win_peer **at = &w->far[i], *p; (p = *at) != NULL;)
            if ((p->access || p->posts_at != RMA_GPTR_NULL) && !all) {
                at = &p->next;
            } else {
                *at = p->next;
                w->n_far--;
                free(p);
            }
    w->last_far = NULL;
}

/* Finds the peer, or makes an entry for it. The caller holds the mutex; this releases it while it waits for the other
 * node. */
static int enter_far(struct rmai_win *w, int rank, struct rmai_win_peer **found) {
    struct rmai_win_peer *p = find_far(w, rank), fetched;
    int code;
    if (!p) {
        rmai_win_unguard(w);
        code = fetch_peer(w, rank, &fetched);
        rmai_win_guard(w);
        if (code != RMA_SUCCESS) return code;
        p = find_far(w, rank);
    }
    if (!p) {
        if (w->n_far >= FAR_MOST) forget_far(w, 0);
        p = malloc(sizeof *p);
        if (!p) return rma_fail_(RMA_ERR_NO_MEM, "no memory for what is known about process %d of the window", rank);
        *p = fetched;
        p->next = w->far[(unsigned)rank % RMAI_WIN_FAR];
        w->far[(unsigned)rank % RMAI_WIN_FAR] = p;
        w->n_far++;
    }
    if (!rmai_win_threads) w->last_far = p;
    *found = p;
    return RMA_SUCCESS;
}

int rmai_win_peer(struct rmai_win *w, int rank, struct rmai_win_peer *peer) {
    struct rmai_win_peer *p = rmai_win_known(w, rank);
    int code = RMA_SUCCESS;
    if (p) {
        *peer = *p;
        return RMA_SUCCESS;
    }
    rmai_win_guard(w);
    code = enter_far(w, rank, &p);
    if (code == RMA_SUCCESS) *peer = *p;
    rmai_win_unguard(w);
    return code;
}

int rmai_win_peer_access(struct rmai_win *w, int rank, unsigned access) {
    struct rmai_win_peer *p = rmai_win_known(w, rank);
    int code = RMA_SUCCESS;
    if (p) {
        p->access = access;
        return RMA_SUCCESS;
    }
    rmai_win_guard(w);
    code = enter_far(w, rank, &p);
    if (code == RMA_SUCCESS) p->access = access;
    rmai_win_unguard(w);
    return code;
}

int rmai_win_peer_posts(struct rmai_win *w, int rank, rma_gptr_t at) {
    struct rmai_win_peer *p;
    int code;
    rmai_win_guard(w);
    code = enter_far(w, rank, &p);
    if (code == RMA_SUCCESS) p->posts_at = at;
    rmai_win_unguard(w);
    return code;
}

void rmai_win_peers_free(struct rmai_win *w) {
    forget_far(w, 1);
    free(w->near);
    free(w->posts_seen);
    free(w->started);
    free(w->far_records);
    w->near = NULL;
    w->posts_seen = NULL;
    w->far_records = NULL;
}
