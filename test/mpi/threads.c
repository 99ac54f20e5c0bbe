/* SPDX-License-Identifier: BSD-3-Clause */
/* Several threads of a process use one window at once (MPI_THREAD_MULTIPLE): the same new datatype, and their own
 * communicators' windows. Broken by a datatype that two threads take apart at once, by a window's number that two
 * windows get, by an epoch that ends before its operations because another thread has just waited for its own, and by
 * the end of a window that meets that of another one of the same communicator. */
#include "check.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 100, EPOCHS = 1000, COUNT = 7 };

static MPI_Win win;
static MPI_Datatype type;
static MPI_Comm comms[THREADS];
static int ready, turn, to;

/* All threads go on at the same time. */
static void meet(void) {
    const int mine = __atomic_load_n(&turn, __ATOMIC_ACQUIRE);
    if (__atomic_add_fetch(&ready, 1, __ATOMIC_ACQ_REL) == THREADS) {
        __atomic_store_n(&ready, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&turn, mine + 1, __ATOMIC_RELEASE);
    }
    for (int i = 0; __atomic_load_n(&turn, __ATOMIC_ACQUIRE) == mine; i++)
        if (i > 100) usleep(10);
}

/* Each thread reads a new value in each epoch. */
static void read_in_epochs(int me) {
    const int from = (rank + n - 1) % n, front = (rank + 1) % n;
    long *base, got;
    MPI_Win own;
    MPI_Group world, before, after;
    MPI_Comm_group(comms[me], &world);
    MPI_Group_incl(world, 1, &from, &before);
    MPI_Group_incl(world, 1, &front, &after);
    MPI_Win_allocate(16, sizeof(long), MPI_INFO_NULL, comms[me], &base, &own);
    for (long i = 0; i < EPOCHS; i++) {
        *base = i + 1000 * rank;
        got = -1;
        MPI_Win_post(before, 0, own);
        MPI_Win_start(after, 0, own);
        MPI_Get(&got, 1, MPI_LONG, front, 0, 1, MPI_LONG, own);
        MPI_Win_complete(own);
        CHECK(got == i + 1000 * front);
        MPI_Win_wait(own);
    }
    MPI_Group_free(&before);
    MPI_Group_free(&after);
    MPI_Group_free(&world);
    MPI_Win_free(&own);
}

static void *work(void *argument) {
    const int me = *(int *)argument;
    int mine[4 * COUNT], *base;
    MPI_Win own;
    for (int round = 0; round < ROUNDS; round++) {
        if (me == 0) {
            MPI_Type_vector(COUNT, 1, 2 + round % 2, MPI_INT, &type);
            MPI_Type_commit(&type);
        }
        meet();
        for (int i = 0; i < 4 * COUNT; i++) mine[i] = 1000 * me + round + i;
        MPI_Put(mine, 1, type, to, me * COUNT, COUNT, MPI_INT, win);
        MPI_Win_flush(to, win);
        memset(mine, 0, sizeof mine);
        MPI_Get(mine, 1, type, to, me * COUNT, COUNT, MPI_INT, win);
        MPI_Win_flush(to, win);
        for (int i = 0; i < COUNT; i++) CHECK(mine[i * (2 + round % 2)] == 1000 * me + round + i * (2 + round % 2));
        meet();
        if (me == 0) MPI_Type_free(&type);
        meet();
    }
    for (int round = 0; round < 10; round++) {
        MPI_Win_allocate(16, 4, MPI_INFO_NULL, comms[me], &base, &own);
        MPI_Win_fence(0, own);
        MPI_Put(&round, 1, MPI_INT, (rank + 1) % n, 1, 1, MPI_INT, own);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, own);
        CHECK(base[1] == round);
        MPI_Win_free(&own);
    }
    read_in_epochs(me);
    return NULL;
}

/* ---- two windows of one communicator end in different order ---- */

static MPI_Win ends[2];
static int ended, told;
enum { GO = 1, LATER = 2 };

static void *free_first(void *unused) {
    (void)unused;
    MPI_Win_free(&ends[0]);
    /* The last process has told this one before it came to the end of this window. */
    CHECK(__atomic_load_n(&told, __ATOMIC_ACQUIRE));
    __atomic_store_n(&ended, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* All processes but the last one free the first window at once, in a thread. The last one frees the second window
 * first, tells the others, and then frees the first one: so that may end nowhere before they are told. The pause only
 * gives a wrong end the time to show. */
static void free_crosswise(void) {
    pthread_t first;
    int *base;
    for (int i = 0; i < 2; i++) MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &ends[i]);
    if (n == 1) {
        for (int i = 0; i < 2; i++) MPI_Win_free(&ends[i]);
    } else if (rank == n - 1) {
        MPI_Win_free(&ends[1]);
        for (int p = 0; p < n - 1; p++) MPI_Recv(NULL, 0, MPI_BYTE, p, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int p = 0; p < n - 1; p++) MPI_Send(NULL, 0, MPI_BYTE, p, LATER, MPI_COMM_WORLD);
        for (int p = 0; p < n - 1; p++) MPI_Recv(NULL, 0, MPI_BYTE, p, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Win_free(&ends[0]);
    } else {
        CHECK(pthread_create(&first, NULL, free_first, NULL) == 0);
        for (int i = 0; i < 200 && !__atomic_load_n(&ended, __ATOMIC_ACQUIRE); i++) usleep(1000);
        MPI_Win_free(&ends[1]);
        MPI_Send(NULL, 0, MPI_BYTE, n - 1, GO, MPI_COMM_WORLD);
        MPI_Recv(NULL, 0, MPI_BYTE, n - 1, LATER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        __atomic_store_n(&told, 1, __ATOMIC_RELEASE);
        MPI_Send(NULL, 0, MPI_BYTE, n - 1, GO, MPI_COMM_WORLD);
        pthread_join(first, NULL);
    }
}

int main(void) {
    pthread_t threads[THREADS];
    int numbers[THREADS], provided, level = -1, *base;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Query_thread(&level);
    CHECK(provided == MPI_THREAD_MULTIPLE && level == provided);
    to = (rank + 1) % n;
    MPI_Win_allocate(THREADS * COUNT * 4 * 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    for (int i = 0; i < THREADS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        CHECK(pthread_create(&threads[i], NULL, work, &numbers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    MPI_Win_unlock_all(win);
    for (int i = 0; i < THREADS; i++) MPI_Comm_free(&comms[i]);
    MPI_Win_free(&win);
    free_crosswise();
    return end();
}
