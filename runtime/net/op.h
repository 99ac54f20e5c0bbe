/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations on memory of PEs of other nodes. The caller has found the place: a PE, and an offset in that PE's space,
 * as in a global pointer. It fills in a struct rmai_op, and one of the functions below does the operation, by messages
 * (message.h) or through one of MPI's windows (window.h): op.c selects the way.
 *
 * The caller has checked the range of a symmetric place. The owner checks other ranges: of its local heap as far as its
 * directory tells (rmai_net_extent), of attached memory when the operation arrives. Each function returns RMA_SUCCESS,
 * or the recorded error of op->call, worded as on the node. An operation that is not complete on return belongs to the
 * pending set op->set, and rmai_net_quiet of that set completes it. Any thread of the program may call them. */
#ifndef RMAI_OP_H
#define RMAI_OP_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/job/directory.h"
#include "runtime/net/net.h"
#include "runtime/net/wire.h"

/* What the caller of a put, get or fetching atomic does next. */
enum rmai_when {
    RMAI_NOW,   /* waits: on return the source is free, or the destination filled */
    RMAI_LATER, /* goes on: until quiet the source is in use, or the destination not filled */
    RMAI_COPIED /* goes on, and the source is free on return: it is short enough to be copied */
};

/* The kinds are those of records (wire.h); a put or get may have any length here. Callers fill in the fields up to
 * `len`, and of ATOMIC `value` and `cond`, too. The other kinds and fields are message.c's own. */
struct rmai_op {
    const char *call; /* the public call, which errors name */
    struct rmai_pending *set;
    int pe;          /* of another node */
    uint8_t kind;    /* RMAI_RECORD_PUT, RMAI_RECORD_GET or RMAI_RECORD_ATOMIC; see enum rmai_net_kind */
    uint8_t atomic;  /* ATOMIC, PUT_LONG with a signal: enum rma_atomic_op_. LOOK: 1 if the range is to be written */
    uint8_t when;    /* enum rmai_when */
    uint8_t signal;  /* PUT_LONG: 1 if an atomic on `word` follows the data */
    uint64_t offset; /* in the space of pe */
    void *buffer;    /* PUT: the source. GET: the destination. ATOMIC: where the old value goes, or NULL */
    size_t len;      /* bytes of the buffer; ATOMIC: of the word, 4 or 8 */
    uint64_t value;  /* ATOMIC: the operand. LOOK, ALLOC, PUT_LONG, GET_LONG: bytes */
    uint64_t cond;   /* ATOMIC: what a compare-and-swap compares with. PUT_LONG with a signal: the signal's operand */
    uint64_t word;   /* PUT_LONG with a signal: the offset of its word */
};

/* rmai_net_put: a put is in its place after quiet. rmai_net_get. rmai_net_atomic: without a buffer it is done after
 * quiet; with RMAI_LATER the buffer is filled after quiet. Puts that the set has begun come first, unless the atomic
 * only reads. */
int rmai_net_put(const struct rmai_op *op);
int rmai_net_get(const struct rmai_op *op);
int rmai_net_atomic(const struct rmai_op *op);

/* rmai_net_put_signal: a put of at most RMAI_WITH_SIGNAL bytes, and an atomic without a buffer on a word of the same
 * PE, which the owner does when the data are there. Short ones are one message. put->len may be 0. */
#define RMAI_WITH_SIGNAL ((size_t)256 << 20)
int rmai_net_put_signal(const struct rmai_op *put, const struct rmai_op *signal);

/* rmai_net_alloc and rmai_net_free: in the part of pe's local heap that is for others. To free is a release: a put to
 * the block that is under way comes before. */
int rmai_net_alloc(const char *call, struct rmai_pending *s, int pe, size_t size, uint64_t *g);
int rmai_net_free(const char *call, struct rmai_pending *s, int pe, uint64_t offset);

/* rmai_net_look has pe check that [offset, offset + len) lies in one of its segments or attached regions, and may be
 * written, if `writes` is not 0. Waits for the answer. */
int rmai_net_look(const char *call, struct rmai_pending *s, int pe, uint64_t offset, size_t len, int writes);

/* rmai_net_extent: how far memory of pe's pool may be touched, as an offset in its space: as it was last heard of, 0 if
 * never, or with `fresh` as it is now. */
int rmai_net_extent(const char *call, struct rmai_pending *s, int pe, enum rmai_pool pool, int fresh, size_t *extent);

/* rmai_net_quiet waits until everything of s is complete; rmai_net_quiet_pe: what is asked of pe. Return RMA_SUCCESS,
 * or the first error of an operation that nobody waited for. s may be NULL, in a job of one node. */
int rmai_net_quiet(const char *call, struct rmai_pending *s);
int rmai_net_quiet_pe(const char *call, struct rmai_pending *s, int pe);

/* rmai_net_try_quiet drives progress, and writes to *quiet whether everything of s is complete. It waits for no
 * message; what has gone through a window is flushed, since MPI tells of its completion in no other way. A failure of
 * an earlier operation is left to the next quiet. */
int rmai_net_try_quiet(const char *call, struct rmai_pending *s, int *quiet);

/* rmai_net_test_quiet: the same, but open batches are sent, as by rmai_net_quiet; and when everything of s is complete,
 * it returns the first error of an operation that nobody waited for. */
int rmai_net_test_quiet(const char *call, struct rmai_pending *s, int *quiet);

/* rmai_net_release: before an atomic that writes, on pe, or on this node (pe -1): the puts of s are complete, or go the
 * same way as the atomic and come first. */
int rmai_net_release(const char *call, struct rmai_pending *s, int pe);

/* rmai_net_send_open: what gathers for pe leaves now; if pe has too many unanswered messages, with its next answer. */
void rmai_net_send_open(struct rmai_pending *s, int pe);

/* Sessions: the program says that the records of a context may wait for company. While a session is open, a record that
 * no call waits for stays in the open batch until the batch is full, until a call waits for the peer (a quiet, a get,
 * an atomic that fetches), until the session ends, or until RMAI_BATCH_WAIT has passed. Short puts that block are
 * copied into the batch, too. After OpenSHMEM 1.6, section 9.9 (SHMEM_CTX_SESSION_BATCH).
 * rmai_session_start opens one in s, or leaves the open one as it is; rmai_session_stop ends it, if one is open, sends
 * what has gathered, and waits for nothing. */
void rmai_session_start(struct rmai_pending *s);
void rmai_session_stop(struct rmai_pending *s);

#endif
