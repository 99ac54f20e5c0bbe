/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/messages.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

static int post_receive(struct rmai_messages *m, struct rmai_transport *t, unsigned i) {
    return rmai_receive(t, RMAI_ANY_PE, RMAI_SHORT_TAG, m->buffer[i], RMAI_MESSAGE, &m->posted[i]);
}

int rmai_messages_open(struct rmai_messages *m, struct rmai_transport *t) {
    int code = RMA_SUCCESS;
    memset(m, 0, sizeof *m);
    m->buffer = malloc(RMAI_POSTED * sizeof *m->buffer);
    if (!m->buffer)
        return rmai_error(RMA_ERR_NO_MEM, "rma_init: no memory for the %d receives of messages", RMAI_POSTED);
    for (unsigned i = 0; code == RMA_SUCCESS && i < RMAI_POSTED; i++) code = post_receive(m, t, i);
    if (code != RMA_SUCCESS) rmai_error_prefix("rma_init: ");
    return code;
}

void rmai_messages_close(struct rmai_messages *m, struct rmai_transport *t) {
    for (unsigned i = 0; i < RMAI_POSTED; i++) rmai_token_drop(t, &m->posted[i], 1);
    free(m->buffer);
    m->buffer = NULL;
}

const void *rmai_messages_next(struct rmai_messages *m, struct rmai_transport *t, int *from, size_t *len, int *code) {
    *code = RMA_SUCCESS;
    if (m->read) {
        m->read = 0;
        *code = post_receive(m, t, (m->next + RMAI_POSTED - 1) % RMAI_POSTED);
        if (*code != RMA_SUCCESS) return NULL;
    }
    if (!m->arrived) {
        int done = t->operations->test(t, &m->posted[m->next], &m->arrival);
        if (done < 0) *code = RMA_ERR_MPI;
        if (done <= 0) return NULL;
        m->arrived = 1;
    }
    *from = m->arrival.pe;
    *len = m->arrival.len;
    return m->buffer[m->next];
}

int rmai_messages_await(struct rmai_messages *m, struct rmai_transport *t, int tests) {
    for (; tests > 0 && !m->read && !m->arrived; tests--) {
        const int done = t->operations->test(t, &m->posted[m->next], &m->arrival);
        if (done < 0) return RMA_ERR_MPI;
        m->arrived = done;
    }
    return RMA_SUCCESS;
}

void rmai_messages_done(struct rmai_messages *m) {
    m->arrived = 0;
    m->read = 1;
    m->next = (m->next + 1) % RMAI_POSTED;
}
