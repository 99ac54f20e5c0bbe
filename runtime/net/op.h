/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts, gets, atomics and quiet on PEs of other nodes. The caller has found the place: a PE, and an offset in that PE's
 * space, as in a global pointer. It fills in a struct rmai_op, and calls one of the functions below. op.c selects the
 * way: messages (request.h) or one of MPI's windows (window.h).
 *
 * The caller has checked the range of a symmetric place, and that of a place in a local heap as far as the owner's
 * directory tells (rmai_net_extent). The owner checks a range of attached memory when the operation arrives. Each
 * function returns RMA_SUCCESS, or the recorded error of op->call, in the same words as an error on the caller's own
 * node. An operation that is not complete on return belongs to the pending set op->set; rmai_net_quiet of that set
 * completes it. Any thread of the program may call these functions. */
#ifndef RMAI_OP_H
#define RMAI_OP_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/job/directory.h"
#include "runtime/net/net.h"
#include "runtime/net/wire.h"

/* What the caller of a put, get or fetching atomic does next. */
enum rmai_when {
    RMAI_NOW,   /* waits: on return the source is free, or the destination is filled */
    RMAI_LATER, /* continues: until quiet the source is in use, or the destination is not filled */
    RMAI_COPIED /* continues, and the source is free on return: it is short enough to be copied */
};

/* The kinds are those of records (wire.h), but a put or get may have any length here. Callers fill in the fields up to
 * `len` and, for ATOMIC, `value` and `cond`. Only files of this folder use the other kinds and fields. */
struct rmai_op {
    const char *call; /* the public call, which errors name */
    struct rmai_pending *set;
    int pe;          /* of another node */
    uint8_t kind;    /* RMAI_RECORD_PUT, RMAI_RECORD_GET or RMAI_RECORD_ATOMIC; see enum rmai_net_kind */
    uint8_t atomic;  /* ATOMIC, PUT_LONG with a signal: enum rma_atomic_op_. LOOK: 1 if the range will be written.
                      * RUNS: enum rmai_runs_op */
    uint8_t when;    /* enum rmai_when */
    uint8_t signal;  /* PUT_LONG: 1 if an atomic on `word` follows the data */
    uint64_t offset; /* in the space of pe */
    void *buffer; /* PUT: the source. GET: the destination. ATOMIC: where the old value goes, or NULL. RUNS: where data
                   * that the target returns go, or which data travel by tag */
    size_t len;   /* bytes of the buffer; ATOMIC: of the word, 4 or 8 */
    uint64_t value; /* ATOMIC: the operand. LOOK, ALLOC, PUT_LONG, GET_LONG: bytes */
    uint64_t cond; /* ATOMIC: the value that a compare-and-swap expects. PUT_LONG with a signal: the signal's operand */
    uint64_t word; /* PUT_LONG with a signal: the offset of its word */
    const struct rmai_runs *runs; /* RUNS: what follows the operands (request.h) */
};

/* rmai_net_stream_takes adds the operation to the open stream of its kind and PE, if there is one (stream.h), and
 * returns 1; else 0, and nothing has happened. Callers that have not tried the stream before call it first. */
int rmai_net_stream_takes(const struct rmai_op *op);

/* rmai_net_put, rmai_net_get and rmai_net_atomic do one operation. A put is in its place after quiet. An atomic without
 * a buffer is done after quiet; with RMAI_LATER its buffer is filled after quiet. Puts that the set began earlier are
 * done before an atomic, unless the atomic only reads. rmai_net_put_gathered is rmai_net_put with RMAI_NOW, but a put
 * of at most RMAI_GATHERED_MOST bytes may stay here until the next operation on that PE that leaves, a wait, a quiet,
 * or rmai_net_send_gathered. */
#define RMAI_GATHERED_MOST ((size_t)1024)
int rmai_net_put(const struct rmai_op *op);
int rmai_net_put_gathered(const struct rmai_op *op);
int rmai_net_get(const struct rmai_op *op);
int rmai_net_atomic(const struct rmai_op *op);

/* rmai_net_put_signal does a put of at most RMAI_WITH_SIGNAL bytes and an atomic without a buffer on a word of the same
 * PE. The owner does the atomic after the data have arrived. A short put and its signal are one message. put->len may
 * be 0. */
#define RMAI_WITH_SIGNAL ((size_t)256 << 20)
int rmai_net_put_signal(const struct rmai_op *put, const struct rmai_op *signal);

/* rmai_net_alloc and rmai_net_free allocate and free a block in the part of pe's local heap that other PEs may allocate
 * from. A free is a release: puts to the block that are under way are done before it. */
int rmai_net_alloc(const char *call, struct rmai_pending *s, int pe, size_t size, uint64_t *g);
int rmai_net_free(const char *call, struct rmai_pending *s, int pe, uint64_t offset);

/* rmai_net_look has pe check that [offset, offset + len) lies in one of its segments or attached regions, and that it
 * may be read, or written, if `writes` is not 0. The address must be a multiple of align, 16 at most. Waits for the
 * answer. Pages of a range longer than RMAI_TOUCHED_MOST are not touched: the program may not need them all, and they
 * would become memory in use. */
#define RMAI_TOUCHED_MOST ((size_t)1 << 20)
int rmai_net_look(const char *call, struct rmai_pending *s, int pe, uint64_t offset, size_t len, size_t align,
                  int writes);

/* rmai_net_extent tells how far the memory of pe's pool may be accessed, as an offset in its space. Without `fresh` it
 * gives the last value that this PE has learned, or 0 if it has learned none; with `fresh` it asks pe. */
int rmai_net_extent(const char *call, struct rmai_pending *s, int pe, enum rmai_pool pool, int fresh, size_t *extent);

/* rmai_net_quiet waits until all operations that s has begun before it are complete; rmai_net_quiet_pe waits for those
 * to pe. Both return RMA_SUCCESS, or the first error of an operation that nobody waited for; rmai_net_quiet_pe returns
 * `code`, the result of the PEs before, if that is an error, and leaves such an operation to the next quiet. s may be
 * NULL, in a job of one node. */
int rmai_net_quiet(const char *call, struct rmai_pending *s);
int rmai_net_quiet_pe(const char *call, struct rmai_pending *s, int pe, int code);

/* rmai_net_try_quiet drives progress, and writes to *quiet whether all operations of s are complete. It waits for no
 * message, but it flushes the windows that s has used: MPI has no other way to tell that their transfers are complete.
 * It leaves the failure of an earlier operation to the next quiet. */
int rmai_net_try_quiet(const char *call, struct rmai_pending *s, int *quiet);

/* rmai_net_test_quiet does the same, but also sends open messages, as rmai_net_quiet does. When all operations of s are
 * complete, it returns the first error of an operation that nobody waited for. */
int rmai_net_test_quiet(const char *call, struct rmai_pending *s, int *quiet);

/* rmai_net_release is called before an atomic that writes on pe, or on this node (pe is -1). After it, the puts of s
 * are complete, or they travel on the atomic's own path and arrive before it. */
int rmai_net_release(const char *call, struct rmai_pending *s, int pe);

/* rmai_net_send_open sends the open message for pe now or, if pe has too many unanswered messages, when it next
 * answers.
 */
void rmai_net_send_open(struct rmai_pending *s, int pe);

/* rmai_net_loops_back: 1 if an atomic or a nonblocking get of this PE's own word is to be an operation like those on
 * other nodes. In a session, while operations of s are under way, accesses to random words of all PEs then have one
 * path, and the processor need not predict where the PE is. Those whose result the caller waits for (`waits`), and
 * those after the session, are so only while earlier ones are under way, so that they come after these. */
int rmai_net_loops_back(struct rmai_pending *s, int waits);

/* rmai_net_complete_own completes such operations: an atomic on an own word that is done directly comes next. s may be
 * NULL. Returns RMA_SUCCESS, or the error of a flush; it leaves earlier
 * failures to the next quiet. rmai_net_count_streams counts in the sets' traffic what open streams have
 * taken; net may be NULL. */
int rmai_net_complete_own(const char *call, struct rmai_pending *s);
void rmai_net_count_streams(struct rmai_net *net);

/* Sessions: the program allows the records of a context to wait until more of them fill a message. While a session is
 * open, a record that no call waits for stays in the open message until that is full, until a call waits for
 * that PE (a quiet, a get, an atomic that fetches), until the session ends, or until RMAI_SESSION_WAIT has passed.
 * Short blocking puts are also copied into the message. After OpenSHMEM 1.6, section 9.9 (SHMEM_CTX_SESSION_BATCH).
 * rmai_session_start opens a session in s, unless one is open. rmai_session_stop ends the session, if one is open, and
 * sends the open messages; it waits for nothing. */
void rmai_session_start(struct rmai_pending *s);
void rmai_session_stop(struct rmai_pending *s);

#endif
