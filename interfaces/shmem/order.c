/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for words, fence and quiet, and the two queries that programs use in every loop. */
#include "config.h"

#include "interfaces/shmem/define.h"

SHMEM_WAIT_CALLS_(DEFINE)
SHMEM_WAIT_CALLS_(ALIAS)

SHMEM_ORDER_CALLS_(DEFINE)
SHMEM_ORDER_CALLS_(ALIAS)
