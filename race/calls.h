/* SPDX-License-Identifier: BSD-3-Clause */
/* The common part of the wrappers of both APIs: collectives, teams, and calls that are only forwarded. */
#ifndef RACE_CALLS_H
#define RACE_CALLS_H

#include "race/blocks.h"
#include "race/clock.h"
#include "race/events.h"
#include "race/group.h"

#define RACE_HERE   ((uintptr_t)__builtin_return_address(0))
#define RACE_CALLED race_called(RACE_HERE, __builtin_frame_address(0)) /* in a wrapper: the place of its call */

/* Forwards to the library, whose own accesses are not checked. */
#define RACE_FORWARD(WHAT)                                                                                             \
    do {                                                                                                               \
        race_inside++;                                                                                                 \
        WHAT;                                                                                                          \
        race_inside--;                                                                                                 \
    } while (0)

/* race_team: the group of a team's PEs. NULL if the call is not checked, or the handle is unknown. Known handles are
 * those of the world, of the node, and of teams that were made (race_team_made) and are not gone (race_team_gone). So
 * only the library reports a wrong handle. race_set: the group of an active set. */
struct race_group *race_team(const void *team);
void race_team_made(const void *team, const void *parent);
void race_team_gone(const void *team);
struct race_group *race_set(int start, int log_stride, int size);

/* race_team_domain: the domain of the atomics of a team's contexts (contexts.h): teams have that of their parents. */
race_epoch race_team_domain(const void *team);

/* race_world: the group of all PEs, if the call is checked. quiet: first completes what the context has under way, as a
 * barrier does; NULL: does not. */
struct race_group *race_world(const struct race_call *quiet);

/* A collective: call race_collective before the library's call, for the buffer that this PE gives (len 0: none); and
 * race_collected after it, for the buffer that it gets, and for the giver. If g is NULL they do nothing. code: the
 * result of the library's call; a failed call has moved nothing and is not counted. RACE_SUM: the sum of the lengths
 * that all PEs give. */
#define RACE_SUM SIZE_MAX
void race_collective(struct race_group *g, const struct race_call *c, const void *source, size_t len);
void race_collected(struct race_group *g, const struct race_call *c, int code, void *dest, size_t len, int from);

/* race_elements: for buffers of which only every stride-th element is used. Call it before race_collective or after
 * race_collected, and give these no buffer. */
void race_elements(struct race_group *g, const struct race_call *c, const void *buffer, ptrdiff_t stride, size_t elem,
                   size_t n, int write);

/* ---- beginnings of wrappers. RACE_BY_NATIVE: as.h ---- */

/* The call: its name, and the place from which the wrapper was called. */
#define RACE_CALL_AS(NAME) struct race_call c = {.name = (NAME), .pc = RACE_CALLED, .native = RACE_BY_NATIVE}

/* For calls that exist in both forms (shmem_table.h, rma_inline.h): with a context and without. */
#define RACE_CTX_OF_SYM NULL
#define RACE_CTX_OF_CTX ((ctx) == RMA_CTX_DEFAULT ? NULL : (const void *)(ctx))
#define RACE_ARG_SYM
#define RACE_ARG_CTX ctx,

/* A wrapper of a call that allocates in the symmetric heap, which ends with a barrier. */
#define RACE_ALLOCATES(CALL, PARAMETERS, SIZE, ...)                                                                    \
    void *CALL PARAMETERS {                                                                                            \
        RACE_CALL_AS(#CALL);                                                                                           \
        struct race_group *g = race_world(&c);                                                                         \
        void *p;                                                                                                       \
        race_collective(g, &c, NULL, 0);                                                                               \
        p = p##CALL(__VA_ARGS__);                                                                                      \
        race_collected(g, &c, 0, NULL, 0, RACE_ALL);                                                                   \
        race_allocated(&c, race_job.my_pe, race_offset(p), SIZE, 0);                                                   \
        return p;                                                                                                      \
    }

/* The beginning of a wrapper that has buffers `source` and `dest`, of GIVEN and GOT bytes; both may use `members` and
 * `me`. A collective of length 0 moves nothing, and nobody waits. */
#define RACE_BEGIN_COLLECTIVE(CALL, GROUP, GIVEN, GOT)                                                                 \
    RACE_CALL_AS(#CALL);                                                                                               \
    struct race_group *g = GROUP;                                                                                      \
    const size_t members = (size_t)race_group_n(g);                                                                    \
    const int me = race_group_me(g);                                                                                   \
    (void)members, (void)me;                                                                                           \
    if ((GIVEN) == 0 && (GOT) == 0) g = NULL;                                                                          \
    race_collective(g, &c, source, GIVEN)

/* A wrapper of a collective of a `team` that returns a code. FROM: the PE whose data arrive. */
#define RACE_COLLECTIVE(CALL, PARAMETERS, GIVEN, GOT, FROM, ...)                                                       \
    extern __typeof__(CALL) p##CALL;                                                                                   \
    int CALL PARAMETERS {                                                                                              \
        int code;                                                                                                      \
        RACE_BEGIN_COLLECTIVE(CALL, race_team(team), GIVEN, GOT);                                                      \
        code = p##CALL(__VA_ARGS__);                                                                                   \
        race_collected(g, &c, code, dest, GOT, FROM);                                                                  \
        return code;                                                                                                   \
    }

#endif
