/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that make windows and free them. */
#ifndef RMAI_MPI_WINDOW_H
#define RMAI_MPI_WINDOW_H

/* rmai_wins_open makes room for windows, and the directory. Collective. Returns an enum rma_error. rmai_wins_close
 * frees what the program has left. */
int rmai_wins_open(void);
void rmai_wins_close(void);

#endif
