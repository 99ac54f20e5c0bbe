/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_sparse.c: three programs on permutations and sparse matrices that are distributed over all PEs, after those of
 * Bale (irregular.h): each in the plain way, by one-sided calls on single elements as they come, the same in a session,
 * and by exchanges of buckets, by which programs fill messages by hand.
 *
 * - permutation: darts are thrown into a table with two slots for each, and again if the slot is taken. The darts in
 *   the order of the table are a random permutation.
 * - transpose: count each column's entries, and place the row of each entry in its column.
 * - toposort: a unit upper triangular matrix whose rows and columns have been permuted becomes triangular again. A row
 *   with one entry left takes the last free place, with the entry's column, whose other entries are then removed; rows
 *   that have one entry left by this are for the next round. For this each row has the number of its entries, and the
 *   sum of their columns, which is the column when one is left.
 *
 * Row, column and element i are on PE i % n_pes. The matrix is a function of its size, so a check knows it. */
#include "irregular.h"

#include <stdlib.h>
#include <string.h>

#define DRAWN    16 /* entries drawn for each row, of which those above the diagonal count: half of them on average */
#define ONE      ((uint64_t)1 << 48) /* an entry, in `left_in` */
#define ROWS_MAX (1L << 24)
#define NOTHING  UINT32_MAX

struct program {
    const char *name;
    void (*reset)(void);
    void (*plain)(void);
    void (*exchange)(bool by_mpi);
    size_t (*wrong)(void); /* errors in this PE's part of the result */
};

static const struct program *program; /* being measured */
static long rows = 65536;             /* on each PE */
static uint32_t n_all, mask;          /* rows of all PEs, and a power of two minus 1 that is not less */
static uint32_t *whole;               /* for checks: n_all numbers */
static uint64_t *all;                 /* a number of each PE */

/* This PE's entries, and the longest column of all PEs. */
static struct entry { uint32_t row, column; } * entries;
static uint32_t n_entries, longest;

/* Symmetric, all of them. Of each column the places of its entries in rows_of, column after column, and the end of the
 * last. */
static uint32_t *begin, *rows_of;
static uint32_t *cursor, *placed;          /* as begin, advancing, and rows_of: the transpose that is made */
static uint64_t *slots;                    /* 0, or a dart: an element plus 1 */
static uint32_t *elements;                 /* the permutation */
static uint64_t *left_in;                  /* of each row: entries left, times ONE, plus the sum of their columns */
static uint32_t *queue;                    /* rows with one entry left, as they came */
static uint64_t *tail;                     /* so many */
static uint32_t *row_place, *column_place; /* the permutations that make the matrix triangular */

/* Of operations under way: results, columns and rows. Darts that this PE still has. */
static uint64_t *fetched, *darts;
static uint32_t *columns, *found, (*extents)[2];

static void *blocks[24];
static int n_blocks;

static void *block(size_t size) { return blocks[n_blocks++] = bench_symmetric(64, size); }

/* Requests that wait for an exchange. */
static struct list {
    struct irregular_access *of;
    size_t n, room;
} pending, later;

static void push(struct list *to, int pe, uint64_t word) {
    if (to->n == to->room) {
        to->room = 2 * to->room + 1024;
        to->of = realloc(to->of, to->room * sizeof *to->of);
        if (!to->of) bench_fail("realloc", MPI_ERR_NO_MEM);
    }
    to->of[to->n++] = (struct irregular_access){pe, word};
}

static struct irregular_access pending_at(uint64_t k) { return pending.of[k]; }

BENCH_INLINE struct irregular_access home(uint32_t i) {
    const uint32_t n_pes = (uint32_t)bench.n_pes;
    return (struct irregular_access){.pe = (int)(i % n_pes), .word = i / n_pes};
}

BENCH_INLINE uint32_t global(uint64_t local) { return (uint32_t)local * (uint32_t)bench.n_pes + (uint32_t)bench.pe; }

static uint64_t at_once(uint64_t left, uint64_t most) { return left < most ? left : most; }

/* The sum of all PEs' numbers; *before gets that of the PEs before this one. Collective. */
static uint64_t sum(bool by_mpi, uint64_t mine, uint64_t *before) {
    uint64_t total = 0;
    if (by_mpi)
        BENCH_MPI(MPI_Allgather(&mine, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, MPI_COMM_WORLD));
    else
        BENCH_RMA(rma_fcollect(RMA_TEAM_WORLD, all, &mine, sizeof mine));
    for (int pe = 0; pe < bench.n_pes; pe++) {
        if (pe == bench.pe) *before = total;
        total += all[pe];
    }
    return total;
}

/* n requests of this PE, by exchanges of buckets; their targets execute `once`. */
BENCH_INLINE void exchange(bool by_mpi, uint64_t n, struct irregular_access (*access)(uint64_t k),
                           void (*once)(uint64_t word)) {
    irregular_rounds(n, by_mpi, access, irregular_asks_nothing, irregular_each, once);
}

/* Makes the counts of own columns their first places. */
static void add_up(uint32_t *counts) {
    for (uint32_t i = 0, at = 0; i <= (uint32_t)rows; i++) {
        uint32_t so_many = counts[i];
        counts[i] = at;
        at += so_many;
    }
}

/* ---- permutation ---- */

static void permutation_reset(void) {
    memset(slots, 0, bench.size);
    memset(elements, 0xff, (size_t)rows * sizeof *elements);
    for (uint64_t i = 0; i < (uint64_t)rows; i++) darts[i] = global(i) + 1;
}

/* Moves the darts in own slots together; *before gets the place of the first one. */
static uint64_t collect(bool by_mpi, uint64_t *before) {
    uint64_t n = 0;
    for (size_t i = 0; i < 2 * (size_t)rows; i++)
        if (slots[i]) slots[n++] = slots[i];
    sum(by_mpi, n, before);
    return n;
}

static void permutation_plain(void) {
    uint64_t before, n;
    for (uint64_t left = (uint64_t)rows, some; left > 0;) {
        some = at_once(left, (uint64_t)irregular.window);
        left -= some;
        for (uint64_t k = 0; k < some; k++) {
            struct irregular_access a = irregular_access(bench.pe, irregular.drawn++);
            BENCH_RMA(rma_atomic_compare_swap_nbi(fetched + k, slots + a.word, 0, darts[left + k], a.pe));
        }
        BENCH_RMA(rma_quiet());
        for (uint64_t k = 0, from = left; k < some; k++)
            if (fetched[k]) darts[left++] = darts[from + k];
    }
    BENCH_RMA(rma_sync_all());
    n = collect(false, &before);
    for (uint64_t k = 0; k < n; k++) {
        struct irregular_access a = home((uint32_t)(before + k));
        BENCH_RMA(rma_p(elements + a.word, (uint32_t)slots[k] - 1, a.pe));
    }
    BENCH_RMA(rma_barrier_all());
}

/* A dart for a slot, or for any. */

static void throw(struct list * to, uint64_t dart) {
    struct irregular_access a = irregular_access(bench.pe, irregular.drawn++);
    push(to, a.pe, a.word << 32 | dart);
}

BENCH_INLINE void stick(uint64_t word) {
    uint64_t *slot = slots + (word >> 32), dart = (uint32_t)word;
    if (*slot)
        throw(&later, dart);
    else
        *slot = dart;
}

static uint64_t first; /* place of this PE's first dart */

static struct irregular_access element_at(uint64_t k) {
    struct irregular_access a = home((uint32_t)(first + k));
    return (struct irregular_access){a.pe, a.word << 32 | (slots[k] - 1)};
}

BENCH_INLINE void set_element(uint64_t word) { elements[word >> 32] = (uint32_t)word; }

static void permutation_exchange(bool by_mpi) {
    uint64_t unused;
    pending.n = 0;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) throw(&pending, darts[i]);
    while (sum(by_mpi, pending.n, &unused) > 0) {
        later.n = 0;
        exchange(by_mpi, pending.n, pending_at, stick);
        struct list empty = pending;
        pending = later, later = empty;
    }
    exchange(by_mpi, collect(by_mpi, &first), element_at, set_element);
}

/* Gathers the parts of a permutation, and counts the numbers that are no indices, or not the first of their kind. Each
 * PE knows them all: PE 0 counts. */
static size_t permutation_wrong_in(const uint32_t *part) {
    char *seen = calloc(n_all, 1);
    size_t wrong = 0;
    if (!seen) bench_fail("calloc", MPI_ERR_NO_MEM);
    BENCH_MPI(MPI_Allgather(part, (int)rows, MPI_UINT32_T, whole, (int)rows, MPI_UINT32_T, MPI_COMM_WORLD));
    for (uint32_t i = 0; i < n_all; i++) wrong += whole[i] >= n_all || seen[whole[i]]++ != 0;
    free(seen);
    return bench.pe == 0 ? wrong : 0;
}

static size_t permutation_wrong(void) { return permutation_wrong_in(elements); }

/* ---- transpose ---- */

static void transpose_reset(void) {
    memset(cursor, 0, ((size_t)rows + 1) * sizeof *cursor);
    memset(placed, 0xff, begin[rows] * sizeof *placed);
}

static void transpose_plain(void) {
    for (uint32_t i = 0; i < n_entries; i++) {
        struct irregular_access a = home(entries[i].column);
        BENCH_RMA(rma_atomic_add(cursor + a.word, 1, a.pe));
    }
    BENCH_RMA(rma_barrier_all());
    add_up(cursor);
    BENCH_RMA(rma_sync_all());
    for (uint32_t i = 0, some; i < n_entries; i += some) {
        some = (uint32_t)at_once(n_entries - i, (uint64_t)irregular.window);
        for (uint32_t k = 0; k < some; k++) {
            struct irregular_access a = home(entries[i + k].column);
            BENCH_RMA(rma_atomic_fetch_add_nbi(found + k, cursor + a.word, 1, a.pe));
        }
        BENCH_RMA(rma_quiet());
        for (uint32_t k = 0; k < some; k++)
            BENCH_RMA(rma_p(placed + found[k], entries[i + k].row, home(entries[i + k].column).pe));
    }
    BENCH_RMA(rma_barrier_all());
}

static struct irregular_access column_at(uint64_t k) { return home(entries[k].column); }

static struct irregular_access entry_at(uint64_t k) {
    struct irregular_access a = home(entries[k].column);
    return (struct irregular_access){a.pe, a.word << 32 | entries[k].row};
}

BENCH_INLINE void count(uint64_t word) { cursor[word]++; }

BENCH_INLINE void place(uint64_t word) { placed[cursor[word >> 32]++] = (uint32_t)word; }

static void transpose_exchange(bool by_mpi) {
    exchange(by_mpi, n_entries, column_at, count);
    add_up(cursor);
    exchange(by_mpi, n_entries, entry_at, place);
}

static int ascending(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* A column's rows, which come in any order, are those of rows_of, which ascend. */
static size_t transpose_wrong(void) {
    size_t wrong = 0;
    for (long c = 0; c < rows; c++) {
        wrong += cursor[c] != begin[c + 1];
        qsort(placed + begin[c], begin[c + 1] - begin[c], sizeof *placed, ascending);
    }
    for (uint32_t i = 0; i < begin[rows]; i++) wrong += placed[i] != rows_of[i];
    return wrong;
}

/* ---- toposort ---- */

static void toposort_reset(void) {
    memset(left_in, 0, (size_t)rows * sizeof *left_in);
    memset(row_place, 0xff, (size_t)rows * sizeof *row_place);
    memset(column_place, 0xff, (size_t)rows * sizeof *column_place);
    *tail = 0;
}

static void enqueue_first(void) {
    for (uint32_t i = 0; i < n_entries; i++) left_in[home(entries[i].row).word] += ONE + entries[i].column;
    for (uint64_t i = 0; i < (uint64_t)rows; i++)
        if (left_in[i] / ONE == 1) queue[(*tail)++] = (uint32_t)i;
}

/* Gives `some` rows of the queue the places downwards from `last`, and removes their columns' entries. */
static void remove_columns(const uint32_t *of, uint64_t some, uint32_t last) {
    uint64_t n = 0, few = 0;
    for (uint64_t k = 0; k < some; k++) {
        columns[k] = (uint32_t)(left_in[of[k]] % ONE);
        struct irregular_access a = home(columns[k]);
        row_place[of[k]] = last - (uint32_t)k;
        BENCH_RMA(rma_p(column_place + a.word, last - (uint32_t)k, a.pe));
        BENCH_RMA(rma_get_nbi(extents[k], begin + a.word, sizeof *extents, a.pe));
    }
    BENCH_RMA(rma_quiet());
    for (uint64_t k = 0; k < some; k++) {
        uint32_t length = extents[k][1] - extents[k][0];
        BENCH_RMA(rma_get_nbi(found + n, rows_of + extents[k][0], length * sizeof *found, home(columns[k]).pe));
        n += length;
    }
    BENCH_RMA(rma_quiet());
    for (uint64_t k = 0, i = 0; k < some; k++)
        for (uint32_t end = extents[k][1] - extents[k][0]; end > 0; end--, i++) {
            struct irregular_access a = home(found[i]);
            BENCH_RMA(rma_atomic_fetch_add_nbi(fetched + i, left_in + a.word, -(ONE + columns[k]), a.pe));
        }
    BENCH_RMA(rma_quiet());
    for (uint64_t i = 0; i < n; i++)
        if (fetched[i] / ONE == 2) found[few++] = found[i];
    for (uint64_t i = 0; i < few; i++) BENCH_RMA(rma_atomic_fetch_add_nbi(fetched + i, tail, 1, home(found[i]).pe));
    BENCH_RMA(rma_quiet());
    for (uint64_t i = 0; i < few; i++) {
        struct irregular_access a = home(found[i]);
        BENCH_RMA(rma_p(queue + fetched[i], (uint32_t)a.word, a.pe));
    }
}

/* Rows whose columns' entries are about a window. */
static uint64_t batch(void) { return (uint64_t)irregular.window / (DRAWN / 2 + 1) + 1; }

static void toposort_plain(void) {
    uint64_t head = 0, free_places = n_all, before, end, n;
    enqueue_first();
    BENCH_RMA(rma_sync_all());
    while (end = *tail, (n = sum(false, end - head, &before)) > 0) {
        uint32_t last = (uint32_t)(free_places - before - 1);
        for (uint64_t some; head < end; head += some, last -= (uint32_t)some) {
            some = at_once(end - head, batch());
            remove_columns(queue + head, some, last);
        }
        BENCH_RMA(rma_barrier_all());
        free_places -= n;
    }
}

static uint64_t next_place; /* of the first row in the queue */
static uint64_t queue_head;

static struct irregular_access row_at(uint64_t k) {
    const uint32_t row = queue[queue_head + k];
    struct irregular_access a = home((uint32_t)(left_in[row] % ONE));
    row_place[row] = (uint32_t)(next_place - k);
    return (struct irregular_access){a.pe, a.word << 32 | row_place[row]};
}

BENCH_INLINE void remove_column(uint64_t word) {
    const uint64_t column = word >> 32;
    column_place[column] = (uint32_t)word;
    for (uint32_t i = begin[column]; i < begin[column + 1]; i++) {
        struct irregular_access a = home(rows_of[i]);
        push(&pending, a.pe, a.word << 32 | global(column));
    }
}

BENCH_INLINE void remove_entry(uint64_t word) {
    uint64_t row = word >> 32, left = left_in[row] -= ONE + (uint32_t)word;
    if (left / ONE == 1) queue[(*tail)++] = (uint32_t)row;
}

static void toposort_exchange(bool by_mpi) {
    uint64_t free_places = n_all, before, end, n;
    enqueue_first();
    for (queue_head = 0; end = *tail, (n = sum(by_mpi, end - queue_head, &before)) > 0; free_places -= n) {
        next_place = free_places - before - 1;
        pending.n = 0;
        exchange(by_mpi, end - queue_head, row_at, remove_column);
        queue_head = end;
        exchange(by_mpi, pending.n, pending_at, remove_entry);
    }
}

/* Two permutations, by which no entry is below the diagonal, and one of each row is on it. */
static size_t toposort_wrong(void) {
    size_t wrong = permutation_wrong_in(row_place), on = 0;
    wrong += permutation_wrong_in(column_place);
    for (uint32_t i = 0; i < n_entries; i++) {
        struct irregular_access r = home(entries[i].row), c = home(entries[i].column);
        uint32_t row = row_place[r.word], column = whole[(size_t)c.pe * (size_t)rows + c.word];
        wrong += column < row;
        on += column == row;
    }
    return wrong + (on != (size_t)rows);
}

/* ---- the matrix ---- */

/* A random permutation of 0 .. n_all - 1, for each odd number another one: a bijection of 0 .. mask, until the number
 * is small enough. */
static uint32_t shuffled(uint32_t i, uint32_t odd) {
    const int half = __builtin_popcount(mask) / 2 + 1;
    do {
        for (int k = 0; k < 3; k++) {
            i = (i * odd + odd / 2) & mask;
            i ^= i >> half;
        }
    } while (i >= n_all);
    return i;
}

/* The columns of a row's entries: returns so many. */
static int columns_of(uint32_t row, uint32_t to[DRAWN + 1]) {
    const uint32_t upper = shuffled(row, 0x9e3779b1); /* the row in the triangular matrix */
    int n = 1;
    to[0] = shuffled(upper, 0x85ebca77);
    for (int k = 0; k < DRAWN; k++) {
        const uint64_t x = irregular_random(bench.n_pes, (uint64_t)upper * DRAWN + (uint64_t)k);
        const uint32_t right = (uint32_t)((x >> 32) * n_all >> 32);
        int i = 0;
        to[n] = shuffled(right, 0x85ebca77);
        while (to[i] != to[n]) i++;
        n += right > upper && i == n;
    }
    return n;
}

static void make_matrix(void) {
    uint32_t to[DRAWN + 1], most = 0;
    for (int pass = 0; pass < 2; pass++) { /* count, and write */
        n_entries = 0;
        for (uint32_t row = 0; row < n_all; row++)
            for (int i = columns_of(row, to) - 1; i >= 0; i--) {
                struct irregular_access r = home(row), c = home(to[i]);
                if (c.pe == bench.pe && pass == 0) begin[c.word]++;
                if (c.pe == bench.pe && pass == 1) rows_of[cursor[c.word]++] = row;
                if (r.pe == bench.pe && pass == 1) entries[n_entries] = (struct entry){row, to[i]};
                n_entries += r.pe == bench.pe;
            }
        if (pass == 1) break;
        for (long c = 0; c < rows; c++)
            if (begin[c] > most) most = begin[c];
        add_up(begin);
        longest = (uint32_t)bench_agree((int)most);
        entries = block((size_t)bench_agree((int)n_entries) * sizeof *entries);
        rows_of = block((size_t)bench_agree((int)begin[rows]) * sizeof *rows_of);
        placed = block((size_t)bench_agree((int)begin[rows]) * sizeof *placed);
        memcpy(cursor, begin, (size_t)rows * sizeof *cursor);
    }
}

static void open_arrays(void) {
    const size_t n = (size_t)rows, each = sizeof(uint32_t);
    n_all = (uint32_t)rows * (uint32_t)bench.n_pes;
    while (mask < n_all - 1) mask = 2 * mask + 1;
    bench.size = 2 * n * sizeof *slots;
    begin = block((n + 1) * each);
    cursor = block((n + 1) * each);
    elements = block(n * each);
    queue = block(n * each);
    row_place = block(n * each);
    column_place = block(n * each);
    whole = block(n_all * each);
    slots = block(bench.size);
    darts = block(n * sizeof *darts);
    left_in = block(n * sizeof *left_in);
    all = block((size_t)bench.n_pes * sizeof *all);
    tail = block(sizeof *tail);
    make_matrix();
    const size_t columns_at_once = batch(), results = columns_at_once * (longest > DRAWN ? longest : DRAWN);
    columns = block(columns_at_once * each);
    extents = block(columns_at_once * sizeof *extents);
    found = block(results * each);
    fetched = block(results * sizeof *fetched);
}

static double run(long n, bool in_session, bool exchanges, bool by_mpi) {
    double time = 0;
    for (; n > 0; n--) {
        program->reset();
        if (by_mpi)
            bench_sync_mpi();
        else
            irregular_meet();
        double start = rma_wtime();
        if (in_session) BENCH_RMA(rma_ctx_session_start(RMA_CTX_DEFAULT, RMA_CTX_SESSION_BATCH));
        if (exchanges)
            program->exchange(by_mpi);
        else
            program->plain();
        if (in_session) BENCH_RMA(rma_ctx_session_stop(RMA_CTX_DEFAULT));
        time += rma_wtime() - start;
    }
    return time;
}

static double run_plain(long n) { return run(n, false, false, false); }

static double run_session(long n) { return run(n, true, false, false); }

static double run_exchange(long n) { return run(n, false, true, false); }

static double run_mpi_exchange(long n) { return run(n, false, true, true); }

static size_t check(const struct bench_method *m) {
    bench_sync();
    m->run(1);
    bench_sync();
    return program->wrong();
}

int main(int argc, char **argv) {
    static const struct bench_option options[] = {
        {"rows", 'n', BENCH_COUNT, &rows, 1, ROWS_MAX, "N", "rows, columns and elements on each PE [65536]"},
        {"window", 'w', BENCH_COUNT, &irregular.window, 1, ROWS_MAX, "N",
         "accesses that a PE begins before it completes them [16384]"},
        {"bucket", 'b', BENCH_COUNT, &irregular.bucket, 1, 1L << 20, "N",
         "words of a bucket of the exchange: with its head a block of the alltoall [511]"},
        {0},
    };
    static const struct bench_spec spec = {
        .title = "permutations and sparse matrices",
        .note = "all PEs",
        .help = "Programs in which all PEs access single words that are spread over all PEs:\n"
                "  Rate (M/s)      atomics, puts and gets on other PEs, up to -w of them under way on each\n"
                "  session (M/s)   the same, in a session of RMA_CTX_DEFAULT (rma_ctx_session_start)\n"
                "  exchange (M/s)  requests put into a bucket for each PE, rma_alltoall when one is full\n"
                "  MPI exch (M/s)  the same, by MPI_Alltoall\n"
                "permutation: 10^6 elements per second of a random permutation, all PEs together. transpose, and "
                "toposort, which makes a\n"
                "permuted triangular matrix triangular again: 10^6 entries of the matrix, whose rows have 9 on "
                "average.",
        .options = options,
        .rows = "Program",
        .value = BENCH_RATE,
        .budget = 20e-3,
    };
    static const struct program programs[] = {
        {"permutation", permutation_reset, permutation_plain, permutation_exchange, permutation_wrong},
        {"transpose", transpose_reset, transpose_plain, transpose_exchange, transpose_wrong},
        {"toposort", toposort_reset, toposort_plain, toposort_exchange, toposort_wrong},
    };
    enum { PLAIN, SESSION, EXCHANGE, MPI_EXCHANGE, N_METHODS };
    static const struct bench_method methods[N_METHODS] = {
        [PLAIN] = {.name = "Rate (M/s)", .run = run_plain, .check = check},
        [SESSION] = {.name = "session (M/s)", .run = run_session, .check = check},
        [EXCHANGE] = {.name = "exchange (M/s)", .run = run_exchange, .check = check},
        [MPI_EXCHANGE] = {.name = "MPI exch (M/s)", .run = run_mpi_exchange, .check = check, .mpi = true},
    };
    static const struct bench_ratio ratios[] = {
        {"session/rma", SESSION, {PLAIN, -1}},
        {"session/exch", SESSION, {EXCHANGE, MPI_EXCHANGE}},
    };

    bench_init(argc, argv, &spec);
    if (rows > INT32_MAX / (DRAWN + 1) / bench.n_pes)
        bench_refuse(2, "option --rows: %ld rows on each of %d PEs are too many", rows, bench.n_pes);
    irregular_open_buckets();
    open_arrays();
    uint64_t before, n = sum(false, n_entries, &before);
    for (int i = 0; i < 3; i++) {
        program = &programs[i];
        bench.window = 1; /* and so many streams: not each PE has as many entries */
        bench.streams = i == 0 ? (long)n_all : (long)n;
        bench_row(program->name, methods, N_METHODS, ratios, 2);
    }
    while (n_blocks > 0) BENCH_RMA(rma_free(blocks[--n_blocks]));
    free(pending.of);
    free(later.of);
    irregular_close_buckets();
    return bench_finish();
}
