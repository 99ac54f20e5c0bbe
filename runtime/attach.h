/* SPDX-License-Identifier: BSD-3-Clause */
/* This PE's attached regions. */
#ifndef RMAI_ATTACH_H
#define RMAI_ATTACH_H

#include <stddef.h>

#include "runtime/world.h"

/* rmai_attachments_open makes the empty table in this PE's space (init); RMA_ERR_NO_MEM. rmai_attachments_close forgets
 * everything (finalize). */
int rmai_attachments_open(struct rmai_world *w);
void rmai_attachments_close(struct rmai_world *w);

/* rmai_attachment_gptr is the global pointer of [addr, addr + len) in this PE's attached memory, or RMA_GPTR_NULL. */
rma_gptr_t rmai_attachment_gptr(struct rmai_world *w, const void *addr, size_t len);

/* rmai_gptr_own is the global pointer of [addr, addr + len) in any accessible memory of this PE, or RMA_GPTR_NULL. */
rma_gptr_t rmai_gptr_own(struct rmai_world *w, const void *addr, size_t len);

/* rmai_attach_hold makes [base, base + size) accessible for `call`: part of a region that is attached, which then
 * stays when the program detaches it, or a region of its own. Errors as rma_attach, recorded only. *held is for
 * rmai_attach_release: where that ends the region it waits for those who are in it, as rma_detach does, and serves
 * others meanwhile. */
int rmai_attach_hold(struct rmai_world *w, const char *call, void *base, size_t size, rma_gptr_t *g, void **held);
void rmai_attach_release(struct rmai_world *w, const char *call, void *held);

/* rmai_exposed_forget frees the list of exposures (finalize). */
void rmai_exposed_forget(struct rmai_world *w);

#endif
