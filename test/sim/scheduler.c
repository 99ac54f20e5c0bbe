/* SPDX-License-Identifier: BSD-3-Clause */
/* A turn is an event like any other. A task's next turn is at `due`. If `due` moves to an earlier time, the event of
 * the later time finds that the task has another `due`, and does nothing. */
#include "config.h"

#undef _FORTIFY_SOURCE /* its longjmp refuses to go to another stack */

#include "test/sim/scheduler.h"
#include "rma.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#if defined __SANITIZE_ADDRESS__
#define ASAN 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define ASAN 1
#endif
#endif
#ifdef ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#define STACK       ((size_t)256 << 10)
#define STACKS_KEPT 64 /* for the next tasks */
#define POLLS_FREE  6
#define POLL_FIRST  20    /* nanoseconds; doubled by each poll that finds nothing */
#define POLL_LAST   20480 /* both where the scheduler does not say otherwise */

static struct sim_task *running_task;

static char *kept_stack[STACKS_KEPT];
static int n_kept_stacks;

uint64_t sim_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

void *sim_memory(void *old, size_t bytes) {
    void *memory = realloc(old, bytes ? bytes : 1);
    if (memory) return memory;
    fprintf(stderr, "sim: no memory for %zu bytes\n", bytes);
    exit(2);
}

/* ---- events: a binary heap ---- */

static int happens_earlier(const struct sim_event *a, const struct sim_event *b) {
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static void push_event(struct sim_scheduler *s, struct sim_event e) {
    size_t i = s->n++;
    if (s->n > s->room) {
        s->room = 2 * s->room + 64;
        s->heap = sim_memory(s->heap, s->room * sizeof *s->heap);
    }
    for (; i > 0 && happens_earlier(&e, &s->heap[(i - 1) / 2]); i = (i - 1) / 2) s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = e;
}

static struct sim_event pop_event(struct sim_scheduler *s) {
    const struct sim_event first = s->heap[0], last = s->heap[--s->n];
    size_t i = 0, child;
    while ((child = 2 * i + 1) < s->n) {
        if (child + 1 < s->n && happens_earlier(&s->heap[child + 1], &s->heap[child])) child++;
        if (!happens_earlier(&s->heap[child], &last)) break;
        s->heap[i] = s->heap[child];
        i = child;
    }
    s->heap[i] = last;
    return first;
}

void sim_at(struct sim_scheduler *s, uint64_t time, void (*happen)(void *context), void *context) {
    push_event(s, (struct sim_event){.time = time, .order = s->order++, .happen = happen, .context = context});
}

/* ---- turns ---- */

/* The first turn of a task takes its stack by setcontext. Later ones continue by longjmp, which leaves the signal mask
 * alone: swapcontext makes a system call for it, which took three quarters of the time of a run. */
static void enter_task(struct sim_task *t) {
    struct sim_scheduler *s = t->scheduler;
#ifdef ASAN
    __sanitizer_start_switch_fiber(&s->fake_stack, t->stack, STACK);
#endif
    if (_setjmp(s->place) == 0) {
        if (t->entered) _longjmp(t->place, 1);
        t->entered = 1;
        setcontext(&t->context);
        abort();
    }
#ifdef ASAN
    __sanitizer_finish_switch_fiber(s->fake_stack, NULL, NULL);
#endif
}

static void leave_task(struct sim_task *t) {
    struct sim_scheduler *s = t->scheduler;
#ifdef ASAN
    __sanitizer_start_switch_fiber(&t->fake_stack, s->stack, s->stack_size);
#endif
    if (_setjmp(t->place) == 0) _longjmp(s->place, 1);
#ifdef ASAN
    __sanitizer_finish_switch_fiber(t->fake_stack, &s->stack, &s->stack_size);
#endif
}

static void take_turn(void *context) {
    struct sim_task *t = context;
    struct sim_scheduler *s = t->scheduler;
    if (t->due != s->now || t->through) return;
    if (!sim_pe_stands(t->pe)) {
        t->held = 1;
        return;
    }
    t->due = SIM_NEVER;
    t->held = 0;
    if (t->local < s->now) t->local = s->now;
    s->steps++;
    sim_pe_turn(t->pe);
    if (t->error.code || rma_last_code()) rmai_error_restore(&t->error);
    running_task = t;
    enter_task(t);
    running_task = NULL;
    if (t->error.code || rma_last_code()) rmai_error_keep(&t->error);
}

static void set_due(struct sim_task *t, uint64_t time) {
    struct sim_scheduler *s = t->scheduler;
    if (time < t->local) time = t->local;
    if (time < s->now) time = s->now;
    if (time >= t->due && !t->held) return;
    t->due = time;
    /* Whose turn comes first at one time is left to chance. Messages (sim_at) come before all turns of that time. */
    push_event(
        s, (struct sim_event){
               .time = time, .order = sim_random(&s->random) | (uint64_t)1 << 63, .happen = take_turn, .context = t});
}

/* makecontext passes int: an address goes in two halves. */
static void run_task(unsigned high, unsigned low) {
    struct sim_task *t = (struct sim_task *)((uintptr_t)high << 32 | low);
#ifdef ASAN
    __sanitizer_finish_switch_fiber(NULL, &t->scheduler->stack, &t->scheduler->stack_size);
#endif
    t->run(t->run_context);
    t->through = 1;
    t->scheduler->active = t->local;
    for (;;) leave_task(t);
}

static char *get_stack(void) {
    char *stack;
    if (n_kept_stacks > 0) {
        stack = kept_stack[--n_kept_stacks];
#ifdef ASAN
        __asan_unpoison_memory_region(stack, STACK); /* a task that was never through left its frames there */
#endif
        return stack;
    }
    stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack != MAP_FAILED) return stack;
    fprintf(stderr, "sim: no memory for a stack of %zu bytes\n", STACK);
    exit(2);
}

struct sim_task *sim_task_begin(struct sim_scheduler *s, struct sim_pe *pe, void (*run)(void *), void *context) {
    struct sim_task *t = sim_memory(NULL, sizeof *t);
    *t = (struct sim_task){
        .scheduler = s, .pe = pe, .run = run, .run_context = context, .due = SIM_NEVER, .stack = get_stack()};
    if (running_task) t->local = running_task->local;
    getcontext(&t->context);
    t->context.uc_stack.ss_sp = t->stack;
    t->context.uc_stack.ss_size = STACK;
    makecontext(&t->context, (void (*)(void))run_task, 2, (unsigned)((uintptr_t)t >> 32), (unsigned)(uintptr_t)t);
    set_due(t, s->now);
    return t;
}

void sim_task_end(struct sim_task *t) {
    if (t->stack && n_kept_stacks < STACKS_KEPT)
        kept_stack[n_kept_stacks++] = t->stack;
    else if (t->stack)
        munmap(t->stack, STACK);
    t->stack = NULL;
}

void sim_task_free(struct sim_task *t) {
    sim_task_end(t);
    free(t);
}

struct sim_task *sim_self(void) {
    return running_task;
}

uint64_t sim_time(void) { return running_task->local; }

void sim_spend(uint64_t time) {
    if (running_task) running_task->local += time;
}

void sim_wait(uint64_t most) {
    struct sim_task *t = running_task;
    if (most != SIM_NEVER) set_due(t, t->local + most);
    leave_task(t);
}

void sim_poll_over(void) {
    if (running_task) running_task->idle_polls = 0;
}

void sim_idle_poll(void) {
    struct sim_task *t = running_task;
    uint64_t time, last;
    if (!t || ++t->idle_polls <= POLLS_FREE) return;
    time = t->scheduler->poll_first ? t->scheduler->poll_first : POLL_FIRST;
    last = t->scheduler->poll_last ? t->scheduler->poll_last : POLL_LAST;
    for (unsigned i = t->idle_polls - POLLS_FREE; i > 1 && time < last; i--) time *= 2;
    t->polling = 1;
    sim_wait(time);
    t->polling = 0;
}

void sim_stop_here(void) {
    running_task->scheduler->over = 1;
    for (;;) leave_task(running_task);
}

void sim_wake(struct sim_task *t) {
    if (!t->through) set_due(t, t->scheduler->now);
}

void sim_wake_polling(struct sim_task *t) {
    if (t->polling) sim_wake(t);
}

void sim_schedule(struct sim_scheduler *s, uint64_t quiet, uint64_t limit) {
    while (s->n > 0 && !s->over) {
        const struct sim_event e = pop_event(s);
        s->now = e.time;
        if (s->now > limit || (s->now > s->active && s->now - s->active > quiet)) return;
        e.happen(e.context);
    }
}
