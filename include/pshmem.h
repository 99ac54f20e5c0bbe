/* SPDX-License-Identifier: BSD-3-Clause */
/* pshmem.h: the second name of each function of OpenSHMEM and of shmemx.h, which is its first name after a p:
 * pshmem_put32 for shmem_put32. A tool that measures or traces defines functions by their first names, which are weak,
 * and calls the second ones. If this header is included before shmem.h (which it includes itself), or with
 * SHMEM_PROFILE defined, the tool can define the first names. Generic forms have no second name: they are macros, in
 * C++ overloads. */
#ifndef PSHMEM_H
#define PSHMEM_H

#if !defined SHMEM_PROFILE && !defined SHMEM_H
#define SHMEM_PROFILE
#endif
#include <shmemx.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

#define PSHMEM_DECLARE_(RESULT, CALL, PARAMETERS, ...) RESULT p##CALL PARAMETERS;
SHMEM_INLINED_CALLS_(PSHMEM_DECLARE_)
SHMEM_OTHER_CALLS_(PSHMEM_DECLARE_)
SHMEMX_INLINED_CALLS_(PSHMEM_DECLARE_)
SHMEMX_OTHER_CALLS_(PSHMEM_DECLARE_)

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
