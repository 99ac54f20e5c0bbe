/* SPDX-License-Identifier: BSD-3-Clause */
/* The public calls on elements with gaps between them (iput, iget), and puts with a signal. */
#ifndef RMAI_STRIDED_H
#define RMAI_STRIDED_H

#include <stddef.h>
#include <stdint.h>

#include "rma.h"

/* rmai_check_strides: RMA_SUCCESS, or records RMA_ERR_ARG: a stride is below 1, or elem is 0. */
int rmai_check_strides(const char *call, ptrdiff_t dest_stride, ptrdiff_t source_stride, size_t elem);

/* rmai_span returns the bytes from the start of the first of n > 0 elements to the end of the last one; 0 on overflow.
 */
size_t rmai_span(size_t n, size_t stride, size_t elem);

/* rmai_put_signal is rma_put_signal, or with nbi rma_put_signal_nbi, without a short path: it finds data and signal,
 * words every error, and calls the error handler. */
int rmai_put_signal(const char *call, const rma_ctx *ctx, void *dest, const void *source, size_t len, uint64_t *signal,
                    uint64_t value, int op, int pe, int nbi);

#endif
