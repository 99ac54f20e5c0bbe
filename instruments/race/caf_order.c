/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of segments (Fortran 2018, 11.6.2 to 11.6.10). Each image control statement ends a segment: the thread's
 * count increases. Images that meet, two images of SYNC IMAGES, and locks and events tell each other their clocks
 * (group.h).
 *
 * Atomic subroutines order nothing by themselves. Between SYNC MEMORY statements, or any image control statements, they
 * do (11.6.5): whoever reads the value of an atomic variable succeeds, from its next image control statement on, the
 * segments that the writer had ended before it wrote. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "instruments/race/caf.h"
#include "instruments/race/clock.h"
#include "instruments/race/job.h"

/* What the calling thread has learnt in this segment. Its clock has all that the thread knows. */
static __thread struct race_thread *later;
static __thread int has_learnt;

void race_caf_learn(struct race_cell *cell, race_epoch mask) {
    struct race_thread *me = race_me;
    if (!later) {
        struct race_thread *t = calloc(1, sizeof *t);
        if (t && !(t->clock = calloc(race_job.clocks, sizeof *t->clock))) {
            free(t);
            t = NULL;
        }
        if (!(later = t)) return;
    }
    if (later->count != me->count + 1) { /* the first in this segment */
        later->actor = me->actor;
        later->count = me->count + 1; /* the segment that will know */
        race_join(later, me->clock);
    }
    later->changed = 0;
    race_me = later;
    race_acquire(cell, mask, 1);
    race_me = me;
    has_learnt |= later->changed;
}

void race_caf_statement(void) {
    race_coarrays_read();
    if (!race_watches() || !has_learnt) return;
    has_learnt = 0;
    race_join(race_me, later->clock);
}

/* What the image knew when its segment began: the ends of the segments that this one succeeds. Its threads' counts also
 * increase within a segment, by locks of threads, say. */
static uint32_t *ended;
static uintptr_t segment; /* its number */

static void segment_begins(void) {
    if (!race_watches() || (!ended && !(ended = calloc(race_job.clocks, sizeof *ended)))) return;
    race_tell_clock(race_me, ended);
    ended[race_me->actor] = race_me->count - 1; /* the count increased when the last segment ended */
    segment++;
}

static void only_ended(uint32_t *clock, const void *context, int pe) {
    (void)context, (void)pe;
    if (ended) memcpy(clock, ended, race_job.clocks * sizeof *clock);
}

struct race_operation race_caf_telling(void) {
    const struct race_fenced before = {.into = only_ended, .context = (const void *)segment};
    return (struct race_operation){.thread = race_me->actor,
                                   .at = ended ? ended[race_me->actor] : 0,
                                   .version = ended ? race_publish(race_me, before) : 0,
                                   .puts = UINT32_MAX,
                                   .signalled = UINT32_MAX};
}

void race_caf_segment(void) {
    if (!race_watches()) return;
    race_tick(race_me);
    segment_begins();
}

void race_caf_enter(struct race_group *g) {
    race_caf_statement();
    race_group_enter(g, 0, 0);
    segment_begins();
}

void race_caf_leave(struct race_group *g) {
    race_group_leave(g, RACE_ALL);
    segment_begins();
}

/* ---- SYNC IMAGES: each two images are a group ---- */

static struct race_group *pair_with(int pe) {
    const int me = race_job.my_pe;
    const int pes[2] = {me < pe ? me : pe, me < pe ? pe : me};
    return pe < 0 || pe == me ? NULL : race_group_of(pes, 2);
}

/* Calls f for the pair with each image of the list, or (count < 0) with all of the current team; once for one that is
 * named twice, which is an error of the program. */
static void each_pair(int count, const int *images, void (*f)(struct race_group *)) {
    const struct race_caf_team *team = race_caf_current();
    if (count < 0) {
        for (int i = 1; team->group && i <= race_group_n(team->group); i++) f(pair_with(race_caf_pe(i, team)));
        return;
    }
    for (int i = 0; i < count; i++) {
        int before = 0;
        while (before < i && images[before] != images[i]) before++;
        if (before == i && images[i] > 0) f(pair_with(race_caf_pe(images[i], team)));
    }
}

static void enter(struct race_group *g) { race_group_enter(g, 0, 0); }

void race_caf_enter_images(int count, const int *images) {
    race_caf_statement();
    if (race_watches()) each_pair(count, images, enter);
    race_caf_segment();
}

void race_caf_leave_images(int count, const int *images) {
    if (race_watches()) each_pair(count, images, race_caf_leave);
}

/* ---- locks and events: their place in the images' memory is their number ---- */

static uint64_t number_of(const struct race_coarray *a, int pe, size_t index) {
    const uint64_t offset = a && pe >= 0 ? race_coarray_offset(a, pe) : UINT64_MAX;
    return offset == UINT64_MAX ? 0 : (uint64_t)(pe + 1) << 44 ^ (offset + sizeof(uint64_t) * index);
}

void race_caf_word(caf_token token, size_t index, int image, int tell) {
    uint64_t number;
    if (!race_watches() || !(number = number_of(race_coarray_of(token), race_caf_pe(image, NULL), index))) return;
    race_group_lock(number, tell);
    if (tell) race_tick(race_me);
    segment_begins();
}

void race_caf_post(caf_token token, size_t index, int image) {
    uint64_t number;
    if (!race_watches() || !(number = number_of(race_coarray_of(token), race_caf_pe(image, NULL), index))) return;
    race_group_post(number);
    race_tick(race_me);
    segment_begins();
}

void race_caf_awaited(caf_token token, size_t index, int count) {
    uint64_t number;
    if (!race_watches() || !(number = number_of(race_coarray_of(token), race_job.my_pe, index))) return;
    race_group_await(number, count > 1 ? (uint32_t)count : 1);
    segment_begins();
}

void race_caf_events_new(const struct race_coarray *a) {
    for (size_t i = 0; i < a->size / sizeof(uint64_t); i++) race_group_no_posts(number_of(a, race_job.my_pe, i));
}
