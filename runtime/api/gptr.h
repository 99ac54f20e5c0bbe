/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a global pointer leads, for the calls that take one. */
#ifndef RMAI_GPTR_H
#define RMAI_GPTR_H

#include <stddef.h>

#include "rma.h"

struct rmai_place;

/* rmai_resolve_gptr finds [g + from, g + from + len), for an access in ctx that needs that alignment. It
 * enters an attached region, p->region. `argument` names the parameter in texts. Returns as rmai_resolve (transfer.h).
 */
int rmai_resolve_gptr(const char *call, const char *argument, const rma_ctx *ctx, rma_gptr_t g, ptrdiff_t from,
                      size_t len, size_t align, struct rmai_place *p);

#endif
