/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "mpi/epochs.h"
#include "mpi/errors.h"
#include "mpi/peers.h"

#include <stdlib.h>
#include <string.h>

#define LOCK offsetof(struct rmai_win_record, lock)

int rmai_win_check_rank(struct rmai_win *w, const char *call, int rank) {
    if (rank >= 0 && rank < w->family->n) return MPI_SUCCESS;
    return rmai_win_error(w, MPI_ERR_RANK, "%s: rank %d is outside 0..%d", call, rank, w->family->n - 1);
}

/* ---- locks ---- */

struct lock_wait {
    struct rmai_win *w;
    const char *call;
    const struct rmai_win_peer *peer;
    rma_gptr_t out;
    const uint64_t *near;
    uint64_t ticket, as;
    int code;
    int holder; /* the PE that holds the lock, or -1: not known */
    unsigned polls;
    double search; /* when to search for the holder again */
};

/* Finds a process that has locked l->peer, for the report of a long wait: each process writes into its own record what
 * it has locked. */
#define SEARCH_TIME 0.2 /* seconds between two searches */
static void find_holder(struct lock_wait *l) {
    const uint32_t wanted = (uint32_t)l->peer->rank + 1;
    l->holder = -1;
    for (int rank = 0; rank < l->w->family->n; rank++) {
        struct rmai_win_peer p;
        struct rmai_win_record record;
        if (rank == l->w->family->rank || rmai_win_peer(l->w, rank, &p) != RMA_SUCCESS) continue;
        if (p.record) {
            record.locked = __atomic_load_n(&p.record->locked, __ATOMIC_RELAXED);
            record.locks_all = __atomic_load_n(&p.record->locks_all, __ATOMIC_RELAXED);
        } else if (rma_gptr_get(&record, p.record_at, offsetof(struct rmai_win_record, lock)) != RMA_SUCCESS) {
            continue;
        }
        if (record.locked == wanted || (record.locks_all && l->holder < 0)) l->holder = p.pe;
        if (record.locked == wanted) return;
    }
}

static int is_turn(const struct lock_wait *l, uint64_t out) {
    return l->as == RMAI_WIN_WRITER ? out == l->ticket : (out ^ l->ticket) >> 32 == 0;
}

static int window_turn_has_come(void *context) {
    struct lock_wait *l = context;
    uint64_t out;
    if (l->near)
        out = __atomic_load_n(l->near, __ATOMIC_ACQUIRE);
    else if ((l->code = rmai_win_atomic(l->call, RMA_FETCH_, l->out, sizeof out, 0, 0, &out)) != RMA_SUCCESS)
        return 1;
    if (is_turn(l, out)) return 1;
    if (++l->polls % 16 == 0 && rma_wtime() > l->search) {
        if (l->search > 0) find_holder(l);
        l->search = rma_wtime() + SEARCH_TIME;
    }
    return 0;
}

int rmai_win_take(struct rmai_win *w, const char *call, const struct rmai_win_peer *peer, size_t offset, uint64_t as) {
    struct lock_wait l = {.w = w, .call = call, .peer = peer, .as = as, .holder = -1};
    int earlier = RMA_SUCCESS;
    if (peer->record) {
        struct rmai_win_lock *lock = (struct rmai_win_lock *)((char *)peer->record + offset);
        l.near = &lock->out;
        l.ticket = __atomic_fetch_add(&lock->in, as, __ATOMIC_ACQ_REL);
    } else {
        /* One round trip takes the ticket and reads `out` for the first time. */
        const rma_gptr_t in = peer->record_at + offset + offsetof(struct rmai_win_lock, in);
        uint64_t out = 0;
        l.out = peer->record_at + offset + offsetof(struct rmai_win_lock, out);
        l.code = rma_gptr_atomic_nbi_slow_(call, RMA_FETCH_ADD_, in, sizeof as, as, 0, &l.ticket);
        if (l.code != RMA_SUCCESS) return l.code;
        l.code = rmai_win_atomic(call, RMA_FETCH_, l.out, sizeof out, 0, 0, &out);
        earlier = rma_quiet_of_(peer->pe); /* it may report an earlier operation, but the ticket is taken */
        if (l.code == RMA_SUCCESS && earlier == RMA_SUCCESS && is_turn(&l, out)) return RMA_SUCCESS;
    }
    if (l.code == RMA_SUCCESS && !window_turn_has_come(&l)) rma_wait_for_(call, &l.holder, window_turn_has_come, &l);
    if (l.code != RMA_SUCCESS || earlier == RMA_SUCCESS) return l.code;
    rmai_win_release(call, peer, offset, as);
    return earlier;
}

/* An atomic without a wait. What this process has put there arrives before it, and what it has put elsewhere is
 * complete before it leaves. */
static int signal_far(const char *call, rma_gptr_t word, uint64_t add) {
    const int code = rmai_win_atomic(call, RMA_FETCH_ADD_, word, sizeof add, add, 0, NULL);
    rma_send_gathered_();
    return code;
}

int rmai_win_release(const char *call, const struct rmai_win_peer *peer, size_t offset, uint64_t as) {
    if (peer->record) {
        struct rmai_win_lock *lock = (struct rmai_win_lock *)((char *)peer->record + offset);
        __atomic_fetch_add(&lock->out, as, __ATOMIC_ACQ_REL);
        return RMA_SUCCESS;
    }
    return signal_far(call, peer->record_at + offset + offsetof(struct rmai_win_lock, out), as);
}

/* Completes the operations of this process on a peer. On this node they are complete already. */
static int complete_at(const struct rmai_win_peer *p) {
    __atomic_thread_fence(__ATOMIC_RELEASE);
    return p->record ? RMA_SUCCESS : rma_quiet_of_(p->pe);
}

static int complete_everywhere(const struct rmai_win *w) {
    __atomic_thread_fence(__ATOMIC_RELEASE);
    if (w->family->n_near == w->family->n) return RMA_SUCCESS;
    unsigned before = atomic_load_explicit(&rmai_win_under_way, memory_order_acquire);
    const int code = rma_quiet();
    /* If another thread has begun something meanwhile, its bits and those of before stay. */
    atomic_compare_exchange_strong_explicit(&rmai_win_under_way, &before, before & ~RMAI_WIN_BITS, memory_order_release,
                                            memory_order_relaxed);
    return code;
}

/* Called before signals to the processes of other nodes that this process has accessed. If another thread has cleared
 * the bit, this thread sees what its gets have read: the acquire pairs with the release in complete_everywhere. */
static int complete_what_overtakes(const struct rmai_win *w) {
    if (atomic_load_explicit(&rmai_win_under_way, memory_order_acquire) & RMAI_WIN_OVERTAKES)
        return complete_everywhere(w);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    return RMA_SUCCESS;
}

/* Called after these signals. */
static void keep_in_mind(const struct rmai_win *w) {
    if (w->family->n_near == w->family->n) return;
    rmai_win_begins(RMAI_WIN_EARLIER);
}

static int take_for_all(struct rmai_win *w, const char *call, int rank) {
    struct rmai_win_peer peer;
    int code = rmai_win_peer(w, rank, &peer);
    if (code == RMA_SUCCESS) code = rmai_win_take(w, call, &peer, LOCK, RMAI_WIN_READER);
    if (code == RMA_SUCCESS) code = rmai_win_peer_access(w, rank, RMAI_WIN_SHARED | RMAI_WIN_FROM_ALL);
    return code;
}

/* Two threads may make the first access at once. */
int rmai_win_enter(struct rmai_win *w, const char *call, int rank, struct rmai_win_peer *peer) {
    static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
    int code = rmai_win_peer(w, rank, peer);
    if (code != RMA_SUCCESS) return rmai_win_failed(w, code);
    if (peer->access || w->open) return MPI_SUCCESS;
    if (w->lock_all) {
        pthread_mutex_lock(&first);
        code = rmai_win_peer(w, rank, peer);
        if (code == RMA_SUCCESS && !peer->access) code = take_for_all(w, call, rank);
        pthread_mutex_unlock(&first);
        return rmai_win_failed(w, code);
    }
    return rmai_win_error(w, MPI_ERR_RMA_SYNC,
                          "%s: no epoch for rank %d: neither MPI_Win_fence nor MPI_Win_start nor MPI_Win_lock", call,
                          rank);
}

#define ASSERTS (MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED)

static int check_assert(struct rmai_win *w, const char *call, int assert, int allowed) {
    if ((assert & ~allowed) == 0) return MPI_SUCCESS;
    return rmai_win_error(w, MPI_ERR_ASSERT, "%s: assert %#x has a value that this call does not take", call,
                          (unsigned)assert);
}

/* Returns why this process may not call MPI_Win_lock now, or NULL: it must not have another access epoch. */
static const char *other_epoch(const struct rmai_win *w) {
    if (w->n_started >= 0) return "MPI_Win_start has opened an epoch";
    if (w->lock_all) return "MPI_Win_lock_all has locked the window";
    return NULL;
}

RMAI_MPI_API int MPI_Win_lock(int type, int rank, int assert, MPI_Win win) {
    struct rmai_win *w = rmai_win_of(win);
    const uint64_t as = type == MPI_LOCK_EXCLUSIVE ? RMAI_WIN_WRITER : RMAI_WIN_READER;
    unsigned access = type == MPI_LOCK_EXCLUSIVE ? RMAI_WIN_EXCLUSIVE : RMAI_WIN_SHARED;
    struct rmai_win_peer peer, *p;
    int code;
    if (!w) return PMPI_Win_lock(type, rank, assert, win);
    if (type != MPI_LOCK_EXCLUSIVE && type != MPI_LOCK_SHARED)
        return rmai_win_error(w, MPI_ERR_LOCKTYPE,
                              "MPI_Win_lock: lock_type %d is neither MPI_LOCK_SHARED nor MPI_LOCK_EXCLUSIVE", type);
    if (assert && (code = check_assert(w, "MPI_Win_lock", assert, MPI_MODE_NOCHECK)) != MPI_SUCCESS) return code;
    if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
    code = rmai_win_check_rank(w, "MPI_Win_lock", rank);
    if (code != MPI_SUCCESS) return code;
    if (other_epoch(w)) return rmai_win_error(w, MPI_ERR_RMA_SYNC, "MPI_Win_lock: %s", other_epoch(w));
    p = rmai_win_near(w, rank);
    if (!p) {
        code = rmai_win_peer(w, rank, &peer);
        if (code != RMA_SUCCESS) return rmai_win_failed(w, code);
        p = &peer;
    }
    if (p->access)
        return rmai_win_error(w, MPI_ERR_RMA_SYNC, "MPI_Win_lock: this process has locked rank %d already", rank);
    if (assert & MPI_MODE_NOCHECK)
        access |= RMAI_WIN_NOCHECK;
    else if ((code = rmai_win_take(w, "MPI_Win_lock", p, LOCK, as)) != RMA_SUCCESS)
        return rmai_win_failed(w, code);
    else
        __atomic_store_n(&w->record->locked, (uint32_t)rank + 1, __ATOMIC_RELAXED);
    w->open = 0;
    __atomic_fetch_add(&w->locked, 1, __ATOMIC_RELAXED);
    if (p != &peer) {
        p->access = access;
        return MPI_SUCCESS;
    }
    return rmai_win_failed(w, rmai_win_peer_access(w, rank, access));
}

/* Releases what MPI_Win_lock or MPI_Win_lock_all has locked. */
static int release(struct rmai_win *w, const struct rmai_win_peer *p) {
    if (w->record->locked == (uint32_t)p->rank + 1) __atomic_store_n(&w->record->locked, 0, __ATOMIC_RELAXED);
    if (p->access & RMAI_WIN_NOCHECK) return RMA_SUCCESS;
    return rmai_win_release(w->lock_all ? "MPI_Win_unlock_all" : "MPI_Win_unlock", p, LOCK,
                            p->access & RMAI_WIN_EXCLUSIVE ? RMAI_WIN_WRITER : RMAI_WIN_READER);
}

/* Short puts and the release travel together, and then this process waits once. */
static int unlock(struct rmai_win *w, const struct rmai_win_peer *p) {
    int code = complete_what_overtakes(w), one = release(w, p);
    if (code == RMA_SUCCESS) code = one;
    one = complete_at(p);
    return code == RMA_SUCCESS ? one : code;
}

RMAI_MPI_API int MPI_Win_unlock(int rank, MPI_Win win) {
    struct rmai_win *w = rmai_win_of(win);
    struct rmai_win_peer peer, *p;
    int code;
    if (!w) return PMPI_Win_unlock(rank, win);
    if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
    code = rmai_win_check_rank(w, "MPI_Win_unlock", rank);
    if (code != MPI_SUCCESS) return code;
    p = rmai_win_known(w, rank);
    if (!p) {
        code = rmai_win_peer(w, rank, &peer);
        if (code != RMA_SUCCESS) return rmai_win_failed(w, code);
        p = &peer;
    }
    if (!(p->access & (RMAI_WIN_SHARED | RMAI_WIN_EXCLUSIVE)) || p->access & RMAI_WIN_FROM_ALL)
        return rmai_win_error(w, MPI_ERR_RMA_SYNC, "MPI_Win_unlock: MPI_Win_lock has not locked rank %d", rank);
    code = unlock(w, p);
    __atomic_fetch_sub(&w->locked, 1, __ATOMIC_RELAXED);
    if (p != &peer)
        p->access = 0;
    else if (rmai_win_peer_access(w, rank, 0) != RMA_SUCCESS)
        code = RMA_ERR_NO_MEM;
    return rmai_win_failed(w, code);
}

RMAI_MPI_API int MPI_Win_lock_all(int assert, MPI_Win win) {
    struct rmai_win *w = rmai_win_of(win);
    int code;
    if (!w) return PMPI_Win_lock_all(assert, win);
    code = check_assert(w, "MPI_Win_lock_all", assert, MPI_MODE_NOCHECK);
    if (code != MPI_SUCCESS) return code;
    if (w->locked || other_epoch(w))
        return rmai_win_error(w, MPI_ERR_RMA_SYNC, "MPI_Win_lock_all: %s",
                              w->locked ? "MPI_Win_lock has locked a rank" : other_epoch(w));
    w->open = 0;
    if (assert & MPI_MODE_NOCHECK) {
        w->open = 1;
        w->lock_all = 2;
        return MPI_SUCCESS;
    }
    /* The first access to a process locks it. But the program accesses its own memory by load and store, and in a
     * shared window that of all processes: these are locked here. */
    w->lock_all = 1;
    __atomic_store_n(&w->record->locks_all, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < w->family->n_near && code == RMA_SUCCESS; i++)
        if (w->flavor == MPI_WIN_FLAVOR_SHARED || i == w->family->my_slot)
            code = take_for_all(w, "MPI_Win_lock_all", w->near[i].rank);
    return rmai_win_failed(w, code);
}

static int unlock_peer(struct rmai_win *w, struct rmai_win_peer *p) {
    int code = p->access ? release(w, p) : RMA_SUCCESS;
    p->access = 0;
    return code;
}

RMAI_MPI_API int MPI_Win_unlock_all(MPI_Win win) {
    struct rmai_win *w = rmai_win_of(win);
    int code, one;
    if (!w) return PMPI_Win_unlock_all(win);
    if (!w->lock_all)
        return rmai_win_error(w, MPI_ERR_RMA_SYNC, "MPI_Win_unlock_all: MPI_Win_lock_all has not locked the window");
    code = complete_everywhere(w);
    __atomic_store_n(&w->record->locks_all, 0, __ATOMIC_RELAXED);
    for (int i = 0; w->lock_all == 1 && i < w->family->n_near; i++) unlock_peer(w, &w->near[i]);
    one = w->lock_all == 1 ? rmai_win_each_far(w, unlock_peer) : RMA_SUCCESS;
    if (code == RMA_SUCCESS) code = one;
    w->open = w->lock_all = 0;
    return rmai_win_failed(w, code);
}

/* ---- completion ---- */

static int flush_rank(struct rmai_win *w, const char *call, int rank) {
    struct rmai_win_peer *p = rmai_win_known(w, rank), peer;
    int code;
    if (!p) {
        if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
        code = rmai_win_check_rank(w, call, rank);
        if (code != MPI_SUCCESS) return code;
        code = rmai_win_peer(w, rank, &peer);
        if (code != RMA_SUCCESS) return rmai_win_failed(w, code);
        p = &peer;
    }
    if (!(p->access & (RMAI_WIN_SHARED | RMAI_WIN_EXCLUSIVE)) && !w->lock_all)
        return rmai_win_error(w, MPI_ERR_RMA_SYNC, "%s: rank %d is not locked", call, rank);
    code = complete_at(p);
    return code == RMA_SUCCESS ? MPI_SUCCESS : rmai_win_failed(w, code);
}

static int flush_all(struct rmai_win *w, const char *call) {
    if (!w->lock_all && !w->locked)
        return rmai_win_error(w, MPI_ERR_RMA_SYNC, "%s: no epoch of MPI_Win_lock or MPI_Win_lock_all is open", call);
    return rmai_win_failed(w, complete_everywhere(w));
}

RMAI_MPI_API int MPI_Win_flush(int rank, MPI_Win win) {
    struct rmai_win *w = rmai_win_of(win);
    return w ? flush_rank(w, "MPI_Win_flush", rank) : PMPI_Win_flush(rank, win);
}

RMAI_MPI_API int MPI_Win_flush_local(int rank, MPI_Win win) {
    struct rmai_win *w = rmai_win_of(win);
    return w ? flush_rank(w, "MPI_Win_flush_local", rank) : PMPI_Win_flush_local(rank, win);
}

RMAI_MPI_API int MPI_Win_flush_all(MPI_Win win) {
    struct rmai_win *w = rmai_win_of(win);
    return w ? flush_all(w, "MPI_Win_flush_all") : PMPI_Win_flush_all(win);
}

RMAI_MPI_API int MPI_Win_flush_local_all(MPI_Win win) {
    struct rmai_win *w = rmai_win_of(win);
    return w ? flush_all(w, "MPI_Win_flush_local_all") : PMPI_Win_flush_local_all(win);
}

RMAI_MPI_API int MPI_Win_sync(MPI_Win win) {
    struct rmai_win *w = rmai_win_of(win);
    if (!w) return PMPI_Win_sync(win);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    /* A program may call it in a loop until a put has arrived. */
    if (w->family->n_near != w->family->n) rma_progress();
    return MPI_SUCCESS;
}

/* ---- fence ---- */

static const int any = -1; /* argument of waits that any PE may end */

struct count_wait {
    const uint64_t *count;
    uint64_t until;
};

static int count_reached(void *context) {
    const struct count_wait *c = context;
    return (int64_t)(__atomic_load_n(c->count, __ATOMIC_ACQUIRE) - c->until) >= 0;
}

/* The barrier between the nodes: in round k each leader signals the leader 2^k nodes further, and waits for a signal.
 * The process of a node that arrives last does this on behalf of its leader. After D. Hensgen, R. Finkel and U. Manber,
 * "Two algorithms for barrier synchronization", 1988. */
static int meet_nodes(struct rmai_win *w) {
    const struct rmai_win_record *leader = w->near[0].record;
    for (int k = 0; k < w->family->n_rounds; k++) {
        struct count_wait c = {&leader->round[k], w->fences};
        struct rmai_win_peer partner;
        int code = rmai_win_peer(w, w->family->partners[k], &partner);
        if (code != RMA_SUCCESS) return code;
        code = signal_far(
            "MPI_Win_fence",
            partner.record_at + offsetof(struct rmai_win_record, round) + (rma_gptr_t)k * sizeof(uint64_t), 1);
        if (code != RMA_SUCCESS) return code;
        if (!count_reached(&c)) rma_wait_for_("MPI_Win_fence", &any, count_reached, &c);
    }
    return RMA_SUCCESS;
}

static int meet(struct rmai_win *w) {
    struct rmai_win_record *leader = w->near[0].record;
    const uint32_t old = __atomic_load_n(&leader->over.value, __ATOMIC_RELAXED);
    const uint32_t before = atomic_fetch_add_explicit(&leader->arrived, 1, memory_order_acq_rel);
    int code;
    w->fences++;
    if (before + 1 < (uint32_t)w->family->n_near) {
        rma_event_await_("MPI_Win_fence", &leader->over, old);
        return RMA_SUCCESS;
    }
    code = meet_nodes(w);
    atomic_store_explicit(&leader->arrived, 0, memory_order_relaxed);
    rma_event_set_(&leader->over, old + 1);
    return code;
}

RMAI_MPI_API int MPI_Win_fence(int assert, MPI_Win win) {
    struct rmai_win *w = rmai_win_of(win);
    int code;
    if (!w) return PMPI_Win_fence(assert, win);
    code = check_assert(w, "MPI_Win_fence", assert, ASSERTS & ~MPI_MODE_NOCHECK);
    if (code != MPI_SUCCESS) return code;
    if (w->locked || w->lock_all || w->n_started >= 0 || w->n_exposed >= 0)
        return rmai_win_error(w, MPI_ERR_RMA_SYNC, "MPI_Win_fence: %s",
                              w->locked || w->lock_all ? "the window is locked"
                              : w->n_started >= 0      ? "MPI_Win_complete is missing"
                                                       : "MPI_Win_wait is missing");
    /* Of two processes on two nodes each accesses only the other one, to which it then sends the signal. */
    if (w->family->n == 2 && w->family->n_near == 1) {
        code = complete_what_overtakes(w);
        if (code == RMA_SUCCESS) code = meet(w);
        keep_in_mind(w);
    } else {
        code = complete_everywhere(w);
        if (code == RMA_SUCCESS) code = meet(w);
    }
    w->open = !(assert &MPI_MODE_NOSUCCEED);
    return code == RMA_SUCCESS ? MPI_SUCCESS : rmai_win_failed(w, code);
}

/* ---- post, start, complete, wait ---- */

/* The posts of a process of another node: an entry in a list in the memory of the process that they are for, which
 * frees it with the window. */
struct rmai_win_post {
    rma_gptr_t next; /* in the record's list */
    uint64_t rank;
    uint64_t posts; /* so far, */
    uint64_t used;  /* and how many of them calls of MPI_Win_start have used */
};

/* Returns the window's ranks of the processes of group; the caller frees them. NULL after an error, with its code in
 * *code. */
static int *ranks_of(struct rmai_win *w, const char *call, MPI_Group group, int *n, int *code) {
    int *ranks, *own;
    *code = group == MPI_GROUP_NULL ? MPI_ERR_GROUP : PMPI_Group_size(group, n);
    if (*code != MPI_SUCCESS) {
        *code = rmai_win_error(w, MPI_ERR_GROUP, "%s: not a group", call);
        return NULL;
    }
    ranks = malloc(((size_t)*n + 1) * 2 * sizeof *ranks);
    if (!ranks) {
        *code = rmai_win_error(w, MPI_ERR_NO_MEM, "%s: no memory for %d ranks", call, *n);
        return NULL;
    }
    own = ranks + *n;
    for (int i = 0; i < *n; i++) own[i] = i;
    *code = PMPI_Group_translate_ranks(group, *n, own, w->family->group, ranks);
    for (int i = 0; *code == MPI_SUCCESS && i < *n; i++)
        if (ranks[i] == MPI_UNDEFINED) *code = MPI_ERR_GROUP;
    if (*code == MPI_SUCCESS) return ranks;
    free(ranks);
    *code = rmai_win_error(w, MPI_ERR_GROUP, "%s: the group has a process that is not in the window's group", call);
    return NULL;
}

static int post_far(struct rmai_win *w, int rank) {
    struct rmai_win_peer peer;
    struct rmai_win_post post = {.rank = (uint64_t)w->family->rank, .posts = 1};
    uint64_t seen;
    rma_gptr_t at, head;
    int code = rmai_win_peer(w, rank, &peer);
    if (code == RMA_SUCCESS && peer.posts_at != RMA_GPTR_NULL)
        return signal_far("MPI_Win_post", peer.posts_at + offsetof(struct rmai_win_post, posts), 1);
    if (code == RMA_SUCCESS) code = rma_alloc_mem_on(peer.pe, sizeof post, &at);
    if (code != RMA_SUCCESS) return code;
    head = peer.record_at + offsetof(struct rmai_win_record, posted);
    code = rmai_win_atomic("MPI_Win_post", RMA_FETCH_, head, sizeof seen, 0, 0, &seen);
    do {
        post.next = seen;
        if (code == RMA_SUCCESS) code = rma_gptr_put(at, &post, sizeof post); /* the atomic below is the release */
        if (code == RMA_SUCCESS)
            code = rmai_win_atomic("MPI_Win_post", RMA_COMPARE_SWAP_, head, sizeof seen, at, post.next, &seen);
    } while (code == RMA_SUCCESS && seen != post.next);
    return code == RMA_SUCCESS ? rmai_win_peer_posts(w, rank, at) : code;
}

void rmai_win_posts_free(struct rmai_win_record *record) {
    for (rma_gptr_t at = record->posted, next; at != RMA_GPTR_NULL; at = next) {
        next = ((struct rmai_win_post *)rma_gptr_ptr(at))->next;
        rma_gptr_free(at);
    }
}

RMAI_MPI_API int MPI_Win_post(MPI_Group group, int assert, MPI_Win win) {
    struct rmai_win *w = rmai_win_of(win);
    int *ranks, n, code;
    if (!w) return PMPI_Win_post(group, assert, win);
    code = check_assert(w, "MPI_Win_post", assert, MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT);
    if (code != MPI_SUCCESS) return code;
    if (w->n_exposed >= 0)
        return rmai_win_error(w, MPI_ERR_RMA_SYNC, "MPI_Win_post: no MPI_Win_wait has followed the last MPI_Win_post");
    ranks = ranks_of(w, "MPI_Win_post", group, &n, &code);
    if (!ranks) return code;
    code = RMA_SUCCESS;
    for (int i = 0; i < n && !(assert &MPI_MODE_NOCHECK) && code == RMA_SUCCESS; i++) {
        struct rmai_win_peer *p = rmai_win_near(w, ranks[i]);
        if (p)
            atomic_fetch_add_explicit(&p->record->posts[w->family->my_slot], 1, memory_order_release);
        else
            code = post_far(w, ranks[i]);
    }
    free(ranks);
    w->n_exposed = n;
    return rmai_win_failed(w, code);
}

struct post_wait {
    struct rmai_win *w;
    int rank;
};

/* Uses a post of the awaited process of another node. Returns 1 if one had arrived. */
static int take_far_post(void *context) {
    const struct post_wait *p = context;
    rma_gptr_t at = __atomic_load_n(&p->w->record->posted, __ATOMIC_ACQUIRE);
    while (at != RMA_GPTR_NULL) {
        struct rmai_win_post *post = rma_gptr_ptr(at);
        if (post->rank == (uint64_t)p->rank && __atomic_load_n(&post->posts, __ATOMIC_ACQUIRE) != post->used)
            return ++post->used, 1;
        at = post->next;
    }
    return 0;
}

static int near_post_came(void *context) {
    const struct post_wait *p = context;
    const int slot = rmai_win_family_slot(p->w->family, p->rank);
    return atomic_load_explicit(&p->w->record->posts[slot], memory_order_acquire) != p->w->posts_seen[slot];
}

static void await_post(struct rmai_win *w, int rank) {
    struct post_wait p = {w, rank};
    const int slot = rmai_win_family_slot(w->family, rank);
    int (*const came)(void *) = slot >= 0 ? near_post_came : take_far_post;
    if (!came(&p)) {
        const int pe = rmai_win_family_pe(w->family, rank);
        rma_wait_for_("MPI_Win_start", &pe, came, &p);
    }
    if (slot >= 0) w->posts_seen[slot]++;
}

RMAI_MPI_API int MPI_Win_start(MPI_Group group, int assert, MPI_Win win) {
    struct rmai_win *w = rmai_win_of(win);
    int *ranks, n, code;
    if (!w) return PMPI_Win_start(group, assert, win);
    code = check_assert(w, "MPI_Win_start", assert, MPI_MODE_NOCHECK);
    if (code != MPI_SUCCESS) return code;
    if (w->n_started >= 0 || w->locked || w->lock_all)
        return rmai_win_error(w, MPI_ERR_RMA_SYNC, "MPI_Win_start: %s",
                              w->n_started >= 0 ? "no MPI_Win_complete has followed the last MPI_Win_start"
                                                : "the window is locked");
    ranks = ranks_of(w, "MPI_Win_start", group, &n, &code);
    if (!ranks) return code;
    w->open = 0;
    code = RMA_SUCCESS;
    for (int i = 0; i < n && code == RMA_SUCCESS; i++) {
        if (!(assert &MPI_MODE_NOCHECK)) await_post(w, ranks[i]);
        code = rmai_win_peer_access(w, ranks[i], RMAI_WIN_STARTED);
    }
    w->started = ranks;
    w->n_started = n;
    return rmai_win_failed(w, code);
}

RMAI_MPI_API int MPI_Win_complete(MPI_Win win) {
    struct rmai_win *w = rmai_win_of(win);
    int code;
    if (!w) return PMPI_Win_complete(win);
    if (w->n_started < 0)
        return rmai_win_error(w, MPI_ERR_RMA_SYNC, "MPI_Win_complete: MPI_Win_start has opened no epoch");
    code = complete_what_overtakes(w);
    for (int i = 0; i < w->n_started && code == RMA_SUCCESS; i++) {
        struct rmai_win_peer peer;
        code = rmai_win_peer(w, w->started[i], &peer);
        if (code != RMA_SUCCESS) break;
        if (peer.record)
            __atomic_fetch_add(&peer.record->completed, 1, __ATOMIC_RELEASE);
        else
            code = signal_far("MPI_Win_complete", peer.record_at + offsetof(struct rmai_win_record, completed), 1);
        if (code == RMA_SUCCESS) code = rmai_win_peer_access(w, w->started[i], 0);
    }
    keep_in_mind(w);
    free(w->started);
    w->started = NULL;
    w->n_started = -1;
    return rmai_win_failed(w, code);
}

static int end_exposure(struct rmai_win *w) {
    w->completed += (uint64_t)w->n_exposed;
    w->n_exposed = -1;
    return MPI_SUCCESS;
}

RMAI_MPI_API int MPI_Win_wait(MPI_Win win) {
    struct rmai_win *w = rmai_win_of(win);
    struct count_wait c;
    if (!w) return PMPI_Win_wait(win);
    if (w->n_exposed < 0) return rmai_win_error(w, MPI_ERR_RMA_SYNC, "MPI_Win_wait: MPI_Win_post has opened no epoch");
    c = (struct count_wait){&w->record->completed, w->completed + (uint64_t)w->n_exposed};
    if (!count_reached(&c)) rma_wait_for_("MPI_Win_wait", &any, count_reached, &c);
    return end_exposure(w);
}

RMAI_MPI_API int MPI_Win_test(MPI_Win win, int *flag) {
    struct rmai_win *w = rmai_win_of(win);
    struct count_wait c;
    if (!w) return PMPI_Win_test(win, flag);
    if (!flag) return rmai_win_null(w, "MPI_Win_test", "flag");
    if (w->n_exposed < 0) return rmai_win_error(w, MPI_ERR_RMA_SYNC, "MPI_Win_test: MPI_Win_post has opened no epoch");
    c = (struct count_wait){&w->record->completed, w->completed + (uint64_t)w->n_exposed};
    *flag = count_reached(&c);
    if (!*flag) rma_progress();
    return *flag ? end_exposure(w) : MPI_SUCCESS;
}
