/* SPDX-License-Identifier: BSD-3-Clause */
/* Sections, lists and accumulates (patterns, base/pattern.h) on PEs of other nodes: packing and unpacking. The elements
 * are packed into messages, with the runs of blocks to which they belong, and the target unpacks each message when it
 * arrives. */
#ifndef RMAI_PACKED_H
#define RMAI_PACKED_H

#include <stdint.h>

#include "base/pattern.h"
#include "rma.h"
#include "runtime/net/op.h"

enum rmai_packed_kind { RMAI_PACKED_PUT, RMAI_PACKED_GET, RMAI_PACKED_UPDATE };

struct rmai_packed {
    const char *call;
    struct rmai_pending *set;
    int pe;          /* of another node */
    uint64_t offset; /* in the space of pe: where pattern->least is */
    const struct rmai_pattern *pattern;
    enum rmai_packed_kind what;
    enum rmai_when when;
    void *local;    /* PUT: the source. GET: the destination. UPDATE: the source, or NULL (RMA_OP_FETCH) */
    void *before;   /* UPDATE: where the values before go, or NULL */
    enum rma_op op; /* UPDATE */
    enum rma_type type;
    const void *scale; /* or NULL */
};

/* rmai_net_packed does one call. The caller has checked the arguments; attached memory exists. A put or update is done
 * after quiet, and its source is free on return. A get, and the values before, are there on return with RMAI_NOW, else
 * after quiet. Updates on one PE are done in the order of the calls. Returns RMA_SUCCESS or the recorded error. */
int rmai_net_packed(const struct rmai_packed *x);

#endif
