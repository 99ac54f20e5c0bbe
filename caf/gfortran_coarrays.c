/* SPDX-License-Identifier: BSD-3-Clause */
/* gfortran's calls that make and free coarrays and their components. Static coarrays are registered by constructors,
 * before main and before _gfortran_caf_init: the first one starts the library.
 *
 * What gfortran passes for a component tells little. Some assignments register it as if it was a coarray. Its token may
 * be undefined, or the copy of another one's: gfortran copies components with and without their tokens, and gives their
 * memory to other variables. So the library goes by the places of tokens. A coarray is no part of a coarray, so a token
 * in the memory of coarrays is that of a component. The token of an array follows its descriptor, and that of a scalar
 * component is near its pointer. */
#include "config.h"

#include "caf/component.h"
#include "caf/gfortran.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

/* ---- components ---- */

/* The token of all array components: a coarray of no bytes. */
static struct rmai_caf_coarray array_component;

/* The token of a scalar component. */
struct scalar_component {
    struct rmai_caf_coarray none;
    void *memory;
    caf_token *token; /* where it was registered */
};
static void *scalars;

static int compare_scalars(const void *a, const void *b) { return (a > b) - (a < b); }

/* OpenMP's threads may allocate and deallocate components. */
static pthread_mutex_t scalars_lock = PTHREAD_MUTEX_INITIALIZER;

/* The scalar component that was registered with this token, or NULL. With `take` it is no longer registered. */
static struct scalar_component *scalar_of(caf_token *token, int take) {
    struct scalar_component *s = (struct scalar_component *)*token;
    if (!s || *token == &array_component) return NULL;
    pthread_mutex_lock(&scalars_lock);
    if (!tfind(s, &scalars, compare_scalars) || s->token != token) s = NULL;
    if (s && take) tdelete(s, &scalars, compare_scalars);
    pthread_mutex_unlock(&scalars_lock);
    return s;
}

static struct scalar_component *new_scalar(caf_token *token) {
    struct scalar_component *s = rmai_caf_memory("ALLOCATE", sizeof *s);
    *s = (struct scalar_component){.token = token};
    pthread_mutex_lock(&scalars_lock);
    const int added = tsearch(s, &scalars, compare_scalars) != NULL;
    pthread_mutex_unlock(&scalars_lock);
    if (!added) rmai_caf_report(RMAI_CAF_NO_RESULT, RMAI_CAF_STAT_NO_MEM, "ALLOCATE: no memory for a component");
    return s;
}

/* Bytes of a type before and after a token in which its component is looked for: of a larger type the memory stays. */
#define AROUND ((ptrdiff_t)1024)

/* 1 if the scalar component still has the memory: MOVE_ALLOC may have given it another one. */
static int has_memory_near(const struct scalar_component *s) {
    char around[2 * AROUND];
    rmai_caf_peek(around, (char *)s->token - AROUND, sizeof around);
    for (size_t i = (uintptr_t)s->token % sizeof(void *); i + sizeof(void *) <= sizeof around; i += sizeof(void *))
        if (memcmp(around + i, &s->memory, sizeof s->memory) == 0) return 1;
    return 0;
}

/* The descriptors of array components have codimensions, too: as many as the first coarray that gfortran has seen with
 * the type, and the library does not know of which type a token is. A bit for each number that was registered. */
static unsigned codimensions_seen;

static void see_codimensions(const struct descriptor *d, const caf_token *token) {
    codimensions_seen |=
        1u << (((const char *)token - (const char *)&d->dim[(int)d->rank]) / (ptrdiff_t)sizeof d->dim[0]);
}

/* The memory of the array component whose descriptor the token follows; NULL if that is not certain: then the memory
 * stays. */
static void *array_before(caf_token *token) {
    char before[sizeof(struct descriptor) + RMAI_CAF_DIMS * sizeof(struct dimension)];
    const unsigned seen = codimensions_seen;
    const int known = *token == &array_component;
    struct descriptor d;
    if (!known && (seen == 0 || (seen & (seen - 1)) != 0)) return NULL;
    if (!known) rmai_caf_peek(before, (char *)token - sizeof before, sizeof before);
    for (int dims = 1; dims <= RMAI_CAF_DIMS; dims++) {
        const size_t distance = sizeof d + (size_t)dims * sizeof d.dim[0];
        memcpy(&d, known ? (char *)token - distance : before + sizeof before - distance, sizeof d);
        if (rmai_caf_descriptor_is(&d, dims) && (known || seen == 1u << (dims - d.rank))) return d.base;
    }
    return NULL;
}

/* 1 if what is registered as an allocatable coarray is a component. For one of CLASS gfortran 12 passes the token of
 * the coarray that it is in, which it must keep. */
static int is_component(const struct descriptor *desc, const caf_token *token) {
    return rmai_caf_component_holds(token) || (rmai_caf_coarray_lives(*token) && !rmai_caf_variable_is_at(desc, token));
}

static void register_component(struct rmai_caf_result r, size_t size, caf_token *token, struct descriptor *desc) {
    struct scalar_component *s = scalar_of(token, 0);
    void *memory = rmai_caf_component_memory(r, size);
    if (!memory) return;
    desc->base = memory;
    rmai_caf_done(r);
    if (rmai_caf_coarray_lives(*token)) return;
    if (desc->rank > 0 && rmai_caf_variable_is_at(desc, token)) {
        see_codimensions(desc, token);
        *token = &array_component;
        return;
    }
    if (!s) s = new_scalar(token);
    s->memory = memory;
    *token = &s->none;
}

static void deregister_component(caf_token *token) {
    struct scalar_component *s = scalar_of(token, 1);
    if (!s) {
        rmai_caf_component_free(array_before(token));
        return;
    }
    if (has_memory_near(s)) rmai_caf_component_free(s->memory);
    free(s);
}

/* ---- the calls ---- */

void _gfortran_caf_register(size_t size, int type, caf_token *token, struct descriptor *desc, int *stat, char *errmsg,
                            size_t errmsg_len) {
    struct rmai_caf_result r = result_at(stat, errmsg, errmsg_len);
    struct rmai_caf_coarray *c = NULL;
    int is_static = 0;
    rmai_caf_start();
    switch (type) {
        case REGISTER_COMPONENT:
            *token = NULL;
            rmai_caf_done(r);
            return;
        case REGISTER_COMPONENT_MEMORY: register_component(r, size, token, desc); return;
        case REGISTER_STATIC: is_static = 1; break;
        case REGISTER_ALLOC:
            if (!is_component(desc, token)) break;
            register_component(r, size, token, desc);
            return;
        case REGISTER_LOCK_STATIC:
        case REGISTER_CRITICAL:
        case REGISTER_EVENT_STATIC: is_static = 1; __attribute__((fallthrough));
        case REGISTER_LOCK_ALLOC:
        case REGISTER_EVENT_ALLOC:
            if (__builtin_mul_overflow(size, sizeof(uint64_t), &size)) size = SIZE_MAX;
            break;
        default:
            rmai_caf_report(r, RMAI_CAF_STAT_ARGUMENT,
                            "ALLOCATE: this library does not know coarrays of kind %d: the compiler is newer", type);
            return;
    }
    *token = c = rmai_caf_coarray_make(r, size, type != REGISTER_ALLOC);
    if (!c) {
        if (stat) rmai_caf_sync_is_of_allocate();
        return;
    }
    desc->base = c->base;
    c->is_plain = desc->type >= RMAI_CAF_INTEGER && desc->type <= RMAI_CAF_CHARACTER && desc->type != RMAI_CAF_DERIVED;
    c->is_static_array = is_static && size > desc->elem_len; /* the descriptor is that of one element */
    if (!is_static && rmai_caf_variable_is_at(desc, token)) rmai_caf_variable_made(c, desc, token);
}

void _gfortran_caf_deregister(caf_token *token, int type, int *stat, char *errmsg, size_t errmsg_len) {
    struct rmai_caf_result r = result_at(stat, errmsg, errmsg_len);
    struct rmai_caf_coarray *c = *token;
    (void)type; /* a component's token goes with its memory */
    if (rmai_caf_coarray_lives(c) && rmai_caf_variable_has(c, token)) {
        *token = NULL;
        rmai_caf_coarray_free(r, c);
        return;
    }
    deregister_component(token);
    *token = NULL;
    rmai_caf_done(r);
}
