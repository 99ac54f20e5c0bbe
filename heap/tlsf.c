/* SPDX-License-Identifier: BSD-3-Clause */
/* The allocator as one argument.
 *
 * Sizes are in units of 64 bytes. Class (row, column) holds the free blocks of
 *     row 0:      size = column                                          (sizes 1..31, exact)
 *     row r > 0:  (32 + column) << (r - 1) <= size < (33 + column) << (r - 1)
 * A request is first rounded up to the lower edge of a class. Then every block in that class or a later one is large
 * enough, and two bit scans find the first class that is not empty. The rounding, by less than 1/32 of the request, can
 * miss a block that would have fitted exactly; so before the search gives up it tries some blocks of the request's own
 * class, which finds most of these. Everything below is straight-line work on at most four table entries. */
#include "config.h"

#include "heap/tlsf.h"
#include "base/attributes.h"

#include <assert.h>
#include <string.h>

#define NIL  0xffffffffu
#define USED RMAI_TLSF_USED
#define LOOK 32 /* blocks of the request's own class that are tried before giving up */

#define UNITS_PER_STEP (RMAI_TLSF_STEP / sizeof(struct rmai_tlsf_unit))

static inline uint32_t log2_floor(uint32_t n) { return 31u - (uint32_t)__builtin_clz(n); }

/* The number of the class of a size: row * 32 + column. (In row r > 0, size >> (r - 1) is 32 + column.) */
static inline uint32_t class_of(uint32_t size) {
    uint32_t shift = log2_floor(size | 32) - 5;
    return (shift << 5) + (size >> shift);
}

/* The lower edge of the first class in which every block has at least size units. A result beyond 32 bits is larger
 * than any block. */
static inline uint64_t round_to_class(uint64_t size) {
    if (size < RMAI_TLSF_COLUMNS || size > UINT32_MAX) return size;
    uint64_t step = (uint64_t)1 << (log2_floor((uint32_t)size) - 5);
    return (size + step - 1) & ~(step - 1);
}

/* Atomic, since a PE that does not hold the pool may retire the block concurrently. */
static inline uint32_t entry_state(const struct rmai_tlsf_unit *u) {
    return __atomic_load_n(&u->next, __ATOMIC_RELAXED);
}

/* Also atomic: a PE that retires a block may read any entry and try to change it, since its program may pass a wrong
 * address, or free a block twice. */
static inline uint32_t next_link(const struct rmai_tlsf_unit *u) { return __atomic_load_n(&u->next, __ATOMIC_RELAXED); }
static inline void set_next_link(struct rmai_tlsf_unit *u, uint32_t next) {
    __atomic_store_n(&u->next, next, __ATOMIC_RELAXED);
}

static inline void set_entry(struct rmai_tlsf_unit *u, uint32_t size, uint32_t prev, uint32_t next, uint32_t back) {
    u->size = size;
    u->prev = prev;
    u->back = back;
    set_next_link(u, next);
}

/* The state is not PARKED, GONE or USED, which are three consecutive numbers. */
static inline int is_free_entry(const struct rmai_tlsf_unit *u) { return entry_state(u) - RMAI_TLSF_PARKED > 2; }

/* ---- the table ---- */

#define READY_AT rmai_round_up(sizeof(struct rmai_tlsf_state), (size_t)64)

static size_t ready_words(size_t max_bytes) { return (max_bytes / RMAI_TLSF_UNIT + 1) / UNITS_PER_STEP / 64 + 1; }

/* Bytes of the state and the bits `ready`, which are committed from the start. */
static size_t head_bytes(size_t max_bytes) { return READY_AT + ready_words(max_bytes) * sizeof(uint64_t); }

static size_t units_at(size_t max_bytes) { return rmai_round_up(head_bytes(max_bytes), RMAI_TLSF_STEP); }

size_t rmai_tlsf_room(size_t max_bytes) {
    size_t table = (max_bytes / RMAI_TLSF_UNIT + 1) * sizeof(struct rmai_tlsf_unit);
    return rmai_round_up(units_at(max_bytes) + table, RMAI_PAGE);
}

static RMAI_COLD int commit_step(struct rmai_tlsf *t, size_t step) {
    if (t->commit(t->context, (char *)t->unit + step * RMAI_TLSF_STEP, RMAI_TLSF_STEP) != 0) return -1;
    __atomic_store_n(&t->ready[step / 64], t->ready[step / 64] | (uint64_t)1 << (step % 64), __ATOMIC_RELAXED);
    return 0;
}

/* Makes the entry of unit safe to touch. Every entry at which a block starts is safe: this function was called for it.
 */
static inline int commit_entry(struct rmai_tlsf *t, uint32_t unit) {
    return RMAI_LIKELY(rmai_tlsf_ready(t, unit)) ? 0 : commit_step(t, unit / UNITS_PER_STEP);
}

void rmai_tlsf_attach(struct rmai_tlsf *t, void *room, size_t max_bytes, rmai_tlsf_commit *commit, void *context) {
    char *p = room;
    t->state = (void *)p;
    t->ready = (void *)(p + READY_AT);
    t->unit = (void *)(p + units_at(max_bytes));
    t->commit = commit;
    t->context = context;
}

int rmai_tlsf_create(struct rmai_tlsf *t, void *room, size_t max_bytes, rmai_tlsf_commit *commit, void *context) {
    assert(max_bytes <= RMAI_TLSF_MAX && "unit numbers have 32 bits");
    rmai_tlsf_attach(t, room, max_bytes, commit, context);
    if (commit(context, room, head_bytes(max_bytes)) != 0) return -1;
    memset(t->state, 0, sizeof *t->state);
    memset(t->state->head, 0xff, sizeof t->state->head); /* NIL */
    t->state->max_units = (uint32_t)(max_bytes / RMAI_TLSF_UNIT);
    return 0;
}

/* ---- the lists ---- */

static inline void list_insert(struct rmai_tlsf *t, uint32_t b, uint32_t class) {
    struct rmai_tlsf_state *s = t->state;
    struct rmai_tlsf_unit *u = &t->unit[b];
    const uint32_t next = s->head[class];
    set_next_link(u, next);
    u->back = NIL;
    if (next != NIL) t->unit[next].back = b;
    s->head[class] = b;
    s->columns[class / 32] |= 1u << class % 32;
    s->rows |= 1u << class / 32;
}

static inline void list_remove(struct rmai_tlsf *t, uint32_t b, uint32_t class) {
    struct rmai_tlsf_state *s = t->state;
    struct rmai_tlsf_unit *u = &t->unit[b];
    const uint32_t next = next_link(u);
    if (next != NIL) t->unit[next].back = u->back;
    if (u->back != NIL) {
        set_next_link(&t->unit[u->back], next);
        return;
    }
    assert(s->head[class] == b && "a block without predecessor heads its list");
    s->head[class] = next;
    if (next != NIL) return;
    s->columns[class / 32] &= ~(1u << class % 32);
    if (!s->columns[class / 32]) s->rows &= ~(1u << class / 32);
}

/* Moves block b to the front of its list before a step that may be denied. On PEs where the step succeeds and is undone
 * later, the block ends up at the front. It must also be at the front on a PE where the step is denied: otherwise pools
 * with the same history would differ between PEs. */
static inline void move_to_front(struct rmai_tlsf *t, uint32_t b, uint32_t class) {
    list_remove(t, b, class);
    list_insert(t, b, class);
}

/* Stores `size` as the predecessor's size in the block after [b, b + size), or in the state if the pool ends there.
 */
static inline void set_prev_of_next(struct rmai_tlsf *t, uint32_t b, uint32_t size) {
    if (b + size == t->state->n_units)
        t->state->last = size;
    else
        t->unit[b + size].prev = size;
}

static inline void insert_free_block(struct rmai_tlsf *t, uint32_t b, uint32_t size, uint32_t prev) {
    t->unit[b].size = size;
    t->unit[b].prev = prev;
    set_prev_of_next(t, b, size);
    list_insert(t, b, class_of(size));
    t->state->n_free++;
}

static inline void remove_free_block(struct rmai_tlsf *t, uint32_t b) {
    list_remove(t, b, class_of(t->unit[b].size));
    t->state->n_free--;
}

/* The free block at `from` becomes the free block [to, to + size). A block that stays in its class keeps its place in
 * the list. This is so for most splits and merges of a large block, which then cost two stores instead of a removal and
 * an insertion. */
static inline void change_free_block(struct rmai_tlsf *t, uint32_t from, uint32_t to, uint32_t size, uint32_t prev) {
    struct rmai_tlsf_unit *u = &t->unit[to];
    uint32_t old = class_of(t->unit[from].size), new = class_of(size);
    if (old != new) {
        list_remove(t, from, old);
        list_insert(t, to, new);
    } else if (from != to) {
        const uint32_t next = next_link(&t->unit[from]);
        set_next_link(u, next);
        u->back = t->unit[from].back;
        if (next != NIL) t->unit[next].back = to;
        if (u->back != NIL)
            set_next_link(&t->unit[u->back], to);
        else
            t->state->head[new] = to;
    }
    u->size = size;
    u->prev = prev;
    set_prev_of_next(t, to, size);
}

static inline void clear_entry(struct rmai_tlsf *t, uint32_t b) { set_entry(&t->unit[b], 0, 0, 0, 0); }

/* A free block of at least size units, or NIL. */
static inline uint32_t find_free_block(struct rmai_tlsf *t, uint64_t size) {
    struct rmai_tlsf_state *s = t->state;
    uint64_t rounded = round_to_class(size);
    uint32_t class, columns, rows;
    if (rounded <= s->max_units) {
        class = class_of((uint32_t)rounded);
        columns = s->columns[class / 32] & (~0u << class % 32);
        if (columns) return s->head[(class & ~31u) + (uint32_t)__builtin_ctz(columns)];
        rows = s->rows & (~1u << class / 32);
        if (rows) {
            uint32_t row = (uint32_t)__builtin_ctz(rows);
            return s->head[row * 32 + (uint32_t)__builtin_ctz(s->columns[row])];
        }
    }
    if (rounded == size || size > s->max_units) return NIL;
    class = class_of((uint32_t)size);
    uint32_t b = s->head[class];
    for (int i = 0; b != NIL && i < LOOK; i++, b = next_link(&t->unit[b])) {
        if (t->unit[b].size < size) continue;
        move_to_front(t, b, class);
        return b;
    }
    return NIL;
}

/* ---- the calls ---- */

static inline uint64_t units_of(size_t bytes) { return ((uint64_t)bytes + RMAI_TLSF_UNIT - 1) / RMAI_TLSF_UNIT; }

static inline uint64_t units_with_alignment(size_t alignment, size_t size) {
    uint64_t step = alignment / RMAI_TLSF_UNIT;
    return units_of(size) + (step > 1 ? step - 1 : 0);
}

size_t rmai_tlsf_tail(const struct rmai_tlsf *t) {
    const struct rmai_tlsf_state *s = t->state;
    return s->last && is_free_entry(&t->unit[s->n_units - s->last]) ? (size_t)s->last * RMAI_TLSF_UNIT : 0;
}

size_t rmai_tlsf_need(const struct rmai_tlsf *t, size_t alignment, size_t size) {
    uint64_t units = round_to_class(units_with_alignment(alignment, size)), tail = rmai_tlsf_tail(t) / RMAI_TLSF_UNIT;
    if (size > RMAI_TLSF_MAX || alignment > RMAI_TLSF_MAX || units > UINT32_MAX) return 0;
    return (units > tail ? units - tail : 1) * RMAI_TLSF_UNIT;
}

int rmai_tlsf_prepare(struct rmai_tlsf *t) { return commit_entry(t, t->state->n_units); }

int rmai_tlsf_grow(struct rmai_tlsf *t, size_t bytes) {
    struct rmai_tlsf_state *s = t->state;
    uint32_t more = (uint32_t)(bytes / RMAI_TLSF_UNIT), b = s->n_units, prev = s->last;
    assert(bytes % RMAI_TLSF_UNIT == 0 && bytes / RMAI_TLSF_UNIT <= s->max_units - s->n_units &&
           "a pool grows by units, within its maximum");
    if (!more) return 0;
    if (commit_entry(t, b) != 0) return -1;
    __atomic_store_n(&s->n_units, b + more, __ATOMIC_RELAXED);
    s->n_growths++;
    if (prev && is_free_entry(&t->unit[b - prev])) {
        b -= prev;
        change_free_block(t, b, b, prev + more, t->unit[b].prev);
    } else {
        insert_free_block(t, b, more, prev);
    }
    return 0;
}

size_t rmai_tlsf_alloc(struct rmai_tlsf *t, size_t alignment, size_t size) {
    struct rmai_tlsf_state *s = t->state;
    uint32_t step = (uint32_t)(alignment / RMAI_TLSF_UNIT), n, b, at, whole, front, rest;
    assert(size > 0 && (alignment & (alignment - 1)) == 0 && "the callers check");
    if (size > RMAI_TLSF_MAX || alignment > RMAI_TLSF_MAX) return RMAI_TLSF_FULL;
    n = (uint32_t)units_of(size);
    b = find_free_block(t, units_with_alignment(alignment, size));
    if (b == NIL) return RMAI_TLSF_FULL;

    whole = t->unit[b].size;
    at = step > 1 ? (b + step - 1) & ~(step - 1) : b;
    front = at - b;
    rest = whole - front - n;
    assert(front + n <= whole && "the search asked for the alignment's room too");
    if (commit_entry(t, at) != 0 || (rest && commit_entry(t, at + n) != 0)) return RMAI_TLSF_DENIED;

    uint32_t prev = t->unit[b].prev;
    if (front) {
        change_free_block(t, b, b, front, prev);
        prev = front;
        if (rest) insert_free_block(t, at + n, rest, n);
    } else if (rest) {
        change_free_block(t, b, at + n, rest, n);
    } else {
        remove_free_block(t, b);
    }
    set_entry(&t->unit[at], n, prev, USED, (uint32_t)((size_t)n * RMAI_TLSF_UNIT - size));
    set_prev_of_next(t, at, n);
    s->n_used++;
    rmai_tlsf_count(s, n, 0);
    return (size_t)at * RMAI_TLSF_UNIT;
}

int rmai_tlsf_live(const struct rmai_tlsf *t, size_t offset, size_t *size) {
    uint32_t b = rmai_tlsf_live_at(t, offset);
    if (b == NIL) return 0;
    if (size) *size = (size_t)t->unit[b].size * RMAI_TLSF_UNIT - t->unit[b].back;
    return 1;
}

/* Block b, which is live, retired or parked, becomes free. Its entry never says live in between: another PE may be
 * freeing the block a second time concurrently. */
static inline void free_block(struct rmai_tlsf *t, uint32_t b) {
    struct rmai_tlsf_state *s = t->state;
    uint32_t size = t->unit[b].size, prev = t->unit[b].prev, next = b + size;
    s->n_used--;
    rmai_tlsf_count(s, 0, size);
    int merge_next = next != s->n_units && is_free_entry(&t->unit[next]);
    int merge_prev = prev && is_free_entry(&t->unit[b - prev]);
    if (merge_next) size += t->unit[next].size;
    if (merge_prev) {
        if (merge_next) remove_free_block(t, next);
        clear_entry(t, b);
        b -= prev;
        change_free_block(t, b, b, size + prev, t->unit[b].prev);
    } else if (merge_next) {
        change_free_block(t, next, b, size, prev);
    } else {
        insert_free_block(t, b, size, prev);
    }
    if (merge_next) clear_entry(t, next);
}

int rmai_tlsf_free(struct rmai_tlsf *t, size_t offset) {
    uint32_t b = rmai_tlsf_live_at(t, offset);
    if (b == NIL) return -1;
    free_block(t, b);
    return 0;
}

int rmai_tlsf_retire(struct rmai_tlsf *t, size_t offset) {
    uint32_t used = USED, b = rmai_tlsf_live_at(t, offset);
    if (b == NIL) return -1;
    /* If two PEs retire the same block, one succeeds. Acquire, so that the link is written after the state has
     * changed. */
    return __atomic_compare_exchange_n(&t->unit[b].next, &used, RMAI_TLSF_GONE, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)
               ? 0
               : -1;
}

uint32_t *rmai_tlsf_link(struct rmai_tlsf *t, uint32_t unit) { return &t->unit[unit].back; }

void rmai_tlsf_free_retired(struct rmai_tlsf *t, uint32_t unit) {
    assert(entry_state(&t->unit[unit]) == RMAI_TLSF_GONE && "only retired blocks are handed on");
    free_block(t, unit);
}

void rmai_tlsf_free_parked(struct rmai_tlsf *t, uint32_t unit) {
    assert(entry_state(&t->unit[unit]) == RMAI_TLSF_PARKED && "only parked blocks are handed on");
    t->state->n_used++;
    t->state->used_units += t->unit[unit].size; /* not the peak: parked blocks were not in use */
    free_block(t, unit);
}

int rmai_tlsf_resize(struct rmai_tlsf *t, size_t offset, size_t size) {
    struct rmai_tlsf_state *s = t->state;
    uint32_t b = rmai_tlsf_live_at(t, offset), old, n, next, have;
    assert(b != NIL && size > 0 && "the callers check");
    if (size > RMAI_TLSF_MAX) return -1;
    n = (uint32_t)units_of(size);
    old = have = t->unit[b].size;
    next = b + old;
    if (next != s->n_units && is_free_entry(&t->unit[next])) have += t->unit[next].size;
    if (n > have) return -1;
    if (n != old) {
        if (have != old) move_to_front(t, next, class_of(t->unit[next].size));
        if (n != have && commit_entry(t, b + n) != 0) return -2;
        t->unit[b].size = n;
        if (have != old && n != have)
            change_free_block(t, next, b + n, have - n, n);
        else if (have != old)
            remove_free_block(t, next);
        else
            insert_free_block(t, b + n, have - n, n);
        if (have != old && next != b + n) clear_entry(t, next);
        set_prev_of_next(t, b, n);
        rmai_tlsf_count(s, n, old);
    }
    t->unit[b].back = (uint32_t)((size_t)n * RMAI_TLSF_UNIT - size);
    return 0;
}

int rmai_tlsf_cut(struct rmai_tlsf *t, size_t offset, uint32_t units) {
    uint32_t b = rmai_tlsf_live_at(t, offset), size, prev;
    assert(b != NIL && units && t->unit[b].size % units == 0 && "the caller has asked for so much");
    size = t->unit[b].size;
    prev = t->unit[b].prev;
    for (uint32_t at = b; at < b + size; at += units)
        if (commit_entry(t, at) != 0) return -1;
    for (uint32_t at = b; at < b + size; at += units, prev = units)
        set_entry(&t->unit[at], units, prev, RMAI_TLSF_PARKED, 0);
    set_prev_of_next(t, b + size - units, units);
    t->state->n_used--;
    t->state->used_units -= size;
    return 0;
}

/* ---- inspection ---- */

enum rmai_tlsf_kind rmai_tlsf_where(const struct rmai_tlsf *t, size_t offset, struct rmai_tlsf_block *block) {
    size_t at = offset / RMAI_TLSF_UNIT;
    uint32_t b = 0;
    if (at >= t->state->n_units) return RMAI_TLSF_OUTSIDE;
    while (b + (size_t)t->unit[b].size <= at) b += t->unit[b].size;
    block->offset = (size_t)b * RMAI_TLSF_UNIT;
    block->size = (size_t)t->unit[b].size * RMAI_TLSF_UNIT;
    block->live = !is_free_entry(&t->unit[b]) && entry_state(&t->unit[b]) != RMAI_TLSF_PARKED;
    if (!block->live) return RMAI_TLSF_FREED;
    if (entry_state(&t->unit[b]) == RMAI_TLSF_GONE) return RMAI_TLSF_RETIRED;
    block->size -= t->unit[b].back;
    return block->offset == offset ? RMAI_TLSF_LIVE : RMAI_TLSF_INSIDE;
}

size_t rmai_tlsf_next(const struct rmai_tlsf *t, size_t offset, struct rmai_tlsf_block *block) {
    uint32_t b = (uint32_t)(offset / RMAI_TLSF_UNIT);
    if (offset / RMAI_TLSF_UNIT >= t->state->n_units) return 0;
    block->offset = offset;
    /* Read before the state: a PE that retires the block first changes the state, and then writes a link here (by a
     * release store, in rmai_returned_link). In the other order this PE could mistake the link for the block's
     * waste. */
    uint32_t waste = __atomic_load_n(&t->unit[b].back, __ATOMIC_ACQUIRE);
    block->live = entry_state(&t->unit[b]) == USED;
    block->size = (size_t)t->unit[b].size * RMAI_TLSF_UNIT - (block->live ? waste : 0);
    return offset + (size_t)t->unit[b].size * RMAI_TLSF_UNIT;
}

int rmai_tlsf_before(const struct rmai_tlsf *t, size_t offset, struct rmai_tlsf_block *block) {
    uint32_t b = (uint32_t)(offset / RMAI_TLSF_UNIT), prev = t->unit[b].prev;
    return prev && rmai_tlsf_next(t, (size_t)(b - prev) * RMAI_TLSF_UNIT, block) != 0;
}

void rmai_tlsf_each_free(const struct rmai_tlsf *t, void (*see)(void *context, size_t size), void *context) {
    for (size_t c = 0; c < (size_t)RMAI_TLSF_ROWS * RMAI_TLSF_COLUMNS; c++)
        for (uint32_t b = t->state->head[c]; b != NIL; b = next_link(&t->unit[b]))
            see(context, (size_t)t->unit[b].size * RMAI_TLSF_UNIT);
}

size_t rmai_tlsf_table_bytes(const struct rmai_tlsf *t, size_t max_bytes) {
    size_t steps = 0, words = ready_words(max_bytes);
    size_t used = (t->state->n_units / UNITS_PER_STEP + 64) / 64;
    for (size_t i = 0; i < rmai_min(words, used); i++) steps += (size_t)__builtin_popcountll(t->ready[i]);
    return head_bytes(max_bytes) + steps * RMAI_TLSF_STEP;
}

#define REQUIRE(condition, text)                                                                                       \
    do {                                                                                                               \
        if (!(condition)) return text;                                                                                 \
    } while (0)

static const char *check_lists(const struct rmai_tlsf *t, size_t n_free) {
    const struct rmai_tlsf_state *s = t->state;
    size_t listed = 0;
    for (uint32_t r = 0; r < RMAI_TLSF_ROWS; r++) {
        REQUIRE((s->rows >> r & 1) == (s->columns[r] != 0), "a row's bit tells if it has columns");
        for (uint32_t c = 0; c < RMAI_TLSF_COLUMNS; c++) {
            uint32_t back = NIL;
            REQUIRE((s->columns[r] >> c & 1) == (s->head[r * RMAI_TLSF_COLUMNS + c] != NIL),
                    "a column's bit tells if its list is empty");
            for (uint32_t b = s->head[r * RMAI_TLSF_COLUMNS + c]; b != NIL; back = b, b = next_link(&t->unit[b])) {
                REQUIRE(b < s->n_units && rmai_tlsf_ready(t, b) && t->unit[b].size, "a list holds blocks");
                REQUIRE(is_free_entry(&t->unit[b]), "a list holds free blocks");
                REQUIRE(t->unit[b].back == back, "a free list links both ways");
                REQUIRE(class_of(t->unit[b].size) == r * RMAI_TLSF_COLUMNS + c, "a free block is in its size's list");
                REQUIRE(++listed <= n_free, "a free block is in one list once");
            }
        }
    }
    REQUIRE(listed == n_free, "each free block is in a list");
    return NULL;
}

const char *rmai_tlsf_check(const struct rmai_tlsf *t) {
    const struct rmai_tlsf_state *s = t->state;
    size_t used = 0, n_used = 0, n_free = 0;
    uint32_t prev = 0, next_start = 0;
    int prev_free = 0;
    REQUIRE(s->n_units <= s->max_units, "the pool is within its maximum");
    for (uint32_t b = 0; b < s->n_units; b++) {
        const struct rmai_tlsf_unit *u = &t->unit[b];
        if (!rmai_tlsf_ready(t, b)) {
            REQUIRE(b != next_start, "the entry of a block's start is committed");
            continue;
        }
        if (b != next_start) {
            REQUIRE(!(u->size | u->prev | u->next | u->back), "an entry that starts no block is zero");
            continue;
        }
        REQUIRE(u->size && u->size <= s->n_units - b, "a block is not empty and ends in the pool");
        REQUIRE(u->prev == prev, "a block knows its predecessor's size");
        if (is_free_entry(u)) {
            REQUIRE(!prev_free, "free neighbours are merged");
            n_free++;
        } else if (entry_state(u) != RMAI_TLSF_PARKED) {
            REQUIRE(entry_state(u) == RMAI_TLSF_GONE || u->back < RMAI_TLSF_UNIT,
                    "a live block wastes less than a unit");
            used += u->size;
            n_used++;
        }
        prev_free = is_free_entry(u);
        prev = u->size;
        next_start = b + u->size;
    }
    REQUIRE(next_start == s->n_units, "the blocks tile the pool");
    REQUIRE(s->last == prev, "the pool knows its last block's size");
    REQUIRE(s->used_units == used && s->n_used == n_used && s->n_free == n_free, "the counts are right");
    REQUIRE(s->peak_units >= used, "the peak is not below the present");
    return check_lists(t, n_free);
}
