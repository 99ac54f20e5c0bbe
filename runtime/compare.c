/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/compare.h"
#include "base/error.h"
#include "base/kernels.h"
#include "runtime/team.h"

#include <stdio.h>
#include <string.h>

/* The names of each call in errors, for rma.h and for OpenSHMEM, the names of its arguments, and the call of MPI that
 * librma does by it. */
static const struct {
    const char *name[2], *number[2], *length, *mpi;
} calls[] = {
    [RMAI_CALL_OTHER] = {{"another collective call", "another collective call"}, {NULL}, NULL, NULL},
    [RMAI_CALL_SYNC] = {{"a barrier of the team", "a sync of the team"}, {NULL}, NULL, "MPI_Barrier"},
    [RMAI_CALL_MALLOC] = {{"rma_malloc", "shmem_malloc"}, {NULL}, "the size in bytes", NULL},
    [RMAI_CALL_CALLOC] = {{"rma_calloc", "shmem_calloc"}, {NULL}, "the size in bytes", NULL},
    [RMAI_CALL_ALIGNED_ALLOC] = {{"rma_aligned_alloc", "shmem_align"}, {"the alignment"}, "the size in bytes", NULL},
    [RMAI_CALL_REALLOC] = {{"rma_realloc", "shmem_realloc"}, {NULL}, "the new size in bytes", NULL},
    [RMAI_CALL_FREE] = {{"rma_free", "shmem_free"}, {NULL}, NULL, NULL},
    [RMAI_CALL_EXPOSE] = {{"rma_expose", "rma_expose"}, {NULL}, NULL, NULL},
    [RMAI_CALL_UNEXPOSE] = {{"rma_unexpose", "rma_unexpose"}, {NULL}, NULL, NULL},
    [RMAI_CALL_SPLIT_STRIDED] = {{"rma_team_split_strided", "shmem_team_split_strided"},
                                 {"start", "stride"},
                                 "size",
                                 NULL},
    [RMAI_CALL_SPLIT_2D] = {{"rma_team_split_2d", "shmem_team_split_2d"}, {"xrange"}, NULL, NULL},
    [RMAI_CALL_SPLIT_COLOR] = {{"rma_team_split_color", "rma_team_split_color"}, {NULL}, NULL, NULL},
    [RMAI_CALL_BROADCAST] = {{"rma_broadcast", "shmem_broadcast"}, {"the root"}, "the length in bytes", "MPI_Bcast"},
    [RMAI_CALL_FCOLLECT] = {{"rma_fcollect", "shmem_fcollect"}, {NULL}, "the length in bytes", "MPI_Allgather"},
    [RMAI_CALL_COLLECT] = {{"rma_collect", "shmem_collect"}, {NULL}, NULL, NULL},
    [RMAI_CALL_ALLTOALL] = {{"rma_alltoall", "shmem_alltoall"}, {NULL}, "the length in bytes", NULL},
    [RMAI_CALL_ALLTOALLS] = {{"rma_alltoalls", "shmem_alltoalls"},
                             {"the bytes of an element"},
                             "the number of elements",
                             NULL},
    [RMAI_CALL_ALLTOALLS_TO] = {{"rma_alltoalls", "shmem_alltoalls"}, {NULL}, "dest_stride", NULL},
    [RMAI_CALL_ALLTOALLS_FROM] = {{"rma_alltoalls", "shmem_alltoalls"}, {NULL}, "source_stride", NULL},
    [RMAI_CALL_REDUCE] = {{"a reduction", "a reduction"}, {NULL}, "the number of elements", "MPI_Allreduce"},
    [RMAI_CALL_INSCAN] = {{"an inclusive scan", "an inclusive scan"}, {NULL}, "the number of elements", NULL},
    [RMAI_CALL_EXSCAN] = {{"an exclusive scan", "an exclusive scan"}, {NULL}, "the number of elements", NULL},
    [RMAI_CALL_REDUCE_ROOT] = {{"a reduction to a root", "a reduction to a root"},
                               {"the root"},
                               "the number of elements",
                               "MPI_Reduce"},
    [RMAI_CALL_GATHER] = {{"rma_gather", "rma_gather"}, {"the root"}, "the length in bytes", NULL},
    [RMAI_CALL_SCATTER] = {{"rma_scatter", "rma_scatter"}, {"the root"}, "the length in bytes", NULL},
};

#define DIFFER(a, b, member)                                                                                           \
    if ((a)->member != (b)->member) return (a)->member < (b)->member ? -1 : 1

static int compare(const struct rmai_statement *a, const struct rmai_statement *b) {
    DIFFER(a, b, call);
    DIFFER(a, b, code);
    DIFFER(a, b, op);
    DIFFER(a, b, type);
    DIFFER(a, b, number[0]);
    DIFFER(a, b, number[1]);
    DIFFER(a, b, length);
    return 0;
}

struct rmai_compared rmai_compared(const struct rmai_statement *s) {
    if (s->code != RMA_SUCCESS) {
        const struct rmai_statement failed = rmai_statement((enum rmai_collective)s->call, s->code, s->pe);
        return (struct rmai_compared){failed, failed};
    }
    return (struct rmai_compared){*s, *s};
}

void rmai_compare_merge(struct rmai_compared *mine, const struct rmai_compared *other) {
    int order = compare(&other->low, &mine->low);
    if (order < 0 || (order == 0 && other->low.pe < mine->low.pe)) mine->low = other->low;
    order = compare(&other->high, &mine->high);
    if (order > 0 || (order == 0 && other->high.pe < mine->high.pe)) mine->high = other->high;
}

int rmai_compare_error(const char *call, const char *what, const char *low, int low_pe, const char *high, int high_pe) {
    return rmai_error(RMA_ERR_MISMATCH, "%s: %s is %s on PE %d, but %s on PE %d", call, what, low, low_pe, high,
                      high_pe);
}

static const char *name_of(unsigned which, const char *call) {
    if (rmai_error_of_mpi() && calls[which].mpi) return calls[which].mpi;
    return calls[which].name[rmai_error_of_shmem(call)];
}

/* Records the error for the first argument in which a and b differ; their calls are the same. */
static int argument_error(const char *call, const struct rmai_statement *a, const struct rmai_statement *b,
                          const struct rmai_words *words) {
    char low[24], high[24];
    if (a->op != b->op)
        return rmai_compare_error(call, "the operation", words->op[a->op], a->pe, words->op[b->op], b->pe);
    if (a->type != b->type)
        return rmai_compare_error(call, "the type", words->type[a->type], a->pe, words->type[b->type], b->pe);
    for (int i = 0; i < 2; i++) {
        if (a->number[i] == b->number[i]) continue;
        snprintf(low, sizeof low, "%d", a->number[i]);
        snprintf(high, sizeof high, "%d", b->number[i]);
        return rmai_compare_error(call, calls[a->call].number[i], low, a->pe, high, b->pe);
    }
    snprintf(low, sizeof low, "%llu", (unsigned long long)a->length);
    snprintf(high, sizeof high, "%llu", (unsigned long long)b->length);
    return rmai_compare_error(call, calls[a->call].length, low, a->pe, high, b->pe);
}

int rmai_compare_verdict(const struct rmai_compared *all, const char *call, int code, const struct rmai_words *words) {
    const struct rmai_statement *low = &all->low, *high = &all->high;
    if (code != RMA_SUCCESS) return code;
    if (low->call != high->call)
        return rmai_error(RMA_ERR_MISMATCH,
                          "%s: PE %d is in %s, PE %d in %s: all PEs of a team must make the same collective calls",
                          call, low->pe, name_of(low->call, call), high->pe, name_of(high->call, call));
    if (high->code != RMA_SUCCESS)
        return rmai_error(high->code, "%s: failed on PE %d: %s", call, high->pe, rma_strerror(high->code));
    return compare(low, high) == 0 ? RMA_SUCCESS : argument_error(call, low, high, words);
}

/* ---- in a collective of a node ---- */

void rmai_compare_differ(const char *call, const uint64_t *mine, int my_pe, const uint64_t *theirs, int their_pe) {
    static const struct rmai_words words = {rmai_op_words, rmai_type_words};
    const char *name = rmai_error_name(call);
    const struct rmai_statement a = rmai_statement_said(mine, my_pe), b = rmai_statement_said(theirs, their_pe);
    struct rmai_compared all = rmai_compared(&a), other = rmai_compared(&b);
    rmai_compare_merge(&all, &other);
    if (rmai_compare_verdict(&all, name, RMA_SUCCESS, &words) == RMA_SUCCESS)
        rmai_error(RMA_ERR_MISMATCH, "%s: PE %d and PE %d have given different arguments; RMA_CHECK=1 tells which",
                   name, a.pe, b.pe);
    rma_errors_abort(RMA_ERR_MISMATCH, rma_last_error());
}

/* ---- in a team ---- */

/* All calls send the same struct, so that PEs in different calls understand each other. */
struct proposal {
    struct rmai_compared stated;
    uint64_t bits;
};

_Static_assert(sizeof(struct proposal) <= RMAI_TEAM_DATA, "a proposal travels with a round");

static void merge_proposals(void *mine, const void *other) {
    struct proposal *a = mine, b;
    memcpy(&b, other, sizeof b);
    rmai_compare_merge(&a->stated, &b.stated);
    a->bits &= b.bits;
}

int rmai_compare_in_team(struct rmai_world *w, const char *call, struct rmai_team *t, const struct rmai_statement *mine,
                         const struct rmai_words *words, uint64_t *bits) {
    struct proposal p = {rmai_compared(mine), bits ? *bits : 0};
    const int met = rmai_team_meet(w, call, t, &p, sizeof p, merge_proposals);
    if (bits) *bits = p.bits;
    return met != RMA_SUCCESS && mine->code == RMA_SUCCESS ? met
                                                           : rmai_compare_verdict(&p.stated, call, mine->code, words);
}
