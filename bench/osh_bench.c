/* SPDX-License-Identifier: BSD-3-Clause */
/* osh_bench: the times of the calls of an OpenSHMEM library.
 *
 *     oshrun -n 2 ./osh_bench [--csv] [-t NAME,...] [-m MAXSIZE] [-r REPEATS] [-c]
 *
 * Written only against OpenSHMEM 1.4, so that the same source measures every library; osh_compare does so with two of
 * them in turn. If the library has 1.5's calls over teams, they replace those over active sets, unless --active-sets is
 * given.
 *
 * A row is measured in batches. PE 0 finds by trial how many iterations fill one, tells the PEs that take part, and
 * prints the median and the best of the batches; the slowest of these PEs counts. Three kinds of rows:
 *   ORIGIN  PE 0 alone calls, PE 1 is its target and waits in the library (shmem_long_wait_until)
 *   PAIR    PE 0 and PE 1
 *   ALL     all PEs
 * Other PEs sleep, and check now and then whether the row is over: a barrier might poll, and disturb the measurement.
 *
 * Sizes, PEs and addresses are hidden from the compiler, and after each call it must assume that all memory was read:
 * so it neither removes inlined calls nor merges them with the next call. */
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <shmem.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define HAS_TEAMS (SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5)

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
enum act { RUN, CHECK, END };

struct test {
    const char *name, *help;
    enum who who;
    enum sizes sizes;
    enum unit unit;
    double per;                       /* operations in an iteration */
    size_t (*target)(void);           /* bytes of symmetric memory that the row needs; NULL: size */
    size_t (*source)(void);           /* the same for the second block, or NULL */
    void (*fill)(long seed);          /* on the PEs that take part: writes data of this seed. Or NULL */
    double (*run)(long n);            /* seconds of n iterations on this PE */
    long (*check)(long n, long seed); /* wrong values after the last run; on PE 1 too. Or NULL */
    bool once;                        /* an iteration fills a batch */
};

/* What PE 0 tells the others. */
struct order {
    long act, n, seed;
};

/* Their answers, in PE 0's memory, each in its own cache line. */
struct report {
    double seconds;
    long wrong, turn;
    char pad[128 - 3 * 8];
};

/* Symmetric, with one cache line for each word on which a PE waits. */
struct shared {
    struct order order;
    char pad0[128 - sizeof(struct order)];
    long turn; /* number of the last order */
    char pad1[128 - sizeof(long)];
    long over; /* rows that are over */
    char pad2[128 - sizeof(long)];
    long ping; /* flags of PAIR */
    char pad3[128 - sizeof(long)];
    uint64_t signal; /* counts as flags do */
    char pad_signal[128 - sizeof(uint64_t)];
    long line_owner, line_file; /* PE 0's process and its file descriptor, for the row `flag`, */
    long line_mark;             /* and what its file says at first */
    long line_fails;
    char pad_line[128 - 4 * sizeof(long)];
    long lock;
    char pad4[128 - sizeof(long)];
    long counter, failures; /* of checks: PE 0's */
    char pad5[128 - 2 * sizeof(long)];
};

static int me, n_pes;
static struct shared *shared;
static struct report *reports; /* one of each PE */

/* The row being measured. */
static const struct test *test;
static volatile size_t size;      /* bytes of an operation */
static volatile int peer = 1;     /* the target */
static unsigned char *target;     /* symmetric */
static unsigned char *source;     /* symmetric, or NULL */
static unsigned char *local;      /* of this PE alone: as much as target */
static size_t n_target, n_source; /* their bytes */
static long turn;                 /* orders given, or followed */
static long total;                /* PE 0: what atomics have made of the target's word */
static long flags;                /* of PAIR, that these two PEs have told each other */
static long wrong_results;        /* of calls that return values */

/* Options. */
static long repeat = 11, budget_ms = 4;
static size_t max_size = (size_t)1 << 20;
static bool csv, validate, full, active_sets = !HAS_TEAMS;

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

static _Noreturn __attribute__((format(printf, 1, 2))) void die(const char *format, ...) {
    va_list args;
    fprintf(stderr, "osh_bench: PE %d: ", me);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n");
    shmem_global_exit(1);
    abort(); /* 1.4 does not say that it does not return */
}

/* Data. Each PE's words of a seed differ from all others'. */

static uint64_t word_of(long seed, int pe, size_t i) {
    uint64_t x = (uint64_t)seed * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)pe * UINT64_C(0xd1b54a32d192ed03) + i;
    return (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
}

static void write_words(void *to, long seed, int pe, size_t bytes) {
    uint64_t *words = to;
    for (size_t i = 0; i < bytes / sizeof *words; i++) words[i] = word_of(seed, pe, i);
}

static long wrong_words(const void *from, long seed, int pe, size_t first, size_t bytes) {
    const uint64_t *words = from;
    long wrong = 0;
    for (size_t i = 0; i < bytes / sizeof *words; i++) wrong += words[i] != word_of(seed, pe, first + i);
    return wrong;
}

static size_t one(void) { return size; }

static size_t each(void) { return size * (size_t)n_pes; }

static size_t slots(void) {
    size_t all = size * WINDOW;
    return all <= SLOTS_MAX ? all : size < SLOTS_MAX ? SLOTS_MAX / size * size : size;
}

/* Puts and gets by PE 0. */

static long *words(void) { return (long *)(void *)target; }

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

LOOP(run_p, shmem_long_p(word, i, pe), shmem_quiet(), )
LOOP(run_p_quiet, (shmem_long_p(word, i, pe), shmem_quiet()), , )

static long check_p(long n, long seed) {
    (void)seed;
    return me == 1 && words()[0] != n - 1;
}

static void fill_word(long seed) { words()[0] = (long)word_of(seed, me, 0); }

LOOP(run_g, found = shmem_long_g(word, pe), , wrong_results += found != (long)word_of(1, pe, 0))

static long check_results(long n, long seed) {
    (void)n, (void)seed;
    long wrong = wrong_results;
    wrong_results = 0;
    return wrong;
}

static void fill_local(long seed) { write_words(local, seed, me, n_target); }

LOOP(run_put, (shmem_putmem(word, here, bytes, pe), shmem_quiet()), , )

static long check_put(long n, long seed) {
    (void)n;
    return me == 1 ? wrong_words(target, seed, 0, 0, n_target) : 0;
}

static long check_put_both(long n, long seed) {
    (void)n;
    return wrong_words(target, seed, !me, 0, n_target);
}

static void fill_get(long seed) {
    write_words(target, seed, me, size);
    memset(local, 0, size);
}

LOOP(run_get, shmem_getmem(here, word, bytes, pe), , )

/* PE 1's data are of the row's first seed: it takes no part. */
static long check_get(long n, long seed) {
    (void)n, (void)seed;
    return me == 0 ? wrong_words(local, 1, 1, 0, size) : 0;
}

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

/* Two PEs. Flags count on from row to row, and both PEs count alike. */

static void tell(int pe) { shmem_long_p(&shared->ping, flags, pe); }

static void await(void) { shmem_long_wait_until(&shared->ping, SHMEM_CMP_EQ, flags); }

static double run_pingpong(long n) {
    double start = now();
    for (long i = 0; i < n; i++) {
        flags++;
        if (me == 0) tell(1);
        await();
        if (me == 1) tell(0);
    }
    return (now() - start) / 2;
}

/* Half of a round trip of a buffer. The receiver has read each line of it before it answers. */
static void read_lines(size_t bytes) {
    for (size_t at = 0; at < bytes; at += 64) (void)*(volatile uint64_t *)(void *)(target + at);
}

static double run_put_flag(long n) {
    size_t bytes = size;
    double start = now();
    for (long i = 0; i < n; i++) {
        flags++;
        if (me == 0) {
            shmem_putmem(target, local, bytes, 1);
            shmem_fence();
            tell(1);
        }
        await();
        read_lines(bytes);
        if (me == 1) {
            shmem_putmem(target, local, bytes, 0);
            shmem_fence();
            tell(0);
        }
    }
    return (now() - start) / 2;
}

#if HAS_TEAMS
static void tell_by_signal(size_t bytes, int pe) {
    shmem_putmem_signal(target, local, bytes, &shared->signal, (uint64_t)flags, SHMEM_SIGNAL_SET, pe);
}

static double run_put_signal(long n) {
    size_t bytes = size;
    double start = now();
    for (long i = 0; i < n; i++) {
        flags++;
        if (me == 0) tell_by_signal(bytes, 1);
        shmem_signal_wait_until(&shared->signal, SHMEM_CMP_EQ, (uint64_t)flags);
        read_lines(bytes);
        if (me == 1) tell_by_signal(bytes, 0);
    }
    return (now() - start) / 2;
}
#else
#define run_put_signal NULL
#endif

/* The unit: a flag that goes back and forth by stores and loads, without a library. */
static long *line;     /* two lines that PEs 0 and 1 share, */
static bool has_lines; /* if they do: they may be on two hosts */

static double run_flag(long n) {
    _Atomic long *mine = (_Atomic long *)(void *)(line + 16 * me), *other = (_Atomic long *)(void *)(line + 16 * !me);
    static long at; /* both count alike */
    double start = now();
    for (long i = 0; i < n; i++) {
        at++;
        if (me == 0) atomic_store_explicit(other, at, memory_order_release);
        while (atomic_load_explicit(mine, memory_order_acquire) != at) OPAQUE(mine);
        if (me == 1) atomic_store_explicit(other, at, memory_order_release);
    }
    return (now() - start) / 2;
}

/* All PEs. PE 1 opens PE 0's memory through /proc, so nothing remains afterwards. On another host the path may name any
 * file: PE 1 writes only to a file with PE 0's mark. */
static void share_line(void) {
    char path[64];
    long mark = 0;
    int file = -1;
    if (me == 0) {
        FILE *f = tmpfile();
        file = f ? fileno(f) : -1; /* stays open to the end */
        mark = (long)(now() * 1e9);
        if (file >= 0 && (ftruncate(file, 4096) != 0 || pwrite(file, &mark, sizeof mark, 256) != sizeof mark))
            file = -1;
        shared->line_mark = mark;
        shared->line_owner = getpid();
        shared->line_file = file;
    }
    shmem_barrier_all();
    if (me == 1) {
        snprintf(path, sizeof path, "/proc/%ld/fd/%ld", shmem_long_g(&shared->line_owner, 0),
                 shmem_long_g(&shared->line_file, 0));
        file = open(path, O_RDWR | O_CLOEXEC);
        if (file >= 0 &&
            (pread(file, &mark, sizeof mark, 256) != sizeof mark || mark != shmem_long_g(&shared->line_mark, 0))) {
            close(file);
            file = -1;
        }
    }
    if (me < 2) {
        void *memory = file < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        line = memory == MAP_FAILED ? NULL : memory;
        if (line && me == 1) line[32] = mark + 1;
    }
    shmem_barrier_all();
    if (me == 0 && line && line[32] != mark + 1) line = NULL;
    if (me == 0) shared->line_fails = line == NULL;
    shmem_barrier_all();
    has_lines = !shmem_long_g(&shared->line_fails, 0);
    shmem_barrier_all();
    if (me == 1 && file >= 0) close(file);
}

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

static long check_handover(long n, long seed) {
    if (me == 1)
        for (size_t at = 0; at < n_target; at += 64) --*(uint64_t *)(void *)(target + at);
    return check_put(n, seed);
}

static void compute_for(double seconds) {
    uint64_t x = 1;
    for (double end = now() + seconds; now() < end;)
        for (int i = 0; i < 1000; i++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            OPAQUE(x);
        }
}

/* PE 0's part against a target that enters the library only after its computation. Operations come in growing groups,
 * since reading the clock takes longer than some of them. */
static double run_busy(long n) {
    unsigned char *to = target, *from = local;
    size_t bytes = size;
    int pe = peer;
    flags++;
    if (me == 1) {
        tell(0);
        shmem_quiet();
        compute_for(COMPUTE);
        return 0;
    }
    await();
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

/* Atomics by PE 0 on PE 1's word, which nobody else changes: `total` is its value. */

static void fill_atomic(long seed) {
    if (seed == 1) words()[0] = total = 0;
}

LOOP(run_fetch_add, found = shmem_long_atomic_fetch_add(word, 1, pe), ,
     (total += n, wrong_results += found != total - 1))
LOOP(run_add, shmem_long_atomic_add(word, 1, pe), shmem_quiet(), total += n)
LOOP(run_compare_swap, (found = shmem_long_atomic_compare_swap(word, value, value + 1, pe), value++), ,
     (total = value, wrong_results += found != value - 1))
LOOP(run_swap, found = shmem_long_atomic_swap(word, ++value, pe), ,
     (total = value, wrong_results += found != value - 1))
LOOP(run_fetch, found = shmem_long_atomic_fetch(word, pe), , wrong_results += found != total)

static long check_atomic(long n, long seed) {
    if (me != 0) return 0;
    return check_results(n, seed) + (shmem_long_atomic_fetch(words(), 1) != total);
}

/* Order and locks. */

LOOP(run_quiet, shmem_quiet(), , )
LOOP(run_lock, (shmem_set_lock(&shared->lock), shmem_clear_lock(&shared->lock)), , )

/* PE 0 and PE 1 begin together, and count with plain calls under the lock. */
static long check_lock(long n, long seed) {
    enum { TIMES = 3000 };
    (void)n, (void)seed;
    long *count = words();
    shmem_long_p(&shared->counter, 1, 1 - me);
    shmem_long_wait_until(&shared->counter, SHMEM_CMP_GE, 1); /* PE 1 may be at its end already */
    for (int i = 0; i < TIMES; i++) {
        shmem_set_lock(&shared->lock);
        shmem_long_p(count, shmem_long_g(count, 0) + 1, 0);
        shmem_quiet();
        shmem_clear_lock(&shared->lock);
    }
    if (me == 1) {
        shmem_long_p(&shared->counter, 2, 0);
        shared->counter = 0;
        return 0;
    }
    shmem_long_wait_until(&shared->counter, SHMEM_CMP_EQ, 2);
    shared->counter = 0;
    return shmem_long_g(count, 0) != 2 * TIMES;
}

static void fill_zero(long seed) {
    (void)seed;
    memset(target, 0, n_target);
}

/* All PEs. */

LOOP(run_barrier, shmem_barrier_all(), , )

static long check_barrier(long n, long seed) {
    (void)n;
    shmem_long_p(words(), seed + me, (me + 1) % n_pes);
    shmem_barrier_all();
    return words()[0] != seed + (me + n_pes - 1) % n_pes;
}

LOOP(run_sync, shmem_sync_all(), , )

static inline void allocate_and_free(void) {
    void *block = shmem_malloc(BLOCK);
    OPAQUE(block);
    shmem_free(block);
}

LOOP(run_malloc, allocate_and_free(), , )

static long check_malloc(long n, long seed) {
    (void)n;
    int from = (me + n_pes - 1) % n_pes;
    unsigned char *block = shmem_malloc(BLOCK);
    if (!block) die("shmem_malloc(%d) found no memory", BLOCK);
    write_words(local, seed, me, BLOCK);
    shmem_putmem(block, local, BLOCK, (me + 1) % n_pes);
    shmem_barrier_all();
    long wrong = wrong_words(block, seed, from, 0, BLOCK);
    shmem_free(block);
    return wrong;
}

static size_t block_size(void) { return BLOCK; }

/* Collectives. Each call of a group has its own work arrays: a work array may be reused only when all PEs have left the
 * call.
 */

static long *syncs, *work; /* symmetric: GROUP arrays each */
static size_t sync_size, work_size;

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static void make_syncs(void) {
    sync_size = larger(larger(SHMEM_BCAST_SYNC_SIZE, SHMEM_COLLECT_SYNC_SIZE),
                       larger(SHMEM_ALLTOALL_SYNC_SIZE, SHMEM_REDUCE_SYNC_SIZE));
    sync_size = (sync_size + 15) / 16 * 16; /* none shares a line with the next one */
    syncs = shmem_align(128, GROUP * sync_size * sizeof *syncs);
    if (!syncs) die("no symmetric memory for work arrays");
    for (size_t i = 0; i < GROUP * sync_size; i++) syncs[i] = SHMEM_SYNC_VALUE;
}

static long *sync_of(int call) { return syncs + (size_t)call * sync_size; }

static double in_groups(long n, void (*call)(int)) {
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

static size_t n_words(void) { return size / sizeof(long); }

static void fill_source(long seed) {
    write_words(source, seed, me, n_source);
    memset(target, 0, n_target);
}

/* The functions call_NAME and run_NAME: by the call over teams, or that over active sets. */
#if HAS_TEAMS
#define COLLECTIVE_CALL(NAME, OVER_TEAM, OVER_SET)                                                                     \
    static void call_##NAME(int k) {                                                                                   \
        if (active_sets)                                                                                               \
            OVER_SET;                                                                                                  \
        else                                                                                                           \
            OVER_TEAM;                                                                                                 \
    }
#else
#define COLLECTIVE_CALL(NAME, OVER_TEAM, OVER_SET)                                                                     \
    static void call_##NAME(int k) { OVER_SET; }
#endif
#define COLLECTIVE(NAME, OVER_TEAM, OVER_SET)                                                                          \
    COLLECTIVE_CALL(NAME, OVER_TEAM, OVER_SET)                                                                         \
    static double run_##NAME(long n) { return in_groups(n, call_##NAME); }

static long *source_words(void) { return (long *)(void *)source; }

COLLECTIVE(broadcast, shmem_long_broadcast(SHMEM_TEAM_WORLD, words(), source_words(), n_words(), 0),
           shmem_broadcast64(target, source, n_words(), 0, 0, 0, n_pes, sync_of(k)))
COLLECTIVE(fcollect, shmem_long_fcollect(SHMEM_TEAM_WORLD, words(), source_words(), n_words()),
           shmem_fcollect64(target, source, n_words(), 0, 0, n_pes, sync_of(k)))
COLLECTIVE(alltoall, shmem_long_alltoall(SHMEM_TEAM_WORLD, words(), source_words(), n_words()),
           shmem_alltoall64(target, source, n_words(), 0, 0, n_pes, sync_of(k)))
COLLECTIVE(sum, shmem_long_sum_reduce(SHMEM_TEAM_WORLD, words(), source_words(), n_words()),
           shmem_long_sum_to_all(words(), source_words(), (int)n_words(), 0, 0, n_pes, work + (size_t)k * work_size,
                                 sync_of(k)))

/* Over active sets the root's own target stays as it was. */
static long check_broadcast(long n, long seed) {
    (void)n;
    return me == 0 && active_sets ? 0 : wrong_words(target, seed, 0, 0, size);
}

static long check_fcollect(long n, long seed) {
    (void)n;
    long wrong = 0;
    for (int pe = 0; pe < n_pes; pe++) wrong += wrong_words(target + (size_t)pe * size, seed, pe, 0, size);
    return wrong;
}

static long check_alltoall(long n, long seed) {
    (void)n;
    long wrong = 0;
    for (int pe = 0; pe < n_pes; pe++)
        wrong += wrong_words(target + (size_t)pe * size, seed, pe, (size_t)me * n_words(), size);
    return wrong;
}

static void fill_sum(long seed) {
    long *values = (long *)(void *)source;
    for (size_t i = 0; i < n_words(); i++) values[i] = (long)i * (me + 1) + seed;
    memset(target, 0, n_target);
}

static long check_sum(long n, long seed) {
    (void)n;
    long wrong = 0;
    for (size_t i = 0; i < n_words(); i++)
        wrong += words()[i] != (long)i * ((long)n_pes * (n_pes + 1) / 2) + (long)n_pes * seed;
    return wrong;
}

/* clang-format off */
static const struct test tests[] = {
    {"long_p", "shmem_long_p", .run = run_p, .check = check_p},
    {"long_p_quiet", "shmem_long_p and shmem_quiet", .run = run_p_quiet, .check = check_p},
    {"long_g", "shmem_long_g", .fill = fill_word, .run = run_g, .check = check_results},
    {"putmem", "shmem_putmem and shmem_quiet", .sizes = MANY, .fill = fill_local, .run = run_put, .check = check_put},
    {"getmem", "shmem_getmem", .sizes = MANY, .fill = fill_get, .run = run_get, .check = check_get},
    {"put_bw", "64 shmem_putmem_nbi and a quiet",
     .sizes = MANY, .unit = MBS, .per = WINDOW, .target = slots, .fill = fill_local, .run = run_put_bw,
     .check = check_put},
    {"put_bw_handover", "the same, the target reads and writes the buffer in turn",
     .who = PAIR, .sizes = MANY, .unit = MBS, .per = WINDOW, .target = slots, .fill = fill_local,
     .run = run_handover, .check = check_handover},
    {"message_rate", "64 shmem_long_put_nbi of one word and a quiet",
     .unit = MPS, .per = WINDOW, .target = slots, .fill = fill_local, .run = run_rate, .check = check_put},
    {"atomic_fetch_add", "shmem_long_atomic_fetch_add", .fill = fill_atomic, .run = run_fetch_add,
     .check = check_atomic},
    {"atomic_add", "shmem_long_atomic_add, a quiet at the end", .fill = fill_atomic, .run = run_add,
     .check = check_atomic},
    {"atomic_compare_swap", "shmem_long_atomic_compare_swap that succeeds",
     .fill = fill_atomic, .run = run_compare_swap, .check = check_atomic},
    {"atomic_swap", "shmem_long_atomic_swap", .fill = fill_atomic, .run = run_swap, .check = check_atomic},
    {"atomic_fetch", "shmem_long_atomic_fetch", .fill = fill_atomic, .run = run_fetch, .check = check_atomic},
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

/* Batches: PE 0 leads. */

static int n_taking_part(void) {
    return test->who == ALL ? n_pes : 2; /* of ORIGIN, PE 1 hears of checks and of the end */
}

static void give_order(enum act act, long n, long seed) {
    struct order order = {(long)act, n, seed};
    turn++;
    for (int pe = 1; pe < n_taking_part(); pe++) {
        shmem_putmem(&shared->order, &order, sizeof order, pe);
        shmem_fence(); /* the number comes last */
        shmem_long_p(&shared->turn, turn, pe);
    }
}

/* Waits for the answers: the longest time, and what is wrong. */
static void hear_reports(double *seconds, long *wrong) {
    for (int pe = 1; pe < n_taking_part(); pe++) {
        shmem_long_wait_until(&reports[pe].turn, SHMEM_CMP_EQ, turn);
        if (reports[pe].seconds > *seconds) *seconds = reports[pe].seconds;
        *wrong += reports[pe].wrong;
    }
}

static void do_fill(long seed) {
    static const struct test *last_test;
    static size_t last_size;
    static long last_seed;
    if (test == last_test && size == last_size && seed == last_seed) return;
    last_test = test;
    last_size = size;
    last_seed = seed;
    if (test->fill) test->fill(seed);
}

/* One batch: seconds. */
static double batch(long n, long seed) {
    long wrong = 0;
    if (test->who != ORIGIN) give_order(RUN, n, seed);
    do_fill(seed);
    double seconds = test->run(n);
    if (test->who != ORIGIN) hear_reports(&seconds, &wrong);
    return seconds;
}

/* Iterations that fill a batch. The faster of two tries counts: a page fault or another process may have disturbed the
 * other.
 */
static long calibrate(void) {
    double n = 1, budget = (double)budget_ms * 1e-3;
    if (test->once) return 1;
    batch(1, 1);
    for (;;) {
        double a = batch((long)n, 1), b = batch((long)n, 1), seconds = a < b ? a : b;
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
        printf("# %s, OpenSHMEM %d.%d, %d PEs; median and best of %ld batches%s\n", name, major, minor, n_pes, repeat,
               HAS_TEAMS && active_sets ? "; active sets" : "");
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

/* PE 0's part of a row. */
static void lead(void) {
    double *values = malloc((size_t)repeat * sizeof *values);
    const char *check = "-";
    if (!values) die("malloc found no memory");
    long n = calibrate(), seed = 1;
    batch(n / 10 + 1, 1); /* what calibration has disturbed is warm again */
    for (long i = 0; i < repeat; i++) {
        if (validate) seed++;
        values[i] = value_of(batch(n, seed), n);
    }
    if (validate && test->check) {
        double seconds = 0;
        long wrong = 0;
        give_order(CHECK, n, seed);
        long mine = test->check(n, seed);
        hear_reports(&seconds, &wrong);
        check = wrong + mine == 0 ? "Pass" : "Fail";
        if (wrong + mine != 0) failed = true;
    }
    give_order(END, 0, 0);
    qsort(values, (size_t)repeat, sizeof *values, compare);
    double median = (values[repeat / 2] + values[(repeat - 1) / 2]) / 2;
    print_row(median, test->unit == NS ? values[0] : values[repeat - 1], check);
    free(values);
}

/* The part of others that take part. */
static void follow(void) {
    for (;;) {
        double seconds = 0;
        long wrong = 0;
        shmem_long_wait_until(&shared->turn, SHMEM_CMP_EQ, turn + 1);
        turn++;
        struct order order = shared->order;
        if (order.act == END) return;
        if (order.act == RUN) {
            do_fill(order.seed);
            seconds = test->run(order.n);
        } else {
            wrong = test->check(order.n, order.seed);
        }
        shmem_double_p(&reports[me].seconds, seconds, 0);
        shmem_long_p(&reports[me].wrong, wrong, 0);
        shmem_fence(); /* the number comes last */
        shmem_long_p(&reports[me].turn, turn, 0);
    }
}

/* The rest: asleep until PE 0 says that the row is over. */
static void sleep_until(long over) {
    while (!shmem_long_test(&shared->over, SHMEM_CMP_GE, over)) nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}

static void *page_aligned(size_t bytes) {
    void *block;
    return posix_memalign(&block, 4096, bytes) == 0 ? block : NULL;
}

/* Memory of a row, on all PEs or on none. */
static bool allocate(void) {
    n_target = test->target ? test->target() : size;
    n_source = test->source ? test->source() : 0;
    target = shmem_align(4096, n_target);
    source = n_source > 0 ? shmem_align(4096, n_source) : NULL;
    local = page_aligned(n_target);
    work = NULL;
    bool good = target && local && (n_source == 0 || source);
    if (active_sets && test->run == run_sum) {
        work_size = larger(n_words() / 2 + 1, SHMEM_REDUCE_MIN_WRKDATA_SIZE);
        work_size = (work_size + 15) / 16 * 16;
        work = shmem_align(4096, GROUP * work_size * sizeof *work);
        good = good && work;
    }
    if (!good) shmem_long_atomic_add(&shared->failures, 1, 0);
    shmem_barrier_all();
    bool everywhere = shmem_long_g(&shared->failures, 0) == 0;
    shmem_barrier_all();
    shared->failures = 0;
    shmem_barrier_all();
    if (!everywhere) return false;
    memset(target, 0, n_target);
    memset(local, 0, n_target);
    if (source) memset(source, 0, n_source);
    do_fill(1);
    shmem_barrier_all();
    return true;
}

static void release(void) {
    if (work) shmem_free(work);
    if (source) shmem_free(source);
    if (target) shmem_free(target);
    free(local);
}

static void measure(const struct test *t, size_t bytes) {
    static long rows;
    test = t;
    size = bytes;
    rows++;
    if (!t->run || (t->run == run_flag && !has_lines)) {
        if (me == 0) {
            fprintf(stderr, "osh_bench: %s: %s\n", t->name,
                    t->run ? "PEs 0 and 1 share no memory" : "this library has no such call");
            print_row(NAN, NAN, "-");
        }
        return;
    }
    if (!allocate()) {
        if (me == 0) {
            fprintf(stderr, "osh_bench: %s, %zu bytes: no symmetric memory for blocks of %zu and %zu bytes\n", t->name,
                    bytes, n_target, n_source);
            print_row(NAN, NAN, "-");
        }
        failed = true;
    } else if (me == 0) {
        lead();
        for (int pe = 1; pe < n_pes; pe++) shmem_long_p(&shared->over, rows, pe);
    } else {
        if (me < n_taking_part()) follow();
        sleep_until(rows);
    }
    /* So far only the PEs that took part have counted flags and orders; from here on all PEs have the same counts. */
    shmem_barrier_all();
    shmem_long_get(&turn, &shared->turn, 1, 1);
    shmem_barrier_all();
    release();
}

static void measure_sizes(const struct test *t) {
    if (t->sizes == WORD || t->sizes == NONE) {
        measure(t, t->run == run_malloc ? BLOCK : sizeof(long));
    } else if (t->sizes == SHORT) {
        for (size_t bytes = 8; bytes <= max_size && bytes <= 1024; bytes *= 128) measure(t, bytes);
    } else if (t->sizes == FEW) {
        for (size_t bytes = 8; bytes <= max_size && bytes <= 262144; bytes = bytes == 8 ? 4096 : bytes * 64)
            measure(t, bytes);
    } else {
        for (size_t bytes = 8; bytes <= max_size; bytes *= full || bytes == 8 ? 2 : 4) measure(t, bytes);
    }
}

/* Options. */

static void usage(FILE *f) {
    fprintf(
        f,
        "usage: oshrun -n N osh_bench [OPTION]...\n"
        "Times of OpenSHMEM calls between PE 0 and PE 1, and of collectives of all PEs.\n\n"
        "  -t, --tests=NAME,...  only these; the last -t counts\n"
        "  -m, --max-size=BYTES  largest size; suffixes k, M, G (default 1M)\n"
        "      --full            all powers of two; else 8, 16, and from there powers of four\n"
        "  -r, --repeat=N        batches, of which the median and the best are printed (default 11)\n"
        "  -b, --batch=MS        milliseconds that a batch takes (default 4)\n"
        "  -c, --check           check data after each row; exit code 1 if they are wrong\n"
        "      --active-sets     collectives over active sets, where the library has teams, too\n"
        "      --csv             a header line and comma-separated rows; no value: empty\n"
        "      --list            print the names of the tests, or of those chosen, one a line\n"
        "  -h, --help            print this\n\n"
        "Tests; a time is one of a call or of the calls that are named, a rate is in 10^6 bytes or puts a second:\n");
    for (int i = 0; i < N_TESTS; i++)
        fprintf(f, "  %-20s %-5s %s\n", tests[i].name, units[tests[i].unit], tests[i].help);
    fprintf(f, "\nExit code: 0 done, 1 data wrong or no memory for a row, 2 wrong arguments.\n");
}

static bool read_number(const char *text, bool suffixes, long max, long *value) {
    char *end;
    long v = strtol(text, &end, 10), unit = 1;
    if (end == text || v < 1) return false;
    if (suffixes && *end) unit = *end == 'k' ? 1L << 10 : *end == 'M' ? 1L << 20 : *end == 'G' ? 1L << 30 : 1;
    if (unit > 1) end++;
    if (*end || v > max / unit) return false;
    *value = v * unit;
    return true;
}

static bool choose(char *names) {
    memset(chosen, 0, sizeof chosen);
    for (char *name = strtok(names, ","); name; name = strtok(NULL, ",")) {
        int i = 0;
        while (i < N_TESTS && strcmp(tests[i].name, name) != 0) i++;
        if (i == N_TESTS) {
            if (me == 0) fprintf(stderr, "osh_bench: there is no test '%s'\n", name);
            return false;
        }
        chosen[i] = true;
    }
    return true;
}

enum { KEEP_ON = -1 };

/* The exit code, if it is known already. */
static int read_options(int argc, char **argv) {
    enum { FULL = 256, CSV, LIST, ACTIVE_SETS };
    static const struct option options[] = {
        {"tests", required_argument, NULL, 't'},
        {"max-size", required_argument, NULL, 'm'},
        {"full", no_argument, NULL, FULL},
        {"repeat", required_argument, NULL, 'r'},
        {"batch", required_argument, NULL, 'b'},
        {"check", no_argument, NULL, 'c'},
        {"active-sets", no_argument, NULL, ACTIVE_SETS},
        {"csv", no_argument, NULL, CSV},
        {"list", no_argument, NULL, LIST},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    bool good = true, some = false, list = false, help = false;
    long most = (long)max_size;
    opterr = me == 0;
    for (int c; (c = getopt_long(argc, argv, "t:m:r:b:ch", options, NULL)) != -1;) switch (c) {
            case 't': good &= some = choose(optarg); break;
            case 'm': good &= read_number(optarg, true, (long)BYTES_MAX, &most) && most >= 8; break;
            case 'r': good &= read_number(optarg, false, 10001, &repeat); break;
            case 'b': good &= read_number(optarg, false, 10000, &budget_ms); break;
            case 'c': validate = true; break;
            case FULL: full = true; break;
            case ACTIVE_SETS: active_sets = true; break;
            case CSV: csv = true; break;
            case LIST: list = true; break;
            case 'h': help = true; break;
            default: good = false;
        }
    max_size = (size_t)most;
    good &= optind == argc;
    if (!good) {
        if (me == 0) fprintf(stderr, "osh_bench: wrong arguments; see osh_bench --help\n");
        return 2;
    }
    if (help) {
        if (me == 0) usage(stdout);
        return 0;
    }
    for (int i = 0; i < N_TESTS; i++) {
        chosen[i] |= !some;
        if (list && me == 0 && chosen[i]) printf("%s\n", tests[i].name);
    }
    if (list) return 0;
    if (n_pes < 2) {
        fprintf(stderr, "osh_bench: needs 2 PEs: start it with oshrun -n 2\n");
        return 2;
    }
    return KEEP_ON;
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
    shared = shmem_align(128, sizeof *shared);
    reports = shmem_align(128, (size_t)n_pes * sizeof *reports);
    if (!shared || !reports) die("no symmetric memory");
    memset(shared, 0, sizeof *shared);
    memset(reports, 0, (size_t)n_pes * sizeof *reports);
    if (active_sets) make_syncs();
    shmem_barrier_all();

    share_line();
    if (me == 0) print_header();
    for (int i = 0; i < N_TESTS; i++)
        if (chosen[i]) measure_sizes(&tests[i]);

    if (syncs) shmem_free(syncs);
    shmem_free(reports);
    shmem_free(shared);
    shmem_finalize();
    return failed ? 1 : 0;
}
