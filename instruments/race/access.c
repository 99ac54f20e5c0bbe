/* SPDX-License-Identifier: BSD-3-Clause */
/* The program's loads and stores: the functions that the compilers' instrumentation calls (-fsanitize=thread). The
 * names are those of the instrumentation; ThreadSanitizer's own library is not linked.
 *
 * The most common access finds the same epoch in its cell and returns. Where programs have the inlined path (inline.h),
 * those of loops over arrays do not come here: what they have accessed comes as a run (runs.h). */
#include "config.h"

#include "instruments/race/access.h"

#include <string.h>

#include "instruments/race/blocks.h"
#include "instruments/race/clock.h"
#include "instruments/race/job.h"
#include "instruments/race/places.h"
#include "instruments/race/put_off.h"
#include "instruments/race/runs.h"
#include "instruments/race/shadow.h"
#include "instruments/race/spin.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define HOOK      __attribute__((visibility("default")))
#define HERE      ((uintptr_t)__builtin_return_address(0))

static size_t len_of(race_epoch mask) { return (size_t)__builtin_popcountll(mask); }

/* The slow path: the access is not a repetition. */
static __attribute__((noinline)) void access(struct race_cell *c, uintptr_t addr, race_epoch mask, int write,
                                             uintptr_t pc, int pe) {
    struct race_who who = {.epoch = race_now, .own = race_own()};
    if (!race_me) {
        race_runs_stranger = 1;
        return;
    }
    if (race_is_busy()) {
        race_put_off((struct race_event){
            .kind = RACE_LOAD_STORE, .address = (void *)addr, .len = len_of(mask), .write = write, .pc = pc});
        return;
    }
    who.clock = race_me->clock;
    race_access(c, mask, RACE_PLAIN, write, race_place(pc), &who, (struct race_where){.addr = addr, .pe = pe});
}

/* In memory whose cells are in chunks (shadow.h), which is private memory, or all in a program of MPI windows: whether
 * an access repeats the last one, or its memory has no records. */
static inline int is_nothing_new(uintptr_t addr, size_t size, int write) {
    struct race_cell *const *chunks = race_window.chunks, *c;
    race_epoch mask;
    if (!chunks || addr >> 47 || (addr & 7) + size > 8) return 0;
    if (!race_job.arenas && (race_has_regions() || addr - race_job.spaces < race_job.spaces_len ||
                             addr - race_window.statics < race_window.statics_len))
        return 0;
    c = __atomic_load_n(&chunks[addr >> RACE_CHUNK_SHIFT], __ATOMIC_ACQUIRE);
    if (!c) return race_window.private_mode != RACE_PRIVATE_ALL && !race_has_aliases;
    c += (addr & (RACE_CHUNK - 1)) / 8;
    if (race_window.private_mode != RACE_PRIVATE_ALL && !race_is_exposed(c))
        return !race_has_aliases && (race_window.private_mode == RACE_PRIVATE_OFF || !(c->write | c->read));
    if (race_has_aliases) return 0;
    mask = race_mask(addr, size);
    return ((__atomic_load_n(write ? &c->write : &c->read, __ATOMIC_RELAXED) ^ race_same) & (~RACE_MASK | mask)) == 0;
}

/* Accesses of private memory and of other PEs' memory on this node, and accesses that cross cells. */
static __attribute__((noinline)) void elsewhere(uintptr_t addr, size_t size, int write, uintptr_t pc) {
    struct race_who who = {.epoch = race_now, .own = race_own()};
    if (!race_me) race_runs_stranger = 1;
    if (!race_me || is_nothing_new(addr, size, write)) return;
    if (race_is_busy()) {
        race_put_off((struct race_event){
            .kind = RACE_LOAD_STORE, .address = (void *)addr, .len = size, .write = write, .pc = pc});
        return;
    }
    race_late_settle();
    who.clock = race_me->clock;
    race_called(pc, __builtin_frame_address(0));
    race_local((const void *)addr, size, RACE_PLAIN, write, race_place(pc), &who);
}

void race_load_store_now(const volatile void *addr, size_t size, int write, uintptr_t pc) {
    const struct race_who who = {.epoch = race_now, .clock = race_me->clock, .own = race_own()};
    race_late_settle();
    race_local((const void *)(uintptr_t)addr, size, RACE_PLAIN, write, race_place(pc), &who);
}

/* No access, or a plain one of the same actor. */
static inline int mine(race_epoch e, race_epoch me) { return !e || ((uint32_t)(e ^ me) & ~(uint32_t)RACE_MASK) == 0; }

/* Whether an access of these bytes at this place can join others of the same epoch in a cell: no half has two places.
 */
static inline int has_room(race_epoch there, race_epoch mask, const uint32_t at[2], uint32_t place) {
    return (!(mask & 0x0f) || !(there & 0x0f) || at[0] == place) &&
           (!(mask & 0xf0) || !(there & 0xf0) || at[1] == place);
}

/* The thread's first such access of a cell since it last told something. If only this thread has used the memory, its
 * accesses are ordered: record_... records the access and returns 1; else it returns 0. Of all 8 bytes a store is
 * enough: a concurrent access races. first_... looks at the cell if need be. Programs call these, too (inline.h); they
 * need no stack frame, so that they save no registers. */
static inline int only_mine(race_epoch w, race_epoch r, race_epoch me) {
    return LIKELY(mine(w, me) && mine(r, me)) != 0;
}

static inline __attribute__((always_inline)) int record_read8(struct race_cell *c, race_epoch me, uintptr_t pc) {
    const race_epoch w = __atomic_load_n(&c->write, __ATOMIC_RELAXED), r = __atomic_load_n(&c->read, __ATOMIC_RELAXED);
    const uint64_t place = pc - race_job.program;
    if (!only_mine(w, r, me) || !LIKELY(place < race_job.program_len) || !LIKELY(me)) return 0;
    __atomic_store_n(&c->read, me, __ATOMIC_RELAXED);
    memcpy(c->read_at, &(uint64_t){place << 32 | place}, sizeof c->read_at);
    return 1;
}

static inline __attribute__((always_inline)) int record_write8(struct race_cell *c, race_epoch me, uintptr_t pc) {
    const race_epoch w = __atomic_load_n(&c->write, __ATOMIC_RELAXED), r = __atomic_load_n(&c->read, __ATOMIC_RELAXED);
    const uint64_t place = pc - race_job.program;
    if (!only_mine(w, r, me) || !LIKELY(place < race_job.program_len) || !LIKELY(me)) return 0;
    __atomic_store_n(&c->read, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&c->write, me, __ATOMIC_RELAXED);
    memcpy(c->write_at, &(uint64_t){place << 32 | place}, sizeof c->write_at);
    return 1;
}

static int record_part(struct race_cell *c, race_epoch mask, int write, uintptr_t pc) {
    const race_epoch me = race_now | mask;
    const race_epoch w = __atomic_load_n(&c->write, __ATOMIC_RELAXED), r = __atomic_load_n(&c->read, __ATOMIC_RELAXED);
    const race_epoch same = write ? w : r;
    race_epoch *word = write ? &c->write : &c->read;
    uint32_t *at = write ? c->write_at : c->read_at, place;
    int recorded = 0;
    if (!LIKELY(mine(w, me) && mine(r, me) && race_now)) return 0;
    place = race_place(pc);
    if (!((write ? w | r : r) & RACE_MASK & ~mask)) /* it replaces all others */
        recorded = (!write || !r || race_replace(&c->read, r, 0)) && race_replace(word, same, me);
    else if (!((same ^ me) & ~RACE_MASK) && !(write && r & mask) && has_room(same, mask, at, place))
        recorded = race_replace(word, same, same | mask);
    if (recorded) race_place_into(at, mask, place);
    return recorded;
}

static __attribute__((noinline)) void whole_read(struct race_cell *c, uintptr_t addr, uintptr_t pc) {
    access(c, addr, RACE_MASK, 0, pc, race_job.my_pe);
}
static __attribute__((noinline)) void whole_write(struct race_cell *c, uintptr_t addr, uintptr_t pc) {
    access(c, addr, RACE_MASK, 1, pc, race_job.my_pe);
}
static inline __attribute__((always_inline)) void first_read8(struct race_cell *c, uintptr_t addr, race_epoch me,
                                                              uintptr_t pc) {
    if (!record_read8(c, me, pc)) whole_read(c, addr, pc);
}
static inline __attribute__((always_inline)) void first_write8(struct race_cell *c, uintptr_t addr, race_epoch me,
                                                               uintptr_t pc) {
    if (!record_write8(c, me, pc)) whole_write(c, addr, pc);
}
static __attribute__((noinline)) void first_of_part(struct race_cell *c, uintptr_t addr, race_epoch mask, int write,
                                                    uintptr_t pc) {
    if (!record_part(c, mask, write, pc)) access(c, addr, mask, write, pc, race_job.my_pe);
}

/* Every load and store of the program passes through this function. So it has no stack frame, and the remaining work is
 * done by tail calls. */
static inline __attribute__((always_inline)) void load_store(uintptr_t addr, size_t size, int write, uintptr_t pc) {
    struct race_cell *c;
    race_epoch e, mask;
    uintptr_t o = addr - race_window.heap;
    if (LIKELY(o < race_window.heap_len))
        c = race_window.heap_cells;
    else if ((o = addr - race_window.statics) < race_window.statics_len)
        c = race_window.statics_cells;
    else {
        if (addr - race_window.others < race_window.others_len) elsewhere(addr, size, write, pc);
        return;
    }
    if (!LIKELY((addr & 7) <= 8 - size)) {
        elsewhere(addr, size, write, pc);
        return;
    }
    /* An access of 8 bytes is aligned here: the heaps and the statics begin at a page. */
    mask = size == 8 ? RACE_MASK : race_mask(addr, size);
    c = size == 8 ? (struct race_cell *)((char *)c + o * (sizeof *c / 8)) : c + o / 8;
    e = __atomic_load_n(write ? &c->write : &c->read, __ATOMIC_RELAXED);
    if (LIKELY(((e ^ race_same) & (~RACE_MASK | mask)) == 0)) return;
    if (size < 8)
        first_of_part(c, addr, mask, write, pc);
    else if (write)
        first_write8(c, addr, race_same, pc);
    else
        first_read8(c, addr, race_same, pc);
}

/* The cells of a run, one by one; the first and the last may be accessed in part. A cell that must be looked at is, at
 * once: the thread holds no lock of a cell, and what a signal handler does meanwhile is put off (runs.c). */
static void run_in_cells(struct race_cell *c, uintptr_t addr, size_t len, int write, uintptr_t pc) {
    const struct race_who who = {.epoch = race_now, .clock = race_me->clock, .own = race_own()};
    while (len) {
        const size_t room = 8 - (addr & 7), part = room < len ? room : len;
        const race_epoch e = __atomic_load_n(write ? &c->write : &c->read, __ATOMIC_RELAXED);
        const race_epoch mask = part == 8 ? RACE_MASK : race_mask(addr, part);
        if (((e ^ race_same) & (~RACE_MASK | mask)) != 0 && !(part < 8 ? record_part(c, mask, write, pc)
                                                              : write  ? record_write8(c, race_same, pc)
                                                                       : record_read8(c, race_same, pc)))
            race_access(c, mask, RACE_PLAIN, write, race_place(pc), &who, (struct race_where){addr, race_job.my_pe});
        addr += part;
        len -= part;
        c++;
    }
}

/* Whole strips are recorded as such, the rest in cells. Where another actor has used a strip in a way that the thread
 * does not know, its cells tell whether that was a race. */
void race_load_store_run(uintptr_t addr, size_t len, int write, uintptr_t pc) {
    uintptr_t o = addr - race_window.heap, to_strip, end, whole;
    struct race_cell *cells;
    size_t room;
    if (o < race_window.heap_len)
        cells = race_window.heap_cells + o / 8, room = race_window.heap_len - o;
    else if ((o = addr - race_window.statics) < race_window.statics_len)
        cells = race_window.statics_cells + o / 8, room = race_window.statics_len - o;
    else
        return;
    if (len > room) len = room; /* memory of another kind may follow */
    to_strip = -(uintptr_t)addr & (RACE_STRIP - 1);
    if (!race_job.strips || len < to_strip + RACE_STRIP) {
        run_in_cells(cells, addr, len, write, pc);
        return;
    }
    end = addr + len;
    whole = (end - addr - to_strip) & ~(uintptr_t)(RACE_STRIP - 1);
    run_in_cells(cells, addr, to_strip, write, pc);
    race_strips_record(cells + (addr + to_strip) / 8 - addr / 8, whole, write, race_place(pc));
    for (uintptr_t at = addr + to_strip, part; at < addr + to_strip + whole; at += part) {
        struct race_cell *c = cells + at / 8 - addr / 8;
        part = RACE_PAGE - (at & (RACE_PAGE - 1));
        if (part > addr + to_strip + whole - at) part = addr + to_strip + whole - at;
        if (race_page_is_foreign(c)) run_in_cells(c, at, part, write, pc);
    }
    run_in_cells(cells + (addr + to_strip + whole) / 8 - addr / 8, addr + to_strip + whole, len - to_strip - whole,
                 write, pc);
}

void race_load_store(const void *addr, size_t size, int write, uintptr_t pc) {
    if (race_job.on && size) elsewhere((uintptr_t)addr, size, write, pc);
}

#define ACCESS(SIZE)                                                                                                   \
    HOOK void __tsan_read##SIZE(void *p) { load_store((uintptr_t)p, SIZE, 0, HERE); }                                  \
    HOOK void __tsan_write##SIZE(void *p) { load_store((uintptr_t)p, SIZE, 1, HERE); }                                 \
    HOOK void __tsan_unaligned_read##SIZE(void *p) { load_store((uintptr_t)p, SIZE, 0, HERE); }                        \
    HOOK void __tsan_unaligned_write##SIZE(void *p) { load_store((uintptr_t)p, SIZE, 1, HERE); }                       \
    HOOK void __tsan_volatile_read##SIZE(void *p) { load_store((uintptr_t)p, SIZE, 0, HERE); }                         \
    HOOK void __tsan_volatile_write##SIZE(void *p) { load_store((uintptr_t)p, SIZE, 1, HERE); }                        \
    HOOK void __tsan_unaligned_volatile_read##SIZE(void *p) { load_store((uintptr_t)p, SIZE, 0, HERE); }               \
    HOOK void __tsan_unaligned_volatile_write##SIZE(void *p) { load_store((uintptr_t)p, SIZE, 1, HERE); }              \
    HOOK void __tsan_read_write##SIZE(void *p) { /* a write, which races with everything that the read does */         \
        load_store((uintptr_t)p, SIZE, 1, HERE);                                                                       \
    }                                                                                                                  \
    HOOK void __tsan_unaligned_read_write##SIZE(void *p) { load_store((uintptr_t)p, SIZE, 1, HERE); }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)

#define ACCESS16(NAME, WRITE)                                                                                          \
    HOOK void __tsan_##NAME##16(void *p) {                                                                             \
        load_store((uintptr_t)p, 8, WRITE, HERE);                                                                      \
        load_store((uintptr_t)p + 8, 8, WRITE, HERE);                                                                  \
    }
ACCESS16(read, 0)
ACCESS16(write, 1)
ACCESS16(unaligned_read, 0)
ACCESS16(unaligned_write, 1)
ACCESS16(volatile_read, 0)
ACCESS16(volatile_write, 1)
ACCESS16(unaligned_volatile_read, 0)
ACCESS16(unaligned_volatile_write, 1)
ACCESS16(read_write, 1)
ACCESS16(unaligned_read_write, 1)

HOOK void __tsan_read_range(void *p, unsigned long size) { race_load_store(p, size, 0, HERE); }
HOOK void __tsan_write_range(void *p, unsigned long size) { race_load_store(p, size, 1, HERE); }
/* uninstrumented.h */
HOOK void rma_race_read(void *p, unsigned long size) { race_load_store(p, size, 0, HERE); }
HOOK void rma_race_wrote(void *p, unsigned long size) { race_load_store(p, size, 1, HERE); }
HOOK void rma_race_masked(void *p, const void *mask, unsigned long len, unsigned long size, int write) {
    const signed char *bytes = mask;
    for (unsigned long i = 0; i < len; i += size)
        if (bytes[i + size - 1] < 0) race_load_store((char *)p + i, size, write, HERE);
}
HOOK void rma_race_unseen(void) {} /* unseen.h */
HOOK void __tsan_vptr_read(void **p) { load_store((uintptr_t)p, sizeof *p, 0, HERE); }
HOOK void __tsan_vptr_update(void **p, void *value) {
    if (*p != value)
        load_store((uintptr_t)p, sizeof *p, 1, HERE); /* destructors store the value that is already there */
}

/* inline.h: the first ones are for programs that were compiled before there were sites. */
static inline struct race_cell *cell_at(struct race_cell *cells, uintptr_t offset) {
    return (struct race_cell *)((char *)cells + offset * (sizeof *cells / 8));
}
HOOK void rma_race_first_read8(uintptr_t addr, uintptr_t offset, race_epoch me, struct race_cell *cells) {
    first_read8(cell_at(cells, offset), addr, me, HERE);
}
HOOK void rma_race_first_write8(uintptr_t addr, uintptr_t offset, race_epoch me, struct race_cell *cells) {
    first_write8(cell_at(cells, offset), addr, me, HERE);
}

static __attribute__((noinline)) void begin(struct race_site *site, uintptr_t addr, size_t size, int write,
                                            uintptr_t pc, uintptr_t frame) {
    load_store(addr, size, write, pc);
    race_run_begins(site, addr, size, write, pc, frame);
}
/* With the offset of the access's cell. */
#define AT(SIZE, NAME, WRITE, FIRST)                                                                                   \
    HOOK void rma_race_at_##NAME##SIZE(uintptr_t addr, uintptr_t offset, race_epoch me, struct race_cell *cells,       \
                                       struct race_site *site) {                                                       \
        struct race_cell *c = cell_at(cells, offset);                                                                  \
        (void)me;                                                                                                      \
        if (__builtin_expect(race_run_is_due(site, addr, SIZE), 0))                                                    \
            begin(site, addr, SIZE, WRITE, HERE, (uintptr_t)__builtin_frame_address(0));                               \
        else                                                                                                           \
            FIRST;                                                                                                     \
    }
AT(1, read, 0, first_of_part(c, addr, race_mask(addr, 1), 0, HERE))
AT(1, write, 1, first_of_part(c, addr, race_mask(addr, 1), 1, HERE))
AT(2, read, 0, first_of_part(c, addr, race_mask(addr, 2), 0, HERE))
AT(2, write, 1, first_of_part(c, addr, race_mask(addr, 2), 1, HERE))
AT(4, read, 0, first_of_part(c, addr, race_mask(addr, 4), 0, HERE))
AT(4, write, 1, first_of_part(c, addr, race_mask(addr, 4), 1, HERE))
AT(8, read, 0, first_read8(c, addr, me, HERE))
AT(8, write, 1, first_write8(c, addr, me, HERE))

/* The instrumentation's other calls. A function's name is found from any place in it. */
HOOK void __tsan_init(void) {}
HOOK void __tsan_func_entry(void *caller) { (void)caller; }
HOOK void __tsan_func_exit(void) {}
HOOK void __tsan_ignore_thread_begin(void) {}
HOOK void __tsan_ignore_thread_end(void) {}
#pragma GCC diagnostic pop
