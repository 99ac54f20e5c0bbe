/* SPDX-License-Identifier: BSD-3-Clause */
/* What the wrappers of both APIs (on.h) have in common: collectives, teams, and calls that are only forwarded. */
#ifndef RACE_CALLS_H
#define RACE_CALLS_H

#include "instruments/call_lists/call_site.h"
#include "instruments/race/blocks.h"
#include "instruments/race/clock.h"
#include "instruments/race/events.h"
#include "instruments/race/group.h"
#include "instruments/race/spin.h"

#define RACE_CALLED race_called(CALLS_HERE, CALLS_FRAME) /* in a wrapper: the place of its call */

/* While the thread is in the library, whose own accesses are not checked. On several hosts it counts as the holder of a
 * lock there (spin.h): a handler must not ask another host while its thread is in MPI. */
static inline void race_enter_library(void) {
    if (__builtin_expect(race_holds_in_library, 0)) race_hold();
    race_inside++;
}
static inline void race_leave_library(void) {
    race_inside--;
    if (__builtin_expect(race_holds_in_library, 0)) race_let_go();
}

/* Forwards to the library. */
#define RACE_FORWARD(...)                                                                                              \
    do {                                                                                                               \
        race_enter_library();                                                                                          \
        __VA_ARGS__;                                                                                                   \
        race_leave_library();                                                                                          \
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

/* race_waited_words: the thread has seen words of a list (rma_words_ in rma_inline.h), whose result this is. */
void race_waited_words(const struct race_call *c, int what, int waits, const void *ivars, size_t len, size_t n,
                       const size_t *indices, const int *status, size_t result);

#endif
