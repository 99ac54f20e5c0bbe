/* SPDX-License-Identifier: BSD-3-Clause */
/* Exposures: memory that every PE has offered to all, in one collective call. */
#ifndef RMAI_EXPOSE_H
#define RMAI_EXPOSE_H

struct rmai_world;

/* rmai_exposures_close frees the list of exposures (finalize). */
void rmai_exposures_close(struct rmai_world *w);

#endif
