/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams: an operation of the same kind as the last one extends the last record of an open message in place. Most
 * operations of a program that makes many of one kind are of that sort (flow.h). A *stream* is such a record that the
 * next operation may extend in place: two stores, and no call of this folder. The short puts, gets and atomics of the
 * layers above try this first; if it fails they call op.h. Streams of aligned words of 4 or 8 bytes are compact records
 * (wire.h), if the words are in reach of one base. All others are wide: each element has an offset of 8 bytes.
 *
 * A set has a stream for each of a few PEs, by their last bits. request.c opens one when it has added an element that
 * others may follow. Whoever reads or sends the message settles the stream first: then the message knows of its
 * elements, and the stream is closed. `stop` is before the end of the message's room, and where the caller has to poll
 * for replies.
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
#include "runtime/net/wire.h"

#define RMAI_STREAMS        8   /* of a set */
#define RMAI_STREAM_LEN_MAX 255 /* bytes of an element's data */

/* An open stream: message <= at <= stop, and each element has step bytes, which the key and `same` determine. An
 * element is named by how far it is `from` the base: a COMPACT record stores the number of its word. If the base is in
 * the symmetric heap, `origin` is the address of this PE's own word there; otherwise no address is in reach of the
 * origin. Only the owner of the lock opens a stream, and writes what is in it. The guest may close it whenever the
 * owner is not in the lock; then `stop` is NULL. */
struct rmai_stream {
    _Atomic uint64_t key; /* the PE and the kind of element, rmai_stream_key; 0: it is closed */
    unsigned char *at, *stop;
    uintptr_t origin;
    uint64_t reach; /* COMPACT: number < reach; wide: from < reach */
    uint64_t value; /* SAME: the operand of all, or what all compare-and-swaps expect */
    void **dest;    /* after the place for the next element's destination, if its kind has one */
    uint32_t last;  /* the kind of element of the last stream here, as in the key */
    int same;       /* all atomics have the operand `value`, and only numbers are added */
    struct rmai_message *message;
    uint64_t base; /* the offset in a space; it stays when the stream is closed */
    unsigned vain; /* streams in a row that no element joined */
} __attribute__((aligned(64)));

#define RMAI_NO_PUTS   0
#define RMAI_MANY_PUTS (-1)

struct rmai_streams {
    struct rmai_biased *lock;
    _Atomic int puts; /* incomplete puts of the set: RMAI_NO_PUTS; 1 + pe: only short messages to pe; RMAI_MANY_PUTS.
                         An atomic comes after all puts: so while a stream of atomics to pe is open, puts is
                         RMAI_NO_PUTS or 1 + pe */
    int atomics;      /* open streams of atomics */
    struct rmai_stream of[RMAI_STREAMS];
};

/* kind: PUT, GET or ATOMIC. 0 < len <= RMAI_STREAM_LEN_MAX. RMA_WORD_UPDATE_ composes the operation and length of an
 * atomic in the same way. */
static inline uint64_t rmai_stream_key(int pe, unsigned kind, unsigned atomic, unsigned flags, size_t len) {
    return (uint64_t)(unsigned)pe << 32 | kind | flags << 16 | RMA_WORD_UPDATE_(atomic, len);
}

/* Returns the place of the stream for pe, whether one is open there or not. */
static inline struct rmai_stream *rmai_stream_at(struct rmai_streams *all, int pe) {
    struct rmai_stream *s = &all->of[(unsigned)pe % RMAI_STREAMS];
    __asm__("" : "+r"(s)); /* else gcc computes it again for each member */
    return s;
}

/* The key of a compact stream, if its words have len bytes; else that of a wide one. */
#define RMAI_STREAM_COMPACT ((uint64_t)RMAI_RECORD_COMPACT << 16)
static inline int rmai_stream_may_compact(size_t len) { return len == 4 || len == 8; }
static inline uint64_t rmai_stream_best_key(uint64_t key, size_t len) {
    return rmai_stream_may_compact(len) ? key | RMAI_STREAM_COMPACT : key;
}

static inline int rmai_stream_is_atomics(uint64_t key) { return (key & 0xff) == RMAI_RECORD_ATOMIC; }

/* Takes the lock, and begins an element of the stream of this key: writes the number or the offset of its word, which
 * is `from` bytes from the base. *data is where the element continues. Returns 0, without the lock and with nothing
 * changed, if s is no longer that stream, the stream has no room, or the word is out of its reach. */
static inline __attribute__((always_inline)) int rmai_stream_enter_(struct rmai_streams *all,
                                                                    const struct rmai_stream *s, uint64_t key,
                                                                    uint64_t from, size_t len, unsigned char **data) {
    /* A word that is not aligned has a number beyond each reach. */
    const unsigned bits = len == 8 ? 3 : 2;
    const uint64_t number = key & RMAI_STREAM_COMPACT ? from >> bits | from << (64 - bits) : from;
    struct rmai_biased *const lock = all->lock;
    unsigned char *at;
    if (atomic_load_explicit(&s->key, memory_order_relaxed) != key) return 0;
    if (RMAI_UNLIKELY(!rmai_biased_try_enter(lock))) return 0;
    at = s->at;
    if (RMAI_UNLIKELY(at >= s->stop || number >= s->reach)) {
        rmai_biased_leave_tried(lock);
        return 0;
    }
    if (key & RMAI_STREAM_COMPACT) {
        const uint32_t half = (uint32_t)number;
        memcpy(at, &half, sizeof half);
        *data = at + sizeof half;
    } else {
        const uint64_t offset = s->base + from;
        memcpy(at, &offset, sizeof offset);
        *data = at + sizeof offset;
    }
    return 1;
}

/* Ends an element of the open stream. */
static inline int rmai_stream_leave_(struct rmai_streams *all, struct rmai_stream *s, unsigned char *end) {
    s->at = end;
    rmai_biased_leave_tried(all->lock);
    return 1;
}

/* Each of these adds an operation to s, the stream of this key, at `from` bytes from its base: an address minus the
 * origin, or an offset minus the base. Returns 0, with nothing changed, if s is not open with this key, there is no
 * room in it, or the operation does not fit it: then the caller goes the whole way, which finds out why. The owner of
 * the lock calls them. A get is nonblocking; fetch: where the old value goes when it has come, or NULL. */
static inline __attribute__((always_inline)) int rmai_stream_put(struct rmai_streams *all, struct rmai_stream *s,
                                                                 uint64_t key, uint64_t from, const void *source,
                                                                 size_t len) {
    unsigned char *data;
    if (!rmai_stream_enter_(all, s, key, from, len, &data)) return 0;
    memcpy(data, source, len);
    return rmai_stream_leave_(all, s, data + (key & RMAI_STREAM_COMPACT ? len : rmai_padded(len)));
}

static inline __attribute__((always_inline)) int rmai_stream_get(struct rmai_streams *all, struct rmai_stream *s,
                                                                 uint64_t key, uint64_t from, void *dest, size_t len) {
    unsigned char *data;
    if (!rmai_stream_enter_(all, s, key, from, len, &data)) return 0;
    *--s->dest = dest;
    return rmai_stream_leave_(all, s, data);
}

static inline __attribute__((always_inline)) int rmai_stream_atomic(struct rmai_streams *all, struct rmai_stream *s,
                                                                    uint64_t key, uint64_t from, uint64_t value,
                                                                    size_t len, void *fetch) {
    unsigned char *data;
    if (s->same && RMAI_UNLIKELY(value != s->value)) return 0;
    if (!rmai_stream_enter_(all, s, key, from, len, &data)) return 0;
    if (!(key & RMAI_STREAM_COMPACT) || (!s->same && len == sizeof value)) {
        memcpy(data, &value, sizeof value);
        data += sizeof value;
    } else if (!s->same) {
        const uint32_t half = (uint32_t)value;
        memcpy(data, &half, sizeof half);
        data += sizeof half;
    }
    if (fetch) *--s->dest = fetch;
    return rmai_stream_leave_(all, s, data);
}

/* A compare-and-swap is in a stream only where all expect the same. */
static inline __attribute__((always_inline)) int rmai_stream_compare_swap(struct rmai_streams *all,
                                                                          struct rmai_stream *s, uint64_t key,
                                                                          uint64_t from, uint64_t value, uint64_t cond,
                                                                          size_t len, void *fetch) {
    const uint32_t half = (uint32_t)value;
    unsigned char *data;
    if (RMAI_UNLIKELY(cond != s->value)) return 0;
    if (!rmai_stream_enter_(all, s, key, from, len, &data)) return 0;
    memcpy(data, len == sizeof half ? (const void *)&half : &value, len);
    *--s->dest = fetch;
    return rmai_stream_leave_(all, s, data + len);
}

#endif
