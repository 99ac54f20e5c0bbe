/* SPDX-License-Identifier: BSD-3-Clause */
/* clang-format off */
/* What a call of the library does, as the detector sees it. The wrappers (on.h) call one of
 * these functions for each call. It records the call's accesses, or changes what the calling thread knows, by the table
 * of docs/memory-model.md and the specification of OpenSHMEM. "By thread", "by puts" and so on name the actor (clock.h)
 * of the access. "Tells": a thread that sees the value learns what the caller knows.
 *
 *     call                     accesses                               order
 *     put, p                   source by thread, target by puts       complete by quiet, ordered by fence; tells
 *     put_nbi                  source by pending, target by puts      the same
 *     get, g                   both by thread                         complete when it returns
 *     get_nbi                  both by pending                        complete by quiet
 *     atomic that fetches      the word by thread                     learns what the word's writers told; tells
 *     atomic that does not     the word by puts                       tells
 *     accumulate               source by thread, elements by puts, or  tells
 *                              by thread if it fetches (nbi: both by
 *                              pending)
 *     put_signal               data by signalled, signal by puts      tells, also about its own data
 *     wait_until, test         none (native: the word, an atomic)     learns
 *     fence                                                           orders the puts to a PE that the thread knows of
 *                                                                     before what is told to that PE later, by threads
 *                                                                     that know of the fence
 *     quiet                                                           completes all of the context that the thread
 *                                                                     knows of
 *     barrier                                                         quiet; learns what all know
 *     sync, collectives        buffers by thread; the dest also by    learns what the PEs know that give it something
 *                              those that give something, when they
 *                              come to the call
 *     lock                                                            learns what earlier holders knew
 *
 * Native calls: what a fence has ordered is told to all PEs; an atomic or signal that writes first completes its
 * context's puts; a plain put tells nothing. A native put to a PE of the same node is an access by the calling thread:
 * later accesses of the same PE come after it. Towards other PEs it needs the same order as between nodes. */
/* clang-format on */
#ifndef RACE_EVENTS_H
#define RACE_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "instruments/race/clock.h"
#include "instruments/race/pieces.h"

/* A call: its name, its place, its context (NULL: the default context), and the API whose rules apply. */
struct race_call {
    const char *name;
    uintptr_t pc;
    const void *ctx;
    int native;
};

/* race_watches: whether the calling thread's call is checked. If not, the functions below do nothing. */
int race_watches(void);

/* A range in any PE's memory: by symmetric address and PE of the context's team, or (gptr 1) by offset. */
struct race_target {
    uint64_t addr;
    int pe;
    int gptr;
};

void race_put(const struct race_call *c, struct race_target dest, const void *source, size_t len, int nbi);
void race_get(const struct race_call *c, void *dest, struct race_target source, size_t len, int nbi);
void race_strided(const struct race_call *c, struct race_target far, const void *near, ptrdiff_t far_stride,
                  ptrdiff_t near_stride, size_t elem, size_t n, int get);

/* The pieces of a section or list; the caller's memory begins at `source` or `dest`. */
void race_put_pieces(const struct race_call *c, struct race_target dest, const void *source, struct race_pieces to,
                     struct race_pieces from, int nbi);
void race_get_pieces(const struct race_call *c, void *dest, struct race_target source, struct race_pieces to,
                     struct race_pieces from, int nbi);

/* Accumulates: each element of `size` bytes of dest is an atomic. source: NULL if none is read; fetch: where the old
 * values go, or NULL. Call it before the library's call, which may refuse the arguments. */
struct race_update {
    size_t size;
    int writes, nbi;
};
void race_accumulate(const struct race_call *c, struct race_target dest, const void *source, void *fetch,
                     struct race_update how, struct race_pieces to, struct race_pieces from, struct race_pieces into);

/* One value. Native calls read and write it whole. */
void race_p(const struct race_call *c, struct race_target dest, size_t len);
void race_g(const struct race_call *c, struct race_target source, size_t len);

/* race_put_signal: dest has size 0 if there is only the signal. add: it adds to the signal, and does not set it. Call
 * it before the library's call. */
void race_put_signal(const struct race_call *c, struct race_target dest, const void *source, size_t len,
                     const void *signal, int add, int nbi);

/* race_atomic: before the call. reads: it returns the old value; writes: it is more than a fetch. fetch: where a
 * nonblocking atomic stores the old value, or NULL. race_atomic_done: after a fetching atomic has returned. */
void race_atomic(const struct race_call *c, struct race_target word, size_t len, int writes, int reads, void *fetch);
void race_atomic_done(const struct race_call *c, struct race_target word, size_t len);

/* race_waited: the thread has seen the value of this PE's word for which it waited or tested. */
void race_waited(const struct race_call *c, const void *ivar, size_t len);

void race_fence(const struct race_call *c);
void race_quiet(const struct race_call *c);
void race_pe_quiet(const struct race_call *c, const int *pes, size_t n);
void race_pe_fence(const struct race_call *c, const int *pes, size_t n);

/* For calls of other interfaces. race_settle: orders the operations of this kind to PE pe, as far as the calling thread
 * knows of them, before later ones and, if `completes`, completes them. race_private_pending: an operation of the
 * context uses a buffer in private memory; race_private_done: none does any more. */
struct race_context;
void race_settle(struct race_context *x, enum race_kind kind, int pe, int completes);
void race_private_pending(struct race_context *x);
void race_private_done(struct race_context *x);

/* Contexts: pes: the numbers in the job of the PEs of the context's team, NULL for the world. domain: contexts.h. */
void race_ctx_made(const void *ctx, int n, const int *pes, uint64_t domain);
void race_ctx_ended(const void *ctx);

/* race_number_of: the same number for a symmetric object on all PEs, although global variables may be at other
 * addresses there. */
uint64_t race_number_of(const void *object);

/* Locks, by their address in this PE's space. */
void race_lock_got(const void *lock);
void race_lock_clear(const struct race_call *c, const void *lock);

#endif
