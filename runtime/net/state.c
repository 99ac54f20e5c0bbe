/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/state.h"
#include "base/error.h"

#include <stdio.h>
#include <string.h>

/* What the service cannot go on without has failed. Requests of this process refer to memory of callers that must not
 * return: the job ends, whatever the error handler. */
void rmai_net_fatal(void) {
    char text[1024];
    memcpy(text, rma_last_error(), sizeof text);
    text[sizeof text - 1] = 0;
    rma_errors_abort(rma_last_code(), text);
}

int rmai_net_no_memory(const char *call, int pe) {
    return rmai_error(RMA_ERR_NO_MEM, "%s: no memory for a request to PE %d", call, pe);
}

int rmai_net_damaged(int from, const char *wrong) {
    return rmai_error(RMA_ERR_MPI, "a message from PE %d is damaged: %s", from, wrong);
}

/* A record that no mistake of the caller's lets fail brings no text back: its owner had no memory, or MPI failed there.
 */
int rmai_net_failed_there(const char *call, int pe, int code) {
    return rmai_error(code, "%s: PE %d could not do it: %s", call, pe, rma_strerror(code));
}
