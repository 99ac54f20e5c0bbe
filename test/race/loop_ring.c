/* SPDX-License-Identifier: BSD-3-Clause */
/* Each PE hands a token on around a ring, and reads its own with no barrier in the last round. Mended: with one in
 * each. */
/* PES: 3 */
#include <shmem.h>
#include <stdio.h>

#define ROUNDS 3
static int token;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const int next = (me + 1) % 3;
    int seen = 0;
    for (int round = 0; round < ROUNDS; round++) {
        shmem_int_p(&token, round, next); /* RACE: first */
#ifdef RACY
        if (round + 1 < ROUNDS) shmem_barrier_all();
#else
        shmem_barrier_all();
#endif
        seen += token; /* RACE: second */
        shmem_barrier_all();
    }
    printf("%d\n", seen);
    shmem_finalize();
    return 0;
}
