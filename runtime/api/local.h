/* SPDX-License-Identifier: BSD-3-Clause */
/* This PE's own pool of its local heap. */
#ifndef RMAI_LOCAL_H
#define RMAI_LOCAL_H

struct rmai_world;

/* rmai_local_free frees a block of this PE's own pool. Returns RMA_SUCCESS, RMA_ERR_BASE, RMA_ERR_ADDRESS (overrun). */
int rmai_local_free(struct rmai_world *w, const char *call, void *base);

#endif
