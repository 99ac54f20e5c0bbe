/* SPDX-License-Identifier: BSD-3-Clause */
/* How the functions of OpenSHMEM are generated from their table (include/shmem_table.h). Each function is defined under
 * its second name, pshmem_...; its first name is a weak alias in the same file. So a tool may define the first name
 * itself and call the second. */
#ifndef RMAI_SHMEM_DEFINE_H
#define RMAI_SHMEM_DEFINE_H

#define SHMEM_PROFILE     /* the functions themselves, not what programs inline */
#define SHMEM_NO_GENERIC_ /* and no macros of the same names */

#include "rma.h"
#include "pshmem.h"
#include "runtime/interfaces.h"

/* Defines the functions of a family whose bodies stand in the table. */
#define DEFINE(RESULT, CALL, PARAMETERS, ...) RESULT p##CALL PARAMETERS __VA_ARGS__

/* Defines the first names of a family, after its functions. */
#define ALIAS(RESULT, CALL, PARAMETERS, ...) extern __typeof__(CALL) CALL __attribute__((weak, alias("p" #CALL)));

/* The end of a function that only forwards. Until then errors of the native call carry the name of the OpenSHMEM call:
 *
 *     rma_call_as_("shmem_team_sync");
 *     return rmai_shmem_end(rma_team_sync(team)); */
static inline int rmai_shmem_end(int result) {
    rma_call_as_(NULL);
    return result;
}

static inline void *rmai_shmem_end_ptr(void *result) {
    rma_call_as_(NULL);
    return result;
}

#endif
