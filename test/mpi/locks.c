/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Win_lock_all beside writers. Broken by a lock that MPI_Win_lock_all leaves for the first access, by one that a
 * process keeps while it waits in MPI_Win_lock_all for another, by one that is refused to it for the sake of a writer
 * that waits for others in MPI_Win_lock_all, and by a writer and a reader that both hold a lock. An argument names the
 * one part that shall run. */
#include "check.h"

static long *base;
static MPI_Win win;

static long get(int from, int at) {
    long x = -1;
    MPI_Get(&x, 1, MPI_LONG, from, at, 1, MPI_LONG, win);
    MPI_Win_flush(from, win);
    return x;
}

static void put(int to, int at, long x) {
    MPI_Put(&x, 1, MPI_LONG, to, at, 1, MPI_LONG, win);
    MPI_Win_flush(to, win);
}

static void tell(int to) { MPI_Send(NULL, 0, MPI_BYTE, to, 0, MPI_COMM_WORLD); }
static void hear(int from) { MPI_Recv(NULL, 0, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

/* Others may call something meanwhile. */
static void give_time(void) { usleep(20000); }

/* Of two processes in MPI_Win_lock_all, one ends its epoch when the other has accessed the memory of a third, for which
 * a writer waits. */
static void access_behind_writer(void) {
    const int writer = n - 1;
    if (n < 3) return;
    base[0] = base[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != writer) MPI_Win_lock_all(0, win);
    if (rank == 1) put(writer, 0, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == writer) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, writer, 0, win);
        CHECK(base[0] == 1 && base[1] == 2);
        MPI_Win_unlock(writer, win);
        return;
    }
    if (rank == 0) {
        give_time();
        put(writer, 1, 2);
        tell(1);
    }
    if (rank == 1) hear(0);
    MPI_Win_unlock_all(win);
}

/* A process in MPI_Win_lock_all keeps a writer out whom it has not accessed yet, and who then waits for its message. */
static void writer_waits_for_reader(int owner) {
    const int writer = n - 1, reader = 0;
    if (n < 2) return;
    if (rank == owner) base[0] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == reader) MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == writer) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, owner, 0, win);
        hear(reader);
        CHECK(get(owner, 0) == 7);
        MPI_Win_unlock(owner, win);
    }
    if (rank == reader) {
        give_time();
        put(owner, 0, 7);
        tell(writer);
        MPI_Win_unlock_all(win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A writer holds the locks of all processes at once, which it takes one after the other, and changes all their words: a
 * process in MPI_Win_lock_all finds them equal. It may have come between two locks of the writer. MPI does not promise
 * that these programs end if an implementation takes the locks of MPI_Win_lock_all one by one; librma does. */
static void writers_of_all(int descending) {
    enum { TIMES = 40 };
    if (!on_librma()) return;
    base[0] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < TIMES; i++) {
        long x = -1;
        if ((i + rank) % 2) {
            for (int k = 0; k < n; k++) {
                const int r = descending ? n - 1 - k : k;
                MPI_Win_lock(MPI_LOCK_EXCLUSIVE, r, 0, win);
                CHECK(k == 0 || get(r, 0) == x);
                x = get(r, 0);
            }
            for (int r = 0; r < n; r++) put(r, 0, x + 1);
            for (int r = 0; r < n; r++) MPI_Win_unlock(r, win);
        } else {
            MPI_Win_lock_all(0, win);
            for (int r = 0; r < n; r++) {
                CHECK(r == 0 || get(r, 0) == x);
                x = get(r, 0);
            }
            MPI_Win_unlock_all(win);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    CHECK(base[0] == (long)TIMES / 2 * n);
    MPI_Win_unlock(rank, win);
}

/* The writer takes its second lock only when another process is in MPI_Win_lock_all, for whose sake nobody may wait.
 */
static void writer_between_two_locks(int first, int second) {
    const int writer = n - 1;
    if (n < 2 || !on_librma()) return;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == writer) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, first, 0, win);
        MPI_Barrier(MPI_COMM_WORLD);
        give_time();
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, second, 0, win);
        put(first, 0, 5);
        put(second, 0, 5);
        MPI_Win_unlock(first, win);
        MPI_Win_unlock(second, win);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock_all(0, win);
        CHECK(get(first, 0) == 5 && get(second, 0) == 5);
        MPI_Win_unlock_all(win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A process calls MPI_Win_lock_all when another one is in it and a writer waits, or several. The one that is in it
 * waits for a message of the one that comes late. MPI does not promise that it comes in. */
static void late_reader(int owner) {
    if (n < 3 || !on_librma()) return;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        hear(1);
        MPI_Win_unlock_all(win);
    } else if (rank == 1) {
        give_time();
        MPI_Win_lock_all(0, win);
        tell(0);
        give_time();
        CHECK(get(owner, 0) == 0);
        MPI_Win_unlock_all(win);
    } else {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, owner, 0, win);
        put(owner, 0, get(owner, 0) + 1);
        MPI_Win_unlock(owner, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == owner) {
        CHECK(base[0] == n - 2);
        base[0] = 0;
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void reader_waits_for_writer(int type) {
    const int writer = n - 1, owner = 0;
    base[0] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == writer) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, owner, 0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == writer) {
        give_time();
        put(owner, 0, 3);
    } else {
        MPI_Win_lock(type, owner, 0, win);
        CHECK(get(owner, 0) == 3);
    }
    MPI_Win_unlock(owner, win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* What was refused has locked nothing and has ended nothing. */
static void refused_calls(void) {
    const int to = (rank + 1) % n;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    if (on_librma()) {
        MPI_Win_lock_all(0, win);
        CHECK(class_of(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win)) == MPI_ERR_RMA_SYNC);
        CHECK(class_of(MPI_Win_lock_all(0, win)) == MPI_ERR_RMA_SYNC);
        CHECK(class_of(MPI_Win_unlock(to, win)) == MPI_ERR_RMA_SYNC);
        CHECK(class_of(MPI_Win_fence(0, win)) == MPI_ERR_RMA_SYNC);
        put(to, 0, rank);
        CHECK(get(to, 0) == rank);
        MPI_Win_unlock_all(win);
        CHECK(class_of(MPI_Win_unlock_all(win)) == MPI_ERR_RMA_SYNC);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win);
        CHECK(class_of(MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win)) == MPI_ERR_RMA_SYNC);
        CHECK(class_of(MPI_Win_lock_all(0, win)) == MPI_ERR_RMA_SYNC);
        CHECK(get(to, 0) == rank);
        MPI_Win_unlock(to, win);
        CHECK(class_of(MPI_Win_unlock(to, win)) == MPI_ERR_RMA_SYNC);
        CHECK(class_of(MPI_Put(base, 1, MPI_LONG, to, 0, 1, MPI_LONG, win)) == MPI_ERR_RMA_SYNC);
    }
    MPI_Win_set_errhandler(win, MPI_ERRORS_ARE_FATAL);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int r = 0; r < n; r++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, r, 0, win);
        MPI_Win_unlock(r, win);
    }
}

int main(int argc, char **argv) {
    const char *part = argc > 1 ? argv[1] : NULL;
    begin();
    MPI_Win_allocate(2 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    if (!part || strcmp(part, "behind") == 0) access_behind_writer();
    for (int owner = 0; owner < n && (!part || strcmp(part, "waits") == 0); owner++) writer_waits_for_reader(owner);
    if (!part || strcmp(part, "between") == 0) {
        writer_between_two_locks(0, 1);
        writer_between_two_locks(1, 0);
        writer_between_two_locks(n - 1, 0);
    }
    if (!part || strcmp(part, "waits") == 0) {
        reader_waits_for_writer(MPI_LOCK_SHARED);
        reader_waits_for_writer(MPI_LOCK_EXCLUSIVE);
    }
    base[0] = 0;
    for (int owner = 0; owner < n && (!part || strcmp(part, "late") == 0); owner++) late_reader(owner);
    if (!part || strcmp(part, "all") == 0) writers_of_all(0);
    if (!part || strcmp(part, "descending") == 0) writers_of_all(1);
    if (!part || strcmp(part, "refused") == 0) refused_calls();
    MPI_Win_free(&win);
    return end();
}
