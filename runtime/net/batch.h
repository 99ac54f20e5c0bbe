/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches: messages to PEs of other nodes, each of many records, and what their replies fill. Requests of one context
 * to one PE gather in a batch while an earlier one is under way: a lone one leaves at once, a stream goes in full
 * messages. A context has at most RMAI_CREDITS unanswered batches at a PE, and all contexts together have RMAI_BATCHES:
 * nobody can be flooded. */
#ifndef RMAI_BATCH_H
#define RMAI_BATCH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "runtime/net/pending.h"
#include "runtime/net/wire.h"

#define RMAI_EXPECTS    126  /* elements of a batch that expect something of the reply */
#define RMAI_BATCH_WAIT 1e-3 /* seconds between two looks after what has gathered in sessions */
#define RMAI_NO_RUN     UINT64_MAX

/* A call that waits for one element, or for some. */
struct rmai_waiter {
    int left; /* elements not yet done */
    int pe;   /* the PE that is to do them */
    int code; /* of the first that failed */
    char text[RMAI_TEXT_MAX];
};

static inline void rmai_waiter_begins(struct rmai_waiter *waiter, int left) {
    waiter->left = left;
    waiter->pe = -1;
    waiter->code = 0;
    waiter->text[0] = 0;
}

/* Where an element's value goes. */
struct rmai_expect {
    void *dest;
    uint32_t len;
    uint32_t gives;             /* 1: a value has to come, or a failure */
    struct rmai_waiter *waiter; /* or NULL: only a quiet waits for this element */
};

struct rmai_batch {
    struct rmai_peer *peer;
    struct rmai_batch *next;       /* of the free ones, or of those whose long data are under way */
    struct rmai_batch *sent_after; /* the next one in its link */
    uint16_t id, n, n_expects;     /* n: records */
    uint16_t to_come;              /* values, of n_expects */
    uint16_t answered, awaited;    /* awaited: a call waits for one of its elements */
    uint64_t run;                  /* the last record as rmai_wire_word, with name and n 0; or RMAI_NO_RUN */
    uint16_t run_n;                /* and its elements */
    size_t last;                   /* where the last record stands in the message */
    size_t bytes, reply;           /* of the message; of its reply, at most */
    struct rmai_token sent, data;
    void *buffer; /* of long data, which go in a batch of their own: len bytes, to put or to get; or NULL */
    size_t len;
    int get;
    struct rmai_expect expect[RMAI_EXPECTS];
    _Alignas(8) unsigned char message[RMAI_MESSAGE];
};

/* What an element takes, as a record of its own: bytes of the message, bytes of the reply, and whether it expects
 * something of the reply (0 or 1). */
struct rmai_need {
    size_t bytes, reply;
    unsigned expects;
};

static inline int rmai_batch_fits(const struct rmai_batch *batch, const struct rmai_need *need) {
    return batch->bytes + need->bytes <= RMAI_MESSAGE && batch->reply + need->reply <= RMAI_MESSAGE &&
           batch->n_expects + need->expects <= RMAI_EXPECTS;
}

/* rmai_batch_append adds an element, for which there is room. r->n and r->name are 0, and `data` has r->len bytes with
 * RMAI_RECORD_PUT. name: of the public call, if the element may fail, or NULL. expect: or NULL. It becomes one more of
 * the last record's, if that one is the same and can be a run. To be compiled into its few callers. */
static inline __attribute__((always_inline)) void
rmai_batch_append(struct rmai_batch *batch, const struct rmai_record *r, const struct rmai_element *e, const void *data,
                  const char *name, const struct rmai_need *need, const struct rmai_expect *expect) {
    const unsigned words = rmai_wire_words(r);
    unsigned char *at = batch->message + batch->bytes;
    struct rmai_record one = *r;
    size_t joined = 0;
    uint64_t word;
    one.n = 1;
    if (!name && rmai_wire_may_run(r) && batch->run == rmai_wire_word(r)) {
        uint16_t n = ++batch->run_n;
        memcpy(batch->message + batch->last + offsetof(struct rmai_record, n), &n, sizeof n);
        joined = sizeof(struct rmai_item);
    } else {
        batch->run = name ? RMAI_NO_RUN : rmai_wire_word(r);
        batch->run_n = 1;
        batch->last = batch->bytes;
        one.name = (uint8_t)(name ? strlen(name) : 0);
        word = rmai_wire_word(&one);
        memcpy(at, &word, sizeof word);
        if (name) memcpy(at + sizeof word, name, one.name);
        at += sizeof word + rmai_padded(one.name);
        batch->n++;
    }
    memcpy(at, &e->offset, sizeof e->offset);
    if (words > 1) memcpy(at + 8, &e->value, sizeof e->value);
    if (words > 2) memcpy(at + 16, &e->cond, sizeof e->cond);
    if (words > 3) memcpy(at + 24, &e->word, sizeof e->word);
    at += words * sizeof(uint64_t);
    if (r->kind == RMAI_RECORD_PUT) {
        if (r->len == sizeof(uint64_t))
            memcpy(at, data, sizeof(uint64_t));
        else if (r->len) /* data may be a null pointer */
            memcpy(at, data, r->len);
        at += rmai_padded(r->len);
    }
    batch->bytes = (size_t)(at - batch->message);
    if (!expect) return;
    batch->reply += need->reply - joined;
    batch->expect[batch->n_expects] = *expect;
    batch->expect[batch->n_expects++].gives = (uint32_t)rmai_wire_gives(r);
    batch->to_come += (uint16_t)rmai_wire_gives(r);
}

static inline int rmai_peer_has_open(const struct rmai_peer *p) { return p->open && p->open->n; }

/* The net's lock is held. rmai_batch_open makes an empty batch p's open one. Returns 0 if all are under way, or there
 * is no memory. rmai_batch_send sends p's open batch; the set's lock is held, too. rmai_batches_send_due sends the open
 * batches of all sets in which a session is open, once in RMAI_BATCH_WAIT. rmai_batches_go_on looks after what the
 * transport has not done yet. */
int rmai_batch_open(struct rmai_net *net, struct rmai_peer *p);
void rmai_batch_send(struct rmai_net *net, struct rmai_peer *p);
void rmai_batches_send_due(struct rmai_net *net);
void rmai_batches_go_on(struct rmai_net *net);

/* A message has come: a reply of PE `from`, whose items m reads; a word that a long put's data may be sent; or one that
 * says that `n` more requests to that PE are done. Return RMA_SUCCESS, or RMA_ERR_MPI: it is none that a PE sends, or
 * the transport has failed. */
int rmai_batch_take_reply(struct rmai_net *net, int from, const struct rmai_envelope *e, struct rmai_wire_reader *m);
int rmai_batch_send_data(struct rmai_net *net, int from, const struct rmai_envelope *e);
int rmai_batches_done(struct rmai_net *net, int from, unsigned n);

#endif
