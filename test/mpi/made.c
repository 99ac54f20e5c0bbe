/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes that are made, used and freed over and over, by several threads, in any order: each moves what its
 * arguments say, and keeps nothing of the types that were freed before: no attribute, no name, no reference of others.
 * Broken by a type that is given out for other arguments, or while somebody still has it. */
#include "check.h"

#include <pthread.h>

#define ROW     24 /* doubles of a row of the matrix */
#define ROWS    24
#define CELLS   (ROW * ROWS)
#define THREADS 3
#define ROUNDS  4000
#define HELD    6 /* types that a thread has at a time */

/* A type, and the places of its elements in the order of the data. */
struct made {
    MPI_Datatype type;
    int count, place[CELLS];
};

struct thread {
    pthread_t id;
    unsigned seed;
    MPI_Win win;
    double *base;
    struct made made[HELD];
};

static int draw(struct thread *t, int below) {
    t->seed = t->seed * 1664525u + 1013904223u;
    return (int)((t->seed >> 8) % (unsigned)below);
}

static void add_row(struct made *m, int first, int len) {
    for (int i = 0; i < len; i++) m->place[m->count++] = first + i;
}

/* A type of random arguments, of which there are many more than a library would keep. */
static void make(struct thread *t, struct made *m) {
    const int sizes[2] = {ROWS, ROW}, rows = 1 + draw(t, 4), len = 1 + draw(t, 3), stride = len + draw(t, 8),
              parts[2] = {rows, len}, starts[2] = {draw(t, 8), draw(t, 8)};
    m->count = 0;
    switch (draw(t, 5)) {
        case 0:
            CHECK(MPI_Type_contiguous(rows, MPI_DOUBLE, &m->type) == 0);
            add_row(m, 0, rows);
            break;
        case 1:
            CHECK(MPI_Type_vector(rows, len, stride, MPI_DOUBLE, &m->type) == 0);
            for (int r = 0; r < rows; r++) add_row(m, r * stride, len);
            break;
        case 2:
            CHECK(MPI_Type_create_hvector(rows, len, stride * (MPI_Aint)sizeof(double), MPI_DOUBLE, &m->type) == 0);
            for (int r = 0; r < rows; r++) add_row(m, r * stride, len);
            break;
        case 3:
            CHECK(MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &m->type) == 0);
            for (int r = 0; r < rows; r++) add_row(m, (starts[0] + r) * ROW + starts[1], len);
            break;
        default: /* the first dimension is the fastest one */
            CHECK(MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_DOUBLE, &m->type) == 0);
            for (int r = 0; r < len; r++) add_row(m, (starts[1] + r) * ROWS + starts[0], rows);
    }
    CHECK(MPI_Type_commit(&m->type) == 0);
}

/* Puts data by the type, frees it or not, and reads all cells. */
static void use(struct thread *t, struct made *m) {
    double data[CELLS], cells[CELLS], expected[CELLS];
    const int target = (rank + 1) % n, frees = draw(t, 2);
    for (int i = 0; i < CELLS; i++) data[i] = draw(t, 1000), expected[i] = -1;
    for (int i = 0; i < CELLS; i++) cells[i] = -1;
    for (int i = 0; i < m->count; i++) expected[m->place[i]] = data[i];
    MPI_Put(cells, CELLS, MPI_DOUBLE, target, 0, CELLS, MPI_DOUBLE, t->win);
    MPI_Win_flush(target, t->win);
    MPI_Put(data, m->count, MPI_DOUBLE, target, 0, 1, m->type, t->win);
    if (frees) CHECK(MPI_Type_free(&m->type) == 0 && m->type == MPI_DATATYPE_NULL);
    MPI_Win_flush(target, t->win);
    MPI_Get(cells, CELLS, MPI_DOUBLE, target, 0, CELLS, MPI_DOUBLE, t->win);
    MPI_Win_flush(target, t->win);
    for (int i = 0; i < CELLS; i++) CHECK(cells[i] == expected[i]);
}

static void *make_and_use(void *argument) {
    struct thread *t = argument;
    for (int i = 0; i < HELD; i++) t->made[i].type = MPI_DATATYPE_NULL;
    for (int round = 0; round < ROUNDS; round++) {
        struct made *m = &t->made[draw(t, HELD)];
        if (m->type == MPI_DATATYPE_NULL)
            make(t, m);
        else if (draw(t, 3) == 0)
            MPI_Type_free(&m->type);
        else
            use(t, m);
    }
    for (int i = 0; i < HELD; i++)
        if (t->made[i].type != MPI_DATATYPE_NULL) MPI_Type_free(&t->made[i].type);
    return NULL;
}

static void by_threads(void) {
    static struct thread threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        threads[i].seed = (unsigned)(rank * THREADS + i);
        MPI_Win_allocate(CELLS * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &threads[i].base,
                         &threads[i].win);
        MPI_Win_lock_all(0, threads[i].win);
    }
    for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i].id, NULL, make_and_use, &threads[i]) == 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i].id, NULL);
    for (int i = 0; i < THREADS; i++) {
        MPI_Win_unlock_all(threads[i].win);
        MPI_Win_free(&threads[i].win);
    }
}

static MPI_Datatype rows_of(int count) {
    MPI_Datatype type;
    CHECK(MPI_Type_vector(count, 2, 5, MPI_INT, &type) == 0 && MPI_Type_commit(&type) == 0);
    return type;
}

static int deleted;
static int count_deleted(MPI_Datatype type, int keyval, void *value, void *extra) {
    (void)type, (void)keyval, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

/* A type does not inherit from one with the same arguments that was freed. */
static void nothing_inherited(void) {
    char name[MPI_MAX_OBJECT_NAME] = "";
    int keyval, has = 0, len = 0, value = 7;
    void *found;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, count_deleted, &keyval, NULL);
    for (int round = 1; round <= 4; round++) {
        MPI_Datatype type = rows_of(3);
        CHECK(MPI_Type_get_attr(type, keyval, &found, &has) == 0 && !has);
        CHECK(MPI_Type_get_name(type, name, &len) == 0 && len == 0);
        if (round % 2)
            MPI_Type_set_attr(type, keyval, &value);
        else
            MPI_Type_set_name(type, "rows");
        MPI_Type_free(&type);
        CHECK(deleted == (round + 1) / 2);
    }
    MPI_Type_free_keyval(&keyval);
}

/* References to one type: the program gets them from the type that was made of it. */
static void references(void) {
    int integers[1];
    MPI_Aint addresses[2];
    for (int round = 0; round < 4; round++) {
        MPI_Datatype inner = rows_of(4), again, other, outer, content[1];
        int size = 0;
        MPI_Type_create_resized(inner, 0, 400, &outer);
        MPI_Type_commit(&outer);
        if (round % 2) MPI_Type_free(&inner);
        again = rows_of(4); /* perhaps the same one */
        MPI_Type_get_contents(outer, 0, 2, 1, integers, addresses, content);
        CHECK(MPI_Type_size(content[0], &size) == 0 && size == 32);
        MPI_Type_free(&content[0]);
        CHECK(MPI_Type_size(again, &size) == 0 && size == 32);
        MPI_Type_free(&again);
        other = rows_of(4);
        if (!(round % 2)) CHECK(MPI_Type_size(inner, &size) == 0 && size == 32);
        CHECK(MPI_Type_size(other, &size) == 0 && size == 32);
        CHECK(MPI_Type_size(outer, &size) == 0 && size == 32);
        if (!(round % 2)) MPI_Type_free(&inner);
        MPI_Type_free(&other);
        MPI_Type_free(&outer);
    }
}

/* A type that is freed twice is an error, and the types that others have stay whole. */
static void freed_twice(void) {
    MPI_Datatype first = rows_of(6), same = first, next;
    int size = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Type_free(&first);
    if (on_librma()) CHECK(class_of(MPI_Type_free(&same)) == MPI_ERR_TYPE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    next = rows_of(6);
    CHECK(MPI_Type_size(next, &size) == 0 && size == 48);
    MPI_Type_free(&next);
}

int main(void) {
    int provided;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    nothing_inherited();
    references();
    freed_twice();
    by_threads();
    return end();
}
