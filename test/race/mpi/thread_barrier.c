/* SPDX-License-Identifier: BSD-3-Clause */
/* One thread puts, the other one calls the barrier, and nothing orders the two threads. Mended: the second thread
 * waits for the first. */
/* FLAGS: -pthread */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

static int done;

static void *put(void *argument) {
    MPI_Win win = *(MPI_Win *)argument;
    const int letter = 7;
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    MPI_Put(&letter, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* RACE: first */
    MPI_Win_unlock(1, win);
    __atomic_store_n(&done, 1, __ATOMIC_RELAXED);
    return NULL;
}

int main(void) {
    int me, *box;
    MPI_Win win;
    int level;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate(8 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &box, &win);
    for (int i = 0; i < 8; i++) box[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    int seen = 0;
    pthread_t thread;
    if (me == 0) {
        pthread_create(&thread, NULL, put, &win);
#ifndef RACY
        pthread_join(thread, NULL);
#endif
        while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) continue;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 1) seen = box[0]; /* RACE: second */
#ifdef RACY
    if (me == 0) pthread_join(thread, NULL);
#endif
    printf("%d %d\n", me, seen);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
