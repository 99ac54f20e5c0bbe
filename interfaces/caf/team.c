/* SPDX-License-Identifier: BSD-3-Clause */
/* Teams. A team of images is a team of librma with the same order, and a slot of words for its barrier. All images of a
 * team use the same slot: they choose the first one that is free on each of them.
 *
 * Fortran has no statement that frees a team, and the number of librma's teams is limited. So FORM TEAM in a loop
 * returns the team that it has formed before from the same images, unless that is in use. */
#include "config.h"

#include "interfaces/caf/team.h"
#include "interfaces/caf/coarray.h"
#include "interfaces/caf/sync.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static RMAI_CAF_STATE struct rmai_caf_team *teams; /* all of this image */
static RMAI_CAF_STATE uint64_t slots_free = ~(uint64_t)1;

static struct rmai_caf_team *make_team(rma_team *native, int64_t number) {
    struct rmai_caf_team *team = rmai_caf_memory("FORM TEAM", sizeof *team);
    int n = rma_team_n_pes(native);
    *team = (struct rmai_caf_team){.n = n, .me = rma_team_my_pe(native), .number = number, .native = native};
    team->pes = rmai_caf_memory("FORM TEAM", (size_t)n * sizeof *team->pes);
    for (int i = 0; i < n; i++) team->pes[i] = rma_team_translate_pe(native, i, RMA_TEAM_WORLD);
    return team;
}

struct rmai_caf_team *rmai_caf_team_initial(void) {
    struct rmai_caf_team *team = make_team(RMA_TEAM_WORLD, -1);
    team->active = 1;
    return teams = team;
}

/* Finds an earlier team with the same parent, images and number, in which this image is not executing. */
static struct rmai_caf_team *find_former(const struct rmai_caf_team *team) {
    for (struct rmai_caf_team *t = teams; t; t = t->next)
        if (!t->active && t->parent == team->parent && t->number == team->number && t->n == team->n &&
            memcmp(t->pes, team->pes, (size_t)t->n * sizeof *t->pes) == 0)
            return t;
    return NULL;
}

struct rmai_caf_team *rmai_caf_team_form(struct rmai_caf_result r, int64_t number, int new_index) {
    struct rmai_caf_team *parent = rmai_caf.team;
    rma_team *native;
    if (number <= 0 || number > INT32_MAX) {
        rmai_caf_report(r, RMAI_CAF_STAT_ARGUMENT, "FORM TEAM: team number %lld is not positive, or exceeds 2147483647",
                        (long long)number);
        return NULL;
    }
    /* The call below waits for each image: one that has left is noticed here. */
    if (!rmai_caf_sync_members(r, "FORM TEAM", parent)) return NULL;
    if (rma_team_split_color(parent->native, (int)number, new_index ? new_index : parent->me, &native) != RMA_SUCCESS) {
        rmai_caf_report(r, RMAI_CAF_STAT_NO_MEM, "FORM TEAM: %s", rma_last_error());
        return NULL;
    }
    struct rmai_caf_team *team = make_team(native, number), *result = NULL;
    team->parent = parent;
    /* Slot 0 is never free, so its bit can say whether all images have the numbers that they have asked for. */
    uint64_t slots = slots_free | (!new_index || new_index == team->me + 1);
    rma_and_reduce_uint64(native, &slots, &slots, 1);
    if (!(slots & 1)) {
        rmai_caf_report(r, RMAI_CAF_STAT_ARGUMENT,
                        "FORM TEAM: this image has NEW_INDEX=%d, and the %d images of the team do not have the numbers "
                        "1 to %d, each of them once",
                        new_index, team->n, team->n);
    } else if (!(result = find_former(team)) && slots == 1) {
        rmai_caf_report(r, RMAI_CAF_STAT_NO_MEM, "FORM TEAM: an image is a member of %d teams already", RMAI_CAF_TEAMS);
    } else if (!result) {
        team->slot = 63 - __builtin_clzll(slots);
        slots_free &= ~((uint64_t)1 << team->slot);
        team->next = teams;
        return teams = team;
    }
    rma_team_destroy(native);
    free(team->pes);
    free(team);
    return result;
}

void rmai_caf_team_change(struct rmai_caf_result r, struct rmai_caf_team *team) {
    if (team->parent != rmai_caf.team) {
        rmai_caf_report(r, RMAI_CAF_STAT_ARGUMENT,
                        "CHANGE TEAM: team %lld was not formed by the current team, which is number %lld",
                        (long long)team->number, (long long)rmai_caf.team->number);
        return;
    }
    team->active++;
    rmai_caf.team = team;
    rmai_caf_sync_team(r, "CHANGE TEAM", team);
}

void rmai_caf_team_end(struct rmai_caf_result r) {
    struct rmai_caf_team *team = rmai_caf.team;
    if (team == rmai_caf.initial) {
        rmai_caf_report(r, RMAI_CAF_STAT_ARGUMENT, "END TEAM: the current team is the initial team");
        return;
    }
    rmai_caf_sync_team(r, "END TEAM", team);
    rmai_caf_coarray_free_all(team);
    team->active--;
    rmai_caf.team = team->parent;
}

struct rmai_caf_team *rmai_caf_team_above(int distance) {
    struct rmai_caf_team *team = rmai_caf.team;
    while (distance-- > 0 && team->parent) team = team->parent;
    return team;
}

struct rmai_caf_team *rmai_caf_team_numbered(struct rmai_caf_result r, const char *statement, int64_t number) {
    if (number == -1) return rmai_caf.initial;
    if (number == rmai_caf.team->number) return rmai_caf.team;
    for (struct rmai_caf_team *t = teams; t; t = t->next)
        if (t->number == number && t->parent == rmai_caf.team->parent) return t;
    rmai_caf_report(r, RMAI_CAF_STAT_ARGUMENT, "%s: this image is in no team with number %lld", statement,
                    (long long)number);
    return NULL;
}

int rmai_caf_is_team(const void *address) {
    for (const struct rmai_caf_team *t = teams; t; t = t->next)
        if (t == address) return 1;
    return 0;
}

static void mark(const struct rmai_caf_team *team, int round, int pe) {
    struct rmai_caf_team_words *words = &rmai_caf.self->teams[team->slot];
    rma_atomic_or_uint64(&words->arrived[round], RMAI_CAF_LEFT, pe);
    if (round < RMAI_CAF_EXCHANGES) rma_atomic_or_uint64(&words->exchanged[round], RMAI_CAF_LEFT, pe);
}

void rmai_caf_team_mark_all(void) {
    for (struct rmai_caf_team *t = teams; t; t = t->next)
        for (int i = 0; i < t->n; i++)
            for (int round = 0; i != t->me && round < rmai_caf_rounds(t->n); round++) mark(t, round, t->pes[i]);
}

/* The initial team has MPI's own: image i is PE i - 1, which is rank i - 1. */
static int make_communicator(const struct rmai_caf_team *team, MPI_Comm *made) {
    MPI_Group world, group;
    int code = MPI_Comm_group(MPI_COMM_WORLD, &world);
    *made = MPI_COMM_WORLD;
    if (code != MPI_SUCCESS || !team->parent) return code;
    if ((code = MPI_Group_incl(world, team->n, team->pes, &group)) == MPI_SUCCESS) {
        code = MPI_Comm_create_group(MPI_COMM_WORLD, group, team->slot, made);
        MPI_Group_free(&group);
    }
    MPI_Group_free(&world);
    return code;
}

int rmai_caf_team_communicator(struct rmai_caf_team *team) {
    MPI_Comm made;
    if (team->has_communicator) return team->communicator;
    if (make_communicator(team, &made) != MPI_SUCCESS)
        rmai_caf_report(RMAI_CAF_NO_RESULT, RMAI_CAF_STAT_ARGUMENT,
                        "get_communicator: MPI cannot make the communicator");
    team->has_communicator = 1;
    return team->communicator = (int)MPI_Comm_c2f(made);
}
