/* SPDX-License-Identifier: BSD-3-Clause */
/* An element of 16 bytes at a multiple of 16, which one process replaces while the others read it under shared locks,
 * is never seen half-written by a process of the same node; and none that bytes describe and accumulates move, wherever
 * it is, and by whomever. MPI does not promise it; linked lists whose pointer is a rank and a displacement rely on it.
 * Nor is a complex number that accumulates move, wherever it is: that MPI promises. Broken by a copy of 8 bytes at a
 * time, on either side, and by a read that takes no lock. */
#include "check.h"

#define ROUNDS 3000
#define PAGE   4096 /* librma's locks of elements are for pages */

struct wide {
    int64_t first, second; /* always equal */
};

/* The ways to move 16 bytes. */
struct way {
    MPI_Datatype type;
    int count, accumulates;
};
#define WAYS 10
static struct way ways[WAYS];

static MPI_Win win;
static MPI_Aint at; /* the element, in the window of process 0; then the number of processes that have read enough */

static void write_element(const struct way *w, const struct wide *from) {
    if (w->accumulates)
        MPI_Accumulate(from, w->count, w->type, 0, at, w->count, w->type, MPI_REPLACE, win);
    else
        MPI_Put(from, w->count, w->type, 0, at, w->count, w->type, win);
    MPI_Win_flush(0, win);
}

static void read_element(const struct way *w, struct wide *to) {
    if (w->accumulates)
        MPI_Get_accumulate(NULL, 0, w->type, to, w->count, w->type, 0, at, w->count, w->type, MPI_NO_OP, win);
    else
        MPI_Get(to, w->count, w->type, 0, at, w->count, w->type, win);
    MPI_Win_flush(0, win);
}

/* The writer goes on until all readers have read enough. Each reader must have seen the element change meanwhile, or it
 * has shown nothing: it reads until then. Returns the number of elements that were half-written. */
static long race(int writer, const struct way *writes, const struct way *reads) {
    const struct wide zero = {0, 0};
    const int64_t one = 1, nothing = 0;
    int64_t ready = 0, ignored;
    long torn = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    if (rank == 0) {
        MPI_Put(&zero, 2, MPI_INT64_T, 0, at, 2, MPI_INT64_T, win);
        MPI_Put(&nothing, 1, MPI_INT64_T, 0, at + 16, 1, MPI_INT64_T, win);
    }
    MPI_Win_unlock(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    if (rank == writer) {
        for (int64_t i = 1; ready < n - 1; i++) {
            const struct wide value = {i, i};
            write_element(writes, &value);
            if (i % 64 != 0) continue;
            MPI_Fetch_and_op(NULL, &ready, MPI_INT64_T, 0, at + 16, MPI_NO_OP, win);
            MPI_Win_flush(0, win);
        }
    } else {
        struct wide seen, last = {0, 0};
        for (long i = 0, changes = 0; i < ROUNDS || changes < 2; i++) {
            read_element(reads, &seen);
            torn += seen.first != seen.second;
            changes += seen.first != last.first;
            last = seen;
        }
        MPI_Fetch_and_op(&one, &ignored, MPI_INT64_T, 0, at + 16, MPI_SUM, win);
    }
    MPI_Win_unlock(0, win);
    return torn;
}

/* ---- complex numbers ---- */

/* The two parts are always equal. The last process adds to the number at `place`, or replaces it, and the others read
 * it. Returns the number of those that were half-written. */
static long race_complex(MPI_Aint place, MPI_Aint counter, MPI_Op op, int fetch_and_op) {
    const MPI_Datatype type = MPI_C_FLOAT_COMPLEX;
    const float zero[2] = {0, 0};
    const int64_t one = 1, nothing = 0;
    int64_t ready = 0, ignored;
    float seen[2], last = 0;
    long torn = 0, changes = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    if (rank == 0) MPI_Accumulate(zero, 1, type, 0, place, 1, type, MPI_REPLACE, win);
    if (rank == 0) MPI_Accumulate(&nothing, 1, MPI_INT64_T, 0, counter, 1, MPI_INT64_T, MPI_REPLACE, win);
    MPI_Win_flush(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 1; rank == n - 1 && ready < n - 1; i++) {
        const float value[2] = {(float)(i % 64 + 1), (float)(i % 64 + 1)};
        MPI_Accumulate(value, 1, type, 0, place, 1, type, op, win);
        MPI_Win_flush(0, win);
        if (i % 64 != 0) continue;
        MPI_Fetch_and_op(NULL, &ready, MPI_INT64_T, 0, counter, MPI_NO_OP, win);
        MPI_Win_flush(0, win);
    }
    for (long i = 0; rank < n - 1 && (i < ROUNDS || changes < 2); i++) {
        if (fetch_and_op)
            MPI_Fetch_and_op(NULL, seen, type, 0, place, MPI_NO_OP, win);
        else
            MPI_Get_accumulate(NULL, 0, type, seen, 1, type, 0, place, 1, type, MPI_NO_OP, win);
        MPI_Win_flush(0, win);
        torn += seen[0] != seen[1];
        changes += seen[0] != last;
        last = seen[0];
    }
    if (rank < n - 1) MPI_Fetch_and_op(&one, &ignored, MPI_INT64_T, 0, counter, MPI_SUM, win);
    MPI_Win_unlock_all(win);
    return torn;
}

/* At multiples of 4 bytes: aligned to the size, not so, across lines of the cache, and across pages. */
static long race_all_complex(MPI_Aint page) {
    const MPI_Aint places[] = {8, 4, 60, -4};
    long torn = 0;
    for (int i = 0; n > 1 && i < 4 * 4; i++) {
        const MPI_Aint place = page + places[i / 4];
        const int replaces = i % 2, fetch_and_op = i / 2 % 2;
        const long found = race_complex(place, page + 256, replaces ? MPI_REPLACE : MPI_SUM, fetch_and_op);
        if (found)
            fprintf(stderr, "process %d of %d: %ld of %d complex numbers half-written by %s, %ld after a page\n", rank,
                    n, found, ROUNDS, replaces ? "MPI_REPLACE" : "MPI_SUM", (long)places[i / 4]);
        torn += found;
    }
    return torn;
}

int main(void) {
    MPI_Datatype bytes, longs, record;
    const int lengths[2] = {1, 1};
    const MPI_Aint places[2] = {0, 8};
    const MPI_Datatype parts[2] = {MPI_AINT, MPI_LONG};
    long torn = 0;
    MPI_Aint first, page;
    char *memory;
    int few;
    begin();
    few = n > 2 || !on_librma(); /* more processes than processors take long, and so does MPICH */
    MPI_Type_contiguous(16, MPI_BYTE, &bytes);
    MPI_Type_contiguous(2, MPI_LONG, &longs);
    MPI_Type_create_struct(2, lengths, places, parts, &record); /* of two types: no accumulate takes it */
    MPI_Type_commit(&bytes);
    MPI_Type_commit(&longs);
    MPI_Type_commit(&record);
    for (int i = 0; i < WAYS - 1; i++) {
        const struct way basic[] = {
            {MPI_BYTE, 16, 0}, {MPI_LONG, 2, 0}, {bytes, 1, 0}, {longs, 1, 0}, {MPI_C_DOUBLE_COMPLEX, 1, 0}};
        ways[i] = basic[i % 5];
        ways[i].accumulates = i / 5;
    }
    ways[WAYS - 1] = (struct way){record, 1, 0};
    MPI_Win_allocate(2 * PAGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    first = (MPI_Aint)((16 - (uintptr_t)memory % 16) % 16);
    page = (MPI_Aint)(PAGE - (uintptr_t)memory % PAGE);
    MPI_Bcast(&first, 1, MPI_AINT, 0, MPI_COMM_WORLD);
    MPI_Bcast(&page, 1, MPI_AINT, 0, MPI_COMM_WORLD);
    at = first;
    /* Not between nodes. */
    for (int i = 0; one_node() && n > 1 && i < WAYS; i++)
        for (int k = 0; k < WAYS; k++) {
            if (few && k != i && k != (i + 5) % WAYS) continue;
            const int writer = (few ? i : i + k) % 2 == 0 ? 0 : n - 1;
            const long found = race(writer, &ways[i], &ways[k]);
            if (found)
                fprintf(stderr,
                        "process %d of %d: %ld of %d elements half-written: writer %d, way %d, read by way %d\n", rank,
                        n, found, ROUNDS, writer, i, k);
            torn += found;
        }
    /* The owner is the writer, or one of the readers. */
    for (int i = 0; n > 1 && i < 4; i++) {
        at = i % 2 ? page - 8 : first + 8;
        const long found = race(i < 2 ? n - 1 : 0, &ways[5], &ways[i < 2 ? 7 : 5]);
        if (found)
            fprintf(stderr, "process %d of %d: %ld of %d elements half-written: at %ld, case %d\n", rank, n, found,
                    ROUNDS, (long)at, i);
        torn += found;
    }
    torn += race_all_complex(page);
    MPI_Win_free(&win);
    MPI_Type_free(&bytes);
    MPI_Type_free(&longs);
    MPI_Type_free(&record);
    CHECK(torn == 0);
    return end();
}
