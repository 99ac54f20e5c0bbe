/* SPDX-License-Identifier: BSD-3-Clause */
/* All processes, or all threads of each, update the same elements of process 0 at once: as words, as arrays, as parts
 * of arrays that begin and end elsewhere, by lists, and by loops of MPI_Compare_and_swap. Sums are exact, a fetched
 * value is there once, and what one process replaces another one finds. For each type of 4 and 8 bytes that sums, in
 * memory of each kind.
 *
 * Broken by a word that is updated without the lock that arrays take, by an array that takes another lock than words of
 * it do, at the border of a page for instance, and by a MPI_REPLACE that is a copy. With the argument `threads` each
 * process has several. */
#include "check.h"

#include <pthread.h>

enum { PAGE = 4096, COUNT = 512, THREADS = 3, CELLS = 8 };
enum { BYTES = 3 * PAGE }; /* of a window */

static int times, threads = 1; /* updates of each thread; threads of each process */
static MPI_Win win;
static MPI_Aint first, page; /* displacements in bytes: of the elements; of the border of a page between them */

struct kind {
    const char *name;
    MPI_Datatype type;
    size_t size;
    int real, swaps;
};
#define INTEGER(C, MPI)                                                                                                \
    { #MPI, MPI, sizeof(C), 0, 1 }
#define REAL(C, MPI)                                                                                                   \
    { #MPI, MPI, sizeof(C), 1, 0 }
static const struct kind kinds[] = {
    INTEGER(int, MPI_INT),
    INTEGER(long, MPI_LONG),
    INTEGER(unsigned, MPI_UNSIGNED),
    INTEGER(unsigned long, MPI_UNSIGNED_LONG),
    REAL(double, MPI_DOUBLE),
    REAL(float, MPI_FLOAT),
    INTEGER(long long, MPI_LONG_LONG),
    INTEGER(unsigned long long, MPI_UNSIGNED_LONG_LONG),
    INTEGER(int32_t, MPI_INT32_T),
    INTEGER(int64_t, MPI_INT64_T),
    INTEGER(uint32_t, MPI_UINT32_T),
    INTEGER(uint64_t, MPI_UINT64_T),
    INTEGER(MPI_Aint, MPI_AINT),
    INTEGER(MPI_Offset, MPI_OFFSET),
    INTEGER(MPI_Count, MPI_COUNT),
};
enum { KINDS = sizeof kinds / sizeof *kinds, FEW = 6 };

/* Writes the number v as element i of an array; reads it. */
static void put_number(const struct kind *k, void *array, int i, int64_t v) {
    char *at = (char *)array + (size_t)i * k->size;
    const double d = (double)v;
    const float f = (float)v;
    const int32_t w = (int32_t)v;
    memcpy(at, k->real ? (k->size == 8 ? (const void *)&d : &f) : k->size == 8 ? (const void *)&v : &w, k->size);
}

static int64_t number(const struct kind *k, const void *array, int i) {
    const char *at = (const char *)array + (size_t)i * k->size;
    double d;
    float f;
    int64_t v;
    int32_t w;
    if (k->real && k->size == 8) return memcpy(&d, at, 8), (int64_t)d;
    if (k->real) return memcpy(&f, at, 4), (int64_t)f;
    if (k->size == 8) return memcpy(&v, at, 8), v;
    return memcpy(&w, at, 4), w;
}

/* ---- one thread's updates ---- */

struct work {
    const struct kind *kind;
    void (*part)(const struct kind *k, int me);
    int me;
};

static void *do_work(void *work) {
    const struct work *w = work;
    w->part(w->kind, w->me);
    return NULL;
}

/* All threads of all processes do a part, in one epoch. me: 0..n * threads - 1. */
static void all_do(void (*part)(const struct kind *k, int me), const struct kind *k) {
    struct work work[THREADS];
    pthread_t other[THREADS];
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < threads; i++) work[i] = (struct work){k, part, rank * threads + i};
    for (int i = 1; i < threads; i++) CHECK(pthread_create(&other[i], NULL, do_work, &work[i]) == 0);
    do_work(&work[0]);
    for (int i = 1; i < threads; i++) pthread_join(other[i], NULL);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static int crowd(void) { return n * threads; }

static void set_elements(const struct kind *k, int64_t value) {
    char zero[COUNT * 8 + 64];
    for (int i = 0; i < COUNT; i++) put_number(k, zero, i, value);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    if (rank == 0) MPI_Put(zero, COUNT, k->type, 0, first, COUNT, k->type, win);
    MPI_Win_unlock(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void get_elements(const struct kind *k, void *to) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Get(to, COUNT, k->type, 0, first, COUNT, k->type, win);
    MPI_Win_unlock(0, win);
}

/* ---- sums ---- */

static MPI_Aint place(const struct kind *k, int i) { return first + (MPI_Aint)((size_t)i * k->size); }

/* The elements of a word, of an array across the border, and of a list. */
static int across(const struct kind *k) { return (int)((size_t)(page - first) / k->size) - 1; }
static const int spots[4] = {0, 1, COUNT / 2, COUNT - 1};

/* Every element gets one, by an array; some get more. */
static void add(const struct kind *k, int me) {
    char ones[COUNT * 8], got[3][COUNT * 8]; /* until the flush each call has its own */
    MPI_Datatype list;
    MPI_Type_create_indexed_block(4, 1, spots, k->type, &list);
    MPI_Type_commit(&list);
    for (int i = 0; i < COUNT; i++) put_number(k, ones, i, 1);
    for (int t = 0; t < times; t++) {
        const int spot = spots[(t + me) % 4];
        MPI_Accumulate(ones, COUNT, k->type, 0, first, COUNT, k->type, MPI_SUM, win);
        MPI_Accumulate(ones, 1, k->type, 0, place(k, spot), 1, k->type, MPI_SUM, win);
        MPI_Accumulate(ones, 3, k->type, 0, place(k, across(k)), 3, k->type, MPI_SUM, win);
        MPI_Accumulate(ones, 4, k->type, 0, first, 1, list, MPI_SUM, win);
        MPI_Fetch_and_op(ones, got[0], k->type, 0, place(k, across(k) + t % 3), MPI_SUM, win);
        MPI_Get_accumulate(ones, COUNT / 2, k->type, got[1], COUNT / 2, k->type, 0, place(k, COUNT / 4), COUNT / 2,
                           k->type, MPI_SUM, win);
        MPI_Get_accumulate(ones, 1, k->type, got[2], 1, k->type, 0, place(k, spot), 1, k->type, MPI_SUM, win);
        MPI_Win_flush(0, win);
    }
    MPI_Type_free(&list);
}

/* What `add` of all threads adds to element i. */
static int64_t sum_of(const struct kind *k, int i) {
    const int c = across(k);
    int64_t sum = (int64_t)times * crowd();
    if (i >= c && i < c + 3) {
        sum += (int64_t)times * crowd();
        for (int t = 0; t < times; t++) sum += (t % 3 == i - c) * crowd();
    }
    if (i >= COUNT / 4 && i < COUNT / 4 + COUNT / 2) sum += (int64_t)times * crowd();
    for (int s = 0; s < 4; s++) {
        if (spots[s] != i) continue;
        sum += (int64_t)times * crowd();
        for (int me = 0; me < crowd(); me++)
            for (int t = 0; t < times; t++) sum += 2 * ((t + me) % 4 == s);
    }
    return sum;
}

static void sums(const struct kind *k, const char *memory) {
    char got[COUNT * 8];
    set_elements(k, 0);
    all_do(add, k);
    get_elements(k, got);
    for (int i = 0; i < COUNT; i++)
        if (number(k, got, i) != sum_of(k, i)) {
            fprintf(stderr, "process %d of %d, %d threads: %s, %s: element %d is %lld, not %lld\n", rank, n, threads,
                    memory, k->name, i, (long long)number(k, got, i), (long long)sum_of(k, i));
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
}

/* ---- values that are fetched ---- */

static int *seen; /* of each number: how often it was fetched */
static int most_seen;

static void count_seen(int64_t v) {
    CHECK(v >= 0 && v < most_seen);
    __atomic_fetch_add(&seen[v], 1, __ATOMIC_RELAXED);
}

static void forget_seen(void) { memset(seen, 0, sizeof *seen * (size_t)most_seen); }

/* Element 0 counts up by words, and at the same time all of CELLS do by arrays; every sum that is passed is fetched
 * once by somebody. */
static void fetch(const struct kind *k, int me) {
    char ones[CELLS * 8], got[CELLS * 8];
    (void)me;
    for (int i = 0; i < CELLS; i++) put_number(k, ones, i, 1);
    for (int t = 0; t < times; t++) {
        MPI_Fetch_and_op(ones, got, k->type, 0, first, MPI_SUM, win);
        MPI_Win_flush(0, win);
        count_seen(number(k, got, 0));
        MPI_Get_accumulate(ones, CELLS, k->type, got, CELLS, k->type, 0, first, CELLS, k->type, MPI_SUM, win);
        MPI_Win_flush(0, win);
        count_seen(number(k, got, 0));
    }
}

/* The same by comparing, while every other thread also counts up by arrays. */
static void swap(const struct kind *k, int me) {
    char ones[CELLS * 8], cells[CELLS * 8], now[8], next[8], got[8];
    for (int i = 0; i < CELLS; i++) put_number(k, ones, i, 1);
    for (int t = 0; t < times; t++) {
        MPI_Fetch_and_op(NULL, got, k->type, 0, first, MPI_NO_OP, win);
        MPI_Win_flush(0, win);
        do {
            memcpy(now, got, sizeof now);
            put_number(k, next, 0, number(k, now, 0) + 1);
            MPI_Compare_and_swap(next, now, got, k->type, 0, first, win);
            MPI_Win_flush(0, win);
        } while (memcmp(now, got, k->size) != 0);
        count_seen(number(k, got, 0));
        if (me % 2 == 0) continue;
        MPI_Get_accumulate(ones, CELLS, k->type, cells, CELLS, k->type, 0, first, CELLS, k->type, MPI_SUM, win);
        MPI_Win_flush(0, win);
        count_seen(number(k, cells, 0));
    }
}

static void fetched(const struct kind *k, const char *memory, void (*part)(const struct kind *, int), int most) {
    char got[COUNT * 8];
    forget_seen();
    set_elements(k, 0);
    all_do(part, k);
    MPI_Allreduce(MPI_IN_PLACE, seen, most, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    get_elements(k, got);
    for (int i = 0; i < most; i++)
        if (seen[i] != 1 || number(k, got, 0) != most) {
            fprintf(stderr, "process %d of %d, %d threads: %s, %s: %d was fetched %d times; the end is %lld, not %d\n",
                    rank, n, threads, memory, k->name, i, seen[i], (long long)number(k, got, 0), most);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
}

/* ---- values that are replaced ---- */

/* Thread 0 writes letters by MPI_REPLACE, each when the one before it has been taken; all others take them by replacing
 * them with 0. So each letter is taken once. Letter i is the number 1 + i, in all `length` elements, of which the first
 * one counts. */
static int length;

static void pass_letters(const struct kind *k, int me) {
    char mine[COUNT * 8], got[COUNT * 8], last[8];
    int64_t of_first = 0;
    for (int i = 0; i < length; i++) put_number(k, mine, i, 0);
    if (me == 0) {
        for (int t = 0; t <= times; t++) {
            for (int i = 0; i < length; i++) put_number(k, mine, i, t == times ? -1 : 1 + t);
            MPI_Accumulate(mine, length, k->type, 0, first, length, k->type, MPI_REPLACE, win);
            MPI_Win_flush(0, win);
            while (t < times) {
                MPI_Fetch_and_op(NULL, last, k->type, 0, first, MPI_NO_OP, win);
                MPI_Win_flush(0, win);
                if (number(k, last, 0) != 1 + t) break;
            }
        }
        return;
    }
    while (of_first >= 0) {
        MPI_Get_accumulate(mine, length, k->type, got, length, k->type, 0, first, length, k->type, MPI_REPLACE, win);
        MPI_Win_flush(0, win);
        of_first = number(k, got, 0);
        if (of_first > 0) count_seen(of_first);
        /* The last letter is for all who read. */
        if (of_first < 0) MPI_Accumulate(got, length, k->type, 0, first, length, k->type, MPI_REPLACE, win);
        MPI_Win_flush(0, win);
    }
}

static void letters(const struct kind *k, const char *memory, int elements) {
    if (crowd() < 2) return;
    length = elements;
    forget_seen();
    set_elements(k, 0);
    all_do(pass_letters, k);
    MPI_Allreduce(MPI_IN_PLACE, seen, times + 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 1; i <= times; i++)
        if (seen[i] != 1) {
            fprintf(stderr, "process %d of %d, %d threads: %s, %s: letter %d of %d elements was taken %d times\n", rank,
                    n, threads, memory, k->name, i, elements, seen[i]);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
}

/* ---- windows ---- */

static void use_window(const char *memory, char *base, MPI_Aint displacement, int all) {
    const int lengths[3] = {1, CELLS, COUNT};
    page = displacement + (MPI_Aint)(PAGE - (uintptr_t)(base + 1024) % PAGE) % PAGE + 1024;
    MPI_Bcast(&page, 1, MPI_AINT, 0, MPI_COMM_WORLD);
    first = page - 1024;
    for (int i = 0; i < (all ? (int)KINDS : (int)FEW); i++) {
        const struct kind *k = &kinds[i];
        sums(k, memory);
        fetched(k, memory, fetch, 2 * times * crowd());
        if (k->swaps) fetched(k, memory, swap, times * (crowd() + crowd() / 2));
        if (all || i < 2)
            for (int l = 0; l < 3; l++) letters(k, memory, lengths[l]);
    }
    MPI_Barrier(MPI_COMM_WORLD); /* all have read what they compare */
}

int main(int argc, char **argv) {
    char *base, *own = malloc(BYTES);
    MPI_Aint at;
    int given = MPI_THREAD_SINGLE;
    if (argc > 1 && strcmp(argv[1], "threads") == 0) threads = THREADS;
    MPI_Init_thread(NULL, NULL, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    CHECK(threads == 1 || given == MPI_THREAD_MULTIPLE);
    times = one_node() && on_librma() && threads == 1 ? 200 : 40; /* threads wait for processors */
    most_seen = 2 * times * crowd() + 2;
    seen = malloc(sizeof *seen * (size_t)most_seen);
    CHECK(own && seen);
    MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    use_window("memory of MPI_Win_allocate", base, 0, threads == 1);
    MPI_Win_free(&win);
    times = threads == 1 ? 40 : 20;
    MPI_Win_create(own, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    use_window("memory of malloc", own, 0, 0);
    MPI_Win_free(&win);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, own, BYTES);
    MPI_Get_address(own, &at);
    use_window("attached memory of malloc", own, at, 0);
    MPI_Win_detach(win, own);
    MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &base);
    MPI_Win_attach(win, base, BYTES);
    MPI_Get_address(base, &at);
    use_window("attached memory of MPI_Alloc_mem", base, at, 0);
    MPI_Win_detach(win, base);
    MPI_Free_mem(base);
    MPI_Win_free(&win);
    free(own);
    free(seen);
    return end();
}
