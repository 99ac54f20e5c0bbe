/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/watch/watchdog.h"
#include "base/attributes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mpi.h"
#include "base/note.h"
#include "base/process.h"
#include "base/settings.h"
#include "base/topology.h"
#include "base/wait.h"
#include "runtime/net/net.h"
#include "runtime/watch/siblings.h"
#include "runtime/watch/stall.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define REASON_MAX 1024
#define CHECK_MOST 1.0       /* seconds between two checks: a wake-up disturbs the computation */
#define CHECKS     4         /* in the time after which a wait is reported, at least */
#define ABORT_TIME 250000000 /* nanoseconds in which the launcher ends the job */
/* Seconds between two searches for dead or stopped PEs, at first and at most. A search costs some 40 microseconds for
 * each process of the host. */
#define SEARCH_FIRST 0.6
#define SEARCH_MOST  5.0

/* The wait that the thread watches. */
struct wait {
    const char *call; /* NULL: there is none */
    char what[64];
    enum rmai_peers peers;
    unsigned section;             /* its number; 0: it is a flush */
    struct rmai_flush_seen flush; /* of the other kinds: no flush */
    int note;                     /* 1 + the number of the note, or 0; */
    uint32_t version;             /* and what the note's version was */
    double waited;                /* seconds that the wait has lasted, */
    double said;                  /* and had lasted when it was reported; 0: not yet */
    double search;                /* how long it will have lasted when dead PEs are searched again, */
    double look;                  /* and stopped ones, of RMAI_PEERS_FREE */
};

static double lesser(double a, double b) { return a < b ? a : b; }

static double watchdog_patience(const struct rmai_watchdog *w) { return (double)(w->stall ? w->stall : w->timeout); }

/* ---- what there is to watch ---- */

static struct wait wait_of_section(const struct rmai_section *s) {
    struct wait wait = {.call = s->call, .peers = s->peers, .section = s->number};
    snprintf(wait.what, sizeof wait.what, "%s", s->what);
    return wait;
}

static struct wait wait_of_flush(const struct rmai_job *job, const struct rmai_flush_seen *seen) {
    struct wait wait = {
        .call = seen->call, .peers = job->all_progress ? RMAI_PEERS_MET : RMAI_PEERS_LATE, .flush = *seen};
    snprintf(wait.what, sizeof wait.what, "access to PE %d through MPI's window", seen->pe);
    return wait;
}

/* 1 if the note is odd; then *wait is that of its call. */
static int read_note(const struct rma_note_ *notes, int i, struct wait *wait) {
    const struct rma_note_ *note = &notes[i];
    const uint32_t version = __atomic_load_n(&note->version, __ATOMIC_ACQUIRE);
    const char *call = __atomic_load_n(&note->call, __ATOMIC_RELAXED);
    atomic_thread_fence(memory_order_acquire); /* pairs with the writer's release fence before it changes `call` */
    if (version % 2 == 0 || __atomic_load_n(&note->version, __ATOMIC_RELAXED) != version) return 0;
    *wait =
        (struct wait){.call = call, .what = "the call", .peers = RMAI_PEERS_FREE, .note = i + 1, .version = version};
    return 1;
}

static int note_lasts(const struct rmai_watchdog *w, const struct wait *wait) {
    return wait->note && w->notes &&
           __atomic_load_n(&w->notes[wait->note - 1].version, __ATOMIC_RELAXED) == wait->version;
}

static void find_note(const struct rmai_watchdog *w, struct wait *wait) {
    for (int i = 0; i < w->n_notes; i++)
        if (read_note(w->notes, i, wait)) return;
}

static void publish_call(struct rmai_watchdog *w, const char *call) {
    if (call || w->published) rmai_stall_publish(w->watch, call ? call : "");
    w->published = call != NULL;
}

/* 1 if *wait still lasts. Else 0, and *wait becomes another one that lasts, or none. */
static int still_lasts(struct rmai_watchdog *w, struct wait *wait) {
    int lasts = 0;
    pthread_mutex_lock(&w->lock);
    if (w->section.call) {
        lasts = wait->section == w->section.number;
        if (!lasts) *wait = wait_of_section(&w->section);
    } else if (w->net || w->notes) {
        struct rmai_flush_seen seen = wait->flush;
        lasts = note_lasts(w, wait) || (w->net && rmai_net_flush_lasts(w->net, &seen));
        if (!lasts) *wait = w->net ? wait_of_flush(w->watch->job, &seen) : (struct wait){0};
        if (!lasts && !wait->call) find_note(w, wait);
        publish_call(w, lasts ? wait->call : NULL);
    } else {
        *wait = (struct wait){0};
    }
    pthread_mutex_unlock(&w->lock);
    return lasts;
}

/* ---- reports, and the end ---- */

static const char *this_pe(void) { return *rmai_error_who() ? rmai_error_who() : "a PE"; }

/* Does not use MPI_Abort, which may wait for the call that does not return. With most launchers a process that ends
 * like this ends the job; this asks the other launchers to end it. */
static void end_process(void) {
    const int code = RMA_EXIT_BASE + RMA_ERR_SYSTEM;
    rmai_process_let_read();
    rmai_siblings_abort(code);
    nanosleep(&(struct timespec){.tv_nsec = ABORT_TIME}, NULL);
    _exit(code);
}

static double next_search(const struct wait *wait) {
    return wait->waited + lesser(SEARCH_FIRST + wait->waited / 8, SEARCH_MOST);
}

/* Ends the job whatever RMA_TIMEOUT is: without the dead PE the call does not return. */
static void end_if_dead(struct rmai_watchdog *w, struct wait *wait) {
    char dead[REASON_MAX];
    if (wait->peers == RMAI_PEERS_LEAVE || wait->waited < wait->search) return;
    wait->search = next_search(wait);
    if (rmai_siblings_dead(dead, sizeof dead) == 0 || !still_lasts(w, wait)) return;
    rmai_note("%s: %s: %s cannot end: %s; aborting the job", this_pe(), wait->call, wait->what, dead);
    end_process();
}

/* Writes why the wait does not end. Returns 0 if this PE sees no reason, and *text is a guess. A failure of MPI counts
 * only in sections: they end with a merge, after which the other PEs know of it. */
static int find_reason(const struct wait *wait, char text[REASON_MAX]) {
    static const char failed[] = "MPI has failed on this PE, which the others may not know: ";
    if (rmai_siblings_stopped(text, REASON_MAX)) return 1;
    strcpy(text, failed);
    if (wait->section && rmai_mpi_unheard(text + strlen(failed), REASON_MAX - strlen(failed))) return 1;
    strcpy(text, "no PE of this host is stopped");
    if (wait->said <= 0 || wait->peers == RMAI_PEERS_LATE)
        strcat(text, "; it takes long, or one of another host is");
    else if (wait->peers == RMAI_PEERS_LEAVE)
        strcat(text, ", so one has died here, or is stopped on another host, or the way there is gone");
    else
        strcat(text, ", so one of another host is, or the way there is gone, or MPI has failed on a PE");
    return 0;
}

static void report_wait(struct rmai_watchdog *w, struct wait *wait) {
    char reason[REASON_MAX];
    int found;
    end_if_dead(w, wait);
    if (!wait->call || wait->waited < watchdog_patience(w)) return;
    if (wait->said > 0 && (w->timeout == 0 || wait->waited <= wait->said + (double)w->timeout)) return;
    if (wait->peers == RMAI_PEERS_FREE && wait->waited < wait->look) return;
    wait->look = next_search(wait);
    found = find_reason(wait, reason);
    if (!found && wait->peers == RMAI_PEERS_FREE) {
        wait->said = 0; /* the PE that was reported runs again */
        return;
    }
    if (!still_lasts(w, wait)) return;
    if (wait->said > 0 && (found || wait->peers != RMAI_PEERS_LATE)) {
        rmai_note("%s: %s: %s is not over after %.0f s (RMA_TIMEOUT): %s; aborting the job", this_pe(), wait->call,
                  wait->what, wait->waited, reason);
        end_process();
    }
    if (wait->said <= 0 && w->stall)
        rmai_note("%s has waited %.0f s in %s%s%s: %s", this_pe(), wait->waited, wait->call, wait->note ? "" : ", ",
                  wait->note ? "" : wait->what, reason);
    wait->said = wait->waited;
}

/* ---- the thread ---- */

static void *watch(void *context) {
    struct rmai_watchdog *w = context;
    const double step = lesser(watchdog_patience(w) / CHECKS, CHECK_MOST);
    struct wait wait = {0};
    double last = rmai_wtime(), now, passed;
    while (!atomic_load_explicit(&w->ending, memory_order_acquire)) {
        now = rmai_wtime();
        passed = lesser(now - last, 2 * step); /* the rest of a longer time this PE did not run */
        last = now;
        if (still_lasts(w, &wait)) {
            wait.waited += passed;
            report_wait(w, &wait);
        }
        rmai_sleep_on(&w->ending, 0, (long)(step * 1e9), NULL);
    }
    return NULL;
}

static void add_user(struct rmai_watchdog *w) {
    if (w->users++ > 0 || (w->stall == 0 && w->timeout == 0)) return;
    atomic_store_explicit(&w->ending, 0, memory_order_relaxed);
    w->running = rmai_thread(&w->thread, watch, w) == 0;
}

static void remove_user(struct rmai_watchdog *w) {
    if (--w->users > 0 || !w->running) return;
    atomic_store_explicit(&w->ending, 1, memory_order_release);
    rmai_rouse(&w->ending);
    pthread_join(w->thread, NULL);
    w->running = 0;
}

void rmai_watchdog_open(struct rmai_watchdog *w, struct rmai_watch *watch) {
    struct rmai_settings early;
    struct rmai_error_kept kept;
    memset(&early, 0, sizeof early);
    rmai_siblings_prepare();
    rmai_error_keep(&kept);
    rmai_settings_read(&early, rmai_node_memory());
    rmai_error_restore(&kept);
    memset(w, 0, sizeof *w);
    pthread_mutex_init(&w->lock, NULL);
    w->watch = watch;
    w->stall = early.stall;
    w->timeout = early.timeout;
}

/* ---- for those who wait ---- */

static void set_section(struct rmai_watchdog *w, const char *call, const char *what, enum rmai_peers peers) {
    pthread_mutex_lock(&w->lock);
    w->section = (struct rmai_section){.call = call, .what = what, .peers = peers, .number = w->section.number + 1};
    pthread_mutex_unlock(&w->lock);
}

void rmai_watchdog_begin(struct rmai_watchdog *w, const char *call, const char *what, enum rmai_peers peers) {
    rmai_mpi_heard();
    set_section(w, rmai_error_name(call), what, peers);
    add_user(w);
}

void rmai_watchdog_step(struct rmai_watchdog *w, const char *what, enum rmai_peers peers) {
    set_section(w, w->section.call, what, peers);
}

void rmai_watchdog_end(struct rmai_watchdog *w) {
    set_section(w, NULL, NULL, RMAI_PEERS_MET);
    remove_user(w);
}

void rmai_watchdog_flushes(struct rmai_watchdog *w, struct rmai_net *net) {
    const int has_window = rmai_net_has_window(net);
    if (has_window == (w->net != NULL)) return;
    pthread_mutex_lock(&w->lock);
    publish_call(w, NULL);
    w->net = has_window ? net : NULL;
    pthread_mutex_unlock(&w->lock);
    if (has_window)
        add_user(w);
    else
        remove_user(w);
}

void rmai_watchdog_notes(struct rmai_watchdog *w, const struct rma_note_ *notes, int n) {
    const int had = w->n_notes > 0;
    if (had == (n > 0)) return;
    pthread_mutex_lock(&w->lock);
    publish_call(w, NULL);
    w->notes = n > 0 ? notes : NULL;
    w->n_notes = n;
    pthread_mutex_unlock(&w->lock);
    if (had)
        remove_user(w);
    else
        add_user(w);
}
