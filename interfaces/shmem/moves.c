/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenSHMEM's puts, gets and signals, expanded from the table of the API (include/shmem_table.h). */
#include "config.h"

#include "interfaces/shmem/define.h"

SHMEM_MOVE_CALLS_(DEFINE)
SHMEM_MOVE_CALLS_(ALIAS)
SHMEMX_SIGNAL_CALLS_(DEFINE)
SHMEMX_SIGNAL_CALLS_(ALIAS)
