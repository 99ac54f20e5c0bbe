/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves and updates of the elements of a pattern (base/pattern.h) at a place (runtime/place.h) that holds all of them:
 * memory that this process reaches, private memory of another process of the node, or memory of another node. */
#ifndef RMAI_PLACE_PATTERN_H
#define RMAI_PLACE_PATTERN_H

#include "runtime/net/packed.h"
#include "runtime/place.h"

/* rmai_place_pattern does x at the place, which is where x->pattern->least is. The caller has filled in all fields of x
 * but set, pe and offset. p->region is NULL: the caller leaves the region. Returns as rmai_place_put and
 * rmai_net_packed do. */
int rmai_place_pattern(struct rmai_packed *x, struct rmai_place *p);

/* rmai_place_strided does so with n > 0 elements of elem bytes. The steps are in bytes. */
int rmai_place_strided(const char *call, struct rmai_place *p, int put, const void *local, size_t remote_step,
                       size_t local_step, size_t elem, size_t n, enum rmai_when when);

#endif
