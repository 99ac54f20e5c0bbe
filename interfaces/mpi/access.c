/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "interfaces/mpi/access.h"
#include "interfaces/mpi/epochs.h"
#include "interfaces/mpi/errors.h"
#include "interfaces/mpi/regions.h"

#include <stdlib.h>

int rmai_win_side(const struct rmai_win_access *a, const char *name, const void *buffer, MPI_Count count,
                  MPI_Datatype type, struct rmai_win_side *side) {
    if (count < 0)
        return rmai_win_error(a->w, MPI_ERR_COUNT, "%s: %s_count %lld is negative", a->call, name, (long long)count);
    side->type = rmai_datatype_of(type);
    if (!side->type) return rmai_win_error(a->w, MPI_ERR_TYPE, "%s: %s_datatype is not a datatype", a->call, name);
    side->buffer = (void *)(uintptr_t)buffer;
    side->count = (size_t)count;
    if (__builtin_mul_overflow(side->count, side->type->size, &side->size) || side->size > PTRDIFF_MAX)
        return rmai_win_error(a->w, MPI_ERR_COUNT, "%s: %s_count %lld times %zu bytes overflows", a->call, name,
                              (long long)count, side->type->size);
    return MPI_SUCCESS;
}

int rmai_win_check_buffer(const struct rmai_win_access *a, const char *name, const struct rmai_win_side *side) {
    if (side->buffer || !side->type || !side->type->plain || side->size == 0) return MPI_SUCCESS;
    return rmai_win_error(a->w, MPI_ERR_BUFFER, "%s: %s_addr is a null pointer", a->call, name);
}

/* Computes the range of bytes that a side touches, [*first, *end), relative to its address. */
static int span(const struct rmai_win_side *side, ptrdiff_t *first, ptrdiff_t *end) {
    const struct rmai_datatype *t = side->type;
    ptrdiff_t last;
    if (__builtin_mul_overflow((ptrdiff_t)(side->count - 1), t->extent, &last)) return 0;
    *first = t->true_lb + (last < 0 ? last : 0);
    *end = t->true_ub + (last > 0 ? last : 0);
    return 1;
}

/* Finds the target's data in the regions of a dynamic window: in one of them, or each block by itself. */
static int aim_at_regions(struct rmai_win_access *a, uint64_t address, ptrdiff_t first, ptrdiff_t end) {
    struct rma_block *blocks = NULL;
    size_t n = 0, missing = 0;
    uint64_t at = 0;
    int code;
    a->address = address;
    a->at = rmai_win_locate(&a->peer, address + (uint64_t)first, (size_t)(end - first));
    if (a->at != RMA_GPTR_NULL) {
        a->at -= (rma_gptr_t)first;
        return MPI_SUCCESS;
    }
    code = RMA_ERR_NO_MEM;
    if (rmai_datatype_blocks(a->target.type, a->target.count, &blocks, &n))
        code = rmai_win_locate_blocks(&a->peer, address, blocks, n, &a->pieces, &a->n_pieces, &at, &missing);
    free(blocks);
    if (code == RMA_ERR_NO_MEM)
        return rmai_win_error(a->w, MPI_ERR_NO_MEM, "%s: no memory for the list of the target's blocks", a->call);
    if (code != RMA_ERR_ADDRESS) return rmai_win_failed(a->w, code);
    return rmai_win_error(a->w, MPI_ERR_RMA_RANGE,
                          "%s: %zu bytes at address %#llx are not in memory that rank %d has attached", a->call,
                          missing, (unsigned long long)at, a->peer.rank);
}

int rmai_win_aim(struct rmai_win_access *a, int rank, MPI_Aint disp) {
    ptrdiff_t first, end, offset;
    int code;
    a->nothing = 1;
    if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
    code = rmai_win_check_rank(a->w, a->call, rank);
    if (code == MPI_SUCCESS) code = rmai_win_enter(a->w, a->call, rank, &a->peer);
    if (code != MPI_SUCCESS || a->target.size == 0) return code;
    a->nothing = 0;
    if (!span(&a->target, &first, &end))
        return rmai_win_error(a->w, MPI_ERR_RMA_RANGE, "%s: target_count %zu times the extent overflows", a->call,
                              a->target.count);
    if (a->w->flavor == MPI_WIN_FLAVOR_DYNAMIC) return aim_at_regions(a, (uint64_t)disp, first, end);
    if (__builtin_mul_overflow((ptrdiff_t)disp, (ptrdiff_t)a->peer.unit, &offset) ||
        __builtin_add_overflow(offset, first, &first) || __builtin_add_overflow(offset, end, &end) || first < 0 ||
        (uint64_t)end > a->peer.size)
        return rmai_win_error(a->w, disp < 0 ? MPI_ERR_DISP : MPI_ERR_RMA_RANGE,
                              "%s: displacement %lld in units of %llu bytes: the data of rank %d are not inside its "
                              "window of %llu bytes",
                              a->call, (long long)disp, (unsigned long long)a->peer.unit, rank,
                              (unsigned long long)a->peer.size);
    a->at = a->peer.start + (rma_gptr_t)offset;
    a->address = a->peer.address + (uint64_t)offset;
    return MPI_SUCCESS;
}

/* Gives the one block of `block` the shape of s. */
static void shape_as(struct rmai_section *block, const struct rmai_section *s) {
    ptrdiff_t stride = (ptrdiff_t)s->elem;
    for (int k = s->dims - 1; k >= 0; k--) {
        block->count[k] = s->count[k];
        block->stride[k] = stride;
        stride *= (ptrdiff_t)s->count[k];
    }
    block->elem = s->elem;
    block->dims = s->dims;
}

int rmai_win_two_sections(const struct rmai_win_side *a, const struct rmai_win_side *b, struct rmai_section *x,
                          struct rmai_section *y) {
    if (!rmai_datatype_section(a->type, a->count, x) || !rmai_datatype_section(b->type, b->count, y)) return 0;
    if (x->dims == 0) shape_as(x, y);
    if (y->dims == 0) shape_as(y, x);
    return x->elem == y->elem && x->dims == y->dims &&
           memcmp(x->count, y->count, (size_t)x->dims * sizeof *x->count) == 0;
}
