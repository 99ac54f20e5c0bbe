/* SPDX-License-Identifier: BSD-3-Clause */
/* gfortran's calls for coarrays, which librma_caf answers. Images are counted from 1 in the current team; within CHANGE
 * TEAM the record does not say which image a call concerns. */
#include "config.h"

#include "rma.h"

#include <pthread.h>
#include <stdlib.h>

#include "instruments/call_lists/gfortran.h"
#include "instruments/trace/calls.h"

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

/* ---- events: all images register those of a coarray in the same order ---- */

static struct coarray {
    caf_token token;
    uint32_t number;
    struct coarray *next;
} * coarrays;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add_coarray(caf_token token) {
    static uint32_t n;
    struct coarray *c = malloc(sizeof *c);
    if (!c) return;
    pthread_mutex_lock(&lock);
    *c = (struct coarray){.token = token, .number = n++, .next = coarrays};
    coarrays = c;
    pthread_mutex_unlock(&lock);
}

/* Element `index` of a coarray of events, as a place that is the same in the records of all images. */
static uint64_t event_place(caf_token token, size_t index) {
    const struct coarray *c;
    pthread_mutex_lock(&lock);
    for (c = coarrays; c && c->token != token;) c = c->next; /* the newest first: a token may be used again */
    pthread_mutex_unlock(&lock);
    return c && !depth ? TRACE_EVENT_PLACE | (uint64_t)c->number << 32 | (uint64_t)index << 3 : TRACE_NOWHERE;
}

/* ---- the calls ---- */

#define NAME_OF(CALL) &#CALL[sizeof "_gfortran_" - 1]
#define CALL_AT(KIND, CALL, PARAMETERS, PE, BYTES, PLACE, ...)                                                         \
    void CALL PARAMETERS {                                                                                             \
        TRACE_NEXT(CALL);                                                                                              \
        TRACE_CALL(KIND, NAME_OF(CALL), PE, BYTES, PLACE, 0, next(__VA_ARGS__));                                       \
    }
#define CALL_OF(KIND, CALL, PARAMETERS, PE, BYTES, ...)                                                                \
    CALL_AT(KIND, CALL, PARAMETERS, PE, BYTES, TRACE_NOWHERE, __VA_ARGS__)
#define MEETING_OF(KIND, CALL, PARAMETERS, GROUP, ROOT, BYTES, ...)                                                    \
    void CALL PARAMETERS {                                                                                             \
        TRACE_NEXT(CALL);                                                                                              \
        TRACE_MEET(KIND, NAME_OF(CALL), GROUP, ROOT, BYTES, next(__VA_ARGS__));                                        \
    }

CALL_OF(TRACE_PUT, _gfortran_caf_send,
        (caf_token token, size_t offset, int image, struct descriptor *dest, struct vector *dest_vector,
         struct descriptor *source, int dest_kind, int source_kind, bool overlap, int *stat, caf_team *team),
        pe_of_team(image, team), bytes_of(dest), token, offset, image, dest, dest_vector, source, dest_kind,
        source_kind, overlap, stat, team)
CALL_OF(TRACE_GET, _gfortran_caf_get,
        (caf_token token, size_t offset, int image, struct descriptor *source, struct vector *source_vector,
         struct descriptor *dest, int source_kind, int dest_kind, bool overlap, int *stat),
        pe_of(image), bytes_of(dest), token, offset, image, source, source_vector, dest, source_kind, dest_kind,
        overlap, stat)
CALL_OF(TRACE_PUT, _gfortran_caf_sendget,
        (caf_token dest_token, size_t dest_offset, int dest_image, struct descriptor *dest, struct vector *dest_vector,
         caf_token source_token, size_t source_offset, int source_image, struct descriptor *source,
         struct vector *source_vector, int dest_kind, int source_kind, bool overlap, int *stat),
        pe_of(dest_image), bytes_of(dest), dest_token, dest_offset, dest_image, dest, dest_vector, source_token,
        source_offset, source_image, source, source_vector, dest_kind, source_kind, overlap, stat)
CALL_OF(TRACE_PUT, _gfortran_caf_send_by_ref,
        (caf_token token, int image, struct descriptor *source, struct reference *refs, int dest_kind, int source_kind,
         bool overlap, bool reallocatable, int *stat, int dest_type),
        pe_of(image), bytes_of(source), token, image, source, refs, dest_kind, source_kind, overlap, reallocatable,
        stat, dest_type)
CALL_OF(TRACE_GET, _gfortran_caf_get_by_ref,
        (caf_token token, int image, struct descriptor *dest, struct reference *refs, int dest_kind, int source_kind,
         bool overlap, bool reallocatable, int *stat, int source_type),
        pe_of(image), bytes_of(dest), token, image, dest, refs, dest_kind, source_kind, overlap, reallocatable, stat,
        source_type)

/* The references tell the bytes; the record does not. */
CALL_OF(TRACE_PUT, _gfortran_caf_sendget_by_ref,
        (caf_token dest_token, int dest_image, struct reference *dest_refs, caf_token source_token, int source_image,
         struct reference *source_refs, int dest_kind, int source_kind, bool overlap, int *dest_stat, int *source_stat,
         int dest_type, int source_type),
        pe_of(dest_image), 0, dest_token, dest_image, dest_refs, source_token, source_image, source_refs, dest_kind,
        source_kind, overlap, dest_stat, source_stat, dest_type, source_type)

/* ---- words ---- */

CALL_OF(TRACE_LOCK, _gfortran_caf_lock,
        (caf_token token, size_t index, int image, int *acquired, int *stat, char *errmsg, size_t errmsg_len), -1, 0,
        token, index, image, acquired, stat, errmsg, errmsg_len)
CALL_OF(TRACE_UNLOCK, _gfortran_caf_unlock,
        (caf_token token, size_t index, int image, int *stat, char *errmsg, size_t errmsg_len), -1, 0, token, index,
        image, stat, errmsg, errmsg_len)
CALL_AT(TRACE_SIGNAL, _gfortran_caf_event_post,
        (caf_token token, size_t index, int image, int *stat, char *errmsg, size_t errmsg_len),
        image ? pe_of(image) : trace_job.my_pe, 0, event_place(token, index), token, index, image, stat, errmsg,
        errmsg_len)
CALL_AT(TRACE_WAIT, _gfortran_caf_event_wait,
        (caf_token token, size_t index, int count, int *stat, char *errmsg, size_t errmsg_len), -1, 0,
        event_place(token, index), token, index, count, stat, errmsg, errmsg_len)
CALL_OF(TRACE_TEST, _gfortran_caf_event_query, (caf_token token, size_t index, int image, int *count, int *stat), -1, 0,
        token, index, image, count, stat)
CALL_OF(TRACE_ATOMIC, _gfortran_caf_atomic_define,
        (caf_token token, size_t offset, int image, void *value, int *stat, int type, int kind), pe_of(image), 0, token,
        offset, image, value, stat, type, kind)
CALL_OF(TRACE_ATOMIC, _gfortran_caf_atomic_ref,
        (caf_token token, size_t offset, int image, void *value, int *stat, int type, int kind), pe_of(image), 0, token,
        offset, image, value, stat, type, kind)
CALL_OF(TRACE_ATOMIC, _gfortran_caf_atomic_cas,
        (caf_token token, size_t offset, int image, void *old, void *compare, void *value, int *stat, int type,
         int kind),
        pe_of(image), 0, token, offset, image, old, compare, value, stat, type, kind)
CALL_OF(TRACE_ATOMIC, _gfortran_caf_atomic_op,
        (int op, caf_token token, size_t offset, int image, void *value, void *old, int *stat, int type, int kind),
        pe_of(image), 0, op, token, offset, image, value, old, stat, type, kind)
CALL_OF(TRACE_FENCE, _gfortran_caf_sync_memory, (int *stat, char *errmsg, size_t errmsg_len), -1, 0, stat, errmsg,
        errmsg_len)

/* ---- images that meet ---- */

/* A coarray, which all images allocate, or the memory of a component, which concerns one image. */
void _gfortran_caf_register(size_t size, int type, caf_token *token, struct descriptor *desc, int *stat, char *errmsg,
                            size_t errmsg_len) {
    const int alone = type == REGISTER_COMPONENT || type == REGISTER_COMPONENT_MEMORY;
    TRACE_NEXT(_gfortran_caf_register);
    TRACE_MEET(alone ? TRACE_MEMORY : TRACE_COLLECTIVE, "caf_register", alone ? NULL : group_now(), -1, size,
               next(size, type, token, desc, stat, errmsg, errmsg_len));
    if (type == REGISTER_EVENT_STATIC || type == REGISTER_EVENT_ALLOC) add_coarray(*token);
}

MEETING_OF(TRACE_COLLECTIVE, _gfortran_caf_sync_all, (int *stat, char *errmsg, size_t errmsg_len), group_now(), -1, 0,
           stat, errmsg, errmsg_len)
MEETING_OF(TRACE_COLLECTIVE, _gfortran_caf_sync_team, (void *team, int *stat, char *errmsg, size_t errmsg_len), NULL,
           -1, 0, team, stat, errmsg, errmsg_len)
MEETING_OF(TRACE_COLLECTIVE, _gfortran_caf_form_team,
           (int number, caf_team *team, int *new_index, int *stat, char *errmsg, size_t errmsg_len), group_now(), -1, 0,
           number, team, new_index, stat, errmsg, errmsg_len)

/* An image waits for those that it names, the last of which ends its wait: so its record tells when it has arrived for
 * whom. */
void _gfortran_caf_sync_images(int count, int *images, int *stat, char *errmsg, size_t errmsg_len) {
    uint64_t start = 0;
    TRACE_NEXT(_gfortran_caf_sync_images);
    TRACE_CALL(TRACE_WAIT, "caf_sync_images", -1, 0, depth ? TRACE_NOWHERE : TRACE_ARRIVALS, (start = start_, 0),
               next(count, images, stat, errmsg, errmsg_len));
    if (!start || depth) return;
    if (count < 0) trace_arrived(-1, start);
    for (int i = 0; i < count; i++)
        if (pe_of(images[i]) >= 0) trace_arrived(pe_of(images[i]), start);
}

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
MEETING_OF(TRACE_COLLECTIVE, _gfortran_caf_co_reduce,
           (struct descriptor * a, void *(*operation)(void *, void *), int flags, int result, int *stat, char *errmsg,
            int a_len, size_t errmsg_len),
           group_now(), -1, bytes_of(a), a, operation, flags, result, stat, errmsg, a_len, errmsg_len)

void _gfortran_caf_change_team(void *team, int *stat, char *errmsg, size_t errmsg_len) {
    TRACE_NEXT(_gfortran_caf_change_team);
    TRACE_MEET(TRACE_COLLECTIVE, "caf_change_team", NULL, -1, 0, next(team, stat, errmsg, errmsg_len));
    depth++;
}

void _gfortran_caf_end_team(int *stat, char *errmsg, size_t errmsg_len) {
    TRACE_NEXT(_gfortran_caf_end_team);
    TRACE_MEET(TRACE_COLLECTIVE, "caf_end_team", NULL, -1, 0, next(stat, errmsg, errmsg_len));
    if (depth) depth--;
}
