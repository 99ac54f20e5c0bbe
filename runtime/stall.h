/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is it that a PE waits for in vain? After RMA_STALL seconds of one wait for another node, those who are waited for are asked for
 * a sign of life. One that answers says in which call it is itself; one that does not is named, and ends the job if it has
 * not answered after RMA_TIMEOUT seconds: its host is gone, and nobody else would tell. */
#ifndef RMAI_STALL_H
#define RMAI_STALL_H

struct rmai_world;
struct rmai_team;
struct rmai_question;

struct rmai_stall {
    double since; /* rma_wtime at the first look; 0 before it */
    double next;  /* when there is something to do again */
    struct rmai_question *asked; /* n of them, or NULL */
    int n;
};

/* rmai_stall_look: at every nap of a wait in `call` for pe (-1: for the PEs of team, or if that is NULL for all leaders of nodes). The lock of far is held. */
void rmai_stall_look(struct rmai_world *w, struct rmai_stall *s, const char *call, int pe, const struct rmai_team *team);

/* rmai_stall_end: the wait is over. */
void rmai_stall_end(struct rmai_world *w, struct rmai_stall *s);

#endif
