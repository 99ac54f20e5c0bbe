/* SPDX-License-Identifier: BSD-3-Clause */
/* Each collective of teams, of each type, gives the correct result on each PE of the world and of smaller teams.
 *
 * Broken by a row of the table that has another type's reduction, by PE numbers of the job instead of the team's, by a
 * length that is used as bytes. */
#include "osh.h"

#define COUNT 3
#define MOST  64 /* PEs */

static shmem_team_t team;
static int mine, pes; /* this PE's number in it, its PEs */

static int value_of(int pe, int i) { return pe * COUNT + i + 1; }
static int bits_of(int pe, int i) { return 0x71 ^ value_of(pe, i); }
static int factor_of(int pe, int i) { return 1 + ((pe + i) & 1); }

#define IS(what, value, want)                                                                                          \
    CHECK((value) == (want), "%s: %d, not %d, on PE %d of %d", what, (int)(value), (int)(want), mine, pes)

#define SPAN (MOST * COUNT * 2)
#define MOVE(A, NAME, TYPE, RNAME)                                                                                     \
    static TYPE NAME##_source[SPAN], NAME##_dest[SPAN];                                                                \
    static void move_##NAME(void) {                                                                                    \
        TYPE *source = NAME##_source, *dest = NAME##_dest;                                                             \
        DOING(#NAME);                                                                                                  \
        for (int i = 0; i < COUNT; i++) source[i] = (TYPE)value_of(mine, i);                                           \
        for (int root = 0; root < pes; root++) {                                                                       \
            CHECK(shmem_##NAME##_broadcast(team, dest, source, COUNT, root) == 0, #NAME "_broadcast");                 \
            for (int i = 0; i < COUNT; i++) IS(#NAME "_broadcast", dest[i], (TYPE)value_of(root, i));                  \
        }                                                                                                              \
        CHECK(shmem_##NAME##_fcollect(team, dest, source, COUNT) == 0, #NAME "_fcollect");                             \
        for (int i = 0; i < COUNT * pes; i++) IS(#NAME "_fcollect", dest[i], (TYPE)value_of(i / COUNT, i % COUNT));    \
        CHECK(shmem_##NAME##_collect(team, dest, source, (size_t)(mine % 2 + 1)) == 0, #NAME "_collect");              \
        for (int pe = 0, at = 0; pe < pes; pe++)                                                                       \
            for (int i = 0; i < pe % 2 + 1; i++) IS(#NAME "_collect", dest[at++], (TYPE)value_of(pe, i));              \
        shmem_team_sync(team);                                                                                         \
        for (int i = 0; i < 2 * COUNT * pes; i++) source[i] = (TYPE)(mine * 16 + i % 16);                              \
        CHECK(shmem_##NAME##_alltoall(team, dest, source, COUNT) == 0, #NAME "_alltoall");                             \
        for (int i = 0; i < COUNT * pes; i++)                                                                          \
            IS(#NAME "_alltoall", dest[i], (TYPE)(i / COUNT * 16 + (mine * COUNT + i % COUNT) % 16));                  \
        memset(dest, 0, sizeof NAME##_dest);                                                                           \
        shmem_team_sync(team);                                                                                         \
        CHECK(shmem_##NAME##_alltoalls(team, dest, source, 2, 1, COUNT) == 0, #NAME "_alltoalls");                     \
        for (int i = 0; i < COUNT * pes; i++) {                                                                        \
            IS(#NAME "_alltoalls", dest[2 * i], (TYPE)(i / COUNT * 16 + (mine * COUNT + i % COUNT) % 16));             \
            IS(#NAME "_alltoalls, between", dest[2 * i + 1], (TYPE)0);                                                 \
        }                                                                                                              \
        shmem_team_sync(team);                                                                                         \
    }
SHMEM_TYPES_(MOVE, )

static void move_bytes(void) {
    static char source[SPAN], dest[SPAN];
    DOING("bytes");
    for (int i = 0; i < 2 * COUNT * pes; i++) source[i] = (char)(mine * 16 + i % 16);
    CHECK(shmem_broadcastmem(team, dest, source, 5, pes - 1) == 0, "broadcastmem");
    for (int i = 0; i < 5; i++) IS("broadcastmem", dest[i], (pes - 1) * 16 + i);
    CHECK(shmem_fcollectmem(team, dest, source, 2) == 0, "fcollectmem");
    for (int i = 0; i < 2 * pes; i++) IS("fcollectmem", dest[i], i / 2 * 16 + i % 2);
    CHECK(shmem_collectmem(team, dest, source, (size_t)(mine + 1)) == 0, "collectmem");
    for (int pe = 0, at = 0; pe < pes; pe++)
        for (int i = 0; i <= pe; i++) IS("collectmem", dest[at++], pe * 16 + i);
    CHECK(shmem_alltoallmem(team, dest, source, 1) == 0, "alltoallmem");
    for (int i = 0; i < pes; i++) IS("alltoallmem", dest[i], i * 16 + mine);
    shmem_team_sync(team);
    CHECK(shmem_alltoallsmem(team, dest, source, 1, 2, 1) == 0, "alltoallsmem");
    for (int i = 0; i < pes; i++) IS("alltoallsmem", dest[i], i * 16 + 2 * mine);
    shmem_team_sync(team);
}

#define FILL(what)                                                                                                     \
    for (int i = 0; i < COUNT; i++) source[i] = (TYPE_)what(mine, i)
#define FOLDED(CALL, START, STEP)                                                                                      \
    CHECK(shmem_##CALL(team, dest, source, COUNT) == 0, "shmem_" #CALL);                                               \
    for (int i = 0; i < COUNT; i++) {                                                                                  \
        TYPE_ want = START;                                                                                            \
        for (int pe = 0; pe < pes; pe++) STEP;                                                                         \
        CHECK(dest[i] == want, "shmem_" #CALL " at %d on PE %d of %d", i, mine, pes);                                  \
    }
#define SUM_TEST(A, NAME, TYPE, RNAME)                                                                                 \
    static void sum_##NAME(void) {                                                                                     \
        typedef TYPE TYPE_;                                                                                            \
        static TYPE source[COUNT], dest[COUNT];                                                                        \
        DOING("sums: " #NAME);                                                                                         \
        FILL(value_of);                                                                                                \
        FOLDED(NAME##_sum_reduce, 0, want = (TYPE_)(want + (TYPE_)value_of(pe, i)))                                    \
        FOLDED(NAME##_sum_inscan, 0, if (pe <= mine) want = (TYPE_)(want + (TYPE_)value_of(pe, i)))                    \
        FOLDED(NAME##_sum_exscan, 0, if (pe < mine) want = (TYPE_)(want + (TYPE_)value_of(pe, i)))                     \
        shmem_team_sync(team);                                                                                         \
        FILL(factor_of);                                                                                               \
        FOLDED(NAME##_prod_reduce, 1, want = (TYPE_)(want * (TYPE_)factor_of(pe, i)))                                  \
        shmem_team_sync(team);                                                                                         \
    }
SHMEM_SUM_TYPES_(SUM_TEST, )

/* Signs count: the least is below 0 if TYPE has numbers there. */
#define LIMIT_TEST(A, NAME, TYPE, RNAME)                                                                               \
    static void limit_##NAME(void) {                                                                                   \
        typedef TYPE TYPE_;                                                                                            \
        static TYPE source[COUNT], dest[COUNT];                                                                        \
        DOING("min and max: " #NAME);                                                                                  \
        FILL(-value_of);                                                                                               \
        FOLDED(NAME##_max_reduce, (TYPE_)-value_of(0, i),                                                              \
               if ((TYPE_)-value_of(pe, i) > want) want = (TYPE_)-value_of(pe, i))                                     \
        FOLDED(NAME##_min_reduce, (TYPE_)-value_of(0, i),                                                              \
               if ((TYPE_)-value_of(pe, i) < want) want = (TYPE_)-value_of(pe, i))                                     \
        shmem_team_sync(team);                                                                                         \
    }
SHMEM_TYPES_(LIMIT_TEST, )

#define BIT_TEST(A, NAME, TYPE, RNAME)                                                                                 \
    static void bits_##NAME(void) {                                                                                    \
        typedef TYPE TYPE_;                                                                                            \
        static TYPE source[COUNT], dest[COUNT];                                                                        \
        DOING("bits: " #NAME);                                                                                         \
        FILL(bits_of);                                                                                                 \
        FOLDED(NAME##_and_reduce, (TYPE_)-1, want = (TYPE_)(want & (TYPE_)bits_of(pe, i)))                             \
        FOLDED(NAME##_or_reduce, 0, want = (TYPE_)(want | (TYPE_)bits_of(pe, i)))                                      \
        FOLDED(NAME##_xor_reduce, 0, want = (TYPE_)(want ^ (TYPE_)bits_of(pe, i)))                                     \
        shmem_team_sync(team);                                                                                         \
    }
SHMEM_BIT_TYPES_(BIT_TEST, )

static void all(shmem_team_t which) {
    if (which == SHMEM_TEAM_INVALID) return;
    team = which;
    mine = shmem_team_my_pe(team);
    pes = shmem_team_n_pes(team);
#define MOVE_OF(A, NAME, TYPE, RNAME)  move_##NAME();
#define SUM_OF(A, NAME, TYPE, RNAME)   sum_##NAME();
#define LIMIT_OF(A, NAME, TYPE, RNAME) limit_##NAME();
#define BITS_OF(A, NAME, TYPE, RNAME)  bits_##NAME();
    SHMEM_TYPES_(MOVE_OF, )
    move_bytes();
    SHMEM_SUM_TYPES_(SUM_OF, )
    SHMEM_TYPES_(LIMIT_OF, )
    SHMEM_BIT_TYPES_(BITS_OF, )
}

int main(void) {
    shmem_team_t odd_backwards = SHMEM_TEAM_INVALID;
    start();
    all(SHMEM_TEAM_WORLD);
    if (n > 2) {
        CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, (n - 1) / 2 * 2, -2, (n + 1) / 2, NULL, 0, &odd_backwards) ==
                  0,
              "no team");
        all(odd_backwards);
        shmem_team_destroy(odd_backwards);
    }
    all(SHMEM_TEAM_SHARED);
    return end();
}
