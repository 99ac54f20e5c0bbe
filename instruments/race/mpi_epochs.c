/* SPDX-License-Identifier: BSD-3-Clause */
/* What the synchronization of windows orders (MPI-3.1, 11.5):
 *
 *     MPI_Win_fence             completes the caller's accesses; after it each process knows what all knew before
 *     complete, then wait       completes; the process that waits knows what those that have completed knew
 *     post, then start          the process that starts knows what those that have posted knew
 *     lock                      an exclusive one: knows what all earlier holders knew; a shared one: what the earlier
 *                               exclusive ones knew
 *     unlock, unlock_all        completes; the lock's next holders know what the caller knew
 *     flush, flush_all          completes
 *     flush_local, ..._all      the caller's buffers are free
 *
 * A lock with MPI_MODE_NOCHECK orders nothing: the program does that in another way. */
#include "config.h"

#include <stdlib.h>

#include "instruments/race/mpi_calls.h"
#include "instruments/race/mpi_channels.h"
#include "instruments/race/mpi_comms.h"
#include "instruments/race/mpi_report.h"
#include "instruments/race/mpi_windows.h"

static struct race_win *watched_win(MPI_Win win) { return race_watches() ? race_win_of(win) : NULL; }

static int is_rank(const struct race_win *w, int rank) { return rank >= 0 && rank < w->n; }

/* The assertions only allow MPI to do less; MPI may then let a process pass before the others have come, although it
 * must not access their memory before. Here it waits for them. */
#define FEWER (MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED)
API int MPI_Win_fence(int assert, MPI_Win win) {
    RACE_NEXT(MPI_Win_fence);
    struct race_win *w = watched_win(win);
    int result;
    if (!w) {
        RACE_FORWARD(result = next(race_job.on ? assert & ~FEWER : assert, win));
        return result;
    }
    (void)race_called(CALLS_HERE, CALLS_FRAME);
    race_win_done(w, -1, 0);
    race_group_enter(w->group, 0, 0);
    RACE_FORWARD(result = next(assert & ~FEWER, win));
    race_group_leave(w->group, RACE_ALL);
    race_win_fetched(w);
    w->sort = RACE_BY_FENCE;
    return result;
}

/* ---- flush ---- */

#define FLUSHES(CALL, PARAMETERS, RANK, LOCAL, ...)                                                                    \
    API int CALL PARAMETERS {                                                                                          \
        RACE_NEXT(CALL);                                                                                               \
        struct race_win *w = watched_win(win);                                                                         \
        int result;                                                                                                    \
        (void)race_called(CALLS_HERE, CALLS_FRAME);                                                                    \
        RACE_FORWARD(result = next(__VA_ARGS__));                                                                      \
        if (!w || result != MPI_SUCCESS || ((RANK) >= 0 && !is_rank(w, RANK))) return result;                          \
        race_win_done(w, RANK, LOCAL);                                                                                 \
        race_win_fetched(w);                                                                                           \
        return result;                                                                                                 \
    }
FLUSHES(MPI_Win_flush, (int rank, MPI_Win win), rank, 0, rank, win)
FLUSHES(MPI_Win_flush_all, (MPI_Win win), -1, 0, win)
FLUSHES(MPI_Win_flush_local, (int rank, MPI_Win win), rank, 1, rank, win)
FLUSHES(MPI_Win_flush_local_all, (MPI_Win win), -1, 1, win)

/* ---- locks ---- */

/* A lock has two clocks: what its exclusive holders have told, and what its shared ones have. */
static uint64_t clock_of(const struct race_win *w, int rank, enum race_lock lock) {
    return (((uint64_t)w->id * RACE_PES_MOST + (uint64_t)rank) * 2 + (lock == RACE_SHARED)) << 2;
}

static void got(const struct race_win *w, int rank, enum race_lock lock) {
    if (lock == RACE_NOCHECK) return;
    race_group_lock(clock_of(w, rank, RACE_EXCLUSIVE), 0);
    if (lock == RACE_EXCLUSIVE) race_group_lock(clock_of(w, rank, RACE_SHARED), 0);
}

static void gives(const struct race_win *w, int rank, enum race_lock lock) {
    if (lock == RACE_SHARED || lock == RACE_EXCLUSIVE) race_group_lock(clock_of(w, rank, lock), 1);
}

API int MPI_Win_lock(int type, int rank, int assert, MPI_Win win) {
    RACE_NEXT(MPI_Win_lock);
    struct race_win *w = watched_win(win);
    int result;
    RACE_FORWARD(result = next(type, rank, assert, win));
    if (!w || result != MPI_SUCCESS || !is_rank(w, rank)) return result;
    w->peers[rank].locked = assert &MPI_MODE_NOCHECK     ? RACE_NOCHECK
                            : type == MPI_LOCK_EXCLUSIVE ? RACE_EXCLUSIVE
                                                         : RACE_SHARED;
    got(w, rank, (enum race_lock)w->peers[rank].locked);
    w->sort = RACE_BY_LOCK;
    return result;
}

API int MPI_Win_lock_all(int assert, MPI_Win win) {
    RACE_NEXT(MPI_Win_lock_all);
    struct race_win *w = watched_win(win);
    int result;
    RACE_FORWARD(result = next(assert, win));
    if (!w || result != MPI_SUCCESS) return result;
    w->all = assert &MPI_MODE_NOCHECK ? RACE_NOCHECK : RACE_SHARED;
    for (int r = 0; r < w->n; r++) got(w, r, (enum race_lock)w->all);
    w->sort = RACE_BY_LOCK_ALL;
    return result;
}

/* The results of fetching calls may tell more than the caller knows, which the next holder must know as well: so they
 * are completed first. */
static void fetch_before_unlock(struct race_win *w, int rank) {
    if (!w->x->n_fetches) return;
    if (rank >= 0) {
        RACE_NEXT(MPI_Win_flush);
        RACE_FORWARD(next(rank, w->handle));
    } else {
        RACE_NEXT(MPI_Win_flush_all);
        RACE_FORWARD(next(w->handle));
    }
    race_win_fetched(w);
}

/* Before MPI's call, since another process may get the lock in it. */
API int MPI_Win_unlock(int rank, MPI_Win win) {
    RACE_NEXT(MPI_Win_unlock);
    struct race_win *w = watched_win(win);
    int result;
    (void)race_called(CALLS_HERE, CALLS_FRAME);
    if (w && is_rank(w, rank)) {
        fetch_before_unlock(w, rank);
        race_win_done(w, rank, 0);
        gives(w, rank, (enum race_lock)w->peers[rank].locked);
        race_tick(race_me);
        w->peers[rank].locked = RACE_UNLOCKED;
    }
    RACE_FORWARD(result = next(rank, win));
    return result;
}

API int MPI_Win_unlock_all(MPI_Win win) {
    RACE_NEXT(MPI_Win_unlock_all);
    struct race_win *w = watched_win(win);
    int result;
    (void)race_called(CALLS_HERE, CALLS_FRAME);
    if (w) {
        fetch_before_unlock(w, -1);
        race_win_done(w, -1, 0);
        for (int r = 0; r < w->n; r++) gives(w, r, (enum race_lock)w->all);
        race_tick(race_me);
        w->all = RACE_UNLOCKED;
    }
    RACE_FORWARD(result = next(win));
    return result;
}

/* ---- post, start, complete, wait ---- */

static struct race_channel_key key(const struct race_win *w, enum race_channel_kind kind, int from, int to) {
    return (struct race_channel_key){.kind = kind, .id = w->id, .from = from, .to = to};
}

API int MPI_Win_post(MPI_Group group, int assert, MPI_Win win) {
    RACE_NEXT(MPI_Win_post);
    struct race_win *w = watched_win(win);
    int result;
    if (w) {
        free(w->posted);
        RACE_FORWARD(w->posted = race_pes_of_group(group, &w->n_posted));
        for (int i = 0; w->posted && i < w->n_posted; i++)
            if (w->posted[i] >= 0) race_channel_tell(key(w, RACE_POSTS, race_job.my_pe, w->posted[i]));
    }
    RACE_FORWARD(result = next(group, assert, win));
    return result;
}

/* MPI may leave the wait for the posts to the accesses; here the call waits. */
API int MPI_Win_start(MPI_Group group, int assert, MPI_Win win) {
    RACE_NEXT(MPI_Win_start);
    struct race_win *w = watched_win(win);
    int result;
    RACE_FORWARD(result = next(group, assert, win));
    if (!w || result != MPI_SUCCESS) return result;
    free(w->started);
    RACE_FORWARD(w->started = race_pes_of_group(group, &w->n_started));
    for (int i = 0; w->started && i < w->n_started; i++)
        if (w->started[i] >= 0) race_channel_wait(key(w, RACE_POSTS, w->started[i], race_job.my_pe));
    w->sort = RACE_BY_COMPLETE;
    return result;
}

API int MPI_Win_complete(MPI_Win win) {
    RACE_NEXT(MPI_Win_complete);
    struct race_win *w = watched_win(win);
    int result;
    (void)race_called(CALLS_HERE, CALLS_FRAME);
    if (w) {
        race_win_done(w, -1, 0);
        race_win_fetched(w);
        for (int i = 0; w->started && i < w->n_started; i++)
            if (w->started[i] >= 0) race_channel_tell(key(w, RACE_COMPLETES, race_job.my_pe, w->started[i]));
    }
    RACE_FORWARD(result = next(win));
    if (w) race_win_fetched(w);
    return result;
}

static void waited(struct race_win *w) {
    for (int i = 0; w->posted && i < w->n_posted; i++)
        if (w->posted[i] >= 0) race_channel_hear(key(w, RACE_COMPLETES, w->posted[i], race_job.my_pe), 0);
    w->n_posted = 0;
}

API int MPI_Win_wait(MPI_Win win) {
    RACE_NEXT(MPI_Win_wait);
    struct race_win *w = watched_win(win);
    int result;
    RACE_FORWARD(result = next(win));
    if (w && result == MPI_SUCCESS) waited(w);
    return result;
}

API int MPI_Win_test(MPI_Win win, int *flag) {
    RACE_NEXT(MPI_Win_test);
    struct race_win *w = watched_win(win);
    int result;
    RACE_FORWARD(result = next(win, flag));
    if (w && result == MPI_SUCCESS && *flag) waited(w);
    return result;
}
