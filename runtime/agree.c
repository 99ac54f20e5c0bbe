/* SPDX-License-Identifier: BSD-3-Clause */
/* Each PE writes its slot, the PEs of the node meet, and each PE reads all slots of the node. A second meeting is not
 * needed: the next agreement writes the other slot, and the one after it comes after another barrier. Between nodes the
 * leaders merge the verdicts of their nodes, and each leader puts the result where its node's PEs read it. */
#include "config.h"

#include "runtime/agree.h"
#include "base/error.h"
#include "runtime/context.h"
#include "runtime/header.h"
#include "runtime/net/group.h"
#include "runtime/node/barrier.h"
#include "runtime/world.h"

/* The name of each call in errors: in those of rma.h's calls, and in those of OpenSHMEM's. */
static const char *const call_names[][2] = {
    [RMAI_ELSEWHERE] = {"another collective call", "another collective call"},
    [RMAI_MALLOC] = {"rma_malloc", "shmem_malloc"},
    [RMAI_CALLOC] = {"rma_calloc", "shmem_calloc"},
    [RMAI_ALIGNED_ALLOC] = {"rma_aligned_alloc", "shmem_align"},
    [RMAI_REALLOC] = {"rma_realloc", "shmem_realloc"},
    [RMAI_FREE] = {"rma_free", "shmem_free"},
    [RMAI_EXPOSE] = {"rma_expose", "rma_expose"},
    [RMAI_UNEXPOSE] = {"rma_unexpose", "rma_unexpose"},
    [RMAI_STATUS] = {"the end of a collective call", "the end of a collective call"},
};

static void widen_range(struct rmai_range *r, const struct rmai_range *more) {
    if (more->min < r->min || (more->min == r->min && more->min_pe < r->min_pe)) {
        r->min = more->min;
        r->min_pe = more->min_pe;
    }
    if (more->max > r->max || (more->max == r->max && more->max_pe < r->max_pe)) {
        r->max = more->max;
        r->max_pe = more->max_pe;
    }
}

static void merge_verdicts(void *mine, const void *other) {
    struct rmai_verdict *v = mine;
    const struct rmai_verdict *more = other;
    widen_range(&v->call, &more->call);
    for (int f = 0; f < RMAI_AGREE_FIELDS; f++) widen_range(&v->field[f], &more->field[f]);
}

static struct rmai_range range_of(uint64_t value, int pe) {
    return (struct rmai_range){.min = value, .max = value, .min_pe = pe, .max_pe = pe};
}

static void compare_slots(struct rmai_world *w, uint32_t turn, uint32_t epoch, struct rmai_verdict *v) {
    for (int q = 0; q < w->job.node_n_pes; q++) {
        const struct rmai_header *h = rmai_header(&w->job, q);
        const struct rmai_agree_slot *s = &h->agree.slot[turn];
        int pe = w->job.node_pes[q], here = s->epoch == epoch;
        struct rmai_verdict one = {.call = range_of(here ? s->call : RMAI_ELSEWHERE, pe)};
        for (int f = 0; f < RMAI_AGREE_FIELDS; f++) one.field[f] = range_of(here ? s->field[f] : 0, pe);
        if (q == 0)
            *v = one;
        else
            merge_verdicts(v, &one);
    }
}

_Static_assert(sizeof(struct rmai_verdict) <= RMAI_MERGE_MOST, "leaders can merge a verdict");

int rmai_agree_on(struct rmai_world *w, const char *name, enum rmai_agree_call call,
                  const uint64_t field[RMAI_AGREE_FIELDS], struct rmai_verdict *v) {
    uint32_t epoch = w->barrier->epoch + 1, turn = epoch & 1;
    struct rmai_agree_slot *mine = &rmai_header(&w->job, w->job.node_my_pe)->agree.slot[turn];
    struct rmai_verdict *told = &rmai_header(&w->job, 0)->agree.verdict[turn];
    int kept = rmai_quiet_default(w, name), code = RMA_SUCCESS;
    /* Plain stores are enough: the barrier publishes them. */
    mine->epoch = epoch;
    mine->call = (uint32_t)call;
    for (int f = 0; f < RMAI_AGREE_FIELDS; f++) mine->field[f] = field[f];
    rmai_barrier_node(w->barrier, name);
    if (w->job.n_nodes == 1) {
        compare_slots(w, turn, epoch, v);
        return kept;
    }
    if (w->job.node_my_pe == 0) {
        compare_slots(w, turn, epoch, told);
        code = rmai_group_merge(w->leaders, name, told, sizeof *told, merge_verdicts);
    }
    rmai_barrier_node(w->barrier, name);
    *v = *told;
    return code != RMA_SUCCESS ? code : kept;
}

int rmai_agreed(const struct rmai_verdict *v, const char *name, const char *const what[RMAI_AGREE_FIELDS]) {
    const struct rmai_range *r = &v->call;
    if (r->min != r->max) {
        const int shmem = rmai_error_of_shmem(name);
        return rmai_error(RMA_ERR_MISMATCH,
                          "%s: PE %d is in %s, PE %d in %s: every PE must make the same collective calls", name,
                          r->min_pe, call_names[r->min][shmem], r->max_pe, call_names[r->max][shmem]);
    }
    for (int f = 0; f < RMAI_AGREE_FIELDS && what[f]; f++) {
        r = &v->field[f];
        if (r->min != r->max)
            return rmai_error(RMA_ERR_MISMATCH, "%s: %s is %llu on PE %d, but %llu on PE %d", name, what[f],
                              (unsigned long long)r->min, r->min_pe, (unsigned long long)r->max, r->max_pe);
    }
    return RMA_SUCCESS;
}

int rmai_agree_arguments(struct rmai_world *w, const char *name, enum rmai_agree_call call, int bad,
                         const uint64_t field[RMAI_AGREE_FIELDS - 1], const char *const what[RMAI_AGREE_FIELDS],
                         struct rmai_verdict *v) {
    uint64_t mine[RMAI_AGREE_FIELDS];
    struct rmai_verdict own;
    int code = rmai_quiet_default(w, name);
    if (!v) v = &own;
    /* What this PE has begun earlier and has failed is told here, and so to all: none of them goes on without the
     * others. */
    if (code != RMA_SUCCESS) bad = code;
    for (int f = 0; f < RMAI_AGREE_FIELDS - 1; f++) mine[f] = field[f];
    mine[RMAI_AGREE_FIELDS - 1] = (uint64_t)bad;
    code = rmai_agree_on(w, name, call, mine, v);
    if (code != RMA_SUCCESS || bad != RMA_SUCCESS) return code != RMA_SUCCESS ? code : bad;
    if (v->call.min == v->call.max && v->field[RMAI_AGREE_FIELDS - 1].max != RMA_SUCCESS)
        return rmai_error((int)v->field[RMAI_AGREE_FIELDS - 1].max, "%s: the arguments on PE %d are wrong: %s", name,
                          v->field[RMAI_AGREE_FIELDS - 1].max_pe,
                          rma_strerror((int)v->field[RMAI_AGREE_FIELDS - 1].max));
    return rmai_agreed(v, name, what);
}
