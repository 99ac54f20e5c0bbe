/* SPDX-License-Identifier: BSD-3-Clause */
/* A process in MPI_Win_lock_all accesses the memory of all processes, so it takes all their locks when it is called,
 * and not at the first access to each process: otherwise a writer that comes later gets a lock, and may then wait for a
 * message that the process in the epoch sends after its first access.
 *
 * It takes no tickets: with them it would come in behind writers that wait, and they may wait for others in
 * MPI_Win_lock_all, which need this process. Instead it counts itself in the word `all` of each lock, where it counts
 * as long as it wants the lock or has it. It has the lock if it finds no writer that holds a ticket; a writer that
 * comes later finds the count. (Each first changes a word and then reads the other's, so at least one of the two sees
 * the other.) A writer whose ticket is due sets RMAI_WIN_OPEN in `all` if it finds a count there, which lets all of
 * these processes in, and waits until the count is 0; then it clears the bit, in the same step. So a process waits in
 * MPI_Win_lock_all for one writer that holds the lock, and for no writer that waits.
 *
 * A writer may hold one of the locks and want another one, which this process has already. So a process that waits lets
 * writers pass: it leaves locks for which writers wait, and comes back when one of them has passed, or after a while.
 * It may do so because it has not accessed anything yet. It soon leaves the locks of higher ranks than that which it
 * waits for. So writers that take their locks in the order of ranks, or only one at a time, never wait for it in a
 * circle, and it comes from rank to rank. For writers with another order it leaves the locks of lower ranks too, in
 * growing intervals, so in the end it waits as any reader. */
#include "config.h"

#include "interfaces/mpi/locks.h"

#include <assert.h>
#include <stdlib.h>

#define LOCK offsetof(struct rmai_win_record, lock)

/* What this process wants of a lock. */
struct lock_request {
    struct rmai_win_lock *near; /* the lock; if its process is on another node, NULL, */
    rma_gptr_t at;              /* and this names it */
    int rank, pe;               /* of its process; pe is not set in MPI_Win_lock_all */
    uint64_t as;                /* RMAI_WIN_READER or RMAI_WIN_WRITER, with a ticket; 0: in MPI_Win_lock_all */
    uint64_t ticket;            /* what `in` was */
    struct rmai_win_lock seen;  /* as it was read last; without the words that do not concern the request */
    enum { NOT_QUEUED, QUEUED, HELD, LEFT } state;
    uint64_t left_at; /* LEFT: what `out` was, */
    double back_at;   /* and when this process comes back in any case */
};

/* Seconds until a process in rmai_win_take_all lets writers pass, at the locks of higher ranks and at all; each time it
 * has done the latter, that interval grows by its first length. */
#define HIGHER_INTERVAL 0.0001
#define ALL_INTERVAL    0.001

struct lock_wait {
    struct rmai_win *w;
    const char *call;
    struct lock_request *request;       /* that is awaited */
    struct lock_request *all;           /* the requests of rmai_win_take_all for all ranks, or NULL */
    double higher_at, all_at, interval; /* when it lets writers pass */
    int code;
    int earlier; /* the error of an operation before, which has come to light meanwhile */
    int holder;  /* the PE that holds the lock, or -1: not known */
    unsigned polls;
    double search_at; /* when to search for the holder again */
};

/* ---- the words of a lock ---- */

#define WORD(r, MEMBER) ((r)->at + offsetof(struct rmai_win_lock, MEMBER))

/* Sequentially consistent, as the first comment demands. */
static uint64_t read_count(const uint64_t *word) { return __atomic_load_n(word, __ATOMIC_SEQ_CST); }
static uint64_t add_to_count(uint64_t *word, uint64_t value) {
    return __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST);
}

/* An atomic on a word of another node, whose old value is in *to after the next rma_quiet. */
static int begin_atomic(const char *call, int op, rma_gptr_t word, uint64_t value, uint64_t *to) {
    return rma_gptr_atomic_nbi_slow_(call, op, word, sizeof *to, value, 0, to);
}

/* Begins to read `out`, and `in` for a request without a ticket. */
static int begin_read_tickets(const char *call, struct lock_request *r) {
    int code = RMA_SUCCESS;
    if (r->near) {
        r->seen.in = read_count(&r->near->in);
        r->seen.out = read_count(&r->near->out);
        return code;
    }
    if (r->as == 0) code = begin_atomic(call, RMA_FETCH_, WORD(r, in), 0, &r->seen.in);
    return code == RMA_SUCCESS ? begin_atomic(call, RMA_FETCH_, WORD(r, out), 0, &r->seen.out) : code;
}

/* Begins to read the lock. The words of another node are in r->seen after the next rma_quiet. */
static int begin_read(const char *call, struct lock_request *r) {
    int code = RMA_SUCCESS;
    if (r->near)
        r->seen.all = read_count(&r->near->all);
    else if (r->as != RMAI_WIN_READER)
        code = begin_atomic(call, RMA_FETCH_, WORD(r, all), 0, &r->seen.all);
    return code == RMA_SUCCESS ? begin_read_tickets(call, r) : code;
}

/* The first error that a quiet reports is an earlier operation's, and is kept; the next one is that of a read. */
static int note_quiet(struct lock_wait *l, int code) {
    if (code == RMA_SUCCESS || l->earlier != RMA_SUCCESS) return code;
    l->earlier = code;
    return RMA_SUCCESS;
}

static int read_lock(struct lock_wait *l, struct lock_request *r) {
    int code = begin_read(l->call, r), one;
    if (r->near) return code;
    one = note_quiet(l, l->all ? rma_quiet() : rma_quiet_of_(r->pe));
    return code == RMA_SUCCESS ? one : code;
}

/* Takes a ticket, or counts this process. The ticket, or what `all` was before, is there after the next rma_quiet. */
static int begin_request(const char *call, struct lock_request *r) {
    int code = RMA_SUCCESS;
    if (r->near && r->as)
        r->ticket = add_to_count(&r->near->in, r->as);
    else if (r->near)
        r->seen.all = add_to_count(&r->near->all, 1);
    else if (r->as)
        code = begin_atomic(call, RMA_FETCH_ADD_, WORD(r, in), r->as, &r->ticket);
    else
        code = begin_atomic(call, RMA_FETCH_ADD_, WORD(r, all), 1, &r->seen.all);
    if (code == RMA_SUCCESS) r->state = QUEUED;
    return code;
}

/* Releases a lock of MPI_Win_lock_all, or withdraws the request. On another node it waits for nothing: the caller calls
 * rma_send_gathered_. */
static int leave_lock(const char *call, struct lock_request *r) {
    assert(r->as == 0 && (r->state == QUEUED || r->state == HELD) && "only who is counted takes itself off the count");
    r->state = LEFT;
    r->left_at = r->seen.out;
    if (!r->near) return rmai_win_atomic(call, RMA_FETCH_ADD_, WORD(r, all), sizeof r->as, UINT64_MAX, 0, NULL);
    const uint64_t before = add_to_count(&r->near->all, UINT64_MAX);
    assert((uint32_t)before > 0 && "this process was counted");
    (void)before;
    return RMA_SUCCESS;
}

/* ---- what they say ---- */

static int is_turn_of(uint64_t as, uint64_t ticket, uint64_t out) {
    return as == RMAI_WIN_WRITER ? out == ticket : (out ^ ticket) >> 32 == 0;
}

/* 1 if a writer waits for the lock or holds it. */
static int has_writer(const struct lock_request *r) { return (r->seen.in ^ r->seen.out) >> 32 != 0; }

/* 1 if this process, which is counted in `all`, has been let in. */
static int is_let_in(const struct lock_request *r) { return !has_writer(r) || r->seen.all & RMAI_WIN_OPEN; }

/* Only the writer whose ticket is due changes the bit. */
static int open_lock(const char *call, struct lock_request *r) {
    if (!r->near)
        return rmai_win_atomic(call, RMA_FETCH_OR_, WORD(r, all), sizeof r->as, RMAI_WIN_OPEN, 0, &r->seen.all);
    r->seen.all = __atomic_fetch_or(&r->near->all, RMAI_WIN_OPEN, __ATOMIC_SEQ_CST);
    return RMA_SUCCESS;
}

/* Closes the lock if no process is counted in it. *closed: it has done so. */
static int close_lock(const char *call, struct lock_request *r, int *closed) {
    uint64_t old = RMAI_WIN_OPEN;
    int code = RMA_SUCCESS;
    if (!r->near)
        code = rmai_win_atomic(call, RMA_COMPARE_SWAP_, WORD(r, all), sizeof old, 0, RMAI_WIN_OPEN, &old);
    else
        __atomic_compare_exchange_n(&r->near->all, &old, 0, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    *closed = code == RMA_SUCCESS && old == RMAI_WIN_OPEN;
    return code;
}

/* Whether a writer that has taken its ticket may enter. *enters: it may, and nobody else does. */
static int try_to_enter(const char *call, struct lock_request *r, int *enters) {
    int code = RMA_SUCCESS;
    assert(r->as == RMAI_WIN_WRITER && r->state == QUEUED && "only a writer with a ticket opens and closes the lock");
    *enters = 0;
    if ((r->seen.out ^ r->ticket) >> 32 != 0) return code; /* other writers are before it */
    if (r->seen.all != 0 && !(r->seen.all & RMAI_WIN_OPEN)) {
        code = open_lock(call, r);
        r->seen.all |= RMAI_WIN_OPEN;
    }
    if (code != RMA_SUCCESS || r->seen.out != r->ticket) return code; /* readers are before it */
    if (r->seen.all == 0) return *enters = 1, code;
    return close_lock(call, r, enters);
}

/* ---- waiting ---- */

/* Finds a process that has locked l->request, for the report of a long wait: each process writes into its own record
 * what it has locked. A reader does not wait for a process that itself waits in MPI_Win_lock_all. */
#define SEARCH_TIME 0.2 /* seconds between two searches */
static void find_holder(struct lock_wait *l) {
    const uint32_t wanted = (uint32_t)l->request->rank + 1;
    const uint32_t least = l->request->as == RMAI_WIN_WRITER ? RMAI_WIN_TAKES_ALL : RMAI_WIN_HAS_ALL;
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

/* Completes reads of the locks of other nodes. */
static int end_reads(struct lock_wait *l) {
    return l->w->comm->n > l->w->comm->n_near ? note_quiet(l, rma_quiet()) : RMA_SUCCESS;
}

/* Leaves each lock of the ranks from `first` on in which this process has been let in, and for which a writer waits. */
static int let_writers_pass(struct lock_wait *l, int first, double now) {
    const int n = l->w->comm->n;
    int code = RMA_SUCCESS, read;
    for (int i = first; i < n && code == RMA_SUCCESS; i++)
        if (l->all[i].state == HELD || l->all[i].state == QUEUED) code = begin_read(l->call, &l->all[i]);
    read = end_reads(l);
    if (code == RMA_SUCCESS) code = read;
    for (int i = first; i < n && code == RMA_SUCCESS; i++) {
        struct lock_request *r = &l->all[i];
        if (r == l->request || !has_writer(r)) continue;
        if (r->state != HELD && !(r->state == QUEUED && is_let_in(r))) continue;
        r->back_at = now + l->interval;
        code = leave_lock(l->call, r);
    }
    rma_send_gathered_();
    return code;
}

/* Comes back to a lock that it has left, if a writer has passed or the time has come. */
static int come_back(struct lock_wait *l, struct lock_request *r, double now) {
    int code = read_lock(l, r);
    if (code != RMA_SUCCESS || (r->seen.out == r->left_at && now < r->back_at)) return code;
    return begin_request(l->call, r);
}

static int poll_for_all(struct lock_wait *l, int *enters) {
    const double now = rma_wtime();
    int code = RMA_SUCCESS;
    if (l->request->state == LEFT) code = come_back(l, l->request, now);
    if (code == RMA_SUCCESS && l->request->state == QUEUED) {
        code = read_lock(l, l->request);
        *enters = is_let_in(l->request);
    }
    if (code != RMA_SUCCESS || *enters) return code;
    if (now > l->all_at) {
        code = let_writers_pass(l, 0, now);
        l->interval += ALL_INTERVAL;
        l->all_at = now + l->interval;
    } else if (now > l->higher_at) {
        code = let_writers_pass(l, l->request->rank + 1, now);
        l->higher_at = now + HIGHER_INTERVAL;
    }
    return code;
}

static int poll_for_lock(void *context) {
    struct lock_wait *l = context;
    struct lock_request *r = l->request;
    int enters = 0;
    if (l->all)
        l->code = poll_for_all(l, &enters);
    else if ((l->code = read_lock(l, r)) == RMA_SUCCESS && r->as == RMAI_WIN_WRITER)
        l->code = try_to_enter(l->call, r, &enters);
    else
        enters = is_turn_of(r->as, r->ticket, r->seen.out);
    if (l->code != RMA_SUCCESS || enters) return 1;
    if (++l->polls % 16 == 0 && rma_wtime() > l->search_at) {
        if (l->search_at > 0) find_holder(l);
        l->search_at = rma_wtime() + SEARCH_TIME;
    }
    return 0;
}

static int await_lock(struct lock_wait *l) {
    l->holder = -1;
    if (!poll_for_lock(l)) rma_wait_for_(l->call, &l->holder, poll_for_lock, l);
    if (l->code == RMA_SUCCESS) l->request->state = HELD;
    return l->code;
}

/* ---- one lock ---- */

static struct rmai_win_lock *lock_at(const struct rmai_win_peer *peer, size_t offset) {
    return (struct rmai_win_lock *)(void *)((char *)peer->record + offset);
}

/* Waits with a ticket for a lock of this node. */
static __attribute__((noinline)) int await_near(struct rmai_win *w, const char *call, const struct rmai_win_peer *peer,
                                                size_t offset, uint64_t as, uint64_t ticket) {
    struct lock_request request = {
        .near = lock_at(peer, offset), .as = as, .ticket = ticket, .rank = peer->rank, .state = QUEUED};
    struct lock_wait l = {.w = w, .call = call, .request = &request};
    return await_lock(&l);
}

/* One round trip takes the ticket and reads the lock for the first time. */
static int take_far(struct rmai_win *w, const char *call, const struct rmai_win_peer *peer, size_t offset,
                    uint64_t as) {
    struct lock_request request = {.at = peer->record_at + offset, .as = as, .pe = peer->pe, .rank = peer->rank};
    struct lock_wait l = {.w = w, .call = call, .request = &request};
    int code = begin_request(call, &request);
    if (code == RMA_SUCCESS) code = await_lock(&l);
    /* The error is an earlier operation's: the lock is taken. */
    if (code != RMA_SUCCESS || l.earlier == RMA_SUCCESS) return code;
    rmai_win_release(call, peer, offset, as);
    return l.earlier;
}

int rmai_win_take(struct rmai_win *w, const char *call, const struct rmai_win_peer *peer, size_t offset, uint64_t as) {
    struct rmai_win_lock *lock = lock_at(peer, offset);
    uint64_t ticket;
    if (!peer->record) return take_far(w, call, peer, offset, as);
    ticket = add_to_count(&lock->in, as);
    if (is_turn_of(as, ticket, read_count(&lock->out)) && (as == RMAI_WIN_READER || read_count(&lock->all) == 0))
        return RMA_SUCCESS;
    return await_near(w, call, peer, offset, as, ticket);
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

/* The request for the lock of each process. */
static void find_locks(const struct rmai_win *w, struct lock_request *all) {
    for (int rank = 0, far = 0; rank < w->comm->n; rank++) {
        const int slot = rmai_win_comm_slot(w->comm, rank);
        all[rank] = (struct lock_request){.rank = rank};
        if (slot >= 0) {
            all[rank].near = &w->near[slot].record->lock;
        } else {
            all[rank].at = w->far_records[far++] + LOCK;
        }
    }
}

/* Counts this process in each lock. One round trip does that for all other nodes, and reads their locks. *missing: the
 * number of locks that it does not have yet. */
static int begin_all(struct lock_wait *l, int *missing) {
    const int n = l->w->comm->n;
    int code = RMA_SUCCESS, read;
    for (int i = 0; i < n && code == RMA_SUCCESS; i++) {
        code = begin_request(l->call, &l->all[i]);
        if (code == RMA_SUCCESS) code = begin_read_tickets(l->call, &l->all[i]);
    }
    read = end_reads(l);
    if (code == RMA_SUCCESS) code = read;
    *missing = 0;
    for (int i = 0; i < n && code == RMA_SUCCESS; i++)
        if (is_let_in(&l->all[i]))
            l->all[i].state = HELD;
        else
            ++*missing;
    return code;
}

/* Waits until this process has all locks. It waits again for those that it has left to let writers pass. */
static int await_all(struct lock_wait *l) {
    int code = RMA_SUCCESS, waited;
    l->higher_at = rma_wtime() + HIGHER_INTERVAL;
    l->all_at = rma_wtime() + ALL_INTERVAL;
    l->interval = ALL_INTERVAL;
    do {
        waited = 0;
        for (int i = 0; i < l->w->comm->n && code == RMA_SUCCESS; i++) {
            l->request = &l->all[i];
            if (l->request->state == HELD) continue;
            code = await_lock(l);
            waited = 1;
        }
    } while (waited && code == RMA_SUCCESS);
    return code;
}

int rmai_win_take_all(struct rmai_win *w, const char *call) {
    const int n = w->comm->n;
    int missing;
    struct lock_wait l = {.w = w, .call = call, .all = malloc((size_t)n * sizeof *l.all)};
    int code = l.all ? find_far_records(w, call) : rma_fail_(RMA_ERR_NO_MEM, "%s: no memory for %d processes", call, n);
    if (code == RMA_SUCCESS) {
        find_locks(w, l.all);
        code = begin_all(&l, &missing);
        if (code == RMA_SUCCESS && missing) code = await_all(&l);
        if (code == RMA_SUCCESS) code = l.earlier;
        for (int i = 0; i < n && code != RMA_SUCCESS; i++)
            if (l.all[i].state == HELD || l.all[i].state == QUEUED) leave_lock(call, &l.all[i]);
        if (code != RMA_SUCCESS) rma_send_gathered_();
    }
    free(l.all);
    return code;
}

int rmai_win_release_all(struct rmai_win *w, const char *call) {
    const int n_far = w->comm->n - w->comm->n_near;
    int code = RMA_SUCCESS;
    for (int i = 0; i < w->comm->n; i++) {
        struct lock_request r = {.state = HELD};
        int one;
        if (i < w->comm->n_near)
            r.near = &w->near[i].record->lock;
        else
            r.at = w->far_records[i - w->comm->n_near] + LOCK;
        one = leave_lock(call, &r);
        if (code == RMA_SUCCESS) code = one;
    }
    if (n_far) rma_send_gathered_();
    return code;
}
