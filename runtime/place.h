/* SPDX-License-Identifier: BSD-3-Clause */
/* A place: where a remote range is, once it has been found, and the three accesses to it: put, get, atomic. This
 * process reaches the range by load and store, or the range is private memory of another process of the node, or it is
 * on another node. */
#ifndef RMAI_PLACE_H
#define RMAI_PLACE_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/net/op.h"

struct rmai_world;
struct rmai_region;

struct rmai_place {
    void *there;                /* the address here, or NULL */
    uint64_t address;           /* else the address in the owner's process, */
    struct rmai_region *region; /* the attached region that this access has entered, or NULL */
    struct rmai_pending *set;   /* the pending set of accesses that are not complete on return */
    int far, pe, slot;          /* far: on another node, in the space of pe; else of this node's PE number slot, */
    uint64_t offset;            /* at this offset */
};

/* `when` matters for other nodes only. old may be NULL; then an atomic on another node is complete after rma_quiet.
 * Each function does the access, leaves the region, and returns RMA_SUCCESS or records an error of `call`:
 * RMA_ERR_ADDRESS if the owner's memory is not, or no longer, mapped; RMA_ERR_SYSTEM if the owner has died. */
int rmai_place_put(struct rmai_world *w, const char *call, struct rmai_place *p, const void *source, size_t len,
                   enum rmai_when when);
int rmai_place_get(struct rmai_world *w, const char *call, struct rmai_place *p, void *dest, size_t len,
                   enum rmai_when when);
int rmai_place_atomic(struct rmai_world *w, const char *call, struct rmai_place *p, int op, size_t len, uint64_t value,
                      uint64_t cond, uint64_t *old);

/* rmai_place_atomic_later does the same, but on another node *fetch, of len bytes, may be written as late as in quiet.
 */
int rmai_place_atomic_later(struct rmai_world *w, const char *call, struct rmai_place *p, int op, size_t len,
                            uint64_t value, uint64_t cond, void *fetch);

/* What the place is to runtime/net, where it is on another node. rmai_place_move makes a put or get, kind
 * RMAI_RECORD_PUT or RMAI_RECORD_GET; rmai_place_operation an atomic, whose old value goes to buffer, or is not wanted
 * (NULL). */
static inline struct rmai_op rmai_place_move(const char *call, const struct rmai_place *p, enum rmai_net_kind kind,
                                             void *buffer, size_t len, enum rmai_when when) {
    return (struct rmai_op){.call = call,
                            .set = p->set,
                            .pe = p->pe,
                            .kind = (uint8_t)kind,
                            .when = (uint8_t)when,
                            .offset = p->offset,
                            .buffer = buffer,
                            .len = len};
}
static inline struct rmai_op rmai_place_operation(const char *call, const struct rmai_place *p, int atomic, size_t len,
                                                  uint64_t value, uint64_t cond, void *buffer, enum rmai_when when) {
    struct rmai_op op = rmai_place_move(call, p, RMAI_RECORD_ATOMIC, buffer, len, when);
    op.atomic = (uint8_t)atomic;
    op.value = value;
    op.cond = cond;
    return op;
}

/* rmai_check_local: RMA_SUCCESS, or records RMA_ERR_ARG for `call`: the caller's own buffer, `argument`, is null. */
int rmai_check_local(const char *call, const char *argument, const void *buffer);

/* rmai_not_mapped records RMA_ERR_ADDRESS: what PE pe has attached at `address` is not mapped there. */
int rmai_not_mapped(const char *call, uint64_t address, size_t len, int pe);

#endif
