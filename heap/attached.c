/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "heap/attached.h"
#include "base/attributes.h"

#include <assert.h>
#include <string.h>

#define NUMBERS_PER_STEP ((uint32_t)(RMAI_PAGE / sizeof(uint32_t)))
#define REGIONS_PER_STEP ((uint32_t)(RMAI_PAGE / sizeof(struct rmai_region)))
#define NONE             UINT32_MAX

static size_t numbers_room(void) { return (size_t)RMAI_GRANULES * sizeof(uint32_t); }

size_t rmai_attached_room(void) {
    return RMAI_PAGE + numbers_room() + (size_t)RMAI_REGIONS * sizeof(struct rmai_region);
}

void rmai_attached_view(struct rmai_attached *a, void *room) {
    char *p = room;
    a->state = (void *)p;
    a->number = (void *)(p + RMAI_PAGE);
    a->region = (void *)(p + RMAI_PAGE + numbers_room());
}

int rmai_attached_create(struct rmai_attached *a, void *room, rmai_attached_commit *commit, void *context) {
    rmai_attached_view(a, room);
    return commit(context, room, sizeof *a->state) == 0 ? 0 : -1;
}

static uint32_t granules_of(uint64_t size) { return (uint32_t)((size + RMAI_GRANULE - 1) / RMAI_GRANULE); }

/* The first of n consecutive free granules in [from, to), or NONE. The search skips each used region in one step. */
static uint32_t find_free_granules(const struct rmai_attached *a, uint32_t from, uint32_t to, uint32_t n) {
    uint32_t known = a->state->n_granules, at = from, start = from;
    while (start <= to && to - start >= n) {
        if (at - start == n || at >= known) return start; /* granules that are not committed yet are free */
        uint32_t number = a->number[at];
        if (number) {
            const struct rmai_region *r = &a->region[number - 1];
            start = at = r->granule + granules_of(r->size);
        } else {
            at++;
        }
    }
    return NONE;
}

static int commit_granules(struct rmai_attached *a, uint32_t end, rmai_attached_commit *commit, void *context) {
    uint32_t known = a->state->n_granules, wanted = (uint32_t)rmai_round_up(end, NUMBERS_PER_STEP);
    if (end <= known) return 0;
    if (commit(context, a->number + known, (size_t)(wanted - known) * sizeof *a->number) != 0) return -1;
    /* Release: the numbers are committed before other PEs read them. Pairs with the acquire load in
     * rmai_attached_number. */
    __atomic_store_n(&a->state->n_granules, wanted, __ATOMIC_RELEASE);
    return 0;
}

/* The number of a region that is not in use, or NONE. */
static uint32_t take_region_number(struct rmai_attached *a, rmai_attached_commit *commit, void *context) {
    struct rmai_attached_state *s = a->state;
    if (s->free) {
        uint32_t r = s->free - 1;
        s->free = a->region[r].next;
        return r;
    }
    if (s->n_regions == RMAI_REGIONS) return NONE;
    if (s->n_regions % REGIONS_PER_STEP == 0 && commit(context, a->region + s->n_regions, RMAI_PAGE) != 0) return NONE;
    return s->n_regions++;
}

size_t rmai_attached_add(struct rmai_attached *a, uint64_t address, uint64_t size, rmai_attached_commit *commit,
                         void *context) {
    struct rmai_attached_state *s = a->state;
    uint32_t n, at, r;
    if (size > (uint64_t)RMAI_GRANULES * RMAI_GRANULE) return SIZE_MAX;
    n = granules_of(size);
    at = find_free_granules(a, s->cursor, RMAI_GRANULES, n);
    if (at == NONE) at = find_free_granules(a, 0, RMAI_GRANULES, n);
    if (at == NONE || commit_granules(a, at + n, commit, context) != 0) return SIZE_MAX;
    r = take_region_number(a, commit, context);
    if (r == NONE) return SIZE_MAX;
    a->region[r].address = address;
    a->region[r].size = size;
    a->region[r].granule = at;
    /* A late access to the entry's previous, closed region may still be counted in `inside`, until it leaves: so this
     * keeps the count. Release: pairs with the acquire in rmai_attached_enter. An access that finds the region open
     * there sees the description above, and sees that its old number is gone. */
    __atomic_fetch_and(&a->region[r].inside, ~RMAI_CLOSED, __ATOMIC_ACQ_REL);
    /* Release: the region is described before its number can be found. Pairs with the acquire load in
     * rmai_attached_number. */
    for (uint32_t g = 0; g < n; g++) __atomic_store_n(&a->number[at + g], r + 1, __ATOMIC_RELEASE);
    s->cursor = at + n < RMAI_GRANULES ? at + n : 0;
    s->n_live++;
    return (size_t)at * RMAI_GRANULE;
}

static struct rmai_region *region_at(const struct rmai_attached *a, size_t offset) {
    uint32_t number = a->number[offset / RMAI_GRANULE];
    assert(number && "the owner knows its regions");
    return &a->region[number - 1];
}

void rmai_attached_close(struct rmai_attached *a, size_t offset) {
    /* Acquire and release: pairs with the addition in rmai_attached_enter. Either the entering access sees that the
     * region is closed, or this PE sees the access in `inside`. */
    __atomic_fetch_or(&region_at(a, offset)->inside, RMAI_CLOSED, __ATOMIC_ACQ_REL);
}

int rmai_attached_empty(const struct rmai_attached *a, size_t offset) {
    /* Acquire: pairs with the release in rmai_attached_leave. The effects of the last access are complete. */
    return __atomic_load_n(&region_at(a, offset)->inside, __ATOMIC_ACQUIRE) == RMAI_CLOSED;
}

void rmai_attached_remove(struct rmai_attached *a, size_t offset, int recycle) {
    struct rmai_region *r = region_at(a, offset);
    uint32_t number = a->number[r->granule];
    for (uint32_t g = 0; g < granules_of(r->size); g++)
        __atomic_store_n(&a->number[r->granule + g], 0, __ATOMIC_RELEASE);
    a->state->n_live--;
    if (!recycle) return;
    r->size = 0;
    r->next = a->state->free;
    a->state->free = number;
}

/* After the number is read and before the access enters, the owner may close the region, and even use its entry for
 * another region. Then the access finds the region closed, or finds that the granule no longer has that number. */
uint64_t rmai_attached_enter(struct rmai_attached *a, size_t offset, size_t len, struct rmai_region **region) {
    uint32_t number = rmai_attached_number(a, offset);
    uint64_t address;
    struct rmai_region *r;
    if (!number) return 0;
    r = &a->region[number - 1];
    /* Acquire and release: pairs with rmai_attached_close. */
    if (!(__atomic_fetch_add(&r->inside, 1, __ATOMIC_ACQ_REL) & RMAI_CLOSED) &&
        rmai_attached_number(a, offset) == number && (address = rmai_attached_address(r, offset, len)) != 0) {
        *region = r;
        return address;
    }
    rmai_attached_leave(r);
    return 0;
}

void rmai_attached_leave(struct rmai_region *region) { __atomic_fetch_sub(&region->inside, 1, __ATOMIC_RELEASE); }
