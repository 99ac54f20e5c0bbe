/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables with an entry for each PE.
 *
 * Broken by an entry that is lost or moves when the table grows, by two entries for one PE, by a new entry that is not
 * all zero, by colliding numbers, and by exhausted memory. */
#include "config.h"

#include "base/pe_table.h"

#include <check.h>
#include <stdint.h>
#include <stdlib.h>

#define PES 5000

struct entry {
    int pe;
    uint64_t value[3];
};

/* What fails: the allocation that comes after so many; -1: none. */
static int good_allocations = -1;

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size) {
    if (good_allocations == 0) return NULL;
    if (good_allocations > 0) good_allocations--;
    return __real_calloc(n, size);
}

/* Of number i: one after the other, far apart, or such that the low bits are the same. */
static int pe_of(int order, int i) { return order == 0 ? i : order == 1 ? (PES - i) * 4099 : i << 16; }

START_TEST(each_pe_has_one_entry_that_stays_where_it_is) {
    static struct entry *entry[PES];
    struct rmai_pe_table t = {0};
    for (int i = 0; i < PES; i++) {
        ck_assert_ptr_null(rmai_pe_table_get(&t, pe_of(_i, i)));
        entry[i] = rmai_pe_table_find(&t, pe_of(_i, i), sizeof *entry[i]);
        ck_assert_ptr_nonnull(entry[i]);
        ck_assert_int_eq(entry[i]->pe, pe_of(_i, i));
        for (int k = 0; k < 3; k++) ck_assert_uint_eq(entry[i]->value[k], 0);
        entry[i]->value[2] = (uint64_t)i + 1;
        ck_assert_uint_eq(t.n, (unsigned)i + 1);
        ck_assert_uint_le(2 * t.n, t.room);
        ck_assert_uint_eq(t.room & (t.room - 1), 0);
        ck_assert_uint_le(t.room, i < 8 ? 16 : 4 * t.n);
    }
    for (int i = PES; i-- > 0;) {
        ck_assert_ptr_eq(rmai_pe_table_find(&t, pe_of(_i, i), sizeof *entry[i]), entry[i]);
        ck_assert_ptr_eq(rmai_pe_table_get(&t, pe_of(_i, i)), entry[i]);
        ck_assert_uint_eq(entry[i]->value[2], (uint64_t)i + 1);
    }
    ck_assert_uint_eq(t.n, PES);
    rmai_pe_table_close(&t);
    ck_assert_ptr_null(t.entry);
    ck_assert_uint_eq(t.n + t.room, 0);
    rmai_pe_table_close(&t); /* an empty one, too */
}
END_TEST

START_TEST(without_memory_nothing_is_there_and_nothing_is_lost) {
    /* The table cannot grow, or has room and the entry has no memory. */
    struct rmai_pe_table t = {0};
    for (int i = 0; i < 100; i++) {
        unsigned n = t.n;
        good_allocations = 0;
        ck_assert_ptr_null(rmai_pe_table_find(&t, i, sizeof(struct entry)));
        ck_assert_uint_eq(t.n, n);
        for (int k = 0; k < i; k++) ck_assert_ptr_nonnull(rmai_pe_table_find(&t, k, sizeof(struct entry)));
        good_allocations = 2 * (t.n + 1) > t.room; /* for the table, if that must grow */
        ck_assert_ptr_null(rmai_pe_table_find(&t, i, sizeof(struct entry)));
        ck_assert_uint_eq(t.n, n);
        good_allocations = -1;
        ck_assert_ptr_nonnull(rmai_pe_table_find(&t, i, sizeof(struct entry)));
        ck_assert_uint_eq(t.n, n + 1);
    }
    rmai_pe_table_close(&t);
}
END_TEST

int main(void) {
    Suite *s = suite_create("pe_table");
    TCase *all = tcase_create("tables");
    SRunner *runner;
    int failed;
    tcase_add_loop_test(all, each_pe_has_one_entry_that_stays_where_it_is, 0, 3);
    tcase_add_test(all, without_memory_nothing_is_there_and_nothing_is_lost);
    tcase_set_timeout(all, 60);
    suite_add_tcase(s, all);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
