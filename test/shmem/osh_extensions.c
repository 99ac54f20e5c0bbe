/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of <shmemx.h> work like the corresponding calls of shmem.h, for each type and size, and the counters of a
 * context tell its begun and completed operations.
 *
 * Broken by a row of the table that has another type's function or size, by a hint that is refused, by counters that
 * are another context's, or that never tell of the end. */
#include "osh.h"

#include <shmemx.h>

#define ROW 16

static shmem_ctx_t ctx; /* its team's PE i is PE n - 1 - i of the job */

static int turned(int pe) { return n - 1 - pe; }

static int value_of(int pe, int i) { return pe * ROW + i + 1; }

/* ---- blocks with a stride ---- */

/* Blocks of 2, each 5 apart in dest and 3 apart in source; in the context of 3, 7 and 4 apart. */
#define CHECK_BLOCKS(name, got, pe)                                                                                    \
    for (int i = 0; i < 6; i++) {                                                                                      \
        CHECK((int)(got)[i / 2 * 5 + i % 2] == value_of(pe, i / 2 * 3 + i % 2), name ": element %d", i);               \
        CHECK((int)(got)[ROW + i / 3 * 7 + i % 3] == value_of(pe, i / 3 * 4 + i % 3), name " in ctx: element %d", i);  \
    }                                                                                                                  \
    CHECK((int)(got)[2] == 0 && (int)(got)[4] == 0 && (int)(got)[ROW + 3] == 0, name " writes between the blocks")

/* memory: ROW elements of source, 2 rows of dest, on the symmetric heap. */
#define MOVE_BLOCKS(name, PUT, GET, CTX_PUT, CTX_GET, TYPE)                                                            \
    do {                                                                                                               \
        TYPE *source = memory, *dest = source + ROW, got[2 * ROW];                                                     \
        DOING(name);                                                                                                   \
        memset(got, 0, sizeof got);                                                                                    \
        memset(dest, 0, 2 * ROW * sizeof *dest);                                                                       \
        for (int i = 0; i < ROW; i++) source[i] = (TYPE)value_of(me, i);                                               \
        shmem_barrier_all();                                                                                           \
        PUT(dest, source, 5, 3, 2, 3, next());                                                                         \
        CTX_PUT(ctx, dest + ROW, source, 7, 4, 3, 2, turned(next()));                                                  \
        GET(got, source, 5, 3, 2, 3, next());                                                                          \
        CTX_GET(ctx, got + ROW, source, 7, 4, 3, 2, turned(next()));                                                   \
        CHECK_BLOCKS(name " ibget", got, next());                                                                      \
        shmem_ctx_quiet(ctx);                                                                                          \
        shmem_barrier_all();                                                                                           \
        CHECK_BLOCKS(name " ibput", dest, previous());                                                                 \
        shmem_barrier_all();                                                                                           \
    } while (0)

static void blocks(void *memory) {
#define TYPED(A, NAME, TYPE, RNAME)                                                                                    \
    MOVE_BLOCKS(#NAME, shmemx_##NAME##_ibput, shmemx_##NAME##_ibget, shmemx_ctx_##NAME##_ibput,                        \
                shmemx_ctx_##NAME##_ibget, TYPE);
#define SIZED(BITS, TYPE)                                                                                              \
    MOVE_BLOCKS(#BITS " bits", shmemx_ibput##BITS, shmemx_ibget##BITS, shmemx_ctx_ibput##BITS, shmemx_ctx_ibget##BITS, \
                TYPE)
    SHMEM_TYPES_(TYPED, )
    SIZED(8, int8_t);
    SIZED(16, int16_t);
    SIZED(32, int32_t);
    SIZED(64, int64_t);
    SIZED(128, long double);
    MOVE_BLOCKS("generic", shmemx_ibput, shmemx_ibget, shmemx_ibput, shmemx_ibget, short);
}

/* ---- scans ---- */

static void scans(void) {
#define SCAN(A, NAME, TYPE, RNAME)                                                                                     \
    {                                                                                                                  \
        TYPE source[2] = {(TYPE)(me + 1), (TYPE)1}, in[2], ex[2];                                                      \
        DOING("scans of " #NAME);                                                                                      \
        CHECK(shmemx_##NAME##_sum_inscan(SHMEM_TEAM_WORLD, in, source, 2) == 0, "inclusive");                          \
        CHECK(shmemx_##NAME##_sum_exscan(SHMEM_TEAM_WORLD, ex, source, 2) == 0, "exclusive");                          \
        CHECK(in[0] == (TYPE)((me + 1) * (me + 2) / 2) && in[1] == (TYPE)(me + 1), "inclusive");                       \
        CHECK(ex[0] == (TYPE)(me * (me + 1) / 2) && ex[1] == (TYPE)me, "exclusive");                                   \
    }
    SHMEM_SUM_TYPES_(SCAN, )
    int one = 1, in = 0, ex = 7;
    CHECK(shmemx_sum_inscan(SHMEM_TEAM_WORLD, &in, &one, 1) == 0 && in == me + 1, "generic: %d", in);
    CHECK(shmemx_sum_exscan(SHMEM_TEAM_WORLD, &ex, &one, 1) == 0 && ex == me, "generic: %d", ex);
}

/* ---- signals, the node, the hint ---- */

static void signals(void) {
    static uint64_t signal[4];
    DOING("signals");
    shmemx_signal_set(&signal[0], 7, next());
    shmemx_signal_add(&signal[1], 3, next());
    shmemx_signal_add(SHMEM_CTX_DEFAULT, &signal[1], 2, next());
    shmemx_signal_add(&signal[1], 3, next());
    shmemx_signal_set(ctx, &signal[2], 9, turned(next()));
    shmemx_ctx_signal_add(ctx, &signal[3], 10, turned(next()));
    for (int i = 0; i < 4; i++) shmem_signal_wait_until(&signal[i], SHMEM_CMP_EQ, (uint64_t)(7 + i));
}

static void node(void) {
    long *word = shmem_malloc(sizeof *word);
    int peers = 0;
    DOING("the team of the node");
    for (int pe = 0; pe < n; pe++) {
        const int here = shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, SHMEMX_TEAM_NODE) >= 0;
        CHECK(here == (shmem_ptr(word, pe) != NULL), "PE %d", pe);
        peers += here;
    }
    CHECK(peers == shmem_team_n_pes(SHMEMX_TEAM_NODE), "%d PEs", peers);
    shmem_free(word);
}

static void hint(void) {
    int *block = shmem_malloc_with_hints(64, SHMEMX_MALLOC_NO_BARRIER | SHMEM_MALLOC_SIGNAL_REMOTE);
    DOING("SHMEMX_MALLOC_NO_BARRIER");
    CHECK(block != NULL, "no memory");
    shmem_barrier_all();
    shmem_int_p(block, me, next());
    shmem_barrier_all();
    CHECK(*block == previous(), "%d", *block);
    shmem_free(block);
}

/* ---- counters ---- */

#define PUTS 40
#define ADDS 5
#define GETS 3
#define LONG ((size_t)100000)

static shmemx_pcntr_t counters_of(shmem_ctx_t c) {
    shmemx_pcntr_t all;
    uint64_t writes, reads, complete;
    shmemx_pcntr_get_all(c, &all);
    CHECK(all.completed_put <= all.pending_put && all.completed_get <= all.pending_get, "more complete than begun");
    shmemx_pcntr_get_issued_write(c, &writes);
    shmemx_pcntr_get_issued_read(c, &reads);
    CHECK(writes == all.pending_put && reads == all.pending_get, "one by one it is another number");
    shmemx_pcntr_get_completed_write(c, &complete);
    CHECK(complete >= all.completed_put && complete <= writes, "%llu are complete", (unsigned long long)complete);
    return all;
}

static int is_complete(shmemx_pcntr_t all) {
    return all.completed_put == all.pending_put && all.completed_get == all.pending_get;
}

/* PUTS + 1 puts, ADDS atomics and GETS gets. */
static void begin_operations(int pe, long *word, char *block, const char *mine, long got[GETS]) {
    for (long i = 0; i < PUTS; i++) shmem_ctx_long_put_nbi(ctx, word + 1, &i, 1, turned(pe));
    shmem_ctx_putmem_nbi(ctx, block, mine, LONG, turned(pe));
    for (int i = 0; i < ADDS; i++) shmem_ctx_long_atomic_add(ctx, word, 1, turned(pe));
    for (int i = 0; i < GETS; i++) shmem_ctx_long_get_nbi(ctx, &got[i], word + 2, 1, turned(pe));
}

static void counters(void) {
    const long expected = (long)ADDS * n;
    long *word = shmem_calloc(3, sizeof *word), got[GETS];
    char *block = shmem_malloc(LONG), *mine = calloc(1, LONG);
    shmemx_pcntr_t before, standing, now;
    uint64_t target, served;
    int far = 0;
    DOING("counters");
    CHECK(word && block && mine, "no memory");
    word[2] = 100 + me;
    shmem_sync_all();
    shmemx_pcntr_get_completed_target(&target);
    shmem_barrier_all(); /* nobody asks for anything before */
    for (int i = 0; i < n; i++) {
        const int pe = (me + i) % n, near = shmem_ptr(word, pe) != NULL;
        far += !near;
        before = counters_of(ctx);
        standing = counters_of(SHMEM_CTX_DEFAULT);
        CHECK(is_complete(before), "nothing is under way");
        memset(got, 0, sizeof got);
        begin_operations(pe, word, block, mine, got);
        now = counters_of(ctx);
        CHECK(now.pending_put - before.pending_put == (near ? 0 : PUTS + 1 + ADDS), "PE %d: %llu writes", pe,
              (unsigned long long)(now.pending_put - before.pending_put));
        CHECK(now.pending_get - before.pending_get == (near ? 0 : GETS), "PE %d: %llu reads", pe,
              (unsigned long long)(now.pending_get - before.pending_get));
        /* Without a quiet. */
        while (!is_complete(counters_of(ctx))) continue;
        for (int k = 0; k < GETS; k++) CHECK(got[k] == 100 + pe, "a get that is complete has got %ld", got[k]);
        shmem_ctx_long_atomic_add(ctx, word, 0, turned(pe));
        shmem_ctx_quiet(ctx);
        CHECK(is_complete(counters_of(ctx)), "after a quiet");
        now = counters_of(SHMEM_CTX_DEFAULT);
        CHECK(now.pending_put == standing.pending_put && now.pending_get == standing.pending_get,
              "operations of a context count in the default one");
    }
    shmem_barrier_all();
    CHECK(*word == expected, "%ld, not %ld", *word, expected);
    shmemx_pcntr_get_completed_target(&served);
    now = counters_of(ctx);
    CHECK(now.target >= served && served >= target + (far ? ADDS * (uint64_t)far : 0), "%llu done for %d PEs",
          (unsigned long long)(served - target), far);
    shmem_barrier_all();
    free(mine);
    shmem_free(block);
    shmem_free(word);
}

/* ---- numbers of threads: the function may be given at any time, and the program runs as without ---- */

static uint64_t own_number(void) { return 42; }

int main(void) {
    shmem_team_t reversed = SHMEM_TEAM_INVALID;
    void *memory;
    shmemx_register_gettid(own_number);
    start();
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, -1, n, NULL, 0, &reversed) == 0, "no team");
    CHECK(shmem_team_create_ctx(reversed, SHMEM_CTX_PRIVATE, &ctx) == 0, "no context");
    memory = shmem_malloc(3 * ROW * sizeof(long double));
    CHECK(memory != NULL, "no memory");
    blocks(memory);
    scans();
    signals();
    node();
    hint();
    counters();
    shmem_ctx_destroy(ctx);
    shmem_team_destroy(reversed);
    shmem_free(memory);
    CHECK(LIBRMA_SHMEM == 10000 * RMA_VERSION_MAJOR + 100 * RMA_VERSION_MINOR + RMA_VERSION_PATCH, "%d", LIBRMA_SHMEM);
    CHECK(strcmp(SHMEM_VENDOR_STRING, "librma " RMA_VERSION) == 0, "%s", SHMEM_VENDOR_STRING);
    return end();
}
