/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/net.h"
#include "runtime/net/batch.h"
#include "runtime/net/link.h"
#include "runtime/net/reply.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int rmai_net_open(struct rmai_net *net, const struct rmai_job *job, struct rmai_transport *transport,
                  struct rmai_traffic *traffic, const struct rmai_net_handlers *handlers, int crowded) {
    const struct rmai_settings *settings = &job->settings;
    const int has_window = transport->operations->put != NULL;
    int code;
    memset(net, 0, offsetof(struct rmai_net, batch)); /* of the batches there are none: their 8 KiB stay untouched */
    pthread_mutex_init(&net->lock, NULL);
    pthread_mutex_init(&net->sets_lock, NULL);
    net->active = 1;
    net->biased = job->level != RMA_THREAD_MULTIPLE && rmai_biased_works();
    net->job = job;
    net->transport = transport;
    net->traffic = traffic;
    net->handlers = *handlers;
    net->slept_on = job->spaces ? &rmai_facts(job, job->node_my_pe)->slept_on : &net->no_sleep;
    net->crowded = crowded;
    /* A flush polls, and takes a processor from those it waits for. */
    net->windowless = !has_window || settings->window == RMAI_WINDOW_NONE ||
                      (job->crowded_somewhere && settings->window == RMAI_WINDOW_AUTO);
    net->fixed = !net->windowless;
    pthread_mutex_init(&net->dynamic.lock, NULL);
    code = rmai_messages_open(&net->messages, transport);
    return code == RMA_SUCCESS ? rmai_reply_open(net) : code;
}

void rmai_net_close(struct rmai_net *net) {
    if (!net->active) return;
    net->active = net->dynamic.open = 0;
    rmai_reply_close(net);
    for (unsigned i = 0; i < net->n_batches; i++) free(net->batch[i]);
    rmai_links_close(net);
    rmai_messages_close(&net->messages, net->transport);
    pthread_mutex_destroy(&net->dynamic.lock);
    pthread_mutex_destroy(&net->sets_lock);
    pthread_mutex_destroy(&net->lock);
}
