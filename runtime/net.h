/* SPDX-License-Identifier: BSD-3-Clause */
/* What crosses nodes. Every MPI communication call of the runtime after init stands in this module; MPI RMA calls
 * may stand nowhere else. In this version nodes meet (barrier, agreement, broadcast); put, get and atomics do not
 * cross nodes and are refused by name where they are asked for (runtime/transfer).
 *
 * One PE of each node, its leader, takes part for all. */
#ifndef RMAI_NET_H
#define RMAI_NET_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

struct rmai_net {
    MPI_Comm leaders; /* MPI_COMM_NULL on other PEs and in jobs of one node */
    MPI_Op merge;     /* rmai_net_agree's operation */
};

/* A merge function for rmai_net_agree, with MPI's signature for user operations; *datatype is of bytes. */
typedef void rmai_net_merge(void *in, void *inout, int *len, MPI_Datatype *datatype);

/* rmai_net_open sets up leaders (collective over MPI_COMM_WORLD). Returns RMA_SUCCESS or RMA_ERR_MPI. */
int rmai_net_open(struct rmai_net *net, int is_leader, rmai_net_merge *merge);

/* rmai_net_close frees what open made. */
void rmai_net_close(struct rmai_net *net);

/* Called by every leader, in one order; return RMA_SUCCESS or RMA_ERR_MPI.
 * rmai_net_barrier waits for all; rmai_net_agree merges `bytes` bytes of all leaders in place; rmai_net_broadcast
 * copies len bytes from leader number root to all. */
int rmai_net_barrier(struct rmai_net *net, const char *call);
int rmai_net_agree(struct rmai_net *net, const char *call, void *data, size_t bytes);
int rmai_net_broadcast(struct rmai_net *net, const char *call, void *data, size_t len, int root);

#endif
