/* SPDX-License-Identifier: BSD-3-Clause */
/* The group of a team of several nodes (struct rmai_group in runtime/team.h), as MPI knows it: a communicator of all
 * its PEs, and one of its leaders, the first PE of each node. Made when the team's first collective crosses nodes: most
 * teams never have one. MPI's nonblocking collectives carry what crosses nodes; whoever waits for one serves others
 * meanwhile. */
#ifndef RMAI_GROUP_H
#define RMAI_GROUP_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/net/transport.h"
#include "runtime/team.h"

struct rmai_world;

#define RMAI_GROUP_STAGE ((size_t)256 << 10)

void rmai_group_none(struct rmai_group *g);
void rmai_group_close(struct rmai_group *g);

/* rmai_group_ready makes what t's group lacks (collective over t, which is on several nodes). Returns RMA_SUCCESS,
 * RMA_ERR_MPI, RMA_ERR_NO_MEM. */
int rmai_group_ready(struct rmai_world *w, const char *call, struct rmai_team *t);

/* ---- collectives over t, whose group is ready, each complete on return ----
 *
 * They return RMA_SUCCESS or record RMA_ERR_MPI for `call`. Counts are elements of type. */

enum rmai_among { RMAI_LEADERS, RMAI_ALL };

int rmai_group_broadcast(struct rmai_world *w, const char *call, const struct rmai_team *t, enum rmai_among among,
                         void *data, size_t len, int root);

/* *node: the number among the leaders of the node with PE i of the team; `here`: it is this one. Leaders only. */
int rmai_group_find(struct rmai_world *w, const char *call, const struct rmai_team *t, int i, int here, int *node);

/* In place: Open MPI 4.1 goes wrong where some PEs are in place and others are not. */
int rmai_group_reduce(struct rmai_world *w, const char *call, const struct rmai_team *t, enum rmai_among among,
                      void *data, size_t n, size_t size, MPI_Datatype type, MPI_Op op, int exactly_alike);
enum rmai_scan { RMAI_INCLUSIVE, RMAI_EXCLUSIVE };
int rmai_group_scan(struct rmai_world *w, const char *call, const struct rmai_team *t, enum rmai_scan kind, void *data,
                    size_t n, size_t size, MPI_Datatype type, MPI_Op op);

/* len[i] becomes what number i says. */
int rmai_group_lengths(struct rmai_world *w, const char *call, const struct rmai_team *t, enum rmai_among among,
                       size_t mine, size_t *len);

/* The part of number i is len[i] bytes at dest + at[i]; the own one is there already. */
int rmai_group_gather(struct rmai_world *w, const char *call, const struct rmai_team *t, enum rmai_among among,
                      char *dest, const size_t *len, const size_t *at);

/* Two PEs exchange pieces: rmai_group_swap_begin begins to send len bytes, RMAI_PIECE at most, to PE i of the team,
 * and to receive as many of it, which are those of its call of the same turn for this PE. Both are in use until
 * rmai_group_swap_end, which waits for them; in place of it rmai_group_swap_drop, after an error, lets go of them. */
struct rmai_group_swap {
    struct rmai_token out, in;
};
int rmai_group_swap_begin(const char *call, const struct rmai_team *t, struct rmai_group_swap *s, int i,
                          const void *out, void *in, size_t len);
int rmai_group_swap_end(struct rmai_world *w, const char *call, const struct rmai_team *t, struct rmai_group_swap *s);
void rmai_group_swap_drop(struct rmai_world *w, struct rmai_group_swap *s);

#endif
