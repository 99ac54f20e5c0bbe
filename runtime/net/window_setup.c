/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/window_setup.h"
#include "base/clock.h"
#include "base/error.h"
#include "runtime/net/progress.h"
#include "runtime/net/state.h"
#include "runtime/net/transport_mpi.h"
#include "runtime/net/window.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define PROBE "the window's probe" /* the call that errors name */

static int flush_probe(struct rmai_net *net, int pe) {
    return rmai_transport_flush(net->transport, PROBE, pe, RMAI_FLUSH_PE);
}

/* Tells all PEs whether all succeeded. */
static int all_succeeded(struct rmai_transport_mpi *mpi, int code) {
    int bad = code != RMA_SUCCESS;
    return rmai_transport_mpi_worst(mpi, &bad, 1) == RMA_SUCCESS && !bad;
}

/* Agrees on how making the window went: `code` here. *well becomes 1 if all PEs can use theirs. A window that some PEs
 * have and others could not make can neither be used nor be freed, since all PEs would have to take part: it stays, and
 * the call fails on all PEs. */
static int agree_on_window(struct rmai_net *net, struct rmai_transport_mpi *mpi, const char *call, int code,
                           int *well) {
    enum { BAD, HAS, HAS_NOT }; /* HAS_NOT: the first of them is the largest */
    const int none = !rmai_transport_mpi_has_window(mpi);
    int worst[] = {
        [BAD] = code != RMA_SUCCESS, [HAS] = !none, [HAS_NOT] = none ? net->job->n_pes - net->job->my_pe : 0};
    int met = rmai_transport_mpi_worst(mpi, worst, 3);
    *well = met == RMA_SUCCESS && !worst[BAD];
    if (met != RMA_SUCCESS || !worst[HAS] || !worst[HAS_NOT]) return met;
    rmai_transport_mpi_forget_window(mpi);
    if (none) {
        rmai_error_prefix("%s: ", call);
        /* The others know no reason, and one of them may end the job first. */
        rmai_note("PE %d: %s", net->job->my_pe, rma_last_error());
        return RMA_ERR_MPI;
    }
    return rmai_error(RMA_ERR_MPI, "%s: PE %d could not make its part of MPI's window", call,
                      net->job->n_pes - worst[HAS_NOT]);
}

/* Returns 1 if a put gets to its place while the target is not in MPI: then the network does it alone. If not, the
 * target has to drive progress for it, and knows only by our messages and doorbells that it should. Tried once, by two
 * leaders: leader 1 sleeps while leader 0 puts. If leader 1 is late the answer may be wrong, and small transfers then
 * go as messages: that is slower, and does no harm. */
static int probe_one_sided(struct rmai_net *net, struct rmai_transport_mpi *mpi) {
    int target = net->job->node_my_pe == 0 ? net->job->leaders[1] : -1, code;
    int met = 0;
    double begun;
    rmai_transport_mpi_worst(mpi, &met, 1); /* all come together, so that the one sleeps while the other puts */
    if (target == net->job->my_pe) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    if (target < 0 || net->job->my_node != 0) return 1;
    nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL); /* it has left MPI */
    begun = rmai_wtime();
    code = rmai_transport_put(net->transport, PROBE, target, 0, &target, 1);
    if (code == RMA_SUCCESS) code = flush_probe(net, target);
    return code == RMA_SUCCESS && rmai_wtime() < begun + 300e-6;
}

/* Puts a pattern at an odd place in the page before the heap of a PE on another node, and reads it back: some versions
 * of MPI and UCX shift what is put into a window with an unlucky base. */
static int write_and_read_back(struct rmai_net *net) {
    unsigned char pattern[13], back[13] = {0};
    size_t at = 1 + (size_t)(net->job->my_pe % 128) * 16;
    int pe = net->job->my_pe, code;
    do pe = (pe + 1) % net->job->n_pes;
    while (net->job->n_nodes > 1 && rmai_node_slot(net->job, pe) >= 0);
    for (size_t i = 0; i < sizeof pattern; i++) pattern[i] = (unsigned char)((size_t)net->job->my_pe * 31 + i * 7 + 1);
    code = rmai_transport_put(net->transport, PROBE, pe, at, pattern, sizeof pattern);
    if (code == RMA_SUCCESS) code = flush_probe(net, pe);
    if (code == RMA_SUCCESS) code = rmai_transport_get(net->transport, PROBE, pe, at, back, sizeof back);
    if (code == RMA_SUCCESS) code = flush_probe(net, pe);
    if (code == RMA_SUCCESS && memcmp(pattern, back, sizeof back) != 0)
        code = rmai_error(RMA_ERR_MPI, "a put through MPI's window did not come back from PE %d as it was", pe);
    return code;
}

static int without_window(struct rmai_net *net, struct rmai_transport_mpi *mpi, const char *call) {
    const char *why = *rma_last_error() ? rma_last_error() : "it failed on another PE";
    int code = RMA_SUCCESS, ended;
    if (net->amo_mpi) {
        char text[RMAI_TEXT_MAX];
        snprintf(text, sizeof text, "%s", why);
        code = rmai_error(RMA_ERR_MPI, "%s: MPI's window, which RMA_AMO=mpi needs, cannot be used: %s", call, text);
    } else if (!net->said_windowless++ && net->job->my_pe == 0) {
        rmai_note("MPI's window is not used between nodes, messages are: %s", why);
    }
    net->covered = 0;
    net->windowless = 1;
    net->amo_mpi = 0;
    ended = rmai_transport_mpi_end_window(mpi);
    return code == RMA_SUCCESS ? ended : code;
}

int rmai_window_make(struct rmai_net *net, struct rmai_transport_mpi *mpi, const char *call, char *base, size_t size,
                     int code) {
    int well, flushed, made;
    rmai_net_lock(net);
    net->covered = 0; /* seen by whoever takes a set's lock after the flush */
    flushed = rmai_window_flush_all(net, call);
    if (code == RMA_SUCCESS) code = flushed;
    made = rmai_transport_mpi_window(mpi, base - RMAI_PROBE_ROOM, size + RMAI_PROBE_ROOM, net->amo_mpi);
    made = agree_on_window(net, mpi, call, made, &well);
    if (made != RMA_SUCCESS) {
        rmai_net_unlock(net);
        return made;
    }
    if (well) well = all_succeeded(mpi, write_and_read_back(net));
    if (well) {
        atomic_store_explicit(&net->covered, size, memory_order_release);
        __atomic_store_n(&net->by_mpi, size, __ATOMIC_RELAXED);
    } else {
        code = without_window(net, mpi, call);
    }
    rmai_net_unlock(net);
    if (well && net->one_sided < 0 && net->job->n_nodes > 1)
        net->one_sided = all_succeeded(mpi, probe_one_sided(net, mpi) ? RMA_SUCCESS : RMA_ERR_MPI);
    return code;
}

int rmai_window_wanted(const struct rmai_net *net, size_t size) {
    const size_t covered = net->covered;
    if (!net->active || net->windowless) return 0;
    return covered == 0 || size - covered > (net->amo_mpi ? 0 : covered / 4);
}
