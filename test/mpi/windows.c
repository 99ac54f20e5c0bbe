/* SPDX-License-Identifier: BSD-3-Clause */
/* What belongs to a window beside its data: attributes, name, info, group, error handler; shared windows; attached
 * memory. On librma also the mistakes that it finds, each with MPI's class and the window's error handler. Broken by an
 * answer that the standard does not allow. */
#include "check.h"

#include <limits.h>

static int deleted, handled, handled_class;
static MPI_Win handled_win;

static int delete_attribute(MPI_Win win, int keyval, void *value, void *extra) {
    (void)win, (void)keyval;
    CHECK(value == &deleted && extra == &handled);
    deleted++;
    return MPI_SUCCESS;
}

static void handle_error(MPI_Win *win, int *code, ...) {
    handled++;
    handled_win = *win;
    handled_class = class_of(*code);
}

static void attributes(void) {
    MPI_Info info;
    MPI_Group group, world;
    MPI_Win win;
    char *base, name[MPI_MAX_OBJECT_NAME], value[64];
    void *p;
    MPI_Aint *size;
    int *number, flag, len, keyval, result;
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "false");
    MPI_Win_allocate(112 + 16 * rank, 4, info, MPI_COMM_WORLD, &base, &win);
    MPI_Info_free(&info);
    MPI_Win_get_attr(win, MPI_WIN_BASE, &p, &flag);
    CHECK(flag && p == base);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag);
    CHECK(flag && *size == 112 + 16 * rank);
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &number, &flag);
    CHECK(flag && *number == 4);
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &number, &flag);
    CHECK(flag && *number == MPI_WIN_FLAVOR_ALLOCATE);
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &number, &flag);
    CHECK(flag && *number == MPI_WIN_UNIFIED);
    MPI_Win_set_name(win, "a window");
    MPI_Win_get_name(win, name, &len);
    CHECK(strcmp(name, "a window") == 0 && len == 8);
    MPI_Win_get_info(win, &info);
    MPI_Info_get(info, "no_locks", 63, value, &flag);
    CHECK(flag && strcmp(value, "false") == 0);
    MPI_Info_free(&info);
    MPI_Win_get_group(win, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(group, world, &result);
    CHECK(result == MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&world);

    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_attribute, &keyval, &handled);
    MPI_Win_get_attr(win, keyval, &p, &flag);
    CHECK(!flag);
    MPI_Win_set_attr(win, keyval, &deleted);
    MPI_Win_get_attr(win, keyval, &p, &flag);
    CHECK(flag && p == &deleted);
    MPI_Win_set_attr(win, keyval, &deleted);
    CHECK(deleted == 1);
    MPI_Win_delete_attr(win, keyval);
    CHECK(deleted == 2);
    CHECK(MPI_Win_delete_attr(win, keyval) == MPI_SUCCESS && deleted == 2); /* there is nothing left */
    MPI_Win_set_attr(win, keyval, &deleted);
    MPI_Win_free_keyval(&keyval);
    CHECK(keyval == MPI_KEYVAL_INVALID);
    MPI_Win_free(&win);
    CHECK(deleted == 3 && win == MPI_WIN_NULL);
}

static void handlers(void) {
    MPI_Errhandler handler, got;
    MPI_Win win;
    char *base;
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_get_errhandler(win, &got);
    CHECK(got == MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&got);
    MPI_Win_create_errhandler(handle_error, &handler);
    MPI_Win_set_errhandler(win, handler);
    MPI_Win_get_errhandler(win, &got);
    CHECK(got == handler);
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&handler);
    CHECK(handler == MPI_ERRHANDLER_NULL);
    handled = 0;
    MPI_Win_call_errhandler(win, MPI_ERR_OTHER);
    CHECK(handled == 1 && handled_win == win && handled_class == MPI_ERR_OTHER);
    MPI_Win_lock(MPI_LOCK_SHARED, n, 0, win);
    CHECK(handled == 2 && handled_class == MPI_ERR_RANK);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Win_lock(MPI_LOCK_SHARED, n, 0, win)) == MPI_ERR_RANK && handled == 2);
    MPI_Win_free(&win);
}

static void shared(void) {
    MPI_Info info;
    MPI_Win win;
    char *base, *there;
    MPI_Aint size, before = 0;
    int unit;
    if (!one_node()) return;
    MPI_Win_allocate_shared(16 + rank, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    memset(base, rank + 1, (size_t)(16 + rank));
    MPI_Win_fence(0, win);
    for (int i = 0; i < n; i++) {
        MPI_Win_shared_query(win, i, &size, &unit, &there);
        CHECK(size == 16 + i && unit == 1 && there[0] == i + 1 && there[size - 1] == i + 1);
        if (i == 0) MPI_Win_shared_query(win, 0, &size, &unit, &base);
        CHECK(there == base + before); /* consecutive */
        before += 16 + i;
    }
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    MPI_Win_allocate_shared(rank == 0 ? 0 : 64, 4, info, MPI_COMM_WORLD, &base, &win);
    MPI_Info_free(&info);
    if (rank) *base = 5;
    MPI_Win_fence(0, win);
    if (n > 1) {
        MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &there);
        CHECK(size == 64 && *there == 5);
    }
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

#if MPI_VERSION >= 4
/* The calls whose displacement unit is an MPI_Aint. A unit above INT_MAX leaves one place that can be accessed: 0. The
 * attribute is an int. */
static void large_units(void) {
    const MPI_Aint units[] = {1, 24, (MPI_Aint)INT_MAX, (MPI_Aint)INT_MAX + 1, (MPI_Aint)1 << 40};
    const int to = (rank + 1) % n;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        for (int flavor = 0; flavor < 3; flavor++) {
            char *base, *there, *own = calloc(3, 24), x[24], got[24] = "";
            int *attribute, flag, unit;
            MPI_Aint size, disp = units[i] == 24 ? 1 : 0, large;
            MPI_Win win;
            if ((flavor == 2 && !one_node()) || (units[i] > INT_MAX && !on_librma())) { /* MPICH 4.0 cuts them */
                free(own);
                continue;
            }
            base = own;
            if (flavor == 0) MPI_Win_create_c(own, 72, units[i], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
            if (flavor == 1) MPI_Win_allocate_c(72, units[i], MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
            if (flavor == 2) MPI_Win_allocate_shared_c(72, units[i], MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
            memset(x, 1 + rank, sizeof x);
            memset(base, 0, 72);
            MPI_Win_fence(0, win);
            MPI_Put(x, 24, MPI_BYTE, to, disp, 24, MPI_BYTE, win);
            MPI_Win_fence(0, win);
            CHECK(base[disp * units[i]] == 1 + (rank + n - 1) % n && base[disp * units[i] + 24] == 0);
            MPI_Get(got, 24, MPI_BYTE, to, disp, 24, MPI_BYTE, win);
            MPI_Win_fence(0, win);
            CHECK(memcmp(x, got, 24) == 0);
            MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &attribute, &flag);
            CHECK(flag && (!on_librma() || *attribute == (units[i] > INT_MAX ? INT_MAX : (int)units[i])));
            if (flavor == 2) {
                MPI_Win_shared_query_c(win, to, &size, &large, &there);
                CHECK(size == 72 && large == units[i] && there[disp * units[i]] == 1 + rank);
                MPI_Win_shared_query(win, to, &size, &unit, &there);
                CHECK(size == 72 && (unit == units[i] || units[i] > INT_MAX));
                MPI_Win_fence(0, win);
            }
            if (on_librma() && units[i] > 72) {
                MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
                CHECK(class_of(MPI_Put(x, 1, MPI_BYTE, to, 1, 1, MPI_BYTE, win)) == MPI_ERR_RMA_RANGE);
                CHECK(class_of(MPI_Put(x, 1, MPI_BYTE, to, INT64_MAX, 1, MPI_BYTE, win)) == MPI_ERR_RMA_RANGE);
            }
            MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
            MPI_Win_free(&win);
            free(own);
        }
}
#endif

static void dynamic(void) {
    enum { PIECES = 20 };
    int *piece[PIECES];
    MPI_Aint at[PIECES], there[PIECES];
    MPI_Win win;
    int x;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < PIECES; i++) {
            if (i % 3)
                piece[i] = malloc(1000);
            else
                MPI_Alloc_mem(1000, MPI_INFO_NULL, &piece[i]);
            MPI_Win_attach(win, piece[i], 1000);
            MPI_Get_address(piece[i], &at[i]);
        }
        MPI_Sendrecv(at, PIECES, MPI_AINT, (rank + 1) % n, 0, there, PIECES, MPI_AINT, (rank + n - 1) % n, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Win_lock((round % 2) ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, (rank + n - 1) % n, 0, win);
        for (int i = 0; i < PIECES; i++) {
            x = 100 * rank + i;
            MPI_Put(&x, 1, MPI_INT, (rank + n - 1) % n, MPI_Aint_add(there[i], 996), 1, MPI_INT, win);
            MPI_Win_flush((rank + n - 1) % n, win);
        }
        MPI_Win_unlock((rank + n - 1) % n, win);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < PIECES; i++) {
            CHECK(piece[i][249] == 100 * ((rank + 1) % n) + i);
            MPI_Win_detach(win, piece[i]);
            if (i % 3)
                free(piece[i]);
            else
                MPI_Free_mem(piece[i]);
        }
    }
    MPI_Win_free(&win);
}

/* Overlapping windows, which MPICH 4.0 confuses, and memory without windows. */
static void memory(void) {
    char *block = malloc(4096), *mpi, x = 3, got = 0;
    MPI_Win outer, inner;
    MPI_Win_create(block, 4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &outer);
    MPI_Win_create(block + 64, 128, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &inner);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, inner);
    MPI_Put(&x, 1, MPI_CHAR, rank, 1, 1, MPI_CHAR, inner);
    MPI_Win_unlock(rank, inner);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, outer);
    MPI_Get(&got, 1, MPI_CHAR, rank, 65, 1, MPI_CHAR, outer);
    MPI_Win_unlock(rank, outer);
    CHECK(got == 3 || !on_librma());
    MPI_Win_free(&outer);
    MPI_Win_free(&inner);
    MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &outer);
    MPI_Win_fence(0, outer);
    MPI_Win_free(&outer);
    free(block);
    for (int i = 0; i < 10; i++) {
        MPI_Alloc_mem(1000 * i, MPI_INFO_NULL, &mpi);
        if (i) mpi[1000 * i - 1] = 1;
        MPI_Free_mem(mpi);
    }
}

#define IS(CLASS, CALL) CHECK(class_of(CALL) == CLASS)

static void mistakes(void) {
    MPI_Group world;
    MPI_Datatype mixed, type;
    MPI_Win win, dynamic;
    char text[MPI_MAX_ERROR_STRING], *base;
    const int lengths[2] = {1, 1};
    const MPI_Aint places[2] = {0, 8};
    const MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE};
    long x[4] = {0};
    int len, code;
    MPI_Aint size;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Type_create_struct(2, lengths, places, types, &mixed);
    MPI_Type_commit(&mixed);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    IS(MPI_ERR_SIZE, MPI_Win_allocate(-1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    IS(MPI_ERR_DISP, MPI_Win_allocate(1, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    IS(MPI_ERR_BASE, MPI_Win_create(NULL, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
#if MPI_VERSION >= 4
    IS(MPI_ERR_SIZE, MPI_Win_allocate_c(-1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    IS(MPI_ERR_DISP, MPI_Win_allocate_c(1, INT64_MIN, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    IS(MPI_ERR_BASE, MPI_Win_create_c(NULL, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
#endif
    MPI_Win_allocate(16, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_set_errhandler(dynamic, MPI_ERRORS_RETURN);
#ifdef MPI_ERRORS_ABORT
    IS(MPI_SUCCESS, MPI_Win_set_errhandler(win, MPI_ERRORS_ABORT));
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
#endif
    IS(MPI_ERR_ARG, MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, NULL, &win));
    IS(MPI_ERR_ARG, MPI_Win_test(win, NULL));
    IS(MPI_ERR_ARG, MPI_Win_get_attr(win, MPI_WIN_BASE, NULL, &len));
    IS(MPI_ERR_ARG, MPI_Win_get_attr(win, MPI_WIN_BASE, &base, NULL));
    IS(MPI_ERR_ARG, MPI_Win_get_group(win, NULL));
    IS(MPI_ERR_ARG, MPI_Win_get_info(win, NULL));
    IS(MPI_ERR_ARG, MPI_Win_get_name(win, text, NULL));
    IS(MPI_ERR_ARG, MPI_Win_get_errhandler(win, NULL));
    IS(MPI_ERR_RMA_SYNC, MPI_Put(x, 1, MPI_LONG, rank, 0, 1, MPI_LONG, win));
    IS(MPI_ERR_RMA_SYNC, MPI_Win_unlock(rank, win));
    IS(MPI_ERR_RMA_SYNC, MPI_Win_unlock_all(win));
    IS(MPI_ERR_RMA_SYNC, MPI_Win_complete(win));
    IS(MPI_ERR_RMA_SYNC, MPI_Win_wait(win));
    IS(MPI_ERR_RMA_SYNC, MPI_Win_test(win, &len));
    IS(MPI_ERR_RMA_SYNC, MPI_Win_flush(rank, win));
    IS(MPI_ERR_RMA_SYNC, MPI_Win_flush_all(win));
    IS(MPI_ERR_LOCKTYPE, MPI_Win_lock(77, rank, 0, win));
    IS(MPI_ERR_RANK, MPI_Win_lock(MPI_LOCK_SHARED, n, 0, win));
    IS(MPI_ERR_ASSERT, MPI_Win_lock(MPI_LOCK_SHARED, rank, MPI_MODE_NOSTORE, win));
    IS(MPI_ERR_ASSERT, MPI_Win_fence(1 << 30, win));
    IS(MPI_ERR_RMA_FLAVOR, MPI_Win_shared_query(win, 0, &size, &len, &base));
    IS(MPI_ERR_RMA_FLAVOR, MPI_Win_attach(win, x, 8));
    IS(MPI_ERR_RMA_ATTACH, MPI_Win_detach(dynamic, x));
    MPI_Win_attach(dynamic, x, sizeof x);
    IS(MPI_ERR_RMA_ATTACH, MPI_Win_attach(dynamic, x + 1, 8));
    MPI_Win_detach(dynamic, x);

    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    IS(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    IS(MPI_ERR_RMA_SYNC, MPI_Win_lock_all(0, win));
    IS(MPI_ERR_RMA_SYNC, MPI_Win_fence(0, win));
    IS(MPI_ERR_RMA_SYNC, MPI_Win_start(world, 0, win));
    IS(MPI_ERR_RMA_SYNC, MPI_Win_free(&win));
    IS(MPI_ERR_RANK, MPI_Put(x, 1, MPI_LONG, n, 0, 1, MPI_LONG, win));
    IS(MPI_ERR_COUNT, MPI_Put(x, -1, MPI_LONG, rank, 0, -1, MPI_LONG, win));
    IS(MPI_ERR_TYPE, MPI_Put(x, 1, MPI_DATATYPE_NULL, rank, 0, 1, MPI_LONG, win));
    IS(MPI_ERR_DISP, MPI_Get(x, 1, MPI_LONG, rank, -1, 1, MPI_LONG, win));
    IS(MPI_ERR_RMA_RANGE, MPI_Get(x, 3, MPI_LONG, rank, 0, 3, MPI_LONG, win));
    IS(MPI_ERR_RMA_RANGE, MPI_Put(x, 1, MPI_LONG, rank, 2, 1, MPI_LONG, win));
    IS(MPI_ERR_RMA_RANGE, MPI_Accumulate(x, 1, MPI_LONG, rank, 2, 1, MPI_LONG, MPI_SUM, win));
    IS(MPI_ERR_BUFFER, MPI_Put(NULL, 1, MPI_LONG, rank, 0, 1, MPI_LONG, win));
    IS(MPI_ERR_BUFFER, MPI_Accumulate(NULL, 1, MPI_LONG, rank, 0, 1, MPI_LONG, MPI_SUM, win));
    IS(MPI_ERR_BUFFER, MPI_Accumulate(NULL, 2, MPI_LONG, rank, 0, 2, MPI_LONG, MPI_SUM, win));
    IS(MPI_ERR_BUFFER, MPI_Get_accumulate(x, 2, MPI_LONG, NULL, 2, MPI_LONG, rank, 0, 2, MPI_LONG, MPI_SUM, win));
    IS(MPI_ERR_BUFFER, MPI_Fetch_and_op(NULL, x, MPI_LONG, rank, 0, MPI_SUM, win));
    IS(MPI_ERR_BUFFER, MPI_Fetch_and_op(x, NULL, MPI_LONG, rank, 0, MPI_SUM, win));
    IS(MPI_ERR_BUFFER, MPI_Compare_and_swap(NULL, x, x, MPI_LONG, rank, 0, win));
    IS(MPI_ERR_BUFFER, MPI_Compare_and_swap(x, NULL, x, MPI_LONG, rank, 0, win));
    IS(MPI_ERR_BUFFER, MPI_Compare_and_swap(x, x, NULL, MPI_LONG, rank, 0, win));
    IS(MPI_SUCCESS, MPI_Accumulate(NULL, 0, MPI_LONG, rank, 0, 0, MPI_LONG, MPI_SUM, win));
    MPI_Type_contiguous(2, MPI_LONG, &type);
    IS(MPI_ERR_TYPE, MPI_Put(x, 1, type, rank, 0, 1, type, win));
    MPI_Type_commit(&type);
    IS(MPI_SUCCESS, MPI_Put(x, 1, type, rank, 0, 1, type, win));
    MPI_Type_free(&type);
    IS(MPI_ERR_OP, MPI_Accumulate(x, 1, MPI_LONG, rank, 0, 1, MPI_LONG, MPI_MINLOC, win));
    IS(MPI_ERR_OP, MPI_Accumulate(x, 1, MPI_DOUBLE, rank, 0, 1, MPI_DOUBLE, MPI_BAND, win));
    IS(MPI_ERR_OP, MPI_Accumulate(x, 1, MPI_LONG, rank, 0, 1, MPI_LONG, MPI_NO_OP, win));
    IS(MPI_ERR_TYPE, MPI_Accumulate(x, 1, MPI_LONG, rank, 0, 1, MPI_DOUBLE, MPI_SUM, win));
    IS(MPI_ERR_TYPE, MPI_Accumulate(x, 1, mixed, rank, 0, 1, mixed, MPI_SUM, win));
    IS(MPI_ERR_TYPE, MPI_Compare_and_swap(x, x, x, MPI_DOUBLE, rank, 0, win));
    IS(MPI_SUCCESS, MPI_Put(x, 0, MPI_LONG, rank, 0, 0, MPI_LONG, win));
    IS(MPI_SUCCESS, MPI_Put(x, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win));
    code = MPI_Put(x, 3, MPI_LONG, rank, 0, 3, MPI_LONG, win);
    MPI_Error_string(code, text, &len);
    CHECK(strstr(text, "MPI_Put") && strstr(text, "16 bytes")); /* the window's size */
    MPI_Win_unlock(rank, win);

    MPI_Win_lock_all(0, win);
    IS(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    IS(MPI_ERR_RMA_SYNC, MPI_Win_lock_all(0, win));
    IS(MPI_ERR_RMA_SYNC, MPI_Win_unlock(rank, win));
    MPI_Win_unlock_all(win);
    MPI_Win_post(MPI_GROUP_EMPTY, 0, win);
    IS(MPI_ERR_RMA_SYNC, MPI_Win_post(MPI_GROUP_EMPTY, 0, win));
    IS(MPI_ERR_RMA_SYNC, MPI_Win_fence(0, win));
    MPI_Win_wait(win);
    MPI_Win_start(MPI_GROUP_EMPTY, 0, win);
    IS(MPI_ERR_RMA_SYNC, MPI_Win_start(MPI_GROUP_EMPTY, 0, win));
    IS(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    IS(MPI_ERR_RMA_SYNC, MPI_Put(x, 1, MPI_LONG, rank, 0, 1, MPI_LONG, win));
    MPI_Win_complete(win);
    IS(MPI_ERR_GROUP, MPI_Win_start(MPI_GROUP_NULL, 0, win));
    IS(MPI_ERR_RMA_SYNC, MPI_Rput(x, 1, MPI_LONG, rank, 0, 1, MPI_LONG, win, NULL));
    MPI_Win_free(&win);
    MPI_Win_free(&dynamic);
    MPI_Type_free(&mixed);
    MPI_Group_free(&world);
}

/* The level that the program has asked for, though librma has MPI give more: it decides which locks librma takes. */
static void thread_level(void) {
    int level = -1;
    MPI_Query_thread(&level);
    CHECK(on_librma() ? level == MPI_THREAD_SINGLE : level >= MPI_THREAD_SINGLE);
}

int main(void) {
    begin();
    thread_level();
    attributes();
    handlers();
    shared();
#if MPI_VERSION >= 4
    large_units();
#endif
    dynamic();
    memory();
    if (on_librma()) mistakes();
    return end();
}
