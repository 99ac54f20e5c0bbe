/* SPDX-License-Identifier: BSD-3-Clause */
/* Each collective of active sets works in every possible set of PEs, called by the members only, while other PEs are in
 * other sets with other arrays; and pSync is unchanged afterwards.
 *
 * Broken by a set that needs a PE outside it, a return before others have read the source, by meetings of different
 * sets that take each other's signals, by a word of pSync that is not reset, by a reduction in place that overwrites
 * data that others still read, and by a root whose dest is written. */
#include "osh.h"

#define COUNT    700 /* elements of long reductions: more than a piece that travels at once */
#define FEW      3
#define MOST_PES 8
#define SETS     128

static long psync[SETS][SHMEM_SYNC_SIZE], psync_between[SETS][SHMEM_BARRIER_SYNC_SIZE];

static struct set { int index, first, log, size, mine; /* mine: this PE's number in it */ } set;

static int value_of(int pe, int i) { return pe * 10 + i % 10 + 1; }

#define SET set.first, set.log, set.size
#define IS(what, value, want)                                                                                          \
    CHECK((value) == (want), "%s: %lld, not %lld; set %d %d %d", what, (long long)(value), (long long)(want),          \
          set.first, set.log, set.size)

/* Between two collectives of a set: all are through, so that arrays and pSync may be used again. */
static void between(void) { shmem_barrier(SET, psync_between[set.index]); }

/* FRESH: all of the set have what is moved, and no other dest is being written. SPOIL: a call that has returned has no
 * more use for source. */
#define FRESH(what, count)                                                                                             \
    for (int i = 0; i < (count); i++) source[i] = what;                                                                \
    memset(dest, 0, sizeof dest);                                                                                      \
    between();
#define SPOIL memset(source, 0x55, sizeof source)

#define MOVES(BITS, TYPE)                                                                                              \
    static void moves##BITS(void) {                                                                                    \
        static TYPE source[2 * FEW * MOST_PES], dest[2 * FEW * MOST_PES];                                              \
        long *sync = psync[set.index];                                                                                 \
        DOING("moving " #BITS);                                                                                        \
        for (int root = 0; root < set.size; root += 2) {                                                               \
            FRESH(value_of(set.mine, i), FEW)                                                                          \
            shmem_broadcast##BITS(dest, source, FEW, root, SET, sync);                                                 \
            SPOIL;                                                                                                     \
            for (int i = 0; i < FEW; i++) IS("broadcast", dest[i], set.mine == root ? 0 : value_of(root, i));          \
            between();                                                                                                 \
        }                                                                                                              \
        FRESH(value_of(set.mine, i), FEW)                                                                              \
        shmem_fcollect##BITS(dest, source, FEW, SET, sync);                                                            \
        SPOIL;                                                                                                         \
        for (int i = 0; i < FEW * set.size; i++) IS("fcollect", dest[i], value_of(i / FEW, i % FEW));                  \
        between();                                                                                                     \
        FRESH(value_of(set.mine, i), FEW)                                                                              \
        shmem_collect##BITS(dest, source, (size_t)(set.mine % 3), SET, sync);                                          \
        SPOIL;                                                                                                         \
        for (int pe = 0, at = 0; pe < set.size; pe++)                                                                  \
            for (int i = 0; i < pe % 3; i++) IS("collect", dest[at++], value_of(pe, i));                               \
        between();                                                                                                     \
        FRESH(set.mine * 1000 + i, 2 * FEW * set.size)                                                                 \
        shmem_alltoall##BITS(dest, source, FEW, SET, sync);                                                            \
        SPOIL;                                                                                                         \
        for (int i = 0; i < FEW * set.size; i++) IS("alltoall", dest[i], i / FEW * 1000 + set.mine * FEW + i % FEW);   \
        between();                                                                                                     \
        FRESH(set.mine * 1000 + i, 2 * FEW * set.size)                                                                 \
        shmem_alltoalls##BITS(dest, source, 1, 2, FEW, SET, sync);                                                     \
        SPOIL;                                                                                                         \
        for (int i = 0; i < FEW * set.size; i++)                                                                       \
            IS("alltoalls", dest[i], i / FEW * 1000 + 2 * (set.mine * FEW + i % FEW));                                 \
        between();                                                                                                     \
    }
MOVES(32, int32_t)
MOVES(64, int64_t)

/* Once from source to dest, once in place. */
#define FOLD(CALL, TYPE, START, STEP, OF)                                                                              \
    for (int in_place = 0; in_place < 2; in_place++) {                                                                 \
        static TYPE source[COUNT], dest[COUNT], work[COUNT / 2 + 1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE];                   \
        TYPE *to = in_place ? source : dest;                                                                           \
        DOING(#CALL);                                                                                                  \
        for (int i = 0; i < COUNT; i++) source[i] = (TYPE)(OF(set.mine, i));                                           \
        between();                                                                                                     \
        shmem_##CALL##_to_all(to, source, COUNT, SET, work, psync[set.index]);                                         \
        if (!in_place) SPOIL;                                                                                          \
        for (int i = 0; i < COUNT; i++) {                                                                              \
            TYPE want = (TYPE)START;                                                                                   \
            for (int pe = 0; pe < set.size; pe++) {                                                                    \
                TYPE its = (TYPE)(OF(pe, i));                                                                          \
                STEP;                                                                                                  \
            }                                                                                                          \
            CHECK(to[i] == want, "%s at %d; set %d %d %d", #CALL, i, set.first, set.log, set.size);                    \
        }                                                                                                              \
        between();                                                                                                     \
    }
#define FACTOR_OF(pe, i)   (1 + (((pe) + (i)) & 1))
#define NEGATIVE_OF(pe, i) -value_of(pe, i)
#define BITS_OF(pe, i)     (0x71 ^ value_of(pe, i))
#define SUM_TEST(A, NAME, TYPE, RNAME)                                                                                 \
    static void sum_##NAME(void) {                                                                                     \
        FOLD(NAME##_sum, TYPE, 0, want = (TYPE)(want + its), value_of)                                                 \
        FOLD(NAME##_prod, TYPE, 1, want = (TYPE)(want * its), FACTOR_OF)                                               \
    }
#define LIMIT_TEST(A, NAME, TYPE, RNAME)                                                                               \
    static void limit_##NAME(void) {                                                                                   \
        FOLD(NAME##_max, TYPE, NEGATIVE_OF(0, i), if (its > want) want = its, NEGATIVE_OF)                             \
        FOLD(NAME##_min, TYPE, NEGATIVE_OF(0, i), if (its < want) want = its, NEGATIVE_OF)                             \
    }
#define BIT_TEST(A, NAME, TYPE, RNAME)                                                                                 \
    static void bits_##NAME(void) {                                                                                    \
        FOLD(NAME##_and, TYPE, -1, want = (TYPE)(want & its), BITS_OF)                                                 \
        FOLD(NAME##_or, TYPE, 0, want = (TYPE)(want | its), BITS_OF)                                                   \
        FOLD(NAME##_xor, TYPE, 0, want = (TYPE)(want ^ its), BITS_OF)                                                  \
    }
SHMEM_TO_ALL_SUM_TYPES_(SUM_TEST, )
SHMEM_TO_ALL_TYPES_(LIMIT_TEST, )
SHMEM_TO_ALL_BIT_TYPES_(BIT_TEST, )

/* Nobody is through before all have come, and what was put before is there; for a sync, what was put and completed. */
static void meetings(void) {
    static long arrived[SETS];
    const int root = set.first;
    DOING("meeting");
    for (int turn = 1; turn <= 5; turn++) {
        shmem_long_atomic_inc(&arrived[set.index], root);
        if (turn & 1) {
            shmem_barrier(SET, psync[set.index]);
        } else {
            shmem_quiet();
            shmem_sync(SET, psync[set.index]);
        }
        CHECK(shmem_long_g(&arrived[set.index], root) >= (long)turn * set.size,
              "a meeting of set %d %d %d is over too soon", set.first, set.log, set.size);
    }
}

static void all(void) {
#define SUM_OF(A, NAME, TYPE, RNAME)   sum_##NAME();
#define LIMIT_OF(A, NAME, TYPE, RNAME) limit_##NAME();
#define BITS_OF_(A, NAME, TYPE, RNAME) bits_##NAME();
    meetings();
    moves32();
    moves64();
    if (set.index % 4 == 3 || set.size == n) {
        SHMEM_TO_ALL_SUM_TYPES_(SUM_OF, )
        SHMEM_TO_ALL_TYPES_(LIMIT_OF, )
        SHMEM_TO_ALL_BIT_TYPES_(BITS_OF_, )
    } else {
        sum_int();
        limit_double();
        bits_long();
    }
}

int main(void) {
    start();
    CHECK(n <= MOST_PES, "%d PEs are more than there is room for", n);
    set.index = -1;
    for (int log = 0; 1 << log <= n; log++)
        for (int size = log ? 2 : 1; (size - 1) << log < n; size++)
            for (int first = 0; first + ((size - 1) << log) < n; first++) {
                set = (struct set){set.index + 1, first, log, size, (me - first) >> log};
                CHECK(set.index < SETS, "more sets than there is room for");
                if (me >= first && (me - first) % (1 << log) == 0 && set.mine < size) all();
            }
    shmem_barrier_all();
    DOING("looking at pSync");
    for (int i = 0; i < SETS; i++)
        for (int k = 0; k < SHMEM_SYNC_SIZE; k++)
            CHECK(psync[i][k] == SHMEM_SYNC_VALUE && psync_between[i][k] == SHMEM_SYNC_VALUE,
                  "pSync of set %d has %ld at %d", i, psync[i][k], k);
    return end();
}
