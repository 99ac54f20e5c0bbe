/* SPDX-License-Identifier: BSD-3-Clause */
/* Explores all executions of a litmus model, by depth-first search that remembers visited states. litmus.h describes
 * the memory model and its sources.
 *
 * The stores to a word stand in their order (C11's modification order), the oldest first. A view has for each word the
 * place of a store in that order; whoever has the view may read no older one. Of each thread three views are kept: what
 * it has seen; what it will have seen after an acquire fence (`after`); and what it had seen at its last release fence
 * (`before`), which its relaxed stores carry. One more view is that of the seq_cst fences, each of which takes it and
 * leaves its own there.
 *
 * A view also has a clock: how far each other thread's accesses to words that may be raced for happen before. A plain
 * access looks there whether the conflicting accesses so far happen before it, and is a race if one does not. The view
 * of the seq_cst fences has no clock, since they synchronize nobody by themselves. */
#include "litmus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct view {
    uint8_t at[WORDS], clock[THREADS];
};

struct store {
    int16_t value;
    uint8_t follows; /* 1: of a read-modify-write, which nothing may separate from the store before it */
    struct view carries;
};

struct word {
    int n;
    struct store store[STORES];
    /* The clock of each thread's last plain and atomic load and store. */
    uint8_t loaded[2][THREADS], stored[2][THREADS];
};

struct thread_state {
    uint8_t at;     /* its next step */
    uint8_t asked;  /* bits of the threads that still have to make a fence for its membarrier */
    uint8_t barred; /* it is within its membarrier */
    int16_t reg[REGISTERS];
    struct view seen, after, before;
};

struct state {
    struct thread_state t[THREADS];
    struct word w[WORDS];
    uint8_t fences[WORDS];
};

static const struct model *model;
static struct outcome *out;
static jmp_buf failed;
static char failure[200];

/* ---- what has been done, for the message ---- */

static struct {
    int thread, line, value;
    const char *what;
} done[400];
static int n_done;

static void fail(const char *format, ...) {
    size_t n = 0;
    va_list list;
    va_start(list, format);
    vsnprintf(failure, sizeof failure, format, list);
    va_end(list);
    out->trace[0] = 0;
    for (int i = 0; i < n_done && n < sizeof out->trace - 100; i++)
        n += (size_t)snprintf(out->trace + n, sizeof out->trace - n, "    %s: line %d: %s %d\n",
                              model->thread[done[i].thread].name, done[i].line, done[i].what, done[i].value);
    longjmp(failed, 1);
}

/* ---- views ---- */

static void join(struct view *to, const struct view *from) {
    for (int w = 0; w < model->n_words; w++)
        if (from->at[w] > to->at[w]) to->at[w] = from->at[w];
    for (int t = 0; t < model->n_threads; t++)
        if (from->clock[t] > to->clock[t]) to->clock[t] = from->clock[t];
}

static void fence(struct state *s, int t, int order) {
    struct thread_state *me = &s->t[t];
    if (order & ACQUIRE) join(&me->seen, &me->after);
    if (order & SEQ_CST)
        for (int w = 0; w < model->n_words; w++) {
            if (s->fences[w] > me->seen.at[w]) me->seen.at[w] = s->fences[w];
            s->fences[w] = me->seen.at[w];
        }
    join(&me->after, &me->seen);
    if (order & RELEASE) me->before = me->seen;
}

/* Makes room for a store at place `at` of a word's order: what is seen of later ones moves up. */
static void shift(struct view *v, int w, int at) {
    if (v->at[w] >= at) v->at[w]++;
}

static void make_room(struct state *s, int w, int at) {
    struct word *word = &s->w[w];
    if (word->n == STORES) {
        fprintf(stderr, "%s: more than %d stores to one word\n", model->name, STORES);
        exit(2);
    }
    memmove(&word->store[at + 1], &word->store[at], (size_t)(word->n - at) * sizeof word->store[0]);
    word->n++;
    for (int t = 0; t < model->n_threads; t++) {
        shift(&s->t[t].seen, w, at);
        shift(&s->t[t].after, w, at);
        shift(&s->t[t].before, w, at);
    }
    for (int v = 0; v < model->n_words; v++)
        for (int i = 0; i < s->w[v].n; i++)
            if (v != w || i != at) shift(&s->w[v].store[i].carries, w, at);
    if (s->fences[w] >= at) s->fences[w]++;
}

/* Forgets the stores that no thread can read any more. */
static void forget_old(struct state *s) {
    for (int w = 0; w < model->n_words; w++) {
        struct word *word = &s->w[w];
        int old = word->n - 1;
        for (int t = 0; t < model->n_threads; t++)
            if (model->thread[t].step[s->t[t].at].what != STOP && s->t[t].seen.at[w] < old) old = s->t[t].seen.at[w];
        if (!old) continue;
        memmove(word->store, word->store + old, (size_t)(word->n - old) * sizeof word->store[0]);
        word->n -= old;
        word->store[0].follows = 0;
#define LESS(x) ((x) = (uint8_t)((x) > old ? (x)-old : 0))
        for (int t = 0; t < model->n_threads; t++) {
            LESS(s->t[t].seen.at[w]);
            LESS(s->t[t].after.at[w]);
            LESS(s->t[t].before.at[w]);
        }
        for (int v = 0; v < model->n_words; v++)
            for (int i = 0; i < s->w[v].n; i++) LESS(s->w[v].store[i].carries.at[w]);
        LESS(s->fences[w]);
    }
}

/* ---- accesses ---- */

static void check_race(const struct state *s, int t, int w, const uint8_t other[THREADS], const char *what) {
    for (int u = 0; u < model->n_threads; u++)
        if (u != t && other[u] > s->t[t].seen.clock[u]) {
            int i = 0;
            while (i + 1 < model->n_names && model->first[i + 1] <= w) i++;
            fail("%s races with %s for %s (%s)", model->thread[t].name, model->thread[u].name, model->word[i], what);
        }
}

/* Counts an access to a word that may be raced for. After the view has been joined with what was read. */
static void note_access(struct state *s, int t, int w, int plain, int loads, int stores) {
    struct word *word = &s->w[w];
    if (!model->raced[w]) return;
    if (loads || stores) check_race(s, t, w, word->stored[1], "a plain store");
    if (stores) check_race(s, t, w, word->loaded[1], "a plain load");
    if (plain) check_race(s, t, w, word->stored[0], "a store");
    if (plain && stores) check_race(s, t, w, word->loaded[0], "a load");
    s->t[t].seen.clock[t]++;
    s->t[t].after.clock[t]++;
    if (loads) word->loaded[plain][t] = s->t[t].seen.clock[t];
    if (stores) word->stored[plain][t] = s->t[t].seen.clock[t];
}

static void read_store(struct state *s, int t, int w, int i, int order) {
    struct thread_state *me = &s->t[t];
    const struct view carried = s->w[w].store[i].carries;
    me->seen.at[w] = (uint8_t)i;
    join(&me->after, &carried);
    if (order & ACQUIRE) join(&me->seen, &carried);
    join(&me->after, &me->seen);
}

static void write_store(struct state *s, int t, int w, int i, int value, int order, const struct view *continues) {
    struct thread_state *me = &s->t[t];
    struct store *store = &s->w[w].store[i];
    me->seen.at[w] = (uint8_t)i;
    join(&me->after, &me->seen);
    store->value = (int16_t)value;
    store->follows = continues != NULL;
    store->carries = order & RELEASE ? me->seen : me->before;
    if (store->carries.at[w] < i) store->carries.at[w] = (uint8_t)i;
    if (continues) join(&store->carries, continues);
}

/* ---- one step ---- */

static int value_of(const struct state *s, int t, const struct expression *e) {
    return litmus_evaluate(e, s->t[t].reg, NULL, NULL);
}

static int word_of(const struct state *s, int t, const struct step *step) {
    int i = step->index.n ? value_of(s, t, &step->index) : 0;
    if (i < 0 || i >= step->n_words) fail("%s: line %d: index %d", model->thread[t].name, step->line, i);
    return step->word + i;
}

static void explore(const struct state *s);

static void go_on(struct state *s, int t, const char *what, int value) {
    done[n_done].thread = t;
    done[n_done].line = model->thread[t].step[s->t[t].at].line;
    done[n_done].what = what;
    done[n_done].value = value;
    if (++n_done == 400) fail("an execution does not end");
    s->t[t].at++;
    explore(s);
    n_done--;
}

/* Whether the loop that this load is may end with the value, which becomes the register's. */
static int ends_loop(struct state *s, int t, const struct step *step, int value) {
    s->t[t].reg[step->reg] = (int16_t)value;
    return !step->until.n || value_of(s, t, &step->until);
}

/* A plain access, or one whose place in the source is no atomic. */
static int is_plain(const struct step *step) { return step->access < 0 || model->access[step->access].plain; }

static int try_store(const struct state *s, int t, const struct step *step, int order) {
    const int w = word_of(s, t, step);
    for (int i = s->t[t].seen.at[w] + 1; i <= s->w[w].n; i++) {
        struct state next = *s;
        if (i < s->w[w].n && s->w[w].store[i].follows) continue;
        note_access(&next, t, w, is_plain(step), 0, 1);
        make_room(&next, w, i);
        write_store(&next, t, w, i, value_of(s, t, &step->value), order, NULL);
        go_on(&next, t, i == s->w[w].n ? "stores" : "stores, before others in the word's order,",
              value_of(s, t, &step->value));
    }
    return 1;
}

static int try_load(const struct state *s, int t, const struct step *step, int order) {
    const int w = word_of(s, t, step);
    int moved = 0;
    for (int i = s->t[t].seen.at[w]; i < s->w[w].n; i++) {
        struct state next = *s;
        const int value = s->w[w].store[i].value;
        if (!ends_loop(&next, t, step, value)) continue;
        read_store(&next, t, w, i, order);
        note_access(&next, t, w, is_plain(step), 1, 0);
        moved = 1;
        go_on(&next, t, "loads", value);
    }
    return moved;
}

static int new_value(const struct step *step, int old, int value, int stored) {
    switch (step->what) {
        case ADD: return old + value;
        case OR: return old | value;
        case AND: return old & value;
        case XOR: return old ^ value;
        case CAS: return stored;
        default: return value;
    }
}

static int try_update(const struct state *s, int t, const struct step *step, const struct access *a) {
    const int w = word_of(s, t, step), value = value_of(s, t, &step->value);
    int moved = 0;
    for (int i = s->t[t].seen.at[w]; i < s->w[w].n; i++) {
        const int old = s->w[w].store[i].value, fails = step->what == CAS && old != value;
        const struct view carried = s->w[w].store[i].carries;
        struct state next = *s;
        if (!ends_loop(&next, t, step, old)) continue;
        if (!fails && i + 1 < s->w[w].n && s->w[w].store[i + 1].follows) continue;
        moved = 1;
        read_store(&next, t, w, i, fails ? a->fails : a->order);
        note_access(&next, t, w, 0, 1, !fails);
        if (!fails) {
            struct view continues = carried;
            int stored = step->what == CAS ? value_of(s, t, &step->stored) : 0;
            make_room(&next, w, i + 1);
            write_store(&next, t, w, i + 1, new_value(step, old, value, stored), a->order, &continues);
        }
        go_on(&next, t, fails ? "finds" : "updates", old);
    }
    return moved;
}

/* Begins with a fence of its own; then each other thread makes one, at some time; it ends with another one. */
static int try_membarrier(const struct state *s, int t) {
    struct state next = *s;
    struct thread_state *me = &next.t[t];
    if (me->asked) return 0;
    fence(&next, t, ACQUIRE | RELEASE | SEQ_CST);
    if (me->barred) {
        me->barred = 0;
        go_on(&next, t, "ends its membarrier", 0);
        return 1;
    }
    me->barred = 1;
    me->asked = (uint8_t)(((1 << model->n_threads) - 1) & ~(1 << t));
    explore(&next);
    return 1;
}

static int try_step(const struct state *s, int t) {
    static const struct access plain = {.plain = 1};
    const struct step *step = &model->thread[t].step[s->t[t].at];
    const struct access *a = step->access < 0 ? &plain : &model->access[step->access];
    switch (step->what) {
        case STORE: return try_store(s, t, step, a->order);
        case LOAD: return try_load(s, t, step, a->order);
        case SWAP:
        case ADD:
        case OR:
        case AND:
        case XOR:
        case CAS: return try_update(s, t, step, a);
        case MEMBARRIER: return try_membarrier(s, t);
        case FENCE: {
            struct state next = *s;
            fence(&next, t, a->order);
            go_on(&next, t, "fence", 0);
            return 1;
        }
        default: return 0;
    }
}

/* Steps that no other thread can notice are done at once. */
static void do_own_steps(struct state *s, int t) {
    for (int n = 0;; n++) {
        struct thread_state *me = &s->t[t];
        const struct step *step = &model->thread[t].step[me->at];
        if (n == 1000) fail("%s: line %d: a loop without an access", model->thread[t].name, step->line);
        switch (step->what) {
            case LET: me->reg[step->reg] = (int16_t)value_of(s, t, &step->value); break;
            case IF:
                if (!value_of(s, t, &step->value)) break;
                me->at = (uint8_t)step->target;
                continue;
            case GOTO: me->at = (uint8_t)step->target; continue;
            case ASSERT:
                if (!value_of(s, t, &step->value))
                    fail("%s: line %d: the assertion fails", model->thread[t].name, step->line);
                break;
            case FENCE:
                if (model->access[step->access].order & SEQ_CST) return;
                fence(s, t, model->access[step->access].order);
                break;
            default: return;
        }
        me->at++;
    }
}

/* ---- the states that have been visited ---- */

static struct {
    uint64_t (*slot)[2];
    size_t size, n;
} visited;

static void add_bytes(uint64_t h[2], const void *p, size_t n) {
    const unsigned char *b = p;
    for (size_t i = 0; i < n; i++) {
        h[0] = (h[0] ^ b[i]) * 0x100000001b3u;
        h[1] = (h[1] ^ b[i] ^ (h[1] >> 29)) * 0x9e3779b97f4a7c15u;
    }
}

static void add_view(uint64_t h[2], const struct view *v) {
    add_bytes(h, v->at, (size_t)model->n_words);
    add_bytes(h, v->clock, (size_t)model->n_threads);
}

static void fingerprint(const struct state *s, uint64_t h[2]) {
    h[0] = 0xcbf29ce484222325u;
    h[1] = 0x2545f4914f6cdd1du;
    for (int t = 0; t < model->n_threads; t++) {
        const struct thread_state *me = &s->t[t];
        const uint8_t head[3] = {me->at, me->asked, me->barred};
        add_bytes(h, head, sizeof head);
        add_bytes(h, me->reg, (size_t)model->thread[t].n_registers * sizeof me->reg[0]);
        if (model->thread[t].step[me->at].what == STOP) continue;
        add_view(h, &me->seen);
        add_view(h, &me->after);
        add_view(h, &me->before);
    }
    for (int w = 0; w < model->n_words; w++) {
        const struct word *word = &s->w[w];
        add_bytes(h, &word->n, sizeof word->n);
        for (int i = 0; i < word->n; i++) {
            add_bytes(h, &word->store[i].value, sizeof word->store[i].value);
            add_bytes(h, &word->store[i].follows, 1);
            add_view(h, &word->store[i].carries);
        }
        add_bytes(h, word->loaded, sizeof word->loaded);
        add_bytes(h, word->stored, sizeof word->stored);
    }
    add_bytes(h, s->fences, (size_t)model->n_words);
    if (!(h[0] | h[1])) h[0] = 1;
}

static int put_visited(const uint64_t h[2]) {
    size_t i = h[1] & (visited.size - 1);
    for (; visited.slot[i][0] | visited.slot[i][1]; i = (i + 1) & (visited.size - 1))
        if (visited.slot[i][0] == h[0] && visited.slot[i][1] == h[1]) return 0;
    visited.slot[i][0] = h[0];
    visited.slot[i][1] = h[1];
    return 1;
}

static void resize_visited(size_t size) {
    uint64_t(*old)[2] = visited.slot;
    const size_t n = visited.size;
    visited.slot = calloc(size, sizeof *visited.slot);
    if (!visited.slot) {
        fprintf(stderr, "%s: no memory for the states\n", model->name);
        exit(2);
    }
    visited.size = size;
    for (size_t i = 0; i < n; i++)
        if (old[i][0] | old[i][1]) put_visited(old[i]);
    free(old);
}

static int is_new(const struct state *s) {
    uint64_t h[2];
    fingerprint(s, h);
    if (!put_visited(h)) return 0;
    if (++visited.n * 2 > visited.size) resize_visited(visited.size * 4);
    return 1;
}

/* ---- the search ---- */

static void check_end(const struct state *s) {
    int16_t reg[THREADS][REGISTERS], last[WORDS];
    for (int t = 0; t < model->n_threads; t++) {
        if (model->thread[t].step[s->t[t].at].what != STOP)
            fail("%s: line %d: it can never go on", model->thread[t].name, model->thread[t].step[s->t[t].at].line);
        memcpy(reg[t], s->t[t].reg, sizeof reg[t]);
    }
    for (int w = 0; w < model->n_words; w++) last[w] = s->w[w].store[s->w[w].n - 1].value;
    for (int i = 0; i < model->n_conditions; i++) {
        const struct condition *c = &model->condition[i];
        if (!litmus_evaluate(&c->holds, NULL, (const int16_t(*)[REGISTERS])reg, last)) continue;
        out->seen |= 1u << i;
        if (c->never) fail("line %d: %s", c->line, c->text);
    }
}

static void explore(const struct state *given) {
    struct state here = *given;
    int moved = 0;
    for (int t = 0; t < model->n_threads; t++) do_own_steps(&here, t);
    forget_old(&here);
    if (!is_new(&here)) return;
    for (int t = 0; t < model->n_threads; t++)
        for (int u = 0; u < model->n_threads; u++) {
            struct state next = here;
            if (!(here.t[t].asked & 1 << u)) continue;
            next.t[t].asked &= (uint8_t) ~(1 << u);
            fence(&next, u, ACQUIRE | RELEASE | SEQ_CST);
            explore(&next);
            moved = 1;
        }
    for (int t = 0; t < model->n_threads; t++) {
        const enum what what = model->thread[t].step[here.t[t].at].what;
        /* A plain access changes nothing for other threads but what is a race, which is found in either order. */
        if ((what == LOAD || what == STORE) && is_plain(&model->thread[t].step[here.t[t].at])) {
            try_step(&here, t);
            return;
        }
    }
    for (int t = 0; t < model->n_threads; t++) moved |= try_step(&here, t);
    if (!moved) check_end(&here);
}

const char *litmus_explore(const struct model *m, struct outcome *o) {
    static struct state first;
    model = m;
    out = o;
    memset(o, 0, sizeof *o);
    memset(&first, 0, sizeof first);
    n_done = 0;
    free(visited.slot);
    visited.slot = NULL;
    visited.size = visited.n = 0;
    resize_visited(1 << 12);
    for (int t = 0; t < m->n_threads; t++) first.t[t].reg[0] = (int16_t)m->thread[t].me;
    for (int w = 0; w < m->n_words; w++) {
        first.w[w].n = 1;
        first.w[w].store[0].value = (int16_t)m->initial[w];
    }
    if (setjmp(failed)) {
        o->states = visited.n;
        return failure;
    }
    explore(&first);
    o->states = visited.n;
    return NULL;
}
