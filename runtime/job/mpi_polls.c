/* SPDX-License-Identifier: BSD-3-Clause */
/* No wake-up is lost: a process that is about to sleep counts itself among the sleepers and then polls once more; one
 * that sends reads the count after the message is in place; each has a sequentially consistent fence between the two
 * (Dekker's argument).
 *
 * UCX also sends from within polls: parts and acknowledgements of long messages, and messages for which there was no
 * room before. A poll that has done something may have sent such a thing, but mostly it has not, and a call of the
 * kernel takes longer than a short message. So it wakes the sleepers only if one of them has begun a send that was not
 * complete at once. Whatever this misses is seen a millisecond later. */
#include "config.h"

#include "runtime/job/mpi_polls.h"
#include "base/attributes.h"
#include "base/clock.h"
#include "base/process.h"
#include "base/topology.h"
#include "rma.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <mpi.h>

/* The processor is given away after so many polls in a row that find nothing: some microseconds. In a row, less than
 * ROW ticks (base/clock.h) lie between two polls: a program that tests for a message now and then, and works meanwhile,
 * does not sleep. */
#define POLLS 64u
#define ROW   10000u

#define SLEEP_MOST 1000000 /* nanoseconds */
#define LONG_SEND  16u     /* polls that find something until a send counts as complete: UCX does not tell */

enum how { UNKNOWN, AS_MPI, YIELDS, SLEEPS };

/* Set while this process is not in MPI; read in its polls, by threads that librma knows nothing of. */
static _Atomic int how;
static _Atomic(struct rmai_mpi_bell *) shared_bell;

/* The polls so far: threads that are in MPI at the same time may lose some, which does not matter. */
static _Atomic int seen;
static _Atomic unsigned idle;   /* polls of this row */
static _Atomic uint64_t last;   /* when the last one of them was */
static _Atomic unsigned unsent; /* 0: no send that was not complete at once is under way */

#define GET(variable)        atomic_load_explicit(&(variable), memory_order_relaxed)
#define SET(variable, value) atomic_store_explicit(&(variable), value, memory_order_relaxed)

static void choose(enum how chosen, struct rmai_mpi_bell *bell) {
    SET(shared_bell, bell);
    SET(how, chosen);
}

void rmai_mpi_polls_share(struct rmai_mpi_bell *bell) { choose(SLEEPS, bell); }

void rmai_mpi_polls_plain(void) { choose(AS_MPI, NULL); }

void rmai_mpi_polls_guess(void) { choose(UNKNOWN, NULL); }

int rmai_mpi_polls_sleep(void) { return GET(seen) && GET(how) == SLEEPS; }

/* ---- the functions of libucp ----
 *
 * Open MPI, which polls in other ways too, gives the processor away itself. */

#ifdef MPICH_VERSION

/* As long as rma_init has not counted the processes of the node, the launcher's count is believed. */
static enum how guess(void) {
    const int n = rmai_environment_number("MPI_LOCALNRANKS", 0), quota = rmai_cpu_quota();
    struct rmai_cpus cpus;
    int usable;
    rmai_affinity(&cpus);
    usable = rmai_cpus_count(&cpus);
    return n > (usable < quota ? usable : quota) ? YIELDS : AS_MPI;
}

/* libmpich may have been opened by a call of the program, and libucp with it: then it is not behind this library in the
 * program's list of libraries. */
static void *next_of(const char *call) {
    void *next = dlsym(RTLD_NEXT, call), *ucp;
    if (next) return next;
    ucp = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
    next = ucp ? dlsym(ucp, call) : NULL;
    if (next) return next;
    fprintf(stderr, "librma: %s: no library of the program defines it: %s\n", call, dlerror());
    _exit(RMA_EXIT_BASE + RMA_ERR_LAUNCH);
}

#define FIND_NEXT(next, call)                                                                                          \
    if (!(next)) *(void **)&(next) = next_of(call)

typedef unsigned poll_call(void *worker);

/* The last of many polls that found nothing: the processor goes to another process. */
static RMAI_COLD unsigned rest(void *worker, poll_call *next) {
    struct rmai_mpi_bell *bell = GET(shared_bell);
    const uint32_t sends = GET(unsent) > 0;
    unsigned found;
    uint32_t old;
    if (!bell) {
        sched_yield();
        return 0;
    }
    old = GET(bell->rung.value);
    atomic_fetch_add_explicit(&bell->senders, sends, memory_order_relaxed);
    atomic_fetch_add_explicit(&bell->rung.sleepers, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    found = next(worker);
    if (!found) rmai_sleep_on(&bell->rung.value, old, SLEEP_MOST, NULL);
    atomic_fetch_sub_explicit(&bell->rung.sleepers, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&bell->senders, sends, memory_order_relaxed);
    return found ? found : next(worker);
}

static RMAI_COLD unsigned found_nothing(void *worker, poll_call *next) {
    uint64_t now;
    unsigned found;
    if (GET(how) == UNKNOWN) SET(how, guess());
    if (GET(how) == AS_MPI) return 0;
    now = rmai_clock_ticks();
    SET(idle, now - GET(last) < ROW ? GET(idle) + 1 : 0);
    SET(last, now);
    if (GET(idle) < POLLS) return 0;
    found = rest(worker, next);
    SET(last, rmai_clock_ticks());
    return found;
}

static RMAI_COLD void found_something(void) {
    struct rmai_mpi_bell *bell = GET(shared_bell);
    SET(idle, 0);
    SET(unsent, GET(unsent) - (GET(unsent) > 0));
    if (!bell) return;
    atomic_thread_fence(memory_order_seq_cst);
    if (GET(bell->senders)) rmai_rouse_dozers(&bell->rung);
}

/* UCX returns NULL for a send that is complete, and error codes at the end of the range of addresses. */
static RMAI_COLD void *sent(struct rmai_mpi_bell *bell, void *request) {
    if (request && (uintptr_t)request < UINTPTR_MAX - 4096) SET(unsent, LONG_SEND);
    atomic_thread_fence(memory_order_seq_cst);
    rmai_rouse_dozers(&bell->rung);
    return request;
}

static inline void *return_from_send(void *request) {
    struct rmai_mpi_bell *bell = GET(shared_bell);
    return RMAI_UNLIKELY(bell != NULL) ? sent(bell, request) : request;
}

#pragma GCC visibility push(default)

unsigned ucp_worker_progress(void *worker) {
    static poll_call *next;
    unsigned found;
    FIND_NEXT(next, __func__);
    SET(seen, 1);
    found = next(worker);
    if (RMAI_LIKELY(GET(how) == AS_MPI)) return found;
    if (!found) found = found_nothing(worker, next);
    if (found) found_something();
    return found;
}

/* UCX's calls that send, as far as MPICH uses them. Each is the function of libucp, and then a wake-up. */
#define SEND(CALL, PARAMETERS, ARGUMENTS)                                                                              \
    void *CALL PARAMETERS {                                                                                            \
        static void *(*next)PARAMETERS;                                                                                \
        FIND_NEXT(next, __func__);                                                                                     \
        return return_from_send(next ARGUMENTS);                                                                       \
    }
SEND(ucp_tag_send_nbx, (void *ep, const void *data, size_t n, uint64_t tag, const void *param),
     (ep, data, n, tag, param))
SEND(ucp_tag_send_sync_nbx, (void *ep, const void *data, size_t n, uint64_t tag, const void *param),
     (ep, data, n, tag, param))
SEND(ucp_am_send_nb, (void *ep, uint16_t id, const void *data, size_t n, uint64_t type, void *done, unsigned flags),
     (ep, id, data, n, type, done, flags))
SEND(ucp_am_send_nbx,
     (void *ep, unsigned id, const void *head, size_t n_head, const void *data, size_t n, const void *param),
     (ep, id, head, n_head, data, n, param))

#pragma GCC visibility pop

#endif
