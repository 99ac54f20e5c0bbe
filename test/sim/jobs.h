/* SPDX-License-Identifier: BSD-3-Clause */
/* The programs of the scenario `jobs`, for other scenarios: test/sim/jobs.c describes them. */
#ifndef SIM_JOBS_H
#define SIM_JOBS_H

#include "test/sim/network.h"

void *jobs_begin(const struct sim_options *options);
void jobs_program(struct sim_pe *pe, void *context);
void jobs_end(void *context);

#endif
