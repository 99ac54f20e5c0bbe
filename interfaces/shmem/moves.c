/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "interfaces/shmem/define.h"

SHMEM_MOVE_CALLS_(DEFINE)
SHMEM_MOVE_CALLS_(ALIAS)
SHMEMX_SIGNAL_CALLS_(DEFINE)
SHMEMX_SIGNAL_CALLS_(ALIAS)
