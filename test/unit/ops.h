/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations of runtime/net/op.h as calls with arguments, for tests. */
#ifndef TEST_OPS_H
#define TEST_OPS_H

#include "runtime/net/op.h"

static inline int op_put(const char *call, struct rmai_pending *s, int pe, uint64_t offset, const void *source,
                         size_t len, enum rmai_when when) {
    const struct rmai_op op = {.call = call,
                               .set = s,
                               .pe = pe,
                               .kind = RMAI_RECORD_PUT,
                               .when = (uint8_t)when,
                               .offset = offset,
                               .buffer = (void *)(uintptr_t)source,
                               .len = len};
    return rmai_net_stream_takes(&op) ? RMA_SUCCESS : rmai_net_put(&op);
}

static inline int op_get(const char *call, struct rmai_pending *s, int pe, uint64_t offset, void *dest, size_t len,
                         enum rmai_when when) {
    const struct rmai_op op = {.call = call,
                               .set = s,
                               .pe = pe,
                               .kind = RMAI_RECORD_GET,
                               .when = (uint8_t)when,
                               .offset = offset,
                               .buffer = dest,
                               .len = len};
    return when == RMAI_LATER && rmai_net_stream_takes(&op) ? RMA_SUCCESS : rmai_net_get(&op);
}

static inline struct rmai_op op_of_atomic(const char *call, struct rmai_pending *s, int pe, uint64_t offset, int atomic,
                                          size_t len, uint64_t value, uint64_t cond, void *old, int later) {
    return (struct rmai_op){.call = call,
                            .set = s,
                            .pe = pe,
                            .kind = RMAI_RECORD_ATOMIC,
                            .atomic = (uint8_t)atomic,
                            .when = later ? RMAI_LATER : RMAI_NOW,
                            .offset = offset,
                            .buffer = old,
                            .len = len,
                            .value = value,
                            .cond = cond};
}

static inline int op_atomic(const char *call, struct rmai_pending *s, int pe, uint64_t offset, int atomic, size_t len,
                            uint64_t value, uint64_t cond, void *old, int later) {
    const struct rmai_op op = op_of_atomic(call, s, pe, offset, atomic, len, value, cond, old, later);
    return (!old || later) && rmai_net_stream_takes(&op) ? RMA_SUCCESS : rmai_net_atomic(&op);
}

static inline int op_put_signal(const char *call, struct rmai_pending *s, int pe, uint64_t offset, const void *source,
                                size_t len, uint64_t word, int atomic, size_t word_len, uint64_t value,
                                enum rmai_when when) {
    const struct rmai_op put = {.call = call,
                                .set = s,
                                .pe = pe,
                                .kind = RMAI_RECORD_PUT,
                                .when = (uint8_t)when,
                                .offset = offset,
                                .buffer = (void *)(uintptr_t)source,
                                .len = len},
                         signal = op_of_atomic(call, s, pe, word, atomic, word_len, value, 0, NULL, 0);
    return rmai_net_put_signal(&put, &signal);
}

#endif
