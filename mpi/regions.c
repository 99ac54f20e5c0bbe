/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "mpi/regions.h"
#include "mpi/errors.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

struct rmai_win_outgrown {
    void *block;
    struct rmai_win_outgrown *next;
};

/* Makes room for one more region. Another process may be reading the array, so it stays until the window ends. */
static int grow_regions(struct rmai_win *w) {
    const size_t n = (size_t)w->record->n_regions, room = w->room ? 2 * w->room : 8;
    struct rmai_win_region *regions = NULL;
    struct rmai_win_outgrown *old = NULL;
    void **held;
    if (n < w->room) return RMA_SUCCESS;
    held = realloc(w->region_held, room * sizeof *held);
    if (held) w->region_held = held;
    old = malloc(sizeof *old);
    if (!held || !old || rma_alloc_mem(room * sizeof *regions, &regions) != RMA_SUCCESS) {
        free(old);
        return RMA_ERR_NO_MEM;
    }
    if (n) memcpy(regions, w->regions, n * sizeof *regions);
    *old = (struct rmai_win_outgrown){w->regions, w->outgrown};
    w->outgrown = old;
    w->regions = regions;
    w->room = room;
    return RMA_SUCCESS;
}

void rmai_win_regions_free(struct rmai_win *w) {
    for (size_t i = 0; i < (size_t)w->record->n_regions; i++) rma_unshare_("MPI_Win_free", w->region_held[i]);
    for (struct rmai_win_outgrown *o = w->outgrown, *next; o; o = next) {
        next = o->next;
        rma_free_mem(o->block);
        free(o);
    }
    rma_free_mem(w->regions);
    free(w->region_held);
}

/* The first of n regions that ends after `at`. */
static size_t first_after(const struct rmai_win_region *regions, size_t n, uint64_t at) {
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (regions[middle].to <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Begins a change of the regions: a reader that finds the version odd, or changed, reads them again. */
static void begin_change(struct rmai_win_record *r) {
    __atomic_store_n(&r->version, r->version + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

static void end_change(struct rmai_win_record *r) { __atomic_store_n(&r->version, r->version + 1, __ATOMIC_RELEASE); }

RMAI_MPI_API int MPI_Win_attach(MPI_Win win, void *base, MPI_Aint size) {
    struct rmai_win *w = rmai_win_of(win);
    struct rmai_win_region region;
    struct rmai_win_record *r;
    void *held = NULL;
    int code = RMA_SUCCESS;
    size_t at, n;
    if (!w) return PMPI_Win_attach(win, base, size);
    if (w->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return rmai_win_error(w, MPI_ERR_RMA_FLAVOR, "MPI_Win_attach: not a window of MPI_Win_create_dynamic");
    if (size < 0) return rmai_win_error(w, MPI_ERR_SIZE, "MPI_Win_attach: size %lld is negative", (long long)size);
    if (size > 0 && !base)
        return rmai_win_error(w, MPI_ERR_BASE, "MPI_Win_attach: base is a null pointer, and size is %lld",
                              (long long)size);
    if (size == 0) return MPI_SUCCESS;
    r = w->record;
    region = (struct rmai_win_region){(uintptr_t)base, (uintptr_t)base + (uint64_t)size, RMA_GPTR_NULL};
    rmai_win_guard(w);
    n = (size_t)r->n_regions;
    at = first_after(w->regions, n, region.from);
    if (at < n && w->regions[at].from < region.to) {
        rmai_win_unguard(w);
        return rmai_win_error(w, MPI_ERR_RMA_ATTACH, "MPI_Win_attach: %lld bytes at %p overlap attached memory",
                              (long long)size, base);
    }
    code = grow_regions(w);
    if (code == RMA_SUCCESS) code = rma_share_("MPI_Win_attach", base, (size_t)size, &region.start, &held);
    if (code == RMA_SUCCESS) {
        begin_change(r);
        memmove(w->regions + at + 1, w->regions + at, (n - at) * sizeof *w->regions);
        memmove(w->region_held + at + 1, w->region_held + at, (n - at) * sizeof *w->region_held);
        w->regions[at] = region;
        w->region_held[at] = held;
        r->regions = rma_gptr(w->regions, rma_my_pe());
        r->n_regions = n + 1;
        end_change(r);
    }
    rmai_win_unguard(w);
    if (code == RMA_SUCCESS) return MPI_SUCCESS;
    return rmai_win_error(w, MPI_ERR_RMA_ATTACH, "%s", rma_last_error());
}

RMAI_MPI_API int MPI_Win_detach(MPI_Win win, const void *base) {
    struct rmai_win *w = rmai_win_of(win);
    struct rmai_win_record *r;
    void *held = NULL;
    size_t at, n;
    int found;
    if (!w) return PMPI_Win_detach(win, base);
    r = w->record;
    rmai_win_guard(w);
    n = (size_t)r->n_regions;
    at = first_after(w->regions, n, (uintptr_t)base);
    found = at < n && w->regions[at].from == (uintptr_t)base;
    if (found) {
        held = w->region_held[at];
        begin_change(r);
        memmove(w->regions + at, w->regions + at + 1, (n - at - 1) * sizeof *w->regions);
        memmove(w->region_held + at, w->region_held + at + 1, (n - at - 1) * sizeof *w->region_held);
        r->n_regions = n - 1;
        end_change(r);
    }
    rmai_win_unguard(w);
    if (found) rma_unshare_("MPI_Win_detach", held);
    return found ? MPI_SUCCESS
                 : rmai_win_error(w, MPI_ERR_RMA_ATTACH, "MPI_Win_detach: no memory is attached at %p", base);
}

static rma_gptr_t in_region(const struct rmai_win_region *region, uint64_t at, size_t len) {
    const int inside = region->from <= at && at <= region->to && len <= region->to - at;
    return inside ? region->start + (at - region->from) : RMA_GPTR_NULL;
}

/* For a process of this node. */
static rma_gptr_t locate_near(const struct rmai_win_record *r, uint64_t at, size_t len) {
    for (;;) {
        const uint64_t version = __atomic_load_n(&r->version, __ATOMIC_ACQUIRE);
        const size_t n = (size_t)__atomic_load_n(&r->n_regions, __ATOMIC_RELAXED);
        const rma_gptr_t list = __atomic_load_n(&r->regions, __ATOMIC_RELAXED);
        const struct rmai_win_region *regions = n && !(version & 1) ? rma_gptr_ptr(list) : NULL;
        rma_gptr_t g = RMA_GPTR_NULL;
        if (regions) {
            const size_t i = first_after(regions, n, at);
            if (i < n) g = in_region(&regions[i], at, len);
        }
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (!(version & 1) && version == __atomic_load_n(&r->version, __ATOMIC_RELAXED)) return g;
        sched_yield(); /* the owner may have lost its processor in the change */
    }
}

static rma_gptr_t locate_far(const struct rmai_win_peer *p, uint64_t at, size_t len) {
    struct rmai_win_record r, again;
    rma_gptr_t g = RMA_GPTR_NULL;
    do {
        struct rmai_win_region *regions = NULL;
        if (rma_gptr_get(&r, p->record_at, offsetof(struct rmai_win_record, lock)) != RMA_SUCCESS) return g;
        g = RMA_GPTR_NULL;
        if (!(r.version & 1) && r.n_regions && (regions = malloc(r.n_regions * sizeof *regions)) != NULL &&
            rma_gptr_get(regions, r.regions, r.n_regions * sizeof *regions) == RMA_SUCCESS) {
            const size_t i = first_after(regions, r.n_regions, at);
            if (i < r.n_regions) g = in_region(&regions[i], at, len);
        }
        free(regions);
        if (rma_gptr_get(&again, p->record_at, offsetof(struct rmai_win_record, lock)) != RMA_SUCCESS) return g;
    } while (r.version & 1 || again.version != r.version);
    return g;
}

rma_gptr_t rmai_win_locate(const struct rmai_win_peer *peer, uint64_t at, size_t len) {
    return peer->record ? locate_near(peer->record, at, len) : locate_far(peer, at, len);
}
