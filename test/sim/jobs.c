/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole programs: each PE calls rma_init, goes through phases that all PEs choose alike, and calls rma_finalize. PEs
 * are on nodes of one or several PEs, roomy or crowded, with the library's threads or without them, and compute in
 * between.
 *
 * The model: after a quiet a slot at another PE, which only this PE writes, holds the data that were put. Words to
 * which all PEs add hold the sum in the end, and if all add 1 to a word, each PE gets a different old value. A PE that
 * sees a signal sees its data. One PE at a time holds a lock, and the guarded word counts every turn. Collectives give
 * the result of a loop over all PEs. Symmetric blocks have one offset on all PEs, and keep their contents. A wrong
 * argument on one PE, or a lack of memory there, is an error on all. Sections, lists and accumulates: shapes.c. */
#include "config.h"

#include "test/sim/jobs.h"
#include "base/error.h"
#include "rma.h"
#include "runtime/header.h"
#include "runtime/job/traffic.h"
#include "runtime/net/state.h"
#include "runtime/node/barrier.h"
#include "runtime/team.h"
#include "runtime/world.h"
#include "test/sim/scenario.h"
#include "test/sim/shapes.h"
#include "test/sim/whole.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define WORDS        4
#define DATA         112 /* bytes of a slot */
#define DATA_LONG    6000
#define TICKETS_MOST 4096
#define PHASES       6
#define HELPERS      2  /* threads of a program beside its first one, at most */
#define LOCKERS      32 /* PEs that take a lock, about; PEs in a ring that goes round several times, at most */
#define BURST        220
/* Broadcasts: from a root to its leader through a mailbox of 64 slots (RMAI_SLOTS), 64 between leaders until they meet,
 * and as many through the mailbox of the other node. */
#define AHEAD_MOST         (3 * 64)
#define COLLECT_MOST       3000 /* bytes of one PE in a collective */
#define SERVED_GETS        40
#define SERVED_WITHIN      40000000  /* nanoseconds: so much less than a long sleep of the progress thread for each */
#define UNDISTURBED        120000000 /* after which the thread's sleeps are the longest */
#define FREE_LOCK_PATIENCE 5000      /* nanoseconds that a test of a free lock takes at least before it gives up, */
#define FREE_LOCK_TRIES    100       /* and how many such tests may give up, one after the other */

/* What PE `of` writes at another one. */
struct slot {
    unsigned char data[DATA];
    uint64_t signal, spare;
};

/* Symmetric. */
struct board {
    uint64_t sum[WORDS], ticket, ticket_of_moves, turn, guarded, signal, hello, freed;
    rma_lock_t lock;
    unsigned char data[DATA_LONG]; /* of who gives the signal */
    struct slot slot[];            /* for each PE */
};

struct shared {
    int n;
    uint64_t seed;
    uint64_t (*sum)[WORDS]; /* for each PE: what was added */
    unsigned char *ticket;  /* TICKETS_MOST for each PE: old values that somebody has got */
    int holder;             /* 1 + the PE that has the lock */
    uint64_t guarded;       /* turns with the lock */
    uint64_t turns;         /* of the ring so far */
    int *burst;             /* broadcasts of a burst that each PE has been through */
    size_t offset;          /* of the present symmetric block, as the first PE has got it; SIZE_MAX: nobody has yet */
    size_t heap;            /* bytes of that PE's symmetric heap */
};

struct actor {
    struct sim_pe *pe;
    struct shared *shared;
    struct board *board;
    int me, n;
    uint64_t common, own; /* random numbers: those of all PEs are alike, or this PE's own */
    uint32_t *version;    /* for each PE: of what this one has put there last; 0: nothing */
    unsigned char source[2][DATA];
    int dirty; /* there may be puts under way */
    uint64_t signals, long_signals, sessions, ordered;
    int multiple; /* the program has several threads */
};

static uint64_t together(struct actor *a, uint64_t n) { return sim_random(&a->common) % n; }
static uint64_t alone(struct actor *a, uint64_t n) { return sim_random(&a->own) % n; }

static int another_pe(struct actor *a) {
    const int to = (int)alone(a, (uint64_t)a->n - 1);
    return to + (to >= a->me);
}

static unsigned char byte_of(int from, int to, uint32_t version, size_t i) {
    return (unsigned char)((unsigned)from * 31 + (unsigned)to * 17 + version * 7 + i * 3 + 1);
}

/* Where a symmetric address of this PE is on PE `to`, in this process: for looking only. */
static const void *there(const struct actor *a, const void *here, int to) {
    return sim_world(sim_of(a->pe, to))->symmetric.base + ((const char *)here - rmai_world.symmetric.base);
}

/* ---- one-sided ---- */

static void do_quiet(struct actor *a) {
    sim_log(a->pe, "quiet");
    sim_expect(a->pe, "rma_quiet", rma_quiet());
    a->dirty = 0;
    for (int to = 0; to < a->n; to++) {
        const struct slot *slot;
        if (!a->version[to]) continue;
        slot = there(a, &a->board->slot[a->me], to);
        for (size_t i = 0; i < DATA; i++)
            if (slot->data[i] != byte_of(a->me, to, a->version[to], i))
                sim_fail(a->pe, "after a quiet byte %zu of its slot at PE %d is not of version %u", i, to,
                         a->version[to]);
    }
}

static void do_put(struct actor *a, int to) {
    unsigned char *source = a->source[a->dirty];
    const int later = (int)alone(a, 2);
    if (a->dirty) do_quiet(a);
    a->version[to]++;
    for (size_t i = 0; i < DATA; i++) source[i] = byte_of(a->me, to, a->version[to], i);
    sim_log(a->pe, "puts to PE %d, %s", to, later ? "goes on" : "waits");
    if (later)
        sim_expect(a->pe, "rma_put_nbi", rma_put_nbi(a->board->slot[a->me].data, source, DATA, to));
    else
        sim_expect(a->pe, "rma_put", rma_put(a->board->slot[a->me].data, source, DATA, to));
    a->dirty = 1;
    if (!later) memset(source, 0xee, DATA);
    if (alone(a, 3) == 0) sim_expect(a->pe, "rma_fence", rma_fence());
}

static void do_get(struct actor *a, int to) {
    unsigned char data[DATA];
    if (a->dirty) do_quiet(a);
    if (!a->version[to]) return;
    sim_expect(a->pe, "rma_get", rma_get(data, a->board->slot[a->me].data, DATA, to));
    for (size_t i = 0; i < DATA; i++)
        if (data[i] != byte_of(a->me, to, a->version[to], i)) sim_fail(a->pe, "a get of PE %d is wrong", to);
}

static void do_add(struct actor *a, int to) {
    const uint64_t word = alone(a, WORDS), value = alone(a, 1000);
    a->shared->sum[to][word] += value;
    rma_atomic_add_uint64(&a->board->sum[word], value, to);
}

static void do_ticket(struct actor *a, int to) {
    const uint64_t old = rma_atomic_fetch_add_uint64(&a->board->ticket, 1, to);
    unsigned char *taken = &a->shared->ticket[(size_t)to * TICKETS_MOST];
    if (old >= TICKETS_MOST || taken[old])
        sim_fail(a->pe, "the ticket %llu of PE %d is there twice, or is none", (unsigned long long)old, to);
    taken[old] = 1;
}

static void do_block(struct actor *a, int to) {
    const size_t size = 1 + (size_t)alone(a, alone(a, 8) ? 300 : 200000);
    unsigned char *out, *in;
    const int waits = alone(a, 3) > 0;
    rma_gptr_t g;
    const int code = rma_alloc_mem_on(to, size, &g);
    if (code == RMA_ERR_NO_MEM) return;
    sim_expect(a->pe, "rma_alloc_mem_on", code);
    out = malloc(size);
    in = malloc(size);
    for (size_t i = 0; i < size; i++) out[i] = (unsigned char)alone(a, 256);
    sim_expect(a->pe, "rma_gptr_put", rma_gptr_put(g, out, size));
    if (waits) { /* else the block is given back while the put may be under way, which must not come after that */
        sim_expect(a->pe, "rma_quiet", rma_quiet());
        sim_expect(a->pe, "rma_gptr_get", rma_gptr_get(in, g, size));
        if (memcmp(in, out, size) != 0) sim_fail(a->pe, "a block on PE %d does not hold what was put", to);
    }
    sim_expect(a->pe, "rma_gptr_free", rma_gptr_free(g));
    free(out);
    free(in);
    if (!waits && alone(a, 3)) do_block(a, to); /* which often gets the same one */
}

/* ---- long and short, in a context ---- */

#define MOVES       64 /* under way, at most */
#define BURST_MOVES 40

/* What was put, or is being got. */
struct move {
    int to, is_get;
    size_t at, len;
    uint32_t version;
    unsigned char *data;
};

/* Who moves data between private memory and a lane of a symmetric block, which on all PEs is this mover's alone. */
struct mover {
    rma_ctx *ctx;
    unsigned char *lane;
    size_t size, used; /* bytes of the lane at all PEs, from the first one, that something was put to since the quiet */
    uint32_t version;
    struct move move[MOVES];
    int n;
};

static void forget_moves(struct mover *m) {
    for (int i = 0; i < m->n; i++) free(m->move[i].data);
    m->n = 0;
    m->used = 0;
}

/* What was put is there. */
static void check_puts(struct actor *a, const struct mover *m) {
    for (int i = 0; i < m->n; i++) {
        const struct move *o = &m->move[i];
        const unsigned char *data = there(a, m->lane + o->at, o->to);
        for (size_t k = 0; !o->is_get && k < o->len; k++)
            if (data[k] != byte_of(a->me, o->to, o->version, o->at + k))
                sim_fail(a->pe, "byte %zu of %zu put to PE %d, which are complete, is not there", k, o->len, o->to);
    }
}

static void complete_moves(struct actor *a, struct mover *m) {
    sim_log(a->pe, "completes what it moves");
    sim_expect(a->pe, "rma_ctx_quiet", rma_ctx_quiet(m->ctx));
    check_puts(a, m);
    for (int i = 0; i < m->n; i++) {
        const struct move *o = &m->move[i];
        for (size_t k = 0; o->is_get && k < o->len; k++)
            if (o->data[k] != byte_of(a->me, o->to, o->version, o->at + k))
                sim_fail(a->pe, "byte %zu of %zu got from PE %d, a get that is complete, is wrong", k, o->len, o->to);
    }
    forget_moves(m);
}

/* Mostly short, or between the lengths at which the ways change. */
static size_t length_of_move(struct actor *a, size_t most) {
    static const size_t usual[] = {8, 64, 100, 1024, 5000, 20000, 100000};
    const size_t len = 1 + alone(a, usual[alone(a, sizeof usual / sizeof *usual)]);
    return len < most ? len : most;
}

static void begin_put(struct actor *a, struct mover *m, size_t most, int later) {
    struct move o = {.to = another_pe(a), .version = ++m->version};
    o.len = length_of_move(a, m->size - m->used < most ? m->size - m->used : most);
    o.at = m->size - m->used - o.len ? m->used + alone(a, m->size - m->used - o.len) % 100 : m->used;
    o.data = malloc(o.len);
    for (size_t k = 0; k < o.len; k++) o.data[k] = byte_of(a->me, o.to, o.version, o.at + k);
    m->used = o.at + o.len;
    sim_log(a->pe, "moves %zu bytes to PE %d, %s", o.len, o.to, later ? "goes on" : "waits");
    if (later)
        sim_expect(a->pe, "rma_ctx_put_nbi", rma_ctx_put_nbi(m->ctx, m->lane + o.at, o.data, o.len, o.to));
    else
        sim_expect(a->pe, "rma_ctx_put", rma_ctx_put(m->ctx, m->lane + o.at, o.data, o.len, o.to));
    if (!later) memset(o.data, 0xee, o.len);
    m->move[m->n++] = o;
}

/* Fills the lane at a PE, and gets parts of it. */
static void get_parts(struct actor *a, struct mover *m) {
    const int to = another_pe(a);
    const size_t len = 1 + alone(a, m->size);
    const uint32_t version = ++m->version;
    unsigned char *data = malloc(len);
    complete_moves(a, m);
    for (size_t k = 0; k < len; k++) data[k] = byte_of(a->me, to, version, k);
    sim_expect(a->pe, "rma_ctx_put", rma_ctx_put(m->ctx, m->lane, data, len, to));
    sim_expect(a->pe, "rma_ctx_quiet", rma_ctx_quiet(m->ctx));
    for (int i = (int)alone(a, 4); i >= 0; i--) {
        const int later = (int)alone(a, 2);
        struct move o = {.to = to, .is_get = 1, .version = version};
        o.at = alone(a, len);
        o.len = length_of_move(a, len - o.at);
        o.data = calloc(1, o.len);
        sim_log(a->pe, "gets %zu bytes of PE %d, %s", o.len, to, later ? "goes on" : "waits");
        if (later)
            sim_expect(a->pe, "rma_ctx_get_nbi", rma_ctx_get_nbi(m->ctx, o.data, m->lane + o.at, o.len, to));
        else
            sim_expect(a->pe, "rma_ctx_get", rma_ctx_get(m->ctx, o.data, m->lane + o.at, o.len, to));
        for (size_t k = 0; !later && k < o.len; k++)
            if (o.data[k] != byte_of(a->me, to, version, o.at + k))
                sim_fail(a->pe, "byte %zu of %zu got from PE %d is wrong", k, o.len, to);
        m->move[m->n++] = o;
    }
    complete_moves(a, m);
    free(data);
}

/* An atomic that writes, anywhere, is a release. */
static void release_moves(struct actor *a, struct mover *m) {
    rma_ctx_atomic_fetch_add_uint64(m->ctx, &a->board->ticket_of_moves, 1, another_pe(a));
    check_puts(a, m);
}

static void move_once(struct actor *a, struct mover *m) {
    if (m->size - m->used < 8 || m->n == MOVES) complete_moves(a, m);
    switch (alone(a, 8)) {
        case 0: complete_moves(a, m); break;
        case 1: get_parts(a, m); break;
        case 2: release_moves(a, m); break;
        case 3: sim_sleep(a->pe, alone(a, 20000)); break;
        case 4: /* sources of which the library keeps copies */
            for (int i = 0; i < BURST_MOVES && m->size - m->used >= 8 && m->n < MOVES; i++) begin_put(a, m, 1024, 0);
            break;
        default: begin_put(a, m, SIZE_MAX, (int)alone(a, 2));
    }
}

/* A thread of the program: it uses a context of its own, and the default one. */
struct helper {
    struct actor actor;
    int operations, through;
};

struct moving_helper {
    struct helper helper;
    struct mover mover;
};

static void run_moving_helper(void *context) {
    struct moving_helper *h = context;
    struct actor *a = &h->helper.actor;
    sim_expect(a->pe, "rma_ctx_create", rma_ctx_create(0, &h->mover.ctx));
    for (int i = 0; i < h->helper.operations; i++)
        if (alone(a, 4))
            move_once(a, &h->mover);
        else
            do_block(a, another_pe(a));
    complete_moves(a, &h->mover);
    sim_expect(a->pe, "rma_ctx_destroy", rma_ctx_destroy(h->mover.ctx));
    h->helper.through = 1;
}

/* The symmetric heap grows, and is used where it has grown, while accesses are under way. */
static void grow_heap(struct actor *a) {
    const size_t size = 1 + together(a, 800000);
    const int next = (a->me + 1) % a->n;
    unsigned char *block = rma_malloc(size), word[2] = {(unsigned char)a->me, 0};
    if (!block) sim_fail(a->pe, "rma_malloc of %zu bytes: %s", size, rma_last_error());
    sim_expect(a->pe, "rma_put", rma_put(block + size - 1, word, 1, next));
    sim_expect(a->pe, "rma_barrier_all", rma_barrier_all());
    sim_expect(a->pe, "rma_get", rma_get(word + 1, block + size - 1, 1, next));
    if (word[1] != word[0] || block[size - 1] != (unsigned char)((a->me + a->n - 1) % a->n))
        sim_fail(a->pe, "the last byte of a new block is not what was put there");
    sim_expect(a->pe, "rma_barrier_all", rma_barrier_all());
    if (together(a, 2)) sim_expect(a->pe, "rma_free", rma_free(block));
}

static void move_phase(struct actor *a) {
    struct moving_helper *helper = calloc(HELPERS, sizeof *helper);
    struct mover *m = calloc(1, sizeof *m);
    const int n_helpers = a->multiple ? 1 + (int)together(a, HELPERS) : 0, n_lanes = a->n * (1 + HELPERS);
    const size_t lane = 100 + together(a, a->n > LOCKERS ? 200 : 60000);
    unsigned char *block = rma_malloc(lane * (size_t)n_lanes);
    if (!block) sim_fail(a->pe, "rma_malloc of %zu bytes: %s", lane * (size_t)n_lanes, rma_last_error());
    m->lane = block + lane * (size_t)a->me;
    m->size = lane;
    m->ctx = RMA_CTX_DEFAULT;
    if (alone(a, 2)) sim_expect(a->pe, "rma_ctx_create", rma_ctx_create(0, &m->ctx));
    for (int i = 0; i < n_helpers; i++) {
        helper[i].helper = (struct helper){.actor = *a, .operations = (int)alone(a, 20)};
        helper[i].helper.actor.own = alone(a, UINT64_MAX);
        helper[i].mover = (struct mover){.lane = block + lane * (size_t)(a->n * (1 + i) + a->me), .size = lane};
        sim_add_task(a->pe, run_moving_helper, &helper[i]);
    }
    for (int rounds = (int)together(a, 3); rounds >= 0; rounds--) {
        for (int i = (int)alone(a, 10); i > 0; i--) move_once(a, m);
        if (rounds > 0) grow_heap(a);
    }
    complete_moves(a, m);
    for (int i = 0; i < n_helpers; i++)
        while (!helper[i].helper.through) sim_wait(1000);
    if (m->ctx != RMA_CTX_DEFAULT) sim_expect(a->pe, "rma_ctx_destroy", rma_ctx_destroy(m->ctx));
    sim_expect(a->pe, "rma_free", rma_free(block));
    free(m);
    free(helper);
}

static void run_helper(void *context) {
    struct helper *h = context;
    struct actor *a = &h->actor;
    rma_ctx *ctx;
    sim_expect(a->pe, "rma_ctx_create", rma_ctx_create(0, &ctx));
    for (int i = 0; i < h->operations; i++) {
        const int to = another_pe(a);
        const uint64_t word = alone(a, WORDS), value = alone(a, 1000);
        switch (alone(a, 9)) {
            case 0: do_ticket(a, to); break;
            case 1: do_block(a, to); break;
            case 2: sim_sleep(a->pe, alone(a, 20000)); break;
            case 3: do_add(a, to); break;
            case 4: sim_expect(a->pe, "rma_ctx_quiet", rma_ctx_quiet(ctx)); break;
            case 5:
                sim_expect(a->pe, "rma_ctx_session_start", rma_ctx_session_start(ctx, RMA_CTX_SESSION_BATCH));
                break;
            case 6: sim_expect(a->pe, "rma_ctx_session_stop", rma_ctx_session_stop(ctx)); break;
            default:
                for (int k = 0; k < 20; k++) {
                    a->shared->sum[to][word] += value;
                    rma_ctx_atomic_add_uint64(ctx, &a->board->sum[word], value, to);
                }
        }
    }
    sim_expect(a->pe, "rma_ctx_destroy", rma_ctx_destroy(ctx));
    h->through = 1;
}

/* All PEs call it, when each has completed what it has added. */
static void check_sums(struct actor *a) {
    sim_expect(a->pe, "rma_barrier_all", rma_barrier_all());
    for (int word = 0; word < WORDS; word++)
        if (a->board->sum[word] != a->shared->sum[a->me][word])
            sim_fail(a->pe, "word %d is %llu, not %llu", word, (unsigned long long)a->board->sum[word],
                     (unsigned long long)a->shared->sum[a->me][word]);
    sim_expect(a->pe, "rma_barrier_all", rma_barrier_all()); /* before somebody adds again */
}

static void one_sided_phase(struct actor *a) {
    struct helper helper[HELPERS];
    const int n_helpers = a->multiple ? 1 + (int)together(a, HELPERS) : 0;
    for (int i = 0; i < n_helpers; i++) {
        helper[i] = (struct helper){.actor = *a, .operations = (int)alone(a, 20)};
        helper[i].actor.own = alone(a, UINT64_MAX);
        sim_add_task(a->pe, run_helper, &helper[i]);
    }
    for (int i = (int)together(a, 12); i >= 0; i--) {
        const int to = another_pe(a);
        switch (alone(a, 9)) {
            case 0:
            case 1: do_put(a, to); break;
            case 2: do_get(a, to); break;
            case 3: do_add(a, to); break;
            case 4:
                for (int k = 0; k < 40; k++) do_add(a, to);
                break;
            case 5: do_ticket(a, to); break;
            case 6: do_block(a, to); break;
            case 7: sim_sleep(a->pe, alone(a, alone(a, 8) ? 20000 : 8000000)); break;
            default: do_quiet(a);
        }
    }
    for (int i = 0; i < n_helpers; i++)
        while (!helper[i].through) sim_wait(1000);
    do_quiet(a);
    check_sums(a);
}

static uint64_t puts_through_windows(void) {
    return atomic_load_explicit(&rmai_world.traffic->path[RMA_PATH_WINDOW][RMAI_PUTS], memory_order_relaxed);
}

/* Of what a PE asks of one PE a later call sees what an earlier one has written, whatever way the two go, and whether a
 * session begins or ends in between; but for a put through a window, which a quiet has to complete. */
static void do_in_order(struct actor *a, int to) {
    uint64_t *word = &a->board->slot[a->me].spare, value = ++a->ordered, seen;
    const uint64_t before = puts_through_windows();
    unsigned char data[DATA_LONG];
    sim_log(a->pe, "puts %llu to PE %d and reads it", (unsigned long long)value, to);
    rma_p_uint64(word, value, to);
    if (puts_through_windows() != before) sim_expect(a->pe, "rma_quiet", rma_quiet());
    if (alone(a, 3) == 0) sim_expect(a->pe, "rma_ctx_session_stop", rma_ctx_session_stop(RMA_CTX_DEFAULT));
    if (alone(a, 3) == 0)
        sim_expect(a->pe, "rma_ctx_session_start", rma_ctx_session_start(RMA_CTX_DEFAULT, RMA_CTX_SESSION_BATCH));
    if (alone(a, 2)) {
        seen = rma_atomic_fetch_uint64(word, to);
    } else { /* too long to go by the node; it ends with the word */
        sim_expect(a->pe, "rma_get", rma_get(data, (const unsigned char *)(word + 1) - sizeof data, sizeof data, to));
        memcpy(&seen, data + sizeof data - sizeof seen, sizeof seen);
    }
    if (seen != value)
        sim_fail(a->pe, "PE %d has %llu, not %llu, which was put before", to, (unsigned long long)seen,
                 (unsigned long long)value);
    if (alone(a, 2)) sim_expect(a->pe, "rma_quiet", rma_quiet());
}

/* In a session operations wait for company; but a flag comes though its PE only waits for another one, and calls
 * neither quiet nor stop. */
static void session_phase(struct actor *a) {
    const uint64_t value = ++a->sessions, way = together(a, 3);
    const int next = (a->me + 1) % a->n;
    sim_expect(a->pe, "rma_ctx_session_start", rma_ctx_session_start(RMA_CTX_DEFAULT, RMA_CTX_SESSION_BATCH));
    for (int i = (int)alone(a, 200); i > 0; i--) do_add(a, another_pe(a));
    if (way == 0)
        rma_atomic_set_uint64(&a->board->hello, value, next);
    else if (way == 1)
        rma_p_uint64(&a->board->hello, value, next);
    else
        sim_expect(a->pe, "rma_signal_set", rma_signal_set(&a->board->hello, value, next));
    if (alone(a, 4) == 0) sim_sleep(a->pe, alone(a, 30000));
    rma_wait_until_uint64(&a->board->hello, RMA_CMP_GE, value);
    for (int i = (int)alone(a, 3); i > 0; i--) do_add(a, another_pe(a));
    for (int i = (int)alone(a, 8); i > 0; i--) do_in_order(a, another_pe(a));
    if (alone(a, 2)) sim_expect(a->pe, "rma_ctx_session_stop", rma_ctx_session_stop(RMA_CTX_DEFAULT));
    check_sums(a);
    sim_expect(a->pe, "rma_ctx_session_stop", rma_ctx_session_stop(RMA_CTX_DEFAULT));
}

/* ---- waiting ---- */

/* Every byte of the number of a turn differs from that of the turn before. */
static uint64_t word_of_turn(uint64_t turn) { return turn * 0x0101010101010101; }

/* Waits until the word is no longer that of the turn before, which it is until the next one's has come. */
static void await_turn(struct actor *a, uint64_t turn) {
    const uint64_t before = word_of_turn(turn - 1);
    uint64_t word;
    rma_wait_until_uint64(&a->board->turn, RMA_CMP_NE, before);
    word = __atomic_load_n(&a->board->turn, __ATOMIC_RELAXED);
    if (word != word_of_turn(turn))
        sim_fail(a->pe, "a turn begins with the word %#llx, not %#llx", (unsigned long long)word,
                 (unsigned long long)word_of_turn(turn));
}

/* A number goes round the PEs. */
static void ring_phase(struct actor *a) {
    const uint64_t rounds = 1 + together(a, a->n > LOCKERS ? 1 : 3);
    const int way = (int)together(a, 3), next = (a->me + 1) % a->n;
    for (uint64_t r = 1; r <= rounds; r++) {
        const uint64_t turn = a->shared->turns + r, word = word_of_turn(turn);
        if (a->me > 0 || r > 1) await_turn(a, turn - (a->me == 0));
        if (alone(a, 4) == 0) sim_sleep(a->pe, alone(a, 50000));
        if (way == 0)
            rma_atomic_set_uint64(&a->board->turn, word, next);
        else if (way == 1)
            rma_p_uint64(&a->board->turn, word, next);
        else
            sim_expect(a->pe, "rma_put", rma_put(&a->board->turn, &word, sizeof word, next));
        if (way > 0 && alone(a, 2)) sim_expect(a->pe, "rma_quiet", rma_quiet());
        /* A put that nobody completes would arrive all the same, but may take until this PE is in the library again. */
        if (way > 0) sim_expect(a->pe, "rma_quiet", rma_quiet());
    }
    if (a->me == 0) await_turn(a, a->shared->turns + rounds);
    sim_expect(a->pe, "rma_barrier_all", rma_barrier_all());
    if (a->me == 0) a->shared->turns += rounds;
    sim_expect(a->pe, "rma_sync_all", rma_sync_all());
}

/* A PE that computes is served by its thread, which sleeps long when nothing has come for long, and wakes up often when
 * something has. */
static void served_phase(struct actor *a) {
    const int from = (int)together(a, (uint64_t)a->n);
    unsigned char data[DATA];
    uint64_t begun;
    sim_expect(a->pe, "rma_barrier_all", rma_barrier_all());
    if (!rmai_world.net || !rmai_world.net->helped) return;
    if (a->me == from) {
        const int to = another_pe(a);
        sim_sleep(a->pe, UNDISTURBED);
        begun = sim_time();
        for (int i = 0; i < SERVED_GETS; i++)
            sim_expect(a->pe, "rma_get", rma_get(data, a->board->slot[a->me].data, sizeof data, to));
        if (sim_time() - begun > SERVED_WITHIN && !sim_options_of(a->pe)->n_injections)
            sim_fail(a->pe, "%d gets of PE %d, which computes, take %llu ns", SERVED_GETS, to,
                     (unsigned long long)(sim_time() - begun));
    } else {
        sim_sleep(a->pe, UNDISTURBED + 2 * SERVED_WITHIN);
    }
    sim_expect(a->pe, "rma_barrier_all", rma_barrier_all());
}

/* Each PE puts data with a signal to one, and waits for those of another. */
static void signal_phase(struct actor *a) {
    const int distance = a->n > 1 ? 1 + (int)together(a, (uint64_t)a->n - 1) : 0, add = (int)together(a, 2);
    const int to = (a->me + distance) % a->n, from = (a->me + a->n - distance) % a->n;
    struct slot *mine = &a->board->slot[from];
    unsigned char data[DATA];
    const uint64_t number = ++a->signals;
    sim_expect(a->pe, "rma_sync_all", rma_sync_all());
    if (alone(a, 3) == 0) sim_sleep(a->pe, alone(a, 30000));
    a->version[to]++;
    for (size_t i = 0; i < DATA; i++) data[i] = byte_of(a->me, to, a->version[to], i);
    /* The signals of a slot count how often its PE has given one, and PEs choose alike to whom. */
    sim_expect(a->pe, "rma_put_signal",
               rma_put_signal(a->board->slot[a->me].data, data, DATA, &a->board->slot[a->me].signal,
                              add ? number << 8 : number, RMA_SIGNAL_SET, to));
    memset(data, 0xee, sizeof data);
    rma_signal_wait_until(&mine->signal, RMA_CMP_EQ, add ? number << 8 : number);
    for (size_t i = 1; i < DATA; i++)
        if ((unsigned char)(mine->data[i] - mine->data[i - 1]) != 3)
            sim_fail(a->pe, "the signal of PE %d is here, and byte %zu of its data is not", from, i);
    sim_expect(a->pe, "rma_barrier_all", rma_barrier_all());
}

/* Long data, which go by themselves, and then a signal, which must not come before them. */
static void long_signal_phase(struct actor *a) {
    const int to = (a->me + 1) % a->n, from = (a->me + a->n - 1) % a->n, way = (int)together(a, 3);
    const size_t len = 1 + (size_t)together(a, DATA_LONG);
    const uint64_t number = ++a->long_signals;
    unsigned char *data = malloc(len);
    sim_expect(a->pe, "rma_sync_all", rma_sync_all());
    for (size_t i = 0; i < len; i++) data[i] = byte_of(a->me, to, (uint32_t)number, i);
    if (way == 0) {
        sim_expect(a->pe, "rma_put_signal_nbi",
                   rma_put_signal_nbi(a->board->data, data, len, &a->board->signal, number, RMA_SIGNAL_SET, to));
    } else {
        sim_expect(a->pe, "rma_put_nbi", rma_put_nbi(a->board->data, data, len, to));
        if (way == 1)
            sim_expect(a->pe, "rma_signal_set", rma_signal_set(&a->board->signal, number, to));
        else
            rma_atomic_add_uint64(&a->board->signal, 1, to);
    }
    if (alone(a, 3) == 0) sim_sleep(a->pe, alone(a, 30000));
    rma_signal_wait_until(&a->board->signal, RMA_CMP_GE, number);
    for (size_t i = 0; i < len; i++)
        if (a->board->data[i] != byte_of(from, a->me, (uint32_t)number, i))
            sim_fail(a->pe, "the signal of PE %d is here, and byte %zu of its %zu is not", from, i, len);
    sim_expect(a->pe, "rma_barrier_all", rma_barrier_all());
    free(data);
}

/* A test of a lock that is free, by a PE that hears of it while the holder's message to the home is still on its way.
 * The test reads the tail again and again meanwhile; if the home naps, it may give up, but not soon. */
static void take_free_lock(struct actor *a, int from) {
    for (int tries = 0; tries < FREE_LOCK_TRIES; tries++) {
        const uint64_t begun = sim_time();
        if (rma_test_lock(&a->board->lock)) return;
        if (sim_time() < begun + FREE_LOCK_PATIENCE) break;
        sim_sleep(a->pe, FREE_LOCK_PATIENCE);
    }
    if (!sim_options_of(a->pe)->n_injections) sim_fail(a->pe, "did not get the lock, which PE %d has given up", from);
    /* What the holder sent to the home may be lost: then this wait ends the job, and names a PE. */
    sim_expect(a->pe, "rma_set_lock", rma_set_lock(&a->board->lock));
}

static void free_lock_phase(struct actor *a) {
    const int from = (int)together(a, (uint64_t)a->n), to = (from + 1 + (int)together(a, (uint64_t)a->n - 1)) % a->n;
    if (a->me == from) {
        sim_expect(a->pe, "rma_set_lock", rma_set_lock(&a->board->lock));
        sim_expect(a->pe, "rma_clear_lock", rma_clear_lock(&a->board->lock));
        rma_atomic_set_uint64(&a->board->freed, 1, to);
    } else if (a->me == to) {
        rma_wait_until_uint64(&a->board->freed, RMA_CMP_EQ, 1);
        a->board->freed = 0;
        take_free_lock(a, from);
        sim_expect(a->pe, "rma_clear_lock", rma_clear_lock(&a->board->lock));
    }
    sim_expect(a->pe, "rma_sync_all", rma_sync_all());
}

static void lock_phase(struct actor *a) {
    const int times = 1 + (int)together(a, 3), home = (int)together(a, (uint64_t)a->n);
    const uint64_t before = a->shared->guarded;
    const int takes = a->me % (1 + a->n / LOCKERS) == 0; /* turns with a lock come one after the other, so for some */
    sim_expect(a->pe, "rma_sync_all", rma_sync_all());
    for (int i = 0; takes && i < times; i++) {
        uint64_t value = 0;
        if (alone(a, 4) == 0) sim_sleep(a->pe, alone(a, 30000));
        if (alone(a, 3) == 0) {
            for (uint64_t most = 1000; !rma_test_lock(&a->board->lock); most += most < 200000 ? most / 4 : 0)
                sim_sleep(a->pe, 1 + alone(a, most));
        } else {
            sim_expect(a->pe, "rma_set_lock", rma_set_lock(&a->board->lock));
        }
        if (a->shared->holder) sim_fail(a->pe, "has the lock, which PE %d has, too", a->shared->holder - 1);
        a->shared->holder = 1 + a->me;
        a->shared->guarded++;
        sim_log(a->pe, "has the lock");
        sim_expect(a->pe, "rma_get", rma_get(&value, &a->board->guarded, sizeof value, home));
        if (alone(a, 3) == 0) sim_sleep(a->pe, alone(a, 5000));
        value++;
        sim_expect(a->pe, "rma_put", rma_put(&a->board->guarded, &value, sizeof value, home));
        a->shared->holder = 0;
        sim_expect(a->pe, "rma_clear_lock", rma_clear_lock(&a->board->lock));
    }
    sim_expect(a->pe, "rma_barrier_all", rma_barrier_all());
    if (a->me == home && a->board->guarded != a->shared->guarded - before)
        sim_fail(a->pe, "what the lock guards counts %llu turns of %llu", (unsigned long long)a->board->guarded,
                 (unsigned long long)(a->shared->guarded - before));
    if (a->me == home) a->board->guarded = 0;
    sim_expect(a->pe, "rma_barrier_all", rma_barrier_all());
    if (a->me == 0) a->shared->guarded = 0;
    sim_expect(a->pe, "rma_sync_all", rma_sync_all());
    free_lock_phase(a);
}

/* ---- collectives ---- */

/* On the team of n PEs of which this one is number me; PE i is number start + i * stride of the job. */
static void call_collectives(struct actor *a, rma_team *team, int me, int n, uint64_t salt) {
    uint64_t random = salt;
    const size_t len = 1 + sim_random(&random) % (sim_random(&random) % 3 ? 60 : COLLECT_MOST);
    const int root = (int)(sim_random(&random) % (uint64_t)n);
    unsigned char *out = malloc(len * (size_t)n), *in = malloc(len * (size_t)n);
    long mine[3], total[3];
    for (int k = 0; k < 3; k++) mine[k] = me * 7 + k;
    switch (sim_random(&random) % 6) {
        case 0: sim_expect(a->pe, "rma_team_sync", rma_team_sync(team)); break;
        case 1:
            for (size_t i = 0; i < len; i++) out[i] = byte_of(me, 0, (uint32_t)salt, i);
            sim_expect(a->pe, "rma_broadcast", rma_broadcast(team, in, out, len, root));
            for (size_t i = 0; i < len; i++)
                if (in[i] != byte_of(root, 0, (uint32_t)salt, i)) sim_fail(a->pe, "a broadcast of %zu bytes", len);
            break;
        case 2:
            sim_expect(a->pe, "rma_sum_reduce", rma_sum_reduce_long(team, total, mine, 3));
            for (int k = 0; k < 3; k++)
                if (total[k] != 7L * n * (n - 1) / 2 + (long)k * n) sim_fail(a->pe, "a sum over %d PEs", n);
            break;
        case 3:
            for (size_t i = 0; i < len; i++) out[i] = byte_of(me, 0, (uint32_t)salt, i);
            sim_expect(a->pe, "rma_fcollect", rma_fcollect(team, in, out, len));
            for (size_t i = 0; i < len * (size_t)n; i++)
                if (in[i] != byte_of((int)(i / len), 0, (uint32_t)salt, i % len))
                    sim_fail(a->pe, "an fcollect of %zu bytes", len);
            break;
        case 4:
            for (size_t i = 0; i < len * (size_t)n; i++) out[i] = byte_of(me, (int)(i / len), (uint32_t)salt, i % len);
            sim_expect(a->pe, "rma_alltoall", rma_alltoall(team, in, out, len));
            for (size_t i = 0; i < len * (size_t)n; i++)
                if (in[i] != byte_of((int)(i / len), me, (uint32_t)salt, i % len))
                    sim_fail(a->pe, "an alltoall of %zu bytes", len);
            break;
        default:
            sim_expect(a->pe, "rma_sum_inscan", rma_sum_inscan_long(team, total, mine, 3));
            for (int k = 0; k < 3; k++)
                if (total[k] != 7L * me * (me + 1) / 2 + (long)k * (me + 1)) sim_fail(a->pe, "a scan of PE %d", me);
    }
    free(out);
    free(in);
}

static void collective_phase(struct actor *a) {
    for (int i = (int)together(a, 5); i >= 0; i--) {
        const uint64_t salt = together(a, UINT32_MAX);
        call_collectives(a, RMA_TEAM_WORLD, a->me, a->n, salt);
        if (alone(a, 4) == 0) sim_sleep(a->pe, alone(a, 20000));
    }
}

/* A root sends and goes on; it must not be ahead of the others without a bound. */
static void burst_phase(struct actor *a) {
    const int root = (int)together(a, (uint64_t)a->n);
    sim_expect(a->pe, "rma_sync_all", rma_sync_all());
    a->shared->burst[a->me] = 0;
    sim_expect(a->pe, "rma_sync_all", rma_sync_all());
    if (a->n > LOCKERS) return;
    for (int i = 0; i < BURST; i++) {
        uint64_t word = a->me == root ? (uint64_t)i : UINT64_MAX;
        sim_expect(a->pe, "rma_broadcast", rma_broadcast(RMA_TEAM_WORLD, &word, &word, sizeof word, root));
        if (word != (uint64_t)i) sim_fail(a->pe, "broadcast %d of a burst gives %llu", i, (unsigned long long)word);
        a->shared->burst[a->me] = i + 1;
        for (int pe = 0; a->me == root && pe < a->n; pe++)
            if (i - a->shared->burst[pe] > AHEAD_MOST)
                sim_fail(a->pe, "the root has sent broadcast %d, and PE %d has had %d", i, pe, a->shared->burst[pe]);
        if (a->me != root && alone(a, 16) == 0) sim_sleep(a->pe, alone(a, 100000));
    }
    sim_expect(a->pe, "rma_sync_all", rma_sync_all());
}

static void team_phase(struct actor *a) {
    const int start = (int)together(a, (uint64_t)a->n), most = a->n - start;
    const int stride = 1 + (int)together(a, 3), size = 1 + (int)together(a, (uint64_t)((most - 1) / stride) + 1);
    const uint64_t salt = together(a, UINT32_MAX);
    rma_team *team = NULL;
    sim_expect(a->pe, "rma_team_split_strided", rma_team_split_strided(RMA_TEAM_WORLD, start, stride, size, &team));
    if (team != RMA_TEAM_INVALID) {
        const int me = (a->me - start) / stride;
        for (uint64_t i = 0; i < 1 + salt % 3; i++) call_collectives(a, team, me, size, salt + i);
        if (salt % 2) sim_expect(a->pe, "rma_team_sync", rma_team_sync(team));
        sim_expect(a->pe, "rma_team_destroy", rma_team_destroy(team));
    }
    if (salt % 5 == 0) sim_expect(a->pe, "rma_sync_all", rma_sync_all());
}

/* ---- symmetric memory ---- */

/* All PEs have got a block, at one offset, or none has; and all have a heap of the same size. */
static void check_offset(struct actor *a, const void *block) {
    const size_t offset = block ? (size_t)((const char *)block - rmai_world.symmetric.base) : SIZE_MAX - 1;
    if (a->shared->offset == SIZE_MAX) a->shared->heap = rmai_world.symmetric.size;
    if (a->shared->heap != rmai_world.symmetric.size)
        sim_fail(a->pe, "the symmetric heap has %zu bytes, elsewhere %zu", rmai_world.symmetric.size, a->shared->heap);
    if (a->shared->offset == SIZE_MAX) a->shared->offset = offset;
    if (a->shared->offset != offset) sim_fail(a->pe, "a symmetric block has another offset than elsewhere");
    if (!block && rma_last_code() != RMA_ERR_NO_MEM)
        sim_fail(a->pe, "no symmetric block: %d: %s", rma_last_code(), rma_last_error());
}

static void memory_phase(struct actor *a) {
    const size_t size = 1 + together(a, together(a, 3) ? 5000 : 600000), other = 1 + together(a, 400000);
    const int wrong = (int)together(a, 4) == 0 ? (int)together(a, (uint64_t)a->n) : -1, next = (a->me + 1) % a->n;
    const int poor = (int)together(a, 3) == 0 ? (int)together(a, (uint64_t)a->n) : -1, way = (int)together(a, 3);
    unsigned char *block, *moved, word[8];
    a->shared->offset = SIZE_MAX;
    sim_expect(a->pe, "rma_sync_all", rma_sync_all());
    if (wrong >= 0 && a->n > 1) {
        block = rma_malloc(a->me == wrong ? size + 1 : size);
        if (block || rma_last_code() != RMA_ERR_MISMATCH)
            sim_fail(a->pe, "rma_malloc with another size on PE %d: %d: %s", wrong, rma_last_code(), rma_last_error());
    }
    if (a->me == poor) sim_refuse_commits(a->pe, (unsigned)alone(a, 3), 1 + (unsigned)alone(a, 3));
    block = way == 0 ? rma_malloc(size) : way == 1 ? rma_calloc(1, size) : rma_aligned_alloc(256, size);
    if (!block && poor < 0) sim_fail(a->pe, "rma_malloc of %zu bytes: %s", size, rma_last_error());
    check_offset(a, block);
    if (block && way == 1 && (block[0] || block[size - 1])) sim_fail(a->pe, "rma_calloc gives what is not 0");
    sim_expect(a->pe, "rma_sync_all", rma_sync_all());
    for (size_t i = 0; block && i < size; i += 97) block[i] = byte_of(a->me, 0, 5, i);
    sim_expect(a->pe, "rma_barrier_all", rma_barrier_all());
    if (block) sim_expect(a->pe, "rma_get", rma_get(word, block, size < 8 ? size : 8, next));
    if (block && word[0] != byte_of(next, 0, 5, 0))
        sim_fail(a->pe, "a get of the symmetric block of PE %d is wrong", next);
    if (a->me == 0) a->shared->offset = SIZE_MAX;
    sim_expect(a->pe, "rma_sync_all", rma_sync_all());
    moved = rma_realloc(block, other);
    if (!moved && poor < 0) sim_fail(a->pe, "rma_realloc to %zu bytes: %s", other, rma_last_error());
    check_offset(a, moved);
    sim_refuse_commits(a->pe, 0, 0);
    if (moved) {
        for (size_t i = 0; block && i < size && i < other; i += 97)
            if (moved[i] != byte_of(a->me, 0, 5, i)) sim_fail(a->pe, "rma_realloc loses byte %zu", i);
        block = moved;
    }
    sim_expect(a->pe, "rma_free", rma_free(block));
}

/* A PE attaches memory of its own; another one writes to it and reads it, until it is detached. */
static void attach_phase(struct actor *a) {
    const size_t size = 8 * (1 + together(a, 200)), at = 8 * together(a, size / 8), len = size - at;
    const int from = (a->me + a->n - 1) % a->n;
    const struct sim_options *options = sim_options_of(a->pe);
    unsigned char *memory, *out, *in;
    rma_gptr_t mine, *of;
    if (!options->threads) return; /* a thread of the PE serves its neighbours */
    memory = calloc(1, size);
    out = malloc(len);
    in = malloc(len);
    of = malloc((size_t)a->n * sizeof *of);
    sim_expect(a->pe, "rma_attach", rma_attach(memory, size, &mine));
    sim_expect(a->pe, "rma_fcollect", rma_fcollect(RMA_TEAM_WORLD, of, &mine, sizeof mine));
    mine = of[(a->me + 1) % a->n] + at;
    for (size_t i = 0; i < len; i++) out[i] = byte_of(a->me, 1, 9, i);
    sim_expect(a->pe, "rma_gptr_put", rma_gptr_put(mine, out, len));
    sim_expect(a->pe, "rma_quiet", rma_quiet());
    sim_expect(a->pe, "rma_gptr_get", rma_gptr_get(in, mine, len));
    if (memcmp(in, out, len) != 0) sim_fail(a->pe, "attached memory does not hold what was put");
    sim_expect(a->pe, "rma_barrier_all", rma_barrier_all());
    for (size_t i = 0; i < len; i++)
        if (memory[at + i] != byte_of(from, 1, 9, i)) sim_fail(a->pe, "attached memory does not hold what was put");
    sim_expect(a->pe, "rma_detach", rma_detach(memory));
    sim_expect(a->pe, "rma_sync_all", rma_sync_all());
    if (rma_gptr_get(in, mine, len) != RMA_ERR_ADDRESS)
        sim_fail(a->pe, "a get of memory that was detached: %d: %s", rma_last_code(), rma_last_error());
    sim_expect(a->pe, "rma_sync_all", rma_sync_all());
    free(of);
    free(in);
    free(out);
    free(memory);
}

static void shape_phase(struct actor *a) { shapes_phase(a->pe, a->n, &a->common, &a->own); }

/* ---- the program ---- */

/* Numbers that count up begin shortly before they turn to 0. Nobody is in the library, and nothing is under way. */
static void begin_numbers_late(struct actor *a) {
    const uint32_t late = UINT32_MAX - 20;
    struct rmai_world *w = &rmai_world;
    struct rmai_header *header = rmai_header(&w->job, w->job.node_my_pe);
    struct rmai_team *t = &w->teams->team[RMAI_TEAM_WORLD];
    sim_gather(a->pe, NULL);
    w->barrier->epoch = w->barrier->gathering = late;
    for (int k = 0; k < RMAI_BARRIER_ROUNDS; k++) header->barrier.round[k].event.value = late;
    header->barrier.gate.event.value = late;
    header->barrier.gathered.event.value = header->barrier.released.event.value = late;
    t->epoch = late;
    for (unsigned k = 0; k < w->teams->rounds; k++) {
        char *at = rmai_job_space(&w->job, w->job.node_my_pe) + rmai_team_words_at(w, RMAI_TEAM_WORLD);
        ((struct rmai_team_round *)(void *)at)[k].event.value = late;
    }
    sim_gather(a->pe, NULL);
}

void jobs_program(struct sim_pe *pe, void *context) {
    static void (*const phases[])(struct actor * a) = {one_sided_phase,   ring_phase,   signal_phase,  lock_phase,
                                                       long_signal_phase, burst_phase,  attach_phase,  collective_phase,
                                                       team_phase,        memory_phase, session_phase, move_phase,
                                                       move_phase,        served_phase, shape_phase,   shape_phase};
    struct shared *shared = context;
    struct actor *a = calloc(1, sizeof *a);
    a->pe = pe;
    a->shared = shared;
    a->me = pe->me;
    a->n = shared->n;
    a->common = shared->seed * 1000003;
    a->own = a->common + 1 + (uint64_t)pe->me;
    a->version = calloc((size_t)a->n, sizeof *a->version);
    a->multiple = together(a, 3) == 0;
    sim_expect(a->pe, "rma_init", a->multiple ? rma_init_thread(RMA_THREAD_MULTIPLE, NULL) : rma_init());
    a->board = rma_calloc(1, sizeof *a->board + (size_t)a->n * sizeof a->board->slot[0]);
    if (!a->board) sim_fail(pe, "rma_calloc: %s", rma_last_error());
    if (together(a, 3) == 0) begin_numbers_late(a);
    sim_begin_injections(pe);
    for (int i = 0; i < PHASES; i++) {
        const uint64_t which = together(a, sizeof phases / sizeof *phases);
        sim_log(pe, "phase %d: %d", i, (int)which);
        /* Whatever a PE does, it may do in a session, which may end in another phase. */
        if (alone(a, 3) == 0)
            sim_expect(a->pe, "rma_ctx_session_start", rma_ctx_session_start(RMA_CTX_DEFAULT, RMA_CTX_SESSION_BATCH));
        phases[which](a);
        if (alone(a, 2)) sim_expect(a->pe, "rma_ctx_session_stop", rma_ctx_session_stop(RMA_CTX_DEFAULT));
    }
    sim_expect(a->pe, "rma_free", rma_free(a->board));
    sim_expect(a->pe, "rma_finalize", rma_finalize());
    free(a->version);
    free(a);
}

void *jobs_begin(const struct sim_options *options) {
    struct shared *shared = calloc(1, sizeof *shared);
    shared->n = options->n_pes;
    shared->seed = options->seed;
    shared->sum = calloc((size_t)shared->n, sizeof *shared->sum);
    shared->burst = calloc((size_t)shared->n, sizeof *shared->burst);
    shared->ticket = calloc((size_t)shared->n, TICKETS_MOST);
    rma_set_errhandler(rma_errors_return);
    return shared;
}

void jobs_end(void *context) {
    struct shared *shared = context;
    free(shared->burst);
    free(shared->ticket);
    free(shared->sum);
    free(shared);
}

/* Under always and dynamic a word that another PE waits for may go through a window: there no word is cut. */
const char *jobs_windows(struct sim_options *options, uint64_t *random) {
    static const unsigned attach_most[] = {0, 2, 5, UINT_MAX, UINT_MAX, UINT_MAX};
    static const struct {
        const char *setting;
        int cuts_words;
    } choices[] = {{"RMA_WINDOW=auto", 1},   {"RMA_WINDOW=auto", 1},    {"RMA_WINDOW=auto", 1},
                   {"RMA_WINDOW=always", 0}, {"RMA_WINDOW=dynamic", 0}, {"RMA_WINDOW=static", 1}};
    const size_t choice = sim_random(random) % (sizeof choices / sizeof *choices);
    const int who_needs = (int)(sim_random(random) % 5);
    struct sim_windows_options *w = &options->windows;
    *w = (struct sim_windows_options){.there = sim_random(random) % 3 > 0, .cuts_words = choices[choice].cuts_words};
    w->near = sim_random(random) % 3 == 0;
    w->spread = sim_random(random) % (sim_random(random) % 3 ? 3000 : 100000);
    w->shifts = sim_random(random) % 8 == 0;
    w->refuses_dynamic = sim_random(random) % 8 == 0;
    w->attach_most = attach_most[sim_random(random) % (sizeof attach_most / sizeof *attach_most)];
    /* Nothing needs the target; as in MPICH, all in the dynamic window does; all gets do; all does; gets in the dynamic
     * window do. */
    for (int get = 0; get < 2; get++) {
        w->needs_target[RMAI_FIXED][get] = who_needs == 3 || (who_needs == 2 && get);
        w->needs_target[RMAI_DYNAMIC][get] =
            who_needs == 1 || (who_needs == 4 && get) || w->needs_target[RMAI_FIXED][get];
    }
    return choices[choice].setting;
}

static void prepare_jobs(struct sim_options *options) {
    static const char *settings[3][6] = {{"RMA_SPIN=0", NULL, "RMA_STALL=0", "RMA_TIMEOUT=0", NULL},
                                         {"RMA_SPIN=40", NULL, "RMA_CHECK=1", "RMA_STALL=0", NULL},
                                         {"RMA_SPIN=0", NULL, "RMA_PROGRESS=none", "RMA_STALL=0", NULL}};
    uint64_t random = options->seed + 77;
    const char **chosen;
    options->layer = &sim_whole;
    options->limit = 5000000000u; /* programs take some hundredths of a second */
    options->node_pes = sim_random(&random) % 2 ? 1 : 1 + (int)(sim_random(&random) % 4);
    options->crowded = sim_random(&random) % 3 == 0;
    options->threads = sim_random(&random) % (options->node_pes > 1 ? 2 : 3) == 0; /* with them sessions go by node */
    chosen = settings[sim_random(&random) % 3];
    chosen[1] = jobs_windows(options, &random);
    options->settings = chosen;
}

const struct scenario scenario_jobs = {.name = "jobs",
                                       .what = "whole programs: puts, waits, locks, teams, collectives, allocations",
                                       .least_pes = 2,
                                       .most_pes = 1024,
                                       .prepare = prepare_jobs,
                                       .begin = jobs_begin,
                                       .program = jobs_program,
                                       .end = jobs_end};
