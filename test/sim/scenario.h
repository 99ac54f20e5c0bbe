/* SPDX-License-Identifier: BSD-3-Clause */
/* Scenarios: programs of a simulated job's PEs. A seed decides their steps, and a model tells the expected results.
 * test/sim/sim runs them. */
#ifndef SIM_SCENARIO_H
#define SIM_SCENARIO_H

#include "test/sim/network.h"

struct scenario {
    const char *name, *what;
    int least_pes, most_pes;
    /* Adds to options, which have n_pes, seed and times by the seed already. */
    void (*prepare)(struct sim_options *options);
    void *(*begin)(const struct sim_options *options); /* what the PEs share: the context of `program` */
    sim_program *program;
    /* Or NULL: a run is good if no PE has failed, none is stuck, nothing is left, and no wake-up was
     * missed. Else it judges a run in which no
     * PE has called sim_fail: it returns 0, or words the fault in report->why. */
    int (*judge)(void *context, struct sim_report *report);
    void (*end)(void *context);
};

extern const struct scenario scenario_failures, scenario_images, scenario_jobs, scenario_requests;

/* Ends with NULL. */
extern const struct scenario *const scenarios[];

#endif
