/* SPDX-License-Identifier: BSD-3-Clause */
/* Thousands of collectives one after the other, without any barrier between them, do not mix: each gives its own data,
 * however far one PE is ahead of another, whatever kind of call, length, root or team comes next.
 *
 * Broken by a library buffer that is reused before all have read it, by a flag or a counter that is still from the call
 * before last, or has wrapped, by a root that runs ahead without a bound, by kinds of calls that count in different
 * steps, by a team whose calls move another team's data, and by a PE that counts as arrived when it has left. */
#include "job.h"

#define MOST  ((size_t)160 << 10)
#define TEAMS 5

static struct job_group groups[TEAMS];
static unsigned char *dest, *source, *private;
static uint64_t *words; /* symmetric */

static void make_groups(void) {
    int n = job.n;
    groups[0] = job_world();
    groups[1] = job_strided(&groups[0], NULL, n - 1, -1, n);
    groups[2] =
        job_strided(&groups[0], NULL, n > 1, 1,
                    n > 1 ? n - 1 : 1); /* all but PE 0; and all but the last one: they overlap in any number of PEs */
    groups[3] = job_strided(&groups[0], NULL, 0, 1, n > 1 ? n - 1 : 1);
    groups[4] = job_strided(&groups[0], NULL, 0, 2, (n + 1) / 2);
}

/* The number that a PE has at step i. */
static uint64_t number(long i, int pe) { return job_mix((uint64_t)i << 8 | (uint64_t)pe); }
static uint64_t key_of(long i, int pe) { return ~number(i, pe); }

enum kind {
    BROADCAST,
    SUM,
    MAX,
    FCOLLECT,
    COLLECT,
    ALLTOALL,
    INSCAN,
    EXSCAN,
    SYNC,
    BARRIER,
    LONG_BROADCAST,
    LONG_FCOLLECT,
    LONG_SUM,
    KINDS
};
static const char *const names[KINDS] = {"broadcast",      "sum",           "max",     "fcollect", "collect",
                                         "alltoall",       "inscan",        "exscan",  "sync",     "barrier",
                                         "long broadcast", "long fcollect", "long sum"};

struct step {
    long i;
    enum kind kind;
    const struct job_group *g;
    int root;
    size_t len;
};

#define IS(got, want)                                                                                                  \
    CHECK((got) == (want), "step %ld: %s on a team of %d (%d of the list), root %d: %llx, not %llx", s->i,             \
          names[s->kind], g->n, (int)(g - groups), s->root, (unsigned long long)(got), (unsigned long long)(want))

/* Eight bytes of each PE. The source is written as soon as the call is over, and now and then it is private memory. */
static void short_call(const struct step *s, uint64_t *own) {
    const struct job_group *g = s->g;
    rma_team *team = g->team;
    bool heap = job_below(own, 2);
    uint64_t here[JOB_PES_MAX], there[JOB_PES_MAX], sum = 0, most = 0, want = 0;
    uint64_t *from = heap ? words : here, *to = heap ? words + JOB_PES_MAX : there;
    size_t n = (size_t)g->n, me = (size_t)g->me;
    for (size_t k = 0; k < n; k++) {
        uint64_t v = number(s->i, g->pes[k]);
        sum += v;
        if (v > most) most = v;
        if (k < me) want += v;
        from[k] = s->kind == ALLTOALL ? number(s->i, job.me) + k : number(s->i, job.me);
        to[k] = 0;
    }
    switch (s->kind) {
        case BROADCAST: OK(rma_broadcast(team, to, from, 8, s->root)); break;
        case SUM: OK(rma_sum_reduce(team, to, from, 1)); break;
        case MAX: OK(rma_max_reduce(team, to, from, 1)); break;
        case FCOLLECT: OK(rma_fcollect(team, to, from, 8)); break;
        case COLLECT: OK(rma_collect(team, to, from, (s->i + g->me) % 2 ? 8 : 0)); break;
        case ALLTOALL: OK(rma_alltoall(team, to, from, 8)); break;
        case INSCAN: OK(rma_sum_inscan(team, to, from, 1)); break;
        case EXSCAN: OK(rma_sum_exscan(team, to, from, 1)); break;
        default: CHECK(false, "no such call");
    }
    for (size_t k = 0; k < n; k++) from[k] = 0x7777777777777777;
    switch (s->kind) {
        case BROADCAST: IS(to[0], number(s->i, g->pes[s->root])); break;
        case SUM: IS(to[0], sum); break;
        case MAX: IS(to[0], most); break;
        case INSCAN: IS(to[0], want + number(s->i, job.me)); break;
        case EXSCAN: IS(to[0], want); break;
        case COLLECT:
            for (size_t k = 0, at = 0; k < n; k++)
                if ((s->i + (long)k) % 2) {
                    IS(to[at], number(s->i, g->pes[k]));
                    at++;
                }
            break;
        default:
            for (size_t k = 0; k < n; k++) IS(to[k], number(s->i, g->pes[k]) + (s->kind == ALLTOALL ? me : 0));
    }
    for (size_t k = 0; k < n; k++) to[k] = 0x8888888888888888;
}

static void long_call(const struct step *s, uint64_t *own) {
    const struct job_group *g = s->g;
    unsigned char *from = job_below(own, 2) ? source : private;
    size_t n = (size_t)g->n, len = s->len;
    switch (s->kind) {
        case LONG_BROADCAST:
            job_fill(from, 0, len, key_of(s->i, job.me));
            OK(rma_broadcast(g->team, dest, from, len, s->root));
            memset(from, 0x99, len);
            IS(job_differs(dest, 0, len, key_of(s->i, g->pes[s->root])), len);
            break;
        case LONG_FCOLLECT:
            len /= n;
            job_fill(from, 0, len, key_of(s->i, job.me));
            OK(rma_fcollect(g->team, dest, from, len));
            memset(from, 0x99, len);
            for (size_t k = 0; k < n; k++) IS(job_differs(dest + k * len, 0, len, key_of(s->i, g->pes[k])), len);
            break;
        default:
            for (size_t k = 0; k < len / 8; k++) ((uint64_t *)(void *)from)[k] = number(s->i, job.me) * (k | 1);
            OK(rma_sum_reduce(g->team, (uint64_t *)(void *)dest, (uint64_t *)(void *)from, len / 8));
            memset(from, 0x99, len);
            uint64_t sum = 0;
            for (size_t k = 0; k < n; k++) sum += number(s->i, g->pes[k]);
            for (size_t k = 0; k < len / 8; k++) IS(((uint64_t *)(void *)dest)[k], sum * (k | 1));
    }
    memset(dest, 0xaa, len);
}

static void do_step(const struct step *s, uint64_t *own) {
    const struct job_group *g = s->g;
    if (g->me < 0) return;
    if (s->kind == SYNC)
        OK(rma_team_sync(g->team));
    else if (s->kind == BARRIER)
        OK(g == groups && s->i % 2 ? rma_barrier_all() : rma_team_barrier(g->team));
    else if (s->kind < SYNC)
        short_call(s, own);
    else
        long_call(s, own);
}

/* Steps of all kinds, half of them broadcasts of eight bytes. late: of so many steps one PE comes late to one; 0: to
 * none. */
static long stream(long i, long n, uint64_t teams, unsigned late, unsigned longs) {
    uint64_t random = job_stream((uint64_t)i), own = job_stream((uint64_t)i << 8 | 0x80 | (uint64_t)job.me);
    for (long end = i + n; i < end; i++) {
        struct step s = {.i = i, .g = &groups[job_below(&random, TEAMS)]};
        uint64_t kind = job_below(&random, 20);
        s.root = (int)job_below(&random, (size_t)s.g->n);
        s.len = 8 * job_length(&random, MOST / 8);
        if (!(teams >> (s.g - groups) & 1)) s.g = &groups[(size_t)__builtin_ctzll(teams)];
        s.root %= s.g->n;
        s.kind = kind < BARRIER + 1 ? (enum kind)kind : BROADCAST;
        if (job_below(&random, 100) < longs) s.kind = (enum kind)(LONG_BROADCAST + kind % 3);
        if (late && job_below(&own, late) == 0) job_sleep(200 + (long)job_below(&own, 1500));
        do_step(&s, &own);
    }
    return i;
}

/* One root is ahead of all that come late: somebody must hold it up, and nothing may be lost. Then one PE is behind all
 * others. */
static long far_ahead(long i, long n) {
    uint64_t own = job_stream((uint64_t)i << 8 | 0x80 | (uint64_t)job.me);
    for (int odd = 0; odd<job.n; odd += job.n> 1 ? job.n - 1 : 1) {
        for (int behind = 0; behind < 2; behind++)
            for (long k = 0; k < n; k++, i++) {
                struct step s = {.i = i, .g = &groups[0], .kind = BROADCAST, .root = odd, .len = MOST};
                if (behind) s.root = (odd + 1) % job.n;
                if (k % 64 == 63) s.kind = LONG_BROADCAST;
                if (k % (n / 3 + 1) == 0 && (job.me == odd) == behind) job_sleep(5000);
                do_step(&s, &own);
            }
    }
    return i;
}

/* One kind after the same kind, so that only the number of the call tells the two apart. */
static long each_kind(long i, long n) {
    uint64_t own = job_stream((uint64_t)i << 8 | 0x80 | (uint64_t)job.me);
    for (int t = 0; t < TEAMS; t++)
        for (int kind = 0; kind < KINDS; kind++)
            for (long k = 0; k < (kind > BARRIER ? n / 20 + 1 : n); k++, i++) {
                struct step s = {
                    .i = i, .g = &groups[t], .kind = (enum kind)kind, .len = MOST, .root = (int)(i % groups[t].n)};
                do_step(&s, &own);
            }
    return i;
}

/* Zero bytes on PEs that then run ahead are calls like others. */
static void nothing_at_all(long i) {
    for (long k = 0; k < 50; k++) {
        uint64_t to = 0, from = number(i + k, job.me);
        OK(rma_broadcast(RMA_TEAM_WORLD, NULL, NULL, 0, (int)(k % job.n)));
        OK(rma_fcollect(RMA_TEAM_WORLD, NULL, NULL, 0));
        OK(rma_sum_reduce_int(RMA_TEAM_WORLD, NULL, NULL, 0));
        OK(rma_collect(RMA_TEAM_WORLD, &to, &from, job.me == k % job.n ? 8 : 0));
        CHECK(to == number(i + k, (int)(k % job.n)), "%ld: %llx after calls of nothing", k, (unsigned long long)to);
    }
}

int main(void) {
    long i = 1, n;
    job_start();
    make_groups();
    dest = rma_malloc(MOST);
    source = rma_malloc(MOST);
    private = malloc(MOST);
    words = rma_calloc(2 * JOB_PES_MAX, sizeof *words);
    CHECK(dest && source && private && words, "%s", rma_last_error());
    n = job_far_rounds(60000, 12000, 2400);

    DOING("a stream of the world");
    i = stream(i, n, 1, 0, 1);
    DOING("a stream of two teams that overlap");
    i = stream(i, n, 1 << 2 | 1 << 3, 0, 1);
    DOING("a stream of two teams of the same PEs");
    i = stream(i, n / 2, 1 << 0 | 1 << 1, 0, 1);
    DOING("a stream of all teams");
    i = stream(i, n / 2, (1 << TEAMS) - 1, 0, 5);
    DOING("late PEs");
    i = stream(i, n / 16, 1, 20, 5);
    i = stream(i, n / 16, (1 << TEAMS) - 1, 20, 5);
    DOING("a root far ahead");
    i = far_ahead(i, n / 8);
    DOING("the same kind again and again");
    i = each_kind(i, n / 80);
    DOING("calls of nothing");
    nothing_at_all(i);

    DOING("giving back");
    for (int t = 1; t < TEAMS; t++) OK(rma_team_destroy(groups[t].team));
    OK(rma_free(words));
    OK(rma_free(source));
    OK(rma_free(dest));
    free(private);
    return job_end();
}
