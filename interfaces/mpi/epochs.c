/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "interfaces/mpi/epochs.h"
#include "interfaces/mpi/errors.h"
#include "interfaces/mpi/locks.h"
#include "interfaces/mpi/peers.h"

#include <stdlib.h>
#include <string.h>

#define LOCK offsetof(struct rmai_win_record, lock)

int rmai_win_check_rank(struct rmai_win *w, const char *call, int rank) {
    if (rank >= 0 && rank < w->comm->n) return MPI_SUCCESS;
    return rmai_win_error(w, MPI_ERR_RANK, "%s: rank %d is outside 0..%d", call, rank, w->comm->n - 1);
}

/* ---- locks ---- */

/* Completes the operations of this process on a peer. On this node they are complete already. */
static int complete_at(const struct rmai_win_peer *p) {
    __atomic_thread_fence(__ATOMIC_RELEASE);
    return p->record ? RMA_SUCCESS : rma_quiet_of_(p->pe);
}

static int complete_everywhere(const struct rmai_win *w) {
    __atomic_thread_fence(__ATOMIC_RELEASE);
    if (w->comm->n_near == w->comm->n) return RMA_SUCCESS;
    unsigned before = atomic_load_explicit(&rmai_win_under_way, memory_order_acquire);
    const int code = rma_quiet();
    /* If another thread has begun something meanwhile, its bits and those of before stay. */
    atomic_compare_exchange_strong_explicit(&rmai_win_under_way, &before, before & ~RMAI_WIN_BITS, memory_order_release,
                                            memory_order_relaxed);
    return code;
}

/* Called before signals to the processes of other nodes that this process has accessed. If another thread has cleared
 * the bit, this thread sees what its gets have read: the acquire pairs with the release in complete_everywhere. */
static int complete_unflushed(const struct rmai_win *w) {
    if (atomic_load_explicit(&rmai_win_under_way, memory_order_acquire) & RMAI_WIN_UNFLUSHED)
        return complete_everywhere(w);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    return RMA_SUCCESS;
}

/* Called after these signals. */
static void note_earlier_puts(const struct rmai_win *w) {
    if (w->comm->n_near == w->comm->n) return;
    rmai_win_begins(RMAI_WIN_EARLIER_PUTS);
}

int rmai_win_enter(struct rmai_win *w, const char *call, int rank, struct rmai_win_peer *peer) {
    const int code = rmai_win_peer(w, rank, peer);
    if (code != RMA_SUCCESS) return rmai_win_failed(w, code);
    if (peer->access || w->open) return MPI_SUCCESS;
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
    int code = RMA_SUCCESS;
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
    if (assert & MPI_MODE_NOCHECK) access |= RMAI_WIN_NOCHECK;
    /* The peer's entry is kept from here on, so nothing can fail when this process has the lock. */
    if (p == &peer)
        code = rmai_win_peer_access(w, rank, access);
    else
        p->access = access;
    if (code != RMA_SUCCESS) return rmai_win_failed(w, code);
    if (!(assert &MPI_MODE_NOCHECK)) {
        code = rmai_win_take(w, "MPI_Win_lock", p, LOCK, as);
        if (code != RMA_SUCCESS) {
            rmai_win_peer_access(w, rank, 0);
            return rmai_win_failed(w, code);
        }
        __atomic_store_n(&w->record->locked, (uint32_t)rank + 1, __ATOMIC_RELAXED);
    }
    w->open = 0;
    __atomic_fetch_add(&w->locked, 1, __ATOMIC_RELAXED);
    return MPI_SUCCESS;
}

/* Releases what MPI_Win_lock has locked. */
static int release_lock(struct rmai_win *w, const struct rmai_win_peer *p) {
    if (w->record->locked == (uint32_t)p->rank + 1) __atomic_store_n(&w->record->locked, 0, __ATOMIC_RELAXED);
    if (p->access & RMAI_WIN_NOCHECK) return RMA_SUCCESS;
    return rmai_win_release("MPI_Win_unlock", p, LOCK,
                            p->access & RMAI_WIN_EXCLUSIVE ? RMAI_WIN_WRITER : RMAI_WIN_READER);
}

/* Short puts and the release travel together, and then this process waits once. */
static int unlock(struct rmai_win *w, const struct rmai_win_peer *p) {
    int code = complete_unflushed(w), one = release_lock(w, p);
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
    if (!(p->access & (RMAI_WIN_SHARED | RMAI_WIN_EXCLUSIVE)))
        return rmai_win_error(w, MPI_ERR_RMA_SYNC, "MPI_Win_unlock: MPI_Win_lock has not locked rank %d", rank);
    code = unlock(w, p);
    __atomic_fetch_sub(&w->locked, 1, __ATOMIC_RELAXED);
    if (p != &peer)
        p->access = 0;
    else
        rmai_win_peer_access(w, rank, 0); /* the entry was kept: this cannot fail */
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
    if (!(assert &MPI_MODE_NOCHECK)) {
        __atomic_store_n(&w->record->locks_all, RMAI_WIN_TAKES_ALL, __ATOMIC_RELAXED);
        code = rmai_win_take_all(w, "MPI_Win_lock_all");
        __atomic_store_n(&w->record->locks_all, code == RMA_SUCCESS ? RMAI_WIN_HAS_ALL : 0, __ATOMIC_RELAXED);
        if (code != RMA_SUCCESS) return rmai_win_failed(w, code);
    }
    w->open = 1;
    w->lock_all = assert &MPI_MODE_NOCHECK ? 2 : 1;
    return MPI_SUCCESS;
}

RMAI_MPI_API int MPI_Win_unlock_all(MPI_Win win) {
    struct rmai_win *w = rmai_win_of(win);
    int code, one;
    if (!w) return PMPI_Win_unlock_all(win);
    if (!w->lock_all)
        return rmai_win_error(w, MPI_ERR_RMA_SYNC, "MPI_Win_unlock_all: MPI_Win_lock_all has not locked the window");
    code = complete_everywhere(w);
    __atomic_store_n(&w->record->locks_all, 0, __ATOMIC_RELAXED);
    one = w->lock_all == 1 ? rmai_win_release_all(w, "MPI_Win_unlock_all") : RMA_SUCCESS;
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
    if (!w->lock_all && !(p->access & (RMAI_WIN_SHARED | RMAI_WIN_EXCLUSIVE)))
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
    if (w->comm->n_near != w->comm->n) rma_progress();
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
static int barrier_of_leaders(struct rmai_win *w) {
    const struct rmai_win_record *leader = w->near[0].record;
    const struct rmai_win_comm *f = w->comm;
    for (int k = 0; k < f->n_rounds; k++) {
        struct count_wait c = {&leader->round[k], w->fences};
        rma_gptr_t *at = &w->partner_records[k];
        int code = RMA_SUCCESS;
        if (*at == RMA_GPTR_NULL)
            code = rma_get(at, &rmai_win_directory[w->number], sizeof *at, rmai_win_comm_pe(f, f->partners[k]));
        if (code == RMA_SUCCESS)
            code = rmai_win_signal("MPI_Win_fence",
                                   *at + offsetof(struct rmai_win_record, round) + (rma_gptr_t)k * sizeof(uint64_t), 1);
        if (code != RMA_SUCCESS) return code;
        if (!count_reached(&c)) rma_wait_for_("MPI_Win_fence", &any, count_reached, &c);
    }
    return RMA_SUCCESS;
}

static int barrier_of_window(struct rmai_win *w) {
    struct rmai_win_record *leader = w->near[0].record;
    const uint32_t old = __atomic_load_n(&leader->over.value, __ATOMIC_RELAXED);
    const uint32_t before = atomic_fetch_add_explicit(&leader->arrived, 1, memory_order_acq_rel);
    int code;
    w->fences++;
    if (before + 1 < (uint32_t)w->comm->n_near) {
        rma_event_await_("MPI_Win_fence", &leader->over, old);
        code = leader->over_code;
        return code == RMA_SUCCESS
                   ? code
                   : rma_fail_(code, "MPI_Win_fence: the processes of this node have not met those of other nodes");
    }
    leader->over_code = code = barrier_of_leaders(w);
    atomic_store_explicit(&leader->arrived, 0, memory_order_relaxed);
    rma_event_set_(&leader->over, old + 1);
    return code;
}

RMAI_MPI_API int MPI_Win_fence(int assert, MPI_Win win) {
    struct rmai_win *w = rmai_win_of(win);
    int code, one, two;
    if (!w) return PMPI_Win_fence(assert, win);
    code = check_assert(w, "MPI_Win_fence", assert, ASSERTS & ~MPI_MODE_NOCHECK);
    if (code != MPI_SUCCESS) return code;
    if (w->locked || w->lock_all || w->n_started >= 0 || w->n_exposed >= 0)
        return rmai_win_error(w, MPI_ERR_RMA_SYNC, "MPI_Win_fence: %s",
                              w->locked || w->lock_all ? "the window is locked"
                              : w->n_started >= 0      ? "MPI_Win_complete is missing"
                                                       : "MPI_Win_wait is missing");
    /* Of two processes on two nodes each has only the other one beyond its node, and sends the signal there after what
     * it has put there; accesses to itself are complete already. After an error too this process meets the others,
     * which would wait for it. */
    two = w->comm->n == 2 && w->comm->n_near == 1;
    code = two ? complete_unflushed(w) : complete_everywhere(w);
    one = barrier_of_window(w);
    if (code == RMA_SUCCESS) code = one;
    if (two) note_earlier_puts(w);
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
    *code = PMPI_Group_translate_ranks(group, *n, own, w->comm->group, ranks);
    for (int i = 0; *code == MPI_SUCCESS && i < *n; i++)
        if (ranks[i] == MPI_UNDEFINED) *code = MPI_ERR_GROUP;
    if (*code == MPI_SUCCESS) return ranks;
    free(ranks);
    *code = rmai_win_error(w, MPI_ERR_GROUP, "%s: the group has a process that is not in the window's group", call);
    return NULL;
}

static int post_far(struct rmai_win *w, int rank) {
    struct rmai_win_peer peer;
    struct rmai_win_post post = {.rank = (uint64_t)w->comm->rank, .posts = 1};
    uint64_t seen;
    rma_gptr_t at, head;
    int code = rmai_win_peer(w, rank, &peer);
    if (code == RMA_SUCCESS && peer.posts_at != RMA_GPTR_NULL)
        return rmai_win_signal("MPI_Win_post", peer.posts_at + offsetof(struct rmai_win_post, posts), 1);
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
    int *ranks, n, posted = 0, code;
    if (!w) return PMPI_Win_post(group, assert, win);
    code = check_assert(w, "MPI_Win_post", assert, MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT);
    if (code != MPI_SUCCESS) return code;
    if (w->n_exposed >= 0)
        return rmai_win_error(w, MPI_ERR_RMA_SYNC, "MPI_Win_post: no MPI_Win_wait has followed the last MPI_Win_post");
    ranks = ranks_of(w, "MPI_Win_post", group, &n, &code);
    if (!ranks) return code;
    code = RMA_SUCCESS;
    for (; posted < n; posted++) {
        struct rmai_win_peer *p = rmai_win_near(w, ranks[posted]);
        if (assert & MPI_MODE_NOCHECK) continue;
        if (p)
            atomic_fetch_add_explicit(&p->record->posts[w->comm->my_slot], 1, memory_order_release);
        else if ((code = post_far(w, ranks[posted])) != RMA_SUCCESS)
            break;
    }
    free(ranks);
    w->n_exposed = posted; /* those that know nothing of it will not complete */
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
    const int slot = rmai_win_comm_slot(p->w->comm, p->rank);
    return atomic_load_explicit(&p->w->record->posts[slot], memory_order_acquire) != p->w->posts_seen[slot];
}

static void await_post(struct rmai_win *w, int rank) {
    struct post_wait p = {w, rank};
    const int slot = rmai_win_comm_slot(w->comm, rank);
    int (*const came)(void *) = slot >= 0 ? near_post_came : take_far_post;
    if (!came(&p)) {
        const int pe = rmai_win_comm_pe(w->comm, rank);
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
    /* First what can fail, and then the posts, which cannot be given back. */
    code = RMA_SUCCESS;
    for (int i = 0; i < n && code == RMA_SUCCESS; i++) {
        code = rmai_win_peer_access(w, ranks[i], RMAI_WIN_STARTED);
        for (int k = 0; k < i && code != RMA_SUCCESS; k++) rmai_win_peer_access(w, ranks[k], 0);
    }
    if (code != RMA_SUCCESS) {
        free(ranks);
        return rmai_win_failed(w, code);
    }
    for (int i = 0; i < n && !(assert &MPI_MODE_NOCHECK); i++) await_post(w, ranks[i]);
    w->open = 0;
    w->started = ranks;
    w->n_started = n;
    return MPI_SUCCESS;
}

RMAI_MPI_API int MPI_Win_complete(MPI_Win win) {
    struct rmai_win *w = rmai_win_of(win);
    int code;
    if (!w) return PMPI_Win_complete(win);
    if (w->n_started < 0)
        return rmai_win_error(w, MPI_ERR_RMA_SYNC, "MPI_Win_complete: MPI_Win_start has opened no epoch");
    code = complete_unflushed(w);
    /* After an error too all targets are told, which would wait for it. Their entries have been kept. */
    for (int i = 0; i < w->n_started; i++) {
        struct rmai_win_peer peer;
        int one = rmai_win_peer(w, w->started[i], &peer);
        if (one == RMA_SUCCESS && peer.record)
            __atomic_fetch_add(&peer.record->completed, 1, __ATOMIC_RELEASE);
        else if (one == RMA_SUCCESS)
            one = rmai_win_signal("MPI_Win_complete", peer.record_at + offsetof(struct rmai_win_record, completed), 1);
        rmai_win_peer_access(w, w->started[i], 0);
        if (code == RMA_SUCCESS) code = one;
    }
    note_earlier_puts(w);
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
