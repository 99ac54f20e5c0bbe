/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs of several hosts: asks other hosts for what they keep, and answers what they ask.
 *
 * Each host has the shared memory of job.h, which the host's lowest PE, its leader, makes. Which host keeps what, and
 * what is asked when, is in docs/race.md, "Several hosts". Each function that asks returns when the answer is there;
 * do not call one while the thread holds a lock in the shared memory, for which other hosts' questions may wait. */
#ifndef RACE_REMOTE_H
#define RACE_REMOTE_H

#include "instruments/race/shadow.h"

/* race_remote_open finds the hosts and connects them, if there are several. Collective: all PEs have the same result.
 * Returns 0, or -1 if there can be no detection; then PE 0 has said why. nodes: each node counts as a host. map_len:
 * the length of the shared memory. race_remote_start, when the host's memory is there: its leader begins to answer.
 * race_remote_end: no PE asks any more; the counts in the header, if there is one, become those of all hosts. */
int race_remote_open(int nodes, size_t map_len);
void race_remote_start(void);
void race_remote_end(void);

/* race_remote_leader: the PE that makes this PE's shared memory. race_remote_from_leader: collective: each PE gets the
 * bytes of its host's leader. Returns -1 if memory is exhausted. */
static inline int race_remote_leader(void) { return race_job.host_of ? race_job.leaders[race_job.host] : 0; }
int race_remote_from_leader(void *data, size_t len);

/* race_is_elsewhere: whether PE pe is on another host. race_remote_host: the host on which an actor's PE is. */
static inline int race_is_elsewhere(int pe) {
    return __builtin_expect(race_job.host_of != NULL, 0) && race_job.host_of[pe] != race_job.host;
}
int race_remote_host(uint32_t actor);
static inline int race_actor_is_elsewhere(uint32_t actor) {
    return __builtin_expect(race_job.host_of != NULL, 0) && race_remote_host(actor) != race_job.host;
}

/* race_far_range, race_far_access: race_range and race_access (shadow.h) of any PE's memory. */
__attribute__((cold)) void race_remote_range(const struct race_cell *cells, uintptr_t addr, size_t len, int pe,
                                             race_epoch kind, int write, uint32_t place, const struct race_who *who);
static inline void race_far_range(struct race_cell *cells, uintptr_t addr, size_t len, int pe, race_epoch kind,
                                  int write, uint32_t place, const struct race_who *who) {
    if (race_is_elsewhere(pe))
        race_remote_range(cells, addr, len, pe, kind, write, place, who);
    else
        race_range(cells, addr, len, pe, kind, write, place, who);
}
static inline void race_far_access(struct race_cell *cell, race_epoch mask, race_epoch kind, int write, uint32_t place,
                                   const struct race_who *who, struct race_where where) {
    if (race_is_elsewhere(where.pe))
        race_remote_range(cell, where.addr, (size_t)__builtin_popcountll(mask), where.pe, kind, write, place, who);
    else
        race_access(cell, mask, kind, write, place, who, where);
}

/* race_remote_saw: race_saw (shadow.h) for a cell that another host keeps. Returns 0 if it is this host's. */
int race_remote_saw(const struct race_cell *cell, race_epoch mask, int native, struct race_seen *told, size_t *n);

/* race_remote_learn: race_learn (clock.h) for an actor of another host. race_remote_group: the thread learns what these
 * members of a group, who are on that host, told in a call (bit i: member i); returns the sum of what they gave.
 * race_remote_arrived: race_group_arrived (group.h) there.
 * race_remote_lock: race_group_lock for a lock whose clock that host keeps. */
void race_remote_learn(struct race_thread *t, uint32_t actor, uint32_t count);
size_t race_remote_group(int host, uint64_t key, const uint64_t members[2], uint32_t call);
int race_remote_arrived(int host, uint64_t key, const uint64_t members[2], uint32_t call, uint32_t *clock);
void race_remote_lock(int host, uint64_t offset, int tell);

/* Blocks of a PE of another host. race_remote_block_begins, _ends: race_block_begins, _ends (blocks.h).
 * race_remote_block: as race_block_of; the result is valid until the thread's next call. */
void race_remote_block_begins(int pe, const struct race_block *block);
void race_remote_block_ends(int pe, uint64_t offset, uint32_t place);
const struct race_block *race_remote_block(int pe, uint64_t offset);

/* For reports. race_remote_place: the entry of a place that another host has numbered; it stays valid.
 * race_remote_completed: up to which operation an actor's PE knows its operations to be complete.
 * race_remote_pair_is_new: whether no other host has reported the pair. */
const struct race_place *race_remote_place(uint32_t place);
uint32_t race_remote_completed(uint32_t actor);
int race_remote_pair_is_new(uint64_t key);

/* race_remote_collects: called with each race that is found. Returns 1 if the calling thread acts for a thread of
 * another host, which will report the race. */
int race_remote_collects(const struct race_record *old, race_epoch mask, int what, struct race_where where,
                         size_t used);

#endif
