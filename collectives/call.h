/* SPDX-License-Identifier: BSD-3-Clause */
/* How every collective begins: it finds the team, checks the arguments, and compares them between PEs. It checks that
 * the PEs of a node have given the same arguments; with RMA_CHECK=1, that all PEs have. */
#ifndef RMAI_CALL_H
#define RMAI_CALL_H

#include <stddef.h>
#include <stdint.h>

#include "rma.h"
#include "base/attributes.h"
#include "base/choice.h"
#include "base/error.h"
#include "runtime/compare.h"
#include "runtime/node/mailbox.h"
#include "runtime/team.h"
#include "runtime/world.h"

struct rmai_call {
    struct rmai_world *w;
    const char *name; /* the public call's name */
    struct rmai_team *t;
    struct rmai_mailboxes *near;
    int far; /* 1: some of the team's PEs are on other nodes */
};

/* rmai_call_begin finds the team. Returns RMA_SUCCESS, or records RMA_ERR_STATE or RMA_ERR_ARG. */
int rmai_call_begin(struct rmai_call *c, const char *name, const rma_team *team);

/* A buffer of a call. offset: where the node's other PEs find it in its owner's space, or 0 if they do not reach it. */
struct rmai_buffer {
    const char *argument; /* the argument's name, for errors */
    const void *addr;
    size_t len, align;
    uint64_t offset;
};

/* rmai_call_buffers checks both buffers and fills in their offsets. Returns RMA_SUCCESS, RMA_ERR_ARG (a null pointer,
 * or they overlap without being the same), RMA_ERR_ADDRESS. */
int rmai_call_buffers(const struct rmai_call *c, struct rmai_buffer *dest, struct rmai_buffer *source);

/* rmai_check_root: RMA_SUCCESS, or records RMA_ERR_PE: the team has no PE number `root`. */
static inline int rmai_check_root(const struct rmai_call *c, int root) {
    if (root >= 0 && root < c->t->n) return RMA_SUCCESS;
    return rmai_error(RMA_ERR_PE, "%s: root %d is outside 0..%d of the team", c->name, root, c->t->n - 1);
}

/* rmai_call_agree returns `code`, the result of this PE's own check of its arguments. With RMA_CHECK=1 it returns the
 * common result of all PEs of the team (rmai_compare_verdict). The caller does not set `code`, `pe` and number[1] of
 * the statement. */
int rmai_call_compare(const struct rmai_call *c, int code);
static inline int rmai_call_agree(const struct rmai_call *c, int code, const struct rmai_statement *stated) {
    rmai_statement_say(c->near->said, stated); /* to the PEs of its node */
    return RMAI_LIKELY(!c->w->job.settings.check) ? code : rmai_call_compare(c, code);
}

/* rmai_call_reaches learns the nodes of the team (collectives/nodes), if some of its PEs are on other nodes. */
int rmai_call_reaches(const struct rmai_call *c);

/* rmai_leader_code: the near PEs' leader has worked between the nodes, with this result. It says so before it passes
 * the data on, also after an error. Returns code. rmai_call_code: what a call ends with in which the leader has passed
 * data on: the leader's own `code`; on the other PEs RMA_SUCCESS, or the leader's error in this call or an earlier one,
 * after which the leaders cannot work together. */
static inline int rmai_leader_code(const struct rmai_call *c, int code) {
    if (RMAI_UNLIKELY(code != RMA_SUCCESS)) atomic_store_explicit(&c->near->mine->failed, code, memory_order_relaxed);
    return code;
}
int rmai_call_leader_failed_(const struct rmai_call *c, int code);
static inline int rmai_call_code(const struct rmai_call *c, int code) {
    if (c->near->me == 0) return code;
    code = atomic_load_explicit(&c->near->mailbox[0]->failed, memory_order_relaxed);
    return RMAI_LIKELY(code == RMA_SUCCESS) ? code : rmai_call_leader_failed_(c, code);
}

/* rmai_call_takes: 1 if the table of choices gives this team the algorithm `way` for n bytes. */
static inline int rmai_call_takes(const struct rmai_call *c, enum rmai_way way, size_t n) {
    return rmai_takes(&c->w->job.settings.collectives, way, c->near->shape, n);
}

/* rmai_place_of returns the address of len bytes, at most RMAI_BOUNCE_BYTES, in on-node PE i's slot. */
static inline void *rmai_place_of(const struct rmai_mailboxes *near, int i, size_t len) {
    return len <= RMAI_NOTE ? rmai_mailbox_note(near, i) : rmai_mailbox_bounce(near, i);
}

/* rmai_call_nothing: the rest of a call of 0 bytes. PEs of one node hear each other as in a call of more bytes, so that
 * they notice if some have given more: all of them, or the PE number `root` is heard by the others, or hears them. On
 * several nodes it does nothing. Returns RMA_SUCCESS. */
enum rmai_direction { RMAI_AMONG_ALL, RMAI_FROM_ROOT, RMAI_TO_ROOT };
int rmai_call_nothing(const struct rmai_call *c, enum rmai_direction direction, int root);

/* rmai_spread, the on-node part of a broadcast: on-node PE `root` passes len bytes to the others, and copies them to
 * its own dest. offset is source's offset on the root, or 0. Only root's source matters. dest and source may be the
 * same. */
void rmai_spread(const struct rmai_call *c, int root, void *dest, const void *source, uint64_t offset, size_t len);

#endif
