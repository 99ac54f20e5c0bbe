/* SPDX-License-Identifier: BSD-3-Clause */
/* Those functions of runtime/interfaces.h that have no other place. */
#include "config.h"

#include "runtime/interfaces.h"
#include "base/caller.h"
#include "base/error.h"
#include "base/process.h"
#include "base/settings.h"
#include "heap/attached.h"
#include "heap/segment.h"
#include "runtime/attach.h"
#include "runtime/window_memory.h"
#include "runtime/job/job.h"
#include "runtime/job/mpi_polls.h"
#include "runtime/net/progress.h"
#include "runtime/node/barrier.h"
#include "runtime/place.h"
#include "runtime/reach.h"
#include "runtime/space.h"
#include "runtime/team.h"
#include "runtime/watch/siblings.h"
#include "runtime/watch/watchdog.h"
#include "runtime/world.h"

#include <assert.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>

void rma_call_as_(const char *call) { rmai_error_as(call); }

void rma_setting_as_(const char *name, const char *text) { rmai_settings_quote(name, text); }

int rma_fail_(int code, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return rmai_raise(rmai_error(code, "%s", text));
}

void rma_tolerate_(int code, enum rma_undefined_ kind) {
    rmai_error_tolerate(rma_checks_() ? RMA_SUCCESS : code, kind);
}

int rma_caller_text_(const char *text, char *line, size_t room) { return rmai_caller_text(NULL, text, line, room); }

int rma_checks_(void) { return rmai_world.job.settings.check; }

int rma_crowded_(void) { return rmai_world.job.crowded_somewhere; }

int rma_mpi_sleeps_(void) { return rmai_mpi_polls_sleep(); }

void rma_mpi_listen_(void) { rmai_mpi_polls_listen(); }

int rma_mpi_heard_(void) { return rmai_mpi_polls_heard(); }

int rma_level_(void) { return rmai_world.job.level; }

int rma_team_note_(rma_team *team, int note) {
    struct rmai_team *t = rmai_team(&rmai_world, "rma_team_note_", team);
    if (!t) return rmai_raise(rma_last_code());
    t->note = note;
    return RMA_SUCCESS;
}

/* How this PE waits in the team of rma_team_drives_: as in others, but it calls `drive` meanwhile. */
#define DRIVEN_NAP 500000 /* nanoseconds */
static struct rmai_patience driven;
static int (*drive)(void);
static const int *drive_reports;
static const struct rmai_patience *undriven;

static int drive_one(void *context) {
    (void)context;
    return drive();
}

/* All PEs are the team, so a report need not tell its number. */
static void report_driven(void *context, struct rmai_stall *stall) {
    stall->meeting = NULL;
    if (!*drive_reports) stall->awaited = RMAI_AWAITED_TESTED;
    undriven->late(context, stall);
}

int rma_team_drives_(rma_team *team, int (*driver)(void), const int *reports) {
    struct rmai_team *t = rmai_team(&rmai_world, "rma_team_drives_", team);
    if (!t) return rmai_raise(rma_last_code());
    assert(t->near.n == t->n && !rmai_world.job.networked && "nothing else needs progress");
    drive = driver;
    drive_reports = reports;
    undriven = t->near.patience;
    driven = *undriven;
    driven.progress = drive_one;
    driven.late = report_driven;
    driven.nap = DRIVEN_NAP;
    t->near.patience = &driven;
    return RMA_SUCCESS;
}

int rma_team_noted_(const rma_team *team, int *note) {
    struct rmai_team *t = rmai_team(&rmai_world, "rma_team_noted_", team);
    if (!t) return rmai_raise(rma_last_code());
    *note = t->note;
    return RMA_SUCCESS;
}

int rma_share_(const char *call, void *base, size_t size, rma_gptr_t *g, void **held) {
    struct rmai_world *w = &rmai_world;
    int code = rmai_running(call);
    *held = NULL;
    if (code != RMA_SUCCESS) return code;
    *g = rmai_gptr_symmetric(w, base, size, w->job.my_pe);
    if (*g == RMA_GPTR_NULL && rma_is_own_block_(base)) *g = rmai_gptr_own(w, base, size);
    return *g != RMA_GPTR_NULL ? RMA_SUCCESS : rmai_attach_hold(w, call, base, size, 1, g, held);
}

rma_gptr_t rma_gptr_of_node_(const void *base, size_t size) {
    struct rmai_world *w = &rmai_world;
    const size_t distance = (size_t)((uintptr_t)base - (uintptr_t)w->job.spaces);
    const size_t q = rma_reach_.running ? distance / w->job.stride : 0;
    struct rmai_place p = {0};
    rma_gptr_t g;
    if (!rma_reach_.running || q >= (size_t)w->job.node_n_pes) return RMA_GPTR_NULL;
    g = rmai_gptr_make(w->job.node_pes[q], distance % w->job.stride);
    if (!rmai_space_find(w, g, size, (int)q, &p)) return RMA_GPTR_NULL;
    if (p.region) rmai_attached_leave(p.region);
    return p.there == base ? g : RMA_GPTR_NULL;
}

void rma_unshare_(const char *call, void *held) {
    if (held) rmai_attach_release(&rmai_world, call, held);
}

int rma_is_own_block_(const void *block) { return rma_reach_.running && rmai_segment_holds(&rmai_world.local, block); }

void rma_send_gathered_(void) {
    if (rmai_world.net) rmai_net_send_gathered(rmai_world.net);
}

void rma_bell_(const void *word, uint32_t *futex) {
    if (rmai_world.net) rmai_net_set_bell(rmai_world.net, (struct rmai_bell){word, (_Atomic uint32_t *)(void *)futex});
}

void rma_thread_wakes_soon_(void) { rmai_thread_wakes_soon(); }

void rma_wait_for_(const char *call, const int *pe, int (*ready)(void *context), void *context) {
    const struct rmai_patience *patience = &rmai_world.barrier->patience;
    struct rmai_stall stall = {.call = call, .by_call = 1};
    struct rmai_backoff backoff = {.stall = &stall};
    while (!ready(context)) {
        stall.awaited = *pe < 0 ? RMAI_AWAITED_ANY : RMAI_AWAITED_PE;
        stall.pe = *pe;
        rmai_backoff_turn(&backoff, patience);
    }
    rmai_backoff_over(&backoff, patience);
    rmai_wait_over(patience, &stall);
}

_Static_assert(sizeof(struct rmai_stall) <= sizeof((struct rma_tests_ *)0)->stall,
               "a wait fits into struct rma_tests_");

#define TESTS_POLLS 200 /* tests that fail before the thread yields */
#define TESTS_TURNS 10  /* calls of progress for each test of MPI: a test takes longer */
#define TESTS_YIELDS                                                                                                   \
    16 /* between two checks of the wait; where PEs share processors, a yield may take milliseconds                    \
        */

void rma_tests_turn_(struct rma_tests_ *tests) {
    const struct rmai_world *w = &rmai_world;
    struct rmai_stall *stall = (struct rmai_stall *)(void *)tests->stall;
    for (int i = 0; rma_reach_.running && w->net && i < TESTS_TURNS; i++) rmai_net_progress(w->net, 0);
    if (++tests->failed < TESTS_POLLS) return;
    sched_yield();
    if (tests->failed % TESTS_YIELDS != 0 || !rma_reach_.running) return;
    stall->call = tests->call;
    stall->awaited = tests->reports ? RMAI_AWAITED_ANY : RMAI_AWAITED_TESTED;
    w->barrier->patience.late(w->barrier->patience.context, stall);
}

void rma_tests_over_(struct rma_tests_ *tests) {
    struct rmai_stall *stall = (struct rmai_stall *)(void *)tests->stall;
    if (rma_reach_.running) rmai_wait_over(&rmai_world.barrier->patience, stall);
}

void rma_watch_notes_(const struct rma_note_ *notes, int n) { rmai_watchdog_notes(rmai_world.watchdog, notes, n); }

_Static_assert(sizeof(struct rma_event_) == sizeof(struct rmai_event), "two names of the same struct");

void rma_event_await_(const char *call, struct rma_event_ *event, uint32_t old) {
    const struct rmai_patience *patience = &rmai_world.barrier->patience;
    struct rmai_stall stall = {.call = call, .awaited = RMAI_AWAITED_ANY};
    rmai_wait_watched((struct rmai_event *)event, old, patience, &stall);
    rmai_wait_over(patience, &stall);
}

void rma_event_set_(struct rma_event_ *event, uint32_t value) {
    struct rmai_event *e = (struct rmai_event *)event;
    atomic_store_explicit(&e->value, value, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst); /* a thread that is going to sleep sees the value, or is seen */
    rmai_wake(e);
}

int rma_without_(const char *library, int *pid) {
    rmai_siblings_prepare();
    return rmai_sibling_without(library, pid);
}

int rma_windows_info_(void) { return rmai_world.job.settings.mpi_info; }

int rma_makes_window_(void) { return rmai_making_window; }
