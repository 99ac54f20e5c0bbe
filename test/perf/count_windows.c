/* SPDX-License-Identifier: BSD-3-Clause */
/* count_windows.c: the calls of MPI's windows on a node, for check-perf.sh, as count.c has librma's own. The program is
 * linked with librma_mpi, and process 1 waits in MPI_Barrier. */
#include <mpi.h>

#include "counting.h"

#include <stdlib.h>

struct place {
    MPI_Win all, each; /* locked for all processes; for one at a time */
    int rank;          /* the target */
    long *near;        /* 512 words */
    long *old, one;
    double *patch;
};

static void check(int code, const char *call) {
    if (code == MPI_SUCCESS) return;
    fprintf(stderr, "count_windows: %s failed\n", call);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

#define DO(CALL) check(CALL, #CALL)

/* As ARMCI puts a patch of 8 x 8 doubles. */
static void put_made(const struct place *p) {
    static const int whole[2] = {64, 64}, part[2] = {8, 8}, start[2] = {0, 0}, own[2] = {8, 8};
    MPI_Datatype from, to;
    DO(MPI_Type_create_subarray(2, own, part, start, MPI_ORDER_C, MPI_DOUBLE, &from));
    DO(MPI_Type_create_subarray(2, whole, part, start, MPI_ORDER_C, MPI_DOUBLE, &to));
    DO(MPI_Type_commit(&from));
    DO(MPI_Type_commit(&to));
    DO(MPI_Put(p->patch, 1, from, p->rank, 0, 1, to, p->all));
    DO(MPI_Type_free(&from));
    DO(MPI_Type_free(&to));
}

OPERATION(nothing, )
OPERATION(put, DO(MPI_Put(p.near, 1, MPI_LONG, p.rank, 0, 1, MPI_LONG, p.all)))
OPERATION(put_flush, DO(MPI_Put(p.near, 1, MPI_LONG, p.rank, 0, 1, MPI_LONG, p.all)); DO(MPI_Win_flush(p.rank, p.all)))
OPERATION(put_4k, DO(MPI_Put(p.near, 512, MPI_LONG, p.rank, 0, 512, MPI_LONG, p.all)))
OPERATION(get_flush, DO(MPI_Get(p.near, 1, MPI_LONG, p.rank, 0, 1, MPI_LONG, p.all)); DO(MPI_Win_flush(p.rank, p.all)))
OPERATION(fetch_and_op, DO(MPI_Fetch_and_op(&p.one, p.old, MPI_LONG, p.rank, 0, MPI_SUM, p.all)))
OPERATION(swap, DO(MPI_Compare_and_swap(&p.one, &p.one, p.old, MPI_LONG, p.rank, 0, p.all)))
OPERATION(accumulate, DO(MPI_Accumulate(&p.one, 1, MPI_LONG, p.rank, 0, 1, MPI_LONG, MPI_SUM, p.all)))
OPERATION(accumulate_128, DO(MPI_Accumulate(p.near, 128, MPI_LONG, p.rank, 0, 128, MPI_LONG, MPI_SUM, p.all)))
OPERATION(get_accumulate,
          DO(MPI_Get_accumulate(&p.one, 1, MPI_LONG, p.old, 1, MPI_LONG, p.rank, 0, 1, MPI_LONG, MPI_SUM, p.all)))
OPERATION(lock_put_unlock, DO(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, p.rank, 0, p.each));
          DO(MPI_Put(p.near, 1, MPI_LONG, p.rank, 0, 1, MPI_LONG, p.each)); DO(MPI_Win_unlock(p.rank, p.each)))
OPERATION(flush_all, DO(MPI_Win_flush_all(p.all)))
OPERATION(made_types, put_made(&p))

static const struct operation operations[] = {
    {2, nothing, "loop"},
    {2, put, "MPI_Put 8 B"},
    {2, put_flush, "MPI_Put 8 B, MPI_Win_flush"},
    {2, put_4k, "MPI_Put 4 KiB"},
    {2, get_flush, "MPI_Get 8 B, MPI_Win_flush"},
    {2, fetch_and_op, "MPI_Fetch_and_op of a long"},
    {2, swap, "MPI_Compare_and_swap of a long"},
    {2, accumulate, "MPI_Accumulate of a long"},
    {2, accumulate_128, "MPI_Accumulate of 128 longs"},
    {2, get_accumulate, "MPI_Get_accumulate of a long"},
    {2, lock_put_unlock, "MPI_Win_lock, MPI_Put 8 B, MPI_Win_unlock"},
    {2, flush_all, "MPI_Win_flush_all"},
    {2, made_types, "MPI_Put 8 x 8 doubles by two types made for it"},
};

int main(int argc, char **argv) {
    static long near[512];
    static double patch[64];
    long old = 0;
    struct place p = {.near = near, .patch = patch, .old = &old, .one = 1};
    void *base[2];
    int rank, n;
    DO(MPI_Init(&argc, &argv));
    DO(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    DO(MPI_Comm_size(MPI_COMM_WORLD, &n));
    DO(MPI_Win_allocate(64 * 64 * sizeof(double), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base[0], &p.all));
    DO(MPI_Win_allocate(64 * 64 * sizeof(double), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base[1], &p.each));
    DO(MPI_Win_lock_all(0, p.all));
    DO(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        p.rank = n - 1;
        /* The compiler knows neither. */
        __asm__ volatile("" : "+r"(p.rank), "+r"(p.one));
        CALLGRIND_START_INSTRUMENTATION;
        for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) measure(i, &operations[i], &p);
        CALLGRIND_STOP_INSTRUMENTATION;
    }
    DO(MPI_Barrier(MPI_COMM_WORLD));
    DO(MPI_Win_unlock_all(p.all));
    DO(MPI_Win_free(&p.all));
    DO(MPI_Win_free(&p.each));
    return MPI_Finalize();
}
