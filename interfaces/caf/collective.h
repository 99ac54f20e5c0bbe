/* SPDX-License-Identifier: BSD-3-Clause */
/* CO_BROADCAST, CO_SUM, CO_MIN, CO_MAX and CO_REDUCE in the current team, on contiguous data. */
#ifndef RMAI_CAF_COLLECTIVE_H
#define RMAI_CAF_COLLECTIVE_H

#include "interfaces/caf/core.h"
#include "interfaces/caf/move.h"
#include "interfaces/caf/sync.h"

/* acc = acc OP x, for n elements. */
typedef void rmai_caf_combine(void *acc, const void *x, size_t n, const void *context);

/* rmai_caf_broadcast copies len bytes from image `source`, from 1, to all images. */
void rmai_caf_broadcast(struct rmai_caf_result r, void *data, size_t len, int source);

/* rmai_caf_reduce reduces n elements over the images. CO_REDUCE combines them in the images' order. The result is in
 * data of image `result`, from 1, or of all images if result is 0. Only RMAI_CAF_USER uses combine and context. */
void rmai_caf_reduce(struct rmai_caf_result r, const char *statement, enum rmai_caf_collective op, void *data, size_t n,
                     struct rmai_caf_type type, int result, rmai_caf_combine *combine, const void *context);

#endif
