/* SPDX-License-Identifier: BSD-3-Clause */
/* Each put, get, p, g, strided and blocked transfer, and put with signal, of each type and size, with and without a
 * context, moves the right data to the right place, on the heap and in static objects.
 *
 * Broken by a row of the table that has another type's function or size, by a context whose PEs are not its team's, by
 * a stride that is counted in bytes or in blocks, by a missing signal. */
#include "osh.h"

#define ROW 16
enum {
    PUT,
    PUT_NBI,
    CTX_PUT,
    CTX_PUT_NBI,
    IPUT,
    CTX_IPUT,
    IBPUT,
    CTX_IBPUT,
    P,
    CTX_P,
    SIGNAL,
    SIGNAL_NBI,
    CTX_SIGNAL,
    CTX_SIGNAL_NBI,
    ROWS
};

static shmem_ctx_t ctx; /* its team's PE i is PE n - 1 - i of the job */
static uint64_t signals[4];

static int turned(int pe) { return n - 1 - pe; }

/* What PE pe has at index i of its source: small enough for a char. */
static int value_of(int pe, int i) { return pe * ROW + i + 1; }

static void signals_are(const char *what) {
    for (int k = 0; k < 4; k++) {
        shmem_signal_wait_until(&signals[k], SHMEM_CMP_EQ, (uint64_t)(7 + k));
        CHECK(shmem_signal_fetch(&signals[k]) == (uint64_t)(7 + k), "%s: signal %d is %llu", what, k,
              (unsigned long long)signals[k]);
        signals[k] = 0;
    }
}

/* The rows that the previous PE has written: element at index at of row is that PE's source's index from; others are
 * untouched. */
#define ROW_IS(dest, row, what, count, at, from)                                                                       \
    do {                                                                                                               \
        int want_[ROW] = {0};                                                                                          \
        for (int i_ = 0; i_ < (count); i_++) {                                                                         \
            int i = i_;                                                                                                \
            want_[at] = value_of(previous(), from);                                                                    \
        }                                                                                                              \
        for (int i_ = 0; i_ < ROW; i_++)                                                                               \
            CHECK((int)(dest)[(row)*ROW + i_] == want_[i_], "%s: %d at %d, not %d", what, (int)(dest)[(row)*ROW + i_], \
                  i_, want_[i_]);                                                                                      \
    } while (0)
#define ROWS_ARE(dest, name)                                                                                           \
    do {                                                                                                               \
        ROW_IS(dest, PUT, name "put", 9, i, i);                                                                        \
        ROW_IS(dest, PUT_NBI, name "put_nbi", 5, i + 1, i);                                                            \
        ROW_IS(dest, CTX_PUT, name "ctx put", 9, i, i);                                                                \
        ROW_IS(dest, CTX_PUT_NBI, name "ctx put_nbi", 5, i + 1, i);                                                    \
        ROW_IS(dest, IPUT, name "iput", 5, i * 2, i);                                                                  \
        ROW_IS(dest, CTX_IPUT, name "ctx iput", 4, i * 3, i * 2);                                                      \
        ROW_IS(dest, IBPUT, name "ibput", 6, i / 2 * 5 + i % 2, i / 2 * 3 + i % 2);                                    \
        ROW_IS(dest, CTX_IBPUT, name "ctx ibput", 6, i / 3 * 7 + i % 3, i / 3 * 4 + i % 3);                            \
        ROW_IS(dest, SIGNAL, name "put_signal", 3, i, i);                                                              \
        ROW_IS(dest, SIGNAL_NBI, name "put_signal_nbi", 4, i, i);                                                      \
        ROW_IS(dest, CTX_SIGNAL, name "ctx put_signal", 5, i, i);                                                      \
        ROW_IS(dest, CTX_SIGNAL_NBI, name "ctx put_signal_nbi", 6, i, i);                                              \
    } while (0)
/* got[at] for i < count is index from of the next PE's source. */
#define GOT(call, got, count, at, from)                                                                                \
    for (int i = 0; i < (count); i++)                                                                                  \
    CHECK((int)(got)[at] == value_of(next(), from), "%s: %d at %d, not %d", call, (int)(got)[at], i,                   \
          value_of(next(), from))

/* All that has a count: STEM of the call's name before put or get, AFTER what follows it; typed and sized calls alike.
 */
#define COUNTED(name, PUTS, GETS, dest, source, TYPE)                                                                  \
    do {                                                                                                               \
        const int to = next(), back = turned(next());                                                                  \
        TYPE got[8][ROW];                                                                                              \
        memset(got, 0, sizeof got);                                                                                    \
        shmem_##PUTS(dest + PUT * ROW, source, 9, to);                                                                 \
        shmem_##PUTS##_nbi(dest + PUT_NBI * ROW + 1, source, 5, to);                                                   \
        shmem_ctx_##PUTS(ctx, dest + CTX_PUT * ROW, source, 9, back);                                                  \
        shmem_ctx_##PUTS##_nbi(ctx, dest + CTX_PUT_NBI * ROW + 1, source, 5, back);                                    \
        shmem_##PUTS##_signal(dest + SIGNAL * ROW, source, 3, &signals[0], 7, SHMEM_SIGNAL_SET, to);                   \
        shmem_##PUTS##_signal_nbi(dest + SIGNAL_NBI * ROW, source, 4, &signals[1], 8, SHMEM_SIGNAL_ADD, to);           \
        shmem_ctx_##PUTS##_signal(ctx, dest + CTX_SIGNAL * ROW, source, 5, &signals[2], 9, SHMEM_SIGNAL_ADD, back);    \
        shmem_ctx_##PUTS##_signal_nbi(ctx, dest + CTX_SIGNAL_NBI * ROW, source, 6, &signals[3], 10, SHMEM_SIGNAL_SET,  \
                                      back);                                                                           \
        shmem_##GETS(got[0], source, 9, to);                                                                           \
        shmem_##GETS##_nbi(got[1], source + 1, 5, to);                                                                 \
        shmem_ctx_##GETS(ctx, got[2], source + 2, 9, back);                                                            \
        shmem_ctx_##GETS##_nbi(ctx, got[3], source + 3, 5, back);                                                      \
        shmem_quiet();                                                                                                 \
        shmem_ctx_quiet(ctx);                                                                                          \
        GOT(name "get", got[0], 9, i, i);                                                                              \
        GOT(name "get_nbi", got[1], 5, i, i + 1);                                                                      \
        GOT(name "ctx get", got[2], 9, i, i + 2);                                                                      \
        GOT(name "ctx get_nbi", got[3], 5, i, i + 3);                                                                  \
    } while (0)
#define STRIDED(name, IPUTS, IGETS, IBPUTS, IBGETS, dest, source, TYPE)                                                \
    do {                                                                                                               \
        const int to = next(), back = turned(next());                                                                  \
        TYPE got[4][ROW];                                                                                              \
        memset(got, 0, sizeof got);                                                                                    \
        shmem_##IPUTS(dest + IPUT * ROW, source, 2, 1, 5, to);                                                         \
        shmem_ctx_##IPUTS(ctx, dest + CTX_IPUT * ROW, source, 3, 2, 4, back);                                          \
        shmem_##IBPUTS(dest + IBPUT * ROW, source, 5, 3, 2, 3, to);                                                    \
        shmem_ctx_##IBPUTS(ctx, dest + CTX_IBPUT * ROW, source, 7, 4, 3, 2, back);                                     \
        shmem_##IGETS(got[0], source, 2, 1, 5, to);                                                                    \
        shmem_ctx_##IGETS(ctx, got[1], source, 1, 3, 4, back);                                                         \
        shmem_##IBGETS(got[2], source, 5, 3, 2, 3, to);                                                                \
        shmem_ctx_##IBGETS(ctx, got[3], source, 7, 4, 3, 2, back);                                                     \
        GOT(name "iget", got[0], 5, i * 2, i);                                                                         \
        GOT(name "ctx iget", got[1], 4, i, i * 3);                                                                     \
        GOT(name "ibget", got[2], 6, i / 2 * 5 + i % 2, i / 2 * 3 + i % 2);                                            \
        GOT(name "ctx ibget", got[3], 6, i / 3 * 7 + i % 3, i / 3 * 4 + i % 3);                                        \
        shmem_quiet();                                                                                                 \
        shmem_ctx_quiet(ctx);                                                                                          \
    } while (0)

#define TYPED(A, NAME, TYPE, RNAME)                                                                                    \
    static TYPE NAME##_source[ROW], NAME##_dest[ROWS * ROW];                                                           \
    static void move_##NAME(TYPE *dest, TYPE *source) {                                                                \
        DOING(#NAME);                                                                                                  \
        for (int i = 0; i < ROW; i++) source[i] = (TYPE)value_of(me, i);                                               \
        memset(dest, 0, ROWS *ROW * sizeof *dest);                                                                     \
        shmem_barrier_all();                                                                                           \
        COUNTED("shmem_" #NAME " ", NAME##_put, NAME##_get, dest, source, TYPE);                                       \
        STRIDED("shmem_" #NAME " ", NAME##_iput, NAME##_iget, NAME##_ibput, NAME##_ibget, dest, source, TYPE);         \
        shmem_##NAME##_p(dest + P * ROW, source[3], next());                                                           \
        shmem_ctx_##NAME##_p(ctx, dest + CTX_P * ROW + 1, source[4], turned(next()));                                  \
        CHECK((int)shmem_##NAME##_g(source + 5, next()) == value_of(next(), 5), #NAME "_g");                           \
        CHECK((int)shmem_ctx_##NAME##_g(ctx, source + 6, turned(next())) == value_of(next(), 6), "ctx_" #NAME "_g");   \
        shmem_ctx_quiet(ctx);                                                                                          \
        shmem_barrier_all();                                                                                           \
        signals_are(#NAME);                                                                                            \
        ROWS_ARE(dest, "shmem_" #NAME " ");                                                                            \
        ROW_IS(dest, P, #NAME "_p", 1, i, 3);                                                                          \
        ROW_IS(dest, CTX_P, "ctx_" #NAME "_p", 1, i + 1, 4);                                                           \
    }
SHMEM_TYPES_(TYPED, )

/* By size. */
#define SIZED(BITS, ELEM, TYPE)                                                                                        \
    static void move_sized_##BITS(void *memory) {                                                                      \
        TYPE *source = memory, *dest = source + ROW;                                                                   \
        DOING("by size: " #BITS);                                                                                      \
        memset(memory, 0, (1 + ROWS) * ROW * sizeof *dest);                                                            \
        for (int i = 0; i < ROW; i++) source[i] = (TYPE)value_of(me, i);                                               \
        shmem_barrier_all();                                                                                           \
        COUNTED("shmem_" #BITS " ", put##BITS, get##BITS, dest, source, TYPE);                                         \
        STRIDED("shmem_" #BITS " ", iput##BITS, iget##BITS, ibput##BITS, ibget##BITS, dest, source, TYPE);             \
        shmem_barrier_all();                                                                                           \
        signals_are(#BITS);                                                                                            \
        ROWS_ARE(dest, "shmem_" #BITS " ");                                                                            \
        _Static_assert(sizeof(TYPE) == ELEM, "the size is what the name says");                                        \
    }
SIZED(8, 1, char)
SIZED(16, 2, int16_t)
SIZED(32, 4, int32_t)
SIZED(64, 8, int64_t)
SIZED(128, 16, long double)

/* Bytes: the names have mem, and there is nothing strided. */
static void move_bytes(char *memory) {
    char *source = memory, *dest = memory + ROW;
    DOING("bytes");
    memset(memory, 0, (1 + ROWS) * ROW);
    for (int i = 0; i < ROW; i++) source[i] = (char)value_of(me, i);
    shmem_barrier_all();
    COUNTED("shmem_mem ", putmem, getmem, dest, source, char);
    shmem_barrier_all();
    signals_are("mem");
    ROW_IS(dest, PUT, "putmem", 9, i, i);
    ROW_IS(dest, PUT_NBI, "putmem_nbi", 5, i + 1, i);
    ROW_IS(dest, CTX_PUT, "ctx_putmem", 9, i, i);
    ROW_IS(dest, CTX_PUT_NBI, "ctx_putmem_nbi", 5, i + 1, i);
    ROW_IS(dest, SIGNAL, "putmem_signal", 3, i, i);
    ROW_IS(dest, SIGNAL_NBI, "putmem_signal_nbi", 4, i, i);
    ROW_IS(dest, CTX_SIGNAL, "ctx_putmem_signal", 5, i, i);
    ROW_IS(dest, CTX_SIGNAL_NBI, "ctx_putmem_signal_nbi", 6, i, i);
}

static void signals_alone(void) {
    DOING("signals alone");
    memset(signals, 0, sizeof signals);
    shmem_barrier_all();
    shmem_signal_set(&signals[0], 7, next());
    shmem_signal_add(&signals[1], 3, next());
    shmem_signal_add(&signals[1], 5, next());
    shmem_ctx_signal_set(ctx, &signals[2], 9, turned(next()));
    shmem_ctx_signal_add(ctx, &signals[3], 10, turned(next()));
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    signals_are("alone");
}

int main(void) {
    shmem_team_t reversed = SHMEM_TEAM_INVALID;
    void *heap;
    start();
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, -1, n, NULL, 0, &reversed) == 0, "no team");
    CHECK(shmem_team_create_ctx(reversed, SHMEM_CTX_SERIALIZED, &ctx) == 0, "no context");
    heap = shmem_malloc((1 + ROWS) * ROW * sizeof(long double));
    CHECK(heap != NULL, "no memory");
#define BOTH_PLACES(A, NAME, TYPE, RNAME)                                                                              \
    move_##NAME(NAME##_dest, NAME##_source);                                                                           \
    move_##NAME((TYPE *)heap + ROW, heap);
    SHMEM_TYPES_(BOTH_PLACES, )
    move_sized_8(heap);
    move_sized_16(heap);
    move_sized_32(heap);
    move_sized_64(heap);
    move_sized_128(heap);
    move_bytes(heap);
    signals_alone();
    shmem_ctx_destroy(ctx);
    shmem_team_destroy(reversed);
    shmem_free(heap);
    return end();
}
