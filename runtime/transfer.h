/* SPDX-License-Identifier: BSD-3-Clause */
/* Accesses by symmetric address that the inlined path cannot do itself: they are done in another way, or fail with an
 * error. */
#ifndef RMAI_TRANSFER_H
#define RMAI_TRANSFER_H

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

/* rmai_symmetric_offset returns a number for a symmetric object, the same on all PEs. */
uint64_t rmai_symmetric_offset(const struct rmai_world *w, const void *addr);

/* ---- elements with gaps between them, strides in elements ---- */

/* rmai_check_strides: RMA_SUCCESS, or records RMA_ERR_ARG: a stride is below 1, or elem is 0. */
int rmai_check_strides(const char *call, ptrdiff_t dest_stride, ptrdiff_t source_stride, size_t elem);

/* rmai_span returns the bytes from the start of the first of n > 0 elements to the end of the last one; 0 on overflow.
 */
size_t rmai_span(size_t n, size_t stride, size_t elem);

/* rmai_place_put_signal puts at most RMAI_WITH_SIGNAL bytes to a place on another node, and then sets or adds to a word
 * of the same PE. `op` is RMA_SIGNAL_SET or RMA_SIGNAL_ADD. */
int rmai_place_put_signal(const char *call, const struct rmai_place *to, const void *source, size_t len,
                          const struct rmai_place *word, uint64_t value, int op, enum rmai_when when);

/* rmai_check_signal_op: RMA_SUCCESS, or records RMA_ERR_ARG: op is neither RMA_SIGNAL_SET nor RMA_SIGNAL_ADD. */
int rmai_check_signal_op(const char *call, int op);

#endif
