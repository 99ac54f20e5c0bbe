/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "runtime/net/message.h"
#include "base/attributes.h"
#include "base/error.h"
#include "runtime/net/batch.h"
#include "runtime/net/progress.h"
#include "runtime/net/state.h"

#include <assert.h>
#include <string.h>

#define SHORT_MOST  ((size_t)4096) /* longer data are sent by tag: one more round trip, two copies less */
#define INLINE_MOST ((size_t)3968) /* data of one element: with a word's record it fits into a message */

/* Bytes of elements that are added between two polls for replies. A poll that finds one sends the open batch: with 512
 * bytes the message itself was most of each element's cost. */
#define BYTES_A_POLL ((size_t)2048)

/* And messages of one element between two such polls: where the program polls its own memory by loads between two
 * operations, nothing else may receive what others send. */
#define ALONE_A_POLL 8

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

/* 1 if the element may go to a proxy (by_node.h): the neighbours of its PE reach its memory. */
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

static inline int is_long(const struct rmai_op *op) {
    return op->kind == RMAI_RECORD_PUT_LONG || op->kind == RMAI_RECORD_GET_LONG ||
           (op->kind == RMAI_RECORD_RUNS && op->runs->flags & (RMAI_RECORD_BRINGS | RMAI_RECORD_TAKES));
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
    unsigned expects, dests; /* records that expect something from the reply, and elements of these */
};

static inline __attribute__((always_inline)) struct need need_of(const struct rmai_record *r, const struct rmai_op *op,
                                                                 const char *name) {
    const size_t value = value_of(r, op);
    struct need need = {.bytes = sizeof *r + rmai_wire_element_bytes(r)};
    if (name) need.bytes += rmai_padded(strlen(name));
    if (!name && !rmai_wire_expects(r)) return need;
    need.expects = need.dests = 1;
    need.reply = sizeof(struct rmai_item) + rmai_padded(name ? rmai_max(value, RMAI_TEXT_MAX) : value);
    return need;
}

static inline void add_need(struct need *sum, const struct need *more) {
    sum->bytes += more->bytes;
    sum->reply += more->reply;
    sum->expects += more->expects;
    sum->dests += more->dests;
}

static inline int fits(const struct rmai_batch *batch, const struct need *need) {
    size_t expects;
    if (batch->bytes + need->bytes > RMAI_MESSAGE) return 0;
    if (need->dests == 0) return 1;
    expects = need->expects * sizeof(struct rmai_expect) + need->dests * sizeof(void *);
    return batch->reply + need->reply <= RMAI_MESSAGE && rmai_batch_expect_bytes(batch) + expects <= RMAI_EXPECT_ROOM;
}

/* Starts a record at `at`. Returns where its elements begin. */
static inline unsigned char *begin_record(struct rmai_batch *batch, unsigned char *at, const struct rmai_record *r,
                                          const char *name) {
    struct rmai_record one = *r;
    uint64_t word;
    batch->run = name ? RMAI_NO_RUN : rmai_wire_word(r);
    batch->run_n = 1;
    batch->last = batch->bytes;
    batch->n++;
    one.n = 1;
    one.name = (uint8_t)(name ? strlen(name) : 0);
    word = rmai_wire_word(&one);
    memcpy(at, &word, sizeof word);
    if (name) memcpy(at + sizeof word, name, one.name);
    return at + sizeof word + rmai_padded(one.name);
}

/* 1 if the element joins the batch's last record: that one is the same, and can be a run. */
static inline int extends_run(const struct rmai_batch *batch, const struct rmai_record *r, const char *name,
                              const struct rmai_waiter *waiter) {
    return !name && !waiter && rmai_wire_may_run(r) && batch->run == rmai_wire_word(r);
}

/* Adds the destination of an element: of a new record or, with `extends`, of the last one. */
static inline void expect_value(struct rmai_batch *batch, const struct rmai_op *op, const struct rmai_record *r,
                                int extends, struct rmai_waiter *waiter) {
    if (!extends) {
        *rmai_batch_expect(batch, batch->n_expects++) = (struct rmai_expect){.waiter = waiter,
                                                                             .first = batch->n_dests,
                                                                             .len = (uint16_t)value_of(r, op),
                                                                             .gives = (uint16_t)rmai_wire_gives(r)};
        batch->to_come = (uint16_t)(batch->to_come + rmai_wire_gives(r));
    }
    rmai_batch_expect(batch, batch->n_expects - 1u)->n++;
    *rmai_batch_dest(batch, batch->n_dests++) = op->buffer;
}

/* Adds the element to p's open batch, which has room for it. */
static inline __attribute__((always_inline)) void append(struct rmai_peer *p, const struct rmai_op *op,
                                                         const struct rmai_record *r, const char *name,
                                                         const struct need *need, uint64_t mark,
                                                         struct rmai_waiter *waiter) {
    struct rmai_batch *batch = p->open;
    const unsigned words = rmai_wire_words(r);
    const uint64_t offset = op->offset | mark;
    const int extends = extends_run(batch, r, name, waiter);
    unsigned char *at = batch->message + batch->bytes;
    if (extends) {
        const uint16_t n = ++batch->run_n;
        memcpy(batch->message + batch->last + offsetof(struct rmai_record, n), &n, sizeof n);
    } else {
        at = begin_record(batch, at, r, name);
    }
    memcpy(at, &offset, sizeof offset);
    if (words > 1) memcpy(at + 8, &op->value, sizeof op->value);
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
    batch->bytes = (size_t)(at - batch->message);
    if (r->kind == RMAI_RECORD_PUT || r->kind == RMAI_RECORD_PUT_LONG)
        rmai_pending_note_put(p->set, p->pe, r->kind == RMAI_RECORD_PUT);
    if (r->kind == RMAI_RECORD_RUNS && r->op != RMAI_RUNS_GET)
        rmai_pending_note_put(p->set, p->pe, !(r->flags & RMAI_RECORD_BRINGS));
    p->asked++;
    p->unpolled += need->bytes;
    if (!need->dests) return;
    batch->reply += need->reply;
    expect_value(batch, op, r, extends, waiter);
    if (!waiter) return;
    batch->run = RMAI_NO_RUN;
    waiter->pe = p->pe;
    batch->awaited = 1;
}

/* Adds the element of the record r and, unless it is NULL, the atomic `signal`, which goes in the same message. Returns
 * 0, with nothing changed, if p has no open batch with room. */
static inline __attribute__((always_inline)) int join(struct rmai_peer *p, const struct rmai_op *op,
                                                      const struct rmai_record *r, const char *name,
                                                      const struct rmai_op *signal, uint64_t mark,
                                                      struct rmai_waiter *waiter) {
    struct need first, second = {0}, all;
    struct rmai_record set = {0};
    if (RMAI_UNLIKELY(!p->open)) return 0;
    rmai_batch_settle(p->open);
    first = need_of(r, op, name);
    if (extends_run(p->open, r, name, waiter)) {
        first.bytes -= sizeof *r;
        if (first.expects) first.reply -= sizeof(struct rmai_item);
        first.expects = 0;
    }
    all = first;
    if (signal) {
        set = record_of(signal);
        second = need_of(&set, signal, NULL);
        add_need(&all, &second);
    }
    if (RMAI_UNLIKELY(!fits(p->open, &all))) return 0;
    /* Not earlier: while this thread waited for room, another one's quiet may have taken p off the list. */
    rmai_peer_list(p);
    append(p, op, r, name, &first, mark, waiter);
    if (signal) append(p, signal, &set, NULL, &second, mark, NULL);
    return 1;
}

/* 1 if elements for p gather in its open batch. */
static inline int gathers(const struct rmai_peer *p) { return p->under_way > 0 || p->set->session; }

static inline size_t bytes_a_poll(const struct rmai_pending *s) { return s->session ? RMAI_MESSAGE : BYTES_A_POLL; }

/* Returns whether the caller, which has added an element for p, has to poll for replies. */
static inline int is_poll_due(struct rmai_peer *p) {
    if (RMAI_LIKELY(p->unpolled < bytes_a_poll(p->set))) return 0;
    p->unpolled = 0;
    return 1;
}

/* 1 if further elements like this one may be added to a stream. Elements for a proxy carry marks, which differ. */
static inline int may_stream(const struct rmai_pending *s, const struct rmai_record *r) {
    return s->net->biased && !rmai_pending_by_node(s) && rmai_wire_may_run(r) && r->len > 0 &&
           r->len <= RMAI_STREAM_LEN_MAX;
}

/* The record of the caller stays out of memory: so the compiler knows what is in it. */
static __attribute__((noinline)) void open_stream(struct rmai_peer *p, const struct rmai_op *op) {
    const struct rmai_record r = record_of(op);
    rmai_batch_open_stream(p->open, op, &r, p->set->session ? RMAI_MESSAGE : BYTES_A_POLL - p->unpolled);
}

/* ---- the whole way: waiting for room ---- */

static struct rmai_peer *peer_for(const struct rmai_op *op, uint64_t *mark) {
    *mark = 0;
    return may_go_by_node(op) ? rmai_peer_to(op->set, op->pe, mark) : rmai_peer_of(op->set, op->pe);
}

/* 1 if p's open batch has room. Long data travel with a batch of their own. */
static int has_room(const struct rmai_peer *p, const struct rmai_op *op, const struct need *need) {
    if (!p->open) return 0;
    if (is_long(op)) return p->open->n == 0 && p->under_way < RMAI_CREDITS;
    rmai_batch_settle(p->open);
    return fits(p->open, need);
}

/* Returns the peer, with an open batch that has room for the elements, or NULL without memory. The caller holds both
 * locks. While this waits for room it releases the set's lock, and records may begin or cease to go by proxies. */
static struct rmai_peer *make_room(struct rmai_net *net, const struct rmai_op *op, const struct need *need,
                                   uint64_t *mark) {
    struct rmai_pending *s = op->set;
    struct rmai_peer *p = peer_for(op, mark);
    struct rmai_net_wait wait;
    int waited = 0;
    while (p && !has_room(p, op, need)) {
        if (rmai_peer_has_open(p) && p->under_way < RMAI_CREDITS) {
            rmai_batch_send(net, p);
        } else if (!p->open && rmai_batch_open(net, p)) {
            continue;
        } else if (!p->open && (net->n_batches == 0 || !p->link)) {
            p = NULL; /* the end of no other request will help */
        } else {
            rmai_pending_unlock_inner(s);
            /* Open batches of gathered puts may hold all batches. Only sending them makes batches free again. */
            if (atomic_load_explicit(&net->gathered, memory_order_relaxed)) rmai_batches_send_gathered(net);
            if (!waited++) wait = rmai_net_wait_begins(op->call, p->pe);
            rmai_net_wait_turn(net, &wait);
            rmai_pending_lock_inner(s);
            p = peer_for(op, mark);
        }
    }
    if (waited) rmai_net_wait_ends(net, &wait);
    return p;
}

/* Attaches the long data to the open batch. It posts the receive of a get before the request is sent: so the target's
 * data never arrive unexpected. */
static void attach_long_data(struct rmai_net *net, struct rmai_batch *batch, const struct rmai_op *op) {
    batch->buffer = op->buffer;
    batch->len = op->kind == RMAI_RECORD_RUNS ? (size_t)op->value : op->len;
    batch->get =
        op->kind == RMAI_RECORD_GET_LONG || (op->kind == RMAI_RECORD_RUNS && op->runs->flags & RMAI_RECORD_TAKES);
    if (batch->get && rmai_receive(net->transport, op->pe, rmai_long_tag(batch->id, 1), batch->buffer, batch->len,
                                   &batch->data) != RMA_SUCCESS)
        rmai_net_fatal(net);
}

/* Adds the element, and the atomic `signal` or NULL, to the open batch of its peer, and sends the batch if it is time.
 * An element with long data has a batch of its own. This waits for room. The caller holds the net's lock. Returns
 * RMA_SUCCESS or RMA_ERR_NO_MEM. */
int rmai_message_submit(struct rmai_net *net, const struct rmai_op *op, const struct rmai_op *signal,
                        struct rmai_waiter *waiter) {
    struct rmai_pending *s = op->set;
    const char *name = name_of(op);
    const struct rmai_record r = record_of(op);
    struct need need = need_of(&r, op, name);
    struct rmai_peer *p;
    uint64_t mark;
    int due = 0, joined;
    if (signal) {
        const struct rmai_record set = record_of(signal);
        const struct need second = need_of(&set, signal, NULL);
        add_need(&need, &second);
    }
    rmai_pending_lock_inner(s);
    p = make_room(net, op, &need, &mark);
    if (p) {
        if (is_long(op)) attach_long_data(net, p->open, op);
        joined = join(p, op, &r, name, signal, mark, waiter);
        assert(joined && "make_room has found the room");
        (void)joined;
        if (op->kind == RMAI_RECORD_RUNS && op->runs->landing) {
            op->runs->landing->record = p->open->n_expects - 1u;
            op->runs->landing->next = p->open->landings;
            p->open->landings = op->runs->landing;
        }
        if (is_long(op) || (p->under_way == 0 && !s->session) || (waiter && p->under_way < RMAI_CREDITS))
            rmai_batch_send(net, p);
        else {
            rmai_batch_gathers(net);
            due = is_poll_due(p);
        }
    }
    rmai_pending_unlock_inner(s);
    if (due) rmai_net_drive(net);
    return p ? RMA_SUCCESS : rmai_net_no_memory(op->call, op->pe);
}

/* ---- operations ----
 *
 * The locks that the caller holds:
 *   none        begin and its kinds, begin_with_signal, submit_alone, submit_and_wait, and those of message.h
 *   the set's   begin_alone: it releases it
 *   the net's   submit, move_in_pieces, rmai_message_complete */

static RMAI_COLD int submit_alone(struct rmai_net *net, const struct rmai_op *op, const struct rmai_op *signal) {
    int code;
    rmai_net_lock(net);
    code = rmai_message_submit(net, op, signal, NULL);
    rmai_net_unlock(net);
    return code;
}

/* Begins a short operation that does not join a stream. If the set's lock is the net's, it sends a lone one itself. The
 * caller holds the set's lock; this releases it. */
static inline __attribute__((always_inline)) int
begin_alone(struct rmai_net *net, const struct rmai_op *op, const struct rmai_record *r, const struct rmai_op *signal) {
    struct rmai_pending *s = op->set;
    struct rmai_peer *p;
    uint64_t mark;
    int begun = 0, poll = 0, alone = 0;
    p = rmai_peer_to(s, op->pe, &mark);
    if (RMAI_LIKELY(p != NULL)) {
        if (gathers(p)) {
            begun = (rmai_peer_has_open(p) || (net->biased && (p->open || rmai_batch_open(net, p)))) &&
                    join(p, op, r, NULL, signal, mark, NULL);
            poll = begun && is_poll_due(p);
            if (begun) rmai_batch_gathers(net);
            if (begun && !signal && may_stream(s, r)) open_stream(p, op);
        } else if (net->biased && (p->open || rmai_batch_open(net, p))) {
            begun = join(p, op, r, NULL, signal, mark, NULL);
            if (RMAI_LIKELY(begun)) rmai_batch_send(net, p);
            alone = ++p->alone % ALONE_A_POLL == 0;
        }
    }
    rmai_pending_unlock(s);
    if (RMAI_UNLIKELY(poll || alone)) rmai_net_poll(net);
    return RMAI_LIKELY(begun) ? RMA_SUCCESS : submit_alone(net, op, signal);
}

static __attribute__((noinline)) int begin_with_signal(struct rmai_net *net, const struct rmai_op *put,
                                                       const struct rmai_op *signal) {
    const struct rmai_record r = {.kind = RMAI_RECORD_PUT, .len = (uint16_t)put->len};
    rmai_pending_lock(put->set);
    return begin_alone(net, put, &r, signal);
}

/* Operations that a stream takes are counted when it is closed. */
static inline void count_operation(const struct rmai_op *op) {
    rmai_count(op->set->traffic, RMA_PATH_REQUEST, rmai_record_traffic(op->kind), op->len);
}

/* The layers above have tried the stream of an operation by symmetric address, but not by global pointer. */
static __attribute__((noinline)) int stream_takes(const struct rmai_op *op, uint64_t key) {
    struct rmai_streams *all = &op->set->streams;
    struct rmai_stream *s = rmai_stream_at(all, op->pe);
    const uint64_t from = op->offset - s->base;
    switch (op->kind) {
        case RMAI_RECORD_PUT: return rmai_stream_put(all, s, key, from, op->buffer, op->len);
        case RMAI_RECORD_GET: return rmai_stream_get(all, s, key, from, op->buffer, op->len);
        default:
            return rmai_op_compares(op->atomic)
                       ? rmai_stream_compare_swap(all, s, key, from, op->value, op->cond, op->len, op->buffer)
                       : rmai_stream_atomic(all, s, key, from, op->value, op->len, op->buffer);
    }
}

/* Begins a short operation that cannot fail, and for which nobody waits. */
static inline __attribute__((always_inline)) int begin(struct rmai_net *net, const struct rmai_op *op,
                                                       const struct rmai_record *r) {
    const uint64_t key = rmai_stream_key(op->pe, r->kind, r->op, r->flags, r->len);
    const uint64_t open = atomic_load_explicit(&rmai_stream_at(&op->set->streams, op->pe)->key, memory_order_relaxed);
    if (r->len <= RMAI_STREAM_LEN_MAX && (open & ~RMAI_STREAM_COMPACT) == key && stream_takes(op, open))
        return RMA_SUCCESS;
    count_operation(op);
    rmai_pending_lock(op->set);
    return begin_alone(net, op, r, NULL);
}

/* The compiler knows the records of the most frequent operations that are alone: puts and atomics of a word. */
static __attribute__((noinline)) int begin_word_put(struct rmai_net *net, const struct rmai_op *op) {
    static const struct rmai_record r = {.kind = RMAI_RECORD_PUT, .len = 8};
    return begin(net, op, &r);
}

static __attribute__((noinline)) int begin_word_atomic(struct rmai_net *net, const struct rmai_op *op) {
    const uint8_t atomic = op->atomic;
    const struct rmai_record r = {.kind = RMAI_RECORD_ATOMIC, .op = atomic, .len = 8};
    if (rmai_op_compares(atomic)) __builtin_unreachable();
    return begin(net, op, &r);
}

static __attribute__((noinline)) int begin_short(struct rmai_net *net, const struct rmai_op *op) {
    const struct rmai_record r = record_of(op);
    return begin(net, op, &r);
}

/* Waits until the records for pe that have gone to its proxy are done: the next one goes to pe itself, and must come
 * after them. */
void rmai_message_complete_proxy(struct rmai_net *net, const char *call, struct rmai_pending *s, int pe) {
    struct rmai_peer *p;
    uint64_t mark;
    if (!rmai_pending_by_node(s)) return;
    rmai_net_lock(net);
    rmai_pending_lock_inner(s);
    p = s->busy;
    while (p && p->pe != rmai_pending_goes_to(s, pe, &mark)) p = p->next;
    rmai_pending_unlock_inner(s);
    if (p && p->pe != pe) rmai_message_complete(net, call, p);
    rmai_net_unlock(net);
}

/* Submits one element, and waits for its reply. */
static int submit_and_wait(struct rmai_net *net, const struct rmai_op *op) {
    struct rmai_waiter waiter;
    int code;
    rmai_waiter_begin(&waiter, 1);
    rmai_net_lock(net);
    code = rmai_message_submit(net, op, NULL, &waiter);
    if (code == RMA_SUCCESS) code = rmai_net_wait_for(net, op->call, op->pe, &waiter);
    rmai_net_unlock(net);
    return code;
}

int rmai_message_ask(struct rmai_net *net, const struct rmai_op *op) {
    if (op->kind == RMAI_RECORD_FREE || op->kind == RMAI_RECORD_ATOMIC)
        rmai_message_complete_proxy(net, op->call, op->set, op->pe);
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
        code = rmai_message_submit(net, &piece, NULL, waiter);
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
    if (waits && (op->len > SHORT_MOST || attached)) rmai_message_complete_proxy(net, op->call, op->set, op->pe);
    if (attached && (code = look_at_whole(net, op)) != RMA_SUCCESS) return code;
    rmai_waiter_begin(&waiter, 0);
    rmai_net_lock(net);
    code = move_in_pieces(net, op, waits ? &waiter : NULL);
    rmai_net_unlock(net);
    return code;
}

/* The short path of an operation whose caller waits for its value: it joins the open batch of its PE and leaves at
 * once. Returns 0, with nothing changed, if too many batches to that PE are unanswered, or there is no room or no
 * memory. */
static inline __attribute__((always_inline)) int fetch_at_once(struct rmai_net *net, const struct rmai_op *op,
                                                               const struct rmai_record *r, int *code) {
    struct rmai_waiter waiter;
    struct rmai_peer *p;
    uint64_t mark;
    int sent = 0;
    rmai_net_lock(net);
    rmai_pending_lock_inner(op->set);
    p = rmai_peer_to(op->set, op->pe, &mark);
    if (RMAI_LIKELY(p && p->under_way < RMAI_CREDITS && (p->open || rmai_batch_open(net, p)))) {
        rmai_waiter_begin(&waiter, 1);
        sent = join(p, op, r, NULL, NULL, mark, &waiter);
        if (RMAI_LIKELY(sent)) rmai_batch_send(net, p);
    }
    rmai_pending_unlock_inner(op->set);
    if (RMAI_LIKELY(sent)) *code = rmai_net_wait_for(net, op->call, op->pe, &waiter);
    rmai_net_unlock(net);
    return sent;
}

int rmai_message_put(struct rmai_net *net, const struct rmai_op *op) {
    if (RMAI_UNLIKELY(op->len > INLINE_MOST || is_attached(op->offset)))
        return count_operation(op), move_by_messages(net, op);
    return op->len == 8 ? begin_word_put(net, op) : begin_short(net, op);
}

/* With a mutex for each set, only the holder of the net's lock opens a batch: then the put leaves at once. */
int rmai_message_put_gathered(struct rmai_net *net, const struct rmai_op *op) {
    const struct rmai_record r = {.kind = RMAI_RECORD_PUT, .len = (uint16_t)op->len};
    struct rmai_peer *p;
    uint64_t mark;
    int begun;
    if (op->len > INLINE_MOST || is_attached(op->offset) || !net->biased) return rmai_message_put(net, op);
    rmai_pending_lock(op->set);
    p = rmai_peer_to(op->set, op->pe, &mark);
    begun = p && (p->open || rmai_batch_open(net, p)) && join(p, op, &r, NULL, NULL, mark, NULL);
    if (begun) rmai_batch_gathers(net);
    rmai_pending_unlock(op->set);
    if (!begun) return rmai_message_put(net, op);
    rmai_count(op->set->traffic, RMA_PATH_REQUEST, RMAI_PUTS, op->len);
    return RMA_SUCCESS;
}

static __attribute__((noinline)) int get_now(struct rmai_net *net, const struct rmai_op *op) {
    const struct rmai_record r = {.kind = RMAI_RECORD_GET, .len = (uint16_t)op->len};
    int code;
    return fetch_at_once(net, op, &r, &code) ? code : move_by_messages(net, op);
}

int rmai_message_get(struct rmai_net *net, const struct rmai_op *op) {
    const int moves = RMAI_UNLIKELY(op->len > INLINE_MOST || is_attached(op->offset));
    if (!moves && op->when != RMAI_NOW) return begin_short(net, op);
    count_operation(op);
    return moves ? move_by_messages(net, op) : get_now(net, op);
}

/* Waits for an atomic on attached memory, so that its caller gets the error. */
static RMAI_COLD int atomic_on_attached(struct rmai_net *net, const struct rmai_op *op) {
    unsigned char nothing[8];
    struct rmai_op known = *op;
    if (!op->buffer) known.buffer = nothing;
    return rmai_message_ask(net, &known);
}

static __attribute__((noinline)) int atomic_now(struct rmai_net *net, const struct rmai_op *op) {
    const struct rmai_record r = {
        .kind = RMAI_RECORD_ATOMIC, .op = op->atomic, .flags = RMAI_RECORD_WANTED, .len = (uint16_t)op->len};
    int code;
    return fetch_at_once(net, op, &r, &code) ? code : submit_and_wait(net, op);
}

int rmai_message_atomic(struct rmai_net *net, const struct rmai_op *op) {
    if (RMAI_UNLIKELY(is_attached(op->offset))) return count_operation(op), atomic_on_attached(net, op);
    if (op->buffer && op->when == RMAI_NOW) return count_operation(op), atomic_now(net, op);
    return op->len == 8 && !op->buffer && !rmai_op_compares(op->atomic) ? begin_word_atomic(net, op)
                                                                        : begin_short(net, op);
}

/* A put with long data, and the signal that follows them. */
static int long_put_signal(struct rmai_net *net, const struct rmai_op *put, const struct rmai_op *signal) {
    struct rmai_op op = *put;
    struct rmai_waiter waiter;
    int code;
    op.kind = RMAI_RECORD_PUT_LONG;
    op.atomic = signal->atomic;
    op.value = put->len;
    op.cond = signal->value;
    op.word = signal->offset;
    op.signal = 1;
    rmai_message_complete_proxy(net, op.call, op.set, op.pe);
    rmai_waiter_begin(&waiter, 1);
    rmai_net_lock(net);
    code = rmai_message_submit(net, &op, NULL, op.when == RMAI_LATER ? NULL : &waiter);
    if (code == RMA_SUCCESS && op.when != RMAI_LATER) code = rmai_net_wait_for(net, op.call, op.pe, &waiter);
    rmai_net_unlock(net);
    return code;
}

int rmai_message_put_signal(struct rmai_net *net, const struct rmai_op *put, const struct rmai_op *signal) {
    if (!put->len) return begin_short(net, signal);
    count_operation(signal);
    count_operation(put);
    if (put->len > INLINE_MOST) return long_put_signal(net, put, signal);
    return begin_with_signal(net, put, signal);
}

/* ---- completion ---- */

void rmai_message_complete(struct rmai_net *net, const char *call, struct rmai_peer *p) {
    struct rmai_net_wait wait = rmai_net_wait_begins(call, p->pe);
    rmai_pending_lock_inner(p->set);
    while (p->under_way || rmai_peer_has_open(p)) {
        if (rmai_peer_has_open(p) && p->under_way < RMAI_CREDITS) {
            rmai_batch_send(net, p);
        } else {
            rmai_pending_unlock_inner(p->set);
            rmai_net_wait_turn(net, &wait);
            rmai_pending_lock_inner(p->set);
        }
    }
    if (!p->touched && p->listed) rmai_peer_unlist(p);
    rmai_pending_unlock_inner(p->set);
    rmai_net_wait_ends(net, &wait);
}
