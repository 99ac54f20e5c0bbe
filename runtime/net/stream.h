/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams: most operations of a program that makes many of one kind only extend the last record of an open batch
 * (batch.h). A *stream* is such a record that the next operation may extend in place: two stores, and no call of this
 * folder. The short puts, gets and atomics of the layers above try this first; if it fails they call op.h. Streams of
 * aligned words of 4 or 8 bytes are compact records (wire.h), if the words are in reach of one base. All others are
 * wide: each element has an offset of 8 bytes.
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

#define RMAI_STREAMS        8   /* of a set */
#define RMAI_STREAM_LEN_MAX 255 /* bytes of an element's data */

/* An open stream: message <= at <= stop, and each element has step bytes, which the key and `same` determine. */
struct rmai_stream {
    _Atomic uint64_t key; /* the PE and the kind of element, rmai_stream_key; 0: it is closed */
    unsigned char *at, *stop;
    uint64_t base, value; /* COMPACT: the record's base; SAME: its operand. They stay when the stream is closed */
    void **dest;          /* after the place for the next element's destination, if its kind has one */
    struct rmai_batch *batch;
    uint32_t last; /* the kind of element of the last stream here, as in the key */
    int same;      /* all atomics have the operand `value`, and only numbers are added */
};

#define RMAI_NO_PUTS   0
#define RMAI_MANY_PUTS (-1)

struct rmai_streams {
    struct rmai_biased *lock;
    struct rmai_traffic *traffic;
    _Atomic int puts; /* incomplete puts of the set: RMAI_NO_PUTS; 1 + pe: only short messages to pe; RMAI_MANY_PUTS */
    struct rmai_stream of[RMAI_STREAMS];
};

/* kind: PUT, GET or ATOMIC. 0 < len <= RMAI_STREAM_LEN_MAX. RMA_WORD_UPDATE_ composes the operation and length of an
 * atomic in the same way. */
static inline uint64_t rmai_stream_key(int pe, unsigned kind, unsigned atomic, unsigned flags, size_t len) {
    return (uint64_t)(unsigned)pe << 32 | kind | flags << 16 | RMA_WORD_UPDATE_(atomic, len);
}

/* rmai_stream_at returns the stream where one for pe would be. rmai_stream_look returns it if it has this key, or NULL:
 * a cheap first look. Both need no lock, and the key may have changed when the lock is taken. */
static inline struct rmai_stream *rmai_stream_at(struct rmai_streams *all, int pe) {
    return &all->of[(unsigned)pe % RMAI_STREAMS];
}
static inline struct rmai_stream *rmai_stream_look(struct rmai_streams *all, int pe, uint64_t key) {
    struct rmai_stream *s = rmai_stream_at(all, pe);
    return atomic_load_explicit(&s->key, memory_order_relaxed) == key ? s : NULL;
}

/* The key of a compact stream, if its words have len bytes; else that of a wide one. */
#define RMAI_STREAM_COMPACT ((uint64_t)RMAI_RECORD_COMPACT << 16)
static inline int rmai_stream_may_compact(size_t len) { return len == 4 || len == 8; }
static inline uint64_t rmai_stream_best_key(uint64_t key, size_t len) {
    return rmai_stream_may_compact(len) ? key | RMAI_STREAM_COMPACT : key;
}

/* Takes the lock. Returns 0, without it, if s is not an open stream of this key with room for an element. */
static inline __attribute__((always_inline)) int rmai_stream_enter_(struct rmai_streams *all,
                                                                    const struct rmai_stream *s, uint64_t key) {
    if (!rmai_biased_try_enter(all->lock)) return 0;
    if (RMAI_LIKELY(atomic_load_explicit(&s->key, memory_order_relaxed) == key && s->at < s->stop)) return 1;
    rmai_biased_leave_tried(all->lock);
    return 0;
}

/* Ends an element of the open stream, at `end`. */
static inline int rmai_stream_leave_(struct rmai_streams *all, struct rmai_stream *s, unsigned char *end) {
    s->at = end;
    rmai_biased_leave_tried(all->lock);
    return 1;
}

/* Writes where the element is: a number to a compact record, an offset to a wide one. Returns what follows, or NULL,
 * with nothing changed, if the word has no number. */
static inline __attribute__((always_inline)) unsigned char *
rmai_stream_place_(const struct rmai_stream *s, uint64_t key, uint64_t offset, size_t len) {
    const uint64_t from_base = offset - s->base;
    uint32_t number;
    if (!(key & RMAI_STREAM_COMPACT)) {
        memcpy(s->at, &offset, sizeof offset);
        return s->at + sizeof offset;
    }
    if (RMAI_UNLIKELY(from_base >= rmai_wire_compact_reach(len) || from_base & (len - 1))) return NULL;
    number = (uint32_t)(len == 8 ? from_base / 8 : from_base / 4);
    memcpy(s->at, &number, sizeof number);
    return s->at + sizeof number;
}

/* Leaves the stream without a change. */
static inline int rmai_stream_decline_(struct rmai_streams *all) {
    rmai_biased_leave_tried(all->lock);
    return 0;
}

/* Each of these adds an operation to s, the stream of this key; the caller counts it. Returns 0, with nothing changed,
 * if s is NULL or no longer that stream, there is no room in it, or the operation does not fit it. The caller has
 * checked the range, which is in the memory of `pe` on another node, at this offset in its space, and not attached. A
 * get is nonblocking. */
static inline __attribute__((always_inline)) int rmai_stream_put(struct rmai_streams *all, struct rmai_stream *s,
                                                                 uint64_t key, uint64_t offset, const void *source,
                                                                 size_t len) {
    unsigned char *at;
    if (!s || !rmai_stream_enter_(all, s, key)) return 0;
    if (!(at = rmai_stream_place_(s, key, offset, len))) return rmai_stream_decline_(all);
    memcpy(at, source, len);
    return rmai_stream_leave_(all, s, at + (key & RMAI_STREAM_COMPACT ? len : rmai_padded(len)));
}

static inline __attribute__((always_inline)) int rmai_stream_get(struct rmai_streams *all, struct rmai_stream *s,
                                                                 uint64_t key, uint64_t offset, void *dest,
                                                                 size_t len) {
    unsigned char *at;
    if (!s || !rmai_stream_enter_(all, s, key)) return 0;
    if (!(at = rmai_stream_place_(s, key, offset, len))) return rmai_stream_decline_(all);
    *--s->dest = dest;
    return rmai_stream_leave_(all, s, at);
}

/* An atomic that writes comes after all puts, so these must go in the same messages. fetch: where the old value goes
 * when it has come, or NULL. */
static inline __attribute__((always_inline)) int rmai_stream_atomic(struct rmai_streams *all, struct rmai_stream *s,
                                                                    uint64_t key, uint64_t offset, uint64_t value,
                                                                    size_t len, void *fetch) {
    const int puts = atomic_load_explicit(&all->puts, memory_order_relaxed);
    unsigned char *at;
    if (RMAI_UNLIKELY(puts != RMAI_NO_PUTS && puts != 1 + (int)(key >> 32))) return 0;
    if (!s || !rmai_stream_enter_(all, s, key)) return 0;
    if (s->same && RMAI_UNLIKELY(value != s->value)) return rmai_stream_decline_(all);
    if (!(at = rmai_stream_place_(s, key, offset, len))) return rmai_stream_decline_(all);
    if (!(key & RMAI_STREAM_COMPACT) || (!s->same && len == sizeof value)) {
        memcpy(at, &value, sizeof value);
        at += sizeof value;
    } else if (!s->same) {
        const uint32_t half = (uint32_t)value;
        memcpy(at, &half, sizeof half);
        at += sizeof half;
    }
    if (fetch) *--s->dest = fetch;
    return rmai_stream_leave_(all, s, at);
}

#endif
