/* SPDX-License-Identifier: BSD-3-Clause */
/* Which coarrays and teams there are, as this image knows them: from the calls that make and free them. Coarrays of the
 * initial team are at the same offset of each image's space; the images of another team tell each other where theirs
 * are. A descriptor of an allocatable coarray has its bounds only after the call, and MOVE_ALLOC moves it to another
 * variable; so its bounds are copied at the SYNC ALL that ends ALLOCATE. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "instruments/race/blocks.h"
#include "instruments/race/calls.h"
#include "instruments/race/caf.h"
#include "instruments/race/clock.h"
#include "instruments/race/job.h"
#include "instruments/race/places.h"
#include "instruments/race/spin.h"

/* ---- teams ---- */

static struct race_caf_team initial, *current, *teams;

static void begin(void) {
    if (!initial.group) initial.group = race_team(RMA_TEAM_WORLD);
    if (!current) current = &initial;
}

struct race_caf_team *race_caf_current(void) {
    begin();
    return current;
}

static struct race_caf_team *find_team(const void *handle) {
    static caf_team first;
    if (!first) {
        static int level_initial;
        first = race_caf_handle_of_level(&level_initial);
    }
    if (handle == first) return &initial;
    for (struct race_caf_team *t = teams; t; t = t->next)
        if (t->handle == handle) return t;
    return NULL;
}

/* Before version 15, gfortran passes the address of the team variable. */
struct race_caf_team *race_caf_team(const void *handle_or_variable) {
    struct race_caf_team *t;
    begin();
    if (!handle_or_variable) return current;
    t = find_team(handle_or_variable);
    return t ? t : find_team(*(const caf_team *)handle_or_variable);
}

/* The images with the same team number, in the order of their new indices, which are those of the current team if the
 * program names none. */
static struct race_group *group_of(const uint64_t *told, int n, int number) {
    const int *pes = race_group_pes(current->group);
    int *members = malloc(2 * (size_t)n * sizeof *members), *indices, count = 0;
    struct race_group *g;
    if (!members) return NULL;
    indices = members + n;
    for (int i = 0; i < n; i++) {
        const int index = (int)(uint32_t)told[i];
        int at = count;
        if ((int)(told[i] >> 32) != number) continue;
        while (at > 0 && index > 0 && indices[at - 1] > index) {
            members[at] = members[at - 1];
            indices[at] = indices[at - 1];
            at--;
        }
        members[at] = pes[i];
        indices[at] = index;
        count++;
    }
    g = race_group_of(members, count);
    free(members);
    return g;
}

void race_caf_form(caf_team handle, int number, int new_index) {
    const int n = race_group_n(race_caf_current()->group);
    uint64_t *told = n ? calloc((size_t)n, sizeof *told) : NULL;
    struct race_caf_team *t = handle ? find_team(handle) : NULL;
    if (!told) return;
    race_group_exchange(current->group, handle ? (uint64_t)(uint32_t)number << 32 | (uint32_t)new_index : 0, told);
    if (handle && !t && (t = calloc(1, sizeof *t))) {
        t->handle = handle;
        t->next = teams;
        teams = t;
    }
    if (handle && t && t != &initial) {
        t->group = group_of(told, n, number);
        t->parent = current;
    }
    free(told);
}

void race_caf_change(struct race_caf_team *team) {
    begin();
    if (team) current = team;
}

int race_caf_pe(int image, const struct race_caf_team *team) {
    const struct race_caf_team *t = team ? team : race_caf_current();
    if (image == 0) return race_job.my_pe;
    if (!t->group || image < 1 || image > race_group_n(t->group)) return -1;
    return race_group_pes(t->group)[image - 1];
}

/* ---- coarrays ---- */

#define BUCKETS 1024
static struct race_coarray *coarrays[BUCKETS], *fresh;
static uint32_t lock;

static struct race_coarray **bucket_of(const void *token) {
    return &coarrays[((uintptr_t)token >> 4) * 0x9e3779b97f4a7c15u >> 54];
}

struct race_coarray *race_coarray_of(caf_token token) {
    struct race_coarray *a;
    if (!token) return NULL;
    race_spin_lock(&lock);
    for (a = *bucket_of(token); a && a->token != token;) a = a->next;
    race_spin_unlock(&lock);
    return a;
}

/* The token follows the descriptor, which has a dimension for each codimension, too. */
static size_t distance_to(const struct descriptor *d, const caf_token *token) {
    for (int dims = d->rank; dims <= CALLS_DIMS; dims++)
        if ((const char *)token == (const char *)&d->dim[dims]) return (size_t)((const char *)token - (const char *)d);
    return 0;
}

void race_coarray_made(const struct race_call *c, caf_token *token, size_t size, const struct descriptor *d, int type) {
    struct race_coarray *a = calloc(1, sizeof *a);
    const uint64_t offset = race_offset(d->base);
    if (!a) return;
    a->token = *token;
    a->base = d->base;
    a->is_words = type != REGISTER_STATIC && type != REGISTER_ALLOC;
    a->size = a->is_words ? size * sizeof(uint64_t) : size;
    a->elem = a->is_words ? sizeof(uint64_t) : d->elem_len;
    a->place = race_call_place(c->pc, c->name);
    if (type == REGISTER_ALLOC || type == REGISTER_LOCK_ALLOC || type == REGISTER_EVENT_ALLOC)
        a->token_distance = distance_to(d, token);
    if (a->token_distance) a->at = d;
    if (race_caf_current() != &initial && current->group) {
        const size_t n = (size_t)race_group_n(current->group);
        a->team = current;
        a->where = malloc(n * sizeof *a->where);
        for (size_t i = 0; a->where && i < n; i++) a->where[i] = UINT64_MAX;
        race_allocated(c, race_job.my_pe, offset, a->size, 1);
        if (a->where) race_group_exchange(current->group, offset, a->where);
    } else
        race_allocated(c, race_job.my_pe, offset, a->size, 0);
    if (type == REGISTER_EVENT_STATIC || type == REGISTER_EVENT_ALLOC) race_caf_events_new(a);
    race_spin_lock(&lock);
    a->next = *bucket_of(a->token);
    *bucket_of(a->token) = a;
    race_spin_unlock(&lock);
    if (a->at) {
        a->fresh = fresh;
        fresh = a;
    }
}

void race_coarrays_read(void) {
    for (struct race_coarray *a = fresh; a; a = a->fresh)
        if (a->at->base == a->base && a->at->rank >= 0 && a->at->rank <= CALLS_DIMS)
            memcpy(&a->shape, a->at, sizeof a->shape.d + (size_t)a->at->rank * sizeof a->shape.dim[0]);
    fresh = NULL;
}

void race_coarray_gone(const struct race_call *c, struct race_coarray *a) {
    if (fresh) race_coarrays_read();
    race_freed(c, race_job.my_pe, race_offset(a->base));
    race_spin_lock(&lock);
    for (struct race_coarray **p = bucket_of(a->token); *p; p = &(*p)->next)
        if (*p == a) {
            *p = a->next;
            break;
        }
    race_spin_unlock(&lock);
    free(a->where);
    free(a);
}

/* A coarray is no part of a coarray, so a token in the space is that of a component; and a copy of a token in another
 * place than behind the coarray's descriptor is a component's, too. */
struct race_coarray *race_coarray_of_token_at(caf_token *token) {
    struct race_coarray *a = race_coarray_of(*token);
    const void *base;
    if (!a || (uintptr_t)token - race_job.space < race_job.stride) return NULL;
    if (!a->token_distance) return a;
    memcpy(&base, (char *)token - a->token_distance, sizeof base);
    return base == a->base ? a : NULL;
}

/* END TEAM deallocates what was allocated in the team. */
void race_caf_end(void) {
    const struct race_call c = {.name = "end_team"};
    struct race_caf_team *team = race_caf_current();
    for (size_t i = 0; i < BUCKETS && team != &initial; i++)
        for (struct race_coarray *a = coarrays[i], *next; a; a = next) {
            next = a->next;
            if (a->team == team) race_coarray_gone(&c, a);
        }
    if (team != &initial && team->parent) current = team->parent;
}

uint64_t race_coarray_offset(const struct race_coarray *a, int pe) {
    if (!a->team) return race_offset(a->base);
    for (int i = 0; a->where && i < race_group_n(a->team->group); i++)
        if (race_group_pes(a->team->group)[i] == pe) return a->where[i];
    return UINT64_MAX;
}

const struct race_coarray *race_coarray_next(const struct race_coarray *a) {
    const struct race_coarray *next = a ? a->next : NULL;
    for (size_t i = a ? (size_t)(bucket_of(a->token) - coarrays) + 1 : 0; !next && i < BUCKETS; i++) next = coarrays[i];
    return next;
}

const struct race_coarray *race_coarray_at(int pe, uint64_t offset, size_t *at) {
    const struct race_coarray *a = NULL;
    while ((a = race_coarray_next(a))) {
        const uint64_t first = race_coarray_offset(a, pe);
        if (first == UINT64_MAX || offset - first >= a->size) continue;
        *at = (size_t)(offset - first);
        return a;
    }
    return NULL;
}
