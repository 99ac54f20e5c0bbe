/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that make and free windows. A process tells the others where its memory is; accesses then name the target's
 * address, whose cells all share (shadow.h, race_expose). */
#include "config.h"

#include "instruments/race/mpi_windows.h"

#include <stdlib.h>
#include <string.h>

#include "instruments/race/host.h"
#include "instruments/race/mpi_calls.h"
#include "instruments/race/mpi_comms.h"
#include "instruments/race/mpi_memory.h"
#include "instruments/race/mpi_report.h"
#include "instruments/race/mpi_requests.h"
#include "instruments/race/options.h"
#include "instruments/race/shadow.h"
#include "instruments/race/spin.h"

static struct race_win *wins;
static uint32_t wins_lock;

struct race_win *race_win_of(MPI_Win win) {
    struct race_win *w;
    race_spin_lock(&wins_lock);
    for (w = wins; w && w->handle != win;) w = w->next;
    race_spin_unlock(&wins_lock);
    return w;
}

void race_win_done(struct race_win *w, int rank, int local) {
    for (int r = rank < 0 ? 0 : rank; r < (rank < 0 ? w->n : rank + 1); r++) {
        const int pe = w->peers[r].pe;
        if (pe < 0) continue;
        if (!local) race_settle(w->x, RACE_PUTS, pe, 1);
        race_settle(w->x, RACE_PENDING, pe, 1);
    }
    race_requests_flushed(w, rank, local);
    if (rank < 0) race_private_done(w->x);
}

void race_win_fetched(struct race_win *w) { race_context_fetched(w->x, 1); }

/* ---- exposing memory ---- */

static void expose(const struct race_win *w, void *base, MPI_Aint size, int64_t unit, int new, uint32_t place) {
    static int said;
    if (size <= 0) return;
    if (!race_expose((uintptr_t)base, (size_t)size)) {
        if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
            race_say("rank %d: no room to track accesses of all windows: races in some of them are not detected",
                     race_job.my_pe);
        return;
    }
    if (new) race_forget_private((uintptr_t)base, (size_t)size);
    race_window_memory((struct race_named_window){
        .base = (uintptr_t)base, .size = (uint64_t)size, .unit = (uint32_t)unit, .place = place, .window = w->id});
}

/* Where the other processes' memory of a window of shared memory is mapped here. */
static void find_shared(const struct race_win *w) {
    RACE_NEXT(MPI_Win_shared_query);
    for (int r = 0; r < w->n; r++) {
        void *base = NULL;
        MPI_Aint size = 0;
        int unit;
        if (w->peers[r].pe < 0 || next(w->handle, r, &size, &unit, &base) != MPI_SUCCESS) continue;
        race_alias((uintptr_t)base, (size_t)size, w->peers[r].pe, (uintptr_t)w->peers[r].base);
    }
}

/* ---- making and freeing ---- */

static int is_same_op(MPI_Info info) {
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int found = 0;
    if (info == MPI_INFO_NULL) return 0;
    return PMPI_Info_get(info, "accumulate_ops", MPI_MAX_INFO_VAL, value, &found) == MPI_SUCCESS && found &&
           !strcmp(value, "same_op");
}

static void free_win(struct race_win *w) {
    if (w->x) race_context_end(w->x);
    free(w->started);
    free(w->posted);
    free(w->peers);
    free(w);
}

/* What a process tells of its memory; a failure to make the record must be told as well. */
struct made {
    enum { CREATED, ALLOCATED, SHARED, DYNAMIC } how;
    void *base;
    MPI_Aint size;
    int64_t unit;
    MPI_Info info;
    MPI_Comm comm;
    uint32_t place;
};

/* Collective: all processes of the window have made it. */
static void new_win(MPI_Win win, const struct made *made) {
    const struct race_comm *c = race_comm_of(made->comm);
    struct race_win *w = calloc(1, sizeof *w);
    struct race_peer own = {.base = (uintptr_t)made->base, .size = (uint64_t)made->size, .unit = made->unit};
    int n = 0;
    if (!c || !w || !(w->peers = calloc((size_t)c->n, sizeof *w->peers))) {
        race_say("rank %d: no memory to track a window: the job cannot go on", race_job.my_pe);
        race_host_abort();
    }
    n = c->n;
    if (c->me == 0) own.id = __atomic_add_fetch(&race_job.header->window_ids, 1, __ATOMIC_RELAXED);
    w->handle = win;
    w->dynamic = made->how == DYNAMIC;
    w->same_op = is_same_op(made->info);
    w->n = n;
    w->me = c->me;
    w->group = c->group;
    w->x = race_context_new(w, race_job.n_pes, NULL, 0);
    PMPI_Allgather(&own, (int)sizeof own, MPI_BYTE, w->peers, (int)sizeof own, MPI_BYTE, made->comm);
    w->id = (uint32_t)w->peers[0].id;
    for (int r = 0; r < n; r++) w->peers[r].pe = c->pes[r];
    if (!w->x) {
        free_win(w);
        return;
    }
    if (made->how != DYNAMIC)
        expose(w, made->base, made->size, made->unit, made->how == ALLOCATED || made->how == SHARED, made->place);
    if (made->how == SHARED) find_shared(w);
    race_spin_lock(&wins_lock);
    w->next = wins;
    wins = w;
    race_spin_unlock(&wins_lock);
    PMPI_Barrier(made->comm); /* before another process accesses the memory */
}

/* Making a window is collective, and its processes may rely on that: they know then what all knew before. */
#define MAKES(CALL, PARAMETERS, COMM, HOW, BASE, SIZE, UNIT, ...)                                                      \
    API int CALL PARAMETERS {                                                                                          \
        RACE_NEXT(CALL);                                                                                               \
        const int watched = race_job.on && !race_inside;                                                               \
        struct race_group *g = NULL;                                                                                   \
        struct made made = {.how = HOW, .info = info, .comm = comm};                                                   \
        int result;                                                                                                    \
        if (race_watches()) {                                                                                          \
            const struct race_comm *c = race_comm_of(comm);                                                            \
            made.place = RACE_PLACE(CALL);                                                                             \
            g = c ? c->group : NULL;                                                                                   \
            race_group_enter(g, 0, 0);                                                                                 \
        }                                                                                                              \
        RACE_FORWARD(result = next(__VA_ARGS__));                                                                      \
        if (watched && result == MPI_SUCCESS) {                                                                        \
            made.base = BASE, made.size = SIZE, made.unit = UNIT;                                                      \
            RACE_FORWARD(new_win(*win, &made));                                                                        \
        }                                                                                                              \
        race_group_leave(g, RACE_ALL);                                                                                 \
        return result;                                                                                                 \
    }
#define MAKES_ALL(C, UNIT)                                                                                             \
    MAKES(MPI_Win_create##C, (void *base, MPI_Aint size, UNIT unit, MPI_Info info, MPI_Comm comm, MPI_Win *win), comm, \
          CREATED, base, size, unit, base, size, unit, info, comm, win)                                                \
    MAKES(MPI_Win_allocate##C, (MPI_Aint size, UNIT unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win),     \
          comm, ALLOCATED, *(void **)base, size, unit, size, unit, info, comm, base, win)                              \
    MAKES(MPI_Win_allocate_shared##C,                                                                                  \
          (MPI_Aint size, UNIT unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win), comm, SHARED,            \
          *(void **)base, size, unit, size, unit, info, comm, base, win)
MAKES_ALL(, int)
#if MPI_VERSION >= 4
MAKES_ALL(_c, MPI_Aint)
#endif
MAKES(MPI_Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *win), comm, DYNAMIC, NULL, 0, 1, info, comm, win)

static void gone(struct race_win *w) {
    race_spin_lock(&wins_lock);
    for (struct race_win **p = &wins; *p; p = &(*p)->next)
        if (*p == w) {
            *p = w->next;
            break;
        }
    race_spin_unlock(&wins_lock);
    race_window_memory_gone(w->id, 0);
    free_win(w);
}

API int MPI_Win_free(MPI_Win *win) {
    RACE_NEXT(MPI_Win_free);
    struct race_win *w = race_job.on && !race_inside && win ? race_win_of(*win) : NULL;
    struct race_group *g = w && race_watches() ? w->group : NULL;
    int result;
    if (w && race_watches()) race_win_done(w, -1, 0);
    race_group_enter(g, 0, 0);
    if (w) { /* what is mapped here must not be taken for the window's when other memory is mapped there */
        race_inside++;
        for (int r = 0; r < w->n; r++) race_unalias_of(w->peers[r].pe, (uintptr_t)w->peers[r].base);
        race_inside--;
    }
    RACE_FORWARD(result = next(win));
    race_group_leave(g, RACE_ALL);
    if (w && result == MPI_SUCCESS) gone(w);
    return result;
}

/* ---- dynamic windows ---- */

API int MPI_Win_attach(MPI_Win win, void *base, MPI_Aint size) {
    RACE_NEXT(MPI_Win_attach);
    const uint32_t place = race_watches() ? RACE_PLACE(MPI_Win_attach) : 0;
    struct race_win *w = race_watches() ? race_win_of(win) : NULL;
    int result;
    RACE_FORWARD(result = next(win, base, size));
    if (w && result == MPI_SUCCESS) expose(w, base, size, 0, 0, place);
    return result;
}

API int MPI_Win_detach(MPI_Win win, const void *base) {
    RACE_NEXT(MPI_Win_detach);
    struct race_win *w = race_watches() ? race_win_of(win) : NULL;
    int result;
    if (w) race_window_memory_gone(w->id, (uintptr_t)base);
    RACE_FORWARD(result = next(win, base));
    return result;
}
