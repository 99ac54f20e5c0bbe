/* SPDX-License-Identifier: BSD-3-Clause */
/* index_gather: each PE reads random words of a table that is distributed over all PEs (OpenSHMEM 1.4).
 *
 *     oshrun -n 4 ./index_gather [--words=N] [--reads=N] [--window=N]
 *
 * The access of sparse matrices, graphs and tables of all kinds: target[i] = table[index[i]]. Word i of the table is
 * word i / n of PE i % n. It does this in three ways, which a runtime may or may not make equally fast:
 *   get      shmem_long_g, one after the other: the time of a single read
 *   window   up to --window of shmem_getmem_nbi at once, and a shmem_quiet: what the system can have under way
 *   sorted   first sorts the indices by PE, so that those of one PE are consecutive; then as before
 * Each result is compared with the word's known content. */
#include <getopt.h>
#include <shmem.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int me, n_pes;
static long words = 1L << 18; /* of each PE */
static long reads = 20000;    /* by each PE */
static long window = 64;      /* reads under way at once */

static long *table;   /* symmetric */
static long *wanted;  /* reads: what this PE reads, by word of the whole table */
static long *order;   /* reads: the numbers of the indices, by PE */
static long *target;  /* reads: what it has found */
static long wrong;    /* PE 0's: wrong results of all PEs */
static double *times; /* PE 0's: one of each PE */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* splitmix64, from G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", 2014. */
static uint64_t draw(uint64_t index) {
    uint64_t x = (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* The content of this word of the whole table. */
static long content(long word) { return (long)(draw(~(uint64_t)word) >> 1); }

static void get(void) {
    for (long i = 0; i < reads; i++) target[i] = shmem_long_g(&table[wanted[i] / n_pes], (int)(wanted[i] % n_pes));
}

/* The reads order[0], order[1], ..., or in the order of the indices. */
static void get_windows(const long *by) {
    for (long i = 0; i < reads; i++) {
        long k = by ? by[i] : i;
        shmem_getmem_nbi(&target[k], &table[wanted[k] / n_pes], sizeof *target, (int)(wanted[k] % n_pes));
        if ((i + 1) % window == 0) shmem_quiet();
    }
    shmem_quiet(); /* only now the results are there */
}

static void get_window(void) { get_windows(NULL); }

/* Sorting is part of the work: a counting sort by PE. */
static void get_sorted(void) {
    long *place = calloc((size_t)n_pes + 1, sizeof *place);
    if (!place) shmem_global_exit(1);
    for (long i = 0; i < reads; i++) place[wanted[i] % n_pes + 1]++;
    for (int pe = 0; pe < n_pes; pe++) place[pe + 1] += place[pe];
    for (long i = 0; i < reads; i++) order[place[wanted[i] % n_pes]++] = i;
    free(place);
    get_windows(order);
}

/* Measures and checks one way; PE 0 prints a line, whose rate is that of the slowest PE times their number. */
static void measure(const char *name, void (*way)(void)) {
    memset(target, 0xff, (size_t)reads * sizeof *target); /* no word of the table is negative */
    shmem_barrier_all();
    double start = now();
    way();
    shmem_double_p(&times[me], now() - start, 0);
    long bad = 0;
    for (long i = 0; i < reads; i++) bad += target[i] != content(wanted[i]);
    if (bad) shmem_long_atomic_add(&wrong, bad, 0);
    shmem_barrier_all();
    if (me != 0) return;
    double slowest = times[0];
    for (int pe = 1; pe < n_pes; pe++)
        if (times[pe] > slowest) slowest = times[pe];
    printf("%-8s %.3f s, %.3f million reads/s\n", name, slowest, (double)reads * n_pes / slowest * 1e-6);
    fflush(stdout);
}

/* Returns the number of wrong results of all PEs. */
static long run(void) {
    uint64_t all = (uint64_t)words * (uint64_t)n_pes;
    for (long i = 0; i < words; i++) table[i] = content(i * n_pes + me);
    for (long i = 0; i < reads; i++) wanted[i] = (long)(draw((uint64_t)me * (uint64_t)reads + (uint64_t)i) % all);
    if (me == 0)
        printf("%d PEs, a table of %ld words each, %ld reads by each, %ld at once\n", n_pes, words, reads, window);
    measure("get", get);
    measure("window", get_window);
    measure("sorted", get_sorted);
    long bad = shmem_long_g(&wrong, 0);
    if (me == 0 && bad) printf("WRONG: %ld results\n", bad);
    if (me == 0 && !bad) printf("every result is right\n");
    return bad;
}

static bool read_number(const char *text, long *value) {
    char *end;
    *value = strtol(text, &end, 10);
    return end != text && *end == '\0' && *value >= 1 && *value <= INT32_MAX;
}

static void usage(FILE *f) {
    fprintf(f, "usage: index_gather [--words=N] [--reads=N] [--window=N]\n"
               "  -w, --words=N   words of the table on each PE (default 262144)\n"
               "  -r, --reads=N   reads by each PE (default 20000)\n"
               "  -n, --window=N  reads under way at once (default 64)\n"
               "  -h, --help      print this\n");
}

int main(int argc, char **argv) {
    static const struct option options[] = {
        {"words", required_argument, NULL, 'w'},
        {"reads", required_argument, NULL, 'r'},
        {"window", required_argument, NULL, 'n'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    shmem_init();
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    bool help = false, good = true;
    opterr = me == 0;
    for (int c; (c = getopt_long(argc, argv, "w:r:n:h", options, NULL)) != -1;) switch (c) {
            case 'w': good &= read_number(optarg, &words); break;
            case 'r': good &= read_number(optarg, &reads); break;
            case 'n': good &= read_number(optarg, &window); break;
            case 'h': help = true; break;
            default: good = false;
        }
    good &= optind == argc;
    int code = good ? 0 : 2;
    if (help || !good) {
        if (me == 0) usage(good ? stdout : stderr);
    } else {
        table = shmem_malloc((size_t)words * sizeof *table);
        times = shmem_malloc((size_t)n_pes * sizeof *times);
        wanted = malloc((size_t)reads * sizeof *wanted);
        order = malloc((size_t)reads * sizeof *order);
        target = malloc((size_t)reads * sizeof *target);
        if (!table || !times || !wanted || !order || !target) {
            fprintf(stderr, "index_gather: PE %d: no room for %ld words and %ld reads\n", me, words, reads);
            shmem_global_exit(1);
        }
        if (run() != 0) code = 1;
        free(target);
        free(order);
        free(wanted);
        shmem_free(times);
        shmem_free(table);
    }
    shmem_finalize();
    return code;
}
