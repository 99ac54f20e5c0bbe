/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of a window, as this process sees them. It knows those of its node from the beginning, and looks up
 * those of other nodes when they are needed. */
#ifndef RMAI_MPI_PEERS_H
#define RMAI_MPI_PEERS_H

#include "interfaces/mpi/comm.h"
#include "interfaces/mpi/state.h"

/* rmai_win_near: the peer `rank` on this node, or NULL. Any number may be a rank. */
static inline struct rmai_win_peer *rmai_win_near(struct rmai_win *w, int rank) {
    const int slot = rmai_win_comm_slot(w->comm, rank);
    return slot >= 0 ? &w->near[slot] : NULL;
}

/* rmai_win_known: the peer `rank` if it needs no search: it is on this node, or was looked up last; else NULL. It stays
 * valid until another peer is looked up. */
static inline struct rmai_win_peer *rmai_win_known(struct rmai_win *w, int rank) {
    struct rmai_win_peer *p = w->last_far;
    return p && p->rank == rank ? p : rmai_win_near(w, rank);
}

/* rmai_win_peer fills in *peer for `rank` of the window, on this node or another one. Returns an enum rma_error.
 * rmai_win_peer_access changes the access of `rank`; rmai_win_peer_posts notes where this process has posted for
 * `rank`, of another node. */
int rmai_win_peer(struct rmai_win *w, int rank, struct rmai_win_peer *peer);
int rmai_win_peer_access(struct rmai_win *w, int rank, unsigned access);
int rmai_win_peer_posts(struct rmai_win *w, int rank, rma_gptr_t at);

/* rmai_win_atomic executes the atomic `op` (enum rma_atomic_op_) on the word of len bytes, 4 or 8, that g names, and
 * writes the old value to *old. If old is a null pointer and the word is on another node, it waits for nothing. Errors
 * name `call`. Returns an enum rma_error. */
static inline int rmai_win_atomic(const char *call, int op, rma_gptr_t g, size_t len, uint64_t value, uint64_t cond,
                                  uint64_t *old) {
    return rma_gptr_atomic_slow_(call, op, g, len, value, cond, old);
}

/* rmai_win_signal adds to a word on another node, and waits for nothing. What this process has put there arrives before
 * it, and what it has put elsewhere is complete before it leaves. */
static inline int rmai_win_signal(const char *call, rma_gptr_t word, uint64_t add) {
    const int code = rmai_win_atomic(call, RMA_FETCH_ADD_, word, sizeof add, add, 0, NULL);
    rma_send_gathered_();
    return code;
}

/* rmai_win_peers_find fills in those of this node, whose records are in the directory. Returns 0 if that fails.
 * rmai_win_peers_free frees all. */
int rmai_win_peers_find(struct rmai_win *w);
void rmai_win_peers_free(struct rmai_win *w);

#endif
