/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files that answer gfortran's calls have in common. instruments/call_lists/gfortran.h lists the calls. */
#ifndef RMAI_CAF_GFORTRAN_H
#define RMAI_CAF_GFORTRAN_H

#include "interfaces/caf/coarray.h"
#include "interfaces/caf/core.h"
#include "interfaces/caf/move.h"
#include "instruments/call_lists/gfortran.h"

_Static_assert(RMAI_CAF_DIMS == CALLS_DIMS, "gfortran's limit");

/* A descriptor of any rank. */
struct any_descriptor {
    struct descriptor d;
    struct dimension dim[RMAI_CAF_DIMS];
};

static inline void rmai_caf_descriptor_copy(struct any_descriptor *to, const struct descriptor *from) {
    __builtin_memcpy(to, from, sizeof *from + (size_t)from->rank * sizeof from->dim[0]);
}

/* 1 if this looks like the descriptor of an array with at most `dims` dimensions and codimensions. */
static inline int rmai_caf_descriptor_is(const struct descriptor *d, int dims) {
    return d->rank > 0 && d->rank <= dims && d->version == 0 && d->type >= RMAI_CAF_INTEGER &&
           d->type <= RMAI_CAF_CHARACTER;
}

/* The variable of ERRMSG=. gfortran 12 passes it in three ways. LOCK, EVENT, ALLOCATE: its address. SYNC: the address
 * of its address. Collective subroutines: the variable itself. On x86-64 a long variable is then passed in memory, and
 * each argument after it is in the register of the argument before: so errmsg is a length, and not an address. */
static inline int is_address(const char *errmsg) { return (uintptr_t)errmsg > 1 << 16 && (uintptr_t)errmsg >> 48 == 0; }

/* The length that is the argument after ERRMSG= of a collective subroutine. */
static inline int late_length(const char *errmsg, int length) {
    return errmsg && !is_address(errmsg) ? (int)(uintptr_t)errmsg : length;
}

/* The variable of ERRMSG= of a SYNC statement. If the first 8 bytes are no address, they are text, and errmsg is the
 * variable itself: the upper two bytes of an address are 0. */
static inline char *sync_message(char *errmsg) {
    char *at;
    if (!errmsg) return NULL;
    __builtin_memcpy(&at, errmsg, sizeof at);
    return is_address(at) ? at : errmsg;
}

/* The variables of STAT= and ERRMSG= of a call that passes their addresses. */
static inline struct rmai_caf_result result_at(int *stat, char *errmsg, size_t len) {
    int writable = is_address(errmsg);
    return (struct rmai_caf_result){.stat = stat, .errmsg = writable ? errmsg : NULL, .errmsg_len = writable ? len : 0};
}

/* Reports the failure of the image on pe, and returns 1, if that image has failed: its memory still exists, but the
 * program must learn of the failure. An image that has stopped can be read: the result is 0. */
static inline int has_failed(struct rmai_caf_result r, const char *statement, int pe) {
    if (__builtin_expect(!rmai_caf.self->gone, 1) || rmai_caf_status(pe) != RMAI_CAF_STAT_FAILED) return 0;
    rmai_caf_report(r, RMAI_CAF_STAT_FAILED, "%s: the image with index %d in the initial team has failed", statement,
                    pe + 1);
    return 1;
}

/* 1: the program registers accessors, so gfortran 15 or later has compiled it (gfortran_accessors.c). */
extern int rmai_caf_has_accessors;

/* rmai_caf_span_of returns the bytes that a stride of a descriptor counts. They are the bytes of an element, or more
 * where the elements are components of larger ones. gfortran leaves the span and the offset of some descriptors that it
 * makes for a call unset (the components of CO_BROADCAST), and gives text in a CLASS(*) a span of one character. So a
 * span counts if it holds an element, and if the offset agrees with the bounds: then the compiler has set both. */
ptrdiff_t rmai_caf_span_of(const struct descriptor *d);

/* The box and strides of a descriptor. */
void rmai_caf_box_of(const struct descriptor *d, struct rmai_caf_box *box, ptrdiff_t *strides);

static inline struct rmai_caf_type rmai_caf_type_of(const struct descriptor *d, int kind) {
    return (struct rmai_caf_type){.type = d->type, .kind = kind, .elem = d->elem_len};
}

/* rmai_caf_box_cut removes dimensions at the end of a box if the others have n elements. gfortran 12 gives an array
 * that it makes of elements with a vector subscript and single subscripts (a(v,2)) too many dimensions, with any
 * bounds. */
void rmai_caf_box_cut(struct rmai_caf_box *box, size_t n);

/* rmai_caf_assign_to and rmai_caf_assign_from: an assignment between elements here and elements of some image, with
 * conversion. A scalar is assigned to all elements. overlap: 1 if the two may be the same memory. */
void rmai_caf_assign_to(struct rmai_caf_result r, const char *statement, const struct rmai_caf_remote *to,
                        struct rmai_caf_type to_type, const struct rmai_caf_local *from, struct rmai_caf_type from_type,
                        const struct rmai_caf_box *box, int overlap);
void rmai_caf_assign_from(struct rmai_caf_result r, const char *statement, const struct rmai_caf_local *to,
                          struct rmai_caf_type to_type, const struct rmai_caf_remote *from,
                          struct rmai_caf_type from_type, const struct rmai_caf_box *box, int overlap);

/* rmai_caf_variable_is_at: 1 if the two are one variable, an allocatable coarray or an array component: the token
 * follows the bounds and cobounds of the descriptor. rmai_caf_variable_has: 1 if the token that the program is about to
 * give back is that of coarray c, and not the copy of it in another place.
 *
 * rmai_caf_variable_made notes where the program keeps an allocatable coarray that is being registered.
 * rmai_caf_variable_shape returns the descriptor that an allocatable array had when it was allocated, or NULL.
 * rmai_caf_variables_read is called at SYNC ALL if there are fresh variables, whose bounds it copies. */
int rmai_caf_variable_is_at(const struct descriptor *d, const caf_token *token);
int rmai_caf_variable_has(const struct rmai_caf_coarray *c, caf_token *token);
void rmai_caf_variable_made(struct rmai_caf_coarray *c, struct descriptor *d, caf_token *token);
const struct descriptor *rmai_caf_variable_shape(const struct rmai_caf_coarray *c);
extern struct rmai_caf_variable *rmai_caf_variables_fresh;
void rmai_caf_variables_read(void);

/* rmai_caf_vector_value returns element i of a vector of integers of this kind. */
ptrdiff_t rmai_caf_vector_value(const void *values, int kind, ptrdiff_t i);

/* rmai_caf_conform: 1 if an assignment has as many elements on both sides; 0 after it has reported that it has not. */
int rmai_caf_conform(struct rmai_caf_result r, const char *statement, size_t from, size_t to);

/* gfortran ends each ALLOCATE of a coarray with a SYNC ALL without STAT=, even one that has failed. If the ALLOCATE had
 * STAT= and an image has left, that SYNC ALL must not end the job: rmai_caf_sync_is_of_allocate says so in advance. */
void rmai_caf_sync_is_of_allocate(void);

#endif
