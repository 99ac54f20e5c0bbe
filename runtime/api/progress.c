/* SPDX-License-Identifier: BSD-3-Clause */
/* The public calls that drive progress between nodes, or let a thread drive it. */
#include "config.h"

#include "base/error.h"
#include "runtime/net/progress.h"
#include "runtime/net/progress_thread.h"
#include "runtime/reach.h"
#include "runtime/world.h"

int rma_progress(void) {
    int code = rmai_running("rma_progress");
    if (code == RMA_SUCCESS) rmai_net_progress(rmai_world.net, 0);
    return rmai_raise(code);
}

int rma_progress_thread(int on) {
    struct rmai_world *w = &rmai_world;
    int code = rmai_running("rma_progress_thread");
    if (code != RMA_SUCCESS || !w->net) return rmai_raise(code);
    if (on) return rmai_raise(rmai_progress_thread_start(w->progress_thread, w->net, "rma_progress_thread"));
    rmai_progress_thread_end(w->progress_thread);
    return RMA_SUCCESS;
}
