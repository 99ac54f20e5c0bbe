/* SPDX-License-Identifier: BSD-3-Clause */
/* The asking side. A batch is a message under way with what its answer will fill; a peer has one more batch open, in
 * which records gather. An open batch leaves when nothing is under way to its peer, when somebody waits for it, when
 * it is full, and when an answer comes back: so a lone record never waits, and a stream sends as much at once as came
 * together in a round trip.
 *
 * Nothing here waits without driving the progress of all, so two PEs that wait for each other serve each other. */
#include "config.h"

#include "runtime/net/net.h"
#include "base/attributes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/word.h"
#include "base/mpi.h"
#include "base/wait.h"
#include "runtime/meet.h"
#include "runtime/world.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define INLINE_MOST        ((size_t)4096) /* longer ones are sent by tag: a round trip more, two copies less */
#define INLINE_PIECE       ((size_t)3968) /* data of one record: it fits a message, with a word's record */
#define POLLS              3000           /* looks before the first nap: longer than most answers take */
#define POLLS_CROWDED      20
#define NAP_FIRST          10000 /* nanoseconds; the kernel adds some 20 us */
#define NAP_LAST           200000
#define SHORT_MOST         ((size_t)1024) /* see in_window */
#define LONG_FROM          ((size_t)32768)
#define WINDOW_PIECE       ((size_t)8 << 20)  /* bytes through the window before others are served, */
#define WINDOW_PIECE_LATER ((size_t)64 << 20) /* and of a nonblocking call */
#define DOORBELL_EVERY     64
#define DOORBELL_ATOMICS   4        /* most are waited for, one by one */
#define PAUSE              2000000u /* ticks */
#define LOCK_POLLS         1000
#define MESSAGES_MOST      64   /* heard before the caller goes on with its own work */
#define LOOKS_A_STALL      1024 /* looks for messages between looks whether the wait has become long */
#define RECORDS_A_LOOK     16   /* added between looks for answers */

/* ---- the lock ---- */

/* Who holds it polls for its own answer, which is long; so it is asked for by `wanted` too, and then let go of between
 * two looks. Where processors suffice nobody goes to sleep for it at once: to be woken would take longer than the
 * message. */
static void lock(struct rmai_net *f) {
    if (RMAI_LIKELY(pthread_mutex_trylock(&f->lock) == 0)) return;
    atomic_fetch_add_explicit(&f->wanted, 1, memory_order_relaxed);
    for (int i = f->crowded ? 0 : LOCK_POLLS; i > 0; i--) {
        rmai_pause();
        if (pthread_mutex_trylock(&f->lock) != 0) continue;
        atomic_fetch_sub_explicit(&f->wanted, 1, memory_order_relaxed);
        return;
    }
    pthread_mutex_lock(&f->lock);
    atomic_fetch_sub_explicit(&f->wanted, 1, memory_order_relaxed);
}

static void unlock(struct rmai_net *f) { pthread_mutex_unlock(&f->lock); }

/* Lets one of those who want the lock have it, if there is one. */
static void give_way(struct rmai_net *f) {
    int wanted = atomic_load_explicit(&f->wanted, memory_order_relaxed);
    if (RMAI_LIKELY(wanted == 0)) return;
    unlock(f);
    for (int i = 0; i < LOCK_POLLS && atomic_load_explicit(&f->wanted, memory_order_relaxed) >= wanted; i++)
        rmai_pause();
    lock(f);
}

/* Of a pending set: the inner one, never held while this waits for a message. */
static void hold(struct rmai_pending *s) { pthread_mutex_lock(&s->lock); }
static void let(struct rmai_pending *s) { pthread_mutex_unlock(&s->lock); }

/* What the service cannot go on without has failed. Requests of this process refer to memory of callers that must not
 * return: the job ends, whatever the error handler. */
static void fatal(void) {
    char text[1024];
    memcpy(text, rma_last_error(), sizeof text);
    text[sizeof text - 1] = 0;
    rma_errors_abort(rma_last_code(), text);
}

/* ---- peers ---- */

static unsigned hash(int pe) { return (unsigned)pe * 2654435769u; }

static struct rmai_peer **slot_of(struct rmai_peer **table, unsigned room, int pe) {
    unsigned i = hash(pe) & (room - 1);
    while (table[i] && table[i]->pe != pe) i = (i + 1) & (room - 1);
    return &table[i];
}

static int no_memory(const char *call, int pe) {
    return rmai_error(RMA_ERR_NO_MEM, "%s: no memory for a request to PE %d", call, pe);
}

/* The table is kept at most half full. */
static int make_place(struct rmai_pending *s) {
    unsigned room = s->room ? 2 * s->room : 16;
    struct rmai_peer **table;
    if (2 * (s->n_peers + 1) <= s->room) return 0;
    table = calloc(room, sizeof(struct rmai_peer *));
    if (!table) return -1;
    for (unsigned i = 0; i < s->room; i++)
        if (s->peers[i]) *slot_of(table, room, s->peers[i]->pe) = s->peers[i];
    free(s->peers);
    s->peers = table;
    s->room = room;
    return 0;
}

/* NULL without memory. Only threads of the program come here. */
static struct rmai_peer *peer_of(struct rmai_pending *s, int pe) {
    struct rmai_peer **slot;
    if (RMAI_LIKELY(s->last && s->last->pe == pe)) return s->last;
    if (make_place(s) != 0) return NULL;
    slot = slot_of(s->peers, s->room, pe);
    if (!*slot) {
        *slot = calloc(1, sizeof **slot);
        if (!*slot) return NULL;
        (*slot)->set = s;
        (*slot)->pe = pe;
        (*slot)->doorbell = MPI_REQUEST_NULL;
        s->n_peers++;
    }
    return s->last = *slot;
}

/* ---- flushes of MPI's window ---- */

static int flush_window(struct rmai_world *w, const char *call, struct rmai_pending *s, int pe) {
    int code;
    rmai_flush_begins(&s->flush, call, pe);
    code = pe < 0 ? rmai_transport_flush_all(&w->transport, call) : rmai_transport_flush(&w->transport, call, pe);
    rmai_flush_ends(&s->flush);
    return code;
}

static int flush_window_local(struct rmai_world *w, const char *call, struct rmai_pending *s, int pe) {
    int code;
    rmai_flush_begins(&s->flush, call, pe);
    code = rmai_transport_flush_local(&w->transport, call, pe);
    rmai_flush_ends(&s->flush);
    return code;
}

static void set_nothing_pending(struct rmai_pending *s, uint32_t nothing) {
    /* Release: a thread whose quiet finds it calm, because another one's quiet was, sees what that one has waited for.
     */
    __atomic_store_n(s->nothing_pending, nothing, __ATOMIC_RELEASE);
    if (s->nothing_pending_too != s->nothing_pending)
        __atomic_store_n(s->nothing_pending_too, nothing, __ATOMIC_RELEASE);
}

/* Something of p has to be completed by quiet. */
static void list(struct rmai_peer *p) {
    if (p->listed) return;
    p->listed = 1;
    p->next = p->set->busy;
    p->set->busy = p;
    set_nothing_pending(p->set, 0);
}

/* Messages of one PE to another are heard and done in the order in which they were sent; long data and the window are
 * apart. */
static void note_put(struct rmai_pending *s, int pe, int in_order) {
    int before = atomic_load_explicit(&s->puts, memory_order_relaxed), mine = in_order ? 1 + pe : RMAI_MANY_PUTS;
    if (before != RMAI_NO_PUTS && before != mine) mine = RMAI_MANY_PUTS;
    if (before != mine) atomic_store_explicit(&s->puts, mine, memory_order_relaxed);
}

/* Nothing of p is left to be completed. */
static void unlist(struct rmai_world *w, struct rmai_peer *p) {
    struct rmai_pending *s = p->set;
    for (struct rmai_peer **i = &s->busy; *i; i = &(*i)->next)
        if (*i == p) {
            *i = p->next;
            p->listed = 0;
            break;
        }
    if (s->busy) return;
    atomic_store_explicit(&s->puts, RMAI_NO_PUTS, memory_order_relaxed);
    set_nothing_pending(s, !w->net.amo_mpi);
}

void rmai_pending_open(struct rmai_world *w, struct rmai_pending *s, uint32_t *nothing_pending,
                       uint32_t *nothing_pending_too) {
    *s = (struct rmai_pending){.nothing_pending = nothing_pending, .nothing_pending_too = nothing_pending_too};
    pthread_mutex_init(&s->lock, NULL);
    set_nothing_pending(s, !(w->net.active && w->net.amo_mpi));
}

void rmai_pending_close(struct rmai_pending *s) {
    for (unsigned i = 0; i < s->room; i++) {
        if (s->peers[i]) rmai_transport_let_go(&s->peers[i]->doorbell);
        free(s->peers[i]);
    }
    free(s->peers);
    free(s->operands);
    pthread_mutex_destroy(&s->lock);
}

/* ---- batches ---- */

static struct rmai_batch *take(struct rmai_net *f) {
    struct rmai_batch *batch = f->idle;
    if (batch) {
        f->idle = batch->next;
    } else {
        if (f->n_batches == RMAI_BATCHES || !(batch = malloc(sizeof *batch))) return NULL;
        batch->id = (uint16_t)f->n_batches;
        f->batch[f->n_batches++] = batch;
    }
    batch->n = batch->answered = 0;
    batch->bytes = batch->answer = sizeof(struct rmai_envelope);
    batch->sent = batch->data = MPI_REQUEST_NULL;
    batch->buffer = NULL;
    batch->get = 0;
    return batch;
}

/* Both locks are held. */
static void leave(struct rmai_world *w, struct rmai_peer *p) {
    struct rmai_batch *batch = p->open;
    const struct rmai_envelope e = {.kind = RMAI_WIRE_REQUEST, .batch = batch->id, .n = batch->n};
    memcpy(batch->message, &e, sizeof e);
    p->open = NULL;
    p->under_way++;
    rmai_add(&w->traffic.more[RMAI_SENT], 1);
    if (rmai_transport_send(&w->transport, p->pe, batch->message, batch->bytes, &batch->sent) != RMA_SUCCESS) fatal();
}

/* A batch is over when it is answered, and neither its message nor its data are in MPI's hands any more. */
static void land(struct rmai_world *w, struct rmai_batch *batch) {
    struct rmai_net *f = &w->net;
    struct rmai_peer *p = batch->peer;
    int sent = rmai_transport_done(&batch->sent), moved = sent == 1 ? rmai_transport_done(&batch->data) : 0;
    if (sent < 0 || moved < 0) fatal();
    if (!sent || !moved || !batch->answered) {
        batch->next = f->moving;
        f->moving = batch;
        return;
    }
    /* A long one's waiter waits for the data too. */
    for (unsigned i = 0; i < batch->n; i++)
        if (batch->expect[i].waiter) batch->expect[i].waiter->left--;
    batch->next = f->idle;
    f->idle = batch;
    hold(p->set);
    p->under_way--;
    if (p->open && p->open->n) leave(w, p);
    let(p->set);
}

static void look_at_moving(struct rmai_world *w) {
    struct rmai_batch *all = w->net.moving;
    w->net.moving = NULL;
    for (struct rmai_batch *next; all; all = next) {
        next = all->next;
        land(w, all);
    }
}

/* ---- answers ---- */

/* Of a record that nobody waits for. There is no text: see failed_there. */
static void keep_failure(struct rmai_peer *p, int code) {
    hold(p->set);
    if (!p->set->failed) {
        p->set->failed = code;
        p->set->failed_pe = p->pe;
    }
    let(p->set);
}

/* 0: the item has more than was asked for. */
static int take_item(struct rmai_peer *p, struct rmai_expect *x, const struct rmai_item *item,
                     const unsigned char *data) {
    if (item->code == RMA_SUCCESS) {
        if (RMAI_UNLIKELY(item->len > x->len)) return 0;
        if (item->len) memcpy(x->dest, data, item->len);
    } else if (x->waiter) {
        if (x->waiter->code != RMA_SUCCESS) return 1;
        x->waiter->code = item->code;
        memcpy(x->waiter->text, data, rmai_min(item->len, sizeof x->waiter->text - 1));
        x->waiter->text[rmai_min(item->len, sizeof x->waiter->text - 1)] = 0;
    } else {
        keep_failure(p, item->code);
    }
    return 1;
}

static RMAI_COLD int damaged(int from, const char *wrong) {
    return rmai_error(RMA_ERR_MPI, "a message from PE %d is damaged: %s", from, wrong);
}

/* The batch that an answer of PE `from` is for; NULL if no request of that number is under way to it. */
static struct rmai_batch *batch_of(const struct rmai_net *f, int from, const struct rmai_envelope *e) {
    struct rmai_batch *batch = e->batch < f->n_batches ? f->batch[e->batch] : NULL;
    return batch && !batch->answered && batch->peer->pe == from && batch->peer->open != batch ? batch : NULL;
}

static int take_answer(struct rmai_world *w, int from, const struct rmai_envelope *e, struct rmai_wire_reader *m) {
    struct rmai_batch *batch = batch_of(&w->net, from, e);
    struct rmai_item item;
    const unsigned char *data;
    char text[128];
    int more;
    if (RMAI_UNLIKELY(!batch)) {
        snprintf(text, sizeof text, "it answers request %u, which is not under way to that PE", e->batch);
        return damaged(from, text);
    }
    while ((more = rmai_wire_next_item(m, &item, &data)) > 0) {
        struct rmai_expect *x = &batch->expect[item.record < batch->n ? item.record : 0];
        if (RMAI_UNLIKELY(item.record >= batch->n || !take_item(batch->peer, x, &item, data))) {
            snprintf(text, sizeof text, "item %u of %u has %u bytes for record %u of the %u in request %u", m->next,
                     m->n, item.len, item.record + 1u, batch->n, batch->id);
            return damaged(from, text);
        }
        if (item.code != RMA_SUCCESS && batch->get) rmai_transport_cancel(&batch->data); /* no data will come */
    }
    if (RMAI_UNLIKELY(more < 0)) return damaged(from, m->wrong);
    batch->answered = 1;
    if (batch->data == MPI_REQUEST_NULL || batch->get) {
        /* A put's data under way: the batch is in the list already. */
        struct rmai_batch **i = &w->net.moving;
        while (*i && *i != batch) i = &(*i)->next;
        if (*i) *i = batch->next;
        land(w, batch);
    }
    return RMA_SUCCESS;
}

static int send_data(struct rmai_world *w, int from, const struct rmai_envelope *e) {
    struct rmai_batch *batch = batch_of(&w->net, from, e);
    char text[128];
    int code;
    if (RMAI_UNLIKELY(!batch || !batch->buffer || batch->get || batch->data != MPI_REQUEST_NULL)) {
        snprintf(text, sizeof text,
                 "it asks for the data of request %u, no long put to that PE that waits to send them", e->batch);
        return damaged(from, text);
    }
    code = rmai_transport_send_long(&w->transport, from, rmai_long_tag(batch->id, 0), batch->buffer, batch->len,
                                    &batch->data);
    batch->next = w->net.moving;
    w->net.moving = batch;
    return code;
}

/* ---- progress ---- */

static int take_sign_of_life(struct rmai_world *w, int from, const struct rmai_envelope *e, size_t len);

static int progress(struct rmai_world *w) {
    int heard = 0, from, code = RMA_SUCCESS;
    size_t len;
    const void *message;
    struct rmai_wire_reader m;
    while (heard < MESSAGES_MOST &&
           (message = rmai_transport_next_message(&w->transport, &from, &len, &code)) != NULL) {
        const struct rmai_envelope *e = rmai_wire_open(&m, message, len);
        /* Without memory for the answer the request stays, and is heard again in the next turn. */
        if (RMAI_LIKELY(e != NULL) && (e->kind == RMAI_WIRE_REQUEST || e->kind == RMAI_WIRE_PING) &&
            RMAI_UNLIKELY(!rmai_reply_ready(w)))
            break;
        switch (RMAI_LIKELY(e != NULL) ? e->kind : RMAI_WIRE_KINDS) {
            case RMAI_WIRE_REQUEST: code = rmai_reply(w, from, e, &m); break;
            case RMAI_WIRE_GO: code = send_data(w, from, e); break;
            case RMAI_WIRE_ANSWER: code = take_answer(w, from, e, &m); break;
            case RMAI_WIRE_DOORBELL: break;
            case RMAI_WIRE_PING: code = rmai_reply_ping(w, from, e); break;
            case RMAI_WIRE_ALIVE: code = take_sign_of_life(w, from, e, len); break;
            default: code = damaged(from, e ? "it is of no kind that there is" : m.wrong);
        }
        if (code == RMA_SUCCESS) code = rmai_transport_message_done(&w->transport);
        if (code != RMA_SUCCESS) break;
        heard++;
    }
    if (code == RMA_SUCCESS) code = rmai_reply_go_on(w);
    if (code != RMA_SUCCESS) fatal();
    if (w->net.moving) look_at_moving(w);
    atomic_fetch_add_explicit(&w->net.turns, 1, memory_order_relaxed);
    if (heard) rmai_add(&w->traffic.more[RMAI_HEARD], (uint64_t)heard);
    if (heard) rmai_rouse_dozer(&w->net.doze); /* what has come may be what another thread waits for */
    return heard;
}

int rmai_net_progress(struct rmai_world *w, int try) {
    struct rmai_net *f = &w->net;
    int heard;
    if (!f->active) return 0;
    if (!try)
        lock(f);
    else if (pthread_mutex_trylock(&f->lock) != 0)
        return 0;
    heard = progress(w);
    unlock(f);
    return heard;
}

/* ---- waiting ---- */

/* What one wait is about: for whom, how patiently. */
struct wait_state {
    unsigned looks, idle;
    long nap;
    struct rmai_stall stall;
};

static struct wait_state wait_begins(const char *call, int pe) {
    return (struct wait_state){.nap = NAP_FIRST, .stall = {.call = call, .pe = pe}};
}

static void wait_ends(struct rmai_world *w, struct wait_state *v) {
    if (RMAI_UNLIKELY(v->stall.last > 0)) rmai_stall_end(w, &v->stall);
}

/* One look, and a rest if there was nothing to hear. The lock is held, and let go where others may want it. */
static void look(struct rmai_world *w, struct wait_state *v) {
    struct rmai_net *f = &w->net;
    int heard = progress(w);
    /* Where messages never end there is no rest. */
    if (++v->looks % LOOKS_A_STALL == 0) rmai_stall_look(w, &v->stall);
    if (heard > 0) {
        v->nap = NAP_FIRST;
        v->idle = 0;
        return;
    }
    if (++v->idle < (f->crowded ? POLLS_CROWDED : POLLS)) {
        give_way(f);
        return;
    }
    unlock(f);
    rmai_doze(&f->doze, v->nap);
    v->nap = (long)rmai_min((size_t)v->nap * 3 / 2, NAP_LAST);
    lock(f);
    rmai_stall_look(w, &v->stall);
}

/* A record that no mistake of the caller's lets fail brings no text back: its owner had no memory, or MPI failed there.
 */
static int failed_there(const char *call, int pe, int code) {
    return rmai_error(code, "%s: PE %d could not do it: %s", call, pe, rma_strerror(code));
}

/* Until all of the waiter's records are done. Returns the code of the first that failed, with its text recorded. */
static int wait_for(struct rmai_world *w, const char *call, int pe, struct rmai_waiter *waiter) {
    struct wait_state v = wait_begins(call, pe);
    while (waiter->left > 0) look(w, &v);
    wait_ends(w, &v);
    if (waiter->code == RMA_SUCCESS) return RMA_SUCCESS;
    return *waiter->text ? rmai_error(waiter->code, "%s", waiter->text) : failed_there(call, pe, waiter->code);
}

int rmai_net_finish(struct rmai_world *w, const char *call, const char *what, MPI_Request *request,
                    const struct rmai_team *team) {
    struct wait_state v = wait_begins(call, -1);
    int done = 0, code;
    v.stall.awaited = team ? RMAI_AWAITED_TEAM : RMAI_AWAITED_LEADERS;
    v.stall.team = v.stall.meeting = team;
    lock(&w->net);
    while ((code = MPI_Test(request, &done, MPI_STATUS_IGNORE)) == MPI_SUCCESS && !done) look(w, &v);
    wait_ends(w, &v);
    unlock(&w->net);
    return rmai_mpi(code, call, what);
}

/* ---- asking ---- */

/* What is to be asked; the pieces of one call share most of it. */
struct ask {
    const char *call;
    struct rmai_pending *set;
    int pe, may_fail;
    struct rmai_record r;
    const void *data; /* of r.len bytes, with RMAI_RECORD_PUT, RMAI_RECORD_PUT_LONG */
    struct rmai_expect expect;
    size_t answer; /* bytes of data in the item, at most */
    int put;       /* a release has to come after it */
    int now;       /* somebody will wait for it */
    int hold;      /* the next record goes with it */
};

/* The record with its name and data, and what it may bring back. */
struct need {
    size_t name, bytes, answer;
};

static struct need need_of(const struct ask *a) {
    struct need need = {.name = a->may_fail ? strlen(a->call) : 0};
    need.bytes = sizeof a->r + rmai_padded(need.name) + rmai_padded(rmai_data_after(&a->r));
    need.answer = sizeof(struct rmai_item) + rmai_padded(a->may_fail ? rmai_max(a->answer, RMAI_TEXT_MAX) : a->answer);
    return need;
}

static int fits(const struct rmai_batch *batch, const struct need *need) {
    return batch->n < RMAI_RECORDS && batch->bytes + need->bytes <= RMAI_MESSAGE &&
           batch->answer + need->answer <= RMAI_MESSAGE;
}

/* To p's open batch. Only now it is pending: whoever waited for a place may have let others in, and their quiet. */
static void append(struct rmai_peer *p, const struct ask *a, const struct need *need) {
    struct rmai_batch *batch = p->open;
    unsigned char *at = batch->message + batch->bytes;
    struct rmai_record r = a->r;
    size_t data = rmai_data_after(&r);
    r.name = (uint8_t)need->name;
    memcpy(at, &r, sizeof r);
    if (need->name) memcpy(at + sizeof r, a->call, need->name);
    if (data) memcpy(at + sizeof r + rmai_padded(need->name), a->data, data);
    batch->bytes += need->bytes;
    batch->answer += need->answer;
    batch->expect[batch->n++] = a->expect;
    list(p);
    if (a->put) note_put(p->set, p->pe, r.kind == RMAI_RECORD_PUT);
}

/* Most records of a stream join the batch that is open while another is under way: for that the lock of all is not
 * needed. Returns 0 if it is. */
static int join(struct rmai_world *w, const struct ask *a) {
    struct rmai_pending *s = a->set;
    const struct need need = need_of(a);
    struct rmai_batch *batch = NULL;
    int look = 0;
    hold(s);
    if (RMAI_LIKELY(s->last && s->last->pe == a->pe && s->last->under_way > 0)) batch = s->last->open;
    if (batch && batch->n && fits(batch, &need)) {
        append(s->last, a, &need);
        look = batch->n % RECORDS_A_LOOK == 0;
    } else {
        batch = NULL;
    }
    let(s);
    if (look) rmai_net_progress(w, 1);
    return batch != NULL;
}

/* Adds the record to the peer's open batch, if need be after waiting for one. The lock of all is held. */
static int add(struct rmai_world *w, const struct ask *a) {
    struct rmai_net *f = &w->net;
    struct rmai_pending *s = a->set;
    const struct need need = need_of(a);
    struct rmai_peer *p;
    struct rmai_batch *batch;
    struct wait_state v;
    int waited = 0, due = 0;
    hold(s);
    p = peer_of(s, a->pe);
    while (p && !((batch = p->open) != NULL && fits(batch, &need))) {
        if (batch && batch->n && p->under_way < RMAI_CREDITS) {
            leave(w, p);
        } else if (!batch && (p->open = take(f)) != NULL) {
            p->open->peer = p;
        } else if (!batch && f->n_batches == 0) {
            p = NULL;
        } else {
            let(s);
            if (!waited++) v = wait_begins(a->call, a->pe);
            look(w, &v);
            hold(s);
        }
    }
    if (p) {
        append(p, a, &need);
        if (!a->hold && (p->under_way == 0 || (a->now && p->under_way < RMAI_CREDITS)))
            leave(w, p);
        else
            due = !a->hold && p->open->n % RECORDS_A_LOOK == 0;
    }
    let(s);
    if (waited) wait_ends(w, &v);
    if (due) progress(w);
    return p ? RMA_SUCCESS : no_memory(a->call, a->pe);
}

/* A record whose data travel by tag: in a batch of its own. */
static int add_long(struct rmai_world *w, const struct ask *a, void *buffer, size_t len, int get) {
    struct rmai_net *f = &w->net;
    struct rmai_pending *s = a->set;
    const struct need need = need_of(a);
    struct rmai_peer *p;
    struct rmai_batch *batch;
    struct wait_state v;
    int waited = 0;
    hold(s);
    p = peer_of(s, a->pe);
    /* Until nothing is open, and a credit and a batch are free. */
    while (p && (p->under_way >= RMAI_CREDITS || (p->open && p->open->n) || (!p->open && !(p->open = take(f))))) {
        if (p->open && p->open->n && p->under_way < RMAI_CREDITS) {
            leave(w, p);
        } else if (f->n_batches == 0) {
            p = NULL;
        } else {
            let(s);
            if (!waited++) v = wait_begins(a->call, a->pe);
            look(w, &v);
            hold(s);
        }
    }
    if (p) {
        batch = p->open;
        batch->peer = p;
        batch->buffer = buffer;
        batch->len = len;
        batch->get = get;
        if (get && rmai_transport_receive_long(&w->transport, p->pe, rmai_long_tag(batch->id, 1), buffer, len,
                                               &batch->data) != RMA_SUCCESS)
            fatal();
        append(p, a, &need);
        leave(w, p);
    }
    let(s);
    if (waited) wait_ends(w, &v);
    return p ? RMA_SUCCESS : no_memory(a->call, a->pe);
}

/* A put or get in pieces. */
static int move(struct rmai_world *w, struct ask *a, char *buffer, size_t len, int get, struct rmai_waiter *waiter) {
    int longs = len > INLINE_MOST, code = RMA_SUCCESS;
    size_t most = longs ? RMAI_PIECE : INLINE_PIECE;
    a->expect.waiter = waiter;
    for (size_t done = 0, n; code == RMA_SUCCESS && done < len; done += n) {
        n = rmai_min(len - done, most);
        if (waiter) waiter->left++;
        a->now = waiter && done + n == len;
        if (longs) {
            a->r.kind = get ? RMAI_RECORD_GET_LONG : RMAI_RECORD_PUT_LONG;
            a->r.value = n;
            code = add_long(w, a, buffer + done, n, get);
        } else if (get) {
            a->r.value = a->answer = n;
            a->expect.dest = buffer + done;
            a->expect.len = (uint32_t)n;
            code = add(w, a);
        } else {
            a->r.len = (uint32_t)n;
            a->data = buffer + done;
            code = add(w, a);
        }
        if (waiter && code != RMA_SUCCESS) waiter->left--;
        a->r.offset += n;
    }
    /* Also where a piece could not be asked for: the others refer to our waiter. */
    if (waiter) {
        int waited = wait_for(w, a->call, a->pe, waiter);
        if (code == RMA_SUCCESS) code = waited;
    }
    return code;
}

/* The displacement in the window of [offset, offset + len); 0 if it is not in there (before the heap lies a page), or
 * better goes as messages. That is so where the window is not one-sided, measured against MPI's put and get between two
 * processes of a machine: short ones that nobody waits for gather in batches (an eighth of the time), long ones go
 * straight into place (two thirds). */
static size_t in_window(const struct rmai_world *w, uint64_t offset, size_t len, enum rmai_when when) {
    size_t at = (size_t)offset - w->job.layout.symmetric,
           covered = atomic_load_explicit(&w->net.covered, memory_order_acquire);
    if (offset < w->job.layout.symmetric || at > covered || len > covered - at) return 0;
    if (w->net.only_atomics) return 0;
    if (w->net.one_sided <= 0 && (len >= LONG_FROM || when == RMAI_COPIED || (when == RMAI_LATER && len <= SHORT_MOST)))
        return 0;
    return at + RMAI_PROBE_ROOM;
}

/* With one thread nobody else uses what the way through the window changes: the progress thread does not. */
static void hold_threads(struct rmai_world *w, struct rmai_pending *s) {
    if (w->job.level == RMA_THREAD_MULTIPLE) hold(s);
}

static void let_threads(struct rmai_world *w, struct rmai_pending *s) {
    if (w->job.level == RMA_THREAD_MULTIPLE) let(s);
}

/* The peer, with something that quiet completes; NULL without memory. */
static struct rmai_peer *touch(struct rmai_pending *s, int pe) {
    struct rmai_peer *p = peer_of(s, pe);
    if (!p) return NULL;
    p->touched = 1;
    list(p);
    return p;
}

/* MPI does what comes through the window without a word to us: who is asked so learns by a message now and then, and
 * after each pause, that it does well to look often. */
static void ring_doorbell(struct rmai_world *w, struct rmai_peer *p, unsigned every) {
    static const struct rmai_envelope doorbell = {
        .kind = RMAI_WIRE_DOORBELL}; /* may be on its way after the set has ended */
    uint64_t before = p->used;
    if (w->net.one_sided > 0) return;
    p->used = rmai_ticks();
    if (p->used - before < PAUSE && ++p->through_window % every != 0) return;
    if (rmai_transport_done(&p->doorbell) != 1) return;
    if (rmai_transport_send(&w->transport, p->pe, &doorbell, sizeof doorbell, &p->doorbell) != RMA_SUCCESS) fatal();
}

/* 0: the range does not go through the window. The set's lock is held until MPI is done with it: so whoever takes the
 * window down, having closed it, has only to flush each set once (rmai_net_cover), and finds nobody there after. */
static int by_window(struct rmai_world *w, const char *call, struct rmai_pending *s, int pe, uint64_t offset,
                     void *buffer, size_t len, enum rmai_when when, int get, int *code) {
    struct rmai_peer *p;
    size_t disp;
    hold_threads(w, s);
    if ((disp = in_window(w, offset, len, when)) != 0) {
        if (!(p = get && when == RMAI_NOW ? peer_of(s, pe) : touch(s, pe)))
            *code = no_memory(call, pe);
        else
            *code = get ? rmai_transport_get(&w->transport, call, pe, disp, buffer, len)
                        : rmai_transport_put(&w->transport, call, pe, disp, buffer, len);
        if (!get) note_put(s, pe, 0);
        /* To flush a get for good is the same, and MPICH does it some ten nanoseconds faster. */
        if (*code == RMA_SUCCESS && when != RMAI_LATER)
            *code = get ? flush_window(w, call, s, pe) : flush_window_local(w, call, s, pe);
        if (*code == RMA_SUCCESS) ring_doorbell(w, p, DOORBELL_EVERY);
    }
    let_threads(w, s);
    return disp != 0;
}

/* As by_window, but in pieces, between which others are served: who asks this PE for something meanwhile, if only for a
 * sign of life, does not wait for the whole. Returns 1, or 0 where the rest, which *done bytes are before, has to go as
 * messages. */
static int by_window_in_pieces(struct rmai_world *w, const char *call, struct rmai_pending *s, int pe, uint64_t offset,
                               char *buffer, size_t len, enum rmai_when when, int get, size_t *done, int *code) {
    const size_t piece = when == RMAI_LATER ? WINDOW_PIECE_LATER : WINDOW_PIECE;
    *code = RMA_SUCCESS;
    for (*done = 0; len - *done > piece; *done += piece) {
        if (!by_window(w, call, s, pe, offset + *done, buffer + *done, piece, RMAI_NOW, get, code)) return 0;
        if (*code != RMA_SUCCESS) return 1;
        rmai_net_progress(w, 1);
    }
    if (!by_window(w, call, s, pe, offset + *done, buffer + *done, len - *done, when, get, code)) return 0;
    rmai_count(&w->traffic, RMA_PATH_WINDOW, get ? RMAI_GETS : RMAI_PUTS, len);
    return 1;
}

/* One record, and its answer. */
static int ask_one(struct rmai_world *w, struct ask *a, void *dest, size_t len) {
    struct rmai_waiter waiter = {.left = 1};
    int code;
    a->expect = (struct rmai_expect){.dest = dest, .len = (uint32_t)len, .waiter = &waiter};
    a->answer = len;
    a->now = 1;
    lock(&w->net);
    code = add(w, a);
    if (code == RMA_SUCCESS) code = wait_for(w, a->call, a->pe, &waiter);
    unlock(&w->net);
    return code;
}

/* What goes in pieces is looked at whole before the first byte moves, where only the owner can tell. */
static int look_at_all(struct rmai_world *w, const char *call, struct rmai_pending *s, int pe, uint64_t offset,
                       size_t len, int get) {
    struct ask a = {.call = call,
                    .set = s,
                    .pe = pe,
                    .may_fail = 1,
                    .r = {.kind = RMAI_RECORD_LOOK, .op = !get, .offset = offset, .value = len}};
    return len > INLINE_PIECE ? ask_one(w, &a, NULL, 0) : RMA_SUCCESS;
}

/* Attached memory is looked up by its owner: it may be gone. */
static int attached(uint64_t offset) { return offset >= RMA_GPTR_ATTACHED_; }

int rmai_net_release(struct rmai_world *w, const char *call, struct rmai_pending *s, int pe) {
    int puts = atomic_load_explicit(&s->puts, memory_order_relaxed);
    return puts == RMAI_NO_PUTS || puts == 1 + pe ? RMA_SUCCESS : rmai_net_quiet(w, call, s);
}

int rmai_net_put(struct rmai_world *w, const char *call, struct rmai_pending *s, int pe, uint64_t offset,
                 const void *source, size_t len, enum rmai_when when) {
    struct ask a;
    struct rmai_waiter waiter;
    size_t done;
    int code;
    if (by_window_in_pieces(w, call, s, pe, offset, (char *)(uintptr_t)source, len, when, 0, &done, &code)) return code;
    offset += done;
    source = (const char *)source + done;
    len -= done;
    a = (struct ask){.call = call,
                     .set = s,
                     .pe = pe,
                     .may_fail = attached(offset),
                     .put = 1,
                     .r = {.kind = RMAI_RECORD_PUT, .offset = offset}};
    waiter = (struct rmai_waiter){0};
    rmai_count(&w->traffic, RMA_PATH_REQUEST, RMAI_PUTS, len);
    if (a.may_fail && (code = look_at_all(w, call, s, pe, offset, len, 0)) != RMA_SUCCESS) return code;
    if (!a.may_fail && len <= INLINE_PIECE) {
        a.r.len = (uint32_t)len;
        a.data = source;
        if (join(w, &a)) return RMA_SUCCESS;
    }
    lock(&w->net);
    code = move(w, &a, (char *)(uintptr_t)source, len, 0,
                a.may_fail || (len > INLINE_MOST && when != RMAI_LATER) ? &waiter : NULL);
    unlock(&w->net);
    return code;
}

int rmai_net_get(struct rmai_world *w, const char *call, struct rmai_pending *s, int pe, uint64_t offset, void *dest,
                 size_t len, enum rmai_when when) {
    struct ask a;
    struct rmai_waiter waiter;
    size_t done;
    int code;
    if (by_window_in_pieces(w, call, s, pe, offset, dest, len, when, 1, &done, &code)) return code;
    offset += done;
    dest = (char *)dest + done;
    len -= done;
    a = (struct ask){.call = call,
                     .set = s,
                     .pe = pe,
                     .may_fail = attached(offset),
                     .r = {.kind = RMAI_RECORD_GET, .offset = offset}};
    waiter = (struct rmai_waiter){0};
    rmai_count(&w->traffic, RMA_PATH_REQUEST, RMAI_GETS, len);
    if (a.may_fail && (code = look_at_all(w, call, s, pe, offset, len, 1)) != RMA_SUCCESS) return code;
    lock(&w->net);
    code = move(w, &a, dest, len, 1, a.may_fail || when == RMAI_NOW ? &waiter : NULL);
    unlock(&w->net);
    return code;
}

/* Places for the operands of an atomic that nobody waits for: they stay in use until all PEs have been flushed. NULL:
 * *code says why. */
static struct rmai_operands *next_operands(struct rmai_world *w, const char *call, struct rmai_pending *s, int pe,
                                           int *code) {
    if (!s->operands && !(s->operands = calloc(RMAI_OPERANDS, sizeof *s->operands))) {
        *code = no_memory(call, pe);
        return NULL;
    }
    if (s->n_operands == RMAI_OPERANDS) {
        *code = flush_window(w, call, s, -1);
        if (*code != RMA_SUCCESS) return NULL;
        s->n_operands = 0;
    }
    return &s->operands[s->n_operands++];
}

/* In the first len bytes, as MPI takes them. */
static struct rmai_operands operands_of(size_t len, uint64_t value, uint64_t cond) {
    struct rmai_operands o = {value, cond};
    const uint32_t half[] = {(uint32_t)value, (uint32_t)cond};
    if (len != 4) return o;
    memcpy(&o.value, &half[0], 4);
    memcpy(&o.cond, &half[1], 4);
    return o;
}

/* The set's lock is held, where there are threads. The atomic is touched and begun in one: another thread's quiet must
 * not come between. */
static int begin_by_mpi(struct rmai_world *w, const char *call, struct rmai_pending *s, int pe, size_t disp, int op,
                        size_t len, const struct rmai_operands *o, void *old) {
    struct rmai_peer *p = touch(s, pe);
    int code;
    if (!p) return no_memory(call, pe);
    atomic_thread_fence(memory_order_release); /* what this PE has stored comes before, for whoever reads the word */
    code = rmai_transport_atomic(&w->transport, call, pe, disp, op, len, &o->value, &o->cond, old);
    if (pe != w->job.my_pe) ring_doorbell(w, p, DOORBELL_ATOMICS);
    return code;
}

/* The set's lock is held, where there are threads, and another one may have taken the window down: until there is one
 * again. */
static int await_window(struct rmai_world *w, const char *call, struct rmai_pending *s) {
    while (RMAI_UNLIKELY(atomic_load_explicit(&w->net.covered, memory_order_acquire) == 0)) {
        if (w->net.windowless)
            return rmai_error(RMA_ERR_MPI, "%s: MPI's window, which RMA_AMO=mpi needs, is gone", call);
        let_threads(w, s);
        lock(&w->net); /* it is held by who makes the window */
        unlock(&w->net);
        hold_threads(w, s);
    }
    return RMA_SUCCESS;
}

static int atomic_by_mpi(struct rmai_world *w, const char *call, struct rmai_pending *s, int pe, size_t disp, int op,
                         size_t len, uint64_t value, uint64_t cond, void *old, int later) {
    const struct rmai_operands given = operands_of(len, value, cond);
    const int waits = old && !later;
    struct rmai_operands *kept;
    int code;
    hold_threads(w, s);
    code = await_window(w, call, s);
    if (code == RMA_SUCCESS && waits) {
        code = begin_by_mpi(w, call, s, pe, disp, op, len, &given, old);
        if (code == RMA_SUCCESS) code = flush_window(w, call, s, pe);
        atomic_thread_fence(memory_order_acquire);
    } else if (code == RMA_SUCCESS && (kept = next_operands(w, call, s, pe, &code)) != NULL) {
        *kept = given;
        code = begin_by_mpi(w, call, s, pe, disp, op, len, kept, old);
    }
    let_threads(w, s);
    return code;
}

static uint64_t bits_of(const void *word, size_t len) {
    uint64_t bits = 0;
    uint32_t half;
    memcpy(len == 4 ? (void *)&half : (void *)&bits, word, len);
    return len == 4 ? half : bits;
}

/* min and max by compare_swap. MPI's own are another operation: they say nothing of a NaN, MPICH 4.0 compares unsigned
 * words as signed ones, and to announce them (the window's hints) would keep MPI from using adapters that have no such
 * operation. */
static int limit_by_mpi(struct rmai_world *w, const char *call, struct rmai_pending *s, int pe, size_t disp, int op,
                        size_t len, uint64_t value, void *old) {
    uint64_t seen = 0, next, found;
    int code = atomic_by_mpi(w, call, s, pe, disp, RMA_FETCH_, len, 0, 0, &seen, 0);
    while (code == RMA_SUCCESS) {
        next = seen;
        rmai_atomic(op, &next, len, value, 0);
        if (next == seen) break;
        found = 0;
        code = atomic_by_mpi(w, call, s, pe, disp, RMA_COMPARE_SWAP_, len, bits_of(&next, len), bits_of(&seen, len),
                             &found, 0);
        if (found == seen) break;
        seen = found;
    }
    if (code == RMA_SUCCESS && old) memcpy(old, &seen, len);
    return code;
}

static int is_limit(int op) {
    return (op >= RMA_FETCH_MIN_ && op <= RMA_FETCH_SMAX_) || op == RMA_FETCH_FMIN_ || op == RMA_FETCH_FMAX_;
}

int rmai_net_atomic(struct rmai_world *w, const char *call, struct rmai_pending *s, int pe, uint64_t offset, int op,
                    size_t len, uint64_t value, uint64_t cond, void *old, int later) {
    struct ask a = {.call = call,
                    .set = s,
                    .pe = pe,
                    .may_fail = attached(offset),
                    .r = {.kind = RMAI_RECORD_ATOMIC,
                          .op = (uint8_t)op,
                          .flags = old ? RMAI_RECORD_WANTED : 0,
                          .len = (uint32_t)len,
                          .offset = offset,
                          .value = value,
                          .cond = cond}};
    unsigned char nothing[8];
    int code;
    if (rmai_net_by_mpi(&w->net, w->job.layout.symmetric, offset)) {
        size_t disp = (size_t)offset - w->job.layout.symmetric + RMAI_PROBE_ROOM;
        rmai_count(&w->traffic, RMA_PATH_WINDOW, RMAI_ATOMICS, 0);
        return is_limit(op) ? limit_by_mpi(w, call, s, pe, disp, op, len, value, old)
                            : atomic_by_mpi(w, call, s, pe, disp, op, len, value, cond, old, later);
    }
    rmai_count(&w->traffic, RMA_PATH_REQUEST, RMAI_ATOMICS, 0);
    if ((old && !later) || a.may_fail) return ask_one(w, &a, old ? old : nothing, len);
    a.expect = (struct rmai_expect){.dest = old, .len = (uint32_t)len};
    a.answer = old ? len : 0;
    if (join(w, &a)) return RMA_SUCCESS;
    lock(&w->net);
    code = add(w, &a);
    unlock(&w->net);
    return code;
}

int rmai_net_put_signal(struct rmai_world *w, const char *call, struct rmai_pending *s, int pe, uint64_t offset,
                        const void *source, size_t len, uint64_t word, int op, size_t word_len, uint64_t value,
                        enum rmai_when when, int urgent) {
    struct ask put = {.call = call,
                      .set = s,
                      .pe = pe,
                      .put = !urgent,
                      .hold = 1,
                      .data = source,
                      .r = {.kind = RMAI_RECORD_PUT, .len = (uint32_t)len, .offset = offset}};
    struct ask signal = {
        .call = call,
        .set = s,
        .pe = pe,
        .now = urgent,
        .r = {
            .kind = RMAI_RECORD_ATOMIC, .op = (uint8_t)op, .len = (uint32_t)word_len, .offset = word, .value = value}};
    struct ask together = {.call = call,
                           .set = s,
                           .pe = pe,
                           .put = 1,
                           .data = &word,
                           .r = {.kind = RMAI_RECORD_PUT_LONG,
                                 .op = (uint8_t)op,
                                 .flags = RMAI_RECORD_SIGNAL,
                                 .len = sizeof word,
                                 .offset = offset,
                                 .value = len,
                                 .cond = value}};
    struct rmai_waiter waiter = {.left = 1};
    int code = urgent ? RMA_SUCCESS : rmai_net_release(w, call, s, pe);
    if (code != RMA_SUCCESS) return code;
    rmai_count(&w->traffic, RMA_PATH_REQUEST, RMAI_ATOMICS, 0);
    if (len) rmai_count(&w->traffic, RMA_PATH_REQUEST, RMAI_PUTS, len);
    lock(&w->net);
    if (len <= INLINE_PIECE) {
        code = len ? add(w, &put) : RMA_SUCCESS;
        if (code == RMA_SUCCESS) code = add(w, &signal);
    } else {
        together.expect.waiter = when == RMAI_LATER ? NULL : &waiter;
        code = add_long(w, &together, (void *)(uintptr_t)source, len, 0);
        if (code == RMA_SUCCESS && when != RMAI_LATER) code = wait_for(w, call, pe, &waiter);
    }
    unlock(&w->net);
    return code;
}

/* For what no context is named in. */
static struct rmai_pending *standing(struct rmai_world *w) { return &w->contexts.standing.pending; }

int rmai_net_alloc(struct rmai_world *w, const char *call, int pe, size_t size, uint64_t *g) {
    struct ask a = {
        .call = call, .set = standing(w), .pe = pe, .may_fail = 1, .r = {.kind = RMAI_RECORD_ALLOC, .value = size}};
    return ask_one(w, &a, g, sizeof *g);
}

int rmai_net_free(struct rmai_world *w, const char *call, int pe, uint64_t offset) {
    struct ask a = {
        .call = call, .set = standing(w), .pe = pe, .may_fail = 1, .r = {.kind = RMAI_RECORD_FREE, .offset = offset}};
    return ask_one(w, &a, NULL, 0);
}

int rmai_net_extent(struct rmai_world *w, const char *call, int pe, int pool, int fresh, size_t *extent) {
    struct ask a = {.call = call, .set = standing(w), .pe = pe, .r = {.kind = RMAI_RECORD_EXTENTS}};
    size_t now[2];
    struct rmai_peer *p;
    int code = RMA_SUCCESS;
    if (fresh) code = ask_one(w, &a, now, sizeof now);
    if (code != RMA_SUCCESS) return code;
    hold(standing(w));
    p = peer_of(standing(w), pe);
    /* They only grow. */
    for (int i = 0; p && fresh && i < 2; i++) p->extent[i] = rmai_max(p->extent[i], now[i]);
    *extent = p ? p->extent[pool] : 0;
    let(standing(w));
    return RMA_SUCCESS;
}

/* ---- signs of life ---- */

void rmai_net_lock(struct rmai_world *w) {
    if (w->net.active) lock(&w->net);
}

void rmai_net_unlock(struct rmai_world *w) {
    if (w->net.active) unlock(&w->net);
}

struct rmai_ping *rmai_net_ping(struct rmai_world *w, int pe) {
    struct rmai_ping *ping = w->net.ping;
    unsigned i = 0;
    while (i < RMAI_PINGS && (ping[i].used || rmai_transport_done(&ping[i].sent) != 1)) i++;
    if (i == RMAI_PINGS) return NULL;
    ping += i;
    ping->message =
        (struct rmai_envelope){.kind = RMAI_WIRE_PING, .batch = (uint16_t)i, .n = (uint16_t)(ping->message.n + 1)};
    ping->used = 1;
    ping->answered = 0;
    ping->pe = pe;
    if (rmai_transport_send(&w->transport, pe, &ping->message, sizeof ping->message, &ping->sent) != RMA_SUCCESS)
        fatal();
    return ping;
}

/* MPI may still hold the message: then the place is not given away (rmai_net_ping). */
void rmai_net_forget_ping(struct rmai_ping *ping) { ping->used = 0; }

/* Of a question that nobody waits for any more the answer comes too late. */
static int take_sign_of_life(struct rmai_world *w, int from, const struct rmai_envelope *e, size_t len) {
    struct rmai_ping *ping = &w->net.ping[e->batch % RMAI_PINGS];
    if (e->batch >= RMAI_PINGS || len != sizeof *e + sizeof ping->in) return damaged(from, "it is no sign of life");
    if (!ping->used || ping->message.n != e->n || ping->pe != from) return RMA_SUCCESS;
    memcpy(ping->in, e + 1, sizeof ping->in);
    ping->in[sizeof ping->in - 1] = 0;
    ping->answered = 1;
    return RMA_SUCCESS;
}

/* ---- quiet ---- */

static int is_open(const struct rmai_peer *p) { return p->open && p->open->n; }

/* What has gone to p through the window. By the set's lock alone: see by_window. */
static int flush(struct rmai_world *w, const char *call, struct rmai_peer *p) {
    int code = p->touched ? flush_window(w, call, p->set, p->pe) : RMA_SUCCESS;
    p->touched = 0;
    if (!p->under_way && !is_open(p)) unlist(w, p);
    return code;
}

int rmai_pending_flush(struct rmai_world *w, const char *call, struct rmai_pending *s) {
    int code = RMA_SUCCESS, one;
    hold(s);
    for (struct rmai_peer *p = s->busy, *next; p; p = next) {
        next = p->next;
        one = flush(w, call, p);
        if (code == RMA_SUCCESS) code = one;
    }
    let(s);
    return code;
}

/* What is asked of p by messages; the lock of all is held. Other threads may put something through the window
 * meanwhile, or ask more. */
static void hear_all(struct rmai_world *w, const char *call, struct rmai_peer *p) {
    struct wait_state v = wait_begins(call, p->pe);
    hold(p->set);
    while (p->under_way || is_open(p)) {
        if (is_open(p) && p->under_way < RMAI_CREDITS) {
            leave(w, p);
        } else {
            let(p->set);
            look(w, &v);
            hold(p->set);
        }
    }
    if (!p->touched && p->listed) unlist(w, p);
    let(p->set);
    wait_ends(w, &v);
}

/* The first error that nobody waited for, and an acquire of what nonblocking atomics have read: pairs with the release
 * of whoever wrote the word. The set's lock is held. */
static int say_failure(const char *call, struct rmai_pending *s, int code) {
    if (code == RMA_SUCCESS && s->failed) code = failed_there(call, s->failed_pe, s->failed);
    s->failed = 0;
    atomic_thread_fence(memory_order_acquire);
    return code;
}

/* Flushes what of s has gone through the window, with the set's lock, which is let go of between two PEs: others are
 * served then. */
static int flush_all(struct rmai_world *w, const char *call, struct rmai_pending *s) {
    int code = RMA_SUCCESS, one;
    for (struct rmai_peer *p = s->busy, *next; p; p = next) {
        int touched = p->touched;
        next = p->next;
        one = flush(w, call, p);
        if (code == RMA_SUCCESS) code = one;
        if (!touched || !next) continue;
        let(s);
        rmai_net_progress(w, 1);
        hold(s);
        next = s->busy; /* the list may be another one now */
    }
    return code;
}

/* First what MPI completes by itself, and then, if there is any, what others have to answer. Those that have something
 * open leave first, so that the answers come while the first is waited for. Other threads may begin something anew
 * meanwhile: who is quiet is told only of what was there before. */
int rmai_net_quiet(struct rmai_world *w, const char *call, struct rmai_pending *s) {
    int code = RMA_SUCCESS, one;
    if (!w->net.active) return RMA_SUCCESS;
    hold(s);
    if (s->busy) rmai_add(&w->traffic.more[RMAI_QUIETS], 1);
    while (s->busy) {
        one = flush_all(w, call, s);
        if (code == RMA_SUCCESS) code = one;
        if (!s->busy) break;
        let(s);
        lock(&w->net);
        hold(s);
        for (struct rmai_peer *p = s->busy; p; p = p->next)
            if (is_open(p) && p->under_way < RMAI_CREDITS) leave(w, p);
        while (s->busy && !s->busy->touched) {
            struct rmai_peer *p = s->busy;
            let(s);
            hear_all(w, call, p);
            hold(s);
        }
        let(s);
        unlock(&w->net);
        hold(s);
    }
    code = say_failure(call, s, code);
    let(s);
    return code;
}

int rmai_net_quiet_pe(struct rmai_world *w, const char *call, struct rmai_pending *s, int pe) {
    struct rmai_peer *p;
    int code = RMA_SUCCESS, one;
    if (!w->net.active) return RMA_SUCCESS;
    hold(s);
    for (p = s->busy; p && p->pe != pe;) p = p->next;
    if (p) rmai_add(&w->traffic.more[RMAI_QUIETS], 1);
    while (p && p->listed) {
        one = flush(w, call, p);
        if (code == RMA_SUCCESS) code = one;
        if (!p->listed) break;
        let(s);
        lock(&w->net);
        hear_all(w, call, p);
        unlock(&w->net);
        hold(s);
    }
    code = say_failure(call, s, code);
    let(s);
    return code;
}

int rmai_net_quiet_default(struct rmai_world *w, const char *call) {
    return __atomic_load_n(&rma_reach_.nothing_pending, __ATOMIC_ACQUIRE) ? RMA_SUCCESS
                                                                          : rmai_net_quiet(w, call, standing(w));
}

/* ---- the window ---- */

/* All PEs hear whether all succeeded. */
static int all_well(struct rmai_world *w, int code) {
    int bad = code != RMA_SUCCESS;
    return rmai_transport_worst(&w->transport, &bad, 1) == RMA_SUCCESS && !bad;
}

/* After rmai_transport_window, with its code: *well if all can use theirs. A window that some PEs have and others could
 * not make can neither be used nor be freed, which takes all: it stays, and the call fails on all PEs. */
static int agree_on_window(struct rmai_world *w, const char *call, int code, int *well) {
    enum { BAD, HAS, HAS_NOT }; /* HAS_NOT: the first of them is the largest */
    const int none = w->transport.window == MPI_WIN_NULL;
    int worst[] = {[BAD] = code != RMA_SUCCESS, [HAS] = !none, [HAS_NOT] = none ? w->job.n_pes - w->job.my_pe : 0};
    int met = rmai_transport_worst(&w->transport, worst, 3);
    *well = met == RMA_SUCCESS && !worst[BAD];
    if (met != RMA_SUCCESS || !worst[HAS] || !worst[HAS_NOT]) return met;
    w->transport.window = MPI_WIN_NULL;
    if (none) {
        rmai_error_prefix("%s: ", call);
        /* The others know no reason, and one of them may end the job first. */
        rmai_note("PE %d: %s", w->job.my_pe, rma_last_error());
        return RMA_ERR_MPI;
    }
    return rmai_error(RMA_ERR_MPI, "%s: PE %d could not make its part of MPI's window", call,
                      w->job.n_pes - worst[HAS_NOT]);
}

/* Whether a put gets there while the target is not in MPI. If so, the network does it, and nobody is disturbed; if not,
 * the target has to look for what comes, and our messages tell it by their number how often, while MPI keeps that to
 * itself. Tried once, by two leaders: the one sleeps while the other puts. Where the first is late, small transfers go
 * as messages: no harm. */
static int one_sided(struct rmai_world *w) {
    int target = w->job.node_my_pe == 0 ? rmai_transport_leader(&w->transport, 1) : -1, code = RMA_SUCCESS;
    double begun;
    rmai_meet(w, "rma_init");
    if (target == w->job.my_pe) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    if (target < 0 || w->job.my_node != 0) return 1;
    nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL); /* it has left MPI */
    begun = rmai_wtime();
    code = rmai_transport_put(&w->transport, "the window's probe", target, 0, &target, 1);
    if (code == RMA_SUCCESS) code = rmai_transport_flush(&w->transport, "the window's probe", target);
    return code == RMA_SUCCESS && rmai_wtime() < begun + 300e-6;
}

/* A pattern put at an odd place in the page before the heap of a PE on another node, and read back: some versions of
 * MPI and UCX shift what a window with an unlucky base gets. */
static int write_and_read_back(struct rmai_world *w) {
    unsigned char pattern[13], back[13] = {0};
    size_t at = 1 + (size_t)(w->job.my_pe % 128) * 16;
    int pe = w->job.my_pe, code;
    do pe = (pe + 1) % w->job.n_pes;
    while (w->job.n_nodes > 1 && rmai_node_slot(&w->job, pe) >= 0);
    for (size_t i = 0; i < sizeof pattern; i++) pattern[i] = (unsigned char)((size_t)w->job.my_pe * 31 + i * 7 + 1);
    code = rmai_transport_put(&w->transport, "the window's probe", pe, at, pattern, sizeof pattern);
    if (code == RMA_SUCCESS) code = rmai_transport_flush(&w->transport, "the window's probe", pe);
    if (code == RMA_SUCCESS) code = rmai_transport_get(&w->transport, "the window's probe", pe, at, back, sizeof back);
    if (code == RMA_SUCCESS) code = rmai_transport_flush(&w->transport, "the window's probe", pe);
    if (code == RMA_SUCCESS && memcmp(pattern, back, sizeof back) != 0)
        code = rmai_error(RMA_ERR_MPI, "a put through MPI's window did not come back from PE %d as it was", pe);
    return code;
}

static int without_window(struct rmai_world *w, const char *call) {
    static int said;
    const char *why = *rma_last_error() ? rma_last_error() : "it failed on another PE";
    int code = RMA_SUCCESS;
    if (w->net.amo_mpi) {
        char text[RMAI_TEXT_MAX];
        snprintf(text, sizeof text, "%s", why);
        code = rmai_error(RMA_ERR_MPI, "%s: MPI's window, which RMA_AMO=mpi needs, cannot be used: %s", call, text);
    } else if (!said++ && w->job.my_pe == 0) {
        rmai_note("MPI's window is not used between nodes, messages are: %s", why);
    }
    w->net.covered = 0;
    w->net.windowless = 1;
    w->net.amo_mpi = 0;
    if (code == RMA_SUCCESS) return rmai_transport_window(&w->transport, NULL, 0, 0);
    rmai_transport_window(&w->transport, NULL, 0, 0);
    return code;
}

/* With the symmetric heap's present size, after a meeting whose outcome was `code`. */
static int make_window(struct rmai_world *w, const char *call, int code) {
    size_t size = w->symmetric.size;
    int well, flushed, made;
    lock(&w->net);
    w->net.covered = 0; /* seen by whoever takes a set's lock after the flush */
    flushed = rmai_contexts_flush(w, call);
    if (code == RMA_SUCCESS) code = flushed;
    made = rmai_transport_window(&w->transport, w->symmetric.base - RMAI_PROBE_ROOM, size + RMAI_PROBE_ROOM,
                                 w->net.amo_mpi);
    made = agree_on_window(w, call, made, &well);
    if (made != RMA_SUCCESS) {
        unlock(&w->net);
        return made;
    }
    if (well) well = all_well(w, write_and_read_back(w));
    if (well) {
        atomic_store_explicit(&w->net.covered, size, memory_order_release);
        __atomic_store_n(&w->net.by_mpi, size, __ATOMIC_RELAXED);
    } else {
        code = without_window(w, call);
    }
    unlock(&w->net);
    if (well && w->net.one_sided < 0 && w->job.n_nodes > 1)
        w->net.one_sided = all_well(w, one_sided(w) ? RMA_SUCCESS : RMA_ERR_MPI);
    return code;
}

int rmai_net_cover(struct rmai_world *w, const char *call) {
    const size_t size = w->symmetric.size, covered = w->net.covered;
    struct rmai_blocking blocking;
    int code;
    if (!w->net.active || w->net.windowless) return RMA_SUCCESS;
    if (size - covered <= (w->net.amo_mpi ? 0 : covered / 4) && covered) return RMA_SUCCESS;
    /* All have met when the window is taken down: until then each may need an answer from one who would wait in there.
     */
    code = rmai_meet(w, call);
    if (w->blocking) return make_window(w, call, code); /* rma_init is watched as a whole */
    rmai_blocking_begin(&blocking, &w->job.settings, call, "making MPI's window by MPI_Win_create", 1);
    code = make_window(w, call, code);
    rmai_blocking_end(&blocking);
    return code;
}

/* ---- opening and closing ---- */

int rmai_net_open(struct rmai_world *w) {
    struct rmai_net *f = &w->net;
    memset(f, 0, sizeof *f);
    pthread_mutex_init(&f->lock, NULL);
    f->active = 1;
    f->crowded = w->barrier.crowded;
    /* A flush polls, and takes a processor from those it waits for. */
    f->only_atomics = w->job.crowded_somewhere && w->job.settings.window == RMAI_WINDOW_AUTO;
    f->amo_mpi = w->job.settings.amo == RMAI_AMO_MPI;
    f->windowless = w->job.settings.window == RMAI_WINDOW_NONE || (f->only_atomics && !f->amo_mpi);
    if (!(f->ping = calloc(RMAI_PINGS, sizeof *f->ping)))
        return rmai_error(RMA_ERR_NO_MEM, "rma_init: no memory for signs of life");
    for (unsigned i = 0; i < RMAI_PINGS; i++) f->ping[i].sent = MPI_REQUEST_NULL;
    f->one_sided = w->job.settings.window == RMAI_WINDOW_ALWAYS ? 1 : -1;
    return rmai_reply_open(w);
}

/* A question to a PE that takes none may still be in MPI's hands; then its memory stays there. */
static void free_pings(struct rmai_ping *ping) {
    int held = 0;
    for (unsigned i = 0; ping && i < RMAI_PINGS; i++) {
        if (rmai_transport_done(&ping[i].sent) == 1) continue;
        rmai_transport_let_go(&ping[i].sent);
        held = 1;
    }
    if (!held) free(ping);
}

void rmai_net_close(struct rmai_world *w) {
    struct rmai_net *f = &w->net;
    if (!f->active) return;
    f->active = 0;
    rmai_reply_close(w);
    for (unsigned i = 0; i < f->n_batches; i++) free(f->batch[i]);
    free_pings(f->ping);
    pthread_mutex_destroy(&f->lock);
}
