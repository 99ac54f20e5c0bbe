/* SPDX-License-Identifier: BSD-3-Clause */
/* Sections, elements by index, blocks and accumulates of each PE to some others.
 *
 * The model: each PE has a lane at every other one, which only it changes, and a mirror of some of these lanes. Between
 * two quiets no put touches what another call has written, since they have no order; accumulates of the same elements
 * follow each other without a quiet, and take effect in their order. What a get, or a fetch, returns is what the mirror
 * has. In the end each lane is as its mirror, bytes between the elements too, and the sums to which all PEs add are
 * exact. */
#include "config.h"

#include "test/sim/shapes.h"

#include <stdlib.h>
#include <string.h>

#include "rma.h"

#define WORDS    1536 /* of 8 bytes, of a lane: more than a message has */
#define LANE     (WORDS * 8)
#define MOVERS   12 /* PEs that have lanes, at most, */
#define CROWD    64 /* and 2 where there are more PEs than these */
#define TARGETS  3  /* of one PE */
#define SUMS     40
#define ELEMENTS 600
#define PENDING  24 /* buffers in use until a quiet */

/* The elements of a call: offsets in the lane and in the caller's buffer, and the arguments that say the same. */
enum { CLEAN, PUT, UPDATED };

struct shape {
    enum { SECTION, INDEXED, BLOCKS, SHAPES } how;
    size_t elem, n, far[ELEMENTS], near[ELEMENTS];
    int dims;
    size_t count[3];
    ptrdiff_t far_stride[3], near_stride[3], index[ELEMENTS];
    struct rma_block far_block[ELEMENTS];
    size_t far_base, near_base;
};

struct mover {
    struct sim_pe *pe;
    int me, n, to[TARGETS];
    uint64_t *own;
    rma_ctx *ctx;
    unsigned char *lane; /* symmetric: this PE's */
    double *sums;        /* symmetric */
    unsigned char mirror[TARGETS][LANE];
    unsigned char state[TARGETS][LANE]; /* since the last quiet */
    unsigned char *pending[PENDING];
    int n_pending;
    double added[SUMS]; /* to PE 0's sums */
    struct shape shape; /* of the present call */
};

static uint64_t pick(struct mover *m, uint64_t n) { return sim_random(m->own) % n; }

/* A box with strides of either sign, in any order of size; elements that are not in order; or blocks. elem is a power
 * of 2. */
static void shape_make(struct mover *m, struct shape *s, size_t elem) {
    size_t far_size = elem, near_size = elem;
    *s = (struct shape){.how = (unsigned)pick(m, SHAPES), .elem = elem, .n = 1};
    if (s->how == SECTION) {
        s->dims = (int)pick(m, 4);
        for (int d = 0; d < s->dims; d++) {
            const size_t far_gap = pick(m, 2) * pick(m, 3) * elem, near_gap = pick(m, 2) * pick(m, 3) * elem;
            const size_t most = (LANE + far_gap) / (far_size + far_gap), room = LANE / (near_size + near_gap);
            s->count[d] = 1 + pick(m, pick(m, 3) ? 5 : 40);
            while (s->count[d] > 1 && (s->count[d] > most || s->count[d] > room || s->count[d] * s->n > ELEMENTS))
                s->count[d]--;
            s->far_stride[d] = (ptrdiff_t)(far_size + far_gap) * (pick(m, 4) ? 1 : -1);
            s->near_stride[d] = (ptrdiff_t)(near_size + near_gap) * (pick(m, 4) ? 1 : -1);
            far_size += (far_size + far_gap) * (s->count[d] - 1);
            near_size += (near_size + near_gap) * (s->count[d] - 1);
            s->n *= s->count[d];
        }
        for (int d = 0; d < s->dims; d++) {
            if (s->far_stride[d] < 0) s->far_base += (size_t)-s->far_stride[d] * (s->count[d] - 1);
            if (s->near_stride[d] < 0) s->near_base += (size_t)-s->near_stride[d] * (s->count[d] - 1);
        }
        s->far_base += pick(m, (LANE - far_size) / elem + 1) * elem;
        for (size_t i = 0; i < s->n; i++) {
            size_t rest = i;
            s->far[i] = s->far_base;
            s->near[i] = s->near_base;
            for (int d = 0; d < s->dims; d++, rest /= s->count[d - 1]) {
                s->far[i] += (size_t)(s->far_stride[d] * (ptrdiff_t)(rest % s->count[d]));
                s->near[i] += (size_t)(s->near_stride[d] * (ptrdiff_t)(rest % s->count[d]));
            }
        }
        return;
    }
    /* Different elements, by a step that has no divisor in common with their number. */
    static const size_t steps[] = {1, 7, 11, 13};
    const size_t all = LANE / elem, step = steps[pick(m, 4)], begin = pick(m, all);
    s->n = 1 + pick(m, pick(m, 2) ? 20 : all < ELEMENTS ? all : ELEMENTS);
    s->far_base = pick(m, all) * elem;
    for (size_t i = 0; i < s->n; i++) {
        s->far[i] = (begin + i * step) % all * elem;
        s->near[i] = i * elem;
        s->index[i] = ((ptrdiff_t)s->far[i] - (ptrdiff_t)s->far_base) / (ptrdiff_t)elem;
        s->far_block[i] = (struct rma_block){(ptrdiff_t)s->far[i] - (ptrdiff_t)s->far_base, elem};
    }
}

/* Whether an element was written since the last quiet, by a put, or by an accumulate that may precede. */
static int touches(const struct mover *m, int t, const struct shape *s, int updates_may) {
    for (size_t i = 0; i < s->n; i++)
        for (size_t b = 0; b < s->elem; b++)
            if (m->state[t][s->far[i] + b] == PUT || (m->state[t][s->far[i] + b] == UPDATED && !updates_may)) return 1;
    return 0;
}

static void touch(struct mover *m, int t, const struct shape *s, unsigned char state) {
    for (size_t i = 0; i < s->n; i++)
        for (size_t b = 0; b < s->elem; b++) m->state[t][s->far[i] + b] = state;
}

static void quiet(struct mover *m) {
    sim_log(m->pe, "quiet");
    sim_expect(m->pe, "rma_ctx_quiet", rma_ctx_quiet(m->ctx));
    for (int i = 0; i < m->n_pending; i++) free(m->pending[i]);
    m->n_pending = 0;
    memset(m->state, 0, sizeof m->state);
}

static unsigned char *buffer(struct mover *m) {
    if (m->n_pending == PENDING) quiet(m);
    return m->pending[m->n_pending++] = calloc(1, LANE);
}

static void put(struct mover *m, int t) {
    struct shape *const s = &m->shape;
    unsigned char *source;
    const int nbi = (int)pick(m, 2), to = m->to[t];
    int code;
    shape_make(m, s, (size_t)1 << pick(m, 8));
    source = buffer(m);
    if (touches(m, t, s, 0)) {
        quiet(m);
        source = buffer(m);
    }
    for (size_t i = 0; i < LANE; i++) source[i] = (unsigned char)sim_random(m->own);
    for (size_t i = 0; i < s->n; i++) memcpy(m->mirror[t] + s->far[i], source + s->near[i], s->elem);
    touch(m, t, s, PUT);
    sim_log(m->pe, "puts %zu elements of %zu bytes to PE %d, shape %d, %s", s->n, s->elem, to, (int)s->how,
            nbi ? "goes on" : "waits");
    if (s->how == SECTION)
        code = (nbi ? rma_ctx_put_section_nbi : rma_ctx_put_section)(m->ctx, m->lane + s->far_base,
                                                                     source + s->near_base, s->far_stride,
                                                                     s->near_stride, s->elem, s->dims, s->count, to);
    else if (s->how == INDEXED)
        code = (nbi ? rma_ctx_put_indexed_nbi : rma_ctx_put_indexed)(m->ctx, m->lane + s->far_base, source, s->index,
                                                                     s->elem, s->n, to);
    else
        code = (nbi ? rma_ctx_put_blocks_nbi : rma_ctx_put_blocks)(m->ctx, m->lane + s->far_base, source, s->far_block,
                                                                   s->n, NULL, 0, to);
    sim_expect(m->pe, "a put", code);
    if (!nbi) memset(source, 0xee, LANE);
}

static void get(struct mover *m, int t) {
    static unsigned char expected[LANE]; /* not across a call */
    struct shape *const s = &m->shape;
    unsigned char *dest;
    const int nbi = (int)pick(m, 2), to = m->to[t];
    int code;
    shape_make(m, s, (size_t)1 << pick(m, 8));
    if (touches(m, t, s, 0)) quiet(m);
    dest = calloc(1, LANE);
    sim_log(m->pe, "gets %zu elements of %zu bytes from PE %d, shape %d", s->n, s->elem, to, (int)s->how);
    if (s->how == SECTION)
        code = (nbi ? rma_ctx_get_section_nbi : rma_ctx_get_section)(m->ctx, dest + s->near_base, m->lane + s->far_base,
                                                                     s->near_stride, s->far_stride, s->elem, s->dims,
                                                                     s->count, to);
    else if (s->how == INDEXED)
        code = (nbi ? rma_ctx_get_indexed_nbi : rma_ctx_get_indexed)(m->ctx, dest, m->lane + s->far_base, s->index,
                                                                     s->elem, s->n, to);
    else
        code = (nbi ? rma_ctx_get_blocks_nbi : rma_ctx_get_blocks)(m->ctx, dest, m->lane + s->far_base, NULL, 0,
                                                                   s->far_block, s->n, to);
    sim_expect(m->pe, "a get", code);
    if (nbi) quiet(m);
    memset(expected, 0, LANE);
    for (size_t i = 0; i < s->n; i++) memcpy(expected + s->near[i], m->mirror[t] + s->far[i], s->elem);
    for (size_t i = 0; i < LANE; i++)
        if (dest[i] != expected[i]) sim_fail(m->pe, "byte %zu of a get of PE %d is wrong", i, to);
    free(dest);
}

/* Words of 8 bytes, unsigned. */
static void accumulate(struct mover *m, int t) {
    static const int ops[] = {RMA_OP_SUM, RMA_OP_PROD, RMA_OP_MIN, RMA_OP_XOR, RMA_OP_REPLACE};
    const int nbi = (int)pick(m, 2), fetches = pick(m, 3) == 0, to = m->to[t], op = ops[pick(m, 5)];
    const uint64_t factor = 1 + pick(m, 3);
    struct shape *const s = &m->shape;
    unsigned char *source;
    uint64_t *fetched = calloc(1, LANE), *expected = calloc(1, LANE);
    int code;
    shape_make(m, s, 8);
    source = buffer(m);
    if (touches(m, t, s, 1)) {
        quiet(m);
        source = buffer(m);
    }
    for (size_t i = 0; i < LANE; i++) source[i] = (unsigned char)sim_random(m->own);
    sim_log(m->pe, "updates %zu words of PE %d by operation %d, shape %d%s", s->n, to, op, (int)s->how,
            fetches ? ", and fetches" : "");
    touch(m, t, s, UPDATED);
    for (size_t i = 0; i < s->n; i++) {
        uint64_t word, value;
        memcpy(&word, m->mirror[t] + s->far[i], 8);
        memcpy(&value, source + s->near[i], 8);
        expected[s->near[i] / 8] = word;
        value *= factor;
        word = op == RMA_OP_SUM    ? word + value
               : op == RMA_OP_PROD ? word * value
               : op == RMA_OP_MIN  ? (value < word ? value : word)
               : op == RMA_OP_XOR  ? word ^ value
                                   : value;
        memcpy(m->mirror[t] + s->far[i], &word, 8);
    }
    unsigned char *const dest = m->lane + s->far_base, *const fetch = (unsigned char *)fetched;
    if (s->how == SECTION)
        code = fetches ? (nbi ? rma_ctx_get_accumulate_section_nbi : rma_ctx_get_accumulate_section)(
                             m->ctx, dest, source + s->near_base, fetch + s->near_base, s->far_stride, s->near_stride,
                             s->near_stride, s->dims, s->count, RMA_UINT64, op, &factor, to)
                       : (nbi ? rma_ctx_accumulate_section_nbi : rma_ctx_accumulate_section)(
                             m->ctx, dest, source + s->near_base, s->far_stride, s->near_stride, s->dims, s->count,
                             RMA_UINT64, op, &factor, to);
    else if (s->how == INDEXED)
        code = fetches ? (nbi ? rma_ctx_get_accumulate_indexed_nbi : rma_ctx_get_accumulate_indexed)(
                             m->ctx, dest, source, fetch, s->index, s->n, RMA_UINT64, op, &factor, to)
                       : (nbi ? rma_ctx_accumulate_indexed_nbi : rma_ctx_accumulate_indexed)(
                             m->ctx, dest, source, s->index, s->n, RMA_UINT64, op, &factor, to);
    else
        code = fetches
                   ? (nbi ? rma_ctx_get_accumulate_blocks_nbi : rma_ctx_get_accumulate_blocks)(
                         m->ctx, dest, source, fetch, s->far_block, s->n, NULL, 0, NULL, 0, RMA_UINT64, op, &factor, to)
                   : (nbi ? rma_ctx_accumulate_blocks_nbi : rma_ctx_accumulate_blocks)(
                         m->ctx, dest, source, s->far_block, s->n, NULL, 0, RMA_UINT64, op, &factor, to);
    sim_expect(m->pe, "an accumulate", code);
    if (!nbi) memset(source, 0xee, LANE);
    if (fetches && nbi) quiet(m);
    if (fetches && memcmp(fetched, expected, LANE) != 0) sim_fail(m->pe, "what was fetched from PE %d is wrong", to);
    free(expected);
    free(fetched);
}

/* All PEs add small integers to the doubles of PE 0. */
static void sum(struct mover *m) {
    const size_t first = pick(m, SUMS), n = 1 + pick(m, SUMS - first);
    double *source = (double *)(void *)buffer(m);
    for (size_t i = 0; i < n; i++) m->added[first + i] += source[i] = (double)pick(m, 100);
    sim_log(m->pe, "adds to %zu sums", n);
    sim_expect(m->pe, "rma_ctx_accumulate_nbi",
               rma_ctx_accumulate_nbi(m->ctx, m->sums + first, source, n, RMA_DOUBLE, RMA_OP_SUM, NULL, 0));
    if (pick(m, 4) == 0) {
        const size_t word = pick(m, SUMS);
        m->added[word] += 1;
        sim_expect(m->pe, "rma_atomic_add_double", rma_atomic_add_double(m->sums + word, 1, 0));
    }
}

void shapes_phase(struct sim_pe *pe, int n, uint64_t *common, uint64_t *own) {
    struct mover *m = calloc(1, sizeof *m);
    const int movers = n > CROWD ? 2 : n < MOVERS ? n : MOVERS, rounds = 2 + (int)(sim_random(common) % 12);
    unsigned char *block = rma_calloc((size_t)movers, LANE), *got = malloc(LANE);
    double all[SUMS];
    m->pe = pe;
    m->me = pe->me;
    m->n = n;
    m->own = own;
    m->sums = rma_calloc(SUMS, sizeof *m->sums);
    if (!block || !m->sums) sim_fail(pe, "rma_calloc: %s", rma_last_error());
    m->ctx = RMA_CTX_DEFAULT;
    if (pick(m, 3) == 0) sim_expect(pe, "rma_ctx_create", rma_ctx_create(0, &m->ctx));
    if (m->me < movers) {
        m->lane = block + (size_t)m->me * LANE;
        for (int t = 0; t < TARGETS; t++) m->to[t] = (m->me + 1 + t * (1 + (int)pick(m, 2))) % n;
        for (int t = 0; t < TARGETS; t++) /* different ones, else fewer */
            for (int k = 0; k < t; k++)
                if (m->to[k] == m->to[t]) m->to[t] = -1;
        for (int i = 0; i < rounds; i++) {
            int t = (int)pick(m, TARGETS);
            if (m->to[t] < 0) t = 0;
            switch (pick(m, 9)) {
                case 0:
                case 1: put(m, t); break;
                case 2:
                case 3: get(m, t); break;
                case 4: sum(m); break;
                case 5: sim_sleep(pe, pick(m, 20000)); break;
                default: accumulate(m, t);
            }
        }
        quiet(m);
        for (int t = 0; t < TARGETS; t++) {
            if (m->to[t] < 0) continue;
            sim_expect(pe, "rma_get", rma_get(got, m->lane, LANE, m->to[t]));
            for (size_t i = 0; i < LANE; i++)
                if (got[i] != m->mirror[t][i]) sim_fail(pe, "byte %zu of its lane at PE %d is wrong", i, m->to[t]);
        }
    }
    sim_expect(pe, "rma_barrier_all", rma_barrier_all());
    sim_expect(pe, "rma_sum_reduce", rma_sum_reduce_double(RMA_TEAM_WORLD, all, m->added, SUMS));
    for (size_t i = 0; m->me == 0 && i < SUMS; i++)
        if (m->sums[i] != all[i]) sim_fail(pe, "sum %zu is %g, not %g", i, m->sums[i], all[i]);
    if (m->ctx != RMA_CTX_DEFAULT) sim_expect(pe, "rma_ctx_destroy", rma_ctx_destroy(m->ctx));
    sim_expect(pe, "rma_free", rma_free(m->sums));
    sim_expect(pe, "rma_free", rma_free(block));
    free(got);
    free(m);
}
