/* SPDX-License-Identifier: BSD-3-Clause */
/* PE 1 copies a structure by assignment while PE 0 writes one of its members. Mended by a barrier. */
#include <shmem.h>
#include <stdio.h>

struct state {
    long step;
    double field[6];
    int done;
};
static struct state shared;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) shmem_int_p(&shared.done, 1, 1); /* RACE: first */
#ifndef RACY
    shmem_barrier_all();
#endif
    if (me == 1) {
        struct state copy = shared; /* RACE: second */
        printf("%d\n", copy.done);
    }
    shmem_finalize();
    return 0;
}
