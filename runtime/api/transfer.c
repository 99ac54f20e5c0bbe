/* SPDX-License-Identifier: BSD-3-Clause */
/* Put, get and atomics by symmetric address, where the inlined calls do not suffice. It handles PEs of the node that
 * are outside its arithmetic progression, PEs of other nodes, and every error. The whole range is checked before the
 * first byte moves. */
#include "config.h"

#include "base/attributes.h"
#include "base/error.h"
#include "heap/segment.h"
#include "runtime/context.h"
#include "runtime/job/job.h"
#include "runtime/net/op.h"
#include "runtime/net/progress.h"
#include "runtime/net/stream.h"
#include "runtime/place.h"
#include "runtime/reach.h"
#include "runtime/api/resolve.h"
#include "runtime/api/strided.h"
#include "runtime/team.h"
#include "runtime/world.h"

/* ---- streams: the shortest path ----
 *
 * These return 0, with nothing done, if no stream takes the operation; then the call goes on to find out why not. A
 * stream of this PE and kind of operation is open only if the PE is on another node, or this one in a session. */

/* Returns the context's streams, or NULL. *pe becomes the world's number of the PE. */
static inline __attribute__((always_inline)) struct rmai_streams *streams_of(const rma_ctx *ctx, int *pe) {
    const struct rmai_context *c;
    if (RMAI_LIKELY(ctx == RMA_CTX_DEFAULT)) {
        return rmai_context_lines->streams;
    }
    c = rmai_context_at(ctx);
    if (!c || *pe < 0 || *pe >= c->team->n) return NULL;
    *pe = rmai_team_pe(c->team, *pe);
    return c->line->streams;
}

static inline __attribute__((always_inline)) int stream_put_of(const rma_ctx *ctx, void *dest, const void *source,
                                                               size_t len, int pe) {
    struct rmai_streams *all = streams_of(ctx, &pe);
    const uint64_t key = rmai_stream_best_key(rmai_stream_key(pe, RMAI_RECORD_PUT, 0, 0, len), len);
    struct rmai_stream *s;
    if (!all || !source) return 0;
    s = rmai_stream_at(all, pe);
    return rmai_stream_put(all, s, key, (uintptr_t)dest - s->origin, source, len);
}

static inline __attribute__((always_inline)) int stream_get_of(const rma_ctx *ctx, void *dest, const void *source,
                                                               size_t len, int pe) {
    struct rmai_streams *all = streams_of(ctx, &pe);
    const uint64_t key = rmai_stream_best_key(rmai_stream_key(pe, RMAI_RECORD_GET, 0, 0, len), len);
    struct rmai_stream *s;
    if (!all || !dest || len > RMAI_STREAM_LEN_MAX) return 0;
    s = rmai_stream_at(all, pe);
    return rmai_stream_get(all, s, key, (uintptr_t)source - s->origin, dest, len);
}

static inline __attribute__((always_inline)) int stream_atomic_of(const rma_ctx *ctx, uint32_t update,
                                                                  const void *target, size_t len, uint64_t value,
                                                                  int pe, void *fetch) {
    struct rmai_streams *all = streams_of(ctx, &pe);
    const uint64_t key =
        rmai_stream_key(pe, RMAI_RECORD_ATOMIC, 0, fetch ? RMAI_RECORD_WANTED : 0, 0) | update | RMAI_STREAM_COMPACT;
    struct rmai_stream *s;
    if (!all) return 0;
    s = rmai_stream_at(all, pe);
    return rmai_stream_atomic(all, s, key, (uintptr_t)target - s->origin, value, len, fetch);
}

static inline __attribute__((always_inline)) int stream_compare_swap_of(const rma_ctx *ctx, const void *target,
                                                                        size_t len, uint64_t value, uint64_t cond,
                                                                        int pe, void *fetch) {
    struct rmai_streams *all = streams_of(ctx, &pe);
    const uint64_t key = rmai_stream_key(pe, RMAI_RECORD_ATOMIC, RMA_COMPARE_SWAP_, RMAI_RECORD_WANTED, len);
    struct rmai_stream *s;
    if (!all || !fetch) return 0;
    s = rmai_stream_at(all, pe);
    return rmai_stream_compare_swap(all, s, key | RMAI_STREAM_COMPACT, (uintptr_t)target - s->origin, value, cond, len,
                                    fetch);
}

/* ---- one operation ---- */

/* What an operation is for rmai_net_loops_back: MOVES never travel to this PE itself; UPDATES are atomics and
 * nonblocking gets of a word for whose end no call waits; FETCHES are those for which the call waits. */
enum { MOVES, UPDATES, FETCHES };
static __attribute__((noinline)) int loops_back(struct rmai_pending *s, int pe, int what) {
    return what != MOVES && pe == rmai_world.job.my_pe && rmai_net_loops_back(s, what == FETCHES);
}

/* The short path of most calls that come here: `addr`, of PE `pe` of another node, is in the symmetric heap; or of this
 * PE, if the operation loops back. Fills in *op except the kind of operation. Returns 0 if the address is anything
 * else, or wrong: then the call takes the long path, which words the error. */
static inline __attribute__((always_inline)) int find_far(struct rmai_op *op, const char *call, const rma_ctx *ctx,
                                                          const void *addr, size_t len, int pe, int what) {
    const struct rmai_world *w = &rmai_world;
    struct rmai_context *c = rmai_context_at(ctx);
    const size_t in_heap = (size_t)((const char *)addr - w->symmetric.base), size = rmai_segment_size(&w->symmetric);
    if (RMAI_UNLIKELY(!c || !c->pending || in_heap > size || len > size - in_heap)) return 0;
    if (ctx != RMA_CTX_DEFAULT) {
        if (pe < 0 || pe >= c->team->n) return 0;
        pe = rmai_team_pe(c->team, pe);
    }
    if (RMAI_UNLIKELY((unsigned)pe >= (unsigned)w->job.n_pes)) return 0;
    if (RMAI_UNLIKELY(rma_slot_(pe) < rma_reach_.n_node)) {
        if (!loops_back(c->pending, pe, what)) return 0;
    } else if (RMAI_UNLIKELY(rma_reach_.n_node != (unsigned)w->job.node_n_pes) && rmai_node_slot(&w->job, pe) >= 0) {
        return 0;
    }
    op->call = call;
    op->set = c->pending;
    op->pe = pe;
    op->offset = w->job.layout.symmetric + in_heap;
    op->len = len;
    return 1;
}

/* 1 if the inlined calls leave atomics and nonblocking gets to the library, also on this node (RMA_STREAMING_). */
static inline int in_session(const rma_ctx *ctx) {
    const struct rmai_context *c;
    if (RMAI_LIKELY(ctx == RMA_CTX_DEFAULT)) return rma_streaming_(&rmai_context_lines->complete);
    c = rmai_context_at(ctx);
    return c && rma_streaming_(&c->line->complete);
}

/* Returns the address that the inlined call would have accessed, or NULL if the memory is on another node or the
 * operation travels as those to other nodes do. */
static __attribute__((noinline)) void *reach_in_session(const rma_ctx *ctx, const void *addr, size_t len, int pe,
                                                        int what) {
    struct rmai_context *c = rmai_context_at(ctx);
    if (!c || pe < 0 || pe >= c->team->n) return NULL;
    pe = rmai_team_pe(c->team, pe);
    return loops_back(c->pending, pe, what) ? NULL : rma_reach_ptr_(addr, len, pe);
}

static void *reach_word_in_session(const rma_ctx *ctx, const void *word, size_t len, int pe, int what) {
    return (uintptr_t)word & (len - 1) ? NULL : reach_in_session(ctx, word, len, pe, what);
}

static inline int raise_failure(int code) { return RMAI_LIKELY(code == RMA_SUCCESS) ? code : rmai_raise(code); }

/* ---- puts, gets, atomics ---- */

static int put_symmetric(const char *call, const rma_ctx *ctx, void *dest, const void *source, size_t len, int pe,
                         enum rmai_when when) {
    struct rmai_place p;
    int code = len ? rmai_resolve(call, "dest", ctx, dest, len, pe, &p) : rmai_resolve_nothing(call, ctx, pe);
    if (code == RMA_SUCCESS && len) code = rmai_check_local(call, "source", source);
    if (code == RMA_SUCCESS && len) code = rmai_place_put(&rmai_world, call, &p, source, len, when);
    return rmai_raise(code);
}

static int get_symmetric(const char *call, const rma_ctx *ctx, void *dest, const void *source, size_t len, int pe,
                         enum rmai_when when) {
    struct rmai_place p;
    int code = len ? rmai_resolve(call, "source", ctx, source, len, pe, &p) : rmai_resolve_nothing(call, ctx, pe);
    if (code == RMA_SUCCESS && len) code = rmai_check_local(call, "dest", dest);
    if (code == RMA_SUCCESS && len) code = rmai_place_get(&rmai_world, call, &p, dest, len, when);
    return rmai_raise(code);
}

/* The functions below are apart from those that try a stream: so these save no registers. */
static __attribute__((noinline)) int put_beyond(const char *call, const rma_ctx *ctx, void *dest, const void *source,
                                                size_t len, int pe, enum rmai_when when) {
    struct rmai_op op;
    if (RMAI_UNLIKELY(!source || !len || !find_far(&op, call, ctx, dest, len, pe, MOVES)))
        return put_symmetric(call, ctx, dest, source, len, pe, when);
    op.kind = RMAI_RECORD_PUT;
    op.when = (uint8_t)when;
    op.buffer = (void *)(uintptr_t)source;
    return raise_failure(rmai_net_put(&op));
}

static __attribute__((noinline)) int get_beyond(const char *call, const rma_ctx *ctx, void *dest, const void *source,
                                                size_t len, int pe, enum rmai_when when) {
    struct rmai_op op;
    if (RMAI_UNLIKELY(!dest || !len ||
                      !find_far(&op, call, ctx, source, len, pe, when == RMAI_LATER && len == 8 ? UPDATES : MOVES)))
        return get_symmetric(call, ctx, dest, source, len, pe, when);
    op.kind = RMAI_RECORD_GET;
    op.when = (uint8_t)when;
    op.buffer = dest;
    return raise_failure(rmai_net_get(&op));
}

/* Words of 8 bytes have their own code, without a call of memcpy. Other lengths are left to these functions, which are
 * called last and not inlined, so that the code for words saves no registers. */
static __attribute__((noinline)) int put_other(const char *call, const rma_ctx *ctx, void *dest, const void *source,
                                               size_t len, int pe, enum rmai_when when) {
    return len > 0 && len <= RMAI_STREAM_LEN_MAX && stream_put_of(ctx, dest, source, len, pe)
               ? RMA_SUCCESS
               : put_beyond(call, ctx, dest, source, len, pe, when);
}

static inline __attribute__((always_inline)) int put_as(const char *call, const rma_ctx *ctx, void *dest,
                                                        const void *source, size_t len, int pe, enum rmai_when when) {
    if (RMAI_UNLIKELY(len != sizeof(uint64_t))) return put_other(call, ctx, dest, source, len, pe, when);
    return stream_put_of(ctx, dest, source, sizeof(uint64_t), pe)
               ? RMA_SUCCESS
               : put_beyond(call, ctx, dest, source, sizeof(uint64_t), pe, when);
}

static __attribute__((noinline)) int get_other_nbi(const char *call, const rma_ctx *ctx, void *dest, const void *source,
                                                   size_t len, int pe) {
    return stream_get_of(ctx, dest, source, len, pe) ? RMA_SUCCESS
                                                     : get_beyond(call, ctx, dest, source, len, pe, RMAI_LATER);
}

int rma_put_slow_(const char *call, const rma_ctx *ctx, void *dest, const void *source, size_t len, int pe) {
    return put_as(call, ctx, dest, source, len, pe, RMAI_NOW);
}

int rma_p_slow_(const char *call, const rma_ctx *ctx, void *dest, const void *source, size_t len, int pe) {
    return put_as(call, ctx, dest, source, len, pe, RMAI_COPIED);
}

int rma_get_slow_(const char *call, const rma_ctx *ctx, void *dest, const void *source, size_t len, int pe) {
    return get_beyond(call, ctx, dest, source, len, pe, RMAI_NOW);
}

int rma_put_nbi_slow_(const char *call, const rma_ctx *ctx, void *dest, const void *source, size_t len, int pe) {
    return put_as(call, ctx, dest, source, len, pe, RMAI_LATER);
}

int rma_get_nbi_slow_(const char *call, const rma_ctx *ctx, void *dest, const void *source, size_t len, int pe) {
    if (RMAI_UNLIKELY(len != sizeof(uint64_t))) return get_other_nbi(call, ctx, dest, source, len, pe);
    return stream_get_of(ctx, dest, source, sizeof(uint64_t), pe)
               ? RMA_SUCCESS
               : get_beyond(call, ctx, dest, source, sizeof(uint64_t), pe, RMAI_LATER);
}

void *rma_ptr(const void *addr, int pe) {
    struct rmai_world *w = &rmai_world;
    void *there = rma_reach_ptr_(addr, 1, pe);
    struct rmai_place p;
    int code;
    if (RMAI_LIKELY(there != NULL)) return there;
    code = rmai_running("rma_ptr");
    if (code == RMA_SUCCESS) code = rmai_check_pe(&w->job, "rma_ptr", "PE", pe);
    if (rmai_raise(code) != RMA_SUCCESS) return NULL;
    there = rmai_place_symmetric(w, addr, 1, pe, &p) ? p.there : NULL;
    if (!there) rmai_net_poll_sometimes(w->net); /* a loop that polls by loads may call it */
    return there;
}

/* As find_far, for an atomic on an aligned word. */
static inline __attribute__((always_inline)) int find_far_word(struct rmai_op *far, const char *call,
                                                               const rma_ctx *ctx, int op, const void *target,
                                                               size_t len, uint64_t value, uint64_t cond, int pe,
                                                               int what) {
    if (RMAI_UNLIKELY((uintptr_t)target & (len - 1)) || !find_far(far, call, ctx, target, len, pe, what)) return 0;
    far->kind = RMAI_RECORD_ATOMIC;
    far->atomic = (uint8_t)op;
    far->value = value;
    far->cond = cond;
    return 1;
}

static __attribute__((noinline)) int atomic_beyond(const char *call, const rma_ctx *ctx, int op, const void *target,
                                                   size_t len, uint64_t value, uint64_t cond, int pe, void *fetch) {
    struct rmai_op far;
    struct rmai_place p;
    void *near;
    int code;
    if (RMAI_UNLIKELY(in_session(ctx)) && fetch &&
        (near = reach_word_in_session(ctx, target, len, pe, UPDATES)) != NULL) {
        rma_fetched_(fetch, len, rma_apply_(op, near, len, value, cond));
        return RMA_SUCCESS;
    }
    if (RMAI_LIKELY(fetch && find_far_word(&far, call, ctx, op, target, len, value, cond, pe, UPDATES))) {
        far.when = RMAI_LATER;
        far.buffer = fetch;
        return raise_failure(rmai_net_atomic(&far));
    }
    code = rmai_resolve_word(call, "target", ctx, target, len, pe, &p);
    if (code == RMA_SUCCESS && !fetch) code = rmai_error(RMA_ERR_ARG, "%s: fetch is a null pointer", call);
    if (code == RMA_SUCCESS) code = rmai_place_atomic_later(&rmai_world, call, &p, op, len, value, cond, fetch);
    return rmai_raise(code);
}

static __attribute__((noinline)) int compare_swap_nbi(const char *call, const rma_ctx *ctx, const void *target,
                                                      size_t len, uint64_t value, uint64_t cond, int pe, void *fetch) {
    return (RMAI_LIKELY(len == sizeof(uint64_t))
                ? stream_compare_swap_of(ctx, target, sizeof(uint64_t), value, cond, pe, fetch)
                : stream_compare_swap_of(ctx, target, sizeof(uint32_t), value, cond, pe, fetch))
               ? RMA_SUCCESS
               : atomic_beyond(call, ctx, RMA_COMPARE_SWAP_, target, len, value, cond, pe, fetch);
}

int rma_atomic_nbi_slow_(const char *call, const rma_ctx *ctx, int op, const void *target, size_t len, uint64_t value,
                         uint64_t cond, int pe, void *fetch) {
    const uint32_t update = RMA_WORD_UPDATE_(op, len);
    if (op == RMA_COMPARE_SWAP_) return compare_swap_nbi(call, ctx, target, len, value, cond, pe, fetch);
    if (fetch && (RMAI_LIKELY(len == sizeof(uint64_t))
                      ? stream_atomic_of(ctx, update, target, sizeof(uint64_t), value, pe, fetch)
                      : stream_atomic_of(ctx, update, target, sizeof(uint32_t), value, pe, fetch)))
        return RMA_SUCCESS;
    return atomic_beyond(call, ctx, op, target, len, value, cond, pe, fetch);
}

int rma_atomic_slow_(const char *call, const rma_ctx *ctx, int op, const void *target, size_t len, uint64_t value,
                     uint64_t cond, int pe, uint64_t *old) {
    struct rmai_op far;
    struct rmai_place p;
    void *near;
    int code;
    if (RMAI_UNLIKELY(in_session(ctx)) &&
        (near = reach_word_in_session(ctx, target, len, pe, old ? FETCHES : UPDATES)) != NULL) {
        value = rma_apply_(op, near, len, value, cond);
        if (old) *old = value;
        return RMA_SUCCESS;
    }
    if (RMAI_LIKELY((len == sizeof *old || !old) &&
                    find_far_word(&far, call, ctx, op, target, len, value, cond, pe, old ? FETCHES : UPDATES))) {
        far.when = RMAI_NOW;
        far.buffer = old;
        return raise_failure(rmai_net_atomic(&far));
    }
    code = rmai_resolve_word(call, "target", ctx, target, len, pe, &p);
    if (code == RMA_SUCCESS) code = rmai_place_atomic(&rmai_world, call, &p, op, len, value, cond, old);
    return rmai_raise(code);
}

static __attribute__((noinline)) int stream_half_of(const rma_ctx *ctx, uint32_t update, const void *target,
                                                    uint64_t value, int pe) {
    return stream_atomic_of(ctx, update, target, sizeof(uint32_t), value, pe, NULL);
}

/* An update of a word whose length is known to `update` only. */
static inline __attribute__((always_inline)) int stream_update_of(const rma_ctx *ctx, uint32_t update,
                                                                  const void *target, uint64_t value, int pe) {
    return RMAI_UNLIKELY(update >> 24 != sizeof value)
               ? stream_half_of(ctx, update, target, value, pe)
               : stream_atomic_of(ctx, update, target, sizeof value, value, pe, NULL);
}

int rma_stream_update_(uint32_t update, const void *target, uint64_t value, int pe) {
    return stream_update_of(RMA_CTX_DEFAULT, update, target, value, pe);
}

int rma_stream_get_(void *dest, const void *source, int pe) {
    return stream_get_of(RMA_CTX_DEFAULT, dest, source, sizeof(uint64_t), pe);
}

/* Where the inlined call has not tried the streams. */
static __attribute__((noinline)) int update_in_context(const char *call, const rma_ctx *ctx, uint32_t update,
                                                       const void *target, uint64_t value, int pe) {
    return stream_update_of(ctx, update, target, value, pe)
               ? RMA_SUCCESS
               : rma_atomic_slow_(call, ctx, update >> 8 & 0xff, target, update >> 24, value, 0, pe, NULL);
}

int rma_update_slow_(const char *call, const rma_ctx *ctx, uint32_t update, const void *target, uint64_t value,
                     int pe) {
    return ctx == RMA_CTX_DEFAULT
               ? rma_atomic_slow_(call, ctx, update >> 8 & 0xff, target, update >> 24, value, 0, pe, NULL)
               : update_in_context(call, ctx, update, target, value, pe);
}

/* The short path of a put with a signal, or of a signal alone, to symmetric heaps of other nodes. Returns 0, with
 * nothing done, if the call has to take the long path. */
static inline int signal_far(const char *call, const rma_ctx *ctx, void *dest, const void *source, size_t len,
                             uint64_t *signal, uint64_t value, int op, int pe, int nbi, int *code) {
    struct rmai_op put, set;
    const int atomic = op == RMA_SIGNAL_SET ? RMA_SET_ : RMA_FETCH_ADD_;
    if (RMAI_UNLIKELY(op != RMA_SIGNAL_SET && op != RMA_SIGNAL_ADD)) return 0;
    if (!find_far_word(&set, call, ctx, atomic, signal, sizeof *signal, value, 0, pe, FETCHES)) return 0;
    set.when = RMAI_NOW;
    set.buffer = NULL;
    if (!len) return *code = rmai_net_atomic(&set), 1;
    if (!source || len > RMAI_WITH_SIGNAL || !find_far(&put, call, ctx, dest, len, pe, MOVES)) return 0;
    put.kind = RMAI_RECORD_PUT;
    put.when = nbi ? RMAI_LATER : RMAI_NOW;
    put.buffer = (void *)(uintptr_t)source;
    return *code = rmai_net_put_signal(&put, &set), 1;
}

int rma_put_signal_slow_(const char *call, const rma_ctx *ctx, void *dest, const void *source, size_t len,
                         uint64_t *signal, uint64_t value, int op, int pe, int nbi) {
    int code;
    return RMAI_LIKELY(signal_far(call, ctx, dest, source, len, signal, value, op, pe, nbi, &code))
               ? raise_failure(code)
               : rmai_put_signal(call, ctx, dest, source, len, signal, value, op, pe, nbi);
}
