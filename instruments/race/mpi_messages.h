/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages: the buffers that they use, and what they tell. */
#ifndef RACE_MPI_MESSAGES_H
#define RACE_MPI_MESSAGES_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "instruments/race/mpi_comms.h"

struct race_request;

/* race_told: before a message is sent. race_heard: a message has been received; of: the request, or NULL. */
void race_told(const struct race_comm *c, int rank, int tag);
void race_heard(const struct race_comm *c, int source, int tag, const struct race_request *of);

/* race_buffer_now: the calling thread's call reads or writes this memory, and has done so when it returns. most: at
 * most so many bytes of data. */
void race_buffer_now(const void *buffer, size_t count, MPI_Datatype type, size_t most, int write, uint32_t place);

#endif
