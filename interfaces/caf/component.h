/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of components: allocatable and pointer components of coarrays. Each image allocates its own, in its local
 * heap, where other images reach it by load and store or by a put. */
#ifndef RMAI_CAF_COMPONENT_H
#define RMAI_CAF_COMPONENT_H

#include "interfaces/caf/core.h"

/* rmai_caf_component_begin is called when the coarrays start.
 *
 * rmai_caf_component_memory returns size bytes, or NULL after it has reported that there is no memory.
 * rmai_caf_component_free gives them back; what is not of rmai_caf_component_memory is malloc's. */
void rmai_caf_component_begin(void);
void *rmai_caf_component_memory(struct rmai_caf_result r, size_t size);
void rmai_caf_component_free(void *memory);

/* rmai_caf_component_is: 1 if memory looks like a block of that size, of this module or of the C library, rather than
 * one of the larger size `other`. */
int rmai_caf_component_is(const void *memory, size_t size, size_t other);

/* rmai_caf_peek copies what can be read of the `len` bytes at `address`, which lie in two pages at most; the rest
 * becomes 0. */
void rmai_caf_peek(void *to, const void *address, size_t len);

/* rmai_caf_component_holds: 1 if the address is in memory of coarrays or components. */
int rmai_caf_component_holds(const void *address);

#endif
