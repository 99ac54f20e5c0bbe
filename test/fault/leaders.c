/* SPDX-License-Identifier: BSD-3-Clause */
/* leaders: two nodes, and one call of all PEs, which the environment names (LEADERS_CALL). check-faults.sh makes the
 * first PE of the second node, which works with the other node for its own node, fail there. It prints what the call
 * has returned on it and on the other PEs of its node, and ends the job. */
#define _GNU_SOURCE /* RTLD_DEFAULT */

#include <rma.h>

#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS 40
static long *to, *from;
static rma_team *fresh; /* all PEs; it has not been used */

static int call(const char *name) {
    const size_t bytes = WORDS * sizeof *from;
    if (!strcmp(name, "barrier")) return rma_barrier_all();
    if (!strcmp(name, "sync")) return rma_sync_all();
    if (!strcmp(name, "broadcast")) return rma_broadcast(RMA_TEAM_WORLD, to, from, bytes, 0);
    if (!strcmp(name, "reduce")) return rma_sum_reduce(RMA_TEAM_WORLD, to, from, WORDS);
    if (!strcmp(name, "root")) return rma_sum_reduce_root(RMA_TEAM_WORLD, to, from, WORDS, 3);
    if (!strcmp(name, "fcollect")) return rma_fcollect(RMA_TEAM_WORLD, to, from, bytes);
    if (!strcmp(name, "collect")) return rma_collect(RMA_TEAM_WORLD, to, from, bytes);
    if (!strcmp(name, "malloc")) return rma_malloc(100) ? RMA_SUCCESS : rma_last_code();
    if (!strcmp(name, "first")) return rma_broadcast(fresh, to, from, bytes, 0);
    if (!strcmp(name, "team")) return rma_team_sync(fresh);
    fprintf(stderr, "leaders: LEADERS_CALL=%s is no call\n", name);
    return -1;
}

int main(void) {
    static const char *const all[] = {"broadcast", "reduce", "root", "fcollect", "collect", "malloc", "sync"};
    const char *name = getenv("LEADERS_CALL");
    void (*begin_count)(void);
    if (!name || rma_init() != RMA_SUCCESS) return 3;
    const int me = rma_my_pe(), n = rma_n_pes(), node = n / 2;
    long *codes = rma_calloc((size_t)n, sizeof *codes), *theirs;
    to = rma_calloc((size_t)n * WORDS, sizeof *to);
    from = rma_calloc(WORDS, sizeof *from);
    if (!codes || !to || !from) return 3;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (call(all[i]) != RMA_SUCCESS) return 3;
    if (rma_team_split_strided(RMA_TEAM_WORLD, 0, 1, n, &fresh) != RMA_SUCCESS) return 3;
    if (rma_barrier_all() != RMA_SUCCESS) return 3;
    theirs = rma_ptr(codes, me / node * node);
    if (!theirs) return 3;
    *(void **)(void *)&begin_count = dlsym(RTLD_DEFAULT, "fault_begin_count");
    if (begin_count) begin_count();
    const int code = call(name);
    if (code != RMA_SUCCESS) fprintf(stderr, "PE %d: %s\n", me, rma_last_error());
    __atomic_store_n(&theirs[me], code + 1, __ATOMIC_RELEASE);
    if (me == node) {
        printf("leader: %ld, others:", codes[me] - 1);
        for (int q = me + 1; q < n; q++) {
            while (!__atomic_load_n(&codes[q], __ATOMIC_ACQUIRE)) sched_yield();
            printf(" %ld", codes[q] - 1);
        }
        printf("\n");
        fflush(stdout);
        rma_abort(5);
    }
    for (;;) pause();
}
