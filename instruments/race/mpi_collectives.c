/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI's collectives: a process comes after those whose data it receives, and all come after all in a barrier. The
 * buffers are read and written as the call says; a nonblocking call uses them until its request is complete. */
#include "config.h"

#include <stdlib.h>

#include "instruments/race/mpi_calls.h"
#include "instruments/race/mpi_comms.h"
#include "instruments/race/mpi_messages.h"
#include "instruments/race/mpi_report.h"
#include "instruments/race/mpi_requests.h"

/* A call under way: with a request (r), or until it returns. */
struct meeting {
    const struct race_comm *c;
    struct race_request *r;
    uint32_t place;
    int watched, writes; /* writes: the buffers that follow are written */
};

static void buffer(const struct meeting *m, const void *p, int count, MPI_Datatype type, int write) {
    if (!m->watched || count <= 0 || p == MPI_IN_PLACE) return;
    if (m->r)
        race_request_buffer(m->r, p, (size_t)count, type, write, m->place);
    else if (write == m->writes) /* first what is read, and after the call what is written */
        race_buffer_now(p, (size_t)count, type, SIZE_MAX, write, m->place);
}

static const char *after(const void *p, MPI_Aint n, MPI_Datatype type) {
    MPI_Aint lb, extent = 0;
    PMPI_Type_get_extent(type, &lb, &extent);
    return (const char *)p + n * extent;
}

/* One block for each process. */
static void blocks(const struct meeting *m, const void *p, const int *counts, const int *displacements,
                   MPI_Datatype type, int write) {
    for (int i = 0; m->watched && p != MPI_IN_PLACE && i < m->c->n_far; i++)
        buffer(m, after(p, displacements[i], type), counts[i], type, write);
}

static void blocks_w(const struct meeting *m, const void *p, const int *counts, const int *displacements,
                     const MPI_Datatype *types, int write) {
    for (int i = 0; m->watched && p != MPI_IN_PLACE && i < m->c->n_far; i++)
        buffer(m, (const char *)p + displacements[i], counts[i], types[i], write);
}

static int sum(const struct meeting *m, const int *counts) {
    int all = 0;
    for (int i = 0; m->watched && i < m->c->n_far; i++) all += counts[i];
    return all;
}

#define IS_ROOT (m.watched && m.c->me == root)
#define N       (m.watched ? m.c->n_far : 0)
#define ME      (m.watched ? m.c->me : 0)

/* FROM: whose knowledge the process has after the call. BUFFERS: what it reads and writes. CALL and its nonblocking
 * form I ## CALL. */
#define BLOCKING(CALL, PARAMETERS, FROM, BUFFERS, ...)                                                                 \
    API int MPI_##CALL PARAMETERS {                                                                                    \
        RACE_NEXT(MPI_##CALL);                                                                                         \
        struct meeting m = {.watched = 0};                                                                             \
        int result;                                                                                                    \
        if (race_watches() && (m.c = race_comm_of(comm)) && m.c->group) {                                              \
            m.watched = 1;                                                                                             \
            m.place = RACE_PLACE(MPI_##CALL);                                                                          \
            BUFFERS;                                                                                                   \
            race_group_enter(m.c->group, 0, 0);                                                                        \
        }                                                                                                              \
        RACE_FORWARD(result = next(__VA_ARGS__, comm));                                                                \
        if (m.watched) {                                                                                               \
            race_group_leave(m.c->group, FROM);                                                                        \
            m.writes = 1;                                                                                              \
            BUFFERS;                                                                                                   \
        }                                                                                                              \
        return result;                                                                                                 \
    }
#define NONBLOCKING(CALL, PARAMETERS, FROM, BUFFERS, ...)                                                              \
    API int MPI_I##CALL PARAMETERS {                                                                                   \
        RACE_NEXT(MPI_I##CALL);                                                                                        \
        struct meeting m = {.watched = 0};                                                                             \
        int result;                                                                                                    \
        if (race_watches() && (m.c = race_comm_of(comm)) && m.c->group &&                                              \
            (m.r = race_request_new(RACE_REQUEST_COLLECTIVE))) {                                                       \
            m.watched = 1;                                                                                             \
            m.place = RACE_PLACE(MPI_I##CALL);                                                                         \
            m.r->group = m.c->group;                                                                                   \
            m.r->from = FROM;                                                                                          \
            BUFFERS;                                                                                                   \
            m.r->call = race_group_start(m.c->group);                                                                  \
        }                                                                                                              \
        RACE_FORWARD(result = next(__VA_ARGS__, comm, request));                                                       \
        race_request_made(m.r, result, request);                                                                       \
        return result;                                                                                                 \
    }
#define LIST(...) __VA_ARGS__
#define BOTH(BIG, SMALL, PARAMETERS, FROM, BUFFERS, ...)                                                               \
    BLOCKING(BIG, (PARAMETERS, MPI_Comm comm), FROM, BUFFERS, __VA_ARGS__)                                             \
    NONBLOCKING(SMALL, (PARAMETERS, MPI_Comm comm, MPI_Request * request), FROM, BUFFERS, __VA_ARGS__)

#define READS(P, COUNT, TYPE)  buffer(&m, P, COUNT, TYPE, 0)
#define WRITES(P, COUNT, TYPE) buffer(&m, P, COUNT, TYPE, 1)

/* A root of a broadcast gives, the others get. */
BOTH(Bcast, bcast, LIST(void *data, int n, MPI_Datatype type, int root), root, buffer(&m, data, n, type, ME != root),
     data, n, type, root)
BOTH(Reduce, reduce, LIST(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, int root),
     IS_ROOT ? RACE_ALL : ME, (READS(from, n, type), IS_ROOT ? WRITES(to, n, type) : (void)0), from, to, n, type, op,
     root)
BOTH(Allreduce, allreduce, LIST(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op), RACE_ALL,
     (READS(from, n, type), WRITES(to, n, type)), from, to, n, type, op)
BOTH(Scan, scan, LIST(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op), RACE_BEFORE,
     (READS(from, n, type), WRITES(to, n, type)), from, to, n, type, op)
BOTH(Exscan, exscan, LIST(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op), RACE_BEFORE,
     (READS(from, n, type), ME > 0 ? WRITES(to, n, type) : (void)0), from, to, n, type, op)
BOTH(Reduce_scatter_block, reduce_scatter_block, LIST(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op),
     RACE_ALL, (READS(from, n *N, type), WRITES(to, n, type)), from, to, n, type, op)
BOTH(Reduce_scatter, reduce_scatter, LIST(const void *from, void *to, const int *n, MPI_Datatype type, MPI_Op op),
     RACE_ALL, (READS(from, sum(&m, n), type), WRITES(to, n[ME], type)), from, to, n, type, op)
BOTH(Gather, gather,
     LIST(const void *from, int n, MPI_Datatype type, void *to, int to_n, MPI_Datatype to_type, int root),
     IS_ROOT ? RACE_ALL : ME, (READS(from, n, type), IS_ROOT ? WRITES(to, to_n *N, to_type) : (void)0), from, n, type,
     to, to_n, to_type, root)
BOTH(Gatherv, gatherv,
     LIST(const void *from, int n, MPI_Datatype type, void *to, const int *to_n, const int *displacements,
          MPI_Datatype to_type, int root),
     IS_ROOT ? RACE_ALL : ME,
     (READS(from, n, type), IS_ROOT ? blocks(&m, to, to_n, displacements, to_type, 1) : (void)0), from, n, type, to,
     to_n, displacements, to_type, root)
BOTH(Scatter, scatter,
     LIST(const void *from, int n, MPI_Datatype type, void *to, int to_n, MPI_Datatype to_type, int root), root,
     (IS_ROOT ? READS(from, n *N, type) : (void)0, WRITES(to, to_n, to_type)), from, n, type, to, to_n, to_type, root)
BOTH(Scatterv, scatterv,
     LIST(const void *from, const int *n, const int *displacements, MPI_Datatype type, void *to, int to_n,
          MPI_Datatype to_type, int root),
     root, (IS_ROOT ? blocks(&m, from, n, displacements, type, 0) : (void)0, WRITES(to, to_n, to_type)), from, n,
     displacements, type, to, to_n, to_type, root)
BOTH(Allgather, allgather, LIST(const void *from, int n, MPI_Datatype type, void *to, int to_n, MPI_Datatype to_type),
     RACE_ALL, (READS(from, n, type), WRITES(to, to_n *N, to_type)), from, n, type, to, to_n, to_type)
BOTH(Allgatherv, allgatherv,
     LIST(const void *from, int n, MPI_Datatype type, void *to, const int *to_n, const int *displacements,
          MPI_Datatype to_type),
     RACE_ALL, (READS(from, n, type), blocks(&m, to, to_n, displacements, to_type, 1)), from, n, type, to, to_n,
     displacements, to_type)
BOTH(Alltoall, alltoall, LIST(const void *from, int n, MPI_Datatype type, void *to, int to_n, MPI_Datatype to_type),
     RACE_ALL, (READS(from, n *N, type), WRITES(to, to_n *N, to_type)), from, n, type, to, to_n, to_type)
BOTH(Alltoallv, alltoallv,
     LIST(const void *from, const int *n, const int *displacements, MPI_Datatype type, void *to, const int *to_n,
          const int *to_displacements, MPI_Datatype to_type),
     RACE_ALL, (blocks(&m, from, n, displacements, type, 0), blocks(&m, to, to_n, to_displacements, to_type, 1)), from,
     n, displacements, type, to, to_n, to_displacements, to_type)
BOTH(Alltoallw, alltoallw,
     LIST(const void *from, const int *n, const int *displacements, const MPI_Datatype *types, void *to,
          const int *to_n, const int *to_displacements, const MPI_Datatype *to_types),
     RACE_ALL, (blocks_w(&m, from, n, displacements, types, 0), blocks_w(&m, to, to_n, to_displacements, to_types, 1)),
     from, n, displacements, types, to, to_n, to_displacements, to_types)

API int MPI_Barrier(MPI_Comm comm) {
    RACE_NEXT(MPI_Barrier);
    struct race_group *g = NULL;
    int result;
    if (race_watches()) {
        const struct race_comm *c = race_comm_of(comm);
        (void)race_called(CALLS_HERE, CALLS_FRAME);
        g = c ? c->group : NULL;
    }
    race_group_enter(g, 0, 0);
    RACE_FORWARD(result = next(comm));
    race_group_leave(g, RACE_ALL);
    return result;
}

API int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request) {
    RACE_NEXT(MPI_Ibarrier);
    struct race_request *r = NULL;
    const struct race_comm *c;
    int result;
    if (race_watches() && (c = race_comm_of(comm)) && c->group && (r = race_request_new(RACE_REQUEST_COLLECTIVE))) {
        r->group = c->group;
        r->from = RACE_ALL;
        r->call = race_group_start(c->group);
    }
    RACE_FORWARD(result = next(comm, request));
    race_request_made(r, result, request);
    return result;
}
