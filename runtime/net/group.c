/* SPDX-License-Identifier: BSD-3-Clause */
/* Meetings go by dissemination (Hensgen, Finkel, Manber 1988): in round k number i tells number i + 2^k, and is told by
 * number i - 2^k. */
#include "config.h"

#include "runtime/net/group.h"
#include "base/attributes.h"
#include "base/error.h"
#include "runtime/net/progress.h"
#include "runtime/net/state.h"
#include "runtime/net/wire.h" /* RMAI_PIECE */

#include <assert.h>
#include <string.h>

static struct rmai_token *add_message(struct rmai_group_messages *m) {
    assert(m->n < RMAI_GROUP_MESSAGES && "the caller waits before it has begun so many messages");
    m->token[m->n] = RMAI_NO_TOKEN;
    return &m->token[m->n++];
}

static int begun(const char *call, int code) {
    if (RMAI_UNLIKELY(code != RMA_SUCCESS)) rmai_error_prefix("%s: ", call);
    return code;
}

int rmai_group_send(struct rmai_group *g, const char *call, struct rmai_group_messages *m, int i, const void *data,
                    size_t len) {
    return begun(call, rmai_send(g->net->transport, rmai_group_pe(g, i), g->tag, data, len, add_message(m)));
}

int rmai_group_receive(struct rmai_group *g, const char *call, struct rmai_group_messages *m, int i, void *data,
                       size_t len) {
    m->receives |= 1u << m->n;
    return begun(call, rmai_receive(g->net->transport, rmai_group_pe(g, i), g->tag, data, len, add_message(m)));
}

int rmai_group_finish(struct rmai_group *g, const char *call, struct rmai_group_messages *m) {
    return rmai_net_finish(g->net, call, m->token, m->n, g->team);
}

void rmai_group_drop(struct rmai_group *g, struct rmai_group_messages *m) {
    for (int k = 0; k < m->n; k++) rmai_token_drop(g->net->transport, &m->token[k], m->receives >> k & 1);
}

static int exchange_piece(struct rmai_group *g, const char *call, int to, const void *out, size_t out_len, int from,
                          void *in, size_t in_len) {
    struct rmai_group_messages m;
    int code = RMA_SUCCESS;
    rmai_group_begin(&m);
    if (from >= 0) code = rmai_group_receive(g, call, &m, from, in, in_len);
    if (code == RMA_SUCCESS && to >= 0) code = rmai_group_send(g, call, &m, to, out, out_len);
    if (code == RMA_SUCCESS) code = rmai_group_finish(g, call, &m);
    if (RMAI_UNLIKELY(code != RMA_SUCCESS)) rmai_group_drop(g, &m);
    return code;
}

int rmai_group_exchange(struct rmai_group *g, const char *call, int to, const void *out, size_t out_len, int from,
                        void *in, size_t in_len) {
    int code;
    size_t done = 0;
    do {
        const size_t out_now = done < out_len ? rmai_min(out_len - done, RMAI_PIECE) : 0,
                     in_now = done < in_len ? rmai_min(in_len - done, RMAI_PIECE) : 0;
        code = exchange_piece(g, call, done == 0 || out_now ? to : -1, out_now ? (const char *)out + done : out,
                              out_now, done == 0 || in_now ? from : -1, in_now ? (char *)in + done : in, in_now);
        done += RMAI_PIECE;
    } while (code == RMA_SUCCESS && (done < out_len || done < in_len));
    return code;
}

int rmai_group_merge(struct rmai_group *g, const char *call, void *data, size_t len, rmai_group_merger *merge) {
    _Alignas(16) unsigned char other[RMAI_MERGE_MOST];
    int code = RMA_SUCCESS;
    assert(len <= sizeof other && "what is merged is short");
    for (int step = 1; code == RMA_SUCCESS && step < g->n; step *= 2) {
        code = rmai_group_exchange(g, call, (g->me + step) % g->n, data, len, (g->me + g->n - step) % g->n, other, len);
        if (code == RMA_SUCCESS && len) merge(data, other);
    }
    return code;
}

int rmai_group_meet(struct rmai_group *g, const char *call) { return rmai_group_merge(g, call, NULL, 0, NULL); }

int rmai_group_one_way(struct rmai_group *g, const char *call) {
    return ++g->one_way % RMAI_ONE_WAY_MOST == 0 ? rmai_group_meet(g, call) : RMA_SUCCESS;
}
