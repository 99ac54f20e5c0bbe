/* SPDX-License-Identifier: BSD-3-Clause */
/* Broadcast. On a node each PE copies from the root's own buffer, once, all at the same time. Across nodes the root's
 * node leader hands the data to the other leaders, and their nodes' PEs copy from them. */
#include "config.h"

#include "base/error.h"
#include "runtime/transfer.h"
#include "runtime/world.h"

#include <string.h>

#define NAME "rma_broadcast"

static int check(const struct rmai_world *w, const void *dest, const void *source, size_t len, int root) {
    struct rmai_place p;
    int code = rmai_check_pe(w, NAME, "root", root);
    if (code == RMA_SUCCESS && len) code = rmai_resolve(NAME, "dest", RMA_CTX_DEFAULT, dest, len, w->my_pe, &p);
    if (code == RMA_SUCCESS && len) code = rmai_resolve(NAME, "source", RMA_CTX_DEFAULT, source, len, w->my_pe, &p);
    return code;
}

static int copy_from(struct rmai_world *w, void *dest, const void *symmetric, size_t len, int pe) {
    struct rmai_place p;
    int code = RMA_SUCCESS;
    if (pe == w->my_pe)
        memmove(dest, symmetric, len);
    else if ((code = rmai_resolve(NAME, "source", RMA_CTX_DEFAULT, symmetric, len, pe, &p)) == RMA_SUCCESS)
        code = rmai_place_get(w, NAME, &p, dest, len, RMAI_NOW);
    return code;
}

/* The leaders' numbers are their nodes'; only the root's node knows which that is. */
static int root_node(struct rmai_world *w, int root, int *node) {
    const uint64_t mine[RMAI_AGREE_FIELDS] = {rmai_node_slot(w, root) >= 0 ? (uint64_t)w->my_node + 1 : 0};
    struct rmai_verdict v;
    int code = rmai_agree_on(w, NAME, RMAI_STATUS, mine, &v);
    *node = (int)v.field[0].max - 1;
    return code;
}

static int among_leaders(struct rmai_world *w, char *data, size_t len, int root) {
    int code = RMA_SUCCESS;
    for (size_t done = 0; code == RMA_SUCCESS && done < len; done += RMAI_PIECE) {
        MPI_Request request;
        code = rmai_net_broadcast(&w->net, NAME, data + done, rmai_min(len - done, RMAI_PIECE), root, &request);
        if (code == RMA_SUCCESS) code = rmai_far_finish(w, NAME, "MPI_Ibcast", &request);
    }
    return code;
}

static int across_nodes(struct rmai_world *w, void *dest, const void *source, size_t len, int root) {
    int node, code = root_node(w, root, &node);
    if (code != RMA_SUCCESS) return code;
    if (w->node_my_pe == 0) {
        int copied = node == w->my_node ? copy_from(w, dest, source, len, root) : RMA_SUCCESS;
        code = among_leaders(w, dest, len, node);
        if (code == RMA_SUCCESS) code = copied;
    }
    rmai_barrier_node(&w->barrier);
    if (w->node_my_pe != 0 && code == RMA_SUCCESS) code = copy_from(w, dest, dest, len, w->node_pes[0]);
    return code;
}

int rma_broadcast(void *dest, const void *source, size_t len, int root) {
    static const char *const what[RMAI_AGREE_FIELDS] = {"the length in bytes", "the root", "the buffers' offsets (combined)"};
    struct rmai_world *w = &rmai_world;
    int code = rmai_running(NAME);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    const uint64_t field[RMAI_AGREE_FIELDS - 1] = {
        len, (uint64_t)root,
        rmai_symmetric_offset(w, dest) << 32 ^ rmai_symmetric_offset(w, source)};
    code = rmai_agree_arguments(w, NAME, RMAI_BROADCAST, check(w, dest, source, len, root), field, what);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    if (len && w->n_nodes > 1) {
        code = across_nodes(w, dest, source, len, root);
    } else if (len) {
        code = copy_from(w, dest, source, len, root);
    }
    /* The root must not write its buffer anew before all have read it. Who failed to read meets them too. */
    int met = rmai_meet(w, NAME);
    return rmai_raise(code != RMA_SUCCESS ? code : met);
}
