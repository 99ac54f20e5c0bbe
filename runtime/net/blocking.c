/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/blocking.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mpi.h"
#include "base/process.h"
#include "base/settings.h"
#include "base/topology.h"
#include "base/wait.h"
#include "runtime/net/siblings.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define REASON_MAX 1024
#define LOOK_EVERY 50000000  /* nanoseconds */
#define READ_TIME  250000000 /* nanoseconds in which the launcher reads what the process has written */
/* Seconds between two looks for dead PEs: a death takes RMAI_SIBLING_DEATH. The longer it lasts the fewer: a look costs
 * some 40 microseconds for each process of the host. */
#define DEAD_LEAST 0.6
#define DEAD_MOST  5.0

/* Before MPI_Init has told it, the launcher's rank says which PE this is. */
static const char *name_of_process(char text[64]) {
    if (*rmai_error_who()) return rmai_error_who();
    snprintf(text, 64, "PE %d", rmai_sibling_me());
    return text;
}

/* What keeps the section from its end, as far as this PE can see: `unknown` where it sees nothing. Returns 0 there. */
static int find_reason(const struct rmai_blocking *b, char text[REASON_MAX], const char *unknown) {
    static const char here[] = "MPI has failed on this PE, which the others may not know: ";
    if (rmai_siblings_stopped(text, REASON_MAX)) return 1;
    strcpy(text, here);
    if (b->ends_in_merge && rmai_mpi_unheard(text + strlen(here), REASON_MAX - strlen(here))) return 1;
    strcpy(text, unknown);
    return 0;
}

static void say_blocked(const struct rmai_blocking *b, const char *what, const char *reason) {
    char me[64];
    rmai_note("%s has waited %.0f s in %s, %s: %s", name_of_process(me), b->waited, b->call, what, reason);
}

/* Not by MPI_Abort, which may wait for the call that does not return. A process that ends so ends the job under most
 * launchers; of the others one is told. */
static void end_process(void) {
    const int code = RMA_EXIT_BASE + RMA_ERR_SYSTEM;
    nanosleep(&(struct timespec){.tv_nsec = READ_TIME}, NULL);
    rmai_siblings_abort(code);
    nanosleep(&(struct timespec){.tv_nsec = READ_TIME}, NULL);
    _exit(code);
}

static void end_blocked_process(const struct rmai_blocking *b, const char *what, const char *reason) {
    char me[64];
    rmai_note("%s: %s: %s is not over after %.0f s (RMA_TIMEOUT): %s; aborting the job", name_of_process(me), b->call,
              what, b->waited, reason);
    end_process();
}

static int is_over(const struct rmai_blocking *b) { return atomic_load_explicit(&b->over, memory_order_acquire) != 0; }

/* Whatever RMA_TIMEOUT says: without the dead PE the call does not return. */
static void end_if_dead(struct rmai_blocking *b, const char *what) {
    char me[64], who_is[512];
    const double every = b->waited / 8 < DEAD_LEAST  ? DEAD_LEAST
                         : b->waited / 8 < DEAD_MOST ? b->waited / 8
                                                     : DEAD_MOST;
    if (b->kind == RMAI_BLOCKING_LAST || b->waited < b->look_for_dead + every) return;
    b->look_for_dead = b->waited;
    if (rmai_siblings_dead(who_is, sizeof who_is) == 0 || is_over(b)) return;
    rmai_note("%s: %s: %s cannot end: %s; aborting the job", name_of_process(me), b->call, what, who_is);
    end_process();
}

void rmai_blocking_look(struct rmai_blocking *b, double seconds) {
    const double patience = (double)(b->stall ? b->stall : b->timeout);
    const char *what = atomic_load_explicit(&b->what, memory_order_relaxed);
    const char *const unknown =
        b->said == 0 || b->kind == RMAI_BLOCKING_FIRST
            ? "no PE of this host is stopped; it takes long, or one of another host is"
        : b->kind == RMAI_BLOCKING_LAST
            ? "no PE of this host is stopped, so one has died here, or is stopped on another host, or the way there is "
              "gone"
            : "no PE of this host is stopped, so one of another host is, or the way there is gone, or MPI has failed "
              "on a PE";
    char reason[REASON_MAX];
    int found;
    b->waited += seconds;
    end_if_dead(b, what);
    if (b->waited < patience || is_over(b)) return;
    if (b->said > 0 && (b->timeout == 0 || b->waited <= b->said + (double)b->timeout)) return;
    found = find_reason(b, reason, unknown);
    if (is_over(b)) return;
    if (b->said == 0 && b->stall) say_blocked(b, what, reason);
    if (b->said > 0 && (found || b->kind != RMAI_BLOCKING_FIRST)) end_blocked_process(b, what, reason);
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
        if (present != what) b->waited = b->said = b->look_for_dead = 0;
        what = present;
        rmai_blocking_look(b, rmai_stall_counted(time - last));
        last = time;
    }
    return NULL;
}

void rmai_blocking_begin(struct rmai_blocking *b, const struct rmai_settings *settings, const char *call,
                         const char *what, enum rmai_blocking_kind kind) {
    struct rmai_settings early;
    struct rmai_error_kept kept;
    *b = (struct rmai_blocking){.call = rmai_error_name(call), .what = what, .kind = kind, .ends_in_merge = 1};
    rmai_siblings_prepare();
    rmai_mpi_heard();
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

void rmai_blocking_step(struct rmai_blocking *b, const char *what, enum rmai_blocking_kind kind) {
    b->kind = kind;
    atomic_store_explicit(&b->what, what, memory_order_relaxed);
}

void rmai_blocking_end(struct rmai_blocking *b) {
    if (!b->running) return;
    atomic_store_explicit(&b->over, 1, memory_order_release);
    rmai_rouse(&b->over);
    pthread_join(b->thread, NULL);
    b->running = 0;
}
