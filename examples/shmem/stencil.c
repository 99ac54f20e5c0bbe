/* SPDX-License-Identifier: BSD-3-Clause */
/* stencil: heat spreads over a plate that is cut into one block for each PE (OpenSHMEM 1.4 and later).
 *
 *     oshrun -n 4 ./stencil [--width=N] [--height=N] [--steps=N]
 *
 * In each step every cell becomes the mean of its four neighbours (Jacobi's iteration); the plate's left rim is hot,
 * the others are cold, and all cells begin with different temperatures, so that a mix-up is noticed. Blocks form a grid
 * as square as the number of PEs allows, and need not have equal sizes. A block has a halo: a row or column on each
 * side, into which the neighbour there puts a copy of its rim after each step.
 *
 * There is no barrier in a step. A put of a rim comes with a signal that has the step's number (shmem_putmem_signal;
 * before OpenSHMEM 1.5 a put, a fence, and a put of the number), and a PE waits only for the signals of its own
 * neighbours. This is safe with two generations of cells, old and new: a PE that puts a halo of step s + 2 into the
 * generation of step s has seen its neighbour's signal of step s + 1, which the neighbour sent after it had used the
 * halo of s. So a neighbour is never more than one step ahead.
 *
 * Rows of a halo are put in place. A column is not contiguous, so it is put into a buffer of the neighbour, which
 * copies it to its place.
 *
 * The check: PE 0 gets all blocks and compares them with the solution that it computes alone. As every cell is computed
 * by the same expression, they must be equal to the last bit. */
#include <getopt.h>
#include <shmem.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HAS_SIGNALS (SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5)

#define HOT 100.0

enum side { NORTH, SOUTH, WEST, EAST, N_SIDES };
static const enum side opposite[N_SIDES] = {SOUTH, NORTH, EAST, WEST};

/* A PE's part of the plate. Every PE can compute every other PE's. */
struct block {
    int row, column;        /* of the grid of PEs */
    long top, left;         /* the first cell's place on the plate */
    long height, width;     /* in cells, without the halo */
    int neighbour[N_SIDES]; /* PEs, or -1 at the plate's rim */
};

#if HAS_SIGNALS
typedef uint64_t number; /* of a step, as a signal */
#else
typedef long number;
#endif

/* Numbers of steps, each written by one neighbour, and on a line of its own. */
struct note {
    number step;
    char pad[64 - sizeof(number)];
};

static int me, n_pes, grid_rows, grid_columns;
static long width = 1000, height = 1000, steps = 200;
static long stride; /* cells from one row of a block to the next: the same on all PEs, whatever its width */
static struct block mine;
static double *cells[2];      /* symmetric: the two generations of this PE's block, with its halo */
static double *columns[2][2]; /* symmetric: the halo's west and east columns, as they come; by generation and side */
static double *rim;           /* a column to be put */
static struct note *notes;    /* symmetric: for each side the last step whose halo has arrived from there */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Part i of n, of whole cells, as equal as can be. */
static long part_start(long whole, int n, int i) { return whole / n * i + (whole % n < i ? whole % n : i); }

static int pe_at(int row, int column) {
    if (row < 0 || row >= grid_rows || column < 0 || column >= grid_columns) return -1;
    return row * grid_columns + column;
}

static struct block block_of(int pe) {
    struct block b = {.row = pe / grid_columns, .column = pe % grid_columns};
    b.top = part_start(height, grid_rows, b.row);
    b.left = part_start(width, grid_columns, b.column);
    b.height = part_start(height, grid_rows, b.row + 1) - b.top;
    b.width = part_start(width, grid_columns, b.column + 1) - b.left;
    b.neighbour[NORTH] = pe_at(b.row - 1, b.column);
    b.neighbour[SOUTH] = pe_at(b.row + 1, b.column);
    b.neighbour[WEST] = pe_at(b.row, b.column - 1);
    b.neighbour[EAST] = pe_at(b.row, b.column + 1);
    return b;
}

/* Cells from the start of a block's array to row r, column c; the halo has the rows and columns -1 and height or width.
 */
static long at(long r, long c) { return (r + 1) * stride + c + 1; }

/* One row of the new generation. Both solutions are computed here. */
static void relax(double *restrict new, const double *above, const double *row, const double *below, long n) {
    for (long c = 0; c < n; c++) new[c] = 0.25 * (above[c] + below[c] + row[c - 1] + row[c + 1]);
}

/* The initial temperature of a cell of the plate, or the constant one of its rim: row -1 or height, column -1 or
 * width. */
static double initial(long r, long c) {
    if (c < 0) return HOT;
    if (r < 0 || r == height || c == width) return 0;
    uint64_t x = (uint64_t)(r * width + c + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return (double)((x ^ x >> 31) % 1024) * (HOT / 1024);
}

/* A part of the plate with what surrounds it, in an array of rows of row_cells. */
static void fill(double *a, const struct block *b, long row_cells) {
    for (long r = -1; r <= b->height; r++)
        for (long c = -1; c <= b->width; c++) a[(r + 1) * row_cells + c + 1] = initial(b->top + r, b->left + c);
}

/* Puts this PE's rim into a neighbour's halo, on its side `to`: first the data of the step, then its number. */
static void put_halo(double *to_place, const double *from, long n, enum side to, long step, int pe) {
    size_t bytes = (size_t)n * sizeof *from;
#if HAS_SIGNALS
    shmem_putmem_signal(to_place, from, bytes, &notes[to].step, (uint64_t)step, SHMEM_SIGNAL_SET, pe);
#else
    shmem_putmem(to_place, from, bytes, pe);
    shmem_fence(); /* the number comes after the data */
    shmem_long_p(&notes[to].step, step, pe);
#endif
}

static void wait_halo(enum side side, long step) {
#if HAS_SIGNALS
    shmem_signal_wait_until(&notes[side].step, SHMEM_CMP_GE, (uint64_t)step);
#else
    shmem_long_wait_until(&notes[side].step, SHMEM_CMP_GE, step);
#endif
}

/* The rim of this PE's block goes to its neighbours. Puts return when `from` may be used again. */
static void send_rims(int generation, long step) {
    double *a = cells[generation];
    for (int side = 0; side < N_SIDES; side++) {
        int pe = mine.neighbour[side];
        if (pe < 0) continue;
        enum side to = opposite[side];
        if (side == NORTH || side == SOUTH) {
            long from = at(side == NORTH ? 0 : mine.height - 1, 0);
            long place = at(side == NORTH ? block_of(pe).height : -1, 0);
            put_halo(a + place, a + from, mine.width, to, step, pe);
        } else {
            long c = side == WEST ? 0 : mine.width - 1;
            for (long r = 0; r < mine.height; r++) rim[r] = a[at(r, c)];
            put_halo(columns[generation][to == EAST], rim, mine.height, to, step, pe);
        }
    }
}

/* Waits until the halo of this step is complete. */
static void receive_halo(int generation, long step) {
    double *a = cells[generation];
    for (int side = 0; side < N_SIDES; side++) {
        if (mine.neighbour[side] < 0) continue;
        wait_halo((enum side)side, step);
        if (side == NORTH || side == SOUTH) continue;
        long c = side == WEST ? -1 : mine.width;
        const double *come = columns[generation][side == EAST];
        for (long r = 0; r < mine.height; r++) a[at(r, c)] = come[r];
    }
}

/* The cells of a part of the block that begins at (top, left). */
static void relax_part(double *new, const double *old, long top, long left, long rows, long wide) {
    for (long r = top; r < top + rows && wide > 0; r++)
        relax(new + at(r, left), old + at(r - 1, left), old + at(r, left), old + at(r + 1, left), wide);
}

static void compute(void) {
    for (long s = 0; s < steps; s++) {
        const double *old = cells[s % 2];
        double *new = cells[(s + 1) % 2];
        if (s > 0) receive_halo((int)(s % 2), s); /* that of step 0 has been filled */
        /* The rims first: they travel while this PE computes the rest, and no neighbour waits for that. */
        relax_part(new, old, 0, 0, 1, mine.width);
        relax_part(new, old, mine.height - 1, 0, 1, mine.width);
        relax_part(new, old, 1, 0, mine.height - 2, 1);
        relax_part(new, old, 1, mine.width - 1, mine.height - 2, 1);
        send_rims((int)((s + 1) % 2), s + 1);
        relax_part(new, old, 1, 1, mine.height - 2, mine.width - 2);
    }
}

/* PE 0: the number of cells of all PEs that differ from the solution of one PE. */
static long differing(void) {
    const struct block plate = {.height = height, .width = width};
    long row_cells = width + 2, wrong = 0;
    double *serial[2];
    double *row = malloc((size_t)width * sizeof *row);
    for (int i = 0; i < 2; i++) {
        serial[i] = malloc((size_t)((height + 2) * row_cells) * sizeof *serial[i]);
        if (!serial[i] || !row) {
            fprintf(stderr, "stencil: no memory for the whole plate\n");
            shmem_global_exit(1);
        }
        fill(serial[i], &plate, row_cells);
    }
    for (long s = 0; s < steps; s++) {
        const double *old = serial[s % 2];
        double *new = serial[(s + 1) % 2];
        for (long r = 1; r <= height; r++)
            relax(new + r *row_cells + 1, old + (r - 1) * row_cells + 1, old + r * row_cells + 1,
                  old + (r + 1) * row_cells + 1, width);
    }
    const double *whole = serial[steps % 2];
    for (int pe = 0; pe < n_pes; pe++) {
        struct block b = block_of(pe);
        for (long r = 0; r < b.height; r++) {
            const double *want = whole + (b.top + r + 1) * row_cells + b.left + 1;
            shmem_getmem(row, cells[steps % 2] + at(r, 0), (size_t)b.width * sizeof *row, pe);
            for (long c = 0; c < b.width; c++) wrong += memcmp(&row[c], &want[c], sizeof *row) != 0;
        }
    }
    free(serial[0]);
    free(serial[1]);
    free(row);
    return wrong;
}

/* Returns the number of wrong cells; PE 0 has it from the check, the others from PE 0. */
static long run(void) {
    static long wrong; /* symmetric, as every static variable */
    for (int i = 0; i < 2; i++) fill(cells[i], &mine, stride);
    shmem_barrier_all(); /* no PE puts into a halo before its owner has filled it */

    double start = now();
    compute();
    shmem_barrier_all();
    double seconds = now() - start;

    if (me == 0) {
        wrong = differing();
        printf("%d PEs, %d x %d blocks, plate of %ld x %ld cells, %ld steps\n", n_pes, grid_columns, grid_rows, width,
               height, steps);
        printf("%.3f s, %.1f million cells/s, %.1f us a step\n", seconds,
               (double)width * (double)height * (double)steps / seconds * 1e-6, seconds / (double)steps * 1e6);
        if (wrong)
            printf("WRONG: %ld cells differ from the solution of one PE\n", wrong);
        else
            printf("every cell is that of the solution of one PE\n");
    }
    shmem_barrier_all();
    return shmem_long_g(&wrong, 0);
}

static bool allocate(void) {
    long most_high = (height + grid_rows - 1) / grid_rows, most_wide = (width + grid_columns - 1) / grid_columns;
    bool good = true;
    stride = most_wide + 2;
    for (int i = 0; i < 2; i++) {
        cells[i] = shmem_malloc((size_t)((most_high + 2) * stride) * sizeof *cells[i]);
        good &= cells[i] != NULL;
        for (int side = 0; side < 2; side++) {
            columns[i][side] = shmem_malloc((size_t)most_high * sizeof *columns[i][side]);
            good &= columns[i][side] != NULL;
        }
    }
    notes = shmem_calloc(N_SIDES, sizeof *notes);
    rim = malloc((size_t)most_high * sizeof *rim);
    return good && notes && rim;
}

static void release(void) {
    for (int i = 0; i < 2; i++) {
        shmem_free(cells[i]);
        for (int side = 0; side < 2; side++) shmem_free(columns[i][side]);
    }
    shmem_free(notes);
    free(rim);
}

static bool read_number(const char *text, long *value) {
    char *end;
    *value = strtol(text, &end, 10);
    return end != text && *end == '\0' && *value >= 1 && *value <= 1000000;
}

static void usage(FILE *f) {
    fprintf(f, "usage: stencil [--width=N] [--height=N] [--steps=N]\n"
               "  -x, --width=N   cells in a row of the plate, at least one for each column of PEs (default 1000)\n"
               "  -y, --height=N  rows, at least one for each row of PEs (default 1000)\n"
               "  -s, --steps=N   steps (default 200)\n"
               "  -h, --help      print this\n");
}

int main(int argc, char **argv) {
    static const struct option options[] = {
        {"width", required_argument, NULL, 'x'},
        {"height", required_argument, NULL, 'y'},
        {"steps", required_argument, NULL, 's'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    shmem_init();
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    bool help = false, good = true;
    opterr = me == 0;
    for (int c; (c = getopt_long(argc, argv, "x:y:s:h", options, NULL)) != -1;) switch (c) {
            case 'x': good &= read_number(optarg, &width); break;
            case 'y': good &= read_number(optarg, &height); break;
            case 's': good &= read_number(optarg, &steps); break;
            case 'h': help = true; break;
            default: good = false;
        }
    good &= optind == argc;
    /* The most columns with at least as many rows: a square, or the grid closest to it. */
    for (int d = 1; d * d <= n_pes; d++)
        if (n_pes % d == 0) grid_columns = d;
    grid_rows = n_pes / grid_columns;
    good &= width >= grid_columns && height >= grid_rows;
    int code = good ? 0 : 2;
    if (help || !good) {
        if (me == 0) usage(good ? stdout : stderr);
    } else {
        if (!allocate()) {
            fprintf(stderr, "stencil: PE %d: no room for a block of the plate\n", me);
            shmem_global_exit(1);
        }
        mine = block_of(me);
        if (run() != 0) code = 1;
        release();
    }
    shmem_finalize();
    return code;
}
