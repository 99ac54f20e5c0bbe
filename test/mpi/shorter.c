/* SPDX-License-Identifier: BSD-3-Clause */
/* Data that are shorter than the side that receives them, as in a message: they fill its beginning, and what lies
 * behind them stays as it was. Longer data are MPI_ERR_TRUNCATE, and write nothing. Broken by a call that refuses them,
 * by one that moves whole elements of the receiving side's type only, by one that reads or writes as much as the longer
 * side has, and by one that begins to write before it compares the lengths. */
#include "check.h"

#define ROOM  4096       /* bytes of the target's memory; of the origin's buffer */
#define PLACE 64         /* where the data begin there */
#define PART  (ROOM / 2) /* of a dynamic window: bytes of each of two regions that touch */
#define LINES 20         /* faults that are printed */

enum way { PUT, GET, RPUT, RGET, ADD, RADD, WAYS };
static const char *const way_names[WAYS] = {"MPI_Put",  "MPI_Get",        "MPI_Rput",
                                            "MPI_Rget", "MPI_Accumulate", "MPI_Raccumulate"};
static int gets(enum way way) { return way == GET || way == RGET; }
static int adds(enum way way) { return way == ADD || way == RADD; }

/* The types of a side; all have ints only. */
enum shape { INTS, ROWS, LIST, PAIRS, TRIPLES, GAPS, SHAPES };
static const char *const shape_names[SHAPES] = {"ints", "rows", "a list", "pairs", "triples", "ints with gaps"};
static MPI_Datatype types[SHAPES];
static int sizes[SHAPES]; /* ints of each */

static void make_types(void) {
    const int lengths[3] = {3, 1, 2}, places[3] = {9, 4, 0};
    MPI_Datatype two;
    types[INTS] = MPI_INT;
    MPI_Type_vector(4, 3, 5, MPI_INT, &types[ROWS]);
    MPI_Type_indexed(3, lengths, places, MPI_INT, &types[LIST]);
    MPI_Type_contiguous(2, MPI_INT, &types[PAIRS]);
    MPI_Type_contiguous(3, MPI_INT, &types[TRIPLES]);
    MPI_Type_contiguous(1, MPI_INT, &two);
    MPI_Type_create_resized(two, 0, 12, &types[GAPS]);
    MPI_Type_free(&two);
    for (int i = 0; i < SHAPES; i++) {
        if (i != INTS) MPI_Type_commit(&types[i]);
        MPI_Type_size(types[i], &sizes[i]);
        sizes[i] /= (int)sizeof(int);
    }
}

/* Where int i of a side of this shape is, in ints. */
static int place_of(enum shape shape, int i) {
    static const int in_list[6] = {9, 10, 11, 4, 0, 1};
    const int of = i / sizes[shape], k = i % sizes[shape];
    switch (shape) {
        case ROWS: return of * 18 + k / 3 * 5 + k % 3;
        case LIST: return of * 12 + in_list[k];
        case GAPS: return of * 3;
        default: return i;
    }
}

struct window {
    const char *name;
    MPI_Win win;
    char *memory;
    MPI_Aint at[16]; /* by rank: the displacement of PLACE */
};

static int wrong;

static void report(const struct window *w, enum way way, enum shape from, int n_from, enum shape to, int n_to, int rest,
                   const char *fault) {
    if (wrong++ < LINES)
        fprintf(stderr,
                "process %d of %d: %s, %s: origin %d of %s, target %d of %s, %d bytes before the second region: "
                "%s\n",
                rank, n, w->name, way_names[way], n_from, shape_names[from], n_to, shape_names[to], rest, fault);
}

static int call_of(const struct window *w, enum way way, void *buffer, enum shape from, int n_from, int to,
                   MPI_Aint disp, enum shape there, int n_there) {
    const MPI_Datatype o = types[from], t = types[there];
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_ERR_OTHER;
    switch (way) {
        case PUT: return MPI_Put(buffer, n_from, o, to, disp, n_there, t, w->win);
        case GET: return MPI_Get(buffer, n_from, o, to, disp, n_there, t, w->win);
        case ADD: return MPI_Accumulate(buffer, n_from, o, to, disp, n_there, t, MPI_SUM, w->win);
        case RPUT: code = MPI_Rput(buffer, n_from, o, to, disp, n_there, t, w->win, &request); break;
        case RGET: code = MPI_Rget(buffer, n_from, o, to, disp, n_there, t, w->win, &request); break;
        default: code = MPI_Raccumulate(buffer, n_from, o, to, disp, n_there, t, MPI_SUM, w->win, &request);
    }
    if (code == MPI_SUCCESS) MPI_Wait(&request, MPI_STATUS_IGNORE);
    return code;
}

/* One call. Both sides are compared with what they must contain. skip: bytes from PLACE to where the data begin. */
static void try_call(const struct window *w, enum way way, enum shape from, int n_from, enum shape there, int n_there,
                     int skip) {
    static _Alignas(8) char origin[ROOM], theirs[ROOM], before[ROOM], after[ROOM];
    const int to = (rank + 1) % n, sends = gets(way) ? n_there * sizes[there] : n_from * sizes[from];
    const int receives = gets(way) ? n_from * sizes[from] : n_there * sizes[there];
    /* An accumulate ends with an element of the target's type. */
    const int good = sends <= receives && (!adds(way) || sends % sizes[there] == 0);
    int code;
    if (!on_librma() && sends != receives) return; /* MPICH moves what the longer side has, or ends the job */
    for (int i = 0; i < ROOM; i++) before[i] = after[i] = (char)(i * 5 + 1), origin[i] = theirs[i] = (char)(i * 3 + 2);
    for (int i = 0; i < sends && good; i++) {
        const size_t o = PLACE + sizeof(int) * (size_t)place_of(from, i);
        const size_t t = (size_t)(PLACE + skip) + sizeof(int) * (size_t)place_of(there, i);
        unsigned x, y;
        memcpy(&x, origin + o, sizeof x);
        memcpy(&y, before + t, sizeof y);
        if (gets(way)) memcpy(theirs + o, &y, sizeof y);
        y = adds(way) ? x + y : x;
        if (!gets(way)) memcpy(after + t, &y, sizeof y);
    }
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, w->win);
    MPI_Put(before + PLACE, ROOM - PLACE, MPI_BYTE, to, w->at[to], ROOM - PLACE, MPI_BYTE, w->win);
    MPI_Win_flush(to, w->win);
    code = call_of(w, way, origin + PLACE, from, n_from, to, w->at[to] + skip, there, n_there);
    MPI_Win_flush(to, w->win);
    MPI_Get(before + PLACE, ROOM - PLACE, MPI_BYTE, to, w->at[to], ROOM - PLACE, MPI_BYTE, w->win);
    MPI_Win_unlock(to, w->win);
    if (good                             ? code != MPI_SUCCESS
        : sends > receives && !adds(way) ? class_of(code) != MPI_ERR_TRUNCATE
                                         : code == MPI_SUCCESS)
        report(w, way, from, n_from, there, n_there, skip, good ? "is refused" : "is not refused, or by another class");
    if (memcmp(before, after, ROOM) != 0)
        report(w, way, from, n_from, there, n_there, skip, "leaves wrong data in the window");
    if (memcmp(origin, theirs, ROOM) != 0)
        report(w, way, from, n_from, there, n_there, skip, "leaves wrong data in the buffer");
}

/* Elements on the two sides: shorter by one and by more, within an element of either type, none, equal, and longer. */
static const struct pair {
    enum shape from;
    int n_from;
    enum shape to;
    int n_to;
} sides[] = {
    {INTS, 1, INTS, 2},     {INTS, 5, INTS, 9},  {INTS, 2, INTS, 1},    {INTS, 0, INTS, 3},     {INTS, 3, INTS, 0},
    {INTS, 4, ROWS, 1},     {INTS, 13, ROWS, 2}, {INTS, 12, ROWS, 3},   {ROWS, 1, INTS, 5},     {ROWS, 1, INTS, 20},
    {ROWS, 2, ROWS, 3},     {ROWS, 2, ROWS, 1},  {INTS, 4, LIST, 1},    {INTS, 9, LIST, 2},     {LIST, 1, INTS, 8},
    {LIST, 2, INTS, 7},     {LIST, 3, ROWS, 2},  {LIST, 1, ROWS, 1},    {ROWS, 1, LIST, 3},     {LIST, 2, LIST, 5},
    {PAIRS, 1, TRIPLES, 1}, {INTS, 4, PAIRS, 3}, {INTS, 5, PAIRS, 3},   {TRIPLES, 1, PAIRS, 2}, {TRIPLES, 3, GAPS, 10},
    {GAPS, 4, GAPS, 7},     {GAPS, 4, PAIRS, 3}, {GAPS, 4, TRIPLES, 2}, {PAIRS, 2, GAPS, 5},    {INTS, 1, TRIPLES, 4},
    {INTS, 0, ROWS, 1},     {ROWS, 0, LIST, 2},  {INTS, 7, INTS, 7},    {INTS, 200, INTS, 300}, {LIST, 20, ROWS, 12},
};

static void try_all(const struct window *w, int skip) {
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
        for (int way = 0; way < WAYS; way++) {
            const struct pair *p = &sides[i];
            try_call(w, (enum way)way, p->from, p->n_from, p->to, p->n_to, skip);
            try_call(w, (enum way)way, p->to, p->n_to, p->from, p->n_from, skip);
        }
}

static void try_window(struct window *w, MPI_Aint place) {
    MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
    CHECK(n <= 16);
    MPI_Allgather(&place, 1, MPI_AINT, w->at, 1, MPI_AINT, MPI_COMM_WORLD);
    try_all(w, 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* What the target's memory contains besides the window's: nobody writes there. */
static int is_clean(const char *memory, size_t len, char what) {
    for (size_t i = 0; i < len; i++)
        if (memory[i] != what) return 0;
    return 1;
}

int main(void) {
    struct window w = {0};
    char *own;
    MPI_Aint place;
    begin();
    setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
    make_types();
    w.name = "MPI_Win_allocate";
    MPI_Win_allocate(ROOM, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w.memory, &w.win);
    try_window(&w, PLACE);
    MPI_Win_free(&w.win);

    w.name = "MPI_Win_create";
    own = malloc(3 * ROOM);
    CHECK(own);
    memset(own, 7, 3 * ROOM);
    MPI_Win_create(own + ROOM, ROOM, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w.win);
    try_window(&w, PLACE);
    MPI_Win_free(&w.win);
    CHECK(is_clean(own, ROOM, 7) && is_clean(own + 2 * ROOM, ROOM, 7));

    /* The data begin so far before the second region that an element, or a part of the list, lies across. */
    w.name = "a dynamic window";
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &w.win);
    MPI_Win_attach(w.win, own + ROOM, PART);
    MPI_Win_attach(w.win, own + ROOM + PART, PART);
    MPI_Get_address(own + ROOM + PLACE, &place);
    try_window(&w, place);
    try_all(&w, PART - PLACE - 6);
    try_all(&w, PART - PLACE - 16);
    try_all(&w, PART - PLACE - 44);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&w.win);
    CHECK(is_clean(own, ROOM, 7) && is_clean(own + 2 * ROOM, ROOM, 7));
    free(own);
    for (int i = 0; i < SHAPES; i++)
        if (i != INTS) MPI_Type_free(&types[i]);
    CHECK(wrong == 0);
    return end();
}
