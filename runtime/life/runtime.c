/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_init and rma_finalize: the table of steps that open and close the runtime. The steps (`steps`) are MPI, then
 * those that the user's settings can make fail, the node's reservation, each PE's own space, and last the values that
 * are computed from all headers. Each step that can fail on one PE alone is followed by an agreement of all
 * PEs (runtime/life/consensus), so that all fail together and one of them tells why. All then close what they have
 * opened, together and in the reverse order, as rma_finalize does. */
#include "config.h"

#include "base/attributes.h"
#include "base/error.h"
#include "base/mpi.h"
#include "base/process.h"
#include "base/settings.h"
#include "base/size.h"
#include "base/topology.h"
#include "base/wait.h"
#include "heap/reserve.h"
#include "heap/segment.h"
#include "heap/statics.h"
#include "runtime/attach.h"
#include "runtime/life/consensus.h"
#include "runtime/context.h"
#include "runtime/window_memory.h"
#include "runtime/life/exit.h"
#include "runtime/api/expose.h"
#include "runtime/life/globals.h"
#include "runtime/header.h"
#include "runtime/job/job.h"
#include "runtime/job/launch.h"
#include "runtime/job/mpi_polls.h"
#include "runtime/job/traffic.h"
#include "runtime/interfaces.h"
#include "runtime/meet.h"
#include "runtime/net/group.h"
#include "runtime/net/net.h"
#include "runtime/net/progress.h"
#include "runtime/net/progress_thread.h"
#include "runtime/life/net_handlers.h"
#include "runtime/node/barrier.h"
#include "runtime/node/service.h"
#include "runtime/reach.h"
#include "runtime/life/stats.h"
#include "runtime/team.h"
#include "runtime/team_table.h"
#include "runtime/transport/transport_mpi.h"
#include "runtime/watch/deadlock.h"
#include "runtime/watch/finalize_progress.h"
#include "runtime/watch/siblings.h"
#include "runtime/watch/stall.h"
#include "runtime/watch/watchdog.h"
#include "runtime/world.h"

#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int release_runtime(struct rmai_world *w);

static const struct rma_follower_ *follower; /* MPI's windows, or NULL */

#define POLLS_ROOMY    4000 /* some 100 us: longer than it takes to hand over a word, shorter than a time slice */
#define YIELDS_ROOMY   16
#define YIELDS_CROWDED 4
#define POLLS_FAR      10 /* times as many polls in jobs of several nodes: a message takes longer than a cache line */
#define NAP_ROOMY      100000 /* nanoseconds */
#define NAP_CROWDED    1000000
#define SMALLEST_HEAP  ((size_t)1 << 20)
#define FIRST_BYTES    ((size_t)256 << 10)          /* of each symmetric heap, committed by rma_init */
#define SPACE_MAX      ((size_t)RMA_GPTR_ATTACHED_) /* the attached memory's offsets begin there */
#define NODE_MAX       ((size_t)1 << 45) /* mapped twice (heap/reserve): half of what 47-bit addresses reach */

/* The longest arithmetic progression that the node's PEs begin with: see rma_inline.h. */
static void set_progression(struct rma_reach_ *r, const int *pes, int n) {
    uint32_t step = n > 1 ? (uint32_t)(pes[1] - pes[0]) : 1, odd, inverse;
    int length = 1;
    while (length < n && (uint32_t)(pes[length] - pes[length - 1]) == step) length++;
    r->first = (uint32_t)pes[0];
    r->shift = (uint32_t)__builtin_ctz(step);
    odd = inverse = step >> r->shift;                         /* right in the lowest 3 bits */
    for (int i = 0; i < 4; i++) inverse *= 2 - odd * inverse; /* each round doubles the right bits (Newton) */
    r->inverse = inverse;
    r->n_node = (uint32_t)length;
}

static void set_reach(struct rmai_world *w) {
    struct rma_reach_ r = {.base = (uintptr_t)w->symmetric.base,
                           .size = w->symmetric.size,
                           .node_base = (uintptr_t)w->job.spaces + w->job.layout.symmetric,
                           .stride = w->job.stride,
                           .slot = (uint32_t)w->job.node_my_pe,
                           .running = 1,
                           .complete = RMA_ALL_COMPLETE_,
                           .symmetric = w->job.layout.symmetric,
                           .local = w->job.layout.local,
                           .guest = w->job.layout.guest,
                           .n_pes = (uint32_t)w->job.n_pes,
                           .my_pe = (uint32_t)w->job.my_pe,
                           .contexts = rmai_context_lines,
                           .contexts_mask = RMAI_CONTEXTS - 1,
                           .stripes = w->job.stripes.locks};
    set_progression(&r, w->job.node_pes, w->job.node_n_pes);
    r.one_node = !w->job.networked && r.n_node == r.n_pes;
    if (w->job.settings.stats) r.n_node = r.one_node = 0; /* every call enters the library, and is counted */
    rmai_reach_open(&r);
}

/* ---- init ---- */

static void introduce_process(struct rmai_world *w) {
    char who[128];
    if (gethostname(w->job.host, sizeof w->job.host) != 0) strcpy(w->job.host, "?");
    w->job.host[sizeof w->job.host - 1] = 0;
    snprintf(who, sizeof who, "PE %d of %d on %s", w->job.my_pe, w->job.n_pes, w->job.host);
    rmai_error_identity(who, rmai_exit_job);
}

/* Until MPI has told the PE's number, takes the launcher's rank for it. */
static void introduce_early(void) {
    char who[32] = "";
    if (rmai_sibling_me() >= 0) snprintf(who, sizeof who, "PE %d", rmai_sibling_me());
    rmai_error_identity(who, rmai_exit_job);
}

/* Makes the larger heap smaller by a quarter, or both if they are alike, for the next attempt. Halving would give up
 * more than necessary. A heap with a small limit keeps what the program has asked for. */
static void shrink_layout(struct rmai_layout *l) {
    size_t symmetric = l->symmetric_max, local = l->local_max;
    rmai_layout(l, symmetric >= local ? symmetric / 4 * 3 : symmetric, local >= symmetric ? local / 4 * 3 : local,
                l->statics_max);
}

/* Reads the settings and the facts of the system. */
static int open_facts(struct rmai_world *w) {
    int code = rmai_launch_facts(&w->job, &w->node);
    w->finalize_helper = w->job.settings.finalize_helper;
    rmai_statics_find(w->statics);
    w->statics_stuck = 0;
    return code;
}

static int open_node(struct rmai_world *w) { return rmai_launch_node(&w->job, &w->node); }

/* Gives all PEs the same layout: heaps of the agreed limits, or smaller ones if a node could not map so much. */
static int agree_on_layout(struct rmai_world *w, int code) {
    int most;
    code = rmai_consensus_nodes(w, code, &w->job.node_most);
    most = w->job.node_most;
    if (code != RMA_SUCCESS) return code;
    w->job.networked = w->job.node_n_pes < w->job.n_pes;
    rmai_layout(&w->job.layout, w->job.settings.heap_max, w->job.settings.local_max,
                w->job.statics_later == RMAI_STATICS_OFF ? 0 : w->statics->size);
    while (w->job.layout.stride > SPACE_MAX || w->job.layout.stride > NODE_MAX / (size_t)most)
        shrink_layout(&w->job.layout);
    return RMA_SUCCESS;
}

static int close_node(struct rmai_world *w) {
    free(w->job.node_pes);
    w->job.node_pes = NULL;
    return w->node == MPI_COMM_NULL ? RMA_SUCCESS : rmai_mpi(MPI_Comm_free(&w->node), "rma_finalize", "MPI_Comm_free");
}

/* Sets addresses aside at which all PEs of the job can have their symmetric heap at the same address. *room is NULL if
 * there are none. code: the result of giving up the previous attempt. */
static int choose_room(struct rmai_world *w, int code, char **room) {
    const size_t stride = w->job.layout.stride, heap = w->job.layout.symmetric;
    const int n = w->job.node_n_pes, me = w->job.node_my_pe;
    int first;
    code = rmai_consensus_rooms(w, code, rmai_rooms_find(stride, n, me, heap), &first);
    *room = code == RMA_SUCCESS && first < RMAI_ROOMS ? rmai_room_take(first, stride, n, me, heap) : NULL;
    return code;
}

/* The PEs agree on the result of each attempt: another node may have refused a size that this node has mapped. An
 * attempt that is repeated with less is not an error of the program. */
static int open_reservation(struct rmai_world *w) {
    struct rmai_error_kept kept;
    int unreserved = RMA_SUCCESS; /* after the previous attempt */
    rmai_error_keep(&kept);
    for (;;) {
        char *room;
        int code = choose_room(w, unreserved, &room);
        if (code != RMA_SUCCESS) return code;
        code = rmai_reserve(&w->reservation, w->node, w->job.layout.stride, w->job.layout.symmetric, room);
        w->job.spaces = w->reservation.node_base;
        w->job.stride = w->reservation.stride;
        code = rmai_consensus_reserved(w, code);
        if (code != RMA_ERR_NO_MEM) return code;
        if (w->job.layout.symmetric_max <= SMALLEST_HEAP && w->job.layout.local_max <= SMALLEST_HEAP) return code;
        unreserved = rmai_unreserve(&w->reservation, "rma_init");
        if (unreserved != RMA_SUCCESS) rmai_error_keep(&kept);
        shrink_layout(&w->job.layout);
        rmai_error_restore(&kept);
    }
}

static int close_reservation(struct rmai_world *w) {
    return w->statics_stuck ? RMA_SUCCESS : rmai_unreserve(&w->reservation, "rma_finalize");
}

/* Every PE commits the page of the count: it may be the first that needs it. */
static int share_commits(struct rmai_world *w) {
    _Atomic size_t *begun = &rmai_header(&w->job, 0)->begun;
    int code;
    w->reservation.begun = NULL;
    code = rmai_commit(&w->reservation, begun, sizeof *begun);
    if (code == RMA_SUCCESS) w->reservation.begun = begun;
    return code;
}

static int stripe_holder_has_died(void *context, uint32_t pe) { return rmai_pe_gone(context, (int)pe); }

/* Every PE commits the node's stripes, as the page above. */
static int share_stripes(struct rmai_world *w) {
    char *locks = rmai_job_space(&w->job, 0) + RMAI_STRIPES_AT;
    w->job.stripes = (struct rmai_stripes){.locks = (uint32_t *)(void *)locks,
                                           .me = (uint32_t)w->job.my_pe,
                                           .dead = stripe_holder_has_died,
                                           .context = &w->job};
    return rmai_commit(&w->reservation, locks, RMA_STRIPES_ * RMA_STRIPE_APART_ * sizeof(uint32_t));
}

/* For the inlined calls. */
void rma_stripe_wait_(uint32_t *stripe) { rmai_stripes_wait(&rmai_world.job.stripes, stripe); }

static int open_memory(struct rmai_world *w) {
    char *space = rmai_job_space(&w->job, w->job.node_my_pe);
    struct rmai_facts *mine = rmai_facts(&w->job, w->job.node_my_pe);
    struct rmai_segment guest; /* only to make it: a PE that allocates in it makes its own view, under the lock */
    size_t got = 0;
    int code;
    pthread_mutex_init(&w->local_lock, NULL);
    code = share_commits(w);
    if (code == RMA_SUCCESS) code = share_stripes(w);
    if (code == RMA_SUCCESS) code = rmai_teams_commit(w);
    if (code == RMA_SUCCESS)
        code = rmai_segment_create(&w->symmetric, &w->reservation, space + w->job.layout.symmetric_table,
                                   space + w->job.layout.symmetric, w->job.layout.symmetric_max, "symmetric heap",
                                   rmai_error_of_shmem("rma_init") ? "SHMEM_SYMMETRIC_SIZE, RMA_HEAP_MAX"
                                                                   : "RMA_HEAP_MAX");
    w->symmetric_holes.n = 0;
    w->symmetric.holes = &w->symmetric_holes;
    if (code == RMA_SUCCESS)
        code = rmai_segment_create(&w->local, &w->reservation, space + w->job.layout.local_table,
                                   space + w->job.layout.local, w->job.layout.local_max, "local heap", "RMA_LOCAL_MAX");
    if (code == RMA_SUCCESS)
        code =
            rmai_segment_create(&guest, &w->reservation, space + w->job.layout.guest_table, space + w->job.layout.guest,
                                w->job.layout.guest_max, "guests' part of the local heap", "half of RMA_LOCAL_MAX");
    memset(&w->quick, 0, sizeof w->quick);
    /* The progress thread gives back blocks for PEs of other nodes. */
    w->quick.shared = w->local.shared = w->job.n_pes > 1;
    if (code == RMA_SUCCESS) code = rmai_attachments_open(w);
    if (code == RMA_SUCCESS) code = rmai_globals_room(w);
    if (code == RMA_SUCCESS && w->job.networked)
        code = rmai_commit(&w->reservation, space + w->job.layout.symmetric - RMAI_PROBE_ROOM, RMAI_PROBE_ROOM);
    w->symmetric.in_steps = w->local.in_steps = w->job.networked;
    if (code == RMA_SUCCESS) code = rmai_segment_commit(&w->symmetric, rmai_min(FIRST_BYTES, w->symmetric.max), &got);
    if (code != RMA_SUCCESS) {
        rmai_error_prefix("rma_init: ");
        return code;
    }
    w->symmetric.slack = 1;
    w->symmetric_canaries = (struct rmai_canaries){.heap = w->symmetric.name};
    if (w->job.settings.heap_check == RMAI_CHECK_FULL)
        w->symmetric.guard = w->local.guard = RMAI_RED_ZONE;
    else
        w->symmetric.canaries = &w->symmetric_canaries;
    rmai_segment_extend(&w->symmetric, got);
    w->symmetric.spares = w->job.settings.heap_unlimited;
    w->local.spares = w->job.settings.local_unlimited;
    rmai_affinity(&mine->cpus);
    mine->quota = rmai_cpu_quota();
    mine->pe = w->job.my_pe;
    mine->pid = getpid();
    mine->pid_namespace = rmai_process_namespace();
    mine->statics = (uint64_t)(uintptr_t)w->statics->base;
    mine->space = (uint64_t)(uintptr_t)mine;
    atomic_store_explicit(&mine->extent[RMAI_GUEST], w->job.layout.guest, memory_order_release);
    atomic_store_explicit(&mine->extent[RMAI_OWN], w->job.layout.local, memory_order_release);
    return RMA_SUCCESS;
}

static int close_memory(struct rmai_world *w) {
    rmai_service_end(w->service);
    rmai_exposures_close(w);
    rmai_attachments_close(w);
    pthread_mutex_destroy(&w->local_lock);
    return RMA_SUCCESS;
}

static struct rmai_barrier_shared *barrier_part(void *context, uint32_t q) {
    return &rmai_header(context, (int)q)->barrier;
}

static int help_others(void *context) {
    struct rmai_world *w = context;
    return rmai_net_progress(w->net, 1);
}

/* Finds out whether this PE sees more PEs than processors. Several nodes of one machine (containers, simulated nodes)
 * share its processors. */
static int open_waiting(struct rmai_world *w) {
    struct rmai_facts *mine = rmai_facts(&w->job, w->job.node_my_pe);
    struct rmai_cpus cpus = {{0}};
    int n = w->job.node_n_pes, quota = INT_MAX, usable, code = RMA_SUCCESS;
    for (int q = 0; q < w->job.node_n_pes; q++) {
        rmai_cpus_add(&cpus, &rmai_facts(&w->job, q)->cpus);
        if (rmai_facts(&w->job, q)->quota < quota) quota = rmai_facts(&w->job, q)->quota;
    }
    if (w->job.node_n_pes < w->job.n_pes)
        code = rmai_transport_mpi_machine(w->job.one_machine, cpus.word, RMAI_CPU_WORDS, &n);
    usable = rmai_cpus_count(&cpus);
    usable = usable < quota ? usable : quota;
    mine->crowded = n > usable ? n - usable : 0;
    w->crowd = (struct rmai_crowd){.file = -1, .processors = usable};
    return code;
}

static int close_waiting(struct rmai_world *w) {
    rmai_crowd_close(&w->crowd);
    return RMA_SUCCESS;
}

static void check_late_wait(void *context, struct rmai_stall *stall) {
    struct rmai_world *w = context;
    if (w->net) rmai_net_lock(w->net);
    rmai_stall_check(w->watch, stall);
    if (w->net) rmai_net_unlock(w->net);
}

static void end_late_wait(void *context, struct rmai_stall *stall) {
    struct rmai_world *w = context;
    if (w->net) rmai_net_lock(w->net);
    rmai_stall_end(w->watch, stall);
    if (w->net) rmai_net_unlock(w->net);
}

/* The PEs of a node must all wait in the same way, since a barrier of theirs is one algorithm. So the node counts as
 * crowded if one of its PEs finds that. In a job of one node all PEs have read the same facts. */
static int agree_on_waiting(struct rmai_world *w, int code) {
    struct rmai_patience patience = {.polls = POLLS_ROOMY, .yields = YIELDS_ROOMY};
    int crowded = rmai_facts(&w->job, w->job.node_my_pe)->crowded > 0;
    w->job.crowded_somewhere = crowded;
    if (w->job.node_n_pes < w->job.n_pes) {
        code = rmai_consensus_crowded(w, code, crowded);
        for (int q = 0; q < w->job.node_n_pes; q++) crowded |= rmai_facts(&w->job, q)->crowded > 0;
    }
    if (code != RMA_SUCCESS) return code;
    if (crowded) patience = (struct rmai_patience){.yields = YIELDS_CROWDED};
    patience.context = w;
    patience.late = check_late_wait;
    patience.late_no_more = end_late_wait;
    if (w->job.networked) {
        patience.progress = help_others;
        patience.yields = 0;
        patience.polls *= POLLS_FAR;
        patience.nap = crowded ? NAP_CROWDED : NAP_ROOMY;
        patience.doze = &w->doze;
        patience.slept_on = &rmai_facts(&w->job, w->job.node_my_pe)->slept_on;
    }
    if (w->job.settings.spin != RMAI_AUTO) {
        patience.polls = (unsigned)rmai_min((size_t)w->job.settings.spin, UINT_MAX);
    } else if (crowded) {
        rmai_crowd_open(&w->crowd, w->crowd.processors, POLLS_ROOMY);
        patience.crowd = &w->crowd;
    } else {
        atomic_store_explicit(&w->polls_now, patience.polls, memory_order_relaxed);
        patience.polls_now = &w->polls_now;
    }
    rmai_barrier_setup(w->barrier, (uint32_t)w->job.node_n_pes, (uint32_t)w->job.node_my_pe, w->job.node_pes, crowded,
                       patience, barrier_part, &w->job);
    *w->service = (struct rmai_service){.job = &w->job,
                                        .patience = &w->barrier->patience,
                                        .at = offsetof(struct rmai_header, service),
                                        .crowded = crowded};
    return RMA_SUCCESS;
}

/* MPI_Finalize deletes the attributes of MPI_COMM_SELF before it does anything else (MPI-3.1 section 8.7.1): if the
 * program finalizes MPI first, this is the moment to free windows and communicators, and to make sure that MPI_Finalize
 * ends. */
static int at_mpi_finalize(MPI_Comm comm, int keyval, void *value, void *extra) {
    (void)comm, (void)keyval, (void)value, (void)extra;
    if (rma_reach_.running) {
        rmai_contexts_end(&rmai_world, "MPI_Finalize", NULL);
        rmai_meet_last(&rmai_world, "MPI_Finalize");
        release_runtime(&rmai_world);
    }
    if (rmai_world.finalize_helper) rmai_finalize_progress_start(rmai_world.job.n_nodes);
    return MPI_SUCCESS;
}

/* Done once in a process: MPI frees the key by itself when the attribute is deleted. */
static int watch_mpi_finalize(void) {
    static int watching;
    int keyval, code, freed;
    if (watching) return RMA_SUCCESS;
    code = rmai_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_mpi_finalize, &keyval, NULL), "rma_init",
                    "MPI_Comm_create_keyval");
    if (code != RMA_SUCCESS) return code;
    code = rmai_mpi(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL), "rma_init", "MPI_Comm_set_attr");
    watching = code == RMA_SUCCESS;
    freed = rmai_mpi(MPI_Comm_free_keyval(&keyval), "rma_init", "MPI_Comm_free_keyval");
    return code == RMA_SUCCESS ? freed : code;
}

static int open_net(struct rmai_world *w) {
    struct rmai_net_handlers handlers;
    int code;
    rmai_net_handlers(w, &handlers);
    code = rmai_net_open(&w->job, &w->mpi->transport, w->traffic, &handlers, w->barrier->crowded, &w->net);
    w->watch->pings.net = w->net;
    return code;
}

static int open_connections(struct rmai_world *w) {
    struct rmai_facts *first = rmai_facts(&w->job, 0);
    int code = RMA_SUCCESS;
    if (w->job.networked)
        code = rmai_transport_mpi_open(w->mpi, w->job.node_my_pe == 0, w->job.one_host, &first->n_nodes,
                                       &first->my_node, &w->job.leaders, first->pairs);
    if (code == RMA_SUCCESS && w->job.networked) code = open_net(w);
    if (code == RMA_SUCCESS) code = rmai_teams_open(w);
    if (code == RMA_SUCCESS) code = rmai_contexts_open(w);
    return code == RMA_SUCCESS ? watch_mpi_finalize() : code;
}

static int agree_on_connections(struct rmai_world *w, int code) {
    code = rmai_consensus(w, code);
    w->job.my_node = w->job.networked && code == RMA_SUCCESS ? rmai_facts(&w->job, 0)->my_node : 0;
    w->job.n_nodes = w->job.networked && code == RMA_SUCCESS ? rmai_facts(&w->job, 0)->n_nodes : 1;
    memcpy(w->job.pairs, rmai_facts(&w->job, 0)->pairs, sizeof w->job.pairs);
    *w->leaders = (struct rmai_group){.net = w->net,
                                      .tag = RMAI_LEADERS_TAG,
                                      .n = w->job.n_nodes,
                                      .me = w->job.node_my_pe == 0 ? w->job.my_node : -1,
                                      .list = w->job.leaders};
    return code;
}

static int close_connections(struct rmai_world *w) {
    int code, one;
    rmai_contexts_close(w);
    rmai_teams_close(w);
    if (w->net) rmai_pings_close(&w->watch->pings);
    code = rmai_net_close(w->net);
    w->net = NULL;
    one = rmai_transport_mpi_close(w->mpi);
    free(w->job.leaders);
    w->job.leaders = NULL;
    w->leaders->list = NULL;
    return code == RMA_SUCCESS ? one : code;
}

static void put_line(void *out, const char *line) { fprintf(out, "librma:   %s\n", line); }

static void print_information(struct rmai_world *w) {
    char heap[24], local[24], space[24];
    char note[256];
    if (w->job.my_pe != 0) return;
    for (int n = 0; rmai_settings_stray(n, note, sizeof note); n++) rmai_note("%s", note);
    if (!w->job.settings.info) return;
    rmai_note("version %s, %d PE%s on %d node%s; %d on this one, %s, %s", RMA_VERSION, w->job.n_pes,
              w->job.n_pes == 1 ? "" : "s", w->job.n_nodes, w->job.n_nodes == 1 ? "" : "s", w->job.node_n_pes,
              w->barrier->crowded ? "more than processors" : "a processor each", w->job.binding);
    rmai_note("heaps of up to %s (symmetric) and %s (local) per PE, %s reserved on this node",
              rmai_format_size(heap, w->job.layout.symmetric_max), rmai_format_size(local, w->job.layout.local_max),
              rmai_format_size(space, w->job.layout.stride * (size_t)w->job.node_n_pes));
    if (w->job.one_address)
        rmai_note("symmetric heap at %p on all PEs", (void *)w->symmetric.base);
    else
        rmai_note("symmetric heap at different addresses on the PEs: no range of addresses is free on all of them");
    rmai_note("global variables: %s%s", rmai_format_size(heap, w->statics->size),
              w->job.statics_mode == RMAI_STATICS_OFF ? ", not symmetric"
              : w->statics->moved                     ? ", reached by load and store"
              : w->job.node_n_pes == 1                ? ", in place: no peer on this node"
                                                      : ", in place, reached by process_vm_readv");
    if (w->job.n_nodes > 1)
        rmai_note("to other nodes: %s; %s", rmai_net_way(w->net),
                  w->job.all_progress ? "a thread of each PE serves them" : "served within calls only");
    rmai_settings_print(&w->job.settings, put_line, stderr);
}

/* The thread does not start earlier, since requests of other PEs would find no memory. Having no thread is no error:
 * this PE then serves others within its own calls. */
static void start_progress_thread(struct rmai_world *w) {
    if (!w->net || w->job.settings.progress == RMAI_PROGRESS_NONE) return;
    if (rmai_progress_thread_start(w->progress_thread, w->net, rmai_error_name("rma_init")) != RMA_SUCCESS &&
        (w->job.mpi_multiple || w->job.my_pe == 0))
        rmai_note("PE %d: %s", w->job.my_pe, rma_last_error());
}

static int open_windows(struct rmai_world *w) { return rmai_window_memory_open(w); }

static int agree_on_windows(struct rmai_world *w, int code) {
    return w->job.networked ? rmai_consensus(w, code) : code;
}

/* How this process waits in calls of MPI's own. Between nodes a wait has to serve requests meanwhile. If the program
 * has initialized MPI itself, MPI's level counts, but if it has done so by rma_mpi, which tells it librma's level. */
static void choose_mpi_polls(const struct rmai_world *w) {
    const int threads =
        w->job.level == RMA_THREAD_MULTIPLE || (w->job.mpi_multiple && !w->owns_mpi && follower == NULL);
    if (w->job.networked || !w->barrier->crowded)
        rmai_mpi_polls_plain();
    else
        rmai_mpi_polls_share(&rmai_header(&w->job, 0)->mpi_bell, rmai_facts(&w->job, w->job.node_my_pe)->crowded,
                             threads);
}

/* The last step. As soon as all PEs have agreed on it, others may send requests to this PE. */
static int open_reach(struct rmai_world *w) {
    int code;
    w->returned = &rmai_header(&w->job, w->job.node_my_pe)->returned[RMAI_OWN];
    w->quick_open = w->job.level != RMA_THREAD_MULTIPLE && !w->local.guard;
    set_reach(w);
    code = rmai_window_memory_choose(w);
    if (code != RMA_SUCCESS) return code;
    rmai_reach_alone(rmai_net_alone(w->net)); /* a matter of the windows, too */
    start_progress_thread(w);
    rmai_watchdog_flushes(w->watchdog, w->net);
    choose_mpi_polls(w);
    return RMA_SUCCESS;
}

/* If a rule tells where PEs are, it also tells the first PE of each node: no list is needed. */
static void forget_leaders(struct rmai_world *w) {
    if (w->job.placement == RMAI_PLACED_ANYHOW) return;
    w->leaders->list = NULL;
    w->leaders->stride = w->job.placement == RMAI_PLACED_IN_BLOCKS ? w->job.node_most : 1;
    free(w->job.leaders);
    w->job.leaders = NULL;
}

static int agree_on_reach(struct rmai_world *w, int code) {
    if (!w->job.networked) return code;
    code = rmai_consensus_watched(w, code);
    if (code == RMA_SUCCESS) rmai_net_agreed(w->net);
    if (code == RMA_SUCCESS) forget_leaders(w);
    return code;
}

static int close_reach(struct rmai_world *w) {
    rmai_mpi_polls_guess();
    rmai_watchdog_flushes(w->watchdog, NULL);
    rmai_watchdog_notes(w->watchdog, NULL, 0);
    rmai_progress_thread_end(w->progress_thread);
    rmai_reach_close();
    w->quick_open = 0;
    return RMA_SUCCESS;
}

/* For a step whose `open` returns the same code on every PE: nothing in it fails on one PE alone, or PEs agree in it.
 */
static int agreed_already(struct rmai_world *w, int code) {
    (void)w;
    return code;
}

/* All PEs open a step and agree on its outcome, or a PE that finds no way to the agreement ends the job. If all have
 * succeeded they continue with the next step. If not, they close this step, which each PE may have opened in part, and
 * those before it. If an `open` makes a collective call of MPI, a PE makes that call even if an earlier step of its own
 * has failed: otherwise the others would wait for it. In a `close`, collective calls depend only on results on which
 * all PEs have agreed. */
static const struct step {
    const char *name; /* in reports of long waits, and in errors on PEs when it has failed on another PE */
    int (*open)(struct rmai_world *w);
    int (*agree)(struct rmai_world *w, int code);
    int (*close)(struct rmai_world *w); /* or NULL */
    /* RMAI_PEERS_LATE: a PE may be in it for long without waiting for anybody, since it comes late or touches all of a
     * large heap. */
    enum rmai_peers peers;
} steps[] = {
    {"finding the node's PEs by MPI_Comm_split_type", open_facts, rmai_consensus_facts, close_node, RMAI_PEERS_LATE},
    {"making nodes by MPI_Comm_split", open_node, agree_on_layout, NULL, RMAI_PEERS_MET},
    {"reserving address space by MPI_Win_allocate_shared", open_reservation, agreed_already, close_reservation,
     RMAI_PEERS_MET},
    {"getting memory", open_memory, rmai_consensus, close_memory, RMAI_PEERS_LATE},
    {"counting processors", open_waiting, agree_on_waiting, close_waiting, RMAI_PEERS_MET},
#define CONNECTIONS 5 /* the first step that a higher thread level changes */
    {"connecting nodes by MPI_Comm_split", open_connections, agree_on_connections, close_connections, RMAI_PEERS_MET},
    {"moving global variables", rmai_globals_open, rmai_globals_agree, rmai_globals_close, RMAI_PEERS_MET},
    {"making MPI's window by MPI_Win_create", open_windows, agree_on_windows, NULL, RMAI_PEERS_MET},
    {"choosing what goes through MPI's window", open_reach, agree_on_reach, close_reach, RMAI_PEERS_MET},
};
#define N_STEPS (sizeof steps / sizeof steps[0])

/* Closes the steps below n, down to `first`. */
static int close_steps(struct rmai_world *w, size_t n, size_t first) {
    int code = RMA_SUCCESS, one;
    while (n-- > first) {
        one = steps[n].close ? steps[n].close(w) : RMA_SUCCESS;
        if (code == RMA_SUCCESS) code = one;
    }
    return code;
}

static int open_steps(struct rmai_world *w, size_t first) {
    for (size_t i = first; i < N_STEPS; i++) {
        int code;
        rmai_watchdog_step(w->watchdog, steps[i].name, steps[i].peers);
        code = steps[i].agree(w, steps[i].open(w));
        if (code != RMA_SUCCESS) {
            struct rmai_error_kept why;
            if (w->failed_pe != w->job.my_pe) rmai_error_add(" (%s)", steps[i].name);
            rmai_error_keep(&why);
            close_steps(w, i + 1, 0);
            rmai_error_restore(&why);
            return code;
        }
    }
    return RMA_SUCCESS;
}

static int release_runtime(struct rmai_world *w) {
    int code;
    if (follower) follower->end();
    rmai_report(w);
    rmai_watchdog_begin(w->watchdog, "rma_finalize", "closing windows and communicators", RMAI_PEERS_MET);
    rmai_traffic_report(w);
    rmai_reach_ended();
    code = close_steps(w, N_STEPS, 0);
    rmai_watchdog_end(w->watchdog);
    return code;
}

static int find_team_pe(const struct rmai_team *t, int i) { return i < t->n ? rmai_team_pe(t, i) : -1; }

static int find_team_number(const struct rmai_team *t) { return rmai_team_number(&rmai_world, t); }

static int start_watched(struct rmai_world *w, int required) {
    int thread;
    const int alone = rmai_process_threads(&thread, 1) == 1 && rmai_process_handlers() == 0;
    int code = rmai_launch_mpi(&w->job, required, &w->owns_mpi);
    if (code != RMA_SUCCESS) return code;
    w->failed_pe = w->job.my_pe;
    introduce_process(w);
    memset(&w->job.settings, 0, sizeof w->job.settings);
    rmai_transport_mpi_none(w->mpi);
    rmai_teams_none(w->teams);
    memset(w->contexts, 0, sizeof *w->contexts);
    memset(w->traffic, 0, sizeof *w->traffic);
    w->net = NULL;
    *w->watch = (struct rmai_watch){.job = &w->job,
                                    .sign_at = offsetof(struct rmai_header, sign),
                                    .leaders = w->leaders,
                                    .exiting = &w->exiting,
                                    .team_pe = find_team_pe,
                                    .team_number = find_team_number};
    code = open_steps(w, 0);
    if (alone && w->owns_mpi) rmai_note_threads_of_mpi(w->watch);
    if (code == RMA_SUCCESS) print_information(w);
    return code;
}

static int start_runtime(struct rmai_world *w, int required) {
    int code;
    rmai_watchdog_open(w->watchdog, w->watch);
    introduce_early();
    rmai_watchdog_begin(w->watchdog, "rma_init", "MPI_Init_thread", RMAI_PEERS_LATE);
    code = start_watched(w, required);
    rmai_watchdog_end(w->watchdog);
    return code;
}

/* ---- another interface beside MPI's windows ---- */

/* Opens the later steps anew with the level `required`. On no PE another thread is in librma, since each has had a
 * lower level. The heaps stay, and with them all that the windows have there. They have no context, and make their team
 * again. */
static int raise_level(struct rmai_world *w, int required) {
    int code;
    rmai_watchdog_begin(w->watchdog, "rma_init", "closing windows and communicators", RMAI_PEERS_MET);
    rmai_teams_clear(w);
    code = close_steps(w, N_STEPS, CONNECTIONS);
    if (required > w->job.level) w->job.level = required;
    if (code == RMA_SUCCESS) code = open_steps(w, CONNECTIONS);
    rmai_watchdog_end(w->watchdog);
    if (code == RMA_SUCCESS && follower) follower->again();
    /* The windows cannot live on, and MPI has no call that could say so. */
    if (code != RMA_SUCCESS) rma_errors_abort(code, rma_last_error());
    return code;
}

static int open_globals(struct rmai_world *w) {
    int code;
    rmai_watchdog_begin(w->watchdog, "rma_init", "moving global variables", RMAI_PEERS_MET);
    code = rmai_globals_agree(w, rmai_globals_open(w));
    if (code == RMA_SUCCESS) rmai_window_memory_globals(w);
    code = rmai_consensus(w, code);
    rmai_watchdog_end(w->watchdog);
    return code;
}

/* Makes the job what it would be without MPI's windows: global variables become symmetric, and several threads may
 * call, if any PE asks for that now. All PEs meet, as in every start. */
static int start_beside_windows(struct rmai_world *w, int required) {
    const int globals = w->job.statics_later, later = w->job.statics_mode != globals;
    int raises = required == RMA_THREAD_MULTIPLE && w->job.mpi_multiple, code = rmai_meet_last(w, "rma_init");
    w->failed_pe = w->job.my_pe;
    w->job.statics_mode = globals;
    if (code == RMA_SUCCESS && later) code = rmai_globals_room(w);
    code = rmai_consensus_level(w, code, &raises);
    if (code == RMA_SUCCESS && raises) return raise_level(w, required);
    if (code == RMA_SUCCESS && later) code = open_globals(w);
    if (code != RMA_SUCCESS && later) w->job.statics_mode = RMAI_STATICS_OFF;
    return code;
}

/* The last of the other interfaces ends: all PEs meet as in the end of the runtime, which stays for the windows. */
static int end_beside_windows(struct rmai_world *w) {
    int code, one;
    rmai_exit_user("MPI_Init");
    if (!rma_reach_.running) return RMA_SUCCESS;
    code = rmai_contexts_end(w, "rma_finalize", NULL);
    one = rmai_meet_last(w, "rma_finalize");
    return code == RMA_SUCCESS ? one : code;
}

void rma_follow_(const struct rma_follower_ *functions) { follower = functions; }

void rma_keep_mpi_(int keeps) { rmai_world.mpi_kept = keeps; }

void rma_mpi_ending_(void) {
    if (!rmai_world.mpi_kept) rmai_progress_thread_end(rmai_world.progress_thread);
}

void rma_leave_mpi_(void) {
    rmai_world.owns_mpi = 0;
    if (rma_reach_.running) choose_mpi_polls(&rmai_world);
}

int rma_starting_(void) { return rmai_world.starting; }

int rma_only_reference_(void) { return rmai_references(&rmai_world) == 1; }

/* ---- init and finalize ---- */

static int is_library_of_windows(struct dl_phdr_info *info, size_t size, void *unused) {
    const char *name = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    (void)size, (void)unused;
    return name && strcmp(name, "/librma_mpi.so") == 0;
}

/* Two copies of librma in a process would each have heaps, windows and a progress thread, and MPI's windows would know
 * nothing of the memory of the other interfaces. */
static int check_copies(void) {
    if (follower || !dl_iterate_phdr(is_library_of_windows, NULL)) return RMA_SUCCESS;
    return rmai_error(
        RMA_ERR_STATE,
        "rma_init: the program is linked with a static librma, and rma_mpi has loaded the shared one: link "
        "it with the shared library, or start it without rma_mpi");
}

static int start_first(struct rmai_world *w, int required) {
    int code;
    if (check_copies() != RMA_SUCCESS) return rmai_raise(RMA_ERR_STATE);
    w->failed_pe = w->job.my_pe = 0; /* until MPI and the other PEs tell more */
    rmai_exit_begin();
    w->starting = 1;
    code = start_runtime(w, required);
    w->starting = 0;
    if (code != RMA_SUCCESS) {
        if (w->failed_pe != w->job.my_pe) rmai_error_await_abort();
        rmai_raise(code);
        /* A lack of memory is not raised elsewhere, since a program can go on; after rma_init it cannot. */
        if (code == RMA_ERR_NO_MEM) rmai_errhandler()(code, rma_last_error());
        if (w->owns_mpi && MPI_Finalize() != MPI_SUCCESS)
            rmai_note("PE %d: MPI_Finalize failed, after rma_init had failed", w->job.my_pe);
        w->owns_mpi = 0;
        return code;
    }
    rmai_exit_watch();
    w->inits = w->held = 0;
    return RMA_SUCCESS;
}

static int init_runtime(int required, int *provided) {
    struct rmai_world *w = &rmai_world;
    const int windows = rmai_error_of_mpi(), first = w->references == 0;
    int code = RMA_SUCCESS;
    if (first) {
        code = start_first(w, required);
        if (code != RMA_SUCCESS) return code;
    } else if (rmai_running("rma_init") != RMA_SUCCESS) {
        return rmai_raise(RMA_ERR_STATE);
    } else if (!windows && rmai_references(w) == 0) {
        if (w->job.mpi_first) code = start_beside_windows(w, required);
        if (code != RMA_SUCCESS) {
            rmai_raise(code);
            if (code == RMA_ERR_NO_MEM) rmai_errhandler()(code, rma_last_error());
            return code;
        }
        rmai_exit_user(rmai_error_name("rma_init"));
    }
    if (windows)
        w->held = 1;
    else
        w->inits++;
    w->references++;
    if (first && follower) follower->begin();
    if (provided) *provided = w->job.level;
    return RMA_SUCCESS;
}

int rma_init(void) { return init_runtime(RMAI_LEVEL_UNSAID, NULL); }

/* Errors name rma_init_thread, unless a call of OpenSHMEM has called it: then they name that call. */
int rma_init_thread(int required, int *provided) {
    const int shmem = rmai_error_of_shmem("rma_init");
    int code;
    if (!shmem) rmai_error_as("rma_init_thread");
    code = required < RMA_THREAD_SINGLE || required > RMA_THREAD_MULTIPLE
               ? rmai_raise(rmai_error(RMA_ERR_ARG, "rma_init_thread: required %d is no thread level", required))
               : init_runtime(required, provided);
    if (!shmem) rmai_error_as(NULL);
    return code;
}

int rma_finalize(void) {
    struct rmai_world *w = &rmai_world;
    const int windows = rmai_error_of_mpi();
    int code = RMA_SUCCESS, over = RMA_SUCCESS, finalized = 0, one;
    if (windows ? !w->held : rmai_references(w) == 0)
        return rmai_raise(rmai_error(RMA_ERR_STATE, "rma_finalize: called more often than rma_init"));
    if (windows) w->held = 0;
    w->references--;
    if (w->held && rmai_references(w) == 0) return rmai_raise(end_beside_windows(w));
    if (w->references > 0) return RMA_SUCCESS;
    if (rma_reach_.running) {
        /* An operation that has failed is reported, and the job ends in order all the same. */
        code = rmai_contexts_end(w, "rma_finalize", NULL);
        one = rmai_quiet_default(w, "rma_finalize");
        if (code == RMA_SUCCESS) code = one;
        over = rmai_meet_last(w, "rma_finalize");
        if (over == RMA_SUCCESS) over = release_runtime(w);
    }
    if (over == RMA_SUCCESS) over = rmai_mpi(MPI_Finalized(&finalized), "rma_finalize", "MPI_Finalized");
    if (w->owns_mpi && !finalized && over == RMA_SUCCESS) {
        rmai_watchdog_begin(w->watchdog, "rma_finalize", "MPI_Finalize", RMAI_PEERS_LEAVE);
        over = rmai_mpi(MPI_Finalize(), "rma_finalize", "MPI_Finalize");
        rmai_watchdog_end(w->watchdog);
    }
    w->owns_mpi = 0;
    return rmai_raise(code != RMA_SUCCESS ? code : over);
}

void rma_abort(int code) {
    rmai_note("PE %d called rma_abort(%d)", rmai_world.job.my_pe, code);
    rmai_exit_job(code);
    abort(); /* not reached: exit does not return */
}

void rma_exit_(int code) {
    fflush(NULL);
    rmai_exit_job(code);
    abort(); /* not reached: exit does not return */
}
