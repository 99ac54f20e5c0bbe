/* SPDX-License-Identifier: BSD-3-Clause */
/* Each image has a slot in symmetric memory, which one other image uses at a time. The two take turns: the asker writes
 * a piece of its message and makes `turn` odd, the owner's thread takes it, writes its answer and makes `turn` even.
 * The answer to a piece is an empty piece, until the message is complete; then it is the first piece of a message, and
 * the roles change. So either side can send messages of any length, and the owner can ask back before it replies.
 *
 * Only the asker moves data between nodes. The thread uses its own memory alone and calls nothing of librma, which need
 * not be prepared for a second thread. */
#include "config.h"

#include "interfaces/caf/serve.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PIECE 16384

enum { PIECE_TAKEN, PIECE_ASKS, PIECE_REPLIES };

struct piece {
    uint32_t kind, len;
    uint64_t total; /* of the message */
    char data[PIECE];
};

struct slot {
    uint64_t asker; /* the image that uses the slot, from 1, or 0 */
    uint64_t turn;  /* odd: the owner's */
    struct piece piece;
};

static struct slot *slot; /* symmetric */
static rmai_caf_execute *execute;
static pthread_t thread;
static uint32_t ending;
static _Thread_local int serving;

int rmai_caf_serving(void) { return serving; }

/* ---- the two sides of a slot ---- */

struct side {
    struct slot *slot; /* its address here, or NULL: the slot is on another node */
    const char *statement;
    int pe;
    uint64_t turn; /* the last one of this side */
};

/* The lower half of `turn`, on which the thread sleeps. */
static uint32_t *sleeps_on(struct slot *d) {
    return (uint32_t *)(void *)&d->turn + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

static void futex(uint32_t *word, int operation, uint32_t value, const struct timespec *timeout) {
    syscall(SYS_futex, word, operation, value, timeout, NULL, 0);
}

static void give_turn(struct side *s, const struct piece *piece) {
    size_t len = offsetof(struct piece, data) + piece->len;
    s->turn++;
    if (!s->slot) {
        rmai_caf_must(rma_put_signal(&slot->piece, piece, len, &slot->turn, s->turn, RMA_SIGNAL_SET, s->pe));
        return;
    }
    if (piece != &s->slot->piece) memcpy(&s->slot->piece, piece, len);
    __atomic_store_n(&s->slot->turn, s->turn, __ATOMIC_RELEASE); /* pairs with the load in take_turn or in serve */
    if (!serving) futex(sleeps_on(s->slot), FUTEX_WAKE, INT_MAX, NULL);
}

#define HOT_POLLS 300

/* The asker waits in librma, which reports long waits; the owner's thread knows that the asker is at work. */
static int has_turn(void *side) {
    const struct side *s = side;
    return __atomic_load_n(&s->slot->turn, __ATOMIC_ACQUIRE) > s->turn; /* pairs with the store in give_turn */
}

static void take_turn(struct side *s, struct piece *piece) {
    if (!s->slot) {
        while (rma_atomic_fetch_uint64(&slot->turn, s->pe) == s->turn) sched_yield();
        rmai_caf_must(rma_get(piece, &slot->piece, offsetof(struct piece, data), s->pe));
        if (piece->len) rma_get(piece->data, slot->piece.data, piece->len, s->pe);
    } else {
        int polls = HOT_POLLS;
        while (!has_turn(s) && (serving || --polls > 0))
            if (serving) sched_yield();
        if (!serving) rma_wait_for_(s->statement, &s->pe, has_turn, s);
        memcpy(piece, &s->slot->piece, offsetof(struct piece, data));
        memcpy(piece->data, s->slot->piece.data, piece->len);
    }
    s->turn++;
}

static void send_message(struct side *s, struct piece *piece, uint32_t kind, struct rmai_caf_message m) {
    size_t sent = 0;
    for (;;) {
        piece->kind = kind;
        piece->len = (uint32_t)(m.len - sent < PIECE ? m.len - sent : PIECE);
        piece->total = m.len;
        memcpy(piece->data, m.data + sent, piece->len);
        give_turn(s, piece);
        sent += piece->len;
        if (sent == m.len) return;
        take_turn(s, piece);
    }
}

/* Receives a message whose first piece has come. Its kind is in *piece. */
static struct rmai_caf_message receive_message(struct side *s, struct piece *piece) {
    struct rmai_caf_message m = {.len = piece->total, .data = rmai_caf_memory(s->statement, piece->total)};
    size_t received = 0;
    for (;;) {
        memcpy(m.data + received, piece->data, piece->len);
        received += piece->len;
        if (received == m.len) return m;
        *piece = (struct piece){.kind = PIECE_TAKEN};
        give_turn(s, piece);
        take_turn(s, piece); /* the next piece is of the same kind */
    }
}

/* Sends a request and returns the reply. */
static struct rmai_caf_message converse(struct side *s, struct piece *piece, struct rmai_caf_message request) {
    send_message(s, piece, PIECE_ASKS, request);
    for (;;) {
        take_turn(s, piece);
        uint32_t kind = piece->kind;
        struct rmai_caf_message m = receive_message(s, piece);
        if (kind == PIECE_REPLIES) return m;
        struct rmai_caf_message reply = execute(m);
        free(m.data);
        send_message(s, piece, PIECE_REPLIES, reply);
        free(reply.data);
    }
}

/* ---- the asker ---- */

struct rmai_caf_message rmai_caf_ask(const char *statement, int pe, struct rmai_caf_message request) {
    struct side s = {.slot = rma_ptr(slot, pe), .statement = statement, .pe = pe};
    uint64_t me = (uint64_t)rmai_caf.me + 1;
    struct piece *piece = rmai_caf_memory(statement, sizeof *piece);
    while (rma_atomic_compare_swap_uint64(&slot->asker, 0, me, pe) != 0) {
        rma_progress();
        sched_yield();
    }
    s.turn = rma_atomic_fetch_uint64(&slot->turn, pe);
    struct rmai_caf_message reply = converse(&s, piece, request);
    rma_atomic_set_uint64(&slot->asker, 0, pe);
    free(piece);
    return reply;
}

/* ---- the owner's thread ---- */

static struct side owner;
static struct piece owner_piece;

struct rmai_caf_message rmai_caf_ask_back(struct rmai_caf_message request) {
    return converse(&owner, &owner_piece, request);
}

#define LAZY_POLLS 2000  /* yields after a request before the thread sleeps: the next one may follow at once */
#define SLOW_YIELD 50e-6 /* seconds: others have had the processor meanwhile, such as a program that computes */
#define SHY_MOST   1024

/* After a slow yield the thread sleeps without yields before the next `shy` requests; after each further slow yield
 * before twice as many. */
struct rest {
    int yields; /* left until the thread sleeps */
    int shy, next_shy;
};

/* Yields or sleeps. Askers of this node wake the thread; for those of other nodes the bell does. */
static void take_rest(struct rest *r, uint64_t turn) {
    static const struct timespec long_time = {.tv_sec = 1};
    if (r->shy || r->yields == 0) {
        futex(sleeps_on(slot), FUTEX_WAIT, (uint32_t)turn, &long_time);
        return;
    }
    const double before = rma_wtime();
    sched_yield();
    r->yields--;
    if (rma_wtime() - before < SLOW_YIELD) return;
    r->shy = r->next_shy;
    if (r->next_shy < SHY_MOST) r->next_shy *= 2;
}

static void *serve(void *unused) {
    struct rest rest = {.next_shy = 1};
    (void)unused;
    serving = 1;
    rma_thread_wakes_soon_();
    owner = (struct side){.slot = slot, .statement = "request of another image"};
    while (!__atomic_load_n(&ending, __ATOMIC_ACQUIRE)) {
        uint64_t turn = __atomic_load_n(&slot->turn, __ATOMIC_ACQUIRE); /* pairs with the store in give_turn */
        if (turn % 2 == 0) {
            take_rest(&rest, turn);
            continue;
        }
        rest.yields = LAZY_POLLS;
        if (rest.shy) rest.shy--;
        owner.turn = turn - 1;
        take_turn(&owner, &owner_piece);
        struct rmai_caf_message request = receive_message(&owner, &owner_piece), reply = execute(request);
        free(request.data);
        send_message(&owner, &owner_piece, PIECE_REPLIES, reply);
        free(reply.data);
    }
    return NULL;
}

void rmai_caf_serve_start(rmai_caf_execute *f) {
    if (slot) return;
    execute = f;
    if (rmai_caf.n == 1) return;
    slot = rma_calloc(1, sizeof *slot);
    if (slot) rma_bell_(&slot->turn, sleeps_on(slot));
    if (!slot || pthread_create(&thread, NULL, serve, NULL) != 0)
        rmai_caf_report(RMAI_CAF_NO_RESULT, RMAI_CAF_STAT_NO_MEM,
                        "start of the coarrays: this image cannot serve the others: %s",
                        slot ? "no thread" : rma_last_error());
}

void rmai_caf_serve_end(void) {
    if (!slot) return;
    rmai_caf_must(rma_barrier_all());
    __atomic_store_n(&ending, 1, __ATOMIC_RELEASE);
    futex(sleeps_on(slot), FUTEX_WAKE, INT_MAX, NULL);
    pthread_join(thread, NULL);
    rma_bell_(NULL, NULL);
    slot = NULL;
}
