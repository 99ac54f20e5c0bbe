/* SPDX-License-Identifier: BSD-3-Clause */
/* A PE that is killed in the middle of its work does not block the others: the launcher ends the job, or, if told not
 * to, the others continue or get an error.
 *
 * Broken by a lock that a dead PE keeps, by an owner that waits for that lock, and by memory in /dev/shm that nobody
 * removes.
 *
 * By itself, all PEs work until one is killed, and the launcher ends them. With RMA_TEST_DYING=survive
 * (test/check-dying.sh, on one node, under a launcher that lets the others live) PEs are killed one after the other
 * while they allocate on PE 0, and each survivor prints what became of it. RMA_TEST_SEED gives the moments, and who
 * dies. */
#include "job.h"

#include <pthread.h>
#include <sys/types.h>

#define LARGEST 40000

static struct {
    long pid[JOB_PES_MAX]; /* of PE 0: all processes */
    long killed;           /* of PE 0: all who are to die are dead */
    rma_gptr_t own;        /* a block of PE 0's own, for this PE to give back */
    long work;
} * shared; /* symmetric */

static int is_victim(int pe) { return pe >= 2; }

/* Those who are to die, one after the other, or any one: in moments that differ from seed to seed. */
static void *kill_them(void *argument) {
    uint64_t random = job_stream(7);
    int one = argument ? (int)job_below(&random, (size_t)job.n) : -1;
    for (int pe = 0; pe < job.n; pe++) {
        if (argument ? pe != one : !is_victim(pe)) continue;
        job_sleep(3000 + (long)job_below(&random, 20000));
        if (argument) {
            fprintf(stderr, "PE %d is to die\n", pe);
            nanosleep(&(struct timespec){.tv_nsec = 300000000},
                      NULL); /* launchers lose what is printed just before a death */
        }
        kill((pid_t)shared->pid[pe], SIGKILL);
    }
    __atomic_store_n(&shared->killed, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* One step of work on PE 0's heap; the code of the allocation. */
static int step(uint64_t *random, rma_gptr_t *held, size_t n) {
    size_t k = job_below(random, n), size = LARGEST / 4 + job_length(random, LARGEST / 4 * 3);
    int code = RMA_SUCCESS;
    if (held[k]) {
        OK(rma_gptr_free(held[k]));
        held[k] = RMA_GPTR_NULL;
    } else if ((code = rma_alloc_mem_on(0, size, &held[k])) == RMA_SUCCESS) {
        char bytes[LARGEST], *there = rma_gptr_ptr(held[k]);
        memset(there ? there : bytes, job.me, size);
        if (!there) OK(rma_gptr_put(held[k], bytes, size));
        job_settle(0); /* before it is given back */
    }
    return code;
}

/* ---- the launcher ends the job ---- */

static void until_killed(void) {
    uint64_t random = job_stream(100 + (uint64_t)job.me);
    rma_gptr_t held[8] = {0};
    pthread_t thread;
    if (job.me == 0) CHECK(pthread_create(&thread, NULL, kill_them, shared) == 0, "no thread");
    for (;;) { /* and the deadline */
        for (int i = 0; i < 50; i++)
            if (step(&random, held, 8) != RMA_SUCCESS) break;
        OK(rma_put(&shared->own, &shared->own, sizeof shared->own, job_any(1)));
        rma_atomic_add(&shared->work, 1L, job_any(1));
        OK(rma_free(rma_malloc(1000)));
    }
}

/* ---- the others go on ---- */

static void end(const char *outcome) {
    printf("PE %d survived: %s\n", job.me, outcome);
    fflush(stdout);
    _exit(0); /* MPI cannot finalize */
}

/* Until the killing is over, and some more: as before, or all the same error from some moment on. */
static void survivor(void) {
    uint64_t random = job_stream(100 + (uint64_t)job.me);
    rma_gptr_t held[8] = {0};
    int refused = 0;
    for (long more = 2000; more > 0; more -= (int)rma_atomic_fetch(&shared->killed, 0)) {
        int code = step(&random, held, 8);
        CHECK(code == RMA_SUCCESS || code == RMA_ERR_SYSTEM, "%d: %s", code, rma_last_error());
        if (code == RMA_ERR_SYSTEM) {
            refused = 1;
            CHECK(strstr(rma_last_error(), "rma_alloc_mem_on: on PE 0") && strstr(rma_last_error(), "died"), "%s",
                  rma_last_error());
            job_sleep(100);
        }
    }
    for (int i = 0; refused && i < 10; i++) {
        rma_gptr_t g = 12345;
        EXPECT("rma_alloc_mem_on", rma_alloc_mem_on(0, 10, &g), RMA_ERR_SYSTEM, "on PE 0", "died");
        CHECK(g == 12345, "a failure wrote");
    }
    for (int k = 0; k < 8; k++) OK(rma_gptr_free(held[k]));
    /* Others' parts are not concerned, and PE 0's own blocks can be given back. */
    OK(rma_alloc_mem_on(job.me, 1000, &held[0]));
    OK(rma_gptr_free(held[0]));
    OK(rma_gptr_free(shared->own));
    end(refused ? "refused" : "goes on");
}

static void owner(void) {
    uint64_t random = job_stream(5);
    struct rma_heap_stats s;
    char *held[8] = {0};
    pthread_t thread;
    int code;
    rma_gptr_t g;
    CHECK(pthread_create(&thread, NULL, kill_them, NULL) == 0, "no thread");
    for (long more = 2000; more > 0; more -= __atomic_load_n(&shared->killed, __ATOMIC_ACQUIRE)) {
        size_t k = job_below(&random, 8), size = 1 + job_length(&random, 20000);
        if (held[k]) {
            CHECK(job_differs(held[k], 0, 1, k) == 1, "an own block has changed");
            OK(rma_free_mem(held[k]));
            held[k] = NULL;
        } else {
            OK(rma_alloc_mem(size, &held[k]));
            job_fill(held[k], 0, size, k);
        }
        if (more % 64 == 0) job_sleep(50);
    }
    for (int k = 0; k < 8; k++) OK(rma_free_mem(held[k]));
    OK(rma_heap_stats(RMA_HEAP_LOCAL, &s));
    code = rma_heap_stats(RMA_HEAP_GUEST, &s);
    CHECK(code == RMA_SUCCESS || code == RMA_ERR_SYSTEM, "%d: %s", code, rma_last_error());
    CHECK(rma_alloc_mem_on(0, 64, &g) == code, "not the same: %s", rma_last_error());
    end(code == RMA_SUCCESS ? "goes on" : "refused");
}

int main(void) {
    const char *how = getenv("RMA_TEST_DYING");
    setenv("RMA_LOCAL_MAX", "4M", 1);
    job_start();
    shared = rma_calloc(1, sizeof *shared);
    CHECK(shared != NULL, "%s", rma_last_error());
    CHECK(job.one_node || !how, "for one node");
    OK(rma_p(&shared->pid[job.me], (long)getpid(), 0));
    if (job.me == 0)
        for (int pe = 1; pe < job.n; pe++) {
            void *block;
            OK(rma_alloc_mem(100, &block));
            OK(rma_p(&shared->own, rma_gptr(block, 0), pe));
        }
    OK(rma_barrier_all());
    if (how && strcmp(how, "survive") == 0) {
        DOING("surviving");
        CHECK(job.n > 2, "who survives?");
        if (job.me == 0) owner();
        if (!is_victim(job.me)) survivor();
    }
    DOING("waiting for death");
    if (!how) until_killed();
    for (uint64_t random = job_stream(100 + (uint64_t)job.me);;) {
        static rma_gptr_t held[8];
        int code = step(&random, held, 8);
        CHECK(code == RMA_SUCCESS || code == RMA_ERR_SYSTEM, "%d: %s", code, rma_last_error());
        if (code == RMA_ERR_SYSTEM) job_sleep(100);
    }
}
