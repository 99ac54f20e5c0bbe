/* SPDX-License-Identifier: BSD-3-Clause */
/* runtime/net needs only a transport and handlers: here two PEs, and then two jobs of two PEs each, run in one process
 * and one thread, on a transport of queues, over arrays of bytes.
 *
 *     RMA_TEST_WRAP   if not empty, everything is some ten times slower: two PEs that take turns may take too long
 *
 * Broken by a static or global variable in runtime/net, by a call of MPI there, by a use of a transport's operation
 * that its contract does not allow, and by a request, reply, error or block of memory that is lost, doubled or
 * misplaced. */
#include "config.h"

#include "base/error.h"
#include "heap/segment.h"
#include "rma.h"
#include "runtime/net/request.h"
#include "runtime/net/net.h"
#include "runtime/net/op.h"
#include "runtime/net/packed.h"
#include "runtime/net/flow.h"
#include "runtime/net/progress.h"
#include "runtime/net/state.h"
#include "runtime/net/way.h"
#include "runtime/net/stream.h"
#include "runtime/net/window.h"
#include "runtime/watch/liveness.h"
#include "test/unit/ops.h"
#include "test/unit/require.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PES       2
#define LONG      ((size_t)300 << 10)
#define MEMORY    ((size_t)512 << 10)
#define HEAP      ((size_t)448 << 10) /* where in the memory allocated blocks begin */
#define BLOCK     ((size_t)64)
#define DIRECT_AT ((size_t)64) /* where the memory that may be direct begins */
#define ATTACHED  ((size_t)320 << 10)
#define WAITED    3  /* rests of a wait before it ends, where it waits for a PE that sleeps */
#define DELAY     50 /* looks until long data come */
#define TURNS     1000
#define UNTOUCHED 0xee
#define WINDOWED  16 /* pieces that a PE attaches to its window, at most */
/* Adds of the same value without an old value that a message has room for, if they are in one record. */
#define ADDS_A_MESSAGE ((int)(RMAI_MESSAGE / sizeof(uint32_t)))

/* A send or receive under way. */
struct movement {
    struct movement *next;
    int pe, tag; /* pe: the sender; of a receive that of which it expects something, or RMAI_ANY_PE */
    char *data;  /* the caller's: no copy is made before the receiver is there */
    size_t len;
    int done, dropped;
    int delay; /* looks of the receiver that miss it */
    struct rmai_arrival arrival;
};

/* A put or get through the window: nothing of it is done before a flush. */
struct access {
    struct access *next;
    char *there, *here;
    size_t len;
    int get;
};

struct queues {
    struct rmai_transport transport;   /* the first field: operations get its address */
    struct access *begun;              /* oldest first */
    int accesses, flushes, begun_most; /* so many; begun_most: at once, of which none was flushed */
    struct {
        char *base; /* NULL: none */
        size_t len;
    } windowed[WINDOWED];              /* what this PE has attached */
    int attaches;                      /* that succeed before one fails; -1: all succeed */
    int attached;                      /* calls */
    struct pe *pe;                     /* whose */
    struct movement *coming, *posted;  /* to this PE, oldest first */
    int live;                          /* movements that this PE has begun and that are not freed */
    int short_receives, long_receives; /* that succeed before one fails; -1: all succeed */
    int sends;                         /* the same */
    int unread, most_unread;           /* short messages to this PE, now and at most */
    int sent[RMAI_WIRE_KINDS];         /* short messages of this PE */
    int told;                          /* requests that they say are done */
};

struct pe {
    struct job *job;
    struct rmai_job facts;
    int me;
    struct queues queues;
    struct rmai_traffic traffic;
    struct rmai_net *net;
    struct rmai_event doze;
    struct rmai_pings pings;
    struct rmai_pending *set;
    uint32_t complete, complete_too;
    int sleeps; /* nobody drives this PE's progress but its own calls */
    /* What the handlers know. */
    _Alignas(64) unsigned char memory[MEMORY], attached[ATTACHED];
    size_t direct;
    int leases, blocks, locates;
    size_t extent[RMAI_POOLS];
    const char *waiting_in;
    int rests, waits_over; /* of waits that lasted */
    int begun, begun_at_rest;
    struct rmai_stall stall;
    struct rmai_directory directory;
};

struct job {
    struct pe pe[PES];
    int driving; /* a PE drives the other one */
};

static struct job jobs[2];

static struct pe *other_of(struct pe *p) { return &p->job->pe[!p->me]; }

/* ---- memory that is missing ---- */

static size_t missing; /* blocks of so many bytes; SIZE_MAX: of any; 0: none */

static int is_missing(size_t size) { return missing && (size == missing || missing == SIZE_MAX); }

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size) { return is_missing(size) ? NULL : __real_malloc(size); }

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size) { return is_missing(n * size) ? NULL : __real_calloc(n, size); }

/* ---- a transport of queues ---- */

static struct queues *queues_of(struct rmai_transport *t) { return (struct queues *)(void *)t; }

static void append_movement(struct movement **queue, struct movement *m) {
    while (*queue) queue = &(*queue)->next;
    *queue = m;
}

/* 1 if this one fails. */
static int fails_now(int *left) {
    if (*left < 0) return 0;
    if (*left > 0) return --*left, 0;
    return rmai_error(RMA_ERR_MPI, "the queue is broken") == RMA_ERR_MPI;
}

static struct movement *begin_movement(struct queues *q, int pe, int tag, const void *data, size_t len,
                                       struct rmai_token *token) {
    struct movement *m = __real_calloc(1, sizeof *m); /* never missing */
    REQUIRE(m != NULL, "no memory");
    *m = (struct movement){
        .pe = pe, .tag = tag, .data = (char *)(uintptr_t)data, .len = len, .delay = tag == RMAI_SHORT_TAG ? 0 : DELAY};
    q->live++;
    token->word = (uintptr_t)m;
    return m;
}

static void end_movement(struct queues *q, struct movement *m) {
    q->live--;
    free(m);
}

static void note_sent(struct queues *q, const void *message, size_t len) {
    struct rmai_envelope e;
    REQUIRE(len >= sizeof e && len <= RMAI_MESSAGE, "a message of %zu bytes", len);
    memcpy(&e, message, sizeof e);
    if (e.kind < RMAI_WIRE_KINDS) q->sent[e.kind]++;
    q->told += e.done;
}

static int queue_send(struct rmai_transport *t, int pe, int tag, const void *data, size_t len,
                      struct rmai_token *token) {
    struct queues *q = queues_of(t), *to = &other_of(q->pe)->queues;
    REQUIRE(pe == !q->pe->me, "PE %d sends to PE %d", q->pe->me, pe);
    if (fails_now(&q->sends)) return RMA_ERR_MPI;
    append_movement(&to->coming, begin_movement(q, q->pe->me, tag, data, len, token));
    if (tag != RMAI_SHORT_TAG) return RMA_SUCCESS;
    if (++to->unread > to->most_unread) to->most_unread = to->unread;
    note_sent(q, data, len);
    return RMA_SUCCESS;
}

static int queue_receive(struct rmai_transport *t, int pe, int tag, void *data, size_t len, struct rmai_token *token) {
    struct queues *q = queues_of(t);
    if (fails_now(tag == RMAI_SHORT_TAG ? &q->short_receives : &q->long_receives)) return RMA_ERR_MPI;
    append_movement(&q->posted, begin_movement(q, pe, tag, data, len, token));
    return RMA_SUCCESS;
}

/* What has come goes to the receives that wait for it. Only the receiving PE comes here: so a send is under way until
 * that PE drives. Short messages that were sent later overtake long data, as a transport may let them. */
static void deliver(struct queues *q) {
    for (struct movement *sent, *got, **c = &q->coming; (sent = *c) != NULL;) {
        struct movement **r = &q->posted;
        while (*r && ((*r)->tag != sent->tag || ((*r)->pe != RMAI_ANY_PE && (*r)->pe != sent->pe))) r = &(*r)->next;
        if (!(got = *r) || sent->delay-- > 0) {
            c = &sent->next;
            continue;
        }
        REQUIRE(sent->len <= got->len, "%zu bytes for a receive of %zu, tag %d", sent->len, got->len, sent->tag);
        memcpy(got->data, sent->data, sent->len);
        got->arrival = (struct rmai_arrival){.pe = sent->pe, .len = sent->len};
        *r = got->next;
        *c = sent->next;
        got->done = sent->done = 1;
        if (sent->tag == RMAI_SHORT_TAG) q->unread--;
        if (sent->dropped) end_movement(&other_of(q->pe)->queues, sent);
    }
}

static void drive_other(struct pe *p) {
    struct pe *other = other_of(p);
    if (other->sleeps || p->job->driving) return;
    p->job->driving = 1;
    rmai_net_progress(other->net, 1);
    p->job->driving = 0;
}

/* A PE that waits comes here in every turn, and lets the other one go on. */
static int queue_test(struct rmai_transport *t, struct rmai_token *token, struct rmai_arrival *arrival) {
    struct queues *q = queues_of(t);
    struct movement *m = (struct movement *)token->word;
    deliver(q);
    if (!m->done) drive_other(q->pe);
    if (!m->done) return 0;
    if (arrival) *arrival = m->arrival;
    end_movement(q, m);
    token->word = 0;
    return 1;
}

static void queue_drop(struct rmai_transport *t, struct rmai_token *token, int is_receive) {
    struct queues *q = queues_of(t);
    struct movement *m = (struct movement *)token->word, **i = &q->posted;
    token->word = 0;
    if (!m->done && !is_receive) {
        m->dropped = 1;
        return;
    }
    while (*i && *i != m) i = &(*i)->next;
    if (*i) *i = m->next;
    end_movement(q, m);
}

/* ---- and its window, for tests that have one: the other PE's memory, by its address ---- */

/* What is accessed has to be in one piece that the other PE has attached: now, and when it is flushed. */
static void check_windowed(const struct queues *there, const char *from, size_t len) {
    int in = 0;
    for (int i = 0; i < WINDOWED; i++) {
        const char *base = there->windowed[i].base;
        in |= base && from >= base && len <= there->windowed[i].len &&
              (size_t)(from - base) <= there->windowed[i].len - len;
    }
    REQUIRE(in, "%zu bytes at %p are not in one piece of the window", len, (const void *)from);
}

static int begin_access(struct rmai_transport *t, enum rmai_window_kind window, int pe, struct access a) {
    struct queues *q = queues_of(t);
    struct access **end = &q->begun, *copy = __real_calloc(1, sizeof *copy);
    int n = 1;
    REQUIRE(copy && window == RMAI_DYNAMIC && pe == !q->pe->me, "window %d of PE %d", (int)window, pe);
    check_windowed(&other_of(q->pe)->queues, a.there, a.len);
    *copy = a;
    for (; *end; end = &(*end)->next) n++;
    *end = copy;
    q->accesses++;
    if (n > q->begun_most) q->begun_most = n;
    return RMA_SUCCESS;
}

static int queue_put(struct rmai_transport *t, const char *call, enum rmai_window_kind window, int pe, size_t disp,
                     const void *from, size_t len) {
    (void)call;
    return begin_access(t, window, pe,
                        (struct access){.there = (char *)disp, .here = (char *)(uintptr_t)from, .len = len});
}

static int queue_get(struct rmai_transport *t, const char *call, enum rmai_window_kind window, int pe, size_t disp,
                     void *to, size_t len) {
    (void)call;
    return begin_access(t, window, pe, (struct access){.there = (char *)disp, .here = to, .len = len, .get = 1});
}

static void do_access(struct access *a) { memcpy(a->get ? a->here : a->there, a->get ? a->there : a->here, a->len); }

static int queue_flush(struct rmai_transport *t, const char *call, enum rmai_window_kind window, int pe,
                       enum rmai_flush_kind kind) {
    struct queues *q = queues_of(t);
    (void)call, (void)window, (void)pe, (void)kind;
    q->flushes++;
    for (struct access *a; (a = q->begun) != NULL;) {
        check_windowed(&other_of(q->pe)->queues, a->there, a->len);
        do_access(a);
        q->begun = a->next;
        free(a);
    }
    return RMA_SUCCESS;
}

static int queue_attach(struct rmai_transport *t, void *base, size_t len) {
    struct queues *q = queues_of(t);
    int i = 0;
    q->attached++;
    if (fails_now(&q->attaches)) return RMA_ERR_MPI;
    while (i < WINDOWED && q->windowed[i].base) i++;
    REQUIRE(i < WINDOWED, "more pieces than there are places");
    q->windowed[i].base = base;
    q->windowed[i].len = len;
    return RMA_SUCCESS;
}

static const struct rmai_transport_operations operations = {.send = queue_send,
                                                            .receive = queue_receive,
                                                            .test = queue_test,
                                                            .put = queue_put,
                                                            .get = queue_get,

                                                            .flush = queue_flush,
                                                            .attach = queue_attach,

                                                            .drop = queue_drop};

/* ---- memory ---- */

static int locate(void *context, const char *call, uint64_t offset, size_t len, size_t alignment, int writes,
                  void **there, void **hold) {
    struct pe *p = context;
    const int attached = offset >= RMA_GPTR_ATTACHED_;
    const size_t at = attached ? (size_t)(offset - RMA_GPTR_ATTACHED_) : (size_t)offset,
                 end = attached ? ATTACHED : MEMORY;
    (void)writes;
    p->locates++;
    *hold = NULL;
    if (at > end || len > end - at || at % alignment)
        return rmai_error(RMA_ERR_ADDRESS, "%s: PE %d has no %zu bytes at %#llx", call, p->me, len,
                          (unsigned long long)offset);
    *there = (attached ? p->attached : p->memory) + at;
    if (attached) *hold = &p->leases;
    p->leases += attached;
    return RMA_SUCCESS;
}

static void release_hold(void *context, void *hold) {
    struct pe *p = context;
    REQUIRE(hold == &p->leases && p->leases > 0, "PE %d has given no such hold", p->me);
    p->leases--;
}

/* Of `direct` bytes of the memory. */
static void show_steady(void *context, uint64_t *offset, size_t *len, unsigned char **there) {
    struct pe *p = context;
    *offset = DIRECT_AT;
    *len = p->direct;
    *there = p->memory + DIRECT_AT;
}

/* Blocks of one size, one after the other; the last one is the first to be free again. */
static int allocate(void *context, const char *call, size_t size, uint64_t *block) {
    struct pe *p = context;
    if (size > BLOCK) return rmai_error(RMA_ERR_NO_MEM, "%s: PE %d has no %zu bytes", call, p->me, size);
    *block = HEAP + (size_t)p->blocks++ * BLOCK;
    return RMA_SUCCESS;
}

static int give_back(void *context, const char *call, uint64_t offset) {
    struct pe *p = context;
    if (p->blocks == 0 || offset != HEAP + (size_t)(p->blocks - 1) * BLOCK)
        return rmai_error(RMA_ERR_ADDRESS, "%s: PE %d has no block at %#llx", call, p->me, (unsigned long long)offset);
    p->blocks--;
    return RMA_SUCCESS;
}

static void read_extents(void *context, size_t extent[RMAI_POOLS]) {
    const struct pe *p = context;
    memcpy(extent, p->extent, sizeof p->extent);
}

static void read_sign(void *context, struct rmai_sign *sign) {
    const struct pe *p = context;
    *sign = (struct rmai_sign){.in = ""};
    memcpy(sign->in, p->waiting_in, strlen(p->waiting_in));
}

static int take_sign_of_life(void *context, int from, const struct rmai_envelope *e, size_t len) {
    struct pe *p = context;
    return rmai_ping_take_answer(&p->pings, from, e, len);
}

/* A PE that waits for one that sleeps lets it sleep for a while. */
static void wait_lasts(void *context, struct rmai_stall *stall) {
    struct pe *p = context;
    stall->last = 1;
    p->stall = *stall;
    p->begun_at_rest = p->begun;
    if (++p->rests == WAITED) other_of(p)->sleeps = 0;
}

/* A job of this test is the process. */
static void fatal(void *context) {
    (void)context;
    rma_errors_abort(rma_last_code(), rma_last_error());
}

static void wait_is_over(void *context, struct rmai_stall *stall) {
    struct pe *p = context;
    (void)stall;
    p->waits_over++;
}

/* ---- jobs ---- */

static int open_net(struct pe *p) {
    const struct rmai_net_handlers handlers = {.context = p,
                                               .locate = locate,
                                               .release_hold = release_hold,
                                               .direct = show_steady,
                                               .allocate = allocate,
                                               .give_back = give_back,
                                               .extents = read_extents,
                                               .sign = read_sign,
                                               .take_sign_of_life = take_sign_of_life,
                                               .wait_lasts = wait_lasts,
                                               .wait_is_over = wait_is_over,
                                               .fatal = fatal,
                                               .doze = &p->doze};
    int code;
    /* Crowded: a wait comes to its first rest soon. */
    code = rmai_net_open(&p->facts, &p->queues.transport, &p->traffic, &handlers, 1, &p->net);
    p->pings = (struct rmai_pings){.net = p->net};
    return code;
}

static void prepare_pe(struct job *job, int me) {
    struct pe *p = &job->pe[me];
    p->job = job;
    p->me = me;
    p->waiting_in = "";
    p->facts = (struct rmai_job){.my_pe = me,
                                 .all_progress = 1,
                                 .n_pes = PES,
                                 .my_node = me,
                                 .n_nodes = PES,
                                 .node_n_pes = 1,
                                 .node_pes = &p->me,
                                 .level = RMA_THREAD_SINGLE,
                                 .networked = 1};
    p->queues = (struct queues){.transport = {.operations = &operations},
                                .pe = p,
                                .short_receives = -1,
                                .long_receives = -1,
                                .sends = -1,
                                .attaches = -1};
    memset(p->memory, UNTOUCHED, sizeof p->memory);
    memset(p->attached, UNTOUCHED, sizeof p->attached);
}

static void open_job(struct job *job) {
    memset(job, 0, sizeof *job);
    for (int me = 0; me < PES; me++) prepare_pe(job, me);
    for (int me = 0; me < PES; me++) {
        struct pe *p = &job->pe[me];
        ck_assert_int_eq(open_net(p), RMA_SUCCESS);
        ck_assert_int_eq(rmai_pending_open(p->net, &p->complete, &p->complete_too, &p->traffic, &p->set), RMA_SUCCESS);
    }
}

static int quiet(struct pe *p) {
    int code = rmai_net_quiet("rma_quiet", p->set);
    ck_assert_uint_eq(p->complete, RMA_ALL_COMPLETE_);
    ck_assert_uint_eq(p->complete_too, RMA_ALL_COMPLETE_);
    return code;
}

/* The equations of runtime/net/flow.h when nothing is under way. */
static void check_equations(const struct rmai_net *net) {
    unsigned idle = 0;
    for (const struct rmai_message *m = net->idle; m; m = m->next) idle++;
    for (const struct rmai_message *m = net->in_transport; m; m = m->next) idle++;
    ck_assert_uint_eq(net->n_messages, idle);
    ck_assert_uint_eq(net->n_transfers, 0);
    ck_assert_ptr_null(net->transfers);
    for (unsigned i = 0; i < net->transfer_room; i++) ck_assert_ptr_null(net->transfer[i]);
    for (unsigned i = 0; i < net->links.room; i++) {
        const struct rmai_link *link = (const struct rmai_link *)(const void *)net->links.entry[i];
        if (link) ck_assert_ptr_null(link->oldest);
    }
}

static void close_job(struct job *job) {
    for (int me = 0; me < PES; me++) ck_assert_int_eq(quiet(&job->pe[me]), RMA_SUCCESS);
    for (int me = 0; me < PES; me++) {
        rmai_pending_close(job->pe[me].set);
        check_equations(job->pe[me].net);
        rmai_pings_close(&job->pe[me].pings);
        rmai_net_close(job->pe[me].net);
    }
    for (int me = 0; me < PES; me++) {
        ck_assert_ptr_null(job->pe[me].queues.coming);
        ck_assert_ptr_null(job->pe[me].queues.posted);
        ck_assert_int_eq(job->pe[me].queues.live, 0);
        ck_assert_ptr_null(job->pe[me].queues.begun);
        ck_assert_int_eq(job->pe[me].leases, 0);
    }
}

static void open_one(void) { open_job(&jobs[0]); }
static void close_one(void) { close_job(&jobs[0]); }

static void open_two(void) {
    for (int j = 0; j < 2; j++) open_job(&jobs[j]);
}
static void close_two(void) {
    for (int j = 0; j < 2; j++) close_job(&jobs[j]);
}

/* ---- calls ---- */

static int put(struct pe *p, uint64_t offset, const void *source, size_t len, enum rmai_when when) {
    return op_put("rma_put", p->set, !p->me, offset, source, len, when);
}

static int get(struct pe *p, uint64_t offset, void *dest, size_t len, enum rmai_when when) {
    return op_get("rma_get", p->set, !p->me, offset, dest, len, when);
}

static int add(struct pe *p, uint64_t offset, size_t len, uint64_t value, void *old, int later) {
    return op_atomic("rma_add", p->set, !p->me, offset, RMA_FETCH_ADD_, len, value, 0, old, later);
}

static uint64_t word_at(const struct pe *p, size_t offset) {
    uint64_t word;
    memcpy(&word, p->memory + offset, sizeof word);
    return word;
}

static void set_word(struct pe *p, size_t offset, uint64_t word) { memcpy(p->memory + offset, &word, sizeof word); }

static void fill(unsigned char *data, size_t len, unsigned seed) {
    for (size_t i = 0; i < len; i++) data[i] = (unsigned char)(seed * 37 + i * 11 + i / 256);
}

static int is_filled(const unsigned char *data, size_t len, unsigned seed) {
    for (size_t i = 0; i < len; i++)
        if (data[i] != (unsigned char)(seed * 37 + i * 11 + i / 256)) return 0;
    return 1;
}

static int is_untouched(const unsigned char *data, size_t len) {
    for (size_t i = 0; i < len; i++)
        if (data[i] != UNTOUCHED) return 0;
    return 1;
}

static unsigned char source[LONG], dest[LONG + 1], there_and_back[LONG];

/* ---- puts and gets ---- */

/* In one record, in two, by tag; none at all. */
static const size_t lengths[] = {0, 1, 8, 3968, 3969, 4096, 4097, 5000, LONG};

static void put_and_check(struct pe *p, size_t at, size_t len, enum rmai_when when) {
    struct pe *there = other_of(p);
    unsigned seed = 2 * (unsigned)when + (unsigned)p->me + 1;
    memset(there->memory, UNTOUCHED, HEAP);
    fill(source, len, seed);
    ck_assert_int_eq(put(p, at, source, len, when), RMA_SUCCESS);
    if (when != RMAI_LATER) memset(source, 0, len);
    ck_assert_int_eq(quiet(p), RMA_SUCCESS);
    ck_assert(is_untouched(there->memory, at));
    ck_assert(is_filled(there->memory + at, len, seed));
    ck_assert(is_untouched(there->memory + at + len, HEAP - at - len));
}

static void get_and_check(struct pe *p, size_t at, size_t len, enum rmai_when when) {
    unsigned seed = (unsigned)(100 + p->me);
    fill(other_of(p)->memory + at, len, seed);
    memset(dest, UNTOUCHED, sizeof dest);
    ck_assert_int_eq(get(p, at, dest, len, when), RMA_SUCCESS);
    if (when == RMAI_LATER) ck_assert_int_eq(quiet(p), RMA_SUCCESS);
    ck_assert(is_filled(dest, len, seed));
    ck_assert(is_untouched(dest + len, sizeof dest - len));
}

START_TEST(a_put_and_a_get_move_these_bytes_and_no_others) {
    /* A piece at the wrong place, a source that is read after the call, a call through a window that is not there: 0
     * bytes at offset 0 lie in a window of 0 bytes. */
    for (int me = 0; me < PES; me++)
        for (size_t at = 0; at < 100; at += 77) {
            put_and_check(&jobs[0].pe[me], at, lengths[_i], RMAI_NOW);
            put_and_check(&jobs[0].pe[me], at, lengths[_i], RMAI_LATER);
            put_and_check(&jobs[0].pe[me], at, lengths[_i], RMAI_COPIED);
            get_and_check(&jobs[0].pe[me], at, lengths[_i], RMAI_NOW);
            get_and_check(&jobs[0].pe[me], at, lengths[_i], RMAI_LATER);
        }
}
END_TEST

START_TEST(what_is_pending_is_said_until_quiet) {
    /* A quiet that is left out, since nothing seems to be pending, or that returns too early. */
    struct pe *p = &jobs[0].pe[0], *there = other_of(p);
    there->sleeps = 1;
    fill(source, 8, 1);
    ck_assert_int_eq(put(p, 8, source, 8, RMAI_LATER), RMA_SUCCESS);
    ck_assert_uint_eq(p->complete, 0);
    ck_assert_uint_eq(p->complete_too, 0);
    ck_assert(is_untouched(there->memory, MEMORY));
    ck_assert_int_eq(p->rests, 0);
    ck_assert_int_eq(quiet(p), RMA_SUCCESS);
    ck_assert_int_ge(p->rests, WAITED);
    ck_assert(is_filled(there->memory + 8, 8, 1));
    /* An atomic waits for puts, and not for other atomics and gets. */
    ck_assert_int_eq(add(p, 16, 8, 1, NULL, 0), RMA_SUCCESS);
    ck_assert_uint_eq(p->complete, RMA_PUTS_COMPLETE_);
    ck_assert_uint_eq(p->complete_too, RMA_PUTS_COMPLETE_);
    ck_assert_int_eq(put(p, 8, source, 8, RMAI_LATER), RMA_SUCCESS);
    ck_assert_uint_eq(p->complete, 0);
    ck_assert_uint_eq(p->complete_too, 0);
    ck_assert_int_eq(quiet(p), RMA_SUCCESS);
    ck_assert_uint_eq(p->complete, RMA_ALL_COMPLETE_);
    ck_assert_uint_eq(p->complete_too, RMA_ALL_COMPLETE_);
}
END_TEST

/* Both PEs ask, while neither is served; then both are. */
START_TEST(pes_that_ask_each_other_at_once_serve_each_other) {
    /* A PE that waits and does not serve the one that it waits for; a reply to a request of the other PE's number. */
    enum { SHORTS = 50 };
    static unsigned char fetched[PES][LONG];
    uint64_t values[PES][SHORTS];
    for (int me = 0; me < PES; me++) jobs[0].pe[me].sleeps = 1;
    fill(source, LONG, 1);
    for (int me = 0; me < PES; me++) {
        struct pe *p = &jobs[0].pe[me];
        ck_assert_int_eq(put(p, 0, source, LONG, RMAI_LATER), RMA_SUCCESS);
        fill(p->memory + LONG, 5000, (unsigned)me + 7);
        ck_assert_int_eq(get(p, LONG, fetched[me], 5000, RMAI_LATER), RMA_SUCCESS);
        for (int i = 0; i < SHORTS; i++) {
            values[me][i] = (uint64_t)(1000 * me + i);
            ck_assert_int_eq(put(p, LONG + 8192 + (size_t)i * 8, &values[me][i], 8, RMAI_COPIED), RMA_SUCCESS);
        }
    }
    for (int me = 0; me < PES; me++) {
        ck_assert(is_untouched(jobs[0].pe[me].memory, LONG));
        ck_assert_uint_eq(jobs[0].pe[me].complete, 0);
        jobs[0].pe[me].sleeps = 0;
    }
    for (int me = 0; me < PES; me++) ck_assert_int_eq(quiet(&jobs[0].pe[me]), RMA_SUCCESS);
    for (int me = 0; me < PES; me++) {
        const struct pe *p = &jobs[0].pe[me];
        ck_assert(is_filled(p->memory, LONG, 1));
        ck_assert(is_filled(fetched[me], 5000, (unsigned)!me + 7));
        for (int i = 0; i < SHORTS; i++)
            ck_assert_uint_eq(word_at(p, LONG + 8192 + (size_t)i * 8), (uint64_t)(1000 * !me + i));
    }
}
END_TEST

/* ---- atomics and signals ---- */

START_TEST(an_atomic_gives_the_value_before) {
    /* An old value of another record, half a word, an operand in the wrong half. */
    struct pe *p = &jobs[0].pe[0], *there = other_of(p);
    uint64_t old = 0;
    uint32_t half = 0;
    set_word(there, 16, 5);
    ck_assert_int_eq(add(p, 16, 8, 7, &old, 0), RMA_SUCCESS);
    ck_assert_uint_eq(old, 5);
    ck_assert_uint_eq(word_at(there, 16), 12);
    ck_assert_int_eq(op_atomic("rma_cswap", p->set, 1, 16, RMA_COMPARE_SWAP_, 8, 100, 11, &old, 0), RMA_SUCCESS);
    ck_assert_uint_eq(old, 12);
    ck_assert_uint_eq(word_at(there, 16), 12);
    ck_assert_int_eq(op_atomic("rma_cswap", p->set, 1, 16, RMA_COMPARE_SWAP_, 8, 100, 12, &old, 0), RMA_SUCCESS);
    ck_assert_uint_eq(old, 12);
    ck_assert_uint_eq(word_at(there, 16), 100);
    set_word(there, 16, UINT64_MAX);
    ck_assert_int_eq(add(p, 20, 4, 2, &half, 0), RMA_SUCCESS);
    ck_assert_uint_eq(half, UINT32_MAX);
    ck_assert_uint_eq(word_at(there, 16), (uint64_t)1 << 32 | UINT32_MAX);
}
END_TEST

START_TEST(adds_that_nobody_waits_for_are_all_done_at_quiet) {
    /* A lost or doubled record; a stream that goes in a message for each record. */
    enum { ADDS = 1000 };
    static uint64_t old[ADDS];
    struct pe *p = &jobs[0].pe[0], *there = other_of(p);
    set_word(there, 0, 0);
    for (int i = 0; i < ADDS; i++) ck_assert_int_eq(add(p, 0, 8, 3, NULL, 1), RMA_SUCCESS);
    ck_assert_int_eq(quiet(p), RMA_SUCCESS);
    ck_assert_uint_eq(word_at(there, 0), 3 * ADDS);
    for (int i = 0; i < ADDS; i++) ck_assert_int_eq(add(p, 0, 8, 1, &old[i], 1), RMA_SUCCESS);
    ck_assert_int_eq(quiet(p), RMA_SUCCESS);
    for (int i = 0; i < ADDS; i++) ck_assert_uint_eq(old[i], 3 * ADDS + (uint64_t)i);
    ck_assert_uint_eq(there->traffic.more[RMAI_SERVED], 2 * ADDS);
    ck_assert_uint_eq(p->traffic.more[RMAI_HEARD], p->traffic.more[RMAI_SENT]);
    ck_assert_uint_le(p->traffic.more[RMAI_SENT], ADDS / 4);
}
END_TEST

static void put_signal_and_check(struct pe *p, size_t len, size_t word_len) {
    struct pe *there = other_of(p);
    uint64_t word = MEMORY - 8;
    int turns = 0;
    memset(there->memory, UNTOUCHED, HEAP);
    set_word(there, word, 0);
    fill(source, len, 3);
    p->sleeps = there->sleeps = 1;
    ck_assert_int_eq(op_put_signal("rma_put_signal", p->set, there->me, 8, source, len, word, RMA_FETCH_ADD_, word_len,
                                   9, RMAI_LATER),
                     RMA_SUCCESS);
    for (; word_at(there, word) == 0 && turns < TURNS; turns++) {
        rmai_net_progress(there->net, 1);
        if (word_at(there, word) == 0) rmai_net_progress(p->net, 1);
    }
    ck_assert_int_lt(turns, TURNS);
    ck_assert_uint_eq(word_at(there, word), 9);
    ck_assert(is_filled(there->memory + 8, len, 3));
    ck_assert(is_untouched(there->memory + 8 + len, HEAP - 8 - len));
    p->sleeps = there->sleeps = 0;
    ck_assert_int_eq(quiet(p), RMA_SUCCESS);
    ck_assert_uint_eq(word_at(there, word), 9);
}

START_TEST(a_signal_comes_after_its_data) {
    /* A signal that is sent with the request for long data, or that does not come, or twice. */
    for (int me = 0; me < PES; me++) {
        struct pe *p = &jobs[0].pe[me];
        put_signal_and_check(p, 0, 8);
        put_signal_and_check(p, 24, 8);
        put_signal_and_check(p, 24, 4);
        put_signal_and_check(p, 3968, 8);
        put_signal_and_check(p, 3969, 8);
        put_signal_and_check(p, LONG, 8);
    }
}
END_TEST

START_TEST(a_signal_comes_after_the_puts_before_it) {
    /* A short signal that overtakes long data. */
    struct pe *p = &jobs[0].pe[0], *there = other_of(p);
    const uint64_t word = MEMORY - 8;
    set_word(there, word, 0);
    fill(source, LONG, 4);
    there->sleeps = 1;
    ck_assert_int_eq(put(p, 0, source, LONG, RMAI_LATER), RMA_SUCCESS);
    ck_assert_int_eq(op_put_signal("rma_put_signal", p->set, 1, 0, source, 0, word, RMA_SET_, 8, 1, RMAI_NOW),
                     RMA_SUCCESS);
    ck_assert(is_filled(there->memory, LONG, 4));
    ck_assert_int_eq(quiet(p), RMA_SUCCESS);
    ck_assert_uint_eq(word_at(there, word), 1);
}
END_TEST

/* ---- runs, and requests that are counted ---- */

/* Sets of their own, each of which has a message under way at once. */
#define SETS 6
static struct rmai_pending *set[SETS];
static uint32_t nothing_in[SETS];

static void open_sets(struct pe *p) {
    for (int i = 0; i < SETS; i++)
        ck_assert_int_eq(rmai_pending_open(p->net, &nothing_in[i], &nothing_in[i], &p->traffic, &set[i]), RMA_SUCCESS);
}

static void close_sets(void) {
    for (int i = 0; i < SETS; i++) {
        ck_assert_int_eq(rmai_net_quiet("rma_ctx_quiet", set[i]), RMA_SUCCESS);
        rmai_pending_close(set[i]);
    }
}

static int put_by(struct pe *p, int i, uint64_t offset, uint64_t value) {
    return op_put("rma_ctx_put", set[i], !p->me, offset, &value, sizeof value, RMAI_NOW);
}

/* Hears all that has come. */
static void hear_all(struct pe *p) {
    rmai_net_lock(p->net);
    rmai_net_drive(p->net);
    rmai_net_unlock(p->net);
}

START_TEST(a_request_is_done_in_its_order) {
    /* Runs that are sorted, or of which one comes before the record that ended it; an item of the wrong element. */
    enum { ROUNDS = 30 };
    static uint64_t old[ROUNDS][3];
    static unsigned char bytes[ROUNDS][5];
    struct pe *p = &jobs[0].pe[0], *there = other_of(p);
    there->direct = _i ? HEAP : 0;
    there->sleeps = 1;
    for (uint64_t i = 0; i < ROUNDS; i++) {
        const uint64_t put_there[] = {1000 * i, 1000 * i + 500};
        for (size_t k = 0; k < 3; k++)
            ck_assert_int_eq(put(p, 128 + k * 8, &put_there[0], 8, RMAI_COPIED), RMA_SUCCESS);
        ck_assert_int_eq(add(p, 128, 8, 7, NULL, 1), RMA_SUCCESS);
        ck_assert_int_eq(add(p, 128, 8, 1, &old[i][0], 1), RMA_SUCCESS);
        ck_assert_int_eq(add(p, 128, 8, 1, &old[i][1], 1), RMA_SUCCESS);
        ck_assert_int_eq(put(p, 128, &put_there[1], 8, RMAI_COPIED), RMA_SUCCESS);
        ck_assert_int_eq(get(p, 128, &old[i][2], 8, RMAI_LATER), RMA_SUCCESS);
        ck_assert_int_eq(get(p, 128 + 16, bytes[i], 5, RMAI_LATER), RMA_SUCCESS);
    }
    ck_assert_int_eq(quiet(p), RMA_SUCCESS);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        const uint64_t first = 1000 * i;
        ck_assert_uint_eq(old[i][0], first + 7);
        ck_assert_uint_eq(old[i][1], first + 8);
        ck_assert_uint_eq(old[i][2], first + 500);
        ck_assert_int_eq(memcmp(bytes[i], &first, 5), 0);
    }
    ck_assert_uint_eq(there->traffic.more[RMAI_SERVED], 9 * ROUNDS);
    ck_assert_int_eq(there->locates == 0, _i);
}
END_TEST

START_TEST(puts_of_a_stream_go_in_one_record) {
    /* A record for each put; a put that is left out, or done twice, where a message is full. */
    enum { PUTS = 1000 };
    struct pe *p = &jobs[0].pe[0], *there = other_of(p);
    for (size_t i = 0; i < PUTS; i++) {
        const uint64_t value = i * i + 1;
        ck_assert_int_eq(put(p, i * 8, &value, 8, RMAI_COPIED), RMA_SUCCESS);
    }
    ck_assert_int_eq(quiet(p), RMA_SUCCESS);
    for (size_t i = 0; i < PUTS; i++) ck_assert_uint_eq(word_at(there, i * 8), i * i + 1);
    ck_assert(is_untouched(there->memory + PUTS * 8, HEAP - PUTS * 8));
    ck_assert_uint_eq(there->traffic.more[RMAI_SERVED], PUTS);
    ck_assert_int_eq(there->queues.sent[RMAI_WIRE_REPLY], 0);
    ck_assert_int_eq(there->queues.told, p->queues.sent[RMAI_WIRE_REQUEST]);
}
END_TEST

START_TEST(only_what_is_not_steady_is_located) {
    /* A range that begins before the direct memory, or passes its end, and is touched without a look. */
    static const struct {
        uint64_t offset;
        size_t len;
        int locates;
    } ranges[] = {{DIRECT_AT, 8, 0},        {DIRECT_AT + 1024 - 8, 8, 0}, {DIRECT_AT, 1024, 0},
                  {DIRECT_AT - 1, 8, 1},    {DIRECT_AT - 8, 8, 1},        {DIRECT_AT + 1024 - 7, 8, 1},
                  {DIRECT_AT + 1024, 8, 1}, {DIRECT_AT, 1025, 1},         {DIRECT_AT + 8, 0, 0}};
    struct pe *p = &jobs[0].pe[0], *there = other_of(p);
    there->direct = 1024;
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        there->locates = 0;
        put_and_check(p, ranges[i].offset, ranges[i].len, RMAI_NOW);
        ck_assert_int_eq(there->locates, ranges[i].locates);
    }
    ck_assert_int_eq(put(p, RMA_GPTR_ATTACHED_ + DIRECT_AT, source, 8, RMAI_NOW), RMA_SUCCESS);
    ck_assert_int_eq(there->locates, 1 + ranges[8].locates);
}
END_TEST

START_TEST(a_request_that_gives_nothing_is_counted) {
    /* A reply for each message; a request that is told of twice, or not, or by a message that was sent before. */
    struct pe *p = &jobs[0].pe[0], *there = other_of(p);
    struct queues *q = &there->queues;
    uint64_t old = 0;
    open_sets(p);
    p->sleeps = there->sleeps = 1;
    set_word(there, 8, 5);

    /* At once, where nothing else is to be sent. */
    ck_assert_int_eq(put_by(p, 0, 0, 11), RMA_SUCCESS);
    hear_all(there);
    ck_assert_uint_eq(word_at(there, 0), 11);
    ck_assert_int_eq(q->sent[RMAI_WIRE_DONE], 1);
    ck_assert_int_eq(q->told, 1);
    hear_all(p);
    ck_assert_int_eq(rmai_flow_under_way(set[0]->busy), 0);

    /* With the reply of a request that came later. */
    ck_assert_int_eq(put_by(p, 0, 0, 12), RMA_SUCCESS);
    ck_assert_int_eq(op_atomic("rma_add", set[1], 1, 8, RMA_FETCH_ADD_, 8, 1, 0, &old, 1), RMA_SUCCESS);
    hear_all(there);
    ck_assert_int_eq(q->sent[RMAI_WIRE_DONE], 1);
    ck_assert_int_eq(q->sent[RMAI_WIRE_REPLY], 1);
    ck_assert_int_eq(q->told, 2);
    hear_all(p);
    ck_assert_int_eq(rmai_flow_under_way(set[0]->busy), 0);
    ck_assert_int_eq(rmai_flow_under_way(set[1]->busy), 0);
    ck_assert_uint_eq(old, 5);

    /* By count, where many come; while that message is under way, the others wait for the next one. */
    for (int i = 0; i < SETS; i++) ck_assert_int_eq(put_by(p, i, 16 + 8 * (uint64_t)i, 20), RMA_SUCCESS);
    hear_all(there);
    ck_assert_int_eq(q->sent[RMAI_WIRE_DONE], 2);
    ck_assert_int_eq(q->told, 2 + RMAI_UNACKNOWLEDGED_MOST);
    hear_all(p);
    for (int i = 0; i < SETS; i++) ck_assert_int_eq(rmai_flow_under_way(set[i]->busy), i >= RMAI_UNACKNOWLEDGED_MOST);
    hear_all(there);
    ck_assert_int_eq(q->sent[RMAI_WIRE_DONE], 3);
    ck_assert_int_eq(q->told, 2 + SETS);
    hear_all(p);
    for (int i = 0; i < SETS; i++) ck_assert_int_eq(rmai_flow_under_way(set[i]->busy), 0);
    hear_all(there);
    ck_assert_int_eq(q->sent[RMAI_WIRE_DONE], 3);
    ck_assert_int_eq(q->sent[RMAI_WIRE_REPLY], 1);
    close_sets();
    ck_assert_int_eq(p->rests, 0);
}
END_TEST

#define TURNS_FIRST 8 /* of two PEs, before the first acknowledgement is delayed: HITS_FIRST of flow.c */

/* One turn of two PEs: p's put, of which the other one hears, and its own. Returns 1 if it delayed the acknowledgement
 * for that. The hits before this turn decide, however long a turn takes. */
static int take_turns(struct pe *p, struct rmai_link *link, uint64_t i) {
    struct pe *there = other_of(p);
    const int keeps = link->hits >= (link->hits_needed ? link->hits_needed : TURNS_FIRST);
    const int told = there->queues.sent[RMAI_WIRE_DONE];
    int kept;
    put(p, 0, &i, 8, RMAI_NOW);
    rmai_net_progress(there->net, 1);
    kept = link->unacknowledged == 1;
    REQUIRE(kept == keeps && there->queues.sent[RMAI_WIRE_DONE] == told + !kept,
            "in turn %d the acknowledgement is %sdelayed, after %u hits of %u", (int)i, kept ? "" : "not ", link->hits,
            link->hits_needed);
    put(there, 8, &i, 8, RMAI_NOW);
    REQUIRE(link->unacknowledged == 0, "%u acknowledgements do not go with the request", link->unacknowledged);
    while (rmai_net_progress(p->net, 1)) continue;
    REQUIRE(p->queues.coming == NULL, "PE 0 has not heard all");
    while (rmai_net_progress(there->net, 1)) continue;
    return kept;
}

START_TEST(an_acknowledgement_is_delayed_where_two_pes_take_turns) {
    /* An acknowledgement that is delayed though no message is to be expected, one that does not go with that message,
     * or is never sent. Where a turn takes long, as under valgrind, none is ever delayed. */
    struct pe *p = &jobs[0].pe[0], *there = other_of(p);
    const char *wrap = getenv("RMA_TEST_WRAP");
    struct rmai_link *link = rmai_link_to(there->net, p->me);
    uint64_t i = 1;
    int kept = 0;
    p->sleeps = there->sleeps = 1;
    ck_assert_ptr_nonnull(link);
    there->net->helped = 1;
    for (; i <= 100 * TURNS && kept < 100; i++) kept += take_turns(p, link, i);
    if (wrap && *wrap && kept < 100) return;
    ck_assert_int_eq(kept, 100);
    ck_assert_int_ge((int)i, 100 + TURNS_FIRST);

    /* PE 1 goes off to compute: whoever drives next, and hears nothing, tells. PE 0 does not mind. */
    while (link->hits < link->hits_needed) take_turns(p, link, i++);
    const unsigned needed = link->hits_needed;
    const int told = there->queues.told;
    put(p, 0, &i, 8, RMAI_NOW);
    rmai_net_progress(there->net, 1);
    ck_assert_uint_eq(link->unacknowledged, 1);
    ck_assert_int_eq(there->queues.told, told);
    link->since -= (uint64_t)1 << 40; /* it has computed for long */
    rmai_net_progress(there->net, 1);
    ck_assert_uint_eq(link->unacknowledged, 0);
    ck_assert_int_eq(there->queues.told, told + 1);
    ck_assert_uint_eq(link->hits, 0);
    rmai_net_progress(p->net, 1);
    ck_assert_int_eq(quiet(p), RMA_SUCCESS);
    ck_assert_int_eq(p->rests, 0);
    ck_assert_uint_eq(word_at(there, 0), i);
    take_turns(p, link, ++i);
    ck_assert_uint_eq(link->hits_needed, needed);

    /* Nor does it where PE 1 delayed nothing, however long it slept. */
    link->hits = 0;
    put(p, 0, &i, 8, RMAI_NOW);
    ck_assert_int_eq(quiet(p), RMA_SUCCESS);
    ck_assert_int_eq(p->rests, WAITED);
    there->sleeps = 1;
    take_turns(p, link, ++i);
    ck_assert_uint_eq(link->hits_needed, needed);

    /* It sleeps until PE 1 tells, and says so: then more turns are asked for. */
    while (link->hits < link->hits_needed) take_turns(p, link, ++i);
    put(p, 0, &i, 8, RMAI_NOW);
    rmai_net_progress(there->net, 1);
    ck_assert_uint_eq(link->unacknowledged, 1);
    link->since -= (uint64_t)1 << 40;
    p->rests = 0;
    ck_assert_int_eq(quiet(p), RMA_SUCCESS);
    ck_assert_int_eq(p->rests, WAITED);
    there->sleeps = 1;
    take_turns(p, link, ++i);
    ck_assert_uint_eq(link->hits_needed, 2 * needed);
    take_turns(p, link, ++i);
    ck_assert_uint_eq(link->hits_needed, 2 * needed);

    /* The progress thread tells at its first look. */
    while (link->hits < link->hits_needed) take_turns(p, link, ++i);
    put(p, 0, &i, 8, RMAI_NOW);
    rmai_net_progress(there->net, 1);
    ck_assert_uint_eq(link->unacknowledged, 1);
    ck_assert_int_eq(rmai_net_visit(there->net), 1);
    rmai_net_drive(there->net);
    rmai_net_end_visit(there->net);
    ck_assert_uint_eq(link->unacknowledged, 0);
    rmai_net_progress(p->net, 1);
    there->net->helped = 0;
}
END_TEST

static void hear_without_memory(struct pe *p) {
    missing = SIZE_MAX;
    for (int i = 0; i < 3; i++) hear_all(p);
    missing = 0;
}

START_TEST(without_memory_a_request_is_answered_all_the_same) {
    /* A request that nobody ever hears of again, one that is done twice. */
    struct pe *p = &jobs[0].pe[0], *there = other_of(p);
    struct rmai_link *link;
    uint64_t old = 0;
    open_sets(p);
    p->sleeps = there->sleeps = 1;
    set_word(there, 8, 5);

    /* None to count in: a reply says it. */
    ck_assert_int_eq(put_by(p, 0, 0, 1), RMA_SUCCESS);
    missing = sizeof(struct rmai_link);
    hear_all(there);
    missing = 0;
    ck_assert_int_eq(there->queues.sent[RMAI_WIRE_REPLY], 1);
    ck_assert_int_eq(there->queues.told, 0);
    hear_all(p);
    ck_assert_int_eq(rmai_flow_under_way(set[0]->busy), 0);
    hear_all(there);

    /* None for another reply while one is under way: the request stays, and what it tells of is counted once. */
    p->net->helped = 1;
    ck_assert_int_eq(op_atomic("rma_add", set[0], 1, 8, RMA_FETCH_ADD_, 8, 1, 0, &old, 1), RMA_SUCCESS);
    ck_assert_int_eq(put(there, 0, source, 8, RMAI_NOW), RMA_SUCCESS);
    link = rmai_link_to(p->net, 1);
    link->hits = link->hits_needed = TURNS_FIRST; /* this acknowledgement is to be delayed */
    rmai_net_progress(p->net, 1);
    ck_assert_uint_eq(link->unacknowledged, 1);
    ck_assert_int_eq(put_by(p, 1, 0, 2), RMA_SUCCESS);
    ck_assert_uint_eq(link->unacknowledged, 0);
    hear_without_memory(there);
    ck_assert_int_eq(there->queues.sent[RMAI_WIRE_REPLY], 2);
    ck_assert_uint_eq(word_at(there, 8), 6);
    ck_assert_uint_eq(word_at(there, 0), 1);
    ck_assert_int_eq(rmai_flow_under_way(there->set->busy), 1);
    hear_all(p);
    ck_assert_uint_eq(old, 5);
    hear_without_memory(there);
    ck_assert_uint_eq(word_at(there, 0), 2);
    ck_assert_int_eq(rmai_flow_under_way(there->set->busy), 0);
    hear_all(p);
    ck_assert_int_eq(rmai_flow_under_way(set[1]->busy), 0);
    p->net->helped = 0;
    close_sets();
    ck_assert_int_eq(p->rests, 0);
}
END_TEST

START_TEST(without_memory_for_a_first_request_nothing_is_waited_for) {
    /* A wait for messages of others, whose end does not bring the memory that is missing. */
    struct pe *p = &jobs[0].pe[0];
    int code;
    ck_assert_int_eq(put(p, 0, source, 8, RMAI_NOW), RMA_SUCCESS);
    ck_assert_int_eq(quiet(p), RMA_SUCCESS);
    open_sets(p);
    rmai_flows_close(p->net); /* as if no PE had been asked before */
    missing = sizeof(struct rmai_link);
    code = put_by(p, 0, 0, 1);
    missing = 0;
    ck_assert_int_eq(code, RMA_ERR_NO_MEM);
    ck_assert_str_eq(rma_last_error(), "rma_ctx_put: no memory for a request to PE 1");
    ck_assert_int_eq(put_by(p, 0, 0, 1), RMA_SUCCESS);
    close_sets();
    ck_assert_uint_eq(word_at(other_of(p), 0), 1);
}
END_TEST

START_TEST(without_memory_for_a_transfer_nothing_is_waited_for) {
    /* A message without records that is left behind: then nothing is under way, and a wait for room never ends. */
    struct pe *p = &jobs[0].pe[0];
    int code;
    open_sets(p);
    missing = sizeof(struct rmai_transfer);
    code = put(p, 0, source, LONG, RMAI_NOW);
    missing = 0;
    ck_assert_int_eq(code, RMA_ERR_NO_MEM);
    missing = sizeof(struct rmai_message);
    code = put_by(p, 1, 0, 1);
    missing = 0;
    ck_assert(code == RMA_SUCCESS || code == RMA_ERR_NO_MEM);
    ck_assert_int_eq(put_by(p, 1, 0, 2), RMA_SUCCESS);
    close_sets();
    ck_assert_uint_eq(word_at(other_of(p), 0), 2);
}
END_TEST

START_TEST(after_a_long_get_a_put_leaves_at_once) {
    /* A get that returns while its request counts as under way: a put that follows would stay here. */
    struct pe *p = &jobs[0].pe[0], *there = other_of(p);
    fill(there->memory, LONG, 4);
    ck_assert_int_eq(get(p, 0, there_and_back, LONG, RMAI_NOW), RMA_SUCCESS);
    ck_assert(is_filled(there_and_back, LONG, 4));
    there->sleeps = 1;
    ck_assert_int_eq(put(p, 0, source, 8, RMAI_NOW), RMA_SUCCESS);
    ck_assert_int_eq(there->queues.unread, 1);
    there->sleeps = 0;
    ck_assert_int_eq(quiet(p), RMA_SUCCESS);
}
END_TEST

/* ---- blocks and extents ---- */

START_TEST(blocks_come_from_the_owner_and_go_back_to_it) {
    /* A pointer of another PE's reply, a free that is not done when the call returns, an owner's error that is lost.
     */
    struct pe *p = &jobs[0].pe[0], *there = other_of(p);
    uint64_t block[2] = {0, 0}, none = 77;
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_int_eq(rmai_net_alloc("rma_alloc", p->set, 1, BLOCK, &block[i]), RMA_SUCCESS);
        ck_assert_uint_eq(block[i], HEAP + i * BLOCK);
    }
    ck_assert_int_eq(there->blocks, 2);
    ck_assert_int_eq(p->blocks, 0);
    fill(source, BLOCK, 2);
    ck_assert_int_eq(put(p, block[1], source, BLOCK, RMAI_NOW), RMA_SUCCESS);
    ck_assert_int_eq(quiet(p), RMA_SUCCESS);
    ck_assert(is_untouched(there->memory, HEAP + BLOCK));
    ck_assert(is_filled(there->memory + HEAP + BLOCK, BLOCK, 2));
    ck_assert_int_eq(rmai_net_alloc("rma_alloc", p->set, 1, BLOCK + 1, &none), RMA_ERR_NO_MEM);
    ck_assert_str_eq(rma_last_error(), "rma_alloc: PE 1 has no 65 bytes");
    ck_assert_uint_eq(none, 77);
    for (unsigned i = 2; i-- > 0;) ck_assert_int_eq(rmai_net_free("rma_free", p->set, 1, block[i]), RMA_SUCCESS);
    ck_assert_int_eq(there->blocks, 0);
    ck_assert_int_eq(rmai_net_free("rma_free", p->set, 1, block[0]), RMA_ERR_ADDRESS);
    ck_assert_str_eq(rma_last_error(), "rma_free: PE 1 has no block at 0x70000");
}
END_TEST

START_TEST(an_extent_is_remembered_and_never_shrinks) {
    /* A question for each access, or a reply that is older than what is known. */
    struct pe *p = &jobs[0].pe[0], *there = other_of(p);
    size_t extent = 1;
    there->extent[RMAI_OWN] = 4096;
    there->extent[RMAI_GUEST] = 12288;
    ck_assert_int_eq(rmai_net_extent("rma_get", p->set, 1, RMAI_GUEST, 0, &extent), RMA_SUCCESS);
    ck_assert_uint_eq(extent, 0);
    ck_assert_int_eq(rmai_net_extent("rma_get", p->set, 1, RMAI_GUEST, 1, &extent), RMA_SUCCESS);
    ck_assert_uint_eq(extent, 12288);
    ck_assert_int_eq(rmai_net_extent("rma_get", p->set, 1, RMAI_OWN, 0, &extent), RMA_SUCCESS);
    ck_assert_uint_eq(extent, 4096);
    ck_assert_uint_eq(there->traffic.more[RMAI_SERVED], 1);
    there->extent[RMAI_GUEST] = 1;
    ck_assert_int_eq(rmai_net_extent("rma_get", p->set, 1, RMAI_GUEST, 1, &extent), RMA_SUCCESS);
    ck_assert_uint_eq(extent, 12288);
}
END_TEST

/* ---- the dynamic window ---- */

/* Puts and gets of every length go through the window. All of each PE's memory is one part, its local heap's, of which
 * nothing is attached yet. */
static void open_windows(struct job *job) {
    for (int me = 0; me < PES; me++) {
        struct pe *p = &job->pe[me];
        char *const parts[RMAI_PARTS] = {[RMAI_PART_LOCAL] = (char *)p->memory};
        p->facts.layout = (struct rmai_layout){.guest = RMA_GPTR_ATTACHED_};
        p->net->dynamic.open = 1;
        for (int part = 0; part < RMAI_PARTS; part++) p->net->dynamic.parts[part] = 1;
        rmai_dynamic_open(p->net, &p->directory, parts);
        memset(p->net->ways.least_by_window, 0, sizeof p->net->ways.least_by_window);
        for (int access = 0; access < RMAI_ACCESSES; access++) {
            p->net->ways.way[RMAI_DYNAMIC].all[access] = 1;
            for (int when = 0; when <= RMAI_COPIED; when++)
                p->net->ways.way[RMAI_DYNAMIC].takes[access][when] = (struct rmai_lengths){0, SIZE_MAX};
        }
    }
}

static void open_one_with_windows(void) {
    open_job(&jobs[0]);
    open_windows(&jobs[0]);
}

/* ---- heaps in the window ---- */

#define STEP ((size_t)256 << 10)

/* What others learn of this PE: so much of its memory is there. */
static void grow_to(struct pe *p, size_t size, int all) {
    rmai_dynamic_follow(p->net, RMAI_PART_LOCAL, size, all);
    p->extent[RMAI_OWN] = size;
}

static void learn(struct pe *p) {
    size_t extent = 0;
    ck_assert_int_eq(rmai_net_extent("rma_put", p->set, !p->me, RMAI_OWN, 1, &extent), RMA_SUCCESS);
    ck_assert_uint_eq(extent, other_of(p)->extent[RMAI_OWN]);
}

START_TEST(a_stream_takes_no_atomic_that_has_to_wait_for_a_put) {
    /* A signal that arrives before the data to which it belongs. */
    struct pe *p = &jobs[0].pe[0], *there = other_of(p);
    struct rmai_streams *streams = rmai_pending_streams(p->set);
    struct rmai_stream *s = rmai_stream_at(streams, there->me);
    const uint64_t plus = rmai_stream_best_key(rmai_stream_key(there->me, RMAI_RECORD_ATOMIC, RMA_FETCH_ADD_, 0, 8), 8);
    fill(source, 8, 3);
    set_word(there, 16, 0);
    grow_to(there, STEP, 0);
    learn(p);
    p->rests = 0;
    there->sleeps = 1;
    for (int i = 0; i < 3; i++) ck_assert_int_eq(add(p, 16, 8, 1, NULL, 1), RMA_SUCCESS);
    ck_assert(rmai_stream_atomic(streams, s, plus, 16 - s->base, 1, 8, NULL));
    ck_assert_int_eq(put(p, 8, source, 8, RMAI_LATER), RMA_SUCCESS);
    ck_assert(!rmai_stream_atomic(streams, s, plus, 16 - s->base, 1, 8, NULL));
    ck_assert_int_eq(p->rests, 0);
    ck_assert_int_eq(add(p, 16, 8, 1, NULL, 1), RMA_SUCCESS);
    ck_assert_int_ge(p->rests, WAITED);
    ck_assert(is_filled(there->memory + 8, 8, 3));
    ck_assert_int_eq(quiet(p), RMA_SUCCESS);
    ck_assert_uint_eq(word_at(there, 16), 5);
}
END_TEST

START_TEST(attached_memory_is_accessed_by_messages) {
    /* An access through the window to memory that the program may detach meanwhile. The offsets of attached memory come
     * after those of the guest part: here that is in the window, as far as its offsets would reach. */
    struct pe *p = &jobs[0].pe[0], *there = other_of(p);
    there->directory.address[RMAI_PART_GUEST] = (uint64_t)(uintptr_t)there->attached;
    rmai_dynamic_follow(there->net, RMAI_PART_GUEST, STEP, 0);
    ck_assert_uint_eq(there->directory.attached[RMAI_PART_GUEST], STEP);
    grow_to(there, STEP, 0);
    learn(p);
    for (size_t i = 1; i < sizeof lengths / sizeof lengths[0]; i++) {
        const size_t len = rmai_min(lengths[i], STEP - 8);
        const uint64_t at = RMA_GPTR_ATTACHED_ + 8;
        fill(source, len, (unsigned)i);
        memset(dest, UNTOUCHED, sizeof dest);
        ck_assert_int_eq(put(p, at, source, len, RMAI_NOW), RMA_SUCCESS);
        ck_assert_int_eq(quiet(p), RMA_SUCCESS);
        ck_assert_int_eq(get(p, at, dest, len, RMAI_NOW), RMA_SUCCESS);
        ck_assert(is_filled(there->attached + 8, len, (unsigned)i));
        ck_assert(is_filled(dest, len, (unsigned)i));
    }
    ck_assert_int_eq(p->queues.accesses, 0);
}
END_TEST

START_TEST(no_access_crosses_the_end_of_a_step) {
    /* check_windowed asks that one attached piece has all of an access. */
    struct pe *p = &jobs[0].pe[0], *there = other_of(p);
    grow_to(there, 2 * STEP, 0);
    ck_assert_int_eq(there->queues.attached, 2);
    ck_assert_uint_eq(there->directory.attached[RMAI_PART_LOCAL], 2 * STEP);
    for (size_t before = 0; before <= 9; before += 3) {
        memset(there->memory, UNTOUCHED, MEMORY);
        p->queues.accesses = 0;
        fill(source, 1000, (unsigned)before);
        ck_assert_int_eq(put(p, STEP - before, source, 1000, RMAI_LATER), RMA_SUCCESS);
        ck_assert_int_eq(p->queues.accesses, before ? 2 : 1);
        ck_assert_int_eq(quiet(p), RMA_SUCCESS);
        ck_assert_ptr_null(p->queues.begun);
        ck_assert(is_untouched(there->memory, STEP - before));
        ck_assert(is_filled(there->memory + STEP - before, 1000, (unsigned)before));
        ck_assert(is_untouched(there->memory + STEP - before + 1000, MEMORY - STEP + before - 1000));
        memset(dest, 0, 1000);
        ck_assert_int_eq(get(p, STEP - before, dest, 1000, RMAI_NOW), RMA_SUCCESS);
        ck_assert(is_filled(dest, 1000, (unsigned)before));
    }
    ck_assert_int_eq(there->locates, 0);
}
END_TEST

START_TEST(the_source_of_a_put_is_free_when_it_returns) {
    /* A copy of a short source that is written over before MPI has read it; a flush for each put. MPI here reads at the
     * flush. */
    static const size_t put_lengths[] = {8, 1, 1024, 1025};
    struct pe *p = &jobs[0].pe[0], *there = other_of(p);
    enum { PUTS = 100 };
    grow_to(there, 2 * STEP, 0);
    for (size_t k = 0; k < sizeof put_lengths / sizeof put_lengths[0]; k++)
        for (int without = 0; without < 2; without++) { /* without: there is no memory for copies */
            const size_t len = put_lengths[k];
            int flushes;
            memset(there->memory, UNTOUCHED, MEMORY);
            free(p->set->copies);
            p->set->copies = NULL;
            if (without) missing = RMAI_COPY_ROOM;
            p->queues.flushes = 0;
            for (unsigned i = 0; i < PUTS; i++) {
                fill(source, len, i);
                ck_assert_int_eq(put(p, 7 + i * (len + 3), source, len, RMAI_NOW), RMA_SUCCESS);
            }
            flushes = p->queues.flushes;
            ck_assert_int_eq(quiet(p), RMA_SUCCESS);
            missing = 0;
            ck_assert_ptr_null(p->queues.begun);
            for (unsigned i = 0; i < PUTS; i++) {
                ck_assert(is_filled(there->memory + 7 + i * (len + 3), len, i));
                ck_assert(is_untouched(there->memory + 7 + i * (len + 3) + len, 3));
            }
            if (without || len > RMAI_COPY_MOST)
                ck_assert_int_eq(flushes, PUTS);
            else
                ck_assert_int_eq(flushes, PUTS * len > RMAI_COPY_ROOM ? (int)(PUTS * len / RMAI_COPY_ROOM) : 0);
        }
}
END_TEST

START_TEST(what_is_not_attached_goes_by_messages_until_it_is) {
    /* Bytes beyond what is attached; a growth that is never learned; one question for each access. */
    struct pe *p = &jobs[0].pe[0], *there = other_of(p);
    uint64_t asked;
    grow_to(there, STEP + 4096, 0); /* the second step is not whole: it waits for more */
    ck_assert_int_eq(there->queues.attached, 1);
    ck_assert_uint_eq(there->directory.attached[RMAI_PART_LOCAL], STEP);
    fill(source, 100, 3);
    ck_assert_int_eq(put(p, STEP - 100, source, 100, RMAI_NOW), RMA_SUCCESS);
    ck_assert_int_eq(p->queues.accesses, 1);
    ck_assert_int_eq(quiet(p), RMA_SUCCESS); /* the next put overlaps it, and goes another way */
    ck_assert_int_eq(put(p, STEP - 99, source, 100, RMAI_NOW), RMA_SUCCESS);
    ck_assert_int_eq(put(p, STEP + 200, source, 100, RMAI_NOW), RMA_SUCCESS);
    ck_assert_int_eq(quiet(p), RMA_SUCCESS);
    ck_assert_int_eq(p->queues.accesses, 1);
    ck_assert(is_filled(there->memory + STEP + 200, 100, 3));
    ck_assert(is_filled(there->memory + STEP - 99, 100, 3));
    grow_to(there, 2 * STEP, 0);
    learn(p);
    asked = there->traffic.more[RMAI_SERVED];
    ck_assert_int_eq(put(p, STEP + 200, source, 100, RMAI_NOW), RMA_SUCCESS);
    ck_assert_int_eq(quiet(p), RMA_SUCCESS);
    ck_assert_int_eq(p->queues.accesses, 2);
    ck_assert_uint_eq(there->traffic.more[RMAI_SERVED], asked);
}
END_TEST

START_TEST(what_grows_on_all_pes_is_learned_anew) {
    /* The symmetric heap: nobody asks for its extent. */
    struct pe *p = &jobs[0].pe[0], *there = other_of(p);
    uint64_t asked;
    for (int me = 0; me < PES; me++) {
        struct pe *q = &jobs[0].pe[me];
        q->facts.layout.local = MEMORY;
        q->directory.address[RMAI_PART_SYMMETRIC] = (uint64_t)(uintptr_t)q->memory;
        rmai_dynamic_follow(q->net, RMAI_PART_SYMMETRIC, STEP, 0);
    }
    fill(source, 100, 4);
    ck_assert_int_eq(put(p, 50, source, 100, RMAI_NOW), RMA_SUCCESS);
    ck_assert_int_eq(p->queues.accesses, 1);
    /* What is beyond is not asked for again and again. */
    asked = there->traffic.more[RMAI_SERVED];
    for (int i = 0; i < 3; i++) ck_assert_int_eq(put(p, STEP - 50, source, 100, RMAI_NOW), RMA_SUCCESS);
    ck_assert_int_eq(quiet(p), RMA_SUCCESS);
    ck_assert_int_eq(p->queues.accesses, 1);
    ck_assert_uint_eq(there->traffic.more[RMAI_SERVED], asked + 3);
    for (int me = 0; me < PES; me++) rmai_dynamic_follow(jobs[0].pe[me].net, RMAI_PART_SYMMETRIC, 2 * STEP, 0);
    for (int me = 0; me < PES; me++) rmai_dynamic_grown(jobs[0].pe[me].net);
    ck_assert_int_eq(put(p, STEP + 50, source, 100, RMAI_NOW), RMA_SUCCESS);
    ck_assert_int_eq(p->queues.accesses, 2);
    for (int me = 0; me < PES; me++) memset(&jobs[0].pe[me].facts.layout, 0, sizeof(struct rmai_layout));
}
END_TEST

START_TEST(what_mpi_refuses_to_attach_is_reached_by_messages) {
    /* A piece that is told of and not attached, and MPI that is asked again and again. */
    struct pe *p = &jobs[0].pe[0], *there = other_of(p);
    there->queues.attaches = 1;
    grow_to(there, 2 * STEP, 0);
    ck_assert_uint_eq(there->directory.attached[RMAI_PART_LOCAL], STEP);
    ck_assert_int_eq(there->queues.attached, 2);
    grow_to(there, 2 * STEP, 1);
    rmai_dynamic_follow(there->net, RMAI_PART_STATICS, STEP, 1); /* nor for another part */
    ck_assert_uint_eq(there->directory.attached[RMAI_PART_STATICS], 0);
    ck_assert_int_eq(there->queues.attached, 2);
    ck_assert_uint_eq(there->directory.attached[RMAI_PART_LOCAL], STEP);
    fill(source, 100, 5);
    ck_assert_int_eq(put(p, STEP + 7, source, 100, RMAI_NOW), RMA_SUCCESS);
    ck_assert_int_eq(put(p, STEP - 100, source, 100, RMAI_NOW), RMA_SUCCESS);
    ck_assert_int_eq(quiet(p), RMA_SUCCESS);
    ck_assert_int_eq(p->queues.accesses, 1);
    ck_assert(is_filled(there->memory + STEP + 7, 100, 5));
    ck_assert(is_filled(there->memory + STEP - 100, 100, 5));
}
END_TEST

START_TEST(a_step_that_is_not_whole_is_the_last_where_nothing_may_be_left) {
    /* Memory that is attached twice: what was cut short is never attached later. And what was found in the step does
     * not stand for the rest of it. */
    struct pe *there = &jobs[0].pe[1], *p = other_of(there);
    grow_to(there, STEP + 4096, 1);
    ck_assert_uint_eq(there->directory.attached[RMAI_PART_LOCAL], STEP + 4096);
    grow_to(there, 2 * STEP, 1);
    ck_assert_uint_eq(there->directory.attached[RMAI_PART_LOCAL], STEP + 4096);
    ck_assert_int_eq(there->queues.attached, 2);
    learn(p);
    fill(source, 100, 6);
    ck_assert_int_eq(put(p, STEP + 3996, source, 100, RMAI_NOW), RMA_SUCCESS);
    ck_assert_int_eq(p->queues.accesses, 1);
    ck_assert_int_eq(put(p, STEP + 3997, source, 100, RMAI_NOW), RMA_SUCCESS);
    ck_assert_int_eq(quiet(p), RMA_SUCCESS);
    ck_assert_int_eq(p->queues.accesses, 1);
}
END_TEST

/* ---- errors ---- */

static void check_refused(int code, const char *call, size_t len, uint64_t offset) {
    char text[200];
    snprintf(text, sizeof text, "%s: PE 1 has no %zu bytes at %#llx", call, len, (unsigned long long)offset);
    ck_assert_int_eq(code, RMA_ERR_ADDRESS);
    ck_assert_int_eq(rma_last_code(), RMA_ERR_ADDRESS);
    ck_assert_str_eq(rma_last_error(), text);
}

START_TEST(what_the_owner_refuses_is_the_asker_s_error) {
    /* A put whose first pieces are there, a text of this side, memory that is kept in place for ever. */
    struct pe *p = &jobs[0].pe[0], *there = other_of(p);
    uint64_t old = 77;
    for (size_t i = 1; i < sizeof lengths / sizeof lengths[0]; i++) {
        const size_t len = lengths[i];
        const uint64_t inside = RMA_GPTR_ATTACHED_ + ATTACHED - len, outside = inside + 1;
        for (enum rmai_when when = RMAI_NOW; when <= RMAI_LATER; when++) {
            memset(there->attached, UNTOUCHED, ATTACHED);
            memset(dest, UNTOUCHED, sizeof dest);
            fill(source, len, 5);
            check_refused(put(p, outside, source, len, when), "rma_put", len, outside);
            check_refused(get(p, outside, dest, len, when), "rma_get", len, outside);
            ck_assert_int_eq(quiet(p), RMA_SUCCESS);
            ck_assert(is_untouched(there->attached, ATTACHED));
            ck_assert(is_untouched(dest, sizeof dest));
            ck_assert_int_eq(put(p, inside, source, len, when), RMA_SUCCESS);
            ck_assert_int_eq(get(p, inside, dest, len, when), RMA_SUCCESS);
            ck_assert_int_eq(quiet(p), RMA_SUCCESS);
            ck_assert(is_filled(there->attached + ATTACHED - len, len, 5));
            ck_assert(is_filled(dest, len, 5));
            rmai_net_progress(there->net, 1); /* it learns that its data have been taken */
            ck_assert_int_eq(there->leases, 0);
        }
    }
    check_refused(add(p, RMA_GPTR_ATTACHED_ + ATTACHED, 8, 1, &old, 0), "rma_add", 8, RMA_GPTR_ATTACHED_ + ATTACHED);
    check_refused(add(p, RMA_GPTR_ATTACHED_ + 4, 8, 1, NULL, 1), "rma_add", 8, RMA_GPTR_ATTACHED_ + 4);
    ck_assert_uint_eq(old, 77);
}
END_TEST

START_TEST(an_error_that_nobody_waits_for_is_quiet_s_once) {
    /* Long data whose receive cannot be posted at the owner: an error that is lost, told twice, or of a whole message.
     */
    struct pe *p = &jobs[0].pe[0], *there = other_of(p);
    char text[200];
    snprintf(text, sizeof text, "an earlier nonblocking put to PE 1 failed: %s", rma_strerror(RMA_ERR_MPI));
    fill(source, LONG, 6);
    there->queues.long_receives = 0;
    ck_assert_int_eq(put(p, 0, source, LONG, RMAI_LATER), RMA_SUCCESS);
    ck_assert_int_eq(put(p, LONG, source, 8, RMAI_LATER), RMA_SUCCESS);
    ck_assert_int_eq(quiet(p), RMA_ERR_MPI);
    ck_assert_msg(strstr(rma_last_error(), text) != NULL, "%s", rma_last_error());
    ck_assert_ptr_eq(strstr(rma_last_error(), "rma_quiet: "), rma_last_error());
    ck_assert_int_eq(quiet(p), RMA_SUCCESS);
    ck_assert(is_untouched(there->memory, LONG));
    ck_assert(is_filled(there->memory + LONG, 8, 6));
    ck_assert_int_eq(put(p, 0, source, 5000, RMAI_NOW), RMA_ERR_MPI);
    ck_assert_ptr_eq(strstr(rma_last_error(), "rma_put: "), rma_last_error());
    ck_assert_int_eq(quiet(p), RMA_SUCCESS);
    ck_assert_int_eq(put(p, RMA_GPTR_ATTACHED_, source, 5000, RMAI_NOW), RMA_ERR_MPI);
    ck_assert_ptr_nonnull(strstr(rma_last_error(), "the queue is broken"));
    ck_assert_int_eq(there->leases, 0);
    there->queues.long_receives = -1;
    ck_assert_int_eq(put(p, 0, source, LONG, RMAI_NOW), RMA_SUCCESS);
    ck_assert(is_filled(there->memory, LONG, 6));
}
END_TEST

/* Blocks of 64 bytes: every second one of the other PE's memory, and here 72 bytes apart. In two transfers. */
enum { N_BLOCKS = 1250, BLOCK_LEN = 64, APART_THERE = 128, APART_HERE = 72 };
static int move_blocks(struct pe *p, enum rmai_packed_kind what, void *local) {
    static const ptrdiff_t here[] = {APART_HERE}, there[] = {APART_THERE};
    static const ptrdiff_t *const strides[RMAI_SIDES] = {[RMAI_REMOTE] = there, [RMAI_LOCAL] = here};
    static const size_t count[] = {N_BLOCKS};
    const struct rmai_pattern_call c = {.call = "rma_put_section", .written = RMAI_REMOTE};
    struct rmai_pattern pattern;
    ck_assert_int_eq(rmai_pattern_section(&pattern, &c, 2, strides, BLOCK_LEN, 1, count), RMA_SUCCESS);
    return rmai_net_packed(&(struct rmai_packed){.call = "rma_put_section",
                                                 .set = p->set,
                                                 .pe = !p->me,
                                                 .pattern = &pattern,
                                                 .what = what,
                                                 .when = RMAI_LATER,
                                                 .local = local});
}

START_TEST(blocks_that_travel_by_tag_land_or_are_refused) {
    /* Blocks that stay in the room between, and blocks of a get that has failed, which land all the same. */
    struct pe *p = &jobs[0].pe[0], *there = other_of(p);
    fill(source, LONG, 3);
    memset(there->memory, UNTOUCHED, HEAP);
    memset(dest, UNTOUCHED, LONG);
    ck_assert_int_eq(move_blocks(p, RMAI_PACKED_PUT, source), RMA_SUCCESS);
    ck_assert_int_eq(quiet(p), RMA_SUCCESS);
    ck_assert_int_eq(move_blocks(p, RMAI_PACKED_GET, dest), RMA_SUCCESS);
    ck_assert_int_eq(quiet(p), RMA_SUCCESS);
    for (size_t i = 0; i < N_BLOCKS; i++) {
        ck_assert_mem_eq(there->memory + APART_THERE * i, source + APART_HERE * i, BLOCK_LEN);
        ck_assert(is_untouched(there->memory + APART_THERE * i + BLOCK_LEN, APART_THERE - BLOCK_LEN));
        ck_assert_mem_eq(dest + APART_HERE * i, source + APART_HERE * i, BLOCK_LEN);
        ck_assert(is_untouched(dest + APART_HERE * i + BLOCK_LEN, APART_HERE - BLOCK_LEN));
    }
    memset(dest, UNTOUCHED, LONG);
    there->sleeps = 1;
    ck_assert_int_eq(move_blocks(p, RMAI_PACKED_GET, dest), RMA_SUCCESS);
    hear_without_memory(there);
    ck_assert_int_eq(quiet(p), RMA_ERR_NO_MEM);
    ck_assert_ptr_nonnull(strstr(rma_last_error(), "an earlier nonblocking get from PE 1 failed"));
    ck_assert(is_untouched(dest, LONG));
}
END_TEST

START_TEST(a_failure_stays_pending_until_a_quiet_has_reported_it) {
    /* A peer that is taken off the list by somebody else than a quiet: the inlined quiet would then report success. */
    struct pe *p = &jobs[0].pe[0], *there = other_of(p);
    int is_quiet = 0;
    fill(source, LONG, 6);
    there->queues.long_receives = 0;
    ck_assert_int_eq(put(p, 0, source, LONG, RMAI_LATER), RMA_SUCCESS);
    while (!is_quiet) ck_assert_int_eq(rmai_net_try_quiet("rma_counts", p->set, &is_quiet), RMA_SUCCESS);
    ck_assert_uint_eq(p->complete, RMA_PUTS_COMPLETE_);
    ck_assert_int_eq(quiet(p), RMA_ERR_MPI);
    ck_assert_uint_eq(p->complete, RMA_ALL_COMPLETE_);
    ck_assert_int_eq(quiet(p), RMA_SUCCESS);
}
END_TEST

START_TEST(an_opening_that_fails_leaves_nothing) {
    /* Receives that stay posted in memory that is freed. */
    prepare_pe(&jobs[0], 0);
    jobs[0].pe[0].queues.short_receives = _i;
    ck_assert_int_eq(open_net(&jobs[0].pe[0]), RMA_ERR_MPI);
    ck_assert_str_eq(rma_last_error(), "rma_init: the queue is broken");
    ck_assert_int_eq(jobs[0].pe[0].queues.live, 0);
    ck_assert_ptr_null(jobs[0].pe[0].net);
    ck_assert_int_eq(rmai_net_close(jobs[0].pe[0].net), RMA_SUCCESS);
}
END_TEST

static const char *last_words;
static void end_with_words(int code) { _exit(strstr(rma_last_error(), last_words) ? code : 99); }

/* Runs body in a child, whose job ends with these words. Returns its exit code, or -1 after a signal. */
static int in_child(void (*body)(struct pe *p), struct pe *p, const char *words) {
    int status;
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        close(STDERR_FILENO);
        last_words = words;
        rmai_error_identity("PE 0 of 2", end_with_words);
        body(p);
        _exit(98);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void send_to_broken(struct pe *p) {
    p->queues.sends = 0;
    put(p, 0, source, 8, RMAI_NOW);
}

static void hear_no_kind(struct pe *p) {
    static const struct rmai_envelope e = {.kind = RMAI_WIRE_KINDS};
    struct rmai_token token;
    rmai_send(&other_of(p)->queues.transport, p->me, RMAI_SHORT_TAG, &e, sizeof e, &token);
    rmai_net_progress(p->net, 1);
}

static void hear_reply_to_nothing(struct pe *p) {
    static const struct rmai_envelope e = {.kind = RMAI_WIRE_REPLY};
    struct rmai_token token;
    rmai_send(&other_of(p)->queues.transport, p->me, RMAI_SHORT_TAG, &e, sizeof e, &token);
    rmai_net_progress(p->net, 1);
}

/* An addition for the second PE of a node that has one. */
static void hear_of_no_neighbour(struct pe *p) {
    static struct {
        struct rmai_envelope e;
        struct rmai_record r;
        uint64_t offset, value;
    } request = {.e = {.kind = RMAI_WIRE_REQUEST, .n = 1},
                 .r = {.kind = RMAI_RECORD_ATOMIC, .op = RMA_FETCH_ADD_, .len = 8, .n = 1},
                 .offset = (uint64_t)2 << RMA_GPTR_BITS_ | 64};
    struct rmai_token token;
    rmai_send(&other_of(p)->queues.transport, p->me, RMAI_SHORT_TAG, &request, sizeof request, &token);
    rmai_net_progress(p->net, 1);
}

/* A message of the other PE: an envelope, and perhaps an item. */
static void hear_forged(struct pe *p, struct rmai_envelope e, struct rmai_item item) {
    static struct {
        struct rmai_envelope e;
        struct rmai_item item;
        uint64_t data[8];
    } message;
    struct rmai_token token;
    deliver(&other_of(p)->queues); /* it has received what p has sent, and not heard it */
    message.e = e;
    message.item = item;
    rmai_send(&other_of(p)->queues.transport, p->me, RMAI_SHORT_TAG, &message,
              sizeof e + (e.n ? sizeof item + rmai_padded(item.len) : 0), &token);
    rmai_net_progress(p->net, 1);
}

/* Two puts under way, in two requests, and three requests done. */
static void hear_too_many_done(struct pe *p) {
    const struct rmai_envelope two = {.kind = RMAI_WIRE_DONE, .done = 2}, one = {.kind = RMAI_WIRE_DOORBELL, .done = 1};
    other_of(p)->sleeps = 1;
    open_sets(p);
    put_by(p, 0, 0, 1);
    put_by(p, 1, 0, 1);
    hear_forged(p, two, (struct rmai_item){0});
    if (rmai_flow_under_way(set[0]->busy) || rmai_flow_under_way(set[1]->busy)) _exit(97);
    hear_forged(p, one, (struct rmai_item){0});
}

static void hear_all_done_at_once(struct pe *p) {
    other_of(p)->sleeps = 1;
    put(p, 0, source, 8, RMAI_NOW);
    hear_forged(p, (struct rmai_envelope){.kind = RMAI_WIRE_DONE, .done = UINT16_MAX}, (struct rmai_item){0});
}

/* A fetch of 8 bytes, a compact run of three more, and a get of 5 are under way in one request, behind a put in another
 * one. */
static struct rmai_item forged;
static void hear_wrong_item(struct pe *p) {
    uint64_t old[4];
    unsigned char bytes[5];
    other_of(p)->sleeps = 1;
    put(p, 0, source, 8, RMAI_NOW);
    for (int i = 0; i < 4; i++) add(p, 8, 8, 1, &old[i], 1);
    get(p, 16, bytes, 5, RMAI_LATER);
    hear_forged(p, (struct rmai_envelope){.kind = RMAI_WIRE_DONE, .done = 1}, (struct rmai_item){0});
    hear_forged(p, (struct rmai_envelope){.kind = RMAI_WIRE_REPLY, .n = 1}, forged);
}

/* A request that asks for a value is never counted. */
static void hear_get_done(struct pe *p) {
    unsigned char bytes[5];
    other_of(p)->sleeps = 1;
    get(p, 16, bytes, 5, RMAI_LATER);
    hear_forged(p, (struct rmai_envelope){.kind = RMAI_WIRE_DONE, .done = 1}, (struct rmai_item){0});
}

/* A counted request has no elements that ask for anything. */
static void hear_item_of_a_put(struct pe *p) {
    other_of(p)->sleeps = 1;
    put(p, 0, source, 8, RMAI_NOW);
    hear_forged(p, (struct rmai_envelope){.kind = RMAI_WIRE_REPLY, .n = 1}, (struct rmai_item){.len = 8});
}

static const struct {
    struct rmai_item item;
    const char *words;
} wrong_items[] = {
    {{.first = 3, .len = 8}, "item 1 of 1 has 8 bytes for record 4 of the 3 that ask for any"},
    {{.first = UINT16_MAX, .len = 0}, "item 1 of 1 has 0 bytes for record 65536 of the 3 that ask for any"},
    {{.first = 3, .code = RMA_ERR_NO_MEM}, "item 1 of 1 has 0 bytes for record 4 of the 3"},
    {{.first = 0, .len = 32}, "item 1 of 1 has 32 bytes for record 1 of the 3"},
    {{.first = 0, .len = 4}, "item 1 of 1 has 4 bytes for record 1 of the 3"},
    {{.first = 0, .len = 16}, "item 1 of 1 has 16 bytes for record 1 of the 3"},
    {{.first = 0, .len = 0}, "item 1 of 1 has 0 bytes for record 1 of the 3"},
    {{.first = 1, .len = 8}, "item 1 of 1 has 8 bytes for record 2 of the 3"},
    {{.first = 1, .len = 16}, "item 1 of 1 has 16 bytes for record 2 of the 3"},
    {{.first = 2, .len = 5}, "item 1 of 1 has 5 bytes for record 3 of the 3"},
    {{.first = 2, .len = 16}, "item 1 of 1 has 16 bytes for record 3 of the 3"},
    {{.first = 1, .len = 24}, "the values of 2 records of a request are missing"},
    {{.first = 1, .code = RMA_ERR_NO_MEM}, "the values of 2 records of a request are missing"},
};

START_TEST(an_item_that_was_not_asked_for_ends_the_job) {
    /* Values that are written beyond their places, or that are of no element. */
    forged = wrong_items[_i].item;
    ck_assert_int_eq(in_child(hear_wrong_item, &jobs[0].pe[0], wrong_items[_i].words), RMA_EXIT_BASE + RMA_ERR_MPI);
}
END_TEST

START_TEST(more_done_than_under_way_ends_the_job) {
    struct pe *p = &jobs[0].pe[0];
    const char *words = "more requests are done than are under way";
    ck_assert_int_eq(in_child(hear_too_many_done, p, words), RMA_EXIT_BASE + RMA_ERR_MPI);
    ck_assert_int_eq(in_child(hear_all_done_at_once, p, words), RMA_EXIT_BASE + RMA_ERR_MPI);
    words = "a request is done whose values have not come";
    ck_assert_int_eq(in_child(hear_get_done, p, words), RMA_EXIT_BASE + RMA_ERR_MPI);
    ck_assert_int_eq(in_child(hear_item_of_a_put, p, "for record 1 of the 0 that ask for any"),
                     RMA_EXIT_BASE + RMA_ERR_MPI);
}
END_TEST

/* A long get is transfer 0, a long put transfer 1, and the other PE has heard of neither. */
static struct rmai_envelope forged_note;
static void hear_wrong_note(struct pe *p) {
    other_of(p)->sleeps = 1;
    get(p, 0, there_and_back, 8192, RMAI_LATER);
    put(p, 8192, source, 8192, RMAI_LATER);
    hear_forged(p, forged_note, (struct rmai_item){0});
}

static void hear_go_twice(struct pe *p) {
    forged_note = (struct rmai_envelope){.kind = RMAI_WIRE_GO, .number = 1};
    hear_wrong_note(p);
    hear_forged(p, forged_note, (struct rmai_item){0});
}

static void hear_landed_twice(struct pe *p) {
    const struct rmai_envelope landed = {.kind = RMAI_WIRE_LANDED, .number = 1};
    forged_note = (struct rmai_envelope){.kind = RMAI_WIRE_GO, .number = 1};
    hear_wrong_note(p);
    for (int i = 0; i < 2; i++) hear_forged(p, landed, (struct rmai_item){0});
}

START_TEST(a_note_that_concerns_no_transfer_ends_the_job) {
    /* Data that are sent twice or to nobody, and a put that is done before its data have come. */
    static const struct {
        unsigned kind, number;
        const char *words;
    } notes[] = {{RMAI_WIRE_GO, 0, "asks for the data of transfer 0, no long put"},
                 {RMAI_WIRE_GO, 2, "asks for the data of transfer 2, no long put"},
                 {RMAI_WIRE_GO, UINT16_MAX, "asks for the data of transfer 65535, no long put"},
                 {RMAI_WIRE_LANDED, 0, "has the data of transfer 0, no long put"},
                 {RMAI_WIRE_LANDED, 1, "has the data of transfer 1, no long put"},
                 {RMAI_WIRE_LANDED, UINT16_MAX, "has the data of transfer 65535, no long put"}};
    struct pe *p = &jobs[0].pe[0];
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        forged_note = (struct rmai_envelope){.kind = (uint16_t)notes[i].kind, .number = (uint16_t)notes[i].number};
        ck_assert_int_eq(in_child(hear_wrong_note, p, notes[i].words), RMA_EXIT_BASE + RMA_ERR_MPI);
    }
    ck_assert_int_eq(in_child(hear_go_twice, p, "asks for the data of transfer 1"), RMA_EXIT_BASE + RMA_ERR_MPI);
    ck_assert_int_eq(in_child(hear_landed_twice, p, "has the data of transfer 1"), RMA_EXIT_BASE + RMA_ERR_MPI);
}
END_TEST

START_TEST(a_broken_transport_and_a_damaged_message_end_the_job) {
    /* A call that waits for ever, or that returns while its buffers are in use. */
    struct pe *p = &jobs[0].pe[0];
    ck_assert_int_eq(in_child(send_to_broken, p, "the queue is broken"), RMA_EXIT_BASE + RMA_ERR_MPI);
    ck_assert_int_eq(in_child(hear_no_kind, p, "a message from PE 1 is damaged"), RMA_EXIT_BASE + RMA_ERR_MPI);
    ck_assert_int_eq(in_child(hear_reply_to_nothing, p, "it answers a request, and none is under way"),
                     RMA_EXIT_BASE + RMA_ERR_MPI);
    ck_assert_int_eq(in_child(hear_of_no_neighbour, p, "names PE 1 of a node that has 1 PE"),
                     RMA_EXIT_BASE + RMA_ERR_MPI);
}
END_TEST

/* ---- waiting ---- */

START_TEST(a_pe_that_is_not_served_has_its_credits_and_no_more) {
    /* A PE that floods another one, and one that waits for a reply that is there. */
    enum { ADDS = 6000 };
    struct pe *p = &jobs[0].pe[0], *there = other_of(p);
    set_word(there, 0, 0);
    there->sleeps = 1;
    for (p->begun = 0; p->begun < ADDS; p->begun++) ck_assert_int_eq(add(p, 0, 8, 1, NULL, 1), RMA_SUCCESS);
    ck_assert_int_ge(p->rests, WAITED);
    /* The first one goes alone; then messages are nearly full. */
    ck_assert_int_ge(p->begun_at_rest, (RMAI_CREDITS - 1) * ADDS_A_MESSAGE * 9 / 10);
    ck_assert_int_le(p->begun_at_rest, 1 + RMAI_CREDITS * ADDS_A_MESSAGE);
    ck_assert_int_eq(there->queues.most_unread, RMAI_CREDITS);
    ck_assert_int_eq(quiet(p), RMA_SUCCESS);
    ck_assert_uint_eq(word_at(there, 0), ADDS);
    ck_assert_int_eq(there->queues.most_unread, RMAI_CREDITS);
}
END_TEST

START_TEST(values_of_many_records_have_their_places) {
    /* A message of records with one value each, whose places take more room than its message and its reply. */
    enum { PAIRS = 1000 };
    static uint64_t old[PAIRS], got[PAIRS];
    struct pe *p = &jobs[0].pe[0], *there = other_of(p);
    set_word(there, 0, 0);
    set_word(there, 16, 7);
    there->sleeps = 1;
    for (int i = 0; i < PAIRS; i++) {
        ck_assert_int_eq(add(p, 0, 8, 1, &old[i], 1), RMA_SUCCESS);
        ck_assert_int_eq(get(p, 16, &got[i], 8, RMAI_LATER), RMA_SUCCESS);
    }
    ck_assert_int_eq(quiet(p), RMA_SUCCESS);
    for (unsigned i = 0; i < PAIRS; i++) {
        ck_assert_uint_eq(old[i], i);
        ck_assert_uint_eq(got[i], 7);
    }
}
END_TEST

START_TEST(long_data_wait_for_credits_too) {
    /* The data of a transfer under way that another one takes over. */
    enum { PIECES = 40 };
    struct pe *p = &jobs[0].pe[0], *there = other_of(p);
    const size_t len = LONG / PIECES;
    fill(source, LONG, 8);
    memset(dest, 0, sizeof dest);
    there->sleeps = 1;
    for (size_t i = 0; i < PIECES; i++)
        ck_assert_int_eq(put(p, i * len, source + i * len, len, RMAI_LATER), RMA_SUCCESS);
    ck_assert_int_ge(p->rests, WAITED);
    ck_assert_int_eq(quiet(p), RMA_SUCCESS);
    ck_assert(is_filled(there->memory, LONG, 8));
    for (size_t i = PIECES; i-- > 0;)
        ck_assert_int_eq(get(p, i * len, there_and_back + i * len, len, RMAI_LATER), RMA_SUCCESS);
    ck_assert_int_eq(quiet(p), RMA_SUCCESS);
    ck_assert(is_filled(there_and_back, LONG, 8));
    ck_assert_int_eq(there->queues.most_unread, RMAI_CREDITS);
}
END_TEST

START_TEST(sets_wait_each_for_its_own) {
    /* A quiet of one set that completes, or waits for, what another one has begun. */
    struct pe *p = &jobs[0].pe[0], *there = other_of(p);
    struct rmai_pending *second;
    uint32_t nothing;
    ck_assert_int_eq(rmai_pending_open(p->net, &nothing, &nothing, &p->traffic, &second), RMA_SUCCESS);
    there->sleeps = 1;
    fill(source, 16, 9);
    ck_assert_int_eq(put(p, 0, source, 8, RMAI_LATER), RMA_SUCCESS);
    ck_assert_uint_eq(nothing, RMA_ALL_COMPLETE_);
    ck_assert_int_eq(rmai_net_quiet("rma_ctx_quiet", second), RMA_SUCCESS);
    ck_assert_uint_eq(p->complete, 0);
    ck_assert_int_eq(p->rests, 0);
    ck_assert_int_eq(op_put("rma_ctx_put", second, 1, 8, source + 8, 8, RMAI_LATER), RMA_SUCCESS);
    ck_assert_uint_eq(nothing, 0);
    ck_assert_int_eq(quiet(p), RMA_SUCCESS);
    ck_assert_int_eq(rmai_net_quiet_pe("rma_ctx_quiet", second, 1, RMA_SUCCESS), RMA_SUCCESS);
    ck_assert_uint_eq(nothing, RMA_ALL_COMPLETE_);
    ck_assert(is_filled(there->memory, 16, 9));
    rmai_pending_close(second);
}
END_TEST

/* Returns how many messages p has after RMAI_MESSAGES_IDLE. */
static unsigned messages_after_a_while(struct pe *p) {
    rmai_net_lock(p->net);
    p->net->give_back_due = 0;
    rmai_messages_give_back(p->net);
    rmai_net_unlock(p->net);
    return p->net->n_messages;
}

START_TEST(idle_messages_are_given_back) {
    /* A message that is freed before its time, or never, or while it is under way. */
    enum { MANY = RMAI_MESSAGES_KEPT + 20 };
    struct rmai_pending *sets[MANY];
    struct pe *p = &jobs[0].pe[0], *there = other_of(p);
    uint32_t nothing;
    for (int i = 0; i < MANY; i++)
        ck_assert_int_eq(rmai_pending_open(p->net, &nothing, &nothing, &p->traffic, &sets[i]), RMA_SUCCESS);
    for (unsigned round = 0; round < 3; round++) {
        there->sleeps = 1;
        fill(source, MANY * 8, round);
        for (int i = 0; i < MANY; i++)
            ck_assert_int_eq(op_put("rma_ctx_put", sets[i], 1, (uint64_t)i * 8, source + i * 8, 8, RMAI_LATER),
                             RMA_SUCCESS);
        ck_assert_uint_eq(p->net->n_messages, MANY);
        ck_assert_uint_eq(p->net->n_idle, 0);
        for (int i = 0; i < 3; i++) ck_assert_uint_eq(messages_after_a_while(p), MANY); /* they are under way */
        there->sleeps = 0;
        for (int i = 0; i < MANY; i++) ck_assert_int_eq(rmai_net_quiet("rma_ctx_quiet", sets[i]), RMA_SUCCESS);
        ck_assert(is_filled(there->memory, MANY * 8, round));
        ck_assert_uint_eq(p->net->n_idle, MANY);
        ck_assert_uint_eq(messages_after_a_while(p), MANY); /* used since the last look, */
        rmai_net_lock(p->net);
        rmai_messages_give_back(p->net);
        rmai_net_unlock(p->net);
        ck_assert_uint_eq(p->net->n_messages, MANY); /* which was just now */
        if (round == 1) continue;
        ck_assert_uint_eq(messages_after_a_while(p), RMAI_MESSAGES_KEPT);
        ck_assert_uint_eq(p->net->n_idle, RMAI_MESSAGES_KEPT);
    }
    for (int i = 0; i < MANY; i++) rmai_pending_close(sets[i]);
}
END_TEST

START_TEST(a_wait_that_lasts_is_told_of) {
    /* A wait that nobody can explain, and one that is watched after its end. */
    struct pe *p = &jobs[0].pe[1], *there = other_of(p);
    there->sleeps = 1;
    fill(there->memory, 8, 2);
    ck_assert_int_eq(get(p, 0, dest, 8, RMAI_NOW), RMA_SUCCESS);
    ck_assert(is_filled(dest, 8, 2));
    ck_assert_int_ge(p->rests, WAITED);
    ck_assert_int_eq(p->waits_over, 1);
    ck_assert_str_eq(p->stall.call, "rma_get");
    ck_assert_int_eq(p->stall.awaited, RMAI_AWAITED_PE);
    ck_assert_int_eq(p->stall.pe, 0);
    ck_assert_int_eq(there->rests, 0);
}
END_TEST

/* ---- signs of life ---- */

static struct rmai_ping *ask_for_life(struct pe *p) {
    struct rmai_ping *ping;
    rmai_net_lock(p->net);
    ping = rmai_ping_ask(&p->pings, !p->me);
    rmai_net_unlock(p->net);
    return ping;
}

static void forget(struct pe *p, struct rmai_ping *ping) {
    rmai_net_lock(p->net);
    rmai_ping_forget(ping);
    rmai_net_unlock(p->net);
}

static void drive_until_answered(struct pe *p, const struct rmai_ping *ping) {
    for (int turns = 0; !ping->answered && turns < TURNS; turns++) rmai_net_progress(p->net, 1);
    ck_assert_int_eq(ping->answered, 1);
}

START_TEST(a_sign_of_life_says_where_the_other_waits) {
    /* A question that takes credits, the text of another PE, an answer that comes too late and is taken for another. */
    struct pe *p = &jobs[0].pe[0], *there = other_of(p);
    struct rmai_ping *first, *second;
    there->waiting_in = "rma_barrier";
    there->sleeps = 1;
    ck_assert_ptr_nonnull(first = ask_for_life(p));
    rmai_net_progress(p->net, 1);
    ck_assert_int_eq(first->answered, 0);
    forget(p, first); /* its place is in use until the message is sent */
    ck_assert_ptr_nonnull(second = ask_for_life(p));
    ck_assert_ptr_ne(first, second);
    there->sleeps = 0;
    drive_until_answered(p, second);
    ck_assert_str_eq(second->sign.in, "rma_barrier");
    ck_assert_int_eq(first->answered, 0);
    forget(p, second);
    there->waiting_in = "";
    ck_assert_ptr_nonnull(second = ask_for_life(p));
    drive_until_answered(p, second);
    ck_assert_str_eq(second->sign.in, "");
    forget(p, second);
}
END_TEST

START_TEST(places_for_questions_are_used_again) {
    /* A place that is lost with each question, one that two questions have, a question that is lost. */
    static struct rmai_ping *ping[RMAI_PINGS];
    struct pe *p = &jobs[0].pe[0], *there = other_of(p);
    there->waiting_in = "rma_get";
    for (int again = 0; again < 2; again++) {
        there->sleeps = 1;
        for (int i = 0; i < RMAI_PINGS; i++) ck_assert_ptr_nonnull(ping[i] = ask_for_life(p));
        ck_assert_ptr_null(ask_for_life(p));
        ck_assert_int_eq(there->queues.unread, RMAI_PINGS);
        there->sleeps = 0;
        for (int i = 0; i < RMAI_PINGS; i++) {
            drive_until_answered(p, ping[i]);
            ck_assert_str_eq(ping[i]->sign.in, "rma_get");
            forget(p, ping[i]);
        }
    }
}
END_TEST

START_TEST(a_question_that_is_never_heard_does_not_keep_the_net_open) {
    /* Memory that is freed while the transport holds the message. */
    struct pe *p = &jobs[0].pe[0], *there = &jobs[0].pe[1];
    struct movement *sent;
    open_job(&jobs[0]);
    there->sleeps = 1;
    forget(p, ask_for_life(p));
    sent = there->queues.coming;
    rmai_pending_close(p->set);
    rmai_pings_close(&p->pings);
    rmai_net_close(p->net);
    ck_assert_int_eq(p->queues.live, 1);
    ck_assert_int_eq(sent->dropped, 1);
    ck_assert_uint_eq(((const struct rmai_envelope *)(const void *)sent->data)->kind, RMAI_WIRE_PING);
    /* The transport ends, and with it the message, whose memory the net has left to it: the first of all places. */
    free(sent->data);
    there->queues.coming = NULL;
    end_movement(&p->queues, sent);
    rmai_pending_close(there->set);
    rmai_net_close(there->net);
    ck_assert_int_eq(there->queues.live, 0);
}
END_TEST

/* ---- two jobs ---- */

/* rmai_net_atomic would wait for the puts under way first. */
static int add_beside_puts(struct pe *p, uint64_t offset, uint64_t value) {
    const struct rmai_op op = op_of_atomic("rma_add", p->set, !p->me, offset, RMA_FETCH_ADD_, 8, value, 0, NULL, 1);
    int code;
    rmai_net_lock(p->net);
    code = rmai_request_atomic(p->net, &op);
    rmai_net_unlock(p->net);
    return code;
}

START_TEST(two_jobs_in_one_process_know_nothing_of_each_other) {
    /* Anything in runtime/net that is the process's. */
    enum { PUTS = 200 };
    static unsigned char other_source[LONG];
    struct pe *a = &jobs[0].pe[0], *b = &jobs[1].pe[0], *a_there = other_of(a), *b_there = other_of(b);
    const uint64_t word = MEMORY - 8;
    struct rmai_ping *ping;
    fill(source, LONG, 21);
    fill(other_source, LONG, 22);
    for (int j = 0; j < 2; j++) set_word(&jobs[j].pe[1], word, 0);
    a_there->waiting_in = "rma_quiet";
    b_there->waiting_in = "rma_barrier";

    /* One job's other PE sleeps, while the other job does the same and is done. */
    a_there->sleeps = 1;
    ck_assert_int_eq(put(a, 0, source, LONG, RMAI_LATER), RMA_SUCCESS);
    ck_assert_int_eq(put(b, 0, other_source, LONG, RMAI_LATER), RMA_SUCCESS);
    for (size_t i = 0; i < PUTS; i++) {
        ck_assert_int_eq(put(a, LONG + i * 8, source + i * 8, 8, RMAI_COPIED), RMA_SUCCESS);
        ck_assert_int_eq(put(b, LONG + i * 8, other_source + i * 8, 8, RMAI_COPIED), RMA_SUCCESS);
        ck_assert_int_eq(add_beside_puts(a, word, 1), RMA_SUCCESS);
        ck_assert_int_eq(add_beside_puts(b, word, 1000), RMA_SUCCESS);
    }
    ck_assert_int_eq(quiet(b), RMA_SUCCESS);
    ck_assert_int_eq(a->rests + b->rests, 0);
    ck_assert_uint_eq(a->complete, 0);
    ck_assert(is_filled(b_there->memory, LONG, 22));
    ck_assert_uint_eq(word_at(b_there, word), 1000 * PUTS);
    ck_assert(is_untouched(a_there->memory, word));
    ck_assert_uint_eq(word_at(a_there, word), 0);
    ck_assert_uint_eq(a_there->traffic.more[RMAI_SERVED], 0);
    ck_assert_uint_eq(b_there->traffic.more[RMAI_SERVED], 2 * PUTS + 1);

    ck_assert_int_eq(quiet(a), RMA_SUCCESS);
    ck_assert_int_ge(a->rests, WAITED);
    ck_assert_int_eq(b->rests, 0);
    ck_assert_uint_eq(word_at(a_there, word), PUTS);
    ck_assert_uint_eq(word_at(b_there, word), 1000 * PUTS);
    ck_assert_uint_eq(a_there->traffic.more[RMAI_SERVED], 2 * PUTS + 1);
    ck_assert_uint_eq(b_there->traffic.more[RMAI_SERVED], 2 * PUTS + 1);
    for (int j = 0; j < 2; j++) {
        const struct pe *there = &jobs[j].pe[1];
        ck_assert(is_filled(there->memory, LONG, 21 + (unsigned)j));
        ck_assert(is_filled(there->memory + LONG, PUTS * 8, 21 + (unsigned)j));
        ck_assert(is_untouched(there->memory + LONG + PUTS * 8, word - LONG - PUTS * 8));
        ck_assert(is_untouched(jobs[j].pe[0].memory, MEMORY));
        ck_assert_int_eq(get(&jobs[j].pe[0], 0, dest, LONG, RMAI_NOW), RMA_SUCCESS);
        ck_assert(is_filled(dest, LONG, 21 + (unsigned)j));
    }

    for (int j = 0; j < 2; j++) {
        struct pe *p = &jobs[j].pe[0];
        ck_assert_ptr_nonnull(ping = ask_for_life(p));
        drive_until_answered(p, ping);
        ck_assert_str_eq(ping->sign.in, other_of(p)->waiting_in);
        forget(p, ping);
    }
}
END_TEST

int main(void) {
    Suite *s = suite_create("net");
    TCase *moves = tcase_create("puts and gets"), *words = tcase_create("atomics and signals"),
          *counted = tcase_create("runs and counted requests"), *blocks = tcase_create("blocks and extents"),
          *errors = tcase_create("errors"), *waits = tcase_create("waiting"),
          *parts = tcase_create("opening and closing"), *two = tcase_create("two jobs"),
          *windows = tcase_create("the dynamic window");
    TCase *const in_one_job[] = {moves, words, counted, blocks, errors, waits};
    SRunner *runner;
    int failed;
    tcase_add_loop_test(moves, a_put_and_a_get_move_these_bytes_and_no_others, 0,
                        (int)(sizeof lengths / sizeof lengths[0]));
    tcase_add_test(moves, what_is_pending_is_said_until_quiet);
    tcase_add_test(moves, pes_that_ask_each_other_at_once_serve_each_other);
    tcase_add_test(words, an_atomic_gives_the_value_before);
    tcase_add_test(words, adds_that_nobody_waits_for_are_all_done_at_quiet);
    tcase_add_test(words, a_signal_comes_after_its_data);
    tcase_add_test(words, a_signal_comes_after_the_puts_before_it);
    tcase_add_loop_test(counted, a_request_is_done_in_its_order, 0, 2);
    tcase_add_test(counted, puts_of_a_stream_go_in_one_record);
    tcase_add_test(counted, only_what_is_not_steady_is_located);
    tcase_add_test(counted, a_request_that_gives_nothing_is_counted);
    tcase_add_test(counted, an_acknowledgement_is_delayed_where_two_pes_take_turns);
    tcase_add_test(counted, without_memory_a_request_is_answered_all_the_same);
    tcase_add_test(counted, without_memory_for_a_first_request_nothing_is_waited_for);
    tcase_add_test(counted, without_memory_for_a_transfer_nothing_is_waited_for);
    tcase_add_test(counted, after_a_long_get_a_put_leaves_at_once);
    tcase_add_test(counted, without_memory_for_a_transfer_nothing_is_waited_for);
    tcase_add_test(blocks, blocks_come_from_the_owner_and_go_back_to_it);
    tcase_add_test(blocks, an_extent_is_remembered_and_never_shrinks);
    tcase_add_test(errors, what_the_owner_refuses_is_the_asker_s_error);
    tcase_add_test(errors, an_error_that_nobody_waits_for_is_quiet_s_once);
    tcase_add_test(errors, a_failure_stays_pending_until_a_quiet_has_reported_it);
    tcase_add_loop_test(errors, an_item_that_was_not_asked_for_ends_the_job, 0,
                        (int)(sizeof wrong_items / sizeof wrong_items[0]));
    tcase_add_test(errors, blocks_that_travel_by_tag_land_or_are_refused);
    tcase_add_test(errors, more_done_than_under_way_ends_the_job);
    tcase_add_test(errors, a_note_that_concerns_no_transfer_ends_the_job);
    tcase_add_test(errors, a_broken_transport_and_a_damaged_message_end_the_job);
    tcase_add_test(waits, a_pe_that_is_not_served_has_its_credits_and_no_more);
    tcase_add_test(waits, values_of_many_records_have_their_places);
    tcase_add_test(waits, long_data_wait_for_credits_too);
    tcase_add_test(waits, sets_wait_each_for_its_own);
    tcase_add_test(waits, idle_messages_are_given_back);
    tcase_add_test(waits, a_wait_that_lasts_is_told_of);
    tcase_add_test(waits, a_sign_of_life_says_where_the_other_waits);
    tcase_add_test(waits, places_for_questions_are_used_again);
    for (size_t i = 0; i < sizeof in_one_job / sizeof in_one_job[0]; i++) {
        tcase_add_checked_fixture(in_one_job[i], open_one, close_one);
        tcase_set_timeout(in_one_job[i], 60);
        suite_add_tcase(s, in_one_job[i]);
    }
    tcase_add_test(windows, a_stream_takes_no_atomic_that_has_to_wait_for_a_put);
    tcase_add_test(windows, attached_memory_is_accessed_by_messages);
    tcase_add_test(windows, no_access_crosses_the_end_of_a_step);
    tcase_add_test(windows, the_source_of_a_put_is_free_when_it_returns);
    tcase_add_test(windows, what_is_not_attached_goes_by_messages_until_it_is);
    tcase_add_test(windows, what_grows_on_all_pes_is_learned_anew);
    tcase_add_test(windows, what_mpi_refuses_to_attach_is_reached_by_messages);
    tcase_add_test(windows, a_step_that_is_not_whole_is_the_last_where_nothing_may_be_left);
    tcase_add_checked_fixture(windows, open_one_with_windows, close_one);
    tcase_set_timeout(windows, 60);
    suite_add_tcase(s, windows);
    tcase_add_loop_test(parts, an_opening_that_fails_leaves_nothing, 0, RMAI_POSTED);
    tcase_add_test(parts, a_question_that_is_never_heard_does_not_keep_the_net_open);
    tcase_set_timeout(parts, 60);
    suite_add_tcase(s, parts);
    tcase_add_test(two, two_jobs_in_one_process_know_nothing_of_each_other);
    tcase_add_checked_fixture(two, open_two, close_two);
    tcase_set_timeout(two, 60);
    suite_add_tcase(s, two);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
