/* SPDX-License-Identifier: BSD-3-Clause */
/* A transport carries bytes between nodes. MPI is one transport (transport_mpi), the simulated network is another
 * (test/sim/network), and two queues in one process are a third (test/unit/check_net). The caller names PEs, tags,
 * buffers and displacements; it does not know how they travel.
 *
 * A transport with windows lets other PEs put into and get from parts of each PE's memory. A transport without windows
 * leaves those operations NULL, and nobody calls them. The collective operations and flush wait, and drop waits until a
 * receive is cancelled; nothing else waits. Several threads may be in operations at the same time. */
#ifndef RMAI_TRANSPORT_H
#define RMAI_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

/* A send or receive under way; 0: none, or done. */
struct rmai_token {
    uintptr_t word;
};
#define RMAI_NO_TOKEN ((struct rmai_token){0})

/* The origin and length of a received message. */
struct rmai_arrival {
    int pe;
    size_t len;
};
#define RMAI_ANY_PE (-1)

/* Bytes of one message, and of one put or get of MPI, at most: MPICH crashes beyond 2 GiB. */
#define RMAI_PIECE ((size_t)256 << 20)

/* The two windows of MPI. A displacement in the fixed one counts from the start of each PE's part, in the dynamic one
 * it is an address in the target's process. */
enum rmai_window_kind {
    RMAI_FIXED,   /* MPI_Win_create: covers the first bytes of each PE's symmetric heap */
    RMAI_DYNAMIC, /* MPI_Win_create_dynamic: each PE attaches to it what it has, by itself */
    RMAI_WINDOWS
};

enum rmai_flush_kind {
    RMAI_FLUSH_LOCAL, /* source buffers are free again */
    RMAI_FLUSH_PE     /* puts are in their places at the PE, and gets from there have arrived */
};

struct rmai_transport;

struct rmai_transport_operations {
    /* Both begin to move len bytes between `pe` and data, which stays in use until the token is done. Messages of one
     * PE with one tag arrive in the order in which they were sent. In receive, pe may be RMAI_ANY_PE. Return
     * RMA_SUCCESS or RMA_ERR_MPI. */
    int (*send)(struct rmai_transport *t, int pe, int tag, const void *data, size_t len, struct rmai_token *token);
    int (*receive)(struct rmai_transport *t, int pe, int tag, void *data, size_t len, struct rmai_token *token);
    /* Returns 1 if the token is done: the token is then RMAI_NO_TOKEN, and *arrival, if it is not NULL, describes the
     * message received. 0 if it is under way. -1 after recording RMA_ERR_MPI. Drives the progress of all messages and
     * transfers. */
    int (*test)(struct rmai_transport *t, struct rmai_token *token, struct rmai_arrival *arrival);
    /* Begin to copy len bytes to or from displacement disp of pe's part of the window. */
    int (*put)(struct rmai_transport *t, const char *call, enum rmai_window_kind window, int pe, size_t disp,
               const void *source, size_t len);
    int (*get)(struct rmai_transport *t, const char *call, enum rmai_window_kind window, int pe, size_t disp,
               void *dest, size_t len);
    /* Completes the transfers to pe through the window, as far as `kind` says. Waits. */
    int (*flush)(struct rmai_transport *t, const char *call, enum rmai_window_kind window, int pe,
                 enum rmai_flush_kind kind);
    /* Makes this PE's [base, base + len), which overlaps nothing that it has attached, a part of the dynamic window,
     * until the window ends. Returns RMA_SUCCESS, or records RMA_ERR_MPI: MPI refuses. */
    int (*attach)(struct rmai_transport *t, void *base, size_t len);
    /* Gives a token up: a receive for which nothing will come is cancelled; a send ends some time later, and its data
     * stay in use until then. */
    void (*drop)(struct rmai_transport *t, struct rmai_token *token, int is_receive);

    /* Collective, by all PEs of the job. merge sets each of the n values to the largest over all PEs; if it fails it
     * ends the job with an error of `call`. make_window makes a window, in place of the old one if there is one: the
     * fixed one over this PE's [base, base + size), the dynamic one with nothing attached; nothing is under way in the
     * old one. end_window frees a window; it may be called if there is none. Both return RMA_SUCCESS, or record
     * RMA_ERR_MPI. */
    void (*merge)(struct rmai_transport *t, const char *call, int *values, int n);
    int (*make_window)(struct rmai_transport *t, enum rmai_window_kind window, void *base, size_t size);
    int (*end_window)(struct rmai_transport *t, enum rmai_window_kind window);
    /* has_window: 1 if this PE has the window. forget_window keeps the window until the process ends: it is for a
     * window that only some PEs have, which cannot be freed. */
    int (*has_window)(const struct rmai_transport *t, enum rmai_window_kind window);
    void (*forget_window)(struct rmai_transport *t, enum rmai_window_kind window);
};

struct rmai_transport {
    const struct rmai_transport_operations *operations;
};

static inline int rmai_send(struct rmai_transport *t, int pe, int tag, const void *data, size_t len,
                            struct rmai_token *token) {
    return t->operations->send(t, pe, tag, data, len, token);
}
static inline int rmai_receive(struct rmai_transport *t, int pe, int tag, void *data, size_t len,
                               struct rmai_token *token) {
    return t->operations->receive(t, pe, tag, data, len, token);
}

static inline int rmai_transport_put(struct rmai_transport *t, const char *call, enum rmai_window_kind window, int pe,
                                     size_t disp, const void *source, size_t len) {
    return t->operations->put(t, call, window, pe, disp, source, len);
}
static inline int rmai_transport_get(struct rmai_transport *t, const char *call, enum rmai_window_kind window, int pe,
                                     size_t disp, void *dest, size_t len) {
    return t->operations->get(t, call, window, pe, disp, dest, len);
}
static inline int rmai_transport_flush(struct rmai_transport *t, const char *call, enum rmai_window_kind window, int pe,
                                       enum rmai_flush_kind kind) {
    return t->operations->flush(t, call, window, pe, kind);
}
static inline int rmai_transport_attach(struct rmai_transport *t, void *base, size_t len) {
    return t->operations->attach(t, base, len);
}

static inline void rmai_transport_merge(struct rmai_transport *t, const char *call, int *values, int n) {
    t->operations->merge(t, call, values, n);
}
static inline int rmai_transport_make_window(struct rmai_transport *t, enum rmai_window_kind window, void *base,
                                             size_t size) {
    return t->operations->make_window(t, window, base, size);
}
static inline int rmai_transport_end_window(struct rmai_transport *t, enum rmai_window_kind window) {
    return t->operations->end_window(t, window);
}
static inline int rmai_transport_has_window(const struct rmai_transport *t, enum rmai_window_kind window) {
    return t->operations->has_window(t, window);
}
static inline void rmai_transport_forget_window(struct rmai_transport *t, enum rmai_window_kind window) {
    t->operations->forget_window(t, window);
}

/* rmai_token_done: 1 if nothing is under way, or it is done; 0 and -1 as test. */
static inline int rmai_token_done(struct rmai_transport *t, struct rmai_token *token) {
    return token->word == 0 ? 1 : t->operations->test(t, token, NULL);
}
static inline void rmai_token_drop(struct rmai_transport *t, struct rmai_token *token, int is_receive) {
    if (token->word != 0) t->operations->drop(t, token, is_receive);
}

#endif
