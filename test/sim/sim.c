/* SPDX-License-Identifier: BSD-3-Clause */
/* sim: runs scenarios of simulated jobs, seed after seed, and stops at the first one that shows a fault. See --help. */
#include "config.h"

#include "base/clock.h"
#include "rma.h"
#include "test/sim/option.h"
#include "test/sim/picture.h"
#include "test/sim/scenario.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

const struct scenario *const scenarios[] = {&scenario_requests, &scenario_jobs, &scenario_failures, &scenario_images,
                                            NULL};

#define PES_MOST  16384
#define EVENTS    80 /* of a picture */
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
          "  --pes N           PEs; if it is not given the seed decides: 2 to 11\n"
          "  --log             write each event: virtual time, PE, what\n"
          "  --picture FILE    write the last events as a message sequence picture (SVG): of the seed that shows a\n"
          "                    fault, else of the last one\n"
          "  --events N        so many events in the picture, 1 to 10000 [80]\n"
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
    o.n_pes = (int)(2 + sim_random(&random) % 10);
    o.times.latency = 1 + sim_random(&random) % 1000;
    o.times.jitter = sim_random(&random) % 3 ? sim_random(&random) % 20000 : 0;
    o.times.eager = sim_random(&random) % 4 ? 8192 : 0;
    o.times.send = o.times.receive = sim_random(&random) % 4 ? sim_random(&random) % 200 : 0;
    o.times.gap = o.times.kib = sim_random(&random) % 4 ? sim_random(&random) % 100 : 0;
    if (n_pes) o.n_pes = n_pes;
    s->prepare(&o);
    if (n_pes) o.n_pes = n_pes;
    return o;
}

/* Where events go. Both may be NULL. */
struct watch {
    FILE *log;
    struct sim_picture *picture;
    const char *picture_file;
};

/* A line for each event. */
static void write_event(FILE *f, const struct sim_trace *e) {
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

static void watch_event(void *context, const struct sim_trace *e) {
    const struct watch *watch = context;
    if (watch->log) write_event(watch->log, e);
    if (watch->picture) sim_picture_add(watch->picture, e);
}

static struct sim_report run_here(const struct scenario *s, uint64_t seed, int n_pes, struct watch watch) {
    struct sim_options options = options_of(s, seed, n_pes);
    void *context = s->begin(&options);
    struct sim_report r;
    options.trace = watch.log || watch.picture ? watch_event : NULL;
    options.trace_context = &watch;
    if (watch.picture) sim_picture_clear(watch.picture);
    r = sim_run(&options, s->program, context);
    if (!r.failed && s->judge) {
        r.failed = s->judge(context, &r);
    } else if (!r.failed && (r.stuck || r.ended)) {
        r.failed = 1;
    } else if (!r.failed && r.left) {
        r.failed = 1;
        snprintf(r.why, sizeof r.why, "%d messages or operations are left in the end", r.left);
    } else if (!r.failed && r.missed_wakeups) {
        r.failed = 1;
        snprintf(r.why, sizeof r.why, "%llu sleeps were not ended by who changed the word",
                 (unsigned long long)r.missed_wakeups);
    }
    s->end(context);
    return r;
}

/* In a child, which writes its report into a pipe. */
static struct sim_report run_seed(const struct scenario *s, uint64_t seed, int n_pes, struct watch watch) {
    struct sim_report r = {0};
    int ends[2], status = 0;
    ssize_t n = 0;
    pid_t child;
    if (watch.log) fflush(watch.log);
    if (pipe(ends) != 0 || (child = fork()) < 0) {
        perror("sim: fork");
        exit(2);
    }
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        r = run_here(s, seed, n_pes, watch);
        if (watch.log) fflush(watch.log);
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

static void refuse_picture(const char *file) {
    fprintf(stderr, "sim: --picture %s cannot be written: %s\n", file, strerror(errno));
    exit(2);
}

/* Of the run that the picture has seen. why: struct sim_report's. */
static void write_picture(const struct scenario *s, uint64_t seed, int n_pes, struct watch watch, const char *why) {
    const struct sim_options options = options_of(s, seed, n_pes);
    char title[128];
    const struct sim_picture_facts facts = {
        .title = title, .end = *why ? why : NULL, .n_pes = options.n_pes, .node_pes = options.node_pes};
    FILE *f = fopen(watch.picture_file, "w");
    snprintf(title, sizeof title, "%s, seed %llu", s->name, (unsigned long long)seed);
    if (!f || sim_picture_write(watch.picture, &facts, f) != 0 || fclose(f) != 0) refuse_picture(watch.picture_file);
}

/* From the line on that begins TAIL_MOST lines before the end. */
static void show_tail(FILE *log) {
    long starts[TAIL_MOST], n = 0;
    int c, before = '\n';
    rewind(log);
    for (long at = 0; (c = getc(log)) != EOF; at++, before = c)
        if (before == '\n') starts[n++ % TAIL_MOST] = at;
    if (n == 0) return;
    fseek(log, starts[n < TAIL_MOST ? 0 : n % TAIL_MOST], SEEK_SET);
    while ((c = getc(log)) != EOF) putchar(c);
}

/* Runs the seed once more and shows the end of what happened: a run is the same each time. The log is a file, because a
 * child may write it. */
static void show_failure(const struct scenario *s, uint64_t seed, int n_pes, struct watch watch, const char *failure) {
    printf("sim: FAULT in %s, seed %llu: %s\n", s->name, (unsigned long long)seed, failure);
    fflush(stdout);
    watch.log = tmpfile();
    if (watch.log) setvbuf(watch.log, NULL, _IOLBF, 0); /* the end of a log is wanted when the run ends by a signal */
    if (!watch.log) printf("sim: no log: a temporary file cannot be made: %s\n", strerror(errno));
    if (watch.log || watch.picture) run_seed(s, seed, n_pes, watch);
    if (watch.log) show_tail(watch.log);
    if (watch.log) fclose(watch.log);
    printf("sim: again by: sim --scenario %s --seed %llu", s->name, (unsigned long long)seed);
    if (n_pes) printf(" --pes %d", n_pes);
    puts(" --log");
    if (watch.picture) write_picture(s, seed, n_pes, watch, failure);
}

/* Before the runs, which may take long: a file that cannot be written is told at once. */
static void open_picture(struct watch *watch, int n_events) {
    FILE *f = fopen(watch->picture_file, "w");
    if (!f || fclose(f) != 0) refuse_picture(watch->picture_file);
    watch->picture = sim_picture_open(n_events, PES_MOST);
    if (watch->picture) return;
    fprintf(stderr, "sim: no memory for a picture of %d events\n", n_events);
    exit(2);
}

static int run_scenario(const struct scenario *s, uint64_t from, uint64_t n, int n_pes, struct watch watch) {
    const double begun = rmai_wtime();
    uint64_t steps = 0, messages = 0;
    for (uint64_t seed = from; seed < from + n; seed++) {
        const struct watch unseen = {.log = watch.log};
        const int last = seed + 1 == from + n;
        const struct sim_report report = run_seed(s, seed, n_pes, last ? watch : unseen);
        steps += report.steps;
        messages += report.messages;
        if (report.failed) {
            show_failure(s, seed, n_pes, watch, report.why);
            return 1;
        }
        if (last && watch.picture) write_picture(s, seed, n_pes, watch, report.why);
    }
    printf("sim: %s: %llu seeds, %llu steps, %llu messages, %.1f s: no fault\n", s->name, (unsigned long long)n,
           (unsigned long long)steps, (unsigned long long)messages, rmai_wtime() - begun);
    return 0;
}

static void check_choice(const char *scenario, int n_pes) {
    int found = 0;
    for (int i = 0; scenarios[i]; i++) {
        const struct scenario *s = scenarios[i];
        if (scenario && strcmp(scenario, s->name) != 0) continue;
        found = 1;
        if (!n_pes || (n_pes >= s->least_pes && n_pes <= s->most_pes)) continue;
        fprintf(stderr, "sim: scenario %s takes %d to %d PEs, not %d\n", s->name, s->least_pes, s->most_pes, n_pes);
        exit(2);
    }
    if (!found) refuse("there is no scenario %s%s", scenario, "");
}

int main(int argc, char **argv) {
    static const struct option options[] = {{"scenario", required_argument, NULL, 'c'},
                                            {"seed", required_argument, NULL, 's'},
                                            {"seeds", required_argument, NULL, 'n'},
                                            {"pes", required_argument, NULL, 'p'},
                                            {"log", no_argument, NULL, 'l'},
                                            {"picture", required_argument, NULL, 'd'},
                                            {"events", required_argument, NULL, 'e'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    const char *scenario = NULL;
    uint64_t from = 1, n = 0;
    int n_pes = 0, option, one = 0, failed = 0, n_events = 0;
    struct watch watch = {0};
    opterr = 0;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (option) {
            case 'c': scenario = optarg; break;
            case 's': from = number("--seed", optarg, 0, UINT64_MAX / 2), one = 1; break;
            case 'n': n = number("--seeds", optarg, 1, UINT64_MAX / 2); break;
            case 'p': n_pes = (int)number("--pes", optarg, 1, PES_MOST); break;
            case 'l':
                watch.log = stdout;
                setvbuf(stdout, NULL, _IOLBF, 0);
                break;
            case 'd': watch.picture_file = optarg; break;
            case 'e': n_events = (int)number("--events", optarg, 1, SIM_PICTURE_MOST); break;
            case 'h': usage(stdout); return 0;
            default: refuse("unknown or incomplete option %s%s", sim_refused_option(argv), "");
        }
    }
    if (optind < argc) refuse("unknown argument %s%s", argv[optind], "");
    if (n == 0) n = one ? 1 : 100;
    check_choice(scenario, n_pes);
    if (watch.picture_file)
        open_picture(&watch, n_events ? n_events : EVENTS);
    else if (n_events)
        refuse("%s counts the events of a picture, and there is no %s", "--events", "--picture");
    for (int i = 0; scenarios[i] && !failed; i++) {
        const struct scenario *s = scenarios[i];
        if (!scenario || strcmp(scenario, s->name) == 0) failed = run_scenario(s, from, n, n_pes, watch);
    }
    if (watch.picture) sim_picture_close(watch.picture);
    return failed;
}
