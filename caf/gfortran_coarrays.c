/* SPDX-License-Identifier: BSD-3-Clause */
/* gfortran's calls that make and free coarrays and their components. Static coarrays are registered by constructors,
 * before main and before _gfortran_caf_init: the first one starts the library.
 *
 * A component gets a token of its own when it gets memory, whatever the token was before: gfortran does not register
 * each component first, and copies unregistered ones from its stack. */
#include "config.h"

#include "caf/gfortran.h"

void _gfortran_caf_register(size_t size, int type, caf_token *token, struct descriptor *desc, int *stat, char *errmsg,
                            size_t errmsg_len) {
    struct rmai_caf_result r = result_at(stat, errmsg, errmsg_len);
    struct rmai_caf_coarray *c = NULL;
    const int is_allocatable = type == REGISTER_ALLOC || type == REGISTER_LOCK_ALLOC || type == REGISTER_EVENT_ALLOC;
    int zero = 1;
    rmai_caf_start();
    switch (type) {
        case REGISTER_COMPONENT:
            *token = NULL;
            rmai_caf_done(r);
            return;
        case REGISTER_COMPONENT_MEMORY:
            if (!(c = rmai_caf_component_make(r, size))) return;
            *token = c;
            desc->base = c->base;
            return;
        case REGISTER_STATIC:
        case REGISTER_ALLOC: zero = type == REGISTER_STATIC; break;
        case REGISTER_LOCK_STATIC:
        case REGISTER_LOCK_ALLOC:
        case REGISTER_CRITICAL:
        case REGISTER_EVENT_STATIC:
        case REGISTER_EVENT_ALLOC:
            if (__builtin_mul_overflow(size, sizeof(uint64_t), &size)) size = SIZE_MAX;
            break;
        default:
            rmai_caf_report(r, RMAI_CAF_STAT_ARGUMENT,
                            "ALLOCATE: this library does not know coarrays of kind %d: the compiler is newer", type);
            return;
    }
    *token = c = rmai_caf_coarray_make(r, size, zero);
    if (!c) {
        if (stat) rmai_caf_sync_is_of_allocate();
        return;
    }
    desc->base = c->base;
    c->is_plain = desc->type >= RMAI_CAF_INTEGER && desc->type <= RMAI_CAF_CHARACTER && desc->type != RMAI_CAF_DERIVED;
    if (is_allocatable) rmai_caf_variable_made(c, desc, token);
}

void _gfortran_caf_deregister(caf_token *token, int type, int *stat, char *errmsg, size_t errmsg_len) {
    struct rmai_caf_result r = result_at(stat, errmsg, errmsg_len);
    struct rmai_caf_coarray *c = *token;
    (void)type; /* a component's token goes with its memory */
    *token = NULL;
    if (c)
        rmai_caf_coarray_free(r, c);
    else
        rmai_caf_done(r);
}
