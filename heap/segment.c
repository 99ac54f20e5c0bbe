/* SPDX-License-Identifier: BSD-3-Clause */
/* The layer between pages (heap/reserve) and blocks (heap/tlsf): when a segment grows, and the error text if it
 * cannot. */
#include "config.h"

#include "heap/segment.h"
#include "base/error.h"
#include "base/size.h"
#include "heap/attached.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define CHUNK_MIN ((size_t)256 << 10)
#define CHUNK_MAX ((size_t)64 << 20)

#define OVERRUNS_MOST 4096 /* blocks, some microseconds */

#define RED 0xf3 /* in red zones */
#define NEW 0xa5 /* in new blocks, with RMA_HEAP_CHECK=full */
#define OLD RMAI_FREED

static size_t round_heap_max(size_t bytes) {
    return rmai_min(rmai_round_up(rmai_max(bytes, 1), RMAI_PAGE), RMAI_TLSF_MAX / RMAI_PAGE * RMAI_PAGE);
}

void rmai_layout(struct rmai_layout *l, size_t symmetric_max, size_t local_max, size_t statics) {
    l->symmetric_max = round_heap_max(symmetric_max);
    l->local_max = round_heap_max(local_max);
    l->guest_max = round_heap_max(l->local_max / 2);
    l->statics_max = rmai_round_up(statics, RMAI_PAGE);
    l->statics = RMAI_HEADER_ROOM;
    l->symmetric_table = l->statics + l->statics_max;
    l->symmetric =
        rmai_round_up(l->symmetric_table + rmai_tlsf_room(l->symmetric_max) + RMAI_PROBE_ROOM, RMAI_HEAP_ALIGNMENT);
    l->local_table = l->symmetric + l->symmetric_max;
    l->local = rmai_round_up(l->local_table + rmai_tlsf_room(l->local_max), RMAI_HEAP_ALIGNMENT);
    l->guest_table = l->local + l->local_max;
    l->guest = rmai_round_up(l->guest_table + rmai_tlsf_room(l->guest_max), RMAI_HEAP_ALIGNMENT);
    l->attached = l->guest + l->guest_max;
    l->stride = rmai_round_up(l->attached + rmai_attached_room(), RMAI_HEAP_ALIGNMENT);
}

static int commit_table(void *context, void *start, size_t len) {
    const struct rmai_segment *s = context;
    return rmai_commit(s->reservation, start, len);
}

int rmai_segment_create(struct rmai_segment *s, const struct rmai_reservation *r, void *table, void *base, size_t max,
                        const char *name, const char *setting) {
    *s = (struct rmai_segment){.name = name, .setting = setting, .reservation = r, .base = base, .max = max};
    return rmai_tlsf_create(&s->pool, table, max, commit_table, s) == 0 ? RMA_SUCCESS : RMA_ERR_NO_MEM;
}

void rmai_segment_view(struct rmai_segment *s, const struct rmai_reservation *r, void *table, void *base, size_t max,
                       const char *name, const char *setting) {
    *s = (struct rmai_segment){.name = name, .setting = setting, .reservation = r, .base = base, .max = max};
    rmai_tlsf_attach(&s->pool, table, max, commit_table, s);
    s->size = (size_t)s->pool.state->n_units * RMAI_TLSF_UNIT;
    s->committed = s->pool.state->committed;
}

/* A size with its red zone. A sum beyond size_t becomes SIZE_MAX, which is larger than any pool. */
static size_t with_guard(const struct rmai_segment *s, size_t size) {
    return size > SIZE_MAX - s->guard ? SIZE_MAX : size + s->guard;
}

size_t rmai_segment_want(const struct rmai_segment *s, size_t alignment, size_t size) {
    size_t need = rmai_tlsf_need(&s->pool, alignment, with_guard(s, size));
    char asked[24], used[24], all[24];
    if (need && need <= s->max - s->size) return need;
    rmai_error(
        RMA_ERR_NO_MEM, "%s requested, but the %s uses %s of at most %s (%s), and has no free block of that size",
        rmai_format_size(asked, size), s->name, rmai_format_size(used, s->pool.state->used_units * RMAI_TLSF_UNIT),
        rmai_format_size(all, s->max), s->setting);
    return 0;
}

static int commit_memory(const struct rmai_segment *s, size_t from, size_t len) {
    return s->spares ? rmai_commit_sparing(s->reservation, s->base + from, len, s->setting)
                     : rmai_commit(s->reservation, s->base + from, len);
}

int rmai_segment_commit(struct rmai_segment *s, size_t want, size_t *got) {
    size_t chunk = rmai_min(rmai_max(s->size / 8, CHUNK_MIN), CHUNK_MAX);
    size_t end = s->size + rmai_max(want, chunk);
    size_t bytes = rmai_min(s->in_steps ? rmai_step_end(end - 1) : rmai_round_up(end, RMAI_PAGE), s->max);
    *got = 0;
    if (rmai_tlsf_prepare(&s->pool) != 0) return RMA_ERR_NO_MEM;
    if (bytes > s->committed) {
        int code = commit_memory(s, s->committed, bytes - s->committed);
        if (code != RMA_SUCCESS) {
            bytes = rmai_min(rmai_round_up(s->size + want, RMAI_PAGE), s->max);
            code = bytes > s->committed ? commit_memory(s, s->committed, bytes - s->committed) : RMA_SUCCESS;
            if (code != RMA_SUCCESS) return code;
        }
        s->pool.state->committed = s->committed = rmai_max(bytes, s->committed);
    }
    *got = s->committed - s->size;
    return RMA_SUCCESS;
}

/* ---- holes ---- */

/* Commits [from, to) except [gap_from, gap_to). All are offsets and multiples of RMAI_PAGE. */
static int commit_around(const struct rmai_segment *s, size_t from, size_t gap_from, size_t gap_to, size_t to) {
    int code = commit_memory(s, from, gap_from - from);
    if (code == RMA_SUCCESS) code = commit_memory(s, gap_to, to - gap_to);
    if (code != RMA_SUCCESS) rmai_uncommit(s->reservation, s->base + from, gap_from - from);
    return code;
}

static void add_hole(struct rmai_holes *h, size_t from, size_t to) {
    if (from >= to) return;
    h->of[h->n].from = from;
    h->of[h->n++].to = to;
}

/* After the growth the block will be at the first suitable offset of the last free block: no other free block was large
 * enough. If the allocator decides otherwise, no harm is done: a block that is allocated in a hole fills the hole. */
int rmai_segment_commit_aligned(struct rmai_segment *s, size_t alignment, size_t size, size_t want, size_t *got) {
    const size_t start = s->size - rmai_tlsf_tail(&s->pool), at = rmai_round_up(start, alignment);
    const size_t end = rmai_min(rmai_round_up(s->size + want, RMAI_PAGE), s->max);
    const size_t from = rmai_round_up(rmai_max(s->committed, start), RMAI_PAGE), to = at / RMAI_PAGE * RMAI_PAGE;
    const size_t behind = rmai_min(rmai_round_up(at + rmai_max(size, CHUNK_MIN), RMAI_PAGE), end);
    if (s->guard || !s->holes || s->holes->n + 2 > RMAI_HOLES || to < from + CHUNK_MIN || at + size > end)
        return rmai_segment_commit(s, want, got);
    *got = 0;
    if (rmai_tlsf_prepare(&s->pool) != 0) return RMA_ERR_NO_MEM;
    int code = commit_around(s, s->committed, from, to, behind);
    if (code != RMA_SUCCESS) return code;
    add_hole(s->holes, from, to);
    add_hole(s->holes, behind, end);
    s->pool.state->committed = s->committed = end;
    *got = end - s->size;
    return RMA_SUCCESS;
}

/* Removes holes and parts of holes from `end` on, and holes that have become empty. */
static void cut_holes(struct rmai_holes *h, size_t end) {
    int n = 0;
    for (int i = 0; i < h->n; i++) {
        h->of[n] = h->of[i];
        h->of[n].to = rmai_min(h->of[n].to, end);
        if (h->of[n].from < h->of[n].to) n++;
    }
    h->n = n;
}

/* Commits the parts of holes in [offset, offset + len), and some more, so that not every small block must commit again.
 * Returns 0, or -1 if there is no memory (recorded). */
static RMAI_COLD int fill_holes(const struct rmai_segment *s, size_t offset, size_t len) {
    struct rmai_holes *h = s->holes;
    const int n = h->n; /* holes that are split append their second halves after these */
    for (int i = 0; i < n; i++) {
        const size_t hole_from = h->of[i].from, hole_to = h->of[i].to;
        size_t from = rmai_max(offset / RMAI_PAGE * RMAI_PAGE, hole_from);
        size_t to = rmai_min(rmai_round_up(offset + len, CHUNK_MIN), hole_to);
        if (offset >= hole_to || offset + len <= hole_from) continue;
        /* If there is no entry for a second half, the smaller half is also filled. */
        if (from > hole_from && to < hole_to && h->n == RMAI_HOLES) {
            if (from - hole_from < hole_to - to)
                from = hole_from;
            else
                to = hole_to;
        }
        if (commit_memory(s, from, to - from) != RMA_SUCCESS) return -1;
        if (from == hole_from) {
            h->of[i].from = to;
        } else {
            h->of[i].to = from;
            add_hole(h, to, hole_to);
        }
    }
    cut_holes(h, s->committed);
    return 0;
}

/* 1 if memory of the segment may be missing below `committed`. */
static inline int has_holes(const struct rmai_segment *s) { return RMAI_UNLIKELY(s->holes && s->holes->n); }

void rmai_segment_uncommit(struct rmai_segment *s) {
    rmai_uncommit(s->reservation, s->base + s->size, s->committed - s->size);
    s->pool.state->committed = s->committed = s->size;
    if (s->holes) cut_holes(s->holes, s->size);
}

void rmai_segment_extend(struct rmai_segment *s, size_t bytes) {
    int failed = rmai_tlsf_grow(&s->pool, bytes);
    assert(!failed && bytes <= s->committed - s->size && "commit has prepared it");
    (void)failed;
    if (s->guard) memset(s->base + s->size, OLD, bytes);
    /* Pairs with the load in rmai_segment_size, by other threads. */
    __atomic_store_n(&s->size, s->size + bytes, __ATOMIC_RELAXED);
}

static size_t block_offset(const struct rmai_segment *s, const void *block) {
    return (size_t)((const char *)block - s->base);
}

/* The red zone extends to the end of the block's last unit, where the next block begins. */
static size_t zone_of(const struct rmai_segment *s, size_t size) {
    return rmai_round_up(size + s->guard, RMAI_TLSF_UNIT) - size;
}

static void mark_zone(const struct rmai_segment *s, void *block, size_t size) {
    const size_t len = zone_of(s, size);
    if (len) memset((char *)block + size, RED, len);
}

/* Bytes from a block's first byte to the end of its red zone. */
static size_t span_of(const struct rmai_segment *s, size_t size) { return size + zone_of(s, size); }

/* The first byte in [from, from + len) that is not poison, or NULL. The range is or was free memory. */
static const unsigned char *find_written_byte(const char *from, size_t len) {
    const unsigned char *p = (const unsigned char *)from;
    if (len && p[0] == OLD && memcmp(p, p + 1, len - 1) == 0) return NULL;
    for (size_t i = 0; i < len; i++)
        if (p[i] != OLD) return p + i;
    return NULL;
}

/* Reports a write to the memory of a new block that happened while the memory was free. */
static void check_taken_memory(const struct rmai_segment *s, const char *call, const char *block, size_t size,
                               size_t from, size_t to) {
    const unsigned char *bad = find_written_byte(block + from, to - from);
    if (bad)
        rmai_note("%s: %s: the program has written to free memory of the %s: byte %zu of the block of %zu byte%s at %p "
                  "that this call allocates was %#x",
                  rmai_error_who(), rmai_error_name(call), s->name, (size_t)(bad - (const unsigned char *)block), size,
                  rmai_s(size), (const void *)block, *bad);
}

/* After the block was allocated or resized. */
static void mark_end(const struct rmai_segment *s, const char *call, void *block, size_t size) {
    struct rmai_tlsf_block next;
    if (zone_of(s, size) || !s->canaries) {
        mark_zone(s, block, size);
    } else if (!has_holes(s) && rmai_tlsf_next(&s->pool, block_offset(s, block) + size, &next) && !next.live) {
        rmai_canary_end(s->canaries, call, block, size);
    }
}

void *rmai_segment_alloc(struct rmai_segment *s, const char *call, size_t alignment, size_t size, int *full) {
    size_t offset = rmai_tlsf_alloc(&s->pool, alignment, with_guard(s, size));
    *full = offset == RMAI_TLSF_FULL;
    if (offset >= RMAI_TLSF_DENIED) return NULL;
    if (has_holes(s) && fill_holes(s, offset, size) != 0) {
        rmai_tlsf_free(&s->pool, offset);
        return NULL;
    }
    if (RMAI_UNLIKELY(s->guard)) {
        check_taken_memory(s, call, s->base + offset, size, 0, span_of(s, size));
        memset(s->base + offset, NEW, size);
    }
    if (s->guard || s->slack) {
        char *block = s->base + offset;
        if (s->canaries) rmai_canary_taken(s->canaries, call, block, block + span_of(s, size));
        mark_end(s, call, block, size);
    }
    return s->base + offset;
}

int rmai_segment_live(const struct rmai_segment *s, const void *block, size_t *size) {
    if (!rmai_segment_holds(s, block) || !rmai_tlsf_live(&s->pool, block_offset(s, block), size)) return 0;
    if (size) *size -= s->guard;
    return 1;
}

/* Poisons a block after it has been retired. The fence pairs with the one in find_zone_damage. */
static void poison_retired(const struct rmai_segment *s, void *block, size_t size) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    memset(block, OLD, span_of(s, size));
}

int rmai_segment_free(struct rmai_segment *s, const char *call, void *block) {
    size_t size = 0;
    if (!rmai_segment_holds(s, block)) return -1;
    if (RMAI_UNLIKELY(s->guard || s->canaries)) {
        if (!rmai_segment_live(s, block, &size)) return -1;
    }
    if (!s->shared) {
        if (s->guard)
            memset(block, OLD, span_of(s, size));
        else if (s->canaries)
            rmai_canary_freed(s->canaries, call, block, size);
        return rmai_tlsf_free(&s->pool, block_offset(s, block));
    }
    /* A peer may be freeing the same block concurrently: the PE that retires it second gets an error. */
    if (rmai_tlsf_retire(&s->pool, block_offset(s, block)) != 0) return -1;
    if (s->guard) poison_retired(s, block, size);
    rmai_tlsf_free_retired(&s->pool, (uint32_t)(block_offset(s, block) / RMAI_TLSF_UNIT));
    return 0;
}

int rmai_segment_give_back(struct rmai_segment *s, struct rmai_returned *list, void *block) {
    size_t size = 0;
    if (RMAI_LIKELY(!s->guard)) return rmai_returned_push(list, &s->pool, block_offset(s, block));
    if (!rmai_segment_live(s, block, &size) || rmai_tlsf_retire(&s->pool, block_offset(s, block)) != 0) return -1;
    poison_retired(s, block, size);
    rmai_returned_link(list, &s->pool, block_offset(s, block));
    return 0;
}

int rmai_segment_resize(struct rmai_segment *s, void *block, size_t size) {
    size_t old = 0;
    int did;
    rmai_segment_live(s, block, &old);
    did = rmai_tlsf_resize(&s->pool, block_offset(s, block), with_guard(s, size));
    if (did != 0 || !has_holes(s) || fill_holes(s, block_offset(s, block), size) == 0) return did;
    rmai_tlsf_resize(&s->pool, block_offset(s, block), with_guard(s, old));
    return -2;
}

void rmai_segment_remark(struct rmai_segment *s, const char *call, void *block, size_t old) {
    size_t size = old, before, after;
    if (!s->guard && !s->slack) return;
    rmai_segment_live(s, block, &size);
    before = span_of(s, old), after = span_of(s, size);
    if (!s->guard) {
        if (s->canaries && after > before)
            rmai_canary_taken(s->canaries, call, (char *)block + before, (char *)block + after);
        mark_end(s, call, block, size);
        return;
    }
    if (after > before) check_taken_memory(s, call, block, size, before, after);
    if (size > old) memset((char *)block + old, NEW, size - old);
    mark_zone(s, block, size);
    if (after < before) memset((char *)block + after, OLD, before - after);
}

struct drain {
    struct rmai_segment *segment;
    struct rmai_quick *quick;
};

static int park_returned(void *context, uint32_t unit) {
    const struct drain *d = context;
    struct rmai_tlsf *pool = &d->segment->pool;
    return d->quick && !d->segment->guard && rmai_quick_adopt(d->quick, pool, unit);
}

size_t rmai_segment_drain(struct rmai_segment *s, struct rmai_returned *list, struct rmai_quick *quick) {
    struct drain d = {s, quick};
    return rmai_returned_drain_each(list, &s->pool, park_returned, &d);
}

/* The first overwritten byte of block b's red zone, or NULL. Also NULL if a peer is freeing the block concurrently, and
 * the red zone is already poison. */
static const unsigned char *find_zone_damage(const struct rmai_segment *s, const struct rmai_tlsf_block *b) {
    const size_t size = b->size - s->guard;
    const unsigned char *zone = (const unsigned char *)s->base + b->offset + size;
    if (!s->guard || !b->live) return NULL;
    for (size_t i = 0; i < zone_of(s, size); i++) {
        if (zone[i] == RED) continue;
        /* Pairs with the fence in poison_retired: if this byte is poison from there, this PE also sees that the block
         * is not live. */
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        return rmai_tlsf_live(&s->pool, b->offset, NULL) ? zone + i : NULL;
    }
    return NULL;
}

int rmai_segment_intact(const struct rmai_segment *s, const char *call, const void *block, int held) {
    struct rmai_tlsf_block b = {0}, before = {0};
    const unsigned char *bad;
    if (!s->guard) return RMA_SUCCESS;
    rmai_tlsf_next(&s->pool, block_offset(s, block), &b);
    bad = find_zone_damage(s, &b);
    if (bad)
        return rmai_error(RMA_ERR_ADDRESS,
                          "%s: the block of %zu byte%s at %p was overrun: byte %zu past its end is %#x", call,
                          b.size - s->guard, rmai_s(b.size - s->guard), block,
                          (size_t)(bad - ((const unsigned char *)block + b.size - s->guard)), *bad);
    if (!held || !rmai_tlsf_before(&s->pool, b.offset, &before) || !(bad = find_zone_damage(s, &before)))
        return RMA_SUCCESS;
    return rmai_error(
        RMA_ERR_ADDRESS,
        "%s: byte %zu before the block at %p is %#x: it was underrun, or the block of %zu byte%s at %p was overrun",
        call, (size_t)((const unsigned char *)block - bad), block, *bad, before.size - s->guard,
        rmai_s(before.size - s->guard), (void *)(s->base + before.offset));
}

void rmai_segment_note_overrun(const struct rmai_segment *s, const char *call, const void *at, size_t size) {
    const unsigned char *block = at;
    for (size_t i = size; i < rmai_round_up(size, RMAI_TLSF_UNIT); i++) {
        if (block[i] == RED) continue;
        rmai_note("%s: %s: the block of %zu byte%s at %p in the %s was overrun: byte %zu past its end is %#x "
                  "(RMA_HEAP_CHECK=full finds more such writes, and sooner)",
                  rmai_error_who(), rmai_error_name(call), size, rmai_s(size), at, s->name, i - size, block[i]);
        return;
    }
}

void rmai_segment_overruns(const struct rmai_segment *s, const char *call) {
    struct rmai_tlsf_block b;
    size_t next;
    for (size_t at = 0, n = 0; n < OVERRUNS_MOST && (next = rmai_tlsf_next(&s->pool, at, &b)) != 0; at = next, n++)
        if (b.live) rmai_segment_overrun(s, call, s->base + at, b.size);
    if (s->canaries) rmai_canary_all(s->canaries, call);
}

size_t rmai_segment_report(const struct rmai_segment *s, const char *who, size_t leaks) {
    struct rmai_tlsf_block b;
    size_t n = 0, bytes = 0, next;
    for (size_t at = 0; (next = rmai_tlsf_next(&s->pool, at, &b)) != 0; at = next) {
        const unsigned char *bad;
        if (!b.live && s->guard && (bad = find_written_byte(s->base + at, b.size)) != NULL)
            rmai_note("%s: the program has written to free memory of the %s: byte %zu of the free block of %zu bytes "
                      "at %p is %#x",
                      who, s->name, (size_t)(bad - (const unsigned char *)(s->base + at)), b.size,
                      (void *)(s->base + at), *bad);
        if (!b.live) continue;
        n++;
        bytes += b.size - s->guard;
        if (n <= leaks)
            rmai_note("%s: %zu byte%s at %p in the %s %s not freed", who, b.size - s->guard, rmai_s(b.size - s->guard),
                      (void *)(s->base + at), s->name, b.size - s->guard == 1 ? "was" : "were");
        if ((bad = find_zone_damage(s, &b)) != NULL)
            rmai_note("%s: the block of %zu byte%s at %p in the %s was overrun: byte %zu past its end is %#x", who,
                      b.size - s->guard, rmai_s(b.size - s->guard), (void *)(s->base + at), s->name,
                      (size_t)(bad - (const unsigned char *)(s->base + at + b.size - s->guard)), *bad);
    }
    if (n && leaks)
        rmai_note("%s: %zu block%s, %zu byte%s, of the %s %s not freed%s", who, n, rmai_s(n), bytes, rmai_s(bytes),
                  s->name, n == 1 ? "was" : "were", n > leaks ? " in all" : "");
    return n;
}

static void count_free_block(void *context, size_t size) {
    struct rma_heap_stats *stats = context;
    int c = 63 - __builtin_clzll(size);
    stats->n_free++;
    stats->free += size;
    stats->largest_free = rmai_max(stats->largest_free, size);
    stats->free_class[c].blocks++;
    stats->free_class[c].bytes += size;
}

void rmai_segment_stats(const struct rmai_segment *s, struct rma_heap_stats *stats) {
    const struct rmai_tlsf_state *t = s->pool.state;
    memset(stats, 0, sizeof *stats);
    stats->used = t->used_units * RMAI_TLSF_UNIT;
    stats->peak = t->peak_units * RMAI_TLSF_UNIT;
    stats->size = s->size;
    stats->committed = s->committed + rmai_tlsf_table_bytes(&s->pool, s->max);
    for (int i = 0; s->holes && i < s->holes->n; i++) stats->committed -= s->holes->of[i].to - s->holes->of[i].from;
    stats->max = s->max;
    stats->n_used = t->n_used;
    stats->n_growths = t->n_growths;
    rmai_tlsf_each_free(&s->pool, count_free_block, stats);
    if (stats->free) stats->fragmentation = 1 - (double)stats->largest_free / (double)stats->free;
}

int rmai_segment_bad_base(const struct rmai_segment *s, const char *call, const void *block) {
    struct rmai_tlsf_block b;
    size_t offset = (size_t)((const char *)block - s->base);
    switch (rmai_tlsf_where(&s->pool, offset, &b)) {
        case RMAI_TLSF_INSIDE:
            return rmai_error(
                RMA_ERR_BASE, "%s: %p is not the base of a block: it is %zu byte%s into the block of %zu at %p", call,
                block, offset - b.offset, rmai_s(offset - b.offset), b.size - s->guard, (void *)(s->base + b.offset));
        case RMAI_TLSF_RETIRED:
            return rmai_error(RMA_ERR_BASE, "%s: %p has been freed already, by another PE, in the %s", call, block,
                              s->name);
        case RMAI_TLSF_FREED:
            return rmai_error(RMA_ERR_BASE, "%s: %p has been freed already, or was never allocated, in the %s", call,
                              block, s->name);
        case RMAI_TLSF_LIVE:
        case RMAI_TLSF_OUTSIDE: break;
    }
    return rmai_error(RMA_ERR_BASE, "%s: %p is not a block of the %s (%zu bytes at %p)", call, block, s->name,
                      rmai_segment_size(s), (void *)s->base);
}

void rmai_segment_describe(const struct rmai_segment *s, const void *addr, char *text, size_t room) {
    size_t offset = (size_t)((const char *)addr - s->base), size = rmai_segment_size(s);
    struct rmai_tlsf_block b;
    if (rmai_tlsf_where(&s->pool, offset, &b) == RMAI_TLSF_OUTSIDE)
        snprintf(text, room, "it is past the end of the %s (%zu bytes at %p)", s->name, size, (void *)s->base);
    else
        snprintf(text, room, "it begins %zu byte%s into a %s block of %zu bytes at %p; the %s ends at %p",
                 offset - b.offset, rmai_s(offset - b.offset), b.live ? "live" : "free", b.size,
                 (void *)(s->base + b.offset), s->name, (void *)(s->base + size));
}
