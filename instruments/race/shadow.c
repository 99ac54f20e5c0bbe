/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "config.h"

#include "instruments/race/shadow.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "instruments/race/flow.h"
#include "instruments/race/job.h"
#include "instruments/race/remote.h"
#include "instruments/race/report.h"
#include "instruments/race/runs.h"
#include "instruments/race/spin.h"

#define BYTE(i) (~RACE_MASK | (race_epoch)1 << (i))
struct race_window race_window = {
    .half_bits = {~(race_epoch)0xf0, ~(race_epoch)0x0f},
    .byte_bits = {BYTE(0), BYTE(1), BYTE(2), BYTE(3), BYTE(4), BYTE(5), BYTE(6), BYTE(7)},
    .pair_bits = {BYTE(0) | BYTE(1), BYTE(2) | BYTE(3), BYTE(4) | BYTE(5), BYTE(6) | BYTE(7)},
};

/* ---- huge pages ---- */

/* Single words that a PE accesses all over the memory of others miss the TLB twice, for the word and for its cell. So
 * where such accesses are frequent the cells get huge pages. The kernel takes milliseconds for each, so there must have
 * been tens of thousands of accesses, of changing pages. */
#define SAMPLE   16
#define FREQUENT 2048
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
void race_cell_is_used(const struct race_cell *c) {
    static __thread uint32_t n;
    static __thread struct {
        uintptr_t page, huge;
        uint32_t changes;
    } seen[256];
    const uintptr_t at = (uintptr_t)c, huge = at / RACE_HUGE_PAGE;
    if (++n % SAMPLE) return;
    if (seen[huge % 256].huge != huge) {
        seen[huge % 256].huge = huge;
        seen[huge % 256].changes = 0;
    }
    if (seen[huge % 256].page == at >> 12 || seen[huge % 256].changes > FREQUENT) return;
    seen[huge % 256].page = at >> 12;
    if (++seen[huge % 256].changes == FREQUENT) {
        const int kept = errno;
        (void)madvise((void *)(huge * RACE_HUGE_PAGE), RACE_HUGE_PAGE, MADV_COLLAPSE); /* not all kernels have it */
        errno = kept;
    }
}

/* ---- finding cells ---- */

#define LIKELY(x) __builtin_expect(!!(x), 1)

static struct race_cell *private_cells(uintptr_t addr, int make) {
    struct race_cell **chunk, *cells, *old = NULL;
    if (!race_window.chunks || addr >> 47) return NULL;
    chunk = &race_window.chunks[addr >> RACE_CHUNK_SHIFT];
    cells = __atomic_load_n(chunk, __ATOMIC_ACQUIRE);
    if (!cells && make) {
        cells = mmap(NULL, RACE_CHUNK / 8 * sizeof *cells, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (cells == MAP_FAILED) return NULL;
        /* Release: the other threads of the process see pages of zeros. */
        if (!__atomic_compare_exchange_n(chunk, &old, cells, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            munmap(cells, RACE_CHUNK / 8 * sizeof *cells);
            cells = old;
        }
    }
    return cells ? cells + (addr & (RACE_CHUNK - 1)) / 8 : NULL;
}

/* Attached regions of private memory. A PE may have millions of them, so a table has an entry for each chunk of the
 * address space that a region touches. */
struct region {
    uintptr_t base;
    size_t size;
    uint64_t offset;
};
static struct touched {
    uintptr_t chunk;
    struct region *region;
    struct touched *next;
} * *regions; /* NULL until something is attached */
#define REGION_BUCKETS ((size_t)1 << 16)
size_t race_n_regions;
static uint32_t regions_lock;

static struct touched **bucket_of(uintptr_t chunk) { return &regions[chunk * 0x9e3779b97f4a7c15u >> 48]; }

static int attached_offset(uintptr_t addr, uint64_t *offset, size_t *together) {
    const struct touched *t;
    int found = 0;
    if (!race_has_regions()) return 0;
    race_spin_lock(&regions_lock);
    for (t = *bucket_of(addr >> RACE_CHUNK_SHIFT); t && !found; t = t->next)
        if (addr - t->region->base < t->region->size) {
            *offset = t->region->offset + (addr - t->region->base);
            *together = t->region->size - (addr - t->region->base);
            found = 1;
        }
    race_spin_unlock(&regions_lock);
    return found;
}

/* ---- exposed memory ---- */

/* A part of this process's address space in which another process's window of shared memory is mapped. */
static struct alias {
    uintptr_t here, there;
    size_t len;
    int pe;
} * aliases;
static size_t n_aliases;
int race_has_aliases;
static uint32_t aliases_lock;
static int any_exposed;

static struct race_cell *cells_of_arena(int pe, uint16_t arena) {
    return race_job.exposed + ((size_t)pe * race_job.arenas + arena - 1) * (RACE_ARENA / 8);
}

static uint16_t *arena_entry(int pe, uintptr_t addr) {
    return &race_job.arena_of[(size_t)pe * RACE_ARENAS_ALL + (addr >> RACE_ARENA_SHIFT)];
}

struct race_cell *race_cells_exposed(uintptr_t addr, int pe) {
    uint16_t arena;
    if (!race_job.arenas || addr >> 47) return NULL;
    arena = __atomic_load_n(arena_entry(pe, addr), __ATOMIC_ACQUIRE);
    return arena ? cells_of_arena(pe, arena) + (addr & (RACE_ARENA - 1)) / 8 : NULL;
}

/* Where the accesses to an address of this process are recorded. */
struct spot {
    struct race_cell *cells;
    size_t together; /* bytes from the address on whose cells follow contiguously */
    uintptr_t addr;  /* for the mask and the report: in attached memory the offset, else the address */
    int pe;          /* -1: private memory */
};

static int find_alias(uintptr_t addr, struct spot *s) {
    int found = 0;
    race_spin_lock(&aliases_lock);
    for (size_t i = 0; i < n_aliases && !found; i++)
        if (addr - aliases[i].here < aliases[i].len) {
            const size_t o = addr - aliases[i].here,
                         to_arena = RACE_ARENA - ((aliases[i].there + o) & (RACE_ARENA - 1));
            s->together = aliases[i].len - o < to_arena ? aliases[i].len - o : to_arena;
            s->addr = aliases[i].there + o;
            s->pe = aliases[i].pe;
            found = 1;
        }
    race_spin_unlock(&aliases_lock);
    return found;
}

static struct spot find(uintptr_t addr, int make) {
    struct spot s = {.addr = addr, .pe = race_job.my_pe};
    uintptr_t o = addr - race_window.heap;
    uint64_t offset;
    if (o < race_window.heap_len) {
        s.together = race_window.heap_len - o;
        s.cells = race_window.heap_cells + o / 8;
    } else if ((o = addr - race_window.statics) < race_window.statics_len) {
        s.together = race_window.statics_len - o;
        s.cells = race_window.statics_cells + o / 8;
    } else if ((o = addr - race_job.spaces) < race_job.spaces_len) {
        s.pe = race_job.node_pes[o / race_job.stride]; /* an address from shmem_ptr */
        o %= race_job.stride;
        if (o - race_job.second < race_job.second_len)
            s.together = race_job.second_len - (o - race_job.second);
        else
            s.together = o < race_job.second ? race_job.second - o : race_job.stride - o;
        s.cells = race_cells_at(o, 0, s.pe);
    } else if (attached_offset(addr, &offset, &s.together)) {
        s.addr = offset;
        s.cells = race_cells_at(offset, 0, s.pe);
    } else if (__atomic_load_n(&n_aliases, __ATOMIC_ACQUIRE) && find_alias(addr, &s)) {
        s.cells = race_cells_exposed(s.addr, s.pe);
    } else {
        s.together = RACE_CHUNK - (addr & (RACE_CHUNK - 1));
        s.cells = private_cells(addr, make && race_window.private_mode != RACE_PRIVATE_OFF);
        if (!race_is_exposed(s.cells)) {
            s.pe = -1;
            if (race_window.private_mode == RACE_PRIVATE_OFF) s.cells = NULL;
        }
    }
    return s;
}

struct race_cell *race_cells_at(uint64_t offset, size_t len, int pe) {
    if (offset - RACE_ATTACHED < RACE_ATTACHED_LEN && pe >= 0 && pe < race_job.n_pes)
        return race_job.attached ? race_job.attached + ((size_t)pe * RACE_ATTACHED_LEN + (offset - RACE_ATTACHED)) / 8
                                 : NULL;
    if (pe < 0 || pe >= race_job.n_pes || len > race_job.stride || offset > race_job.stride - len) return NULL;
    if (offset - race_job.second < race_job.second_len)
        return race_job.statics_cells + (size_t)pe * race_job.statics_stride + (offset - race_job.second) / 8;
    return race_job.cells + (size_t)pe * race_job.cells_stride + offset / 8;
}

/* The end of the committed part of the heap that contains this offset of the PE's own space. The first two words of a
 * space have this end for the two parts of its local heap (rma_inline.h). */
static uint64_t committed(uint64_t offset) {
    uint64_t end;
    if (offset < race_job.local)
        end = race_job.symmetric + __atomic_load_n(race_job.symmetric_size, __ATOMIC_RELAXED);
    else
        end = __atomic_load_n((size_t *)race_job.space + (offset >= race_job.guest), __ATOMIC_ACQUIRE);
    return offset < end ? end : offset;
}

int race_is_committed(uintptr_t addr, size_t len) {
    uintptr_t o = addr - race_job.space;
    if (len > (size_t)1 << 40) return 0;
    return o - race_job.symmetric >= race_job.stride || len <= committed(o) - o;
}

struct race_cell *race_cells_of(uintptr_t addr, size_t len, int pe) {
    uintptr_t o = addr - race_job.space;
    if (pe < 0 || pe >= race_job.n_pes || !race_is_committed(addr, len)) return NULL;
    if (o < race_job.stride) return race_cells_at(o, len, pe);
    o = addr - race_job.statics;
    if (len <= race_job.statics_len && o <= race_job.statics_len - len)
        return race_job.statics_cells + (size_t)pe * race_job.statics_stride + o / 8;
    return NULL;
}

/* Checks all addresses if private memory must be checked, because of the mode or of attached regions. Hooks of other
 * threads may read between the two stores: either word alone is safe, and a thread learns of a change from its own
 * actions. */
static void look_at_others(void) {
    int private = race_window.private_mode != RACE_PRIVATE_OFF || race_n_regions > 0 || any_exposed;
    race_window.others = private ? 0 : race_job.spaces;
    race_window.others_len = private ? SIZE_MAX : race_job.spaces_len;
}

/* Other threads of the program may be running: the cells exist before the lengths say so, and stay. */
void race_look_at(int on) {
    if (!on) {
        race_window.heap_len = race_window.statics_len = race_window.others_len = 0;
        race_window.private_mode = RACE_PRIVATE_OFF;
        return;
    }
    race_window.heap = race_job.space + race_job.symmetric;
    race_window.heap_cells = race_job.cells + (size_t)race_job.my_pe * race_job.cells_stride + race_job.symmetric / 8;
    race_window.statics = race_job.statics;
    race_window.statics_cells = race_job.statics_cells + (size_t)race_job.my_pe * race_job.statics_stride;
    __atomic_store_n(&race_window.heap_len, race_job.stride - race_job.symmetric, __ATOMIC_RELEASE);
    __atomic_store_n(&race_window.statics_len, race_job.statics_len, __ATOMIC_RELEASE);
    look_at_others();
}

static int make_chunks(void) {
    const size_t len = ((size_t)1 << (47 - RACE_CHUNK_SHIFT)) * sizeof *race_window.chunks;
    void *p;
    if (race_window.chunks) return 0;
    p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return -1;
    madvise(p, len, MADV_NOHUGEPAGE);
    race_window.chunks = p;
    return 0;
}

void race_private_mode(enum race_private mode) {
    if (mode == RACE_PRIVATE_ALL) race_runs_end(); /* a second thread begins */
    if (mode != RACE_PRIVATE_OFF && make_chunks()) return;
    race_window.private_mode = mode;
    look_at_others();
}

/* The arena of an address of this process, which gets one if it has none; 0: there are no more. */
static uint16_t make_arena(uintptr_t addr) {
    static uint16_t made;
    uint16_t *entry = arena_entry(race_job.my_pe, addr);
    if (!*entry && made < race_job.arenas) __atomic_store_n(entry, ++made, __ATOMIC_RELEASE);
    return *entry;
}

/* A chunk that has private cells gets shared ones with the same content: it may be a buffer of an operation. */
int race_expose(uintptr_t base, size_t len) {
    static uint32_t lock;
    int all = 1;
    if (!len || !race_job.arenas || (base + len) >> 47 || make_chunks()) return !len;
    race_spin_lock(&lock);
    for (uintptr_t at = base & ~(RACE_CHUNK - 1); at < base + len && all; at += RACE_CHUNK) {
        struct race_cell **chunk = &race_window.chunks[at >> RACE_CHUNK_SHIFT], *had = *chunk, *cells;
        if (race_is_exposed(had)) continue;
        if (!make_arena(at)) {
            all = 0;
            break;
        }
        cells = race_cells_exposed(at, race_job.my_pe);
        if (had) memcpy(cells, had, RACE_CHUNK / 8 * sizeof *cells);
        __atomic_store_n(chunk, cells, __ATOMIC_RELEASE);
    }
    any_exposed = 1;
    race_spin_unlock(&lock);
    look_at_others();
    return all;
}

void race_alias(uintptr_t here, size_t len, int pe, uintptr_t there) {
    struct alias *more;
    if (!len || pe == race_job.my_pe) return;
    race_spin_lock(&aliases_lock);
    if ((more = realloc(aliases, (n_aliases + 1) * sizeof *more))) {
        aliases = more;
        aliases[n_aliases] = (struct alias){.here = here, .there = there, .len = len, .pe = pe};
        race_has_aliases = 1;
        __atomic_store_n(&n_aliases, n_aliases + 1, __ATOMIC_RELEASE);
    }
    race_spin_unlock(&aliases_lock);
}

void race_unalias_of(int pe, uintptr_t there) {
    race_spin_lock(&aliases_lock);
    for (size_t i = 0; i < n_aliases; i++)
        if (aliases[i].pe == pe && aliases[i].there == there) {
            aliases[i] = aliases[n_aliases - 1];
            __atomic_store_n(&n_aliases, n_aliases - 1, __ATOMIC_RELEASE);
            break;
        }
    race_spin_unlock(&aliases_lock);
}

/* The cells need no clearing: an offset is reused as late as possible (rma_detach). */
void race_attach(uintptr_t base, size_t size, uint64_t offset) {
    struct region *r = malloc(sizeof *r);
    if (!r) return;
    *r = (struct region){.base = base, .size = size, .offset = offset};
    race_spin_lock(&regions_lock);
    if (!regions) regions = calloc(REGION_BUCKETS, sizeof(struct touched *));
    for (uintptr_t chunk = base >> RACE_CHUNK_SHIFT; regions && chunk <= (base + size - 1) >> RACE_CHUNK_SHIFT;
         chunk++) {
        struct touched *t = malloc(sizeof *t);
        if (!t) break; /* accesses of the rest are not checked */
        *t = (struct touched){.chunk = chunk, .region = r, .next = *bucket_of(chunk)};
        *bucket_of(chunk) = t;
    }
    if (regions) __atomic_fetch_add(&race_n_regions, 1, __ATOMIC_RELEASE);
    race_spin_unlock(&regions_lock);
    race_private_mode(race_window.private_mode);
}

static struct region *region_of(uintptr_t base) {
    for (const struct touched *t = *bucket_of(base >> RACE_CHUNK_SHIFT); t; t = t->next)
        if (t->region->base == base) return t->region;
    return NULL;
}

uint64_t race_detach(uintptr_t base) {
    struct region *r;
    uint64_t offset = 0;
    if (!race_has_regions()) return 0;
    race_spin_lock(&regions_lock);
    r = region_of(base);
    for (uintptr_t chunk = base >> RACE_CHUNK_SHIFT; r && chunk <= (base + r->size - 1) >> RACE_CHUNK_SHIFT; chunk++)
        for (struct touched **p = bucket_of(chunk); *p; p = &(*p)->next)
            if ((*p)->region == r && (*p)->chunk == chunk) {
                struct touched *t = *p;
                *p = t->next;
                free(t);
                break;
            }
    if (r) {
        offset = r->offset;
        free(r);
        __atomic_fetch_sub(&race_n_regions, 1, __ATOMIC_RELEASE);
    }
    race_spin_unlock(&regions_lock);
    race_private_mode(race_window.private_mode);
    return offset;
}

/* ---- one access ---- */

int race_own(void) { return race_job.native; }

/* Whether the access is a put of this process that its thread has begun before. */
static __attribute__((noinline)) int is_own_put(race_epoch e, const struct race_who *who) {
    const struct race_flow *f = race_flow_of(RACE_ACTOR(e));
    return f && race_actor_kind(f->actor) != RACE_PENDING &&
           (f->thread == RACE_ANYBODY || who->clock[f->thread] >= RACE_COUNT(e));
}

static __attribute__((noinline)) int is_fenced(race_epoch e, const struct race_who *who) {
    const struct race_flow *f = race_flow_of(RACE_ACTOR(e));
    return f && f->context == who->fences && f->pe == who->fences_to && race_flow_fenced(f) >= RACE_COUNT(e);
}

static int happens_before(race_epoch e, const struct race_who *who) {
    return who->clock[RACE_ACTOR(e)] >= RACE_COUNT(e) || (who->fences && is_fenced(e, who)) ||
           (who->own && is_own_put(e, who));
}

static int record_before(const struct race_record *r, const struct race_who *who) {
    if (happens_before(r->epoch, who)) return 1;
    for (int i = 0; i < RACE_SEEN && r->seen[i].count; i++)
        if (r->seen[i].actor == RACE_MANY || who->clock[r->seen[i].actor] >= r->seen[i].count) return 1;
    return 0;
}

static __attribute__((noinline)) int related(race_epoch a, race_epoch b) {
    const enum race_type s = RACE_TYPE(a), t = RACE_TYPE(b);
    const int signals = (s >= RACE_SIGNAL_SET) + (t >= RACE_SIGNAL_SET);
    const enum race_op o = RACE_OP(a), p = RACE_OP(b);
    if (race_job.arenas)
        return RACE_ELEMENT(a) == RACE_ELEMENT(b) &&
               (o == p || o <= RACE_NO_OP || p <= RACE_NO_OP || /* RACE_ANY_OP or RACE_NO_OP */
                RACE_ACTOR(a) == RACE_ACTOR(b));                /* ordered among themselves (MPI-3.1, 11.7.2) */
    if (s == RACE_ANY_TYPE || t == RACE_ANY_TYPE || signals == 1) return 1;
    return s == t && (signals || !((a ^ b) & RACE_SHARED_TEAM));
}

/* Whether two overlapping accesses are atomic towards each other. */
static int indivisible(race_epoch a, race_epoch b) {
    return (a & RACE_KIND) != RACE_PLAIN && (b & RACE_KIND) != RACE_PLAIN && (a & RACE_MASK) == (b & RACE_MASK) &&
           (LIKELY(!((a ^ b) & RACE_FAMILY)) || related(a, b));
}

/* The lock of a cell. It is the same in every process, whatever the cell's address there, and the same for neighbours:
 * the words of a node that another PE has used come with one lock. */
#define NEIGHBOURS 8
static uint32_t *lock_of(const struct race_cell *cell) {
    uintptr_t at = (uintptr_t)cell - (uintptr_t)race_job.map;
    if (at >= race_job.map_len) at = (uintptr_t)cell;
    return &race_job.header->locks[(at / sizeof *cell / NEIGHBOURS * 0x9e3779b97f4a7c15u >> 40) % RACE_LOCKS].word;
}

/* ---- lists ---- */

static struct race_list *list_at(uint32_t number) { return &race_job.lists[number]; }

/* 1 + the number of a cell's first list, or 0. Loaded only once: a store without the lock (access.c) may change it. */
static uint32_t first_list(const struct race_cell *c) {
    race_epoch w = __atomic_load_n(&c->write, __ATOMIC_RELAXED);
    return w & RACE_LONG ? (uint32_t)(w >> 32) : 0;
}

/* 1 + the number of a list, or 0 when there are no more. */
static uint32_t new_list(void) {
    struct race_header *h = race_job.header;
    uint32_t number;
    race_spin_lock(&h->free_lock);
    number = h->free_list;
    if (number)
        h->free_list = list_at(number - 1)->next;
    else if (h->long_lists < RACE_LISTS_MOST)
        number = ++h->long_lists;
    race_spin_unlock(&h->free_lock);
    if (number) memset(list_at(number - 1), 0, sizeof(struct race_list));
    return number;
}

static void free_lists(uint32_t number) {
    struct race_header *h = race_job.header;
    uint32_t last = number;
    if (!number) return;
    while (list_at(last - 1)->next) last = list_at(last - 1)->next;
    race_spin_lock(&h->free_lock);
    list_at(last - 1)->next = h->free_list;
    h->free_list = number;
    race_spin_unlock(&h->free_lock);
}

#define RECORDS_MOST 160

/* The place of an access in a cell. Who records an access without the lock stores the place after the epoch: so it is 0
 * for a moment if the access is the cell's first, and longer if that thread has lost its processor in between. A thread
 * does not wait for itself, which a signal handler has interrupted. */
#define LOOKS_WITHOUT_YIELD 100
#define LOOKS_MOST          100000
static uint32_t place_in(const uint32_t *at, race_epoch e) {
    uint32_t place;
    for (int looks = 0; !(place = __atomic_load_n(at, __ATOMIC_RELAXED)) && looks < LOOKS_MOST; looks++) {
        if (race_me && race_actor_thread(RACE_ACTOR(e)) == race_me->actor) break;
        if (looks > LOOKS_WITHOUT_YIELD) sched_yield();
    }
    return place;
}

/* The accesses of a cell without lists, whose words are w and r. */
static int gather_words(const struct race_cell *c, race_epoch w, race_epoch r, struct race_record *records) {
    int n = 0;
    for (int write = 1; write >= 0; write--) {
        race_epoch e = write ? w : r;
        const uint32_t *at = write ? c->write_at : c->read_at;
        uint32_t places[2], writes = (uint32_t)write;
        if (!e || e & RACE_LONG) continue;
        if ((e & RACE_KIND) == RACE_SECOND) { /* another access of the other word's kind */
            e = (e & ~RACE_KIND) | (write ? RACE_PLAIN : RACE_ATOMIC);
            writes = !write;
        }
        for (int half = 0; half < 2; half++) places[half] = e & (half ? 0xf0 : 0x0f) ? place_in(&at[half], e) : 0;
        /* One record if both halves have the same place; an atomic is always one record. */
        if (e & 0x0f && e & 0xf0 && (places[0] == places[1] || (e & RACE_KIND) != RACE_PLAIN)) {
            records[n++] = (struct race_record){.epoch = e, .place = places[0], .write = writes};
            continue;
        }
        for (int half = 0; half < 2; half++)
            if (e & (half ? 0xf0 : 0x0f))
                records[n++] = (struct race_record){
                    .epoch = (e & ~RACE_MASK) | (e & (half ? 0xf0 : 0x0f)), .place = places[half], .write = writes};
    }
    return n;
}

/* Collects the accesses of a cell. Returns their number. */
static int gather(const struct race_cell *c, struct race_record *records) {
    const race_epoch w = __atomic_load_n(&c->write, __ATOMIC_RELAXED);
    int n = 0;
    if (!(w & RACE_LONG)) return gather_words(c, w, __atomic_load_n(&c->read, __ATOMIC_RELAXED), records);
    for (uint32_t i = first_list(c); i; i = list_at(i - 1)->next)
        for (uint32_t k = 0; k < list_at(i - 1)->n && n < RECORDS_MOST; k++) records[n++] = list_at(i - 1)->records[k];
    return n;
}

/* Takes the accesses out, under the cell's lock. Until scatter puts them back, a thread without the lock finds a list,
 * for which it needs the lock. So nothing that it writes is lost; losing what an atomic tells would cause a false
 * report. Places may be those of an access that has just been replaced. */
static int take(struct race_cell *c, struct race_record *records) {
    race_epoch w, r;
    if (c->write & RACE_LONG) return gather(c, records);
    w = __atomic_exchange_n(&c->write, RACE_LONG, __ATOMIC_ACQ_REL);
    r = __atomic_exchange_n(&c->read, 0, __ATOMIC_ACQ_REL);
    return gather_words(c, w, r, records);
}

/* A pair of accesses that a cell holds without a list: typical of counters and tables that two PEs update. */
static int two_atomic_writes(const struct race_record *a, const struct race_record *b) {
    race_epoch same = a->epoch ^ b->epoch;
    return a->write && b->write && (a->epoch & RACE_KIND) == RACE_ATOMIC &&
           !(same & (RACE_KIND | RACE_FAMILY | RACE_MASK)) && !a->seen[0].count && !b->seen[0].count;
}

/* The same for two readers. */
static int two_reads(const struct race_record *a, const struct race_record *b) {
    return !a->write && !b->write && !((a->epoch | b->epoch) & RACE_KIND) && !a->seen[0].count && !b->seen[0].count &&
           RACE_ACTOR(a->epoch) != RACE_ACTOR(b->epoch);
}

/* Puts the accesses back into the cell: into its two words if these suffice, else into lists. */
static void scatter(struct race_cell *c, const struct race_record *records, int n) {
    uint32_t first = 0, had = first_list(c);
    struct race_cell small = {0};
    int fits = 1;
    if (n == 2 && (two_atomic_writes(&records[0], &records[1]) || two_reads(&records[0], &records[1]))) {
        small.write = records[0].epoch | (records[0].write ? 0 : RACE_SECOND);
        small.read = (records[1].epoch & ~RACE_KIND) | (records[0].write ? RACE_SECOND : RACE_PLAIN);
        for (int half = 0; half < 2; half++)
            small.write_at[half] = records[0].place, small.read_at[half] = records[1].place;
        n = 0;
    }
    for (int i = 0; i < n && fits; i++) {
        const struct race_record *r = &records[i];
        race_epoch *e = r->write ? &small.write : &small.read;
        uint32_t *at = r->write ? small.write_at : small.read_at;
        /* Atomics of two parts of the cell are two accesses, also where one call has made both. */
        if (r->seen[0].count ||
            (*e && ((*e & ~RACE_MASK) != (r->epoch & ~RACE_MASK) || (*e & RACE_KIND) != RACE_PLAIN)))
            fits = 0;
        for (int half = 0; half < 2; half++) {
            race_epoch mask = half ? 0xf0 : 0x0f;
            if (!(r->epoch & mask)) continue;
            if (*e & mask && at[half] != r->place) fits = 0;
            at[half] = r->place;
        }
        *e |= r->epoch;
    }
    if (!fits) {
        for (int i = n; i > 0;) { /* from the last list to the first */
            int k = (i - 1) % RACE_LIST_RECORDS + 1;
            uint32_t number = had; /* reuse the cell's own lists first */
            if (number)
                had = list_at(number - 1)->next;
            else if (!(number = new_list()))
                break;
            i -= k;
            list_at(number - 1)->n = (uint32_t)k;
            memcpy(list_at(number - 1)->records, records + i, (size_t)k * sizeof *records);
            list_at(number - 1)->next = first;
            first = number;
        }
        small = (struct race_cell){.write = RACE_LONG | (race_epoch)first << 32};
    }
    c->read_at[0] = small.read_at[0], c->read_at[1] = small.read_at[1];
    c->write_at[0] = small.write_at[0], c->write_at[1] = small.write_at[1];
    __atomic_store_n(&c->read, small.read, __ATOMIC_RELAXED);
    __atomic_store_n(&c->write, small.write, __ATOMIC_RELEASE);
    free_lists(had);
}

/* Whether a cell's list has this access. */
static int in_list(const struct race_cell *c, race_epoch me, int write) {
    for (uint32_t i = first_list(c); i; i = list_at(i - 1)->next)
        for (uint32_t k = 0; k < list_at(i - 1)->n; k++) {
            const struct race_record *r = &list_at(i - 1)->records[k];
            if (r->epoch == me && (int)r->write == write) return 1;
        }
    return 0;
}

/* ---- checking and recording ---- */

/* The common cases on a word that several PEs use: the cell's list has the access itself; or it has the same actor's
 * older atomic or read of this kind and these bytes, and no access in the list races with the new one or is superseded
 * by it: then the new access replaces the older one. A plain read supersedes other reads only to save room, so those
 * stay. Returns 1 if nothing remains to be done. */
static int renew(struct race_cell *c, race_epoch mask, race_epoch me, int write, uint32_t place,
                 const struct race_who *who) {
    struct race_record *older = NULL;
    if (write && (me & RACE_KIND) == RACE_PLAIN) return in_list(c, me, write);
    for (uint32_t i = first_list(c); i; i = list_at(i - 1)->next)
        for (uint32_t k = 0; k < list_at(i - 1)->n; k++) {
            struct race_record *r = &list_at(i - 1)->records[k];
            if ((int)r->write == write && !((r->epoch ^ me) & UINT32_MAX)) {
                if (r->epoch == me) return 1;
                older = r;
                if (!r->seen[0].count) continue;
            } else if (!race_known_to_all(r->epoch) && !(write && r->write) &&
                       (!(r->epoch & mask) || !(write || r->write) || indivisible(r->epoch, me) ||
                        record_before(r, who)))
                continue;
            return in_list(c, me, write);
        }
    if (!older) return 0;
    older->epoch = me;
    older->place = place;
    return 1;
}

/* The cell has one PE's atomic write, and this is another's, which conflicts with nothing. Returns 1 if it is recorded
 * beside the first one. Under the lock, so that a list that is being made loses nothing. */
static int is_second(struct race_cell *c, race_epoch me, int write, uint32_t place, const struct race_who *who) {
    const race_epoch w = __atomic_load_n(&c->write, __ATOMIC_RELAXED), r = __atomic_load_n(&c->read, __ATOMIC_RELAXED);
    if (!write || (me & RACE_KIND) != RACE_ATOMIC || w & RACE_LONG || RACE_ACTOR(w) == RACE_ACTOR(me) ||
        (w ^ me) & (RACE_KIND | RACE_FAMILY | RACE_MASK) || (who->own && is_own_put(w, who)))
        return 0;
    if (r && !race_known_to_all(r)) return 0;
    if (!race_replace(&c->read, r, (me & ~RACE_KIND) | RACE_SECOND)) return 0;
    race_place_into(c->read_at, RACE_MASK, place);
    return 1;
}

static void full(struct race_cell *c, race_epoch mask, race_epoch kind, int write, uint32_t place,
                 const struct race_who *who, struct race_where where) {
    struct race_record records[RECORDS_MOST + 1], old;
    race_epoch me = who->epoch | kind | mask;
    struct race_who strict = *who; /* an access that is ordered only for this process is kept */
    uint32_t *word = lock_of(c);
    int n, kept = 0, found = 0;
    strict.own = 0;
    race_spin_lock(word);
    if (renew(c, mask, me, write, place, who) || is_second(c, me, write, place, who)) {
        race_spin_unlock(word);
        return;
    }
    n = take(c, records);
    for (int i = 0; i < n; i++) {
        struct race_record r = records[i];
        race_epoch both = r.epoch & mask;
        int before = record_before(&r, who), same = r.epoch == me && (int)r.write == write;
        if (both && !before && (write || r.write) && !indivisible(r.epoch, me) && !same && !found) old = r, found = 1;
        /* A thread that knows of an actor's later atomic also knows of the earlier one and of what it told. */
        if (both && kind != RACE_PLAIN)
            before = RACE_ACTOR(r.epoch) == RACE_ACTOR(me) || (before && record_before(&r, &strict));
        if (race_known_to_all(r.epoch)) continue;
        /* The new access replaces an older access of the same bytes that happens before it (or has just been reported),
         * if the older one conflicts with nothing that the new one does not conflict with. */
        if (both && (before || same || (found && r.epoch == old.epoch)) && (write || !r.write) &&
            (kind == RACE_PLAIN || ((r.epoch & (RACE_KIND | RACE_FAMILY)) == kind && (int)r.write == write)) &&
            (kind == RACE_PLAIN || (r.epoch & RACE_MASK) == mask))
            r.epoch &= ~mask;
        if (r.epoch & RACE_MASK) records[kept++] = r;
    }
    if (kept == RECORDS_MOST) kept--; /* more readers than a list may have: the last one is dropped */
    records[kept++] = (struct race_record){.epoch = me, .place = place, .write = (uint32_t)write};
    scatter(c, records, kept);
    race_spin_unlock(word);
    if (found) race_report(&old, mask, kind, write, place, who, where);
}

/* Whether an access's new bytes can join an access in the same cell: they need the same epoch, and no half may have two
 * places. */
static int joins(race_epoch old, race_epoch me, race_epoch mask, const uint32_t at[2], uint32_t place) {
    if ((old & ~RACE_MASK) != (me & ~RACE_MASK)) return 0;
    for (int half = 0; half < 2; half++) {
        race_epoch bytes = half ? 0xf0 : 0x0f;
        if (mask & bytes && old & bytes & ~mask && at[half] != place) return 0;
    }
    return 1;
}

/* All of a cell of private memory of a process with one thread: nobody else changes the cell. */
static int is_alone_in(struct race_cell *c, race_epoch w, race_epoch r, race_epoch me, int write, uint32_t place,
                       const struct race_who *who) {
    if ((me & (RACE_KIND | RACE_FAMILY)) || (me & RACE_MASK) != RACE_MASK) return 0;
    if ((w && (w & RACE_LONG || !happens_before(w, who))) || (r && !happens_before(r, who))) return 0;
    c->read = write ? 0 : me;
    if (write) c->write = me;
    race_place_into(write ? c->write_at : c->read_at, RACE_MASK, place);
    return 1;
}

/* A cell with two readers: a later read by one of them. */
static int is_reader(struct race_cell *c, race_epoch w, race_epoch r, race_epoch me, uint32_t place) {
    const int first = !((w ^ me ^ RACE_SECOND) & UINT32_MAX);
    if (!first && (r ^ me) & UINT32_MAX) return 0;
    if (!race_replace(first ? &c->write : &c->read, first ? w : r, first ? me | RACE_SECOND : me)) return 0;
    race_place_into(first ? c->write_at : c->read_at, me & RACE_MASK, place);
    return 1;
}

static void access_cell(struct race_cell *c, race_epoch mask, race_epoch kind, int write, uint32_t place,
                        const struct race_who *who, struct race_where where) {
    race_epoch w = __atomic_load_n(&c->write, __ATOMIC_RELAXED), r = __atomic_load_n(&c->read, __ATOMIC_RELAXED);
    race_epoch me = who->epoch | kind | mask;
    if (where.pe < 0 && race_alone && is_alone_in(c, w, r, me, write, place, who)) return;
    if (w & RACE_LONG) {
        full(c, mask, kind, write, place, who, where);
        return;
    }
    if (kind != RACE_PLAIN) {
        /* An atomic replaces one of the same thread, or an older one, of the same kind and bytes. */
        race_epoch old = write ? w : r, like = kind | mask;
        int kept =
            !old || race_known_to_all(old) ||
            ((old & (RACE_KIND | RACE_FAMILY | RACE_MASK)) == like &&
             (RACE_ACTOR(old) == RACE_ACTOR(me) || (!(who->own && is_own_put(old, who)) && happens_before(old, who))));
        race_epoch second = (me & ~RACE_KIND) | RACE_SECOND;
        if (old == me) return;
        if (write && (r & RACE_KIND) == RACE_SECOND && w && !((r ^ second) & UINT32_MAX) && indivisible(w, me)) {
            /* The same actor's older atomic write of the same bytes. */
            if (race_replace(&c->read, r, second)) {
                race_place_into(c->read_at, mask, place);
                return;
            }
        } else if (kept && (!w || indivisible(w, me) || happens_before(w, who)) &&
                   (!write || !r || indivisible(r, me) || happens_before(r, who))) {
            if (race_replace(write ? &c->write : &c->read, old, me)) {
                race_place_into(write ? c->write_at : c->read_at, mask, place);
                return;
            }
        }
        full(c, mask, kind, write, place, who, where);
        return;
    }
    if (write) {
        int w_before = !w || happens_before(w, who), r_before = !r || happens_before(r, who);
        if (LIKELY(w_before && r_before)) {
            if (LIKELY(!((w | r) & RACE_MASK & ~mask))) {
                if (LIKELY((!r || race_replace(&c->read, r, 0)) && race_replace(&c->write, w, me))) {
                    race_place_into(c->write_at, mask, place);
                    return;
                }
            } else if (!(r & RACE_MASK & mask) && joins(w, me, mask, c->write_at, place)) {
                if (race_replace(&c->write, w, w | mask)) {
                    race_place_into(c->write_at, mask, place);
                    return;
                }
            } else if (!w && !(r & mask)) { /* only other bytes have been read */
                if (race_replace(&c->write, w, me)) {
                    race_place_into(c->write_at, mask, place);
                    return;
                }
            }
        }
    } else if ((w & RACE_KIND) == RACE_SECOND) {
        if (is_reader(c, w, r, me, place)) return;
    } else if (!(w & mask) || LIKELY(happens_before(w, who))) {
        if (LIKELY(!r || (happens_before(r, who) && !(r & RACE_MASK & ~mask) && (r & RACE_KIND) != RACE_SECOND))) {
            if (LIKELY(race_replace(&c->read, r, me))) {
                race_place_into(c->read_at, mask, place);
                return;
            }
        } else if (joins(r, me, mask, c->read_at, place)) {
            if (race_replace(&c->read, r, r | mask)) {
                race_place_into(c->read_at, mask, place);
                return;
            }
        }
    }
    full(c, mask, kind, write, place, who, where);
}

/* ---- strips ---- */

static int has_strips(const struct race_cell *c) {
    return race_job.strips && (uintptr_t)c - (uintptr_t)race_job.cells < race_job.stripped;
}
static struct race_strip *strip_of(const struct race_cell *c) {
    return &race_job.strips[(size_t)(c - race_job.cells) / (RACE_STRIP / 8)];
}
static race_epoch *others_of(const struct race_cell *c) {
    return &race_job.others[(size_t)(c - race_job.cells) / (RACE_PAGE / 8)];
}

/* Whether an access must leave its mark: by another actor than the owner's first thread. */
static inline int is_foreign(const struct race_cell *c, const struct race_who *who, int pe) {
    return RACE_ACTOR(who->epoch) != (uint32_t)pe && has_strips(c);
}

/* Before the access: a compare-and-swap, which also orders it before the look at the strip. An actor that comes again
 * leaves a count that it has not reached yet, so that it need not do so each time. Until the owner knows that count it
 * looks at the cells. */
#define AGAIN 3
static void enter_page(race_epoch *others, const struct race_who *who) {
    race_epoch e = __atomic_load_n(others, __ATOMIC_RELAXED), new;
    do {
        if (e == RACE_UNORDERED) return;
        if (RACE_ACTOR(e) == RACE_ACTOR(who->epoch) && e) {
            if (RACE_COUNT(e) >= RACE_COUNT(who->epoch)) return;
            new = who->epoch;
            if (RACE_COUNT(new) < UINT32_MAX / (AGAIN + 1)) new += (who->epoch - e) * AGAIN;
        } else
            new = !e || who->clock[RACE_ACTOR(e)] >= RACE_COUNT(e) ? who->epoch : RACE_UNORDERED;
    } while (!__atomic_compare_exchange_n(others, &e, new, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
}

/* After the access. */
static void check_strip(const struct race_cell *c, race_epoch mask, race_epoch kind, int write, uint32_t place,
                        const struct race_who *who, struct race_where where) {
    const struct race_strip *s;
    struct race_record old;
    race_epoch w, r;
    if (who->clock[where.pe] >= __atomic_load_n(&race_job.header->strips[where.pe], __ATOMIC_ACQUIRE)) return;
    s = strip_of(c);
    w = __atomic_load_n(&s->write, __ATOMIC_ACQUIRE);
    r = __atomic_load_n(&s->read, __ATOMIC_ACQUIRE);
    if (LIKELY((!w || happens_before(w, who)) && (!write || !r || happens_before(r, who)))) return;
    old = w && !happens_before(w, who) ? (struct race_record){.epoch = w | RACE_MASK, .place = s->write_at, .write = 1}
                                       : (struct race_record){.epoch = r | RACE_MASK, .place = s->read_at};
    race_report(&old, mask, kind, write, place, who, where);
}

void race_strips_record(const struct race_cell *cells, size_t len, int write, uint32_t place) {
    __atomic_store_n(&race_job.header->strips[race_job.my_pe], race_me->count, __ATOMIC_RELAXED);
    for (struct race_strip *s = strip_of(cells), *end = s + len / RACE_STRIP; s < end; s++) {
        if (s->write == race_now || (!write && s->read == race_now)) continue;
        *(write ? &s->write_at : &s->read_at) = place;
        __atomic_store_n(write ? &s->write : &s->read, race_now, __ATOMIC_RELEASE);
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* with enter_page: either this thread sees the other access, or its actor
                                                sees this one */
}

int race_page_is_foreign(const struct race_cell *cell) {
    const race_epoch e = __atomic_load_n(others_of(cell), __ATOMIC_RELAXED);
    return e && (e == RACE_UNORDERED || race_me->clock[RACE_ACTOR(e)] < RACE_COUNT(e));
}

void race_access(struct race_cell *c, race_epoch mask, race_epoch kind, int write, uint32_t place,
                 const struct race_who *who, struct race_where where) {
    const int foreign = is_foreign(c, who, where.pe);
    if (foreign) enter_page(others_of(c), who);
    access_cell(c, mask, kind, write, place, who, where);
    if (foreign) check_strip(c, mask, kind, write, place, who, where);
}

/* A thread's access of private memory while it is the only thread: only pending operations can race with it. */
static void check_pending(struct race_cell *c, race_epoch mask, int write, uint32_t place, const struct race_who *who,
                          struct race_where where) {
    struct race_record records[RECORDS_MOST + 1];
    int n;
    if (!c->write && !c->read) return;
    n = gather(c, records);
    for (int i = 0; i < n; i++)
        if (records[i].epoch & mask && (write || records[i].write) && !record_before(&records[i], who)) {
            race_report(&records[i], mask, RACE_PLAIN, write, place, who, where);
            return;
        }
}

void race_range(struct race_cell *cells, uintptr_t addr, size_t len, int pe, race_epoch kind, int write, uint32_t place,
                const struct race_who *who) {
    struct race_where where = {.addr = addr, .pe = pe};
    int pending = pe < 0 && race_window.private_mode == RACE_PRIVATE_PENDING && race_me && who->epoch == race_now;
    const int foreign = is_foreign(cells, who, pe);
    const struct race_strip *strip = NULL;
    race_epoch *others = NULL;
    while (len) {
        size_t room = 8 - (where.addr & 7), part = room < len ? room : len;
        race_epoch mask = race_mask(where.addr, part);
        if (pending) {
            check_pending(cells, mask, write, place, who, where);
        } else {
            if (foreign && others_of(cells) != others) enter_page(others = others_of(cells), who);
            access_cell(cells, mask, kind, write, place, who, where);
            if (foreign && strip_of(cells) != strip)
                check_strip(cells, mask, kind, write, place, who, where), strip = strip_of(cells);
        }
        where.addr += part;
        len -= part;
        cells++;
    }
}

void race_local(const void *p, size_t len, race_epoch kind, int write, uint32_t place, const struct race_who *who) {
    uintptr_t addr = (uintptr_t)p;
    int operation = who->epoch != race_now;
    while (len) {
        struct spot s = find(addr, operation || race_window.private_mode == RACE_PRIVATE_ALL);
        size_t part = s.together < len ? s.together : len;
        if (s.cells) race_range(s.cells, s.addr, part, s.pe, kind, write, place, who);
        addr += part;
        len -= part;
    }
}

struct race_cell *race_cells(uintptr_t addr, size_t len, struct race_where *where) {
    struct spot s = find(addr, 1);
    *where = (struct race_where){.addr = s.addr, .pe = s.pe};
    return (s.addr & 7) + len <= 8 ? s.cells : NULL;
}

/* ---- memory that ends ---- */

struct race_cell *race_private_cells(uintptr_t addr) {
    return private_cells(addr, 0);
}

/* From this many bytes on, cells whose page was never touched are left alone: reading it would allocate it. */
#define LARGE ((size_t)1 << 16)

/* Whether the page of a cell has been touched. The answer holds for all cells of the page. */
static int is_touched(const struct race_cell *c) {
    unsigned char resident = 1;
    return mincore((void *)((uintptr_t)c & ~(uintptr_t)4095), 1, &resident) || resident & 1;
}

/* Whether an operation that is under way for the calling thread uses these bytes of a cell: *r. */
static int is_used(struct race_cell *c, race_epoch mask, struct race_record *r) {
    const struct race_who who = {.epoch = race_now, .clock = race_me->clock, .own = race_own()};
    struct race_record records[RECORDS_MOST + 1];
    uint32_t *word = lock_of(c);
    int n;
    if (!c->write && !c->read) return 0;
    race_spin_lock(word);
    n = gather(c, records);
    race_spin_unlock(word);
    for (int i = 0; i < n; i++) {
        *r = records[i];
        if (race_actor_kind(RACE_ACTOR(r->epoch)) != RACE_THREAD && r->epoch & mask && !record_before(r, &who))
            return 1;
    }
    return 0;
}

/* How many of the bytes from a cell on operations that began at this place use. */
static size_t used_bytes(struct race_cell *c, uintptr_t addr, size_t len, uint32_t place) {
    struct race_record r;
    size_t used = 0;
    while (len) {
        const size_t room = 8 - (addr & 7), part = room < len ? room : len;
        const race_epoch mask = race_mask(addr, part);
        if (((uintptr_t)c & 4095) == 0 && len > LARGE && !is_touched(c)) {
            c += 4096 / sizeof *c;
            addr += 4096 / sizeof *c * 8, len -= 4096 / sizeof *c * 8;
            continue;
        }
        if (is_used(c, mask, &r) && r.place == place) used += (size_t)__builtin_popcountll(r.epoch & mask & RACE_MASK);
        c++, addr += part, len -= part;
    }
    return used;
}

void race_memory_ends(struct race_cell *cells, struct race_where where, size_t len, enum race_what what,
                      uint32_t place) {
    const struct race_who who = {.epoch = race_now, .clock = race_me->clock};
    struct race_cell *c = cells;
    struct race_record r;
    for (size_t at = 0; c && at < len; c++) {
        const size_t room = 8 - (where.addr & 7), part = room < len - at ? room : len - at;
        const race_epoch mask = race_mask(where.addr, part);
        if (len >= LARGE && ((uintptr_t)c & 4095) == 0 && !is_touched(c)) {
            c += 4096 / sizeof *c - 1;
            at += 4096 / sizeof *c * 8, where.addr += 4096 / sizeof *c * 8;
            continue;
        }
        if (is_used(c, mask, &r)) {
            size_t used = used_bytes(c, where.addr, len - at, r.place);
            race_report_end(&r, mask, used, (int)what, place, &who, where);
            race_forget(cells, len); /* one report is enough */
            return;
        }
        at += part, where.addr += part;
    }
}

/* ---- what a PE does not know ---- */

int race_before(const struct race_record *r, const uint32_t *clock) {
    return record_before(r, &(const struct race_who){.clock = clock});
}

/* Calls `found` for the accesses of a whole block that do not happen before this clock. */
static void strip_after(const struct race_strip *s, race_epoch mask, const struct race_who *who,
                        void (*found)(void *arg, const struct race_record *r, race_epoch mask, struct race_where where),
                        void *arg, struct race_where where) {
    const race_epoch w = __atomic_load_n(&s->write, __ATOMIC_ACQUIRE), r = __atomic_load_n(&s->read, __ATOMIC_ACQUIRE);
    if (w && !happens_before(w, who))
        found(arg, &(struct race_record){.epoch = w | RACE_MASK, .place = s->write_at, .write = 1}, mask, where);
    if (r && !happens_before(r, who))
        found(arg, &(struct race_record){.epoch = r | RACE_MASK, .place = s->read_at}, mask, where);
}

void race_after(const void *p, size_t len, const uint32_t *clock,
                void (*found)(void *arg, const struct race_record *r, race_epoch mask, struct race_where where),
                void *arg) {
    const struct race_who who = {.clock = clock};
    struct race_record records[RECORDS_MOST + 1];
    uintptr_t addr = (uintptr_t)p;
    while (len) {
        const struct spot s = find(addr, 0);
        const size_t together = s.together < len ? s.together : len;
        struct race_where where = {.addr = s.addr, .pe = s.pe};
        struct race_cell *c = s.cells;
        const struct race_strip *strip = NULL;
        for (size_t at = 0; c && at < together; c++) {
            const size_t room = 8 - (where.addr & 7), part = room < together - at ? room : together - at;
            const race_epoch mask = race_mask(where.addr, part), w = __atomic_load_n(&c->write, __ATOMIC_RELAXED),
                             r = __atomic_load_n(&c->read, __ATOMIC_RELAXED);
            if (has_strips(c) && strip_of(c) != strip) strip_after(strip = strip_of(c), mask, &who, found, arg, where);
            if (w & RACE_LONG || (w && !happens_before(w, &who)) || (r && !happens_before(r, &who))) {
                uint32_t *word = lock_of(c);
                int n;
                race_spin_lock(word);
                n = gather(c, records);
                race_spin_unlock(word);
                for (int i = 0; i < n; i++)
                    if (records[i].epoch & mask && !race_before(&records[i], clock))
                        found(arg, &records[i], mask, where);
            }
            at += part, where.addr += part;
        }
        addr += together;
        len -= together;
    }
}

/* ---- what values tell ---- */

/* Whether a thread that sees the value of this access learns something: not from a plain store, and not from itself. */
static int tells(const struct race_record *r, race_epoch mask, int native) {
    uint32_t actor = RACE_ACTOR(r->epoch);
    return r->write && r->epoch & mask && actor != race_me->actor &&
           ((r->epoch & RACE_KIND) != RACE_PLAIN || (!native && race_actor_kind(actor) != RACE_THREAD));
}

/* Whether a thread that sees a cell's value learns something from its list. */
static int list_tells(const struct race_cell *c, race_epoch mask, int native, const struct race_who *who) {
    for (uint32_t i = first_list(c); i; i = list_at(i - 1)->next)
        for (uint32_t k = 0; k < list_at(i - 1)->n; k++) {
            const struct race_record *r = &list_at(i - 1)->records[k];
            if (tells(r, mask, native) && !record_before(r, who)) return 1;
        }
    return 0;
}

/* The calling thread has seen the access. */
static void see(struct race_record *r) {
    int i = 0;
    while (i < RACE_SEEN && r->seen[i].count && r->seen[i].actor != race_me->actor) i++;
    if (i == RACE_SEEN) {
        r->seen[0].actor = RACE_MANY;
        return;
    }
    r->seen[i].actor = race_me->actor;
    r->seen[i].count = race_me->count;
}

_Static_assert(RACE_SEEN_MOST == RECORDS_MOST + 1, "all accesses of a cell");
size_t race_saw(struct race_cell *c, race_epoch mask, int native, struct race_seen *told) {
    struct race_record records[RECORDS_MOST + 1];
    struct race_who who = {.epoch = race_now, .clock = race_me->clock};
    race_epoch w = __atomic_load_n(&c->write, __ATOMIC_ACQUIRE);
    uint32_t *word = lock_of(c);
    size_t n_told = 0;
    int n;
    race_settle_accesses();
    if (!(w & RACE_LONG) && (!w || happens_before(w, &who)) &&
        (__atomic_load_n(&c->read, __ATOMIC_ACQUIRE) & RACE_KIND) != RACE_SECOND &&
        __atomic_load_n(&c->write, __ATOMIC_RELAXED) == w) /* both words were read at the same moment */
        return 0;
    race_spin_lock(word);
    if (c->write & RACE_LONG && !list_tells(c, mask, native, &who)) {
        race_spin_unlock(word);
        return 0;
    }
    n = take(c, records);
    for (int i = 0; i < n; i++) {
        struct race_record *r = &records[i];
        if (!tells(r, mask, native) || record_before(r, &who)) continue;
        see(r);
        told[n_told++] = (struct race_seen){RACE_ACTOR(r->epoch), RACE_COUNT(r->epoch)};
    }
    scatter(c, records, n);
    race_spin_unlock(word);
    return n_told;
}

void race_acquire(struct race_cell *c, race_epoch mask, int native) {
    struct race_seen told[RACE_SEEN_MOST];
    size_t n;
    if (!race_job.host_of || !race_remote_saw(c, mask, native, told, &n)) n = race_saw(c, mask, native, told);
    for (size_t i = 0; i < n; i++) race_learn(race_me, told[i].actor, told[i].count);
}

/* From this many cells on, whole pages of the shared file are released: reading them would allocate them. */
#define GIVE_BACK ((size_t)1 << 15)

static int give_back(struct race_cell *from, struct race_cell *to) {
    uintptr_t first = ((uintptr_t)from + 4095) & ~(uintptr_t)4095, last = (uintptr_t)to & ~(uintptr_t)4095;
    size_t before = (first - (uintptr_t)from) / sizeof *from, after = ((uintptr_t)to - last) / sizeof *to;
    if ((char *)from < race_job.map || (char *)to > race_job.map + race_job.map_len || first >= last) return -1;
    if (madvise((void *)first, last - first, MADV_REMOVE)) return -1;
    race_forget(from, before * 8);
    race_forget(to - after, after * 8);
    return 0;
}

/* The records of the strip go into its cells outside of the range. Where a cell has accesses of another actor they are
 * dropped. */
static void dissolve(struct race_strip *s, const struct race_cell *from, const struct race_cell *to) {
    struct race_cell *c = race_job.cells + (size_t)(s - race_job.strips) * (RACE_STRIP / 8);
    if (!s->write && !s->read) return;
    for (size_t i = 0; i < RACE_STRIP / 8; i++, c++) {
        if ((c >= from && c < to) || c->write || c->read) continue;
        c->write_at[0] = c->write_at[1] = s->write_at;
        c->read_at[0] = c->read_at[1] = s->read_at;
        if (s->read) (void)race_replace(&c->read, 0, s->read | RACE_MASK);
        if (s->write) (void)race_replace(&c->write, 0, s->write | RACE_MASK);
    }
    s->write = s->read = 0;
}

/* Releases the pages of the shared memory that lie in a range. Returns where they end, or NULL. */
static void *release(void *from, void *to) {
    const uintptr_t first = ((uintptr_t)from + 4095) & ~(uintptr_t)4095, last = (uintptr_t)to & ~(uintptr_t)4095;
    return first < last && !madvise((void *)first, last - first, MADV_REMOVE) ? (void *)last : NULL;
}

static void forget_strips(const struct race_cell *cells, size_t n) {
    const struct race_cell *end = cells + n;
    struct race_strip *s, *last;
    race_epoch *o;
    race_settle_accesses();
    if (!has_strips(cells)) return;
    s = strip_of(cells);
    last = strip_of(end - 1);
    dissolve(s, cells, end);
    dissolve(last, cells, end);
    while (++s < last) {
        struct race_strip *after = ((uintptr_t)s & 4095) < sizeof *s ? release(s, last) : NULL;
        if (after) s = after;
        if (s < last) s->write = s->read = 0;
    }
    for (o = others_of(cells + RACE_PAGE / 8 - 1); o < others_of(end); o++)
        if (*o) *o = 0;
}

void race_forget(struct race_cell *cells, size_t len) {
    size_t n = (len + 7) / 8;
    if (n) forget_strips(cells, n);
    if (n >= GIVE_BACK && !give_back(cells, cells + n)) return;
    for (size_t i = 0; i < n; i++) {
        uint32_t *word;
        if (!cells[i].write && !cells[i].read) continue;
        word = lock_of(&cells[i]);
        race_spin_lock(word);
        scatter(&cells[i], NULL, 0);
        race_spin_unlock(word);
    }
}

/* Chunks whose cells follow each other, as those of exposed memory do, are forgotten together: give_back needs that. */
void race_forget_private(uintptr_t addr, size_t len) {
    struct race_cell *from = NULL;
    size_t together = 0;
    while (len) {
        size_t part = RACE_CHUNK - (addr & (RACE_CHUNK - 1));
        struct race_cell *cells = private_cells(addr, 0);
        if (part > len) part = len;
        if (!from || cells != from + (together + 7) / 8) {
            if (from) race_forget(from, together);
            from = cells;
            together = 0;
        }
        if (from) together += part;
        addr += part;
        len -= part;
    }
    if (from) race_forget(from, together);
}
