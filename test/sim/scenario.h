/* SPDX-License-Identifier: BSD-3-Clause */
/* Scenarios: what the PEs of a simulated job do, decided by a seed, and compared with a model of what they must see.
 * test/sim/sim runs them. */
#ifndef SIM_SCENARIO_H
#define SIM_SCENARIO_H

#include "test/sim/network.h"

struct scenario {
    const char *name, *what;
    int least_pes, most_pes;
    size_t (*memory)(int n_pes);              /* bytes of each PE, for struct sim_options */
    void *(*begin)(uint64_t seed, int n_pes); /* what the PEs share: the context of `program` */
    sim_program *program;
    void (*end)(void *context);
};

extern const struct scenario scenario_requests;

/* Ends with an entry without a name. */
extern const struct scenario *const scenarios[];

#endif
