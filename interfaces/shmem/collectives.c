/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenSHMEM's collectives of teams. librma counts in bytes except in reductions. librma refuses a length that
 * overflows. */
#include "config.h"

#include "interfaces/shmem/define.h"

#define MOVE(CALL, EXPRESSION)                                                                                         \
    {                                                                                                                  \
        rma_call_as_(#CALL);                                                                                           \
        return rmai_shmem_end(EXPRESSION);                                                                             \
    }
#define BROADCAST(CALL, TYPE, SIZE)                                                                                    \
    int p##CALL(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems, int PE_root)                         \
        MOVE(CALL, rma_broadcast(team, dest, source, rma_bytes_(nelems, SIZE), PE_root))
#define GATHER(CALL, FORWARD, TYPE, SIZE)                                                                              \
    int p##CALL(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems)                                      \
        MOVE(CALL, FORWARD(team, dest, source, rma_bytes_(nelems, SIZE)))
#define ALLTOALLS(CALL, TYPE, SIZE)                                                                                    \
    int p##CALL(shmem_team_t team, TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems)        \
        MOVE(CALL, rma_alltoalls(team, dest, source, dst, sst, SIZE, nelems))

#define MOVES(X, NAME, TYPE, RNAME)                                                                                    \
    BROADCAST(shmem_##NAME##_broadcast, TYPE, sizeof(TYPE))                                                            \
    GATHER(shmem_##NAME##_collect, rma_collect, TYPE, sizeof(TYPE))                                                    \
    GATHER(shmem_##NAME##_fcollect, rma_fcollect, TYPE, sizeof(TYPE))                                                  \
    GATHER(shmem_##NAME##_alltoall, rma_alltoall, TYPE, sizeof(TYPE))                                                  \
    ALLTOALLS(shmem_##NAME##_alltoalls, TYPE, sizeof(TYPE))
SHMEM_TYPES_(MOVES, )
BROADCAST(shmem_broadcastmem, void, 1)
GATHER(shmem_collectmem, rma_collect, void, 1)
GATHER(shmem_fcollectmem, rma_fcollect, void, 1)
GATHER(shmem_alltoallmem, rma_alltoall, void, 1)
ALLTOALLS(shmem_alltoallsmem, void, 1)

#define REDUCE(CALL, FORWARD, TYPE)                                                                                    \
    int p##CALL(shmem_team_t team, TYPE *dest, const TYPE *source, size_t n) MOVE(CALL, FORWARD(team, dest, source, n))
#define BITS(X, NAME, TYPE, RNAME)                                                                                     \
    REDUCE(shmem_##NAME##_and_reduce, rma_and_reduce_##RNAME, TYPE)                                                    \
    REDUCE(shmem_##NAME##_or_reduce, rma_or_reduce_##RNAME, TYPE)                                                      \
    REDUCE(shmem_##NAME##_xor_reduce, rma_xor_reduce_##RNAME, TYPE)
#define LIMITS(X, NAME, TYPE, RNAME)                                                                                   \
    REDUCE(shmem_##NAME##_max_reduce, rma_max_reduce_##RNAME, TYPE)                                                    \
    REDUCE(shmem_##NAME##_min_reduce, rma_min_reduce_##RNAME, TYPE)
#define SUMS(X, NAME, TYPE, RNAME)                                                                                     \
    REDUCE(shmem_##NAME##_sum_reduce, rma_sum_reduce_##RNAME, TYPE)                                                    \
    REDUCE(shmem_##NAME##_prod_reduce, rma_prod_reduce_##RNAME, TYPE)                                                  \
    REDUCE(shmem_##NAME##_sum_inscan, rma_sum_inscan_##RNAME, TYPE)                                                    \
    REDUCE(shmem_##NAME##_sum_exscan, rma_sum_exscan_##RNAME, TYPE)
SHMEM_BIT_TYPES_(BITS, )
SHMEM_TYPES_(LIMITS, )
SHMEM_SUM_TYPES_(SUMS, )
#define EXTENSIONS(X, NAME, TYPE, RNAME)                                                                               \
    REDUCE(shmemx_##NAME##_sum_inscan, rma_sum_inscan_##RNAME, TYPE)                                                   \
    REDUCE(shmemx_##NAME##_sum_exscan, rma_sum_exscan_##RNAME, TYPE)
SHMEM_SUM_TYPES_(EXTENSIONS, )

SHMEM_COLLECTIVE_CALLS_(ALIAS)
SHMEMX_SCAN_CALLS_(ALIAS)
