/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/pending.h"
#include "base/attributes.h"
#include "runtime/net/by_node.h"
#include "runtime/net/state.h"
#include "runtime/net/wire.h"

#include <stdlib.h>

/* ---- peers ---- */

struct rmai_peer *rmai_peer_find_(struct rmai_pending *s, int pe) {
    struct rmai_peer *p = rmai_pe_table_find(&s->peers, pe, sizeof *p);
    if (!p) return NULL;
    if (!p->set) p->set = s; /* who takes a reply reads it without the set's lock */
    return s->last = p;
}

/* ---- what quiet completes ---- */

static void set_nothing_pending(struct rmai_pending *s, uint32_t nothing) {
    /* Release: a thread that finds nothing pending, since another thread's quiet has seen to that, sees what that quiet
     * has waited for. Pairs with the acquire load in rmai_quiet_default and the inlined quiet. */
    __atomic_store_n(s->nothing_pending, nothing, __ATOMIC_RELEASE);
    if (s->nothing_pending_too != s->nothing_pending)
        __atomic_store_n(s->nothing_pending_too, nothing, __ATOMIC_RELEASE);
}

void rmai_peer_list(struct rmai_peer *p) {
    if (p->listed) return;
    p->listed = 1;
    p->next = p->set->busy;
    p->set->busy = p;
    set_nothing_pending(p->set, 0);
}

void rmai_pending_note_put(struct rmai_pending *s, int pe, int in_order) {
    int before = atomic_load_explicit(&s->puts, memory_order_relaxed), mine = in_order ? 1 + pe : RMAI_MANY_PUTS;
    if (before != RMAI_NO_PUTS && before != mine) mine = RMAI_MANY_PUTS;
    if (before != mine) atomic_store_explicit(&s->puts, mine, memory_order_relaxed);
}

/* Who does a record for its neighbour has the word in its cache next, where the owner would like to find it. That is
 * worth while only if messages leave half empty otherwise. */
#define FEW  RMAI_MESSAGE       /* bytes for each PE between two quiets: fewer go by the node, */
#define MANY (2 * RMAI_MESSAGE) /* and more go to the PE itself */

void rmai_pending_choose_way(struct rmai_pending *s) {
    const struct rmai_by_node *b = &s->net->by_node;
    if (s->busy) return;
    if (b->open && s->done_peers) {
        const size_t pes = (size_t)s->done_peers * (rmai_pending_by_node(s) ? b->most : 1);
        if (s->filled < pes * FEW) s->many = 0;
        if (s->filled > pes * MANY) s->many = 1;
    }
    s->filled = s->done_peers = 0;
    atomic_store_explicit(&s->by_node, s->session && !s->many && b->open, memory_order_relaxed);
}

void rmai_peer_unlist(struct rmai_peer *p) {
    struct rmai_pending *s = p->set;
    for (struct rmai_peer **i = &s->busy; *i; i = &(*i)->next)
        if (*i == p) {
            *i = p->next;
            p->listed = 0;
            s->done_peers++;
            break;
        }
    p->last_was_lone = p->asked == 1;
    p->asked = 0;
    if (s->busy) return;
    s->copied = 0;
    rmai_pending_choose_way(s);
    atomic_store_explicit(&s->puts, RMAI_NO_PUTS, memory_order_relaxed);
    set_nothing_pending(s, 1);
}

/* ---- opening and closing ---- */

void rmai_pending_open(struct rmai_net *net, struct rmai_pending *s, uint32_t *nothing_pending,
                       uint32_t *nothing_pending_too) {
    *s = (struct rmai_pending){.net = net,
                               .traffic = net ? net->traffic : NULL,
                               .nothing_pending = nothing_pending,
                               .nothing_pending_too = nothing_pending_too};
    pthread_mutex_init(&s->lock, NULL);
    set_nothing_pending(s, 1);
    if (!net) return;
    pthread_mutex_lock(&net->sets_lock);
    s->id = ++net->n_opened;
    s->link = &net->sets;
    s->next_set = net->sets;
    if (s->next_set) s->next_set->link = &s->next_set;
    net->sets = s;
    pthread_mutex_unlock(&net->sets_lock);
}

void rmai_pending_close(struct rmai_pending *s) {
    if (s->net) {
        pthread_mutex_lock(&s->net->sets_lock);
        *s->link = s->next_set;
        if (s->next_set) s->next_set->link = s->link;
        pthread_mutex_unlock(&s->net->sets_lock);
    }
    for (unsigned i = 0; i < s->peers.room; i++) {
        struct rmai_peer *p = (struct rmai_peer *)(void *)s->peers.entry[i];
        if (!p) continue;
        rmai_token_drop(s->net->transport, &p->doorbell, 0);
        free(p->directory);
    }
    rmai_pe_table_close(&s->peers);
    free(s->copies);
    pthread_mutex_destroy(&s->lock);
}

/* ---- flushes that last ---- */

int rmai_pending_flush_lasts(struct rmai_net *net, struct rmai_flush_seen *seen) {
    const struct rmai_flush_seen before = *seen;
    int lasts = 0;
    *seen = (struct rmai_flush_seen){0};
    if (pthread_mutex_trylock(&net->sets_lock) != 0) return 0; /* who makes the window anew is watched by itself */
    for (struct rmai_pending *s = net->sets; s && !lasts; s = s->next_set) {
        struct rmai_flush_seen now;
        if (!rmai_flush_read(&s->flush, &now)) continue;
        now.set = s->id;
        lasts = now.set == before.set && now.version == before.version;
        if (lasts || !seen->set) *seen = now;
    }
    pthread_mutex_unlock(&net->sets_lock);
    return lasts;
}
