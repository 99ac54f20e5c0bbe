/* SPDX-License-Identifier: BSD-3-Clause */
/* The copies of the inlined calls, of every short length and of long ones, compared with a loop over bytes.
 *
 * Broken by a byte that is left out or comes from elsewhere, and by one that is written before or after dest. */
#include "config.h"

#include "rma.h"

#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ROOM   16                       /* bytes before and after dest, which stay */
#define MOST   (3 * RMA_LONG_MIN_ + 99) /* bytes of a copy */
#define ALIGNS 9                        /* places of each side, within a word and in the next one */

static unsigned char *from, *to;

/* The k-th byte: the period has no factor in common with the pieces of a copy. */
static unsigned char byte_of(size_t k) { return (unsigned char)(k % 251 + 1); }

/* Long copies are compared around the pieces' ends, at one of a thousand other bytes, and at the end. */
static int is_compared(size_t k, size_t len) { return len < 4096 || k % 1021 == 0 || k % 65536 < 2 || k + 64 > len; }

static void check_copy(void (*copy)(void *, const void *, size_t), size_t len, size_t at, size_t source) {
    unsigned char *dest = to + ROOM + at;
    for (size_t k = 0; k < len; k++) from[source + k] = byte_of(k);
    memset(dest - ROOM, 0, len + 2 * (size_t)ROOM);
    copy(dest, from + source, len);
    for (size_t k = 0; k < len; k++)
        if (is_compared(k, len) && dest[k] != byte_of(k))
            ck_abort_msg("byte %zu of %zu is %d and not %d (dest + %zu, source + %zu)", k, len, dest[k], byte_of(k), at,
                         source);
    for (size_t k = 1; k <= ROOM; k++)
        if (*(dest - k) || dest[len + k - 1])
            ck_abort_msg("a copy of %zu bytes wrote outside of dest (dest + %zu, source + %zu)", len, at, source);
}

static void move(void *dest, const void *source, size_t len) { rma_move_(dest, source, len); }

static void move_a_known_long_one(void *dest, const void *source, size_t len) {
    ck_assert_uint_eq(len, RMA_LONG_MIN_ + 1);
    rma_move_known_(dest, source, RMA_LONG_MIN_ + 1);
}

static void get_memory(void) {
    from = malloc(MOST + ALIGNS);
    to = malloc(MOST + ALIGNS + 2 * (size_t)ROOM);
    ck_assert(from && to);
}

static void free_memory(void) {
    free(from);
    free(to);
}

START_TEST(short_copies_are_exact) {
    for (size_t len = 0; len <= 3 * (size_t)RMA_SHORT_MAX_; len++)
        for (size_t at = 0; at < ALIGNS; at++)
            for (size_t source = 0; source < ALIGNS; source++) check_copy(move, len, at, source);
}
END_TEST

START_TEST(long_copies_are_exact) {
    const size_t some[] = {
        RMA_LONG_MIN_ - 1,     RMA_LONG_MIN_, RMA_LONG_MIN_ + 1, RMA_LONG_MIN_ * 3 / 2, 2 * RMA_LONG_MIN_ - 1,
        2 * RMA_LONG_MIN_ + 8, MOST};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        for (size_t at = 0; at < ALIGNS; at += 4) check_copy(move, some[i], at, (at + i) % ALIGNS);
    check_copy(move_a_known_long_one, RMA_LONG_MIN_ + 1, 3, 0);
}
END_TEST

int main(void) {
    Suite *s = suite_create("word");
    TCase *copies = tcase_create("copies");
    SRunner *runner;
    int failed;
    tcase_set_timeout(copies, 300);
    tcase_add_checked_fixture(copies, get_memory, free_memory);
    tcase_add_test(copies, short_copies_are_exact);
    tcase_add_test(copies, long_copies_are_exact);
    suite_add_tcase(s, copies);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
