/* SPDX-License-Identifier: BSD-3-Clause */
/* sim: runs scenarios of simulated jobs, seed after seed, and stops at the first one that shows a fault. See --help. */
#include "config.h"

#include "base/clock.h"
#include "rma.h"
#include "test/sim/scenario.h"

#include <errno.h>
#include <signal.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

const struct scenario *const scenarios[] = {&scenario_requests, &scenario_jobs, &scenario_failures, NULL};

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
    o.times.latency = 1 + sim_random(&random) % 1000;
    o.times.jitter = sim_random(&random) % 3 ? sim_random(&random) % 20000 : 0;
    o.times.eager = sim_random(&random) % 4 ? 8192 : 0;
    o.times.send = o.times.receive = sim_random(&random) % 4 ? sim_random(&random) % 200 : 0;
    o.times.gap = o.times.kib = sim_random(&random) % 4 ? sim_random(&random) % 100 : 0;
    if (n_pes) o.n_pes = n_pes;
    s->prepare(&o);
    return o;
}

/* A line for each event. */
static void write_event(void *context, const struct sim_trace *e) {
    FILE *f = context;
    fprintf(f, "%10llu  PE %-4d ", (unsigned long long)e->time, e->pe);
    switch (e->kind) {
        case SIM_SENDS:
            fprintf(f, "sends   %zu bytes to PE %d, tag %d: message %llu\n", e->len, e->other, e->tag,
                    (unsigned long long)e->message);
            break;
        case SIM_ARRIVES:
            fprintf(f, "gets    message %llu from PE %d\n", (unsigned long long)e->message, e->other);
            break;
        case SIM_LOST: fprintf(f, "loses   message %llu from PE %d\n", (unsigned long long)e->message, e->other); break;
        case SIM_SAYS: fprintf(f, "%s\n", e->text);
    }
}

static struct sim_report run_here(const struct scenario *s, uint64_t seed, int n_pes, FILE *log) {
    struct sim_options options = options_of(s, seed, n_pes);
    void *context = s->begin(&options);
    struct sim_report r;
    options.trace = log ? write_event : NULL;
    options.trace_context = log;
    r = sim_run(&options, s->program, context);
    if (!r.failed && s->judge) {
        r.failed = s->judge(context, &r);
    } else if (!r.failed && (r.stuck || r.ended)) {
        r.failed = 1;
    } else if (!r.failed && r.left) {
        r.failed = 1;
        snprintf(r.why, sizeof r.why, "%d messages or operations are left in the end", r.left);
    } else if (!r.failed && r.naps) {
        r.failed = 1;
        snprintf(r.why, sizeof r.why, "%llu sleeps were not ended by who changed the word", (unsigned long long)r.naps);
    }
    s->end(context);
    return r;
}

/* In a child, which writes its report into a pipe. */
static struct sim_report run_apart(const struct scenario *s, uint64_t seed, int n_pes, FILE *log) {
    struct sim_report r = {0};
    int ends[2], status = 0;
    ssize_t n = 0;
    pid_t child;
    if (log) fflush(log);
    if (pipe(ends) != 0 || (child = fork()) < 0) {
        perror("sim: fork");
        exit(2);
    }
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        r = run_here(s, seed, n_pes, log);
        if (log) fflush(log);
        _exit(write(ends[1], &r, sizeof r) != (ssize_t)sizeof r);
    }
    close(ends[1]);
    n = read(ends[0], &r, sizeof r);
    close(ends[0]);
    waitpid(child, &status, 0);
    if (n == (ssize_t)sizeof r && status == 0) return r;
    r = (struct sim_report){.failed = 1};
    if (WIFSIGNALED(status))
        snprintf(r.why, sizeof r.why, "the run was ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(r.why, sizeof r.why, "the run ended with exit code %d", WEXITSTATUS(status));
    return r;
}

static struct sim_report run_seed(const struct scenario *s, uint64_t seed, int n_pes, FILE *log) {
    return s->apart ? run_apart(s, seed, n_pes, log) : run_here(s, seed, n_pes, log);
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
        if (report.failed) {
            show_failure(s, seed, n_pes, report.why);
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
