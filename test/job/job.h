/* SPDX-License-Identifier: BSD-3-Clause */
/* job.h: the common part of the job tests: starting, checks that end the job, expected errors, teams, patterns,
 * waiting.
 *
 * A test is a program whose name is its claim. It calls job_start, asks questions by CHECK, OK and EXPECT, and returns
 * job_end(). A check that fails prints PE, file, line and what was found, and ends the job. Data move among all PEs, on
 * any nodes; only load and store (rma_ptr, rma_gptr_ptr) are limited to the node, whose PEs are job.pes. Between nodes
 * an operation takes a hundred times longer (job_far_rounds), and a put is under way until rma_quiet (job_order,
 * job_settle).
 *
 * Random numbers come from job_random, so that every run does the same; RMA_TEST_SEED=n changes them. RMA_TEST_DEPTH
 * (see test/run-job) says how many rounds are run, RMA_TEST_SLOW=n makes deadlines n times as long. */
#ifndef JOB_H
#define JOB_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity; hence this header comes first */
#endif

#include <rma.h>
#include <mpi.h>

#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define JOB_PES_MAX  64 /* more PEs than any test is run with */
#define JOB_DEADLINE 50 /* seconds; run-job's own deadline comes later and knows less */
#define JOB_SLOWER   10 /* under valgrind: so many times longer, so many times fewer rounds */

struct job {
    int me, n;            /* this PE, PEs */
    int n_near, near;     /* PEs of this node, this PE's number among them */
    int pes[JOB_PES_MAX]; /* their numbers in the job, ascending */
    bool one_node;        /* all PEs are on this node */
    bool crowded;         /* more PEs than processors: who waits must sleep */
    bool slow;            /* under valgrind */
    long part;            /* one in so many of all rounds is run, by RMA_TEST_DEPTH */
    uint64_t seed;
};

static struct job job = {.me = -1};
static const char *volatile job_doing = "starting";

/* What the error handler was shown since job_expect began. */
static _Thread_local struct {
    int count, code;
    char text[1100];
} job_raised;

/* ---- failing ---- */

static inline void job_fail(const char *file, int line, const char *what, const char *format, ...)
    __attribute__((format(printf, 4, 5), noreturn, cold));

static inline void job_fail(const char *file, int line, const char *what, const char *format, ...) {
    char text[1400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "PE %d: %s:%d: not so: %s: %s (%s; seed %llu)\n", job.me, file, line, what, text, job_doing,
            (unsigned long long)job.seed);
    fflush(NULL);
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL); /* launchers lose what is printed just before an abort */
    rma_abort(1);
}

/* CHECK: the condition holds, or the job ends with the text. OK: the call returns RMA_SUCCESS. */
#define CHECK(condition, ...) ((condition) ? (void)0 : job_fail(__FILE__, __LINE__, #condition, __VA_ARGS__))
#define OK(call)              CHECK((call) == RMA_SUCCESS, "%s", rma_last_error())

/* DOING: what this PE is at, for the texts of failures. */
#define DOING(text) ((void)(job_doing = (text)))

static inline void job_too_late(int signal) {
    char text[200];
    int len = snprintf(text, sizeof text, "PE %d: the deadline has passed: %s\n", job.me, job_doing);
    (void)signal;
    if (write(2, text, (size_t)len) < 0) _exit(2);
    _exit(1);
}

/* job_text: a formatted text; the eight newest stay valid. */
static inline const char *job_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

static inline const char *job_text(const char *format, ...) {
    static _Thread_local char ring[8][256];
    static _Thread_local unsigned turn;
    char *text = ring[turn++ % 8];
    va_list args;
    va_start(args, format);
    vsnprintf(text, 256, format, args);
    va_end(args);
    return text;
}

/* ---- expected errors ---- */

static inline void job_handler(int code, const char *text) {
    job_raised.count++;
    job_raised.code = code;
    snprintf(job_raised.text, sizeof job_raised.text, "%s", text);
}

static inline void job_expect_begin(const char *name) {
    /* Another error, so that the one that comes is not taken for an old one. */
    if (strcmp(name, "rma_on_node") != 0)
        rma_on_node(INT_MIN);
    else
        rma_ptr(NULL, INT_MIN);
    job_raised.count = 0;
}

static inline void job_expect_end(const char *file, int line, const char *call, const char *name, int got, int want,
                                  const char *const *words) {
    const char *text = rma_last_error();
    size_t len = strlen(name);
    if (got != want)
        job_fail(file, line, call, "code %d (%s), not %d (%s): %s", got, rma_strerror(got), want, rma_strerror(want),
                 text);
    if (rma_last_code() != want) job_fail(file, line, call, "rma_last_code is %d, not %d", rma_last_code(), want);
    if (strncmp(text, name, len) != 0 || text[len] != ':') job_fail(file, line, call, "names not %s: %s", name, text);
    for (; *words; words++)
        if (!strstr(text, *words)) job_fail(file, line, call, "no '%s' in: %s", *words, text);
    /* Exhaustion does not go to the handler; any other error does, once. */
    if (job_raised.count != (want != RMA_ERR_NO_MEM))
        job_fail(file, line, call, "the error handler was called %d times", job_raised.count);
    if (job_raised.count && (job_raised.code != want || strcmp(job_raised.text, text) != 0))
        job_fail(file, line, call, "the error handler was shown %d, %s", job_raised.code, job_raised.text);
}

/* EXPECT: the call of function `name` fails with this code, its text begins with the name and holds each of the words,
 * and the error handler has been shown just that. EXPECT_ZERO: the same, for calls that return a value: it is 0. */
#define EXPECT(name, call, want, ...)                                                                                  \
    do {                                                                                                               \
        job_expect_begin(name);                                                                                        \
        int got_ = (call);                                                                                             \
        job_expect_end(__FILE__, __LINE__, #call, name, got_, want, (const char *const[]){__VA_ARGS__, NULL});         \
    } while (0)
#define EXPECT_ZERO(name, call, want, ...)                                                                             \
    do {                                                                                                               \
        job_expect_begin(name);                                                                                        \
        int got_ = (call) ? RMA_SUCCESS : rma_last_code();                                                             \
        job_expect_end(__FILE__, __LINE__, #call, name, got_, want, (const char *const[]){__VA_ARGS__, NULL});         \
    } while (0)

/* QUIETLY: the call gives this value and no error. */
#define QUIETLY(call, value)                                                                                           \
    do {                                                                                                               \
        job_raised.count = 0;                                                                                          \
        CHECK((call) == (value), "%s", rma_last_error());                                                              \
        CHECK(job_raised.count == 0, #call ": %s", job_raised.text);                                                   \
    } while (0)

/* job_room: bytes of memory that a PE may use without filling a container's /dev/shm, the same on every PE. */
static inline size_t job_room(void) {
    struct statvfs s;
    if (statvfs("/dev/shm", &s) != 0) return (size_t)1 << 30;
    return (size_t)s.f_blocks * s.f_frsize / 2 / (size_t)job.n;
}

/* ---- starting and ending ---- */

/* job_deadline: seconds, made longer for slow machines and tools. */
static inline unsigned job_deadline(unsigned seconds) {
    const char *slow = getenv("RMA_TEST_SLOW");
    return seconds * (slow && atoi(slow) > 0 ? (unsigned)atoi(slow) : 1) * (job.slow ? JOB_SLOWER : 1);
}

/* job_begin: before rma_init. The handler counts and returns, so that errors can be expected. */
static inline void job_begin(void) {
    const char *preload = getenv("LD_PRELOAD"), *seed = getenv("RMA_TEST_SEED"), *depth = getenv("RMA_TEST_DEPTH");
    job.part = depth && strcmp(depth, "long") == 0 ? 1 : depth && strcmp(depth, "quick") == 0 ? 6 : 2;
    job.slow = preload && strstr(preload, "vgpreload");
    job.seed = seed ? strtoull(seed, NULL, 10) : 1;
    signal(SIGALRM, job_too_late);
    alarm(job_deadline(JOB_DEADLINE));
    rma_set_errhandler(job_handler);
}

/* job_look: after rma_init. */
static inline void job_look(void) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    job.me = rma_my_pe();
    job.n = rma_n_pes();
    job.n_near = 0;
    CHECK(job.n <= JOB_PES_MAX, "%d PEs: raise JOB_PES_MAX", job.n);
    for (int pe = 0; pe < job.n; pe++) {
        if (!rma_on_node(pe)) continue;
        if (pe == job.me) job.near = job.n_near;
        job.pes[job.n_near++] = pe;
    }
    job.one_node = job.n_near == job.n;
    /* All PEs, also where nodes are simulated. */
    job.crowded = sched_getaffinity(0, sizeof cpus, &cpus) != 0 || CPU_COUNT(&cpus) < job.n || job.slow;
    DOING("running");
}

static inline void job_start(void) {
    job_begin();
    OK(rma_init());
    job_look();
}

static inline int job_end(void) {
    DOING("ending");
    OK(rma_finalize());
    return 0;
}

/* job_skip: ends the program on all PEs, as skipped for this reason. MPI, too, where the program has initialized it: a
 * launcher kills the processes that are left when one ends without MPI_Finalize. */
static inline void job_skip(const char *why) {
    int finalized;
    if (job.me == 0) printf("skipped: %s\n", why);
    OK(rma_finalize());
    MPI_Finalized(&finalized);
    if (!finalized) MPI_Finalize();
    exit(77);
}

/* job_any: the PE `step` further in the ring of all PEs. job_next: in the ring of this node's. */
static inline int job_any(int step) { return ((job.me + step) % job.n + job.n) % job.n; }
static inline int job_next(int step) { return job.pes[((job.near + step) % job.n_near + job.n_near) % job.n_near]; }

/* job_choose: the smallest of the numbers that fit where this job runs. An operation on another node takes up to some
 * 300 us where PEs share processors. */
static inline long job_choose(long roomy, long crowded, long far) {
    long n = job.crowded ? crowded : roomy;
    return job.one_node || n < far ? n : far;
}

/* job_rounds: fewer where they take longer, and fewer by RMA_TEST_DEPTH. job_far_rounds: the same, but `far` of them
 * where some PEs are on other nodes. At least 1. */
static inline long job_far_rounds(long roomy, long crowded, long far) {
    long n = job_choose(roomy, crowded, far);
    if (job.slow) return n / JOB_SLOWER + 1;
    return (n + job.part - 1) / job.part;
}
static inline long job_rounds(long roomy, long crowded) { return job_far_rounds(roomy, crowded, LONG_MAX); }

/* ---- order ----
 *
 * Between two operations of this PE on the same bytes of pe: job_order before a put that follows a put, job_settle
 * before anything that reads what was put, or what an atomic that returns no value has written. On the node neither
 * does anything: there an operation is done when it returns, and the tests would see it if it were not. */

static inline void job_order(int pe) {
    if (!rma_on_node(pe)) OK(rma_fence());
}

static inline void job_settle(int pe) {
    if (!rma_on_node(pe)) OK(rma_quiet());
}

/* ---- teams ---- */

/* A team, and its PEs by their numbers in the job. */
struct job_group {
    const char *name; /* for texts, or NULL */
    rma_team *team;   /* RMA_TEAM_INVALID where this PE is not in it */
    int n, me;        /* me: -1 likewise */
    int pes[JOB_PES_MAX];
};

static inline struct job_group job_world(void) {
    struct job_group g = {.name = "the world", .team = RMA_TEAM_WORLD, .n = job.n, .me = job.me};
    for (int i = 0; i < g.n; i++) g.pes[i] = i;
    return g;
}

static inline struct job_group job_node(void) {
    struct job_group g = {.name = "the node", .team = RMA_TEAM_SHARED, .n = job.n_near, .me = job.near};
    memcpy(g.pes, job.pes, sizeof g.pes);
    return g;
}

/* job_part: the parent's PEs start, start + stride, ..., which are no team yet. job_strided: and have become one; all
 * PEs of the parent call it, others may. */
static inline struct job_group job_part(const struct job_group *parent, const char *name, int start, int stride,
                                        int size) {
    struct job_group g = {.name = name, .team = RMA_TEAM_INVALID, .me = -1, .n = size};
    for (int i = 0; i < size; i++) {
        g.pes[i] = parent->pes[start + i * stride];
        if (g.pes[i] == job.me) g.me = i;
    }
    return g;
}

static inline struct job_group job_strided(const struct job_group *parent, const char *name, int start, int stride,
                                           int size) {
    struct job_group g = job_part(parent, name, start, stride, size);
    if (parent->me >= 0) OK(rma_team_split_strided(parent->team, start, stride, size, &g.team));
    return g;
}

/* ---- numbers and patterns ---- */

static inline uint64_t job_mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* job_random: the next number of a sequence; its state begins as job_stream(k), one k for each sequence. */
static inline uint64_t job_stream(uint64_t k) { return job_mix(job.seed << 32 ^ k); }
static inline uint64_t job_random(uint64_t *state) { return job_mix(*state += 0x632be59bd9b4e019u); }
static inline size_t job_below(uint64_t *state, size_t n) { return (size_t)(job_random(state) % n); }

/* job_length: 0 to max, small ones as likely as large ones. */
static inline size_t job_length(uint64_t *state, size_t max) {
    size_t limit = (size_t)1 << job_below(state, 64 - (size_t)__builtin_clzll(max | 1) + 1);
    return job_below(state, (limit < max ? limit : max) + 1);
}

/* Byte i of pattern `key`, a buffer filled with the pattern, and the first byte of a buffer that differs from it, or
 * len. `from` is the place in the pattern of the buffer's first byte. */
static inline unsigned char job_byte(uint64_t key, size_t i) {
    return (unsigned char)(job_mix(key * 0x10001 + i / 8) >> i % 8 * 8);
}

static inline void job_fill(void *buffer, size_t from, size_t len, uint64_t key) {
    unsigned char *p = buffer;
    size_t i = 0;
    for (; i < len && (from + i) % 8; i++) p[i] = job_byte(key, from + i);
    for (; i + 8 <= len; i += 8) {
        uint64_t word = job_mix(key * 0x10001 + (from + i) / 8);
        for (unsigned k = 0; k < 8; k++) p[i + k] = (unsigned char)(word >> k * 8);
    }
    for (; i < len; i++) p[i] = job_byte(key, from + i);
}

static inline size_t job_differs(const void *buffer, size_t from, size_t len, uint64_t key) {
    const unsigned char *p = buffer;
    size_t i = 0;
    for (; i < len && (from + i) % 8; i++)
        if (p[i] != job_byte(key, from + i)) return i;
    for (; i + 8 <= len; i += 8) {
        uint64_t word = job_mix(key * 0x10001 + (from + i) / 8);
        for (unsigned k = 0; k < 8; k++)
            if (p[i + k] != (unsigned char)(word >> k * 8)) return i + k;
    }
    for (; i < len; i++)
        if (p[i] != job_byte(key, from + i)) return i;
    return len;
}

/* ---- waiting ---- */

static inline void job_sleep(long microseconds) {
    nanosleep(&(struct timespec){.tv_sec = microseconds / 1000000, .tv_nsec = microseconds % 1000000 * 1000}, NULL);
}

/* job_pause: what a loop does that waits for another PE. The deadline ends it if that PE never comes. */
static inline void job_pause(void) {
    static _Thread_local unsigned turns;
    if (job.crowded || ++turns % 1024 == 0) job_sleep(10);
}

#endif
