/* SPDX-License-Identifier: BSD-3-Clause */
/* What a PE sends is read as it was written; of anything else the reader says what is wrong with it, and reads
 * nothing beyond its end.
 *
 * Broken by a length, a count or a number that is believed before it has been looked at: each test damages one field
 * of a good message. */
#include "config.h"

#include "rma.h"
#include "runtime/net/wire.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* A message that is being written. */
static struct {
    _Alignas(8) unsigned char bytes[RMAI_MESSAGE];
    size_t len;
} message;

static void begin(enum rmai_wire kind, uint16_t batch) {
    const struct rmai_envelope e = {.kind = (uint16_t)kind, .batch = batch};
    memset(&message, 0xee, sizeof message);
    memcpy(message.bytes, &e, sizeof e);
    message.len = sizeof e;
}

static void append(const void *data, size_t len) {
    memcpy(message.bytes + message.len, data, len);
    message.len += rmai_padded(len);
}

static void count_one(void) { ((struct rmai_envelope *)(void *)message.bytes)->n++; }

static void record(struct rmai_record r, const char *name, const void *data) {
    r.name = (uint8_t)(name ? strlen(name) : 0);
    append(&r, sizeof r);
    if (name) append(name, r.name);
    append(data, rmai_data_after(&r));
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
    const unsigned char *data;
    int more;
    while ((more = rmai_wire_next_record(m, &r, name, &data)) > 0) {
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

static const struct rmai_record good[] = {
    {.kind = RMAI_RECORD_PUT, .len = 13, .offset = 77},
    {.kind = RMAI_RECORD_PUT, .offset = 1},
    {.kind = RMAI_RECORD_GET, .offset = 4096, .value = 100},
    {.kind = RMAI_RECORD_PUT_LONG, .offset = RMA_GPTR_ATTACHED_ + 3, .value = RMAI_PIECE},
    {.kind = RMAI_RECORD_PUT_LONG,
     .op = RMA_FETCH_FMAX_,
     .flags = RMAI_RECORD_SIGNAL,
     .len = 8,
     .offset = 8,
     .value = 5000,
     .cond = 1},
    {.kind = RMAI_RECORD_GET_LONG, .offset = 8, .value = 5000},
    {.kind = RMAI_RECORD_LOOK, .op = 1, .offset = ((uint64_t)1 << RMA_GPTR_BITS_) - 1, .value = UINT64_MAX},
    {.kind = RMAI_RECORD_ATOMIC, .op = RMA_FETCH_ADD_, .flags = RMAI_RECORD_WANTED, .len = 4, .offset = 12, .value = 9},
    {.kind = RMAI_RECORD_ATOMIC,
     .op = RMA_COMPARE_SWAP_,
     .len = 8,
     .offset = RMA_GPTR_ATTACHED_ + 1,
     .value = 1,
     .cond = 2},
    {.kind = RMAI_RECORD_ALLOC, .value = UINT64_MAX},
    {.kind = RMAI_RECORD_FREE, .offset = 64},
    {.kind = RMAI_RECORD_EXTENTS},
};
#define GOOD (sizeof good / sizeof good[0])

static const char data[] = "thirteen byte";

START_TEST(a_request_is_read_as_it_was_written) {
    struct rmai_wire_reader m;
    struct rmai_record r;
    char name[RMAI_NAME_MAX];
    const unsigned char *at;
    begin(RMAI_WIRE_REQUEST, 1023);
    for (size_t i = 0; i < GOOD; i++) record(good[i], i % 3 ? NULL : "rma_gptr_put", data);
    m = opened(message.len);
    for (size_t i = 0; i < GOOD; i++) {
        struct rmai_record want = good[i];
        want.name = i % 3 ? 0 : 12;
        ck_assert_int_eq(rmai_wire_next_record(&m, &r, name, &at), 1);
        ck_assert_int_eq(memcmp(&r, &want, sizeof r), 0);
        ck_assert_str_eq(name, i % 3 ? "" : "rma_gptr_put");
        ck_assert_int_eq(memcmp(at, data, rmai_data_after(&r)), 0);
    }
    for (int again = 0; again < 2; again++) ck_assert_int_eq(rmai_wire_next_record(&m, &r, name, &at), 0);
}
END_TEST

START_TEST(a_reply_is_read_as_it_was_written) {
    static const struct rmai_item items[] = {
        {.record = 3, .len = 8}, {.record = 4, .code = RMA_ERR_SYSTEM, .len = 5}, {.record = 125, .len = 0}};
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
        ck_assert_ptr_nonnull(strstr(m.wrong, "no message"));
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
                record(good[0], "rma_put", data);
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
static const struct {
    struct rmai_record r;
    const char *words;
} bad[] = {
    {{.kind = RMAI_RECORD_EXTENTS + 1}, "no kind"},
    {{.kind = 255}, "no kind"},
    {{.kind = RMAI_RECORD_PUT, .flags = RMAI_RECORD_WANTED}, "flags 0x1"},
    {{.kind = RMAI_RECORD_GET, .value = 8, .flags = RMAI_RECORD_SIGNAL}, "flags 0x2"},
    {{.kind = RMAI_RECORD_ATOMIC, .len = 8, .flags = RMAI_RECORD_SIGNAL}, "flags 0x2"},
    {{.kind = RMAI_RECORD_ATOMIC, .len = 8, .flags = 0x80}, "flags 0x80"},
    {{.kind = RMAI_RECORD_PUT, .offset = (uint64_t)1 << RMA_GPTR_BITS_}, "is none"},
    {{.kind = RMAI_RECORD_FREE, .offset = UINT64_MAX}, "is none"},
    {{.kind = RMAI_RECORD_GET, .value = RMAI_MESSAGE + 1}, "short get of 4097"},
    {{.kind = RMAI_RECORD_GET, .value = RMAI_MESSAGE}, "the reply would have"},
    {{.kind = RMAI_RECORD_GET, .value = UINT64_MAX}, "short get of"},
    {{.kind = RMAI_RECORD_PUT_LONG, .value = RMAI_PIECE + 1}, "long put of"},
    {{.kind = RMAI_RECORD_GET_LONG, .value = UINT64_MAX}, "long get of"},
    {{.kind = RMAI_RECORD_PUT_LONG, .value = 8, .flags = RMAI_RECORD_SIGNAL}, "followed by 0"},
    {{.kind = RMAI_RECORD_PUT_LONG, .value = 8, .len = 8}, "followed by 8"},
    {{.kind = RMAI_RECORD_PUT_LONG, .value = 8, .len = 8, .op = RMA_FETCH_FMAX_ + 1, .flags = RMAI_RECORD_SIGNAL},
     "no atomic"},
    {{.kind = RMAI_RECORD_LOOK, .op = 2}, "mode 2"},
    {{.kind = RMAI_RECORD_ATOMIC, .op = RMA_FETCH_FMAX_ + 1, .len = 8}, "no atomic"},
    {{.kind = RMAI_RECORD_ATOMIC, .len = 0}, "word of 0"},
    {{.kind = RMAI_RECORD_ATOMIC, .len = 16}, "word of 16"},
    {{.kind = RMAI_RECORD_ATOMIC, .len = UINT32_MAX}, "word of"},
    {{.kind = RMAI_RECORD_ATOMIC, .len = 8, .offset = 12}, "offset 0xc"},
};

START_TEST(a_record_that_no_pe_sends_is_refused) {
    begin(RMAI_WIRE_REQUEST, 1);
    record(good[0], NULL, data);
    record(bad[_i].r, NULL, data);
    record(good[0], NULL, data);
    REFUSED(read_records, bad[_i].words);
    REFUSED(read_records, "record 2 of 3: ");
}
END_TEST

START_TEST(lengths_are_not_believed) {
    struct rmai_record r = good[0];
    const struct rmai_item i = {.len = UINT32_MAX};
    begin(RMAI_WIRE_REQUEST, 1);
    r.len = UINT32_MAX;
    append(&r, sizeof r);
    count_one();
    REFUSED(read_records, "4294967295 bytes of data, and 0 are left");
    begin(RMAI_WIRE_REPLY, 1);
    append(&i, sizeof i);
    count_one();
    REFUSED(read_items, "4294967295 bytes of data, and 0 are left");
}
END_TEST

START_TEST(a_name_that_is_longer_than_its_buffer_is_refused) {
    char name[256];
    memset(name, 'x', sizeof name);
    for (size_t len = 1; len < 256; len++) {
        begin(RMAI_WIRE_REQUEST, 1);
        name[len] = 0;
        record(good[0], name, data);
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
    int n = 0;
    begin(RMAI_WIRE_REQUEST, 1);
    for (size_t reply = sizeof(struct rmai_envelope); (reply += sizeof(struct rmai_item) + 96) <= RMAI_MESSAGE; n++)
        record((struct rmai_record){.kind = RMAI_RECORD_GET, .value = 90}, NULL, data);
    struct rmai_wire_reader m = opened(message.len);
    ck_assert_int_eq(read_records(&m), 0);
    record((struct rmai_record){.kind = RMAI_RECORD_GET, .value = 90}, NULL, data);
    REFUSED(read_records, "the reply would have");

    /* The text of an error may be longer than the value. */
    begin(RMAI_WIRE_REQUEST, 1);
    for (n = 0; n < 8; n++) record((struct rmai_record){.kind = RMAI_RECORD_LOOK}, "rma_gptr_put", data);
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

int main(void) {
    Suite *s = suite_create("wire");
    TCase *good_ones = tcase_create("what is sent"), *damaged = tcase_create("what is not");
    SRunner *runner;
    int failed;
    tcase_add_test(good_ones, a_request_is_read_as_it_was_written);
    tcase_add_test(good_ones, a_reply_is_read_as_it_was_written);
    suite_add_tcase(s, good_ones);
    tcase_add_test(damaged, nothing_is_a_message_without_an_envelope);
    tcase_add_test(damaged, a_message_that_is_cut_or_too_long_is_refused);
    tcase_add_loop_test(damaged, a_record_that_no_pe_sends_is_refused, 0, (int)(sizeof bad / sizeof bad[0]));
    tcase_add_test(damaged, lengths_are_not_believed);
    tcase_add_test(damaged, a_name_that_is_longer_than_its_buffer_is_refused);
    tcase_add_test(damaged, a_reply_that_would_not_fit_is_refused_before_it_is_written);
    tcase_add_test(damaged, a_code_that_is_none_is_refused);
    suite_add_tcase(s, damaged);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
