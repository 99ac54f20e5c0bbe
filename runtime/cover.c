/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/cover.h"
#include "runtime/meet.h"
#include "runtime/net/blocking.h"
#include "runtime/net/window_setup.h"
#include "runtime/world.h"

int rmai_cover(struct rmai_world *w, const char *call) {
    struct rmai_blocking blocking = {0};
    int code;
    if (!rmai_window_wanted(w->net, w->symmetric.size)) return RMA_SUCCESS;
    /* All have met when the window is taken down: until then each may need an answer from one who would wait in there.
     */
    code = rmai_meet(w, call);
    if (!w->blocking) /* rma_init is watched as a whole */
        rmai_blocking_begin(&blocking, &w->job.settings, call, "making MPI's window by MPI_Win_create", 1);
    code = rmai_window_make(w->net, w->mpi, call, w->symmetric.base, w->symmetric.size, code);
    rmai_blocking_end(&blocking);
    return code;
}
