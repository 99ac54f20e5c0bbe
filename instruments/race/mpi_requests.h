/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of MPI: what their completion completes, and what the calling thread then learns. */
#ifndef RACE_MPI_REQUESTS_H
#define RACE_MPI_REQUESTS_H

#include <mpi.h>
#include <stdint.h>

#include "instruments/race/contexts.h"
#include "instruments/race/mpi_comms.h"
#include "instruments/race/mpi_types.h"

struct race_win;
enum race_request_kind { RACE_REQUEST_RMA, RACE_REQUEST_SEND, RACE_REQUEST_RECEIVE, RACE_REQUEST_COLLECTIVE };

/* A call that returns a request. It has a context of its own, whose operations towards this PE are its buffers
 * (RACE_PENDING) and what MPI_Rget reads (RACE_PUTS). */
struct race_request {
    MPI_Request handle;
    const MPI_Request *at; /* where the program has the handle: some requests may have the same one */
    enum race_request_kind kind;
    struct race_context *x;
    const struct race_win *win; /* an access to it; flushes complete it, too */
    int rank;                   /* the access's target */
    struct race_comm *comm;     /* a message */
    int peer, tag;              /* a receive: may be MPI_ANY_SOURCE and MPI_ANY_TAG; a send: the destination */
    struct race_group *group;   /* a collective: learns `from` the PEs of its group */
    int from;
    uint32_t call;
    int persistent, active;
    const char *name; /* a persistent request: its call, for MPI_Start */
    const void *buffer;
    int count;
    MPI_Datatype type;
    struct race_request *next;
};

/* race_request_new: NULL if the thread is not watched. race_request_made: MPI has returned the request; code: if the
 * call failed, the request is dropped. */
struct race_request *race_request_new(enum race_request_kind kind);
void race_request_made(struct race_request *r, int code, const MPI_Request *request);

/* race_request_buffer: the call uses this memory until it is complete. Call race_tick afterwards. */
void race_request_buffer(struct race_request *r, const void *buffer, size_t count, MPI_Datatype type, int write,
                         uint32_t place);

/* race_requests_flushed: a call has completed the accesses of the window to the rank, or (rank -1) to all; local: only
 * at the origin. */
void race_requests_flushed(const struct race_win *w, int rank, int local);

/* race_requests_ahead: how many receives are under way, apart from `but`, that may match such a message. */
uint32_t race_requests_ahead(const struct race_comm *c, int source, int tag, const struct race_request *but);

#endif
