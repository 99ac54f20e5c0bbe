/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of algorithms, its replacement by a setting, and the operations of reductions on arrays of any length.
 *
 * Broken by a mix-up of names, by a part of a setting that is ignored, or accepted though it is wrong, by a text that
 * quotes the wrong part, by an algorithm that applies one byte too early or too late; and by a loop that leaves out the
 * last elements, writes past them, or computes another operation. */
#include "config.h"

#include "base/choice.h"
#include "base/kernels.h"

#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table ---- */

static struct rmai_choice set(const char *text) {
    struct rmai_choice c;
    const char *bad = NULL;
    size_t len = 0;
    ck_assert_msg(rmai_choice_set(&c, text, &bad, &len) == 0, "%s: refused at '%.*s'", text, (int)len, bad ? bad : "");
    return c;
}

START_TEST(a_setting_replaces_what_it_names_and_nothing_else) {
    struct rmai_choice before = set("auto"), after = set("reduce:share=8k, Meet:Tree=never,broadcast:direct=0");
    for (int way = 0; way < RMAI_WAYS; way++)
        for (int shape = 0; shape < RMAI_SHAPES; shape++) {
            size_t want = way == RMAI_REDUCE_SHARE       ? 8192
                          : way == RMAI_MEET_TREE        ? RMAI_NEVER
                          : way == RMAI_BROADCAST_DIRECT ? 0
                                                         : before.from[way][shape];
            ck_assert_msg(after.from[way][shape] == want, "way %d, shape %d: %zu, not %zu", way, shape,
                          after.from[way][shape], want);
        }
    ck_assert(!rmai_takes(&after, RMAI_REDUCE_SHARE, RMAI_PAIR, 8191));
    ck_assert(rmai_takes(&after, RMAI_REDUCE_SHARE, RMAI_PAIR, 8192));
    ck_assert(rmai_takes(&after, RMAI_BROADCAST_DIRECT, RMAI_CROWDED, 0));
    ck_assert(!rmai_takes(&after, RMAI_MEET_TREE, RMAI_ROOMY, (size_t)1 << 24));
}
END_TEST

static const struct {
    const char *text, *bad;
} wrong[] = {
    {"", ""},
    {"reduce", "reduce"},
    {"reduce:share", "reduce:share"},
    {"reduce:share=", "reduce:share="},
    {"reduce:shar=1k", "reduce:shar=1k"},
    {"reduce:shared=1k", "reduce:shared=1k"},
    {"reduce:share=1k,", ""},
    {"reduce:share=1k,scan:share=x", "scan:share=x"},
    {"reduce:share=-1", "reduce:share=-1"},
    {"reduce:share=50%", "reduce:share=50%"},
    {"reduce:share=1k;scan:share=1k", "reduce:share=1k;scan:share=1k"},
    {"reduce:share=11111111111111111111111111111111111", "reduce:share=11111111111111111111111111111111111"},
};

START_TEST(a_wrong_part_is_refused_and_quoted) {
    struct rmai_choice c;
    const char *bad = NULL;
    size_t len = 0;
    ck_assert_int_eq(rmai_choice_set(&c, wrong[_i].text, &bad, &len), -1);
    ck_assert_msg(len == strlen(wrong[_i].bad) && memcmp(bad, wrong[_i].bad, len) == 0, "'%s': quotes '%.*s'",
                  wrong[_i].text, (int)len, bad);
}
END_TEST

static int n_lines;
static char lines[32][320];

static void keep(void *out, const char *line) {
    (void)out;
    ck_assert_int_lt(n_lines, 32);
    strcpy(lines[n_lines++], line);
}

START_TEST(what_is_printed_can_be_set) {
    struct rmai_choice c = set("alltoall:direct=3k,meet:counter=7"), again = set("auto");
    n_lines = 0;
    rmai_choice_print(&c, keep, NULL);
    ck_assert_int_eq(n_lines, RMAI_WAYS + 1);
    for (int i = 1; i < n_lines; i++) {
        char name[64], text[128];
        const char *bad;
        size_t len;
        ck_assert_int_eq(sscanf(lines[i], "%63s", name), 1);
        snprintf(text, sizeof text, "%s=5", name);
        ck_assert_msg(rmai_choice_set(&again, text, &bad, &len) == 0, "%s", text);
        if (strcmp(name, "alltoall:direct") == 0) ck_assert_msg(strstr(lines[i], " 3 KiB") != NULL, "%s", lines[i]);
        if (strcmp(name, "meet:counter") == 0) ck_assert_msg(strstr(lines[i], " 7 PEs") != NULL, "%s", lines[i]);
    }
}
END_TEST

/* ---- the loops ---- */

#define MOST 100 /* elements: some vectors of the widest kind, and some more */

START_TEST(types_are_told_by_size_and_sign) {
    ck_assert_int_eq(rmai_type_of(signed char), RMA_INT8);
    ck_assert_int_eq(rmai_type_of(unsigned short), RMA_UINT16);
    ck_assert_int_eq(rmai_type_of(int), RMA_INT32);
    ck_assert_int_eq(rmai_type_of(size_t), RMA_UINT64);
    ck_assert_int_eq(rmai_type_of(long long), RMA_INT64);
    ck_assert_int_eq(rmai_type_of(float), RMA_FLOAT);
    ck_assert_int_eq(rmai_type_of(double), RMA_DOUBLE);
    ck_assert_int_eq(rmai_type_of(long double), RMA_LDOUBLE);
    for (int type = 0; type < RMAI_TYPES; type++)
        for (int op = 0; op < RMAI_OPS; op++) {
            const struct rmai_kernel *k = rmai_kernel((enum rma_op)op, (enum rma_type)type);
            int bits = op >= RMA_OP_AND && op <= RMA_OP_LXOR, limit = op == RMA_OP_MIN || op == RMA_OP_MAX;
            int pair = type >= RMA_PAIR_SHORT_, integer = type < RMA_FLOAT || (type >= RMA_STRIPED_INT32_ && !pair);
            int has = pair                   ? op >= RMAI_PUBLIC_OPS
                      : op >= RMA_OP_REPLACE ? 0
                                             : integer || (type < RMA_COMPLEXF ? !bits : !bits && !limit);
            ck_assert_msg((k->combine != NULL) == (has && !pair) && (k->accumulate != NULL) == has,
                          "operation %d of type %d", op, type);
        }
}
END_TEST

/* Small numbers of either sign, none of them 0. */
#define NUMBER(T, i, k)                                                                                                \
    ((T)((T)-1 < (T)1 ? ((i)*7 + (k)*3) % 11 - 5 + (((i)*7 + (k)*3) % 11 == 5) : ((i)*7 + (k)*3) % 11 + 1))
#define TRY(T, ID, OP, WANT)                                                                                           \
    for (int n = 0; n <= MOST; n++) {                                                                                  \
        const struct rmai_kernel *k = rmai_kernel(OP, ID);                                                             \
        T x[MOST + 1], y[MOST + 1], z[MOST + 1];                                                                       \
        for (int i = 0; i <= MOST; i++) {                                                                              \
            x[i] = NUMBER(T, i, 1);                                                                                    \
            y[i] = NUMBER(T, i, 2);                                                                                    \
            z[i] = (T)99;                                                                                              \
        }                                                                                                              \
        k->combine(z, x, y, (size_t)n);                                                                                \
        k->accumulate(x, y, (size_t)n);                                                                                \
        for (int i = 0; i <= MOST; i++) {                                                                              \
            const T a = NUMBER(T, i, 1), b = NUMBER(T, i, 2), want = (T)(WANT);                                        \
            /* Check notes each assertion in a file: a million of them take minutes under valgrind. */                 \
            if (z[i] != (i < n ? want : (T)99)) ck_abort_msg("combine, %s of %s: element %d of %d", #OP, #T, i, n);    \
            if (x[i] != (i < n ? want : a)) ck_abort_msg("accumulate, %s of %s: element %d of %d", #OP, #T, i, n);     \
        }                                                                                                              \
    }
#define TRY_NUMBERS(T)                                                                                                 \
    TRY(T, rmai_type_of(T), RMA_OP_MIN, a < b ? a : b)                                                                 \
    TRY(T, rmai_type_of(T), RMA_OP_MAX, a > b ? a : b)                                                                 \
    TRY(T, rmai_type_of(T), RMA_OP_SUM, a + b)                                                                         \
    TRY(T, rmai_type_of(T), RMA_OP_PROD, a *b)
#define TRY_INTEGERS(T)                                                                                                \
    TRY_NUMBERS(T)                                                                                                     \
    TRY(T, rmai_type_of(T), RMA_OP_AND, a &b)                                                                          \
    TRY(T, rmai_type_of(T), RMA_OP_OR, a | b)                                                                          \
    TRY(T, rmai_type_of(T), RMA_OP_XOR, a ^ b)

START_TEST(every_element_and_none_behind){TRY_INTEGERS(int8_t) TRY_INTEGERS(uint8_t) TRY_INTEGERS(int16_t)
                                              TRY_INTEGERS(uint16_t) TRY_INTEGERS(int32_t) TRY_INTEGERS(uint32_t)
                                                  TRY_INTEGERS(int64_t) TRY_INTEGERS(uint64_t) TRY_NUMBERS(float)
                                                      TRY_NUMBERS(double) TRY_NUMBERS(long double)} END_TEST

    START_TEST(integers_wrap_around) {
    uint16_t a = 65535, b = 65535, c;
    int64_t x = INT64_MAX, y = 2, z;
    rmai_kernel(RMA_OP_PROD, RMA_UINT16)->combine(&c, &a, &b, 1);
    ck_assert_uint_eq(c, 1);
    rmai_kernel(RMA_OP_SUM, RMA_INT64)->combine(&z, &x, &y, 1);
    ck_assert_int_eq(z, INT64_MIN + 1);
}
END_TEST

/* b < a ? b : a, and so on: what comes first stays, unless the other is less. Of many elements, since loops of vectors
 * do it. */
START_TEST(zeros_and_not_numbers) {
    double a[MOST], b[MOST], least[MOST], greatest[MOST], sum[MOST];
    for (int i = 0; i < MOST; i++) {
        a[i] = i % 4 == 0 ? 0.0 : i % 4 == 1 ? -0.0 : i % 4 == 2 ? NAN : 1;
        b[i] = i % 4 == 0 ? -0.0 : i % 4 == 1 ? -0.0 : i % 4 == 2 ? 1 : NAN;
    }
    rmai_kernel(RMA_OP_MIN, RMA_DOUBLE)->combine(least, a, b, MOST);
    rmai_kernel(RMA_OP_MAX, RMA_DOUBLE)->combine(greatest, a, b, MOST);
    rmai_kernel(RMA_OP_SUM, RMA_DOUBLE)->combine(sum, a, b, MOST);
    for (int i = 0; i < MOST; i++) {
        ck_assert_msg(memcmp(&least[i], &a[i], sizeof a[i]) == 0, "element %d: the least is %g", i, least[i]);
        ck_assert_msg(memcmp(&greatest[i], &a[i], sizeof a[i]) == 0, "element %d: the greatest is %g", i, greatest[i]);
        if (i % 4 == 1) ck_assert(sum[i] == 0 && signbit(sum[i]));
        if (i % 4 >= 2) ck_assert(isnan(sum[i]));
    }
}
END_TEST

/* Pairs at odd addresses: the lesser value, or the greater one; of equal values the one with the lesser index. */
START_TEST(pairs_by_value_and_index) {
    const double value[4] = {1, 2, 2, 3}, other[4] = {2, 1, 2, 3};
    const int index[4] = {9, 9, 4, 6}, other_index[4] = {1, 2, 3, 7};
    const int stays[2][4] = {{1, 0, 0, 1}, {0, 1, 0, 1}};
    for (int most = 0; most < 2; most++) {
        char there[4 * 12 + 1], mine[4 * 12 + 1], want[4 * 12 + 1];
        for (int i = 0; i < 4; i++) {
            memcpy(there + 1 + 12 * i, &value[i], 8);
            memcpy(there + 9 + 12 * i, &index[i], 4);
            memcpy(mine + 1 + 12 * i, &other[i], 8);
            memcpy(mine + 9 + 12 * i, &other_index[i], 4);
            memcpy(want + 1 + 12 * i, (stays[most][i] ? there : mine) + 1 + 12 * i, 12);
        }
        rmai_kernel((enum rma_op)(most ? RMA_OP_MAXLOC_ : RMA_OP_MINLOC_), (enum rma_type)RMA_PAIR_DOUBLE_)
            ->accumulate(there + 1, mine + 1, 4);
        ck_assert_msg(memcmp(there + 1, want + 1, 48) == 0, "%s", most ? "the greatest" : "the least");
    }
}
END_TEST

int main(void) {
    Suite *s = suite_create("choice");
    TCase *table = tcase_create("table"), *loops = tcase_create("loops");
    SRunner *runner;
    int failed;
    tcase_set_timeout(table, 300);
    tcase_add_test(table, a_setting_replaces_what_it_names_and_nothing_else);
    tcase_add_loop_test(table, a_wrong_part_is_refused_and_quoted, 0, sizeof wrong / sizeof wrong[0]);
    tcase_add_test(table, what_is_printed_can_be_set);
    suite_add_tcase(s, table);
    tcase_set_timeout(loops, 300);
    tcase_add_test(loops, types_are_told_by_size_and_sign);
    tcase_add_test(loops, every_element_and_none_behind);
    tcase_add_test(loops, integers_wrap_around);
    tcase_add_test(loops, zeros_and_not_numbers);
    tcase_add_test(loops, pairs_by_value_and_index);
    suite_add_tcase(s, loops);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
