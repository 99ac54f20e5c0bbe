/* SPDX-License-Identifier: BSD-3-Clause */
/* Long copies between PEs of a node. */
#ifndef RMAI_COPY_H
#define RMAI_COPY_H

#include "base/settings.h"

/* rmai_copy_stream_min: the number of bytes from which on copies should go through rma_copy_ under this setting. */
size_t rmai_copy_stream_min(int copy);

/* rma_copy_ (declared in rma_inline.h): memcpy by non-temporal stores where the machine has them. Such stores do not
 * fetch the target's lines. The store fence at the end orders them like ordinary stores. */

#endif
