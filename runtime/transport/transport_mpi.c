/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/transport/transport_mpi.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/mpi.h"
#include "base/process.h"
#include "rma.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the operations that move data ---- */

static struct rmai_transport_mpi *mpi_of(struct rmai_transport *t) { return (struct rmai_transport_mpi *)(void *)t; }

/* A handle of MPI is an integer or a pointer, and never 0 while something is under way. */
static struct rmai_token token_of(MPI_Request request) {
    struct rmai_token token = RMAI_NO_TOKEN;
    _Static_assert(sizeof request <= sizeof token.word, "a token has room for MPI's handle");
    if (request != MPI_REQUEST_NULL) memcpy(&token.word, &request, sizeof request);
    return token;
}

static MPI_Request request_of(struct rmai_token token) {
    MPI_Request request;
    memcpy(&request, &token.word, sizeof request);
    return request;
}

/* MPI has sent most messages of up to SENT_AT_ONCE bytes when it returns. Testing at once, while they travel, costs
 * less than testing when they are answered. */
#define SENT_AT_ONCE ((size_t)4096)
static int send_by_mpi(struct rmai_transport *t, int pe, int tag, const void *data, size_t len,
                       struct rmai_token *token) {
    MPI_Request request;
    int mpi_code = MPI_Isend(data, (int)len, MPI_BYTE, pe, tag, mpi_of(t)->messages, &request), done;
    if (RMAI_UNLIKELY(mpi_code != MPI_SUCCESS)) return rmai_mpi(mpi_code, "sending", "MPI_Isend");
    if (len <= SENT_AT_ONCE) mpi_code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    *token = token_of(request);
    return rmai_mpi(mpi_code, "sending", "MPI_Test");
}

static int receive_by_mpi(struct rmai_transport *t, int pe, int tag, void *data, size_t len, struct rmai_token *token) {
    const int source = pe == RMAI_ANY_PE ? MPI_ANY_SOURCE : pe;
    MPI_Request request;
    int mpi_code = MPI_Irecv(data, (int)len, MPI_BYTE, source, tag, mpi_of(t)->messages, &request);
    if (mpi_code == MPI_SUCCESS) *token = token_of(request);
    return rmai_mpi(mpi_code, "receiving", "MPI_Irecv");
}

static int test_by_mpi(struct rmai_transport *t, struct rmai_token *token, struct rmai_arrival *arrival) {
    MPI_Request request = request_of(*token);
    MPI_Status status;
    int done = 0, len, mpi_code = MPI_Test(&request, &done, arrival ? &status : MPI_STATUS_IGNORE);
    (void)t;
    *token = token_of(request); /* also none if MPI has dropped the request after an error */
    if (RMAI_UNLIKELY(mpi_code != MPI_SUCCESS)) {
        rmai_mpi(mpi_code, "moving data", "MPI_Test");
        return -1;
    }
    if (!done) return 0;
    if (!arrival) return 1;
    if (RMAI_UNLIKELY(rmai_mpi(MPI_Get_count(&status, MPI_BYTE, &len), "moving data", "MPI_Get_count") != RMA_SUCCESS))
        return -1;
    *arrival = (struct rmai_arrival){status.MPI_SOURCE, (size_t)len};
    return 1;
}

static void drop_by_mpi(struct rmai_transport *t, struct rmai_token *token, int is_receive) {
    MPI_Request request;
    if (test_by_mpi(t, token, NULL) == 1 || token->word == 0) return;
    request = request_of(*token);
    /* If MPI fails, leave the request to it: nobody may wait for a receive that cannot be cancelled. */
    if (!is_receive)
        rmai_mpi(MPI_Request_free(&request), "ending a send", "MPI_Request_free");
    else if (rmai_mpi(MPI_Cancel(&request), "ending a receive", "MPI_Cancel") == RMA_SUCCESS)
        rmai_mpi(PMPI_Wait(&request, MPI_STATUS_IGNORE), "ending a receive", "MPI_Wait");
    *token = RMAI_NO_TOKEN;
}

static int put_by_mpi(struct rmai_transport *t, const char *call, enum rmai_window_kind window, int pe, size_t disp,
                      const void *source, size_t len) {
    const MPI_Win win = mpi_of(t)->window[window];
    int mpi_code = MPI_SUCCESS;
    for (size_t done = 0; mpi_code == MPI_SUCCESS && done < len; done += RMAI_PIECE) {
        int n = (int)rmai_min(len - done, RMAI_PIECE);
        mpi_code = MPI_Put((const char *)source + done, n, MPI_BYTE, pe, (MPI_Aint)(disp + done), n, MPI_BYTE, win);
    }
    return rmai_mpi(mpi_code, call, "MPI_Put");
}

static int get_by_mpi(struct rmai_transport *t, const char *call, enum rmai_window_kind window, int pe, size_t disp,
                      void *dest, size_t len) {
    const MPI_Win win = mpi_of(t)->window[window];
    int mpi_code = MPI_SUCCESS;
    for (size_t done = 0; mpi_code == MPI_SUCCESS && done < len; done += RMAI_PIECE) {
        int n = (int)rmai_min(len - done, RMAI_PIECE);
        mpi_code = MPI_Get((char *)dest + done, n, MPI_BYTE, pe, (MPI_Aint)(disp + done), n, MPI_BYTE, win);
    }
    return rmai_mpi(mpi_code, call, "MPI_Get");
}

static int flush_by_mpi(struct rmai_transport *t, const char *call, enum rmai_window_kind kind_of_window, int pe,
                        enum rmai_flush_kind kind) {
    const MPI_Win window = mpi_of(t)->window[kind_of_window];
    switch (kind) {
        case RMAI_FLUSH_LOCAL: return rmai_mpi(MPI_Win_flush_local(pe, window), call, "MPI_Win_flush_local");
        case RMAI_FLUSH_PE: return rmai_mpi(MPI_Win_flush(pe, window), call, "MPI_Win_flush");
    }
    return RMA_SUCCESS;
}

/* Open MPI has a limit for the number of regions (a setting of its own). Beyond it MPI_Win_attach fails, and returns
 * with a lock held, so that other processes hang. So never try one region too many. */
static int attach_by_mpi(struct rmai_transport *t, void *base, size_t len) {
    struct rmai_transport_mpi *m = mpi_of(t);
    int code;
    if (atomic_fetch_add_explicit(&m->attached, 1, memory_order_relaxed) < m->attached_most)
        code = rmai_mpi(MPI_Win_attach(m->window[RMAI_DYNAMIC], base, (MPI_Aint)len), "attaching memory",
                        "MPI_Win_attach");
    else
        code = rmai_error(RMA_ERR_MPI, "this MPI attaches %d regions at most: see osc_rdma_max_attach of Open MPI",
                          m->attached_most);
    if (code != RMA_SUCCESS) atomic_fetch_sub_explicit(&m->attached, 1, memory_order_relaxed);
    return code;
}

/* ---- among all PEs ---- */

static void merge_by_mpi(struct rmai_transport *t, const char *call, int *values, int n) {
    rmai_mpi_merge(mpi_of(t)->messages, values, n, MPI_INT, MPI_MAX, call);
}

/* ---- the windows ---- */

static int check_window(const struct rmai_transport_mpi *m, enum rmai_window_kind kind) {
    void *base = NULL;
    int *model = NULL, has_base = 0, has_model = 0;
    int code = rmai_mpi(MPI_Win_get_attr(m->window[kind], MPI_WIN_BASE, &base, &has_base), "checking the window",
                        "MPI_Win_get_attr");
    if (code == RMA_SUCCESS)
        code = rmai_mpi(MPI_Win_get_attr(m->window[kind], MPI_WIN_MODEL, &model, &has_model), "checking the window",
                        "MPI_Win_get_attr");
    if (code != RMA_SUCCESS) return code;
    if (kind == RMAI_FIXED && (!has_base || base != m->fixed_base))
        return rmai_error(RMA_ERR_MPI, "MPI's window is at %p, not at %p", base, (void *)m->fixed_base);
    if (!has_model || *model != MPI_WIN_UNIFIED)
        return rmai_error(RMA_ERR_MPI, "MPI's window has the separate memory model, in which loads do not see puts");
    return RMA_SUCCESS;
}

static int has_window_by_mpi(const struct rmai_transport *t, enum rmai_window_kind kind) {
    return ((const struct rmai_transport_mpi *)(const void *)t)->window[kind] != MPI_WIN_NULL;
}

static void forget_window_by_mpi(struct rmai_transport *t, enum rmai_window_kind kind) {
    mpi_of(t)->window[kind] = MPI_WIN_NULL;
}

static int end_window_by_mpi(struct rmai_transport *t, enum rmai_window_kind kind) {
    struct rmai_transport_mpi *m = mpi_of(t);
    int code = RMA_SUCCESS, freed;
    if (m->window[kind] == MPI_WIN_NULL) return RMA_SUCCESS;
    if (m->in_epoch[kind])
        code = rmai_mpi(MPI_Win_unlock_all(m->window[kind]), "ending the window", "MPI_Win_unlock_all");
    freed = rmai_mpi(MPI_Win_free(&m->window[kind]), "ending the window", "MPI_Win_free");
    m->window[kind] = MPI_WIN_NULL;
    return code == RMA_SUCCESS ? freed : code;
}

/* Checks a new window, and begins its epoch. */
static int begin_epoch(struct rmai_transport_mpi *m, enum rmai_window_kind kind, int mpi_code, const char *mpi_call) {
    int code = rmai_mpi(mpi_code, "making the window", mpi_call);
    m->in_epoch[kind] = 0;
    if (code != RMA_SUCCESS) {
        m->window[kind] = MPI_WIN_NULL;
        return code;
    }
    code = rmai_mpi(MPI_Win_set_errhandler(m->window[kind], MPI_ERRORS_RETURN), "opening the window",
                    "MPI_Win_set_errhandler");
    if (code == RMA_SUCCESS) /* without NOCHECK MPICH writes to every PE */
        code = rmai_mpi(MPI_Win_lock_all(MPI_MODE_NOCHECK, m->window[kind]), "opening the window", "MPI_Win_lock_all");
    m->in_epoch[kind] = code == RMA_SUCCESS;
    return code == RMA_SUCCESS ? check_window(m, kind) : code;
}

static int create_fixed(struct rmai_transport_mpi *m, void *base, size_t size) {
    int code = end_window_by_mpi(&m->transport, RMAI_FIXED), made;
    m->fixed_base = base;
    made = begin_epoch(m, RMAI_FIXED,
                       MPI_Win_create(base, (MPI_Aint)size, 1, m->hints, m->messages, &m->window[RMAI_FIXED]),
                       "MPI_Win_create");
    return code == RMA_SUCCESS ? made : code;
}

/* The limit, from MPI's tool variables. Open MPI makes the thread level requested here the level of all of MPI from now
 * on: with a lower one, MPI_Query_thread returns less, and MPI takes no locks any more (4.1.4, 5.0.7). */
static int most_regions(void) {
    MPI_T_cvar_handle handle;
    int level, provided, index, n, most = INT_MAX, value = 0;
    if (MPI_Query_thread(&level) != MPI_SUCCESS) return most;
    if (MPI_T_init_thread(level, &provided) != MPI_SUCCESS) return most;
    if (MPI_T_cvar_get_index("osc_rdma_max_attach", &index) == MPI_SUCCESS &&
        MPI_T_cvar_handle_alloc(index, NULL, &handle, &n) == MPI_SUCCESS) {
        if (n == 1 && MPI_T_cvar_read(handle, &value) == MPI_SUCCESS && value > 0) most = value;
        MPI_T_cvar_handle_free(&handle);
    }
    MPI_T_finalize();
    return most;
}

static int create_dynamic(struct rmai_transport_mpi *m) {
    m->attached = 0;
    m->attached_most = most_regions();
    return begin_epoch(m, RMAI_DYNAMIC, MPI_Win_create_dynamic(m->hints, m->messages, &m->window[RMAI_DYNAMIC]),
                       "MPI_Win_create_dynamic");
}

static int make_window_by_mpi(struct rmai_transport *t, enum rmai_window_kind window, void *base, size_t size) {
    return window == RMAI_FIXED ? create_fixed(mpi_of(t), base, size) : create_dynamic(mpi_of(t));
}

static const struct rmai_transport_operations by_mpi = {
    .send = send_by_mpi,
    .receive = receive_by_mpi,
    .test = test_by_mpi,
    .put = put_by_mpi,
    .get = get_by_mpi,
    .flush = flush_by_mpi,
    .attach = attach_by_mpi,
    .drop = drop_by_mpi,
    .merge = merge_by_mpi,
    .make_window = make_window_by_mpi,
    .end_window = end_window_by_mpi,
    .has_window = has_window_by_mpi,
    .forget_window = forget_window_by_mpi,
};

/* ---- opening and closing ---- */

void rmai_transport_mpi_none(struct rmai_transport_mpi *m) {
    *m = (struct rmai_transport_mpi){.transport = {&by_mpi},
                                     .messages = MPI_COMM_NULL,
                                     .window = {MPI_WIN_NULL, MPI_WIN_NULL},
                                     .hints = MPI_INFO_NULL};
}

/* Writes the pairs of the n nodes, on each leader; comm is theirs. */
static void share_seats(MPI_Comm comm, int n, int me, const int *leaders, unsigned *ids, struct rmai_seat *seats,
                        struct rmai_pair *pairs) {
    ids[2 * me] = rmai_transport_mpi_machine_id();
    ids[2 * me + 1] = rmai_process_host();
    /* Each number is 0 on all leaders but one. MPICH 4.0.2 compares unsigned numbers as signed ones in MPI_MAX. */
    rmai_mpi_merge(comm, ids, 2 * n, MPI_UNSIGNED, MPI_BOR, "rma_init");
    for (int i = 0; i < n; i++) seats[i] = (struct rmai_seat){ids[2 * i], ids[2 * i + 1], leaders[i]};
    rmai_pairs_find(seats, n, pairs);
}

/* Writes the pairs of the n nodes, on each leader. Each leader tells where it is, unless all know that. `code`: the
 * result of this PE's earlier steps. A PE that has failed says so first: the leaders would otherwise wait for it. n is
 * 0 on a PE that is no leader.
 */
static int find_pairs(int code, MPI_Comm comm, int one_host, int n, int me, const int *leaders,
                      struct rmai_pair *pairs) {
    struct rmai_seat *seats = NULL;
    unsigned *ids = NULL;
    int failed;
    if (one_host) {
        if (code == RMA_SUCCESS && n > 1) pairs[RMAI_PAIR_HOST] = (struct rmai_pair){leaders[0], leaders[1]};
        return code;
    }
    if (code == RMA_SUCCESS && n > 0) {
        ids = calloc((size_t)n, 2 * sizeof *ids);
        seats = calloc((size_t)n, sizeof *seats);
        if (!ids || !seats) code = rmai_error(RMA_ERR_NO_MEM, "rma_init: no memory for the places of %d nodes", n);
    }
    failed = code != RMA_SUCCESS;
    rmai_mpi_merge(MPI_COMM_WORLD, &failed, 1, MPI_INT, MPI_MAX, "rma_init");
    if (!failed && n > 0) share_seats(comm, n, me, leaders, ids, seats, pairs);
    free(ids);
    free(seats);
    return code;
}

/* The same size and unit everywhere: MPICH then keeps no table of n PEs. */
static int make_hints(MPI_Info *info) {
    int code = rmai_mpi(MPI_Info_create(info), "rma_init", "MPI_Info_create");
    if (code != RMA_SUCCESS) *info = MPI_INFO_NULL;
    if (code == RMA_SUCCESS) code = rmai_mpi(MPI_Info_set(*info, "same_size", "true"), "rma_init", "MPI_Info_set");
    if (code == RMA_SUCCESS) code = rmai_mpi(MPI_Info_set(*info, "same_disp_unit", "true"), "rma_init", "MPI_Info_set");
    return code;
}

static int free_hints(struct rmai_transport_mpi *m) {
    return m->hints == MPI_INFO_NULL ? RMA_SUCCESS
                                     : rmai_mpi(MPI_Info_free(&m->hints), "freeing hints", "MPI_Info_free");
}

static int open_messages(struct rmai_transport_mpi *m) {
    MPI_Request request = MPI_REQUEST_NULL;
    int code = rmai_mpi(MPI_Comm_idup(MPI_COMM_WORLD, &m->messages, &request), "rma_init", "MPI_Comm_idup");
    if (code == RMA_SUCCESS) code = rmai_mpi_wait(&request, "rma_init", "MPI_Comm_idup");
    if (code != RMA_SUCCESS) {
        m->messages = MPI_COMM_NULL;
        return code;
    }
    return rmai_mpi(MPI_Comm_set_errhandler(m->messages, MPI_ERRORS_RETURN), "rma_init", "MPI_Comm_set_errhandler");
}

/* A PE makes all collective calls, even if an earlier step has failed on it: the other PEs are in them. The hints are
 * made before the windows, since all PEs must give the same ones. */
int rmai_transport_mpi_open(struct rmai_transport_mpi *m, int is_leader, int one_host, int *n_nodes, int *my_node,
                            int **leaders, struct rmai_pair pairs[RMAI_PAIR_KINDS]) {
    MPI_Comm comm;
    int n = 0, me = 0, *list = NULL;
    int code = rmai_mpi(MPI_Comm_split(MPI_COMM_WORLD, is_leader ? 0 : MPI_UNDEFINED, 0, &comm), "rma_init",
                        "MPI_Comm_split"),
        one = open_messages(m);
    if (code != RMA_SUCCESS) comm = MPI_COMM_NULL;
    if (code == RMA_SUCCESS) code = one;
    if (code == RMA_SUCCESS) code = make_hints(&m->hints);
    if (code == RMA_SUCCESS && is_leader) {
        me = rmai_mpi_rank(comm, "rma_init");
        code = rmai_mpi_members(comm, &n, &list, "rma_init");
    }
    code = find_pairs(code, comm, one_host, n, me, list, pairs);
    if (comm != MPI_COMM_NULL) {
        one = rmai_mpi(MPI_Comm_free(&comm), "rma_init", "MPI_Comm_free");
        if (code == RMA_SUCCESS) code = one;
    }
    if (is_leader) {
        *leaders = list;
        *n_nodes = n;
        *my_node = me;
    }
    return code;
}

int rmai_transport_mpi_close(struct rmai_transport_mpi *m) {
    int code = free_hints(m), one;
    for (int kind = 0; kind < RMAI_WINDOWS; kind++) {
        one = end_window_by_mpi(&m->transport, (enum rmai_window_kind)kind);
        if (code == RMA_SUCCESS) code = one;
    }
    if (m->messages == MPI_COMM_NULL) return code;
    one = rmai_mpi(MPI_Comm_free(&m->messages), "ending messages", "MPI_Comm_free");
    return code == RMA_SUCCESS ? one : code;
}

/* ---- the machine ---- */

/* The kernel's boot id identifies a machine: its containers share it, other machines have another one. */
unsigned rmai_transport_mpi_machine_id(void) {
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

/* Only if there are several machines, this makes a communicator of each one's PEs: that polls, and takes seconds if
 * many PEs share few processors. */
int rmai_transport_mpi_machine(int one_machine, uint64_t *bits, int n_bits, int *n) {
    MPI_Comm machine = MPI_COMM_WORLD;
    /* The other PEs of this machine do the merge in any case. */
    if (!one_machine)
        rmai_mpi_or_end(MPI_Comm_split(MPI_COMM_WORLD, (int)(rmai_transport_mpi_machine_id() >> 1), 0, &machine),
                        "rma_init", "MPI_Comm_split");
    *n = rmai_mpi_size(machine, "rma_init");
    rmai_mpi_merge(machine, bits, n_bits, MPI_UINT64_T, MPI_BOR, "rma_init");
    return one_machine ? RMA_SUCCESS : rmai_mpi(MPI_Comm_free(&machine), "rma_init", "MPI_Comm_free");
}
