/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_wire: bytes are a message between nodes, or they describe how to write one and where to damage it.
 *
 * What the model says:
 *   whatever has arrived, names, elements and data lie in the message, offsets are some, the reply that the records may
 *   need fits a message, and reading ends: at the message's last byte, or with words
 *   what has been written by the rules is read as it was, unless it has been damaged */
#include "config.h"

#include "runtime/job/by_node.h"
#include "runtime/job/directory.h"
#include "runtime/net/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "fuzz_wire: line %d: not %s\n", __LINE__, #condition);                                     \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

static const uint8_t *at, *end;

static unsigned byte(void) { return at < end ? *at++ : 0; }
static uint64_t number(void) {
    uint64_t n = 0;
    for (unsigned i = byte() % 9; i > 0; i--) n = n << 8 | byte();
    return n;
}

static unsigned char message[RMAI_MESSAGE];
static size_t len;

static void check_elements(const struct rmai_record *r, const unsigned char *elements) {
    REQUIRE(r->n == 1 || (r->n > 1 && rmai_wire_may_run(r) && !r->name));
    if (r->flags & RMAI_RECORD_COMPACT) {
        uint64_t base;
        memcpy(&base, elements, sizeof base);
        REQUIRE((r->len == 4 || r->len == 8) && base % r->len == 0 && !r->name);
        REQUIRE(base <= RMA_GPTR_ATTACHED_ && RMA_GPTR_ATTACHED_ - base >= (uint64_t)r->len << 32);
        return;
    }
    for (unsigned i = 0; i < r->n; i++) {
        const struct rmai_element e = rmai_wire_element(r, elements + i * rmai_wire_element_bytes(r));
        const uint64_t offset = rmai_by_node_offset(e.offset);
        if (e.offset & RMAI_AT_ADDRESS)
            REQUIRE(r->name && r->kind != RMAI_RECORD_ALLOC && r->kind != RMAI_RECORD_FREE);
        else
            REQUIRE(offset == e.offset || (rmai_wire_may_run(r) && !r->name && offset < RMA_GPTR_ATTACHED_));
        REQUIRE(e.word >> RMA_GPTR_BITS_ == 0);
        REQUIRE(r->kind != RMAI_RECORD_ATOMIC || offset >= RMA_GPTR_ATTACHED_ || offset % r->len == 0);
    }
}

/* In a block of its own, so that the sanitizer sees what is read beyond its end. Returns the number of parts, or -1. */
static int read_all(int items) {
    unsigned char *arrived = malloc(len ? len : 1);
    struct rmai_wire_reader m;
    int n = 0, more = -1;
    REQUIRE(arrived != NULL);
    memcpy(arrived, message, len);
    if (rmai_wire_open(&m, arrived, len)) {
        for (;; n++) {
            struct rmai_record r = {0};
            struct rmai_item i = {0};
            char name[RMAI_NAME_MAX];
            const unsigned char *data = NULL;
            more = items ? rmai_wire_next_item(&m, &i, &data) : rmai_wire_next_record(&m, &r, name, &data);
            if (more <= 0) break;
            size_t bytes = items ? i.len : rmai_wire_elements_bytes(&r);
            REQUIRE(data >= arrived && data <= arrived + len && bytes <= (size_t)(arrived + len - data));
            if (!items) check_elements(&r, data);
            REQUIRE(items || (r.name < RMAI_NAME_MAX && !name[r.name] && m.reply <= RMAI_MESSAGE));
            REQUIRE(m.at <= m.end);
        }
        REQUIRE(more < 0 || m.at == m.end);
    } else {
        REQUIRE(len < sizeof(struct rmai_envelope));
    }
    if (more < 0) REQUIRE(memchr(m.wrong, 0, sizeof m.wrong) && m.wrong[0]);
    free(arrived);
    return more < 0 ? -1 : n;
}

static void append(const void *data, size_t n) {
    memcpy(message + len, data, n);
    len += rmai_padded(n);
}

/* Kinds of one element, and the bytes of its value. */
static const struct {
    enum rmai_net_kind kind;
    size_t value;
} singles[] = {{RMAI_RECORD_LOOK, 0},
               {RMAI_RECORD_ALLOC, sizeof(uint64_t)},
               {RMAI_RECORD_FREE, 0},
               {RMAI_RECORD_EXTENTS, sizeof(struct rmai_directory)}};

/* Puts, atomics, gets and others: one with any name, or a run without, as long as there is room. */
static int write_records(void) {
    static const char name[RMAI_NAME_MAX] = "rma_gptr_put";
    struct rmai_envelope e = {.kind = RMAI_WIRE_REQUEST, .number = (uint16_t)number(), .done = (uint16_t)number()};
    size_t reply = sizeof e;
    len = sizeof e;
    while (at < end && e.n < 126) {
        struct rmai_record r = {
            .kind = RMAI_RECORD_PUT, .name = (uint8_t)(byte() & 1 ? byte() % RMAI_NAME_MAX : 0), .n = 1};
        unsigned char some[256] = {1};
        size_t value = 0, most, all;
        unsigned single;
        switch (byte() % 4) {
            case 0: r.len = (uint16_t)byte(); break;
            case 1:
                r.kind = RMAI_RECORD_ATOMIC;
                r.op = (uint8_t)(byte() % 15);
                r.len = byte() & 1 ? 4 : 8;
                r.flags = byte() & RMAI_RECORD_WANTED;
                value = r.flags ? sizeof(uint64_t) : 0;
                break;
            case 2:
                single = byte() % (sizeof singles / sizeof singles[0]);
                r.kind = (uint8_t)singles[single].kind;
                value = singles[single].value;
                break;
            default:
                r.kind = RMAI_RECORD_GET;
                r.len = (uint16_t)byte();
                value = rmai_padded(r.len);
        }
        if (!r.name && rmai_wire_may_run(&r)) r.n = (uint16_t)(1 + byte() % 40);
        most = r.n * value;
        if (r.name && most < RMAI_TEXT_MAX) most = RMAI_TEXT_MAX;
        if (rmai_wire_expects(&r)) reply += sizeof(struct rmai_item) + most;
        if (!r.name && (r.len == 4 || r.len == 8) && rmai_wire_may_run(&r) && byte() & 1) {
            const int swaps = r.kind == RMAI_RECORD_ATOMIC && r.op == RMA_COMPARE_SWAP_;
            r.flags |= RMAI_RECORD_COMPACT;
            if (swaps || (r.kind == RMAI_RECORD_ATOMIC && byte() & 1)) r.flags |= RMAI_RECORD_SAME;
        }
        all = sizeof r + rmai_padded(r.name) + rmai_wire_elements_bytes(&r);
        if (reply > RMAI_MESSAGE || len + all > RMAI_MESSAGE) break;
        append(&r, sizeof r);
        append(name, r.name);
        if (r.flags & RMAI_RECORD_COMPACT) { /* base, operand and elements are 0 */
            len += rmai_wire_elements_bytes(&r);
            e.n++;
            continue;
        }
        for (unsigned i = 0; i < r.n; i++) {
            const struct rmai_element one = {.offset = number() >> 24 & ~(uint64_t)7, .value = i};
            append(&one, rmai_wire_words(&r) * sizeof(uint64_t));
            if (r.kind == RMAI_RECORD_PUT) append(some, r.len);
        }
        e.n++;
    }
    memcpy(message, &e, sizeof e);
    return e.n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    unsigned how;
    at = data;
    end = data + size;
    how = byte();
    memset(message, 0, sizeof message);
    if (how & 1) {
        int n = write_records();
        REQUIRE(read_all(0) == n);
        if (len > sizeof(struct rmai_envelope)) message[number() % len] ^= (unsigned char)(1u << how / 32);
        if (how & 2) len = number() % (len + 1);
    } else {
        len = (size_t)(end - at) < RMAI_MESSAGE ? (size_t)(end - at) : RMAI_MESSAGE;
        memcpy(message, at, len);
    }
    read_all(0);
    read_all(1);
    return 0;
}
