/* SPDX-License-Identifier: BSD-3-Clause */
/* The source of shmem_put_signal_nbi is the program's again after quiet, not when the call returns. Mended by quiet. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

static int block[4];
static uint64_t signal_word;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    int source[4] = {1, 2, 3, 4};
    if (me == 0) {
        shmem_int_put_signal_nbi(block, source, 4, &signal_word, 1, SHMEM_SIGNAL_SET, 1); /* RACE: first */
#ifndef RACY
        shmem_quiet();
#endif
        source[2] = 0; /* RACE: second */
        printf("%d\n", source[2]);
    } else {
        shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 1);
        printf("%d\n", block[2]);
    }
    shmem_finalize();
    return 0;
}
