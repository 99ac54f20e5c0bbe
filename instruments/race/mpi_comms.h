/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators, as far as messages and collectives order processes: which processes they have. */
#ifndef RACE_MPI_COMMS_H
#define RACE_MPI_COMMS_H

#include <mpi.h>
#include <stdint.h>

#include "instruments/race/group.h"

struct race_comm {
    MPI_Comm handle;
    int numbered; /* 1: the id was agreed on, and is free when the communicator is */
    uint64_t id;  /* the same on all its processes */
    int n, me;    /* of its own group */
    int *pes;     /* ranks in MPI_COMM_WORLD; -1: of another world */
    int n_far;    /* of an intercommunicator: the other group; else the same as the above */
    int *far_pes;
    struct race_group *group; /* NULL: of an intercommunicator, or one with processes of another world */
    struct race_comm *next;
};

/* race_comm_of: NULL if the handle is not valid. race_comm_made: a collective call of all its processes has made it.
 * race_comm_gone: before it is freed. */
struct race_comm *race_comm_of(MPI_Comm comm);
void race_comm_made(MPI_Comm comm);
void race_comm_gone(MPI_Comm comm);

/* race_comm_pe: the PE of a rank to which messages go, or -1. */
int race_comm_pe(const struct race_comm *c, int rank);

/* race_pes_of_group: the PEs of a group, allocated, or NULL. */
int *race_pes_of_group(MPI_Group group, int *n);

#endif
