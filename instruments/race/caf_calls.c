/* SPDX-License-Identifier: BSD-3-Clause */
/* gfortran's calls for coarrays, which librma_caf answers: each reports what it accesses and orders, and forwards to
 * the next library's function of the name. What an image accesses is recorded before the call, since its statement may
 * wait for nobody; what it learns from others, after it.
 *
 * The order is that of Fortran 2018. Collective subroutines (16.6) and EVENT_QUERY are no image control statements, so
 * they order nothing. */
#include "config.h"

#include <stdlib.h>

#include "instruments/race/caf.h"
#include "instruments/race/calls.h"
#include "instruments/race/job.h"
#include "instruments/race/native.h"

#define BEGIN(CALL, NAME)                                                                                              \
    RACE_NEXT(CALL);                                                                                                   \
    const struct race_call c = {.name = (NAME), .pc = RACE_CALLED};                                                    \
    (void)c

/* A call that is recorded before the library executes it, and (AFTER) after. */
#define CALL_OF(CALL, NAME, PARAMETERS, BEFORE, AFTER, ...)                                                            \
    void CALL PARAMETERS {                                                                                             \
        BEGIN(CALL, NAME);                                                                                             \
        BEFORE;                                                                                                        \
        RACE_FORWARD(next(__VA_ARGS__));                                                                               \
        AFTER;                                                                                                         \
    }

caf_team race_caf_handle_of_level(int *level) {
    caf_team handle;
    RACE_NEXT(_gfortran_caf_get_team);
    RACE_FORWARD(handle = next(level));
    return handle;
}

/* ---- life cycle: the first call starts the library ---- */

static void opened(void) {
    static int tried;
    if (tried) return;
    tried = 1;
    race_job.wording = &race_caf_wording;
    race_job.ends_alone = 1;
    race_open();
}

/* All images meet. */
void _gfortran_caf_init(int *argc, char ***argv) {
    struct race_group *g;
    BEGIN(_gfortran_caf_init, "start");
    g = race_watches() ? race_caf_current()->group : NULL;
    race_caf_enter(g);
    RACE_FORWARD(next(argc, argv));
    race_caf_leave(g);
    opened();
}

void _gfortran_caf_finalize(void) {
    RACE_NEXT(_gfortran_caf_finalize);
    race_close();
    RACE_FORWARD(next());
}

#define END_OF(CALL, PARAMETERS, ARGUMENTS, CLOSE)                                                                     \
    void CALL PARAMETERS {                                                                                             \
        RACE_NEXT(CALL);                                                                                               \
        CLOSE;                                                                                                         \
        race_inside++;                                                                                                 \
        next ARGUMENTS;                                                                                                \
        abort();                                                                                                       \
    }
END_OF(_gfortran_caf_stop_numeric, (int code, bool quiet), (code, quiet), race_close())
END_OF(_gfortran_caf_stop_str, (const char *text, size_t len, bool quiet), (text, len, quiet), race_close())
END_OF(_gfortran_caf_fail_image, (void), (), race_close())
END_OF(_gfortran_caf_error_stop, (int code, bool quiet), (code, quiet), (void)0)
END_OF(_gfortran_caf_error_stop_str, (const char *text, size_t len, bool quiet), (text, len, quiet), (void)0)

/* ---- coarrays ---- */

/* Whether what has been registered is a component (interfaces/caf/gfortran_coarrays.c): gfortran registers some of them
 * as coarrays, with a token in a coarray, or with that of the coarray that they are in. Coarrays of the initial team
 * are in the symmetric heap. */
static int is_component(const caf_token *token, caf_token old, const struct descriptor *desc, int type) {
    return type == REGISTER_COMPONENT_MEMORY ||
           (type == REGISTER_ALLOC &&
            ((uintptr_t)token - race_job.space < race_job.stride || (*token == old && race_coarray_of(old)) ||
             (!race_caf_current()->parent && race_offset(desc->base) >= race_job.local)));
}

/* ALLOCATE of a coarray ends with a SYNC ALL of its own. The memory of a component has been another variable's. */
void _gfortran_caf_register(size_t size, int type, caf_token *token, struct descriptor *desc, int *stat, char *errmsg,
                            size_t errmsg_len) {
    const caf_token old = type == REGISTER_COMPONENT ? NULL : *token;
    BEGIN(_gfortran_caf_register, "ALLOCATE");
    RACE_FORWARD(next(size, type, token, desc, stat, errmsg, errmsg_len));
    opened();
    if (!race_watches() || !desc->base || type == REGISTER_COMPONENT) return;
    if (is_component(token, old, desc, type))
        race_allocated(&c, race_job.my_pe, race_offset(desc->base), size, 1);
    else if (*token)
        race_coarray_made(&c, token, size, desc, type);
}

/* DEALLOCATE of a coarray: all images of its team meet. */
void _gfortran_caf_deregister(caf_token *token, int type, int *stat, char *errmsg, size_t errmsg_len) {
    struct race_coarray *a;
    struct race_group *g = NULL;
    BEGIN(_gfortran_caf_deregister, "DEALLOCATE");
    a = race_watches() ? race_coarray_of_token_at(token) : NULL;
    if (a) {
        g = a->team ? a->team->group : race_team(RMA_TEAM_WORLD);
        race_caf_enter(g);
    }
    RACE_FORWARD(next(token, type, stat, errmsg, errmsg_len));
    if (!a) return;
    race_caf_leave(g);
    race_coarray_gone(&c, a);
}

/* ---- transfers ---- */

#define SECTION(...) (&(struct race_part){__VA_ARGS__})

CALL_OF(_gfortran_caf_send, "put",
        (caf_token token, size_t offset, int image, struct descriptor *dest, struct vector *dest_vector,
         struct descriptor *source, int dest_kind, int source_kind, bool overlap, int *stat, caf_team *team),
        (race_caf_near(&c, source, 0),
         race_caf_far(&c,
                      SECTION(.token = token, .image = image, .team = team ? race_caf_team(team) : NULL,
                              .offset = offset, .section = dest, .vector = dest_vector),
                      1)),
        , token, offset, image, dest, dest_vector, source, dest_kind, source_kind, overlap, stat, team)
CALL_OF(_gfortran_caf_get, "get",
        (caf_token token, size_t offset, int image, struct descriptor *source, struct vector *source_vector,
         struct descriptor *dest, int source_kind, int dest_kind, bool overlap, int *stat),
        (race_caf_far(
             &c, SECTION(.token = token, .image = image, .offset = offset, .section = source, .vector = source_vector),
             0),
         race_caf_near(&c, dest, 1)),
        , token, offset, image, source, source_vector, dest, source_kind, dest_kind, overlap, stat)
CALL_OF(_gfortran_caf_sendget, "put",
        (caf_token dest_token, size_t dest_offset, int dest_image, struct descriptor *dest, struct vector *dest_vector,
         caf_token source_token, size_t source_offset, int source_image, struct descriptor *source,
         struct vector *source_vector, int dest_kind, int source_kind, bool overlap, int *stat),
        (race_caf_far(&(struct race_call){.name = "get", .pc = c.pc},
                      SECTION(.token = source_token, .image = source_image, .offset = source_offset, .section = source,
                              .vector = source_vector),
                      0),
         race_caf_far(&c,
                      SECTION(.token = dest_token, .image = dest_image, .offset = dest_offset, .section = dest,
                              .vector = dest_vector),
                      1)),
        , dest_token, dest_offset, dest_image, dest, dest_vector, source_token, source_offset, source_image, source,
        source_vector, dest_kind, source_kind, overlap, stat)
CALL_OF(_gfortran_caf_send_by_ref, "put",
        (caf_token token, int image, struct descriptor *source, struct reference *refs, int dest_kind, int source_kind,
         bool overlap, bool reallocatable, int *stat, int dest_type),
        (race_caf_near(&c, source, 0), race_caf_far(&c, SECTION(.token = token, .image = image, .refs = refs), 1)), ,
        token, image, source, refs, dest_kind, source_kind, overlap, reallocatable, stat, dest_type)
CALL_OF(_gfortran_caf_get_by_ref, "get",
        (caf_token token, int image, struct descriptor *dest, struct reference *refs, int dest_kind, int source_kind,
         bool overlap, bool reallocatable, int *stat, int source_type),
        race_caf_far(&c, SECTION(.token = token, .image = image, .refs = refs), 0), race_caf_near(&c, dest, 1), token,
        image, dest, refs, dest_kind, source_kind, overlap, reallocatable, stat, source_type)
CALL_OF(_gfortran_caf_sendget_by_ref, "put",
        (caf_token dest_token, int dest_image, struct reference *dest_refs, caf_token source_token, int source_image,
         struct reference *source_refs, int dest_kind, int source_kind, bool overlap, int *dest_stat, int *source_stat,
         int dest_type, int source_type),
        (race_caf_far(&(struct race_call){.name = "get", .pc = c.pc},
                      SECTION(.token = source_token, .image = source_image, .refs = source_refs), 0),
         race_caf_far(&c, SECTION(.token = dest_token, .image = dest_image, .refs = dest_refs), 1)),
        , dest_token, dest_image, dest_refs, source_token, source_image, source_refs, dest_kind, source_kind, overlap,
        dest_stat, source_stat, dest_type, source_type)

/* ---- words ---- */

CALL_OF(_gfortran_caf_atomic_define, "ATOMIC_DEFINE",
        (caf_token token, size_t offset, int image, void *value, int *stat, int type, int kind),
        race_caf_atomic(&c, token, offset, image, (size_t)kind, 1), , token, offset, image, value, stat, type, kind)
CALL_OF(_gfortran_caf_atomic_ref, "ATOMIC_REF",
        (caf_token token, size_t offset, int image, void *value, int *stat, int type, int kind),
        race_caf_atomic(&c, token, offset, image, (size_t)kind, 0),
        race_caf_atomic_read(token, offset, image, (size_t)kind), token, offset, image, value, stat, type, kind)
CALL_OF(_gfortran_caf_atomic_cas, "ATOMIC_CAS",
        (caf_token token, size_t offset, int image, void *old, void *compare, void *value, int *stat, int type,
         int kind),
        race_caf_atomic(&c, token, offset, image, (size_t)kind, 1),
        race_caf_atomic_read(token, offset, image, (size_t)kind), token, offset, image, old, compare, value, stat, type,
        kind)
CALL_OF(_gfortran_caf_atomic_op, "an atomic subroutine",
        (int op, caf_token token, size_t offset, int image, void *value, void *old, int *stat, int type, int kind),
        race_caf_atomic(&c, token, offset, image, (size_t)kind, 1),
        if (old) race_caf_atomic_read(token, offset, image, (size_t)kind), op, token, offset, image, value, old, stat,
        type, kind)

/* LOCK with ACQUIRED_LOCK= may not get the lock; one with STAT= may fail, and then gets no order that it should not
 * have but that of the former holder. */
CALL_OF(_gfortran_caf_lock, "LOCK",
        (caf_token token, size_t index, int image, int *acquired, int *stat, char *errmsg, size_t errmsg_len),
        (race_caf_statement(), race_caf_segment()), if (!acquired || *acquired) race_caf_word(token, index, image, 0),
        token, index, image, acquired, stat, errmsg, errmsg_len)
CALL_OF(_gfortran_caf_unlock, "UNLOCK",
        (caf_token token, size_t index, int image, int *stat, char *errmsg, size_t errmsg_len),
        (race_caf_statement(), race_caf_word(token, index, image, 1)), , token, index, image, stat, errmsg, errmsg_len)
CALL_OF(_gfortran_caf_event_post, "EVENT POST",
        (caf_token token, size_t index, int image, int *stat, char *errmsg, size_t errmsg_len),
        (race_caf_statement(), race_caf_post(token, index, image)), , token, index, image, stat, errmsg, errmsg_len)
CALL_OF(_gfortran_caf_event_wait, "EVENT WAIT",
        (caf_token token, size_t index, int count, int *stat, char *errmsg, size_t errmsg_len),
        (race_caf_statement(), race_caf_segment()), if (!stat || !*stat) race_caf_awaited(token, index, count), token,
        index, count, stat, errmsg, errmsg_len)
CALL_OF(_gfortran_caf_sync_memory, "SYNC MEMORY", (int *stat, char *errmsg, size_t errmsg_len),
        (race_caf_statement(), race_caf_segment()), , stat, errmsg, errmsg_len)

/* ---- images that meet ---- */

#define MEETING_OF(CALL, NAME, PARAMETERS, GROUP, AFTER, ...)                                                          \
    void CALL PARAMETERS {                                                                                             \
        struct race_group *g;                                                                                          \
        BEGIN(CALL, NAME);                                                                                             \
        g = race_watches() ? (GROUP) : NULL;                                                                           \
        race_caf_enter(g);                                                                                             \
        RACE_FORWARD(next(__VA_ARGS__));                                                                               \
        race_caf_leave(g);                                                                                             \
        AFTER;                                                                                                         \
    }
static struct race_group *group_of(const void *team) {
    const struct race_caf_team *t = race_caf_team(team);
    return t ? t->group : NULL;
}

MEETING_OF(_gfortran_caf_sync_all, "SYNC ALL", (int *stat, char *errmsg, size_t errmsg_len), race_caf_current()->group,
           , stat, errmsg, errmsg_len)
MEETING_OF(_gfortran_caf_sync_team, "SYNC TEAM", (void *team, int *stat, char *errmsg, size_t errmsg_len),
           group_of(team), , team, stat, errmsg, errmsg_len)
MEETING_OF(_gfortran_caf_form_team, "FORM TEAM",
           (int number, caf_team *team, int *new_index, int *stat, char *errmsg, size_t errmsg_len),
           race_caf_current()->group, if (race_watches()) race_caf_form(*team, number, 0), number, team, new_index,
           stat, errmsg, errmsg_len)
MEETING_OF(_gfortran_caf_change_team, "CHANGE TEAM", (void *team, int *stat, char *errmsg, size_t errmsg_len),
           group_of(team), if (race_watches()) race_caf_change(race_caf_team(team)), team, stat, errmsg, errmsg_len)
MEETING_OF(_gfortran_caf_end_team, "END TEAM", (int *stat, char *errmsg, size_t errmsg_len), race_caf_current()->group,
           if (race_watches()) race_caf_end(), stat, errmsg, errmsg_len)
CALL_OF(_gfortran_caf_sync_images, "SYNC IMAGES", (int count, int *images, int *stat, char *errmsg, size_t errmsg_len),
        race_caf_enter_images(count, images), race_caf_leave_images(count, images), count, images, stat, errmsg,
        errmsg_len)

/* ---- collective subroutines: the argument is defined, but for that of CO_BROADCAST on the source ---- */

CALL_OF(_gfortran_caf_co_broadcast, "CO_BROADCAST",
        (struct descriptor * a, int source, int *stat, char *errmsg, size_t errmsg_len),
        race_caf_collective(&c, a, race_watches() && race_caf_pe(source, NULL) != race_job.my_pe), , a, source, stat,
        errmsg, errmsg_len)
CALL_OF(_gfortran_caf_co_sum, "CO_SUM", (struct descriptor * a, int result, int *stat, char *errmsg, size_t errmsg_len),
        race_caf_collective(&c, a, 1), , a, result, stat, errmsg, errmsg_len)
#define LIMITS(CALL, NAME)                                                                                             \
    CALL_OF(CALL, NAME, (struct descriptor * a, int result, int *stat, char *errmsg, int a_len, size_t errmsg_len),    \
            race_caf_collective(&c, a, 1), , a, result, stat, errmsg, a_len, errmsg_len)
LIMITS(_gfortran_caf_co_min, "CO_MIN")
LIMITS(_gfortran_caf_co_max, "CO_MAX")

/* The operation is the program's function, which the library calls. */
CALL_OF(_gfortran_caf_co_reduce, "CO_REDUCE",
        (struct descriptor * a, void *(*operation)(void *, void *), int flags, int result, int *stat, char *errmsg,
         int a_len, size_t errmsg_len),
        race_caf_collective(&c, a, 1), , a, operation, flags, result, stat, errmsg, a_len, errmsg_len)

/* ---- calls that move and order nothing, whose work inside librma is not the program's ---- */

CALL_OF(_gfortran_caf_event_query, "EVENT_QUERY", (caf_token token, size_t index, int image, int *count, int *stat), , ,
        token, index, image, count, stat)
CALL_OF(_gfortran_caf_random_init, "RANDOM_INIT", (bool repeatable, bool image_distinct), , , repeatable,
        image_distinct)
CALL_OF(_gfortran_caf_failed_images, "FAILED_IMAGES", (struct descriptor * array, caf_team *team, int *kind), , , array,
        team, kind)
CALL_OF(_gfortran_caf_stopped_images, "STOPPED_IMAGES", (struct descriptor * array, caf_team *team, int *kind), , ,
        array, team, kind)
#define VALUE_OF(CALL, PARAMETERS, ...)                                                                                \
    int CALL PARAMETERS {                                                                                              \
        int value;                                                                                                     \
        RACE_NEXT(CALL);                                                                                               \
        RACE_FORWARD(value = next(__VA_ARGS__));                                                                       \
        return value;                                                                                                  \
    }
VALUE_OF(_gfortran_caf_image_status, (int image, caf_team *team), image, team)
VALUE_OF(_gfortran_caf_num_images, (intptr_t distance_or_team, intptr_t failed_or_number), distance_or_team,
         failed_or_number)
VALUE_OF(_gfortran_caf_is_present, (caf_token token, int image, struct reference *refs), token, image, refs)
VALUE_OF(_gfortran_caf_get_communicator, (caf_team * team), team)
