/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of this PE's teams: memory and numbers for them, entering and removing them. The two teams that are always
 * there are made here; all others by runtime/team_split. Stands on runtime/team, on the mailboxes of the node. */
#ifndef RMAI_TEAM_TABLE_H
#define RMAI_TEAM_TABLE_H

struct rmai_team;
struct rmai_teams;
struct rmai_world;

/* rmai_teams_none: there is no team, and rmai_teams_close does nothing. rmai_teams_commit gets memory for the words and
 * mailboxes of the two teams that are always there, and for the header before them; rmai_teams_open makes these teams;
 * rmai_teams_close removes all teams. The first two return RMA_SUCCESS or record RMA_ERR_NO_MEM. */
void rmai_teams_none(struct rmai_teams *all);
int rmai_teams_commit(struct rmai_world *w);
int rmai_teams_open(struct rmai_world *w);
void rmai_teams_close(struct rmai_world *w);

/* rmai_team_prepare gets memory for what team number `number` has on this PE, once, clears it, and opens the mailboxes
 * of `made`. Nobody tells anything by a number that is free, so it can be cleared; the PEs of `made` store there only
 * after another meeting of the parent. Returns RMA_SUCCESS or records RMA_ERR_NO_MEM for `call`. */
int rmai_team_prepare(struct rmai_world *w, const char *call, int number, struct rmai_team *made);

/* rmai_team_add: *made is team number `number` from now on. Returns its place in the table. rmai_team_remove frees all
 * that the team has on this PE, and its number; its PEs have met for the last time. */
struct rmai_team *rmai_team_add(struct rmai_world *w, int number, const struct rmai_team *made);
void rmai_team_remove(struct rmai_world *w, struct rmai_team *t);

#endif
