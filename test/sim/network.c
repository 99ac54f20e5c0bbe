/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages and receives. A message is matched with its receive when it arrives, or when the receive is posted. A test
 * that finds nothing is an idle poll: the task's turn ends, until a message for its PE is matched. */
#include "config.h"

#include "test/sim/network.h"
#include "base/error.h"
#include "rma.h"
#include "test/sim/windows.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUIET 1000000000u
#define LIMIT 60000000000u

/* A send or receive under way; a token is its address. */
struct sim_operation {
    struct sim_operation *next;                 /* in the list of posted receives */
    struct sim_operation *next_own, **own_link; /* in the list of all that its owner has begun */
    struct sim_pe *owner;
    int pe, tag;
    void *data;
    size_t len;
    int done, dropped;
    int receives;
    int moving; /* its data are under way */
    struct rmai_arrival arrival;
};

struct sim_message {
    struct sim_message *next;
    struct sim *sim;
    uint64_t number, time; /* when it arrives */
    uint64_t depth;
    int from, to, tag;
    const void *data; /* in `copy`, or with the sender */
    size_t len;
    struct sim_operation *sender;   /* waits for the receive, or NULL */
    struct sim_operation *receiver; /* of a long message whose data are under way */
    unsigned char copy[];
};

/* When the last message to PE `to` arrives. */
struct sim_link {
    int to, cut;
    uint64_t last;
};

struct sim {
    struct sim_scheduler scheduler;
    const struct sim_options *options;
    sim_program *program;
    void *context;
    struct sim_pe *pe;
    struct sim_report report;
    uint64_t marked;           /* depths up to here are of before sim_gather */
    int gathered;              /* PEs in sim_gather, */
    unsigned gatherings;       /* and how often all were */
    struct sim_report counted; /* up to then */
};

/* ---- who is who ---- */

struct sim_pe *sim_here(void) {
    return sim_self() ? sim_self()->pe : NULL;
}
struct sim_pe *sim_of(struct sim_pe *pe, int i) {
    return &pe->sim->pe[i];
}
const struct sim_options *sim_options_of(const struct sim_pe *pe) { return pe->sim->options; }

int sim_is_cut_short(const struct sim_pe *pe) {
    const struct sim_report *report = &pe->sim->report;
    return report->failed || report->ended || report->stuck;
}

int sim_pe_stands(const struct sim_pe *pe) { return !pe->dead && !pe->stopped; }

void sim_pe_turn(struct sim_pe *pe) { pe->sim->options->layer->turn(pe); }

static uint64_t time_here(const struct sim *sim) { return sim_self() ? sim_time() : sim->scheduler.now; }

struct sim_scheduler *sim_scheduler_of(struct sim_pe *pe) {
    return &pe->sim->scheduler;
}
uint64_t sim_now(struct sim_pe *pe) { return time_here(pe->sim); }

/* ---- what a program may say ---- */

static void trace_event(const struct sim *sim, struct sim_trace event) {
    if (!sim->options->trace) return;
    event.time = time_here(sim);
    sim->options->trace(sim->options->trace_context, &event);
}

static void trace_text(struct sim_pe *pe, const char *format, va_list args) {
    char text[1024];
    if (!pe->sim->options->trace) return;
    vsnprintf(text, sizeof text, format, args);
    trace_event(pe->sim, (struct sim_trace){.pe = pe->me, .kind = SIM_SAYS, .text = text});
}

void sim_log(struct sim_pe *pe, const char *format, ...) {
    va_list args;
    va_start(args, format);
    trace_text(pe, format, args);
    va_end(args);
}

void sim_fail(struct sim_pe *pe, const char *format, ...) {
    struct sim_report *report = &pe->sim->report;
    va_list args;
    size_t used =
        (size_t)snprintf(report->why, sizeof report->why, "at %llu, PE %d: ", (unsigned long long)sim_time(), pe->me);
    va_start(args, format);
    vsnprintf(report->why + used, sizeof report->why - used, format, args);
    va_end(args);
    report->failed = 1;
    sim_log(pe, "FAILURE %s", report->why);
    sim_stop_here();
}

static int is_held_inside(const struct sim_pe *pe) {
    return pe->merging || (pe->flushing && sim_windows_wait_for_lost(pe));
}

void sim_end_job(struct sim_pe *pe, const char *why) {
    struct sim_report *report = &pe->sim->report;
    snprintf(report->why, sizeof report->why, "%s", why);
    report->ended = 1 + pe->me;
    for (int i = 0; i < pe->sim->options->n_pes && i < 64; i++)
        report->inside |= (uint64_t)is_held_inside(&pe->sim->pe[i]) << i;
    report->time = sim_time();
    sim_log(pe, "ends the job: %s", why);
    sim_stop_here();
}

void sim_expect(struct sim_pe *pe, const char *what, int code) {
    if (code != RMA_SUCCESS && pe->sim->options->n_injections) sim_end_job(pe, rma_last_error());
    if (code != RMA_SUCCESS) sim_fail(pe, "%s: %d: %s", what, code, rma_last_error());
}

void sim_sleep(struct sim_pe *pe, uint64_t time) {
    if (time == 0) return;
    sim_log(pe, "computes for %llu ns", (unsigned long long)time);
    sim_spend(time);
    sim_wait(0);
    pe->sim->scheduler.active = sim_time();
}

void sim_missed_wakeup(struct sim_pe *pe, const void *word) {
    if (pe->sim->options->layer->may_miss_wakeup(word)) return;
    pe->sim->report.missed_wakeups++;
    sim_log(pe, "was not woken, although the word on which it slept has changed");
}

/* ---- links ---- */

static struct sim_link *link_to(struct sim_pe *pe, int to) {
    for (size_t i = 0; i < pe->n_links; i++)
        if (pe->links[i].to == to) return &pe->links[i];
    pe->links = sim_memory(pe->links, (pe->n_links + 1) * sizeof *pe->links);
    pe->links[pe->n_links] = (struct sim_link){.to = to};
    return &pe->links[pe->n_links++];
}

int sim_link_is_cut(const struct sim_pe *pe, int to) {
    for (size_t i = 0; i < pe->n_links; i++)
        if (pe->links[i].to == to) return pe->links[i].cut;
    return 0;
}

/* Without jitter messages of one PE keep their order by themselves, and links need not be searched. */
static int has_links(const struct sim *sim) { return sim->options->times.jitter || sim->options->n_injections; }

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
    struct sim_pe *pe = o->owner;
    o->done = 1;
    o->moving = 0;
    if (o->dropped) free_operation(o);
    pe->sim->scheduler.active = pe->sim->scheduler.now;
    for (struct sim_task *t = pe->tasks; t; t = t->next) sim_wake_polling(t);
}

/* The data are there. */
static void complete_message(struct sim_operation *receive, struct sim_message *m) {
    struct sim_pe *pe = receive->owner;
    if (m->len && !receive->dropped) memcpy(receive->data, m->data, m->len);
    receive->arrival = (struct rmai_arrival){.pe = m->from, .len = m->len};
    pe->n_unread--;
    pe->n_taken++;
    if (pe->depth < m->depth) pe->depth = m->depth;
    if (pe->depth - pe->sim->marked > pe->sim->report.rounds && pe->depth > pe->sim->marked)
        pe->sim->report.rounds = pe->depth - pe->sim->marked;
    if (m->sender) end_operation(m->sender);
    end_operation(receive);
    free(m);
}

static void complete_long_message(void *context) {
    struct sim_message *m = context;
    complete_message(m->receiver, m);
}

/* The receive of a long message asks for its data, which then take their way. */
static void take_message(struct sim_operation *receive, struct sim_message *m) {
    const struct sim_times *times = &m->sim->options->times;
    uint64_t rest;
    if (m->len > receive->len) {
        fprintf(stderr, "sim: PE %d gets %zu bytes of PE %d, tag %d, where it has room for %zu\n", m->to, m->len,
                m->from, m->tag, receive->len);
        abort();
    }
    rest = m->sender ? 2 * times->latency + m->len * times->kib / 1024 : 0;
    if (rest == 0) {
        complete_message(receive, m);
        return;
    }
    m->receiver = receive;
    receive->moving = m->sender->moving = 1;
    sim_at(&m->sim->scheduler, time_here(m->sim) + rest, complete_long_message, m);
}

static void deliver_message(void *context) {
    struct sim_message *m = context, **end;
    struct sim_pe *pe = &m->sim->pe[m->to];
    struct sim_operation **receive = &pe->posted, *found;
    m->sim->scheduler.steps++;
    m->sim->scheduler.active = m->sim->scheduler.now;
    if (pe->dead) {
        trace_event(m->sim, (struct sim_trace){.pe = m->to, .kind = SIM_LOST, .other = m->from, .message = m->number});
        free(m);
        return;
    }
    trace_event(m->sim, (struct sim_trace){.pe = m->to, .kind = SIM_ARRIVES, .other = m->from, .message = m->number});
    while (*receive && !is_for(m, *receive)) receive = &(*receive)->next;
    if ((found = *receive) != NULL) {
        *receive = found->next;
        take_message(found, m);
        return;
    }
    for (end = &pe->unexpected; *end; end = &(*end)->next) continue;
    m->next = NULL;
    *end = m;
}

/* ---- the transport ---- */

static void drive_progress(struct sim_pe *pe) {
    if (pe->windows) sim_windows_serve(pe);
}

static struct sim_operation *begin_operation(struct sim_pe *pe, int other, int tag, const void *data, size_t len,
                                             struct rmai_token *token) {
    struct sim_operation *o = sim_memory(NULL, sizeof *o);
    *o = (struct sim_operation){.owner = pe, .pe = other, .tag = tag, .data = (void *)(uintptr_t)data, .len = len};
    o->next_own = pe->operations;
    o->own_link = &pe->operations;
    if (o->next_own) o->next_own->own_link = &o->next_own;
    pe->operations = o;
    pe->n_operations++;
    token->word = (uintptr_t)o;
    return o;
}

static int send_message(struct rmai_transport *t, int pe, int tag, const void *data, size_t len,
                        struct rmai_token *token) {
    struct sim_pe *from = sim_pe_of(t);
    struct sim *sim = from->sim;
    const struct sim_times *times = &sim->options->times;
    struct sim_operation *o = begin_operation(from, pe, tag, data, len, token);
    const int eager = len <= times->eager;
    const uint64_t wire = eager ? len * times->kib / 1024 : 0;
    struct sim_message *m = sim_memory(NULL, sizeof *m + (eager ? len : 0));
    uint64_t departs;
    drive_progress(from);
    from->n_sent++;
    sim_poll_over();
    sim_spend(times->send);
    departs = time_here(sim);
    if (departs < from->departs) departs = from->departs;
    from->departs = departs + times->gap + wire;
    *m = (struct sim_message){.sim = sim,
                              .number = sim->report.messages++,
                              .time = departs + times->latency + wire,
                              .depth = (from->depth > sim->marked ? from->depth : sim->marked) + 1,
                              .from = from->me,
                              .to = pe,
                              .tag = tag,
                              .data = data,
                              .len = len,
                              .sender = eager ? NULL : o};
    if (times->jitter) m->time += sim_random(&sim->scheduler.random) % (times->jitter + 1);
    if (eager) {
        if (len) memcpy(m->copy, data, len);
        m->data = m->copy;
        o->done = 1;
    }
    sim->report.bytes += len;
    trace_event(sim, (struct sim_trace){
                         .pe = from->me, .kind = SIM_SENDS, .other = pe, .tag = tag, .message = m->number, .len = len});
    if (has_links(sim)) {
        struct sim_link *link = link_to(from, pe);
        if (m->time < link->last) m->time = link->last;
        link->last = m->time;
        if (link->cut) {
            trace_event(sim, (struct sim_trace){.pe = pe, .kind = SIM_LOST, .other = from->me, .message = m->number});
            free(m);
            return RMA_SUCCESS;
        }
    }
    if (++sim->pe[pe].n_unread > sim->report.unread) sim->report.unread = sim->pe[pe].n_unread;
    sim->scheduler.active = sim->scheduler.now;
    sim_at(&sim->scheduler, m->time, deliver_message, m);
    return RMA_SUCCESS;
}

static int post_receive(struct rmai_transport *t, int pe, int tag, void *data, size_t len, struct rmai_token *token) {
    struct sim_pe *to = sim_pe_of(t);
    const struct sim_options *options = to->sim->options;
    struct sim_operation *o, **end = &to->posted;
    struct sim_message **i = &to->unexpected, *m;
    drive_progress(to);
    sim_poll_over();
    if (++to->n_receives == options->failing_receive && to->me == options->failing_pe)
        return rmai_error(RMA_ERR_MPI, "the simulated network has failed");
    o = begin_operation(to, pe, tag, data, len, token);
    o->receives = 1;
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

static int test_operation(struct rmai_transport *t, struct rmai_token *token, struct rmai_arrival *arrival) {
    struct sim_pe *pe = sim_pe_of(t);
    struct sim_operation *o = (struct sim_operation *)token->word;
    drive_progress(pe);
    if (!o->done) sim_idle_poll();
    if (!o->done) return 0;
    sim_poll_over();
    if (o->receives) sim_spend(pe->sim->options->times.receive);
    if (arrival) *arrival = o->arrival;
    free_operation(o);
    token->word = 0;
    return 1;
}

static void drop_operation(struct rmai_transport *t, struct rmai_token *token, int is_receive) {
    struct sim_pe *pe = sim_pe_of(t);
    struct sim_operation *o = (struct sim_operation *)token->word, **i = &pe->posted;
    token->word = 0;
    if (!o->done && (!is_receive || o->moving)) {
        o->dropped = 1;
        return;
    }
    while (*i && *i != o) i = &(*i)->next;
    if (*i) *i = o->next;
    free_operation(o);
}

void sim_transport_open(struct sim_transport *t, struct sim_pe *pe) {
    static struct rmai_transport_operations operations;
    operations = (struct rmai_transport_operations){
        .send = send_message, .receive = post_receive, .test = test_operation, .drop = drop_operation};
    if (pe->sim->options->windows.there) {
        sim_windows_operations(&operations);
        pe->windows = sim_windows_open();
    }
    t->transport.operations = &operations;
    t->pe = pe;
}

/* ---- all PEs together ---- */

static int await_token(struct rmai_transport *t, struct rmai_token *token) {
    int done;
    while ((done = t->operations->test(t, token, NULL)) == 0) continue;
    return done > 0 ? RMA_SUCCESS : RMA_ERR_MPI;
}

int sim_merge(struct rmai_transport *t, int tag, void *mine, size_t bytes,
              void (*take)(void *mine, const void *other, size_t bytes)) {
    const int me = sim_pe_of(t)->me, n_pes = sim_options_of(sim_pe_of(t))->n_pes;
    void *theirs = sim_memory(NULL, bytes);
    int code = RMA_SUCCESS;
    for (int step = 1; step < n_pes && code == RMA_SUCCESS; step *= 2) {
        struct rmai_token in, out;
        code = rmai_receive(t, (me + n_pes - step) % n_pes, tag, theirs, bytes, &in);
        if (code == RMA_SUCCESS) code = rmai_send(t, (me + step) % n_pes, tag, mine, bytes, &out);
        if (code == RMA_SUCCESS) code = await_token(t, &in);
        if (code == RMA_SUCCESS) code = await_token(t, &out);
        if (code == RMA_SUCCESS) take(mine, theirs, bytes);
    }
    free(theirs);
    return code;
}

/* ---- what happens to PEs ---- */

struct injection {
    struct sim *sim;
    const struct sim_injection *of;
};

static void inject(void *context) {
    struct injection *injection = context;
    struct sim_pe *pe = &injection->sim->pe[injection->of->pe];
    static const char *const words[] = {"dies", "stops", "goes on", "is cut off"};
    injection->sim->scheduler.active = injection->sim->scheduler.now;
    trace_event(injection->sim, (struct sim_trace){.pe = pe->me, .kind = SIM_SAYS, .text = words[injection->of->what]});
    switch (injection->of->what) {
        case SIM_DIES: pe->dead = 1; break;
        case SIM_STOPS: pe->stopped = 1; break;
        case SIM_GOES_ON:
            pe->stopped = 0;
            for (struct sim_task *t = pe->tasks; t; t = t->next)
                if (t->held) sim_wake(t);
            break;
        case SIM_CUT:
            link_to(pe, injection->of->other)->cut = 1;
            link_to(&injection->sim->pe[injection->of->other], pe->me)->cut = 1;
            break;
    }
    free(injection);
}

void sim_begin_injections(struct sim_pe *pe) {
    struct sim *sim = pe->sim;
    if (sim->report.injections_begun) return;
    sim->report.injections_begun = sim_time();
    for (int i = 0; i < sim->options->n_injections; i++) {
        struct injection *injection = sim_memory(NULL, sizeof *injection);
        *injection = (struct injection){.sim = sim, .of = &sim->options->injection[i]};
        sim_at(&sim->scheduler, sim_time() + injection->of->time, inject, injection);
    }
}

/* ---- the run ---- */

static void run_program(void *context) {
    struct sim_pe *pe = context;
    pe->sim->program(pe, pe->sim->context);
    if (sim_time() > pe->sim->report.time) pe->sim->report.time = sim_time();
}

struct sim_task *sim_add_task(struct sim_pe *pe, void (*run)(void *context), void *context) {
    struct sim_task *t = sim_task_begin(&pe->sim->scheduler, pe, run, context);
    t->next = pe->tasks;
    return pe->tasks = t;
}

static int is_through(const struct sim_pe *pe) {
    for (const struct sim_task *t = pe->tasks; t; t = t->next)
        if (!t->through) return 0;
    return 1;
}

static int count_unfinished(const struct sim *sim) {
    int n = 0;
    for (int i = 0; i < sim->options->n_pes; i++) n += sim_pe_stands(&sim->pe[i]) && !is_through(&sim->pe[i]);
    return n;
}

static void close_pe(struct sim_pe *pe) {
    pe->sim->options->layer->close(pe);
    pe->sim->report.left += pe->n_operations + (int)pe->n_unread;
    if (pe->windows) pe->sim->report.left += sim_windows_close(pe->windows);
    while (pe->operations) free_operation(pe->operations);
    for (struct sim_message *m = pe->unexpected, *next; m; m = next) {
        next = m->next;
        free(m);
    }
    for (struct sim_task *t = pe->tasks, *next; t; t = next) {
        next = t->next;
        sim_task_free(t);
    }
    free(pe->links);
}

void sim_gather(struct sim_pe *pe, struct sim_report *now) {
    struct sim *sim = pe->sim;
    const unsigned before = sim->gatherings;
    if (++sim->gathered == sim->options->n_pes) {
        sim->gathered = 0;
        sim->gatherings++;
        for (int i = 0; i < sim->options->n_pes; i++)
            if (sim->pe[i].depth > sim->marked) sim->marked = sim->pe[i].depth;
        sim->counted = sim->report;
        sim->report.rounds = 0;
        sim->scheduler.active = sim->scheduler.now;
        for (int i = 0; i < sim->options->n_pes; i++) {
            struct sim_task *t = sim->pe[i].tasks;
            while (t->next) t = t->next;
            t->local = sim_time();
            sim_wake(t);
        }
        sim_wait(0);
    }
    while (sim->gatherings == before) sim_wait(SIM_NEVER);
    if (!now) return;
    *now = sim->counted;
    now->time = sim_time();
}

static void describe_stuck(struct sim *sim) {
    char *text = sim->report.why;
    const size_t room = sizeof sim->report.why;
    size_t used = (size_t)snprintf(text, room, "%d of %d PEs wait for ever:", sim->report.stuck, sim->options->n_pes);
    for (int i = 0; i < sim->options->n_pes && used + 80 < room; i++) {
        struct sim_pe *pe = &sim->pe[i];
        if (!sim_pe_stands(pe) || is_through(pe)) continue;
        used += (size_t)snprintf(text + used, room - used, " PE %d", i);
        sim->options->layer->describe(pe, text + used, room - used);
        used += strlen(text + used);
    }
}

struct sim_report sim_run(const struct sim_options *options, sim_program *program, void *context) {
    struct sim sim = {.options = options, .program = program, .context = context};
    sim.scheduler.random = options->seed;
    sim.scheduler.poll_first = options->poll_first;
    sim.scheduler.poll_last = options->poll_last;
    sim.pe = sim_memory(NULL, (size_t)options->n_pes * sizeof *sim.pe);
    sim_kernel_begin();
    for (int i = 0; i < options->n_pes; i++) {
        sim.pe[i] = (struct sim_pe){.sim = &sim, .me = i};
        sim_add_task(&sim.pe[i], run_program, &sim.pe[i]);
    }
    options->layer->begin(sim.pe, options);
    sim_schedule(&sim.scheduler, options->quiet ? options->quiet : QUIET, options->limit ? options->limit : LIMIT);
    sim.report.steps = sim.scheduler.steps;
    sim.report.stuck = count_unfinished(&sim);
    if (!sim.report.failed && !sim.report.ended && sim.report.stuck) describe_stuck(&sim);
    /* What is still under way nobody has waited for, or the run has ended before: its events go, with all that they
     * refer to. */
    for (size_t i = 0; i < sim.scheduler.n; i++) {
        const struct sim_event *e = &sim.scheduler.heap[i];
        if (e->happen == deliver_message || e->happen == complete_long_message || e->happen == inject) free(e->context);
    }
    for (int i = 0; i < options->n_pes; i++) close_pe(&sim.pe[i]);
    options->layer->end();
    free(sim.scheduler.heap);
    free(sim.pe);
    return sim.report;
}
