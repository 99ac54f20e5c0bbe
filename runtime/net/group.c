/* SPDX-License-Identifier: BSD-3-Clause */
/* Meetings go by dissemination (Hensgen, Finkel, Manber 1988): in round k number i signals number i + 2^k, and waits
 * for number i - 2^k.
 *
 * An exchange sends first, and posts its receive while the message travels. Then it polls only its own messages, 8
 * times and without the net's lock; after that it takes the lock and drives all progress after every second poll. One
 * wait in 16 drives progress in any case, so that a program of many short collective calls also serves other PEs. */
#include "config.h"

#include "runtime/net/group.h"
#include "base/attributes.h"
#include "base/error.h"
#include "runtime/net/wait.h"
#include "runtime/net/state.h"

#include <assert.h>
#include <string.h>

#define BOUNCE_MOST                                                                                                    \
    RMAI_SHORT_ARRIVAL   /* bytes: messages up to this length are received in a bounce buffer, and copied */
#define BOUNCE_ROOM 2048 /* room for a message that is somewhat too long, so that it is reported */

static RMAI_COLD int refuse_broken(const char *call) {
    return rmai_error(RMA_ERR_STATE, "%s: an earlier collective call of these PEs has failed between nodes", call);
}

static inline struct rmai_token *add_message(struct rmai_group_messages *m, size_t len) {
    assert(m->n < RMAI_GROUP_MESSAGES && "the caller waits before it has begun so many messages");
    m->token[m->n] = RMAI_NO_TOKEN;
    m->len[m->n] = len;
    return &m->token[m->n++];
}

static RMAI_COLD int fail_to_begin(struct rmai_group *g, const char *call, int code) {
    rmai_error_prefix("%s: ", call);
    g->broken = 1;
    return code;
}

static inline int begun(struct rmai_group *g, const char *call, int code) {
    return RMAI_LIKELY(code == RMA_SUCCESS) ? code : fail_to_begin(g, call, code);
}

int rmai_group_send(struct rmai_group *g, const char *call, struct rmai_group_messages *m, int i, const void *data,
                    size_t len) {
    if (RMAI_UNLIKELY(g->broken)) return refuse_broken(call);
    return begun(g, call,
                 rmai_send(g->net->transport, rmai_group_pe(g, i), g->tag, data, len, add_message(m, RMAI_SENDS)));
}

int rmai_group_receive(struct rmai_group *g, const char *call, struct rmai_group_messages *m, int i, void *data,
                       size_t len) {
    if (RMAI_UNLIKELY(g->broken)) return refuse_broken(call);
    return begun(g, call, rmai_receive(g->net->transport, rmai_group_pe(g, i), g->tag, data, len, add_message(m, len)));
}

static RMAI_COLD int wrong_length(const char *call, const struct rmai_arrival *arrival, size_t expected) {
    return rmai_error(RMA_ERR_MISMATCH,
                      "%s: PE %d has sent %zu byte%s, and this PE expects %zu: the PEs are in different calls, or have "
                      "called with different arguments (RMA_CHECK=1 finds out which)",
                      call, arrival->pe, arrival->len, rmai_s(arrival->len), expected);
}

int rmai_group_finish(struct rmai_group *g, const char *call, struct rmai_group_messages *m) {
    int code = RMA_SUCCESS;
    for (int k = 0; k < m->n && code == RMA_SUCCESS; k++) {
        const int sends = m->len[k] == RMAI_SENDS;
        struct rmai_arrival arrival = {.len = k == m->n - 1 ? m->len[k] : SIZE_MAX};
        code = rmai_net_finish(g->net, call, &m->token[k], sends ? NULL : &arrival, g->team);
        if (code == RMA_SUCCESS && !sends && RMAI_UNLIKELY(arrival.len != m->len[k]))
            code = wrong_length(call, &arrival, m->len[k]);
    }
    if (RMAI_UNLIKELY(code != RMA_SUCCESS)) g->broken = 1;
    return code;
}

void rmai_group_drop(struct rmai_group *g, struct rmai_group_messages *m) {
    for (int k = 0; k < m->n; k++) rmai_token_drop(g->net->transport, &m->token[k], m->len[k] != RMAI_SENDS);
}

/* The send comes first: the other PE waits for it, and the receive is posted while it travels. */
static int exchange_piece(struct rmai_group *g, const char *call, int to, const void *out, size_t out_len, int from,
                          void *in, size_t in_len) {
    struct rmai_group_messages m;
    int code = RMA_SUCCESS;
    rmai_group_begin(&m);
    if (to >= 0) code = rmai_group_send(g, call, &m, to, out, out_len);
    if (code == RMA_SUCCESS && from >= 0) code = rmai_group_receive(g, call, &m, from, in, in_len);
    if (code == RMA_SUCCESS) code = rmai_group_finish(g, call, &m);
    if (RMAI_UNLIKELY(code != RMA_SUCCESS)) rmai_group_drop(g, &m);
    return code;
}

static int exchange_pieces(struct rmai_group *g, const char *call, int to, const char *out, size_t out_len, int from,
                           char *in, size_t in_len) {
    int code = RMA_SUCCESS;
    for (size_t done = 0; code == RMA_SUCCESS && (done < out_len || done < in_len); done += RMAI_PIECE) {
        const size_t out_now = done < out_len ? rmai_min(out_len - done, RMAI_PIECE) : 0,
                     in_now = done < in_len ? rmai_min(in_len - done, RMAI_PIECE) : 0;
        code = exchange_piece(g, call, done == 0 || out_now ? to : -1, out_now ? out + done : out, out_now,
                              done == 0 || in_now ? from : -1, in_now ? in + done : in, in_now);
    }
    return code;
}

/* The message is short: it is received in a buffer with room for more, and copied. */
static int exchange_short(struct rmai_group *g, const char *call, int to, const void *out, size_t out_len, int from,
                          void *in, size_t in_len) {
    struct rmai_transport *t = g->net->transport;
    struct rmai_token sending = RMAI_NO_TOKEN, receiving = RMAI_NO_TOKEN;
    struct rmai_arrival arrival = {.len = in_len};
    unsigned char bounce[BOUNCE_ROOM];
    int code = RMA_SUCCESS;
    if (RMAI_UNLIKELY(g->broken)) return refuse_broken(call);
    if (to >= 0) code = begun(g, call, rmai_send(t, rmai_group_pe(g, to), g->tag, out, out_len, &sending));
    if (from >= 0 && RMAI_LIKELY(code == RMA_SUCCESS))
        code = begun(g, call, rmai_receive(t, rmai_group_pe(g, from), g->tag, bounce, sizeof bounce, &receiving));
    if (to >= 0 && RMAI_LIKELY(code == RMA_SUCCESS)) code = rmai_net_finish(g->net, call, &sending, NULL, g->team);
    if (from >= 0 && RMAI_LIKELY(code == RMA_SUCCESS))
        code = rmai_net_finish(g->net, call, &receiving, &arrival, g->team);
    if (RMAI_LIKELY(code == RMA_SUCCESS) && RMAI_UNLIKELY(arrival.len != in_len))
        code = wrong_length(call, &arrival, in_len);
    if (RMAI_LIKELY(code == RMA_SUCCESS)) {
        if (in_len) memcpy(in, bounce, in_len);
        return code;
    }
    g->broken = 1;
    rmai_token_drop(t, &sending, 0);
    rmai_token_drop(t, &receiving, 1);
    return code;
}

int rmai_group_exchange(struct rmai_group *g, const char *call, int to, const void *out, size_t out_len, int from,
                        void *in, size_t in_len) {
    return RMAI_LIKELY(in_len <= BOUNCE_MOST && out_len <= RMAI_PIECE)
               ? exchange_short(g, call, to, out, out_len, from, in, in_len)
               : exchange_pieces(g, call, to, out, out_len, from, in, in_len);
}

int rmai_group_merge(struct rmai_group *g, const char *call, void *data, size_t len, rmai_group_merger *merge) {
    _Alignas(16) unsigned char other[RMAI_MERGE_MOST];
    int code = RMA_SUCCESS;
    assert(len <= sizeof other && "what is merged is short");
    for (int step = 1; code == RMA_SUCCESS && step < g->n; step *= 2) {
        const int to = g->me + step, from = g->me - step;
        code =
            exchange_short(g, call, to < g->n ? to : to - g->n, data, len, from < 0 ? from + g->n : from, other, len);
        if (code == RMA_SUCCESS && len) merge(data, other);
    }
    return code;
}

int rmai_group_meet(struct rmai_group *g, const char *call) { return rmai_group_merge(g, call, NULL, 0, NULL); }

int rmai_group_one_way(struct rmai_group *g, const char *call) {
    return ++g->one_way % RMAI_ONE_WAY_MOST == 0 ? rmai_group_meet(g, call) : RMA_SUCCESS;
}
