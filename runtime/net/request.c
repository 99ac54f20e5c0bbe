/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations become elements of records in open messages; streams (stream.h) extend these records. */
#include "config.h"

#include "runtime/net/request.h"
#include "base/attributes.h"
#include "base/error.h"
#include "runtime/net/progress.h"
#include "runtime/net/wait.h"

#include <string.h>

#define SHORT_MOST  ((size_t)4096) /* longer data are sent by tag: one more round trip, two copies less */
#define INLINE_MOST ((size_t)3968) /* data of one element: with a word's record it fits into a message */

/* Bytes of elements that are added between two polls for replies. A poll that finds one sends the open message: with
 * 512 bytes the message itself was most of each element's cost. */
#define BYTES_A_POLL ((size_t)2048)

/* And messages of one element between two such polls: where the program polls its own memory by loads between two
 * operations, nothing else may receive what others send. */
#define ALONE_A_POLL 8

#define VAIN_MOST 4 /* streams in a row that no element joined */

/* ---- elements ---- */

/* 1 if the owner has to look up the memory: attached memory may be gone. */
static inline int is_attached(uint64_t offset) { return offset >= RMA_GPTR_ATTACHED_; }

/* The name that travels with an element if a mistake of the caller can make it fail, so that its reply may be a text;
 * else NULL. */
static const char *name_of(const struct rmai_op *op) {
    switch (op->kind) {
        case RMAI_RECORD_LOOK:
        case RMAI_RECORD_ALLOC:
        case RMAI_RECORD_FREE: return op->call;
        case RMAI_RECORD_EXTENTS: return NULL;
        default: return is_attached(op->offset) ? op->call : NULL;
    }
}

/* 1 if the element may go to a proxy (runtime/job/by_node): the neighbours of its PE reach its memory. */
static inline int may_go_by_node(const struct rmai_op *op) {
    return (op->kind == RMAI_RECORD_PUT || op->kind == RMAI_RECORD_GET || op->kind == RMAI_RECORD_ATOMIC) &&
           !is_attached(op->offset);
}

static struct rmai_record record_of(const struct rmai_op *op) {
    struct rmai_record r = {.kind = op->kind};
    switch (op->kind) {
        case RMAI_RECORD_PUT:
        case RMAI_RECORD_GET: r.len = (uint16_t)op->len; break;
        case RMAI_RECORD_ATOMIC:
            r.op = op->atomic;
            r.flags = op->buffer ? RMAI_RECORD_WANTED : 0;
            r.len = (uint16_t)op->len;
            break;
        case RMAI_RECORD_PUT_LONG:
            if (op->signal) {
                r.op = op->atomic;
                r.flags = RMAI_RECORD_SIGNAL;
            }
            break;
        case RMAI_RECORD_LOOK:
            r.op = op->atomic;
            r.len = (uint16_t)op->len;
            break;
        case RMAI_RECORD_RUNS:
            r.op = op->atomic;
            r.flags = op->runs->flags;
            r.len = (uint16_t)(op->runs->list_len + rmai_padded(op->runs->data_len));
            break;
        default: break;
    }
    return r;
}

/* Bytes of the value that an element of the record returns. */
static inline size_t value_of(const struct rmai_record *r, const struct rmai_op *op) {
    switch (r->kind) {
        case RMAI_RECORD_RUNS: return r->flags & RMAI_RECORD_WANTED ? (size_t)op->value : 0;
        case RMAI_RECORD_GET: return r->len;
        case RMAI_RECORD_ATOMIC: return r->flags & RMAI_RECORD_WANTED ? r->len : 0;
        case RMAI_RECORD_ALLOC: return sizeof(rma_gptr_t);
        case RMAI_RECORD_EXTENTS: return sizeof(struct rmai_directory);
        default: return 0;
    }
}

/* The room that elements need, as records of their own. */
struct need {
    size_t bytes, reply;
    unsigned asks, dests; /* records that ask for something, and elements of these */
};

static inline __attribute__((always_inline)) struct need need_of(const struct rmai_record *r, const struct rmai_op *op,
                                                                 const char *name) {
    const size_t value = value_of(r, op);
    struct need need = {.bytes = sizeof *r + rmai_wire_element_bytes(r)};
    if (name) need.bytes += rmai_padded(strlen(name));
    if (!name && !rmai_wire_expects(r)) return need;
    need.asks = need.dests = 1;
    need.reply = sizeof(struct rmai_item) + rmai_padded(name ? rmai_max(value, RMAI_TEXT_MAX) : value);
    return need;
}

static inline void add_need(struct need *sum, const struct need *more) {
    sum->bytes += more->bytes;
    sum->reply += more->reply;
    sum->asks += more->asks;
    sum->dests += more->dests;
}

static inline int fits(const struct rmai_message *m, const struct need *need) {
    if (m->bytes + need->bytes > RMAI_MESSAGE) return 0;
    if (need->dests == 0) return 1;
    return m->reply + need->reply <= RMAI_MESSAGE &&
           rmai_message_ask_bytes(m) + need->asks * sizeof(struct rmai_ask) + need->dests * sizeof(void *) <=
               RMAI_ASK_ROOM;
}

/* An element that is to be added. `waiter` is the call that waits for it, or NULL; `transfer` has its long data, or is
 * NULL. */
struct element {
    const struct rmai_op *op;
    struct rmai_record r;
    const char *name;
    struct rmai_waiter *waiter;
    struct rmai_transfer *transfer;
};

static inline struct element element_of(const struct rmai_op *op, struct rmai_waiter *waiter) {
    return (struct element){.op = op, .r = record_of(op), .name = name_of(op), .waiter = waiter};
}

/* Starts a record. Returns where its elements begin. */
static inline __attribute__((always_inline)) unsigned char *begin_record(struct rmai_message *m,
                                                                         const struct element *e) {
    struct rmai_record one = e->r;
    unsigned char *at = m->body + m->bytes;
    uint64_t word;
    m->run = e->name || e->waiter ? RMAI_NO_RUN : rmai_wire_word(&e->r);
    m->run_n = 1;
    m->last = m->bytes;
    m->n++;
    one.n = 1;
    one.name = (uint8_t)(e->name ? strlen(e->name) : 0);
    word = rmai_wire_word(&one);
    memcpy(at, &word, sizeof word);
    if (e->name) memcpy(at + sizeof word, e->name, one.name);
    return at + sizeof word + rmai_padded(one.name);
}

/* 1 if the element joins the message's last record: that one is the same, and can be a run. */
static inline int extends_run(const struct rmai_message *m, const struct element *e) {
    return !e->name && !e->waiter && rmai_wire_may_run(&e->r) && m->run == rmai_wire_word(&e->r);
}

/* Notes where the element's value goes: as an ask of its own or, with `extends`, of the last one. */
static inline __attribute__((always_inline)) void ask_for(struct rmai_message *m, const struct element *e,
                                                          int extends) {
    const uint8_t gives = (uint8_t)rmai_wire_gives(&e->r);
    if (!extends) {
        *rmai_message_ask(m, m->n_asks++) = (struct rmai_ask){
            .waiter = e->transfer && !e->transfer->get ? NULL : e->waiter,
            .first = m->n_dests,
            .len = (uint16_t)(e->transfer ? e->transfer->number : value_of(&e->r, e->op)),
            .gives = gives,
            .moves = e->transfer != NULL,
        };
        m->to_come = (uint16_t)(m->to_come + gives);
    }
    rmai_message_ask(m, m->n_asks - 1u)->n++;
    *rmai_message_dest(m, m->n_dests++) = e->op->buffer;
    if (e->waiter || e->transfer) m->awaited = 1;
}

/* Adds the element to f's open message, which has room for it. */
static inline __attribute__((always_inline)) void append(struct rmai_flow *f, const struct element *e,
                                                         const struct need *need, uint64_t mark) {
    const struct rmai_op *op = e->op;
    const struct rmai_record *r = &e->r;
    struct rmai_message *m = f->open;
    const unsigned words = rmai_wire_words(r);
    const uint64_t offset = op->offset | mark,
                   value = e->transfer ? rmai_wire_long((size_t)op->value, e->transfer->number) : op->value;
    const int extends = extends_run(m, e);
    unsigned char *at = m->body + m->bytes;
    if (extends) {
        const uint16_t n = ++m->run_n;
        memcpy(m->body + m->last + offsetof(struct rmai_record, n), &n, sizeof n);
    } else {
        at = begin_record(m, e);
    }
    memcpy(at, &offset, sizeof offset);
    if (words > 1) memcpy(at + 8, &value, sizeof value);
    if (words > 2) memcpy(at + 16, &op->cond, sizeof op->cond);
    if (words > 3) memcpy(at + 24, &op->word, sizeof op->word);
    at += words * sizeof(uint64_t);
    if (r->kind == RMAI_RECORD_PUT) {
        if (r->len == sizeof(uint64_t))
            memcpy(at, op->buffer, sizeof(uint64_t));
        else if (r->len) /* the buffer may be a null pointer */
            memcpy(at, op->buffer, r->len);
        at += rmai_padded(r->len);
    } else if (r->kind == RMAI_RECORD_RUNS) {
        memcpy(at, op->runs->list, op->runs->list_len);
        if (op->runs->data_len) memcpy(at + op->runs->list_len, op->runs->data, op->runs->data_len);
        at += r->len;
    }
    m->bytes = (size_t)(at - m->body);
    f->asked++;
    f->unpolled += need->bytes;
    if (r->kind == RMAI_RECORD_PUT || r->kind == RMAI_RECORD_PUT_LONG)
        rmai_pending_note_put(f->set, f->pe, r->kind == RMAI_RECORD_PUT);
    if (r->kind == RMAI_RECORD_RUNS && r->op != RMAI_RUNS_GET)
        rmai_pending_note_put(f->set, f->pe, !(r->flags & RMAI_RECORD_BRINGS));
    if (e->waiter) e->waiter->pe = f->pe;
    if (!need->dests) return;
    m->reply += need->reply;
    ask_for(m, e, extends);
}

/* Adds the element and, unless it is NULL, the atomic `signal`, which goes in the same message. Returns 0, with nothing
 * changed, if f has no open message with room. */
static inline __attribute__((always_inline)) int join(struct rmai_flow *f, const struct element *e,
                                                      const struct rmai_op *signal, uint64_t mark) {
    struct need first, second = {0}, all;
    struct element set = {.op = signal};
    if (RMAI_UNLIKELY(!f->open)) return 0;
    rmai_stream_settle(f->open);
    all = first = need_of(&e->r, e->op, e->name);
    if (extends_run(f->open, e)) {
        first.bytes -= sizeof e->r;
        if (first.asks) first.reply -= sizeof(struct rmai_item);
        first.asks = 0;
        all = first;
    }
    if (signal) {
        set.r = record_of(signal);
        second = need_of(&set.r, signal, NULL);
        add_need(&all, &second);
    }
    if (RMAI_UNLIKELY(!fits(f->open, &all))) return 0;
    /* Not earlier: while this thread waited for room, another one's quiet may have taken f off the list. */
    rmai_flow_list(f);
    append(f, e, &first, mark);
    if (signal) append(f, &set, &second, mark);
    return 1;
}

/* ---- when elements leave ---- */

/* 1 if elements for f gather in its open message. */
static inline int gathers(const struct rmai_flow *f) { return f->sent != f->acked || f->set->session; }

/* Returns whether the caller, which has added an element for f, has to poll for replies. */
static inline int is_poll_due(struct rmai_flow *f) {
    if (RMAI_LIKELY(f->unpolled < (f->set->session ? RMAI_MESSAGE : BYTES_A_POLL))) return 0;
    f->unpolled = 0;
    return 1;
}

/* 1 if further elements like this one may be added to a stream. Elements for a proxy carry marks, which differ. */
static inline int may_stream(const struct rmai_pending *s, const struct rmai_record *r) {
    return s->net->biased && !s->by_node && rmai_wire_may_run(r) && r->len > 0 && r->len <= RMAI_STREAM_LEN_MAX;
}

/* To open and close a stream takes as long as adding two elements. So where the last ones were of no use, as in an
 * exchange of borders, the next one begins with the third element of a run.
 *
 * The record of the caller stays out of memory: so the compiler knows what is in it. */
static __attribute__((noinline)) void open_stream(struct rmai_flow *f, const struct rmai_op *op) {
    const struct rmai_record r = record_of(op);
    if (rmai_stream_at(&f->set->streams, f->pe)->vain >= VAIN_MOST && f->open->run_n < 3) return;
    rmai_stream_open(f->open, op, &r, f->set->session ? RMAI_MESSAGE : BYTES_A_POLL - f->unpolled);
}

/* Adds a short element that no call waits for, and sends it if nothing is under way to its PE, unless it `stays`.
 * Returns 0, with nothing added (the flow may have got an empty message), if there is no memory, or no room without
 * waiting for some. */
static inline __attribute__((always_inline)) int add(struct rmai_net *net, const struct element *e,
                                                     const struct rmai_op *signal, int stays) {
    struct rmai_pending *s = e->op->set;
    uint64_t mark;
    struct rmai_flow *f = rmai_flow_to(s, e->op->pe, &mark);
    int due;
    if (RMAI_UNLIKELY(!f || (!f->open && !rmai_flow_begin(net, f)) || !join(f, e, signal, mark))) return 0;
    if (!stays && !gathers(f)) {
        rmai_flow_send(net, f);
        due = ++f->alone % ALONE_A_POLL == 0;
    } else {
        rmai_flows_note_gathered(net);
        if (stays) return 1;
        due = is_poll_due(f);
        if (!signal && may_stream(s, &e->r)) open_stream(f, e->op);
    }
    if (RMAI_UNLIKELY(due)) rmai_net_drive_once(net);
    return 1;
}

/* ---- the whole way: waiting for room ---- */

static struct rmai_flow *flow_for(const struct rmai_op *op, uint64_t *mark) {
    *mark = 0;
    return may_go_by_node(op) ? rmai_flow_to(op->set, op->pe, mark) : rmai_flow_of(op->set, op->pe);
}

static int may_transfer(const struct rmai_net *net, const struct rmai_flow *f) {
    return f->transfers < RMAI_CREDITS && net->n_transfers < RMAI_TRANSFERS;
}

static int has_room(struct rmai_message *m, const struct need *need) {
    rmai_stream_settle(m);
    return fits(m, need);
}

/* Returns the flow, with an open message that has room for the elements, or NULL without memory. While this
 * waits for room it releases the lock, and records may begin or cease to go by proxies. */
static struct rmai_flow *make_room(struct rmai_net *net, const struct rmai_op *op, const struct need *need, int is_long,
                                   uint64_t *mark) {
    struct rmai_flow *f = flow_for(op, mark);
    struct rmai_net_wait wait;
    int waited = 0;
    while (f) {
        const int full = f->open && !has_room(f->open, need);
        if (f->open && !full && (!is_long || may_transfer(net, f))) break;
        if (full && rmai_flow_has_credit(f)) {
            rmai_flow_send(net, f);
        } else if (!f->open && rmai_flow_begin(net, f)) {
            continue;
        } else if (!f->open && (net->n_messages == 0 || !f->link)) {
            f = NULL; /* the end of no other request will help */
        } else {
            /* Open messages of gathered puts may be all that there are. Only sending them makes some free again. */
            rmai_flows_send_gathered(net);
            if (!waited++) rmai_net_wait_begins(&wait, op->call, f->pe);
            rmai_net_wait_turn(net, &wait);
            f = flow_for(op, mark);
        }
    }
    if (waited) rmai_net_wait_ends(net, &wait);
    return f;
}

int rmai_request_submit(struct rmai_net *net, const struct rmai_op *op, const struct rmai_op *signal,
                        struct rmai_waiter *waiter) {
    struct element e = element_of(op, waiter);
    struct need need = need_of(&e.r, op, e.name);
    struct rmai_flow *f;
    uint64_t mark;
    const int is_long = rmai_wire_is_long(&e.r);
    int due = 0, joined;
    if (signal) {
        const struct rmai_record set = record_of(signal);
        const struct need second = need_of(&set, signal, NULL);
        add_need(&need, &second);
    }
    f = make_room(net, op, &need, is_long, &mark);
    if (f && is_long && !(e.transfer = rmai_transfer_begin(net, f, op, waiter))) {
        rmai_flow_give_up(net, f);
        f = NULL;
    }
    if (f) {
        joined = join(f, &e, signal, mark);
        assert(joined && "make_room has found the room");
        (void)joined;
        if (op->kind == RMAI_RECORD_RUNS && op->runs->landing && !e.transfer) {
            op->runs->landing->ask = f->open->n_asks - 1u;
            op->runs->landing->next = f->open->landings;
            f->open->landings = op->runs->landing;
        }
        if ((!gathers(f) || waiter || e.transfer) && rmai_flow_has_credit(f)) {
            rmai_flow_send(net, f);
        } else {
            rmai_flows_note_gathered(net);
            due = is_poll_due(f);
        }
    }
    if (due) rmai_net_drive(net);
    return f ? RMA_SUCCESS : rmai_net_no_memory(op->call, op->pe);
}

/* ---- operations ---- */

/* Operations that a stream takes are counted when it is closed. */
static inline void count_operation(const struct rmai_op *op) {
    rmai_count(op->set->traffic, RMA_PATH_REQUEST, rmai_record_traffic(op->kind), op->len);
}

/* Does a short operation that cannot fail, and for which nobody waits, and `signal` or NULL. */
static inline __attribute__((always_inline)) int begin(struct rmai_net *net, const struct rmai_op *op,
                                                       struct rmai_record r, const struct rmai_op *signal) {
    const struct element e = {.op = op, .r = r};
    count_operation(op);
    return RMAI_LIKELY(add(net, &e, signal, 0)) ? RMA_SUCCESS : rmai_request_submit(net, op, signal, NULL);
}

static __attribute__((noinline)) int begin_short(struct rmai_net *net, const struct rmai_op *op) {
    return begin(net, op, record_of(op), NULL);
}

static __attribute__((noinline)) int begin_with_signal(struct rmai_net *net, const struct rmai_op *put,
                                                       const struct rmai_op *signal) {
    return begin(net, put, (struct rmai_record){.kind = RMAI_RECORD_PUT, .len = (uint16_t)put->len}, signal);
}

/* Waits until the records for pe that have gone to its proxy are done: the next one goes to pe itself, and must come
 * after them. */
void rmai_request_complete_proxy(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe) {
    struct rmai_flow *f;
    uint64_t mark;
    if (!s->by_node) return;
    f = rmai_flow_busy(s, rmai_pending_goes_to(s, pe, &mark));
    if (f && f->pe != pe) rmai_flow_wait(net, call, f, s->age++);
}

/* Submits one element, and waits for its reply. */
static int submit_and_wait(struct rmai_net *net, const struct rmai_op *op) {
    struct rmai_waiter waiter;
    int code;
    rmai_waiter_begin(&waiter, 1);
    code = rmai_request_submit(net, op, NULL, &waiter);
    if (code == RMA_SUCCESS) code = rmai_net_wait_for(net, op->call, op->pe, &waiter);
    return code;
}

int rmai_request_ask(struct rmai_net *net, const struct rmai_op *op) {
    if (op->kind == RMAI_RECORD_FREE || op->kind == RMAI_RECORD_ATOMIC)
        rmai_request_complete_proxy(net, op->call, op->set, op->pe);
    return submit_and_wait(net, op);
}

/* Submits a put or get in pieces. Returns when all are submitted or, with a waiter, when all are done. */
static int move_in_pieces(struct rmai_net *net, const struct rmai_op *op, struct rmai_waiter *waiter) {
    const int longs = op->len > SHORT_MOST;
    const size_t most = longs ? RMAI_PIECE : INLINE_MOST;
    struct rmai_op piece = *op;
    int code = RMA_SUCCESS;
    piece.signal = 0;
    piece.cond = piece.word = 0; /* they travel, though nobody reads them */
    if (longs) piece.kind = op->kind == RMAI_RECORD_GET ? RMAI_RECORD_GET_LONG : RMAI_RECORD_PUT_LONG;
    for (size_t done = 0; code == RMA_SUCCESS && done < op->len; done += piece.len) {
        piece.len = rmai_min(op->len - done, most);
        piece.value = piece.len;
        piece.offset = op->offset + done;
        piece.buffer = (char *)op->buffer + done;
        if (waiter) waiter->left++;
        code = rmai_request_submit(net, &piece, NULL, waiter);
        if (waiter && code != RMA_SUCCESS) waiter->left--;
    }
    /* Also after a piece that could not be submitted: the replies to the others will write to our waiter. */
    if (waiter) {
        int waited = rmai_net_wait_for(net, op->call, op->pe, waiter);
        if (code == RMA_SUCCESS) code = waited;
    }
    return code;
}

/* Has the owner check the whole range before the first byte moves. It is for memory whose end only the owner knows, and
 * for ranges of several pieces: otherwise the first pieces would move before a later one fails. */
static int look_at_whole(struct rmai_net *net, const struct rmai_op *op) {
    struct rmai_op look = *op;
    if (op->len <= INLINE_MOST) return RMA_SUCCESS;
    look.kind = RMAI_RECORD_LOOK;
    look.atomic = op->kind == RMAI_RECORD_PUT;
    look.value = op->len;
    look.len = 1;
    look.buffer = NULL;
    return submit_and_wait(net, &look);
}

/* Does a put or get of any length whose elements may fail, or that has long data, or that the caller waits for. */
static int move_by_messages(struct rmai_net *net, const struct rmai_op *op) {
    const int get = op->kind == RMAI_RECORD_GET, attached = is_attached(op->offset);
    const int waits = attached || (get ? op->when == RMAI_NOW : op->len > SHORT_MOST && op->when != RMAI_LATER);
    struct rmai_waiter waiter;
    int code;
    if (waits && (op->len > SHORT_MOST || attached)) rmai_request_complete_proxy(net, op->call, op->set, op->pe);
    if (attached && (code = look_at_whole(net, op)) != RMA_SUCCESS) return code;
    rmai_waiter_begin(&waiter, 0);
    return move_in_pieces(net, op, waits ? &waiter : NULL);
}

/* The short path of an operation whose caller waits for its value: it joins the open message of its PE's flow and
 * leaves at once. Returns 0, with nothing changed, if there is no credit, no room or no memory. */
static inline __attribute__((always_inline)) int fetch_at_once(struct rmai_net *net, const struct rmai_op *op,
                                                               struct rmai_record r, int *code) {
    struct rmai_waiter waiter;
    const struct element e = {.op = op, .r = r, .waiter = &waiter};
    struct rmai_flow *f;
    uint64_t mark;
    int sent = 0;
    f = rmai_flow_to(op->set, op->pe, &mark);
    if (RMAI_LIKELY(f && rmai_flow_has_credit(f) && (f->open || rmai_flow_begin(net, f)))) {
        rmai_waiter_begin(&waiter, 1);
        sent = join(f, &e, NULL, mark);
        if (RMAI_LIKELY(sent)) rmai_flow_send(net, f);
    }
    if (RMAI_LIKELY(sent)) *code = rmai_net_wait_for(net, op->call, op->pe, &waiter);
    return sent;
}

/* 1 if the put or get is one element whose owner need not look up the memory. */
static inline int is_short(const struct rmai_op *op) { return op->len <= INLINE_MOST && !is_attached(op->offset); }

int rmai_request_move(struct rmai_net *net, const struct rmai_op *op) {
    if (is_short(op) && !(op->kind == RMAI_RECORD_GET && op->when == RMAI_NOW)) return begin_short(net, op);
    count_operation(op);
    return move_by_messages(net, op);
}

/* The compiler knows the records of the most frequent operations that are alone: puts and atomics of a word. */
int rmai_request_put(struct rmai_net *net, const struct rmai_op *op) {
    if (RMAI_UNLIKELY(op->len != 8 || is_attached(op->offset))) return rmai_request_move(net, op);
    return begin(net, op, (struct rmai_record){.kind = RMAI_RECORD_PUT, .len = 8}, NULL);
}

int rmai_request_put_gathered(struct rmai_net *net, const struct rmai_op *op) {
    const struct element e = {.op = op, .r = {.kind = RMAI_RECORD_PUT, .len = (uint16_t)op->len}};
    if (!is_short(op) || !add(net, &e, NULL, 1)) return rmai_request_move(net, op);
    count_operation(op);
    return RMA_SUCCESS;
}

int rmai_request_get(struct rmai_net *net, const struct rmai_op *op) {
    const struct rmai_record r = {.kind = RMAI_RECORD_GET, .len = (uint16_t)op->len};
    int code;
    if (RMAI_UNLIKELY(op->when != RMAI_NOW || !is_short(op))) return rmai_request_move(net, op);
    count_operation(op);
    return fetch_at_once(net, op, r, &code) ? code : move_by_messages(net, op);
}

/* Waits for an atomic on attached memory, so that its caller gets the error. */
static RMAI_COLD int atomic_on_attached(struct rmai_net *net, const struct rmai_op *op) {
    unsigned char nothing[8];
    struct rmai_op known = *op;
    count_operation(op);
    if (!op->buffer) known.buffer = nothing;
    return rmai_request_ask(net, &known);
}

/* The compiler knows the record. */
static __attribute__((noinline)) int begin_word_atomic(struct rmai_net *net, const struct rmai_op *op) {
    const uint8_t atomic = op->atomic;
    if (rmai_op_compares(atomic)) __builtin_unreachable();
    return begin(net, op, (struct rmai_record){.kind = RMAI_RECORD_ATOMIC, .op = atomic, .len = 8}, NULL);
}

int rmai_request_atomic(struct rmai_net *net, const struct rmai_op *op) {
    const struct rmai_record fetching = {
        .kind = RMAI_RECORD_ATOMIC, .op = op->atomic, .flags = RMAI_RECORD_WANTED, .len = (uint16_t)op->len};
    int code;
    if (RMAI_UNLIKELY(is_attached(op->offset))) return atomic_on_attached(net, op);
    if (op->buffer && op->when == RMAI_NOW) {
        count_operation(op);
        return fetch_at_once(net, op, fetching, &code) ? code : submit_and_wait(net, op);
    }
    return op->len == 8 && !op->buffer && !rmai_op_compares(op->atomic) ? begin_word_atomic(net, op)
                                                                        : begin_short(net, op);
}

/* A put with long data, and the signal that follows them. */
static int long_put_signal(struct rmai_net *net, const struct rmai_op *put, const struct rmai_op *signal) {
    struct rmai_op op = *put;
    op.kind = RMAI_RECORD_PUT_LONG;
    op.atomic = signal->atomic;
    op.value = put->len;
    op.cond = signal->value;
    op.word = signal->offset;
    op.signal = 1;
    count_operation(put);
    rmai_request_complete_proxy(net, op.call, op.set, op.pe);
    return op.when == RMAI_LATER ? rmai_request_submit(net, &op, NULL, NULL) : submit_and_wait(net, &op);
}

int rmai_request_put_signal(struct rmai_net *net, const struct rmai_op *put, const struct rmai_op *signal) {
    if (!put->len) return begin_short(net, signal);
    count_operation(signal);
    return put->len > INLINE_MOST ? long_put_signal(net, put, signal) : begin_with_signal(net, put, signal);
}
