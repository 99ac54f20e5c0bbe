/* SPDX-License-Identifier: BSD-3-Clause */
/* growth: one thread makes the symmetric heap and the local heap grow while others ask of ranges whether they can be
 * reached, by the library's own checks, the inlined ones included, so that ThreadSanitizer sees both sides. Broken by a
 * plain read of a size that grows, and by a check that reads it twice: if its length is compared with one size and its
 * end with another, a range beyond the heap's end is accepted.
 *
 * No MPI: a node of three PEs whose spaces are mapped here; this process is the first PE. The third is outside the
 * arithmetic progression that the inlined checks know. test/check-tsan.sh builds and runs it; it is also right without
 * the sanitizer.
 *
 *     growth [GROWTHS] */
#include "config.h"

#include "base/attributes.h"
#include "base/settings.h"
#include "heap/reserve.h"
#include "heap/segment.h"
#include "runtime/window_memory.h"
#include "runtime/header.h"
#include "runtime/job/job.h"
#include "runtime/net/progress.h"
#include "runtime/reach.h"
#include "runtime/world.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ASKERS 3
#define PES    3
#define HEAP   ((size_t)64 << 20)

static int pes[PES] = {0, 1, 7};
static _Atomic size_t sure;      /* bytes of the symmetric heap that are there for everybody */
static _Atomic rma_gptr_t given; /* the newest block of the local heap */
static atomic_int finished;
static atomic_size_t asked;

static void give_up(const char *format, ...) RMAI_PRINTF(1, 2);
static void give_up(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, "growth: ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    exit(1);
}

static uint64_t next_of(uint64_t *state) {
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return *state;
}

/* There is no MPI here, and neither a window nor another node. */
void rmai_window_memory_local(struct rmai_world *w) { (void)w; }
void rmai_net_poll_sometimes(struct rmai_net *net) { (void)net; }

/* What the checks say of [offset, offset + len) of the symmetric heap, which had at least `least` bytes when they were
 * asked. */
static void ask_of(size_t offset, size_t len, size_t least) {
    char *base = rmai_world.symmetric.base, *space = rmai_world.job.spaces + rmai_world.job.layout.symmetric;
    int surely = offset < least && len <= least - offset;
    for (int q = 0; q < PES; q++) {
        char *want = space + (size_t)q * rmai_world.job.stride + offset, *got;
        got = rma_reach_ptr_(base + offset, len, pes[q]);
        if (got ? got != want || offset + len > HEAP : surely && q < 2)
            give_up("rma_reach_ptr_: %zu and %zu of PE %d", offset, len, pes[q]);
        got = rma_ptr(base + offset, pes[q]);
        if (got ? got != want : surely) give_up("rma_ptr: %zu of PE %d", offset, pes[q]);
        if (!surely) continue;
        rma_gptr_t g = rma_gptr(base + offset, pes[q]);
        if (rma_gptr_pe(g) != pes[q] || rma_gptr_ptr(g) != want) give_up("rma_gptr: %zu of PE %d", offset, pes[q]);
        got = rma_gptr_ptr_(g, len);
        if (got ? got != want : q < 2) give_up("rma_gptr_ptr_: %zu of PE %d", offset, pes[q]);
    }
    if (surely && offset % 8 == 0 && rma_holds_uint64((uint64_t *)(void *)(base + offset), RMA_CMP_EQ, 0) != 1)
        give_up("rma_holds_uint64: %zu", offset);
}

static void *asker(void *arg) {
    uint64_t r = 88172645463325252u + (uint64_t)(uintptr_t)arg;
    while (!atomic_load(&finished)) {
        size_t least = atomic_load(&sure), offset = next_of(&r) % (HEAP + 10000);
        rma_gptr_t g = atomic_load(&given);
        ask_of(offset, 1 + next_of(&r) % 8192, least);
        ask_of(least - 64, 64, least);
        ask_of(0, least + next_of(&r) % 3, least);
        if (g && (!rma_gptr_ptr(g) || rma_gptr(rma_gptr_ptr(g), 0) != g))
            give_up("the local heap: %#llx", (unsigned long long)g);
        if (g) __atomic_fetch_add((char *)rma_gptr_ptr(g), 1, __ATOMIC_RELAXED);
        atomic_fetch_add(&asked, 1);
    }
    return NULL;
}

static void quiet_handler(int code, const char *text) { (void)code, (void)text; }

/* What rma_init leaves behind, as far as the checks look at it. */
static void open_world(void) {
    struct rmai_world *w = &rmai_world;
    char *space;
    rma_set_errhandler(quiet_handler);
    rmai_layout(&w->job.layout, HEAP, HEAP, 0);
    w->reservation = (struct rmai_reservation){.stride = w->job.layout.stride, .n_slots = 1, .window = MPI_WIN_NULL};
    w->job.stride = w->job.layout.stride;
    space = mmap(NULL, PES * w->job.layout.stride, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                 -1, 0);
    if (space == MAP_FAILED) give_up("mmap");
    w->job.spaces = w->reservation.node_base = space;
    w->job.n_pes = 8, w->job.node_n_pes = PES, w->job.n_nodes = 1, w->job.node_pes = pes;
    w->job.level = RMA_THREAD_MULTIPLE;
    w->job.statics_mode = RMAI_STATICS_OFF;
    w->returned = &rmai_header(&w->job, 0)->returned[RMAI_OWN];
    pthread_mutex_init(&w->local_lock, NULL);
    if (rmai_segment_create(&w->symmetric, &w->reservation, space + w->job.layout.symmetric_table,
                            space + w->job.layout.symmetric, HEAP, "symmetric heap", "") ||
        rmai_segment_create(&w->local, &w->reservation, space + w->job.layout.local_table, space + w->job.layout.local,
                            HEAP, "local heap", ""))
        give_up("%s", rma_last_error());
    atomic_store(&rmai_facts(&w->job, 0)->extent[RMAI_OWN], w->job.layout.local);
    atomic_store(&rmai_facts(&w->job, 0)->extent[RMAI_GUEST], w->job.layout.guest);
    rma_reach_ = (struct rma_reach_){.base = (uintptr_t)w->symmetric.base,
                                     .node_base = (uintptr_t)space + w->job.layout.symmetric,
                                     .stride = w->job.stride,
                                     .inverse = 1,
                                     .n_node = 2,
                                     .running = 1,
                                     .complete = RMA_ALL_COMPLETE_,
                                     .symmetric = w->job.layout.symmetric,
                                     .local = w->job.layout.local,
                                     .guest = w->job.layout.guest,
                                     .n_pes = 8};
}

static void grow(void) {
    struct rmai_world *w = &rmai_world;
    size_t got;
    if (rmai_segment_commit(&w->symmetric, RMAI_PAGE, &got) != RMA_SUCCESS) give_up("%s", rma_last_error());
    rmai_segment_extend(&w->symmetric, RMAI_PAGE);
    rmai_reach_grown(w->symmetric.size);
    atomic_store(&sure, w->symmetric.size);
}

int main(int argc, char **argv) {
    unsigned long growths = argc > 1 ? strtoul(argv[1], NULL, 10) : 500;
    pthread_t thread[ASKERS];
    if (growths > HEAP / RMAI_PAGE) give_up("at most %zu growths", HEAP / RMAI_PAGE);
    open_world();
    grow();
    for (size_t i = 0; i < ASKERS; i++)
        if (pthread_create(&thread[i], NULL, asker, (void *)(uintptr_t)i) != 0) give_up("pthread_create");
    for (unsigned long i = 1; i < growths; i++) {
        size_t before = atomic_load(&asked);
        void *block;
        grow();
        if (rma_alloc_mem(100000, &block) != RMA_SUCCESS) give_up("%s", rma_last_error());
        atomic_store(&given, rma_gptr(block, 0));
        while (atomic_load(&asked) < before + 3) sched_yield();
    }
    atomic_store(&finished, 1);
    for (size_t i = 0; i < ASKERS; i++) pthread_join(thread[i], NULL);
    printf("growth: asked %zu times while the heaps grew to %zu and %zu KiB\n", (size_t)asked,
           rmai_world.symmetric.size >> 10, rmai_world.local.size >> 10);
    return 0;
}
