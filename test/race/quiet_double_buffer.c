/* SPDX-License-Identifier: BSD-3-Clause */
/* Double buffering with signals: the writer fills one half while the reader works on the other, and each half is
 * filled again only when the reader's word says that it is free. The answers order loads alone, so they need no
 * fence. */
#include <shmem.h>
#include <stdint.h>

#define ROUNDS 8
static long halves[2][16];
static uint64_t full[2], freed[2];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    long wrong = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        const size_t half = round % 2;
        const uint64_t turn = round / 2;
        if (me == 0) {
            long values[16];
            for (int i = 0; i < 16; i++) values[i] = (long)round * 100 + i;
            shmem_signal_wait_until(&freed[half], SHMEM_CMP_EQ, turn);
            shmem_long_put_signal(halves[half], values, 16, &full[half], turn + 1, SHMEM_SIGNAL_SET, 1);
        } else {
            shmem_signal_wait_until(&full[half], SHMEM_CMP_EQ, turn + 1);
            for (int i = 0; i < 16; i++) wrong += halves[half][i] != (long)round * 100 + i;
            shmem_uint64_atomic_set(&freed[half], turn + 1, 0);
        }
    }
    shmem_finalize();
    return wrong != 0;
}
