/* SPDX-License-Identifier: BSD-3-Clause */
/* Dynamic windows: the blocks of an access may be in any regions that the target has attached, in any order, and one
 * block may lie in several regions that touch. Broken by a check of all the memory between the first and the last
 * block, by one that looks only at the first region, by a datatype of absolute addresses that is added to a
 * displacement other than 0, by an access that writes some of its blocks before it finds that another one is not
 * attached, and by a MPI_Win_attach that fails and leaves the others with other regions. */
#include "check.h"

#define PART  256 /* bytes of a region */
#define ARENA (6 * PART)
#define MOST  100 /* elements of an access */

static int wrong;

/* The regions: three that touch, a gap, one more, and a gap. Another one is in memory of malloc; its second half is not
 * attached. */
static char arena[ARENA] __attribute__((aligned(64)));
static char *heap;
static const int attached[] = {2 * PART, 0, 4 * PART, PART};

static MPI_Win win;
static MPI_Aint *bases; /* of the processes: arena and heap */

struct block {
    int in_heap, at, count; /* count: of int64_t */
};
struct access {
    const char *name;
    int n;
    struct block blocks[3];
};

static const struct access good[] = {
    {"one block", 1, {{0, 16, 4}}},
    {"the last element of a region", 1, {{0, 5 * PART - 8, 1}}},
    {"equal blocks in one region", 2, {{0, 8, 2}, {0, 72, 2}}},
    {"other blocks in one region", 3, {{0, 8, 2}, {0, 72, 1}, {0, 120, 3}}},
    {"blocks in one region, not in order", 3, {{0, 120, 3}, {0, 8, 2}, {0, 72, 1}}},
    {"equal blocks around a gap", 2, {{0, 8, 2}, {0, 4 * PART + 8, 2}}},
    {"other blocks around a gap", 2, {{0, 8, 2}, {0, 4 * PART + 8, 1}}},
    {"blocks around a gap, the last one first", 2, {{0, 4 * PART + 8, 1}, {0, 8, 2}}},
    {"static memory and memory of malloc", 3, {{0, 8, 2}, {1, 24, 1}, {0, 4 * PART, 3}}},
    {"memory of malloc and static memory", 2, {{1, PART - 16, 2}, {0, 8, 2}}},
    {"a block in two regions", 1, {{0, PART - 16, 4}}},
    {"a block in three regions", 1, {{0, PART - 8, 34}}},
    {"the whole of three regions", 1, {{0, 0, 3 * PART / 8}}},
    {"an element in two regions", 1, {{0, PART - 4, 1}}},
    {"elements in two regions, not aligned", 2, {{0, 4 * PART + 8, 1}, {0, PART - 12, 2}}},
    {"a block in two regions, and others", 3, {{0, 4 * PART + 16, 1}, {0, 2 * PART - 8, 2}, {1, 0, 3}}},
    {"equal blocks in three regions that touch", 3, {{0, 128, 2}, {0, PART + 128, 2}, {0, 2 * PART + 128, 2}}},
    {"equal blocks in three regions around a gap", 3, {{0, 8, 2}, {0, 2 * PART + 8, 2}, {0, 4 * PART + 8, 2}}},
    {"equal blocks in two regions each", 2, {{0, PART - 8, 2}, {0, 2 * PART - 8, 2}}},
};

static const struct access bad[] = {
    {"the last block leaves the last region that touches", 2, {{0, 8, 2}, {0, 3 * PART - 8, 2}}},
    {"the first block leaves it", 2, {{0, 3 * PART - 8, 2}, {0, 8, 2}}},
    {"a block that begins in three regions and leaves them", 1, {{0, 16, 97}}},
    {"a block in a gap", 2, {{0, 8, 1}, {0, 3 * PART + 32, 1}}},
    {"the first block in a gap", 2, {{0, 3 * PART + 32, 1}, {0, 8, 1}}},
    {"the middle block in a gap", 3, {{0, 2 * PART, 2}, {0, 3 * PART, 2}, {0, 4 * PART, 2}}},
    {"the end of memory of malloc", 2, {{0, 8, 2}, {1, PART - 16, 4}}},
    {"one byte before a region", 2, {{0, 8, 2}, {0, 4 * PART - 1, 1}}},
    {"one byte after a region", 2, {{0, 5 * PART - 7, 1}, {0, 8, 2}}},
    {"one element after a region", 1, {{0, 5 * PART, 1}}},
};

enum way { PUT, GET, ADD, REPLACE, GET_ADD, FETCH, RPUT, RGET, RADD, RGET_ADD, WAYS };
static const char *const way_names[WAYS] = {"MPI_Put",
                                            "MPI_Get",
                                            "MPI_Accumulate",
                                            "MPI_Accumulate, MPI_REPLACE",
                                            "MPI_Get_accumulate",
                                            "MPI_Get_accumulate, MPI_NO_OP",
                                            "MPI_Rput",
                                            "MPI_Rget",
                                            "MPI_Raccumulate",
                                            "MPI_Rget_accumulate"};
enum form { ABSOLUTE, RELATIVE, PLAIN, FORMS };
static const char *const form_names[FORMS] = {"absolute addresses", "addresses from the first block", "no datatype"};

static int writes(enum way way) { return way != GET && way != FETCH && way != RGET; }
static int reads(enum way way) {
    return way == GET || way == RGET || way == GET_ADD || way == FETCH || way == RGET_ADD;
}
static int adds(enum way way) { return way == ADD || way == GET_ADD || way == RADD || way == RGET_ADD; }

static void report(const char *access, const char *way, const char *form, const char *fault) {
    fprintf(stderr, "process %d of %d: %s: %s by %s: %s\n", rank, n, access, way, form, fault);
    wrong++;
}

static int64_t value_of(int process, int i) { return (int64_t)process << 32 | (int64_t)(i + 1); }

/* What is at place `at` of a process's memory before an access. */
static void set_memory(char *a, char *h, int process) {
    for (int i = 0; i < ARENA; i++) a[i] = (char)(i * 5 + process);
    for (int i = 0; i < 2 * PART; i++) h[i] = (char)(i * 3 + process);
}

/* Does an access in memory that nobody else sees. `data` is that of the origin. */
static void imitate(const struct access *a, enum way way, const int64_t *data, int64_t *result, char *in_arena,
                    char *in_heap) {
    for (int b = 0, k = 0; b < a->n; b++)
        for (int i = 0; i < a->blocks[b].count; i++, k++) {
            char *at = (a->blocks[b].in_heap ? in_heap : in_arena) + a->blocks[b].at + 8 * i;
            int64_t there;
            memcpy(&there, at, 8);
            if (reads(way)) result[k] = there;
            there = adds(way) ? (int64_t)((uint64_t)there + (uint64_t)data[k]) : data[k];
            if (writes(way)) memcpy(at, &there, 8);
        }
}

static int call_of(enum way way, const int64_t *data, int64_t *result, int count, int to, MPI_Aint disp, int t_count,
                   MPI_Datatype t) {
    const MPI_Datatype e = MPI_INT64_T;
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_ERR_OTHER;
    switch (way) {
        case PUT: return MPI_Put(data, count, e, to, disp, t_count, t, win);
        case GET: return MPI_Get(result, count, e, to, disp, t_count, t, win);
        case ADD: return MPI_Accumulate(data, count, e, to, disp, t_count, t, MPI_SUM, win);
        case REPLACE: return MPI_Accumulate(data, count, e, to, disp, t_count, t, MPI_REPLACE, win);
        case GET_ADD: return MPI_Get_accumulate(data, count, e, result, count, e, to, disp, t_count, t, MPI_SUM, win);
        case FETCH: return MPI_Get_accumulate(data, count, e, result, count, e, to, disp, t_count, t, MPI_NO_OP, win);
        case RPUT: code = MPI_Rput(data, count, e, to, disp, t_count, t, win, &request); break;
        case RGET: code = MPI_Rget(result, count, e, to, disp, t_count, t, win, &request); break;
        case RADD: code = MPI_Raccumulate(data, count, e, to, disp, t_count, t, MPI_SUM, win, &request); break;
        case RGET_ADD:
            code = MPI_Rget_accumulate(data, count, e, result, count, e, to, disp, t_count, t, MPI_SUM, win, &request);
            break;
        default: break;
    }
    if (code == MPI_SUCCESS) MPI_Wait(&request, MPI_STATUS_IGNORE);
    return code;
}

/* Each process accesses the next one. */
static void try_access(const struct access *a, enum way way, enum form form, int is_good) {
    static char in_arena[ARENA] __attribute__((aligned(64))), in_heap[2 * PART];
    int64_t data[MOST], result[MOST + 1], expected[MOST + 1];
    const int to = (rank + 1) % n, from = (rank + n - 1) % n;
    const MPI_Aint first = bases[2 * to + a->blocks[0].in_heap] + a->blocks[0].at;
    MPI_Aint at[3];
    MPI_Datatype t = MPI_INT64_T;
    int lengths[3], count = 0, code, done, done_here;
    if (form == PLAIN && a->n > 1) return;
    set_memory(arena, heap, rank);
    for (int b = 0; b < a->n; b++) {
        at[b] = bases[2 * to + a->blocks[b].in_heap] + a->blocks[b].at;
        if (form == RELATIVE) at[b] = MPI_Aint_diff(at[b], first);
        lengths[b] = a->blocks[b].count;
        count += lengths[b];
    }
    if (form != PLAIN) {
        MPI_Type_create_hindexed(a->n, lengths, at, MPI_INT64_T, &t);
        MPI_Type_commit(&t);
    }
    memset(result, 0x22, sizeof result);
    memset(expected, 0x22, sizeof expected);
    for (int i = 0; i < count; i++) data[i] = value_of(rank, i);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win);
    code = call_of(way, data, result, count, to, form == ABSOLUTE ? 0 : first, form == PLAIN ? count : 1, t);
    MPI_Win_unlock(to, win);
    if (is_good && code != MPI_SUCCESS) report(a->name, way_names[way], form_names[form], "is refused");
    if (!is_good && class_of(code) != MPI_ERR_RMA_RANGE)
        report(a->name, way_names[way], form_names[form], code ? "is not MPI_ERR_RMA_RANGE" : "is accepted");
    done = is_good && code == MPI_SUCCESS;
    MPI_Sendrecv(&done, 1, MPI_INT, to, 0, &done_here, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    set_memory(in_arena, in_heap, to);
    if (done) imitate(a, way, data, expected, in_arena, in_heap);
    if (memcmp(result, expected, sizeof result) != 0)
        report(a->name, way_names[way], form_names[form], done ? "returns wrong data" : "returns data");
    set_memory(in_arena, in_heap, rank);
    for (int i = 0; i < count; i++) data[i] = value_of(from, i);
    if (done_here) imitate(a, way, data, expected, in_arena, in_heap);
    if (memcmp(arena, in_arena, ARENA) != 0 || memcmp(heap, in_heap, 2 * PART) != 0)
        report(a->name, way_names[way], form_names[form], done_here ? "leaves wrong data" : "writes data");
    if (form != PLAIN) MPI_Type_free(&t);
}

static void try_all(const struct access *all, size_t count, int is_good) {
    for (size_t i = 0; i < count; i++)
        for (enum way way = 0; way < WAYS; way++)
            for (enum form form = 0; form < FORMS; form++) try_access(&all[i], way, form, is_good);
}

/* One element at the first and at the last place of each region. */
static void try_words(void) {
    const int to = (rank + 1) % n;
    for (int i = 0; i < 10; i++) {
        const int at = (i < 8 ? attached[i / 2] : 0) + (i % 2 ? PART - 8 : 0);
        const MPI_Aint disp = MPI_Aint_add(bases[2 * to + (i >= 8)], at);
        int64_t old, was, one = 1, zero = 0, got = -1;
        unsigned char byte = 0x5b, last = 0;
        set_memory(arena, heap, rank);
        memcpy(&old, (i < 8 ? arena : heap) + at, 8);
        memcpy(&last, (i < 8 ? arena : heap) + at + 7, 1);
        MPI_Sendrecv(&old, 1, MPI_INT64_T, (rank + n - 1) % n, 0, &was, 1, MPI_INT64_T, to, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win);
        if (MPI_Fetch_and_op(&one, &got, MPI_INT64_T, to, disp, MPI_SUM, win) != MPI_SUCCESS)
            report("a word", "MPI_Fetch_and_op", "no datatype", "is refused");
        MPI_Win_flush(to, win);
        if (got != was) report("a word", "MPI_Fetch_and_op", "no datatype", "returns wrong data");
        was++;
        if (MPI_Compare_and_swap(&zero, &was, &got, MPI_INT64_T, to, disp, win) != MPI_SUCCESS)
            report("a word", "MPI_Compare_and_swap", "no datatype", "is refused");
        MPI_Win_flush(to, win);
        if (got != was) report("a word", "MPI_Compare_and_swap", "no datatype", "returns wrong data");
        last = 0;
        if (MPI_Compare_and_swap(&byte, &last, &last, MPI_BYTE, to, disp + 7, win) != MPI_SUCCESS)
            report("a byte", "MPI_Compare_and_swap", "no datatype", "is refused");
        MPI_Win_unlock(to, win);
        MPI_Barrier(MPI_COMM_WORLD);
        memcpy(&got, (i < 8 ? arena : heap) + at, 8);
        if (got != (int64_t)0x5b << 56)
            report("a word", "two swaps", "no datatype", "leave wrong data"); /* little-endian */
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* MPI_Fetch_and_op of an element that two regions share. */
static void try_border(void) {
    const int to = (rank + 1) % n;
    int64_t one = 1, got = -1, expected;
    char in_arena[ARENA], in_heap[2 * PART];
    set_memory(arena, heap, rank);
    set_memory(in_arena, in_heap, to);
    memcpy(&expected, in_arena + PART - 4, 8);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win);
    if (MPI_Fetch_and_op(&one, &got, MPI_INT64_T, to, bases[2 * to] + PART - 4, MPI_SUM, win) != MPI_SUCCESS)
        report("an element in two regions", "MPI_Fetch_and_op", "no datatype", "is refused");
    MPI_Win_unlock(to, win);
    if (got != expected) report("an element in two regions", "MPI_Fetch_and_op", "no datatype", "returns wrong data");
    MPI_Barrier(MPI_COMM_WORLD);
    set_memory(in_arena, in_heap, rank);
    memcpy(&expected, in_arena + PART - 4, 8);
    memcpy(&got, arena + PART - 4, 8);
    if (got != expected + 1)
        report("an element in two regions", "MPI_Fetch_and_op", "no datatype", "leaves wrong data");
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Regions of no bytes, alone and at the addresses of others. They change nothing for the others. */
static void attach_nothing(int times) {
    for (int i = 0; i < times; i++) {
        if (MPI_Win_attach(win, arena + 3 * PART, 0) != MPI_SUCCESS)
            report("0 bytes", "MPI_Win_attach", "itself", "is refused");
        if (MPI_Win_detach(win, arena + 3 * PART) != MPI_SUCCESS)
            report("0 bytes", "MPI_Win_detach", "itself", "is refused");
    }
    for (int i = 0; i < times; i++)
        if (MPI_Win_attach(win, arena + 5 * PART, 0) != MPI_SUCCESS)
            report("0 bytes", "MPI_Win_attach", "itself, several times", "is refused");
    for (int i = 0; i < times; i++)
        if (MPI_Win_detach(win, arena + 5 * PART) != MPI_SUCCESS)
            report("0 bytes", "MPI_Win_detach", "itself, several times", "is refused");
}

/* As many regions as the table of a window has room for; then one that cannot be attached, since the kernel owns those
 * addresses, for which the table has grown already; then one region less. The others see the rest, and no more. */
static void fail_to_attach(void) {
    enum { REGIONS = 8 };
    static _Alignas(64) char memory[REGIONS][PART];
    char *const nowhere = (char *)(uintptr_t) - ((uintptr_t)1 << 20);
    MPI_Aint at[REGIONS];
    const int to = (rank + 1) % n;
    MPI_Win other;
    for (int less = 0; less < REGIONS; less++) {
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &other);
        MPI_Win_set_errhandler(other, MPI_ERRORS_RETURN);
        for (int i = 0; i < REGIONS; i++) {
            memset(memory[i], 10 * rank + i, PART);
            MPI_Win_attach(other, memory[i], PART);
            MPI_Get_address(memory[i], &at[i]);
        }
        if (MPI_Win_attach(other, nowhere, 4096) == MPI_SUCCESS)
            report("memory of the kernel", "MPI_Win_attach", "its address", "is accepted");
        if (MPI_Win_detach(other, memory[less]) != MPI_SUCCESS)
            report("a region", "MPI_Win_detach", "after a failed MPI_Win_attach", "is refused");
        MPI_Sendrecv_replace(at, REGIONS, MPI_AINT, (rank + n - 1) % n, 0, to, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Win_lock(MPI_LOCK_SHARED, to, 0, other);
        for (int i = 0; i < REGIONS; i++) {
            char got = -1;
            const int code = MPI_Get(&got, 1, MPI_CHAR, to, at[i] + PART - 1, 1, MPI_CHAR, other);
            MPI_Win_flush(to, other);
            if (i == less ? class_of(code) != MPI_ERR_RMA_RANGE : got != (char)(10 * to + i))
                report("a region", "MPI_Get", "after a failed MPI_Win_attach", "does not get it, or it is detached");
        }
        MPI_Win_unlock(to, other);
        MPI_Win_free(&other);
    }
}

/* Memory of another process of the node, as MPI_Win_shared_query gives it: a window of MPI_Win_create over it, and
 * attached to a dynamic one. All processes put to both, and the owner of the memory finds it all there. */
static void memory_of_neighbour(void) {
    MPI_Comm node;
    MPI_Win memory, created, dynamic;
    MPI_Aint size, at, *places = malloc((size_t)n * sizeof *places);
    int here, of_node, unit;
    long *own, *there;
    CHECK(places);
    if (getenv("RMA_NODE_PES")) { /* nodes of which MPI does not know */
        const int per_node = atoi(getenv("RMA_NODE_PES"));
        MPI_Comm_split(MPI_COMM_WORLD, rank / per_node, rank, &node);
    } else {
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    }
    MPI_Comm_rank(node, &here);
    MPI_Comm_size(node, &of_node);
    MPI_Win_allocate_shared((MPI_Aint)(2 * (size_t)n * sizeof *own), sizeof *own, MPI_INFO_NULL, node, &own, &memory);
    for (int i = 0; i < 2 * n; i++) own[i] = -1;
    MPI_Win_shared_query(memory, (here + 1) % of_node, &size, &unit, &there);
    MPI_Win_create(there, size / 2, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &created);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
    CHECK(MPI_Win_attach(dynamic, there + n, size / 2) == MPI_SUCCESS);
    MPI_Get_address(there + n, &at);
    MPI_Allgather(&at, 1, MPI_AINT, places, 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_lock_all(0, created);
    MPI_Win_lock_all(0, dynamic);
    for (int to = 0; to < n; to++) {
        const long value = 100 * to + rank, one = 1;
        MPI_Put(&value, 1, MPI_LONG, to, rank, 1, MPI_LONG, created);
        MPI_Put(&value, 1, MPI_LONG, to, places[to] + rank * (MPI_Aint)sizeof value, 1, MPI_LONG, dynamic);
        MPI_Win_flush_all(created);
        MPI_Win_flush_all(dynamic);
        MPI_Accumulate(&one, 1, MPI_LONG, to, rank, 1, MPI_LONG, MPI_SUM, created);
        MPI_Win_flush(to, created);
    }
    MPI_Win_unlock_all(dynamic);
    MPI_Win_unlock_all(created);
    MPI_Barrier(MPI_COMM_WORLD);
    const int names_me = rank - here + (here + of_node - 1) % of_node; /* whose window my memory is */
    for (int from = 0; from < n; from++)
        CHECK(own[from] == 100 * names_me + from + 1 && own[n + from] == 100 * names_me + from);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_Win_detach(dynamic, there + n) == MPI_SUCCESS);
    MPI_Win_free(&dynamic);
    MPI_Win_free(&created);
    MPI_Win_free(&memory);
    MPI_Comm_free(&node);
    free(places);
}

int main(void) {
    const struct access border = {"a block in a region and a detached one", 1, {{0, PART - 8, 2}}};
    MPI_Aint own[2];
    begin();
    setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
    heap = malloc(2 * PART);
    bases = malloc(2 * (size_t)n * sizeof *bases);
    CHECK(heap && bases);
    MPI_Get_address(arena, &own[0]);
    MPI_Get_address(heap, &own[1]);
    MPI_Allgather(own, 2, MPI_AINT, bases, 2, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    attach_nothing(3);
    for (int i = 0; i < 4; i++) MPI_Win_attach(win, arena + attached[i], PART);
    MPI_Win_attach(win, heap, PART);
    attach_nothing(3);
    /* One region of 0 bytes at the address of another one. */
    if (MPI_Win_attach(win, arena + 4 * PART, 0) != MPI_SUCCESS)
        report("0 bytes", "MPI_Win_attach", "at another region", "is refused");
    try_all(good, sizeof good / sizeof *good, 1);
    try_words();
    try_border();
    /* MPICH trusts the program here, and writes. */
    if (on_librma()) try_all(bad, sizeof bad / sizeof *bad, 0);
    MPI_Win_detach(win, arena + PART);
    MPI_Barrier(MPI_COMM_WORLD);
    if (on_librma()) try_all(&border, 1, 0);
    try_all(&good[2], 5, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_attach(win, arena + PART, PART);
    MPI_Barrier(MPI_COMM_WORLD);
    try_all(&good[10], 1, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++)
        if (MPI_Win_detach(win, arena + 4 * PART) != MPI_SUCCESS)
            report("0 bytes", "MPI_Win_detach", "at another region", "is refused");
    if (on_librma() && MPI_Win_detach(win, arena + 4 * PART) == MPI_SUCCESS)
        report("memory that is not attached", "MPI_Win_detach", "its address", "is accepted");
    MPI_Win_free(&win);
    if (on_librma()) fail_to_attach(); /* MPICH attaches whatever it is told */
    memory_of_neighbour();
    free(heap);
    free(bases);
    CHECK(wrong == 0);
    return end();
}
