/* SPDX-License-Identifier: BSD-3-Clause */
/* All five kinds of windows, on MPI_COMM_WORLD and on a communicator of some of its processes, each used and freed.
 * check-faults.sh makes one call of one process fail here (test/fault/fault.c): either all processes pass, as after a
 * window that was left to MPI, or the job ends with the reason. It fails no call before MPI_Init returns.
 * Broken by a step of making a window that one process abandons while the others wait in it. */
#include "check.h"

#include <dlfcn.h>

#define OK(call) CHECK((call) == MPI_SUCCESS)

enum { N = 8 };

static long mine[N];
static MPI_Comm comm;
static int me, size;

static void count_from_here(void) {
    void (*begin_count)(void);
    *(void **)(void *)&begin_count = dlsym(RTLD_DEFAULT, "fault_begin_count");
    if (begin_count) begin_count();
}

/* Each process puts its rank by a vector type to the next one, and adds 1 by a contiguous type. */
static void use(MPI_Win win, MPI_Aint at, const long *base) {
    const int next = (me + 1) % size, before = (me + size - 1) % size;
    long value[2] = {me + 1, me + 1}, one[2] = {1, 1}, got[2] = {0, 0};
    MPI_Datatype every_second, pair;
    OK(MPI_Type_vector(2, 1, 2, MPI_LONG, &every_second));
    OK(MPI_Type_contiguous(2, MPI_LONG, &pair));
    OK(MPI_Type_commit(&every_second));
    OK(MPI_Type_commit(&pair));
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win));
    OK(MPI_Put(value, 2, MPI_LONG, next, at, 1, every_second, win));
    OK(MPI_Win_flush(next, win));
    OK(MPI_Accumulate(one, 1, pair, next, at, 1, every_second, MPI_SUM, win));
    OK(MPI_Win_flush(next, win));
    OK(MPI_Get(got, 1, pair, next, at, 1, every_second, win));
    OK(MPI_Win_unlock(next, win));
    CHECK(got[0] == me + 2 && got[1] == me + 2);
    OK(MPI_Barrier(comm));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win));
    CHECK(base[0] == before + 2 && base[2] == before + 2);
    OK(MPI_Win_unlock(me, win));
    OK(MPI_Type_free(&every_second));
    OK(MPI_Type_free(&pair));
}

static void use_groups(MPI_Win win) {
    MPI_Group all, others;
    OK(MPI_Win_get_group(win, &all));
    OK(MPI_Group_excl(all, 1, &me, &others));
    OK(MPI_Win_post(others, 0, win));
    OK(MPI_Win_start(others, 0, win));
    OK(MPI_Win_complete(win));
    OK(MPI_Win_wait(win));
    OK(MPI_Group_free(&all));
    OK(MPI_Group_free(&others));
}

static void use_dynamic(void) {
    MPI_Aint at;
    long block[N] = {0};
    MPI_Win win;
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win));
    OK(MPI_Win_attach(win, block, sizeof block));
    OK(MPI_Win_attach(win, mine, sizeof mine));
    MPI_Get_address(block, &at);
    OK(MPI_Sendrecv_replace(&at, 1, MPI_AINT, (me + size - 1) % size, 0, (me + 1) % size, 0, comm, MPI_STATUS_IGNORE));
    OK(MPI_Barrier(comm));
    use(win, at, block);
    OK(MPI_Barrier(comm));
    OK(MPI_Win_detach(win, block));
    OK(MPI_Win_detach(win, mine));
    OK(MPI_Win_free(&win));
}

static void use_all_kinds(int shares) {
    MPI_Info info;
    MPI_Win win;
    long *base;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "alloc_shared_noncontig", "true"));
    OK(MPI_Win_create(mine, sizeof mine, sizeof *mine, MPI_INFO_NULL, comm, &win));
    use(win, 0, mine);
    OK(MPI_Win_fence(0, win));
    OK(MPI_Win_free(&win));
    OK(MPI_Win_allocate(sizeof mine, sizeof *mine, info, comm, &base, &win));
    use(win, 0, base);
    use_groups(win);
    OK(MPI_Win_free(&win));
    for (int contiguous = 0; shares && contiguous < 2; contiguous++) {
        OK(MPI_Win_allocate_shared(sizeof mine, sizeof *mine, contiguous ? MPI_INFO_NULL : info, comm, &base, &win));
        use(win, 0, base);
        OK(MPI_Win_free(&win));
    }
    use_dynamic();
    OK(MPI_Info_free(&info));
}

int main(void) {
    int shares;
    MPI_Comm part;
    begin();
    count_from_here();
    shares = one_node();
    for (int i = 0; i < 2; i++) {
        /* The last processes, in their opposite order; the first one alone if there are more than two. */
        OK(MPI_Comm_split(MPI_COMM_WORLD, n > 2 && rank == 0, -rank, &part));
        comm = i ? part : MPI_COMM_WORLD;
        MPI_Comm_rank(comm, &me);
        MPI_Comm_size(comm, &size);
        use_all_kinds(shares);
        OK(MPI_Comm_free(&part));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    printf("PE %d passed\n", rank);
    return MPI_Finalize();
}
