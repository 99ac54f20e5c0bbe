/* SPDX-License-Identifier: BSD-3-Clause */
/* SYNC ALL, SYNC TEAM and SYNC IMAGES. Each completes this image's transfers first. */
#ifndef RMAI_CAF_SYNC_H
#define RMAI_CAF_SYNC_H

#include "caf/core.h"

/* rmai_caf_rounds returns how many rounds a barrier of n images has. */
static inline int rmai_caf_rounds(int n) { return n > 1 ? 32 - __builtin_clz((unsigned)n - 1) : 0; }

/* rmai_caf_sync_team waits for all images of team and reports the result. */
void rmai_caf_sync_team(struct rmai_caf_result r, const char *statement, struct rmai_caf_team *team);

/* rmai_caf_meet waits for all images of team, and returns RMAI_CAF_OK or the status of those that have left: the same
 * on all images. If some have left, it has synchronized the others. rmai_caf_report_left reports that status. */
enum rmai_caf_stat rmai_caf_meet(const char *statement, const struct rmai_caf_team *team);
void rmai_caf_report_left(struct rmai_caf_result r, const char *statement, enum rmai_caf_stat stat,
                          const struct rmai_caf_team *team);

/* rmai_caf_sync_members: the same, but reports nothing on success. Returns 1 if all images are there. */
int rmai_caf_sync_members(struct rmai_caf_result r, const char *statement, struct rmai_caf_team *team);

/* rmai_caf_sync_images synchronizes with n images of the current team, from 1; with all of them if n is -1. */
void rmai_caf_sync_images(struct rmai_caf_result r, int n, const int *images);

#endif
