/* SPDX-License-Identifier: BSD-3-Clause */
/* Attaching and detaching. heap/attached has the tables by which every PE of the node finds the address of an offset;
 * the tree here finds regions by address, and only this PE has it. Two regions that overlap compare as equal, so the
 * tree cannot hold both: a hold that overlaps a region without lying in it has a region apart, which is known by its
 * global pointer alone. */
#include "config.h"

#include "runtime/attach.h"
#include "base/attributes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/process.h"
#include "base/wait.h"
#include "heap/reserve.h"
#include "runtime/context.h"
#include "runtime/job/job.h"
#include "runtime/interfaces.h"
#include "runtime/net/progress.h"
#include "runtime/node/barrier.h"
#include "runtime/node/service.h"
#include "runtime/own_lock.h"
#include "runtime/reach.h"
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
    int apart;          /* 1: not in the tree, but in the list of those apart */
    struct attachment *next_apart;
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
    w->attachments->apart = NULL;
    return rmai_attached_create(&w->attachments->table, space + w->job.layout.attached, commit_tables,
                                &w->reservation) == 0
               ? RMA_SUCCESS
               : RMA_ERR_NO_MEM;
}

void rmai_attachments_close(struct rmai_world *w) {
    struct rmai_attachments *a = w->attachments;
    tdestroy(a->by_address, free);
    a->by_address = NULL;
    for (struct attachment *next, *x = a->apart; x; x = next) {
        next = x->next_apart;
        free(x);
    }
    a->apart = NULL;
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

/* For a long range this uses msync(2) with MS_ASYNC, which only checks whether all pages are mapped, in a time that
 * does not grow with their number. It excludes the first and the last page: some of their bytes may not be the
 * caller's, and tools such as valgrind, which take msync for a read of all bytes, would report them. */
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

/* 1 if the bytes, some of which are in the heaps of this node, are all in the space of one other PE. */
static int is_in_space_of_other(const struct rmai_job *job, const char *base, size_t size) {
    const size_t first = (size_t)(base - job->spaces), last = first + size - 1;
    return first / job->stride == last / job->stride && last < job->stride * (size_t)job->node_n_pes &&
           first / job->stride != (size_t)job->node_my_pe;
}

/* others_too: the region may be in the heap of another PE of the node. */
static int check_region(const struct rmai_world *w, const char *call, void *base, size_t size, int others_too) {
    const char *space = w->job.spaces;
    size_t node = w->job.stride * (size_t)w->job.node_n_pes;
    if (!base) return rmai_error(RMA_ERR_ARG, "%s: base is a null pointer", call);
    if (size == 0) return rmai_error(RMA_ERR_ARG, "%s: size is 0", call);
    if ((uintptr_t)base > UINTPTR_MAX - size)
        return rmai_error(RMA_ERR_ARG, "%s: %zu bytes at base %p wrap around the end of the address space", call, size,
                          base);
    if ((uintptr_t)base < (uintptr_t)space + node && (uintptr_t)base + size > (uintptr_t)space &&
        !(others_too && is_in_space_of_other(&w->job, base, size)))
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

static int list_attachment(struct rmai_world *w, struct attachment *a) {
    if (!a->apart) return tsearch(a, &w->attachments->by_address, compare_attachments) != NULL;
    a->next_apart = w->attachments->apart;
    w->attachments->apart = a;
    return 1;
}

static void unlist_attachment(struct rmai_world *w, const struct attachment *a) {
    struct attachment **at = &w->attachments->apart;
    if (!a->apart) {
        tdelete(a, &w->attachments->by_address, compare_attachments);
        return;
    }
    while (*at != a) at = &(*at)->next_apart;
    *at = a->next_apart;
}

/* Enters a new region, which neither the program nor an exposure keeps yet. apart: it may overlap others. Returns NULL
 * after recording the error. */
static struct attachment *add_attachment(struct rmai_world *w, const char *call, void *base, size_t size, int apart,
                                         int *code) {
    struct attachment *a = apart ? NULL : find_attachment(w, base, size);
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
    if (a) *a = (struct attachment){.from = (uintptr_t)base, .to = (uintptr_t)base + size, .apart = apart};
    if (!a || !list_attachment(w, a)) {
        free(a);
        *code = no_room_for_region(w, call, base, size);
        return NULL;
    }
    a->offset = rmai_attached_add(&w->attachments->table, (uintptr_t)base, size, commit_tables, &w->reservation);
    if (a->offset == SIZE_MAX) {
        unlist_attachment(w, a);
        free(a);
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
    if (code == RMA_SUCCESS) code = check_region(w, "rma_attach", base, size, 0);
    if (code != RMA_SUCCESS) return rmai_raise(code);
    rmai_own_lock(w);
    if ((a = add_attachment(w, "rma_attach", base, size, 0, &code)) != NULL) {
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
 * thread, an access by another thread of this PE, or a long transfer of another node, whose data arrive only if this PE
 * drives progress. All of them end, except that of a PE that has died in the region: once a PE of the node has died,
 * this waits only for the time of the longest copy. Returns 1 if all have left, 0 if the dead PE may still be counted.
 * The caller does not hold the own lock: requests that this serves may need it, and so may other threads. */
static int drive_until_empty(struct rmai_world *w, const char *call, size_t offset) {
    const struct rmai_patience *patience = &w->barrier->patience;
    struct rmai_stall stall = {.call = call, .awaited = RMAI_AWAITED_ALIVE};
    double died = 0;
    unsigned idle_rounds = 0;
    int naps = 0, left = 1;
    if (rmai_attached_empty(&w->attachments->table, offset)) return 1;
    while (!rmai_attached_empty(&w->attachments->table, offset)) {
        if (rmai_net_progress(w->net, 1) > 0) idle_rounds = 0;
        if (w->net && !w->barrier->crowded && ++idle_rounds < IDLE_ROUNDS) continue;
        nanosleep(&(struct timespec){.tv_nsec = NAP}, NULL);
        patience->late(patience->context, &stall);
        if (++naps % NAPS_PER_CHECK) continue;
        if (died > 0 && rmai_wtime() > died + LONGEST_COPY) {
            left = 0;
            break;
        }
        for (int q = 0; died <= 0 && q < w->job.node_n_pes; q++)
            if (rmai_pe_gone(&w->job, w->job.node_pes[q])) died = rmai_wtime();
    }
    rmai_wait_over(patience, &stall);
    return left;
}

/* Ends the attachment if neither the program nor an exposure keeps it. It leaves the tree at once: for every thread the
 * memory is no longer attached, and may be attached again, at other offsets. The region's offsets stay reserved until
 * the last access has left the region. The caller has the own lock, which is released during that wait. */
static void end_unless_kept(struct rmai_world *w, const char *call, struct attachment *a) {
    int empty;
    if (a->by_program || a->holds) return;
    rmai_attached_close(&w->attachments->table, a->offset);
    unlist_attachment(w, a);
    rmai_own_unlock(w);
    empty = drive_until_empty(w, call, a->offset);
    rmai_own_lock(w);
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

int rmai_attach_hold(struct rmai_world *w, const char *call, void *base, size_t size, int windows, rma_gptr_t *g,
                     void **held) {
    struct attachment *a;
    int code = check_region(w, call, base, size, windows);
    if (code != RMA_SUCCESS) return code;
    rmai_own_lock(w);
    a = find_attachment(w, base, size);
    if (!a || (uintptr_t)base < a->from || (uintptr_t)base + size > a->to)
        a = add_attachment(w, call, base, size, a && windows, &code);
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

int rma_lend_memory_(const char *call) {
    int code = rmai_running(call);
    if (code == RMA_SUCCESS) code = rmai_service_start(rmai_world.service);
    return rmai_raise(code);
}
