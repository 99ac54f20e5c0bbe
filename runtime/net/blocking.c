/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is stopped is found without MPI: the other PEs of this host are processes whose environment has a rank, and whose
 * nearest ancestor without one, the launcher's process on this host, is ours too. */
#include "config.h"

#include "runtime/net/blocking.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/process.h"
#include "base/wait.h"
#include "base/settings.h"
#include "base/topology.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LOOK_EVERY     50000000  /* nanoseconds */
#define READ_TIME      250000000 /* nanoseconds in which the launcher reads what the process has written */
#define ANCESTORS_MOST 16

/* ---- processes ---- */

/* The variable by which the launcher tells this process its rank, with "=", or NULL. A resource manager may have set
 * others for the launcher. */
static const char *rank_variable(void) {
    static const char *const names[] = {
        "PMI_RANK=", "OMPI_COMM_WORLD_RANK=", "PMIX_RANK=", "PALS_RANKID=", "SLURM_PROCID="};
    char name[32];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(name, sizeof name, "%.*s", (int)strlen(names[i]) - 1, names[i]);
        if (getenv(name)) return names[i];
    }
    return NULL;
}

/* The rank in a process's environment, or -1. */
static int rank_of(int pid) {
    const char *name = rank_variable();
    char path[32], *entry = NULL;
    size_t room = 0;
    int rank = -1;
    FILE *f;
    snprintf(path, sizeof path, "/proc/%d/environ", pid);
    if (!name || !(f = fopen(path, "re"))) return -1;
    while (rank < 0 && getdelim(&entry, &room, 0, f) > 0)
        if (strncmp(entry, name, strlen(name)) == 0) rank = atoi(entry + strlen(name));
    free(entry);
    fclose(f);
    return rank;
}

/* The launcher's process on this host, from which `pid` descends. */
static int launcher_of(int pid) {
    int parent = rmai_process_parent(pid);
    for (int i = 0; i < ANCESTORS_MOST && parent > 1 && rank_of(parent) >= 0; i++) parent = rmai_process_parent(parent);
    return parent;
}

/* Writes which PEs of this job on this host are stopped; returns their number. */
static int find_stopped(char *text, size_t room) {
    const int launcher = launcher_of(getpid());
    DIR *all = opendir("/proc");
    struct dirent *one;
    size_t used = 0;
    int n = 0, pid, rank;
    *text = 0;
    while (all && (one = readdir(all)) != NULL) {
        if (!isdigit((unsigned char)one->d_name[0])) continue;
        pid = atoi(one->d_name);
        if (rmai_process_state(pid) != RMAI_PROCESS_STOPPED || (rank = rank_of(pid)) < 0 ||
            launcher_of(pid) != launcher)
            continue;
        n++;
        if (used < room)
            used += (size_t)snprintf(text + used, room - used, "%sPE %d is stopped (process %d of this host)",
                                     n > 1 ? ", " : "", rank, pid);
    }
    if (all) closedir(all);
    return n;
}

/* ---- the watch ---- */

/* Before MPI_Init has told it, the launcher's rank says which PE this is. */
static const char *name_of_process(char text[64]) {
    if (*rmai_error_who()) return rmai_error_who();
    snprintf(text, 64, "PE %d", rank_of(getpid()));
    return text;
}

static void say_blocked(const struct rmai_blocking *b, const char *what, int stopped, const char *who_is) {
    char me[64];
    rmai_note("%s has waited %.0f s in %s, %s: %s", name_of_process(me), b->waited, b->call, what,
              stopped ? who_is : "no PE of this host is stopped; it takes long, or one of another host is");
}

/* Not by MPI_Abort, which may wait for the call that does not return. A process that ends so ends the job. */
static void end_blocked_process(const struct rmai_blocking *b, const char *what, int stopped, const char *who_is) {
    char me[64];
    rmai_note("%s: %s: %s is not over after %.0f s (RMA_TIMEOUT): %s; aborting the job", name_of_process(me), b->call,
              what, b->waited,
              stopped ? who_is : "no PE of this host is stopped, so one of another host is, or the way there is gone");
    nanosleep(&(struct timespec){.tv_nsec = READ_TIME}, NULL);
    _exit(RMA_EXIT_BASE + RMA_ERR_SYSTEM);
}

static int is_over(const struct rmai_blocking *b) { return atomic_load_explicit(&b->over, memory_order_acquire) != 0; }

void rmai_blocking_look(struct rmai_blocking *b, double seconds) {
    const double patience = (double)(b->stall ? b->stall : b->timeout);
    const char *what = atomic_load_explicit(&b->what, memory_order_relaxed);
    char who_is[512];
    int stopped;
    b->waited += seconds;
    if (b->waited < patience || is_over(b)) return;
    if (b->said > 0 && (b->timeout == 0 || b->waited <= b->said + (double)b->timeout)) return;
    stopped = find_stopped(who_is, sizeof who_is);
    if (is_over(b)) return;
    if (b->said == 0 && b->stall) say_blocked(b, what, stopped, who_is);
    if (b->said > 0 && (stopped || b->met)) end_blocked_process(b, what, stopped, who_is);
    b->said = b->waited;
}

static void *watch_section(void *context) {
    struct rmai_blocking *b = context;
    const char *what = NULL, *present;
    double last = rmai_wtime(), time;
    while (!is_over(b)) {
        rmai_sleep_on(&b->over, 0, LOOK_EVERY, NULL);
        time = rmai_wtime();
        present = atomic_load_explicit(&b->what, memory_order_relaxed);
        if (present != what) b->waited = b->said = 0;
        what = present;
        rmai_blocking_look(b, rmai_stall_counted(time - last));
        last = time;
    }
    return NULL;
}

void rmai_blocking_begin(struct rmai_blocking *b, const struct rmai_settings *settings, const char *call,
                         const char *what, int met) {
    struct rmai_settings early;
    struct rmai_error_kept kept;
    *b = (struct rmai_blocking){.call = rmai_error_name(call), .what = what, .met = met};
    if (settings) {
        b->stall = settings->stall;
        b->timeout = settings->timeout;
    } else {
        /* What is wrong with them rma_init will say. */
        memset(&early, 0, sizeof early);
        rmai_error_keep(&kept);
        rmai_settings_read(&early, rmai_node_memory());
        rmai_error_restore(&kept);
        b->stall = early.stall;
        b->timeout = early.timeout;
    }
    if (b->stall == 0 && b->timeout == 0) return;
    b->running = rmai_thread(&b->thread, watch_section, b) == 0;
}

void rmai_blocking_step(struct rmai_blocking *b, const char *what) {
    atomic_store_explicit(&b->what, what, memory_order_relaxed);
}

void rmai_blocking_end(struct rmai_blocking *b) {
    if (!b->running) return;
    atomic_store_explicit(&b->over, 1, memory_order_release);
    rmai_rouse(&b->over);
    pthread_join(b->thread, NULL);
    b->running = 0;
}
