/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives give what a loop over all sources gives: on any team, for any length, type and operation, in place or
 * not, wherever each PE has its buffers; and when a call returns, its dest is complete, nothing else has changed, and
 * the caller owns both buffers again.
 *
 * Broken by a root that is used as a PE number of the job, by PEs in the order of the job or of nodes instead of the
 * team's, by a remainder of PEs or bytes that is left out, by an element that is cut at a piece's end, by data of the
 * previous call, by a source that is read after its owner's call has returned, by another type's operation, by a sum
 * that begins from zero, by a different order of addition on another PE, and by an address that is assumed to be the
 * same on all PEs. Here PEs outside a team go on to the next call, there is no barrier between calls, and a buffer is
 * overwritten as soon as its call has returned. */
#include "job.h"

#include <complex.h>
#include <float.h>
#include <math.h>

#define MOST      ((size_t)200 << 10) /* bytes of one PE */
#define ROOM      ((size_t)1 << 20)   /* bytes of all PEs together */
#define GUARD     64
#define PLACES    4
#define TEAMS_MAX 24

/* ---- teams ---- */

static struct job_group world, node;
static struct job_group groups[TEAMS_MAX];
static size_t n_groups;

static const struct job_group *keep(const struct job_group *g) {
    CHECK(n_groups < TEAMS_MAX, "raise TEAMS_MAX");
    CHECK(rma_team_my_pe(g->team) == g->me, "number %d, not %d, in %s", rma_team_my_pe(g->team), g->me, g->name);
    groups[n_groups] = *g;
    return &groups[n_groups++];
}

static const struct job_group *strided(const struct job_group *parent, int start, int stride, int size,
                                       const char *name) {
    struct job_group g = job_strided(parent, name, start, stride, size);
    return keep(&g);
}

static void grid(const struct job_group *parent, int xrange, const char *rows, const char *columns) {
    int width = xrange < parent->n ? xrange : parent->n, column = parent->me % width, first = parent->me - column,
        n = 0;
    while (column + n * width < parent->n) n++;
    struct job_group x = job_part(parent, rows, first, 1, parent->n - first < width ? parent->n - first : width);
    struct job_group y = job_part(parent, columns, column, width, n);
    OK(rma_team_split_2d(parent->team, xrange, &x.team, &y.team));
    keep(&x);
    keep(&y);
}

/* Each PE has the same list of names; behind a row, a column, or the node, there is the one that it is in. */
static void make_groups(void) {
    int n = job.n;
    const struct job_group *back;
    world = job_world();
    node = job_node();
    keep(&world);
    keep(&node);
    back = strided(&world, n - 1, -1, n, "all backwards");
    strided(&world, 0, 2, (n + 1) / 2, "the even ones");
    if (n > 1) strided(&world, 1, 2, n / 2, "the odd ones");
    strided(&world, n / 2, 1, 1, "one alone");
    if (n > 2) {
        strided(&world, n - 1, -2, (n + 1) / 2, "each second backwards");
        strided(&world, 1, 1, n - 1, "all but the first");
        strided(&world, 0, 1, 3, "the first three");
        const struct job_group *most = strided(back, 0, 1, n - 1, "all but PE 0, backwards");
        strided(most, 1, 1, n - 2, "all of these but the last");
    }
    grid(&world, 2, "a row of two", "a column of two to a row");
    if (n > 3) grid(&world, 3, "a row of three", "a column of three to a row");
    grid(back, (n + 1) / 2, "a row backwards", "a column backwards");
    strided(&node, job.n_near - 1, -1, job.n_near, "the node backwards");
}

static void end_groups(void) {
    while (n_groups > 2) OK(rma_team_destroy(groups[--n_groups].team));
}

/* ---- types ---- */

enum op { AND, OR, XOR, MIN, MAX, MIN_IN, MIN_EX, MAX_IN, MAX_EX, SUM, PROD, INSCAN, EXSCAN, OPS };
#define IS_MIN(op) ((op) == MIN || (op) == MIN_IN || (op) == MIN_EX)
#define IS_MAX(op) ((op) == MAX || (op) == MAX_IN || (op) == MAX_EX)
static const char *const op_names[] = {"and",        "or",         "xor", "min",  "max",    "min inscan", "min exscan",
                                       "max inscan", "max exscan", "sum", "prod", "inscan", "exscan"};

struct type {
    const char *name;
    size_t size;
    enum op first; /* it has this operation and those behind */
    int (*call)(enum op op, rma_team *team, void *dest, const void *source, size_t n);
    int (*generic)(enum op op, rma_team *team, void *dest, const void *source, size_t n); /* by the macro */
    void (*fill)(void *buffer, size_t n, uint64_t key, enum op op);
    /* The first element that is not that of the operation on the buffers that were filled with these keys, or n. */
    size_t (*differs)(const void *buffer, size_t n, const uint64_t *keys, int n_keys, enum op op);
};

/* clang-format off */
#define CALL_BITS(SUFFIX)                                                                                              \
    case AND: return rma_and_reduce##SUFFIX(team, d, s, n);                                                            \
    case OR: return rma_or_reduce##SUFFIX(team, d, s, n);                                                              \
    case XOR: return rma_xor_reduce##SUFFIX(team, d, s, n);
#define CALL_LIMITS(SUFFIX)                                                                                            \
    case MIN: return rma_min_reduce##SUFFIX(team, d, s, n);                                                            \
    case MAX: return rma_max_reduce##SUFFIX(team, d, s, n);                                                            \
    case MIN_IN: return rma_min_inscan##SUFFIX(team, d, s, n);                                                         \
    case MIN_EX: return rma_min_exscan##SUFFIX(team, d, s, n);                                                         \
    case MAX_IN: return rma_max_inscan##SUFFIX(team, d, s, n);                                                         \
    case MAX_EX: return rma_max_exscan##SUFFIX(team, d, s, n);
#define CALL_SUMS(SUFFIX)                                                                                              \
    case SUM: return rma_sum_reduce##SUFFIX(team, d, s, n);                                                            \
    case PROD: return rma_prod_reduce##SUFFIX(team, d, s, n);                                                          \
    case INSCAN: return rma_sum_inscan##SUFFIX(team, d, s, n);                                                         \
    case EXSCAN: return rma_sum_exscan##SUFFIX(team, d, s, n);
/* clang-format on */
#define CALL(FUNCTION, TYPE, CALLS)                                                                                    \
    static int FUNCTION(enum op op, rma_team *team, void *dest, const void *source, size_t n) {                        \
        TYPE *d = dest;                                                                                                \
        const TYPE *s = source;                                                                                        \
        switch (op) {                                                                                                  \
            CALLS                                                                                                      \
            default: CHECK(false, "no such operation"); return -1;                                                     \
        }                                                                                                              \
    }
#define TYPED(NAME, TYPE, CALLS)                                                                                       \
    CALL(call_##NAME, TYPE, CALLS)                                                                                     \
    static void fill_##NAME(void *buffer, size_t n, uint64_t key, enum op op) {                                        \
        TYPE *p = buffer;                                                                                              \
        for (size_t i = 0; i < n; i++) p[i] = value_##NAME(key, i, op);                                                \
    }                                                                                                                  \
    static size_t differs_##NAME(const void *buffer, size_t n, const uint64_t *keys, int n_keys, enum op op) {         \
        const TYPE *p = buffer;                                                                                        \
        for (size_t i = 0; i < n; i++) {                                                                               \
            TYPE want = n_keys ? value_##NAME(keys[0], i, op) : first_##NAME(op);                                      \
            for (int k = 1; k < n_keys; k++) want = one_##NAME(want, value_##NAME(keys[k], i, op), op);                \
            if (!(p[i] == want)) return i;                                                                             \
        }                                                                                                              \
        return n;                                                                                                      \
    }

/* Integers of all bits, of which sums and products run over; half of the products would soon be 0. */
#define INTEGER(NAME, TYPE)                                                                                            \
    static TYPE value_##NAME(uint64_t key, size_t i, enum op op) { return (TYPE)(job_mix(key + i) | (op == PROD)); }   \
    static TYPE one_##NAME(TYPE a, TYPE b, enum op op) {                                                               \
        switch (op) {                                                                                                  \
            case AND: return (TYPE)(a & b);                                                                            \
            case OR: return (TYPE)(a | b);                                                                             \
            case XOR: return (TYPE)(a ^ b);                                                                            \
            case MIN:                                                                                                  \
            case MIN_IN:                                                                                               \
            case MIN_EX: return b < a ? b : a;                                                                         \
            case MAX:                                                                                                  \
            case MAX_IN:                                                                                               \
            case MAX_EX: return b > a ? b : a;                                                                         \
            case PROD: return (TYPE)((uint64_t)a * (uint64_t)b);                                                       \
            default: return (TYPE)((uint64_t)a + (uint64_t)b);                                                         \
        }                                                                                                              \
    }                                                                                                                  \
    static TYPE first_##NAME(enum op op) { /* what the first PE of an exclusive scan gets */                           \
        const TYPE greatest = (TYPE)-1 < (TYPE)1 ? (TYPE)(((uint64_t)1 << (8 * sizeof(TYPE) - 1)) - 1) : (TYPE)-1;     \
        return op == MIN_EX ? greatest : op == MAX_EX ? (TYPE)((uint64_t)greatest + 1) : (TYPE)0;                      \
    }                                                                                                                  \
    TYPED(NAME, TYPE, CALL_BITS(_##NAME) CALL_LIMITS(_##NAME) CALL_SUMS(_##NAME))

/* Small whole numbers, and powers of two for products: exact in any order. */
static int small(uint64_t key, size_t i) { return (int)(job_mix(key + i) % 17) - 8; }
static int power(uint64_t key, size_t i) { return (const int[]){1, -1, 2, -2, 1, 4, -1, 1}[job_mix(key + i) % 8]; }

#define FLOATING(NAME, TYPE)                                                                                           \
    static TYPE value_##NAME(uint64_t key, size_t i, enum op op) {                                                     \
        return (TYPE)(op == PROD ? power(key, i) : small(key, i));                                                     \
    }                                                                                                                  \
    static TYPE one_##NAME(TYPE a, TYPE b, enum op op) {                                                               \
        return IS_MIN(op) ? (b < a ? b : a) : IS_MAX(op) ? (b > a ? b : a) : op == PROD ? a * b : a + b;               \
    }                                                                                                                  \
    static TYPE first_##NAME(enum op op) {                                                                             \
        return op == MIN_EX ? (TYPE)INFINITY : op == MAX_EX ? -(TYPE)INFINITY : (TYPE)0;                               \
    }                                                                                                                  \
    TYPED(NAME, TYPE, CALL_LIMITS(_##NAME) CALL_SUMS(_##NAME))

#define COMPLEX(NAME, TYPE)                                                                                            \
    static TYPE value_##NAME(uint64_t key, size_t i, enum op op) {                                                     \
        double re = op == PROD ? power(key, i) : small(key, i), im = op == PROD ? power(key, i / 3) : small(~key, i);  \
        return (TYPE)(job_mix(key ^ i) % 2 ? re + im * I : im * I);                                                    \
    }                                                                                                                  \
    static TYPE one_##NAME(TYPE a, TYPE b, enum op op) { return op == PROD ? a * b : a + b; }                          \
    static TYPE first_##NAME(enum op op) { return (void)op, (TYPE)0; }                                                 \
    TYPED(NAME, TYPE, CALL_SUMS(_##NAME))

RMA_INTEGER_TYPES(INTEGER)
RMA_TYPE_ALIASES(INTEGER)
RMA_ATOMIC_FLOAT_TYPES(FLOATING)
FLOATING(ldouble, long double)
RMA_COMPLEX_TYPES(COMPLEX)

/* The generic macros cannot stand in what one of the header's tables expands: hence lists of this file's own. */
/* clang-format off */
#define OWN_INTEGERS(X)                                                                                                \
    X(char, char) X(schar, signed char) X(uchar, unsigned char) X(short, short) X(ushort, unsigned short) X(int, int)  \
    X(uint, unsigned) X(long, long) X(ulong, unsigned long) X(llong, long long) X(ullong, unsigned long long)          \
    X(int8, int8_t) X(int16, int16_t) X(int32, int32_t) X(int64, int64_t) X(uint8, uint8_t) X(uint16, uint16_t)        \
    X(uint32, uint32_t) X(uint64, uint64_t) X(size, size_t) X(ptrdiff, ptrdiff_t)
/* clang-format on */
#define GENERIC_INTEGER(NAME, TYPE)  CALL(generic_##NAME, TYPE, CALL_BITS() CALL_LIMITS() CALL_SUMS())
#define GENERIC_FLOATING(NAME, TYPE) CALL(generic_##NAME, TYPE, CALL_LIMITS() CALL_SUMS())
#define GENERIC_COMPLEX(NAME, TYPE)  CALL(generic_##NAME, TYPE, CALL_SUMS())

OWN_INTEGERS(GENERIC_INTEGER)
GENERIC_FLOATING(float, float)
GENERIC_FLOATING(double, double)
GENERIC_FLOATING(ldouble, long double)
GENERIC_COMPLEX(complexf, float _Complex)
GENERIC_COMPLEX(complexd, double _Complex)

#define ROW(NAME, TYPE, FIRST)   {#NAME, sizeof(TYPE), FIRST, call_##NAME, generic_##NAME, fill_##NAME, differs_##NAME},
#define INTEGER_ROW(NAME, TYPE)  ROW(NAME, TYPE, AND)
#define FLOATING_ROW(NAME, TYPE) ROW(NAME, TYPE, MIN)
#define COMPLEX_ROW(NAME, TYPE)  ROW(NAME, TYPE, SUM)

static const struct type types[] = {RMA_INTEGER_TYPES(INTEGER_ROW) RMA_TYPE_ALIASES(INTEGER_ROW) RMA_ATOMIC_FLOAT_TYPES(
    FLOATING_ROW) FLOATING_ROW(ldouble, long double) RMA_COMPLEX_TYPES(COMPLEX_ROW)};
#define TYPES (sizeof types / sizeof types[0])

/* All types of the header are in this file's lists. */
#define COUNT(NAME, TYPE) +1
_Static_assert(TYPES == 0 RMA_TYPES(COUNT) RMA_TYPE_ALIASES(COUNT) RMA_COMPLEX_TYPES(COUNT), "a type is missing");

/* ---- buffers ---- */

/* Symmetric heap, local heap, private memory, static variables: for dest, and for source. */
static unsigned char *places[2][PLACES], *want;
static unsigned char static_dest[ROOM + 2 * GUARD] __attribute__((aligned(64)));
static unsigned char static_source[ROOM + 2 * GUARD] __attribute__((aligned(64)));

static void make_places(void) {
    for (int i = 0; i < 2; i++) {
        void *local = NULL, *private = NULL;
        places[i][0] = rma_malloc(ROOM + 2 * GUARD);
        OK(rma_alloc_mem(ROOM + 2 * GUARD, &local));
        CHECK(posix_memalign(&private, 64, ROOM + 2 * GUARD) == 0, "no memory");
        places[i][1] = local;
        places[i][2] = private;
        places[i][3] = i ? static_source : static_dest;
        CHECK(places[i][0] != NULL, "%s", rma_last_error());
    }
    want = malloc(ROOM + 2 * GUARD);
    CHECK(want != NULL, "no memory");
}

static void end_places(void) {
    for (int i = 0; i < 2; i++) {
        OK(rma_free(places[i][0]));
        OK(rma_free_mem(places[i][1]));
        free(places[i][2]);
    }
    free(want);
}

/* Somewhere in one of the places, len bytes with guards around them. */
static unsigned char *somewhere(uint64_t *own, int which, size_t len, size_t align) {
    unsigned char *base = places[which][job_below(own, PLACES)];
    return base + GUARD + job_below(own, ROOM - len + 1) / align * align;
}

/* ---- rounds ---- */

enum kind { BROADCAST, FCOLLECT, COLLECT, ALLTOALL, ALLTOALLS, REDUCE };
static const char *const kind_names[] = {"broadcast", "fcollect", "collect", "alltoall", "alltoalls", "reduction"};

/* What all PEs draw alike. */
struct call {
    long round;
    enum kind kind;
    const struct job_group *g;
    bool in_place;
    int root;
    size_t len; /* of one PE or block */
    ptrdiff_t dest_stride, source_stride;
    size_t elem, n;
    const struct type *type;
    enum op op;
};

static uint64_t key_of(const struct call *c, int i) {
    return job_mix((uint64_t)c->round << 8 | (uint64_t)c->g->pes[i]);
}

/* The length that number i gives in a collect. */
static size_t length_of(const struct call *c, int i) {
    uint64_t random = job_stream((uint64_t)c->round << 8 | 0x40000000000000u | (uint64_t)c->g->pes[i]);
    return job_below(&random, 4) ? job_length(&random, c->len) : 0;
}

static size_t extent(const struct call *c, ptrdiff_t stride) {
    size_t n = c->n * (size_t)c->g->n;
    return n && c->elem ? ((n - 1) * (size_t)stride + 1) * c->elem : 0;
}

static void lengths(const struct call *c, size_t *dest, size_t *source) {
    size_t n = (size_t)c->g->n;
    *dest = *source = c->len;
    switch (c->kind) {
        case FCOLLECT: *dest = n * c->len; break;
        case COLLECT:
            *source = length_of(c, c->g->me);
            *dest = 0;
            for (int i = 0; i < c->g->n; i++) *dest += length_of(c, i);
            break;
        case ALLTOALL: *dest = *source = n * c->len; break;
        case ALLTOALLS:
            *dest = extent(c, c->dest_stride);
            *source = extent(c, c->source_stride);
            break;
        case REDUCE: *dest = *source = c->n * c->type->size; break;
        case BROADCAST: break;
    }
}

/* dest as it must be then, in want, where it is as before. */
static void expect(const struct call *c, unsigned char *to) {
    size_t at = 0;
    for (int i = 0; i < c->g->n; i++) {
        size_t me = (size_t)c->g->me, k = (size_t)i;
        switch (c->kind) {
            case BROADCAST:
                if (i == c->root) job_fill(to, 0, c->len, key_of(c, i));
                break;
            case FCOLLECT: job_fill(to + k * c->len, 0, c->len, key_of(c, i)); break;
            case COLLECT:
                job_fill(to + at, 0, length_of(c, i), key_of(c, i));
                at += length_of(c, i);
                break;
            case ALLTOALL: job_fill(to + k * c->len, me * c->len, c->len, key_of(c, i)); break;
            case ALLTOALLS:
                for (size_t e = 0; e < c->n; e++)
                    job_fill(to + (k * c->n + e) * (size_t)c->dest_stride * c->elem,
                             (me * c->n + e) * (size_t)c->source_stride * c->elem, c->elem, key_of(c, i));
                break;
            case REDUCE: break;
        }
    }
}

static int make_call(const struct call *c, void *dest, const void *source) {
    rma_team *team = c->g->team;
    switch (c->kind) {
        case BROADCAST: return rma_broadcast(team, dest, source, c->len, c->root);
        case FCOLLECT: return rma_fcollect(team, dest, source, c->len);
        case COLLECT: return rma_collect(team, dest, source, length_of(c, c->g->me));
        case ALLTOALL: return rma_alltoall(team, dest, source, c->len);
        case ALLTOALLS: return rma_alltoalls(team, dest, source, c->dest_stride, c->source_stride, c->elem, c->n);
        case REDUCE: return (c->round % 2 ? c->type->generic : c->type->call)(c->op, team, dest, source, c->n);
    }
    return -1;
}

static const char *described(const struct call *c) {
    return job_text("round %ld: %s%s%s%s%s of %zu bytes (%zu of %zu, strides %td and %td) on %s, %d PEs, this one "
                    "number %d, root %d",
                    c->round, kind_names[c->kind], c->kind == REDUCE ? ", " : "",
                    c->kind == REDUCE ? op_names[c->op] : "",
                    c->kind == REDUCE ? job_text(" of %s", c->type->name) : "", c->in_place ? ", in place" : "", c->len,
                    c->n, c->elem, c->dest_stride, c->source_stride, c->g->name, c->g->n, c->g->me, c->root);
}

static void is_as_wanted(const struct call *c, const unsigned char *to, size_t room) {
    if (memcmp(to - GUARD, want, room + 2 * GUARD) == 0) return;
    for (size_t i = 0; i < room + 2 * GUARD; i++)
        CHECK(to[(ptrdiff_t)i - GUARD] == want[i], "%s: byte %td of dest is %#x, not %#x", described(c),
              (ptrdiff_t)i - GUARD, (unsigned)to[(ptrdiff_t)i - GUARD], (unsigned)want[i]);
}

static void is_reduced(const struct call *c, const unsigned char *to, size_t len, uint64_t other) {
    uint64_t keys[JOB_PES_MAX];
    const bool in = c->op == INSCAN || c->op == MIN_IN || c->op == MAX_IN;
    const bool ex = c->op == EXSCAN || c->op == MIN_EX || c->op == MAX_EX;
    int n = in ? c->g->me + 1 : ex ? c->g->me : c->g->n;
    size_t wrong;
    for (int i = 0; i < n; i++) keys[i] = key_of(c, i);
    wrong = c->type->differs(to, c->n, keys, n, c->op);
    CHECK(wrong == c->n, "%s: element %zu is wrong", described(c), wrong);
    CHECK(job_differs(to - GUARD, 0, GUARD, other) == GUARD, "%s: bytes before dest have changed", described(c));
    CHECK(job_differs(to + len, GUARD + len, GUARD, other) == GUARD, "%s: bytes behind dest have changed",
          described(c));
}

/* own: the numbers of this PE alone. */
static void do_call(const struct call *c, uint64_t *own) {
    size_t to_len, from_len, room, align = c->kind == REDUCE ? c->type->size : 1;
    uint64_t mine = key_of(c, c->g->me), other = job_mix(mine);
    bool look = job_below(own, 2), nothing;
    if (align > 16) align = 16;
    lengths(c, &to_len, &from_len);
    room = c->in_place && from_len > to_len ? from_len : to_len;
    unsigned char *to = somewhere(own, 0, room, align), *source = c->in_place ? to : somewhere(own, 1, from_len, align);

    job_fill(to - GUARD, 0, room + 2 * GUARD, other);
    if (c->kind == REDUCE)
        c->type->fill(source, c->n, mine, c->op);
    else
        job_fill(source, 0, from_len, mine);
    if (c->kind != REDUCE) {
        memcpy(want, to - GUARD, room + 2 * GUARD);
        expect(c, want + GUARD);
    }

    /* Where nothing is read or written, no address is needed. */
    nothing = look && from_len == 0;
    if (c->kind == BROADCAST && c->g->me != c->root && !c->in_place) nothing = look;
    OK(make_call(c, look && to_len == 0 ? NULL : to, nothing && !(c->in_place && to_len) ? NULL : source));

    if (!c->in_place) {
        if (!look) memset(source, 0xee, from_len);
        if (look && c->kind == REDUCE)
            CHECK(c->type->differs(source, c->n, &mine, 1, c->op) == c->n, "%s: source has changed", described(c));
        else if (look)
            CHECK(job_differs(source, 0, from_len, mine) == from_len, "%s: source has changed", described(c));
        memset(source, 0xee, from_len);
    }
    if (c->kind == REDUCE)
        is_reduced(c, to, to_len, other);
    else
        is_as_wanted(c, to, room);
    memset(to, 0x11, room);
}

/* A length of one PE or block, with which all together fit into the room. */
static size_t fitting(uint64_t *random, size_t n) {
    size_t len = job_length(random, MOST), shorter = job_below(random, 3);
    if (shorter) len /= n;
    return len < ROOM / n ? len : ROOM / n;
}

/* Each call draws as many numbers whatever they are, since rows and nodes differ from PE to PE. */
static void draw(struct call *c, uint64_t *random) {
    static const size_t elems[] = {1, 1, 2, 3, 4, 8, 8, 12, 16, 40, 100, 1500, 5000};
    uint64_t root, op;
    c->kind = (enum kind)job_below(random, REDUCE + 3);
    if (c->kind > REDUCE) c->kind = REDUCE;
    c->g = &groups[job_below(random, n_groups)];
    c->in_place = job_below(random, 4) == 0;
    root = job_random(random);
    c->type = &types[job_below(random, TYPES)];
    op = job_random(random);
    c->elem = elems[job_below(random, sizeof elems / sizeof elems[0])];
    c->dest_stride = 1 + (ptrdiff_t)(job_below(random, 3) ? 0 : job_below(random, 4));
    c->source_stride = 1 + (ptrdiff_t)(job_below(random, 3) ? 0 : job_below(random, 4));
    if (c->in_place) c->source_stride = c->dest_stride;
    c->root = (int)(root % (uint64_t)c->g->n);
    c->op = (enum op)(c->type->first + op % (OPS - c->type->first));
    c->len = fitting(random, (size_t)job.n); /* in any team */
    c->n = c->len;
    if (c->kind == REDUCE) c->n /= c->type->size;
    if (c->kind == ALLTOALLS) {
        c->n /= c->elem * (size_t)(c->dest_stride > c->source_stride ? c->dest_stride : c->source_stride);
        if (c->n > 3000) c->n = 3000;
    }
}

static void rounds(void) {
    uint64_t random = job_stream(0), own = job_stream(1 + (uint64_t)job.me);
    long n = job_far_rounds(10000, 4000, 2000);
    for (struct call c = {.round = 1}; c.round <= n; c.round++) {
        draw(&c, &random);
        /* Of PEs that may be in place some are not. */
        if (c.in_place && job_below(&own, 3) == 0) c.in_place = false;
        if (c.g->me >= 0) do_call(&c, &own);
    }
}

/* Every operation of every type, by its name and by the macro. */
static void all_types(void) {
    static const size_t sizes[] = {1, 3, 100};
    uint64_t own = job_stream(100 + (uint64_t)job.me);
    struct call c = {.round = 1000000, .kind = REDUCE, .g = &groups[0]};
    for (size_t t = 0; t < TYPES; t++)
        for (enum op op = types[t].first; op < OPS; op++)
            for (int generic = 0; generic < 2; generic++) {
                c.round++; /* odd and even */
                c.type = &types[t];
                c.op = op;
                c.in_place = (c.round >> 1) % 3 == 0;
                c.g = &groups[(size_t)(c.round >> 1) % 3];
                c.n = sizes[(size_t)(c.round / 5) % 3];
                do_call(&c, &own);
            }
}

/* Longer than any buffer that the library might have for a call; the last byte is as good as the first. */
static void long_ones(void) {
    size_t most = job.slow ? ROOM / 4 : job_room() < 12 * ROOM ? ROOM : 4 * ROOM + 12344; /* ROOM: /dev/shm is small */
    size_t len = most / (size_t)(8 * job.n) * (size_t)(8 * job.n), part = len / (size_t)job.n;
    int root = job.n - 1, next = job_any(1);
    unsigned char *block = rma_malloc(len), *private = malloc(len);
    uint64_t *words = (uint64_t *)(void *)private;
    CHECK(block && private, "%s", rma_last_error());

    job_fill(block, 0, len, job.me == root ? 77 : 78);
    OK(rma_broadcast(RMA_TEAM_WORLD, block, block, len, root));
    CHECK(job_differs(block, 0, len, 77) == len, "byte %zu of %zu of a broadcast", job_differs(block, 0, len, 77), len);

    job_fill(private, 0, len, 100 + (uint64_t)job.me);
    OK(rma_alltoall(RMA_TEAM_WORLD, block, private, part));
    memset(private, 0xee, len);
    for (int pe = 0; pe < job.n; pe++)
        CHECK(job_differs(block + (size_t)pe * part, (size_t)job.me * part, part, 100 + (uint64_t)pe) == part,
              "a long alltoall, from PE %d", pe);

    job_fill(block, 0, part, 200 + (uint64_t)job.me);
    OK(rma_fcollect(RMA_TEAM_WORLD, private, block, part));
    memset(block, 0xee, part);
    for (int pe = 0; pe < job.n; pe++)
        CHECK(job_differs(private + (size_t)pe * part, 0, part, 200 + (uint64_t)pe) == part,
              "a long fcollect, from PE %d", pe);

    for (size_t i = 0; i < len / 8; i++) words[i] = job_mix(i) * (uint64_t)(job.me + 1);
    OK(rma_sum_reduce(RMA_TEAM_WORLD, words, words, len / 8));
    for (size_t i = 0; i < len / 8; i++)
        CHECK(words[i] == job_mix(i) * (uint64_t)(job.n * (job.n + 1) / 2), "element %zu of %zu of a sum", i, len / 8);
    OK(rma_put(block, words, len, next));
    OK(rma_barrier_all());
    CHECK(memcmp(block, words, len) == 0, "what was put behind a collective");
    OK(rma_barrier_all());
    for (size_t i = 0; i < len / 8; i++) words[i] = i;
    OK(rma_sum_inscan(RMA_TEAM_WORLD, (uint64_t *)(void *)block, words, len / 8));
    memset(words, 0xee, len);
    for (size_t i = 0; i < len / 8; i++)
        CHECK(((uint64_t *)(void *)block)[i] == i * (uint64_t)(job.me + 1), "element %zu of %zu of a scan", i, len / 8);
    OK(rma_free(block));
    free(private);
}

/* ---- floating point ---- */

/* The same bytes on all PEs of the group. */
static void same_everywhere(const struct job_group *g, const void *result, size_t size, const char *what) {
    unsigned char *all = malloc(size * (size_t)g->n + 1);
    CHECK(all != NULL, "no memory");
    OK(rma_fcollect(g->team, all, result, size));
    for (int i = 0; i < g->n; i++)
        CHECK(memcmp(all + (size_t)i * size, result, size) == 0, "%s: PE %d of %s has another result", what, i,
              g->name);
    free(all);
}

/* Between -1 and 1, of very different sizes. */
static double wild(uint64_t key, size_t i) {
    uint64_t r = job_mix(key + i);
    return ldexp((double)(int64_t)job_mix(r) / 9.3e18, -(int)(r % 24));
}

#define WILD(NAME, TYPE, EPSILON, LEAST, ABS, VALUE, BYTES)                                                            \
    static void wild_##NAME(const struct job_group *g, uint64_t round, size_t n) {                                     \
        TYPE *source = malloc(4 * n * sizeof(TYPE) + 1), *sum = source + n, *prod = sum + n, *scan = prod + n;         \
        unsigned char *packed = malloc(2 * n * BYTES + 1);                                                             \
        const char *what = job_text("%zu of " #NAME ", round %llu", n, (unsigned long long)round);                     \
        CHECK(source &&packed, "no memory");                                                                           \
        for (size_t i = 0; i < n; i++) source[i] = VALUE(job_mix(round << 8 | (uint64_t)g->pes[g->me]), i);            \
        OK(rma_sum_reduce_##NAME(g->team, sum, source, n));                                                            \
        OK(rma_prod_reduce_##NAME(g->team, prod, source, n));                                                          \
        OK(rma_sum_inscan_##NAME(g->team, scan, source, n));                                                           \
        for (size_t i = 0; i < n; i++) {                                                                               \
            long double _Complex s = 0, p = 1, part = 0;                                                               \
            long double size = 0;                                                                                      \
            for (int k = 0; k < g->n; k++) {                                                                           \
                TYPE v = VALUE(job_mix(round << 8 | (uint64_t)g->pes[k]), i);                                          \
                s += v;                                                                                                \
                p *= v;                                                                                                \
                size += ABS(v);                                                                                        \
                if (k <= g->me) part += v;                                                                             \
            }                                                                                                          \
            CHECK(cabsl(sum[i] - s) <= size * g->n * EPSILON, "the sum, element %zu of %s", i, what);                  \
            CHECK(cabsl(prod[i] - p) <= 4 * g->n * (cabsl(p) * EPSILON + LEAST), "the product, element %zu of %s", i,  \
                  what);                                                                                               \
            CHECK(cabsl(scan[i] - part) <= size * g->n * EPSILON, "the scan, element %zu of %s", i, what);             \
            memcpy(packed + 2 * i * BYTES, &sum[i], BYTES);                                                            \
            memcpy(packed + (2 * i + 1) * BYTES, &prod[i], BYTES);                                                     \
        }                                                                                                              \
        same_everywhere(g, packed, 2 * n * BYTES, what);                                                               \
        free(packed);                                                                                                  \
        free(source);                                                                                                  \
    }

/* What a product loses where it falls below LEAST is not relative to it. A long double has 10 bytes, and padding. */
#define REAL(KEY, I)        wild(KEY, I)
#define REALF(KEY, I)       (float)wild(KEY, I)
#define COMPLEX_OF(KEY, I)  (wild(KEY, I) + wild(~(KEY), I) * _Complex_I)
#define COMPLEXF_OF(KEY, I) ((float _Complex)COMPLEX_OF(KEY, I))
#define ABSL(v)             fabsl((long double)(v))
#define CABSL(v)            cabsl((long double _Complex)(v))
WILD(float, float, FLT_EPSILON, FLT_MIN, ABSL, REALF, sizeof(float))
WILD(double, double, DBL_EPSILON, DBL_MIN, ABSL, REAL, sizeof(double))
WILD(ldouble, long double, LDBL_EPSILON, LDBL_MIN, ABSL, REAL, (LDBL_MANT_DIG == 64 ? 10 : sizeof(long double)))
WILD(complexf, float _Complex, FLT_EPSILON, FLT_MIN, CABSL, COMPLEXF_OF, sizeof(float _Complex))
WILD(complexd, double _Complex, DBL_EPSILON, DBL_MIN, CABSL, COMPLEX_OF, sizeof(double _Complex))

static void any_values(void) {
    uint64_t random = job_stream(2), n = (uint64_t)job_far_rounds(300, 120, 60);
    for (uint64_t round = 1; round <= n; round++) {
        const struct job_group *g = &groups[job_below(&random, n_groups)];
        size_t len = job_length(&random, round % 16 ? 300 : 20000), which = job_below(&random, 5);
        if (g->me < 0) continue;
        switch (which) {
            case 0: wild_float(g, round, len); break;
            case 1: wild_double(g, round, len); break;
            case 2: wild_ldouble(g, round, len); break;
            case 3: wild_complexf(g, round, len); break;
            default: wild_complexd(g, round, len);
        }
    }
}

static bool on_one_node(const struct job_group *g) {
    for (int i = 0; i < g->n; i++)
        if (!rma_on_node(g->pes[i])) return false;
    return true;
}

/* Zeros of both signs and NaNs, n of each: values[k] is what number k has. */
#define SPECIAL(NAME, TYPE, NOT_A_NUMBER, NEGATIVE)                                                                    \
    static void special_##NAME(const struct job_group *g, size_t n, uint64_t round) {                                  \
        TYPE *source = malloc(2 * n * sizeof(TYPE)), *dest = source + n;                                               \
        const char *what = job_text("%zu of " #NAME ", number %d of %s", n, g->me, g->name);                           \
        int odd = (int)(round % (uint64_t)g->n);                                                                       \
        CHECK(source != NULL, "no memory");                                                                            \
        for (size_t i = 0; i < n; i++) source[i] = -(TYPE)0;                                                           \
        memset(dest, 0, n * sizeof(TYPE));                                                                             \
        OK(rma_sum_reduce_##NAME(g->team, dest, source, n));                                                           \
        for (size_t i = 0; i < n; i++) CHECK(dest[i] == 0 && NEGATIVE(dest[i]), "-0 + -0 is +0: %s", what);            \
        memset(dest, 0, n * sizeof(TYPE));                                                                             \
        OK(rma_sum_inscan_##NAME(g->team, dest, source, n));                                                           \
        for (size_t i = 0; i < n; i++) CHECK(dest[i] == 0 && NEGATIVE(dest[i]), "-0 + -0 is +0 in a scan: %s", what);  \
        memset(dest, 0, n * sizeof(TYPE));                                                                             \
        OK(rma_sum_exscan_##NAME(g->team, dest, source, n));                                                           \
        for (size_t i = 0; i < n; i++)                                                                                 \
            CHECK(dest[i] == 0 && !NEGATIVE(dest[i]) == !g->me, "an exclusive scan of -0: %s", what);                  \
        for (size_t i = 0; i < n; i++) source[i] = g->me == odd && i % 3 == 0 ? (TYPE)NOT_A_NUMBER : 1;                \
        OK(rma_sum_reduce_##NAME(g->team, dest, source, n));                                                           \
        for (size_t i = 0; i < n; i++)                                                                                 \
            CHECK(i % 3 == 0 ? isnan(dest[i]) : dest[i] == (TYPE)g->n, "element %zu of a sum with NaNs: %s", i, what); \
        OK(rma_prod_reduce_##NAME(g->team, dest, source, n));                                                          \
        for (size_t i = 0; i < n; i++)                                                                                 \
            CHECK(i % 3 == 0 ? isnan(dest[i]) : dest[i] == 1, "element %zu of a product with NaNs: %s", i, what);      \
        OK(rma_sum_inscan_##NAME(g->team, dest, source, n));                                                           \
        for (size_t i = 0; i < n; i++)                                                                                 \
            CHECK(i % 3 == 0 && g->me >= odd ? isnan(dest[i]) : dest[i] == (TYPE)(g->me + 1), "a scan with NaNs: %s",  \
                  what);                                                                                               \
        for (int max = 0; max < 2; max++) {                                                                            \
            static const TYPE choices[] = {(TYPE)NOT_A_NUMBER, -(TYPE)0, (TYPE)0, (TYPE)1};                            \
            for (size_t i = 0; i < n; i++) source[i] = choices[(job_mix(round << 8 | (uint64_t)job.me) + i) % 4];      \
            OK(max ? rma_max_reduce_##NAME(g->team, dest, source, n)                                                   \
                   : rma_min_reduce_##NAME(g->team, dest, source, n));                                                 \
            for (size_t i = 0; i < n; i++) {                                                                           \
                bool one = false;                                                                                      \
                for (int k = 0; k < g->n; k++) {                                                                       \
                    TYPE v = choices[(job_mix(round << 8 | (uint64_t)g->pes[k]) + i) % 4];                             \
                    one |= isnan(v) ? isnan(dest[i]) : v == dest[i] && !NEGATIVE(v) == !NEGATIVE(dest[i]);             \
                }                                                                                                      \
                CHECK(one, "the %s, element %zu, is none of the values: %s", max ? "maximum" : "minimum", i, what);    \
            }                                                                                                          \
            if (on_one_node(g)) {                                                                                      \
                unsigned char *codes = malloc(n);                                                                      \
                CHECK(codes != NULL, "no memory");                                                                     \
                for (size_t i = 0; i < n; i++)                                                                         \
                    codes[i] = (unsigned char)(isnan(dest[i]) ? 9 : dest[i] > 0 ? 8 : NEGATIVE(dest[i]) ? 1 : 0);      \
                same_everywhere(g, codes, n, what);                                                                    \
                free(codes);                                                                                           \
            }                                                                                                          \
        }                                                                                                              \
        free(source);                                                                                                  \
    }

SPECIAL(float, float, NAN, signbit)
SPECIAL(double, double, NAN, signbit)
SPECIAL(ldouble, long double, NAN, signbit)

static void special_values(void) {
    uint64_t round = 0;
    for (size_t i = 0; i < n_groups; i++) {
        size_t n = i % 3 == 2 ? (job.slow ? 100 : 5000) : 1 + i;
        round++;
        if (groups[i].me < 0) continue;
        special_float(&groups[i], n, round);
        special_double(&groups[i], n, round);
        special_ldouble(&groups[i], n, round);
    }
}

int main(void) {
    job_start();
    make_groups();
    make_places();
    DOING("random calls");
    rounds();
    DOING("all types");
    all_types();
    DOING("long ones");
    long_ones();
    DOING("any floating-point values");
    any_values();
    DOING("NaNs and zeros");
    special_values();
    DOING("giving back");
    end_groups();
    end_places();
    return job_end();
}
