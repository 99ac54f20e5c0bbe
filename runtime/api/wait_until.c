/* SPDX-License-Identifier: BSD-3-Clause */
/* The public calls that wait for words, or test them. Six comparisons of words of several types become one: a word is
 * mapped to 64 bits so that the order of its type becomes that of unsigned numbers, and a comparison holds if that
 * number is in a range, or outside of it (RMA_CMP_NE). So a poll is a load, three instructions and a branch, whatever
 * the program waits for. */
#include "config.h"

#include "base/attributes.h"
#include "base/error.h"
#include "base/wait.h"
#include "runtime/denied.h"
#include "runtime/net/progress.h"
#include "runtime/node/barrier.h"
#include "runtime/reach.h"
#include "runtime/space.h"
#include "runtime/watch/stall.h"
#include "runtime/world.h"

#include <inttypes.h>
#include <stdio.h>

/* The condition for a word x: (map_word(x) - low <= span) != inverted. */
struct condition {
    uint64_t low, span;
    int inverted;
};

/* The words of one call. */
struct words {
    const char *call;
    const char *at;
    size_t n, len;
    uint64_t flip;      /* the sign bit of signed words */
    const int *status;  /* or NULL; words with a nonzero status are left out */
    const void *values; /* one, or n of them */
    int many, cmp;
    size_t start; /* ANY: the search begins with this word; else 0 */
};

static inline uint64_t map_word(const struct words *s, const void *word) {
    /* Acquire: this PE then sees what the writer did before. */
    if (s->len == 8) return __atomic_load_n((const uint64_t *)word, __ATOMIC_ACQUIRE) ^ s->flip;
    if (s->len == 4) return __atomic_load_n((const uint32_t *)word, __ATOMIC_ACQUIRE) ^ (uint32_t)s->flip;
    return __atomic_load_n((const uint16_t *)word, __ATOMIC_ACQUIRE) ^
           (uint16_t)s->flip; /* OpenSHMEM's shmem_short_wait */
}

static struct condition condition_of(const struct words *s, size_t i) {
    uint64_t most = s->len == 8 ? UINT64_MAX : s->len == 4 ? UINT32_MAX : UINT16_MAX;
    uint64_t v = map_word(s, (const char *)s->values + (s->many ? i * s->len : 0));
    static const struct condition never = {.low = 0, .span = UINT64_MAX, .inverted = 1};
    switch ((enum rma_cmp)s->cmp) {
        case RMA_CMP_EQ: return (struct condition){.low = v};
        case RMA_CMP_NE: return (struct condition){.low = v, .inverted = 1};
        case RMA_CMP_GT: return v == most ? never : (struct condition){.low = v + 1, .span = most - v - 1};
        case RMA_CMP_GE: return (struct condition){.low = v, .span = most - v};
        case RMA_CMP_LT: return v == 0 ? never : (struct condition){.low = 0, .span = v - 1};
        case RMA_CMP_LE: return (struct condition){.low = 0, .span = v};
    }
    return never;
}

static int condition_holds(const struct condition *c, uint64_t x) { return (x - c->low <= c->span) != c->inverted; }

/* All checks of the arguments. A word that no other PE can reach is refused: the wait for it would never end. */
static int check_words(const struct words *s, const char *argument) {
    struct rmai_world *w = &rmai_world;
    size_t bytes;
    int code = rmai_running(s->call);
    if (code != RMA_SUCCESS) return code;
    if (s->cmp < RMA_CMP_EQ || s->cmp > RMA_CMP_LE)
        return rmai_error(RMA_ERR_ARG, "%s: cmp %d is %s", s->call, s->cmp,
                          rmai_error_of_shmem(s->call) ? "none of SHMEM_CMP_EQ, _NE, _GT, _GE, _LT, _LE"
                                                       : "no value of enum rma_cmp");
    if (s->n == 0) return RMA_SUCCESS;
    if (!s->at) return rmai_null_pointer(RMA_ERR_ARG, s->call, argument);
    if ((uintptr_t)s->at & (s->len - 1))
        return rmai_error(RMA_ERR_ADDRESS, "%s: %s %p is not aligned to its %zu bytes", s->call, argument,
                          (const void *)s->at, s->len);
    if (__builtin_mul_overflow(s->n, s->len, &bytes) || rmai_gptr_own(w, s->at, bytes) == RMA_GPTR_NULL)
        return rmai_error(RMA_ERR_ADDRESS,
                          "%s: %s %p with %zu word%s of %zu bytes is in no memory of this PE that others reach, so "
                          "none could change it",
                          s->call, argument, (const void *)s->at, s->n, rmai_s(s->n), s->len);
    return RMA_SUCCESS;
}

static struct words describe_words(const char *call, int word, const void *at, size_t n, const int *status, int cmp,
                                   const void *values, int many) {
    size_t len = (size_t)word & RMA_WORD_LEN_;
    return (struct words){.call = call,
                          .at = at,
                          .n = n,
                          .len = len,
                          .flip = word & RMA_WORD_SIGNED_ ? (uint64_t)1 << (8 * len - 1) : 0,
                          .status = status,
                          .values = values,
                          .many = many,
                          .cmp = cmp};
}

/* ---- one word ---- */

/* The first polls, so that a store that arrives now is seen at once. In a job of several nodes a message may bring the
 * store: then polls for messages follow after a few of these. */
#define HOT_POLLS     100
#define HOT_POLLS_FAR 4
#define HOT_TURNS     32 /* of progress */

/* 1 if the word can be read and compared. Finding out whether another PE can change it takes longer; check_words does
 * so after the hot polls. */
static int can_poll(const struct words *s) {
    return rma_reach_.running && s->at && ((uintptr_t)s->at & (s->len - 1)) == 0 && s->cmp >= RMA_CMP_EQ &&
           s->cmp <= RMA_CMP_LE;
}

/* Reports tell the word, and what it is compared with. */
static void describe_word(const void *described, char text[RMAI_WAITING_DETAIL]) {
    static const char *const is[] = {
        [RMA_CMP_EQ] = "is",       [RMA_CMP_NE] = "is not",      [RMA_CMP_GT] = "is above",
        [RMA_CMP_LT] = "is below", [RMA_CMP_GE] = "is at least", [RMA_CMP_LE] = "is at most"};
    const struct words *s = described;
    const uint64_t seen = map_word(s, s->at) ^ s->flip, value = map_word(s, s->values) ^ s->flip;
    const int unused = 64 - 8 * (int)s->len; /* bits */
    if (s->flip)
        snprintf(text, RMAI_WAITING_DETAIL, "the word %p %s %" PRId64 " (it is %" PRId64 ")", (const void *)s->at,
                 is[s->cmp], (int64_t)(value << unused) >> unused, (int64_t)(seen << unused) >> unused);
    else
        snprintf(text, RMAI_WAITING_DETAIL, "the word %p %s %" PRIu64 " (it is %" PRIu64 ")", (const void *)s->at,
                 is[s->cmp], value, seen);
}

static RMAI_COLD int wait_for_word(const struct words *s, const char *argument, const struct condition *c,
                                   uint64_t *x) {
    struct rmai_world *w = &rmai_world;
    struct rmai_stall stall = {
        .call = s->call, .awaited = RMAI_AWAITED_ANY, .by_call = 1, .describe = describe_word, .described = s};
    struct rmai_backoff backoff = {
        .polls = (unsigned)rmai_min(HOT_POLLS, w->barrier->patience.polls), /* the hot polls are done already */
        .stall = &stall};
    int code = check_words(s, argument);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    while (!condition_holds(c, *x = map_word(s, s->at))) rmai_backoff_turn(&backoff, &w->barrier->patience);
    rmai_backoff_over(&backoff, &w->barrier->patience);
    rmai_wait_over(&w->barrier->patience, &stall);
    return RMA_SUCCESS;
}

/* The first polls of a job of several nodes. Returns 0 if they do not suffice. */
static int progress_until(const struct words *s, const struct condition *c, uint64_t *x) {
    const struct rmai_patience *patience = &rmai_world.barrier->patience;
    for (unsigned turns = (unsigned)rmai_min(HOT_TURNS, rmai_polls(patience)); turns > 0; turns--) {
        rmai_net_progress(rmai_world.net, 1);
        if (condition_holds(c, *x = map_word(s, s->at))) return 1;
    }
    return 0;
}

int rma_wait_slow_(const char *call, int word, const void *ivar, int cmp, const void *value, uint64_t *seen) {
    struct words s = describe_words(call, word, ivar, 1, NULL, cmp, value, 0);
    int polls = can_poll(&s) ? HOT_POLLS : 0, code = RMA_SUCCESS;
    struct condition c = {0};
    uint64_t x = 0;
    if (polls) c = condition_of(&s, 0);
    while (polls > 0 && !condition_holds(&c, x = map_word(&s, ivar)))
        if (--polls == HOT_POLLS - HOT_POLLS_FAR && rmai_world.job.networked) polls = progress_until(&s, &c, &x);
    if (polls == 0) code = wait_for_word(&s, seen ? "signal" : "ivar", &c, &x);
    if (seen && code == RMA_SUCCESS) *seen = x ^ s.flip;
    return code;
}

/* One number for what the words hold. */
static uint64_t contents_of(const struct words *s) {
    uint64_t sum = 0;
    for (size_t i = 0; i < s->n; i++) sum = sum * 0x9e3779b97f4a7c15u + map_word(s, s->at + i * s->len);
    return sum;
}

static RMAI_COLD void look_at_loop(const struct words *s) {
    rmai_stall_test(rmai_world.watch, s->call, s->at, contents_of(s));
}

/* After a test whose condition does not hold. A program that tests in a loop waits: the store may need this PE's
 * progress, or may never come. */
static void nothing_yet(const struct words *s) {
    if (!rma_reach_.one_node) rmai_net_progress(rmai_world.net, 1);
    if (RMAI_UNLIKELY(rmai_stall_test_due())) look_at_loop(s);
}

static int in_own_heap(const struct words *s) { return (uintptr_t)s->at - rma_reach_.base < RMA_REACH_SIZE_ONCE_; }

/* One poll; an inlined one may have failed before. */
int rma_test_slow_(const char *call, int word, const void *ivar, int cmp, const void *value) {
    struct words s = describe_words(call, word, ivar, 1, NULL, cmp, value, 0);
    struct condition c;
    int code = RMA_SUCCESS, yes;
    if (!RMAI_LIKELY(in_own_heap(&s) && can_poll(&s))) code = check_words(&s, "ivar");
    if (code != RMA_SUCCESS) {
        rmai_raise(code);
        return 0;
    }
    c = condition_of(&s, 0);
    yes = condition_holds(&c, map_word(&s, ivar));
    if (!yes) nothing_yet(&s);
    return yes;
}

/* ---- many words ---- */

/* The result of reading all words once. */
struct scan {
    size_t held, of; /* words for which the condition holds; words that are not left out */
    size_t first;    /* index of the first for which it holds */
};

/* Reads the words once, those of ANY from s->start on and round to it. ANY stops at the first word for which the
 * condition holds, ALL at the first for which it does not; SOME writes the indices of all for which it holds. */
static inline struct scan scan_words(const struct words *s, int what, size_t *indices) {
    struct scan f = {.first = SIZE_MAX};
    struct condition c = condition_of(s, 0);
    const int *status = s->status;
    for (size_t i = s->start, end = s->n;; i++) {
        if (i == end) {
            if (s->start == 0 || end == s->start) break;
            i = 0;
            end = s->start;
        }
        if (status && status[i]) continue;
        f.of++;
        if (s->many) c = condition_of(s, i);
        if (!condition_holds(&c, map_word(s, s->at + i * s->len))) {
            if (what == RMA_ALL_) break;
            continue;
        }
        if (f.held == 0) f.first = i;
        if (indices) indices[f.held] = i;
        f.held++;
        if (what == RMA_ANY_) break;
    }
    return f;
}

static int scan_decides(const struct scan *f, int what) {
    return f->of == 0 || (what == RMA_ALL_ ? f->held == f->of : f->held > 0);
}

/* Repeated calls for any of some words must name each word for which the comparison holds (OpenSHMEM 1.6 section 9.11).
 * So each search begins with a random word. A place remembered from call to call would move in step with the program:
 * two alternating calls would start at the same words each time. The state counts up by an odd number, and two
 * multiplications mix it. */
static size_t draw_start(size_t n) {
    static _Thread_local uint64_t state __attribute__((tls_model("initial-exec")));
    uint64_t x = state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (size_t)((x ^ x >> 31) % n);
}

static void describe_words_waited(const void *described, char text[RMAI_WAITING_DETAIL]) {
    const struct words *s = described;
    snprintf(text, RMAI_WAITING_DETAIL, "some of the %zu words from %p on change", s->n, (const void *)s->at);
}

static RMAI_COLD struct scan wait_for_words(const struct words *s, int what, size_t *indices) {
    const struct rmai_patience *patience = &rmai_world.barrier->patience;
    struct rmai_stall stall = {
        .call = s->call, .awaited = RMAI_AWAITED_ANY, .by_call = 1, .describe = describe_words_waited, .described = s};
    struct rmai_backoff backoff = {.stall = &stall};
    struct scan f;
    do {
        rmai_backoff_turn(&backoff, patience);
        f = scan_words(s, what, indices);
    } while (!scan_decides(&f, what));
    rmai_backoff_over(&backoff, patience);
    rmai_wait_over(patience, &stall);
    return f;
}

size_t rma_words_(const char *call, int what, int waits, int word, const void *ivars, size_t n, size_t *indices,
                  const int *status, int cmp, const void *values, int many, int *code) {
    struct words s = describe_words(call, word, ivars, n, status, cmp, values, many);
    struct scan f;
    *code = check_words(&s, "ivars");
    if (*code == RMA_SUCCESS && n && !values) *code = rmai_error(RMA_ERR_ARG, "%s: values is a null pointer", call);
    if (*code == RMA_SUCCESS && n && what == RMA_SOME_ && !indices)
        *code = rmai_error(RMA_ERR_ARG, "%s: indices is a null pointer", call);
    if (*code != RMA_SUCCESS) {
        rmai_raise(*code);
        return what == RMA_ANY_ ? SIZE_MAX : 0;
    }
    if (n == 0) return what == RMA_ANY_ ? SIZE_MAX : what == RMA_ALL_;
    if (what == RMA_ANY_) s.start = draw_start(n);
    f = scan_words(&s, what, indices);
    if (!scan_decides(&f, what) && waits) {
        f = wait_for_words(&s, what, indices);
    } else if (!scan_decides(&f, what)) {
        nothing_yet(&s);
    }
    if (what == RMA_ANY_) return f.first;
    return what == RMA_SOME_ ? f.held : (size_t)scan_decides(&f, what);
}
