/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors of windows: their classes, texts and handlers. An error has a class of MPI and a text of ours, and goes to the
 * error handler of its window. The error codes are codes that MPI knows: MPI_Error_class returns the class, and
 * MPI_Error_string the text of the last error of that class. */
#ifndef RMAI_MPI_ERRORS_H
#define RMAI_MPI_ERRORS_H

#include <mpi.h>

#include "base/attributes.h"

struct rmai_win;

/* rmai_win_error: an error in a call on window w. Returns what the call has to return, if the handler returns. */
int rmai_win_error(struct rmai_win *w, int class, const char *format, ...) RMAI_PRINTF(3, 4);

/* rmai_win_null: an argument of `call` that is a null pointer. */
static inline int rmai_win_null(struct rmai_win *w, const char *call, const char *argument) {
    return rmai_win_error(w, MPI_ERR_ARG, "%s: %s is a null pointer", call, argument);
}

/* rmai_win_comm_error: the same, in a call that has a communicator and no window. */
int rmai_win_comm_error(MPI_Comm comm, int class, const char *format, ...) RMAI_PRINTF(3, 4);

/* rmai_win_lost ends the job: MPI's `function` has failed in this process alone, in a step of `call` in which the
 * others wait for it. */
void rmai_win_lost(const char *call, const char *function);

/* rmai_win_failed: librma's call has returned `code`, an enum rma_error. The text is rma_last_error(). Returns
 * MPI_SUCCESS for RMA_SUCCESS. */
int rmai_win_failed(struct rmai_win *w, int code);

/* rmai_win_handler_set makes `handler` that of w; MPI_ERRHANDLER_NULL gives up the present one, before w ends. Returns
 * MPI_SUCCESS or MPI_ERR_ARG. */
int rmai_win_handler_set(struct rmai_win *w, MPI_Errhandler handler);

#endif
