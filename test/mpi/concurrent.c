/* SPDX-License-Identifier: BSD-3-Clause */
/* Two threads of each process with windows of their own: no window waits for another. Broken by a window that is made
 * only after another, of another communicator, for which not all processes have come, by MPI_Win_free of one window
 * that meets MPI_Win_free or MPI_Win_allocate of another, by a lock of the process that a thread holds while it waits
 * for another process, and by one that it holds while a function of the program runs. An argument names the one part
 * that shall run. */
#include "check.h"

#include <pthread.h>

static MPI_Win win[2];

static void run_two(void *(*work)(void *number)) {
    int numbers[2] = {0, 1};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) CHECK(pthread_create(&threads[i], NULL, work, &numbers[i]) == 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void make(int i) {
    long *base;
    MPI_Win_allocate(16, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win[i]);
    base[0] = base[1] = 0;
}

static void make_both(void) {
    make(0);
    make(1);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void free_both(void) {
    MPI_Win_free(&win[0]);
    MPI_Win_free(&win[1]);
}

/* ---- windows that begin ---- */

static MPI_Comm comms[2];
static int later; /* of the two windows, that which the threads of the first process make later */

static void *make_one(void *number) {
    const int i = *(int *)number;
    long *base;
    if (rank == 0 && i == later) usleep(20000);
    MPI_Win_allocate(16, 8, MPI_INFO_NULL, comms[i], &base, &win[i]);
    return NULL;
}

/* The first process makes two windows of two communicators by two threads, the others one after the other. */
static void makes(void) {
    for (later = 0; later < 2; later++) {
        int numbers[2] = {later, 1 - later};
        /* These are not the first windows of the communicators: what they share is there. */
        for (int i = 0; i < 2; i++) {
            MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
            make_one(&i);
        }
        free_both();
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            run_two(make_one);
        } else {
            usleep(50000);
            for (int i = 0; i < 2; i++) make_one(&numbers[i]);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        free_both();
        for (int i = 0; i < 2; i++) MPI_Comm_free(&comms[i]);
    }
}

/* ---- the end of windows ---- */

static MPI_Win
    counters; /* each process counts there for each number how often the others are about to free that window */
static int round_of_free;

static void free_and_check(int i) {
    const long one = 1;
    long seen = 0;
    for (int r = 0; r < n; r++) MPI_Accumulate(&one, 1, MPI_LONG, r, i, 1, MPI_LONG, MPI_SUM, counters);
    MPI_Win_flush_all(counters);
    MPI_Win_free(&win[i]);
    MPI_Fetch_and_op(NULL, &seen, MPI_LONG, rank, i, MPI_NO_OP, counters);
    MPI_Win_flush(rank, counters);
    CHECK(seen == (long)n * (round_of_free + 1));
}

static void *free_one(void *number) {
    const int i = *(int *)number;
    if ((i + rank + round_of_free) % 2) usleep(2000);
    free_and_check(i);
    return NULL;
}

/* One thread fences a window, while the other frees one and makes one. */
static void *fence_or_free(void *number) {
    if (*(int *)number == 0) {
        for (int i = 0; i < 50; i++) MPI_Win_fence(0, win[0]);
    } else {
        if ((rank + round_of_free) % 2) usleep(1000);
        free_and_check(1);
        make(1);
    }
    return NULL;
}

/* One thread frees a window while the other makes one, in the same order in no two processes. */
static void *free_or_make(void *number) {
    const int i = *(int *)number;
    if ((i + rank) % 2) usleep(2000);
    if (i == 0)
        free_and_check(0);
    else
        make(1);
    return NULL;
}

static void frees(void) {
    long *base;
    MPI_Win_allocate(2 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &counters);
    base[0] = base[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, counters);
    for (round_of_free = 0; round_of_free < 10; round_of_free++) {
        make_both();
        run_two(free_one);
    }
    /* Both counters go on from here. */
    for (int to = round_of_free + 10; round_of_free < to; round_of_free++) {
        make_both();
        run_two(fence_or_free);
        free_and_check(0);
        MPI_Win_free(&win[1]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int to = round_of_free + 10; round_of_free < to; round_of_free++) {
        make(0);
        MPI_Barrier(MPI_COMM_WORLD);
        run_two(free_or_make);
        MPI_Win_free(&win[1]);
    }
    MPI_Win_unlock_all(counters);
    MPI_Win_free(&counters);
}

/* ---- locks ---- */

/* The last process holds a lock of window 0 until the first one, of which a thread waits for that lock, has used window
 * 1. */
static void *wait_or_use(void *number) {
    const int i = *(int *)number, holder = n - 1;
    const long x = 1;
    if (rank != 0) return NULL;
    if (i == 1) usleep(20000);
    MPI_Win_lock_all(0, win[i]);
    MPI_Put(&x, 1, MPI_LONG, holder, 0, 1, MPI_LONG, win[i]);
    MPI_Win_unlock_all(win[i]);
    if (i == 1) MPI_Send(NULL, 0, MPI_BYTE, holder, 1, MPI_COMM_WORLD);
    return NULL;
}

static void wait_beside_use(void) {
    if (n < 2) return;
    make_both();
    if (rank == n - 1) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == n - 1) {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Win_unlock(rank, win[0]);
    }
    run_two(wait_or_use);
    free_both();
}

/* Each thread reads and writes the first word of each process of its window. */
static void *lock_both_ways(void *number) {
    const int i = *(int *)number;
    long x, y;
    for (int k = 0; k < 100; k++) {
        const int to = (rank + k) % n;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win[i]);
        MPI_Get(&x, 1, MPI_LONG, to, 0, 1, MPI_LONG, win[i]);
        MPI_Win_flush(to, win[i]);
        x++;
        MPI_Put(&x, 1, MPI_LONG, to, 0, 1, MPI_LONG, win[i]);
        MPI_Put(&x, 1, MPI_LONG, to, 1, 1, MPI_LONG, win[i]);
        MPI_Win_unlock(to, win[i]);
        MPI_Win_lock_all(0, win[i]);
        for (int r = 0; r < n; r++) {
            MPI_Get(&x, 1, MPI_LONG, r, 0, 1, MPI_LONG, win[i]);
            MPI_Get(&y, 1, MPI_LONG, r, 1, 1, MPI_LONG, win[i]);
            MPI_Win_flush(r, win[i]);
            CHECK(x == y);
        }
        MPI_Win_unlock_all(win[i]);
    }
    return NULL;
}

static void locks(void) {
    make_both();
    run_two(lock_both_ways);
    free_both();
}

/* ---- the program's functions ---- */

static int keyval, inside, other_has_ended;

/* It is called for the attribute of window 0, and returns when the other thread has used that of window 1. */
static int delete_slowly(MPI_Win of, int key, void *value, void *extra) {
    void *again;
    int found;
    (void)key, (void)extra;
    if (value != &win[0]) return MPI_SUCCESS;
    MPI_Win_get_attr(of, keyval, &again, &found);
    CHECK(!found || again == value);
    __atomic_store_n(&inside, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&other_has_ended, __ATOMIC_ACQUIRE)) usleep(100);
    return MPI_SUCCESS;
}

static void *use_attribute(void *number) {
    const int i = *(int *)number;
    void *value;
    int found;
    if (i == 0) {
        MPI_Win_free(&win[0]);
        return NULL;
    }
    while (!__atomic_load_n(&inside, __ATOMIC_ACQUIRE)) usleep(100);
    MPI_Win_set_attr(win[1], keyval, &keyval);
    MPI_Win_get_attr(win[1], keyval, &value, &found);
    CHECK(found && value == &keyval);
    MPI_Win_delete_attr(win[1], keyval);
    __atomic_store_n(&other_has_ended, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void functions(void) {
    make_both();
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_slowly, &keyval, NULL);
    MPI_Win_set_attr(win[0], keyval, &win[0]);
    run_two(use_attribute);
    MPI_Win_free_keyval(&keyval);
    MPI_Win_free(&win[1]);
}

int main(int argc, char **argv) {
    const char *part = argc > 1 ? argv[1] : NULL;
    int provided;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    if (!part || strcmp(part, "makes") == 0) makes();
    if (!part || strcmp(part, "waits") == 0) wait_beside_use();
    if (!part || strcmp(part, "locks") == 0) locks();
    if (!part || strcmp(part, "functions") == 0) functions();
    if (!part || strcmp(part, "frees") == 0) frees();
    return end();
}
