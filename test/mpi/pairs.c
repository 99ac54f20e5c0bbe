/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairs (MPI_2INT, MPI_DOUBLE_INT and so on) are elements: whoever accumulates or reads one at the same time as others
 * finds its value and its index together, and no update of one is lost. Pairs at aligned places and across the pages
 * for which librma has locks, in memory of MPI and of the program, of the owner itself and of others. And arrays of
 * pairs that are longer than librma moves at once; the gaps in their pairs stay as they are.
 *
 * Broken by a read or a replacement that takes no lock, by a lock that depends on who accesses the pair, and by data
 * that are cut within a pair. */
#include "check.h"

#include <stddef.h>

#define ROUNDS 300
#define PAGE   4096 /* librma's locks of elements are for pages */
#define MANY   1500 /* pairs of an array */
#define MOST   32   /* bytes of the longest pair */

struct kind {
    const char *name;
    size_t size; /* of the struct */
    size_t data;
    size_t gap, index; /* between the two parts are the bytes from `gap` to `index` */
    void (*set)(void *pair, long number);
    long (*get)(const void *pair); /* the number, or -1 if the halves do not belong together */
};

#define KIND(NAME, VALUE, INDEX)                                                                                       \
    struct NAME {                                                                                                      \
        VALUE value;                                                                                                   \
        INDEX index;                                                                                                   \
    };                                                                                                                 \
    static void set_##NAME(void *pair, long number) {                                                                  \
        const VALUE value = (VALUE)number;                                                                             \
        const INDEX index = (INDEX)number;                                                                             \
        memcpy(pair, &value, sizeof value);                                                                            \
        memcpy((char *)pair + offsetof(struct NAME, index), &index, sizeof index);                                     \
    }                                                                                                                  \
    static long get_##NAME(const void *pair) {                                                                         \
        VALUE value;                                                                                                   \
        INDEX index;                                                                                                   \
        memcpy(&value, pair, sizeof value);                                                                            \
        memcpy(&index, (const char *)pair + offsetof(struct NAME, index), sizeof index);                               \
        return (long)value == (long)index ? (long)value : -1;                                                          \
    }                                                                                                                  \
    static const struct kind NAME = {#NAME,         sizeof(struct NAME),          sizeof(VALUE) + sizeof(INDEX),       \
                                     sizeof(VALUE), offsetof(struct NAME, index), set_##NAME,                          \
                                     get_##NAME}
KIND(int_int, int, int);
KIND(short_int, short, int);
KIND(long_int, long, int);
KIND(float_int, float, int);
KIND(double_int, double, int);
KIND(long_double_int, long double, int);
KIND(two_floats, float, float);
KIND(two_doubles, double, double);

static MPI_Win win;
static char *memory; /* of this process in the window */
static MPI_Aint at; /* the pair, in the window of process 0, which begins with the number of processes that are ready */

/* ---- a writer and readers ---- */

static void write_pair(const struct kind *k, MPI_Datatype type, MPI_Op op, long number) {
    char pair[MOST];
    k->set(pair, number);
    MPI_Accumulate(pair, 1, type, 0, at, 1, type, op, win);
    MPI_Win_flush(0, win);
}

static long read_pair(const struct kind *k, MPI_Datatype type, int by_fetch) {
    char pair[MOST];
    if (by_fetch)
        MPI_Fetch_and_op(NULL, pair, type, 0, at, MPI_NO_OP, win);
    else
        MPI_Get_accumulate(NULL, 0, type, pair, 1, type, 0, at, 1, type, MPI_NO_OP, win);
    MPI_Win_flush(0, win);
    return k->get(pair);
}

/* The writer goes on until all others have read enough, and have seen the pair change. With MPI_MAXLOC the pair grows,
 * until a replacement begins again. */
static void race(const struct kind *k, MPI_Datatype type, MPI_Op op, int writer) {
    const int64_t one = 1, zero = 0;
    int64_t ready = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    if (rank == 0) {
        write_pair(k, type, MPI_REPLACE, 0);
        MPI_Accumulate(&zero, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_REPLACE, win);
        MPI_Win_flush(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == writer) {
        for (long i = 1; ready < n - 1; i++) {
            write_pair(k, type, i % 16384 == 0 ? MPI_REPLACE : op, i % 16384);
            if (i % 64 != 0) continue;
            MPI_Fetch_and_op(NULL, &ready, MPI_INT64_T, 0, 0, MPI_NO_OP, win);
            MPI_Win_flush(0, win);
        }
    } else {
        long last = 0, changes = 0;
        for (long i = 0; i < ROUNDS || changes < 2; i++) {
            const long seen = read_pair(k, type, i % 2 == 0);
            if (seen < 0)
                fprintf(stderr, "%s at %ld, op %d, writer %d: a pair in halves\n", k->name, (long)at, op == MPI_MAXLOC,
                        writer);
            CHECK(seen >= 0);
            changes += seen != last;
            last = seen;
        }
        MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, win);
    }
    MPI_Win_unlock_all(win);
}

/* All processes raise one pair. What a process has written is a lower bound of what it finds later. */
static void climb(const struct kind *k, MPI_Datatype type) {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    if (rank == 0) write_pair(k, type, MPI_REPLACE, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    for (long i = 0, mine = 0; i < ROUNDS; i++) {
        char pair[MOST], before[MOST];
        k->set(pair, mine + 1);
        MPI_Fetch_and_op(pair, before, type, 0, at, MPI_MAXLOC, win);
        MPI_Win_flush(0, win);
        if (k->get(before) < mine)
            fprintf(stderr, "%s at %ld: found %ld after %ld\n", k->name, (long)at, k->get(before), mine);
        CHECK(k->get(before) >= mine);
        mine = k->get(before) > mine ? k->get(before) : mine + 1;
    }
    MPI_Win_unlock_all(win);
}

static void races(const struct kind *k, MPI_Datatype type, MPI_Aint page) {
    const MPI_Aint places[] = {64, page - 4};
    for (int i = 0; n > 1 && i < 2; i++) {
        at = places[i];
        race(k, type, MPI_REPLACE, n - 1);
        race(k, type, MPI_REPLACE, 0);
        race(k, type, MPI_MAXLOC, n - 1);
        climb(k, type);
    }
}

/* ---- arrays ---- */

#define FILL 0x5a

/* 1 if the gap of a pair is as it was: it belongs to others. MPICH copies whole pairs. */
static int gap_is_kept(const struct kind *k, const char *pair) {
    for (size_t i = k->gap; i < k->index; i++)
        if (pair[i] != FILL && on_librma()) return 0;
    return 1;
}

static long number_there(int i) { return i * 7 % 100; }
static long number_mine(int i) { return i * 3 % 100; }

/* MANY pairs with `step` bytes from one to the next, from an odd place on: the greater ones stay. */
static void array(const struct kind *k, MPI_Datatype type, size_t step) {
    const int to = (rank + 1) % n;
    char *const mine = malloc(MANY * step + MOST), *const before = malloc(MANY * step + MOST);
    MPI_Datatype row;
    MPI_Type_create_resized(type, 0, (MPI_Aint)step, &row);
    MPI_Type_commit(&row);
    MPI_Barrier(MPI_COMM_WORLD); /* all races are over */
    memset(mine, 0, MANY * step + MOST);
    memset(before, FILL, MANY * step + MOST);
    memset(memory + 68, FILL, MANY * step);
    for (int i = 0; i < MANY; i++) {
        k->set(mine + (size_t)i * step, number_mine(i));
        k->set(memory + 68 + (size_t)i * step, number_there(i));
    }
    MPI_Win_fence(0, win);
    MPI_Get_accumulate(mine, MANY, row, before, MANY, row, to, 68, MANY, row, MPI_MAXLOC, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < MANY; i++) {
        const long there = number_there(i), more = number_mine(i);
        CHECK(k->get(before + (size_t)i * step) == there);
        CHECK(gap_is_kept(k, before + (size_t)i * step) && gap_is_kept(k, memory + 68 + (size_t)i * step));
        CHECK(k->get(memory + 68 + (size_t)i * step) == (more > there ? more : there));
    }
    MPI_Win_fence(0, win);
    MPI_Accumulate(mine, MANY, row, to, 68, MANY, row, MPI_REPLACE, win);
    MPI_Win_fence(0, win);
    MPI_Get_accumulate(NULL, 0, row, before, MANY, row, to, 68, MANY, row, MPI_NO_OP, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < MANY; i++) {
        CHECK(k->get(before + (size_t)i * step) == number_mine(i));
        CHECK(gap_is_kept(k, before + (size_t)i * step) && gap_is_kept(k, memory + 68 + (size_t)i * step));
        CHECK(k->get(memory + 68 + (size_t)i * step) == number_mine(i));
    }
    MPI_Win_fence(0, win);
    MPI_Type_free(&row);
    free(mine);
    free(before);
}

int main(void) {
    const size_t size = 80 + MANY * MOST + PAGE; /* a multiple of 16, for MPICH (docs/mpi_windows.md) */
    begin();
    for (int own = 0; own < 2; own++) {
        char *const program = malloc(size);
        MPI_Aint page;
        const struct {
            MPI_Datatype type;
            const struct kind *kind;
        } all[] = {{MPI_2INT, &int_int},        {MPI_SHORT_INT, &short_int},   {MPI_LONG_INT, &long_int},
                   {MPI_FLOAT_INT, &float_int}, {MPI_DOUBLE_INT, &double_int}, {MPI_LONG_DOUBLE_INT, &long_double_int},
                   {MPI_2INTEGER, &int_int},    {MPI_2REAL, &two_floats},      {MPI_2DOUBLE_PRECISION, &two_doubles}};
        if (own)
            MPI_Win_create(memory = program, (MPI_Aint)size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        else
            MPI_Win_allocate((MPI_Aint)size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
        page = (MPI_Aint)(2 * PAGE - (uintptr_t)memory % PAGE);
        MPI_Bcast(&page, 1, MPI_AINT, 0, MPI_COMM_WORLD);
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
            const struct kind *k = all[i].kind;
            if (all[i].type == MPI_DATATYPE_NULL) continue; /* MPI has no Fortran */
            races(k, all[i].type, page);
            array(k, all[i].type, k->size);
            if (k->data < k->size && k != &short_int) array(k, all[i].type, k->data);
        }
        MPI_Win_free(&win);
        free(program);
    }
    return end();
}
