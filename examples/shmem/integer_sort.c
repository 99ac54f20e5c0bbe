/* SPDX-License-Identifier: BSD-3-Clause */
/* integer_sort: all PEs together sort keys that are distributed over them (OpenSHMEM 1.4 and later).
 *
 *     oshrun -n 4 ./integer_sort [--keys=N] [--skew=S]
 *
 * A bucket sort with one bucket per PE; afterwards PE 0 has the smallest keys, PE 1 the next ones, and so on. Steps:
 *   sample    each PE shows some of its keys to all (fcollect); all find the same bounds of the buckets in them, so
 *             that buckets become about equally large, however the keys are distributed
 *   count     each PE counts its keys of each bucket, and adds the count to the size of the bucket by an atomic. The
 *             greatest size of all (a reduction) tells how much symmetric memory is needed
 *   exchange  each PE reserves a part of each bucket by an atomic fetch-and-add on its owner, and puts its keys there;
 *             the owner takes no part, and nobody waits for anybody until the barrier
 *   sort      each PE sorts its bucket
 * The check: each PE's keys are ascending and within its bounds, and the number of all keys and the sum of their hashes
 * are those of the unsorted ones. */
#include <getopt.h>
#include <shmem.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SAMPLES 128 /* of each PE */

/* Teams came with OpenSHMEM 1.5; before, collectives had work arrays. Both are here, as they may be needed in a row. */
#define HAS_TEAMS (SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5)

/* A summary of all PEs' keys: reduced over all PEs, before and after the sort. */
struct account {
    long keys;
    long hash[2]; /* sums of two times 24 bits of each key's hash, so that 2^39 keys fit */
    long wrong;   /* keys out of place */
};
#define N_ACCOUNT ((int)(sizeof(struct account) / sizeof(long)))

static int me, n_pes;
static long n_keys = 200000; /* of each PE */
static long skew = 0;

static int64_t *keys;      /* n_keys: what this PE has at first */
static int64_t *grouped;   /* n_keys: the same, bucket by bucket */
static long *starts;       /* n_pes + 1: bucket b is grouped[starts[b]...starts[b + 1]) */
static int64_t *bounds;    /* n_pes + 1: bucket b has the keys of bounds[b] <= key < bounds[b + 1] */
static int64_t *samples;   /* symmetric; SAMPLES of this PE */
static int64_t *shown;     /* symmetric; SAMPLES of each PE */
static int64_t *bucket;    /* symmetric; as many as the largest bucket has */
static long size, largest; /* keys of this PE's bucket; of the largest one */
static long filled;        /* keys of this PE's bucket that have a place */
static struct account before, after, all_before, all_after;

#if !HAS_TEAMS
static long collect_sync[SHMEM_COLLECT_SYNC_SIZE], max_sync[SHMEM_REDUCE_SYNC_SIZE];
static long sum_sync[2][SHMEM_REDUCE_SYNC_SIZE];
static long work[2][N_ACCOUNT / 2 + 1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE], max_work[1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE];

static void init_sync(void) {
    for (int i = 0; i < SHMEM_COLLECT_SYNC_SIZE; i++) collect_sync[i] = SHMEM_SYNC_VALUE;
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++) max_sync[i] = sum_sync[0][i] = sum_sync[1][i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
}
#endif

static void show_samples(void) {
#if HAS_TEAMS
    shmem_int64_fcollect(SHMEM_TEAM_WORLD, shown, samples, SAMPLES);
#else
    shmem_fcollect64(shown, samples, SAMPLES, 0, 0, n_pes, collect_sync);
#endif
}

static void find_largest(void) {
#if HAS_TEAMS
    shmem_long_max_reduce(SHMEM_TEAM_WORLD, &largest, &size, 1);
#else
    shmem_long_max_to_all(&largest, &size, 1, 0, 0, n_pes, max_work, max_sync);
#endif
}

static void add_accounts(struct account *all, struct account *own, int round) {
#if HAS_TEAMS
    (void)round;
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &all->keys, &own->keys, (size_t)N_ACCOUNT);
#else
    shmem_long_sum_to_all(&all->keys, &own->keys, N_ACCOUNT, 0, 0, n_pes, work[round], sum_sync[round]);
#endif
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* splitmix64, from G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", 2014. */
static uint64_t scramble(uint64_t x) {
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static uint64_t draw(uint64_t index) { return scramble((index + 1) * UINT64_C(0x9e3779b97f4a7c15)); }

/* Keys of 0 to 2^62 - 1. Each step of skew makes small ones more frequent, and so many of them equal. */
static void make_keys(void) {
    for (long i = 0; i < n_keys; i++) {
        uint64_t random = draw((uint64_t)me * (uint64_t)n_keys + (uint64_t)i) >> 2;
        for (long s = 0; s < skew; s++) random >>= draw(random + (uint64_t)s) % 8;
        keys[i] = (int64_t)random;
    }
}

static struct account take_account(const int64_t *of, long n) {
    struct account a = {.keys = n};
    for (long i = 0; i < n; i++) {
        uint64_t hash = scramble((uint64_t)of[i] + 1);
        a.hash[0] += (long)(hash >> 40);
        a.hash[1] += (long)(hash >> 16 & 0xffffff);
    }
    return a;
}

static int compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Every PE computes the same bounds. A key as frequent as a whole bucket makes two bounds equal, and a bucket empty. */
static void find_bounds(void) {
    for (long i = 0; i < SAMPLES; i++) samples[i] = keys[i * n_keys / SAMPLES];
    show_samples();
    qsort(shown, (size_t)n_pes * SAMPLES, sizeof *shown, compare);
    bounds[0] = 0;
    for (int b = 1; b < n_pes; b++) bounds[b] = shown[b * SAMPLES];
    bounds[n_pes] = INT64_MAX;
}

/* The last bucket that begins at or below the key. */
static int bucket_of(int64_t key) {
    int low = 0, high = n_pes;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (bounds[middle] <= key)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Keys bucket by bucket, and the size of each to its owner. */
static void group(void) {
    for (int b = 0; b <= n_pes; b++) starts[b] = 0;
    for (long i = 0; i < n_keys; i++) starts[bucket_of(keys[i]) + 1]++;
    for (int b = 0; b < n_pes; b++) {
        if (starts[b + 1]) shmem_long_atomic_add(&size, starts[b + 1], b);
        starts[b + 1] += starts[b];
    }
    for (long i = 0; i < n_keys; i++) grouped[starts[bucket_of(keys[i])]++] = keys[i];
    for (int b = n_pes; b > 0; b--) starts[b] = starts[b - 1]; /* each had moved to the next one's start */
    starts[0] = 0;
}

/* Each PE begins with the next PE's bucket, so that they do not all access the same one at once. */
static void exchange(void) {
    for (int i = 1; i <= n_pes; i++) {
        int b = (me + i) % n_pes;
        long n = starts[b + 1] - starts[b];
        if (n == 0) continue;
        long at = shmem_long_atomic_fetch_add(&filled, n, b);
        shmem_putmem_nbi(&bucket[at], &grouped[starts[b]], (size_t)n * sizeof *bucket, b);
    }
    shmem_barrier_all(); /* completes them, and those of all others */
}

/* Least significant digit first, 8 bits at a time, between the bucket and a second array; as many digits as the keys
 * have.
 */
static void sort_bucket(void) {
    int64_t *from = bucket, *to = malloc((size_t)size * sizeof *to + 1);
    uint64_t used = 0;
    if (!to) {
        fprintf(stderr, "integer_sort: PE %d: no memory to sort %ld keys\n", me, size);
        shmem_global_exit(1);
    }
    int64_t *spare = to;
    for (long i = 0; i < size; i++) used |= (uint64_t)bucket[i];
    for (int shift = 0; shift < 64 && used >> shift; shift += 8) {
        long place[257] = {0};
        for (long i = 0; i < size; i++) place[((uint64_t)from[i] >> shift & 255) + 1]++;
        for (int d = 0; d < 256; d++) place[d + 1] += place[d];
        for (long i = 0; i < size; i++) to[place[(uint64_t)from[i] >> shift & 255]++] = from[i];
        int64_t *other = from;
        from = to;
        to = other;
    }
    if (from != bucket) memcpy(bucket, from, (size_t)size * sizeof *bucket);
    free(spare);
}

/* The number of this PE's misplaced keys. */
static long misplaced(void) {
    long n = 0;
    for (long i = 0; i < size; i++)
        n += bucket[i] < bounds[me] || bucket[i] >= bounds[me + 1] || (i > 0 && bucket[i - 1] > bucket[i]);
    return n;
}

static double barrier_time(void) {
    shmem_barrier_all();
    return now();
}

/* Returns whether the keys are sorted. */
static bool run(void) {
    make_keys();
    before = take_account(keys, n_keys);
    add_accounts(&all_before, &before, 0);

    double start = barrier_time();
    find_bounds();
    double sampled = barrier_time();
    group();
    shmem_barrier_all(); /* completes what all have added to sizes */
    find_largest();
    bucket = shmem_malloc((size_t)(largest + 1) * sizeof *bucket);
    if (!bucket) {
        fprintf(stderr, "integer_sort: PE %d: no room for %ld keys\n", me, largest);
        shmem_global_exit(1);
    }
    double counted = barrier_time();
    exchange();
    double exchanged = now();
    sort_bucket();
    double sorted = barrier_time();

    after = take_account(bucket, size);
    after.wrong = misplaced() + (filled != size);
    add_accounts(&all_after, &after, 1);
    bool good = all_after.wrong == 0 && all_after.keys == (long)n_pes * n_keys && all_after.keys == all_before.keys &&
                memcmp(all_after.hash, all_before.hash, sizeof all_after.hash) == 0;
    if (me == 0) {
        double n = (double)n_pes * (double)n_keys, bytes = n * sizeof *keys;
        printf("%d PEs, %ld keys of each, skew %ld\n", n_pes, n_keys, skew);
        printf("sample    %.4f s\n", sampled - start);
        printf("count     %.4f s, the largest bucket has %.2f of the mean\n", counted - sampled,
               (double)largest / (double)n_keys);
        printf("exchange  %.4f s, %.1f MB/s\n", exchanged - counted, bytes / (exchanged - counted) * 1e-6);
        printf("sort      %.4f s\n", sorted - exchanged);
        printf("all       %.4f s, %.3f million keys/s\n", sorted - start, n / (sorted - start) * 1e-6);
        if (good)
            printf("all keys are sorted\n");
        else
            printf("WRONG: %ld keys misplaced; %ld keys, there were %ld\n", all_after.wrong, all_after.keys,
                   all_before.keys);
    }
    shmem_free(bucket);
    return good;
}

static bool read_number(const char *text, long min, long max, long *value) {
    char *end;
    *value = strtol(text, &end, 10);
    return end != text && *end == '\0' && *value >= min && *value <= max;
}

static void usage(FILE *f) {
    fprintf(
        f,
        "usage: integer_sort [--keys=N] [--skew=S]\n"
        "  -k, --keys=N  keys that each PE has at first (default 200000)\n"
        "  -s, --skew=S  0: all keys are equally frequent; more, up to 16: small ones are more frequent (default 0)\n"
        "  -h, --help    print this\n");
}

int main(int argc, char **argv) {
    static const struct option options[] = {
        {"keys", required_argument, NULL, 'k'},
        {"skew", required_argument, NULL, 's'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    shmem_init();
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    bool help = false, good = true;
    opterr = me == 0;
    for (int c; (c = getopt_long(argc, argv, "k:s:h", options, NULL)) != -1;) switch (c) {
            case 'k': good &= read_number(optarg, 1, INT32_MAX, &n_keys); break;
            case 's': good &= read_number(optarg, 0, 16, &skew); break;
            case 'h': help = true; break;
            default: good = false;
        }
    good &= optind == argc;
    int code = good ? 0 : 2;
    if (help || !good) {
        if (me == 0) usage(good ? stdout : stderr);
    } else {
        samples = shmem_malloc(SAMPLES * sizeof *samples);
        shown = shmem_malloc(SAMPLES * (size_t)n_pes * sizeof *shown);
        keys = malloc((size_t)n_keys * sizeof *keys);
        grouped = malloc((size_t)n_keys * sizeof *grouped);
        starts = malloc(((size_t)n_pes + 1) * sizeof *starts);
        bounds = malloc(((size_t)n_pes + 1) * sizeof *bounds);
        if (!samples || !shown || !keys || !grouped || !starts || !bounds) {
            fprintf(stderr, "integer_sort: PE %d: no room for %ld keys\n", me, n_keys);
            shmem_global_exit(1);
        }
#if !HAS_TEAMS
        init_sync();
#endif
        if (!run()) code = 1;
        free(bounds);
        free(starts);
        free(grouped);
        free(keys);
        shmem_free(shown);
        shmem_free(samples);
    }
    shmem_finalize();
    return code;
}
