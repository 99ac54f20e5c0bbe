/* SPDX-License-Identifier: BSD-3-Clause */
/* What the messages between nodes look like. All PEs run one program on one kind of machine, so numbers travel as they are.
 *
 *     a request  | envelope | record, its name and data | record, ... |     at most RMAI_MESSAGE bytes
 *     an answer  | envelope | item, its data | item, ... |
 *
 * A request carries many records; the answer to it carries an item for each record that gives a value or has failed, in their
 * order, and says by its arrival that all have been done. Data are padded to 8 bytes. */
#ifndef RMAI_WIRE_H
#define RMAI_WIRE_H

#include <stdint.h>

enum rmai_wire {
    RMAI_WIRE_REQUEST,
    RMAI_WIRE_GO,    /* to a request of RMAI_FAR_PUT_LONG: the place is ready, send the data */
    RMAI_WIRE_ANSWER,
    RMAI_WIRE_KNOCK, /* the window is being used: nothing to do but to stay awake */
    RMAI_WIRE_PING,  /* asks for a sign of life; `flight` and `n` are the asker's */
    RMAI_WIRE_ALIVE  /* the answer, with the same two numbers; the call in which the PE waits follows as text */
};

struct rmai_envelope {
    uint16_t kind;   /* enum rmai_wire */
    uint16_t flight; /* the origin's number of the request */
    uint16_t n;      /* records, or items */
    uint16_t unused;
};

enum rmai_far_kind {
    RMAI_FAR_PUT,      /* data follow */
    RMAI_FAR_GET,      /* value: bytes; the item has them */
    RMAI_FAR_PUT_LONG, /* value: bytes; they come by tag. With RMAI_FAR_SIGNAL then atomic op with cond on the word whose offset follows */
    RMAI_FAR_GET_LONG, /* value: bytes; they go by tag */
    RMAI_FAR_LOOK,     /* value: bytes, op: 1 if they are to be written; only whether they are there */
    RMAI_FAR_ATOMIC,   /* the item has the old value, if RMAI_FAR_WANTED */
    RMAI_FAR_ALLOC,    /* value: bytes; the item has the global pointer */
    RMAI_FAR_FREE,
    RMAI_FAR_EXTENTS   /* the item has the target's extents */
};

#define RMAI_FAR_WANTED 1 /* flags: the old value is wanted */
#define RMAI_FAR_SIGNAL 2 /* of PUT_LONG: see there */

struct rmai_record {
    uint8_t kind; /* enum rmai_far_kind */
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
    return r->kind == RMAI_FAR_PUT || r->kind == RMAI_FAR_PUT_LONG ? r->len : 0;
}

#define RMAI_TEXT_MAX 512 /* bytes of an error's text that travel */

/* The tag of a request's long data. The same two PEs may have one under way in each direction, and a get's data go against it. */
static inline int rmai_long_tag(unsigned flight, int get) { return 1 + (int)(flight * 2) + get; }

static inline size_t rmai_padded(size_t len) { return (len + 7) & ~(size_t)7; }

#endif
