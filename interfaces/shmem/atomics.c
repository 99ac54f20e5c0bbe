/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenSHMEM's atomics, expanded from the table of the API (include/shmem_table.h). */
#include "config.h"

#include "interfaces/shmem/define.h"

SHMEM_ATOMIC_CALLS_(DEFINE)
SHMEM_ATOMIC_CALLS_(ALIAS)
