/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups and the collectives between nodes, on a simulated network (test/sim/network): every PE runs the same list of
 * operations, which a seed decides, and compares its results with the expected ones.
 *
 * Broken by a missing or repeated round, a misplaced block, a wrong partner if the number of PEs is not a power of two,
 * a message that matches the wrong receive, a PE that waits for a message that nobody sends, and by a root that runs
 * ahead of the others without a bound. */
#include "config.h"

#include "base/biased.h"
#include "base/process.h"
#include "collectives/between.h"
#include "base/kernels.h"
#include "rma.h"
#include "runtime/net/group.h"
#include "runtime/net/op.h"
#include "test/sim/bare.h"
#include "test/unit/ops.h"
#include "test/unit/require.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define CALL      "the test"
#define MOST_PES  33
#define TAG       100
#define OPERATION 24 /* of a list */
#define LONG      ((size_t)90 << 10)

enum kind { MEET, MERGE, BROADCAST, GATHER, GATHER_ALIKE, SUM, SUM_DOUBLE, MIN_DOUBLE, INSCAN, EXSCAN, KINDS };

struct list {
    uint64_t seed;
    int entered[OPERATION];                 /* PEs that have entered an operation */
    unsigned char *first_result[OPERATION]; /* of the first PE that was through, */
    size_t first_len[OPERATION];
};

static uint64_t pick(uint64_t *random, uint64_t n) { return sim_random(random) % n; }

/* Mostly short, sometimes none at all, sometimes more than a tree or doubling takes. */
static size_t pick_length(uint64_t *random) {
    const uint64_t way = pick(random, 8);
    return way == 0 ? 0 : way == 1 ? (size_t)pick(random, LONG) : way < 5 ? (size_t)pick(random, 200) : 8;
}

/* Byte or element k of PE i in an operation. */
static uint64_t content(uint64_t salt, int i, size_t k) {
    uint64_t state = salt + (uint64_t)i * 0x10001 + k * 0x100000001;
    return sim_random(&state);
}

static double content_double(uint64_t salt, int i, size_t k) {
    static const double odd[] = {-0.0, 0.0, INFINITY, -INFINITY};
    const uint64_t x = content(salt, i, k);
    if (x % 16 < 4) return odd[x % 4];
    if (x % 16 == 4) return NAN;
    return (double)(int64_t)x * 1e-5;
}

/* What is given to one operation, alike on all PEs. */
struct given {
    enum kind kind;
    uint64_t salt;
    size_t len; /* bytes, or elements */
    int root;
};

/* A broadcast that is through: nothing reads source or dest any more. */
static int broadcast(struct rmai_group *g, void *dest, const void *source, size_t len, int root) {
    struct rmai_group_messages under_way;
    int code;
    rmai_group_begin(&under_way);
    code = rmai_between_broadcast(g, CALL, dest, source, len, root, &under_way);
    return code == RMA_SUCCESS ? rmai_group_finish(g, CALL, &under_way) : code;
}

/* The root has its source in dest, or apart from it. */
static void check_broadcast(struct rmai_group *g, const struct given *o) {
    const int is_root = g->me == o->root;
    unsigned char *data = malloc(o->len + 1), *source = is_root && o->salt % 2 ? malloc(o->len + 1) : data;
    memset(data, 0xee, o->len);
    data[o->len] = 0xaa;
    for (size_t k = 0; is_root && k < o->len; k++) source[k] = (unsigned char)content(o->salt, o->root, k);
    REQUIRE(broadcast(g, data, is_root ? source : NULL, o->len, o->root) == RMA_SUCCESS, "%s", rma_last_error());
    for (size_t k = 0; k < o->len; k++)
        REQUIRE((is_root ? source : data)[k] == (unsigned char)content(o->salt, o->root, k),
                "number %d of %d, root %d, byte %zu of %zu", g->me, g->n, o->root, k, o->len);
    REQUIRE(data[o->len] == 0xaa, "number %d of %d: the byte after %zu is another", g->me, g->n, o->len);
    if (source != data) free(source);
    free(data);
}

static void check_gather(struct rmai_group *g, const struct given *o) {
    const int alike = o->kind == GATHER_ALIKE;
    const size_t most = o->len < 4096 ? o->len : 4096;
    size_t *at = calloc((size_t)g->n + 1, sizeof *at);
    unsigned char *data;
    for (int i = 0; i < g->n; i++)
        at[i + 1] = at[i] + (alike ? most : most ? (size_t)content(o->salt, i, 1) % most : 0);
    data = malloc(at[g->n] + 1);
    memset(data, 0xee, at[g->n] + 1);
    for (size_t k = at[g->me]; k < at[g->me + 1]; k++) data[k] = (unsigned char)content(o->salt, g->me, k);
    REQUIRE((alike ? rmai_between_allgather_alike(g, CALL, data, most)
                   : rmai_between_allgather(g, CALL, (char *)data, at)) == RMA_SUCCESS,
            "%s", rma_last_error());
    for (int i = 0; i < g->n; i++)
        for (size_t k = at[i]; k < at[i + 1]; k++)
            REQUIRE(data[k] == (unsigned char)content(o->salt, i, k), "number %d of %d, block %d, byte %zu", g->me,
                    g->n, i, k - at[i]);
    REQUIRE(data[at[g->n]] == 0xee, "number %d of %d: the byte after all blocks is another", g->me, g->n);
    free(data);
    free(at);
}

/* The first PE that is through keeps its result; the bits of the others are compared with that. */
static void compare_with_first(struct list *list, int which, const void *result, size_t len) {
    if (!list->first_result[which]) {
        list->first_result[which] = malloc(len + 1);
        memcpy(list->first_result[which], result, len);
        list->first_len[which] = len;
    }
    REQUIRE(len == list->first_len[which] && memcmp(list->first_result[which], result, len) == 0,
            "operation %d: two PEs have different bits", which);
}

static void check_reduce(struct list *list, int which, struct rmai_group *g, const struct given *o) {
    static const struct {
        enum rma_op op;
        enum rma_type type;
    } kernels[KINDS] = {[SUM] = {RMA_OP_SUM, RMA_INT64},
                        [SUM_DOUBLE] = {RMA_OP_SUM, RMA_DOUBLE},
                        [MIN_DOUBLE] = {RMA_OP_MIN, RMA_DOUBLE}};
    const struct rmai_kernel *kernel = rmai_kernel(kernels[o->kind].op, kernels[o->kind].type);
    uint64_t *data = malloc(o->len * 8 + 8);
    char *room = malloc(RMAI_BETWEEN_ROOM);
    for (size_t k = 0; k < o->len; k++) {
        const double real = content_double(o->salt, g->me, k);
        data[k] = content(o->salt, g->me, k);
        if (o->kind != SUM) memcpy(&data[k], &real, sizeof real);
    }
    REQUIRE(rmai_between_reduce(g, CALL, kernel, (char *)data, o->len, 8, room) == RMA_SUCCESS, "%s", rma_last_error());
    for (size_t k = 0; o->kind == SUM && k < o->len; k++) {
        uint64_t sum = 0;
        for (int i = 0; i < g->n; i++) sum += content(o->salt, i, k);
        REQUIRE(data[k] == sum, "number %d of %d, element %zu of %zu", g->me, g->n, k, o->len);
    }
    for (size_t k = 0; o->kind == MIN_DOUBLE && k < o->len; k++) {
        double least = INFINITY, is;
        int nans = 0;
        for (int i = 0; i < g->n; i++) {
            const double x = content_double(o->salt, i, k);
            nans += isnan(x);
            if (x < least) least = x;
        }
        memcpy(&is, &data[k], sizeof is);
        REQUIRE(nans || is == least, "number %d of %d, element %zu of %zu", g->me, g->n, k, o->len);
    }
    compare_with_first(list, which, data, o->len * 8);
    free(room);
    free(data);
}

static void check_scan(struct rmai_group *g, const struct given *o) {
    const int inclusive = o->kind == INSCAN;
    uint64_t *data = malloc(o->len * 8 + 8);
    char *room = malloc(RMAI_BETWEEN_ROOM);
    for (size_t k = 0; k < o->len; k++) data[k] = content(o->salt, g->me, k);
    REQUIRE(rmai_between_scan(g, CALL, rmai_kernel(RMA_OP_SUM, RMA_UINT64), inclusive ? RMAI_INCLUSIVE : RMAI_EXCLUSIVE,
                              (char *)data, o->len, 8, room) == RMA_SUCCESS,
            "%s", rma_last_error());
    for (size_t k = 0; k < o->len; k++) {
        uint64_t sum = 0;
        for (int i = 0; i < g->me + inclusive; i++) sum += content(o->salt, i, k);
        if (g->me == 0) sum = content(o->salt, 0, k); /* an exclusive scan leaves them as they are */
        REQUIRE(data[k] == sum, "number %d of %d, element %zu of %zu", g->me, g->n, k, o->len);
    }
    free(room);
    free(data);
}

static void keep_greatest(void *mine, const void *other) {
    uint64_t a, b;
    memcpy(&a, mine, sizeof a);
    memcpy(&b, other, sizeof b);
    if (b > a) memcpy(mine, &b, sizeof b);
}

static void check_merge(struct rmai_group *g, const struct given *o) {
    uint64_t mine = content(o->salt, g->me, 0), most = 0;
    for (int i = 0; i < g->n; i++)
        if (content(o->salt, i, 0) > most) most = content(o->salt, i, 0);
    REQUIRE(rmai_group_merge(g, CALL, &mine, sizeof mine, keep_greatest) == RMA_SUCCESS, "%s", rma_last_error());
    REQUIRE(mine == most, "number %d of %d", g->me, g->n);
}

static void run_operation(struct list *list, int which, struct rmai_group *g, const struct given *o) {
    list->entered[which]++;
    switch (o->kind) {
        case MEET:
            REQUIRE(rmai_group_meet(g, CALL) == RMA_SUCCESS, "%s", rma_last_error());
            REQUIRE(list->entered[which] == g->n, "number %d left a meeting that %d of %d had entered", g->me,
                    list->entered[which], g->n);
            break;
        case MERGE: check_merge(g, o); break;
        case BROADCAST: check_broadcast(g, o); break;
        case GATHER:
        case GATHER_ALIKE: check_gather(g, o); break;
        case INSCAN:
        case EXSCAN: check_scan(g, o); break;
        default: check_reduce(list, which, g, o);
    }
}

/* In turn all PEs, every second one, and all in the reverse order, each with a tag of its own. */
static struct rmai_group group_of(struct sim_pe *pe, int which, int *reverse) {
    const int n = sim_options_of(pe)->n_pes, kind = which % 3;
    struct rmai_group g = {.net = sim_bare(pe)->net, .tag = TAG + kind, .n = n, .me = pe->me, .stride = 1};
    if (kind == 1) {
        g.n = (n + 1) / 2;
        g.stride = 2;
        g.me = pe->me % 2 ? -1 : pe->me / 2;
    } else if (kind == 2) {
        for (int i = 0; i < n; i++) reverse[i] = n - 1 - i;
        g.list = reverse;
        g.me = n - 1 - pe->me;
    }
    return g;
}

static void run_list(struct sim_pe *pe, void *context) {
    struct list *list = context;
    uint64_t random = list->seed;
    int reverse[MOST_PES];
    struct rmai_group groups[3];
    for (int i = 0; i < 3; i++) groups[i] = group_of(pe, i, reverse);
    for (int which = 0; which < OPERATION; which++) {
        struct rmai_group *g = &groups[pick(&random, 3)];
        struct given o;
        o.kind = (enum kind)pick(&random, KINDS);
        o.salt = sim_random(&random);
        o.len = pick_length(&random);
        o.root = (int)pick(&random, (uint64_t)g->n);
        if (o.kind >= SUM && o.len > 1000 && sim_options_of(pe)->n_pes > 9)
            o.len = 1000 + o.len % 1000; /* the model is slow */
        if (g->me >= 0) run_operation(list, which, g, &o);
    }
}

START_TEST(every_pe_gets_what_the_model_says) {
    for (uint64_t seed = 1; seed <= 60; seed++) {
        static const int sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 31, MOST_PES};
        struct list list = {.seed = seed};
        struct sim_options options = {.n_pes = sizes[seed % (sizeof sizes / sizeof *sizes)],
                                      .seed = seed,
                                      .layer = &sim_bare_layer,
                                      .times.latency = 1,
                                      .times.jitter = seed % 3 ? 50 : 0,
                                      .times.eager = seed % 4 ? 2048 : 0};
        struct sim_report report = sim_run(&options, run_list, &list);
        REQUIRE(report.stuck == 0, "%d of %d PEs wait for ever, seed %d", report.stuck, options.n_pes, (int)seed);
        REQUIRE(report.left == 0, "%d messages or operations are left, seed %d", report.left, (int)seed);
        for (int i = 0; i < OPERATION; i++) free(list.first_result[i]);
    }
}
END_TEST

/* ---- growth ---- */

static void meet_once(struct sim_pe *pe, void *context) {
    struct rmai_group g = {
        .net = sim_bare(pe)->net, .tag = TAG, .n = sim_options_of(pe)->n_pes, .me = pe->me, .stride = 1};
    (void)context;
    REQUIRE(rmai_group_meet(&g, CALL) == RMA_SUCCESS, "%s", rma_last_error());
}

static void broadcast_once(struct sim_pe *pe, void *context) {
    struct rmai_group g = {
        .net = sim_bare(pe)->net, .tag = TAG, .n = sim_options_of(pe)->n_pes, .me = pe->me, .stride = 1};
    uint64_t word = 1;
    (void)context;
    REQUIRE(broadcast(&g, &word, &word, sizeof word, 0) == RMA_SUCCESS, "%s", rma_last_error());
}

static void sum_once(struct sim_pe *pe, void *context) {
    struct rmai_group g = {
        .net = sim_bare(pe)->net, .tag = TAG, .n = sim_options_of(pe)->n_pes, .me = pe->me, .stride = 1};
    uint64_t word = 1, room;
    (void)context;
    REQUIRE(rmai_between_reduce(&g, CALL, rmai_kernel(RMA_OP_SUM, RMA_UINT64), (char *)&word, 1, 8, (char *)&room) ==
                RMA_SUCCESS,
            "%s", rma_last_error());
    REQUIRE(word == (uint64_t)g.n, "a sum over %d PEs", g.n);
}

#define BLOCK 100

static void gather_once(struct sim_pe *pe, void *context) {
    struct rmai_group g = {
        .net = sim_bare(pe)->net, .tag = TAG, .n = sim_options_of(pe)->n_pes, .me = pe->me, .stride = 1};
    char *data = calloc((size_t)g.n, BLOCK);
    (void)context;
    REQUIRE(rmai_between_allgather_alike(&g, CALL, data, BLOCK) == RMA_SUCCESS, "%s", rma_last_error());
    free(data);
}

START_TEST(a_gather_moves_each_block_to_each_pe_once) {
    for (int n = 1; n <= 40; n++) {
        const struct sim_options options = {
            .n_pes = n, .seed = 1, .layer = &sim_bare_layer, .times = {.latency = 1, .eager = 64}};
        ck_assert_uint_eq(sim_run(&options, gather_once, NULL).bytes, (uint64_t)BLOCK * (uint64_t)(n * (n - 1)));
    }
}
END_TEST

START_TEST(rounds_grow_with_the_logarithm_of_the_pes) {
    /* A message takes one unit of time: the time is the number of rounds. */
    for (int n = 2, log = 1; n <= 512; n *= 2, log++) {
        const struct sim_options
            exact = {.n_pes = n, .seed = 1, .layer = &sim_bare_layer, .times = {.latency = 1, .eager = 64}},
            odd = {.n_pes = n - 1, .seed = 1, .layer = &sim_bare_layer, .times = {.latency = 1, .eager = 64}};
        struct sim_report report = sim_run(&exact, meet_once, NULL);
        ck_assert_int_eq(report.stuck, 0);
        ck_assert_uint_eq(report.time, (uint64_t)log);
        ck_assert_uint_eq(report.messages, (uint64_t)(n * log));
        report = sim_run(&exact, broadcast_once, NULL);
        ck_assert_uint_eq(report.time, (uint64_t)log);
        ck_assert_uint_eq(report.messages, (uint64_t)n - 1);
        ck_assert_uint_eq(sim_run(&exact, sum_once, NULL).time, (uint64_t)log);
        if (n > 2) ck_assert_uint_le(sim_run(&odd, sum_once, NULL).time, (uint64_t)log + 1);
        if (n > 2) ck_assert_uint_le(sim_run(&odd, meet_once, NULL).time, (uint64_t)log);
    }
}
END_TEST

/* Longer than what goes by doubling, in fewer elements than PEs. */
#define ELEMENTS 1030

static void sum_many(struct sim_pe *pe, void *context) {
    struct rmai_group g = {
        .net = sim_bare(pe)->net, .tag = TAG, .n = sim_options_of(pe)->n_pes, .me = pe->me, .stride = 1};
    uint64_t *data = calloc(ELEMENTS, 8), n = (uint64_t)g.n;
    char *room = malloc(RMAI_BETWEEN_ROOM);
    (void)context;
    for (uint64_t k = 0; k < ELEMENTS; k++) data[k] = (uint64_t)g.me * k + 1;
    REQUIRE(rmai_between_reduce(&g, CALL, rmai_kernel(RMA_OP_SUM, RMA_UINT64), (char *)data, ELEMENTS, 8, room) ==
                RMA_SUCCESS,
            "%s", rma_last_error());
    for (uint64_t k = 0; k < ELEMENTS; k++)
        REQUIRE(data[k] == n * (n - 1) / 2 * k + n, "PE %d, element %d", g.me, (int)k);
    free(room);
    free(data);
}

START_TEST(a_long_sum_sends_each_element_twice_however_many_pes) {
    const struct sim_options options = {
        .n_pes = 2050, .seed = 1, .layer = &sim_bare_layer, .times = {.latency = 1, .eager = 64}};
    const struct sim_report report = sim_run(&options, sum_many, NULL);
    ck_assert_int_eq(report.stuck, 0);
    ck_assert_uint_le(report.bytes, (uint64_t)2 * ELEMENTS * 8 * 2050);
}
END_TEST

/* ---- a root that runs ahead ---- */

#define BROADCASTS 1000

static void broadcast_often(struct sim_pe *pe, void *context) {
    struct rmai_group g = {
        .net = sim_bare(pe)->net, .tag = TAG, .n = sim_options_of(pe)->n_pes, .me = pe->me, .stride = 1};
    (void)context;
    for (uint64_t i = 0; i < BROADCASTS; i++) {
        uint64_t word = pe->me == 0 ? i : UINT64_MAX;
        REQUIRE(broadcast(&g, &word, &word, sizeof word, 0) == RMA_SUCCESS, "%s", rma_last_error());
        REQUIRE(word == i, "PE %d, broadcast %d", pe->me, (int)i);
    }
}

START_TEST(a_root_is_not_ahead_without_a_bound) {
    const struct sim_options options = {
        .n_pes = 5, .seed = 3, .layer = &sim_bare_layer, .times = {.latency = 1000, .jitter = 5000, .eager = 64}};
    const struct sim_report report = sim_run(&options, broadcast_often, NULL);
    ck_assert_int_eq(report.stuck, 0);
    ck_assert_uint_gt(report.unread, 1);
    ck_assert_uint_le(report.unread, RMAI_ONE_WAY_MOST + 3);
}
END_TEST

/* ---- who only meets others serves all ---- */

static void merge_written(void *mine, const void *other) { *(uint64_t *)mine |= *(const uint64_t *)other; }

/* PEs 0 and 1 meet, and PE 2 writes a word of PE 0 meanwhile. Each meeting ends after some looks at its own messages.
 */
static void meet_until_written(struct sim_pe *pe, void *context) {
    struct sim_bare *bare = sim_bare(pe);
    struct rmai_group g = {.net = bare->net, .tag = TAG, .n = 2, .me = pe->me, .stride = 1};
    uint64_t word = 1, written = 0;
    int *meetings = context;
    if (pe->me == 2) {
        REQUIRE(op_put(CALL, bare->set, 0, 0, &word, sizeof word, RMAI_NOW) == RMA_SUCCESS &&
                    rmai_net_quiet(CALL, bare->set) == RMA_SUCCESS,
                "%s", rma_last_error());
        return;
    }
    while (!written) {
        memcpy(&written, bare->memory, sizeof written);
        REQUIRE(rmai_group_merge(&g, CALL, &written, sizeof written, merge_written) == RMA_SUCCESS, "%s",
                rma_last_error());
        REQUIRE(++meetings[pe->me] < 1000, "the word of PE 0 is not written after 1000 meetings");
    }
}

START_TEST(pes_that_only_meet_serve_others) {
    int meetings[2] = {0, 0};
    const struct sim_options options = {.n_pes = 3,
                                        .seed = 4,
                                        .layer = &sim_bare_layer,
                                        .memory = 4096 + SIM_BLOCK * SIM_BLOCKS,
                                        .times = {.latency = 10, .eager = 64}};
    ck_assert_int_eq(sim_run(&options, meet_until_written, meetings).stuck, 0);
    ck_assert_int_gt(meetings[0], 1);
}
END_TEST

/* ---- mistakes and failures ---- */

static void broadcast_uneven(struct sim_pe *pe, void *context) {
    const size_t *len = context;
    struct rmai_group g = {
        .net = sim_bare(pe)->net, .tag = TAG, .n = sim_options_of(pe)->n_pes, .me = pe->me, .stride = 1};
    char data[64] = "";
    uint64_t word = pe->me == 0 ? 7 : 0;
    const int code = broadcast(&g, data, data, len[pe->me], 0);
    REQUIRE(code == (pe->me == 0 ? RMA_SUCCESS : RMA_ERR_MISMATCH), "PE %d: %d", pe->me, code);
    if (pe->me == 1)
        REQUIRE(strstr(rma_last_error(), "PE 0 has sent") && strstr(rma_last_error(), "RMA_CHECK=1"), "%s",
                rma_last_error());
    REQUIRE(broadcast(&g, &word, &word, sizeof word, 0) == (pe->me == 0 ? RMA_SUCCESS : RMA_ERR_STATE), "the next one");
}

START_TEST(a_pe_that_gets_another_length_says_so_and_stops) {
    const struct sim_options options = {
        .n_pes = 2, .seed = 1, .layer = &sim_bare_layer, .times = {.latency = 1, .eager = 64}};
    size_t longer[] = {16, 8}, shorter[] = {8, 16}, none[] = {1, 64};
    ck_assert_int_eq(sim_run(&options, broadcast_uneven, longer).stuck, 0);
    ck_assert_int_eq(sim_run(&options, broadcast_uneven, shorter).stuck, 0);
    ck_assert_int_eq(sim_run(&options, broadcast_uneven, none).stuck, 0);
}
END_TEST

/* The first receive of a PE in its group comes after those that the net has posted. */
static void broadcast_twice(struct sim_pe *pe, void *context) {
    struct rmai_group g = {
        .net = sim_bare(pe)->net, .tag = TAG, .n = sim_options_of(pe)->n_pes, .me = pe->me, .stride = 1};
    (void)context;
    for (uint64_t i = 0; i < 2; i++) {
        uint64_t word = pe->me == 0 ? 100 + i : 0;
        const int code = broadcast(&g, &word, &word, sizeof word, 0);
        REQUIRE(code == (pe->me == 0 ? RMA_SUCCESS
                         : i == 0    ? RMA_ERR_MPI
                                     : RMA_ERR_STATE),
                "PE %d, broadcast %d: %d, %d", pe->me, (int)i, code, (int)word);
        if (pe->me == 1 && i == 1) REQUIRE(strstr(rma_last_error(), "earlier collective"), "%s", rma_last_error());
    }
}

START_TEST(a_group_that_has_lost_a_message_takes_no_other_one_for_it) {
    const struct sim_options options = {.n_pes = 2,
                                        .seed = 1,
                                        .layer = &sim_bare_layer,
                                        .times = {.latency = 1, .eager = 64},
                                        .failing_pe = 1,
                                        .failing_receive = RMAI_POSTED + 1};
    ck_assert_int_eq(sim_run(&options, broadcast_twice, NULL).stuck, 0);
}
END_TEST

/* ---- the biased lock, among tasks ---- */

struct visited {
    struct rmai_biased lock;
    int owner_is_in, guest_is_in, over;
    unsigned waits, visits;
    uint64_t random;
};

/* The guest: it is in for longer than the owner polls. */
static void *visit_now_and_then(void *context) {
    struct visited *v = context;
    while (!v->over) {
        if (rmai_biased_visit(&v->lock)) {
            REQUIRE(!v->owner_is_in, "the owner is in");
            v->guest_is_in = 1;
            v->visits++;
            sim_wait(pick(&v->random, 200000));
            REQUIRE(!v->owner_is_in, "the owner has come in");
            v->guest_is_in = 0;
            rmai_biased_end_visit(&v->lock);
        }
        sim_wait(1 + pick(&v->random, 200000)); /* an owner that sleeps looks now and then */
    }
    return NULL;
}

static void enter_again_and_again(struct sim_pe *pe, void *context) {
    struct visited *v = context;
    pthread_t guest;
    REQUIRE(rmai_biased_works(), "there is no membarrier in the simulator");
    REQUIRE(rmai_thread(&guest, visit_now_and_then, v) == 0, "no task");
    for (int i = 0; i < 300; i++) {
        v->waits += (unsigned)v->guest_is_in;
        rmai_biased_enter(&v->lock);
        REQUIRE(!v->guest_is_in, "the guest is in");
        v->owner_is_in = 1;
        sim_wait(pick(&v->random, 50000));
        REQUIRE(!v->guest_is_in, "the guest has come in");
        v->owner_is_in = 0;
        rmai_biased_leave(&v->lock);
        sim_wait(pick(&v->random, 50000));
    }
    v->over = 1;
    pthread_join(guest, NULL);
    (void)pe;
}

START_TEST(an_owner_that_waits_for_its_guest_lets_it_run) {
    /* A wait that only polls would never end: all tasks are one thread. */
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct visited v = {.random = seed};
        const struct sim_options options = {.n_pes = 1, .seed = seed, .threads = 1, .layer = &sim_bare_layer};
        const struct sim_report report = sim_run(&options, enter_again_and_again, &v);
        REQUIRE(report.stuck == 0, "seed %d: %s", (int)seed, report.why);
        ck_assert_uint_ge(v.waits, 10);
        ck_assert_uint_ge(v.visits, 10);
        ck_assert_uint_eq(v.lock.inside + v.lock.guest + v.lock.wanted, 0);
    }
}
END_TEST

/* ---- what the simulation itself is good for ---- */

static void wait_for_nobody(struct sim_pe *pe, void *context) {
    struct rmai_group g = {
        .net = sim_bare(pe)->net, .tag = TAG, .n = sim_options_of(pe)->n_pes, .me = pe->me, .stride = 1};
    (void)context;
    if (pe->me != 2) rmai_group_meet(&g, CALL);
}

START_TEST(pes_that_wait_for_ever_are_found) {
    const struct sim_options options = {
        .n_pes = 4, .seed = 1, .layer = &sim_bare_layer, .times = {.latency = 1, .eager = 64}};
    ck_assert_int_ge(sim_run(&options, wait_for_nobody, NULL).stuck, 2);
}
END_TEST

START_TEST(a_seed_repeats_a_run) {
    struct sim_options options = {
        .n_pes = 7, .seed = 11, .layer = &sim_bare_layer, .times = {.latency = 10, .jitter = 100, .eager = 64}};
    uint64_t first, other;
    struct list list = {.seed = 5};
    first = sim_run(&options, run_list, &list).time;
    for (int i = 0; i < OPERATION; i++) free(list.first_result[i]);
    list = (struct list){.seed = 5};
    ck_assert_uint_eq(sim_run(&options, run_list, &list).time, first);
    for (int i = 0; i < OPERATION; i++) free(list.first_result[i]);
    options.seed = 12;
    list = (struct list){.seed = 5};
    other = sim_run(&options, run_list, &list).time;
    for (int i = 0; i < OPERATION; i++) free(list.first_result[i]);
    ck_assert_uint_ne(other, first);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("group");
    TCase *test = tcase_create("simulated");
    SRunner *runner;
    int failed;
    tcase_set_timeout(test, 120);
    tcase_add_test(test, every_pe_gets_what_the_model_says);
    tcase_add_test(test, a_gather_moves_each_block_to_each_pe_once);
    tcase_add_test(test, a_long_sum_sends_each_element_twice_however_many_pes);
    tcase_add_test(test, rounds_grow_with_the_logarithm_of_the_pes);
    tcase_add_test(test, a_root_is_not_ahead_without_a_bound);
    tcase_add_test(test, pes_that_only_meet_serve_others);
    tcase_add_test(test, a_pe_that_gets_another_length_says_so_and_stops);
    tcase_add_test(test, a_group_that_has_lost_a_message_takes_no_other_one_for_it);
    tcase_add_test(test, pes_that_wait_for_ever_are_found);
    tcase_add_test(test, an_owner_that_waits_for_its_guest_lets_it_run);
    tcase_add_test(test, a_seed_repeats_a_run);
    suite_add_tcase(suite, test);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
