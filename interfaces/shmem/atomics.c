/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "interfaces/shmem/define.h"

SHMEM_ATOMIC_CALLS_(DEFINE)
SHMEM_ATOMIC_CALLS_(ALIAS)
