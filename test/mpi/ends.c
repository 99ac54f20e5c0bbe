/* SPDX-License-Identifier: BSD-3-Clause */
/* ends HOW WAIT: the last process ends abnormally, or stops, as HOW says, while the others wait in WAIT. With `late` it
 * only computes for long, and then comes. It is run by check-mpi-ends.sh, which lists both. The library must end the
 * job; a process that gets out of its wait writes that. Broken by a process that sleeps where no message of MPI reaches
 * it, by a wait that watches nobody, and by one that takes a process which computes for a stopped one. */
#include "check.h"

#include <signal.h>

enum { TAG = 5, LONG = 4 /* seconds: longer than the RMA_STALL of these jobs */ };

static MPI_Comm copy, part; /* of all processes */
static MPI_Win win;
static long *base, data[4];

static int is(const char *word, const char *name) { return strcmp(word, name) == 0; }

/* ---- the last process ---- */

/* It makes the call for which the others wait. */
static int come_late(const char *what) {
    long out[2] = {1, 1};
    int sum;
    sleep(LONG);
    if (is(what, "barrier")) MPI_Barrier(MPI_COMM_WORLD);
    if (is(what, "allreduce")) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n - 1 && (is(what, "recv") || is(what, "probe")); i++)
        MPI_Send(out, 1, MPI_LONG, i, TAG, MPI_COMM_WORLD);
    for (int i = 0; i < n - 1 && is(what, "all"); i++)
        for (int k = 0; k < 2; k++) MPI_Send(out, 1, MPI_LONG, i, TAG, copy);
    return end();
}

static int hinder(const char *how, const char *what) {
    long out = 1;
    if (is(how, "put")) MPI_Put(&out, 1, MPI_LONG, 0, 1000, 1, MPI_LONG, win);
    if (is(how, "errors_abort")) {
#ifdef MPI_ERRORS_ABORT
        MPI_Win_set_errhandler(win, MPI_ERRORS_ABORT);
#endif
        MPI_Put(&out, 1, MPI_LONG, 0, 1000, 1, MPI_LONG, win);
    }
    if (is(how, "win_handler")) MPI_Win_call_errhandler(win, MPI_ERR_OTHER);
    if (is(how, "comm_handler")) MPI_Comm_call_errhandler(copy, MPI_ERR_OTHER);
    if (is(how, "create")) MPI_Win_create(data, -1, 1, MPI_INFO_NULL, copy, &win);
    if (is(how, "send")) MPI_Send(&out, 1, MPI_LONG, n, TAG, copy);
    if (is(how, "send_part")) MPI_Send(&out, 1, MPI_LONG, n, TAG, part);
    if (is(how, "abort")) MPI_Abort(MPI_COMM_WORLD, 7);
    if (is(how, "abort_copy")) MPI_Abort(copy, 7);
    if (is(how, "abort_part")) MPI_Abort(part, 7);
    if (is(how, "abort_self")) MPI_Abort(MPI_COMM_SELF, 7);
    if (is(how, "exit")) exit(7);
    if (is(how, "kill")) raise(SIGKILL);
    if (is(how, "crash")) raise(SIGSEGV);
    if (is(how, "stop")) raise(SIGSTOP);
    if (is(how, "late")) return come_late(what);
    fprintf(stderr, "still there after %s\n", how);
    return 0;
}

/* ---- the others ---- */

static void wait_in(const char *what) {
    MPI_Request request[2];
    MPI_Status status[2];
    MPI_Group all, last;
    long *at, in[2];
    int which;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &(int){n - 1}, &last);
    if (is(what, "fence")) MPI_Win_fence(0, win);
    if (is(what, "lock")) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, n - 1, 0, win);
    if (is(what, "start")) MPI_Win_start(last, 0, win), MPI_Win_complete(win);
    if (is(what, "wait")) MPI_Win_post(last, 0, win), MPI_Win_wait(win);
    if (is(what, "free")) MPI_Win_free(&win);
    if (is(what, "flush")) {
        MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
        for (;;) MPI_Get(in, 1, MPI_LONG, n - 1, 0, 1, MPI_LONG, win), MPI_Win_flush(n - 1, win);
    }
    if (is(what, "allocate")) MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &at, &win);
    if (is(what, "shared")) MPI_Win_allocate_shared(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &at, &win);
    if (is(what, "create")) MPI_Win_create(data, 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (is(what, "dynamic")) MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (is(what, "first")) MPI_Win_create(data, 8, 8, MPI_INFO_NULL, copy, &win); /* on its communicator */
    if (is(what, "barrier")) MPI_Barrier(MPI_COMM_WORLD);
    if (is(what, "allreduce")) MPI_Allreduce(&rank, &which, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (is(what, "bcast")) MPI_Bcast(in, 1, MPI_LONG, n - 1, MPI_COMM_WORLD);
    if (is(what, "recv")) MPI_Recv(in, 1, MPI_LONG, n - 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (is(what, "sendrecv"))
        MPI_Sendrecv(data, 1, MPI_LONG, rank, TAG - 1, in, 1, MPI_LONG, n - 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (is(what, "probe")) MPI_Probe(n - 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (is(what, "probe")) MPI_Recv(in, 1, MPI_LONG, n - 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2; i++) MPI_Irecv(&in[i], 1, MPI_LONG, n - 1, TAG, copy, &request[i]);
    if (is(what, "request")) MPI_Wait(request, MPI_STATUS_IGNORE);
    if (is(what, "all")) MPI_Waitall(2, request, status);
    if (is(what, "any")) MPI_Waitany(2, request, &which, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    begin();
    CHECK(argc == 3);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 && n > 2, 0, &part);
    MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    if (is(argv[2], "lock") && rank == n - 1) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, n - 1, 0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank < n - 1) wait_in(argv[2]);
    if (rank < n - 1 && is(argv[1], "late")) return end();
    if (rank < n - 1) {
        fprintf(stderr, "process %d: %s is over\n", rank, argv[2]);
        sleep(1000);
    }
    usleep(300000); /* so that they sleep */
    return hinder(argv[1], argv[2]);
}
