/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of programs that gfortran compiles with -fcoarray=lib, as the GNU Fortran manual describes them ("Coarray
 * Programming": types and functions), and libgfortran's array descriptors. gfortran 15 replaced the transfers by others
 * (interfaces/caf/gfortran_accessors.c), and gave the calls on teams more arguments. */
#ifndef CALLS_GFORTRAN_H
#define CALLS_GFORTRAN_H

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

#define CALLS_DIMS 15 /* dimensions and codimensions of an array, at most */

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
            unsigned char mode[CALLS_DIMS];
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
            } dim[CALLS_DIMS];
        } a;
    } u;
};

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
int _gfortran_caf_get_communicator(caf_team *team); /* of OpenCoarrays' module, not of the compiler */

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
