/* SPDX-License-Identifier: BSD-3-Clause */
/* An OpenSHMEM program that ends without shmem_finalize: test/check-exit.sh runs the ways and looks at words and exit
 * codes. The specification asks for shmem_finalize after shmem_init, and finalizes by itself, with all PEs, where a
 * program that has called start_pes exits.
 *
 *     init N    the last PE calls exit(N) after shmem_init
 *     start N   the last PE calls exit(N) after start_pes, the others wait for it
 *     thread    after start_pes the only thread of each PE ends by pthread_exit: the process exits with 0 */
#include "osh.h"

#include <pthread.h>

static int word;

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "";
    int status = argc > 2 ? atoi(argv[2]) : 0;
    if (strcmp(way, "init") == 0) {
        start();
    } else {
        start_pes(0);
        look();
    }
    shmem_barrier_all();
    if (strcmp(way, "thread") == 0) pthread_exit(NULL);
    if (me == n - 1) exit(status);
    shmem_int_wait_until(&word, SHMEM_CMP_NE, 0);
    CHECK(0, "the wait has returned");
}
