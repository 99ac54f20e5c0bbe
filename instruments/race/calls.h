/* SPDX-License-Identifier: BSD-3-Clause */
/* What the wrappers of both APIs (on.h) have in common: collectives, teams, and calls that are only forwarded. */
#ifndef RACE_CALLS_H
#define RACE_CALLS_H

#include "instruments/call_lists/call_site.h"
#include "instruments/race/blocks.h"
#include "instruments/race/clock.h"
#include "instruments/race/events.h"
#include "instruments/race/forward.h"
#include "instruments/race/group.h"
#include "instruments/race/spin.h"

#define RACE_CALLED race_called(CALLS_HERE, CALLS_FRAME) /* in a wrapper: the place of its call */

/* race_team: the group of a team's PEs. NULL if the call is not checked, or the handle is unknown. Known handles are
 * those of the world, of the node, and of teams that were made (race_team_made) and are not gone (race_team_gone). So
 * only the library reports a wrong handle. race_set: the group of an active set with this work array: threads may use
 * the same set with several arrays. */
struct race_group *race_team(const void *team);
void race_team_made(const void *team, const void *parent);
void race_team_gone(const void *team);
struct race_group *race_set(const long *sync, int start, int log_stride, int size);

/* race_team_domain: the domain of the atomics of a team's contexts (contexts.h): teams have that of their parents. */
race_epoch race_team_domain(const void *team);

/* race_world: the group of all PEs, if the call is checked. quiet: first completes what the context has under way, as a
 * barrier does; NULL: does not. */
struct race_group *race_world(const struct race_call *quiet);

/* The memory that a collective reads or writes: n elements, `stride` elements apart; or bytes; or none. RACE_SUM bytes:
 * as many as all PEs give. */
struct race_buffer {
    const void *at;
    size_t elem, n;
    ptrdiff_t stride;
};
#define RACE_BYTES(P, LEN) ((struct race_buffer){.at = (P), .elem = (LEN), .n = 1, .stride = 1})
#define RACE_NOTHING       RACE_BYTES(NULL, 0)
#define RACE_SUM           SIZE_MAX

/* A collective: call race_collective before the library's call, for what this PE gives, and race_collected after it,
 * for what it gets, and for the giver (group.h). If g is NULL they do nothing. code: the result of the library's call;
 * a failed call has moved nothing and is not counted. */
void race_collective(struct race_group *g, const struct race_call *c, struct race_buffer source);
void race_collected(struct race_group *g, const struct race_call *c, int code, struct race_buffer source,
                    struct race_buffer dest, int from);

/* race_waited_words: the thread has seen words of a list (rma_words_ in rma_inline.h), whose result this is. */
void race_waited_words(const struct race_call *c, int what, int waits, const void *ivars, size_t len, size_t n,
                       const size_t *indices, const int *status, size_t result);

#endif
