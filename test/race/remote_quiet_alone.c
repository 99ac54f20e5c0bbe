/* SPDX-License-Identifier: BSD-3-Clause */
/* The writer's quiet completes its put, but tells the reader nothing. Mended by a sync behind the quiet. */
#include <shmem.h>
#include <stdio.h>

static int note;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int text = 3;
    if (me == 0) {
        shmem_int_put(&note, &text, 1, 1); /* RACE: first */
        shmem_quiet();
    }
#ifndef RACY
    shmem_sync_all();
#endif
    if (me == 1) printf("%d\n", note); /* RACE: second */
    shmem_finalize();
    return 0;
}
