/* SPDX-License-Identifier: BSD-3-Clause */
/* The collective form of attaching. Each PE describes its region in a symmetric block of 24 bytes, whatever the number
 * of PEs. A PE that needs another one's region reads that PE's block. */
#include "config.h"

#include "runtime/api/expose.h"
#include "base/error.h"
#include "heap/segment.h"
#include "runtime/agree.h"
#include "runtime/attach.h"
#include "runtime/job/job.h"
#include "runtime/meet.h"
#include "runtime/reach.h"
#include "runtime/space.h"
#include "runtime/world.h"

#include <stdlib.h>

struct rma_exposure {
    rma_gptr_t start;
    uint64_t size; /* bytes */
    uint64_t unit; /* bytes */
};

/* This PE's record of one of its exposures, in private memory: other PEs can write to the symmetric block. */
struct rmai_exposed {
    const struct rma_exposure *e;
    void *held; /* the attachment that rma_unexpose releases, or NULL */
    struct rmai_exposed *next;
};

void rmai_exposures_close(struct rmai_world *w) {
    for (struct rmai_exposed *next, *x = w->attachments->exposed; x; x = next) {
        next = x->next;
        free(x);
    }
    w->attachments->exposed = NULL;
}

static int offer_region(struct rmai_world *w, void *base, size_t size, size_t unit, struct rma_exposure *mine,
                        void **held) {
    *mine = (struct rma_exposure){.size = size, .unit = unit};
    if (unit == 0) return rmai_error(RMA_ERR_ARG, "rma_expose: unit is 0, and must be at least 1");
    if (size == 0) return RMA_SUCCESS;
    if (!base) return rmai_error(RMA_ERR_ARG, "rma_expose: base is a null pointer, and size is %zu", size);
    mine->start = rmai_gptr_own(w, base, size);
    /* Attached memory is already accessible, but needs a hold: otherwise the program's rma_detach would end it. */
    if (mine->start && (mine->start & RMAI_OFFSET_MASK) < RMA_GPTR_ATTACHED_) return RMA_SUCCESS;
    return rmai_attach_hold(w, "rma_expose", base, size, 0, &mine->start, held);
}

int rma_expose(void *base, size_t size, size_t unit, rma_exposure **e) {
    struct rmai_world *w = &rmai_world;
    struct rmai_statement statement;
    struct rmai_range all;
    struct rma_exposure mine = {0}, *shared = NULL;
    struct rmai_exposed *known;
    void *held = NULL;
    int bad, code = rmai_running("rma_expose");
    if (code != RMA_SUCCESS) return rmai_raise(code);
    known = malloc(sizeof *known);
    bad = e ? offer_region(w, base, size, unit, &mine, &held)
            : rmai_error(RMA_ERR_ARG, "rma_expose: e is a null pointer");
    if (bad == RMA_SUCCESS && !known) bad = rmai_error(RMA_ERR_NO_MEM, "rma_expose: no memory for one more exposure");
    statement = rmai_statement(RMAI_CALL_EXPOSE, bad, w->job.my_pe);
    code = rmai_agree_on(w, "rma_expose", &statement, 0, &all);
    if (code == RMA_SUCCESS) {
        shared = rma_malloc(sizeof *shared); /* raises its own errors */
        if (shared) {
            *shared = mine;
            *known = (struct rmai_exposed){shared, held, w->attachments->exposed};
            w->attachments->exposed = known;
            *e = shared;
            return rmai_raise(rmai_meet(w, "rma_expose"));
        }
        code = rmai_error_prefix("rma_expose: ");
    } else {
        rmai_raise(code);
    }
    if (held) rmai_attach_release(w, "rma_expose", held);
    free(known);
    return code;
}

/* Reads pe's exposure. */
static int read_exposure(const char *call, const struct rma_exposure *e, int pe, struct rma_exposure *of) {
    struct rmai_world *w = &rmai_world;
    int code = rmai_running(call);
    if (code == RMA_SUCCESS && !e) code = rmai_error(RMA_ERR_ARG, "%s: e is a null pointer", call);
    if (code == RMA_SUCCESS) code = rmai_check_pe(&w->job, call, "PE", pe);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    if (pe != w->job.my_pe) return rma_get_slow_(call, RMA_CTX_DEFAULT, of, e, sizeof *of, pe);
    *of = *e;
    return RMA_SUCCESS;
}

rma_gptr_t rma_exposed_at(const rma_exposure *e, int pe, size_t disp) {
    struct rma_exposure of;
    size_t bytes;
    if (read_exposure("rma_exposed_at", e, pe, &of) != RMA_SUCCESS) return RMA_GPTR_NULL;
    if (__builtin_mul_overflow(disp, of.unit, &bytes) || bytes >= of.size) {
        rmai_raise(rmai_error(RMA_ERR_ADDRESS,
                              "rma_exposed_at: displacement %zu, in units of %zu byte%s, is outside the region of PE "
                              "%d, which has %zu byte%s",
                              disp, (size_t)of.unit, rmai_s(of.unit), pe, (size_t)of.size, rmai_s(of.size)));
        return RMA_GPTR_NULL;
    }
    return of.start + bytes;
}

size_t rma_exposed_size(const rma_exposure *e, int pe, size_t *unit) {
    struct rma_exposure of;
    if (read_exposure("rma_exposed_size", e, pe, &of) != RMA_SUCCESS) return 0;
    if (unit) *unit = (size_t)of.unit;
    return (size_t)of.size;
}

int rma_unexpose(rma_exposure *e) {
    struct rmai_world *w = &rmai_world;
    struct rmai_statement statement;
    struct rmai_exposed **at = &w->attachments->exposed, *known;
    int bad = RMA_SUCCESS, code = rmai_running("rma_unexpose");
    if (code != RMA_SUCCESS) return rmai_raise(code);
    while (*at && (*at)->e != e) at = &(*at)->next;
    known = *at;
    if (e && !known)
        bad = rmai_error(RMA_ERR_BASE, "rma_unexpose: e %p is nothing that rma_expose gave, or has ended already",
                         (void *)e);
    /* Accesses by other PEs are over when all PEs have met here. */
    statement = rmai_statement(RMAI_CALL_UNEXPOSE, bad, w->job.my_pe);
    code = rmai_agree_on_block(w, "rma_unexpose", &statement, "the exposure", e);
    if (code == RMA_SUCCESS && known) {
        *at = known->next;
        rmai_segment_free(&w->symmetric, "rma_unexpose", e);
        if (known->held) rmai_attach_release(w, "rma_unexpose", known->held);
        free(known);
    }
    return rmai_raise(code);
}
