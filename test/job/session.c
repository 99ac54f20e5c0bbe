/* SPDX-License-Identifier: BSD-3-Clause */
/* In a session short operations on a PE of another node wait for others, but never for ever, and nothing else about
 * them changes.
 *
 * Broken by an operation that leaves alone, or with the reply to an earlier one; by a quiet, a fence, a fetching
 * atomic, a full message or the end of the session that leaves operations unsent; by operations that stay while the
 * program only polls a word; by a session that outlives its stop or its context, or belongs to another context; and by
 * a message that counts as full too late; by a compare-and-swap that succeeds twice, or that changes a word which is
 * not what it expects. Also broken by a neighbour's operations that a PE of another node executes in the wrong place,
 * or too late for later ones; and by a message for each PE of a node where one would do. rma_stats counts the messages
 * that have left. The library may send any operation that has waited for a millisecond, so the test tries until it sees
 * operations wait; that they leave must always hold.
 */
#include "job.h"

#define MANY       1100 /* more than fit a message */
#define MOST_WORDS 64

/* Symmetric. */
struct board {
    uint64_t word, sum, old, signal, flag;
    uint64_t words[MOST_WORDS];
};

static struct board *board;
static uint64_t last[JOB_PES_MAX]; /* symmetric, and outlives the runtime */
static rma_ctx *contexts[3];       /* the default one, one of the world, one of a team */
static int far;                    /* a PE of another node, or -1 */
static int n_far;                  /* PEs of other nodes */

enum kind { P, PUT, PUT_NBI, ADD, FETCH_ADD_NBI, GET_NBI, PUT_SIGNAL, SIGNAL_SET, KINDS };
enum way { STOP, QUIET, FENCE, PE_QUIET, PE_FENCE, FETCH, FULL, WAYS };

static void put_one(rma_ctx *ctx, enum kind kind, uint64_t value, int pe) {
    static uint64_t source[MOST_WORDS], got; /* in use until the next quiet */
    static unsigned turn;
    uint64_t *from = &source[turn++ % MOST_WORDS];
    *from = value;
    switch (kind) {
        case P: OK(rma_ctx_p(ctx, &board->word, value, pe)); break;
        case PUT:
            OK(rma_ctx_put(ctx, &board->word, from, sizeof *from, pe));
            *from = 0;
            break;
        case PUT_NBI: OK(rma_ctx_put_nbi(ctx, &board->word, from, sizeof *from, pe)); break;
        case ADD: OK(rma_ctx_atomic_add(ctx, &board->sum, value, pe)); break;
        case FETCH_ADD_NBI: OK(rma_ctx_atomic_fetch_add_nbi(ctx, &got, &board->sum, value, pe)); break;
        case GET_NBI: OK(rma_ctx_get_nbi(ctx, &got, &board->old, sizeof got, pe)); break;
        case PUT_SIGNAL:
            OK(rma_ctx_put_signal(ctx, &board->word, from, sizeof *from, &board->signal, value, RMA_SIGNAL_SET, pe));
            break;
        default: OK(rma_ctx_signal_set(ctx, &board->signal, value, pe));
    }
}

/* ---- what has left ---- */

static struct rma_stats now(void) {
    struct rma_stats s;
    OK(rma_stats(&s));
    return s;
}

static uint64_t sent(void) { return now().messages_sent; }

/* Operations that were made records of messages: how many goes through MPI's window instead is the library's choice. */
static uint64_t requests(void) {
    const struct rma_stats s = now();
    return s.path[RMA_PATH_REQUEST].puts + s.path[RMA_PATH_REQUEST].gets + s.path[RMA_PATH_REQUEST].atomics;
}

/* Nothing is under way after a quiet, so without a session one operation leaves at once. */
static bool leaves_at_once(rma_ctx *ctx) {
    uint64_t before;
    OK(rma_ctx_quiet(ctx));
    before = sent();
    OK(rma_ctx_atomic_add(ctx, &board->sum, (uint64_t)0, far));
    return sent() > before;
}

/* What sends operations that have gathered. */
static void send_off(rma_ctx *ctx, enum way way) {
    switch (way) {
        case STOP: OK(rma_ctx_session_stop(ctx)); break;
        case QUIET: OK(rma_ctx_quiet(ctx)); break;
        case FENCE: OK(rma_ctx_fence(ctx)); break;
        case PE_QUIET: OK(rma_ctx_pe_quiet(ctx, &far, 1)); break;
        case PE_FENCE: OK(rma_ctx_pe_fence(ctx, &far, 1)); break;
        case FETCH: (void)rma_ctx_atomic_fetch_add(ctx, &board->sum, (uint64_t)0, far); break;
        default:
            for (int i = 0; i < MANY; i++) OK(rma_ctx_atomic_add(ctx, &board->sum, (uint64_t)0, far));
    }
}

/* Operations of this kind wait, and then leave this way. */
static void waits_and_leaves(rma_ctx *ctx, enum kind kind, enum way way) {
    for (bool waited = false; !waited;) {
        uint64_t asked = requests(), before;
        OK(rma_ctx_quiet(ctx));
        OK(rma_ctx_session_start(ctx, RMA_CTX_SESSION_BATCH));
        before = sent();
        for (int i = 0; i < 5; i++) put_one(ctx, kind, 7, far);
        waited = sent() == before;
        if (waited) send_off(ctx, way);
        if (requests() == asked) break; /* the window is the way of this kind here */
        CHECK(!waited || sent() > before, "kind %d is not sent by way %d", kind, way);
        OK(rma_ctx_session_stop(ctx));
    }
    OK(rma_ctx_session_stop(ctx));
    OK(rma_ctx_quiet(ctx));
}

/* The reply to a full message does not send what has gathered since that left. That the reply has come shows in the
 * old value, which it brings. */
static void outlasts_reply(rma_ctx *ctx) {
    static uint64_t old;
    uint64_t before;
    bool waited = false;
    while (!waited) {
        OK(rma_ctx_quiet(ctx));
        OK(rma_ctx_session_start(ctx, RMA_CTX_SESSION_BATCH));
        __atomic_store_n(&old, UINT64_MAX, __ATOMIC_RELAXED);
        before = sent();
        OK(rma_ctx_atomic_fetch_add_nbi(ctx, &old, &board->sum, (uint64_t)0, far));
        while (sent() == before) OK(rma_ctx_atomic_add(ctx, &board->sum, (uint64_t)0, far));
        before = sent();
        OK(rma_ctx_atomic_add(ctx, &board->sum, (uint64_t)0, far));
        if (__atomic_load_n(&old, __ATOMIC_ACQUIRE) != UINT64_MAX) continue; /* the reply was quicker: try again */
        do OK(rma_progress());
        while (__atomic_load_n(&old, __ATOMIC_ACQUIRE) == UINT64_MAX);
        OK(rma_progress()); /* another thread's turn is over, too */
        waited = sent() == before;
        OK(rma_ctx_session_stop(ctx));
    }
    OK(rma_ctx_session_stop(ctx));
    OK(rma_ctx_quiet(ctx));
}

static void begins_and_ends(void) {
    rma_ctx *ctx, *other;
    OK(rma_ctx_create(0, &ctx));
    OK(rma_ctx_create(0, &other));
    CHECK(leaves_at_once(ctx), "with no session");
    OK(rma_ctx_session_stop(ctx));
    CHECK(leaves_at_once(ctx), "after a stop without a start");
    OK(rma_ctx_session_start(ctx, 0));
    CHECK(leaves_at_once(ctx), "in a session without options");
    OK(rma_ctx_session_start(ctx, RMA_CTX_SESSION_BATCH));
    while (leaves_at_once(ctx)) DOING("a start that adds an option");
    OK(rma_ctx_session_start(ctx, 0));
    OK(rma_ctx_session_start(ctx, RMA_CTX_SESSION_BATCH));
    while (leaves_at_once(ctx)) DOING("a start that takes no option away");
    CHECK(leaves_at_once(other) && leaves_at_once(RMA_CTX_DEFAULT), "in another context than the session's");
    OK(rma_ctx_session_stop(ctx));
    CHECK(leaves_at_once(ctx), "after one stop for three starts");
    OK(rma_ctx_session_stop(ctx));
    CHECK(leaves_at_once(ctx), "after the second stop");
    OK(rma_ctx_session_start(ctx, RMA_CTX_SESSION_BATCH));
    OK(rma_ctx_atomic_add(ctx, &board->old, (uint64_t)5, far));
    OK(rma_ctx_destroy(ctx));
    OK(rma_ctx_create(0, &ctx)); /* it may have the place of the one before */
    CHECK(leaves_at_once(ctx), "in a context that was made after one with a session had ended");
    OK(rma_ctx_destroy(ctx));
    OK(rma_ctx_destroy(other));
}

/* ---- what comes all the same ---- */

enum wait { UNTIL, TEST, POLL, WAITS };

/* Nobody calls quiet or stop before the flag of the PE before has come. */
static void ring(rma_ctx *ctx, enum kind kind, enum wait wait, uint64_t value) {
    uint64_t *here = kind == PUT_SIGNAL || kind == SIGNAL_SET ? &board->signal
                     : kind == ADD || kind == FETCH_ADD_NBI   ? &board->sum
                                                              : &board->word;
    const int thread = rma_progress_thread(1) == RMA_SUCCESS;
    *here = 0;
    OK(rma_barrier_all());
    OK(rma_ctx_session_start(ctx, RMA_CTX_SESSION_BATCH));
    put_one(ctx, kind, value, job_any(1));
    if (wait == UNTIL) OK(rma_wait_until(here, RMA_CMP_EQ, value));
    while (wait == TEST && !rma_test(here, RMA_CMP_EQ, value)) job_pause();
    while (wait == POLL && __atomic_load_n(here, __ATOMIC_ACQUIRE) != value) {
        if (!thread) OK(rma_progress());
        job_pause();
    }
    OK(rma_ctx_session_stop(ctx));
    OK(rma_ctx_quiet(ctx));
    OK(rma_barrier_all());
}

/* Data, a fence, a flag; and what the flag's PE then says back. */
static void in_order(rma_ctx *ctx, int rounds) {
    const int to = job_any(1);
    uint64_t source[MOST_WORDS];
    OK(rma_ctx_session_start(ctx, RMA_CTX_SESSION_BATCH));
    for (int r = 1; r <= rounds; r++) {
        for (uint64_t i = 0; i < MOST_WORDS; i++) {
            source[i] = (uint64_t)r * 1000 + i;
            OK(rma_ctx_put_nbi(ctx, &board->words[i], &source[i], sizeof source[i], to));
        }
        OK(rma_ctx_fence(ctx));
        OK(rma_ctx_p(ctx, &board->flag, (uint64_t)r, to));
        OK(rma_wait_until(&board->flag, RMA_CMP_GE, (uint64_t)r));
        for (uint64_t i = 0; i < MOST_WORDS; i++)
            CHECK(board->words[i] == (uint64_t)r * 1000 + i, "word %d of round %d is %llu", (int)i, r,
                  (unsigned long long)board->words[i]);
        OK(rma_ctx_quiet(ctx));
        OK(rma_sync_all()); /* before somebody puts the next round */
    }
    OK(rma_ctx_session_stop(ctx));
    OK(rma_barrier_all());
    board->flag = 0;
    OK(rma_barrier_all());
}

/* Atomics on one own word are done in their order, whatever way they go: by a context, by global pointer, with a
 * signal, and on half a word. Another operation on another node is under way. */
static void own_word_in_turn(rma_ctx *ctx, int r) {
    const int me = job.me;
    uint32_t *half = (uint32_t *)&board->words[1];
    uint64_t *word = &board->words[2], value = 7;
    OK(rma_ctx_atomic_set(ctx, half, (uint32_t)r, me));
    for (int i = 0; i < 5; i++) OK(rma_ctx_atomic_add(ctx, half, (uint32_t)2, me));
    CHECK(rma_ctx_atomic_fetch(ctx, half, me) == (uint32_t)r + 10, "round %d: half a word", r);
    OK(rma_ctx_atomic_set(ctx, half, (uint32_t)1, me));
    CHECK(rma_ctx_atomic_compare_swap(ctx, half, (uint32_t)1, (uint32_t)9, me) == 1, "round %d: swapped", r);
    for (uint64_t i = 1; i <= 3; i++) OK(rma_ctx_atomic_set(ctx, word, i, me));
    CHECK(rma_ctx_atomic_fetch(ctx, word, me) == 3, "round %d: set in turn", r);
    OK(rma_ctx_atomic_set(ctx, word, (uint64_t)4, me));
    OK(rma_ctx_put_signal(ctx, &board->words[3], &value, sizeof value, word, 5, RMA_SIGNAL_SET, me));
    OK(rma_ctx_quiet(ctx));
    CHECK(*word == 5 && board->words[3] == 7, "round %d: the signal is %llu", r, (unsigned long long)*word);
    if (ctx != RMA_CTX_DEFAULT) return;
    OK(rma_atomic_add(&board->sum, (uint64_t)0, far));
    for (int i = 0; i < 9; i++) OK(rma_atomic_add(word, (uint64_t)1, me));
    CHECK(rma_gptr_atomic_fetch(rma_gptr(word, me)) == 14, "round %d: by global pointer", r);
    for (int i = 0; i < 9; i++) OK(rma_atomic_add(word, (uint64_t)1, me));
    OK(rma_put_nbi(&board->words[far % 8 + 8], &value, sizeof value, far)); /* closes the stream */
    OK(rma_atomic_add(word, (uint64_t)1, me));
    OK(rma_get_nbi(&value, &board->words[3], sizeof value, me));
    OK(rma_quiet());
    CHECK(*word == 24 && value == 7, "round %d: %llu after a put", r, (unsigned long long)*word);
}

/* While operations on another node are under way in a session, nonblocking ones on words of this PE wait with them.
 * Broken by one that a quiet of any kind, or the end of the session, does not complete; by one that is lost, or done
 * twice; and by an atomic whose result the caller waits for, and which comes before them. */
static void own_words(rma_ctx *ctx, int rounds) {
    const int me = job.me;
    uint64_t got[3] = {0}, sum = 0, bits = 0;
    int near = -1;
    for (int pe = 0; pe < job.n; pe++)
        if (pe != me && rma_on_node(pe)) near = pe;
    board->old = board->word = 0; /* nobody else uses them now */
    for (int r = 0; r < rounds; r++) {
        const int n = 1 + r * 37 % MANY;
        OK(rma_ctx_session_start(ctx, RMA_CTX_SESSION_BATCH));
        OK(rma_ctx_atomic_add(ctx, &board->sum, (uint64_t)0, far));
        for (int i = 0; i < n; i++) OK(rma_ctx_atomic_add(ctx, &board->old, (uint64_t)(1 + r % 2 * i), me));
        sum += (uint64_t)n + (uint64_t)(r % 2) * (uint64_t)n * (uint64_t)(n - 1) / 2;
        CHECK(rma_ctx_atomic_fetch(ctx, &board->old, me) == sum, "round %d: %d additions are not all here", r, n);
        OK(rma_ctx_atomic_fetch_add_nbi(ctx, &got[0], &board->old, (uint64_t)1, me));
        OK(rma_ctx_atomic_xor(ctx, &board->word, (uint64_t)1 << r % 64, me));
        OK(rma_ctx_get_nbi(ctx, &got[1], &board->old, sizeof got[1], me));
        OK(rma_ctx_get_nbi(ctx, &got[2], &board->word, sizeof got[2], far));
        bits ^= (uint64_t)1 << r % 64;
        own_word_in_turn(ctx, r);
        if (near >= 0) { /* words of a neighbour are accessed at once */
            OK(rma_ctx_atomic_add(ctx, &board->signal, (uint64_t)3, near));
            OK(rma_ctx_atomic_fetch_add_nbi(ctx, &got[2], &board->signal, (uint64_t)0, near));
            CHECK(rma_ctx_atomic_fetch_add(ctx, &board->signal, (uint64_t)1, near) >= 3, "the neighbour's word");
            OK(rma_ctx_get_nbi(ctx, &got[2], &board->signal, sizeof got[2], near));
            CHECK(got[2] >= 4, "round %d: %llu of the neighbour's word", r, (unsigned long long)got[2]);
        }
        switch (r % 4) {
            case 0: OK(rma_ctx_quiet(ctx)); break;
            case 1: OK(rma_ctx_pe_quiet(ctx, &me, 1)); break;
            case 2: OK(rma_ctx_fence(ctx)); break;
            default: OK(rma_ctx_session_stop(ctx)); OK(rma_ctx_quiet(ctx));
        }
        CHECK(got[0] == sum, "round %d: fetched %llu of %llu", r, (unsigned long long)got[0], (unsigned long long)sum);
        CHECK(got[1] == sum || got[1] == sum + 1, "round %d: got %llu", r, (unsigned long long)got[1]);
        CHECK(board->old == ++sum && board->word == bits, "round %d: %llu of %llu are here", r,
              (unsigned long long)board->old, (unsigned long long)sum);
        OK(rma_ctx_quiet(ctx));
        OK(rma_ctx_session_stop(ctx));
    }
}

/* All PEs to all PEs, in all contexts, in sessions that begin and end anywhere. */
static void totals(long rounds) {
    uint64_t draw = job_stream((uint64_t)job.me), want = 0, got[MOST_WORDS];
    for (int i = 0; i < MOST_WORDS; i++) board->words[i] = 0;
    board->old = 1000 + (uint64_t)job.me;
    OK(rma_barrier_all());
    for (long r = 0; r < rounds; r++) {
        rma_ctx *ctx = contexts[job_below(&draw, 3)];
        const int pe = (int)job_below(&draw, (size_t)job.n), k = (int)job_below(&draw, MOST_WORDS);
        switch (job_below(&draw, 12)) {
            case 0: OK(rma_ctx_session_start(ctx, RMA_CTX_SESSION_BATCH)); break;
            case 1: OK(rma_ctx_session_stop(ctx)); break;
            case 2: OK(rma_ctx_quiet(ctx)); break;
            case 3:
                got[k] = 0;
                OK(rma_ctx_get_nbi(ctx, &got[k], &board->old, sizeof got[k], pe));
                OK(rma_ctx_quiet(ctx));
                CHECK(got[k] == 1000 + (uint64_t)pe, "a get from PE %d gives %llu", pe, (unsigned long long)got[k]);
                break;
            case 4: (void)rma_ctx_atomic_fetch_inc(ctx, &board->words[k], pe); break;
            default:
                for (int i = 0; i < 30; i++) OK(rma_ctx_atomic_inc(ctx, &board->words[k], pe));
        }
    }
    for (int c = 0; c < 3; c++) OK(rma_ctx_session_stop(contexts[c]));
    for (int c = 0; c < 3; c++) OK(rma_ctx_quiet(contexts[c]));
    OK(rma_barrier_all());
    /* Each PE draws again what each has drawn. */
    for (int from = 0; from < job.n; from++) {
        draw = job_stream((uint64_t)from);
        for (long r = 0; r < rounds; r++) {
            size_t what;
            int pe;
            (void)job_below(&draw, 3);
            pe = (int)job_below(&draw, (size_t)job.n);
            (void)job_below(&draw, MOST_WORDS);
            what = job_below(&draw, 12);
            if (pe == job.me && what >= 4) want += what == 4 ? 1 : 30;
        }
    }
    for (int i = 0; i < MOST_WORDS; i++) want -= board->words[i];
    CHECK(want == 0, "%lld increments are missing", (long long)want);
    OK(rma_barrier_all());
}

/* All PEs claim all words, of 8 and of 4 bytes: those that are free become the number of the first claim. Some
 * compare-and-swaps expect something else, and must change nothing. */
#define CLAIMS 3 /* by each PE for each word in a round */
static void claims(rma_ctx *ctx, int rounds) {
    static uint64_t old[JOB_PES_MAX][MOST_WORDS][CLAIMS], never;
    static uint32_t half_old[JOB_PES_MAX][MOST_WORDS][CLAIMS];
    const uint64_t free_word = 1000;
    uint32_t *halves = (uint32_t *)&board->words[MOST_WORDS / 2];
    for (int r = 0; r < rounds; r++) {
        uint64_t claimed = 0, all;
        for (int k = 0; k < MOST_WORDS / 2; k++) OK(rma_atomic_set(&board->words[k], free_word, job.me));
        for (int k = 0; k < MOST_WORDS; k++) OK(rma_atomic_set(halves + k, (uint32_t)free_word, job.me));
        OK(rma_barrier_all());
        if (r % 2 == 0) OK(rma_ctx_session_start(ctx, RMA_CTX_SESSION_BATCH));
        for (int i = 0; i < CLAIMS * MOST_WORDS / 2 * job.n; i++) {
            const int pe = i % job.n, k = i / job.n % (MOST_WORDS / 2), c = i / job.n / (MOST_WORDS / 2);
            if (r % 4 == 0 && c == 0 && k % 7 == 3)
                OK(rma_ctx_atomic_compare_swap_nbi(ctx, &never, &board->words[k], free_word + 1, UINT64_MAX, pe));
            OK(rma_ctx_atomic_compare_swap_nbi(ctx, &old[pe][k][c], &board->words[k], free_word,
                                               (uint64_t)(job.me * CLAIMS + c), pe));
        }
        for (int i = 0; i < CLAIMS * MOST_WORDS * job.n; i++) {
            const int pe = i % job.n, k = i / job.n % MOST_WORDS, c = i / job.n / MOST_WORDS;
            OK(rma_ctx_atomic_compare_swap_nbi(ctx, &half_old[pe][k][c], halves + k, (uint32_t)free_word,
                                               (uint32_t)(job.me * CLAIMS + c), pe));
        }
        OK(rma_ctx_quiet(ctx));
        OK(rma_ctx_session_stop(ctx));
        OK(rma_barrier_all());
        for (int pe = 0; pe < job.n; pe++)
            for (int k = 0; k < MOST_WORDS; k++)
                for (int c = 0; c < CLAIMS; c++) {
                    const uint32_t first = rma_g(halves + k, pe), half = half_old[pe][k][c];
                    const int mine = job.me * CLAIMS + c;
                    claimed += half == free_word;
                    CHECK(half == (first == (uint32_t)mine ? free_word : first), "round %d: half %d of PE %d was %u", r,
                          k, pe, half);
                    if (k >= MOST_WORDS / 2) continue;
                    const uint64_t word = rma_g(&board->words[k], pe), was = old[pe][k][c];
                    claimed += was == free_word;
                    CHECK(was == (word == (uint64_t)mine ? free_word : word), "round %d: word %d of PE %d was %llu", r,
                          k, pe, (unsigned long long)was);
                }
        OK(rma_sum_reduce(RMA_TEAM_WORLD, &all, &claimed, 1));
        CHECK(all == (uint64_t)job.n * MOST_WORDS * 3 / 2, "round %d: %llu of %d words were claimed", r,
              (unsigned long long)all, job.n * MOST_WORDS * 3 / 2);
    }
}

/* ---- by the node ---- */

/* Messages for n additions to each PE of the other nodes, in a session of their own. */
static uint64_t messages_for(rma_ctx *ctx, int n) {
    uint64_t before;
    OK(rma_ctx_session_start(ctx, RMA_CTX_SESSION_BATCH));
    before = sent();
    for (int i = 0; i < n; i++)
        for (int pe = 0; pe < job.n; pe++)
            if (!rma_on_node(pe)) OK(rma_ctx_atomic_add(ctx, &board->sum, (uint64_t)0, pe));
    OK(rma_ctx_quiet(ctx));
    OK(rma_ctx_session_stop(ctx));
    return sent() - before;
}

/* By the node goes only what a neighbour can do, whatever its program does: each PE has a progress thread, and global
 * variables are reached by load and store. */
static bool goes_by_node(void) {
    const char *progress = getenv("RMA_PROGRESS");
    uint64_t yes = !progress || strcmp(progress, "none") != 0;
    for (int pe = 0; pe < job.n; pe++) yes &= !rma_on_node(pe) || rma_ptr(last, pe) != NULL;
    OK(rma_min_reduce(RMA_TEAM_WORLD, &yes, &yes, 1));
    return yes;
}

/* What is for the PEs of a node goes with one message, if it does not fill more than one for each PE anyway. */
static void one_message_for_a_node(rma_ctx *ctx) {
    const uint64_t nodes = (uint64_t)rma_n_nodes() - 1;
    OK(rma_ctx_quiet(ctx));
    while (messages_for(ctx, 1) != nodes) DOING("a few additions");
    (void)messages_for(ctx, 4 * MANY);
    CHECK(messages_for(ctx, 1) >= (uint64_t)n_far, "after many additions few go by the node at once");
    while (messages_for(ctx, 1) != nodes) DOING("a few additions after many");
}

/* Additions and values of all PEs to random words, completed after a few or after many, in and outside of sessions;
 * each word is compared with what all PEs have drawn for it. */
static void histogram(rma_ctx *ctx, int rounds) {
    uint64_t draw = job_stream((uint64_t)job.me), want[MOST_WORDS] = {0}, old[40];
    for (int i = 0; i < MOST_WORDS; i++) board->words[i] = 0;
    OK(rma_barrier_all());
    for (int r = 0; r < rounds; r++) {
        const size_t way = job_below(&draw, 4), some = way ? job_below(&draw, 40) : job_below(&draw, 3000);
        if (way != 1) OK(rma_ctx_session_start(ctx, RMA_CTX_SESSION_BATCH));
        for (size_t i = 0; i < some; i++) {
            const int pe = (int)job_below(&draw, (size_t)job.n), k = (int)job_below(&draw, MOST_WORDS);
            const uint64_t value = (uint64_t)job.me * 1000 + 1;
            if (way == 2)
                OK(rma_ctx_atomic_fetch_add_nbi(ctx, &old[i], &board->words[k], value, pe));
            else
                OK(rma_ctx_atomic_add(ctx, &board->words[k], value, pe));
            if (way == 3 && i == some / 2) OK(rma_ctx_session_stop(ctx));
        }
        if (way == 2) OK(rma_ctx_session_stop(ctx));
        OK(rma_ctx_quiet(ctx));
        if (way == 3) OK(rma_ctx_session_stop(ctx));
    }
    OK(rma_ctx_session_stop(ctx));
    OK(rma_barrier_all());
    for (int from = 0; from < job.n; from++) {
        draw = job_stream((uint64_t)from);
        for (int r = 0; r < rounds; r++) {
            const size_t way = job_below(&draw, 4), some = way ? job_below(&draw, 40) : job_below(&draw, 3000);
            for (size_t i = 0; i < some; i++) {
                const int pe = (int)job_below(&draw, (size_t)job.n), k = (int)job_below(&draw, MOST_WORDS);
                if (pe == job.me) want[k] += (uint64_t)from * 1000 + 1;
            }
        }
    }
    for (int k = 0; k < MOST_WORDS; k++)
        CHECK(board->words[k] == want[k], "word %d is %llu, not %llu", k, (unsigned long long)board->words[k],
              (unsigned long long)want[k]);
    OK(rma_barrier_all());
}

/* What goes to the PE itself comes after what has gone by the node, and the other way round: blocking calls and long
 * data read what short puts have written, and what is complete another context finds. */
static void mixed_ways(rma_ctx *ctx, int rounds) {
    static unsigned char data[6000], back[6000];
    static rma_gptr_t of[JOB_PES_MAX];
    unsigned char *block = rma_calloc(1, sizeof data * (size_t)job.n);
    uint64_t *own = calloc(8, sizeof *own), *words = rma_calloc((size_t)job.n, sizeof *words), value;
    unsigned char *mine = block + sizeof data * (size_t)job.me;
    rma_gptr_t g;
    CHECK(block && own && words, "%s", rma_last_error());
    OK(rma_attach(own, 8 * sizeof *own, &g));
    OK(rma_fcollect(RMA_TEAM_WORLD, of, &g, sizeof g));
    OK(rma_ctx_session_start(ctx, RMA_CTX_SESSION_BATCH));
    for (int r = 1; r <= rounds; r++) {
        const int to = job_any(1 + r % (job.n > 1 ? job.n - 1 : 1));
        const size_t at = (size_t)r * 131 % (sizeof data - 8);
        value = (uint64_t)r << 32 | (uint64_t)job.me;
        memset(data, r, sizeof data);
        OK(rma_ctx_put(ctx, mine, data, sizeof data, to));
        OK(rma_ctx_quiet(ctx));
        OK(rma_ctx_p(ctx, (uint64_t *)(void *)(mine + at / 8 * 8), value, to));
        OK(rma_ctx_get(ctx, back, mine, sizeof back, to)); /* long, from the PE itself */
        memcpy(data + at / 8 * 8, &value, sizeof value);
        CHECK(memcmp(back, data, sizeof data) == 0, "a long get of PE %d does not see the put before", to);
        OK(rma_ctx_p(ctx, &words[job.me], value, to));
        CHECK(rma_ctx_g(ctx, &words[job.me], to) == value, "a get of PE %d does not see the put before", to);
        /* By the node, then attached memory, then by the node. */
        OK(rma_ctx_atomic_add(ctx, &words[job.me], (uint64_t)1, to));
        (void)rma_gptr_atomic_fetch_add(of[to] + 8, 1);
        OK(rma_ctx_atomic_add(ctx, &words[job.me], (uint64_t)1, to));
        CHECK(rma_ctx_atomic_fetch_add(ctx, &words[job.me], (uint64_t)1, to) == value + 2,
              "an atomic that fetches from PE %d comes before those before", to);
        OK(r % 2 ? rma_ctx_pe_quiet(ctx, &to, 1) : rma_ctx_pe_fence(ctx, &to, 1));
        OK(rma_ctx_atomic_add(ctx, &words[job.me], (uint64_t)1, to));
        OK(rma_ctx_pe_quiet(ctx, &to, 1));
        CHECK(rma_atomic_fetch(&words[job.me], to) == value + 4, "what is complete at PE %d another context misses",
              to);
        if (r % 7 == 0) OK(rma_ctx_session_stop(ctx));
        if (r % 7 == 1) OK(rma_ctx_session_start(ctx, RMA_CTX_SESSION_BATCH));
    }
    OK(rma_ctx_session_stop(ctx));
    OK(rma_ctx_quiet(ctx));
    OK(rma_barrier_all());
    value = __atomic_load_n(&own[1], __ATOMIC_ACQUIRE);
    OK(rma_barrier_all());
    CHECK(job.n == 1 || value > 0 || rounds < job.n, "nobody has added to the attached memory");
    OK(rma_detach(own));
    OK(rma_free(block));
    OK(rma_free(words));
    free(own);
}

/* Local heaps that have grown: what is for them goes by the node, and who does it learns how far they reach. */
static void grown(void) {
    enum { BYTES = 3 << 20 };
    static rma_gptr_t of[JOB_PES_MAX];
    uint64_t *block, value = 1 + (uint64_t)job.me;
    rma_gptr_t g;
    for (int round = 0; round < 2; round++) {
        OK(rma_alloc_mem(BYTES, &block));
        memset(block, 0, BYTES);
        g = rma_gptr(block, job.me);
        OK(rma_fcollect(RMA_TEAM_WORLD, of, &g, sizeof g));
        OK(rma_ctx_session_start(RMA_CTX_DEFAULT, RMA_CTX_SESSION_BATCH));
        for (int pe = 0; pe < job.n; pe++) {
            const rma_gptr_t end = of[pe] + BYTES;
            OK(rma_gptr_atomic_add(of[pe] + BYTES - 8, value));
            OK(rma_gptr_put(end - 16 - 8 * (rma_gptr_t)job.me, &value, sizeof value));
        }
        OK(rma_quiet());
        OK(rma_ctx_session_stop(RMA_CTX_DEFAULT));
        OK(rma_barrier_all());
        block += BYTES / 8 - 1;
        CHECK(*block == (uint64_t)job.n * (uint64_t)(job.n + 1) / 2, "the sum is %llu", (unsigned long long)*block);
        for (int pe = 0; pe < job.n; pe++)
            CHECK(block[-1 - pe] == (uint64_t)pe + 1, "PE %d has put %llu", pe, (unsigned long long)block[-1 - pe]);
        block -= BYTES / 8 - 1;
        if (round) OK(rma_free_mem(block)); /* the first one stays, so that the second round grows the heap again */
    }
    OK(rma_barrier_all());
}

/* Data to one PE, then a flag to another one, which reads the data there: an atomic comes after the puts before it,
 * whatever way they go. Blocks of a local heap are given back after the last put. */
static void released(rma_ctx *ctx, int rounds) {
    OK(rma_ctx_session_start(ctx, RMA_CTX_SESSION_BATCH));
    OK(rma_ctx_session_start(RMA_CTX_DEFAULT, RMA_CTX_SESSION_BATCH));
    for (int r = 1; r <= rounds; r++) {
        const int flagged = job_any(1), data_at = job_any(1 + r % job.n);
        const int from = job_any(-1), from_data_at = (from + 1 + r % job.n) % job.n;
        const uint64_t value = (uint64_t)r * 7;
        uint64_t seen = value;
        rma_gptr_t g;
        OK(rma_alloc_mem_on(data_at, 64, &g));
        OK(rma_gptr_put(g, &value, sizeof value));
        OK(rma_gptr_free(g));
        OK(rma_ctx_put_nbi(ctx, &board->words[job.me % MOST_WORDS], &value, sizeof value, data_at));
        OK(rma_ctx_atomic_set(ctx, &board->flag, (uint64_t)r, flagged));
        OK(rma_wait_until(&board->flag, RMA_CMP_GE, (uint64_t)r));
        OK(rma_get(&seen, &board->words[from % MOST_WORDS], sizeof seen, from_data_at));
        CHECK(seen == value, "the flag of round %d is here, and at PE %d is %llu", r, from_data_at,
              (unsigned long long)seen);
        OK(rma_ctx_quiet(ctx));
        OK(rma_sync_all()); /* before somebody puts the next round */
    }
    OK(rma_ctx_session_stop(RMA_CTX_DEFAULT));
    OK(rma_ctx_session_stop(ctx));
    OK(rma_barrier_all());
    board->flag = 0;
    OK(rma_barrier_all());
}

/* ---- mistakes ---- */

static void nothing_works(const char *when) {
    EXPECT("rma_ctx_session_start", rma_ctx_session_start(RMA_CTX_DEFAULT, RMA_CTX_SESSION_BATCH), RMA_ERR_STATE, when);
    EXPECT("rma_ctx_session_stop", rma_ctx_session_stop(RMA_CTX_DEFAULT), RMA_ERR_STATE, when);
}

static void mistakes(void) {
    static const int bad[] = {2, 3, 1 << 30, -1, INT_MIN};
    rma_ctx *gone;
    OK(rma_ctx_create(0, &gone));
    OK(rma_ctx_session_start(gone, RMA_CTX_SESSION_BATCH));
    OK(rma_ctx_destroy(gone));
    EXPECT("rma_ctx_session_start", rma_ctx_session_start(gone, RMA_CTX_SESSION_BATCH), RMA_ERR_ARG,
           job_text("ctx %p", (void *)gone), "destroyed");
    EXPECT("rma_ctx_session_stop", rma_ctx_session_stop(gone), RMA_ERR_ARG, job_text("ctx %p", (void *)gone),
           "destroyed");
    EXPECT("rma_ctx_session_start", rma_ctx_session_start(RMA_CTX_INVALID, 0), RMA_ERR_ARG, "ctx is RMA_CTX_INVALID");
    EXPECT("rma_ctx_session_stop", rma_ctx_session_stop(RMA_CTX_INVALID), RMA_ERR_ARG, "ctx is RMA_CTX_INVALID");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        EXPECT("rma_ctx_session_start", rma_ctx_session_start(contexts[1], bad[i]), RMA_ERR_ARG,
               job_text("options %#x", (unsigned)bad[i]));
    CHECK(far < 0 || leaves_at_once(contexts[1]), "a refused call has begun a session");
}

int main(void) {
    rma_team *team;
    job_begin();
    nothing_works("before rma_init");
    OK(rma_init());
    job_look();
    far = -1;
    for (int step = 1; step < job.n && far < 0; step++)
        if (!rma_on_node(job_any(step))) far = job_any(step);
    board = rma_calloc(1, sizeof *board);
    CHECK(board, "%s", rma_last_error());
    OK(rma_team_split_strided(RMA_TEAM_WORLD, 0, 1, job.n, &team));
    contexts[0] = RMA_CTX_DEFAULT;
    OK(rma_ctx_create(RMA_CTX_PRIVATE, &contexts[1]));
    OK(rma_team_create_ctx(team, 0, &contexts[2]));
    OK(rma_barrier_all());
    for (int c = 0; c < 3 && far >= 0; c++) {
        for (int k = 0; k < KINDS; k++)
            for (int way = 0; way < WAYS; way++) {
                DOING(job_text("kind %d waits and leaves by way %d", k, way));
                waits_and_leaves(contexts[c], (enum kind)k, (enum way)way);
            }
        DOING("a reply does not send what has gathered");
        outlasts_reply(contexts[c]);
    }
    DOING("beginning and ending");
    if (far >= 0) begins_and_ends();
    OK(rma_barrier_all());
    for (int c = 0; c < 3; c++) {
        for (int k = 0; k < KINDS; k++)
            for (int wait = 0; wait < WAITS && k != GET_NBI; wait++) {
                DOING(job_text("kind %d, wait %d: nobody completes it", k, wait));
                ring(contexts[c], (enum kind)k, (enum wait)wait, 1 + (uint64_t)(c * 100 + k * 10 + wait));
            }
        DOING("order");
        in_order(contexts[c], (int)job_far_rounds(100, 20, 10));
    }
    for (int pe = 0; pe < job.n; pe++) n_far += !rma_on_node(pe);
    for (int c = 0; c < 2; c++) { /* a team may have other numbers */
        DOING("own words");
        if (n_far > 0) own_words(contexts[c], (int)job_far_rounds(200, 100, 50));
        OK(rma_barrier_all());
    }
    for (int c = 0; c < 3; c++) {
        DOING("one message for a node");
        if (goes_by_node() && n_far > 0) one_message_for_a_node(contexts[c]);
        OK(rma_barrier_all());
        DOING("histogram");
        histogram(contexts[c], (int)job_far_rounds(40, 20, 10));
        DOING("claims");
        claims(contexts[c], (int)job_far_rounds(20, 6, 3));
        DOING("mixed ways");
        mixed_ways(contexts[c], (int)job_far_rounds(100, 30, 15));
        DOING("released");
        released(contexts[c], (int)job_far_rounds(100, 30, 15));
    }
    DOING("grown heaps");
    grown();
    DOING("totals");
    totals(job_far_rounds(2000, 400, 200));
    DOING("mistakes");
    mistakes();
    DOING("the end");
    for (int c = 0; c < 3; c++) {
        OK(rma_ctx_session_start(contexts[c], RMA_CTX_SESSION_BATCH));
        OK(rma_ctx_atomic_add(contexts[c], &last[job.me], (uint64_t)c + 1, job_any(1)));
    }
    job_end();
    CHECK(last[job_any(-1)] == 6, "what was added in open sessions counts %llu", (unsigned long long)last[job_any(-1)]);
    nothing_works("after rma_finalize");
    return 0;
}
