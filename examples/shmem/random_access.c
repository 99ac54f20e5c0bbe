/* SPDX-License-Identifier: BSD-3-Clause */
/* random_access: all PEs change random words of a table that is distributed over all of them (OpenSHMEM 1.4).
 *
 *     oshrun -n 4 ./random_access [--words=N] [--updates=N]
 *
 * Word i of the table is word i / n of PE i % n, n being the number of PEs. An update draws a random number, which
 * gives the word and the operand of an atomic exclusive or. No cache can predict the accesses, and they cannot be
 * combined into larger transfers: the program measures the system's time for one small access anywhere.
 *
 * Exclusive or undoes itself. So the check does all updates a second time: the table must then be as it was in the
 * beginning, which it cannot be if a single update was lost. Another PE undoes an update than the PE that made it. */
#include <getopt.h>
#include <shmem.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int me, n_pes;
static long words = 1L << 18; /* of each PE */
static long updates = 100000; /* by each PE */

static unsigned long *table; /* symmetric */
static long wrong;           /* PE 0's: how many words of all PEs have changed */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The number with this index of a sequence that every PE can compute from anywhere: splitmix64, from G. Steele, D. Lea,
 * C. Flood, "Fast splittable pseudorandom number generators", 2014. */
static uint64_t draw(uint64_t index) {
    uint64_t x = (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static unsigned long initial(long word) { return (unsigned long)draw(~(uint64_t)(word * n_pes + me)); }

/* The updates that belong to one PE. */
static void update(int whose) {
    uint64_t first = (uint64_t)whose * (uint64_t)updates, all = (uint64_t)words * (uint64_t)n_pes;
    for (uint64_t i = first; i < first + (uint64_t)updates; i++) {
        uint64_t random = draw(i), word = random % all;
        shmem_ulong_atomic_xor(&table[word / (uint64_t)n_pes], (unsigned long)random, (int)(word % (uint64_t)n_pes));
    }
}

/* Words of this PE that differ from the first ones. */
static long changed(void) {
    long n = 0;
    for (long i = 0; i < words; i++) n += table[i] != initial(i);
    return n;
}

/* Returns the number of words, of all PEs, that are wrong at the end. */
static long run(void) {
    for (long i = 0; i < words; i++) table[i] = initial(i);
    shmem_barrier_all(); /* all tables are filled */

    double start = now();
    update(me);
    shmem_barrier_all(); /* completes the updates of all PEs */
    double forth = now() - start;
    long touched = changed();
    shmem_barrier_all(); /* nobody may undo updates while another PE still checks its table */

    start = now();
    update((me + 1) % n_pes);
    shmem_barrier_all();
    double back = now() - start;
    shmem_long_atomic_add(&wrong, changed(), 0);
    /* The check proves nothing if no word was changed at all. Only a table of few words may stay unchanged by chance.
     */
    if (touched == 0 && words >= 64 && updates >= words) shmem_long_atomic_add(&wrong, words, 0);
    shmem_barrier_all();

    long bad = shmem_long_g(&wrong, 0);
    if (me == 0) {
        double all = (double)updates * n_pes;
        printf("%d PEs, a table of %ld words each, %ld updates by each\n", n_pes, words, updates);
        printf("update  %.3f s, %.3f million updates/s\n", forth, all / forth * 1e-6);
        printf("undo    %.3f s, %.3f million updates/s\n", back, all / back * 1e-6);
        if (bad)
            printf("WRONG: %ld words are not as they were\n", bad);
        else
            printf("every word is as it was\n");
    }
    return bad;
}

static bool read_number(const char *text, long *value) {
    char *end;
    *value = strtol(text, &end, 10);
    return end != text && *end == '\0' && *value >= 1 && *value <= INT32_MAX;
}

static void usage(FILE *f) {
    fprintf(f, "usage: random_access [--words=N] [--updates=N]\n"
               "  -w, --words=N    words of the table on each PE (default 262144)\n"
               "  -u, --updates=N  updates by each PE (default 100000)\n"
               "  -h, --help       print this\n");
}

int main(int argc, char **argv) {
    static const struct option options[] = {
        {"words", required_argument, NULL, 'w'},
        {"updates", required_argument, NULL, 'u'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    shmem_init();
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    bool help = false, good = true;
    opterr = me == 0;
    for (int c; (c = getopt_long(argc, argv, "w:u:h", options, NULL)) != -1;) switch (c) {
            case 'w': good &= read_number(optarg, &words); break;
            case 'u': good &= read_number(optarg, &updates); break;
            case 'h': help = true; break;
            default: good = false;
        }
    good &= optind == argc;
    int code = good ? 0 : 2;
    if (help || !good) {
        if (me == 0) usage(good ? stdout : stderr);
    } else {
        table = shmem_malloc((size_t)words * sizeof *table);
        if (!table) {
            fprintf(stderr, "random_access: PE %d: no room for %ld words\n", me, words);
            shmem_global_exit(1);
        }
        if (run() != 0) code = 1;
        shmem_free(table);
    }
    shmem_finalize();
    return code;
}
