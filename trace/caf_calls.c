/* SPDX-License-Identifier: BSD-3-Clause */
/* gfortran's calls for coarrays, which librma_caf answers ("Coarray Programming" in the GNU Fortran manual). Images are
 * counted from 1 in the current team; within CHANGE TEAM the record does not say which image a call concerns. */
#include "config.h"

#include "rma.h"

#include <stdbool.h>

#include "trace/calls.h"
#include "trace/next.h"

/* libgfortran's array descriptor. */
struct descriptor {
    void *base;
    ptrdiff_t offset;
    size_t elem_len;
    int version;
    signed char rank, type;
    short attribute;
    ptrdiff_t span;
    struct {
        ptrdiff_t stride, lower, upper;
    } dim[];
};

static uint64_t bytes_of(const struct descriptor *d) {
    uint64_t n = d ? d->elem_len : 0;
    for (int i = 0; d && i < d->rank; i++)
        n *= d->dim[i].upper < d->dim[i].lower ? 0 : (uint64_t)(d->dim[i].upper - d->dim[i].lower + 1);
    return n;
}

static int depth; /* of CHANGE TEAM */
static int pe_of(int image) { return depth || image < 1 || image > trace_job.n_pes ? -1 : image - 1; }
static int pe_of_team(int image, const void *team) { return team ? -1 : pe_of(image); }
static struct trace_group_of *group_now(void) { return depth ? NULL : trace_world(); }

#define CAF(RESULT, CALL, PARAMETERS)                                                                                  \
    __attribute__((visibility("default"))) RESULT CALL PARAMETERS;                                                     \
    RESULT CALL PARAMETERS
#define CALL_OF(KIND, CALL, PARAMETERS, PE, BYTES, ...)                                                                \
    CAF(void, CALL, PARAMETERS) {                                                                                      \
        TRACE_NEXT(CALL);                                                                                              \
        TRACE_CALL(KIND, &#CALL[sizeof "_gfortran_" - 1], PE, BYTES, TRACE_NOWHERE, 0, next(__VA_ARGS__));             \
    }
#define MEETING_OF(KIND, CALL, PARAMETERS, GROUP, ROOT, BYTES, ...)                                                    \
    CAF(void, CALL, PARAMETERS) {                                                                                      \
        TRACE_NEXT(CALL);                                                                                              \
        TRACE_MEET(KIND, &#CALL[sizeof "_gfortran_" - 1], GROUP, ROOT, BYTES, next(__VA_ARGS__));                      \
    }

/* ---- transfers ---- */

CALL_OF(TRACE_PUT, _gfortran_caf_send,
        (void *token, size_t offset, int image, struct descriptor *dest, void *dest_vector, struct descriptor *source,
         int dest_kind, int source_kind, bool may_require_tmp, int *stat, void *team),
        pe_of_team(image, team), bytes_of(dest), token, offset, image, dest, dest_vector, source, dest_kind,
        source_kind, may_require_tmp, stat, team)
CALL_OF(TRACE_GET, _gfortran_caf_get,
        (void *token, size_t offset, int image, struct descriptor *source, void *source_vector, struct descriptor *dest,
         int source_kind, int dest_kind, bool may_require_tmp, int *stat),
        pe_of(image), bytes_of(dest), token, offset, image, source, source_vector, dest, source_kind, dest_kind,
        may_require_tmp, stat)
CALL_OF(TRACE_PUT, _gfortran_caf_sendget,
        (void *dest_token, size_t dest_offset, int dest_image, struct descriptor *dest, void *dest_vector,
         void *source_token, size_t source_offset, int source_image, struct descriptor *source, void *source_vector,
         int dest_kind, int source_kind, bool may_require_tmp, int *stat),
        pe_of(dest_image), bytes_of(dest), dest_token, dest_offset, dest_image, dest, dest_vector, source_token,
        source_offset, source_image, source, source_vector, dest_kind, source_kind, may_require_tmp, stat)
CALL_OF(TRACE_PUT, _gfortran_caf_send_by_ref,
        (void *token, int image, struct descriptor *source, void *refs, int dest_kind, int source_kind,
         bool may_require_tmp, bool dest_reallocatable, int *stat, int dest_type),
        pe_of(image), bytes_of(source), token, image, source, refs, dest_kind, source_kind, may_require_tmp,
        dest_reallocatable, stat, dest_type)
CALL_OF(TRACE_GET, _gfortran_caf_get_by_ref,
        (void *token, int image, struct descriptor *dest, void *refs, int dest_kind, int source_kind,
         bool may_require_tmp, bool dest_reallocatable, int *stat, int source_type),
        pe_of(image), bytes_of(dest), token, image, dest, refs, dest_kind, source_kind, may_require_tmp,
        dest_reallocatable, stat, source_type)

/* ---- words ---- */

CALL_OF(TRACE_LOCK, _gfortran_caf_lock,
        (void *token, size_t index, int image, int *acquired, int *stat, char *errmsg, size_t errmsg_len), -1, 0, token,
        index, image, acquired, stat, errmsg, errmsg_len)
CALL_OF(TRACE_UNLOCK, _gfortran_caf_unlock,
        (void *token, size_t index, int image, int *stat, char *errmsg, size_t errmsg_len), -1, 0, token, index, image,
        stat, errmsg, errmsg_len)
CALL_OF(TRACE_SIGNAL, _gfortran_caf_event_post,
        (void *token, size_t index, int image, int *stat, char *errmsg, size_t errmsg_len), pe_of(image), 0, token,
        index, image, stat, errmsg, errmsg_len)
CALL_OF(TRACE_WAIT, _gfortran_caf_event_wait,
        (void *token, size_t index, int count, int *stat, char *errmsg, size_t errmsg_len), -1, 0, token, index, count,
        stat, errmsg, errmsg_len)
CALL_OF(TRACE_ATOMIC, _gfortran_caf_atomic_define,
        (void *token, size_t offset, int image, void *value, int *stat, int type, int kind), pe_of(image), 0, token,
        offset, image, value, stat, type, kind)
CALL_OF(TRACE_ATOMIC, _gfortran_caf_atomic_ref,
        (void *token, size_t offset, int image, void *value, int *stat, int type, int kind), pe_of(image), 0, token,
        offset, image, value, stat, type, kind)
CALL_OF(TRACE_ATOMIC, _gfortran_caf_atomic_cas,
        (void *token, size_t offset, int image, void *old, void *compare, void *value, int *stat, int type, int kind),
        pe_of(image), 0, token, offset, image, old, compare, value, stat, type, kind)
CALL_OF(TRACE_ATOMIC, _gfortran_caf_atomic_op,
        (int op, void *token, size_t offset, int image, void *value, void *old, int *stat, int type, int kind),
        pe_of(image), 0, op, token, offset, image, value, old, stat, type, kind)

/* ---- images that meet ---- */

/* Registers a coarray, or the memory of a component, which concerns one image. */
#define FIRST_OF_COMPONENTS 7
MEETING_OF(type < FIRST_OF_COMPONENTS ? TRACE_COLLECTIVE : TRACE_MEMORY, _gfortran_caf_register,
           (size_t size, int type, void **token, struct descriptor *desc, int *stat, char *errmsg, size_t errmsg_len),
           type < FIRST_OF_COMPONENTS ? group_now() : NULL, -1, size, size, type, token, desc, stat, errmsg, errmsg_len)
MEETING_OF(TRACE_COLLECTIVE, _gfortran_caf_sync_all, (int *stat, char *errmsg, size_t errmsg_len), group_now(), -1, 0,
           stat, errmsg, errmsg_len)
MEETING_OF(TRACE_COLLECTIVE, _gfortran_caf_sync_images,
           (int count, int *images, int *stat, char *errmsg, size_t errmsg_len), NULL, -1, 0, count, images, stat,
           errmsg, errmsg_len)
MEETING_OF(TRACE_FROM_ROOT, _gfortran_caf_co_broadcast,
           (struct descriptor * a, int source, int *stat, char *errmsg, size_t errmsg_len), group_now(), source - 1,
           bytes_of(a), a, source, stat, errmsg, errmsg_len)
MEETING_OF(TRACE_COLLECTIVE, _gfortran_caf_co_sum,
           (struct descriptor * a, int result, int *stat, char *errmsg, size_t errmsg_len), group_now(), -1,
           bytes_of(a), a, result, stat, errmsg, errmsg_len)
#define LIMITS(CALL)                                                                                                   \
    MEETING_OF(TRACE_COLLECTIVE, CALL,                                                                                 \
               (struct descriptor * a, int result, int *stat, char *errmsg, int a_len, size_t errmsg_len),             \
               group_now(), -1, bytes_of(a), a, result, stat, errmsg, a_len, errmsg_len)
LIMITS(_gfortran_caf_co_min)
LIMITS(_gfortran_caf_co_max)

CAF(void, _gfortran_caf_change_team, (void *team, int unused)) {
    TRACE_NEXT(_gfortran_caf_change_team);
    TRACE_MEET(TRACE_COLLECTIVE, "caf_change_team", NULL, -1, 0, next(team, unused));
    depth++;
}

CAF(void, _gfortran_caf_end_team, (void *team)) {
    TRACE_NEXT(_gfortran_caf_end_team);
    TRACE_MEET(TRACE_COLLECTIVE, "caf_end_team", NULL, -1, 0, next(team));
    if (depth) depth--;
}
