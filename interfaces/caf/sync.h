/* SPDX-License-Identifier: BSD-3-Clause */
/* SYNC ALL, SYNC TEAM and SYNC IMAGES. Each completes this image's transfers first. */
#ifndef RMAI_CAF_SYNC_H
#define RMAI_CAF_SYNC_H

#include "interfaces/caf/core.h"

/* rmai_caf_rounds returns how many rounds a barrier of n images has. */
static inline int rmai_caf_rounds(int n) { return n > 1 ? 32 - __builtin_clz((unsigned)n - 1) : 0; }

/* rmai_caf_sync_team waits for all images of team and reports the result. */
void rmai_caf_sync_team(struct rmai_caf_result r, const char *statement, struct rmai_caf_team *team);

/* rmai_caf_meet waits for all images of team, and returns RMAI_CAF_OK or the status of those that have left: the same
 * on all images. If some have left, it has synchronized the others. rmai_caf_meet_saying also compares what the images
 * say (below). rmai_caf_report_left reports that status. */
enum rmai_caf_stat rmai_caf_meet(const char *statement, struct rmai_caf_team *team);
enum rmai_caf_stat rmai_caf_meet_saying(const char *statement, struct rmai_caf_team *team, uint64_t says);
void rmai_caf_report_left(struct rmai_caf_result r, const char *statement, enum rmai_caf_stat stat,
                          const struct rmai_caf_team *team);

/* Collective subroutines say what they are: images that execute different ones, or with different amounts of data, end
 * the job instead of computing anything. */
enum rmai_caf_collective {
    RMAI_CAF_SUM,
    RMAI_CAF_MIN,
    RMAI_CAF_MAX,
    RMAI_CAF_USER,
    RMAI_CAF_BROADCAST,
    RMAI_CAF_DEALLOCATE /* of a coarray whose place stands for the amount of data */
};
static inline uint64_t rmai_caf_says(enum rmai_caf_collective what, int image, size_t bytes) {
    return ((uint64_t)what + 1) | (uint64_t)(unsigned)image << 4 | (uint64_t)bytes << 28;
}

/* rmai_caf_sync_leaving: this image leaves, and enters the barrier of all images a last time. `tells`: others may find
 * it missing. It returns when all other images have entered that barrier, or have left. */
void rmai_caf_sync_leaving(int tells);

/* rmai_caf_shows: 1 if the images of team can show each other `len` bytes in a barrier: all images, which share
 * processors. rmai_caf_show is that barrier; it returns 0 after it has reported that an image has left. Until this
 * image's next statement of the team rmai_caf_shown returns what image i, from 0, has shown. */
static inline int rmai_caf_shows(const struct rmai_caf_team *team, size_t len) {
    return rmai_caf.crowded && team == rmai_caf.initial && len <= RMAI_CAF_BOX;
}
int rmai_caf_show(struct rmai_caf_result r, const char *statement, uint64_t says, const void *data, size_t len);
const void *rmai_caf_shown(int i);

/* rmai_caf_exchange: a barrier in which the images also exchange up to RMAI_CAF_BOX bytes of data: in round k each
 * image calls take with the data of the image whose number differs from its own in bit k, as it was before that round.
 * Only for teams of rmai_caf_can_exchange. Returns 0 after it has reported that an image has left. */
typedef void rmai_caf_take(void *mine, const void *theirs, int round, const void *context);
int rmai_caf_exchange(struct rmai_caf_result r, const char *statement, struct rmai_caf_team *team,
                      struct rmai_caf_parcel *parcel, size_t len, rmai_caf_take *take, const void *context);
static inline int rmai_caf_can_exchange(int n, size_t len) {
    return (n & (n - 1)) == 0 && n <= 1 << RMAI_CAF_EXCHANGES && len <= RMAI_CAF_BOX;
}

/* rmai_caf_sync_members: as rmai_caf_sync_team, but reports nothing on success. Returns 1 if all images are there.
 * rmai_caf_sync_saying also compares what the images say. */
int rmai_caf_sync_members(struct rmai_caf_result r, const char *statement, struct rmai_caf_team *team);
int rmai_caf_sync_saying(struct rmai_caf_result r, const char *statement, struct rmai_caf_team *team, uint64_t says);

/* rmai_caf_sync_images synchronizes with n images of the current team, from 1; with all of them if n is -1. */
void rmai_caf_sync_images(struct rmai_caf_result r, int n, const int *images);

#endif
