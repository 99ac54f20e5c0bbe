/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "instruments/race/events.h"

#include <stdlib.h>
#include <string.h>

#include "instruments/race/blocks.h"
#include "instruments/race/clock.h"
#include "instruments/race/contexts.h"
#include "instruments/race/group.h"
#include "instruments/race/job.h"
#include "instruments/race/places.h"
#include "instruments/race/remote.h"
#include "instruments/race/runs.h"
#include "instruments/race/shadow.h"
#include "instruments/race/spin.h"

/* Each function below that records something or changes what the thread knows holds off signal handlers' events
 * (RACE_HELD): they would change the thread's count and clock between two steps. */

static int watches(void) { return race_job.on && race_me && !race_inside; }

int race_watches(void) {
    if (!watches()) return 0;
    race_late_settle();
    return 1;
}

/* ---- targets ---- */

/* The PE in the job of a context's PE, or -1. */
static int pe_in_job(const struct race_context *x, int pe) {
    if (!x || pe < 0) return -1;
    if (!x->pes) return pe < race_job.n_pes ? pe : -1;
    return pe < x->n ? x->pes[pe] : -1;
}

/* A target: its cells, and its description for reports. */
struct found {
    struct race_cell *cells;
    uintptr_t addr;
    int pe;
};

static int find_target(const struct race_context *x, struct race_target t, size_t len, struct found *f) {
    if (t.gptr) {
        f->pe = t.pe;
        f->cells = race_cells_at(t.addr, len, t.pe);
        f->addr = t.addr >= RACE_ATTACHED ? t.addr : race_job.space + t.addr;
    } else {
        f->pe = pe_in_job(x, t.pe);
        f->cells = f->pe < 0 ? NULL : race_cells_of((uintptr_t)t.addr, len, f->pe);
        f->addr = (uintptr_t)t.addr;
    }
    /* The cell is often in no cache; the work before its use hides the miss. */
    if (f->cells) __builtin_prefetch(f->cells, 1);
    return f->cells != NULL;
}

/* Reports an access of `len` bytes that goes past the end of a block of the symmetric heap. */
static void check_end(const struct race_call *c, const struct found *f, size_t len, int write) {
    race_past_end(c, f->pe, f->addr - race_job.space, len, write);
}

/* The same for the word itself, which the library's call needs next: an atomic may target any memory. */
static void prefetch_word(const struct found *f) {
    uintptr_t o = f->addr - race_job.space;
    if (o < race_job.stride && race_job.space_of[f->pe]) __builtin_prefetch((void *)(race_job.space_of[f->pe] + o), 1);
}

/* 0: the bytes are not in one cell. */
static race_epoch mask_of(uintptr_t addr, size_t len) { return (addr & 7) + len <= 8 ? race_mask(addr, len) : 0; }

/* ---- who ---- */

static int is_near(int pe) { return race_job.space_of[pe] != 0; }

static struct race_who thread_who(void) {
    struct race_who who = {.epoch = race_now, .clock = race_me->clock, .own = race_own()};
    return who;
}

/* The same for an atomic access of PE pe's memory, which fences to that PE also order. */
static struct race_who thread_who_at(const struct race_call *c, struct race_context *x, int pe) {
    struct race_who who = {.epoch = race_now, .clock = race_me->clock, .own = c->native && is_near(pe)};
    who.fences = x, who.fences_to = pe;
    return who;
}

/* The calling thread's next operation of this kind. If there is no memory for its flow, it counts as an access by the
 * thread itself, which is complete when the call returns. */
static struct race_who next_who(struct race_context *x, enum race_kind kind, int pe) {
    struct race_flow *flow = race_context_flow(x, kind, pe);
    race_runs_settle(); /* what the thread has done comes before the operation */
    struct race_who who = {.epoch = flow ? race_flow_next(flow) : race_now, .clock = race_me->clock};
    return who;
}

/* One that only quiet completes. */
static struct race_who pending_who(struct race_context *x, int pe) { return next_who(x, RACE_PENDING, pe); }

/* A put, or signalled data. */
static struct race_who put_who(const struct race_call *c, struct race_context *x, enum race_kind kind, int pe) {
    struct race_who who = next_who(x, kind, pe);
    who.own = c->native && is_near(pe);
    who.fences = x, who.fences_to = pe;
    return who;
}

/* What the context's operation on PE pe's memory tells to a thread that sees its value. */
static struct race_operation telling(const struct race_call *c, struct race_context *x, int pe) {
    const struct race_share *mine = race_context_share(x);
    const struct race_flow *puts = mine ? race_share_flow(mine, RACE_PUTS, pe) : NULL;
    const struct race_flow *data = mine ? race_share_flow(mine, RACE_SIGNALLED, pe) : NULL;
    return (struct race_operation){.thread = race_me->actor,
                                   .at = race_me->count,
                                   .version =
                                       race_publish(race_me, c->native ? race_all_fences : race_context_fences(x, pe)),
                                   .puts = puts ? puts->actor : UINT32_MAX,
                                   .puts_to = puts ? race_flow_fenced(puts) : 0,
                                   .signalled = data ? data->actor : UINT32_MAX,
                                   .signalled_to = data ? race_flow_fenced(data) : 0};
}

/* Whether an address of this process is memory of another PE of the node. */
static int is_memory_of_other(const void *addr) {
    return (uintptr_t)addr - race_job.spaces < race_job.spaces_len &&
           (uintptr_t)addr - race_job.space >= race_job.stride;
}

/* An access of the caller's buffer: by the thread if the buffer is free when the call returns, else by the context's
 * pending actor. */
static void near_buffer(struct race_context *x, int pe, const void *addr, size_t len, int nbi, int write,
                        uint32_t place) {
    struct race_who who;
    if (!len) return;
    if (!nbi) {
        who = thread_who();
        race_local(addr, len, RACE_PLAIN, write, place, &who);
        return;
    }
    if ((uintptr_t)addr - race_job.space >= race_job.stride && !x->private_pending) race_private_pending(x);
    who = pending_who(x, pe);
    race_local(addr, len, RACE_PLAIN, write, place, &who);
    race_stack_buffer((uintptr_t)addr, len, who.epoch);
}

/* ---- put and get ---- */

/* A write of PE f->pe's memory by an operation of the context. */
static void far_write(const struct race_call *c, struct race_context *x, const struct found *f, size_t len,
                      race_epoch kind, uint32_t place) {
    const struct race_operation op = telling(c, x, f->pe);
    const struct race_who who = put_who(c, x, RACE_PUTS, f->pe);
    race_log(RACE_ACTOR(who.epoch), RACE_COUNT(who.epoch), &op);
    if (kind == RACE_PLAIN)
        race_far_range(f->cells, f->addr, len, f->pe, kind, 1, place, &who);
    else
        race_far_access(f->cells, mask_of(f->addr, len), kind, 1, place, &who, (struct race_where){f->addr, f->pe});
}

void race_put(const struct race_call *c, struct race_target dest, const void *source, size_t len, int nbi) {
    RACE_HELD;
    struct race_context *x;
    struct found f;
    uint32_t place;
    if (!race_watches() || !len || !(x = race_context_of(c->ctx)) || !find_target(x, dest, len, &f)) return;
    race_job.native |= c->native;
    place = race_call_place(c->pc, c->name);
    check_end(c, &f, len, 1);
    far_write(c, x, &f, len, RACE_PLAIN, place);
    near_buffer(x, f.pe, source, len, nbi, 0, place);
    race_tick(race_me);
}

/* A read of PE f->pe's memory by a get. Later, if it is a word, and the thread's own accesses cannot race with it: of
 * another PE, or by a blocking get. */
static void far_read(const struct found *f, size_t len, race_epoch kind, int nbi, uint32_t place,
                     const struct race_who *who) {
    const race_epoch mask = mask_of(f->addr, len);
    const int is_own = f->pe == race_job.my_pe;
    if (race_alone && mask && !(is_own && nbi) && !race_is_elsewhere(f->pe)) {
        if (!is_own) race_cell_is_used(f->cells);
        race_read_later(f->cells, mask, kind, place, who, (struct race_where){f->addr, f->pe});
        return;
    }
    if (!is_own) race_late_settle(); /* no older read of the thread may replace this one */
    if (mask)
        race_far_access(f->cells, mask, kind, 0, place, who, (struct race_where){f->addr, f->pe});
    else
        race_far_range(f->cells, f->addr, len, f->pe, kind, 0, place, who);
}

/* Records the near side first: the far side's cell, which has been prefetched, arrives meanwhile. */
void race_get(const struct race_call *c, void *dest, struct race_target source, size_t len, int nbi) {
    RACE_HELD;
    struct race_context *x;
    struct race_who who;
    struct found f;
    uint32_t place;
    if (!watches() || !len || !(x = race_context_of(c->ctx)) || !find_target(x, source, len, &f)) return;
    place = race_call_place(c->pc, c->name);
    check_end(c, &f, len, 0);
    who = nbi ? pending_who(x, f.pe) : thread_who(); /* a fence orders no get */
    who.own = c->native && is_near(f.pe);
    if (is_memory_of_other(dest)) race_late_settle();
    near_buffer(x, f.pe, dest, len, nbi, 1, place);
    far_read(&f, len, RACE_PLAIN, nbi, place, &who);
    if (!nbi) return;
    /* A get tells nothing. But if it reads this PE's own memory, another store there may race with it. */
    if (f.pe == race_job.my_pe)
        race_step(race_me);
    else
        race_count(race_me);
}

void race_strided(const struct race_call *c, struct race_target far, const void *near, ptrdiff_t far_stride,
                  ptrdiff_t near_stride, size_t elem, size_t n, int get) {
    RACE_HELD;
    struct race_context *x;
    struct race_who mine, theirs;
    struct found f;
    uint32_t place;
    if (!race_watches() || !elem || !n || !(x = race_context_of(c->ctx)) || !find_target(x, far, elem, &f)) return;
    place = race_call_place(c->pc, c->name);
    theirs = thread_who();
    if (!get) {
        const struct race_operation op = telling(c, x, f.pe);
        theirs = put_who(c, x, RACE_PUTS, f.pe);
        race_log(RACE_ACTOR(theirs.epoch), RACE_COUNT(theirs.epoch), &op);
    }
    mine = thread_who();
    for (size_t i = 0; i < n; i++) {
        struct race_target t = far;
        t.addr += (uint64_t)((ptrdiff_t)i * far_stride * (ptrdiff_t)elem);
        if (!find_target(x, t, elem, &f)) break;
        check_end(c, &f, elem, !get);
        race_far_range(f.cells, f.addr, elem, f.pe, RACE_PLAIN, !get, place, &theirs);
        race_local((const char *)near + (ptrdiff_t)i * near_stride * (ptrdiff_t)elem, elem, RACE_PLAIN, get, place,
                   &mine);
    }
    if (!get) race_tick(race_me);
}

/* ---- sections, lists and accumulates ---- */

/* The target of the first piece that has bytes. 0: there is none, or it is not checked. */
static int find_pieces(const struct race_context *x, struct race_target base, const struct race_pieces *p,
                       struct found *f) {
    struct race_walk walk = {.next = 0};
    struct rma_block piece;
    if (!race_pieces_exist(p)) return 0;
    while (race_next_piece(p, &walk, &piece)) {
        struct race_target t = base;
        t.addr += (uint64_t)piece.offset;
        if (piece.len) return find_target(x, t, piece.len, f);
    }
    return 0;
}

/* Accesses the pieces of remote memory. unit: each element of so many bytes is an atomic; 0: plain accesses. */
static void far_pieces(const struct race_call *c, const struct race_context *x, struct race_target base,
                       const struct race_pieces *p, size_t unit, int write, uint32_t place,
                       const struct race_who *who) {
    struct race_walk walk = {.next = 0};
    struct rma_block piece;
    struct found f;
    while (race_next_piece(p, &walk, &piece)) {
        const size_t len = unit ? unit : piece.len;
        struct race_target t = base;
        t.addr += (uint64_t)piece.offset;
        if (!piece.len) continue;
        if (!find_target(x, t, piece.len, &f)) break; /* the library refuses the call */
        check_end(c, &f, piece.len, write);
        for (size_t at = 0; at < piece.len; at += len)
            race_far_range(f.cells + ((f.addr & 7) + at) / 8, f.addr + at, len, f.pe, unit ? RACE_ATOMIC : RACE_PLAIN,
                           write, place, who);
    }
}

/* Writes them as the context's next operation on PE pe. */
static void far_write_pieces(const struct race_call *c, struct race_context *x, int pe, struct race_target base,
                             const struct race_pieces *p, size_t unit, uint32_t place) {
    const struct race_operation op = telling(c, x, pe);
    const struct race_who who = put_who(c, x, RACE_PUTS, pe);
    race_log(RACE_ACTOR(who.epoch), RACE_COUNT(who.epoch), &op);
    far_pieces(c, x, base, p, unit, 1, place, &who);
}

static void near_pieces(struct race_context *x, int pe, const void *base, const struct race_pieces *p, int nbi,
                        int write, uint32_t place) {
    struct race_walk walk = {.next = 0};
    struct rma_block piece;
    while (race_pieces_exist(p) && race_next_piece(p, &walk, &piece))
        near_buffer(x, pe, (const char *)base + piece.offset, piece.len, nbi, write, place);
}

void race_put_pieces(const struct race_call *c, struct race_target dest, const void *source, struct race_pieces to,
                     struct race_pieces from, int nbi) {
    RACE_HELD;
    struct race_context *x;
    struct found f;
    uint32_t place;
    if (!race_watches() || !(x = race_context_of(c->ctx)) || !find_pieces(x, dest, &to, &f)) return;
    race_job.native |= c->native;
    place = race_call_place(c->pc, c->name);
    far_write_pieces(c, x, f.pe, dest, &to, 0, place);
    near_pieces(x, f.pe, source, &from, nbi, 0, place);
    race_tick(race_me);
}

void race_get_pieces(const struct race_call *c, void *dest, struct race_target source, struct race_pieces to,
                     struct race_pieces from, int nbi) {
    RACE_HELD;
    struct race_context *x;
    struct race_who who;
    struct found f;
    uint32_t place;
    if (!race_watches() || !(x = race_context_of(c->ctx)) || !find_pieces(x, source, &from, &f)) return;
    place = race_call_place(c->pc, c->name);
    who = nbi ? pending_who(x, f.pe) : thread_who();
    who.own = c->native && is_near(f.pe);
    far_pieces(c, x, source, &from, 0, 0, place, &who);
    near_pieces(x, f.pe, dest, &to, nbi, 1, place);
    if (nbi) race_tick(race_me);
}

void race_accumulate(const struct race_call *c, struct race_target dest, const void *source, void *fetch,
                     struct race_update how, struct race_pieces to, struct race_pieces from, struct race_pieces into) {
    RACE_HELD;
    struct race_context *x;
    struct found f;
    uint32_t place;
    if (!race_watches() || !(x = race_context_of(c->ctx)) || !how.size || !find_pieces(x, dest, &to, &f)) return;
    race_job.native |= c->native;
    place = race_call_place(c->pc, c->name);
    if (fetch) {
        const struct race_operation op = telling(c, x, f.pe);
        struct race_who who = how.nbi ? pending_who(x, f.pe) : thread_who_at(c, x, f.pe);
        who.fences = x, who.fences_to = f.pe;
        if (how.writes) race_log(RACE_ACTOR(who.epoch), RACE_COUNT(who.epoch), &op);
        far_pieces(c, x, dest, &to, how.size, how.writes, place, &who);
        near_pieces(x, f.pe, fetch, &into, how.nbi, 1, place);
    } else {
        far_write_pieces(c, x, f.pe, dest, &to, how.size, place);
    }
    if (source) near_pieces(x, f.pe, source, &from, how.nbi, 0, place);
    if (how.writes || how.nbi) race_tick(race_me);
}

void race_p(const struct race_call *c, struct race_target dest, size_t len) {
    RACE_HELD;
    struct race_context *x;
    struct found f;
    if (!race_watches() || !(x = race_context_of(c->ctx)) || !find_target(x, dest, len, &f)) return;
    far_write(c, x, &f, len, c->native && mask_of(f.addr, len) ? RACE_WHOLE : RACE_PLAIN,
              race_call_place(c->pc, c->name));
    race_tick(race_me);
}

void race_g(const struct race_call *c, struct race_target source, size_t len) {
    RACE_HELD;
    struct race_context *x;
    struct race_who who;
    struct found f;
    uint32_t place;
    if (!watches() || !(x = race_context_of(c->ctx)) || !find_target(x, source, len, &f)) return;
    place = race_call_place(c->pc, c->name);
    who = thread_who(); /* a fence orders no get */
    who.own = c->native && is_near(f.pe);
    far_read(&f, len, c->native && mask_of(f.addr, len) ? RACE_WHOLE : RACE_PLAIN, 0, place, &who);
}

/* ---- atomics and signals ---- */

/* The family of an atomic of OpenSHMEM, from the name of its call: shmem_ctx_TYPE_atomic_add, shmem_TYPE_swap. Types of
 * the same size that C takes for one type are one here: int64 is long, and so are ptrdiff and, unsigned, size. */
static race_epoch family_of(const struct race_call *c, const struct race_context *x) {
    const char *type = c->name + strlen("shmem_");
    enum race_type t;
    if (c->native || !race_job.strict_atomics) return RACE_ANY_TYPE;
    if (*type == 'c') type += strlen("ctx_");
    if (*type == 'f' || *type == 'd') /* float, double */
        t = RACE_FLOATING;
    else if (type[0] == 'l' && type[4] == 'l') /* longlong, unlike long_ */
        t = RACE_LONG_LONG;
    else if (type[0] == 'u' && type[1] == 'l' && type[5] == 'l')
        t = RACE_UNSIGNED_LONG_LONG;
    else /* uint, ulong, size; int, long, ptrdiff */
        t = *type == 'u' || *type == 's' ? RACE_UNSIGNED : RACE_SIGNED;
    return RACE_OF_TYPE(t) | x->domain;
}

static race_epoch family_of_signal(const struct race_call *c, int add) {
    if (c->native || !race_job.strict_atomics) return RACE_ANY_TYPE;
    return RACE_OF_TYPE(add ? RACE_SIGNAL_ADD : RACE_SIGNAL_SET);
}

/* A native atomic or signal that writes: the context's puts are complete before it (docs/memory-model.md). */
static void native_release(const struct race_call *c) {
    struct race_context *x = race_context_of(c->ctx);
    for (int pe = 0; x && pe < race_job.n_pes; pe++) {
        race_settle(x, RACE_PUTS, pe, 1);
        race_settle(x, RACE_SIGNALLED, pe, 1);
    }
}

void race_put_signal(const struct race_call *c, struct race_target dest, const void *source, size_t len,
                     const void *signal, int add, int nbi) {
    RACE_HELD;
    struct race_target word = {.addr = (uint64_t)(uintptr_t)signal, .pe = dest.pe};
    struct race_context *x;
    struct race_operation op;
    struct race_who who;
    struct found f;
    uint32_t place;
    if (!race_watches() || !(x = race_context_of(c->ctx)) || !find_target(x, word, sizeof(uint64_t), &f)) return;
    if (c->native) native_release(c);
    place = race_call_place(c->pc, c->name);
    op = telling(c, x, f.pe);
    if (len) {
        struct found d;
        who = put_who(c, x, RACE_SIGNALLED, f.pe);
        op.signalled = RACE_ACTOR(who.epoch); /* a thread that sees the signal sees this */
        op.signalled_to = RACE_COUNT(who.epoch);
        if (find_target(x, dest, len, &d)) {
            check_end(c, &d, len, 1);
            race_log(RACE_ACTOR(who.epoch), RACE_COUNT(who.epoch), &op);
            race_far_range(d.cells, d.addr, len, d.pe, RACE_PLAIN, 1, place, &who);
        }
        near_buffer(x, f.pe, source, len, nbi, 0, place);
    }
    if (mask_of(f.addr, sizeof(uint64_t))) {
        who = put_who(c, x, RACE_PUTS, f.pe);
        race_log(RACE_ACTOR(who.epoch), RACE_COUNT(who.epoch), &op);
        race_far_access(f.cells, RACE_MASK, RACE_ATOMIC | family_of_signal(c, add), 1, place, &who,
                        (struct race_where){f.addr, f.pe});
    }
    race_tick(race_me);
}

void race_atomic(const struct race_call *c, struct race_target word, size_t len, int writes, int reads, void *fetch) {
    RACE_HELD;
    struct race_context *x;
    struct race_who who;
    struct found f;
    uint32_t place;
    race_epoch mask, kind;
    if (!race_watches() || !(x = race_context_of(c->ctx)) || !find_target(x, word, len, &f)) return;
    if (!(mask = mask_of(f.addr, len))) return;
    kind = RACE_ATOMIC | family_of(c, x);
    race_cell_is_used(f.cells);
    prefetch_word(&f);
    place = race_call_place(c->pc, c->name);
    if (c->native && writes) native_release(c);
    if (!reads) {
        far_write(c, x, &f, len, kind, place);
    } else if (fetch) {
        const struct race_operation op = telling(c, x, f.pe);
        who = pending_who(x, f.pe);
        who.fences = x, who.fences_to = f.pe;
        race_log(RACE_ACTOR(who.epoch), RACE_COUNT(who.epoch), &op);
        race_context_fetches(x, f.cells, mask);
        race_far_access(f.cells, mask, kind, writes, place, &who, (struct race_where){f.addr, f.pe});
        near_buffer(x, f.pe, fetch, len, 1, 1, place);
    } else {
        if (writes) {
            const struct race_operation op = telling(c, x, f.pe);
            race_log(race_me->actor, race_me->count, &op);
        }
        who = thread_who_at(c, x, f.pe);
        race_far_access(f.cells, mask, kind, writes, place, &who, (struct race_where){f.addr, f.pe});
    }
    if (writes || fetch) race_tick(race_me);
}

void race_atomic_done(const struct race_call *c, struct race_target word, size_t len) {
    RACE_HELD;
    struct race_context *x;
    struct found f;
    race_epoch mask;
    if (!race_watches() || !(x = race_context_of(c->ctx)) || !find_target(x, word, len, &f)) return;
    if ((mask = mask_of(f.addr, len))) race_acquire(f.cells, mask, c->native);
}

void race_waited(const struct race_call *c, const void *ivar, size_t len) {
    RACE_HELD;
    struct race_cell *cells;
    struct race_who who;
    uintptr_t addr = (uintptr_t)ivar;
    race_epoch mask = mask_of(addr, len);
    if (!race_watches() || !mask) return;
    cells = race_cells_of(addr, len, race_job.my_pe);
    if (!cells) return;
    who = thread_who();
    /* OpenSHMEM's waits see writes of any call; native waits are atomics, with which a put races. */
    if (c->native)
        race_access(cells, mask, RACE_ATOMIC, 0, race_call_place(c->pc, c->name), &who,
                    (struct race_where){addr, race_job.my_pe});
    race_acquire(cells, mask, c->native);
}

/* ---- order ---- */

void race_settle(struct race_context *x, enum race_kind kind, int pe, int completes) {
    RACE_HELD;
    for (struct race_share *s = __atomic_load_n(&x->shares, __ATOMIC_ACQUIRE); s; s = s->next) {
        struct race_flow *flow = race_share_flow(s, kind, pe);
        const uint32_t to = flow ? race_flow_known(flow) : 0, last = flow ? race_flow_last(flow) : 0;
        struct race_progress *p = flow ? &race_job.progress[flow->actor] : NULL;
        if (completes && last > to) p->missed = last, p->by = race_me->actor;
        if (!to) continue;
        if (!completes && p->fenced < to) p->fenced = to;
        if (race_flow_fenced(flow) < to) {
            race_flow_fence(flow, to);
            race_me->changed = 1;
        }
        if (completes) {
            race_know(race_me, flow->actor, to);
            if (p->completed < to) p->completed = to;
        }
    }
}

void race_fence(const struct race_call *c) {
    RACE_HELD;
    struct race_context *x;
    if (!race_watches() || !(x = race_context_of(c->ctx))) return;
    for (int pe = 0; pe < race_job.n_pes; pe++) {
        race_settle(x, RACE_PUTS, pe, 0);
        race_settle(x, RACE_SIGNALLED, pe, 0);
    }
}

static void private_done(struct race_context *x, void *pending) { *(int *)pending |= x->private_pending; }

void race_private_pending(struct race_context *x) {
    x->private_pending = 1;
    if (race_window.private_mode == RACE_PRIVATE_OFF) race_private_mode(RACE_PRIVATE_PENDING);
}

void race_private_done(struct race_context *x) {
    int pending = 0;
    if (!x->private_pending && race_window.private_mode != RACE_PRIVATE_PENDING) return;
    x->private_pending = 0;
    race_contexts_each(private_done, &pending);
    if (!pending && race_window.private_mode == RACE_PRIVATE_PENDING) race_private_mode(RACE_PRIVATE_OFF);
}

void race_quiet(const struct race_call *c) {
    RACE_HELD;
    struct race_context *x;
    if (!race_watches() || !(x = race_context_of(c->ctx))) return;
    for (int pe = 0; pe < race_job.n_pes; pe++) {
        race_settle(x, RACE_PUTS, pe, 1);
        race_settle(x, RACE_SIGNALLED, pe, 1);
        race_settle(x, RACE_PENDING, pe, 1);
    }
    race_context_fetched(x, c->native);
    race_private_done(x);
}

static void some(const struct race_call *c, const int *pes, size_t n, int completes) {
    RACE_HELD;
    struct race_context *x;
    if (!race_watches() || !(x = race_context_of(c->ctx))) return;
    for (size_t i = 0; i < n; i++) {
        int pe = pe_in_job(x, pes[i]);
        if (pe < 0) continue;
        race_settle(x, RACE_PUTS, pe, completes);
        race_settle(x, RACE_SIGNALLED, pe, completes);
        if (completes) race_settle(x, RACE_PENDING, pe, 1);
    }
}

void race_pe_quiet(const struct race_call *c, const int *pes, size_t n) { some(c, pes, n, 1); }
void race_pe_fence(const struct race_call *c, const int *pes, size_t n) { some(c, pes, n, 0); }

void race_ctx_made(const void *ctx, int n, const int *pes, race_epoch domain) {
    if (race_job.on && ctx) race_context_new(ctx, n, pes, domain);
}

void race_ctx_ended(const void *ctx) {
    struct race_call c = {.ctx = ctx};
    struct race_context *x;
    if (!race_job.on || !ctx || !(x = race_context_of(ctx))) return;
    race_quiet(&c);
    race_context_end(x);
}

/* ---- locks ---- */

uint64_t race_number_of(const void *object) {
    uintptr_t o = (uintptr_t)object - race_job.statics;
    return o < race_job.statics_len ? o + ((uint64_t)1 << 60) : (uintptr_t)object - race_job.space;
}

void race_lock_got(const void *lock) {
    if (!race_watches()) return;
    race_group_lock(race_number_of(lock), 0);
    if (!race_job.header->locked) __atomic_store_n(&race_job.header->locked, 1, __ATOMIC_RELAXED);
}

void race_lock_clear(const struct race_call *c, const void *lock) {
    if (!race_watches()) return;
    race_quiet(c);
    race_group_lock(race_number_of(lock), 1);
    race_tick(race_me);
}
