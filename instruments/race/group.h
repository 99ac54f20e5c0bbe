/* SPDX-License-Identifier: BSD-3-Clause */
/* What PEs tell each other in collectives and by locks. A group is a list of PEs that make their calls in the same
 * order: a team, or an active set with its work array (calls.h). */
#ifndef RACE_GROUP_H
#define RACE_GROUP_H

#include <stddef.h>
#include <stdint.h>

struct race_group;

/* race_group_bytes: bytes of the shared memory that a group needs. */
#define RACE_GROUPS_MOST 16384 /* two images that synchronize are a group, too */
size_t race_group_bytes(void);

/* race_lock_bytes: bytes that a lock needs: one clock. */
#define RACE_LOCKS_MOST 65536
size_t race_lock_bytes(void);

/* race_group_of: the group of n PEs. NULL if there are too many groups. The result stays valid. race_group_n, _me,
 * _pes: its number of PEs, this PE's number in it, and its PEs; all 0 if there is no group. */
struct race_group *race_group_of(const int *pes, int n);
int race_group_n(const struct race_group *g);
int race_group_me(const struct race_group *g);
const int *race_group_pes(const struct race_group *g);

/* race_group_named: one of several groups of the same PEs, each of which makes its calls in an order of its own. id 0:
 * that of race_group_of. */
struct race_group *race_group_named(const int *pes, int n, uint64_t id);

/* race_group_enter: before the library's call, the thread tells the group what it knows. race_group_leave: after it,
 * the thread learns what all PEs told (from RACE_ALL), or only number `from` of the group, or the PEs before this one
 * (RACE_BEFORE). Call both once for each collective. gives: bytes that this PE gives; race_group_leave returns the sum
 * of these bytes over this PE and those from which it has learnt. race_group_skip, in place of it: the call has failed
 * here. */
#define RACE_ALL    (-1)
#define RACE_BEFORE (-2)
void race_group_enter(struct race_group *g, int native, size_t gives);
size_t race_group_leave(struct race_group *g, int from);
void race_group_skip(struct race_group *g);

/* race_group_arrivals writes to *clock what all these members (bit i: member i) knew when they came to the call that
 * this thread has left last. It leaves out members that told nothing, or whose clock has been replaced since. Returns 0
 * if no member remains. */
int race_group_arrivals(const struct race_group *g, const uint64_t members[2], uint32_t *clock);

/* Collectives that do not block: race_group_start tells what the thread knows, and returns the call's number;
 * race_group_finish, when the call is complete, learns as race_group_leave does. */
uint32_t race_group_start(struct race_group *g);
void race_group_finish(struct race_group *g, int from, uint32_t call);

/* race_group_exchange: each PE gives a value and gets those of all, in the order of the group; what they know is told
 * as well. Only where all PEs are sure to come, such as after a collective. Returns 0 if one has not come after all. */
int race_group_exchange(struct race_group *g, uint64_t gives, uint64_t *values);

/* race_group_told: the thread learns what these members told in a call of the group with this key (bit i: member i);
 * returns the sum of what they gave. race_group_arrived: the same as race_group_arrivals. For members of other hosts.
 */
int race_group_arrived(uint64_t key, const uint64_t members[2], uint32_t call, uint32_t *clock);
size_t race_group_told(uint64_t key, const uint64_t members[2], uint32_t call);

/* race_group_lock: learn what the holders of the lock with this offset have told, or (tell 1) tell. */
void race_group_lock(uint64_t offset, int tell);

/* Events: each wait learns what the posts that it consumes have told, the first ones first. race_group_post: before the
 * post. race_group_await: `count` posts have been consumed. race_group_no_posts: the event is a new one. */
#define RACE_EVENTS_MOST 4096
size_t race_event_bytes(void);
void race_group_post(uint64_t event);
void race_group_await(uint64_t event, uint32_t count);
void race_group_no_posts(uint64_t event);

#endif
