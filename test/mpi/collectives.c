/* SPDX-License-Identifier: BSD-3-Clause */
/* Barriers, broadcasts, reductions and gathers of a program of MPI's windows: some are librma's, depending on the
 * communicator, the length and the type. Each process knows what all others give, so it computes the results itself.
 * Broken by a wrong result, by processes that disagree on whose a call is (they hang), and by a process that does not
 * drive MPI's messages while it waits. */
#include "check.h"

#include <complex.h>
#include <stdint.h>

#define MOST  70000 /* bytes that a process gives, at most: more than librma takes */
#define ROUND 400

static uint64_t state;
static unsigned draw(unsigned below) { /* the same in all processes */
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % below;
}

/* ---- communicators ---- */

enum { WORLD, COPY, BACKWARD, HALF, COMMS };
static MPI_Comm comms[COMMS];
static const char *const words[COMMS] = {"MPI_COMM_WORLD", "a copy", "the reverse order", "a half"};

static void make_comms(void) {
    comms[WORLD] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[COPY]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[BACKWARD]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &comms[HALF]);
}

/* The last call is one of a communicator that is freed then, and whose handle another one may get. */
static void free_comms(void) {
    MPI_Barrier(comms[COPY]);
    for (int i = COPY; i < COMMS; i++) MPI_Comm_free(&comms[i]);
}

/* The rank in MPI_COMM_WORLD of process i of a communicator. */
static int world_rank(int which, int i) { return which == BACKWARD ? n - 1 - i : which == HALF ? 2 * i + rank % 2 : i; }

/* ---- data ---- */

struct type {
    MPI_Datatype handle;
    size_t size;
    enum { INTEGER, UNSIGNED, REAL, PAIR_OF_REALS, OTHER } kind;
} types[] = {{
                 MPI_INT,
                 4,
                 INTEGER,
             },
             {MPI_LONG, 8, INTEGER},
             {MPI_SHORT, 2, INTEGER},
             {MPI_INT8_T, 1, INTEGER},
             {MPI_UINT16_T, 2, UNSIGNED},
             {MPI_UNSIGNED, 4, UNSIGNED},
             {MPI_UNSIGNED_LONG, 8, UNSIGNED},
             {MPI_FLOAT, 4, REAL},
             {MPI_DOUBLE, 8, REAL},
             {MPI_C_DOUBLE_COMPLEX, 16, PAIR_OF_REALS},
             {MPI_LONG_DOUBLE, sizeof(long double), REAL},
             {MPI_BYTE, 1, OTHER}};
#define TYPES (sizeof types / sizeof types[0])

static int value_of(int from, size_t i, int round) { return (int)((unsigned)from * 7 + i * 13 + (unsigned)round) % 5; }

static void store(const struct type *t, char *at, int value) {
    const long double real16 = value;
    const double real8 = value;
    const float real4 = (float)value;
    const double complex both = value;
    const int64_t integer = value; /* little-endian */
    const void *from = t->kind == PAIR_OF_REALS ? (const void *)&both
                       : t->kind != REAL        ? (const void *)&integer
                       : t->size == 4           ? (const void *)&real4
                       : t->size == 8           ? (const void *)&real8
                                                : (const void *)&real16;
    memset(at, 0, t->size);
    memcpy(at, from, t->size == 16 && t->kind == REAL ? 10 : t->size);
}

static int same(const struct type *t, const char *a, const char *b) {
    return memcmp(a, b, t->size == 16 && t->kind == REAL ? 10 : t->size) == 0;
}

static void fill(const struct type *t, char *at, size_t count, int from, int round) {
    for (size_t i = 0; i < count; i++) store(t, at + i * t->size, value_of(from, i, round));
}

static int combine(MPI_Op op, int a, int b) {
    return op == MPI_SUM    ? a + b
           : op == MPI_PROD ? a * b
           : op == MPI_MIN  ? (b < a ? b : a)
           : op == MPI_MAX  ? (b > a ? b : a)
           : op == MPI_BAND ? (a & b)
           : op == MPI_BOR  ? (a | b)
           : op == MPI_BXOR ? (a ^ b)
           : op == MPI_LAND ? (a && b)
           : op == MPI_LOR  ? (a || b)
                            : !a != !b;
}

static MPI_Op draw_op(const struct type *t) {
    static const MPI_Op all[] = {MPI_SUM, MPI_PROD, MPI_MIN,  MPI_MAX, MPI_BAND,
                                 MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR};
    return t->kind == PAIR_OF_REALS ? all[draw(2)]
           : t->kind == REAL        ? all[draw(4)]
           : t->kind == OTHER       ? all[4 + draw(3)]
                                    : all[draw(10)];
}

static size_t draw_count(const struct type *t) {
    static const size_t most[] = {2, 9, 700, MOST};
    return draw((unsigned)(most[draw(4)] / t->size) + 2);
}

#if MPI_VERSION < 4
#define MPI_Bcast_c     MPI_Bcast
#define MPI_Reduce_c    MPI_Reduce
#define MPI_Allreduce_c MPI_Allreduce
#define MPI_Allgather_c MPI_Allgather
#endif

/* 1 in some of the processes. */
static int in_some(int me) { return (int)draw(8) >> (me % 3) & 1; }

static void reduction(int which, int round, int rooted) {
    static _Alignas(16) char mine[MOST + 64], all[MOST + 64], right[16];
    const struct type *t = &types[draw(TYPES)];
    const size_t count = draw_count(t), shift = draw(4) == 0;
    const MPI_Op op = draw_op(t);
    int in_place = draw(3) == 0;
    char *const from = mine + shift, *const to = all + shift;
    int me, size, root, gets, counts;
    MPI_Comm_rank(comms[which], &me);
    MPI_Comm_size(comms[which], &size);
    root = (int)draw(1000) % size;
    gets = !rooted || me == root;
    counts = in_some(me);
    /* MPICH 4.0.2's own MPI_Reduce copies from the address MPI_IN_PLACE if the root is not the first process. */
    if (rooted && root != 0) in_place = 0;
    memset(all, 0, sizeof all);
    fill(t, in_place && gets ? to : from, count, me, round);
    if (rooted && counts)
        MPI_Reduce_c(in_place && gets ? MPI_IN_PLACE : from, gets ? to : NULL, (int)count, t->handle, op, root,
                     comms[which]);
    else if (rooted)
        MPI_Reduce(in_place && gets ? MPI_IN_PLACE : from, gets ? to : NULL, (int)count, t->handle, op, root,
                   comms[which]);
    else if (counts)
        MPI_Allreduce_c(in_place ? MPI_IN_PLACE : from, to, (int)count, t->handle, op, comms[which]);
    else
        MPI_Allreduce(in_place ? MPI_IN_PLACE : from, to, (int)count, t->handle, op, comms[which]);
    for (size_t i = 0; gets && i < count; i++) {
        int value = value_of(0, i, round);
        for (int p = 1; p < size; p++) value = combine(op, value, value_of(p, i, round));
        store(t, right, value);
        if (same(t, right, to + i * t->size)) continue;
        printf("round %d, %s: element %zu of %zu of type %d is wrong\n", round, words[which], i, count,
               (int)(t - types));
        CHECK(!"a reduction is right");
        break;
    }
    CHECK(!gets || all[shift + count * t->size] == 0);
}

/* The type for n elements at an address, to be used with MPI_BOTTOM. */
static MPI_Datatype at_address(const void *address, int count, MPI_Datatype type) {
    MPI_Aint at;
    MPI_Datatype there;
    MPI_Get_address(address, &at);
    MPI_Type_create_hindexed(1, &count, &at, type, &there);
    MPI_Type_commit(&there);
    return there;
}

/* Some processes have the data in every second place, some give their address. */
static void broadcast(int which, int round) {
    static _Alignas(16) char data[2 * MOST + 64];
    const size_t count = draw(5) == 0 ? MOST / 4 : draw(300) + 1;
    int me, size, root, apart, absolute, counts, ok = 1;
    MPI_Datatype spread, there;
    MPI_Comm_rank(comms[which], &me);
    MPI_Comm_size(comms[which], &size);
    root = (int)draw(1000) % size;
    apart = (int)draw(4); /* a bit for even and for odd ranks */
    apart = apart >> (me % 2) & 1;
    absolute = in_some(me);
    counts = in_some(me);
    MPI_Type_vector((int)count, 1, 2, MPI_INT, &spread);
    MPI_Type_commit(&spread);
    memset(data, -1, sizeof data);
    for (size_t i = 0; me == root && i < count; i++)
        store(&types[0], data + i * 4 * (size_t)(1 + apart), value_of(root, i, round));
    there = at_address(data, apart ? 1 : (int)count, apart ? spread : MPI_INT);
    if (absolute)
        MPI_Bcast(MPI_BOTTOM, 1, there, root, comms[which]);
    else if (apart)
        MPI_Bcast(data, 1, spread, root, comms[which]);
    else if (counts)
        MPI_Bcast_c(data, (int)count, MPI_INT, root, comms[which]);
    else
        MPI_Bcast(data, (int)count, MPI_INT, root, comms[which]);
    for (size_t i = 0; i < count; i++) {
        int value, gap = -1;
        memcpy(&value, data + i * 4 * (size_t)(1 + apart), 4);
        if (apart) memcpy(&gap, data + i * 8 + 4, 4);
        ok &= value == value_of(root, i, round) && gap == -1;
    }
    if (!ok) printf("round %d, %s: %zu numbers from %d\n", round, words[which], count, root);
    CHECK(ok);
    MPI_Type_free(&spread);
    MPI_Type_free(&there);
}

static void gather(int which, int round) {
    static int mine[MOST / 4], all[16 * MOST / 4 + 16];
    const int count = (int)(draw(5) == 0 ? MOST / 8 : draw(300) + 1), in_place = draw(3) == 0, apart = draw(3) == 0;
    int me, size, from_there, to_there, counts, ok = 1;
    MPI_Datatype spread, pairs, mine_there, all_there, each_there;
    MPI_Comm_rank(comms[which], &me);
    MPI_Comm_size(comms[which], &size);
    MPI_Type_vector(count, 1, 2, MPI_INT, &spread); /* the block of the next process begins 2 * count - 1 ints later, */
    MPI_Type_create_resized(spread, 0, 8 * (MPI_Aint)count, &pairs); /* or 2 * count */
    MPI_Type_commit(&pairs);
    from_there = in_some(me);
    to_there = in_some(me);
    counts = in_some(me);
    mine_there = at_address(mine, count, MPI_INT);
    all_there = at_address(all, apart ? 1 : count, apart ? pairs : MPI_INT);
    MPI_Type_create_resized(all_there, 0, (apart ? 8 : 4) * (MPI_Aint)count, &each_there);
    MPI_Type_commit(&each_there);
    memset(all, -1, sizeof all);
    for (int i = 0; i < count; i++) {
        const int value = value_of(me, (size_t)i, round);
        mine[i] = value;
        if (in_place) all[apart ? (me * count + i) * 2 : me * count + i] = value;
    }
    {
        const void *const from = in_place ? MPI_IN_PLACE : from_there ? MPI_BOTTOM : mine;
        const MPI_Datatype type = from_there ? mine_there : MPI_INT, each = apart ? pairs : MPI_INT;
        const int n_from = from_there ? 1 : count, n_each = apart || to_there ? 1 : count;
        if (counts)
            MPI_Allgather_c(from, n_from, type, to_there ? MPI_BOTTOM : all, n_each, to_there ? each_there : each,
                            comms[which]);
        else
            MPI_Allgather(from, n_from, type, to_there ? MPI_BOTTOM : all, n_each, to_there ? each_there : each,
                          comms[which]);
    }
    for (int p = 0; p < size; p++)
        for (int i = 0; i < count; i++) {
            const int at = p * count + i;
            ok &= all[apart ? 2 * at : at] == value_of(p, (size_t)i, round) && (!apart || all[2 * at + 1] == -1);
        }
    if (!ok) printf("round %d, %s: %d numbers of each\n", round, words[which], count);
    CHECK(ok);
    MPI_Type_free(&spread);
    MPI_Type_free(&pairs);
    MPI_Type_free(&mine_there);
    MPI_Type_free(&all_there);
    MPI_Type_free(&each_there);
}

/* A long message, and one whose sender waits until it is received, may need both sides: the first process waits in a
 * barrier, the last one comes to the barrier after it. Meanwhile the first one has a message that it receives later:
 * MPI finds that one whenever it is asked. */
static void message(int which, int another) {
    static char out[1 << 20], in[1 << 20];
    int me, size, token = 0, answer = 0;
    MPI_Request request, answered, early;
    MPI_Comm_rank(comms[which], &me);
    MPI_Comm_size(comms[which], &size);
    if (size == 1) return;
    memset(out, 1 + world_rank(which, me), sizeof out);
    if (another && me == size - 1) MPI_Isend(&token, 1, MPI_INT, 0, 6, comms[which], &early);
    if (another && me == 0) MPI_Probe(size - 1, 6, comms[which], MPI_STATUS_IGNORE);
    if (me == 0) MPI_Isend(out, sizeof out, MPI_CHAR, size - 1, 5, comms[which], &request);
    if (me == 0) MPI_Irecv(&answer, 1, MPI_INT, size - 1, 7, comms[which], &answered);
    if (me == size - 1) {
        usleep(2000);
        MPI_Recv(in, sizeof in, MPI_CHAR, 0, 5, comms[which], MPI_STATUS_IGNORE);
        CHECK(in[0] == 1 + world_rank(which, 0) && in[sizeof in - 1] == in[0]);
        MPI_Ssend(&token, 1, MPI_INT, 0, 7, comms[which]);
    }
    MPI_Barrier(comms[which]);
    if (me == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (me == 0) MPI_Wait(&answered, MPI_STATUS_IGNORE);
    if (another && me == size - 1) MPI_Wait(&early, MPI_STATUS_IGNORE);
    if (another && me == 0) MPI_Recv(&token, 1, MPI_INT, size - 1, 6, comms[which], MPI_STATUS_IGNORE);
}

/* One process alone makes a call of no communicator. */
static void no_communicator(void) {
    int one = 1, sum;
    if (rank == 0) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        CHECK(class_of(MPI_Barrier(MPI_COMM_NULL)) == MPI_ERR_COMM);
        CHECK(class_of(MPI_Bcast(&one, 1, MPI_INT, 0, MPI_COMM_NULL)) == MPI_ERR_COMM);
        CHECK(class_of(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL)) == MPI_ERR_COMM);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    long *base;
    MPI_Win win;
    if (argc > 1) state = (uint64_t)atoll(argv[1]);
    begin();
    no_communicator();
    for (int round = 0; round < ROUND; round++) {
        int which;
        if (round % 50 == 0) {
            if (round) free_comms();
            make_comms();
            /* Some have windows, later ones the handles of those that were freed. */
            MPI_Win_allocate(64, 8, MPI_INFO_NULL, comms[round / 50 % COMMS], &base, &win);
        }
        which = (int)draw(COMMS);
        switch (draw(6)) {
            case 0: reduction(which, round, 0); break;
            case 1: reduction(which, round, 1); break;
            case 2: broadcast(which, round); break;
            case 3: gather(which, round); break;
            case 4: message(which, draw(2) == 0); break;
            default: MPI_Barrier(comms[which]); break;
        }
        if (round % 50 == 49) MPI_Win_free(&win);
    }
    free_comms();
    return end();
}
