/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "interfaces/mpi/regions.h"
#include "interfaces/mpi/access.h"
#include "interfaces/mpi/comm.h"
#include "interfaces/mpi/errors.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

struct rmai_win_outgrown {
    void *block;
    struct rmai_win_outgrown *next;
};

/* Makes room for one more region. Another process may be reading the array, so it stays until the window ends. The
 * others see the longer one when the caller changes the regions, and sets record->regions. If the caller fails before
 * that, they go on with the shorter one, which has the same regions, until the next change. */
static int grow_regions(struct rmai_win *w) {
    const size_t n = (size_t)w->record->n_regions, room = w->room ? 2 * w->room : 8;
    struct rmai_win_region *regions = NULL;
    struct rmai_win_outgrown *old = NULL;
    struct rmai_win_hold *holds;
    if (n < w->room) return RMA_SUCCESS;
    holds = realloc(w->holds, room * sizeof *holds);
    if (holds) w->holds = holds;
    old = malloc(sizeof *old);
    if (!holds || !old || rma_alloc_mem(room * sizeof *regions, &regions) != RMA_SUCCESS) {
        free(old);
        return rma_fail_(RMA_ERR_NO_MEM, "MPI_Win_attach: no memory for a table of %zu regions", room);
    }
    if (n) memcpy(regions, w->regions, n * sizeof *regions);
    *old = (struct rmai_win_outgrown){w->regions, w->outgrown};
    w->outgrown = old;
    w->regions = regions;
    w->room = room;
    return RMA_SUCCESS;
}

void rmai_win_regions_free(struct rmai_win *w) {
    for (size_t i = 0; i < (size_t)w->record->n_regions; i++) rma_unshare_("MPI_Win_free", w->holds[i].held);
    for (struct rmai_win_outgrown *o = w->outgrown, *next; o; o = next) {
        next = o->next;
        rma_free_mem(o->block);
        free(o);
    }
    rma_free_mem(w->regions);
    free(w->holds);
    free(w->empty);
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

/* Attaching 0 bytes makes nothing accessible, but MPI_Win_detach has to find the address. */
static int attach_nothing(struct rmai_win *w, const void *base) {
    struct rmai_win_empty *longer;
    rmai_win_guard(w);
    longer = realloc(w->empty, (w->n_empty + 1) * sizeof *longer);
    if (longer) {
        w->empty = longer;
        w->empty[w->n_empty++] = (struct rmai_win_empty){base, ++w->attaches};
    }
    rmai_win_unguard(w);
    return longer ? MPI_SUCCESS
                  : rmai_win_error(w, MPI_ERR_NO_MEM, "MPI_Win_attach: no memory for 0 bytes at %p", base);
}

/* Ends the last attachment of 0 bytes at base that is later than `after`. The caller has the window's mutex. */
static int detach_nothing(struct rmai_win *w, const void *base, uint64_t after) {
    size_t i = w->n_empty;
    while (i > 0 && w->empty[i - 1].at != base) i--;
    if (i == 0 || w->empty[i - 1].when < after) return 0;
    memmove(w->empty + i - 1, w->empty + i, (w->n_empty-- - i) * sizeof *w->empty);
    return 1;
}

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
    if (size == 0) return attach_nothing(w, base);
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
    if (code == RMA_SUCCESS && w->comm->n_near == w->comm->n) region.start = rma_gptr_of_node_(base, (size_t)size);
    if (code == RMA_SUCCESS && region.start == RMA_GPTR_NULL)
        code = rma_share_("MPI_Win_attach", base, (size_t)size, &region.start, &held);
    if (code == RMA_SUCCESS) {
        begin_change(r);
        memmove(w->regions + at + 1, w->regions + at, (n - at) * sizeof *w->regions);
        memmove(w->holds + at + 1, w->holds + at, (n - at) * sizeof *w->holds);
        w->regions[at] = region;
        w->holds[at] = (struct rmai_win_hold){held, ++w->attaches};
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
    if (detach_nothing(w, base, found ? w->holds[at].when : 0)) {
        found = 1;
    } else if (found) {
        held = w->holds[at].held;
        begin_change(r);
        memmove(w->regions + at, w->regions + at + 1, (n - at - 1) * sizeof *w->regions);
        memmove(w->holds + at, w->holds + at + 1, (n - at - 1) * sizeof *w->holds);
        r->regions = rma_gptr(w->regions, rma_my_pe()); /* MPI_Win_attach may have moved them, and failed */
        r->n_regions = n - 1;
        end_change(r);
    }
    rmai_win_unguard(w);
    if (held) rma_unshare_("MPI_Win_detach", held);
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

/* Copies the regions of a peer to *list, which the caller frees. */
static int read_regions(const struct rmai_win_peer *p, struct rmai_win_region **list, size_t *n) {
    struct rmai_win_record r, again;
    int code;
    for (;;) {
        *list = NULL;
        code = rma_gptr_get(&r, p->record_at, offsetof(struct rmai_win_record, lock));
        if (code != RMA_SUCCESS) return code;
        *n = (size_t)r.n_regions;
        if (!(r.version & 1)) {
            *list = malloc((*n + 1) * sizeof **list);
            if (!*list) return RMA_ERR_NO_MEM;
            if (*n) code = rma_gptr_get(*list, r.regions, *n * sizeof **list);
            if (code == RMA_SUCCESS) code = rma_gptr_get(&again, p->record_at, offsetof(struct rmai_win_record, lock));
            if (code == RMA_SUCCESS && again.version == r.version) return code;
            free(*list);
            *list = NULL;
            if (code != RMA_SUCCESS) return code;
        }
        sched_yield(); /* the owner may have lost its processor in the change */
    }
}

static rma_gptr_t locate_far(const struct rmai_win_peer *p, uint64_t at, size_t len) {
    struct rmai_win_region *regions;
    rma_gptr_t g = RMA_GPTR_NULL;
    size_t n, i;
    if (read_regions(p, &regions, &n) != RMA_SUCCESS) return g;
    i = first_after(regions, n, at);
    if (i < n) g = in_region(&regions[i], at, len);
    free(regions);
    return g;
}

rma_gptr_t rmai_win_locate(const struct rmai_win_peer *peer, uint64_t at, size_t len) {
    return peer->record ? locate_near(peer->record, at, len) : locate_far(peer, at, len);
}

/* Appends a piece. Returns 0 if memory is exhausted. */
static int add_piece(struct rmai_win_piece **pieces, size_t *n, size_t *room, struct rmai_win_piece piece) {
    if (*n == *room) {
        const size_t more = *room ? 2 * *room : 16;
        struct rmai_win_piece *longer = realloc(*pieces, more * sizeof *longer);
        if (!longer) return 0;
        *pieces = longer;
        *room = more;
    }
    (*pieces)[(*n)++] = piece;
    return 1;
}

int rmai_win_locate_blocks(const struct rmai_win_peer *peer, uint64_t address, const struct rma_block *blocks, size_t n,
                           struct rmai_win_piece **pieces, size_t *n_pieces, uint64_t *at, size_t *missing) {
    struct rmai_win_region *regions;
    size_t n_regions, room = 0;
    int code = read_regions(peer, &regions, &n_regions);
    *pieces = NULL;
    *n_pieces = 0;
    for (size_t i = 0; code == RMA_SUCCESS && i < n; i++) {
        *at = address + (uint64_t)blocks[i].offset;
        for (*missing = blocks[i].len; code == RMA_SUCCESS && *missing > 0;) {
            const size_t k = first_after(regions, n_regions, *at);
            const struct rmai_win_region *r = &regions[k];
            const size_t len = k < n_regions && r->to - *at < *missing ? (size_t)(r->to - *at) : *missing;
            if (k == n_regions || r->from > *at)
                code = RMA_ERR_ADDRESS;
            else if (!add_piece(pieces, n_pieces, &room, (struct rmai_win_piece){r->start + (*at - r->from), *at, len}))
                code = RMA_ERR_NO_MEM;
            if (code != RMA_SUCCESS) break;
            *at += len;
            *missing -= len;
        }
    }
    free(regions);
    if (code == RMA_SUCCESS) return code;
    free(*pieces);
    *pieces = NULL;
    return code;
}
