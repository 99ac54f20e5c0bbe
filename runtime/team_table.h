/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of this PE's teams: it gives teams memory and numbers, and enters and removes them. It makes the two teams
 * that always exist; runtime/api/team_split makes all others. Uses runtime/team and the mailboxes of the node. */
#ifndef RMAI_TEAM_TABLE_H
#define RMAI_TEAM_TABLE_H

struct rmai_team;
struct rmai_teams;
struct rmai_world;

/* rmai_teams_none empties the table: rmai_teams_close then does nothing. rmai_teams_commit gets memory for the words
 * and mailboxes of the two teams that always exist, and for the header before them; rmai_teams_open makes these teams;
 * rmai_teams_close removes all teams; rmai_teams_clear clears the words and mailboxes before these teams are made anew,
 * when all PEs have met and none is in a call of a team. rmai_teams_commit and rmai_teams_open return RMA_SUCCESS or
 * record RMA_ERR_NO_MEM. */
void rmai_teams_none(struct rmai_teams *all);
int rmai_teams_commit(struct rmai_world *w);
int rmai_teams_open(struct rmai_world *w);
void rmai_teams_clear(struct rmai_world *w);
void rmai_teams_close(struct rmai_world *w);

/* rmai_team_prepare gets memory for the words and mailbox of team number `number` on this PE, once, clears them, and
 * opens the mailboxes of `made`. Nobody signals by a free number, so the memory can be cleared; the PEs of `made` store
 * there only after another meeting of the parent. Returns RMA_SUCCESS or records RMA_ERR_NO_MEM for `call`. */
int rmai_team_prepare(struct rmai_world *w, const char *call, int number, struct rmai_team *made);

/* rmai_team_add enters *made as team number `number`, and returns its place in the table. rmai_team_remove frees the
 * team's memory on this PE, and its number; its PEs have met for the last time. */
struct rmai_team *rmai_team_add(struct rmai_world *w, int number, const struct rmai_team *made);
void rmai_team_remove(struct rmai_world *w, struct rmai_team *t);

#endif
