/* SPDX-License-Identifier: BSD-3-Clause */
/* sim: runs scenarios of simulated jobs, seed after seed, and stops at the first one that shows a fault. See --help. */
#include "config.h"

#include "base/clock.h"
#include "rma.h"
#include "test/sim/scenario.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct scenario *const scenarios[] = {&scenario_requests, NULL};

#define PES_MOST  16384
#define TAIL_MOST 60 /* lines of the log that are shown of a run that fails */

static void usage(FILE *f) {
    fputs("usage: sim [OPTION...]\n"
          "\n"
          "Runs a simulated job for each seed: its PEs are coroutines of this process, and the seed decides what they\n"
          "do, how long each message takes, and whose turn it is. Compares what they see with a model.\n"
          "\n"
          "  --scenario NAME   all scenarios, if it is not given:\n",
          f);
    for (int i = 0; scenarios[i]; i++)
        fprintf(f, "                      %-12s %s (%d to %d PEs)\n", scenarios[i]->name, scenarios[i]->what,
                scenarios[i]->least_pes, scenarios[i]->most_pes);
    fputs("  --seed S          one run, which the seed S repeats to the step\n"
          "  --seeds N         N runs, with the seeds 1 to N, or from --seed on [100]\n"
          "  --pes N           PEs; if it is not given the seed decides: 2 to 9\n"
          "  --log             write each event: virtual time, PE, what\n"
          "  --help            this text\n"
          "\n"
          "Exit code: 0 no fault; 1 a fault, with its seed and the last events; 2 a wrong argument.\n",
          f);
}

static void refuse(const char *format, const char *what, const char *value) {
    fputs("sim: ", stderr);
    fprintf(stderr, format, what, value);
    fputs("; --help lists the options\n", stderr);
    exit(2);
}

static uint64_t number(const char *option, const char *text, uint64_t least, uint64_t most) {
    char *end;
    unsigned long long value;
    errno = 0;
    value = strtoull(text, &end, 10);
    if (end == text || *end || *text == '-' || errno || value < least || value > most) {
        fprintf(stderr, "sim: %s %s is no number from %llu to %llu\n", option, text, (unsigned long long)least,
                (unsigned long long)most);
        exit(2);
    }
    return value;
}

static struct sim_options options_of(const struct scenario *s, uint64_t seed, int n_pes) {
    uint64_t random = seed;
    struct sim_options o = {.seed = seed};
    o.n_pes = (int)(2 + sim_random(&random) % 8);
    o.latency = 1 + sim_random(&random) % 100;
    o.jitter = sim_random(&random) % 3 ? sim_random(&random) % 2000 : 0;
    o.eager = sim_random(&random) % 4 ? 8192 : 0;
    if (n_pes) o.n_pes = n_pes;
    o.memory = s->memory(o.n_pes);
    return o;
}

static struct sim_report run_seed(const struct scenario *s, uint64_t seed, int n_pes, FILE *log) {
    struct sim_options options = options_of(s, seed, n_pes);
    void *context = s->begin(seed, options.n_pes);
    struct sim_report report;
    options.log = log;
    report = sim_run(&options, s->program, context);
    s->end(context);
    if (!*report.failure && report.stuck)
        snprintf(report.failure, sizeof report.failure, "%d of %d PEs wait for ever", report.stuck, options.n_pes);
    if (!*report.failure && report.left)
        snprintf(report.failure, sizeof report.failure, "%d messages or operations are left in the end", report.left);
    return report;
}

/* Runs the seed once more and shows the end of what happened: a run is the same each time. */
static void show_failure(const struct scenario *s, uint64_t seed, int n_pes, const char *failure) {
    char *text = NULL, *line;
    size_t size = 0;
    FILE *log = open_memstream(&text, &size);
    int lines = 0;
    printf("sim: FAULT in %s, seed %llu: %s\n", s->name, (unsigned long long)seed, failure);
    if (log) {
        run_seed(s, seed, n_pes, log);
        fclose(log);
        for (line = text + size; line > text; line--)
            if (line[-1] == '\n' && lines++ == TAIL_MOST) break;
        fputs(line, stdout);
        free(text);
    }
    printf("sim: again by: sim --scenario %s --seed %llu", s->name, (unsigned long long)seed);
    if (n_pes) printf(" --pes %d", n_pes);
    puts(" --log");
}

static int run_scenario(const struct scenario *s, uint64_t from, uint64_t n, int n_pes, FILE *log) {
    const double begun = rmai_wtime();
    uint64_t steps = 0, messages = 0;
    for (uint64_t seed = from; seed < from + n; seed++) {
        const struct sim_report report = run_seed(s, seed, n_pes, log);
        steps += report.steps;
        messages += report.messages;
        if (*report.failure) {
            show_failure(s, seed, n_pes, report.failure);
            return 1;
        }
    }
    printf("sim: %s: %llu seeds, %llu steps, %llu messages, %.1f s: no fault\n", s->name, (unsigned long long)n,
           (unsigned long long)steps, (unsigned long long)messages, rmai_wtime() - begun);
    return 0;
}

int main(int argc, char **argv) {
    static const struct option options[] = {{"scenario", required_argument, NULL, 'c'},
                                            {"seed", required_argument, NULL, 's'},
                                            {"seeds", required_argument, NULL, 'n'},
                                            {"pes", required_argument, NULL, 'p'},
                                            {"log", no_argument, NULL, 'l'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    const char *scenario = NULL;
    uint64_t from = 1, n = 0;
    int n_pes = 0, option, one = 0, found = 0, failed = 0;
    FILE *log = NULL;
    opterr = 0;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (option) {
            case 'c': scenario = optarg; break;
            case 's': from = number("--seed", optarg, 0, UINT64_MAX / 2), one = 1; break;
            case 'n': n = number("--seeds", optarg, 1, UINT64_MAX / 2); break;
            case 'p': n_pes = (int)number("--pes", optarg, 2, PES_MOST); break;
            case 'l': log = stdout; break;
            case 'h': usage(stdout); return 0;
            default: refuse("unknown or incomplete option %s%s", argv[optind - 1], "");
        }
    }
    if (optind < argc) refuse("unknown argument %s%s", argv[optind], "");
    if (n == 0) n = one ? 1 : 100;
    for (int i = 0; scenarios[i] && !failed; i++) {
        const struct scenario *s = scenarios[i];
        if (scenario && strcmp(scenario, s->name) != 0) continue;
        found = 1;
        if (n_pes && (n_pes < s->least_pes || n_pes > s->most_pes)) {
            fprintf(stderr, "sim: scenario %s takes %d to %d PEs, not %d\n", s->name, s->least_pes, s->most_pes, n_pes);
            return 2;
        }
        failed = run_scenario(s, from, n, n_pes, log);
    }
    if (!found) refuse("there is no scenario %s%s", scenario, "");
    return failed;
}
