/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective calls of PEs of a node whose arguments differ end the job, also without RMA_CHECK, and the text has both
 * values. Two PEs broadcast, more PEs reduce; calls that are alike come before, also some of 0 bytes.
 *
 * With RMA_TEST_DIFFER="CALL PE MINE OTHERS" (test/check-differ.sh) one PE gives MINE elements, the others OTHERS.
 *
 * Broken by words that are not posted, not compared, or have nothing of the length; the job then ends well. And by a
 * call of 0 bytes that does not take the turns of other calls. */
#include "job.h"

#define MOST ((size_t)1 << 16) /* elements of a PE */

static rma_team *const team = RMA_TEAM_WORLD;

/* Root 1, so that it is not the first PE of the node. */
static void call(const char *name, long *to, const long *from, size_t n) {
    const size_t len = n * sizeof(long);
    if (strcmp(name, "broadcast") == 0) OK(rma_broadcast(team, to, from, len, 1));
    if (strcmp(name, "fcollect") == 0) OK(rma_fcollect(team, to, from, len));
    if (strcmp(name, "alltoall") == 0) OK(rma_alltoall(team, to, from, len));
    if (strcmp(name, "alltoalls") == 0) OK(rma_alltoalls(team, to, from, 1, 1, sizeof(long), n));
    if (strcmp(name, "gather") == 0) OK(rma_gather(team, to, from, len, 1));
    if (strcmp(name, "scatter") == 0) OK(rma_scatter(team, to, from, len, 1));
    if (strcmp(name, "reduce") == 0) OK(rma_sum_reduce(team, to, from, n));
    if (strcmp(name, "reduce_root") == 0) OK(rma_sum_reduce_root(team, to, from, n, 1));
    if (strcmp(name, "inscan") == 0) OK(rma_sum_inscan(team, to, from, n));
    if (strcmp(name, "exscan") == 0) OK(rma_sum_exscan(team, to, from, n));
}

static void differ(const char *what) {
    static const char *const names[] = {"broadcast", "fcollect", "alltoall",    "alltoalls", "gather",
                                        "scatter",   "reduce",   "reduce_root", "inscan",    "exscan"};
    long *to = rma_calloc(MOST * (size_t)job.n, sizeof *to), *from = rma_calloc(MOST * (size_t)job.n, sizeof *from);
    char name[16];
    int pe;
    size_t mine, others;
    CHECK(sscanf(what, "%15s %d %zu %zu", name, &pe, &mine, &others) == 4 && mine <= MOST && others <= MOST, "%s",
          what);
    CHECK(to && from, "%s", rma_last_error());
    for (size_t round = 0; round < 30; round++)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) call(names[i], to, from, round % 3);
    call(name, to, from, job.me == pe ? mine : others);
    OK(rma_barrier_all());
}

int main(void) {
    const char *what = getenv("RMA_TEST_DIFFER");
    uint64_t to[4] = {0}, from[4] = {1, 2, 3, 4};
    size_t n;
    job_start();
    if (what) {
        differ(what);
        return job_end();
    }
    if (job.n == 1) job_skip("needs several PEs: one PE agrees with itself");
    for (int round = 0; round < 200; round++) {
        OK(rma_broadcast(RMA_TEAM_WORLD, to, from, sizeof to, round % job.n));
        OK(rma_sum_reduce(RMA_TEAM_WORLD, to, from, 4));
        OK(rma_fcollect(RMA_TEAM_WORLD, rma_malloc(8 * (size_t)job.n), from, 8));
        if (round % 16 == 0) OK(rma_team_sync(RMA_TEAM_WORLD));
    }
    n = job.me == job.n - 1 ? 3 : 4;
    if (job.n == 2)
        OK(rma_broadcast(RMA_TEAM_WORLD, to, from, n * sizeof *to, 0));
    else
        OK(rma_sum_reduce(RMA_TEAM_WORLD, to, from, n));
    return job_end();
}
