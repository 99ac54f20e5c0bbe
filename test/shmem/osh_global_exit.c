/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem_global_exit ends the job whatever the other PEs do, and the PE's output is not lost.
 *
 * Broken by PEs that go on (the deadline ends them, with the wrong words), by a stream that is not flushed. */
#include "osh.h"

int main(void) {
    start();
    shmem_barrier_all();
    if (me == n - 1) {
        char *buffer = malloc(4096);
        setvbuf(stderr, buffer, _IOFBF, 4096);
        fprintf(stderr, "PE %d ends the job\n", me);
        shmem_global_exit(3);
    }
    for (;;) pause();
}
