/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps freed datatypes for the next call that makes the same one. A program such as ARMCI makes a datatype for one
 * transfer, for each patch of an array: making, committing and describing such a type takes longer than the transfer.
 * So a type that the program frees is kept for a while, and given to the next call that makes one with the same
 * arguments. */
#ifndef RMAI_MPI_KEPT_TYPES_H
#define RMAI_MPI_KEPT_TYPES_H

/* rmai_kept_types_free frees them all, while MPI still works. */
void rmai_kept_types_free(void);

#endif
