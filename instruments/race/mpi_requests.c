/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of requests, and the calls that complete them. */
#include "config.h"

#include "instruments/race/mpi_requests.h"

#include <stdlib.h>
#include <string.h>

#include "instruments/race/mpi_calls.h"
#include "instruments/race/mpi_messages.h"
#include "instruments/race/mpi_report.h"
#include "instruments/race/mpi_windows.h"
#include "instruments/race/shadow.h"
#include "instruments/race/spin.h"

static struct race_request *requests, **last_request = &requests;
static uint32_t requests_lock;

struct race_request *race_request_new(enum race_request_kind kind) {
    struct race_request *r;
    if (!race_watches() || !(r = calloc(1, sizeof *r))) return NULL;
    r->kind = kind;
    r->rank = r->peer = -1;
    if (!(r->x = race_context_new(r, race_job.n_pes, NULL, 0))) {
        free(r);
        return NULL;
    }
    return r;
}

static void free_request(struct race_request *r) {
    race_private_done(r->x);
    race_context_end(r->x);
    free(r);
}

void race_request_made(struct race_request *r, int code, const MPI_Request *request) {
    if (!r) return;
    if (code != MPI_SUCCESS || !request) {
        race_settle(r->x, RACE_PENDING, race_job.my_pe, 1);
        race_settle(r->x, RACE_PUTS, race_job.my_pe, 1);
        free_request(r);
        return;
    }
    r->handle = *request;
    r->at = request;
    r->active = !r->persistent;
    race_spin_lock(&requests_lock);
    r->next = NULL;
    *last_request = r;
    last_request = &r->next;
    race_spin_unlock(&requests_lock);
}

struct use {
    struct race_request *r;
    struct race_who who;
    uint32_t place;
    int write;
};

static void use_buffer(uintptr_t addr, size_t len, const struct race_block_of_type *block, void *arg) {
    const struct use *u = arg;
    (void)block;
    race_local((const void *)addr, len, RACE_PLAIN, u->write, u->place, &u->who);
    race_stack_buffer(addr, len, u->who.epoch);
}

void race_request_buffer(struct race_request *r, const void *buffer, size_t count, MPI_Datatype type, int write,
                         uint32_t place) {
    struct race_flow *flow;
    struct use u = {.r = r, .place = place, .write = write};
    if (!r || !count || buffer == MPI_IN_PLACE) return;
    if (!r->x->private_pending) race_private_pending(r->x);
    flow = race_context_flow(r->x, RACE_PENDING, race_job.my_pe);
    u.who = (struct race_who){.epoch = flow ? race_flow_next(flow) : race_now, .clock = race_me->clock};
    if (flow) race_sort_actor(flow->actor, r->kind == RACE_REQUEST_RMA ? RACE_BY_REQUEST : RACE_BY_MESSAGE);
    race_type_walk(race_type_of(type), (uintptr_t)buffer, count, SIZE_MAX, use_buffer, &u);
}

void race_requests_flushed(const struct race_win *w, int rank, int local) {
    race_spin_lock(&requests_lock);
    for (struct race_request *r = requests; r; r = r->next) {
        if (r->win != w || (rank >= 0 && r->rank != rank)) continue;
        race_settle(r->x, RACE_PENDING, race_job.my_pe, 1);
        if (!local) race_settle(r->x, RACE_PUTS, race_job.my_pe, 1);
    }
    race_spin_unlock(&requests_lock);
}

uint32_t race_requests_ahead(const struct race_comm *c, int source, int tag, const struct race_request *but) {
    uint32_t n = 0;
    race_spin_lock(&requests_lock);
    for (const struct race_request *r = requests; r; r = r->next)
        if (r != but && r->active && r->kind == RACE_REQUEST_RECEIVE && r->comm == c &&
            (r->peer == MPI_ANY_SOURCE || r->peer == source) && (r->tag == MPI_ANY_TAG || r->tag == tag))
            n++;
    race_spin_unlock(&requests_lock);
    return n;
}

/* ---- completion ---- */

/* The oldest entry of the handle, if possible the one whose handle the program has at this place. */
static struct race_request *find(MPI_Request handle, const MPI_Request *at) {
    struct race_request *found = NULL;
    race_spin_lock(&requests_lock);
    for (struct race_request *r = requests; r; r = r->next)
        if (r->handle == handle && (r->active || r->persistent) && (!found || (r->at == at && found->at != at)))
            found = r;
    race_spin_unlock(&requests_lock);
    return found;
}

static void drop(struct race_request *r) {
    race_spin_lock(&requests_lock);
    for (struct race_request **p = &requests; *p; p = &(*p)->next)
        if (*p == r) {
            *p = r->next;
            break;
        }
    for (last_request = &requests; *last_request;) last_request = &(*last_request)->next;
    race_spin_unlock(&requests_lock);
    free_request(r);
}

static void complete(struct race_request *r, const MPI_Status *status) {
    if (!r || !r->active) return;
    r->active = 0;
    race_settle(r->x, RACE_PENDING, race_job.my_pe, 1);
    race_settle(r->x, RACE_PUTS, race_job.my_pe, 1);
    race_context_fetched(r->x, 1);
    if (r->kind == RACE_REQUEST_RECEIVE && status)
        race_heard(r->comm, status->MPI_SOURCE, status->MPI_TAG, r);
    else if (r->kind == RACE_REQUEST_COLLECTIVE)
        race_group_finish(r->group, r->from, r->call);
    if (r->persistent)
        race_private_done(r->x);
    else
        drop(r);
}

/* The requests of a call, as they were before it. */
#define FEW 64
struct taken {
    int n;
    const MPI_Request *at;
    MPI_Request few[FEW], *handles;
    MPI_Status few_statuses[FEW], *statuses, *many;
};

/* Takes a copy of the requests. statuses: those that the program gives, or what stands for none; the call gets
 * t->statuses. */
static int take(struct taken *t, int n, const MPI_Request *at, MPI_Status *statuses) {
    *t = (struct taken){.n = n, .at = at, .handles = t->few, .statuses = statuses};
    if (!race_watches() || !requests || n <= 0 || !at) return 0;
    if (n > FEW && !(t->handles = malloc((size_t)n * sizeof *t->handles))) return 0;
    memcpy(t->handles, at, (size_t)n * sizeof *at);
    if (statuses == MPI_STATUSES_IGNORE || statuses == MPI_STATUS_IGNORE) {
        t->statuses = t->few_statuses;
        if (n > FEW && !(t->statuses = t->many = malloc((size_t)n * sizeof *t->many))) {
            free(t->handles);
            return 0;
        }
    }
    return 1;
}

static void finish(struct taken *t) {
    if (t->handles != t->few) free(t->handles);
    free(t->many);
}

static void complete_one(const struct taken *t, int i, const MPI_Status *status) {
    if (i >= 0 && i < t->n && t->handles[i] != MPI_REQUEST_NULL) complete(find(t->handles[i], &t->at[i]), status);
}

#define BEGIN(CALL, N, AT, STATUSES)                                                                                   \
    RACE_NEXT(CALL);                                                                                                   \
    struct taken t;                                                                                                    \
    int result;                                                                                                        \
    const int watched = take(&t, N, AT, STATUSES);                                                                     \
    (void)race_called(CALLS_HERE, CALLS_FRAME)

API int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    BEGIN(MPI_Wait, 1, request, status);
    RACE_FORWARD(result = next(request, watched ? t.statuses : status));
    if (watched) {
        if (result == MPI_SUCCESS) complete_one(&t, 0, t.statuses);
        finish(&t);
    }
    return result;
}

API int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
    BEGIN(MPI_Test, 1, request, status);
    RACE_FORWARD(result = next(request, flag, watched ? t.statuses : status));
    if (watched) {
        if (result == MPI_SUCCESS && *flag) complete_one(&t, 0, t.statuses);
        finish(&t);
    }
    return result;
}

API int MPI_Waitall(int n, MPI_Request *at, MPI_Status *statuses) {
    BEGIN(MPI_Waitall, n, at, statuses);
    RACE_FORWARD(result = next(n, at, watched ? t.statuses : statuses));
    if (watched) {
        for (int i = 0; i < n && result == MPI_SUCCESS; i++) complete_one(&t, i, &t.statuses[i]);
        finish(&t);
    }
    return result;
}

API int MPI_Testall(int n, MPI_Request *at, int *flag, MPI_Status *statuses) {
    BEGIN(MPI_Testall, n, at, statuses);
    RACE_FORWARD(result = next(n, at, flag, watched ? t.statuses : statuses));
    if (watched) {
        for (int i = 0; i < n && result == MPI_SUCCESS && *flag; i++) complete_one(&t, i, &t.statuses[i]);
        finish(&t);
    }
    return result;
}

API int MPI_Waitany(int n, MPI_Request *at, int *index, MPI_Status *status) {
    BEGIN(MPI_Waitany, n, at, status);
    RACE_FORWARD(result = next(n, at, index, watched ? t.statuses : status));
    if (watched) {
        if (result == MPI_SUCCESS && *index != MPI_UNDEFINED) complete_one(&t, *index, t.statuses);
        finish(&t);
    }
    return result;
}

API int MPI_Testany(int n, MPI_Request *at, int *index, int *flag, MPI_Status *status) {
    BEGIN(MPI_Testany, n, at, status);
    RACE_FORWARD(result = next(n, at, index, flag, watched ? t.statuses : status));
    if (watched) {
        if (result == MPI_SUCCESS && *flag && *index != MPI_UNDEFINED) complete_one(&t, *index, t.statuses);
        finish(&t);
    }
    return result;
}

#define SOME(CALL)                                                                                                     \
    API int CALL(int n, MPI_Request *at, int *done, int *indices, MPI_Status *statuses) {                              \
        BEGIN(CALL, n, at, statuses);                                                                                  \
        RACE_FORWARD(result = next(n, at, done, indices, watched ? t.statuses : statuses));                            \
        if (watched) {                                                                                                 \
            for (int i = 0; result == MPI_SUCCESS && *done != MPI_UNDEFINED && i < *done; i++)                         \
                complete_one(&t, indices[i], &t.statuses[i]);                                                          \
            finish(&t);                                                                                                \
        }                                                                                                              \
        return result;                                                                                                 \
    }
SOME(MPI_Waitsome)
SOME(MPI_Testsome)

/* Nobody knows when the request will be complete: from now on its buffers are not checked. */
API int MPI_Request_free(MPI_Request *request) {
    RACE_NEXT(MPI_Request_free);
    struct race_request *r = race_watches() && request ? find(*request, request) : NULL;
    int result;
    RACE_FORWARD(result = next(request));
    if (r && result == MPI_SUCCESS) {
        race_settle(r->x, RACE_PENDING, race_job.my_pe, 1);
        race_settle(r->x, RACE_PUTS, race_job.my_pe, 1);
        if (r->kind == RACE_REQUEST_RECEIVE && r->active && r->peer >= 0 && r->tag >= 0)
            race_heard(r->comm, r->peer, r->tag, r); /* the next one gets the next message */
        drop(r);
    }
    return result;
}

/* ---- persistent requests ---- */

static void start(const MPI_Request *request, uint32_t place) {
    struct race_request *r = find(*request, request);
    if (!r || !r->persistent) return;
    r->active = 1;
    if (r->kind == RACE_REQUEST_SEND) race_told(r->comm, r->peer, r->tag);
    race_request_buffer(r, r->buffer, (size_t)r->count, r->type, r->kind == RACE_REQUEST_RECEIVE, place);
    race_tick(race_me);
}

API int MPI_Start(MPI_Request *request) {
    RACE_NEXT(MPI_Start);
    int result;
    if (race_watches() && request) start(request, RACE_PLACE(MPI_Start));
    RACE_FORWARD(result = next(request));
    return result;
}

API int MPI_Startall(int n, MPI_Request *requests_) {
    RACE_NEXT(MPI_Startall);
    int result;
    if (race_watches())
        for (int i = 0; i < n; i++) start(&requests_[i], RACE_PLACE(MPI_Startall));
    RACE_FORWARD(result = next(n, requests_));
    return result;
}
