/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/transport.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/mpi.h"
#include "rma.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHORT_TAG 0

void rmai_transport_none(struct rmai_transport *net) {
    *net = (struct rmai_transport){
        .leaders = MPI_COMM_NULL, .messages = MPI_COMM_NULL, .merge = MPI_OP_NULL, .window = MPI_WIN_NULL};
    for (int i = 0; i < RMAI_POSTED; i++) net->posted[i] = MPI_REQUEST_NULL;
}

static int listen(struct rmai_transport *net, unsigned i) {
    return MPI_Irecv(net->heard[i], (int)RMAI_MESSAGE, MPI_BYTE, MPI_ANY_SOURCE, SHORT_TAG, net->messages,
                     &net->posted[i]);
}

/* What takes all PEs is made in any case, also where something before it has failed here: the others are in it. */
int rmai_transport_open(struct rmai_transport *net, int is_leader, rmai_transport_merge *merge) {
    MPI_Request request = MPI_REQUEST_NULL;
    int rank, code, copied;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    code = MPI_Comm_split(MPI_COMM_WORLD, is_leader ? 0 : MPI_UNDEFINED, rank, &net->leaders);
    code = rmai_mpi(code, "rma_init", "MPI_Comm_split");
    copied = MPI_Comm_idup(MPI_COMM_WORLD, &net->messages, &request);
    copied = copied == MPI_SUCCESS ? rmai_mpi_wait(&request, "rma_init", "MPI_Comm_idup")
                                   : rmai_mpi(copied, "rma_init", "MPI_Comm_idup");
    if (code == RMA_SUCCESS) code = copied;
    if (code != RMA_SUCCESS) return code;
    code = MPI_Op_create(merge, 1, &net->merge);
    if (code != MPI_SUCCESS) return rmai_mpi(code, "rma_init", "MPI_Op_create");
    if (is_leader) code = MPI_Comm_set_errhandler(net->leaders, MPI_ERRORS_RETURN);
    if (code == MPI_SUCCESS) code = MPI_Comm_set_errhandler(net->messages, MPI_ERRORS_RETURN);
    if (code != MPI_SUCCESS) return rmai_mpi(code, "rma_init", "MPI_Comm_set_errhandler");
    net->heard = malloc(RMAI_POSTED * sizeof *net->heard);
    if (!net->heard)
        return rmai_error(RMA_ERR_NO_MEM, "rma_init: no memory for the %d receives of messages", RMAI_POSTED);
    for (unsigned i = 0; code == MPI_SUCCESS && i < RMAI_POSTED; i++) code = listen(net, i);
    return rmai_mpi(code, "rma_init", "MPI_Irecv");
}

void rmai_transport_cancel(MPI_Request *request) {
    if (*request == MPI_REQUEST_NULL) return;
    MPI_Cancel(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

void rmai_transport_close(struct rmai_transport *net) {
    rmai_transport_window(net, NULL, 0, 0);
    for (int i = 0; i < RMAI_POSTED; i++) rmai_transport_cancel(&net->posted[i]);
    free(net->heard);
    net->heard = NULL;
    if (net->messages != MPI_COMM_NULL) MPI_Comm_free(&net->messages);
    if (net->merge != MPI_OP_NULL) MPI_Op_free(&net->merge);
    if (net->leaders != MPI_COMM_NULL) MPI_Comm_free(&net->leaders);
}

/* ---- among leaders ---- */

int rmai_transport_barrier(struct rmai_transport *net, const char *call, MPI_Request *request) {
    return rmai_mpi(MPI_Ibarrier(net->leaders, request), call, "MPI_Ibarrier");
}

int rmai_transport_agree(struct rmai_transport *net, const char *call, void *data, size_t bytes, MPI_Request *request) {
    MPI_Datatype type;
    int code = MPI_Type_contiguous((int)bytes, MPI_BYTE, &type);
    if (code != MPI_SUCCESS) return rmai_mpi(code, call, "MPI_Type_contiguous");
    MPI_Type_commit(&type);
    code = MPI_Iallreduce(MPI_IN_PLACE, data, 1, type, net->merge, net->leaders, request);
    MPI_Type_free(&type); /* goes when the request is done (MPI-3.1 section 4.1.9) */
    return rmai_mpi(code, call, "MPI_Iallreduce");
}

int rmai_transport_worst(struct rmai_transport *net, int *values, int n) {
    return rmai_mpi_merge(net->messages, values, n, MPI_INT, MPI_MAX, "agreeing");
}

int rmai_transport_leader(const struct rmai_transport *net, int i) {
    MPI_Group all, leaders;
    int pe = -1;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(net->leaders, &leaders);
    MPI_Group_translate_ranks(leaders, 1, &i, all, &pe);
    MPI_Group_free(&all);
    MPI_Group_free(&leaders);
    return pe;
}

/* ---- messages ---- */

/* Messages fill the receives in the order in which these were posted, so the next one is enough to look at: one
 * MPI_Test, whatever their number. */
const void *rmai_transport_next_message(struct rmai_transport *net, int *from, size_t *len, int *code) {
    MPI_Status status;
    int done = 0, count;
    *code = rmai_mpi(MPI_Test(&net->posted[net->next], &done, &status), "receiving", "MPI_Test");
    if (*code != RMA_SUCCESS || !done) return NULL;
    MPI_Get_count(&status, MPI_BYTE, &count);
    *from = status.MPI_SOURCE;
    *len = (size_t)count;
    return net->heard[net->next];
}

int rmai_transport_message_done(struct rmai_transport *net) {
    unsigned i = net->next;
    net->next = (i + 1) % RMAI_POSTED;
    return rmai_mpi(listen(net, i), "receiving", "MPI_Irecv");
}

int rmai_transport_send(struct rmai_transport *net, int pe, const void *data, size_t len, MPI_Request *request) {
    return rmai_mpi(MPI_Isend(data, (int)len, MPI_BYTE, pe, SHORT_TAG, net->messages, request), "sending", "MPI_Isend");
}

int rmai_transport_send_long(struct rmai_transport *net, int pe, int tag, const void *data, size_t len,
                             MPI_Request *request) {
    return rmai_mpi(MPI_Isend(data, (int)len, MPI_BYTE, pe, tag, net->messages, request), "sending", "MPI_Isend");
}

int rmai_transport_receive_long(struct rmai_transport *net, int pe, int tag, void *data, size_t len,
                                MPI_Request *request) {
    return rmai_mpi(MPI_Irecv(data, (int)len, MPI_BYTE, pe, tag, net->messages, request), "receiving", "MPI_Irecv");
}

int rmai_transport_done(MPI_Request *request) {
    int done = 0;
    if (*request == MPI_REQUEST_NULL) return 1;
    if (rmai_mpi(MPI_Test(request, &done, MPI_STATUS_IGNORE), "moving data", "MPI_Test") != RMA_SUCCESS) return -1;
    return done;
}

void rmai_transport_let_go(MPI_Request *request) {
    if (rmai_transport_done(request) == 0) MPI_Request_free(request);
}

/* ---- window ---- */

/* Hints, and who uses them. The same size and unit everywhere: MPICH then keeps no table of n PEs.
 * The others count for atomics. MPICH leaves them to the network's adapter only if it does every operation that may
 * come, of words, and if no process of a node is allowed to do its own; Open MPI's acc_single_intrinsic is the same
 * promise. Their order is left as it is: a PE's own atomics on one word keep it. */
static const char *const hints[][2] = {
    {"same_size", "true"},
    {"same_disp_unit", "true"},
    {"which_accumulate_ops", "cswap,sum,replace,no_op,band,bor,bxor"},
    {"accumulate_noncontig_dtype", "false"},
    {"accumulate_max_bytes", "8"},
    {"disable_shm_accumulate", "true"},
    {"acc_single_intrinsic", "true"},
};
#define HINTS_PLAIN 2 /* of them for a window without atomics */
#define HINTS       (sizeof hints / sizeof hints[0])

static int probe(const struct rmai_transport *net) {
    void *base = NULL;
    int *model = NULL, found = 0;
    MPI_Win_get_attr(net->window, MPI_WIN_BASE, &base, &found);
    if (!found || base != net->window_base)
        return rmai_error(RMA_ERR_MPI, "MPI's window is at %p, not at %p", base, (void *)net->window_base);
    MPI_Win_get_attr(net->window, MPI_WIN_MODEL, &model, &found);
    if (!found || *model != MPI_WIN_UNIFIED)
        return rmai_error(RMA_ERR_MPI, "MPI's window has the separate memory model, in which loads do not see puts");
    return RMA_SUCCESS;
}

int rmai_transport_window(struct rmai_transport *net, void *base, size_t size, int atomics) {
    MPI_Info info;
    int code = MPI_SUCCESS;
    if (net->window != MPI_WIN_NULL) {
        MPI_Win_unlock_all(net->window);
        code = MPI_Win_free(&net->window);
        net->window = MPI_WIN_NULL;
    }
    if (code != MPI_SUCCESS || size == 0) return rmai_mpi(code, "ending the window", "MPI_Win_free");
    MPI_Info_create(&info);
    for (size_t i = 0; i < (atomics ? HINTS : HINTS_PLAIN); i++) MPI_Info_set(info, hints[i][0], hints[i][1]);
    code = MPI_Win_create(base, (MPI_Aint)size, 1, info, net->messages, &net->window);
    MPI_Info_free(&info);
    if (code != MPI_SUCCESS) {
        net->window = MPI_WIN_NULL;
        return rmai_mpi(code, "making the window", "MPI_Win_create");
    }
    net->window_base = base;
    MPI_Win_set_errhandler(net->window, MPI_ERRORS_RETURN);
    code = MPI_Win_lock_all(MPI_MODE_NOCHECK, net->window); /* without NOCHECK MPICH sends a message to every PE */
    return code == MPI_SUCCESS ? probe(net) : rmai_mpi(code, "opening the window", "MPI_Win_lock_all");
}

int rmai_transport_put(struct rmai_transport *net, const char *call, int pe, size_t disp, const void *source,
                       size_t len) {
    int code = MPI_SUCCESS;
    for (size_t done = 0; code == MPI_SUCCESS && done < len; done += RMAI_PIECE) {
        int n = (int)rmai_min(len - done, RMAI_PIECE);
        code = MPI_Put((const char *)source + done, n, MPI_BYTE, pe, (MPI_Aint)(disp + done), n, MPI_BYTE, net->window);
    }
    return rmai_mpi(code, call, "MPI_Put");
}

int rmai_transport_get(struct rmai_transport *net, const char *call, int pe, size_t disp, void *dest, size_t len) {
    int code = MPI_SUCCESS;
    for (size_t done = 0; code == MPI_SUCCESS && done < len; done += RMAI_PIECE) {
        int n = (int)rmai_min(len - done, RMAI_PIECE);
        code = MPI_Get((char *)dest + done, n, MPI_BYTE, pe, (MPI_Aint)(disp + done), n, MPI_BYTE, net->window);
    }
    return rmai_mpi(code, call, "MPI_Get");
}

static MPI_Op operation(int op) {
    switch (op) {
        case RMA_FETCH_: return MPI_NO_OP;
        case RMA_FETCH_ADD_:
        case RMA_FETCH_FADD_: return MPI_SUM;
        case RMA_FETCH_AND_: return MPI_BAND;
        case RMA_FETCH_OR_: return MPI_BOR;
        case RMA_FETCH_XOR_: return MPI_BXOR;
        default: assert((op == RMA_SET_ || op == RMA_SWAP_) && "an atomic that MPI has"); return MPI_REPLACE;
    }
}

int rmai_transport_atomic(struct rmai_transport *net, const char *call, int pe, size_t disp, int op, size_t len,
                          const void *operand, const void *cond, void *old) {
    const int real = op == RMA_FETCH_FADD_;
    MPI_Datatype type = len == 4 ? (real ? MPI_FLOAT : MPI_UINT32_T) : real ? MPI_DOUBLE : MPI_UINT64_T;
    MPI_Aint at = (MPI_Aint)disp;
    if (op == RMA_COMPARE_SWAP_)
        return rmai_mpi(MPI_Compare_and_swap(operand, cond, old, type, pe, at, net->window), call,
                        "MPI_Compare_and_swap");
    if (old)
        return rmai_mpi(MPI_Fetch_and_op(operand, old, type, pe, at, operation(op), net->window), call,
                        "MPI_Fetch_and_op");
    return rmai_mpi(MPI_Accumulate(operand, 1, type, pe, at, 1, type, operation(op), net->window), call,
                    "MPI_Accumulate");
}

int rmai_transport_flush_all(struct rmai_transport *net, const char *call) {
    return rmai_mpi(MPI_Win_flush_all(net->window), call, "MPI_Win_flush_all");
}

int rmai_transport_flush_local(struct rmai_transport *net, const char *call, int pe) {
    return rmai_mpi(MPI_Win_flush_local(pe, net->window), call, "MPI_Win_flush_local");
}

int rmai_transport_flush(struct rmai_transport *net, const char *call, int pe) {
    return rmai_mpi(MPI_Win_flush(pe, net->window), call, "MPI_Win_flush");
}

/* ---- the machine ---- */

/* Machines are told apart by the kernel's boot id: containers of one machine share it, machines never do. */
unsigned rmai_transport_machine_id(void) {
    char id[64] = "";
    unsigned hash = 2166136261u; /* FNV-1a */
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (f) {
        if (!fgets(id, sizeof id, f)) id[0] = 0;
        fclose(f);
    }
    for (const char *c = id; *c; c++) hash = (hash ^ (unsigned char)*c) * 16777619u;
    return hash;
}

/* Only where there are several machines is a communicator made of each one's PEs: that polls, and takes seconds where
 * many PEs share few processors. */
int rmai_transport_machine(int one_machine, uint64_t *bits, int n_bits, int *n) {
    MPI_Comm machine = MPI_COMM_WORLD;
    int rank, code = MPI_SUCCESS;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!one_machine) code = MPI_Comm_split(MPI_COMM_WORLD, (int)(rmai_transport_machine_id() >> 1), rank, &machine);
    if (code != MPI_SUCCESS) return rmai_mpi(code, "rma_init", "MPI_Comm_split");
    MPI_Comm_size(machine, n);
    code = rmai_mpi_merge(machine, bits, n_bits, MPI_UINT64_T, MPI_BOR, "rma_init");
    if (machine != MPI_COMM_WORLD) MPI_Comm_free(&machine);
    return code;
}
