/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI's one-sided communication, as librma_mpi has it (rma_mpi), and those collectives of MPI in which a program with
 * windows waits for others. librma's own calls of MPI pass through unrecorded. */
#include "config.h"

#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

#include "rma.h"

#include "instruments/trace/calls.h"

#define API __attribute__((visibility("default")))

/* ---- windows: whose memory a rank is ---- */

static struct window {
    MPI_Win win;
    int gone;
    uint64_t place; /* the same on all its PEs, different for windows of the same PEs */
    struct trace_group_of *group;
    struct window *next;
} * windows;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct trace_group_of *ask_for_group(MPI_Win win) {
    MPI_Group mine, world;
    int n = 0, *ranks, *pes;
    struct trace_group_of *g = NULL;
    if (MPI_Win_get_group(win, &mine) != MPI_SUCCESS) return NULL;
    PMPI_Group_size(mine, &n);
    ranks = malloc((size_t)(n + 1) * sizeof *ranks);
    pes = malloc((size_t)(n + 1) * sizeof *pes);
    if (ranks && pes && n > 0 && PMPI_Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS) {
        for (int i = 0; i < n; i++) ranks[i] = i;
        if (PMPI_Group_translate_ranks(mine, n, ranks, world, pes) == MPI_SUCCESS) {
            g = trace_group_of_pes(pes, n);
            pes = NULL;
        }
        PMPI_Group_free(&world);
    }
    free(ranks);
    free(pes);
    PMPI_Group_free(&mine);
    return g;
}

static struct window *window_of(MPI_Win win) {
    struct window *w;
    for (w = __atomic_load_n(&windows, __ATOMIC_ACQUIRE); w; w = w->next)
        if (w->win == win && !w->gone) return w;
    w = malloc(sizeof *w);
    if (!w) return NULL;
    *w = (struct window){.win = win, .group = ask_for_group(win)};
    w->place = w->group ? w->group->hash : 0;
    pthread_mutex_lock(&lock);
    for (const struct window *other = windows; other; other = other->next)
        if (other->group && w->group && other->group->hash == w->group->hash) w->place++;
    w->next = windows;
    __atomic_store_n(&windows, w, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
    return w;
}

static struct trace_group_of *group_of(MPI_Win win) {
    const struct window *w = window_of(win);
    return w ? w->group : NULL;
}

static uint64_t place_in(MPI_Win win, MPI_Aint disp) {
    const struct window *w = window_of(win);
    const uint64_t hash = ((uint64_t)disp ^ (w ? w->place * 0x9e3779b97f4a7c15u : 0)) * 0xd6e8feb86659fd93u;
    return TRACE_WINDOW_PLACE | (hash >> 5 << 3);
}

static void forget(MPI_Win win) {
    for (struct window *w = windows; w; w = w->next)
        if (w->win == win) w->gone = 1;
}

static uint64_t size_of(MPI_Datatype type, MPI_Count n) {
    int size = 0;
    return type != MPI_DATATYPE_NULL && PMPI_Type_size(type, &size) == MPI_SUCCESS && size > 0 && n > 0
               ? (uint64_t)size * (uint64_t)n
               : 0;
}

/* ---- accesses ---- */

#define MPI_CALL(KIND, CALL, PARAMETERS, PE, BYTES, ADDR, ...)                                                         \
    API int CALL PARAMETERS {                                                                                          \
        TRACE_NEXT(CALL);                                                                                              \
        int result;                                                                                                    \
        if (trace_is_library(CALLS_HERE)) return next(__VA_ARGS__);                                                    \
        TRACE_CALL(KIND, #CALL, PE, BYTES, ADDR, 0, result = next(__VA_ARGS__));                                       \
        return result;                                                                                                 \
    }
#define ACCESS(KIND, CALL, PARAMETERS, BYTES, ...)                                                                     \
    MPI_CALL(KIND, CALL, PARAMETERS, trace_group_pe(group_of(win), rank), BYTES, place_in(win, disp), __VA_ARGS__)

#define NEAR(ORIGIN, COUNT) ORIGIN void *origin, COUNT n, MPI_Datatype type
#define FAR(COUNT)          int rank, MPI_Aint disp, COUNT far_n, MPI_Datatype far_type
#define NEAR_ARGUMENTS      origin, n, type
#define FAR_ARGUMENTS       rank, disp, far_n, far_type
#define ACCESSES(C, COUNT)                                                                                             \
    ACCESS(TRACE_PUT_NBI, MPI_Put##C, (NEAR(const, COUNT), FAR(COUNT), MPI_Win win), size_of(type, n), NEAR_ARGUMENTS, \
           FAR_ARGUMENTS, win)                                                                                         \
    ACCESS(TRACE_GET_NBI, MPI_Get##C, (NEAR(, COUNT), FAR(COUNT), MPI_Win win), size_of(type, n), NEAR_ARGUMENTS,      \
           FAR_ARGUMENTS, win)                                                                                         \
    ACCESS(TRACE_ATOMIC, MPI_Accumulate##C, (NEAR(const, COUNT), FAR(COUNT), MPI_Op op, MPI_Win win), 0,               \
           NEAR_ARGUMENTS, FAR_ARGUMENTS, op, win)                                                                     \
    ACCESS(TRACE_ATOMIC, MPI_Get_accumulate##C,                                                                        \
           (NEAR(const, COUNT), void *into, COUNT into_n, MPI_Datatype into_type, FAR(COUNT), MPI_Op op, MPI_Win win), \
           0, NEAR_ARGUMENTS, into, into_n, into_type, FAR_ARGUMENTS, op, win)                                         \
    ACCESS(TRACE_PUT_NBI, MPI_Rput##C, (NEAR(const, COUNT), FAR(COUNT), MPI_Win win, MPI_Request * request),           \
           size_of(type, n), NEAR_ARGUMENTS, FAR_ARGUMENTS, win, request)                                              \
    ACCESS(TRACE_GET_NBI, MPI_Rget##C, (NEAR(, COUNT), FAR(COUNT), MPI_Win win, MPI_Request * request),                \
           size_of(type, n), NEAR_ARGUMENTS, FAR_ARGUMENTS, win, request)                                              \
    ACCESS(TRACE_ATOMIC, MPI_Raccumulate##C,                                                                           \
           (NEAR(const, COUNT), FAR(COUNT), MPI_Op op, MPI_Win win, MPI_Request * request), 0, NEAR_ARGUMENTS,         \
           FAR_ARGUMENTS, op, win, request)                                                                            \
    ACCESS(TRACE_ATOMIC, MPI_Rget_accumulate##C,                                                                       \
           (NEAR(const, COUNT), void *into, COUNT into_n, MPI_Datatype into_type, FAR(COUNT), MPI_Op op, MPI_Win win,  \
            MPI_Request *request),                                                                                     \
           0, NEAR_ARGUMENTS, into, into_n, into_type, FAR_ARGUMENTS, op, win, request)
ACCESSES(, int)
#if MPI_VERSION >= 4
ACCESSES(_c, MPI_Count)
#endif
ACCESS(op == MPI_NO_OP ? TRACE_FETCH : TRACE_ATOMIC, MPI_Fetch_and_op,
       (const void *origin, void *into, MPI_Datatype type, int rank, MPI_Aint disp, MPI_Op op, MPI_Win win), 0, origin,
       into, type, rank, disp, op, win)
ACCESS(TRACE_ATOMIC, MPI_Compare_and_swap,
       (const void *origin, const void *compare, void *into, MPI_Datatype type, int rank, MPI_Aint disp, MPI_Win win),
       0, origin, compare, into, type, rank, disp, win)

/* ---- epochs ---- */

#define OF_WINDOW(KIND, CALL, PARAMETERS, ...) MPI_CALL(KIND, CALL, PARAMETERS, -1, 0, 0, __VA_ARGS__)
OF_WINDOW(TRACE_QUIET, MPI_Win_flush, (int rank, MPI_Win win), rank, win)
OF_WINDOW(TRACE_QUIET, MPI_Win_flush_all, (MPI_Win win), win)
OF_WINDOW(TRACE_QUIET, MPI_Win_flush_local, (int rank, MPI_Win win), rank, win)
OF_WINDOW(TRACE_QUIET, MPI_Win_flush_local_all, (MPI_Win win), win)
OF_WINDOW(TRACE_QUIET, MPI_Win_complete, (MPI_Win win), win)
OF_WINDOW(TRACE_QUIET, MPI_Win_unlock, (int rank, MPI_Win win), rank, win)
OF_WINDOW(TRACE_QUIET, MPI_Win_unlock_all, (MPI_Win win), win)
MPI_CALL(TRACE_LOCK, MPI_Win_lock, (int type, int rank, int assert, MPI_Win win), -1, 0, TRACE_NOWHERE, type, rank,
         assert, win)
MPI_CALL(TRACE_WAIT, MPI_Win_start, (MPI_Group group, int assert, MPI_Win win), -1, 0, TRACE_NOWHERE, group, assert,
         win)
MPI_CALL(TRACE_WAIT, MPI_Win_wait, (MPI_Win win), -1, 0, TRACE_NOWHERE, win)

/* All PEs of a window make it, and so know it from its creation on, in the same order. */
#define MAKES(CALL, PARAMETERS, ...)                                                                                   \
    API int CALL PARAMETERS {                                                                                          \
        TRACE_NEXT(CALL);                                                                                              \
        int result = next(__VA_ARGS__);                                                                                \
        if (result == MPI_SUCCESS && !trace_is_library(CALLS_HERE)) window_of(*win);                                   \
        return result;                                                                                                 \
    }
#define MAKES_ALL(C, COUNT)                                                                                            \
    MAKES(MPI_Win_create##C, (void *base, MPI_Aint size, COUNT unit, MPI_Info info, MPI_Comm comm, MPI_Win *win),      \
          base, size, unit, info, comm, win)                                                                           \
    MAKES(MPI_Win_allocate##C, (MPI_Aint size, COUNT unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win),    \
          size, unit, info, comm, base, win)                                                                           \
    MAKES(MPI_Win_allocate_shared##C,                                                                                  \
          (MPI_Aint size, COUNT unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win), size, unit, info, comm, \
          base, win)
MAKES_ALL(, int)
#if MPI_VERSION >= 4
MAKES_ALL(_c, MPI_Aint)
#endif
MAKES(MPI_Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *win), info, comm, win)

API int MPI_Win_fence(int assert, MPI_Win win) {
    TRACE_NEXT(MPI_Win_fence);
    int result;
    if (trace_is_library(CALLS_HERE)) return next(assert, win);
    TRACE_MEET(TRACE_COLLECTIVE, "MPI_Win_fence", group_of(win), -1, 0, result = next(assert, win));
    return result;
}

API int MPI_Win_free(MPI_Win *win) {
    TRACE_NEXT(MPI_Win_free);
    int result;
    if (trace_is_library(CALLS_HERE)) return next(win);
    if (win) forget(*win);
    TRACE_MEET(TRACE_COLLECTIVE, "MPI_Win_free", NULL, -1, 0, result = next(win));
    return result;
}

/* ---- collectives ---- */

#define COLLECTIVE(KIND, CALL, PARAMETERS, BYTES, ...)                                                                 \
    API int CALL PARAMETERS {                                                                                          \
        TRACE_NEXT(CALL);                                                                                              \
        int result;                                                                                                    \
        if (trace_is_library(CALLS_HERE)) return next(__VA_ARGS__);                                                    \
        TRACE_MEET(KIND, #CALL, comm == MPI_COMM_WORLD ? trace_mpi_world() : NULL, -1, BYTES,                          \
                   result = next(__VA_ARGS__));                                                                        \
        return result;                                                                                                 \
    }

/* A count of its own: MPI's collectives and librma's have no common order. */
static struct trace_group_of *trace_mpi_world(void) {
    static struct trace_group_of mpi_world;
    struct trace_group_of *w = trace_world();
    if (!w) return NULL;
    mpi_world.hash = w->hash + 1;
    mpi_world.n = w->n;
    mpi_world.pes = w->pes;
    return &mpi_world;
}

COLLECTIVE(TRACE_COLLECTIVE, MPI_Barrier, (MPI_Comm comm), 0, comm)
COLLECTIVE(TRACE_COLLECTIVE, MPI_Allreduce,
           (const void *source, void *dest, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm), size_of(type, n),
           source, dest, n, type, op, comm)
