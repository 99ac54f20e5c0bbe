/* SPDX-License-Identifier: BSD-3-Clause */
/* What crosses nodes, as bytes: every MPI communication call of the runtime after init stands in this module; MPI RMA
 * calls may stand nowhere else. It knows ranks, buffers and displacements; what they mean is runtime/far's business.
 *
 *   collective   among one PE of each node, its leader
 *   messages     short ones, into receives that are always posted, and long data by tag; on a communicator of their own
 *   window       one over the first part of each PE's symmetric heap, in one epoch from its creation to its end
 *
 * Two communicators and one window, whatever the job does. Nothing here waits unless it says so. */
#ifndef RMAI_NET_H
#define RMAI_NET_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/wire.h" /* RMAI_MESSAGE, RMAI_PIECE */

#define RMAI_EARS 16 /* posted receives */

struct rmai_net {
    MPI_Comm leaders;  /* MPI_COMM_NULL on other PEs and in jobs of one node */
    MPI_Op merge;      /* rmai_net_agree's operation */
    MPI_Comm messages; /* MPI_COMM_NULL in jobs of one node */
    MPI_Request ear[RMAI_EARS];
    unsigned char (*heard)[RMAI_MESSAGE];
    unsigned next; /* the ear that hears the next message */
    MPI_Win window;
    char *window_base;
};

/* A merge function for rmai_net_agree, with MPI's signature for user operations; *datatype is of bytes. */
typedef void rmai_net_merge(void *in, void *inout, int *len, MPI_Datatype *datatype);

/* rmai_net_none: the state of a job of one node, in which rmai_net_close does nothing. */
void rmai_net_none(struct rmai_net *net);

/* rmai_net_open sets up leaders and messages (collective over MPI_COMM_WORLD). Returns RMA_SUCCESS, RMA_ERR_NO_MEM,
 * RMA_ERR_MPI; it may fail on one PE alone, and waits for nobody in that case. rmai_net_close frees what open made, all
 * of it or a part: collective, with no message under way. */
int rmai_net_open(struct rmai_net *net, int is_leader, rmai_net_merge *merge);
void rmai_net_close(struct rmai_net *net);

/* Begun by every leader, in one order; each returns RMA_SUCCESS with *request, or RMA_ERR_MPI.
 * rmai_net_barrier is complete when all have begun it; rmai_net_agree merges `bytes` bytes of all leaders in place. */
int rmai_net_barrier(struct rmai_net *net, const char *call, MPI_Request *request);
int rmai_net_agree(struct rmai_net *net, const char *call, void *data, size_t bytes, MPI_Request *request);

/* rmai_net_worst makes each of the n values the largest of all PEs' (collective, waits). Returns RMA_SUCCESS or
 * RMA_ERR_MPI. */
int rmai_net_worst(struct rmai_net *net, int *values, int n);

/* rmai_net_leader: the PE that is leader number i. */
int rmai_net_leader(const struct rmai_net *net, int i);

/* rmai_net_hear: the oldest message not yet heard, from PE *from, of *len bytes; or NULL if there is none, or MPI
 * failed (*code). It stays where it is until rmai_net_heard. Drives MPI's progress. */
const void *rmai_net_hear(struct rmai_net *net, int *from, size_t *len, int *code);
int rmai_net_heard(struct rmai_net *net);

/* rmai_net_send begins to send len bytes, at most RMAI_MESSAGE, to pe; rmai_net_send_long and rmai_net_receive_long
 * begin to move at most RMAI_PIECE, matched by tag. data stays in use until the request is done. rmai_net_done: 1 if
 * the request is (MPI_REQUEST_NULL is), 0 if not yet, -1 after recording RMA_ERR_MPI. */
int rmai_net_send(struct rmai_net *net, int pe, const void *data, size_t len, MPI_Request *request);
int rmai_net_send_long(struct rmai_net *net, int pe, int tag, const void *data, size_t len, MPI_Request *request);
int rmai_net_receive_long(struct rmai_net *net, int pe, int tag, void *data, size_t len, MPI_Request *request);
int rmai_net_done(MPI_Request *request);

/* rmai_net_let_go leaves a send to MPI, which ends it some time; its data stay where they are until then. */
void rmai_net_let_go(MPI_Request *request);

/* rmai_net_cancel ends a receive that nothing will come for. */
void rmai_net_cancel(MPI_Request *request);

/* rmai_net_window makes the window anew over [base, base + size) of each PE; size 0: none (collective). Nothing is
 * under way in the one that it replaces. atomics: rmai_net_atomic will be used. Returns RMA_SUCCESS, or records why
 * MPI's window cannot be used: RMA_ERR_MPI. */
int rmai_net_window(struct rmai_net *net, void *base, size_t size, int atomics);

/* rmai_net_put, rmai_net_get begin to copy len bytes to or from displacement disp of PE pe's window. The caller's
 * memory is free, or filled, after rmai_net_flush_local, and a put is in its place after rmai_net_flush; both wait. */
int rmai_net_put(struct rmai_net *net, const char *call, int pe, size_t disp, const void *source, size_t len);
int rmai_net_get(struct rmai_net *net, const char *call, int pe, size_t disp, void *dest, size_t len);

/* rmai_net_atomic begins an atomic (enum rma_atomic_op_, but min and max) on the word of len bytes, 4 or 8, at
 * displacement disp of PE pe's window. operand, cond and old, of len bytes, stay in use until a flush; *old is then the
 * word's value before. old may be NULL, except for RMA_FETCH_ and RMA_COMPARE_SWAP_. */
int rmai_net_atomic(struct rmai_net *net, const char *call, int pe, size_t disp, int op, size_t len,
                    const void *operand, const void *cond, void *old);

int rmai_net_flush_local(struct rmai_net *net, const char *call, int pe);
int rmai_net_flush(struct rmai_net *net, const char *call, int pe);

/* rmai_net_flush_all: rmai_net_flush of every PE. */
int rmai_net_flush_all(struct rmai_net *net, const char *call);

/* rmai_net_poll drives MPI's progress, and does nothing else, by a request that rmai_net_prepare_poll has made
 * (MPI_SUCCESS or not). */
int rmai_net_prepare_poll(MPI_Request *request);
void rmai_net_poll(MPI_Request *request);

/* rmai_net_machine_id: a number that PEs on one machine have alike, in whatever container they are, and those on others
 * have not. rmai_net_machine: *n is how many PEs of the job run on the machine that this PE runs on, whatever nodes
 * they are on, and the n_bits words of `bits` become the union of theirs (collective over MPI_COMM_WORLD). one_machine:
 * all PEs have the same number. Returns RMA_SUCCESS or RMA_ERR_MPI. */
unsigned rmai_net_machine_id(void);
int rmai_net_machine(int one_machine, uint64_t *bits, int n_bits, int *n);

#endif
