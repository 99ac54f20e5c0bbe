/* SPDX-License-Identifier: BSD-3-Clause */
/* A PE in a long transfer through MPI's window serves others meanwhile: without the progress thread only the transfer
 * itself can do this. So a PE that sends it a request, or asks for a sign of life, does not wait for the whole
 * transfer. Broken by a transfer in one piece.
 *
 * The last PE counts on PE 0 as fast as it can; PE 0 looks at the count before and after a transfer, by loads, which
 * serve nobody. */
#include "job.h"

#define LEN   ((size_t)48 << 20) /* several pieces of a blocking call */
#define TRIES 20                 /* the counting PE may be off its processor during one of them */

static struct { long count, over; } * shared;

static long now(void) { return __atomic_load_n(&shared->count, __ATOMIC_RELAXED); }

static void transfer(char *there, char *here, int get) {
    if (get)
        OK(rma_get(here, there, LEN, 1));
    else
        OK(rma_put(there, here, LEN, 1));
}

int main(void) {
    char *there, *here;
    job_begin();
    setenv("RMA_PROGRESS", "none", 1);
    setenv("RMA_WINDOW", "always", 1);
    OK(rma_init());
    job_look();
    if (job.one_node || job_room() < 2 * LEN)
        job_skip("needs PEs on several nodes (RMA_NODE_PES=1), and 96 MiB of memory for each PE");
    shared = rma_calloc(1, sizeof *shared);
    there = rma_malloc(LEN);
    here = malloc(LEN);
    CHECK(shared && there && here, "%s", rma_last_error());
    memset(here, 1, LEN);
    OK(rma_barrier_all());
    if (job.me == job.n - 1) {
        DOING("counting");
        while (__atomic_load_n(&shared->over, __ATOMIC_ACQUIRE) == 0) {
            rma_atomic_fetch_add(&shared->count, 1L, 0);
            rma_progress();
        }
    } else if (job.me == 0) {
        for (int get = 0; get <= 1; get++) {
            long served = 0;
            DOING(get ? "getting" : "putting");
            while (now() == 0) rma_progress();
            for (int i = 0; i < TRIES && served == 0; i++) {
                long before = now();
                transfer(there, here, get);
                served = now() - before;
            }
            CHECK(served > 0, "nobody was served during %d transfers of %zu bytes", TRIES, LEN);
        }
        for (int pe = 0; pe < job.n; pe++) rma_p(&shared->over, 1L, pe);
    }
    OK(rma_barrier_all());
    return job_end();
}
