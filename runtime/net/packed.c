/* SPDX-License-Identifier: BSD-3-Clause */
/* A pattern travels in pieces. A piece is a record of kind RUNS: which blocks, as runs, and their data. Short pieces
 * have the data in the record; those of long moves have them by tag. An update always has them in the record: messages
 * of one PE are served in order, and MPI's long data are not. */
#include "config.h"

#include "runtime/net/packed.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/kernels.h"
#include "runtime/job/traffic.h"
#include "runtime/net/flow.h"
#include "runtime/net/request.h"
#include "runtime/net/op.h"
#include "runtime/net/progress.h"
#include "runtime/net/wait.h"
#include "runtime/net/state.h"
#include "runtime/net/wire.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_MOST ((size_t)3968)  /* bytes of a piece's runs and data in a message */
#define LONG_FROM   ((size_t)65536) /* bytes of a move whose data travel by tag */
#define LONG_PIECE  ((size_t)65536) /* bytes of data of one piece, by tag */
#define RUNS_MOST   (RECORD_MOST / sizeof(int64_t))

/* A piece that is being made. */
struct piece {
    const struct rmai_packed *x;
    struct rmai_net *net;
    struct rmai_waiter *waiter;          /* or NULL */
    int by_tag, listed, brings, returns; /* brings: data go to the target; returns: data come back */
    unsigned n;
    size_t grain;               /* blocks are cut at multiples of it */
    size_t list_len, len, most; /* len of at most `most` bytes of data */
    _Alignas(16) unsigned char list[RECORD_MOST];
    _Alignas(16) unsigned char data[RECORD_MOST];
    struct rmai_landing *sent; /* by tag: the data that go to the target are there instead */
    size_t n_to;
    struct rmai_landing_run to[RUNS_MOST]; /* where returned data go */
};

/* ---- data ---- */

static unsigned char *data_of(struct piece *p) { return p->sent ? p->sent->data : p->data; }

/* Appends n blocks of the local side to the piece's data. */
static void pack_blocks(struct piece *p, const char *from, ptrdiff_t step, size_t len, size_t n) {
    char *data = (char *)data_of(p) + p->len;
    if (!p->x->scale) {
        rmai_move_strided(data, from, (ptrdiff_t)len, step, len, n);
        return;
    }
    for (size_t i = 0; i < n; i++, data += len, from += step)
        rmai_scale(p->x->type, data, p->x->scale, from, len / rmai_type_size(p->x->type));
}

/* Notes where n blocks of returned data go. */
static void note_blocks(struct piece *p, char *to, ptrdiff_t step, size_t len, size_t n) {
    struct rmai_landing_run *last = p->n_to ? &p->to[p->n_to - 1] : NULL;
    if (n > 1 && step == (ptrdiff_t)len) {
        len *= n;
        n = 1;
    }
    if (last && last->n == 1 && n == 1 && last->at + last->len == to)
        last->len += len;
    else
        p->to[p->n_to++] = (struct rmai_landing_run){to, len, n, step};
}

static struct rmai_landing *make_landing(const struct piece *p, size_t n, size_t bytes) {
    struct rmai_landing *l = malloc(sizeof *l + n * sizeof l->to[0] + bytes);
    if (!l) return NULL;
    l->n = n;
    l->data = (unsigned char *)(l->to + n);
    if (n) memcpy(l->to, p->to, n * sizeof l->to[0]);
    return l;
}

/* ---- pieces ---- */

static int begin_packed(struct piece *p) {
    p->n = 0;
    p->n_to = p->list_len = p->len = 0;
    p->sent = NULL;
    if (!p->by_tag || !p->brings) return RMA_SUCCESS;
    p->sent = make_landing(p, 0, LONG_PIECE);
    return p->sent ? RMA_SUCCESS : rmai_net_no_memory(p->x->call, p->x->pe);
}

/* Returned data go to their place at once if that is one block, else through room of their own. */
static int find_room(struct piece *p, struct rmai_runs *runs, void **buffer) {
    if (p->n_to == 1 && p->to[0].n == 1) {
        *buffer = p->to[0].at;
        return RMA_SUCCESS;
    }
    runs->landing = make_landing(p, p->n_to, p->len);
    if (!runs->landing) return rmai_net_no_memory(p->x->call, p->x->pe);
    *buffer = runs->landing->data;
    return RMA_SUCCESS;
}

static int send_piece(struct piece *p) {
    const struct rmai_packed *x = p->x;
    const struct rmai_wire_runs w = {.type = (unsigned)x->type,
                                     .listed = (unsigned)p->listed,
                                     .n = p->n,
                                     .len = p->listed ? (uint32_t)x->pattern->elem : 0};
    const int brings_by_tag = p->by_tag && p->brings, inside = p->brings && !p->by_tag;
    struct rmai_runs runs = {.list = p->list,
                             .list_len = p->list_len,
                             .data = p->data,
                             .data_len = inside ? p->len : 0,
                             .landing = p->sent,
                             .flags = (uint8_t)(brings_by_tag ? RMAI_RECORD_BRINGS
                                                : p->by_tag   ? RMAI_RECORD_TAKES
                                                : p->returns  ? RMAI_RECORD_WANTED
                                                              : 0)};
    struct rmai_op op = {.call = x->call,
                         .set = x->set,
                         .pe = x->pe,
                         .kind = RMAI_RECORD_RUNS,
                         .atomic = (uint8_t)(x->what == RMAI_PACKED_PUT   ? RMAI_RUNS_PUT
                                             : x->what == RMAI_PACKED_GET ? RMAI_RUNS_GET
                                                                          : RMAI_RUNS_UPDATE + (int)x->op),
                         .offset = x->offset,
                         .value = p->len,
                         .cond = rmai_wire_runs_word(&w),
                         .word = (uint64_t)(x->pattern->end - x->pattern->least),
                         .buffer = p->sent ? p->sent->data : NULL,
                         .runs = &runs};
    int code = p->returns ? find_room(p, &runs, &op.buffer) : RMA_SUCCESS;
    if (code != RMA_SUCCESS) return code;
    if (p->waiter) p->waiter->left++;
    code = rmai_request_submit(p->net, &op, NULL, p->waiter);
    if (code != RMA_SUCCESS) {
        if (p->waiter) p->waiter->left--;
        free(runs.landing);
    }
    p->sent = NULL;
    if (p->by_tag) rmai_net_drive(p->net); /* the target may be ready for the data of an earlier piece */
    return code;
}

/* Most are cut at 16 bytes, pairs between two of them. */
static size_t grain_of(const struct rmai_packed *x) {
    const size_t size = x->what == RMAI_PACKED_UPDATE ? rmai_type_size(x->type) : 1;
    return 16 % size == 0 ? 16 : size;
}

static size_t in_grains(const struct piece *p, size_t len) {
    return RMAI_LIKELY(p->grain == 16) ? len & ~(size_t)15 : len / p->grain * p->grain;
}

/* Bytes of data that the piece has still room for, beside one more run. */
static size_t room_left(const struct piece *p) {
    const size_t run = p->listed ? sizeof(int64_t) : sizeof(struct rmai_wire_run);
    if (p->list_len + run > RECORD_MOST) return 0;
    if (p->by_tag) return in_grains(p, LONG_PIECE - p->len);
    return p->list_len + run + p->len < RECORD_MOST ? in_grains(p, RECORD_MOST - p->list_len - run - p->len) : 0;
}

static void add_run(struct piece *p, const struct rmai_wire_run *run) {
    const size_t bytes = p->listed ? sizeof run->at : sizeof *run;
    memcpy(p->list + p->list_len, run, bytes); /* `at` comes first */
    p->list_len += bytes;
    p->n++;
}

/* Adds n blocks of a run, which fit. */
static void add_blocks(struct piece *p, const struct rmai_run *run, size_t n, size_t len) {
    const struct rmai_packed *x = p->x;
    const struct rmai_wire_run one = {
        .at = run->at[RMAI_REMOTE] - x->pattern->least, .len = len, .n = n, .step = n > 1 ? run->step[RMAI_REMOTE] : 0};
    add_run(p, &one);
    if (p->brings) pack_blocks(p, (const char *)x->local + run->at[RMAI_LOCAL], run->step[RMAI_LOCAL], len, n);
    if (x->what == RMAI_PACKED_GET)
        note_blocks(p, (char *)x->local + run->at[RMAI_LOCAL], run->step[RMAI_LOCAL], len, n);
    else if (p->returns)
        note_blocks(p, (char *)x->before + run->at[RMAI_BEFORE], run->step[RMAI_BEFORE], len, n);
    p->len += len * n;
}

static int next_packed(struct piece *p) {
    const int code = send_piece(p);
    return code == RMA_SUCCESS ? begin_packed(p) : code;
}

/* Adds the first block of a run, cut into as many pieces as it takes. */
static int add_long_block(struct piece *p, struct rmai_run run) {
    int code = RMA_SUCCESS;
    while (run.len > 0 && code == RMA_SUCCESS) {
        const size_t len = rmai_min(room_left(p), run.len);
        if (len == 0) {
            code = next_packed(p);
            continue;
        }
        add_blocks(p, &run, 1, len);
        for (int side = 0; side < p->x->pattern->sides; side++) run.at[side] += (ptrdiff_t)len;
        run.len -= len;
    }
    return code;
}

/* Adds a run, in as many pieces as it takes. A block that fits into an empty piece is not cut. */
static int add_whole_run(struct piece *p, struct rmai_run run) {
    int code = RMA_SUCCESS;
    while (run.n > 0 && code == RMA_SUCCESS) {
        const int cut = run.len > p->most;
        const size_t n = cut ? 1 : rmai_min(run.n, room_left(p) / run.len);
        assert((n > 0 || p->n > 0) && "an empty piece has room for a block");
        if (cut)
            code = add_long_block(p, run);
        else if (n > 0)
            add_blocks(p, &run, n, run.len);
        else
            code = next_packed(p);
        run.n -= n;
        for (int side = 0; side < p->x->pattern->sides; side++) run.at[side] += (ptrdiff_t)n * run.step[side];
    }
    return code;
}

static int send_all(struct piece *p) {
    struct rmai_walk walk = {.s = p->x->pattern};
    struct rmai_run run;
    int code = begin_packed(p);
    while (code == RMA_SUCCESS && rmai_pattern_next(&walk, &run)) code = add_whole_run(p, run);
    if (code == RMA_SUCCESS) code = send_piece(p);
    free(p->sent);
    return code;
}

static void count_packed(const struct rmai_packed *x) {
    const enum rmai_traffic_kind kind = x->what == RMAI_PACKED_PUT   ? RMAI_PUTS
                                        : x->what == RMAI_PACKED_GET ? RMAI_GETS
                                                                     : RMAI_ATOMICS;
    rmai_count(x->set->traffic, RMA_PATH_REQUEST, kind, kind == RMAI_ATOMICS ? 0 : x->pattern->bytes);
}

int rmai_net_packed(const struct rmai_packed *x) {
    struct rmai_net *net = x->set->net;
    struct rmai_waiter waiter;
    struct piece p;
    int code;
    p.x = x;
    p.net = net;
    p.by_tag = x->what != RMAI_PACKED_UPDATE && x->pattern->bytes >= LONG_FROM;
    p.listed = x->pattern->kind == RMAI_INDEXED && x->pattern->elem <= RECORD_MOST / 2;
    p.brings = x->what == RMAI_PACKED_PUT || (x->what == RMAI_PACKED_UPDATE && x->op != RMA_OP_FETCH);
    p.returns = x->what == RMAI_PACKED_GET || x->before;
    p.grain = grain_of(x);
    p.most = p.by_tag ? LONG_PIECE : in_grains(&p, RECORD_MOST - sizeof(struct rmai_wire_run));
    p.waiter = p.returns && x->when == RMAI_NOW ? &waiter : NULL;
    count_packed(x);
    rmai_waiter_begin(&waiter, 0);
    rmai_net_enter(net);
    rmai_request_complete_proxy(net, x->call, x->set, x->pe);
    code = send_all(&p);
    if (p.waiter) {
        int waited = rmai_net_wait_for(net, x->call, x->pe, &waiter); /* also after an error: replies write to it */
        if (code == RMA_SUCCESS) code = waited;
    }
    rmai_net_leave(net);
    return code;
}
