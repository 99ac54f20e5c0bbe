/* SPDX-License-Identifier: BSD-3-Clause */
/* How reports of programs of MPI windows name memory, and what they advise. */
#ifndef RACE_MPI_REPORT_H
#define RACE_MPI_REPORT_H

#include "instruments/race/job.h"
#include "instruments/race/report.h"

/* What completes an operation: its epoch's end, or its request (struct race_actor). */
enum race_sort {
    RACE_BY_UNKNOWN,
    RACE_BY_FENCE,
    RACE_BY_COMPLETE,
    RACE_BY_LOCK,
    RACE_BY_LOCK_ALL,
    RACE_BY_REQUEST,
    RACE_BY_MESSAGE
};

extern const struct race_wording race_mpi_wording;

/* race_sort_of_actor: operations of this actor are completed so from now on. */
static inline void race_sort_actor(uint32_t actor, enum race_sort sort) { race_job.actors[actor].sort = sort; }

#endif
