/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI's dynamic window: what this PE attaches to it, and where other PEs have what. A PE attaches its memory by itself,
 * without a meeting, and does not detach a heap's memory before the end: so what another PE has learned stays true.
 *
 * What a PE has attached is in its directory (runtime/job/directory.h), in the page before the symmetric heap, which
 * the fixed window covers. An origin reads it when it first needs it: with a get, if a get does not wait for the target
 * and the fixed window is never made anew; otherwise with a message. It reads it again when an offset is beyond the end
 * that it knows and the symmetric heap has grown since, or when the extent that it knew was not enough. After that an
 * access costs one comparison: a flow remembers the step that contained its last hit.
 *
 * Memory is attached before any PE can learn that it exists. MPI requires an access to stay within one attached region.
 * So heaps grow and are attached in steps, whose ends every PE computes from the offset alone (rmai_step_end), and an
 * access is cut at these ends. A step that is not complete, and memory after a hole, are reached by messages. */
#include "config.h"

#include "base/attributes.h"
#include "base/error.h"
#include "runtime/net/request.h"
#include "runtime/net/window.h"

#include <string.h>

/* ---- what this PE attaches ---- */

void rmai_dynamic_open(struct rmai_net *net, struct rmai_directory *own, char *const address[RMAI_PARTS]) {
    net->dynamic.own = own;
    memset(own->attached, 0, sizeof own->attached); /* what was attached to an earlier window of this job */
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

void rmai_dynamic_grown(struct rmai_net *net) {
    atomic_fetch_add_explicit(&net->dynamic.growths, 1, memory_order_relaxed);
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

/* ---- where other PEs have what ---- */

static uint64_t load(const uint64_t *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }

/* Returns the part that has the offset; its first byte is at *start. */
static enum rmai_part_kind part_of(const struct rmai_layout *l, uint64_t offset, size_t *start) {
    if (offset >= l->guest) return *start = l->guest, RMAI_PART_GUEST;
    if (offset >= l->local) return *start = l->local, RMAI_PART_LOCAL;
    if (offset >= l->symmetric) return *start = l->symmetric, RMAI_PART_SYMMETRIC;
    return *start = l->statics, RMAI_PART_STATICS;
}

/* Finds [offset, offset + *len) of pe's space in pe's part of the window, and cuts *len at the end of a step. Returns 1
 * with *address; 0 if it is not in the window; -1 if the caller has to read pe's directory first (rmai_dynamic_learn).
 */
static int find_in_directory(struct rmai_net *net, struct rmai_pending *s, int pe, uint64_t offset, size_t *len,
                             uint64_t *address) {
    const struct rmai_directory *d;
    struct rmai_flow *f;
    struct rmai_map *map;
    size_t start;
    const enum rmai_part_kind part = part_of(&net->job->layout, offset, &start);
    const uint64_t at = offset - start;
    const uint64_t end = rmai_step_end(at), begin = end - rmai_step_size(at);
    uint64_t attached;
    if (!net->dynamic.open || !net->dynamic.parts[part]) return 0;
    if (!(f = rmai_flow_of(s, pe))) return 0;
    if (!(map = f->map) || !map->known) return -1;
    d = &map->directory;
    attached = load(&d->attached[part]);
    if (at + *len > attached) {
        /* The symmetric heap may have grown since then; for the local heap's parts the extents are already up to date.
         */
        const unsigned growths = atomic_load_explicit(&net->dynamic.growths, memory_order_relaxed);
        return part == RMAI_PART_SYMMETRIC && map->growths != growths ? -1 : 0;
    }
    *len = rmai_min(*len, end - at);
    *address = load(&d->address[part]) + at;
    map->step.offset = start + begin;
    map->step.len = rmai_min(end, attached) - begin;
    map->step.address = *address - (at - begin);
    return 1;
}

/* Tries the step of the last access first: attached memory of a heap stays attached to the end, and the next access is
 * often close to the last. */
int rmai_dynamic_find(struct rmai_net *net, struct rmai_pending *s, int pe, uint64_t offset, size_t *len,
                      uint64_t *address) {
    const struct rmai_flow *f = s->last;
    if (RMAI_LIKELY(f && f->pe == pe && f->map)) {
        const uint64_t at = offset - f->map->step.offset;
        if (at < f->map->step.len && *len <= f->map->step.len - at) return *address = f->map->step.address + at, 1;
    }
    return find_in_directory(net, s, pe, offset, len, address);
}

/* The PE's numbers only grow, so an older answer that arrives later changes nothing. */
static int keep_directory(const char *call, struct rmai_pending *s, int pe, const struct rmai_directory *now,
                          unsigned growths) {
    struct rmai_flow *f = rmai_flow_of(s, pe);
    struct rmai_map *map = f ? rmai_flow_map(f) : NULL;
    if (!map) return rmai_net_no_memory(call, pe);
    for (int i = 0; i < RMAI_PARTS; i++) {
        map->directory.address[i] = now->address[i];
        map->directory.attached[i] = rmai_max(map->directory.attached[i], now->attached[i]);
    }
    for (int i = 0; i < RMAI_POOLS; i++) map->directory.extent[i] = rmai_max(map->directory.extent[i], now->extent[i]);
    map->growths = growths;
    map->known = 1;
    return RMA_SUCCESS;
}

/* Gets bytes `from` to `to` of pe's directory. */
static int get_numbers(struct rmai_net *net, const char *call, int pe, struct rmai_directory *now, size_t from,
                       size_t to) {
    const int code = rmai_transport_get(net->transport, call, RMAI_FIXED, pe, RMAI_DIRECTORY_AT + from,
                                        (char *)now + from, to - from);
    return code == RMA_SUCCESS ? rmai_net_flush(net, call, RMAI_FIXED, pe, RMAI_FLUSH_PE) : code;
}

/* Gets pe's directory if the network reads it without the PE's help. The extents come first, as in rmai_directory_read.
 */
static int get_directory(struct rmai_net *net, const char *call, int pe, struct rmai_directory *now) {
    const int code = get_numbers(net, call, pe, now, offsetof(struct rmai_directory, extent), sizeof *now);
    return code == RMA_SUCCESS ? get_numbers(net, call, pe, now, 0, offsetof(struct rmai_directory, extent)) : code;
}

int rmai_dynamic_learn(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe) {
    const unsigned growths = atomic_load_explicit(&net->dynamic.growths, memory_order_relaxed);
    struct rmai_directory now = {.address = {0}};
    const struct rmai_op ask = {
        .call = call, .set = s, .pe = pe, .kind = RMAI_RECORD_EXTENTS, .buffer = &now, .len = sizeof now};
    int code = net->dynamic.by_get ? get_directory(net, call, pe, &now) : rmai_request_ask(net, &ask);
    return code == RMA_SUCCESS ? keep_directory(call, s, pe, &now, growths) : code;
}

int rmai_net_extent(const char *call, struct rmai_pending *s, int pe, enum rmai_pool pool, int fresh, size_t *extent) {
    struct rmai_net *net = s->net;
    const struct rmai_flow *f;
    int code = RMA_SUCCESS;
    rmai_net_enter(net);
    if (fresh) code = rmai_dynamic_learn(net, call, s, pe);
    if (code == RMA_SUCCESS) {
        f = rmai_flow_of(s, pe);
        *extent = f && f->map && f->map->known ? (size_t)f->map->directory.extent[pool] : 0;
    }
    rmai_net_leave(net);
    return code;
}
