/* SPDX-License-Identifier: BSD-3-Clause */
/* The format of the messages between nodes. All PEs run one program on one kind of machine, so numbers travel as they
 * are.
 *
 *     a request  | envelope | record, its name, its elements | record, ... |     at most RMAI_MESSAGE bytes
 *     a reply    | envelope | item, its data | item, ... |
 *
 * A record is one operation, or a run: several successive short puts, gets or atomics of one kind. The record has what
 * they have in common. Each element of the run has an offset, the operands, and the data of a put, so a put or an add
 * of 8 bytes takes 16 bytes. A run on aligned words of 4 or 8 bytes may be compact (RMAI_RECORD_COMPACT): then an
 * element names its word by a number of 4 bytes, so an add takes 12 bytes, or 4 if all adds have the same operand.
 *
 * Requests are answered in the order in which they were sent. One whose elements return values or have failed gets a
 * reply, with an item for each record that returns values or has failed, in the order of the records. All others are
 * only counted: each message tells its receiver how many more of them are done. Data are padded to 8 bytes.
 *
 * Long data travel beside the messages, by a tag of their own. Their record has the number of the transfer, which the
 * origin has chosen. It is answered as others are: that says nothing about the data.
 *
 * The reader below checks every length, count and number of a message before anybody uses it. The receiver checks what
 * only it can know: whether it has made such a request, and whether there is memory at an offset. */
#ifndef RMAI_WIRE_H
#define RMAI_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/word.h"
#include "rma.h"

#define RMAI_MESSAGE  ((size_t)4096) /* bytes of a short message at most */
#define RMAI_NAME_MAX 64             /* bytes of a public call's name, with its final 0 */

/* An offset with this bit is an address in the target's process, in memory that need not be librma's. Only records with
 * a name have such offsets. */
#define RMAI_AT_ADDRESS ((uint64_t)1 << 63)

enum rmai_wire {
    RMAI_WIRE_REQUEST,
    RMAI_WIRE_REPLY,
    RMAI_WIRE_GO,       /* to a transfer that puts: the place is ready, send the data */
    RMAI_WIRE_LANDED,   /* to a transfer that puts: the data are in their place */
    RMAI_WIRE_DONE,     /* nothing but the envelope's `done` */
    RMAI_WIRE_DOORBELL, /* a PE is using the window: the receiver has only to stay awake */
    RMAI_WIRE_PING,     /* asks for a sign of life; `number` and `n` are the asker's */
    RMAI_WIRE_ALIVE,    /* the answer, with the same two numbers; a struct rmai_sign follows */
    RMAI_WIRE_KINDS
};

struct rmai_envelope {
    uint16_t kind;   /* enum rmai_wire */
    uint16_t number; /* GO, LANDED: of the transfer; PING, ALIVE: the asker's; REQUEST: 1 if its PE slept until the last
                        one was acknowledged */
    uint16_t n;      /* records, or items */
    uint16_t done;   /* how many more of the receiver's requests are done: the oldest ones */
};

enum rmai_net_kind {
    RMAI_RECORD_PUT,      /* data of `len` bytes follow the offset */
    RMAI_RECORD_GET,      /* the item has `len` bytes of each element */
    RMAI_RECORD_PUT_LONG, /* value: rmai_wire_long, of data which arrive by tag. With RMAI_RECORD_SIGNAL the atomic op
                           * with cond on `word` follows */
    RMAI_RECORD_GET_LONG, /* value: rmai_wire_long, of data which leave by tag */
    RMAI_RECORD_LOOK,     /* value: bytes; asks only whether they exist. op: 1 if they will be written, 2 if unknown */
    RMAI_RECORD_ATOMIC,   /* the item has each element's old value, if RMAI_RECORD_WANTED */
    RMAI_RECORD_ALLOC,    /* value: bytes; the item has the global pointer */
    RMAI_RECORD_FREE,
    RMAI_RECORD_EXTENTS, /* the item has the target's directory (struct rmai_directory) */
    RMAI_RECORD_RUNS     /* moves or updates the blocks of several runs, see struct rmai_wire_run */
};

#define RMAI_RECORD_WANTED 1 /* flags: return the old value, or the blocks' data */
#define RMAI_RECORD_SIGNAL 2 /* flags: PUT_LONG has a signal */
#define RMAI_RECORD_BRINGS 4 /* flags: RUNS: the blocks' data arrive by tag, */
#define RMAI_RECORD_TAKES  8 /* or leave by tag */
/* flags: PUT, GET, ATOMIC, without a name, of len 4 or 8. COMPACT: before the elements comes a base, 8 bytes: an
 * offset. An element is the number of a word, 4 bytes: it is number * len bytes from the base. Then come len bytes, the
 * data of a put or the operand of an atomic. SAME, with COMPACT: all atomics have the operand that follows the base, in
 * 8 bytes; for RMA_COMPARE_SWAP_, which is compact only with SAME, that is `cond`, and elements have their `value`. The
 * record is padded to 8 bytes. */
#define RMAI_RECORD_COMPACT 16
#define RMAI_RECORD_SAME    32

struct rmai_record {
    uint8_t kind; /* enum rmai_net_kind */
    uint8_t op;   /* ATOMIC: enum rma_atomic_op_. RUNS: enum rmai_runs_op */
    uint8_t name; /* bytes of the public call's name, which follows the record; 0: this request cannot fail */
    uint8_t flags;
    uint16_t len; /* PUT, GET: bytes of an element; ATOMIC: of the word; RUNS: of what follows the operands */
    uint16_t n;   /* elements: one, or several of a PUT, GET or ATOMIC without a name */
};

/* What a record of kind RUNS does. Its operands: offset, in the target's space, from which the runs count; value, the
 * bytes of all blocks, or their rmai_wire_long if they travel by tag; word, the bytes from `offset` on in which all
 * blocks lie; cond, as below. The runs follow, and then the data, unless they travel by tag or the record has none. A
 * list is a shorter form: each run is its place, 8 bytes, and has one block of `len` bytes. */
enum rmai_runs_op {
    RMAI_RUNS_PUT,
    RMAI_RUNS_GET,
    RMAI_RUNS_UPDATE, /* + enum rma_op: */
    RMAI_RUNS_FETCH = RMAI_RUNS_UPDATE + RMA_OP_FETCH
};

struct rmai_wire_run {
    int64_t at; /* the first block, from the offset on */
    uint64_t len, n;
    int64_t step; /* from one block to the next */
};

struct rmai_wire_runs {
    unsigned type, listed, n; /* enum rma_type; 1: a list; runs */
    uint32_t len;             /* of a list: bytes of a block */
};

static inline uint64_t rmai_wire_runs_word(const struct rmai_wire_runs *r) {
    return r->type | (uint64_t)r->listed << 8 | (uint64_t)r->n << 16 | (uint64_t)r->len << 32;
}
static inline struct rmai_wire_runs rmai_wire_runs_of(uint64_t cond) {
    return (struct rmai_wire_runs){
        .type = cond & 0xff, .listed = cond >> 8 & 0xff, .n = cond >> 16 & 0xffff, .len = (uint32_t)(cond >> 32)};
}

/* rmai_wire_runs_bring: 1 if the record itself has the data of its blocks. */
int rmai_wire_runs_bring(const struct rmai_record *r);

/* rmai_wire_runs_bytes: the bytes of the runs themselves. rmai_wire_run_at: run i of those at `runs`. */
static inline size_t rmai_wire_runs_bytes(const struct rmai_wire_runs *r) {
    return r->n * (r->listed ? sizeof(int64_t) : sizeof(struct rmai_wire_run));
}
static inline struct rmai_wire_run rmai_wire_run_at(const struct rmai_wire_runs *r, const unsigned char *runs,
                                                    unsigned i) {
    struct rmai_wire_run run = {.len = r->len, .n = 1};
    if (r->listed)
        memcpy(&run.at, runs + i * sizeof run.at, sizeof run.at);
    else
        memcpy(&run, runs + i * sizeof run, sizeof run);
    return run;
}

/* rmai_wire_may_run: 1 if a record of this kind can have several elements, when it has no name. */
static inline int rmai_wire_may_run(const struct rmai_record *r) {
    return r->kind == RMAI_RECORD_PUT || r->kind == RMAI_RECORD_GET || r->kind == RMAI_RECORD_ATOMIC;
}

/* rmai_wire_operation: "put to" and so on, for texts. */
const char *rmai_wire_operation(const struct rmai_record *r);

/* rmai_wire_word returns the record as one number. It is composed in registers, where the machine's byte order allows:
 * reading a word from memory just after its bytes were written one by one takes ten times as long. */
static inline uint64_t rmai_wire_word(const struct rmai_record *r) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return r->kind | (uint64_t)r->op << 8 | (uint64_t)r->name << 16 | (uint64_t)r->flags << 24 |
           (uint64_t)r->len << 32 | (uint64_t)r->n << 48;
#else
    uint64_t word;
    memcpy(&word, r, sizeof word);
    return word;
#endif
}

/* The operands of an element, in the order in which they travel; a kind of record has the first few of them
 * (rmai_wire_words). */
struct rmai_element {
    uint64_t
        offset; /* in the target's space, as in its global pointers. In puts, gets and atomics without a name a mark may
                   name a neighbour of the target; then the offset is in that neighbour's space (runtime/job/by_node) */
    uint64_t value, cond;
    uint64_t word; /* an offset */
};

struct rmai_item {
    uint16_t first; /* the data belong to this record, counted among those of the request that expect something */
    uint16_t code;  /* RMA_SUCCESS: data are values of the record's elements. An error: data are its text */
    uint32_t len;   /* bytes of data */
};

/* rmai_wire_words returns how many operands an element of the record has. */
static inline unsigned rmai_wire_words(const struct rmai_record *r) {
    switch (r->kind) {
        case RMAI_RECORD_ATOMIC: return rmai_op_compares(r->op) ? 3 : 2;
        case RMAI_RECORD_PUT_LONG:
        case RMAI_RECORD_RUNS: return 4;
        case RMAI_RECORD_GET_LONG:
        case RMAI_RECORD_LOOK:
        case RMAI_RECORD_ALLOC: return 2;
        default: return 1;
    }
}

/* rmai_wire_expects: 1 if each element of the record expects a value from the reply, or can fail. All other elements
 * are done when their request is. */
static inline int rmai_wire_expects(const struct rmai_record *r) {
    return r->name || r->flags & (RMAI_RECORD_WANTED | RMAI_RECORD_BRINGS | RMAI_RECORD_TAKES) ||
           (r->kind != RMAI_RECORD_PUT && r->kind != RMAI_RECORD_ATOMIC && r->kind != RMAI_RECORD_RUNS);
}

#define RMAI_TEXT_MAX 512 /* bytes of an error's text in a message */

/* Long data: their bytes, and the number of their transfer, in one operand. */
static inline uint64_t rmai_wire_long(size_t bytes, unsigned number) { return bytes | (uint64_t)number << 32; }
static inline size_t rmai_wire_long_bytes(uint64_t value) { return (uint32_t)value; }
static inline unsigned rmai_wire_long_number(uint64_t value) { return (unsigned)(value >> 32); }
#define RMAI_TRANSFERS 1024 /* numbers */

#define RMAI_SHORT_TAG 0 /* of messages */

/* The tag of a transfer's data. Two PEs may have transfers under way in each direction, and a get's data travel against
 * its request. */
static inline int rmai_long_tag(unsigned number, int get) { return 1 + (int)(number * 2) + get; }

/* rmai_wire_is_long: 1 if the record's data travel by tag. */
static inline int rmai_wire_is_long(const struct rmai_record *r) {
    return r->kind == RMAI_RECORD_PUT_LONG || r->kind == RMAI_RECORD_GET_LONG ||
           (r->kind == RMAI_RECORD_RUNS && r->flags & (RMAI_RECORD_BRINGS | RMAI_RECORD_TAKES));
}

/* rmai_wire_gives: 1 if each element of the record returns a value of more than 0 bytes. */
static inline int rmai_wire_gives(const struct rmai_record *r) {
    return r->flags & RMAI_RECORD_WANTED || (r->kind == RMAI_RECORD_GET && r->len) || r->kind == RMAI_RECORD_ALLOC ||
           r->kind == RMAI_RECORD_EXTENTS;
}

static inline size_t rmai_padded(size_t len) { return (len + 7) & ~(size_t)7; }

/* rmai_wire_value_bytes returns the bytes of the reply for each further element of a run; 0 if it expects nothing. */
static inline size_t rmai_wire_value_bytes(const struct rmai_record *r) {
    return rmai_wire_expects(r) ? rmai_padded(r->len) : 0;
}

static inline int rmai_wire_is_swap(const struct rmai_record *r) {
    return r->kind == RMAI_RECORD_ATOMIC && rmai_op_compares(r->op);
}

/* rmai_wire_element_bytes returns the bytes that an element of the record takes in the message, rmai_wire_head_bytes
 * those of what comes before the elements, after record and name, and rmai_wire_elements_bytes the sum of it all, with
 * padding. */
static inline size_t rmai_wire_element_bytes(const struct rmai_record *r) {
    const int bare = r->kind == RMAI_RECORD_GET || (r->flags & RMAI_RECORD_SAME && !rmai_op_compares(r->op));
    if (r->flags & RMAI_RECORD_COMPACT) return sizeof(uint32_t) + (bare ? 0 : r->len);
    return rmai_wire_words(r) * sizeof(uint64_t) +
           (r->kind == RMAI_RECORD_PUT || r->kind == RMAI_RECORD_RUNS ? rmai_padded(r->len) : 0);
}
static inline size_t rmai_wire_head_bytes(const struct rmai_record *r) {
    return (r->flags & RMAI_RECORD_COMPACT ? sizeof(uint64_t) : 0) +
           (r->flags & RMAI_RECORD_SAME ? sizeof(uint64_t) : 0);
}
static inline size_t rmai_wire_elements_bytes(const struct rmai_record *r) {
    return rmai_wire_head_bytes(r) + rmai_padded(r->n * rmai_wire_element_bytes(r));
}

/* Bytes that the elements of a compact run of words of len bytes can name. */
static inline uint64_t rmai_wire_compact_reach(size_t len) { return (uint64_t)len << 32; }

/* A message that is being read. */
struct rmai_wire_reader {
    const unsigned char *at, *end; /* what has not been read yet */
    unsigned next, n;              /* the number of the next record or item, and how many the envelope announces */
    size_t reply;                  /* the most bytes of the reply that the records so far may need */
    char wrong[160];               /* after -1: what is wrong with the message */
};

/* rmai_wire_open starts reading a message of len bytes, which is aligned to 8. Returns its envelope, or NULL with
 * m->wrong. */
const struct rmai_envelope *rmai_wire_too_short_(struct rmai_wire_reader *m, size_t len);
static inline const struct rmai_envelope *rmai_wire_open(struct rmai_wire_reader *m, const void *message, size_t len) {
    const struct rmai_envelope *e = message;
    if (len < sizeof *e) return rmai_wire_too_short_(m, len);
    m->at = (const unsigned char *)(e + 1);
    m->end = (const unsigned char *)message + len;
    m->next = 0;
    m->n = e->n;
    m->reply = sizeof *e;
    return e;
}

/* rmai_wire_next_record reads the next record of a request: *r, its name (of RMAI_NAME_MAX bytes, "" without one), and
 * where its elements, or the base of a compact run, are. rmai_wire_next_item reads the next item of a reply,
 * and where its data are. Both return 1, or 0 after the last one, or -1 with m->wrong: a length that passes the
 * message's end, bytes after the last one, a kind, operation, length, count or flag that no PE sends, an impossible
 * offset, or a reply that would not fit into a message. Elements and data stay in the message. */
int rmai_wire_next_record(struct rmai_wire_reader *m, struct rmai_record *r, char *name,
                          const unsigned char **elements);
int rmai_wire_next_item(struct rmai_wire_reader *m, struct rmai_item *i, const unsigned char **data);

/* rmai_wire_element returns the operands of the element at `element`. */
static inline struct rmai_element rmai_wire_element(const struct rmai_record *r, const unsigned char *element) {
    struct rmai_element e = {0};
    memcpy(&e, element, rmai_wire_words(r) * sizeof(uint64_t));
    return e;
}

#endif
