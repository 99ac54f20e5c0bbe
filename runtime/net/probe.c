/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures in rma_init what MPI's windows are good for between nodes. */
#include "config.h"

#include "runtime/net/way.h"
#include "base/attributes.h"
#include "base/clock.h"
#include "base/error.h"
#include "runtime/net/state.h"
#include "runtime/transport/transport.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PROBE "the window's probe" /* the call that errors name */

static int flush_probe(struct rmai_net *net, enum rmai_window_kind window, int pe) {
    return rmai_transport_flush(net->transport, PROBE, window, pe, RMAI_FLUSH_PE);
}

/* Finds the displacement of pe's page before its symmetric heap; pe's directory has the address of the page in its
 * process. */
static int find_page(struct rmai_net *net, enum rmai_window_kind window, int pe, uint64_t *disp) {
    uint64_t *symmetric = &net->probe.symmetric;
    int code;
    *disp = 0;
    if (window == RMAI_FIXED) return RMA_SUCCESS;
    code = rmai_transport_get(net->transport, PROBE, RMAI_FIXED, pe,
                              RMAI_DIRECTORY_AT + offsetof(struct rmai_directory, address[RMAI_PART_SYMMETRIC]),
                              symmetric, sizeof *symmetric);
    if (code == RMA_SUCCESS) code = flush_probe(net, RMAI_FIXED, pe);
    *disp = *symmetric - RMAI_PROBE_ROOM;
    return code;
}

/* ---- does it move what it should? ---- */

enum { PLACES = RMAI_DIRECTORY_AT / 16 - RMAI_PAIR_KINDS }; /* in the page; after them a place for each kind of pairs */

static int write_and_read_back(struct rmai_net *net, enum rmai_window_kind window, int pe, int place) {
    unsigned char *pattern = net->probe.pattern, *back = net->probe.back;
    const size_t len = sizeof net->probe.pattern;
    uint64_t at;
    int code;
    memset(back, 0, len);
    for (size_t i = 0; i < len; i++)
        pattern[i] = (unsigned char)((size_t)net->job->my_pe * 31 + i * 7 + 1 + (size_t)window);
    code = find_page(net, window, pe, &at);
    at += 1 + (uint64_t)place * 16;
    if (code == RMA_SUCCESS) code = rmai_transport_put(net->transport, PROBE, window, pe, at, pattern, len);
    if (code == RMA_SUCCESS) code = flush_probe(net, window, pe);
    if (code == RMA_SUCCESS) code = rmai_transport_get(net->transport, PROBE, window, pe, at, back, len);
    if (code == RMA_SUCCESS) code = flush_probe(net, window, pe);
    if (code == RMA_SUCCESS && memcmp(pattern, back, len) != 0)
        code = rmai_error(RMA_ERR_MPI, "a put through MPI's window did not come back from PE %d as it was", pe);
    return code;
}

/* Tries the next PE of another node. Several PEs of one node may try the same PE, each at its own place in that PE's
 * page; PEs of two nodes never try the same one. PEs without a place do not try: others of their node try the same
 * page. */
int rmai_probe_write_and_read_back(struct rmai_net *net, enum rmai_window_kind window) {
    const struct rmai_job *job = net->job;
    int pe = job->my_pe, code = RMA_SUCCESS;
    do pe = (pe + 1) % job->n_pes;
    while (job->n_nodes > 1 && rmai_node_slot(job, pe) >= 0);
    if (job->node_my_pe < PLACES) code = write_and_read_back(net, window, pe, job->node_my_pe);
    for (int kind = 0; kind < RMAI_PAIR_KINDS && code == RMA_SUCCESS; kind++)
        if (rmai_pair_exists(&job->pairs[kind]) && job->pairs[kind].from == job->my_pe)
            code = write_and_read_back(net, window, job->pairs[kind].to, PLACES + kind);
    return code;
}

/* ---- does it need the target? ---- */

/* One leader of a pair sleeps while the other accesses its page. If the access is done in time, the network does it
 * alone. If not, the target has to drive progress for it, and only our messages and doorbells tell the target to do so.
 * If the target is late, the answer may be wrong; transfers then go by messages, which is slower but correct. */
enum answer { UNKNOWN, ALONE, NEEDS_TARGET };

#define TARGET_SLEEPS 1000000 /* nanoseconds */
#define ORIGIN_WAITS  200000  /* then the target has left MPI */
#define IN_TIME       300e-6  /* seconds */

static int access_page(struct rmai_net *net, enum rmai_window_kind window, enum rmai_access access, int target,
                       uint64_t page) {
    uint64_t *word = &net->probe.word;
    int code;
    code = access == RMAI_ACCESS_PUT ? rmai_transport_put(net->transport, PROBE, window, target, page, word, 1)
                                     : rmai_transport_get(net->transport, PROBE, window, target, page, word, 8);
    return code == RMA_SUCCESS ? flush_probe(net, window, target) : code;
}

/* During one sleep of the target, tries accesses until one is late. */
static int try_accesses(struct rmai_net *net, int target, const uint64_t page[RMAI_WINDOWS],
                        int answer[RMAI_WINDOWS][RMAI_ACCESSES]) {
    double begun;
    int code;
    nanosleep(&(struct timespec){.tv_nsec = ORIGIN_WAITS}, NULL);
    begun = rmai_wtime();
    for (int window = 0; window < RMAI_WINDOWS; window++)
        for (int access = 0; access < RMAI_ACCESSES; access++) {
            if (answer[window][access] != UNKNOWN) continue;
            code = access_page(net, (enum rmai_window_kind)window, (enum rmai_access)access, target, page[window]);
            if (code != RMA_SUCCESS) return code;
            if (rmai_wtime() > begun + IN_TIME) {
                answer[window][access] = NEEDS_TARGET;
                return RMA_SUCCESS;
            }
            answer[window][access] = ALONE;
        }
    return RMA_SUCCESS;
}

/* Fills in the answers that need no trial: if a put through the fixed window needs the target, so does all else; and if
 * a put through a window does, so does a get through it. */
static void conclude(const struct rmai_net *net, int answer[RMAI_WINDOWS][RMAI_ACCESSES]) {
    for (int window = 0; window < RMAI_WINDOWS; window++) {
        const int there = window == RMAI_FIXED ? net->fixed : net->dynamic.open && net->fixed;
        for (int access = 0; access < RMAI_ACCESSES; access++) {
            int *a = &answer[window][access];
            if (*a != UNKNOWN) continue;
            if (!there || answer[window][RMAI_ACCESS_PUT] == NEEDS_TARGET ||
                answer[RMAI_FIXED][RMAI_ACCESS_PUT] == NEEDS_TARGET)
                *a = NEEDS_TARGET;
        }
    }
}

/* The number of answers. */
enum { ANSWERS = (int)RMAI_WINDOWS * (int)RMAI_ACCESSES };

static int all_known(int answer[RMAI_WINDOWS][RMAI_ACCESSES]) {
    for (int i = 0; i < ANSWERS; i++)
        if (answer[i / RMAI_ACCESSES][i % RMAI_ACCESSES] == UNKNOWN) return 0;
    return 1;
}

/* Tries one pair; all PEs take part. */
static int try_pair(struct rmai_net *net, const struct rmai_pair *p, struct rmai_trial *trial) {
    const int asks = p->from == net->job->my_pe, target = p->to;
    int answer[RMAI_WINDOWS][RMAI_ACCESSES] = {{UNKNOWN}}, code = RMA_SUCCESS, nothing = 0, failed;
    uint64_t page[RMAI_WINDOWS] = {0};
    conclude(net, answer);
    if (asks && net->fixed && net->dynamic.open) code = find_page(net, RMAI_DYNAMIC, target, &page[RMAI_DYNAMIC]);
    while (!all_known(answer)) {
        rmai_transport_merge(net->transport, "rma_init", &nothing, 1); /* all PEs meet */
        if (target == net->job->my_pe) nanosleep(&(struct timespec){.tv_nsec = TARGET_SLEEPS}, NULL);
        if (asks && code == RMA_SUCCESS) code = try_accesses(net, target, page, answer);
        if (asks && code != RMA_SUCCESS)
            for (int i = 0; i < ANSWERS; i++) answer[i / RMAI_ACCESSES][i % RMAI_ACCESSES] = NEEDS_TARGET;
        rmai_transport_merge(net->transport, "rma_init", &answer[0][0], ANSWERS);
        conclude(net, answer);
    }
    for (int window = 0; window < RMAI_WINDOWS; window++)
        for (int access = 0; access < RMAI_ACCESSES; access++)
            trial->needs_target[window][access] = answer[window][access] != ALONE;
    trial->made = 1;
    failed = code != RMA_SUCCESS;
    rmai_transport_merge(net->transport, "rma_init", &failed, 1);
    return code == RMA_SUCCESS && failed ? rmai_error(RMA_ERR_MPI, "MPI's window failed on another PE") : code;
}

void rmai_probe_merge(struct rmai_ways *w) {
    for (int i = 0; i < ANSWERS; i++) {
        int *needs = &w->way[i / RMAI_ACCESSES].needs_target[i % RMAI_ACCESSES], trials = 0;
        *needs = 0;
        for (int kind = 0; kind < RMAI_PAIR_KINDS; kind++) {
            trials += w->trial[kind].made;
            *needs |= w->trial[kind].made && w->trial[kind].needs_target[i / RMAI_ACCESSES][i % RMAI_ACCESSES];
        }
        if (!trials) *needs = 1;
    }
}

int rmai_probe_one_sided(struct rmai_net *net) {
    int code = RMA_SUCCESS, one;
    for (int kind = 0; kind < RMAI_PAIR_KINDS; kind++) {
        if (!rmai_pair_exists(&net->job->pairs[kind])) continue;
        one = try_pair(net, &net->job->pairs[kind], &net->ways.trial[kind]);
        if (code == RMA_SUCCESS) code = one;
    }
    rmai_probe_merge(&net->ways);
    return code;
}
