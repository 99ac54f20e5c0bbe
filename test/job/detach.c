/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_detach waits for long transfers of other nodes that are under way in the region, and itself drives their
 * progress, in a program without a progress thread: MPI was initialized by MPI_Init. It does not wait for a failed
 * transfer.
 *
 * Broken by a detach that only sleeps, and never receives the data for which it waits; by a detach that returns before
 * the last byte has arrived; by an owner that fails a transfer for lack of memory and still counts it; and by an owner
 * that ends the job since it has no memory for a reply. This program is linked with the library's objects, whose malloc
 * fails on request. */
#include "job.h"

#include <mpi.h>
#include <stdatomic.h>

#define OWNER 0
#define LONG  ((size_t)1 << 20)
#define PART  (LONG + 64) /* of each PE */

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
static _Atomic size_t refused = SIZE_MAX, refusals; /* blocks of this size and larger ones are not to be had */

void *__wrap_malloc(size_t size) {
    if (size < atomic_load(&refused)) return __real_malloc(size);
    atomic_fetch_add(&refusals, 1);
    return NULL;
}

/* Of this PE: how many long transfers have been begun by the owner's side. */
static _Atomic int begun;

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request) {
    if (job.me == OWNER && count >= (int)LONG) atomic_fetch_add(&begun, 1);
    return PMPI_Irecv(buffer, count, type, from, tag, comm, request);
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request) {
    if (job.me == OWNER && count >= (int)LONG) atomic_fetch_add(&begun, 1);
    return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

static rma_gptr_t *where; /* symmetric: the owner's region, on each PE */
static uint64_t *sum;     /* symmetric */
static unsigned char *region, *mine;

static uint64_t key_of(int turn, int pe) { return (uint64_t)turn << 8 | (uint64_t)pe; }

static void tell_region(void) {
    rma_gptr_t g;
    if (job.me == OWNER) {
        OK(rma_attach(region, PART * (size_t)job.n, &g));
        for (int pe = 0; pe < job.n; pe++) OK(rma_put(where, &g, sizeof g, pe));
    }
    OK(rma_barrier_all());
}

/* The owner is about to detach when all others' transfers have been begun on its side, and goes on only in
 * rma_detach. */
static void in_flight(int turn, bool get) {
    const rma_gptr_t at = *where + PART * (size_t)job.me;
    atomic_store(&begun, 0);
    for (int pe = 0; job.me == OWNER && pe < job.n; pe++)
        job_fill(region + PART * (size_t)pe, 0, LONG, key_of(turn, pe));
    if (job.me != OWNER) job_fill(mine, 0, LONG, get ? 0 : ~key_of(turn, job.me));
    OK(rma_barrier_all());
    if (job.me != OWNER) {
        OK(get ? rma_gptr_get(mine, at, LONG) : rma_gptr_put(at, mine, LONG));
        if (get) CHECK(job_differs(mine, 0, LONG, key_of(turn, job.me)) == LONG, "what was got");
    } else {
        while (atomic_load(&begun) < job.n - 1) OK(rma_progress());
        OK(rma_detach(region));
        for (int pe = 1; !get && pe < job.n; pe++)
            CHECK(job_differs(region + PART * (size_t)pe, 0, LONG, ~key_of(turn, pe)) == LONG,
                  "PE %d's put is not there after rma_detach", pe);
    }
    OK(rma_barrier_all());
    if (job.me != OWNER)
        EXPECT("rma_gptr_get", rma_gptr_get(mine, at, 1), RMA_ERR_ADDRESS, "no region that PE 0 has attached");
    OK(rma_barrier_all());
}

/* The owner has no memory for blocks of `size` bytes and more, between two meetings. */
static void meet_without(size_t size) {
    OK(rma_barrier_all());
    if (job.me == OWNER) atomic_store(&refused, size);
    OK(rma_barrier_all());
}

int main(int argc, char **argv) {
    int level;
    setenv("RMA_STATICS", "off", 1); /* the library's variables are the program's here */
    setenv("RMA_WINDOW", "none", 1); /* what goes through the window is not answered */
    job_begin();
    CHECK(MPI_Init(&argc, &argv) == MPI_SUCCESS && MPI_Query_thread(&level) == MPI_SUCCESS, "MPI");
    CHECK(level < MPI_THREAD_MULTIPLE, "this MPI cannot be had without threads");
    OK(rma_init());
    job_look();
    if (job.one_node) job_skip("needs PEs on several nodes (RMA_NODE_PES=1)");

    DOING("answering without memory for answers");
    sum = rma_calloc(1, sizeof *sum);
    where = rma_calloc(1, sizeof *where);
    CHECK(sum && where, "%s", rma_last_error());
    meet_without(1);
    if (job.me != OWNER)
        for (int i = 0; i < 100; i++)
            CHECK(rma_atomic_fetch_add(sum, (uint64_t)1, OWNER) < 100 * (uint64_t)job.n, "a sum");
    meet_without(SIZE_MAX);
    CHECK(job.me != OWNER || *sum == 100 * (uint64_t)(job.n - 1), "%llu", (unsigned long long)*sum);

    region = malloc(PART * (size_t)job.n);
    mine = calloc(1, LONG);
    CHECK(region && mine, "no memory");
    DOING("detaching while others put and get");
    for (int turn = 0; turn < 4; turn++) {
        tell_region();
        in_flight(turn, turn & 1);
    }

    DOING("detaching after transfers that found no memory");
    tell_region();
    atomic_store(&refusals, 0);
    meet_without(1);
    if (job.me != OWNER) {
        EXPECT("rma_gptr_put", rma_gptr_put(*where + PART * (size_t)job.me, mine, LONG), RMA_ERR_NO_MEM, "PE 0",
               "memory");
        EXPECT("rma_gptr_get", rma_gptr_get(mine, *where, LONG), RMA_ERR_NO_MEM, "PE 0", "memory");
    }
    meet_without(SIZE_MAX);
    CHECK(job.me != OWNER || atomic_load(&refusals) > 0, "nothing has been refused");
    if (job.me == OWNER) OK(rma_detach(region));
    OK(rma_barrier_all());
    free(region);
    free(mine);
    OK(rma_finalize());
    MPI_Finalize();
    return 0;
}
