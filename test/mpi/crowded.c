/* SPDX-License-Identifier: BSD-3-Clause */
/* More processes than processors: all of them run on one. Messages of all lengths and calls arrive, and a process that
 * waits in MPI gives its processor away: it sleeps, however it waits. `threads`: two threads of each process send and
 * receive at the same time.
 * Broken by waits that only poll, by a process that sleeps until a wake-up that nobody sends, and by one that sleeps
 * with a lock that another thread needs. */
#define _GNU_SOURCE 1
#include "check.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#define LONGEST (1 << 18)

static void share_one_processor(void) {
    cpu_set_t all, one;
    CPU_ZERO(&one);
    CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
    for (int c = 0; c < CPU_SETSIZE && CPU_COUNT(&one) == 0; c++)
        if (CPU_ISSET(c, &all)) CPU_SET(c, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
}

/* ---- every way to wait ---- */

enum {
    RECEIVE,
    WAIT,
    WAIT_ALL,
    WAIT_ANY,
    WAIT_SOME,
    PROBE,
    MATCHED_PROBE,
    SEND_RECEIVE,
    LONG_SEND,
    SYNCHRONOUS_SEND,
    BARRIER,
    BROADCAST,
    REDUCE,
    ALL_REDUCE,
    GATHER,
    SCATTER,
    ALL_GATHER,
    ALL_TO_ALL,
    SCAN,
    DUPLICATE,
    CALLS
};

/* In these calls all processes wait for the last one. */
static void call_together(int call) {
    int all[64] = {0}, mine[64] = {0}, got = -1;
    MPI_Comm comm;
    switch (call) {
        case BARRIER: MPI_Barrier(MPI_COMM_WORLD); break;
        case BROADCAST:
            got = rank == n - 1 ? 71 : -1;
            MPI_Bcast(&got, 1, MPI_INT, n - 1, MPI_COMM_WORLD);
            CHECK(got == 71);
            break;
        case REDUCE:
            MPI_Reduce(&rank, &got, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
            CHECK(rank > 0 || got == n * (n - 1) / 2);
            MPI_Barrier(MPI_COMM_WORLD);
            break;
        case ALL_REDUCE:
            MPI_Allreduce(&rank, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            CHECK(got == n * (n - 1) / 2);
            break;
        case GATHER:
            MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
            for (int i = 0; rank == 0 && i < n; i++) CHECK(all[i] == i);
            MPI_Barrier(MPI_COMM_WORLD);
            break;
        case SCATTER:
            for (int i = 0; i < n; i++) all[i] = 3 * i;
            MPI_Scatter(all, 1, MPI_INT, &got, 1, MPI_INT, n - 1, MPI_COMM_WORLD);
            CHECK(got == 3 * rank);
            break;
        case ALL_GATHER:
            MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
            for (int i = 0; i < n; i++) CHECK(all[i] == i);
            break;
        case ALL_TO_ALL:
            for (int i = 0; i < n; i++) mine[i] = 100 * rank + i;
            MPI_Alltoall(mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
            for (int i = 0; i < n; i++) CHECK(all[i] == 100 * i + rank);
            break;
        case SCAN:
            MPI_Scan(&rank, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            CHECK(got == rank * (rank + 1) / 2);
            MPI_Barrier(MPI_COMM_WORLD);
            break;
        case DUPLICATE:
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
            MPI_Comm_free(&comm);
            break;
    }
}

/* The others wait for messages of the last process, which sends one to each, or receives one of each. */
static void wait_for_message(int call, char *buffer) {
    MPI_Request request[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Message message;
    MPI_Status status, both[2];
    int got = -1, index = -1, some[2];
    switch (call) {
        case RECEIVE: MPI_Recv(&got, 1, MPI_INT, n - 1, call, MPI_COMM_WORLD, &status); break;
        case WAIT:
            MPI_Irecv(&got, 1, MPI_INT, n - 1, call, MPI_COMM_WORLD, request);
            MPI_Wait(request, &status);
            break;
        case WAIT_ALL:
            MPI_Irecv(&got, 1, MPI_INT, n - 1, call, MPI_COMM_WORLD, request + 1);
            MPI_Waitall(2, request, both);
            break;
        case WAIT_ANY:
            MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, call, MPI_COMM_WORLD, request + 1);
            MPI_Waitany(2, request, &index, &status);
            CHECK(index == 1);
            break;
        case WAIT_SOME:
            MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, call, MPI_COMM_WORLD, request + 1);
            MPI_Waitsome(2, request, &index, some, both);
            CHECK(index == 1 && some[0] == 1);
            break;
        case PROBE:
            MPI_Probe(MPI_ANY_SOURCE, call, MPI_COMM_WORLD, &status);
            MPI_Recv(&got, 1, MPI_INT, status.MPI_SOURCE, call, MPI_COMM_WORLD, &status);
            break;
        case MATCHED_PROBE:
            MPI_Mprobe(MPI_ANY_SOURCE, call, MPI_COMM_WORLD, &message, &status);
            MPI_Mrecv(&got, 1, MPI_INT, &message, &status);
            break;
        case SEND_RECEIVE:
            MPI_Sendrecv(&call, 1, MPI_INT, n - 1, CALLS, &got, 1, MPI_INT, n - 1, call, MPI_COMM_WORLD, &status);
            break;
        case LONG_SEND:
            memset(buffer, rank, LONGEST);
            MPI_Send(buffer, LONGEST, MPI_BYTE, n - 1, call, MPI_COMM_WORLD);
            return;
        case SYNCHRONOUS_SEND: MPI_Ssend(&call, 1, MPI_INT, n - 1, call, MPI_COMM_WORLD); return;
    }
    CHECK(got == call);
}

static void end_waits(int call, char *buffer) {
    for (int to = 0, got; to < n - 1; to++) {
        if (call == LONG_SEND) {
            MPI_Recv(buffer, LONGEST, MPI_BYTE, to, call, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < LONGEST; i++) CHECK(buffer[i] == (char)to);
        } else if (call == SYNCHRONOUS_SEND) {
            MPI_Recv(&got, 1, MPI_INT, to, call, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            if (call == SEND_RECEIVE) MPI_Recv(&got, 1, MPI_INT, to, CALLS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&call, 1, MPI_INT, to, call, MPI_COMM_WORLD);
        }
    }
}

static long sleeps(void) {
    struct rusage used;
    CHECK(getrusage(RUSAGE_THREAD, &used) == 0);
    return used.ru_nvcsw;
}

/* A process that only polls, or yields, never gives up the processor voluntarily by sleeping. Between nodes librma
 * polls with pauses of its own. */
static void every_wait_sleeps(int counts) {
    char *buffer = malloc(LONGEST);
    for (int call = 0; call < CALLS; call++) {
        long before;
        MPI_Barrier(MPI_COMM_WORLD);
        before = sleeps();
        if (rank == n - 1) usleep(50000);
        if (call >= BARRIER)
            call_together(call);
        else if (rank == n - 1)
            end_waits(call, buffer);
        else
            wait_for_message(call, buffer);
        if (counts && rank < n - 1 && sleeps() - before < 5)
            fprintf(stderr, "process %d: call %d: slept %ld times\n", rank, call, sleeps() - before);
        CHECK(!counts || rank == n - 1 || sleeps() - before >= 5);
    }
    free(buffer);
}

/* A process that tests for a message has something else to do. */
static void tests_do_not_sleep(void) {
    MPI_Request request;
    int done = 0, found, got;
    long before;
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 90, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    before = sleeps();
    for (int i = 0; i < 20000; i++) {
        MPI_Iprobe(MPI_ANY_SOURCE, 91, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        CHECK(!found && !done);
    }
    CHECK(sleeps() - before < 10);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % n, 90, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(got == (rank + n - 1) % n);
}

/* ---- messages of all lengths, to all sides ---- */

static _Thread_local uint64_t state;
static unsigned draw(unsigned below) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state >> 33) % below;
}

enum { ROUNDS = 60, MESSAGES = 6 };

/* All processes draw the same: who sends how many bytes to whom. */
static void exchange(int tag_base, MPI_Comm comm, uint64_t seed) {
    char *out = malloc(MESSAGES * (size_t)LONGEST), *in = malloc(MESSAGES * (size_t)LONGEST);
    state = seed;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request request[2 * MESSAGES];
        MPI_Status status[2 * MESSAGES];
        int n_requests = 0, from[MESSAGES], len[MESSAGES], to[MESSAGES], how[MESSAGES];
        for (int m = 0; m < MESSAGES; m++) {
            from[m] = (int)draw((unsigned)n), to[m] = (int)draw((unsigned)n), how[m] = (int)draw(3);
            len[m] = (int)draw(1u << draw(19));
            if (to[m] != rank) continue;
            MPI_Irecv(in + m * LONGEST, LONGEST, MPI_BYTE, from[m], tag_base + m, comm, &request[n_requests++]);
        }
        for (int m = 0; m < MESSAGES; m++) {
            char *data = out + m * LONGEST;
            if (from[m] != rank) continue;
            memset(data, round + m, (size_t)len[m]);
            if (how[m] == 0)
                MPI_Issend(data, len[m], MPI_BYTE, to[m], tag_base + m, comm, &request[n_requests++]);
            else if (how[m] == 1)
                MPI_Send(data, len[m], MPI_BYTE, to[m], tag_base + m, comm);
            else
                MPI_Isend(data, len[m], MPI_BYTE, to[m], tag_base + m, comm, &request[n_requests++]);
        }
        MPI_Waitall(n_requests, request, status);
        for (int m = 0; m < MESSAGES; m++)
            for (int i = 0; to[m] == rank && i < len[m]; i++) CHECK(in[m * LONGEST + i] == (char)(round + m));
        if (round % 7 == 0) MPI_Barrier(comm);
    }
    free(out);
    free(in);
}

/* ---- windows meanwhile ---- */

static void windows_and_messages(void) {
    long *base, one = 1, old, sum = 0;
    MPI_Win win;
    MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    *base = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 200; i++) {
        MPI_Fetch_and_op(&one, &old, MPI_LONG, i % n, 0, MPI_SUM, win);
        MPI_Win_flush(i % n, win);
        if (i % 20 == 0) MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(base, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == 200L * n);
    MPI_Win_free(&win);
}

static MPI_Comm comms[2];
static void *exchange_in_thread(void *which) {
    exchange(0, comms[*(int *)which], 5);
    return NULL;
}

int main(int argc, char **argv) {
    const int threads = argc > 1 && strcmp(argv[1], "threads") == 0;
    int counts = 0, provided;
    share_one_processor();
    MPI_Init_thread(NULL, NULL, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
#ifdef MPICH_VERSION
    counts = on_librma() && one_node() && n > 1 && !threads;
#endif
    every_wait_sleeps(counts);
    if (counts) tests_do_not_sleep();
    if (threads && provided == MPI_THREAD_MULTIPLE) {
        static int which[2] = {0, 1};
        pthread_t thread;
        for (int i = 0; i < 2; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        CHECK(pthread_create(&thread, NULL, exchange_in_thread, &which[0]) == 0);
        exchange_in_thread(&which[1]);
        CHECK(pthread_join(thread, NULL) == 0);
        for (int i = 0; i < 2; i++) MPI_Comm_free(&comms[i]);
    } else {
        for (uint64_t seed = 1; seed <= 4; seed++) exchange(0, MPI_COMM_WORLD, seed);
    }
    windows_and_messages();
    return end();
}
