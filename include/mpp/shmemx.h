/* SPDX-License-Identifier: BSD-3-Clause */
/* mpp/shmemx.h: the place of the header before OpenSHMEM 1.1. */
#include <shmemx.h>
