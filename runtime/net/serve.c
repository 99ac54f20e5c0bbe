/* SPDX-License-Identifier: BSD-3-Clause */
/* The target's side: the thread of this PE that drives progress does the requests of other nodes on this PE's memory,
 * with the same check of every range and the same C11 atomics as a PE of this node. Nothing here waits: the next turn
 * of progress continues a reply or long data that the transport has not taken yet.
 *
 * Requests are served even without free memory, although slowly: this PE gets memory for one reply when it opens, and a
 * request stays unread until a reply is free (rmai_serve_ready). Long data fail if there is no memory for their state.
 */
#include "config.h"

#include "base/attributes.h"
#include "base/error.h"
#include "base/kernels.h"
#include "base/pattern.h"
#include "base/update.h"
#include "base/wait.h"
#include "base/word.h"
#include "runtime/job/by_node.h"
#include "runtime/net/flow.h"
#include "runtime/net/op.h"
#include "runtime/net/progress.h"
#include "runtime/net/request.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reply {
    struct reply *next;
    struct rmai_token sent;
    size_t bytes;
    struct rmai_envelope e;
    int to;
    _Alignas(8) unsigned char message[RMAI_MESSAGE];
};

/* Long data under way: data arrive, if `puts`, and then the note LANDED is sent; or they leave. */
struct transit {
    struct transit *next;
    struct rmai_token data;
    void *hold, *signal_hold; /* keep the data's memory, and the signal's, in place; or NULL */
    int puts, landed, to;
    struct rmai_envelope note; /* of a put: GO, and then LANDED */
    struct rmai_token sent;
    uint64_t *signal; /* the word of the signal, an atomic `op` with `value` after the data; or NULL */
    uint64_t value;
    int op;
    struct work *work; /* of a record of kind RUNS: the blocks of the data; or NULL */
};

/* The blocks of a record of kind RUNS. The runs, and then the data, follow where they have to last. */
struct work {
    struct rmai_wire_runs runs;
    int op; /* enum rmai_runs_op */
    uint64_t position;
    char *there;
    const unsigned char *list;
    unsigned char *data;
    _Alignas(16) unsigned char room[];
};

struct rmai_replies {
    struct reply *idle, *sending;
    struct transit *transits;
};

/* A request, and its record that is being done. */
struct task {
    struct rmai_net *net;
    int from;
    unsigned expected;   /* records before this one that expect something from the reply */
    struct reply *reply; /* the request's own reply, or NULL: not needed so far */
    struct rmai_record r;
    const unsigned char *elements;
    struct rmai_element e; /* of a record that cannot be a run */
    uint64_t direct;       /* from the handler of this name: memory that need not be located */
    size_t direct_len;
    unsigned char *direct_there, *direct_first; /* this PE's, and that of the node's first PE */
    int alone; /* no other thread and no other process accesses this PE's memory by atomics meanwhile */
    char call[RMAI_NAME_MAX];
};

/* ---- replies ---- */

static struct reply *begin_reply(struct rmai_replies *a, int to, enum rmai_wire kind) {
    struct reply *r = a->idle;
    if (r)
        a->idle = r->next;
    else if (!(r = malloc(sizeof *r)))
        return NULL;
    r->to = to;
    r->bytes = sizeof r->e;
    r->e = (struct rmai_envelope){.kind = (uint16_t)kind};
    r->sent = RMAI_NO_TOKEN;
    return r;
}

static void keep_reply(struct rmai_replies *a, struct reply *r) {
    r->next = a->idle;
    a->idle = r;
}

static int send_reply(struct rmai_net *net, struct reply *r) {
    struct rmai_replies *a = net->replies;
    struct rmai_link *link = rmai_link_to(net, r->to);
    int code, done;
    if (link) r->e.done = rmai_link_take_acks(link);
    memcpy(r->message, &r->e, sizeof r->e);
    code = rmai_send(net->transport, r->to, RMAI_SHORT_TAG, r->message, r->bytes, &r->sent);
    if (code != RMA_SUCCESS) return code;
    if ((done = rmai_token_done(net->transport, &r->sent)) < 0) return RMA_ERR_MPI;
    if (!done) net->serving = 1;
    r->next = done ? a->idle : a->sending;
    *(done ? &a->idle : &a->sending) = r;
    return RMA_SUCCESS;
}

int rmai_serve_ready(struct rmai_net *net) {
    struct rmai_replies *a = net->replies;
    if (RMAI_LIKELY(a->idle != NULL)) return 1;
    if (!(a->idle = malloc(sizeof *a->idle))) return 0;
    a->idle->next = NULL;
    return 1;
}

static struct reply *reply_of(struct task *t) {
    if (!t->reply) t->reply = begin_reply(t->net->replies, t->from, RMAI_WIRE_REPLY);
    assert(t->reply && "rmai_serve_ready has seen to it");
    return t->reply;
}

/* Adds an item for this record; returns where its data go. */
static unsigned char *add_item(struct task *t, int code, size_t len) {
    const struct rmai_item i = {.first = (uint16_t)t->expected, .code = (uint16_t)code, .len = (uint32_t)len};
    struct reply *r = reply_of(t);
    unsigned char *data = r->message + r->bytes + sizeof i;
    assert(r->bytes + sizeof i + rmai_padded(len) <= RMAI_MESSAGE && "the reader has counted the reply's bytes");
    memcpy(r->message + r->bytes, &i, sizeof i);
    r->bytes += sizeof i + rmai_padded(len);
    r->e.n++;
    return data;
}

static void add_value(struct task *t, const void *data, size_t len) {
    memcpy(add_item(t, RMA_SUCCESS, len), data, len);
}

/* Replies with the error that was recorded last. A record that no mistake of the caller can make fail has no room for a
 * text. */
static void add_failure(struct task *t, int code) {
    const char *text = rma_last_error();
    size_t len = t->r.name ? strnlen(text, RMAI_TEXT_MAX - 1) : 0;
    memcpy(add_item(t, code, len), text, len);
}

/* ---- blocks ---- */

/* Does the record's operation on all blocks. data: those to put, or the operands. returned: where the data of a get, or
 * the values before an update, go, or NULL. */
static void do_blocks(const struct rmai_net *net, const struct work *k, const unsigned char *data,
                      unsigned char *returned) {
    const enum rma_type type = (enum rma_type)k->runs.type;
    for (unsigned i = 0; i < k->runs.n; i++) {
        const struct rmai_wire_run run = rmai_wire_run_at(&k->runs, k->list, i);
        char *there = k->there + run.at;
        const size_t bytes = run.len * run.n;
        if (k->op == RMAI_RUNS_PUT) {
            rmai_move_strided(there, (const char *)data, run.step, (ptrdiff_t)run.len, run.len, run.n);
            data += bytes;
        } else if (k->op == RMAI_RUNS_GET) {
            rmai_move_strided((char *)returned, there, (ptrdiff_t)run.len, run.step, run.len, run.n);
            returned += bytes;
        } else {
            uint64_t position = k->position + (uint64_t)run.at;
            for (uint64_t j = 0; j < run.n; j++) {
                rmai_update(&net->job->stripes, position, (enum rma_op)(k->op - RMAI_RUNS_UPDATE), type, there, data,
                            returned, run.len / rmai_type_size(type));
                position += (uint64_t)run.step;
                there += run.step;
                if (data) data += run.len;
                if (returned) returned += run.len;
            }
        }
    }
}

/* ---- long data ---- */

static void release_hold(struct rmai_net *net, void *hold) {
    if (hold) net->handlers.release_hold(net->handlers.context, hold);
}

/* Finds the word of t's signal for *d. Without a signal d->signal stays NULL.
 */
static int find_signal(struct task *t, struct transit *d) {
    void *word;
    int code;
    if (!(t->r.flags & RMAI_RECORD_SIGNAL)) return RMA_SUCCESS;
    code = t->net->handlers.locate(t->net->handlers.context, t->call, t->e.word, sizeof(uint64_t), sizeof(uint64_t), 1,
                                   &word, &d->signal_hold);
    if (code != RMA_SUCCESS) return code;
    d->signal = word;
    d->op = t->r.op;
    d->value = t->e.cond;
    return RMA_SUCCESS;
}

/* For blocks, whose data go through memory of their own. */
static int allocate_work(struct task *t, struct transit *d, void *there) {
    const struct rmai_wire_runs runs = rmai_wire_runs_of(t->e.cond);
    const size_t list = rmai_padded(rmai_wire_runs_bytes(&runs)), room = (list + 15) & ~(size_t)15;
    struct work *k = malloc(sizeof *k + room + rmai_wire_long_bytes(t->e.value));
    if (!k) return 0;
    *k = (struct work){.runs = runs, .op = t->r.op, .there = there, .list = k->room, .data = k->room + room};
    memcpy(k->room, t->elements + 4 * sizeof(uint64_t), rmai_wire_runs_bytes(&runs));
    if (t->r.op == RMAI_RUNS_GET) do_blocks(t->net, k, NULL, k->data);
    d->work = k;
    return 1;
}

/* Tells the origin of a put: the place is ready, or the data are in it. */
static int send_note(struct rmai_net *net, struct transit *d, enum rmai_wire kind) {
    struct rmai_link *link = rmai_link_to(net, d->to);
    d->note.kind = (uint16_t)kind;
    d->note.done = link ? rmai_link_take_acks(link) : 0;
    return rmai_send(net->transport, d->to, RMAI_SHORT_TAG, &d->note, sizeof d->note, &d->sent);
}

static int begin_moving(struct task *t, struct transit *d, void *there) {
    struct rmai_transport *transport = t->net->transport;
    const size_t len = rmai_wire_long_bytes(t->e.value);
    int code;
    if (d->work) there = d->work->data;
    if (!d->puts) return rmai_send(transport, t->from, rmai_long_tag(d->note.number, 1), there, len, &d->data);
    code = rmai_receive(transport, t->from, rmai_long_tag(d->note.number, 0), there, len, &d->data);
    if (code == RMA_SUCCESS && send_note(t->net, d, RMAI_WIRE_GO) != RMA_SUCCESS) rmai_net_fatal(t->net);
    return code;
}

/* Starts moving long data. Every step that can fail comes before they move: after an error nothing is under way. */
static int begin_transit(struct task *t, void *there, void *hold) {
    struct rmai_replies *a = t->net->replies;
    struct transit *d = malloc(sizeof *d);
    int code = RMA_SUCCESS;
    if (d)
        *d = (struct transit){.hold = hold,
                              .puts = t->r.kind == RMAI_RECORD_PUT_LONG || t->r.flags & RMAI_RECORD_BRINGS,
                              .to = t->from,
                              .note.number = (uint16_t)rmai_wire_long_number(t->e.value)};
    if (!d || (t->r.kind == RMAI_RECORD_RUNS && !allocate_work(t, d, there)))
        code = rmai_error(RMA_ERR_NO_MEM, "%s: PE %d has no memory to move %zu bytes", t->call, t->net->job->my_pe,
                          rmai_wire_long_bytes(t->e.value));
    if (code == RMA_SUCCESS) code = find_signal(t, d);
    if (code == RMA_SUCCESS) code = begin_moving(t, d, there);
    if (code != RMA_SUCCESS) {
        if (d) release_hold(t->net, d->signal_hold);
        if (d) free(d->work);
        free(d);
        release_hold(t->net, hold);
        return code;
    }
    if (!d->puts) reply_of(t); /* at once: the origin may also wait for that */
    d->next = a->transits;
    a->transits = d;
    t->net->serving = 1;
    return RMA_SUCCESS;
}

static inline void ring_bell(const struct rmai_net *net, const void *word) {
    if (RMAI_UNLIKELY(word == net->bell.word)) rmai_rouse(net->bell.futex);
}

/* The data are in their place, or have left it. Returns RMA_SUCCESS or RMA_ERR_MPI. */
static int end_moving(struct rmai_net *net, struct transit *d) {
    if (d->puts && d->work) do_blocks(net, d->work, d->work->data, NULL);
    if (d->puts) atomic_thread_fence(memory_order_release);
    if (d->signal) {
        rmai_atomic(d->op, d->signal, sizeof *d->signal, d->value, 0);
        ring_bell(net, d->signal);
    }
    release_hold(net, d->hold);
    release_hold(net, d->signal_hold);
    free(d->work);
    d->landed = 1;
    return d->puts ? send_note(net, d, RMAI_WIRE_LANDED) : RMA_SUCCESS;
}

/* Returns 1 if nothing of it is left to do, 0 if something is under way, -1 if the transport has failed. */
static int advance_transit(struct rmai_net *net, struct transit *d) {
    int done = rmai_token_done(net->transport, &d->sent);
    if (done == 1 && !d->landed) {
        done = rmai_token_done(net->transport, &d->data);
        if (done == 1 && end_moving(net, d) != RMA_SUCCESS) return -1;
        if (done == 1) done = rmai_token_done(net->transport, &d->sent);
    }
    return done;
}

int rmai_serve_advance(struct rmai_net *net) {
    struct rmai_replies *a = net->replies;
    for (struct reply *r, **i = &a->sending; (r = *i) != NULL;) {
        int done = rmai_token_done(net->transport, &r->sent);
        if (done < 0) return RMA_ERR_MPI;
        if (!done) {
            i = &r->next;
            continue;
        }
        *i = r->next;
        keep_reply(a, r);
    }
    for (struct transit *d, **i = &a->transits; (d = *i) != NULL;) {
        const int over = advance_transit(net, d);
        if (over < 0) return RMA_ERR_MPI;
        if (!over) {
            i = &d->next;
            continue;
        }
        *i = d->next;
        free(d);
    }
    net->serving = a->sending || a->transits;
    return RMA_SUCCESS;
}

/* ---- records ---- */

/* The owner of the memory changes at random, so the processor would mispredict a branch on it: the two cases differ
 * only in numbers, which the compiler selects without a branch. */
static inline int locate(const struct task *t, uint64_t marked, size_t len, size_t alignment, int writes, void **there,
                         void **hold) {
    const struct rmai_net_handlers *h = &t->net->handlers;
    const struct rmai_job *job = t->net->job;
    const uint64_t at = rmai_by_node_offset(marked) - t->direct;
    const uint32_t owner = rmai_by_node_owner(marked);
    if (RMAI_UNLIKELY(owner > (uint32_t)job->node_n_pes))
        return marked & RMAI_AT_ADDRESS
                   ? h->locate(h->context, t->call, marked, len, alignment, writes, there, hold)
                   : rmai_error(RMA_ERR_ADDRESS, "%s: names PE %u of a node that has %d PE%s", t->call, owner - 1,
                                job->node_n_pes, job->node_n_pes == 1 ? "" : "s");
    if (RMAI_LIKELY(at < t->direct_len && len <= t->direct_len - at)) {
        unsigned char *first = owner ? t->direct_first : t->direct_there;
        *there = first + (owner ? owner - 1 : 0) * job->stride + at;
        return RMA_SUCCESS;
    }
    return h->locate(h->context, t->call, marked, len, alignment, writes, there, hold);
}

/* 1 if the program of a neighbour sleeps on the word `at` bytes from the start of its space. */
static RMAI_COLD int neighbour_sleeps_on(const struct rmai_job *job, uint64_t at, const struct rmai_facts *owner,
                                         const void *word) {
    const uint64_t there =
        at >= job->layout.symmetric ? owner->space + at : owner->statics + (at - job->layout.statics);
    return (uint64_t)(uintptr_t)word == there;
}

/* Wakes the thread of the word's owner that sleeps on it. */
static inline void rouse_sleeper(const struct task *t, uint64_t marked, void *there) {
    const struct rmai_job *job = t->net->job;
    const uint32_t owner = rmai_by_node_owner(marked);
    const struct rmai_facts *facts = owner ? rmai_facts(job, (int)owner - 1) : NULL;
    const void *word = atomic_load_explicit(facts ? &facts->slept_on : t->net->slept_on, memory_order_relaxed);
    if (t->r.op != RMA_FETCH_) ring_bell(t->net, there);
    if (RMAI_LIKELY(word == NULL)) return;
    if (facts ? neighbour_sleeps_on(job, rmai_by_node_offset(marked), facts, word) : word == there) rmai_rouse(there);
}

/* The position (base/update.h) of what an element names. */
static uint64_t position_of(const struct task *t, uint64_t marked) {
    const struct rmai_job *job = t->net->job;
    const uint32_t owner = rmai_by_node_owner(marked);
    return rmai_position(job, owner ? (int)owner - 1 : job->node_my_pe, rmai_by_node_offset(marked));
}

/* Writes the word's old value to *old, in the reply, unless it is NULL. striped: no instruction does it, since the word
 * is a float or a double, or has 1 or 2 bytes. */
static inline __attribute__((always_inline)) int do_atomic_as(const struct task *t, const unsigned char *element,
                                                              unsigned char *old, int striped) {
    struct rmai_element e = {0};
    const size_t len = t->r.len;
    void *there, *hold = NULL;
    uint64_t value;
    int code;
    memcpy(&e, element, 2 * sizeof(uint64_t));
    if (rmai_op_compares(t->r.op)) memcpy(&e.cond, element + 2 * sizeof(uint64_t), sizeof e.cond);
    code = locate(t, e.offset, len, len, t->r.op != RMA_FETCH_, &there, &hold);
    if (RMAI_UNLIKELY(code != RMA_SUCCESS)) return code;
    value = striped ? rmai_stripes_atomic(&t->net->job->stripes, position_of(t, e.offset), t->r.op, there, len, e.value,
                                          e.cond)
                    : rmai_atomic(t->r.op, there, len, e.value, e.cond);
    rouse_sleeper(t, e.offset, there);
    if (old) rmai_word_store(old, value, striped || len == 8 ? len : 4);
    release_hold(t->net, hold);
    return RMA_SUCCESS;
}

static inline int do_atomic(const struct task *t, const unsigned char *element, unsigned char *old) {
    return do_atomic_as(t, element, old, 0);
}

static __attribute__((noinline)) int do_striped_atomic(const struct task *t, const unsigned char *element,
                                                       unsigned char *old) {
    return do_atomic_as(t, element, old, 1);
}

/* Moves an aligned value of up to 8 bytes as a whole, as accesses on the node do. */
static inline int do_short_move(const struct task *t, const unsigned char *element, unsigned char *read) {
    uint64_t offset;
    void *there, *hold = NULL;
    int code;
    memcpy(&offset, element, sizeof offset);
    code = locate(t, offset, t->r.len, 1, !read, &there, &hold);
    if (RMAI_UNLIKELY(code != RMA_SUCCESS)) return code;
    if (read)
        rma_move_(read, there, t->r.len);
    else
        rma_move_(there, element + sizeof offset, t->r.len);
    release_hold(t->net, hold);
    return RMA_SUCCESS;
}

/* ---- runs ---- */

#define AHEAD 24 /* elements by which the processor fetches a word before it is used */

/* How a run is done that the compiler knows: `kind`, `op` and `len` are those of the record, and so are the two forms;
 * `alone` is the task's. */
struct run_form {
    int kind, op;
    size_t len;
    int compact, same, alone;
};

static inline __attribute__((always_inline)) uint64_t offset_in_run(const struct run_form *how, uint64_t base,
                                                                    const unsigned char *element) {
    uint64_t offset;
    uint32_t number;
    if (how->compact) {
        memcpy(&number, element, sizeof number);
        return base + number * (uint64_t)how->len;
    }
    memcpy(&offset, element, sizeof offset);
    return offset;
}

/* Does an atomic, and returns the old value. Without others an addition needs no locked instruction: this thread's
 * accesses come one after another, and those of other threads before or after the whole message. */
static inline __attribute__((always_inline)) uint64_t do_run_atomic(const struct run_form *how, void *there,
                                                                    uint64_t value, uint64_t cond) {
    _Atomic uint64_t *word = there;
    _Atomic uint32_t *half = there;
    uint64_t old;
    if (!how->alone) return rma_apply_(how->op, there, how->len, value, cond);
    old = how->len == 4 ? atomic_load_explicit(half, memory_order_relaxed)
                        : atomic_load_explicit(word, memory_order_relaxed);
    if (how->op == RMA_COMPARE_SWAP_)
        value = old == (how->len == 4 ? (uint32_t)cond : cond) ? value : old;
    else
        value = how->op == RMA_FETCH_ADD_ ? old + value : old ^ value;
    if (how->len == 4)
        atomic_store_explicit(half, (uint32_t)value, memory_order_relaxed);
    else
        atomic_store_explicit(word, value, memory_order_relaxed);
    return old;
}

/* Does the first elements of the record, as long as they lie in the memory of this PE that need not be located, and
 * returns how many. Old values or data go to `values`, 8 bytes each, unless it is NULL. */
static inline __attribute__((always_inline)) unsigned do_run_as(const struct task *t, struct run_form how,
                                                                unsigned char *values) {
    const int swaps = how.kind == RMAI_RECORD_ATOMIC && how.op == RMA_COMPARE_SWAP_,
              bare = how.kind == RMAI_RECORD_GET || (how.same && !swaps);
    const size_t place = how.compact ? sizeof(uint32_t) : sizeof(uint64_t), step = place + (bare ? 0 : how.len);
    const uint64_t first = t->direct, most = t->direct_len - how.len;
    unsigned char *const direct = t->direct_there;
    const unsigned char *element = t->elements;
    uint64_t base = 0, value = 0, cond = 0;
    unsigned i = 0;
    if (how.compact) memcpy(&base, element, sizeof base);
    if (how.compact) element += sizeof base;
    if (how.same) memcpy(swaps ? &cond : &value, element, sizeof value);
    if (how.same) element += sizeof value;
    for (; i < t->r.n; i++, element += step) {
        const uint64_t at = offset_in_run(&how, base, element) - first;
        void *there = direct + at;
        if (RMAI_UNLIKELY(at > most)) break;
        if (i + AHEAD < t->r.n) {
            const uint64_t next = offset_in_run(&how, base, element + AHEAD * step) - first;
            if (how.kind == RMAI_RECORD_GET)
                __builtin_prefetch(direct + next, 0);
            else
                __builtin_prefetch(direct + next, 1);
        }
        if (how.kind == RMAI_RECORD_GET) {
            rma_move_(values + i * sizeof value, there, how.len);
        } else if (how.kind == RMAI_RECORD_PUT) {
            rma_move_(there, element + place, how.len);
        } else {
            uint64_t old;
            if (!bare) memcpy(&value, element + place, how.len); /* the upper half stays zero */
            old = do_run_atomic(&how, there, value, cond);
            if (values) memcpy(values + i * sizeof value, &old, sizeof value);
        }
    }
    return i;
}

#define RUN_FORM(KIND, OP, LEN, FORM, ALONE)                                                                           \
    ((struct run_form){KIND, OP, LEN, (FORM) >= 1, (FORM) == 2,                                                        \
                       ALONE}) /* FORM 0: wide; 1: compact; 2: the same operand                                        \
                                */
#define FORM_OF(FLAGS) ((FLAGS)&RMAI_RECORD_SAME ? 2 : (FLAGS)&RMAI_RECORD_COMPACT ? 1 : 0)

static __attribute__((noinline)) unsigned do_run_puts(const struct task *t) {
    if (t->r.len == 4) return do_run_as(t, RUN_FORM(RMAI_RECORD_PUT, 0, 4, 1, 0), NULL);
    return FORM_OF(t->r.flags) ? do_run_as(t, RUN_FORM(RMAI_RECORD_PUT, 0, 8, 1, 0), NULL)
                               : do_run_as(t, RUN_FORM(RMAI_RECORD_PUT, 0, 8, 0, 0), NULL);
}
static __attribute__((noinline)) unsigned do_run_gets(const struct task *t, unsigned char *values) {
    if (t->r.len == 4) return do_run_as(t, RUN_FORM(RMAI_RECORD_GET, 0, 4, 1, 0), values);
    return FORM_OF(t->r.flags) ? do_run_as(t, RUN_FORM(RMAI_RECORD_GET, 0, 8, 1, 0), values)
                               : do_run_as(t, RUN_FORM(RMAI_RECORD_GET, 0, 8, 0, 0), values);
}

/* A run of additions, or of exclusive ors that return nothing. */
static inline __attribute__((always_inline)) unsigned do_run_atomics(const struct task *t, int op, size_t len,
                                                                     unsigned char *values) {
    switch (FORM_OF(t->r.flags) * 2 + t->alone) {
        case 5: return do_run_as(t, RUN_FORM(RMAI_RECORD_ATOMIC, op, len, 2, 1), values);
        case 4: return do_run_as(t, RUN_FORM(RMAI_RECORD_ATOMIC, op, len, 2, 0), values);
        case 3: return do_run_as(t, RUN_FORM(RMAI_RECORD_ATOMIC, op, len, 1, 1), values);
        case 2: return do_run_as(t, RUN_FORM(RMAI_RECORD_ATOMIC, op, len, 1, 0), values);
        default: return do_run_as(t, RUN_FORM(RMAI_RECORD_ATOMIC, op, 8, 0, 0), values);
    }
}
#define RUN_ATOMICS(NAME, OP, LEN, VALUES)                                                                             \
    static __attribute__((noinline)) unsigned NAME(const struct task *t, unsigned char *values) {                      \
        (void)values;                                                                                                  \
        return do_run_atomics(t, OP, LEN, VALUES);                                                                     \
    }
RUN_ATOMICS(do_run_adds, RMA_FETCH_ADD_, 8, NULL)
RUN_ATOMICS(do_run_fetching_adds, RMA_FETCH_ADD_, 8, values)
RUN_ATOMICS(do_run_xors, RMA_FETCH_XOR_, 8, NULL)
RUN_ATOMICS(do_run_half_adds, RMA_FETCH_ADD_, 4, NULL)
RUN_ATOMICS(do_run_half_fetching_adds, RMA_FETCH_ADD_, 4, values)

static __attribute__((noinline)) unsigned do_run_compare_swaps(const struct task *t, unsigned char *values) {
    return t->alone ? do_run_as(t, RUN_FORM(RMAI_RECORD_ATOMIC, RMA_COMPARE_SWAP_, 8, 2, 1), values)
                    : do_run_as(t, RUN_FORM(RMAI_RECORD_ATOMIC, RMA_COMPARE_SWAP_, 8, 2, 0), values);
}

static inline const unsigned char *element_at(const struct task *t, unsigned i, unsigned char wide[24]);

/* There is a bell: it may be one of the first `done` words. */
static RMAI_COLD void ring_for_run(const struct task *t, unsigned done) {
    unsigned char wide[24];
    uint64_t at;
    for (unsigned i = 0; i < done; i++) {
        memcpy(&at, element_at(t, i, wide), sizeof at);
        ring_bell(t->net, (const unsigned char *)t->direct_there + (at - t->direct));
    }
}

/* The most frequent kinds of runs, on words of 8 bytes, and of 4 bytes if the run is compact. A thread of this PE that
 * sleeps on one of the words wakes after all of them. */
static __attribute__((noinline)) unsigned do_run(const struct task *t, unsigned char *values) {
    const int half = t->r.len == 4;
    unsigned done = 0;
    void *word;
    if (t->direct_len < 8) return 0;
    if (t->r.kind == RMAI_RECORD_PUT) return do_run_puts(t);
    if (t->r.kind == RMAI_RECORD_GET) return do_run_gets(t, values);
    if (t->r.op == RMA_FETCH_ADD_ && values)
        done = half ? do_run_half_fetching_adds(t, values) : do_run_fetching_adds(t, values);
    else if (t->r.op == RMA_FETCH_ADD_)
        done = half ? do_run_half_adds(t, NULL) : do_run_adds(t, NULL);
    else if (t->r.op == RMA_FETCH_XOR_ && !values && !half)
        done = do_run_xors(t, NULL);
    else if (t->r.op == RMA_COMPARE_SWAP_ && t->r.flags & RMAI_RECORD_SAME && values && !half)
        done = do_run_compare_swaps(t, values);
    word = atomic_load_explicit(t->net->slept_on, memory_order_relaxed);
    if (RMAI_UNLIKELY(done && word != NULL)) rmai_rouse(word);
    if (RMAI_UNLIKELY(t->net->bell.word != NULL)) ring_for_run(t, done);
    return done;
}

static inline int may_be_steady(const struct rmai_record *r) { return r->len == 8 || r->flags & RMAI_RECORD_COMPACT; }

/* Writes an element of a compact run as it would stand in a wide one. Few come here: most compact runs are direct. */
static __attribute__((noinline)) const unsigned char *widen(const struct task *t, const unsigned char *element,
                                                            unsigned char wide[24]) {
    const int swaps = rmai_wire_is_swap(&t->r), same = t->r.flags & RMAI_RECORD_SAME;
    uint64_t offset, value = 0, cond = 0;
    uint32_t number;
    memcpy(&offset, t->elements, sizeof offset);
    memcpy(&number, element, sizeof number);
    offset += number * (uint64_t)t->r.len;
    if (same) memcpy(swaps ? &cond : &value, t->elements + sizeof offset, sizeof value);
    if (t->r.kind != RMAI_RECORD_GET && (swaps || !same)) memcpy(&value, element + sizeof number, t->r.len);
    memcpy(wide, &offset, sizeof offset);
    memcpy(wide + sizeof offset, &value, sizeof value);
    memcpy(wide + sizeof offset + sizeof value, &cond, sizeof cond);
    return wide;
}

/* Returns element i of the record. That of a compact run is in `wide`. */
static inline const unsigned char *element_at(const struct task *t, unsigned i, unsigned char wide[24]) {
    const unsigned char *element = t->elements + rmai_wire_head_bytes(&t->r) + i * rmai_wire_element_bytes(&t->r);
    return RMAI_UNLIKELY(t->r.flags & RMAI_RECORD_COMPACT) ? widen(t, element, wide) : element;
}

/* 1 if an atomic needs the lock of a stripe (base/update.h). */
static inline int is_striped(const struct rmai_record *r) { return r->op >= RMA_FETCH_FADD_ || r->len < 4; }

/* Elements that return nothing. */
static int do_plain_elements(const struct task *t) {
    unsigned char wide[24];
    unsigned i = may_be_steady(&t->r) ? do_run(t, NULL) : 0;
    int code = RMA_SUCCESS;
    if (t->r.kind == RMAI_RECORD_PUT)
        for (; i < t->r.n && code == RMA_SUCCESS; i++) code = do_short_move(t, element_at(t, i, wide), NULL);
    else if (RMAI_UNLIKELY(is_striped(&t->r)))
        for (; i < t->r.n && code == RMA_SUCCESS; i++) code = do_striped_atomic(t, element_at(t, i, wide), NULL);
    else
        for (; i < t->r.n && code == RMA_SUCCESS; i++) code = do_atomic(t, element_at(t, i, wide), NULL);
    return code;
}

/* Elements that return values; together these are the record's item. */
static int do_giving_elements(struct task *t) {
    const size_t value = t->r.kind == RMAI_RECORD_GET ? rmai_padded(t->r.len) : sizeof(uint64_t);
    unsigned char wide[24], *values = add_item(t, RMA_SUCCESS, t->r.n * value);
    unsigned i = may_be_steady(&t->r) ? do_run(t, values) : 0;
    int code = RMA_SUCCESS;
    values += i * value;
    if (RMAI_UNLIKELY(t->r.kind != RMAI_RECORD_GET && is_striped(&t->r)))
        for (; i < t->r.n && code == RMA_SUCCESS; i++, values += value)
            code = do_striped_atomic(t, element_at(t, i, wide), values);
    else if (t->r.kind == RMAI_RECORD_GET)
        for (; i < t->r.n && code == RMA_SUCCESS; i++, values += value)
            code = do_short_move(t, element_at(t, i, wide), values);
    else
        for (; i < t->r.n && code == RMA_SUCCESS; i++, values += value)
            code = do_atomic(t, element_at(t, i, wide), values);
    if (RMAI_LIKELY(code == RMA_SUCCESS)) return code;
    t->reply->bytes -= sizeof(struct rmai_item) + t->r.n * value; /* add_failure makes another item */
    t->reply->e.n--;
    return code;
}

/* Puts, gets or atomics: one, or a run. A run has no name, so its elements fail only in a damaged message. */
static int do_elements(struct task *t) {
    return t->r.kind == RMAI_RECORD_GET || t->r.flags & RMAI_RECORD_WANTED ? do_giving_elements(t)
                                                                           : do_plain_elements(t);
}

/* Long data, or the question whether a range exists. */
static int do_with_range(struct task *t) {
    const int look = t->r.kind == RMAI_RECORD_LOOK;
    const int writes = look ? (t->r.op == 2 ? -1 : t->r.op) : t->r.kind == RMAI_RECORD_PUT_LONG;
    const size_t align = look && t->r.len ? t->r.len : 1;
    void *there, *hold = NULL;
    const size_t len = look ? (size_t)t->e.value : rmai_wire_long_bytes(t->e.value);
    int code = locate(t, t->e.offset, len, align, writes, &there, &hold);
    if (code != RMA_SUCCESS) return code;
    if (!look) return begin_transit(t, there, hold);
    release_hold(t->net, hold);
    return RMA_SUCCESS;
}

/* Touches the blocks of attached or foreign memory: those of a run together, if they are not far apart. */
static RMAI_COLD int touch_blocks(struct task *t, const struct work *k, int writes) {
    const struct rmai_net_handlers *h = &t->net->handlers;
    int code = RMA_SUCCESS;
    for (unsigned i = 0; i < k->runs.n; i++) {
        const struct rmai_wire_run run = rmai_wire_run_at(&k->runs, k->list, i);
        const int64_t reach = (int64_t)(run.n - 1) * run.step, first = reach < 0 ? run.at + reach : run.at;
        const size_t span = (size_t)(reach < 0 ? -reach : reach) + run.len;
        const int apart = span > RMAI_TOUCHED_MOST;
        for (uint64_t j = 0; j < (apart ? run.n : 1); j++) {
            const int64_t at = apart ? run.at + (int64_t)j * run.step : first;
            void *there, *hold = NULL;
            code = h->locate(h->context, t->call, t->e.offset + (uint64_t)at, apart ? run.len : span, 1, writes, &there,
                             &hold);
            if (code != RMA_SUCCESS) return code;
            release_hold(t->net, hold);
        }
    }
    return code;
}

/* Blocks of several runs. The owner checks the whole range; the reader has checked that the blocks lie in it. */
static __attribute__((noinline)) int do_runs(struct task *t) {
    const struct rmai_wire_runs runs = rmai_wire_runs_of(t->e.cond);
    const unsigned char *list = t->elements + 4 * sizeof(uint64_t), *data = list + rmai_wire_runs_bytes(&runs);
    const int update = t->r.op >= RMAI_RUNS_UPDATE, writes = t->r.op != RMAI_RUNS_GET && t->r.op != RMAI_RUNS_FETCH;
    void *there, *hold = NULL;
    struct work k = {.runs = runs, .op = t->r.op, .list = list};
    const int wide = t->e.word > RMAI_TOUCHED_MOST;
    int code = locate(t, t->e.offset, (size_t)t->e.word, update ? rmai_type_align((enum rma_type)runs.type) : 1,
                      wide ? -1 : writes, &there, &hold);
    if (code != RMA_SUCCESS) return code;
    if (RMAI_UNLIKELY(wide && (hold || t->e.offset & RMAI_AT_ADDRESS)) &&
        (code = touch_blocks(t, &k, writes)) != RMA_SUCCESS) {
        release_hold(t->net, hold);
        return code;
    }
    if (rmai_wire_is_long(&t->r)) return begin_transit(t, there, hold);
    k.there = there;
    k.position = position_of(t, t->e.offset);
    do_blocks(t->net, &k, writes ? data : NULL,
              t->r.flags & RMAI_RECORD_WANTED ? add_item(t, RMA_SUCCESS, rmai_padded((size_t)t->e.value)) : NULL);
    release_hold(t->net, hold);
    return RMA_SUCCESS;
}

static int do_record(struct task *t) {
    struct rmai_net *net = t->net;
    const struct rmai_net_handlers *h = &net->handlers;
    uint64_t block;
    int code = RMA_SUCCESS;
    if (rmai_wire_may_run(&t->r)) return do_elements(t);
    t->e = rmai_wire_element(&t->r, t->elements);
    switch ((enum rmai_net_kind)t->r.kind) {
        case RMAI_RECORD_PUT_LONG:
        case RMAI_RECORD_GET_LONG:
        case RMAI_RECORD_LOOK: return do_with_range(t);
        case RMAI_RECORD_RUNS: return do_runs(t);
        case RMAI_RECORD_ALLOC:
            code = h->allocate(h->context, t->call, (size_t)t->e.value, &block);
            if (code == RMA_SUCCESS) add_value(t, &block, sizeof block);
            return code;
        case RMAI_RECORD_FREE: return h->give_back(h->context, t->call, t->e.offset);
        case RMAI_RECORD_EXTENTS: {
            size_t extent[RMAI_POOLS];
            struct rmai_directory d = {.address = {0}};
            h->extents(h->context, extent); /* first: memory is attached before the extent tells of it */
            if (net->dynamic.own) rmai_directory_read(&d, net->dynamic.own);
            for (int i = 0; i < RMAI_POOLS; i++) d.extent[i] = extent[i];
            add_value(t, &d, sizeof d);
            return RMA_SUCCESS;
        }
        default: return code; /* the reader knows no other kind */
    }
}

/* The origin has already checked the ranges of a record without a name. If one is wrong here, the message is not the
 * one that the origin sent. */
static int not_sent_so(const struct task *t, unsigned number) {
    char text[300];
    snprintf(text, sizeof text, "%s", rma_last_error());
    return rmai_error(RMA_ERR_MPI, "a message from PE %d is damaged: record %u%s", t->from, number, text);
}

/* Answers a request of this PE to itself: reads the reply, or the acknowledgement, in place of sending it. */
static __attribute__((noinline)) int answer_self(struct task *t) {
    struct reply *r = t->reply;
    struct rmai_wire_reader m;
    int code;
    if (!r) return rmai_link_done(t->net, t->from, 1);
    memcpy(r->message, &r->e, sizeof r->e);
    rmai_wire_open(&m, r->message, r->bytes);
    code = rmai_reply_take(t->net, t->from, &m);
    keep_reply(t->net->replies, r);
    return code;
}

/* Answers the request: by a reply, or by counting it. Without memory for the count it also sends a reply. */
static int answer_request(struct task *t) {
    struct rmai_link *link;
    if (RMAI_UNLIKELY(t->from == t->net->job->my_pe)) return answer_self(t);
    link = t->reply ? NULL : rmai_link_to(t->net, t->from);
    return link ? rmai_link_owe(t->net, link) : send_reply(t->net, reply_of(t));
}

int rmai_serve(struct rmai_net *net, int from, struct rmai_wire_reader *m) {
    struct rmai_error_kept kept;
    struct task t; /* some fields have no value before the first record */
    uint64_t served = 0;
    int more;
    t.net = net;
    t.from = from;
    t.expected = 0;
    t.reply = NULL;
    net->handlers.direct(net->handlers.context, &t.direct, &t.direct_len, &t.direct_there);
    t.direct_first = t.direct_there - (size_t)net->job->node_my_pe * net->job->stride;
    t.alone = net->alone && !net->visited;
    /* Every reader of this memory sees the requests of earlier turns, which another thread of this PE may have done,
     * before those of this turn. */
    atomic_thread_fence(memory_order_acq_rel);
    while ((more = rmai_wire_next_record(m, &t.r, t.call, &t.elements)) > 0) {
        int code;
        /* The program may be about to ask for its own last error. */
        if (t.r.name) rmai_error_keep(&kept);
        code = do_record(&t);
        if (RMAI_UNLIKELY(code != RMA_SUCCESS && (code == RMA_ERR_ADDRESS || !rmai_wire_expects(&t.r)) && !t.r.name))
            return not_sent_so(&t, m->next);
        if (code != RMA_SUCCESS) add_failure(&t, code);
        if (t.r.name) rmai_error_restore(&kept);
        if (rmai_wire_expects(&t.r)) t.expected++;
        served += t.r.n;
    }
    if (RMAI_UNLIKELY(more < 0)) return rmai_error(RMA_ERR_MPI, "a message from PE %d is damaged: %s", from, m->wrong);
    rmai_add(&net->traffic->more[RMAI_SERVED], served);
    return answer_request(&t);
}

int rmai_serve_ping(struct rmai_net *net, int from, const struct rmai_envelope *ping) {
    struct reply *r = begin_reply(net->replies, from, RMAI_WIRE_ALIVE);
    struct rmai_sign sign;
    assert(r && "rmai_serve_ready has been asked");
    r->e.number = ping->number;
    r->e.n = ping->n;
    net->handlers.sign(net->handlers.context, &sign);
    memcpy(r->message + r->bytes, &sign, sizeof sign);
    r->bytes += sizeof sign;
    return send_reply(net, r);
}

/* ---- opening and closing ---- */

int rmai_serve_open(struct rmai_net *net) {
    net->replies = calloc(1, sizeof *net->replies);
    if (net->replies && rmai_serve_ready(net)) return RMA_SUCCESS;
    return rmai_error(RMA_ERR_NO_MEM, "rma_init: no memory for replies");
}

/* All requests have been answered, and all replies received: the transport is done with them in a moment. */
void rmai_serve_close(struct rmai_net *net) {
    struct rmai_replies *a = net->replies;
    if (!a) return;
    while (a->sending || a->transits)
        if (rmai_serve_advance(net) != RMA_SUCCESS) break;
    for (struct reply *next, *r = a->idle; r; r = next) {
        next = r->next;
        free(r);
    }
    free(a);
    net->replies = NULL;
}
