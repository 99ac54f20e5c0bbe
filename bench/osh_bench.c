/* SPDX-License-Identifier: BSD-3-Clause */
/* osh_bench: the times of the calls of an OpenSHMEM library.
 *
 *     oshrun -n 2 ./osh_bench [--csv] [-t NAME,...] [-m MAXSIZE] [-r REPEATS] [-c]
 *
 * Written only against OpenSHMEM 1.4, so that the same source measures every library; osh_compare does so with two of
 * them in turn. If the library has 1.5's calls over teams, they replace those over active sets.
 *
 * A row is measured in batches. All PEs that take part learn the time of the slowest, so all find the same number of
 * iterations that fill a batch. PE 0 prints the median and the best of the batches. Three kinds of rows:
 *   ORIGIN  PE 0 alone calls, PE 1 is its target and waits in the library (shmem_long_wait_until)
 *   PAIR    PE 0 and PE 1
 *   ALL     all PEs
 * Other PEs sleep, and check now and then whether the row is over: a barrier might poll, and disturb the measurement.
 *
 * Sizes, PEs and addresses are hidden from the compiler, and after each call it must assume that all memory was read:
 * so it neither removes inlined calls nor merges them with the next call. */
#include "options.c" /* a single file for the compiler of any library */

#include <math.h>
#include <shmem.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef HAS_TEAMS
#define HAS_TEAMS (SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5)
#endif

#define APART     128               /* no cache or prefetcher moves more at once */
#define WINDOW    64                /* nonblocking puts before a quiet */
#define SLOTS_MAX ((size_t)4 << 20) /* bytes that a window goes over and over, or of one put if that has more */
#define GROUP     32                /* collectives between two barriers */
#define BLOCK     1024              /* bytes of shmem_malloc */
#define COUNT_MAX 1000000000L
#define BYTES_MAX ((size_t)1 << 30)

#define COMPUTE 0.040   /* seconds that a busy target computes */
#define AHEAD   2000000 /* nanoseconds until it certainly computes */
#define BUSY    0.020   /* seconds in which operations on it are begun */

/* The value is used, and all memory may have been read and written. */
#define OPAQUE(value) __asm__ volatile("" : : "r"(value) : "memory")

enum who { ORIGIN, PAIR, ALL };
enum sizes { WORD, NONE, SHORT, FEW, MANY }; /* NONE: printed as 0 */
enum unit { NS, MBS, MPS };

struct test {
    const char *name, *help;
    enum who who;
    enum sizes sizes;
    enum unit unit;
    double per;             /* operations in an iteration */
    size_t (*target)(void); /* bytes of symmetric memory that the row needs; NULL: size */
    size_t (*source)(void); /* the same for the second block, or NULL */
    void (*fill)(void);     /* on the PEs that take part: writes data of this seed. Or NULL */
    double (*run)(long n);  /* seconds of n iterations on this PE */
    long (*check)(void);    /* wrong values after the last run; on PE 1 too. Or NULL */
    bool once;              /* an iteration fills a batch */
};

/* What a PE tells PE 0, in PE 0's memory; the first one is PE 0's answer, in the other PEs' memory. */
struct report {
    _Alignas(APART) double seconds;
    long wrong, turn;
};

/* Symmetric, with one cache line for each word on which a PE waits. */
static struct shared {
    _Alignas(APART) long ping;       /* flags of PAIR */
    _Alignas(APART) uint64_t signal; /* counts as flags do */
    _Alignas(APART) long lock;
    _Alignas(APART) long over; /* rows that are over */
    long failed;               /* the last row for which a PE lacked memory */
    struct report reports[];   /* one of each PE */
} * shared;

static int me, n_pes;

/* The row being measured. */
static const struct test *test;
static volatile size_t size;      /* bytes of an operation */
static volatile int peer = 1;     /* the target */
static unsigned char *target;     /* symmetric */
static unsigned char *source;     /* symmetric, or NULL */
static unsigned char *local;      /* of this PE alone: as much as target */
static size_t n_target, n_source; /* their bytes */
static long row;                  /* its number */
static long seed;                 /* of the data */
static long turn;                 /* reports so far */
static long total;                /* PE 0: what atomics have made of the target's word */
static long flags;                /* of PAIR, that these two PEs have told each other */
static long wrong_results;        /* of calls that return values */
static _Atomic long *other_ping;  /* of PEs 0 and 1: the other's, by load and store; NULL if they share no memory */

/* What the options say. */
static long repeat = 11, budget_ms = 4;
static struct bench_sizes sizes = {8, (size_t)1 << 20};
static bool csv, validate, full;

static bool failed;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The smallest of many: a disturbance of one reading must not be subtracted from others. */
static double clock_cost(void) {
    double least = 1;
    for (int i = 0; i < 10000; i++) {
        double start = now(), cost = now() - start;
        if (cost < least) least = cost;
    }
    return least;
}

static _Noreturn void die(const char *why) {
    fprintf(stderr, "osh_bench: PE %d: %s\n", me, why);
    shmem_global_exit(1);
    abort(); /* 1.4 does not say that it does not return */
}

static int n_taking_part(void) { return test->who == ALL ? n_pes : 2; }

/* The PEs that take part wait for each other. *seconds becomes the largest of theirs, *wrong the sum. */
static void agree(double *seconds, long *wrong) {
    struct report *reports = shared->reports;
    turn++;
    if (me > 0) {
        shmem_double_p(&reports[me].seconds, *seconds, 0);
        shmem_long_p(&reports[me].wrong, *wrong, 0);
        shmem_fence(); /* the number comes last */
        shmem_long_p(&reports[me].turn, turn, 0);
        shmem_long_wait_until(&reports[0].turn, SHMEM_CMP_EQ, turn);
        *seconds = reports[0].seconds;
        *wrong = reports[0].wrong;
        return;
    }
    for (int pe = 1; pe < n_taking_part(); pe++) {
        shmem_long_wait_until(&reports[pe].turn, SHMEM_CMP_EQ, turn);
        if (reports[pe].seconds > *seconds) *seconds = reports[pe].seconds;
        *wrong += reports[pe].wrong;
    }
    for (int pe = 1; pe < n_taking_part(); pe++) {
        shmem_double_p(&reports[0].seconds, *seconds, pe);
        shmem_long_p(&reports[0].wrong, *wrong, pe);
        shmem_fence();
        shmem_long_p(&reports[0].turn, turn, pe);
    }
    shmem_quiet();
}

static void meet(void) {
    double seconds = 0;
    long wrong = 0;
    agree(&seconds, &wrong);
}

/* Data. Each PE's words of a seed differ from all others'. */

static uint64_t word_of(int pe, size_t i) {
    uint64_t x = (uint64_t)seed * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)pe * UINT64_C(0xd1b54a32d192ed03) + i;
    return (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
}

static void write_words(void *to, size_t bytes) {
    uint64_t *words = to;
    for (size_t i = 0; i < bytes / sizeof *words; i++) words[i] = word_of(me, i);
}

static long wrong_words(const void *from, int pe, size_t first, size_t bytes) {
    const uint64_t *words = from;
    long wrong = 0;
    for (size_t i = 0; i < bytes / sizeof *words; i++) wrong += words[i] != word_of(pe, first + i);
    return wrong;
}

static size_t one(void) { return size; }

static size_t each(void) { return size * (size_t)n_pes; }

static size_t block_size(void) { return BLOCK; }

static size_t slots(void) {
    size_t all = size * WINDOW;
    return all <= SLOTS_MAX ? all : size < SLOTS_MAX ? SLOTS_MAX / size * size : size;
}

static long *words(void) { return (long *)(void *)target; }

static void fill_zero(void) {
    memset(target, 0, n_target);
    total = 0;
}

static void fill_local(void) { write_words(local, n_target); }

static void fill_target(void) {
    write_words(target, n_target);
    memset(local, 0, n_target);
}

/* Puts and gets by PE 0. */

/* The function NAME: seconds of n times STATEMENT, and LAST once. AFTER is not timed. */
#define LOOP(NAME, STATEMENT, LAST, AFTER)                                                                             \
    static double NAME(long n) {                                                                                       \
        long *word = words(), found = 0, value = total;                                                                \
        unsigned char *here = local;                                                                                   \
        size_t bytes = size;                                                                                           \
        int pe = peer;                                                                                                 \
        double start = now();                                                                                          \
        for (long i = 0; i < n; i++) {                                                                                 \
            STATEMENT;                                                                                                 \
            OPAQUE(found);                                                                                             \
        }                                                                                                              \
        LAST;                                                                                                          \
        double seconds = now() - start;                                                                                \
        (void)word, (void)found, (void)value, (void)here, (void)bytes, (void)pe;                                       \
        AFTER;                                                                                                         \
        return seconds;                                                                                                \
    }

LOOP(run_p, shmem_long_p(word, i, pe), shmem_quiet(), total = n)
LOOP(run_p_quiet, (shmem_long_p(word, i, pe), shmem_quiet()), , total = n)
LOOP(run_g, found = shmem_long_g(word, pe), , wrong_results += found != (long)word_of(pe, 0))
LOOP(run_put, (shmem_putmem(word, here, bytes, pe), shmem_quiet()), , )
LOOP(run_get, shmem_getmem(here, word, bytes, pe), , )

static long check_p(void) { return me == 0 && shmem_long_g(words(), 1) != total - 1; }

static long check_results(void) {
    long wrong = wrong_results;
    wrong_results = 0;
    return wrong;
}

static long check_put(void) { return me == 1 ? wrong_words(target, 0, 0, n_target) : 0; }

static long check_put_both(void) { return wrong_words(target, !me, 0, n_target); }

static long check_get(void) { return me == 0 ? wrong_words(local, 1, 0, size) : 0; }

static inline void put_window(size_t bytes, size_t end, int pe) {
    unsigned char *to = target, *from = local;
    size_t at = 0;
    for (int w = 0; w < WINDOW; w++) {
        shmem_putmem_nbi(to + at, from + at, bytes, pe);
        OPAQUE(to);
        if ((at += bytes) == end) at = 0;
    }
    shmem_quiet();
}

LOOP(run_put_bw, put_window(bytes, n_target, pe), , )

static inline void put_words(int pe) {
    long *to = words(), *from = (long *)(void *)local;
    for (int w = 0; w < WINDOW; w++) {
        shmem_long_put_nbi(to + w, from + w, 1, pe);
        OPAQUE(to);
    }
    shmem_quiet();
}

LOOP(run_rate, put_words(pe), , )

/* Atomics by PE 0 on PE 1's word, which nobody else changes: `total` is its value. */

LOOP(run_fetch_add, found = shmem_long_atomic_fetch_add(word, 1, pe), ,
     (total += n, wrong_results += found != total - 1))
LOOP(run_add, shmem_long_atomic_add(word, 1, pe), shmem_quiet(), total += n)
LOOP(run_compare_swap, (found = shmem_long_atomic_compare_swap(word, value, value + 1, pe), value++), ,
     (total = value, wrong_results += found != value - 1))
LOOP(run_swap, found = shmem_long_atomic_swap(word, ++value, pe), ,
     (total = value, wrong_results += found != value - 1))
LOOP(run_fetch, found = shmem_long_atomic_fetch(word, pe), , wrong_results += found != total)

static long check_atomic(void) {
    if (me != 0) return 0;
    return check_results() + (shmem_long_atomic_fetch(words(), 1) != total);
}

/* Order and locks. */

LOOP(run_quiet, shmem_quiet(), , )
LOOP(run_lock, (shmem_set_lock(&shared->lock), shmem_clear_lock(&shared->lock)), , )

/* PE 0 and PE 1 count with plain calls under the lock. */
static long check_lock(void) {
    enum { TIMES = 3000 };
    for (int i = 0; i < TIMES; i++) {
        shmem_set_lock(&shared->lock);
        shmem_long_p(words(), shmem_long_g(words(), 0) + 1, 0);
        shmem_quiet();
        shmem_clear_lock(&shared->lock);
    }
    meet();
    return me == 0 && shmem_long_g(words(), 0) != 2 * TIMES;
}

/* Two PEs. Both count the flags alike. */

/* The function NAME: half the time of n flags there and back. */
#define BACK_AND_FORTH(NAME, TELL, AWAIT)                                                                              \
    static double NAME(long n) {                                                                                       \
        const size_t bytes = size;                                                                                     \
        const int pe = !me;                                                                                            \
        double start = now();                                                                                          \
        for (long i = 0; i < n; i++) {                                                                                 \
            flags++;                                                                                                   \
            if (me == 0) TELL;                                                                                         \
            AWAIT;                                                                                                     \
            if (me == 1) TELL;                                                                                         \
        }                                                                                                              \
        (void)bytes, (void)pe;                                                                                         \
        return (now() - start) / 2;                                                                                    \
    }

static void tell(int pe) { shmem_long_p(&shared->ping, flags, pe); }

static void await(void) { shmem_long_wait_until(&shared->ping, SHMEM_CMP_EQ, flags); }

/* The receiver has read each line of a buffer before it answers. */
static void read_lines(size_t bytes) {
    for (size_t at = 0; at < bytes; at += 64) (void)*(volatile uint64_t *)(void *)(target + at);
}

/* The unit: stores and loads without a library. */
static void await_bare(void) {
    const _Atomic long *mine = (const _Atomic long *)(void *)&shared->ping;
    while (atomic_load_explicit(mine, memory_order_acquire) != flags) OPAQUE(mine);
}

BACK_AND_FORTH(run_flag, atomic_store_explicit(other_ping, flags, memory_order_release), await_bare())
BACK_AND_FORTH(run_pingpong, tell(pe), await())
BACK_AND_FORTH(run_put_flag, (shmem_putmem(target, local, bytes, pe), shmem_fence(), tell(pe)),
               (await(), read_lines(bytes)))
#if HAS_TEAMS
BACK_AND_FORTH(run_put_signal,
               shmem_putmem_signal(target, local, bytes, &shared->signal, (uint64_t)flags, SHMEM_SIGNAL_SET, pe),
               (shmem_signal_wait_until(&shared->signal, SHMEM_CMP_EQ, (uint64_t)flags), read_lines(bytes)))
#else
#define run_put_signal NULL
#endif

/* The target has read and written each line of the buffer when the next window comes. */
static double run_handover(long n) {
    static double cost = -1;
    size_t bytes = size, end = n_target;
    int pe = peer;
    double seconds = 0;
    if (cost < 0) cost = clock_cost();
    for (long i = 0; i < n; i++) {
        flags++;
        if (me == 0) {
            double start = now();
            put_window(bytes, end, pe);
            seconds += now() - start - cost;
            tell(1);
            await();
        } else {
            await();
            for (size_t at = 0; at < end; at += 64) ++*(volatile uint64_t *)(void *)(target + at);
            tell(0);
        }
    }
    return seconds > 0 ? seconds : 1e-9;
}

static long check_handover(void) {
    if (me == 1)
        for (size_t at = 0; at < n_target; at += 64) --*(uint64_t *)(void *)(target + at);
    return check_put();
}

static void compute_for(double seconds) {
    uint64_t x = 1;
    for (double end = now() + seconds; now() < end;)
        for (int i = 0; i < 1000; i++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            OPAQUE(x);
        }
}

/* PE 1 enters the library only after its computation. Operations come in growing groups, since reading the clock takes
 * longer than some of them. */
static double run_busy(long n) {
    unsigned char *to = target, *from = local;
    size_t bytes = size;
    int pe = peer;
    if (me == 1) {
        compute_for(COMPUTE);
        return 0;
    }
    nanosleep(&(struct timespec){.tv_nsec = AHEAD}, NULL);
    double start = now(), end;
    long done = 0, group = 1;
    do {
        for (long i = 0; i < group; i++) {
            shmem_putmem(to, from, bytes, pe);
            shmem_quiet();
            OPAQUE(to);
        }
        done += group;
        if (group < 256) group *= 2;
        end = now();
    } while (end < start + BUSY);
    return (end - start) / (double)done * (double)n;
}

/* All PEs. */

LOOP(run_barrier, shmem_barrier_all(), , )
LOOP(run_sync, shmem_sync_all(), , )

static int before(void) { return (me + n_pes - 1) % n_pes; }

static int after(void) { return (me + 1) % n_pes; }

static long check_barrier(void) {
    shmem_long_p(words(), seed + me, after());
    shmem_barrier_all();
    return words()[0] != seed + before();
}

static inline void allocate_and_free(void) {
    void *block = shmem_malloc(BLOCK);
    OPAQUE(block);
    shmem_free(block);
}

LOOP(run_malloc, allocate_and_free(), , )

static long check_malloc(void) {
    unsigned char *block = shmem_malloc(BLOCK);
    if (!block) die("shmem_malloc found no memory");
    fill_local();
    shmem_putmem(block, local, BLOCK, after());
    shmem_barrier_all();
    long wrong = wrong_words(block, before(), 0, BLOCK);
    shmem_free(block);
    return wrong;
}

/* Collectives. */

static size_t n_words(void) { return size / sizeof(long); }

static long *source_words(void) { return (long *)(void *)source; }

static double in_groups(long n, void (*call)(int k)) {
    double seconds = 0;
    for (long done = 0; done < n; done += GROUP) {
        int calls = n - done < GROUP ? (int)(n - done) : GROUP;
        shmem_barrier_all();
        double start = now();
        for (int k = 0; k < calls; k++) call(k);
        seconds += now() - start;
    }
    return seconds;
}

/* The function run_NAME: by the call over teams, or that over active sets. */
#if HAS_TEAMS
#define CALL(OVER_TEAM, OVER_SET) (void)k, OVER_TEAM
#else
#define CALL(OVER_TEAM, OVER_SET) OVER_SET

/* Each call of a group has its own work arrays: a work array may be reused only when all PEs have left the call. */
static long *syncs, *work; /* symmetric: GROUP arrays each */
static size_t work_size;
#define LARGER(A, B)              ((A) > (B) ? (A) : (B))
/* None shares a line with the next one. */
#define SYNC_SIZE                                                                                                      \
    ((LARGER(LARGER(SHMEM_BCAST_SYNC_SIZE, SHMEM_COLLECT_SYNC_SIZE),                                                   \
             LARGER(SHMEM_ALLTOALL_SYNC_SIZE, SHMEM_REDUCE_SYNC_SIZE)) +                                               \
      15) /                                                                                                            \
     16 * 16)

static void make_work(void) {
    work_size = (LARGER(sizes.max / sizeof(long) / 2 + 1, SHMEM_REDUCE_MIN_WRKDATA_SIZE) + 15) / 16 * 16;
    syncs = shmem_align(APART, GROUP * SYNC_SIZE * sizeof *syncs);
    work = shmem_align(APART, GROUP * work_size * sizeof *work);
    if (!syncs || !work) die("no symmetric memory for work arrays");
    for (size_t i = 0; i < GROUP * SYNC_SIZE; i++) syncs[i] = SHMEM_SYNC_VALUE;
}

static long *sync_of(int k) { return syncs + (size_t)k * SYNC_SIZE; }
#endif
#define COLLECTIVE(NAME, OVER_TEAM, OVER_SET)                                                                          \
    static void call_##NAME(int k) { CALL(OVER_TEAM, OVER_SET); }                                                      \
    static double run_##NAME(long n) { return in_groups(n, call_##NAME); }

COLLECTIVE(broadcast, shmem_long_broadcast(SHMEM_TEAM_WORLD, words(), source_words(), n_words(), 0),
           shmem_broadcast64(target, source, n_words(), 0, 0, 0, n_pes, sync_of(k)))
COLLECTIVE(fcollect, shmem_long_fcollect(SHMEM_TEAM_WORLD, words(), source_words(), n_words()),
           shmem_fcollect64(target, source, n_words(), 0, 0, n_pes, sync_of(k)))
COLLECTIVE(alltoall, shmem_long_alltoall(SHMEM_TEAM_WORLD, words(), source_words(), n_words()),
           shmem_alltoall64(target, source, n_words(), 0, 0, n_pes, sync_of(k)))
COLLECTIVE(sum, shmem_long_sum_reduce(SHMEM_TEAM_WORLD, words(), source_words(), n_words()),
           shmem_long_sum_to_all(words(), source_words(), (int)n_words(), 0, 0, n_pes, work + (size_t)k * work_size,
                                 sync_of(k)))

static void fill_source(void) {
    write_words(source, n_source);
    memset(target, 0, n_target);
}

/* Over active sets the root's own target stays as it was. */
static long check_broadcast(void) { return me == 0 && !HAS_TEAMS ? 0 : wrong_words(target, 0, 0, size); }

/* A block of each PE, which begins there at word `first`. */
static long wrong_blocks(size_t first) {
    long wrong = 0;
    for (int pe = 0; pe < n_pes; pe++) wrong += wrong_words(target + (size_t)pe * size, pe, first, size);
    return wrong;
}

static long check_fcollect(void) { return wrong_blocks(0); }

static long check_alltoall(void) { return wrong_blocks((size_t)me * n_words()); }

static void fill_sum(void) {
    for (size_t i = 0; i < n_words(); i++) source_words()[i] = (long)i * (me + 1) + seed;
    memset(target, 0, n_target);
}

static long check_sum(void) {
    long wrong = 0;
    for (size_t i = 0; i < n_words(); i++)
        wrong += words()[i] != (long)i * ((long)n_pes * (n_pes + 1) / 2) + (long)n_pes * seed;
    return wrong;
}

/* clang-format off */
static const struct test tests[] = {
    {"long_p", "shmem_long_p", .run = run_p, .check = check_p},
    {"long_p_quiet", "shmem_long_p and shmem_quiet", .run = run_p_quiet, .check = check_p},
    {"long_g", "shmem_long_g", .fill = fill_target, .run = run_g, .check = check_results},
    {"putmem", "shmem_putmem and shmem_quiet", .sizes = MANY, .fill = fill_local, .run = run_put, .check = check_put},
    {"getmem", "shmem_getmem", .sizes = MANY, .fill = fill_target, .run = run_get, .check = check_get},
    {"put_bw", "64 shmem_putmem_nbi and a quiet",
     .sizes = MANY, .unit = MBS, .per = WINDOW, .target = slots, .fill = fill_local, .run = run_put_bw,
     .check = check_put},
    {"put_bw_handover", "the same, the target reads and writes the buffer in turn",
     .who = PAIR, .sizes = MANY, .unit = MBS, .per = WINDOW, .target = slots, .fill = fill_local,
     .run = run_handover, .check = check_handover},
    {"message_rate", "64 shmem_long_put_nbi of one word and a quiet",
     .unit = MPS, .per = WINDOW, .target = slots, .fill = fill_local, .run = run_rate, .check = check_put},
    {"atomic_fetch_add", "shmem_long_atomic_fetch_add", .fill = fill_zero, .run = run_fetch_add,
     .check = check_atomic},
    {"atomic_add", "shmem_long_atomic_add, a quiet at the end", .fill = fill_zero, .run = run_add,
     .check = check_atomic},
    {"atomic_compare_swap", "shmem_long_atomic_compare_swap that succeeds",
     .fill = fill_zero, .run = run_compare_swap, .check = check_atomic},
    {"atomic_swap", "shmem_long_atomic_swap", .fill = fill_zero, .run = run_swap, .check = check_atomic},
    {"atomic_fetch", "shmem_long_atomic_fetch", .fill = fill_zero, .run = run_fetch, .check = check_atomic},
    {"quiet", "shmem_quiet with nothing pending", .sizes = NONE, .run = run_quiet},
    {"lock", "shmem_set_lock and shmem_clear_lock by one PE",
     .sizes = NONE, .fill = fill_zero, .run = run_lock, .check = check_lock},
    {"flag", "a flag there and back by store and load: half of it; the unit", .who = PAIR, .sizes = NONE,
     .run = run_flag},
    {"pingpong", "shmem_long_p and shmem_long_wait_until there and back: half of it", .who = PAIR, .run = run_pingpong},
    {"put_flag", "shmem_putmem, shmem_fence, shmem_long_p there and back: half of it", .who = PAIR, .sizes = SHORT,
     .fill = fill_local, .run = run_put_flag, .check = check_put_both},
    {"put_signal", "shmem_putmem_signal and shmem_signal_wait_until there and back: half of it", .who = PAIR,
     .sizes = SHORT, .fill = fill_local, .run = run_put_signal, .check = check_put_both},
    {"busy_putmem", "shmem_putmem and shmem_quiet, while the target computes",
     .who = PAIR, .sizes = FEW, .fill = fill_local, .run = run_busy, .check = check_put, .once = true},
    {"barrier_all", "shmem_barrier_all", .who = ALL, .sizes = NONE, .run = run_barrier, .check = check_barrier},
    {"sync_all", "shmem_sync_all", .who = ALL, .sizes = NONE, .run = run_sync},
    {"broadcast", "shmem_long_broadcast, or shmem_broadcast64",
     .who = ALL, .sizes = FEW, .source = one, .fill = fill_source, .run = run_broadcast, .check = check_broadcast},
    {"fcollect", "shmem_long_fcollect, or shmem_fcollect64; size: of one PE",
     .who = ALL, .sizes = FEW, .target = each, .source = one, .fill = fill_source, .run = run_fcollect,
     .check = check_fcollect},
    {"alltoall", "shmem_long_alltoall, or shmem_alltoall64; size: from one PE to one PE",
     .who = ALL, .sizes = FEW, .target = each, .source = each, .fill = fill_source, .run = run_alltoall,
     .check = check_alltoall},
    {"sum_reduce", "shmem_long_sum_reduce, or shmem_long_sum_to_all",
     .who = ALL, .sizes = FEW, .source = one, .fill = fill_sum, .run = run_sum, .check = check_sum},
    {"malloc_free", "shmem_malloc of 1 KiB and shmem_free",
     .who = ALL, .target = block_size, .run = run_malloc, .check = check_malloc},
};
/* clang-format on */
#define N_TESTS ((int)(sizeof tests / sizeof tests[0]))

static bool chosen[N_TESTS];

/* Batches. */

static void fill(long of) {
    if (seed != of && test->fill) {
        seed = of;
        test->fill();
    }
    seed = of;
}

/* One batch: seconds of the slowest PE. */
static double batch(long n) {
    double seconds = 0;
    long wrong = 0;
    meet();
    if (me == 0 || test->who != ORIGIN) seconds = test->run(n);
    agree(&seconds, &wrong);
    return seconds;
}

/* Iterations that fill a batch. The faster of two tries counts: a page fault or another process may have disturbed the
 * other. */
static long calibrate(void) {
    double n = 1, budget = (double)budget_ms * 1e-3;
    if (test->once) return 1;
    batch(1);
    for (;;) {
        double a = batch((long)n), b = batch((long)n), seconds = a < b ? a : b;
        double scale = seconds > budget / 16 ? budget / seconds : 16;
        n = n * scale < 1 ? 1 : n * scale > (double)COUNT_MAX ? (double)COUNT_MAX : n * scale;
        if (scale < 2 || n >= (double)COUNT_MAX) return (long)n;
    }
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static const char *const units[] = {[NS] = "ns", [MBS] = "MB/s", [MPS] = "M/s"};

static double value_of(double seconds, long n) {
    double per = test->per > 0 ? test->per : 1, operations = (double)n * per;
    if (seconds < 1e-9) seconds = 1e-9; /* below what the clock tells: no value is infinite */
    return test->unit == NS    ? seconds / operations * 1e9
           : test->unit == MBS ? operations * (double)size / seconds * 1e-6
                               : operations / seconds * 1e-6;
}

static void print_header(void) {
    if (csv) {
        printf("name,size,value,best,unit%s\n", validate ? ",check" : "");
    } else {
        char name[SHMEM_MAX_NAME_LEN + 1] = "";
        int major, minor;
        shmem_info_get_name(name);
        shmem_info_get_version(&major, &minor);
        printf("# %s, OpenSHMEM %d.%d, %d PEs; median and best of %ld batches\n", name, major, minor, n_pes, repeat);
        printf("# %-20s %10s %14s %14s  %s\n", "name", "size", "value", "best", "unit");
    }
    fflush(stdout);
}

/* NAN: there is no value. check: what the column says. */
static void print_row(double value, double best, const char *check) {
    size_t bytes = test->sizes == NONE ? 0 : size;
    if (isnan(value))
        printf(csv ? "%s,%zu,,,%s" : "  %-20s %10zu              -              -  %s", test->name, bytes,
               units[test->unit]);
    else
        printf(csv ? "%s,%zu,%.2f,%.2f,%s" : "  %-20s %10zu %14.2f %14.2f  %s", test->name, bytes, value, best,
               units[test->unit]);
    if (validate) printf(csv ? ",%s" : "  %s", check);
    printf("\n");
    fflush(stdout);
}

/* A row on the PEs that take part. */
static void take_part(void) {
    double *values = malloc((size_t)repeat * sizeof *values), seconds = 0;
    long wrong = 0;
    if (!values) die("malloc found no memory");
    long n = calibrate();
    batch(n / 10 + 1); /* what calibration has disturbed is warm again */
    for (long i = 0; i < repeat; i++) {
        if (validate) fill(seed + 1);
        values[i] = value_of(batch(n), n);
    }
    if (validate && test->check) {
        wrong = test->check();
        agree(&seconds, &wrong);
        failed |= wrong != 0;
    }
    qsort(values, (size_t)repeat, sizeof *values, compare);
    double median = (values[repeat / 2] + values[(repeat - 1) / 2]) / 2;
    if (me == 0)
        print_row(median, test->unit == NS ? values[0] : values[repeat - 1],
                  !test->check ? "-"
                  : wrong == 0 ? "Pass"
                               : "Fail");
    free(values);
}

/* Memory of a row, on all PEs or on none. */
static bool allocate(void) {
    n_target = test->target ? test->target() : size;
    n_source = test->source ? test->source() : 0;
    target = shmem_align(4096, n_target);
    source = n_source > 0 ? shmem_align(4096, n_source) : NULL;
    local = aligned_alloc(4096, (n_target + 4095) / 4096 * 4096);
    bool good = target && local && (n_source == 0 || source);
    if (test->run == run_flag && me < 2) good = good && other_ping;
    for (int pe = 0; pe < n_pes && !good; pe++) shmem_long_p(&shared->failed, row, pe);
    shmem_barrier_all();
    if (shared->failed == row) return false;
    memset(target, 0, n_target);
    memset(local, 0, n_target);
    if (source) memset(source, 0, n_source);
    return true;
}

static void measure(const struct test *t, size_t bytes) {
    test = t;
    size = bytes;
    row++;
    /* All PEs begin alike, also after rows in which only some took part. */
    turn = flags = seed = total = shared->ping = 0;
    shared->signal = 0;
    memset(shared->reports, 0, (size_t)n_pes * sizeof *shared->reports);
    const bool there = t->run && allocate();
    if (!there) {
        if (me == 0)
            fprintf(stderr, "osh_bench: %s, %zu bytes: %s\n", t->name, bytes,
                    !t->run              ? "this library has no such call"
                    : t->run == run_flag ? "PEs 0 and 1 share no memory"
                                         : "no symmetric memory for its blocks");
        if (me == 0) print_row(NAN, NAN, "-");
        failed |= t->run && t->run != run_flag;
    } else {
        fill(1);
        shmem_barrier_all();
        if (me < n_taking_part()) take_part();
        for (int pe = n_taking_part(); pe < n_pes && me == 0; pe++) shmem_long_p(&shared->over, row, pe);
        while (me >= n_taking_part() && !shmem_long_test(&shared->over, SHMEM_CMP_GE, row))
            nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
    if (!t->run) return;
    shmem_barrier_all();
    if (source) shmem_free(source);
    if (target) shmem_free(target);
    free(local);
}

static void measure_sizes(const struct test *t) {
    const bool single = t->sizes == WORD || t->sizes == NONE;
    const size_t most = single ? 8 : t->sizes == SHORT ? 1024 : t->sizes == FEW ? 262144 : BYTES_MAX;
    for (size_t bytes = 8; bytes <= sizes.max && bytes <= most;) {
        if (single || bytes >= sizes.min) measure(t, t->run == run_malloc ? BLOCK : bytes);
        if (t->sizes == SHORT)
            bytes *= 128;
        else if (t->sizes == FEW)
            bytes = bytes == 8 ? 4096 : bytes * 64;
        else
            bytes *= full || bytes == 8 ? 2 : 4;
    }
}

/* Options. */

static const char *names; /* -t */
static bool list, help;
static const struct bench_option options[] = {
    {"tests", 't', BENCH_TEXT, &names, 0, 0, "NAME,...", "only these [all]"},
    {"message-size", 'm', BENCH_SIZES, &sizes, 8, (long)BYTES_MAX, "[MIN:]MAX", "sizes; suffixes k, M, G [8:1M]"},
    {"full", 0, BENCH_FLAG, &full, 0, 0, NULL, "all powers of two; else 8, 16, and from there powers of four"},
    {"repeat", 'r', BENCH_COUNT, &repeat, 1, 10001, "N", "batches, of which the median and the best are printed [11]"},
    {"batch", 'b', BENCH_COUNT, &budget_ms, 1, 10000, "MS", "milliseconds that a batch takes [4]"},
    {"check", 'c', BENCH_FLAG, &validate, 0, 0, NULL, "check data after each row; exit code 1 if they are wrong"},
    {"csv", 0, BENCH_FLAG, &csv, 0, 0, NULL, "a header line and comma-separated rows; no value: empty"},
    {"list", 0, BENCH_FLAG, &list, 0, 0, NULL, "print the names of the tests, or of those chosen, one a line"},
    {"help", 'h', BENCH_FLAG, &help, 0, 0, NULL, "print this"},
    {0},
};
static const struct bench_option *const tables[] = {options};

static void print_help(void) {
    printf("usage: oshrun -n N osh_bench [OPTION]...\n"
           "Times of OpenSHMEM calls between PE 0 and PE 1, and of collectives of all PEs.\n\n");
    bench_options_print(tables, 1);
    printf(
        "\nTests; a time is one of a call or of the calls that are named, a rate is in 10^6 bytes or puts a second:\n");
    for (int i = 0; i < N_TESTS; i++) printf("  %-20s %-5s %s\n", tests[i].name, units[tests[i].unit], tests[i].help);
    printf("\nExit code: 0 done, 1 data wrong or no memory for a row, 2 wrong arguments.\n");
}

/* Returns null, or what is wrong with the names of -t. */
static const char *choose(void) {
    static char wrong[64];
    for (int i = 0; i < N_TESTS; i++) chosen[i] = !names;
    for (const char *name = names; name; name = strchr(name, ',') ? strchr(name, ',') + 1 : NULL) {
        const size_t len = strcspn(name, ",");
        int i = 0;
        while (i < N_TESTS && !(strlen(tests[i].name) == len && memcmp(tests[i].name, name, len) == 0)) i++;
        if (i == N_TESTS) {
            snprintf(wrong, sizeof wrong, "there is no test '%.*s'", (int)(len < 32 ? len : 32), name);
            return wrong;
        }
        chosen[i] = true;
    }
    return NULL;
}

enum { KEEP_ON = -1 };

/* The exit code, if it is known already. */
static int read_options(int argc, char **argv) {
    char error[BENCH_ERROR_SIZE];
    const char *wrong = bench_options_read(tables, 1, argc, argv, error) != 0 ? error : choose();
    if (!wrong && !list && !help && n_pes < 2) wrong = "needs 2 PEs: start it with oshrun -n 2";
    if (wrong) {
        if (me == 0) fprintf(stderr, "osh_bench: %s\n", wrong);
        return 2;
    }
    if (help && me == 0) print_help();
    for (int i = 0; list && !help && me == 0 && i < N_TESTS; i++)
        if (chosen[i]) printf("%s\n", tests[i].name);
    return help || list ? 0 : KEEP_ON;
}

int main(int argc, char **argv) {
    shmem_init();
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    int code = read_options(argc, argv);
    if (code != KEEP_ON) {
        shmem_finalize();
        return code;
    }
    size_t bytes = sizeof *shared + (size_t)n_pes * sizeof *shared->reports;
    shared = shmem_align(APART, bytes);
    if (!shared) die("no symmetric memory");
    memset(shared, 0, bytes);
    if (me < 2) other_ping = shmem_ptr(&shared->ping, !me);
#if !HAS_TEAMS
    make_work();
#endif
    shmem_barrier_all();

    if (me == 0) print_header();
    for (int i = 0; i < N_TESTS; i++)
        if (chosen[i]) measure_sizes(&tests[i]);

#if !HAS_TEAMS
    shmem_free(work);
    shmem_free(syncs);
#endif
    shmem_free(shared);
    shmem_finalize();
    return failed ? 1 : 0;
}
