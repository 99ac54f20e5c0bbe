/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements into batches, and batches on their way: what a request to a PE of another node becomes. An element joins the
 * batch that gathers for its PE. The batch leaves at once if nothing else is under way to that PE or the caller waits,
 * and else when it is full or a message to that PE is answered. */
#ifndef RMAI_SUBMIT_H
#define RMAI_SUBMIT_H

#include <stddef.h>

#include "runtime/net/batch.h"
#include "runtime/net/pending.h"
#include "runtime/net/wire.h"

struct rmai_net;

/* What one element asks for. */
struct rmai_ask {
    const char *call;
    struct rmai_pending *set;
    int pe, may_fail;
    struct rmai_record r; /* n and name are 0 */
    struct rmai_element e;
    const void *data;          /* of r.len bytes, with RMAI_RECORD_PUT */
    struct rmai_expect expect; /* where rmai_wire_expects, or the element may fail */
    size_t reply;              /* bytes of data in the item, at most */
    int put;                   /* it writes: a release has to wait for it */
    int now;                   /* the call waits for it */
    void *buffer;              /* of long data, e.value bytes; or NULL */
};

/* rmai_submit adds n elements to the open batch of their peer, and sends that if it is time. They go with one message;
 * an element with long data comes alone. It waits for room. The net's lock is held. Returns RMA_SUCCESS or
 * RMA_ERR_NO_MEM. */
int rmai_submit(struct rmai_net *net, const struct rmai_ask *a, int n);

/* rmai_submit_and_wait asks for one element and waits for its reply, whose value, of len bytes, goes to dest. */
int rmai_submit_and_wait(struct rmai_net *net, struct rmai_ask *a, void *dest, size_t len);

/* What streams are of: an element that cannot fail, has no long data, and for which nobody waits. */
struct rmai_short_ask {
    struct rmai_record r;
    struct rmai_element e;
    const void *data; /* of RMAI_RECORD_PUT */
    void *dest;       /* of a value of `value` bytes, or NULL */
    uint32_t value;
    int put; /* as above */
};

/* rmai_submit_short: as rmai_submit, for n of these. It takes the locks itself. */
int rmai_submit_short(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe,
                      const struct rmai_short_ask *q, int n);

#define RMAI_ELEMENTS_A_LOOK 32 /* are added between two looks for replies */

/* rmai_join adds n of these to p's open batch. Returns 0 if there is none, or it has no room. To be compiled into its
 * few callers, which know what kind of element it is. */
static inline __attribute__((always_inline)) int rmai_join(struct rmai_peer *p, const struct rmai_short_ask *q, int n) {
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
        const struct rmai_expect expect = {.dest = q[i].dest, .len = q[i].value};
        rmai_batch_append(batch, &q[i].r, &q[i].e, q[i].data, NULL, &need[i], q[i].dest ? &expect : NULL);
        if (q[i].put) rmai_pending_note_put(p->set, p->pe, 1);
    }
    rmai_peer_list(p);
    p->asked += (unsigned)n;
    return 1;
}

#endif
