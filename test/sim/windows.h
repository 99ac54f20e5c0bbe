/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI's windows on the simulated network. The network is as unkind as MPI allows: an access travels in pieces, of which
 * each takes a time of its own, so puts overtake each other until they are flushed; a source is read when the put
 * arrives, unless it is flushed locally before. A piece is done by the network alone, or only when its target drives
 * progress (struct sim_windows_options).
 *
 * A fault of the library ends the run: an access outside of a window, or to memory that is not attached; a window that
 * is ended, or a region that is detached, while accesses to it are under way. */
#ifndef SIM_WINDOWS_H
#define SIM_WINDOWS_H

#include "test/sim/network.h"

/* sim_windows_operations adds the windows' operations to those of a transport. */
void sim_windows_operations(struct rmai_transport_operations *operations);

/* sim_windows_open: what a PE has of windows, none of which exists yet. sim_windows_close frees it, and returns how
 * many pieces of accesses are under way. */
struct sim_windows *sim_windows_open(void);
int sim_windows_close(struct sim_windows *w);

/* sim_windows_serve: the PE drives progress, and does the accesses that need it. */
void sim_windows_serve(struct sim_pe *pe);

/* sim_windows_wait_for_lost: 1 if an access of the PE is under way to one that has died, is stopped, or is cut off. */
int sim_windows_wait_for_lost(const struct sim_pe *pe);

#endif
