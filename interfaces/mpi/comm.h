/* SPDX-License-Identifier: BSD-3-Clause */
/* What all windows on one communicator share. It is an attribute of the program's communicator, is made with the first
 * window on it, and lives as long as the communicator or one of its windows. Its tables contain only the processes of
 * this node. */
#ifndef RMAI_MPI_COMM_H
#define RMAI_MPI_COMM_H

#include <mpi.h>

#include "interfaces/mpi/state.h"

struct rmai_win_comm {
    MPI_Comm duplicate; /* for messages of ours */
    MPI_Group group;    /* its processes */
    uint64_t id;        /* the same in all its processes, different for other communicators */
    _Atomic int uses;   /* the communicator's attribute, and the windows */
    int n, rank;        /* processes; this one's number */
    int n_near;         /* processes on this node */
    int my_slot;        /* this process's number among them */
    int first_near;     /* near[i].rank == first_near + i for i < n_straight: in most jobs for all of them */
    int n_straight;
    struct rmai_win_member {
        int rank, pe;
    } * near;                      /* the processes of this node, by rank; near[0] is the node's leader */
    int n_rounds;                  /* of a barrier between nodes, for the leader */
    int partners[RMAI_WIN_ROUNDS]; /* in round k this leader tells the leader with rank partners[k] */
    int far; /* 1: MPI's calls must not poll alone, because its processes are on several nodes, or need the processor of
                one that polls; 0 until it is made */
};

/* rmai_win_comms_open makes the attribute; it is called before any other function here. Returns MPI's code.
 * Threads may make several at once: what they share is atomic. */
int rmai_win_comms_open(void);

/* rmai_win_comm_of returns what windows on comm share, whose uses grow by one; rmai_win_comm_leave ends that use. Or it
 * returns NULL in all processes of comm: then *why says why the window is left to MPI. The call is collective if comm
 * has had no window yet. `call`: the public call. */
struct rmai_win_comm *rmai_win_comm_of(const char *call, MPI_Comm comm, const char **why);
void rmai_win_comm_leave(struct rmai_win_comm *f);

/* rmai_win_comms_far counts the communicators with `far` whose windows are ours.
 * rmai_win_comm_serves: 1 if comm is one of them; the same in all processes of comm. */
extern _Atomic int rmai_win_comms_far;
int rmai_win_comm_serves(MPI_Comm comm);

/* rmai_win_comm_slot: the place of `rank` in near, or -1 if that process is on another node. */
int rmai_win_comm_slot_slow(const struct rmai_win_comm *f, int rank);
static inline int rmai_win_comm_slot(const struct rmai_win_comm *f, int rank) {
    const unsigned i = (unsigned)rank - (unsigned)f->first_near;
    return i < (unsigned)f->n_straight ? (int)i : rmai_win_comm_slot_slow(f, rank);
}

/* rmai_win_comm_pe: the PE number of `rank`. It needs no table, but MPI's answer takes some time. */
int rmai_win_comm_pe(const struct rmai_win_comm *f, int rank);

#endif
