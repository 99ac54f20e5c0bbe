/* SPDX-License-Identifier: BSD-3-Clause */
/* mpp/shmem.h: the place of the header before OpenSHMEM 1.1. */
#include <shmem.h>
