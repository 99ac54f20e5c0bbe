/* SPDX-License-Identifier: BSD-3-Clause */
/* check_statistics.c: the benchmarks' statistics of repeated measurements are correct.
 *
 * Broken by an off-by-one in a rank, by values that are not sorted, and by an interval that is too narrow for its
 * probability. The expected intervals are from published tables of the binomial distribution. */
#include "bench/statistics.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

/* 1, 2 ... n in an order that is none. */
static struct bench_summary of(int n) {
    double v[1024];
    for (int i = 0; i < n; i++) v[i] = i + 1;
    srand(7);
    for (int i = n - 1; i > 0; i--) {
        int k = rand() % (i + 1);
        double x = v[i];
        v[i] = v[k];
        v[k] = x;
    }
    return bench_summarize(v, n);
}

START_TEST(values_stand_at_their_ranks) {
    struct bench_summary s = of(1);
    ck_assert_int_eq(s.n, 1);
    ck_assert(s.min == 1 && s.median == 1 && s.p99 == 1 && s.max == 1);
    s = of(4);
    ck_assert(s.min == 1 && s.median == 2.5 && s.p99 == 4 && s.max == 4);
    s = of(11);
    ck_assert(s.min == 1 && s.median == 6 && s.p99 == 11 && s.max == 11);
    s = of(100);
    ck_assert(s.median == 50.5 && s.p99 == 99 && s.max == 100);
    s = of(101);
    ck_assert(s.median == 51 && s.p99 == 100 && s.max == 101);
    s = of(1000);
    ck_assert(s.p99 == 990);
}
END_TEST

START_TEST(intervals_are_those_of_the_tables) {
    static const struct {
        int n, low, high;
    } table[] = {{6, 1, 6},   {7, 1, 7},   {8, 1, 8},   {9, 2, 8},   {11, 2, 10},
                 {15, 4, 12}, {20, 6, 15}, {25, 8, 18}, {50, 18, 33}};
    for (int n = 1; n < 6; n++) ck_assert(isnan(of(n).low) && isnan(of(n).high));
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct bench_summary s = of(table[i].n);
        ck_assert_msg(s.low == table[i].low && s.high == table[i].high, "of %d values: %g to %g, not %d to %d",
                      table[i].n, s.low, s.high, table[i].low, table[i].high);
    }
    ck_assert(of(1000).low <= 500 && of(1000).low > 460 && of(1000).high >= 501 && of(1000).high < 540);
}
END_TEST

START_TEST(of_no_values_nothing_is_said) {
    struct bench_summary s = bench_summarize(NULL, 0);
    ck_assert_int_eq(s.n, 0);
    ck_assert(isnan(s.min) && isnan(s.median) && isnan(s.p99) && isnan(s.max) && isnan(s.low) && isnan(s.high));
}
END_TEST

int main(void) {
    Suite *suite = suite_create("statistics");
    TCase *tcase = tcase_create("all");
    tcase_add_test(tcase, values_stand_at_their_ranks);
    tcase_add_test(tcase, intervals_are_those_of_the_tables);
    tcase_add_test(tcase, of_no_values_nothing_is_said);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
