/* SPDX-License-Identifier: BSD-3-Clause */
/* Accumulates: each predefined operation on each type that has it gives what MPI_Reduce_local gives, and no update of
 * several processes is lost. Broken by a type that is taken for another, and by an update that is not atomic. */
#include "check.h"

#define COUNT 40
#define ROOM  (COUNT * 32)

static MPI_Win win, bytes; /* of the same memory, in units of 8 bytes and of 1 */
static char *memory;

/* 1 if the data of `count` elements are equal; there may be gaps between them. */
static int equal(const void *a, const void *b, int count, MPI_Datatype type) {
    static char x[ROOM], y[ROOM];
    int i = 0, k = 0;
    MPI_Pack(a, count, type, x, ROOM, &i, MPI_COMM_SELF);
    MPI_Pack(b, count, type, y, ROOM, &k, MPI_COMM_SELF);
    if (memcmp(x, y, (size_t)i) != 0) {
        char name[MPI_MAX_OBJECT_NAME];
        MPI_Type_get_name(type, name, &k);
        fprintf(stderr, "%s differs\n", name);
    }
    return memcmp(x, y, (size_t)i) == 0;
}

static void compare(MPI_Datatype type, MPI_Op op, int is_index) {
    static char origin[ROOM], result[ROOM], before[ROOM], after[ROOM];
    const int to = (rank + 1) % n;
    MPI_Aint lb, extent;
    MPI_Type_get_extent(type, &lb, &extent);
    memset(origin, 0, sizeof origin);
    memset(before, 0, sizeof before);
    for (int i = 0; i < COUNT * (int)extent; i++) {
        origin[i] = (char)(is_index ? i % 5 == 0 : (i * 5 + rank) % 3);
        before[i] = (char)(is_index ? i % 3 == 0 : i % 2);
    }
    memcpy(after, before, sizeof after);
    if (op != MPI_REPLACE && op != MPI_NO_OP) MPI_Reduce_local(origin, after, COUNT, type, op);
    if (op == MPI_REPLACE) memcpy(after, origin, sizeof after);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win);
    MPI_Put(before, ROOM, MPI_BYTE, to, 0, ROOM, MPI_BYTE, win);
    MPI_Win_flush(to, win);
    if (op != MPI_NO_OP) MPI_Accumulate(origin, COUNT, type, to, 0, COUNT, type, op, win);
    MPI_Win_flush(to, win);
    memcpy(result, before, sizeof result);
    MPI_Get(result, COUNT, type, to, 0, COUNT, type, win);
    MPI_Win_flush(to, win);
    CHECK(equal(result, after, COUNT, type));
    MPI_Put(before, ROOM, MPI_BYTE, to, 0, ROOM, MPI_BYTE, win);
    MPI_Win_flush(to, win);
    memcpy(result, before, sizeof result);
    MPI_Get_accumulate(origin, COUNT, type, result, COUNT, type, to, 0, COUNT, type, op, win);
    MPI_Win_flush(to, win);
    CHECK(equal(result, before, COUNT, type));
    memcpy(result, before, sizeof result);
    MPI_Get(result, COUNT, type, to, 0, COUNT, type, win);
    MPI_Win_flush(to, win);
    CHECK(equal(result, after, COUNT, type));
    /* One element. */
    MPI_Put(before, ROOM, MPI_BYTE, to, 0, ROOM, MPI_BYTE, win);
    MPI_Win_flush(to, win);
    memcpy(result, before, sizeof result);
    MPI_Fetch_and_op(origin, result, type, to, 0, op, win);
    MPI_Win_unlock(to, win);
    CHECK(equal(result, before, 1, type));
}

static void compare_all(void) {
    const MPI_Datatype integers[] = {
        MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_SHORT,     MPI_UNSIGNED_SHORT,     MPI_INT,      MPI_UNSIGNED,
        MPI_LONG,        MPI_UNSIGNED_LONG, MPI_LONG_LONG, MPI_UNSIGNED_LONG_LONG, MPI_INT8_T,   MPI_INT16_T,
        MPI_INT32_T,     MPI_INT64_T,       MPI_UINT8_T,   MPI_UINT16_T,           MPI_UINT32_T, MPI_UINT64_T,
        MPI_AINT,        MPI_OFFSET,        MPI_COUNT};
    const MPI_Datatype reals[] = {MPI_FLOAT, MPI_DOUBLE};
    const MPI_Datatype complexes[] = {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX};
    const MPI_Datatype pairs[] = {MPI_2INT, MPI_SHORT_INT, MPI_LONG_INT, MPI_FLOAT_INT, MPI_DOUBLE_INT};
    const MPI_Op arithmetic[] = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_REPLACE, MPI_NO_OP};
    const MPI_Op bits[] = {MPI_BAND, MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR};
    for (size_t t = 0; t < sizeof integers / sizeof *integers; t++)
        for (int op = 0; op < 6; op++) {
            compare(integers[t], arithmetic[op], 0);
            compare(integers[t], bits[op], 0);
        }
    for (int t = 0; t < 2; t++)
        for (int op = 0; op < 6; op++) {
            compare(reals[t], arithmetic[op], 0);
            if (op != 2 && op != 3) compare(complexes[t], arithmetic[op], 0);
        }
    for (int op = 0; op < 3; op++) compare(MPI_BYTE, bits[op], 0);
    for (int op = 3; op < 6; op++) compare(MPI_C_BOOL, bits[op], 1);
    compare(MPI_BYTE, MPI_REPLACE, 0);
    compare(MPI_CHAR, MPI_REPLACE, 0);
    for (int t = 0; t < 5; t++) {
        compare(pairs[t], MPI_MINLOC, 1);
        compare(pairs[t], MPI_MAXLOC, 1);
        compare(pairs[t], MPI_REPLACE, 1);
    }
}

/* Doubles that are not aligned: one, some, and parts of a packed struct. */
static void add_unaligned(void) {
    enum { TIMES = 20 };
    const int lengths[2] = {1, 2};
    const MPI_Aint places[2] = {0, 12};
    MPI_Datatype packed;
    double x[6] = {1, 2, 3, 4, 5, 6}, got[6], old[TIMES];
    MPI_Type_create_hindexed(2, lengths, places, MPI_DOUBLE, &packed);
    MPI_Type_commit(&packed);
    if (rank == 0) memset(memory, 0, ROOM);
    MPI_Win_fence(0, bytes);
    for (int i = 0; i < TIMES; i++) {
        MPI_Accumulate(x, 1, MPI_DOUBLE, 0, 4, 1, MPI_DOUBLE, MPI_SUM, bytes);
        MPI_Accumulate(x, 2, MPI_DOUBLE, 0, 12, 2, MPI_DOUBLE, MPI_SUM, bytes);
        MPI_Accumulate(x, 3, MPI_DOUBLE, 0, 100, 1, packed, MPI_SUM, bytes);
        MPI_Fetch_and_op(x, &old[i], MPI_DOUBLE, 0, 28, MPI_SUM, bytes);
    }
    MPI_Win_fence(0, bytes);
    MPI_Get(got, 3, MPI_DOUBLE, 0, 4, 3, MPI_DOUBLE, bytes);
    MPI_Get(got + 3, 3, MPI_DOUBLE, 0, 100, 1, packed, bytes);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, bytes);
    for (int i = 0; i < TIMES; i++) CHECK(old[i] >= i && old[i] <= i + TIMES * (n - 1));
    CHECK(got[0] == TIMES * n && got[1] == TIMES * n && got[2] == 2 * TIMES * n);
    CHECK(got[3] == TIMES * n && got[4] == 2 * TIMES * n && got[5] == 3 * TIMES * n);
    MPI_Type_free(&packed);
}

/* Sections of doubles, added by all processes at once to process 0. */
static void add_sections(void) {
    const int sizes[2] = {10, 12}, parts[2] = {6, 7}, starts[2] = {2, 3};
    double ones[10 * 12], got[10 * 12];
    MPI_Datatype part, list;
    const int lengths[3] = {2, 1, 3}, places[3] = {9, 4, 0};
    int times = 50;
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &part);
    MPI_Type_indexed(3, lengths, places, MPI_DOUBLE, &list);
    MPI_Type_commit(&part);
    MPI_Type_commit(&list);
    for (int i = 0; i < 120; i++) ones[i] = 1;
    if (rank == 0) memset(memory, 0, 120 * sizeof(double));
    MPI_Win_fence(0, win);
    for (int i = 0; i < times; i++) {
        MPI_Accumulate(ones, 1, part, 0, 0, 1, part, MPI_SUM, win);
        MPI_Accumulate(ones, 42, MPI_DOUBLE, 0, 0, 1, part, MPI_SUM, win);
        MPI_Accumulate(ones, 6, MPI_DOUBLE, 0, 0, 1, list, MPI_SUM, win);
        MPI_Accumulate(ones, 1, part, 0, 0, 7, list, MPI_SUM, win);
    }
    MPI_Win_fence(0, win);
    MPI_Get(got, 120, MPI_DOUBLE, 0, 0, 120, MPI_DOUBLE, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    for (int i = 0; i < 120; i++) {
        const int row = i / 12, column = i % 12;
        double right = row >= 2 && row < 8 && column >= 3 && column < 10 ? 2 : 0;
        for (int k = 0; k < 7; k++) {
            const int at = i - 11 * k; /* the list's extent is 11 */
            const int in = at == 9 || at == 10 || at == 4 || (at >= 0 && at <= 2);
            right += in * (k == 0 ? 2 : 1);
        }
        CHECK(got[i] == right * times * n);
    }
    MPI_Type_free(&part);
    MPI_Type_free(&list);
}

#define COUNT_UP(TYPE, MPI_TYPE)                                                                                       \
    do {                                                                                                               \
        const TYPE one = 1, zero = 0;                                                                                  \
        TYPE got, seen, next;                                                                                          \
        MPI_Barrier(MPI_COMM_WORLD);                                                                                   \
        if (rank == 0) memset(memory, 0, 64);                                                                          \
        MPI_Win_fence(0, win);                                                                                         \
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);                                                                        \
        MPI_Win_lock_all(0, win);                                                                                      \
        for (int i = 0; i < times; i++) {                                                                              \
            MPI_Accumulate(&one, 1, MPI_TYPE, 0, 0, 1, MPI_TYPE, MPI_SUM, win);                                        \
            MPI_Fetch_and_op(&one, &got, MPI_TYPE, 0, 2, MPI_SUM, win);                                                \
            MPI_Win_flush(0, win);                                                                                     \
        }                                                                                                              \
        MPI_Win_unlock_all(win);                                                                                       \
        MPI_Barrier(MPI_COMM_WORLD);                                                                                   \
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);                                                                      \
        MPI_Fetch_and_op(&zero, &got, MPI_TYPE, 0, 0, MPI_NO_OP, win);                                                 \
        MPI_Fetch_and_op(&zero, &seen, MPI_TYPE, 0, 2, MPI_NO_OP, win);                                                \
        MPI_Win_unlock(0, win);                                                                                        \
        CHECK(got == (TYPE)(times * n) && seen == (TYPE)(times * n));                                                  \
        (void)next;                                                                                                    \
    } while (0)

#define SWAP_UP(TYPE, MPI_TYPE, DISP)                                                                                  \
    do {                                                                                                               \
        const TYPE zero = 0;                                                                                           \
        TYPE got, seen, next;                                                                                          \
        MPI_Barrier(MPI_COMM_WORLD);                                                                                   \
        if (rank == 0) memset(memory, 0, 64);                                                                          \
        MPI_Win_fence(0, win);                                                                                         \
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);                                                                        \
        MPI_Win_lock_all(0, win);                                                                                      \
        for (int i = 0; i < times; i++) {                                                                              \
            MPI_Fetch_and_op(&zero, &got, MPI_TYPE, 0, DISP, MPI_NO_OP, win);                                          \
            MPI_Win_flush(0, win);                                                                                     \
            do {                                                                                                       \
                seen = got;                                                                                            \
                next = (TYPE)(seen + 1);                                                                               \
                MPI_Compare_and_swap(&next, &seen, &got, MPI_TYPE, 0, DISP, win);                                      \
                MPI_Win_flush(0, win);                                                                                 \
            } while (got != seen);                                                                                     \
        }                                                                                                              \
        MPI_Win_unlock_all(win);                                                                                       \
        MPI_Barrier(MPI_COMM_WORLD);                                                                                   \
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);                                                                      \
        MPI_Fetch_and_op(&zero, &got, MPI_TYPE, 0, DISP, MPI_NO_OP, win);                                              \
        MPI_Win_unlock(0, win);                                                                                        \
        CHECK(got == (TYPE)(times * n));                                                                               \
    } while (0)

/* The best pair of all that all processes have offered. */
static void choose_pairs(void) {
    enum { TIMES = 200 };
    struct {
        double value;
        int index;
    } offers[TIMES], pair, best; /* an offer must not change before the fence */
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) memset(memory, 0, 64);
    MPI_Win_fence(0, win);
    for (int i = 0; i < TIMES; i++) {
        offers[i].value = (i * 7 + rank * 3) % 101;
        offers[i].index = i * n + rank;
        MPI_Accumulate(&offers[i], 1, MPI_DOUBLE_INT, 0, 0, 1, MPI_DOUBLE_INT, MPI_MAXLOC, win);
    }
    MPI_Win_fence(0, win);
    MPI_Get(&best, 1, MPI_DOUBLE_INT, 0, 0, 1, MPI_DOUBLE_INT, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    pair.value = -1;
    pair.index = 0;
    for (int i = 0; i < TIMES * n; i++) {
        const double value = (i / n * 7 + i % n * 3) % 101;
        if (value > pair.value) pair.value = value, pair.index = i;
    }
    CHECK(best.value == pair.value && (pair.value > 0 || best.index == 0));
    if (pair.value > 0) CHECK(best.index == pair.index);
}

int main(void) {
    const int times = 200;
    void *own = NULL;
    begin();
    for (int flavor = 0; flavor < 2; flavor++) {
        if (flavor == 0) {
            MPI_Win_allocate(ROOM, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
        } else {
            memory = own = malloc(ROOM);
            MPI_Win_create(memory, ROOM, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (flavor == 0) compare_all();
        if (flavor == 0) {
            MPI_Win_create(memory, ROOM, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &bytes);
            add_unaligned();
            MPI_Win_free(&bytes);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        add_sections();
        COUNT_UP(int8_t, MPI_INT8_T);
        COUNT_UP(uint16_t, MPI_UINT16_T);
        COUNT_UP(int, MPI_INT);
        COUNT_UP(long, MPI_LONG);
        COUNT_UP(float, MPI_FLOAT);
        COUNT_UP(double, MPI_DOUBLE);
        SWAP_UP(int8_t, MPI_INT8_T, 0);
        SWAP_UP(int16_t, MPI_INT16_T, 1);
        SWAP_UP(int, MPI_INT, 1);
        SWAP_UP(long, MPI_LONG, 2);
        choose_pairs();
        MPI_Win_free(&win);
    }
    free(own);
    return end();
}
