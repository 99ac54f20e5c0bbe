/* SPDX-License-Identifier: BSD-3-Clause */
/* What the inlined path hands over: reached another way, or refused with the reason. */
#ifndef RMAI_TRANSFER_H
#define RMAI_TRANSFER_H

#include <stddef.h>

#include "runtime/place.h"

struct rmai_world;

/* rmai_resolve finds the symmetric range [addr, addr + len) of pe. `argument` names the parameter in texts.
 * Returns RMA_SUCCESS with *p, or the recorded reason: RMA_ERR_STATE, _PE, _ADDRESS, _UNREACHABLE. */
int rmai_resolve(const char *call, const char *argument, const void *addr, size_t len, int pe, struct rmai_place *p);

/* rmai_unreachable records, for `call`, that pe is on another node, beyond what this version `does`, and returns the code. */
int rmai_unreachable(const struct rmai_world *w, const char *call, int pe, const char *does);

/* rmai_symmetric_offset is a number that all PEs get alike for the same symmetric object. */
uint64_t rmai_symmetric_offset(const struct rmai_world *w, const void *addr);

#endif
