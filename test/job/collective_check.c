/* SPDX-License-Identifier: BSD-3-Clause */
/* With RMA_CHECK=1 no PE waits for ever in a collective that its peers call with other arguments: all PEs learn which
 * PEs differ and in what, or whose arguments are wrong; nothing is written, and the team still works.
 *
 * Broken by a PE that returns early from its own mistake while others wait, by an argument that is not compared, by a
 * comparison with only one neighbour, by a PE that gets another text than the rest, by a comparison of arguments that
 * may differ (the length of rma_collect, addresses, an ignored source), and by a refused call that puts the team's
 * count of calls out of step. */
#include "job.h"

#define ROOM ((size_t)4096)

static unsigned char *to, *source; /* symmetric; to is what no call may write here */
static const struct job_group *g;
static int odd; /* the job's number of the PE that is different */

static void untouched(const char *after) {
    size_t wrong = job_differs(to, 0, ROOM, 5 + (uint64_t)job.me);
    CHECK(wrong == ROOM, "byte %zu of dest was written by a refused call: %s", wrong, after);
    CHECK(job_differs(source, 0, ROOM, 1000 + (uint64_t)job.me) == ROOM, "source was written: %s", after);
}

/* A broadcast, a sum, and a fcollect of the team, and one of them in steps: they give what they should. */
static void still_works(const char *after) {
    static uint64_t round;
    for (int turn = 0; turn < 3; turn++) {
        uint64_t mine = job_mix(++round << 8 | (uint64_t)job.me), got = 0, sum = 0, all[JOB_PES_MAX];
        int root = (int)(round % (uint64_t)g->n);
        OK(rma_broadcast(g->team, &got, &mine, sizeof got, root));
        CHECK(got == job_mix(round << 8 | (uint64_t)g->pes[root]), "a broadcast after: %s", after);
        OK(rma_fcollect(g->team, all, &mine, sizeof mine));
        for (int i = 0; i < g->n; i++)
            CHECK(all[i] == job_mix(round << 8 | (uint64_t)g->pes[i]), "a fcollect after: %s", after);
        OK(rma_sum_reduce(g->team, &got, &mine, 1));
        for (int i = 0; i < g->n; i++) sum += all[i];
        CHECK(got == sum, "a sum after: %s", after);
    }
    untouched(after);
}

/* All are told of the odd PE and of one that is not, with what both have given. */
#define DIFFER(name, call, ...)                                                                                        \
    do {                                                                                                               \
        EXPECT(name, call, RMA_ERR_MISMATCH, job_text("PE %d", odd), job_text("PE %d", other), __VA_ARGS__);           \
        still_works(#call);                                                                                            \
    } while (0)

static void differences(void) {
    uint64_t *d = (uint64_t *)(void *)to, *s = (uint64_t *)(void *)source;
    float *df = (float *)(void *)to, *sf = (float *)(void *)source;
    double *dd = (double *)(void *)to, *sd = (double *)(void *)source;
    rma_team *team;
    bool mine = job.me == odd;
    /* Which one is named beside the odd one is known where there are but two. */
    int other = g->n > 2 ? odd : g->pes[g->pes[0] == odd], last = g->n - 1;

    DIFFER("rma_broadcast", rma_broadcast(g->team, to, source, mine ? 471 : 283, 0), "471", "283");
    DIFFER("rma_broadcast", rma_broadcast(g->team, to, source, mine ? 283 : 471, last), "471", "283");
    DIFFER("rma_broadcast", rma_broadcast(g->team, to, source, mine ? 0 : 471, 0), "471", "0");
    DIFFER("rma_broadcast", rma_broadcast(g->team, to, source, mine ? 471 : 0, 0), "471", "0");
    DIFFER("rma_broadcast", rma_broadcast(g->team, to, source, 8, mine ? last : 0), job_text("%d on", last), "0 on");
    DIFFER("rma_broadcast", rma_broadcast(g->team, to, source, 8, mine ? 0 : last), job_text("%d on", last), "0 on");
    DIFFER("rma_fcollect", rma_fcollect(g->team, to, source, mine ? 47 : 28), "47", "28");
    DIFFER("rma_alltoall", rma_alltoall(g->team, to, source, mine ? 28 : 47), "47", "28");
    DIFFER("rma_alltoalls", rma_alltoalls(g->team, to, source, 1, 1, 4, mine ? 7 : 5), "number of elements is", "7",
           "5");
    DIFFER("rma_alltoalls", rma_alltoalls(g->team, to, source, 1 + mine, 1, 4, 5), "dest_stride is", "2 on");
    DIFFER("rma_alltoalls", rma_alltoalls(g->team, to, source, 1, 2 - mine, 4, 5), "source_stride is", "2 on");
    DIFFER("rma_alltoalls", rma_alltoalls(g->team, to, source, 2, 2, mine ? 4 : 5, mine ? 5 : 4),
           "bytes of an element is", "4 on", "5 on"); /* of one length */
    DIFFER("rma_sum_reduce_uint64", rma_sum_reduce_uint64(g->team, d, s, mine ? 47 : 28), "47", "28");
    DIFFER("rma_sum_inscan_uint64", rma_sum_inscan_uint64(g->team, d, s, mine ? 47 : 28), "47", "28");
    DIFFER("rma_sum_exscan_uint64", rma_sum_exscan_uint64(g->team, d, s, mine ? 47 : 28), "47", "28");

    DIFFER("rma_gather", rma_gather(g->team, to, source, mine ? 47 : 28, 0), "length in bytes is", "47", "28");
    DIFFER("rma_gather", rma_gather(g->team, to, source, 8, mine ? last : 0), "the root is", job_text("%d on", last));
    DIFFER("rma_scatter", rma_scatter(g->team, to, source, mine ? 47 : 28, 0), "length in bytes is", "47", "28");
    DIFFER("rma_scatter", rma_scatter(g->team, to, source, 8, mine ? 0 : last), "the root is", job_text("%d on", last));
    DIFFER("rma_sum_reduce_root_uint64", rma_sum_reduce_root_uint64(g->team, d, s, mine ? 4 : 5, 0), "4", "5");
    DIFFER("rma_sum_reduce_root_uint64", rma_sum_reduce_root_uint64(g->team, d, s, 4, mine ? last : 0), "the root is");

    /* Operation, and type; of one length in bytes. */
    if (mine) {
        DIFFER("rma_max_reduce_uint64", rma_max_reduce_uint64(g->team, d, s, 4), "max", "sum");
        DIFFER("rma_sum_reduce_float", rma_sum_reduce_float(g->team, df, sf, 4), "float", "double");
        DIFFER("rma_sum_reduce_float", rma_sum_reduce_float(g->team, df, sf, 8), "float", "double");
        DIFFER("rma_sum_reduce_int64", rma_sum_reduce_int64(g->team, (int64_t *)d, (int64_t *)s, 4), "uint64",
               " int64");
        DIFFER("rma_sum_exscan_double", rma_sum_exscan_double(g->team, dd, sd, 4), "float", "double");
    } else {
        DIFFER("rma_sum_reduce_uint64", rma_sum_reduce_uint64(g->team, d, s, 4), "max", "sum");
        DIFFER("rma_sum_reduce_double", rma_sum_reduce_double(g->team, dd, sd, 4), "float", "double");
        DIFFER("rma_sum_reduce_double", rma_sum_reduce_double(g->team, dd, sd, 4), "float", "double");
        DIFFER("rma_sum_reduce_uint64", rma_sum_reduce_uint64(g->team, d, s, 4), "uint64", " int64");
        DIFFER("rma_sum_exscan_float", rma_sum_exscan_float(g->team, df, sf, 4), "float", "double");
    }

    /* The call itself. */
    if (mine) {
        DIFFER("rma_alltoall", rma_alltoall(g->team, to, source, 8), "rma_broadcast", "rma_alltoall");
        DIFFER("rma_collect", rma_collect(g->team, to, source, 8), "rma_fcollect", "rma_collect");
        DIFFER("rma_alltoalls", rma_alltoalls(g->team, to, source, 1, 1, 8, 1), "rma_alltoall", "rma_alltoalls");
        DIFFER("rma_sum_reduce_uint64", rma_sum_reduce_uint64(g->team, d, s, 1), "rma_broadcast");
        DIFFER("rma_gather", rma_gather(g->team, to, source, 8, 0), "rma_gather", "rma_scatter");
        DIFFER("rma_sum_reduce_root_uint64", rma_sum_reduce_root_uint64(g->team, d, s, 1, 0), "to a root");
        DIFFER("rma_sum_inscan_uint64", rma_sum_inscan_uint64(g->team, d, s, 1), "");
        DIFFER("rma_sum_reduce_uint64", rma_sum_reduce_uint64(g->team, d, s, 1), "");
        DIFFER("rma_team_split_strided", rma_team_split_strided(g->team, 0, 1, 1, &team), "rma_team_split_strided",
               "rma_broadcast");
    } else {
        DIFFER("rma_broadcast", rma_broadcast(g->team, to, source, 8, 0), "rma_broadcast", "rma_alltoall");
        DIFFER("rma_fcollect", rma_fcollect(g->team, to, source, 8), "rma_fcollect", "rma_collect");
        DIFFER("rma_alltoall", rma_alltoall(g->team, to, source, 8), "rma_alltoall", "rma_alltoalls");
        DIFFER("rma_broadcast", rma_broadcast(g->team, to, source, 8, 0), "rma_broadcast");
        DIFFER("rma_scatter", rma_scatter(g->team, to, source, 8, 0), "rma_gather", "rma_scatter");
        DIFFER("rma_sum_reduce_uint64", rma_sum_reduce_uint64(g->team, d, s, 1), "to a root");
        DIFFER("rma_sum_reduce_uint64", rma_sum_reduce_uint64(g->team, d, s, 1), "");
        DIFFER("rma_sum_exscan_uint64", rma_sum_exscan_uint64(g->team, d, s, 1), "");
        DIFFER("rma_broadcast", rma_broadcast(g->team, to, source, 8, 0), "rma_team_split_strided", "rma_broadcast");
    }
}

/* What the odd PE does wrong: it is told what, the others on which PE, and all get the one code. */
#define ALONE(name, wanted, wrong, right, words)                                                                       \
    do {                                                                                                               \
        if (job.me == odd)                                                                                             \
            EXPECT(name, wrong, wanted, words);                                                                        \
        else                                                                                                           \
            EXPECT(name, right, wanted, job_text("PE %d", odd));                                                       \
        still_works(#wrong);                                                                                           \
    } while (0)

static void one_is_wrong(void) {
    rma_team *t = g->team;
    uint64_t *d = (uint64_t *)(void *)to, *s = (uint64_t *)(void *)source;
    uint64_t *no_d = (uint64_t *)(void *)(to + 4), *no_s = (uint64_t *)(void *)(source + 1);
    int n = g->n, root = 0;
    while (g->pes[root] != odd) root++;
    ALONE("rma_broadcast", RMA_ERR_ARG, rma_broadcast(t, NULL, source, 8, 0), rma_broadcast(t, to, source, 8, 0),
          "dest");
    ALONE("rma_broadcast", RMA_ERR_ARG, rma_broadcast(t, to, NULL, 8, root), rma_broadcast(t, to, NULL, 8, root),
          "source");
    ALONE("rma_broadcast", RMA_ERR_ARG, rma_broadcast(t, to, to + 1, 8, root), rma_broadcast(t, to, to + 1, 8, root),
          "overlap");
    ALONE("rma_broadcast", RMA_ERR_PE, rma_broadcast(t, to, source, 8, n), rma_broadcast(t, to, source, 8, 0),
          job_text("root %d", n));
    ALONE("rma_broadcast", RMA_ERR_PE, rma_broadcast(t, to, source, 8, -1), rma_broadcast(t, to, source, 8, 0),
          "root -1");
    ALONE("rma_fcollect", RMA_ERR_ARG, rma_fcollect(t, to, NULL, 8), rma_fcollect(t, to, source, 8), "source");
    ALONE("rma_collect", RMA_ERR_ARG, rma_collect(t, to, NULL, 8), rma_collect(t, to, source, 8), "source");
    ALONE("rma_alltoall", RMA_ERR_ARG, rma_alltoall(t, NULL, source, 8), rma_alltoall(t, to, source, 8), "dest");
    ALONE("rma_alltoall", RMA_ERR_ARG, rma_alltoall(t, to, to + 1, 8), rma_alltoall(t, to, source, 8), "overlap");
    ALONE("rma_alltoalls", RMA_ERR_ARG, rma_alltoalls(t, NULL, source, 2, 3, 4, 2),
          rma_alltoalls(t, to, source, 2, 3, 4, 2), "dest");
    ALONE("rma_sum_reduce_uint64", RMA_ERR_ARG, rma_sum_reduce_uint64(t, NULL, s, 2), rma_sum_reduce_uint64(t, d, s, 2),
          "dest");
    ALONE("rma_sum_reduce_uint64", RMA_ERR_ADDRESS, rma_sum_reduce_uint64(t, no_d, s, 2),
          rma_sum_reduce_uint64(t, d, s, 2), "dest");
    ALONE("rma_min_reduce_uint64", RMA_ERR_ADDRESS, rma_min_reduce_uint64(t, d, no_s, 2),
          rma_min_reduce_uint64(t, d, s, 2), "source");
    ALONE("rma_sum_inscan_uint64", RMA_ERR_ADDRESS, rma_sum_inscan_uint64(t, d, no_s, 2),
          rma_sum_inscan_uint64(t, d, s, 2), "source");
    ALONE("rma_gather", RMA_ERR_PE, rma_gather(t, to, source, 8, n), rma_gather(t, to, source, 8, 0),
          job_text("root %d", n));
    ALONE("rma_gather", RMA_ERR_ARG, rma_gather(t, to, to + 1, 8, root), rma_gather(t, NULL, source, 8, root),
          "overlap");
    ALONE("rma_scatter", RMA_ERR_ARG, rma_scatter(t, to, NULL, 8, root), rma_scatter(t, to, NULL, 8, root), "source");
    ALONE("rma_sum_reduce_root_uint64", RMA_ERR_ARG, rma_sum_reduce_root_uint64(t, NULL, s, 2, root),
          rma_sum_reduce_root_uint64(t, NULL, s, 2, root), "dest");
    ALONE("rma_sum_exscan_uint64", RMA_ERR_ARG, rma_sum_exscan_uint64(t, d, NULL, 2), rma_sum_exscan_uint64(t, d, s, 2),
          "source");
}

/* What all do wrong in the same way is told to each as its own. */
static void all_are_wrong(void) {
    rma_team *t = g->team;
    int n = g->n;
    EXPECT("rma_broadcast", rma_broadcast(t, NULL, source, 8, 0), RMA_ERR_ARG, "dest");
    EXPECT("rma_broadcast", rma_broadcast(t, to, source, 8, n), RMA_ERR_PE, job_text("root %d", n));
    EXPECT("rma_fcollect", rma_fcollect(t, to, NULL, 8), RMA_ERR_ARG, "source");
    EXPECT("rma_alltoalls", rma_alltoalls(t, to, source, 0, 1, 4, 1), RMA_ERR_ARG, "stride");
    EXPECT("rma_sum_reduce_int", rma_sum_reduce_int(t, NULL, (int *)(void *)source, 1), RMA_ERR_ARG, "dest");
    still_works("all were wrong");
}

/* These may differ. */
static void no_differences(void) {
    unsigned char *mine = malloc(ROOM), *theirs = malloc(ROOM);
    size_t at = 0;
    CHECK(mine && theirs, "no memory");
    job_fill(mine, 0, ROOM, (uint64_t)job.me);
    OK(rma_collect(g->team, theirs, mine, (size_t)job.me * 3));
    for (int i = 0; i < g->n; i++) {
        size_t len = (size_t)g->pes[i] * 3;
        CHECK(job_differs(theirs + at, 0, len, (uint64_t)g->pes[i]) == len, "a collect of different lengths");
        at += len;
    }
    for (int root = 0; root < g->n; root++) {
        OK(rma_broadcast(g->team, theirs + job.me, g->me == root ? mine : NULL, 100, root));
        CHECK(job_differs(theirs + job.me, 0, 100, (uint64_t)g->pes[root]) == 100,
              "a broadcast to different addresses");
    }
    OK(rma_broadcast(g->team, job.me % 2 ? to : NULL, NULL, 0, 0));
    /* One address for dest and source, or two. */
    uint64_t value = (uint64_t)job.me, sum = 0, want = 0;
    for (int i = 0; i < g->n; i++) want += (uint64_t)g->pes[i];
    OK(rma_sum_reduce(g->team, job.me % 2 ? &value : &sum, &value, 1));
    CHECK((job.me % 2 ? value : sum) == want, "a sum in place on some PEs");
    still_works("nothing differs");
    free(mine);
    free(theirs);
}

static void all_of(const struct job_group *group) {
    g = group;
    if (g->me < 0) return;
    no_differences();
    all_are_wrong();
    if (g->n < 2) return;
    for (int i = 0; i < 3; i++) {
        if (i == 1 && g->n == 2) continue;
        odd = g->pes[i * (g->n - 1) / 2];
        differences();
        one_is_wrong();
    }
}

int main(void) {
    struct job_group world, back, part;
    setenv("RMA_CHECK", "1", 1);
    job_start();
    world = job_world();
    to = rma_malloc(ROOM);
    source = rma_malloc(ROOM);
    CHECK(to && source, "%s", rma_last_error());
    job_fill(to, 0, ROOM, 5 + (uint64_t)job.me);
    job_fill(source, 0, ROOM, 1000 + (uint64_t)job.me);
    back = job_strided(&world, NULL, job.n - 1, -1, job.n);
    part = job_strided(&world, NULL, job.n > 1, 1, job.n > 1 ? job.n - 1 : 1);
    DOING("the world");
    all_of(&world);
    DOING("a team backwards");
    all_of(&back);
    DOING("a team of all but one");
    all_of(&part);
    DOING("giving back");
    OK(rma_team_destroy(part.team));
    OK(rma_team_destroy(back.team));
    OK(rma_free(source));
    OK(rma_free(to));
    return job_end();
}
