/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/dynamic.h"
#include "base/attributes.h"
#include "base/error.h"
#include "runtime/net/pending.h"
#include "runtime/net/state.h"
#include "runtime/net/submit.h"
#include "runtime/net/transport.h"

#include <stdlib.h>

static uint64_t load(const uint64_t *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }

/* ---- the owner ---- */

void rmai_dynamic_open(struct rmai_net *net, struct rmai_directory *own, char *const address[RMAI_PARTS]) {
    net->dynamic.own = own;
    for (int i = 0; i < RMAI_PARTS; i++)
        __atomic_store_n(&own->address[i], (uint64_t)(uintptr_t)address[i], __ATOMIC_RELEASE);
}

/* Returns 1 if it is attached. After the first refusal, which is reported once, nothing more is attached: the
 * registration limit is reached. */
static int attach_memory(struct rmai_net *net, void *base, size_t size) {
    struct rmai_error_kept kept;
    int code;
    if (atomic_load_explicit(&net->dynamic.refused, memory_order_relaxed)) return 0;
    rmai_error_keep(&kept);
    code = rmai_transport_attach(net->transport, base, size);
    if (code != RMA_SUCCESS && !atomic_exchange_explicit(&net->dynamic.refused, 1, memory_order_relaxed))
        rmai_note(
            "PE %d: MPI's dynamic window takes no more memory, %zu bytes at %p are the first that it refuses; other "
            "nodes reach these, and what comes after, by messages: %s",
            net->job->my_pe, size, base, rma_last_error());
    rmai_error_restore(&kept);
    return code == RMA_SUCCESS;
}

void rmai_dynamic_detach(struct rmai_net *net, void *base) {
    struct rmai_error_kept kept;
    rmai_error_keep(&kept);
    if (rmai_transport_detach(net->transport, base) != RMA_SUCCESS)
        rmai_note("PE %d: memory at %p stays in MPI's dynamic window: %s", net->job->my_pe, base, rma_last_error());
    rmai_error_restore(&kept);
}

void rmai_dynamic_follow(struct rmai_net *net, enum rmai_part_kind part, size_t size, int all) {
    struct rmai_dynamic *d = &net->dynamic;
    uint64_t attached;
    if (!d->open || !d->parts[part]) return;
    pthread_mutex_lock(&d->lock);
    attached = d->own->attached[part];
    while (!d->closed[part] && attached < size) {
        const size_t end = rmai_step_end(attached), to = rmai_min(end, size);
        char *base = (char *)(uintptr_t)d->own->address[part];
        if (to < end && !all) break;
        const int taken = attach_memory(net, base + attached, to - attached);
        d->closed[part] = !taken || to < end;
        if (!taken) break;
        attached = to;
        __atomic_store_n(&d->own->attached[part], attached, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&d->lock);
}

/* ---- other PEs ---- */

/* Which part has the offset; its first byte is at *start. */
static enum rmai_part_kind part_of(const struct rmai_layout *l, uint64_t offset, size_t *start) {
    if (offset >= l->guest) return *start = l->guest, RMAI_PART_GUEST;
    if (offset >= l->local) return *start = l->local, RMAI_PART_LOCAL;
    if (offset >= l->symmetric) return *start = l->symmetric, RMAI_PART_SYMMETRIC;
    return *start = l->statics, RMAI_PART_STATICS;
}

int rmai_dynamic_find(struct rmai_net *net, struct rmai_pending *s, int pe, uint64_t offset, size_t *len,
                      uint64_t *address) {
    const struct rmai_directory *d;
    struct rmai_peer *p;
    size_t start;
    const enum rmai_part_kind part = part_of(&net->job->layout, offset, &start);
    const uint64_t at = offset - start;
    const uint64_t end = rmai_step_end(at), begin = end - rmai_step_size(at);
    uint64_t attached;
    if (!net->dynamic.open || !net->dynamic.parts[part]) return 0;
    if (!(p = rmai_peer_of(s, pe))) return 0;
    if (!(d = p->directory)) return -1;
    attached = load(&d->attached[part]);
    if (at + *len > attached) {
        /* The symmetric heap may have grown since; of the local heap's parts the PE was asked for the extents. */
        const unsigned growths = atomic_load_explicit(&net->dynamic.growths, memory_order_relaxed);
        return part == RMAI_PART_SYMMETRIC && p->growths != growths ? -1 : 0;
    }
    *len = rmai_min(*len, end - at);
    *address = load(&d->address[part]) + at;
    p->step.offset = start + begin;
    p->step.len = rmai_min(end, attached) - begin;
    p->step.address = *address - (at - begin);
    return 1;
}

/* The PE's numbers only grow, so an older answer that comes later changes nothing. */
static int keep_directory(const char *call, struct rmai_pending *s, int pe, const struct rmai_directory *now,
                          unsigned growths) {
    struct rmai_peer *p = rmai_peer_of(s, pe);
    if (p && !p->directory) p->directory = calloc(1, sizeof *p->directory);
    if (!p || !p->directory) return rmai_net_no_memory(call, pe);
    for (int i = 0; i < RMAI_PARTS; i++) {
        p->directory->address[i] = now->address[i];
        p->directory->attached[i] = rmai_max(p->directory->attached[i], now->attached[i]);
    }
    for (int i = 0; i < RMAI_POOLS; i++) p->directory->extent[i] = rmai_max(p->directory->extent[i], now->extent[i]);
    p->growths = growths;
    return RMA_SUCCESS;
}

/* The part of pe's directory from byte `from` to byte `to`. The set's lock is held. */
static int get_numbers(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe,
                       struct rmai_directory *now, size_t from, size_t to) {
    int code = rmai_transport_get(net->transport, call, RMAI_FIXED, pe, RMAI_DIRECTORY_AT + from, (char *)now + from,
                                  to - from);
    if (code != RMA_SUCCESS) return code;
    rmai_flush_begins(&s->flush, call, pe);
    code = rmai_transport_flush(net->transport, call, RMAI_FIXED, pe, RMAI_FLUSH_PE);
    rmai_flush_ends(&s->flush);
    return code;
}

/* Where the network reads it without the PE's help. The extents first, as in rmai_directory_read. */
static int get_directory(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe,
                         struct rmai_directory *now) {
    int code;
    rmai_pending_lock(s);
    code = get_numbers(net, call, s, pe, now, offsetof(struct rmai_directory, extent), sizeof *now);
    if (code == RMA_SUCCESS) code = get_numbers(net, call, s, pe, now, 0, offsetof(struct rmai_directory, extent));
    rmai_pending_unlock(s);
    return code;
}

int rmai_dynamic_learn(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe) {
    struct rmai_ask a = {.call = call, .set = s, .pe = pe, .r = {.kind = RMAI_RECORD_EXTENTS}};
    const unsigned growths = atomic_load_explicit(&net->dynamic.growths, memory_order_relaxed);
    struct rmai_directory now = {.address = {0}};
    int code =
        net->dynamic.by_get ? get_directory(net, call, s, pe, &now) : rmai_submit_and_wait(net, &a, &now, sizeof now);
    if (code != RMA_SUCCESS) return code;
    rmai_pending_lock(s);
    code = keep_directory(call, s, pe, &now, growths);
    rmai_pending_unlock(s);
    return code;
}
