/* SPDX-License-Identifier: BSD-3-Clause */
/* Attaching and detaching. heap/attached has the tables by which every PE of the node finds the address of an offset;
 * the tree here leads from addresses to regions, and only this PE has it. Two regions that overlap compare as equal, so
 * the tree cannot hold both. */
#include "config.h"

#include "runtime/attach.h"
#include "base/attributes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/wait.h"
#include "base/process.h"
#include "heap/reserve.h"
#include "heap/statics.h"
#include "runtime/context.h"
#include "runtime/job/job.h"
#include "runtime/net/dynamic.h"
#include "runtime/net/borrow.h"
#include "runtime/net/progress.h"
#include "runtime/net/state.h"
#include "runtime/net/wire.h"
#include "runtime/node/service.h"
#include "runtime/own_lock.h"
#include "runtime/reach.h"
#include "runtime/stall.h"
#include "runtime/world.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct attachment {
    uintptr_t from, to; /* [from, to) */
    size_t offset;      /* in the attached offsets */
    int by_program;     /* 1 between rma_attach and rma_detach */
    int holds;          /* exposures of it; the attachment ends when by_program + holds is 0 */
    struct attachment *next_ending;
};

static int compare_attachments(const void *a, const void *b) {
    const struct attachment *x = a, *y = b;
    return x->to <= y->from ? -1 : x->from >= y->to;
}

static struct attachment *find_attachment(const struct rmai_world *w, const void *addr, size_t len) {
    struct attachment key = {.from = (uintptr_t)addr, .to = (uintptr_t)addr + len},
                      **node = tfind(&key, &w->attachments->by_address, compare_attachments);
    return node ? *node : NULL;
}

static rma_gptr_t gptr_in_attachment(const struct rmai_world *w, const struct attachment *a, uintptr_t addr) {
    return (rma_gptr_t)(uint32_t)w->job.my_pe << RMA_GPTR_BITS_ | (RMA_GPTR_ATTACHED_ + a->offset + (addr - a->from));
}

/* rmai_commit, as heap/attached calls it. */
static int commit_tables(void *reservation, void *start, size_t len) { return rmai_commit(reservation, start, len); }

int rmai_attachments_open(struct rmai_world *w) {
    char *space = rmai_job_space(&w->job, w->job.node_my_pe);
    w->attachments->by_address = NULL;
    w->attachments->ending = NULL;
    return rmai_attached_create(&w->attachments->table, space + w->job.layout.attached, commit_tables,
                                &w->reservation) == 0
               ? RMA_SUCCESS
               : RMA_ERR_NO_MEM;
}

#define LENT_ROOM (RMAI_REGIONS * sizeof(uint64_t *)) /* address space; memory only for what is used */

void rmai_attachments_close(struct rmai_world *w) {
    struct rmai_attachments *a = w->attachments;
    tdestroy(a->by_address, free);
    a->by_address = NULL;
    if (!a->lent) return;
    for (uint32_t i = 0; i < a->table.state->n_regions; i++) free(a->lent[i]);
    munmap((void *)a->lent, LENT_ROOM);
    a->lent = NULL;
}

/* ---- leases ---- */

/* 1 if some of the memory belongs to a region that another thread is about to take out of the window. */
static int still_ending(const struct rmai_attachments *a, uintptr_t from, uintptr_t to) {
    const struct attachment *e = a->ending;
    while (e && (e->to <= from || e->from >= to)) e = e->next_ending;
    return e != NULL;
}

/* Whether a region goes into MPI's dynamic window, and is attached to it. What PEs of other nodes may have leases of
 * has to have its place in `lent` before it can be found. Global variables may be in the window already, and so may
 * what is just being detached: nothing may be in it twice. */
static int attach_to_window(struct rmai_world *w, void *base, size_t size) {
    struct rmai_attachments *a = w->attachments;
    const char *from = base;
    /* A PE that computes without a progress thread could not give a lease back. */
    if (!w->net->active || !w->net->dynamic.open || !w->job.all_progress) return 0;
    if (!a->lent) {
        void *room = mmap(NULL, LENT_ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (room == MAP_FAILED) return 0;
        /* Release: pairs with rmai_attachment_lend, which may be asked for an offset that has no region yet. */
        __atomic_store_n(&a->lent, (uint64_t * _Atomic *)room, __ATOMIC_RELEASE);
    }
    if (from < w->statics->base + w->statics->size && from + size > w->statics->base) return 0;
    if (still_ending(a, (uintptr_t)base, (uintptr_t)base + size)) return 0;
    return rmai_dynamic_attach(w->net, base, size);
}

/* Enters q into the set of region number i, which the caller keeps from ending. Returns 0 without memory. */
static int add_lessee(struct rmai_world *w, uint32_t i, int q) {
    uint64_t *_Atomic *set = &w->attachments->lent[i];
    uint64_t *bits = atomic_load_explicit(set, memory_order_acquire), *fresh;
    if (!bits) {
        fresh = calloc(((size_t)w->job.n_pes + 63) / 64, sizeof *fresh);
        if (!fresh) return 0;
        if (atomic_compare_exchange_strong_explicit(set, &bits, fresh, memory_order_acq_rel, memory_order_acquire))
            bits = fresh;
        else
            free(fresh);
    }
    __atomic_fetch_or(&bits[q / 64], (uint64_t)1 << q % 64, __ATOMIC_RELAXED);
    return 1;
}

#define LOOKED_AT_WHOLE ((size_t)64 << 20) /* to look at memory makes it resident */

/* An access through MPI's window to memory that its owner may not read or write can end the owner: MPI in the owner's
 * process gets a signal. So only what the owner may read and write is lent. Of a long region the ends are looked at. */
static int all_touchable(const struct rmai_region *r) {
    char *from = (char *)(uintptr_t)r->address;
    if (r->size <= LOOKED_AT_WHOLE) return rmai_process_touchable(from, r->size, 1);
    return rmai_process_touchable(from, 1, 1) && rmai_process_touchable(from + r->size - 1, 1, 1);
}

void rmai_attachment_lend(struct rmai_world *w, uint64_t offset, int to, struct rmai_lent *lent) {
    struct rmai_attached table;
    struct rmai_region *r;
    uint64_t address;
    if (offset < RMA_GPTR_ATTACHED_ || !__atomic_load_n(&w->attachments->lent, __ATOMIC_ACQUIRE)) return;
    rmai_attached_view(&table, rmai_job_space(&w->job, w->job.node_my_pe) + w->job.layout.attached);
    address = rmai_attached_enter(&table, offset - RMA_GPTR_ATTACHED_, 1, &r);
    if (!address) return;
    if (all_touchable(r) && add_lessee(w, (uint32_t)(r - table.region), to))
        *lent = (struct rmai_lent){.start = RMA_GPTR_ATTACHED_ + (uint64_t)r->granule * RMAI_GRANULE,
                                   .size = r->size,
                                   .address = r->windowed ? r->address : 0};
    rmai_attached_leave(r);
}

/* The region is closed, and no access is in it: nothing more of it is lent. */
static void take_out_of_window(struct rmai_world *w, const char *call, const struct attachment *a) {
    const uint32_t number = rmai_attached_number(&w->attachments->table, a->offset);
    uint64_t *lent = w->attachments->lent
                         ? atomic_exchange_explicit(&w->attachments->lent[number - 1], NULL, memory_order_acquire)
                         : NULL;
    if (lent && rmai_revoke(w->net, call, &w->contexts->standing.pending, RMA_GPTR_ATTACHED_ + a->offset,
                            a->to - a->from, lent) != RMA_SUCCESS)
        rmai_net_fatal(w->net); /* another PE may still write there */
    free(lent);
    if (w->attachments->table.region[number - 1].windowed) rmai_dynamic_detach(w->net, (void *)a->from);
}

rma_gptr_t rmai_attachment_gptr(struct rmai_world *w, const void *addr, size_t len) {
    rma_gptr_t g = RMA_GPTR_NULL;
    struct attachment *a;
    rmai_own_lock(w);
    a = find_attachment(w, addr, len);
    if (a && (uintptr_t)addr >= a->from && (uintptr_t)addr + len <= a->to)
        g = gptr_in_attachment(w, a, (uintptr_t)addr);
    rmai_own_unlock(w);
    return g;
}

/* 1 if all pages of [from, from + len), at most VECTOR of them, are mapped: mincore(2) fails where one is not. */
#define VECTOR 1024
static int pages_mapped(uintptr_t from, size_t len) {
    unsigned char resident[VECTOR];
    return mincore((void *)from, len, resident) == 0;
}

/* For a long range msync(2) with MS_ASYNC is used: it only checks whether all pages are mapped, in a time that does not
 * grow with their number. Not on the first and the last page: some of their bytes may not be the caller's, and tools
 * such as valgrind take msync for a read of all bytes, and would report these. */
static int check_mapped(const char *call, void *base, size_t size) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)base / page * page;
    size_t len = rmai_round_up((uintptr_t)base + size - from, page);
    int mapped = len / page <= VECTOR ? len >= size && pages_mapped(from, len) /* len < size: the sum has wrapped */
                                      : pages_mapped(from, page) && pages_mapped(from + len - page, page) &&
                                            msync((void *)(from + page), len - 2 * page, MS_ASYNC) == 0;
    int known = !mapped && (len < size || errno == ENOMEM); /* ENOMEM is the answer for a page that is not mapped */
    if (mapped) return RMA_SUCCESS;
    return rmai_error(RMA_ERR_ADDRESS, "%s: not all of the %zu bytes at base %p are mapped%s%s", call, size, base,
                      known ? "" : ": ", known ? "" : strerror(errno));
}

static int check_region(const struct rmai_world *w, const char *call, void *base, size_t size) {
    const char *space = w->job.spaces;
    size_t node = w->job.stride * (size_t)w->job.node_n_pes;
    if (!base) return rmai_error(RMA_ERR_ARG, "%s: base is a null pointer", call);
    if (size == 0) return rmai_error(RMA_ERR_ARG, "%s: size is 0", call);
    if ((uintptr_t)base > UINTPTR_MAX - size)
        return rmai_error(RMA_ERR_ARG, "%s: %zu bytes at base %p wrap around the end of the address space", call, size,
                          base);
    if ((uintptr_t)base < (uintptr_t)space + node && (uintptr_t)base + size > (uintptr_t)space)
        return rmai_error(RMA_ERR_ARG,
                          "%s: %zu bytes at base %p overlap a heap, which is accessible already: use rma_gptr", call,
                          size, base);
    return check_mapped(call, base, size);
}

/* ---- the caller has the own lock (rmai_own_lock) ---- */

static int no_room_for_region(const struct rmai_world *w, const char *call, void *base, size_t size) {
    return rmai_error(
        RMA_ERR_NO_MEM,
        "%s: %zu bytes at base %p: no memory for the tables of one more region, or no free range of offsets "
        "that is long enough: %u regions are attached, and there are %zu GiB of offsets in all",
        call, size, base, w->attachments->table.state->n_live, ((size_t)RMAI_GRANULES * RMAI_GRANULE) >> 30);
}

static void forget_attachment(struct rmai_world *w, struct attachment *a) {
    tdelete(a, &w->attachments->by_address, compare_attachments);
    free(a);
}

/* Enters a new region, which neither the program nor an exposure keeps yet. Returns NULL after recording the error. */
static struct attachment *add_attachment(struct rmai_world *w, const char *call, void *base, size_t size, int *code) {
    struct attachment *a = find_attachment(w, base, size);
    int windowed;
    if (a) {
        *code = rmai_error(RMA_ERR_ARG,
                           "%s: %zu bytes at base %p overlap the region of %zu bytes that is attached at %#llx", call,
                           size, base, (size_t)(a->to - a->from), (unsigned long long)a->from);
        return NULL;
    }
    if ((*code = rmai_service_start(w->service)) != RMA_SUCCESS) {
        rmai_error_prefix("%s: ", call);
        return NULL;
    }
    a = malloc(sizeof *a);
    if (a) *a = (struct attachment){.from = (uintptr_t)base, .to = (uintptr_t)base + size};
    if (!a || !tsearch(a, &w->attachments->by_address, compare_attachments)) {
        free(a);
        *code = no_room_for_region(w, call, base, size);
        return NULL;
    }
    windowed = attach_to_window(w, base, size);
    a->offset =
        rmai_attached_add(&w->attachments->table, (uintptr_t)base, size, windowed, commit_tables, &w->reservation);
    if (a->offset == SIZE_MAX) {
        if (windowed) rmai_dynamic_detach(w->net, base);
        forget_attachment(w, a);
        *code = no_room_for_region(w, call, base, size);
        return NULL;
    }
    return a;
}

int rma_attach(void *base, size_t size, rma_gptr_t *g) {
    struct rmai_world *w = &rmai_world;
    struct attachment *a;
    int code = rmai_running("rma_attach");
    if (code == RMA_SUCCESS && !g) code = rmai_error(RMA_ERR_ARG, "rma_attach: g is a null pointer");
    if (code == RMA_SUCCESS) code = check_region(w, "rma_attach", base, size);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    rmai_own_lock(w);
    if ((a = add_attachment(w, "rma_attach", base, size, &code)) != NULL) {
        a->by_program = 1;
        *g = gptr_in_attachment(w, a, a->from);
    }
    rmai_own_unlock(w);
    return rmai_raise(code);
}

#define LONGEST_COPY   10.0  /* seconds */
#define IDLE_ROUNDS    1000  /* of progress, before the first nap: longer than most messages are apart */
#define NAP            50000 /* nanoseconds */
#define NAPS_PER_CHECK 1000  /* naps between two checks whether a PE of the node has died */

/* Waits until no access is in the region. Such an access is a copy by a PE of the node, a request to this PE's service
 * thread, or a long transfer of another node, whose data arrive only if this PE drives progress. All of them end, but
 * for that of a PE that has died in the region: once a PE of the node has died, the others get the time of the longest
 * copy. Returns 1 if all have left, 0 if the dead PE may still be counted. The caller does not have the own lock:
 * requests that are served here may need it, and so may other threads. */
static int drive_until_empty(struct rmai_world *w, const char *call, size_t offset) {
    struct rmai_stall stall = {.call = call, .awaited = RMAI_AWAITED_ALIVE};
    double died = 0;
    unsigned idle_rounds = 0;
    int naps = 0, left = 1;
    if (rmai_attached_empty(&w->attachments->table, offset)) return 1;
    while (!rmai_attached_empty(&w->attachments->table, offset)) {
        if (rmai_net_progress(w->net, 1) > 0) idle_rounds = 0;
        if (w->net->active && !w->net->crowded && ++idle_rounds < IDLE_ROUNDS) continue;
        nanosleep(&(struct timespec){.tv_nsec = NAP}, NULL);
        rmai_stall_late(w, &stall);
        if (++naps % NAPS_PER_CHECK) continue;
        if (died > 0 && rmai_wtime() > died + LONGEST_COPY) {
            left = 0;
            break;
        }
        for (int q = 0; died <= 0 && q < w->job.node_n_pes; q++)
            if (rmai_pe_gone(&w->job, w->job.node_pes[q])) died = rmai_wtime();
    }
    if (stall.last > 0) rmai_stall_over(w, &stall);
    return left;
}

/* Ends the attachment if neither the program nor an exposure keeps it. It leaves the tree at once: for every thread the
 * memory is attached no more, and may be attached anew, at other offsets. The region's offsets stay reserved until the
 * last access has left the region. The caller has the own lock, which is released during that wait. */
static void end_unless_kept(struct rmai_world *w, const char *call, struct attachment *a) {
    struct attachment **link = &w->attachments->ending;
    int empty;
    if (a->by_program || a->holds) return;
    rmai_attached_close(&w->attachments->table, a->offset);
    tdelete(a, &w->attachments->by_address, compare_attachments);
    a->next_ending = *link;
    *link = a;
    rmai_own_unlock(w);
    empty = drive_until_empty(w, call, a->offset);
    take_out_of_window(w, call, a);
    rmai_own_lock(w);
    while (*link != a) link = &(*link)->next_ending;
    *link = a->next_ending;
    rmai_attached_remove(&w->attachments->table, a->offset, empty);
    free(a);
}

static int detach_region(struct rmai_world *w, void *base) {
    struct attachment *a = find_attachment(w, base, 1);
    if (!a || (a->from == (uintptr_t)base && !a->by_program))
        return rmai_error(RMA_ERR_BASE, "rma_detach: no region is attached at base %p%s", base,
                          a ? ": rma_expose attached it, and rma_unexpose ends that" : "");
    if (a->from != (uintptr_t)base)
        return rmai_error(RMA_ERR_BASE, "rma_detach: base %p is %zu byte%s into the region that is attached at %#llx",
                          base, (size_t)((uintptr_t)base - a->from), rmai_s((uintptr_t)base - a->from),
                          (unsigned long long)a->from);
    a->by_program = 0;
    end_unless_kept(w, "rma_detach", a);
    return RMA_SUCCESS;
}

int rma_detach(void *base) {
    struct rmai_world *w = &rmai_world;
    int code = rmai_running("rma_detach");
    if (code != RMA_SUCCESS) return rmai_raise(code);
    rmai_own_lock(w);
    code = detach_region(w, base);
    rmai_own_unlock(w);
    return rmai_raise(code);
}

int rmai_attach_hold(struct rmai_world *w, const char *call, void *base, size_t size, rma_gptr_t *g, void **held) {
    struct attachment *a;
    int code = check_region(w, call, base, size);
    if (code != RMA_SUCCESS) return code;
    rmai_own_lock(w);
    a = find_attachment(w, base, size);
    if (!a || (uintptr_t)base < a->from || (uintptr_t)base + size > a->to)
        a = add_attachment(w, call, base, size, &code);
    if (a) {
        a->holds++;
        *g = gptr_in_attachment(w, a, (uintptr_t)base);
        *held = a;
    }
    rmai_own_unlock(w);
    return code;
}

void rmai_attach_release(struct rmai_world *w, const char *call, void *held) {
    struct attachment *a = held;
    rmai_own_lock(w);
    a->holds--;
    end_unless_kept(w, call, a);
    rmai_own_unlock(w);
}
