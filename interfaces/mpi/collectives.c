/* SPDX-License-Identifier: BSD-3-Clause */
/* One team of librma serves all communicators that have the processes of MPI_COMM_WORLD in its order: without
 * concurrent threads, all processes call the blocking collectives of such communicators in one order (MPI-3.1, section
 * 5.13, examples 5.24 and 5.25).
 *
 * Other collectives wait in MPI, or test for MPI's event and serve other nodes (interfaces/mpi/waits.c says when). */
#include "config.h"

#include "interfaces/mpi/collectives.h"
#include "interfaces/mpi/errors.h"
#include "interfaces/mpi/comm.h"
#include "interfaces/mpi/requests.h"
#include "interfaces/mpi/state.h"
#include "interfaces/mpi/types.h"

#include <stdlib.h>
#include <string.h>

#define ROOM ((size_t)64 << 10) /* bytes that all processes together give to a call of librma's, at most */

static rma_team *team = RMA_TEAM_INVALID;
static int keyval = MPI_KEYVAL_INVALID; /* of a communicator: &ours, or &others */
static char ours, others;               /* their addresses are the values */
static MPI_Comm latest = MPI_COMM_NULL; /* a communicator that is ours */
static int me, n_processes;
static int reports; /* 0 in calls before which the program may compute for as long as it likes */

/* ---- MPI's progress ---- */

/* A request that is not complete while librma runs: each test of it drives MPI's progress. (MPICH's MPI_Iprobe does not
 * where it finds a message at once, and the program may leave one for later.) */
static MPI_Request never = MPI_REQUEST_NULL;

/* For messages of this process that are under way. Mostly there are none, so MPI is not driven at each poll of a wait;
 * but where it finds something, more follows soon: another part of a long message, the next step of a collective call.
 */
#define INTERVAL 10e-6 /* seconds */
static int drive_mpi(void) {
    static double last;
    int done, found;
    if (rma_wtime() - last < INTERVAL) return 0;
    rma_mpi_testing_ = 1;
    rma_mpi_listen_();
    PMPI_Test(&never, &done, MPI_STATUS_IGNORE);
    found = rma_mpi_heard_();
    rma_mpi_testing_ = 0;
    if (!found) last = rma_wtime();
    return found;
}

/* ---- which communicators ---- */

static int forget_comm(MPI_Comm comm, int key, void *value, void *extra) {
    (void)key, (void)value, (void)extra;
    if (comm == latest) latest = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

/* 1 if each process lets at most one thread at a time into MPI: the same in all of them. */
static int all_serialized(int *serialized) {
    int mine = !rmai_win_threads;
    return rma_reduce_("MPI_Init", RMA_TEAM_WORLD, RMA_OP_MIN, RMA_INT32, serialized, &mine, 1, -1);
}

int rmai_collectives_open(void) {
    int serialized = 0, code = RMA_SUCCESS;
    n_processes = rma_n_pes();
    me = rma_my_pe();
    if (n_processes == 1 || rma_node_n_pes() < n_processes) return RMA_SUCCESS;
    code = all_serialized(&serialized);
    if (code != RMA_SUCCESS || !serialized) return code;
    if (keyval == MPI_KEYVAL_INVALID &&
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_comm, &keyval, NULL) != MPI_SUCCESS)
        return rma_fail_(RMA_ERR_MPI, "MPI_Init: MPI has no attribute for communicators");
    if (never == MPI_REQUEST_NULL && rmai_win_request_begin(&never) != MPI_SUCCESS)
        return rma_fail_(RMA_ERR_MPI, "MPI_Init: MPI has no generalized request");
    code = rma_team_split_strided(RMA_TEAM_WORLD, 0, 1, n_processes, &team);
    return code == RMA_SUCCESS ? rma_team_drives_(team, drive_mpi, &reports) : code;
}

void rmai_collectives_close(void) {
    team = RMA_TEAM_INVALID;
    latest = MPI_COMM_NULL;
    if (never == MPI_REQUEST_NULL) return;
    PMPI_Grequest_complete(never);
    PMPI_Wait(&never, MPI_STATUS_IGNORE);
}

/* For a communicator that this process sees for the first time, or that was not the latest one. */
static __attribute__((noinline)) int find_comm(MPI_Comm comm) {
    char *value = NULL;
    int found = 0, result = MPI_UNEQUAL;
    if (PMPI_Comm_get_attr(comm, keyval, &value, &found) != MPI_SUCCESS) return 0;
    if (!found) {
        if (PMPI_Comm_compare(comm, MPI_COMM_WORLD, &result) != MPI_SUCCESS) return 0;
        value = result == MPI_IDENT || result == MPI_CONGRUENT ? &ours : &others;
        if (PMPI_Comm_set_attr(comm, keyval, value) != MPI_SUCCESS) return value == &ours;
    }
    if (value == &ours) latest = comm;
    return value == &ours;
}

static inline int is_ours(MPI_Comm comm) {
    if (comm == MPI_COMM_NULL) return 0;
    return team != RMA_TEAM_INVALID && rmai_win_running && (comm == latest || find_comm(comm));
}

int rmai_collectives_barrier(const char *call, MPI_Comm comm) {
    if (!is_ours(comm)) return 0;
    rma_call_as_(call);
    reports = 1;
    if (rma_team_sync(team) != RMA_SUCCESS) rmai_win_lost(call, "rma_team_sync");
    reports = 0;
    rma_call_as_(NULL);
    return 1;
}

int rmai_collectives_reduce(const char *call, MPI_Comm comm, const uint64_t *mine, uint64_t *all, int n, MPI_Op op) {
    if (!is_ours(comm)) return 0;
    rma_call_as_(call);
    reports = 1;
    if (rma_reduce_(call, team, op == MPI_SUM ? RMA_OP_SUM : RMA_OP_AND, RMA_UINT64, all, mine, (size_t)n, -1) !=
        RMA_SUCCESS)
        rmai_win_lost(call, "a reduction");
    reports = 0;
    rma_call_as_(NULL);
    return 1;
}

/* ---- data ---- */

/* A call of librma has failed: the error is the communicator's. */
static int end_call(MPI_Comm comm, int code) {
    rma_call_as_(NULL);
    return code == RMA_SUCCESS ? MPI_SUCCESS : rmai_win_comm_error(comm, MPI_ERR_OTHER, "%s", rma_last_error());
}

/* What is known of a type; NULL: it is none. All processes know the same: one that has no memory for it ends the job,
 * since it cannot tell whether the others wait for it in a call of librma's. */
static const struct rmai_datatype *type_of(const char *call, MPI_Datatype type) {
    const struct rmai_datatype *t = rmai_datatype_of(type);
    char from[8] = {0}, to[8];
    int at = 0;
    if (RMA_LIKELY_(t != NULL) || type == MPI_DATATYPE_NULL) return t;
    if (PMPI_Pack(from, 0, type, to, sizeof to, &at, rmai_win_self) == MPI_SUCCESS)
        rmai_win_lost(call, "the description of a datatype, for which there is no memory,");
    return NULL;
}

/* The bytes of n elements of a committed type; SIZE_MAX if something is wrong or it is not for librma. */
static size_t bytes_of(const struct rmai_datatype *t, int n) {
    size_t bytes;
    return t && n >= 0 && !__builtin_mul_overflow((size_t)n, t->size, &bytes) ? bytes : SIZE_MAX;
}

/* 1 if a process may give this address: NULL is MPI_BOTTOM, from where a derived type reaches its data. */
static int is_address(const void *address, const struct rmai_datatype *t) { return address || !t->plain; }

/* Element number i of an array. The array may be MPI_BOTTOM. */
static void *element_at(void *array, ptrdiff_t i, const struct rmai_datatype *t) {
    return (void *)((uintptr_t)array + (uintptr_t)(i * t->extent));
}

/* Copies n elements from MPI_BOTTOM to room, or back: MPICH's MPI_Pack and MPI_Unpack do not take that address. */
static int copy_absolute(const struct rmai_datatype *t, int n, char *room, int back) {
    struct rma_block *blocks;
    size_t n_blocks;
    if (!rmai_datatype_blocks(t, (size_t)n, &blocks, &n_blocks)) return MPI_ERR_NO_MEM;
    for (size_t i = 0; i < n_blocks; room += blocks[i++].len) {
        void *const data = (void *)(uintptr_t)blocks[i].offset;
        memcpy(back ? data : room, back ? room : data, blocks[i].len);
    }
    free(blocks);
    return MPI_SUCCESS;
}

static int pack_elements(const void *from, int n, const struct rmai_datatype *t, char *room, size_t bytes) {
    int at = 0;
    if (!from) return copy_absolute(t, n, room, 0);
    return PMPI_Pack(from, n, t->handle, room, (int)bytes, &at, rmai_win_self);
}

static int cannot_pack(const char *call, size_t bytes) {
    return rma_fail_(RMA_ERR_MPI, "%s: MPI cannot pack %zu bytes", call, bytes);
}

static int unpack_elements(char *room, size_t bytes, void *to, int n, const struct rmai_datatype *t) {
    int at = 0;
    if (!to) return copy_absolute(t, n, room, 1);
    return PMPI_Unpack(room, (int)bytes, &at, to, n, t->handle, rmai_win_self);
}

/* ---- the calls ---- */

RMAI_MPI_API int MPI_Barrier(MPI_Comm comm) {
    MPI_Request request;
    int code;
    if (is_ours(comm)) {
        rma_call_as_(__func__);
        return end_call(comm, rma_team_sync(team));
    }
    if (comm == MPI_COMM_NULL || !rmai_win_comm_serves(comm)) RMAI_WIN_RETURN_MPI(PMPI_Barrier(comm));
    code = PMPI_Ibarrier(comm, &request);
    return code == MPI_SUCCESS ? rmai_win_await_free(__func__, &request, MPI_STATUS_IGNORE) : code;
}

/* The types of the processes may differ, as long as the data are the same: the bytes are. */
static int broadcast(void *buffer, int n, const struct rmai_datatype *t, size_t bytes, int root, MPI_Comm comm) {
    char room[ROOM];
    void *const data = t->plain ? buffer : room;
    int code = MPI_SUCCESS;
    if (!t->plain && me == root) code = pack_elements(buffer, n, t, room, bytes);
    rma_call_as_("MPI_Bcast");
    code = end_call(comm, code == MPI_SUCCESS ? rma_broadcast(team, data, data, bytes, root)
                                              : cannot_pack("MPI_Bcast", bytes));
    if (code == MPI_SUCCESS && !t->plain && me != root) code = unpack_elements(room, bytes, buffer, n, t);
    return code;
}

RMAI_MPI_API int MPI_Bcast(void *buffer, int n, MPI_Datatype type, int root, MPI_Comm comm) {
    MPI_Request request;
    int code;
    if (is_ours(comm)) {
        const struct rmai_datatype *t = type_of(__func__, type);
        const size_t bytes = bytes_of(t, n);
        if (bytes - 1 < ROOM && root >= 0 && root < n_processes && is_address(buffer, t))
            return broadcast(buffer, n, t, bytes, root, comm);
    }
    if (comm == MPI_COMM_NULL || !rmai_win_comm_serves(comm))
        RMAI_WIN_RETURN_MPI(PMPI_Bcast(buffer, n, type, root, comm));
    code = PMPI_Ibcast(buffer, n, type, root, comm, &request);
    return code == MPI_SUCCESS ? rmai_win_await_free(__func__, &request, MPI_STATUS_IGNORE) : code;
}

/* The operation of librma, if it does this reduction; or -1. */
static int operation(const struct rmai_datatype *t, int n, MPI_Op op) {
    const enum rmai_win_op win_op = rmai_win_op_of(op);
    if (!t || !t->predefined || !t->element || win_op > RMAI_WIN_BXOR) return -1;
    return bytes_of(t, n) - 1 < ROOM ? t->element->array[win_op] : -1;
}

/* librma's elements are aligned; MPI's need not be. */
static int reduce_elements(const char *call, const void *mine, void *result, const struct rmai_datatype *t, int n,
                           int op, int root, MPI_Comm comm) {
    _Alignas(16) char from[ROOM], to[ROOM];
    const size_t bytes = bytes_of(t, n), align = t->element->align;
    const int gets = root < 0 || me == root;
    void *dest = result;
    int code;
    if ((uintptr_t)mine % align) mine = memcpy(from, mine, bytes);
    if (gets && (uintptr_t)result % align) dest = to;
    rma_call_as_(call);
    code = end_call(comm, rma_reduce_(call, team, op, t->element->native, dest, mine, (size_t)n, root));
    if (code == MPI_SUCCESS && gets && dest != result) memcpy(result, dest, bytes);
    return code;
}

RMAI_MPI_API int MPI_Allreduce(const void *mine, void *all, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    MPI_Request request;
    int code;
    if (is_ours(comm)) {
        const struct rmai_datatype *t = type_of(__func__, type);
        const int ours_op = operation(t, n, op);
        if (ours_op >= 0 && mine && all && mine != all && all != MPI_IN_PLACE)
            return reduce_elements(__func__, mine == MPI_IN_PLACE ? all : mine, all, t, n, ours_op, -1, comm);
    }
    if (comm == MPI_COMM_NULL || !rmai_win_comm_serves(comm))
        RMAI_WIN_RETURN_MPI(PMPI_Allreduce(mine, all, n, type, op, comm));
    code = PMPI_Iallreduce(mine, all, n, type, op, comm, &request);
    return code == MPI_SUCCESS ? rmai_win_await_free(__func__, &request, MPI_STATUS_IGNORE) : code;
}

RMAI_MPI_API int MPI_Reduce(const void *mine, void *all, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
    if (is_ours(comm) && root >= 0 && root < n_processes) {
        const struct rmai_datatype *t = type_of(__func__, type);
        const int ours_op = operation(t, n, op);
        const int valid = me == root ? mine && all && mine != all && all != MPI_IN_PLACE : mine && mine != MPI_IN_PLACE;
        if (ours_op >= 0 && valid)
            return reduce_elements(__func__, mine == MPI_IN_PLACE ? all : mine, all, t, n, ours_op, root, comm);
    }
    RMAI_WIN_RETURN_MPI(PMPI_Reduce(mine, all, n, type, op, root, comm));
}

/* `bytes` from each process. */
static int gather(const void *mine, int n, const struct rmai_datatype *t, void *all, int n_each,
                  const struct rmai_datatype *all_t, size_t bytes, MPI_Comm comm) {
    char from[ROOM], to[ROOM];
    char *const dest = all_t->plain ? all : to, *const place = dest + (size_t)me * bytes;
    int code = MPI_SUCCESS;
    if (mine == MPI_IN_PLACE) {
        if (!all_t->plain)
            code = pack_elements(element_at(all, (ptrdiff_t)me * n_each, all_t), n_each, all_t, place, bytes);
        mine = place;
    } else if (!t->plain) {
        code = pack_elements(mine, n, t, from, bytes);
        mine = from;
    }
    rma_call_as_("MPI_Allgather");
    code = end_call(comm,
                    code == MPI_SUCCESS ? rma_fcollect(team, dest, mine, bytes) : cannot_pack("MPI_Allgather", bytes));
    for (int i = 0; code == MPI_SUCCESS && i < n_processes && !all_t->plain; i++)
        code = unpack_elements(to + (size_t)i * bytes, bytes, element_at(all, (ptrdiff_t)i * n_each, all_t), n_each,
                               all_t);
    return code;
}

RMAI_MPI_API int MPI_Allgather(const void *mine, int n, MPI_Datatype type, void *all, int n_each, MPI_Datatype all_type,
                               MPI_Comm comm) {
    if (is_ours(comm)) {
        const struct rmai_datatype *t = type_of(__func__, all_type);
        const size_t bytes = bytes_of(t, n_each);
        const struct rmai_datatype *mine_t = mine == MPI_IN_PLACE ? t : type_of(__func__, type);
        if (bytes - 1 < ROOM / (size_t)n_processes && is_address(all, t) && all != MPI_IN_PLACE &&
            (mine == MPI_IN_PLACE || (bytes_of(mine_t, n) == bytes && is_address(mine, mine_t))))
            return gather(mine, n, mine_t, all, n_each, t, bytes, comm);
    }
    RMAI_WIN_RETURN_MPI(PMPI_Allgather(mine, n, type, all, n_each, all_type, comm));
}

#if MPI_VERSION >= 4

/* A process may make these calls while others make those above. */
static int is_int(MPI_Count n) { return n == (int)n; }

RMAI_MPI_API int MPI_Bcast_c(void *buffer, MPI_Count n, MPI_Datatype type, int root, MPI_Comm comm) {
    if (is_int(n)) return MPI_Bcast(buffer, (int)n, type, root, comm);
    RMAI_WIN_RETURN_MPI(PMPI_Bcast_c(buffer, n, type, root, comm));
}

RMAI_MPI_API int MPI_Allreduce_c(const void *mine, void *all, MPI_Count n, MPI_Datatype type, MPI_Op op,
                                 MPI_Comm comm) {
    if (is_int(n)) return MPI_Allreduce(mine, all, (int)n, type, op, comm);
    RMAI_WIN_RETURN_MPI(PMPI_Allreduce_c(mine, all, n, type, op, comm));
}

RMAI_MPI_API int MPI_Reduce_c(const void *mine, void *all, MPI_Count n, MPI_Datatype type, MPI_Op op, int root,
                              MPI_Comm comm) {
    if (is_int(n)) return MPI_Reduce(mine, all, (int)n, type, op, root, comm);
    RMAI_WIN_RETURN_MPI(PMPI_Reduce_c(mine, all, n, type, op, root, comm));
}

RMAI_MPI_API int MPI_Allgather_c(const void *mine, MPI_Count n, MPI_Datatype type, void *all, MPI_Count n_each,
                                 MPI_Datatype all_type, MPI_Comm comm) {
    if (mine == MPI_IN_PLACE) n = 0;
    if (is_int(n) && is_int(n_each)) return MPI_Allgather(mine, (int)n, type, all, (int)n_each, all_type, comm);
    RMAI_WIN_RETURN_MPI(PMPI_Allgather_c(mine, n, type, all, n_each, all_type, comm));
}

#endif
