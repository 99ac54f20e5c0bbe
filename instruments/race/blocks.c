/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "config.h"

#include "instruments/race/blocks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "instruments/race/clock.h"
#include "instruments/race/job.h"
#include "instruments/race/options.h"
#include "instruments/race/places.h"
#include "instruments/race/remote.h"
#include "instruments/race/report.h"
#include "instruments/race/runs.h"
#include "instruments/race/shadow.h"
#include "instruments/race/spin.h"

uint64_t race_offset(const void *base) { return base ? (uintptr_t)base - race_job.space : UINT64_MAX; }

/* ---- the job's blocks, for the reports of all PEs ---- */

/* A block's offset selects a few entries, one of which it uses, so that programs with many blocks do not search long.
 * If all of them are taken, reports give only the offset in the heap. */
#define PROBES 8
static struct race_block *block_entry(int pe, uint64_t offset, uint64_t size) {
    struct race_block *blocks = race_job.header->blocks[pe];
    for (uint64_t i = 0; i < PROBES; i++) {
        struct race_block *b = &blocks[((offset >> 4) * 0x9e3779b97f4a7c15u >> 40) % (RACE_BLOCKS_MOST - PROBES) + i];
        if (size ? !__atomic_load_n(&b->size, __ATOMIC_RELAXED) : b->size && b->offset == offset) return b;
    }
    return NULL;
}

const struct race_block *race_block_of(int pe, uint64_t offset) {
    if (race_is_elsewhere(pe)) return race_remote_block(pe, offset);
    for (size_t i = 0; i < RACE_BLOCKS_MOST; i++) {
        const struct race_block *b = &race_job.header->blocks[pe][i];
        if (offset - b->offset < b->size) return b;
    }
    return NULL;
}

/* ---- blocks of the symmetric heap, which are the same on all PEs, by offset ---- */

static struct span { uint64_t offset, size; } spans[RACE_BLOCKS_MOST];
static size_t n_spans;
static uint32_t spans_lock;

static struct span last; /* in which the latest operation was */

/* The number of blocks that begin at this offset or before. */
static size_t spans_up_to(uint64_t offset) {
    size_t from = 0, to = n_spans;
    while (from < to) {
        size_t middle = (from + to) / 2;
        if (spans[middle].offset <= offset)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static void add_span(uint64_t offset, size_t size) {
    size_t at;
    race_spin_lock(&spans_lock);
    last = (struct span){0, 0};
    at = spans_up_to(offset);
    if (n_spans < RACE_BLOCKS_MOST) {
        memmove(&spans[at + 1], &spans[at], (n_spans++ - at) * sizeof *spans);
        spans[at] = (struct span){offset, size};
    }
    race_spin_unlock(&spans_lock);
}

static void remove_span(uint64_t offset) {
    size_t at;
    race_spin_lock(&spans_lock);
    last = (struct span){0, 0};
    at = spans_up_to(offset);
    if (at && spans[at - 1].offset == offset) memmove(&spans[at - 1], &spans[at], (n_spans-- - at) * sizeof *spans);
    race_spin_unlock(&spans_lock);
}

void race_past_end(const struct race_call *c, int pe, uint64_t offset, size_t len, int write) {
    struct span s = {0, 0};
    size_t at;
    if (!n_spans || offset >= race_job.local) return;
    /* The last one's block, without the lock: only this thread changes it. */
    if (race_alone && offset - last.offset < last.size && len <= last.size - (offset - last.offset)) return;
    race_spin_lock(&spans_lock);
    at = spans_up_to(offset);
    if (at) s = spans[at - 1];
    race_spin_unlock(&spans_lock);
    if (race_alone) last = s;
    if (offset - s.offset < s.size && len > s.size - (offset - s.offset))
        race_report_past_end(c, pe, offset, len, len - (size_t)(s.size - (offset - s.offset)), write);
}

/* ---- allocation and release ---- */

void race_allocated(const struct race_call *c, int pe, uint64_t offset, size_t size, int local) {
    struct race_block b = {.offset = offset, .size = size};
    if (!race_watches() || pe < 0 || pe >= race_job.n_pes || !size) return;
    if (offset >= race_job.stride && offset - RACE_ATTACHED >= RACE_ATTACHED_LEN) return;
    if (offset < race_job.local) add_span(offset, size);
    b.place = race_call_place(c->pc, c->name);
    b.kind = offset >= RACE_ATTACHED ? RACE_REGION : local ? RACE_LOCAL : RACE_SYMMETRIC;
    if (race_is_elsewhere(pe))
        race_remote_block_begins(pe, &b);
    else
        race_block_begins(pe, &b);
}

void race_block_begins(int pe, const struct race_block *block) {
    struct race_cell *cells = race_cells_at(block->offset, block->size, pe);
    struct race_block *b;
    if (block->kind == RACE_LOCAL && cells) race_forget(cells, block->size);
    if (!(b = block_entry(pe, block->offset, block->size))) return;
    b->offset = block->offset;
    b->place = block->place;
    b->kind = block->kind;
    __atomic_store_n(&b->size, block->size, __ATOMIC_RELEASE);
}

void race_freed(const struct race_call *c, int pe, uint64_t offset) {
    if (!race_watches() || pe < 0 || pe >= race_job.n_pes) return;
    race_runs_settle(); /* another PE may get the memory before this thread's next event */
    if (offset < race_job.local) remove_span(offset);
    if (race_is_elsewhere(pe))
        race_remote_block_ends(pe, offset, race_call_place(c->pc, c->name));
    else
        race_block_ends(pe, offset, race_call_place(c->pc, c->name));
}

void race_block_ends(int pe, uint64_t offset, uint32_t place) {
    struct race_block *b = block_entry(pe, offset, 0);
    if (!b) return;
    race_memory_ends(race_cells_at(offset, b->size, pe),
                     (struct race_where){.addr = offset >= RACE_ATTACHED ? offset : race_job.space + offset, .pe = pe},
                     b->size, RACE_FREES, place);
    __atomic_store_n(&b->size, 0, __ATOMIC_RELEASE);
}

void race_attached(const struct race_call *c, const void *base, size_t size, uint64_t offset) {
    static int said;
    if (!race_watches() || offset - RACE_ATTACHED >= RACE_ATTACHED_LEN) return;
    if (!race_job.attached) {
        if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
            race_say("PE %d: no address space to track accesses of attached memory: races there are not detected",
                     race_job.my_pe);
        return;
    }
    race_attach((uintptr_t)base, size, offset);
    race_allocated(c, race_job.my_pe, offset, size, 0);
}

void race_detached(const struct race_call *c, const void *base) {
    uint64_t offset;
    if (!race_watches()) return;
    offset = race_detach((uintptr_t)base);
    if (offset) race_freed(c, race_job.my_pe, offset);
}

/* ---- private memory ---- */

/* Entries by the base's hash. A newer block may replace another one: that one has no name in reports then. */
#define PRIVATE_BLOCKS 65536
static struct race_private_block *private_blocks;

static struct race_private_block *private_entry(uintptr_t base) {
    return &private_blocks[(base >> 4) * 0x9e3779b97f4a7c15u >> 48];
}

void race_private_allocated(const void *base, size_t size, const struct race_call *c) {
    struct race_private_block *b, *none = NULL, *made;
    if (!base || !race_watches() || race_locks_held) return;
    if (!__atomic_load_n(&private_blocks, __ATOMIC_ACQUIRE)) {
        if (!(made = calloc(PRIVATE_BLOCKS, sizeof *made))) return;
        if (!__atomic_compare_exchange_n(&private_blocks, &none, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            free(made);
    }
    b = private_entry((uintptr_t)base);
    __atomic_store_n(&b->size, 0, __ATOMIC_RELAXED);
    b->place = race_call_place(c->pc, c->name);
    __atomic_store_n(&b->base, (uintptr_t)base, __ATOMIC_RELAXED);
    __atomic_store_n(&b->size, size, __ATOMIC_RELEASE);
}

int race_private_block(uintptr_t addr, struct race_private_block *b) {
    for (size_t i = 0; private_blocks && i < PRIVATE_BLOCKS; i++) {
        *b = private_blocks[i];
        if (addr - b->base < b->size) return 1;
    }
    return 0;
}

/* An allocated block is in one chunk of cells or in some; most have none. */
static void ends(uintptr_t addr, size_t len, enum race_what what, uint32_t place) {
    while (len) {
        const size_t room = RACE_CHUNK - (addr & (RACE_CHUNK - 1)), part = room < len ? room : len;
        struct race_cell *cells = race_private_cells(addr);
        if (cells) race_memory_ends(cells, (struct race_where){.addr = addr, .pe = -1}, part, what, place);
        addr += part;
        len -= part;
    }
}

void race_private_freed(const void *base, size_t size, const struct race_call *c) {
    if (!base || race_window.private_mode == RACE_PRIVATE_OFF || !race_watches() || race_locks_held) return;
    ends((uintptr_t)base, size, RACE_FREES, race_call_place(c->pc, c->name));
    race_forget_private((uintptr_t)base, size);
}

/* ---- frames ---- */

#define BUFFERS 32
static __thread struct buffer {
    uintptr_t addr;
    size_t len;
    race_epoch epoch;
} buffers[BUFFERS];
static __thread int n_buffers;
__thread uintptr_t race_lowest_buffer = UINTPTR_MAX;
static __thread uintptr_t stack_end; /* 0: not known yet */

int race_is_on_stack(uintptr_t addr) {
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    pthread_attr_t attr;
    void *base;
    size_t size;
    if (!stack_end && !pthread_getattr_np(pthread_self(), &attr)) {
        if (!pthread_attr_getstack(&attr, &base, &size)) stack_end = (uintptr_t)base + size;
        pthread_attr_destroy(&attr);
    }
    return addr >= here && addr < stack_end;
}

/* Removes the buffers of operations that are complete. */
static void forget_complete(void) {
    int kept = 0;
    race_lowest_buffer = UINTPTR_MAX;
    for (int i = 0; i < n_buffers; i++) {
        if (race_me->clock[RACE_ACTOR(buffers[i].epoch)] >= RACE_COUNT(buffers[i].epoch)) continue;
        if (buffers[i].addr < race_lowest_buffer) race_lowest_buffer = buffers[i].addr;
        buffers[kept++] = buffers[i];
    }
    n_buffers = kept;
}

/* When there is no room, the buffer is not watched. */
void race_stack_buffer(uintptr_t addr, size_t len, race_epoch epoch) {
    static __thread int next; /* loops use the same buffers in turn */
    RACE_HELD;
    if (!race_is_on_stack(addr)) return;
    if (next < n_buffers && buffers[next].addr == addr && buffers[next].len == len) {
        buffers[next++].epoch = epoch;
        return;
    }
    for (int i = 0; i < n_buffers; i++)
        if (buffers[i].addr == addr && buffers[i].len == len) {
            buffers[i].epoch = epoch;
            next = i + 1;
            return;
        }
    if (n_buffers == BUFFERS) forget_complete();
    if (n_buffers == BUFFERS) return;
    buffers[n_buffers++] = (struct buffer){addr, len, epoch};
    if (addr < race_lowest_buffer) race_lowest_buffer = addr;
}

/* Handlers in between would change the list. */
void race_frames_ended(uintptr_t pc, uintptr_t frame) {
    RACE_HELD;
    if (!race_watches() || !race_is_on_stack(frame)) return;
    forget_complete();
    for (int i = 0; i < n_buffers;) {
        const struct buffer b = buffers[i];
        if (b.addr >= frame) {
            i++;
            continue;
        }
        ends(b.addr, b.len, RACE_LEAVES, race_place(pc));
        race_forget_private(b.addr, b.len);
        buffers[i] = buffers[--n_buffers];
    }
    forget_complete();
}
