/* SPDX-License-Identifier: BSD-3-Clause */
/* What the wrappers of MPI's calls have in common. A wrapper forwards to the next library that has the function: MPI,
 * or librma_mpi, which is loaded before MPI (rma_mpi). Calls of librma and of MPI itself are made while race_inside is
 * set or by threads that are not the program's, and are not recorded. */
#ifndef RACE_MPI_CALLS_H
#define RACE_MPI_CALLS_H

#include <mpi.h>

#include "instruments/call_lists/call_site.h"
#include "instruments/race/blocks.h"
#include "instruments/race/clock.h"
#include "instruments/race/contexts.h"
#include "instruments/race/events.h"
#include "instruments/race/forward.h"
#include "instruments/race/job.h"
#include "instruments/race/places.h"

#define API __attribute__((visibility("default")))

/* In a wrapper: the place of its call. */
#define RACE_PLACE(CALL) race_call_place(race_called(CALLS_HERE, CALLS_FRAME), #CALL)

#endif
