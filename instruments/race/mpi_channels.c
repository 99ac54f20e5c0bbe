/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "instruments/race/mpi_channels.h"

#include <mpi.h>
#include <sched.h>

#include "instruments/race/clock.h"
#include "instruments/race/contexts.h"
#include "instruments/race/group.h"
#include "instruments/race/job.h"
#include "instruments/race/spin.h"

static uint64_t mix(uint64_t hash, uint64_t value) { return (hash ^ value) * 0x9e3779b97f4a7c15u ^ hash >> 29; }

/* Every process finds the channel under the same key. NULL: there are no more. Then all messages from one process to
 * another one have one clock, which has all that they have told. */
static struct race_channel *channel_of(struct race_channel_key key) {
    uint64_t hash = mix(mix(mix(mix(mix(1, (uint64_t)key.kind), key.id), (uint64_t)key.from), (uint64_t)key.to),
                        (uint64_t)key.tag) |
                    1;
    for (uint64_t i = 0; i < 64; i++) {
        struct race_channel *c = &race_job.channels[((hash >> 20) + i) % RACE_CHANNELS];
        uint64_t seen = 0;
        if (__atomic_compare_exchange_n(&c->key, &seen, hash, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) || seen == hash)
            return c;
    }
    return NULL;
}

/* The clock's number, beside those of windows' locks. */
static uint64_t clock_of(struct race_channel_key key) {
    return ((uint64_t)1 << 50) + ((uint64_t)(key.from * race_job.n_pes + key.to) << 2);
}

void race_channel_tell(struct race_channel_key key) {
    RACE_HELD;
    struct race_channel *c = channel_of(key);
    const struct race_operation op = {.thread = race_me->actor,
                                      .at = race_me->count,
                                      .version = race_publish(race_me, race_no_fences),
                                      .puts = UINT32_MAX,
                                      .signalled = UINT32_MAX};
    if (!c) {
        race_group_lock(clock_of(key), 1);
        race_tick(race_me);
        return;
    }
    race_log(race_me->actor, race_me->count, &op);
    race_spin_lock(&c->lock);
    c->ring[c->told % RACE_CHANNEL_RING].actor = race_me->actor;
    c->ring[c->told % RACE_CHANNEL_RING].count = race_me->count;
    __atomic_store_n(&c->told, c->told + 1, __ATOMIC_RELEASE);
    race_spin_unlock(&c->lock);
    race_tick(race_me);
}

void race_channel_hear(struct race_channel_key key, uint32_t ahead) {
    struct race_channel *c = channel_of(key);
    uint32_t actor = UINT32_MAX, count = 0, number;
    if (!c) {
        race_group_lock(clock_of(key), 0);
        return;
    }
    race_spin_lock(&c->lock);
    number = c->heard++ + ahead;
    if (c->told && (number >= c->told || c->told - number > RACE_CHANNEL_RING)) number = c->told - 1;
    if (c->told) {
        actor = c->ring[number % RACE_CHANNEL_RING].actor;
        count = c->ring[number % RACE_CHANNEL_RING].count;
    }
    race_spin_unlock(&c->lock);
    if (actor != UINT32_MAX) race_learn(race_me, actor, count);
}

/* After this many looks without the message the other process is taken not to tell. */
#define LOOKS_MOST 10000000
void race_channel_wait(struct race_channel_key key) {
    struct race_channel *c = channel_of(key);
    for (int looks = 0; c && __atomic_load_n(&c->told, __ATOMIC_ACQUIRE) <= c->heard && looks < LOOKS_MOST; looks++) {
        int flag;
        if (looks > 100) sched_yield();
        if (looks % 100 == 99) PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    }
    race_channel_hear(key, 0);
}
