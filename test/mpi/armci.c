/* SPDX-License-Identifier: BSD-3-Clause */
/* ARMCI (Debian's ARMCI-MPI): contiguous, strided and vector puts, gets and accumulates against a model, then counters
 * and mutexes that all processes use. The blocks' size is no multiple of 16 bytes, where MPICH 4.0 returns wrong data.
 * Broken by a patch that arrives elsewhere, by an accumulate that is lost, and by a mutex that two processes hold. */
#include "check.h"

#include <armci.h>

/* Each process has a slab of ROWS x COLUMNS doubles for each process that writes there, so a writer knows what is in
 * its slab of every process: the model. */
#define ROWS    21
#define COLUMNS 33
#define SLAB    (ROWS * COLUMNS)

static double **slabs, *model, *buffer;

static unsigned seed;
static int draw(int below) {
    seed = seed * 1664525u + 1013904223u;
    return (int)((seed >> 8) % (unsigned)below);
}

static double *my_slab(int to) { return slabs[to] + (size_t)rank * SLAB; }

/* A random patch of a slab. */
struct patch {
    int row, column, rows, columns;
};

static struct patch draw_patch(void) {
    struct patch p = {draw(ROWS), draw(COLUMNS), 0, 0};
    p.rows = draw(ROWS - p.row) + 1;
    p.columns = draw(COLUMNS - p.column) + 1;
    return p;
}

enum { PUT, ACCUMULATE, GET, KINDS };

static void apply(int kind, int to, const struct patch *p, double scale) {
    for (int r = 0; r < p->rows; r++)
        for (int c = 0; c < p->columns; c++) {
            double *m = &model[(size_t)to * SLAB + (size_t)(p->row + r) * COLUMNS + (size_t)(p->column + c)];
            const double mine = buffer[r * COLUMNS + c];
            if (kind == PUT) *m = mine;
            if (kind == ACCUMULATE) *m += scale * mine;
            if (kind == GET) CHECK(*m == mine);
        }
}

static void fill_buffer(void) {
    for (int i = 0; i < SLAB; i++) buffer[i] = draw(1000);
}

static void strided(int kind, int to, const struct patch *p, double scale) {
    double *there = my_slab(to) + p->row * COLUMNS + p->column;
    int pitch = COLUMNS * (int)sizeof(double), count[2] = {p->columns * (int)sizeof(double), p->rows};
    if (kind == PUT) CHECK(ARMCI_PutS(buffer, &pitch, there, &pitch, count, 1, to) == 0);
    if (kind == ACCUMULATE) CHECK(ARMCI_AccS(ARMCI_ACC_DBL, &scale, buffer, &pitch, there, &pitch, count, 1, to) == 0);
    if (kind == GET) CHECK(ARMCI_GetS(there, &pitch, buffer, &pitch, count, 1, to) == 0);
}

/* The rows of the patch, each by its address. */
static void by_vector(int kind, int to, const struct patch *p, double scale) {
    void *here[ROWS], *there[ROWS];
    armci_giov_t list = {here, there, p->columns * (int)sizeof(double), p->rows};
    for (int r = 0; r < p->rows; r++) {
        here[r] = buffer + r * COLUMNS;
        there[r] = my_slab(to) + (p->row + r) * COLUMNS + p->column;
    }
    if (kind == GET) list = (armci_giov_t){there, here, list.bytes, list.ptr_array_len};
    if (kind == PUT) CHECK(ARMCI_PutV(&list, 1, to) == 0);
    if (kind == ACCUMULATE) CHECK(ARMCI_AccV(ARMCI_ACC_DBL, &scale, &list, 1, to) == 0);
    if (kind == GET) CHECK(ARMCI_GetV(&list, 1, to) == 0);
}

static void contiguous(int kind, int to, const struct patch *p, double scale) {
    const int bytes = p->columns * (int)sizeof(double);
    double *there = my_slab(to) + p->row * COLUMNS + p->column;
    if (kind == PUT) CHECK(ARMCI_Put(buffer, there, bytes, to) == 0);
    if (kind == ACCUMULATE) CHECK(ARMCI_Acc(ARMCI_ACC_DBL, &scale, buffer, there, bytes, to) == 0);
    if (kind == GET) CHECK(ARMCI_Get(there, buffer, bytes, to) == 0);
}

static void patches(int rounds) {
    for (int i = 0; i < rounds; i++) {
        const int to = draw(n), kind = draw(KINDS), how = draw(3);
        const double scale = draw(5) - 2;
        struct patch p = draw_patch();
        fill_buffer();
        if (how == 0) p.rows = 1;
        (how == 0 ? contiguous : how == 1 ? strided : by_vector)(kind, to, &p, scale);
        if (kind != GET) ARMCI_Fence(to);
        apply(kind, to, &p, scale);
    }
    ARMCI_Barrier();
    /* What each process has written here. */
    for (int from = 0; from < n; from++) {
        double *written = malloc(SLAB * sizeof *written);
        MPI_Scatter(model, SLAB, MPI_DOUBLE, written, SLAB, MPI_DOUBLE, from, MPI_COMM_WORLD);
        ARMCI_Access_begin(slabs[rank]);
        CHECK(memcmp(written, slabs[rank] + (size_t)from * SLAB, SLAB * sizeof *written) == 0);
        ARMCI_Access_end(slabs[rank]);
        free(written);
    }
    ARMCI_Barrier();
}

/* Counters that all processes raise: no number is given twice. */
static void counters(int times) {
    long **words = malloc((size_t)n * sizeof *words), got, sum = 0, all = (long)times * n;
    int small;
    CHECK(ARMCI_Malloc((void **)words, 3 * sizeof(long)) == 0);
    ARMCI_Access_begin(words[rank]);
    memset(words[rank], 0, 3 * sizeof(long));
    ARMCI_Access_end(words[rank]);
    CHECK(ARMCI_Create_mutexes(1) == 0);
    ARMCI_Barrier();
    for (int i = 0; i < times; i++) {
        ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &got, &words[n - 1][0], 1, n - 1);
        CHECK(got >= 0 && got < all);
        sum += got;
        ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &small, &words[n - 1][1], 1, n - 1);
        ARMCI_Lock(0, 0);
        ARMCI_Get(&words[n - 1][2], &got, sizeof got, n - 1);
        got++;
        ARMCI_Put(&got, &words[n - 1][2], sizeof got, n - 1);
        ARMCI_Fence(n - 1);
        ARMCI_Unlock(0, 0);
    }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == all * (all - 1) / 2);
    ARMCI_Barrier();
    for (int i = 0; i < 3; i++) CHECK(ARMCI_GetValueLong(&words[n - 1][i], n - 1) == all);
    ARMCI_Barrier();
    CHECK(ARMCI_Destroy_mutexes() == 0);
    CHECK(ARMCI_Free(words[rank]) == 0);
    free(words);
}

int main(void) {
    size_t bytes;
    begin();
    CHECK(ARMCI_Init() == 0);
    seed = (unsigned)rank + 1;
    slabs = malloc((size_t)n * sizeof *slabs);
    model = calloc((size_t)n * SLAB, sizeof *model);
    buffer = malloc(SLAB * sizeof *buffer);
    bytes = (size_t)n * SLAB * sizeof(double);
    if (bytes % 16 == 0) bytes += sizeof(double);
    CHECK(ARMCI_Malloc((void **)slabs, (armci_size_t)bytes) == 0);
    ARMCI_Access_begin(slabs[rank]);
    memset(slabs[rank], 0, bytes);
    ARMCI_Access_end(slabs[rank]);
    ARMCI_Barrier();
    patches(300);
    counters(100);
    ARMCI_Barrier();
    CHECK(ARMCI_Free(slabs[rank]) == 0);
    free(slabs);
    free(model);
    free(buffer);
    CHECK(ARMCI_Finalize() == 0);
    return end();
}
