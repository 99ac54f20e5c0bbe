/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams: most operations of a program that makes many of one kind only extend the last record of an open batch
 * (batch.h). A *stream* is such a record that the next operation may extend in place: two stores, and no call of this
 * folder. The short puts, gets and atomics of the layers above try this first; if it fails they call op.h.
 *
 * A set has a stream for each of a few PEs, by their last bits. message.c opens one when it has added an element that
 * others may follow. Whoever reads or sends the batch settles the stream first: then the batch knows of its elements,
 * and the stream is closed. `stop` is before the end of the batch's room, and where the caller has to poll for replies.
 *
 * Streams exist only where the net's lock is biased: the owner of that lock extends them, and the guest settles them.
 */
#ifndef RMAI_STREAM_H
#define RMAI_STREAM_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/attributes.h"
#include "base/biased.h"
#include "runtime/job/traffic.h"
#include "runtime/net/wire.h"

#define RMAI_STREAMS        16  /* of a set */
#define RMAI_STREAM_LEN_MAX 255 /* bytes of an element's data */

/* An open stream: message <= at <= stop, and each element has step bytes, which the key determines. */
struct rmai_stream {
    _Atomic uint64_t key; /* the PE and the kind of element, rmai_stream_key; 0: it is closed */
    unsigned char *at, *stop;
    struct rmai_expect *expect; /* of the next element, if its kind expects something */
    struct rmai_batch *batch;
};

struct rmai_streams {
    struct rmai_biased *lock;
    struct rmai_traffic *traffic;
    struct rmai_stream of[RMAI_STREAMS];
};

/* Where an element's value goes. */
struct rmai_expect {
    void *dest;
    uint32_t len;
    uint32_t gives;             /* 1: the reply brings a value or an error */
    struct rmai_waiter *waiter; /* or NULL: only a quiet waits for this element */
};

/* rmai_streams_settle closes all streams. The caller holds the set's lock. */
void rmai_streams_settle(struct rmai_streams *all);

/* kind: PUT, GET or ATOMIC. 0 < len <= RMAI_STREAM_LEN_MAX. */
static inline uint64_t rmai_stream_key(int pe, unsigned kind, unsigned atomic, unsigned flags, size_t len) {
    return (uint64_t)(unsigned)pe << 32 | kind | atomic << 8 | flags << 16 | (uint32_t)len << 24;
}

/* Returns the open stream of this key with room for an element, with the lock held, or NULL. */
static inline __attribute__((always_inline)) struct rmai_stream *rmai_stream_enter_(struct rmai_streams *all, int pe,
                                                                                    uint64_t key) {
    struct rmai_stream *s = &all->of[(unsigned)pe % RMAI_STREAMS];
    if (atomic_load_explicit(&s->key, memory_order_relaxed) != key || !rmai_biased_try_enter(all->lock)) return NULL;
    if (RMAI_LIKELY(atomic_load_explicit(&s->key, memory_order_relaxed) == key && s->at < s->stop)) return s;
    rmai_biased_leave(all->lock);
    return NULL;
}

static inline void rmai_stream_expect_(struct rmai_stream *s, void *dest, size_t len) {
    *s->expect++ = (struct rmai_expect){.dest = dest, .len = (uint32_t)len, .gives = 1};
}

/* Each of these adds an operation to the stream of its kind, and counts it. Returns 0, with nothing changed, if there
 * is no such stream, or no room in it. The caller has checked the range, which is in the symmetric heap of `pe` on
 * another node, at this offset in its space; 0 < len, and a get is nonblocking. */
static inline __attribute__((always_inline)) int rmai_stream_put(struct rmai_streams *all, int pe, uint64_t offset,
                                                                 const void *source, size_t len) {
    struct rmai_stream *s;
    if (len > RMAI_STREAM_LEN_MAX) return 0;
    s = rmai_stream_enter_(all, pe, rmai_stream_key(pe, RMAI_RECORD_PUT, 0, 0, len));
    if (!s) return 0;
    memcpy(s->at, &offset, sizeof offset);
    if (RMAI_LIKELY(len == sizeof(uint64_t)))
        memcpy(s->at + sizeof offset, source, sizeof(uint64_t));
    else
        memcpy(s->at + sizeof offset, source, len);
    s->at += sizeof offset + rmai_padded(len);
    rmai_count(all->traffic, RMA_PATH_REQUEST, RMAI_PUTS, len);
    rmai_biased_leave(all->lock);
    return 1;
}

static inline __attribute__((always_inline)) int rmai_stream_get(struct rmai_streams *all, int pe, uint64_t offset,
                                                                 void *dest, size_t len) {
    struct rmai_stream *s;
    if (len > RMAI_STREAM_LEN_MAX) return 0;
    s = rmai_stream_enter_(all, pe, rmai_stream_key(pe, RMAI_RECORD_GET, 0, 0, len));
    if (!s) return 0;
    memcpy(s->at, &offset, sizeof offset);
    s->at += sizeof offset;
    rmai_stream_expect_(s, dest, len);
    rmai_count(all->traffic, RMA_PATH_REQUEST, RMAI_GETS, len);
    rmai_biased_leave(all->lock);
    return 1;
}

/* fetch: where the old value goes when it has come, or NULL. */
static inline __attribute__((always_inline)) int
rmai_stream_atomic(struct rmai_streams *all, int pe, int op, uint64_t offset, size_t len, uint64_t value, void *fetch) {
    struct rmai_stream *s;
    s = rmai_stream_enter_(all, pe,
                           rmai_stream_key(pe, RMAI_RECORD_ATOMIC, (unsigned)op, fetch ? RMAI_RECORD_WANTED : 0, len));
    if (!s) return 0;
    memcpy(s->at, &offset, sizeof offset);
    memcpy(s->at + sizeof offset, &value, sizeof value);
    s->at += sizeof offset + sizeof value;
    if (fetch) rmai_stream_expect_(s, fetch, len);
    rmai_count(all->traffic, RMA_PATH_REQUEST, RMAI_ATOMICS, 0);
    rmai_biased_leave(all->lock);
    return 1;
}

#endif
