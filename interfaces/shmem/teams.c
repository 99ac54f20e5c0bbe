/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenSHMEM's teams, contexts and locks, whose handles are librma's own. */
#include "config.h"

#include "interfaces/shmem/define.h"

#include <limits.h>

/* ---- teams ---- */

int pshmem_team_my_pe(shmem_team_t team) {
    rma_call_as_("shmem_team_my_pe");
    return rmai_shmem_end(rma_team_my_pe(team));
}

int pshmem_team_n_pes(shmem_team_t team) {
    rma_call_as_("shmem_team_n_pes");
    return rmai_shmem_end(rma_team_n_pes(team));
}

/* A PE number outside src_team is an error of the native call. Here it is not: that PE has no number in dest_team. */
int pshmem_team_translate_pe(shmem_team_t src_team, int src_pe, shmem_team_t dest_team) {
    int n;
    rma_call_as_("shmem_team_translate_pe");
    n = rma_team_n_pes(src_team);
    return rmai_shmem_end(n > 0 && (src_pe < 0 || src_pe >= n) ? -1
                                                               : rma_team_translate_pe(src_team, src_pe, dest_team));
}

void *pshmem_team_ptr(shmem_team_t team, const void *dest, int pe) {
    rma_call_as_("shmem_team_ptr");
    return rmai_shmem_end_ptr(rma_team_ptr(team, dest, pe));
}

/* Returns the number of contexts that config requests, or -1 after an error. A context needs nothing from its team, so
 * the number is only stored. A member that the mask leaves out has its default, 0. */
static int check_config(const char *call, const char *argument, const shmem_team_config_t *config, long mask) {
    if (mask & ~SHMEM_TEAM_NUM_CONTEXTS)
        rma_fail_(RMA_ERR_ARG, "%s: the mask %#lx of %s has bits that stand for no member", call, (unsigned long)mask,
                  argument);
    else if (mask && !config)
        rma_fail_(RMA_ERR_ARG, "%s: %s is a null pointer, and its mask is %#lx", call, argument, (unsigned long)mask);
    else if (mask && config->num_contexts < 0)
        rma_fail_(RMA_ERR_ARG, "%s: %s asks for %d contexts", call, argument, config->num_contexts);
    else
        return mask ? config->num_contexts : 0;
    return -1;
}

int pshmem_team_get_config(shmem_team_t team, long config_mask, shmem_team_config_t *config) {
    static const char call[] = "shmem_team_get_config";
    int wanted, code;
    if (team == SHMEM_TEAM_INVALID) return RMA_ERR_ARG;
    if (config_mask & ~SHMEM_TEAM_NUM_CONTEXTS)
        return rma_fail_(RMA_ERR_ARG, "%s: config_mask %#lx has bits that stand for no member of config", call,
                         (unsigned long)config_mask);
    rma_call_as_(call);
    code = rmai_shmem_end(rma_team_noted_(team, &wanted));
    if (code != RMA_SUCCESS || !config_mask) return code;
    if (!config) return rma_fail_(RMA_ERR_ARG, "%s: config is a null pointer", call);
    config->num_contexts = wanted;
    return RMA_SUCCESS;
}

/* Whether start, start + stride, ... are size PEs of a team of n. If n is -1, this returns 1, and the native call
 * reports what is wrong with the team. */
static int is_triplet(int n, int start, int stride, int size) {
    const long long last = start + (long long)stride * ((long long)size - 1);
    return n < 0 || (size >= 1 && start >= 0 && start < n && last >= 0 && last < n && (stride != 0 || size == 1));
}

/* An invalid triplet must not end the job: the specification defines a result for it, and all PEs get that result, from
 * the same arguments. A PE whose configuration is wrong must not leave the others waiting. So it takes part, but passes
 * a null pointer for the result, which makes the call fail. */
int pshmem_team_split_strided(shmem_team_t parent_team, int start, int stride, int size,
                              const shmem_team_config_t *config, long config_mask, shmem_team_t *new_team) {
    static const char call[] = "shmem_team_split_strided";
    rma_team *made = RMA_TEAM_INVALID;
    int wanted, code;
    if (new_team) *new_team = SHMEM_TEAM_INVALID;
    if (parent_team == SHMEM_TEAM_INVALID) return RMA_ERR_ARG;
    rma_call_as_(call);
    if (!is_triplet(rma_team_n_pes(parent_team), start, stride, size)) return rmai_shmem_end(RMA_ERR_ARG);
    wanted = check_config(call, "config", config, config_mask);
    rma_call_as_(call);
    code = rmai_shmem_end(
        rma_team_split_strided(parent_team, start, stride, size, new_team && wanted >= 0 ? &made : NULL));
    if (code != RMA_SUCCESS) return code;
    if (made != RMA_TEAM_INVALID) rma_team_note_(made, wanted);
    *new_team = made;
    return RMA_SUCCESS;
}

int pshmem_team_split_2d(shmem_team_t parent_team, int xrange, const shmem_team_config_t *xaxis_config, long xaxis_mask,
                         shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config, long yaxis_mask,
                         shmem_team_t *yaxis_team) {
    static const char call[] = "shmem_team_split_2d";
    rma_team *x = RMA_TEAM_INVALID, *y = RMA_TEAM_INVALID;
    int x_wanted, y_wanted, code;
    if (xaxis_team) *xaxis_team = SHMEM_TEAM_INVALID;
    if (yaxis_team) *yaxis_team = SHMEM_TEAM_INVALID;
    if (parent_team == SHMEM_TEAM_INVALID) return RMA_ERR_ARG;
    x_wanted = check_config(call, "xaxis_config", xaxis_config, xaxis_mask);
    y_wanted = check_config(call, "yaxis_config", yaxis_config, yaxis_mask);
    rma_call_as_(call);
    code = rmai_shmem_end(rma_team_split_2d(parent_team, xrange, xaxis_team && x_wanted >= 0 ? &x : NULL,
                                            yaxis_team && y_wanted >= 0 ? &y : NULL));
    if (code != RMA_SUCCESS) return code;
    rma_team_note_(x, x_wanted);
    rma_team_note_(y, y_wanted);
    *xaxis_team = x;
    *yaxis_team = y;
    return RMA_SUCCESS;
}

void pshmem_team_destroy(shmem_team_t team) {
    rma_call_as_("shmem_team_destroy");
    rma_team_destroy(team);
    rma_call_as_(NULL);
}

/* ---- meeting ---- */

int pshmem_team_sync(shmem_team_t team) {
    rma_call_as_("shmem_team_sync");
    return rmai_shmem_end(rma_team_sync(team));
}

void pshmem_sync_all(void) {
    rma_call_as_("shmem_sync_all");
    rma_sync_all();
    rma_call_as_(NULL);
}

void pshmem_barrier_all(void) {
    rma_call_as_("shmem_barrier_all");
    rma_barrier_all();
    rma_call_as_(NULL);
}

/* ---- contexts ---- */

_Static_assert(SHMEM_CTX_SESSION_BATCH == RMA_CTX_SESSION_BATCH, "the same options");

/* Options are a long in OpenSHMEM and an int in librma. Bits that do not fit an int are invalid. */
static int context_options(long options) { return options < 0 || options > INT_MAX ? INT_MIN : (int)options; }

int pshmem_ctx_create(long options, shmem_ctx_t *ctx) {
    rma_call_as_("shmem_ctx_create");
    return rmai_shmem_end(rma_ctx_create(context_options(options), ctx));
}

int pshmem_team_create_ctx(shmem_team_t team, long options, shmem_ctx_t *ctx) {
    if (team == SHMEM_TEAM_INVALID && ctx) {
        *ctx = SHMEM_CTX_INVALID;
        return RMA_ERR_ARG;
    }
    rma_call_as_("shmem_team_create_ctx");
    return rmai_shmem_end(rma_team_create_ctx(team, context_options(options), ctx));
}

void pshmem_ctx_destroy(shmem_ctx_t ctx) {
    rma_call_as_("shmem_ctx_destroy");
    rma_ctx_destroy(ctx);
    rma_call_as_(NULL);
}

int pshmem_ctx_get_team(shmem_ctx_t ctx, shmem_team_t *team) {
    if (ctx == SHMEM_CTX_INVALID && team) {
        *team = SHMEM_TEAM_INVALID;
        return RMA_ERR_ARG;
    }
    rma_call_as_("shmem_ctx_get_team");
    return rmai_shmem_end(rma_ctx_team(ctx, team));
}

/* librma does not use the hint total_ops: a message leaves when it is full, however many operations follow. */
void pshmem_ctx_session_start(shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t *config,
                              long config_mask) {
    static const char call[] = "shmem_ctx_session_start";
    if (ctx == SHMEM_CTX_INVALID) return;
    if (options & ~SHMEM_CTX_SESSION_BATCH) {
        rma_fail_(RMA_ERR_ARG, "%s: options %#lx has bits that are no option", call, (unsigned long)options);
    } else if (config_mask & ~SHMEM_CTX_SESSION_TOTAL_OPS) {
        rma_fail_(RMA_ERR_ARG, "%s: config_mask %#lx has bits that stand for no member of config", call,
                  (unsigned long)config_mask);
    } else if (config_mask && !config) {
        rma_fail_(RMA_ERR_ARG, "%s: config is a null pointer, and config_mask is %#lx", call,
                  (unsigned long)config_mask);
    } else {
        rma_call_as_(call);
        rma_ctx_session_start(ctx, (int)options);
        rma_call_as_(NULL);
    }
}

void pshmem_ctx_session_stop(shmem_ctx_t ctx) {
    if (ctx == SHMEM_CTX_INVALID) return;
    rma_call_as_("shmem_ctx_session_stop");
    rma_ctx_session_stop(ctx);
    rma_call_as_(NULL);
}

void pshmem_pe_quiet(const int *target_pes, size_t npes) {
    rma_call_as_("shmem_pe_quiet");
    rma_pe_quiet(target_pes, npes);
    rma_call_as_(NULL);
}

void pshmem_ctx_pe_quiet(shmem_ctx_t ctx, const int *target_pes, size_t npes) {
    if (ctx == SHMEM_CTX_INVALID) return;
    rma_call_as_("shmem_ctx_pe_quiet");
    rma_ctx_pe_quiet(ctx, target_pes, npes);
    rma_call_as_(NULL);
}

/* ---- locks: a long is as large as librma's lock, and zero is the free state of both ---- */

_Static_assert(sizeof(rma_lock_t) == sizeof(long) && _Alignof(rma_lock_t) == _Alignof(long), "a lock is a long");

/* Finds the tail of a lock, so that this PE can try the inlined part of librma's calls. That part does not name the
 * OpenSHMEM call: the name is needed only for errors, which only the library part reports. Returns NULL if only the
 * library part can handle the lock, or if this PE already holds the lock or waits for it. */
static uint32_t *find_free_tail(rma_lock_t *lock, uint32_t *node) {
    uint32_t *tail = rma_lock_tail_(lock);
    if (!RMA_LIKELY_(tail != NULL)) return NULL;
    *node = __atomic_load_n(&lock->node_, __ATOMIC_RELAXED);
    return RMA_LIKELY_(!(*node & ~RMA_LOCK_PHASE_)) ? tail : NULL;
}

void pshmem_set_lock(long *lock) {
    uint32_t node = 0, *tail = find_free_tail((rma_lock_t *)lock, &node);
    if (RMA_LIKELY_(tail != NULL)) {
        rma_lock_set_((rma_lock_t *)lock, tail, node);
        return;
    }
    rma_call_as_("shmem_set_lock");
    rma_set_lock((rma_lock_t *)lock);
    rma_call_as_(NULL);
}

/* The opposite of librma's result: 0 if this PE holds the lock now, 1 if another PE has it. */
int pshmem_test_lock(long *lock) {
    uint32_t node = 0, *tail = find_free_tail((rma_lock_t *)lock, &node);
    if (RMA_LIKELY_(tail != NULL)) return !rma_lock_test_((rma_lock_t *)lock, tail, node);
    rma_call_as_("shmem_test_lock");
    return rmai_shmem_end(!rma_test_lock((rma_lock_t *)lock));
}

void pshmem_clear_lock(long *lock) {
    rma_call_as_("shmem_clear_lock");
    rma_clear_lock((rma_lock_t *)lock);
    rma_call_as_(NULL);
}

SHMEM_TEAM_CALLS_(ALIAS)
