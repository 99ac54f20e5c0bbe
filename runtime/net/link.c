/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/link.h"
#include "base/attributes.h"
#include "runtime/net/messages.h"
#include "runtime/net/pe_table.h"
#include "runtime/net/state.h"

struct rmai_link *rmai_link_to(struct rmai_net *net, int pe) {
    if (RMAI_LIKELY(net->link && net->link->pe == pe)) return net->link;
    return net->link = rmai_pe_table_find(&net->links, pe, sizeof(struct rmai_link));
}

/* While an earlier message of this kind is still under way, the debt stays. Returns RMA_SUCCESS or RMA_ERR_MPI. */
static int tell_done(struct rmai_net *net, struct rmai_link *link) {
    const int free = rmai_token_done(net->transport, &link->sent);
    if (free <= 0) return free < 0 ? RMA_ERR_MPI : RMA_SUCCESS;
    link->done = (struct rmai_envelope){.kind = RMAI_WIRE_DONE, .done = rmai_link_pay(link)};
    return rmai_send(net->transport, link->pe, RMAI_SHORT_TAG, &link->done, sizeof link->done, &link->sent);
}

int rmai_link_owe(struct rmai_net *net, struct rmai_link *link) {
    if (!link->listed) {
        link->listed = 1;
        link->next = net->owing;
        net->owing = link;
    }
    return ++link->owed >= RMAI_OWED_MOST ? tell_done(net, link) : RMA_SUCCESS;
}

int rmai_links_settle(struct rmai_net *net) {
    int code = RMA_SUCCESS;
    for (struct rmai_link *link, **i = &net->owing; code == RMA_SUCCESS && (link = *i) != NULL;) {
        if (link->owed) code = tell_done(net, link);
        if (link->owed) {
            i = &link->next;
            continue;
        }
        link->listed = 0;
        *i = link->next;
    }
    return code;
}

void rmai_links_close(struct rmai_net *net) {
    for (unsigned i = 0; i < net->links.room; i++) {
        struct rmai_link *link = (struct rmai_link *)(void *)net->links.entry[i];
        if (link) rmai_token_drop(net->transport, &link->sent, 0);
    }
    rmai_pe_table_close(&net->links);
    net->link = net->owing = NULL;
}
