/* SPDX-License-Identifier: BSD-3-Clause */
/* gfortran's collective subroutines: sections become contiguous, and the user's function of CO_REDUCE is called as the
 * compiler has compiled it. */
#include "config.h"

#include "caf/collective.h"
#include "caf/gfortran.h"

#include <complex.h>
#include <stdlib.h>
#include <string.h>

/* A contiguous copy of an array, or the array itself if it is contiguous. */
struct packed {
    struct rmai_caf_box box;
    ptrdiff_t stride[RMAI_CAF_DIMS], packed_stride[RMAI_CAF_DIMS];
    char *data;
    int copied;
};

static void pack(struct packed *p, const char *statement, const struct descriptor *a) {
    rmai_caf_box_of(a, &p->box, p->stride);
    rmai_caf_box_packed(&p->box, a->elem_len, p->packed_stride);
    p->copied = 0;
    for (int d = 0; d < p->box.dims; d++)
        if (p->box.count[d] > 1 && p->stride[d] != p->packed_stride[d]) p->copied = 1;
    p->data = a->base;
    if (!p->copied) return;
    p->data = rmai_caf_memory(statement, p->box.n * a->elem_len);
    rmai_caf_copy(p->data, p->packed_stride, a->base, p->stride, &p->box, a->elem_len);
}

static void unpack(struct packed *p, const struct descriptor *a) {
    if (!p->copied) return;
    rmai_caf_copy(a->base, p->stride, p->data, p->packed_stride, &p->box, a->elem_len);
    free(p->data);
}

/* The kind follows from the number of bytes. REAL(10) and REAL(16) both take 16 bytes, and nothing tells them apart:
 * they count as REAL(16). */
static struct rmai_caf_type type_of(const struct descriptor *a, int characters) {
    struct rmai_caf_type t = {.type = a->type, .kind = (int)a->elem_len, .elem = a->elem_len};
    switch (a->type) {
        case RMAI_CAF_COMPLEX: t.kind = (int)(a->elem_len / 2); break;
        case RMAI_CAF_CHARACTER: t.kind = characters > 0 ? (int)(a->elem_len / (size_t)characters) : 1; break;
        default: break;
    }
#ifdef __SIZEOF_FLOAT128__
        /* REAL(10) takes 16 bytes, as REAL(16) does. gfortran gives it an element length of 10 or 16, depending on the
         * version; version numbers of the descriptor do not help. */
#endif
    return t;
}

void _gfortran_caf_co_broadcast(struct descriptor *a, int source, int *stat, char *errmsg, size_t errmsg_len) {
    struct packed p;
    pack(&p, "CO_BROADCAST", a);
    rmai_caf_broadcast(result_at(stat, errmsg, errmsg_len), p.data, p.box.n * a->elem_len, source);
    unpack(&p, a);
}

static void reduce(struct descriptor *a, const char *statement, enum rmai_caf_reduction op, int result,
                   struct rmai_caf_result r, int characters) {
    struct packed p;
    pack(&p, statement, a);
    rmai_caf_reduce(r, statement, op, p.data, p.box.n, type_of(a, characters), result, NULL, NULL);
    unpack(&p, a);
}

void _gfortran_caf_co_sum(struct descriptor *a, int result, int *stat, char *errmsg, size_t errmsg_len) {
    reduce(a, "CO_SUM", RMAI_CAF_SUM, result, result_at(stat, errmsg, errmsg_len), 0);
}

void _gfortran_caf_co_min(struct descriptor *a, int result, int *stat, char *errmsg, int a_len, size_t errmsg_len) {
    reduce(a, "CO_MIN", RMAI_CAF_MIN, result, result_at(stat, errmsg, errmsg_len), late_length(errmsg, a_len));
}

void _gfortran_caf_co_max(struct descriptor *a, int result, int *stat, char *errmsg, int a_len, size_t errmsg_len) {
    reduce(a, "CO_MAX", RMAI_CAF_MAX, result, result_at(stat, errmsg, errmsg_len), late_length(errmsg, a_len));
}

/* ---- CO_REDUCE ---- */

/* How the user's function takes its arguments (flags of the manual). */
enum { FLAG_BY_REFERENCE = 1, FLAG_HIDDEN_LENGTH = 2, FLAG_BY_VALUE = 4, FLAG_DESCRIPTOR = 8 };

typedef void any_function(void);

struct user {
    any_function *function;
    int flags;
    struct rmai_caf_type type;
    int characters;
};

#define CALL(TYPE)                                                                                                     \
    do {                                                                                                               \
        TYPE x, y;                                                                                                     \
        memcpy(&x, a, sizeof x);                                                                                       \
        memcpy(&y, b, sizeof y);                                                                                       \
        x = u->flags & FLAG_BY_VALUE ? ((TYPE(*)(TYPE, TYPE))u->function)(x, y)                                        \
                                     : ((TYPE(*)(TYPE *, TYPE *))u->function)(&x, &y);                                 \
        memcpy(a, &x, sizeof x);                                                                                       \
        return;                                                                                                        \
    } while (0)

static void call_user(const struct user *u, char *a, char *b) {
    size_t elem = u->type.elem, length = (size_t)u->characters;
    switch (u->type.type) {
        case RMAI_CAF_INTEGER:
        case RMAI_CAF_LOGICAL:
            switch (elem) {
                case 1: CALL(int8_t);
                case 2: CALL(int16_t);
                case 4: CALL(int32_t);
                case 8: CALL(int64_t);
                default: CALL(__int128);
            }
        case RMAI_CAF_REAL:
            switch (u->type.kind) {
                case 4: CALL(float);
                case 8: CALL(double);
                case 10: CALL(long double);
#ifdef __SIZEOF_FLOAT128__
                default: CALL(__float128);
#else
                default: CALL(long double);
#endif
            }
        case RMAI_CAF_COMPLEX:
            if (u->type.kind == 4) CALL(float _Complex);
            CALL(double _Complex);
        case RMAI_CAF_CHARACTER: {
            char *result = rmai_caf_memory("CO_REDUCE", elem);
            ((void (*)(char *, size_t, char *, char *, size_t, size_t))u->function)(result, length, a, b, length,
                                                                                    length);
            memcpy(a, result, elem);
            free(result);
            return;
        }
        default: { /* a derived type, whose result goes through a hidden first argument */
            char *result = rmai_caf_memory("CO_REDUCE", elem);
            ((void (*)(char *, char *, char *))u->function)(result, a, b);
            memcpy(a, result, elem);
            free(result);
        }
    }
}

static void combine_by_user(void *acc, const void *x, size_t n, const void *context) {
    const struct user *u = context;
    for (size_t i = 0; i < n; i++)
        call_user(u, (char *)acc + i * u->type.elem, (char *)(uintptr_t)x + i * u->type.elem);
}

/* 1 if the user's function can be called. The calling convention returns short derived types in registers that depend
 * on their components, which the library does not know. */
static int is_callable(const struct user *u) {
    if (u->flags & FLAG_DESCRIPTOR) return 0;
    if (u->type.type == RMAI_CAF_COMPLEX) return u->type.kind <= 8;
    if (u->type.type >= RMAI_CAF_INTEGER && u->type.type <= RMAI_CAF_REAL) return 1;
    if (u->type.type == RMAI_CAF_CHARACTER) return 1;
#ifdef __x86_64__
    return u->type.elem > 16 && !(u->flags & FLAG_BY_VALUE);
#else
    return 0;
#endif
}

void _gfortran_caf_co_reduce(struct descriptor *a, void *(*operation)(void *, void *), int flags, int result, int *stat,
                             char *errmsg, int a_len, size_t errmsg_len) {
    struct rmai_caf_result r = result_at(stat, errmsg, errmsg_len);
    struct user u = {
        .function = (any_function *)operation, .flags = flags, .type = type_of(a, late_length(errmsg, a_len))};
    struct packed p;
    u.characters = late_length(errmsg, a_len);
    if (!is_callable(&u)) {
        rmai_caf_report(r, RMAI_CAF_STAT_ARGUMENT,
                        "CO_REDUCE: the library cannot call functions of gfortran's type %d with %zu bytes",
                        u.type.type, u.type.elem);
        return;
    }
    pack(&p, "CO_REDUCE", a);
    rmai_caf_reduce(r, "CO_REDUCE", RMAI_CAF_USER, p.data, p.box.n, u.type, result, combine_by_user, &u);
    unpack(&p, a);
}
