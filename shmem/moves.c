/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "shmem/define.h"

#pragma GCC diagnostic push
#ifdef __clang__
#pragma GCC diagnostic ignored "-Watomic-alignment" /* of the branch that a 16-byte long double does not take */
#endif
SHMEM_MOVE_CALLS_(DEFINE)
SHMEM_MOVE_CALLS_(ALIAS)
SHMEMX_SIGNAL_CALLS_(DEFINE)
SHMEMX_SIGNAL_CALLS_(ALIAS)
#pragma GCC diagnostic pop
