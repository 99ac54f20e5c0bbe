/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "mpi/target.h"
#include "mpi/epochs.h"
#include "mpi/errors.h"
#include "mpi/regions.h"

int rmai_win_side(struct rmai_win *w, const char *call, const char *name, MPI_Count count, MPI_Datatype type,
                  struct rmai_win_side *side) {
    if (count < 0)
        return rmai_win_error(w, MPI_ERR_COUNT, "%s: %s_count %lld is negative", call, name, (long long)count);
    side->type = rmai_type_of(type);
    if (!side->type) return rmai_win_error(w, MPI_ERR_TYPE, "%s: %s_datatype is not a datatype", call, name);
    side->count = (size_t)count;
    if (__builtin_mul_overflow(side->count, side->type->size, &side->size) || side->size > PTRDIFF_MAX)
        return rmai_win_error(w, MPI_ERR_COUNT, "%s: %s_count %lld times %zu bytes overflows", call, name,
                              (long long)count, side->type->size);
    return MPI_SUCCESS;
}

/* Computes the range of bytes that a side touches, [*first, *end), relative to its address. */
static int span(const struct rmai_win_side *side, ptrdiff_t *first, ptrdiff_t *end) {
    const struct rmai_type *t = side->type;
    ptrdiff_t last;
    if (__builtin_mul_overflow((ptrdiff_t)(side->count - 1), t->extent, &last)) return 0;
    *first = t->true_lb + (last < 0 ? last : 0);
    *end = t->true_ub + (last > 0 ? last : 0);
    return 1;
}

int rmai_win_target(struct rmai_win *w, const char *call, int rank, MPI_Aint disp, const struct rmai_win_side *side,
                    struct rmai_win_target *t) {
    ptrdiff_t first, end, offset;
    int code;
    t->nothing = 1;
    if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
    code = rmai_win_check_rank(w, call, rank);
    if (code == MPI_SUCCESS) code = rmai_win_enter(w, call, rank, &t->peer);
    if (code != MPI_SUCCESS || side->size == 0) return code;
    t->nothing = 0;
    if (!span(side, &first, &end))
        return rmai_win_error(w, MPI_ERR_RMA_RANGE, "%s: target_count %zu times the extent overflows", call,
                              side->count);
    if (w->flavor == MPI_WIN_FLAVOR_DYNAMIC) {
        t->at = rmai_win_locate(&t->peer, (uint64_t)disp + (uint64_t)first, (size_t)(end - first));
        if (t->at == RMA_GPTR_NULL)
            return rmai_win_error(w, MPI_ERR_RMA_RANGE,
                                  "%s: %td bytes at address %#llx are not in memory that rank %d has attached", call,
                                  end - first, (unsigned long long)disp + (unsigned long long)first, rank);
        t->at -= (rma_gptr_t)first;
        return MPI_SUCCESS;
    }
    if (__builtin_mul_overflow((ptrdiff_t)disp, (ptrdiff_t)t->peer.unit, &offset) ||
        __builtin_add_overflow(offset, first, &first) || __builtin_add_overflow(offset, end, &end) || first < 0 ||
        (uint64_t)end > t->peer.size)
        return rmai_win_error(w, disp < 0 ? MPI_ERR_DISP : MPI_ERR_RMA_RANGE,
                              "%s: displacement %lld in units of %llu bytes: the data of rank %d are not inside its "
                              "window of %llu bytes",
                              call, (long long)disp, (unsigned long long)t->peer.unit, rank,
                              (unsigned long long)t->peer.size);
    t->at = t->peer.start + (rma_gptr_t)offset;
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
    if (!rmai_type_section(a->type, a->count, x) || !rmai_type_section(b->type, b->count, y)) return 0;
    if (x->dims == 0) shape_as(x, y);
    if (y->dims == 0) shape_as(y, x);
    return x->elem == y->elem && x->dims == y->dims &&
           memcmp(x->count, y->count, (size_t)x->dims * sizeof *x->count) == 0;
}
