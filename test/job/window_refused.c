/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI whose dynamic window has limits, or faults: test/check-window.sh runs this program with a fault on one PE or
 * all PEs, and reads the messages.
 *
 *     window_refused attach N PE    MPI_Win_attach fails from the Nth call of the PE on; PE -1: of each PE
 *     window_refused create 1 PE    MPI_Win_create_dynamic fails
 *     window_refused shift N PE     MPI_Put writes N bytes further than it should, through the dynamic window
 *     window_refused none 0 0       nothing of that
 *
 * Local heaps and the symmetric heap grow, memory is attached and detached, and all PEs access it, by puts, gets, and
 * atomics of which the totals must be exact. Broken by memory that is taken for a part of the window. */
#include "job.h"

#include <mpi.h>

#define ROUNDS  12
#define REGIONS 4

static const char *fault = "none";
static long first, faulty = -1, attached;
static MPI_Win dynamic = MPI_WIN_NULL;

static int is_here(const char *name) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return strcmp(fault, name) == 0 && (faulty < 0 || faulty == rank);
}

int MPI_Win_attach(MPI_Win win, void *base, MPI_Aint size) {
    if (is_here("attach") && __atomic_add_fetch(&attached, 1, __ATOMIC_RELAXED) >= first) return MPI_ERR_NO_MEM;
    return PMPI_Win_attach(win, base, size);
}

/* The others take part. */
int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win) {
    const int code = PMPI_Win_create_dynamic(info, comm, win);
    if (code != MPI_SUCCESS || !is_here("create")) {
        dynamic = *win;
        return code;
    }
    if (faulty < 0) PMPI_Win_free(win);
    return MPI_ERR_NO_MEM;
}

int MPI_Put(const void *from, int n, MPI_Datatype type, int pe, MPI_Aint at, int m, MPI_Datatype type_there,
            MPI_Win win) {
    if (win == dynamic && is_here("shift")) at += first;
    return PMPI_Put(from, n, type, pe, at, m, type_there, win);
}

/* Symmetric. */
static struct board { rma_gptr_t local, region[REGIONS]; } * board;

static rma_gptr_t told(const rma_gptr_t *word, int pe) {
    return (rma_gptr_t)rma_atomic_fetch((const uint64_t *)word, pe);
}

/* A word of 8 bytes in front of a part for each PE. */
static void use_memory(rma_gptr_t g, size_t part, uint64_t key) {
    static unsigned char bytes[1 << 20];
    const rma_gptr_t mine = g + 64 + (size_t)job.me * part;
    const int pe = rma_gptr_pe(g);
    CHECK(part <= sizeof bytes, "%zu bytes", part);
    job_fill(bytes, 0, part, key);
    OK(rma_gptr_put(mine, bytes, part));
    OK(rma_gptr_atomic_add_uint64(g, 1));
    rma_gptr_atomic_fetch_add_uint64(g, 2);
    job_settle(pe);
    memset(bytes, 0, part);
    OK(rma_gptr_get(bytes, mine, part));
    CHECK(job_differs(bytes, 0, part, key) == part, "%zu bytes of PE %d", part, pe);
}

static void check_memory(const unsigned char *base, size_t part, uint64_t key) {
    const uint64_t sum = *(const uint64_t *)(const void *)base;
    CHECK(sum == 3 * (uint64_t)job.n, "%llu, not %d", (unsigned long long)sum, 3 * job.n);
    for (int pe = 0; pe < job.n; pe++)
        CHECK(job_differs(base + 64 + (size_t)pe * part, 0, part, key + (uint64_t)pe) == part, "PE %d's part", pe);
}

static void grow_and_use(uint64_t round) {
    const size_t part = (size_t)(40000 + 7 * round), all = 64 + part * (size_t)job.n, small = 1000;
    unsigned char *local, *symmetric = rma_calloc(1, all), *region[REGIONS];
    const uint64_t key = round << 8;
    CHECK(symmetric != NULL, "%s", rma_last_error());
    OK(rma_alloc_mem(all, &local)); /* never given back: the heap grows */
    memset(local, 0, 64);
    board->local = rma_gptr(local, job.me);
    for (int i = 0; i < REGIONS; i++) {
        region[i] = calloc(1, 64 + small * (size_t)job.n);
        CHECK(region[i] != NULL, "no memory");
        OK(rma_attach(region[i], 64 + small * (size_t)job.n, &board->region[i]));
    }
    OK(rma_barrier_all());
    for (int i = 0; i < job.n; i++) {
        const int pe = job_any(i);
        use_memory(told(&board->local, pe), part, key + (uint64_t)job.me);
        use_memory(rma_gptr(symmetric, pe), part, key + (uint64_t)job.me);
        for (int k = 0; k < REGIONS; k++) use_memory(told(&board->region[k], pe), small, key + (uint64_t)job.me);
    }
    OK(rma_barrier_all());
    check_memory(local, part, key);
    check_memory(symmetric, part, key);
    for (int i = 0; i < REGIONS; i++) {
        check_memory(region[i], small, key);
        OK(rma_detach(region[i]));
        free(region[i]);
    }
}

int main(int argc, char **argv) {
    int code;
    job_begin();
    if (argc == 4) {
        fault = argv[1];
        first = atol(argv[2]);
        faulty = atol(argv[3]);
    }
    code = rma_init();
    if (code != RMA_SUCCESS) {
        fprintf(stderr, "rma_init returned %d: %s\n", code, rma_last_error());
        return 1;
    }
    job_look();
    if (job.one_node) job_skip("needs PEs on several nodes (RMA_NODE_PES=1)");
    board = rma_calloc(1, sizeof *board);
    CHECK(board != NULL, "%s", rma_last_error());
    job_raised.count = 0;
    for (uint64_t round = 1; round <= ROUNDS; round++) grow_and_use(round);
    CHECK(job_raised.count == 0, "%s", job_raised.text);
    printf("PE %d passed\n", job.me);
    return job_end();
}
