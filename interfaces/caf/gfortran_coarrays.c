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

#include "interfaces/caf/component.h"
#include "interfaces/caf/gfortran.h"

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

/* The pointer of a scalar component is looked for in so many bytes around its token, then in pieces before it: gfortran
 * puts the tokens behind all components of the type. Of a larger type the memory stays. */
#define AROUND   ((ptrdiff_t)1024)
#define FURTHEST ((ptrdiff_t)1 << 20)

/* How far before its token the last pointer was that was found. */
static ptrdiff_t last_distance = sizeof(void *);

/* 1 if the component's memory is one of the words in the `len` bytes that begin `from` bytes after its token. */
static int has_word(const struct scalar_component *s, ptrdiff_t from, ptrdiff_t len) {
    char bytes[2 * AROUND];
    const char *const at = (char *)s->token + from;
    rmai_caf_peek(bytes, at, (size_t)len);
    for (ptrdiff_t i = 0; i < len; i += (ptrdiff_t)sizeof(void *)) {
        if (memcmp(bytes + i, &s->memory, sizeof s->memory) != 0) continue;
        __atomic_store_n(&last_distance, -(from + i), __ATOMIC_RELAXED);
        return 1;
    }
    return 0;
}

/* 1 if the scalar component still has the memory: MOVE_ALLOC may have given it another one. */
static int has_memory(const struct scalar_component *s) {
    if (has_word(s, -__atomic_load_n(&last_distance, __ATOMIC_RELAXED), sizeof(void *))) return 1;
    if (has_word(s, -AROUND, 2 * AROUND)) return 1;
    for (ptrdiff_t before = AROUND; before < FURTHEST; before += 2 * AROUND)
        if (has_word(s, -before - 2 * AROUND, 2 * AROUND)) return 1;
    return 0;
}

/* 1 if the descriptor is that of a whole array in a block of memory of just its size. */
static int has_block(const struct any_descriptor *a) {
    size_t bytes = a->d.elem_len;
    ptrdiff_t stride = 1;
    for (int i = 0; i < a->d.rank; i++) {
        const ptrdiff_t extent = a->dim[i].upper - a->dim[i].lower + 1;
        if (a->dim[i].stride != stride || extent < 0 || __builtin_mul_overflow(stride, extent, &stride)) return 0;
    }
    if (__builtin_mul_overflow(bytes, (size_t)stride, &bytes)) return 0;
    return rmai_caf_component_is(a->d.base, bytes ? bytes : 1, SIZE_MAX);
}

/* The memory of the array component whose descriptor the token follows; NULL if that is not certain: then the memory
 * stays. The descriptor has codimensions, too: as many as the first coarray that gfortran has seen with the type. What
 * MOVE_ALLOC has put there has the token of another variable, or none. */
static void *array_before(caf_token *token) {
    char before[sizeof(struct any_descriptor)];
    const int known = *token == &array_component;
    struct any_descriptor a;
    if (!known) rmai_caf_peek(before, (char *)token - sizeof before, sizeof before);
    for (int dims = 1; dims <= RMAI_CAF_DIMS; dims++) {
        const size_t len = sizeof a.d + (size_t)dims * sizeof a.dim[0];
        memcpy(&a, known ? (char *)token - len : before + sizeof before - len, len);
        if (a.d.base && rmai_caf_descriptor_is(&a.d, dims) && (known || has_block(&a))) return a.d.base;
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
    if (has_memory(s)) rmai_caf_component_free(s->memory);
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
