/* SPDX-License-Identifier: BSD-3-Clause */
/* A collective that every PE calls wrongly, in the same way, is refused on every PE at once, with the call, the
 * argument and its value; nothing is written, nobody waits, and the next call is as if there had been none. RMA_CHECK
 * is not set.
 *
 * Broken by a check that is left out, by a product of length and PEs that wraps around and looks small, by a root that
 * is looked for in the job and not in the team, by a handle of a team that is no more, by an overlap that is seen from
 * one side only, by an end of dest that is taken for that of source, and by a call that fails after it has told the
 * others that it has begun. */
#include "job.h"

#define ROOM ((size_t)8192)
#define FAR  ((size_t)1 << 40) /* more than any heap has */

static unsigned char *block, *to, *source; /* symmetric; to and source are parts of block */
static void *local;                        /* in the local heap */
static unsigned char *private;
static rma_team *alone, *back; /* this PE; all, backwards */

static void fill(void) {
    job_fill(block, 0, 2 * ROOM, 1 + (uint64_t)job.me);
    job_fill(local, 0, ROOM, 101 + (uint64_t)job.me);
    job_fill(private, 0, ROOM, 201 + (uint64_t)job.me);
}

static void untouched(const char *after) {
    size_t wrong = job_differs(block, 0, 2 * ROOM, 1 + (uint64_t)job.me);
    CHECK(wrong == 2 * ROOM, "byte %zu was written: %s", wrong, after);
    CHECK(job_differs(local, 0, ROOM, 101 + (uint64_t)job.me) == ROOM, "the local heap was written: %s", after);
    CHECK(job_differs(private, 0, ROOM, 201 + (uint64_t)job.me) == ROOM, "private memory was written: %s", after);
}

static void still_works(const char *after) {
    for (int root = 0; root < job.n; root++) {
        int mine = job.me * 3 + 1, got = -1;
        OK(rma_broadcast(back, &got, &mine, sizeof got, root));
        CHECK(got == (job.n - 1 - root) * 3 + 1, "a broadcast gives %d: %s", got, after);
        OK(rma_sum_reduce(RMA_TEAM_WORLD, &got, &mine, 1));
        CHECK(got == 3 * job.n * (job.n - 1) / 2 + job.n, "a sum gives %d: %s", got, after);
    }
    untouched(after);
}

/* Every call, each with the name that its text begins with. */
#define EACH_TYPED(X, TEAM, DEST, SOURCE, N, ...)                                                                      \
    X("rma_and_reduce_int", rma_and_reduce_int(TEAM, (int *)(DEST), (const int *)(SOURCE), N), __VA_ARGS__)            \
    X("rma_or_reduce_uchar", rma_or_reduce_uchar(TEAM, (unsigned char *)(DEST), (const unsigned char *)(SOURCE), N),   \
      __VA_ARGS__)                                                                                                     \
    X("rma_xor_reduce_ulong", rma_xor_reduce_ulong(TEAM, (unsigned long *)(DEST), (const unsigned long *)(SOURCE), N), \
      __VA_ARGS__)                                                                                                     \
    X("rma_min_reduce_short", rma_min_reduce_short(TEAM, (short *)(DEST), (const short *)(SOURCE), N), __VA_ARGS__)    \
    X("rma_max_reduce_float", rma_max_reduce_float(TEAM, (float *)(DEST), (const float *)(SOURCE), N), __VA_ARGS__)    \
    X("rma_sum_reduce_ldouble", rma_sum_reduce_ldouble(TEAM, (long double *)(DEST), (const long double *)(SOURCE), N), \
      __VA_ARGS__)                                                                                                     \
    X("rma_prod_reduce_complexd",                                                                                      \
      rma_prod_reduce_complexd(TEAM, (double _Complex *)(DEST), (const double _Complex *)(SOURCE), N), __VA_ARGS__)    \
    X("rma_sum_inscan_int64", rma_sum_inscan_int64(TEAM, (int64_t *)(DEST), (const int64_t *)(SOURCE), N),             \
      __VA_ARGS__)                                                                                                     \
    X("rma_sum_exscan_double", rma_sum_exscan_double(TEAM, (double *)(DEST), (const double *)(SOURCE), N), __VA_ARGS__)
#define EACH(X, TEAM, DEST, SOURCE, N, ...)                                                                            \
    X("rma_broadcast", rma_broadcast(TEAM, DEST, SOURCE, N, 0), __VA_ARGS__)                                           \
    X("rma_fcollect", rma_fcollect(TEAM, DEST, SOURCE, N), __VA_ARGS__)                                                \
    X("rma_collect", rma_collect(TEAM, DEST, SOURCE, N), __VA_ARGS__)                                                  \
    X("rma_alltoall", rma_alltoall(TEAM, DEST, SOURCE, N), __VA_ARGS__)                                                \
    X("rma_alltoalls", rma_alltoalls(TEAM, DEST, SOURCE, 2, 3, 4, N), __VA_ARGS__)                                     \
    EACH_TYPED(X, TEAM, DEST, SOURCE, N, __VA_ARGS__)
#define REFUSED(name, call, code, ...)                                                                                 \
    EXPECT(name, call, code, __VA_ARGS__);                                                                             \
    untouched(#call);

static void *at(void *p) { return p; }

/* ---- teams ---- */

static void no_team(rma_team *team, const char *words) {
    void *d = to, *s = source;
    EACH(REFUSED, team, d, s, 4, RMA_ERR_ARG, words)
    EACH(REFUSED, team, d, s, 0, RMA_ERR_ARG, words)
    REFUSED("rma_team_barrier", rma_team_barrier(team), RMA_ERR_ARG, words)
}

static void wrong_teams(void) {
    rma_team *gone;
    OK(rma_team_split_strided(RMA_TEAM_WORLD, 0, 1, job.n, &gone));
    OK(rma_team_destroy(gone));
    no_team(RMA_TEAM_INVALID, "RMA_TEAM_INVALID");
    no_team(gone, "destroyed");
    no_team((rma_team *)3, "team 0x3");
    no_team((rma_team *)(void *)&gone, job_text("team %p", (void *)&gone));
    no_team((rma_team *)UINTPTR_MAX, "team 0x");
    still_works("no teams");
}

/* ---- roots ---- */

static void wrong_roots(void) {
    const int wrong[] = {-1, job.n, job.n + 1, -job.n, INT_MAX, INT_MIN, 1 << 24, 1 << 30, -65536};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const char *words = job_text("root %d is outside 0..%d", wrong[i], job.n - 1);
        REFUSED("rma_broadcast", rma_broadcast(RMA_TEAM_WORLD, to, source, 8, wrong[i]), RMA_ERR_PE, words)
        REFUSED("rma_broadcast", rma_broadcast(back, to, to, 8, wrong[i]), RMA_ERR_PE, words)
        REFUSED("rma_broadcast", rma_broadcast(back, NULL, NULL, 0, wrong[i]), RMA_ERR_PE, words)
    }
    /* Numbers of the job that are none of the team. */
    for (int root = 1; root < job.n; root++)
        REFUSED("rma_broadcast", rma_broadcast(alone, to, source, 8, root), RMA_ERR_PE,
                job_text("root %d is outside 0..0", root))
    REFUSED("rma_broadcast", rma_broadcast(RMA_TEAM_SHARED, to, source, 8, job.n_near), RMA_ERR_PE,
            job_text("root %d is outside 0..%d", job.n_near, job.n_near - 1))
    still_works("wrong roots");
}

/* ---- addresses ---- */

static void null_pointers(void) {
    void *d = to, *s = source, *null = NULL;
    EACH(REFUSED, RMA_TEAM_WORLD, null, s, 4, RMA_ERR_ARG, "dest", "null")
    EACH_TYPED(REFUSED, back, d, null, 4, RMA_ERR_ARG, "source", "null")
    EACH(REFUSED, alone, d, null, 4, RMA_ERR_ARG, "source", "null")
    REFUSED("rma_fcollect", rma_fcollect(back, d, null, 1), RMA_ERR_ARG, "source", "null")
    REFUSED("rma_collect", rma_collect(back, d, null, 1), RMA_ERR_ARG, "source", "null")
    REFUSED("rma_alltoall", rma_alltoall(back, d, null, 1), RMA_ERR_ARG, "source", "null")
    REFUSED("rma_alltoalls", rma_alltoalls(back, d, null, 1, 1, 1, 1), RMA_ERR_ARG, "source", "null")
    still_works("null pointers");
}

static void overflows(void) {
    void *d = to, *s = source;
    const size_t half = SIZE_MAX / 2 + 1; /* twice this is 0 */
    if (job.n > 1) {
        REFUSED("rma_fcollect", rma_fcollect(RMA_TEAM_WORLD, d, s, SIZE_MAX), RMA_ERR_ARG,
                job_text("%zu bytes", SIZE_MAX))
        REFUSED("rma_alltoall", rma_alltoall(RMA_TEAM_WORLD, d, s, SIZE_MAX), RMA_ERR_ARG,
                job_text("%zu bytes", SIZE_MAX))
        REFUSED("rma_fcollect", rma_fcollect(RMA_TEAM_WORLD, d, s, half), RMA_ERR_ARG, job_text("%zu bytes", half))
        REFUSED("rma_alltoall", rma_alltoall(back, d, s, half), RMA_ERR_ARG, job_text("%zu bytes", half))
        REFUSED("rma_alltoalls", rma_alltoalls(back, d, s, 1, 1, 1, half), RMA_ERR_ARG, job_text("%zu", half))
    }
    REFUSED("rma_alltoalls", rma_alltoalls(back, d, s, 1, 1, 2, half), RMA_ERR_ARG, job_text("%zu", half))
    REFUSED("rma_alltoalls", rma_alltoalls(back, d, s, 1, 1, half, 2), RMA_ERR_ARG, job_text("%zu", half))
    REFUSED("rma_alltoalls", rma_alltoalls(back, d, s, 1, PTRDIFF_MAX, 8, 2), RMA_ERR_ARG, job_text("%td", PTRDIFF_MAX))
    REFUSED("rma_alltoalls", rma_alltoalls(back, d, s, PTRDIFF_MAX, 1, 8, 2), RMA_ERR_ARG, job_text("%td", PTRDIFF_MAX))
    REFUSED("rma_sum_reduce_ullong", rma_sum_reduce_ullong(back, d, s, half / 4 + 1), RMA_ERR_ARG,
            job_text("%zu", half / 4 + 1))
    REFUSED("rma_sum_reduce_int16", rma_sum_reduce_int16(alone, d, s, half), RMA_ERR_ARG, job_text("%zu", half))
    REFUSED("rma_sum_inscan_complexd", rma_sum_inscan_complexd(back, d, s, SIZE_MAX), RMA_ERR_ARG,
            job_text("%zu", SIZE_MAX))
    REFUSED("rma_sum_exscan_ldouble", rma_sum_exscan_ldouble(back, d, s, SIZE_MAX / 16 + 1), RMA_ERR_ARG,
            job_text("%zu", SIZE_MAX / 16 + 1))
    still_works("overflows");
}

/* In the symmetric heap, the local one and private memory: the lengths of dest and source are not always the same. */
static void overlaps(void) {
    unsigned char *const bases[] = {to, local, private};
    size_t n = (size_t)job.n;
    for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++) {
        unsigned char *b = bases[i];
        /* The root alone looks at source: hence a team of one. */
        REFUSED("rma_broadcast", rma_broadcast(alone, b, b + 1, 8, 0), RMA_ERR_ARG, "overlap")
        REFUSED("rma_broadcast", rma_broadcast(alone, b + 7, b, 8, 0), RMA_ERR_ARG, "overlap")
        REFUSED("rma_fcollect", rma_fcollect(RMA_TEAM_WORLD, b, b + 8 * n - 1, 8), RMA_ERR_ARG, "overlap")
        REFUSED("rma_fcollect", rma_fcollect(back, b + 7, b, 8), RMA_ERR_ARG, "overlap")
        REFUSED("rma_alltoall", rma_alltoall(back, b, b + 8 * n - 1, 8), RMA_ERR_ARG, "overlap")
        REFUSED("rma_alltoall", rma_alltoall(back, b + 8 * n - 1, b, 8), RMA_ERR_ARG, "overlap")
        REFUSED("rma_alltoalls", rma_alltoalls(back, b + 1, b, 2, 2, 8, 2), RMA_ERR_ARG, "overlap")
        REFUSED("rma_alltoalls", rma_alltoalls(back, b + ((2 * n - 1) * 3 + 1) * 8 - 1, b, 1, 3, 8, 2), RMA_ERR_ARG,
                "overlap")
        REFUSED("rma_alltoalls", rma_alltoalls(back, b, b + ((2 * n - 1) * 3 + 1) * 8 - 1, 3, 1, 8, 2), RMA_ERR_ARG,
                "overlap")
        REFUSED("rma_sum_reduce_int", rma_sum_reduce_int(back, at(b), at(b + 4), 2), RMA_ERR_ARG, "overlap")
        REFUSED("rma_max_reduce_double", rma_max_reduce_double(back, at(b + 24), at(b), 4), RMA_ERR_ARG, "overlap")
        REFUSED("rma_sum_inscan_int", rma_sum_inscan_int(back, at(b), at(b + 4), 2), RMA_ERR_ARG, "overlap")
        REFUSED("rma_sum_exscan_int", rma_sum_exscan_int(back, at(b + 4), at(b), 2), RMA_ERR_ARG, "overlap")
        /* In place with its elements in other places. */
        REFUSED("rma_alltoalls", rma_alltoalls(back, b, b, 2, 1, 8, 2), RMA_ERR_ARG, "stride")
    }
    if (job.n > 1) {
        /* Where it would lie if all were there: that is not what in place means. */
        REFUSED("rma_fcollect", rma_fcollect(alone, to, to + 4, 8), RMA_ERR_ARG, "overlap")
        REFUSED("rma_fcollect", rma_fcollect(RMA_TEAM_WORLD, to, to + 8 * (job.me ? job.me : 1), 16), RMA_ERR_ARG,
                "overlap")
    }
    still_works("overlaps");
    /* A PE learns only in the call how long the blocks of all are. */
    if (job.n > 1) {
        EXPECT("rma_collect", rma_collect(RMA_TEAM_WORLD, to, to + 8 * n - 1, 8), RMA_ERR_ARG, "overlap", "8 bytes");
        EXPECT("rma_collect", rma_collect(back, to + 7, to + 7 + 8 * n - 1, 8), RMA_ERR_ARG, "overlap");
        OK(rma_barrier_all());
        fill();
        still_works("collect's overlaps");
    }
    /* Side by side. */
    OK(rma_fcollect(RMA_TEAM_WORLD, private, private + 8 * n, 8));
    OK(rma_fcollect(RMA_TEAM_WORLD, private + 8, private, 8));
    OK(rma_alltoall(RMA_TEAM_WORLD, private + 8 * n, private, 8));
    OK(rma_sum_reduce_int(RMA_TEAM_WORLD, at(private), at(private + 8), 2));
    OK(rma_alltoalls(RMA_TEAM_WORLD, private + ((2 * n - 1) * 3 + 1) * 8, private, 1, 3, 8, 2));
    fill();
}

/* source is the place of this PE's block in dest: no mistake, in rma_fcollect and rma_collect alike. */
static void own_places(void) {
    static const size_t lens[] = {1, 8, 1000, 70000, 300000};
    const size_t n_lens = sizeof lens / sizeof lens[0], n = (size_t)job.n;
    unsigned char *heap = rma_malloc(lens[n_lens - 1] * n), *outside = malloc(lens[n_lens - 1] * n);
    CHECK(heap && outside, "no memory");
    for (size_t i = 0; i < 8 * n_lens; i++) {
        unsigned char *d = i & 1 ? heap : outside;
        const size_t len = lens[i / 8], number = (size_t)(i & 2 ? job.n - 1 - job.me : job.me);
        rma_team *team = i & 2 ? back : RMA_TEAM_WORLD;
        memset(d, 0xee, len * n);
        job_fill(d + number * len, 0, len, 1000 * i + number);
        if (i & 4)
            OK(rma_fcollect(team, d, d + number * len, len));
        else
            OK(rma_collect(team, d, d + number * len, len));
        for (size_t k = 0; k < n; k++)
            CHECK(job_differs(d + k * len, 0, len, 1000 * i + k) == len, "block %zu of %zu bytes, case %zu", k, len, i);
        OK(rma_barrier_all());
    }
    OK(rma_free(heap));
    free(outside);
}

/* Beyond the end of what is allocated from a heap, though the block begins in it; and beyond that of memory. */
static void ends(void) {
    void *d = to, *s = source, *l = local;
    size_t n = (size_t)job.n;
    REFUSED("rma_broadcast", rma_broadcast(RMA_TEAM_WORLD, d, s, FAR, 0), RMA_ERR_ADDRESS, "dest", job_text("%p", d))
    REFUSED("rma_broadcast", rma_broadcast(RMA_TEAM_WORLD, l, s, FAR, 0), RMA_ERR_ADDRESS, "dest", job_text("%p", l))
    REFUSED("rma_broadcast", rma_broadcast(RMA_TEAM_WORLD, d, s, SIZE_MAX, 0), RMA_ERR_ADDRESS, "dest",
            job_text("%zu bytes", SIZE_MAX))
    REFUSED("rma_broadcast", rma_broadcast(RMA_TEAM_WORLD, private, s, SIZE_MAX, 0), RMA_ERR_ADDRESS, "dest",
            job_text("%zu bytes", SIZE_MAX))
    REFUSED("rma_fcollect", rma_fcollect(back, d, private, FAR / n), RMA_ERR_ADDRESS, "dest",
            job_text("%zu bytes", FAR / n * n))
    REFUSED("rma_collect", rma_collect(back, private, s, FAR), RMA_ERR_ADDRESS, "source", job_text("%p", s))
    REFUSED("rma_collect", rma_collect(back, private, l, FAR), RMA_ERR_ADDRESS, "source", job_text("%p", l))
    REFUSED("rma_alltoall", rma_alltoall(back, d, s, FAR), RMA_ERR_ADDRESS, "dest", job_text("%p", d))
    REFUSED("rma_alltoalls", rma_alltoalls(back, d, s, (ptrdiff_t)FAR, 1, 1, 2), RMA_ERR_ADDRESS, "dest",
            job_text("%p", d))
    REFUSED("rma_alltoalls", rma_alltoalls(back, d, s, 1, (ptrdiff_t)FAR, 1, 2), RMA_ERR_ADDRESS, "source",
            job_text("%p", s))
    REFUSED("rma_sum_reduce_double", rma_sum_reduce_double(back, d, s, FAR / 8), RMA_ERR_ADDRESS, "dest",
            job_text("%p", d))
    REFUSED("rma_sum_inscan_double", rma_sum_inscan_double(back, l, s, FAR / 8), RMA_ERR_ADDRESS, "dest",
            job_text("%p", l))
    REFUSED("rma_sum_exscan_double", rma_sum_exscan_double(back, d, s, FAR / 8), RMA_ERR_ADDRESS, "dest",
            job_text("%p", d))
    still_works("ends");
}

#define MISALIGNED(NAME, TYPE)                                                                                         \
    if (sizeof(TYPE) > 1) {                                                                                            \
        for (size_t off = 1; off < sizeof(TYPE) && off < 16; off += off < 4 ? 1 : 3) {                                 \
            void *d = to, *s = source, *odd_d = to + off, *odd_s = source + off;                                       \
            if (off % _Alignof(TYPE) == 0) continue;                                                                   \
            REFUSED("rma_sum_reduce_" #NAME, rma_sum_reduce_##NAME(back, odd_d, s, 1), RMA_ERR_ADDRESS, "dest",        \
                    job_text("%p", odd_d))                                                                             \
            REFUSED("rma_sum_reduce_" #NAME, rma_sum_reduce_##NAME(back, d, odd_s, 1), RMA_ERR_ADDRESS, "source",      \
                    job_text("%p", odd_s))                                                                             \
            REFUSED("rma_prod_reduce_" #NAME, rma_prod_reduce_##NAME(back, odd_d, odd_d, 1), RMA_ERR_ADDRESS, "dest",  \
                    job_text("%p", odd_d))                                                                             \
            REFUSED("rma_sum_inscan_" #NAME, rma_sum_inscan_##NAME(back, odd_d, s, 1), RMA_ERR_ADDRESS, "dest",        \
                    job_text("%p", odd_d))                                                                             \
            REFUSED("rma_sum_exscan_" #NAME, rma_sum_exscan_##NAME(back, d, odd_s, 1), RMA_ERR_ADDRESS, "source",      \
                    job_text("%p", odd_s))                                                                             \
        }                                                                                                              \
    }

static void misaligned(void) {
    RMA_TYPES(MISALIGNED)
    RMA_TYPE_ALIASES(MISALIGNED)
    RMA_COMPLEX_TYPES(MISALIGNED)
    still_works("misaligned");
}

static void strides(void) {
    const ptrdiff_t wrong[] = {0, -1, PTRDIFF_MIN};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const char *words = job_text("%td", wrong[i]);
        REFUSED("rma_alltoalls", rma_alltoalls(back, to, source, wrong[i], 1, 4, 2), RMA_ERR_ARG, "dest_stride", words)
        REFUSED("rma_alltoalls", rma_alltoalls(back, to, source, 1, wrong[i], 4, 2), RMA_ERR_ARG, "source_stride",
                words)
        REFUSED("rma_alltoalls", rma_alltoalls(back, to, to, wrong[i], wrong[i], 4, 2), RMA_ERR_ARG, "stride", words)
    }
    still_works("strides");
}

/* ---- nothing ---- */

#define FINE(name, call, ...)                                                                                          \
    QUIETLY(call, RMA_SUCCESS);                                                                                        \
    untouched(#call);

/* A length of 0 is no mistake, with addresses or without. */
static void nothing(void) {
    void *d = to, *s = source, *null = NULL;
    EACH(FINE, RMA_TEAM_WORLD, d, s, 0, 0)
    EACH(FINE, back, null, null, 0, 0)
    EACH(FINE, alone, d, null, 0, 0)
    for (int root = 0; root < job.n; root++) FINE("", rma_broadcast(RMA_TEAM_WORLD, d, s, 0, root), 0)
    still_works("nothing");
}

#define NOT_NOW(name, call, when) EXPECT(name, call, RMA_ERR_STATE, when);

static void not_now(const char *when) {
    static unsigned char here[64] __attribute__((aligned(64)));
    void *d = here, *s = here + 32;
    EACH(NOT_NOW, RMA_TEAM_WORLD, d, s, 1, when)
    NOT_NOW("rma_team_barrier", rma_team_barrier(RMA_TEAM_WORLD), when)
}

int main(void) {
    unsetenv("RMA_CHECK");
    job_begin();
    not_now("before rma_init");
    OK(rma_init());
    job_look();
    void *p = NULL;
    block = rma_aligned_alloc(64, 2 * ROOM);
    CHECK(block != NULL, "%s", rma_last_error());
    to = block;
    source = block + ROOM;
    OK(rma_alloc_mem(ROOM, &local));
    CHECK(posix_memalign(&p, 64, ROOM) == 0, "no memory");
    private = p;
    for (int pe = 0; pe < job.n; pe++) {
        rma_team *one;
        OK(rma_team_split_strided(RMA_TEAM_WORLD, pe, 1, 1, &one));
        if (pe == job.me) alone = one;
    }
    OK(rma_team_split_strided(RMA_TEAM_WORLD, job.n - 1, -1, job.n, &back));
    fill();
    DOING("no teams");
    wrong_teams();
    DOING("wrong roots");
    wrong_roots();
    DOING("null pointers");
    null_pointers();
    DOING("overflows");
    overflows();
    DOING("overlaps");
    overlaps();
    DOING("blocks in their places");
    own_places();
    DOING("ends of heaps");
    ends();
    DOING("misaligned");
    misaligned();
    DOING("strides");
    strides();
    DOING("nothing");
    nothing();
    DOING("giving back");
    OK(rma_team_destroy(back));
    OK(rma_team_destroy(alone));
    OK(rma_free_mem(local));
    OK(rma_free(block));
    free(private);
    job_end();
    not_now("after rma_finalize");
    return 0;
}
