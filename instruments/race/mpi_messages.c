/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "instruments/race/mpi_messages.h"

#include <stdlib.h>

#include "instruments/race/mpi_calls.h"
#include "instruments/race/mpi_channels.h"
#include "instruments/race/mpi_requests.h"
#include "instruments/race/shadow.h"
#include "instruments/race/spin.h"

void race_told(const struct race_comm *c, int rank, int tag) {
    const int pe = race_comm_pe(c, rank);
    if (pe >= 0)
        race_channel_tell((struct race_channel_key){
            .kind = RACE_MESSAGES, .id = c->id, .from = race_job.my_pe, .to = pe, .tag = tag});
}

void race_heard(const struct race_comm *c, int source, int tag, const struct race_request *of) {
    const int pe = race_comm_pe(c, source);
    if (pe >= 0)
        race_channel_hear(
            (struct race_channel_key){.kind = RACE_MESSAGES, .id = c->id, .from = pe, .to = race_job.my_pe, .tag = tag},
            race_requests_ahead(c, source, tag, of));
}

struct now {
    uint32_t place;
    int write;
};

static void use_now(uintptr_t addr, size_t len, const struct race_block_of_type *block, void *arg) {
    const struct race_who who = {.epoch = race_now, .clock = race_me->clock};
    const struct now *n = arg;
    (void)block;
    race_local((const void *)addr, len, RACE_PLAIN, n->write, n->place, &who);
}

void race_buffer_now(const void *buffer, size_t count, MPI_Datatype type, size_t most, int write, uint32_t place) {
    struct now n = {.place = place, .write = write};
    if (count && buffer != MPI_IN_PLACE)
        race_type_walk(race_type_of(type), (uintptr_t)buffer, count, most, use_now, &n);
}

/* ---- sends ---- */

#define SENDS(CALL)                                                                                                    \
    API int CALL(const void *buffer, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm) {                 \
        RACE_NEXT(CALL);                                                                                               \
        int result;                                                                                                    \
        if (race_watches() && rank != MPI_PROC_NULL && count >= 0) {                                                   \
            race_buffer_now(buffer, (size_t)count, type, SIZE_MAX, 0, RACE_PLACE(CALL));                               \
            race_told(race_comm_of(comm), rank, tag);                                                                  \
        }                                                                                                              \
        RACE_FORWARD(result = next(buffer, count, type, rank, tag, comm));                                             \
        return result;                                                                                                 \
    }
SENDS(MPI_Send)
SENDS(MPI_Bsend)
SENDS(MPI_Ssend)
SENDS(MPI_Rsend)

/* A receive and a send that return a request. The message is told before MPI can send it. */
static struct race_request *begin(enum race_request_kind kind, const void *buffer, int count, MPI_Datatype type,
                                  int rank, int tag, MPI_Comm comm, uint32_t place) {
    struct race_request *r;
    if (rank == MPI_PROC_NULL || count < 0 || !(r = race_request_new(kind))) return NULL;
    r->comm = race_comm_of(comm);
    r->peer = rank;
    r->tag = tag;
    if (kind == RACE_REQUEST_SEND) race_told(r->comm, rank, tag);
    race_request_buffer(r, buffer, (size_t)count, type, kind == RACE_REQUEST_RECEIVE, place);
    race_tick(race_me);
    return r;
}

#define STARTS(CALL, KIND, CONST)                                                                                      \
    API int CALL(CONST void *buffer, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,                   \
                 MPI_Request *request) {                                                                               \
        RACE_NEXT(CALL);                                                                                               \
        struct race_request *r = NULL;                                                                                 \
        int result;                                                                                                    \
        if (race_watches()) r = begin(KIND, buffer, count, type, rank, tag, comm, RACE_PLACE(CALL));                   \
        RACE_FORWARD(result = next(buffer, count, type, rank, tag, comm, request));                                    \
        race_request_made(r, result, request);                                                                         \
        return result;                                                                                                 \
    }
STARTS(MPI_Isend, RACE_REQUEST_SEND, const)
STARTS(MPI_Ibsend, RACE_REQUEST_SEND, const)
STARTS(MPI_Issend, RACE_REQUEST_SEND, const)
STARTS(MPI_Irsend, RACE_REQUEST_SEND, const)
STARTS(MPI_Irecv, RACE_REQUEST_RECEIVE, )

#define PERSISTS(CALL, KIND, CONST)                                                                                    \
    API int CALL(CONST void *buffer, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,                   \
                 MPI_Request *request) {                                                                               \
        RACE_NEXT(CALL);                                                                                               \
        struct race_request *r = rank != MPI_PROC_NULL && count >= 0 ? race_request_new(KIND) : NULL;                  \
        int result;                                                                                                    \
        RACE_FORWARD(result = next(buffer, count, type, rank, tag, comm, request));                                    \
        if (r) {                                                                                                       \
            r->comm = race_comm_of(comm);                                                                              \
            r->peer = rank, r->tag = tag;                                                                              \
            r->persistent = 1;                                                                                         \
            r->buffer = buffer, r->count = count, r->type = type;                                                      \
        }                                                                                                              \
        race_request_made(r, result, request);                                                                         \
        return result;                                                                                                 \
    }
PERSISTS(MPI_Send_init, RACE_REQUEST_SEND, const)
PERSISTS(MPI_Bsend_init, RACE_REQUEST_SEND, const)
PERSISTS(MPI_Ssend_init, RACE_REQUEST_SEND, const)
PERSISTS(MPI_Rsend_init, RACE_REQUEST_SEND, const)
PERSISTS(MPI_Recv_init, RACE_REQUEST_RECEIVE, )

/* ---- receives ---- */

/* How many bytes have arrived. */
static size_t bytes_of(const MPI_Status *status) {
    int n = 0;
    if (PMPI_Get_count(status, MPI_BYTE, &n) != MPI_SUCCESS || n == MPI_UNDEFINED || n < 0) return SIZE_MAX;
    return (size_t)n;
}

static void received(void *buffer, int count, MPI_Datatype type, MPI_Comm comm, const MPI_Status *status,
                     uint32_t place) {
    if (status->MPI_SOURCE == MPI_PROC_NULL || count < 0) return;
    race_heard(race_comm_of(comm), status->MPI_SOURCE, status->MPI_TAG, NULL);
    race_buffer_now(buffer, (size_t)count, type, bytes_of(status), 1, place);
}

API int MPI_Recv(void *buffer, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Status *status) {
    RACE_NEXT(MPI_Recv);
    MPI_Status own, *got = status == MPI_STATUS_IGNORE ? &own : status;
    const uint32_t place = race_watches() ? RACE_PLACE(MPI_Recv) : 0;
    int result;
    RACE_FORWARD(result = next(buffer, count, type, rank, tag, comm, got));
    if (result == MPI_SUCCESS && race_watches()) received(buffer, count, type, comm, got, place);
    return result;
}

API int MPI_Sendrecv(const void *source, int source_n, MPI_Datatype source_type, int to, int to_tag, void *dest,
                     int dest_n, MPI_Datatype dest_type, int from, int from_tag, MPI_Comm comm, MPI_Status *status) {
    RACE_NEXT(MPI_Sendrecv);
    MPI_Status own, *got = status == MPI_STATUS_IGNORE ? &own : status;
    const uint32_t place = race_watches() ? RACE_PLACE(MPI_Sendrecv) : 0;
    int result;
    if (race_watches() && to != MPI_PROC_NULL && source_n >= 0) {
        race_buffer_now(source, (size_t)source_n, source_type, SIZE_MAX, 0, place);
        race_told(race_comm_of(comm), to, to_tag);
    }
    RACE_FORWARD(
        result = next(source, source_n, source_type, to, to_tag, dest, dest_n, dest_type, from, from_tag, comm, got));
    if (result == MPI_SUCCESS && race_watches()) received(dest, dest_n, dest_type, comm, got, place);
    return result;
}

API int MPI_Sendrecv_replace(void *buffer, int count, MPI_Datatype type, int to, int to_tag, int from, int from_tag,
                             MPI_Comm comm, MPI_Status *status) {
    RACE_NEXT(MPI_Sendrecv_replace);
    MPI_Status own, *got = status == MPI_STATUS_IGNORE ? &own : status;
    const uint32_t place = race_watches() ? RACE_PLACE(MPI_Sendrecv_replace) : 0;
    int result;
    if (race_watches() && to != MPI_PROC_NULL && count >= 0) {
        race_buffer_now(buffer, (size_t)count, type, SIZE_MAX, 0, place);
        race_told(race_comm_of(comm), to, to_tag);
    }
    RACE_FORWARD(result = next(buffer, count, type, to, to_tag, from, from_tag, comm, got));
    if (result == MPI_SUCCESS && race_watches()) received(buffer, count, type, comm, got, place);
    return result;
}

/* ---- matched messages: which communicator a message belongs to ---- */

static struct matched {
    MPI_Message message;
    MPI_Comm comm;
    MPI_Status status;
    struct matched *next;
} * matched;
static uint32_t matched_lock;

static void match(MPI_Message message, MPI_Comm comm, const MPI_Status *status) {
    struct matched *m = malloc(sizeof *m);
    if (!m) return;
    *m = (struct matched){.message = message, .comm = comm, .status = *status};
    race_spin_lock(&matched_lock);
    m->next = matched;
    matched = m;
    race_spin_unlock(&matched_lock);
}

static int unmatch(MPI_Message message, struct matched *found) {
    struct matched *m = NULL;
    race_spin_lock(&matched_lock);
    for (struct matched **p = &matched; *p && !m; p = &(*p)->next)
        if ((*p)->message == message) {
            m = *p;
            *p = m->next;
            break;
        }
    race_spin_unlock(&matched_lock);
    if (m) *found = *m;
    free(m);
    return m != NULL;
}

API int MPI_Mprobe(int rank, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status) {
    RACE_NEXT(MPI_Mprobe);
    MPI_Status own, *got = status == MPI_STATUS_IGNORE ? &own : status;
    int result;
    RACE_FORWARD(result = next(rank, tag, comm, message, got));
    if (result == MPI_SUCCESS && race_watches()) match(*message, comm, got);
    return result;
}

API int MPI_Improbe(int rank, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status) {
    RACE_NEXT(MPI_Improbe);
    MPI_Status own, *got = status == MPI_STATUS_IGNORE ? &own : status;
    int result;
    RACE_FORWARD(result = next(rank, tag, comm, flag, message, got));
    if (result == MPI_SUCCESS && *flag && race_watches()) match(*message, comm, got);
    return result;
}

API int MPI_Mrecv(void *buffer, int count, MPI_Datatype type, MPI_Message *message, MPI_Status *status) {
    RACE_NEXT(MPI_Mrecv);
    const uint32_t place = race_watches() ? RACE_PLACE(MPI_Mrecv) : 0;
    struct matched m;
    const int known = race_watches() && message && unmatch(*message, &m);
    int result;
    RACE_FORWARD(result = next(buffer, count, type, message, status));
    if (result == MPI_SUCCESS && known) received(buffer, count, type, m.comm, &m.status, place);
    return result;
}

API int MPI_Imrecv(void *buffer, int count, MPI_Datatype type, MPI_Message *message, MPI_Request *request) {
    RACE_NEXT(MPI_Imrecv);
    struct race_request *r = NULL;
    struct matched m;
    int result;
    if (race_watches() && message && unmatch(*message, &m))
        r = begin(RACE_REQUEST_RECEIVE, buffer, count, type, m.status.MPI_SOURCE, m.status.MPI_TAG, m.comm,
                  RACE_PLACE(MPI_Imrecv));
    RACE_FORWARD(result = next(buffer, count, type, message, request));
    race_request_made(r, result, request);
    return result;
}
