/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/net.h"
#include "base/error.h"
#include "runtime/net/flow.h"
#include "runtime/net/progress.h"
#include "runtime/net/request.h"
#include "runtime/net/state.h"
#include "runtime/net/way.h"

#include <stdlib.h>
#include <string.h>

static void free_net(struct rmai_net *net) {
    rmai_serve_close(net);
    rmai_flows_close(net);
    free(net->transfer);
    rmai_inbox_close(net);
    pthread_mutex_destroy(&net->dynamic.lock);
    pthread_mutex_destroy(&net->lock);
    free(net);
}

int rmai_net_open(const struct rmai_job *job, struct rmai_transport *transport, struct rmai_traffic *traffic,
                  const struct rmai_net_handlers *handlers, int crowded, struct rmai_net **opened) {
    const struct rmai_settings *settings = &job->settings;
    const int has_window = transport->operations->put != NULL;
    struct rmai_net *net = *opened = calloc(1, sizeof *net);
    int code;
    if (!net)
        return rmai_error(RMA_ERR_NO_MEM, "rma_init: no memory for what goes between nodes, %zu bytes", sizeof *net);
    pthread_mutex_init(&net->lock, NULL);
    net->biased = job->level != RMA_THREAD_MULTIPLE && rmai_biased_works();
    net->alone = net->biased && job->node_n_pes == 1;
    net->job = job;
    net->transport = transport;
    net->traffic = traffic;
    net->handlers = *handlers;
    net->slept_on = job->spaces ? &rmai_facts(job, job->node_my_pe)->slept_on : &net->no_sleep;
    net->crowded = crowded;
    rmai_ways_open(&net->ways);
    /* A flush polls, and takes a processor from the PEs that it waits for. */
    net->windowless = !has_window || settings->window == RMAI_WINDOW_NONE ||
                      (job->crowded_somewhere && settings->window == RMAI_WINDOW_AUTO);
    net->fixed = !net->windowless;
    pthread_mutex_init(&net->dynamic.lock, NULL);
    code = rmai_inbox_open(net);
    if (code == RMA_SUCCESS) code = rmai_serve_open(net);
    if (code == RMA_SUCCESS) return code;
    free_net(net);
    *opened = NULL;
    return code;
}

void rmai_net_agreed(struct rmai_net *net) {
    if (net) rmai_by_node_open(&net->by_node, net->job);
}

struct rmai_transport *rmai_net_transport(struct rmai_net *net) {
    return net->transport;
}

int rmai_net_has_window(const struct rmai_net *net) { return net && (net->fixed || net->dynamic.open); }

uint32_t *rmai_net_alone(struct rmai_net *net) {
    _Static_assert(offsetof(struct rmai_biased, guest) == sizeof(uint32_t) &&
                       sizeof(_Atomic uint32_t) == sizeof(uint32_t),
                   "the inlined calls know where inside and guest are");
    return net && net->alone ? (uint32_t *)(void *)&net->bias : NULL;
}

void rmai_net_set_bell(struct rmai_net *net, struct rmai_bell bell) {
    rmai_net_enter(net);
    net->bell = bell;
    rmai_net_leave(net);
}

int rmai_net_rests(struct rmai_net *net) {
    int rests = !net->transfers && !net->serving;
    for (struct rmai_pending *s = net->sets; rests && s; s = s->next_set) {
        rests = !s->touched;
        for (const struct rmai_flow *f = s->busy; rests && f; f = f->next) rests = !rmai_flow_waits(f);
    }
    return rests;
}

/* Frees the windows while messages can still be received: all PEs meet in that. */
static int end_windows(struct rmai_transport *t) {
    int code = RMA_SUCCESS, one;
    for (int window = 0; t->operations->end_window && window < RMAI_WINDOWS; window++) {
        one = rmai_transport_end_window(t, (enum rmai_window_kind)window);
        if (code == RMA_SUCCESS) code = one;
    }
    return code;
}

int rmai_net_close(struct rmai_net *net) {
    int code;
    if (!net) return RMA_SUCCESS;
    code = end_windows(net->transport);
    free_net(net);
    return code;
}
