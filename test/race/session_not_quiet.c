/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a session completes nothing. Mended: quiet. */
#include <shmem.h>
#include <stdio.h>

static long word;
static int done;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    if (me == 0) {
        shmem_ctx_session_start(SHMEM_CTX_DEFAULT, 0, NULL, 0);
        shmem_long_p(&word, 3, 1); /* RACE: first */
        shmem_ctx_session_stop(SHMEM_CTX_DEFAULT);
#ifndef RACY
        shmem_quiet();
#endif
        shmem_int_atomic_set(&done, 1, 1);
    }
    if (me == 1) {
        shmem_int_wait_until(&done, SHMEM_CMP_EQ, 1);
        printf("%ld\n", word); /* RACE: second */
    }
    shmem_finalize();
    return 0;
}
