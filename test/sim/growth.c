/* SPDX-License-Identifier: BSD-3-Clause */
/* growth: how operations of the library grow with the number of PEs, on the simulated network. See --help.
 *
 * For each number of PEs a child process runs one simulated job, so that no job finds memory of an earlier one. Its PEs
 * execute the operations in the order of the table below. A measurement is between two meetings of all PEs outside the
 * simulation (sim_gather); before the first meeting everything under way is completed. */
#include "config.h"

#include "base/attributes.h"
#include "rma.h"
#include "runtime/net/progress.h"
#include "runtime/world.h"
#include "test/sim/network.h"
#include "test/sim/option.h"
#include "test/sim/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PES_MOST   16384
#define SHORT_DATA 8
#define LONG_DATA  ((size_t)64 << 10)
#define BLOCK      4096 /* bytes that `malloc` allocates */
#define BINS       64   /* words of each PE in the histogram, and how many each PE adds to; */
#define MANY_BINS  4096 /* and so many in a session */
#define POLL_SHORT 200  /* nanoseconds between two polls of a PE that waits */
#define POLL_LONG  1000000
#define IDLE       100000000 /* nanoseconds, in each of 60 steps */

/* PEs up to which operations run by default: see `operations`. */
#define BATCHES_MOST 4096
#define MEMORY_MOST  8192
#define PAIRS_MOST   1024

int __real_clock_gettime(clockid_t clock, struct timespec *time);

/* What an operation has cost. */
struct cost {
    uint64_t messages, bytes, rounds, time;
    uint64_t most; /* messages that one PE has sent, or has received, at most */
    double memory; /* bytes of the process: in the end, */
    double added;  /* and what has come with the operation, and its first time */
    double seconds;
};

struct operation;

/* What a child tells, again and again. */
struct answer {
    int operation; /* the place in the table */
    struct cost cost;
    char failure[512]; /* or "" */
};

struct run {
    int n, to;       /* PEs; where answers go */
    int in, through; /* PEs that have come to a place where the last of them looks; that have done the operation */
    int told;        /* operations of which the parent knows */
    uint64_t ended;  /* when the last PE had done the operation */
    struct sim_report before;
    struct cost cost; /* of the present operation */
};

/* A PE. */
struct actor {
    struct sim_pe *pe;
    struct run *run;
    const struct operation *operation; /* the present one */
    int me, n;
    int initialised;
    char *source, *dest; /* as the operation wants them */
    uint64_t *words;     /* symmetric: a histogram's bins, and what is put; */
    rma_lock_t *lock;    /* a lock */
    void *block;         /* what `malloc` has got */
    uint64_t random;
    uint64_t sent, taken; /* messages, when counting began */
    int done;             /* operations */
};

static struct {
    int least, most, node_pes, all, threads;
    int chosen[64]; /* of each operation: it is wanted */
    struct sim_times times;
} given = {
    .least = 2,
    .most = PES_MOST,
    .node_pes = 1,
    .times = {.send = 187, .receive = 213, .latency = 386, .gap = 384, .kib = 89, .eager = 8192},
};

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

enum moment {
    REPEATED, /* the first time goes before, and only its memory is measured */
    FIRST,    /* the first time is measured */
    INIT,     /* the operation is rma_init */
    LAST      /* nothing can be called after it */
};

struct operation {
    const char *name, *what;
    void (*run)(struct actor *a);
    enum moment moment;
    size_t source, dest;              /* bytes that a PE gives and gets, */
    int source_of_each, dest_of_each; /* for each PE of the job */
    int in_turn;                      /* the PEs do it one after the other: time and rounds are of one turn */
    int limit;                        /* PEs up to which it runs by default */
};

/* ---- the operations ---- */

static void call_init(struct actor *a) { sim_expect(a->pe, "rma_init", rma_init()); }

static void call_finalize(struct actor *a) { sim_expect(a->pe, "rma_finalize", rma_finalize()); }

static void call_barrier(struct actor *a) { sim_expect(a->pe, "rma_barrier_all", rma_barrier_all()); }

static void call_sync(struct actor *a) { sim_expect(a->pe, "rma_sync_all", rma_sync_all()); }

static void call_broadcast(struct actor *a) {
    sim_expect(a->pe, "rma_broadcast", rma_broadcast(RMA_TEAM_WORLD, a->dest, a->source, a->operation->source, 0));
}

static void call_sum(struct actor *a) {
    const size_t n = a->operation->source / sizeof(long);
    sim_expect(a->pe, "rma_sum_reduce",
               rma_sum_reduce_long(RMA_TEAM_WORLD, (long *)(void *)a->dest, (const long *)(const void *)a->source, n));
}

static void call_fcollect(struct actor *a) {
    sim_expect(a->pe, "rma_fcollect", rma_fcollect(RMA_TEAM_WORLD, a->dest, a->source, a->operation->source));
}

static void call_alltoall(struct actor *a) {
    sim_expect(a->pe, "rma_alltoall", rma_alltoall(RMA_TEAM_WORLD, a->dest, a->source, a->operation->source));
}

static void call_malloc(struct actor *a) {
    a->block = rma_malloc(BLOCK);
    if (!a->block) sim_fail(a->pe, "rma_malloc: %s", rma_last_error());
}

static void call_split(struct actor *a) {
    rma_team *team = RMA_TEAM_INVALID;
    sim_expect(a->pe, "rma_team_split_strided", rma_team_split_strided(RMA_TEAM_WORLD, 0, 2, (a->n + 1) / 2, &team));
    sim_expect(a->pe, "rma_team_destroy", rma_team_destroy(team));
}

static void hand_over(struct actor *a) {
    sim_expect(a->pe, "rma_set_lock", rma_set_lock(a->lock));
    sim_expect(a->pe, "rma_clear_lock", rma_clear_lock(a->lock));
}

static void add_to_random_bins(struct actor *a, int n) {
    for (int i = 0; i < n; i++) {
        const int to = (int)(sim_random(&a->random) % (uint64_t)a->n);
        rma_atomic_add_uint64(&a->words[sim_random(&a->random) % BINS], 1, to);
    }
    sim_expect(a->pe, "rma_quiet", rma_quiet());
}

static void add_to_bins(struct actor *a) { add_to_random_bins(a, BINS); }

static void add_in_session(struct actor *a) {
    sim_expect(a->pe, "rma_ctx_session_start", rma_ctx_session_start(RMA_CTX_DEFAULT, RMA_CTX_SESSION_BATCH));
    add_to_random_bins(a, MANY_BINS);
    sim_expect(a->pe, "rma_ctx_session_stop", rma_ctx_session_stop(RMA_CTX_DEFAULT));
}

static void put_far_away(struct actor *a) {
    sim_expect(a->pe, "rma_put", rma_put(a->words, a->source, SHORT_DATA, (a->me + a->n / 2) % a->n));
    sim_expect(a->pe, "rma_quiet", rma_quiet());
}

/* The library gives back what has been idle for a second or two. */
static void do_nothing(struct actor *a) {
    for (int i = 0; i < 60; i++) {
        sim_sleep(a->pe, IDLE);
        rmai_net_progress(rmai_world.net, 0);
    }
}

/* In the order in which they run. Limits are for 8 GiB of memory and some minutes:
 * - histogram: a PE that asks 64 others has a message and a reply of some KiB for each, in all 0.5 MiB;
 * - long data take some 200 KiB of each PE's room, and fcollect takes 16 bytes for each PE on each PE: the offset of
 *   its block, and the block;
 * - alltoall sends n (n - 1) messages. */
static const struct operation operations[] = {
    {"init", "rma_init: what all PEs agree on; MPI's own meetings are not in it", call_init, INIT, .limit = PES_MOST},
    {"barrier", "rma_barrier_all", call_barrier, .limit = PES_MOST},
    {"sync", "rma_sync_all", call_sync, .limit = PES_MOST},
    {"malloc", "rma_malloc of 4 KiB", call_malloc, .limit = PES_MOST},
    {"team_split", "rma_team_split_strided of every second PE, and rma_team_destroy", call_split, .limit = PES_MOST},
    {"lock", "a lock that all PEs want at once: time and rounds of one hand-over", hand_over, .in_turn = 1,
     .limit = PES_MOST},
    {"put", "rma_put of 8 bytes to the PE n/2 further on, and rma_quiet", put_far_away, .source = SHORT_DATA,
     .limit = PES_MOST},
    {"histogram", "64 rma_atomic_add to random PEs, and rma_quiet", add_to_bins, .limit = BATCHES_MOST},
    {"session", "4096 rma_atomic_add to random PEs in a session, and rma_quiet", add_in_session, .limit = PAIRS_MOST},
    {"idle", "six seconds without an operation", do_nothing, FIRST, .limit = PES_MOST},
    {"first_collective", "a first sum of 8 bytes: the team learns its nodes", call_sum, FIRST, .source = SHORT_DATA,
     .dest = SHORT_DATA, .limit = PES_MOST},
    {"broadcast", "rma_broadcast of 8 bytes", call_broadcast, .source = SHORT_DATA, .dest = SHORT_DATA,
     .limit = PES_MOST},
    {"broadcast_64k", "rma_broadcast of 64 KiB", call_broadcast, .source = LONG_DATA, .dest = LONG_DATA,
     .limit = MEMORY_MOST},
    {"sum", "rma_sum_reduce of 8 bytes", call_sum, .source = SHORT_DATA, .dest = SHORT_DATA, .limit = PES_MOST},
    {"sum_64k", "rma_sum_reduce of 64 KiB", call_sum, .source = LONG_DATA, .dest = LONG_DATA, .limit = MEMORY_MOST},
    {"fcollect", "rma_fcollect of 8 bytes of each PE", call_fcollect, .source = SHORT_DATA, .dest = SHORT_DATA,
     .dest_of_each = 1, .limit = MEMORY_MOST},
    {"alltoall", "rma_alltoall of 8 bytes of each PE for each", call_alltoall, .source = SHORT_DATA, .dest = SHORT_DATA,
     .source_of_each = 1, .dest_of_each = 1, .limit = PAIRS_MOST},
    {"finalize", "rma_finalize", call_finalize, LAST, .limit = PES_MOST},
};
#define N_OPERATIONS ((int)(sizeof operations / sizeof *operations))

/* ---- one run ---- */

static double seconds_now(void) {
    struct timespec t;
    __real_clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What has been freed does not count. */
static double resident_bytes(void) {
    long size = 0, resident = 0;
    FILE *f;
    malloc_trim(0);
    f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &size, &resident) != 2) {
        fprintf(stderr, "growth: /proc/self/statm: %s\n", strerror(errno));
        exit(2);
    }
    fclose(f);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

/* Memory that is there before the operation uses it. */
static char *touched_memory(struct actor *a, size_t bytes) {
    char *memory = malloc(bytes + 1);
    if (!memory) sim_fail(a->pe, "no memory for a buffer of %zu bytes", bytes);
    memset(memory, 1, bytes + 1);
    return memory;
}

static void allocate_symmetric(struct actor *a) {
    a->words = rma_calloc(BINS, sizeof *a->words);
    a->lock = rma_calloc(1, sizeof *a->lock);
    if (!a->words || !a->lock) sim_fail(a->pe, "rma_calloc: %s", rma_last_error());
}

static void complete_all(struct actor *a) {
    if (!a->initialised) return;
    sim_expect(a->pe, "rma_barrier_all", rma_barrier_all());
    sim_expect(a->pe, "rma_quiet", rma_quiet());
}

/* Returns 1 on the last PE that comes here. */
static int is_last_in(struct run *r) {
    if (++r->in < r->n) return 0;
    r->in = 0;
    return 1;
}

/* A PE that is through serves the others until all are. When it has taken all that has come it waits as a task that
 * looks, which a message wakes; but not one that has come while the PE looked for something else. */
static void serve_until_through(struct actor *a) {
    struct run *r = a->run;
    if (++r->through == r->n)
        for (int i = 0; i < r->n; i++) sim_wake(sim_of(a->pe, i)->tasks);
    while (r->through < r->n) {
        if (rmai_net_progress(rmai_world.net, 0) > 0 || r->through == r->n) continue;
        sim_self()->polling = 1;
        sim_wait(POLL_LONG);
        sim_self()->polling = 0;
    }
}

static void begin_counting(struct actor *a) {
    struct run *r = a->run;
    struct sim_report before;
    complete_all(a);
    a->sent = a->pe->n_sent;
    a->taken = a->pe->n_taken;
    if (is_last_in(r)) {
        r->through = 0;
        r->ended = 0;
        r->cost.seconds = -seconds_now();
    }
    sim_gather(a->pe, &before);
    r->before = before;
}

static void tell_parent(struct run *r, const struct answer *answer) {
    if (write(r->to, answer, sizeof *answer) != (ssize_t)sizeof *answer) exit(2);
}

static void end_counting(struct actor *a) {
    struct run *r = a->run;
    struct answer answer = {.operation = (int)(a->operation - operations)};
    struct sim_report after;
    r->cost.most = larger(r->cost.most, larger(a->pe->n_sent - a->sent, a->pe->n_taken - a->taken));
    if (is_last_in(r)) {
        r->cost.seconds += seconds_now();
        r->cost.memory = resident_bytes();
        r->cost.added += r->cost.memory;
    }
    sim_gather(a->pe, &after);
    if (r->told > a->done++) return;
    r->told++;
    answer.cost = r->cost;
    answer.cost.messages = after.messages - r->before.messages;
    answer.cost.bytes = after.bytes - r->before.bytes;
    answer.cost.rounds = after.rounds;
    answer.cost.time = r->ended - r->before.time;
    tell_parent(r, &answer);
}

static void measure_operation(struct actor *a) {
    const struct operation *o = a->operation;
    struct run *r = a->run;
    a->source = touched_memory(a, o->source * (size_t)(o->source_of_each ? a->n : 1));
    a->dest = touched_memory(a, o->dest * (size_t)(o->dest_of_each ? a->n : 1));
    complete_all(a);
    if (is_last_in(r)) {
        memset(&r->cost, 0, sizeof r->cost);
        r->cost.added = -resident_bytes();
    }
    sim_gather(a->pe, NULL);
    if (o->moment == REPEATED) {
        o->run(a);
        if (a->block) sim_expect(a->pe, "rma_free", rma_free(a->block));
    }
    begin_counting(a);
    o->run(a);
    r->ended = larger(r->ended, sim_time());
    if (o->moment != LAST) serve_until_through(a);
    end_counting(a);
    if (a->block) sim_expect(a->pe, "rma_free", rma_free(a->block));
    a->block = NULL;
    free(a->source);
    free(a->dest);
}

static int runs_with(const struct operation *o, int n) {
    return given.chosen[o - operations] && (n <= o->limit || given.all);
}

static void run_actor(struct sim_pe *pe, void *context) {
    struct run *r = context;
    struct actor a = {.pe = pe, .run = r, .me = pe->me, .n = r->n, .random = (uint64_t)pe->me};
    for (int i = 0; i < N_OPERATIONS; i++) {
        a.operation = &operations[i];
        if (a.operation->moment == LAST && a.initialised) {
            sim_expect(pe, "rma_free", rma_free(a.lock));
            sim_expect(pe, "rma_free", rma_free(a.words));
        }
        if (!runs_with(a.operation, r->n)) {
            if (a.operation->moment == INIT || a.operation->moment == LAST) a.operation->run(&a);
        } else {
            measure_operation(&a);
        }
        if (a.operation->moment == INIT) {
            a.initialised = 1;
            allocate_symmetric(&a);
        }
    }
}

static void run_here(int n, int to) {
    /* On one node a wait polls without a look for messages, so it must not poll for ever. */
    const char *const settings[] = {n > given.node_pes ? "RMA_SPIN=1000000000" : "RMA_SPIN=0",
                                    "RMA_WINDOW=none",
                                    given.threads ? "RMA_PROGRESS=thread" : "RMA_PROGRESS=none",
                                    "RMA_STALL=0",
                                    "RMA_TIMEOUT=0",
                                    "RMA_HEAP_MAX=1MiB",
                                    "RMA_LOCAL_MAX=64KiB",
                                    NULL};
    /* A PE of a node of its own waits for messages only, which end its wait: it need not look. Between PEs of a node a
     * wait may last too long by the time between two polls. */
    const uint64_t look = given.node_pes > 1 ? POLL_SHORT : POLL_LONG;
    const struct sim_options options = {.n_pes = n,
                                        .seed = 1,
                                        .poll_first = look,
                                        .poll_last = look,
                                        .times = given.times,
                                        .layer = &sim_whole,
                                        .node_pes = given.node_pes,
                                        .threads = given.threads,
                                        .settings = settings};
    struct run run = {.n = n, .to = to};
    struct answer answer = {.operation = N_OPERATIONS};
    struct sim_report report;
    rma_set_errhandler(rma_errors_return);
    report = sim_run(&options, run_actor, &run);
    if (report.failed || report.ended || report.stuck)
        snprintf(answer.failure, sizeof answer.failure, "%.*s", (int)sizeof answer.failure - 1, report.why);
    tell_parent(&run, &answer);
}

/* Where memory is short, the kernel shall end the child. */
static void offer_to_kernel(void) {
    const int fd = open("/proc/self/oom_score_adj", O_WRONLY);
    if (fd < 0) return;
    if (write(fd, "1000", 4) != 4) perror("growth: /proc/self/oom_score_adj");
    close(fd);
}

/* ---- the table ---- */

static void write_head(FILE *csv) {
    printf("%-17s%6s%14s%11s%8s%8s%13s%11s%8s%8s%9s\n", "operation", "PEs", "messages", "messages", "most of", "rounds",
           "bytes/PE", "time", "KiB/PE", "KiB/PE", "seconds");
    printf("%-17s%6s%14s%11s%8s%8s%13s%11s%8s%8s%9s\n", "", "", "", "/PE", "a PE", "", "", "(us)", "", "added",
           "of run");
    if (csv)
        fputs("operation,pes,node_pes,messages,messages_per_pe,most_of_a_pe,rounds,bytes,bytes_per_pe,time_ns,"
              "memory_kib_per_pe,added_kib_per_pe,seconds\n",
              csv);
}

static void write_row(FILE *csv, const struct operation *o, int n, const struct cost *c) {
    const double turns = o->in_turn ? n : 1, kib = 1024.0 * n;
    printf("%-17s%6d%14llu%11.2f%8llu%8.4g%13.1f%11.2f%8.1f%8.2f%9.3f\n", o->name, n, (unsigned long long)c->messages,
           (double)c->messages / n, (unsigned long long)c->most, (double)c->rounds / turns, (double)c->bytes / n,
           (double)c->time / turns / 1000, c->memory / kib, c->added / kib, c->seconds);
    if (csv)
        fprintf(csv, "%s,%d,%d,%llu,%.3f,%llu,%.3f,%llu,%.1f,%.1f,%.2f,%.3f,%.4f\n", o->name, n, given.node_pes,
                (unsigned long long)c->messages, (double)c->messages / n, (unsigned long long)c->most,
                (double)c->rounds / turns, (unsigned long long)c->bytes, (double)c->bytes / n, (double)c->time / turns,
                c->memory / kib, c->added / kib, c->seconds);
}

static void say_what_is_left_out(void) {
    for (int i = 0; i < N_OPERATIONS; i++)
        if (given.chosen[i] && !given.all && given.most > operations[i].limit)
            printf("%s: left out with more than %d PEs; --all runs it\n", operations[i].name, operations[i].limit);
}

static void say_failure(int n, const char *after, const char *what) {
    fprintf(stderr, "growth: %d PEs, after %s: %s\n", n, after, what);
}

/* Returns 0 if all operations that are wanted have run with n PEs. */
static int run_apart(FILE *csv, int n) {
    struct answer answer;
    const char *last = "nothing";
    int ends[2], status = 0, whole = 0;
    pid_t child;
    fflush(NULL);
    if (pipe(ends) != 0 || (child = fork()) < 0) {
        perror("growth: fork");
        exit(2);
    }
    if (child == 0) {
        close(ends[0]);
        offer_to_kernel();
        run_here(n, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    while (read(ends[0], &answer, sizeof answer) == (ssize_t)sizeof answer) {
        if (answer.operation == N_OPERATIONS) {
            whole = 1;
            break;
        }
        last = operations[answer.operation].name;
        write_row(csv, &operations[answer.operation], n, &answer.cost);
        fflush(stdout);
    }
    close(ends[0]);
    waitpid(child, &status, 0);
    if (whole && answer.failure[0]) {
        say_failure(n, last, answer.failure);
    } else if (WIFSIGNALED(status)) {
        say_failure(n, last,
                    WTERMSIG(status) == SIGKILL ? "killed; there may be too little memory"
                                                : strsignal(WTERMSIG(status)));
    } else if (!whole) {
        say_failure(n, last, "the simulation has ended early");
    } else {
        return 0;
    }
    return 1;
}

/* ---- arguments ---- */

static void usage(void) {
    fputs("usage: growth [OPTION...]\n"
          "\n"
          "Measures on a simulated network how operations grow with the number of PEs: messages, the longest chain of\n"
          "messages (rounds), bytes, virtual time, and the memory of the process.\n"
          "\n"
          "  --operations A,B,...  [all of these]\n",
          stdout);
    for (int i = 0; i < N_OPERATIONS; i++) {
        printf("      %-17s %s", operations[i].name, operations[i].what);
        if (operations[i].limit < PES_MOST) printf(" (up to %d PEs)", operations[i].limit);
        putchar('\n');
    }
    printf("  --least N, --most N   numbers of PEs: N, and twice as many, up to the other N [2, %d]\n", PES_MOST);
    fputs(
        "  --all                 also with more PEs than the operation runs with by default\n"
        "  --node-pes K          PEs of a node [1]\n"
        "  --threads             the library's threads run; the records of a session then go by the node\n"
        "  --times LIST          of the network, as test/sim/measure prints them. Nanoseconds that a PE computes for\n"
        "                        each message: send, receive; latency; the least time between two messages of a PE:\n"
        "                        gap; for each KiB: kib. Bytes up to which a message needs no receive: eager.\n"
        "                        [send=187,receive=213,latency=386,gap=384,kib=89,eager=8192]\n"
        "  --csv FILE            write the table to FILE, too\n"
        "  --help                this text\n"
        "\n"
        "Of a lock, rounds and time are those of one hand-over. KiB/PE is the resident memory of the process, the\n"
        "simulator included, by the PEs; `added` is what has come with the operation. Seconds are those that the\n"
        "simulation of the operation takes.\n"
        "\n"
        "Exit code: 0; 1 an operation has failed; 2 a wrong argument, or no memory.\n",
        stdout);
}

static _Noreturn void refuse(const char *format, ...) RMAI_PRINTF(1, 2);
static _Noreturn void refuse(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("growth: ", stderr);
    vfprintf(stderr, format, args);
    fputs("; --help lists the options\n", stderr);
    va_end(args);
    exit(2);
}

/* The number that text begins with, which ends at *end, or -1. */
static long parse_number(const char *text, char **end) {
    long value;
    errno = 0;
    value = strtol(text, end, 10);
    return *end == text || errno || *text < '0' || *text > '9' ? -1 : value;
}

static int number_of_pes(const char *option, const char *text, int least) {
    char *end;
    const long value = parse_number(text, &end);
    if (value < least || value > PES_MOST || *end)
        refuse("%s %s is no number from %d to %d", option, text, least, PES_MOST);
    return (int)value;
}

static void set_times(const char *list) {
    uint64_t eager = given.times.eager;
    const struct {
        const char *name;
        uint64_t *value;
    } names[] = {{"send", &given.times.send}, {"receive", &given.times.receive}, {"latency", &given.times.latency},
                 {"gap", &given.times.gap},   {"kib", &given.times.kib},         {"eager", &eager}};
    const size_t n_names = sizeof names / sizeof *names;
    for (const char *p = list;; p++) {
        const size_t len = strcspn(p, "=,");
        size_t i = 0;
        char *end = NULL;
        long value;
        while (i < n_names && (strlen(names[i].name) != len || strncmp(names[i].name, p, len) != 0)) i++;
        if (i == n_names || p[len] != '=')
            refuse("--times %s: '%.*s' is none of send=, receive=, latency=, gap=, kib=, eager=", list,
                   (int)strcspn(p, ","), p);
        value = parse_number(p + len + 1, &end);
        if (value < 0 || value > 10000000 || (*end && *end != ','))
            refuse("--times %s: '%.*s' is no number from 0 to 10000000", list, (int)strcspn(p, ","), p);
        *names[i].value = (uint64_t)value;
        p = end;
        if (!*p) break;
    }
    given.times.eager = eager;
}

static void choose_operations(const char *list) {
    memset(given.chosen, 0, sizeof given.chosen);
    for (const char *p = list;; p++) {
        const size_t len = strcspn(p, ",");
        int i = 0;
        while (i < N_OPERATIONS && (strlen(operations[i].name) != len || strncmp(operations[i].name, p, len) != 0)) i++;
        if (i == N_OPERATIONS) refuse("--operations %s: there is no operation '%.*s'", list, (int)len, p);
        given.chosen[i] = 1;
        p += len;
        if (!*p) break;
    }
}

int main(int argc, char **argv) {
    static const struct option options[] = {{"operations", required_argument, NULL, 'o'},
                                            {"least", required_argument, NULL, 'l'},
                                            {"most", required_argument, NULL, 'm'},
                                            {"all", no_argument, NULL, 'a'},
                                            {"node-pes", required_argument, NULL, 'k'},
                                            {"threads", no_argument, NULL, 'r'},
                                            {"times", required_argument, NULL, 't'},
                                            {"csv", required_argument, NULL, 'c'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    const char *file = NULL;
    int option, failed = 0;
    FILE *csv = NULL;
    for (int i = 0; i < N_OPERATIONS; i++) given.chosen[i] = 1;
    opterr = 0;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (option) {
            case 'o': choose_operations(optarg); break;
            case 'l': given.least = number_of_pes("--least", optarg, 2); break;
            case 'm': given.most = number_of_pes("--most", optarg, 2); break;
            case 'a': given.all = 1; break;
            case 'r': given.threads = 1; break;
            case 'k': given.node_pes = number_of_pes("--node-pes", optarg, 1); break;
            case 't': set_times(optarg); break;
            case 'c': file = optarg; break;
            case 'h': usage(); return 0;
            default: refuse("unknown or incomplete option %s", sim_refused_option(argv));
        }
    }
    if (optind < argc) refuse("unknown argument %s", argv[optind]);
    if (given.least > given.most) refuse("--least %d is more than --most %d", given.least, given.most);
    if (file && !(csv = fopen(file, "w"))) refuse("--csv %s: %s", file, strerror(errno));
    write_head(csv);
    for (int n = given.least; n <= given.most; n *= 2) failed |= run_apart(csv, n);
    say_what_is_left_out();
    if (csv && fclose(csv) != 0) {
        fprintf(stderr, "growth: --csv %s: %s\n", file, strerror(errno));
        return 1;
    }
    return failed;
}
