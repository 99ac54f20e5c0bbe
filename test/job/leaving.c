/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that ends without rma_finalize, or that only seems to: test/check-exit.sh runs each way and checks messages
 * and exit codes.
 *
 *     exit N   the last PE calls exit(N), the others wait for it in a barrier
 *     return   all PEs return 0 from main
 *     thread   the first thread of the last PE ends by pthread_exit, and it is the program's only one
 *     late     the first thread of each PE ends so, and a thread that lives longer finalizes
 *     atexit   a function that the program has registered before rma_init finalizes
 *     fork     a child made by fork calls exit(3); then the PE finalizes
 *     mpi      the program finalizes MPI, which ends the runtime too
 *     abort    the last PE calls rma_abort(5) */
#include "job.h"

#include <mpi.h>
#include <pthread.h>
#include <sys/wait.h>

static void finalize(void) { OK(rma_finalize()); }

/* The first thread of a process that has ended stays in its list, as a zombie. */
static int first_has_ended(void) {
    char path[64], line[256] = "";
    const char *state;
    FILE *f;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
    f = fopen(path, "r");
    CHECK(f && fgets(line, sizeof line, f), "no %s", path);
    fclose(f);
    state = strrchr(line, ')');
    return state && state[2] == 'Z';
}

static void *outlive(void *unused) {
    (void)unused;
    while (!first_has_ended()) job_sleep(10000);
    for (int i = 0; i < 10; i++) { /* longer than whoever looks for threads waits between two looks */
        job_sleep(50000);
        OK(rma_barrier_all());
    }
    finalize();
    return NULL;
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "";
    pthread_t thread;
    if (strcmp(way, "atexit") == 0) CHECK(atexit(finalize) == 0, "atexit");
    if (strcmp(way, "mpi") == 0) MPI_Init(NULL, NULL);
    job_begin();
    OK(rma_init_thread(RMA_THREAD_MULTIPLE, NULL));
    job_look();
    OK(rma_barrier_all());
    if (strcmp(way, "return") == 0) printf("kept till the end\n");
    if (strcmp(way, "return") == 0 || strcmp(way, "atexit") == 0) return 0;
    if (strcmp(way, "late") == 0) {
        CHECK(pthread_create(&thread, NULL, outlive, NULL) == 0, "no thread");
        pthread_exit(NULL);
    }
    if (strcmp(way, "mpi") == 0) return MPI_Finalize();
    if (strcmp(way, "fork") == 0) {
        int status = -1;
        pid_t child = fork();
        if (child == 0) exit(3);
        CHECK(child > 0 && waitpid(child, &status, 0) == child, "no child");
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3, "the child's status is %#x", (unsigned)status);
        return job_end();
    }
    if (job.me == job.n - 1) {
        printf("kept till the end\n");
        if (strcmp(way, "exit") == 0 && argc > 2) exit(atoi(argv[2]));
        if (strcmp(way, "thread") == 0) pthread_exit(NULL);
        if (strcmp(way, "abort") == 0) rma_abort(5);
        CHECK(0, "no way '%s'", way);
    }
    rma_barrier_all();
    fprintf(stderr, "PE %d: the barrier has returned\n", job.me);
    rma_abort(9);
}
