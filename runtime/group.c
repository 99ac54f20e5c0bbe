/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/group.h"
#include "base/error.h"
#include "base/mpi.h"
#include "runtime/world.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define PIECE (RMAI_PIECE < (size_t)INT_MAX ? RMAI_PIECE : (size_t)INT_MAX) /* bytes of one of MPI's collectives */

void rmai_group_none(struct rmai_group *g) { *g = (struct rmai_group){.all = MPI_COMM_NULL, .leaders = MPI_COMM_NULL}; }

void rmai_group_close(struct rmai_group *g) {
    if (g->leaders != MPI_COMM_NULL) MPI_Comm_free(&g->leaders);
    if (g->all != MPI_COMM_NULL) MPI_Comm_free(&g->all);
    free(g->node);
    free(g->sizes);
    free(g->stage);
    rmai_group_none(g);
}

/* ---- making ---- */

/* MPI_Comm_create_group is called by these PEs only, which have met: it waits without serving others. The tag tells
 * apart what threads make at one time; Open MPI 4.1 sends it messages as any others, so it must not be one of theirs
 * (runtime/net/transport). */
#define GROUP_TAG 30000

static int make_all(struct rmai_world *w, const struct rmai_team *t, MPI_Comm *all) {
    int last = t->start + (t->n - 1) * t->stride, range[1][3] = {{t->start, last, t->stride}};
    MPI_Group world, team;
    int code = MPI_Comm_group(w->mpi.messages, &world);
    if (code != MPI_SUCCESS) return code;
    code = MPI_Group_range_incl(world, 1, range, &team);
    if (code == MPI_SUCCESS) {
        code = MPI_Comm_create_group(w->mpi.messages, team, GROUP_TAG + (int)(t - w->teams.team), all);
        MPI_Group_free(&team);
    }
    MPI_Group_free(&world);
    return code;
}

static int finish_request(struct rmai_world *w, const char *call, const char *what, MPI_Request request,
                          const struct rmai_team *t) {
    struct rmai_token token = rmai_token_of(request);
    return rmai_net_finish(&w->net, call, what, &token, t);
}

/* Of each node: its first PE, and its number of PEs. */
static int learn_nodes(struct rmai_world *w, const char *call, const struct rmai_team *t, struct rmai_group *g) {
    const struct rmai_mailboxes *near = &t->near;
    int mine[2] = {near->index[0], near->n}, code;
    MPI_Request request;
    MPI_Comm_size(g->leaders, &g->n_nodes);
    code =
        rmai_mpi(MPI_Iallgather(mine, 2, MPI_INT, g->node, 2, MPI_INT, g->leaders, &request), call, "MPI_Iallgather");
    return code == RMA_SUCCESS ? finish_request(w, call, "MPI_Iallgather", request, t) : code;
}

/* All memory that the team's collectives will need of the system, so that none of them fails on one PE while the others
 * wait. */
static int get_memory(struct rmai_world *w, const char *call, const struct rmai_team *t, struct rmai_group *g) {
    const size_t n = (size_t)t->n;
    g->sizes = malloc(n * (2 * sizeof *g->sizes + 2 * sizeof *g->counts + 1));
    g->node = t->near.me == 0 ? malloc((size_t)rmai_min((size_t)w->job.n_nodes, n) * sizeof *g->node) : NULL;
    g->stage = malloc(RMAI_GROUP_STAGE);
    if (!g->sizes || !g->stage || (t->near.me == 0 && !g->node))
        return rmai_error(RMA_ERR_NO_MEM,
                          "%s: no memory for %zu bytes of pieces and the numbers that MPI needs of %d PEs", call,
                          RMAI_GROUP_STAGE, t->n);
    g->counts = (int *)(void *)(g->sizes + 2 * n);
    g->marks = (unsigned char *)(g->counts + 2 * n);
    return RMA_SUCCESS;
}

/* What a PE tells the others before; the greatest of all counts. */
struct news {
    int code;      /* of its memory */
    int scattered; /* the PEs of its node do not follow each other */
};

static void merge_group_news(void *mine, const void *other) {
    struct news a, b;
    memcpy(&a, mine, sizeof a);
    memcpy(&b, other, sizeof b);
    if (b.code > a.code) a.code = b.code;
    a.scattered |= b.scattered;
    memcpy(mine, &a, sizeof a);
}

/* After a meeting: what is left is MPI's own. */
static int make_communicators(struct rmai_world *w, const char *call, const struct rmai_team *t, struct rmai_group *g) {
    struct rmai_blocking blocking;
    int code;
    rmai_blocking_begin(&blocking, &w->job.settings, call, "making a communicator by MPI_Comm_create_group", 1);
    code = rmai_mpi(make_all(w, t, &g->all), call, "MPI_Comm_create_group");
    if (code == RMA_SUCCESS) MPI_Comm_set_errhandler(g->all, MPI_ERRORS_RETURN);
    rmai_blocking_step(&blocking, "making a communicator by MPI_Comm_split");
    if (code == RMA_SUCCESS)
        code = rmai_mpi(MPI_Comm_split(g->all, t->near.me == 0 ? 0 : MPI_UNDEFINED, t->me, &g->leaders), call,
                        "MPI_Comm_split");
    rmai_blocking_end(&blocking);
    return code;
}

int rmai_group_ready(struct rmai_world *w, const char *call, struct rmai_team *t) {
    struct rmai_group *g = &t->group;
    const struct rmai_mailboxes *near = &t->near;
    struct news all;
    int code, met;
    if (g->all != MPI_COMM_NULL) return RMA_SUCCESS;
    code = get_memory(w, call, t, g);
    all = (struct news){code, near->index[near->n - 1] - near->index[0] != near->n - 1};
    met = rmai_team_meet(w, call, t, &all, sizeof all, merge_group_news);
    g->in_order = !all.scattered;
    if (code == RMA_SUCCESS && met == RMA_SUCCESS && all.code != RMA_SUCCESS)
        code = rmai_error(all.code, "%s: another PE of the team has no memory for it", call);
    if (code == RMA_SUCCESS) code = met;
    if (code == RMA_SUCCESS) code = make_communicators(w, call, t, g);
    if (code == RMA_SUCCESS && g->leaders != MPI_COMM_NULL) {
        MPI_Comm_set_errhandler(g->leaders, MPI_ERRORS_RETURN);
        code = learn_nodes(w, call, t, g);
    }
    if (code != RMA_SUCCESS) rmai_group_close(g);
    return code;
}

/* ---- collectives ---- */

static MPI_Comm communicator_of(const struct rmai_team *t, enum rmai_among among) {
    return among == RMAI_LEADERS ? t->group.leaders : t->group.all;
}

#define BEGUN_AND_DONE(CALL, ...)                                                                                      \
    (rmai_mpi(CALL(__VA_ARGS__, &request), call, #CALL) == RMA_SUCCESS ? finish_request(w, call, #CALL, request, t)    \
                                                                       : RMA_ERR_MPI)

int rmai_group_broadcast(struct rmai_world *w, const char *call, const struct rmai_team *t, enum rmai_among among,
                         void *data, size_t len, int root) {
    MPI_Request request;
    int code = RMA_SUCCESS;
    for (size_t done = 0; code == RMA_SUCCESS && done < len; done += PIECE)
        code = BEGUN_AND_DONE(MPI_Ibcast, (char *)data + done, (int)rmai_min(len - done, PIECE), MPI_BYTE, root,
                              communicator_of(t, among));
    return code;
}

/* Where nodes are in order the table tells; else they tell each other. */
int rmai_group_find(struct rmai_world *w, const char *call, const struct rmai_team *t, int i, int here, int *node) {
    const struct rmai_group *g = &t->group;
    MPI_Request request;
    int low = 0, high = g->n_nodes - 1, rank;
    while (g->in_order && low < high) {
        int middle = (low + high + 1) / 2;
        if (g->node[middle].first <= i)
            low = middle;
        else
            high = middle - 1;
    }
    *node = low;
    if (g->in_order) return RMA_SUCCESS;
    MPI_Comm_rank(g->leaders, &rank);
    *node = here ? rank : -1;
    return BEGUN_AND_DONE(MPI_Iallreduce, MPI_IN_PLACE, node, 1, MPI_INT, MPI_MAX, g->leaders);
}

int rmai_group_reduce(struct rmai_world *w, const char *call, const struct rmai_team *t, enum rmai_among among,
                      void *data, size_t n, size_t size, MPI_Datatype type, MPI_Op op, int exactly_alike) {
    const size_t piece = PIECE / size;
    MPI_Request request;
    int code = RMA_SUCCESS, rank;
    MPI_Comm_rank(communicator_of(t, among), &rank);
    for (size_t done = 0; code == RMA_SUCCESS && done < n; done += piece) {
        int count = (int)rmai_min(n - done, piece);
        char *at = (char *)data + done * size;
        if (!exactly_alike) {
            code = BEGUN_AND_DONE(MPI_Iallreduce, MPI_IN_PLACE, at, count, type, op, communicator_of(t, among));
            continue;
        }
        /* One PE does the sums; what the others get is the same, bit by bit. */
        code = BEGUN_AND_DONE(MPI_Ireduce, rank == 0 ? MPI_IN_PLACE : at, at, count, type, op, 0,
                              communicator_of(t, among));
        if (code == RMA_SUCCESS) code = BEGUN_AND_DONE(MPI_Ibcast, at, count, type, 0, communicator_of(t, among));
    }
    return code;
}

int rmai_group_scan(struct rmai_world *w, const char *call, const struct rmai_team *t, enum rmai_scan kind, void *data,
                    size_t n, size_t size, MPI_Datatype type, MPI_Op op) {
    const size_t piece = PIECE / size;
    MPI_Request request;
    int code = RMA_SUCCESS;
    for (size_t done = 0; code == RMA_SUCCESS && done < n; done += piece) {
        int count = (int)rmai_min(n - done, piece);
        char *at = (char *)data + done * size;
        if (kind == RMAI_INCLUSIVE)
            code = BEGUN_AND_DONE(MPI_Iscan, MPI_IN_PLACE, at, count, type, op, t->group.all);
        else
            code = BEGUN_AND_DONE(MPI_Iexscan, MPI_IN_PLACE, at, count, type, op, t->group.all);
    }
    return code;
}

int rmai_group_lengths(struct rmai_world *w, const char *call, const struct rmai_team *t, enum rmai_among among,
                       size_t mine, size_t *len) {
    uint64_t word = mine;
    MPI_Request request;
    _Static_assert(sizeof *len == sizeof word, "lengths travel as they are");
    return BEGUN_AND_DONE(MPI_Iallgather, &word, 1, MPI_UINT64_T, len, 1, MPI_UINT64_T, communicator_of(t, among));
}

/* Each part in turn, where MPI's counts do not reach. */
static int gather_one_by_one(struct rmai_world *w, const char *call, const struct rmai_team *t, enum rmai_among among,
                             char *dest, const size_t *len, const size_t *at, int n) {
    int code = RMA_SUCCESS;
    for (int i = 0; i < n && code == RMA_SUCCESS; i++)
        code = rmai_group_broadcast(w, call, t, among, dest + at[i], len[i], i);
    return code;
}

int rmai_group_gather(struct rmai_world *w, const char *call, const struct rmai_team *t, enum rmai_among among,
                      char *dest, const size_t *len, const size_t *at) {
    const int n = among == RMAI_LEADERS ? t->group.n_nodes : t->n;
    MPI_Request request;
    int *count = t->group.counts, fits = 1, alike = 1;
    for (int i = 0; i < n; i++) {
        fits &= len[i] <= INT_MAX && at[i] <= INT_MAX;
        alike &= len[i] == len[0] && at[i] == (size_t)i * len[0];
    }
    if (!fits) return gather_one_by_one(w, call, t, among, dest, len, at, n);
    if (alike)
        return BEGUN_AND_DONE(MPI_Iallgather, MPI_IN_PLACE, 0, MPI_BYTE, dest, (int)len[0], MPI_BYTE,
                              communicator_of(t, among));
    for (int i = 0; i < n; i++) {
        count[i] = (int)len[i];
        count[n + i] = (int)at[i];
    }
    return BEGUN_AND_DONE(MPI_Iallgatherv, MPI_IN_PLACE, 0, MPI_BYTE, dest, count, count + n, MPI_BYTE,
                          communicator_of(t, among));
}

/* Messages of two PEs keep their order: one tag does. */
#define SWAP_TAG 0

int rmai_group_swap_begin(const char *call, const struct rmai_team *t, struct rmai_group_swap *s, int i,
                          const void *out, void *in, size_t len) {
    const MPI_Comm comm = t->group.all;
    MPI_Request request;
    int code;
    s->out = s->in = RMAI_NO_TOKEN;
    code = rmai_mpi(MPI_Irecv(in, (int)len, MPI_BYTE, i, SWAP_TAG, comm, &request), call, "MPI_Irecv");
    if (code != RMA_SUCCESS) return code;
    s->in = rmai_token_of(request);
    code = rmai_mpi(MPI_Isend(out, (int)len, MPI_BYTE, i, SWAP_TAG, comm, &request), call, "MPI_Isend");
    if (code == RMA_SUCCESS) s->out = rmai_token_of(request);
    return code;
}

int rmai_group_swap_end(struct rmai_world *w, const char *call, const struct rmai_team *t, struct rmai_group_swap *s) {
    int code = rmai_net_finish(&w->net, call, "MPI_Irecv", &s->in, t);
    return code == RMA_SUCCESS ? rmai_net_finish(&w->net, call, "MPI_Isend", &s->out, t) : code;
}

void rmai_group_swap_drop(struct rmai_world *w, struct rmai_group_swap *s) {
    rmai_token_drop(w->net.transport, &s->in, 1);
    rmai_token_drop(w->net.transport, &s->out, 0);
}
