/* SPDX-License-Identifier: BSD-3-Clause */
/* All forms of put and get by global pointer (nonblocking, of a value, with a signal, strided; with a context and
 * without) move the same bytes as the plain ones, to any memory that a global pointer can name; who sees the signal of
 * a put sees its data; and a call that is refused moves nothing.
 *
 * Broken by a form that uses another context's pending set, or takes the global pointer's PE for a number of the
 * context's team; by a strided form that leaves an attached region once for each element; by a signal on another PE
 * that overtakes its data; and by a check that comes after the first byte. */
#include "job.h"

#include <mpi.h>

#define PE_SHIFT 40 /* rma.h: the owner in the upper 24 bits */
#define ROOM     3000
#define SLICE    (64 + ROOM) /* a word for signals, and bytes, for each PE */

enum { SYMMETRIC, LOCAL, ATTACHED, KINDS };
static const char *const kinds[] = {"symmetric heap", "local heap", "attached memory"};

static rma_gptr_t all[JOB_PES_MAX][KINDS]; /* of each PE: its memory, with a slice for each PE */
static char *own[KINDS];                   /* this PE's */
static rma_ctx *contexts[4];               /* none, the default one, one of this job's PEs, one of a team */

static rma_gptr_t slice(int pe, int kind, int of) { return all[pe][kind] + (size_t)of * SLICE; }

#define CALL(NAME, ...) (ctx ? rma_ctx_gptr_##NAME(ctx, __VA_ARGS__) : rma_gptr_##NAME(__VA_ARGS__))

static void quiet(rma_ctx *ctx) { OK(ctx ? rma_ctx_quiet(ctx) : rma_quiet()); }

/* ---- against a model ---- */

static struct {
    uint64_t signal;
    char bytes[ROOM];
} model[JOB_PES_MAX][KINDS]; /* what this PE's slices hold */

enum { PUT, PUT_NBI, P, IPUT, PUT_SIGNAL, PUT_SIGNAL_NBI, IPUT_SIGNAL, GET, GET_NBI, G, IGET, FORMS };

/* One operation, and the same in the model. Elements of a strided form are step apart in the slice, and 2 in `near`. */
static void operate(uint64_t *random, int form, rma_ctx *ctx, int pe, int kind) {
    static char near[2 * ROOM];
    const rma_gptr_t base = slice(pe, kind, job.me), bytes = base + 64;
    char *there = model[pe][kind].bytes;
    const int strided = form == IPUT || form == IPUT_SIGNAL || form == IGET;
    const int op = job_random(random) & 1 ? RMA_SIGNAL_ADD : RMA_SIGNAL_SET;
    const size_t elem = strided ? (size_t)1 << job_below(random, 5) : 1, step = 1 + job_below(random, 5);
    size_t len = form == P || form == G ? 8 : strided ? 0 : job_length(random, ROOM);
    const size_t n = strided ? job_length(random, ROOM / elem / step) : 0, span = n ? ((n - 1) * step + 1) * elem : len;
    const size_t at = job_below(random, ROOM - span + 1) & ~(form == P || form == G ? (size_t)7 : 0);
    const uint64_t value = job_random(random), key = job_random(random);
    long word;
    job_fill(near, 0, sizeof near, key);
    switch (form) {
        case PUT: OK(CALL(put, bytes + at, near, len)); break;
        case PUT_NBI: OK(CALL(put_nbi, bytes + at, near, len)); break;
        case P:
            memcpy(&word, near, 8);
            OK(CALL(p_long, bytes + at, word));
            break;
        case IPUT: OK(CALL(iput, bytes + at, near, (ptrdiff_t)step, 2, elem, n)); break;
        case PUT_SIGNAL: OK(CALL(put_signal, bytes + at, near, len, base, value, op)); break;
        case PUT_SIGNAL_NBI: OK(CALL(put_signal_nbi, bytes + at, near, len, base, value, op)); break;
        case IPUT_SIGNAL: OK(CALL(iput_signal, bytes + at, near, (ptrdiff_t)step, 2, elem, n, base, value, op)); break;
        case GET: OK(CALL(get, near, bytes + at, len)); break;
        case GET_NBI: OK(CALL(get_nbi, near, bytes + at, len)); break;
        case G:
            word = CALL(g_long, bytes + at);
            memcpy(near, &word, 8);
            break;
        default: OK(CALL(iget, near, bytes + at, 2, (ptrdiff_t)step, elem, n)); break;
    }
    if (!rma_on_node(pe)) quiet(ctx);
    if (form >= PUT_SIGNAL && form <= IPUT_SIGNAL)
        model[pe][kind].signal = value + (op == RMA_SIGNAL_ADD ? model[pe][kind].signal : 0);
    if (form < GET && !strided) memcpy(there + at, near, len);
    if (form < GET)
        for (size_t i = 0; i < n; i++) memcpy(there + at + i * step * elem, near + 2 * i * elem, elem);
    else if (!strided)
        CHECK(memcmp(near, there + at, len) == 0, "form %d: %zu bytes at %zu of PE %d's %s", form, len, at, pe,
              kinds[kind]);
    for (size_t i = 0; form == IGET && i < 2 * n; i++) {
        const char *element = near + i * elem;
        if (i % 2 == 0)
            CHECK(memcmp(element, there + at + i / 2 * step * elem, elem) == 0, "element %zu of %zu of PE %d's %s",
                  i / 2, n, pe, kinds[kind]);
        else
            CHECK(job_differs(element, i * elem, elem, key) == elem, "the gap after element %zu was written", i / 2);
    }
}

/* Each of this PE's slices is as the model. */
static void compare(const char *when) {
    static char bytes[SLICE];
    for (int pe = 0; pe < job.n; pe++)
        for (int kind = 0; kind < KINDS; kind++) {
            OK(rma_gptr_get(bytes, slice(pe, kind, job.me), SLICE));
            CHECK(memcmp(bytes, &model[pe][kind].signal, 8) == 0, "%s: the signal in PE %d's %s", when, pe,
                  kinds[kind]);
            for (size_t i = 0; i < ROOM; i++)
                CHECK(bytes[64 + i] == model[pe][kind].bytes[i], "%s: byte %zu of PE %d's %s", when, i, pe,
                      kinds[kind]);
        }
}

/* ---- who sees the signal sees the data ---- */

/* This PE puts to the next one, with a signal on that PE or on the one after it, which reads the data. */
static void told(int kind, rma_ctx *ctx, uint64_t round) {
    static char bytes[2 * ROOM];
    const int form = (int)(round % 3), to = job_any(1), further = (int)(round & 1), reader = job_any(1 + further);
    const int from = job_any(-1 - further), between = job_any(-1 - further + 1);
    const size_t len = round % 4 == 0 ? 8 : ROOM;
    job_fill(bytes, 0, sizeof bytes, round * 64 + (uint64_t)job.me);
    if (form == 0)
        OK(CALL(put_signal, slice(to, kind, job.me) + 64, bytes, len, slice(reader, kind, job.me), round,
                RMA_SIGNAL_SET));
    else if (form == 1)
        OK(CALL(put_signal_nbi, slice(to, kind, job.me) + 64, bytes, len, slice(reader, kind, job.me), round,
                RMA_SIGNAL_SET));
    else
        OK(CALL(iput_signal, slice(to, kind, job.me) + 64, bytes, 1, 1, 1, len, slice(reader, kind, job.me), round,
                RMA_SIGNAL_SET));
    OK(rma_wait_until((uint64_t *)(void *)(own[kind] + (size_t)from * SLICE), RMA_CMP_EQ, round));
    if (form == 1) quiet(ctx); /* the buffer */
    OK(rma_gptr_get(bytes, slice(between, kind, from) + 64, len));
    CHECK(job_differs(bytes, 0, len, round * 64 + (uint64_t)from) == len, "PE %d's data on PE %d, round %llu", from,
          between, (unsigned long long)round);
    quiet(ctx);
    OK(rma_barrier_all());
}

/* ---- mistakes ---- */

#define VALUE_REFUSED(NAME, TYPE)                                                                                      \
    if (ctx) {                                                                                                         \
        EXPECT("rma_ctx_gptr_p_" #NAME, rma_ctx_gptr_p_##NAME(ctx, g, (TYPE)1), code, words);                          \
        EXPECT_ZERO("rma_ctx_gptr_g_" #NAME, rma_ctx_gptr_g_##NAME(ctx, g) != 0, code, words);                         \
    } else {                                                                                                           \
        EXPECT("rma_gptr_p_" #NAME, rma_gptr_p_##NAME(g, (TYPE)1), code, words);                                       \
        EXPECT_ZERO("rma_gptr_g_" #NAME, rma_gptr_g_##NAME(g) != 0, code, words);                                      \
    }
#define REFUSED(NAME, ...) EXPECT(ctx ? "rma_ctx_gptr_" #NAME : "rma_gptr_" #NAME, CALL(NAME, __VA_ARGS__), code, words)

/* All calls with g as the remote side, and as the signal, in ctx. */
static void refused(rma_ctx *ctx, rma_gptr_t g, int code, const char *words) {
    char near[16] = "unchanged";
    const rma_gptr_t good = slice(job_any(1), LOCAL, job.me);
    RMA_TYPES(VALUE_REFUSED)
    RMA_TYPE_ALIASES(VALUE_REFUSED)
    REFUSED(put, g, near, 16);
    REFUSED(get, near, g, 16);
    REFUSED(put_nbi, g, near, 16);
    REFUSED(get_nbi, near, g, 16);
    REFUSED(put_signal, g, near, 16, good, 1, RMA_SIGNAL_SET);
    REFUSED(put_signal_nbi, g, near, 16, good, 1, RMA_SIGNAL_ADD);
    REFUSED(put_signal, good + 64, near, 16, g, 1, RMA_SIGNAL_SET);
    REFUSED(put_signal_nbi, good + 64, near, 0, g, 1, RMA_SIGNAL_ADD);
    REFUSED(iput, g, near, 1, 1, 4, 4);
    REFUSED(iget, near, g, 1, 1, 4, 4);
    REFUSED(iput_signal, g, near, 1, 1, 4, 4, good, 1, RMA_SIGNAL_SET);
    REFUSED(iput_signal, good + 64, near, 1, 1, 4, 4, g, 1, RMA_SIGNAL_SET);
    CHECK(strcmp(near, "unchanged") == 0, "a refused get wrote");
}

static void mistakes(rma_ctx *ctx) {
    char near[16] = "unchanged";
    const int pe = job_any(1);
    for (int kind = 0; kind < KINDS; kind++) {
        const rma_gptr_t word = slice(pe, kind, job.me), g = word + 64;
        const char *words;
        int code = RMA_ERR_ARG;
        for (ptrdiff_t stride = 0; stride > -2; stride--) {
            words = job_text("dest_stride %td is below 1", stride);
            REFUSED(iput, g, near, stride, 1, 4, 2);
            REFUSED(iget, near, g, stride, 1, 4, 2);
            REFUSED(iput_signal, g, near, stride, 1, 4, 2, word, 1, RMA_SIGNAL_SET);
            words = job_text("source_stride %td is below 1", stride);
            REFUSED(iput, g, near, 1, stride, 4, 2);
            REFUSED(iget, near, g, 1, stride, 4, 2);
            REFUSED(iput_signal, g, near, 1, stride, 4, 0, word, 1, RMA_SIGNAL_SET);
        }
        words = "elem is 0";
        REFUSED(iput, g, near, 1, 1, 0, 2);
        REFUSED(iget, near, g, 1, 1, 0, 2);
        words = "op 7 is neither RMA_SIGNAL_SET nor RMA_SIGNAL_ADD";
        REFUSED(put_signal, g, near, 8, word, 1, 7);
        REFUSED(put_signal_nbi, g, near, 8, word, 1, 7);
        REFUSED(iput_signal, g, near, 1, 1, 4, 2, word, 1, 7);
        words = "source is a null pointer";
        REFUSED(iput, g, NULL, 1, 1, 4, 2);
        REFUSED(iput_signal, g, NULL, 1, 1, 4, 2, word, 1, RMA_SIGNAL_SET);
        words = "dest is a null pointer";
        REFUSED(iget, NULL, g, 1, 1, 4, 2);
        code = RMA_ERR_ADDRESS;
        words = "not aligned to 8";
        REFUSED(put_signal, g, near, 8, word + 4, 1, RMA_SIGNAL_SET);
        REFUSED(put_signal_nbi, g, near, 8, word + 1, 1, RMA_SIGNAL_ADD);
        REFUSED(iput_signal, g, near, 1, 1, 4, 2, word + 2, 1, RMA_SIGNAL_ADD);
        words = "overflow an address";
        REFUSED(iput, g, near, PTRDIFF_MAX, 1, 8, 3);
        REFUSED(iget, near, g, 1, PTRDIFF_MAX, 8, 3);
        /* The last of three elements is outside. */
        words = kind == ATTACHED ? "in no region" : "outside the heaps";
        REFUSED(iput, g, near, (ptrdiff_t)1 << 36, 1, 1, 3);
        REFUSED(iget, near, g, 1, (ptrdiff_t)1 << 36, 1, 3);
        REFUSED(iput_signal, g, near, (ptrdiff_t)1 << 36, 1, 1, 3, word, 1, RMA_SIGNAL_SET);
        OK(CALL(iput, g, NULL, 1, 1, 4, 0));
        OK(CALL(iget, NULL, g, 1, 1, 4, 0));
    }
    refused(ctx, RMA_GPTR_NULL, RMA_ERR_ADDRESS, "is null");
    refused(ctx, all[pe][SYMMETRIC] | (rma_gptr_t)0xffffff << PE_SHIFT, RMA_ERR_PE, "PE 16777215, outside");
    refused(ctx, ((rma_gptr_t)3 << 38) - 8, RMA_ERR_ADDRESS, "outside the heaps of PE 0");
    refused(ctx, (((rma_gptr_t)1 << PE_SHIFT) - 64) | (rma_gptr_t)pe << PE_SHIFT, RMA_ERR_ADDRESS, "in no region");
    CHECK(strcmp(near, "unchanged") == 0, "a refused get wrote");
}

int main(void) {
    rma_gptr_t mine[KINDS];
    rma_team *backwards;
    uint64_t random;
    size_t size;
    job_start();
    random = job_stream((uint64_t)job.me);
    size = SLICE * (size_t)job.n;
    size = (size + 7) & ~(size_t)7;
    own[SYMMETRIC] = rma_calloc(1, size);
    CHECK(own[SYMMETRIC] != NULL, "%s", rma_last_error());
    OK(rma_alloc_mem(size, &own[LOCAL]));
    own[ATTACHED] = calloc(1, size);
    memset(own[LOCAL], 0, size);
    OK(rma_attach(own[ATTACHED], size, &mine[ATTACHED]));
    mine[SYMMETRIC] = rma_gptr(own[SYMMETRIC], job.me);
    mine[LOCAL] = rma_gptr(own[LOCAL], job.me);
    MPI_Allgather(mine, KINDS, MPI_UINT64_T, all, KINDS, MPI_UINT64_T, MPI_COMM_WORLD);
    OK(rma_team_split_strided(RMA_TEAM_WORLD, job.n - 1, -1, job.n, &backwards));
    contexts[1] = RMA_CTX_DEFAULT;
    OK(rma_ctx_create(0, &contexts[2]));
    OK(rma_team_create_ctx(backwards, 0, &contexts[3]));
    OK(rma_barrier_all());

    DOING("operating");
    for (long turn = job_far_rounds(12000, 4000, 500); turn > 0; turn--)
        operate(&random, (int)job_below(&random, FORMS), contexts[job_below(&random, 4)],
                (int)job_below(&random, (size_t)job.n), (int)job_below(&random, KINDS));
    compare("after operations");
    DOING("mistakes");
    OK(rma_barrier_all());
    for (int i = 0; i < 4; i++) mistakes(contexts[i]);
    refused((rma_ctx *)8, slice(job_any(1), LOCAL, job.me), RMA_ERR_ARG, "is no context");
    EXPECT("rma_ctx_gptr_put", rma_ctx_gptr_put(RMA_CTX_INVALID, slice(0, LOCAL, job.me), own[LOCAL], 8), RMA_ERR_ARG,
           "ctx is RMA_CTX_INVALID");
    compare("after mistakes");
    OK(rma_barrier_all());
    DOING("signals");
    for (uint64_t round = 1; round <= 48; round++) told((int)(round % KINDS), contexts[round / 6 % 4], round);
    OK(rma_ctx_destroy(contexts[2]));
    refused(contexts[2], slice(job_any(1), LOCAL, job.me), RMA_ERR_ARG, "is no context, or has been destroyed");
    OK(rma_team_destroy(backwards));
    OK(rma_detach(own[ATTACHED]));
    free(own[ATTACHED]);
    OK(rma_free_mem(own[LOCAL]));
    OK(rma_free(own[SYMMETRIC]));
    return job_end();
}
