/* SPDX-License-Identifier: BSD-3-Clause */
/* A symmetric object has the same address on all PEs, on any nodes, so a program may send pointers to its peers. If one
 * PE's memory is in the way, all PEs use another address; if no address is free on all of them, the library still
 * works.
 *
 * Broken by a PE that maps its heap anywhere, by a PE that does not tell the others what is in its way, by a mapping
 * over the program's memory, and by reserved room that is never released. */
#include "job.h"

#include <mpi.h>
#include <sys/mman.h>

#define TRIES 8 /* more than there are addresses to try */

static long variable;

/* 1 if own is the same number on all PEs. */
static int all_have(uint64_t own) {
    uint64_t least[2] = {own, ~own};
    OK(MPI_Allreduce(MPI_IN_PLACE, least, 2, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD));
    return least[0] == ~least[1];
}

static void exchange(long **table) {
    for (int pe = 0; pe < job.n; pe++) {
        long *theirs = NULL;
        rma_get(&theirs, table, sizeof theirs, pe);
        CHECK(theirs == table[0], "PE %d has it at %p, not %p", pe, (void *)theirs, (void *)table[0]);
        CHECK(rma_atomic_fetch_add(theirs, 1L, pe) >= 0, "%s", rma_last_error());
    }
    rma_barrier_all();
    CHECK(*table[0] == job.n, "%ld of %d have added", *table[0], job.n);
}

int main(int argc, char **argv) {
    char *in_the_way[TRIES] = {NULL};
    int tries = 0, same = 1;
    OK(MPI_Init(&argc, &argv));
    for (; same && tries < TRIES; tries++) {
        long **table, *box;
        void *local = NULL;
        int blocker;
        job_start();
        table = rma_malloc(sizeof *table);
        box = rma_calloc(1, sizeof *box);
        OK(rma_alloc_mem(64, &local));
        CHECK(table && box, "%s", rma_last_error());
        same = all_have((uint64_t)(uintptr_t)box);
        if (tries == 0 && !job.slow) CHECK(same, "PE %d has its heap at %p", job.me, (void *)box);
        if (tries == 0 && same) CHECK(all_have((uint64_t)(uintptr_t)local), "the local heap is at %p", local);
        *table = box;
        rma_barrier_all();
        if (same) exchange(table);
        OK(rma_free_mem(local));
        rma_atomic_add(&variable, 1L, job_any(1));
        rma_barrier_all();
        blocker = tries % job.n;
        OK(rma_finalize());
        CHECK(variable == tries + 1, "%ld", variable);
        if (job.me != blocker || !same) continue;
        in_the_way[tries] =
            mmap(table, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        CHECK(in_the_way[tries] == (char *)table, "the heap's address is not free after rma_finalize");
        *in_the_way[tries] = 'x';
    }
    CHECK(tries < TRIES || job.n == 1, "%d addresses are free", tries);
    for (int i = 0; i < tries; i++)
        CHECK(!in_the_way[i] || *in_the_way[i] == 'x', "the memory at %p is overwritten", (void *)in_the_way[i]);
    OK(MPI_Finalize());
    puts("same_address: passed");
    return 0;
}
