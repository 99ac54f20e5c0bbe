/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts, gets, atomics, puts with a signal, allocations, quiets and mistakes of each PE at random other PEs, mixed with
 * periods in which a PE computes and serves nobody.
 *
 * The model: each PE has at every other PE a slot that only it writes. Between two quiets a PE writes no byte of a slot
 * twice; after a quiet the slot must hold exactly the data that were put. Words to which all PEs add must hold the sum
 * in the end; if all add 1 to a word, each PE must get a different old value. A PE that sees a signal must see the data
 * before it. A mistake must be reported: at once by a call that waits, by the next quiet for one that does not. */
#include "config.h"

#include "base/error.h"
#include "rma.h"
#include "runtime/net/group.h"
#include "runtime/net/op.h"
#include "runtime/net/stream.h"
#include "runtime/net/progress.h"
#include "test/sim/bare.h"
#include "test/sim/scenario.h"
#include "test/unit/ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPERATIONS   60
#define WORDS        16   /* to which all PEs add */
#define TICKETS      15   /* the last of them: to which all add 1 */
#define SIGNALS      8    /* puts with a signal of one PE to another, at most */
#define SIGNAL_DATA  256  /* bytes of one, at most, */
#define SIGNAL_LONG  6000 /* or of the last one */
#define GET_LONG     5000
#define AREA         ((size_t)14 << 10) /* for puts, in a slot */
#define SLOT         (8 + (SIGNALS - 1) * SIGNAL_DATA + SIGNAL_LONG + AREA)
#define MOST_LATER   200 /* gets under way */
#define TICKETS_MOST 1024

/* What one PE knows of its slot at another one. */
struct mirror {
    unsigned char area[AREA];
    size_t used;   /* bytes from the beginning that were put since the last quiet */
    int got;       /* something is being got: nothing is put before the quiet */
    int signalled; /* puts with a signal */
};

struct shared {
    int n;
    uint64_t seed;
    uint64_t *sum;         /* WORDS for each PE: what was added */
    unsigned char *ticket; /* TICKETS_MOST for each PE: old values that somebody has got */
    uint64_t *tickets;     /* for each PE: how many were drawn */
};

/* A get under way. */
struct later {
    unsigned char data[GET_LONG];
    const unsigned char *expect;
    size_t len;
};

struct actor {
    struct sim_pe *pe;
    struct sim_bare *bare; /* of pe */
    struct shared *shared;
    uint64_t random;
    struct mirror *mirror; /* for each PE */
    struct later later[MOST_LATER];
    int n_later;
    int mistakes;           /* puts that will fail, and that only a quiet tells of */
    unsigned char *sources; /* of puts that do not wait: in use until quiet */
    size_t sources_used;
    int seen[64]; /* signals of each PE that were looked at */
};

#define SOURCES ((size_t)64 << 10)

static size_t words_at(void) { return 0; }
static size_t slot_at(int of) { return WORDS * 8 + (size_t)of * SLOT; }
static size_t area_at(int of) { return slot_at(of) + 8 + (SIGNALS - 1) * SIGNAL_DATA + SIGNAL_LONG; }
static size_t signal_data_at(int of, int k) { return slot_at(of) + 8 + (size_t)k * SIGNAL_DATA; }

static size_t memory_of(int n_pes) {
    return (slot_at(n_pes) + SIM_BLOCK) / SIM_BLOCK * SIM_BLOCK + SIM_BLOCKS * SIM_BLOCK;
}

static uint64_t pick(struct actor *a, uint64_t n) { return sim_random(&a->random) % n; }

static unsigned char signal_byte(int from, int to, int k, size_t i) {
    return (unsigned char)((unsigned)from * 31 + (unsigned)to * 17 + (unsigned)k * 7 + i + 1);
}
static size_t signal_len(int from, int to, int k) {
    return 1 + (size_t)(from * 53 + to * 19 + k * 101) % (k == SIGNALS - 1 ? SIGNAL_LONG : SIGNAL_DATA);
}

/* ---- looking at what others have done ---- */

static void look_at_signals(struct actor *a) {
    const int me = a->pe->me;
    for (int from = 0; from < a->shared->n; from++) {
        uint64_t value;
        memcpy(&value, a->bare->memory + slot_at(from), sizeof value);
        if (value > SIGNALS) sim_fail(a->pe, "the signal of PE %d is %llu", from, (unsigned long long)value);
        for (; from != me && a->seen[from] < (int)value; a->seen[from]++) {
            const int k = a->seen[from];
            const unsigned char *data = a->bare->memory + signal_data_at(from, k);
            for (size_t i = 0; i < signal_len(from, me, k); i++)
                if (data[i] != signal_byte(from, me, k, i))
                    sim_fail(a->pe, "signal %d of PE %d is here, and byte %zu of its data is not", k, from, i);
        }
    }
}

static void check_mirror(struct actor *a, int to) {
    const unsigned char *area = sim_bare(sim_of(a->pe, to))->memory + area_at(a->pe->me);
    for (size_t i = 0; i < AREA; i++)
        if (area[i] != a->mirror[to].area[i])
            sim_fail(a->pe, "after a quiet byte %zu of its slot at PE %d is %d, not %d", i, to, area[i],
                     a->mirror[to].area[i]);
}

/* ---- what a PE does ---- */

static void do_quiet(struct actor *a) {
    sim_log(a->pe, "quiet");
    sim_expect(a->pe, "quiet", rmai_net_quiet("rma_quiet", a->bare->set));
    if (a->bare->complete != RMA_ALL_COMPLETE_) sim_fail(a->pe, "something is pending after a quiet");
    for (int to = 0; to < a->shared->n; to++) {
        if (to == a->pe->me) continue;
        if (a->mirror[to].used) check_mirror(a, to);
        a->mirror[to].used = 0;
        a->mirror[to].got = 0;
    }
    for (int i = 0; i < a->n_later; i++)
        if (memcmp(a->later[i].data, a->later[i].expect, a->later[i].len) != 0)
            sim_fail(a->pe, "a get of %zu bytes is wrong after the quiet", a->later[i].len);
    a->n_later = 0;
    a->sources_used = 0;
}

static void do_put(struct actor *a, int to) {
    static const size_t lengths[] = {1, 8, 100, 1000, 3969, 5000, 9000};
    struct mirror *m = &a->mirror[to];
    const enum rmai_when when = (enum rmai_when)pick(a, 3);
    size_t len = when == RMAI_COPIED ? 1 + pick(a, 8) : lengths[pick(a, sizeof lengths / sizeof *lengths)], at;
    unsigned char *source;
    if (m->got || m->used + len > AREA || a->sources_used + len > SOURCES) do_quiet(a);
    at = m->used;
    source = a->sources + a->sources_used;
    for (size_t i = 0; i < len; i++) source[i] = (unsigned char)sim_random(&a->random);
    memcpy(m->area + at, source, len);
    m->used += len;
    sim_log(a->pe, "puts %zu bytes to PE %d, %s", len, to, when == RMAI_NOW ? "waits" : "goes on");
    sim_expect(a->pe, "put", op_put("rma_put", a->bare->set, to, area_at(a->pe->me) + at, source, len, when));
    if (when == RMAI_LATER)
        a->sources_used += len;
    else
        memset(source, 0xee, len); /* it is free again */
}

/* Of what was in the slot at the last quiet. */
static void do_get(struct actor *a, int to, size_t most, int later) {
    struct mirror *m = &a->mirror[to];
    const size_t len = 1 + pick(a, most);
    struct later *l = &a->later[a->n_later];
    size_t at;
    if (a->n_later == MOST_LATER) {
        do_quiet(a);
        return;
    }
    if (m->used + len > AREA) return;
    at = m->used + pick(a, AREA + 1 - m->used - len);
    sim_log(a->pe, "gets %zu bytes of PE %d, %s", len, to, later ? "goes on" : "waits");
    sim_expect(
        a->pe, "get",
        op_get("rma_get", a->bare->set, to, area_at(a->pe->me) + at, l->data, len, later ? RMAI_LATER : RMAI_NOW));
    l->expect = m->area + at;
    l->len = len;
    if (later)
        m->got = 1, a->n_later++;
    else if (memcmp(l->data, l->expect, len) != 0)
        sim_fail(a->pe, "a get of %zu bytes of PE %d is wrong", len, to);
}

static void do_add(struct actor *a, int to) {
    const uint64_t word = pick(a, TICKETS), value = pick(a, 1000);
    a->shared->sum[to * WORDS + (int)word] += value;
    sim_log(a->pe, "adds to word %d of PE %d", (int)word, to);
    sim_expect(
        a->pe, "add",
        op_atomic("rma_atomic_add", a->bare->set, to, words_at() + word * 8, RMA_FETCH_ADD_, 8, value, 0, NULL, 1));
}

static void do_ticket(struct actor *a, int to) {
    uint64_t old = UINT64_MAX;
    if (a->shared->tickets[to] == TICKETS_MOST) return;
    a->shared->tickets[to]++;
    sim_log(a->pe, "draws a ticket of PE %d", to);
    sim_expect(a->pe, "fetch-add",
               op_atomic("rma_atomic_fetch_add", a->bare->set, to, words_at() + TICKETS * 8, RMA_FETCH_ADD_, 8, 1, 0,
                         &old, 0));
    if (old >= TICKETS_MOST || a->shared->ticket[(size_t)to * TICKETS_MOST + old])
        sim_fail(a->pe, "the ticket %llu of PE %d is there twice, or is none", (unsigned long long)old, to);
    a->shared->ticket[(size_t)to * TICKETS_MOST + old] = 1;
}

static void do_signal(struct actor *a, int to) {
    struct mirror *m = &a->mirror[to];
    const int me = a->pe->me, k = m->signalled;
    unsigned char data[SIGNAL_LONG];
    if (k == SIGNALS) return;
    m->signalled++;
    for (size_t i = 0; i < signal_len(me, to, k); i++) data[i] = signal_byte(me, to, k, i);
    sim_log(a->pe, "puts signal %d to PE %d", k, to);
    sim_expect(a->pe, "put with a signal",
               op_put_signal("rma_put_signal", a->bare->set, to, signal_data_at(me, k), data, signal_len(me, to, k),
                             slot_at(me), RMA_FETCH_ADD_, 8, 1, RMAI_NOW));
    memset(data, 0xee, sizeof data);
}

static void do_block(struct actor *a, int to) {
    uint64_t block = 0;
    int code = rmai_net_alloc("rma_alloc_mem_on", a->bare->set, to, 1 + pick(a, SIM_BLOCK), &block);
    if (code == RMA_ERR_NO_MEM) return; /* other PEs have them all */
    sim_expect(a->pe, "allocation", code);
    if (pick(a, 2)) sim_sleep(a->pe, pick(a, 100));
    sim_expect(a->pe, "free", rmai_net_free("rma_gptr_free", a->bare->set, to, block));
}

/* Attached memory may vanish at any time: a call succeeds, or says that nothing is there. */
static void do_vanishing(struct actor *a, int to) {
    const size_t len = pick(a, 2) ? 8 : GET_LONG;
    unsigned char *data = a->sources + a->sources_used;
    int code;
    if (a->sources_used + GET_LONG > SOURCES) do_quiet(a), data = a->sources;
    sim_log(a->pe, "moves %zu bytes of memory of PE %d that may vanish", len, to);
    if (pick(a, 2))
        code = op_get("rma_get", a->bare->set, to, SIM_VANISHING, data, len, RMAI_NOW);
    else
        code = op_put("rma_put", a->bare->set, to, SIM_VANISHING, data, len, RMAI_NOW);
    if (code != RMA_SUCCESS && code != RMA_ERR_ADDRESS)
        sim_fail(a->pe, "memory that may vanish: %d: %s", code, rma_last_error());
}

static void do_mistake(struct actor *a, int to) {
    const uint64_t nowhere = RMA_GPTR_ATTACHED_ + pick(a, 4096) * 8; /* where nothing is attached */
    const size_t len = pick(a, 2) ? 8 : GET_LONG;
    unsigned char *data = a->sources + a->sources_used;
    char words[32];
    int code;
    if (a->sources_used + GET_LONG > SOURCES) do_quiet(a), data = a->sources;
    sim_log(a->pe, "makes a mistake at PE %d", to);
    if (pick(a, 2))
        code = op_get("rma_get", a->bare->set, to, nowhere, data, len, RMAI_NOW);
    else
        code = op_put("rma_put", a->bare->set, to, nowhere, data, len, RMAI_NOW);
    snprintf(words, sizeof words, "has no %zu bytes", len);
    if (code != RMA_ERR_ADDRESS || !strstr(rma_last_error(), words))
        sim_fail(a->pe, "a put or get where nothing is attached: %d: %s", code, rma_last_error());
}

static void do_one(struct actor *a) {
    const int n = a->shared->n;
    int to = (int)pick(a, (uint64_t)n - 1), other;
    to += to >= a->pe->me;
    other = to >= RMAI_STREAMS ? to - RMAI_STREAMS : to;
    switch (pick(a, 16)) {
        case 0:
        case 1:
        case 2: do_put(a, to); break;
        case 3:
            for (uint64_t i = pick(a, 3) ? 0 : pick(a, 40); i < 40; i++)
                do_get(a, to, pick(a, 4) ? 256 : GET_LONG, pick(a, 3) > 0);
            if (pick(a, 3) == 0)
                for (int i = 0; i < 150; i++) do_get(a, to, 8, 1); /* more than a message has places for */
            break;
        case 4:
        case 5:
        case 6: do_add(a, to); break;
        case 7:
            /* More than a message has room for; also in turn at two PEs that share a stream. */
            for (int i = 0; i < 300; i++) do_add(a, i % 4 == 0 && other != a->pe->me ? other : to);
            break;
        case 8:
        case 9: do_ticket(a, to); break;
        case 10: do_signal(a, to); break;
        case 11: do_block(a, to); break;
        case 12: do_quiet(a); break;
        case 13: sim_sleep(a->pe, pick(a, 2000)); break;
        case 14: rmai_net_progress(a->bare->net, 0); break;
        default:
            if (pick(a, 4) == 0) do_mistake(a, to);
            if (pick(a, 4) == 0) do_vanishing(a, to);
    }
    look_at_signals(a);
}

static void check_words(struct actor *a) {
    const int me = a->pe->me;
    for (int word = 0; word < WORDS; word++) {
        const uint64_t sum = word == TICKETS ? a->shared->tickets[me] : a->shared->sum[me * WORDS + word];
        uint64_t is;
        memcpy(&is, a->bare->memory + words_at() + (size_t)word * 8, sizeof is);
        if (is != sum)
            sim_fail(a->pe, "word %d is %llu in the end, not %llu", word, (unsigned long long)is,
                     (unsigned long long)sum);
    }
}

static void run_actor(struct sim_pe *pe, void *context) {
    struct shared *shared = context;
    struct rmai_group all = {
        .net = sim_bare(pe)->net, .tag = RMAI_LEADERS_TAG, .n = shared->n, .me = pe->me, .stride = 1};
    struct actor *a = calloc(1, sizeof *a);
    a->pe = pe;
    a->bare = sim_bare(pe);
    a->shared = shared;
    a->random = shared->seed * 1000003 + (uint64_t)pe->me;
    a->mirror = calloc((size_t)shared->n, sizeof *a->mirror);
    a->sources = malloc(SOURCES);
    for (int i = 0; i < OPERATIONS; i++) do_one(a);
    do_quiet(a);
    sim_expect(a->pe, "meeting", rmai_group_meet(&all, "rma_barrier_all"));
    check_words(a);
    look_at_signals(a);
    if (a->bare->free_blocks != UINT64_MAX) sim_fail(pe, "blocks that others have freed are not free");
    sim_expect(a->pe, "meeting", rmai_group_meet(&all, "rma_barrier_all")); /* a PE that is through serves nobody */
    free(a->sources);
    free(a->mirror);
    free(a);
}

static void prepare(struct sim_options *options) {
    options->layer = &sim_bare_layer;
    options->memory = memory_of(options->n_pes);
}

static void *begin(const struct sim_options *options) {
    const int n_pes = options->n_pes;
    struct shared *shared = calloc(1, sizeof *shared);
    shared->n = n_pes;
    shared->seed = options->seed;
    shared->sum = calloc((size_t)n_pes * WORDS, sizeof *shared->sum);
    shared->ticket = calloc((size_t)n_pes, TICKETS_MOST);
    shared->tickets = calloc((size_t)n_pes, sizeof *shared->tickets);
    return shared;
}

static void end(void *context) {
    struct shared *shared = context;
    free(shared->tickets);
    free(shared->ticket);
    free(shared->sum);
    free(shared);
}

const struct scenario scenario_requests = {.name = "requests",
                                           .what =
                                               "puts, gets, atomics, signals, allocations and mistakes at random PEs",
                                           .least_pes = 2,
                                           .most_pes = 64,
                                           .prepare = prepare,
                                           .begin = begin,
                                           .program = run_actor,
                                           .end = end};
