/* SPDX-License-Identifier: BSD-3-Clause */
/* What the messages between nodes look like. All PEs run one program on one kind of machine, so numbers travel as
 * they are.
 *
 *     a request  | envelope | record, its name and data | record, ... |     at most RMAI_MESSAGE bytes
 *     a reply    | envelope | item, its data | item, ... |
 *
 * A request carries many records; the reply to it carries an item for each record that gives a value or has failed,
 * in their order, and says by its arrival that all have been done. Data are padded to 8 bytes.
 *
 * What arrives is read by the reader below, which believes no length, count or number that stands in a message before
 * it has looked at it. What only the receiver can know, whether there is such a batch, and whether memory lies at an
 * offset, the receiver looks at. */
#ifndef RMAI_WIRE_H
#define RMAI_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "rma.h"

#define RMAI_MESSAGE  ((size_t)4096)      /* bytes of a short message at most */
#define RMAI_PIECE    ((size_t)256 << 20) /* bytes of long data, and of one MPI call: MPICH crashes beyond 2 GiB */
#define RMAI_NAME_MAX 64                  /* bytes of a public call's name, with its final 0 */

enum rmai_wire {
    RMAI_WIRE_REQUEST,
    RMAI_WIRE_GO, /* to a request of RMAI_RECORD_PUT_LONG: the place is ready, send the data */
    RMAI_WIRE_REPLY,
    RMAI_WIRE_DOORBELL, /* the window is being used: nothing to do but to stay awake */
    RMAI_WIRE_PING,     /* asks for a sign of life; `batch` and `n` are the asker's */
    RMAI_WIRE_ALIVE,    /* the answer, with the same two numbers; the call in which the PE waits follows as text */
    RMAI_WIRE_KINDS
};

struct rmai_envelope {
    uint16_t kind;  /* enum rmai_wire */
    uint16_t batch; /* the origin's number of the request */
    uint16_t n;     /* records, or items */
    uint16_t unused;
};

enum rmai_net_kind {
    RMAI_RECORD_PUT,      /* data follow */
    RMAI_RECORD_GET,      /* value: bytes; the item has them */
    RMAI_RECORD_PUT_LONG, /* value: bytes; they come by tag. With RMAI_RECORD_SIGNAL then atomic op with cond on the
                          word whose offset follows */
    RMAI_RECORD_GET_LONG, /* value: bytes; they go by tag */
    RMAI_RECORD_LOOK,     /* value: bytes, op: 1 if they are to be written; only whether they are there */
    RMAI_RECORD_ATOMIC,   /* the item has the old value, if RMAI_RECORD_WANTED */
    RMAI_RECORD_ALLOC,    /* value: bytes; the item has the global pointer */
    RMAI_RECORD_FREE,
    RMAI_RECORD_EXTENTS /* the item has the target's extents */
};

#define RMAI_RECORD_WANTED 1 /* flags: the old value is wanted */
#define RMAI_RECORD_SIGNAL 2 /* of PUT_LONG: see there */

struct rmai_record {
    uint8_t kind; /* enum rmai_net_kind */
    uint8_t op;   /* ATOMIC: enum rma_atomic_op_ */
    uint8_t name; /* bytes of the name of the public call, which follows the record; 0: this request cannot fail */
    uint8_t flags;
    uint32_t len;    /* PUT, PUT_LONG: bytes of data that follow; ATOMIC: of the word */
    uint64_t offset; /* in the target's space, as in its global pointers */
    uint64_t value, cond;
};

struct rmai_item {
    uint16_t record; /* whose */
    uint16_t code;   /* RMA_SUCCESS, or an error, and then the data are its text */
    uint32_t len;    /* bytes of data */
};

static inline uint32_t rmai_data_after(const struct rmai_record *r) {
    return r->kind == RMAI_RECORD_PUT || r->kind == RMAI_RECORD_PUT_LONG ? r->len : 0;
}

#define RMAI_TEXT_MAX 512 /* bytes of an error's text that travel */

/* The tag of a request's long data. The same two PEs may have one under way in each direction, and a get's data go
 * against it. */
static inline int rmai_long_tag(unsigned batch, int get) { return 1 + (int)(batch * 2) + get; }

static inline size_t rmai_padded(size_t len) { return (len + 7) & ~(size_t)7; }

/* A message that is being read. */
struct rmai_wire_reader {
    const unsigned char *at, *end; /* what has not been read yet */
    unsigned next, n;              /* the number of the next record or item, and how many the envelope has announced */
    size_t reply;                  /* bytes of the reply that the records so far may need at most */
    char wrong[160];               /* after a -1: what is wrong with the message */
};

/* rmai_wire_open begins to read a message of len bytes, which is aligned to 8. Returns its envelope, or NULL with
 * m->wrong. */
const struct rmai_envelope *rmai_wire_open(struct rmai_wire_reader *m, const void *message, size_t len);

/* rmai_wire_next_record reads the next record of a request: *r, its name (of RMAI_NAME_MAX bytes, "" without one),
 * and where its data are. rmai_wire_next_item reads the next item of a reply, and where its data are. Both return
 * 1, or 0 after the last one, or -1 with m->wrong: a length that passes the message's end, bytes after the last one,
 * a kind, operation, length or flag that no PE sends, an offset that is none, or a reply that would not fit a
 * message. Data lie in the message. */
int rmai_wire_next_any_(struct rmai_wire_reader *m, struct rmai_record *r, char *name, const unsigned char **data);
int rmai_wire_next_item(struct rmai_wire_reader *m, struct rmai_item *i, const unsigned char **data);

/* Streams are of atomics and short puts without names. A good one of these is read here, all other records, and what is
 * to be said of bad ones, by rmai_wire_next_any_, which nobody else calls: a call for each record costs as much as the
 * rest. */
static inline int rmai_wire_next_record(struct rmai_wire_reader *m, struct rmai_record *r, char *name,
                                        const unsigned char **data) {
    const unsigned char *at = m->at;
    const size_t room = (size_t)(m->end - at);
    size_t after = 0, item = 0; /* item: of the reply up to here, in the end */
    if (m->next == m->n || room < sizeof *r) return rmai_wire_next_any_(m, r, name, data);
    memcpy(r, at, sizeof *r);
    if (r->kind == RMAI_RECORD_ATOMIC) {
        if (r->op > RMA_FETCH_FMAX_ || (r->len != 8 && r->len != 4) || r->offset & (r->len - 1))
            return rmai_wire_next_any_(m, r, name, data);
        item = (size_t)r->flags * 8;
    } else {
        after = rmai_padded(r->len);
        if (r->kind != RMAI_RECORD_PUT || r->flags || after > room - sizeof *r)
            return rmai_wire_next_any_(m, r, name, data);
    }
    item += sizeof(struct rmai_item) + m->reply;
    if (r->name || r->flags > RMAI_RECORD_WANTED || r->offset >> RMA_GPTR_BITS_ || item > RMAI_MESSAGE)
        return rmai_wire_next_any_(m, r, name, data);
    m->reply = item;
    name[0] = 0;
    *data = at + sizeof *r;
    m->at = at + sizeof *r + after;
    m->next++;
    return 1;
}

#endif
