/* SPDX-License-Identifier: BSD-3-Clause */
/* A PE runs until the transport has nothing for it: a test that finds nothing hands over to the scheduler. The
 * scheduler goes on with one of the PEs for which something has happened since. If there is none, virtual time goes on
 * to the next message that arrives. If none is under way either, each PE gets some more turns, since a test that finds
 * nothing is no promise to wait; if nothing comes of these, the PEs are stuck. */
#include "config.h"

#include "test/sim/network.h"
#include "base/error.h"
#include "rma.h"
#include "runtime/net/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#if defined __SANITIZE_ADDRESS__
#define ASAN 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define ASAN 1
#endif
#endif
#ifdef ASAN
#include <sanitizer/common_interface_defs.h>
#endif

#define STACK       ((size_t)256 << 10)
#define IDLE_ROUNDS 8 /* turns of all PEs, in which nothing happens, until they are stuck */

struct sim_coroutine {
    ucontext_t context;
    char *stack;
    int ready, through;
    uint64_t until;   /* when it wakes, if it sleeps; else 0 */
    void *fake_stack; /* of the address sanitizer */
};

/* A send or receive under way; a token is its address. */
struct sim_operation {
    struct sim_operation *next;                 /* in the list of posted receives */
    struct sim_operation *next_own, **own_link; /* in the list of all that its owner has begun */
    struct sim_pe *owner;
    int pe, tag;
    void *data;
    size_t len;
    int done, dropped;
    struct rmai_arrival arrival;
};

struct sim_message {
    struct sim_message *next;
    uint64_t time, order; /* when it arrives; messages of one time in the order in which they were sent */
    int from, to, tag;
    const void *data; /* in `copy`, or with the sender */
    size_t len;
    struct sim_operation *sender; /* waits for the receive, or NULL */
    unsigned char copy[];
};

/* When the last message to PE `to` arrives. */
struct sim_link {
    int to;
    uint64_t last;
};

struct sim {
    const struct sim_options *options;
    sim_program *program;
    void *context;
    struct sim_pe *pe;
    struct sim_report report;
    uint64_t random, now;
    struct sim_message **heap; /* by time and order */
    size_t n_heap, room;
    ucontext_t scheduler;
    void *fake_stack;
    const void *scheduler_stack;
    size_t scheduler_size;
    int sleepers; /* PEs that sleep */
    int happened; /* something has, since the scheduler last looked */
};

uint64_t sim_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static void *get_memory(void *old, size_t bytes) {
    void *memory = realloc(old, bytes);
    if (memory) return memory;
    fprintf(stderr, "sim: no memory for %zu bytes\n", bytes);
    abort();
}

/* ---- coroutines ---- */

static void enter_coroutine(struct sim *sim, struct sim_coroutine *c) {
#ifdef ASAN
    __sanitizer_start_switch_fiber(&sim->fake_stack, c->stack, STACK);
#endif
    swapcontext(&sim->scheduler, &c->context);
#ifdef ASAN
    __sanitizer_finish_switch_fiber(sim->fake_stack, NULL, NULL);
#endif
}

static void leave_coroutine(struct sim *sim, struct sim_coroutine *c) {
#ifdef ASAN
    __sanitizer_start_switch_fiber(&c->fake_stack, sim->scheduler_stack, sim->scheduler_size);
#endif
    swapcontext(&c->context, &sim->scheduler);
#ifdef ASAN
    __sanitizer_finish_switch_fiber(c->fake_stack, &sim->scheduler_stack, &sim->scheduler_size);
#endif
}

/* makecontext passes int: an address goes in two halves. */
static void run_coroutine(unsigned high, unsigned low) {
    struct sim_pe *pe = (struct sim_pe *)((uintptr_t)high << 32 | low);
    struct sim *sim = pe->sim;
#ifdef ASAN
    __sanitizer_finish_switch_fiber(NULL, &sim->scheduler_stack, &sim->scheduler_size);
#endif
    sim->program(pe, sim->context);
    pe->coroutine->through = 1;
    sim->happened = 1;
    for (;;) leave_coroutine(sim, pe->coroutine);
}

static void make_coroutine(struct sim_pe *pe) {
    struct sim_coroutine *c = pe->coroutine = get_memory(NULL, sizeof *c);
    *c = (struct sim_coroutine){.ready = 1};
    c->stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (c->stack == MAP_FAILED) abort();
    getcontext(&c->context);
    c->context.uc_stack.ss_sp = c->stack;
    c->context.uc_stack.ss_size = STACK;
    makecontext(&c->context, (void (*)(void))run_coroutine, 2, (unsigned)((uintptr_t)pe >> 32),
                (unsigned)(uintptr_t)pe);
}

static void free_coroutine(struct sim_pe *pe) {
    munmap(pe->coroutine->stack, STACK);
    free(pe->coroutine);
}

static void wake_pe(struct sim_pe *pe) {
    pe->coroutine->ready = 1;
    pe->sim->happened = 1;
}

/* ---- what a program may say ---- */

static void write_log(const struct sim *sim, int pe, const char *format, va_list args) {
    if (!sim->options->log) return;
    fprintf(sim->options->log, "%8llu  PE %-4d ", (unsigned long long)sim->now, pe);
    vfprintf(sim->options->log, format, args);
    putc('\n', sim->options->log);
}

void sim_log(struct sim_pe *pe, const char *format, ...) {
    va_list args;
    va_start(args, format);
    write_log(pe->sim, pe->me, format, args);
    va_end(args);
}

void sim_fail(struct sim_pe *pe, const char *format, ...) {
    struct sim *sim = pe->sim;
    va_list args;
    size_t used = (size_t)snprintf(sim->report.failure, sizeof sim->report.failure,
                                   "at %llu, PE %d: ", (unsigned long long)sim->now, pe->me);
    va_start(args, format);
    vsnprintf(sim->report.failure + used, sizeof sim->report.failure - used, format, args);
    va_end(args);
    sim_log(pe, "FAILURE %s", sim->report.failure);
    for (;;) leave_coroutine(sim, pe->coroutine);
}

void sim_sleep(struct sim_pe *pe, uint64_t units) {
    struct sim_coroutine *c = pe->coroutine;
    if (units == 0) return;
    sim_log(pe, "computes for %llu", (unsigned long long)units);
    c->until = pe->sim->now + units;
    pe->sim->sleepers++;
    while (c->until) leave_coroutine(pe->sim, c);
}

/* ---- messages under way ---- */

static int earlier(const struct sim_message *a, const struct sim_message *b) {
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static void push_message(struct sim *sim, struct sim_message *m) {
    size_t i = sim->n_heap++;
    if (sim->n_heap > sim->room) {
        sim->room = 2 * sim->room + 64;
        sim->heap = get_memory(sim->heap, sim->room * sizeof *sim->heap);
    }
    for (; i > 0 && earlier(m, sim->heap[(i - 1) / 2]); i = (i - 1) / 2) sim->heap[i] = sim->heap[(i - 1) / 2];
    sim->heap[i] = m;
}

static struct sim_message *pop_message(struct sim *sim) {
    struct sim_message *first = sim->heap[0], *last = sim->heap[--sim->n_heap];
    size_t i = 0, child;
    while ((child = 2 * i + 1) < sim->n_heap) {
        if (child + 1 < sim->n_heap && earlier(sim->heap[child + 1], sim->heap[child])) child++;
        if (!earlier(sim->heap[child], last)) break;
        sim->heap[i] = sim->heap[child];
        i = child;
    }
    sim->heap[i] = last;
    return first;
}

static uint64_t *last_arrival(struct sim_pe *pe, int to) {
    for (size_t i = 0; i < pe->n_links; i++)
        if (pe->links[i].to == to) return &pe->links[i].last;
    pe->links = get_memory(pe->links, (pe->n_links + 1) * sizeof *pe->links);
    pe->links[pe->n_links] = (struct sim_link){.to = to};
    return &pe->links[pe->n_links++].last;
}

/* ---- meeting of messages and receives ---- */

static int is_for(const struct sim_message *m, const struct sim_operation *receive) {
    return m->tag == receive->tag && (receive->pe == RMAI_ANY_PE || receive->pe == m->from);
}

static void free_operation(struct sim_operation *o) {
    *o->own_link = o->next_own;
    if (o->next_own) o->next_own->own_link = o->own_link;
    o->owner->n_operations--;
    free(o);
}

static void end_operation(struct sim_operation *o) {
    o->done = 1;
    wake_pe(o->owner);
    if (o->dropped) free_operation(o);
}

static void take_message(struct sim_operation *receive, struct sim_message *m) {
    if (m->len > receive->len) {
        fprintf(stderr, "sim: PE %d gets %zu bytes of PE %d, tag %d, where it has room for %zu\n", m->to, m->len,
                m->from, m->tag, receive->len);
        abort();
    }
    if (m->len) memcpy(receive->data, m->data, m->len);
    receive->arrival = (struct rmai_arrival){.pe = m->from, .len = m->len};
    receive->owner->n_unread--;
    if (m->sender) end_operation(m->sender);
    end_operation(receive);
    free(m);
}

static void deliver_message(struct sim *sim, struct sim_message *m) {
    struct sim_pe *pe = &sim->pe[m->to];
    struct sim_operation **receive = &pe->posted, *found;
    struct sim_message **end = &pe->unexpected;
    sim_log(pe, "gets    message %llu from PE %d", (unsigned long long)m->order, m->from);
    while (*receive && !is_for(m, *receive)) receive = &(*receive)->next;
    if ((found = *receive) != NULL) {
        *receive = found->next;
        take_message(found, m);
        return;
    }
    while (*end) end = &(*end)->next;
    m->next = NULL;
    *end = m;
}

/* ---- the transport ---- */

static struct sim_pe *pe_of(struct rmai_transport *t) { return (struct sim_pe *)(void *)t; }

static struct sim_operation *begin_operation(struct sim_pe *pe, int other, int tag, const void *data, size_t len,
                                             struct rmai_token *token) {
    struct sim_operation *o = get_memory(NULL, sizeof *o);
    *o = (struct sim_operation){.owner = pe, .pe = other, .tag = tag, .data = (void *)(uintptr_t)data, .len = len};
    o->next_own = pe->operations;
    o->own_link = &pe->operations;
    if (o->next_own) o->next_own->own_link = &o->next_own;
    pe->operations = o;
    pe->n_operations++;
    token->word = (uintptr_t)o;
    return o;
}

static int sim_send(struct rmai_transport *t, int pe, int tag, const void *data, size_t len, struct rmai_token *token) {
    struct sim_pe *from = pe_of(t);
    struct sim *sim = from->sim;
    struct sim_operation *o = begin_operation(from, pe, tag, data, len, token);
    const int eager = len <= sim->options->eager;
    struct sim_message *m = get_memory(NULL, sizeof *m + (eager ? len : 0));
    uint64_t *last = last_arrival(from, pe);
    *m = (struct sim_message){.time = sim->now + sim->options->latency,
                              .order = sim->report.messages++,
                              .from = from->me,
                              .to = pe,
                              .tag = tag,
                              .data = data,
                              .len = len,
                              .sender = eager ? NULL : o};
    if (sim->options->jitter) m->time += sim_random(&sim->random) % (sim->options->jitter + 1);
    if (m->time < *last) m->time = *last;
    *last = m->time;
    if (eager) {
        if (len) memcpy(m->copy, data, len);
        m->data = m->copy;
        o->done = 1;
    }
    sim->report.bytes += len;
    if (++sim->pe[pe].n_unread > sim->report.unread) sim->report.unread = sim->pe[pe].n_unread;
    push_message(sim, m);
    sim_log(from, "sends   %zu bytes to PE %d, tag %d: message %llu", len, pe, tag, (unsigned long long)m->order);
    return RMA_SUCCESS;
}

static int sim_receive(struct rmai_transport *t, int pe, int tag, void *data, size_t len, struct rmai_token *token) {
    struct sim_pe *to = pe_of(t);
    const struct sim_options *options = to->sim->options;
    struct sim_operation *o, **end = &to->posted;
    struct sim_message **i = &to->unexpected, *m;
    if (++to->n_receives == options->failing_receive && to->me == options->failing_pe)
        return rmai_error(RMA_ERR_MPI, "the simulated network has failed");
    o = begin_operation(to, pe, tag, data, len, token);
    while (*i && !is_for(*i, o)) i = &(*i)->next;
    if ((m = *i) != NULL) {
        *i = m->next;
        take_message(o, m);
        return RMA_SUCCESS;
    }
    while (*end) end = &(*end)->next;
    *end = o;
    return RMA_SUCCESS;
}

static int sim_test(struct rmai_transport *t, struct rmai_token *token, struct rmai_arrival *arrival) {
    struct sim_pe *pe = pe_of(t);
    struct sim_operation *o = (struct sim_operation *)token->word;
    if (!o->done) {
        pe->coroutine->ready = 0;
        leave_coroutine(pe->sim, pe->coroutine);
    }
    if (!o->done) return 0;
    if (arrival) *arrival = o->arrival;
    free_operation(o);
    token->word = 0;
    return 1;
}

static void sim_drop(struct rmai_transport *t, struct rmai_token *token, int is_receive) {
    struct sim_pe *pe = pe_of(t);
    struct sim_operation *o = (struct sim_operation *)token->word, **i = &pe->posted;
    token->word = 0;
    if (!o->done && !is_receive) {
        o->dropped = 1;
        return;
    }
    while (*i && *i != o) i = &(*i)->next;
    if (*i) *i = o->next;
    free_operation(o);
}

static const struct rmai_transport_operations operations = {
    .send = sim_send, .receive = sim_receive, .test = sim_test, .drop = sim_drop};

/* ---- PEs ---- */

static int locate(void *context, const char *call, uint64_t offset, size_t len, size_t alignment, int writes,
                  void **there, void **lease) {
    struct sim_pe *pe = context;
    const size_t end = pe->sim->options->memory;
    (void)writes;
    *lease = NULL;
    if (offset > end || len > end - offset || offset % alignment)
        return rmai_error(RMA_ERR_ADDRESS, "%s: PE %d has no %zu bytes at %#llx", call, pe->me, len,
                          (unsigned long long)offset);
    *there = pe->memory + offset;
    return RMA_SUCCESS;
}

static void end_lease(void *context, void *lease) { (void)context, (void)lease; }

static uint64_t blocks_at(const struct sim_pe *pe) { return pe->sim->options->memory - SIM_BLOCKS * SIM_BLOCK; }

static int allocate(void *context, const char *call, size_t size, uint64_t *block) {
    struct sim_pe *pe = context;
    if (size > SIM_BLOCK || !pe->free_blocks)
        return rmai_error(RMA_ERR_NO_MEM, "%s: PE %d has no %zu bytes", call, pe->me, size);
    *block = blocks_at(pe) + (uint64_t)__builtin_ctzll(pe->free_blocks) * SIM_BLOCK;
    pe->free_blocks &= pe->free_blocks - 1;
    return RMA_SUCCESS;
}

static int give_back(void *context, const char *call, uint64_t offset) {
    struct sim_pe *pe = context;
    const uint64_t i = (offset - blocks_at(pe)) / SIM_BLOCK;
    if (offset < blocks_at(pe) || offset % SIM_BLOCK || i >= SIM_BLOCKS || pe->free_blocks >> i & 1)
        return rmai_error(RMA_ERR_ADDRESS, "%s: PE %d has no block at %#llx", call, pe->me, (unsigned long long)offset);
    pe->free_blocks |= (uint64_t)1 << i;
    return RMA_SUCCESS;
}

static void read_extents(void *context, size_t extent[RMAI_POOLS]) {
    const struct sim_pe *pe = context;
    for (int i = 0; i < RMAI_POOLS; i++) extent[i] = pe->sim->options->memory;
}

static void read_waiting(void *context, char call[RMAI_WAITING_TEXT]) {
    (void)context;
    *call = 0;
}
static void wait_lasts(void *context, struct rmai_stall *stall) { (void)context, (void)stall; }
static void fatal(void *context) { sim_fail(context, "the job ends: %s", rma_last_error()); }

static void open_pe(struct sim *sim, int me) {
    struct sim_pe *pe = &sim->pe[me];
    const struct rmai_net_handlers handlers = {.context = pe,
                                               .locate = locate,
                                               .end_lease = end_lease,
                                               .allocate = allocate,
                                               .give_back = give_back,
                                               .extents = read_extents,
                                               .waiting_in = read_waiting,
                                               .wait_lasts = wait_lasts,
                                               .wait_is_over = wait_lasts,
                                               .fatal = fatal};
    *pe = (struct sim_pe){.transport = {&operations}, .sim = sim, .me = me};
    pe->job = (struct rmai_job){.my_pe = me,
                                .n_pes = sim->options->n_pes,
                                .my_node = me,
                                .n_nodes = sim->options->n_pes,
                                .node_n_pes = 1,
                                .node_pes = &pe->me,
                                .networked = 1};
    make_coroutine(pe);
    if (rmai_net_open(&pe->net, &pe->job, &pe->transport, &pe->traffic, &handlers, 0) != RMA_SUCCESS) {
        fprintf(stderr, "sim: PE %d: %s\n", me, rma_last_error());
        abort();
    }
    rmai_pending_open(&pe->net, &pe->set, &pe->nothing_pending, &pe->nothing_pending);
    if (sim->options->memory) {
        pe->memory = get_memory(NULL, sim->options->memory);
        memset(pe->memory, 0, sim->options->memory);
        pe->free_blocks = UINT64_MAX;
    }
}

static void close_pe(struct sim *sim, int me) {
    struct sim_pe *pe = &sim->pe[me];
    if (!pe->coroutine->through) pthread_mutex_trylock(&pe->net.lock), rmai_net_unlock(&pe->net); /* it may hold it */
    rmai_pending_close(&pe->set);
    rmai_net_close(&pe->net);
    sim->report.left += pe->n_operations + (int)pe->n_unread;
    while (pe->operations) free_operation(pe->operations);
    for (struct sim_message *m = pe->unexpected, *next; m; m = next) {
        next = m->next;
        free(m);
    }
    free_coroutine(pe);
    free(pe->links);
    free(pe->memory);
}

/* ---- the scheduler ---- */

/* Gives a turn to each PE that is ready, or with `all` to each that is not through and does not sleep; the first of
 * them is a random one. */
static int run_pes(struct sim *sim, int all) {
    const int n = sim->options->n_pes, first = (int)(sim_random(&sim->random) % (uint64_t)n);
    int ran = 0;
    for (int k = 0; k < n && !*sim->report.failure; k++) {
        struct sim_coroutine *c = sim->pe[(first + k) % n].coroutine;
        if (c->through || c->until || (!all && !c->ready)) continue;
        enter_coroutine(sim, c);
        sim->report.steps++;
        ran++;
    }
    return ran;
}

/* The PE that wakes first, or NULL. */
static struct sim_coroutine *next_sleeper(const struct sim *sim) {
    struct sim_coroutine *first = NULL;
    for (int i = 0; sim->sleepers && i < sim->options->n_pes; i++) {
        struct sim_coroutine *c = sim->pe[i].coroutine;
        if (c->until && (!first || c->until < first->until)) first = c;
    }
    return first;
}

/* Lets virtual time go on to the next event: a message that arrives, or a PE that wakes. Returns 0 if there is none. */
static int next_event(struct sim *sim) {
    struct sim_coroutine *sleeper = next_sleeper(sim);
    struct sim_message *m;
    if (sleeper && (!sim->n_heap || sleeper->until <= sim->heap[0]->time)) {
        sim->now = sleeper->until;
        sleeper->until = 0;
        sim->sleepers--;
        sleeper->ready = 1;
        return 1;
    }
    if (!sim->n_heap) return 0;
    m = pop_message(sim);
    sim->now = m->time;
    sim->report.steps++;
    deliver_message(sim, m);
    return 1;
}

static int count_unfinished(const struct sim *sim) {
    int n = 0;
    for (int i = 0; i < sim->options->n_pes; i++) n += !sim->pe[i].coroutine->through;
    return n;
}

static void schedule(struct sim *sim) {
    int idle = 0;
    while (idle < IDLE_ROUNDS && !*sim->report.failure) {
        if (run_pes(sim, 0) || next_event(sim)) {
            idle = 0;
        } else if (count_unfinished(sim) == 0) {
            return;
        } else {
            sim->happened = 0;
            run_pes(sim, 1);
            idle = sim->happened ? 0 : idle + 1;
        }
    }
}

struct sim_report sim_run(const struct sim_options *options, sim_program *program, void *context) {
    struct sim sim = {.options = options, .program = program, .context = context, .random = options->seed};
    sim.pe = get_memory(NULL, (size_t)options->n_pes * sizeof *sim.pe);
    for (int i = 0; i < options->n_pes; i++) open_pe(&sim, i);
    schedule(&sim);
    sim.report.time = sim.now;
    sim.report.stuck = count_unfinished(&sim);
    if (*sim.report.failure)
        return sim.report; /* what is under way refers to memory of PEs that have stopped: it stays */
    while (sim.n_heap) free(pop_message(&sim)); /* nobody has waited for these */
    for (int i = 0; i < options->n_pes; i++) close_pe(&sim, i);
    free(sim.heap);
    free(sim.pe);
    return sim.report;
}
