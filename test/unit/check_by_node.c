/* SPDX-License-Identifier: BSD-3-Clause */
/* Which PE of a node receives the node's messages (runtime/job/by_node), and the rules of PEs' places on nodes
 * (runtime/job). The test plays each PE of each job; the expected results come from the list of each PE's node. */
#include "config.h"

#include "runtime/job/by_node.h"
#include "runtime/job/job.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PES 40

/* A job as its launcher knows it: the node of each PE. */
static struct {
    int n_pes, n_nodes, most;
    int node_of[MOST_PES];
    int pes[MOST_PES][MOST_PES], n[MOST_PES]; /* of each node, ascending */
} all;

static void place(int n_pes, const int *node_of) {
    memset(&all, 0, sizeof all);
    all.n_pes = n_pes;
    for (int pe = 0; pe < n_pes; pe++) {
        const int node = all.node_of[pe] = node_of[pe];
        all.pes[node][all.n[node]++] = pe;
        if (node >= all.n_nodes) all.n_nodes = node + 1;
        if (all.n[node] > all.most) all.most = all.n[node];
    }
}

static void place_by(int n_pes, enum rmai_placement rule, int size) {
    int node_of[MOST_PES];
    for (int pe = 0; pe < n_pes; pe++) node_of[pe] = rule == RMAI_PLACED_IN_BLOCKS ? pe / size : pe % size;
    place(n_pes, node_of);
}

/* What PE pe knows of it. */
static struct rmai_job job_of(int pe) {
    const int node = all.node_of[pe];
    struct rmai_job job = {.my_pe = pe,
                           .n_pes = all.n_pes,
                           .my_node = node,
                           .n_nodes = all.n_nodes,
                           .node_n_pes = all.n[node],
                           .node_pes = all.pes[node],
                           .node_most = all.most,
                           .all_progress = 1,
                           .statics_mode = RMAI_STATICS_REMAP};
    while (job.node_pes[job.node_my_pe] != pe) job.node_my_pe++;
    return job;
}

static int all_placed(enum rmai_placement rule) {
    int yes = 1;
    for (int pe = 0; pe < all.n_pes; pe++) {
        const struct rmai_job job = job_of(pe);
        yes &= rmai_placed(&job, rule);
    }
    return yes;
}

static void check_ways_from(int pe, enum rmai_placement rule) {
    struct rmai_job job = job_of(pe);
    struct rmai_by_node b;
    int of_node[MOST_PES];
    job.placement = rule;
    rmai_by_node_open(&b, &job);
    if (b.open != (all.most > 1 && all.n_nodes > 1)) ck_abort_msg("%d PEs: open is %d", all.n_pes, b.open);
    memset(of_node, -1, sizeof of_node);
    for (int to = 0; b.open && to < all.n_pes; to++) {
        const int node = all.node_of[to];
        uint64_t mark;
        const int via = rmai_by_node_to(&b, to, &mark);
        if (of_node[node] < 0) of_node[node] = via;
        if (via < 0 || via >= all.n_pes || all.node_of[via] != node || of_node[node] != via ||
            (mark == 0) != (via == to) || rmai_by_node_offset(mark | 4096) != 4096 ||
            (mark && all.pes[node][rmai_by_node_owner(mark | 4096) - 1] != to))
            ck_abort_msg("%d PEs, rule %d, size %d: PE %d finds PE %d as the way to PE %d, mark %#llx", all.n_pes,
                         (int)rule, b.size, pe, via, to, (unsigned long long)mark);
    }
}

START_TEST(each_node_has_one_intermediate) {
    const enum rmai_placement rule = _i ? RMAI_PLACED_IN_TURN : RMAI_PLACED_IN_BLOCKS;
    for (int n = 1; n <= MOST_PES; n++)
        for (int size = 1; size <= n; size++) {
            place_by(n, rule, size);
            if (!all_placed(rule)) ck_abort_msg("%d PEs, size %d", n, size);
            for (int pe = 0; pe < n; pe++) check_ways_from(pe, rule);
        }
}
END_TEST

/* Where all nodes have the same number of PEs, those of one node have all PEs of another one as intermediates. */
START_TEST(the_pes_of_a_node_share_the_work) {
    const enum rmai_placement rule = _i ? RMAI_PLACED_IN_TURN : RMAI_PLACED_IN_BLOCKS;
    const int nodes = 5, most = 8;
    place_by(nodes * most, rule, _i ? nodes : most);
    for (int node = 1; node < nodes; node++) {
        unsigned seen = 0;
        for (int q = 0; q < most; q++) {
            struct rmai_job job = job_of(all.pes[0][q]);
            struct rmai_by_node b;
            uint64_t mark;
            int slot = 0;
            job.placement = rule;
            rmai_by_node_open(&b, &job);
            const int via = rmai_by_node_to(&b, all.pes[node][0], &mark);
            while (all.pes[node][slot] != via) slot++;
            seen |= 1u << slot;
        }
        ck_assert_uint_eq(seen, (1u << most) - 1);
    }
}
END_TEST

/* Two PEs that have changed places, a small node before a greater one, and a node that has one PE too many. */
START_TEST(other_places_follow_no_rule) {
    static const int places[][8] = {{0, 1, 0, 0, 1, 1, 2, 2}, {0, 0, 1, 1, 1, 2, 2, 2}, {0, 1, 2, 0, 1, 2, 0, 0},
                                    {0, 0, 0, 1, 1, 2, 2, 2}, {0, 1, 1, 0, 0, 1, 1, 0}, {0, 0, 1, 0, 1, 1, 0, 1}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        place(8, places[i]);
        ck_assert_msg(!all_placed(RMAI_PLACED_IN_BLOCKS), "%d: in blocks", (int)i);
        ck_assert_msg(!all_placed(RMAI_PLACED_IN_TURN), "%d: in turn", (int)i);
    }
}
END_TEST

START_TEST(it_stays_closed_where_it_may_not_be_used) {
    struct rmai_job job;
    struct rmai_by_node b;
    place_by(8, RMAI_PLACED_IN_BLOCKS, 4);
    job = job_of(5);
    job.placement = RMAI_PLACED_IN_BLOCKS;
    rmai_by_node_open(&b, &job);
    ck_assert_int_eq(b.open, 1);
    switch (_i) {
        case 0: job.placement = RMAI_PLACED_ANYHOW; break;
        case 1: job.all_progress = 0; break;
        default: job.statics_mode = RMAI_STATICS_WINDOW;
    }
    rmai_by_node_open(&b, &job);
    ck_assert_int_eq(b.open, 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("by_node");
    TCase *tcase = tcase_create("ways");
    SRunner *runner;
    int failed;
    tcase_add_loop_test(tcase, each_node_has_one_intermediate, 0, 2);
    tcase_add_loop_test(tcase, the_pes_of_a_node_share_the_work, 0, 2);
    tcase_add_test(tcase, other_places_follow_no_rule);
    tcase_add_loop_test(tcase, it_stays_closed_where_it_may_not_be_used, 0, 3);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
