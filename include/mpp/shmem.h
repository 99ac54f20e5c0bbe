/* SPDX-License-Identifier: BSD-3-Clause */
/* mpp/shmem.h: where the header was before OpenSHMEM 1.1. */
#include <shmem.h>
