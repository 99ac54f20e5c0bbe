/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/mpi.h"

/* Longest piece of one MPI call: its counts are ints. */
#define PIECE ((size_t)256 << 20)

int rmai_net_open(struct rmai_net *net, int is_leader, rmai_net_merge *merge) {
    int rank, code;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    net->merge = MPI_OP_NULL;
    code = MPI_Comm_split(MPI_COMM_WORLD, is_leader ? 0 : MPI_UNDEFINED, rank, &net->leaders);
    if (code == MPI_SUCCESS) code = MPI_Op_create(merge, 1, &net->merge);
    if (code == MPI_SUCCESS && is_leader) code = MPI_Comm_set_errhandler(net->leaders, MPI_ERRORS_RETURN);
    return rmai_mpi(code, "rma_init", "setting up the node leaders");
}

void rmai_net_close(struct rmai_net *net) {
    if (net->merge != MPI_OP_NULL) MPI_Op_free(&net->merge);
    if (net->leaders != MPI_COMM_NULL) MPI_Comm_free(&net->leaders);
}

int rmai_net_barrier(struct rmai_net *net, const char *call) {
    MPI_Request request;
    int code = rmai_mpi(MPI_Ibarrier(net->leaders, &request), call, "MPI_Ibarrier");
    return code ? code : rmai_mpi_wait(&request, call, "MPI_Ibarrier");
}

int rmai_net_agree(struct rmai_net *net, const char *call, void *data, size_t bytes) {
    MPI_Request request;
    MPI_Datatype type;
    int code = rmai_mpi(MPI_Type_contiguous((int)bytes, MPI_BYTE, &type), call, "MPI_Type_contiguous");
    if (code) return code;
    MPI_Type_commit(&type);
    code = rmai_mpi(MPI_Iallreduce(MPI_IN_PLACE, data, 1, type, net->merge, net->leaders, &request), call, "MPI_Iallreduce");
    if (!code) code = rmai_mpi_wait(&request, call, "MPI_Iallreduce");
    MPI_Type_free(&type);
    return code;
}

int rmai_net_broadcast(struct rmai_net *net, const char *call, void *data, size_t len, int root) {
    for (size_t done = 0; done < len; done += PIECE) {
        MPI_Request request;
        int n = (int)rmai_min(len - done, PIECE);
        int code = rmai_mpi(MPI_Ibcast((char *)data + done, n, MPI_BYTE, root, net->leaders, &request), call, "MPI_Ibcast");
        if (!code) code = rmai_mpi_wait(&request, call, "MPI_Ibcast");
        if (code) return code;
    }
    return RMA_SUCCESS;
}
