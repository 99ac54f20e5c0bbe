/* SPDX-License-Identifier: BSD-3-Clause */
/* A team has the PEs that its splits select, in their order; its sync is a barrier among them only; and whatever the
 * result of a split, all PEs of the parent get the same result, and all team numbers become free again.
 *
 * Broken by a stride or a list that is followed wrongly, by a sync with a round too few, by words that still have
 * values of the number's previous team, by a number that two teams with a common PE get, and by a number that a failed
 * split keeps. Here each team is a list of PEs, taken from its parent's list: the test does not compute as the library
 * does.
 */
#include "job.h"

#define MOST 62 /* teams of one PE */

struct group {
    rma_team *team; /* RMA_TEAM_INVALID where this PE is not in it */
    int n, me;      /* me: -1 likewise */
    int pes[JOB_PES_MAX];
};

static struct group world, node;
static rma_team *const untouched = (rma_team *)(uintptr_t)0x5a5a5a5a;

/* ---- expectations ---- */

static struct group from(const struct group *parent, int start, int stride, int size) {
    struct group g = {.team = untouched, .me = -1, .n = size};
    for (int i = 0; i < size; i++) {
        g.pes[i] = parent->pes[start + i * stride];
        if (g.pes[i] == job.me) g.me = i;
    }
    return g;
}

static int symmetric_word, numbers[JOB_PES_MAX];

static int place_in(const struct group *g, int pe) {
    for (int i = 0; i < g->n; i++)
        if (g->pes[i] == pe) return i;
    return -1;
}

static void translates(const struct group *a, const struct group *b) {
    if (a->me < 0 || b->me < 0) return;
    for (int i = 0; i < a->n; i++) {
        int got = rma_team_translate_pe(a->team, i, b->team), want = place_in(b, a->pes[i]);
        CHECK(got == want, "PE %d of a team of %d is translated to %d, not %d, of %d", i, a->n, got, want, b->n);
        CHECK(rma_team_ptr(a->team, &symmetric_word, i) == rma_ptr(&symmetric_word, a->pes[i]),
              "the address of PE %d of a team of %d", i, a->n);
    }
}

static void as_expected(const struct group *g, const struct group *parent) {
    int n = g->me < 0 ? -1 : g->n;
    CHECK((g->team == RMA_TEAM_INVALID) == (g->me < 0), "number %d, team %p", g->me, (void *)g->team);
    CHECK(g->team != untouched, "the split has returned no team");
    CHECK(rma_team_my_pe(g->team) == g->me, "number %d, not %d", rma_team_my_pe(g->team), g->me);
    CHECK(rma_team_n_pes(g->team) == n, "%d PEs, not %d", rma_team_n_pes(g->team), n);
    const struct group *others[] = {g, parent, &world, &node};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        translates(g, others[i]);
        translates(others[i], g);
    }
}

static struct group strided(const struct group *parent, int start, int stride, int size) {
    struct group g = from(parent, start, stride, size);
    OK(rma_team_split_strided(parent->team, start, stride, size, &g.team));
    as_expected(&g, parent);
    return g;
}

static void grid(const struct group *parent, int xrange, struct group *x, struct group *y) {
    int width = xrange < parent->n ? xrange : parent->n, row = parent->me / width, column = parent->me % width;
    int first = row * width, rows = 0;
    while (column + rows * width < parent->n) rows++;
    *x = from(parent, first, 1, parent->n - first < width ? parent->n - first : width);
    *y = from(parent, column, width, rows);
    OK(rma_team_split_2d(parent->team, xrange, &x->team, &y->team));
    as_expected(x, parent);
    as_expected(y, parent);
    translates(x, y);
    translates(y, x);
}

/* Each PE's color and key follow from `draw`, which all know. */
static struct group colored(const struct group *parent, uint64_t draw, int colors, int keys) {
    struct group g = {.team = untouched, .me = -1};
    int color[JOB_PES_MAX] = {0}, key[JOB_PES_MAX] = {0};
    for (int i = 0; i < parent->n; i++) {
        color[i] = (int)job_below(&draw, (size_t)colors + 1) - 1;
        key[i] = (int)job_below(&draw, (size_t)keys) - keys / 2;
        if (color[i] > 0) color[i] = color[i] * (INT_MAX / colors); /* a color is any number */
    }
    for (int from = INT_MIN; g.n < parent->n;) { /* by rising keys */
        int next = INT_MAX;
        for (int i = 0; i < parent->n; i++)
            if (key[i] == from && color[i] >= 0 && color[i] == color[parent->me]) {
                if (i == parent->me) g.me = g.n;
                g.pes[g.n++] = parent->pes[i];
            }
        for (int i = 0; i < parent->n; i++)
            if (key[i] > from && key[i] < next) next = key[i];
        if (next == INT_MAX) break;
        from = next;
    }
    OK(rma_team_split_color(parent->team, color[parent->me], key[parent->me], &g.team));
    as_expected(&g, parent);
    return g;
}

static void end(struct group *g) { OK(rma_team_destroy(g->team)); }

/* ---- meeting ---- */

/* words[e & 1][pe] of a PE: what pe has put there before epoch e; own[e & 1]: what it has stored there itself; count:
 * what all have added. Epochs go on from team to team, of which a PE is in one at a time. */
static struct board { uint32_t words[2][JOB_PES_MAX], own[2], count; } * board;
static uint32_t epoch; /* the same on all PEs, meetings or not */

/* Who is not in the group does something else meanwhile. */
static void stand_by(const struct group *g, uint64_t *random) {
    for (int i = 0; i < 4; i++) OK(rma_atomic_inc(&board->count, g->pes[job_below(random, (size_t)g->n)]));
}

/* A few epochs of the group, now and then with one PE that comes late. All PEs call it. */
static void meet(const struct group *g, int epochs) {
    uint64_t draw = job_stream(1000 + epoch), random = job_stream(2000 + (uint64_t)job.me);
    if (g->me < 0) stand_by(g, &random);
    for (uint32_t last = epoch + (uint32_t)epochs; epoch != last;) {
        uint32_t e = ++epoch, *own = &board->own[e & 1];
        int late = g->pes[job_below(&draw, (size_t)g->n)];
        if (g->me < 0) continue;
        if (job.me == late && job_random(&draw) % 3 == 0) job_sleep((long)(job_random(&random) % 1500));
        for (int i = 0; i < g->n; i++) OK(rma_put(&board->words[e & 1][job.me], &e, sizeof e, g->pes[i]));
        *own = e;
        OK(rma_quiet());
        OK(rma_team_sync(g->team));
        for (int i = 0; i < g->n; i++) {
            const uint32_t *theirs = rma_on_node(g->pes[i]) ? rma_ptr(own, g->pes[i]) : own;
            CHECK(board->words[e & 1][g->pes[i]] == e, "after sync %u PE %d's word is %u, in a team of %d", e,
                  g->pes[i], board->words[e & 1][g->pes[i]], g->n);
            CHECK(*theirs == e, "after sync %u PE %d's own word is %u", e, g->pes[i], *theirs);
        }
    }
    /* The next group may lack a PE that still reads: it would not wait for that PE. */
    if (g->me >= 0) OK(rma_team_sync(g->team));
}

/* Puts, one word counted up by all, and then seen by all: quiet and sync are what rma_barrier_all is. */
static void count(const struct group *g, uint32_t rounds) {
    static uint32_t *counter;
    counter = rma_calloc(1, sizeof *counter);
    CHECK(counter != NULL, "%s", rma_last_error());
    for (uint32_t i = 1; g->me >= 0 && i <= rounds; i++) {
        OK(rma_atomic_inc(counter, g->pes[i % (uint32_t)g->n]));
        OK(rma_quiet());
        OK(rma_team_sync(g->team));
        uint32_t sum = 0;
        for (int k = 0; k < g->n; k++) sum += rma_atomic_fetch(counter, g->pes[k]);
        CHECK(sum == i * (uint32_t)g->n, "after sync %u of %d PEs they have counted %u", i, g->n, sum);
        OK(rma_team_sync(g->team));
    }
    OK(rma_free(counter));
}

/* ---- splits ---- */

static void all_strides(void) {
    uint64_t draw = job_stream(1);
    /* Of larger worlds only some; of each size the same on all PEs. */
    uint64_t one_in = job.n <= 3 ? 1 : (uint64_t)job_choose(4, 12, 40) * (job.n > 5 ? 4 : 1) / 4 + 1;
    if (job.slow) one_in *= JOB_SLOWER;
    for (int start = 0; start < job.n; start++)
        for (int stride = -job.n; stride <= job.n; stride++)
            for (int size = 1; size <= job.n; size++) {
                int last = start + (size - 1) * stride;
                struct group g;
                if (last < 0 || last >= job.n || (stride == 0 && size > 1) || job_random(&draw) % one_in != 0) continue;
                g = strided(&world, start, stride, size);
                meet(&g, 2);
                end(&g);
            }
    /* One PE has no stride. */
    const int anything[] = {INT_MIN, INT_MIN + 1, -job.n - 1, 0, 1 << 30, INT_MAX};
    struct group back = strided(&world, job.n - 1, -1, job.n), pair = strided(&back, 0, 2, (job.n + 1) / 2);
    for (size_t i = 0; i < sizeof anything / sizeof anything[0]; i++) {
        struct group g = strided(&back, job.n / 2, anything[i], 1), h;
        if (pair.me >= 0) {
            h = strided(&pair, pair.n - 1, anything[i], 1);
            end(&h);
        }
        end(&g);
    }
    end(&pair);
    end(&back);
}

/* Splits of splits, as far as this PE is in them; all of each parent draw the same. */
static void works(struct group *g);

/* Random colors and keys; all in one team, backwards; nobody in one; and splits of what has come of it. */
static void by_color(const struct group *parent) {
    uint64_t random = job_stream(77);
    rma_team *team = untouched;
    for (long turn = job_far_rounds(60, 24, 12); turn > 0; turn--) {
        const int colors = 1 + (int)job_below(&random, 4), keys = 1 + (int)job_below(&random, (size_t)parent->n * 2);
        struct group g = colored(parent, job_random(&random), colors, keys), part, x, y;
        works(&g);
        if (g.me >= 0) {
            part = strided(&g, g.n - 1, -1, (g.n + 1) / 2);
            works(&part);
            if (part.me >= 0) end(&part);
            grid(&g, 2, &x, &y);
            works(&y);
            end(&x);
            end(&y);
            part = colored(&g, job_mix((uint64_t)turn), 2, 3);
            works(&part);
            if (part.me >= 0) end(&part);
            end(&g);
        }
    }
    OK(rma_team_split_color(parent->team, INT_MAX, -parent->me, &team));
    CHECK(rma_team_my_pe(team) == parent->n - 1 - parent->me, "number %d", rma_team_my_pe(team));
    OK(rma_team_destroy(team));
    OK(rma_team_split_color(parent->team, RMA_COLOR_NONE, INT_MIN, &team));
    CHECK(team == RMA_TEAM_INVALID, "a team of nobody");
}

static void deeper(const struct group *parent, int levels, uint64_t key) {
    uint64_t draw = job_stream(key = key * 64 + (uint64_t)parent->pes[0]);
    int n = parent->n, start = (int)job_below(&draw, (size_t)n), stride = 1 + (int)job_below(&draw, (size_t)n);
    struct group g, x, y;
    if (parent->me < 0) return;
    if (job_random(&draw) & 1 && start > 0) stride = -stride;
    g = strided(parent, start, stride, 1 + (stride > 0 ? n - 1 - start : start) / abs(stride));
    grid(parent, 1 + (int)job_below(&draw, (size_t)n), &x, &y);
    for (int i = 0; i < 3; i++) {
        if (g.me >= 0) OK(rma_team_sync(g.team));
        OK(rma_team_sync(x.team));
        OK(rma_team_sync(y.team));
    }
    translates(&g, &x);
    translates(&y, &g);
    if (levels > 1) {
        deeper(&g, levels - 1, key + 1);
        deeper(&x, levels - 1, key + 2);
        deeper(&y, levels - 1, key + 3);
    }
    /* A team outlives its parent. */
    if (g.me >= 0) {
        struct group part = strided(&g, g.n - 1, -1, g.n);
        end(&g);
        OK(rma_team_sync(part.team));
        as_expected(&part, &world);
        end(&part);
    }
    end(&y);
    end(&x);
}

static void grids(void) {
    const int more[] = {job.n + 1, job.n + 7, 1 << 30, INT_MAX};
    for (int i = 1; i <= job.n + 4; i++) {
        struct group x, y;
        grid(&world, i <= job.n ? i : more[i - job.n - 1], &x, &y);
        for (int k = 0; k < 3; k++) {
            OK(rma_team_sync(x.team));
            OK(rma_team_sync(y.team));
        }
        end(&x);
        end(&y);
    }
}

/* ---- numbers of teams ---- */

/* All numbers can be had: nothing has kept one. A 2D split has two teams or none. */
/* What goes by a team's numbers: a collective, and a context. */
static void works(struct group *g) {
    int mine = job.me + 1, all[JOB_PES_MAX];
    rma_ctx *ctx;
    if (g->me < 0) return;
    OK(rma_fcollect(g->team, all, &mine, sizeof mine));
    for (int i = 0; i < g->n; i++) CHECK(all[i] == g->pes[i] + 1, "PE %d of %d is %d", i, g->n, all[i] - 1);
    OK(rma_team_create_ctx(g->team, 0, &ctx));
    OK(rma_ctx_p(ctx, &numbers[job.me], g->me, (g->me + 1) % g->n));
    OK(rma_ctx_quiet(ctx));
    OK(rma_team_sync(g->team));
    CHECK(numbers[g->pes[(g->me + g->n - 1) % g->n]] == (g->me + g->n - 1) % g->n, "the PE before wrote elsewhere");
    OK(rma_team_sync(g->team));
    OK(rma_ctx_destroy(ctx));
}

static void all_numbers(const struct group *parent) {
    rma_team *team[MOST], *more = untouched, *y = untouched;
    DOING("all numbers");
    for (int i = 0; i < MOST; i++)
        CHECK(rma_team_split_strided(parent->team, 0, 1, parent->n, &team[i]) == RMA_SUCCESS, "only %d teams: %s", i,
              rma_last_error());
    for (int i = 0; i < MOST; i++)
        for (int k = 0; k < i; k++) CHECK(team[i] != team[k], "teams %d and %d are %p", k, i, (void *)team[i]);
    EXPECT("rma_team_split_strided", rma_team_split_strided(parent->team, 0, 1, 1 + (parent->n > 1), &more),
           RMA_ERR_NO_MEM, "64");
    EXPECT("rma_team_split_2d", rma_team_split_2d(parent->team, 2, &more, &y), RMA_ERR_NO_MEM, "64");
    OK(rma_team_destroy(team[MOST / 2]));
    for (int i = 0; i < 3; i++)
        EXPECT("rma_team_split_2d", rma_team_split_2d(parent->team, 2, &more, &y), RMA_ERR_NO_MEM, "64");
    CHECK(more == untouched && y == untouched, "a failed split has written");
    OK(rma_team_split_strided(parent->team, 0, 1, parent->n, &team[MOST / 2]));
    for (int i = MOST - 1; i >= 0; i--) OK(rma_team_sync(team[i]));
    for (int i = 0; i < MOST; i++) OK(rma_team_destroy(team[i * 7 % MOST]));
}

/* Teams of one PE each: no PE is in more than two thirds of what it may be in. */
static void not_in_common(void) {
    enum { EACH = 40 };
    rma_team *team[2][EACH];
    if (job.n < 2) return;
    DOING("teams of different PEs");
    for (int i = 0; i < EACH; i++)
        for (int pe = 0; pe < 2; pe++)
            CHECK(rma_team_split_strided(RMA_TEAM_WORLD, pe, 1, 1, &team[pe][i]) == RMA_SUCCESS, "team %d of PE %d: %s",
                  i, pe, rma_last_error());
    for (int i = 0; i < EACH; i++)
        for (int pe = 0; pe < 2; pe++) OK(rma_team_destroy(team[pe][i]));
}

/* The lowest number is that of each of these teams, whoever is in them. */
static void one_number(void) {
    uint64_t draw = job_stream(3);
    long rounds = job_far_rounds(300, 100, 70);
    for (long i = 0; i < rounds; i++) {
        int start = (int)job_below(&draw, (size_t)job.n), stride = job_random(&draw) & 1 ? 1 : -1;
        int room = stride > 0 ? job.n - start : start + 1;
        struct group g = strided(&world, start, stride, 1 + (int)job_below(&draw, (size_t)room));
        meet(&g, (int)job_below(&draw, 4));
        end(&g);
    }
}

/* PE 0 alone has used a number so often that whatever it counts by has run over, while the others' words are of long
 * ago. */
static void run_over(void) {
    struct group g, alone = strided(&world, 0, 1, 1);
    long turns = job.slow ? 100 : 33000;
    for (int half = 0; half < 3; half++) {
        g = strided(&world, 0, 1, job.n); /* the number that comes after */
        meet(&g, 3);
        end(&g);
        if (job.me == 0) {
            for (long i = 0; i < turns; i++) {
                rma_team *team;
                OK(rma_team_split_strided(alone.team, 0, 1, 1, &team));
                OK(rma_team_destroy(team));
            }
        }
        g = strided(&world, 0, 1, job.n);
        /* The others are before their first sync, or in it, when PE 0 comes. */
        if (job.me == 0) {
            job_sleep(2000);
            for (int pe = 0; pe < job.n; pe++) OK(rma_p(&board->count, 0x10000u + (uint32_t)half, pe));
            OK(rma_quiet());
        }
        OK(rma_team_sync(g.team));
        CHECK(board->count == 0x10000u + (uint32_t)half, "nobody has waited for PE 0: %#x", board->count);
        meet(&g, 3);
        end(&g);
    }
    end(&alone);
}

/* Teams without a common PE have nothing to do with each other: one meets more often, and neither waits for the other.
 */
static void two_rates(void) {
    struct group even = strided(&world, 0, 2, (job.n + 1) / 2), odd;
    uint32_t begun = epoch, rounds = (uint32_t)job_far_rounds(300, 60, 30);
    if (job.n > 1) odd = strided(&world, 1, 2, job.n / 2);
    if (even.me >= 0) meet(&even, (int)(3 * rounds));
    if (even.me < 0) meet(&odd, (int)rounds);
    epoch = begun + 3 * rounds;
    OK(rma_barrier_all());
    end(&even);
    if (job.n > 1) end(&odd);
}

/* ---- mistakes ---- */

static int value_of(int result) { return result == -1 ? rma_last_code() : RMA_SUCCESS; }

static void no_team(rma_team *team, const char *words) {
    rma_team *x = untouched, *y = untouched;
    EXPECT("rma_team_sync", rma_team_sync(team), RMA_ERR_ARG, words);
    EXPECT("rma_team_split_strided", rma_team_split_strided(team, 0, 1, 1, &x), RMA_ERR_ARG, words);
    EXPECT("rma_team_split_2d", rma_team_split_2d(team, 1, &x, &y), RMA_ERR_ARG, words);
    CHECK(x == untouched && y == untouched, "a failed split has written");
    if (team == RMA_TEAM_INVALID) {
        QUIETLY(rma_team_my_pe(team), -1);
        QUIETLY(rma_team_n_pes(team), -1);
        QUIETLY(rma_team_ptr(team, &symmetric_word, 0), NULL);
        QUIETLY(rma_team_translate_pe(team, 0, RMA_TEAM_WORLD), -1);
        QUIETLY(rma_team_translate_pe(RMA_TEAM_WORLD, 0, team), -1);
        QUIETLY(rma_team_translate_pe(RMA_TEAM_WORLD, job.n, team), -1);
        QUIETLY(rma_team_destroy(team), RMA_SUCCESS);
        return;
    }
    EXPECT("rma_team_my_pe", value_of(rma_team_my_pe(team)), RMA_ERR_ARG, words);
    EXPECT("rma_team_n_pes", value_of(rma_team_n_pes(team)), RMA_ERR_ARG, words);
    EXPECT("rma_team_translate_pe", value_of(rma_team_translate_pe(team, 0, RMA_TEAM_WORLD)), RMA_ERR_ARG, words);
    EXPECT("rma_team_ptr", rma_team_ptr(team, &symmetric_word, 0) ? RMA_SUCCESS : rma_last_code(), RMA_ERR_ARG, words);
    EXPECT("rma_team_translate_pe", value_of(rma_team_translate_pe(RMA_TEAM_WORLD, 0, team)), RMA_ERR_ARG, words);
    EXPECT("rma_team_destroy", rma_team_destroy(team), RMA_ERR_ARG, words);
}

static void wrong_handles(void) {
    struct group g = strided(&world, 0, 1, job.n), again;
    rma_team *const none[] = {
        (rma_team *)3,       (rma_team *)64,      (rma_team *)65,         (rma_team *)0xffff,      (rma_team *)0x10000,
        (rma_team *)0x10001, (rma_team *)0x10002, (rma_team *)(void *)&g, (rma_team *)UINTPTR_MAX, untouched};
    no_team(RMA_TEAM_INVALID, "RMA_TEAM_INVALID");
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) no_team(none[i], job_text("team %p", (void *)none[i]));
    const int wrong[] = {-1, job.n, INT_MAX, INT_MIN};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        EXPECT("rma_team_translate_pe", value_of(rma_team_translate_pe(g.team, wrong[i], RMA_TEAM_WORLD)), RMA_ERR_PE,
               job_text("PE %d is outside 0..%d", wrong[i], job.n - 1));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        EXPECT("rma_team_ptr", rma_team_ptr(g.team, &symmetric_word, wrong[i]) ? RMA_SUCCESS : rma_last_code(),
               RMA_ERR_PE, job_text("PE %d is outside 0..%d", wrong[i], job.n - 1));
    EXPECT("rma_team_destroy", rma_team_destroy(RMA_TEAM_WORLD), RMA_ERR_ARG, "RMA_TEAM_WORLD");
    EXPECT("rma_team_destroy", rma_team_destroy(RMA_TEAM_SHARED), RMA_ERR_ARG, "RMA_TEAM_SHARED");
    end(&g);
    no_team(g.team, "destroyed");
    /* The next team with its number is another one. */
    again = strided(&world, 0, 1, job.n);
    CHECK(again.team != g.team, "a handle is used again: %p", (void *)g.team);
    no_team(g.team, "destroyed");
    end(&again);
    no_team(again.team, "destroyed");
}

/* What all do wrong. */
static void wrong_arguments(void) {
    const struct {
        int start, stride, size, code;
        const char *words;
    } wrong[] = {{0, 1, 0, RMA_ERR_ARG, "size 0"},
                 {0, 1, -1, RMA_ERR_ARG, "size -1"},
                 {0, INT_MAX, INT_MIN, RMA_ERR_ARG, "size -2147483648"},
                 {0, 1, job.n + 1, RMA_ERR_PE, job_text("PE %d", job.n)},
                 {0, -1, 2, RMA_ERR_PE, "PE -1"},
                 {-1, 1, 1, RMA_ERR_PE, "start -1"},
                 {job.n, 1, 1, RMA_ERR_PE, job_text("start %d", job.n)},
                 {job.n, -1, 1, RMA_ERR_PE, job_text("start %d", job.n)},
                 {INT_MAX, INT_MAX, INT_MAX, RMA_ERR_PE, "start 2147483647"},
                 {INT_MIN, INT_MIN, INT_MAX, RMA_ERR_PE, "start -2147483648"},
                 {0, 0, 2, RMA_ERR_ARG, "stride is 0"},
                 {0, INT_MAX, INT_MAX, RMA_ERR_PE, "4611686011984936962"},
                 {0, INT_MIN, INT_MAX, RMA_ERR_PE, "-4611686014132420608"},
                 {0, INT_MIN, 3, RMA_ERR_PE, "-4294967296"},
                 {0, 1 << 30, 5, RMA_ERR_PE, "4294967296"}};
    rma_team *x = untouched, *y = untouched;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        EXPECT("rma_team_split_strided",
               rma_team_split_strided(RMA_TEAM_WORLD, wrong[i].start, wrong[i].stride, wrong[i].size, &x),
               wrong[i].code, wrong[i].words);
    EXPECT("rma_team_split_strided", rma_team_split_strided(RMA_TEAM_WORLD, 0, 1, 1, NULL), RMA_ERR_ARG, "null");
    EXPECT("rma_team_split_2d", rma_team_split_2d(RMA_TEAM_WORLD, 0, &x, &y), RMA_ERR_ARG, "xrange 0");
    EXPECT("rma_team_split_2d", rma_team_split_2d(RMA_TEAM_WORLD, INT_MIN, &x, &y), RMA_ERR_ARG, "xrange -2147483648");
    EXPECT("rma_team_split_2d", rma_team_split_2d(RMA_TEAM_WORLD, 1, NULL, &y), RMA_ERR_ARG, "xteam");
    EXPECT("rma_team_split_2d", rma_team_split_2d(RMA_TEAM_WORLD, 1, &x, NULL), RMA_ERR_ARG, "yteam");
    EXPECT("rma_team_split_color", rma_team_split_color(RMA_TEAM_WORLD, 1, 1, NULL), RMA_ERR_ARG, "team is a null");
    EXPECT("rma_team_split_color", rma_team_split_color(RMA_TEAM_WORLD, -2, 1, &x), RMA_ERR_ARG, "color -2 is below 0");
    EXPECT("rma_team_split_color", rma_team_split_color(RMA_TEAM_WORLD, INT_MIN, 1, &x), RMA_ERR_ARG,
           "color -2147483648 is below 0");
    EXPECT("rma_team_split_color", rma_team_split_color(RMA_TEAM_INVALID, 1, 1, &x), RMA_ERR_ARG, "RMA_TEAM_INVALID");
    CHECK(x == untouched && y == untouched, "a failed split has written");
}

#define MISMATCHED(name, call, ...)                                                                                    \
    do {                                                                                                               \
        EXPECT(name, call, RMA_ERR_MISMATCH, __VA_ARGS__);                                                             \
        CHECK(x == untouched && y == untouched, "a failed split has written");                                         \
    } while (0)

/* What one PE does wrong: it is told what, the others by whom. */
#define ALONE(name, wanted, mine, theirs, words)                                                                       \
    do {                                                                                                               \
        if (job.me == odd)                                                                                             \
            EXPECT(name, mine, wanted, words);                                                                         \
        else                                                                                                           \
            EXPECT(name, theirs, wanted, job_text("failed on PE %d", odd));                                            \
        CHECK(x == untouched && y == untouched, "a failed split has written");                                         \
    } while (0)

static void one_pe(const struct group *parent, int odd) {
    static const char strided_name[] = "rma_team_split_strided", grid_name[] = "rma_team_split_2d",
                      color_name[] = "rma_team_split_color";
    rma_team *x = untouched, *y = untouched, *t = parent->team;
    int mine = job.me == odd, n = parent->n, even;
    if (n < 2 || parent->me < 0) return;
    even = parent->pes[parent->pes[0] == odd]; /* the first of those that do otherwise */
    MISMATCHED(strided_name, rma_team_split_strided(t, mine, 1, 1, &x),
               job_text("start is 0 on PE %d, but 1 on PE %d", even, odd));
    MISMATCHED(strided_name, rma_team_split_strided(t, !mine, 1, 1, &x),
               job_text("start is 0 on PE %d, but 1 on PE %d", odd, even));
    MISMATCHED(strided_name, rma_team_split_strided(t, 0, mine ? -7 : 3, 1, &x),
               job_text("stride is -7 on PE %d, but 3 on PE %d", odd, even));
    MISMATCHED(strided_name, rma_team_split_strided(t, 0, 1, 1 + mine, &x),
               job_text("size is 1 on PE %d, but 2 on PE %d", even, odd));
    MISMATCHED(grid_name, rma_team_split_2d(t, mine ? n + 1 : n + 2, &x, &y),
               job_text("xrange is %d on PE %d, but %d on PE %d", n + 1, odd, n + 2, even));
    job_expect_begin("");
    CHECK((mine ? rma_team_split_2d(t, 1, &x, &y) : rma_team_split_strided(t, 1, 0, 1, &x)) == RMA_ERR_MISMATCH,
          "two calls are taken for one");
    CHECK(strstr(rma_last_error(), job_text("PE %d is in %s, PE %d in %s", even, strided_name, odd, grid_name)), "%s",
          rma_last_error());
    CHECK(x == untouched && y == untouched && job_raised.count == 1, "a failed split has written");
    job_expect_begin("");
    CHECK((mine ? rma_team_split_color(t, 1, 0, &x) : rma_team_split_strided(t, 1, 0, 1, &x)) == RMA_ERR_MISMATCH,
          "two calls are taken for one");
    CHECK(strstr(rma_last_error(), job_text("PE %d is in %s, PE %d in %s", even, strided_name, odd, color_name)), "%s",
          rma_last_error());
    CHECK(x == untouched && job_raised.count == 1, "a failed split has written");
    ALONE(color_name, RMA_ERR_ARG, rma_team_split_color(t, -7, 1, &x), rma_team_split_color(t, RMA_COLOR_NONE, 1, &x),
          "color -7");
    ALONE(color_name, RMA_ERR_ARG, rma_team_split_color(t, 3, 1, NULL), rma_team_split_color(t, 3, 1, &x), "null");
    ALONE(strided_name, RMA_ERR_PE, rma_team_split_strided(t, n, 1, 1, &x), rma_team_split_strided(t, 0, 1, 1, &x),
          "start");
    ALONE(strided_name, RMA_ERR_ARG, rma_team_split_strided(t, 0, 1, 0, &x), rma_team_split_strided(t, 0, 1, n, &x),
          "size 0");
    ALONE(strided_name, RMA_ERR_ARG, rma_team_split_strided(t, 0, 1, n, NULL), rma_team_split_strided(t, 0, 1, n, &x),
          "null");
    ALONE(strided_name, RMA_ERR_PE, rma_team_split_strided(t, 0, 2, n, &x), rma_team_split_strided(t, 0, 1, n, &x),
          "outside");
    ALONE(grid_name, RMA_ERR_ARG, rma_team_split_2d(t, 2, &x, NULL), rma_team_split_2d(t, 2, &x, &y), "yteam");
    ALONE(grid_name, RMA_ERR_ARG, rma_team_split_2d(t, -1, &x, &y), rma_team_split_2d(t, 2, &x, &y), "xrange -1");
}

/* One PE is in as many teams as it may be, and the others in none: no further one for it, but any for them. */
static void one_full_pe(void) {
    rma_team *team[MOST], *x = untouched, *y = untouched;
    struct group alone = strided(&world, 0, 1, 1), rest;
    for (int i = 0; job.me == 0 && i < MOST - 1; i++) OK(rma_team_split_strided(alone.team, 0, 1, 1, &team[i]));
    for (int i = 0; i < 2; i++) {
        EXPECT("rma_team_split_strided", rma_team_split_strided(RMA_TEAM_WORLD, 0, 1, job.n, &x), RMA_ERR_NO_MEM, "64");
        EXPECT("rma_team_split_2d", rma_team_split_2d(RMA_TEAM_WORLD, 1, &x, &y), RMA_ERR_NO_MEM, "64");
    }
    CHECK(x == untouched && y == untouched, "a failed split has written");
    if (job.n > 1) {
        rest = strided(&world, job.n - 1, -1, job.n - 1);
        meet(&rest, 3);
        end(&rest);
    }
    for (int i = 0; job.me == 0 && i < MOST - 1; i++) OK(rma_team_destroy(team[i]));
    end(&alone);
}

/* No global pointer leads to the words by which teams meet. */
static void out_of_reach(void) {
    for (int pe = 0; pe < job.n; pe++)
        for (unsigned at = 64; at < 262144; at += at < 16384 ? 1024 : 32768) {
            uint32_t word = 1;
            rma_gptr_t g = (rma_gptr_t)(unsigned)pe << RMA_GPTR_BITS_ | at;
            EXPECT("rma_gptr_put", rma_gptr_put(g, &word, sizeof word), RMA_ERR_ADDRESS, "");
            EXPECT_ZERO("rma_gptr_atomic_fetch_add_uint32", rma_gptr_atomic_fetch_add_uint32(g, 1) != 0,
                        RMA_ERR_ADDRESS, "");
        }
}

static void nothing_works(const char *when) {
    rma_team *x = untouched, *y = untouched, *const teams[] = {RMA_TEAM_WORLD, RMA_TEAM_SHARED, untouched};
    for (size_t i = 0; i < sizeof teams / sizeof teams[0]; i++) {
        EXPECT("rma_team_my_pe", value_of(rma_team_my_pe(teams[i])), RMA_ERR_STATE, when);
        EXPECT("rma_team_n_pes", value_of(rma_team_n_pes(teams[i])), RMA_ERR_STATE, when);
        EXPECT("rma_team_translate_pe", value_of(rma_team_translate_pe(teams[i], 0, teams[i])), RMA_ERR_STATE, when);
        EXPECT("rma_team_split_strided", rma_team_split_strided(teams[i], 0, 1, 1, &x), RMA_ERR_STATE, when);
        EXPECT("rma_team_split_2d", rma_team_split_2d(teams[i], 1, &x, &y), RMA_ERR_STATE, when);
        EXPECT("rma_team_sync", rma_team_sync(teams[i]), RMA_ERR_STATE, when);
        EXPECT("rma_team_destroy", rma_team_destroy(teams[i]), RMA_ERR_STATE, when);
    }
    CHECK(x == untouched && y == untouched, "a failed split has written");
}

int main(void) {
    struct group x, y, g;
    job_begin();
    nothing_works("before rma_init");
    OK(rma_init());
    job_look();
    world = (struct group){.team = RMA_TEAM_WORLD, .n = job.n, .me = job.me};
    for (int i = 0; i < job.n; i++) world.pes[i] = i;
    node = (struct group){.team = RMA_TEAM_SHARED, .n = job.n_near, .me = job.near};
    memcpy(node.pes, job.pes, sizeof node.pes);
    board = rma_calloc(1, sizeof *board);
    CHECK(board != NULL, "%s", rma_last_error());
    as_expected(&world, &world);
    as_expected(&node, &world);

    DOING("strided splits");
    all_strides();
    DOING("grids");
    grids();
    DOING("splits by color");
    by_color(&world);
    by_color(&node);
    DOING("splits of splits");
    for (uint64_t i = 0; i < 3; i++) deeper(&world, 3, i);
    DOING("splits of the node");
    for (uint64_t i = 0; i < 3; i++) deeper(&node, 2, i);
    OK(rma_barrier_all());

    DOING("sync");
    meet(&world, 20);
    g = strided(&world, job.n - 1, -1, job.n);
    count(&g, (uint32_t)job_far_rounds(200, 60, 20));
    meet(&g, (int)job_far_rounds(2000, 200, 60));
    end(&g);
    meet(&node, 20);
    OK(rma_barrier_all());
    if (job.n > 2) {
        g = strided(&world, 1, 1, job.n - 1);
        count(&g, (uint32_t)job_far_rounds(200, 60, 20));
        meet(&g, (int)job_far_rounds(500, 100, 30));
        end(&g);
    }
    DOING("teams at two rates");
    two_rates();

    DOING("one number after another");
    one_number();
    DOING("a number that has run over");
    run_over();
    all_numbers(&world);
    not_in_common();

    DOING("wrong handles");
    wrong_handles();
    DOING("wrong arguments");
    wrong_arguments();
    DOING("arguments that differ");
    one_pe(&world, job.n - 1);
    one_pe(&world, 0);
    one_pe(&node, node.pes[node.n - 1]);
    grid(&world, 2, &x, &y);
    one_pe(&y, y.pes[y.n / 2]);
    one_pe(&x, x.pes[0]);
    end(&x);
    end(&y);
    DOING("one full PE");
    one_full_pe();
    DOING("nothing has leaked");
    all_numbers(&world);
    all_numbers(&node);
    DOING("global pointers into the header");
    out_of_reach();

    /* Some are left to rma_finalize, in which all meet. */
    grid(&world, 3, &x, &y);
    g = strided(&node, node.n - 1, -1, node.n);
    OK(rma_team_sync(g.team));
    OK(rma_free(board));
    job_end();
    nothing_works("after rma_finalize");
    return 0;
}
