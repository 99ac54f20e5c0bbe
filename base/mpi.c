/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/mpi.h"
#include "base/error.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TESTS 2000 /* a few hundred microseconds: far more than a message on this node takes */

/* ---- failures ---- */

static struct {
    pthread_mutex_t lock;
    struct rmai_error_kept error; /* code: RMA_SUCCESS if there is none */
} unheard = {.lock = PTHREAD_MUTEX_INITIALIZER};

int rmai_mpi_unheard(char *text, size_t room) {
    int there;
    pthread_mutex_lock(&unheard.lock);
    there = unheard.error.code != RMA_SUCCESS;
    if (there) snprintf(text, room, "%s", unheard.error.text);
    pthread_mutex_unlock(&unheard.lock);
    return there;
}

void rmai_mpi_heard(void) {
    pthread_mutex_lock(&unheard.lock);
    unheard.error.code = RMA_SUCCESS;
    pthread_mutex_unlock(&unheard.lock);
}

int rmai_mpi_failed_(int mpi_code, const char *from, const char *call) {
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int len = 0;
    if (MPI_Error_string(mpi_code, text, &len) != MPI_SUCCESS) strcpy(text, "no text");
    rmai_error(RMA_ERR_MPI, "%s: %s failed with code %d: %s", from, call, mpi_code, text);
    pthread_mutex_lock(&unheard.lock);
    if (unheard.error.code == RMA_SUCCESS) rmai_error_keep(&unheard.error); /* the others may follow from the first */
    pthread_mutex_unlock(&unheard.lock);
    return RMA_ERR_MPI;
}

static void end_if_failed(int code) {
    if (RMAI_UNLIKELY(code != RMA_SUCCESS)) rma_errors_abort(code, rma_last_error());
}

void rmai_mpi_or_end(int mpi_code, const char *from, const char *call) {
    end_if_failed(rmai_mpi(mpi_code, from, call));
}

/* ---- communicators ---- */

int rmai_mpi_rank(MPI_Comm comm, const char *from) {
    int rank = 0;
    rmai_mpi_or_end(MPI_Comm_rank(comm, &rank), from, "MPI_Comm_rank");
    return rank;
}

int rmai_mpi_size(MPI_Comm comm, const char *from) {
    int size = 0;
    rmai_mpi_or_end(MPI_Comm_size(comm, &size), from, "MPI_Comm_size");
    return size;
}

/* Translates n ranks of comm to MPI_COMM_WORLD. here[i] is i. */
static int translate_ranks(MPI_Comm comm, int n, const int *here, int *in_world, const char *from) {
    MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
    int code = rmai_mpi(MPI_Comm_group(MPI_COMM_WORLD, &world), from, "MPI_Comm_group"), freed = RMA_SUCCESS;
    if (code == RMA_SUCCESS) code = rmai_mpi(MPI_Comm_group(comm, &group), from, "MPI_Comm_group");
    if (code == RMA_SUCCESS)
        code = rmai_mpi(MPI_Group_translate_ranks(group, n, here, world, in_world), from, "MPI_Group_translate_ranks");
    if (world != MPI_GROUP_NULL) freed = rmai_mpi(MPI_Group_free(&world), from, "MPI_Group_free");
    if (code == RMA_SUCCESS) code = freed;
    if (group != MPI_GROUP_NULL) freed = rmai_mpi(MPI_Group_free(&group), from, "MPI_Group_free");
    return code == RMA_SUCCESS ? freed : code;
}

int rmai_mpi_members(MPI_Comm comm, int *n, int **ranks, const char *from) {
    int code;
    *n = rmai_mpi_size(comm, from);
    *ranks = malloc(2 * (size_t)*n * sizeof **ranks);
    if (!*ranks) return rmai_error(RMA_ERR_NO_MEM, "%s: no memory for a list of %d PEs", from, *n);
    for (int i = 0; i < *n; i++) (*ranks)[*n + i] = i;
    code = translate_ranks(comm, *n, *ranks + *n, *ranks, from);
    if (code != RMA_SUCCESS) {
        free(*ranks);
        *ranks = NULL;
    }
    return code;
}

/* ---- waits, and collective operations ---- */

int rmai_mpi_wait(MPI_Request *request, const char *from, const char *call) {
    for (unsigned tests = 0;; tests++) {
        int done = 0, mpi_code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (mpi_code != MPI_SUCCESS || done) return rmai_mpi(mpi_code, from, call);
        if (tests > TESTS) nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    }
}

static void complete_collective(MPI_Request *request, int mpi_code, const char *from, const char *call) {
    rmai_mpi_or_end(mpi_code, from, call);
    end_if_failed(rmai_mpi_wait(request, from, call));
}

void rmai_mpi_merge(MPI_Comm comm, void *data, int n, MPI_Datatype type, MPI_Op op, const char *from) {
    MPI_Request request;
    complete_collective(&request, MPI_Iallreduce(MPI_IN_PLACE, data, n, type, op, comm, &request), from,
                        "MPI_Iallreduce");
    rmai_mpi_heard(); /* a process that failed earlier has reached this call too, so nobody waits for it elsewhere */
}

void rmai_mpi_broadcast(MPI_Comm comm, void *data, size_t len, const char *from) {
    MPI_Request request;
    complete_collective(&request, MPI_Ibcast(data, (int)len, MPI_BYTE, 0, comm, &request), from, "MPI_Ibcast");
}

void rmai_mpi_least(MPI_Comm comm, struct rmai_least *all, int n, const char *from) {
    const int rank = rmai_mpi_rank(comm, from);
    for (int i = 0; i < n; i++) all[i].pe = rank;
    rmai_mpi_merge(comm, all, n, MPI_LONG_INT, MPI_MINLOC, from);
}
