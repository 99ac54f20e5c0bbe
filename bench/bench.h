/* SPDX-License-Identifier: BSD-3-Clause */
/* bench.h: the common part of all benchmarks of librma: options, placement, measurement, statistics, output,
 * validation.
 *
 * A benchmark compares METHODS: ways to do one thing (by librma, by bare loads and stores, by MPI), each a column of
 * the table. The harness runs them in turn, one batch each, round after round, so that a disturbance of the machine
 * affects all columns alike. A cell is the median of its batches; a ratio is the median of the ratios within each
 * round; --stats prints more statistics. Give each PE an idle core: an operation that needs two PEs at once, as all of
 * MPI does on one node, otherwise waits for time slices of milliseconds.
 *
 * A measurement between two PEs has an ORIGIN, which calls, and a TARGET, whose memory is accessed; --pairs gives
 * several such pairs. The other PEs are bystanders.
 *
 * Each library's calls meet a target that waits in that library: in MPI for MPI's columns, in librma for the others. On
 * one node librma does not need the target, which sleeps; a target on another node must serve.
 *
 * A program is a struct bench_spec for bench_main: columns, ratios, rows or sizes, and functions that allocate and
 * free. All calls here are collective over all PEs, except those marked local. A failure during the run ends the job
 * with a message (bench_fail); a bad option ends the program cleanly (bench_refuse). */
#ifndef BENCH_H
#define BENCH_H

#include "options.h"
#include "statistics.h"

#include <rma.h>

#include <mpi.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_INLINE static inline __attribute__((always_inline))

/* -m ends here: some MPICH versions crash in MPI_Put from 2 GiB on. */
#define BENCH_SIZE_MAX ((size_t)1 << 30)

#define BENCH_COLUMNS_MAX 8 /* methods of a program */

enum bench_role { BENCH_BYSTANDER, BENCH_ORIGIN, BENCH_TARGET };

/* The options' values and the state of the sweep. One per program; programs read it, and set window, streams and
 * size. */
struct bench {
    int pe;               /* rma_my_pe() */
    int n_pes;            /* rma_n_pes() */
    enum bench_role role; /* this PE's. Without spec.pairs PE 0 is the origin, and PE 1 its target */
    int peer;             /* the other PE of this PE's pair; a bystander, and a job's only PE, is its own peer */
    long pairs;           /* -p */
    bool far;             /* the job has several nodes */
    bool on_node;         /* the PEs of each pair reach each other by load and store: bench_pair_open finds out */
    bool crowded;         /* more PEs than cores on this machine: spinning must yield */
    size_t size;          /* bytes per transfer of the row being measured */
    int row;              /* its number in spec.rows */
    int only;             /* -o: the one that is wanted; -1: all */
    long window;          /* transfers per iteration: counts in bandwidths and rates; 1 unless the program sets it */
    long streams;         /* PEs whose iterations are added up in these: pairs, unless the program sets it */
    struct bench_sizes sizes; /* -m */
    long iterations;          /* -i; 0: each method's batches last spec.budget */
    long warmup;              /* -x; -1: a tenth of a batch, and one */
    long repeat;              /* -r: batches per cell */
    int way;                  /* --way, an enum bench_way; -1: librma chooses */
    bool validate;            /* -c */
    bool failed;              /* some validation found wrong data: bench_finish returns 1 */
};

extern struct bench bench;

/* librma's ways between nodes. */
enum bench_way { BENCH_MESSAGES, BENCH_DYNAMIC };

/* The unit of cells. For the last two more is better. */
enum bench_value {
    BENCH_US,   /* time of an iteration, of the slowest PE, in microseconds */
    BENCH_NS,   /* in nanoseconds */
    BENCH_OWN,  /* the program's own values, by bench_row_of */
    BENCH_MBPS, /* bytes of all iterations at once, in 10^6 per second */
    BENCH_RATE  /* transfers, in 10^6 per second */
};

#define BENCH_PAIRS_MAX 4096

enum bench_callers {
    BENCH_DEFAULT, /* in programs with pairs the origins, otherwise all */
    BENCH_ALL,
    BENCH_ORIGINS,
    BENCH_BOTH /* origins and targets */
};

struct bench_method {
    const char *name; /* column title */

    /* Do n iterations and return the seconds that they took, by rma_wtime. The slowest PE counts, so a PE that only
     * serves returns 0. PEs enter within about a millisecond of each other: a method that needs more calls a
     * barrier. */
    double (*run)(long n); /* null, on every PE: the column shows '-' */

    /* With -c, after the batches of a row: run once more, and return the number of wrong bytes (or other errors) that
     * this PE found. May be null. */
    size_t (*check)(const struct bench_method *m);

    enum bench_callers callers; /* the PEs that call run; the others wait */
    bool bare;                  /* by load and store: shows '-' unless bench.on_node */
    bool mpi; /* PEs that take part wait inside MPI, so that MPI's one-sided calls progress; otherwise they serve other
                 nodes or, if there are none, sleep and check every 50 us whether the batch is over */
};

/* A ratio of two columns, numbered as in the method table; with two denominators, the better one of the round
 * counts. -1: none. */
struct bench_ratio {
    const char *name;
    int over;
    int under[2];
};

/* bench_ratios: rma/raw and MPI/rma, for programs whose methods are librma, the limit and MPI, in this order. They are
 * the same on one node and between nodes, so that rows of both can be compared. Between nodes there is no limit, and
 * rma/raw shows '-'. */
extern const struct bench_ratio bench_ratios[];

/* A row of a program whose rows are no sizes. */
struct bench_row {
    const char *name;
    double (*run[BENCH_COLUMNS_MAX])(long n); /* for each method, in place of its own */
    long n;                                   /* the program's own: a size, a number of words */
};

/* Tables end with an element whose name is null. */
struct bench_spec {
    const char *title; /* "put latency" */
    const char *help;  /* explains the columns: a paragraph for --help */
    const char *note;  /* what is measured: "all PEs"; with pairs it follows the harness's own text, and may be null */
    const struct bench_option *options;           /* the program's own, or null */
    const struct bench_method *methods;           /* the columns */
    const struct bench_ratio *ratios;             /* or null */
    const struct bench_row *rows;                 /* -o selects one of them; null: sizes, or the program's own rows */
    const char *first;                            /* the first column's title; null: sizes, or PEs */
    size_t min_size;                              /* default lower end of -m; 0: 1 */
    size_t max_size;                              /* default upper end of -m; 0: no sizes, one row, no -m */
    int pairs;                                    /* limit of -p; 1: one pair, no -p; 0: all PEs take part */
    long repeat;                                  /* default of -r; 0: 11 */
    double budget;                                /* seconds that a batch lasts unless -i is given */
    enum bench_value value;                       /* the unit of cells */
    void (*start)(void);                          /* starts MPI and librma for bench_init; null: it does so itself */
    void (*begin)(void);                          /* allocates, before the first row; or null */
    void (*before)(struct bench_method *methods); /* before a row: may change the methods; or null */
    void (*end)(void);                            /* frees, after the last row; or null */
    bool ways;                                    /* there is --way, between nodes only */
    bool single;                                  /* a batch is one iteration: no -i, no -x */
    bool once;                                    /* the program measures only once: also no -r */
};

/* bench_main: main of a benchmark: bench_init, begin, each of the rows, or a row for each size of -m (MIN, 2 MIN, 4
 * MIN ... up to MAX), end, bench_finish. spec is read until the end; begin may change it. */
int bench_main(int argc, char **argv, const struct bench_spec *spec);

/* The parts of bench_main for programs with rows of their own.
 *
 * bench_init: read the options, and start librma. Ends the program, on all PEs: with code 0 after --help, before MPI
 * starts; with 2 after a bad option, value, or number of PEs, and after --way in a job of one node.
 * bench_row: measure and print one row, called `name`. The first row also prints the header.
 * bench_row_of: print a row of PE 0's values that the program has measured itself: values[i] is in column i, NAN shows
 * '-', good is the result of the validation.
 * bench_finish: end librma, and MPI if the program started it; return what main returns: 1 if a validation failed, else
 * 0. */
void bench_init(int argc, char **argv, const struct bench_spec *spec);
void bench_row(const char *name);
void bench_row_of(const char *name, const double *values, bool good);
int bench_finish(void);

/* bench_refuse: let PE 0 print "program: text" to stderr, then end the program on all PEs with this code. */
_Noreturn void bench_refuse(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* bench_symmetric: size bytes of the symmetric heap, zero, with this alignment, a power of two; ends the program with
 * librma's error text if there is no room. */
void *bench_symmetric(size_t alignment, size_t size);

/* bench_fail: print what failed and why, and abort the job. mpi_code 0: rma_last_error says why. Local. */
_Noreturn void bench_fail(const char *call, int mpi_code) __attribute__((cold));

#define BENCH_RMA(call) ((call) == RMA_SUCCESS ? (void)0 : bench_fail(#call, 0))
#define BENCH_MPI(call)                                                                                                \
    do {                                                                                                               \
        int code_ = (call);                                                                                            \
        if (code_ != MPI_SUCCESS) bench_fail(#call, code_);                                                            \
    } while (0)

/* bench_agree: the largest of all PEs' values. bench_sync: wait for all PEs without disturbing them; bench_sync_mpi:
 * wait only inside MPI, so that this PE serves no requests of librma meanwhile. */
int bench_agree(int value);
void bench_sync(void);
void bench_sync_mpi(void);

/* bench_clock_cost: seconds between two consecutive calls of rma_wtime, to be subtracted from the time of a single
 * operation. Local. */
double bench_clock_cost(void);

/* bench_column: the number of a method that the harness passes to a check. Local. */
int bench_column(const struct bench_method *m);

/* bench_calls_run: whether this PE is among m's callers. Local. */
bool bench_calls_run(const struct bench_method *m);

/* bench_check_run: m->run(n) by its callers, between two meetings of all PEs, and two MPI_Win_sync of win if it is a
 * window: afterwards each PE sees what others have done. Collective. */
void bench_check_run(const struct bench_method *m, long n, MPI_Win win);

/* A compiler barrier: all stores before are done, all loads after are done again. */
BENCH_INLINE void bench_keep(const void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }

/* Pure arithmetic, one dependent step after the other, which the compiler cannot remove. */
static inline void bench_compute(long steps) {
    uint64_t x = 1;
    for (long i = 0; i < steps; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        __asm__ volatile("" : "+r"(x));
    }
}

/* The function NAME: seconds of n times the statements. */
#define BENCH_LOOP(NAME, ...)                                                                                          \
    static double NAME(long n) {                                                                                       \
        double start = rma_wtime();                                                                                    \
        for (long i = 0; i < n; i++) {                                                                                 \
            __VA_ARGS__;                                                                                               \
            bench_keep(NULL);                                                                                          \
        }                                                                                                              \
        return rma_wtime() - start;                                                                                    \
    }

/* The same length, hidden from the compiler. */
BENCH_INLINE size_t bench_opaque(size_t len) {
    __asm__ volatile("" : "+r"(len));
    return len;
}

/* LOOP(n, len) for len = bench.size. If constant is true, the compiler knows len when it is the size of a scalar, as in
 * programs that move single values. */
#define BENCH_BY_SIZE(LOOP, n, constant)                                                                               \
    ((constant) && bench.size == 1   ? LOOP(n, 1)                                                                      \
     : (constant) && bench.size == 2 ? LOOP(n, 2)                                                                      \
     : (constant) && bench.size == 4 ? LOOP(n, 4)                                                                      \
     : (constant) && bench.size == 8 ? LOOP(n, 8)                                                                      \
                                     : LOOP(n, bench_opaque(bench.size)))

/* Wait until another PE has raised *flag to at least turn; acquires what it released. */
BENCH_INLINE void bench_wait_flag(const uint64_t *flag, uint64_t turn) {
    for (unsigned spins = 0; __atomic_load_n(flag, __ATOMIC_ACQUIRE) < turn; spins++) {
#if defined __x86_64__ || defined __i386__
        __builtin_ia32_pause();
#elif defined __aarch64__
        __asm__ volatile("yield");
#endif
        if (bench.crowded || spins > 1000) sched_yield();
    }
}

#endif
