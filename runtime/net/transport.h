/* SPDX-License-Identifier: BSD-3-Clause */
/* What crosses nodes, as bytes: every MPI communication call of the runtime after init stands in this module; MPI RMA
 * calls may stand nowhere else. It knows ranks, buffers and displacements; what they mean is runtime/net/net's
 * business.
 *
 *   collective   among one PE of each node, its leader
 *   messages     short ones, into receives that are always posted, and long data by tag; on a communicator of their own
 *   window       one over the first part of each PE's symmetric heap, in one epoch from its creation to its end
 *
 * Two communicators and one window, whatever the job does. Nothing here waits unless it says so. */
#ifndef RMAI_TRANSPORT_H
#define RMAI_TRANSPORT_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/net/wire.h" /* RMAI_MESSAGE, RMAI_PIECE */

#define RMAI_POSTED 16 /* posted receives */

struct rmai_transport {
    MPI_Comm leaders;  /* MPI_COMM_NULL on other PEs and in jobs of one node */
    MPI_Op merge;      /* rmai_transport_agree's operation */
    MPI_Comm messages; /* MPI_COMM_NULL in jobs of one node */
    MPI_Request posted[RMAI_POSTED];
    unsigned char (*heard)[RMAI_MESSAGE];
    unsigned next; /* of the posted receives: the one that gets the next message */
    MPI_Win window;
    char *window_base;
};

/* A merge function for rmai_transport_agree, with MPI's signature for user operations; *datatype is of bytes. */
typedef void rmai_transport_merge(void *in, void *inout, int *len, MPI_Datatype *datatype);

/* rmai_transport_none: the state of a job of one node, in which rmai_transport_close does nothing. */
void rmai_transport_none(struct rmai_transport *net);

/* rmai_transport_open sets up leaders and messages (collective over MPI_COMM_WORLD). Returns RMA_SUCCESS,
 * RMA_ERR_NO_MEM, RMA_ERR_MPI; it may fail on one PE alone, and waits for nobody in that case. rmai_transport_close
 * frees what open made, all of it or a part: collective, with no message under way. */
int rmai_transport_open(struct rmai_transport *net, int is_leader, rmai_transport_merge *merge);
void rmai_transport_close(struct rmai_transport *net);

/* Begun by every leader, in one order; each returns RMA_SUCCESS with *request, or RMA_ERR_MPI.
 * rmai_transport_barrier is complete when all have begun it; rmai_transport_agree merges `bytes` bytes of all leaders
 * in place. */
int rmai_transport_barrier(struct rmai_transport *net, const char *call, MPI_Request *request);
int rmai_transport_agree(struct rmai_transport *net, const char *call, void *data, size_t bytes, MPI_Request *request);

/* rmai_transport_worst makes each of the n values the largest of all PEs' (collective, waits). Returns RMA_SUCCESS or
 * RMA_ERR_MPI. */
int rmai_transport_worst(struct rmai_transport *net, int *values, int n);

/* rmai_transport_leader: the PE that is leader number i. */
int rmai_transport_leader(const struct rmai_transport *net, int i);

/* rmai_transport_poll: the oldest message not yet heard, from PE *from, of *len bytes; or NULL if there is none, or MPI
 * failed (*code). It stays where it is until rmai_transport_message_done. Drives MPI's progress. */
const void *rmai_transport_next_message(struct rmai_transport *net, int *from, size_t *len, int *code);
int rmai_transport_message_done(struct rmai_transport *net);

/* rmai_transport_send begins to send len bytes, at most RMAI_MESSAGE, to pe; rmai_transport_send_long and
 * rmai_transport_receive_long begin to move at most RMAI_PIECE, matched by tag. data stays in use until the request is
 * done. rmai_transport_done: 1 if the request is (MPI_REQUEST_NULL is), 0 if not yet, -1 after recording RMA_ERR_MPI.
 */
int rmai_transport_send(struct rmai_transport *net, int pe, const void *data, size_t len, MPI_Request *request);
int rmai_transport_send_long(struct rmai_transport *net, int pe, int tag, const void *data, size_t len,
                             MPI_Request *request);
int rmai_transport_receive_long(struct rmai_transport *net, int pe, int tag, void *data, size_t len,
                                MPI_Request *request);
int rmai_transport_done(MPI_Request *request);

/* rmai_transport_let_go leaves a send to MPI, which ends it some time; its data stay where they are until then. */
void rmai_transport_let_go(MPI_Request *request);

/* rmai_transport_cancel ends a receive that nothing will come for. */
void rmai_transport_cancel(MPI_Request *request);

/* rmai_transport_window makes the window anew over [base, base + size) of each PE; size 0: none (collective). Nothing
 * is under way in the one that it replaces. atomics: rmai_transport_atomic will be used. Returns RMA_SUCCESS, or
 * records why MPI's window cannot be used: RMA_ERR_MPI. */
int rmai_transport_window(struct rmai_transport *net, void *base, size_t size, int atomics);

/* rmai_transport_put, rmai_transport_get begin to copy len bytes to or from displacement disp of PE pe's window. The
 * caller's memory is free, or filled, after rmai_transport_flush_local, and a put is in its place after
 * rmai_transport_flush; both wait. */
int rmai_transport_put(struct rmai_transport *net, const char *call, int pe, size_t disp, const void *source,
                       size_t len);
int rmai_transport_get(struct rmai_transport *net, const char *call, int pe, size_t disp, void *dest, size_t len);

/* rmai_transport_atomic begins an atomic (enum rma_atomic_op_, but min and max) on the word of len bytes, 4 or 8, at
 * displacement disp of PE pe's window. operand, cond and old, of len bytes, stay in use until a flush; *old is then the
 * word's value before. old may be NULL, except for RMA_FETCH_ and RMA_COMPARE_SWAP_. */
int rmai_transport_atomic(struct rmai_transport *net, const char *call, int pe, size_t disp, int op, size_t len,
                          const void *operand, const void *cond, void *old);

int rmai_transport_flush_local(struct rmai_transport *net, const char *call, int pe);
int rmai_transport_flush(struct rmai_transport *net, const char *call, int pe);

/* rmai_transport_flush_all: rmai_transport_flush of every PE. */
int rmai_transport_flush_all(struct rmai_transport *net, const char *call);

/* rmai_transport_machine_id: a number that PEs on one machine have alike, in whatever container they are, and those on
 * others have not. rmai_transport_machine: *n is how many PEs of the job run on the machine that this PE runs on,
 * whatever nodes they are on, and the n_bits words of `bits` become the union of theirs (collective over
 * MPI_COMM_WORLD). one_machine: all PEs have the same number. Returns RMA_SUCCESS or RMA_ERR_MPI. */
unsigned rmai_transport_machine_id(void);
int rmai_transport_machine(int one_machine, uint64_t *bits, int n_bits, int *n);

#endif
