/* SPDX-License-Identifier: BSD-3-Clause */
/* The pairs of nodes on which MPI's windows are tested, and what all PEs conclude from the results.
 *
 * Broken by a kind of pair in the job for which no pair is chosen, by a pair of the wrong kind, by PEs that choose
 * different pairs; and by a result of one kind that counts for all, although another kind has a worse one. */
#include "config.h"

#include "runtime/job/pairs.h"
#include "runtime/net/state.h"
#include "runtime/net/way.h"
#include "runtime/net/window.h"
#include "runtime/transport/transport_mpi.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* ---- choosing pairs ---- */

#define SEATS 64

static enum rmai_pair_kind kind_of(const struct rmai_seat *seats, int n, int a, int b) {
    const struct rmai_seat *x = NULL, *y = NULL;
    for (int i = 0; i < n; i++) {
        if (seats[i].pe == a) x = &seats[i];
        if (seats[i].pe == b) y = &seats[i];
    }
    ck_assert(x && y);
    if (x->machine != y->machine) return RMAI_PAIR_APART;
    return x->host != y->host ? RMAI_PAIR_MACHINE : RMAI_PAIR_HOST;
}

/* Each kind that any two seats are of has a pair of that kind, and no other kind has one; whatever the order. */
static void check_pairs(struct rmai_seat *seats, int n) {
    struct rmai_pair pairs[RMAI_PAIR_KINDS], again[RMAI_PAIR_KINDS];
    int there[RMAI_PAIR_KINDS] = {0};
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++) there[kind_of(seats, n, seats[i].pe, seats[k].pe)] = 1;
    memset(pairs, -1, sizeof pairs);
    rmai_pairs_find(seats, n, pairs);
    for (int kind = 0; kind < RMAI_PAIR_KINDS; kind++) {
        ck_assert_int_eq(rmai_pair_exists(&pairs[kind]), there[kind]);
        if (there[kind]) ck_assert_int_eq(kind_of(seats, n, pairs[kind].from, pairs[kind].to), kind);
    }
    for (int i = 0; i < n / 2; i++) {
        const struct rmai_seat s = seats[i];
        seats[i] = seats[n - 1 - i];
        seats[n - 1 - i] = s;
    }
    rmai_pairs_find(seats, n, again);
    ck_assert_mem_eq(pairs, again, sizeof pairs);
}

START_TEST(every_kind_that_there_is_has_a_pair) {
    struct rmai_seat seats[SEATS];
    const char *wrap = getenv("RMA_TEST_WRAP"); /* everything is some fifty times slower: fewer rounds */
    const int rounds = wrap && *wrap ? 100 : 2000;
    srand(1);
    for (int round = 0; round < rounds; round++) {
        const int n = 1 + rand() % SEATS, machines = 1 + rand() % 5, hosts = 1 + rand() % 3;
        for (int i = 0; i < n; i++)
            seats[i] = (struct rmai_seat){(unsigned)(rand() % machines), (unsigned)(rand() % hosts), 2 * i};
        check_pairs(seats, n);
    }
}
END_TEST

/* Two machines with a host of the same number: namespaces are numbered on each machine anew. */
START_TEST(hosts_of_two_machines_are_two) {
    struct rmai_seat seats[] = {{1, 7, 0}, {2, 7, 1}};
    struct rmai_pair pairs[RMAI_PAIR_KINDS];
    rmai_pairs_find(seats, 2, pairs);
    ck_assert(!rmai_pair_exists(&pairs[RMAI_PAIR_HOST]) && !rmai_pair_exists(&pairs[RMAI_PAIR_MACHINE]));
    ck_assert_int_eq(pairs[RMAI_PAIR_APART].from, 0);
    ck_assert_int_eq(pairs[RMAI_PAIR_APART].to, 1);
}
END_TEST

START_TEST(equal_nodes_are_tried_by_the_first_two) {
    struct rmai_seat seats[] = {{3, 5, 8}, {3, 5, 0}, {3, 5, 4}};
    struct rmai_pair pairs[RMAI_PAIR_KINDS];
    rmai_pairs_find(seats, 3, pairs);
    ck_assert_int_eq(pairs[RMAI_PAIR_HOST].from, 0);
    ck_assert_int_eq(pairs[RMAI_PAIR_HOST].to, 4);
}
END_TEST

/* However the hosts' numbers are sorted. */
START_TEST(hosts_are_tried_by_their_first_pes) {
    struct rmai_seat seats[] = {{3, 5, 0}, {3, 5, 1}, {3, 6, 2}, {3, 6, 3}};
    struct rmai_pair pairs[RMAI_PAIR_KINDS];
    if (_i) seats[0].host = seats[1].host = 7;
    rmai_pairs_find(seats, 4, pairs);
    ck_assert_int_eq(pairs[RMAI_PAIR_HOST].from, 0);
    ck_assert_int_eq(pairs[RMAI_PAIR_HOST].to, 1);
    ck_assert_int_eq(pairs[RMAI_PAIR_MACHINE].from, 0);
    ck_assert_int_eq(pairs[RMAI_PAIR_MACHINE].to, 2);
}
END_TEST

/* ---- concluding ---- */

/* A trial in which all accesses need the target, or none does. */
static struct rmai_trial trial_of(int needs_target) {
    struct rmai_trial t = {.made = 1};
    for (int w = 0; w < RMAI_WINDOWS; w++)
        for (int a = 0; a < RMAI_ACCESSES; a++) t.needs_target[w][a] = needs_target;
    return t;
}

/* The state after the probe of a job with two kinds of pairs, and what is chosen for it. */
static struct rmai_net net;
static struct rmai_job job;
static struct rmai_transport_mpi mpi;

static void choose(struct rmai_trial near, struct rmai_trial far) {
    memset(&net, 0, sizeof net);
    memset(&job, 0, sizeof job);
    rmai_transport_mpi_none(&mpi);
    job.settings.window = RMAI_WINDOW_AUTO;
    net.job = &job;
    net.transport = &mpi.transport;
    net.fixed = net.dynamic.open = 1;
    net.ways.trial[RMAI_PAIR_HOST] = near;
    net.ways.trial[RMAI_PAIR_APART] = far;
    rmai_probe_merge(&net.ways);
    ck_assert_int_eq(rmai_ways_choose(&net), RMA_SUCCESS);
}

static int takes(enum rmai_window_kind window, enum rmai_access access, size_t len) {
    return rmai_route_takes(&net.ways.way[window], access, len, RMAI_NOW);
}

START_TEST(all_goes_through_the_window_if_no_kind_needs_the_target) {
    choose(trial_of(0), trial_of(0));
    for (int window = 0; window < RMAI_WINDOWS; window++)
        for (int access = 0; access < RMAI_ACCESSES; access++) {
            ck_assert(!net.ways.way[window].needs_target[access]);
            ck_assert(net.ways.way[window].all[access]);
        }
    ck_assert(!net.fixed_follows);
}
END_TEST

/* Whichever of the two it is: the first one that is tried must not speak for the other. */
START_TEST(one_kind_that_needs_the_target_is_enough) {
    const struct rmai_trial alone = trial_of(0), needs = trial_of(1);
    if (_i)
        choose(needs, alone);
    else
        choose(alone, needs);
    for (int window = 0; window < RMAI_WINDOWS; window++)
        for (int access = 0; access < RMAI_ACCESSES; access++) ck_assert(net.ways.way[window].needs_target[access]);
    for (int i = 0; i < (int)RMAI_WINDOWS * (int)RMAI_ACCESSES; i++)
        ck_assert(!net.ways.way[i / RMAI_ACCESSES].all[i % RMAI_ACCESSES]);
    ck_assert(!net.dynamic.open);
    ck_assert(net.fixed_follows);
}
END_TEST

/* A put alone, if the kinds differ in it alone. */
START_TEST(accesses_are_concluded_apart) {
    struct rmai_trial near = trial_of(0), far = trial_of(0);
    far.needs_target[RMAI_FIXED][RMAI_ACCESS_PUT] = 1;
    choose(near, far);
    ck_assert(net.ways.way[RMAI_FIXED].needs_target[RMAI_ACCESS_PUT]);
    ck_assert(!net.ways.way[RMAI_FIXED].needs_target[RMAI_ACCESS_GET]);
    ck_assert(!net.ways.way[RMAI_FIXED].all[RMAI_ACCESS_PUT]);
    ck_assert(net.ways.way[RMAI_FIXED].all[RMAI_ACCESS_GET]);
}
END_TEST

/* Such a window is MPI's own message for each access, and covers no more than librma's messages do. */
START_TEST(a_dynamic_window_that_needs_the_target_is_not_used) {
    choose(trial_of(1), trial_of(1));
    ck_assert(!net.dynamic.open && !takes(RMAI_DYNAMIC, RMAI_ACCESS_GET, 4096));
    ck_assert(takes(RMAI_FIXED, RMAI_ACCESS_GET, 8) && takes(RMAI_FIXED, RMAI_ACCESS_PUT, 128));
    ck_assert(!takes(RMAI_FIXED, RMAI_ACCESS_PUT, 8)); /* a word, which must arrive once */
}
END_TEST

/* Where no pair was tried nothing is known of the windows. */
START_TEST(nothing_tried_is_the_worst) {
    choose((struct rmai_trial){0}, (struct rmai_trial){0});
    ck_assert(net.ways.way[RMAI_FIXED].needs_target[RMAI_ACCESS_PUT]);
    ck_assert(!net.dynamic.open && !takes(RMAI_DYNAMIC, RMAI_ACCESS_GET, 4096));
}
END_TEST

int main(void) {
    Suite *s = suite_create("pairs");
    TCase *pairs = tcase_create("pairs"), *ways = tcase_create("ways");
    SRunner *runner;
    int failed;
    tcase_set_timeout(pairs, 300);
    tcase_add_test(pairs, every_kind_that_there_is_has_a_pair);
    tcase_add_test(pairs, hosts_of_two_machines_are_two);
    tcase_add_test(pairs, equal_nodes_are_tried_by_the_first_two);
    tcase_add_loop_test(pairs, hosts_are_tried_by_their_first_pes, 0, 2);
    suite_add_tcase(s, pairs);
    tcase_set_timeout(ways, 300);
    tcase_add_test(ways, all_goes_through_the_window_if_no_kind_needs_the_target);
    tcase_add_loop_test(ways, one_kind_that_needs_the_target_is_enough, 0, 2);
    tcase_add_test(ways, accesses_are_concluded_apart);
    tcase_add_test(ways, a_dynamic_window_that_needs_the_target_is_not_used);
    tcase_add_test(ways, nothing_tried_is_the_worst);
    suite_add_tcase(s, ways);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
