/* SPDX-License-Identifier: BSD-3-Clause */
/* The programs of the scenario `jobs`, for other scenarios: test/sim/jobs.c describes them. */
#ifndef SIM_JOBS_H
#define SIM_JOBS_H

#include "test/sim/network.h"

/* jobs_windows decides which windows the network has, and returns the setting of what goes through them. */
const char *jobs_windows(struct sim_options *options, uint64_t *random);

void *jobs_begin(const struct sim_options *options);
void jobs_program(struct sim_pe *pe, void *context);
void jobs_end(void *context);

#endif
