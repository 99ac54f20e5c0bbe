/* SPDX-License-Identifier: BSD-3-Clause */
/* Global Arrays (Debian's, on ARMCI-MPI): patches, scattered elements, counters, mutexes and a product of matrices
 * against a model. The processes draw the same numbers, so each knows what all others do. The blocks of the arrays are
 * of odd numbers of bytes, where MPICH 4.0 returns wrong data.
 * Broken by a patch that arrives elsewhere, and by an accumulate or an increment that is lost. */
#include "check.h"

#include <ga.h>
#include <macdecls.h>

#define ROWS    61
#define COLUMNS 47
#define SIDE    23

static unsigned seed = 1;
static int draw(int below) {
    seed = seed * 1664525u + 1013904223u;
    return (int)((seed >> 8) % (unsigned)below);
}

static double model[ROWS][COLUMNS], buffer[ROWS * COLUMNS];

static int create(int type, int dims, int *lengths, const char *name) {
    char copy[32];
    int g, chunk[3] = {-1, -1, -1};
    snprintf(copy, sizeof copy, "%s", name);
    g = NGA_Create(type, dims, lengths, copy, chunk);
    CHECK(g != 0);
    GA_Zero(g);
    return g;
}

static void draw_patch(int lo[2], int hi[2]) {
    lo[0] = draw(ROWS);
    lo[1] = draw(COLUMNS);
    hi[0] = lo[0] + draw(ROWS - lo[0]);
    hi[1] = lo[1] + draw(COLUMNS - lo[1]);
}

/* One process at a time puts or accumulates; another gets. */
static void patches(int g, int rounds) {
    int lo[2], hi[2], ld;
    for (int i = 0; i < rounds; i++) {
        const int accumulate = draw(2);
        double scale = draw(5) - 2;
        draw_patch(lo, hi);
        ld = hi[1] - lo[1] + 1;
        for (int r = lo[0], k = 0; r <= hi[0]; r++)
            for (int c = lo[1]; c <= hi[1]; c++, k++) {
                buffer[k] = draw(1000);
                model[r][c] = accumulate ? model[r][c] + scale * buffer[k] : buffer[k];
            }
        if (rank == i % n) {
            if (accumulate)
                NGA_Acc(g, lo, hi, buffer, &ld, &scale);
            else
                NGA_Put(g, lo, hi, buffer, &ld);
        }
        GA_Sync();
        draw_patch(lo, hi);
        ld = hi[1] - lo[1] + 1;
        if (rank == (i + 1) % n) {
            NGA_Get(g, lo, hi, buffer, &ld);
            for (int r = lo[0], k = 0; r <= hi[0]; r++)
                for (int c = lo[1]; c <= hi[1]; c++, k++) CHECK(buffer[k] == model[r][c]);
        }
        GA_Sync();
    }
}

/* The part of the array that this process has, by load. */
static void own_part(int g) {
    int lo[2], hi[2], ld;
    double *own;
    NGA_Distribution(g, rank, lo, hi);
    if (lo[0] <= hi[0] && lo[1] <= hi[1]) {
        NGA_Access(g, lo, hi, &own, &ld);
        for (int r = lo[0]; r <= hi[0]; r++)
            for (int c = lo[1]; c <= hi[1]; c++) CHECK(own[(r - lo[0]) * ld + c - lo[1]] == model[r][c]);
        NGA_Release(g, lo, hi);
    }
    GA_Sync();
}

/* All processes at once. */
static void all_at_once(int g, int times) {
    int lo[2] = {3, 5}, hi[2] = {ROWS - 4, COLUMNS - 2}, ld = hi[1] - lo[1] + 1;
    double scale = 2;
    ga_nbhdl_t handle;
    for (int k = 0; k < ROWS * COLUMNS; k++) buffer[k] = k % 7;
    for (int i = 0; i < times; i++) NGA_Acc(g, lo, hi, buffer, &ld, &scale);
    GA_Sync();
    for (int r = lo[0], k = 0; r <= hi[0]; r++)
        for (int c = lo[1]; c <= hi[1]; c++, k++) model[r][c] += scale * (k % 7) * times * n;
    own_part(g);
    /* A row each, without waiting. */
    for (int r = rank; r < ROWS; r += n) {
        int from[2] = {r, 0}, to[2] = {r, COLUMNS - 1}, pitch = COLUMNS;
        for (int c = 0; c < COLUMNS; c++) buffer[c] = r * 100 + c;
        NGA_NbPut(g, from, to, buffer, &pitch, &handle);
        NGA_NbWait(&handle);
    }
    GA_Sync();
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++) model[r][c] = r * 100 + c;
    own_part(g);
}

static void scattered(int g) {
    enum { COUNT = 50 };
    double values[COUNT];
    int places[COUNT][2], *list[COUNT];
    for (int i = 0; i < COUNT; i++) {
        /* Rows of this process only, no element twice. */
        places[i][0] = (rank + n * (i % (ROWS / n))) % ROWS;
        places[i][1] = (i * 3 + i / (ROWS / n)) % COLUMNS;
        list[i] = places[i];
        values[i] = -(places[i][0] * 1000 + places[i][1]);
    }
    NGA_Scatter(g, values, list, COUNT);
    GA_Sync();
    memset(values, 0, sizeof values);
    NGA_Gather(g, values, list, COUNT);
    for (int i = 0; i < COUNT; i++) CHECK(values[i] == -(places[i][0] * 1000 + places[i][1]));
    GA_Sync();
}

static void counters(int times) {
    int length = 5, at = 3, g = create(C_LONG, 1, &length, "counters");
    long sum = 0, all = (long)times * n, got;
    CHECK(GA_Create_mutexes(1));
    for (int i = 0; i < times; i++) {
        got = NGA_Read_inc(g, &at, 1);
        CHECK(got >= 0 && got < all);
        sum += got;
        length = 4, at = 4;
        GA_Lock(0);
        NGA_Get(g, &at, &at, &got, &length);
        got += 3;
        GA_Init_fence();
        NGA_Put(g, &at, &at, &got, &length);
        GA_Fence();
        GA_Unlock(0);
        at = 3;
    }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == all * (all - 1) / 2);
    GA_Sync();
    at = 4;
    NGA_Get(g, &at, &at, &got, &length);
    CHECK(got == 3 * all);
    CHECK(GA_Destroy_mutexes());
    GA_Destroy(g);
}

/* A patch in three dimensions, and one array copied to another. */
static void three_dimensions(void) {
    int lengths[3] = {11, 13, 7}, lo[3] = {2, 1, 3}, hi[3] = {9, 11, 5}, ld[2] = {11, 3};
    int g = create(C_INT, 3, lengths, "cube"), copy, values[8 * 11 * 3], got[8 * 11 * 3];
    for (int k = 0; k < 8 * 11 * 3; k++) values[k] = k + 1;
    if (rank == n - 1) NGA_Put(g, lo, hi, values, ld);
    GA_Sync();
    copy = GA_Duplicate(g, (char[]){"copy"});
    GA_Copy(g, copy);
    NGA_Get(copy, lo, hi, got, ld);
    CHECK(memcmp(values, got, sizeof got) == 0);
    GA_Sync();
    GA_Destroy(copy);
    GA_Destroy(g);
}

static void product(void) {
    int lengths[2] = {SIDE, SIDE}, lo[2] = {0, 0}, hi[2] = {SIDE - 1, SIDE - 1}, ld = SIDE;
    int a = create(C_DBL, 2, lengths, "a"), b = GA_Duplicate(a, (char[]){"b"}), c = GA_Duplicate(a, (char[]){"c"});
    static double x[SIDE][SIDE], y[SIDE][SIDE], z[SIDE][SIDE];
    for (int i = 0; i < SIDE; i++)
        for (int k = 0; k < SIDE; k++) x[i][k] = draw(10), y[i][k] = draw(10);
    if (rank == 0) NGA_Put(a, lo, hi, x, &ld), NGA_Put(b, lo, hi, y, &ld);
    GA_Sync();
    GA_Dgemm('n', 'n', SIDE, SIDE, SIDE, 1.0, a, b, 0.0, c);
    NGA_Get(c, lo, hi, z, &ld);
    for (int i = 0; i < SIDE; i++)
        for (int k = 0; k < SIDE; k++) {
            double right = 0;
            for (int j = 0; j < SIDE; j++) right += x[i][j] * y[j][k];
            CHECK(z[i][k] == right);
        }
    GA_Sync();
    GA_Destroy(a);
    GA_Destroy(b);
    GA_Destroy(c);
}

int main(void) {
    int lengths[2] = {ROWS, COLUMNS}, g;
    begin();
    GA_Initialize();
    CHECK(MA_init(C_DBL, 100000, 100000));
    g = create(C_DBL, 2, lengths, "matrix");
    patches(g, 150);
    own_part(g);
    all_at_once(g, 10);
    scattered(g);
    counters(100);
    three_dimensions();
    product();
    GA_Destroy(g);
    GA_Terminate();
    return end();
}
