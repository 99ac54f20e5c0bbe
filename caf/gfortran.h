/* SPDX-License-Identifier: BSD-3-Clause */
/* The interface between programs that gfortran compiles with -fcoarray=lib and this library, as the GNU Fortran manual
 * describes it ("Coarray Programming": types and functions), and libgfortran's array descriptors. gfortran 15 replaced
 * the transfers by others (gfortran_accessors.c), and gave the calls on teams more arguments. */
#ifndef RMAI_CAF_GFORTRAN_H
#define RMAI_CAF_GFORTRAN_H

#include "caf/coarray.h"
#include "caf/core.h"
#include "caf/move.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rmai_caf_coarray *caf_token;
typedef struct rmai_caf_team *caf_team;

struct dimension {
    ptrdiff_t stride, lower, upper; /* the stride is in elements of span bytes */
};

struct descriptor {
    void *base;
    ptrdiff_t offset;
    size_t elem_len;
    int version;
    signed char rank, type;
    short attribute;
    ptrdiff_t span;
    struct dimension dim[];
};
_Static_assert(sizeof(struct descriptor) == 40 || sizeof(void *) != 8, "libgfortran's layout");

/* A vector subscript of one dimension; n is 0 if the dimension has a triplet. */
struct vector {
    size_t n;
    union {
        struct {
            void *values;
            int kind;
        } v;
        struct {
            ptrdiff_t lower, upper, stride;
        } triplet;
    } u;
};

enum reference_type { REFERENCE_COMPONENT, REFERENCE_ARRAY, REFERENCE_STATIC_ARRAY };
enum reference_mode {
    MODE_NONE, /* after the last dimension */
    MODE_VECTOR,
    MODE_FULL,
    MODE_RANGE,
    MODE_SINGLE,
    MODE_OPEN_END,
    MODE_OPEN_START
};

/* One step from a coarray to a part of it. */
struct reference {
    struct reference *next;
    int type;
    size_t item_size;
    union {
        struct {
            ptrdiff_t offset;
            ptrdiff_t token_offset; /* not 0: an allocatable or pointer component */
        } c;
        struct {
            unsigned char mode[RMAI_CAF_DIMS];
            int static_type;
            union {
                struct {
                    ptrdiff_t start, end, stride;
                } s;
                struct {
                    void *values;
                    size_t n;
                    int kind;
                } v;
            } dim[RMAI_CAF_DIMS];
        } a;
    } u;
};

enum register_type {
    REGISTER_STATIC,
    REGISTER_ALLOC,
    REGISTER_LOCK_STATIC,
    REGISTER_LOCK_ALLOC,
    REGISTER_CRITICAL,
    REGISTER_EVENT_STATIC,
    REGISTER_EVENT_ALLOC,
    REGISTER_COMPONENT,       /* a component without memory */
    REGISTER_COMPONENT_MEMORY /* memory for it */
};
enum deregister_type { DEREGISTER, DEREGISTER_MEMORY_ONLY };

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

/* The box and strides of a descriptor. */
void rmai_caf_box_of(const struct descriptor *d, struct rmai_caf_box *box, ptrdiff_t *strides);

static inline struct rmai_caf_type rmai_caf_type_of(const struct descriptor *d, int kind) {
    return (struct rmai_caf_type){.type = d->type, .kind = kind, .elem = d->elem_len};
}

/* rmai_caf_assign_to and rmai_caf_assign_from: an assignment between elements here and elements of some image, with
 * conversion. A scalar is assigned to all elements. overlap: 1 if the two may be the same memory. */
void rmai_caf_assign_to(struct rmai_caf_result r, const char *statement, const struct rmai_caf_remote *to,
                        struct rmai_caf_type to_type, const struct rmai_caf_local *from, struct rmai_caf_type from_type,
                        const struct rmai_caf_box *box, int overlap);
void rmai_caf_assign_from(struct rmai_caf_result r, const char *statement, const struct rmai_caf_local *to,
                          struct rmai_caf_type to_type, const struct rmai_caf_remote *from,
                          struct rmai_caf_type from_type, const struct rmai_caf_box *box, int overlap);

/* rmai_caf_vector_value returns element i of a vector of integers of this kind. */
ptrdiff_t rmai_caf_vector_value(const void *values, int kind, size_t i);

/* gfortran ends each ALLOCATE of a coarray with a SYNC ALL without STAT=, even one that has failed. If the ALLOCATE had
 * STAT= and an image has left, that SYNC ALL must not end the job: rmai_caf_sync_is_of_allocate says so in advance. */
void rmai_caf_sync_is_of_allocate(void);

#pragma GCC visibility push(default)

void _gfortran_caf_init(int *argc, char ***argv);
void _gfortran_caf_finalize(void);
int _gfortran_caf_this_image(intptr_t distance_or_team);
int _gfortran_caf_num_images(intptr_t distance_or_team, intptr_t failed_or_number);
int _gfortran_caf_image_status(int image, caf_team *team);
void _gfortran_caf_failed_images(struct descriptor *array, caf_team *team, int *kind);
void _gfortran_caf_stopped_images(struct descriptor *array, caf_team *team, int *kind);
void _gfortran_caf_fail_image(void) __attribute__((noreturn));
void _gfortran_caf_stop_numeric(int code, bool quiet) __attribute__((noreturn));
void _gfortran_caf_stop_str(const char *text, size_t len, bool quiet) __attribute__((noreturn));
void _gfortran_caf_error_stop(int code, bool quiet) __attribute__((noreturn));
void _gfortran_caf_error_stop_str(const char *text, size_t len, bool quiet) __attribute__((noreturn));
void _gfortran_caf_random_init(bool repeatable, bool image_distinct);

void _gfortran_caf_sync_all(int *stat, char *errmsg, size_t errmsg_len);
void _gfortran_caf_sync_memory(int *stat, char *errmsg, size_t errmsg_len);
void _gfortran_caf_sync_images(int count, int *images, int *stat, char *errmsg, size_t errmsg_len);
void _gfortran_caf_sync_team(void *team, int *stat, char *errmsg, size_t errmsg_len);
void _gfortran_caf_form_team(int number, caf_team *team, int *new_index, int *stat, char *errmsg, size_t errmsg_len);
void _gfortran_caf_change_team(void *team, int *stat, char *errmsg, size_t errmsg_len);
void _gfortran_caf_end_team(int *stat, char *errmsg, size_t errmsg_len);
caf_team _gfortran_caf_get_team(int *level);
int _gfortran_caf_team_number(caf_team team);

void _gfortran_caf_register(size_t size, int type, caf_token *token, struct descriptor *desc, int *stat, char *errmsg,
                            size_t errmsg_len);
void _gfortran_caf_deregister(caf_token *token, int type, int *stat, char *errmsg, size_t errmsg_len);

void _gfortran_caf_send(caf_token token, size_t offset, int image, struct descriptor *dest, struct vector *dest_vector,
                        struct descriptor *source, int dest_kind, int source_kind, bool overlap, int *stat,
                        caf_team *team);
void _gfortran_caf_get(caf_token token, size_t offset, int image, struct descriptor *source,
                       struct vector *source_vector, struct descriptor *dest, int source_kind, int dest_kind,
                       bool overlap, int *stat);
void _gfortran_caf_sendget(caf_token dest_token, size_t dest_offset, int dest_image, struct descriptor *dest,
                           struct vector *dest_vector, caf_token source_token, size_t source_offset, int source_image,
                           struct descriptor *source, struct vector *source_vector, int dest_kind, int source_kind,
                           bool overlap, int *stat);
void _gfortran_caf_send_by_ref(caf_token token, int image, struct descriptor *source, struct reference *refs,
                               int dest_kind, int source_kind, bool overlap, bool reallocatable, int *stat,
                               int dest_type);
void _gfortran_caf_get_by_ref(caf_token token, int image, struct descriptor *dest, struct reference *refs,
                              int dest_kind, int source_kind, bool overlap, bool reallocatable, int *stat,
                              int source_type);
void _gfortran_caf_sendget_by_ref(caf_token dest_token, int dest_image, struct reference *dest_refs,
                                  caf_token source_token, int source_image, struct reference *source_refs,
                                  int dest_kind, int source_kind, bool overlap, int *dest_stat, int *source_stat,
                                  int dest_type, int source_type);
int _gfortran_caf_is_present(caf_token token, int image, struct reference *refs);

void _gfortran_caf_atomic_define(caf_token token, size_t offset, int image, void *value, int *stat, int type, int kind);
void _gfortran_caf_atomic_ref(caf_token token, size_t offset, int image, void *value, int *stat, int type, int kind);
void _gfortran_caf_atomic_cas(caf_token token, size_t offset, int image, void *old, void *compare, void *value,
                              int *stat, int type, int kind);
void _gfortran_caf_atomic_op(int op, caf_token token, size_t offset, int image, void *value, void *old, int *stat,
                             int type, int kind);
void _gfortran_caf_lock(caf_token token, size_t index, int image, int *acquired, int *stat, char *errmsg,
                        size_t errmsg_len);
void _gfortran_caf_unlock(caf_token token, size_t index, int image, int *stat, char *errmsg, size_t errmsg_len);
void _gfortran_caf_event_post(caf_token token, size_t index, int image, int *stat, char *errmsg, size_t errmsg_len);
void _gfortran_caf_event_wait(caf_token token, size_t index, int count, int *stat, char *errmsg, size_t errmsg_len);
void _gfortran_caf_event_query(caf_token token, size_t index, int image, int *count, int *stat);

void _gfortran_caf_co_broadcast(struct descriptor *a, int source, int *stat, char *errmsg, size_t errmsg_len);
void _gfortran_caf_co_sum(struct descriptor *a, int result, int *stat, char *errmsg, size_t errmsg_len);
void _gfortran_caf_co_min(struct descriptor *a, int result, int *stat, char *errmsg, int a_len, size_t errmsg_len);
void _gfortran_caf_co_max(struct descriptor *a, int result, int *stat, char *errmsg, int a_len, size_t errmsg_len);
void _gfortran_caf_co_reduce(struct descriptor *a, void *(*operation)(void *, void *), int flags, int result, int *stat,
                             char *errmsg, int a_len, size_t errmsg_len);

#pragma GCC visibility pop

#endif
