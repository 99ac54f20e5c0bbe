/* SPDX-License-Identifier: BSD-3-Clause */
/* Where symmetric addresses lead, for the calls that take one. runtime/api/gptr.h has the same for global pointers. */
#ifndef RMAI_RESOLVE_H
#define RMAI_RESOLVE_H

#include <stddef.h>

#include "rma.h"
#include "runtime/place.h"

struct rmai_world;

/* rmai_place_symmetric writes to *p where the symmetric range [addr, addr + len) is on PE pe of the job; the caller
 * fills in p->set. Returns 0 if the range is in no symmetric memory. */
int rmai_place_symmetric(const struct rmai_world *w, const void *addr, size_t len, int pe, struct rmai_place *p);

/* rmai_resolve finds the symmetric range [addr, addr + len) of PE number pe of the context's team. `argument` names the
 * parameter in texts. Returns RMA_SUCCESS with *p, or the recorded reason: RMA_ERR_STATE, _ARG (ctx), _PE, _ADDRESS. */
int rmai_resolve(const char *call, const char *argument, const rma_ctx *ctx, const void *addr, size_t len, int pe,
                 struct rmai_place *p);

/* rmai_resolve_word does the same for a word of len bytes, which must be aligned to len (else RMA_ERR_ADDRESS). */
int rmai_resolve_word(const char *call, const char *argument, const rma_ctx *ctx, const void *word, size_t len, int pe,
                      struct rmai_place *p);

/* rmai_resolve_nothing makes the checks of a call that moves 0 bytes, whose addresses may be anything: of ctx and pe.
 */
int rmai_resolve_nothing(const char *call, const rma_ctx *ctx, int pe);

/* rmai_symmetric_offset returns a number for a symmetric object, the same on all PEs. */
uint64_t rmai_symmetric_offset(const struct rmai_world *w, const void *addr);

#endif
