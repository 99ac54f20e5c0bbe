/* SPDX-License-Identifier: BSD-3-Clause */
/* gfortran's collective subroutines. Sections become contiguous, and the user's function of CO_REDUCE is called as the
 * compiler has compiled it. */
#include "config.h"

#include "interfaces/caf/collective.h"
#include "interfaces/caf/component.h"
#include "interfaces/caf/gfortran.h"
#include "interfaces/caf/sync.h"
#include "interfaces/caf/team.h"

#include <complex.h>
#include <stdlib.h>
#include <string.h>

#define FRAME     65536                /* bytes of a procedure's frame, in which gfortran makes descriptors */
#define NEAR      4096                 /* bytes of a derived type */
#define RECENT    64                   /* broadcasts */
#define TYPE_VOID 10                   /* gfortran's BT_VOID */
#define SPAN_MOST ((ptrdiff_t)1 << 31) /* more bytes than an element of an array has */

/* A contiguous copy of an array, or the array itself if it is contiguous. */
struct packed {
    const struct descriptor *a;
    struct rmai_caf_box box;
    ptrdiff_t stride[RMAI_CAF_DIMS], packed_stride[RMAI_CAF_DIMS];
    char *data;
    int copied;
};

/* gfortran 12 broadcasts a component of a derived type by a descriptor of one dimension that it makes for the call. If
 * the component is one text, that does not have its address, but the address of a second descriptor, which has. Both
 * are in the frame of the caller. */
static const struct descriptor *component_text(const struct descriptor *a) {
    const struct descriptor *text = a->base;
    const ptrdiff_t distance = (char *)a->base - (const char *)a;
    if (a->type != RMAI_CAF_CHARACTER || a->rank != 1 || a->dim[0].lower != 1 || a->dim[0].upper != 1) return a;
    if (distance < -FRAME || distance > FRAME || (uintptr_t)text % sizeof(void *) != 0) return a;
    return text->rank == 0 && text->type == a->type && text->elem_len == a->elem_len &&
                   text->span == (ptrdiff_t)text->elem_len
               ? text
               : a;
}

/* Where the last broadcasts were. */
static const char *recent[RECENT];
static unsigned n_recent;

static int was_broadcast(const void *base) {
    for (int k = 0; k < RECENT; k++)
        if (recent[k] == base) return 1;
    return 0;
}

/* 1 if what was broadcast before may be another component of the same variable: it is near this address, or memory to
 * which something near this address points. */
static int follows_component(const char *base) {
    char around[NEAR];
    rmai_caf_peek(around, base - NEAR / 2, sizeof around);
    for (int k = 0; k < RECENT && recent[k]; k++) {
        if (recent[k] - base < NEAR / 2 && base - recent[k] < NEAR / 2) return 1;
        for (size_t i = -(uintptr_t)base % sizeof(void *); i + sizeof(void *) <= sizeof around; i += sizeof(void *))
            if (memcmp(around + i, &recent[k], sizeof recent[k]) == 0) return 1;
    }
    return 0;
}

/* The span of the section of text components that is being broadcast, and of the one before; 0: it is no such one. */
static ptrdiff_t this_section, last_section;

/* The descriptor that gfortran 12 makes for a component has contiguous elements, and its span and offset are unset.
 * They may be left over from another one, and even agree with its bounds. Then it looks like a pointer to components of
 * larger elements. It is one of a component if elements so far apart would not be aligned, if there is a block of
 * memory of just its size, or a component of the same variable was broadcast before. gfortran passes sections of text
 * components (x%text) with such descriptors, too: one after the other. Returns 0 after it has reported that it cannot
 * tell. */
static int believe_span(struct packed *p, const struct descriptor *a) {
    if (p->box.dims != 1 || a->dim[0].lower != 1 || a->dim[0].stride != 1 || p->stride[0] == p->packed_stride[0] ||
        p->box.n < 2)
        return 1;
    const ptrdiff_t align = a->type == RMAI_CAF_CHARACTER ? 1 : a->elem_len % 4 == 0 ? 4 : (ptrdiff_t)a->elem_len;
    const size_t apart = (p->box.n - 1) * (size_t)a->span + a->elem_len;
    if (a->span >= SPAN_MOST || a->span % align != 0 || rmai_caf_component_is(a->base, p->box.n * a->elem_len, apart) ||
        (a->span != last_section && follows_component(a->base))) {
        p->stride[0] = p->packed_stride[0];
        return 1;
    }
    if (a->type == RMAI_CAF_CHARACTER) {
        this_section = a->span;
        return 1;
    }
    rmai_caf_report(RMAI_CAF_NO_RESULT, RMAI_CAF_STAT_ARGUMENT,
                    "CO_BROADCAST: the compiler does not tell whether the elements are contiguous, or %td bytes apart: "
                    "use a variable of its own",
                    a->span);
    return 0;
}

/* made_up: the compiler may have made the descriptor of a component. Returns 0 after it has reported that the array is
 * not there. */
static int pack_array(struct packed *p, struct rmai_caf_result r, const char *statement, const struct descriptor *a,
                      int made_up) {
    if (made_up) a = component_text(a);
    p->a = a;
    rmai_caf_box_of(a, &p->box, p->stride);
    rmai_caf_box_packed(&p->box, a->elem_len, p->packed_stride);
    if (made_up && !believe_span(p, a)) return 0;
    p->copied = 0;
    for (int d = 0; d < p->box.dims; d++)
        if (p->box.count[d] > 1 && p->stride[d] != p->packed_stride[d]) p->copied = 1;
    p->data = a->base;
    if (!p->data && p->box.n > 0 && a->elem_len > 0) {
        rmai_caf_report(r, RMAI_CAF_STAT_ARGUMENT,
                        "%s: the variable, or a component of it, is not allocated on this image", statement);
        return 0;
    }
    if (!p->copied) return 1;
    p->data = rmai_caf_array(statement, p->box.n, a->elem_len);
    rmai_caf_copy(p->data, p->packed_stride, a->base, p->stride, &p->box, a->elem_len);
    return 1;
}

static void unpack_array(struct packed *p) {
    if (!p->copied) return;
    rmai_caf_copy(p->a->base, p->stride, p->data, p->packed_stride, &p->box, p->a->elem_len);
    free(p->data);
}

/* ---- the kind of an element ---- */

#if defined(__SIZEOF_FLOAT128__) && __LDBL_MANT_DIG__ == 64
/* REAL(10) takes 16 bytes, as REAL(16) does, and no argument tells them apart; only their values can. REAL(10) has 10
 * bytes: 64 bits with a leading 1, then sign and exponent; what follows is left as it was, and may be part of a double.
 * REAL(16) has sign and exponent in its last 2 bytes. A number counts as one of a kind if its magnitude is within
 * 2^-RANGE to 2^RANGE.
 *
 * LOOKS_16: as REAL(16) a number with few digits, as REAL(10) a 0. EITHER: of both kinds, as one of 16 arbitrary
 * numbers of REAL(16) is; where MANY different ones are, and none is certainly of REAL(16), all are of REAL(10). */
#define RANGE 2048
#define MANY  4
enum { EITHER = 1, LOOKS_16 = 2, IS_10 = 4, IS_16 = 8, MANY_EITHER = 16 };

static int is_in_range(unsigned sign_and_exponent) {
    const int exponent = (int)(sign_and_exponent & 0x7fff) - 0x3fff;
    return exponent >= -RANGE && exponent <= RANGE;
}

static unsigned kind_of(const char *number) {
    uint64_t bits[2];
    memcpy(bits, number, sizeof bits);
    const unsigned top = (unsigned)(bits[1] >> 48), low = (unsigned)bits[1] & 0xffff;
    if (!bits[0] && !(bits[1] << 1)) return 0; /* 0 in both kinds, or -0 */
    if (!bits[0] && !(low & 0x7fff)) {
        const int is_power = !(bits[1] & 0xffffffffffff); /* of 2, or infinite: TINY, 2^3000 */
        return is_in_range(top) || (is_power && top & 0x7fff) ? LOOKS_16 : IS_10;
    }
    const int may_be_10 = bits[0] >> 63 && is_in_range(low), may_be_16 = is_in_range(top);
    if (may_be_10 == may_be_16) return EITHER;
    return may_be_10 ? IS_10 : IS_16;
}

/* The kind that all these flags tell, or 0 if they do not. */
static int kind_by(unsigned flags) {
    if (flags & IS_10 && flags & IS_16) return 0;
    if (flags & IS_10) return 10;
    if (flags & IS_16 || !(flags & EITHER)) return 16;
    return flags & MANY_EITHER ? 10 : 0;
}

/* Decides between the two kinds for all images of the team. Returns 0 after it has reported that it cannot. */
static int decide_kind(struct rmai_caf_result r, const char *statement, const struct packed *p, int parts,
                       uint64_t says, int *kind) {
    const char *different[MANY];
    uint64_t flags = 0;
    int n = 0;
    for (size_t i = 0; i < p->box.n * (size_t)parts; i++) {
        const char *number = p->data + 16 * i;
        const unsigned one = kind_of(number);
        int seen = one != EITHER || n == MANY;
        flags |= one;
        for (int k = 0; k < n && !seen; k++) seen = memcmp(different[k], number, 10) == 0;
        if (!seen) different[n++] = number;
    }
    if (n == MANY) flags |= MANY_EITHER;
    if (!rmai_caf_sync_saying(r, statement, rmai_caf.team, says)) return 0;
    rmai_caf_must(rma_or_reduce_uint64(rmai_caf.team->native, &flags, &flags, 1));
    if ((*kind = kind_by((unsigned)flags))) return 1;
    rmai_caf_report(r, RMAI_CAF_STAT_ARGUMENT,
                    "%s: the compiler does not tell whether the numbers are of REAL(10) or REAL(16), and their values "
                    "do not, either: use another kind",
                    statement);
    return 0;
}
#else
static int decide_kind(struct rmai_caf_result r, const char *statement, const struct packed *p, int parts,
                       uint64_t says, int *kind) {
    (void)r, (void)statement, (void)p, (void)parts, (void)says;
    *kind = 16;
    return 1;
}
#endif

/* The kind follows from the number of bytes. characters: in an element. Returns 0 after it has reported an error; on
 * all images, if on one. */
static int find_type(struct rmai_caf_result r, const char *statement, const struct packed *p, int characters,
                     uint64_t says, struct rmai_caf_type *t) {
    const size_t elem = p->a->elem_len;
    *t = (struct rmai_caf_type){.type = p->a->type, .kind = (int)elem, .elem = elem};
    switch (t->type) {
        case RMAI_CAF_REAL: return elem != 16 || decide_kind(r, statement, p, 1, says, &t->kind);
        case RMAI_CAF_COMPLEX:
            t->kind = (int)(elem / 2);
            return elem != 32 || decide_kind(r, statement, p, 2, says, &t->kind);
        case RMAI_CAF_CHARACTER: t->kind = characters > 0 ? (int)(elem / (size_t)characters) : 1; return 1;
        default: return 1;
    }
}

/* ---- the calls but CO_REDUCE ---- */

/* gfortran 12 broadcasts the components of nested types one by one, and then the nested variables themselves: with the
 * descriptors of their allocatable components, which must remain those of this image. */
static void keep_descriptors(struct packed *p, const char *before) {
    struct descriptor d;
    const size_t elem = p->a->elem_len;
    for (size_t i = 0; i < p->box.n; i++)
        for (size_t at = i * elem; at + sizeof d <= (i + 1) * elem; at += sizeof(void *)) {
            memcpy(&d, before + at, sizeof d);
            const size_t len = sizeof d + (size_t)d.rank * sizeof d.dim[0];
            if (d.base && was_broadcast(d.base) && rmai_caf_descriptor_is(&d, RMAI_CAF_DIMS) &&
                at + len <= (i + 1) * elem)
                memcpy(p->data + at, before + at, len);
        }
}

void _gfortran_caf_co_broadcast(struct descriptor *a, int source, int *stat, char *errmsg, size_t errmsg_len) {
    struct rmai_caf_result r = result_at(stat, errmsg, errmsg_len);
    struct packed p;
    if (a->type == TYPE_VOID) { /* the token of a component, which gfortran 12 broadcasts as well */
        rmai_caf_done(r);
        return;
    }
    last_section = this_section;
    this_section = 0;
    if (!pack_array(&p, r, "CO_BROADCAST", a, 1)) return;
    recent[n_recent++ % RECENT] = p.a->base;
    const size_t bytes = p.box.n * p.a->elem_len;
    char *before = p.a->type == RMAI_CAF_DERIVED ? rmai_caf_memory("CO_BROADCAST", bytes) : NULL;
    if (before) memcpy(before, p.data, bytes);
    rmai_caf_broadcast(r, p.data, bytes, source);
    if (before) keep_descriptors(&p, before);
    free(before);
    unpack_array(&p);
}

static void reduce_array(struct descriptor *a, const char *statement, enum rmai_caf_collective op, int result,
                         struct rmai_caf_result r, int characters) {
    struct rmai_caf_type type;
    struct packed p;
    if (!pack_array(&p, r, statement, a, 0)) return;
    if (find_type(r, statement, &p, characters, rmai_caf_says(op, result, p.box.n * p.a->elem_len), &type))
        rmai_caf_reduce(r, statement, op, p.data, p.box.n, type, result, NULL, NULL);
    unpack_array(&p);
}

void _gfortran_caf_co_sum(struct descriptor *a, int result, int *stat, char *errmsg, size_t errmsg_len) {
    reduce_array(a, "CO_SUM", RMAI_CAF_SUM, result, result_at(stat, errmsg, errmsg_len), 0);
}

void _gfortran_caf_co_min(struct descriptor *a, int result, int *stat, char *errmsg, int a_len, size_t errmsg_len) {
    reduce_array(a, "CO_MIN", RMAI_CAF_MIN, result, result_at(stat, errmsg, errmsg_len), late_length(errmsg, a_len));
}

void _gfortran_caf_co_max(struct descriptor *a, int result, int *stat, char *errmsg, int a_len, size_t errmsg_len) {
    reduce_array(a, "CO_MAX", RMAI_CAF_MAX, result, result_at(stat, errmsg, errmsg_len), late_length(errmsg, a_len));
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
    static const char statement[] = "CO_REDUCE";
    struct rmai_caf_result r = result_at(stat, errmsg, errmsg_len);
    struct user u = {.function = (any_function *)operation, .flags = flags, .characters = late_length(errmsg, a_len)};
    struct packed p;
    if (!pack_array(&p, r, statement, a, 0)) return;
    if (find_type(r, statement, &p, u.characters, rmai_caf_says(RMAI_CAF_USER, result, p.box.n * p.a->elem_len),
                  &u.type)) {
        if (is_callable(&u))
            rmai_caf_reduce(r, statement, RMAI_CAF_USER, p.data, p.box.n, u.type, result, combine_by_user, &u);
        else
            rmai_caf_report(r, RMAI_CAF_STAT_ARGUMENT,
                            "CO_REDUCE: the library cannot call functions of gfortran's type %d with %zu bytes",
                            u.type.type, u.type.elem);
    }
    unpack_array(&p);
}
