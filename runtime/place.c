/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/place.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/process.h"
#include "base/word.h"
#include "heap/attached.h"
#include "runtime/job/job.h"
#include "runtime/job/traffic.h"
#include "runtime/net/op.h"
#include "runtime/node/service.h"
#include "runtime/world.h"

#include <string.h>

int rmai_check_local(const char *call, const char *argument, const void *buffer) {
    return buffer ? RMA_SUCCESS : rmai_error(RMA_ERR_ARG, "%s: %s is a null pointer", call, argument);
}

int rmai_not_mapped(const char *call, uint64_t address, size_t len, int pe) {
    return rmai_error(RMA_ERR_ADDRESS,
                      "%s: %zu bytes at address %#llx of PE %d are not mapped there, or not for this access", call, len,
                      (unsigned long long)address, pe);
}

static int owner_lacks_range(const struct rmai_world *w, const char *call, const struct rmai_place *p, size_t len) {
    return rmai_not_mapped(call, p->address, len, w->job.node_pes[p->slot]);
}

/* The owner's service thread copies, in pieces. */
static int copy_by_service(struct rmai_world *w, const char *call, const struct rmai_place *p, enum rmai_service_op op,
                           char *data, size_t len) {
    for (size_t done = 0; done < len; done += RMAI_SERVICE_BYTES) {
        struct rmai_request r = {
            .op = (int)op, .address = p->address + done, .len = rmai_min(len - done, RMAI_SERVICE_BYTES)};
        int code = rmai_service_ask(w->service, call, p->slot, &r, data + done);
        if (code != RMA_SUCCESS) return code;
        if (r.fault) return owner_lacks_range(w, call, p, len);
    }
    return RMA_SUCCESS;
}

/* Handles the kernel's answer: the copy is done, or the owner's service thread does it, or it is an error. Leaves the
 * region. */
static int end_kernel_copy(struct rmai_world *w, const char *call, struct rmai_place *p,
                           enum rmai_process_result result, enum rmai_service_op op, void *data, size_t len) {
    int code = RMA_SUCCESS;
    if (result == RMAI_PROCESS_REFUSED)
        code = copy_by_service(w, call, p, op, data, len);
    else if (result == RMAI_PROCESS_FAULT)
        code = owner_lacks_range(w, call, p, len);
    if (p->region) rmai_attached_leave(p->region);
    return code;
}

int rmai_place_put(struct rmai_world *w, const char *call, struct rmai_place *p, const void *source, size_t len,
                   enum rmai_when when) {
    enum rmai_process_result result = RMAI_PROCESS_REFUSED;
    if (RMAI_LIKELY(p->there != NULL)) {
        rmai_count(w->traffic, RMA_PATH_MEMORY, RMAI_PUTS, len);
        rma_move_(p->there, source, len);
        if (RMAI_UNLIKELY(p->region != NULL)) rmai_attached_leave(p->region);
        return RMA_SUCCESS;
    }
    if (p->far) {
        const struct rmai_op op = rmai_place_move(call, p, RMAI_RECORD_PUT, (void *)(uintptr_t)source, len, when);
        return rmai_net_stream_takes(&op) ? RMA_SUCCESS : rmai_net_put(&op);
    }
    rmai_count(w->traffic, RMA_PATH_KERNEL, RMAI_PUTS, len);
    if (rmai_same_pids(&w->job, p->slot))
        result = rmai_process_write(rmai_facts(&w->job, p->slot)->pid, p->address, source, len);
    return end_kernel_copy(w, call, p, result, RMAI_SERVICE_PUT, (void *)(uintptr_t)source, len);
}

int rmai_place_get(struct rmai_world *w, const char *call, struct rmai_place *p, void *dest, size_t len,
                   enum rmai_when when) {
    enum rmai_process_result result = RMAI_PROCESS_REFUSED;
    if (RMAI_LIKELY(p->there != NULL)) {
        rmai_count(w->traffic, RMA_PATH_MEMORY, RMAI_GETS, len);
        rma_move_(dest, p->there, len);
        if (RMAI_UNLIKELY(p->region != NULL)) rmai_attached_leave(p->region);
        return RMA_SUCCESS;
    }
    if (p->far) {
        const struct rmai_op op = rmai_place_move(call, p, RMAI_RECORD_GET, dest, len, when);
        return when == RMAI_LATER && rmai_net_stream_takes(&op) ? RMA_SUCCESS : rmai_net_get(&op);
    }
    rmai_count(w->traffic, RMA_PATH_KERNEL, RMAI_GETS, len);
    if (rmai_same_pids(&w->job, p->slot))
        result = rmai_process_read(rmai_facts(&w->job, p->slot)->pid, dest, p->address, len);
    return end_kernel_copy(w, call, p, result, RMAI_SERVICE_GET, dest, len);
}

/* The network writes an old value of len bytes to the beginning of its buffer, but *old has 8. */
static int atomic_on_other_node(const char *call, const struct rmai_place *p, int op, size_t len, uint64_t value,
                                uint64_t cond, uint64_t *old) {
    uint64_t bytes = 0;
    const struct rmai_op o = rmai_place_operation(call, p, op, len, value, cond, old ? &bytes : NULL, RMAI_NOW);
    const int code = !old && rmai_net_stream_takes(&o) ? RMA_SUCCESS : rmai_net_atomic(&o);
    if (code == RMA_SUCCESS && old) *old = rmai_word_load(&bytes, len);
    return code;
}

int rmai_place_atomic(struct rmai_world *w, const char *call, struct rmai_place *p, int op, size_t len, uint64_t value,
                      uint64_t cond, uint64_t *old) {
    struct rmai_request r = {.op = RMAI_SERVICE_ATOMIC,
                             .atomic = op,
                             .address = p->address,
                             .len = len,
                             .value = value,
                             .cond = cond,
                             .position = rmai_position(&w->job, p->slot, p->offset)};
    int code = RMA_SUCCESS;
    if (p->far) return atomic_on_other_node(call, p, op, len, value, cond, old);
    if (op != RMA_FETCH_) code = rmai_net_release(call, p->set, -1);
    if (code == RMA_SUCCESS && p->slot == w->job.node_my_pe) code = rmai_net_complete_own(call, p->set);
    if (code != RMA_SUCCESS) {
        if (p->region) rmai_attached_leave(p->region);
        return code;
    }
    rmai_count(w->traffic, p->there ? RMA_PATH_MEMORY : RMA_PATH_OWNER, RMAI_ATOMICS, 0);
    if (p->there)
        r.old = rmai_stripes_atomic(&w->job.stripes, r.position, op, p->there, len, value, cond);
    else
        code = rmai_service_ask(w->service, call, p->slot, &r, NULL);
    if (code == RMA_SUCCESS && r.fault) code = owner_lacks_range(w, call, p, len);
    if (p->region) rmai_attached_leave(p->region);
    if (code == RMA_SUCCESS && old) *old = r.old;
    return code;
}

int rmai_place_atomic_later(struct rmai_world *w, const char *call, struct rmai_place *p, int op, size_t len,
                            uint64_t value, uint64_t cond, void *fetch) {
    uint64_t old;
    int code;
    if (p->far) {
        const struct rmai_op o = rmai_place_operation(call, p, op, len, value, cond, fetch, RMAI_LATER);
        return rmai_net_stream_takes(&o) ? RMA_SUCCESS : rmai_net_atomic(&o);
    }
    code = rmai_place_atomic(w, call, p, op, len, value, cond, &old);
    if (code != RMA_SUCCESS) return code;
    rma_fetched_(fetch, len, old);
    return RMA_SUCCESS;
}
