/* SPDX-License-Identifier: BSD-3-Clause */
/* What the wrappers of both APIs have in common: collectives, teams, and calls that are only forwarded. */
#ifndef RACE_CALLS_H
#define RACE_CALLS_H

#include "race/clock.h"
#include "race/events.h"
#include "race/group.h"

#define RACE_HERE ((uintptr_t)__builtin_return_address(0))

/* Forwards to the library: what the library does is not looked at. */
#define RACE_FORWARD(WHAT)                                                                                             \
    do {                                                                                                               \
        race_inside++;                                                                                                 \
        WHAT;                                                                                                          \
        race_inside--;                                                                                                 \
    } while (0)

/* race_team: the group of a team's PEs; NULL where the call is not looked at, or the handle is none that is known: that
 * of the world, of the node, or of a team that was made (race_team_made) and is not gone (race_team_gone). So a wrong
 * handle is reported by the library, and once. race_set: the group of an active set. */
struct race_group *race_team(const void *team);
void race_team_made(const void *team);
void race_team_gone(const void *team);
struct race_group *race_set(int start, int log_stride, int size);

/* A collective: race_collective before the library's call, for the buffer that this PE gives (len 0: none),
 * race_collected after it, for the one that it gets, from whom. g NULL: nothing. RACE_SUM: as long as what all give. */
#define RACE_SUM SIZE_MAX
void race_collective(struct race_group *g, const struct race_call *c, const void *source, size_t len);
void race_collected(struct race_group *g, const struct race_call *c, void *dest, size_t len, int from);

/* race_elements: buffers of which every stride-th element is used: called before race_collective, or after
 * race_collected, which have no buffer then. */
void race_elements(struct race_group *g, const struct race_call *c, const void *buffer, ptrdiff_t stride, size_t elem,
                   size_t n, int write);
int race_group_me(const struct race_group *g);
int race_group_n(const struct race_group *g);
const int *race_group_pes(const struct race_group *g);

#endif
