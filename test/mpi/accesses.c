/* SPDX-License-Identifier: BSD-3-Clause */
/* Accesses with an unusual side: types of several elements without gaps, of no element, MPI_PROC_NULL in each call, and
 * the hints of windows. Broken by an accumulate that takes a type for one word because of its size, by a check of sides
 * that hold nothing, by a call that forgets MPI_PROC_NULL, and by a hint that is passed on without being in use. */
#include "check.h"

static int wrong;

/* Counts a fault and goes on, so that a run shows all of them. */
#define EXPECT(WHAT, ...)                                                                                              \
    do {                                                                                                               \
        if (!(__VA_ARGS__)) {                                                                                          \
            wrong++;                                                                                                   \
            fprintf(stderr, "%s:%d: process %d of %d: %s: not true: %s\n", __FILE__, __LINE__, rank, n, WHAT,          \
                    #__VA_ARGS__);                                                                                     \
        }                                                                                                              \
    } while (0)

/* ---- several elements without gaps ---- */

#define ROOM 192

struct several {
    const char *name;
    MPI_Datatype basic;
    int count;
};

/* Numbers whose sums carry from one element to the next if they are added as one word: all ones, then 1. */
static void fill(void *to, MPI_Datatype basic, int count, int mine) {
    int size;
    MPI_Type_size(basic, &size);
    for (int i = 0; i < count; i++) {
        char *at = (char *)to + i * size;
        const int value = mine ? i + 1 : i % 2 == 0 ? -1 : 7 * i;
        if (basic == MPI_FLOAT)
            memcpy(at, &(float){(float)value + 0.5f}, 4);
        else if (basic == MPI_DOUBLE)
            memcpy(at, &(double){value + 0.5}, 8);
        else
            memcpy(at, &(int64_t){value}, (size_t)size); /* little-endian */
    }
}

/* What the element at `there` is after an update; size bytes. MPI's own reductions of unsigned numbers are wrong in
 * some versions of MPICH. */
static void combine(MPI_Op op, MPI_Datatype basic, size_t size, char *there, const char *mine) {
    const int larger = op == MPI_MAX;
#define COMBINE(TYPE)                                                                                                  \
    do {                                                                                                               \
        TYPE a, b;                                                                                                     \
        memcpy(&a, there, sizeof a);                                                                                   \
        memcpy(&b, mine, sizeof b);                                                                                    \
        a = larger ? (b > a ? b : a) : (TYPE)(a + b);                                                                  \
        memcpy(there, &a, sizeof a);                                                                                   \
    } while (0)
    if (op == MPI_REPLACE)
        memcpy(there, mine, size);
    else if (basic == MPI_FLOAT)
        COMBINE(float);
    else if (basic == MPI_DOUBLE)
        COMBINE(double);
    else if (basic == MPI_UINT8_T)
        COMBINE(uint8_t);
    else if (basic == MPI_UINT16_T)
        COMBINE(uint16_t);
    else if (basic == MPI_UINT32_T)
        COMBINE(uint32_t);
    else if (size == 1)
        COMBINE(int8_t);
    else if (size == 2)
        COMBINE(int16_t);
    else if (size == 4)
        COMBINE(int32_t);
    else
        COMBINE(int64_t);
}

/* `times` elements of `type`, each of `each` elements of `basic`: all sides may be either. */
static void add(const char *name, MPI_Datatype type, MPI_Datatype basic, int each, int times, int place, MPI_Op op,
                MPI_Win win, int to) {
    char origin[ROOM] __attribute__((aligned(16))), before[ROOM] __attribute__((aligned(16)));
    char after[ROOM] __attribute__((aligned(16))), there[ROOM], result[ROOM], untouched[ROOM];
    const int count = each * times;
    int size;
    MPI_Type_size(basic, &size);
    memset(untouched, 0x5a, sizeof untouched);
    fill(origin, basic, count, 1);
    fill(before, basic, count, 0);
    memcpy(after, before, sizeof after);
    for (int i = 0; i < count; i++) combine(op, basic, (size_t)size, after + i * size, origin + i * size);
    size *= count;
    for (int way = 0; way < 8; way++) { /* which sides are of the basic type, and whether the call fetches */
        const MPI_Datatype o = way & 1 ? basic : type, t = way & 2 ? basic : type, r = way & 1 ? type : basic;
        const int o_count = way & 1 ? count : times, t_count = way & 2 ? count : times,
                  r_count = way & 1 ? times : count;
        memcpy(result, untouched, sizeof result);
        memcpy(there, untouched, sizeof there);
        memcpy(there + place, before, (size_t)size);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win);
        MPI_Put(there, ROOM, MPI_BYTE, to, 0, ROOM, MPI_BYTE, win);
        MPI_Win_flush(to, win);
        if (way & 4)
            MPI_Get_accumulate(origin, o_count, o, result, r_count, r, to, place, t_count, t, op, win);
        else
            MPI_Accumulate(origin, o_count, o, to, place, t_count, t, op, win);
        MPI_Win_flush(to, win);
        MPI_Get(there, ROOM, MPI_BYTE, to, 0, ROOM, MPI_BYTE, win);
        MPI_Win_unlock(to, win);
        EXPECT(name, memcmp(there + place, after, (size_t)size) == 0);
        EXPECT(name, memcmp(there, untouched, (size_t)place) == 0);
        EXPECT(name, memcmp(there + place + size, untouched, (size_t)(ROOM - place - size)) == 0);
        EXPECT(name, !(way & 4) || memcmp(result, before, (size_t)size) == 0);
        EXPECT(name, !(way & 4) || memcmp(result + size, untouched, (size_t)(ROOM - size)) == 0);
    }
}

static void add_several(MPI_Win win) {
    const struct several all[] = {
        {"2 floats", MPI_FLOAT, 2},      {"2 ints", MPI_INT, 2},          {"4 shorts", MPI_SHORT, 4},
        {"8 chars", MPI_SIGNED_CHAR, 8}, {"2 doubles", MPI_DOUBLE, 2},    {"2 shorts", MPI_SHORT, 2},
        {"4 chars", MPI_SIGNED_CHAR, 4}, {"2 chars", MPI_SIGNED_CHAR, 2}, {"2 longs", MPI_LONG, 2},
        {"2 unsigned", MPI_UINT32_T, 2}, {"4 uint16s", MPI_UINT16_T, 4},  {"8 uint8s", MPI_UINT8_T, 8},
        {"1 int", MPI_INT, 1},           {"1 double", MPI_DOUBLE, 1},     {"1 float", MPI_FLOAT, 1},
        {"1 char", MPI_SIGNED_CHAR, 1},  {"3 floats", MPI_FLOAT, 3},      {"1 long", MPI_LONG, 1},
    };
    const MPI_Op ops[] = {MPI_SUM, MPI_MAX, MPI_REPLACE};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct several *s = &all[i];
        MPI_Datatype types[6];
        const int one = 1;
        const MPI_Aint zero = 0;
        int size;
        const int is_unsigned = s->basic == MPI_UINT8_T || s->basic == MPI_UINT16_T || s->basic == MPI_UINT32_T;
        MPI_Type_size(s->basic, &size);
        MPI_Type_contiguous(s->count, s->basic, &types[0]);
        MPI_Type_dup(types[0], &types[1]);
        MPI_Type_create_resized(types[0], 0, s->count * size, &types[2]);
        MPI_Type_create_struct(1, &one, &zero, &types[0], &types[3]);
        MPI_Type_vector(s->count, 1, 1, s->basic, &types[4]);
        MPI_Type_contiguous(1, types[0], &types[5]);
        for (int t = 0; t < 6; t++) {
            MPI_Type_commit(&types[t]);
            for (int times = 1; times <= (t == 0 ? 3 : 1); times++)
                for (int place = 64; place <= (t == 0 ? 68 : 65); place += place == 64 ? 1 : 3)
                    for (int op = 0; op < (t == 0 ? 3 : 1); op++) {
                        /* MPICH 4.0 compares unsigned numbers as signed ones. */
                        if (ops[op] == MPI_MAX && is_unsigned && !on_librma()) continue;
                        add(s->name, types[t], s->basic, s->count, times, place, ops[op], win, (rank + 1) % n);
                    }
        }
        for (int t = 0; t < 6; t++) MPI_Type_free(&types[t]);
    }
}

/* ---- nothing ---- */

static void add_nothing(MPI_Win win) {
    static char x[64], y[64], now[64];
    const int to = (rank + 1) % n;
    MPI_Datatype types[5] = {MPI_INT, MPI_DOUBLE, MPI_DOUBLE_INT};
    MPI_Request request;
    MPI_Type_contiguous(0, MPI_INT, &types[3]);
    MPI_Type_contiguous(0, MPI_DOUBLE, &types[4]);
    MPI_Type_commit(&types[3]);
    MPI_Type_commit(&types[4]);
    memset(y, 3, sizeof y);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win);
    MPI_Put(y, 64, MPI_BYTE, to, 0, 64, MPI_BYTE, win);
    MPI_Win_flush(to, win);
    for (int o = 0; o < 5; o++)
        for (int t = 0; t < 5; t++) {
            const int o_count = o >= 3 ? 3 : 0, t_count = t >= 3 ? 2 : 0;
            EXPECT("nothing", MPI_Put(x, o_count, types[o], to, 0, t_count, types[t], win) == MPI_SUCCESS);
            EXPECT("nothing", MPI_Get(y, o_count, types[o], to, 0, t_count, types[t], win) == MPI_SUCCESS);
            for (int op = 0; op < 2; op++) {
                const MPI_Op how = op ? MPI_REPLACE : MPI_SUM;
                if (!op && (o == 2 || t == 2)) continue; /* no sums of pairs */
                EXPECT("nothing",
                       MPI_Accumulate(x, o_count, types[o], to, 0, t_count, types[t], how, win) == MPI_SUCCESS);
                EXPECT("nothing", MPI_Raccumulate(x, o_count, types[o], to, 0, t_count, types[t], how, win, &request) ==
                                      MPI_SUCCESS);
                MPI_Wait(&request, MPI_STATUS_IGNORE);
                for (int r = 0; r < 5; r++) {
                    const int r_count = r >= 3 ? 1 : 0;
                    EXPECT("nothing", MPI_Get_accumulate(x, o_count, types[o], y, r_count, types[r], to, 0, t_count,
                                                         types[t], how, win) == MPI_SUCCESS);
                    EXPECT("nothing", MPI_Rget_accumulate(x, o_count, types[o], y, r_count, types[r], to, 0, t_count,
                                                          types[t], how, win, &request) == MPI_SUCCESS);
                    MPI_Wait(&request, MPI_STATUS_IGNORE);
                    EXPECT("nothing", MPI_Get_accumulate(NULL, 0, types[o], y, r_count, types[r], to, 0, t_count,
                                                         types[t], MPI_NO_OP, win) == MPI_SUCCESS);
                }
            }
        }
    /* An origin that holds nothing is shorter than the target: nothing happens. Otherwise one side that holds nothing
     * and one that does not are a mistake. */
    for (int o = 3; on_librma() && o < 5; o++) {
        EXPECT("no origin", MPI_Put(x, 1, types[o], to, 0, 1, MPI_INT, win) == MPI_SUCCESS);
        EXPECT("no origin", MPI_Accumulate(x, 1, types[o], to, 0, 1, MPI_INT, MPI_SUM, win) == MPI_SUCCESS);
        EXPECT("no origin", MPI_Accumulate(x, 0, MPI_INT, to, 0, 1, MPI_INT, MPI_SUM, win) == MPI_SUCCESS);
        EXPECT("one side", MPI_Put(x, 1, MPI_INT, to, 0, 1, types[o], win) != MPI_SUCCESS);
        EXPECT("one side", MPI_Accumulate(x, 1, MPI_INT, to, 0, 1, types[o], MPI_SUM, win) != MPI_SUCCESS);
        EXPECT("one side", MPI_Accumulate(x, 1, MPI_INT, to, 0, 0, MPI_INT, MPI_REPLACE, win) != MPI_SUCCESS);
        EXPECT("one side",
               MPI_Get_accumulate(x, 1, MPI_INT, y, 1, types[o], to, 0, 1, MPI_INT, MPI_SUM, win) != MPI_SUCCESS);
        EXPECT("one side",
               MPI_Get_accumulate(x, 1, types[o], y, 1, MPI_INT, to, 0, 1, MPI_INT, MPI_SUM, win) != MPI_SUCCESS);
        EXPECT("one side",
               MPI_Get_accumulate(x, 1, MPI_INT, y, 1, MPI_INT, to, 0, 1, types[o], MPI_SUM, win) != MPI_SUCCESS);
        EXPECT("one side",
               MPI_Get_accumulate(NULL, 0, MPI_INT, y, 1, MPI_INT, to, 0, 0, MPI_INT, MPI_NO_OP, win) != MPI_SUCCESS);
    }
    MPI_Win_flush(to, win);
    MPI_Get(now, 64, MPI_BYTE, to, 0, 64, MPI_BYTE, win);
    MPI_Win_unlock(to, win);
    EXPECT("nothing", memcmp(now, y, 64) == 0 && y[0] == 3 && y[63] == 3);
    MPI_Type_free(&types[3]);
    MPI_Type_free(&types[4]);
}

/* ---- MPI_PROC_NULL ---- */

static void call_null(const char *epoch, MPI_Win win, int requests) {
    const int to = MPI_PROC_NULL;
    int x[2] = {1, 2}, y[2] = {3, 4}, z[2] = {5, 6};
    MPI_Request q[4];
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    for (int far = 0; far < 2; far++) {
        const MPI_Aint disp = far ? 1 << 30 : 0; /* no window has such a place */
        EXPECT(epoch, MPI_Put(x, 2, MPI_INT, to, disp, 1, pair, win) == MPI_SUCCESS);
        EXPECT(epoch, MPI_Get(y, 1, pair, to, disp, 2, MPI_INT, win) == MPI_SUCCESS);
        EXPECT(epoch, MPI_Accumulate(x, 2, MPI_INT, to, disp, 2, MPI_INT, MPI_SUM, win) == MPI_SUCCESS);
        EXPECT(epoch, MPI_Accumulate(x, 1, pair, to, disp, 1, pair, MPI_REPLACE, win) == MPI_SUCCESS);
        EXPECT(epoch, MPI_Get_accumulate(x, 2, MPI_INT, y, 1, pair, to, disp, 2, MPI_INT, MPI_MAX, win) == MPI_SUCCESS);
        EXPECT(epoch, MPI_Get_accumulate(NULL, 0, MPI_INT, y, 2, MPI_INT, to, disp, 2, MPI_INT, MPI_NO_OP, win) ==
                          MPI_SUCCESS);
        EXPECT(epoch, MPI_Fetch_and_op(x, y, MPI_INT, to, disp, MPI_SUM, win) == MPI_SUCCESS);
        EXPECT(epoch, MPI_Fetch_and_op(x, y, MPI_DOUBLE_INT, to, disp, MPI_MINLOC, win) == MPI_SUCCESS);
        EXPECT(epoch, MPI_Compare_and_swap(x, z, y, MPI_INT, to, disp, win) == MPI_SUCCESS);
        /* Sides that differ: MPICH checks them. */
        for (int k = 0; k < 3 && on_librma(); k++) {
            EXPECT(epoch, MPI_Put(x, k, MPI_INT, to, disp, 1, MPI_INT, win) == MPI_SUCCESS);
            EXPECT(epoch, MPI_Get(y, k, MPI_INT, to, disp, 1, MPI_INT, win) == MPI_SUCCESS);
            EXPECT(epoch, MPI_Accumulate(x, k, MPI_INT, to, disp, 1, MPI_INT, MPI_SUM, win) == MPI_SUCCESS);
            EXPECT(epoch, MPI_Accumulate(x, 1, MPI_INT, to, disp, k, MPI_INT, MPI_REPLACE, win) == MPI_SUCCESS);
            EXPECT(epoch,
                   MPI_Get_accumulate(x, k, MPI_INT, y, 1, MPI_INT, to, disp, 2, MPI_INT, MPI_SUM, win) == MPI_SUCCESS);
        }
        for (int i = 0; i < 4; i++) q[i] = MPI_REQUEST_NULL;
        if (!requests) continue;
        EXPECT(epoch, MPI_Rput(x, 2, MPI_INT, to, disp, 1, pair, win, &q[0]) == MPI_SUCCESS);
        EXPECT(epoch, MPI_Rget(y, 2, MPI_INT, to, disp, 2, MPI_INT, win, &q[1]) == MPI_SUCCESS);
        EXPECT(epoch, MPI_Raccumulate(x, 2, MPI_INT, to, disp, 2, MPI_INT, MPI_SUM, win, &q[2]) == MPI_SUCCESS);
        EXPECT(epoch, MPI_Rget_accumulate(x, 2, MPI_INT, y, 2, MPI_INT, to, disp, 2, MPI_INT, MPI_SUM, win, &q[3]) ==
                          MPI_SUCCESS);
        for (int i = 0; i < 4; i++) {
            int done = 0;
            MPI_Wait(&q[i], MPI_STATUS_IGNORE);
            EXPECT(epoch, q[i] == MPI_REQUEST_NULL && MPI_Test(&q[i], &done, MPI_STATUS_IGNORE) == 0 && done);
        }
    }
    EXPECT(epoch, x[0] == 1 && x[1] == 2 && y[0] == 3 && y[1] == 4 && z[0] == 5 && z[1] == 6);
    MPI_Type_free(&pair);
}

static void null_everywhere(MPI_Win win) {
    MPI_Group group, self;
    MPI_Win_fence(0, win);
    call_null("in a fence", win, 0);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    for (int type = 0; type < 2; type++) {
        EXPECT("MPI_Win_lock",
               MPI_Win_lock(type ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, MPI_PROC_NULL, 0, win) == MPI_SUCCESS);
        call_null("under a lock of MPI_PROC_NULL", win, 1);
        EXPECT("MPI_Win_flush", MPI_Win_flush(MPI_PROC_NULL, win) == MPI_SUCCESS);
        EXPECT("MPI_Win_flush_local", MPI_Win_flush_local(MPI_PROC_NULL, win) == MPI_SUCCESS);
        EXPECT("MPI_Win_unlock", MPI_Win_unlock(MPI_PROC_NULL, win) == MPI_SUCCESS);
    }
    MPI_Win_lock(MPI_LOCK_SHARED, (rank + 1) % n, 0, win);
    call_null("under a lock of another process", win, 1);
    MPI_Win_unlock((rank + 1) % n, win);
    MPI_Win_lock_all(0, win);
    call_null("under MPI_Win_lock_all", win, 1);
    EXPECT("MPI_Win_flush", MPI_Win_flush(MPI_PROC_NULL, win) == MPI_SUCCESS);
    EXPECT("MPI_Win_flush_local", MPI_Win_flush_local(MPI_PROC_NULL, win) == MPI_SUCCESS);
    MPI_Win_unlock_all(win);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Group_incl(group, 1, &rank, &self);
    MPI_Win_post(self, 0, win);
    MPI_Win_start(self, 0, win);
    call_null("between MPI_Win_start and MPI_Win_complete", win, 0);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Group_free(&group);
    MPI_Group_free(&self);
}

/* ---- types of several kinds, and of a negative extent ---- */

/* An accumulate needs elements of one type. A part of a structure that holds nothing does not count. */
static void add_structures(MPI_Win win) {
    const int to = (rank + 1) % n, lengths[2][2] = {{1, 1}, {1, 0}};
    const MPI_Aint places[2] = {0, 4};
    const MPI_Datatype parts[2] = {MPI_INT, MPI_FLOAT};
    for (int k = 0; k < 2; k++) {
        int mine[2] = {7, 7}, there[2] = {0, 0}, code;
        MPI_Datatype type;
        MPI_Type_create_struct(2, lengths[k], places, parts, &type);
        MPI_Type_commit(&type);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win);
        MPI_Put(there, 8, MPI_BYTE, to, 64, 8, MPI_BYTE, win);
        MPI_Win_flush(to, win);
        code = MPI_Accumulate(mine, 1, type, to, 64, 1, type, MPI_SUM, win);
        MPI_Win_flush(to, win);
        MPI_Get(there, 8, MPI_BYTE, to, 64, 8, MPI_BYTE, win);
        MPI_Win_unlock(to, win);
        EXPECT("structure", k == 0 ? class_of(code) == MPI_ERR_TYPE : code == MPI_SUCCESS);
        EXPECT("structure", there[0] == (k == 0 ? 0 : 7) && there[1] == 0);
        MPI_Type_free(&type);
    }
}

/* Elements that go down from the displacement: the last one begins two extents below it. */
static void go_down(MPI_Win win) {
    const int to = (rank + 1) % n, mine[3] = {1, 2, 3};
    int there[3] = {0};
    MPI_Datatype down;
    MPI_Type_create_resized(MPI_INT, 0, -8, &down);
    MPI_Type_commit(&down);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win);
    EXPECT("down", MPI_Put(mine, 3, MPI_INT, to, 16, 3, down, win) == MPI_SUCCESS);
    EXPECT("down", class_of(MPI_Put(mine, 3, MPI_INT, to, 8, 3, down, win)) == MPI_ERR_RMA_RANGE);
    MPI_Win_flush(to, win);
    for (int i = 0; i < 3; i++) MPI_Get(&there[i], 1, MPI_INT, to, 16 - 8 * i, 1, MPI_INT, win);
    MPI_Win_unlock(to, win);
    EXPECT("down", there[0] == 1 && there[1] == 2 && there[2] == 3);
    MPI_Type_free(&down);
}

/* ---- hints ---- */

static const char *hint(MPI_Win win, const char *key) {
    static char value[MPI_MAX_INFO_VAL + 1];
    MPI_Info info;
    int found;
    MPI_Win_get_info(win, &info);
    CHECK(info != MPI_INFO_NULL);
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
    MPI_Info_free(&info);
    return found ? value : "";
}

#define HINT(KEY, VALUE) EXPECT(KEY, strcmp(hint(win, KEY), VALUE) == 0)

static int is_truth(const char *value) { return strcmp(value, "true") == 0 || strcmp(value, "false") == 0; }

/* MPI_Win_get_info returns the hints that the library has defaults for, and those of the program that it uses (MPI 4.0,
 * section 12.2.7). The first window has no hints of the program, the second one has each of them. */
static void try_hints(int flavor) {
    static char memory[64];
    char *base = memory;
    for (int given = 0; given < 2; given++) {
        MPI_Info info;
        MPI_Win win;
        MPI_Info_create(&info);
        MPI_Info_set(info, "no_locks", "true");
        MPI_Info_set(info, "accumulate_ordering", "none");
        MPI_Info_set(info, "accumulate_ops", "same_op");
        MPI_Info_set(info, "same_size", "true");
        MPI_Info_set(info, "same_disp_unit", "true");
        MPI_Info_set(info, "alloc_shared_noncontig", "true");
        MPI_Info_set(info, "mpi_minimum_memory_alignment", "4096");
        MPI_Info_set(info, "an_unknown_key", "true");
        if (!given) {
            MPI_Info_free(&info);
            info = MPI_INFO_NULL;
        }
        if (flavor == MPI_WIN_FLAVOR_ALLOCATE) MPI_Win_allocate(64, 1, info, MPI_COMM_WORLD, &base, &win);
        if (flavor == MPI_WIN_FLAVOR_SHARED) MPI_Win_allocate_shared(64, 1, info, MPI_COMM_WORLD, &base, &win);
        if (flavor == MPI_WIN_FLAVOR_CREATE) MPI_Win_create(memory, 64, 1, info, MPI_COMM_WORLD, &win);
        if (flavor == MPI_WIN_FLAVOR_DYNAMIC) MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &win);
        HINT("no_locks", given ? "true" : "false");
        HINT("accumulate_ordering", given ? "none" : "rar,raw,war,waw");
        HINT("accumulate_ops", given ? "same_op" : "same_op_no_op");
        HINT("same_size", given ? "true" : "false");
        HINT("same_disp_unit", given ? "true" : "false");
        HINT("an_unknown_key", "");
        if (flavor == MPI_WIN_FLAVOR_SHARED) HINT("alloc_shared_noncontig", given ? "true" : "false");
        /* MPICH 4.0 does not know this one. A window without memory of MPI has no use for it. */
        if (on_librma() && given && (flavor == MPI_WIN_FLAVOR_ALLOCATE || flavor == MPI_WIN_FLAVOR_SHARED)) {
            HINT("mpi_minimum_memory_alignment", "4096");
            EXPECT("alignment", (uintptr_t)base % 4096 == 0);
        }
        if (given) MPI_Info_free(&info);
        MPI_Info_create(&info);
        MPI_Info_set(info, "another_unknown_key", "true");
        MPI_Info_set(info, "accumulate_ordering", "rar,waw");
        MPI_Info_set(info, "accumulate_ops", "nonsense");
        MPI_Info_set(info, "same_disp_unit", "perhaps");
        /* The memory is there: its alignment does not change. */
        MPI_Info_set(info, "alloc_shared_noncontig", given ? "false" : "true");
        MPI_Info_set(info, "mpi_minimum_memory_alignment", "64");
        MPI_Win_set_info(win, info);
        if (on_librma() && flavor == MPI_WIN_FLAVOR_SHARED) HINT("alloc_shared_noncontig", given ? "false" : "true");
        if (on_librma()) {
            const int has = given && (flavor == MPI_WIN_FLAVOR_ALLOCATE || flavor == MPI_WIN_FLAVOR_SHARED);
            HINT("mpi_minimum_memory_alignment", has ? "4096" : "");
        }
        HINT("another_unknown_key", "");
        HINT("an_unknown_key", "");
        HINT("accumulate_ordering", "rar,waw");
        EXPECT("accumulate_ops", strncmp(hint(win, "accumulate_ops"), "same_op", 7) == 0);
        EXPECT("same_disp_unit", is_truth(hint(win, "same_disp_unit")));
        EXPECT("no_locks", is_truth(hint(win, "no_locks")));
        MPI_Info_free(&info);
        MPI_Win_free(&win);
    }
}

/* Memory of MPI_Alloc_mem begins at a multiple of the hint, whatever was allocated before. MPICH 4.0 does not know the
 * hint. */
static void align_memory(void) {
    static const char *const hints[] = {"1", "256", "4096", "65536"};
    for (int i = 0; i < 8; i++) {
        const char *wanted = hints[i % 4];
        char *first, *second;
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, "mpi_minimum_memory_alignment", wanted);
        MPI_Alloc_mem(24 + 8 * i, MPI_INFO_NULL, &first);
        MPI_Alloc_mem(100, info, &second);
        EXPECT("MPI_Alloc_mem", (uintptr_t)second % strtoul(wanted, NULL, 10) == 0);
        memset(second, i, 100);
        EXPECT("MPI_Free_mem", MPI_Free_mem(first) == MPI_SUCCESS && MPI_Free_mem(second) == MPI_SUCCESS);
        MPI_Info_free(&info);
    }
}

int main(void) {
    char *memory;
    MPI_Win win;
    begin();
    setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
    MPI_Win_allocate(ROOM, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    add_several(win);
    MPI_Barrier(MPI_COMM_WORLD);
    add_nothing(win);
    MPI_Barrier(MPI_COMM_WORLD);
    null_everywhere(win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (on_librma()) { /* MPICH 4.0 checks neither: it computes with the structure's bytes, and writes below the window
                        */
        add_structures(win);
        MPI_Barrier(MPI_COMM_WORLD);
        go_down(win);
    }
    MPI_Win_free(&win);
    try_hints(MPI_WIN_FLAVOR_ALLOCATE);
    try_hints(MPI_WIN_FLAVOR_CREATE);
    try_hints(MPI_WIN_FLAVOR_DYNAMIC);
    if (one_node()) try_hints(MPI_WIN_FLAVOR_SHARED);
    if (on_librma()) align_memory();
    CHECK(wrong == 0);
    return end();
}
