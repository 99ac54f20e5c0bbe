/* SPDX-License-Identifier: BSD-3-Clause */
/* How the functions of OpenSHMEM are made of their table (include/shmem_table.h). Each is defined by its second name,
 * pshmem_..., and has the first one as a weak alias in the same file, so that a tool may take the first one and call
 * the second. */
#ifndef RMAI_SHMEM_DEFINE_H
#define RMAI_SHMEM_DEFINE_H

#define SHMEM_PROFILE     /* the functions, not what programs have inlined */
#define SHMEM_NO_GENERIC_ /* nor macros of the same names */

#include "rma.h"
#include "pshmem.h"
#include "runtime/face.h"

/* For families whose bodies the table has. */
#define DEFINE(RESULT, CALL, PARAMETERS, ...) RESULT p##CALL PARAMETERS __VA_ARGS__

/* For all, after the definitions. */
#define ALIAS(RESULT, CALL, PARAMETERS, ...) extern __typeof__(CALL) CALL __attribute__((weak, alias("p" #CALL)));

/* What only forwards: errors of the native call are named as those of the OpenSHMEM call, as in
 *
 *     rma_call_as_("shmem_team_sync");
 *     return rmai_shmem_end(rma_team_sync(team));
 */
static inline int rmai_shmem_end(int result) {
    rma_call_as_(NULL);
    return result;
}

static inline void *rmai_shmem_end_ptr(void *result) {
    rma_call_as_(NULL);
    return result;
}

#endif
