/* SPDX-License-Identifier: BSD-3-Clause */
/* The locks in the records of a window, of readers and writers. */
#ifndef RMAI_MPI_LOCKS_H
#define RMAI_MPI_LOCKS_H

#include "interfaces/mpi/peers.h"

/* The lock at `offset` in the record of a peer: take it as RMAI_WIN_WRITER or RMAI_WIN_READER, and release it. Return
 * an enum rma_error; after an error of rmai_win_take this process does not have the lock. */
int rmai_win_take(struct rmai_win *w, const char *call, const struct rmai_win_peer *peer, size_t offset, uint64_t as);
int rmai_win_release(const char *call, const struct rmai_win_peer *peer, size_t offset, uint64_t as);

/* rmai_win_take_all takes the lock `lock` of all processes, beside readers and other processes that take all, and
 * rmai_win_release_all releases these locks. It waits for a writer that has a lock, not for those that wait for one. A
 * process that waits in rmai_win_take_all keeps no lock from a writer for long. Return an enum rma_error; after an
 * error of rmai_win_take_all this process has none of the locks. */
int rmai_win_take_all(struct rmai_win *w, const char *call);
int rmai_win_release_all(struct rmai_win *w, const char *call);

#endif
