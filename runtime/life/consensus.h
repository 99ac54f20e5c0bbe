/* SPDX-License-Identifier: BSD-3-Clause */
/* What all PEs must decide alike: they agree on it at init, and never again. docs/life-cycle.md lists these decisions
 * with their scopes.
 *
 * Each function is one reduction over all PEs (collective over MPI_COMM_WORLD), and a meeting. Each also passes on
 * `code`, this PE's own result so far. If any PE has failed, all PEs get an error: the first PE that failed gets its
 * own, the others get one that names that PE, and w->failed_pe is its number. So all PEs get RMA_SUCCESS, or none does.
 */
#ifndef RMAI_CONSENSUS_H
#define RMAI_CONSENSUS_H

#include <stdint.h>

struct rmai_world;

/* rmai_consensus agrees only on `code`. */
int rmai_consensus(struct rmai_world *w, int code);

/* rmai_consensus_facts agrees on the settings, by the scopes of their table; on whether all PEs run the same program,
 * so that its global variables may be symmetric; on whether MPI's windows have started all PEs; on whether all PEs may
 * have a progress thread; on whether all run on one machine, and on one host; and on whether all have the same tool
 * (rma_tools_differ_ in rma_inline.h). It needs w->job.settings and w->statics. */
int rmai_consensus_facts(struct rmai_world *w, int code);

/* rmai_consensus_nodes finds the most PEs that a node has (*most), which limits the heaps. */
int rmai_consensus_nodes(struct rmai_world *w, int code, int *most);

/* rmai_consensus_rooms: *first becomes the first room that is free on all PEs, or RMAI_ROOMS if there is none. found:
 * the result of rmai_rooms_find on this PE. */
int rmai_consensus_rooms(struct rmai_world *w, int code, unsigned found, int *first);

/* rmai_consensus_reserved finds whether the spaces of all PEs lie at the same address in their processes
 * (w->job.one_address), and the alignment that the symmetric heaps of all PEs have (w->job.heap_alignment). It needs
 * w->job.layout, and w->job.spaces and stride if code is RMA_SUCCESS. */
int rmai_consensus_reserved(struct rmai_world *w, int code);

/* rmai_consensus_crowded finds whether PEs outnumber processors on any node (w->job.crowded_somewhere). crowded: they
 * do on this one. */
int rmai_consensus_crowded(struct rmai_world *w, int code, int crowded);

/* rmai_consensus_moved: *moved becomes 1 if all PEs that had to move their global variables have done so. */
int rmai_consensus_moved(struct rmai_world *w, int code, int *moved);

/* rmai_consensus_level: *raises becomes 1 if it is 1 on any PE and no PE has RMA_THREAD_MULTIPLE already. */
int rmai_consensus_level(struct rmai_world *w, int code, int *raises);

/* rmai_consensus_watched: w->job.all_progress becomes 1 if all PEs have a progress thread; and w->job.placement becomes
 * the rule by which all PEs are placed on nodes. It needs n_nodes and node_most. */
int rmai_consensus_watched(struct rmai_world *w, int code);

#endif
