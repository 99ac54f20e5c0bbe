/* SPDX-License-Identifier: BSD-3-Clause */
/* One mistake of a program, in the line that a comment marks with the argument's word. */
#include <pthread.h>
#include <rma.h>
#include <shmem.h>
#include <stdio.h>
#include <string.h>

static long *there;
static volatile int after; /* no mistake is the last statement of its function, which would leave no frame */

static void exchange(const char *what) {
    long one = 1;
    if (!strcmp(what, "put")) rma_put(there, &one, sizeof one, 7);                   /* LINES: put */
    if (!strcmp(what, "shmem")) shmem_long_p(there, 1, 7);                           /* LINES: shmem */
    if (!strcmp(what, "handler")) rma_broadcast(RMA_TEAM_WORLD, there, there, 8, 7); /* LINES: handler */
    if (!strcmp(what, "setting")) rma_set_errhandler(NULL);
    after++;
}

static void look_and_abort(int code, const char *text) {
    char kept[1000];
    snprintf(kept, sizeof kept, "%s", text);
    after = rma_my_pe();
    rma_errors_abort(code, kept);
}

static void *in_thread(void *what) {
    exchange(what);
    after++;
    return NULL;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    pthread_t thread;
    shmem_init();
    there = shmem_malloc(sizeof *there);
    if (!strcmp(what, "handler")) rma_set_errhandler(look_and_abort);
    if (argc > 2 && !pthread_create(&thread, NULL, in_thread, argv[1])) pthread_join(thread, NULL);
    exchange(what);
    shmem_finalize();
    return after == -1;
}
