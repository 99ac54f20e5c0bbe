/* SPDX-License-Identifier: BSD-3-Clause */
/* Accesses of windows: put, get and the accumulates (MPI-3.1, 11.3).
 *
 *     call                target                  caller's buffers           complete
 *     MPI_Put             written                 read                       at the target by flush, unlock, fence,
 *     MPI_Get             read                    written                    complete; the buffers also by the local
 *     MPI_Accumulate      elements, atomics       read                       flushes, and by MPI_Wait if there is a
 *     ... with a result   the same, or read       read, and written          request (MPI_Rget: also the target's side)
 *
 * An accumulate tells; a thread learns from the elements that it has fetched once it has completed the call. */
#include "config.h"

#include <stdlib.h>

#include "instruments/race/mpi_calls.h"
#include "instruments/race/mpi_report.h"
#include "instruments/race/mpi_requests.h"
#include "instruments/race/mpi_types.h"
#include "instruments/race/mpi_windows.h"
#include "instruments/race/shadow.h"
#include "instruments/race/spin.h"

/* One side of a call. */
struct side {
    const void *at;
    MPI_Count n;
    MPI_Datatype type;
};

enum what { PUT, GET, ACCUMULATE };
struct call {
    const char *name;
    uint32_t place;
    struct race_win *w;
    enum what what;
    int rank;
    MPI_Aint disp;
    struct side origin, compare, result, target; /* type MPI_DATATYPE_NULL: there is none */
    enum race_op op;
    int fetches, writes;
    struct race_request *request;
    size_t most; /* bytes of data: the shorter side gives them */
};

static enum race_op number_of(MPI_Op op) {
    if (op == MPI_NO_OP) return RACE_NO_OP;
    if (op == MPI_REPLACE) return RACE_REPLACE;
    if (op == MPI_SUM) return RACE_SUM;
    if (op == MPI_PROD) return RACE_PROD;
    if (op == MPI_MIN) return RACE_MIN;
    if (op == MPI_MAX) return RACE_MAX;
    return RACE_OTHER_OP;
}

/* ---- the target ---- */

struct far {
    const struct call *c;
    int pe;
    struct race_who who;
    struct race_context *x;
};

/* Cells follow each other up to the end of an arena. */
static void far_range(const struct far *f, uintptr_t addr, size_t len, race_epoch kind) {
    while (len) {
        const size_t room = RACE_ARENA - (addr & (RACE_ARENA - 1)), part = room < len ? room : len;
        struct race_cell *cells = race_cells_exposed(addr, f->pe);
        if (cells) race_range(cells, addr, part, f->pe, kind, f->c->writes, f->c->place, &f->who);
        addr += part;
        len -= part;
    }
}

static void far_block(uintptr_t addr, size_t len, const struct race_block_of_type *b, void *arg) {
    const struct far *f = arg;
    race_epoch kind;
    if (f->c->what != ACCUMULATE) {
        far_range(f, addr, len, RACE_PLAIN);
        return;
    }
    /* In a window whose accumulates all have the same operation, MPI_NO_OP is an operation as any other. */
    kind = RACE_ATOMIC |
           RACE_OF_ACCUMULATE(b->element, f->c->w->same_op && f->c->op == RACE_NO_OP ? RACE_OTHER_OP : f->c->op);
    for (size_t at = 0; at < len; at += b->unit) {
        const size_t part = b->unit < len - at ? b->unit : len - at;
        struct race_cell *cell = race_cells_exposed(addr + at, f->pe);
        far_range(f, addr + at, part, kind);
        if (f->c->fetches && cell && ((addr + at) & 7) + part <= 8)
            race_context_fetches(f->x, cell, race_mask(addr + at, part));
        else if (f->c->fetches && cell)
            race_context_fetches(f->x, cell, RACE_MASK);
    }
}

static void far_side(const struct call *c, int pe) {
    /* MPI_Rget is complete with its request. */
    const int by_request = c->request && c->what == GET;
    struct race_context *x = by_request ? c->request->x : c->w->x;
    struct race_flow *flow = race_context_flow(x, RACE_PUTS, by_request ? race_job.my_pe : pe);
    const struct race_peer *p = &c->w->peers[c->rank];
    const uintptr_t base = c->w->dynamic ? (uintptr_t)c->disp : (uintptr_t)p->base + (uintptr_t)(c->disp * p->unit);
    struct far f = {.c = c, .pe = pe, .x = c->request ? c->request->x : c->w->x};
    f.who = (struct race_who){.epoch = flow ? race_flow_next(flow) : race_now, .clock = race_me->clock};
    if (flow) race_sort_actor(flow->actor, by_request ? RACE_BY_REQUEST : (enum race_sort)c->w->sort);
    if (c->what == ACCUMULATE && c->writes && flow) {
        const struct race_operation op = {.thread = race_me->actor,
                                          .at = race_me->count,
                                          .version = race_publish(race_me, race_no_fences),
                                          .puts = UINT32_MAX,
                                          .signalled = UINT32_MAX};
        race_log(flow->actor, RACE_COUNT(f.who.epoch), &op);
    }
    race_type_walk(race_type_of(c->target.type), base, (size_t)c->target.n, c->most, far_block, &f);
}

/* ---- the caller's buffers ---- */

struct near {
    struct race_who who;
    uint32_t place;
    int write;
};

static void near_block(uintptr_t addr, size_t len, const struct race_block_of_type *b, void *arg) {
    const struct near *n = arg;
    (void)b;
    race_local((const void *)addr, len, RACE_PLAIN, n->write, n->place, &n->who);
    race_stack_buffer(addr, len, n->who.epoch);
}

static void near_side(const struct call *c, int pe, const struct side *s, int write) {
    struct race_flow *flow;
    struct near n = {.place = c->place, .write = write};
    if (s->type == MPI_DATATYPE_NULL || s->n <= 0) return;
    if (c->request) {
        race_request_buffer(c->request, s->at, (size_t)s->n, s->type, write, c->place);
        return;
    }
    if (!c->w->x->private_pending) race_private_pending(c->w->x);
    flow = race_context_flow(c->w->x, RACE_PENDING, pe);
    n.who = (struct race_who){.epoch = flow ? race_flow_next(flow) : race_now, .clock = race_me->clock};
    if (flow) race_sort_actor(flow->actor, (enum race_sort)c->w->sort);
    race_type_walk(race_type_of(s->type), (uintptr_t)s->at, (size_t)s->n, c->most, near_block, &n);
}

/* The bytes of data of a side; SIZE_MAX if they are not known. */
static size_t bytes_of(const struct side *s) {
    const struct race_datatype *t = s->type == MPI_DATATYPE_NULL ? NULL : race_type_of(s->type);
    if (s->type == MPI_DATATYPE_NULL || (t && !t->known)) return SIZE_MAX;
    return t && s->n > 0 ? (size_t)s->n * t->size : 0;
}

static void record(struct call *c, MPI_Win win) {
    RACE_HELD;
    const size_t origin = bytes_of(&c->origin), target = bytes_of(&c->target);
    int pe;
    if (!(c->w = race_win_of(win)) || c->rank < 0 || c->rank >= c->w->n || c->target.n < 0) return;
    if ((pe = c->w->peers[c->rank].pe) < 0) return;
    c->most = origin < target ? origin : target;
    if (c->request) {
        c->request->win = c->w;
        c->request->rank = c->rank;
    }
    if (c->target.n > 0 && c->target.type != MPI_DATATYPE_NULL) far_side(c, pe);
    near_side(c, pe, &c->origin, c->what == GET);
    if (c->compare.at != c->result.at) near_side(c, pe, &c->compare, 0);
    near_side(c, pe, &c->result, 1);
    race_tick(race_me);
}

/* Another process may learn from an accumulate while the library's call is under way, so it is recorded before; if the
 * call fails, nothing is under way. Nobody learns from a put or a get. */
static void before(struct call *c, MPI_Win win) {
    if (c->what == ACCUMULATE) record(c, win);
}

static void after(struct call *c, MPI_Win win, int result) {
    if (c->what != ACCUMULATE && result == MPI_SUCCESS) record(c, win);
    if (c->what == ACCUMULATE && result != MPI_SUCCESS && c->w && c->rank >= 0 && c->rank < c->w->n)
        race_win_done(c->w, c->rank, 0);
}

/* ---- the calls ---- */

#define NONE      ((struct side){.type = MPI_DATATYPE_NULL})
#define SIDE(...) ((struct side){__VA_ARGS__})
#define ORIGIN    SIDE(origin, n, type)
#define TARGET    SIDE(NULL, far_n, far_type)
#define OF(CALL, ...)                                                                                                  \
    { .name = #CALL, .compare = NONE, .result = NONE, .rank = rank, .disp = disp, __VA_ARGS__ }

/* RECORD is the call. */
#define ACCESS(CALL, PARAMETERS, RECORD, ...)                                                                          \
    API int CALL PARAMETERS {                                                                                          \
        RACE_NEXT(CALL);                                                                                               \
        int result;                                                                                                    \
        if (!race_watches()) {                                                                                         \
            RACE_FORWARD(result = next(__VA_ARGS__));                                                                  \
        } else {                                                                                                       \
            struct call c = RECORD;                                                                                    \
            c.place = RACE_PLACE(CALL);                                                                                \
            before(&c, win);                                                                                           \
            RACE_FORWARD(result = next(__VA_ARGS__));                                                                  \
            after(&c, win, result);                                                                                    \
        }                                                                                                              \
        return result;                                                                                                 \
    }
#define REQUEST(CALL, PARAMETERS, RECORD, ...)                                                                         \
    API int CALL PARAMETERS {                                                                                          \
        RACE_NEXT(CALL);                                                                                               \
        struct race_request *r = rank == MPI_PROC_NULL ? NULL : race_request_new(RACE_REQUEST_RMA);                    \
        int result;                                                                                                    \
        if (!r) {                                                                                                      \
            RACE_FORWARD(result = next(__VA_ARGS__));                                                                  \
        } else {                                                                                                       \
            struct call c = RECORD;                                                                                    \
            c.place = RACE_PLACE(CALL);                                                                                \
            c.request = r;                                                                                             \
            before(&c, win);                                                                                           \
            RACE_FORWARD(result = next(__VA_ARGS__));                                                                  \
            after(&c, win, result);                                                                                    \
            race_request_made(r, result, request);                                                                     \
        }                                                                                                              \
        return result;                                                                                                 \
    }

#define NEAR(CONST, COUNT) CONST void *origin, COUNT n, MPI_Datatype type
#define INTO(COUNT)        void *into, COUNT into_n, MPI_Datatype into_type
#define FAR(COUNT)         int rank, MPI_Aint disp, COUNT far_n, MPI_Datatype far_type
#define NEAR_ARGUMENTS     origin, n, type
#define INTO_ARGUMENTS     into, into_n, into_type
#define FAR_ARGUMENTS      rank, disp, far_n, far_type
#define PUTS(CALL)         OF(CALL, .what = PUT, .origin = ORIGIN, .target = TARGET, .writes = 1)
#define GETS(CALL)         OF(CALL, .what = GET, .origin = ORIGIN, .target = TARGET)
#define ACCUMULATES(CALL)                                                                                              \
    OF(CALL, .what = ACCUMULATE, .origin = ORIGIN, .target = TARGET, .op = number_of(op), .writes = op != MPI_NO_OP)
#define FETCHES(CALL)                                                                                                  \
    {                                                                                                                  \
        .name = #CALL, .what = ACCUMULATE, .origin = op == MPI_NO_OP ? NONE : ORIGIN, .compare = NONE,                 \
        .result = SIDE(into, into_n, into_type), .target = TARGET, .rank = rank, .disp = disp, .op = number_of(op),    \
        .writes = op != MPI_NO_OP, .fetches = 1                                                                        \
    }

#define ACCESSES(C, COUNT)                                                                                             \
    ACCESS(MPI_Put##C, (NEAR(const, COUNT), FAR(COUNT), MPI_Win win), PUTS(MPI_Put), NEAR_ARGUMENTS, FAR_ARGUMENTS,    \
           win)                                                                                                        \
    ACCESS(MPI_Get##C, (NEAR(, COUNT), FAR(COUNT), MPI_Win win), GETS(MPI_Get), NEAR_ARGUMENTS, FAR_ARGUMENTS, win)    \
    ACCESS(MPI_Accumulate##C, (NEAR(const, COUNT), FAR(COUNT), MPI_Op op, MPI_Win win), ACCUMULATES(MPI_Accumulate),   \
           NEAR_ARGUMENTS, FAR_ARGUMENTS, op, win)                                                                     \
    ACCESS(MPI_Get_accumulate##C, (NEAR(const, COUNT), INTO(COUNT), FAR(COUNT), MPI_Op op, MPI_Win win),               \
           FETCHES(MPI_Get_accumulate), NEAR_ARGUMENTS, INTO_ARGUMENTS, FAR_ARGUMENTS, op, win)                        \
    REQUEST(MPI_Rput##C, (NEAR(const, COUNT), FAR(COUNT), MPI_Win win, MPI_Request * request), PUTS(MPI_Rput),         \
            NEAR_ARGUMENTS, FAR_ARGUMENTS, win, request)                                                               \
    REQUEST(MPI_Rget##C, (NEAR(, COUNT), FAR(COUNT), MPI_Win win, MPI_Request * request), GETS(MPI_Rget),              \
            NEAR_ARGUMENTS, FAR_ARGUMENTS, win, request)                                                               \
    REQUEST(MPI_Raccumulate##C, (NEAR(const, COUNT), FAR(COUNT), MPI_Op op, MPI_Win win, MPI_Request * request),       \
            ACCUMULATES(MPI_Raccumulate), NEAR_ARGUMENTS, FAR_ARGUMENTS, op, win, request)                             \
    REQUEST(MPI_Rget_accumulate##C,                                                                                    \
            (NEAR(const, COUNT), INTO(COUNT), FAR(COUNT), MPI_Op op, MPI_Win win, MPI_Request * request),              \
            FETCHES(MPI_Rget_accumulate), NEAR_ARGUMENTS, INTO_ARGUMENTS, FAR_ARGUMENTS, op, win, request)
ACCESSES(, int)
#if MPI_VERSION >= 4
ACCESSES(_c, MPI_Count)
#endif

#define ONE(P)    SIDE(P, 1, type)
#define LIST(...) __VA_ARGS__
ACCESS(MPI_Fetch_and_op,
       (const void *origin, void *into, MPI_Datatype type, int rank, MPI_Aint disp, MPI_Op op, MPI_Win win),
       LIST({.name = "MPI_Fetch_and_op",
             .what = ACCUMULATE,
             .origin = op == MPI_NO_OP ? NONE : ONE(origin),
             .compare = NONE,
             .result = ONE(into),
             .target = ONE(NULL),
             .rank = rank,
             .disp = disp,
             .op = number_of(op),
             .writes = op != MPI_NO_OP,
             .fetches = 1}),
       origin, into, type, rank, disp, op, win)
ACCESS(MPI_Compare_and_swap,
       (const void *origin, const void *compare, void *into, MPI_Datatype type, int rank, MPI_Aint disp, MPI_Win win),
       LIST({.name = "MPI_Compare_and_swap",
             .what = ACCUMULATE,
             .origin = ONE(origin),
             .compare = ONE(compare),
             .result = ONE(into),
             .target = ONE(NULL),
             .rank = rank,
             .disp = disp,
             .op = RACE_ANY_OP,
             .writes = 1,
             .fetches = 1}),
       origin, compare, into, type, rank, disp, win)
