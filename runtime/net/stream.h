/* SPDX-License-Identifier: BSD-3-Clause */
/* What streams are of, and the short way that most of a stream takes: its element joins the batch that is open for its
 * PE while an earlier one is under way. All of it is compiled into the few calls that begin such elements, which know
 * what kind of element it is. */
#ifndef RMAI_STREAM_H
#define RMAI_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "runtime/net/batch.h"
#include "runtime/net/pending.h"
#include "runtime/net/progress.h"
#include "runtime/net/wire.h"

/* Elements that are added between two looks for replies. The look that finds one sends what has gathered: with 32 a
 * message had some 40 elements, and its own cost was most of each element's. */
#define RMAI_ELEMENTS_A_LOOK 128
#define RMAI_STREAM_MOST     ((size_t)1024) /* bytes of a put that is copied into a message if it is one of a stream */

/* An element that cannot fail, has no long data, and for which nobody waits. The neighbours of its PE reach the memory,
 * so it may go by the node. */
struct rmai_short_ask {
    struct rmai_record r;
    struct rmai_element e;
    const void *data; /* of RMAI_RECORD_PUT */
    void *dest;       /* of a value of `value` bytes, or NULL */
    uint32_t value;
    int put; /* it writes: a release has to wait for it */
};

/* rmai_join adds n of these to p's open batch, with rmai_peer_to's mark. Returns 0 if there is none, or it has no room.
 * waiter: of a call that waits for their values after all, or NULL. */
static inline __attribute__((always_inline)) int rmai_join(struct rmai_peer *p, const struct rmai_short_ask *q, int n,
                                                           uint64_t mark, struct rmai_waiter *waiter) {
    struct rmai_batch *batch = p->open;
    struct rmai_need need[2], all = {0};
    for (int i = 0; i < n; i++) {
        need[i] = (struct rmai_need){.bytes = sizeof q->r + rmai_wire_element_bytes(&q[i].r)};
        if (q[i].dest) {
            need[i].expects = 1;
            need[i].reply = sizeof(struct rmai_item) + rmai_padded(q[i].value);
        }
        all.bytes += need[i].bytes;
        all.reply += need[i].reply;
        all.expects += need[i].expects;
    }
    if (RMAI_UNLIKELY(!batch || !rmai_batch_fits(batch, &all))) return 0;
    for (int i = 0; i < n; i++) {
        const struct rmai_expect expect = {.dest = q[i].dest, .len = q[i].value, .waiter = waiter};
        struct rmai_element e = q[i].e;
        e.offset |= mark;
        rmai_batch_append(batch, &q[i].r, &e, q[i].data, NULL, &need[i], q[i].dest ? &expect : NULL);
        if (q[i].put) rmai_pending_note_put(p->set, p->pe, 1);
    }
    rmai_peer_list(p);
    p->asked += (unsigned)n;
    return 1;
}

/* rmai_gathers: 1 if what is asked of p waits for company. */
static inline int rmai_gathers(const struct rmai_peer *p) { return p->under_way > 0 || p->set->session; }

/* rmai_join_stream: *q joins what has gathered for PE pe, with a look for replies now and then. Returns 0, with nothing
 * changed, if nothing has, or there is no room, or pe is no PE of another node. Takes the set's lock. */
static inline __attribute__((always_inline)) int rmai_join_stream(struct rmai_pending *s, int pe,
                                                                  const struct rmai_short_ask *q) {
    struct rmai_peer *p;
    uint64_t mark;
    int joined = 0, look = 0;
    rmai_pending_lock(s);
    pe = rmai_pending_goes_to(s, pe, &mark);
    p = RMAI_LIKELY(s->last && s->last->pe == pe) ? s->last : rmai_pe_table_get(&s->peers, pe);
    if (RMAI_LIKELY(p && rmai_gathers(p) && rmai_peer_has_open(p))) {
        joined = rmai_join(p, q, 1, mark, NULL);
        look = joined && p->asked % RMAI_ELEMENTS_A_LOOK == 0;
    }
    rmai_pending_unlock(s);
    if (RMAI_UNLIKELY(look)) rmai_net_progress(s->net, 1);
    return joined;
}

#endif
