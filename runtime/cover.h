/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI's window follows the growth of the symmetric heap. */
#ifndef RMAI_COVER_H
#define RMAI_COVER_H

struct rmai_world;

/* rmai_cover makes MPI's window anew if a good part of the symmetric heap lies outside of it (collective). Returns
 * RMA_SUCCESS or RMA_ERR_MPI. */
int rmai_cover(struct rmai_world *w, const char *call);

#endif
