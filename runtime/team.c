/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/team.h"
#include "base/error.h"
#include "runtime/face.h"
#include "runtime/group.h"
#include "runtime/world.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS_MOST 24 /* a job has 2^24 PEs at most */

_Static_assert(sizeof(struct rmai_header) + 128 + RMAI_TEAMS * ROUNDS_MOST * sizeof(struct rmai_team_round) <=
                   RMAI_MAILBOXES_AT,
               "the words of all teams fit behind the header");
_Static_assert(RMAI_TEAM_DATA % 8 == 0 && sizeof(struct rmai_team_round) == 128, "a round's words fill their lines");

#define WORDS_AT rmai_round_up(sizeof(struct rmai_header), 128)

/* ---- the words ---- */

static unsigned rounds_of(int n) {
    unsigned rounds = 0;
    while (((size_t)1 << rounds) < (size_t)n) rounds++;
    return rounds;
}

static size_t words_of(unsigned rounds) { return (rounds ? rounds : 1) * sizeof(struct rmai_team_round); }

int rmai_teams_hold(size_t offset, size_t len) {
    return offset >= WORDS_AT && offset <= RMAI_MAILBOXES_AT && len <= RMAI_MAILBOXES_AT - offset;
}

static int number_of(const struct rmai_world *w, const struct rmai_team *t) { return (int)(t - w->teams.team); }

/* The offset in every PE's space of the words of round k. */
static size_t words_at(const struct rmai_world *w, const struct rmai_team *t, unsigned k) {
    return WORDS_AT + (size_t)number_of(w, t) * words_of(w->teams.rounds) + k * sizeof(struct rmai_team_round);
}

static struct rmai_team_round *words(const struct rmai_world *w, int q, const struct rmai_team *t, unsigned k) {
    return (struct rmai_team_round *)(void *)(rmai_job_space(&w->job, q) + words_at(w, t, k));
}

/* ---- who ---- */

int rmai_team_pe(const struct rmai_team *t, int i) { return t->list ? t->list[i] : t->start + i * t->stride; }

int rmai_team_index(const struct rmai_team *t, int pe) {
    int i;
    if (t->list) {
        for (i = 0; i < t->n; i++)
            if (t->list[i] == pe) return i;
        return -1;
    }
    if ((pe - t->start) % t->stride != 0) return -1;
    i = (pe - t->start) / t->stride;
    return i >= 0 && i < t->n ? i : -1;
}

static uint64_t generations; /* teams that were ever made here, but for the two that are always there */

/* A handle is a number, so that one of a team that is gone leads nowhere: generation and 1 + the team's number. */
rma_team *rmai_team_handle(const struct rmai_world *w, const struct rmai_team *t) {
    return (rma_team *)((uintptr_t)t->generation << 16 | (uintptr_t)(number_of(w, t) + 1));
}

struct rmai_team *rmai_team(struct rmai_world *w, const char *call, const rma_team *handle) {
    uintptr_t word = (uintptr_t)handle, number = (word & 0xffff) - 1;
    struct rmai_team *t = &w->teams.team[number < RMAI_TEAMS ? number : 0];
    if (rmai_running(call) != RMA_SUCCESS) return NULL;
    if (number < RMAI_TEAMS && t->live && t->generation == word >> 16) return t;
    if (handle == RMA_TEAM_INVALID)
        rmai_error(RMA_ERR_ARG, "%s: team is %s", call,
                   rmai_error_of_shmem(call) ? "SHMEM_TEAM_INVALID" : "RMA_TEAM_INVALID");
    else
        rmai_error(RMA_ERR_ARG, "%s: team %p is none, or has been destroyed", call, (const void *)handle);
    return NULL;
}

/* ---- meeting ---- */

static int tell(struct rmai_world *w, const char *call, const struct rmai_team *t, int pe, unsigned k, const void *data,
                size_t len) {
    int q = rmai_node_slot(&w->job, pe), odd = t->epoch & 1;
    size_t at = words_at(w, t, k);
    struct rmai_team_round *there;
    if (q < 0)
        return rmai_net_put_signal(&w->net, call, &w->contexts.standing.pending, pe,
                                   at + offsetof(struct rmai_team_round, data) + (size_t)odd * RMAI_TEAM_DATA, data,
                                   len, at + offsetof(struct rmai_team_round, event), RMA_SET_, sizeof(uint32_t),
                                   t->epoch, RMAI_NOW, 1);
    there = words(w, q, t, k);
    if (len) memcpy(there->data[odd], data, len);
    atomic_store_explicit(&there->event.value, t->epoch, memory_order_release);
    if (w->barrier.crowded) atomic_thread_fence(memory_order_seq_cst); /* PEs go to sleep at once: miss none of them */
    rmai_wake(&there->event);
    return RMA_SUCCESS;
}

static const void *hear(struct rmai_world *w, const char *call, const struct rmai_team *t, unsigned k) {
    struct rmai_team_round *mine = words(w, w->job.node_my_pe, t, k);
    const size_t step = ((size_t)1 << k) % (size_t)t->n;
    const int from = rmai_team_pe(t, (int)(((size_t)t->me + (size_t)t->n - step) % (size_t)t->n));
    struct rmai_stall stall = {.call = call, .pe = from, .meeting = t};
    uint32_t seen = atomic_load_explicit(&mine->event.value, memory_order_acquire);
    while (!rmai_reached(seen, t->epoch)) seen = rmai_wait_watched(&mine->event, seen, &w->barrier.patience, &stall);
    rmai_wait_over(&w->barrier.patience, &stall);
    return mine->data[t->epoch & 1];
}

int rmai_team_meet(struct rmai_world *w, const char *call, struct rmai_team *t, void *data, size_t len,
                   rmai_team_merge *merge) {
    int code = RMA_SUCCESS;
    t->epoch++;
    for (unsigned k = 0; code == RMA_SUCCESS && ((size_t)1 << k) < (size_t)t->n; k++) {
        int to = (int)(((size_t)t->me + ((size_t)1 << k)) % (size_t)t->n);
        const void *other;
        code = tell(w, call, t, rmai_team_pe(t, to), k, data, len);
        if (code != RMA_SUCCESS) break;
        other = hear(w, call, t, k);
        if (len) merge(data, other);
    }
    return code;
}

/* ---- queries ---- */

int rma_team_my_pe(const rma_team *team) {
    struct rmai_team *t = team == RMA_TEAM_INVALID ? NULL : rmai_team(&rmai_world, "rma_team_my_pe", team);
    if (!t && team != RMA_TEAM_INVALID) rmai_raise(rma_last_code());
    return t ? t->me : -1;
}

int rma_team_n_pes(const rma_team *team) {
    struct rmai_team *t = team == RMA_TEAM_INVALID ? NULL : rmai_team(&rmai_world, "rma_team_n_pes", team);
    if (!t && team != RMA_TEAM_INVALID) rmai_raise(rma_last_code());
    return t ? t->n : -1;
}

int rma_team_translate_pe(const rma_team *team, int pe, const rma_team *other) {
    static const char call[] = "rma_team_translate_pe";
    struct rmai_team *from, *to;
    if (team == RMA_TEAM_INVALID || other == RMA_TEAM_INVALID) return -1;
    from = rmai_team(&rmai_world, call, team);
    to = from ? rmai_team(&rmai_world, call, other) : NULL;
    if (!to) {
        rmai_raise(rma_last_code());
        return -1;
    }
    if (pe < 0 || pe >= from->n) {
        rmai_raise(rmai_error(RMA_ERR_PE, "%s: PE %d is outside 0..%d of the team", call, pe, from->n - 1));
        return -1;
    }
    return rmai_team_index(to, rmai_team_pe(from, pe));
}

void *rma_team_ptr(const rma_team *team, const void *addr, int pe) {
    static const char call[] = "rma_team_ptr";
    const struct rmai_team *t = team == RMA_TEAM_INVALID ? NULL : rmai_team(&rmai_world, call, team);
    if (team == RMA_TEAM_INVALID) return NULL;
    if (t && pe >= 0 && pe < t->n) return rma_ptr(addr, rmai_team_pe(t, pe));
    rmai_raise(t ? rmai_error(RMA_ERR_PE, "%s: PE %d is outside 0..%d of the team", call, pe, t->n - 1)
                 : rma_last_code());
    return NULL;
}

int rma_team_note_(rma_team *team, int note) {
    struct rmai_team *t = rmai_team(&rmai_world, "rma_team_note_", team);
    if (!t) return rmai_raise(rma_last_code());
    t->note = note;
    return RMA_SUCCESS;
}

int rma_team_noted_(const rma_team *team, int *note) {
    struct rmai_team *t = rmai_team(&rmai_world, "rma_team_noted_", team);
    if (!t) return rmai_raise(rma_last_code());
    *note = t->note;
    return RMA_SUCCESS;
}

/* ---- splitting ---- */

#define ARGUMENTS 4

/* What the PEs of the parent tell each other: the arguments, to be alike; who has failed; and which numbers are free on
 * all that will be in the new team. */
struct proposal {
    uint64_t free;
    int32_t low[ARGUMENTS], high[ARGUMENTS];
    int32_t code, pe; /* the first PE that has failed, and how; RMA_SUCCESS and INT32_MAX */
};

_Static_assert(sizeof(struct proposal) <= RMAI_TEAM_DATA, "a proposal travels with a round");

static void merge(void *mine, const void *other) {
    struct proposal *a = mine, b;
    memcpy(&b, other, sizeof b);
    a->free &= b.free;
    for (int i = 0; i < ARGUMENTS; i++) {
        if (b.low[i] < a->low[i]) a->low[i] = b.low[i];
        if (b.high[i] > a->high[i]) a->high[i] = b.high[i];
    }
    if (b.pe < a->pe) {
        a->pe = b.pe;
        a->code = b.code;
    }
}

/* Tells `code` and the arguments to all of the parent, and hears theirs. A PE that will not be in the new team
 * (`joins`) does not mind its number. Returns the own failure, another's, or RMA_SUCCESS. */
static int propose(struct rmai_world *w, const char *call, struct rmai_team *parent, int code, int joins,
                   struct proposal *p) {
    int met;
    p->free = joins ? w->teams.free : ~(uint64_t)0;
    p->code = code;
    p->pe = code == RMA_SUCCESS ? INT32_MAX : w->job.my_pe;
    met = rmai_team_meet(w, call, parent, p, sizeof *p, merge);
    if (met != RMA_SUCCESS) return met;
    if (p->code == RMA_SUCCESS || code != RMA_SUCCESS) return code;
    return rmai_error(p->code, "%s: failed on PE %d", call, p->pe);
}

/* The least and the greatest that PEs have stated of one argument, and the first PE that stated each. */
struct difference {
    int32_t low, low_pe, high, high_pe;
};

static void widen(void *mine, const void *other) {
    struct difference *a = mine, b;
    memcpy(&b, other, sizeof b);
    if (b.low < a->low || (b.low == a->low && b.low_pe < a->low_pe)) {
        a->low = b.low;
        a->low_pe = b.low_pe;
    }
    if (b.high > a->high || (b.high == a->high && b.high_pe < a->high_pe)) {
        a->high = b.high;
        a->high_pe = b.high_pe;
    }
}

/* The name of a call by what it states as its number: see `names` in both. */
static const char *split_name(const char *call, int number) {
    static const char *const splits[][2] = {{"rma_team_split_strided", "shmem_team_split_strided"},
                                            {"rma_team_split_2d", "shmem_team_split_2d"}};
    return splits[number - 1][rmai_error_of_shmem(call)];
}

/* All of the parent have heard the same, so that where arguments differ all come to another meeting, which tells on
 * whom. `own` is what this PE has stated. */
static int compare(struct rmai_world *w, const char *call, struct rmai_team *parent, const int32_t own[ARGUMENTS],
                   const struct proposal *p, const char *const names[ARGUMENTS]) {
    struct difference d;
    int code, i = 0;
    while (i < ARGUMENTS && p->low[i] == p->high[i]) i++;
    if (i == ARGUMENTS) return RMA_SUCCESS;
    d = (struct difference){own[i], w->job.my_pe, own[i], w->job.my_pe};
    code = rmai_team_meet(w, call, parent, &d, sizeof d, widen);
    if (code != RMA_SUCCESS) return code;
    if (i == 0)
        return rmai_error(RMA_ERR_MISMATCH,
                          "%s: PE %d is in %s, PE %d in %s: every PE of a team must make the same collective calls",
                          call, d.low_pe, split_name(call, d.low), d.high_pe, split_name(call, d.high));
    return rmai_error(RMA_ERR_MISMATCH, "%s: %s is %d on PE %d, but %d on PE %d", call, names[i], d.low, d.low_pe,
                      d.high, d.high_pe);
}

/* The number of a new team, after all of the parent have told their arguments and found them alike. */
static int settle(struct rmai_world *w, const char *call, struct rmai_team *parent, int code, int joins,
                  struct proposal *p, const char *const names[ARGUMENTS], int *number) {
    int32_t own[ARGUMENTS];
    memcpy(own, p->low, sizeof own);
    code = propose(w, call, parent, code, joins, p);
    if (code == RMA_SUCCESS) code = compare(w, call, parent, own, p, names);
    if (code != RMA_SUCCESS) return code;
    if (!p->free)
        return rmai_error(RMA_ERR_NO_MEM, "%s: none of the %d numbers of teams is free on all PEs of the new one", call,
                          RMAI_TEAMS);
    *number = __builtin_ctzll(p->free);
    return RMA_SUCCESS;
}

static struct rmai_mailbox *mailbox(const struct rmai_world *w, int number) {
    return (struct rmai_mailbox *)(void *)(rmai_job_space(&w->job, w->job.node_my_pe) + rmai_mailbox_at(number));
}

static int commit(struct rmai_world *w, const char *call, const struct rmai_team *t) {
    int code = rmai_commit(&w->reservation, words(w, w->job.node_my_pe, t, 0), words_of(w->teams.rounds));
    if (code == RMA_SUCCESS)
        code = rmai_commit(&w->reservation, mailbox(w, number_of(w, t)), sizeof(struct rmai_mailbox));
    if (code != RMA_SUCCESS) rmai_error_prefix("%s: ", call);
    return code;
}

/* Memory for what t's number has on this PE, once; and as nobody tells anything by a number that is free, it can be
 * cleared for those who come next. */
static int prepare(struct rmai_world *w, const char *call, const struct rmai_team *t) {
    uint64_t bit = (uint64_t)1 << number_of(w, t);
    if (!(w->teams.committed & bit)) {
        int code = commit(w, call, t);
        if (code != RMA_SUCCESS) return code;
        w->teams.committed |= bit;
    }
    /* The parent's meeting comes between this and what the PEs of the new team store here. */
    for (unsigned k = 0; k < w->teams.rounds; k++)
        atomic_store_explicit(&words(w, w->job.node_my_pe, t, k)->event.value, 0, memory_order_relaxed);
    rmai_mailbox_clear(mailbox(w, number_of(w, t)));
    return RMA_SUCCESS;
}

/* Makes `made` the team with this number here; made->n is 0 on PEs that are not in it, which may have another of this
 * number. All of the parent meet. */
static int found(struct rmai_world *w, const char *call, struct rmai_team *parent, int number, struct rmai_team *made,
                 rma_team **team) {
    struct rmai_team *t = &w->teams.team[number];
    struct proposal p = {0};
    int code = made->n < 0 ? rmai_error(RMA_ERR_NO_MEM, "%s: no memory for the PEs of a team", call) : RMA_SUCCESS;
    if (made->n > 0) code = prepare(w, call, t);
    if (made->n > 0 && code == RMA_SUCCESS) code = rmai_mailbox_open(w, call, made, number);
    code = propose(w, call, parent, code, 0, &p);
    if (code != RMA_SUCCESS) {
        free(made->list);
        rmai_mailbox_close(&made->near);
    }
    if (code != RMA_SUCCESS || !made->n) return code;
    *t = *made;
    rmai_group_none(&t->group);
    t->generation = ++generations;
    t->live = 1;
    w->teams.free &= ~((uint64_t)1 << number);
    *team = rmai_team_handle(w, t);
    return RMA_SUCCESS;
}

static void let_go(struct rmai_world *w, struct rmai_team *t) {
    if (t->list != w->job.node_pes) free(t->list);
    t->list = NULL;
    rmai_mailbox_close(&t->near);
    rmai_group_close(&t->group);
    t->live = 0;
    w->teams.free |= (uint64_t)1 << number_of(w, t);
}

/* The number of this PE among the parent's PEs start, start + stride, ..., or -1. */
static int index_in(const struct rmai_team *parent, int start, int stride, int n) {
    int i = parent->me - start;
    return i % stride == 0 && i / stride >= 0 && i / stride < n ? i / stride : -1;
}

/* These PEs, as this PE is in them: n is 0 if it is not, -1 without memory. */
static struct rmai_team part(const struct rmai_team *parent, int start, int stride, int n) {
    struct rmai_team t = {.n = n, .me = index_in(parent, start, stride, n)};
    int i;
    if (t.me < 0) return (struct rmai_team){0};
    t.start = parent->start + start * parent->stride;
    t.stride = parent->stride * stride;
    if (!parent->list) return t;
    if (!(t.list = malloc((size_t)n * sizeof *t.list))) return (struct rmai_team){.n = -1};
    for (i = 0; i < n; i++) t.list[i] = parent->list[start + i * stride];
    return t;
}

static int check_strided(const char *call, const struct rmai_team *parent, int start, int stride, int size) {
    long long last = start + ((long long)size - 1) * stride;
    if (size < 1) return rmai_error(RMA_ERR_ARG, "%s: size %d is below 1", call, size);
    if (start < 0 || start >= parent->n)
        return rmai_error(RMA_ERR_PE, "%s: start %d is outside 0..%d of the parent", call, start, parent->n - 1);
    if (stride == 0 && size > 1) return rmai_error(RMA_ERR_ARG, "%s: stride is 0 with a size of %d", call, size);
    if (last < 0 || last >= parent->n)
        return rmai_error(RMA_ERR_PE, "%s: start %d, stride %d, size %d: PE %lld is outside 0..%d of the parent", call,
                          start, stride, size, last, parent->n - 1);
    return RMA_SUCCESS;
}

int rma_team_split_strided(rma_team *parent_team, int start, int stride, int size, rma_team **team) {
    static const char call[] = "rma_team_split_strided";
    static const char *const names[ARGUMENTS] = {"the call", "start", "stride", "size"};
    struct rmai_world *w = &rmai_world;
    struct rmai_team *parent = rmai_team(w, call, parent_team), made;
    struct proposal p = {.low = {1, start, stride, size}, .high = {1, start, stride, size}};
    rma_team *result = RMA_TEAM_INVALID;
    int code, number = 0, joins;
    if (!parent) return rmai_raise(rma_last_code());
    code = team ? check_strided(call, parent, start, stride, size)
                : rmai_error(RMA_ERR_ARG, "%s: team is a null pointer", call);
    if (size == 1) stride = 1; /* it leads nowhere, whatever it is */
    joins = code == RMA_SUCCESS && index_in(parent, start, stride, size) >= 0;
    code = settle(w, call, parent, code, joins, &p, names, &number);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    made = part(parent, start, stride, size);
    code = found(w, call, parent, number, &made, &result);
    if (code == RMA_SUCCESS) *team = result;
    return rmai_raise(code);
}

int rma_team_split_2d(rma_team *parent_team, int xrange, rma_team **xteam, rma_team **yteam) {
    static const char call[] = "rma_team_split_2d";
    static const char *const names[ARGUMENTS] = {"the call", "xrange", "xrange", "xrange"};
    struct rmai_world *w = &rmai_world;
    struct rmai_team *parent = rmai_team(w, call, parent_team), made;
    struct proposal p = {.low = {2, xrange}, .high = {2, xrange}};
    rma_team *x = RMA_TEAM_INVALID, *y = RMA_TEAM_INVALID;
    int code = RMA_SUCCESS, number = 0, n, row, column;
    if (!parent) return rmai_raise(rma_last_code());
    if (!xteam || !yteam) code = rmai_error(RMA_ERR_ARG, "%s: %s is a null pointer", call, xteam ? "yteam" : "xteam");
    if (code == RMA_SUCCESS && xrange < 1) code = rmai_error(RMA_ERR_ARG, "%s: xrange %d is below 1", call, xrange);
    code = settle(w, call, parent, code, 1, &p, names, &number);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    n = parent->n;
    if (xrange > n) xrange = n;
    row = parent->me / xrange;
    column = parent->me % xrange;
    made = part(parent, row * xrange, 1, xrange < n - row * xrange ? xrange : n - row * xrange);
    code = found(w, call, parent, number, &made, &x);
    p = (struct proposal){0};
    if (code == RMA_SUCCESS) code = settle(w, call, parent, code, 1, &p, names, &number);
    if (code == RMA_SUCCESS) {
        made = part(parent, column, xrange, (n - column + xrange - 1) / xrange);
        code = found(w, call, parent, number, &made, &y);
    }
    if (code != RMA_SUCCESS) {
        if (x != RMA_TEAM_INVALID) let_go(w, &w->teams.team[((uintptr_t)x & 0xffff) - 1]);
        return rmai_raise(code);
    }
    *xteam = x;
    *yteam = y;
    return RMA_SUCCESS;
}

int rma_team_destroy(rma_team *team) {
    static const char call[] = "rma_team_destroy";
    struct rmai_world *w = &rmai_world;
    struct rmai_team *t;
    int code, met;
    if (team == RMA_TEAM_INVALID) return RMA_SUCCESS;
    t = rmai_team(w, call, team);
    if (!t) return rmai_raise(rma_last_code());
    if (number_of(w, t) <= RMAI_TEAM_SHARED)
        return rmai_raise(rmai_error(RMA_ERR_ARG, "%s: %s_TEAM_%s is always there", call,
                                     rmai_error_of_shmem(call) ? "SHMEM" : "RMA",
                                     number_of(w, t) == RMAI_TEAM_WORLD ? "WORLD" : "SHARED"));
    code = rmai_contexts_end(w, call, t);
    met = rmai_team_meet(w, call, t, NULL, 0, NULL);
    let_go(w, t);
    return rmai_raise(code != RMA_SUCCESS ? code : met);
}

void rmai_teams_close(struct rmai_world *w) {
    for (int i = 0; i < RMAI_TEAMS; i++)
        if (w->teams.team[i].live) let_go(w, &w->teams.team[i]);
}

/* The words, and the mailboxes, of the first numbers follow each other. */
int rmai_teams_commit(struct rmai_world *w) {
    const size_t teams = RMAI_TEAM_SHARED + 1;
    int code = rmai_commit(&w->reservation, rmai_header(&w->job, w->job.node_my_pe),
                           WORDS_AT + teams * words_of(rounds_of(w->job.n_pes)));
    return code == RMA_SUCCESS
               ? rmai_commit(&w->reservation, mailbox(w, RMAI_TEAM_WORLD), teams * sizeof(struct rmai_mailbox))
               : code;
}

int rmai_teams_open(struct rmai_world *w) {
    struct rmai_teams *all = &w->teams;
    int step = w->job.node_n_pes > 1 ? w->job.node_pes[1] - w->job.node_pes[0] : 1, regular = 1, code;
    memset(all, 0, sizeof *all);
    all->rounds = rounds_of(w->job.n_pes);
    all->free = ~(uint64_t)3;
    all->committed = 3;
    all->team[RMAI_TEAM_WORLD] = (struct rmai_team){.stride = 1, .n = w->job.n_pes, .me = w->job.my_pe, .live = 1};
    for (int i = 1; i < w->job.node_n_pes; i++) regular &= w->job.node_pes[i] - w->job.node_pes[i - 1] == step;
    all->team[RMAI_TEAM_SHARED] = (struct rmai_team){
        .start = w->job.node_pes[0], .stride = step, .n = w->job.node_n_pes, .me = w->job.node_my_pe, .live = 1};
    if (!regular) all->team[RMAI_TEAM_SHARED].list = w->job.node_pes;
    rmai_group_none(&all->team[RMAI_TEAM_WORLD].group);
    rmai_group_none(&all->team[RMAI_TEAM_SHARED].group);
    code = rmai_mailbox_open(w, "rma_init", &all->team[RMAI_TEAM_WORLD], RMAI_TEAM_WORLD);
    return code == RMA_SUCCESS ? rmai_mailbox_open(w, "rma_init", &all->team[RMAI_TEAM_SHARED], RMAI_TEAM_SHARED)
                               : code;
}
