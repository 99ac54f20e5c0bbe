/* SPDX-License-Identifier: BSD-3-Clause */
/* Put and get move what the two type maps say, in windows of each flavor. MPI_Pack and MPI_Unpack say what is right.
 * Broken by a datatype that is taken apart wrongly, by a displacement unit that is not the target's, and by a byte that
 * is written beside the type map. */
#include "check.h"

#define ROOM 65536

static unsigned seed;
static unsigned draw(unsigned below) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

/* A random datatype of ints, of at most `depth` levels, whose data lie within ROOM / 4 bytes of its address. */
static MPI_Datatype make_type(int depth) {
    MPI_Datatype inner, type;
    int lengths[3], places[3], sizes[3], parts[3], starts[3], k;
    MPI_Aint lb, extent, offsets[3];
    if (depth == 0) {
        MPI_Type_contiguous((int)draw(3) + 1, MPI_INT, &type);
        return type;
    }
    inner = make_type(depth - 1);
    MPI_Type_get_extent(inner, &lb, &extent);
    if (extent > 1000) return inner;
    switch (draw(10)) {
        case 0: MPI_Type_contiguous((int)draw(4) + 1, inner, &type); break;
        case 1: MPI_Type_vector((int)draw(4) + 1, (int)draw(3) + 1, (int)draw(3) + 3, inner, &type); break;
        case 2: MPI_Type_create_hvector((int)draw(4) + 1, 1, extent + 4 * (MPI_Aint)draw(3), inner, &type); break;
        case 3:
            for (k = 0; k < 3; k++) lengths[k] = (int)draw(3), places[k] = 4 * k + (int)draw(2);
            lengths[1] = 1;
            MPI_Type_indexed(3, lengths, places, inner, &type);
            break;
        case 4:
            for (k = 0; k < 3; k++) offsets[k] = (2 - k) * (extent + 8); /* backwards */
            MPI_Type_create_hindexed_block(3, 1, offsets, inner, &type);
            break;
        case 5:
            for (k = 0; k < 3; k++) places[k] = 3 * k + (int)draw(2);
            MPI_Type_create_indexed_block(3, 2, places, inner, &type);
            break;
        case 6:
        case 7:
            for (k = 0; k < 3; k++) {
                sizes[k] = (int)draw(3) + 2;
                parts[k] = (int)draw((unsigned)sizes[k]) + 1;
                starts[k] = (int)draw((unsigned)(sizes[k] - parts[k]) + 1);
            }
            MPI_Type_create_subarray(3, sizes, parts, starts, draw(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, inner, &type);
            break;
        case 8: MPI_Type_create_resized(inner, lb, extent + 4 * (MPI_Aint)draw(4), &type); break;
        default: {
            MPI_Datatype types[2] = {inner, MPI_INT}, plain;
            lengths[0] = 2, lengths[1] = 1;
            offsets[0] = 4, offsets[1] = lb + 2 * extent + 12;
            MPI_Type_create_struct(2, lengths, offsets, types, &plain);
            /* If inner was resized, its upper bound alone may count (MPI-3.1, 4.1.7), and elements would overlap. */
            MPI_Type_create_resized(plain, 0, offsets[1] + 4, &type);
            MPI_Type_free(&plain);
        }
    }
    MPI_Type_free(&inner);
    return type;
}

/* Bytes from the first to the last of `count` elements; *first is where they begin. */
static MPI_Aint span(MPI_Datatype type, int count, MPI_Aint *first) {
    MPI_Aint lb, extent, true_extent;
    MPI_Type_get_extent(type, &lb, &extent);
    MPI_Type_get_true_extent(type, first, &true_extent);
    return true_extent + (count - 1) * extent;
}

struct window {
    MPI_Win win;
    char *base;
    int unit;        /* this process's */
    MPI_Aint origin; /* displacement of base, in the units of the target: of a dynamic window */
};

static char *expected, *mine, *packed;

static void transfer(struct window *w, int to, int unit, MPI_Aint origin, MPI_Datatype ot, int oc, MPI_Datatype tt,
                     int tc) {
    MPI_Aint of, tf, olen = span(ot, oc, &of), tlen = span(tt, tc, &tf), disp;
    int size, at = 0, k;
    if (olen > ROOM / 2 || tlen > ROOM / 2) return;
    MPI_Type_size(ot, &size);
    size *= oc;
    disp = (MPI_Aint)draw(64) * 8; /* bytes, a multiple of each unit */
    if (tf < 0) disp -= tf / 8 * 8 - 8;
    for (k = 0; k < ROOM; k++) mine[k] = (char)(draw(256)), expected[k] = (char)(k * 7 + to);
    MPI_Pack(mine - (of < 0 ? of : 0), oc, ot, packed, 8 * ROOM, &at, MPI_COMM_SELF);
    at = 0;
    MPI_Unpack(packed, 8 * ROOM, &at, expected + disp, tc, tt, MPI_COMM_SELF);

    /* Only one process at a time uses the target. */
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, w->win);
    for (k = 0; k < ROOM; k++) packed[k] = (char)(k * 7 + to);
    MPI_Put(packed, ROOM, MPI_BYTE, to, origin, ROOM, MPI_BYTE, w->win);
    MPI_Win_flush(to, w->win);
    MPI_Put(mine - (of < 0 ? of : 0), oc, ot, to, origin + disp / unit, tc, tt, w->win);
    MPI_Win_flush(to, w->win);
    memset(packed, 0, ROOM);
    MPI_Get(packed, ROOM, MPI_BYTE, to, origin, ROOM, MPI_BYTE, w->win);
    MPI_Win_flush(to, w->win);
    CHECK(memcmp(packed, expected, ROOM) == 0);
    /* And back: the target type read into the origin type gives what it was. */
    memset(packed + ROOM, 0x55, ROOM);
    MPI_Get(packed + ROOM - (of < 0 ? of : 0), oc, ot, to, origin + disp / unit, tc, tt, w->win);
    MPI_Win_unlock(to, w->win);
    for (k = 0, at = 0; k < 2; k++) {
        /* The data of both, packed. */
        char *out = k ? expected : packed + 4 * ROOM;
        at = 0;
        MPI_Pack(k ? mine - (of < 0 ? of : 0) : packed + ROOM - (of < 0 ? of : 0), oc, ot, out, ROOM, &at,
                 MPI_COMM_SELF);
    }
    CHECK(memcmp(expected, packed + 4 * ROOM, (size_t)size) == 0);
}

static void try_types(struct window *w, int rounds) {
    const int to = (rank + 1) % n;
    MPI_Aint *origins = malloc((size_t)n * sizeof *origins);
    int *units = malloc((size_t)n * sizeof *units);
    MPI_Allgather(&w->origin, 1, MPI_AINT, origins, 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Allgather(&w->unit, 1, MPI_INT, units, 1, MPI_INT, MPI_COMM_WORLD);
    for (int k = 0; k < rounds; k++) {
        MPI_Datatype a = make_type((int)draw(4)), b = make_type((int)draw(4));
        int na, nb, times = (int)draw(2) + 1;
        MPI_Type_size(a, &na);
        MPI_Type_size(b, &nb);
        na /= 4, nb /= 4;
        MPI_Type_commit(&a);
        MPI_Type_commit(&b);
        if (na * nb * times < ROOM / 16 && na > 0 && nb > 0) {
            transfer(w, to, units[to], origins[to], a, nb * times, b, na * times);
            transfer(w, to, units[to], origins[to], MPI_INT, na, a, 1);
            transfer(w, to, units[to], origins[to], a, 1, MPI_INT, na);
            transfer(w, to, units[to], origins[to], a, times, a, times);
        }
        MPI_Type_free(&a);
        MPI_Type_free(&b);
    }
    free(origins);
    free(units);
}

/* Distributed arrays and absolute addresses. */
static void try_special(struct window *w) {
    const int sizes[2] = {9, 10}, kinds[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK}, args[2] = {2, 5},
              grid[2] = {2, 2};
    MPI_Datatype type;
    MPI_Aint there[2], origin = w->origin;
    int size, to = rank, lengths[2] = {2, 1}, a[2] = {5, 6}, b = 7, got[3] = {0, 0, 0};
    MPI_Type_create_darray(4, rank % 4, 2, sizes, kinds, args, grid, MPI_ORDER_C, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_size(type, &size);
    transfer(w, to, w->unit, origin, MPI_INT, size / 4, type, 1);
    MPI_Type_free(&type);
    MPI_Get_address(a, &there[0]);
    MPI_Get_address(&b, &there[1]);
    MPI_Type_create_hindexed(2, lengths, there, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, w->win);
    MPI_Put(MPI_BOTTOM, 1, type, to, origin, 3, MPI_INT, w->win);
    MPI_Win_flush(to, w->win);
    MPI_Get(got, 3, MPI_INT, to, origin, 3, MPI_INT, w->win);
    MPI_Put(got, 0, MPI_INT, to, origin, 0, MPI_INT, w->win);
    MPI_Put(got, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w->win);
    MPI_Win_unlock(to, w->win);
    CHECK(got[0] == 5 && got[1] == 6 && got[2] == 7);
    MPI_Type_free(&type);
}

int main(void) {
    static const char *const flavors[] = {"allocate", "create over MPI_Alloc_mem", "create over malloc", "dynamic",
                                          "shared"};
    struct window w;
    void *memory;
    begin();
    expected = malloc(ROOM * 2);
    mine = malloc(ROOM * 2);
    packed = malloc(ROOM * 8);
    for (int flavor = 0; flavor < 4 + one_node(); flavor++) {
        w = (struct window){.unit = rank % 2 ? 8 : 4};
        seed = 1000u * (unsigned)rank + (unsigned)flavor;
        memory = NULL;
        switch (flavor) {
            case 0: MPI_Win_allocate(ROOM, w.unit, MPI_INFO_NULL, MPI_COMM_WORLD, &w.base, &w.win); break;
            case 1:
                MPI_Alloc_mem(ROOM, MPI_INFO_NULL, &w.base);
                MPI_Win_create(w.base, ROOM, w.unit, MPI_INFO_NULL, MPI_COMM_WORLD, &w.win);
                break;
            case 2:
                memory = malloc(ROOM);
                MPI_Win_create(memory, ROOM, w.unit, MPI_INFO_NULL, MPI_COMM_WORLD, &w.win);
                break;
            case 3:
                w.unit = 1;
                memory = malloc(ROOM);
                MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &w.win);
                MPI_Win_attach(w.win, memory, ROOM);
                MPI_Get_address(memory, &w.origin);
                break;
            default: MPI_Win_allocate_shared(ROOM, w.unit, MPI_INFO_NULL, MPI_COMM_WORLD, &w.base, &w.win);
        }
        if (rank == 0) printf("%s\n", flavors[flavor]);
        MPI_Barrier(MPI_COMM_WORLD);
        try_types(&w, 40);
        MPI_Barrier(MPI_COMM_WORLD);
        try_special(&w);
        MPI_Barrier(MPI_COMM_WORLD);
        if (flavor == 3) MPI_Win_detach(w.win, memory);
        MPI_Win_free(&w.win);
        CHECK(w.win == MPI_WIN_NULL);
        if (flavor == 1) MPI_Free_mem(w.base);
        free(memory);
    }
    free(expected);
    free(mine);
    free(packed);
    return end();
}
