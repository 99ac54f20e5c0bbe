/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Finalize first deletes the attributes of MPI_COMM_SELF, and in their delete functions all of MPI works: windows
 * are used, made and freed, and so is memory of MPI_Alloc_mem. Broken by a library that ends its windows, or gives its
 * memory back, before it lets MPI_Finalize begin, and by one that ends before the last of these functions. */
#include "check.h"

static MPI_Win win[2] = {MPI_WIN_NULL, MPI_WIN_NULL}; /* of memory of MPI_Alloc_mem, and of MPI_Win_allocate */
static long *memory, *allocated;
static int functions; /* that have run */

/* Puts into, adds to and reads from the next process's memory. */
static void use_window(MPI_Win w, long *base, long value) {
    const int to = (rank + 1) % n;
    const long one = 1;
    long got = 0;
    MPI_Win_fence(0, w);
    base[0] = base[1] = 0;
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w);
    MPI_Win_lock_all(0, w);
    MPI_Put(&value, 1, MPI_LONG, to, 0, 1, MPI_LONG, w);
    MPI_Accumulate(&one, 1, MPI_LONG, 0, 1, 1, MPI_LONG, MPI_SUM, w);
    MPI_Win_flush_all(w);
    MPI_Get(&got, 1, MPI_LONG, to, 0, 1, MPI_LONG, w);
    MPI_Win_flush(to, w);
    MPI_Win_unlock_all(w);
    CHECK(got == value);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w);
    CHECK(base[0] == value && (rank != 0 || base[1] == n));
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w);
}

/* The attribute that was set last is deleted first: its function uses the windows, the next one frees them, and the
 * third one makes others. */
static int delete_self(MPI_Comm comm, int keyval, void *value, void *extra) {
    const long which = (long)(intptr_t)value;
    void *base;
    int found, level = -1;
    (void)comm, (void)keyval, (void)extra;
    CHECK(which == 2 - functions);
    functions++;
    MPI_Query_thread(&level);
    CHECK(level >= MPI_THREAD_SINGLE && (level == MPI_THREAD_SINGLE || !on_librma()));
    if (which == 2) {
        for (int i = 0; i < 2; i++) {
            MPI_Win_get_attr(win[i], MPI_WIN_BASE, &base, &found);
            CHECK(found && base == (i ? allocated : memory));
            use_window(win[i], base, 100 + i);
        }
    } else if (which == 1) {
        for (int i = 0; i < 2; i++) CHECK(MPI_Win_free(&win[i]) == MPI_SUCCESS && win[i] == MPI_WIN_NULL);
        memory[7] = 5; /* it is the program's until it frees it */
        CHECK(MPI_Free_mem(memory) == MPI_SUCCESS);
    } else {
        MPI_Win late;
        char *block;
        CHECK(MPI_Alloc_mem(1000, MPI_INFO_NULL, &block) == MPI_SUCCESS);
        memset(block, 1, 1000);
        MPI_Win_create(block, 1000, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &late);
        use_window(late, (long *)(void *)block, 300);
        MPI_Win_free(&late);
        CHECK(MPI_Free_mem(block) == MPI_SUCCESS);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return MPI_SUCCESS;
}

int main(void) {
    int keyvals[3], code;
    begin();
    MPI_Alloc_mem(64, MPI_INFO_NULL, &memory);
    MPI_Win_create(memory, 64, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win[0]);
    MPI_Win_allocate(64, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &allocated, &win[1]);
    for (int i = 0; i < 3; i++) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_self, &keyvals[i], NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, keyvals[i], (void *)(intptr_t)i);
    }
    code = end();
    CHECK(functions == 3);
    return code;
}
