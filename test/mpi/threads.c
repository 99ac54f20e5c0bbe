/* SPDX-License-Identifier: BSD-3-Clause */
/* Several threads of a process use one window at once (MPI_THREAD_MULTIPLE): the same new datatype, and their own
 * communicators' windows. Broken by a datatype that two threads take apart at once, by a window's number that two
 * windows get, and by an epoch that ends before its operations because another thread has just waited for its own. */
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
    return end();
}
