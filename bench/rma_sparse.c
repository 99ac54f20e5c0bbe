/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_sparse.c: three programs on permutations and sparse matrices that are distributed over all PEs, after those of
 * Bale (irregular.h): in the plain way, by one-sided calls on single elements as they come; the same in a session; and
 * by exchanges of buckets, by which programs fill messages by hand.
 *
 * - permutation: darts are thrown into a table with two slots for each, and again if the slot is taken. The darts in
 *   the order of the table are a random permutation.
 * - transpose: count the entries of each column, and place each entry's row in its column.
 * - toposort: a permuted triangular matrix becomes triangular again. A row with one entry left takes the last free
 *   place, and the entry's column the same; then the column's entries in other rows are removed. Rows that have one
 *   entry left by this are for the next round. For this a row has the number of its entries, and the sum of their
 *   columns, which is the column when one is left. */
#include "matrix.h"

#include <stdlib.h>
#include <string.h>

#define ONE      ((uint64_t)1 << 48) /* an entry, in left_in */
#define ROWS_MAX (1L << 24)

struct program {
    const char *name;
    void (*reset)(void);
    void (*plain)(void);
    void (*exchange)(bool by_mpi);
    size_t (*wrong)(void); /* errors in this PE's part of the result */
};

static const struct program *program; /* being measured */
static long rows = 65536;             /* on each PE */
static struct matrix m;

/* Symmetric. */
static uint64_t *slots;                    /* 0, or a dart: an element plus 1 */
static uint32_t *elements;                 /* the permutation */
static uint32_t *cursor, *placed;          /* the transpose: as m.begin, each advancing to the next, and m.rows */
static uint64_t *left_in;                  /* by row: entries left, times ONE, plus the sum of their columns */
static uint32_t *queue;                    /* rows with one entry left, as they came, */
static uint64_t *tail;                     /* and how many */
static uint32_t *row_place, *column_place; /* the permutations that make the matrix triangular */

/* This PE's own: darts that it still has; results of operations under way, and their columns and rows. */
static uint64_t *darts, *fetched;
static uint32_t *found, *columns, (*extents)[2];
static uint64_t *all;   /* a number of each PE */
static uint32_t *whole; /* for checks: a permutation */

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

/* ---- permutation ---- */

static void permutation_reset(void) {
    memset(slots, 0, bench.size);
    memset(elements, 0xff, m.n * sizeof *elements);
    for (uint32_t i = 0; i < m.n; i++) darts[i] = matrix_global(i) + 1;
}

/* Moves the darts in own slots together; *before gets the place of the first one. */
static uint64_t collect(bool by_mpi, uint64_t *before) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < 2 * m.n; i++)
        if (slots[i]) slots[n++] = slots[i];
    sum(by_mpi, n, before);
    return n;
}

static void permutation_plain(void) {
    uint64_t before, n;
    for (uint64_t left = m.n, from, some; left > 0;) {
        some = at_once(left, (uint64_t)irregular.window);
        from = left -= some;
        for (uint64_t k = 0; k < some; k++) {
            struct irregular_access a = irregular_access(bench.pe, irregular.drawn++);
            BENCH_RMA(rma_atomic_compare_swap_nbi(fetched + k, slots + a.word, 0, darts[from + k], a.pe));
        }
        BENCH_RMA(rma_quiet());
        for (uint64_t k = 0; k < some; k++)
            if (fetched[k]) darts[left++] = darts[from + k];
    }
    BENCH_RMA(rma_sync_all());
    n = collect(false, &before);
    for (uint64_t k = 0; k < n; k++) {
        struct irregular_access a = matrix_home((uint32_t)(before + k));
        BENCH_RMA(rma_p(elements + a.word, (uint32_t)slots[k] - 1, a.pe));
    }
    BENCH_RMA(rma_barrier_all());
}

static void throw_dart(struct list *to, uint64_t dart) {
    struct irregular_access a = irregular_access(bench.pe, irregular.drawn++);
    push(to, a.pe, a.word << 32 | dart);
}

BENCH_INLINE void stick(uint64_t word) {
    uint64_t *slot = slots + (word >> 32), dart = (uint32_t)word;
    if (*slot)
        throw_dart(&later, dart);
    else
        *slot = dart;
}

static uint64_t first; /* place of this PE's first dart */

static struct irregular_access element_at(uint64_t k) {
    struct irregular_access a = matrix_home((uint32_t)(first + k));
    return (struct irregular_access){a.pe, a.word << 32 | (slots[k] - 1)};
}

BENCH_INLINE void set_element(uint64_t word) { elements[word >> 32] = (uint32_t)word; }

static void permutation_exchange(bool by_mpi) {
    uint64_t unused;
    pending.n = 0;
    for (uint32_t i = 0; i < m.n; i++) throw_dart(&pending, darts[i]);
    while (sum(by_mpi, pending.n, &unused) > 0) {
        struct list thrown = pending;
        later.n = 0;
        exchange(by_mpi, pending.n, pending_at, stick);
        pending = later, later = thrown;
    }
    exchange(by_mpi, collect(by_mpi, &first), element_at, set_element);
}

/* Gathers the parts of a permutation into `whole`. Counts the numbers that are no indices or not the first of their
 * kind: on PE 0, as all PEs know all of them. */
static size_t not_permuted(const uint32_t *part) {
    const int n = (int)m.n;
    size_t wrong = 0;
    char *seen = calloc(m.n_all, 1);
    if (!seen) bench_fail("calloc", MPI_ERR_NO_MEM);
    BENCH_MPI(MPI_Allgather(part, n, MPI_UINT32_T, whole, n, MPI_UINT32_T, MPI_COMM_WORLD));
    for (uint32_t i = 0; i < m.n_all; i++) wrong += whole[i] >= m.n_all || seen[whole[i]]++ != 0;
    free(seen);
    return bench.pe == 0 ? wrong : 0;
}

static size_t permutation_wrong(void) { return not_permuted(elements); }

/* ---- transpose ---- */

static void transpose_reset(void) {
    memset(cursor, 0, (m.n + 1) * sizeof *cursor);
    memset(placed, 0xff, m.begin[m.n] * sizeof *placed);
}

static void transpose_plain(void) {
    for (uint32_t i = 0; i < m.n_entries; i++) {
        struct irregular_access a = matrix_home(m.entries[i].column);
        BENCH_RMA(rma_atomic_add(cursor + a.word, 1, a.pe));
    }
    BENCH_RMA(rma_barrier_all());
    matrix_add_up(cursor, m.n);
    BENCH_RMA(rma_sync_all());
    for (uint32_t i = 0, some; i < m.n_entries; i += some) {
        const struct matrix_entry *e = m.entries + i;
        some = (uint32_t)at_once(m.n_entries - i, (uint64_t)irregular.window);
        for (uint32_t k = 0; k < some; k++) {
            struct irregular_access a = matrix_home(e[k].column);
            BENCH_RMA(rma_atomic_fetch_add_nbi(found + k, cursor + a.word, 1, a.pe));
        }
        BENCH_RMA(rma_quiet());
        for (uint32_t k = 0; k < some; k++) BENCH_RMA(rma_p(placed + found[k], e[k].row, matrix_home(e[k].column).pe));
    }
    BENCH_RMA(rma_barrier_all());
}

static struct irregular_access entry_at(uint64_t k) {
    struct irregular_access a = matrix_home(m.entries[k].column);
    return (struct irregular_access){a.pe, a.word << 32 | m.entries[k].row};
}

BENCH_INLINE void count(uint64_t word) { cursor[word >> 32]++; }

BENCH_INLINE void place(uint64_t word) { placed[cursor[word >> 32]++] = (uint32_t)word; }

static void transpose_exchange(bool by_mpi) {
    exchange(by_mpi, m.n_entries, entry_at, count);
    matrix_add_up(cursor, m.n);
    exchange(by_mpi, m.n_entries, entry_at, place);
}

static int ascending(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The rows of a column come in any order. */
static size_t transpose_wrong(void) {
    size_t wrong = 0;
    for (uint32_t c = 0; c < m.n; c++) {
        wrong += cursor[c] != m.begin[c + 1];
        qsort(placed + m.begin[c], m.begin[c + 1] - m.begin[c], sizeof *placed, ascending);
    }
    for (uint32_t i = 0; i < m.begin[m.n]; i++) wrong += placed[i] != m.rows[i];
    return wrong;
}

/* ---- toposort ---- */

static void toposort_reset(void) {
    memset(left_in, 0, m.n * sizeof *left_in);
    memset(row_place, 0xff, m.n * sizeof *row_place);
    memset(column_place, 0xff, m.n * sizeof *column_place);
    *tail = 0;
}

static void begin_queue(void) {
    for (uint32_t i = 0; i < m.n_entries; i++) left_in[matrix_home(m.entries[i].row).word] += ONE + m.entries[i].column;
    for (uint32_t i = 0; i < m.n; i++)
        if (left_in[i] / ONE == 1) queue[(*tail)++] = i;
}

/* Rows whose columns' entries are about a window. */
static uint64_t batch(void) { return (uint64_t)irregular.window / (MATRIX_DRAWN / 2 + 1) + 1; }

/* Gives some rows the places from `last` downwards, and removes their columns. */
static void remove_columns(const uint32_t *row, uint64_t some, uint32_t last) {
    uint64_t n = 0, ready = 0;
    for (uint64_t k = 0; k < some; k++) {
        columns[k] = (uint32_t)(left_in[row[k]] % ONE);
        struct irregular_access a = matrix_home(columns[k]);
        row_place[row[k]] = last - (uint32_t)k;
        BENCH_RMA(rma_p(column_place + a.word, last - (uint32_t)k, a.pe));
        BENCH_RMA(rma_get_nbi(extents[k], m.begin + a.word, sizeof *extents, a.pe));
    }
    BENCH_RMA(rma_quiet());
    for (uint64_t k = 0; k < some; k++) {
        const uint32_t length = extents[k][1] - extents[k][0];
        BENCH_RMA(rma_get_nbi(found + n, m.rows + extents[k][0], length * sizeof *found, matrix_home(columns[k]).pe));
        n += length;
    }
    BENCH_RMA(rma_quiet());
    for (uint64_t k = 0, i = 0; k < some; k++)
        for (uint64_t end = i + extents[k][1] - extents[k][0]; i < end; i++) {
            struct irregular_access a = matrix_home(found[i]);
            BENCH_RMA(rma_atomic_fetch_add_nbi(fetched + i, left_in + a.word, -(ONE + columns[k]), a.pe));
        }
    BENCH_RMA(rma_quiet());
    for (uint64_t i = 0; i < n; i++)
        if (fetched[i] / ONE == 2) found[ready++] = found[i];
    for (uint64_t i = 0; i < ready; i++)
        BENCH_RMA(rma_atomic_fetch_add_nbi(fetched + i, tail, 1, matrix_home(found[i]).pe));
    BENCH_RMA(rma_quiet());
    for (uint64_t i = 0; i < ready; i++) {
        struct irregular_access a = matrix_home(found[i]);
        BENCH_RMA(rma_p(queue + fetched[i], (uint32_t)a.word, a.pe));
    }
}

static void toposort_plain(void) {
    uint64_t head = 0, end, free_places = m.n_all, before, n;
    begin_queue();
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

static uint64_t next_row, next_place; /* of a round: the first row's index in the queue, and its place */

static struct irregular_access row_at(uint64_t k) {
    const uint32_t row = queue[next_row + k];
    struct irregular_access a = matrix_home((uint32_t)(left_in[row] % ONE));
    row_place[row] = (uint32_t)(next_place - k);
    return (struct irregular_access){a.pe, a.word << 32 | row_place[row]};
}

BENCH_INLINE void remove_column(uint64_t word) {
    const uint64_t column = word >> 32;
    column_place[column] = (uint32_t)word;
    for (uint32_t i = m.begin[column]; i < m.begin[column + 1]; i++) {
        struct irregular_access a = matrix_home(m.rows[i]);
        push(&pending, a.pe, a.word << 32 | matrix_global(column));
    }
}

BENCH_INLINE void remove_entry(uint64_t word) {
    const uint64_t row = word >> 32, left = left_in[row] -= ONE + (uint32_t)word;
    if (left / ONE == 1) queue[(*tail)++] = (uint32_t)row;
}

static void toposort_exchange(bool by_mpi) {
    uint64_t end, free_places = m.n_all, before, n;
    begin_queue();
    for (next_row = 0; end = *tail, (n = sum(by_mpi, end - next_row, &before)) > 0; free_places -= n) {
        next_place = free_places - before - 1;
        pending.n = 0;
        exchange(by_mpi, end - next_row, row_at, remove_column);
        next_row = end;
        exchange(by_mpi, pending.n, pending_at, remove_entry);
    }
}

/* Both are permutations; by them no entry is below the diagonal, and one of each row is on it. */
static size_t toposort_wrong(void) {
    size_t on_diagonal = 0, wrong = not_permuted(row_place);
    wrong += not_permuted(column_place);
    for (uint32_t i = 0; i < m.n_entries; i++) {
        struct irregular_access r = matrix_home(m.entries[i].row), c = matrix_home(m.entries[i].column);
        const uint32_t row = row_place[r.word], column = whole[(size_t)c.pe * m.n + c.word];
        wrong += column < row;
        on_diagonal += column == row;
    }
    return wrong + (on_diagonal != m.n);
}

/* ---- the frame ---- */

static void open_arrays(void) {
    const size_t n = (size_t)rows, half = sizeof(uint32_t);
    matrix_make(&m, (uint32_t)rows);
    bench.size = 2 * n * sizeof *slots; /* irregular_access draws slots */
    slots = matrix_block(bench.size);
    darts = matrix_block(n * sizeof *darts);
    elements = matrix_block(n * half);
    cursor = matrix_block((n + 1) * half);
    placed = matrix_block((size_t)bench_agree((int)m.begin[n]) * half);
    left_in = matrix_block(n * sizeof *left_in);
    queue = matrix_block(n * half);
    tail = matrix_block(sizeof *tail);
    row_place = matrix_block(n * half);
    column_place = matrix_block(n * half);
    all = matrix_block((size_t)bench.n_pes * sizeof *all);
    whole = matrix_block(m.n_all * half);
    const size_t in_columns = batch() * (m.longest > MATRIX_DRAWN ? m.longest : MATRIX_DRAWN); /* more than a window */
    columns = matrix_block(batch() * half);
    extents = matrix_block(batch() * sizeof *extents);
    found = matrix_block(in_columns * half);
    fetched = matrix_block(in_columns * sizeof *fetched);
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

static size_t check(const struct bench_method *method) {
    bench_sync();
    method->run(1);
    bench_sync();
    return program->wrong();
}

int main(int argc, char **argv) {
    static const struct bench_option options[] = {
        {"rows", 'n', BENCH_COUNT, &rows, 1, ROWS_MAX, "N", "rows, columns and elements on each PE [65536]"},
        {"window", 'w', BENCH_COUNT, &irregular.window, 1, ROWS_MAX, "N",
         "operations that a PE begins before it completes them [16384]"},
        {"bucket", 'b', BENCH_COUNT, &irregular.bucket, 1, 1L << 20, "N",
         "words of a bucket of the exchange: with its head a block of the alltoall [511]"},
        {0},
    };
    static const struct bench_spec spec = {
        .title = "permutations and sparse matrices",
        .note = "all PEs",
        .help = "Programs in which all PEs at once access words that are spread over all PEs:\n"
                "  Rate (M/s)      atomics, puts and gets of single words, about -w of them under way on each PE\n"
                "  session (M/s)   the same, in a session of RMA_CTX_DEFAULT (rma_ctx_session_start)\n"
                "  exchange (M/s)  requests put into a bucket for each PE, rma_alltoall when one is full\n"
                "  MPI exch (M/s)  the same, by MPI_Alltoall\n"
                "permutation: 10^6 elements per second of a random permutation, all PEs together. transpose, and "
                "toposort, which\n"
                "makes a permuted triangular matrix triangular again: 10^6 entries of a matrix that has 9 in a row on "
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
    if (rows > INT32_MAX / (MATRIX_DRAWN + 1) / bench.n_pes)
        bench_refuse(2, "option --rows: %ld rows on each of %d PEs are too many", rows, bench.n_pes);
    irregular_open_buckets();
    open_arrays();
    uint64_t before, entries = sum(false, m.n_entries, &before);
    for (program = programs; program < programs + 3; program++) {
        bench.streams = program == programs ? m.n_all : (long)entries;
        bench_row(program->name, methods, N_METHODS, ratios, 2);
    }
    free(pending.of);
    free(later.of);
    matrix_free_blocks();
    irregular_close_buckets();
    return bench_finish();
}
