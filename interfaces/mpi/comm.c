/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "interfaces/mpi/comm.h"
#include "interfaces/mpi/errors.h"
#include "rma.h"

#include <stdlib.h>

static int keyval = MPI_KEYVAL_INVALID; /* of the attribute */
_Atomic int rmai_win_comms_far;

static void free_comm(struct rmai_win_comm *f) {
    int finalized = 1;
    if (PMPI_Finalized(&finalized) != MPI_SUCCESS || finalized) return;
    rmai_win_comms_far -= f->far;
    if (f->duplicate != MPI_COMM_NULL) PMPI_Comm_free(&f->duplicate);
    if (f->group != MPI_GROUP_NULL) PMPI_Group_free(&f->group);
    free(f->near);
    free(f);
}

void rmai_win_comm_leave(struct rmai_win_comm *f) {
    if (--f->uses == 0) free_comm(f);
}

/* The program frees its communicator. */
static int leave_comm(MPI_Comm comm, int key, void *shared, void *extra) {
    (void)comm, (void)key, (void)extra;
    rmai_win_comm_leave(shared);
    return MPI_SUCCESS;
}

int rmai_win_comm_slot_slow(const struct rmai_win_comm *f, int rank) {
    int low = 0, high = f->n_near - 1;
    while (low <= high) {
        const int middle = (low + high) / 2;
        if (f->near[middle].rank == rank) return middle;
        if (f->near[middle].rank < rank)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return -1;
}

/* Writes the PE numbers of n ranks; -1 for a process outside of MPI_COMM_WORLD. */
static int translate(const struct rmai_win_comm *f, int n, const int *ranks, int *pes) {
    MPI_Group world;
    int code = PMPI_Comm_group(MPI_COMM_WORLD, &world);
    if (code != MPI_SUCCESS) return code;
    code = PMPI_Group_translate_ranks(f->group, n, ranks, world, pes);
    for (int i = 0; code == MPI_SUCCESS && i < n; i++)
        if (pes[i] == MPI_UNDEFINED) pes[i] = -1;
    PMPI_Group_free(&world);
    return code;
}

int rmai_win_comm_pe(const struct rmai_win_comm *f, int rank) {
    int pe = -1;
    return translate(f, 1, &rank, &pe) == MPI_SUCCESS ? pe : -1;
}

/* Fills in near, n_near, my_slot and first_near. Returns 0 if a process is outside of MPI_COMM_WORLD, or memory is
 * exhausted. */
static int find_near(struct rmai_win_comm *f) {
    int *ranks = malloc((size_t)f->n * sizeof *ranks), *pes = malloc((size_t)f->n * sizeof *pes), ok = ranks && pes;
    for (int i = 0; ok && i < f->n; i++) ranks[i] = i;
    ok = ok && translate(f, f->n, ranks, pes) == MPI_SUCCESS;
    for (int i = 0; ok && i < f->n; i++) {
        ok = pes[i] >= 0;
        if (ok) f->n_near += rma_on_node(pes[i]);
    }
    f->near = ok ? calloc((size_t)f->n_near, sizeof *f->near) : NULL;
    ok = ok && f->near;
    for (int i = 0, slot = 0; ok && i < f->n; i++) {
        if (!rma_on_node(pes[i])) continue;
        if (i == f->rank) f->my_slot = slot;
        f->near[slot].rank = i;
        f->near[slot++].pe = pes[i];
    }
    free(ranks);
    free(pes);
    if (!ok) return 0;
    f->first_near = f->near[0].rank;
    while (f->n_straight < f->n_near && f->near[f->n_straight].rank == f->first_near + f->n_straight) f->n_straight++;
    return 1;
}

/* What each process tells the others. */
struct news {
    uint64_t id, leader; /* of its node */
    uint64_t tests;      /* 1: it keeps its processor when it waits in MPI's own calls, and others need it */
};

enum { N_NEWS = sizeof(struct news) / sizeof(uint64_t) };

/* The first process has numbered the communicator. The leaders are those with which this one exchanges signals. */
static void hear_news(struct rmai_win_comm *f, struct news *news) {
    int n = 0, me = 0;
    f->id = news[0].id;
    f->far = f->n_near < f->n;
    for (int i = 0; i < f->n; i++) f->far |= news[i].tests != 0;
    for (int i = 0; i < f->n; i++) {
        if (news[i].leader != (uint64_t)i) continue; /* a leader is its own leader, and no rank below it is */
        if (i == f->first_near) me = n;
        news[n++].leader = (uint64_t)i;
    }
    for (int step = 1; step < n; step *= 2) f->partners[f->n_rounds++] = (int)news[(me + step) % n].leader;
}

static void exchange_news(const char *call, struct rmai_win_comm *f, struct news *news) {
    static _Atomic uint32_t comms;
    struct news mine = {.leader = (uint64_t)f->first_near, .tests = rma_crowded_() && !rma_mpi_sleeps_()};
    MPI_Request request;
    int code;
    if (f->rank == 0) mine.id = (uint64_t)rma_my_pe() << 32 | atomic_fetch_add(&comms, 1);
    code = PMPI_Iallgather(&mine, N_NEWS, MPI_UINT64_T, news, N_NEWS, MPI_UINT64_T, f->duplicate, &request);
    if (code == MPI_SUCCESS) code = rmai_win_await(call, &request, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) rmai_win_lost(call, "MPI_Iallgather");
    hear_news(f, news);
}

/* 1 if `mine` is 1 in all processes of comm. */
static int agree_on_comm(const char *call, MPI_Comm comm, int mine) {
    MPI_Request request;
    int all = 0, code = PMPI_Iallreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm, &request);
    if (code == MPI_SUCCESS) code = rmai_win_await(call, &request, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) rmai_win_lost(call, "MPI_Iallreduce");
    return all;
}

/* This process's part: all that needs no other process. NULL if it cannot take part. */
static struct rmai_win_comm *begin_comm(MPI_Comm comm) {
    struct rmai_win_comm *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    f->uses = 1;
    f->duplicate = MPI_COMM_NULL;
    f->group = MPI_GROUP_NULL;
    if (PMPI_Comm_size(comm, &f->n) == MPI_SUCCESS && PMPI_Comm_rank(comm, &f->rank) == MPI_SUCCESS &&
        PMPI_Comm_group(comm, &f->group) == MPI_SUCCESS && find_near(f) &&
        PMPI_Comm_set_attr(comm, keyval, f) == MPI_SUCCESS)
        return f;
    free_comm(f);
    return NULL;
}

/* The duplicate has none of the program's attributes and its own error handler. */
static int duplicate_comm(const char *call, struct rmai_win_comm *f, MPI_Comm comm) {
    struct rma_note_ *note = rmai_win_note_begin(call);
    return rmai_win_note_end(note, PMPI_Comm_create(comm, f->group, &f->duplicate)) == MPI_SUCCESS &&
           PMPI_Comm_set_errhandler(f->duplicate, MPI_ERRORS_RETURN) == MPI_SUCCESS;
}

/* Each step that can fail in one process ends in an agreement: either all processes succeed, or none. */
static struct rmai_win_comm *make_comm(const char *call, MPI_Comm comm, const char **why) {
    struct rmai_win_comm *f;
    struct news *news;
    int inter = 0;
    *why = "the communicator is an intercommunicator";
    if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter) return NULL;
    f = begin_comm(comm);
    news = f ? malloc((size_t)f->n * sizeof *news) : NULL;
    *why = NULL;
    if (!agree_on_comm(call, comm, news != NULL))
        *why = news ? "another process cannot take part" : "a process is not in MPI_COMM_WORLD, or has no memory";
    else if (!agree_on_comm(call, comm, duplicate_comm(call, f, comm)))
        *why = "MPI cannot duplicate the communicator";
    else
        exchange_news(call, f, news);
    free(news);
    if (*why && f) PMPI_Comm_delete_attr(comm, keyval); /* which frees it */
    if (*why) return NULL;
    rmai_win_comms_far += f->far;
    return f;
}

int rmai_win_comms_open(void) {
    if (keyval != MPI_KEYVAL_INVALID) return MPI_SUCCESS; /* of windows before, whose attributes are still there */
    return PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, leave_comm, &keyval, NULL);
}

struct rmai_win_comm *rmai_win_comm_of(const char *call, MPI_Comm comm, const char **why) {
    struct rmai_win_comm *f = NULL;
    int found = 0;
    *why = "MPI refuses the communicator";
    if (PMPI_Comm_get_attr(comm, keyval, &f, &found) != MPI_SUCCESS) return NULL;
    if (!found) f = make_comm(call, comm, why);
    if (f) f->uses++;
    return f;
}

int rmai_win_comm_serves(MPI_Comm comm) {
    struct rmai_win_comm *f = NULL;
    int found = 0;
    return rmai_win_comms_far && rmai_win_running && PMPI_Comm_get_attr(comm, keyval, &f, &found) == MPI_SUCCESS &&
           found && f->far;
}
