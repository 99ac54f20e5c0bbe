/* SPDX-License-Identifier: BSD-3-Clause */
/* A phase of the programs of the scenario `jobs`: sections, lists and accumulates. */
#ifndef SIM_SHAPES_H
#define SIM_SHAPES_H

#include <stdint.h>

#include "test/sim/network.h"

/* shapes_phase: all of the n PEs call it. common, own: the states of their random numbers, those that are alike on all
 * PEs and those that are not. */
void shapes_phase(struct sim_pe *pe, int n, uint64_t *common, uint64_t *own);

#endif
