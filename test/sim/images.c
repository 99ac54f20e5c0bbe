/* SPDX-License-Identifier: BSD-3-Clause */
/* Images of coarray programs: each PE starts the core of interfaces/caf/, goes through steps that all images of a team
 * choose alike, and stops. In many runs some images stop or fail on the way, and the others go on with STAT=.
 *
 * The model is vector clocks. clock[i][w] is what image i knows of image w: all that w has done up to its action of
 * that number, because of a chain of image control statements. A lane of a coarray has one writer at a time: an image
 * writes or checks a lane only if it knows of what was last written there. Then it must find exactly that, by load, by
 * a get or by a put over it. The same holds of the bits and words that one image changes by atomics; of words to which
 * all add, an image finds all additions that it knows of. What a lock guards counts every turn. Collective subroutines
 * give the result of a loop over the images. Each statement reports exactly those images that have left before it. */
#include "config.h"

#include "interfaces/caf/collective.h"
#include "interfaces/caf/component.h"
#include "interfaces/caf/lock.h"
#include "interfaces/caf/serve.h"
#include "interfaces/caf/sync.h"
#include "rma.h"
#include "runtime/life/exit.h"
#include "runtime/world.h"
#include "test/sim/jobs.h"
#include "test/sim/scenario.h"
#include "test/sim/whole.h"

#include <limits.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PES  64
#define LANES     4    /* of each image */
#define LANE      6000 /* bytes */
#define ELEMENTS  48   /* of a transfer, at most */
#define LOCKS     5
#define LOCKERS   12 /* images that take locks in a step, about */
#define DEPTH     3  /* teams within each other */
#define STEPS     14
#define INNER     8 /* steps in a team */
#define POINT     (INNER * INNER)
#define TICKETS   4096
#define LONG_MOST 600 /* elements of a collective */

/* ---- instead of what an image has of its process ---- */

extern char __start_rmai_caf_state[], __stop_rmai_caf_state[], __start_rmai_caf_tables[], __stop_rmai_caf_tables[];
#define STATE_BYTES ((size_t)(__stop_rmai_caf_state - __start_rmai_caf_state))
#define TABLE_BYTES ((size_t)(__stop_rmai_caf_tables - __start_rmai_caf_tables))
#define PIECE       256 /* bytes of a table; those from the first piece on that is 0 are not copied */

/* What the core's variables hold for each image. */
static struct {
    char *state, *table;
    size_t *used;   /* bytes of the table */
    jmp_buf *place; /* where it goes at its end */
    int loaded;     /* the image whose state the variables hold */
} process;

static size_t used_of_table(void) {
    static const char zero[PIECE];
    size_t at = 0;
    while (at + PIECE <= TABLE_BYTES && memcmp(__start_rmai_caf_tables + at, zero, PIECE) != 0) at += PIECE;
    return at + PIECE <= TABLE_BYTES ? at : TABLE_BYTES;
}

static void exchange_state(int image) {
    const size_t from = (size_t)process.loaded, to = (size_t)image, used = used_of_table();
    if (from == to) return;
    memcpy(process.state + from * STATE_BYTES, __start_rmai_caf_state, STATE_BYTES);
    memcpy(__start_rmai_caf_state, process.state + to * STATE_BYTES, STATE_BYTES);
    memcpy(process.table + from * TABLE_BYTES, __start_rmai_caf_tables, used);
    process.used[from] = used;
    memset(__start_rmai_caf_tables, 0, used);
    memcpy(__start_rmai_caf_tables, process.table + to * TABLE_BYTES, process.used[to]);
    process.loaded = image;
}

static void take_image_turn(struct sim_pe *pe) {
    sim_whole.turn(pe);
    exchange_state(pe->me);
}

void __real_exit(int code) __attribute__((noreturn));
void __wrap_exit(int code) __attribute__((noreturn));
void __wrap_exit(int code) {
    if (sim_here() && code == EXIT_SUCCESS) longjmp(process.place[sim_here()->me], 1);
    __real_exit(code);
}

/* An image that stops looks at the time and at a word in turn: time has to pass. */
double __real_rma_wtime(void);
double __wrap_rma_wtime(void);
double __wrap_rma_wtime(void) {
    sim_idle_poll();
    return __real_rma_wtime();
}

void rmai_caf_component_begin(void) {}
void rmai_caf_serve_end(void) {}
void rmai_caf_variable_gone(struct rmai_caf_coarray *c) { (void)c; }
int rmai_caf_variable_clear(const struct rmai_caf_coarray *c) {
    (void)c;
    return 1;
}
void rma_watch_exit_(void) {}
int rma_exits_normally_(void) { return 0; }

/* ---- the model ---- */

struct lane {
    int writer;
    uint32_t version; /* of the writer's clock, when it wrote last */
    unsigned char byte[LANE];
};

/* What one image changes by atomics at another one. */
struct owned {
    uint32_t version;
    int bit;
    uint64_t value;
};

/* What each image has. */
struct board {
    uint64_t count, tickets, bits, event, lock[LOCKS], guarded[LOCKS];
    uint32_t count4, spare;
    uint64_t own[]; /* a word of each image */
};

struct lock {
    int home, guard; /* the images that have the lock, and the word that it guards */
    int holder;      /* 1 + image */
    int failed;      /* its last holder has failed */
    uint64_t turns;
    uint32_t *clock;
};

/* An addition: of which action, and to which word (2 * image + which one). */
struct addition {
    uint32_t version;
    int word;
};

enum leaving { STAYS, STOPS, FAILS };

struct shared {
    int n;
    uint64_t seed;
    struct lane *lane;     /* LANES of each image */
    struct owned *owned;   /* [at][of] */
    uint32_t *clock;       /* [image][of] */
    uint32_t *barrier;     /* [image][depth][turn % 2][of]: as it was when the image entered the barrier, */
    uint32_t *pair;        /* [image][partner][turn % 2][of]: or SYNC IMAGES with the partner */
    uint32_t *posts_clock; /* [image][of]: of the posts of its event */
    uint64_t *posted, *consumed;
    unsigned char *ticket;
    struct lock lock[LOCKS];
    struct addition **addition; /* of each image */
    size_t *n_additions, *room;
    struct leave {
        enum leaving how;
        int at; /* before this point of the program (struct actor) */
    } * leave;
};

/* The images of the current team and of its parents. */
struct members {
    int n, me, *pe;
    uint32_t turn;
};

struct actor {
    struct sim_pe *pe;
    struct shared *shared;
    struct rmai_caf_coarray *data, *words;
    struct board *board;
    int me, n, depth;
    int last;  /* the lane that it has last written, of those of all images */
    int point; /* of the program: alike on all images of a team that are at the same step */
    uint64_t common, own;
    uint32_t *clock, *pairs; /* pairs: how often it has synchronized with each image */
    struct members team[DEPTH];
};

static uint64_t alone(struct actor *a, uint64_t n) { return sim_random(&a->own) % n; }
static uint64_t choose(uint64_t *random, uint64_t n) { return sim_random(random) % n; }
static struct members *current(struct actor *a) { return &a->team[a->depth]; }
static size_t row(const struct actor *a, size_t i) { return i * (size_t)a->n; }

static int knows(const struct actor *a, int writer, uint32_t version) { return a->clock[writer] >= version; }

static void learn(struct actor *a, const uint32_t *clock) {
    for (int i = 0; i < a->n; i++)
        if (a->clock[i] < clock[i]) a->clock[i] = clock[i];
}

static uint32_t *barrier_of(const struct actor *a, int image, uint32_t turn) {
    return a->shared->barrier + row(a, ((size_t)image * DEPTH + (size_t)a->depth) * 2 + turn % 2);
}
static uint32_t *pair_of(const struct actor *a, int image, int partner, uint32_t turn) {
    return a->shared->pair + row(a, (row(a, (size_t)image) + (size_t)partner) * 2 + turn % 2);
}

static struct rmai_caf_place word_at(const struct actor *a, size_t offset, int pe) {
    return rmai_caf_place(a->words, offset, pe);
}
#define WORD(FIELD, PE) word_at(a, offsetof(struct board, FIELD), PE)
#define OWN(OF, PE)     word_at(a, offsetof(struct board, own) + (size_t)(OF) * sizeof(uint64_t), PE)

/* Where an address of this image is on another one, in this process: for looking only. */
static const void *there(const struct actor *a, const void *here, int image) {
    return sim_world(sim_of(a->pe, image))->symmetric.base + ((const char *)here - rmai_world.symmetric.base);
}

/* Counts the additions to each word, those of which this image knows, or all. */
static void count_additions(const struct actor *a, uint64_t *sum, int all, int also_own) {
    const struct shared *sh = a->shared;
    memset(sum, 0, 2 * row(a, sizeof *sum));
    for (int i = 0; i < a->n; i++)
        for (size_t k = 0; k < sh->n_additions[i] && (i != a->me || also_own); k++)
            sum[sh->addition[i][k].word] += all || sh->addition[i][k].version <= a->clock[i];
}

/* Everything that other images have done and of which this one knows is there. */
static void look(struct actor *a) {
    uint64_t least[2 * MOST_PES];
    count_additions(a, least, 0, 0);
    for (int at = 0; at < a->n; at++) {
        const struct board *board = there(a, a->board, at);
        for (int i = 0; i < LANES; i++) {
            const struct lane *lane = &a->shared->lane[at * LANES + i];
            if (lane->writer != a->me && knows(a, lane->writer, lane->version) &&
                memcmp(there(a, a->data->base + i * LANE, at), lane->byte, LANE) != 0)
                sim_fail(a->pe, "lane %d of PE %d is not what PE %d has put, version %u", i, at, lane->writer,
                         lane->version);
        }
        for (int of = 0; of < a->n; of++) {
            const struct owned *o = &a->shared->owned[row(a, (size_t)at) + (size_t)of];
            if (of != a->me && knows(a, of, o->version) &&
                (board->own[of] != o->value || (int)(board->bits >> of & 1) != o->bit))
                sim_fail(a->pe, "the word or the bit of PE %d at PE %d is not what that has made it", of, at);
        }
        if (board->count < least[2 * at] || board->count4 < least[2 * at + 1])
            sim_fail(a->pe, "additions at PE %d are missing", at);
    }
}

/* ---- images that have left ---- */

static int has_left(const struct actor *a, int image) {
    const struct leave *l = &a->shared->leave[image];
    return l->how != STAYS && l->at <= a->point;
}

static int status_of(const struct actor *a, int n, const int *images) {
    int stat = RMAI_CAF_OK;
    for (int i = 0; i < n; i++)
        if (has_left(a, images[i]) && stat != RMAI_CAF_STAT_STOPPED)
            stat = a->shared->leave[images[i]].how == STOPS ? RMAI_CAF_STAT_STOPPED : RMAI_CAF_STAT_FAILED;
    return stat;
}

static void expect_stat(struct actor *a, const char *what, int stat, int expected) {
    if (stat != expected) sim_fail(a->pe, "%s, point %d: stat=%d, not %d", what, a->point, stat, expected);
}

/* The current team executes a statement that begins with a barrier. */
static struct rmai_caf_result enter(struct actor *a, const char *what, int *stat) {
    sim_log(a->pe, "%s, depth %d", what, a->depth);
    *stat = -1;
    memcpy(barrier_of(a, a->me, current(a)->turn), a->clock, row(a, sizeof *a->clock));
    return (struct rmai_caf_result){.stat = stat};
}

/* Returns 1 if all images were there. */
static int leave_barrier(struct actor *a, const char *what, int stat) {
    struct members *m = current(a);
    expect_stat(a, what, stat, status_of(a, m->n, m->pe));
    for (int i = 0; i < m->n; i++)
        if (!has_left(a, m->pe[i])) learn(a, barrier_of(a, m->pe[i], m->turn));
    m->turn++;
    look(a);
    return stat == RMAI_CAF_OK;
}

static void sync_team(struct actor *a) {
    int stat;
    const struct rmai_caf_result r = enter(a, "sync team", &stat);
    rmai_caf_sync_team(r, "SYNC TEAM", rmai_caf.team);
    leave_barrier(a, "sync team", stat);
}

/* with: numbers in the team from 0; n = -1: all */
static void sync_images(struct actor *a, int n, const int *with) {
    const struct members *m = current(a);
    const int count = n < 0 ? m->n : n;
    int stat = -1, index[MOST_PES], pe[MOST_PES] = {0};
    for (int i = 0; i < count; i++) {
        index[i] = (n < 0 ? i : with[i]) + 1;
        pe[i] = m->pe[index[i] - 1];
        sim_log(a->pe, "sync images with PE %d", pe[i]);
        if (pe[i] != a->me) memcpy(pair_of(a, a->me, pe[i], a->pairs[pe[i]]), a->clock, row(a, sizeof *a->clock));
    }
    rmai_caf_sync_images((struct rmai_caf_result){.stat = &stat}, n, n < 0 ? NULL : index);
    expect_stat(a, "sync images", stat, status_of(a, count, pe));
    for (int i = 0; i < count; i++) {
        if (pe[i] == a->me) continue;
        if (!has_left(a, pe[i])) learn(a, pair_of(a, pe[i], a->me, a->pairs[pe[i]]));
        a->pairs[pe[i]]++;
    }
    look(a);
}

/* ---- transfers ---- */

/* Elements of a lane: their offsets, and how the two sides of a transfer describe them. */
struct shape {
    struct rmai_caf_box box;
    struct rmai_caf_remote remote;
    struct rmai_caf_local local;
    size_t elem;
    ptrdiff_t at[ELEMENTS]; /* of each element, in the lane */
    ptrdiff_t list[ELEMENTS];
    char buffer[2 * LANE], *element[ELEMENTS]; /* of this image */
};

static size_t distance_of(ptrdiff_t stride, size_t count) { return (size_t)labs((long)stride) * (count - 1); }

static void make_shape(struct actor *a, struct shape *s, int image, int lane, int may_repeat) {
    static const size_t elems[] = {1, 2, 4, 8, 12, 300, 2000};
    size_t start;
    ptrdiff_t stride[2];
    memset(s, 0, offsetof(struct shape, at));
    s->elem = elems[alone(a, sizeof elems / sizeof *elems)];
    s->box.n = 1;
    rmai_caf_box_add(&s->box, 1 + (ptrdiff_t)alone(a, alone(a, 4) ? 6 : 16));
    rmai_caf_box_add(&s->box, 1 + (ptrdiff_t)alone(a, 3));
    stride[0] = (ptrdiff_t)(s->elem * (alone(a, 2) ? 1 : 1 + alone(a, 3)));
    stride[1] = stride[0] * (ptrdiff_t)s->box.count[0];
    for (int d = 0; d < 2; d++)
        if (alone(a, 4) == 0) stride[d] = -stride[d];
    while (distance_of(stride[0], s->box.count[0]) + distance_of(stride[1], s->box.count[1]) + s->elem > LANE) {
        s->box.count[s->box.count[1] == 1 ? 0 : 1]--;
        s->box.n = s->box.count[0] * s->box.count[1];
    }
    start = alone(a, LANE + 1 - s->elem - distance_of(stride[0], s->box.count[0]) -
                         distance_of(stride[1], s->box.count[1]));
    for (int d = 0; d < 2; d++)
        if (stride[d] < 0) start += distance_of(stride[d], s->box.count[d]);
    for (size_t i = 0; i < s->box.n; i++)
        s->at[i] = (ptrdiff_t)start + (ptrdiff_t)(i % s->box.count[0]) * stride[0] +
                   (ptrdiff_t)(i / s->box.count[0]) * stride[1];
    s->remote.at = rmai_caf_place(a->data, (size_t)lane * LANE + start, image);
    memcpy(s->remote.stride, stride, sizeof stride);
    if (alone(a, 4) == 0) { /* the same elements in another order, or one several times */
        for (size_t i = s->box.n - 1; i > 0; i--) {
            const size_t other = alone(a, i + 1);
            const ptrdiff_t at = s->at[i];
            s->at[i] = s->at[other];
            if (!may_repeat) s->at[other] = at;
        }
        for (size_t i = 0; i < s->box.n; i++) s->list[i] = s->at[i] - (ptrdiff_t)start;
        s->remote.list = s->list;
    }
    s->local.base = s->buffer;
    rmai_caf_box_packed(&s->box, s->elem, s->local.stride);
    if (alone(a, 3) == 0) s->local.stride[0] *= 2, s->local.stride[1] *= 2;
    for (size_t i = 0; i < s->box.n; i++)
        s->element[i] = s->buffer + (ptrdiff_t)(i % s->box.count[0]) * s->local.stride[0] +
                        (ptrdiff_t)(i / s->box.count[0]) * s->local.stride[1];
}

/* Often the one that this image has last written, or one of an image that move.c notes in the same place. */
static struct lane *any_lane(struct actor *a, int *image, int *lane) {
    const int way = (int)alone(a, 4);
    *image = (int)alone(a, (uint64_t)a->n);
    *lane = (int)alone(a, LANES);
    if (way == 0) *image = a->last / LANES, *lane = a->last % LANES;
    if (way == 1) *image = (a->last / LANES + 16) % a->n;
    return &a->shared->lane[*image * LANES + *lane];
}

/* By conversion of default integers, or as they are. */
static void fill_elements(struct actor *a, struct shape *s) {
    const struct rmai_caf_type from = {.type = RMAI_CAF_REAL, .kind = 8, .elem = sizeof(double)};
    const struct rmai_caf_type to = {.type = RMAI_CAF_INTEGER, .kind = 4, .elem = sizeof(int32_t)};
    double number[ELEMENTS];
    ptrdiff_t stride[RMAI_CAF_DIMS];
    for (size_t i = 0; i < s->box.n; i++) {
        number[i] = (double)(int32_t)alone(a, UINT32_MAX);
        for (size_t k = 0; k < s->elem; k++) s->element[i][k] = (char)alone(a, 256);
    }
    if (s->elem != 4 || alone(a, 2)) return;
    rmai_caf_box_packed(&s->box, sizeof *number, stride);
    if (!rmai_caf_convert(s->buffer, s->local.stride, to, (const char *)number, stride, from, &s->box))
        sim_fail(a->pe, "no conversion of real(8) to integer(4)");
    for (size_t i = 0; i < s->box.n; i++) {
        int32_t is;
        memcpy(&is, s->element[i], sizeof is);
        if (is != (int32_t)number[i]) sim_fail(a->pe, "%.1f is converted to %d", number[i], is);
    }
}

static void put_lane(struct actor *a) {
    struct shape s;
    int image, number;
    struct lane *lane = any_lane(a, &image, &number);
    if (!knows(a, lane->writer, lane->version)) return;
    make_shape(a, &s, image, number, 0);
    fill_elements(a, &s);
    for (size_t i = 0; i < s.box.n; i++) memcpy(lane->byte + s.at[i], s.element[i], s.elem);
    if (alone(a, 2)) a->last = image * LANES + number;
    lane->writer = a->me;
    lane->version = ++a->clock[a->me];
    sim_log(a->pe, "puts %zu elements into lane %d of PE %d, version %u", s.box.n, number, image, lane->version);
    rmai_caf_put("put", &s.remote, &s.local, &s.box, s.elem);
    memset(s.buffer, 0xee, sizeof s.buffer);
}

static void check_lane(struct actor *a) {
    struct shape s;
    int image, number;
    struct lane *lane = any_lane(a, &image, &number);
    const uint32_t version = lane->version;
    const int writer = lane->writer;
    if (!knows(a, writer, version)) return;
    if (image == a->me && alone(a, 2)) {
        if (memcmp(a->data->base + number * LANE, lane->byte, LANE) != 0)
            sim_fail(a->pe, "its lane %d is not what PE %d has put, version %u", number, writer, version);
        return;
    }
    make_shape(a, &s, image, number, 1);
    rmai_caf_get("get", &s.local, &s.remote, &s.box, s.elem);
    if (lane->writer != writer || lane->version != version) return;
    for (size_t i = 0; i < s.box.n; i++)
        if (memcmp(lane->byte + s.at[i], s.element[i], s.elem) != 0)
            sim_fail(a->pe, "gets other bytes at %td of lane %d of PE %d than PE %d has put, version %u", s.at[i],
                     number, image, writer, version);
}

/* ---- atomics ---- */

static void add_to_count(struct actor *a) {
    const int to = (int)alone(a, (uint64_t)a->n), which = (int)alone(a, 2);
    struct shared *sh = a->shared;
    size_t *n = &sh->n_additions[a->me];
    if (*n == sh->room[a->me]) {
        sh->room[a->me] = 2 * *n + 64;
        sh->addition[a->me] = sim_memory(sh->addition[a->me], sh->room[a->me] * sizeof **sh->addition);
    }
    sh->addition[a->me][(*n)++] = (struct addition){++a->clock[a->me], 2 * to + which};
    const struct rmai_caf_place at = which ? WORD(count4, to) : WORD(count, to);
    rmai_caf_word_op(&at, which ? 4 : 8, RMAI_CAF_OP_ADD, 1, (int)alone(a, 2));
}

static void check_count(struct actor *a) {
    const int at = (int)alone(a, (uint64_t)a->n), which = (int)alone(a, 2), word = 2 * at + which;
    const struct rmai_caf_place place = which ? WORD(count4, at) : WORD(count, at);
    uint64_t least[2 * MOST_PES], most[2 * MOST_PES], is;
    count_additions(a, least, 0, 1);
    is = rmai_caf_word_fetch(&place, which ? 4 : 8);
    count_additions(a, most, 1, 1);
    if (is < least[word] || is > most[word])
        sim_fail(a->pe, "a count at PE %d is %llu; it knows of %llu additions", at, (unsigned long long)is,
                 (unsigned long long)least[word]);
}

static void take_ticket(struct actor *a) {
    const int at = (int)alone(a, (uint64_t)a->n);
    const struct rmai_caf_place place = WORD(tickets, at);
    const uint64_t old = rmai_caf_word_op(&place, 8, RMAI_CAF_OP_ADD, 1, 1);
    unsigned char *taken = &a->shared->ticket[(size_t)at * TICKETS];
    if (old >= TICKETS || taken[old]++) sim_fail(a->pe, "a ticket of PE %d is there twice, or is none", at);
}

/* The bit and the word that this image changes at another one. */
static void change_owned(struct actor *a) {
    const int at = (int)alone(a, (uint64_t)a->n), op = (int)alone(a, 5), fetch = (int)alone(a, 2);
    const uint64_t bit = (uint64_t)1 << a->me, value = alone(a, UINT64_MAX);
    struct owned *o = &a->shared->owned[row(a, (size_t)at) + (size_t)a->me];
    const struct rmai_caf_place bits = WORD(bits, at), word = OWN(a->me, at);
    const struct owned before = *o;
    o->version = ++a->clock[a->me];
    if (op < 3) o->bit = op == 0 ? 1 : op == 1 ? 0 : !o->bit;
    if (op >= 3) o->value = value;
    if (op == 0) rmai_caf_word_op(&bits, 8, RMAI_CAF_OP_OR, bit, fetch);
    if (op == 1) rmai_caf_word_op(&bits, 8, RMAI_CAF_OP_AND, ~bit, fetch);
    if (op == 2) rmai_caf_word_op(&bits, 8, RMAI_CAF_OP_XOR, bit, fetch);
    if (op == 3) rmai_caf_word_set(&word, 8, value);
    if (op == 4 && rmai_caf_word_cas(&word, 8, before.value, value) != before.value)
        sim_fail(a->pe, "finds another value in its own word at PE %d", at);
}

static void check_owned(struct actor *a) {
    const int at = (int)alone(a, (uint64_t)a->n), of = (int)alone(a, (uint64_t)a->n);
    const struct owned *o = &a->shared->owned[row(a, (size_t)at) + (size_t)of], before = *o;
    const struct rmai_caf_place bits = WORD(bits, at), word = OWN(of, at);
    if (!knows(a, of, o->version)) return;
    const uint64_t is = rmai_caf_word_fetch(&word, 8), bit = rmai_caf_word_fetch(&bits, 8) >> of & 1;
    if (o->version == before.version && (is != before.value || (int)bit != before.bit))
        sim_fail(a->pe, "the bit or the word of PE %d at PE %d is not what that has made it", of, at);
}

/* What an image does between two statements of image control. */
static void act(struct actor *a, int most) {
    static void (*const acts[])(struct actor * a) = {put_lane,    put_lane,     put_lane,     check_lane,
                                                     check_lane,  check_lane,   add_to_count, check_count,
                                                     take_ticket, change_owned, check_owned};
    if (alone(a, 4) == 0) sim_sleep(a->pe, alone(a, alone(a, 8) ? 10000 : 200000));
    for (int i = (int)alone(a, (uint64_t)most); i > 0; i--) acts[alone(a, sizeof acts / sizeof *acts)](a);
}

/* ---- locks and events ---- */

static struct rmai_caf_place lock_at(const struct actor *a, int l) {
    return word_at(a, offsetof(struct board, lock) + (size_t)l * sizeof(uint64_t), a->shared->lock[l].home);
}

static void take_turn(struct actor *a, int l) {
    struct lock *lock = &a->shared->lock[l];
    const struct rmai_caf_place at = lock_at(a, l);
    const struct rmai_caf_place guarded =
        word_at(a, offsetof(struct board, guarded) + (size_t)l * sizeof(uint64_t), lock->guard);
    uint64_t count = 0;
    int stat = -1, acquired = 0;
    if (alone(a, 3)) {
        if (!alone(a, 2) || !rmai_caf_lock_free(&at))
            rmai_caf_lock((struct rmai_caf_result){.stat = &stat}, &at, NULL);
        else
            stat = RMAI_CAF_OK;
    } else {
        for (uint64_t most = 1000; !acquired; most += most < 100000 ? most : 0) {
            rmai_caf_lock((struct rmai_caf_result){.stat = &stat}, &at, &acquired);
            if (!acquired) expect_stat(a, "lock with acquired_lock", stat, RMAI_CAF_OK);
            if (!acquired) sim_sleep(a->pe, 1 + alone(a, most));
        }
    }
    sim_log(a->pe, "has lock %d", l);
    if (lock->holder) sim_fail(a->pe, "has lock %d, which PE %d has, too", l, lock->holder - 1);
    expect_stat(a, "lock", stat, lock->failed ? RMAI_CAF_STAT_UNLOCKED_FAILED : RMAI_CAF_OK);
    lock->holder = 1 + a->me;
    lock->failed = 0;
    learn(a, lock->clock);
    look(a);
    rmai_caf_read("get", &count, guarded, sizeof count);
    if (count != lock->turns)
        sim_fail(a->pe, "what lock %d guards counts %llu turns of %llu", l, (unsigned long long)count,
                 (unsigned long long)lock->turns);
    count = ++lock->turns;
    rmai_caf_write("put", guarded, &count, sizeof count);
}

static void end_turn(struct actor *a, int l) {
    struct lock *lock = &a->shared->lock[l];
    const struct rmai_caf_place at = lock_at(a, l);
    int stat = -1;
    lock->holder = 0;
    memcpy(lock->clock, a->clock, row(a, sizeof *a->clock));
    sim_log(a->pe, "unlocks lock %d", l);
    if (alone(a, 2) && rmai_caf_unlock_only(at.far)) return;
    rmai_caf_unlock((struct rmai_caf_result){.stat = &stat}, &at);
    expect_stat(a, "unlock", stat, RMAI_CAF_OK);
}

static void lock_wrongly(struct actor *a, int l) {
    const struct rmai_caf_place at = lock_at(a, l);
    int stat = -1;
    if (a->shared->lock[l].holder == 1 + a->me) {
        rmai_caf_lock((struct rmai_caf_result){.stat = &stat}, &at, NULL);
        expect_stat(a, "lock of a lock that it has", stat, RMAI_CAF_STAT_LOCKED);
        return;
    }
    rmai_caf_unlock((struct rmai_caf_result){.stat = &stat}, &at);
    if (stat != RMAI_CAF_STAT_LOCKED_OTHER) expect_stat(a, "unlock of another's lock", stat, RMAI_CAF_STAT_NOT_LOCKED);
}

static void lock_step(struct actor *a, uint64_t random) {
    const int few = choose(&random, 2) ? 1 : LOCKS;
    if (a->me % (1 + a->n / LOCKERS) != 0) return;
    for (int i = (int)alone(a, 5); i > 0; i--) {
        const int first = (int)alone(a, (uint64_t)few), second = first + 1 + (int)alone(a, LOCKS);
        take_turn(a, first);
        if (second < few) take_turn(a, second);
        if (alone(a, 3) == 0) act(a, 5);
        if (alone(a, 8) == 0) lock_wrongly(a, (int)alone(a, LOCKS));
        if (second < few && alone(a, 2)) end_turn(a, second);
        end_turn(a, first);
        if (a->shared->lock[second < few ? second : first].holder == 1 + a->me) end_turn(a, second);
        if (alone(a, 2)) act(a, 3);
    }
}

/* A failing image may take some locks with it. */
static void fail(struct actor *a) {
    for (int l = alone(a, 2) ? 0 : LOCKS; l < LOCKS; l++) {
        if (l > 0 && alone(a, 2)) continue;
        take_turn(a, l);
        act(a, 5);
    }
    for (int l = 0; l < LOCKS; l++) {
        struct lock *lock = &a->shared->lock[l];
        if (lock->holder != 1 + a->me) continue;
        lock->holder = 0;
        lock->failed = 1;
        memcpy(lock->clock, a->clock, row(a, sizeof *a->clock));
    }
    rmai_caf_fail();
}

static void wait_for_posts(struct actor *a, uint64_t n) {
    struct shared *sh = a->shared;
    const struct rmai_caf_place at = WORD(event, a->me);
    while (n > 0) {
        const uint64_t count = 1 + alone(a, n);
        int stat = -1;
        if (rmai_caf_word_fetch(&at, 8) > sh->posted[a->me] - sh->consumed[a->me])
            sim_fail(a->pe, "its event counts more posts than there were");
        rmai_caf_event_wait((struct rmai_caf_result){.stat = &stat}, &a->board->event, (int64_t)count);
        expect_stat(a, "event wait", stat, RMAI_CAF_OK);
        sh->consumed[a->me] += count;
        if (sh->consumed[a->me] == sh->posted[a->me]) learn(a, sh->posts_clock + row(a, (size_t)a->me));
        n -= count;
        look(a);
        act(a, 3);
    }
}

/* Each image posts to those at some distances. */
static void event_step(struct actor *a, uint64_t random) {
    const struct members *m = current(a);
    struct shared *sh = a->shared;
    uint64_t comes = 0;
    for (int i = (int)choose(&random, 3); i >= 0; i--) {
        const int distance = (int)choose(&random, (uint64_t)m->n), from = m->pe[(m->me + m->n - distance) % m->n];
        const int to = m->pe[(m->me + distance) % m->n];
        uint64_t times = 1 + choose(&random, 3);
        if (!has_left(a, from)) comes += times;
        for (; times > 0; times--) {
            const struct rmai_caf_place at = WORD(event, to);
            uint32_t *clock = sh->posts_clock + row(a, (size_t)to);
            int stat = -1;
            sh->posted[to]++;
            for (int k = 0; k < a->n; k++)
                if (clock[k] < a->clock[k]) clock[k] = a->clock[k];
            rmai_caf_event_post((struct rmai_caf_result){.stat = &stat}, &at);
            expect_stat(a, "event post", stat, RMAI_CAF_OK);
            act(a, 3);
        }
        if (alone(a, 2) && comes) wait_for_posts(a, comes), comes = 0;
    }
    wait_for_posts(a, comes);
}

/* ---- other steps ---- */

static void sync_step(struct actor *a, uint64_t random) {
    const struct members *m = current(a);
    const int distance = 1 + (int)choose(&random, (uint64_t)m->n), way = (int)choose(&random, 3);
    const int to = (m->me + distance) % m->n, from = (m->me + m->n * 2 - distance) % m->n;
    const int both[2] = {to, from}, twice[2] = {to + 1, to + 1};
    int stat = -1;
    for (int i = (int)choose(&random, 3); i >= 0; i--) {
        if (way == 0) sync_images(a, -1, NULL);
        if (way > 0) sync_images(a, to == from ? 1 : 2, both);
        act(a, way == 1 ? 2 : 6);
    }
    if (alone(a, 4)) return;
    rmai_caf_sync_images((struct rmai_caf_result){.stat = &stat}, 2, twice);
    expect_stat(a, "sync images with one image twice", stat, RMAI_CAF_STAT_TWICE);
}

/* Pairs, in one order on all images. */
static void pair_step(struct actor *a, uint64_t random) {
    const struct members *m = current(a);
    for (int i = (int)choose(&random, 3 * (uint64_t)m->n); i > 0; i--) {
        const int one = (int)choose(&random, (uint64_t)m->n), other = (int)choose(&random, (uint64_t)m->n);
        if (m->me != one && m->me != other) continue;
        act(a, 4);
        sync_images(a, 1, m->me == one ? &other : &one);
    }
}

/* Affine maps: their composition depends on the order. */
static void compose(void *acc, const void *x, size_t n, const void *context) {
    uint64_t *left = acc;
    const uint64_t *right = x;
    (void)context;
    for (size_t i = 0; i < 2 * n; i += 2) {
        left[i + 1] += left[i] * right[i + 1];
        left[i] *= right[i];
    }
}

static int64_t number_of(int member, size_t i, uint64_t salt) {
    return (int64_t)((salt >> i % 8) + (uint64_t)member * 7919 + i * 31) % 1000 - 500;
}

static void collective_step(struct actor *a, uint64_t random) {
    static const struct rmai_caf_type types[] = {{RMAI_CAF_INTEGER, 8, 8}, {RMAI_CAF_DERIVED, 0, 16}};
    const struct members *m = current(a);
    const size_t n = 1 + choose(&random, choose(&random, 2) ? 3 : LONG_MOST);
    const enum rmai_caf_collective what = (enum rmai_caf_collective)choose(&random, 5);
    const int image = (int)choose(&random, (uint64_t)m->n), rooted = (int)choose(&random, 2);
    const uint64_t salt = choose(&random, 1000000);
    const size_t per = what == RMAI_CAF_USER ? 2 : 1;
    uint64_t *mine = sim_memory(NULL, 2 * per * n * sizeof *mine), *result = mine + per * n, one[2];
    int stat;
    for (size_t i = 0; i < per * n; i++) mine[i] = result[i] = (uint64_t)number_of(0, i, salt);
    for (int k = 1; k < m->n; k++)
        for (size_t i = 0; i < per * n; i += per) {
            const int64_t x = number_of(k, i, salt), y = (int64_t)result[i];
            one[0] = (uint64_t)x, one[1] = (uint64_t)number_of(k, i + 1, salt);
            if (what == RMAI_CAF_SUM) result[i] = (uint64_t)(y + x);
            if (what == RMAI_CAF_MIN) result[i] = (uint64_t)(x < y ? x : y);
            if (what == RMAI_CAF_MAX) result[i] = (uint64_t)(x > y ? x : y);
            if (what == RMAI_CAF_USER) compose(&result[i], one, 1, NULL);
        }
    for (size_t i = 0; i < per * n; i++) {
        mine[i] = (uint64_t)number_of(m->me, i, salt);
        if (what == RMAI_CAF_BROADCAST) result[i] = (uint64_t)number_of(image, i, salt);
    }
    const struct rmai_caf_result r = {.stat = &stat};
    sim_log(a->pe, "collective %d of %zu elements in a team of %d", (int)what, n, m->n);
    if (what == RMAI_CAF_BROADCAST)
        rmai_caf_broadcast(r, mine, n * sizeof *mine, image + 1);
    else
        rmai_caf_reduce(r, "collective", what, mine, n, types[per - 1], rooted ? image + 1 : 0, compose, NULL);
    expect_stat(a, "collective", stat, status_of(a, m->n, m->pe));
    if (stat == RMAI_CAF_OK && (!rooted || what == RMAI_CAF_BROADCAST || m->me == image) &&
        memcmp(mine, result, per * n * sizeof *mine) != 0)
        sim_fail(a->pe, "collective %d of %zu elements in a team of %d gives another result", (int)what, n, m->n);
    free(mine);
}

/* A coarray of the current team. In a team it may stay until END TEAM. */
static void allocate_step(struct actor *a, uint64_t random) {
    const struct members *m = current(a);
    const size_t size = 8 + choose(&random, choose(&random, 2) ? 100 : 20000), at = choose(&random, size - 7);
    const int distance = (int)choose(&random, (uint64_t)m->n), from = (m->me + m->n - distance) % m->n;
    const int stays = a->depth > 0 && choose(&random, 2), to = m->pe[(m->me + distance) % m->n];
    uint64_t word = (uint64_t)a->me + 1;
    int stat;
    struct rmai_caf_result r = enter(a, "allocate", &stat);
    struct rmai_caf_coarray *c = rmai_caf_coarray_make(r, size, 1);
    if (!leave_barrier(a, "allocate", stat)) {
        if (c) sim_fail(a->pe, "an image has left, and allocate has made a coarray");
        return;
    }
    if (!c || !rmai_caf_coarray_lives(c)) sim_fail(a->pe, "allocate has made no coarray");
    rmai_caf_write("put", rmai_caf_place(c, at, to), &word, sizeof word);
    sync_team(a);
    memcpy(&word, c->base + at, sizeof word);
    if (word != (uint64_t)m->pe[from] + 1) sim_fail(a->pe, "a new coarray has not what PE %d has put", m->pe[from]);
    if (stays) return;
    r = enter(a, "deallocate", &stat);
    rmai_caf_coarray_free(r, c);
    leave_barrier(a, "deallocate", stat);
}

/* This image leaves if the point is there. */
static void leave_here(struct actor *a) {
    if (!has_left(a, a->me)) return;
    sim_log(a->pe, "%s", a->shared->leave[a->me].how == STOPS ? "stops" : "fails");
    if (a->shared->leave[a->me].how == FAILS) fail(a);
    rmai_caf_finish();
    longjmp(process.place[a->me], 1);
}

static void do_step(struct actor *a, uint64_t random);

/* Teams of images with the same remainder, in which images have the order of the parent or the opposite one. */
static void team_step(struct actor *a, uint64_t random) {
    struct members *m = current(a), *in = m + 1;
    const int n_teams = 1 + (int)choose(&random, 3), mine = m->me % n_teams, opposite = (int)choose(&random, 2);
    const int point = a->point, unit = a->depth == 0 ? INNER : 1;
    int stat;
    if (a->depth + 1 == DEPTH) return;
    *in = (struct members){.pe = in->pe};
    for (int i = 0; i < m->n; i++)
        if (i % n_teams == mine) in->pe[in->n++] = m->pe[i];
    for (int i = 0; opposite && i < in->n / 2; i++) {
        const int pe = in->pe[i];
        in->pe[i] = in->pe[in->n - 1 - i];
        in->pe[in->n - 1 - i] = pe;
    }
    while (in->pe[in->me] != a->me) in->me++;
    struct rmai_caf_result r = enter(a, "form team", &stat);
    struct rmai_caf_team *team = rmai_caf_team_form(r, 1 + mine, opposite ? in->me + 1 : 0);
    if (stat == -1) stat = RMAI_CAF_OK;
    if (!leave_barrier(a, "form team", stat)) return;
    if (!team || team->n != in->n || team->me != in->me) sim_fail(a->pe, "form team has made another team");
    a->depth++;
    r = enter(a, "change team", &stat);
    rmai_caf_team_change(r, team);
    leave_barrier(a, "change team", stat);
    random += (uint64_t)mine;
    for (int i = 1; i < INNER - 1; i++) {
        a->point = point + i * unit;
        do_step(a, choose(&random, UINT64_MAX));
    }
    a->point = point + (INNER - 1) * unit;
    leave_here(a);
    r = enter(a, "end team", &stat);
    rmai_caf_team_end(r);
    leave_barrier(a, "end team", stat);
    a->depth--;
    a->point = point;
}

static void barrier_step(struct actor *a, uint64_t random) {
    for (int i = (int)choose(&random, 3); i >= 0; i--) {
        act(a, 8);
        sync_team(a);
    }
}

static void do_step(struct actor *a, uint64_t random) {
    static void (*const steps[])(struct actor * a, uint64_t random) = {
        barrier_step, barrier_step, sync_step,       pair_step,       pair_step,     lock_step,
        lock_step,    event_step,   collective_step, collective_step, allocate_step, team_step};
    uint64_t which = choose(&random, sizeof steps / sizeof *steps);
    leave_here(a);
    /* Images that have just lost one meet each other in locks and barriers. */
    for (int i = 0; i < a->n; i++)
        if (has_left(a, i) && a->shared->leave[i].at > a->point - POINT)
            which = random % 2 ? 5 : random % 3 ? 0 : which;
    sim_log(a->pe, "point %d: step %d", a->point, (int)which);
    steps[which](a, random);
    if (alone(a, 2)) act(a, 8);
}

/* ---- the program ---- */

static void begin_image(struct actor *a) {
    const size_t board = sizeof(struct board) + row(a, sizeof(uint64_t));
    a->common = a->shared->seed * 1000003;
    a->own = a->common + 1 + (uint64_t)a->me;
    a->clock = a->shared->clock + row(a, (size_t)a->me);
    a->pairs = sim_memory(NULL, row(a, sizeof *a->pairs));
    memset(a->pairs, 0, row(a, sizeof *a->pairs));
    for (int d = 0; d < DEPTH; d++) a->team[d].pe = sim_memory(NULL, row(a, sizeof(int)));
    a->team[0].n = a->n;
    a->team[0].me = a->me;
    for (int i = 0; i < a->n; i++) a->team[0].pe[i] = i;
    rmai_caf_start();
    a->data = rmai_caf_coarray_make(RMAI_CAF_NO_RESULT, (size_t)LANES * LANE, 1);
    a->words = rmai_caf_coarray_make(RMAI_CAF_NO_RESULT, board, 1);
    a->board = (struct board *)(void *)a->words->base;
    rmai_caf_in_main();
}

static void images_program(struct sim_pe *pe, void *context) {
    struct shared *shared = context;
    struct actor *a = sim_memory(NULL, sizeof *a);
    *a = (struct actor){.pe = pe, .shared = shared, .me = pe->me, .n = shared->n};
    if (setjmp(process.place[pe->me]) == 0) {
        begin_image(a);
        for (int i = 0; i < STEPS; i++) {
            a->point = i * POINT;
            do_step(a, choose(&a->common, UINT64_MAX));
        }
        rmai_caf_finish();
    }
    for (int d = 0; d < DEPTH; d++) free(a->team[d].pe);
    free(a->pairs);
    free(a);
}

static void *zeros(size_t n, size_t size) {
    void *block = sim_memory(NULL, n * size);
    return memset(block, 0, n * size);
}

static void begin_process(size_t n) {
    process.state = sim_memory(NULL, n * STATE_BYTES);
    process.table = sim_memory(NULL, n * TABLE_BYTES);
    for (size_t i = 0; i < n; i++) memcpy(process.state + i * STATE_BYTES, __start_rmai_caf_state, STATE_BYTES);
    process.used = zeros(n, sizeof *process.used);
    process.place = zeros(n, sizeof *process.place);
}

/* Who leaves: not all images, and in half of the runs none. */
static void choose_leaving(struct shared *sh, uint64_t random) {
    int at = 0;
    for (int i = choose(&random, 2) ? 1 + (int)choose(&random, 4) : 0; i > 0 && sh->n > 1; i--) {
        const int image = (int)choose(&random, (uint64_t)sh->n - 1);
        sh->leave[image].how = choose(&random, 2) ? STOPS : FAILS;
        /* Often one leaves a step after another one has. */
        at = at && choose(&random, 2) ? at + POINT : (int)choose(&random, STEPS * POINT);
        sh->leave[image].at = at;
    }
}

static void *images_begin(const struct sim_options *options) {
    struct shared *sh = zeros(1, sizeof *sh);
    const size_t n = (size_t)options->n_pes;
    uint64_t random = options->seed + 7;
    begin_process(n);
    *sh = (struct shared){.n = options->n_pes, .seed = options->seed};
    sh->lane = zeros(n * LANES, sizeof *sh->lane);
    sh->owned = zeros(n * n, sizeof *sh->owned);
    sh->clock = zeros(n * n, sizeof *sh->clock);
    sh->barrier = zeros(n * DEPTH * 2 * n, sizeof *sh->barrier);
    sh->pair = zeros(n * n * 2 * n, sizeof *sh->pair);
    sh->posts_clock = zeros(n * n, sizeof *sh->posts_clock);
    sh->posted = zeros(n, sizeof *sh->posted);
    sh->consumed = zeros(n, sizeof *sh->consumed);
    sh->ticket = zeros(n, TICKETS);
    sh->addition = zeros(n, sizeof *sh->addition);
    sh->n_additions = zeros(n, sizeof *sh->n_additions);
    sh->room = zeros(n, sizeof *sh->room);
    sh->leave = zeros(n, sizeof *sh->leave);
    for (int l = 0; l < LOCKS; l++) {
        sh->lock[l].home = (int)choose(&random, n);
        sh->lock[l].guard = choose(&random, 2) ? sh->lock[l].home : (int)choose(&random, n);
        sh->lock[l].clock = zeros(n, sizeof *sh->lock[l].clock);
    }
    choose_leaving(sh, random);
    return sh;
}

/* A run has a process of its own, which ends next. */
static void images_end(void *context) { (void)context; }

static void prepare_images(struct sim_options *options) {
    static const char *settings[3][5] = {{"RMA_SPIN=0", NULL, "RMA_STALL=0", "RMA_TIMEOUT=0", NULL},
                                         {"RMA_SPIN=40", NULL, "RMA_CHECK=1", "RMA_STALL=0", NULL},
                                         {"RMA_SPIN=0", NULL, "RMA_PROGRESS=none", "RMA_STALL=0", NULL}};
    static struct sim_layer layer;
    uint64_t random = options->seed + 177;
    const char **chosen;
    layer = sim_whole;
    layer.turn = take_image_turn;
    options->layer = &layer;
    options->limit = 5000000000u;
    if (sim_random(&random) % 8 == 0) options->n_pes += 16; /* two images for a slot of move.c */
    options->node_pes = sim_random(&random) % 2 ? 1 : 1 + (int)(sim_random(&random) % 4);
    options->crowded = sim_random(&random) % 3 == 0;
    options->threads = 1; /* coarrays need the service thread */
    chosen = settings[sim_random(&random) % 3];
    chosen[1] = jobs_windows(options, &random);
    options->settings = chosen;
}

const struct scenario scenario_images = {.name = "images",
                                         .what = "coarrays: transfers, image control, atomics, images that leave",
                                         .least_pes = 1,
                                         .most_pes = MOST_PES,
                                         .prepare = prepare_images,
                                         .begin = images_begin,
                                         .program = images_program,
                                         .end = images_end};
