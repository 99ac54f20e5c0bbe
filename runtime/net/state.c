/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/state.h"
#include "base/error.h"
#include "runtime/net/net.h"

#include <stdlib.h>

void rmai_net_fatal(struct rmai_net *net) {
    net->handlers.fatal(net->handlers.context);
    abort(); /* not reached: the handler does not return */
}

int rmai_net_no_memory(const char *call, int pe) {
    return rmai_error(RMA_ERR_NO_MEM, "%s: no memory for a request to PE %d", call, pe);
}

int rmai_net_damaged(int from, const char *wrong) {
    return rmai_error(RMA_ERR_MPI, "a message from PE %d is damaged: %s", from, wrong);
}

int rmai_net_failed_there(const char *call, int pe, int code) {
    return rmai_error(code, "%s: the operation failed on PE %d: %s", call, pe, rma_strerror(code));
}
