/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule for the nodes of a team's PEs (collectives/nodes), for every team of small jobs: it must give what counting
 * gives, node by node. Broken by a rule for a team whose nodes have different numbers of its PEs, and by no rule for
 * one that is regular. */
#include "config.h"

#include "collectives/nodes.h"
#include "runtime/job/job.h"
#include "runtime/team.h"

#include <check.h>
#include <stdlib.h>

#define MOST_PES 13

static int node_of_pe(const struct rmai_job *job, int pe) {
    return job->placement == RMAI_PLACED_IN_BLOCKS ? pe / job->node_most : pe % job->n_nodes;
}

static void compare(const struct rmai_team *t, const struct rmai_job *job, const struct rmai_team_nodes *nodes) {
    int number[MOST_PES], n = 0, in_order = 1; /* the number of the job's node among the team's, or -1 */
    for (int i = 0; i < MOST_PES; i++) number[i] = -1;
    for (int i = 0; i < t->n; i++) {
        int *k = &number[node_of_pe(job, rmai_team_pe(t, i))];
        const int first = *k < 0;
        if (first) *k = n++;
        ck_assert_int_eq(rmai_team_node(nodes, i), *k);
        if (first) ck_assert_int_eq(rmai_group_pe(&nodes->leaders, *k), rmai_team_pe(t, i));
        if (!first && rmai_team_node(nodes, i - 1) != *k) in_order = 0;
    }
    ck_assert_int_eq(nodes->leaders.n, n);
    ck_assert_int_eq(nodes->in_order, in_order);
}

/* Compares all teams of the job that are on several nodes. Returns how many have a rule; *all: of how many. */
static int compare_teams(const struct rmai_job *job, int *all) {
    int ruled = 0;
    *all = 0;
    for (int start = 0; start < job->n_pes; start++)
        for (int stride = -job->n_pes; stride <= job->n_pes; stride++)
            for (int n = 2, last; n <= job->n_pes; n++) {
                const struct rmai_team t = {.start = start, .stride = stride, .n = n};
                struct rmai_team_nodes nodes = {0};
                int several = 0;
                last = start + (n - 1) * stride;
                if (stride == 0 || last < 0 || last >= job->n_pes) break;
                for (int i = 1; i < n; i++) several |= node_of_pe(job, rmai_team_pe(&t, i)) != node_of_pe(job, start);
                if (!several) continue;
                ++*all;
                if (!rmai_nodes_rule(job, &t, &nodes)) continue;
                ruled++;
                compare(&t, job, &nodes);
            }
    return ruled;
}

START_TEST(a_rule_gives_what_counting_gives) {
    for (int n_pes = 2; n_pes <= MOST_PES; n_pes++)
        for (int size = 1; size < n_pes; size++) {
            struct rmai_job job = {.n_pes = n_pes, .placement = RMAI_PLACED_IN_BLOCKS, .node_most = size};
            const struct rmai_team world = {.stride = 1, .n = n_pes};
            struct rmai_team_nodes nodes = {0};
            int all, ruled;
            job.n_nodes = (n_pes + size - 1) / size;
            ruled = compare_teams(&job, &all);
            ck_assert_int_gt(ruled, 0);
            if (size == 1) ck_assert_int_eq(ruled, all);
            ck_assert_int_eq(rmai_nodes_rule(&job, &world, &nodes), 1);
            job.placement = RMAI_PLACED_IN_TURN;
            job.n_nodes = size + 1;
            job.node_most = (n_pes + size) / (size + 1);
            ruled = compare_teams(&job, &all);
            ck_assert_int_eq(ruled, all);
        }
}
END_TEST

START_TEST(an_irregular_team_has_none) {
    int list[] = {0, 1, 3};
    const struct rmai_team listed = {.n = 3, .list = list}, world = {.stride = 1, .n = 6};
    struct rmai_job job = {.n_pes = 6, .placement = RMAI_PLACED_IN_BLOCKS, .node_most = 2, .n_nodes = 3};
    struct rmai_team_nodes nodes = {.block = 5, .cycle = 7};
    ck_assert_int_eq(rmai_nodes_rule(&job, &listed, &nodes), 0);
    ck_assert_int_eq(nodes.block, 0);
    ck_assert_int_eq(nodes.cycle, 0);
    job.placement = RMAI_PLACED_ANYHOW;
    ck_assert_int_eq(rmai_nodes_rule(&job, &world, &nodes), 0);
}
END_TEST

int main(void) {
    Suite *s = suite_create("nodes");
    TCase *c = tcase_create("rule");
    SRunner *r;
    int failed;
    tcase_add_test(c, a_rule_gives_what_counting_gives);
    tcase_add_test(c, an_irregular_team_has_none);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
