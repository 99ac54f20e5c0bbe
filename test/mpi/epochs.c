/* SPDX-License-Identifier: BSD-3-Clause */
/* Synchronization. The sizes of windows are multiples of 16 bytes, because MPICH 4.0 confuses others. Broken by an
 * access that another process sees too late, by a lock that two processes hold, by a fence or a wait that returns too
 * early, and by windows that disturb each other. */
#include "check.h"

static void fences(void) {
    long *base, x;
    MPI_Win win;
    const int left = (rank + n - 1) % n, right = (rank + 1) % n;
    MPI_Win_allocate(2 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    base[0] = base[1] = -1;
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    for (long i = 0; i < 200; i++) {
        x = i * n + rank;
        MPI_Put(&x, 1, MPI_LONG, right, 0, 1, MPI_LONG, win);
        MPI_Win_fence(0, win);
        CHECK(base[0] == i * n + left);
        base[1] = base[0] + 1;
        MPI_Win_fence(0, win);
        MPI_Get(&x, 1, MPI_LONG, right, 1, 1, MPI_LONG, win);
        MPI_Win_fence(0, win);
        CHECK(x == i * n + rank + 1);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED | MPI_MODE_NOPUT, win);
    MPI_Win_free(&win);
}

static void posts(void) {
    MPI_Group world, to, from;
    const int left = (rank + n - 1) % n, right = (rank + 1) % n;
    long *base, x;
    MPI_Win win;
    int done;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &right, &to);
    MPI_Group_incl(world, 1, &left, &from);
    MPI_Win_allocate(2 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    for (long i = 0; i < 200; i++) {
        MPI_Win_post(from, 0, win);
        MPI_Win_start(to, 0, win);
        x = i + 1000 * rank;
        MPI_Put(&x, 1, MPI_LONG, right, 0, 1, MPI_LONG, win);
        MPI_Win_complete(win);
        if (i % 2)
            MPI_Win_wait(win);
        else
            do MPI_Win_test(win, &done);
            while (!done);
        CHECK(*base == i + 1000 * left);
    }
    /* All with all, and a group without processes. */
    MPI_Win_post(world, 0, win);
    MPI_Win_start(world, 0, win);
    x = 1;
    for (int to_all = 0; to_all < n; to_all++) MPI_Accumulate(&x, 1, MPI_LONG, to_all, 0, 1, MPI_LONG, MPI_SUM, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    CHECK(*base == 199 + 1000 * left + n);
    MPI_Win_post(MPI_GROUP_EMPTY, 0, win);
    MPI_Win_start(MPI_GROUP_EMPTY, 0, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    MPI_Group_free(&world);
    MPI_Win_free(&win);
}

/* Process 0 has a counter and a copy of it that are equal whenever no writer holds the lock. */
static void locks(void) {
    enum { TIMES = 100 };
    long *base, pair[2];
    MPI_Win win;
    MPI_Win_allocate(2 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    base[0] = base[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < TIMES; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Get(&pair[0], 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
        MPI_Win_flush(0, win);
        pair[0]++;
        MPI_Put(&pair[0], 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
        MPI_Win_flush(0, win);
        MPI_Put(&pair[0], 1, MPI_LONG, 0, 1, 1, MPI_LONG, win);
        MPI_Win_unlock(0, win);
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Get(pair, 2, MPI_LONG, 0, 0, 2, MPI_LONG, win);
        MPI_Win_unlock(0, win);
        CHECK(pair[0] == pair[1]);
        MPI_Win_lock_all(0, win);
        MPI_Get(pair, 2, MPI_LONG, 0, 0, 2, MPI_LONG, win);
        MPI_Win_flush_all(win);
        CHECK(pair[0] == pair[1]);
        MPI_Win_unlock_all(win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOCHECK, win);
    MPI_Get(pair, 2, MPI_LONG, 0, 0, 2, MPI_LONG, win);
    MPI_Win_unlock(0, win);
    CHECK(pair[0] == (long)TIMES * n && pair[1] == pair[0]);
    MPI_Win_free(&win);
}

/* A process that waits for a word in its own window, with MPI_Win_sync. */
static void polling(void) {
    const int left = (rank + n - 1) % n;
    volatile long *base;
    long one = 1, got;
    MPI_Win win;
    MPI_Win_allocate(2 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    base[0] = 0;
    base[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    if (rank != 0) {
        do {
            MPI_Fetch_and_op(NULL, &got, MPI_LONG, rank, 0, MPI_NO_OP, win);
            MPI_Win_flush(rank, win);
            MPI_Win_sync(win);
        } while (got == 0);
        CHECK(base[1] == left + 100);
    }
    if (rank + 1 < n) {
        got = rank + 100;
        MPI_Put(&got, 1, MPI_LONG, rank + 1, 1, 1, MPI_LONG, win);
        MPI_Win_flush(rank + 1, win);
        MPI_Accumulate(&one, 1, MPI_LONG, rank + 1, 0, 1, MPI_LONG, MPI_REPLACE, win);
        MPI_Win_flush_local(rank + 1, win);
        MPI_Win_flush_local_all(win);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

static void requests(void) {
    const int to = (rank + 1) % n;
    double *base, x[3] = {1, 2, 3}, y[3] = {0}, old[3];
    MPI_Request r[2];
    MPI_Status status;
    MPI_Win win;
    int cancelled;
    MPI_Win_allocate(32, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    MPI_Rput(x, 3, MPI_DOUBLE, to, 0, 3, MPI_DOUBLE, win, &r[0]);
    MPI_Wait(&r[0], &status);
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(!cancelled && r[0] == MPI_REQUEST_NULL);
    MPI_Win_flush(to, win);
    MPI_Raccumulate(x, 3, MPI_DOUBLE, to, 0, 3, MPI_DOUBLE, MPI_SUM, win, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Rget_accumulate(x, 3, MPI_DOUBLE, old, 3, MPI_DOUBLE, to, 0, 3, MPI_DOUBLE, MPI_SUM, win, &r[0]);
    MPI_Rput(x, 0, MPI_DOUBLE, MPI_PROC_NULL, 0, 0, MPI_DOUBLE, win, &r[1]);
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    CHECK(old[0] == 2 && old[2] == 6);
    MPI_Win_flush(to, win);
    MPI_Rget(y, 3, MPI_DOUBLE, to, 0, 3, MPI_DOUBLE, win, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    CHECK(y[0] == 3 && y[1] == 6 && y[2] == 9);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* Windows on communicators of some processes, in another order, and several at once. */
static void communicators(void) {
    MPI_Comm half, reversed;
    MPI_Win win[3];
    long *base[3], x = rank + 1;
    int me, size;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    MPI_Comm_rank(half, &me);
    MPI_Comm_size(half, &size);
    for (int i = 0; i < 3; i++)
        MPI_Win_allocate(16, 8, MPI_INFO_NULL, i == 0 ? half : i == 1 ? reversed : MPI_COMM_WORLD, &base[i], &win[i]);
    MPI_Comm_free(&half);
    for (int i = 0; i < 3; i++) MPI_Win_fence(0, win[i]);
    MPI_Put(&x, 1, MPI_LONG, (me + 1) % size, 0, 1, MPI_LONG, win[0]);
    MPI_Put(&x, 1, MPI_LONG, rank, 0, 1, MPI_LONG, win[1]); /* process n - 1 - rank */
    MPI_Put(&x, 1, MPI_LONG, rank, 0, 1, MPI_LONG, win[2]);
    for (int i = 0; i < 3; i++) MPI_Win_fence(MPI_MODE_NOSUCCEED, win[i]);
    CHECK(*base[0] == (me + size - 1) % size * 2 + rank % 2 + 1);
    CHECK(*base[1] == n - 1 - rank + 1);
    CHECK(*base[2] == rank + 1);
    for (int i = 2; i >= 0; i--) MPI_Win_free(&win[i]);
    MPI_Comm_free(&reversed);
}

/* More windows than MPICH has. */
static void many(int count) {
    MPI_Win *win = malloc((size_t)count * sizeof *win);
    int **base = malloc((size_t)count * sizeof *base), x;
    for (int i = 0; i < count; i++) MPI_Win_allocate(16, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base[i], &win[i]);
    for (int i = 0; i < count; i++) {
        x = i + rank;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, (rank + 1) % n, 0, win[i]);
        MPI_Put(&x, 1, MPI_INT, (rank + 1) % n, 0, 1, MPI_INT, win[i]);
        MPI_Win_unlock((rank + 1) % n, win[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) {
        CHECK(*base[i] == i + (rank + n - 1) % n);
        MPI_Win_free(&win[i]);
    }
    free(base);
    free(win);
}

int main(void) {
    begin();
    fences();
    posts();
    locks();
    polling();
    requests();
    communicators();
    many(on_librma() && n <= 2 ? 2100 : 20);
    return end();
}
