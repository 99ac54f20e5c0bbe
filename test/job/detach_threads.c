/* SPDX-License-Identifier: BSD-3-Clause */
/* While rma_detach waits for a transfer in the region, other threads of its PE go on: the memory is attached no more,
 * may be attached anew, and be detached again, and the other PEs are served. No thread of the library drives progress
 * here. It also waits for the accesses of the PE's own threads: nothing touches the memory afterwards.
 *
 * Broken by an access that a thread makes to its own PE's region without being counted in it, by a detach that holds a
 * lock while it waits, which others need, by a second rma_detach of the same base that waits for what the first one
 * waits for, or ends it, and by a new region that is found by the old one's pointer. The PE whose put is under way is
 * stopped by the owner before its data leave, so that the owner's detach cannot end before the owner has seen all this.
 */
#include "job.h"

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

#define OWNER  0
#define ORIGIN 1
#define LONG   ((size_t)1 << 20)

static unsigned char *region, *bytes; /* private: global variables have global pointers of their own */
static struct {
    rma_gptr_t g;
    uint64_t pid;
} * board; /* symmetric */

static _Atomic long victim; /* the process to be stopped when its data are about to be received, or 0 */
static _Atomic int stopped, returned;

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request) {
    if (count >= (int)LONG && atomic_load(&victim)) {
        CHECK(kill((pid_t)atomic_exchange(&victim, 0), SIGSTOP) == 0, "the origin cannot be stopped");
        atomic_store(&stopped, 1);
    }
    return PMPI_Irecv(buffer, count, type, from, tag, comm, request);
}

static void *detacher(void *nothing) {
    (void)nothing;
    while (!atomic_load(&stopped)) OK(rma_progress());
    OK(rma_detach(region));
    atomic_store(&returned, 1);
    return NULL;
}

static void owner(uint64_t turn) {
    const pid_t origin = (pid_t)rma_g(&board->pid, ORIGIN);
    pthread_t thread;
    rma_gptr_t old = board->g, g = RMA_GPTR_NULL;
    unsigned char byte = 1;
    atomic_store(&returned, 0);
    atomic_store(&stopped, 0);
    atomic_store(&victim, (long)origin);
    memset(region, 0, LONG);
    OK(rma_barrier_all());
    CHECK(pthread_create(&thread, NULL, detacher, NULL) == 0, "no thread");
    DOING("waiting until another thread detaches");
    while (!atomic_load(&stopped) || rma_gptr(region, job.me) != RMA_GPTR_NULL) job_pause();
    DOING("attaching anew");
    EXPECT("rma_detach", rma_detach(region), RMA_ERR_BASE, "no region is attached");
    OK(rma_attach(region, LONG, &g));
    CHECK(g != old, "the new region has the old one's pointer");
    OK(rma_gptr_put(g + LONG - 1, &byte, 1));
    OK(rma_detach(region));
    EXPECT("rma_detach", rma_detach(region), RMA_ERR_BASE, "no region is attached");
    OK(rma_attach(region, LONG, &g));
    if (job.n > 2) {
        DOING("serving a third PE");
        OK(rma_p(&board->g, g, 2));
        OK(rma_quiet());
        while (__atomic_load_n(&board->pid, __ATOMIC_ACQUIRE) != turn) OK(rma_progress());
    }
    CHECK(!atomic_load(&returned), "rma_detach has returned before the put has ended");
    OK(kill(origin, SIGCONT));
    DOING("waiting for the thread that detaches");
    CHECK(pthread_join(thread, NULL) == 0, "the thread");
    CHECK(job_differs(region, 0, LONG, turn) == LONG, "the put is not there after rma_detach");
    OK(rma_detach(region));
}

/* ---- the PE's own threads ---- */

enum { PUT, GET, ADD, ACCESSES };
static rma_gptr_t own;
static _Atomic int begun;

static void *access_until_detached(void *access) {
    int code;
    do {
        switch (*(const int *)access) {
            case PUT: code = rma_gptr_put(own, bytes, LONG); break;
            case GET: code = rma_gptr_get(bytes, own, LONG); break;
            default: code = rma_gptr_atomic_add(own, (uint64_t)1);
        }
        atomic_store(&begun, 1);
    } while (code == RMA_SUCCESS);
    CHECK(code == RMA_ERR_ADDRESS, "after rma_detach: %s", rma_last_error());
    return NULL;
}

/* As soon as the region is detached its memory is taken away: an access that is still under way ends the process. */
static void own_thread(int turn) {
    int access = turn % ACCESSES;
    pthread_t thread;
    rma_errhandler *handler = rma_set_errhandler(rma_errors_return);
    atomic_store(&begun, 0);
    OK(rma_attach(region, LONG, &own));
    CHECK(pthread_create(&thread, NULL, access_until_detached, &access) == 0, "no thread");
    while (!atomic_load(&begun)) job_pause();
    job_sleep((long)(job_mix((uint64_t)turn) % 100));
    OK(rma_detach(region));
    CHECK(mprotect(region, LONG, PROT_NONE) == 0, "mprotect");
    CHECK(pthread_join(thread, NULL) == 0, "the thread");
    CHECK(mprotect(region, LONG, PROT_READ | PROT_WRITE) == 0, "mprotect");
    rma_set_errhandler(handler);
}

int main(int argc, char **argv) {
    int level;
    setenv("RMA_PROGRESS", "none", 1);
    job_begin();
    CHECK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level) == MPI_SUCCESS, "MPI");
    OK(rma_init_thread(RMA_THREAD_MULTIPLE, &level));
    job_look();
    CHECK(level == RMA_THREAD_MULTIPLE, "threads");
    region = aligned_alloc(65536, LONG);
    bytes = calloc(1, LONG);
    CHECK(region && bytes, "no memory");
    memset(region, 0, LONG);
    DOING("detaching what another thread accesses");
    for (int turn = 0; turn < 5 * ACCESSES; turn++) own_thread(turn);
    if (job.one_node) job_skip("needs PEs on several nodes (RMA_NODE_PES=1)");
    board = rma_calloc(1, sizeof *board);
    CHECK(board != NULL, "%s", rma_last_error());
    for (uint64_t turn = 1; turn <= 5; turn++) {
        board->g = RMA_GPTR_NULL;
        board->pid = job.me == OWNER ? 0 : (uint64_t)getpid();
        OK(rma_barrier_all());
        if (job.me == OWNER) {
            rma_gptr_t g;
            OK(rma_attach(region, LONG, &g));
            board->g = g;
            OK(rma_p(&board->g, g, ORIGIN));
            owner(turn);
        } else {
            OK(rma_barrier_all());
        }
        if (job.me == ORIGIN) {
            job_fill(bytes, 0, LONG, turn);
            OK(rma_gptr_put(board->g, bytes, LONG));
        } else if (job.me == 2) {
            unsigned char some[64];
            while (__atomic_load_n(&board->g, __ATOMIC_ACQUIRE) == RMA_GPTR_NULL) OK(rma_progress());
            OK(rma_gptr_get(some, board->g, sizeof some));
            OK(rma_atomic_set(&board->pid, turn, OWNER));
            OK(rma_quiet());
        }
        OK(rma_barrier_all());
    }
    free(region);
    free(bytes);
    OK(rma_finalize());
    MPI_Finalize();
    return 0;
}
