/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemx.h: extensions of OpenSHMEM have their place here. There are none: what this library has beyond the
 * specification is in rma.h, and may be used in one program with OpenSHMEM. */
#ifndef SHMEMX_H
#define SHMEMX_H

#include <shmem.h>

#endif
