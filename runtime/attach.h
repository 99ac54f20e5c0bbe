/* SPDX-License-Identifier: BSD-3-Clause */
/* This PE's attached regions: the public calls, and what runtime/space and runtime/api/expose need of them. */
#ifndef RMAI_ATTACH_H
#define RMAI_ATTACH_H

#include <stddef.h>

#include "heap/attached.h"
#include "rma.h"

struct attachment; /* runtime/attach.c */
struct rmai_exposed;
struct rmai_world;

/* The regions that this PE has attached; other PEs see the table only. */
struct rmai_attachments {
    struct rmai_attached table;
    void *by_address;             /* tree (tsearch(3)) of struct attachment, see runtime/attach.c */
    struct attachment *apart;     /* list of those that overlap regions of the tree */
    struct rmai_exposed *exposed; /* list, see runtime/api/expose.c */
};

/* rmai_attachments_open makes the empty table in this PE's space (init). Returns RMA_SUCCESS or RMA_ERR_NO_MEM.
 * rmai_attachments_close frees this PE's records of its regions (finalize). */
int rmai_attachments_open(struct rmai_world *w);
void rmai_attachments_close(struct rmai_world *w);

/* rmai_attachment_gptr is the global pointer of [addr, addr + len) in this PE's attached memory, or RMA_GPTR_NULL. */
rma_gptr_t rmai_attachment_gptr(struct rmai_world *w, const void *addr, size_t len);

/* rmai_attach_hold makes [base, base + size) accessible for `call`. Where it is part of an attached region, that region
 * outlives the program's rma_detach; elsewhere it becomes a region of its own. windows: the rules are those of MPI's
 * windows, whose memory may overlap other regions, or be in the heap of another PE of the node. Records the errors of
 * rma_attach. *held is for rmai_attach_release. A release that ends the region waits, as rma_detach does, for the
 * accesses under way in it, and serves other PEs meanwhile. */
int rmai_attach_hold(struct rmai_world *w, const char *call, void *base, size_t size, int windows, rma_gptr_t *g,
                     void **held);
void rmai_attach_release(struct rmai_world *w, const char *call, void *held);

#endif
