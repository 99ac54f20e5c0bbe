/* SPDX-License-Identifier: BSD-3-Clause */
/* Broadcast: the root's data reach all PEs of the team. On a node all PEs copy at the same time, from the root's bounce
 * buffer or from the root's own buffer. If the team is on several nodes, the leader of the root's node sends the data
 * to the other leaders, and each leader passes them to its node while they travel on. If the root is not a leader, the
 * PEs of its node get the data first. */
#include "config.h"

#include "base/attributes.h"
#include "base/error.h"
#include "collectives/between.h"
#include "collectives/call.h"
#include "runtime/net/group.h"
#include "runtime/net/progress.h"
#include "runtime/node/mailbox.h"
#include "runtime/team.h"

#include <string.h>

#define COPY_PIECE ((size_t)256 << 10) /* bytes: some tens of microseconds */

/* Copies for a root that is alone on its node, and drives progress meanwhile: its messages are under way, and the
 * network may need this PE for them.
 */
static void copy_and_progress(const struct rmai_call *c, char *dest, const char *source, size_t len) {
    if (dest == source) return;
    for (size_t done = 0; done < len; done += COPY_PIECE) {
        if (done > 0) rmai_net_progress(c->w->net, 1);
        memcpy(dest + done, source + done, rmai_min(len - done, COPY_PIECE));
    }
}

static int broadcast_across_nodes(const struct rmai_call *c, const struct rmai_buffer *dest,
                                  const struct rmai_buffer *source, int root) {
    const struct rmai_mailboxes *near = c->near;
    struct rmai_team_nodes *nodes = &c->t->nodes;
    const int near_root = rmai_mailbox_number(near, root), leads = near->me == 0;
    const void *from = near_root == 0 ? source->addr : dest->addr;
    void *data = (void *)(uintptr_t)dest->addr;
    struct rmai_group_messages under_way;
    int code = RMA_SUCCESS;
    rmai_group_begin(&under_way);
    if (near_root > 0) rmai_spread(c, near_root, data, source->addr, source->offset, dest->len);
    if (leads)
        code = rmai_leader_code(c, rmai_between_broadcast(&nodes->leaders, c->name, data, from, dest->len,
                                                          rmai_team_node(nodes, root), &under_way));
    if (near->n == 1)
        copy_and_progress(c, data, from, dest->len);
    else if (near_root <= 0)
        rmai_spread(c, 0, data, from, near_root == 0 ? source->offset : dest->offset, dest->len);
    if (!leads || code != RMA_SUCCESS) return rmai_call_code(c, code);
    code = rmai_group_finish(&nodes->leaders, c->name, &under_way);
    if (code != RMA_SUCCESS) rmai_group_drop(&nodes->leaders, &under_way);
    return code;
}

int rma_broadcast(rma_team *team, void *dest, const void *source, size_t len, int root) {
    struct rmai_call c;
    struct rmai_buffer to = {.argument = "dest", .addr = dest, .len = len, .align = 1};
    struct rmai_buffer from = {.argument = "source", .addr = source, .len = len, .align = 1};
    int code = rmai_call_begin(&c, "rma_broadcast", team);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    if (root < 0 || root >= c.t->n)
        code = rmai_error(RMA_ERR_PE, "rma_broadcast: root %d is outside 0..%d of the team", root, c.t->n - 1);
    if (c.t->me != root) from = (struct rmai_buffer){.argument = "source", .align = 1};
    if (code == RMA_SUCCESS) code = rmai_call_buffers(&c, &to, &from);
    code = rmai_call_agree(&c, code,
                           &(struct rmai_statement){.call = RMAI_CALL_BROADCAST, .number = {root}, .length = len});
    if (code != RMA_SUCCESS) return rmai_raise(code);
    if (len == 0) return rmai_call_nothing(&c, RMAI_FROM_ROOT, root);
    if (!c.far) {
        rmai_spread(&c, rmai_mailbox_number(c.near, root), dest, source, from.offset, len);
        return RMA_SUCCESS;
    }
    code = rmai_call_reaches(&c);
    if (code == RMA_SUCCESS) code = broadcast_across_nodes(&c, &to, &from, root);
    return rmai_raise(code);
}
