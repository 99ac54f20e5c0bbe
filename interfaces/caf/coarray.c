/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of coarrays. The program's descriptors and pointers in a peer's memory hold the peer's own addresses.
 * Every image has one contiguous space, in which librma's global pointers count; so an address there and the address of
 * the peer's struct rmai_caf_image, which the peer tells, differ by as much as the two global pointers. */
#include "config.h"

#include "interfaces/caf/coarray.h"
#include "interfaces/caf/sync.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#define OFFSET_MASK (((rma_gptr_t)1 << 40) - 1)

/* The addresses of all coarrays: a compiler may pass others for tokens. */
static RMAI_CAF_STATE void *coarrays;

static int compare_addresses(const void *a, const void *b) { return (a > b) - (a < b); }

static struct rmai_caf_coarray *new_coarray(size_t size) {
    struct rmai_caf_coarray *c = rmai_caf_memory("ALLOCATE", sizeof *c);
    *c = (struct rmai_caf_coarray){.size = size};
    if (!tsearch(c, &coarrays, compare_addresses))
        rmai_caf_report(RMAI_CAF_NO_RESULT, RMAI_CAF_STAT_NO_MEM, "ALLOCATE: no memory for the list of coarrays");
    return c;
}

static void discard(struct rmai_caf_coarray *c) {
    tdelete(c, &coarrays, compare_addresses);
    if (c->variable) rmai_caf_variable_gone(c);
    free(c->where);
    free(c);
}

int rmai_caf_coarray_lives(const void *address) { return tfind(address, &coarrays, compare_addresses) != NULL; }

static RMAI_COLD struct rmai_caf_coarray *no_memory(struct rmai_caf_result r, struct rmai_caf_coarray *c, size_t size) {
    rmai_caf_report(r, RMAI_CAF_STAT_NO_MEM, "ALLOCATE: no memory for %zu bytes on each image: %s", size,
                    rma_last_error());
    discard(c);
    return NULL;
}

struct rmai_caf_coarray *rmai_caf_coarray_make(struct rmai_caf_result r, size_t size, int zero) {
    struct rmai_caf_team *team = rmai_caf.team;
    size_t bytes = size ? size : 1; /* a coarray of 0 bytes is allocated as well */
    /* The calls below wait for each image: one that has left is noticed here. */
    if (!rmai_caf_sync_members(r, "ALLOCATE", team)) return NULL;
    struct rmai_caf_coarray *c = new_coarray(size);
    if (team == rmai_caf.initial) {
        c->base = zero ? rma_calloc(1, bytes) : rma_malloc(bytes);
        if (!c->base) return no_memory(r, c, size);
        c->first = rma_gptr(c->base, 0);
        rmai_caf_done(r);
        return c;
    }
    struct rma_hints hints = RMA_HINTS_NONE;
    rma_gptr_t mine = RMA_GPTR_NULL;
    hints.zero = zero;
    c->team = team;
    c->where = rmai_caf_memory("ALLOCATE", (size_t)team->n * sizeof *c->where);
    if (rma_alloc_mem_hints(bytes, &hints, &c->base) == RMA_SUCCESS) mine = rma_gptr(c->base, rmai_caf.me);
    rmai_caf_must(rma_fcollect(team->native, c->where, &mine, sizeof mine));
    for (int i = 0; i < team->n; i++)
        if (c->where[i] == RMA_GPTR_NULL) { /* an image has no memory: all free what they have */
            if (mine) rma_free_mem(c->base);
            return no_memory(r, c, size);
        }
    c->next = team->coarrays;
    team->coarrays = c;
    rmai_caf_done(r);
    return c;
}

static void unlink_coarray(struct rmai_caf_coarray *c) {
    if (!c->team) return;
    for (struct rmai_caf_coarray **p = &c->team->coarrays; *p; p = &(*p)->next)
        if (*p == c) {
            *p = c->next;
            return;
        }
}

void rmai_caf_coarray_free(struct rmai_caf_result r, struct rmai_caf_coarray *c) {
    struct rmai_caf_team *team = c->where ? c->team : rmai_caf.initial;
    const size_t place = c->where ? 0 : (size_t)((char *)c->base - (char *)rmai_caf.self);
    enum rmai_caf_stat stat =
        rmai_caf_meet_saying("DEALLOCATE", team, c->where ? 0 : rmai_caf_says(RMAI_CAF_DEALLOCATE, 0, place));
    unlink_coarray(c);
    if (c->where)
        rma_free_mem(c->base);
    else if (stat == RMAI_CAF_OK)
        rmai_caf_must(rma_free_met_(c->base)); /* without all images the block stays */
    discard(c);
    if (stat == RMAI_CAF_OK)
        rmai_caf_done(r);
    else
        rmai_caf_report_left(r, "DEALLOCATE", stat, team);
}

void rmai_caf_coarray_free_all(struct rmai_caf_team *team) {
    while (team->coarrays) {
        struct rmai_caf_coarray *c = team->coarrays;
        team->coarrays = c->next;
        if (!rmai_caf_variable_clear(c)) continue; /* the program may use it still: it keeps its memory */
        rma_free_mem(c->base);
        discard(c);
    }
}

struct rmai_caf_place rmai_caf_place_slow(const struct rmai_caf_coarray *c, size_t offset, int pe) {
    rma_gptr_t far;
    if (c->where)
        far = c->where[rma_team_translate_pe(RMA_TEAM_WORLD, pe, c->team->native)];
    else
        far = c->first + ((rma_gptr_t)(uint32_t)pe << 40);
    far += offset;
    return (struct rmai_caf_place){.near = rma_gptr_ptr(far), .far = far, .pe = pe, .known = 1};
}

/* Where the space of an image is, for each image that this one has asked. */
struct space {
    uint64_t self;  /* where the struct of the image is in its process; 0: not asked yet */
    uint64_t bytes; /* from the beginning of the space on are librma's */
    char *near;     /* where the struct is here, or NULL */
};
static RMAI_CAF_STATE struct space *spaces;

static RMAI_COLD void learn_space(int pe) {
    uint64_t told[2];
    _Static_assert(offsetof(struct rmai_caf_image, space) == offsetof(struct rmai_caf_image, self) + sizeof told[0],
                   "both are read at once");
    if (!spaces) {
        spaces = rmai_caf_array("reference to a component", (size_t)rmai_caf.n, sizeof *spaces);
        memset(spaces, 0, (size_t)rmai_caf.n * sizeof *spaces);
    }
    rmai_caf_must(rma_get(told, &rmai_caf.self->self, sizeof told, pe));
    spaces[pe] = (struct space){.self = told[0], .bytes = told[1], .near = rma_ptr(rmai_caf.self, pe)};
}

struct rmai_caf_place rmai_caf_place_of(int pe, uint64_t address) {
    if (__builtin_expect(!spaces || !spaces[pe].self, 0)) learn_space(pe);
    const struct space *space = &spaces[pe];
    const uint64_t distance = address - space->self, offset = (rmai_caf.first & OFFSET_MASK) + distance;
    struct rmai_caf_place place = {.foreign = address, .pe = pe};
    if (offset < space->bytes) {
        place.far = ((rmai_caf.first & ~OFFSET_MASK) + ((rma_gptr_t)(uint32_t)pe << 40)) | offset;
        if (space->near) place.near = space->near + (ptrdiff_t)distance;
    } else if (pe == rmai_caf.me) {
        place.near = (char *)(uintptr_t)address;
    }
    return place;
}
