/* SPDX-License-Identifier: BSD-3-Clause */
/* Synchronization of images. A barrier is a dissemination barrier (Hensgen, Finkel, Manber, 1988): in round k image i
 * tells image i + 2^k that it has arrived, and waits for image i - 2^k. The words only count up, so no word is reset.
 *
 * Where images share processors, each round would wake each image. There all images meet by the barrier of librma,
 * which wakes an image once. It waits for all images. So an image that leaves enters it a last time, after it has
 * written the epoch of that barrier to all images. All images find this epoch when they come out of the barrier, and do
 * not enter another one. The epoch is the same whoever leaves: no image enters a barrier before all images have entered
 * the one before.
 *
 * As soon as an image has left, all words of its teams are marked (image.c), and the images use another barrier: each
 * polls the epochs of all others, except of those that have left. That is slow, but it does not wait for words of
 * images that have left. Images in either kind of barrier see each other, since both count the same epochs. */
#include "config.h"

#include "interfaces/caf/move.h"
#include "interfaces/caf/sync.h"
#include "interfaces/caf/team.h"

#include <assert.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The barrier after an image has left. Returns the status of those that have not arrived. */
static RMAI_COLD enum rmai_caf_stat meet_the_others(const struct rmai_caf_team *team, uint64_t epoch) {
    enum rmai_caf_stat result = RMAI_CAF_OK;
    struct rmai_caf_team_words *words = &rmai_caf.self->teams[team->slot];
    for (int i = 0; i < team->n; i++) {
        if (i == team->me) continue;
        int pe = team->pes[i];
        while (rma_atomic_fetch_uint64(&words->epoch, pe) < epoch) {
            enum rmai_caf_stat status = rmai_caf_status(pe);
            /* The image may have arrived and left since its epoch was read. */
            if (status != RMAI_CAF_OK) {
                if (rma_atomic_fetch_uint64(&words->epoch, pe) >= epoch) break;
                if (result != RMAI_CAF_STAT_STOPPED) result = status;
                break;
            }
            rma_progress();
            sched_yield();
        }
    }
    return result;
}

static inline void publish_arrival(struct rmai_caf_team_words *words, uint64_t epoch) {
    __atomic_store_n(&words->epoch, epoch, __ATOMIC_RELEASE); /* pairs with the fetch in meet_the_others */
}

/* Publishes the epoch, when the signal of the first round has left. Signals are releases, but another image may also
 * learn from the epoch that this one has arrived, so this image's puts are completed first. Of two images only the
 * partner can, and what this image has sent to it arrives in order: puts, signal, and the answer with the epoch. */
static inline void arrive(struct rmai_caf_team_words *words, uint64_t epoch, int n) {
    if (n > 2) rma_quiet();
    publish_arrival(words, epoch);
}

/* ---- what images say ---- */

static const char *describe_statement(char text[80], uint64_t says) {
    static const char *const names[] = {"another statement", "CO_SUM",       "CO_MIN",    "CO_MAX",
                                        "CO_REDUCE",         "CO_BROADCAST", "DEALLOCATE"};
    const unsigned what = says & 15, image = says >> 4 & 0xffffff;
    if (what == 0 || what >= sizeof names / sizeof names[0])
        snprintf(text, 80, "%s", names[0]);
    else if (what == RMAI_CAF_DEALLOCATE + 1)
        snprintf(text, 80, "%s of the coarray at byte %llu of its space", names[what],
                 (unsigned long long)(says >> 28));
    else if (image)
        snprintf(text, 80, "%s with %llu bytes and image %u", names[what], (unsigned long long)(says >> 28), image);
    else
        snprintf(text, 80, "%s with %llu bytes", names[what], (unsigned long long)(says >> 28));
    return text;
}

/* Ends the job if image i of the team, from 0, says something else: it may wait for ever already. */
static void compare_says(const char *statement, int i, uint64_t theirs, uint64_t mine) {
    char this_text[80], other_text[80];
    if (__builtin_expect(theirs == mine, 1)) return;
    rmai_caf_report(RMAI_CAF_NO_RESULT, RMAI_CAF_STAT_ARGUMENT,
                    "%s: image %d of the team executes %s, and this image %s", statement, i + 1,
                    describe_statement(other_text, theirs), describe_statement(this_text, mine));
}

/* ---- images that share processors ---- */

static uint64_t last_epoch(void) { return __atomic_load_n(&rmai_caf.self->last_epoch, __ATOMIC_ACQUIRE); }

/* Enters librma's barrier of this epoch, unless images have left before it. Returns 1 if no image has left yet, and 0
 * if this image has to ask each other one whether it has arrived. */
static int meet_in_librma(const char *statement, uint64_t epoch) {
    const uint64_t before = last_epoch();
    assert(before <= epoch && "no image leaves in a later barrier before this one has entered the one before that");
    if (before != 0 && before < epoch) return 0;
    rma_call_as_(statement);
    rmai_caf_must(rma_sync_all());
    rma_call_as_(NULL);
    return last_epoch() == 0;
}

void rmai_caf_sync_leaving(int tells) {
    const uint64_t epoch = rmai_caf.self->teams[rmai_caf.initial->slot].epoch + 1, told = last_epoch();
    if (!rmai_caf_shows(rmai_caf.initial, 0)) return;
    /* Not after an earlier barrier: its epoch stays. Others that leave in this one may be telling, too, but of two that
     * tell each other first nobody else would hear if they stopped there. */
    tells = tells && (told == 0 || told == epoch);
    for (int pe = 0; pe < rmai_caf.n && tells; pe++)
        if (pe != rmai_caf.me) rma_atomic_set_uint64(&rmai_caf.self->last_epoch, epoch, pe);
    meet_in_librma("end of the program", epoch);
}

/* Where this image shows something in that epoch. It uses the place again after the next barrier only, which the others
 * enter when they have read it. */
static struct rmai_caf_parcel *shown_in(struct rmai_caf_team_words *words, uint64_t epoch) {
    return &words->box[epoch % 2][0];
}

static struct rmai_caf_parcel *shown_by(int i) {
    struct rmai_caf_team_words *words = &rmai_caf.self->teams[rmai_caf.initial->slot];
    assert(i >= 0 && i < rmai_caf.n && "images are numbered from 0 here");
    return rma_ptr(shown_in(words, words->epoch), rmai_caf.initial->pes[i]);
}

const void *rmai_caf_shown(int i) { return shown_by(i)->data; }

static enum rmai_caf_stat meet_and_show(const char *statement, uint64_t says, const void *data, size_t len) {
    const struct rmai_caf_team *team = rmai_caf.initial;
    struct rmai_caf_team_words *words = &rmai_caf.self->teams[team->slot];
    const uint64_t epoch = words->epoch + 1;
    struct rmai_caf_parcel *shown = shown_in(words, epoch);
    shown->says = says; /* plain stores are enough: the barrier publishes them */
    if (len) memcpy(shown->data, data, len);
    rmai_caf_must(rma_quiet());
    publish_arrival(words, epoch);
    if (!meet_in_librma(statement, epoch)) return meet_the_others(team, epoch);
    if (says) {
        const int next = team->me + 1 < team->n ? team->me + 1 : 0;
        compare_says(statement, next, shown_by(next)->says, says);
    }
    return RMAI_CAF_OK;
}

int rmai_caf_show(struct rmai_caf_result r, const char *statement, uint64_t says, const void *data, size_t len) {
    const enum rmai_caf_stat stat = meet_and_show(statement, says, data, len);
    if (__builtin_expect(stat == RMAI_CAF_OK, 1)) return 1;
    rmai_caf_report_left(r, statement, stat, rmai_caf.initial);
    return 0;
}

/* ---- barriers ---- */

static inline __attribute__((always_inline)) enum rmai_caf_stat meet(const char *statement, struct rmai_caf_team *team,
                                                                     uint64_t says) {
    if (rmai_caf_shows(team, 0)) return meet_and_show(statement, says, NULL, 0);
    struct rmai_caf_team_words *words = &rmai_caf.self->teams[team->slot];
    uint64_t epoch = words->epoch + 1, turn = ++team->barriers, *said = &words->said[turn % 2];
    for (int round = 0, far = 1; far < team->n; round++, far *= 2) {
        int to = team->me + far, pe = team->pes[to < team->n ? to : to - team->n];
        rmai_caf_signals(pe);
        if (says && round == 0)
            rmai_caf_must(rma_put_signal(said, &says, sizeof says, &words->arrived[0], 1, RMA_SIGNAL_ADD, pe));
        else
            rmai_caf_must(rma_signal_add(&words->arrived[round], 1, pe));
        rmai_caf_signalled();
        if (round == 0) arrive(words, epoch, team->n);
        if (rmai_caf_wait(statement, &words->arrived[round], turn) >= RMAI_CAF_LEFT)
            return meet_the_others(team, epoch);
        if (says && round == 0) {
            compare_says(statement, team->me ? team->me - 1 : team->n - 1, *said, says);
            *said = 0;
        }
    }
    if (team->n == 1) arrive(words, epoch, 1);
    return RMAI_CAF_OK;
}

enum rmai_caf_stat rmai_caf_meet(const char *statement, struct rmai_caf_team *team) { return meet(statement, team, 0); }

enum rmai_caf_stat rmai_caf_meet_saying(const char *statement, struct rmai_caf_team *team, uint64_t says) {
    return meet(statement, team, says);
}

int rmai_caf_exchange(struct rmai_caf_result r, const char *statement, struct rmai_caf_team *team,
                      struct rmai_caf_parcel *parcel, size_t len, rmai_caf_take *take, const void *context) {
    struct rmai_caf_team_words *words = &rmai_caf.self->teams[team->slot];
    uint64_t epoch = words->epoch + 1, turn = ++team->exchanges;
    for (int round = 0; 1 << round < team->n; round++) {
        const struct rmai_caf_parcel *box = &words->box[turn % 2][round];
        const int partner = team->me ^ 1 << round, pe = team->pes[partner];
        rmai_caf_signals(pe);
        rmai_caf_must(rma_put_signal((void *)(uintptr_t)box, parcel, offsetof(struct rmai_caf_parcel, data) + len,
                                     &words->exchanged[round], 1, RMA_SIGNAL_ADD, pe));
        rmai_caf_signalled();
        if (round == 0) arrive(words, epoch, team->n);
        uint64_t x = rmai_caf_wait(statement, &words->exchanged[round], turn);
        if (__builtin_expect(x >= RMAI_CAF_LEFT, 0)) {
            enum rmai_caf_stat stat = meet_the_others(team, epoch);
            if (stat != RMAI_CAF_OK) {
                rmai_caf_report_left(r, statement, stat, team);
                return 0;
            }
            /* All images have arrived, and some have left since. Their data arrive as well. */
            while ((__atomic_load_n(&words->exchanged[round], __ATOMIC_ACQUIRE) & ~RMAI_CAF_LEFT) < turn) {
                rma_progress();
                sched_yield();
            }
        }
        compare_says(statement, partner, box->says, parcel->says);
        if (len) take(parcel->data, box->data, round, context);
    }
    return 1;
}

int rmai_caf_sync_saying(struct rmai_caf_result r, const char *statement, struct rmai_caf_team *team, uint64_t says) {
    if (!rmai_caf_shows(team, 0) && rmai_caf_can_exchange(team->n, 0)) {
        struct rmai_caf_parcel parcel = {.says = says};
        return rmai_caf_exchange(r, statement, team, &parcel, 0, NULL, NULL);
    }
    enum rmai_caf_stat stat = meet(statement, team, says);
    if (__builtin_expect(stat == RMAI_CAF_OK, 1)) return 1;
    rmai_caf_report_left(r, statement, stat, team);
    return 0;
}

void rmai_caf_report_left(struct rmai_caf_result r, const char *statement, enum rmai_caf_stat stat,
                          const struct rmai_caf_team *team) {
    int image = 0;
    while (image < team->n && rmai_caf_status(team->pes[image]) != stat) image++;
    rmai_caf_report(r, stat, "%s: image %d has %s", statement, image + 1,
                    stat == RMAI_CAF_STAT_FAILED ? "failed" : "stopped");
}

int rmai_caf_sync_members(struct rmai_caf_result r, const char *statement, struct rmai_caf_team *team) {
    enum rmai_caf_stat stat = rmai_caf_meet(statement, team);
    if (__builtin_expect(stat == RMAI_CAF_OK, 1)) return 1;
    rmai_caf_report_left(r, statement, stat, team);
    return 0;
}

void rmai_caf_sync_team(struct rmai_caf_result r, const char *statement, struct rmai_caf_team *team) {
    if (rmai_caf_sync_members(r, statement, team)) rmai_caf_done(r);
}

/* 1 if the list has only images of the team, and each once; 0 after it has reported that it has not. */
static int check_images(struct rmai_caf_result r, const struct rmai_caf_team *team, int n, const int *images) {
    uint64_t few = 0, *named = team->n <= 64 ? &few : calloc(((size_t)team->n + 63) / 64, sizeof *named);
    int twice = 0, bad = 0;
    if (!named) named = rmai_caf_array("SYNC IMAGES", SIZE_MAX, 1); /* reports it */
    for (int i = 0; i < n && !twice && !bad; i++) {
        const int image = images[i] - 1;
        if ((bad = rmai_caf_pe(r, "SYNC IMAGES", team, images[i]) < 0)) break;
        if (named[image / 64] >> image % 64 & 1) twice = images[i];
        named[image / 64] |= (uint64_t)1 << image % 64;
    }
    if (named != &few) free(named);
    if (twice) rmai_caf_report(r, RMAI_CAF_STAT_TWICE, "SYNC IMAGES: image %d is named twice", twice);
    return !twice && !bad;
}

void rmai_caf_sync_images(struct rmai_caf_result r, int n, const int *images) {
    const struct rmai_caf_team *team = rmai_caf.team;
    enum rmai_caf_stat result = RMAI_CAF_OK;
    int count = n < 0 ? team->n : n, left = 0;
    if (n > 0 && !check_images(r, team, n, images)) return;
    /* The signal is a release: it waits for puts to other images that are under way. */
    for (int i = 0; i < count; i++) {
        int pe = team->pes[n < 0 ? i : images[i] - 1];
        if (pe == rmai_caf.me) continue;
        rmai_caf_signals(pe);
        rmai_caf_must(rma_signal_add(&rmai_caf.pair[rmai_caf.me], 1, pe));
    }
    rmai_caf_signalled();
    for (int i = 0; i < count; i++) {
        int image = n < 0 ? i : images[i] - 1, pe = team->pes[image];
        if (pe == rmai_caf.me) continue;
        uint64_t x = rmai_caf_wait("SYNC IMAGES", &rmai_caf.pair[pe], ++rmai_caf.expected[pe]);
        rmai_caf_synchronized(pe);
        if (x < RMAI_CAF_LEFT || x - RMAI_CAF_LEFT >= rmai_caf.expected[pe]) continue;
        if (result != RMAI_CAF_STAT_STOPPED) result = rmai_caf_status(pe), left = image;
    }
    if (result == RMAI_CAF_OK)
        rmai_caf_done(r);
    else
        rmai_caf_report(r, result, "SYNC IMAGES: image %d has %s", left + 1,
                        result == RMAI_CAF_STAT_FAILED ? "failed" : "stopped");
}
