/* SPDX-License-Identifier: BSD-3-Clause */
/* The programs of `jobs`, in which something happens to a PE: it dies, it stops for ever or for a while, or the links
 * between two PEs are cut. RMA_STALL is 1 s and RMA_TIMEOUT 2 s, of virtual time, and each PE has a progress thread.
 *
 * The expected results: a job in which a PE stood still for a while ends as if nothing had happened. In any other job,
 * either nobody needs the PE any more, or the job ends soon with a text that names the PE, by a wait, or by a program
 * whose call has returned that error. No PE waits for ever, and none gets wrong data. */
#include "config.h"

#include "test/sim/jobs.h"
#include "test/sim/scenario.h"
#include "test/sim/whole.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND 1000000000u
#define STALL  1 /* seconds, as in the settings below */
#define LIMIT  2
/* More than a second for an answer, and some for the checks of a wait, which are seldom. */
#define SOON ((STALL + LIMIT + 2) * (uint64_t)SECOND)

static struct sim_injection injection[2]; /* of the present run, */
static int node_pes, near;                /* how many PEs its nodes have, and whether these are of one host */

static int injection_is_final(void) { return injection[0].what != SIM_STOPS || injection[1].time == 0; }

static void prepare_failures(struct sim_options *options) {
    static const char *settings[2][6] = {{"RMA_SPIN=0", NULL, "RMA_STALL=1", "RMA_TIMEOUT=2", NULL},
                                         {"RMA_SPIN=40", NULL, "RMA_CHECK=1", "RMA_STALL=1", "RMA_TIMEOUT=2", NULL}};
    const char **chosen;
    uint64_t random = options->seed + 999;
    const int n = options->n_pes, pe = (int)(sim_random(&random) % (uint64_t)n);
    options->layer = &sim_whole;
    options->node_pes = sim_random(&random) % 3 == 0 ? 1 : 1 + (int)(sim_random(&random) % 4);
    if (options->node_pes >= n) options->node_pes = n - 1;
    node_pes = options->node_pes;
    options->crowded = sim_random(&random) % 3 == 0;
    options->threads = 1;
    chosen = settings[sim_random(&random) % 2];
    options->settings = chosen;
    options->quiet = 8 * (uint64_t)SECOND;
    options->limit = 30 * (uint64_t)SECOND;
    memset(injection, 0, sizeof injection);
    injection[0] = (struct sim_injection){.time = sim_random(&random) % 600000, .pe = pe};
    switch (sim_random(&random) % 5) {
        case 0:
        case 1: injection[0].what = SIM_DIES; break;
        case 2: injection[0].what = SIM_STOPS; break;
        case 3:
            injection[0].what = SIM_STOPS;
            injection[1] = (struct sim_injection){.what = SIM_GOES_ON, .pe = pe};
            injection[1].time =
                injection[0].time + (sim_random(&random) % 2 ? sim_random(&random) % 3000000
                                                             : sim_random(&random) % (2 * (uint64_t)SECOND));
            break;
        default:
            injection[0].what = SIM_CUT;
            do injection[0].other = (int)(sim_random(&random) % (uint64_t)n);
            while (injection[0].other / options->node_pes == pe / options->node_pes);
    }
    options->injection = injection;
    options->n_injections = 1 + (injection[1].time > 0);
    chosen[1] = jobs_windows(options, &random);
    near = options->windows.near;
}

static int is_named(const char *text, int pe) {
    char name[24];
    snprintf(name, sizeof name, "PE %d ", pe);
    return strstr(text, name) != NULL;
}

/* From inside MPI a PE sees which processes of its host are gone or stopped, and nothing of other hosts or of links. */
static int cannot_be_seen(const struct sim_report *report) {
    return injection[0].what == SIM_CUT || (!near && (report->ended - 1) / node_pes != injection[0].pe / node_pes);
}

/* A PE that MPI holds (sim_report.inside) may answer nobody, and be named in place of the one for which it waits. It
 * answers nobody in a call that takes all PEs. In a flush, with RMA_THREAD_MULTIPLE, it holds the lock of the pending
 * set that is flushed, and its progress thread may wait for this lock, to complete an operation of the set. */
static int accuses_one_inside(const struct sim_report *report, const char *why) {
    for (const char *end = why, *name; (end = strstr(end, " has not answered ")) != NULL; end++) {
        for (name = end; name > why && name[-1] >= '0' && name[-1] <= '9'; name--) continue;
        if (name < end && atoi(name) < 64 && report->inside >> atoi(name) & 1) return 1;
    }
    return 0;
}

static int judge_failures(void *context, struct sim_report *report) {
    char why[sizeof report->why];
    (void)context;
    memcpy(why, report->why, sizeof why);
    if (report->stuck && !report->ended) return 1;
    if (!report->ended) {
        if (injection_is_final() || (!report->left && !report->missed_wakeups)) return 0;
        snprintf(report->why, sizeof report->why, "%d messages or operations are left, and %llu wake-ups missed",
                 report->left, (unsigned long long)report->missed_wakeups);
        return 1;
    }
    if (!injection_is_final()) {
        snprintf(report->why, sizeof report->why, "the job was ended although PE %d only stood still: %.900s",
                 injection[0].pe, why);
        return 1;
    }
    if (!is_named(why, injection[0].pe) && !(injection[0].what == SIM_CUT && is_named(why, injection[0].other)) &&
        !(cannot_be_seen(report) && strstr(why, " is not over after ")) && !accuses_one_inside(report, why)) {
        snprintf(report->why, sizeof report->why, "PE %d is not named: %.900s", injection[0].pe, why);
        return 1;
    }
    /* A PE sees at once that a neighbour's process is gone. */
    if (injection[0].what == SIM_DIES && (report->ended - 1) / node_pes == injection[0].pe / node_pes &&
        !strstr(why, "has died")) {
        snprintf(report->why, sizeof report->why, "a neighbour has not seen that PE %d is dead: %.900s",
                 injection[0].pe, why);
        return 1;
    }
    if (report->time > report->injections_begun + injection[0].time + SOON) {
        snprintf(report->why, sizeof report->why, "the job was ended too late, after %.1f s: %.900s",
                 (double)(report->time - report->injections_begun - injection[0].time) / SECOND, why);
        return 1;
    }
    return 0;
}

const struct scenario scenario_failures = {.name = "failures",
                                           .what = "the programs of jobs, and a PE dies, stops, or is cut off",
                                           .least_pes = 2,
                                           .most_pes = 64,
                                           .prepare = prepare_failures,
                                           .begin = jobs_begin,
                                           .program = jobs_program,
                                           .judge = judge_failures,
                                           .end = jobs_end};
