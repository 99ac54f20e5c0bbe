/* SPDX-License-Identifier: BSD-3-Clause */
/* The process's one world, apart from its life cycle (runtime/runtime.c): whoever names the world does not depend on
 * who opens and closes it. */
#include "config.h"

#include "runtime/world.h"

struct rmai_world rmai_world;

int rmai_one_node(const struct rmai_world *w) { return w->job.n_nodes == 1 && !(w->net.active && w->net.amo_mpi); }
