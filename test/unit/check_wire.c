/* SPDX-License-Identifier: BSD-3-Clause */
/* The reader reads a PE's message as it was written; for any other message it says what is wrong, and reads nothing
 * beyond the end.
 *
 * Broken by a length, a count or a number that is used before it is checked: each test damages one field of a good
 * message. */
#include "config.h"

#include "base/kernels.h"
#include "rma.h"
#include "runtime/job/directory.h"
#include "runtime/net/wire.h"
#include "runtime/transport/transport.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* A message that is being written. */
static struct {
    _Alignas(8) unsigned char bytes[RMAI_MESSAGE];
    size_t len;
} message;

static void begin(enum rmai_wire kind, uint16_t number) {
    const struct rmai_envelope e = {.kind = (uint16_t)kind, .number = number};
    memset(&message, 0xee, sizeof message);
    memcpy(message.bytes, &e, sizeof e);
    message.len = sizeof e;
}

static void append(const void *data, size_t len) {
    memcpy(message.bytes + message.len, data, len);
    message.len += rmai_padded(len);
}

static void count_one(void) { ((struct rmai_envelope *)(void *)message.bytes)->n++; }

/* Each element has the same operands, but that the offset of number i is 16 * i bytes further, and the same data. */
static void record(struct rmai_record r, const char *name, const struct rmai_element *e, const void *data) {
    struct rmai_element one = *e;
    r.name = (uint8_t)(name ? strlen(name) : 0);
    append(&r, sizeof r);
    if (name) append(name, r.name);
    for (unsigned i = 0; i < r.n; i++, one.offset += 16) {
        append(&one, rmai_wire_words(&r) * sizeof(uint64_t));
        if (r.kind == RMAI_RECORD_PUT) append(data, r.len);
    }
    count_one();
}

static void item(struct rmai_item i, const void *data) {
    append(&i, sizeof i);
    append(data, i.len);
    count_one();
}

/* The message as it would arrive, in a block of its own, so that memory checkers see a read beyond its end. */
static unsigned char *arrived;

static struct rmai_wire_reader opened(size_t len) {
    struct rmai_wire_reader m;
    free(arrived);
    arrived = malloc(len ? len : 1);
    ck_assert_ptr_nonnull(arrived);
    memcpy(arrived, message.bytes, len);
    ck_assert_ptr_nonnull(rmai_wire_open(&m, arrived, len));
    return m;
}

/* Reads all records, or items. Returns 0 or -1. */
static int read_records(struct rmai_wire_reader *m) {
    struct rmai_record r;
    char name[RMAI_NAME_MAX];
    const unsigned char *elements;
    int more;
    while ((more = rmai_wire_next_record(m, &r, name, &elements)) > 0) {
    }
    return more;
}

static int read_items(struct rmai_wire_reader *m) {
    struct rmai_item i;
    const unsigned char *data;
    int more;
    while ((more = rmai_wire_next_item(m, &i, &data)) > 0) {
    }
    return more;
}

#define REFUSED(reading, words)                                                                                        \
    do {                                                                                                               \
        struct rmai_wire_reader m_ = opened(message.len);                                                              \
        ck_assert_int_eq(reading(&m_), -1);                                                                            \
        ck_assert_msg(strstr(m_.wrong, words) != NULL, "no '%s' in: %s", words, m_.wrong);                             \
    } while (0)

static const struct {
    struct rmai_record r;
    struct rmai_element e;
    unsigned words, expects; /* that it has, without a name */
} good[] = {
    {{.kind = RMAI_RECORD_PUT, .len = 13, .n = 1}, {.offset = 77}, 1, 0},
    {{.kind = RMAI_RECORD_PUT, .n = 1}, {.offset = 1}, 1, 0},
    {{.kind = RMAI_RECORD_GET, .len = 100, .n = 1}, {.offset = 4096}, 1, 1},
    {{.kind = RMAI_RECORD_PUT_LONG, .n = 1}, {.offset = RMA_GPTR_ATTACHED_ + 3, .value = RMAI_PIECE}, 4, 1},
    {{.kind = RMAI_RECORD_PUT_LONG, .op = RMA_FETCH_SMAX_, .flags = RMAI_RECORD_SIGNAL, .n = 1},
     {.offset = 8, .value = 5000, .cond = 1, .word = ((uint64_t)1 << RMA_GPTR_BITS_) - 1},
     4,
     1},
    {{.kind = RMAI_RECORD_GET_LONG, .n = 1}, {.offset = 8, .value = 5000}, 2, 1},
    {{.kind = RMAI_RECORD_LOOK, .op = 1, .n = 1},
     {.offset = ((uint64_t)1 << RMA_GPTR_BITS_) - 1, .value = UINT64_MAX},
     2,
     1},
    {{.kind = RMAI_RECORD_ATOMIC, .op = RMA_FETCH_ADD_, .flags = RMAI_RECORD_WANTED, .len = 4, .n = 1},
     {.offset = 12, .value = 9},
     2,
     1},
    {{.kind = RMAI_RECORD_ATOMIC, .op = RMA_COMPARE_SWAP_, .len = 8, .n = 1},
     {.offset = RMA_GPTR_ATTACHED_ + 1, .value = 1, .cond = 2},
     3,
     0},
    {{.kind = RMAI_RECORD_ATOMIC, .op = RMA_SET_, .len = 4, .n = 1}, {.offset = 4, .value = 1}, 2, 0},
    {{.kind = RMAI_RECORD_ALLOC, .n = 1}, {.value = UINT64_MAX}, 2, 1},
    {{.kind = RMAI_RECORD_FREE, .n = 1}, {.offset = 64}, 1, 1},
    {{.kind = RMAI_RECORD_EXTENTS, .n = 1}, {0}, 1, 1},
};
#define GOOD (sizeof good / sizeof good[0])

static const char data[] = "thirteen byte";

/* Checks an element, and the data of a put that follow its operands. */
static void check_element(const struct rmai_record *r, const unsigned char *at, const struct rmai_element *want) {
    const struct rmai_element e = rmai_wire_element(r, at);
    ck_assert_int_eq(memcmp(&e, want, sizeof e), 0);
    if (r->kind == RMAI_RECORD_PUT)
        ck_assert_int_eq(memcmp(at + rmai_wire_words(r) * sizeof(uint64_t), data, r->len), 0);
}

START_TEST(a_request_is_read_as_it_was_written) {
    struct rmai_wire_reader m;
    struct rmai_record r;
    char name[RMAI_NAME_MAX];
    const unsigned char *at;
    begin(RMAI_WIRE_REQUEST, 1023);
    for (size_t i = 0; i < GOOD; i++) record(good[i].r, i % 3 ? NULL : "rma_gptr_put", &good[i].e, data);
    m = opened(message.len);
    for (size_t i = 0; i < GOOD; i++) {
        struct rmai_record want = good[i].r;
        ck_assert_uint_eq(rmai_wire_words(&want), good[i].words);
        ck_assert_uint_eq(rmai_wire_element_bytes(&want),
                          8 * good[i].words + (want.kind == RMAI_RECORD_PUT ? rmai_padded(want.len) : 0));
        ck_assert_int_eq(rmai_wire_expects(&want) != 0, good[i].expects);
        want.name = i % 3 ? 0 : 12;
        if (want.name) ck_assert_int_ne(rmai_wire_expects(&want), 0);
        ck_assert_int_eq(rmai_wire_next_record(&m, &r, name, &at), 1);
        ck_assert_int_eq(memcmp(&r, &want, sizeof r), 0);
        ck_assert_str_eq(name, i % 3 ? "" : "rma_gptr_put");
        check_element(&r, at, &good[i].e);
    }
    for (int again = 0; again < 2; again++) ck_assert_int_eq(rmai_wire_next_record(&m, &r, name, &at), 0);
}
END_TEST

/* Runs, each as long as an add with an old value lets it be. */
static const struct {
    struct rmai_record r;
    size_t value; /* bytes of an element in the reply */
} runs[] = {
    {{.kind = RMAI_RECORD_PUT, .len = 8, .n = 60}, 0},
    {{.kind = RMAI_RECORD_PUT, .len = 13, .n = 3}, 0},
    {{.kind = RMAI_RECORD_PUT, .len = 0, .n = 5}, 0},
    {{.kind = RMAI_RECORD_GET, .len = 1, .n = 7}, 8},
    {{.kind = RMAI_RECORD_GET, .len = 100, .n = 2}, 104},
    {{.kind = RMAI_RECORD_GET, .len = 0, .n = 2}, 0},
    {{.kind = RMAI_RECORD_ATOMIC, .op = RMA_FETCH_ADD_, .len = 8, .n = 40}, 0},
    {{.kind = RMAI_RECORD_ATOMIC, .op = RMA_COMPARE_SWAP_, .flags = RMAI_RECORD_WANTED, .len = 4, .n = 9}, 8},
    {{.kind = RMAI_RECORD_ATOMIC, .op = RMA_FETCH_, .flags = RMAI_RECORD_WANTED, .len = 8, .n = 2}, 8},
};
#define RUNS (sizeof runs / sizeof runs[0])

START_TEST(a_run_is_read_as_it_was_written) {
    /* An element that is skipped or read twice, one that lies where its neighbour's data are, a reply that is counted
     * by records. */
    const struct rmai_element first = {.offset = 64, .value = 7, .cond = 8};
    size_t reply = sizeof(struct rmai_envelope);
    struct rmai_wire_reader m;
    struct rmai_record r;
    char name[RMAI_NAME_MAX];
    const unsigned char *at;
    begin(RMAI_WIRE_REQUEST, 5);
    for (size_t i = 0; i < RUNS; i++) record(runs[i].r, NULL, &first, data);
    m = opened(message.len);
    for (size_t i = 0; i < RUNS; i++) {
        struct rmai_element want = first;
        ck_assert_int_ne(rmai_wire_may_run(&runs[i].r), 0);
        ck_assert_int_eq(rmai_wire_next_record(&m, &r, name, &at), 1);
        ck_assert_int_eq(memcmp(&r, &runs[i].r, sizeof r), 0);
        if (rmai_wire_words(&r) < 3) want.cond = 0;
        if (rmai_wire_words(&r) < 2) want.value = 0;
        for (unsigned k = 0; k < r.n; k++, want.offset += 16)
            check_element(&r, at + k * rmai_wire_element_bytes(&r), &want);
        if (rmai_wire_expects(&r)) reply += sizeof(struct rmai_item) + r.n * runs[i].value;
        ck_assert_uint_eq(m.reply, reply);
    }
    ck_assert_int_eq(rmai_wire_next_record(&m, &r, name, &at), 0);
}
END_TEST

/* Records of one element, and the bytes of its value. */
static const struct {
    enum rmai_net_kind kind;
    size_t value;
} values[] = {{RMAI_RECORD_LOOK, 0},
              {RMAI_RECORD_FREE, 0},
              {RMAI_RECORD_ALLOC, sizeof(rma_gptr_t)},
              {RMAI_RECORD_EXTENTS, sizeof(struct rmai_directory)}};
#define VALUES (sizeof values / sizeof values[0])

START_TEST(a_reply_has_room_for_each_value) {
    /* A value that is longer than the room that was counted for it: the reply is written beyond its end. */
    size_t reply = sizeof(struct rmai_envelope);
    struct rmai_wire_reader m;
    struct rmai_record r;
    char name[RMAI_NAME_MAX];
    const unsigned char *at;
    begin(RMAI_WIRE_REQUEST, 5);
    for (size_t i = 0; i < VALUES; i++) {
        const struct rmai_element e = {.offset = 64};
        record((struct rmai_record){.kind = (uint8_t)values[i].kind, .n = 1}, NULL, &e, data);
    }
    m = opened(message.len);
    for (size_t i = 0; i < VALUES; i++) {
        ck_assert_int_eq(rmai_wire_next_record(&m, &r, name, &at), 1);
        ck_assert_int_eq(rmai_wire_gives(&r) != 0, values[i].value > 0);
        reply += sizeof(struct rmai_item) + values[i].value;
        ck_assert_uint_eq(m.reply, reply);
    }
    /* As many questions for extents as a reply has room for, and one more. */
    for (unsigned more = 0; more < 2; more++) {
        const size_t n =
            (RMAI_MESSAGE - sizeof(struct rmai_envelope)) / (sizeof(struct rmai_item) + sizeof(struct rmai_directory)) +
            more;
        const struct rmai_element e = {.offset = 0};
        begin(RMAI_WIRE_REQUEST, 5);
        for (size_t i = 0; i < n; i++)
            record((struct rmai_record){.kind = RMAI_RECORD_EXTENTS, .n = 1}, NULL, &e, data);
        m = opened(message.len);
        ck_assert_int_eq(read_records(&m), more ? -1 : 0);
        if (more) ck_assert_ptr_nonnull(strstr(m.wrong, "the reply would have"));
    }
}
END_TEST

START_TEST(a_record_s_word_is_its_bytes) {
    /* A field in another place of the word than in memory: the origin writes the word, and the reader reads the struct.
     */
    const struct rmai_record odd = {.kind = 0x81, .op = 0x92, .name = 0xa3, .flags = 0xb4, .len = 0xc5d6, .n = 0xe7f8};
    const uint64_t word = rmai_wire_word(&odd);
    ck_assert_uint_eq(sizeof odd, sizeof word);
    ck_assert_int_eq(memcmp(&word, &odd, sizeof word), 0);
    for (size_t i = 0; i < GOOD; i++) {
        const uint64_t one = rmai_wire_word(&good[i].r);
        ck_assert_int_eq(memcmp(&one, &good[i].r, sizeof one), 0);
    }
}
END_TEST

START_TEST(a_reply_is_read_as_it_was_written) {
    static const struct rmai_item items[] = {
        {.first = 3, .len = 8}, {.first = 4, .code = RMA_ERR_SYSTEM, .len = 5}, {.first = 125, .len = 0}};
    struct rmai_wire_reader m;
    struct rmai_item i;
    const unsigned char *at;
    begin(RMAI_WIRE_REPLY, 7);
    for (size_t k = 0; k < 3; k++) item(items[k], data);
    m = opened(message.len);
    for (size_t k = 0; k < 3; k++) {
        ck_assert_int_eq(rmai_wire_next_item(&m, &i, &at), 1);
        ck_assert_int_eq(memcmp(&i, &items[k], sizeof i), 0);
        ck_assert_int_eq(memcmp(at, data, i.len), 0);
    }
    ck_assert_int_eq(rmai_wire_next_item(&m, &i, &at), 0);
}
END_TEST

START_TEST(nothing_is_a_message_without_an_envelope) {
    struct rmai_wire_reader m;
    for (size_t len = 0; len < sizeof(struct rmai_envelope); len++) {
        ck_assert_ptr_null(rmai_wire_open(&m, message.bytes, len));
        ck_assert_ptr_nonnull(strstr(m.wrong, "too short for a message"));
    }
    begin(RMAI_WIRE_REQUEST, 0);
    m = opened(message.len);
    ck_assert_int_eq(read_records(&m), 0);
}
END_TEST

START_TEST(a_message_that_is_cut_or_too_long_is_refused) {
    for (int items = 0; items < 2; items++) {
        size_t whole;
        begin(items ? RMAI_WIRE_REPLY : RMAI_WIRE_REQUEST, 1);
        for (int k = 0; k < 3; k++) {
            if (items)
                item((struct rmai_item){.len = 13}, data);
            else
                record(good[0].r, "rma_put", &good[0].e, data);
        }
        whole = message.len;
        for (size_t len = sizeof(struct rmai_envelope); len <= whole + 8; len++) {
            struct rmai_wire_reader m = opened(len);
            ck_assert_int_eq(items ? read_items(&m) : read_records(&m), len == whole ? 0 : -1);
            if (len < whole) ck_assert_ptr_nonnull(strstr(m.wrong, "left"));
            if (len > whole) ck_assert_ptr_nonnull(strstr(m.wrong, "follow the last"));
        }
    }
}
END_TEST

/* One record with one field changed. */
#define NO_OFFSET ((uint64_t)1 << RMA_GPTR_BITS_)
static const struct {
    struct rmai_record r;
    struct rmai_element e;
    const char *words;
} bad[] = {
    {{.kind = RMAI_RECORD_RUNS + 1, .n = 1}, {0}, "10 is no kind of record"},
    {{.kind = 255, .n = 1}, {0}, "255 is no kind of record"},
    {{.kind = RMAI_RECORD_PUT, .flags = RMAI_RECORD_WANTED, .n = 1}, {0}, "flags 0x1 of kind put"},
    {{.kind = RMAI_RECORD_GET, .len = 8, .flags = RMAI_RECORD_SIGNAL, .n = 1}, {0}, "flags 0x2 of kind get"},
    {{.kind = RMAI_RECORD_GET_LONG, .flags = RMAI_RECORD_SIGNAL, .n = 1}, {0}, "flags 0x2 of kind long get"},
    {{.kind = RMAI_RECORD_FREE, .flags = RMAI_RECORD_WANTED, .n = 1}, {0}, "flags 0x1 of kind release"},
    {{.kind = RMAI_RECORD_ALLOC, .flags = 0x40, .n = 1}, {0}, "flags 0x40 of kind allocation"},
    {{.kind = RMAI_RECORD_ATOMIC, .len = 8, .flags = RMAI_RECORD_SIGNAL, .n = 1}, {0}, "an atomic with flags 0x2"},
    {{.kind = RMAI_RECORD_ATOMIC, .len = 8, .flags = 0x80, .n = 1}, {0}, "an atomic with flags 0x80"},
    {{.kind = RMAI_RECORD_LOOK, .n = 1}, {.offset = NO_OFFSET}, "offset 0x10000000000 does not exist"},
    {{.kind = RMAI_RECORD_PUT, .n = 1}, {.offset = NO_OFFSET | RMA_GPTR_ATTACHED_}, "does not exist"},
    {{.kind = RMAI_RECORD_GET, .len = 8, .n = 1}, {.offset = UINT64_MAX}, "does not exist"},
    {{.kind = RMAI_RECORD_ATOMIC, .len = 8, .n = 1}, {.offset = NO_OFFSET | 4}, "an atomic on 8 bytes at offset"},
    {{.kind = RMAI_RECORD_FREE, .n = 1}, {.offset = UINT64_MAX}, "does not exist"},
    {{.kind = RMAI_RECORD_LOOK, .n = 1}, {.offset = NO_OFFSET}, "does not exist"},
    {{.kind = RMAI_RECORD_PUT_LONG, .flags = RMAI_RECORD_SIGNAL, .n = 1}, {.word = NO_OFFSET}, "does not exist"},
    {{.kind = RMAI_RECORD_GET, .len = RMAI_MESSAGE, .n = 1}, {0}, "the reply would have 4"},
    {{.kind = RMAI_RECORD_GET, .len = UINT16_MAX, .n = 1}, {0}, "the reply would have 65"},
    {{.kind = RMAI_RECORD_PUT_LONG, .n = 1}, {.value = RMAI_PIECE + 1}, "transfer 0 of 268435457 bytes"},
    {{.kind = RMAI_RECORD_GET_LONG, .n = 1}, {.value = UINT64_MAX}, "transfer 4294967295 of 4294967295 bytes"},
    {{.kind = RMAI_RECORD_GET_LONG, .n = 1}, {.value = (uint64_t)RMAI_TRANSFERS << 32 | 8}, "transfer 1024 of 8 bytes"},
    {{.kind = RMAI_RECORD_PUT_LONG, .op = RMA_FETCH_FADD_, .flags = RMAI_RECORD_SIGNAL, .n = 1},
     {.value = 8},
     "is no atomic"},
    {{.kind = RMAI_RECORD_LOOK, .op = 3, .n = 1}, {0}, "a check of a range with mode 3"},
    {{.kind = RMAI_RECORD_ATOMIC, .op = RMA_FSWAP_ + 1, .len = 8, .n = 1}, {0}, "is no atomic"},
    {{.kind = RMAI_RECORD_ATOMIC, .op = RMA_STRIPED_ + RMA_FETCH_FADD_, .len = 8, .n = 1}, {0}, "is no atomic"},
    {{.kind = RMAI_RECORD_ATOMIC, .len = 0, .n = 1}, {0}, "an atomic on a word of 0 bytes"},
    {{.kind = RMAI_RECORD_ATOMIC, .len = 16, .n = 1}, {0}, "an atomic on a word of 16 bytes"},
    {{.kind = RMAI_RECORD_ATOMIC, .len = UINT16_MAX, .n = 1}, {0}, "an atomic on a word of 65535 bytes"},
    {{.kind = RMAI_RECORD_ATOMIC, .len = 8, .n = 1}, {.offset = 12}, "an atomic on 8 bytes at offset 0xc"},
    {{.kind = RMAI_RECORD_ATOMIC, .len = 4, .n = 1}, {.offset = 6}, "an atomic on 4 bytes at offset 0x6"},
    /* Runs. */
    {{.kind = RMAI_RECORD_PUT, .len = 8, .n = 0}, {0}, "0 elements of kind put"},
    {{.kind = RMAI_RECORD_GET, .len = 8, .n = 0}, {0}, "0 elements of kind get"},
    {{.kind = RMAI_RECORD_ATOMIC, .len = 8, .n = 0}, {0}, "0 elements of kind atomic"},
    {{.kind = RMAI_RECORD_EXTENTS, .n = 0}, {0}, "0 elements of kind extents"},
    {{.kind = RMAI_RECORD_LOOK, .n = 2}, {0}, "2 elements of kind look"},
    {{.kind = RMAI_RECORD_PUT_LONG, .n = 2}, {0}, "2 elements of kind long put"},
    {{.kind = RMAI_RECORD_GET_LONG, .n = 2}, {0}, "2 elements of kind long get"},
    {{.kind = RMAI_RECORD_ALLOC, .n = 3}, {0}, "3 elements of kind allocation"},
    {{.kind = RMAI_RECORD_FREE, .n = 3}, {0}, "3 elements of kind release"},
    {{.kind = RMAI_RECORD_EXTENTS, .n = 2}, {0}, "2 elements of kind extents"},
    {{.kind = RMAI_RECORD_GET, .len = 1000, .n = 5}, {0}, "the reply would have 50"},
    {{.kind = RMAI_RECORD_ATOMIC, .op = RMA_FETCH_ADD_, .len = 4, .n = 3}, {.offset = 1}, "at offset 0x1"},
};

START_TEST(a_record_that_no_pe_sends_is_refused) {
    begin(RMAI_WIRE_REQUEST, 1);
    record(good[0].r, NULL, &good[0].e, data);
    record(bad[_i].r, NULL, &bad[_i].e, data);
    record(good[0].r, NULL, &good[0].e, data);
    REFUSED(read_records, bad[_i].words);
    REFUSED(read_records, "record 2 of 3: ");
}
END_TEST

/* What may be for a neighbour of the target cannot fail there, so it has no name. */
START_TEST(a_marked_offset_with_a_name_is_refused) {
    const struct rmai_record put = {.kind = RMAI_RECORD_PUT, .len = 13, .n = 1};
    const struct rmai_element e = {.offset = NO_OFFSET + 77};
    begin(RMAI_WIRE_REQUEST, 1);
    record(put, _i ? "rma_put" : NULL, &e, data);
    if (_i) {
        REFUSED(read_records, "offset 0x1000000004d does not exist");
    } else {
        struct rmai_wire_reader m = opened(message.len);
        ck_assert_int_eq(read_records(&m), 0);
    }
}
END_TEST

START_TEST(a_run_with_a_name_is_refused) {
    const struct rmai_record run = {.kind = RMAI_RECORD_PUT, .len = 13, .n = 2};
    begin(RMAI_WIRE_REQUEST, 1);
    record(run, "rma_put", &good[0].e, data);
    REFUSED(read_records, "record 1 of 1: 2 elements of kind put, with a name");
}
END_TEST

/* Gives element number i of the record that begins at `at` another offset. */
static void set_offset(size_t at, unsigned i, uint64_t offset) {
    struct rmai_record r;
    memcpy(&r, message.bytes + at, sizeof r);
    memcpy(message.bytes + at + sizeof r + i * rmai_wire_element_bytes(&r), &offset, sizeof offset);
}

START_TEST(each_element_of_a_run_is_looked_at) {
    /* A check of the first element, or of the last one, only. */
    static const struct rmai_record run[] = {
        {.kind = RMAI_RECORD_PUT, .len = 13, .n = 5},
        {.kind = RMAI_RECORD_GET, .len = 9, .n = 5},
        {.kind = RMAI_RECORD_ATOMIC, .op = RMA_FETCH_ADD_, .len = 8, .n = 5},
        {.kind = RMAI_RECORD_ATOMIC, .op = RMA_COMPARE_SWAP_, .len = 4, .n = 5, .flags = RMAI_RECORD_WANTED}};
    const struct rmai_element first = {.offset = 64};
    for (size_t k = 0; k < sizeof run / sizeof run[0]; k++)
        for (unsigned i = 0; i < run[k].n; i++) {
            const uint64_t unaligned = 64 + run[k].len / 2u;
            size_t at;
            begin(RMAI_WIRE_REQUEST, 1);
            record(good[0].r, NULL, &good[0].e, data);
            at = message.len;
            record(run[k], NULL, &first, data);
            set_offset(at, i, (NO_OFFSET | RMA_GPTR_ATTACHED_) + i);
            REFUSED(read_records, "record 2 of 2: offset 0x1c00000000");
            set_offset(at, i, RMA_GPTR_ATTACHED_ + 1); /* the owner looks at the alignment */
            struct rmai_wire_reader m = opened(message.len);
            ck_assert_int_eq(read_records(&m), 0);
            set_offset(at, i, unaligned);
            m = opened(message.len);
            if (run[k].kind == RMAI_RECORD_ATOMIC)
                REFUSED(read_records, "record 2 of 2: an atomic on ");
            else
                ck_assert_int_eq(read_records(&m), 0);
        }
}
END_TEST

/* A compact run; the elements are numbers from 0 on, with operands that nobody looks at. */
static void compact(struct rmai_record r, const char *name, uint64_t base) {
    const uint64_t operand = 7;
    unsigned char elements[256] = {0};
    r.flags |= RMAI_RECORD_COMPACT;
    r.name = (uint8_t)(name ? strlen(name) : 0);
    for (uint32_t i = 0; i < r.n; i++) memcpy(elements + i * rmai_wire_element_bytes(&r), &i, sizeof i);
    append(&r, sizeof r);
    if (name) append(name, r.name);
    append(&base, sizeof base);
    if (r.flags & RMAI_RECORD_SAME) append(&operand, sizeof operand);
    append(elements, r.n * rmai_wire_element_bytes(&r));
    count_one();
}

START_TEST(a_compact_run_is_read_as_it_was_written) {
    /* A base or an operand that is taken for an element, padding that is not, a length of the wide form. */
    static const struct {
        struct rmai_record r;
        size_t element, value; /* bytes */
    } all[] = {
        {{.kind = RMAI_RECORD_PUT, .len = 8, .n = 3}, 12, 0},
        {{.kind = RMAI_RECORD_PUT, .len = 4, .n = 3}, 8, 0},
        {{.kind = RMAI_RECORD_GET, .len = 4, .n = 5}, 4, 8},
        {{.kind = RMAI_RECORD_ATOMIC, .op = RMA_FETCH_ADD_, .len = 8, .n = 1}, 12, 0},
        {{.kind = RMAI_RECORD_ATOMIC, .op = RMA_SET_, .len = 4, .flags = RMAI_RECORD_SAME, .n = 9}, 4, 0},
        {{.kind = RMAI_RECORD_ATOMIC, .len = 8, .flags = RMAI_RECORD_SAME | RMAI_RECORD_WANTED, .n = 3}, 4, 8},
        {{.kind = RMAI_RECORD_ATOMIC,
          .op = RMA_COMPARE_SWAP_,
          .len = 8,
          .flags = RMAI_RECORD_SAME | RMAI_RECORD_WANTED,
          .n = 3},
         12,
         8},
        {{.kind = RMAI_RECORD_ATOMIC, .op = RMA_COMPARE_SWAP_, .len = 4, .flags = RMAI_RECORD_SAME, .n = 3}, 8, 0},
    };
    const size_t n = sizeof all / sizeof all[0];
    const uint64_t base = (uint64_t)5 << 35;
    size_t reply = sizeof(struct rmai_envelope);
    struct rmai_wire_reader m;
    struct rmai_record r;
    char name[RMAI_NAME_MAX];
    const unsigned char *at;
    begin(RMAI_WIRE_REQUEST, (uint16_t)n);
    for (size_t i = 0; i < n; i++) compact(all[i].r, NULL, base);
    m = opened(message.len);
    for (size_t i = 0; i < n; i++) {
        ck_assert_int_eq(rmai_wire_next_record(&m, &r, name, &at), 1);
        ck_assert_int_eq(r.kind, all[i].r.kind);
        ck_assert_int_eq(r.n, all[i].r.n);
        ck_assert_uint_eq(rmai_wire_element_bytes(&r), all[i].element);
        ck_assert_int_eq(memcmp(at, &base, sizeof base), 0);
        for (uint32_t k = 0; k < r.n; k++)
            ck_assert_int_eq(memcmp(at + rmai_wire_head_bytes(&r) + k * all[i].element, &k, sizeof k), 0);
        if (all[i].value) reply += sizeof(struct rmai_item) + r.n * all[i].value;
        ck_assert_uint_eq(m.reply, reply);
    }
    ck_assert_int_eq(rmai_wire_next_record(&m, &r, name, &at), 0);
}
END_TEST

START_TEST(a_compact_run_that_no_PE_sends_is_refused) {
    /* Its elements are not looked at one by one: so its base must keep all of them from attached memory, and aligned.
     */
    static const struct {
        struct rmai_record r;
        uint64_t base;
        const char *name, *text;
    } all[] = {
        {{.kind = RMAI_RECORD_PUT, .len = 8, .n = 2}, 12, NULL, "offset 0xc does not exist"},
        {{.kind = RMAI_RECORD_GET, .len = 4, .n = 2},
         RMA_GPTR_ATTACHED_ - 4,
         NULL,
         "offset 0xbffffffffc does not exist"},
        {{.kind = RMAI_RECORD_GET, .len = 4, .n = 2},
         RMA_GPTR_ATTACHED_ - ((uint64_t)4 << 32) + 4,
         NULL,
         "does not exist"},
        {{.kind = RMAI_RECORD_GET, .len = 4, .n = 2}, UINT64_MAX - 3, NULL, "offset 0xfffffffffffffffc does not exist"},
        {{.kind = RMAI_RECORD_PUT, .len = 16, .n = 2}, 0, NULL, "a compact run of 16 bytes each"},
        {{.kind = RMAI_RECORD_GET, .len = 0, .n = 2}, 0, NULL, "a compact run of 0 bytes each"},
        {{.kind = RMAI_RECORD_PUT, .len = 8, .n = 0}, 0, NULL, "0 elements of kind put"},
        {{.kind = RMAI_RECORD_PUT, .len = 8, .n = 1}, 0, "rma_put", "1 elements of kind put, with a name"},
        {{.kind = RMAI_RECORD_PUT, .len = 8, .n = 1, .flags = RMAI_RECORD_SAME}, 0, NULL, "flags 0x30 of kind put"},
        {{.kind = RMAI_RECORD_FREE, .n = 1}, 0, NULL, "flags 0x10 of kind release"},
        {{.kind = RMAI_RECORD_ATOMIC, .op = RMA_COMPARE_SWAP_, .len = 8, .n = 1}, 0, NULL, "an atomic with flags 0x10"},
    };
    const struct rmai_record same = {
        .kind = RMAI_RECORD_ATOMIC, .op = RMA_FETCH_ADD_, .len = 8, .flags = RMAI_RECORD_SAME, .n = 1};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        begin(RMAI_WIRE_REQUEST, 5);
        compact(all[i].r, all[i].name, all[i].base);
        REFUSED(read_records, all[i].text);
    }
    begin(RMAI_WIRE_REQUEST, 5);
    record(same, NULL, &good[0].e, data);
    REFUSED(read_records, "an atomic with flags 0x20");
}
END_TEST

START_TEST(lengths_are_not_believed) {
    struct rmai_record r = good[0].r;
    const struct rmai_item i = {.len = UINT32_MAX};
    begin(RMAI_WIRE_REQUEST, 1);
    r.len = UINT16_MAX;
    append(&r, sizeof r);
    count_one();
    REFUSED(read_records, "0 bytes are left for a name of 0 bytes and 1 elements of 65544");
    begin(RMAI_WIRE_REPLY, 1);
    append(&i, sizeof i);
    count_one();
    REFUSED(read_items, "4294967295 bytes of data, and 0 are left");
}
END_TEST

START_TEST(counts_of_elements_are_not_believed) {
    /* One more than there are, and the most that can be said. */
    static const struct rmai_record run[] = {
        {.kind = RMAI_RECORD_PUT, .len = 8, .n = 3},
        {.kind = RMAI_RECORD_PUT, .len = UINT16_MAX, .n = 0},
        {.kind = RMAI_RECORD_GET, .len = 8, .n = 3},
        {.kind = RMAI_RECORD_ATOMIC, .op = RMA_COMPARE_SWAP_, .len = 8, .n = 3},
    };
    const struct rmai_element first = {.offset = 64};
    for (size_t k = 0; k < sizeof run / sizeof run[0]; k++)
        for (int most = 0; most < 2; most++) {
            const uint16_t n = most ? UINT16_MAX : (uint16_t)(run[k].n + 1);
            begin(RMAI_WIRE_REQUEST, 1);
            record(run[k], NULL, &first, data);
            memcpy(message.bytes + sizeof(struct rmai_envelope) + offsetof(struct rmai_record, n), &n, sizeof n);
            REFUSED(read_records, "record 1 of 1: ");
            REFUSED(read_records, " bytes are left for a name of 0 bytes and ");
        }
}
END_TEST

START_TEST(a_name_that_is_longer_than_its_buffer_is_refused) {
    char name[256];
    memset(name, 'x', sizeof name);
    for (size_t len = 1; len < 256; len++) {
        begin(RMAI_WIRE_REQUEST, 1);
        name[len] = 0;
        record(good[0].r, name, &good[0].e, data);
        name[len] = 'x';
        if (len < RMAI_NAME_MAX) {
            struct rmai_wire_reader m = opened(message.len);
            ck_assert_int_eq(read_records(&m), 0);
        } else {
            REFUSED(read_records, "a name of");
        }
    }
}
END_TEST

START_TEST(a_reply_that_would_not_fit_is_refused_before_it_is_written) {
    const struct rmai_element e = {.offset = 64};
    struct rmai_record get = {.kind = RMAI_RECORD_GET, .len = 90, .n = 1};
    begin(RMAI_WIRE_REQUEST, 1);
    for (size_t reply = sizeof(struct rmai_envelope); (reply += sizeof(struct rmai_item) + 96) <= RMAI_MESSAGE;)
        record(get, NULL, &e, data);
    struct rmai_wire_reader m = opened(message.len);
    ck_assert_int_eq(read_records(&m), 0);
    record(get, NULL, &e, data);
    REFUSED(read_records, "the reply would have");

    /* A run has one item: its reply is full with a few elements more. */
    get.n = (RMAI_MESSAGE - sizeof(struct rmai_envelope) - sizeof(struct rmai_item)) / 96;
    begin(RMAI_WIRE_REQUEST, 1);
    record(get, NULL, &e, data);
    m = opened(message.len);
    ck_assert_int_eq(read_records(&m), 0);
    ck_assert_uint_eq(m.reply, sizeof(struct rmai_envelope) + sizeof(struct rmai_item) + get.n * 96);
    get.n++;
    begin(RMAI_WIRE_REQUEST, 1);
    record(get, NULL, &e, data);
    REFUSED(read_records, "the reply would have");

    /* The text of an error may be longer than the value. */
    begin(RMAI_WIRE_REQUEST, 1);
    for (int n = 0; n < 8; n++)
        record((struct rmai_record){.kind = RMAI_RECORD_LOOK, .n = 1}, "rma_gptr_put", &e, data);
    REFUSED(read_records, "the reply would have");
}
END_TEST

START_TEST(a_code_that_is_none_is_refused) {
    begin(RMAI_WIRE_REPLY, 1);
    item((struct rmai_item){.code = RMA_ERR_SYSTEM}, data);
    struct rmai_wire_reader m = opened(message.len);
    ck_assert_int_eq(read_items(&m), 0);
    item((struct rmai_item){.code = RMA_ERR_SYSTEM + 1}, data);
    REFUSED(read_items, "no code");
}
END_TEST

/* ---- runs of blocks ---- */

#define NO_LIST UINT32_MAX

/* A record of two runs, of 3 blocks of 8 bytes and one of 16, in 200 bytes; or a list of two blocks of `list` bytes. */
static struct {
    struct rmai_record r;
    struct rmai_element e;
    struct rmai_wire_runs w;
    struct rmai_wire_run run[2];
    int64_t at[2];
    uint32_t data; /* bytes of data in the record */
} blocks;

static void begin_blocks(int op, unsigned flags, uint32_t list) {
    memset(&blocks, 0, sizeof blocks);
    blocks.w = (struct rmai_wire_runs){.type = RMA_DOUBLE, .n = 2, .listed = list != NO_LIST};
    blocks.run[0] = (struct rmai_wire_run){.at = 0, .len = 8, .n = 3, .step = 64};
    blocks.run[1] = (struct rmai_wire_run){.at = 184, .len = 16, .n = 1};
    blocks.at[1] = 100;
    if (blocks.w.listed) blocks.w.len = list;
    blocks.e = (struct rmai_element){.offset = 4096, .word = 200, .value = blocks.w.listed ? 2 * list : 40};
    blocks.r = (struct rmai_record){.kind = RMAI_RECORD_RUNS, .op = (uint8_t)op, .flags = (uint8_t)flags, .n = 1};
    if (rmai_wire_runs_bring(&blocks.r)) blocks.data = (uint32_t)rmai_padded(blocks.e.value);
}

static void end_blocks(void) {
    static const unsigned char zeros[4096];
    blocks.e.cond = rmai_wire_runs_word(&blocks.w);
    if (!blocks.r.len) blocks.r.len = (uint16_t)(rmai_wire_runs_bytes(&blocks.w) + blocks.data);
    begin(RMAI_WIRE_REQUEST, 1);
    append(&blocks.r, sizeof blocks.r);
    append(&blocks.e, sizeof blocks.e);
    append(blocks.w.listed ? (void *)blocks.at : (void *)blocks.run,
           rmai_wire_runs_bytes(&blocks.w) < sizeof blocks.run ? rmai_wire_runs_bytes(&blocks.w) : sizeof blocks.run);
    append(zeros, blocks.data);
    count_one();
}

START_TEST(blocks_are_read_as_they_were_written) {
    static const struct {
        int op;
        unsigned flags;
        uint32_t list;
        size_t reply;
    } good_ones[] = {{RMAI_RUNS_PUT, 0, NO_LIST, 0},
                     {RMAI_RUNS_PUT, RMAI_RECORD_BRINGS, NO_LIST, sizeof(struct rmai_item)},
                     {RMAI_RUNS_GET, RMAI_RECORD_WANTED, NO_LIST, sizeof(struct rmai_item) + 40},
                     {RMAI_RUNS_GET, RMAI_RECORD_TAKES, 24, sizeof(struct rmai_item)},
                     {RMAI_RUNS_UPDATE + (int)RMA_OP_SUM, 0, 8, 0},
                     {RMAI_RUNS_UPDATE + (int)RMA_OP_SUM, RMAI_RECORD_WANTED, 16, sizeof(struct rmai_item) + 32},
                     {RMAI_RUNS_FETCH, RMAI_RECORD_WANTED, 8, sizeof(struct rmai_item) + 16}};
    for (size_t i = 0; i < sizeof good_ones / sizeof good_ones[0]; i++) {
        struct rmai_wire_reader m;
        begin_blocks(good_ones[i].op, good_ones[i].flags, good_ones[i].list);
        end_blocks();
        m = opened(message.len);
        ck_assert_msg(read_records(&m) == 0, "number %zu: %s", i, m.wrong);
        ck_assert_uint_eq(m.reply, sizeof(struct rmai_envelope) + good_ones[i].reply);
    }
}
END_TEST

#define REFUSED_BLOCKS(OP, FLAGS, LIST, CHANGE, WORDS)                                                                 \
    do {                                                                                                               \
        begin_blocks(OP, FLAGS, LIST);                                                                                 \
        CHANGE;                                                                                                        \
        end_blocks();                                                                                                  \
        REFUSED(read_records, WORDS);                                                                                  \
    } while (0)

START_TEST(blocks_that_no_pe_sends_are_refused) {
    const int put = RMAI_RUNS_PUT, get = RMAI_RUNS_GET, sum = RMAI_RUNS_UPDATE + (int)RMA_OP_SUM,
              fetch = RMAI_RUNS_FETCH, wanted = RMAI_RECORD_WANTED;
    REFUSED_BLOCKS(put, 0, NO_LIST, blocks.r.op = RMAI_RUNS_UPDATE + RMAI_OPS, "does not exist on runs");
    REFUSED_BLOCKS(put, wanted, NO_LIST, , "runs with operation 0, flags 0x1");
    REFUSED_BLOCKS(put, RMAI_RECORD_TAKES, NO_LIST, , "flags 0x8");
    REFUSED_BLOCKS(get, 0, NO_LIST, , "runs with operation 1, flags 0");
    REFUSED_BLOCKS(sum, RMAI_RECORD_BRINGS, 8, , "flags 0x4");
    REFUSED_BLOCKS(fetch, 0, 8, , "flags 0");
    REFUSED_BLOCKS(put, RMAI_RECORD_SIGNAL, NO_LIST, , "flags 0x2 of kind runs");
    REFUSED_BLOCKS(put, 0, 8, blocks.w.listed = 2, "form 2");
    REFUSED_BLOCKS(put, 0, NO_LIST, blocks.e.value = RMAI_PIECE + 1, "268435457 bytes");
    REFUSED_BLOCKS(put, 0, NO_LIST, blocks.e.offset = NO_OFFSET, "does not exist");
    REFUSED_BLOCKS(put, 0, NO_LIST, blocks.e.word = UINT64_MAX, "does not exist");
    REFUSED_BLOCKS(put, 0, NO_LIST, blocks.e.offset = NO_OFFSET - 100, "does not exist");
    REFUSED_BLOCKS(sum, 0, 8, blocks.w.type = RMAI_TYPES, "update 0 of type 26");
    REFUSED_BLOCKS(RMAI_RUNS_UPDATE + (int)RMA_OP_AND, 0, 8, , "of type 9");
    REFUSED_BLOCKS(sum, 0, 12, , "a block of 12 bytes of type 9");
    REFUSED_BLOCKS(put, 0, NO_LIST, blocks.r.len = 96, "96 bytes for 2 runs and 40 bytes of data");
    REFUSED_BLOCKS(put, 0, NO_LIST, blocks.e.value = 33, "runs of 40 bytes, not 33");
    REFUSED_BLOCKS(put, 0, NO_LIST, blocks.run[0].n = 0, "run 0 of 2 leaves");
    REFUSED_BLOCKS(put, 0, NO_LIST, blocks.run[1].len = 0, "run 1 of 2 leaves");
    REFUSED_BLOCKS(put, 0, NO_LIST, blocks.run[0].at = -8, "run 0 of 2 leaves its 200 bytes");
    REFUSED_BLOCKS(put, 0, NO_LIST, blocks.run[0].step = -64, "run 0 of 2 leaves");
    REFUSED_BLOCKS(put, 0, NO_LIST, blocks.run[0].step = INT64_MAX, "run 0 of 2 leaves");
    REFUSED_BLOCKS(put, 0, NO_LIST, blocks.run[1].at = 185, "run 1 of 2 leaves");
    REFUSED_BLOCKS(put, 0, NO_LIST, blocks.run[1].len = UINT64_MAX, "run 1 of 2 leaves");
    REFUSED_BLOCKS(put, 0, 8, blocks.at[1] = 193, "run 1 of 2 leaves");
    REFUSED_BLOCKS(get, wanted, NO_LIST, blocks.w.n = 3; blocks.r.len = 64, "64 bytes for 3 runs");
}
END_TEST

int main(void) {
    Suite *s = suite_create("wire");
    TCase *good_ones = tcase_create("what is sent"), *damaged = tcase_create("what is not");
    SRunner *runner;
    int failed;
    tcase_add_test(good_ones, a_request_is_read_as_it_was_written);
    tcase_add_test(good_ones, a_run_is_read_as_it_was_written);
    tcase_add_test(good_ones, a_record_s_word_is_its_bytes);
    tcase_add_test(good_ones, a_reply_has_room_for_each_value);
    tcase_add_test(good_ones, a_reply_is_read_as_it_was_written);
    tcase_add_test(good_ones, blocks_are_read_as_they_were_written);
    suite_add_tcase(s, good_ones);
    tcase_add_test(damaged, nothing_is_a_message_without_an_envelope);
    tcase_add_test(damaged, a_message_that_is_cut_or_too_long_is_refused);
    tcase_add_loop_test(damaged, a_record_that_no_pe_sends_is_refused, 0, (int)(sizeof bad / sizeof bad[0]));
    tcase_add_loop_test(damaged, a_marked_offset_with_a_name_is_refused, 0, 2);
    tcase_add_test(damaged, a_run_with_a_name_is_refused);
    tcase_add_test(damaged, each_element_of_a_run_is_looked_at);
    tcase_add_test(damaged, a_compact_run_is_read_as_it_was_written);
    tcase_add_test(damaged, a_compact_run_that_no_PE_sends_is_refused);
    tcase_add_test(damaged, lengths_are_not_believed);
    tcase_add_test(damaged, counts_of_elements_are_not_believed);
    tcase_add_test(damaged, a_name_that_is_longer_than_its_buffer_is_refused);
    tcase_add_test(damaged, a_reply_that_would_not_fit_is_refused_before_it_is_written);
    tcase_add_test(damaged, a_code_that_is_none_is_refused);
    tcase_add_test(damaged, blocks_that_no_pe_sends_are_refused);
    suite_add_tcase(s, damaged);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
