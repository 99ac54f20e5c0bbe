/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves and updates the elements of a pattern (base/pattern.h) at a place (runtime/place.h). The place holds all
 * elements: memory that this process reaches, private memory of another process of the node, or memory of another node.
 */
#ifndef RMAI_PLACE_PATTERN_H
#define RMAI_PLACE_PATTERN_H

#include "base/attributes.h"
#include "base/pattern.h"
#include "runtime/job/traffic.h"
#include "runtime/net/packed.h"
#include "runtime/place.h"
#include "runtime/world.h"

/* rmai_place_pattern does x at the place, which is where x->pattern->least is. The caller has filled in all fields of x
 * but set, pe and offset. p->region is NULL: the caller leaves the region. Returns as rmai_place_put and
 * rmai_net_packed do. */
int rmai_place_pattern(struct rmai_packed *x, struct rmai_place *p);

/* rmai_place_strided moves n elements of elem bytes, which are all done when it returns, but a put to another node only
 * after quiet. The steps are in bytes. On a node it is inlined: 16 elements then take 35 instructions less. */
int rmai_place_strided_away_(const char *call, struct rmai_place *p, int put, const void *local, size_t remote_step,
                             size_t local_step, size_t elem, size_t n);
static inline int rmai_place_strided(const char *call, struct rmai_place *p, int put, const void *local,
                                     size_t remote_step, size_t local_step, size_t elem, size_t n) {
    if (n == 0) return RMA_SUCCESS;
    if (RMAI_UNLIKELY(!p->there))
        return rmai_place_strided_away_(call, p, put, local, remote_step, local_step, elem, n);
    rmai_count(rmai_world.traffic, RMA_PATH_MEMORY, put ? RMAI_PUTS : RMAI_GETS, n * elem);
    if (put)
        rmai_move_strided(p->there, local, (ptrdiff_t)remote_step, (ptrdiff_t)local_step, elem, n);
    else
        rmai_move_strided((char *)(uintptr_t)local, p->there, (ptrdiff_t)local_step, (ptrdiff_t)remote_step, elem, n);
    return RMA_SUCCESS;
}

#endif
