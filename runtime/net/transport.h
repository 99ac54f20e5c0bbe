/* SPDX-License-Identifier: BSD-3-Clause */
/* What carries bytes between nodes: nine operations: six that move data, drop, attach and detach. MPI is one transport
 * (transport_mpi); two queues in one process are another (test/unit/check_net). The caller knows PEs, tags, buffers and
 * displacements, and nothing of the way that they go.
 *
 * A transport that has windows lets puts and gets into parts of each PE's memory; one that has none leaves
 * these operations NULL, and is never asked for them. Flush waits, and so does drop of a
 * receive, until it is cancelled; nothing else does. Threads may be in several operations at once. */
#ifndef RMAI_TRANSPORT_H
#define RMAI_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

/* A send or receive under way; 0: none, or done. */
struct rmai_token {
    uintptr_t word;
};
#define RMAI_NO_TOKEN ((struct rmai_token){0})

/* What a receive from any PE has got. */
struct rmai_arrival {
    int pe;
    size_t len;
};
#define RMAI_ANY_PE (-1)

/* The two windows of MPI. A displacement in the fixed one counts from the start of each PE's part, in the dynamic one
 * it is an address in the target's process. */
enum rmai_window_kind {
    RMAI_FIXED,   /* MPI_Win_create: covers the first bytes of each PE's symmetric heap */
    RMAI_DYNAMIC, /* MPI_Win_create_dynamic: each PE attaches to it what it has, by itself */
    RMAI_WINDOWS
};

enum rmai_flush_kind {
    RMAI_FLUSH_LOCAL, /* source buffers are free again */
    RMAI_FLUSH_PE     /* all is in its place at the PE, and what was fetched from there is here */
};

struct rmai_transport;

struct rmai_transport_operations {
    /* Both begin to move len bytes between `pe` and data, which stays in use until the token is done. Messages of one
     * PE with one tag arrive in the order in which they were sent. receive: pe may be RMAI_ANY_PE. Return RMA_SUCCESS
     * or RMA_ERR_MPI. */
    int (*send)(struct rmai_transport *t, int pe, int tag, const void *data, size_t len, struct rmai_token *token);
    int (*receive)(struct rmai_transport *t, int pe, int tag, void *data, size_t len, struct rmai_token *token);
    /* 1 if the token is done, which makes it none; *arrival, if it is not NULL, says what a receive has got. 0 if it is
     * under way. -1 after recording RMA_ERR_MPI. Drives the progress of all that is under way. */
    int (*test)(struct rmai_transport *t, struct rmai_token *token, struct rmai_arrival *arrival);
    /* Begin to copy len bytes to or from displacement disp of pe's part of the window. */
    int (*put)(struct rmai_transport *t, const char *call, enum rmai_window_kind window, int pe, size_t disp,
               const void *source, size_t len);
    int (*get)(struct rmai_transport *t, const char *call, enum rmai_window_kind window, int pe, size_t disp,
               void *dest, size_t len);
    /* Waits. */
    int (*flush)(struct rmai_transport *t, const char *call, enum rmai_window_kind window, int pe,
                 enum rmai_flush_kind kind);
    /* This PE's [base, base + len), in no other part that it has attached, becomes a part of the dynamic window;
     * detach ends that, when no access to it is under way. Return RMA_SUCCESS, or record RMA_ERR_MPI: MPI refuses. */
    int (*attach)(struct rmai_transport *t, void *base, size_t len);
    int (*detach)(struct rmai_transport *t, void *base);
    /* Lets go of a token: a receive that nothing will come for ends; a send ends some time, and its data stay where
     * they are until then. */
    void (*drop)(struct rmai_transport *t, struct rmai_token *token, int is_receive);
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
static inline int rmai_transport_detach(struct rmai_transport *t, void *base) { return t->operations->detach(t, base); }

/* rmai_token_done: 1 if there is nothing under way, or not any more; 0 and -1 as test. */
static inline int rmai_token_done(struct rmai_transport *t, struct rmai_token *token) {
    return token->word == 0 ? 1 : t->operations->test(t, token, NULL);
}
static inline void rmai_token_drop(struct rmai_transport *t, struct rmai_token *token, int is_receive) {
    if (token->word != 0) t->operations->drop(t, token, is_receive);
}

#endif
