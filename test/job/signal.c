/* SPDX-License-Identifier: BSD-3-Clause */
/* A PE that sees a signal sees all bytes that were put with it, and its sender's earlier puts, to this PE and to
 * others; and no signal is lost, doubled or misdirected.
 *
 * Broken by a signal that overtakes the end of a long put, or a put to another PE; by a form that uses another way from
 * some length on and forgets something there; by an addition that is not indivisible; and by a refused call that moves
 * something. Every PE sends to every PE, itself included, at the same time. There is no barrier: a receiver checks the
 * bytes as soon as it has seen the signal. */
#include "job.h"

#define SLOTS 2
#define LONG  (((size_t)1 << 20) + 3)
#define SMALL 5000

static size_t longest = LONG;
static size_t lengths[] = {0, 1, 8, 3967, 3968, 3969, 4096, (size_t)64 << 10, LONG};
enum { LENGTHS = sizeof lengths / sizeof lengths[0] };

enum kind { BY_SET, BY_ADD, NBI_SET, NBI_ADD, KINDS };

/* What one PE sends another: symmetric, one for each sender. */
struct box {
    _Alignas(64) uint64_t signal; /* messages that have come */
    _Alignas(64) uint64_t taken;  /* messages to the PE of this number that it has read */
    unsigned char before[SLOTS][SMALL];
    unsigned char third[SLOTS][SMALL]; /* on another PE than the signal */
};

static struct box *box;
static unsigned char *data;    /* symmetric: SLOTS of `longest` bytes for each sender */
static unsigned char *sources; /* the same, of this PE for each receiver */

static unsigned char *slot_of(unsigned char *area, int pe, uint64_t i) {
    return area + ((size_t)pe * SLOTS + i % SLOTS) * (longest + 61);
}

/* Message i from one PE to another: how long it is, and what is put before it. The long ones seldom. */
struct message {
    size_t len, before, third;
    uint64_t key;
    int stranger;
};

static struct message message(int from, int to, uint64_t i) {
    uint64_t draw = job_stream(i << 20 | (uint64_t)from << 10 | (uint64_t)to);
    size_t k = job_below(&draw, 40);
    struct message m = {.key = draw, .stranger = (to + 1 + (int)(i % 2)) % job.n};
    m.len = lengths[k == 0 ? LENGTHS - 1 : k < 4 ? LENGTHS - 2 : k % (LENGTHS - 2)];
    m.before = job_length(&draw, SMALL);
    m.third = job_length(&draw, SMALL);
    return m;
}

static void send(int to, uint64_t i, enum kind kind) {
    static unsigned char small[SMALL];
    struct message m = message(job.me, to, i);
    unsigned char *source = slot_of(sources, to, i), *dest = slot_of(data, job.me, i);
    uint64_t *signal = &box[job.me].signal;
    int code = RMA_SUCCESS;
    job_fill(source, 0, m.len, m.key);
    job_fill(small, 0, m.before, m.key + 1);
    OK(rma_put(box[job.me].before[i % SLOTS], small, m.before, to));
    job_fill(small, 0, m.third, m.key + 2);
    OK(rma_put(box[job.me * job.n + to].third[i % SLOTS], small, m.third, m.stranger));
    switch (kind) {
        case BY_SET: code = rma_put_signal(dest, source, m.len, signal, i, RMA_SIGNAL_SET, to); break;
        case BY_ADD: code = rma_put_signal(dest, source, m.len, signal, 1, RMA_SIGNAL_ADD, to); break;
        case NBI_SET: code = rma_put_signal_nbi(dest, source, m.len, signal, i, RMA_SIGNAL_SET, to); break;
        default: code = rma_put_signal_nbi(dest, source, m.len, signal, 1, RMA_SIGNAL_ADD, to);
    }
    CHECK(code == RMA_SUCCESS, "%s", rma_last_error());
    /* It is the caller's again. */
    if (kind == BY_SET || kind == BY_ADD) memset(source, 0xee, m.len < 10000 ? m.len : 10000);
}

static void receive(int from, uint64_t i) {
    static unsigned char third[SMALL];
    struct message m = message(from, job.me, i);
    size_t wrong = job_differs(slot_of(data, from, i), 0, m.len, m.key);
    CHECK(wrong == m.len, "message %llu from PE %d: byte %zu of %zu", (unsigned long long)i, from, wrong, m.len);
    wrong = job_differs(box[from].before[i % SLOTS], 0, m.before, m.key + 1);
    CHECK(wrong == m.before, "before message %llu from PE %d: byte %zu of %zu", (unsigned long long)i, from, wrong,
          m.before);
    OK(rma_get(third, box[from * job.n + job.me].third[i % SLOTS], m.third, m.stranger));
    wrong = job_differs(third, 0, m.third, m.key + 2);
    CHECK(wrong == m.third, "before message %llu from PE %d, on PE %d: byte %zu of %zu", (unsigned long long)i, from,
          m.stranger, wrong, m.third);
}

/* How a receiver waits. The sender may be one message further. */
static void await(uint64_t *signal, uint64_t i) {
    uint64_t seen = 0;
    switch (i % 4) {
        case 0: seen = rma_signal_wait_until(signal, RMA_CMP_NE, i - 1); break;
        case 1: seen = rma_signal_wait_until(signal, RMA_CMP_GT, i - 1); break;
        case 2:
            OK(rma_wait_until(signal, RMA_CMP_GE, i));
            seen = rma_signal_fetch(signal);
            break;
        default:
            while ((seen = rma_signal_fetch(signal)) < i) job_pause();
    }
    CHECK(seen == i || seen == i + 1, "the signal is %llu and not %llu", (unsigned long long)seen,
          (unsigned long long)i);
}

/* A message is sent when the one that was in its slot has been read. */
static void stream(enum kind kind, uint64_t n) {
    for (uint64_t i = 1; i <= n; i++) {
        if (kind >= NBI_SET && i % SLOTS == 1) OK(rma_quiet()); /* the sources */
        for (int step = 0; step < job.n; step++) {
            int to = job_any(step);
            OK(rma_wait_until(&box[to].taken, RMA_CMP_GE, i < SLOTS ? 0 : i - SLOTS));
            send(to, i, kind);
        }
        for (int step = 0; step < job.n; step++) {
            int from = job_any(-step);
            await(&box[from].signal, i);
            receive(from, i);
            OK(rma_atomic_set(&box[job.me].taken, i, from));
        }
    }
    OK(rma_barrier_all());
    for (int pe = 0; pe < job.n; pe++) box[pe].signal = box[pe].taken = 0;
    OK(rma_barrier_all());
}

/* Two streams in the program's variables: only as long as they have room. */
static unsigned char in_statics[8][SLOTS][4096];
static uint64_t signals[8], taken[8];

static void statics(uint64_t n) {
    unsigned char source[4096];
    if (job.n > 8) return;
    for (uint64_t i = 1; i <= n; i++) {
        for (int to = 0; to < job.n; to++) {
            size_t len = lengths[(i + (uint64_t)to) % 7];
            OK(rma_wait_until(&taken[to], RMA_CMP_GE, i - 1));
            job_fill(source, 0, len, i * 64 + (uint64_t)(to * 8 + job.me));
            OK(rma_put_signal(in_statics[job.me][i % SLOTS], source, len, &signals[job.me], i, RMA_SIGNAL_SET, to));
        }
        for (int from = 0; from < job.n; from++) {
            size_t len = lengths[(i + (uint64_t)job.me) % 7];
            CHECK(rma_signal_wait_until(&signals[from], RMA_CMP_GE, i) == i, "signal of PE %d", from);
            CHECK(job_differs(in_statics[from][i % SLOTS], 0, len, i * 64 + (uint64_t)(job.me * 8 + from)) == len,
                  "message %llu of %zu bytes from PE %d in a variable", (unsigned long long)i, len, from);
            OK(rma_atomic_set(&taken[job.me], i, from));
        }
    }
    OK(rma_barrier_all());
}

/* All PEs signal one word of each PE, without waiting for each other; the sum is exact, and wraps around. */
static void counted(uint64_t n) {
    uint64_t *sum = rma_calloc(1, sizeof *sum), want = 0, weight = (uint64_t)1 << 61 | (uint64_t)(job.me + 1);
    unsigned char(*area)[SMALL] = rma_calloc((size_t)job.n, SMALL), *source = malloc(SMALL);
    CHECK(sum && area && source, "%s", rma_last_error());
    job_fill(source, 0, SMALL, (uint64_t)job.me);
    for (uint64_t i = 0; i < n; i++)
        for (int step = 0; step < job.n; step++) {
            int to = job_any(step);
            size_t len = i == n - 1 ? SMALL : lengths[i % (LENGTHS - 2)];
            if (i % 3)
                OK(rma_put_signal(area[job.me], source, len, sum, weight, RMA_SIGNAL_ADD, to));
            else
                OK(rma_put_signal_nbi(area[job.me], source, len, sum, weight, RMA_SIGNAL_ADD, to));
        }
    for (int pe = 0; pe < job.n; pe++) want += n * ((uint64_t)1 << 61 | (uint64_t)(pe + 1));
    CHECK(rma_signal_wait_until(sum, RMA_CMP_EQ, want) == want, "the sum");
    for (int pe = 0; pe < job.n; pe++) {
        size_t wrong = job_differs(area[pe], 0, SMALL, (uint64_t)pe);
        CHECK(wrong == SMALL, "byte %zu from PE %d", wrong, pe);
    }
    OK(rma_barrier_all());
    CHECK(rma_signal_fetch(sum) == want, "the sum has changed");
    OK(rma_free(sum));
    OK(rma_free(area));
    free(source);
}

/* Signals alone, in the default context and in another one: after the puts of that context. */
static void signals_alone(void) {
    const uint64_t rounds = 300;
    uint64_t *counts = rma_calloc((size_t)job.n, sizeof *counts), *turn = rma_calloc((size_t)job.n, sizeof *turn),
             *news;
    rma_ctx *ctx;
    news = rma_calloc((size_t)job.n, sizeof *news);
    CHECK(counts && turn && news, "%s", rma_last_error());
    OK(rma_ctx_create(0, &ctx));
    for (uint64_t i = 1; i <= rounds; i++) {
        for (int step = 0; step < job.n; step++) {
            int to = job_any(step);
            if (i % 2) {
                OK(rma_put(&news[job.me], &i, sizeof i, to));
                OK(rma_signal_add(&counts[job.me], 3, to));
                OK(rma_signal_set(&turn[job.me], i, to));
            } else {
                OK(rma_ctx_put(ctx, &news[job.me], &i, sizeof i, to));
                OK(rma_ctx_signal_add(ctx, &counts[job.me], 3, to));
                OK(rma_ctx_signal_set(ctx, &turn[job.me], i, to));
            }
        }
        for (int pe = 0; pe < job.n; pe++) {
            CHECK(rma_signal_wait_until(&turn[pe], RMA_CMP_GE, i) == i, "turn %llu of PE %d", (unsigned long long)i,
                  pe);
            CHECK(news[pe] == i, "PE %d has put %llu before turn %llu", pe, (unsigned long long)news[pe],
                  (unsigned long long)i);
            CHECK(rma_signal_fetch(&counts[pe]) == 3 * i, "PE %d has added %llu times 3 before turn %llu", pe,
                  (unsigned long long)counts[pe] / 3, (unsigned long long)i);
        }
        OK(rma_barrier_all());
    }
    OK(rma_ctx_destroy(ctx));
    OK(rma_free(news));
    OK(rma_free(turn));
    OK(rma_free(counts));
}

/* Each PE sends all PEs a column of a matrix, with a signal, and puts something before it. One area for each size of
 * elements: a sender may be one message further. On the way are elements that go in short messages, and longer ones. */
#define ROWS 7
static const size_t elements[] = {1, 8, 3, 40, 600, 5000};
enum { ELEMENTS = sizeof elements / sizeof elements[0] };

static void columns(uint64_t n) {
    const size_t area_size = (size_t)job.n * ROWS * 5000;
    unsigned char *areas = rma_calloc(ELEMENTS, area_size), *source = malloc((size_t)2 * ROWS * 5000);
    uint64_t *come = rma_calloc((size_t)job.n, sizeof *come), *read = rma_calloc((size_t)job.n, sizeof *read),
             *before = rma_calloc((size_t)job.n, sizeof *before);
    rma_ctx *ctx;
    CHECK(areas && source && come && read && before, "%s", rma_last_error());
    OK(rma_ctx_create(0, &ctx));
    for (uint64_t i = 1; i <= n; i++) {
        const size_t elem = elements[i % ELEMENTS];
        unsigned char *area = areas + i % ELEMENTS * area_size;
        for (int step = 0; step < job.n; step++) {
            const int to = job_any(step), op = i % 4 < 2 ? RMA_SIGNAL_SET : RMA_SIGNAL_ADD;
            const uint64_t value = op == RMA_SIGNAL_SET ? i : 1, key = i << 20 | (uint64_t)(job.me << 10 | to);
            unsigned char *dest = area + (size_t)job.me * elem;
            OK(rma_wait_until(&read[to], RMA_CMP_GE, i - 1));
            for (size_t k = 0; k < ROWS; k++) job_fill(source + 2 * k * elem, k * elem, elem, key);
            if (i % 2) {
                OK(rma_put(&before[job.me], &i, sizeof i, to));
                OK(rma_iput_signal(dest, source, job.n, 2, elem, ROWS, &come[job.me], value, op, to));
            } else {
                OK(rma_ctx_put(ctx, &before[job.me], &i, sizeof i, to));
                OK(rma_ctx_iput_signal(ctx, dest, source, job.n, 2, elem, ROWS, &come[job.me], value, op, to));
            }
            memset(source, 0xee, 2 * ROWS * elem); /* it is the caller's again */
        }
        for (int step = 0; step < job.n; step++) {
            const int from = job_any(-step);
            const uint64_t key = i << 20 | (uint64_t)(from << 10 | job.me);
            CHECK(rma_signal_wait_until(&come[from], RMA_CMP_GE, i) == i, "the signal of PE %d", from);
            CHECK(before[from] == i, "PE %d has put %llu before signal %llu", from, (unsigned long long)before[from],
                  (unsigned long long)i);
            for (size_t k = 0; k < ROWS; k++)
                CHECK(job_differs(area + (k * (size_t)job.n + (size_t)from) * elem, k * elem, elem, key) == elem,
                      "message %llu from PE %d: element %zu of %zu bytes", (unsigned long long)i, from, k, elem);
            OK(rma_atomic_set(&read[job.me], i, from));
        }
    }
    OK(rma_barrier_all());
    /* Without elements it is the signal alone, wherever they would be. */
    for (int pe = 0; pe < job.n; pe++) OK(rma_iput_signal(NULL, NULL, 1, 1, 8, 0, before, n, RMA_SIGNAL_ADD, pe));
    OK(rma_barrier_all());
    CHECK(before[0] == n * (uint64_t)(job.n + 1), "signals alone: %llu", (unsigned long long)before[0]);
    OK(rma_ctx_destroy(ctx));
    OK(rma_free(before));
    OK(rma_free(read));
    OK(rma_free(come));
    OK(rma_free(areas));
    free(source);
}

/* ---- mistakes ---- */

static void refused(void *dest, size_t len, uint64_t *signal, int op, int pe, int code, const char *words,
                    const char *also) {
    unsigned char source[64] = {1, 2, 3};
    EXPECT("rma_put_signal", rma_put_signal(dest, source, len, signal, 77, op, pe), code, words, also);
    EXPECT("rma_put_signal_nbi", rma_put_signal_nbi(dest, source, len, signal, 77, op, pe), code, words, also);
    EXPECT("rma_iput_signal", rma_iput_signal(dest, source, 1, 1, 1, len, signal, 77, op, pe), code, words, also);
    EXPECT("rma_ctx_iput_signal", rma_ctx_iput_signal(RMA_CTX_DEFAULT, dest, source, 1, 1, 1, len, signal, 77, op, pe),
           code, words, also);
    if ((len && code != RMA_ERR_PE) || code == RMA_ERR_ARG) return;
    /* Without data: the signal is what is wrong. */
    EXPECT("rma_signal_set", rma_signal_set(signal, 77, pe), code, words, also);
    EXPECT("rma_signal_add", rma_signal_add(signal, 77, pe), code, words, also);
    EXPECT("rma_ctx_signal_set", rma_ctx_signal_set(RMA_CTX_DEFAULT, signal, 77, pe), code, words, also);
    EXPECT("rma_ctx_signal_add", rma_ctx_signal_add(RMA_CTX_DEFAULT, signal, 77, pe), code, words, also);
}

static void mistakes(void) {
    const int ops[] = {-1, 2, 7, INT_MAX, INT_MIN}, pes[] = {-1, job.n, INT_MAX, 1 << 24};
    uint64_t stack[8] = {0}, *alone, *word = rma_calloc(2, sizeof *word);
    unsigned char *block = rma_calloc(64, 1);
    CHECK(word && block, "%s", rma_last_error());
    OK(rma_alloc_mem(64, &alone));
    memset(alone, 0, 64);
    for (int pe = 0; pe < job.n; pe++) {
        for (size_t k = 0; k < sizeof ops / sizeof ops[0]; k++)
            for (size_t len = 0; len <= 64; len += 64)
                refused(block, len, word, ops[k], pe, RMA_ERR_ARG, job_text("op %d is neither", ops[k]), "");
        for (int op = RMA_SIGNAL_SET; op <= RMA_SIGNAL_ADD; op++) {
            void *const nowhere[] = {stack, alone};
            refused(NULL, 64, word, op, pe, RMA_ERR_ADDRESS, "dest is a null pointer", "");
            refused(block, 64, NULL, op, pe, RMA_ERR_ADDRESS, "signal is a null pointer", "");
            refused(block, 0, NULL, op, pe, RMA_ERR_ADDRESS, "signal is a null pointer", "");
            for (size_t k = 0; k < 2; k++) {
                refused(nowhere[k], 64, word, op, pe, RMA_ERR_ADDRESS, job_text("dest %p", nowhere[k]), "64 bytes");
                refused(block, 64, nowhere[k], op, pe, RMA_ERR_ADDRESS, job_text("signal %p", nowhere[k]),
                        "symmetric heap");
                refused(block, 0, nowhere[k], op, pe, RMA_ERR_ADDRESS, job_text("signal %p", nowhere[k]),
                        "symmetric heap");
            }
            refused(block, SIZE_MAX, word, op, pe, RMA_ERR_ADDRESS, "dest", job_text("%zu bytes", SIZE_MAX));
            refused(block, (size_t)1 << 40, word, op, pe, RMA_ERR_ADDRESS, "dest",
                    job_text("%zu bytes", (size_t)1 << 40));
            for (size_t k = 1; k < 8; k++) {
                uint64_t *off = (uint64_t *)(void *)((char *)word + k);
                refused(block, 64, off, op, pe, RMA_ERR_ADDRESS, job_text("signal %p is not aligned", (void *)off),
                        "8 bytes");
                refused(block, 0, off, op, pe, RMA_ERR_ADDRESS, job_text("signal %p is not aligned", (void *)off),
                        "8 bytes");
            }
        }
    }
    for (size_t k = 0; k < sizeof pes / sizeof pes[0]; k++)
        for (int op = RMA_SIGNAL_SET; op <= RMA_SIGNAL_ADD; op++)
            refused(block, 64, word, op, pes[k], RMA_ERR_PE, job_text("PE %d is outside", pes[k]), "");
    OK(rma_barrier_all());
    for (int i = 0; i < 64; i++) CHECK(block[i] == 0, "a refused call put byte %d", i);
    CHECK(word[0] == 0 && word[1] == 0 && stack[0] == 0 && alone[0] == 0, "a refused call signalled");
    OK(rma_barrier_all());
    /* No data, so no address of them. */
    for (int pe = 0; pe < job.n; pe++) OK(rma_put_signal(NULL, NULL, 0, word, 1, RMA_SIGNAL_ADD, pe));
    CHECK(rma_signal_wait_until(word, RMA_CMP_EQ, (uint64_t)job.n) == (uint64_t)job.n, "signals alone");
    OK(rma_barrier_all());
    OK(rma_free_mem(alone));
    OK(rma_free(block));
    OK(rma_free(word));
}

int main(void) {
    static const char *const names[KINDS] = {"put_signal, set", "put_signal, add", "put_signal_nbi, set",
                                             "put_signal_nbi, add"};
    job_start();
    box = rma_calloc((size_t)(job.n * job.n), sizeof *box);
    if (job_room() < 2 * SLOTS * LONG * (size_t)job.n) longest = LONG / 4; /* /dev/shm is small */
    lengths[sizeof lengths / sizeof *lengths - 1] = longest;
    data = rma_calloc((size_t)job.n * SLOTS, longest + 61);
    sources = malloc((size_t)job.n * SLOTS * (longest + 61));
    CHECK(box && data && sources, "%s", rma_last_error());
    for (int kind = 0; kind < KINDS; kind++) {
        DOING(names[kind]);
        stream((enum kind)kind, (uint64_t)job_far_rounds(600, 100, 20));
    }
    DOING("in variables");
    statics((uint64_t)job_far_rounds(2000, 200, 40));
    DOING("counting");
    counted((uint64_t)job_far_rounds(5000, 1000, 50));
    DOING("alone");
    signals_alone();
    DOING("columns");
    columns((uint64_t)job_far_rounds(600, 120, 30));
    DOING("mistakes");
    mistakes();
    OK(rma_free(data));
    OK(rma_free(box));
    free(sources);
    return job_end();
}
