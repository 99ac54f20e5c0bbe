/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "instruments/race/mpi_comms.h"

#include <stdlib.h>
#include <string.h>

#include "instruments/race/mpi_calls.h"
#include "instruments/race/spin.h"

static struct race_comm *comms;
static uint32_t comms_lock;

int *race_pes_of_group(MPI_Group group, int *n) {
    MPI_Group world;
    int *ranks = NULL, *pes = NULL;
    *n = 0;
    if (group == MPI_GROUP_NULL || PMPI_Group_size(group, n) != MPI_SUCCESS) return NULL;
    ranks = malloc((size_t)(*n + 1) * sizeof *ranks);
    pes = malloc((size_t)(*n + 1) * sizeof *pes);
    if (ranks && pes && PMPI_Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS) {
        for (int i = 0; i < *n; i++) ranks[i] = i;
        PMPI_Group_translate_ranks(group, *n, ranks, world, pes);
        for (int i = 0; i < *n; i++)
            if (pes[i] < 0) pes[i] = -1; /* MPI_UNDEFINED */
        PMPI_Group_free(&world);
    }
    free(ranks);
    return pes;
}

static int all_known(const int *pes, int n) {
    for (int i = 0; i < n; i++)
        if (pes[i] < 0) return 0;
    return 1;
}

static uint64_t hash_of(const int *pes, int n) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (int i = 0; i < n; i++) hash = (hash ^ (uint64_t)(pes[i] + 1)) * 0x100000001b3u;
    return hash;
}

/* A number that no other communicator has. Numbers are reused, so that communicators of the same processes that exist
 * one after the other are one group (group.h): their calls have one order. 0: all are taken; those communicators of the
 * same processes share a group. */
static uint32_t new_id(void) {
    for (uint32_t id = 1; id < RACE_COMM_IDS; id++) {
        const uint64_t bit = (uint64_t)1 << id % 64;
        if (!(__atomic_fetch_or(&race_job.header->comm_ids[id / 64], bit, __ATOMIC_RELAXED) & bit)) return id;
    }
    return 0;
}

static uint64_t agree_on_id(MPI_Comm comm, int me) {
    uint32_t id = me == 0 ? new_id() : 0;
    return PMPI_Bcast(&id, 1, MPI_UINT32_T, 0, comm) == MPI_SUCCESS ? id : 0;
}

/* together: all its processes call this now. If not, the number follows from the processes, and communicators of the
 * same processes share it. */
static struct race_comm *new_comm(MPI_Comm comm, int together) {
    struct race_comm *c = calloc(1, sizeof *c);
    MPI_Group mine, theirs;
    int inter = 0;
    if (!c) return NULL;
    c->handle = comm;
    PMPI_Comm_test_inter(comm, &inter);
    PMPI_Comm_rank(comm, &c->me);
    if (PMPI_Comm_group(comm, &mine) == MPI_SUCCESS) {
        c->pes = race_pes_of_group(mine, &c->n);
        PMPI_Group_free(&mine);
    }
    if (inter && PMPI_Comm_remote_group(comm, &theirs) == MPI_SUCCESS) {
        c->far_pes = race_pes_of_group(theirs, &c->n_far);
        PMPI_Group_free(&theirs);
    } else {
        c->far_pes = c->pes;
        c->n_far = c->n;
    }
    if (!c->pes || !c->far_pes) {
        free(c);
        return NULL;
    }
    if (inter)
        c->id = hash_of(c->pes, c->n) ^ hash_of(c->far_pes, c->n_far);
    else if (together)
        c->numbered = 1, c->id = agree_on_id(comm, c->me);
    else
        c->id = hash_of(c->pes, c->n) | (uint64_t)1 << 63;
    if (!inter && all_known(c->pes, c->n)) c->group = race_group_named(c->pes, c->n, c->id);
    if (!inter && !c->group && all_known(c->pes, c->n)) c->group = race_group_of(c->pes, c->n);
    race_spin_lock(&comms_lock);
    c->next = comms;
    comms = c;
    race_spin_unlock(&comms_lock);
    return c;
}

struct race_comm *race_comm_of(MPI_Comm comm) {
    struct race_comm *c;
    if (comm == MPI_COMM_NULL) return NULL;
    race_spin_lock(&comms_lock);
    for (c = comms; c && c->handle != comm;) c = c->next;
    race_spin_unlock(&comms_lock);
    if (!c) RACE_FORWARD(c = new_comm(comm, 0));
    return c;
}

void race_comm_made(MPI_Comm comm) {
    /* Also for a thread that is not watched: the others wait for it. */
    if (race_job.on && !race_inside && comm != MPI_COMM_NULL) RACE_FORWARD(new_comm(comm, 1));
}

void race_comm_gone(MPI_Comm comm) {
    race_spin_lock(&comms_lock);
    for (struct race_comm **p = &comms; *p; p = &(*p)->next)
        if ((*p)->handle == comm) {
            struct race_comm *c = *p;
            *p = c->next;
            if (c->me == 0 && c->numbered && c->id)
                __atomic_fetch_and(&race_job.header->comm_ids[c->id / 64], ~((uint64_t)1 << c->id % 64),
                                   __ATOMIC_RELAXED);
            if (c->far_pes != c->pes) free(c->far_pes);
            free(c->pes);
            free(c);
            break;
        }
    race_spin_unlock(&comms_lock);
}

int race_comm_pe(const struct race_comm *c, int rank) {
    return c && rank >= 0 && rank < c->n_far ? c->far_pes[rank] : -1;
}

/* ---- the calls that make and free them ---- */

/* All processes of a communicator meet in the calls that make others of it: nothing is ordered, since MPI does not
 * promise that. */
#define MAKES(CALL, PARAMETERS, ...)                                                                                   \
    API int CALL PARAMETERS {                                                                                          \
        RACE_NEXT(CALL);                                                                                               \
        int result;                                                                                                    \
        RACE_FORWARD(result = next(__VA_ARGS__));                                                                      \
        if (result == MPI_SUCCESS && made) race_comm_made(*made);                                                      \
        return result;                                                                                                 \
    }
MAKES(MPI_Comm_dup, (MPI_Comm comm, MPI_Comm *made), comm, made)
MAKES(MPI_Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *made), comm, info, made)
MAKES(MPI_Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made), comm, color, key, made)
MAKES(MPI_Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made), comm, type, key, info,
      made)
MAKES(MPI_Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made), comm, group, made)
MAKES(MPI_Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made), comm, group, tag, made)
MAKES(MPI_Cart_create, (MPI_Comm comm, int dims, const int *n, const int *periods, int reorder, MPI_Comm *made), comm,
      dims, n, periods, reorder, made)
MAKES(MPI_Cart_sub, (MPI_Comm comm, const int *keep, MPI_Comm *made), comm, keep, made)
MAKES(MPI_Graph_create, (MPI_Comm comm, int n, const int *index, const int *edges, int reorder, MPI_Comm *made), comm,
      n, index, edges, reorder, made)
MAKES(MPI_Dist_graph_create_adjacent,
      (MPI_Comm comm, int in, const int *sources, const int *in_weights, int out, const int *destinations,
       const int *out_weights, MPI_Info info, int reorder, MPI_Comm *made),
      comm, in, sources, in_weights, out, destinations, out_weights, info, reorder, made)
MAKES(MPI_Dist_graph_create,
      (MPI_Comm comm, int n, const int *sources, const int *degrees, const int *destinations, const int *weights,
       MPI_Info info, int reorder, MPI_Comm *made),
      comm, n, sources, degrees, destinations, weights, info, reorder, made)
MAKES(MPI_Intercomm_merge, (MPI_Comm comm, int high, MPI_Comm *made), comm, high, made)
MAKES(MPI_Intercomm_create, (MPI_Comm local, int leader, MPI_Comm peer, int far_leader, int tag, MPI_Comm *made), local,
      leader, peer, far_leader, tag, made)

API int MPI_Comm_free(MPI_Comm *comm) {
    RACE_NEXT(MPI_Comm_free);
    int result;
    if (comm && !race_inside) race_comm_gone(*comm);
    RACE_FORWARD(result = next(comm));
    return result;
}

API int MPI_Comm_disconnect(MPI_Comm *comm) {
    RACE_NEXT(MPI_Comm_disconnect);
    int result;
    if (comm && !race_inside) race_comm_gone(*comm);
    RACE_FORWARD(result = next(comm));
    return result;
}
