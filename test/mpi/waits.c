/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that waits in a call of MPI serves those that access its windows meanwhile. check-mpi.sh runs this without
 * librma's progress thread: the origin completes its access before it does what the target waits for, so a call that
 * serves nobody never returns. Also that these calls return what MPI's own would.
 * Broken by a call of MPI that waits in MPI alone. */
#include "check.h"

enum { BARRIER, REDUCE, BROADCAST, RECEIVE, WAIT, WAIT_ALL, WAIT_ANY, PROBE, SEND_RECEIVE, CALLS };

static int *base, value;
static MPI_Win win;

/* All processes make these. */
static void call_together(int call) {
    int sum = -1, data = rank == n - 1 ? 71 : -1;
    if (call == REDUCE) {
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(sum == n * (n - 1) / 2);
    } else if (call == BROADCAST) {
        MPI_Bcast(&data, 1, MPI_INT, n - 1, MPI_COMM_WORLD);
        CHECK(data == 71);
    }
}

/* The last process accesses the first one's memory, then ends its wait. */
static void access_and_tell(int call) {
    int old = -1, one = 1;
    MPI_Fetch_and_op(&one, &old, MPI_INT, 0, 0, MPI_SUM, win);
    MPI_Win_flush(0, win);
    CHECK(old == call);
    if (call <= BROADCAST) return;
    if (call == SEND_RECEIVE) {
        MPI_Sendrecv(&call, 1, MPI_INT, 0, 10 + call, &old, 1, MPI_INT, 0, 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(old == 2 * call);
        return;
    }
    MPI_Send(&call, 1, MPI_INT, 0, 10 + call, MPI_COMM_WORLD);
    if (call == WAIT_ALL) MPI_Send(&call, 1, MPI_INT, 0, 20, MPI_COMM_WORLD);
}

static void check_status(const MPI_Status *status, int tag) {
    int count = -1;
    MPI_Get_count(status, MPI_INT, &count);
    CHECK(count == 1 && status->MPI_SOURCE == n - 1 && status->MPI_TAG == tag);
}

static void wait_in(int call) {
    MPI_Request request[2];
    MPI_Status status[2];
    int got[2] = {-1, -1}, twice = 2 * call, index = -1;
    switch (call) {
        case RECEIVE: MPI_Recv(got, 1, MPI_INT, n - 1, 10 + call, MPI_COMM_WORLD, status); break;
        case WAIT:
            MPI_Irecv(got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, request);
            MPI_Wait(request, status);
            CHECK(request[0] == MPI_REQUEST_NULL);
            break;
        case WAIT_ALL:
            for (int i = 0; i < 2; i++)
                MPI_Irecv(got + i, 1, MPI_INT, n - 1, i ? 20 : 10 + call, MPI_COMM_WORLD, request + i);
            MPI_Waitall(2, request, status);
            CHECK(got[1] == call && request[0] == MPI_REQUEST_NULL && request[1] == MPI_REQUEST_NULL);
            check_status(&status[1], 20);
            break;
        case WAIT_ANY:
            request[0] = MPI_REQUEST_NULL;
            MPI_Irecv(got, 1, MPI_INT, n - 1, 10 + call, MPI_COMM_WORLD, request + 1);
            MPI_Waitany(2, request, &index, status);
            CHECK(index == 1 && request[1] == MPI_REQUEST_NULL);
            break;
        case SEND_RECEIVE:
            MPI_Sendrecv(&twice, 1, MPI_INT, n - 1, 21, got, 1, MPI_INT, n - 1, 10 + call, MPI_COMM_WORLD, status);
            break;
        case PROBE:
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status);
            check_status(status, 10 + call);
            MPI_Recv(got, 1, MPI_INT, status->MPI_SOURCE, status->MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            break;
        default: return;
    }
    CHECK(got[0] == call);
    check_status(status, 10 + call);
}

static void check_mistakes(void) {
    MPI_Request none = MPI_REQUEST_NULL;
    MPI_Status status;
    int index = -1;
    CHECK(MPI_Wait(&none, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_Waitany(1, &none, &index, &status) == MPI_SUCCESS && index == MPI_UNDEFINED);
    CHECK(MPI_Sendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, &index, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                       &status) == MPI_SUCCESS &&
          status.MPI_SOURCE == MPI_PROC_NULL);
    CHECK(MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status) == MPI_SUCCESS);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Recv(&value, 1, MPI_INT, n, 0, MPI_COMM_WORLD, &status)) == MPI_ERR_RANK);
    /* A message that is there before the call is there after it. */
    MPI_Request sent;
    int message = 72;
    MPI_Isend(&message, 1, MPI_INT, rank, 30, MPI_COMM_WORLD, &sent);
    CHECK(class_of(MPI_Sendrecv(&value, 1, MPI_INT, n, 0, &index, 1, MPI_INT, rank, 30, MPI_COMM_WORLD, &status)) ==
          MPI_ERR_RANK);
    MPI_Recv(&index, 1, MPI_INT, rank, 30, MPI_COMM_WORLD, &status);
    CHECK(index == 72);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    CHECK(class_of(MPI_Probe(0, -5, MPI_COMM_WORLD, &status)) == MPI_ERR_TAG);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(void) {
    begin();
    MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    *base = 0;
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int call = 0; call < CALLS; call++) {
        if (rank == n - 1)
            access_and_tell(call);
        else if (rank == 0)
            wait_in(call);
        call_together(call);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    check_mistakes();
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    return end();
}
