/* SPDX-License-Identifier: BSD-3-Clause */
/* A quiet ends although another thread continues to put in the same context: it completes only what began before it.
 * The same holds for a quiet of one PE, and for an atomic, which comes after the puts that began before it.
 *
 * Broken by a wait for a moment in which nothing is under way. No such moment comes: the other thread puts until this
 * one has ended, and the target does one message in a millisecond, so that messages always wait to be sent. */
#include "job.h"

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>

#define LONG  ((size_t)16 << 10)
#define TURNS 12

static _Atomic int over;
static unsigned char from[2][LONG];

static struct {
    unsigned char *bytes; /* LONG for each of the two threads */
    uint64_t *word, *end;
} there; /* symmetric */

static void *put_on(void *len) {
    while (!atomic_load(&over)) OK(rma_put_nbi(there.bytes, from[1], *(size_t *)len, 1));
    return NULL;
}

static void complete(int turn, size_t len) {
    const int pe = 1, other = job.n - 1;
    const uint64_t value = (uint64_t)turn + 1;
    unsigned char *mine = there.bytes + LONG;
    job_fill(from[0], 0, len, value);
    OK(rma_put(mine, from[0], len, pe));
    switch (turn % 3) {
        case 0: OK(rma_quiet()); break;
        case 1: OK(rma_pe_quiet(&pe, 1)); break;
        default: OK(rma_atomic_set(there.word, value, other)); OK(rma_pe_quiet(&pe, 1));
    }
    memset(from[0], 0, len);
    OK(rma_get(from[0], mine, len, pe));
    CHECK(job_differs(from[0], 0, len, value) == len, "the put is not there after turn %d", turn);
}

static void run(size_t len) {
    pthread_t thread;
    DOING("puts of one thread, and quiets of another");
    atomic_store(&over, 0);
    CHECK(pthread_create(&thread, NULL, put_on, &len) == 0, "no thread");
    for (int turn = 0; turn < TURNS; turn++) complete(turn, len);
    atomic_store(&over, 1);
    CHECK(pthread_join(thread, NULL) == 0, "the thread");
    for (int pe = 1; pe < job.n; pe++) OK(rma_atomic_set(there.end, len, pe));
    OK(rma_quiet());
}

int main(int argc, char **argv) {
    static const size_t lens[] = {8, LONG};
    int level;
    setenv("RMA_PROGRESS", "none", 1);
    setenv("RMA_WINDOW", "none", 1); /* MPI's flush lasts as long as another thread puts */
    job_begin();
    CHECK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level) == MPI_SUCCESS, "MPI");
    OK(rma_init_thread(RMA_THREAD_MULTIPLE, &level));
    job_look();
    CHECK(level == RMA_THREAD_MULTIPLE, "threads");
    there.bytes = rma_calloc(2, LONG);
    there.word = rma_calloc(2, sizeof *there.word);
    CHECK(there.bytes && there.word, "%s", rma_last_error());
    there.end = there.word + 1;
    for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) {
        OK(rma_barrier_all());
        if (job.me == 0) run(lens[i]);
        while (job.me > 0 && __atomic_load_n(there.end, __ATOMIC_ACQUIRE) != lens[i]) {
            job_sleep(1000);
            OK(rma_progress());
        }
    }
    OK(rma_barrier_all());
    OK(rma_finalize());
    MPI_Finalize();
    return 0;
}
