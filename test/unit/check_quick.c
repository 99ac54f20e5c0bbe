/* SPDX-License-Identifier: BSD-3-Clause */
/* Quick lists: their blocks are neither live nor counted, and come back whole.
 *
 * Broken by a block that is handed out twice, by a block that is lost when the lists are flushed, by a parked block
 * that its owner or a peer can free again, by a count or a peak that includes parked blocks, and by a refill that is
 * denied a page of the table half-way. */
#include "config.h"

#include "heap/quick.h"
#include "heap/returned.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define POOL   ((size_t)4 << 20)
#define BLOCKS 3000

static struct rmai_tlsf pool;
static struct rmai_quick quick;
static void *room;
static unsigned deny; /* so many commits from now are refused */

static int commit(void *context, void *start, size_t len) {
    (void)context, (void)start, (void)len;
    return deny && --deny == 0 ? -1 : 0;
}

static void open_pool(void) {
    memset(&quick, 0, sizeof quick);
    deny = 0;
    room = calloc(1, rmai_tlsf_room(POOL));
    ck_assert_ptr_nonnull(room);
    ck_assert_int_eq(rmai_tlsf_create(&pool, room, POOL, commit, NULL), 0);
    ck_assert_int_eq(rmai_tlsf_grow(&pool, POOL), 0);
}

static void close_pool(void) { free(room); }

static void right(size_t n_used) {
    const char *wrong = rmai_tlsf_check(&pool);
    ck_assert_msg(!wrong, "%s", wrong);
    ck_assert_uint_eq(pool.state->n_used, n_used);
}

/* As runtime/api/local.c does it. */
static size_t give(size_t size) {
    size_t at = rmai_quick_take(&quick, &pool, size);
    if (at == RMAI_TLSF_FULL && rmai_quick_refill(&quick, &pool, size)) at = rmai_quick_take(&quick, &pool, size);
    return at != RMAI_TLSF_FULL ? at : rmai_tlsf_alloc(&pool, 64, size);
}

static void take_back(size_t at) {
    if (!rmai_quick_park(&quick, &pool, at)) ck_assert_int_eq(rmai_tlsf_free(&pool, at), 0);
}

START_TEST(random_operations_against_a_map_of_units) {
    static unsigned char taken[POOL / 64];
    static struct { size_t at, size; } block[BLOCKS];
    const char *wrap = getenv("RMA_TEST_WRAP"); /* valgrind: fewer */
    const int rounds = wrap && *wrap ? 10000 : 200000;
    size_t n = 0, size = 0;
    uint64_t random = 1;
    open_pool();
    memset(taken, 0, sizeof taken);
    for (int i = 0; i < rounds; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        unsigned r = (unsigned)(random >> 33);
        if (n < BLOCKS && (n == 0 || r % 2)) {
            size_t bytes = 1 + (r >> 8) % (r % 32 == 1 ? 20000u : r % 4 ? 1200u : 4500u), at = give(bytes), live;
            if (at >= RMAI_TLSF_DENIED) continue;
            ck_assert(rmai_tlsf_live(&pool, at, &live) && live == bytes);
            for (size_t u = at / 64; u < (at + bytes + 63) / 64; u++) {
                ck_assert_msg(!taken[u], "unit %zu is in two blocks", u);
                taken[u] = 1;
            }
            block[n].at = at;
            block[n++].size = bytes;
            size += (bytes + 63) / 64;
        } else {
            size_t k = (r >> 8) % n, at = block[k].at, units = (block[k].size + 63) / 64;
            take_back(at);
            ck_assert_int_eq(rmai_quick_park(&quick, &pool, at), 0);
            ck_assert_int_eq(rmai_tlsf_free(&pool, at), -1);
            ck_assert_int_eq(rmai_tlsf_retire(&pool, at), -1);
            memset(taken + at / 64, 0, units);
            size -= units;
            block[k] = block[--n];
        }
        ck_assert_uint_eq(pool.state->used_units, size);
        if (i % 20000 == 0) right(n);
        if (i % 50000 == 7) {
            rmai_quick_flush(&quick, &pool);
            right(n);
        }
    }
    while (n) take_back(block[--n].at);
    ck_assert_uint_gt(rmai_quick_flush(&quick, &pool), 0);
    right(0);
    ck_assert_uint_eq(pool.state->n_free, 1);
    ck_assert_uint_eq(rmai_quick_flush(&quick, &pool), 0);
    close_pool();
}
END_TEST

START_TEST(the_depth_is_bounded_and_the_last_freed_comes_first) {
    enum { MANY = 2000 };
    static size_t at[MANY];
    open_pool();
    for (int i = 0; i < MANY; i++) at[i] = give(64);
    for (int i = 0; i < MANY; i++) take_back(at[i]);
    ck_assert_uint_eq(quick.n[1], RMAI_QUICK_DEPTH(1));
    ck_assert_uint_eq(give(10), at[RMAI_QUICK_DEPTH(1) - 1 - MANY % 16]);
    right(1);
    close_pool();
}
END_TEST

START_TEST(what_waits_counts_as_free) {
    size_t at;
    open_pool();
    at = give(100);
    ck_assert_uint_eq(pool.state->used_units, 2);
    ck_assert_uint_eq(pool.state->peak_units, 2); /* not the whole batch */
    take_back(at);
    ck_assert_uint_eq(pool.state->used_units, 0);
    right(0);
    rmai_quick_flush(&quick, &pool);
    right(0);
    ck_assert_uint_eq(pool.state->peak_units, 2);
    ck_assert_uint_eq(pool.state->n_free, 1);
    close_pool();
}
END_TEST

START_TEST(a_refill_that_is_denied_changes_nothing) {
    /* Blocks up to the end of a step of the table, so that the next batch's pieces lie in the next one. */
    size_t per_step = RMAI_TLSF_STEP / sizeof(struct rmai_tlsf_unit), at;
    int n_denied = 0;
    for (unsigned refused = 1; refused <= 3; refused++) {
        open_pool();
        at = rmai_tlsf_alloc(&pool, 64, (per_step - 8) * 64);
        ck_assert_uint_lt(at, RMAI_TLSF_DENIED);
        deny = refused;
        if (rmai_quick_refill(&quick, &pool, 64))
            ck_assert_uint_eq(quick.n[1], RMAI_QUICK_BATCH);
        else
            ck_assert(deny == 0 && quick.n[1] == 0 && quick.head[1] == 0);
        n_denied += deny == 0;
        deny = 0;
        right(1);
        ck_assert_uint_lt(give(64), RMAI_TLSF_DENIED);
        right(2);
        close_pool();
    }
    ck_assert_int_gt(n_denied, 0);
}
END_TEST

START_TEST(large_sizes_and_wrong_places_are_left_alone) {
    size_t at;
    open_pool();
    ck_assert_uint_eq(rmai_quick_take(&quick, &pool, 64), RMAI_TLSF_FULL);
    ck_assert_uint_eq(rmai_quick_take(&quick, &pool, 4097), RMAI_TLSF_FULL);
    ck_assert_uint_eq(rmai_quick_take(&quick, &pool, SIZE_MAX), RMAI_TLSF_FULL);
    ck_assert_int_eq(rmai_quick_refill(&quick, &pool, 4097), 0);
    ck_assert_int_eq(rmai_quick_refill(&quick, &pool, SIZE_MAX), 0);
    at = rmai_tlsf_alloc(&pool, 64, 4097);
    ck_assert_int_eq(rmai_quick_park(&quick, &pool, at), 0);
    ck_assert_int_eq(rmai_quick_park(&quick, &pool, at + 64), 0);
    ck_assert_int_eq(rmai_quick_park(&quick, &pool, at + 1), 0);
    ck_assert_int_eq(rmai_quick_park(&quick, &pool, POOL), 0);
    ck_assert_int_eq(rmai_quick_park(&quick, &pool, SIZE_MAX - 63), 0);
    ck_assert_int_eq(rmai_quick_park(&quick, &pool, (size_t)0 - 64), 0);
    right(1);
    close_pool();
}
END_TEST

int main(void) {
    Suite *s = suite_create("quick");
    TCase *c = tcase_create("lists");
    SRunner *runner;
    int failed;
    tcase_set_timeout(c, 300);
    tcase_add_test(c, random_operations_against_a_map_of_units);
    tcase_add_test(c, the_depth_is_bounded_and_the_last_freed_comes_first);
    tcase_add_test(c, what_waits_counts_as_free);
    tcase_add_test(c, a_refill_that_is_denied_changes_nothing);
    tcase_add_test(c, large_sizes_and_wrong_places_are_left_alone);
    suite_add_tcase(s, c);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
