/* SPDX-License-Identifier: BSD-3-Clause */
/* Teams of images: FORM TEAM, CHANGE TEAM and END TEAM. */
#ifndef RMAI_CAF_TEAM_H
#define RMAI_CAF_TEAM_H

#include "interfaces/caf/core.h"

struct rmai_caf_coarray;

struct rmai_caf_team {
    int n, me;                    /* images, and this image among them, from 0 */
    int *pes;                     /* the PE of each image */
    int64_t number;               /* of FORM TEAM; -1: the initial team */
    int slot;                     /* which of the rmai_caf_team_words are the team's */
    uint64_t barriers, exchanges; /* how many this image has entered */
    int active;                   /* how often this image is inside of CHANGE TEAM for it, now */
    rma_team *native;             /* the PEs in the same order */
    struct rmai_caf_team *parent;
    struct rmai_caf_team *next;        /* of all teams of this image */
    struct rmai_caf_coarray *coarrays; /* allocated in the team, while it is not the initial one */
    int communicator;                  /* MPI's, for Fortran, if has_communicator is 1 */
    int has_communicator;
};

/* rmai_caf_team_initial makes the team of all images. */
struct rmai_caf_team *rmai_caf_team_initial(void);

/* rmai_caf_team_form is FORM TEAM: a collective call of the current team. All images that give the same number get one
 * team. new_index: this image's number in it, from 1, or 0: in the order of the current team. NULL after an error,
 * which it has reported. */
struct rmai_caf_team *rmai_caf_team_form(struct rmai_caf_result r, int64_t number, int new_index);

/* rmai_caf_team_change and rmai_caf_team_end are CHANGE TEAM and END TEAM; both synchronize the team. */
void rmai_caf_team_change(struct rmai_caf_result r, struct rmai_caf_team *team);
void rmai_caf_team_end(struct rmai_caf_result r);

/* rmai_caf_team_above returns the ancestor of the current team at this distance; the initial team is the last one. */
struct rmai_caf_team *rmai_caf_team_above(int distance);

/* rmai_caf_team_numbered returns the team with this number: the initial team (-1), or one that the current team's
 * parent has formed and this image is in; NULL after it has reported that there is none. */
struct rmai_caf_team *rmai_caf_team_numbered(struct rmai_caf_result r, const char *statement, int64_t number);

/* rmai_caf_team_communicator returns a communicator of MPI with the images of the team, for MPI's Fortran calls. The
 * first call for a team is collective. */
int rmai_caf_team_communicator(struct rmai_caf_team *team);

/* rmai_caf_is_team: 1 if the address is that of a team. */
int rmai_caf_is_team(const void *address);

/* rmai_caf_team_mark_all marks the words of this image's teams on their other images (rmai_caf_leave). */
void rmai_caf_team_mark_all(void);

/* rmai_caf_pe returns the PE of image `image`, from 1, of team, or -1 after it has reported that there is none. */
static inline int rmai_caf_pe(struct rmai_caf_result r, const char *statement, const struct rmai_caf_team *team,
                              int image) {
    if (__builtin_expect((unsigned)image - 1u < (unsigned)team->n, 1)) return team->pes[image - 1];
    rmai_caf_report(r, RMAI_CAF_STAT_ARGUMENT, "%s: image index %d is outside 1..%d", statement, image, team->n);
    return -1;
}

#endif
