/* SPDX-License-Identifier: BSD-3-Clause */
/* Accumulates compute what a loop over their elements computes, for all types, operations and shapes; each update of an
 * element is done once and whole, whoever else updates it by an accumulate or an atomic of the same type; those of one
 * PE take effect in their order; and bad input changes nothing.
 *
 * Broken by an operation of the wrong type or sign, a scale that is forgotten in one path, an update that is lost
 * between two PEs or between an accumulate and an atomic, a fetched value that is not the one before the update, a
 * record that is applied twice, and by a sum that overtakes the replace before it. RMA_TEST_SEED repeats a run. */
#define SLICE (13 * 1024) /* a region for each type */
#include "forms.h"

#include <complex.h>
#include <stdalign.h>

#define REGION 1024

/* ---- types ---- */

/* clang-format off */
#define INTEGERS(X)                                                                                                    \
    X(INT8, int8_t) X(INT16, int16_t) X(INT32, int32_t) X(INT64, int64_t)                                              \
    X(UINT8, uint8_t) X(UINT16, uint16_t) X(UINT32, uint32_t) X(UINT64, uint64_t)
#define REALS(X)     X(FLOAT, float) X(DOUBLE, double) X(LDOUBLE, long double)
#define COMPLEXES(X) X(COMPLEXF, float complex) X(COMPLEXD, double complex)
/* clang-format on */

#define TYPES 13
#define OPS   12

static const struct {
    size_t size, align;
    int first, last; /* operations: first to last, and REPLACE and FETCH */
} types[TYPES] = {
#define TYPE_INTEGER(NAME, TYPE) [RMA_##NAME] = {sizeof(TYPE), alignof(TYPE), RMA_OP_SUM, RMA_OP_LXOR},
#define TYPE_REAL(NAME, TYPE)    [RMA_##NAME] = {sizeof(TYPE), alignof(TYPE), RMA_OP_SUM, RMA_OP_MAX},
#define TYPE_COMPLEX(NAME, TYPE) [RMA_##NAME] = {sizeof(TYPE), alignof(TYPE), RMA_OP_SUM, RMA_OP_PROD},
    INTEGERS(TYPE_INTEGER) REALS(TYPE_REAL) COMPLEXES(TYPE_COMPLEX)};

static int has(int type, int op) { return op >= RMA_OP_REPLACE || (op >= types[type].first && op <= types[type].last); }

/* One element: *dest = *dest op scale * *source; scale may be NULL. */
static void update(int type, int op, void *dest, const void *source, const void *scale) {
    switch (type) {
#define UPDATE_INTEGER(NAME, TYPE)                                                                                     \
    case RMA_##NAME: {                                                                                                 \
        TYPE d, s, k = 1;                                                                                              \
        memcpy(&d, dest, sizeof d);                                                                                    \
        memcpy(&s, source, sizeof s);                                                                                  \
        if (scale) memcpy(&k, scale, sizeof k);                                                                        \
        s = (TYPE)((uint64_t)s * (uint64_t)k);                                                                         \
        switch (op) {                                                                                                  \
            case RMA_OP_SUM: d = (TYPE)((uint64_t)d + (uint64_t)s); break;                                             \
            case RMA_OP_PROD: d = (TYPE)((uint64_t)d * (uint64_t)s); break;                                            \
            case RMA_OP_MIN: d = s < d ? s : d; break;                                                                 \
            case RMA_OP_MAX: d = s > d ? s : d; break;                                                                 \
            case RMA_OP_AND: d = (TYPE)(d & s); break;                                                                 \
            case RMA_OP_OR: d = (TYPE)(d | s); break;                                                                  \
            case RMA_OP_XOR: d = (TYPE)(d ^ s); break;                                                                 \
            case RMA_OP_LAND: d = d && s; break;                                                                       \
            case RMA_OP_LOR: d = d || s; break;                                                                        \
            case RMA_OP_LXOR: d = !d != !s; break;                                                                     \
            default: d = s;                                                                                            \
        }                                                                                                              \
        memcpy(dest, &d, sizeof d);                                                                                    \
        break;                                                                                                         \
    }
#define UPDATE_REAL(NAME, TYPE)                                                                                        \
    case RMA_##NAME: {                                                                                                 \
        TYPE d, s, k = 1;                                                                                              \
        memcpy(&d, dest, sizeof d);                                                                                    \
        memcpy(&s, source, sizeof s);                                                                                  \
        if (scale) memcpy(&k, scale, sizeof k);                                                                        \
        s = s * k;                                                                                                     \
        switch (op) {                                                                                                  \
            case RMA_OP_SUM: d = d + s; break;                                                                         \
            case RMA_OP_PROD: d = d * s; break;                                                                        \
            case RMA_OP_MIN: d = s < d ? s : d; break;                                                                 \
            case RMA_OP_MAX: d = s > d ? s : d; break;                                                                 \
            default: d = s;                                                                                            \
        }                                                                                                              \
        memcpy(dest, &d, sizeof d);                                                                                    \
        break;                                                                                                         \
    }
#define UPDATE_COMPLEX(NAME, TYPE)                                                                                     \
    case RMA_##NAME: {                                                                                                 \
        TYPE d, s, k = 1;                                                                                              \
        memcpy(&d, dest, sizeof d);                                                                                    \
        memcpy(&s, source, sizeof s);                                                                                  \
        if (scale) memcpy(&k, scale, sizeof k);                                                                        \
        s = s * k;                                                                                                     \
        d = op == RMA_OP_SUM ? d + s : op == RMA_OP_PROD ? d * s : s;                                                  \
        memcpy(dest, &d, sizeof d);                                                                                    \
        break;                                                                                                         \
    }
        INTEGERS(UPDATE_INTEGER)
        REALS(UPDATE_REAL)
        COMPLEXES(UPDATE_COMPLEX)
    }
}

/* A value whose products with others are exact in every type, so that each element is rounded once, here and there. */
static double power(uint64_t *random) {
    static const double values[] = {0.25, 0.5, 1, 2, 4, -0.25, -0.5, -1, -2, -4};
    return values[job_below(random, 10)];
}

static void random_value(uint64_t *random, int type, void *value) {
    const uint64_t bits = job_below(random, 4) ? job_random(random) : job_below(random, 3);
    switch (type) {
#define VALUE_INTEGER(NAME, TYPE)                                                                                      \
    case RMA_##NAME:                                                                                                   \
        memcpy(value, &(TYPE){(TYPE)bits}, sizeof(TYPE));                                                              \
        break;
#define VALUE_REAL(NAME, TYPE)                                                                                         \
    case RMA_##NAME:                                                                                                   \
        memcpy(value, &(TYPE){(TYPE)power(random)}, sizeof(TYPE));                                                     \
        break;
#define VALUE_COMPLEX(NAME, TYPE)                                                                                      \
    case RMA_##NAME: {                                                                                                 \
        const double real = power(random), imaginary = power(random);                                                  \
        memcpy(value, &(TYPE){(TYPE)(real + imaginary * I)}, sizeof(TYPE));                                            \
        break;                                                                                                         \
    }
        INTEGERS(VALUE_INTEGER)
        REALS(VALUE_REAL)
        COMPLEXES(VALUE_COMPLEX)
    }
}

/* Equal values: a long double has bytes that mean nothing. */
static int equal(int type, const void *a, const void *b) {
    if (type == RMA_LDOUBLE) {
        long double x, y;
        memcpy(&x, a, sizeof x);
        memcpy(&y, b, sizeof y);
        return x == y || (x != x && y != y);
    }
    return memcmp(a, b, types[type].size) == 0;
}

/* ---- against a model ---- */

static unsigned char model[JOB_PES_MAX][KINDS][SLICE];
static rma_ctx *last_ctx[JOB_PES_MAX]; /* whose accumulates may be pending there */

/* Buffers that nonblocking calls read: a ring, so that many are under way. */
#define RING 32
static _Alignas(64) unsigned char sources[RING][2 * REGION];
static int turn_of_ring;

static void quiet_all(void) {
    OK(rma_quiet());
    for (int i = 2; i < 4; i++) OK(rma_ctx_quiet(forms_ctx[i]));
}

enum { CONTIGUOUS, SECTION, INDEXED, BLOCKS, SHAPES };
static const char *const shapes[SHAPES] = {"contiguous", "a section", "by index", "blocks"};

static void expand(const struct rma_block *list, size_t n, size_t size, ptrdiff_t *at) {
    for (size_t i = 0; i < n; i++)
        for (size_t b = 0; b < list[i].len; b += size) *at++ = list[i].offset + (ptrdiff_t)b;
}

#define ANY(SUFFIX, ...)                                                                                               \
    (fetches ? FORM_PUT(f, r, get_accumulate##SUFFIX, source, fetch, __VA_ARGS__, type, op, scale)                     \
             : FORM_PUT(f, r, accumulate##SUFFIX, source, __VA_ARGS__, type, op, scale))

static void one(uint64_t *random) {
    static _Alignas(64) unsigned char fetched[2 * REGION], expected[2 * REGION];
    static ptrdiff_t to[REGION], from[REGION], into[REGION];
    static struct rma_block to_list[40], from_list[40], into_list[40];
    const int pe = (int)job_below(random, (size_t)job.n), kind = (int)job_below(random, KINDS);
    const int type = (int)job_below(random, TYPES), fetches = job_below(random, 3) == 0;
    const int how = (int)job_below(random, SHAPES);
    const struct form f = form_number((unsigned)job_random(random), kind);
    const size_t size = types[type].size, align = types[type].align, room = REGION / size;
    const char *const name = form_name(f, fetches ? "get_accumulate" : "accumulate");
    unsigned char *const buffer = sources[turn_of_ring++ % RING];
    const void *source = buffer;
    unsigned char *fetch = fetched;
    _Alignas(16) unsigned char factor[16];
    void *scale = job_below(random, 2) ? factor : NULL;
    ptrdiff_t at = 0; /* of dest, in the region */
    size_t n = 0;
    int op;
    do op = (int)job_below(random, OPS);
    while (!has(type, op) || (op == RMA_OP_FETCH && !fetches));
    if (turn_of_ring % RING == 0) quiet_all();
    if (last_ctx[pe] != f.ctx) quiet_all(); /* accumulates of two contexts have no order */
    last_ctx[pe] = f.ctx;
    for (size_t i = 0; i < 2 * REGION / size; i++) random_value(random, type, buffer + i * size);
    random_value(random, type, factor);
    for (size_t i = 0; i < 2 * REGION; i++) fetched[i] = expected[i] = (unsigned char)i;
    DOING(job_text("%s, %s: type %d, op %d", name, shapes[how], type, op));

    switch (how) {
        case CONTIGUOUS: {
            n = job_length(random, room - 1);
            at = (ptrdiff_t)(job_below(random, (room - n) * size / align) * align);
            for (size_t i = 0; i < n; i++) to[i] = from[i] = into[i] = (ptrdiff_t)(i * size);
            const struct remote r = form_remote(f, pe, kind, job.me, type * REGION + at);
            OK(ANY(, n));
            break;
        }
        case SECTION: {
            struct shape s;
            struct side x[3];
            s.elem = size;
            do {
                shape_random(random, &s, room);
                for (int i = 0; i < 3; i++) {
                    side_nested(random, &s, &x[i], align);
                    side_measure(&s, &x[i]);
                    if (i == 1 && s.dims && job_below(random, 4) == 0) x[i].stride[0] = 0;
                }
            } while (x[0].high - x[0].low > REGION || x[1].high - x[1].low > 2 * REGION ||
                     x[2].high - x[2].low > 2 * REGION);
            n = s.n;
            at = -x[0].low;
            side_offsets(&s, &x[0], to);
            source = buffer - x[1].low;
            side_offsets(&s, &x[1], from);
            for (size_t i = 0; i < n; i++) from[i] -= x[1].low;
            fetch = fetched - x[2].low;
            side_offsets(&s, &x[2], into);
            for (size_t i = 0; i < n; i++) into[i] -= x[2].low;
            const struct remote r = form_remote(f, pe, kind, job.me, type * REGION + at);
            if (fetches)
                OK(FORM_PUT(f, r, get_accumulate_section, source, fetch, x[0].stride, x[1].stride, x[2].stride, s.dims,
                            s.count, type, op, scale));
            else
                OK(FORM_PUT(f, r, accumulate_section, source, x[0].stride, x[1].stride, s.dims, s.count, type, op,
                            scale));
            break;
        }
        case INDEXED: {
            static ptrdiff_t index[REGION];
            const size_t first = job_below(random, room);
            /* The order of two updates by one call of one element is unknown: only sums of integers repeat. */
            const int repeat = !fetches && op == RMA_OP_SUM && type <= RMA_UINT64;
            n = job_length(random, room);
            at = (ptrdiff_t)(first * size);
            for (size_t i = 0; i < room; i++) index[i] = (ptrdiff_t)i - (ptrdiff_t)first;
            for (size_t i = 0; i < n; i++) {
                const size_t other = repeat ? job_below(random, room) : i + job_below(random, room - i);
                const ptrdiff_t mine = index[i];
                index[i] = index[other];
                if (!repeat) index[other] = mine;
                to[i] = index[i] * (ptrdiff_t)size;
                from[i] = into[i] = (ptrdiff_t)(i * size);
            }
            const struct remote r = form_remote(f, pe, kind, job.me, type * REGION + at);
            OK(ANY(_indexed, index, n));
            memset(index, 0x55, sizeof index); /* the call is done with the list */
            break;
        }
        default: {
            const size_t bytes = job_length(random, room / 2) * size;
            const int null = (int)job_below(random, 8);
            at = null == 0 && bytes ? 0 : (ptrdiff_t)(job_below(random, room) * size);
            size_t n_to = cut(random, to_list, bytes, REGION, at, size);
            size_t n_from = cut(random, from_list, bytes, REGION, 0, size);
            size_t n_into = cut(random, into_list, bytes, REGION, 0, size);
            if (null == 0 && bytes) to_list[0] = (struct rma_block){0, bytes}, n_to = 1;
            if (null == 1 && bytes) from_list[0] = (struct rma_block){0, bytes}, n_from = 1;
            if (null == 2 && bytes) into_list[0] = (struct rma_block){0, bytes}, n_into = 1;
            n = bytes / size;
            expand(to_list, n_to, size, to);
            expand(from_list, n_from, size, from);
            expand(into_list, n_into, size, into);
            const struct remote r = form_remote(f, pe, kind, job.me, type * REGION + at);
            const struct rma_block *l[3] = {null == 0 && bytes ? NULL : to_list, null == 1 && bytes ? NULL : from_list,
                                            null == 2 && bytes ? NULL : into_list};
            if (!l[0]) n_to = 0;
            if (!l[1]) n_from = 0;
            if (!l[2]) n_into = 0;
            if (fetches)
                OK(FORM_PUT(f, r, get_accumulate_blocks, source, fetch, l[0], n_to, l[1], n_from, l[2], n_into, type,
                            op, scale));
            else
                OK(FORM_PUT(f, r, accumulate_blocks, source, l[0], n_to, l[1], n_from, type, op, scale));
            memset(to_list, 0x55, sizeof to_list);
            memset(from_list, 0x55, sizeof from_list);
            memset(into_list, 0x55, sizeof into_list);
        }
    }
    for (size_t i = 0; i < n; i++) {
        unsigned char *const there = model[pe][kind] + type * REGION + at + to[i];
        if (fetches) memcpy(expected + into[i], there, size);
        if (op != RMA_OP_FETCH) update(type, op, there, buffer + from[i], scale);
    }
    memset(factor, 0x55, sizeof factor); /* and with the scale */
    if (!f.nbi && job_below(random, 2)) memset(buffer, 0x55, 2 * REGION);
    if (!fetches) return;
    if (f.nbi) form_quiet(f);
    for (size_t i = 0; i < n; i++)
        CHECK(equal(type, fetched + into[i], expected + into[i]), "element %zu of %zu, fetched", i, n);
    for (size_t i = 0; i < n; i++) memcpy(fetched + into[i], expected + into[i], size);
    CHECK(memcmp(fetched, expected, sizeof fetched) == 0, "bytes beside the fetched values were written");
}

static void compare(const char *when) {
    static _Alignas(64) unsigned char bytes[SLICE];
    quiet_all();
    for (int pe = 0; pe < job.n; pe++)
        for (int kind = 0; kind < KINDS; kind++) {
            OK(rma_gptr_get(bytes, forms_start[pe][kind] + (size_t)job.me * SLICE, SLICE));
            for (int type = 0; type < TYPES; type++)
                for (size_t i = (size_t)type * REGION; i < (size_t)(type + 1) * REGION; i += types[type].size)
                    CHECK(equal(type, bytes + i, model[pe][kind] + i), "%s: type %d, byte %zu in %s of PE %d", when,
                          type, i % REGION, kinds[kind], pe);
        }
}

/* ---- all at once ---- */

#define WORDS 24 /* shared by all: elements of each type, in PE 0's slice of PE 0 */

static size_t shared(int type, int word) { return (size_t)type * REGION + (size_t)word * types[type].size; }

/* What this PE adds to each word, by its turns: the sum over all PEs and turns must be there in the end. */
#define ATOMIC_ADD(NAME, TYPE, CALL)                                                                                   \
    case RMA_##NAME: {                                                                                                 \
        TYPE *p = (TYPE *)(void *)(own[kind] + shared(type, word));                                                    \
        OK(rma_atomic_add_##CALL(p, 3, 0));                                                                            \
        (void)rma_atomic_fetch_add_##CALL(p, -(TYPE)1, 0);                                                             \
        break;                                                                                                         \
    }

static void sum_one(uint64_t *random, int kind, int type, int64_t added[WORDS]) {
    static _Alignas(16) unsigned char ones[2 * REGION], fetched[2 * REGION];
    const struct form f = form_number((unsigned)job_random(random), kind);
    const size_t size = types[type].size;
    const int word = (int)job_below(random, WORDS), n = 1 + (int)job_below(random, (size_t)(WORDS - word));
    const struct remote r = {forms_start[0][kind] + shared(type, word), own[kind] + shared(type, word),
                             f.backwards ? job.n - 1 : 0};
    _Alignas(16) unsigned char scale[16];
    ptrdiff_t stride[2] = {(ptrdiff_t)(2 * size), (ptrdiff_t)size}, near_stride[2] = {0, 0}, index[WORDS];
    const size_t count[2] = {(size_t)n / 2, 2};
    switch (type) { /* a source of ones, a scale of 2 */
#define ONES(NAME, TYPE)                                                                                               \
    case RMA_##NAME:                                                                                                   \
        for (int i = 0; i < WORDS; i++) memcpy(ones + (size_t)i * size, &(TYPE){1}, size);                             \
        memcpy(scale, &(TYPE){2}, size);                                                                               \
        break;
        INTEGERS(ONES)
        REALS(ONES)
        COMPLEXES(ONES)
    }
    switch (job_below(random, 6)) {
        case 0:
            OK(FORM_PUT(f, r, accumulate, ones, (size_t)n, type, RMA_OP_SUM, scale));
            for (int i = 0; i < n; i++) added[word + i] += 2;
            break;
        case 1:
            OK(FORM_PUT(f, r, get_accumulate, ones, fetched, (size_t)n, type, RMA_OP_SUM, NULL));
            for (int i = 0; i < n; i++) added[word + i]++;
            break;
        case 2: /* the first dimension backwards, and one value for all */
            stride[0] = -stride[0];
            if (count[0]) {
                struct remote end = r;
                end.g += 2 * size * (count[0] - 1), end.addr += 2 * size * (count[0] - 1);
                OK(FORM_PUT(f, end, accumulate_section, ones, stride, near_stride, 2, count, type, RMA_OP_SUM, NULL));
            }
            for (int i = 0; i < 2 * (int)count[0]; i++) added[word + i]++;
            break;
        case 3: /* elements several times */
            for (int i = 0; i < n; i++) index[i] = (ptrdiff_t)job_below(random, (size_t)n), added[word + index[i]]++;
            OK(FORM_PUT(f, r, accumulate_indexed, ones, index, (size_t)n, type, RMA_OP_SUM, NULL));
            break;
        case 4: {
            const struct rma_block list[2] = {{(ptrdiff_t)((size_t)(n - 1) * size), size}, {0, (size_t)(n - 1) * size}};
            OK(FORM_PUT(f, r, accumulate_blocks, ones, list, 2, NULL, 0, type, RMA_OP_SUM, scale));
            for (int i = 0; i < n; i++) added[word + i] += 2;
            break;
        }
        default:
            if (kind >= LOCAL) break; /* atomics by address */
            added[word] += 2;
            switch (type) {
                ATOMIC_ADD(INT32, int, int)
                ATOMIC_ADD(INT64, int64_t, int64)
                ATOMIC_ADD(UINT32, unsigned, uint)
                ATOMIC_ADD(UINT64, uint64_t, uint64)
                ATOMIC_ADD(FLOAT, float, float)
                ATOMIC_ADD(DOUBLE, double, double)
                default: added[word] -= 2;
            }
    }
    if (f.nbi) form_quiet(f); /* the buffers */
}

static double value_of(int type, const void *p) {
    switch (type) {
#define VALUE_OF(NAME, TYPE)                                                                                           \
    case RMA_##NAME: {                                                                                                 \
        TYPE x;                                                                                                        \
        memcpy(&x, p, sizeof x);                                                                                       \
        return (double)x;                                                                                              \
    }
        INTEGERS(VALUE_OF)
        REALS(VALUE_OF)
        COMPLEXES(VALUE_OF)
        default: return -1;
    }
}

static void sums(uint64_t *random) {
    static int64_t added[KINDS][TYPES][WORDS], all[KINDS][TYPES][WORDS];
    static unsigned char zeros[SLICE];
    DOING("sums of all PEs");
    memset(added, 0, sizeof added);
    if (job.me == 0)
        for (int kind = 0; kind < KINDS; kind++) memset(own[kind], 0, SLICE);
    OK(rma_barrier_all());
    for (long turn = job_far_rounds(40000, 10000, 1500); turn > 0; turn--) {
        const int kind = (int)job_below(random, KINDS), type = (int)job_below(random, TYPES);
        if (kind == ATTACHED && job_below(random, 10)) continue; /* a thread of the owner does them */
        sum_one(random, kind, type, added[kind][type]);
    }
    OK(rma_ctx_quiet(forms_ctx[2]));
    OK(rma_ctx_quiet(forms_ctx[3]));
    OK(rma_barrier_all());
    MPI_Reduce(added, all, sizeof added / 8, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int kind = 0; job.me == 0 && kind < KINDS; kind++)
        for (int type = 0; type < TYPES; type++)
            for (int word = 0; word < WORDS; word++) {
                const double got = value_of(type, own[kind] + shared(type, word));
                double want = (double)all[kind][type][word];
                if (type == RMA_INT8) want = (double)(int8_t)all[kind][type][word];
                if (type == RMA_UINT8) want = (double)(uint8_t)all[kind][type][word];
                if (type == RMA_INT16) want = (double)(int16_t)all[kind][type][word];
                if (type == RMA_UINT16) want = (double)(uint16_t)all[kind][type][word];
                CHECK(got == want, "type %d in %s, word %d: %.17g, not %.17g", type, kinds[kind], word, got, want);
            }
    OK(rma_barrier_all());
    for (int kind = 0; kind < KINDS; kind++) /* as the model of PE 0 has it */
        if (job.me == 0) memcpy(own[kind], zeros, SLICE), memcpy(model[0][kind], zeros, SLICE);
    OK(rma_barrier_all());
}

/* Every fetched value is there once: the PEs take numbers, 4 words in one call; each word is a counter of its own. */
static void tickets(int kind) {
    enum { TAKE = 60 };
    static long seen[4][JOB_PES_MAX * TAKE], all[4][JOB_PES_MAX * TAKE];
    const rma_gptr_t g = forms_start[0][kind] + (size_t)RMA_INT64 * REGION;
    const int64_t one[4] = {1, 1, 1, 1};
    DOING(job_text("tickets in %s", kinds[kind]));
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < TAKE; i++) {
        int64_t got[4] = {-1, -1, -1, -1};
        if (i % 3 == 0 && kind != ATTACHED) {
            for (size_t w = 0; w < 4; w++) got[w] = rma_gptr_atomic_fetch_add_int64(g + 8 * w, 1);
        } else {
            OK(rma_gptr_get_accumulate(g, one, got, 4, RMA_INT64, RMA_OP_SUM, NULL));
        }
        for (int w = 0; w < 4; w++) {
            CHECK(got[w] >= 0 && got[w] < job.n * TAKE, "word %d: %lld", w, (long long)got[w]);
            seen[w][got[w]]++;
        }
    }
    OK(rma_barrier_all());
    MPI_Allreduce(seen, all, sizeof seen / sizeof(long), MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    for (int w = 0; w < 4; w++)
        for (int i = 0; i < job.n * TAKE; i++)
            CHECK(all[w][i] == 1, "word %d: %d was fetched %ld times", w, i, all[w][i]);
    if (job.me == 0) memset(own[kind] + (size_t)RMA_INT64 * REGION, 0, 32);
    OK(rma_barrier_all());
}

/* A reader by an atomic sees no half of an element, and compare-and-swaps count among products. */
static void whole(uint64_t *random) {
    uint64_t *const word = (uint64_t *)(void *)(own[SYMMETRIC] + (size_t)RMA_UINT64 * REGION);
    const uint64_t three = 3;
    uint64_t thirds = 1;
    DOING("whole elements");
    OK(rma_barrier_all());
    for (long turn = job_far_rounds(20000, 4000, 300); turn > 0; turn--) {
        uint64_t pair[2], seen = rma_atomic_fetch(word, 0);
        CHECK(seen >> 32 == (seen & UINT32_MAX), "a half of a value: %llx", (unsigned long long)seen);
        pair[0] = pair[1] = job_below(random, UINT32_MAX) * 0x100000001;
        OK(rma_accumulate(word, pair, 2, RMA_UINT64, RMA_OP_REPLACE, NULL, 0));
        /* Each PE multiplies by 3 in turn by an accumulate and by compare-and-swap. */
        if (turn & 1) {
            OK(rma_accumulate(word + 2, &three, 1, RMA_UINT64, RMA_OP_PROD, NULL, 0));
        } else {
            uint64_t old = rma_atomic_fetch(word + 2, 0), found;
            while ((found = rma_atomic_compare_swap(word + 2, old, old * 3, 0)) != old) old = found;
        }
        thirds *= 3;
    }
    OK(rma_barrier_all());
    for (int pe = 1; pe < job.n; pe++) { /* the product of what all PEs have multiplied by */
        uint64_t other = thirds;
        MPI_Bcast(&other, 1, MPI_UINT64_T, pe, MPI_COMM_WORLD);
        if (job.me == 0) thirds *= other;
    }
    /* The word began as 0 in the model: set to 1 by main. */
    if (job.me == 0)
        CHECK(word[2] == thirds, "%llx, not %llx", (unsigned long long)word[2], (unsigned long long)thirds);
    OK(rma_barrier_all());
}

/* ---- long ones ---- */

static void long_ones(void) {
    const size_t n = ((size_t)3 << 20) / 8 + 5;
    const int pe = job_any(1), from = job_any(-1);
    double *all = rma_malloc(n * 8), *source = malloc(n * 8), *fetch = malloc(n * 8);
    const double half = 0.5;
    CHECK(all && source && fetch, "%s", rma_last_error());
    DOING("long ones");
    for (size_t i = 0; i < n; i++)
        all[i] = (double)(i % 1000), source[i] = (double)(2 * (size_t)(job.me + 1) * (i % 77));
    OK(rma_barrier_all());
    OK(rma_accumulate_nbi(all, source, n, RMA_DOUBLE, RMA_OP_SUM, &half, pe));
    OK(rma_quiet());
    OK(rma_barrier_all());
    for (size_t i = 0; i < n; i++)
        CHECK(all[i] == (double)(i % 1000 + (size_t)(from + 1) * (i % 77)), "element %zu: %g", i, all[i]);
    OK(rma_barrier_all());
    OK(rma_get_accumulate(all, source, fetch, n, RMA_DOUBLE, RMA_OP_REPLACE, NULL, pe));
    for (size_t i = 0; i < n; i++)
        CHECK(fetch[i] == (double)(i % 1000 + (size_t)(job.me + 1) * (i % 77)), "element %zu, fetched: %g", i,
              fetch[i]);
    OK(rma_barrier_all());
    for (size_t i = 0; i < n; i++) CHECK(all[i] == (double)(2 * (size_t)(from + 1) * (i % 77)), "element %zu", i);
    OK(rma_barrier_all());
    OK(rma_free(all));
    free(source);
    free(fetch);
}

/* ---- mistakes ---- */

#define REFUSED_ONE(SUFFIX, near, ...)                                                                                 \
    EXPECT(form_name(f, "accumulate" #SUFFIX), FORM_PUT(f, r, accumulate##SUFFIX, near, __VA_ARGS__, type, op, NULL),  \
           code, word)
#define REFUSED_GET(SUFFIX, near, fetch, ...)                                                                          \
    EXPECT(form_name(f, "get_accumulate" #SUFFIX),                                                                     \
           FORM_PUT(f, r, get_accumulate##SUFFIX, near, fetch, __VA_ARGS__, type, op, NULL), code, word)

static void refused(struct form f, struct remote r, int type, int op, int code, const char *word) {
    static _Alignas(16) unsigned char near[256], fetch[256];
    const ptrdiff_t stride[2] = {32, 16}, index[2] = {0, 1};
    const size_t count[2] = {2, 2};
    const struct rma_block list[2] = {{0, 16}, {32, 16}};
    memset(fetch, 0x77, sizeof fetch);
    if (op != RMA_OP_FETCH) {
        REFUSED_ONE(, near, 4);
        REFUSED_ONE(_section, near, stride, stride, 2, count);
        REFUSED_ONE(_indexed, near, index, 2);
        REFUSED_ONE(_blocks, near, list, 2, list, 2);
    }
    REFUSED_GET(, near, fetch, 4);
    REFUSED_GET(_section, near, fetch, stride, stride, stride, 2, count);
    REFUSED_GET(_indexed, near, fetch, index, 2);
    REFUSED_GET(_blocks, near, fetch, list, 2, list, 2, list, 2);
    for (size_t i = 0; i < sizeof fetch; i++) CHECK(fetch[i] == 0x77, "a refused call wrote");
}

static void mistakes(unsigned number, int kind) {
    static _Alignas(16) unsigned char near[256], fetch[256];
    const struct form f = form_number(number, kind);
    const struct remote r = form_remote(f, job_any(1), kind, job.me, 0), null = {RMA_GPTR_NULL, NULL, r.pe};
    const ptrdiff_t stride[2] = {32, 16}, same[2] = {16, 16}, odd[2] = {32, 12}, index[2] = {0, 1};
    const size_t count[2] = {2, 2};
    const struct rma_block list[2] = {{0, 16}, {32, 16}}, longer[2] = {{0, 16}, {32, 24}},
                           cut_up[2] = {{0, 12}, {32, 20}};
    const struct rma_block between[2] = {{0, 16}, {36, 16}};
    int type = RMA_DOUBLE, op = RMA_OP_SUM, code = RMA_ERR_ARG;
    const char *word = "type -1";
    memset(fetch, 0x77, sizeof fetch);
    refused(f, r, -1, RMA_OP_SUM, RMA_ERR_ARG, "type -1");
    refused(f, r, TYPES, RMA_OP_SUM, RMA_ERR_ARG, "type 13");
    refused(f, r, RMA_DOUBLE, -1, RMA_ERR_ARG, "op -1");
    refused(f, r, RMA_DOUBLE, OPS, RMA_ERR_ARG, "op 12");
    for (type = 0; type < TYPES; type++)
        for (op = 0; op < OPS; op++)
            if (!has(type, op)) refused(f, r, type, op, RMA_ERR_ARG, "is not for type");
    type = RMA_DOUBLE, op = RMA_OP_FETCH;
    word = "RMA_OP_FETCH";
    REFUSED_ONE(, near, 4);
    REFUSED_ONE(_section, near, stride, stride, 2, count);
    REFUSED_ONE(_indexed, near, index, 2);
    REFUSED_ONE(_blocks, near, list, 2, list, 2);
    op = RMA_OP_SUM;
    word = "source is a null pointer";
    REFUSED_ONE(, NULL, 4);
    REFUSED_GET(, NULL, fetch, 4);
    REFUSED_ONE(_section, NULL, stride, stride, 2, count);
    REFUSED_ONE(_indexed, NULL, index, 2);
    REFUSED_ONE(_blocks, NULL, list, 2, list, 2);
    word = "fetch is a null pointer";
    REFUSED_GET(, near, NULL, 4);
    REFUSED_GET(_section, near, NULL, stride, stride, stride, 2, count);
    REFUSED_GET(_indexed, near, NULL, index, 2);
    REFUSED_GET(_blocks, near, NULL, list, 2, list, 2, list, 2);
    word = "index";
    REFUSED_ONE(_indexed, near, NULL, 2);
    word = "stride";
    REFUSED_ONE(_section, near, NULL, stride, 2, count);
    REFUSED_ONE(_section, near, stride, NULL, 2, count);
    REFUSED_GET(_section, near, fetch, stride, stride, NULL, 2, count);
    word = "dims 16";
    REFUSED_ONE(_section, near, stride, stride, 16, count);
    REFUSED_GET(_section, near, fetch, stride, stride, stride, 16, count);
    word = "overlap";
    REFUSED_ONE(_section, near, same, stride, 2, count);
    REFUSED_GET(_section, near, fetch, same, stride, stride, 2, count);
    REFUSED_GET(_section, near, fetch, stride, stride, same, 2, count);
    word = "40";
    REFUSED_ONE(_blocks, near, list, 2, longer, 2);
    REFUSED_ONE(_blocks, near, longer, 2, list, 2);
    REFUSED_GET(_blocks, near, fetch, list, 2, list, 2, longer, 2);
    word = "12";
    REFUSED_ONE(_blocks, near, cut_up, 2, list, 2);
    word = "overflow";
    REFUSED_ONE(, near, SIZE_MAX / 4);
    REFUSED_ONE(_indexed, near, index, SIZE_MAX / 4);
    /* Alignment: of the address, of a stride, of a block. */
    for (size_t i = 1; i < 8; i++) {
        struct remote odd_one = r;
        odd_one.g += i, odd_one.addr += i;
        refused(f, odd_one, RMA_DOUBLE, RMA_OP_SUM, RMA_ERR_ADDRESS, "not aligned to 8");
        refused(f, odd_one, RMA_COMPLEXD, RMA_OP_FETCH, RMA_ERR_ADDRESS, "not aligned to 8");
        if (i % 4) refused(f, odd_one, RMA_COMPLEXF, RMA_OP_PROD, RMA_ERR_ADDRESS, "not aligned to 4");
        if (i % 2) refused(f, odd_one, RMA_INT16, RMA_OP_XOR, RMA_ERR_ADDRESS, "not aligned to 2");
    }
    code = RMA_ERR_ADDRESS;
    word = "aligned";
    REFUSED_ONE(_section, near, odd, stride, 2, count);
    code = RMA_ERR_ARG;
    word = "36";
    REFUSED_ONE(_blocks, near, between, 2, list, 2);
    refused(f, null, RMA_INT32, RMA_OP_SUM, RMA_ERR_ADDRESS, "");
    if (!f.gptr) {
        struct remote wrong = r;
        char outside[32];
        snprintf(outside, sizeof outside, "PE %d", job.n);
        wrong.pe = job.n;
        refused(f, wrong, RMA_INT8, RMA_OP_MAX, RMA_ERR_PE, outside);
    }
    if (f.ctx) {
        struct form no = f;
        no.ctx = (rma_ctx *)8;
        refused(no, r, RMA_FLOAT, RMA_OP_SUM, RMA_ERR_ARG, "is no context");
    }
    for (size_t i = 0; i < sizeof fetch; i++) CHECK(fetch[i] == 0x77, "a refused call wrote");
    /* Nothing to do; and a fetch needs no source. */
    OK(FORM_PUT(f, r, accumulate, NULL, 0, RMA_DOUBLE, RMA_OP_SUM, NULL));
    OK(FORM_PUT(f, r, get_accumulate_blocks, near, fetch, list, 0, list, 0, list, 0, RMA_DOUBLE, RMA_OP_SUM, NULL));
    OK(FORM_PUT(f, r, get_accumulate, NULL, fetch, 4, RMA_DOUBLE, RMA_OP_FETCH, NULL));
    form_quiet(f);
    CHECK(memcmp(fetch, model[job_any(1)][kind], 32) == 0, "what was fetched without a source");
}

int main(void) {
    const char *size = getenv("PMI_SIZE");
    uint64_t random;
    if (size && atoi(size) == 4) setenv("RMA_WINDOW", "always", 0);
    job_start();
    random = job_stream((uint64_t)job.me);
    forms_open();
    for (long turn = job_far_rounds(30000, 8000, 2000); turn > 0; turn--) one(&random);
    compare("after accumulates");
    DOING("mistakes");
    OK(rma_barrier_all());
    for (int kind = 0; kind < KINDS; kind++)
        for (unsigned number = 0; number < 16; number++)
            if (form_number(number, kind).gptr == (int)(number % 4 / 2)) mistakes(number, kind);
    compare("after mistakes");
    OK(rma_barrier_all());
    sums(&random);
    for (int kind = 0; kind < KINDS; kind++) tickets(kind);
    if (job.me == 0) *(uint64_t *)(void *)(own[SYMMETRIC] + (size_t)RMA_UINT64 * REGION + 16) = 1;
    whole(&random);
    forms_close();
    long_ones();
    return job_end();
}
