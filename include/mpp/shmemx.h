/* SPDX-License-Identifier: BSD-3-Clause */
/* mpp/shmemx.h: where the header was before OpenSHMEM 1.1. */
#include <shmemx.h>
