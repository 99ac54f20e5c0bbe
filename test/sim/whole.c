/* SPDX-License-Identifier: BSD-3-Clause */
/* The library's state of each PE, and replacements for the library's use of MPI and of the system. */
#include "config.h"

#include "test/sim/whole.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/mpi.h"
#include "base/topology.h"
#include "heap/reserve.h"
#include "heap/statics.h"
#include "runtime/attach.h"
#include "runtime/context.h"
#include "runtime/life/exit.h"
#include "runtime/header.h"
#include "runtime/job/launch.h"
#include "runtime/job/traffic.h"
#include "runtime/net/group.h"
#include "runtime/net/flow.h"
#include "runtime/net/progress_thread.h"
#include "runtime/net/state.h"
#include "runtime/node/barrier.h"
#include "runtime/node/service.h"
#include "runtime/reach.h"
#include "runtime/team.h"
#include "runtime/transport/transport_mpi.h"
#include "runtime/watch/stall.h"
#include "runtime/watch/watchdog.h"
#include "runtime/world.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CONSENSUS_TAG 30000
#define CONTEXT_LINES 4 /* that are exchanged: a simulated program makes no more contexts */
#define NODE_MEMORY   ((size_t)1 << 30)

struct rmai_world rmai_world;

/* The library's state of one PE. */
struct whole {
    struct rmai_world world;
    struct rma_reach_ reach;
    struct rma_context_ line[CONTEXT_LINES];
    union {
        struct rmai_transport_mpi mpi; /* as the world calls it: */
        struct sim_transport sim;      /* it is the simulated one, which begins with the same struct */
    } transport;
    struct rmai_attachments attachments;
    struct rmai_barrier barrier;
    struct rmai_contexts contexts;
    struct rmai_group leaders;
    struct rmai_progress_thread progress_thread;
    struct rmai_service service;
    struct rmai_statics statics;
    struct rmai_teams teams;
    struct rmai_traffic traffic;
    struct rmai_watch watch;
    struct rmai_watchdog watchdog;
    unsigned good_commits, bad_commits; /* see sim_refuse_commits */
    char who[40];
    char note[1024]; /* its last one */
};

/* The memory that the PEs of a node share. */
struct node {
    char *base;
    size_t stride;
    int mapped; /* by so many of its PEs */
};

static struct {
    const struct sim_options *options;
    struct sim_pe *loaded; /* whose state the library's variables hold; NULL: nobody's */
    struct whole *whole;   /* of each PE */
    struct node *node;     /* n_nodes, of node_pes PEs each; the last one may have fewer */
    int n_nodes, node_pes;
} all;

static struct whole *whole_of(const struct sim_pe *pe) { return pe->layer; }
static struct whole *here(void) { return whole_of(sim_here()); }
static struct node *node_here(void) { return &all.node[sim_here()->me / all.node_pes]; }

/* ---- exchanging the library's variables ---- */

/* The world but for its reservation's control group, which is long, and is not used here. */
#define GROUP_AT  offsetof(struct rmai_world, reservation.group)
#define GROUP_END (GROUP_AT + sizeof(struct rmai_cgroup))

static void copy_world(struct rmai_world *to, const struct rmai_world *from) {
    memcpy(to, from, GROUP_AT);
    memcpy((char *)to + GROUP_END, (const char *)from + GROUP_END, sizeof *to - GROUP_END);
}

static void save_loaded(void) {
    struct whole *h;
    if (!all.loaded) return;
    h = whole_of(all.loaded);
    copy_world(&h->world, &rmai_world);
    h->reach = rma_reach_;
    memcpy(h->line, rmai_context_lines, sizeof h->line);
}

static void take_whole_turn(struct sim_pe *pe) {
    struct whole *h = whole_of(pe);
    if (all.loaded == pe) return;
    save_loaded();
    all.loaded = pe;
    copy_world(&rmai_world, &h->world);
    rma_reach_ = h->reach;
    memcpy(rmai_context_lines, h->line, sizeof h->line);
}

static int is_setting(const char *entry) {
    return strncmp(entry, "RMA_", 4) == 0 || strncmp(entry, "SHMEM_", 6) == 0 || strncmp(entry, "SMA_", 4) == 0;
}

/* What the caller's environment says would change what a seed does. */
static void forget_settings(void) {
    char **e = environ;
    while (*e) {
        char name[128];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*e, "="), *e);
        e = is_setting(*e) && unsetenv(name) == 0 ? environ : e + 1;
    }
}

static void begin_wholes(struct sim_pe *pe, const struct sim_options *options) {
    static struct rma_reach_ nowhere;
    const int node_pes = options->node_pes ? options->node_pes : 1;
    all.options = options;
    all.loaded = NULL;
    all.node_pes = node_pes;
    /* In one piece, of which what is never used stays untouched. */
    all.whole = calloc((size_t)options->n_pes, sizeof *all.whole);
    if (!all.whole) all.whole = sim_memory(NULL, (size_t)options->n_pes * sizeof *all.whole); /* tells, and ends */
    all.n_nodes = (options->n_pes + node_pes - 1) / node_pes;
    all.node = calloc((size_t)all.n_nodes, sizeof *all.node);
    forget_settings();
    for (const char *const *s = options->settings; s && *s; s++) putenv((char *)(uintptr_t)*s);
    nowhere.contexts = rmai_context_lines;
    nowhere.contexts_mask = RMAI_CONTEXTS - 1;
    for (int i = 0; i < options->n_pes; i++) {
        struct whole *h = &all.whole[i];
        h->reach = nowhere;
        h->world.attachments = &h->attachments;
        h->world.barrier = &h->barrier;
        h->world.contexts = &h->contexts;
        h->world.leaders = &h->leaders;
        h->world.mpi = &h->transport.mpi;
        h->world.progress_thread = &h->progress_thread;
        h->world.service = &h->service;
        h->world.statics = &h->statics;
        h->world.teams = &h->teams;
        h->world.traffic = &h->traffic;
        h->world.watch = &h->watch;
        h->world.watchdog = &h->watchdog;
        sim_transport_open(&h->transport.sim, &pe[i]);
        pe[i].layer = h;
    }
}

static void describe_whole(struct sim_pe *pe, char *text, size_t room) {
    const struct rmai_world *w = sim_world(pe);
    struct rmai_sign sign = {.in = ""};
    if (w->job.spaces) rmai_sign_read(&rmai_header(&w->job, w->job.node_my_pe)->sign, &sign);
    snprintf(text, room, " in %s,", sign.in[0] ? sign.in : "no call that has lasted");
}

/* A PE that waits until another one is through with a turn is not woken for each turn before (runtime/node/mailbox).
 * The guest of a biased lock wakes nobody: its visits are short. */
static int may_miss_wakeup(const void *word) {
    const struct node *node = node_here();
    size_t at = (size_t)((const char *)word - node->base);
    if (here()->world.net && word == &here()->world.net->bias.guest) return 1;
    if (!node->base || at >= node->stride * (size_t)all.node_pes) return 0;
    at %= node->stride;
    return at >= RMAI_MAILBOXES_AT && (at - RMAI_MAILBOXES_AT) / sizeof(struct rmai_mailbox) < RMAI_TEAMS &&
           (at - RMAI_MAILBOXES_AT) % sizeof(struct rmai_mailbox) ==
               offsetof(struct rmai_mailbox, through) + offsetof(struct rmai_event, value);
}

static void close_whole(struct sim_pe *pe) { pe->layer = NULL; }

/* The settings stay until the next run begins, which forgets them. */
static void end_wholes(void) {
    for (int i = 0; i < all.n_nodes; i++)
        if (all.node[i].base) munmap(all.node[i].base, all.node[i].stride * (size_t)all.node_pes);
    free(all.node);
    free(all.whole);
    all.loaded = NULL;
    memset(&rmai_world, 0, sizeof rmai_world);
    rmai_reach_close();
}

/* The PE whose turn it is flushes a window. The watchdog sees that a flush lasts if the net has it in its list: the
 * note describes the first of these. The probe of the windows, at init, has a watch of its own. */
static int is_unwatched(const char *call, int pe) {
    struct rmai_flush_seen seen = {0};
    if (!rmai_world.net || strcmp(call, "the window's probe") == 0) return 0;
    rmai_net_flush_lasts(rmai_world.net, &seen);
    if (!seen.version || !rmai_world.net->flushing || seen.pe != rmai_world.net->flushing->pe) return 1;
    for (const struct rmai_flushing *f = rmai_world.net->flushing; f; f = f->next)
        if (f->pe == pe) return 0;
    return 1;
}

const struct sim_layer sim_whole = {.begin = begin_wholes,
                                    .turn = take_whole_turn,
                                    .describe = describe_whole,
                                    .may_miss_wakeup = may_miss_wakeup,
                                    .is_unwatched = is_unwatched,
                                    .close = close_whole,
                                    .end = end_wholes};

const struct rmai_world *sim_world(struct sim_pe *pe) { return all.loaded == pe ? &rmai_world : &whole_of(pe)->world; }

/* ---- base/mpi: agreements of all PEs, by dissemination on the simulated network ---- */

int rmai_mpi_failed_(int mpi_code, const char *from, const char *call) {
    return rmai_error(RMA_ERR_MPI, "%s: %s failed with code %d", from, call, mpi_code);
}

int rmai_mpi_unheard(char *text, size_t room) {
    (void)text, (void)room;
    return 0;
}

void rmai_mpi_heard(void) {}

static void take_least(void *to, const void *from, size_t bytes) {
    struct rmai_least *mine = to;
    const struct rmai_least *other = from;
    for (size_t i = 0; i < bytes / sizeof *mine; i++)
        if (other[i].value < mine[i].value || (other[i].value == mine[i].value && other[i].pe < mine[i].pe))
            mine[i] = other[i];
}

void rmai_mpi_least(MPI_Comm comm, struct rmai_least *least, int n, const char *from) {
    int code;
    (void)comm, (void)from;
    for (int i = 0; i < n; i++) least[i].pe = sim_here()->me;
    code = sim_merge(&here()->transport.sim.transport, CONSENSUS_TAG, least, (size_t)n * sizeof *least, take_least);
    if (code != RMA_SUCCESS) rma_errors_abort(code, rma_last_error());
}

/* Only of counters (RMA_STATS), and of what is not simulated. */
void rmai_mpi_merge(MPI_Comm comm, void *data, int n, MPI_Datatype type, MPI_Op op, const char *from) {
    (void)comm, (void)data, (void)n, (void)type, (void)op;
    fprintf(stderr, "sim: %s merges by MPI what the simulator cannot\n", from);
    abort();
}

/* ---- runtime/job/launch ---- */

int rmai_launch_mpi(struct rmai_job *job, int required, int *owns_mpi) {
    *owns_mpi = 0;
    job->my_pe = sim_here()->me;
    job->n_pes = all.options->n_pes;
    job->mpi_multiple = 1;
    job->level = required == RMAI_LEVEL_UNSAID ? RMA_THREAD_SINGLE : required;
    return RMA_SUCCESS;
}

int rmai_launch_facts(struct rmai_job *job, MPI_Comm *node) {
    *node = MPI_COMM_NULL;
    return rmai_settings_read(&job->settings, NODE_MEMORY);
}

int rmai_launch_node(struct rmai_job *job, MPI_Comm *node) {
    const int first = job->my_pe / all.node_pes * all.node_pes;
    (void)node;
    job->node_n_pes = job->n_pes - first < all.node_pes ? job->n_pes - first : all.node_pes;
    job->node_my_pe = job->my_pe - first;
    job->node_pes = sim_memory(NULL, (size_t)job->node_n_pes * sizeof *job->node_pes);
    for (int q = 0; q < job->node_n_pes; q++) job->node_pes[q] = first + q;
    return RMA_SUCCESS;
}

/* ---- heap/reserve ---- */

/* The PEs are threads of one process: no two heaps can have the same address. */
unsigned rmai_rooms_find(size_t stride, int n_slots, int slot, size_t heap) {
    (void)stride, (void)n_slots, (void)slot, (void)heap;
    return 0;
}

char *rmai_room_take(int i, size_t stride, int n_slots, int slot, size_t heap) {
    (void)i, (void)stride, (void)n_slots, (void)slot, (void)heap;
    return NULL;
}

int rmai_reserve(struct rmai_reservation *r, MPI_Comm comm, size_t stride, size_t heap, char *room) {
    struct node *node = node_here();
    (void)comm, (void)heap, (void)room;
    r->stride = stride;
    r->n_slots = rmai_world.job.node_n_pes;
    r->window = MPI_WIN_NULL;
    if (!node->base) {
        node->base = mmap(NULL, stride * (size_t)all.node_pes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (node->base == MAP_FAILED) {
            fprintf(stderr, "sim: no address space for the heaps of %d PEs, %zu bytes each\n", all.options->n_pes,
                    stride);
            exit(2);
        }
        node->stride = stride;
    }
    node->mapped++;
    r->node_base = node->base;
    return RMA_SUCCESS;
}

int rmai_unreserve(struct rmai_reservation *r, const char *call) {
    (void)call;
    struct node *node = node_here();
    if (r->node_base && --node->mapped == 0) {
        munmap(node->base, node->stride * (size_t)all.node_pes);
        node->base = NULL;
    }
    r->node_base = NULL;
    return RMA_SUCCESS;
}

void sim_refuse_commits(struct sim_pe *pe, unsigned good, unsigned bad) {
    whole_of(pe)->good_commits = good;
    whole_of(pe)->bad_commits = bad;
}

int rmai_commit(const struct rmai_reservation *r, void *start, size_t len) {
    struct whole *h = here();
    (void)r, (void)start;
    if (h->bad_commits == 0) return RMA_SUCCESS;
    if (h->good_commits > 0) {
        h->good_commits--;
        return RMA_SUCCESS;
    }
    h->bad_commits--;
    sim_log(sim_here(), "has no memory for %zu bytes", len);
    return rmai_error(RMA_ERR_NO_MEM, "%zu bytes more needed, which the simulation does not give", len);
}

int rmai_commit_sparing(const struct rmai_reservation *r, void *start, size_t len, const char *setting) {
    (void)setting;
    return rmai_commit(r, start, len);
}

void rmai_uncommit(const struct rmai_reservation *r, void *start, size_t len) { (void)r, (void)start, (void)len; }

int rmai_commit_possible(const struct rmai_reservation *r, size_t bytes) {
    (void)r, (void)bytes;
    return 1;
}

const char *rmai_commit_headroom(const struct rmai_reservation *r, char text[RMAI_HEADROOM_TEXT]) {
    (void)r;
    return strcpy(text, "there is room");
}

/* ---- runtime/transport/transport_mpi ---- */

void rmai_transport_mpi_none(struct rmai_transport_mpi *m) { (void)m; }

/* Without windows there is nothing to try out on a pair. */
static void find_pairs(struct rmai_pair pairs[RMAI_PAIR_KINDS]) {
    struct rmai_seat *seats = sim_memory(NULL, (size_t)all.n_nodes * sizeof *seats);
    for (int i = 0; i < all.n_nodes; i++)
        seats[i] = (struct rmai_seat){.machine = all.options->windows.near ? 0 : (unsigned)i, .pe = i * all.node_pes};
    rmai_pairs_find(seats, all.n_nodes, pairs);
    free(seats);
}

int rmai_transport_mpi_open(struct rmai_transport_mpi *m, int is_leader, int one_host, int *n_nodes, int *my_node,
                            int **leaders, struct rmai_pair pairs[RMAI_PAIR_KINDS]) {
    (void)m, (void)one_host;
    if (!is_leader) return RMA_SUCCESS;
    *n_nodes = all.n_nodes;
    *my_node = sim_here()->me / all.node_pes;
    *leaders = sim_memory(NULL, (size_t)*n_nodes * sizeof **leaders);
    for (int i = 0; i < *n_nodes; i++) (*leaders)[i] = i * all.node_pes;
    if (all.options->windows.there) find_pairs(pairs);
    return RMA_SUCCESS;
}

int rmai_transport_mpi_close(struct rmai_transport_mpi *m) {
    (void)m;
    return RMA_SUCCESS;
}

unsigned rmai_transport_mpi_machine_id(void) { return 2; }

int rmai_transport_mpi_machine(int one_machine, uint64_t *bits, int n_bits, int *n) {
    (void)one_machine, (void)bits, (void)n_bits;
    if (all.options->crowded) *n = all.options->n_pes;
    return RMA_SUCCESS;
}

/* ---- runtime/life/exit, and the end of a job by an error ---- */

void rmai_exit_begin(void) {}
void rmai_exit_watch(void) {}
void rmai_exit_user(const char *call) { (void)call; }
void rmai_exit_job(int code) {
    (void)code;
    sim_end_job(sim_here(), rma_last_error());
}

void __real_rma_errors_abort(int code, const char *text);
void __wrap_rma_errors_abort(int code, const char *text);
void __wrap_rma_errors_abort(int code, const char *text) {
    if (!sim_here()) __real_rma_errors_abort(code, text);
    sim_end_job(sim_here(), text);
}

void __wrap_rmai_note(const char *format, ...) RMAI_PRINTF(1, 2);
void __wrap_rmai_note(const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!sim_here()) {
        fprintf(stderr, "librma: %s\n", text);
        return;
    }
    sim_log(sim_here(), "librma: %s", text);
    strcpy(here()->note, text);
}

/* ---- runtime/net/siblings: the PEs of the host ---- */

/* Nodes of one machine are of one host, too. */
static int count_siblings(int (*is)(const struct sim_pe *pe), const char *what, char *text, size_t room) {
    const int all_nodes = all.options->windows.near, n = all.options->n_pes;
    const int from = all_nodes ? 0 : sim_here()->me / all.node_pes * all.node_pes;
    int found = 0;
    size_t used = 0;
    for (int i = from; i < n && (all_nodes || i < from + all.node_pes); i++) {
        if (!is(sim_of(sim_here(), i))) continue;
        found++;
        if (used < room) used += (size_t)snprintf(text + used, room - used, "%sPE %d %s", used ? ", " : "", i, what);
    }
    return found;
}

static int is_dead(const struct sim_pe *pe) { return pe->dead; }
static int is_stopped(const struct sim_pe *pe) { return pe->stopped && !pe->dead; }

int __wrap_rmai_siblings_dead(char *text, size_t room);
int __wrap_rmai_siblings_dead(char *text, size_t room) {
    return sim_here() ? count_siblings(is_dead, "has died", text, room) : 0;
}

int __wrap_rmai_siblings_stopped(char *text, size_t room);
int __wrap_rmai_siblings_stopped(char *text, size_t room) {
    return sim_here() ? count_siblings(is_stopped, "is stopped", text, room) : 0;
}

/* It comes after a note that tells why. */
void __wrap_rmai_siblings_abort(int code);
void __wrap_rmai_siblings_abort(int code) {
    (void)code;
    sim_end_job(sim_here(), here()->note);
}

/* The simulator's own output is no PE's: whether somebody has read it must change no run. */
void __wrap_rmai_process_let_read(void);
void __wrap_rmai_process_let_read(void) {}

/* Who speaks: the library keeps that in a variable of the process, which is the last PE's that went through rma_init.
 * There is no host, so that a run has the same words on all machines. */
const char *__real_rmai_error_who(void);
const char *__wrap_rmai_error_who(void);
const char *__wrap_rmai_error_who(void) {
    struct whole *h;
    if (!sim_here()) return __real_rmai_error_who();
    h = here();
    snprintf(h->who, sizeof h->who, "PE %d of %d", sim_here()->me, all.options->n_pes);
    return h->who;
}

/* ---- what else the library finds out of the system ---- */

void __wrap_rmai_statics_find(struct rmai_statics *s);
void __wrap_rmai_statics_find(struct rmai_statics *s) { *s = (struct rmai_statics){.program = 2}; }

int __wrap_rmai_cpu_quota(void);
int __wrap_rmai_cpu_quota(void) { return INT_MAX; }

size_t __wrap_rmai_node_memory(void);
size_t __wrap_rmai_node_memory(void) { return NODE_MEMORY; }

void __wrap_rmai_affinity(struct rmai_cpus *cpus);
void __wrap_rmai_affinity(struct rmai_cpus *cpus) {
    const unsigned i = all.options->crowded ? 0 : (unsigned)sim_here()->me % (RMAI_CPU_WORDS * 64);
    memset(cpus, 0, sizeof *cpus);
    cpus->word[i / 64] |= (uint64_t)1 << i % 64;
}

/* rma_init attaches to MPI's end, which does not come here. */
int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *end, int *keyval,
                           void *extra) {
    (void)copy, (void)end, (void)extra;
    *keyval = 1;
    return MPI_SUCCESS;
}
int MPI_Comm_set_attr(MPI_Comm comm, int keyval, void *value) {
    (void)comm, (void)keyval, (void)value;
    return MPI_SUCCESS;
}
int MPI_Comm_free_keyval(int *keyval) {
    (void)keyval;
    return MPI_SUCCESS;
}
