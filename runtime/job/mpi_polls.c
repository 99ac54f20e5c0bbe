/* SPDX-License-Identifier: BSD-3-Clause */
/* No wake-up is lost: a process that is about to sleep counts itself among the sleepers and then polls once more; one
 * that sends reads the count after the message is in place; each has a sequentially consistent fence between the two
 * (Dekker's argument).
 *
 * UCX also sends from within polls: parts and acknowledgements of long messages, and messages for which there was no
 * room before. A poll that has done something may have sent such a thing, but mostly it has not, and a call of the
 * kernel takes longer than a short message. So it wakes the sleepers only if one of them has begun a send that was not
 * complete at once. A sleeper that all this misses wakes by itself. */
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

/* 1 while the program only tests for a message (runtime/interfaces.h). */
extern __attribute__((visibility("default"))) int rma_mpi_testing_;
int rma_mpi_testing_;

#ifndef MPICH_VERSION

/* Open MPI, which polls in other ways too, gives the processor away itself. */
void rmai_mpi_polls_share(struct rmai_mpi_bell *bell, int more, int threads) { (void)bell, (void)more, (void)threads; }
void rmai_mpi_polls_plain(void) {}
void rmai_mpi_polls_guess(void) {}
int rmai_mpi_polls_sleep(void) { return 0; }
void rmai_mpi_polls_listen(void) {}
int rmai_mpi_polls_heard(void) { return 0; }

#else

/* The processor is given away after so many polls in a row that find nothing: MANY, some 6 us, as long as those that
 * are not asleep have a processor each, so that two that exchange messages do not put each other to sleep; else FEW,
 * since each poll takes time from one that may have something to send. A process that was woken for nothing has had
 * its FEW. Polls are in a row if less than ROW ticks (base/clock.h: 0.5 to 2 us) lie between them, and a program that
 * tests for a message and then works for longer is left alone. */
#define MANY      128u
#define FEW       64u
#define ROW       2000u

/* Nanoseconds. A wait may be for something else than a message, and then nobody wakes this process: so each sleep is
 * short; with a tenth of it NWChem, whose messages follow each other within some 50 us, took a tenth longer. */
#define SLEEP     500000

/* After so many polls that have found something, a send that was not complete at once is taken to be complete, since
 * UCX does not tell. Where the kernel may not copy between processes, a long message takes one for each of its parts.
 */
#define LONG_SEND 32u

enum how { UNKNOWN, AS_MPI, YIELDS, SLEEPS };

/* The calls of mpi_polls.h set these, and the first poll resolves UNKNOWN. Threads that librma knows nothing of read
 * them in polls. */
static _Atomic int how;
static _Atomic(struct rmai_mpi_bell *) shared_bell;
static _Atomic unsigned surplus; /* by how many the node's processes outnumber the processors */

/* The polls so far. Threads that are in MPI at the same time may lose an update of these: then a sleep begins a little
 * later, or a process is woken once too often or too seldom. */
static _Atomic unsigned idle;   /* polls of this row since its last sleep */
static _Atomic uint64_t last;   /* when the last one of them was */
static _Atomic unsigned unsent; /* 0: no send that was not complete at once is under way */

#define GET(variable)        atomic_load_explicit(&(variable), memory_order_relaxed)
#define SET(variable, value) atomic_store_explicit(&(variable), value, memory_order_relaxed)

typedef unsigned poll_call(void *worker);

/* What ucp_worker_progress does: a poll as MPI has it costs one jump more. */
static poll_call first_poll, watched_poll;
static _Atomic(poll_call *) poll_now = first_poll;
static _Atomic(poll_call *) mpi_poll; /* that of libucp; NULL until the first poll */

/* As long as rma_init has not counted the processes of the node, the launcher's count is believed. */
static enum how guess(void) {
    const int n = rmai_environment_number("MPI_LOCALNRANKS", 0), quota = rmai_cpu_quota();
    struct rmai_cpus cpus;
    int usable;
    rmai_affinity(&cpus);
    usable = rmai_cpus_count(&cpus);
    return n > (usable < quota ? usable : quota) ? YIELDS : AS_MPI;
}

static poll_call *chosen_poll(void) { return GET(how) == AS_MPI ? GET(mpi_poll) : watched_poll; }

static void choose(enum how chosen, struct rmai_mpi_bell *bell) {
    SET(shared_bell, bell);
    SET(how, chosen);
    if (GET(mpi_poll)) SET(poll_now, chosen_poll());
}

void rmai_mpi_polls_share(struct rmai_mpi_bell *bell, int more, int threads) {
    SET(surplus, (unsigned)more);
    choose(threads ? YIELDS : SLEEPS, bell);
}

void rmai_mpi_polls_plain(void) { choose(AS_MPI, NULL); }

void rmai_mpi_polls_guess(void) { choose(GET(mpi_poll) ? guess() : UNKNOWN, NULL); }

int rmai_mpi_polls_sleep(void) { return GET(mpi_poll) && GET(how) == SLEEPS; }

static _Atomic int heard;

static unsigned heard_poll(void *worker) {
    poll_call *const poll = chosen_poll();
    const unsigned found = poll(worker);
    if (found) SET(heard, 1);
    return found;
}

void rmai_mpi_polls_listen(void) {
    SET(heard, 0);
    if (GET(mpi_poll)) SET(poll_now, heard_poll);
}

int rmai_mpi_polls_heard(void) {
    if (GET(mpi_poll)) SET(poll_now, chosen_poll());
    return GET(heard);
}

/* ---- the functions of libucp ---- */

/* libmpich may have been opened by a call of the program, and libucp with it: then it does not follow this library in
 * the program's list of libraries. */
static void *next_ucp_function(const char *call) {
    void *next = dlsym(RTLD_NEXT, call), *ucp;
    if (next) return next;
    ucp = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
    next = ucp ? dlsym(ucp, call) : NULL;
    if (next) return next;
    fprintf(stderr, "librma: %s: no library of the program defines it\n", call);
    _exit(RMA_EXIT_BASE + RMA_ERR_LAUNCH);
}

#define FIND_NEXT(next, call)                                                                                          \
    if (!(next)) *(void **)&(next) = next_ucp_function(call)

/* Sleeps, unless something has arrived. Returns what the last poll has found. */
static unsigned sleep_once(void *worker, poll_call *next, struct rmai_mpi_bell *bell) {
    const uint32_t sends = GET(unsent) > 0, old = GET(bell->rung.value);
    unsigned found;
    atomic_fetch_add_explicit(&bell->senders, sends, memory_order_relaxed);
    atomic_fetch_add_explicit(&bell->rung.sleepers, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    found = next(worker);
    if (!found) rmai_sleep_on(&bell->rung.value, old, SLEEP, NULL);
    atomic_fetch_sub_explicit(&bell->rung.sleepers, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&bell->senders, sends, memory_order_relaxed);
    return found ? found : next(worker);
}

/* 1 if enough processes are asleep that each of the others has a processor. */
static int has_processor(void) {
    struct rmai_mpi_bell *bell = GET(shared_bell);
    return bell && GET(bell->rung.sleepers) >= GET(surplus);
}

static RMAI_COLD unsigned found_nothing(void *worker, poll_call *next) {
    const uint64_t now = rmai_clock_ticks();
    unsigned found = 0;
    if (now - GET(last) >= ROW) SET(idle, 0);
    SET(idle, GET(idle) + 1);
    if (GET(idle) > MANY || (GET(idle) > FEW && !has_processor())) {
        SET(idle, FEW);
        if (GET(how) == YIELDS || rma_mpi_testing_)
            sched_yield();
        else
            found = sleep_once(worker, next, GET(shared_bell));
    }
    SET(last, rmai_clock_ticks());
    return found;
}

static void wake_senders(void) {
    struct rmai_mpi_bell *bell = GET(shared_bell);
    if (!bell) return;
    atomic_thread_fence(memory_order_seq_cst);
    if (GET(bell->senders)) rmai_rouse_dozers(&bell->rung);
}

static RMAI_COLD void found_something(void) {
    SET(idle, 0);
    SET(unsent, GET(unsent) - (GET(unsent) > 0));
    wake_senders();
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

static unsigned watched_poll(void *worker) {
    poll_call *const next = GET(mpi_poll);
    unsigned found = next(worker);
    if (!found) found = found_nothing(worker, next);
    if (found) found_something();
    return found;
}

static unsigned first_poll(void *worker) {
    poll_call *next;
    *(void **)&next = next_ucp_function("ucp_worker_progress");
    SET(mpi_poll, next);
    choose(GET(how) == UNKNOWN ? guess() : (enum how)GET(how), GET(shared_bell));
    next = GET(poll_now);
    return next(worker);
}

#pragma GCC visibility push(default)

unsigned ucp_worker_progress(void *worker) {
    poll_call *const poll = GET(poll_now);
    return poll(worker);
}

/* UCX's calls that send, as far as MPICH uses them. Each is the function of libucp, and then a wake-up. A receive may
 * find the beginning of a long message, and answers it. */
#define SEND(CALL, PARAMETERS, ARGUMENTS)                                                                              \
    void *CALL PARAMETERS {                                                                                            \
        static void *(*next)PARAMETERS;                                                                                \
        FIND_NEXT(next, __func__);                                                                                     \
        return return_from_send(next ARGUMENTS);                                                                       \
    }
#define RECEIVE(CALL, PARAMETERS, ARGUMENTS)                                                                           \
    void *CALL PARAMETERS {                                                                                            \
        static void *(*next)PARAMETERS;                                                                                \
        void *request;                                                                                                 \
        FIND_NEXT(next, __func__);                                                                                     \
        request = next ARGUMENTS;                                                                                      \
        if (RMAI_UNLIKELY(GET(shared_bell) != NULL)) wake_senders();                                                   \
        return request;                                                                                                \
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
RECEIVE(ucp_tag_recv_nbx, (void *worker, void *data, size_t n, uint64_t tag, uint64_t mask, const void *param),
        (worker, data, n, tag, mask, param))
RECEIVE(ucp_tag_msg_recv_nbx, (void *worker, void *data, size_t n, void *message, const void *param),
        (worker, data, n, message, param))

#pragma GCC visibility pop

#endif
