/* SPDX-License-Identifier: BSD-3-Clause */
/* A message that no PE sends ends the job, with words that name the PE from which it came and what is wrong with it
 * (test/job/plan has them).
 *
 * Broken by a receiver that trusts a message's contents: it would read beyond the message, or write to memory that does
 * not wait for a reply. Here messages with the tag of short messages, 0, are damaged on their way to MPI: with 2 PEs a
 * request is cut, with 3 a reply says that the request that it answers, and 999 more, were done before. */
#include "job.h"

#include <mpi.h>
#include <stdatomic.h>

enum { REQUEST, REPLY }; /* the first of the four numbers with which a message begins */
enum { KIND, NUMBER, N, DONE };

static _Atomic int damaging;

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request) {
    static uint16_t copy[2048];
    if (!atomic_load(&damaging) || tag != 0 || count > (int)sizeof copy)
        return PMPI_Isend(buffer, count, type, to, tag, comm, request);
    memcpy(copy, buffer, (size_t)count);
    if (job.n == 2 && copy[KIND] == REQUEST) count -= 8;
    if (job.n == 3 && copy[KIND] == REPLY) copy[DONE] = 1000;
    return PMPI_Isend(copy, count, type, to, tag, comm, request);
}

int main(void) {
    uint64_t *word;
    job_start();
    if (job.one_node) job_skip("needs PEs on several nodes (RMA_NODE_PES=1)");
    word = rma_calloc(1, sizeof *word);
    CHECK(word != NULL, "%s", rma_last_error());
    atomic_store(&damaging, job.n == 2 ? job.me == 1 : job.me == 0);
    OK(rma_barrier_all()); /* which sends no such messages */
    DOING("sending what is damaged");
    if (job.me == 1) rma_atomic_fetch_add(word, (uint64_t)1, 0);
    OK(rma_barrier_all());
    fprintf(stderr, "PE %d: nobody has noticed\n", job.me);
    return job_end();
}
