/* SPDX-License-Identifier: BSD-3-Clause */
/* The program's hints about memory (MPI_Info). */
#ifndef RMAI_MPI_HINTS_H
#define RMAI_MPI_HINTS_H

#include <mpi.h>
#include <stddef.h>

/* rmai_win_hint: the value of a hint of the program, or NULL. */
const char *rmai_win_hint(MPI_Info info, const char *key, char value[MPI_MAX_INFO_VAL + 1]);

/* rmai_win_alignment: the bytes that the hint mpi_minimum_memory_alignment asks for; 0 if there is no such hint, or
 * none that librma can follow. */
size_t rmai_win_alignment(MPI_Info info);

#endif
