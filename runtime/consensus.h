/* SPDX-License-Identifier: BSD-3-Clause */
/* What all PEs must decide alike, agreed on at init: here, and nowhere else. docs/life-cycle.md lists all of it, with
 * its scope.
 *
 * Each function is one reduction over all PEs (collective over MPI_COMM_WORLD), and a meeting. Each also carries how
 * the PE has fared, `code`: if any PE has failed, all get an error, the first that failed its own and the others one
 * that names it, and w->failed_pe says which. RMA_SUCCESS is then the same news on every PE. */
#ifndef RMAI_CONSENSUS_H
#define RMAI_CONSENSUS_H

#include <stdint.h>

struct rmai_world;

/* rmai_consensus: nothing but how all have fared. */
int rmai_consensus(struct rmai_world *w, int code);

/* rmai_consensus_facts: the settings, by the scopes of their table; whether the program is the same, so that its global
 * variables may be symmetric; whether all PEs may have a progress thread; whether all run on one machine, and on one
 * host. Wants w->job.settings, w->statics. */
int rmai_consensus_facts(struct rmai_world *w, int code);

/* rmai_consensus_nodes: the most PEs that a node has (*most), which bounds the heaps. */
int rmai_consensus_nodes(struct rmai_world *w, int code, int *most);

/* rmai_consensus_rooms: *first becomes the first room that is free on all PEs, RMAI_ROOMS if there is none. found: what
 * rmai_rooms_find has returned here. */
int rmai_consensus_rooms(struct rmai_world *w, int code, unsigned found, int *first);

/* rmai_consensus_reserved: whether the spaces of all PEs lie at the same address in their processes
 * (w->job.one_address), and the alignment that the symmetric heaps of all PEs have (w->job.heap_alignment). Wants
 * w->job.layout, and w->job.spaces and stride if code is RMA_SUCCESS. */
int rmai_consensus_reserved(struct rmai_world *w, int code);

/* rmai_consensus_crowded: whether PEs outnumber processors anywhere (w->job.crowded_somewhere). `crowded`: here. */
int rmai_consensus_crowded(struct rmai_world *w, int code, int crowded);

/* rmai_consensus_moved: *moved becomes 1 if all PEs have moved their global variables (those that had to). */
int rmai_consensus_moved(struct rmai_world *w, int code, int *moved);

/* rmai_consensus_watched: w->job.all_progress becomes 1 if all PEs have a progress thread; and w->job.placement is the
 * rule by which all PEs are placed on nodes. Wants n_nodes and node_most. */
int rmai_consensus_watched(struct rmai_world *w, int code);

#endif
