/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "interfaces/mpi/window.h"
#include "interfaces/mpi/attributes.h"
#include "interfaces/mpi/collectives.h"
#include "interfaces/mpi/epochs.h"
#include "interfaces/mpi/errors.h"
#include "interfaces/mpi/comm.h"
#include "interfaces/mpi/hints.h"
#include "interfaces/mpi/peers.h"
#include "interfaces/mpi/regions.h"
#include "runtime/interfaces.h"

#include <assert.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The numbers of windows that are in use in this process, one bit each, and the threads of this process that want a
 * number. */
#define WORDS (RMAI_WINS / 64)
static struct {
    pthread_mutex_t mutex;
    uint64_t taken[WORDS];
    struct wish {
        uint64_t id; /* of struct rmai_win_comm */
        struct wish *next;
    } * wishes;
    int offering; /* 1: a thread offers the free numbers of this process */
} numbers = {.mutex = PTHREAD_MUTEX_INITIALIZER};

int rmai_wins_open(void) {
    if (PMPI_Comm_dup(MPI_COMM_SELF, &rmai_win_self) != MPI_SUCCESS ||
        PMPI_Comm_set_errhandler(rmai_win_self, MPI_ERRORS_RETURN) != MPI_SUCCESS)
        return rma_fail_(RMA_ERR_MPI, "MPI_Init: MPI cannot duplicate MPI_COMM_SELF");
    if (rmai_win_comms_open() != MPI_SUCCESS) return rma_fail_(RMA_ERR_MPI, "MPI_Init: MPI cannot make an attribute");
    rmai_win_directory = rma_calloc(RMAI_WINS, sizeof *rmai_win_directory);
    if (!rmai_win_directory) return rma_last_code();
    rmai_wins = mmap(NULL, RMAI_WINS * sizeof *rmai_wins, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (rmai_wins == MAP_FAILED) {
        rmai_wins = NULL;
        return rma_fail_(RMA_ERR_NO_MEM, "MPI_Init: no room for windows");
    }
    rma_watch_notes_(rmai_win_notes, RMAI_WIN_NOTES);
    return RMA_SUCCESS;
}

/* The standard requires that a program frees its windows. For those that it has not freed, this gives their memory
 * back. */
void rmai_wins_close(void) {
    PMPI_Comm_free(&rmai_win_self);
    if (!rmai_wins) return;
    for (int i = 0; i < RMAI_WINS; i++) {
        if (!(numbers.taken[i / 64] >> (i % 64) & 1) || !rmai_wins[i].comm) continue;
        rmai_win_peers_free(&rmai_wins[i]);
        rmai_wins[i].comm = NULL; /* calls after MPI_Finalize go to MPI, which refuses them */
    }
    memset(numbers.taken, 0, sizeof numbers.taken);
    munmap(rmai_wins, RMAI_WINS * sizeof *rmai_wins);
    rmai_wins = NULL;
}

/* ---- the number of a new window ---- */

/* Waits for a call of MPI that was begun with this code. */
static void finish_request(const char *call, const char *function, int code, MPI_Request *request) {
    if (code == MPI_SUCCESS) code = rmai_win_await(call, request, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) rmai_win_lost(call, function);
}

static void all_reduce(const char *call, MPI_Comm comm, const uint64_t *mine, uint64_t *all, int n, MPI_Op op) {
    MPI_Request request;
    if (rmai_collectives_reduce(call, comm, mine, all, n, op)) return;
    finish_request(call, "MPI_Iallreduce", PMPI_Iallreduce(mine, all, n, MPI_UINT64_T, op, comm, &request), &request);
}

static void barrier(const char *call, const struct rmai_win_comm *f) {
    MPI_Request request;
    if (rmai_collectives_barrier(call, f->duplicate)) return;
    finish_request(call, "MPI_Ibarrier", PMPI_Ibarrier(f->duplicate, &request), &request);
}

/* 1 if the thread with this wish may offer numbers now: one thread at a time, the one whose communicator has the
 * smallest id. */
static int begin_offer(const struct wish *wish) {
    int mine;
    pthread_mutex_lock(&numbers.mutex);
    mine = !numbers.offering;
    for (const struct wish *w = numbers.wishes; w && mine; w = w->next) mine = wish->id <= w->id;
    numbers.offering |= mine;
    pthread_mutex_unlock(&numbers.mutex);
    return mine;
}

/* The processes of f agree on the least number of a range that all have free, then on one of the next range. Two
 * windows of different communicators may be made by two threads at once. Only one thread of a process offers numbers,
 * and if a process offers none, all try again. The communicator with the smallest id gets its turn in all of its
 * processes. Returns -1 if ok is 0 in a process, or no number is free. */
#define RANGE 8
static int choose_number(const char *call, const struct rmai_win_comm *f, int ok, const struct wish *wish) {
    int number = -1;
    for (int at = 0; at < WORDS;) {
        const int mine = begin_offer(wish);
        uint64_t offer[RANGE + 2] = {0}, all[RANGE + 2];
        pthread_mutex_lock(&numbers.mutex);
        for (int i = 0; mine && i < RANGE; i++) offer[i] = ~numbers.taken[at + i];
        pthread_mutex_unlock(&numbers.mutex);
        offer[RANGE] = ok ? 1 : 0;
        offer[RANGE + 1] = mine ? 1 : 0;
        all_reduce(call, f->duplicate, offer, all, RANGE + 2, MPI_BAND);
        for (int i = 0; all[RANGE] && all[RANGE + 1] && number < 0 && i < RANGE; i++)
            if (all[i]) number = (at + i) * 64 + __builtin_ctzll(all[i]);
        pthread_mutex_lock(&numbers.mutex);
        if (number >= 0) numbers.taken[number / 64] |= UINT64_C(1) << (number % 64);
        if (mine) numbers.offering = 0;
        pthread_mutex_unlock(&numbers.mutex);
        if (!all[RANGE] || number >= 0) break;
        if (all[RANGE + 1])
            at += RANGE;
        else
            sched_yield();
    }
    return number;
}

static int agree_on_number(const char *call, const struct rmai_win_comm *f, int ok) {
    struct wish wish = {f->id, NULL}, **at;
    int number;
    /* Other threads of this process may wait for this one from here on, so all processes of f must have come. */
    barrier(call, f);
    pthread_mutex_lock(&numbers.mutex);
    wish.next = numbers.wishes;
    numbers.wishes = &wish;
    pthread_mutex_unlock(&numbers.mutex);
    number = choose_number(call, f, ok, &wish);
    pthread_mutex_lock(&numbers.mutex);
    for (at = &numbers.wishes; *at != &wish; at = &(*at)->next) continue;
    *at = wish.next;
    pthread_mutex_unlock(&numbers.mutex);
    return number;
}

static void give_number_back(int number) {
    pthread_mutex_lock(&numbers.mutex);
    assert(numbers.taken[number / 64] >> (number % 64) & 1 && "a window has its number alone");
    numbers.taken[number / 64] &= ~(UINT64_C(1) << (number % 64));
    pthread_mutex_unlock(&numbers.mutex);
}

/* ---- windows that begin ---- */

/* The arguments of a call that makes a window, and this process's memory for it. */
struct plan {
    const char *call;
    int flavor;
    void *base;
    MPI_Aint size, unit;
    MPI_Info info;
    MPI_Comm comm;
    void *allocated, *held;
    rma_gptr_t start;
    const char *why; /* why the window is left to MPI, or NULL */
    char text[256];
};

static void drop_memory(struct plan *p) {
    if (p->allocated) rma_free_mem(p->allocated);
    if (p->held) rma_unshare_(p->call, p->held);
    p->allocated = p->held = NULL;
}

static void allocate_memory(struct plan *p, size_t size) {
    struct rma_hints hints = RMA_HINTS_NONE;
    hints.alignment = rmai_win_alignment(p->info);
    if (rma_alloc_mem_hints(size, &hints, &p->allocated) != RMA_SUCCESS) {
        p->why = "no memory";
        return;
    }
    if (size) p->start = rma_gptr(p->allocated, rma_my_pe());
}

/* On one node the memory may also be in the heap of another process, from which MPI_Win_shared_query has given it. */
static void share_memory(struct plan *p, int one_node) {
    if (p->size == 0) return;
    if (one_node && (p->start = rma_gptr_of_node_(p->base, (size_t)p->size)) != RMA_GPTR_NULL) return;
    if (rma_share_(p->call, p->base, (size_t)p->size, &p->start, &p->held) == RMA_SUCCESS) return;
    snprintf(p->text, sizeof p->text, "%s", rma_last_error());
    p->why = p->text;
}

/* Allocates consecutive pieces of one block of the first process or, if all processes have the hint
 * alloc_shared_noncontig, a block of each process. */
static void allocate_shared_memory(struct plan *p, const struct rmai_win_comm *f) {
    char value[MPI_MAX_INFO_VAL + 1];
    const char *apart = rmai_win_hint(p->info, "alloc_shared_noncontig", value);
    uint64_t mine[2] = {(uint64_t)p->size, apart && strcmp(apart, "true") == 0 ? 0 : 1}, all[2], before = 0;
    MPI_Request request;
    all_reduce(p->call, f->duplicate, mine, all, 2, MPI_SUM);
    if (all[1] == 0) {
        allocate_memory(p, (size_t)p->size);
        p->base = p->allocated;
        return;
    }
    finish_request(p->call, "MPI_Iexscan",
                   PMPI_Iexscan(mine, &before, 1, MPI_UINT64_T, MPI_SUM, f->duplicate, &request), &request);
    if (f->rank == 0) allocate_memory(p, (size_t)all[0]);
    finish_request(p->call, "MPI_Ibcast", PMPI_Ibcast(&p->start, 1, MPI_UINT64_T, 0, f->duplicate, &request), &request);
    if (all[0] && p->start == RMA_GPTR_NULL) p->why = "no memory";
    if (p->why || !all[0]) return;
    if (f->rank == 0) before = 0; /* MPI has not written it */
    p->base = (char *)rma_gptr_ptr(p->start) + before;
    p->start = p->size ? p->start + before : RMA_GPTR_NULL;
}

/* This process's record of the new window, or NULL. */
static struct rmai_win_record *make_record(const struct plan *p, const struct rmai_win_comm *f) {
    const size_t size = sizeof(struct rmai_win_record) + (size_t)f->n_near * sizeof(uint32_t);
    struct rmai_win_record *record = NULL;
    if (rma_alloc_mem(size, &record) != RMA_SUCCESS) return NULL;
    memset(record, 0, size);
    record->start = p->start;
    record->address = (uintptr_t)p->base;
    record->size = (uint64_t)p->size;
    record->unit = (uint64_t)p->unit;
    return record;
}

/* Fills in what does not depend on the window's number. Returns 0 if memory is exhausted. */
static int prepare_window(struct rmai_win *w, const struct plan *p, struct rmai_win_comm *f) {
    memset(w, 0, sizeof *w);
    w->near = calloc((size_t)f->n_near, sizeof *w->near);
    w->posts_seen = calloc((size_t)f->n_near, sizeof *w->posts_seen);
    w->comm = f;
    w->n_started = w->n_exposed = -1;
    w->record = make_record(p, f);
    w->flavor = p->flavor;
    w->model = MPI_WIN_UNIFIED;
    w->base = p->flavor == MPI_WIN_FLAVOR_DYNAMIC ? MPI_BOTTOM : p->base;
    w->size = p->size;
    w->unit = p->unit > INT_MAX ? INT_MAX : (int)p->unit; /* the attribute is an int */
    w->allocated = p->allocated;
    w->held = p->held;
    w->handler = MPI_ERRORS_ARE_FATAL;
    w->info = MPI_INFO_NULL;
    if (!w->near || !w->posts_seen || !w->record) return 0;
    w->record_at = rma_gptr(w->record, rma_my_pe());
    return p->info == MPI_INFO_NULL || PMPI_Info_dup(p->info, &w->info) == MPI_SUCCESS;
}

static void discard_window(struct rmai_win *w) {
    rmai_win_peers_free(w);
    if (w->info != MPI_INFO_NULL) PMPI_Info_free(&w->info);
    rma_free_mem(w->record);
}

/* number: the window's, or -1 if it is left to MPI. */
static void report_choice(const struct plan *p, const struct rmai_win_comm *f, int number) {
    int n = 0, rank = 0;
    if (!rma_windows_info_() || PMPI_Comm_size(p->comm, &n) != MPI_SUCCESS ||
        PMPI_Comm_rank(p->comm, &rank) != MPI_SUCCESS || rank != 0)
        return;
    if (number < 0)
        fprintf(stderr, "rma_mpi: %s, %d processes: left to MPI: %s\n", p->call, n, p->why);
    else
        fprintf(stderr, "rma_mpi: %s, %d processes, %d on this node: window %d of librma%s\n", p->call, n, f->n_near,
                number, p->held ? ", over memory that is not of MPI_Alloc_mem: the kernel copies" : "");
}

/* Makes the window, or sets p->why in all processes of f. What can fail in one process comes before the agreement. */
static void make_window(struct plan *p, struct rmai_win_comm *f, MPI_Win *win) {
    struct rmai_win new, *w;
    const int ok = prepare_window(&new, p, f) && !p->why, number = agree_on_number(p->call, f, ok);
    if (number < 0) {
        discard_window(&new);
        if (!p->why) p->why = ok ? "another process cannot take part, or too many windows are alive" : "no memory";
        return;
    }
    w = &rmai_wins[number];
    *w = new;
    w->number = number;
    pthread_mutex_init(&w->mutex, NULL);
    __atomic_store_n(&rmai_win_directory[number], w->record_at, __ATOMIC_RELEASE);
    barrier(p->call, f);
    if (!rmai_win_peers_find(w)) rmai_win_lost(p->call, "finding the records of this node");
    report_choice(p, f, number);
    *win = rmai_win_handle(w);
}

/* Returns MPI_SUCCESS with *win made, or with p->why set if the window is left to MPI; or an error. `memory` gets the
 * window's memory. */
static int make_if_possible(struct plan *p, void (*memory)(struct plan *p, const struct rmai_win_comm *f),
                            MPI_Win *win) {
    struct rmai_win_comm *f = rmai_win_comm_of(p->call, p->comm, &p->why);
    int code = MPI_SUCCESS;
    if (f && p->flavor == MPI_WIN_FLAVOR_SHARED && f->n_near != f->n) {
        code = rmai_win_comm_error(p->comm, MPI_ERR_RMA_SHARED, "%s: %d of the %d processes share memory with this one",
                                   p->call, f->n_near, f->n);
    } else if (f) {
        p->why = NULL;
        if (memory) memory(p, f);
        make_window(p, f, win);
        if (!p->why) return MPI_SUCCESS;
        drop_memory(p);
    }
    if (code == MPI_SUCCESS) report_choice(p, f, -1);
    if (f) rmai_win_comm_leave(f);
    return code;
}

/* Checks the arguments that all calls have. */
static int check(const struct plan *p) {
    if (p->size < 0)
        return rmai_win_comm_error(p->comm, MPI_ERR_SIZE, "%s: size %lld is negative", p->call, (long long)p->size);
    if (p->unit <= 0)
        return rmai_win_comm_error(p->comm, MPI_ERR_DISP, "%s: disp_unit %lld is not positive", p->call,
                                   (long long)p->unit);
    if (p->flavor == MPI_WIN_FLAVOR_CREATE && p->size > 0 && !p->base)
        return rmai_win_comm_error(p->comm, MPI_ERR_BASE, "%s: base is a null pointer, and size is %lld", p->call,
                                   (long long)p->size);
    return MPI_SUCCESS;
}

/* base: where the call writes the address of the memory. */
static int check_base(const struct plan *p, const void *base) {
    return base ? check(p) : rmai_win_comm_error(p->comm, MPI_ERR_ARG, "%s: baseptr is a null pointer", p->call);
}

/* 1 if the call goes to MPI: also that of librma itself, when its heap grows. */
static int no_window(MPI_Comm comm, const void *out) {
    return !rmai_win_running || comm == MPI_COMM_NULL || !out || rma_makes_window_();
}

static void memory_of_create(struct plan *p, const struct rmai_win_comm *f) { share_memory(p, f->n_near == f->n); }

static void memory_of_allocate(struct plan *p, const struct rmai_win_comm *f) {
    (void)f;
    allocate_memory(p, (size_t)p->size);
    p->base = p->allocated;
}

/* *found: the process that MPI_Win_shared_query asks for; for MPI_PROC_NULL the first one that has memory. */
static int find_shared_peer(struct rmai_win *w, const char *call, int rank, const struct rmai_win_peer **found) {
    const int n = w->comm->n;
    int i = 0;
    if (w->flavor != MPI_WIN_FLAVOR_SHARED)
        return rmai_win_error(w, MPI_ERR_RMA_FLAVOR, "%s: not a window of MPI_Win_allocate_shared", call);
    if (rank != MPI_PROC_NULL && (rank < 0 || rank >= n))
        return rmai_win_error(w, MPI_ERR_RANK, "%s: rank %d is outside 0..%d", call, rank, n - 1);
    while (rank == MPI_PROC_NULL && i < n && !w->near[i].size) i++;
    *found = &w->near[rank != MPI_PROC_NULL ? rank : i < n ? i : 0];
    return MPI_SUCCESS;
}

/* UNIT: the type of a displacement unit. */
#define CALLS(SUFFIX, UNIT)                                                                                            \
    RMAI_MPI_API int MPI_Win_create##SUFFIX(void *base, MPI_Aint size, UNIT unit, MPI_Info info, MPI_Comm comm,        \
                                            MPI_Win *win) {                                                            \
        struct plan p = {"MPI_Win_create" #SUFFIX, MPI_WIN_FLAVOR_CREATE, base, size, unit, info, comm, .why = NULL};  \
        int code;                                                                                                      \
        if (no_window(comm, win)) return PMPI_Win_create##SUFFIX(base, size, unit, info, comm, win);                   \
        code = check(&p);                                                                                              \
        if (code == MPI_SUCCESS) code = make_if_possible(&p, memory_of_create, win);                                   \
        if (code != MPI_SUCCESS || !p.why) return code;                                                                \
        RMAI_WIN_RETURN_MPI(PMPI_Win_create##SUFFIX(base, size, unit, info, comm, win));                               \
    }                                                                                                                  \
    ALLOCATE(allocate##SUFFIX, MPI_WIN_FLAVOR_ALLOCATE, memory_of_allocate, UNIT)                                      \
    ALLOCATE(allocate_shared##SUFFIX, MPI_WIN_FLAVOR_SHARED, allocate_shared_memory, UNIT)                             \
    RMAI_MPI_API int MPI_Win_shared_query##SUFFIX(MPI_Win win, int rank, MPI_Aint *size, UNIT *unit, void *base) {     \
        struct rmai_win *w = rmai_win_of(win);                                                                         \
        const struct rmai_win_peer *p = NULL;                                                                          \
        int code;                                                                                                      \
        if (!w) return PMPI_Win_shared_query##SUFFIX(win, rank, size, unit, base);                                     \
        if (!size || !unit || !base)                                                                                   \
            return rmai_win_null(w, "MPI_Win_shared_query" #SUFFIX, "size, disp_unit or baseptr");                     \
        code = find_shared_peer(w, "MPI_Win_shared_query" #SUFFIX, rank, &p);                                          \
        if (code != MPI_SUCCESS) return code;                                                                          \
        *size = (MPI_Aint)p->size;                                                                                     \
        *unit = (UNIT)p->unit;                                                                                         \
        memcpy(base, &p->base, sizeof p->base);                                                                        \
        return MPI_SUCCESS;                                                                                            \
    }
#define ALLOCATE(NAME, FLAVOR, MEMORY, UNIT)                                                                           \
    RMAI_MPI_API int MPI_Win_##NAME(MPI_Aint size, UNIT unit, MPI_Info info, MPI_Comm comm, void *base,                \
                                    MPI_Win *win) {                                                                    \
        struct plan p = {"MPI_Win_" #NAME, FLAVOR, NULL, size, unit, info, comm, .why = NULL};                         \
        int code;                                                                                                      \
        if (no_window(comm, win)) return PMPI_Win_##NAME(size, unit, info, comm, base, win);                           \
        code = check_base(&p, base);                                                                                   \
        if (code == MPI_SUCCESS) code = make_if_possible(&p, MEMORY, win);                                             \
        if (code == MPI_SUCCESS && p.why) RMAI_WIN_RETURN_MPI(PMPI_Win_##NAME(size, unit, info, comm, base, win));     \
        if (code == MPI_SUCCESS) memcpy(base, &p.base, sizeof p.base);                                                 \
        return code;                                                                                                   \
    }
CALLS(, int)
#if MPI_VERSION >= 4
CALLS(_c, MPI_Aint)
#endif

RMAI_MPI_API int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win) {
    struct plan p = {"MPI_Win_create_dynamic", MPI_WIN_FLAVOR_DYNAMIC, NULL, 0, 1, info, comm, .why = NULL};
    int code;
    if (no_window(comm, win)) return PMPI_Win_create_dynamic(info, comm, win);
    code = make_if_possible(&p, NULL, win);
    if (code != MPI_SUCCESS || !p.why) return code;
    RMAI_WIN_RETURN_MPI(PMPI_Win_create_dynamic(info, comm, win));
}

/* ---- the end of a window ---- */

/* Returns when all processes of the window have called it. Two threads may end two windows of one communicator in
 * different order in different processes, or make another one meanwhile, so messages of the window itself are needed:
 * those with its number as their tag. In each round a process tells the one `step` ranks further; see meet_nodes. */
static void meet_at_end(const struct rmai_win *w) {
    const struct rmai_win_comm *f = w->comm;
    _Static_assert(RMAI_WINS <= 32768, "MPI promises that tags up to 32767 are valid");
    if (rmai_collectives_barrier("MPI_Win_free", f->duplicate)) return;
    for (int step = 1; step < f->n; step *= 2) {
        const int from = (f->rank - step + f->n) % f->n, to = (f->rank + step) % f->n;
        MPI_Request receive, send;
        const int code = PMPI_Irecv(NULL, 0, MPI_BYTE, from, w->number, f->duplicate, &receive);
        const int sent = PMPI_Isend(NULL, 0, MPI_BYTE, to, w->number, f->duplicate, &send);
        finish_request("MPI_Win_free", "MPI_Isend", sent, &send);
        finish_request("MPI_Win_free", "MPI_Irecv", code, &receive);
    }
}

RMAI_MPI_API int MPI_Win_free(MPI_Win *win) {
    struct rmai_win *w = win ? rmai_win_of(*win) : NULL;
    struct rmai_win_comm *f;
    int code, number;
    if (!w) return PMPI_Win_free(win);
    if (w->locked || w->lock_all || w->n_started >= 0 || w->n_exposed >= 0)
        return rmai_win_error(w, MPI_ERR_RMA_SYNC, "MPI_Win_free: %s",
                              w->locked || w->lock_all ? "the window is locked"
                              : w->n_started >= 0      ? "MPI_Win_complete is missing"
                                                       : "MPI_Win_wait is missing");
    code = rmai_win_attributes_end(w);
    if (code != MPI_SUCCESS)
        return rmai_win_error(w, MPI_ERR_OTHER, "MPI_Win_free: the function of an attribute returned %d", code);
    code = rmai_win_failed(w, rma_quiet());
    f = w->comm;
    number = w->number;
    meet_at_end(w);
    rmai_win_directory[number] = RMA_GPTR_NULL;
    rmai_win_regions_free(w);
    if (w->held) rma_unshare_("MPI_Win_free", w->held);
    rma_free_mem(w->allocated);
    rmai_win_posts_free(w->record);
    rma_free_mem(w->record);
    rmai_win_peers_free(w);
    if (w->info != MPI_INFO_NULL) PMPI_Info_free(&w->info);
    rmai_win_handler_set(w, MPI_ERRHANDLER_NULL);
    pthread_mutex_destroy(&w->mutex);
    w->comm = NULL;
    give_number_back(number);
    rmai_win_comm_leave(f);
    *win = MPI_WIN_NULL;
    return code;
}
