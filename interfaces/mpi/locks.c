/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Win_lock_all takes its locks when it is called, and not at the first access to each process: otherwise a writer
 * that comes later gets a lock, and may then wait for a message that the process in the epoch sends after its first
 * access. It first takes all tickets, and then waits for its turn everywhere, so no process is asked later than others.
 *
 * Meanwhile a writer may hold one of the locks and want another one, which this process has already. So a process that
 * waits lets writers pass: it releases locks for which writers wait, and queues again behind them. It may do so because
 * it has not accessed anything yet. It soon does so for the locks of higher ranks than that which it waits for. So
 * writers that take their locks in the order of ranks, or only one at a time, never wait for it in a circle, and it
 * comes from rank to rank. For writers with another order it lets the locks of lower ranks go too, in growing
 * intervals, so in the end it waits as any reader.
 */
#include "config.h"

#include "interfaces/mpi/locks.h"

#include <assert.h>
#include <stdlib.h>

#define LOCK offsetof(struct rmai_win_record, lock)

/* This process's place in the queue of a lock. */
struct turn {
    struct rmai_win_lock *near; /* the lock; if its process is on another node, NULL, */
    rma_gptr_t at;              /* and this names it */
    uint64_t as, ticket;
    uint64_t in, out; /* of another node: as they were read last */
    int rank;
    enum { NOT_QUEUED, QUEUED, HELD } state;
};

/* Seconds until a process in rmai_win_take_all lets writers pass, at the locks of higher ranks and at all; each time it
 * has done the latter, that interval grows by its first length. */
#define HIGHER_INTERVAL 0.0001
#define ALL_INTERVAL    0.001

struct lock_wait {
    struct rmai_win *w;
    const char *call;
    struct turn *turn;                  /* that is awaited */
    struct turn *others;                /* all turns of rmai_win_take_all, or NULL */
    double higher_at, all_at, interval; /* when it lets writers pass */
    int code;
    int holder; /* the PE that holds the lock, or -1: not known */
    unsigned polls;
    double search_at; /* when to search for the holder again */
};

static rma_gptr_t in_of(const struct turn *t) { return t->at + offsetof(struct rmai_win_lock, in); }
static rma_gptr_t out_of(const struct turn *t) { return t->at + offsetof(struct rmai_win_lock, out); }

static int is_turn_of(uint64_t as, uint64_t ticket, uint64_t out) {
    return as == RMAI_WIN_WRITER ? out == ticket : (out ^ ticket) >> 32 == 0;
}

static int has_come(const struct turn *t) { return is_turn_of(t->as, t->ticket, t->out); }

/* Reads `out`. */
static int read_out(const char *call, struct turn *t) {
    if (!t->near) return rmai_win_atomic(call, RMA_FETCH_, out_of(t), sizeof t->out, 0, 0, &t->out);
    t->out = __atomic_load_n(&t->near->out, __ATOMIC_ACQUIRE);
    return RMA_SUCCESS;
}

/* A word of another node, which is in *to after the next rma_quiet. */
static int begin_read(const char *call, rma_gptr_t word, uint64_t *to) {
    return rma_gptr_atomic_nbi_slow_(call, RMA_FETCH_, word, sizeof *to, 0, 0, to);
}

/* Takes a ticket. That of another node is there after the next rma_quiet. */
static int begin_turn(const char *call, struct turn *t) {
    int code = RMA_SUCCESS;
    if (t->near)
        t->ticket = __atomic_fetch_add(&t->near->in, t->as, __ATOMIC_ACQ_REL);
    else
        code = rma_gptr_atomic_nbi_slow_(call, RMA_FETCH_ADD_, in_of(t), sizeof t->ticket, t->as, 0, &t->ticket);
    if (code == RMA_SUCCESS) t->state = QUEUED;
    return code;
}

/* Releases a lock that this process holds. On another node it waits for nothing: the caller calls rma_send_gathered_.
 */
static int end_turn(const char *call, struct turn *t) {
    assert((t->state == HELD || has_come(t)) && "only who holds a lock releases it");
    t->state = NOT_QUEUED;
    if (!t->near) return rmai_win_atomic(call, RMA_FETCH_ADD_, out_of(t), sizeof t->as, t->as, 0, NULL);
    __atomic_fetch_add(&t->near->out, t->as, __ATOMIC_ACQ_REL);
    return RMA_SUCCESS;
}

/* ---- waiting ---- */

/* Finds a process that has locked l->turn, for the report of a long wait: each process writes into its own record what
 * it has locked. A reader does not wait for a process that itself waits in MPI_Win_lock_all. */
#define SEARCH_TIME 0.2 /* seconds between two searches */
static void find_holder(struct lock_wait *l) {
    const uint32_t wanted = (uint32_t)l->turn->rank + 1;
    const uint32_t least = l->turn->as == RMAI_WIN_READER ? RMAI_WIN_HAS_ALL : RMAI_WIN_TAKES_ALL;
    l->holder = -1;
    for (int rank = 0; rank < l->w->comm->n; rank++) {
        struct rmai_win_peer p;
        struct rmai_win_record record;
        if (rank == l->w->comm->rank || rmai_win_peer(l->w, rank, &p) != RMA_SUCCESS) continue;
        if (p.record) {
            record.locked = __atomic_load_n(&p.record->locked, __ATOMIC_RELAXED);
            record.locks_all = __atomic_load_n(&p.record->locks_all, __ATOMIC_RELAXED);
        } else if (rma_gptr_get(&record, p.record_at, offsetof(struct rmai_win_record, lock)) != RMA_SUCCESS) {
            continue;
        }
        if (record.locked == wanted || (record.locks_all >= least && l->holder < 0)) l->holder = p.pe;
        if (record.locked == wanted) return;
    }
}

/* Reads the locks of other nodes at once, from rank `first` on. */
static int read_far(struct lock_wait *l, int first) {
    int code = RMA_SUCCESS, one;
    if (l->w->comm->n == l->w->comm->n_near) return code;
    for (int i = first; i < l->w->comm->n && code == RMA_SUCCESS; i++) {
        struct turn *t = &l->others[i];
        if (t->near || t->state == NOT_QUEUED) continue;
        code = begin_read(l->call, in_of(t), &t->in);
        if (code == RMA_SUCCESS) code = begin_read(l->call, out_of(t), &t->out);
    }
    one = rma_quiet();
    return code == RMA_SUCCESS ? one : code;
}

/* Releases each lock of the ranks from `first` on that this process has and for which a writer waits, and queues again.
 */
static int let_writers_pass(struct lock_wait *l, int first) {
    int code = read_far(l, first), yields = 0, one;
    for (int i = first; i < l->w->comm->n && code == RMA_SUCCESS; i++) {
        struct turn *t = &l->others[i];
        if (t == l->turn || t->state == NOT_QUEUED) continue;
        if (t->near) {
            t->in = __atomic_load_n(&t->near->in, __ATOMIC_ACQUIRE);
            t->out = __atomic_load_n(&t->near->out, __ATOMIC_ACQUIRE);
        }
        if (!has_come(t) || (t->in ^ t->ticket) >> 32 == 0) continue;
        code = end_turn(l->call, t);
        if (code == RMA_SUCCESS) code = begin_turn(l->call, t);
        yields += !t->near;
    }
    if (!yields) return code;
    one = rma_quiet();
    return code == RMA_SUCCESS ? one : code;
}

static int lock_turn_has_come(void *context) {
    struct lock_wait *l = context;
    l->code = read_out(l->call, l->turn);
    if (l->code != RMA_SUCCESS || has_come(l->turn)) return 1;
    if (l->others) {
        const double now = rma_wtime();
        if (now > l->all_at) {
            l->code = let_writers_pass(l, 0);
            l->interval += ALL_INTERVAL;
            l->all_at = now + l->interval;
        } else if (now > l->higher_at) {
            l->code = let_writers_pass(l, l->turn->rank + 1);
            l->higher_at = now + HIGHER_INTERVAL;
        }
        if (l->code != RMA_SUCCESS) return 1;
    }
    if (++l->polls % 16 == 0 && rma_wtime() > l->search_at) {
        if (l->search_at > 0) find_holder(l);
        l->search_at = rma_wtime() + SEARCH_TIME;
    }
    return 0;
}

static int await_turn(struct lock_wait *l) {
    l->holder = -1;
    if (!lock_turn_has_come(l)) rma_wait_for_(l->call, &l->holder, lock_turn_has_come, l);
    if (l->code == RMA_SUCCESS) l->turn->state = HELD;
    return l->code;
}

/* ---- one lock ---- */

static struct rmai_win_lock *lock_at(const struct rmai_win_peer *peer, size_t offset) {
    return (struct rmai_win_lock *)(void *)((char *)peer->record + offset);
}

/* Waits for the turn of a ticket for a lock of this node. */
static __attribute__((noinline)) int await_ticket(struct rmai_win *w, const char *call,
                                                  const struct rmai_win_peer *peer, size_t offset, uint64_t as,
                                                  uint64_t ticket) {
    struct turn turn = {.near = lock_at(peer, offset), .as = as, .ticket = ticket, .rank = peer->rank};
    struct lock_wait l = {.w = w, .call = call, .turn = &turn};
    return await_turn(&l);
}

static int take_far(struct rmai_win *w, const char *call, const struct rmai_win_peer *peer, size_t offset,
                    uint64_t as) {
    struct turn turn = {.at = peer->record_at + offset, .as = as, .rank = peer->rank};
    struct lock_wait l = {.w = w, .call = call, .turn = &turn};
    int code = begin_turn(call, &turn), earlier;
    if (code != RMA_SUCCESS) return code;
    /* One round trip takes the ticket and reads `out` for the first time. */
    code = read_out(call, &turn);
    earlier = rma_quiet_of_(peer->pe); /* it may report an earlier operation, but the ticket is taken */
    if (code == RMA_SUCCESS && !has_come(&turn)) code = await_turn(&l);
    if (code != RMA_SUCCESS || earlier == RMA_SUCCESS) return code;
    rmai_win_release(call, peer, offset, as);
    return earlier;
}

int rmai_win_take(struct rmai_win *w, const char *call, const struct rmai_win_peer *peer, size_t offset, uint64_t as) {
    struct rmai_win_lock *lock = lock_at(peer, offset);
    uint64_t ticket;
    if (!peer->record) return take_far(w, call, peer, offset, as);
    ticket = __atomic_fetch_add(&lock->in, as, __ATOMIC_ACQ_REL);
    if (is_turn_of(as, ticket, __atomic_load_n(&lock->out, __ATOMIC_ACQUIRE))) return RMA_SUCCESS;
    return await_ticket(w, call, peer, offset, as, ticket);
}

int rmai_win_release(const char *call, const struct rmai_win_peer *peer, size_t offset, uint64_t as) {
    const size_t out = offset + offsetof(struct rmai_win_lock, out);
    if (!peer->record) return rmai_win_signal(call, peer->record_at + out, as);
    __atomic_fetch_add(&lock_at(peer, offset)->out, as, __ATOMIC_ACQ_REL);
    return RMA_SUCCESS;
}

/* ---- the locks of all processes ---- */

/* Asks the directories where the records on other nodes are, once for each window. */
static int find_far_records(struct rmai_win *w, const char *call) {
    const int n = w->comm->n, n_far = n - w->comm->n_near;
    rma_gptr_t *records;
    int code = RMA_SUCCESS, one;
    if (n_far == 0 || w->far_records) return RMA_SUCCESS;
    records = malloc((size_t)n_far * sizeof *records);
    if (!records) return rma_fail_(RMA_ERR_NO_MEM, "%s: no memory for %d processes", call, n_far);
    for (int rank = 0, i = 0; rank < n && code == RMA_SUCCESS; rank++)
        if (rmai_win_comm_slot(w->comm, rank) < 0)
            code = rma_get_nbi(&records[i++], &rmai_win_directory[w->number], sizeof *records,
                               rmai_win_comm_pe(w->comm, rank));
    one = rma_quiet();
    if (code == RMA_SUCCESS) code = one;
    if (code == RMA_SUCCESS)
        w->far_records = records;
    else
        free(records);
    return code;
}

/* The place of each process's lock. */
static void find_locks(const struct rmai_win *w, struct turn *turns) {
    for (int rank = 0, far = 0; rank < w->comm->n; rank++) {
        const int slot = rmai_win_comm_slot(w->comm, rank);
        turns[rank] = (struct turn){.as = RMAI_WIN_READER, .rank = rank};
        if (slot >= 0)
            turns[rank].near = &w->near[slot].record->lock;
        else
            turns[rank].at = w->far_records[far++] + LOCK;
    }
}

/* Takes a ticket for each lock. For those of other nodes one round trip takes it and reads `out` for the first time. */
static int begin_all(struct rmai_win *w, const char *call, struct turn *turns) {
    int code = RMA_SUCCESS, one;
    for (int i = 0; i < w->comm->n && code == RMA_SUCCESS; i++) {
        code = begin_turn(call, &turns[i]);
        if (code == RMA_SUCCESS && !turns[i].near) code = begin_read(call, out_of(&turns[i]), &turns[i].out);
    }
    if (w->comm->n == w->comm->n_near) return code;
    one = rma_quiet();
    for (int i = 0; i < w->comm->n; i++)
        if (turns[i].state == QUEUED && !turns[i].near && has_come(&turns[i])) turns[i].state = HELD;
    return code == RMA_SUCCESS ? one : code;
}

/* Waits until this process holds all locks for which it has a ticket. It waits again for those for which it has let
 * writers pass. If it cannot wait for one, it still waits for the others. */
static int await_all(struct rmai_win *w, const char *call, struct turn *turns) {
    struct lock_wait l = {.w = w, .call = call, .others = turns, .interval = ALL_INTERVAL};
    int code = RMA_SUCCESS, waited;
    l.higher_at = rma_wtime() + HIGHER_INTERVAL;
    l.all_at = rma_wtime() + ALL_INTERVAL;
    do {
        waited = 0;
        for (int i = 0; i < w->comm->n; i++) {
            int one;
            if (turns[i].state != QUEUED) continue;
            l.turn = &turns[i];
            one = await_turn(&l);
            if (one != RMA_SUCCESS) turns[i].state = NOT_QUEUED;
            if (code == RMA_SUCCESS) code = one;
            waited = 1;
        }
    } while (waited);
    return code;
}

int rmai_win_take_all(struct rmai_win *w, const char *call) {
    struct turn *turns = malloc((size_t)w->comm->n * sizeof *turns);
    int code = turns ? find_far_records(w, call)
                     : rma_fail_(RMA_ERR_NO_MEM, "%s: no memory for %d processes", call, w->comm->n);
    int one;
    if (code == RMA_SUCCESS) {
        find_locks(w, turns);
        code = begin_all(w, call, turns);
        one = await_all(w, call, turns);
        if (code == RMA_SUCCESS) code = one;
        for (int i = 0; i < w->comm->n && code != RMA_SUCCESS; i++)
            if (turns[i].state == HELD) end_turn(call, &turns[i]);
        if (code != RMA_SUCCESS) rma_send_gathered_();
    }
    free(turns);
    return code;
}

int rmai_win_release_all(struct rmai_win *w, const char *call) {
    const int n_far = w->comm->n - w->comm->n_near;
    int code = RMA_SUCCESS;
    for (int i = 0; i < w->comm->n_near; i++)
        __atomic_fetch_add(&w->near[i].record->lock.out, RMAI_WIN_READER, __ATOMIC_ACQ_REL);
    for (int i = 0; i < n_far; i++) {
        struct turn turn = {.at = w->far_records[i] + LOCK, .as = RMAI_WIN_READER, .state = HELD};
        const int one = end_turn(call, &turn);
        if (code == RMA_SUCCESS) code = one;
    }
    if (n_far) rma_send_gathered_();
    return code;
}
